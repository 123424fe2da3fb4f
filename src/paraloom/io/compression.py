"""Byte streams and lines of files, compressed by suffix (.gz .zst .xz); '-' is a pipe."""

from __future__ import annotations

import gzip
import io
import lzma
import sys
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from paraloom.core.errors import DataError
from paraloom.core.optional import OptionalModule
from paraloom.core.remote_files import fetched, is_url
from paraloom.io.atomic import atomic_write

_RENAME = "Rename it so that its name ends in {}."
_KINDS = (
    (b"\x89PNG\r\n", "a PNG image", "Name a file of text."),
    (b"\xff\xd8\xff", "a JPEG image", "Name a file of text."),
    (b"%PDF-1", "a PDF document", "Extract its text first."),
    (b"PK\x03\x04", "a ZIP archive, as .xlsx and .docx are", "Unpack it, or save the table as .tsv or .csv, in UTF-8."),
    (b"PAR1\x15", "Parquet", _RENAME.format(".parquet")),
    (b"\x1f\x8b", "a gzip file", _RENAME.format(".gz")),
    (b"\x28\xb5\x2f\xfd", "a zstd file", _RENAME.format(".zst")),
    (b"\xfd7zXZ\x00", "an xz file", _RENAME.format(".xz")),
    (b"\xff\xfe", "UTF-16", "Convert it: iconv -f utf-16 -t utf-8 FILE > NEW."),
    (b"\xfe\xff", "UTF-16", "Convert it: iconv -f utf-16 -t utf-8 FILE > NEW."),
)
"""First bytes, what they are of, and what to do. Text may begin with the four letters PAR1, but not with all five."""
_PEEKED, _FEW_ZEROS = 400, 3
"""Bytes in which zeros are counted, and zeros that text may have."""


def check_text(begin: bytes, path: str | Path) -> None:
    """Check that a file may be text, because an error about its first line would be cryptic."""
    for magic, kind, remedy in _KINDS:
        if begin.startswith(magic):
            if remedy == _RENAME.format(Path(path).suffix):
                remedy = "Write its texts to a file of lines, such as .txt."
            raise DataError(f"expected text, got {kind}", file=path, remedy=remedy)
    even, odd = (begin[start:_PEEKED:2].count(0) for start in (0, 1))
    if max(even, odd) > _FEW_ZEROS and not min(even, odd):  # a zero beside each Latin letter or blank
        order = "be" if even else "le"
        raise DataError(
            "expected text, got UTF-16", file=path, remedy=f"Convert it: iconv -f utf-16{order} -t utf-8 FILE > NEW."
        )


zstandard = OptionalModule("zstandard", "writing .zst files", "zstd")

SUFFIXES = (".gz", ".zst", ".xz")  # Suffixes of compressed files
PIPE = "-"  # Name of standard input where a file is read, of standard output where one is written

_CHUNK_BYTES = 1 << 18
# What a header may ask for: xz -9 needs 65 MB.
_XZ_MEMORY = 1 << 30
_XZ_MAGIC = b"\xfd7zXZ\0"


def without_compression(path: str | Path) -> Path:
    path = Path(path)
    return path.with_suffix("") if path.suffix in SUFFIXES else path


