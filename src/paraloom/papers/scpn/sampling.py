"""Sampling of tokens from a recurrent network: from all of them, the k most likely, or a nucleus."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from paraloom.core.seeds import generator
from paraloom.mt.data import END_ID
from paraloom.papers.scpn.network import RecurrentNetwork, Tensors
from paraloom.papers.scpn.search import WrittenTokens, forced, selected


def draws(seed: int, row: int, count: int, length: int) -> npt.NDArray[np.float64]:
    """Random numbers for the samples of a source, which do not depend on other sources."""
    return generator(seed, row).random((count, length))


def sample_tokens(log_probs: Tensor, draw: Tensor, *, temperature: float, k: int, p: float) -> Tensor:
    """A token of each row."""
    ranked, tokens = (log_probs.double() / temperature).softmax(-1).sort(dim=-1, descending=True, stable=True)
    before = ranked.cumsum(-1) - ranked
    if p < 1:
        ranked = ranked.masked_fill(before >= p, 0.0)
    if k:
        ranked[:, k:] = 0.0
    sums = ranked.cumsum(-1)
    rank = (sums <= draw.double()[:, None] * sums[:, -1:]).sum(-1)
    # Rounding may let a draw near 1 pass the last token that is possible.
    last = (ranked > 0).sum(-1) - 1
    return tokens.gather(1, torch.minimum(rank, last)[:, None])[:, 0]


@torch.inference_mode()
def sample(
    network: RecurrentNetwork,
    memory: Tensors,
    prefixes: Sequence[Sequence[int]],
    limits: Sequence[int],
    randoms: Sequence[npt.NDArray[np.float64]],
    *,
    temperature: float = 1.0,
    k: int = 0,
    p: float = 1.0,
) -> list[list[WrittenTokens]]:
    """Independent samples."""
    device = memory[0].device
    owners = [row for row, numbers in enumerate(randoms) for _ in numbers]
    flat = [line for numbers in randoms for line in numbers]
    written: list[list[int]] = [[] for _ in owners]
    sums, cut = [0.0] * len(owners), [True] * len(owners)
    active = [one for one, row in enumerate(owners) if limits[row] > 0]
    memory = selected(memory, torch.tensor([owners[one] for one in active], dtype=torch.int64, device=device))
    state = network.start(memory)
    previous = torch.full((len(active),), network.padding, device=device)
    position = 0
    while active:
        log_probs, state = network.step(previous, state, memory)
        starts = [len(prefixes[owners[one]]) for one in active]
        tokens = [
            prefixes[owners[one]][position] if position < start else None
            for one, start in zip(active, starts, strict=True)
        ]
        numbers = [flat[one][max(0, position - start)] for one, start in zip(active, starts, strict=True)]
        draw = torch.tensor(numbers, dtype=torch.float64, device=device)
        chosen = sample_tokens(forced(log_probs, tokens), draw, temperature=temperature, k=k, p=p)
        values = log_probs.gather(1, chosen[:, None])[:, 0].tolist()
        going = []
        for number, (one, token) in enumerate(zip(active, chosen.tolist(), strict=True)):
            if tokens[number] is None:
                sums[one] += values[number]
                if token == END_ID:
                    cut[one] = False
                    continue
                written[one].append(token)
            if len(written[one]) < limits[owners[one]]:
                going.append(number)
        kept = torch.tensor(going, dtype=torch.int64, device=device)
        state, memory, previous = selected(state, kept), selected(memory, kept), chosen[kept]
        active = [active[number] for number in going]
        position += 1
    groups: list[list[WrittenTokens]] = [[] for _ in randoms]
    for row, ids, logprob, stopped in zip(owners, written, sums, cut, strict=True):
        groups[row].append(WrittenTokens(tuple(ids), logprob, stopped))
    return groups
