"""PNMT Table 3: a sheet of pairs for people to rate, and what two automatic judges say of the same pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.stats import spearmanr

from paraloom.api.analysis import draw_sheet
from paraloom.core.protocols import EncoderLike
from paraloom.core.stats import Estimate, Moments
from paraloom.embed.encoder import open_encoder
from paraloom.evaluate.sts import paired_cosines
from paraloom.io.sheets import read_sheet
from paraloom.mt import Translator
from paraloom.pairs.annotation import KEY_COLUMNS, RANGES, SHEET_COLUMNS
from paraloom.papers.conditions import translations
from paraloom.papers.published import PAPERS, published_figures
from paraloom.papers.study import Study
from paraloom.papers.tables import INTERVAL, Figure, ReproducedTable, Row, reproduced
from paraloom.papers.verdicts import Order

Floats = npt.NDArray[np.float64]
Judge = Callable[[Sequence[str], Sequence[str]], Floats]
"""Scores paraphrases of references, given the references first; 0 to 100, higher is better."""

_COUNT = 200
"""Pairs of each range; the paper has 100, whose intervals are too wide for its second and third range here."""
_JUDGING_ENCODERS = ("multilingual", "english")
"""The first that is not the encoder of the paraphrase score judges."""
_ROUND_TRIP = (
    "The round trip is easier for what its translators wrote themselves: pairs of `de-en`, as ours, are rated higher "
    "than those of another translator would be. It says which range is better, not how good one is."
)
_ENCODERS = (
    "The encoder `multilingual` was trained on bitext, Tatoeba's pairs among it; `english` was distilled from "
    "all-MiniLM-L6-v2. They share no teacher, but neither sees the order of words."
)
_COLUMNS = ("encoder", "round trip")
"""Behind those of the paper."""


def rating_sheet(study: Study, name: str) -> ReproducedTable:
    """PNMT Table 3: pairs of each range of the paraphrase score for people to rate, and two automatic judges of them.

    The judges see a reference and its paraphrase, without the score and the range.  None says anything of fluency.
    """
    source, pairs = next(iter(study.scored().items()))
    folder = study.folder / name
    folder.mkdir(parents=True, exist_ok=True)
    key = draw_sheet(str(pairs), folder / "sheet.tsv", count=_COUNT, seed=study.seed)
    references, paraphrases = read_texts(folder / "sheet.tsv")
    facts = read_key(key)
    encoder = next(name for name in _JUDGING_ENCODERS if name != str(study.encoder))
    judges: dict[str, Judge] = {
        "encoder": cosine_judge(open_encoder(encoder)),
        "round trip": round_trip_judge(Translator.load("en-de"), Translator.load("de-en")),
    }
    ratings = {judge: rate(references, paraphrases) for judge, rate in judges.items()}
    others = [*paraphrases[1:], *paraphrases[:1]]
    rows = range_rows(facts, ratings)
    for label, texts in (("identity: the reference itself", references), ("random: another pair's", others)):
        means = [Moments.of(rate(references, texts)).estimate() for rate in judges.values()]
        rows.append(
            (label, [*[None] * len(PAPERS[name].columns), *((mean.value, mean.low, mean.high) for mean in means)])
        )
    notes = [*correlations(facts, ratings), _ROUND_TRIP, _where(study, source, folder, key)]
    if str(study.encoder) == "english":
        notes.insert(-2, _ENCODERS)
    return reproduced(
        name,
        rows,
        notes=notes,
        columns=[*PAPERS[name].columns, *_COLUMNS],
        conditions=[
            (
                "raters",
                "two native speakers",
                "two automatic judges: nothing here was rated by a person",
                "nobody was asked",
            ),
            *translations(study),
            (
                "strength",
                "a label from 1 to 3; strong is 3",
                f"cosine × 100 by the encoder `{encoder}`; probability × 100 of a token of the reference (geometric "
                "mean), translated back from the German of the paraphrase (`en-de`, `de-en`)",
                "judges give no labels",
            ),
            ("fluency", "a label from 1 to 3", "not judged", "neither judge knows it"),
            ("paraphrase score", "paragram-phrase", f"encoder `{study.encoder}`", "not in our data"),
            ("pairs", "100 from each range", f"{_COUNT} from each range of {source}", "judges cost nothing"),
        ],
        orders=range_orders(rows),
        brackets=INTERVAL,
        baselines={"untrained": "does not apply, nothing is trained", "random": "in the table", "identity": "in it"},
    )


def cosine_judge(encoder: EncoderLike) -> Judge:
    """Cosines of sentence vectors, × 100; 0 where a side has no vector."""

    def rate(references: Sequence[str], paraphrases: Sequence[str]) -> Floats:
        a, b = (encoder.encode(list(side)).astype(np.float32, copy=False) for side in (references, paraphrases))
        return np.asarray(100 * paired_cosines(a, b), np.float64)

    return rate


def round_trip_judge(forward: Translator, backward: Translator) -> Judge:
    """Probability of the reference as a translation of the paraphrase's translation."""

    def rate(references: Sequence[str], paraphrases: Sequence[str]) -> Floats:
        pivots = [variants[0].text for variants in forward.translate(list(paraphrases))]
        scored = backward.score(pivots, list(references))
        return np.array([100 * math.exp(total / max(1, tokens)) for total, tokens in scored])

    return rate


