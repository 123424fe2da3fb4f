"""The table of scorers, and `score`, which adds their columns to pairs.  A new scorer is one entry here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.errors import ConfigError, nearest
from paraloom.core.schema import add_column
from paraloom.core.signature import signature
from paraloom.pairs.overlap import BLEU_ORDER, bleu_from_counts, overlap_from_counts
from paraloom.pairs.statistics import PairStatistics

Direction = Literal["lower", "higher", "none"]
Values = npt.NDArray[np.int32] | npt.NDArray[np.float32]


@dataclass(frozen=True)
class Scorer:
    """One column about pairs: what it is called, how it is made, and how to read it.

    name: of the scorer and of the column it adds.  what: one line for people.  function: from the statistics of a
    batch of n pairs to an array (n,), NaN where the score is undefined (it becomes null in the column).
    reads: columns that the function needs; where one of them is missing the whole column is null.
    better: which values speak for a pair; 'none' where neither end does (overlap: too little and too much are bad).
    low, high: bounds of the values, None where there is none.  made: parts of the signature.
    A scorer that needs a model is a Scorer too, made by a function that receives the model; `score` takes it as it is.
    """

    name: str
    what: str
    function: Callable[[PairStatistics], Values]
    reads: tuple[str, ...] = ("src", "tgt")
    better: Direction = "none"
    low: float | None = 0
    high: float | None = None
    unit: str = ""
    made: tuple[tuple[str, object], ...] = ()

    @property
    def signature(self) -> str:
        """What the column's metadata says: sacreBLEU's way."""
        return signature(self.name, **dict(self.made))


_WORDS = (("case", "lower"), ("tok", "words"))


def _overlap(n: int) -> Callable[[PairStatistics], Values]:
    return lambda pairs: overlap_from_counts(pairs.shared(n), pairs.tgt.lengths, pairs.src.lengths, n)


def _bleu1(pairs: PairStatistics) -> Values:
    shared = [pairs.shared(n) for n in range(1, BLEU_ORDER + 1)]
    return bleu_from_counts(shared, pairs.tgt.lengths, pairs.src.lengths)


def _length_ratio(pairs: PairStatistics) -> Values:
    shorter = np.minimum(pairs.src.lengths, pairs.tgt.lengths)
    longer = np.maximum(pairs.src.lengths, pairs.tgt.lengths)
    return (longer / np.where(shorter > 0, shorter, np.nan)).astype(np.float32)


def _translation_cost(pairs: PairStatistics) -> Values:
    tokens = pairs.numbers("tokens")
    return (-pairs.numbers("logprob") / np.where(tokens > 0, tokens, np.nan)).astype(np.float32)


SCORES: dict[str, Scorer] = {
    scorer.name: scorer
    for scorer in (
        Scorer(
            "src_tokens",
            "words of the first side (W17 §5.3)",
            lambda pairs: pairs.src.lengths.astype(np.int32),
            reads=("src",),
            unit="words",
            made=_WORDS,
        ),
        Scorer(
            "tgt_tokens",
            "words of the second side, the translation (W17 §5.3)",
            lambda pairs: pairs.tgt.lengths.astype(np.int32),
            reads=("tgt",),
            unit="words",
            made=_WORDS,
        ),
        Scorer(
            "length_ratio",
            "words of the longer side for each word of the shorter, as OpusFilter counts it",
            _length_ratio,
            better="lower",
            low=1,
            unit="ratio",
            made=_WORDS,
        ),
        Scorer(
            "translation_cost",
            "what the translator paid for the translation: -log p / sub-words (W17 §5.4)",
            _translation_cost,
            reads=("logprob", "tokens"),
            better="lower",
            unit="nats a sub-word",
        ),
        *(
            Scorer(
                f"{name}_overlap",
                f"shared {name}s over those of the side with fewer (W17 §5.7)",
                _overlap(n),
                high=1,
                unit="share",
                made=(*_WORDS, ("counts", "multiset")),
            )
            for n, name in enumerate(("unigram", "bigram", "trigram"), start=1)
        ),
        Scorer(
            "bleu1",
            "BLEU+1 of the second side against the first, every order and the brevity penalty smoothed "
            "(Nakov et al. 2012; W17 §5.7)",
            _bleu1,
            high=1,
            unit="BLEU, 0 to 1",
            made=(*_WORDS, ("smooth", "add-1"), ("bp", "add-1")),
        ),
    )
}
"""Every scorer that needs no model, by name, in the order in which columns are added."""

GROUPS: dict[str, tuple[str, ...]] = {
    "length": ("src_tokens", "tgt_tokens"),
    "ratio": ("length_ratio",),
    "cost": ("translation_cost",),
    "overlap": ("unigram_overlap", "bigram_overlap", "trigram_overlap"),
    "all": tuple(SCORES),
}
"""Short names for scorers that go together."""


def scorers(names: Sequence[str | Scorer]) -> list[Scorer]:
    """The scorers of `names` (names, groups, or scorers), each once, in the order given.

    Raises ConfigError for an unknown name.

    >>> [scorer.name for scorer in scorers(["ratio", "overlap", "bigram_overlap"])]
    ['length_ratio', 'unigram_overlap', 'bigram_overlap', 'trigram_overlap']
    """
    chosen: dict[str, Scorer] = {}
    for name in names:
        if isinstance(name, Scorer):
            chosen[name.name] = name
            continue
        if name not in SCORES and name not in GROUPS:
            raise ConfigError(
                f"there is no score '{name}'{nearest(name, [*SCORES, *GROUPS])}",
                remedy=f"Scores: {', '.join(SCORES)}. Groups: {', '.join(GROUPS)}.",
            )
        for member in GROUPS.get(name, (name,)):
            chosen.setdefault(member, SCORES[member])
    return list(chosen.values())


def score(batch: pa.RecordBatch, names: Sequence[str | Scorer]) -> pa.RecordBatch:
    """`batch` (PAIRS) with one more column for each scorer; never a row less.

    names: of scorers or groups, or scorers.  A score that is undefined for a pair (an empty side) is null.  Raises
    ConfigError for an unknown name, DataError when such a column is there already and was made in another way.

    >>> batch = pa.RecordBatch.from_pydict({"src": ["a small dog"], "tgt": ["a little dog"]})
    >>> score(batch, ["length", "unigram_overlap"]).select(["tgt_tokens", "unigram_overlap"]).to_pylist()
    [{'tgt_tokens': 3, 'unigram_overlap': 0.6666666865348816}]
    """
    pairs = PairStatistics(batch)
    for scorer in scorers(names):
        if all(column in batch.schema.names for column in scorer.reads):
            values = pa.array(scorer.function(pairs), from_pandas=True)
        else:
            values = pa.nulls(batch.num_rows, pa.float32())
        batch = add_column(batch, scorer.name, values, scorer.signature)
    return batch
