"""The first hour of a new user: the README's lines in an empty folder, and what commands say to common mistakes.

    python benchmarks/first_hour.py                 # all; minutes, offline
    python benchmarks/first_hour.py --only mistakes

Each line runs as a command of its own in an empty folder that has only a small bitext, taken from the bundled sample.
A Markdown table has exit status, seconds and message of each mistake. The script exits with 1 if a line of the README
fails, or if a mistake has another exit status than it should, a message without the words that say what to do, a
traceback, or no answer in a minute.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from paraloom.bundled import SAMPLE

ROOT = Path(__file__).resolve().parents[1]
ROWS = 60
LIMIT_SECONDS = 60.0
COMMAND = (sys.executable, "-m", "paraloom.cli.main")


@dataclass(frozen=True)
class Mistake:
    """A line that a user gets wrong.

    Args:
        name: What is wrong.
        line: The command, without `paraloom`.
        words: Words that its message must have.
        status: Its exit status.
        before: Commands that make what it needs.
        files: Files that it needs, besides the bitext: name → content.
        missing: Module that is not installed.
    """

    name: str
    line: str
    words: tuple[str, ...]
    status: int = 1
    before: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    missing: str = ""


TRANSLATE = "backtranslate mine.de mine.en --translator de-en"
DIRTY = "Guten Morgen.\tGood morning.\n\nzu\tviele\tFelder\nDer Hund ist da.\tThe dog is here.\n"
MISTAKES = [
    Mistake("missing file", "score mien.tsv --with overlap -o out.tsv", ("mien.tsv", "not found")),
    Mistake("unknown suffix of the output", f"{TRANSLATE} -o out.txt", ("unknown format '.txt'", ".tsv")),
    Mistake(
        "unknown column",
        'filter mine.tsv --where "trigram_overlp <= 0.7" -o out.tsv',
        ("'trigram_overlp'", "not found"),
    ),
    Mistake("unknown score", "score mine.tsv --with overlpa -o out.tsv", ("did you mean 'overlap'",)),
    Mistake("unknown encoder", "score mine.tsv --encoder englsh -o out.tsv", ("englsh", "english")),
    Mistake("unknown translator", "backtranslate mine.tsv --translator de-fr -o out.tsv", ("de-fr", "de-en")),
    Mistake(
        "blank line and a field too many",
        "score dirty.tsv --with length -o out.tsv",
        ("row 3", "expected 2 fields", "--on-error reject"),
        files={"dirty.tsv": DIRTY},
    ),
    Mistake(
        "the same, with the option that it names",
        "score dirty.tsv --with length --on-error reject -o out.tsv",
        ("2 rows were rejected", "out.rejected.jsonl", "row 2"),
        status=0,
        files={"dirty.tsv": DIRTY},
    ),
    Mistake("wrong direction", "backtranslate mine.tsv --translator en-de -o out.tsv", ("sides are swapped", "--side")),
    Mistake("one file of a Moses pair", "score mine.de --with overlap -o out.tsv", ("mine.de mine.en",)),
    Mistake(
        "missing extra",
        "train translator --bitext mine.tsv --dev mine.tsv -o model",
        ("not installed", "pip install"),
        missing="torch",
    ),
    Mistake(
        "no network",
        "backtranslate mine.tsv --translator Helsinki-NLP/opus-mt-de-fr -o out.tsv",
        ("opus-mt-de-fr", "folder"),
    ),
    Mistake(
        "another output in the way",
        "score mine.tsv --with overlap -o out.tsv",
        ("exists already", "--force"),
        before=("score mine.tsv --with length -o out.tsv",),
    ),
    Mistake(
        "the same command again",
        "score mine.tsv --with overlap -o out.tsv",
        ("up to date", "nothing to do"),
        status=0,
        before=("score mine.tsv --with overlap -o out.tsv",),
    ),
    Mistake("input = output", "score mine.tsv --with overlap -o mine.tsv", ("the output is also an input",)),
    Mistake(
        "a folder of something else as output",
        "score mine.tsv --with overlap -o photos",
        ("photos", "exists already"),
        files={"photos/a.jpg": "x"},
    ),
    Mistake("output that cannot be written", "score mine.tsv --with overlap -o /proc/out.tsv", ("cannot write",)),
    Mistake(
        "empty result of a filter",
        'filter mine.tsv --where "length(src) > 100000" -o out.tsv',
        ("length(src) > 100000",),
        status=0,
    ),
    Mistake(
        "empty result of mining", "mine english mine.en --above 0.999 --below 1 -o out.tsv", ("0 pairs",), status=0
    ),
    Mistake("bad decoding", f"{TRANSLATE} --decode beem:5 -o out.tsv", ("did you mean 'beam'",)),
    Mistake("unknown option", f"{TRANSLATE} --ouput out.tsv", ("--output",), status=2),
    Mistake("unknown command", "backtranslat mine.tsv", ("backtranslate",), status=2),
]


@dataclass(frozen=True)
class Outcome:
    """What a command did.

    Args:
        status: Exit status; None if it did not end in time.
        message: What it wrote to standard error, or else to standard output.
        seconds: How long it took.
    """

    status: int | None
    message: str
    seconds: float


def write_inputs(folder: Path) -> None:
    """The bitext of the examples: `mine.tsv`, `mine.de`, `mine.en`; `train.de`, `train.en`; `sentences.txt`; `sts/`."""
    rows = [line.split("\t")[:2] for line in SAMPLE.read_text(encoding="utf-8").splitlines()[1 : ROWS + 1]]
    for stem in ("mine", "train"):
        for side, language in enumerate(("de", "en")):
            (folder / f"{stem}.{language}").write_text("".join(f"{row[side]}\n" for row in rows), encoding="utf-8")
    (folder / "mine.tsv").write_text("".join(f"{src}\t{tgt}\n" for src, tgt in rows), encoding="utf-8")
    (folder / "sentences.txt").write_text("".join(f"{row[1]}\n" for row in rows), encoding="utf-8")
    (folder / "sts").mkdir()
    tasks = "".join(f"{number % 6}\t{row[1]}\t{rows[-number - 1][1]}\n" for number, row in enumerate(rows))
    (folder / "sts" / "own.tsv").write_text(tasks, encoding="utf-8")


def environment(folder: Path, missing: str = "") -> dict[str, str]:
    """The environment of a command: without a network, and on request without a module."""
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    if missing:
        hidden = folder / ".hidden"
        hidden.mkdir()
        (hidden / f"{missing}.py").write_text(
            f'raise ModuleNotFoundError("No module named {missing!r}", name={missing!r})\n'
        )
        paths.insert(0, str(hidden))
    proxies = {name: "http://127.0.0.1:9" for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")}
    kept = {name: value for name, value in os.environ.items() if name not in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")}
    cache = {"HF_HOME": str(folder / ".cache"), "COLUMNS": "200", "NO_COLOR": "1"}
    return {**kept, **proxies, **cache, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def run(line: str, folder: Path, missing: str = "", stdin: str | None = None) -> Outcome:
    """Run a command line without `paraloom`, in a folder."""
    started = time.monotonic()
    try:
        done = subprocess.run(
            [*COMMAND, *shlex.split(line)],
            cwd=folder,
            env=environment(folder, missing),
            input=stdin or "",
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS * 10,
        )
    except subprocess.TimeoutExpired:
        return Outcome(None, "no answer", time.monotonic() - started)
    message = done.stderr.strip() if done.returncode else f"{done.stderr}\n{done.stdout}".strip()
    return Outcome(done.returncode, message or done.stdout.strip(), time.monotonic() - started)


def faults(mistake: Mistake, outcome: Outcome) -> list[str]:
    """What is wrong with the answer to a mistake."""
    plain = " ".join(re.sub(r"[│╭╮╰╯─]", " ", outcome.message).split())
    wrong = [f"no '{word}'" for word in mistake.words if word not in plain]
    if outcome.status != mistake.status:
        wrong.append(f"exit status {outcome.status}, expected {mistake.status}")
    if "Traceback" in outcome.message:
        wrong.append("a traceback")
    if outcome.seconds > LIMIT_SECONDS:
        wrong.append(f"{outcome.seconds:.0f} s")
    return wrong


def try_mistakes() -> bool:
    """Print the table of all mistakes; returns whether all are answered as they should be."""
    right = True
    print("| mistake | command | exit status | seconds | message |\n| --- | --- | --- | --- | --- |")
    for mistake in MISTAKES:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            write_inputs(folder)
            for name, content in mistake.files.items():
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_text(content, encoding="utf-8")
            for line in mistake.before:
                run(line, folder)
            outcome = run(mistake.line, folder, mistake.missing)
        wrong = faults(mistake, outcome)
        right = right and not wrong
        mark = f" **{'; '.join(wrong)}**" if wrong else ""
        line = mistake.line.replace("|", "\\|")
        print(
            f"| {mistake.name}{mark} | `{line}` | {outcome.status} | {outcome.seconds:.0f} "
            f"| {_cell(outcome.message)} |",
            flush=True,
        )
    return right


def readme_lines() -> Iterator[str]:
    """The commands of the section about the shell, as they are written."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Thirty seconds of shell")[2]
    for line in section.partition("\n## ")[0].splitlines():
        if re.match(r" {4}(paraloom|echo) ", line):
            yield line.strip()


