"""Semantic textual similarity: an encoder's cosines against human scores, by every protocol of the papers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np

from paraloom.core.array_types import Float32s, Floats
from paraloom.core.digests import digest, signature
from paraloom.core.errors import DataError
from paraloom.core.protocols import EncoderLike
from paraloom.core.results import ResultRecord, text_table
from paraloom.core.stats import Estimate
from paraloom.evaluate.base import EvaluationResult
from paraloom.evaluate.published import PUBLISHED, PUBLISHED_MTEB, W17_MEAN, YEARS_MEAN
from paraloom.evaluate.resampling import (
    SAMPLES,
    pearson,
    pearson_interval,
    percentile_interval,
    resampled_pearson,
    spearman,
)
from paraloom.evaluate.sts_tasks import (
    MTEB_TASKS,
    TASKS,
    W17_TASKS,
    YEARS,
    STSPairs,
    STSTask,
    complete_mteb_tasks,
    find_tasks,
    read_task,
)
from paraloom.evaluate.tfidf import Overlap
from paraloom.evaluate.untrained import encoders_by_name

Cosines: TypeAlias = Float32s


class PairScorer(Protocol):
    """Anything that gives pairs of sentences a similarity without being an encoder, such as `tfidf.Overlap`."""

    @property
    def signature(self) -> str:
        """Everything that the similarities depend on."""

    def similarities(self, first: Sequence[str], second: Sequence[str]) -> Cosines:
        """float32 `(n,)`, similarity of each sentence with the one at the same position."""


System: TypeAlias = EncoderLike | PairScorer
"""A row of a table: an encoder, whose cosines are compared, or something else that scores pairs."""


@dataclass(frozen=True)
class STSRow(ResultRecord):
    """Correlations of one subset of a group, of the group's `mean` over subsets, or of `all` its pairs together."""

    group: str  # The group of tasks, such as `2012` or `STS-B`
    subset: str  # The subset, `mean` or `all`
    n: int
    pearson: float  # Pearson's r × 100; NaN where the encoder gave every pair the same cosine, or there are too few
    spearman: float  # Spearman's rho × 100; NaN as `pearson`
    # Lower end of the 95 % interval of Pearson's r (Fisher's z; of a mean, from those of its subsets), or NaN.
    low: float = math.nan
    high: float = math.nan  # Upper end of that interval, or NaN


@dataclass(frozen=True)
class MTEBRow(ResultRecord):
    """A task by MTEB's protocol: correlations of all its pairs together."""

    task: str  # MTEB's name of the task, such as `STS12`
    n: int
    spearman: float  # Spearman's rho × 100, MTEB's main score; NaN as `STSRow.pearson`
    pearson: float  # Pearson's r × 100


@dataclass(frozen=True)
class STSSystem(ResultRecord):
    """The figures of one system: an encoder, or something that it has to beat."""

    name: str
    role: str  # 'encoder', 'untrained' (what an encoder's training started from), 'overlap' or 'vectors'
    signature: str
    rows: tuple[STSRow, ...]  # Correlations by group: the papers' protocol
    mteb: tuple[MTEBRow, ...]  # Correlations by MTEB's protocol, of the tasks whose files are all there


@dataclass(frozen=True)
class STSDifference(ResultRecord):
    """Difference of an encoder and a baseline: that of their means of Pearson's r × 100 over a group."""

    system: str
    baseline: str  # What it is compared with
    group: str  # The group of tasks
    value: float  # The difference; above 0 where the encoder is better
    low: float  # Lower end of the 95 % interval (paired bootstrap: both on the same pairs, drawn with replacement)
    high: float  # Upper end of that interval


