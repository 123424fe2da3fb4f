"""Recurrent parts: each network against its paper's equations, gradients against differences, exact resume, devices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from paraloom.core.digests import folder_digest
from paraloom.core.errors import ConfigError, ModelError
from paraloom.embed import average_kernels
from paraloom.embed.average import Average, SentenceEncoder
from paraloom.embed.average_training import BatchGradient
from paraloom.embed.config import EncoderConfig
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import load_encoder, save_encoder
from paraloom.embed.threads import ThreadTeam
from paraloom.embed.training import scrambled, train_encoder
from paraloom.embed.vocabulary import RowLists, Vocabulary
from paraloom.papers.recurrent_encoders import Recurrent, TrainableRecurrent

torch = pytest.importorskip("torch", reason="recurrent encoders need torch: pip install 'paraloom[train]'")

from paraloom.papers.encoder_networks import NETWORKS, new_network  # noqa: E402

WORDS = list("abcdef")
SMALL = EncoderConfig(dimension=12, epochs=2, batch_size=20, megabatch_size=3, learning_rate=0.01, scramble=0.3)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def weights_of(network, prefix=""):
    return {
        name.removeprefix(prefix): value.detach().numpy().astype(np.float64)
        for name, value in network.named_parameters()
        if name.startswith(prefix)
    }


def lstm_states(x, weights):
    """Hochreiter and Schmidhuber's equations with a forget gate, word by word."""
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
    """Cho et al. 2014, with the reset gate on the product with the state, as in torch."""
    w, d = weights_of(network, "reader."), x.shape[1]
    h = np.zeros(d)
    for word in x:
        by_word, by_state = w["weight_ih_l0"] @ word + w["bias_ih_l0"], w["weight_hh_l0"] @ h + w["bias_hh_l0"]
        r, z = sigmoid(by_word[:d] + by_state[:d]), sigmoid(by_word[d : 2 * d] + by_state[d : 2 * d])
        h = (1 - z) * np.tanh(by_word[2 * d :] + r * by_state[2 * d :]) + z * h
    return h


def pgru(x, network):
    """PGRU §2.2, equation by equation."""
    w, d = weights_of(network), network.dimension
    by_word, by_state = np.split(w["from_word.weight"], 3), np.split(w["from_state.weight"], 2)
    h = np.zeros(d)
    for word in x:
        z = sigmoid(by_word[0] @ word + by_state[0] @ h)
        r = sigmoid(by_word[1] @ word + by_state[1] @ h)
        candidate = np.tanh(by_word[2] @ word + w["candidate.weight"] @ (r * h))
        h = (1 - z) * h + z * candidate
    return h


REFERENCES = {"lstm": lstm, "blstm": blstm, "gran": gran, "gru": gru, "pgru": pgru}


def test_every_network_has_a_reference() -> None:
    assert set(REFERENCES) == set(NETWORKS)


def trainable(kind: str, d: int = 5, threads: int = 2, network_l2: float = 0.0) -> TrainableRecurrent:
    table = np.random.default_rng(1).normal(size=(len(WORDS), d)).astype(np.float32)
    words, network = Vocabulary("word", WORDS), new_network(kind, d, seed=3)
    return TrainableRecurrent(words, table, network, ThreadTeam(threads), network_l2=network_l2)


def random_lists(count: int, max_length: int = 7) -> RowLists:
    """Lists of random words; the third one is empty."""
    draw = np.random.default_rng(2)
    lengths = draw.integers(1, max_length, count)
    lengths[2] = 0
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return RowLists(draw.integers(0, len(WORDS), offsets[-1]).astype(np.int32), offsets)


@pytest.mark.parametrize("kind", list(NETWORKS))
def test_vectors_follow_the_equations_of_the_paper(kind: str) -> None:
    part, lists = trainable(kind), random_lists(300)
    out = np.zeros((300, 9), np.float32)
    part.forward(lists, out, 2)
    for i in range(300):
        x = part.table[lists.rows[lists.offsets[i] : lists.offsets[i + 1]]].astype(np.float64)
        expected = REFERENCES[kind](x, part.network) if len(x) else np.zeros(5)
        assert out[i, 2:7] == pytest.approx(expected, abs=1e-5)
    assert not out[:, :2].any() and not out[:, 7:].any()


