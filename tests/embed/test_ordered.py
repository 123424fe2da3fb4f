"""Parts that read words in order: each against its paper's equation, gradients against differences, exact resume."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from paraloom.core.digests import folder_digest
from paraloom.core.errors import ConfigError, ModelError
from paraloom.embed.average import Average, SentenceEncoder, unit
from paraloom.embed.config import EncoderConfig
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import load_encoder, save
from paraloom.embed.threads import Team
from paraloom.embed.training import scrambled, train_encoder
from paraloom.embed.vocabulary import Rows, Vocabulary

pytest.importorskip("torch", reason="encoders that read in order need torch: pip install 'paraloom[train]'")

import torch

from paraloom.embed.networks import NETWORKS, new_network
from paraloom.embed.ordered import Ordered
from paraloom.embed.recurrent import LearningOrdered

WORDS = list("abcdef")
SMALL = EncoderConfig(dimension=12, epochs=2, batch=20, megabatch=3, rate=0.01, scramble=0.3)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def weights_of(network, name=""):
    return {
        key.removeprefix(name): value.detach().numpy().astype(np.float64)
        for key, value in network.named_parameters()
        if key.startswith(name)
    }


def lstm_states(x, weights):
    """Hochreiter and Schmidhuber's equations with a forget gate, a word at a time."""
    d = x.shape[1]
    h, c = np.zeros(d), np.zeros(d)
    states = []
    for word in x:
        gates = (
            weights["weight_ih_l0"] @ word + weights["bias_ih_l0"] + weights["weight_hh_l0"] @ h + weights["bias_hh_l0"]
        )
        i, f, g, o = (gates[k * d : (k + 1) * d] for k in range(4))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        states.append(h)
    return np.array(states)


def lstm(x, network):
    return lstm_states(x, weights_of(network, "reader.")).mean(axis=0)


def blstm(x, network):
    back = lstm_states(x[::-1], weights_of(network, "backward_reader."))
    return (lstm_states(x, weights_of(network, "reader.")) + back[::-1]).mean(axis=0) / 2


def gran(x, network):
    w = weights_of(network)
    h = lstm_states(x, weights_of(network, "reader."))
    gates = [
        sigmoid(w["from_word.weight"] @ a + w["from_state.weight"] @ b + w["from_word.bias"])
        for a, b in zip(x, h, strict=True)
    ]
    return (x * np.array(gates)).mean(axis=0)


def gru(x, network):
    """Cho et al. 2014, the reset gate on the product with the state, as torch and PGRU's code have it."""
    w, d = weights_of(network, "reader."), x.shape[1]
    h = np.zeros(d)
    for word in x:
        given, kept = w["weight_ih_l0"] @ word + w["bias_ih_l0"], w["weight_hh_l0"] @ h + w["bias_hh_l0"]
        r, z = sigmoid(given[:d] + kept[:d]), sigmoid(given[d : 2 * d] + kept[d : 2 * d])
        h = (1 - z) * np.tanh(given[2 * d :] + r * kept[2 * d :]) + z * h
    return h


REFERENCES = {"lstm": lstm, "blstm": blstm, "gran": gran, "gru": gru}


def test_every_network_has_a_reference() -> None:
    assert set(REFERENCES) == set(NETWORKS)


def learning(kind: str, d: int = 5, threads: int = 2) -> LearningOrdered:
    table = np.random.default_rng(1).normal(size=(len(WORDS), d)).astype(np.float32)
    return LearningOrdered(Vocabulary("word", WORDS), table, new_network(kind, d, seed=3), Team(threads))


def lists_of(count: int, longest: int = 7) -> Rows:
    """Lists of random words, the third of them empty."""
    draw = np.random.default_rng(2)
    lengths = draw.integers(1, longest, count)
    lengths[2] = 0
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return Rows(draw.integers(0, len(WORDS), offsets[-1]).astype(np.int32), offsets)


