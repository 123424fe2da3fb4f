"""Selection of paraphrases: candidates are checked, ranked by meaning and difference, and kept apart."""

from __future__ import annotations

import inspect
import math
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Levenshtein

from paraloom.core.digests import digest, path_digest, signature
from paraloom.core.protocols import EncoderLike, ParaphraseLike
from paraloom.paraphrasing.edits import (
    REPEATED,
    WORD,
    Edit,
    english_fault,
    english_words,
    kinds_of_change,
    replaces_words,
)
from paraloom.paraphrasing.selection_config import SelectionConfig
from paraloom.paraphrasing.word_evidence import word_evidence
from paraloom.text.characters import WITHOUT_SPACES
from paraloom.text.function_words import suspected_language
from paraloom.text.tokens import words

# Why a candidate is dropped, in the order in which it is checked.
EMPTY, REFUSED, CUT, REPETITION = "empty", "refused by the model", "cut off by the decoder", REPEATED
OTHER_TEMPLATE, COPY, LENGTH, OTHER_CHANGE = (
    "another template",
    "near copy of the text",
    "length",
    "another kind of change",
)
MORE_THAN_WORDS = "more than words changed by the network"
DRIFT, DOUBTFUL, IMPROBABLE = "meaning changed", "probably not right", "improbable"
DUPLICATE, SURPLUS = "near-duplicate of a better candidate", "over the limit"

FOREIGN = "the text is in another language"
"""Why none of a text is kept, where a judge of English is asked."""

_RIGHT, _AVERAGES = (-1.35, 1.1, -0.48, 3.9), (math.nan, 4.5, 0.7)
_RIGHT_WORDS, _AVERAGES_WORDS = (-0.2, 0.79, -0.3, 1.9, 0.15, 0.24, 0.23), (math.nan, 4.2, 0.6, 1.7, -1.3, -1.9)
"""Of `probability_right`: the weights, the intercept first, and what stands for an unknown value; of replaced words."""

_BY_RULE, _DOUBT = 0.95, 0.3
"""The probability that what a rule wrote is right, and what the judge must find at least."""

_TEMPLATED = 0.7
"""The least probability to be right of what a network wrote with a template."""

_NEVER, _HIGHEST = 1e-4, 0.98
"""A verdict counts as one of these at least and at most: a probability of 0 would have infinite log-odds; of those that
the regressions were fitted to the highest is .973. What is doubtful with the highest need not be judged."""

_FUNCTIONAL, _ONE_SIDED, _REORDERED = 0.5, 0.2, 0.2
"""In place of a cosine: only function words differ; content words were left out or added; the order alone differs."""

_MAX_RUN = 3
"""A word that comes so often in a row, and does not in the text, is what decoders repeat."""


class JudgeLike(Protocol):
    """A model that reads both texts at once, such as `paraloom.pairs.scoring.judge.Judge`."""

    @property
    def signature(self) -> str:
        """The model and what its value is."""

    def predict(self, firsts: list[str], seconds: list[str]) -> npt.NDArray[np.float32]:
        """How probably each of n second texts says what the first says, float32 `(n,)`, 0 to 1."""


