"""What documents are about: topics by latent Dirichlet allocation (Blei et al. 2003), over both languages in one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from paraloom.align.lexicon import together
from paraloom.core.errors import MissingExtraError
from paraloom.core.progress import progress
from paraloom.text.tokens import TokenLists

# Words in fewer documents, and the commonest, tell no topics apart.
_LEAST_DOCUMENTS, _COMMONEST = 3, 30
# Passes between two looks at the progress bar.
_STEP = 20


def topic_vectors(
    sides: Sequence[TokenLists], topics: int = 100, passes: int = 200, seed: int = 1
) -> list[npt.NDArray[np.float32]]:
    """float32 (n, topics) of each side's documents, the share of each topic; rows add up to 1.

    sides: documents in one language (the translations of those that are not).  A document without words has all topics
    alike, as have all where no word tells topics apart.  The same seed gives the same vectors.  Raises MissingExtraError
    without tomotopy.
    """
    try:
        import tomotopy
    except ImportError:
        raise MissingExtraError.for_verb("topics of documents", "topics") from None
    vectors = np.full((sum(len(side) for side in sides), topics), 1 / topics, np.float32)
    if not _words_are_left(sides):
        return _parted(vectors, sides)
    model = tomotopy.LDAModel(k=topics, min_df=_LEAST_DOCUMENTS, rm_top=_COMMONEST, seed=seed)
    used = []
    for side in sides:
        for place in range(len(side)):
            words = [str(word) for word in side[place].tolist()]
            used.append(model.add_doc(words) is not None if words else False)
    with progress("finding topics", passes, unit="passes") as advance:
        for done in range(0, passes, _STEP):
            step = min(_STEP, passes - done)
            model.train(step, workers=1)  # more workers would draw in another order
            advance(step)
    found = iter(model.docs)
    for row in np.flatnonzero(used):
        vectors[row] = next(found).get_topic_dist()
    return _parted(vectors, sides)


def _words_are_left(sides: Sequence[TokenLists]) -> bool:
    """Whether there are more words in enough documents than are left out as the commonest; tomotopy dies of none."""
    lists = together(sides)
    owners = np.repeat(np.arange(len(lists), dtype=np.uint64), lists.lengths)
    _, seen = np.unique(np.unique(np.stack([lists.ids, owners], axis=1), axis=0)[:, 0], return_counts=True)
    return bool((seen >= _LEAST_DOCUMENTS).sum() > _COMMONEST)


def _parted(vectors: npt.NDArray[np.float32], sides: Sequence[TokenLists]) -> list[npt.NDArray[np.float32]]:
    return np.split(vectors, np.cumsum([len(side) for side in sides])[:-1])
