"""Damaged inputs: rows, or a plain error."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
from trials import Outcomes, Scene, judge


def trials(scene: Scene) -> Iterator[tuple[str, Outcomes]]:
    """Inputs that are damaged; with `--on-error reject`, every row is in the output or among the rejected ones."""
    folder = scene.folder / "inputs"
    folder.mkdir()
    good = "Guten Morgen.\tGood morning.\nDer Hund ist da.\tThe dog is here.\n"
    table = pa.table({"src": ["a", "b"], "tgt": ["c", "d"]})
    files: dict[str, tuple[bytes, int | None]] = {
        "empty.tsv": (b"", 0),
        "blank.tsv": (b"\n\n\n", 3),
        "nul.tsv": (f"{good}a\x00b\tc\n".encode(), 3),
        "utf16.tsv": (good.encode("utf-16"), None),
        "latin1.tsv": (f"{good}Caf\xe9\tcoffee\n".encode("latin-1"), 3),
        "bom.tsv": (b"\xef\xbb\xbf" + good.encode(), 2),
        "crlf.tsv": (good.replace("\n", "\r\n").encode(), 2),
        "more-fields.tsv": (f"{good}a\tb\tc\td\n".encode(), 3),
        "one-field.tsv": (f"{good}alone\n".encode(), 3),
        "no-end.tsv": (good.rstrip("\n").encode(), 2),
        "long.tsv": (("x" * 3_000_000 + "\ty\n").encode(), 1),
        "controls.tsv": (f"{good}a\x1b[31m\tb\u202e\u2028c\n".encode(), 3),
        "cut.tsv.gz": (gzip.compress(good.encode() * 500)[:-12], None),
        "text.tsv.gz": (good.encode(), None),
        "text.parquet": (good.encode(), None),
        "rows.jsonl": (b'{"src": "a", "tgt": "b"}\n{"src": 1}\n[]\n{"src": "\\ud800", "tgt": "x"}\n{\n', 5),
        "deep.jsonl": (b"[" * 100_000 + b"\n", 1),
        "other.tmx": (b"<html><body>no</body></html>", None),
        "cut.tmx": (b"<?xml version='1.0'?><tmx><body><tu><tuv xml:lang='de'><seg>a", None),
        "bomb.tmx": (
            b'<!DOCTYPE t [<!ENTITY a "a">]><tmx><body><tu><tuv xml:lang="de"><seg>&a;</seg></tuv></tu></body></tmx>',
            None,
        ),
    }
    outcomes = Outcomes()
    for name, (content, rows) in files.items():
        (folder / name).write_bytes(content)
        output = folder / f"{name}.out.parquet"
        words = ("score", name, "--with", "length", "--on-error", "reject", "--engine", "inline", "-o", output.name)
        if judge(outcomes, name, scene.call(*words, cwd=folder)) and rows is not None:
            rejected = folder / f"{name}.out.rejected.jsonl"
            left_out = len(rejected.read_text(encoding="utf-8").splitlines()) if rejected.is_file() else 0
            missing = rows - pq.read_metadata(output).num_rows - left_out
            outcomes.lost += abs(missing)
            if missing:
                outcomes.notes.append(f"{name}: {missing} OF {rows} ROWS MISSING")
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer)
    content = bytes(buffer.getvalue())
    for name, damaged in {
        "cut.parquet": content[:-30],
        "flipped.parquet": content[:60] + b"\xff" + content[61:],
    }.items():
        (folder / name).write_bytes(damaged)
        judge(outcomes, name, scene.call("score", name, "--with", "length", "-o", f"{name}.out.tsv", cwd=folder))
    yield "damaged inputs", outcomes
