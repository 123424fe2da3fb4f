"""Measure time and peak memory of the readers for one line of 10, 100 and 400 MB: both must grow linearly.

    python benchmarks/readers.py [--sizes 10 100 400] [--inputs 30]

Then a table of spoiled inputs by reader: how many were tried, how many gave rows and how many an error with a remedy.
Each measurement is a process of its own; its memory is the peak of its resident set, less that of the imports.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

READERS = (
    "lines",
    "lines .gz",
    "lines .xz",
    "texts",
    "tsv",
    "jsonl",
    "moses",
    "ppdb",
    "tmx",
    "parquet",
    "page",
    "warc",
)


def write(reader: str, folder: Path, size: int) -> Path:
    """Write a file with one line (a text, a unit, a page) of `size` bytes."""
    text = b"word " * (size // 5)
    name, content = {
        "lines": ("a.txt", [text]),
        "lines .gz": ("a.txt.gz", [gzip.compress(text, 1)]),
        "lines .xz": ("a.txt.xz", [_xz(text)]),
        "texts": ("a.txt", [text]),
        "tsv": ("a.tsv", [text, b"\tb\n"]),
        "jsonl": ("a.jsonl", [b'{"src": "', text, b'", "tgt": "b"}\n']),
        "moses": ("a.de", [text, b"\n"]),
        "ppdb": ("ppdb-a", [b"X ||| ", text, b" ||| b ||| c\n"]),
        "tmx": ("a.tmx", [_TMX[0], text, _TMX[1]]),
        "parquet": ("a.parquet", []),
        "page": ("a.html", [b"<html><p>", text]),
        "warc": ("a.warc", [_WARC % (len(_HTTP) + len(text)), _HTTP, text, b"\r\n\r\n"]),
    }[reader]
    path = folder / name
    if reader == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"src": [text.decode()], "tgt": ["b"]}), path)
        return path
    with path.open("wb") as stream:
        stream.writelines(content)
    if reader == "moses":
        (folder / "a.en").write_bytes(b"b\n")
        return folder / "a.{de,en}"
    return path


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
    from paraloom.io import read_lines, read_pairs
    from paraloom.io.texts import read_texts

    if reader.startswith("lines"):
        return read_lines
    return read_texts if reader == "texts" else read_pairs


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


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=[10, 100, 400], help="megabytes of the line")
    parser.add_argument("--readers", nargs="+", default=READERS, choices=READERS)
    parser.add_argument("--inputs", type=float, default=30, help="seconds for the table of inputs; 0 for none")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure[0], Path(options.measure[1]))))
        return
    print(f"{'one line of':<12}" + "".join(f"{size:>12} MB" + " " * 9 for size in options.sizes))
    for reader in options.readers:
        cells = []
        for size in options.sizes:
            with tempfile.TemporaryDirectory() as folder:
                path = write(reader, Path(folder), size * 1_000_000)
                command = [sys.executable, __file__, "--measure", reader, str(path)]
                answer = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
            cells.append(f"{answer['seconds']:>8.2f} s {answer['MB']:>8,.0f} MB  ")
        print(f"{reader:<12}" + "".join(cells), flush=True)
    print("Pages beyond the limit of 16 MB are set aside; the WARC reader hands on no more than that.")
    if options.inputs:
        print(f"\nspoiled inputs, {options.inputs:g} s in all:")
        tests = Path(__file__).parents[1] / "tests" / "fuzz" / "test_fuzz_readers.py"
        command = [sys.executable, "-m", "pytest", "-q", "-s", "-rN", "-p", "no:cacheprovider", str(tests)]
        subprocess.run(["env", f"PARALOOM_FUZZ_SECONDS={options.inputs:g}", *command], check=True, cwd=tests.parents[2])


if __name__ == "__main__":
    main()
