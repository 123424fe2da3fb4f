"""Hostile names of columns and folders, run folders that name other files, and conditions that compute without end."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from trials import Outcomes, Scene, judge

from paraloom.core.schema import PAIRS

_QUERY = """a"::DOUBLE) THEN 1 END AS value FROM (SELECT 1 AS a); COPY (SELECT 'x') TO '{file}'; --"""
_COLUMNS = (
    _QUERY,
    """a") FROM (SELECT 1 AS a); COPY (SELECT 'x') TO '{file}'; --""",
    """a" IS NULL THEN NULL END AS grouped, 1, 1; COPY (SELECT 'x') TO '{file}'; --""",
    """a"; COPY (SELECT 'x') TO '{file}'; --""",
    """'; COPY (SELECT 'x') TO '{file}'; --""",
    'a"b',
    "<script>alert(1)</script>",
    "SRC",
    "value",
    "grouped",
    "x" * 2000,
)


def trials(scene: Scene) -> Iterator[tuple[str, Outcomes]]:
    """Names that are queries, patterns, paths or markup, and conditions without bound."""
    folder = scene.folder / "names"
    folder.mkdir()
    yield "names of columns that are queries or markup, in reports", _columns(scene, folder)
    yield "folders whose names are patterns", _patterns(scene, folder)
    yield "run folders that name files and modules elsewhere", _records(scene, folder)
    yield "conditions whose time or memory has no bound", _conditions(scene, folder)
    yield "computed NaN and lower bounds", _nan(scene, folder)


def _pairs(count: int, **columns: list[object]) -> pa.Table:
    rows = [{name: f"{name} {n}" for name in PAIRS.names} for n in range(count)]
    table = pa.Table.from_pylist(rows, PAIRS)
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values))
    return table


def _columns(scene: Scene, folder: Path) -> Outcomes:
    outcomes = Outcomes()
    written = folder / "written.csv"
    for number, column in enumerate(_COLUMNS):
        name = column.format(file=written) if "{file}" in column else column
        pq.write_table(_pairs(3, **{name: [1.0, 2.0, 4.0]}), folder / f"c{number}.parquet")
        page = folder / f"c{number}.html"
        ended = scene.call("report", f"c{number}.parquet", "-o", page.name, cwd=folder)
        if written.exists():
            written.unlink()
            outcomes.count(name[:40], "THE QUERY WAS EXECUTED")
        elif page.exists() and "<script>alert(1)" in page.read_text(encoding="utf-8"):
            outcomes.count(name[:40], "THE MARKUP IS IN THE PAGE")
        else:
            judge(outcomes, name[:40], ended)
    return outcomes


def _patterns(scene: Scene, folder: Path) -> Outcomes:
    """A run in `w[12]` beside one in `w1`: each has the rows of its own."""
    outcomes = Outcomes()
    for pattern, beside in (("w[12]", "w1"), ("v*", "v-other"), ("u?", "u1"), ("{a,b}", "a"), ("{b,c}", "c")):
        for name, text in ((beside, "foreign"), (pattern, "own")):
            work = folder / "patterns" / name
            work.mkdir(parents=True)
            lines = [f"Satz {n}\t{text} {n} {side}\n" for n in range(5) for side in ("one", "two")]
            (work / "a.tsv").write_text("".join(lines), encoding="utf-8")
            (work / "p.toml").write_text(
                'name = "p"\n[[stage]]\nuse = "read-pairs"\nname = "read"\nsource = "a.tsv"\n'
                '[[stage]]\nuse = "common-translations"\nbitext = "read"\n'
            )
            ended = scene.call("run", work / "p.toml", "-o", work / "run", "--engine", "inline")
        shards = sorted((folder / "patterns" / pattern / "run").glob("20-*/*.parquet"))
        rows = [str(row) for shard in shards for row in pq.ParquetFile(shard).read().to_pylist()]
        if len(rows) != 5 or any("foreign" in row for row in rows):
            outcomes.count(pattern, f"ROWS OF ANOTHER FOLDER, OR NONE: {len(rows)} {ended.stderr[-200:]}")
        else:
            judge(outcomes, pattern, ended)
    return outcomes


