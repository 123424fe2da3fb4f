"""Sentences of two texts aligned n to m: the aligner learns how from the texts themselves, in a few rounds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from paraloom.align.band import Band, band_along, path_of_anchors, path_of_beads, path_of_lengths
from paraloom.align.block_cosines import VectorMatch
from paraloom.align.lengths import LengthHabits, LengthMatch, habits_of
from paraloom.align.lexical import Background, Bags, Direction, WordMatch, background_of, bags_of
from paraloom.align.lexicon import Lexicon, beside, evenly, lexicon_of, together
from paraloom.align.priors import priors_of
from paraloom.align.search import Evidence, Found, best_alignment
from paraloom.align.stems import stems
from paraloom.core.beads import Bead
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.progress import progress
from paraloom.text.tokens import TokenLists, tokenize

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Vectors = npt.NDArray[np.float32]

# Beads that a lexicon is made from, at most.
_FOR_LEXICON = 20_000


@dataclass(frozen=True, kw_only=True)
class AlignerConfig:
    """How sentences are aligned.

    most: sentences on a side of a bead, 1 to 15.  length, words, stems: weights of what lengths (in characters), words
    and their beginnings say; the two last count in both directions, each as far as it explains the texts.
    vectors: weight of what an encoder says, where a pair has its vectors.  rounds: how often the texts are aligned to
    learn how likely beads are, which words go with which, and how far evidence reaches; with 0 a table after Gale and
    Church says how likely beads are.
    lexicon: whether words that went together in a round count in the next.  radius: boundaries on each side of the
    expected path that are looked at, for texts too long to try all.
    """

    most: int = 3
    length: float = 1.0
    words: float = 0.7
    stems: float = 0.5
    vectors: float = 1.0
    rounds: int = 3
    lexicon: bool = True
    radius: int = 16

    def check(self) -> None:
        """Raises ConfigError that names the field which cannot be."""
        if not 1 <= self.most <= 15:
            raise ConfigError(f"'most' is {self.most}, and must be 1 to 15 sentences")
        for name in ("length", "words", "stems", "vectors"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) >= 0):
                raise ConfigError(f"'{name}' is {getattr(self, name)}, and must be a number from 0 on")
        if self.rounds < 0 or self.radius < 1:
            raise ConfigError("'rounds' must be 0 or more, 'radius' 1 or more")


@dataclass(frozen=True, eq=False)
class TextPair:
    """Two texts, sentence by sentence, and what translators made of them.

    source_translations: each as long as `source`, in the target's language.  target_translations: each as long as
    `target`, in the source's.  vectors: of the sentences of both, float32 (m, d) and (n, d), by an encoder of both
    languages, or of the one that the other was translated into.  Raises DataError where lengths differ.
    """

    source: Sequence[str]
    target: Sequence[str]
    source_translations: Sequence[Sequence[str]] = ()
    target_translations: Sequence[Sequence[str]] = ()
    vectors: tuple[Vectors, Vectors] | None = None

    def __post_init__(self) -> None:
        if self.vectors is not None and [len(each) for each in self.vectors] != [len(self.source), len(self.target)]:
            raise DataError("there is not one vector for each sentence")
        for side, text, translations in (
            ("source", self.source, self.source_translations),
            ("target", self.target, self.target_translations),
        ):
            for number, translation in enumerate(translations, 1):
                if len(translation) != len(text):
                    raise DataError(
                        f"the {side} has {len(text):,} sentences, its translation {number} has {len(translation):,}",
                        remedy="A translation has one line for each sentence, in their order.",
                    )


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What an aligner has learned: priors float64 (A + 1, A + 1), natural logarithms by kind of bead.

    backgrounds, shares, lexicons: by unit and direction, see paraloom.align.lexical.  given: a lexicon that was known
    before.  lengths: how those go together.
    """

    priors: Floats
    backgrounds: dict[str, tuple[Background, Background]]
    shares: dict[str, tuple[Floats, Floats]] = field(default_factory=dict)
    lexicons: tuple[Lexicon | None, Lexicon | None] = (None, None)
    given: tuple[Lexicon, Lexicon] | None = None
    lengths: LengthHabits | None = None


