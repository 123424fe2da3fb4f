"""Training a translator: the model folder, exact resume, early stopping, which weights are kept, its configuration."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy_language import TOY_CONFIG, toy_bitext

from paraloom import api
from paraloom.core.digests import file_digest
from paraloom.core.errors import ConfigError, DataError, ModelError, RunError
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.data import Examples, encode_examples, pad
from paraloom.mt.schedule import BatchSchedule
from paraloom.mt.subwords import train_subwords
from paraloom.mt.training import TrainingCurve, train_translator
from paraloom.stages.translators import TrainTranslator

pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
pytest.importorskip("transformers", reason="training needs transformers: pip install 'paraloom[train]'")

import torch

from paraloom.mt.trainer import Trainer

WEIGHTS = "huggingface/model.safetensors"
SHORT = replace(TOY_CONFIG, steps=4, evaluate_every=2, batch_tokens=200)
FROZEN = replace(SHORT, muon_learning_rate=0.0, adam_learning_rate=0.0)
"""Leaves the weights what they were."""


def train(folder: Path, config: TranslatorConfig, pairs: int = 200, **options: object) -> dict[str, object]:
    return train_translator(lambda: toy_bitext(pairs), toy_bitext(50, seed=2), config, folder, **options)  # type: ignore[arg-type]


def tensors(folder: Path) -> dict[str, object]:
    from safetensors.torch import load_file

    return load_file(folder / WEIGHTS)


def scripted_losses(monkeypatch: pytest.MonkeyPatch, losses: list[float]) -> None:
    """Let the development loss per token of each evaluation be the next of `losses`, the last one from then on."""
    evaluate = Trainer.evaluate

    def scripted(self: Trainer, examples: Examples, pool: object) -> dict[str, float]:
        loss = losses.pop(0) if len(losses) > 1 else losses[0]
        lengths = examples.target_lengths
        monkeypatch.setattr(self, "_loss", lambda part, _: (loss * int(lengths[part].sum()), 0.0), raising=False)
        return evaluate(self, examples, pool)  # type: ignore[arg-type]

    monkeypatch.setattr(Trainer, "evaluate", scripted)


def test_a_folder_holds_model_checkpoint_and_curve(toy_translator: Path) -> None:
    names = {path.name for path in toy_translator.iterdir()}
    assert {"model.bin", "config.json", "source.spm", "target.spm", "curve.jsonl", "training.json"} <= names
    assert {"model.safetensors", "vocab.json", "config.json"} <= {
        path.name for path in (toy_translator / "huggingface").iterdir()
    }
    curve = [json.loads(line) for line in (toy_translator / "curve.jsonl").read_text().splitlines()]
    assert [point["step"] for point in curve] == [100, 200, 300]
    # A model that knows nothing has the entropy of a uniform distribution; every training is far below.
    assert curve[-1]["dev_loss"] < 0.7 * math.log(TOY_CONFIG.vocab_size)


@pytest.mark.slow
@pytest.mark.parametrize("subword_sampling", [0.0, 0.4])
def test_an_interrupted_training_ends_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subword_sampling: float
) -> None:
    config = replace(TOY_CONFIG, steps=60, evaluate_every=20, dropout=0.1, subword_sampling=subword_sampling)
    whole = train(tmp_path / "whole", config, 300, seed=5)
    update = Trainer.update

    def interrupted(self: Trainer, *arguments: object) -> float:
        if self.step == 47:
            raise KeyboardInterrupt
        return update(self, *arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "update", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path / "stopped", config, 300, seed=5)
    assert not (tmp_path / "stopped" / "model.bin").exists()
    resumed = train(tmp_path / "stopped", config, 300, seed=5)

    for name in (WEIGHTS, "model.bin", "curve.jsonl"):
        assert file_digest(tmp_path / "whole" / name) == file_digest(tmp_path / "stopped" / name), name
    timing = {"seconds", "tokens_per_second"}
    assert {k: v for k, v in whole.items() if k not in timing} == {k: v for k, v in resumed.items() if k not in timing}


@pytest.mark.slow
def test_the_last_epochs_use_the_most_likely_segmentation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = replace(TOY_CONFIG, steps=40, evaluate_every=40, subword_sampling=0.4, plain_subword_share=0.5)
    epochs: list[tuple[int, bool]] = []
    update = Trainer.update

    def recorded(self: Trainer, batch: object, examples: Examples, pool: object) -> float:
        first_step = self.step - self.position + 1
        epochs.append((first_step, examples.ids.filename.name == "training.ids"))  # type: ignore[attr-defined]
        return update(self, batch, examples, pool)  # type: ignore[arg-type]

    monkeypatch.setattr(Trainer, "update", recorded)
    train(tmp_path / "x", config, 300)
    assert {plain for _, plain in epochs} == {True, False}
    assert all(plain == (first_step >= 20) for first_step, plain in epochs)


@pytest.mark.slow
def test_a_checkpoint_of_other_data_is_ignored(tmp_path: Path) -> None:
    state = "checkpoint/state.safetensors"
    train(tmp_path / "a", SHORT, 200)
    (tmp_path / "b" / "checkpoint").mkdir(parents=True)
    shutil.copyfile(tmp_path / "a" / state, tmp_path / "b" / state)
    for folder in ("b", "c"):
        train(tmp_path / folder, SHORT, 300)
    assert file_digest(tmp_path / "b" / WEIGHTS) == file_digest(tmp_path / "c" / WEIGHTS)
    assert file_digest(tmp_path / "a" / WEIGHTS) != file_digest(tmp_path / "b" / WEIGHTS)


def test_the_seed_changes_the_weights(tmp_path: Path) -> None:
    for seed in (1, 2):
        train(tmp_path / str(seed), SHORT, seed=seed)
    assert file_digest(tmp_path / "1" / WEIGHTS) != file_digest(tmp_path / "2" / WEIGHTS)


def test_training_starts_from_the_weights_of_another_translator(toy_translator: Path, tmp_path: Path) -> None:
    train(tmp_path / "same", FROZEN, init_from=toy_translator)
    before, after = tensors(toy_translator), tensors(tmp_path / "same")
    assert all(bool((after[name] == value).all()) for name, value in before.items())
    train(tmp_path / "more", SHORT, init_from=toy_translator)
    assert file_digest(tmp_path / "more" / WEIGHTS) != file_digest(toy_translator / WEIGHTS)


def test_the_record_of_a_continued_training_has_the_sizes_of_its_start(toy_translator: Path, tmp_path: Path) -> None:
    others = TranslatorConfig(steps=1, evaluate_every=1, batch_tokens=100, activation="swish", subword_sampling=0.0)
    train(tmp_path, others, 20, init_from=toy_translator)
    names = ("d_model", "heads", "encoder_layers", "decoder_layers", "ffn_dim", "activation")
    config = json.loads((tmp_path / "training.json").read_text())["config"]
    assert {name: config[name] for name in names} == {name: getattr(TOY_CONFIG, name) for name in names}
    assert config["vocab_size"] == len(json.loads((tmp_path / "shared_vocabulary.json").read_text()))
    assert (config["steps"], config["batch_tokens"]) == (1, 100)


def test_training_with_the_subwords_of_another_translator(toy_translator: Path, tmp_path: Path) -> None:
    train(tmp_path, FROZEN, 50, subwords_from=toy_translator)
    for name in ("source.spm", "target.spm", "shared_vocabulary.json"):
        assert (tmp_path / name).read_bytes() == (toy_translator / name).read_bytes()
    assert file_digest(tmp_path / WEIGHTS) != file_digest(toy_translator / WEIGHTS)


@pytest.mark.parametrize(("keep_last", "kept"), [(False, 1.0), (True, 3.0)])
def test_the_best_or_the_last_weights_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep_last: bool, kept: float
) -> None:
    scripted_losses(monkeypatch, [1.0, 2.0, 3.0])
    saved: dict[int, dict[str, object]] = {}
    evaluate = Trainer.evaluate

    def recorded(self: Trainer, *arguments: object) -> dict[str, float]:
        saved[self.step] = {name: value.clone() for name, value in self.averaged.items()}
        return evaluate(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Trainer, "evaluate", recorded)
    figures = train(tmp_path / "x", replace(SHORT, steps=6, keep_last=keep_last))
    assert figures["development_loss"] == kept
    kept_weights = tensors(tmp_path / "x")
    expected = saved[6 if keep_last else 2]
    assert all(bool((kept_weights[name] == value).all()) for name, value in expected.items() if name in kept_weights)


def test_training_stops_when_patience_runs_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted_losses(monkeypatch, [1.0])
    figures = train(tmp_path / "x", replace(SHORT, steps=100, evaluate_every=2, patience=2))
    assert figures["steps"] == 6  # the first evaluation is the best, two more are not better


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loss: float) -> None:
    monkeypatch.setattr(Trainer, "update", lambda self, *arguments: loss)
    with pytest.raises(ModelError, match=rf"the loss is {loss} at step 0(.|\n)*muon_learning_rate"):
        train(tmp_path / "x", SHORT)
    assert not (tmp_path / "x" / "model.bin").exists()


def test_a_missing_device_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="GPU 77 of device 'cuda:77' not found"):
        Trainer(replace(SHORT, device="cuda:77"), 80)


def _examples(folder: Path) -> Examples:
    pairs = list(toy_bitext(60))
    train_subwords((text for sides in pairs for side in sides for text in side), folder, vocab_size=80)
    return encode_examples(pairs, folder, folder / "ids")


def test_padded_rows_are_those_of_single_sentences(tmp_path: Path) -> None:
    examples = _examples(tmp_path)
    pairs = np.array([59, 3, 17, 3])  # the last pair of the file, too
    for side, of in enumerate((examples.source, examples.target)):
        assert torch.equal(examples.padded(pairs, side, 79), pad([of(pair) for pair in pairs], 79))


def _after(updates: list[object], examples: Examples, **changes: Any) -> dict[str, torch.Tensor]:
    """The weights after some updates in float32, without dropout."""
    config = replace(SHORT, dropout=0.0, training_precision="float32", warmup_steps=1, cooldown_share=0.0, **changes)
    trainer = Trainer(config, 80, seed=3)
    with ThreadPoolExecutor(2) as pool:
        for update in updates:
            trainer.update(update, examples, pool)  # type: ignore[arg-type]
    return trainer.parameters


def _distance(weights: dict[str, torch.Tensor], expected: dict[str, torch.Tensor], examples: Examples) -> float:
    """How far weights are from those that are expected, as a share of what training changed."""
    start = _after([], examples)

    def norm(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> float:
        return math.sqrt(sum(float((one[name] - other[name]).square().sum()) for name in one))

    return norm(weights, expected) / norm(expected, start)


def test_accumulated_batches_are_one_large_batch(tmp_path: Path) -> None:
    examples = _examples(tmp_path)
    parts = [np.arange(0, 11), np.arange(11, 16), np.arange(16, 30)]
    whole = np.arange(30)
    accumulated = _after([parts, parts], examples)
    at_once = _after([whole, whole], examples)
    assert _distance(accumulated, at_once, examples) < 0.01
    assert _distance(_after([parts[0], parts[0]], examples), at_once, examples) > 0.1


def test_the_schedule_groups_batches_and_resumes_within_an_epoch(tmp_path: Path) -> None:
    examples = _examples(tmp_path)
    plain = Trainer(replace(SHORT, subword_sampling=0.0), 80)
    grouped = Trainer(replace(SHORT, subword_sampling=0.0, accumulate=2), 80)
    one, two = (BatchSchedule(examples, lambda *_: examples, trainer) for trainer in (plain, grouped))
    count = len(two.next()[0])
    assert count == 2
    batches = [*one.next()[0], *one.next()[0]]
    again = Trainer(replace(SHORT, subword_sampling=0.0, accumulate=2), 80)
    first, _ = BatchSchedule(examples, lambda *_: examples, again).next()
    assert [part.tolist() for part in first] == [part.tolist() for part in batches]
    per_epoch = len(again.plan)
    sizes = []
    while again.epoch == 0:
        sizes.append(len(BatchSchedule(examples, lambda *_: examples, again).next()[0]))
    assert 2 + sum(sizes[:-1]) == per_epoch


def test_copies_on_several_devices_train_as_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two slices whose weights are copies, as on two GPUs, against two that share them."""
    examples = _examples(tmp_path)
    whole = np.arange(30)
    shared = _after([whole] * 3, examples, threads=2)
    to = torch.Tensor.to

    def copying(self: torch.Tensor, *arguments: Any, **options: Any) -> torch.Tensor:
        result = to(self, *arguments, **options)
        return result.clone() if arguments == (torch.device("cpu"),) and self.is_leaf else result

    monkeypatch.setattr(torch.Tensor, "to", copying)
    copied = _after([whole] * 3, examples, threads=2)
    assert all(torch.equal(shared[name], copied[name]) for name in shared)


