"""SCPN's paraphrase generator: it reads a sentence and the full parse of its paraphrase, and writes the paraphrase."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from torch import nn

from paraloom.mt.data import pad
from paraloom.papers.scpn.copy_decoder import CopyDecoder, CopyNetwork
from paraloom.papers.scpn.layers import NO_DROPOUT, Dropout, SequenceEncoder
from paraloom.papers.scpn.network import Ids, LabelIds, Tensors, embedding

LAYERS = 2


class ParaphraseGenerator(CopyNetwork):
    """LSTMs read sentence and parse, a `CopyDecoder` writes (Iyyer et al. 2018, §3.1; in their code `SCPN`)."""

    kind: ClassVar[str] = "paraphrase-generator"

    def __init__(
        self,
        vocab_size: int,
        word_dim: int,
        hidden_dim: int,
        labels: Sequence[int],
        separator: int,
        label_dim: int,
        parse_dim: int,
    ) -> None:
        sizes = {"vocab_size": vocab_size, "word_dim": word_dim, "hidden_dim": hidden_dim, "label_dim": label_dim}
        super().__init__(**sizes, labels=list(labels), separator=separator, parse_dim=parse_dim)
        self.padding = vocab_size
        self.label_ids = LabelIds(labels, separator)
        self.words = embedding(vocab_size, word_dim)
        self.labels = embedding(self.label_ids.padding, label_dim)
        self.encoder = SequenceEncoder(word_dim, hidden_dim, both=True)
        self.parse_encoder = SequenceEncoder(label_dim, parse_dim)
        self.parse_projection = nn.Linear(parse_dim, hidden_dim)
        self.decoder = CopyDecoder(vocab_size, word_dim, hidden_dim, LAYERS)

    @property
    def written(self) -> nn.Embedding:
        """See `CopyNetwork`."""
        return self.words

    def inputs(self, sources: Sequence[Ids]) -> Tensors:
        """Sentences (b, s) and parses (b, m), int64, from subwords with the separator between both."""
        parts = [self.label_ids.split(row) for row in sources]
        sentences = pad([sentence for sentence, _ in parts], self.padding)
        parses = pad([self.label_ids.own(parse) for _, parse in parts], self.label_ids.padding)
        return sentences.to(self.device), parses.to(self.device)

    def encode(self, inputs: Tensors, drop: Dropout = NO_DROPOUT) -> Tensors:
        """Arguments of `CopyDecoder.start`."""
        source, parse = inputs
        mask, parse_mask = source != self.padding, parse != self.label_ids.padding
        states, last = self.encoder(drop(self.words(source)), mask)
        parse_states, _ = self.parse_encoder(drop(self.labels(parse)), parse_mask)
        return source, mask, states, last, self.parse_projection(parse_states), parse_mask
