"""Sentence alignment of two texts, n to m: the aligner learns from the texts themselves, in a few rounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from paraloom.alignment.aligner_config import AlignerConfig
from paraloom.alignment.lengths import fit_length_model
from paraloom.alignment.lexical import Background, estimate_background
from paraloom.alignment.lexicon import concatenate, learn_lexicon, spread_evenly
from paraloom.alignment.local_parts import AnyAlignment
from paraloom.alignment.prepared_pairs import LearnedState, LexiconPair
from paraloom.alignment.priors import count_kinds
from paraloom.alignment.text_pairs import TextPair
from paraloom.alignment.windows import MixtureCounts, TextWindows
from paraloom.core.array_types import Floats, Ints
from paraloom.core.beads import Bead
from paraloom.core.errors import DataError
from paraloom.core.progress import progress
from paraloom.text.tokens import TokenLists

# Beads that a lexicon is learned from, at most.
_MAX_LEXICON_BEADS = 20_000
# Beads that are lists of numbers at a time.
_BEADS = 10_000


class SentenceAligner(LearnedState):
    """A sentence aligner that was fitted to some texts; see `fit_aligner`."""

    def align(self, pair: TextPair) -> list[Bead]:
        return to_beads(TextWindows(pair, self.config, self.lexicons).align(self, order=self.config.order))


def align_pair(pair: TextPair, config: AlignerConfig | None = None, lexicons: Sequence[LexiconPair] = ()) -> list[Bead]:
    """Align a pair of texts, n to m, by lengths, shared words, a learned lexicon, and what else the pair has."""
    config = _checked(config)
    text = TextWindows(pair, config, lexicons)
    aligner, alignments = _fit([text], config, lexicons)
    return to_beads(text.align(aligner, alignments[0], config.order))


def fit_aligner(
    pairs: Sequence[TextPair], config: AlignerConfig | None = None, lexicons: Sequence[LexiconPair] = ()
) -> SentenceAligner:
    """Learn how to align texts from the texts themselves, in `config.rounds` rounds."""
    if not pairs:
        raise DataError("expected texts to learn from, got none", remedy="Give one pair of texts or more.")
    if len({(len(pair.source_translations), len(pair.target_translations)) for pair in pairs}) > 1:
        raise DataError(
            "some of the texts have more translations than others", remedy="Translate all texts, or none of them."
        )
    config = _checked(config)
    return _fit([TextWindows(pair, config, lexicons) for pair in pairs], config, lexicons)[0]


def to_beads(alignment: AnyAlignment) -> list[Bead]:
    result = []
    for start in range(0, len(alignment.beads), _BEADS):
        beads, gains = (values[start : start + _BEADS].tolist() for values in (alignment.beads, alignment.gains))
        rows = zip(beads, gains, strict=True)
        result += [Bead(tuple(range(i, i + a)), tuple(range(j, j + b)), gain) for (i, a, j, b), gain in rows]
    return result


def _fit(
    texts: Sequence[TextWindows], config: AlignerConfig, lexicons: Sequence[LexiconPair]
) -> tuple[SentenceAligner, list[AnyAlignment | None]]:
    """The aligner after all rounds, and the alignments of the last round."""
    aligner = SentenceAligner(
        config,
        config.priors.log_priors(Counter(), config.max_bead_size),
        {unit: (_background(texts, unit, 0), _background(texts, unit, 1)) for unit in config.units},
        lexicons=tuple(lexicons),
    )
    alignments: list[AnyAlignment | None] = [None] * len(texts)
    with progress("learning to align", config.rounds * len(texts), unit="texts") as advance:
        for number in range(1, config.rounds + 1):
            # What was moved is found by a lexicon, of which there is none in the first rounds.
            order = config.order if number == config.rounds else "strict"
            counts: MixtureCounts = {}
            for index, text in enumerate(texts):
                alignments[index] = text.align(aligner, alignments[index], order, counts)
                advance(1)
            beads = [alignment.beads for alignment in alignments if alignment is not None]
            aligner = _refit(texts, beads, aligner, counts)
    return aligner, alignments


def _refit(
    texts: Sequence[TextWindows], alignments: Sequence[Ints], aligner: SentenceAligner, counts: MixtureCounts
) -> SentenceAligner:
    config = aligner.config
    # How far lexicons that were learned from other texts explain these ones can be trusted more.
    background_tokens = 0.0 if aligner.lexicons else config.background_tokens
    weights = {}
    for unit in config.units:
        forward, backward = (_mixture_weights(counts.get((unit, side)), background_tokens) for side in (0, 1))
        if forward is not None and backward is not None:
            weights[unit] = (forward, backward)
    learned = {}
    for unit in config.units if config.learn_lexicon else ():
        source, target = (_lexicon_side(texts, alignments, unit, side) for side in (0, 1))
        learned[unit] = (learn_lexicon(source, target), learn_lexicon(target, source))
    lengths = fit_length_model([text.characters() for text in texts], alignments)
    priors = config.priors.log_priors(count_kinds(alignments), config.max_bead_size)
    return replace(aligner, priors=priors, weights=weights, learned=learned, lengths=lengths)


def _lexicon_side(texts: Sequence[TextWindows], alignments: Sequence[Ints], unit: str, side: int) -> TokenLists:
    """The words or prefixes of one side of the two-sided beads, or of a sample spread over the texts."""
    both = [beads[(beads[:, 1] > 0) & (beads[:, 3] > 0)] for beads in alignments]
    samples = spread_evenly([len(beads) for beads in both], _MAX_LEXICON_BEADS)
    parts = []
    for text, beads, sample in zip(texts, both, samples, strict=True):
        parts.append(text.bead_tokens(unit, side, beads[sample, 2 * side : 2 * side + 2]))
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


def _checked(config: AlignerConfig | None) -> AlignerConfig:
    config = config or AlignerConfig()
    config.check()
    return config


def _background(texts: Sequence[TextWindows], unit: str, side: int) -> Background:
    return estimate_background(lists for text in texts for lists in text.tokens(unit, side))
