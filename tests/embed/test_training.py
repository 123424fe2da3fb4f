"""Training on pairs: gradients against differences, hard negatives against brute force, byte-identical resume."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from paraloom.core.digests import folder_digest
from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.embed import losses
from paraloom.embed.average import normalize_vectors
from paraloom.embed.average_training import BatchGradient, TrainableAverage
from paraloom.embed.config import EncoderConfig
from paraloom.embed.data import stream_pairs
from paraloom.embed.losses import Triples, batch_triples, hardest_negatives, margin_loss
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import load_encoder
from paraloom.embed.threads import ThreadTeam
from paraloom.embed.training import train_encoder
from paraloom.embed.vocabulary import RowLists, Vocabulary

SMALL = EncoderConfig(dimension=16, epochs=2, batch_size=20, megabatch_size=3, learning_rate=0.01)


def toy_pairs(count: int = 400) -> list[pa.RecordBatch]:
    """Paraphrases by an artificial rule: each noun of one side has a synonym on the other."""
    draw = np.random.default_rng(3)
    nouns = draw.integers(0, 40, (count, 3))
    src = [f"the a{i} sees a{j} and a{k}" for i, j, k in nouns]
    tgt = [f"b{i} has b{j} , b{k} seen" for i, j, k in nouns]
    return pa.table({"src": src, "tgt": tgt}).to_batches(max_chunksize=150)


def sides(batches: list[pa.RecordBatch]) -> tuple[list[str], list[str]]:
    table = pa.Table.from_batches(batches)
    return table["src"].to_pylist(), table["tgt"].to_pylist()


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("spec", ["word", "word,trigram", "word+trigram"])
def test_gradients_equal_central_differences_of_the_loss(spec, two_sided):
    """By every value of every table; the loss as the papers define it."""
    draw = np.random.default_rng(0)
    spec, d, count = parse_spec(spec), 3, 4
    columns, width = spec.columns(d), spec.width(d)
    parts, lists = {}, {}
    for name in spec.parts:
        table = draw.normal(size=(6, d)).astype(np.float32)
        parts[name] = TrainableAverage(Vocabulary(name, list("abcdef")), table, ThreadTeam(2))
        lengths = draw.integers(1, 5, 4 * count)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        lists[name] = RowLists(draw.integers(0, 6, offsets[-1]).astype(np.int32), offsets)
    of_first, of_second = np.array([1, -1, 0, 2]), np.array([2, 0, -1, 1])
    triples = batch_triples(count, of_first, of_second if two_sided else None)

    def forward() -> np.ndarray:
        vectors = np.zeros((4 * count, width), np.float32)
        for name, part in parts.items():
            part.forward(lists[name], vectors, columns[name])
        return vectors

    def cosine(a: np.ndarray, b: np.ndarray) -> float:
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    def loss(tables: dict[str, np.ndarray]) -> float:
        v = np.zeros((4 * count, width))
        for name, (rows, offsets) in lists.items():
            for i in range(4 * count):
                v[i, columns[name] : columns[name] + d] += tables[name][rows[offsets[i] : offsets[i + 1]]].mean(axis=0)
        total = 0.0
        for i in range(count):
            s, p, t1, t2 = v[i], v[i + count], v[i + 2 * count], v[i + 3 * count]
            if of_first[i] >= 0:
                total += max(0, 0.9 - cosine(s, p) + cosine(s, t1))
            if two_sided and of_second[i] >= 0:
                total += max(0, 0.9 - cosine(s, p) + cosine(p, t2))
        return total / count

    computed = margin_loss(forward(), triples, 0.9, count)
    tables = {name: part.table.astype(np.float64) for name, part in parts.items()}
    assert computed.value == pytest.approx(loss(tables), abs=1e-5) and computed.violations > 0
    for name, part in parts.items():
        unique, by_row = part.backward(BatchGradient(lists[name], computed.gradient, computed.active, columns[name]))
        whole = np.zeros((6, d))
        whole[unique] = by_row
        for at in np.ndindex(6, d):
            shifted = {key: table.copy() for key, table in tables.items()}
            shifted[name][at] += 1e-6
            above = loss(shifted)
            shifted[name][at] -= 2e-6
            assert whole[at] == pytest.approx((above - loss(shifted)) / 2e-6, abs=2e-5)


def test_a_zero_vector_has_no_gradient():
    vectors = np.float32([[0, 0], [1, 0], [0, 1]])
    at = [np.array([k]) for k in range(3)]
    loss = margin_loss(vectors, Triples(*at), 0.4, 1)
    assert loss.value == pytest.approx(0.4) and not loss.gradient.any()


def test_adam_equals_torch_on_rows_of_the_batch_and_keeps_others():
    torch = pytest.importorskip("torch")
    draw = np.random.default_rng(1)
    table = draw.normal(size=(5, 4)).astype(np.float32)
    part = TrainableAverage(Vocabulary("word", list("abcde")), table.copy(), ThreadTeam(1))
    weights = torch.nn.Parameter(torch.tensor(table[:3]))
    adam = torch.optim.Adam([weights], lr=0.01)
    lists = RowLists(np.array([0, 1, 2, 2], np.int32), np.array([0, 2, 4]))
    for step in range(1, 6):
        gradient = draw.normal(size=(2, 4)).astype(np.float32)
        part.update(BatchGradient(lists, gradient, np.ones(2, bool), 0), 0.01, step)
        means = torch.stack([weights[[0, 1]].mean(0), weights[[2, 2]].mean(0)])
        adam.zero_grad()
        (means * torch.tensor(gradient)).sum().backward()
        adam.step()
    np.testing.assert_allclose(part.table[:3], weights.detach().numpy(), atol=1e-6)
    np.testing.assert_array_equal(part.table[3:], table[3:])


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_negatives_are_the_nearest_of_pairs_without_a_common_sentence(threads):
    draw = np.random.default_rng(2)
    vectors = draw.normal(size=(600, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    keys, others = draw.integers(0, 500, (2, 600)).astype(np.uint64)
    negatives = hardest_negatives(vectors, keys, others, ThreadTeam(threads))
    cosines = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
    for i in range(600):
        allowed = [j for j in range(600) if not {keys[i], others[i]} & {keys[j], others[j]}]
        assert cosines[i, negatives[i]] == pytest.approx(cosines[i, allowed].max(), abs=1e-6)
        assert negatives[i] in allowed


def test_negatives_are_searched_in_m_mini_batches(tmp_path, monkeypatch):
    searched = []

    def recorded(vectors, *arguments):
        searched.append(len(vectors))
        return hardest_negatives(vectors, *arguments)

    monkeypatch.setattr("paraloom.embed.training.hardest_negatives", recorded)
    train_encoder(toy_pairs(130), replace(SMALL, epochs=1), tmp_path)  # M = 3 of 20 pairs
    assert searched == [60, 60, 10]


@pytest.mark.parametrize("count", [1, 2])
def test_a_single_pair_has_no_negative(count):
    keys = np.full(count, 7, np.uint64)
    assert (hardest_negatives(np.eye(count, dtype=np.float32), keys, keys + np.uint64(1), ThreadTeam(1)) == -1).all()


@pytest.mark.parametrize("spec", ["word", "trigram", "word,trigram", "word+trigram"])
def test_training_lowers_the_loss_and_reports_figures(tmp_path, spec):
    pairs = toy_pairs()
    config = EncoderConfig(spec=spec, dimension=16, epochs=6, batch_size=20, megabatch_size=3, learning_rate=0.01)
    figures = train_encoder(pairs, config, tmp_path, lambda encoder: {"similarity": mean_similarity(encoder)})
    assert figures["pairs"] == {"read": 400, "used": 400, "empty": 0, "too_long": 0}
    curve = [json.loads(line) for line in (tmp_path / "curve.jsonl").read_text().splitlines()]
    values = [line["loss"] for line in curve if "loss" in line]
    assert values[-1] < values[0]
    assert [line["dev"]["similarity"] for line in curve if "dev" in line][-1] == figures["dev"]["similarity"]
    assert load_encoder(tmp_path).signature == figures["signature"]
    assert not (tmp_path / "checkpoint").exists()


def mean_similarity(encoder) -> float:
    """Mean cosine of the toy pairs."""
    a, b = (normalize_vectors(encoder.encode(side)) for side in sides(toy_pairs()))
    return float((a * b).sum(axis=1).mean())


def digest_of(folder) -> str:
    return folder_digest(folder, ignore=("timings.json",))


def test_the_encoder_does_not_depend_on_the_number_of_threads(tmp_path):
    digests = set()
    for threads in (1, 2, 3):
        train_encoder(toy_pairs(), SMALL, tmp_path / str(threads), threads=threads)
        digests.add(digest_of(tmp_path / str(threads)))
    assert len(digests) == 1
    train_encoder(toy_pairs(), SMALL, tmp_path / "seed", seed=2)
    assert digest_of(tmp_path / "seed") not in digests


class InterruptedTrainingError(Exception):
    """Stands for an interruption of the process."""


def interrupting_evaluator():
    """An evaluator that interrupts after the first epoch, in its second call: the first is before the first step."""
    calls = []

    def interrupt(encoder):
        calls.append(encoder)
        if len(calls) == 2:
            raise InterruptedTrainingError
        return {"one": 1.0}

    return interrupt


def test_an_interrupted_training_resumes_byte_identically(tmp_path):
    train_encoder(toy_pairs(), SMALL, tmp_path / "whole", evaluator=lambda encoder: {"one": 1.0})

    def interrupt_at_once(encoder):
        raise InterruptedTrainingError

    # Interrupted twice in the evaluation after the first epoch; each mega-batch writes a checkpoint.
    for interrupt in (interrupting_evaluator(), interrupt_at_once):
        with pytest.raises(InterruptedTrainingError):
            train_encoder(toy_pairs(), SMALL, tmp_path / "interrupted", evaluator=interrupt, checkpoint_seconds=0)
    assert not (tmp_path / "interrupted" / "config.json").exists()
    train_encoder(
        toy_pairs(), SMALL, tmp_path / "interrupted", evaluator=lambda encoder: {"one": 1.0}, checkpoint_seconds=0
    )
    assert digest_of(tmp_path / "interrupted") == digest_of(tmp_path / "whole")


def test_keep_best_saves_the_best_epoch_also_after_an_interruption(tmp_path):
    def evaluator(interrupt_in=None):
        calls = []

        def evaluate(encoder):
            calls.append(encoder)
            if len(calls) == interrupt_in:
                raise InterruptedTrainingError
            return {"one": (40.0, 50.0, 70.0, 60.0)[len(calls) - 1]}

        return evaluate

    config = replace(SMALL, epochs=3)
    train_encoder(toy_pairs(), replace(SMALL, epochs=2), tmp_path / "two")
    train_encoder(toy_pairs(), config, tmp_path / "best", evaluator=evaluator(), keep_best=True)
    ours, second = load_encoder(tmp_path / "best"), load_encoder(tmp_path / "two")
    assert np.array_equal(ours.encode(["a b", "c"]), second.encode(["a b", "c"]))
    assert not (tmp_path / "best" / "checkpoint").exists()
    with pytest.raises(InterruptedTrainingError):
        train_encoder(
            toy_pairs(), config, tmp_path / "interrupted", evaluator=evaluator(4), keep_best=True, checkpoint_seconds=0
        )
    train_encoder(
        toy_pairs(), config, tmp_path / "interrupted", evaluator=lambda encoder: {"one": 60.0}, keep_best=True
    )
    assert digest_of(tmp_path / "interrupted") == digest_of(tmp_path / "best")
    with pytest.raises(ConfigError, match="evaluator"):
        train_encoder(toy_pairs(), config, tmp_path / "none", keep_best=True)


def test_the_start_is_kept_and_a_training_that_loses_says_so(tmp_path):
    def falling():
        figures = iter((80.0, 70.0, 60.0))
        return lambda encoder: {"one": next(figures)}

    with pytest.warns(UserWarning, match=r"ends below its untrained start, 60.00 against 80.00$"):
        train_encoder(toy_pairs(), SMALL, tmp_path / "last", falling())
    with pytest.warns(UserWarning, match=r"no epoch is better than the untrained start \(80.00\), which is kept"):
        train_encoder(toy_pairs(), SMALL, tmp_path / "best", falling(), keep_best=True)
    last, best, start = (load_encoder(tmp_path / name) for name in ("last", "best", "last/start"))
    assert start.signature == best.signature != last.signature
    curve = [json.loads(line) for line in (tmp_path / "last" / "curve.jsonl").read_text().splitlines()]
    assert [(line["epoch"], line["dev"]["one"]) for line in curve if "dev" in line] == [(0, 80.0), (1, 70.0), (2, 60.0)]


def test_relative_rates_move_each_vector_in_proportion_to_its_length():
    table = np.float32([[1, -1], [0.01, 0.01]])
    part = TrainableAverage(Vocabulary("word", ["a", "b"]), table.copy(), ThreadTeam(1), relative_learning_rate=0.1)
    lists = RowLists(np.int32([0, 1]), np.int64([0, 1, 2]))
    part.update(BatchGradient(lists, np.float32([[3, -2], [3, -2]]), np.ones(2, bool), 0), 0.7, 1)
    # The first step of Adam is the rate, whatever the gradient.
    np.testing.assert_allclose(part.table, [[0.9, -0.9], [0.009, 0.011]], rtol=1e-4)


def test_softmax_trains_and_resumes_byte_identically(tmp_path):
    config = replace(SMALL, loss="softmax", epochs=2, relative_learning_rate=0.01)
    train_encoder(toy_pairs(), config, tmp_path / "whole")
    curve = [json.loads(line) for line in (tmp_path / "whole" / "curve.jsonl").read_text().splitlines()]
    assert all(0 <= line["violations"] <= 1 for line in curve)
    with pytest.raises(InterruptedTrainingError):
        train_encoder(toy_pairs(), config, tmp_path / "interrupted", interrupting_evaluator(), checkpoint_seconds=0)
    train_encoder(toy_pairs(), config, tmp_path / "interrupted", checkpoint_seconds=0)
    whole, resumed = load_encoder(tmp_path / "whole"), load_encoder(tmp_path / "interrupted")
    assert whole.signature == resumed.signature


@pytest.mark.slow
def test_a_killed_training_resumes_byte_identically(tmp_path):
    script = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from embed.test_training import *\n"
        "import os, signal, paraloom.embed.checkpoint as t\n"
        "write, done = t.write_checkpoint, []\n"
        "def kill(*a):\n"
        "    write(*a); done.append(1)\n"
        "    if len(done) == 4: os.kill(os.getpid(), signal.SIGKILL)\n"
        "t.write_checkpoint = kill\n"
        "train_encoder(toy_pairs(), SMALL, sys.argv[1], threads=1, checkpoint_seconds=0)\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "killed")],
        env=os.environ,
        cwd=Path(__file__).resolve().parents[2],
    )
    assert process.returncode == -signal.SIGKILL
    assert (tmp_path / "killed" / "checkpoint" / "state.safetensors").exists()
    train_encoder(toy_pairs(), SMALL, tmp_path / "killed", threads=2)
    train_encoder(toy_pairs(), SMALL, tmp_path / "whole", threads=1)
    assert digest_of(tmp_path / "killed") == digest_of(tmp_path / "whole")


def test_pairs_of_equal_sides_are_an_error(tmp_path):
    same = [pa.record_batch({"src": ["a dog", "a cat sees"], "tgt": ["A dog", "sees a cat"]})]
    with pytest.raises(DataError, match="same words: there is nothing to learn"):
        train_encoder(same, SMALL, tmp_path)


def test_a_batch_larger_than_the_corpus_is_warned_of(tmp_path):
    with pytest.warns(UserWarning, match="a batch of 500 pairs is larger than the corpus of 400"):
        train_encoder(toy_pairs(), replace(SMALL, batch_size=500), tmp_path)


@pytest.mark.parametrize("what", ["pairs", "configuration", "bytes"])
def test_a_checkpoint_of_another_training_is_an_error(tmp_path, what):
    with pytest.raises(InterruptedTrainingError):
        train_encoder(toy_pairs(), SMALL, tmp_path, evaluator=interrupting_evaluator(), checkpoint_seconds=0)
    if what == "bytes":
        path = tmp_path / "checkpoint" / "state.safetensors"
        path.write_bytes(path.read_bytes()[:100])
    pairs = toy_pairs(401) if what == "pairs" else toy_pairs()
    config = EncoderConfig(dimension=8) if what == "configuration" else SMALL
    with pytest.raises(ModelError, match="cannot be read" if what == "bytes" else "on other data or with another conf"):
        train_encoder(pairs, config, tmp_path)


def test_training_that_continues_from_an_encoder_keeps_its_vocabulary_and_vectors(tmp_path):
    train_encoder(toy_pairs(), SMALL, tmp_path / "a")
    # With so small a learning rate nothing changes.
    config = replace(SMALL, epochs=1, relative_learning_rate=1e-9)
    train_encoder(toy_pairs(), config, tmp_path / "b", init_from=tmp_path / "a", seed=2)
    a, b = load_encoder(tmp_path / "a"), load_encoder(tmp_path / "b")
    assert a.parts["word"].vocabulary.entries == b.parts["word"].vocabulary.entries
    sentences = ["the a1 sees a2 and a3", "b1 has b2"]
    np.testing.assert_allclose(b.encode(sentences), a.encode(sentences), atol=1e-5)


def test_row_counts_add_up_and_only_unusable_pairs_are_dropped(tmp_path):
    long = "word " * 31
    batch = pa.RecordBatch.from_pydict({"src": ["a b", "", long, "c d", " "], "tgt": ["b a", "x", "x", "d e", long]})
    data = stream_pairs([batch], tmp_path, 30, {"word": 10})
    assert data.counts == {"read": 5, "used": 2, "empty": 2, "too_long": 1}
    assert data.keys[0] == data.keys[1] != data.keys[2]
    taken = data.units["word"].take(np.array([2, 0]))
    entries = data.units["word"].counted.vocabulary.entries
    assert [entries[row] for row in taken.rows] == ["c", "d", "a", "b"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [({"src": ["a"]}, "'tgt' is missing"), ({"src": [""], "tgt": ["a"]}, "no pair is left"), (None, "no pair is left")],
)
def test_unusable_pairs_are_an_error(tmp_path, columns, message):
    batches = [] if columns is None else [pa.RecordBatch.from_pydict(columns)]
    with pytest.raises(DataError, match=message):
        train_encoder(batches, SMALL, tmp_path)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"epochs": 0}, "'epochs'"), ({"learning_rate": float("nan")}, "'learning_rate'")],
)
def test_an_invalid_configuration_is_an_error(wrong, message):
    with pytest.raises(ConfigError, match=message):
        EncoderConfig(**wrong)


@pytest.mark.filterwarnings("ignore:overflow")
def test_a_loss_that_is_not_finite_is_an_error_with_its_batch(tmp_path):
    wild = EncoderConfig(dimension=4, batch_size=20, megabatch_size=3, learning_rate=1e38, word_init_std=1e30)
    with pytest.raises(ModelError, match=r"the loss is (nan|inf) in epoch 1, batch \d+"):
        train_encoder(toy_pairs(), wild, tmp_path)


@pytest.mark.parametrize("block", [1, 7, 256])
def test_negatives_do_not_depend_on_the_block_size(block, monkeypatch):

    draw = np.random.default_rng(5)
    # Many equal vectors: ties go to the lower row.
    vectors = np.repeat(draw.normal(size=(40, 6)).astype(np.float32), 3, axis=0)[draw.permutation(120)]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    keys, others = draw.integers(0, 90, (2, 120)).astype(np.uint64)
    expected = hardest_negatives(vectors, keys, others, ThreadTeam(1))
    monkeypatch.setattr(losses, "_BLOCK", block)
    assert np.array_equal(hardest_negatives(vectors, keys, others, ThreadTeam(2)), expected)
    cosines = np.round(vectors @ vectors.T, 5)
    for i in range(120):
        allowed = [j for j in range(120) if not {keys[i], others[i]} & {keys[j], others[j]}]
        assert expected[i] == min(j for j in allowed if cosines[i, j] == cosines[i, allowed].max())
