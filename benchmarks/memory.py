"""Measure peak memory of back-translation and scoring on 30,000 and 3,000,000 pairs; it must not grow with the corpus.

    python benchmarks/memory.py

The pairs are Multi30k's captions, repeated.  The figure is the largest sum of proportional set sizes of the command and
its workers (shared memory counts once), sampled twice a second.  The size of the model does not matter here: without
--translator a very small one is trained first, in a minute, so that three million sentences take minutes.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def tree(root: int) -> list[int]:
    """A process and all its descendants."""
    processes, waiting = [], [root]
    while waiting:
        process = waiting.pop()
        processes.append(process)
        try:
            for task in Path(f"/proc/{process}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except OSError:
            continue
    return processes


def proportional(process: int) -> int:
    """Proportional set size in bytes; 0 if the process has ended."""
    try:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def peak(command: list[str]) -> tuple[int, float]:
    """Peak memory in bytes of a command and its descendants, and its duration in seconds."""
    start = time.perf_counter()
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak_bytes = 0
    while running.poll() is None:
        peak_bytes = max(peak_bytes, sum(map(proportional, tree(running.pid))))
        time.sleep(0.5)
    if running.returncode:
        raise SystemExit(f"{command} failed with exit status {running.returncode}")
    return peak_bytes, time.perf_counter() - start


def small_translator(folder: Path, captions: Path) -> Path:
    """Train a German–English translator of dimension 64, which is good enough to end its sentences."""
    from paraloom.mt.config import TranslatorConfig
    from paraloom.mt.training import train_translator

    sides = [
        gzip.decompress((captions / f"train.{language}.gz").read_bytes()).decode().splitlines()
        for language in ("de", "en")
    ]
    config = TranslatorConfig(
        vocab_size=2000,
        d_model=64,
        heads=2,
        encoder_layers=1,
        decoder_layers=1,
        ffn_dim=128,
        steps=600,
        evaluate_every=600,
        full_softmax_share=0.5,
        ema_decay=0.99,
    )
    train_translator(lambda: [tuple(sides)], [tuple(side[:500] for side in sides)], config, folder)
    return folder


def main() -> None:
    """Print a line for each command and size, then the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--translator", type=Path, help="a translator folder; by default a very small one is trained")
    parser.add_argument("--sizes", type=int, nargs="+", default=[30_000, 3_000_000], help="numbers of pairs")
    parser.add_argument("--decode", default="greedy")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()

    captions = Path(os.environ["PARALOOM_DATA"]) / "bitext/multi30k/task1"
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        translator = arguments.translator or small_translator(Path(scratch) / "translator", captions)
        for size in arguments.sizes:
            for language in ("de", "en"):
                lines = gzip.decompress((captions / f"train.{language}.gz").read_bytes()).splitlines(keepends=True)
                with (Path(scratch) / f"captions.{language}").open("wb") as stream:
                    stream.writelines(itertools.islice(itertools.cycle(lines), size))
            paraloom = [sys.executable, "-m", "paraloom.cli.main"]
            workers = ["--workers", str(arguments.workers)]
            pairs, scored = f"{scratch}/pairs-{size}", f"{scratch}/scored-{size}"
            verbs = {
                "backtranslate": [
                    *(f"{scratch}/captions.{{de,en}}", "--translator", str(translator)),
                    *("--decode", arguments.decode, "-o", pairs),
                ],
                "score": [pairs, "-o", scored],
            }
            for verb, options in verbs.items():
                memory, spent = peak([*paraloom, verb, *options, *workers])
                rows.append(
                    {"verb": verb, "pairs": size, "peak_mib": round(memory / 2**20), "seconds": round(spent, 1)}
                )
                print(f"{verb:<14} {size:>10,} pairs   peak {memory / 2**20:7.0f} MiB   {spent:8.1f} s", flush=True)
    print(json.dumps({"decode": arguments.decode, "workers": arguments.workers, "rows": rows}))


if __name__ == "__main__":
    main()