def read_texts(sheet: Path) -> tuple[list[str], list[str]]:
    """References and paraphrases of a sheet, as `annotation.write_rating_sheet` wrote it."""
    rows = read_sheet(sheet, SHEET_COLUMNS, kind="sheet of pairs", remedy="Draw it again.")
    references, paraphrases = ([row[side] for row in rows] for side in ("reference", "translation"))
    return references, paraphrases


def read_key(key: Path) -> list[dict[str, str]]:
    """The rows of a key, in the order of its sheet."""
    return read_sheet(key, KEY_COLUMNS, kind="key of a sheet", remedy="Draw the sheet again.")


def range_rows(facts: Sequence[dict[str, str]], ratings: dict[str, Floats]) -> list[Row]:
    """A row for each range: pairs of the corpus, mean overlap of trigrams, and the mean of each judge."""
    rows: list[Row] = []
    for low, high in RANGES:
        inside = np.array([fact["range"] == f"({low:g}, {high:g}]" for fact in facts], bool)
        if not inside.any():
            continue
        some = [fact for fact, chosen in zip(facts, inside, strict=True) if chosen]
        overlaps = [float(fact["trigram_overlap"]) for fact in some if fact["trigram_overlap"]]
        means = [Moments.of(values[inside]).estimate() for values in ratings.values()]
        overlap = float(np.mean(overlaps)) if overlaps else None
        figures = [None, None, None, None, float(some[0]["in_range"]), overlap]
        rows.append((f"range {low:g} to {high:g}", [*figures, *((mean.value, mean.low, mean.high) for mean in means)]))
    return rows


def range_orders(rows: Sequence[Row]) -> list[Order]:
    """PNMT §3.2: pairs of a higher range are strong paraphrases more often, for two ranges in a row.

    Ours is the difference of the judge whose interval is closer to 0: an order agrees where both judges say so.
    """
    strong = {name: figures[0] for name, figures in published_figures("pnmt-3").items()}
    ranges = [(name, figures) for name, figures in rows if name in strong]
    orders = []
    for (lower, below), (higher, above) in pairwise(ranges):
        both = [_estimate(above[column]) - _estimate(below[column]) for column in (-2, -1)]
        unknown = [difference for difference in both if not math.isfinite(difference.high - difference.low)]
        ours = min(unknown or both, key=lambda difference: difference.value / (difference.high - difference.low))
        orders.append(Order(f"{higher} above {lower}, by both judges", strong[higher] - strong[lower], ours))
    return orders


def correlations(facts: Sequence[dict[str, str]], ratings: dict[str, Floats]) -> list[str]:
    """Spearman's correlations of the judges, of the paraphrase score, and of the overlap of trigrams, as sentences.

    The overlap is what a judge must know more than: each judge and the score, with the ranks of the overlap held fixed.
    """
    score = np.array([float(fact["score"]) for fact in facts])
    overlap = np.array([float(fact["trigram_overlap"] or "nan") for fact in facts])
    (first, one), (second, other) = ratings.items()
    pairs = {
        f"{first} and {second}": (one, other),
        f"the paraphrase score and {first}": (score, one),
        f"the paraphrase score and {second}": (score, other),
    }
    all_pairs = [f"{name} {100 * _spearman(a, b):.1f}" for name, (a, b) in pairs.items()]
    of_overlap = [f"{name} {100 * _spearman(overlap, ratings[name]):.1f}" for name in ratings]
    fixed = [f"{name} {100 * _partial(a, b, overlap):.1f}" for name, (a, b) in pairs.items()]
    return [
        f"Spearman × 100 over all pairs of the sheet: {', '.join(all_pairs)}.",
        f"Trigram overlap, which knows nothing of meaning: with {', with '.join(of_overlap)}. With the overlap held "
        f"fixed (partial correlation of ranks): {', '.join(fixed)}.",
    ]


def _spearman(*columns: Floats) -> float:
    """Of the first two columns, over the rows in which all are known."""
    known = ~np.isnan(np.array(columns)).any(axis=0)
    return float(spearmanr(columns[0][known], columns[1][known]).statistic)


def _partial(a: Floats, b: Floats, fixed: Floats) -> float:
    """Spearman's correlation of two columns, with a third one held fixed."""
    ab, af, bf = _spearman(a, b, fixed), _spearman(a, fixed, b), _spearman(b, fixed, a)
    rest = (1 - af**2) * (1 - bf**2)
    return (ab - af * bf) / math.sqrt(rest) if rest > 0 else math.nan


def _estimate(figure: Figure) -> Estimate:
    return Estimate(*figure[:3]) if isinstance(figure, tuple) else Estimate(math.nan, math.nan, math.nan)


TABLES: dict[str, Callable[[Study, str], ReproducedTable]] = {"pnmt-3": rating_sheet}
"""Name of a table → the function that makes it."""


def _where(study: Study, source: str, folder: Path, key: Path) -> str:
    sheet, sheet_key, scored = (
        path.relative_to(study.folder.parent) for path in (folder / "sheet.tsv", key, study.folder / "scored")
    )
    return (
        f"For people: {_COUNT} pairs of {source} from each range are in {sheet} of the output; two annotators label "
        f"a copy each, and `paraloom research judge table RATER1 RATER2 --key {sheet_key}` prints the table. "
        f"`paraloom research judge sample` of the scored pairs, in {scored}, with `--count 20 --page "
        "page.html` writes a page of 100 pairs, some twenty minutes' work."
    )
