"""Sentences with their paraphrases, to measure a paraphraser on; images whose captions are held out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from paraloom.core.seeds import derive_seed
from paraloom.text.tokens import token_hash

TEST_IMAGES = 0.25  # Share of the images of coco-captions that are held out


class ReferencedSentence(NamedTuple):
    source: str
    references: tuple[str, ...]


def is_test_image(image: str) -> bool:
    """True if the captions of an image of coco-captions are held out, by the same hash as the stage `split` has."""
    return token_hash(image.strip()) < TEST_IMAGES * 2.0**64


def merge_references(sentences: Iterable[ReferencedSentence]) -> list[ReferencedSentence]:
    """Make one sentence with several references of those that are equal; equal references count once."""
    by_source: dict[str, dict[str, None]] = {}
    for source, references in sentences:
        by_source.setdefault(source, {}).update(dict.fromkeys(references))
    return [ReferencedSentence(source, tuple(references)) for source, references in by_source.items()]


def draw_sentences(sentences: Sequence[ReferencedSentence], rows: int, seed: int) -> list[ReferencedSentence]:
    """Draw sentences without replacement, in the order of the file; the seed and their texts decide which."""
    if not rows or rows >= len(sentences):
        return list(sentences)
    ranked = sorted(range(len(sentences)), key=lambda index: (derive_seed(seed, sentences[index].source), index))
    return [sentences[index] for index in sorted(ranked[:rows])]
