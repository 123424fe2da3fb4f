"""Look-up among ascending ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from paraloom.core.array_types import Bools, Ids


def find_ids(known: Ids, ids: Ids) -> tuple[Bools, npt.NDArray[np.intp]]:
    """Whether each id is among known ones, which ascend, and its position if it is."""
    if not len(known):
        return np.zeros(len(ids), np.bool_), np.zeros(len(ids), np.intp)
    positions = np.minimum(np.searchsorted(known, ids), len(known) - 1)
    return known[positions] == ids, positions
