"""Training a translator: it learns, goes on after a stop to the same bytes, and stops when it should."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from toy_language import TOY_CONFIG, bitext, toy_bitext

from paraloom.core.digests import file_digest
from paraloom.core.errors import DataError, ModelError
from paraloom.mt.data import encode_examples
from paraloom.mt.loading import load_translator
from paraloom.mt.training import _Curve, train_translator

pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
pytest.importorskip("transformers", reason="training needs transformers: pip install 'paraloom[train]'")

WEIGHTS = "huggingface/model.safetensors"


def test_it_learns_the_language(toy_translator: Path) -> None:
    pairs = bitext(200, seed=9)
    found = load_translator(toy_translator).translate([source for source, _ in pairs])
    right = sum(variants[0].text == target for variants, (_, target) in zip(found, pairs, strict=True))
    assert right >= 180


def test_the_folder_holds_the_engine_the_checkpoint_and_the_curve(toy_translator: Path) -> None:
    names = {path.name for path in toy_translator.iterdir()}
    assert {"model.bin", "config.json", "source.spm", "target.spm", "curve.jsonl", "training.json"} <= names
    assert {"model.safetensors", "vocab.json", "config.json"} <= {
        path.name for path in (toy_translator / "huggingface").iterdir()
    }
    curve = [json.loads(line) for line in (toy_translator / "curve.jsonl").read_text().splitlines()]
    assert [point["step"] for point in curve] == [200, 400, 600]
    assert curve[-1]["dev_loss"] < curve[0]["dev_loss"]


@pytest.mark.parametrize("sampling", [0.0, 0.4])
def test_stopped_and_gone_on_it_ends_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sampling: float
) -> None:
    from paraloom.mt.trainer import Trainer

    config = replace(TOY_CONFIG, steps=60, evaluate_every=20, dropout=0.1, sampling=sampling)

    def train(folder: Path) -> dict[str, object]:
        return train_translator(lambda: toy_bitext(300), toy_bitext(50, seed=2), config, folder, seed=5)

    whole = train(tmp_path / "whole")
    update = Trainer.update

    def interrupted(self: Trainer, *arguments: object) -> float:
        if self.step == 47:
            raise KeyboardInterrupt
        return update(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Trainer, "update", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "stopped")
    assert not (tmp_path / "stopped" / "model.bin").exists()
    monkeypatch.setattr(Trainer, "update", update)
    resumed = train(tmp_path / "stopped")

    for name in (WEIGHTS, "model.bin", "curve.jsonl"):
        assert file_digest(tmp_path / "whole" / name) == file_digest(tmp_path / "stopped" / name), name
    timing = {"seconds", "tokens_per_second"}
    assert {k: v for k, v in whole.items() if k not in timing} == {k: v for k, v in resumed.items() if k not in timing}


def test_the_last_epochs_read_the_sub_words_of_decoding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from paraloom.mt import training as train
    from paraloom.mt.trainer import Trainer

    config = replace(TOY_CONFIG, steps=40, evaluate_every=40, sampling=0.4, plain_subwords=0.5)
    read: list[tuple[int, int, bool]] = []
    update = Trainer.update

    def recorded(self: Trainer, batch: object, examples: train.Examples, pool: object) -> float:
        read.append((self.step - self.position + 1, self.step, examples.ids.filename.name == "training.ids"))  # type: ignore[attr-defined]
        return update(self, batch, examples, pool)  # type: ignore[arg-type]

    monkeypatch.setattr(Trainer, "update", recorded)
    train_translator(lambda: toy_bitext(300), toy_bitext(50, seed=2), config, tmp_path / "x")
    assert {plain for _, _, plain in read} == {True, False}
    assert all(plain == (begun >= 20) for begun, _, plain in read)


def test_a_checkpoint_of_other_data_is_not_gone_on_from(tmp_path: Path) -> None:
    config = replace(TOY_CONFIG, steps=20, evaluate_every=10)
    state = "checkpoint/state.safetensors"
    train_translator(lambda: toy_bitext(200), toy_bitext(50, seed=2), config, tmp_path / "a")
    (tmp_path / "b" / "checkpoint").mkdir(parents=True)
    shutil.copyfile(tmp_path / "a" / state, tmp_path / "b" / state)
    for folder in ("b", "c"):
        train_translator(lambda: toy_bitext(300), toy_bitext(50, seed=2), config, tmp_path / folder)
    assert file_digest(tmp_path / "b" / WEIGHTS) == file_digest(tmp_path / "c" / WEIGHTS)
    assert file_digest(tmp_path / "a" / WEIGHTS) != file_digest(tmp_path / "b" / WEIGHTS)


def test_another_seed_is_another_translator(tmp_path: Path) -> None:
    config = replace(TOY_CONFIG, steps=10, evaluate_every=10)
    for seed in (1, 2):
        train_translator(lambda: toy_bitext(200), toy_bitext(50, seed=2), config, tmp_path / str(seed), seed=seed)
    assert file_digest(tmp_path / "1" / WEIGHTS) != file_digest(tmp_path / "2" / WEIGHTS)


def test_it_goes_on_from_another_translator(toy_translator: Path, tmp_path: Path) -> None:
    config = replace(TOY_CONFIG, steps=5, evaluate_every=5, warmup=100)
    figures = train_translator(
        lambda: toy_bitext(300), toy_bitext(50, seed=2), config, tmp_path / "more", start=toy_translator
    )
    before = json.loads((toy_translator / "training.json").read_text())["development_loss"]
    assert figures["development_loss"] == pytest.approx(before, abs=0.05)


def test_the_sub_words_of_another_translator_are_taken_and_not_its_weights(
    toy_translator: Path, tmp_path: Path
) -> None:
    config = replace(TOY_CONFIG, steps=2, evaluate_every=2)
    figures = train_translator(
        lambda: toy_bitext(50, seed=7), toy_bitext(50, seed=2), config, tmp_path, subwords_of=toy_translator
    )
    for name in ("source.spm", "target.spm", "shared_vocabulary.json"):
        assert (tmp_path / name).read_bytes() == (toy_translator / name).read_bytes()
    before = json.loads((toy_translator / "training.json").read_text())["development_loss"]
    assert figures["development_loss"] > before + 1


def test_the_last_weights_are_kept_where_they_are_wanted(toy_translator: Path, tmp_path: Path) -> None:
    # From a translator that knows the language towards one that says the same whatever it reads: ever worse.
    noise = [([" ".join(["rako"] * 4)] * 40, ["the big dog"] * 40)]
    kept = {}
    for last in (False, True):
        config = replace(TOY_CONFIG, steps=30, evaluate_every=10, warmup=1, last_weights=last)
        folder = tmp_path / str(last)
        figures = train_translator(lambda: noise, toy_bitext(50, seed=2), config, folder, start=toy_translator)
        losses = [json.loads(line)["dev_loss"] for line in (folder / "curve.jsonl").read_text().splitlines()]
        assert losses == sorted(losses) and losses[-1] > losses[0] + 0.1
        assert figures["development_loss"] == losses[-1 if last else 0]
        kept[last] = load_translator(folder).translate(["mili nin tavo dasat"])[0][0].text
    assert kept[True] != kept[False]


def test_a_curve_with_a_torn_line_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "curve.jsonl"
    path.write_text('{"step": 10, "loss": 2.0}\n{"step": 20, "loss": 1.5}\n{"step": 3')
    _Curve(path, 10).write(step=20, loss=1.4)
    assert [json.loads(line)["loss"] for line in path.read_text().splitlines()] == [2.0, 1.4]


def test_patience_ends_it(tmp_path: Path) -> None:
    # Targets that have nothing to do with their sources: the development loss stops falling at once.
    config = replace(TOY_CONFIG, steps=2000, evaluate_every=20, patience=2, warmup=5)
    noise = [(["rako gor"] * 40, ["the big dog"] * 40)]
    figures = train_translator(lambda: noise, toy_bitext(50, seed=2), config, tmp_path / "noise")
    assert figures["steps"] < 2000


def test_a_loss_that_is_no_number_stops_and_says_so(tmp_path: Path) -> None:
    config = replace(TOY_CONFIG, vector_rate=1e30, matrix_rate=1e30, warmup=1)
    with pytest.raises(ModelError, match=r"the loss is (nan|inf).*step"):
        train_translator(lambda: toy_bitext(200), toy_bitext(50, seed=2), config, tmp_path / "wild")
    assert not (tmp_path / "wild" / "model.bin").exists()


def test_unusable_pairs_are_counted_and_nothing_usable_is_an_error(toy_translator: Path, tmp_path: Path) -> None:
    subwords = toy_translator / "huggingface"
    examples = encode_examples(
        [(["rako gor", "", "mili"], ["the big dog", "the cat", "cat " * 200])], subwords, tmp_path / "ids", longest=64
    )
    assert (len(examples), examples.left_out) == (1, 2)
    with pytest.raises(DataError, match="no usable sentence pair: 1"):
        encode_examples([([""], ["the cat"])], subwords, tmp_path / "none")


def test_sampled_subwords_differ_by_seed_and_come_again_with_it(tmp_path: Path) -> None:
    from paraloom.mt.data import encode_examples
    from paraloom.mt.subwords import train_subwords

    pairs = list(toy_bitext(200))
    train_subwords((text for sides in pairs for side in sides for text in side), tmp_path, size=80)

    def ids(name: str, seed: int) -> list[int]:
        examples = encode_examples(pairs, tmp_path, tmp_path / name, sampling=0.3, seed=seed)
        assert len(examples) == 200
        return examples.ids.tolist()

    first, other, again = ids("a", 1), ids("b", 2), ids("c", 1)
    assert first == again != other
