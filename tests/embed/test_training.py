"""Training: gradients against differences, mining against a search by hand, and one set of bytes come what may."""

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
from paraloom.embed.average_training import LearningAverage
from paraloom.embed.config import EncoderConfig
from paraloom.embed.hard_negatives import hardest_negatives
from paraloom.embed.losses import Triples, batch_triples, margin_loss
from paraloom.embed.pairs import stream_pairs
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import load_encoder
from paraloom.embed.threads import Team
from paraloom.embed.training import train_encoder
from paraloom.embed.vocabulary import Rows, Vocabulary
from paraloom.evaluate.retrieval import choose_among

SMALL = EncoderConfig(dimension=16, epochs=2, batch=20, megabatch=3, rate=0.01)


def toy_pairs(count: int = 400) -> list[pa.RecordBatch]:
    """Paraphrases by a made-up rule: each noun of one side has a synonym of its own on the other."""
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
def test_gradients_are_those_of_the_loss(spec, two_sided):
    """Of every number of every table, against central differences of the loss as the paper writes it."""
    draw = np.random.default_rng(0)
    spec, d, count = parse_spec(spec), 3, 4
    columns, width = spec.columns(d), spec.width(d)
    parts, lists = {}, {}
    for name in spec.parts:
        table = draw.normal(size=(6, d)).astype(np.float32)
        parts[name] = LearningAverage(Vocabulary(name, list("abcdef")), table, Team(2))
        lengths = draw.integers(1, 5, 4 * count)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        lists[name] = Rows(draw.integers(0, 6, offsets[-1]).astype(np.int32), offsets)
    from_first, from_second = np.array([1, -1, 0, 2]), np.array([2, 0, -1, 1])
    triples = batch_triples(count, from_first, from_second if two_sided else None)

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
            if from_first[i] >= 0:
                total += max(0, 0.9 - cosine(s, p) + cosine(s, t1))
            if two_sided and from_second[i] >= 0:
                total += max(0, 0.9 - cosine(s, p) + cosine(p, t2))
        return total / count

    found = margin_loss(forward(), triples, 0.9, count)
    tables = {name: part.table.astype(np.float64) for name, part in parts.items()}
    assert found.value == pytest.approx(loss(tables), abs=1e-5) and found.violations > 0
    for name, part in parts.items():
        unique, by_row = part.backward(lists[name], found.gradient, found.moved, columns[name])
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
    found = margin_loss(vectors, Triples(*at), 0.4, 1)
    assert found.value == pytest.approx(0.4) and not found.gradient.any()


