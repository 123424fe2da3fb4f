"""Training of an encoder on files of pairs or bitext."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from paraloom.core.config import check_keys
from paraloom.embed.bilingual import BITEXT_SETTINGS, check_bitext, language_facts
from paraloom.embed.config import EncoderConfig
from paraloom.embed.training import train_encoder
from paraloom.io import read_pairs


def train_on_files(
    sources: Sequence[str | Path],
    is_bitext: bool,
    folder: str | Path,
    config: Mapping[str, Any],
    *,
    seed: int,
    threads: int | None,
) -> None:
    """Train an encoder on all pairs of some files; see `Encoder.train`."""
    settings = {**(BITEXT_SETTINGS if is_bitext else {}), **config}
    check_keys(EncoderConfig, settings)
    checks = [check_bitext(str(source), read_pairs(source)) for source in sources] if is_bitext else []
    batches = chain.from_iterable(read_pairs(source) for source in sources)
    facts = language_facts(checks) if is_bitext else {}
    train_encoder(batches, EncoderConfig(**settings), folder, seed=seed, threads=threads, facts=facts)
