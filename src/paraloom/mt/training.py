"""Training of a translator on a few cores: subwords, early stopping, exact resume, and the resulting model folder."""

from __future__ import annotations

import json
import math
import shutil
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from paraloom.core.digests import digest, file_digest
from paraloom.core.errors import ModelError
from paraloom.core.progress import progress
from paraloom.io.atomic import atomic_write
from paraloom.mt.checkpoint import CHECKPOINT, convert, save_checkpoint
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.data import Examples, SentencePairs, encode_examples
from paraloom.mt.schedule import BatchSchedule, TrainerLike
from paraloom.mt.shortlist import write_shortlist
from paraloom.mt.subwords import SUBWORD_FILES, read_vocabulary, train_subwords

LOG = "curve.jsonl"  # The training curve in a translator folder, a point per evaluation


def train_translator(
    bitext: Callable[[], Iterable[SentencePairs]],
    development: Iterable[SentencePairs],
    config: TranslatorConfig,
    folder: Path,
    *,
    seed: int = 1,
    init_from: Path | None = None,
    subwords_from: Path | None = None,
    shortlist: bool = True,
) -> dict[str, Any]:
    """Train a translator and write it as a CTranslate2 folder.

    The folder gets model.bin, the subwords, a shortlist (unless that is switched off), the Hugging Face checkpoint
    (huggingface/), the training curve (curve.jsonl, see `Trainer.evaluate`) and training.json. During training,
    checkpoint/ holds what a killed training needs to resume; it ends with the same bytes as an uninterrupted one on the
    same kind of processor.
    """
    from paraloom.mt.engine_weights import with_checkpoint
    from paraloom.mt.trainer import Trainer

    scratch = folder / "checkpoint"
    init_from, subwords_from = (
        other and with_checkpoint(other, scratch / name)
        for other, name in ((init_from, "start"), (subwords_from, "other"))
    )
    subwords = scratch / "subwords"
    prepare_subwords(bitext, config, subwords, seed, init_from or subwords_from)
    trainer = Trainer(config, len(read_vocabulary(subwords)), seed, init_from)
    initial = file_digest(init_from / CHECKPOINT / "model.safetensors") if init_from else ""
    training = run_training(trainer, bitext, development, subwords, scratch, initial=initial)

    save_checkpoint(trainer.model(), folder / CHECKPOINT, subwords)
    engine = scratch / "engine"
    convert(folder / CHECKPOINT, engine, precision=config.precision)
    for path in sorted(engine.iterdir()):
        path.replace(folder / path.name)
    if shortlist:
        write_shortlist(training, read_vocabulary(subwords), folder)
    shutil.copyfile(scratch / LOG, folder / LOG)
    return write_figures(trainer, training, folder)


def run_training(
    trainer: TrainerLike,
    bitext: Callable[[], Iterable[SentencePairs]],
    development: Iterable[SentencePairs],
    subwords: Path,
    scratch: Path,
    *,
    max_length: int | None = None,
    initial: str = "",
) -> Examples:
    """Encode the pairs, and take the steps of a trainer, from where an interrupted training stopped."""
    config, seed = trainer.config, trainer.seed
    limit = max_length or config.max_length
    training = encode_examples(bitext(), subwords, scratch / "training.ids", max_length=limit)
    held_out = encode_examples(development, subwords, scratch / "development.ids", max_length=limit)

    def resample(epoch: int, epoch_seed: int) -> Examples:
        # The file of the previous epoch may still be mapped: two files take turns.
        return encode_examples(
            bitext(),
            subwords,
            scratch / f"pass-{epoch % 2}.ids",
            max_length=limit,
            subword_sampling=config.subword_sampling,
            seed=epoch_seed,
        )

    # The device, as 'auto' may find others when it resumes; `noise` is gone, and checkpoints that count it stay valid.
    settings = asdict(config) | {"device": trainer.device_names, "noise": ()}
    identity = digest([settings, seed, initial, len(training), int(training.ids.sum(dtype="int64"))])
    _run_steps(trainer, BatchSchedule(training, resample, trainer), held_out, scratch, identity)
    return training


