"""Byte streams and lines: round trips, equal bytes, and damaged files."""

from __future__ import annotations

import gzip
import io
import lzma
import resource
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraloom.core.errors import DataError, RunError
from paraloom.io import read_pairs
from paraloom.io.compression import open_read, open_write, read_lines

COMPRESSED = [".gz", ".zst", ".xz"]
ALL = ["", *COMPRESSED]
STREAM = lzma.compress(b"line\n")


@pytest.mark.parametrize("suffix", ALL)
def test_round_trip_and_equal_bytes(tmp_path: Path, suffix: str) -> None:
    text = "žluť\u2028ý\x0bkůň\x85\n\n last"
    files = [tmp_path / f"{name}.txt{suffix}" for name in "ab"]
    for file in files:
        with open_write(file) as stream:
            stream.write(text.encode())
    assert files[0].read_bytes() == files[1].read_bytes()
    assert list(read_lines(files[0])) == ["žluť\u2028ý\x0bkůň\x85", "", " last"]
    with open_read(files[0]) as stream:
        assert stream.read() == text.encode()


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\rb\n", ["a\rb"]),
        (b"\xef\xbb\xbfa\n", ["a"]),
        (b"a\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),
        (b"\n", [""]),
        (b"a\n\n", ["a", ""]),
        (b"a", ["a"]),
    ],
)
def test_line_ends(tmp_path: Path, content: bytes, lines: list[str]) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    assert list(read_lines(tmp_path / "a.txt")) == lines


@settings(deadline=None)
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r")), min_size=1))
def test_lines_do_not_depend_on_the_size_of_chunks(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    file = tmp_path_factory.mktemp("lines") / "a.txt"
    file.write_bytes("".join(f"{line}\n" for line in lines).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paraloom.io.compression._CHUNK_BYTES", 3)
        result = list(read_lines(file))
    assert result == [lines[0].removeprefix("\ufeff"), *lines[1:]]


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (STREAM + STREAM, 2),
        (STREAM + bytes(4), 1),
        (STREAM + bytes(1 << 19), 1),
        (STREAM + bytes(8) + STREAM + bytes(4), 2),
        (STREAM + bytes(3), "the padding after a stream"),
        (STREAM + bytes(6) + STREAM, "the padding after a stream"),
        (STREAM + b"\xfd7zX!garbage", "(other data follow|not supported)"),
        (STREAM + bytes(4) + b"garbage", "other data follow"),
        (STREAM + STREAM[:3], "ends within a stream"),
        (STREAM + STREAM[:-1], "ends within a stream"),
    ],
)
@pytest.mark.parametrize("chunk", [1, 5, 1 << 18])
def test_xz_streams_with_padding_or_other_data(tmp_path: Path, content: bytes, lines: int | str, chunk: int) -> None:
    (tmp_path / "a.xz").write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        if len(content) < 1000:
            patch.setattr("paraloom.io.compression._CHUNK_BYTES", chunk)
        if isinstance(lines, int):
            assert list(read_lines(tmp_path / "a.xz")) == ["line"] * lines
        else:
            with pytest.raises(DataError, match=f"truncated or corrupt .*{lines}"):
                list(read_lines(tmp_path / "a.xz"))


def test_a_long_line_takes_linear_time(tmp_path: Path) -> None:
    """16,384 pieces, which were copied 8,192 times each."""
    (tmp_path / "a.txt").write_bytes(b"x" * (1 << 24) + b"\ny\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paraloom.io.compression._CHUNK_BYTES", 1 << 10)
        started = time.process_time()
        assert [len(line) for line in read_lines(tmp_path / "a.txt")] == [1 << 24, 1]
    assert time.process_time() - started < 5


def test_bad_utf8_names_row_and_byte(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"good\n0123456789abcdefg\xff\n")
    lines = read_lines(tmp_path / "a.txt")
    assert next(lines) == "good"
    with pytest.raises(DataError) as caught:
        next(lines)
    assert str(caught.value).startswith(f"{tmp_path}/a.txt, row 2: the line is not valid UTF-8 (byte 0xff at 17).\n")


