"""Which tables are what today's code makes, of the inputs that are at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from paraloom.core.errors import ConfigError
from paraloom.core.results import ResultRecord
from paraloom.papers.provenance import CODE, code_digest, input_digest
from paraloom.papers.published import PAPERS
from paraloom.papers.runner import module_of
from paraloom.papers.tables import read_table


@dataclass(frozen=True)
class TableState(ResultRecord):
    """Whether a table is 'current', 'stale' or, where it does not say what it was made of, 'untraced', and why."""

    name: str
    state: str
    why: str = ""


def check_tables(folder: str | Path, inputs: Mapping[str, str | Path] | None = None) -> list[TableState]:
    """Compare what tables were made of with today's code and, by name, with inputs; a state for each file.

    Args:
        folder: A folder with NAME.json of tables.
        inputs: Name of an input, such as 'pairs tatoeba' or 'vectors' → its folder or file.
    """
    now = {name: input_digest(path) for name, path in (inputs or {}).items()}
    paths = sorted(Path(folder).glob("*-*.json"))
    if not paths:
        raise ConfigError("the folder has no tables", file=Path(folder), remedy="Give a folder of NAME.json.")
    states = []
    for path in paths:
        table = read_table(path)
        if not table.inputs:
            states.append(TableState(table.name, "untraced", "made before tables named their inputs"))
            continue
        today = {**now, CODE: code_digest(module_of(table.name)) if table.name in PAPERS else ""}
        changed = [name for name, of_then in table.inputs.items() if name in today and today[name] != of_then]
        states.append(TableState(table.name, "stale" if changed else "current", ", ".join(changed)))
    return states


def format_states(states: Sequence[TableState]) -> str:
    """A line for each table."""
    width = max(len(state.name) for state in states)
    return "\n".join(f"{state.name:<{width}}  {state.state:<8}  {state.why}".rstrip() for state in states)
