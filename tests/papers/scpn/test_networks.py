"""Recurrent networks: gradients, attention and copying by hand, steps against whole sequences, padding."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("torch", reason="recurrent networks need torch: pip install 'paraloom[train]'")

import torch
from torch import Tensor

from paraloom.papers.pnmt.lstm import LstmNetwork
from paraloom.papers.scpn.layers import (
    Dropout,
    bilinear_attention,
    copied_mass,
    copy_distribution,
    mix_log,
)
from paraloom.papers.scpn.network import LabelIds, RecurrentNetwork, Tensors
from paraloom.papers.scpn.paraphrase_generator import ParaphraseGenerator
from paraloom.papers.scpn.parse_generator import ParseGenerator

SEPARATOR = 2
LABELS = (3, 4, 5)
KINDS = ("lstm", "paraphrase-generator", "parse-generator")
SOURCES = {
    "lstm": ([6, 7, 6, 0], [8, 0]),
    "paraphrase-generator": ([6, 7, 6, SEPARATOR, 3, 4, 5, 0], [8, SEPARATOR, 4, 0]),
    "parse-generator": ([3, 4, 5, 5, SEPARATOR, 4, 5, 0], [SEPARATOR, 3, 0]),
}
TARGETS = {
    "lstm": ([6, 8, 0], [7, 6, 7, 0]),
    "paraphrase-generator": ([6, 8, 0], [7, 6, 7, 0]),
    "parse-generator": ([3, 4, 5, 0], [5, 0]),
}


def network(kind: str, seed: int = 1) -> RecurrentNetwork:
    """A tiny network in float64, of 9 subwords."""
    torch.manual_seed(seed)
    model: RecurrentNetwork
    if kind == "lstm":
        model = LstmNetwork(9, 3, 4)
    elif kind == "parse-generator":
        model = ParseGenerator(LABELS, SEPARATOR, 3, 4)
    else:
        model = ParaphraseGenerator(9, 3, 4, LABELS, SEPARATOR, 2, 3)
    return model.double()


def tensors(model: RecurrentNetwork, rows: slice = slice(None)) -> tuple[Tensors, Tensor]:
    """Inputs and targets of the two examples, or of some of them."""
    sources, targets = ([np.array(row, np.int32) for row in table[model.kind][rows]] for table in (SOURCES, TARGETS))
    return model.inputs(sources), model.targets(targets)


def loss(model: RecurrentNetwork, rows: slice = slice(None)) -> Tensor:
    inputs, targets = tensors(model, rows)
    return model.loss(model.encode(inputs), targets)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients(kind: str) -> None:
    model = network(kind)
    loss(model).backward()  # type: ignore[no-untyped-call]
    random = np.random.default_rng(1)
    for name, value in model.named_parameters():
        assert value.grad is not None, name
        flat, gradient = value.data.view(-1), value.grad.reshape(-1)
        for index in random.choice(len(flat), min(4, len(flat)), replace=False):
            sides = []
            for change in (1e-6, -1e-6):
                flat[index] += change
                sides.append(float(loss(model).detach()))
                flat[index] -= change
            numeric = (sides[0] - sides[1]) / 2e-6
            # The embedding of padding is what decoding starts from; it stays zero.
            if value.dim() == 2 and name in ("words.weight", "labels.weight") and index >= value[:-1].numel():
                assert float(gradient[index]) == 0
            else:
                assert float(gradient[index]) == pytest.approx(numeric, rel=1e-4, abs=1e-7), name


@pytest.mark.parametrize("kind", KINDS)
def test_steps_add_up_to_the_loss(kind: str) -> None:
    model = network(kind)
    inputs, targets = tensors(model)
    with torch.no_grad():
        memory = model.encode(inputs)
        state = model.start(memory)
        previous = torch.full((2,), model.padding)
        total = 0.0
        for tokens in targets.T:
            log_probs, state = model.step(previous, state, memory)
            assert log_probs.exp().sum(1).tolist() == pytest.approx([1, 1])
            total -= sum(float(log_probs[row, one]) for row, one in enumerate(tokens.tolist()) if one != model.padding)
            previous = tokens
        assert float(model.loss(memory, targets)) == pytest.approx(total)


@pytest.mark.parametrize("kind", KINDS)
def test_padding_changes_nothing(kind: str) -> None:
    model = network(kind)
    alone = [float(loss(model, slice(row, row + 1)).detach()) for row in (0, 1)]
    assert float(loss(model).detach()) == pytest.approx(sum(alone))


@pytest.mark.parametrize("kind", KINDS)
def test_dropout_follows_its_generator(kind: str) -> None:
    model = network(kind)
    inputs, targets = tensors(model)

    def dropped(seed: int) -> float:
        drop = Dropout(0.5, torch.Generator().manual_seed(seed))
        return float(model.loss(model.encode(inputs, drop), targets, drop).detach())

    assert dropped(1) == dropped(1) != dropped(2)
    values = Dropout(0.25, torch.Generator().manual_seed(1))(torch.ones(1000))
    assert values.unique().tolist() == [0.0, pytest.approx(4 / 3)]


def test_bilinear_attention_by_hand() -> None:
    query = torch.tensor([[1.0, 2.0]])
    weight = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    keys = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [5.0, 5.0, 5.0]]])
    mask = torch.tensor([[True, True, False]])
    # q W = (1, 2, 1), so that the scores are 1 and 2.
    expected = [1 / (1 + math.e), math.e / (1 + math.e), 0.0]
    assert bilinear_attention(query, weight, keys, mask)[0].tolist() == pytest.approx(expected)
    assert bilinear_attention(query[:, None], weight, keys, mask)[0, 0].tolist() == pytest.approx(expected)


def test_copying_by_hand() -> None:
    attention = torch.tensor([[0.2, 0.3, 0.5]])
    source = torch.tensor([[4, 1, 4]])
    copied = copy_distribution(attention, source, 5)
    assert copied[0].tolist() == pytest.approx([0, 0.3, 0, 0, 0.7])
    targets = torch.tensor([[4, 1, 2]])
    assert copied_mass(attention[:, None].expand(1, 3, 3), source, targets)[0].tolist() == pytest.approx([0.7, 0.3, 0])
    # A gate of 1/4: logit −log 3. Token 4 has no probability of its own, and gets a quarter of its attention.
    generated = torch.tensor([[0.5, 0.25, 0.25, 0.0, 0.0]]).log()
    mixed = mix_log(generated, copied, torch.tensor([[-math.log(3)]])).exp()
    assert mixed[0].tolist() == pytest.approx([0.375, 0.1875 + 0.075, 0.1875, 0, 0.175])
    assert float(mixed.sum()) == pytest.approx(1)


def test_a_token_that_the_softmax_cannot_write_is_copied() -> None:
    model = network("paraphrase-generator")
    assert isinstance(model, ParaphraseGenerator)
    inputs, _ = tensors(model, slice(0, 1))
    with torch.no_grad():
        model.decoder.output.bias[6] = -1e9
        memory = model.encode(inputs)
        state = model.start(memory)
        previous = model.words(torch.tensor([model.padding]))
        _, features, attention = model.decoder._advance(previous, state, memory, Dropout())
        log_probs, _ = model.step(torch.tensor([model.padding]), state, memory)
    gate = 1 / (1 + math.exp(-float(features[0, -1])))
    # Subword 6 is at positions 0 and 2 of the sentence.
    assert float(log_probs[0, 6].exp()) == pytest.approx(gate * float(attention[0, 0] + attention[0, 2]))
    assert float(log_probs.exp().sum()) == pytest.approx(1)


def test_ids_of_parses() -> None:
    ids = LabelIds([7, 9], separator=3)
    sentence, parse = ids.split(np.array([5, 6, 3, 2, 9, 7, 0], np.int32))
    assert sentence.tolist() == [5, 6, 0] and parse.tolist() == [2, 9, 7, 0]
    # 2 is not a token of parses.
    assert ids.own(parse).tolist() == [2, 1, 0] and ids.padding == 3
    sentence, parse = ids.split(np.array([5, 6, 0], np.int32))
    assert sentence.tolist() == [5, 6, 0] and parse.tolist() == [0] and ids.own(parse).tolist() == [0]
    sentence, parse = ids.split(np.array([5, 3, 0], np.int32))
    assert sentence.tolist() == [5, 0] and parse.tolist() == [0]
