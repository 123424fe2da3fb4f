"""The first hour of a new user: ten pairs on the screen, and common mistakes.

    python benchmarks/first_hour.py                 # all; minutes, offline
    python benchmarks/first_hour.py --only mistakes
    python benchmarks/first_hour.py --write         # and put the tables on the page of results

*harvest* runs `paraloom quickstart` in an empty folder with nothing compiled before, and counts the seconds until ten
kept pairs are on the screen: at most 60 on two idle cores. *mistakes* runs each line as a command of its own in an
empty folder that has only a small bitext, without a network, and prints exit status, seconds and message.

The script exits with 1 if the pairs come late, or a mistake has another exit status than it should, a message without
the words that say what to do, a traceback, or no answer in a minute.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from results_pages import FOLDER, put_result

from paraloom.bundled import SAMPLE

ROOT = Path(__file__).resolve().parents[1]

HARVEST_SECONDS = 60.0
PAIRS_SHOWN = 10
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
        python: Instead of a command, a script.
    """

    name: str
    line: str
    words: tuple[str, ...]
    status: int = 1
    before: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    missing: str = ""
    python: str = ""


TRANSLATE = "backtranslate mine.de mine.en --translator de-en"
DIRTY = "Guten Morgen.\tGood morning.\n\nzu\tviele\tFelder\nDer Hund ist da.\tThe dog is here.\n"
SELECTION = "import paraloom\nnone = paraloom.read_pairs('mine.tsv').filter(where='length(src) > 9999')"
NEWS = "".join(
    f"{german}\t{english}\n"
    for german, english in [
        ("Die Bundesbank senkte den Leitzins wegen der Rezessionssorgen um 25 Basispunkte.", "The bank cut its rate."),
        ("Der Aufsichtsratsvorsitzende wies die Bestechungsvorwürfe der Staatsanwaltschaft zurück.", "He denied it."),
        ("Das Verfassungsgericht verwarf die Beschwerde gegen das Haushaltsbegleitgesetz.", "The court refused it."),
    ]
    * 20
)
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
    Mistake(
        "misspelled file where text may stand", "paraphrase linse.txt", ("looks like the name of a file", "--text")
    ),
    Mistake("a text and a file", 'paraphrase sentences.txt "We left."', ("is a text", "--text")),
    Mistake(
        "a preset without its scores",
        "filter pairs.parquet --preset strict -o kept.parquet",
        ("The scores of the preset were computed first", "of work"),
        status=0,
        before=("backtranslate mine.tsv --translator de-en -o pairs.parquet",),
    ),
    Mistake(
        "a preset for pairs in two languages", "filter mine.tsv --preset strict -o out.tsv", ("is German",), status=0
    ),
    Mistake("a port in use", "explore mine.tsv --port PORT", ("cannot be used", "--port")),
    Mistake(
        "licenses that exclude each other",
        "publish pairs -o given --license cc-by-sa-4.0,gpl-3.0",
        ("cc-by-sa-4.0 and gpl-3.0", "filter by origin"),
        before=("backtranslate mine.tsv --translator de-en -o pairs",),
    ),
    Mistake(
        "a warning that the format cannot keep",
        "backtranslate news.tsv --translator de-en -o out.tsv",
        ("expect wrong translations", ".parquet keeps the warning"),
        status=0,
        files={"news.tsv": NEWS},
    ),
    Mistake(
        "an empty selection in Python",
        "",
        ("no rows", "An earlier step kept no pair"),
        python=f"{SELECTION}\nnone.score(['overlap']).head()",
    ),
    Mistake("the first row of an empty selection", "", ("there are 0 rows",), python=f"{SELECTION}\nnone[0]"),
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
    if "Traceback" in outcome.message and not mistake.python:
        wrong.append("a traceback")
    if outcome.seconds > LIMIT_SECONDS:
        wrong.append(f"{outcome.seconds:.0f} s")
    return wrong