class SelectedParaphrase(NamedTuple):
    """A paraphrase that was kept."""

    text: str
    score: float
    meaning: float
    difference: float
    fluency: float
    judge: float
    template: float
    candidate: ParaphraseLike
    probability: float = math.nan
    changes: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, without the candidate."""
        return {name: value for name, value in self._asdict().items() if name != "candidate"}


class Measured(NamedTuple):
    """What a selection measured of a candidate, kept or not; NaN where it was dropped before."""

    meaning: float = math.nan
    difference: float = math.nan
    judge: float = math.nan


class Selection(NamedTuple):
    """What was kept, and why the rest was not."""

    kept: list[list[SelectedParaphrase]]
    dropped: Counter[str]
    reasons: list[list[str]]
    positions: list[list[int]]
    measured: list[list[Measured]]


class ParaphraseSelector:
    """Keeps the best candidates of each text, far enough from the text and from one another."""

    def __init__(
        self,
        config: SelectionConfig | None = None,
        encoder: EncoderLike | None = None,
        *,
        judge: JudgeLike | None = None,
    ) -> None:
        self.config = config or SelectionConfig()
        self.encoder = encoder
        self.judge = judge

    @cached_property
    def _known_words(self) -> frozenset[str]:
        words = getattr(self.encoder, "parts", {}).get("word")
        return frozenset(() if words is None else words.vocabulary.entries)

    @property
    def signature(self) -> str:
        """The two main thresholds, a digest of all settings, and the models."""
        models = {
            name: "none" if model is None else model.signature
            for name, model in (("encoder", self.encoder), ("judge", self.judge))
        }
        regressions = (_RIGHT, _AVERAGES, _RIGHT_WORDS, _AVERAGES_WORDS)
        fixed = (
            *regressions,
            _TEMPLATED,
            _BY_RULE,
            _DOUBT,
            _NEVER,
            _HIGHEST,
            _FUNCTIONAL,
            _ONE_SIDED,
            _REORDERED,
            _MAX_RUN,
        )
        faults = path_digest(Path(inspect.getfile(english_fault)))
        settings = digest([asdict(self.config), repr(fixed), faults])[:8]
        thresholds = {"meaning": self.config.meaning, "difference": self.config.difference}
        return signature("selection", **thresholds, settings=settings, **models)

    def select(
        self,
        texts: Sequence[str],
        groups: Sequence[Sequence[ParaphraseLike]],
        n: int = 1,
    ) -> Selection:
        """Choose paraphrases."""
        reasons, figures, differences = self._screened(texts, groups)
        measured = self._measure(
            [texts[row] for row, _ in differences],
            [groups[row][index] for row, index in differences],
            list(differences.values()),
        )
        by_row: list[dict[int, SelectedParaphrase]] = [{} for _ in texts]
        for (row, index), one in zip(differences, measured, strict=True):
            figures[row][index] = Measured(one.meaning, one.difference, one.judge)
            reasons[row][index] = self._measured_fault(one)
            if not reasons[row][index]:
                by_row[row][index] = one
        positions = [self._apart(ones, n, of_row) for ones, of_row in zip(by_row, reasons, strict=True)]
        kept = [[ones[index] for index in order] for ones, order in zip(by_row, positions, strict=True)]
        dropped = Counter(reason for of_text in reasons for reason in of_text if reason)
        return Selection(kept, dropped, reasons, positions, figures)

    def _screened(
        self, texts: Sequence[str], groups: Sequence[Sequence[ParaphraseLike]]
    ) -> tuple[list[list[str]], list[list[Measured]], dict[tuple[int, int], float]]:
        """Reasons and figures before any model is asked, and the differences of what is left, by text and number."""
        reasons = [[""] * len(group) for group in groups]
        figures = [[Measured()] * len(group) for group in groups]
        differences: dict[tuple[int, int], float] = {}
        for row, (text, group) in enumerate(zip(texts, groups, strict=True)):
            source, foreign = text_units(text), self.judge is not None and is_foreign(text)
            for index, candidate in enumerate(group):
                units = text_units(candidate.text)
                difference = unit_difference(source, units)
                reasons[row][index] = FOREIGN if foreign else self._fault(text, source, units, candidate, difference)
                if reasons[row][index] not in (REFUSED, EMPTY):
                    figures[row][index] = Measured(difference=difference)
                if not reasons[row][index]:
                    differences[row, index] = difference
        return reasons, figures, differences

    def _measured_fault(self, measured: SelectedParaphrase) -> str:
        """Why a candidate is dropped by what models measured, '' if it is not."""
        if self.encoder is not None and not measured.meaning >= self.config.meaning:
            return DRIFT
        minimum = max(self.config.probability, _TEMPLATED) if _follows(measured.candidate) else self.config.probability
        if self.judge is not None and not measured.probability >= minimum:
            return DOUBTFUL
        if measured.fluency < self.config.fluency:  # not where it is NaN
            return IMPROBABLE
        return ""

    def _fault(
        self, text: str, source: Sequence[str], units: Sequence[str], candidate: ParaphraseLike, difference: float
    ) -> str:
        """Why a candidate is dropped before any model is asked, '' if it is not."""
        if getattr(candidate, "reason", None):
            return REFUSED
        if broken := decoding_fault(source, units, candidate):
            return broken
        if getattr(candidate, "has_template", None) is False:
            return OTHER_TEMPLATE
        if difference < self.config.difference or not difference:
            return COPY
        shorter, longer = sorted((len(source), len(units)))
        if longer > max(shorter * self.config.length_ratio, shorter + 3 if shorter <= 5 else 0):
            return LENGTH
        if self.judge is not None and not is_rewrite(candidate) and (fault := self._fault_of_network(text, candidate)):
            return fault
        if self.config.change and self.config.change not in kinds_of_change(text, candidate.text):
            return OTHER_CHANGE
        return ""

    def _fault_of_network(self, text: str, candidate: ParaphraseLike) -> str:
        """Why what a network wrote of an English text is dropped; with a template only other words are often right."""
        if _follows(candidate) and not replaces_words(text, candidate.text):
            return MORE_THAN_WORDS
        return english_fault(text, candidate.text, self._known_words)

    def _measure(
        self, texts: list[str], candidates: Sequence[ParaphraseLike], differences: Sequence[float]
    ) -> list[SelectedParaphrase]:
        if not texts:
            return []
        outputs = [candidate.text for candidate in candidates]
        unknown = np.full(len(texts), np.nan)
        meaning = unknown if self.encoder is None else text_cosines(self.encoder, texts, outputs)
        fluency = np.array([_mean_probability(candidate) for candidate in candidates])
        judged = probability = unknown
        changes = [changes_of(*pair) for pair in zip(texts, outputs, strict=True)]
        if self.judge is not None:
            alive = np.ones(len(texts), bool) if self.encoder is None else meaning >= self.config.meaning
            alive &= ~(fluency < self.config.fluency)
            cost = np.array([-candidate.logprob for candidate in candidates], np.float64)
            ruled = np.array([is_rewrite(candidate) for candidate in candidates], bool)
            judged, probability = self._judged(texts, outputs, changes, cost, ruled, alive)
        known = meaning if self.judge is None else probability
        results = []
        for row, candidate in enumerate(candidates):
            template, different = _template_match(candidate), differences[row]
            if self.judge is not None:  # a contraction written in full is not much of a difference
                different = unit_difference(english_words(texts[row]), english_words(outputs[row]))
            score = self._score(float(known[row]), different, float(fluency[row]), template)
            results.append(
                SelectedParaphrase(
                    *(candidate.text, score, float(meaning[row]), differences[row], float(fluency[row])),
                    *(float(judged[row]), template, candidate, float(probability[row])),
                    changes[row],
                )
            )
        return results

    def _score(self, right: float, different: float, fluency: float, template: float) -> float:
        """What candidates are ranked by; a figure that is not known counts as 0."""
        fluent = 0.0 if self.judge is not None or math.isnan(fluency) else self.config.fluency_weight * fluency
        known = 0.0 if math.isnan(right) else right
        return known + self.config.difference_weight * different + fluent + self.config.template_weight * template

    def _judged(
        self,
        texts: list[str],
        outputs: list[str],
        changes: list[str],
        cost: npt.NDArray[np.float64],
        ruled: npt.NDArray[np.bool_],
        alive: npt.NDArray[np.bool_],
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The lower verdict on both orders, and the probability to be right; NaN of what is dropped anyway."""
        assert self.judge is not None
        verdict, probability, change = (np.full(len(texts), np.nan) for _ in range(3))
        rows = np.flatnonzero(alive)
        change[rows] = self._changes([texts[row] for row in rows], [outputs[row] for row in rows])
        evidence = np.full((len(texts), 3), np.nan)
        for row in rows:
            if WORD in changes[row].split(", "):
                evidence[row] = word_evidence(english_words(texts[row]), english_words(outputs[row]))
        best = probability_right(np.full(len(rows), _HIGHEST), cost[rows], change[rows], evidence[rows])
        rows = rows[np.where(ruled[rows], _BY_RULE, best) >= self.config.probability]
        for first, second in ((texts, outputs), (outputs, texts)):
            asked = self.judge.predict([first[row] for row in rows], [second[row] for row in rows])
            verdict[rows] = np.fmin(verdict[rows], asked)
            probability[rows] = np.where(
                ruled[rows],
                np.where(verdict[rows] < _DOUBT, 0, _BY_RULE),
                probability_right(verdict[rows], cost[rows], change[rows], evidence[rows]),
            )
            rows = rows[probability[rows] >= self.config.probability]
        return verdict, probability

    def _changes(self, texts: list[str], outputs: list[str]) -> npt.NDArray[np.float64]:
        """How near in meaning the content words that came and went are, float64 `(n,)`; see `probability_right`."""
        edits = [
            Edit.between(english_words(text), english_words(output))
            for text, output in zip(texts, outputs, strict=True)
        ]
        changes = np.array([
            np.nan if edit.lost and edit.new else _ONE_SIDED if edit.lost or edit.new
            else _FUNCTIONAL if edit.functional else _REORDERED if edit.reordered else 1.0
            for edit in edits
        ], np.float64)  # fmt: skip
        replaced = np.flatnonzero(np.isnan(changes))
        if self.encoder is not None and len(replaced):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # an encoder may not know a word by itself
                changes[replaced] = text_cosines(
                    self.encoder, [edits[row].lost for row in replaced], [edits[row].new for row in replaced]
                )
        return changes

    def _apart(self, ones: dict[int, SelectedParaphrase], n: int, reasons: list[str]) -> list[int]:
        """Numbers of the best ones, each far enough from those before it (maximal marginal relevance)."""
        waiting = sorted(ones, key=lambda index: -ones[index].score)
        units = {index: text_units(one.text) for index, one in ones.items()}
        likeness = dict.fromkeys(ones, 0.0)
        chosen: list[int] = []
        while waiting and len(chosen) < n:
            best = max(waiting, key=lambda index: ones[index].score - self.config.variety_weight * likeness[index])
            chosen.append(best)
            remaining = []
            for index in waiting:
                if index == best:
                    continue
                difference = unit_difference(units[best], units[index])
                if difference < self.config.distinct or not difference:
                    reasons[index] = DUPLICATE
                    continue
                likeness[index] = max(likeness[index], 1 - difference)
                remaining.append(index)
            waiting = remaining
        for index in waiting:
            reasons[index] = SURPLUS
        return chosen


