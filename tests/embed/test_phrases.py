"""Training phrases: the loss by pencil, clipping that clips, contrasts that teach, and the verbs on small files."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from paraloom.pairs.filtering.cleaning import phrase_fault

from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.embed.store import load_encoder
from paraloom.embed.vocabulary import Vocabulary
from paraloom.io import read_pairs

pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")

import torch

from paraloom.embed.phrases import Example, PhraseConfig, _loss, _Phrases, clip_gradient, train_phrases

WORDS = ["black", "cat", "feline", "ink", "dog", "hound", "tree", "house", "plant", "building"]
TABLE = np.random.default_rng(1).normal(size=(10, 12)).astype(np.float32)


class Sum(torch.nn.Module):
    """A network whose vectors are known: the sum of the words'."""

    def forward(self, x, mask):
        return (x * mask[:, :, None]).sum(1)


def test_the_loss_is_the_papers():
    examples = [
        Example("black cat", "feline", (("cat black", "feline"), ("black cat", "dog"))),
        Example("dog", "hound"),
    ]
    data = _Phrases.of(examples, Vocabulary("word", WORDS))
    config = PhraseConfig(contrasts=5, dropout=0, margin=1.0)
    loss = _loss(data, np.array([0, 1]), config, Sum(), TABLE, np.random.default_rng(3))
    # The same draw, pair by pair in plain Python: J = mean of Σ max(0, 1 − p₁·p₂ + p₁·c).
    drawn = np.random.default_rng(3).choice(data.known, 5)
    vector = {word: row.astype(np.float64) for word, row in zip(WORDS, TABLE, strict=True)}
    phrases = ["black cat", "feline", "cat black", "dog", "hound"]
    numbers = {0: "black cat", 1: "feline"}
    texts = list(dict.fromkeys([t for e in examples for t in (e.phrase, e.paraphrase)]))
    numbers = texts + [t for t in phrases if t not in texts]
    of = {text: sum(vector[word] for word in text.split()) for text in numbers}
    total = 0.0
    for example in examples:
        right = of[example.phrase] @ of[example.paraphrase]
        for number in drawn:
            contrast = numbers[number]
            if contrast not in (example.phrase, example.paraphrase):
                total += max(0.0, 1 - right + of[example.phrase] @ of[contrast])
        for one, two in example.contrasts:
            total += max(0.0, 1 - right + of[one] @ of[two])
    assert loss.item() == pytest.approx(total / 2, rel=1e-5)


def test_a_gradient_longer_than_the_bound_is_cut_to_it_and_a_shorter_one_is_not():
    weight = torch.nn.Parameter(torch.zeros(2))
    weight.grad = torch.tensor([30.0, 40.0])
    assert clip_gradient([weight], 5.0) == pytest.approx(50.0)
    assert weight.grad.norm().item() == pytest.approx(5.0, rel=1e-4)
    weight.grad = torch.tensor([0.3, 0.4])
    clip_gradient([weight], 5.0)
    assert weight.grad.tolist() == pytest.approx([0.3, 0.4])


def test_training_tells_paraphrases_from_others_and_order_from_disorder(tmp_path):
    examples = [
        Example("black cat", "feline", (("cat black", "feline"),)),
        Example("black dog", "hound", (("dog black", "hound"),)),
        Example("house plant", "tree", (("plant house", "tree"),)),
        Example("tree house", "building", (("house tree", "building"),)),
    ]
    config = PhraseConfig(epochs=150, batch=4, contrasts=6, dropout=0.0, rate=0.1)
    figures = train_phrases(examples, (WORDS, TABLE), config, tmp_path / "a")
    encoder = load_encoder(tmp_path / "a")
    for example in examples:
        straight, turned, right = encoder.encode([example.phrase, example.contrasts[0][0], example.paraphrase])
        assert straight @ right > turned @ right + 0.5
    assert figures["examples"] == {"read": 4, "used": 4, "unknown": 0}
    again = train_phrases(examples, (WORDS, TABLE), config, tmp_path / "b")
    assert again["signature"] == figures["signature"]


def test_the_best_epoch_is_kept(tmp_path):
    seen = []

    def measure(encoder):
        seen.append((encoder.signature, -abs(len(seen) - 1)))
        return seen[-1][1]

    config = PhraseConfig(epochs=4, batch=2, contrasts=2)
    examples = [Example("black cat", "feline"), Example("dog", "hound")]
    train_phrases(examples, (WORDS, TABLE), config, tmp_path, measure, measure_every=1)
    lines = [json.loads(line) for line in (tmp_path / "curve.jsonl").read_text().splitlines()]
    assert [line["development"] for line in lines] == [-1, 0, -1, -2]


def learnable() -> list[Example]:
    draw = np.random.default_rng(8)
    return [Example(" ".join(draw.choice(WORDS, 2)), str(draw.choice(WORDS))) for _ in range(60)]


