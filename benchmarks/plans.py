"""Plans beside runs: `--plan`, then the same without, for eight pipelines of light, heavy and mixed stages.

    PARALOOM_DATA=… python benchmarks/plans.py --write
    PARALOOM_DATA=… python benchmarks/plans.py quickstart      # some of them, by name

Every pipeline has one worker on one core. A plan is right if what the run took, on its own clock, is in its interval.
One run is killed (SIGKILL) when half of its second stage is done: the plan is that of the rest.
The memory is that of all processes at the peak, as the run observed it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from results_pages import FOLDER, put_result
from scale import on_one_core, write_pairs

from paraloom.pipeline.status import read_status

ROOT = Path(__file__).resolve().parents[1]
HEADING = "Plans"
READ = '[[stage]]\nuse = "read-pairs"\nsource = "pairs.de-en.tsv"\n'
PIPELINES = {
    "score and filter, 10⁶ pairs": (
        2000,
        '[[stage]]\nuse = "read-pairs"\nsource = "million.tsv"\nsrc_column = "a"\ntgt_column = "b"\nsrc_lang = "en"\n'
        'tgt_lang = "en"\n[[stage]]\nuse = "score"\nscores = ["length", "overlap"]\n'
        '[[stage]]\nuse = "filter"\nwhere = "trigram_overlap < 0.7"\n',
    ),
    "the rest of it, killed half way": (2000, "score and filter, 10⁶ pairs"),
    "back-translate, 2,000 pairs": (
        300,
        READ + 'limit = 2000\n[[stage]]\nuse = "backtranslate"\ntranslator = "de-en"\n',
    ),
    "encode, 200,000 sentences": (
        2000,
        '[[stage]]\nuse = "read-sentences"\ntext_files = ["sentences.txt"]\n'
        '[[stage]]\nuse = "encode"\nencoder = "english"\n',
    ),
    "clean and split, 169,813 pairs": (
        2000,
        READ + '[[stage]]\nuse = "clean"\nmax_words = 80\n[[stage]]\nuse = "split"\nshare = 0.01\n',
    ),
    "captions, as the example": (2000, ""),
    "align documents, 300 pages": (
        2000,
        '[[stage]]\nuse = "align-documents"\nsource = "documents-de"\ntarget = "documents-en"\nevidence = "words"\n',
    ),
}
"""Name → rows of the sample, and the stages."""


@dataclass(frozen=True)
class Trial:
    """A command, and the folder of its run."""

    name: str
    command: tuple[str, ...]
    plan: tuple[str, ...]
    folder: Path
    killed_at: str = ""


def trials(folder: Path) -> Iterator[Trial]:
    """The pipelines."""
    quickstart = ROOT / "src/paraloom/bundled/quickstart.toml"
    files = {"quickstart, 400 pairs": (100, quickstart)}
    for number, (name, (rows, stages)) in enumerate(PIPELINES.items()):
        path = folder / f"{number}.toml"
        stages = PIPELINES[stages][1] if stages in PIPELINES else stages
        path.write_text(f'name = "plans"\n{stages}', encoding="utf-8")
        files[name] = (rows, path if stages else ROOT / "examples/planned-captions.toml")
    for name, (rows, path) in files.items():
        run = folder / f"{path.stem}-run"
        killed_at = "*-score/part-00010.parquet" if name.startswith("the rest") else ""
        yield Trial(name, ("run", str(path), "-o", str(run)), ("--plan", "--plan-rows", str(rows)), run, killed_at)


def write_inputs(folder: Path, data: Path) -> None:
    """The files that the pipelines read."""
    write_pairs(folder / "million.tsv", data, 1_000_000)
    with gzip.open(data / "bitext/tatoeba/de-en.tsv.gz", "rt", encoding="utf-8") as stream:
        pairs = stream.read()
    (folder / "pairs.de-en.tsv").write_text(pairs, encoding="utf-8")
    with lzma.open(data / "sentences-en/captions.coco-texygen.txt.xz", "rt", encoding="utf-8") as stream:
        captions = list(dict.fromkeys(line.strip() for line in stream))
    english = [line.partition("\t")[2] for line in pairs.splitlines()]
    (folder / "sentences.txt").write_text("\n".join((captions + english)[:200_000]) + "\n", encoding="utf-8")
    for lang in ("de", "en"):
        with tarfile.open(data / f"documents/libreoffice-help/pages.{lang}.tar.xz") as archive:
            pages = [one for one in archive.getmembers() if one.name.endswith(".html")][:300]
            archive.extractall(folder, pages, filter="data")
        subprocess.run(
            [sys.executable, "-m", "paraloom", "extract", lang, "-o", f"documents-{lang}"],
            cwd=folder, check=True, capture_output=True,
        )  # fmt: skip


def start_and_kill(trial: Trial) -> None:
    """Run until a shard is there, and kill the run and its workers."""
    command = [sys.executable, "-m", "paraloom", *trial.command, "--workers", "1"]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    while child.poll() is None and not any(trial.folder.glob(trial.killed_at)):
        time.sleep(0.2)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def measured(trial: Trial) -> list[str]:
    """A row: what was expected, with its interval, what it took, and memory."""
    if trial.killed_at:
        start_and_kill(trial)
    for more in ((*trial.plan, "--json"), ()):
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "paraloom", *trial.command, "--workers", "1", *more], capture_output=True, text=True
        )
        if done.returncode:
            sys.exit(f"{trial.name}: {done.stderr[-2000:]}")
        if more:
            planned, plan = time.monotonic() - began, json.loads(done.stdout)
    status = read_status(trial.folder)
    assert status.seconds is not None
    one = next(row for row in plan["machines"] if row["cores"] == 1)
    low, expected, high = one["low"], one["seconds"], one["high"]
    inside = "yes" if low <= status.seconds <= high else f"{status.seconds / expected:.2f} ×"
    return [
        trial.name,
        f"{planned:,.0f}",
        f"{expected:,.1f} [{low:,.1f}, {high:,.1f}]",
        f"{status.seconds:,.1f}",
        inside,
        f"{one['memory'] / 1e6:,.0f}",
        f"{(status.peak_memory or 0) / 1e6:,.0f}",
    ]


def write_page(rows: list[list[str]]) -> None:
    """Put the table on the page of results."""
    put_result(
        FOLDER / "endpoints-and-plans.json",
        {
            "heading": HEADING,
            "command": ["python benchmarks/plans.py --write"],
            "machine": "cores",
            "columns": ["", "plan took, s", "expected, s", "took, s", "inside", "planned, MB", "used, MB"],
            "align": "lrrrrrr",
            "rows": rows,
        },
    )


def main() -> None:
    """Plan and run, print a row each, and write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="beginnings of the names of pipelines; all by default")
    parser.add_argument("--write", action="store_true", help="write the page of results")
    options = parser.parse_args()
    on_one_core()
    rows = []
    with tempfile.TemporaryDirectory(prefix="paraloom-plans-") as name:
        write_inputs(Path(name), Path(os.environ["PARALOOM_DATA"]))
        for trial in trials(Path(name)):
            if not options.names or trial.name.startswith(tuple(options.names)):
                rows.append(measured(trial))
                print(" | ".join(rows[-1]), flush=True)
                if options.write:
                    write_page(rows)


if __name__ == "__main__":
    main()
