"""Find the initial weights that a training started from: the row *untrained* of every table of encoders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from paraloom.bundled import bundled_path
from paraloom.core.errors import ConfigError
from paraloom.core.protocols import START, EncoderLike


def untrained_folder(encoder: str | Path) -> Path | None:
    """The folder of the encoder that a training started from, which costs nothing to be as good as."""
    folder = Path(encoder)
    if not folder.exists():
        folder = bundled_path(str(encoder)) or folder
    start = folder / START
    return start if start.is_dir() else None


def encoders_by_name(
    encoder: EncoderLike | Mapping[str, EncoderLike], untrained: EncoderLike | Mapping[str, EncoderLike] | None
) -> tuple[dict[str, EncoderLike], dict[str, EncoderLike]]:
    """Encoders to compare, and what they started from, by name."""
    encoders = dict(encoder) if isinstance(encoder, Mapping) else {"encoder": encoder}
    if not encoders:
        raise ConfigError("no encoder to evaluate", remedy="Give one encoder or more.")
    if untrained is None or isinstance(untrained, Mapping):
        starts = dict(untrained or {})
    else:
        starts = {next(iter(encoders)): untrained}
    for name in starts:
        if name not in encoders:
            raise ConfigError(f"'untrained' names '{name}'; the encoders are {', '.join(encoders)}")
    return encoders, starts
