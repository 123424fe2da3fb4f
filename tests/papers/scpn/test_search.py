"""Beam search against exhaustive search; forced beginnings; limits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

pytest.importorskip("torch", reason="recurrent networks need torch: pip install 'paraloom[train]'")

import torch

from paraloom.papers.pnmt.lstm import LstmNetwork
from paraloom.papers.scpn.network import RecurrentNetwork, Tensors
from paraloom.papers.scpn.search import WrittenTokens, beam_search

TOKENS = 4
LIMIT = 3


def tiny(sources: list[list[int]], seed: int = 3) -> tuple[RecurrentNetwork, Tensors]:
    """A network of 4 tokens whose distributions are not flat, and what it read."""
    torch.manual_seed(seed)
    network = LstmNetwork(TOKENS, 3, 5).double()
    with torch.no_grad():
        for value in network.parameters():
            value.mul_(2.5)
        return network, network.encode(network.inputs([np.array(row, np.int32) for row in sources]))


def exhaustive(network: RecurrentNetwork, memory: Tensors, start: tuple[int, ...] = ()) -> list[WrittenTokens]:
    """All outputs within the limit, with their log-probabilities after the beginning."""

    def log_prob(ids: tuple[int, ...]) -> float:
        with torch.no_grad():
            return -float(network.loss(memory, torch.tensor([ids]))) if ids else 0.0

    outputs = []
    for length in range(LIMIT + 1):
        for ids in itertools.product(range(1, TOKENS), repeat=length):
            cut = length == LIMIT
            whole = (*start, *ids) if cut else (*start, *ids, 0)
            outputs.append(WrittenTokens(ids, log_prob(whole) - log_prob(start), cut))
    return outputs


def assert_same(given: list[WrittenTokens], expected: list[WrittenTokens]) -> None:
    assert [(one.ids, one.cut) for one in given] == [(one.ids, one.cut) for one in expected]
    assert [one.logprob for one in given] == pytest.approx([one.logprob for one in expected])


@pytest.mark.parametrize("penalty", [0.0, 1.0])
@pytest.mark.parametrize("start", [(), (2, 1)])
def test_a_wide_beam_is_exhaustive(penalty: float, start: tuple[int, ...]) -> None:
    network, memory = tiny([[1, 2, 3, 0]])
    outputs = exhaustive(network, memory, start)
    ended = sorted((one for one in outputs if not one.cut), key=lambda one: -one.score(penalty))
    options = {"size": 64, "length_penalty": penalty}
    (group,) = beam_search(network, memory, [start], [LIMIT], nbest=5, **options)  # type: ignore[arg-type]
    assert_same(group, ended[:5])
    # More than what ends within the limit: what was cut fills up.
    (group,) = beam_search(network, memory, [start], [LIMIT], nbest=64, **options)  # type: ignore[arg-type]
    assert_same(group, sorted(outputs, key=lambda one: -one.score(penalty)))
    assert sum(np.exp(one.logprob) for one in group) == pytest.approx(1)


def test_rows_do_not_depend_on_each_other() -> None:
    sources = [[1, 2, 3, 0], [3, 0], [2, 2, 1, 1, 3, 0]]
    prefixes, limits = [[], [2, 1, 3], [1]], [6, 3, 9]
    network, memory = tiny(sources)
    together = beam_search(network, memory, prefixes, limits, size=3, nbest=3)
    for row, source in enumerate(sources):
        network, memory = tiny([source])
        (alone,) = beam_search(network, memory, prefixes[row : row + 1], limits[row : row + 1], size=3, nbest=3)
        assert_same(together[row], alone)


def test_greedy() -> None:
    network, memory = tiny([[1, 2, 3, 0]])
    ((best,),) = beam_search(network, memory, [[]], [8], size=1)
    state, previous, ids = network.start(memory), network.padding, []
    while len(ids) < 8:
        with torch.no_grad():
            log_probs, state = network.step(torch.tensor([previous]), state, memory)
        previous = int(log_probs.argmax())
        if not previous:
            break
        ids.append(previous)
    assert best.ids == tuple(ids) and best.cut == (len(ids) == 8)