def without_selection(texts: Sequence[str], groups: Sequence[Sequence[ParaphraseLike]], n: int) -> Selection:
    """The first n candidates of each text as they are; one that a model refused to write is dropped."""
    reasons = [[str(getattr(one, "reason", None) or "") for one in group] for group in groups]
    positions = [[index for index, reason in enumerate(of_text) if not reason][:n] for of_text in reasons]
    kept = [
        [_as_given(text, group[index]) for index in order]
        for text, group, order in zip(texts, groups, positions, strict=True)
    ]
    dropped = Counter(reason for of_text in reasons for reason in of_text if reason)
    return Selection(kept, dropped, reasons, positions, [[Measured()] * len(group) for group in groups])


def _as_given(text: str, candidate: ParaphraseLike) -> SelectedParaphrase:
    difference, nan = unit_difference(text_units(text), text_units(candidate.text)), math.nan
    fluency = _mean_probability(candidate)
    match = _template_match(candidate)
    changes = changes_of(text, candidate.text)
    return SelectedParaphrase(candidate.text, nan, nan, difference, fluency, nan, match, candidate, changes=changes)


def changes_of(text: str, candidate: str) -> str:
    """The kinds of change between two texts, between commas."""
    return ", ".join(kinds_of_change(text, candidate))


def is_foreign(text: str) -> bool:
    """Whether function words of another language stand in a text, and none of English; capitals behind may be names."""
    return suspected_language(re.sub(r"(?:^[A-Z](?![a-z])|\s[A-Z])\S*", "", text).split(), "en") is not None


