"""The page of the papers' tables, generated whole: prose of page.toml, and the tables' JSON files beside it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from paraloom.core.config import Config
from paraloom.core.errors import ConfigError, DataError
from paraloom.io.atomic import atomic_write
from paraloom.papers.catalog import catalog_entries, format_catalog
from paraloom.papers.tables import ReproducedTable, read_table
from paraloom.papers.verdicts import OUTCOMES, count_outcomes, verdict_of

PROSE = "page.toml"
"""The file with the page's prose."""


@dataclass(frozen=True, kw_only=True)
class Section(Config):
    """A section of the page.

    Args:
        heading: Its heading.
        text: Markdown before the tables. `$orders` becomes a sentence on the orders of the section's tables,
            `$verdicts` a table of the verdicts on all tables, `$catalog` the table of all tables of the papers.
        tables: Names of the tables, in order.
        after: Markdown behind the tables.
    """

    heading: str
    text: str = ""
    tables: tuple[str, ...] = ()
    after: str = ""


@dataclass(frozen=True, kw_only=True)
class Prose(Config):
    """What a person wrote of the page.

    Args:
        title: Its title.
        text: Markdown below the title, with the placeholders of a section; `$orders` is on all tables.
        section: The sections.
    """

    title: str
    text: str
    section: tuple[dict[str, object], ...]


def papers_page(folder: str | Path) -> str:
    """The page as Markdown."""
    folder = Path(folder)
    prose, sections = _read_prose(folder / PROSE)
    tables = {path.stem: read_table(path) for path in sorted(folder.glob("*.json"))}
    _check_names(folder, sections, tables)
    shown = [name for section in sections for name in section.tables]
    generated = {
        "verdicts": "\n".join(_verdicts(tables[name] for name in shown)),
        "catalog": "\n".join(format_catalog(catalog_entries(), {name: anchor(tables[name].heading) for name in shown})),
    }
    parts = [f"# {prose.title}", _filled(prose.text, generated, tables.values())]
    for section in sections:
        of_section = [tables[name] for name in section.tables]
        parts += [f"## {section.heading}", _filled(section.text, generated, of_section)]
        parts += [table.format() for table in of_section]
        parts.append(_filled(section.after, generated, of_section))
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def write_page(folder: str | Path) -> Path:
    """Write the page beside its folder, as FOLDER.md."""
    path = Path(folder)
    page = path.with_name(f"{path.name}.md")
    text = papers_page(path)
    with atomic_write(page) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return page


def _read_prose(path: Path) -> tuple[Prose, list[Section]]:
    try:
        keys = tomllib.loads(path.read_text(encoding="utf-8"))
        prose = Prose(**keys)
        return prose, [Section(**section) for section in prose.section]  # type: ignore[arg-type]
    except (OSError, TypeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(
            f"the page's prose cannot be read ({error})", file=path, remedy="Give 'title', 'text' and [[section]]s."
        ) from error


def _check_names(folder: Path, sections: Iterable[Section], tables: Mapping[str, ReproducedTable]) -> None:
    shown = [name for section in sections for name in section.tables]
    missing = [name for name in shown if name not in tables]
    if missing:
        raise ConfigError(
            f"table '{missing[0]}' has no file", file=folder / PROSE, remedy=f"Add {missing[0]}.json, or leave it out."
        )
    unused = [name for name in tables if name not in shown]
    if unused:
        raise DataError(
            "no section of the page has this table", file=folder / f"{unused[0]}.json", remedy=f"Name it in {PROSE}."
        )


def _filled(text: str, generated: Mapping[str, str], tables: Iterable[ReproducedTable]) -> str:
    """Text with its placeholders replaced; other dollar signs stay."""
    outcomes = [order.outcome for table in tables for order in table.orders]
    return Template(text).safe_substitute(generated, orders=count_outcomes(outcomes, "the papers"))


def anchor(heading: str) -> str:
    """The anchor of a heading, as GitHub and MyST derive it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _verdicts(tables: Iterable[ReproducedTable]) -> Iterable[str]:
    """A table of the verdicts, lines of Markdown."""
    yield "| table | | orders that agree | disagree | undecided | verdict |"
    yield "|---|---|---:|---:|---:|---|"
    for table in tables:
        outcomes = [order.outcome for order in table.orders]
        cells = (
            f"[`{table.name}`](#{anchor(table.heading)})",
            table.paper.title,
            *(str(outcomes.count(outcome)) for outcome in OUTCOMES),
            verdict_of(table.orders),
        )
        yield f"| {' | '.join(cells)} |"
