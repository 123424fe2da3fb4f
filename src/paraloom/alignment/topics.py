"""Topics of documents by latent Dirichlet allocation, over the documents of both languages together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paraloom.alignment.lexicon import concatenate
from paraloom.core.array_types import Float32s
from paraloom.core.errors import MissingExtraError
from paraloom.core.progress import progress
from paraloom.text.tokens import TokenLists

# Words in fewer documents, and this many of the commonest, distinguish no topics.
_MIN_DOCUMENTS, _REMOVE_TOP = 3, 30
# Passes between two updates of the progress bar.
_STEP = 20


def topic_vectors(sides: Sequence[TokenLists], topics: int = 100, passes: int = 200, seed: int = 1) -> list[Float32s]:
    """Infer the topic distribution of each document (Blei, Ng, Jordan 2003, Latent Dirichlet Allocation)."""
    try:
        import tomotopy
    except ImportError:
        raise MissingExtraError.for_verb("topics of documents", "topics") from None
    vectors = np.full((sum(len(side) for side in sides), topics), 1 / topics, np.float32)
    if not _has_vocabulary(sides):
        return _split(vectors, sides)
    model = tomotopy.LDAModel(k=topics, min_df=_MIN_DOCUMENTS, rm_top=_REMOVE_TOP, seed=seed)
    used = []
    for side in sides:
        for index in range(len(side)):
            words = [str(word) for word in side[index].tolist()]
            used.append(model.add_doc(words) is not None if words else False)
    with progress("finding topics", passes, unit="passes") as advance:
        for done in range(0, passes, _STEP):
            step = min(_STEP, passes - done)
            model.train(step, workers=1)  # more workers would sample in another order
            advance(step)
    documents = iter(model.docs)
    for row in np.flatnonzero(used):
        vectors[row] = next(documents).get_topic_dist()
    return _split(vectors, sides)


def _has_vocabulary(sides: Sequence[TokenLists]) -> bool:
    """True if tomotopy keeps any word; it crashes without one."""
    lists = concatenate(sides)
    owners = np.repeat(np.arange(len(lists), dtype=np.uint64), lists.lengths)
    _, documents = np.unique(np.unique(np.stack([lists.ids, owners], axis=1), axis=0)[:, 0], return_counts=True)
    return bool((documents >= _MIN_DOCUMENTS).sum() > _REMOVE_TOP)


def _split(vectors: Float32s, sides: Sequence[TokenLists]) -> list[Float32s]:
    return np.split(vectors, np.cumsum([len(side) for side in sides])[:-1])
