"""Prior probabilities of beads by their numbers of sentences: a table, and what a text's own beads may add to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paraloom.alignment.search import LogPriors
from paraloom.alignment.search_kernels import IMPOSSIBLE
from paraloom.core.array_types import Ints
from paraloom.core.config import check_range

# Gale and Church's table (1993, Table 5) has fewer unaligned sentences, as is true of parliamentary debates.
_TABLE = {(1, 1): 0.8, (1, 0): 0.04, (0, 1): 0.04, (2, 1): 0.04, (1, 2): 0.04, (2, 2): 0.01}
# Of a kind that is not in the table and has as many sentences as the largest of those that are.
_RARE, _NAMED_SENTENCES = 0.003, 4


@dataclass(frozen=True, kw_only=True)
class PriorModel:
    """Prior probabilities of the kinds of beads, and how far a text's own beads, which can run away, change them."""

    # Factor of the prior for each sentence beyond four, of kinds that the table does not name.  With 1 a 5:5 bead is as
    # probable as 3:1, and cheaper than five beads 1:1.
    decay: float = 0.3
    table_beads: float = 100.0  # Weight of the table beside the observed beads, in beads
    max_ratio: float = 3.0  # A learned prior is at most this many times that of the table
    # Prior of a sentence without a counterpart after another one: captions, footnotes and passages that were left out
    # come in runs.
    gap_extension: float = 0.08

    def check(self) -> None:
        """Raise ConfigError for a field that is out of range."""
        check_range(self, "decay", "gap_extension", low=0, high=1)
        check_range(self, "table_beads", low=1)
        check_range(self, "max_ratio", low=1)

    def log_priors(self, sizes: Counter[tuple[int, int]], max_size: int) -> LogPriors:
        kinds = range(max_size + 1)
        table = np.array([[self._expected(a, b) for b in kinds] for a in kinds])
        table /= table.sum()
        counts = np.array([[sizes[a, b] for b in kinds] for a in kinds], np.float64)
        learned = (counts + self.table_beads * table) / (counts.sum() + self.table_beads)
        with np.errstate(divide="ignore"):
            priors = np.log(np.minimum(learned, self.max_ratio * table))
        extension = float(np.log(max(self.gap_extension, 1e-9)))
        return LogPriors(np.where(np.isfinite(priors), priors, IMPOSSIBLE), (extension, extension))

    def _expected(self, a: int, b: int) -> float:
        if (a, b) in _TABLE:
            return _TABLE[a, b]
        if not a or not b:
            return 0.0
        return _RARE * self.decay ** max(0, a + b - _NAMED_SENTENCES)


def count_kinds(alignments: Sequence[Ints]) -> Counter[tuple[int, int]]:
    """Beads by source and target sentences; of several unaligned sentences in a row only the first one counts."""
    counts: Counter[tuple[int, int]] = Counter()
    for beads in alignments:
        one_sided = (beads[:, 1] == 0) | (beads[:, 3] == 0)
        first = ~one_sided
        first[:1] = True
        first[1:] |= ~one_sided[:-1]
        counts.update((int(a), int(b)) for _, a, _, b in beads[first])
    return counts
