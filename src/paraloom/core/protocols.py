"""Protocols: what packages may expect of a translator, an encoder, a parser or a corpus that another one made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa


class Variant(NamedTuple):
    """One translation of one sentence.

    Args:
        text: Detokenized text.
        logprob: Natural log of p(text | source), summed over its tokens; 0 or less; NaN where it is unknown.
        tokens: Number of subwords that were scored, the end of the sentence included; 1 or more. The translation cost
            of W17 §5.4 is `-logprob / tokens`, in nats per token, lower is better.
        cut: Whether the decoder stopped the translation before its end, as it does with one that repeats itself.
        utility: Utility of a translation that was chosen by one, 0 to 100, or the sum of several standard scores; else
            None.
        reason: Why the translator rejected the translation; None where it did not.
        pieces: Number of parts that the source was translated in, because it is longer than the model takes; else 1.

    Example:
        >>> variant = Variant("Good morning", -2.0, 4)
        >>> variant.text, -variant.logprob / variant.tokens
        ('Good morning', 0.5)
    """

    text: str
    logprob: float
    tokens: int
    cut: bool = False
    utility: float | None = None
    reason: str | None = None
    pieces: int = 1


@runtime_checkable
class TranslatorLike(Protocol):
    """Translates sentences. The decoding (beam search, sampling …) is part of the object.

    Example:
        >>> class Uppercase:
        ...     signature = "uppercase"
        ...     def translate(self, sentences, *, seed=0):
        ...         return [[Variant(text.upper(), -1.0, 2)] for text in sentences]
        >>> isinstance(Uppercase(), TranslatorLike)
        True
    """

    @property
    def signature(self) -> str:
        """Digest of the model, and the decoding: for the metadata of the columns that it produces."""

    def translate(self, sentences: Sequence[str], *, seed: int = 0) -> list[list[Variant]]:
        """Translate each sentence.

        Args:
            sentences: n sentences.
            seed: Seed of a decoding that samples; equal seeds give equal results.

        Returns:
            n lists of variants in the order of the sentences, each list best first.
        """


@runtime_checkable
class ScoringTranslatorLike(TranslatorLike, Protocol):
    """A translator that can tell how likely a given translation is."""

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[tuple[float, int]]:
        """Natural log of p(target | source) of each of n pairs, summed over its tokens, and the number of tokens."""


@runtime_checkable
class PrefixScorerLike(Protocol):
    """A translator that can tell how likely a translation is to begin with given text."""

    def score_prefixes(self, sources: Sequence[str], prefixes: Sequence[str]) -> list[float]:
        """n natural logs of probabilities of prefixes, summed over tokens; NaN where a side is too long."""


@runtime_checkable
class PrefixTranslatorLike(TranslatorLike, Protocol):
    """A translator whose decoder can be made to begin with given text."""

    def translate(
        self, sentences: Sequence[str], *, decode: Any = None, seed: int = 0, prefixes: Sequence[str] | None = None
    ) -> list[list[Variant]]:
        """n lists of variants, best first; `prefixes` begin the translations, and variants have what follows them."""

    def split(self, sentences: Sequence[str], *, reserve: int = 0) -> list[list[str]]:
        """For each of n texts the parts that it is translated in; `reserve` subwords are for something else."""


START = "start"
"""Folder, within that of a trained encoder, of the encoder as it was before the first step: the row "untrained"."""


@runtime_checkable
class EncoderLike(Protocol):
    """Turns sentences into vectors.

    Example:
        >>> class Lengths:
        ...     signature, dimension = "lengths", 1
        ...     def encode(self, sentences):
        ...         return np.array([[len(text)] for text in sentences], np.float32)
        >>> isinstance(Lengths(), EncoderLike)
        True
    """

    @property
    def signature(self) -> str:
        """Digest of the model: for the metadata of columns and for results."""

    @property
    def dimension(self) -> int:
        """Dimension d of the vectors."""

    def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode each sentence.

        Args:
            sentences: n sentences.

        Returns:
            float32 `(n, d)`, one row per sentence; a sentence of unknown tokens only has a defined vector too.
        """


@runtime_checkable
class ParserLike(Protocol):
    """Parses sentences to bracketed constituency trees.

    Example:
        >>> class Flat:
        ...     signature = "flat"
        ...     def parse(self, sentences):
        ...         return [f"(S {' '.join(f'(X {word})' for word in text.split())})" for text in sentences]
        >>> isinstance(Flat(), ParserLike), Flat().parse(["He left."])
        (True, ['(S (X He) (X left.))'])
    """

    @property
    def signature(self) -> str:
        """Parser and model: for the metadata of the columns that it produces."""

    def parse(self, sentences: Sequence[str]) -> list[str | None]:
        """Parse each sentence.

        Args:
            sentences: n sentences.

        Returns:
            One bracketed tree per sentence, None where parsing failed.
        """


class ParaphraseLike(Protocol):
    """One paraphrase: a translation's variant, or one that was to have a template."""

    @property
    def text(self) -> str:
        """The paraphrase."""

    @property
    def logprob(self) -> float:
        """Natural log of its probability, summed over its tokens; NaN where it is unknown."""

    @property
    def tokens(self) -> int:
        """Number of subwords that were scored; 0 for an empty paraphrase."""


@runtime_checkable
class ParaphraserLike(Protocol):
    """Paraphrases texts: a trained model, a round trip over another language, a language model behind an endpoint.

    An attribute `language`, if it is there, names the language that it paraphrases.

    Example:
        >>> class Swap:
        ...     signature = "swap"
        ...     def paraphrase(self, texts, *, n=5, seed=0):
        ...         return [[Variant(text.replace("film", "movie"), -1.0, 4)] for text in texts]
        >>> isinstance(Swap(), ParaphraserLike)
        True
    """

    @property
    def signature(self) -> str:
        """Digest of the models, and how they decode: for the metadata of columns."""

    def paraphrase(self, texts: Sequence[str], *, n: int = 5, seed: int = 0) -> Sequence[Sequence[ParaphraseLike]]:
        """m lists of at most n variants, best first, in the order of the texts; `seed` is for decodings that sample."""


class CorpusReader(Protocol):
    """The reading side of a corpus (`paraloom.io.Corpus`), as surveys of a stage need it."""

    @property
    def folder(self) -> Path:
        """The folder of the corpus."""

    @property
    def kind(self) -> str:
        """Name of the schema that its columns include: PAIRS, SENTENCES …"""

    @property
    def schema(self) -> pa.Schema:
        """All its columns."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def shards(self) -> Sequence[Path]:
        """Its files, in order."""

    @property
    def shard_rows(self) -> Sequence[int]:
        """Number of rows of each file."""

    def batches(
        self, columns: Sequence[str] | None = None, batch_rows: int = 1024, *, label: str = ""
    ) -> Iterator[pa.RecordBatch]:
        """Read all rows in order, in batches of at most `batch_rows`; `label` shows progress under it, unless empty."""
