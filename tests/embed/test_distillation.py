"""Distillation: the loss and its gradient, neighborhoods, exact resume."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from paraloom.core.digests import folder_digest
from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.embed import distillation
from paraloom.embed.average import normalize_vectors
from paraloom.embed.distillation import (
    DistillationConfig,
    agreement,
    distill_encoder,
    neighborhood_order,
    split_held_out,
    stream_sentences,
)
from paraloom.embed.losses import similarity_loss
from paraloom.embed.store import load_encoder

SMALL = DistillationConfig(
    dimension=16, steps=60, batch_size=24, neighborhood_size=4, num_hyperplanes=3, learning_rate=0.01
)
WORDS = [f"w{i}" for i in range(30)]


def teacher_batches(count: int = 200, seed: int = 0) -> list[pa.RecordBatch]:
    """Sentences of artificial words with the vectors of a teacher: sums of a vector per word."""
    draw = np.random.default_rng(seed)
    table = np.random.default_rng(9).normal(size=(len(WORDS), 8))
    lists = [draw.integers(0, len(WORDS), draw.integers(2, 7)) for _ in range(count)]
    vectors = normalize_vectors(np.stack([table[numbers].sum(axis=0) for numbers in lists]).astype(np.float32)).astype(
        np.float16
    )
    texts = [" ".join(WORDS[k] for k in numbers) for numbers in lists]
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 8)
    whole = pa.record_batch({"text": pa.array(texts), "vector": column})
    return [whole.slice(0, 70), whole.slice(70)]


def test_the_loss_and_its_gradient_agree_with_their_definition():
    draw = np.random.default_rng(1)
    vectors = draw.normal(size=(5, 4)).astype(np.float32)
    vectors[3] = 0
    target = draw.uniform(-1, 1, (5, 5)).astype(np.float32)
    target = (target + target.T) / 2

    def value(x):
        norms = np.linalg.norm(x, axis=1, keepdims=True)
        u = x / np.where(norms > 0, norms, 1)
        errors = u @ u.T - target
        return sum(errors[i, j] ** 2 for i in range(5) for j in range(5) if i != j) / 5

    loss = similarity_loss(vectors, target)
    assert loss.value == pytest.approx(value(vectors.astype(np.float64)), rel=1e-5)
    assert loss.active.tolist() == [True, True, True, False, True]
    for i in (0, 1, 2, 4):
        for j in range(4):
            shift = np.zeros((5, 4))
            shift[i, j] = 1e-4
            slope = (value(vectors + shift) - value(vectors - shift)) / 2e-4
            assert loss.gradient[i, j] == pytest.approx(slope, abs=2e-3)
    assert not loss.gradient[3].any()


def test_the_loss_falls_and_all_sentences_are_counted(tmp_path):
    config = DistillationConfig(spec="word", dimension=16, steps=400, batch_size=48)
    figures = distill_encoder(teacher_batches(600), config, tmp_path)
    curve = [json.loads(line) for line in (tmp_path / "curve.jsonl").read_text().splitlines()]
    losses = [line["loss"] for line in curve if "loss" in line]
    assert losses[-1] < losses[0]
    assert [line["step"] for line in curve if "dev" in line][:5] == [0, 50, 63, 79, 99]
    assert load_encoder(tmp_path).signature == figures["signature"]
    assert figures["sentences"] == {"read": 600, "used": 588, "empty": 0, "too_long": 0, "held_out": 12}


def agreements(monkeypatch, *values: float) -> None:
    """What the evaluations of a training find, one after the other; the last one for all that follow."""
    remaining = list(values)
    monkeypatch.setattr(distillation, "agreement", lambda *_: remaining.pop(0) if len(remaining) > 1 else remaining[0])


@pytest.mark.parametrize(("values", "best_step"), [((1, 3, 2), 50), ((1, 2, 3), 60), ((1, 2.9, 3), 50), ((3, 1, 2), 0)])
def test_the_encoder_that_agrees_best_is_kept_whatever_development_pairs_say(values, best_step, tmp_path, monkeypatch):
    agreements(monkeypatch, *values)
    signatures = {}

    def evaluator(encoder):
        signatures[encoder.signature] = step = (0, 50, 60)[len(signatures)]
        return {"dev_pearson": 90.0 - step}

    if best_step:
        figures = distill_encoder(teacher_batches(), SMALL, tmp_path, evaluator)
    else:
        with pytest.warns(UserWarning, match="no step agrees better with the teacher than the untrained start"):
            figures = distill_encoder(teacher_batches(), SMALL, tmp_path, evaluator)
    assert signatures[load_encoder(tmp_path).signature] == figures["best_step"] == best_step
    assert figures["dev"] == {"agreement": values[(0, 50, 60).index(best_step)], "dev_pearson": 90 - best_step}
    assert figures["untrained"] == {"agreement": values[0], "dev_pearson": 90}
    assert not (tmp_path / "checkpoint").exists()


def test_a_training_ends_when_agreement_has_not_risen_for_long(tmp_path, monkeypatch):
    monkeypatch.setattr(distillation, "_EARLIEST", 20)
    agreements(monkeypatch, 1, 3, 2)
    figures = distill_encoder(teacher_batches(), replace(SMALL, steps=1000), tmp_path)
    assert (figures["best_step"], figures["steps"]) == (50, 200)


def test_agreement_is_the_share_of_the_loss_that_is_gone():
    teacher = np.float32([[1, 0], [1, 0], [0, 1]])
    for loss in ("squared", "softmax", "both"):
        config = DistillationConfig(loss=loss)
        assert agreement(config, 2 * teacher, teacher) == pytest.approx(100, abs=1e-3)
        assert agreement(config, np.zeros((3, 5), np.float32), teacher) == 0
        assert agreement(config, teacher[::-1].copy(), teacher) < 0
    # Of three pairs the teacher's cosines are 1, 0 and 0; those of vectors 60 degrees apart are 0.5, 0.5 and -0.5.
    thirds = np.float32([[1, 0], [0.5, 0.75**0.5], [0.5, -(0.75**0.5)]])
    assert agreement(DistillationConfig(), thirds, teacher) == pytest.approx(100 * (1 - 0.75), abs=1e-3)


def test_one_sentence_of_fifty_is_held_out_by_its_key_with_all_its_copies():
    keys = np.random.default_rng(4).permutation(np.repeat(np.arange(500, dtype=np.uint64), 3))
    trained, held_out = split_held_out(keys)
    assert sorted(keys[held_out]) == list(range(10))
    assert len(trained) == 1500 - 30 and keys[trained].min() == 10
    many = np.random.default_rng(5).permutation(np.arange(100_000, dtype=np.uint64))
    assert len(split_held_out(many)[1]) == 1000
    # Three are too few of 149 sentences: all are trained on and compared.
    assert [len(rows) for rows in split_held_out(many[:149])] == [149, 149]
    assert [len(rows) for rows in split_held_out(many[:150])] == [147, 3]


def test_what_the_teacher_says_of_held_out_sentences_is_not_learned(tmp_path, monkeypatch):
    def trained(name: str, *changed: int) -> str:
        """The signature of the last encoder, with other vectors of the teacher in some rows."""
        agreements(monkeypatch, 1, 2, 3)
        whole = pa.Table.from_batches(teacher_batches())
        vectors = np.stack(whole["vector"].to_numpy())
        vectors[list(changed)] = np.eye(8, dtype=np.float16)[0]
        column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 8)
        batches = whole.set_column(1, "vector", column).to_batches()
        return str(distill_encoder(batches, SMALL, tmp_path / name)["signature"])

    data = stream_sentences(teacher_batches(), tmp_path / "data", 60, {"word": 30})
    assert len(data.held_out) == 4
    assert not set(data.held_out) & set(data.trained)
    unchanged = trained("unchanged")
    assert trained("held-out", *data.held_out) == unchanged
    assert trained("others", *data.trained[:4]) != unchanged


def test_neighborhoods_contain_neighbors_and_every_row_once():
    draw = np.random.default_rng(2)
    centers = normalize_vectors(draw.normal(size=(8, 12)).astype(np.float32))
    cluster = draw.integers(0, 8, 960)
    vectors = normalize_vectors(centers[cluster] + 0.05 * draw.normal(size=(960, 12)).astype(np.float32)).astype(
        np.float16
    )
    order = neighborhood_order(vectors, 16, 8, np.random.default_rng(3))
    assert sorted(order.tolist()) == list(range(960))
    neighbors = np.mean([len(set(cluster[rows])) for rows in order.reshape(-1, 16)])
    random = np.mean([len(set(cluster[rows])) for rows in draw.permutation(960).reshape(-1, 16)])
    assert neighbors < 3 < random


@pytest.mark.slow
def test_a_killed_distillation_resumes_byte_identically_and_keeps_its_best(tmp_path, monkeypatch):
    script = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from embed.test_distillation import *\n"
        "import os, signal, paraloom.embed.checkpoint as c\n"
        "values = iter((1, 3))\n"
        "distillation.agreement = lambda *_: next(values)\n"
        "write, done = c.write_checkpoint, []\n"
        "def kill(*a):\n"
        "    write(*a); done.append(1)\n"
        "    if len(done) == 55: os.kill(os.getpid(), signal.SIGKILL)\n"
        "c.write_checkpoint = kill\n"
        "distill_encoder(teacher_batches(), SMALL, sys.argv[1], threads=1, checkpoint_seconds=0)\n"
    )
    root = Path(__file__).resolve().parents[2]
    process = subprocess.run([sys.executable, "-c", script, str(tmp_path / "killed")], cwd=root)
    assert process.returncode == -9
    agreements(monkeypatch, 2)
    distill_encoder(teacher_batches(), SMALL, tmp_path / "killed", threads=2)
    agreements(monkeypatch, 1, 3, 2)
    assert distill_encoder(teacher_batches(), SMALL, tmp_path / "whole", threads=1)["best_step"] == 50
    digests = {folder_digest(tmp_path / name, ignore=("timings.json",)) for name in ("killed", "whole")}
    assert len(digests) == 1


@pytest.mark.parametrize("count", [2, 33, 50])
def test_fewer_sentences_than_a_batch_suffice(count, tmp_path):
    few = [teacher_batches(80)[0].slice(0, count)]
    assert (
        distill_encoder(few, DistillationConfig(dimension=8, steps=3, neighborhood_size=32), tmp_path / "few")["steps"]
        == 3
    )


def test_sentences_without_a_vector_are_left_out(tmp_path):
    vectors = pa.array([[1, 0], None, [0, 1], [3, 0]], pa.list_(pa.float32(), 2))
    batch = pa.record_batch({"text": ["a dog", "a cat", "two cats", "no dog"], "vector": vectors})
    data = stream_sentences([batch], tmp_path, 60, {"word": 10})
    assert data.counts == {"read": 4, "used": 2, "empty": 2, "too_long": 0, "held_out": 0}
    assert data.vectors.tolist() == [[1, 0], [0, 1]]


def test_invalid_input_is_an_error(tmp_path):
    texts = pa.array(["a b", "c d"])
    with pytest.raises(DataError, match="column 'vector'"):
        distill_encoder([pa.record_batch({"text": texts})], SMALL, tmp_path / "a")
    nothing = pa.FixedSizeListArray.from_arrays(pa.array(np.full(4, np.nan, np.float16)), 2)
    with pytest.raises(DataError, match="'empty': 2"):
        distill_encoder([pa.record_batch({"text": texts, "vector": nothing})], SMALL, tmp_path / "b")
    with pytest.raises(ConfigError, match="steps"):
        DistillationConfig(steps=0)
    with pytest.raises(ModelError, match="the loss is"):
        config = DistillationConfig(dimension=16, steps=60, batch_size=24, neighborhood_size=4, learning_rate=1e38)
        distill_encoder(teacher_batches(), config, tmp_path / "c")