def test_gran_with_open_gates_is_the_average() -> None:
    part, lists = trainable("gran"), random_lists(40)
    with torch.no_grad():
        for name, value in part.network.named_parameters():
            if name.startswith("from_"):
                value.fill_(50.0 if name.endswith("bias") else 0.0)
    gated, averaged = np.zeros((40, 5), np.float32), np.zeros((40, 5), np.float32)
    part.forward(lists, gated, 0)
    average_kernels.add_means(*lists, part.table, np.ones(len(WORDS), np.float32), averaged, 0, 0, 40)
    assert gated == pytest.approx(averaged, abs=1e-6)


@pytest.mark.parametrize("kind", list(NETWORKS))
def test_gradients_equal_central_differences(kind: str) -> None:
    """Gradients of Σ G · vectors by every value of the table and every weight."""
    part, lists = trainable(kind, d=3), random_lists(8)
    draw = np.random.default_rng(4)
    gradient, active = draw.normal(size=(8, 3)).astype(np.float32), np.array([True] * 6 + [False] * 2)
    gradient[~active] = 0
    rows, by_row, by_weight = part.backward(BatchGradient(lists, gradient, active, 0))
    part.table, part.network = part.table.astype(np.float64), part.network.double()

    def value() -> float:
        total = 0.0
        for i in np.flatnonzero(active):
            x = part.table[lists.rows[lists.offsets[i] : lists.offsets[i + 1]]]
            if len(x):
                total += float(gradient[i] @ REFERENCES[kind](x, part.network))
        return total

    def differences(array: np.ndarray) -> np.ndarray:
        slopes = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            before = array[index]
            array[index] = before + 1e-5
            above = value()
            array[index] = before - 1e-5
            slopes[index] = (above - value()) / 2e-5
            array[index] = before
        return slopes

    by_table = differences(part.table)
    assert by_row == pytest.approx(by_table[rows], abs=1e-4)
    assert not by_table[np.setdiff1d(np.arange(len(WORDS)), rows)].any()
    for (name, weight), computed in zip(part.network.named_parameters(), by_weight, strict=True):
        assert computed == pytest.approx(differences(weight.detach().numpy()), abs=1e-4), name


@pytest.mark.parametrize("network_l2", [0.0, 0.1])
def test_adam_on_the_weights_equals_torch(network_l2: float) -> None:
    """With λ_c ‖W‖² (W17 §4.2), whose gradient is 2 λ_c W, torch's weight decay of 2 λ_c."""
    part, lists = trainable("gran", network_l2=network_l2), random_lists(30)
    draw = np.random.default_rng(5)
    active = np.ones(30, bool)
    peer = new_network("gran", 5, seed=3)
    adam = torch.optim.Adam(peer.parameters(), lr=0.01, weight_decay=2 * network_l2)
    for step in (1, 2, 3):
        gradient = draw.normal(size=(30, 5)).astype(np.float32)
        _, _, by_weight = part.backward(BatchGradient(lists, gradient, active, 0))
        for weight, by in zip(peer.parameters(), by_weight, strict=True):
            weight.grad = torch.from_numpy(by)
        adam.step()
        part.update(BatchGradient(lists, gradient, active, 0), 0.01, step)
    for ours, theirs in zip(part.network.parameters(), peer.parameters(), strict=True):
        assert ours.detach().numpy() == pytest.approx(theirs.detach().numpy(), abs=1e-6)


def toy_pairs(count: int = 300) -> list[pa.RecordBatch]:
    """Pairs whose meaning depends on word order: 'x bites y' means 'y is bitten by x'."""
    draw = np.random.default_rng(3)
    nouns = draw.integers(0, 30, (count, 2))
    src = [f"a{i} bites a{j}" for i, j in nouns]
    tgt = [f"a{j} is bitten by a{i}" for i, j in nouns]
    return pa.table({"src": src, "tgt": tgt}).to_batches(max_chunksize=150)


def frozen_encoder(spec: str) -> SentenceEncoder:
    """An encoder of WORDS with random vectors of dimension 4 and random weights."""
    table = np.random.default_rng(1).normal(size=(len(WORDS), 4)).astype(np.float32)
    words = Vocabulary("word", WORDS)
    parts = {
        name: Average(words, table) if name == "word" else Recurrent(words, table, new_network(name, 4, 1))
        for name in parse_spec(spec).parts
    }
    return SentenceEncoder(parse_spec(spec), parts)