def text_units(text: str) -> tuple[str, ...]:
    """The words of a text in lower case, without punctuation; of scripts without spaces, the characters."""
    units = words(text.replace("’", "'"), punctuation=False)
    if text.isascii() or not WITHOUT_SPACES.search(text):
        return tuple(units)
    return tuple(part for unit in units for part in (unit if WITHOUT_SPACES.search(unit) else [unit]))


def unit_difference(first: Sequence[str], second: Sequence[str]) -> float:
    """Edits between the units of two texts, divided by the number of units of the longer one."""
    return float(Levenshtein.normalized_distance(first, second))


def is_rewrite(candidate: ParaphraseLike) -> bool:
    """Whether a rule wrote a candidate, and no network."""
    return bool(getattr(candidate, "rule", ""))


def _follows(candidate: ParaphraseLike) -> bool:
    """Whether a network wrote a candidate, which has the template that was asked for."""
    return getattr(candidate, "has_template", None) is True and not is_rewrite(candidate)


def decoding_fault(source: Sequence[str], units: Sequence[str], candidate: ParaphraseLike) -> str:
    """What the decoder did wrong: `EMPTY`, `CUT`, `REPETITION`; '' if nothing."""
    if not units:
        return EMPTY
    if getattr(candidate, "cut", False):
        return CUT
    if (run := _max_run(units)) >= _MAX_RUN and run > _max_run(source):
        return REPETITION
    return ""