def _records(scene: Scene, folder: Path) -> Outcomes:
    """Copies of a run whose run.json names a module, or folders outside."""
    outcomes = Outcomes()
    (folder / "named_by_a_run.py").write_text(f"open({str(folder / 'imported')!r}, 'w').close()\nclass Stage: pass\n")
    for number, (key, value) in enumerate(
        (("use", "named_by_a_run:Stage"), ("folder", "../../done/20-score"), ("folder", str(scene.done / "20-score")))
    ):
        run = folder / f"run-{number}"
        shutil.copytree(scene.done, run)
        record = json.loads((run / "run.json").read_text(encoding="utf-8"))
        record["stages"][1][key] = value
        record.pop("sha256", None)  # Whoever changes a record may write another digest, too.
        (run / "run.json").write_text(json.dumps(record), encoding="utf-8")
        for verb in ("report", "head", "status"):
            arguments = (verb, run, *(("-o", folder / f"r{number}.html") if verb == "report" else ()))
            ended = scene.call(*arguments, cwd=folder)
            if (folder / "imported").exists():
                (folder / "imported").unlink()
                outcomes.count(f"{verb}, {key} = {value}", "THE MODULE WAS IMPORTED")
            elif key == "folder" and verb == "report" and not ended.returncode:
                outcomes.count(f"{verb}, {key} = {value}", "THE PAGE SHOWS ROWS OF ANOTHER FOLDER")
            else:
                judge(outcomes, f"{verb}, {key} = {value}", ended)
    return outcomes


_UNBOUNDED = (
    "length(" + "replace(" * 8 + "src" + ", 'a', 'aaaaaaaaaa')" * 8 + ") > 1",
    "length(" + "regexp_replace(" * 4 + "src" + ", '', src, 'g')" * 4 + ") > 1",
    "length(replace(replace(src, 'a', src), 'a', src)) > 1",
    "levenshtein(src, tgt) > 3",
    "damerau_levenshtein(src, tgt) > 3",
    "editdist3(src, tgt) > 3",
)


def _conditions(scene: Scene, folder: Path) -> Outcomes:
    outcomes = Outcomes()
    table = (
        _pairs(8)
        .set_column(1, "src", pa.array(["a" * 100_000] * 8))
        .set_column(2, "tgt", pa.array(["ab" * 50_000] * 8))
    )
    pq.write_table(table, folder / "long.parquet")
    slowest = 0.0
    for where in _UNBOUNDED:
        start = time.monotonic()
        words = ("filter", "long.parquet", "--where", where, "--engine", "inline", "-o", "kept.parquet", "--force")
        try:
            ended = scene.call(*words, cwd=folder, memory=4_000_000_000, timeout=60)
        except subprocess.TimeoutExpired:
            outcomes.count(where[:60], "NOT DONE IN 60 SECONDS")
            continue
        seconds = time.monotonic() - start
        slowest = max(slowest, seconds)
        if seconds > 15:
            outcomes.count(where[:60], f"{seconds:.0f} SECONDS")
        else:
            judge(outcomes, where[:60], ended)
    outcomes.details = f"the longest took {slowest:.0f} s, its start included"
    return outcomes


def _nan(scene: Scene, folder: Path) -> Outcomes:
    outcomes = Outcomes()
    pq.write_table(_pairs(3, x=[0.0, 1.0, 1.0], y=[0.0, 1.0, 2.0]), folder / "nan.parquet")
    for where in ("x / y > 0.6", "x * (1 / y) > 0.6", "not (x / y <= 0.6)", "greatest(x / y, 0) > 0.6"):
        output = folder / "nan-kept.parquet"
        ended = scene.call(
            *("filter", "nan.parquet", "--where", where, "--engine", "inline", "-o", output.name, "--force"), cwd=folder
        )
        if not ended.returncode and pq.read_metadata(output).num_rows != 1:
            outcomes.count(where, f"{pq.read_metadata(output).num_rows} rows kept")
        else:
            judge(outcomes, where, ended)
    return outcomes
