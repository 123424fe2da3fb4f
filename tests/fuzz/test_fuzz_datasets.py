"""Flipped bits, cut files and wrong JSON in folders of `datasets`: rows or an error of Paraloom, and never a crash.

The folders are read in a child process: what goes wrong in Arrow ends the process, not the test.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from fuzzing import FIRST_SEED, NASTY, SECONDS

from paraloom.core.schema import PAIRS
from paraloom.io import write_table

pytestmark = pytest.mark.slow

READ = """
import json, sys
from paraloom.core.errors import ParaloomError
from paraloom.io import read_pairs
from paraloom.io.formats.hf_datasets import read_dataset

for line in sys.stdin:
    number, folder, data, changes = json.loads(line)
    good = open(data, "rb").read()
    content = bytearray(good)
    for at, deleted, inserted in changes:
        content[at : at + deleted] = bytes(inserted)
    open(data, "wb").write(content)
    outcomes = []
    for read in (read_pairs, read_dataset):
        try:
            outcomes.append(repr([batch.to_pylist() for batch in read(folder)]))
        except ParaloomError as error:
            str(error).encode()
            outcomes.append("error")
    open(data, "wb").write(good)
    print(json.dumps([number, outcomes]), flush=True)
"""
_SPOILED = 500


def saved(folder: Path) -> Path:
    """A folder as the package `datasets` writes it, without digests."""
    folder.mkdir()
    texts = [{"de": f"eins {number}", "en": f"one {number}"} for number in range(60)]
    struct = pa.struct([("de", pa.string()), ("en", pa.string())])
    table = pa.table({"id": [f"a{n}" for n in range(60)], "translation": pa.array(texts, struct), "n": range(60)})
    with pa.OSFile(str(folder / "data.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=25)
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": "data.arrow"}], "_fingerprint": "a"}))
    (folder / "dataset_info.json").write_text("{}")
    return folder


def written(folder: Path) -> Path:
    """A folder as Paraloom writes it."""
    rows = [
        {"pair_id": f"p:{n}", "src": f"eins {n}", "tgt": f"one {n}", "src_lang": "de", "tgt_lang": "en", "origin": "p"}
        for n in range(60)
    ]
    write_table(pa.Table.from_pylist(rows, schema=PAIRS), folder)
    return folder


def changes(size: int, rng: random.Random) -> list[tuple[int, int, list[int]]]:
    """Where a file is changed: position, bytes that are deleted, bytes that are put there."""
    at = rng.randrange(size)
    match rng.randrange(4):
        case 0:
            return [(at, size, [])]
        case 1:
            return [(at, rng.randrange(9), list(rng.choice(NASTY)[:50]))]
        case _:
            return [(rng.randrange(size), 1, [rng.randrange(256)]) for _ in range(rng.randint(1, 2))]


def spoiled(folder: Path, rng: random.Random) -> Iterator[tuple[str, list[tuple[int, int, list[int]]]]]:
    files = sorted(folder.iterdir())
    while True:
        path = rng.choice([*files, *[path for path in files if path.suffix == ".arrow"] * 3])
        yield str(path), changes(path.stat().st_size, rng)


@pytest.mark.parametrize("make", [saved, written])
def test_spoiled_datasets(make: object, tmp_path: Path) -> None:
    """Of what Paraloom wrote, the same rows or an error; of other folders never a crash or a traceback."""
    assert callable(make)
    folder = make(tmp_path / "a.dataset")
    stream = spoiled(folder, random.Random(FIRST_SEED))
    count = _SPOILED + int(100 * SECONDS)
    trials = [(number, str(folder), *next(stream)) for number in range(count)]
    lines = [json.dumps((-1, str(folder), str(folder / "state.json"), [])), *map(json.dumps, trials)]
    ended = subprocess.run(
        [sys.executable, "-c", READ], input="\n".join(lines), capture_output=True, text=True, timeout=600, check=False
    )
    (_, undamaged), *got = map(json.loads, ended.stdout.splitlines())
    assert ended.returncode == 0 and len(got) == count, (trials[len(got) : len(got) + 1], ended.stderr[-2000:])
    assert "error" not in undamaged
    counts = Counter(
        "error" if outcome == "error" else "same rows" if outcome == expected else "other rows"
        for _, outcomes in got
        for outcome, expected in zip(outcomes, undamaged, strict=True)
    )
    assert counts["error"] > 100 and counts["same rows"] > 10, counts
    assert make is saved or not counts["other rows"], counts