@pytest.mark.parametrize("kind", list(NETWORKS))
def test_vectors_are_those_of_the_papers_equation(kind: str) -> None:
    part, lists = learning(kind), lists_of(300)
    out = np.zeros((300, 9), np.float32)
    part.forward(lists, out, 2)
    for i in range(300):
        x = part.table[lists.rows[lists.offsets[i] : lists.offsets[i + 1]]].astype(np.float64)
        wanted = REFERENCES[kind](x, part.network) if len(x) else np.zeros(5)
        assert out[i, 2:7] == pytest.approx(wanted, abs=1e-5)
    assert not out[:, :2].any() and not out[:, 7:].any()


def test_gran_with_an_open_gate_is_the_average() -> None:
    part, lists = learning("gran"), lists_of(40)
    with torch.no_grad():
        for name, value in part.network.named_parameters():
            if name.startswith("from_"):
                value.fill_(50.0 if name.endswith("bias") else 0.0)
    gated, averaged = np.zeros((40, 5), np.float32), np.zeros((40, 5), np.float32)
    part.forward(lists, gated, 0)
    from paraloom.embed import average_kernels

    average_kernels.add_means(*lists, part.table, np.ones(len(WORDS), np.float32), averaged, 0, 0, 40)
    assert gated == pytest.approx(averaged, abs=1e-6)


@pytest.mark.parametrize("kind", list(NETWORKS))
def test_gradients_are_those_of_the_vectors(kind: str) -> None:
    """By every vector of every word and every weight, against central differences of Σ G · vectors."""
    part, lists = learning(kind, d=3), lists_of(8)
    draw = np.random.default_rng(4)
    given, moved = draw.normal(size=(8, 3)).astype(np.float32), np.array([True] * 6 + [False] * 2)
    given[~moved] = 0
    held, by_row, by_weight = part.backward(lists, given, moved, 0)
    part.table, part.network = part.table.astype(np.float64), part.network.double()

    def value() -> float:
        total = 0.0
        for i in np.flatnonzero(moved):
            x = part.table[lists.rows[lists.offsets[i] : lists.offsets[i + 1]]]
            if len(x):
                total += float(given[i] @ REFERENCES[kind](x, part.network))
        return total

    def differences(array: np.ndarray) -> np.ndarray:
        found = np.zeros_like(array)
        for place in np.ndindex(array.shape):
            before = array[place]
            array[place] = before + 1e-5
            above = value()
            array[place] = before - 1e-5
            found[place] = (above - value()) / 2e-5
            array[place] = before
        return found

    by_table = differences(part.table)
    assert by_row == pytest.approx(by_table[held], abs=1e-4)
    untouched = np.setdiff1d(np.arange(len(WORDS)), held)
    assert not by_table[untouched].any()
    for (name, weight), found in zip(part.network.named_parameters(), by_weight, strict=True):
        assert found == pytest.approx(differences(weight.detach().numpy()), abs=1e-4), name


def test_adam_is_torchs_on_the_weights() -> None:
    part, lists = learning("gran"), lists_of(30)
    draw = np.random.default_rng(5)
    moved = np.ones(30, bool)
    peer = new_network("gran", 5, seed=3)
    adam = torch.optim.Adam(peer.parameters(), lr=0.01)
    for step in (1, 2, 3):
        given = draw.normal(size=(30, 5)).astype(np.float32)
        _, _, by_weight = part.backward(lists, given, moved, 0)
        for weight, gradient in zip(peer.parameters(), by_weight, strict=True):
            weight.grad = torch.from_numpy(gradient)
        adam.step()
        part.learn(lists, given, moved, 0, 0.01, step)
    for ours, theirs in zip(part.network.parameters(), peer.parameters(), strict=True):
        assert ours.detach().numpy() == pytest.approx(theirs.detach().numpy(), abs=1e-6)


def toy_pairs(count: int = 300) -> list[pa.RecordBatch]:
    """Order decides: 'x bites y' is paraphrased as 'y is bitten by x'."""
    draw = np.random.default_rng(3)
    nouns = draw.integers(0, 30, (count, 2))
    src = [f"a{i} bites a{j}" for i, j in nouns]
    tgt = [f"a{j} is bitten by a{i}" for i, j in nouns]
    return pa.table({"src": src, "tgt": tgt}).to_batches(max_chunksize=150)


