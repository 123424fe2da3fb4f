"""Make a run, models and files with an older checkout, and open each of them with this one.

    python benchmarks/older_version.py --before ../before --scratch /tmp/older
    python benchmarks/older_version.py --before ../before --scratch /tmp/older --record

--record writes the table of docs/explanations/results/before-and-after.json and its page.  What is in the scratch
folder already is not made again.  Minutes of one core; the treebank of the data folder is read.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from results_pages import FOLDER, read_topic, write_pages, write_topic

HERE = Path(__file__).resolve().parents[1]
PAGE, HEADING = "before-and-after", "Runs and models of the version before"
KEPT = "quickstart/40-kept"

MAKE: dict[str, tuple[str, ...]] = {
    "quickstart": ("quickstart", "quickstart"),
    "scored.parquet": ("score", KEPT, "--with", "overlap,length,chrf", "--encoder", "english", "-o", "scored.parquet"),
    "scored.tsv": ("score", KEPT, "--with", "overlap", "-o", "scored.tsv"),
    "counts": ("train", "word-counts", "--pairs", KEPT, "-o", "counts"),
    "language-model": ("train", "language-model", "--pairs", KEPT, "-o", "language-model"),
    "encoder": ("train", "encoder", "--pairs", KEPT, "--dimension", "16", "--epochs", "1", "-o", "encoder"),
    "gru": ("train", "encoder", "--pairs", KEPT, "--spec", "gru", "--dimension", "8", "--epochs", "1", "-o", "gru"),
    "classifier": ("train", "classifier", "--pairs", KEPT, "--epochs", "1", "-o", "classifier"),
    "translator": (
        *("train", "translator", "--bitext", "bitext.de-en.tsv", "--dev", "development.de-en.tsv", "--steps", "3"),
        *("--vocab-size", "300", "-o", "translator"),
    ),
    "parser": ("train", "parser", "trees.mrg", "--method", "grammar", "-o", "parser"),
    "span-parser": (
        *("train", "parser", "trees.mrg", "--method", "spans", "--encoder", "english", "-o", "span-parser"),
    ),
    "paraphraser": (
        *("train", "paraphraser", KEPT, "--parser", "parser", "--steps", "3", "--vocab-size", "300"),
        *("--held-out", "5", "-o", "paraphraser"),
    ),
    "vectors.npy": ("encode", "english", "sentences.txt", "-o", "vectors.npy"),
    "lexicon.parquet": ("lexicon", KEPT, "--min-count", "1", "-o", "lexicon.parquet"),
    "sheet.tsv": ("judge", "sample", KEPT, "--count", "10", "-o", "sheet.tsv"),
    "documents": ("extract", "page.html", "--lang", "en", "-o", "documents"),
}
"""File or folder → arguments of the older command that makes it."""


@dataclass(frozen=True)
class Opening:
    """How something of the older version is opened.

    Args:
        what: What it is.
        source: Its name in MAKE.
        command: Arguments of this version's command; OUT is a new name, COPY a copy of it.
        code: Python instead, an expression.
        shown: How it is called, where that is not the command or the code.
    """

    what: str
    source: str
    command: tuple[str, ...] = ()
    code: str = ""
    shown: str = ""

    @property
    def call(self) -> str:
        """How it is called, for the table."""
        return self.shown or f"`{self.code or ' '.join(('paraloom', *self.command))}`"


EXPLORE = """
import paraloom.web
with paraloom.web.opened('quickstart') as server:
    answer = server.app.get('{path}', {{}})
    assert answer.status == 200 and b'<h1' in answer.body, answer.body[:300]
"""
"""Asks a page of a run's explorer."""

OPEN = (
    Opening("run of quickstart", "quickstart", ("status", "quickstart")),
    Opening("", "quickstart", ("report", "quickstart", "-o", "OUT.html")),
    Opening("", "quickstart", ("head", "quickstart")),
    Opening("", "quickstart", ("score", KEPT, "--with", "chrf", "-o", "OUT.parquet")),
    Opening("", "quickstart", code="len(paraloom.read_pairs('quickstart/40-kept').to_list())"),
    Opening("", "quickstart", ("quickstart", "COPY")),
    *(
        Opening("", "quickstart", code=EXPLORE.format(path=path), shown=f"`paraloom explore quickstart`, page {path}")
        for path in ("/run", "/pairs", "/scores", "/threshold", "/judge")
    ),
    Opening(
        "scored pairs", "scored.parquet", ("filter", "scored.parquet", "--where", "chrf > 50", "-o", "OUT.parquet")
    ),
    Opening("", "scored.parquet", ("head", "scored.parquet")),
    Opening("", "scored.tsv", ("score", "scored.tsv", "--with", "overlap", "-o", "OUT.tsv")),
    Opening("word counts", "counts", ("score", KEPT, "--with", "length", "--word-counts", "counts", "-o", "OUT.tsv")),
    Opening("language model", "language-model", ("score", KEPT, "--language-model", "language-model", "-o", "OUT.tsv")),
    Opening("encoder, an average", "encoder", code="paraloom.Encoder.load('encoder').encode(['A cat.']).shape"),
    Opening("", "encoder", ("score", "scored.tsv", "--encoder", "encoder", "-o", "OUT.tsv")),
    Opening("encoder, a GRU", "gru", code="paraloom.Encoder.load('gru').encode(['A cat.']).shape"),
    Opening("classifier", "classifier", ("score", KEPT, "--classifier", "classifier", "-o", "OUT.tsv")),
    Opening("translator", "translator", ("translate", "translator", "german.txt", "-o", "OUT.txt")),
    Opening("parser, a grammar", "parser", ("research", "parse", KEPT, "--parser", "parser", "-o", "OUT.parquet")),
    Opening(
        "parser, spans", "span-parser", ("research", "parse", KEPT, "--parser", "span-parser", "-o", "OUT.parquet")
    ),
    Opening(
        "paraphraser", "paraphraser", ("paraphrase", "sentences.txt", "--paraphraser", "paraphraser", "-o", "OUT.tsv")
    ),
    Opening("vectors", "vectors.npy", code="__import__('numpy').load('vectors.npy').shape"),
    Opening("lexicon", "lexicon.parquet", ("head", "lexicon.parquet")),
    Opening("sheet of judgments", "sheet.tsv", ("head", "sheet.tsv")),
    Opening("documents", "documents", ("head", "documents")),
)
"""What is opened, in the order of the table."""


