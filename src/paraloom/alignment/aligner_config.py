"""Settings of the sentence aligner."""

from __future__ import annotations

from dataclasses import dataclass, field

from paraloom.alignment.priors import PriorModel
from paraloom.core.beads import MAX_BEAD_SIZE
from paraloom.core.config import check_range
from paraloom.core.errors import ConfigError, nearest

ORDERS = ("strict", "local")
"""Order of both texts: the same, or the same only within passages."""


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
        piece_cost: Cost of joining two beads that share a piece of a sentence, beside priors and lengths; see
            `shared_pieces`.
        length_contrast: How far two lengths count by how rare they are, 0 to 1; see `LengthEvidence`.
        background_tokens: Words that the evidence is assumed not to explain, beside those of the texts: with few words
            of their own, texts are mostly aligned by lengths and priors.  Without effect where lexicons are given: they
            were not learned from these texts.
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
    piece_cost: float = 2.0
    length_contrast: float = 0.5
    background_tokens: float = 300.0
    order: str = "strict"

    def check(self) -> None:
        """Raise ConfigError for a field that is out of range."""
        check_range(self, "max_bead_size", low=1, high=15)
        check_range(self, "length_weight", "word_weight", "prefix_weight", "embedding_weight", low=0)
        check_range(self, "rounds", low=0)
        check_range(self, "band_radius", low=1)
        check_range(self, "break_weight", "wordless_cost", "piece_cost", "background_tokens", low=0)
        check_range(self, "length_contrast", low=0, high=1)
        if self.order not in ORDERS:
            raise ConfigError(
                f"unknown order '{self.order}'{nearest(self.order, ORDERS)}", remedy="Choose strict or local."
            )
        self.priors.check()

    @property
    def units(self) -> dict[str, float]:
        """Weights of the kinds of tokens that are evidence."""
        weights = {"word": self.word_weight, "prefix": self.prefix_weight}
        return {unit: weight for unit, weight in weights.items() if weight > 0}
