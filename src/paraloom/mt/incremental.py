"""The network one word at a time, for decoding: keys and values of earlier words are kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from paraloom.mt.data import END_ID
from paraloom.mt.network import EMBEDDING, Forward, Shape, load_model


@dataclass
class DecoderState:
    """Where a decoder is in the hypotheses of a batch.

    Args:
        bias: (n, 1, 1, s): added to the scores of attention to the source.
        cross: Keys and values of the source in each layer, (n, heads, s, depth).
        own: Keys and values of the words so far in each layer, (n, heads, words, depth).
    """

    bias: Tensor
    cross: list[tuple[Tensor, Tensor]]
    own: list[tuple[Tensor, Tensor]] = field(default_factory=list)

    def select(self, rows: Tensor) -> DecoderState:
        """The state of some hypotheses."""

        def of(layers: list[tuple[Tensor, Tensor]]) -> list[tuple[Tensor, Tensor]]:
            return [(keys.index_select(0, rows), values.index_select(0, rows)) for keys, values in layers]

        return DecoderState(self.bias.index_select(0, rows), of(self.cross), of(self.own))


class IncrementalNetwork(Forward):
    """A network that predicts word after word.

    `<pad>`, the last word of the vocabulary, is not in the softmax, as in training and in CTranslate2.
    """

    def __init__(self, checkpoint: Path, device: str = "cpu") -> None:
        model = load_model(checkpoint).to(device).eval()
        parameters = {name: value.detach() for name, value in model.named_parameters()}
        positions = model.model.encoder.embed_positions.weight.detach()
        super().__init__(Shape.from_config(model.config), parameters, positions)
        self.device = torch.device(device)
        self.padding = int(model.config.pad_token_id)
        self.start_word = int(model.config.decoder_start_token_id)
        self._words = parameters[EMBEDDING][: self.padding]
        self._bias = model.final_logits_bias.detach()[0, : self.padding]

    @torch.no_grad()
    def start(self, source: Tensor, source_mask: Tensor) -> DecoderState:
        """Encode sources."""
        memory, bias = self.encode(source, source_mask)
        names = [f"model.decoder.layers.{layer}.encoder_attn" for layer in range(self.shape.decoder_layers)]
        return DecoderState(bias, [self._pair(name, memory) for name in names])

    @torch.no_grad()
    def step(self, words: Tensor, state: DecoderState) -> Tensor:
        """Predict the next word of each hypothesis. As in CTranslate2, the first one is not the end."""
        past = state.own[0][0].shape[2] if state.own else 0
        hidden = self._embed(words[:, None], past)
        own = []
        for layer in range(self.shape.decoder_layers):
            name = f"model.decoder.layers.{layer}"
            query, keys, values = self._project(f"{name}.self_attn", hidden, "qkv")
            if past:
                keys = torch.cat([state.own[layer][0], keys], 2)
                values = torch.cat([state.own[layer][1], values], 2)
            own.append((keys, values))
            attended = self._attend(f"{name}.self_attn", query, keys, values, hidden.new_zeros(()))
            hidden = self._add_norm(hidden, attended, f"{name}.self_attn_layer_norm")
            (query,) = self._project(f"{name}.encoder_attn", hidden, "q")
            attended = self._attend(f"{name}.encoder_attn", query, *state.cross[layer], state.bias)
            hidden = self._add_norm(hidden, attended, f"{name}.encoder_attn_layer_norm")
            hidden = self._add_norm(hidden, self._feed_forward(name, hidden), f"{name}.final_layer_norm")
        state.own = own
        logits = torch.addmm(self._bias, hidden[:, 0], self._words.t())
        if not past:
            logits[:, END_ID] = -torch.inf
        return logits.log_softmax(-1)

    @torch.no_grad()
    def score(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Tensor:
        """Log-probabilities of given words."""
        start = torch.full_like(target[:, :1], self.start_word)
        states = self(source, source_mask, torch.cat([start, target[:, :-1]], 1))
        logprobs = (states @ self._words.t() + self._bias).log_softmax(-1)
        padded = target == self.padding
        chosen = logprobs.gather(2, target.masked_fill(padded, 0)[:, :, None])[:, :, 0]
        return chosen.masked_fill(padded, 0.0)

    def _pair(self, name: str, memory: Tensor) -> tuple[Tensor, Tensor]:
        keys, values = self._project(name, memory, "kv")
        return keys, values
