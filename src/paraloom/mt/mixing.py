"""Several bitexts as one, in shares: a smaller one repeated so that it counts as much as it is to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import ConfigError
from paraloom.core.seeds import generator

Batch: TypeAlias = tuple[Sequence[str], Sequence[str]]
"""Source sentences and target sentences, of equal count."""


def mixed_rows(rows: Sequence[int], weights: Sequence[float]) -> list[int]:
    """How many rows of each bitext make the mixture: as `weights` are to each other, and no row left out.

    rows: of each bitext.  weights: above 0, one a bitext; 2 and 1 give two rows of the first for one of the second.
    The bitext with most rows for its weight is read once, the others so often that the shares are right, to a row.
    Raises ConfigError where the counts differ, or a weight is not above 0.

    >>> mixed_rows([200, 900], [1, 1]), mixed_rows([200, 900], [1, 3]), mixed_rows([300, 100], [2, 1])
    ([900, 900], [300, 900], [300, 150])
    """
    if len(rows) != len(weights):
        raise ConfigError(f"there are {len(rows)} bitexts, but {len(weights)} weights", remedy="Give one a bitext.")
    if any(not 0 < weight < float("inf") for weight in weights):
        raise ConfigError(
            f"weights are above 0, not {list(weights)}", remedy="Leave out a bitext that is not to count."
        )
    scale = max(count / weight for count, weight in zip(rows, weights, strict=True))
    # A bitext never loses a row to rounding.
    return [max(count, round(scale * weight)) if count else 0 for count, weight in zip(rows, weights, strict=True)]


def repeated(read: Callable[[], Iterable[Batch]], rows: int, wanted: int, seed: int) -> Iterator[Batch]:
    """A bitext of `rows` rows over and over until `wanted` of them are read; streamed.

    Whole passes first; of the last, broken one just as many rows as are missing, drawn without replacement by `seed`,
    in the order in which they stand.  wanted: `rows` or more.
    """
    passes, rest = divmod(wanted, rows) if rows else (0, 0)
    for _ in range(passes):
        yield from read()
    if rest:
        yield from _drawn(read(), rows, rest, generator(seed))


def _drawn(batches: Iterable[Batch], rows: int, wanted: int, draw: np.random.Generator) -> Iterator[Batch]:
    """`wanted` of `rows` rows, each set of them as likely as any other."""
    left = rows
    for sources, targets in batches:
        # How many of these rows a fair draw has, then which: the same as drawing from the whole, without holding it.
        share = int(draw.hypergeometric(len(sources), left - len(sources), wanted)) if wanted else 0
        chosen: npt.NDArray[np.int64] = np.sort(draw.choice(len(sources), share, replace=False))
        left, wanted = left - len(sources), wanted - share
        yield [sources[row] for row in chosen], [targets[row] for row in chosen]
