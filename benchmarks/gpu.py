"""Decode and train on a GPU: Paraloom beside bare CTranslate2 and transformers, on random models of real sizes.

    python benchmarks/gpu.py                         # on a machine with a GPU; elsewhere it says so, and ends with 0
    python benchmarks/gpu.py --device cpu --small    # what it does, on tiny models

Rows: a Marian of the base size and an NLLB of 600 million numbers, in float16, 5 beams, to 24 tokens. All
decode the same lines, and loading does not count. Bare CTranslate2 gets lines that are split into subwords already, in
batches of as many tokens, and decodes nothing to text: what remains is what Paraloom adds. generate gets batches of 64
lines sorted by length. The runs alternate, and ratios are medians over rounds. The first table is the training of a
translator of the base size, tokens (padded, of the longer side) per second, and of a small transformer from a teacher.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np
from tiny_translators import write_checkpoint
from toy_language import bitext

from paraloom.core.devices import Device, gpu_count, parse_device
from paraloom.core.errors import ConfigError
from paraloom.embed.transformer_config import TransformerConfig
from paraloom.mt import Translator
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.decoding import Decoding
from paraloom.mt.training import training_speed

TOKENS = 24
LANGUAGES = {"marian": {"target": "fr"}, "nllb": {"source": "en", "target": "de"}}
MARIAN = {"d_model": 512, "encoder_layers": 6, "decoder_layers": 6, "encoder_attention_heads": 8}
MARIAN |= {"decoder_attention_heads": 8, "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048}
NLLB = {"d_model": 1024, "encoder_layers": 12, "decoder_layers": 12, "encoder_attention_heads": 16}
NLLB |= {"decoder_attention_heads": 16, "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096, "vocab_size": 256_206}


class FixedLength(Translator):
    """Translations of `TOKENS` tokens."""

    def engine_options(self, decode: str | Decoding | None = None) -> dict[str, Any]:
        """With a minimum and a maximum length."""
        return super().engine_options(decode) | {"min_decoding_length": TOKENS}


def paraloom(folder: Path, kind: str, lines: list[str], device: Device, precision: str) -> FixedLength:
    """Paraloom's translator of this checkpoint, with its model in memory."""
    languages: dict[str, Any] = LANGUAGES[kind]
    options = {"decode": "beam:5", "precision": precision, "device": str(device), "check_costs": False}
    translator = FixedLength.load(folder, **options, **languages)
    translator._codec.max_target = TOKENS
    translator.translate(lines[:8])
    return translator


def bare(translator: FixedLength, lines: list[str]) -> Callable[[], object]:
    """The same lines, split into subwords before, decoded by CTranslate2's own function."""
    rows = translator._codec.encode(lines)
    prefix = [list(translator._codec.prefix)] * len(rows) if translator._codec.prefix else None
    # A language token at the beginning counts as one of the translation.
    options = translator.engine_options() | {"max_decoding_length": TOKENS + len(translator._codec.prefix)}
    engine = translator._decoder.engine()
    return lambda: engine.translate_batch(rows, prefix, **options)


def generate(folder: Path, lines: list[str], device: Device) -> Callable[[], object]:
    """The same lines, by transformers, in float16 on a GPU."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    where = torch.device("cpu") if device.kind == "cpu" else torch.device("cuda", device.indices[0])
    dtype = torch.float32 if device.kind == "cpu" else torch.float16
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=dtype).eval().to(where)
    ordered = sorted(lines, key=len, reverse=True)
    options = {"num_beams": 5, "do_sample": False, "min_new_tokens": TOKENS, "max_new_tokens": TOKENS}

    def run() -> object:
        with torch.no_grad():
            for start in range(0, len(ordered), 64):
                inputs = tokenizer(ordered[start : start + 64], return_tensors="pt", padding=True).to(where)
                tokenizer.batch_decode(model.generate(**inputs, **options), skip_special_tokens=True)
        return None

    return run


def seconds(run: Callable[[], object]) -> float:
    """Seconds that a call takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def print_decoding(folder: Path, kind: str, lines: list[str], device: Device, rounds: int) -> None:
    """Time the three in turn, and print a line of the table."""
    precision = "float32" if device.kind == "cpu" else "float16"
    translator = paraloom(folder, kind, lines, device, precision)
    runs = [generate(folder, lines, device), bare(translator, lines), partial(translator.translate, lines)]
    for run in runs:
        run()  # Warm.
    times = [[seconds(run) for run in runs] for _ in range(rounds)]
    rates = [len(lines) / median(column) for column in zip(*times, strict=True)]
    to_bare, to_generate = (median(row[column] / row[2] for row in times) for column in (1, 0))
    cells = (*(f"{rate:.0f}" for rate in rates), f"{rates[2] * TOKENS:.0f}", f"{to_bare:.2f}", f"{to_generate:.1f}")
    print(f"| {kind}, {precision} | {' | '.join(cells)} |", flush=True)


