"""Comparable documents of two languages paired: who is whose counterpart, with a score and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from paraloom.align.assignment import ASSIGNMENTS, assign, margins
from paraloom.align.candidates import Candidates, candidates_of, counts_of, products, sparse
from paraloom.align.document_features import Documents
from paraloom.align.evidence import Lexicons, multinews, picture_vectors, topic_cosines, word_vectors
from paraloom.align.sentences import AlignerConfig, Knowledge, TextPair, learn
from paraloom.core.errors import ConfigError, nearest

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

EVIDENCE: dict[str, dict[str, float]] = {
    "words": {"words": 1.0},
    "pictures": {"pictures": 0.3},
    "topics": {"topics": 1.0},
    "scores": {"sentences": 1.0, "length": 1.0, "entities": 1.0},
    "all": {"words": 1.0, "pictures": 0.3, "sentences": 0.5, "length": 0.1, "entities": 0.1},
}
"""Weights by name: each kind of evidence alone (`topics` is PARK17's, `scores` MultiNews'), and what is best together.
"""

_KINDS = ("words", "pictures", "topics", "sentences", "length", "entities")

# Pairs that a lexicon is made from in the first round; each further round takes as many more.  Short documents teach
# little, long ones cost much.
_TEACHERS, _LEAST, _MOST = 300, 3, 60
# Fewer pairs teach nothing worth having.
_FEWEST = 8


@dataclass(frozen=True, kw_only=True)
class DocumentsConfig:
    """How documents are paired.

    weights: of the kinds of evidence, see EVIDENCE.  candidates: of each document that are compared at all.  how: one
    of ASSIGNMENTS.  by: `margin`, how far a pair is ahead of its rivals (assignment.margins), or `score`.  threshold: a
    pair has at least so much of that.  rounds: how often the surest pairs are aligned sentence by sentence to make a
    lexicon for the next round.
    """

    weights: Mapping[str, float] = field(default_factory=lambda: dict(EVIDENCE["all"]))
    candidates: int = 16
    how: str = "one-to-one"
    by: str = "margin"
    threshold: float = 0.0
    rounds: int = 2

    def check(self) -> None:
        """Raises ConfigError that names the field which cannot be."""
        for name, weight in self.weights.items():
            if name not in _KINDS:
                raise ConfigError(f"there is no evidence '{name}'{nearest(name, _KINDS)}")
            if not (math.isfinite(weight) and weight >= 0):
                raise ConfigError(f"the weight of '{name}' is {weight}, and must be a number from 0 on")
        if not any(self.weights.values()):
            raise ConfigError("no evidence has a weight", remedy=f"Weigh some of {', '.join(_KINDS)}.")
        for name, known in (("how", ASSIGNMENTS), ("by", ("margin", "score"))):
            if getattr(self, name) not in known:
                raise ConfigError(f"'{name}' is '{getattr(self, name)}'{nearest(getattr(self, name), known)}")
        if math.isnan(self.threshold):
            raise ConfigError("'threshold' is no number")
        if self.candidates < 1 or self.rounds < 0:
            raise ConfigError("'candidates' must be 1 or more, 'rounds' 0 or more")


@dataclass(frozen=True, eq=False)
class DocumentPairs:
    """Pairs of documents by their numbers, int64 (pairs,) each; score, margin: float64 (pairs,), higher is surer.

    knowledge: what the rounds learned about sentences; None where there was no round.
    """

    sources: Ints
    targets: Ints
    score: Floats
    margin: Floats
    knowledge: Knowledge | None

    def __len__(self) -> int:
        return len(self.sources)


def align_documents(
    source: Documents, target: Documents, config: DocumentsConfig | None = None, seed: int = 1
) -> DocumentPairs:
    """The pairs of documents that say the same, by words, topics, pictures and sizes; never by name or address.

    source, target: n and m documents, one language each; either may have translations into the other's.  The pairs
    come by their source, then their target.  Documents without a counterpart are in no pair, nor are those that nothing
    speaks for: a threshold on the margin leaves out what is no nearer to each other than to others.  seed: of the
    topics.  Raises ConfigError for settings that cannot be, DataError where a translation has other lines than its
    text, MissingExtraError where topics are asked for and tomotopy is not there.
    """
    config = config or DocumentsConfig()
    config.check()
    knowledge: Knowledge | None = None
    for number in range(config.rounds + 1):
        lexicons = knowledge.lexicons if knowledge else (None, None)
        last = number == config.rounds
        # The rounds before the last only look for sure pairs to learn from; topics are slow and add nothing there.
        weights = config.weights if last else EVIDENCE["all"]
        pairs, scores = _scored(source, target, lexicons, weights, config.candidates, seed)
        chosen = assign(pairs, scores, (len(source), len(target)), config.how if last else "one-to-one")
        ahead = margins(pairs, scores, chosen, (len(source), len(target)))
        if last:
            break
        found = _teachers(source, target, pairs, chosen, ahead, _TEACHERS * (number + 1))
        if len(found) < _FEWEST:
            continue
        knowledge = learn(found, AlignerConfig(rounds=2))
    kept = (ahead if config.by == "margin" else scores[chosen]) >= config.threshold
    chosen, ahead = chosen[kept], ahead[kept]
    return DocumentPairs(pairs.sources[chosen], pairs.targets[chosen], scores[chosen], ahead, knowledge)


def _scored(
    source: Documents,
    target: Documents,
    lexicons: Lexicons,
    weights: Mapping[str, float],
    most: int,
    seed: int,
) -> tuple[Candidates, Floats]:
    """The candidates by words and pictures that something speaks for, and the weighted sum of their evidence."""
    words, pictures = word_vectors(source, target, lexicons), picture_vectors(source, target)
    beside = np.float32(EVIDENCE["pictures"]["pictures"] ** 0.5)
    near = [sparse.csr_matrix(sparse.hstack([a, b * beside])) for a, b in zip(words, pictures, strict=True)]
    pairs = candidates_of(near[0], near[1], most)
    found: dict[str, Floats] = {}
    if weights.get("words"):
        found["words"] = products(words.source, words.target, pairs)
    if weights.get("pictures"):
        found["pictures"] = products(pictures.source, pictures.target, pairs)
    if weights.get("topics"):
        found["topics"] = topic_cosines(source, target, lexicons, pairs, seed)
    if any(weights.get(name) for name in ("sentences", "length", "entities")):
        found |= multinews(source, target, pairs)
    total = np.zeros(len(pairs.sources))
    for name, weight in weights.items():
        if weight:
            total += weight * found[name]
    some = total > 0
    return Candidates(pairs.sources[some], pairs.targets[some]), total[some]


def _teachers(
    source: Documents, target: Documents, pairs: Candidates, chosen: Ints, ahead: Floats, most: int
) -> list[TextPair]:
    """The texts of pairs to learn from: of the surer half those with the most words that both do not share.

    What is left untranslated in a page makes a pair sure and teaches nothing.
    """
    lengths = source.sentences[pairs.sources[chosen]], target.sentences[pairs.targets[chosen]]
    fits = (np.minimum(*lengths) >= _LEAST) & (np.maximum(*lengths) <= _MOST) & (ahead > 0)
    if not fits.any():
        return []
    fits &= ahead >= np.median(ahead[fits])
    fitting = chosen[fits]
    foreign = _foreign(source, target, Candidates(pairs.sources[fitting], pairs.targets[fitting]))
    places = np.sort(fitting[np.argsort(-foreign, kind="stable")][:most])
    sources, targets = pairs.sources[places].tolist(), pairs.targets[places].tolist()
    texts = source.paragraphs(sources), target.paragraphs(targets)
    made = source.translated(sources) if source.translated else None
    back = target.translated(targets) if target.translated else None
    return [
        TextPair(texts[0][i], texts[1][j], [made[i]] if made else [], [back[j]] if back else [])
        for i, j in zip(sources, targets, strict=True)
    ]


def _foreign(source: Documents, target: Documents, pairs: Candidates) -> Floats:
    """Different words of each pair's source that its target has not, and the other way round, the fewer of them."""
    columns = np.unique(np.concatenate([source.words.ids, target.words.ids]))
    ours, theirs = (counts_of(side.words, columns).minimum(1) for side in (source, target))
    shared = products(ours, theirs, pairs)
    kinds = [np.asarray(each.sum(axis=1)).ravel() for each in (ours, theirs)]
    found: Floats = np.minimum(kinds[0][pairs.sources], kinds[1][pairs.targets]) - shared
    return found
