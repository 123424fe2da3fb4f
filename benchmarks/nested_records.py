"""Made conversations through `translate` and `paraphrase`: is the structure the same, is every segment accounted for?

    PARALOOM_DATA=… python benchmarks/nested_records.py --write            # 10,000 conversations
    PARALOOM_DATA=… python benchmarks/nested_records.py --rows 300         # a trial

A conversation has up to four messages of German captions (Multi30k), as lines, lists and quotations, with blocks of
code, JSON, tables and links among them; some contents are null, some are lists, some rows have no messages. They are
translated by the bundled de-en, in one go with two workers, and with one worker, killed (SIGKILL) half way and resumed;
the translations are then paraphrased by a local endpoint that rewrites by rules. The check knows nothing of segments:
it takes both files apart, and compares everything but the captions. Beside it, what one would do by hand: contents of
the first conversations are handed to the translator as they are, and as lines.

The script exits with 1 where anything but a caption has changed, or counts do not add up.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from endpoint import process
from paraphrase_scale import run_server
from results_pages import FOLDER, put_result

CODE = "```python\nzeile = 'Ein Hund läuft.'\nif zeile:\n    print(zeile)\n```"
JSON_LINE = '{"name": "suche", "frage": "Ein Hund läuft."}'
TABLE = "| Wort | Zahl |\n| --- | --- |\n| Hund | 2 |"
KEPT = (CODE, JSON_LINE, TABLE)
COLUMN = "messages.*.content"
BY_HAND = 200
"""Conversations that are also translated without looking at their structure."""


def conversations(count: int, captions: list[str], seed: int = 1) -> tuple[list[dict[str, Any]], list[str]]:
    """Made conversations, and the captions in them, in order."""
    draw, used, rows = random.Random(seed), list[str](), []

    def sentences(number: int) -> list[str]:
        used.extend(chosen := draw.choices(captions, k=number))
        return chosen

    def content() -> Any:
        kind = draw.random()
        if kind < 0.05:
            return None
        if kind < 0.08:
            return [{"type": "text", "text": "Ein Hund läuft."}]
        if kind < 0.12:
            return json.dumps({"antwort": ["Ein Hund läuft.", kind]}, ensure_ascii=False)
        mark = draw.choice(["", "", "- ", "> ", "## ", "1. "])
        lines = [mark + sentence for sentence in sentences(draw.randint(1, 2))]
        if kind > 0.9:
            lines[-1] += " https://example.org/bild?id=7"
        return "\n".join([*lines, *draw.sample(KEPT, k=int(kind > 0.6))])

    for number in range(count):
        row: dict[str, Any] = {"id": number, "quelle": {"satz": number % 7, "gewicht": 0.1 * number}}
        if draw.random() > 0.02:
            roles = ["user", "assistant"] * draw.randint(0, 1) + ["tool"] * (draw.random() < 0.2) + ["user"]
            row["messages"] = [{"role": role, "content": content()} for role in roles]
        rows.append(row)
    return rows, used


def taken_apart(row: dict[str, Any], known: Callable[[str], bool]) -> Any:
    """A row with a mark in place of each line that has a caption in it: what must not change."""

    def shape(content: Any) -> Any:
        if not isinstance(content, str) or content.startswith("{"):
            return content
        lines, held = [], content
        for block in KEPT:
            held = held.replace(block, f"\0{KEPT.index(block)}")
        for line in held.split("\n"):
            mark = re.match(r"(?:- |> |## |1\. )?", line)
            assert mark is not None
            link = " https://example.org/bild?id=7" if line.endswith("?id=7") else ""
            lines.append(line if line.startswith("\0") else f"{mark[0]}…{link}" if known(line) else line)
        return lines

    return {**row, "messages": [{**m, "content": shape(m["content"])} for m in row.get("messages", [])]}


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of JSON Lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def command(verb: str, *arguments: object) -> list[str]:
    """The command that a user types."""
    return [sys.executable, "-m", "paraloom", verb, *map(str, arguments), "--column", COLUMN, "--json"]


def measured(arguments: list[str]) -> tuple[dict[str, Any], float, float]:
    """What a command prints, its seconds on the clock and of the processor."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(done.stdout), time.perf_counter() - began, processor


def killed(arguments: list[str], output: Path, shards: int) -> int:
    """Start a command and kill it, and its workers, when so many shards are there; the shards that were."""
    child = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    work = Path(f"{output}.paraloom")
    done = 0
    while child.poll() is None and done < shards:
        time.sleep(0.2)
        done = len(list(work.glob("*-translate-variants/part-*.parquet")))
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    return done


