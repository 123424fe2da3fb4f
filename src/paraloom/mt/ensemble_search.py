"""Beam search and sampling by several networks at once, whose log-probabilities are averaged word by word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from paraloom.mt.data import END_ID
from paraloom.mt.decoding import Beam, Nucleus, Sampling, TopK
from paraloom.mt.incremental import DecoderState, IncrementalNetwork


class Hypothesis(NamedTuple):
    """A translation."""

    words: list[int]
    logprob: float
    cut: bool

    @property
    def tokens(self) -> int:
        """Number of words, the end of sentence included."""
        return len(self.words) + (not self.cut)


class _States:
    """The states of all networks, at the same words."""

    def __init__(self, networks: Sequence[IncrementalNetwork], source: Tensor, mask: Tensor, copies: int) -> None:
        self.networks = networks
        rows = torch.arange(len(source), device=source.device).repeat_interleave(copies)
        self.states: list[DecoderState] = [network.start(source, mask).select(rows) for network in networks]

    def step(self, words: Tensor) -> Tensor:
        """Averaged log-probabilities of the next word, float32 (n, v)."""
        steps = zip(self.networks, self.states, strict=True)
        return torch.stack([network.step(words, state) for network, state in steps]).mean(0)

    def select(self, rows: Tensor) -> None:
        """Keep some hypotheses."""
        self.states = [state.select(rows) for state in self.states]


@torch.no_grad()
def beam_search(
    networks: Sequence[IncrementalNetwork], source: Tensor, mask: Tensor, beam: Beam, max_length: int
) -> list[list[Hypothesis]]:
    """Find the most likely translations, in the same way as CTranslate2 does with one network."""
    size, count, device = beam.size, len(source), source.device
    states = _States(networks, source, mask, size)
    words = torch.full((count * size,), networks[0].start_word, device=device)
    scores = torch.full((count, size), -torch.inf, device=device)
    scores[:, 0] = 0.0  # all hypotheses of a beam are equal at first
    prefixes: list[list[list[int]]] = [[[] for _ in range(size)] for _ in range(count)]
    finished: list[list[Hypothesis]] = [[] for _ in range(count)]
    active = list(range(count))
    for length in range(1, max_length + 1):
        logprobs = states.step(words)
        vocabulary = logprobs.shape[1]
        totals = (scores.reshape(-1, 1) + logprobs).view(len(active), size * vocabulary)
        best, places = totals.topk(min(2 * size, totals.shape[1]), dim=1)
        candidates = zip(
            active, best.tolist(), (places // vocabulary).tolist(), (places % vocabulary).tolist(), strict=True
        )
        remaining, chosen = [], []
        for position, (row, values, parents, ids) in enumerate(candidates):
            kept = _expand(prefixes[row], finished[row], values, parents, ids, size, length == max_length)
            top_finished = ids[0] == END_ID
            # Without a length penalty no later hypothesis can overtake a finished one that is best.
            enough = (top_finished and len(finished[row]) >= beam.nbest) if not beam.length_penalty else False
            if length == max_length or enough or len(finished[row]) >= size:
                continue
            prefixes[row] = [[*prefixes[row][parents[k]], ids[k]] for k in kept]
            remaining.append(row)
            chosen.append([(position * size + parents[k], ids[k], values[k]) for k in kept])
        active = remaining
        if not active:
            break
        flat = [entry for group in chosen for entry in group]
        states.select(torch.tensor([parent for parent, _, _ in flat], device=device))
        words = torch.tensor([word for _, word, _ in flat], device=device)
        scores = torch.tensor([value for _, _, value in flat], device=device).view(len(active), size)
    return [_ranked(hypotheses, beam) for hypotheses in finished]


def _expand(
    prefixes: list[list[int]],
    finished: list[Hypothesis],
    values: list[float],
    parents: list[int],
    ids: list[int],
    size: int,
    last: bool,
) -> list[int]:
    """Add what is finished among the best `size` candidates to `finished`; numbers of the candidates that remain."""
    kept: list[int] = []
    reserve = (k for k in range(size, len(ids)) if ids[k] != END_ID)
    for k in range(size):
        if values[k] == -torch.inf:
            kept.append(k)
        elif ids[k] == END_ID or last:
            words = prefixes[parents[k]] if ids[k] == END_ID else [*prefixes[parents[k]], ids[k]]
            finished.append(Hypothesis(words, values[k], cut=ids[k] != END_ID))
            kept.append(next(reserve, k))
        else:
            kept.append(k)
    return kept


def _ranked(hypotheses: list[Hypothesis], beam: Beam) -> list[Hypothesis]:
    def rank(hypothesis: Hypothesis) -> float:
        return -hypothesis.logprob / hypothesis.tokens**beam.length_penalty

    return sorted(hypotheses, key=rank)[: beam.nbest]


@torch.no_grad()
def draw_samples(
    networks: Sequence[IncrementalNetwork],
    source: Tensor,
    mask: Tensor,
    decoding: Sampling | TopK | Nucleus,
    max_length: int,
    seed: int,
) -> list[list[Hypothesis]]:
    """Draw translations at random, word by word."""
    random = torch.Generator().manual_seed(seed)  # on the processor: the same on every device
    states = _States(networks, source, mask, decoding.nbest)
    count = len(source) * decoding.nbest
    words = torch.full((count,), networks[0].start_word, device=source.device)
    totals = [0.0] * count
    drawn: list[list[int]] = [[] for _ in range(count)]
    ended = [False] * count
    for _ in range(max_length):
        logprobs = states.step(words)
        # The largest of log-probabilities with Gumbel noise is a sample.
        noise = torch.rand(logprobs.shape, generator=random).clamp_(min=1e-20).log_().neg_().log_().neg_()
        words = (truncated(logprobs, decoding) + noise.to(logprobs.device)).argmax(1)
        values = logprobs.gather(1, words[:, None])[:, 0].tolist()
        for row, (word, value) in enumerate(zip(words.tolist(), values, strict=True)):
            if ended[row]:
                continue
            totals[row] += value
            if word == END_ID:
                ended[row] = True
            else:
                drawn[row].append(word)
        if all(ended):
            break
    hypotheses = [Hypothesis(*row) for row in zip(drawn, totals, (not end for end in ended), strict=True)]
    return [hypotheses[start : start + decoding.nbest] for start in range(0, count, decoding.nbest)]


def truncated(logprobs: Tensor, decoding: Sampling | TopK | Nucleus) -> Tensor:
    """Logits of what a decoding draws from."""
    logits = logprobs / decoding.temperature
    top = decoding.k if isinstance(decoding, TopK) else decoding.within if isinstance(decoding, Nucleus) else 0
    if top and top < logits.shape[1]:
        logits = logits.masked_fill(logits < logits.topk(top, dim=1).values[:, -1:], -torch.inf)
    if isinstance(decoding, Nucleus):
        ordered, places = logits.softmax(1).sort(dim=1, descending=True, stable=True)
        outside = ordered.cumsum(1) - ordered >= decoding.p
        logits = logits.masked_fill(torch.zeros_like(outside).scatter(1, places, outside), -torch.inf)
    return logits
