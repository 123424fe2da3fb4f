"""Writes the generated reference pages: commands out of the command line, stages and scores out of their registries."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import typer
from sphinx.application import Sphinx

GENERATED = "Generated from the source: do not edit."


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the generator; called by Sphinx."""
    app.connect("builder-inited", _write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write_pages(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "reference"
    for name, page in {"cli": cli_page(), "stages": stages_page(), "scores": scores_page(), "api": api_page()}.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != page:
            path.write_text(page, encoding="utf-8")


def cli_page() -> str:
    """Every command with its arguments, options and example."""
    from paraloom.cli.main import app

    lines = [
        "# Command line",
        "",
        "`paraloom --help` lists the commands, `paraloom COMMAND --help` explains one. Exit status: 0 done, 1 the data "
        "or the run is at fault, 2 the call is, 130 interrupted.",
        "",
    ]
    command = typer.main.get_command(app)
    for path, leaf in _leaves(command, ("paraloom",)):
        lines += [f"## {' '.join(path[1:])}", "", *_command(path, leaf), ""]
    return "\n".join(lines)


def _leaves(command: Any, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Any]]:
    if not hasattr(command, "commands"):
        return [(path, command)]
    found = []
    for name, child in sorted(command.commands.items()):  # type: ignore[attr-defined]
        found += _leaves(child, (*path, name))
    return found


def _command(path: tuple[str, ...], command: Any) -> list[str]:
    text, _, example = (command.help or "").partition("Example:")
    lines = [" ".join(text.split()), ""]
    if example:
        lines += ["```console", "$ " + " ".join(example.replace("`", "").split()), "```", ""]
    rows = []
    for parameter in command.params:
        if getattr(parameter, "hidden", False) or parameter.name == "help":
            continue
        names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
        if parameter.param_type_name == "argument":
            names = f"`{parameter.metavar or (parameter.name or '').upper()}`"
        default = "" if parameter.default in (None, False, "", ()) or callable(parameter.default) else parameter.default
        note = "required" if parameter.required else f"`{default}`" if default != "" else ""
        rows.append(f"| {names} | {_cell(getattr(parameter, 'help', '') or '')} | {note} |")
    if rows:
        lines += ["| option | meaning | default |", "| --- | --- | --- |", *rows]
    return lines


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def stages_page() -> str:
    """Every kind of stage: the keys of its TOML table, which are the arguments of its class."""
    from paraloom.pipeline.registry import STAGES, load_stage

    lines = [
        "# Stages and their TOML keys",
        "",
        "Each stage of a pipeline is a dataclass of `paraloom.stages`; its arguments are its keys in a TOML file, "
        "where `use` names the kind of stage. `paraloom stages NAME` prints the same.",
        "",
    ]
    for use in sorted(STAGES):
        kind = load_stage(use)
        lines += [
            f"## {use}",
            "",
            "```{eval-rst}",
            f".. autoclass:: {kind.__module__}.{kind.__qualname__}",
            "   :no-index:",
            "```",
            "",
            "| key | type | default |",
            "| --- | --- | --- |",
        ]
        for field in dataclasses.fields(kind):
            default = "required" if field.default is dataclasses.MISSING else f"`{field.default!r}`"
            if field.default_factory is not dataclasses.MISSING:
                default = f"`{field.default_factory()!r}`"
            lines.append(f"| `{field.name}` | `{_cell(str(field.type))}` | {_cell(default)} |")
        lines.append("")
    return "\n".join(lines)


def scores_page() -> str:
    """Every score with unit, range and direction."""
    from paraloom.pairs.scoring.table import COLUMNS, GROUPS

    lines = [
        "# Scores",
        "",
        "Columns that `paraloom score` and `paraloom.score` add. `direction` says which values are better.",
        "",
        "| score | unit | range | direction | meaning |",
        "| --- | --- | --- | --- | --- |",
    ]
    for column in COLUMNS.values():
        values: dict[str, Any] = dataclasses.asdict(column)
        low, high = ("" if values.get(name) is None else f"{values[name]:g}" for name in ("minimum", "maximum"))
        lines.append(
            f"| `{column.name}` | {column.unit} | {low}–{high} | {values.get('direction', '')} | "
            f"{_cell(values.get('description', ''))} |"
        )
    return "\n".join([*lines, "", "Groups of scores: " + ", ".join(f"`{name}`" for name in GROUPS) + ".", ""])


def api_page() -> str:
    """Every public name."""
    import paraloom

    lines = ["# Python API", "", "Everything below is imported by `import paraloom`, when it is first used.", ""]
    for title, wanted in (("Classes", True), ("Functions", False)):
        lines += [f"## {title}", ""]
        for name in paraloom.__all__:
            value = getattr(paraloom, name)
            if isinstance(value, type) != wanted or not callable(value):
                continue
            directive = "autoclass" if wanted else "autofunction"
            lines += ["```{eval-rst}", f".. {directive}:: {value.__module__}.{value.__qualname__}"]
            lines += ["   :members:", "   :inherited-members: tuple, Exception"] if wanted else []
            lines += ["```", ""]
    return "\n".join(lines)