@pytest.mark.parametrize(
    ("suffix", "damage"),
    [(s, d) for s in COMPRESSED for d in ("cut", "last byte", "one byte", "not compressed", "junk after")],
)
def test_damaged_compressed_file(tmp_path: Path, suffix: str, damage: str) -> None:
    file = tmp_path / f"a.txt{suffix}"
    with open_write(file) as stream:
        stream.write(b"".join(b"%d\n" % (i * i) for i in range(20000)))
    content = file.read_bytes()
    damaged = {
        "cut": content[: len(content) // 2],
        "last byte": content[:-1],
        "one byte": content[:2000] + bytes([content[2000] ^ 0xFF]) + content[2001:],
        "not compressed": b"1\n2\n",
        "junk after": content + b"junkjunkjunk",
    }
    file.write_bytes(damaged[damage])
    with pytest.raises(DataError, match=rf"a.txt{suffix}: the compressed file is truncated or corrupt") as caught:
        list(read_lines(file))
    assert caught.value.remedy


def test_missing_and_empty_files(tmp_path: Path) -> None:
    (tmp_path / "train.tsv").touch()
    with pytest.raises(DataError, match="expected a file, got a folder"):
        list(read_lines(tmp_path))
    with pytest.raises(DataError, match="file not found") as caught:
        list(read_lines(tmp_path / "trian.tsv"))
    assert caught.value.remedy == "Did you mean train.tsv?"
    with pytest.raises(DataError, match="file not found"):
        list(read_lines(tmp_path / "nowhere" / "a.tsv"))
    with pytest.raises(DataError, match=r"train.tsv: the file is empty") as caught:
        list(read_lines(tmp_path / "train.tsv"))
    assert caught.value.remedy


@pytest.mark.parametrize("suffix", COMPRESSED)
def test_a_compressed_file_without_content_is_empty(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"a.txt{suffix}"
    with open_write(file):
        pass
    with pytest.raises(DataError, match="the file is empty"):
        list(read_lines(file))


@pytest.mark.parametrize("suffix", ALL)
def test_an_error_keeps_the_old_file(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"a.txt{suffix}"
    file.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), open_write(file) as stream:
        stream.write(b"half")
        1 / 0  # noqa: B018
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {file.name: b"old"}


@pytest.mark.parametrize("suffix", ALL)
def test_full_disk(tmp_path: Path, suffix: str) -> None:
    noise = bytes((i * i * 31 >> 7) & 0xFF for i in range(50000))
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, old[1]))
    try:
        with (
            pytest.raises(RunError, match="cannot write: the disk is full"),
            open_write(tmp_path / f"a{suffix}") as stream,
        ):
            stream.write(noise)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    assert list(tmp_path.iterdir()) == []


def test_links_are_followed_and_devices_stay_devices(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with open_write(tmp_path / "link") as stream:
        stream.write(b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"x"
    with open_write("/dev/null") as stream:
        stream.write(b"x")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(RunError, match="/dev/full: cannot write: the disk is full"), open_write("/dev/full") as stream:
        stream.write(b"x")


def test_pipes(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"a\nb")))
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=out))
    with open_write("-") as stream:
        for line in read_lines("-"):
            stream.write(f"<{line}>".encode())
    assert out.getvalue() == b"<a><b>"


def test_gzip_with_several_members(tmp_path: Path) -> None:
    # Concatenated members, as `cat a.gz b.gz` and pigz write them.
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"a\n") + gzip.compress(b"b\n"))
    assert list(read_lines(tmp_path / "a.gz")) == ["a", "b"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["pairs.tsv", "pairs.csv", "pairs.jsonl", "pairs.{de,en}"])
@pytest.mark.parametrize("text", ["Schöne Grüße\tBest wishes\n", "ru,en\nПривет,Hi\n", "Привет и пока всем, кто\n"])
def test_utf16_without_a_mark_is_said(tmp_path: Path, encoding: str, name: str, text: str) -> None:
    for side in ("de", "en"):
        (tmp_path / name.format(**{"de,en": side})).write_bytes(text.encode(encoding))
    order = encoding.replace("-", "").removeprefix("utf16")
    with pytest.raises(DataError, match=f"expected text, got UTF-16.\nConvert it: iconv -f utf-16{order} -t utf-8"):
        list(read_pairs(tmp_path / name))


def test_single_zero_bytes_are_text(tmp_path: Path) -> None:
    for lines in (["a\0", "b"], ["\0"]):
        (tmp_path / "a.txt").write_text("".join(f"{line}\n" for line in lines))
        assert list(read_lines(tmp_path / "a.txt")) == lines
