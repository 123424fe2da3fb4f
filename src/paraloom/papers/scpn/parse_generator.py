"""SCPN's parse generator: it reads the parse of a sentence and a template, and writes a full parse of the template."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from torch import nn

from paraloom.mt.data import pad
from paraloom.papers.scpn.copy_decoder import CopyDecoder, CopyNetwork
from paraloom.papers.scpn.layers import NO_DROPOUT, Dropout, SequenceEncoder
from paraloom.papers.scpn.network import Ids, LabelIds, Tensors, embedding

LAYERS = 1


class ParseGenerator(CopyNetwork):
    """LSTMs read parse and template, a `CopyDecoder` writes (Iyyer et al. 2018, §3.2; in their code `ParseNet`)."""

    kind: ClassVar[str] = "parse-generator"

    def __init__(self, labels: Sequence[int], separator: int, label_dim: int, hidden_dim: int) -> None:
        super().__init__(labels=list(labels), separator=separator, label_dim=label_dim, hidden_dim=hidden_dim)
        self.label_ids = LabelIds(labels, separator)
        self.padding = self.label_ids.padding
        self.labels = embedding(self.padding, label_dim)
        self.encoder = SequenceEncoder(label_dim, hidden_dim)
        self.decoder = CopyDecoder(self.padding, label_dim, hidden_dim, LAYERS)

    @property
    def written(self) -> nn.Embedding:
        """See `CopyNetwork`."""
        return self.labels

    def inputs(self, sources: Sequence[Ids]) -> Tensors:
        """Parses (b, s) and templates (b, m), int64, from subwords with the separator between both."""
        parts = [self.label_ids.split(row) for row in sources]
        parses, templates = (
            pad([self.label_ids.own(part[side]) for part in parts], self.padding).to(self.device) for side in (0, 1)
        )
        return parses, templates

    def encode(self, inputs: Tensors, drop: Dropout = NO_DROPOUT) -> Tensors:
        """Arguments of `CopyDecoder.start`."""
        parse, template = inputs
        mask, template_mask = parse != self.padding, template != self.padding
        states, last = self.encoder(drop(self.labels(parse)), mask)
        template_states, _ = self.encoder(drop(self.labels(template)), template_mask)
        return parse, mask, states, last, template_states, template_mask

    def own_ids(self, subwords: Ids) -> Ids:
        """See `RecurrentNetwork`."""
        return self.label_ids.own(subwords)

    def subword_ids(self, own: Sequence[int]) -> list[int]:
        """See `RecurrentNetwork`."""
        return [self.label_ids.subwords[one] for one in own]