def align(
    pair: TextPair, config: AlignerConfig | None = None, given: tuple[Lexicon, Lexicon] | None = None
) -> list[Bead]:
    """The beads of one pair of texts, in order; every sentence is in one of them, alone where it has no counterpart.

    given: a lexicon from source to target, and back, that counts beside the one that is made on the way.

    >>> pair = TextPair(["Paris 1900.", "Berlin 1901."], ["Paris 1900.", "Berlin", "1901."])
    >>> [(bead.source, bead.target) for bead in align(pair)]
    [((0,), (0,)), ((1,), (1, 2))]
    """
    config = config or AlignerConfig()
    config.check()
    prepared = [_Prepared(pair, config)]
    knowledge, found = _rounds(prepared, config, given)
    return list(_beads(prepared[0].align(knowledge, config, found[0])))


def learn(pairs: Sequence[TextPair], config: AlignerConfig, given: tuple[Lexicon, Lexicon] | None = None) -> Knowledge:
    """What the texts themselves tell of how to align them, in `config.rounds` rounds; given: as for `align`.

    Raises DataError where one has more translations than another.
    """
    config.check()
    if len({(len(pair.source_translations), len(pair.target_translations)) for pair in pairs}) > 1:
        raise DataError("some of the texts have more translations than others", remedy="Translate all of them.")
    return _rounds([_Prepared(pair, config) for pair in pairs], config, given)[0]


def _rounds(
    prepared: Sequence[_Prepared], config: AlignerConfig, given: tuple[Lexicon, Lexicon] | None
) -> tuple[Knowledge, list[Found | None]]:
    """What the rounds taught, and the alignments of the last."""
    knowledge = Knowledge(
        priors_of(Counter(), config.most),
        {unit: _backgrounds([each.lists[unit] for each in prepared]) for unit in _units(config)},
        given=given,
    )
    found: list[Found | None] = [None] * len(prepared)
    with progress("learning to align", config.rounds * len(prepared), unit="texts") as advance:
        for _ in range(config.rounds):
            for place, each in enumerate(prepared):
                found[place] = each.align(knowledge, config, found[place])
                advance(1)
            knowledge = _learned(prepared, [each.beads for each in found if each], knowledge, config)
    return knowledge, found


def beads_of(pair: TextPair, knowledge: Knowledge, config: AlignerConfig) -> list[Bead]:
    """The beads of a pair of texts, by what was learned from it or from others."""
    found = _Prepared(pair, config).align(knowledge, config)
    return list(_beads(found))


def _beads(found: Found) -> Iterator[Bead]:
    for (i, a, j, b), gain in zip(found.beads.tolist(), found.gains.tolist(), strict=True):
        yield Bead(tuple(range(i, i + a)), tuple(range(j, j + b)), gain)


def _units(config: AlignerConfig) -> dict[str, float]:
    weights = {"word": config.words, "stem": config.stems}
    return {unit: weight for unit, weight in weights.items() if weight > 0}


