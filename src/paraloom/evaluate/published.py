"""Published results on similarity tasks, by paper and table, for comparison with ours."""

from __future__ import annotations

from typing import NamedTuple


class PublishedResult(NamedTuple):
    """One system in a table of a paper.

    The papers' STS 2013 has a fourth subset, SMT, which has an LDC license and is not among our files.

    Args:
        source: Paper and table.
        system: The system.
        figures: By group, Pearson's r × 100, the mean over the group's subsets (for W17: over all 22 tasks).
    """

    source: str
    system: str
    figures: dict[str, float]


W17_MEAN = "W17 tasks"
"""The group of the mean over all tasks of W17."""

_YEARS = ("2012", "2013", "2014", "2015", "2016")


def _pnmt(system: str, *figures: float) -> PublishedResult:
    return PublishedResult("PNMT Table 8", system, dict(zip(_YEARS, figures, strict=True)))


def _w17(table: int, system: str, figure: float) -> PublishedResult:
    return PublishedResult(f"W17 Table {table}", system, {W17_MEAN: figure})


PUBLISHED: tuple[PublishedResult, ...] = (
    _pnmt("WORD, 300", 66.2, 61.8, 76.2, 79.3, 77.5),
    _pnmt("TRIGRAM, 300", 67.2, 60.3, 76.1, 79.7, 78.3),
    _pnmt("LSTM, 300", 67.0, 62.3, 76.3, 78.5, 76.0),
    _pnmt("LSTM, 900", 68.0, 60.4, 76.3, 78.8, 75.9),
    _pnmt("BLSTM, 900", 67.4, 60.2, 76.1, 79.5, 76.5),
    _pnmt("WORD+TRIGRAM, 300", 67.3, 62.8, 77.5, 80.1, 78.2),
    _pnmt("WORD+TRIGRAM+LSTM, 300", 67.1, 62.8, 76.8, 79.2, 77.0),
    _pnmt("WORD,TRIGRAM, 600", 67.8, 62.7, 77.4, 80.3, 78.1),
    _pnmt("WORD,TRIGRAM,LSTM, 900", 67.7, 62.8, 76.9, 79.8, 76.8),
    _pnmt("WORD,TRIGRAM, 600, Simple Wikipedia", 61.8, 58.4, 74.4, 77.0, 74.0),
    _pnmt("best system of the competition", 64.8, 62.0, 74.3, 79.0, 77.7),
    _pnmt("InferSent (AllSNLI), 4096", 58.6, 51.5, 67.8, 68.3, 67.2),
    _pnmt("BLEU", 39.2, 29.5, 42.8, 49.8, 47.4),
    _pnmt("METEOR", 53.4, 47.6, 63.7, 68.8, 61.8),
    PublishedResult("PNMT Table 9", "WORD, 300", {"STS-B test": 79.2}),
    PublishedResult("PNMT Table 9", "TRIGRAM, 300", {"STS-B test": 79.1}),
    PublishedResult("PNMT Table 9", "WORD,TRIGRAM, 600", {"STS-B test": 79.9}),
    _w17(4, "GRAN, Simple Wikipedia, 24k pairs", 67.2),
    _w17(4, "AVG, Simple Wikipedia, 24k pairs", 65.8),
    _w17(4, "GRAN, PPDB, 24k pairs", 64.5),
    _w17(4, "AVG, PPDB, 24k pairs", 65.8),
    _w17(4, "GRAN, German news back-translated, 24k pairs", 66.5),
    _w17(4, "AVG, German news back-translated, 24k pairs", 64.7),
    _w17(4, "AVG, German Common Crawl back-translated, 24k pairs", 66.2),
    _w17(13, "GRAN, Czech Common Crawl back-translated, 100k pairs", 68.5),
    _w17(13, "AVG, German Common Crawl back-translated, 168k pairs", 67.6),
)
"""Semantic textual similarity."""

PUBLISHED_PHRASES: dict[str, tuple[float, float, float]] = {
    "SUM": (65.46, 39.58, 19.79),
    "FCT(LM)": (67.22, 42.59, 27.55),
    "GRU(PPDB)": (71.29, 41.44, 26.37),
    "Tree-RNN, task-specific": (71.50, 40.95, 27.20),
    "FCT, task-specific": (68.84, 41.90, 33.80),
    "GRU, task-specific": (73.44, 48.88, 39.23),
}
"""Phrase similarity: accuracies on SemEval2013, Turney2012(5) and Turney2012(10) (PGRU Table 1)."""
