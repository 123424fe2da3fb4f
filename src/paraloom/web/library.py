"""The corpora of one page: opened when first asked for, and again when their files have changed."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.pipeline.store import REPORT
from paraloom.web.dataset import Dataset
from paraloom.web.judging import Judging
from paraloom.web.matching import Matcher
from paraloom.web.merging import merge
from paraloom.web.neighbors import NearestRows
from paraloom.web.run_folder import RunView, open_run
from paraloom.web.scores_page import ScoreBins
from paraloom.web.sources import RowSource, find_source, stage_folders, stage_source

_AGE = 5.0  # Seconds for which rows of a running stage are shown before its new shards are read


@dataclass
class OpenCorpus:
    """A corpus that is open."""

    dataset: Dataset
    matcher: Matcher
    bins: ScoreBins
    neighbors: NearestRows | None
    checked: float = 0.0


class Library:
    """A set of pairs, or the stages of a run, to explore.

    Args:
        path: Pairs: a corpus folder, a file, PREFIX.{de,en}; or a run folder.
        second: Other pairs, or another run, to compare with the first.
        encoder: Shows the nearest rows of each row, by this encoder: a bundled name or a folder.
        sheet: Sheet of pairs to judge, from `judge sample` or drawn on the page; default: beside the file.
        src_column: Source column of a table: a name, or a number from 1.
        tgt_column: Target column of a table: a name, or a number from 1.
        scratch: Folder for temporary files, of texts and of two sets to compare; default: the system's.
    """

    def __init__(
        self,
        path: str | Path,
        second: str | Path | None = None,
        *,
        encoder: str | None = None,
        sheet: Path | None = None,
        src_column: str | None = None,
        tgt_column: str | None = None,
        scratch: Path | None = None,
    ) -> None:
        self.path = Path(path)
        self.is_run = second is None and (self.path / REPORT).is_file()
        if self.is_run:
            self.run()  # reports now what cannot be read
        self._source: RowSource | None = None
        if not self.is_run and second is None:
            self._source = find_source(path, src_column=src_column, tgt_column=tgt_column)
        self._scratch = Path(tempfile.mkdtemp(prefix="paraloom-explore-", dir=scratch))
        self._open: dict[str, OpenCorpus] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._number = 0
        self._encoder = encoder
        self.compares = second is not None
        self.judging = Judging(sheet or self.path.absolute().with_name(f"{self.path.name}.judge") / "sheet.tsv")
        if second is not None:
            try:
                self._source = merge(self._comparable(path), self._comparable(second), self._scratch)
            except BaseException:
                self.close()
                raise

    @property
    def name(self) -> str:
        return self._source.name if self._source is not None else self.path.name

    def names(self) -> list[str]:
        """Names of the corpora; of a run, those of the stages that have written rows, the last one first."""
        if self._source is not None:
            return [self._source.name]
        return [folder.name for folder in reversed(stage_folders(self.path)) if any(folder.rglob("*.parquet"))]

    def run(self) -> RunView:
        """The run, as its run.json describes it; raises DataError."""
        return open_run(self.path)

    def get(self, name: str = "") -> OpenCorpus:
        names = self.names()
        if not names:
            raise DataError("no rows yet", file=self.path, remedy="Wait until the first stage has written rows.")
        if name and name not in names:
            raise ConfigError(f"corpus '{name}' not found{nearest(name, names)}")
        name = name or names[0]
        with self._lock:
            held = self._open.get(name)
            if held is not None and (self._source is not None or time.monotonic() - held.checked < _AGE):
                return held
            source = self._source or stage_source(self.path / name, name)
            if held is None or held.dataset.stamp != source.stamp():
                held = self._open[name] = self._opened(source)
            held.checked = time.monotonic()
            return held

    def close(self) -> None:
        self._stopped.set()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _comparable(self, path: str | Path) -> RowSource:
        if (Path(path) / REPORT).is_file():
            last = next(
                (folder for folder in reversed(stage_folders(Path(path))) if any(folder.glob("*.parquet"))), None
            )
            if last is None:
                raise DataError("no rows yet", file=path, remedy="Wait until its first stage has written rows.")
            return stage_source(last, f"{Path(path).name}/{last.name}")
        return find_source(path)

    def _opened(self, source: RowSource) -> OpenCorpus:
        self._number += 1
        dataset = Dataset(source, self._scratch / str(self._number))
        neighbors = None if self._encoder is None else NearestRows(dataset, self._encoder)
        if neighbors is not None:
            threading.Thread(target=neighbors.prepare, args=(self._stopped,), daemon=True).start()
        return OpenCorpus(dataset, Matcher(dataset), ScoreBins(dataset), neighbors)