def test_adam_is_torchs_on_touched_rows_and_leaves_the_rest():
    torch = pytest.importorskip("torch")
    draw = np.random.default_rng(1)
    table = draw.normal(size=(5, 4)).astype(np.float32)
    part = LearningAverage(Vocabulary("word", list("abcde")), table.copy(), Team(1))
    weights = torch.nn.Parameter(torch.tensor(table[:3]))
    adam = torch.optim.Adam([weights], lr=0.01)
    lists = Rows(np.array([0, 1, 2, 2], np.int32), np.array([0, 2, 4]))
    for step in range(1, 6):
        gradient = draw.normal(size=(2, 4)).astype(np.float32)
        part.learn(lists, gradient, np.ones(2, bool), 0, 0.01, step)
        means = torch.stack([weights[[0, 1]].mean(0), weights[[2, 2]].mean(0)])
        adam.zero_grad()
        (means * torch.tensor(gradient)).sum().backward()
        adam.step()
    np.testing.assert_allclose(part.table[:3], weights.detach().numpy(), atol=1e-6)
    np.testing.assert_array_equal(part.table[3:], table[3:])


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_negatives_are_the_nearest_that_share_no_sentence(threads):
    draw = np.random.default_rng(2)
    vectors = draw.normal(size=(600, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    keys, others = draw.integers(0, 500, (2, 600)).astype(np.uint64)
    found = hardest_negatives(vectors, keys, others, Team(threads))
    cosines = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
    for i in range(600):
        allowed = [j for j in range(600) if not {keys[i], others[i]} & {keys[j], others[j]}]
        assert cosines[i, found[i]] == pytest.approx(cosines[i, allowed].max(), abs=1e-6)
        assert found[i] in allowed


@pytest.mark.parametrize("count", [1, 2])
def test_without_another_pair_there_is_no_negative(count):
    keys = np.full(count, 7, np.uint64)
    assert (hardest_negatives(np.eye(count, dtype=np.float32), keys, keys + np.uint64(1), Team(1)) == -1).all()


@pytest.mark.parametrize("spec", ["word", "trigram", "word,trigram", "word+trigram"])
def test_training_finds_the_rule_behind_the_pairs(tmp_path, spec):
    pairs = toy_pairs()
    config = EncoderConfig(spec=spec, dimension=16, epochs=6, batch=20, megabatch=3, rate=0.01)
    figures = train_encoder(pairs, config, tmp_path, lambda encoder: {"choice": choose(encoder)})
    assert figures["dev"]["choice"] > 0.9
    assert figures["pairs"] == {"read": 400, "used": 400, "empty": 0, "too_long": 0}
    curve = [json.loads(line) for line in (tmp_path / "curve.jsonl").read_text().splitlines()]
    losses = [line["loss"] for line in curve if "loss" in line]
    assert losses[-1] < 0.7 * losses[0]
    assert [line["dev"]["choice"] for line in curve if "dev" in line][-1] == figures["dev"]["choice"]
    assert load_encoder(tmp_path).signature == figures["signature"]
    assert not (tmp_path / "checkpoint").exists()


def choose(encoder) -> float:
    return choose_among(encoder, *sides(toy_pairs()), n=20).accuracy


def digest_of(folder) -> str:
    return folder_digest(folder, ignore=("timings.json",))


def test_the_same_bytes_at_any_number_of_threads(tmp_path):
    digests = set()
    for threads in (1, 2, 3):
        train_encoder(toy_pairs(), SMALL, tmp_path / str(threads), threads=threads)
        digests.add(digest_of(tmp_path / str(threads)))
    assert len(digests) == 1
    train_encoder(toy_pairs(), SMALL, tmp_path / "seed", seed=2)
    assert digest_of(tmp_path / "seed") not in digests


class BrokenOffError(Exception):
    """Stands for a kill."""


def test_a_broken_off_training_ends_with_the_same_bytes(tmp_path):
    train_encoder(toy_pairs(), SMALL, tmp_path / "whole", dev=lambda encoder: {"one": 1.0})

    def stop(encoder):
        raise BrokenOffError

    # Broken off in the first epoch's development run, and then once more; each megabatch writes a checkpoint.
    for _ in range(2):
        with pytest.raises(BrokenOffError):
            train_encoder(toy_pairs(), SMALL, tmp_path / "broken", dev=stop, checkpoint_seconds=0)
    assert not (tmp_path / "broken" / "config.json").exists()
    train_encoder(toy_pairs(), SMALL, tmp_path / "broken", dev=lambda encoder: {"one": 1.0}, checkpoint_seconds=0)
    assert digest_of(tmp_path / "broken") == digest_of(tmp_path / "whole")


def test_the_best_epoch_is_kept_when_asked_and_survives_a_stop(tmp_path):
    def measured(stop_after=None):
        calls = []

        def dev(encoder):
            calls.append(encoder)
            if len(calls) == stop_after:
                raise BrokenOffError
            return {"one": (50.0, 70.0, 60.0)[len(calls) - 1]}

        return dev

    config = replace(SMALL, epochs=3)
    train_encoder(toy_pairs(), replace(SMALL, epochs=2), tmp_path / "two")
    train_encoder(toy_pairs(), config, tmp_path / "best", dev=measured(), keep_best=True)
    ours, second = load_encoder(tmp_path / "best"), load_encoder(tmp_path / "two")
    assert np.array_equal(ours.encode(["a b", "c"]), second.encode(["a b", "c"]))
    assert not (tmp_path / "best" / "checkpoint").exists()
    with pytest.raises(BrokenOffError):
        train_encoder(toy_pairs(), config, tmp_path / "broken", dev=measured(3), keep_best=True, checkpoint_seconds=0)
    train_encoder(toy_pairs(), config, tmp_path / "broken", dev=lambda encoder: {"one": 60.0}, keep_best=True)
    assert digest_of(tmp_path / "broken") == digest_of(tmp_path / "best")
    with pytest.raises(ConfigError, match="development"):
        train_encoder(toy_pairs(), config, tmp_path / "none", keep_best=True)


def test_a_killed_training_goes_on_to_the_same_bytes(tmp_path):
    script = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from test_embed_training import *\n"
        "import os, signal, paraloom.embed.checkpoint as t\n"
        "write, done = t.write_checkpoint, []\n"
        "def kill(*a):\n"
        "    write(*a); done.append(1)\n"
        "    if len(done) == 4: os.kill(os.getpid(), signal.SIGKILL)\n"
        "t.write_checkpoint = kill\n"
        "train_encoder(toy_pairs(), SMALL, sys.argv[1], threads=1, checkpoint_seconds=0)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "killed")],
        env=os.environ,
        cwd=Path(__file__).resolve().parents[2],
    )
    assert run.returncode == -signal.SIGKILL
    assert (tmp_path / "killed" / "checkpoint" / "state.safetensors").exists()
    train_encoder(toy_pairs(), SMALL, tmp_path / "killed", threads=2)
    train_encoder(toy_pairs(), SMALL, tmp_path / "whole", threads=1)
    assert digest_of(tmp_path / "killed") == digest_of(tmp_path / "whole")


@pytest.mark.parametrize("what", ["pairs", "configuration", "bytes"])
def test_a_checkpoint_of_something_else_is_refused(tmp_path, what):
    def stop(encoder):
        raise BrokenOffError

    with pytest.raises(BrokenOffError):
        train_encoder(toy_pairs(), SMALL, tmp_path, dev=stop, checkpoint_seconds=0)
    if what == "bytes":
        path = tmp_path / "checkpoint" / "state.safetensors"
        path.write_bytes(path.read_bytes()[:100])
    pairs = toy_pairs(401) if what == "pairs" else toy_pairs()
    config = EncoderConfig(dimension=8) if what == "configuration" else SMALL
    with pytest.raises(ModelError, match="cannot be read" if what == "bytes" else "other pairs or another conf"):
        train_encoder(pairs, config, tmp_path)


def test_going_on_from_an_encoder_keeps_its_vocabulary(tmp_path):
    train_encoder(toy_pairs(), SMALL, tmp_path / "a")
    more = EncoderConfig(**(vars(SMALL) | {"epochs": 3}))
    figures = train_encoder(toy_pairs(), more, tmp_path / "b", start=tmp_path / "a")
    a, b = load_encoder(tmp_path / "a"), load_encoder(tmp_path / "b")
    assert a.parts["word"].vocabulary.entries == b.parts["word"].vocabulary.entries
    first = json.loads((tmp_path / "a" / "curve.jsonl").read_text().splitlines()[-1])
    assert figures["loss"] < first["loss"]


def test_the_books_close_and_nothing_else_is_dropped(tmp_path):
    long = "word " * 31
    batch = pa.RecordBatch.from_pydict({"src": ["a b", "", long, "c d", " "], "tgt": ["b a", "x", "x", "d e", long]})
    data = stream_pairs([batch], tmp_path, 30, {"word": 10})
    assert data.counts == {"read": 5, "used": 2, "empty": 2, "too_long": 1}
    assert data.keys[0] == data.keys[1] != data.keys[2]
    taken = data.units["word"].take(np.array([2, 0]))
    entries = data.units["word"].chosen.vocabulary.entries
    assert [entries[row] for row in taken.rows] == ["c", "d", "a", "b"]


@pytest.mark.parametrize(
    ("columns", "said"),
    [({"src": ["a"]}, "'tgt' is missing"), ({"src": [""], "tgt": ["a"]}, "no pair is left"), (None, "no pair is left")],
)
def test_pairs_that_cannot_be_trained_on(tmp_path, columns, said):
    batches = [] if columns is None else [pa.RecordBatch.from_pydict(columns)]
    with pytest.raises(DataError, match=said):
        train_encoder(batches, SMALL, tmp_path)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"epochs": 0}, "'epochs'"), ({"rate": float("nan")}, "'rate'")],
)
def test_a_configuration_that_cannot_be(tmp_path, wrong, said):
    with pytest.raises(ConfigError, match=said):
        train_encoder(toy_pairs(), EncoderConfig(**wrong), tmp_path)


