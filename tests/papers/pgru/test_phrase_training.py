"""Phrase encoders: the loss against its definition, gradient clipping, resume, reading PPDB, and the commands."""

from __future__ import annotations

import json

import numpy as np
import pytest

from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.embed import checkpoint
from paraloom.embed.store import load_encoder
from paraloom.embed.vocabulary import Vocabulary

pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")

import torch

from paraloom.papers.pgru.phrase_training import (
    PhraseConfig,
    PhraseExample,
    _loss,
    _Phrases,
    clip_gradient,
    train_phrases,
)

WORDS = ["black", "cat", "feline", "ink", "dog", "hound", "tree", "house", "plant", "building"]
TABLE = np.random.default_rng(1).normal(size=(10, 12)).astype(np.float32)


class Sum(torch.nn.Module):
    """A network whose vectors are known: the sum of the word vectors."""

    def forward(self, x, mask):
        return (x * mask[:, :, None]).sum(1)


def test_the_loss_agrees_with_its_definition():
    examples = [
        PhraseExample("black cat", "feline", (("cat black", "feline"), ("black cat", "dog"))),
        PhraseExample("dog", "hound"),
    ]
    data = _Phrases.of(examples, Vocabulary("word", WORDS))
    config = PhraseConfig(num_negatives=5, dropout=0, margin=1.0)
    loss = _loss(data, np.array([0, 1]), config, Sum(), TABLE, np.random.default_rng(3))
    # The same random negatives, pair by pair in plain Python: the mean of Σ max(0, 1 − p₁·p₂ + p₁·c).
    drawn = np.random.default_rng(3).choice(data.pairs.ravel(), (2, 5))
    vector = {word: row.astype(np.float64) for word, row in zip(WORDS, TABLE, strict=True)}
    phrases = ["black cat", "feline", "cat black", "dog", "hound"]
    numbers = {0: "black cat", 1: "feline"}
    texts = list(dict.fromkeys([t for e in examples for t in (e.phrase, e.paraphrase)]))
    numbers = texts + [t for t in phrases if t not in texts]
    of = {text: sum(vector[word] for word in text.split()) for text in numbers}
    total = 0.0
    for example, negatives in zip(examples, drawn, strict=True):
        right = of[example.phrase] @ of[example.paraphrase]
        for number in negatives:
            contrast = numbers[number]
            if contrast not in (example.phrase, example.paraphrase):
                total += max(0.0, 1 - right + of[example.phrase] @ of[contrast])
        for one, two in example.negatives:
            total += max(0.0, 1 - right + of[one] @ of[two])
    assert loss.item() == pytest.approx(total / 2, rel=1e-5)


def test_gradients_are_clipped_to_the_maximal_norm():
    weight = torch.nn.Parameter(torch.zeros(2))
    weight.grad = torch.tensor([30.0, 40.0])
    assert clip_gradient([weight], 5.0) == pytest.approx(50.0)
    assert weight.grad.norm().item() == pytest.approx(5.0, rel=1e-4)
    weight.grad = torch.tensor([0.3, 0.4])
    clip_gradient([weight], 5.0)
    assert weight.grad.tolist() == pytest.approx([0.3, 0.4])


def test_training_lowers_the_loss_and_is_reproducible(tmp_path):
    examples = [
        PhraseExample("black cat", "feline", (("cat black", "feline"),)),
        PhraseExample("black dog", "hound", (("dog black", "hound"),)),
        PhraseExample("house plant", "tree", (("plant house", "tree"),)),
        PhraseExample("tree house", "building", (("house tree", "building"),)),
    ]
    config = PhraseConfig(epochs=40, batch_size=4, num_negatives=6, dropout=0.0, learning_rate=0.1)
    figures = train_phrases(examples, (WORDS, TABLE), config, tmp_path / "a")
    assert figures["examples"] == {"read": 4, "used": 4, "unknown": 0}
    losses = [json.loads(line)["loss"] for line in (tmp_path / "a" / "curve.jsonl").read_text().splitlines()]
    assert losses[-1] < losses[0]
    second = train_phrases(examples, (WORDS, TABLE), config, tmp_path / "b")
    assert second["signature"] == figures["signature"] == load_encoder(tmp_path / "a").signature


def test_the_best_epoch_is_kept(tmp_path):
    figures = []

    def evaluate(encoder):
        figures.append(-abs(len(figures) - 1))
        return figures[-1]

    config = PhraseConfig(epochs=4, batch_size=2, num_negatives=2)
    examples = [PhraseExample("black cat", "feline"), PhraseExample("dog", "hound")]
    train_phrases(examples, (WORDS, TABLE), config, tmp_path, evaluate, evaluate_every=1)
    lines = [json.loads(line) for line in (tmp_path / "curve.jsonl").read_text().splitlines()]
    assert [line["development"] for line in lines] == [-1, 0, -1, -2]


def random_examples() -> list[PhraseExample]:
    draw = np.random.default_rng(8)
    return [PhraseExample(" ".join(draw.choice(WORDS, 2)), str(draw.choice(WORDS))) for _ in range(60)]


def test_an_interrupted_training_resumes_byte_identically(tmp_path, monkeypatch):
    config = PhraseConfig(batch_size=16, epochs=9, num_negatives=3, network="lstm")
    figures = iter([3.0, 5.0, 4.0])

    def train(name, **more):
        return train_phrases(
            random_examples(),
            (WORDS, TABLE),
            config,
            tmp_path / name,
            lambda _: next(figures),
            evaluate_every=3,
            **more,
        )

    train("whole")
    write, done = checkpoint.write_checkpoint, []

    def interrupt(*arguments):
        write(*arguments)
        done.append(1)
        if len(done) == 5:
            raise KeyboardInterrupt

    figures = iter([3.0])
    monkeypatch.setattr(checkpoint, "write_checkpoint", interrupt)
    with pytest.raises(KeyboardInterrupt):
        train("interrupted", checkpoint_seconds=0)
    monkeypatch.setattr(checkpoint, "write_checkpoint", write)
    figures = iter([5.0, 4.0])  # of the epochs 6 and 9; that of epoch 3 is in the checkpoint
    torch.rand(5)
    assert train("interrupted")["development"] == 5.0
    whole, interrupted = (sorted((tmp_path / name).iterdir()) for name in ("whole", "interrupted"))
    assert [path.name for path in whole] == [path.name for path in interrupted]
    for one, other in zip(whole, interrupted, strict=True):
        if one.name != "timings.json":
            assert one.read_bytes() == other.read_bytes(), one.name


def test_a_checkpoint_of_other_phrases_is_an_error(tmp_path, monkeypatch):
    write = checkpoint.write_checkpoint

    def interrupt(*arguments):
        write(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(checkpoint, "write_checkpoint", interrupt)
    config = PhraseConfig(batch_size=16, epochs=4, num_negatives=3)
    with pytest.raises(KeyboardInterrupt):
        train_phrases(random_examples(), (WORDS, TABLE), config, tmp_path / "a", checkpoint_seconds=0)
    with pytest.raises(ModelError, match="on other data"):
        train_phrases(random_examples()[1:], (WORDS, TABLE), config, tmp_path / "a")


def test_invalid_input_is_an_error(tmp_path):
    with pytest.raises(DataError, match="'unknown': 1"):
        train_phrases([PhraseExample("zebra", "gnu")], (WORDS, TABLE), PhraseConfig(), tmp_path)
    for wrong in (
        {"network": "gpu"},
        {"num_negatives": -1},
        {"similarity": "tea"},
        {"dropout": 1},
        {"sample_fraction": 0},
    ):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            PhraseConfig(**wrong)