def try_mistakes() -> tuple[bool, list[list[str]]]:
    """Try all mistakes; whether all are answered as they should be, and a row of each."""
    right, table = True, []
    for mistake in MISTAKES:
        with tempfile.TemporaryDirectory() as scratch, _port_in_use(mistake) as port:
            folder = Path(scratch)
            write_inputs(folder)
            for name, content in mistake.files.items():
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_text(content, encoding="utf-8")
            for line in mistake.before:
                run(line, folder)
            line = mistake.line.replace("PORT", str(port))
            if mistake.python:
                started = time.monotonic()
                command = [sys.executable, "-c", mistake.python]
                done = subprocess.run(command, cwd=folder, env=environment(folder), capture_output=True, text=True)
                lines = done.stderr.strip().splitlines()
                # A notebook shows the error, and not what the interpreter says at its end.
                first = next((n for n, text in enumerate(lines) if "Error: " in text), 0)
                outcome = Outcome(done.returncode, "\n".join(lines[first : first + 2]), time.monotonic() - started)
            else:
                outcome = run(line, folder, mistake.missing)
        wrong = faults(mistake, outcome)
        right = right and not wrong
        mark = f" **{'; '.join(wrong)}**" if wrong else ""
        shown = (mistake.python.splitlines()[-1] if mistake.python else mistake.line).replace("|", "\\|")
        message = _cell(outcome.message.replace(scratch, "…"))
        table.append([mistake.name + mark, f"`{shown}`", str(outcome.status), f"{outcome.seconds:.0f}", message])
        print(f"| {' | '.join(table[-1])} |", flush=True)
    return right, table


@contextmanager
def _port_in_use(mistake: Mistake) -> Iterator[int]:
    """A port that another process listens to, for the mistakes that name one."""
    with closing(socket.socket()) as taken:
        if "PORT" in mistake.line:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
        yield taken.getsockname()[1] if "PORT" in mistake.line else 0


def try_harvest() -> tuple[bool, list[list[str]]]:
    """Seconds from `paraloom quickstart` to ten kept pairs on the screen, the first time and again."""
    table, right = [], True
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        variables = environment(folder) | {"NUMBA_CACHE_DIR": str(folder / ".compiled"), "PYTHONUNBUFFERED": "1"}
        for label, output in (("the first time, nothing compiled", "first"), ("another run", "second")):
            started, shown, seconds = time.monotonic(), 0, math.inf
            process = subprocess.Popen(
                [*COMMAND, "quickstart", output],
                cwd=folder,
                env=variables,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            assert process.stdout is not None
            for line in process.stdout:
                shown += re.match(r" \.\d\d  \S", line) is not None
                if shown == PAIRS_SHOWN:
                    seconds = min(seconds, time.monotonic() - started)
            status = process.wait()
            right = right and status == 0 and seconds <= HARVEST_SECONDS
            table.append([label, str(status), f"{seconds:.0f}", f"{time.monotonic() - started:.0f}"])
    return right, table


def _cell(message: str) -> str:
    """A message in one cell of a table, without the frames and progress of a terminal."""
    lines = [re.sub(r"[│╭╮╰╯─]", " ", line).strip() for line in message.splitlines()]
    text = "<br>".join(line.replace("|", "\\|") for line in lines if line)
    return text if len(text) <= 400 else f"{text[:400]} …"


PARTS: dict[str, tuple[Callable[[], tuple[bool, list[list[str]]]], list[str], str]] = {
    "harvest": (try_harvest, ["`paraloom quickstart`", "status", "seconds to ten pairs", "in all"], "lrrr"),
    "mistakes": (try_mistakes, ["mistake", "line", "status", "seconds", "message"], "llrrl"),
}
"""Name of a part → what runs it, and the columns of its table."""


def write_page(tables: Mapping[str, list[list[str]]]) -> None:
    """Put the tables on the page of results, where the mistakes are a sentence."""
    path = FOLDER / "first-hour.json"
    for name, rows in tables.items():
        _, columns, align = PARTS[name]
        table = {} if name == "mistakes" else {"columns": columns, "align": align, "rows": rows}
        command = [f"python benchmarks/first_hour.py --only {name} --write"]
        put_result(path, {"heading": name.capitalize(), "command": command, "machine": "cores", **table})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS, help="default: all parts")
    parser.add_argument("--write", action="store_true", help="put the tables on the page of results")
    options = parser.parse_args(arguments)
    good, tables = [], {}
    for name in [options.only] if options.only else PARTS:
        trial, columns, _ = PARTS[name]
        print(f"\n| {' | '.join(columns)} |\n|{' --- |' * len(columns)}", flush=True)
        right, tables[name] = trial()
        good.append(right)
        if name != "mistakes":  # these are printed as they come
            print("\n".join(f"| {' | '.join(row)} |" for row in tables[name]), flush=True)
    if options.write:
        write_page(tables)
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
