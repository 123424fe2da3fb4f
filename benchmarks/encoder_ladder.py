"""Compare encoders by speed and quality: a table in Markdown, and a figure of sentences per second against the mean.

    PARALOOM_DATA=… python benchmarks/encoder_ladder.py english out/student out/small \\
        --teacher models/all-MiniLM-L6-v2 --distill --json ladder.json

Encoders are names or folders of Paraloom, of model2vec and of sentence-transformers.  A teacher is a folder of
sentence-transformers that is run by that library, without Paraloom; `--distill` makes a model2vec model of it on the
spot (`pip install 'model2vec[distill]'`; no network is used), `--model2vec` names folders for that library.  A row
*untrained* is added for each encoder whose folder has the start of its training, and a row *overlap* (TF-IDF of words
and trigrams), which has no vectors to time.

Quality: Pearson x 100, mean over the subsets of a year and over STS 2012 to 2015 (the papers' protocol), STS-B; and
Spearman x 100 over all pairs of a year together (MTEB's).  Speed: the best of three encodings of English captions of
Multi30k, from text to vectors, after a warm-up, each in a process of its own with the given number of processors.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

YEARS = ("2012", "2013", "2014", "2015")
POOLED = ("STS12", "STS13", "STS14", "STS15")
KINDS = ("paraloom", "sentence-transformers", "model2vec")


@dataclass(frozen=True)
class System:
    """What is measured: a name for the table, the library that runs it, and its name or folder."""

    name: str
    kind: str
    path: str


class Encoding:
    """Gives any library's `encode` the shape that an evaluation expects."""

    def __init__(self, encode: Callable[[list[str]], Any], name: str) -> None:
        self._encode, self.signature, self.dimension = encode, name, 0

    def encode(self, sentences: Any) -> Any:
        import numpy as np

        return np.asarray(self._encode(list(sentences)), np.float32)


def load(system: System, threads: int) -> Any:
    """The encoder of a system, run by its own library."""
    if system.kind == "paraloom":
        import paraloom

        return paraloom.Encoder.load(system.path, threads=threads)
    if system.kind == "model2vec":
        from model2vec import StaticModel

        model = StaticModel.from_pretrained(system.path)
        options = {"use_multiprocessing": threads > 1, "multiprocessing_threshold": 10_000}
        return Encoding(lambda texts: model.encode(texts, **options), system.name)
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(threads)
    transformer = SentenceTransformer(system.path, device="cpu")
    return Encoding(lambda texts: transformer.encode(texts, batch_size=64, show_progress_bar=False), system.name)


def captions(data: Path, count: int) -> list[str]:
    """English captions of Multi30k's training images."""
    texts: list[str] = []
    for number in range(1, 6):
        path = data / "bitext/multi30k/task2" / f"train.{number}.en.gz"
        if not path.is_file():
            sys.exit(f"{path} not found: set PARALOOM_DATA to the folder of real corpora")
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            texts += [line.rstrip("\n") for line in lines]
        if len(texts) >= count:
            break
    return texts[:count]


def speed(system: System, threads: int, data: Path, count: int) -> float:
    """Sentences per second, the best of three; slow encoders are timed on a part of the captions."""
    encoder = load(system, threads)
    texts = captions(data, count)
    start = time.perf_counter()
    encoder.encode(texts[:200])
    encoder.encode(texts[200:400])
    per_second = 200 / max(1e-6, (time.perf_counter() - start) / 2)
    texts = texts[: max(2_000, min(count, int(10 * per_second)))]
    encoder.encode(texts[:5_000])
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        encoder.encode(texts)
        seconds.append(time.perf_counter() - start)
    return len(texts) / min(seconds)


def speed_in_subprocess(system: System, threads: int, options: argparse.Namespace) -> float:
    """Time a system in a process that can use `threads` processors only."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "NUMBA_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, str(threads))
    environment["TOKENIZERS_PARALLELISM"] = "true" if threads > 1 else "false"
    processors = sorted(os.sched_getaffinity(0))[:threads]
    command = [sys.executable, __file__, "--one", system.kind, system.path, "--threads", str(threads)]
    run = subprocess.run(
        [*command, "--sentences", str(options.sentences)],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, processors),
    )
    return float(run.stdout.split()[-1])


def megabytes(path: str) -> float | None:
    """Size of a folder of a model without what its training started from; None for a name."""
    from paraloom.bundled import bundled_path
    from paraloom.evaluate.untrained import START

    folder = Path(path) if Path(path).is_dir() else bundled_path(path)
    if folder is None:
        return None
    files = [file for file in folder.rglob("*") if file.is_file() and START not in file.relative_to(folder).parts]
    return sum(file.stat().st_size for file in files) / 1e6


def quality(table: Any, name: str) -> dict[str, float | None]:
    """The figures of one system of an evaluation by both protocols."""
    from paraloom.evaluate.sts import summary_rows

    system = table.system(name)
    rows = {group: row.pearson for group, row in summary_rows(system.rows).items()}
    pooled = {row.task: (row.spearman, row.pearson) for row in system.mteb}
    years = [rows[year] for year in YEARS if year in rows]
    together = [pooled[task][0] for task in POOLED if task in pooled]
    return {
        **{year: rows.get(year) for year in YEARS},
        "mean": fmean(years) if len(years) == len(YEARS) else None,
        "STS-B dev": rows.get("STS-B"),
        "STS-B test": rows.get("STS-B test"),
        "pooled": fmean(together) if len(together) == len(POOLED) else None,
        "SICK-R": pooled["SICK-R"][0] if "SICK-R" in pooled else None,
    }


def distilled(teacher: str, folder: Path) -> Path:
    """A model2vec model of a local teacher, as `model2vec.distill` makes it with its defaults."""
    from model2vec.distill import distill

    target = folder / f"model2vec-of-{Path(teacher).name}"
    model = distill(teacher)
    # It inherits a teacher's padding to 128 tokens, and the padding would become a part of the average.
    model.tokenizer.no_padding()
    model.tokenizer.no_truncation()
    model.save_pretrained(str(target))
    return target


def systems_of(options: argparse.Namespace, folder: Path) -> list[System]:
    """All rows, the starts of trainings before their encoders; a peer that cannot run is left out with a message."""
    from paraloom.evaluate.untrained import untrained_folder

    systems: list[System] = []
    for path in options.encoders:
        start = untrained_folder(path)
        name = Path(path).name
        if start is not None:
            systems.append(System(f"{name}, untrained", "paraloom", str(start)))
        systems.append(System(name, "paraloom", path))
    systems += [System(f"{Path(path).name} (model2vec)", "model2vec", path) for path in options.model2vec]
    for path in options.teacher:
        systems.append(System(f"{label(path)} (sentence-transformers)", "sentence-transformers", path))
        if options.distill:
            try:
                systems.append(System(f"model2vec.distill({label(path)})", "model2vec", str(distilled(path, folder))))
            except (ImportError, OSError) as error:
                print(f"model2vec.distill({label(path)}) left out: {error}", file=sys.stderr)
    return systems


def label(path: str) -> str:
    """A readable name of a teacher's folder."""
    return Path(path).parent.name if Path(path).name == "model" else Path(path).name


