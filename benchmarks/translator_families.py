"""Compare the speed of each family of translators with that of transformers' generate.

    python benchmarks/translator_families.py --families nllb,t5 --lines 200

The models are random ones of a size between the tiny and the real: what is compared is the work, not the translations.
Both decode the same lines in float32 to the same number of tokens on the same cores; generate in batches of 64 lines
sorted by length. Loading does not count. The two alternate, and the ratio is the median over rounds; int8 is what
Paraloom uses on processors by default, and is printed beside.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from tiny_translators import KINDS, write_checkpoint
from toy_language import bitext

from paraloom.mt import Translator
from paraloom.mt.decoding import Decoding
from paraloom.mt.streams import translate_stream

LANGUAGES: dict[str, dict[str, str]] = {
    "marian": {"target": "fr"},
    "m2m100": {"source": "en", "target": "de"},
    "nllb": {"source": "en", "target": "de"},
    "mbart50": {"source": "en", "target": "de"},
    "madlad": {"target": "de"},
}
TOKENS = 24
BART_SHAPE = {
    "d_model": 256,
    "encoder_layers": 4,
    "decoder_layers": 4,
    "encoder_ffn_dim": 1024,
    "decoder_ffn_dim": 1024,
}
T5_SHAPE = {"d_model": 256, "d_kv": 64, "d_ff": 1024, "num_layers": 4, "num_decoder_layers": 4}


def generate(folder: Path, lines: list[str], beams: int) -> Callable[[], object]:
    """Decoding of all lines by transformers."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    ordered = sorted(lines, key=len, reverse=True)
    options = {"num_beams": beams, "do_sample": False, "min_new_tokens": TOKENS, "max_new_tokens": TOKENS}

    def run() -> object:
        with torch.no_grad():
            for start in range(0, len(ordered), 64):
                inputs = tokenizer(ordered[start : start + 64], return_tensors="pt", padding=True)
                tokenizer.batch_decode(model.generate(**inputs, **options), skip_special_tokens=True)
        return None

    return run


def ours(folder: Path, kind: str, lines: list[str], beams: int, precision: str, cores: int) -> Callable[[], object]:
    """Decoding of all lines by Paraloom."""
    languages: dict[str, Any] = LANGUAGES.get(kind, {})
    translator = FixedLength.load(folder, decode=f"beam:{beams}", precision=precision, check_costs=False, **languages)
    size = min(200, -(-len(lines) // (2 * cores)))
    chunks = [lines[start : start + size] for start in range(0, len(lines), size)]
    return lambda: list(translate_stream(translator, chunks, threads=cores))


class FixedLength(Translator):
    """Translations of `TOKENS` tokens, as those of generate."""

    def engine_options(self, decode: str | Decoding | None = None) -> dict[str, Any]:
        """With a minimum length."""
        return super().engine_options(decode) | {"min_decoding_length": TOKENS}

    def _copy(self, decode: str | Decoding, device: str) -> Translator:
        other = FixedLength(self.folder, decode, source=self.source, target=self.target, device=device)
        other._codec.max_target = TOKENS
        return other


def seconds(run: Callable[[], object]) -> float:
    """Seconds that a call takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def print_row(kind: str, lines: int, runs: list[Callable[[], object]], rounds: int) -> None:
    """Time generate, float32 and int8 in turn, and print a line of the table."""
    times = [[seconds(run) for run in runs] for _ in range(rounds)]
    rates = [lines / median(column) for column in zip(*times, strict=True)]
    ratios = [median(row[0] / row[column] for row in times) for column in (1, 2)]
    print(
        f"| {kind} | {rates[0]:.0f} | {rates[1]:.0f} | {ratios[0]:.1f} | {rates[2]:.0f} | {ratios[1]:.1f} |",
        flush=True,
    )


def main() -> None:
    """Print a table: lines per second of both, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", default=",".join(KINDS), help="kinds of checkpoints, separated by commas")
    parser.add_argument("--lines", type=int, default=400)
    parser.add_argument("--beams", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()
    warnings.simplefilter("ignore")
    torch.set_num_threads(arguments.cores)
    lines = [source for source, _ in bitext(arguments.lines, seed=7)]
    print("| family | generate, lines/s | float32, lines/s | ratio | int8, lines/s | ratio |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["PARALOOM_CACHE"] = f"{scratch}/cache"
        for kind in arguments.families.split(","):
            shape = T5_SHAPE if kind in ("t5", "mt5", "madlad") else BART_SHAPE
            folder = write_checkpoint(kind, Path(scratch) / kind, **shape)
            runs = [generate(folder, lines, arguments.beams)]
            runs += [
                ours(folder, kind, lines, arguments.beams, precision, arguments.cores)
                for precision in ("float32", "int8")
            ]
            print_row(kind, len(lines), runs, arguments.rounds)


if __name__ == "__main__":
    main()
