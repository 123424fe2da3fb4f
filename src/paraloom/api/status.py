"""The status of a run, or of a command that is writing an output."""

from __future__ import annotations

from pathlib import Path

from paraloom.api.run import WORK
from paraloom.core.errors import DataError
from paraloom.pipeline.status import RunStatus, is_run, read_status


def run_status(path: str | Path) -> RunStatus:
    """Read the status of a run by its folder, or of a command by the output that it will write.

    Args:
        path: Folder of a run, or the output of another command.
    """
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
