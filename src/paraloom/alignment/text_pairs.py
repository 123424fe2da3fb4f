"""Two texts to align, as they are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paraloom.core.array_types import Float32s
from paraloom.core.errors import DataError
from paraloom.io.arrays import StoredVectors

Vectors = Float32s
AnyVectors = Vectors | StoredVectors


@dataclass(frozen=True, eq=False)
class TextPair:
    """Two texts to align, sentence by sentence, with their translations."""

    source: Sequence[str]  # m sentences
    target: Sequence[str]  # n sentences
    # Translations of `source` into the target language, each of m sentences.
    source_translations: Sequence[Sequence[str]] = ()
    # Translations of `target` into the source language, each of n sentences.
    target_translations: Sequence[Sequence[str]] = ()
    # Sentence embeddings in one space, float32 (m, d) and (n, d); by an encoder of both languages, or of one language
    # into which the other text was translated.
    embeddings: tuple[AnyVectors, AnyVectors] | None = None

    def __post_init__(self) -> None:
        for side, text, translations in (
            ("source", self.source, self.source_translations),
            ("target", self.target, self.target_translations),
        ):
            for number, translation in enumerate(translations, 1):
                if len(translation) != len(text):
                    raise DataError(
                        f"the {side} has {len(text):,} sentences, its translation {number} has {len(translation):,}",
                        remedy="Give one translated line for each sentence, in the same order.",
                    )
        if self.embeddings is not None:
            sizes, expected = [len(side) for side in self.embeddings], [len(self.source), len(self.target)]
            if sizes != expected:
                raise DataError(f"expected one embedding for each sentence, {expected}, got {sizes}")
            shapes = [np.shape(side) for side in self.embeddings]
            if len(shapes[0]) != 2 or shapes[0][1:] != shapes[1][1:]:
                raise DataError(
                    f"the embeddings of source and target have the shapes {shapes[0]} and {shapes[1]}",
                    remedy="Give (m, d) and (n, d), encoded by the same encoder.",
                )
            for side, vectors in zip(("source", "target"), self.embeddings, strict=True):
                if isinstance(vectors, StoredVectors):
                    continue  # by an encoder, and checked where a part is used
                with np.errstate(over="ignore", invalid="ignore"):
                    norms = np.linalg.norm(np.asarray(vectors, np.float32), axis=1)
                if not np.isfinite(norms).all():
                    raise DataError(
                        f"the embedding of {side} sentence {int(np.argmin(np.isfinite(norms)))} is not finite, or too "
                        "large",
                        remedy="Encode the sentences again.",
                    )

    def part(self, source: slice, target: slice) -> TextPair:
        """Some sentences of either side, with their translations and vectors."""
        return TextPair(
            self.source[source],
            self.target[target],
            [translation[source] for translation in self.source_translations],
            [translation[target] for translation in self.target_translations],
            (self.embeddings[0][source], self.embeddings[1][target]) if self.embeddings else None,
        )
