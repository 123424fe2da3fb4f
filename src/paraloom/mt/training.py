"""Training a translator from scratch on a few cores: token batches, early stopping, exact resume, the model folder."""

from __future__ import annotations

import json
import math
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from paraloom.core.digests import digest, file_digest
from paraloom.core.errors import ConfigError, ModelError
from paraloom.core.progress import progress
from paraloom.core.seeds import generator, spawn_seed
from paraloom.io.atomic import replacing
from paraloom.mt.checkpoint import CHECKPOINT, convert, save_checkpoint
from paraloom.mt.data import Examples, batches, encode_examples
from paraloom.mt.shortlist import write_shortlist
from paraloom.mt.subwords import train_subwords

Pairs = Iterable[tuple[Sequence[str], Sequence[str]]]
"""Batches of (source sentences, target sentences), of equal count."""


@dataclass(frozen=True, kw_only=True)
class TranslatorConfig:
    """How a translator is built and trained; every field decides what it is.

    The defaults are what was best for 30,000 pairs of a narrow domain in 20 minutes on two cores (docs/results.md); a
    corpus ten times as large wants more steps, and no sampling of sub-words.

    vocabulary: sub-words, joint.  symbols: tokens that are kept whole among them, such as the <BT> of tagged
    back-translation.  width, heads, encoder_layers, decoder_layers, inner: sizes of the transformer.
    steps: updates in all; the rate rises over `warmup` of them, holds, and falls to nothing over the last `cooldown`
    share.  batch_tokens: padded tokens an update, on the longer side.  matrix_rate: Muon's, for matrices;
    vector_rate: Adam's, for embeddings, biases and norms.  average: decay of the running mean of the weights, which
    is the model that is kept.  sampling: above 0, each epoch cuts the sentences into other sub-words, drawn with
    probabilities to this power (Kudo 2018 has 0.1 to 0.5), so that a small corpus is not learned by heart;
    epochs that begin in the last `plain_subwords` share of the steps take the likeliest cut, the one that decoding
    sees: a model that spreads its belief over many cuts of a sentence prefers short ones.
    last_weights: the mean weights at the end are kept, whatever their development loss; otherwise those of the lowest.
    candidates: words drawn for the softmax beside those of the batch, 0 = all words
    always; the last `whole_softmax` share of the steps takes all words in any case.
    evaluate_every: steps between development losses; patience: how many of them without a better one end the
    training (0: never).  threads: slices that a batch is cut into, one a core.
    """

    vocabulary: int = 8000
    width: int = 256
    heads: int = 4
    encoder_layers: int = 3
    decoder_layers: int = 2
    inner: int = 512
    dropout: float = 0.1
    activation: str = "relu"
    longest: int = 128
    steps: int = 1600
    batch_tokens: int = 3000
    matrix_rate: float = 0.012
    vector_rate: float = 0.003
    warmup: int = 100
    cooldown: float = 0.6
    smoothing: float = 0.1
    sampling: float = 0.4
    plain_subwords: float = 0.25
    average: float = 0.995
    candidates: int = 700
    whole_softmax: float = 0.25
    evaluate_every: int = 200
    patience: int = 5
    threads: int = 2
    precision: str = "int8"
    last_weights: bool = False
    symbols: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise ConfigError(f"width {self.width} is not a multiple of heads {self.heads}")
        if self.activation not in ("relu", "swish"):
            raise ConfigError(f"activation is 'relu' or 'swish', not '{self.activation}'")
        if self.steps < 1 or self.threads < 1 or self.evaluate_every < 1:
            raise ConfigError("steps, threads and evaluate_every are 1 or more")
        if any(not symbol or symbol.split() != [symbol] for symbol in self.symbols):
            raise ConfigError(f"'symbols' are tokens without blanks, such as <BT>, not {list(self.symbols)}")