def same_structure(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> int:
    """Rows of which nothing but the captions differs."""
    shapes = zip(before, after, strict=True)
    return sum(taken_apart(old, bool) == taken_apart(new, bool) for old, new in shapes)


def by_hand(rows: list[dict[str, Any]]) -> tuple[int, int, int]:
    """Conversations, and of how many the structure is the same when contents, or their lines, are translated."""
    from paraloom import Translator

    translator = Translator.load("de-en")

    def translated(texts: list[str]) -> list[str]:
        return [variants[0].text for variants in translator.translate(texts)]

    same = [0, 0]
    for row in rows:
        wholes, lines = json.loads(json.dumps(row)), json.loads(json.dumps(row))
        for one, other in zip(wholes.get("messages", []), lines.get("messages", []), strict=True):
            if isinstance(one["content"], str):
                other["content"] = "\n".join(translated(one["content"].split("\n")))
                one["content"] = translated([one["content"]])[0]
        for index, changed in enumerate((wholes, lines)):
            same[index] += same_structure([row], [changed])
    return len(rows), same[0], same[1]


def listed(*numbers: int) -> str:
    """Numbers with commas between."""
    return ", ".join(f"{number:,}" for number in numbers)


def added(counts: dict[str, Any]) -> str:
    """The sum of segments, as it was counted."""
    left = sum(counts["unchanged"].values())
    return f"{counts['replaced']:,} + {left:,} = {counts['segments']:,}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--decode", default="greedy")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--write", action="store_true", help="put the figures on the page of results")
    options = parser.parse_args()
    if options.serve:
        run_server(Path(options.serve[0]), float(options.serve[1]))
        return
    captions = Path(os.environ["PARALOOM_DATA"]) / "bitext/multi30k/task1/train.de.gz"
    with gzip.open(captions, "rt", encoding="utf-8") as stream:
        texts = [line.strip() for line in stream if re.fullmatch(r"[A-ZÄÖÜ][^.!?…|`{}#]{20,90}\.", line.strip())]
    rows, used = conversations(options.rows, texts)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, output, again = folder / "chats.jsonl", folder / "en.jsonl", folder / "again.jsonl"
        source.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        settings = ("--decode", options.decode)
        counts, clock, processor = measured(
            command("translate", "de-en", source, "-o", output, "--threads", 2, *settings)
        )
        slow = command("translate", "de-en", source, "-o", again, "--threads", 1, *settings)
        done = killed(slow, again, -(-len(used) // 1000))
        measured(slow)
        translated = read(output)
        with process("--serve", folder / "log", 0, script=__file__) as port:
            rewriter = f"http://127.0.0.1:{port}/v1?model=rules&language=en"
            printed, _, _ = measured(
                command("paraphrase", output, "--paraphraser", rewriter, "-o", folder / "p.jsonl", "--preset", "loose",
                        "--no-language-check")
            )  # fmt: skip
        paraphrased = read(folder / "p.jsonl")
        same_bytes = output.read_bytes() == again.read_bytes()
    records = printed["records"]
    hand = by_hand(rows[:BY_HAND])
    shapes = same_structure(rows, translated), same_structure(translated, paraphrased)
    table = [
        [
            "conversations in, out of `translate`, out of `paraphrase`",
            listed(len(rows), counts["rows"], records["rows"]),
        ],
        ["with the same structure after `translate`; after `paraphrase`", listed(*shapes)],
        ["replaced + left = segments", added(counts)],
        ["of `paraphrase`: replaced + left = segments", added(records)],
        [
            f"killed after {done} shards, resumed by one worker: the same bytes as with two workers",
            "yes" if same_bytes else "NO",
        ],
        ["`translate`: seconds, processor seconds", listed(round(clock), round(processor))],
        ["by hand: conversations, with the same structure from contents, from lines", listed(*hand)],
    ]
    for label, figure in table:
        print(f"{label}: {figure}")
    right = (
        shapes == (len(rows), len(rows))
        and counts["rows"] == records["rows"] == len(rows)
        and counts["replaced"] + sum(counts["unchanged"].values()) == counts["segments"]
        and records["replaced"] + sum(records["unchanged"].values()) == records["segments"]
        and same_bytes
    )
    if not right:
        different = (
            pair for pair in zip(translated, paraphrased, strict=True) if not same_structure([pair[0]], [pair[1]])
        )
        print(*next(different, ()), sep="\n")
        sys.exit("conversations differ in more than their captions, or counts do not add up")
    if options.write:
        write(options, table)


def write(options: argparse.Namespace, table: list[list[str]]) -> None:
    """Put the figures on the page of runs."""
    result = {
        "heading": "Conversations",
        "command": [f"python benchmarks/nested_records.py --rows {options.rows} --write"],
        "machine": "cores",
        "columns": ["", ""],
        "align": "ll",
        "rows": table,
    }
    put_result(FOLDER / "runs.json", result)


if __name__ == "__main__":
    main()
