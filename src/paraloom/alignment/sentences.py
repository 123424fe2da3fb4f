"""Sentence alignment of two texts, n to m: the aligner learns from the texts themselves, in a few rounds."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from paraloom.alignment.breaks import inner_breaks
from paraloom.alignment.embeddings import EmbeddingEvidence
from paraloom.alignment.lengths import LengthContrast, LengthEvidence, LengthModel, fit_length_model
from paraloom.alignment.lexical import (
    Background,
    LexicalDirection,
    LexicalEvidence,
    estimate_background,
    word_prefixes,
)
from paraloom.alignment.lexicon import BilingualLexicon, bead_tokens, concatenate, learn_lexicon, spread_evenly
from paraloom.alignment.local_order import LocalSearch
from paraloom.alignment.local_parts import LocalAlignment, OrderedPart, Walls, restrict
from paraloom.alignment.long_gaps import long_gaps, with_gaps
from paraloom.alignment.nearest_words import encode_texts, encoder_lexicon
from paraloom.alignment.numbered_words import (
    NumberedWords,
    ObservedWords,
    expected_copies,
    number_expected,
    number_observed,
)
from paraloom.alignment.priors import PriorModel, count_kinds
from paraloom.alignment.search import (
    Alignment,
    Band,
    Evidence,
    LogPriors,
    band_along,
    best_alignment,
    path_from_anchors,
    path_from_beads,
    path_from_lengths,
)
from paraloom.alignment.wordless import WordlessEvidence
from paraloom.core.beads import MAX_BEAD_SIZE, Bead
from paraloom.core.config import check_range
from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.core.progress import progress
from paraloom.core.protocols import EncoderLike
from paraloom.text.tokens import TokenLists, tokenize

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Vectors = npt.NDArray[np.float32]
AnyAlignment = Alignment | LocalAlignment
LexiconPair = tuple[BilingualLexicon, BilingualLexicon]
"""From source to target, and from target to source."""
LearnedPair = tuple[BilingualLexicon | None, BilingualLexicon | None]
"""The same, as far as the texts were enough to learn one."""

ORDERS = ("strict", "local")
"""Whether both texts are in the same order, or only within passages."""

# Beads that a lexicon is learned from, at most.
_MAX_LEXICON_BEADS = 20_000


@dataclass(frozen=True, kw_only=True)
class AlignerConfig:
    """Settings of the sentence aligner.

    Args:
        max_bead_size: Sentences on one side of a bead at most, 1 to 15.
        length_weight: Weight of lengths in characters.
        word_weight: Weight of words, in both directions, each as far as it explains the texts.
        prefix_weight: Weight of the first characters of words.
        embedding_weight: Weight of sentence embeddings, where there are any, as far as words explain nothing.
        rounds: Alignments to learn from: priors of bead sizes, a lexicon, and how far to trust the evidence.  With 0
            the priors are fixed.
        learn_lexicon: Whether lexicons of words and of prefixes, learned in a round, are evidence in the next.
        band_radius: Boundaries on each side of the expected path that are searched, for texts too long for all.
        priors: How probable beads of each kind are.
        break_weight: Cost of a boundary between beads that is inside a sentence on one side only, such as in brackets.
        wordless_cost: Cost of a line without a word in a bead with words, see `wordless.WordlessEvidence`.
        length_contrast: How far two lengths count by how rare they are, 0 to 1; see `LengthContrast`.
        background_tokens: Words that the evidence is assumed not to explain, beside those of the texts: with few words
            of their own, texts are mostly aligned by lengths and priors.
        order: 'strict' where both texts are in the same order; 'local' where passages of one may have been moved: beads
            then cross where the evidence is strong.

    Example:
        >>> AlignerConfig(word_weight=0.0, prefix_weight=0.0, learn_lexicon=False).max_bead_size  # lengths alone
        5
    """

    max_bead_size: int = MAX_BEAD_SIZE
    length_weight: float = 1.0
    word_weight: float = 0.7
    prefix_weight: float = 0.5
    embedding_weight: float = 0.5
    rounds: int = 3
    learn_lexicon: bool = True
    band_radius: int = 16
    priors: PriorModel = field(default_factory=PriorModel)
    break_weight: float = 3.0
    wordless_cost: float = 3.0
    length_contrast: float = 0.5
    background_tokens: float = 300.0
    order: str = "strict"

    def check(self) -> None:
        """Raise ConfigError for a field that is out of range."""
        check_range(self, "max_bead_size", low=1, high=15)
        check_range(self, "length_weight", "word_weight", "prefix_weight", "embedding_weight", low=0)
        check_range(self, "rounds", low=0)
        check_range(self, "band_radius", low=1)
        check_range(self, "break_weight", "wordless_cost", "background_tokens", low=0)
        check_range(self, "length_contrast", low=0, high=1)
        check_order(self.order)
        self.priors.check()


@dataclass(frozen=True, eq=False)
class TextPair:
    """Two texts to align, sentence by sentence, with their translations.

    Args:
        source: m sentences.
        target: n sentences.
        source_translations: Translations of `source` into the target language, each of m sentences.
        target_translations: Translations of `target` into the source language, each of n sentences.
        embeddings: Sentence embeddings in one space, float32 (m, d) and (n, d); by an encoder of both languages, or of
            one language into which the other text was translated.

    Raises:
        DataError: A translation or the embeddings have another length, or the embeddings are not finite.
    """

    source: Sequence[str]
    target: Sequence[str]
    source_translations: Sequence[Sequence[str]] = ()
    target_translations: Sequence[Sequence[str]] = ()
    embeddings: tuple[Vectors, Vectors] | None = None

    def __post_init__(self) -> None:
        for side, text, translations in (
            ("source", self.source, self.source_translations),
            ("target", self.target, self.target_translations),
        ):
            for number, translation in enumerate(translations, 1):
                if len(translation) != len(text):
                    raise DataError(
                        f"the {side} has {len(text):,} sentences, its translation {number} has {len(translation):,}",
                        remedy="Give one translated line for each sentence, in the same order.",
                    )
        if self.embeddings is not None:
            sizes, expected = [len(side) for side in self.embeddings], [len(self.source), len(self.target)]
            if sizes != expected:
                raise DataError(f"expected one embedding for each sentence, {expected}, got {sizes}")
            shapes = [np.shape(side) for side in self.embeddings]
            if len(shapes[0]) != 2 or shapes[0][1:] != shapes[1][1:]:
                raise DataError(
                    f"the embeddings of source and target have the shapes {shapes[0]} and {shapes[1]}",
                    remedy="Give (m, d) and (n, d), encoded by the same encoder.",
                )
            for side, vectors in zip(("source", "target"), self.embeddings, strict=True):
                with np.errstate(over="ignore", invalid="ignore"):
                    norms = np.linalg.norm(np.asarray(vectors, np.float32), axis=1)
                if not np.isfinite(norms).all():
                    raise DataError(
                        f"the embedding of {side} sentence {int(np.argmin(np.isfinite(norms)))} is not finite, or too "
                        "large",
                        remedy="Encode the sentences again.",
                    )


@dataclass(frozen=True, eq=False)
class SentenceAligner:
    """A sentence aligner that was fitted to some texts; see `fit_aligner`.

    Args:
        config: Its settings.
        priors: Log-probabilities of beads by their numbers of sentences.
        backgrounds: By unit (`word`, `prefix`), the unigram probabilities of source and target.
        weights: By unit, the mixture weights of each direction, see `LexicalDirection`.
        learned: By unit, the lexicons of the last round, from source to target and back.
        lexicons: Lexicons that were given, each from source to target and back.
        lengths: How the lengths of corresponding sentences relate.
    """

    config: AlignerConfig
    priors: LogPriors
    backgrounds: dict[str, tuple[Background, Background]]
    weights: dict[str, tuple[Floats, Floats]] = field(default_factory=dict)
    learned: dict[str, LearnedPair] = field(default_factory=dict)
    lexicons: tuple[LexiconPair, ...] = ()
    lengths: LengthModel | None = None

    def align(self, pair: TextPair) -> list[Bead]:
        """Align a pair of texts by what was learned from it or from others.

        Args:
            pair: The texts; they need not be those that the aligner was fitted to.

        Returns:
            The beads in order; every sentence is in one of them.
        """
        return to_beads(_search(_PreparedPair(pair, self.config, self.lexicons), self.config).align(self))


def align(
    source: Sequence[str],
    target: Sequence[str],
    *,
    source_translation: Sequence[str] | None = None,
    target_translation: Sequence[str] | None = None,
    embeddings: tuple[Vectors, Vectors] | None = None,
    lexicon: LexiconPair | None = None,
    encoder: EncoderLike | None = None,
    config: AlignerConfig | None = None,
) -> list[Bead]:
    """Align the sentences of two texts that are translations of each other, n to m.

    Works without any resource: lengths, shared words and a lexicon learned from the two texts are the evidence.
    Translations or embeddings make it more accurate.  To align many texts of one kind, use `fit_aligner`.

    Args:
        source: m sentences.
        target: n sentences.
        source_translation: `source` in the target language, m sentences.
        target_translation: `target` in the source language, n sentences.
        embeddings: Sentence embeddings in one space, float32 (m, d) and (n, d).
        lexicon: Bilingual lexicons from source to target and back, see `lexicon.read_lexicon`.
        encoder: An encoder of both languages: its vectors of words are evidence, and without a translation those of
            sentences.
        config: Settings; by default beads of at most `MAX_BEAD_SIZE` sentences a side.

    Returns:
        The beads in order; every sentence is in one of them, and a sentence without a counterpart is in a bead with
        an empty other side.  `score` is the bead's natural log-likelihood ratio, higher is better.

    Raises:
        TypeError: A text is not a list of strings.
        DataError: A translation or the embeddings do not have one entry for each sentence.
        ConfigError: A setting is out of range.

    Example:
        >>> beads = align(["Paris 1900.", "Berlin 1901."], ["Paris 1900.", "Berlin", "1901."])
        >>> [(bead.source, bead.target) for bead in beads]
        [((0,), (0,)), ((1,), (1, 2))]
    """
    for text in (source, target, source_translation, target_translation):
        if isinstance(text, str):
            raise TypeError(f"expected a list of sentences, got the string {text[:40]!r}")
        for position, sentence in enumerate(text or ()):
            if not isinstance(sentence, str):
                raise TypeError(f"expected a list of sentences, got {type(sentence).__name__} at position {position}")
    source_translations = () if source_translation is None else (source_translation,)
    target_translations = () if target_translation is None else (target_translation,)
    lexicons = [] if lexicon is None else [lexicon]
    if encoder is not None:
        lexicons += encoder_lexicon(encoder, [source], [target])
        if embeddings is None and not source_translations and not target_translations:
            embeddings = encode_texts(encoder, source, target)
    pair = TextPair(source, target, source_translations, target_translations, embeddings)
    return align_pair(pair, config, lexicons)


def align_pair(pair: TextPair, config: AlignerConfig | None = None, lexicons: Sequence[LexiconPair] = ()) -> list[Bead]:
    """Align a pair of texts that may have several translations on each side; otherwise as `align`.

    Args:
        pair: The texts.
        config: Settings.
        lexicons: Bilingual lexicons, each from source to target and back.

    Returns:
        The beads in order; every sentence is in one of them.

    Raises:
        ConfigError: A setting is out of range.
    """
    config = _checked(config)
    prepared = _PreparedPair(pair, config, lexicons)
    aligner, alignments = _fit([prepared], config, lexicons)
    return to_beads(_search(prepared, config).align(aligner, alignments[0]))


def fit_aligner(
    pairs: Sequence[TextPair], config: AlignerConfig | None = None, lexicons: Sequence[LexiconPair] = ()
) -> SentenceAligner:
    """Learn how to align texts from the texts themselves, in `config.rounds` rounds.

    Args:
        pairs: Texts of one kind; all have the same number of translations.
        config: Settings.
        lexicons: Bilingual lexicons as further evidence, each from source to target and back.

    Raises:
        DataError: `pairs` is empty, or some have more translations than others.
        ConfigError: A setting is out of range.

    Example:
        >>> pairs = [TextPair(["Paris 1900.", "Berlin 1901."], ["Paris 1900.", "Berlin 1901."])]
        >>> [(bead.source, bead.target) for bead in fit_aligner(pairs).align(pairs[0])]
        [((0,), (0,)), ((1,), (1,))]
    """
    if not pairs:
        raise DataError("expected texts to learn from, got none", remedy="Give one pair of texts or more.")
    if len({(len(pair.source_translations), len(pair.target_translations)) for pair in pairs}) > 1:
        raise DataError(
            "some of the texts have more translations than others", remedy="Translate all texts, or none of them."
        )
    config = _checked(config)
    return _fit([_PreparedPair(pair, config, lexicons) for pair in pairs], config, lexicons)[0]


def to_beads(alignment: AnyAlignment) -> list[Bead]:
    """The beads of an alignment as lists of sentence indices.

    Args:
        alignment: The best path.
    """
    rows = zip(alignment.beads.tolist(), alignment.gains.tolist(), strict=True)
    return [Bead(tuple(range(i, i + a)), tuple(range(j, j + b)), gain) for (i, a, j, b), gain in rows]


class _PreparedPair:
    """A pair of texts, tokenized and numbered once for all rounds."""

    def __init__(self, pair: TextPair, config: AlignerConfig, lexicons: Sequence[LexiconPair]) -> None:
        self.sizes = (len(pair.source), len(pair.target))
        self.characters = (_characters(pair.source), _characters(pair.target))
        self.breaks = inner_breaks(pair.source, pair.target)
        self.texts = pair.source, pair.target
        self.embeddings: EmbeddingEvidence | None = None
        if pair.embeddings is not None and config.embedding_weight > 0 and min(self.sizes):
            words = tokenize(pair.source).lengths, tokenize(pair.target).lengths
            self.embeddings = EmbeddingEvidence(*pair.embeddings, words)
        self.walls: Walls | None = None
        self.lists: dict[str, tuple[TokenLists, TokenLists]] = {}
        self.observed: dict[str, tuple[ObservedWords, ObservedWords]] = {}
        self.expected: dict[str, tuple[list[NumberedWords], list[NumberedWords]]] = {}
        for unit in _units(config):
            lists = self.lists[unit] = _tokenize(unit, pair.source), _tokenize(unit, pair.target)
            self.observed[unit] = number_observed(lists[0]), number_observed(lists[1])
            self.expected[unit] = [], []
            for side, translations in enumerate((pair.source_translations, pair.target_translations)):
                copies = [lists[side], *(_tokenize(unit, translation) for translation in translations)]
                expected = [expected_copies(words) for words in copies]
                if unit == "word":
                    expected += [lexicon[side].expected_words(lists[side]) for lexicon in lexicons]
                types = self.observed[unit][1 - side].types
                self.expected[unit][side].extend(
                    number_expected(words, lists[side].lengths, types) for words in expected
                )

    def select(self, source: Ints, target: Ints) -> _PreparedPair:
        """Some of the sentences, by rows; no bead joins sentences that were not next to each other."""
        selected = copy.copy(self)
        selected.sizes = (len(source), len(target))
        selected.walls = Walls(source, target)
        selected.characters = self.characters[0][source], self.characters[1][target]
        selected.breaks = _breaks_at(self.breaks[0], source), _breaks_at(self.breaks[1], target)
        selected.texts = [self.texts[0][row] for row in source], [self.texts[1][row] for row in target]
        if self.embeddings is not None:
            selected.embeddings = self.embeddings.select(source, target)
        selected.lists, selected.observed, selected.expected = {}, {}, {}
        for unit, lists in self.lists.items():
            selected.lists[unit] = _rows_of(lists[0], source), _rows_of(lists[1], target)
            observed, expected = self.observed[unit], self.expected[unit]
            selected.observed[unit] = observed[0].select(source), observed[1].select(target)
            selected.expected[unit] = (
                [words.select(source) for words in expected[0]],
                [words.select(target) for words in expected[1]],
            )
        return selected

    def anchors(self, aligner: SentenceAligner) -> tuple[Ints, Ints, Floats]:
        """Pairs of sentences that share rare expected words, or are each other's nearest; rows, columns, weights."""
        sets = [] if self.embeddings is None else [self.embeddings.anchors()]
        for unit in _units(aligner.config):
            forward, backward = self.directions(unit, aligner)
            columns, rows, weights = backward.anchors()
            sets += [forward.anchors(), (rows, columns, weights)]
        rows, columns, weights = (np.concatenate([anchors[field] for anchors in sets]) for field in range(3))
        return rows, columns, weights

    def directions(self, unit: str, aligner: SentenceAligner) -> tuple[LexicalDirection, LexicalDirection]:
        """The mixture models in which the source predicts, and in which the target predicts."""
        directions = []
        for side in (0, 1):
            lists, observed = self.lists[unit][side], self.observed[unit][1 - side]
            expected = list(self.expected[unit][side])
            learned = aligner.learned.get(unit, (None, None))[side]
            if learned is not None:
                expected.append(number_expected(learned.expected_words(lists), lists.lengths, observed.types))
            weights = aligner.weights.get(unit, (None, None))[side]
            if weights is None or len(weights) != len(expected) + 1:
                weights = np.array([0.8, *[0.2 / len(expected)] * len(expected)])
            background = aligner.backgrounds[unit][1 - side]
            directions.append(LexicalDirection(expected, lists.lengths, observed, background, weights))
        return directions[0], directions[1]

    def align(self, aligner: SentenceAligner, previous: AnyAlignment | None = None) -> Alignment:
        """The best alignment, searched for near that of the previous round."""
        sources, targets = self.sizes
        config = aligner.config
        if not sources or not targets:
            return _unaligned(sources, targets, aligner.priors)
        evidence: list[Evidence] = []
        anchors = []
        if config.length_weight > 0:
            evidence.append(LengthEvidence(*self.characters, config.length_weight, model=aligner.lengths))
            contrast = config.length_weight * config.length_contrast
            evidence.append(LengthContrast(*self.characters, config.max_bead_size, contrast, aligner.lengths))
        if self.walls is not None:
            evidence.append(self.walls)
        if config.wordless_cost > 0:
            evidence.append(WordlessEvidence(*self.texts, config.wordless_cost))
        unexplained = 1.0
        for unit, weight in _units(config).items():
            forward, backward = self.directions(unit, aligner)
            evidence.append(LexicalEvidence(forward, backward, weight))
            if unit == "word":
                unexplained -= (forward.explained_share + backward.explained_share) / 2
            if unit == "word" and previous is None and targets > 2 * config.band_radius:
                anchors.append(forward.anchors())
                columns, rows, weights = backward.anchors()
                anchors.append((rows, columns, weights))
        if self.embeddings is not None:
            evidence.append(self.embeddings.weighted(config.embedding_weight * unexplained))

        breaks = config.break_weight * self.breaks[0], config.break_weight * self.breaks[1]
        path = path_from_anchors(anchors, sources, targets) if anchors else None
        if previous is not None:
            path = path_from_beads(previous.beads, sources)
        gaps = long_gaps(path, 4 * config.band_radius) if path is not None else ()
        if len(gaps):
            return self._align_without(np.asarray(gaps), aligner, previous)
        if path is None:
            path = path_from_lengths(*self.characters)

        def make_band(radius: int) -> Band:
            narrow = previous is not None
            return band_along(path, targets, radius // 2 if narrow else radius, 2 if narrow else 8)

        return best_alignment(evidence, aligner.priors, sources, targets, make_band, config.band_radius, breaks)

    def _align_without(self, gaps: Ints, aligner: SentenceAligner, previous: AnyAlignment | None) -> Alignment:
        """The best alignment in which some target sentences, far from the expected path, have no counterpart."""
        rows = np.arange(self.sizes[0]), np.setdiff1d(np.arange(self.sizes[1]), gaps)
        whole = np.arange(self.sizes[0]), np.arange(self.sizes[1])
        near = None
        if previous is not None:
            near = restrict(OrderedPart(whole, Alignment(previous.beads, previous.gains)), rows)
        return with_gaps(OrderedPart(rows, self.select(*rows).align(aligner, near)), gaps, aligner.priors)


def _search(pair: _PreparedPair, config: AlignerConfig) -> _PreparedPair | LocalSearch:
    """What aligns a pair in the order of the configuration."""
    return LocalSearch(pair) if config.order == "local" else pair


def _breaks_at(breaks: Floats, rows: Ints) -> Floats:
    """Whether the boundary before each of some sentences is inside a sentence; the end is not."""
    return np.append(breaks[rows], 0.0)


def _rows_of(lists: TokenLists, rows: Ints) -> TokenLists:
    return bead_tokens(lists, np.stack([rows, np.ones(len(rows), np.int64)], axis=1))


def _fit(
    prepared: Sequence[_PreparedPair], config: AlignerConfig, lexicons: Sequence[LexiconPair]
) -> tuple[SentenceAligner, list[AnyAlignment | None]]:
    """The aligner after all rounds, and the alignments of the last round."""
    aligner = SentenceAligner(
        config,
        config.priors.log_priors(Counter(), config.max_bead_size),
        {unit: _backgrounds([pair.lists[unit] for pair in prepared]) for unit in _units(config)},
        lexicons=tuple(lexicons),
    )
    alignments: list[AnyAlignment | None] = [None] * len(prepared)
    with progress("learning to align", config.rounds * len(prepared), unit="texts") as advance:
        for number in range(1, config.rounds + 1):
            for index, pair in enumerate(prepared):
                # What was moved is found by a lexicon, of which there is none in the first rounds.
                search = _search(pair, config) if number == config.rounds else pair
                alignments[index] = search.align(aligner, alignments[index])
                advance(1)
            beads = [alignment.beads for alignment in alignments if alignment is not None]
            aligner = _refit(prepared, beads, aligner)
    return aligner, alignments


def _refit(prepared: Sequence[_PreparedPair], alignments: Sequence[Ints], aligner: SentenceAligner) -> SentenceAligner:
    """The aligner with everything re-estimated from an alignment of the texts."""
    config = aligner.config
    weights = {}
    for unit in _units(config):
        sides = []
        for side in (0, 1):
            total: Floats | None = None
            for pair, beads in zip(prepared, alignments, strict=True):
                if min(pair.sizes):
                    counts = pair.directions(unit, aligner)[side].mixture_counts(beads, bool(side))
                    total = counts if total is None else total + counts
            sides.append(_mixture_weights(total, config.background_tokens))
        if sides[0] is not None and sides[1] is not None:
            weights[unit] = (sides[0], sides[1])
    learned = {}
    for unit in _units(config) if config.learn_lexicon else ():
        source, target = (_lexicon_side(prepared, alignments, unit, side) for side in (0, 1))
        learned[unit] = (learn_lexicon(source, target), learn_lexicon(target, source))
    lengths = fit_length_model([pair.characters for pair in prepared], alignments)
    priors = config.priors.log_priors(count_kinds(alignments), config.max_bead_size)
    return replace(aligner, priors=priors, weights=weights, learned=learned, lengths=lengths)


def _lexicon_side(prepared: Sequence[_PreparedPair], alignments: Sequence[Ints], unit: str, side: int) -> TokenLists:
    """The words or prefixes of one side of the two-sided beads, or of a sample spread over the texts."""
    both = [beads[(beads[:, 1] > 0) & (beads[:, 3] > 0)] for beads in alignments]
    samples = spread_evenly([len(beads) for beads in both], _MAX_LEXICON_BEADS)
    parts = []
    for pair, beads, sample in zip(prepared, both, samples, strict=True):
        parts.append(bead_tokens(pair.lists[unit][side], beads[sample, 2 * side : 2 * side + 2]))
    return concatenate(parts)


def _mixture_weights(counts: Floats | None, background_tokens: float) -> Floats | None:
    """Smoothed mixture weights; the background keeps at least a twentieth."""
    if counts is None or counts.sum() <= 0:
        return None
    counts = counts + 1.0
    counts[0] += background_tokens
    weights: Floats = counts / counts.sum()
    weights[0] = max(weights[0], 0.05)
    weights /= weights.sum()
    return weights


def _unaligned(sources: int, targets: int, priors: LogPriors) -> Alignment:
    beads = [(i, 1, 0, 0) for i in range(sources)] + [(0, 0, j, 1) for j in range(targets)]
    gains = [priors.kinds[1, 0]] * sources + [priors.kinds[0, 1]] * targets
    return Alignment(np.array(beads, np.int64).reshape(-1, 4), np.array(gains, np.float32))


def check_order(order: str) -> None:
    """Check a value of `AlignerConfig.order`.

    Args:
        order: 'strict' or 'local'.

    Raises:
        ConfigError: It is another one.
    """
    if order not in ORDERS:
        raise ConfigError(f"unknown order '{order}'{nearest(order, ORDERS)}", remedy="Choose strict or local.")


def _checked(config: AlignerConfig | None) -> AlignerConfig:
    config = config or AlignerConfig()
    config.check()
    return config


def _units(config: AlignerConfig) -> dict[str, float]:
    """Weights of the kinds of tokens that are evidence."""
    weights = {"word": config.word_weight, "prefix": config.prefix_weight}
    return {unit: weight for unit, weight in weights.items() if weight > 0}


def _characters(texts: Sequence[str]) -> Floats:
    return np.array([len(text) for text in texts], np.float64)


def _tokenize(unit: str, texts: Sequence[str]) -> TokenLists:
    return tokenize(texts) if unit == "word" else word_prefixes(texts)


def _backgrounds(lists: Sequence[tuple[TokenLists, TokenLists]]) -> tuple[Background, Background]:
    return estimate_background([source for source, _ in lists]), estimate_background([target for _, target in lists])
