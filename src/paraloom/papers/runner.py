"""Reproduction of the papers' tables on your own data, next to the published figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paraloom.core.digests import digest
from paraloom.core.errors import ConfigError, nearest
from paraloom.papers import pair_tables
from paraloom.papers.bbh22 import result_tables as bbh22_tables
from paraloom.papers.catalog import entry_of
from paraloom.papers.multinews import document_tables
from paraloom.papers.park17 import loop_tables
from paraloom.papers.park17 import result_tables as park17_tables
from paraloom.papers.park17.loop_tables import LoopRun
from paraloom.papers.pgru import phrase_tables
from paraloom.papers.pgru.phrase_tables import PhraseRuns
from paraloom.papers.pnmt import architecture_tables, megabatch_tables, rating_tables
from paraloom.papers.provenance import CODE, code_digest
from paraloom.papers.published import PAPERS
from paraloom.papers.study import Study
from paraloom.papers.tables import ReproducedTable
from paraloom.papers.w17 import classifier_tables, selection_tables, source_tables

PAIR_TABLES = {
    **classifier_tables.TABLES,
    **pair_tables.TABLES,
    **rating_tables.TABLES,
    **selection_tables.TABLES,
    **source_tables.TABLES,
    **megabatch_tables.TABLES,
    **architecture_tables.TABLES,
}
"""Tables from back-translated pairs."""

LOOP_TABLES = loop_tables.TABLES
"""Tables from a run of `selftrain`."""

DOCUMENT_TABLES = document_tables.TABLES
"""Tables from a run of examples/help-documents.toml."""

PHRASE_TABLES = phrase_tables.TABLES
"""Tables from runs of examples/pgru.toml."""

RESULT_TABLES = {**bbh22_tables.TABLES, **park17_tables.TABLES}
"""Tables from the files of docs/explanations/results."""


def reproduce_tables(
    names: str | Sequence[str],
    *,
    pairs: Mapping[str, str] | None = None,
    sts: str | Path | None = None,
    loop: str | Path | None = None,
    documents: str | Path | None = None,
    phrases: Sequence[str | Path] = (),
    classifiers: Sequence[str | Path] = (),
    results: str | Path | None = None,
    folder: str | Path = "runs/reproduce",
    **settings: Any,
) -> Iterator[ReproducedTable]:
    """Make the papers' tables from your own data, next to the published figures; if stopped, the same call resumes.

    Args:
        names: Names of tables, such as w17-5, pnmt-1 or park17-2; 'all': those that the inputs allow.
        pairs: Name → back-translated pairs of one source; filters are tuned on the first.
        sts: A folder of similarity tasks.
        loop: A run of `research selftrain`, for Table 5 of Park et al. (2017).
        documents: A run of examples/help-documents.toml, for the table of Afli et al. (2017).
        phrases: A run of examples/pgru.toml, for the tables of Zhou et al. (2017), one for each seed.
        classifiers: A run of w17-8 of one source that was made before: FOLDER/w17-8/SOURCE.
        results: The folder docs/explanations/results, for tables of Burchell et al. (2022) and Park et al. (2017).
        folder: Folder of the runs.
        **settings: Further fields of `Study`.

    Reference:
        Wieting et al. (2017), W17; Wieting and Gimpel (2018), PNMT; Burchell et al. (2022), BBH22; Park et al. (2017),
        PARK17; Zhou et al. (2017), PGRU; Afli et al. (2017), MultiNews.
    """
    allowed = {
        **dict.fromkeys(PAIR_TABLES, bool(pairs)),
        **dict.fromkeys(LOOP_TABLES, loop is not None),
        **dict.fromkeys(DOCUMENT_TABLES, documents is not None),
        **dict.fromkeys(PHRASE_TABLES, bool(phrases)),
        **dict.fromkeys(RESULT_TABLES, results is not None),
    }
    if classifiers:
        allowed |= dict.fromkeys(classifier_tables.TABLES, True)
    given = {key: value for key, value in settings.items() if value is not None}
    study = Study(sources=dict(pairs or {}), sts=str(sts), folder=Path(folder), **given)
    names = _table_names([names] if isinstance(names, str) else names, allowed)
    for name in names:
        from_runs = bool(classifiers) and name in classifier_tables.TABLES
        _check_inputs(name, allowed[name], sts is not None or from_runs, study.recurrent_size != 0)
    run = None if loop is None else LoopRun(Path(loop))
    document_run = None if documents is None else LoopRun(Path(documents), "paraloom run examples/help-documents.toml")
    phrase_runs = PhraseRuns([Path(path) for path in phrases]) if phrases else None

    def tables() -> Iterator[ReproducedTable]:
        if results is not None:
            yield from (RESULT_TABLES[name](Path(results), name) for name in names if name in RESULT_TABLES)
        if run is not None:
            yield from (LOOP_TABLES[name](run, name) for name in names if name in LOOP_TABLES)
        if document_run is not None:
            yield from (DOCUMENT_TABLES[name](document_run, name) for name in names if name in DOCUMENT_TABLES)
        if phrase_runs is not None:
            yield from (PHRASE_TABLES[name](phrase_runs, name) for name in names if name in PHRASE_TABLES)
        for name in names:
            if name in classifier_tables.TABLES and classifiers:
                trained = classifier_tables.read_classifiers([Path(path) for path in classifiers])
                yield classifier_tables.classifier_table(name, trained)
            elif name in PAIR_TABLES:
                table = PAIR_TABLES[name](study, name)
                yield replace(table, signature=study.signature, inputs={**study.digests, **table.inputs})

    return _written(tables(), Path(folder))


def module_of(name: str) -> str:
    """The module that makes a table."""
    makers = {**PAIR_TABLES, **LOOP_TABLES, **DOCUMENT_TABLES, **PHRASE_TABLES, **RESULT_TABLES}
    return str(makers[name].__module__)


def _table_names(names: Sequence[str], allowed: Mapping[str, bool]) -> Sequence[str]:
    """The names, with 'all' expanded to those that are allowed; ConfigError for an unknown one."""
    if "all" in names:
        names = [name for name in PAPERS if allowed[name]]
        if not names:
            raise ConfigError(
                "'all' tables need pairs or a run of `paraloom research selftrain`",
                remedy="Give --pairs and --sts, --loop, --documents, --phrases, --results, or --recipe.",
            )
    for name in names:
        if name not in PAPERS:
            raise ConfigError(f"unknown table '{name}'{nearest(name, list(PAPERS))}")
    return names


def _check_inputs(name: str, allowed: bool, tasks: bool, recurrent: bool) -> None:
    """Check that a table has what it is made from."""
    if name in LOOP_TABLES and not allowed:
        raise ConfigError(f"table '{name}' needs a run of `paraloom research selftrain`", remedy="Give --loop.")
    if name in DOCUMENT_TABLES and not allowed:
        raise ConfigError(f"table '{name}' needs a run of examples/help-documents.toml", remedy="Give --documents.")
    if name in PHRASE_TABLES and not allowed:
        raise ConfigError(
            f"table '{name}' needs runs of examples/pgru.toml", remedy="Give --phrases, once for each seed."
        )
    if name in RESULT_TABLES and not allowed:
        raise ConfigError(
            f"table '{name}' needs the files of results", remedy="Give --results docs/explanations/results."
        )
    if name in PAIR_TABLES and not (allowed and tasks):
        raise ConfigError(f"table '{name}' needs pairs and similarity tasks", remedy="Give --pairs and --sts.")
    if name in architecture_tables.RECURRENT_TABLES and not recurrent:
        raise ConfigError(f"table '{name}' needs recurrent encoders", remedy="Leave out recurrent_size = 0.")


def _written(tables: Iterator[ReproducedTable], folder: Path) -> Iterator[ReproducedTable]:
    """Write each table to the folder as it comes, as Markdown and as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    for table in tables:
        entry = entry_of(table.name)
        inputs = {**table.inputs, CODE: code_digest(module_of(table.name))}
        signed = "|".join(filter(None, (table.signature, f"inputs:{digest(inputs)[:12]}")))
        finished = replace(table, inputs=inputs, signature=signed)
        finished = finished if entry is None else replace(finished, cost=entry.cost)
        finished.write(folder)
        yield finished