def test_a_killed_training_goes_on_to_the_same_bytes(tmp_path, monkeypatch):
    import paraloom.embed.checkpoint as checkpoint

    config = PhraseConfig(batch=16, epochs=9, contrasts=3, network="lstm")
    figures = iter([3.0, 5.0, 4.0])

    def train(name, **more):
        return train_phrases(
            learnable(), (WORDS, TABLE), config, tmp_path / name, lambda _: next(figures), measure_every=3, **more
        )

    train("whole")
    write, done = checkpoint.write_checkpoint, []

    def stop(*arguments):
        write(*arguments)
        done.append(1)
        if len(done) == 5:
            raise KeyboardInterrupt

    figures = iter([3.0])
    monkeypatch.setattr(checkpoint, "write_checkpoint", stop)
    with pytest.raises(KeyboardInterrupt):
        train("stopped", checkpoint_seconds=0)
    monkeypatch.setattr(checkpoint, "write_checkpoint", write)
    figures = iter([5.0, 4.0])  # of the epochs 6 and 9; that of epoch 3 is in the checkpoint
    torch.rand(5)
    assert train("stopped")["development"] == 5.0
    whole, stopped = (sorted((tmp_path / name).iterdir()) for name in ("whole", "stopped"))
    assert [path.name for path in whole] == [path.name for path in stopped]
    for one, other in zip(whole, stopped, strict=True):
        if one.name != "timings.json":
            assert one.read_bytes() == other.read_bytes(), one.name


def test_a_checkpoint_of_other_phrases_is_refused(tmp_path, monkeypatch):
    import paraloom.embed.checkpoint as checkpoint

    write = checkpoint.write_checkpoint

    def stop(*arguments):
        write(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(checkpoint, "write_checkpoint", stop)
    config = PhraseConfig(batch=16, epochs=4, contrasts=3)
    with pytest.raises(KeyboardInterrupt):
        train_phrases(learnable(), (WORDS, TABLE), config, tmp_path / "a", checkpoint_seconds=0)
    with pytest.raises(ModelError, match="other pairs"):
        train_phrases(learnable()[1:], (WORDS, TABLE), config, tmp_path / "a")


def test_bad_input_is_named(tmp_path):
    with pytest.raises(DataError, match="'unknown': 1"):
        train_phrases([Example("zebra", "gnu")], (WORDS, TABLE), PhraseConfig(), tmp_path)
    for wrong in ({"network": "gpu"}, {"contrasts": -1}, {"similarity": "tea"}, {"dropout": 1}, {"share": 0}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            PhraseConfig(**wrong).check()


def test_ppdb_is_read_as_it_is_released(tmp_path):
    lines = [
        "[NN] ||| america ||| the united states ||| PPDB2.0Score=3.9 AGigaSim=0.7 ||| 0-1 ||| Equivalence",
        "[NN] ||| broken",
    ]
    (tmp_path / "ppdb-1.0-s-phrasal").write_text("\n".join(lines[:1]) + "\n")
    (batch,) = read_pairs(tmp_path / "ppdb-1.0-s-phrasal")
    assert (batch.column("src").to_pylist(), batch.column("tgt").to_pylist()) == (["america"], ["the united states"])
    (tmp_path / "ppdb-bad").write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match="2 fields") as error:
        list(read_pairs(tmp_path / "ppdb-bad"))
    assert error.value.row == 2
    (tmp_path / "ppdb.xxl.b2u.train").write_text("bass\tNN\nfiddle\tNN\ncontrabass\nblack\tJJ\ncat\tNN\nfeline\n")
    table = pa.Table.from_batches(read_pairs(tmp_path / "ppdb.xxl.b2u.train"))
    assert table.column("src").to_pylist() == ["bass fiddle", "black cat"]
    assert table.column("tgt").to_pylist() == ["contrabass", "feline"]
    (tmp_path / "ppdb.cut").write_text("bass\tNN\nfiddle\tNN\ncontrabass\nblack\tJJ\n")
    with pytest.raises(DataError) as error:
        list(read_pairs(tmp_path / "ppdb.cut"))
    assert error.value.row == 4


def test_the_filters_are_the_papers():
    known = {"the", "united", "states", "america", "dog", "hound"}
    assert phrase_fault("the united states", "america", known) is None
    assert phrase_fault("dog hound", "dog hound", known) == "identical"
    assert phrase_fault("the u.s.", "america", known) == "other than letters"
    assert phrase_fault("the big dog", "hound", known) == "unknown word"
    assert phrase_fault("dog", "hound", known) == "two single words"


def test_the_verbs_train_and_measure(paraloom, tmp_path):
    draw = np.random.default_rng(5)
    nouns = [f"noun{chr(97 + i)}{chr(97 + j)}" for i in range(12) for j in range(12)]
    lines = "".join(f"[X] ||| big {a} ||| {b} thing ||| x=1\n" for a, b in zip(nouns, reversed(nouns), strict=True))
    (tmp_path / "ppdb-mine").write_text(lines + "[X] ||| big dog ||| big dog ||| x=1\n")
    rows = [f"{word} {' '.join(f'{x:.3f}' for x in draw.normal(size=8))}" for word in [*nouns, "big", "thing"]]
    (tmp_path / "vectors.txt").write_text("\n".join(rows) + "\n")
    status, out, err = paraloom("train", "phrases", "ppdb-mine", "--vectors", "vectors.txt", "--epochs", 2, "-o", "p")
    assert status == 0, err
    assert '"identical": 1' in out
    assert load_encoder(tmp_path / "p").encode(["big nounaa"]).shape == (1, 8)
    status, _, err = paraloom("train", "phrases", "ppdb-mine", "-o", "p")
    assert (status, "--vectors or from --teacher" in err) == (1, True)
    status, _, err = paraloom("evaluate", "phrases", "p", tmp_path, "--similarity", "tea")
    assert (status, "cosine or dot" in err) == (1, True)
