"""The table of scores, and `score`, which adds their columns to pairs.  A new scorer is one entry in its table."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from paraloom.core.errors import ConfigError, nearest
from paraloom.core.schema import add_column
from paraloom.pairs.scoring.models import MODEL_COLUMNS
from paraloom.pairs.scoring.scorer import Column, Scorer
from paraloom.pairs.scoring.statistics import PairStatistics
from paraloom.pairs.scoring.surface import SURFACE, SURFACE_GROUPS

SCORES: dict[str, Scorer] = {scorer.name: scorer for scorer in SURFACE}
"""Every scorer that needs no model, by name, in the order in which columns are added."""

GROUPS: dict[str, tuple[str, ...]] = SURFACE_GROUPS
"""Short names for scorers that go together."""

COLUMNS: dict[str, Column] = {**SCORES, **{column.name: column for column in MODEL_COLUMNS}}
"""How to read every column of scores, those that a model makes among them."""


def scorers(names: Sequence[str | Scorer]) -> list[Scorer]:
    """The scorers of `names` (names, groups, or scorers), each once, in the order given.

    Raises ConfigError for an unknown name.

    >>> [scorer.name for scorer in scorers(["bleu1", "overlap", "bigram_overlap"])]
    ['bleu1', 'unigram_overlap', 'bigram_overlap', 'trigram_overlap']
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
        if all(column in batch.schema.names for column in scorer.input_columns):
            values = pa.array(scorer.function(pairs), from_pandas=True)
        else:
            values = pa.nulls(batch.num_rows, pa.float32())
        batch = add_column(batch, scorer.name, values, scorer.signature)
    return batch