def test_order_is_learned_where_an_average_cannot_know_it(tmp_path: Path) -> None:
    both = [(i, j) for i in range(6) for j in range(6) if i != j]
    src, tgt = [f"a{i} bites a{j}" for i, j in both], [f"a{j} is bitten by a{i}" for i, j in both]
    # Both ways round, for a negative is drawn from the anchor's own side.
    batches = pa.table({"src": (src + tgt) * 5, "tgt": (tgt + src) * 5}).to_batches()
    config = replace(SMALL, dimension=24, epochs=20, scramble=0.0, ordered_scale=0.5)
    right = {}
    for spec in ("word", "lstm"):
        train_encoder(batches, replace(config, spec=spec), tmp_path / spec, seed=1)
        first, second = (unit(load_encoder(tmp_path / spec).encode(texts)) for texts in (src, tgt))
        right[spec] = int(((first @ second.T).argmax(axis=1) == np.arange(len(both))).sum())
    # The average finds who is in it, and must guess who bites.
    assert right["lstm"] >= 28 and right["word"] <= 20


@pytest.mark.parametrize("spec", ["gran", "word,lstm", "trigram+blstm", "gru"])
def test_the_same_bytes_after_a_stop_and_at_any_number_of_threads(tmp_path: Path, spec: str) -> None:
    config = replace(SMALL, spec=spec)

    def stop(encoder: SentenceEncoder) -> dict[str, float]:
        raise KeyboardInterrupt

    def calm(encoder: SentenceEncoder) -> dict[str, float]:
        return {"nothing": 0.0}

    for name, threads in (("one", 1), ("two", 2)):
        train_encoder(toy_pairs(), config, tmp_path / name, calm, seed=5, threads=threads)
    with pytest.raises(KeyboardInterrupt):
        train_encoder(toy_pairs(), config, tmp_path / "stopped", stop, seed=5, checkpoint_seconds=0)
    train_encoder(toy_pairs(), config, tmp_path / "stopped", calm, seed=5)
    for name in tmp_path.iterdir():
        (name / "timings.json").unlink()
    digests = {folder_digest(tmp_path / name) for name in ("one", "two", "stopped")}
    assert len(digests) == 1


def test_saved_and_loaded_it_gives_the_same_vectors(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    table = draw.normal(size=(len(WORDS), 4)).astype(np.float32)
    words = Vocabulary("word", WORDS)
    encoder = SentenceEncoder(
        parse_spec("word,gran"),
        {"word": Average(words, table), "gran": Ordered(words, table, new_network("gran", 4, 1))},
    )
    save(encoder, tmp_path / "encoder")
    again = load_encoder(tmp_path / "encoder", threads=2)
    sentences = ["a b c", "f", "c b a", "a b c d e f " * 30] * 700
    assert (again.encode(sentences) == encoder.encode(sentences)).all()
    assert again.signature == encoder.signature
    # Order counts for one half of the vector.
    (first, _, turned, _) = again.encode(sentences[:4])
    assert first[:4] == pytest.approx(turned[:4]) and first[4:] != pytest.approx(turned[4:])


def test_a_network_that_does_not_fit_is_named(tmp_path: Path) -> None:
    words, table = Vocabulary("word", WORDS), np.ones((len(WORDS), 4), np.float32)
    for kind in ("gran", "gru"):
        save(SentenceEncoder(parse_spec(kind), {kind: Ordered(words, table, new_network(kind, 4, 1))}), tmp_path / kind)
    (tmp_path / "gru/gru.safetensors").replace(tmp_path / "gran/gran.safetensors")
    with pytest.raises(ModelError, match="do not fit") as caught:
        load_encoder(tmp_path / "gran")
    assert str(caught.value.file).endswith("gran.safetensors")


def test_scrambling_keeps_each_sentences_words() -> None:
    lists = lists_of(500)
    mixed = scrambled(lists, 0.3, np.random.default_rng(1))
    changed = 0
    for i in range(500):
        before, after = (each.rows[each.offsets[i] : each.offsets[i + 1]] for each in (lists, mixed))
        assert sorted(before) == sorted(after)
        changed += (before != after).any()
    assert 60 < changed < 150
    with pytest.raises(ConfigError, match="scramble"):
        replace(SMALL, scramble=1.5).check()
