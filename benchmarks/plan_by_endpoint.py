"""What 51 million back-translations by an endpoint would take: `--plan` against a server of this script.

    PARALOOM_DATA=… python benchmarks/plan_by_endpoint.py --latency 1

The server, a process of its own, answers a German sentence of Tatoeba with its English translation there, so that
answers are as long as those of a translator, after --latency seconds. A token is four characters, as the services
reckon for English. The pipeline is examples/planned.toml with the endpoint as its translator, a line a request and ten.
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
from pathlib import Path
from typing import Any

from endpoint import Handler, process, serve

ROOT = Path(__file__).resolve().parents[1]
PAIRS = 51_409_584
CONCURRENCY = 64
PRICES = (0.15, 0.6)
LINES = (1, 10)
COLUMNS = (
    "lines a request", "requests, million", "tokens in, million", "tokens out, million", "cost", "time, days",
    "disk, GB", "requests of the plan",
)  # fmt: skip


def run_server(pairs: Path, latency: float) -> None:
    """The server: a sentence's translation by the file, and the sentence itself where there is none."""
    with gzip.open(pairs, "rt", encoding="utf-8") as stream:
        known = dict(line.rstrip("\n").split("\t")[:2] for line in stream)

    class Server(Handler):
        def do_POST(self) -> None:  # noqa: N802
            body = json.loads(self.body())
            prompt = body["messages"][-1]["content"]
            lines = prompt.rsplit("\n\n", 1)[-1].splitlines()
            answers = [known.get(line.split(". ", 1)[-1] if len(lines) > 1 else line, line) for line in lines]
            text = "\n".join(f"{n}. {answer}" for n, answer in enumerate(answers, 1)) if len(lines) > 1 else answers[0]
            time.sleep(latency)
            sent = sum(len(message["content"]) for message in body["messages"])
            choices = [{"index": 0, "message": {"content": text}, "finish_reason": "stop"}]
            usage = {"prompt_tokens": -(-sent // 4), "completion_tokens": -(-len(text) // 4)}
            self.send(200, json.dumps({"choices": choices, "usage": usage}).encode())

    serve(Server)


def planned(port: int, lines: int, rows: int, folder: Path) -> dict[str, Any]:
    """The plan of the pipeline for all pairs."""
    text = (ROOT / "examples/planned.toml").read_text(encoding="utf-8")
    endpoint = (
        f'[[stage]]\nname = "service"\nuse = "load-endpoint"\nurl = "http://127.0.0.1:{port}/v1"\nmodel = "rules"\n'
        f'source = "de"\ntarget = "en"\nconcurrency = {CONCURRENCY}\nlines_per_request = {lines}\n'
        f"input_price = {PRICES[0]}\noutput_price = {PRICES[1]}\n\n"
    )
    text = text.replace('translator = "de-en"\ndecode = "beam:12"', 'translator = "service"\ndecode = "greedy"')
    text = text.replace('[[stage]]\nname = "back"', f'{endpoint}[[stage]]\nname = "back"')
    pipeline = folder / f"endpoint-{lines}.toml"
    pipeline.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "paraloom", "run", str(pipeline), "-o", str(folder / f"run-{lines}"), "--json"]
    sizes = ["--plan", "--plan-for", str(PAIRS), "--plan-rows", str(rows), "--workers", "1"]
    done = subprocess.run([*command, *sizes], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    plan: dict[str, Any] = json.loads(done.stdout)
    return plan


def row_of(plan: dict[str, Any], lines: int, latency: float) -> list[str]:
    """A row of the table; a busy machine delays the answers of the sample, so time is that of the requests alone."""
    (asking,) = (stage for stage in plan["stages"] if stage["requests"])
    millions = (asking["requests"], asking["input_tokens"], asking["output_tokens"])
    return [
        str(lines),
        *(f"{number / 1e6:,.1f}" for number in millions),
        f"{asking['cost']:,.0f}",
        f"{asking['requests'] * latency / CONCURRENCY / 86_400:.1f}",
        f"{plan['disk'] / 1e9:,.0f}",
        f"{asking['sample_requests']:,}",
    ]


def main() -> None:
    """Print a row for each number of lines a request."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=1.0, help="seconds until an answer comes")
    parser.add_argument("--rows", type=int, default=2000, help="rows of the larger sample of the plan")
    parser.add_argument("--serve", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return run_server(Path(options.serve), options.latency)
    pairs = Path(os.environ["PARALOOM_DATA"]) / "bitext/tatoeba/de-en.tsv.gz"
    with (
        tempfile.TemporaryDirectory(prefix="paraloom-plan-") as name,
        process("--serve", pairs, "--latency", options.latency, script=__file__) as port,
    ):
        print(" | ".join(COLUMNS))
        for lines in LINES:
            row = row_of(planned(port, lines, options.rows, Path(name)), lines, options.latency)
            print(" | ".join(row), flush=True)


if __name__ == "__main__":
    main()