class _Prepared:
    """A pair of texts, cut into units once for all rounds."""

    def __init__(self, pair: TextPair, config: AlignerConfig) -> None:
        self.sizes = (len(pair.source), len(pair.target))
        self.characters = (_characters(pair.source), _characters(pair.target))
        self.vectors = pair.vectors
        self.texts = pair.source, pair.target
        self.lists: dict[str, tuple[TokenLists, TokenLists]] = {}
        self.bags: dict[str, tuple[list[Bags], list[Bags]]] = {}
        for unit in _units(config):
            source, target = _cut(unit, pair.source), _cut(unit, pair.target)
            self.lists[unit] = (source, target)
            self.bags[unit] = (
                [bags_of(source), *(bags_of(_cut(unit, each)) for each in pair.source_translations)],
                [bags_of(target), *(bags_of(_cut(unit, each)) for each in pair.target_translations)],
            )

    def directions(self, unit: str, knowledge: Knowledge) -> tuple[Direction, Direction]:
        """Source sentences as givers, and target sentences as givers."""
        found = []
        for side in (0, 1):
            bags = list(self.bags[unit][side])
            lexicons = (knowledge.given[side] if knowledge.given else None, knowledge.lexicons[side])
            if unit == "word":
                bags += [each.bags(self.lists[unit][side]) for each in lexicons if each is not None]
            shares = knowledge.shares.get(unit, (None, None))[side]
            if shares is None or len(shares) != len(bags) + 1:
                shares = np.array([0.8, *[0.2 / len(bags)] * len(bags)])
            givers, receivers = self.lists[unit][side], self.lists[unit][1 - side]
            background = knowledge.backgrounds[unit][1 - side]
            found.append(Direction(bags, givers.lengths, receivers, background, shares))
        return found[0], found[1]

    def align(self, knowledge: Knowledge, config: AlignerConfig, before: Found | None = None) -> Found:
        """The best alignment by what is known, looked for near that of a round before."""
        sources, targets = self.sizes
        if not sources or not targets:
            return _alone(sources, targets, knowledge.priors)
        evidence: list[Evidence] = []
        anchors = []
        if config.length > 0:
            evidence.append(LengthMatch(*self.characters, config.length, habits=knowledge.lengths))
        if self.vectors is not None and config.vectors > 0:
            words = tokenize(self.texts[0]).lengths, tokenize(self.texts[1]).lengths
            evidence.append(VectorMatch(*self.vectors, words, config.vectors))
        for unit, weight in _units(config).items():
            forward, backward = self.directions(unit, knowledge)
            evidence.append(WordMatch(forward, backward, weight))
            if unit == "word" and before is None:
                anchors.append(forward.anchors())
                columns, rows, weights = backward.anchors()
                anchors.append((rows, columns, weights))

        def band(radius: int) -> Band:
            if before is not None:
                return band_along(path_of_beads(before.beads, sources), targets, radius // 2, 2)
            path = path_of_anchors(anchors, sources, targets) if anchors else None
            if path is None:
                path = path_of_lengths(*self.characters)
            return band_along(path, targets, radius, 8)

        return best_alignment(evidence, knowledge.priors, sources, targets, band, config.radius)


def _learned(
    prepared: Sequence[_Prepared], found: Sequence[Ints], knowledge: Knowledge, config: AlignerConfig
) -> Knowledge:
    kinds = Counter((int(a), int(b)) for beads in found for _, a, _, b in beads)
    shares = {}
    for unit in _units(config):
        sides = []
        for side in (0, 1):
            total: Floats | None = None
            for each, beads in zip(prepared, found, strict=True):
                if min(each.sizes):
                    expected = each.directions(unit, knowledge)[side].expected(beads, bool(side))
                    total = expected if total is None else total + expected
            sides.append(_shares(total))
        if sides[0] is not None and sides[1] is not None:
            shares[unit] = (sides[0], sides[1])
    lexicons: tuple[Lexicon | None, Lexicon | None] = (None, None)
    if config.lexicon and "word" in _units(config):
        source, target = _side(prepared, found, 0), _side(prepared, found, 1)
        lexicons = (lexicon_of(source, target), lexicon_of(target, source))
    habits = habits_of([each.characters for each in prepared], found)
    return replace(knowledge, priors=priors_of(kinds, config.most), shares=shares, lexicons=lexicons, lengths=habits)


def _side(prepared: Sequence[_Prepared], found: Sequence[Ints], side: int) -> TokenLists:
    """The words of one side of the beads that have both; where these are too many, of some all over the texts."""
    both = [beads[(beads[:, 1] > 0) & (beads[:, 3] > 0)] for beads in found]
    parts = []
    for each, beads, chosen in zip(prepared, both, evenly([len(beads) for beads in both], _FOR_LEXICON), strict=True):
        parts.append(beside(each.lists["word"][side], beads[chosen, 2 * side : 2 * side + 2]))
    return together(parts)


def _shares(expected: Floats | None) -> Floats | None:
    """A word in twenty at least comes from nowhere, and no kind of evidence is ever given up."""
    if expected is None or expected.sum() <= 0:
        return None
    shares = (expected + 1.0) / (expected + 1.0).sum()
    shares[0] = max(shares[0], 0.05)
    return shares / shares.sum()


def _alone(sources: int, targets: int, priors: Floats) -> Found:
    beads = [(i, 1, 0, 0) for i in range(sources)] + [(0, 0, j, 1) for j in range(targets)]
    gains = [priors[1, 0]] * sources + [priors[0, 1]] * targets
    return Found(np.array(beads, np.int64).reshape(-1, 4), np.array(gains, np.float32))


def _characters(texts: Sequence[str]) -> Floats:
    return np.array([len(text) for text in texts], np.float64)


def _cut(unit: str, texts: Sequence[str]) -> TokenLists:
    return tokenize(texts) if unit == "word" else stems(texts)


def _backgrounds(lists: Sequence[tuple[TokenLists, TokenLists]]) -> tuple[Background, Background]:
    return background_of([each[0] for each in lists]), background_of([each[1] for each in lists])