def run(repo: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with a checkout's code."""
    environment = {**os.environ, "PYTHONPATH": str(repo / "src"), "COLUMNS": "120"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def prepare(folder: Path, data: Path) -> None:
    """Write the texts that the commands read."""
    folder.mkdir(parents=True, exist_ok=True)
    sample = (HERE / "src/paraloom/bundled/sample.de-en.tsv").read_text(encoding="utf-8").splitlines()[1:400]
    rows = [line.split("\t")[:2] for line in sample]
    (folder / "bitext.de-en.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "development.de-en.tsv").write_text("".join("\t".join(row) + "\n" for row in rows[:20]), encoding="utf-8")
    (folder / "german.txt").write_text("".join(f"{row[0]}\n" for row in rows[:3]), encoding="utf-8")
    (folder / "sentences.txt").write_text("".join(f"{row[1]}\n" for row in rows[:3]), encoding="utf-8")
    (folder / "page.html").write_text("<html><body><h1>Cats</h1><p>A cat sleeps here.</p></body></html>")
    with gzip.open(data / "treebank/nltk-ptb-sample/wsj_0001-0199.mrg.gz", "rt", encoding="utf-8") as stream:
        text = "".join(next(stream) for _ in range(800))
    (folder / "trees.mrg").write_text(text[: text.rindex("\n\n(") + 1] if "\n\n(" in text else text, encoding="utf-8")


def make(before: Path, folder: Path) -> dict[str, str]:
    """Make everything with the older checkout; returns what it said where it failed."""
    failed = {}
    for name, arguments in MAKE.items():
        if not (folder / name).exists():
            done = run(before, folder, "-m", "paraloom", *arguments)
            if done.returncode:
                failed[name] = last_line(done)
                print(f"{name}: not made: {failed[name]}", file=sys.stderr)
    return failed


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    """The last line that a process said, standard error first, without frames."""
    lines = [line for line in (done.stderr.strip() or done.stdout.strip()).splitlines() if line.strip(" │╭╰─╮╯")]
    return " ".join(lines[-1].strip(" │").split()) if lines else ""


def opened(folder: Path) -> Iterator[list[str]]:
    """Rows of the table: what, the call, yes or no, and what was said."""
    with tempfile.TemporaryDirectory() as scratch:
        for number, one in enumerate(OPEN):
            if not (folder / one.source).exists():
                continue
            if one.code:
                done = run(HERE, folder, "-c", f"import paraloom; {one.code}")
            else:
                command = [part.replace("OUT", f"{scratch}/{number}") for part in one.command]
                if "COPY" in command:  # what it was made from is kept
                    shutil.copytree(folder / one.source, f"{scratch}/COPY", symlinks=True)
                    command = [part.replace("COPY", f"{scratch}/COPY") for part in command]
                done = run(HERE, folder, "-m", "paraloom", *command)
            said = last_line(done).replace(f"{scratch}/{number}", "OUT").replace("|", "\\|")
            said = re.sub(r"[\d.]+ (s|min)\b", "… s", said)
            yield [
                one.what,
                one.call.replace("|", "\\|"),
                "no" if done.returncode else "yes",
                said[:160] if done.returncode else "",
            ]


def commit(repo: Path) -> str:
    """The commit of a checkout."""
    command = ["git", "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(command, cwd=repo, capture_output=True, text=True, check=True).stdout.strip()


def record(rows: Sequence[list[str]], before: Path) -> None:
    """Write the table and the pages."""
    path = FOLDER / f"{PAGE}.json"
    topic = read_topic(path)
    result: dict[str, Any] = {
        "heading": HEADING,
        "text": [f"Made by commit {commit(before)}, opened by this version; the message where it does not open."],
        "command": ["python benchmarks/older_version.py --before BEFORE --scratch FOLDER --record"],
        "commit": commit(HERE),
        "date": date.today().isoformat(),
        "version": "0.2",
        "machine": "cores",
        "columns": ["", "opened by", "opens", "message"],
        "align": "llll",
        "rows": list(rows),
    }
    others = [one for one in topic["results"] if one.get("heading") != HEADING]
    write_topic(path, {**topic, "results": [*others, result]})
    write_pages()


def main() -> None:
    """Make what the older version makes, open it, and print or record the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, required=True, help="the older checkout")
    parser.add_argument("--scratch", type=Path, required=True, help="the folder of what it makes")
    parser.add_argument("--data", type=Path, default=os.environ.get("PARALOOM_DATA"), help="the data folder")
    parser.add_argument("--record", action="store_true", help="write the page's table")
    options = parser.parse_args()
    folder = options.scratch.absolute()
    prepare(folder, options.data)
    failed = make(options.before.absolute(), folder)
    rows = list(opened(folder))
    print(json.dumps({"not made": failed, "rows": rows}, indent=1, ensure_ascii=False))
    if options.record:
        record(rows, options.before.absolute())


if __name__ == "__main__":
    main()
