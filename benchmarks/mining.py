"""Mining of translations beside a plain numpy computation: F1 of margin and cosine, lines/s and peak memory by size.

    PARALOOM_DATA=… python benchmarks/mining.py --language tr --sizes 1000 10000 100000 -o runs/mining

An encoder is trained as in `bilingual.py` (or given, --encoder). A tenth of the lines of each size, 2,500 at most, have
a translation in the other text: NTREX, then Tatoeba pairs, which are not trained on. The others are foreign sides of
training pairs and English of `sentences-en`. Where a language has fewer lines, the foreign side is smaller; the table
has both counts. Each row is a process of its own: `mine_translations` from files to a file, encoding included, or
numpy, which encodes, holds all vectors and compares them in blocks of 1,000 rows, once for each direction.
Peak memory is the
largest resident set of that process (VmHWM), the encoder included; *encoder* only encodes 100 lines. The best F1 is at
a threshold that is chosen on the same pairs, for every row alike; the cosine does not have a default threshold. If
stopped, run it again to resume.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import bilingual
import numpy as np
import numpy.typing as npt

from paraloom.api.mining import mine_translations
from paraloom.embed.average import normalize_vectors
from paraloom.embed.encoder import open_encoder
from paraloom.embed.mining import MARGIN_THRESHOLD
from paraloom.evaluate.mining import evaluate_mining, read_gold_rows
from paraloom.io import read_lines
from paraloom.io.atomic import atomic_write

SYSTEMS = ("encoder", "paraloom", "paraloom, graph", "numpy, margin", "numpy, cosine")
K, BLOCK = 4, 1000


def write_texts(language: str, size: int, folder: Path, work: Path) -> None:
    """The two texts and the true lines of one size."""
    bilingual.MINING_LINES, bilingual.MINING_TRUE = size, min(2500, size // 10)
    bilingual.mining_texts.cache_clear()
    foreign, english, gold = bilingual.mining_texts(language, work)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gold.tsv").write_text("".join(f"{a + 1}\t{b + 1}\n" for a, b in gold), encoding="utf-8")
    for name, lines in (("foreign.txt", foreign), ("english.txt", english)):
        (folder / name).write_text("".join(f"{' '.join(line.split())}\n" for line in lines), encoding="utf-8")


def nearest(queries: Any, keys: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """Rows and cosines of the k nearest keys of each query, in no order."""
    rows, cosines = [], []
    for start in range(0, len(queries), BLOCK):
        products = queries[start : start + BLOCK] @ keys.T
        rows.append(np.argpartition(-products, K, axis=1)[:, :K].copy())  # a view would keep all columns
        cosines.append(np.take_along_axis(products, rows[-1], axis=1))
    return np.concatenate(rows), np.concatenate(cosines)


def plain(encoder: Path, folder: Path, *, margin: bool) -> dict[str, Any]:
    """All vectors in memory, all cosines, best candidates of both directions from the highest score down."""
    texts = [list(read_lines(folder / name)) for name in ("foreign.txt", "english.txt")]
    model = open_encoder(encoder)
    a, b = (normalize_vectors(model.encode(lines)) for lines in texts)
    sides = nearest(a, b), nearest(b, a)
    means = [cosines.mean(axis=1) for _, cosines in sides]
    scored: list[tuple[float, int, int]] = []
    for number, (rows, cosines) in enumerate(sides):
        scores = 2 * cosines / (means[number][:, None] + means[1 - number][rows]) if margin else cosines
        best = scores.argmax(axis=1)
        for row, slot in enumerate(best.tolist()):
            pair = (row, int(rows[row, slot])) if number == 0 else (int(rows[row, slot]), row)
            scored.append((float(scores[row, slot]), *pair))
    used: tuple[set[int], set[int]] = (set(), set())
    chosen = []
    for value, source, target in sorted(scored, key=lambda item: (-item[0], item[1], item[2])):
        if source not in used[0] and target not in used[1]:
            used[0].add(source)
            used[1].add(target)
            chosen.append((source, target, value))
    sources, targets, scores_ = zip(*chosen, strict=True)
    gold = read_gold_rows(folder / "gold.tsv")
    score = evaluate_mining(sources, targets, scores_, gold, MARGIN_THRESHOLD).to_dict()
    return score if margin else {name: value for name, value in score.items() if name.startswith("best")}


def peak_memory() -> float:
    """The largest resident set of this process in MiB; getrusage would count its parent's before it started, too."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def one(system: str, encoder: Path, folder: Path) -> dict[str, Any]:
    """What one row measures, in this process."""
    began = time.perf_counter()
    score: dict[str, Any] = {}
    if system == "encoder":
        open_encoder(encoder).encode([line for line, _ in zip(read_lines(folder / "foreign.txt"), range(100))])  # noqa: B905
    elif system.startswith("paraloom"):
        mined = mine_translations(
            encoder,
            folder / "foreign.txt",
            folder / "english.txt",
            folder / f"{system}.tsv",
            index="graph" if "graph" in system else "exact",
            gold=folder / "gold.tsv",
        )
        score = mined.to_dict()["score"]
    else:
        score = plain(encoder, folder, margin=system.endswith("margin"))
    seconds = time.perf_counter() - began
    return {**score, "seconds": seconds, "MiB": peak_memory()}


def main() -> None:
    """Measure each system at each size, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", default="tr", choices=bilingual.LANGUAGES)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=SYSTEMS)
    parser.add_argument("--encoder", type=Path, help="a bilingual encoder; by default one is trained")
    parser.add_argument("--one", nargs=2, metavar=("SYSTEM", "FOLDER"), help=argparse.SUPPRESS)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of everything that is computed")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one[0], options.encoder, Path(options.one[1]))))
        return
    encoder = options.encoder or options.output / "encoder"
    if options.encoder is None:
        pairs = bilingual.training_pairs(options.language, options.output)
        bilingual.train(pairs, encoder, 1, {})
    rows = []
    for size in options.sizes:
        folder = options.output / f"{options.language}-{size}"
        if not (folder / "english.txt").is_file():
            write_texts(options.language, size, folder, options.output)
        lines = [sum(1 for _ in read_lines(folder / name)) for name in ("foreign.txt", "english.txt")]
        for system in options.systems:
            figures = folder / f"{system}.json"
            if not figures.is_file():
                command = [sys.executable, __file__, "--encoder", str(encoder), "-o", str(options.output)]
                run = subprocess.run([*command, "--one", system, str(folder)], stdout=subprocess.PIPE, check=True)
                with atomic_write(figures) as path:
                    path.write_bytes(run.stdout.splitlines()[-1])
            result = json.loads(figures.read_bytes())
            f1 = [f"{100 * result[name]:.1f}" if name in result else "–" for name in ("f1", "best_f1")]
            threshold = f"{result['best_threshold']:.3f}" if "best_threshold" in result else "–"
            speed = "–" if system == "encoder" else f"{sum(lines) / result['seconds']:,.0f}"
            counts = [f"{count:,}" for count in lines]
            rows.append([*counts, system, *f1, threshold, f"{result['seconds']:.1f}", speed, f"{result['MiB']:,.0f}"])
    header = ["foreign", "English", "system", "F1", "best F1", "at", "seconds", "lines/s", "MiB"]
    bilingual.print_table(header, rows)


if __name__ == "__main__":
    main()