@pytest.mark.parametrize("failures", [1, 2])
def test_out_of_memory_halves_the_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failures: int) -> None:
    examples = _examples(tmp_path)
    whole = np.arange(30)
    expected = _after([whole, whole], examples)
    states, left = Trainer._states, [failures]

    def failing(self: Trainer, parameters: Any, part: Any, *arguments: Any) -> Any:
        if left[0] and 29 in part.tolist():
            left[0] -= 1
            raise torch.OutOfMemoryError("CUDA out of memory")
        return states(self, parameters, part, *arguments)

    monkeypatch.setattr(Trainer, "_states", failing)
    with pytest.warns(UserWarning, match=f"training continues with batches of {-(-30 // 2**failures)} pairs at a time"):
        weights = _after([whole, whole], examples)
    assert _distance(weights, expected, examples) < 0.01


def test_memory_that_is_too_small_for_a_pair_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*arguments: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(Trainer, "_states", failing)
    with pytest.warns(UserWarning), pytest.raises(RunError, match="too small for a single pair"):
        _after([np.arange(5)], _examples(tmp_path))


@pytest.mark.slow
def test_an_interrupted_training_that_accumulates_ends_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(SHORT, steps=8, evaluate_every=2, dropout=0.1, accumulate=2)
    train(tmp_path / "whole", config)
    update = Trainer.update

    def interrupted(self: Trainer, *arguments: object) -> float:
        if self.step == 5:
            raise KeyboardInterrupt
        return update(self, *arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "update", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path / "resumed", config)
    train(tmp_path / "resumed", config)
    for name in (WEIGHTS, "model.bin", "curve.jsonl"):
        assert file_digest(tmp_path / "whole" / name) == file_digest(tmp_path / "resumed" / name)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")
