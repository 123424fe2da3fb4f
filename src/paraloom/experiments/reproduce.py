"""The papers' tables at the size of the data at hand: each run anew, and set beside the published figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from paraloom.core.errors import ConfigError, nearest
from paraloom.experiments import agreement, classifier_table, encoder_tables
from paraloom.experiments.loop_tables import TABLES as LOOP_TABLES
from paraloom.experiments.loop_tables import reproduce_loop
from paraloom.experiments.published import PAPERS
from paraloom.experiments.study import Study
from paraloom.experiments.tables import Figure, Reproduced, cell
from paraloom.io.atomic import atomic_write
from paraloom.workflows.analysis import draw_sheet
from paraloom.workflows.tuning import RANDOM, Tuned, compare, tune

_W17 = {"spec": "word", "max_tokens": 100, "megabatch_size": 1, "two_sided": True}
"""W17's average of word vectors and its loss, negatives from the mini-batch."""


def _length_parts(study: Study, name: str) -> Reproduced:
    tuning = study.tuning(["w17-length-parts"], _W17, seeds=study.seeds)
    rows = compare(tuning, study.folder / name, measured=True, workers=study.workers, seed=study.seed)
    by = {row["selection"]: row for row in rows}
    ours = [by[each.label] for each in tuning.candidates()]
    figures = [_figure(row, "test_pearson", "test_low", "test_high") for row in ours]
    pairs = ", ".join(f"{row['pairs']:,}" for row in ours)
    chance = by[RANDOM]
    sentence = (
        agreement.falling("range", PAPERS[name].heads, [row["test_pearson"] for row in ours])
        + f" Random pairs: {cell(_figure(chance, 'test_pearson', 'test_low', 'test_high'))}."
        + f" Pairs of each range: {pairs}."
    )
    return Reproduced(name, PAPERS[name], [("WORD, ours", figures)], sentence)


def _tuned(*grids: str) -> Callable[[Study, str], Reproduced]:
    """A table of tuned filters, a grid a column, against random pairs."""

    def reproduced(study: Study, name: str) -> Reproduced:
        found: dict[str, Tuned] = {
            grid: tune(
                study.tuning([grid], _W17), study.folder / "tuned" / grid, workers=study.workers, seed=study.seed
            )
            for grid in grids
        }
        verdicts = [{row["selection"]: row for row in each.verdict} for each in found.values()]
        rows = [verdicts[0][RANDOM], *(by[each.winner] for by, each in zip(verdicts, found.values(), strict=True))]
        figures = [_figure(row, "test_pearson", "test_low", "test_high") for row in rows]
        sentence = agreement.tuned(
            PAPERS[name], [(each.winner, row["difference"]) for each, row in zip(found.values(), rows[1:], strict=True)]
        )
        return Reproduced(name, PAPERS[name], [("WORD, ours", figures)], sentence)

    return reproduced


def _statistics(study: Study) -> dict[str, Any]:
    stages = [
        {"name": f"{source}-statistics", "use": "pair-statistics", "pairs": str(path)}
        for source, path in study.scored().items()
    ]
    found = study.found(stages, study.folder / "statistics")
    return {source: found[f"{source}-statistics"] for source in study.sources}


def _differences(study: Study, name: str) -> Reproduced:
    measures = {"unigram_entropy": 1, "trigram_entropy": 1, "unigram_repetition": -1, "trigram_repetition": -1}
    found = {source: each["reference_minus_translation"] for source, each in _statistics(study).items()}
    rows = [
        (source, [_interval(each.get(key), 100 if "repetition" in key else 1) for key in measures])
        for source, each in found.items()
    ]
    sentence = agreement.signs(PAPERS[name].heads, list(measures.values()), [figures for _, figures in rows])
    return Reproduced(name, PAPERS[name], rows, sentence)


def _rank_correlations(study: Study, name: str) -> Reproduced:
    measures = {"tgt_unigram_repetition": -1, "tgt_trigram_repetition": -1, "tgt_idf": 1, "tgt_tokens": -1}
    found = {source: each["spearman_of_reference_probability"] for source, each in _statistics(study).items()}
    rows = [(source, [_interval(each.get(key), 100) for key in measures]) for source, each in found.items()]
    sentence = agreement.signs(PAPERS[name].heads, list(measures.values()), [figures for _, figures in rows])
    return Reproduced(name, PAPERS[name], rows, sentence)


