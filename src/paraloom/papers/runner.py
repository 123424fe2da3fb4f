"""Reproduction of the papers' tables on your own data, next to the published figures."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from paraloom.core.digests import digest
from paraloom.core.errors import ConfigError, nearest
from paraloom.papers import pair_tables
from paraloom.papers.bbh22 import result_tables as bbh22_tables
from paraloom.papers.catalog import entry_of
from paraloom.papers.multinews import document_tables
from paraloom.papers.park17 import loop_tables
from paraloom.papers.park17 import result_tables as park17_tables
from paraloom.papers.pgru import phrase_tables
from paraloom.papers.pgru.phrase_tables import PhraseRuns
from paraloom.papers.pnmt import architecture_tables, megabatch_tables, rating_tables
from paraloom.papers.provenance import CODE, code_digest
from paraloom.papers.published import PAPERS
from paraloom.papers.result_files import FinishedRun
from paraloom.papers.scpn import attack_tables
from paraloom.papers.scpn.attack_tables import LabeledStudy
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
DOCUMENT_TABLES = document_tables.TABLES
PHRASE_TABLES = phrase_tables.TABLES
LABEL_TABLES = attack_tables.TABLES
RESULT_TABLES = {**bbh22_tables.TABLES, **park17_tables.TABLES}


class _Kind(NamedTuple):
    """Tables from one kind of input, what they need, and the option that gives it."""

    tables: Mapping[str, Any]
    needs: str
    remedy: str


_KINDS = {
    "results": _Kind(RESULT_TABLES, "the files of results", "Give --results docs/explanations/results."),
    "loop": _Kind(LOOP_TABLES, "a run of `paraloom research selftrain`", "Give --loop."),
    "documents": _Kind(DOCUMENT_TABLES, "a run of examples/help-documents.toml", "Give --documents."),
    "phrases": _Kind(PHRASE_TABLES, "runs of examples/pgru.toml", "Give --phrases, once for each seed."),
    "labels": _Kind(LABEL_TABLES, "labeled texts", "Give --texts, a folder such as classification/."),
    "pairs": _Kind(PAIR_TABLES, "pairs and similarity tasks", "Give --pairs and --sts."),
}
"""Argument of `reproduce_tables` → the tables that are made from it."""


def reproduce_tables(
    names: str | Sequence[str],
    *,
    pairs: Mapping[str, str] | None = None,
    sts: str | Path | None = None,
    loop: str | Path | None = None,
    documents: str | Path | None = None,
    phrases: Sequence[str | Path] = (),
    texts: str | Path | None = None,
    results: str | Path | None = None,
    folder: str | Path = "runs/reproduce",
    **settings: Any,
) -> Iterator[ReproducedTable]:
    """Make the papers' tables from your own data, next to the published figures; if stopped, the same call resumes.

    Wieting et al. (2017), W17; Wieting and Gimpel (2018), PNMT; Burchell et al. (2022), BBH22; Park et al. (2017),
    PARK17; Zhou et al. (2017), PGRU; Afli et al. (2017), MultiNews; Iyyer et al. (2018), SCPN.

    Args:
        names: Names of tables, such as w17-5, pnmt-1 or park17-2; 'all': those that the inputs allow.
        pairs: Name → back-translated pairs of one source; filters are tuned on the first.
        sts: A folder of similarity tasks.
        loop: A run of `research selftrain`, for Table 5 of Park et al. (2017).
        documents: A run of examples/help-documents.toml, for the table of Afli et al. (2017).
        phrases: A run of examples/pgru.toml, for the tables of Zhou et al. (2017), one for each seed.
        texts: A folder of labeled texts with sst2 and trec, for the table of Iyyer et al. (2018).
        results: The folder docs/explanations/results, for tables of Burchell et al. (2022) and Park et al. (2017).
        folder: Folder of the runs.
        **settings: Further fields of `Study`.
    """
    inputs: dict[str, Any] = {}
    if results is not None:
        inputs["results"] = Path(results)
    if loop is not None:
        inputs["loop"] = FinishedRun(Path(loop), "paraloom research selftrain LOOP.toml")
    if documents is not None:
        inputs["documents"] = FinishedRun(Path(documents), "paraloom run examples/help-documents.toml")
    if phrases:
        inputs["phrases"] = PhraseRuns([Path(path) for path in phrases])
    given = {key: value for key, value in settings.items() if value is not None}
    study = Study(sources=dict(pairs or {}), sts=str(sts), folder=Path(folder), **given)
    if texts is not None:
        inputs["labels"] = LabeledStudy(Path(texts), study)
    if pairs:
        inputs["pairs"] = study
    allowed = {name for kind in inputs for name in _KINDS[kind].tables}
    names = _table_names([names] if isinstance(names, str) else names, allowed)
    for name in names:
        tasks = sts is not None or name not in PAIR_TABLES
        _check_inputs(name, name in allowed and tasks, study.size_of_recurrent != 0)

    def tables() -> Iterator[ReproducedTable]:
        for kind, source in inputs.items():
            for name in names:
                if name in _KINDS[kind].tables:
                    table = _KINDS[kind].tables[name](source, name)
                    if source is study:
                        table = replace(table, signature=study.signature, inputs={**study.digests, **table.inputs})
                    yield table

    return _written(tables(), Path(folder))


def module_of(name: str) -> str:
    """The module that makes a table."""
    makers = {name: table for kind in _KINDS.values() for name, table in kind.tables.items()}
    return str(makers[name].__module__)


def _table_names(names: Sequence[str], allowed: Collection[str]) -> Sequence[str]:
    """The names, with 'all' expanded to those that are allowed; ConfigError for an unknown one."""
    if "all" in names:
        names = [name for name in PAPERS if name in allowed]
        if not names:
            raise ConfigError(
                "'all' tables need pairs or a run of `paraloom research selftrain`",
                remedy="Give --pairs and --sts, --loop, --documents, --phrases, --texts, --results, or --recipe.",
            )
    for name in names:
        if name not in PAPERS:
            raise ConfigError(f"unknown table '{name}'{nearest(name, list(PAPERS))}")
    return names


def _check_inputs(name: str, given: bool, recurrent: bool) -> None:
    """Check that a table has what it is made from."""
    for kind in _KINDS.values():
        if name in kind.tables and not given:
            raise ConfigError(f"table '{name}' needs {kind.needs}", remedy=kind.remedy)
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
