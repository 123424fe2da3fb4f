"""Everything that decides what a trained encoder is, besides its pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from paraloom.core.errors import ConfigError
from paraloom.embed.parts import PARTS
from paraloom.embed.spec import Spec, parse_spec


@dataclass(frozen=True, kw_only=True)
class PartsConfig:
    """What an encoder is put together of, and how its vectors start.

    spec: parts (embed.parts) and how they combine, `word,trigram` (concatenated) or `word+trigram` (summed).
    dimension: of each part.  word_entries, trigram_entries: the commonest so many get vectors.  subword_entries: pieces
    of the SentencePiece model that is learned.  word_scale, trigram_scale, subword_scale: standard deviation of the
    random vectors at the start; a mean over few words is longer than one over many trigrams, so words start shorter,
    or trigrams would hardly count beside them.
    damping: a unit that is a share p of all starts 1 / (1 + damping · p) as long, the weights of Arora et al. 2017;
    0: all alike.  ordered_scale: the same deviation for the words of parts that read them in order (LSTM, BLSTM,
    GRAN, GRU), which know no damping.  vector_pull, network_decay: W17's λ_w, which holds vectors to those at the
    start, and λ_c, which keeps a network's weights small.
    """

    spec: str = "word,trigram"
    dimension: int = 300
    word_entries: int = 50_000
    trigram_entries: int = 30_000
    subword_entries: int = 20_000
    word_scale: float = 0.03
    trigram_scale: float = 0.2
    subword_scale: float = 0.03
    ordered_scale: float = 0.1
    damping: float = 1000.0
    vector_pull: float = 0.0
    network_decay: float = 0.0

    def check(self) -> Spec:
        """The parsed spec; raises ConfigError that names the field which cannot be."""
        whole(self, "dimension", "word_entries", "trigram_entries", "subword_entries")
        positive(self, "word_scale", "trigram_scale", "subword_scale", "ordered_scale")
        for name in ("damping", "vector_pull", "network_decay"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise ConfigError(f"'{name}' is {value}, and must be a number from 0 on")
        spec = parse_spec(self.spec)
        if "token" in spec.units:
            raise ConfigError("the part 'token' is of models of others", remedy="Choose 'subword' to learn one's own.")
        return spec

    def entries(self, unit: str) -> int:
        """Size of the vocabulary of a kind of unit."""
        size: int = getattr(self, f"{unit}_entries")
        return size

    def scale(self, part: str) -> float:
        """Standard deviation of a part's vectors at the start."""
        kind = PARTS[part]
        deviation: float = self.ordered_scale if kind.ordered else getattr(self, f"{kind.unit}_scale")
        return deviation


@dataclass(frozen=True, kw_only=True)
class EncoderConfig(PartsConfig):
    """How to train an encoder on pairs; the defaults are PNMT §5's.

    epochs, batch (pairs), margin δ, megabatch M (mini-batches joined for the search of negatives), rate: Adam's.
    rising: M grows from 1 in the first epoch to megabatch in the last, by equal factors.
    two_sided: W17's loss, which draws a negative for the paraphrase too.  max_tokens: pairs with a longer side (in
    words) are left out.  scramble: share of the sentences whose words the parts that read in order get in an order
    drawn by chance (PNMT §5.3: 0.3).  precision: float32, or bfloat16, in which the networks of such parts then
    compute (weights stay float32): for GPUs, and processors that have instructions for it.
    """

    epochs: int = 5
    batch: int = 100
    megabatch: int = 20
    rising: bool = False
    margin: float = 0.4
    rate: float = 1e-3
    two_sided: bool = False
    max_tokens: int = 30
    scramble: float = 0.0
    precision: str = "float32"

    def check(self) -> Spec:
        """The parsed spec; raises ConfigError that names the field which cannot be."""
        whole(self, "epochs", "batch", "megabatch", "max_tokens")
        positive(self, "margin", "rate")
        if not 0 <= self.scramble <= 1:
            raise ConfigError(f"'scramble' is {self.scramble}, and must be a share from 0 to 1")
        if self.precision not in ("float32", "bfloat16"):
            raise ConfigError(f"'precision' is float32 or bfloat16, not '{self.precision}'")
        return super().check()

    def joined(self, epoch: int) -> int:
        """M, the mini-batches that are joined in an epoch, which counts from 0.

        >>> [EncoderConfig(megabatch=40, epochs=3, rising=True).joined(epoch) for epoch in range(3)]
        [1, 6, 40]
        """
        if not self.rising or self.epochs == 1:
            return self.megabatch
        return round(self.megabatch ** (epoch / (self.epochs - 1)))


def whole(config: object, *names: str) -> None:
    """Raises ConfigError that names the first of these fields which is not 1 or more."""
    for name in names:
        if getattr(config, name) < 1:
            raise ConfigError(f"'{name}' is {getattr(config, name)}, and must be 1 or more")


def positive(config: object, *names: str) -> None:
    """Raises ConfigError that names the first of these fields which is not finite and above 0."""
    for name in names:
        value = getattr(config, name)
        if not (math.isfinite(value) and value > 0):
            raise ConfigError(f"'{name}' is {value}, and must be a number above 0")
