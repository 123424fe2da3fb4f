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
    """Random numbers for the samples of a source, which do not depend on other sources.

    Args:
        seed: Of the decoding.
        row: Number of the source.
        count: Samples.
        length: Tokens of a sample.

    Returns:
        (count, length), from 0 to below 1.
    """
    return generator(seed, row).random((count, length))


def sample_tokens(log_probs: Tensor, draw: Tensor, *, temperature: float, k: int, p: float) -> Tensor:
    """A token of each row.

    Args:
        log_probs: (b, v).
        draw: (b,), random numbers from 0 to below 1.
        temperature: Log-probabilities are divided by it.
        k: Only the k most likely tokens; 0 for all.
        p: Only the smallest set of tokens whose probabilities add up to p or more.

    Returns:
        int64 (b,).

    Example:
        >>> log_probs = torch.tensor([[0.1, 0.6, 0.3]] * 3).log()
        >>> options = {"temperature": 1.0, "k": 0, "p": 1.0}
        >>> sample_tokens(log_probs, torch.tensor([0.5, 0.7, 0.95]), **options).tolist()
        [1, 2, 0]
        >>> sample_tokens(log_probs, torch.tensor([0.5, 0.7, 0.95]), **options | {"p": 0.8}).tolist()
        [1, 2, 2]
    """
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
    """Independent samples.

    Args:
        network: Writes.
        memory: Of n sources, as its `encode` returns it.
        prefixes: Tokens that each output begins with; n.
        limits: Tokens of each output at most, after its beginning; n.
        randoms: Of each source, (samples, at least its limit), as `draws` returns them.
        temperature: See `sample_tokens`.
        k: See `sample_tokens`.
        p: See `sample_tokens`.

    Returns:
        For each source its samples, in the order of their random numbers. Their log-probabilities are those of the
        network, whatever the sampling leaves out.
    """
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