@pytest.mark.parametrize("kind", ["word", *NETWORKS])
def test_networks_depend_on_word_order_and_averages_do_not(kind: str) -> None:
    first, second = frozen_encoder(kind).encode(["a b c", "c b a"])
    assert (np.abs(first - second).max() < 1e-6) == (kind == "word")


@pytest.mark.parametrize("spec", ["gran", "word,lstm", "trigram+blstm", "gru"])
def test_same_bytes_after_an_interruption_and_with_any_number_of_threads(tmp_path: Path, spec: str) -> None:
    config = replace(SMALL, spec=spec)

    def interrupt(encoder: SentenceEncoder) -> dict[str, float]:
        raise KeyboardInterrupt

    def evaluate(encoder: SentenceEncoder) -> dict[str, float]:
        return {"nothing": 0.0}

    for name, threads in (("one", 1), ("two", 2)):
        train_encoder(toy_pairs(), config, tmp_path / name, evaluate, seed=5, threads=threads)
    with pytest.raises(KeyboardInterrupt):
        train_encoder(toy_pairs(), config, tmp_path / "interrupted", interrupt, seed=5, checkpoint_seconds=0)
    train_encoder(toy_pairs(), config, tmp_path / "interrupted", evaluate, seed=5)
    digests = {folder_digest(folder, ignore=("timings.json",)) for folder in tmp_path.iterdir()}
    assert len(digests) == 1


def test_a_saved_encoder_loads_with_the_same_vectors(tmp_path: Path) -> None:
    encoder = frozen_encoder("word,gran")
    save_encoder(encoder, tmp_path / "encoder")
    loaded = load_encoder(tmp_path / "encoder", threads=2)
    sentences = ["a b c", "f", "c b a", "a b c d e f " * 30] * 700
    assert (loaded.encode(sentences) == encoder.encode(sentences)).all()
    assert loaded.signature == encoder.signature


def test_states_of_pgru_need_not_be_as_wide_as_the_word_vectors(tmp_path: Path) -> None:
    table = np.random.default_rng(1).normal(size=(len(WORDS), 5)).astype(np.float32)
    part = Recurrent(Vocabulary("word", WORDS), table, new_network("pgru", 3, seed=2, word_dimension=5))
    encoder = SentenceEncoder(parse_spec("pgru"), {"pgru": part})
    save_encoder(encoder, tmp_path / "encoder")
    loaded = load_encoder(tmp_path / "encoder")
    assert encoder.dimension == loaded.dimension == 3
    vectors = loaded.encode(["a b c", "f"])
    assert (vectors == encoder.encode(["a b c", "f"])).all()
    expected = pgru(table[[WORDS.index(word) for word in "abc"]].astype(np.float64), part.network)
    assert vectors[0] == pytest.approx(expected, abs=1e-6)


def test_weights_of_another_network_are_an_error(tmp_path: Path) -> None:
    for kind in ("gran", "gru"):
        save_encoder(frozen_encoder(kind), tmp_path / kind)
    (tmp_path / "gru/gru.safetensors").replace(tmp_path / "gran/gran.safetensors")
    with pytest.raises(ModelError, match="do not fit") as error:
        load_encoder(tmp_path / "gran")
    assert str(error.value.file).endswith("gran.safetensors")


def test_scrambling_keeps_the_words_of_each_sentence() -> None:
    lists = random_lists(500)
    mixed = scrambled(lists, 0.3, np.random.default_rng(1))
    changed = 0
    for i in range(500):
        before, after = (part.rows[part.offsets[i] : part.offsets[i + 1]] for part in (lists, mixed))
        assert sorted(before) == sorted(after)
        changed += (before != after).any()
    assert 60 < changed < 150
    with pytest.raises(ConfigError, match="scramble"):
        replace(SMALL, scramble=1.5)


@pytest.mark.parametrize("kind", list(NETWORKS))
def test_a_second_device_changes_nothing(kind: str) -> None:
    """Two replicas compute every other chunk; a replica with outdated weights would give other results."""
    one, two = trainable(kind), trainable(kind)
    two = TrainableRecurrent(two.vocabulary, two.table, two.network, ThreadTeam(2), devices=("cpu", "cpu"))
    lists, active = random_lists(700), np.ones(700, bool)
    draw = np.random.default_rng(6)
    for step in (1, 2):
        gradient = draw.normal(size=(700, 5)).astype(np.float32)
        for part in (one, two):
            part.update(BatchGradient(lists, gradient, active, 0), 0.01, step)
    assert all((one.state[name] == two.state[name]).all() for name in one.state)
    vectors = [np.zeros((700, 5), np.float32) for _ in range(2)]
    one.forward(lists, vectors[0], 0)
    two.forward(lists, vectors[1], 0)
    assert (vectors[0] == vectors[1]).all()


