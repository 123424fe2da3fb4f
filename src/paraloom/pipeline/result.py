"""The result of a run: counts, figures and digest of each stage, and one digest for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import pyarrow.compute as pc

from paraloom.core.digests import digest
from paraloom.core.reasons import NOT_SAMPLED, is_not_sampled
from paraloom.core.stage import Json
from paraloom.io.shards import read_batches
from paraloom.pipeline.counts import RowCounts

_REASONS = 5  # Reasons of rejection that are printed for a stage, the most frequent first


@dataclass(frozen=True)
class StageResult:
    """A finished stage."""

    name: str
    folder: Path  # Its folder
    kind: Literal["source", "map", "fit"]
    digest: str  # Digest of its output
    counts: RowCounts = field(default_factory=RowCounts)  # Its row counts; all 0 for a Fit
    figures: dict[str, Json] = field(default_factory=dict)  # What a Fit returned
    seconds: float = 0.0  # Time of work, summed over workers and runs
    memory: int = 0  # Peak of its largest worker, in bytes
    shards: int = 0
    written: int = 0  # Number of shards (or artifacts) that were written in this run
    why: str = ""  # Why it ran, '' if it was done before
    # Reasons of rejection and their rows; empty unless counted (see `rejections`).
    reasons: dict[str, int] = field(default_factory=dict)

    @property
    def not_sampled(self) -> int:
        """Rows that met the conditions of a filter and that its random sample left out, among those rejected."""
        return sum(rows for reason, rows in self.reasons.items() if is_not_sampled(reason))

    def as_dict(self) -> dict[str, Any]:
        fields = {name: value for name, value in vars(self).items() if name != "reasons"}
        return {**fields, "folder": self.folder.name, "counts": self.counts.as_dict()}


@dataclass(frozen=True)
class RunResult:
    """A finished run.

    Args:
        folder: The run folder.
        stages: Result of each stage that was to run, in order.

    Example:
        >>> import paraloom, tempfile
        >>> result = paraloom.as_pairs([("a b", "a c")]).score("length").write(tempfile.mkdtemp() + "/scored.tsv")
        >>> result.stages[-1].name, result.stages[-1].counts.out
        ('score', 1)
    """

    folder: Path
    stages: tuple[StageResult, ...]

    def __repr__(self) -> str:
        stages = (stage.name if stage.kind == "fit" else f"{stage.name} {stage.counts.out:,}" for stage in self.stages)
        return f"<RunResult {str(self.folder)!r}, rows: {', '.join(stages)}>"

    @property
    def digest(self) -> str:
        """SHA-256 over the stages' digests, in order: equal for equal bytes, on any engine and machine."""
        return digest([[stage.name, stage.digest] for stage in self.stages])

    def to_dict(self) -> dict[str, Any]:
        """The digest, and the counts and figures of each stage, as json.dumps takes them.

        Returns:
            The keys `digest` and `stages`.
        """
        return {"digest": self.digest, "stages": [stage.as_dict() for stage in self.stages]}

    def format(self) -> str:
        """A table with a line for each stage: rows in and out, rejected and failed; and what it reports.

        Returns:
            The lines, with the figures of models and the most frequent reasons of rejection.

        Example:
            >>> counts = RowCounts(read=3, kept=2, rejected=1, out=2)
            >>> stage = StageResult("filter", Path("20-filter"), "map", "0", counts, reasons={"too long": 1})
            >>> print(RunResult(Path("run"), (stage,)).format())
            stage            in         out  rejected  failed
            filter            3           2         1       0
                      1 rejected: too long
        """
        width = max((len(stage.name) for stage in self.stages), default=0)
        samples = any(stage.not_sampled for stage in self.stages)
        extra = f" {NOT_SAMPLED:>11}" if samples else ""
        lines = [f"{'stage':<{width}}  {'in':>11} {'out':>11} {'rejected':>9}{extra} {'failed':>7}"]
        for stage in self.stages:
            counts = stage.counts
            if stage.kind == "fit":
                lines.append(stage.name)
                lines += [f"{'':<{width}}    {figure}" for figure in describe_figures(stage.figures)]
            else:
                unsampled = f" {stage.not_sampled:>11,}" if samples else ""
                lines.append(
                    f"{stage.name:<{width}}  {counts.read:>11,} {counts.out:>11,} "
                    f"{counts.rejected - stage.not_sampled:>9,}{unsampled} {counts.failed:>7,}"
                )
                if promise := stage.figures.get("promise"):
                    lines.append(f"{'':<{width}}    {promise['summary']}")
                reasons = [item for item in stage.reasons.items() if not is_not_sampled(item[0])][:_REASONS]
                lines += [f"{'':<{width}}    {rows:,} rejected: {reason}" for reason, rows in reasons]
        return "\n".join(lines)

    def with_reasons(self) -> RunResult:
        """Count the reasons of rejected rows, in the stages' folders.

        Returns:
            The result with `reasons` of each stage.
        """
        counted = (
            replace(stage, reasons=rejections(stage.folder)) if stage.counts.rejected else stage
            for stage in self.stages
        )
        return replace(self, stages=tuple(counted))

    def stage(self, name: str) -> StageResult:
        """Find a stage by its name.

        Args:
            name: Name of the stage.

        Returns:
            Its result.

        Raises:
            KeyError: No stage of this name ran.
        """
        return {stage.name: stage for stage in self.stages}[name]


def rejections(folder: Path) -> dict[str, int]:
    """Reasons of rejection in a stage's folder → number of rows, the most frequent first."""
    counts: Counter[str] = Counter()
    for shard in sorted((folder / "rejected").glob("*.parquet")):
        for batch in read_batches(shard, ["reason"], batch_rows=50_000):
            for entry in pc.value_counts(batch.column("reason")).to_pylist():
                counts[str(entry["values"])] += entry["counts"]
    return dict(counts.most_common())


def count_not_sampled(folder: Path, use: str, configuration: Mapping[str, object], rejected: int) -> int:
    """Rejected rows of a stage that a filter's random sample left out."""
    if use != "filter" or not configuration.get("sample") or not rejected:
        return 0
    if not any(configuration.get(key) for key in ("where", "top", "decile")):
        return rejected
    return sum(rows for reason, rows in rejections(folder).items() if is_not_sampled(reason))


_MEANINGS = {
    "violations": ("pairs that still violate the margin", True),
    "loss": ("loss in the last epoch", False),
    "dev": ("on development text", False),
    "f1": ("F1", False),
    "bleu": ("BLEU", False),
    "chrf": ("chrF", False),
}
"""Name of a figure → what it is, and whether it is a share of 1 that is printed in percent."""


def describe_figures(figures: Mapping[str, object]) -> list[str]:
    """A line for each figure; those without a value are left out."""
    lines = []
    for name, value in figures.items():
        label, share = _MEANINGS.get(name, (name.replace("_", " "), False))
        if isinstance(value, Mapping):
            text = ", ".join(_figure(key, part) for key, part in value.items() if part not in (None, {}, []))
        elif isinstance(value, list | tuple):
            text = ", ".join(map(_value, value))
        elif share and isinstance(value, float):
            text = f"{value:.1%}".replace("%", " %")
        else:
            text = "" if value is None else _value(value)
        if text:
            lines.append(f"{label}: {text}")
    return lines


def _figure(name: str, value: object) -> str:
    """One of several figures: a count before its name, another number after it."""
    label = name.replace("_", " ")
    if isinstance(value, Mapping):
        return f"{label} ({', '.join(_figure(key, part) for key, part in value.items())})"
    return f"{value:,} {label}" if isinstance(value, int) else f"{label} {_value(value)}"


def _value(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
