"""What a selection of texts uses, by name: encoders, language models, and what placeholders hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paraloom.api.model_references import model_path
from paraloom.core.errors import ConfigError
from paraloom.core.protocols import EncoderLike
from paraloom.embed.encoder import open_encoder
from paraloom.io import read_lines
from paraloom.pairs.scoring.judge import Judge, bundled_judge
from paraloom.paraphrasing.protection import Protector, kinds_for
from paraloom.text.language_names import language_name

NO_ENCODER = "none"
"""Instead of an encoder: meaning is not measured."""

_ENGLISH_ENCODERS = ("english", "english-small")


def named_encoder(
    encoder: str | Path | EncoderLike | None, language: str | None = None, *, option: str = "--encoder"
) -> EncoderLike | None:
    if encoder is None or encoder == NO_ENCODER:
        return None
    if str(encoder) in _ENGLISH_ENCODERS and language not in (None, "", "en"):
        raise ConfigError(
            f"the encoder '{encoder}' does not read {language_name(language)}, the language of the paraphraser",
            remedy=f"Name an encoder of that language with {option}, or none: {option} none.",
        )
    return open_encoder(encoder)


def named_judge(judge: str | Path | None, language: str | None = None) -> Judge | None:
    """A judge of meaning; None is the bundled one, for English."""
    if judge is None:
        return bundled_judge() if language in (None, "", "en") else None
    if str(judge) == NO_ENCODER:
        return None
    return Judge.load(model_path(judge))


def named_protector(
    hold: Sequence[str] | None = None, terms: str | Path | Sequence[str] = (), language: str | None = None
) -> Protector:
    return Protector(kinds_for(language) if hold is None else hold, read_terms(terms))


def read_terms(terms: str | Path | Sequence[str]) -> list[str]:
    """Terms from a file with one on each line, blank lines left out; or the terms as they are given."""
    if isinstance(terms, (str, Path)):
        return [line.strip() for line in read_lines(terms) if line.strip()]
    return list(terms)
