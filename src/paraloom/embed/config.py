"""Configuration of an encoder and of its training on pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from paraloom.core.config import Config, check_range
from paraloom.core.errors import ConfigError
from paraloom.embed.spec import PARTS, Spec, parse_spec


@dataclass(frozen=True, kw_only=True)
class PartsConfig(Config):
    """Composition of an encoder and its initial vectors.

    Args:
        spec: Parts and how they combine: `word,trigram` concatenates them, `word+trigram` sums them (`embed.spec`).
        dimension: Dimension of each part.
        word_vocab_size: Number of words that get a vector, the most frequent ones.
        trigram_vocab_size: Number of character trigrams that get a vector, the most frequent ones.
        bigram_vocab_size: Number of bigrams of words that get a vector, the most frequent ones.
        ngram_vocab_size: Number of words and n-grams within words (`text.ngrams.word_ngrams`) that get a vector, the
            most frequent ones.
        subword_vocab_size: Number of pieces of the SentencePiece model that is learned, at most.
        word_init_std: Standard deviation of the initial random vectors of words. A mean of a few words is longer than
            one of many trigrams; therefore words start shorter than trigrams, whose influence would otherwise vanish.
        trigram_init_std: The same for trigrams.
        bigram_init_std: The same for bigrams of words. Small, so that a phrase starts as little more than its words.
        ngram_init_std: The same for n-grams within words. Small: what a rare one starts with is noise in every sentence
            that has it.
        subword_init_std: The same for subwords.
        recurrent_init_std: The same for the words of recurrent parts (LSTM, BLSTM, GRAN, GRU).
        frequency_damping: Initial vectors of a token type with relative frequency p are divided by 1 + damping * p, the
            weighting of Arora et al. 2017 (SIF); 0 weights all types equally. Recurrent parts ignore it.
        embedding_l2: λ_w of W17 §4.2: L2 penalty on the distance of vectors from their initial values.
        network_l2: λ_c of W17 §4.2: L2 penalty on the weights of recurrent networks.

    Raises:
        ConfigError: Names the field whose value is out of range.
    """

    spec: str = "word,trigram"
    dimension: int = 300
    word_vocab_size: int = 50_000
    trigram_vocab_size: int = 30_000
    bigram_vocab_size: int = 100_000
    ngram_vocab_size: int = 200_000
    subword_vocab_size: int = 20_000
    word_init_std: float = 0.03
    trigram_init_std: float = 0.2
    bigram_init_std: float = 0.01
    ngram_init_std: float = 0.02
    subword_init_std: float = 0.03
    recurrent_init_std: float = 0.1
    frequency_damping: float = 1000.0
    embedding_l2: float = 0.0
    network_l2: float = 0.0

    def validate(self) -> None:
        """Check the architecture and the ranges of all values."""
        super().validate()
        check_range(self, "dimension", "word_vocab_size", "trigram_vocab_size", low=1)
        check_range(self, "bigram_vocab_size", "ngram_vocab_size", "subword_vocab_size", low=1)
        check_range(self, "word_init_std", "trigram_init_std", "ngram_init_std", "subword_init_std", above=0)
        check_range(self, "bigram_init_std", "recurrent_init_std", above=0)
        check_range(self, "frequency_damping", "embedding_l2", "network_l2", low=0)
        if "token" in self.parsed_spec.units:
            raise ConfigError(
                "the part 'token' belongs to static models of other libraries and cannot be trained",
                remedy="Choose 'subword' to learn subwords from the training data.",
            )

    @property
    def parsed_spec(self) -> Spec:
        """`spec`, parsed."""
        return parse_spec(self.spec)

    def vocab_size(self, unit: str) -> int:
        """Get the size of a vocabulary.

        Args:
            unit: Its kind of token: 'word', 'trigram', 'bigram', 'ngram' or 'subword'.

        Returns:
            Maximum number of entries.
        """
        size: int = getattr(self, f"{unit}_vocab_size")
        return size

    def init_std(self, part: str) -> float:
        """Get the standard deviation of the initial vectors of a part.

        Args:
            part: Name of the part, such as 'word' or 'lstm'.

        Returns:
            The standard deviation, above 0.
        """
        kind = PARTS[part]
        std: float = self.recurrent_init_std if kind.recurrent else getattr(self, f"{kind.unit}_init_std")
        return std


@dataclass(frozen=True, kw_only=True)
class EncoderConfig(PartsConfig):
    """Configuration of the training of an encoder on pairs.

    The fields of `PartsConfig` come in addition.

    Args:
        epochs: Passes over the pairs.
        loss: `margin`, the loss of PNMT and W17 with hard negatives, or `softmax`: cross-entropy over all other pairs
            of the mini-batch, in both directions, which wants large batches.
        temperature: τ, by which `softmax` divides cosines.
        softmax_margin: m, which `softmax` subtracts from the cosine of each pair, so that it has to be nearer than the
            others by that much (Yang et al. 2019).
        batch_size: Pairs in a mini-batch.
        megabatch_size: M, the number of mini-batches that are searched together for hard negatives (PNMT §4.1).
        margin: δ of the margin loss.
        learning_rate: Learning rate of Adam.
        relative_learning_rate: Of Adam for the vectors of averages, relative to the root mean square of each one's
            initial values, so that frequent types, which damping makes short, stay short; 0 for `learning_rate`, the
            same for all, as in the papers.
        two_sided: Use the loss of W17 §4.2, with a negative for the paraphrase as well.
        max_tokens: Pairs with more words than this on a side are left out.
        scramble: Probability with which the words of a sentence are shuffled for recurrent parts, 0 to 1
            (PNMT §5.3: 0.3).
        precision: `float32`, or `bfloat16`, in which recurrent networks then compute (weights stay float32): for GPUs
            and for processors with bfloat16 instructions.

    Example:
        >>> EncoderConfig(spec="word", epochs=10, megabatch_size=40).dimension
        300
    """

    # Of earlier versions: runs and checkpoints that were made then stay valid.
    removed_fields: ClassVar[Mapping[str, Any]] = {
        **{"weight_epochs": 0, "weight_learning_rate": 0.01},
        **{"megabatch_warmup": False, "damp_vectors": False},
    }

    epochs: int = 5
    loss: Literal["margin", "softmax"] = "margin"
    temperature: float = 0.05
    softmax_margin: float = 0.0
    batch_size: int = 100
    megabatch_size: int = 20
    margin: float = 0.4
    learning_rate: float = 1e-3
    relative_learning_rate: float = 0.01
    two_sided: bool = False
    max_tokens: int = 30
    scramble: float = 0.0
    precision: Literal["float32", "bfloat16"] = "float32"

    def validate(self) -> None:
        """Check the architecture and the ranges of all values."""
        super().validate()
        check_range(self, "epochs", "batch_size", "megabatch_size", "max_tokens", low=1)
        check_range(self, "margin", "temperature", "learning_rate", above=0)
        check_range(self, "relative_learning_rate", low=0)
        check_range(self, "softmax_margin", low=0)
        check_range(self, "scramble", low=0, high=1)
