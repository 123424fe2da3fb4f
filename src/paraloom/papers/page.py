"""The pages of the papers' tables, generated whole: prose of page.toml, and the tables' JSON files beside it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import NamedTuple

from paraloom.core.config import Config
from paraloom.core.errors import ConfigError, DataError
from paraloom.io.atomic import atomic_write
from paraloom.papers.catalog import catalog_entries, format_catalog
from paraloom.papers.tables import ReproducedTable, read_table
from paraloom.papers.verdicts import (
    OUTCOMES,
    Order,
    count_open,
    count_outcomes,
    format_open_orders,
    outcomes_of,
    verdict_of,
    verdict_sentence,
)

PROSE = "page.toml"
"""The file with the page's prose."""

SECTIONS = "sections.toml"
"""The file that says where each section and equation of the papers is made, if the folder has one."""


class SectionRow(NamedTuple):
    """A section or an equation of a paper: its file in src/paraloom, its test in tests, a command or `stage NAME`.

    Verdicts are 'done', 'done otherwise' and 'missing'; the note says what differs, or why.
    """

    section: str
    subject: str
    file: str
    test: str
    command: str
    verdict: str
    note: str


@dataclass(frozen=True, kw_only=True)
class Section(Config):
    """A section of a paper's page: Markdown before and behind its tables; `$orders` becomes a sentence on theirs."""

    paper: str
    heading: str
    text: str = ""
    tables: tuple[str, ...] = ()
    after: str = ""


@dataclass(frozen=True, kw_only=True)
class Prose(Config):
    """What a person wrote: `$orders` and `$open` are on all tables, `$verdicts` and `$unresolved` tables of them."""

    title: str
    text: str
    section: tuple[dict[str, object], ...]


def papers_pages(folder: str | Path) -> dict[Path, str]:
    """The pages as Markdown: FOLDER.md with the verdicts; in FOLDER, PAPER.md for a paper and NAME.md for a table."""
    folder = Path(folder)
    prose, sections = _read_prose(folder / PROSE)
    tables = {path.stem: read_table(path) for path in sorted(folder.glob("*.json"))}
    _check_names(folder, sections, tables)
    papers = list(dict.fromkeys([entry.paper for entry in catalog_entries()] + [part.paper for part in sections]))
    of_paper = {paper: [section for section in sections if section.paper == paper] for paper in papers}
    verdicts = "\n".join(_verdicts(folder.name, of_paper, tables))
    shown = [name for section in sections for name in section.tables]
    linked = {f"[`{name}`]({folder.name}/{name}.md)": tables[name].orders for name in shown}
    unresolved = "\n".join(format_open_orders(linked))
    names = [f"{folder.name}/{paper.lower()}" for paper in papers]
    if listed := read_sections(folder / SECTIONS):
        names.append(f"{folder.name}/sections")
    text = _filled(prose.text, tables.values(), verdicts=verdicts, unresolved=unresolved)
    parts = [f"# {prose.title}", text, _contents(names)]
    pages = {folder.with_name(f"{folder.name}.md"): _joined(parts)}
    for paper, of_page in of_paper.items():
        pages[folder / f"{paper.lower()}.md"] = _joined(_paper_parts(paper, of_page, tables))
    if listed:
        pages[folder / "sections.md"] = _joined(_section_parts(listed))
    for name, table in tables.items():
        pages[folder / f"{name}.md"] = _joined([table.format().removeprefix("##")])
    return pages


