"""Many lines through `paraphrase`, by an endpoint and by a round trip: the plan against the run, kills, memory.

    PARALOOM_DATA=… python benchmarks/paraphrase_scale.py                    # 100,000 lines of each; hours
    PARALOOM_DATA=… python benchmarks/paraphrase_scale.py --lines 1000       # a trial
    PARALOOM_DATA=… python benchmarks/paraphrase_scale.py --only endpoint

The lines are distinct English sentences of twelve kinds, as many of each. The endpoint is a server of this script, a
process of its own: it counts every prompt that it is asked, waits --latency seconds, and answers a rewrite by rules.
The round trip is that of the bundled translators.

Of each paraphraser: what `--plan` expects; a run of a tenth of the lines and one of all, whose memory is compared; and
a run that is ended by SIGTERM (the command alone, as `kill` does) after a third of the work and by SIGKILL after two
thirds, and resumed each time, whose output must be that of the run in one go. Memory is the largest sum of proportional
set sizes of the command and its workers, sampled twice a second; disk is that of the folder of unfinished work and the
file of answers, as large as they get.

The script exits with 1 where rows are missing, the output differs, or a prompt was asked twice that was not under way
when the command was killed. --write puts the figures on the page of results.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from endpoint import Handler, process, requests_of, serve
from memory import proportional, tree
from results_pages import FOLDER, put_result

CONCURRENCY = 16
PRICES = "input-price=0.15&output-price=0.6"
USAGE = ("requests", "input_tokens", "output_tokens", "cost")
ROUND_TRIP = "round-trip:en-de,de-en"

PHRASES = {
    "do not": "don't", "does not": "doesn't", "did not": "didn't", "is not": "isn't", "are not": "aren't",
    "was not": "wasn't", "it is": "it's", "there is": "there's", "a lot of": "many", "in order to": "to",
    "because of": "due to", "as well as": "and also", "such as": "like", "more than": "over", "about": "around",
    "also": "too", "but": "yet", "big": "large", "small": "little", "begin": "start", "said": "stated",
    "says": "states", "show": "display", "help": "assist", "get": "obtain", "buy": "purchase", "people": "persons",
    "however": "nevertheless", "often": "frequently", "maybe": "perhaps", "near": "close to", "many": "numerous",
    "man": "guy", "children": "kids", "car": "automobile", "street": "road", "use": "employ", "used": "employed",
    "new": "recent", "make": "create", "made": "created", "after": "following", "before": "prior to",
}  # fmt: skip
"""What the server writes in place of what."""

_PHRASE = re.compile(rf"\b({'|'.join(sorted(PHRASES, key=len, reverse=True))})\b", re.IGNORECASE)


def rewrite(text: str, number: int) -> str:
    """A rewrite by rules, another one for each number: the n-th phrases replaced, or the parts at a comma swapped."""
    if number % 3 == 2 and ", " in text:
        first, rest = text.rstrip(".").split(", ", 1)
        return f"{rest[:1].upper()}{rest[1:]}, {first[:1].lower()}{first[1:]}."
    matches = list(_PHRASE.finditer(text))
    for match in reversed(matches[number % 2 :: 1 + number % 2] if matches else []):
        word = PHRASES[match[0].lower()]
        text = text[: match.start()] + (word.capitalize() if match[0][0].isupper() else word) + text[match.end() :]
    return text


def run_server(log: Path, latency: float) -> None:
    """The server: logs the digest of each request as it comes, waits, and answers with rewrites."""

    class Server(Handler):
        def do_POST(self) -> None:  # noqa: N802
            content = self.body()
            body = json.loads(content)
            prompt = body["messages"][-1]["content"]
            if "name of any animal" not in prompt:  # what the server supports is asked before any prompt
                with log.open("a") as stream:  # one write of a short line, so that threads do not mix
                    stream.write(hashlib.sha256(content).hexdigest() + "\n")
            time.sleep(latency)
            text = prompt.rsplit("\n\n", 1)[-1]
            answers = [rewrite(text, number) for number in range(body.get("n", 1))]
            choices = [
                {"index": index, "message": {"content": answer}, "finish_reason": "stop"}
                for index, answer in enumerate(answers)
            ]
            usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": sum(len(one) // 4 + 1 for one in answers)}
            self.send(200, json.dumps({"choices": choices, "usage": usage}).encode())

        def handle(self) -> None:
            with suppress(ConnectionError, ValueError):  # the client was killed
                super().handle()

    serve(Server)


def write_lines(path: Path, folder: Path, count: int) -> dict[str, int]:
    """Write distinct sentences, as many of each kind as there are, in a random order; how many of each."""
    kinds: dict[str, list[Path]] = defaultdict(list)
    for file in sorted(folder.glob("*.txt.xz")):
        kinds[file.name.split(".")[0]].append(file)
    draw, known, chosen = random.Random(1), set[str](), dict[str, list[str]]()
    for number, (kind, files) in enumerate(sorted(kinds.items())):
        lines = []
        for file in files:
            with lzma.open(file, "rt", encoding="utf-8") as stream:
                for line in stream:
                    text = " ".join(line.split())
                    if 4 <= len(text.split()) <= 40 and text not in known:
                        known.add(text)
                        lines.append(text)
        wanted = (count - sum(map(len, chosen.values()))) // (len(kinds) - number)
        chosen[kind] = draw.sample(lines, min(wanted, len(lines)))
    mixed = [text for lines in chosen.values() for text in lines]
    draw.shuffle(mixed)
    path.write_text("".join(f"{text}\n" for text in mixed), encoding="utf-8")
    return {kind: len(lines) for kind, lines in chosen.items()}


@dataclass
class Measured:
    """A command that was run: how it ended, what it took, and what it printed."""

    status: int = 0
    seconds: float = 0.0
    memory: int = 0
    disk: int = 0
    printed: dict[str, Any] = field(default_factory=dict)


def run(command: list[str], output: Path, stop: Callable[[], bool] | None = None, number: int = 0) -> Measured:
    """Run a command; `stop` says when it is sent the signal `number`: SIGKILL, or another one."""
    measured, began = Measured(), time.perf_counter()
    with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile("w+") as said:
        child = subprocess.Popen(command, stdout=printed, stderr=said, text=True)
        ticks = 0
        while child.poll() is None:
            if stop is not None and stop():
                child.send_signal(number)
                child.wait()
                break
            measured.memory = max(measured.memory, sum(map(proportional, tree(child.pid))))
            if ticks % 10 == 0:
                measured.disk = max(measured.disk, disk_of(output))
            ticks += 1
            time.sleep(0.5 if stop is None else 0.05)
        measured.seconds = time.perf_counter() - began
        measured.status = child.returncode
        printed.seek(0)
        said.seek(0)
        text = printed.read()
        if child.returncode and stop is None:
            sys.exit(f"{' '.join(command)}: exit status {child.returncode}\n{said.read()}")
    measured.printed = json.loads(text) if text.strip() and not child.returncode else {}
    return measured


def disk_of(output: Path) -> int:
    """Bytes of the unfinished work of an output and of the answers beside it."""
    total = 0
    for path in output.parent.glob(f"{output.name}.*"):
        for file in [path, *path.rglob("*")] if path.is_dir() else [path]:
            try:
                total += file.stat().st_size if file.is_file() else 0
            except OSError:  # it has just been renamed
                continue
    return total


def shards_done(output: Path) -> int:
    """Shards that the paraphrasing stage has finished."""
    folders = sorted(Path(f"{output}.paraloom").glob("*-paraphrase"))
    return len(list(folders[-1].glob("part-*.parquet"))) if folders else 0


@dataclass
class Trial:
    """A paraphraser, and what has to be known of it while it runs."""

    name: str
    paraphraser: str
    options: argparse.Namespace
    log: Path | None = None

    def command(self, lines: Path, output: Path, *further: str) -> list[str]:
        """The command that a user types."""
        return [
            *(sys.executable, "-m", "paraloom", "paraphrase", str(lines), "--paraphraser", self.paraphraser),
            *("-o", str(output), "--preset", self.options.preset, "--workers", str(self.options.workers), "--json"),
            *further,
        ]

    def asked(self) -> Counter[str]:
        """The prompts that the server was asked, and how often."""
        return Counter() if self.log is None else requests_of(self.log)

    def forget(self) -> None:
        """Count from zero."""
        if self.log is not None:
            self.log.unlink(missing_ok=True)

    def progress(self, output: Path, count: int) -> float:
        """The share of the work that is done, 0 to 1."""
        if self.log is not None:
            return len(self.asked()) / count
        return 200 * shards_done(output) / count


def try_paraphraser(trial: Trial, folder: Path, lines: Path, tenth_part: Path, count: int) -> dict[str, Any]:
    """All that the module says of one paraphraser."""
    output = folder / f"{trial.name}.tsv"
    plan = run(trial.command(lines, output, "--plan"), output)
    expected = plan.printed["stages"][-1]
    planned = sum(trial.asked().values())
    trial.forget()
    small = run(trial.command(tenth_part, folder / f"{trial.name}-tenth.tsv"), folder / f"{trial.name}-tenth.tsv")
    trial.forget()
    whole = run(trial.command(lines, output), output)
    asked = trial.asked()
    trial.forget()

    killed = folder / f"{trial.name}-killed.tsv"
    stops, seconds, again = [], 0.0, []
    for share, number in ((1 / 3, signal.SIGTERM), (2 / 3, signal.SIGKILL)):
        part = run(
            trial.command(lines, killed), killed, lambda share=share: trial.progress(killed, count) >= share, number
        )
        time.sleep(1.0)  # what is under way is answered, and logged
        seconds += part.seconds
        stops.append(part.status)
        again.append(sum(trial.asked().values()) - len(trial.asked()))
    last = run(trial.command(lines, killed), killed)
    seconds += last.seconds
    repeated = trial.asked()
    again.append(sum(repeated.values()) - len(repeated))
    counts = whole.printed
    return {
        "paraphraser": trial.name, "lines": count, "preset": trial.options.preset,
        "plan": {
            "seconds": plan.printed["wall_seconds"], "memory": plan.printed["memory"], "disk": plan.printed["disk"],
            **{name: expected[name] for name in USAGE},
            "took": plan.seconds, "asked": planned,
        },
        "actual": {
            "seconds": whole.seconds, "memory": whole.memory, "disk": whole.disk,
            **{name: counts.get("endpoint", {}).get(name, 0) for name in USAGE},
            "asked": sum(asked.values()),
        },
        "texts": counts["texts"], "answered": counts["answered"], "none": counts["none"],
        "written": len({line.split("\t", 1)[0] for line in output.read_text("utf-8").splitlines()[1:]}),
        "asked_twice": sum(asked.values()) - len(asked),
        "tenth": {"seconds": small.seconds, "memory": small.memory},
        "stops": stops, "seconds_with_stops": seconds,
        "asked_twice_after_sigterm": again[1], "asked_twice_after_sigkill": again[2] - again[1],
        "same_bytes": output.read_bytes() == killed.read_bytes(),
    }  # fmt: skip


def faults(figures: dict[str, Any]) -> list[str]:
    """What is wrong with the figures of one paraphraser."""
    wrong = []
    if figures["texts"] != figures["lines"] or figures["answered"] + figures["none"] != figures["texts"]:
        wrong.append("rows are missing")
    if figures["written"] != figures["answered"]:
        wrong.append(f"{figures['written']:,} texts are written, {figures['answered']:,} have a paraphrase")
    if figures["asked_twice"] or figures["asked_twice_after_sigterm"]:
        wrong.append("prompts were asked twice")
    if figures["asked_twice_after_sigkill"] > CONCURRENCY:
        wrong.append("prompts were asked twice that were not under way when the command was killed")
    if not figures["same_bytes"]:
        wrong.append("the output is not that of the run in one go")
    if figures["stops"] != [128 + signal.SIGTERM, -signal.SIGKILL]:
        wrong.append(f"it was not stopped in the middle: {figures['stops']}")
    return [f"{figures['paraphraser']}: {fault}" for fault in wrong]


def rows(results: list[dict[str, Any]]) -> list[list[str]]:
    """The table: a row for each figure, a column for each paraphraser."""

    def both(name: str, format_: Callable[[float], str]) -> list[str]:
        cells = []
        for one in results:
            before, after = one["plan"][name], one["actual"][name]
            cells.append(f"{format_(before)} / {format_(after)} ({after / before:.2f})" if before and after else "")
        return cells

    def cells_of(cell: Callable[[dict[str, Any]], str]) -> list[str]:
        return [cell(one) for one in results]

    asks = [one["actual"]["requests"] > 0 for one in results]
    return [
        ["lines", *cells_of(lambda one: f"{one['lines']:,}")],
        [
            "with a paraphrase + none good enough = lines",
            *cells_of(lambda one: f"{one['answered']:,} + {one['none']:,} = {one['texts']:,}"),
        ],
        ["requests: plan / run (ratio)", *both("requests", "{:,.0f}".format)],
        ["cost: plan / run (ratio)", *both("cost", "{:,.2f}".format)],
        ["seconds: plan / run (ratio)", *both("seconds", "{:,.0f}".format)],
        ["disk, MB: plan / run (ratio)", *both("disk", lambda size: f"{size / 1e6:,.1f}")],
        ["memory, MB: plan / run (ratio)", *both("memory", lambda size: f"{size / 1e6:,.0f}")],
        ["memory of a tenth of the lines, MB", *cells_of(lambda one: f"{one['tenth']['memory'] / 1e6:,.0f}")],
        [
            "asked twice in one go; after SIGTERM; after SIGKILL",
            *(
                f"{one['asked_twice']}; {one['asked_twice_after_sigterm']}; {one['asked_twice_after_sigkill']}"
                if asked
                else ""
                for asked, one in zip(asks, results, strict=True)
            ),
        ],
        [
            "seconds with both stops; the same output",
            *cells_of(lambda one: f"{one['seconds_with_stops']:,.0f}; {'yes' if one['same_bytes'] else 'NO'}"),
        ],
    ]


def write_page(table: list[list[str]], results: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """Put the table on the page of results."""
    put_result(
        FOLDER / "endpoints-and-plans.json",
        {
            "heading": "Many lines through `paraphrase`",
            "command": [f"python benchmarks/paraphrase_scale.py --lines {options.lines} --write"],
            "machine": "cores",
            "columns": ["", *(one["paraphraser"] for one in results)],
            "align": "l" + "r" * len(results),
            "rows": table,
        },
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--only", choices=["endpoint", "round-trip"])
    parser.add_argument("--latency", type=float, default=0.02, help="seconds that the server waits before it answers")
    parser.add_argument("--preset", default="loose")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="where to work; by default a temporary folder")
    parser.add_argument("--write", action="store_true", help="put the figures on the page of results")
    options = parser.parse_args()
    data = os.environ.get("PARALOOM_DATA") or sys.exit("set PARALOOM_DATA to the folder of real corpora")
    results = []
    with tempfile.TemporaryDirectory(dir=options.folder) as scratch:
        folder = Path(scratch)
        lines, tenth_part, log = folder / "lines.txt", folder / "tenth.txt", folder / "requests.log"
        kinds = write_lines(lines, Path(data) / "sentences-en", options.lines)
        count = sum(kinds.values())
        all_lines = lines.read_text("utf-8").splitlines(keepends=True)
        tenth_part.write_text("".join(all_lines[: max(100, count // 10)]), "utf-8")
        print("lines:", ", ".join(f"{number:,} {kind}" for kind, number in kinds.items()), flush=True)
        if options.only != "round-trip":
            with process("server", log, options.latency, script=__file__) as port:
                address = f"http://127.0.0.1:{port}/v1?model=rules&language=en&concurrency={CONCURRENCY}&{PRICES}"
                results.append(
                    try_paraphraser(Trial("endpoint", address, options, log), folder, lines, tenth_part, count)
                )
                print(json.dumps(results[-1]), flush=True)
        if options.only != "endpoint":
            trial = Trial("round trip", ROUND_TRIP, options)
            results.append(try_paraphraser(trial, folder, lines, tenth_part, count))
            print(json.dumps(results[-1]), flush=True)
    table = rows(results)
    print("\n".join(f"| {' | '.join(row)} |" for row in table))
    if options.write:
        write_page(table, results, options)
    wrong = [fault for one in results for fault in faults(one)]
    print("\n".join(wrong) or "Nothing lost, nothing asked twice.")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    if sys.argv[1:2] == ["server"]:
        run_server(Path(sys.argv[2]), float(sys.argv[3]))
    else:
        main()