def measure(options: argparse.Namespace, data: Path, folder: Path) -> list[dict[str, Any]]:
    """Speed and quality of every system."""
    from word_order import contrasts, margins, overlap_of, paws_auc

    from paraloom.evaluate.sts import evaluate_sts

    def order(encoder: Any) -> dict[str, float]:
        of = margins(encoder, sets)
        return {"order": of.accuracy, "PAWS": 100 * paws_auc(of, sets).value}

    rows: list[dict[str, Any]] = []
    sets = contrasts(data)
    for system in systems_of(options, folder):
        try:
            rates = {threads: speed_in_subprocess(system, threads, options) for threads in options.threads}
            encoder = load(system, max(options.threads))
            table = evaluate_sts({system.name: encoder}, data / "sts", overlap=False)
            figures = {**quality(table, system.name), **order(encoder)}
        except (ImportError, subprocess.CalledProcessError, OSError) as error:
            print(f"{system.name} left out: {error}", file=sys.stderr)
            continue
        rows.append({**asdict(system), "mb": megabytes(system.path), "rates": rates, **figures})
        print(row_of(rows[-1], options.threads), file=sys.stderr, flush=True)
        if len(rows) == 1:
            table = evaluate_sts({system.name: load(system, 1)}, data / "sts", resamples=0)
            overlap = {"name": "overlap (TF-IDF)", "kind": "none", "path": "", "mb": None, "rates": {}}
            rows.insert(0, {**overlap, **quality(table, "overlap"), **order(overlap_of(sets))})
    return rows


COLUMNS = (*YEARS, "mean", "STS-B dev", "STS-B test", "pooled", "SICK-R", "order", "PAWS")


def markdown(rows: list[dict[str, Any]], threads: list[int]) -> str:
    """The table: sizes, rates, Pearson by the papers' protocol, Spearman by MTEB's."""
    heads = ["encoder", "MB", *(f"sentences/s, {count} thr." for count in threads)]
    heads += [*YEARS, "mean", "STS-B dev", "STS-B test", "MTEB STS12-15", "MTEB SICK-R", "order", "PAWS"]
    lines = [f"| {' | '.join(heads)} |", f"| --- |{' ---: |' * (len(heads) - 1)}"]
    return "\n".join([*lines, *(row_of(row, threads) for row in rows)])


def row_of(row: dict[str, Any], threads: list[int]) -> str:
    """A line of the table."""
    rates = [f"{row['rates'][count]:,.0f}" if count in row["rates"] else "-" for count in threads]
    size = "-" if row["mb"] is None else f"{row['mb']:.1f}"
    figures = ["-" if row[column] is None else f"{row[column]:.1f}" for column in COLUMNS]
    return f"| {' | '.join([row['name'], size, *rates, *figures])} |"


def main() -> None:
    """Print the table; write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoders", nargs="*", help="names or folders that paraloom.Encoder.load opens")
    parser.add_argument("--teacher", action="append", default=[], help="a folder of sentence-transformers; repeatable")
    parser.add_argument("--distill", action="store_true", help="make a model2vec model of each teacher, and measure it")
    parser.add_argument("--model2vec", action="append", default=[], help="a folder of model2vec; repeatable")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="numbers of processors")
    parser.add_argument("--sentences", type=int, default=145_000, help="captions to encode at most")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--one", nargs=2, metavar=("KIND", "PATH"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if "PARALOOM_DATA" not in os.environ:
        sys.exit("set PARALOOM_DATA to the folder of real corpora")
    data = Path(os.environ["PARALOOM_DATA"])
    warnings.simplefilter("ignore")
    if options.one:
        print(speed(System("", *options.one), options.threads[0], data, options.sentences))
        return
    if not (options.encoders or options.teacher or options.model2vec):
        parser.error("name one encoder or more")
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(options, data, Path(folder))
    print(markdown(rows, options.threads))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
