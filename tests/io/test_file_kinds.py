"""Files of another kind than their name says: an error that says what they are, instead of one about a first line."""

from __future__ import annotations

import gzip
import lzma
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraloom import read_pairs
from paraloom.core.errors import DataError
from paraloom.io.compression import read_lines

ROOT = Path(__file__).parents[2]
TEXT = "Ein Hund schläft.\tA dog sleeps.\n"


def write_kind(kind: str, path: Path) -> None:
    """A file of a kind, as programs write it."""
    if kind == "Parquet":
        pq.write_table(pa.table({"src": ["a"], "tgt": ["b"]}), path)
    elif kind == "a ZIP archive":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("table.xml", TEXT)
    else:
        written = {
            "a PNG image": (ROOT / "docs/_static/explore-pairs.png").read_bytes(),
            "a gzip file": gzip.compress(TEXT.encode()),
            "an xz file": lzma.compress(TEXT.encode()),
            "UTF-16": TEXT.encode("utf-16"),
        }
        path.write_bytes(written[kind])


@pytest.mark.parametrize("kind", ["Parquet", "a ZIP archive", "a PNG image", "a gzip file", "an xz file", "UTF-16"])
@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl"])
def test_a_file_of_another_kind_is_named(kind: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"pairs{suffix}"
    write_kind(kind, path)
    with pytest.raises(DataError, match=f"pairs{suffix}: expected text, got {kind}") as error:
        list(read_pairs(path))
    assert error.value.remedy and error.value.file == str(path)


def test_lines_of_text_may_begin_like_a_magic_number(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("PAR1 is a name.\nPK, too.\n", encoding="utf-8")
    assert list(read_lines(path)) == ["PAR1 is a name.", "PK, too."]
