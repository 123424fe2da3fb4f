"""Published results on similarity tasks, by paper and table, for comparison with ours."""

from __future__ import annotations

from statistics import fmean
from typing import NamedTuple


class PublishedResult(NamedTuple):
    """One system in a table of a paper; its STS 2013 has a fourth subset, SMT, which is not among our files."""

    source: str
    system: str
    figures: dict[str, float]

    def figure(self, group: str) -> float | None:
        """The figure of a group; that of YEARS_MEAN is the mean over the years 2012 to 2015."""
        if group == YEARS_MEAN and all(year in self.figures for year in _YEARS[:4]):
            return fmean(self.figures[year] for year in _YEARS[:4])
        return self.figures.get(group)


W17_MEAN = "W17 tasks"  # The group of the mean over all tasks of W17
YEARS_MEAN = "2012-2015"  # The group of the mean over the means of the four years

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


class PublishedMTEB(NamedTuple):
    """A model's results by MTEB's protocol: all pairs of a task together."""

    system: str
    figures: dict[str, tuple[float, float]]


_MTEB = ("STS12", "STS13", "STS14", "STS15", "STS16", "STSBenchmark", "STS17", "SICK-R", "BIOSSES")


def _mteb(system: str, *figures: str) -> PublishedMTEB:
    pairs = {task: figure.split("/") for task, figure in zip(_MTEB, figures, strict=True) if figure}
    return PublishedMTEB(system, {task: (float(rho), float(r)) for task, (rho, r) in pairs.items()})


PUBLISHED_MTEB: tuple[PublishedMTEB, ...] = (
    _mteb(
        "static-similarity-mrl-multilingual-v1 (108M vectors of 1,024, 50 languages)",
        *("71.6/78.6", "74.3/73.3", "72.8/75.6", "82.5/82.2", "78.4/77.9", "79.9/80.9", "86.9/86.7", "68.3/78.0"),
        "75.6/75.9",
    ),
    _mteb(
        "potion-base-32M (teacher bge-base)",
        *("62.7/72.4", "77.6/76.7", "72.9/76.9", "80.8/80.3", "", "76.8/78.7", "87.1/85.4", "65.7/76.3", "77.6/80.0"),
    ),
    _mteb(
        "potion-base-8M (teacher bge-base)",
        *("62.2/72.1", "77.3/76.5", "71.9/76.2", "79.8/79.2", "76.3/75.6", "75.4/77.3", "86.0/84.7", "64.7/75.7"),
        "75.9/79.1",
    ),
    _mteb(
        "potion-retrieval-32M",
        *("61.4/69.6", "73.6/72.9", "70.5/74.9", "81.1/80.8", "", "74.1/76.0", "86.1/85.6", "66.5/76.1", "78.8/81.1"),
    ),
    _mteb(
        "potion-multilingual-128M (teacher bge-m3)",
        *("64.3/73.5", "74.2/73.4", "69.7/73.5", "79.3/78.6", "74.2/73.3", "71.8/73.7", "79.7/79.7", "60.9/72.9"),
        "70.9/72.4",
    ),
    _mteb(
        "static-retrieval-mrl-en-v1",
        *("60.4/67.3", "72.6/72.0", "69.6/73.9", "80.1/79.8", "72.8/72.5", "74.0/75.9", "84.7/84.3", "64.7/73.9"),
        "77.5/81.1",
    ),
    _mteb(
        "M2V_base_glove",
        *("64.6/75.3", "78.0/76.7", "70.1/72.6", "78.8/77.3", "70.1/67.6", "68.9/70.4", "82.8/80.3", "64.7/75.4"),
        "65.9/63.8",
    ),
    _mteb(
        "M2V_base_output (not trained)",
        *("60.0/66.2", "71.8/70.9", "67.0/69.0", "75.5/74.5", "67.0/64.2", "67.2/67.6", "80.6/79.0", "65.4/73.9"),
        "73.4/73.3",
    ),
    _mteb(
        "all-MiniLM-L6-v2 (a transformer)",
        *("72.4/81.4", "80.6/80.2", "75.6/80.8", "85.4/84.7", "79.0/77.9", "82.0/82.7", "87.6/88.0", "77.6/83.9"),
        "81.6/84.4",
    ),
    _mteb(
        "multilingual-e5-small (a transformer)",
        *("78.1/85.4", "77.5/76.4", "77.5/78.8", "87.5/86.4", "83.5/82.2", "83.6/80.9", "87.2/86.8", "78.6/83.5"),
        "84.4/85.7",
    ),
)
"""Static models, and two transformers, from the results that MTEB publishes (embeddings-benchmark/results at f4cc6c8:
`cosine_spearman` and `cosine_pearson` of the test splits; STS17 is its English part). Compare them with
`STSResult.mteb`, of the same pairs: 2013 is without SMT in both."""