@dataclass(frozen=True)
class STSResult(EvaluationResult):
    """Result of `evaluate_sts`."""

    rows: tuple[STSRow, ...]  # The correlations of the (first) encoder, group by group
    skipped: tuple[str, ...]  # Task files that are not in the folder
    signature: str  # What was measured and how
    encoder: str  # The signature of the (first) encoder
    systems: tuple[STSSystem, ...] = ()  # All systems: the encoders, what they started from, overlap, averaged vectors
    # Each encoder minus what it started from, and minus the other baselines, by group.
    differences: tuple[STSDifference, ...] = ()

    @property
    def mteb(self) -> tuple[MTEBRow, ...]:
        """The figures of the (first) encoder by MTEB's protocol."""
        return self.systems[0].mteb if self.systems else ()

    def row(self, group: str, subset: str = "mean") -> STSRow:
        for row in self.rows:
            if (row.group, row.subset) == (group, subset):
                return row
        raise DataError(f"row '{group}/{subset}' not found in the result")

    def system(self, name: str) -> STSSystem:
        for system in self.systems:
            if system.name == name:
                return system
        raise DataError(f"system '{name}' not found; the systems are {', '.join(one.name for one in self.systems)}")

    def format(self, *, published: bool = False) -> str:
        """Plain-text tables: every subset (of one encoder), all systems by both protocols, differences."""
        parts: list[list[str]] = []
        if sum(system.role == "encoder" for system in self.systems) < 2:
            parts.append(self._subsets())
        if self.skipped:
            parts.append([f"skipped, file not found: {name}" for name in self.skipped])
        parts += [self._means(published), self._pooled(published), self._differences()]
        return "\n\n".join("\n".join(part) for part in [*parts, [self.signature]] if part)

    def _subsets(self) -> list[str]:
        header = ["group", "subset", "pairs", "Pearson", "95 %", "Spearman"]
        rows = [
            (row.group, row.subset, str(row.n), f"{row.pearson:.1f}", _interval(row), f"{row.spearman:.1f}")
            for row in self.rows
        ]
        return text_table(header, rows, left=2)

    def _means(self, published: bool) -> list[str]:
        groups = list(summary_rows(self.rows))
        table = [
            (system.name, [_figure(summary_rows(system.rows)[group].pearson) for group in groups])
            for system in self.systems
        ]
        if published:
            table += [
                (f"{row.system} ({row.source})", [_figure(row.figure(group)) for group in groups])
                for row in PUBLISHED
                if any(row.figure(group) is not None for group in groups)
            ]
        return _table("Pearson × 100, mean over the subsets of each group (the papers' protocol)", groups, table)

    def _pooled(self, published: bool) -> list[str]:
        tasks = [row.task for row in self.mteb]
        if not tasks:
            return []
        table = [
            (system.name, [f"{_figure(row.spearman)}/{_figure(row.pearson)}" for row in system.mteb])
            for system in self.systems
        ]
        if published:
            table += [
                (row.system, [_both(row.figures.get(task)) for task in tasks])
                for row in PUBLISHED_MTEB
                if any(task in row.figures for task in tasks)
            ]
        return _table("Spearman/Pearson × 100, all pairs of each task together (MTEB's protocol)", tasks, table)

    def _differences(self) -> list[str]:
        groups = list(dict.fromkeys(one.group for one in self.differences))
        cells: dict[str, list[str]] = {}
        for one in self.differences:
            figure = Estimate(one.value, one.low, one.high).format("+.1f")
            cells.setdefault(f"{one.system} - {one.baseline}", []).append(figure)
        title = "difference of the means of Pearson × 100, with 95 % intervals (paired bootstrap)"
        return _table(title, groups, list(cells.items()))


