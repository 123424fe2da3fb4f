"""Writes the generated reference pages: commands, stages and scores out of the code that defines them."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path
from typing import Any

import typer
from sphinx.application import Sphinx

API_GROUPS: dict[str, tuple[str, ...]] = {
    "Pairs": (
        *("read_pairs", "as_pairs", "Pairs", "backtranslate", "score"),
        *("pair_statistics", "augment", "diversity", "explore", "publish"),
    ),
    "Paraphrasers": ("paraphrase", "Paraphraser", "RoundTripParaphraser"),
    "Translators": ("Translator", "Variant", "train_translator", "TranslatorConfig", "evaluate_translation"),
    "Encoders": (
        *("Encoder", "train_encoder", "distill_encoder", "EncoderConfig"),
        *("search", "mine", "mine_translations", "evaluate_sts", "evaluate_classification"),
    ),
    "Documents and alignment": (
        *("align", "align_files", "AlignerConfig", "Bead", "align_documents", "extract_documents"),
    ),
    "Pipelines": ("Pipeline", "RunResult", "stages", "write_report"),
    "Protocols": ("TranslatorLike", "EncoderLike", "ParserLike"),
}
"""Headings of the API page and the public names below each; what is in none comes last, errors below their own."""


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the generator; called by Sphinx."""
    app.connect("builder-inited", _write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write_pages(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "reference"
    pages = {
        "api": api_page(),
        "cli": cli_page(),
        "stages": stages_page(),
        "scores": scores_page(),
    }
    for name, page in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != page:
            path.write_text(page, encoding="utf-8")


def cli_page() -> str:
    """Every command with its arguments, options and example."""
    from paraloom.cli.main import app

    lines = [
        "# Command line",
        "",
        "`paraloom --help` lists the commands, `paraloom COMMAND --help` explains one. [Exit status](exit-codes.md): "
        "0 done, 1 the data or the run is at fault, 2 the call is, 130 interrupted.",
        "",
    ]
    command = typer.main.get_command(app)
    for path, leaf in _leaves(command, ("paraloom",)):
        lines += [f"## {' '.join(path[1:])}", "", *_command(path, leaf), ""]
    return "\n".join(lines)


def _leaves(command: Any, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Any]]:
    if not hasattr(command, "commands"):
        return [(path, command)]
    leaves = []
    for name, child in sorted(command.commands.items()):  # type: ignore[attr-defined]
        leaves += _leaves(child, (*path, name))
    return leaves


def _command(path: tuple[str, ...], command: Any) -> list[str]:
    text, _, example = (command.help or "").partition("Example:")
    lines = [_options_as_code(" ".join(text.split())), ""]
    if example:
        lines += ["```console", "$ " + " ".join(example.replace("`", "").split()), "```", ""]
    rows = []
    for parameter in command.params:
        if parameter.name in ("help", "help_all"):
            continue
        names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
        if parameter.param_type_name == "argument":
            names = f"`{parameter.metavar or (parameter.name or '').upper()}`"
        default = "" if parameter.default in (None, False, "", ()) or callable(parameter.default) else parameter.default
        note = "required" if parameter.required else f"`{default}`" if default != "" else ""
        rows.append(f"| {names} | {_options_as_code(_cell(getattr(parameter, 'help', '') or ''))} | {note} |")
    if rows:
        lines += ["| option | meaning | default |", "| --- | --- | --- |", *rows]
    return lines


def _options_as_code(text: str) -> str:
    """Text with every option in backticks, so that its dashes stay."""
    return re.sub(r"`[^`]*`|--[a-z][\w-]*", lambda match: f"`{match.group().strip('`')}`", text)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def stages_page() -> str:
    """Every kind of stage: the keys of its TOML table, which are the arguments of its class."""
    from paraloom import stages
    from paraloom.core.stage import Fit, Map, Source
    from paraloom.pipeline.registry import STAGES, load_stage

    kinds = {"Source": Source, "Map": Map, "Fit": Fit}
    lines = [
        "# Stages and their TOML keys",
        "",
        "Each stage of a pipeline is a dataclass of `paraloom.stages`; its arguments are its keys in a TOML file, "
        "where `use` names the kind of stage. `paraloom stages NAME` prints the same. A *Source* reads files, a *Map* "
        "turns rows into rows, a *Fit* turns corpora into a model or a result.",
        "",
        "| `use` | class | kind | what it does |",
        "| --- | --- | --- | --- |",
    ]
    for use in sorted(STAGES):
        stage = load_stage(use)
        kind = next(name for name, base in kinds.items() if issubclass(stage, base))
        lines.append(f"| [{use}](#{use}) | `{stage.__name__}` | {kind} | {_summary(stage)} |")
    lines.append("")
    for use in sorted(STAGES):
        stage = load_stage(use)
        public = stage.__name__ in stages.__all__
        name = f"paraloom.stages.{stage.__name__}" if public else f"{stage.__module__}.{stage.__qualname__}"
        lines += [f"## {use}", "", "```{eval-rst}", f".. autoclass:: {name}", "   :no-index:", "```", ""]
        lines += ["| key | type | default |", "| --- | --- | --- |"]
        for field in dataclasses.fields(stage):
            default = "required" if field.default is dataclasses.MISSING else f"`{field.default!r}`"
            if field.default_factory is not dataclasses.MISSING:
                default = f"`{field.default_factory()!r}`"
            kind = re.sub(r"\bRef\b", "stage or path", str(field.type))
            lines.append(f"| `{field.name}` | `{_cell(kind)}` | {_cell(default)} |")
        lines.append("")
    return "\n".join(lines)


def _summary(value: Any) -> str:
    """The first paragraph of a docstring, in one line of Markdown."""
    text = _cell((inspect.getdoc(value) or "").partition("\n\n")[0])
    return re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", text)


def scores_page() -> str:
    """Every score with unit, range and direction."""
    from paraloom.pairs.scoring.table import COLUMNS, GROUPS

    lines = [
        "# Scores",
        "",
        "Columns that `paraloom score` and `paraloom.score` add to pairs. [What each score means](../explanations/"
        "scores.md) says how to read them, and which to use. *Better* is the direction that filters usually want; "
        "where neither end is better, it is empty.",
        "",
        "| score | meaning | unit, range | better |",
        "| --- | --- | --- | --- |",
    ]
    for column in COLUMNS.values():
        better = "" if column.direction == "none" else column.direction
        needs = f" Needs `{column.option.split()[0]}`." if column.option else ""
        reference = f" *{_cell(column.reference)}.*" if column.reference else ""
        unit = f"{column.unit}, {column.range}" if column.unit else column.range
        lines.append(f"| `{column.name}` | {_cell(column.description)}.{needs}{reference} | {unit} | {better} |")
    lines += ["", "## Groups", "", "Names that stand for several scores, in `--with` and in Python.", ""]
    lines += ["| group | scores |", "| --- | --- |"]
    for name, members in GROUPS.items():
        lines.append(f"| `{name}` | {', '.join(f'`{member}`' for member in members)} |")
    return "\n".join([*lines, ""])


def api_page() -> str:
    """Every public name, by topic."""
    import paraloom

    errors = [name for name in paraloom.__all__ if _is_error(getattr(paraloom, name))]
    grouped = {name for names in API_GROUPS.values() for name in names} | set(errors)
    others = tuple(name for name in paraloom.__all__ if name not in grouped and not name.startswith("__"))
    groups = {**API_GROUPS, "Errors": tuple(errors), "Others": others}
    lines = [
        "# Python API",
        "",
        "Everything below is in `paraloom`; each name is imported when it is first used. "
        "[Stages](stages.md) are in `paraloom.stages`.",
        "",
    ]
    for title, names in groups.items():
        present = [name for name in names if name in paraloom.__all__]
        if not present:
            continue
        lines += [f"## {title}", "", "| name | |", "| --- | --- |"]
        for name in present:
            value = getattr(paraloom, name)
            link = "[`stages`](stages.md)" if inspect.ismodule(value) else f"{{py:obj}}`~paraloom.{name}`"
            lines.append(f"| {link} | {_summary(value)} |")
        lines += ["", *(line for name in present for line in _directive(name, getattr(paraloom, name)))]
    return "\n".join(lines)


def _directive(name: str, value: Any) -> list[str]:
    """The directive that documents a public name; none for a module."""
    if inspect.ismodule(value):
        return []
    if not isinstance(value, type):
        return ["```{eval-rst}", f".. autofunction:: paraloom.{name}", "```", ""]
    options = ["   :members:", "   :inherited-members: tuple, Exception, BaseException, Config"]
    if _is_error(value) and name != "ParaloomError":
        options = []
    elif hasattr(value, "_fields"):  # a NamedTuple: its fields are described with its arguments
        options.append(f"   :exclude-members: {', '.join(value._fields)}")
    return ["```{eval-rst}", f".. autoclass:: paraloom.{name}", *options, "```", ""]


def _is_error(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Exception)
