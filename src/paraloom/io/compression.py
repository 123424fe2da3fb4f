"""Byte streams and lines, plain or packed by suffix (.gz .zst .xz), '-' being a pipe; strict about what they hold."""

from __future__ import annotations

import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from paraloom.core.errors import DataError
from paraloom.core.optional import OptionalModule
from paraloom.io.atomic import replacing

zstandard = OptionalModule("zstandard", "writing .zst files", "zstd")

SUFFIXES = (".gz", ".zst", ".xz")
"""Suffixes of compressed files, each read and written transparently."""

PIPE = "-"
"""The name of standard input where a file is read, of standard output where one is written."""

_PIECE = 1 << 18


def without_compression(path: str | Path) -> Path:
    """The path without a suffix of compression.

    >>> without_compression("a.tsv.gz").name, without_compression("a.tsv").name
    ('a.tsv', 'a.tsv')
    """
    path = Path(path)
    return path.with_suffix("") if path.suffix in SUFFIXES else path


@contextmanager
def open_read(path: str | Path) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked.

    Raises DataError when there is no such file (near names of the folder are shown), when it is a folder or empty,
    and, as soon as the reading comes that far, when a compressed file is cut short or corrupt.
    """
    if str(path) == PIPE:
        yield sys.stdin.buffer
        return
    path = Path(path)
    _must_be_a_file(path)
    with path.open("rb") as raw:
        yield raw if path.suffix not in SUFFIXES else cast(BinaryIO, _Unpacked(raw, path))


class _Unpacked(io.RawIOBase):
    """A compressed stream whose faults are DataErrors of the file it comes from."""

    def __init__(self, raw: BinaryIO, path: Path) -> None:
        self._path = path
        self._stream = _unpacking(raw, path.suffix)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            piece = self._stream.read(len(buffer))
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            raise DataError(
                f"the compressed file is cut short or corrupt ({str(error).rstrip('.')})",
                file=self._path,
                remedy="Copy it again from where it came, and compare sizes.",
            ) from error
        buffer[: len(piece)] = piece
        return len(piece)


def _unpacking(raw: BinaryIO, suffix: str) -> Any:
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=raw, mode="rb")
    if suffix == ".xz":
        return lzma.LZMAFile(raw)
    # zstandard's own reader takes a frame that is cut short for the end of the file; Arrow's does not.
    return pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd")


@contextmanager
def open_write(path: str | Path) -> Iterator[BinaryIO]:
    """A stream into a file that appears, packed by its suffix, when the block ends well; the same bytes each time.

    Raises RunError when the disk is full.
    """
    if str(path) == PIPE:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with replacing(path) as temporary, packing(temporary, Path(path).suffix) as stream:
        yield stream


@contextmanager
def packing(temporary: Path, suffix: str) -> Iterator[BinaryIO]:
    """A stream into `temporary`, packed as `suffix` says: for writers that rename several files together."""
    with temporary.open("wb") as raw, _packed(raw, suffix) as stream:
        yield cast(BinaryIO, stream)


def _packed(raw: BinaryIO, suffix: str) -> Any:
    if suffix == ".gz":
        # No name and no time in the header: equal content gives equal bytes.
        return gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0)
    if suffix == ".zst":
        return zstandard.ZstdCompressor(level=6, write_checksum=True).stream_writer(raw, closefd=False)
    if suffix == ".xz":
        return lzma.LZMAFile(raw, "wb", preset=6)
    return raw


def read_lines(path: str | Path) -> Iterator[str]:
    r"""The lines of a text file without their ends, as strict UTF-8.

    A line ends with \n, and one \r before it belongs to the end; nothing else ends a line (U+2028, \x0b and \x85 are
    characters like any other).  A byte order mark at the start is left out.  Raises DataError as `open_read` does, and
    for bytes that are no UTF-8, with the row and the byte's place in it (from 0).
    """
    for row, line in enumerate(read_raw_lines(path), 1):
        yield decode(line, path, row)


def read_raw_lines(path: str | Path) -> Iterator[bytes]:
    """The lines of a file without their ends, as bytes; see `read_lines`."""
    with open_read(path) as stream:
        first = True
        rest = b""
        while piece := stream.read(_PIECE):
            if first:
                piece = piece.removeprefix(b"\xef\xbb\xbf")
                first = False
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                yield line.removesuffix(b"\r")
        if first and str(path) != PIPE:
            raise _empty(Path(path))
        if rest:
            yield rest.removesuffix(b"\r")


def decode(line: bytes, path: str | Path, row: int) -> str:
    """The text of one line; DataError with the first byte that is no UTF-8."""
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(line, error.start).at(file=path, row=row) from None


def not_utf8(line: bytes, at: int) -> DataError:
    """The error for a byte that is no UTF-8."""
    return DataError(
        f"the line is not valid UTF-8 (byte 0x{line[at]:02x} at {at})",
        remedy="Repair the line, or convert the file, as by: iconv -f latin1 -t utf-8.",
    )


def _must_be_a_file(path: Path) -> None:
    if path.is_dir():
        raise DataError("this is a folder, not a file", file=path, remedy="Name a file in it.")
    if not path.exists():
        names = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        near = get_close_matches(path.name, names, n=3)
        remedy = f"In that folder there is {', '.join(near)}." if near else "Check the name and the folder."
        raise DataError("there is no such file", file=path, remedy=remedy)
    if path.is_file() and path.stat().st_size == 0:
        raise _empty(path)


def _empty(path: Path) -> DataError:
    return DataError("the file is empty", file=path, remedy="Check what was to write it: it has left nothing.")
