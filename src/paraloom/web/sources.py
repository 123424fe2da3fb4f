"""Sources to explore: files and folders of pairs, and the stages of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from paraloom.core.errors import DataError
from paraloom.io.corpus import DESCRIPTION, shards_of
from paraloom.pipeline.splits import FOLDERS
from paraloom.web.parameters import whole_number

SIDES = (("src", "tgt"), ("text",))
"""The text columns that a row shows: the first of these sets that the columns contain."""

STATUS, REASON = "status", "reason"
"""Columns that tell kept, rejected and failed rows apart, where a source has more than kept rows."""


@dataclass(frozen=True)
class RowSource:
    """Rows on disk."""

    name: str
    path: Path
    shards: tuple[tuple[Path, str], ...] = ()
    src_column: str | None = None
    tgt_column: str | None = None

    @property
    def renames(self) -> dict[str, str]:
        """The columns that are named as the sides → src and tgt."""
        return {old: new for old, new in ((self.src_column, "src"), (self.tgt_column, "tgt")) if old}

    def stamp(self) -> tuple[tuple[str, int, int], ...]:
        """Changes when the files do."""
        files = [path for path, _ in self.shards] or [self.path]
        return tuple((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files if path.is_file())


def path_to_filter(source: RowSource) -> Path:
    """The file or corpus with all rows of a source: where a stage has rejected some, the corpus that it read."""
    if all(status == "kept" for _, status in source.shards):
        return source.path
    folders = stage_folders(source.path.parent)
    earlier = folders[: folders.index(source.path)] if source.path in folders else []
    return next((folder for folder in reversed(earlier) if any(folder.glob("*.parquet"))), source.path)


def find_source(path: str | Path, *, src_column: str | None = None, tgt_column: str | None = None) -> RowSource:
    """Find the files of a corpus folder, with its rejected and failed rows, or of a single file."""
    path = Path(path)
    if path.is_dir():
        if not (path / DESCRIPTION).is_file():
            raise DataError(
                f"{DESCRIPTION} and run.json not found",
                file=path,
                remedy="Name a file of pairs, a corpus folder, or the folder of a run.",
            )
        return stage_source(path, path.name)
    shards = ((path, "kept"),) if path.suffix == ".parquet" and path.is_file() else ()
    return RowSource(path.name, path, shards, src_column, tgt_column)


def stage_source(folder: Path, name: str) -> RowSource:
    """The rows of a stage, finished or not: its shards appear whole, so those that exist can be read."""
    shards = [
        (path, status)
        for status, below in FOLDERS.items()
        for path in sorted((folder / below).glob("*.parquet"))
        if path.is_file()
    ]
    if (folder / DESCRIPTION).is_file():
        known = set(shards_of(folder))
        shards = [(path, status) for path, status in shards if status != "kept" or path in known]
    return RowSource(name, folder, tuple(shards))


def stage_folders(run: Path) -> list[Path]:
    """The stage folders of a run, in order: `10-read` before `100-score`."""
    numbers = {path: whole_number(path.name.split("-")[0], 0, 10**9) for path in run.iterdir() if path.is_dir()}
    return [path for _, path in sorted((number, path) for path, number in numbers.items() if number is not None)]


def sides_of(schema: pa.Schema) -> tuple[str, ...]:
    """The text columns that a row shows, () where the columns have neither sides nor text."""
    return next((sides for sides in SIDES if set(sides) <= set(schema.names)), ())
