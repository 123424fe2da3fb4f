"""What documents are about: topics by latent Dirichlet allocation (Blei et al. 2003), over both languages in one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import MissingExtra
from paraloom.core.progress import progress
from paraloom.core.text import TokenLists

# Words in fewer documents, and the commonest, tell no topics apart.
_LEAST_DOCUMENTS, _COMMONEST = 3, 30
# Passes between two looks at the progress bar.
_STEP = 20


def topic_vectors(
    sides: Sequence[TokenLists], topics: int = 100, passes: int = 200, seed: int = 1
) -> list[npt.NDArray[np.float32]]:
    """float32 (n, topics) of each side's documents, the share of each topic; rows add up to 1.

    sides: documents in one language (the translations of those that are not).  The same seed gives the same vectors.
    Raises MissingExtra without tomotopy.
    """
    try:
        import tomotopy
    except ImportError:
        raise MissingExtra.for_verb("topics of documents", "topics") from None
    model = tomotopy.LDAModel(k=topics, min_df=_LEAST_DOCUMENTS, rm_top=_COMMONEST, seed=seed)
    used = []
    for side in sides:
        for place in range(len(side)):
            words = [str(word) for word in side[place].tolist()]
            used.append(model.add_doc(words) is not None if words else False)
    with progress("finding topics", passes, unit="passes") as advance:
        for _ in range(0, passes, _STEP):
            model.train(_STEP, workers=1)  # more workers would draw in another order
            advance(_STEP)
    found = iter(model.docs)
    vectors = np.full((len(used), topics), 1 / topics, np.float32)
    for row in np.flatnonzero(used):
        vectors[row] = next(found).get_topic_dist()
    return [vectors[: len(sides[0])], vectors[len(sides[0]) :]]