def read_sections(path: Path) -> dict[str, list[SectionRow]]:
    """Paper → its sections and equations; no papers where the folder has none."""
    if not path.is_file():
        return {}
    try:
        listed = tomllib.loads(path.read_text(encoding="utf-8"))
        return {paper: [SectionRow(*row) for row in rows] for paper, rows in listed.items()}
    except (TypeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(
            f"the sections cannot be read ({error})", file=path, remedy="Give each row seven texts."
        ) from error


def write_page(folder: str | Path) -> Path:
    """Write the page of verdicts beside its folder, as FOLDER.md, and those of the papers and their tables into it."""
    pages = papers_pages(folder)
    for page, text in pages.items():
        with atomic_write(page) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return next(iter(pages))


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _contents(pages: Sequence[str]) -> str:
    return "\n".join(["```{toctree}", ":hidden:", "", *pages, "```"]) if pages else ""


def _paper_parts(paper: str, sections: Sequence[Section], tables: Mapping[str, ReproducedTable]) -> Iterable[str]:
    """The parts of a paper's page: its catalog, and its sections with the verdict on each table."""
    names = [name for section in sections for name in section.tables]
    entries = [entry for entry in catalog_entries() if entry.paper == paper]
    yield f"# The tables of {paper}"
    yield "\n".join(format_catalog(entries, names)).replace("](results/", "](../results/")
    for section in sections:
        of_section = [tables[name] for name in section.tables]
        yield f"## {section.heading}"
        yield _filled(section.text, of_section)
        yield "\n".join(
            f"- [{table.paper.title}]({table.name}.md). {verdict_sentence(table.orders)}" for table in of_section
        )
        yield _filled(section.after, of_section)
    yield _contents(names)


def _section_parts(papers: Mapping[str, Sequence[SectionRow]]) -> Iterable[str]:
    """The parts of the page of sections: how many of them are made, and where."""
    rows = [row for of_paper in papers.values() for row in of_paper]
    done, otherwise, missing = (
        sum(row.verdict == name for row in rows) for name in ("done", "done otherwise", "missing")
    )
    yield "# Every section and equation of the papers"
    yield (
        f"Of {len(rows)} methods, equations and constants of the seven papers {done} are done, {otherwise} otherwise "
        f"than in the paper, and {missing} missing. Files are below `src/paraloom`, tests below `tests`. Generated "
        f"from `{SECTIONS}`; a test checks that each file, test and command exists."
    )
    for paper, of_paper in papers.items():
        yield f"## {paper}"
        lines = ["| | | file | test | command | |", "|---|---|---|---|---|---|"]
        for row in of_paper:
            named = (f"`{text}`" if text else "" for text in (row.file, row.test, row.command))
            verdict = f"{row.verdict}: {row.note}" if row.note else row.verdict
            lines.append(f"| {' | '.join((row.section, row.subject, *named, verdict))} |")
        yield "\n".join(lines)


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


def _filled(text: str, tables: Iterable[ReproducedTable], **more: str) -> str:
    """Text with its placeholders replaced; other dollar signs stay."""
    orders = [order for table in tables for order in table.orders]
    counts = count_outcomes(outcomes_of(orders), "the papers")
    if not all(order.counted for order in orders):
        every = [order.outcome for order in orders]
        counts = f"{counts} {count_outcomes(every, 'the papers, those that are not counted included')}"
    return Template(text).safe_substitute(more, orders=counts, open=count_open(orders))


def _verdicts(
    folder: str, papers: Mapping[str, Sequence[Section]], tables: Mapping[str, ReproducedTable]
) -> Iterable[str]:
    """A table of the verdicts, lines of Markdown."""
    yield "| paper | table | | orders that agree | disagree | undecided | no power | verdict |"
    yield "|---|---|---|---:|---:|---:|---:|---|"
    for paper, sections in papers.items():
        page = f"[{paper}]({folder}/{paper.lower()}.md)"
        named = [tables[name] for section in sections for name in section.tables]
        if not named:
            yield f"| {page} | | its tables, and why they are not made or where else | | | | | |"
        for table in named:
            link = f"[`{table.name}`]({folder}/{table.name}.md)"
            yield f"| {page} | {link} | {table.paper.title} | {_counts(table.orders)} | {verdict_of(table.orders)} |"
        if len(named) > 1:
            yield f"| **{paper}** | all | | {_counts([order for table in named for order in table.orders])} | |"


def _counts(orders: Sequence[Order]) -> str:
    """The number of orders of each outcome, cells of Markdown."""
    outcomes = outcomes_of(orders)
    return " | ".join(str(outcomes.count(outcome)) for outcome in OUTCOMES)
