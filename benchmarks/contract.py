"""Check the run contract on real data: 1 and 2 workers, Ray, and a run killed ten times give the same digest.

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
    """Run the pipeline to the end; returns the digest of the run."""
    command = [sys.executable, "-m", "paraloom.cli.main", "run", str(pipeline), "-o", str(folder), "--json", *options]
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(ended.stdout.decode().splitlines()[-1])["digest"]


def kill_at_random(pipeline: Path, folder: Path, max_seconds: float, rng: random.Random) -> bool:
    """Start the run and kill its process group after a random time; False if it ended before that."""
    command = [sys.executable, "-m", "paraloom.cli.main", "run", str(pipeline), "-o", str(folder), "--workers", "2"]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        running.wait(rng.uniform(1, max_seconds))
        return False
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        return True


def main() -> None:
    """Print the digest of each way to run, and whether all are equal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--translator", type=Path, required=True, help="a translator folder, German to English")
    parser.add_argument("--kills", type=int, default=10, help="how often a run is killed (default: %(default)s)")
    arguments = parser.parse_args()
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as scratch:
        pipeline = Path(scratch) / "contract.toml"
        pipeline.write_text(PIPELINE.format(translator=arguments.translator.absolute()))
        start = time.perf_counter()
        digests = {"1 worker": digest(pipeline, Path(scratch) / "one", "--workers", "1")}
        seconds = time.perf_counter() - start
        print(f"1 worker          {digests['1 worker']}", flush=True)
        for name, options in {
            "2 workers": ("--workers", "2"),
            "Ray, 2 workers": ("--engine", "ray", "--workers", "2"),
        }.items():
            digests[name] = digest(pipeline, Path(scratch) / name.replace(" ", "-"), *options)
            print(f"{name:<17} {digests[name]}", flush=True)
        killed = Path(scratch) / "killed"
        kills = sum(kill_at_random(pipeline, killed, max(2.5, seconds / 8), rng) for _ in range(arguments.kills))
        digests[f"after {kills} kills"] = digest(pipeline, killed, "--workers", "2")
        print(f"after {kills:>2} kills    {digests[f'after {kills} kills']}")
    print("all digests are equal" if len(set(digests.values())) == 1 else "THE DIGESTS DIFFER")
    sys.exit(len(set(digests.values())) != 1)


if __name__ == "__main__":
    main()
