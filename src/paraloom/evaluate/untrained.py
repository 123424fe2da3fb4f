"""Where the start of a training lies: the row *untrained* of every table of encoders."""

from __future__ import annotations

from pathlib import Path

from paraloom.bundled import bundled_path
from paraloom.core.protocols import START


def untrained_folder(encoder: str | Path) -> Path | None:
    """The folder of the encoder that a training started from, which costs nothing to be as good as.

    Args:
        encoder: Folder of a trained encoder, or the name of a bundled one.

    Returns:
        The folder; None where the encoder was not trained here, or its start was not kept.

    Example:
        >>> untrained_folder("no-such-folder") is None
        True
    """
    folder = Path(encoder)
    if not folder.exists():
        folder = bundled_path(str(encoder)) or folder
    start = folder / START
    return start if start.is_dir() else None
