"""Alignment of comparable documents of two languages: which documents correspond, and how certain that is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from paraloom.alignment.aligner_config import AlignerConfig
from paraloom.alignment.assignment import ASSIGNMENTS, assign, margins
from paraloom.alignment.candidates import CandidatePairs, dot_products, word_counts
from paraloom.alignment.document_evidence import Lexicons
from paraloom.alignment.document_features import Documents, read_text_pairs
from paraloom.alignment.document_pairs import DocumentPair
from paraloom.alignment.document_scores import KINDS, score_candidates
from paraloom.alignment.floors import certainties, decoy_certainties, find_floor
from paraloom.alignment.sentences import SentenceAligner, fit_aligner
from paraloom.alignment.text_pairs import TextPair
from paraloom.core.array_types import Bools, Floats, Ints
from paraloom.core.config import check_range
from paraloom.core.errors import ConfigError, nearest
from paraloom.text.sequences import list_of_strings

EVIDENCE: dict[str, dict[str, float]] = {
    "words": {"words": 1.0},
    "pictures": {"pictures": 0.3},
    "topics": {"topics": 1.0},
    "scores": {"sentences": 1.0, "size": 1.0, "entities": 1.0},
    "encoder": {"encoder": 1.0},
    "addresses": {"addresses": 1.0},
    "links": {"links": 1.0},
    "all": {
        **{"words": 1.0, "pictures": 0.3, "sentences": 0.5, "length": 0.1, "entities": 0.1, "encoder": 0.3},
        **{"addresses": 0.3, "links": 1.0},
    },
}
"""Presets of evidence weights: single kinds (`topics` as in PARK17, `scores` as in MultiNews), and the best mix.