def _max_run(units: Sequence[str]) -> int:
    """How often a word follows itself at most, itself included."""
    run = best = 1
    for before, after in pairwise(units):
        run = run + 1 if before == after else 1
        best = max(best, run)
    return best


def _mean_probability(candidate: ParaphraseLike) -> float:
    """Geometric mean of the probabilities of its tokens; NaN where they are unknown."""
    mean = candidate.logprob / max(1, candidate.tokens)
    return math.nan if math.isnan(mean) else math.exp(min(0.0, mean))


def probability_right(
    judge: npt.ArrayLike, cost: npt.ArrayLike, change: npt.ArrayLike, evidence: npt.ArrayLike | None = None
) -> npt.NDArray[np.float64]:
    """The probability that a candidate says the same in good English.

    A logistic regression over the log-odds of the judge's lower verdict, the cost of all subwords, -log p in nats (as
    the paraphraser finds them: a mean would hide one wrong word in a long text), and the cosine between the content
    words that went and those that came: 1 where only contractions differ, less for a new order or for words on one side
    only. An unknown cost or cosine counts as an average one. Where words were replaced, another one that has what
    `word_evidence` finds as well, float64 `(n, 3)`, NaN elsewhere.

    Fitted to what readers said of outputs of the bundled paraphraser, with the costs that candidates have
    (`benchmarks/word_changes.py fit benchmarks/readings/words/figures.tsv`).
    """
    odds = np.clip(np.asarray(judge, np.float64), _NEVER, _HIGHEST)
    values = [np.log(odds / (1 - odds)), np.asarray(cost, np.float64), np.asarray(change, np.float64)]

    def probability(weights: Sequence[float], averages: Sequence[float]) -> npt.NDArray[np.float64]:
        logits = weights[0] + sum(
            weight * np.where(np.isnan(value), average, value)
            for weight, value, average in zip(weights[1:], values, averages, strict=True)
        )
        return np.asarray(1 / (1 + np.exp(-logits)), np.float64)

    result = probability(_RIGHT, _AVERAGES)
    if evidence is None:
        return result
    values += [*np.asarray(evidence, np.float64).T]
    return np.where(np.isnan(values[3]), result, probability(_RIGHT_WORDS, _AVERAGES_WORDS))


def _template_match(candidate: ParaphraseLike) -> float:
    distance = getattr(candidate, "distance", None)
    return 1.0 if distance is None else 1.0 / (1.0 + float(distance))


def text_cosines(encoder: EncoderLike, firsts: Sequence[str], seconds: Sequence[str]) -> npt.NDArray[np.float64]:
    """Cosine of each pair of texts."""
    distinct = list(dict.fromkeys([*firsts, *seconds]))
    vectors = np.asarray(encoder.encode(distinct), np.float64)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        vectors = vectors / norms
    index = {text: row for row, text in enumerate(distinct)}
    left, right = ([index[text] for text in side] for side in (firsts, seconds))
    products: npt.NDArray[np.float64] = np.einsum("nd,nd->n", vectors[left], vectors[right])
    return products