@pytest.fixture
def bfloat16(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """bfloat16 on any processor: torch's own loops support it where oneDNN's LSTM requires special instructions."""
    monkeypatch.setattr("paraloom.papers.recurrent_encoders.supports_bfloat16", lambda: True)
    with torch.backends.mkldnn.flags(enabled=False):
        yield


def test_bfloat16_without_instructions_for_it_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraloom.papers.recurrent_encoders.supports_bfloat16", lambda: False)
    part = trainable("gran")
    with pytest.raises(ConfigError, match="no instructions for bfloat16"):
        TrainableRecurrent(part.vocabulary, part.table, part.network, ThreadTeam(1), precision="bfloat16")


@pytest.mark.parametrize("kind", list(NETWORKS))
def test_gradients_in_bfloat16_differ_by_rounding_only(kind: str, bfloat16: None) -> None:
    part = trainable(kind)
    rounded = TrainableRecurrent(part.vocabulary, part.table, part.network, ThreadTeam(1), precision="bfloat16")
    lists, active = random_lists(200), np.ones(200, bool)
    gradient = np.random.default_rng(7).normal(size=(200, 5)).astype(np.float32)
    _, by_row, by_weight = part.backward(BatchGradient(lists, gradient, active, 0))
    _, rounded_by_row, rounded_by_weight = rounded.backward(BatchGradient(lists, gradient, active, 0))
    for exact, near in zip([by_row, *by_weight], [rounded_by_row, *rounded_by_weight], strict=True):
        assert near.dtype == np.float32
        assert 0 < np.abs(near - exact).max() < 0.02 * np.abs(exact).max()


def test_training_on_two_devices_gives_the_same_encoder(tmp_path: Path) -> None:
    config = replace(SMALL, spec="word,gran")
    one, two = (
        train_encoder(toy_pairs(), config, tmp_path / devices, devices=devices)["signature"]
        for devices in ("cpu", "cpu,cpu")
    )
    assert one == two


def test_training_in_bfloat16_gives_another_encoder_with_finite_loss(tmp_path: Path, bfloat16: None) -> None:
    config = replace(SMALL, spec="word,gran", epochs=1)
    exact = train_encoder(toy_pairs(), config, tmp_path / "float32")
    rounded = train_encoder(toy_pairs(), replace(config, precision="bfloat16"), tmp_path / "bfloat16")
    assert np.isfinite(rounded["loss"])
    assert rounded["signature"] != exact["signature"]


def test_a_missing_device_is_an_error_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="device 'cuda:77' not found; available: cpu"):
        train_encoder(toy_pairs(), replace(SMALL, spec="gran"), tmp_path / "out", devices="cuda:77")
    assert not (tmp_path / "out").exists()
    with pytest.raises(ConfigError, match="'precision'"):
        replace(SMALL, precision="half")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("kind", list(NETWORKS))
def test_a_gpu_computes_what_the_processor_does(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    part = trainable(kind)
    on_gpu = TrainableRecurrent(part.vocabulary, part.table, part.network, ThreadTeam(2), devices=("cuda:0",))
    lists, active = random_lists(3000), np.ones(3000, bool)
    gradient = np.random.default_rng(8).normal(size=(3000, 5)).astype(np.float32)
    ours, theirs = np.zeros((3000, 5), np.float32), np.zeros((3000, 5), np.float32)
    part.forward(lists, ours, 0)
    on_gpu.forward(lists, theirs, 0)
    assert theirs == pytest.approx(ours, abs=1e-5)
    _, by_row, by_weight = part.backward(BatchGradient(lists, gradient, active, 0))
    _, gpu_by_row, gpu_by_weight = on_gpu.backward(BatchGradient(lists, gradient, active, 0))
    for cpu, gpu in zip([by_row, *by_weight], [gpu_by_row, *gpu_by_weight], strict=True):
        assert gpu == pytest.approx(cpu, abs=1e-3 * np.abs(cpu).max())