def evaluate_sts(
    encoder: EncoderLike | Mapping[str, EncoderLike],
    folder: str | Path,
    tasks: Iterable[str] | None = None,
    *,
    untrained: EncoderLike | Mapping[str, EncoderLike] | None = None,
    vectors: EncoderLike | None = None,
    overlap: bool = True,
    resamples: int = SAMPLES,
    seed: int = 1,
) -> STSResult:
    """Correlate cosines of encoders, and baselines, with the human scores of semantic textual similarity tasks.

    Args:
        encoder: Any sentence encoder, or several by name.
        folder: A file of `score<TAB>sentence1<TAB>sentence2` (also .jsonl, .parquet, compressed), or a folder: of the
            known tasks, `2012/MSRpar.test.tsv` and so on (`sts_tasks.TASKS`), or of any such files.
        tasks: Names or groups of tasks (`2012`, `STS-B/dev`), or files below the folder; by default, of the known
            tasks STS 2012–2016, STS-B dev and test, SICK and PIT test, of other folders all files.
        untrained: What the training of the encoder started from; for several encoders, by their names.
        vectors: Word vectors that are averaged, as one more row.
        overlap: Whether to add the row `overlap`: TF-IDF of words and trigrams, see `tfidf.Overlap`.
        resamples: Bootstrap samples for the differences to the baselines.
        seed: Seed of the bootstrap samples.

    Returns:
        Pearson's and Spearman's correlations × 100 of each task.  A group of several subsets has two more rows: `mean`,
        the mean of their correlations, and `all`, the correlation over all its pairs together.  The last rows are the
        mean over the years 2012–2015 and that over W17_TASKS, if all their files are there.  `systems` has the same of
        all baselines, and the figures by MTEB's protocol, of its tasks whose files are all there (`MTEB_TASKS`).

    Raises:
        ConfigError: A task is unknown, or `untrained` names an unknown encoder.
        DataError: None of the task files is there, or a row is malformed (with file and row).

    Reference:
        PNMT Table 8 (`mean`), W17 Table 4 (the mean over all tasks); Muennighoff et al. 2023, "MTEB" (all pairs).

    Example:
        >>> import paraloom, tempfile
        >>> folder = Path(tempfile.mkdtemp(), "stsbenchmark")
        >>> folder.mkdir()
        >>> lines = ["5\\ta dog runs\\ta dog is running", "1\\ta dog runs\\ta cat", "0\\ta dog\\tstocks fell"]
        >>> _ = (folder / "sts-dev.tsv").write_text("\\n".join(lines))
        >>> result = evaluate_sts(paraloom.Encoder.load("english"), folder.parent)
        >>> result.row("STS-B", "dev").n, [system.name for system in result.systems]
        (3, ['encoder', 'overlap'])
    """
    encoders, starts = encoders_by_name(encoder, untrained)
    root, present, skipped = find_tasks(folder, tasks)
    data = {task.name: read_task(root, task) for task in present}
    pooled = complete_mteb_tasks(root, present) if tasks is None else []
    everything = {**data, **{task.name: read_task(root, task) for task in pooled}}
    systems: list[tuple[str, str, System]] = []
    for name, model in encoders.items():
        systems.append((name, "encoder", model))
        if name in starts:
            systems.append((f"{name}, untrained", "untrained", starts[name]))
    if overlap:
        systems.append(("overlap", "overlap", overlap_of(data.values())))
    if vectors is not None:
        systems.append(("given vectors averaged", "vectors", vectors))

    cosines: list[dict[str, Cosines]] = []
    rows: list[STSSystem] = []
    for name, role, system in systems:
        by_task = {key: similarities(system, pairs.first, pairs.second) for key, pairs in everything.items()}
        complete = (task for task, names in MTEB_TASKS.items() if everything.keys() >= set(names))
        mteb = tuple(_mteb_row(task, everything, by_task) for task in complete)
        cosines.append(by_task)
        rows.append(STSSystem(name, role, system.signature, _rows(present, data, by_task), mteb))
    first = next(iter(encoders.values()))
    how = signature(
        "sts",
        similarity="cosine",
        correlations="pearson+spearman",
        protocols="subsets+mean+all",
        tasks=len(present),
        n=sum(len(pairs.scores) for pairs in data.values()),
        encoder=digest(first.signature)[:12],
    )
    differences = _differences(present, data, rows, cosines, resamples, seed)
    files = tuple(task.file for task in skipped)
    return STSResult(rows[0].rows, files, how, first.signature, tuple(rows), differences)


def summary_rows(rows: Sequence[STSRow]) -> dict[str, STSRow]:
    """The row that stands for each group: its mean over subsets, or its only subset."""
    summary: dict[str, STSRow] = {}
    for row in rows:
        if row.subset == "mean" or row.group not in summary:
            summary[row.group] = row
    return summary


def similarities(system: System, first: Sequence[str], second: Sequence[str]) -> Cosines:
    """Similarity of each sentence with the sentence at the same position of another list."""
    if isinstance(system, Overlap) or not hasattr(system, "encode"):
        return system.similarities(first, second)
    return paired_cosines(system.encode(first), system.encode(second))


def overlap_of(tasks: Iterable[STSPairs]) -> Overlap:
    """The overlap baseline of tasks: IDF is counted on their own sentences, without the scores."""
    return Overlap.count(side for pairs in tasks for side in (pairs.first, pairs.second))


def paired_cosines(a: Float32s, b: Float32s) -> Float32s:
    """Cosine of each row with the same row of another matrix."""
    norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    products: Float32s = np.einsum("nd,nd->n", a, b)
    return np.divide(products, np.where(norms > 0, norms, 1), dtype=np.float32)


def _mteb_row(task: str, data: Mapping[str, STSPairs], by_task: Mapping[str, Cosines]) -> MTEBRow:
    scores = np.concatenate([data[name].scores for name in MTEB_TASKS[task]])
    cosines = np.concatenate([by_task[name] for name in MTEB_TASKS[task]])
    return MTEBRow(task, len(scores), 100 * spearman(scores, cosines), 100 * pearson(scores, cosines))