def train_translator(
    bitext: Callable[[], Pairs],
    development: Pairs,
    config: TranslatorConfig,
    folder: Path,
    *,
    seed: int = 1,
    start: Path | None = None,
    subwords_of: Path | None = None,
) -> dict[str, Any]:
    """Train on `bitext` and write a CTranslate2 folder, with the Hugging Face checkpoint beside it.

    bitext: called for each pass over the training pairs (sub-words, then encoding).  development: pairs whose loss
    decides when to stop.  folder: gets model.bin, the sub-words, huggingface/, curve.jsonl (a point each
    `evaluate_every` steps, see Trainer.assess) and training.json; while
    training goes on, checkpoint/ holds what is needed to go on after a kill, to the same bytes.
    start: a translator folder of ours whose sub-words and weights to begin with (its sizes must be these).
    subwords_of: one whose sub-words alone are taken, so that perplexities compare with those of others that took them.
    Returns figures: steps, epochs, pairs, left_out, development_loss of what is kept (nats a token, with smoothing),
    tokens_per_second; train_perplexity and dev_perplexity as the curve ends.
    Raises ModelError when the loss leaves the finite numbers (the last good checkpoint stays).
    """
    from paraloom.mt.trainer import Trainer

    scratch = folder / "checkpoint"
    scratch.mkdir(parents=True, exist_ok=True)
    subwords = scratch / "subwords"
    if not (subwords / "vocab.json").is_file():
        if (given := start or subwords_of) is not None:
            _adopt_subwords(given / CHECKPOINT, subwords)
        else:
            with progress("learning sub-words"):
                train_subwords(
                    (text for sides in bitext() for side in sides for text in side),
                    subwords,
                    size=config.vocabulary,
                    seed=seed,
                    symbols=config.symbols,
                )
    _check_symbols(config.symbols, subwords)
    training = encode_examples(bitext(), subwords, scratch / "training.ids", longest=config.longest)
    held_out = encode_examples(development, subwords, scratch / "development.ids", longest=config.longest)

    def sampled(epoch: int, draw: int) -> Examples:
        # The pass before may still be mapped: two files by turns.
        ids = scratch / f"pass-{epoch % 2}.ids"
        return encode_examples(bitext(), subwords, ids, longest=config.longest, sampling=config.sampling, seed=draw)

    trainer = Trainer(config, len(json.loads((subwords / "vocab.json").read_text(encoding="utf-8"))), seed, start)
    state = scratch / "state.safetensors"
    origin = file_digest(start / CHECKPOINT / "model.safetensors") if start else ""
    identity = digest([asdict(config), seed, origin, len(training), int(training.ids.sum(dtype=np.int64))])
    trainer.resume(state, identity)
    curve = _Curve(scratch / "curve.jsonl", trainer.step)
    passes = _Passes(training, sampled, config, trainer)
    began, seconds_before = time.monotonic(), trainer.seconds
    with (
        ThreadPoolExecutor(config.threads) as pool,
        progress("training", total=config.steps, done=trainer.step, unit="steps") as advance,
    ):
        while trainer.step < config.steps and not trainer.exhausted:
            loss = trainer.update(*passes.next(), pool)
            advance(1)
            if not math.isfinite(loss):
                raise ModelError(
                    f"the loss is {loss} at step {trainer.step}",
                    remedy="Lower matrix_rate and vector_rate, or look for odd lines in the bitext.",
                )
            if trainer.step % config.evaluate_every == 0 or trainer.step == config.steps:
                trainer.seconds = seconds_before + time.monotonic() - began
                curve.write(**trainer.assess(held_out, pool))
                trainer.save(state, identity)
    trainer.seconds = seconds_before + time.monotonic() - began

    save_checkpoint(trainer.model(), folder / CHECKPOINT, subwords)
    engine = scratch / "engine"
    convert(folder / CHECKPOINT, engine, precision=config.precision)
    for path in sorted(engine.iterdir()):
        path.replace(folder / path.name)
    write_shortlist(training, _pieces(subwords), folder)
    shutil.copyfile(scratch / "curve.jsonl", folder / "curve.jsonl")
    figures = {
        "pairs": len(training),
        "left_out": training.left_out,
        "steps": trainer.step,
        "epochs": round(trainer.tokens / int(training.target_lengths.sum()), 2),
        "parameters": trainer.parameter_count,
        "development_loss": round(trainer.best_loss, 4),
    }
    (folder / "training.json").write_text(
        json.dumps({"config": asdict(config), "seed": seed, **figures}, indent=1) + "\n"
    )
    speed = {"seconds": round(trainer.seconds, 1), "tokens_per_second": round(trainer.tokens / trainer.seconds)}
    (folder / "timings.json").write_text(json.dumps(speed) + "\n")
    last = json.loads((scratch / "curve.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    perplexities = {name: value for name, value in last.items() if name.endswith("_perplexity")}
    return {**figures, **perplexities, **speed}


class _Passes:
    """Batch after batch from the trainer's place on; order and sub-words follow from seed and epoch alone."""

    def __init__(
        self, examples: Examples, again: Callable[[int, int], Examples], config: TranslatorConfig, trainer: Any
    ):
        self.examples = self.plain = examples
        self.again, self.config, self.trainer = again, config, trainer

    def next(self) -> tuple[Any, Examples]:
        """The pair numbers of the next batch, and what they are numbers of."""
        trainer = self.trainer
        # Twice, when a training goes on that had ended with its epoch.
        while trainer.position >= len(trainer.plan):
            if trainer.plan:
                trainer.epoch += 1
                trainer.position = 0
            # Where the epoch began, also for a training that goes on in the middle of it.
            begun = trainer.step - trainer.position
            if self.config.sampling and begun < self.config.steps * (1 - self.config.plain_subwords):
                self.examples = self.again(trainer.epoch, spawn_seed(trainer.seed, trainer.epoch))
            else:
                self.examples = self.plain
            trainer.plan = batches(self.examples, self.config.batch_tokens, generator(trainer.seed, trainer.epoch))
        batch = trainer.plan[trainer.position]
        trainer.position += 1
        return batch, self.examples


def _pieces(subwords: Path) -> list[str]:
    """The sub-words by id."""
    vocabulary: dict[str, int] = json.loads((subwords / "vocab.json").read_text(encoding="utf-8"))
    return sorted(vocabulary, key=lambda piece: vocabulary[piece])


def _check_symbols(symbols: Sequence[str], subwords: Path) -> None:
    known = set(_pieces(subwords))
    for symbol in symbols:
        if symbol not in known:
            raise ModelError(
                f"the sub-words do not keep '{symbol}' whole",
                remedy="A translator to go on from must have been trained with the same symbols.",
            )


def _adopt_subwords(checkpoint: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("source.spm", "target.spm", "vocab.json"):
        if not (checkpoint / name).is_file():
            raise ModelError(
                f"{name} is missing", file=checkpoint, remedy="Start from a translator trained by Paraloom."
            )
        shutil.copyfile(checkpoint / name, folder / name)


class _Curve:
    """The training curve as JSON lines; going on after a kill, lines behind the checkpoint's step are dropped."""

    def __init__(self, path: Path, step: int) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path.is_file() else []
        kept = [line for line in lines if _step_of(line) <= step] if step else []
        with replacing(path) as temporary:
            temporary.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")

    def write(self, **point: float) -> None:
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(point) + "\n")


def _step_of(line: str) -> float:
    """The step of a curve's point; behind all others, where a kill tore the line."""
    try:
        return float(json.loads(line)["step"])
    except ValueError:
        return math.inf
