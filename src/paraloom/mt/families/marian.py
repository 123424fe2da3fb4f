"""Marian: OPUS-MT and what Paraloom trains, of one pair of languages or with `>>fra<<` before the source."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from paraloom.core.errors import ConfigError, nearest
from paraloom.mt.families import folder_settings
from paraloom.mt.families.base import SOURCE_LIMIT, Codec, EncoderDecoder, read_vocabulary
from paraloom.mt.languages import find_language, same_language
from paraloom.mt.model_card import read_card
from paraloom.mt.names import pair_of
from paraloom.mt.subwords import Subwords, has_language_tag
from paraloom.mt.subwords import read_vocabulary as pieces_by_id

SUBWORD_MODELS = ("source.spm", "target.spm")


class MarianCodec:
    """The SentencePiece models of both sides, and the tag of the target language."""

    prefix: tuple[str, ...] = ()
    max_source = SOURCE_LIMIT
    max_target = SOURCE_LIMIT
    max_positions: int | None = None

    def __init__(self, folder: Path, source: str | None, target: str | None, tag: str) -> None:
        self.source, self.target, self._tag = source, target, tag
        self._subwords = Subwords(folder)

    def encode(self, texts: Sequence[str]) -> list[list[str]]:
        tagged = [f"{self._tag} {text}" if self._tag and not has_language_tag(text) else text for text in texts]
        return self._subwords.encode(tagged)

    def encode_target(self, texts: Sequence[str]) -> list[list[str]]:
        return [row[:-1] for row in self._subwords.encode_target(list(texts))]

    def decode(self, rows: Sequence[Sequence[str]]) -> list[str]:
        return self._subwords.decode([list(row) for row in rows])


@dataclass(frozen=True)
class Marian(EncoderDecoder):
    """Marian models."""

    def convert(self, checkpoint: Path, folder: Path, precision: str) -> None:
        from ctranslate2.converters import TransformersConverter

        self.check_files(checkpoint, [path.name for path in checkpoint.iterdir()])
        TransformersConverter(str(checkpoint)).convert(str(folder), quantization=precision, force=True)
        for name in SUBWORD_MODELS:
            shutil.copyfile(checkpoint / name, folder / name)

    def open(self, folder: Path, source: str | None, target: str | None) -> Codec:
        """See `EncoderDecoder.open`; the languages of the model card are the default."""
        settings = folder_settings(folder)
        source, target = source or settings.get("source"), target or settings.get("target")
        return MarianCodec(folder, *_languages(folder, source, target, read_vocabulary(folder)))


def open_checkpoint(checkpoint: Path, source: str | None, target: str | None) -> MarianCodec:
    """The codec of a checkpoint that is not converted."""
    card = checkpoint.parent if checkpoint.name == "huggingface" else checkpoint
    return MarianCodec(checkpoint, *_languages(card, source, target, pieces_by_id(checkpoint)))


def _languages(
    folder: Path, source: str | None, target: str | None, vocabulary: Sequence[str]
) -> tuple[str | None, str | None, str]:
    """Source and target language, None if unknown, and the tag that makes a multilingual model translate into it."""
    known: Sequence[str | None] = [side.strip() for side in read_card(folder).get("languages", "").split("→")]
    if len(known) != 2:
        known = pair_of(folder.name) or (None, None)
    if target and (tag := _tag(target, vocabulary)):
        return source or known[0], target, tag
    for side, given, own in zip(("source", "target"), (source, target), known, strict=True):
        if given and own and not same_language(given, own):
            raise ConfigError(
                f"the model in {folder} translates {known[0]} → {known[1]}, not with {side} language '{given}'"
            )
    return source or known[0], target or known[1], ""


def _tag(target: str, vocabulary: Sequence[str]) -> str:
    """The tag of a target language, under any of its codes; empty for a model of one target language."""
    tags = [piece[2:-2] for piece in vocabulary if piece.startswith(">>") and piece.endswith("<<")]
    if not tags:
        return ""
    language = find_language(target)
    for form in (target, *(language.forms if language else ())):
        if form in tags:
            return f">>{form}<<"
    raise ConfigError(f"unknown target language '{target}'{nearest(target, tags)}")


MARIAN = Marian("marian", "Marian", tuple((name,) for name in (*SUBWORD_MODELS, "vocab.json")))
