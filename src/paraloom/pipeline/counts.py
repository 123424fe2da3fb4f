"""Row counts of a stage: each input row was kept, rejected or failed, and the sums must show it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields

from paraloom.core.errors import RunError


@dataclass(frozen=True)
class RowCounts:
    """Row counts of a shard, or of a whole stage."""

    read: int = 0
    kept: int = 0
    rejected: int = 0
    failed: int = 0
    out: int = 0

    def __add__(self, other: RowCounts) -> RowCounts:
        return RowCounts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def check(self, *, stage: str, file: str | None = None) -> RowCounts:
        """Return these counts if they add up; raise a RunError that shows them otherwise."""
        if self.read != self.kept + self.rejected + self.failed:
            counts = f"in {self.read}, kept {self.kept}, rejected {self.rejected}, failed {self.failed}"
            raise RunError(
                f"row counts do not add up: {counts}",
                stage=stage,
                file=file,
                remedy="A stage must return every row: this is a bug of the stage, not of the data.",
            )
        return self

    def as_dict(self) -> dict[str, int]:
        return asdict(self)


def total(counts: Iterable[RowCounts]) -> RowCounts:
    return sum(counts, RowCounts())
