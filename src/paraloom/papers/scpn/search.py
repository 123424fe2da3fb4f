"""Beam search over the tokens of a recurrent network, in batches, with beginnings that are forced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from paraloom.mt.data import END_ID
from paraloom.papers.scpn.network import RecurrentNetwork, Tensors


class WrittenTokens(NamedTuple):
    """Output of a network."""

    ids: tuple[int, ...]
    logprob: float
    cut: bool = False

    @property
    def tokens(self) -> int:
        """Tokens that were scored: the end is one of them."""
        return len(self.ids) + (not self.cut)

    def score(self, length_penalty: float) -> float:
        """Score by which hypotheses compete: logprob / tokens ** length_penalty."""
        return self.logprob / max(1, self.tokens) ** length_penalty


def selected(tensors: Tensors, rows: Tensor) -> Tensors:
    """Rows of tensors, each of which has a batch as its first dimension."""
    return tuple(tensor.index_select(0, rows) for tensor in tensors)


def forced(log_probs: Tensor, tokens: Sequence[int | None]) -> Tensor:
    """Log-probabilities in which a token that is forced has probability 1, and no other is possible."""
    rows = [row for row, token in enumerate(tokens) if token is not None]
    if rows:
        log_probs = log_probs.clone()
        log_probs[rows] = -torch.inf
        log_probs[rows, [token for token in tokens if token is not None]] = 0.0
    return log_probs


@torch.inference_mode()
def beam_search(
    network: RecurrentNetwork,
    memory: Tensors,
    prefixes: Sequence[Sequence[int]],
    limits: Sequence[int],
    *,
    size: int = 5,
    nbest: int = 1,
    length_penalty: float = 1.0,
) -> list[list[WrittenTokens]]:
    """The most likely outputs of a beam; a row ends with as many ended hypotheses as places, or at its limit."""
    rows = list(range(len(prefixes)))
    done: list[list[WrittenTokens]] = [[] for _ in prefixes]
    device = memory[0].device
    # The tensors hold the beams of the rows that are searched, one after the other.
    places = torch.arange(len(rows), device=device).repeat_interleave(size)
    memory = selected(memory, places)
    state = network.start(memory)
    scores = torch.full((len(rows), size), -torch.inf, device=device)
    scores[:, 0] = 0.0
    written = torch.empty((len(rows), size, 0), dtype=torch.int64, device=device)
    previous = torch.full((len(places),), network.padding, device=device)
    for position in range(max((len(p) + n for p, n in zip(prefixes, limits, strict=True)), default=0)):
        log_probs, state = network.step(previous, state, memory)
        tokens = [prefixes[row][position] if position < len(prefixes[row]) else None for row in rows]
        log_probs = forced(log_probs, [token for token in tokens for _ in range(size)])
        totals = (scores[:, :, None] + log_probs.view(len(rows), size, -1)).flatten(1)
        # Twice as many: up to `size` of them end, and as many must be left.
        best, index = totals.topk(min(2 * size, totals.shape[1]))
        origins, chosen = index // network.padding, index % network.padding
        ended = (chosen == END_ID) & best.isfinite()
        ends = ended.tolist()
        for number, row in enumerate(rows):
            if tokens[number] is None:
                for rank in [rank for rank, end in enumerate(ends[number][:size]) if end]:
                    ids = written[number, origins[number, rank], len(prefixes[row]) :].tolist()
                    done[row].append(WrittenTokens(tuple(ids), float(best[number, rank])))
        # Those that go further, in order: the ended ones last.
        order = ended.to(torch.int8).argsort(dim=1, stable=True)[:, :size]
        if order.shape[1] < size:
            order = torch.cat([order, order[:, -1:].expand(-1, size - order.shape[1])], 1)
        scores = best.masked_fill(ended, -torch.inf).gather(1, order)
        scores[:, index.shape[1] :] = -torch.inf
        origins, chosen = origins.gather(1, order), chosen.gather(1, order)
        written = torch.cat([written.gather(1, origins[:, :, None].expand(-1, -1, position)), chosen[:, :, None]], 2)
        alive = scores.isfinite()
        active = []
        for number, row in enumerate(rows):
            if position + 1 >= len(prefixes[row]) + limits[row]:
                for beam in alive[number].nonzero()[:, 0].tolist() if len(done[row]) < nbest else []:
                    ids = written[number, beam, len(prefixes[row]) :].tolist()
                    done[row].append(WrittenTokens(tuple(ids), float(scores[number, beam]), cut=True))
            elif len(done[row]) < size and bool(alive[number].any()):
                active.append(number)
        if not active:
            break
        kept = torch.tensor(active, device=device)
        flat = (origins + torch.arange(len(rows), device=device)[:, None] * size)[kept].flatten()
        state, memory = selected(state, flat), selected(memory, flat)
        rows = [rows[number] for number in active]
        scores, written, previous = scores[kept], written[kept], chosen[kept].flatten()
    return [sorted(group, key=lambda one: -one.score(length_penalty))[:nbest] for group in done]
