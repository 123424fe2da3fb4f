"""What a room may ask of a translator, an encoder or a parser without knowing which one it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt


class Variant(NamedTuple):
    """One translation of one sentence.

    text: detokenised.  logprob: natural log of p(text | source), the sum over its tokens (0 or less).
    tokens: how many sub-words were scored, the end of sentence included (1 or more), so that the translation cost of
    W17 §5.4 is `-logprob / tokens`, in nats a token, lower is better.
    cut: whether the decoder stopped it before its end, as it does one that goes round in a circle.
    """

    text: str
    logprob: float
    tokens: int
    cut: bool = False


@runtime_checkable
class Translator(Protocol):
    """Sentences in, their translations out, best first.  The decoding (beam, sampling …) is part of it."""

    @property
    def signature(self) -> str:
        """Model digest and decoding, for field metadata."""

    def translate(self, sentences: Sequence[str], *, seed: int = 0) -> list[list[Variant]]:
        """One list of variants a sentence, in order; the same seed gives the same lists."""


@runtime_checkable
class Encoder(Protocol):
    """Sentences in, one vector each out."""

    @property
    def signature(self) -> str:
        """Model digest, for field metadata and results."""

    @property
    def dimension(self) -> int:
        """Width d of the vectors."""

    def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.float32]:
        """float32 (n, d), one row a sentence; a sentence of unknown tokens alone gets a defined vector."""


@runtime_checkable
class Parser(Protocol):
    """Sentences in, one bracketed constituency tree each out."""

    @property
    def signature(self) -> str:
        """Parser and model, for field metadata."""

    def parse(self, sentences: Sequence[str]) -> list[str | None]:
        """One bracketed tree a sentence, None where parsing failed."""