def _rows(
    present: Sequence[STSTask], data: Mapping[str, STSPairs], by_task: Mapping[str, Cosines]
) -> tuple[STSRow, ...]:
    """The rows of one system: the subsets of each group, its `mean` and `all`, and the means over groups."""
    groups: dict[str, list[STSTask]] = {}
    for task in present:
        groups.setdefault(task.group, []).append(task)
    result: list[STSRow] = []
    for group, tasks in groups.items():
        rows = [_row(group, task.subset, data[task.name].scores, by_task[task.name]) for task in tasks]
        result += rows
        if len(rows) > 1:
            result.append(_mean(group, rows))
            scores = np.concatenate([data[task.name].scores for task in tasks])
            result.append(_row(group, "all", scores, np.concatenate([by_task[task.name] for task in tasks])))
    names = {task.name for task in present}
    if names >= _YEAR_TASKS:
        means = [row for row in result if row.group in YEARS and row.subset == "mean"]
        result.append(_mean(YEARS_MEAN, means))
    if names >= W17_TASKS:
        result.append(_mean(W17_MEAN, [row for row in result if f"{row.group}/{row.subset}" in W17_TASKS]))
    return tuple(result)


_YEAR_TASKS = frozenset(task.name for task in TASKS if task.group in YEARS)


def task_weights(present: Sequence[STSTask], groups: Iterable[str]) -> dict[str, Floats]:
    """The weight of each task in the figure of a group."""
    of_group = {group: np.array([float(task.group == group) for task in present]) for group in groups}
    weights = {group: row / row.sum() for group, row in of_group.items() if row.any()}
    if YEARS_MEAN in of_group:
        weights[YEARS_MEAN] = np.mean([weights[year] for year in YEARS], axis=0)
    if W17_MEAN in of_group:
        row = np.array([float(task.name in W17_TASKS) for task in present])
        weights[W17_MEAN] = row / row.sum()
    return weights


def _differences(
    present: Sequence[STSTask],
    data: Mapping[str, STSPairs],
    systems: Sequence[STSSystem],
    cosines: Sequence[Mapping[str, Cosines]],
    resamples: int,
    seed: int,
) -> tuple[STSDifference, ...]:
    """Every encoder minus what it started from, and minus each baseline that is common to all."""
    pairs = [
        (k, j)
        for k, system in enumerate(systems)
        for j, other in enumerate(systems)
        if system.role == "encoder"
        and (other.name == f"{system.name}, untrained" or other.role in ("overlap", "vectors"))
    ]
    if not pairs or resamples < 1:
        return ()
    resampled = np.stack(
        [
            resampled_pearson(
                data[task.name].scores,
                np.stack([by_task[task.name] for by_task in cosines]),
                resamples,
                seed,
                index,
                math.nan,
            )
            for index, task in enumerate(present)
        ],
        axis=2,
    )
    summaries = [summary_rows(system.rows) for system in systems]
    result = []
    for k, j in pairs:
        for group, weights in task_weights(present, summaries[k]).items():
            used = weights > 0  # a correlation that is undefined elsewhere is not of this group
            low, high = percentile_interval((resampled[:, k] - resampled[:, j])[:, used] @ weights[used])
            value = summaries[k][group].pearson - summaries[j][group].pearson
            result.append(STSDifference(systems[k].name, systems[j].name, group, value, low, high))
    return tuple(result)


def _table(title: str, columns: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    if not rows:
        return []
    return [title, *text_table(["", *columns], [(name, *cells) for name, cells in rows])]


def _figure(value: float | None) -> str:
    return "-" if value is None or math.isnan(value) else f"{value:.1f}"


def _both(figures: tuple[float, float] | None) -> str:
    return "-" if figures is None else f"{figures[0]:.1f}/{figures[1]:.1f}"


def _row(group: str, subset: str, scores: Floats, cosines: Float32s) -> STSRow:
    r, n = pearson(scores, cosines), len(scores)
    low, high = pearson_interval(r, n)
    return STSRow(group, subset, n, 100 * r, 100 * spearman(scores, cosines), 100 * low, 100 * high)


def _mean(group: str, rows: list[STSRow]) -> STSRow:
    means = (float(np.mean([row.pearson for row in rows])), float(np.mean([row.spearman for row in rows])))
    half = math.hypot(*((row.high - row.low) / 2 for row in rows)) / len(rows)
    return STSRow(group, "mean", sum(row.n for row in rows), *means, means[0] - half, means[0] + half)


def _interval(row: STSRow) -> str:
    return "" if math.isnan(row.low) else f"[{row.low:.1f}, {row.high:.1f}]"