_PARSED = 10_000
"""References of each source that are parsed: entropy depends on how many there are, so as many of each."""


def _parsed(study: Study) -> dict[str, Any]:
    """The statistics of a sample of each source whose references have trees; none without a parser."""
    if study.parser is None:
        return {}
    parser = str(Path(study.parser).absolute())
    stages: list[dict[str, Any]] = []
    for source, path in study.scored().items():
        sample, trees = f"{source}-sample", f"{source}-trees"
        stages += [
            {"name": sample, "use": "filter", "input": str(path), "sample": _PARSED},
            {"name": trees, "use": "parse", "input": sample, "parser": parser, "columns": ["src"]},
            {"name": source, "use": "pair-statistics", "pairs": trees},
        ]
    return study.found(stages, study.folder / "parsed")


def _corpora(study: Study, name: str) -> Reproduced:
    rows: list[tuple[str, Sequence[Figure]]] = []
    parsed = _parsed(study)
    keys = ("length", "idf", "paraphrase_score", "unigram_entropy", "parse_entropy")
    for source, found in _statistics(study).items():
        figures = {**found["reference"], **found}
        if source in parsed:
            figures["parse_entropy"] = parsed[source]["reference"].get("parse_entropy")
        rows.append((source, [_interval(figures.get(key)) for key in keys]))
    return Reproduced(name, PAPERS[name], rows, agreement.shortest(rows))


def _sheet(study: Study, name: str) -> Reproduced:
    source, pairs = next(iter(study.scored().items()))
    folder = study.folder / name
    folder.mkdir(parents=True, exist_ok=True)
    key = draw_sheet(str(pairs), folder / "sheet.tsv", by="paraphrase_score", count=100, seed=study.seed)
    sentence = (
        f"The sheet is drawn: {folder / 'sheet.tsv'}, 100 pairs of {source} from each range. Two raters label a copy "
        f"each; `paraloom judge table RATER1 RATER2 --key {key}` gives the table."
    )
    return Reproduced(name, PAPERS[name], [], sentence)


def _tenths(study: Study, name: str) -> Reproduced:
    specs = ("word", "trigram")
    tables: list[dict[str, Any]] = []
    for spec in specs:
        tuning = study.tuning(["pnmt-tenths"], {"spec": spec}, epochs=1)
        rows = compare(tuning, study.folder / name / spec, workers=study.workers, seed=study.seed)
        tables.append({row["selection"]: row["dev_pearson"] for row in rows})
    mean = {label: sum(table[label] for table in tables) / len(tables) for label in tables[0]}
    columns = ("translation_cost", "trigram_overlap", "paraphrase_score")
    tenths = [(f"tenth {tenth}", [mean[f"{column}, tenth {tenth}"] for column in columns]) for tenth in range(1, 11)]
    best = [max((figures[place], label) for label, figures in tenths) for place in range(len(columns))]
    ours = [("mean of WORD and TRIGRAM, best tenth", [figure for figure, _ in best]), *tenths]
    sentence = agreement.tenths(columns, best, mean[RANDOM])
    return Reproduced(name, PAPERS[name], ours, sentence)


TABLES: dict[str, Callable[[Study, str], Reproduced]] = {
    "w17-5": _length_parts,
    "w17-6": _tuned("w17-length"),
    "w17-7": _tuned("w17-cost", "w17-lm", "w17-classifier"),
    "w17-8": classifier_table.classifiers,
    "w17-9": _differences,
    "w17-10": _rank_correlations,
    "w17-12": _tuned("w17-overlap-1", "w17-overlap-2", "w17-overlap-3", "w17-bleu"),
    "pnmt-1": _corpora,
    "pnmt-3": _sheet,
    "pnmt-5": _tenths,
    "w17-4": encoder_tables.sources,
    "pnmt-6": encoder_tables.megabatches,
    "pnmt-8": encoder_tables.architectures,
    "pnmt-scrambling": encoder_tables.scrambling,
}
"""Name on the command line → what makes the table."""