`encoder` is the cosine under an encoder of both languages, `links` are known where `extract` read the pages; without
them, `all` is the rest.
"""

# Pairs that the sentence aligner learns from in the first round, and that many more in each further round.  Documents
# with few paragraphs teach little, those with many cost much time.
_TRAINING_PAIRS, _MIN_PARAGRAPHS, _MAX_PARAGRAPHS = 300, 3, 60
# Fewer pairs are not worth learning from.
_MIN_TRAINING_PAIRS = 8


@dataclass(frozen=True, kw_only=True)
class DocumentAlignerConfig:
    # Weight of each kind of evidence, one of `document_scores.KINDS`; see EVIDENCE for presets.
    weights: Mapping[str, float] = field(default_factory=lambda: dict(EVIDENCE["all"]))
    max_candidates: int = 16  # Neighbors of each document that it is compared with, by each kind of vectors
    assignment: str = "one-to-one"  # How pairs are chosen: `one-to-one`, `mutual` or `best`, see `assignment.assign`
    # What the threshold applies to: `margin` (lead over rivals, see `assignment.margins`) or `score`.
    threshold_on: str = "margin"
    # Pairs below are dropped; None for the floor that is estimated from the documents (`floors`).
    threshold: float | None = None
    # How often the most certain pairs are aligned sentence by sentence to learn a lexicon for the next round.
    rounds: int = 2

    def check(self) -> None:
        """Raise ConfigError for a field that is out of range."""
        for name, weight in self.weights.items():
            if name not in KINDS:
                raise ConfigError(f"unknown evidence '{name}'{nearest(name, KINDS)}")
            if not (math.isfinite(weight) and weight >= 0):
                raise ConfigError(f"the weight of '{name}' must be 0 or more, not {weight}")
        if not any(self.weights.values()):
            raise ConfigError("all evidence has weight 0", remedy=f"Give a weight to some of {', '.join(KINDS)}.")
        if self.assignment not in ASSIGNMENTS:
            raise ConfigError(f"unknown assignment '{self.assignment}'{nearest(self.assignment, ASSIGNMENTS)}")
        if self.threshold_on not in ("margin", "score"):
            raise ConfigError(
                f"the threshold is on margin or score, not '{self.threshold_on}'"
                f"{nearest(self.threshold_on, ('margin', 'score'))}"
            )
        if self.threshold is not None and math.isnan(self.threshold):
            raise ConfigError("'threshold' must be a number, not nan")
        check_range(self, "max_candidates", low=1)
        check_range(self, "rounds", low=0)


@dataclass(frozen=True, eq=False)
class DocumentAlignment:
    """Pairs of corresponding documents, by source, then target."""

    sources: Ints  # int64 (pairs,), indices of source documents
    targets: Ints  # int64 (pairs,), indices of target documents
    scores: Floats  # float64 (pairs,), similarity, higher is better
    margins: Floats  # float64 (pairs,), lead over rival pairs, higher is more certain
    # The sentence aligner that was learned on the way; None without rounds, or with too few pairs.
    aligner: SentenceAligner | None
    source_ids: Sequence[str]  # Names of all source documents
    target_ids: Sequence[str]  # Names of all target documents
    # The floor on `floors.certainties` below which pairs were dropped; None where a threshold was given, or too few
    # pairs were found to estimate one.
    floor: float | None = None

    def __len__(self) -> int:
        return len(self.sources)

    def pairs(self) -> list[DocumentPair]:
        rows = zip(self.sources.tolist(), self.targets.tolist(), self.scores, self.margins, strict=True)
        return [
            DocumentPair(self.source_ids[source], self.target_ids[target], float(score), float(margin))
            for source, target, score, margin in rows
        ]


def align_documents(
    source: Documents | Sequence[str],
    target: Documents | Sequence[str],
    config: DocumentAlignerConfig | None = None,
    *,
    seed: int = 1,
) -> DocumentAlignment:
    """Pair the documents of two languages that say the same.

    They are compared by words, images, sizes, named entities, and the addresses and links of web pages, where those
    prove to be reliable.  No translator is needed: the most certain pairs are aligned sentence by sentence, which
    yields a lexicon for the next round.  Translations on either side help.

    Args:
        source: n documents of one language: their features (`document_features.open_documents`,
            `Documents.from_texts`), or their texts, one paragraph per line.
        target: m documents of the other language.
        config: Settings.
        seed: Of the topic model.

    Returns:
        The pairs.  Documents without a counterpart are in no pair, unless a pair of them is above the floor.

    Raises:
        TypeError: A side is a single string.
        ConfigError: A setting is out of range.
        DataError: A translation has another number of lines than its text.
        MissingExtraError: Topics are asked for and tomotopy is not installed.

    Reference:
        PARK17 §3, MNEWS §4.

    Example:
        >>> alignment = align_documents(["Rom 1527.", "Wien 1683."], ["Vienna, Wien 1683.", "Rome, Rom 1527."])
        >>> [(pair.source, pair.target) for pair in alignment.pairs()]
        [('0', '1'), ('1', '0')]
    """
    source, target = _as_documents(source), _as_documents(target)
    config = config or DocumentAlignerConfig()
    config.check()
    if not any(weight for name, weight in config.weights.items() if name != "encoder") and source.encoder is None:
        raise ConfigError(
            "the evidence 'encoder' needs an encoder of both languages", remedy="Give one, or choose other evidence."
        )
    sizes = len(source), len(target)
    # A lexicon is evidence for words and topics only.
    rounds = config.rounds if config.weights.get("words") or config.weights.get("topics") else 0
    aligner = _fit_aligner(source, target, rounds, config.max_candidates, seed)
    pairs, scores = score_candidates(source, target, _lexicons(aligner), config.weights, config.max_candidates, seed)
    chosen = assign(pairs, scores, sizes, config.assignment)
    lead = margins(pairs, scores, chosen, sizes)
    floor: float | None = None
    if config.threshold is None:
        floor, kept = _above_floor(pairs, scores, chosen, sizes, config.assignment)
    else:
        kept = (lead if config.threshold_on == "margin" else scores[chosen]) >= config.threshold
    chosen, lead = chosen[kept], lead[kept]
    return DocumentAlignment(
        pairs.sources[chosen], pairs.targets[chosen], scores[chosen], lead, aligner, source.ids, target.ids, floor
    )


def _fit_aligner(
    source: Documents, target: Documents, rounds: int, max_candidates: int, seed: int
) -> SentenceAligner | None:
    """An aligner of sentences that learns from the certain pairs of each round; None if there are too few."""
    aligner: SentenceAligner | None = None
    sizes = len(source), len(target)
    for number in range(rounds):
        # Topics are slow and add nothing here.
        pairs, scores = score_candidates(source, target, _lexicons(aligner), EVIDENCE["all"], max_candidates, seed)
        chosen = assign(pairs, scores, sizes, "one-to-one")
        lead = margins(pairs, scores, chosen, sizes)
        texts = _training_pairs(source, target, pairs, chosen, lead, _TRAINING_PAIRS * (number + 1))
        if len(texts) >= _MIN_TRAINING_PAIRS:
            aligner = fit_aligner(texts, AlignerConfig(rounds=2))
    return aligner


def _lexicons(aligner: SentenceAligner | None) -> Lexicons:
    return aligner.learned.get("word", (None, None)) if aligner else (None, None)


def _above_floor(
    pairs: CandidatePairs, scores: Floats, chosen: Ints, sizes: tuple[int, int], assignment: str
) -> tuple[float | None, Bools]:
    """The estimated floor, and which of the chosen pairs are ahead of their rivals and reach it, if there is one."""
    lead = margins(pairs, scores, chosen, sizes)
    decoys = decoy_certainties(pairs, scores, chosen, sizes, assignment)
    observed = certainties(pairs, scores, chosen, sizes)
    floor = find_floor(observed, decoys)
    return floor, (lead >= 0) & (observed >= (-np.inf if floor is None else floor))


def _as_documents(documents: Documents | Sequence[str]) -> Documents:
    return documents if isinstance(documents, Documents) else Documents.from_texts(list_of_strings(documents))


def _training_pairs(
    source: Documents, target: Documents, pairs: CandidatePairs, chosen: Ints, lead: Floats, max_pairs: int
) -> list[TextPair]:
    """Of the surer half the pairs that share the fewest words: untranslated text is sure and teaches nothing."""
    counts = source.paragraph_counts[pairs.sources[chosen]], target.paragraph_counts[pairs.targets[chosen]]
    suitable = (np.minimum(*counts) >= _MIN_PARAGRAPHS) & (np.maximum(*counts) <= _MAX_PARAGRAPHS) & (lead > 0)
    if not suitable.any():
        return []
    suitable &= lead >= np.median(lead[suitable])
    candidates = chosen[suitable]
    unshared = _unshared_words(source, target, CandidatePairs(pairs.sources[candidates], pairs.targets[candidates]))
    picked = np.sort(candidates[np.argsort(-unshared, kind="stable")][:max_pairs])
    rows = zip(pairs.sources[picked].tolist(), pairs.targets[picked].tolist(), strict=True)
    return list(read_text_pairs(source, target, list(rows)))


def _unshared_words(source: Documents, target: Documents, pairs: CandidatePairs) -> Floats:
    """Distinct words of each pair's source that its target lacks, or the other way round; the smaller number."""
    columns = np.unique(np.concatenate([source.words.ids, target.words.ids]))
    binary = [word_counts(side.words, columns).minimum(1) for side in (source, target)]
    shared = dot_products(binary[0], binary[1], pairs)
    distinct = [np.asarray(side.sum(axis=1)).ravel() for side in binary]
    unshared: Floats = np.minimum(distinct[0][pairs.sources], distinct[1][pairs.targets]) - shared
    return unshared