def readme_python() -> str:
    """The block of Python."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return text.partition("```python\n")[2].partition("```")[0]


def try_readme() -> bool:
    """Run the README's lines in one empty folder, and print a table; returns whether all succeed."""
    right = True
    print("| line of the README | exit status | seconds |\n| --- | --- | --- |")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_inputs(folder)
        for line in readme_lines():
            echo, _, command = line.rpartition(" | ")
            stdin = shlex.split(echo)[1] + "\n" if echo else None
            outcome = run(command.removeprefix("paraloom "), folder, stdin=stdin)
            right = right and outcome.status == 0
            print(f"| `{line.replace('|', chr(92) + '|')}` | {outcome.status} | {outcome.seconds:.0f} |", flush=True)
            if outcome.status:
                print(outcome.message, file=sys.stderr)
        started = time.monotonic()
        script = folder / "readme.py"
        script.write_text(readme_python(), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, script.name], cwd=folder, env=environment(folder), capture_output=True, text=True
        )
        print(f"| the block of Python | {done.returncode} | {time.monotonic() - started:.0f} |")
        if done.returncode:
            print(done.stderr, file=sys.stderr)
    return right and done.returncode == 0


def _cell(message: str) -> str:
    """A message in one cell of a table, without the frames and progress of a terminal."""
    lines = [re.sub(r"[│╭╮╰╯─]", " ", line).strip() for line in message.splitlines()]
    text = "<br>".join(line.replace("|", "\\|") for line in lines if line)
    return text if len(text) <= 400 else f"{text[:400]} …"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["readme", "mistakes"], help="default: both")
    chosen = parser.parse_args(arguments).only
    results = [try_readme()] if chosen != "mistakes" else []
    if chosen is None:
        print()
    results += [try_mistakes()] if chosen != "readme" else []
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
