"""The papers' tables, as published, in the form in which ours are printed next to them."""

from __future__ import annotations

from typing import NamedTuple


class PaperTable(NamedTuple):
    """A table of a paper."""

    title: str
    unit: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float | None, ...]], ...]
    decimals: int | None = None


_PEARSON = "Pearson × 100, mean of W17's 22 tasks (ours: of the 21 that are freely available)"
_SINGLE = ("WORD", "TRIGRAM", "LSTM")
_ON_2017 = "Pearson × 100 on STS 2017 (ours: mean of STS 2012 to 2015, means over subsets)"

PAPERS: dict[str, PaperTable] = {
    "w17-5": PaperTable(
        "W17 Table 5: ranges of the translation's length",
        _PEARSON,
        ("0-10", "10-20", "20-30", "30-100"),
        (
            ("AVG", (65.7, 65.6, 65.3, 65.0)),
            ("GRAN", (66.6, 66.5, 66.0, 64.8)),
            ("AVG, Simple Wikipedia", (65.9, 65.7, 65.6, 65.9)),
            ("GRAN, Simple Wikipedia", (67.4, 67.7, 67.1, 67.3)),
        ),
    ),
    "w17-6": PaperTable(
        "W17 Table 6: the tuned range of length against random pairs",
        _PEARSON,
        ("random", "tuned length"),
        (
            ("AVG", (65.5, 66.0)),
            ("GRAN", (66.9, 67.3)),
            ("AVG, Simple Wikipedia", (65.8, 66.2)),
            ("GRAN, Simple Wikipedia", (67.2, 67.4)),
        ),
    ),
    "w17-7": PaperTable(
        "W17 Table 7: tuned filters for quality against random pairs",
        _PEARSON,
        ("random", "translation cost", "language model", "classifier"),
        (("AVG", (65.5, 65.4, 65.5, 65.5)), ("GRAN", (66.9, 66.6, 66.7, 67.0))),
    ),
    "w17-8": PaperTable(
        "W17 Table 8: classification into references and translations",
        "accuracy × 100",
        ("accuracy", "of references", "of translations"),
        (
            ("LSTM, Czech Common Crawl", (72.2, 72.2, 72.3)),
            ("LSTM, Czech Europarl", (72.3, 64.3, 80.3)),
            ("LSTM, Czech News", (79.7, 73.2, 86.3)),
            ("LSTM, French Common Crawl", (80.7, 82.1, 79.3)),
            ("LSTM, French Europarl", (79.3, 75.2, 83.4)),
            ("LSTM, French Giga", (93.1, 92.3, 93.8)),
            ("LSTM, French News", (84.2, 81.2, 87.3)),
            ("LSTM, German Common Crawl", (79.3, 71.7, 86.9)),
            ("LSTM, German Europarl", (85.1, 78.0, 92.2)),
            ("LSTM, German News", (89.8, 82.3, 97.4)),
            ("AVG, Czech Common Crawl", (71.2, 68.9, 73.5)),
            ("AVG, Czech Europarl", (69.1, 63.0, 75.1)),
            ("AVG, Czech News", (77.6, 71.7, 83.6)),
            ("AVG, French Common Crawl", (78.8, 80.4, 77.2)),
            ("AVG, French Europarl", (78.9, 75.5, 82.3)),
            ("AVG, French Giga", (92.5, 91.5, 93.4)),
            ("AVG, French News", (82.8, 81.1, 84.5)),
            ("AVG, German Common Crawl", (77.3, 70.4, 84.1)),
            ("AVG, German Europarl", (82.7, 73.4, 91.9)),
            ("AVG, German News", (87.6, 80.0, 95.3)),
        ),
    ),
    "w17-9": PaperTable(
        "W17 Table 9: entropy and repetition, references minus translations",
        "entropies in nats, repetition in percent of the words",
        ("unigram entropy", "trigram entropy", "unigram repetition", "trigram repetition"),
        (
            ("Czech Common Crawl", (0.50, 1.13, -7.57, -5.58)),
            ("Czech Europarl", (0.14, 0.31, -0.88, -0.11)),
            ("Czech News", (0.16, 0.31, -0.96, -0.16)),
            ("French Common Crawl", (0.97, 1.40, -8.50, -7.53)),
            ("French Europarl", (0.51, 0.69, -1.85, -0.58)),
            ("French Giga", (0.97, 1.21, -5.30, -7.74)),
            ("French News", (0.67, 0.75, -2.98, -0.85)),
            ("German Common Crawl", (0.29, 0.57, -1.09, -0.73)),
            ("German Europarl", (0.32, 0.53, -0.14, -0.11)),
            ("German News", (0.40, 0.37, -1.02, -0.24)),
            ("all ten corpora", (0.46, 0.74, -2.80, -2.26)),
        ),
    ),
    "w17-10": PaperTable(
        "W17 Table 10: rank correlations of the p(reference) of translations",
        "Spearman × 100",
        ("unigram repetition", "trigram repetition", "mean IDF", "length"),
        (("all ten corpora", (-35.1, -18.4, 27.8, -34.0)),),
    ),
    "w17-12": PaperTable(
        "W17 Table 12: tuned filters for diversity against random pairs",
        _PEARSON,
        ("random", "unigram overlap", "bigram overlap", "trigram overlap", "BLEU"),
        (
            ("AVG", (65.5, 66.1, 65.5, 65.4, 65.3)),
            ("GRAN", (66.9, 66.6, 67.0, 66.9, 67.1)),
            ("AVG, Simple Wikipedia", (65.8, 67.4, 67.2, 66.6, 66.5)),
            ("GRAN, Simple Wikipedia", (67.2, 67.8, 68.0, 67.8, 67.5)),
        ),
    ),
    "w17-13": PaperTable(
        "W17 Table 13: more pairs",
        _PEARSON,
        ("GRAN", "AVG"),
        (
            ("PPDB", (64.6, 66.3)),
            ("Simple Wikipedia, 100,000 and 168,000 pairs", (67.4, 67.7)),
            ("back-translated, 24,000 pairs", (66.8, 66.6)),
            ("back-translated, scaled", (68.5, 67.6)),
        ),
    ),
    "pnmt-1": PaperTable(
        "PNMT Table 1: statistics of the sources",
        "words, mean IDF, cosine, nats",
        ("length", "mean IDF", "paraphrase score", "unigram entropy", "parse entropy"),
        (
            ("Common Crawl", (24.0, 7.7, 0.83, 7.2, 3.5)),
            ("CzEng 1.6", (13.3, 7.4, 0.84, 6.8, 4.1)),
            ("Europarl", (26.1, 7.1, 0.95, 6.4, 3.0)),
            ("News Commentary", (25.2, 7.5, 0.92, 7.0, 3.4)),
        ),
    ),
    "bbh22-2": PaperTable(
        "BBH22 Figure 2: final BLEU with each way of back-translating",
        "BLEU (the paper: mean gain over parallel text alone)",
        ("parallel text alone", "base", "base-big", "beam", "syntax", "nucleus", "sampling"),
        (("mean gain over parallel text", (0.0, 2.24, None, None, None, 2.88, None)),),
    ),
    "bbh22-4": PaperTable(
        "BBH22 Table 4: diversity of English back-translations",
        "i-BLEU, i-chrF and difference of trees",
        ("i-BLEU", "i-chrF", "tree kernel"),
        (
            ("beam", (22.75, 11.95, 65.72)),
            ("syntax", (77.17, 56.90, 99.40)),
            ("nucleus", (88.86, 67.16, 98.74)),
            ("sampling", (92.31, 72.20, 99.35)),
        ),
        2,
    ),
    "pnmt-3": PaperTable(
        "PNMT Table 3: pairs of each range of the paraphrase score, by two judges",
        "percent of 100 pairs from each range that two people rated so; pairs in millions (ours: in all)",
        ("equivalent (3)", "roughly (2)", "not (1)", "fluent (3)", "pairs", "trigram overlap"),
        (
            ("range -0.1 to 0.2", (2.0, 6.0, 92.0, 94.0, 4.0, 0.00)),
            ("range 0.2 to 0.4", (15.0, 32.0, 53.0, 87.0, 3.8, 0.02)),
            ("range 0.4 to 0.6", (33.0, 45.0, 22.0, 89.0, 6.9, 0.07)),
            ("range 0.6 to 0.8", (56.0, 43.0, 1.0, 89.0, 14.4, 0.17)),
            ("range 0.8 to 1", (86.0, 13.0, 1.0, 97.0, 18.0, 0.35)),
        ),
    ),
    "pnmt-5": PaperTable(
        "PNMT Table 5: the best tenth by each filter",
        "Pearson × 100 on STS 2017, mean of WORD, TRIGRAM and LSTM (ours: mean of STS 2012 to 2015)",
        ("translation cost", "trigram overlap", "paraphrase score"),
        (("best tenth", (83.2, 83.1, 83.3)),),
    ),
    "w17-4": PaperTable(
        "W17 Table 4: sources of pairs",
        _PEARSON,
        ("GRAN", "AVG"),
        (
            ("Simple Wikipedia", (67.2, 65.8)),
            ("PPDB", (64.5, 65.8)),
            ("Czech Common Crawl", (65.5, 65.4)),
            ("Czech Europarl", (66.5, 65.1)),
            ("Czech News", (67.2, 65.1)),
            ("French Common Crawl", (67.3, 66.1)),
            ("French Europarl", (67.8, 65.7)),
            ("French Giga", (67.4, 65.9)),
            ("French News", (67.0, 65.2)),
            ("German Common Crawl", (66.5, 66.2)),
            ("German Europarl", (67.2, 65.6)),
            ("German News", (66.5, 64.7)),
        ),
    ),
    "pnmt-4": PaperTable(
        "PNMT Table 4: sources of pairs",
        _ON_2017,
        _SINGLE,
        (
            ("Common Crawl", (80.9, 80.2, 79.1)),
            ("CzEng 1.6", (83.6, 81.5, 82.5)),
            ("Europarl", (78.9, 78.0, 80.4)),
            ("News Commentary", (80.2, 78.2, 80.5)),
        ),
    ),
    "pnmt-6": PaperTable(
        "PNMT Table 6: mega-batches",
        _ON_2017,
        _SINGLE,
        (("M = 1", (82.3, 81.5, 81.5)), ("M = 20", (84.0, 83.1, 84.6)), ("M = 40", (84.1, 83.4, 85.0))),
    ),
    "pnmt-8": PaperTable(
        "PNMT Table 8: architectures",
        "Pearson × 100, means over subsets (the papers' 2013 has a fourth one that is not freely available)",
        ("2012", "2013", "2014", "2015", "2016"),
        (
            ("WORD", (66.2, 61.8, 76.2, 79.3, 77.5)),
            ("TRIGRAM", (67.2, 60.3, 76.1, 79.7, 78.3)),
            ("LSTM", (67.0, 62.3, 76.3, 78.5, 76.0)),
            ("LSTM, 900", (68.0, 60.4, 76.3, 78.8, 75.9)),
            ("BLSTM, 900", (67.4, 60.2, 76.1, 79.5, 76.5)),
            ("WORD+TRIGRAM", (67.3, 62.8, 77.5, 80.1, 78.2)),
            ("WORD+TRIGRAM+LSTM", (67.1, 62.8, 76.8, 79.2, 77.0)),
            ("WORD,TRIGRAM", (67.8, 62.7, 77.4, 80.3, 78.1)),
            ("WORD,TRIGRAM,LSTM", (67.7, 62.8, 76.9, 79.8, 76.8)),
            ("WORD,TRIGRAM, Simple Wikipedia", (61.8, 58.4, 74.4, 77.0, 74.0)),
        ),
    ),
    "pnmt-9": PaperTable(
        "PNMT Table 9: the STS Benchmark",
        "Pearson × 100 on the test set",
        ("STS-B",),
        (
            ("WORD", (79.2,)),
            ("TRIGRAM", (79.1,)),
            ("LSTM", (78.4,)),
            ("WORD+TRIGRAM", (79.9,)),
            ("WORD+TRIGRAM+LSTM", (79.6,)),
            ("WORD,TRIGRAM", (79.9,)),
            ("WORD,TRIGRAM,LSTM", (79.2,)),
        ),
    ),
    "pnmt-10": PaperTable(
        "PNMT Table 10: differences between encoders",
        "absolute difference of Pearson × 100, mean over tasks",
        ("difference",),
        (("WORD / TRIGRAM", (2.75,)), ("WORD / LSTM", (2.17,)), ("TRIGRAM / LSTM", (2.89,))),
    ),
    "pnmt-scrambling": PaperTable(
        "PNMT §5.3: scrambling",
        "Pearson × 100, means over subsets",
        ("2012", "2013", "2014", "2015"),
        (("LSTM, scrambled in training", (67.0, 62.3, 76.3, 78.5)),),
    ),
    "pgru-figure-2": PaperTable(
        "PGRU Figure 2: contrasting phrases and data",
        "per cent of cases in which a phrase's paraphrase is chosen among 100 (the paper has a figure, and a number "
        "for the average alone)",
        ("1 %", "10 %", "100 %"),
        (("average of word vectors, not trained", (None, None, 88.0)),),
    ),
    "pgru-1": PaperTable(
        "PGRU Table 1: phrase similarity",
        "accuracy × 100",
        ("SemEval 2013", "Turney (5)", "Turney (10)"),
        (
            ("SUM, not trained", (65.46, 39.58, 19.79)),
            ("RAE", (51.75, 22.99, 14.81)),
            ("FCT(LM)", (67.22, 42.59, 27.55)),
            ("GRU(PPDB)", (71.29, 41.44, 26.37)),
            ("Tree-RNN, task-specific", (71.50, 40.95, 27.20)),
            ("FCT, task-specific", (68.84, 41.90, 33.80)),
            ("GRU, task-specific", (73.44, 48.88, 39.23)),
        ),
    ),
    "park17-2": PaperTable(
        "PARK17 Table 2: pairs of documents",
        "precision, recall and F1; the paper's on 3,249 news documents per side, each of which has a counterpart",
        ("precision", "recall", "F1"),
        (("first translator", (0.9701, 0.9408, 0.9552)), ("after self-training", (0.9987, 0.9981, 0.9984))),
        decimals=4,
    ),
    "park17-4": PaperTable(
        "PARK17 Table 4: beads of sentences",
        "precision, recall and F1 of exact beads",
        ("precision", "recall", "F1"),
        (
            ("lengths alone", (0.4943, 0.5385, 0.5154)),
            ("first translator", (0.5547, 0.5874, 0.5705)),
            ("after self-training", (0.5575, 0.5927, 0.5746)),
        ),
        decimals=4,
    ),
    "park17-5": PaperTable(
        "PARK17 Table 5: beads by kind",
        "F1",
        ("0:1", "1:0", "1:1", "1:2", "1:3", "2:1", "2:2", "2:3", "3:1", "3:2", "3:3"),
        (
            ("after self-training", (1.0, 1.0, 0.3552, 0.7350, 0.625, 0.4761, 0.8333, 0.5, 0.6667, 1.0, 1.0)),
            ("how many: 2, 36, 822, 117, 8, 42, 18, 2, 3, 2, 2", (None,) * 11),
        ),
        decimals=4,
    ),
    "park17-6": PaperTable(
        "PARK17 Table 6: translation",
        "BLEU of translators that were trained on the first bitext and the aligned pairs",
        ("JHE, without BC⁰", "JHE", "news"),
        (
            ("lengths alone", (4.10, 7.47, 9.17)),
            ("first translator", (4.39, 8.03, 9.35)),
            ("after self-training", (4.55, 8.33, 9.38)),
        ),
        decimals=2,
    ),
    "multinews-2": PaperTable(
        "MultiNews Table 2: aligned pages",
        "pages of Euronews; ours: precision, recall and F1 of pairs of help pages",
        ("source pages", "target pages", "pairs"),
        (
            ("English-Arabic", (40421.0, 36836.0, 35761.0)),
            ("English-German", (40421.0, 37293.0, 36114.0)),
            ("English-Spanish", (40421.0, 37218.0, 36178.0)),
            ("English-French", (40421.0, 37293.0, 36762.0)),
            ("English-Italian", (40421.0, 36970.0, 36003.0)),
            ("English-Portuguese", (40421.0, 36854.0, 35863.0)),
            ("English-Turkish", (40421.0, 37291.0, 35901.0)),
            ("English-Ukrainian", (40421.0, 37021.0, 35922.0)),
        ),
    ),
}
"""Name of a table → the published table."""


def published_figures(name: str) -> dict[str, tuple[float, ...]]:
    """The figures of a table by row; those that the paper does not have are left out."""
    return {row: tuple(figure for figure in figures if figure is not None) for row, figures in PAPERS[name].rows}