@contextmanager
def open_read(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, decompressed."""
    if str(path) == PIPE:
        yield sys.stdin.buffer
        return
    path = fetched(path) if is_url(path) else Path(path)
    _check_file(path)
    with path.open("rb") as raw:
        yield raw if path.suffix not in SUFFIXES else cast(BinaryIO, _DecompressedStream(raw, path))


class _DecompressedStream(io.RawIOBase):
    """A decompressed stream that raises a DataError where the file is truncated or corrupt."""

    def __init__(self, raw: BinaryIO, path: Path) -> None:
        self._path = path
        self._stream = _decompress(raw, path.suffix)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            piece = self._stream.read(len(buffer))
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            raise DataError(
                f"the compressed file is truncated or corrupt ({str(error).rstrip('.')})",
                file=self._path,
                remedy="Copy the file again, and compare sizes.",
            ) from error
        buffer[: len(piece)] = piece
        return len(piece)


def _decompress(raw: BinaryIO, suffix: str) -> Any:
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=raw, mode="rb")
    if suffix == ".xz":
        return _XzStream(raw)
    # zstandard's own reader takes a truncated frame for the end of the file; Arrow's does not.
    return pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd")


def _xz_decompressor() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)


class _XzStream:
    """The content of a file of xz streams, with padding between and after them as the format allows.

    LZMAFile ignores whatever follows the first stream and is not another one, and takes padding for a truncated stream.
    https://tukaani.org/xz/xz-file-format.txt, §2.2 (Stream Padding)
    """

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._decompressor: lzma.LZMADecompressor | None = _xz_decompressor()
        self._pending = b""

    def read(self, size: int) -> bytes:
        """The next bytes, at most `size`; b"" at the end."""
        while True:
            if self._decompressor is None and not self._next_stream():
                return b""
            assert self._decompressor is not None
            if self._decompressor.needs_input and not self._pending:
                self._pending = self._raw.read(_CHUNK_BYTES)
                if not self._pending:
                    raise EOFError("it ends within a stream")
            data = self._decompressor.decompress(self._pending, size)
            self._pending = b""
            if self._decompressor.eof:
                self._pending, self._decompressor = self._decompressor.unused_data, None
            if data:
                return data

    def _next_stream(self) -> bool:
        """Skip padding; whether another stream follows."""
        padding = 0
        while True:
            self._pending = self._pending or self._raw.read(_CHUNK_BYTES)
            rest = self._pending.lstrip(b"\0")
            padding += len(self._pending) - len(rest)
            if rest or not self._pending:
                break
            self._pending = b""
        self._pending = rest
        if padding % 4:
            raise lzma.LZMAError("the padding after a stream is not a multiple of four bytes")
        if not rest:
            return False
        if not rest.startswith(_XZ_MAGIC[: len(rest)]):
            raise lzma.LZMAError("other data follow the end of a stream")
        self._decompressor = _xz_decompressor()
        return True


@contextmanager
def open_write(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file for writing bytes, compressed by its suffix; it appears when the block succeeds."""
    if str(path) == PIPE:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with atomic_write(path) as temporary, compressed_stream(temporary, Path(path).suffix) as stream:
        yield stream


@contextmanager
def compressed_stream(temporary: Path, suffix: str) -> Iterator[BinaryIO]:
    """Open a temporary file for writing, compressed by the suffix of the final file."""
    with temporary.open("wb") as raw, _compress(raw, suffix) as stream:
        yield cast(BinaryIO, stream)


def _compress(raw: BinaryIO, suffix: str) -> Any:
    if suffix == ".gz":
        # Without name and time in the header, equal content gives equal bytes.
        return gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0)
    if suffix == ".zst":
        return zstandard.ZstdCompressor(level=6, write_checksum=True).stream_writer(raw, closefd=False)
    if suffix == ".xz":
        return lzma.LZMAFile(raw, "wb", preset=6)
    return raw


def read_lines(path: str | Path) -> Iterator[str]:
    r"""Read the lines of a UTF-8 text file, without line ends.

    Lines end with \n or \r\n and nothing else (U+2028, \x0b and \x85 are ordinary characters). A byte order mark at the
    start of the file is dropped.
    """
    for row, line in enumerate(read_raw_lines(path), 1):
        yield decode(line, path, row)


def read_raw_lines(path: str | Path) -> Iterator[bytes]:
    """Read the lines of a file as bytes, without line ends; see `read_lines`."""
    with open_read(path) as stream:
        first = True
        # The pieces of the last line: joined once, so that a long line takes linear time.
        rest: list[bytes] = []
        while piece := stream.read(_CHUNK_BYTES):
            if first:
                piece = _without_mark(piece, stream)
                check_text(piece, path)
                first = False
            begin, *lines = piece.split(b"\n")
            rest.append(begin)
            if lines:
                yield b"".join(rest).removesuffix(b"\r")
                for line in lines[:-1]:
                    yield line.removesuffix(b"\r")
                rest = [lines[-1]]
        if first and str(path) != PIPE:
            raise _empty(Path(path))
        if last := b"".join(rest):
            yield last.removesuffix(b"\r")


def _without_mark(piece: bytes, stream: BinaryIO) -> bytes:
    """The first bytes of a stream without a byte order mark, which a pipe or a decompressor may split."""
    while len(piece) < len(BOM_UTF8) and BOM_UTF8.startswith(piece) and (more := stream.read(1)):
        piece += more
    return piece.removeprefix(BOM_UTF8)


def decode(line: bytes, path: str | Path, row: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise utf8_error(line, error.start).at(file=path, row=row) from None


def utf8_error(line: bytes, position: int) -> DataError:
    """Create the error for a line that is not valid UTF-8 from the byte at `position` on."""
    return DataError(
        f"the line is not valid UTF-8 (byte 0x{line[position]:02x} at {position})",
        remedy="Fix the line, or convert the file: iconv -f windows-1252 -t utf-8 FILE > NEW; windows-1250 is Central "
        "European, windows-1254 Turkish.",
    )


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise DataError("expected a file, got a folder", file=path, remedy="Name a file in it.")
    if not path.exists():
        names = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
        similar = get_close_matches(path.name, names, n=3)
        remedy = f"Did you mean {' or '.join(similar)}?" if similar else "Check the name and the folder."
        raise DataError("file not found", file=path, remedy=remedy)
    if path.is_file() and path.stat().st_size == 0:
        raise _empty(path)


def _empty(path: Path) -> DataError:
    return DataError("the file is empty", file=path, remedy="Check the program that should have written it.")
