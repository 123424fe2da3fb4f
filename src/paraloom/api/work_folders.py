"""The folders of unfinished outputs: the status of what is written there, and their removal."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from paraloom.api.run import WORK
from paraloom.core.errors import DataError, RunError
from paraloom.core.remote_files import is_url
from paraloom.core.results import ResultRecord
from paraloom.pipeline.remote_status import read_status_at
from paraloom.pipeline.status import RunStatus, is_run, read_status
from paraloom.pipeline.store import claimed


@dataclass(frozen=True)
class CleanedFolder(ResultRecord):
    """What became of the work folders in a folder."""

    deleted: tuple[str, ...]
    active: tuple[str, ...]
    megabytes: float
    dry_run: bool

    def format(self) -> str:
        verb = "would be deleted" if self.dry_run else "deleted"
        lines = [f"{name}: {verb}" for name in self.deleted]
        lines += [f"{name}: left, because its command is running" for name in self.active]
        count = "1 work folder" if len(self.deleted) == 1 else f"{len(self.deleted)} work folders"
        return "\n".join([*lines, f"{count} {verb}, {self.megabytes:,.1f} MB"])


def clean_work_folders(folder: str | Path = ".", *, dry_run: bool = False) -> CleanedFolder:
    """Delete the work folders, `NAME.paraloom`, of commands that were stopped and will not be resumed.

    Args:
        folder: The folder that they are in.
        dry_run: Only list them.
    """
    if not Path(folder).is_dir():
        raise DataError("folder not found", file=folder, remedy="Name the folder of an output that was not finished.")
    deleted, active, size = [], [], 0
    for work in sorted(path for path in Path(folder).iterdir() if path.name.endswith(WORK)):
        if not work.is_dir() or work.is_symlink() or not is_run(work):
            continue
        try:
            with claimed(work):
                size += sum(path.stat().st_size for path in work.rglob("*") if path.is_file())
                deleted.append(str(work))
                if not dry_run:
                    shutil.rmtree(work)
        except RunError:
            active.append(str(work))
    return CleanedFolder(tuple(deleted), tuple(active), round(size / 1e6, 1), dry_run)


def run_status(path: str | Path) -> RunStatus:
    """Read the status of a run by its folder, or of a command by the output that it will write.

    Args:
        path: Folder of a run, its URL, or the output of another command.
    """
    if is_url(path):
        return read_status_at(path)
    path = Path(path)
    work = Path(str(path).rstrip("/") + WORK)
    if not is_run(path) and is_run(work):
        return read_status(work)
    if path.is_file():
        raise DataError(
            "this is a file, and no command is writing it",
            file=path,
            remedy="Give the folder of a run, or the output of a command that has not ended.",
        )
    return read_status(path)