def check_names(names: Sequence[str]) -> None:
    """Raises ConfigError for a name that is none's, of tables from pairs and from loops alike."""
    for name in names:
        if name not in PAPERS:
            raise ConfigError(f"there is no table '{name}'{nearest(name, list(PAPERS))}")


def reproduce(study: Study, names: Sequence[str]) -> Iterator[Reproduced]:
    """The tables of these names out of TABLES, in order, each when it is made."""
    return (replace(TABLES[name](study, name), made=study.signature) for name in names)


def _figure(row: Mapping[str, Any], value: str, low: str, high: str) -> Figure:
    return (row[value], row[low], row[high]) if low in row else row[value]


def _interval(found: Mapping[str, float] | None, times: float = 1) -> Figure:
    """An estimate as `statistics` writes it."""
    return None if found is None else (found["value"] * times, found["low"] * times, found["high"] * times)


def reproduce_tables(
    names: Sequence[str],
    *,
    pairs: Mapping[str, str] | None = None,
    sts: str | Path | None = None,
    loop: str | Path | None = None,
    folder: str | Path = "runs/reproduce",
    encoder: str | Path | None = None,
    parser: str | None = None,
    size: int = 24_000,
    epochs: int = 10,
    seeds: int = 5,
    workers: int | None = None,
    seed: int = 1,
) -> Iterator[Reproduced]:
    """Make the papers' tables from your own pairs, each beside the published figures; stopped, the same call resumes.

    Each table is also written to `folder`, as Markdown.

    Args:
        names: Names of tables, such as 'w17-5', 'pnmt-1' or 'park17-2'; 'all': those that `pairs` or `loop` allow.
        pairs: Back-translated pairs by the name of their source; filters are tuned on the first.
        sts: Folder of similarity tasks.
        loop: A run of `selftrain`, for the tables of Park et al. (2017).
        folder: Folder of the runs.
        encoder: For the paraphrase score; default: the bundled one.
        parser: Folder of a parser, for the entropy of parses.
        size: Pairs of each selection.
        epochs: Passes at most; the best one counts.
        seeds: Draws of the random selection and of the best one.
        workers: Processes; default: one per core.
        seed: Seed of every random choice.

    Returns:
        The tables, each when it is made.

    Raises:
        ConfigError: A table is unknown, or needs pairs, tasks or a run that are not given.
    """
    if "all" in names:
        names = [*(TABLES if pairs else ()), *(LOOP_TABLES if loop else ())]
        if not names:
            raise ConfigError(
                "'all' tables need pairs or a run of the loop", remedy="Give --pairs and --sts, or --loop."
            )
    check_names(names)
    of_loop = [name for name in names if name in LOOP_TABLES]
    of_pairs = [name for name in names if name not in LOOP_TABLES]
    if of_loop and loop is None:
        raise ConfigError(f"table '{of_loop[0]}' is made from a run of `paraloom selftrain`", remedy="Give --loop.")
    if of_pairs and (not pairs or sts is None):
        raise ConfigError(f"table '{of_pairs[0]}' needs pairs and similarity tasks", remedy="Give --pairs and --sts.")
    folder = Path(folder)
    tables: list[Iterator[Reproduced]] = []
    if loop is not None:
        run = Path(loop)
        tables.append(reproduce_loop(run, name) for name in of_loop)
    if of_pairs:
        study = Study(
            sources=dict(pairs or {}),
            sts=str(sts),
            folder=folder,
            parser=parser,
            size=size,
            epochs=epochs,
            seeds=seeds,
            workers=workers,
            seed=seed,
            **({} if encoder is None else {"encoder": str(encoder)}),
        )
        tables.append(reproduce(study, of_pairs))
    return _written(chain.from_iterable(tables), folder)


def _written(tables: Iterator[Reproduced], folder: Path) -> Iterator[Reproduced]:
    folder.mkdir(parents=True, exist_ok=True)
    for table in tables:
        with atomic_write(folder / f"{table.name}.md") as temporary:
            temporary.write_text(table.markdown(), encoding="utf-8")
        yield table