@pytest.mark.filterwarnings("ignore:overflow")
def test_a_loss_that_leaves_the_finite_numbers_names_its_batch(tmp_path):
    wild = EncoderConfig(dimension=4, batch=20, megabatch=3, rate=1e38, word_scale=1e30)
    with pytest.raises(ModelError, match=r"the loss is (nan|inf) in epoch 1, batch \d+"):
        train_encoder(toy_pairs(), wild, tmp_path)


def test_megabatches_rise_over_the_epochs_and_a_stopped_training_knows_it(tmp_path):
    config = replace(SMALL, epochs=3, megabatch=4, rising=True)
    assert [config.joined(epoch) for epoch in range(3)] == [1, 2, 4]
    rising = train_encoder(toy_pairs(), config, tmp_path / "rising")
    flat = train_encoder(toy_pairs(), replace(config, rising=False), tmp_path / "flat")
    assert rising["signature"] != flat["signature"]
    assert rising["steps"] == flat["steps"]


@pytest.mark.parametrize("block", [1, 7, 256])
def test_negatives_do_not_depend_on_the_blocks(block, monkeypatch):
    from paraloom.embed import hard_negatives as mining

    draw = np.random.default_rng(5)
    # Many equal vectors: of equals the first wins.
    vectors = np.repeat(draw.normal(size=(40, 6)).astype(np.float32), 3, axis=0)[draw.permutation(120)]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    keys, others = draw.integers(0, 90, (2, 120)).astype(np.uint64)
    wanted = hardest_negatives(vectors, keys, others, Team(1))
    monkeypatch.setattr(mining, "_BLOCK", block)
    assert np.array_equal(hardest_negatives(vectors, keys, others, Team(2)), wanted)
    cosines = np.round(vectors @ vectors.T, 5)
    for i in range(120):
        allowed = [j for j in range(120) if not {keys[i], others[i]} & {keys[j], others[j]}]
        assert wanted[i] == min(j for j in allowed if cosines[i, j] == cosines[i, allowed].max())
