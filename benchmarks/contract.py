"""The run contract on real data: one pipeline at 1 and 2 workers, on Ray, and after ten kills; the digests must agree.

python benchmarks/contract.py --translator src/paraloom/bundled/de-en
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PIPELINE = """
name = "contract"
seed = 7

[[stage]]
name = "captions"
use = "read-pairs"
source = "${{PARALOOM_DATA}}/bitext/multi30k/task1/val.{{de,en}}.gz"
shard_rows = 100

[[stage]]
name = "sampled"
use = "backtranslate"
translator = "{translator}"
decode = "sampling,nbest=3"

[[stage]]
use = "score"

[[stage]]
name = "kept"
use = "filter"
where = "trigram_overlap <= 0.7 and tgt_tokens between 3 and 30"
sample = 1500

[[stage]]
name = "encoder"
use = "train-encoder"
pairs = ["kept"]
epochs = 3

[[stage]]
name = "sts"
use = "evaluate-sts"
encoder = "encoder"
sts = "${{PARALOOM_DATA}}/sts"
"""


def digest(pipeline: Path, folder: Path, *options: str) -> str:
    """Run to the end and return the run's digest."""
    command = [sys.executable, "-m", "paraloom.cli.main", "run", str(pipeline), "-o", str(folder), "--json", *options]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(found.stdout.decode().splitlines()[-1])["digest"]


def kill_at_random(pipeline: Path, folder: Path, longest: float, draw: random.Random) -> bool:
    """Start the run and kill its whole process group after a random time; False when it was done before that."""
    command = [sys.executable, "-m", "paraloom.cli.main", "run", str(pipeline), "-o", str(folder), "--workers", "2"]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        running.wait(draw.uniform(1, longest))
        return False
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        return True


def main() -> None:
    """Print one digest a way of running, and whether they agree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--translator", type=Path, required=True)
    parser.add_argument("--kills", type=int, default=10)
    arguments = parser.parse_args()
    draw = random.Random(1)
    with tempfile.TemporaryDirectory() as scratch:
        pipeline = Path(scratch) / "contract.toml"
        pipeline.write_text(PIPELINE.format(translator=arguments.translator.absolute()))
        begun = time.perf_counter()
        found = {"1 worker": digest(pipeline, Path(scratch) / "one", "--workers", "1")}
        longest = time.perf_counter() - begun
        print(f"1 worker          {found['1 worker']}", flush=True)
        for name, options in {
            "2 workers": ("--workers", "2"),
            "Ray, 2 workers": ("--engine", "ray", "--workers", "2"),
        }.items():
            found[name] = digest(pipeline, Path(scratch) / name.replace(" ", "-"), *options)
            print(f"{name:<17} {found[name]}", flush=True)
        killed = Path(scratch) / "killed"
        kills = sum(kill_at_random(pipeline, killed, max(2.5, longest / 8), draw) for _ in range(arguments.kills))
        found[f"after {kills} kills"] = digest(pipeline, killed, "--workers", "2")
        print(f"after {kills:>2} kills    {found[f'after {kills} kills']}")
    print("all agree" if len(set(found.values())) == 1 else "THEY DIFFER")
    sys.exit(len(set(found.values())) != 1)


if __name__ == "__main__":
    main()
