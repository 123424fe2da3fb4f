"""Measure time and peak memory of the readers for one line of 10, 100 and 400 MB, and for many short rows.

    python benchmarks/readers.py [--sizes 10 100 400] [--rows 1000000 10000000] [--inputs 30] [--json FILE]

For one line, both must grow linearly; for rows, time must grow linearly and memory not at all. `stats` among the
readers of rows is `paraloom research stats` on a Parquet file. Then a table of spoiled inputs by reader: how many
were tried, how many gave rows and how many an error with a remedy. Each measurement is a process of its own; its memory
is the peak of its resident set, less that of the imports.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from paraloom import pair_statistics
from paraloom.io import open_write, read_lines, read_pairs, write_table
from paraloom.io.records import read_records
from paraloom.io.texts import read_texts

READERS = (
    "lines",
    "lines .gz",
    "lines .xz",
    "texts",
    "tsv",
    "csv",
    "csv quoted",
    "records csv",
    "jsonl",
    "moses",
    "ppdb",
    "tmx",
    "parquet",
    "datasets",
    "page",
    "warc",
    "stats",
)
"""All readers; pages and archives have no short rows, and `stats` measures no long lines."""

ONE_LINE = tuple(reader for reader in READERS if reader != "stats")
MANY_ROWS = tuple(reader for reader in READERS if reader not in ("page", "warc"))


def write(reader: str, folder: Path, size: int) -> Path:
    """Write a file with one line (a text, a unit, a page) of `size` bytes."""
    text = b"word " * (size // 5)
    name, content = {
        "lines": ("a.txt", [text]),
        "lines .gz": ("a.txt.gz", [gzip.compress(text, 1)]),
        "lines .xz": ("a.txt.xz", [_xz(text)]),
        "texts": ("a.txt", [text]),
        "tsv": ("a.tsv", [text, b"\tb\n"]),
        "csv": ("a.csv", [text, b",b\n"]),
        "csv quoted": ("a.csv", [b'"', text.replace(b"word word ", b'word, ""a"" '), b'",b\n']),
        "records csv": ("a.csv", [b"src,tgt\n", text, b",b\n"]),
        "jsonl": ("a.jsonl", [b'{"src": "', text, b'", "tgt": "b"}\n']),
        "moses": ("a.de", [text, b"\n"]),
        "ppdb": ("ppdb-a", [b"X ||| ", text, b" ||| b ||| c\n"]),
        "tmx": ("a.tmx", [_TMX[0], text, _TMX[1]]),
        "parquet": ("a.parquet", []),
        "datasets": ("a.dataset", []),
        "page": ("a.html", [b"<html><p>", text]),
        "warc": ("a.warc", [_WARC % (len(_HTTP) + len(text)), _HTTP, text, b"\r\n\r\n"]),
    }[reader]
    path = folder / name
    if reader in ("parquet", "datasets"):
        write_table(pa.table({"src": [text.decode()], "tgt": ["b"]}), path)
        return path
    with path.open("wb") as stream:
        stream.writelines(content)
    if reader == "moses":
        (folder / "a.en").write_bytes(b"b\n")
        return folder / "a.{de,en}"
    return path


def write_rows(reader: str, folder: Path, count: int) -> Path:
    """Write a file of short rows: two sentences of six words each, every tenth with a mark and a delimiter."""
    name, before, row, after = {
        "lines": ("a.txt", "", "{0}\n", ""),
        "lines .gz": ("a.txt.gz", "", "{0}\n", ""),
        "lines .xz": ("a.txt.xz", "", "{0}\n", ""),
        "texts": ("a.txt", "", "{0}\n", ""),
        "tsv": ("a.tsv", "", "{0}\t{1}\n", ""),
        "csv": ("a.csv", "", "{2},{3}\n", ""),
        "csv quoted": ("a.csv", "", '"{0}","{1}"\n', ""),
        "records csv": ("a.csv", "src,tgt\n", "{2},{3}\n", ""),
        "jsonl": ("a.jsonl", "", '{{"src": "{0}", "tgt": "{1}"}}\n', ""),
        "moses": ("a.de", "", "{0}\n", ""),
        "ppdb": ("ppdb-a", "", "X ||| {0} ||| {1} ||| c\n", ""),
        "tmx": (
            "a.tmx",
            '<tmx version="1.4"><header/><body>',
            '<tu><tuv xml:lang="de"><seg>{0}</seg></tuv><tuv xml:lang="en"><seg>{1}</seg></tuv></tu>\n',
            "</body></tmx>",
        ),
    }.get(reader, (f"a.{'dataset' if reader == 'datasets' else 'parquet'}", "", "", ""))
    path = folder / name
    if not row:
        write_table(_tables(count), path)
        return path
    with open_write(path) as stream:
        stream.write(before.encode())
        for start in range(0, count, _PART_ROWS):
            pairs = _sentences(start, min(start + _PART_ROWS, count))
            stream.write("".join(row.format(src, tgt, _cell(src), _cell(tgt)) for src, tgt in pairs).encode())
        stream.write(after.encode())
    if reader == "moses":
        shutil.copy(path, folder / "a.en")
        return folder / "a.{de,en}"
    return path


def _sentences(start: int, end: int) -> Iterator[tuple[str, str]]:
    for number in range(start, end):
        words = [f"w{number * step % 4999}" for step in (1, 7, 31, 101, 499, 1009, 2003, 3001, 41, 43, 47, 53)]
        yield " ".join(words[:6]), " ".join(words[6:])


def _cell(text: str) -> str:
    """A cell of CSV: those with the digit 9 in the last place of their first word have a comma and a mark."""
    return f'"{text}, a ""quoted"" word"' if text.partition(" ")[0].endswith("9") else text


def _tables(count: int) -> Iterator[pa.RecordBatch]:
    for start in range(0, count, _PART_ROWS):
        src, tgt = zip(*_sentences(start, min(start + _PART_ROWS, count)), strict=True)
        yield pa.record_batch({"src": pa.array(src), "tgt": pa.array(tgt)})


_PART_ROWS = 10_000
_TMX = (
    b'<tmx version="1.4"><header/><body><tu><tuv xml:lang="de"><seg>',
    b'</seg></tuv><tuv xml:lang="en"><seg>b</seg></tuv></tu></body></tmx>',
)
_HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><p>"
_WARC = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\nContent-Length: %d\r\n\r\n"


def _xz(text: bytes) -> bytes:
    import lzma

    return lzma.compress(text, preset=0)


def reading(reader: str) -> Callable[[Path], Iterator[object]]:
    """The reader, with its modules imported."""
    if reader in ("page", "warc"):
        import trafilatura  # noqa: F401
        from warcio.recordloader import ArcWarcRecordLoader  # noqa: F401

        from paraloom.extract.pages import Page
        from paraloom.extract.parsing import ParseJob, parse_page
        from paraloom.extract.warc import read_archive

        parse_page(ParseJob("x", Page("x", "x", "html", body=b"<html><p>one"), "site", counted=False))
        if reader == "warc":
            return read_archive
        return lambda path: iter([parse_page(ParseJob("x", Page("x", "x", "html", path), "site", counted=False))])
    if reader.startswith("lines"):
        return read_lines
    if reader == "stats":
        return lambda path: iter([pair_statistics(str(path))])
    return {"texts": read_texts, "records csv": read_records}.get(reader, read_pairs)


def measure(reader: str, path: Path) -> dict[str, float]:
    """Rows, seconds and megabytes of one reading, in this process."""
    read = reading(reader)
    before = peak()
    started = time.perf_counter()
    rows = sum(getattr(batch, "num_rows", 1) for batch in read(path))
    seconds = time.perf_counter() - started
    return {"rows": rows, "seconds": seconds, "MB": (peak() - before) / 1e6}


def peak() -> float:
    """Largest resident set of this process so far, in bytes."""
    try:
        # The peak of getrusage counts that of the parent before the program was started.
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def table(title: str, readers: Sequence[str], sizes: Sequence[int], unit: str) -> list[dict[str, Any]]:
    """Measure readers, print a row for each, and return the figures of each cell."""
    figures: list[dict[str, Any]] = []
    print(f"{title:<12}" + "".join(f"{f'{size:,} {unit}':>26}" for size in sizes))
    for reader in readers:
        cells = []
        for size in sizes:
            with tempfile.TemporaryDirectory() as folder:
                written = write_rows(reader, Path(folder), size) if unit == "rows" else None
                path = written or write(reader, Path(folder), size * 1_000_000)
                command = [sys.executable, __file__, "--measure", reader, str(path)]
                answer = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
            figures.append({"reader": reader, unit: size, "seconds": answer["seconds"], "memory": answer["MB"]})
            if unit == "rows":
                figures[-1]["rows_per_second"] = size / answer["seconds"]
            cells.append(f"{answer['seconds']:>12.2f} s {answer['MB']:>8,.0f} MB")
        print(f"{reader:<12}" + "".join(cells), flush=True)
    return figures


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=[10, 100, 400], help="megabytes of the line")
    parser.add_argument("--rows", nargs="+", type=int, default=[1_000_000, 10_000_000], help="short rows; 0: none")
    parser.add_argument("--readers", nargs="+", default=READERS, choices=READERS)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, a list of objects")
    parser.add_argument("--inputs", type=float, default=30, help="seconds for the table of inputs; 0 for none")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure[0], Path(options.measure[1]))))
        return
    chosen = [reader for reader in ONE_LINE if reader in options.readers]
    figures = table("one line of", chosen, options.sizes, "MB")
    print("Pages beyond the limit of 16 MB are set aside; the WARC reader hands on no more than that.\n")
    chosen = [reader for reader in MANY_ROWS if reader in options.readers]
    figures += table("short rows", chosen, [rows for rows in options.rows if rows], "rows")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    if options.inputs:
        print(f"\nspoiled inputs, {options.inputs:g} s in all:")
        tests = Path(__file__).parents[1] / "tests" / "fuzz" / "test_fuzz_readers.py"
        command = [sys.executable, "-m", "pytest", "-q", "-s", "-rN", "-p", "no:cacheprovider", str(tests)]
        subprocess.run(["env", f"PARALOOM_FUZZ_SECONDS={options.inputs:g}", *command], check=True, cwd=tests.parents[2])


if __name__ == "__main__":
    main()