def train_translators(device: Device, small: bool, steps: int) -> float:
    """Padded tokens per second of the updates of a translator, the first ones left out."""
    sizes = {"d_model": 64, "ffn_dim": 128} if small else {"d_model": 512, "ffn_dim": 2048, "heads": 8}
    layers = {} if small else {"encoder_layers": 6, "decoder_layers": 6, "vocab_size": 32_000}
    tokens = 1_000 if small else 16_384
    config = TranslatorConfig(device=str(device), batch_tokens=tokens, steps=10_000, **sizes, **layers)
    return training_speed(config, length=32, steps=steps)


def distill(device: Device, small: bool, steps: int) -> float:
    """Sentences per second of the updates of a small transformer, the first ones left out."""
    from paraloom.embed.transformer_network import TransformerShape, new_network
    from paraloom.embed.transformer_training import TransformerTrainer

    width, size = (32, 64) if small else (256, 512)
    config = TransformerConfig(width=width, heads=4, ffn_dim=4 * width, device=str(device))
    shape = TransformerShape(30_522, width, 2, 4, 4 * width, 96, 384)
    trainer = TransformerTrainer(config, new_network(shape, seed=1))
    draw = np.random.default_rng(1)
    ids = [draw.integers(1000, 30_000, 16).astype(np.int32) for _ in range(size)]
    teacher = draw.normal(size=(size, 384)).astype(np.float32)
    teacher /= np.linalg.norm(teacher, axis=1, keepdims=True)
    for step in range(1, 4):
        trainer.update(ids, teacher, 1e-3, step)
    rate = steps * size / seconds(lambda: [trainer.update(ids, teacher, 1e-3, step) for step in range(4, 4 + steps)])
    trainer.close()
    return rate


def print_trainings(device: Device, small: bool, steps: int) -> None:
    """Time the trainings, and print their table."""
    print("\n| training | |\n| --- | ---: |")
    print(f"| translator, tokens/s | {train_translators(device, small, steps):,.0f} |", flush=True)
    print(f"| small transformer, sentences/s | {distill(device, small, steps):,.0f} |", flush=True)


def main() -> None:
    """Print two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1, or cpu (default: %(default)s)")
    parser.add_argument("--small", action="store_true", help="tiny models")
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=30, help="updates that are timed")
    parser.add_argument("--models", nargs="*", choices=("marian", "nllb"), default=["marian", "nllb"], help="to decode")
    arguments = parser.parse_args()
    try:
        device = parse_device(arguments.device)
    except ConfigError as error:
        print(f"skipped: {error}")
        return
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()
    warnings.simplefilter("ignore")
    lines = [source for source, _ in bitext(arguments.lines, seed=7)]
    print(f"device: {device}, GPUs: {gpu_count()}")
    print_trainings(device, arguments.small, arguments.steps)
    if not arguments.models:
        return
    print("\n| model | generate, lines/s | bare CTranslate2 | Paraloom | tokens/s | × bare | × generate |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["PARALOOM_CACHE"] = f"{scratch}/cache"
        for kind, shape in (("marian", MARIAN), ("nllb", NLLB)):
            if kind in arguments.models:
                folder = write_checkpoint(kind, Path(scratch) / kind, **({} if arguments.small else shape))
                print_decoding(folder, kind, lines, device, arguments.rounds)


if __name__ == "__main__":
    main()