def training_speed(config: TranslatorConfig, length: int = 20, steps: int = 5) -> float:
    """Padded tokens of the longer side in a second of a training, measured with a few updates on made-up sentences."""
    from paraloom.mt.trainer import Trainer

    pairs = config.batch_tokens // length
    ids = np.random.default_rng(1).integers(4, config.vocab_size - 2, 2 * pairs * length).astype(np.int32)
    examples = Examples(ids, np.arange(0, len(ids) + 1, length, dtype=np.int64), 0)
    trainer, ends = Trainer(config, config.vocab_size + 1), []
    with ThreadPoolExecutor(trainer.workers) as pool:
        for _ in range(steps + 2):  # the first two are slower
            trainer.update(np.arange(pairs), examples, pool)
            ends.append(time.perf_counter())
    return steps * pairs * length / (ends[-1] - ends[1])


def prepare_subwords(
    bitext: Callable[[], Iterable[SentencePairs]],
    config: TranslatorConfig,
    subwords: Path,
    seed: int,
    other: Path | None,
) -> None:
    """Train subwords, or copy those of another translator, unless an interrupted training has done so."""
    if not (subwords / "vocab.json").is_file():
        if other is not None:
            _copy_subwords(other / CHECKPOINT, subwords)
        else:
            with progress("learning subwords"):
                train_subwords(
                    (text for sides in bitext() for side in sides for text in side),
                    subwords,
                    vocab_size=config.vocab_size,
                    seed=seed,
                    special_tokens=config.special_tokens,
                )
    known = set(read_vocabulary(subwords))
    for token in config.special_tokens:
        if token not in known:
            raise ModelError(
                f"the subwords do not have the special token '{token}'",
                remedy="Start from a translator that was trained with the same special_tokens, or from none.",
            )


def _run_steps(trainer: TrainerLike, schedule: BatchSchedule, held_out: Examples, scratch: Path, identity: str) -> None:
    """Train until the last step or until patience runs out, saving the state at each evaluation."""
    config, state = trainer.config, scratch / "state.safetensors"
    trainer.resume(state, identity)
    curve = TrainingCurve(scratch / LOG, trainer.step)
    started, seconds_before = time.monotonic(), trainer.seconds
    with (
        ThreadPoolExecutor(trainer.workers) as pool,
        progress("training", total=config.steps, done=trainer.step, unit="steps") as advance,
    ):
        while trainer.step < config.steps and not trainer.exhausted:
            batch, examples = schedule.next()
            loss = trainer.update(batch, examples, pool)
            advance(1)
            if not math.isfinite(loss):
                raise ModelError(
                    f"the loss is {loss} at step {trainer.step}",
                    remedy=f"Lower {trainer.rates}, or look for odd lines in the bitext.",
                )
            if trainer.step % config.evaluate_every == 0 or trainer.step == config.steps:
                trainer.seconds = seconds_before + time.monotonic() - started
                curve.write(**trainer.evaluate(held_out, pool))
                trainer.save(state, identity)
    trainer.seconds = seconds_before + time.monotonic() - started


def write_figures(trainer: TrainerLike, training: Examples, folder: Path) -> dict[str, Any]:
    figures = {
        "pairs": len(training),
        "left_out": training.left_out,
        "steps": trainer.step,
        "epochs": round(trainer.tokens / int(training.target_lengths.sum()), 2),
        "parameters": trainer.parameter_count,
        "development_loss": round(trainer.best_loss, 4),
    }
    (folder / "training.json").write_text(
        json.dumps({"config": asdict(trainer.config), "seed": trainer.seed, **figures}, indent=1) + "\n"
    )
    speed = {"seconds": round(trainer.seconds, 1), "tokens_per_second": round(trainer.tokens / trainer.seconds)}
    (folder / "timings.json").write_text(json.dumps(speed) + "\n")
    last = json.loads((folder / LOG).read_text(encoding="utf-8").splitlines()[-1])
    perplexities = {name: value for name, value in last.items() if name.endswith("_perplexity")}
    return {**figures, **perplexities, **speed}


def _copy_subwords(checkpoint: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in SUBWORD_FILES:
        if not (checkpoint / name).is_file():
            raise ModelError(
                f"{name} not found", file=checkpoint, remedy="Start from a translator that Paraloom trained."
            )
        shutil.copyfile(checkpoint / name, folder / name)


class TrainingCurve:
    """The training curve as JSON lines."""

    def __init__(self, path: Path, step: int) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path.is_file() else []
        kept = [line for line in lines if _step_of(line) <= step] if step else []
        with atomic_write(path) as temporary:
            temporary.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")

    def write(self, **point: float) -> None:
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(point) + "\n")


def _step_of(line: str) -> float:
    """The step of a point; infinity for a line that a kill left incomplete."""
    try:
        return float(json.loads(line)["step"])
    except ValueError:
        return math.inf
