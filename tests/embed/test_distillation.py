"""Distilling: gradient, order, exact resume, and what it is for: a student's cosines near its teacher's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from paraloom.core.digests import folder_digest
from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.embed.average import unit
from paraloom.embed.distillation import StudentConfig, distil_encoder, neighbourly_order
from paraloom.embed.losses import similarity_loss
from paraloom.embed.store import load_encoder

SMALL = StudentConfig(dimension=16, steps=60, batch=24, block=4, planes=3, rate=0.01)
WORDS = [f"w{i}" for i in range(30)]


def taught(count: int = 200, seed: int = 0) -> list[pa.RecordBatch]:
    """Sentences of made-up words; the teacher knows a vector for each and adds them up."""
    draw = np.random.default_rng(seed)
    table = np.random.default_rng(9).normal(size=(len(WORDS), 8))
    lists = [draw.integers(0, len(WORDS), draw.integers(2, 7)) for _ in range(count)]
    vectors = unit(np.stack([table[each].sum(axis=0) for each in lists]).astype(np.float32)).astype(np.float16)
    texts = [" ".join(WORDS[k] for k in each) for each in lists]
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 8)
    whole = pa.record_batch({"text": pa.array(texts), "vector": column})
    return [whole.slice(0, 70), whole.slice(70)]


def test_the_loss_is_the_mean_square_and_its_gradient_is_that_of_differences():
    draw = np.random.default_rng(1)
    vectors = draw.normal(size=(5, 4)).astype(np.float32)
    vectors[3] = 0
    wanted = draw.uniform(-1, 1, (5, 5)).astype(np.float32)
    wanted = (wanted + wanted.T) / 2

    def value(x):
        norms = np.linalg.norm(x, axis=1, keepdims=True)
        u = x / np.where(norms > 0, norms, 1)
        off = u @ u.T - wanted
        return sum(off[i, j] ** 2 for i in range(5) for j in range(5) if i != j) / 5

    loss = similarity_loss(vectors, wanted)
    assert loss.value == pytest.approx(value(vectors.astype(np.float64)), rel=1e-5)
    assert loss.moved.tolist() == [True, True, True, False, True]
    for i in (0, 1, 2, 4):
        for j in range(4):
            shift = np.zeros((5, 4))
            shift[i, j] = 1e-4
            slope = (value(vectors + shift) - value(vectors - shift)) / 2e-4
            assert loss.gradient[i, j] == pytest.approx(slope, abs=2e-3)
    assert not loss.gradient[3].any()


def test_a_student_comes_near_its_teacher(tmp_path):
    figures = distil_encoder(taught(600), StudentConfig(spec="word", dimension=16, steps=400, batch=48), tmp_path / "e")
    (batch,) = pa.Table.from_batches(taught(100, seed=5)).combine_chunks().to_batches()
    teacher = batch.column("vector").flatten().to_numpy(zero_copy_only=False).reshape(-1, 8).astype(np.float32)
    student = unit(load_encoder(tmp_path / "e").encode(batch.column("text").to_pylist()))
    off = student @ student.T - teacher @ teacher.T
    assert np.sqrt((off**2).mean()) < 0.1
    curve = [json.loads(line) for line in (tmp_path / "e" / "curve.jsonl").read_text().splitlines()]
    assert curve[-1]["loss"] < curve[0]["loss"] / 5
    assert figures["sentences"] == {"read": 600, "used": 600, "empty": 0, "too_long": 0}


def test_neighbours_stand_together_and_everyone_stands_once():
    draw = np.random.default_rng(2)
    centres = unit(draw.normal(size=(8, 12)).astype(np.float32))
    which = draw.integers(0, 8, 960)
    vectors = unit(centres[which] + 0.05 * draw.normal(size=(960, 12)).astype(np.float32)).astype(np.float16)
    order = neighbourly_order(vectors, 16, 8, np.random.default_rng(3))
    assert sorted(order.tolist()) == list(range(960))
    together = np.mean([len(set(which[block])) for block in order.reshape(-1, 16)])
    by_chance = np.mean([len(set(which[block])) for block in draw.permutation(960).reshape(-1, 16)])
    assert together < 3 < by_chance


def test_a_killed_distilling_goes_on_to_the_same_bytes(tmp_path):
    script = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from test_embed_distil import *\n"
        "import os, signal, paraloom.embed.checkpoint as c\n"
        "write, done = c.write_checkpoint, []\n"
        "def kill(*a):\n"
        "    write(*a); done.append(1)\n"
        "    if len(done) == 40: os.kill(os.getpid(), signal.SIGKILL)\n"
        "c.write_checkpoint = kill\n"
        "distil_encoder(taught(), SMALL, sys.argv[1], threads=1, checkpoint_seconds=0)\n"
    )
    root = Path(__file__).resolve().parents[2]
    run = subprocess.run([sys.executable, "-c", script, str(tmp_path / "killed")], cwd=root)
    assert run.returncode == -9
    distil_encoder(taught(), SMALL, tmp_path / "killed", threads=2)
    distil_encoder(taught(), SMALL, tmp_path / "whole", threads=1)
    digests = {folder_digest(tmp_path / name, ignore=("timings.json",)) for name in ("killed", "whole")}
    assert len(digests) == 1


@pytest.mark.parametrize("count", [2, 33, 50])
def test_fewer_sentences_than_a_batch_are_learned_from(count, tmp_path):
    few = [taught(80)[0].slice(0, count)]
    assert distil_encoder(few, StudentConfig(dimension=8, steps=3, block=32), tmp_path / "few")["steps"] == 3


def test_bad_input_is_named(tmp_path):
    texts = pa.array(["a b", "c d"])
    with pytest.raises(DataError, match="no column 'vector'"):
        distil_encoder([pa.record_batch({"text": texts})], SMALL, tmp_path / "a")
    nothing = pa.FixedSizeListArray.from_arrays(pa.array(np.full(4, np.nan, np.float16)), 2)
    with pytest.raises(DataError, match="'empty': 2"):
        distil_encoder([pa.record_batch({"text": texts, "vector": nothing})], SMALL, tmp_path / "b")
    with pytest.raises(ConfigError, match="steps"):
        StudentConfig(steps=0).check()
    with pytest.raises(ModelError, match="the loss is"):
        config = StudentConfig(dimension=16, steps=60, batch=24, block=4, rate=1e38)
        distil_encoder(taught(), config, tmp_path / "c")