def test_two_gpus_train_as_one_does(tmp_path: Path) -> None:
    examples = _examples(tmp_path)
    whole = np.arange(30)
    one, two = (_after([whole] * 3, examples, device=device) for device in ("cuda:0", "cuda:0,1"))
    assert _distance({name: value.to("cuda:0") for name, value in two.items()}, one, examples) < 0.01


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(ConfigError, match="unknown training_precision 'bfloat61'"):
        TranslatorConfig(training_precision="bfloat61")
    with pytest.raises(ConfigError, match="'accumulate' must be 1 or more"):
        TranslatorConfig(accumulate=0)
    with pytest.raises(ConfigError, match="unknown device 'foo'"):
        TranslatorConfig(device="foo")
    with pytest.raises(ConfigError, match="unknown precision 'int9'"):
        TrainTranslator(bitext=["pairs"], precision="int9")


def test_a_device_that_is_not_there_is_said_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    (tmp_path / "pairs.tsv").write_text("Ja.\tYes.\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="GPU 0 of device 'cuda' not found"):
        api.train_translator(tmp_path / "pairs.tsv", tmp_path / "model", device="cuda")
    with pytest.raises(ConfigError, match="device 'cuda:9' not found"):
        api.train_encoder(tmp_path / "pairs.tsv", tmp_path / "model", devices="cuda:9")
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.tsv"]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_trains_as_the_processor_does(tmp_path: Path) -> None:
    config = replace(SHORT, steps=30, evaluate_every=10, dropout=0.1)
    losses = [
        train(tmp_path / device, replace(config, device=device))["development_loss"] for device in ("cpu", "cuda")
    ]
    assert losses[1] == pytest.approx(losses[0], rel=0.05)  # bfloat16 and other random numbers in the dropout


def test_a_curve_with_an_incomplete_line_is_continued(tmp_path: Path) -> None:
    path = tmp_path / "curve.jsonl"
    path.write_text('{"step": 10, "loss": 2.0}\n{"step": 20, "loss": 1.5}\n{"step": 3')
    TrainingCurve(path, 10).write(step=20, loss=1.4)
    assert [json.loads(line)["loss"] for line in path.read_text().splitlines()] == [2.0, 1.4]


def test_unusable_pairs_are_counted(toy_translator: Path, tmp_path: Path) -> None:
    subwords = toy_translator / "huggingface"
    pairs = [(["rako gor", "", "mili"], ["the big dog", "the cat", "cat " * 200])]
    examples = encode_examples(pairs, subwords, tmp_path / "ids", max_length=64)
    assert (len(examples), examples.left_out) == (1, 2)
    with pytest.raises(DataError, match="no usable sentence pair: 1"):
        encode_examples([([""], ["the cat"])], subwords, tmp_path / "none")


@pytest.mark.slow
def test_sampled_segmentations_follow_from_the_seed(tmp_path: Path) -> None:
    pairs = list(toy_bitext(200))
    train_subwords((text for sides in pairs for side in sides for text in side), tmp_path, vocab_size=80)

    def ids(name: str, seed: int) -> list[int]:
        examples = encode_examples(pairs, tmp_path, tmp_path / name, subword_sampling=0.3, seed=seed)
        assert len(examples) == 200
        return examples.ids.tolist()

    first, other, again = ids("a", 1), ids("b", 2), ids("c", 1)
    assert first == again != other
    # SentencePiece 0.2.2 and 0.2.3 repeat samples within a process only: a resumed training would differ.
    script = (
        "import sys; from pathlib import Path; from paraloom.mt.data import encode_examples;"
        "from toy_language import toy_bitext; folder = Path(sys.argv[1]);"
        "ids = encode_examples(toy_bitext(200), folder, folder / 'd', subword_sampling=0.3, seed=1).ids;"
        "print(*ids)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])}
    process = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True, env=environment
    )
    assert [int(number) for number in process.stdout.split()] == first


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"d_model": 100, "heads": 3}, "'d_model' must be a multiple of 'heads'"),
        ({"activation": "gelu"}, "relu, swish, got 'gelu'"),
        ({"steps": 0}, "'steps' must be 1 or more"),
        ({"special_tokens": ("",)}, "special_tokens"),
        ({"special_tokens": ("two words",)}, "special_tokens"),
        ({"special_tokens": (" <BT>",)}, "special_tokens"),
    ],
)
def test_invalid_configurations_are_refused(settings: dict[str, object], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        TranslatorConfig(**settings)  # type: ignore[arg-type]


def test_a_configuration_that_an_earlier_version_saved_is_read() -> None:
    saved = {"vocabulary": 10000, "width": 128, "inner": 512, "matrix_rate": 0.02, "whole_softmax": 0.3, "gone": 1}
    config = TranslatorConfig.from_saved(saved)
    assert (config.vocab_size, config.d_model, config.ffn_dim) == (10000, 128, 512)
    assert (config.muon_learning_rate, config.full_softmax_share) == (0.02, 0.3)
