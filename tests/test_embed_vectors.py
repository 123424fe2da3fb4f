"""Vectors of others: the formats in use, capitals, heads, words with blanks, and files that are wrong."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from paraloom.core.errors import DataError
from paraloom.embed.vectors import read_vectors
from paraloom.embed.vocab import Vocabulary

WORDS = Vocabulary("word", ["a", "dog", "paris", "sleeps"])


def write(path: Path, text: str) -> Path:
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.txt.gz"])
@pytest.mark.parametrize("head", ["", "5 2\n"])
def test_words_get_their_vectors(tmp_path: Path, name: str, head: str) -> None:
    text = head + "Dog 9 9\ndog 1 2\nParis 3 4 \nPARIS 7 7\ncat 5 6\nat home 8 8\n"
    given = read_vectors(write(tmp_path / name, text), WORDS, 2)
    assert given.rows.tolist() == [1, 2]
    assert given.vectors.tolist() == [[1, 2], [3, 4]]
    assert given.vectors.dtype == np.float32 and given.lines == 6


@pytest.mark.parametrize(
    ("text", "row", "said"),
    [
        ("a 1 2\ndog 1\n", 2, "1 numbers"),
        ("a 1 2\ndog 1 x\n", 2, "not a number"),
        ("a 1 nan\n", 1, "not finite"),
        ("a 1 2 3\n", 1, "3 numbers"),
        ("3 2\na 1 2\ndog inf 0\n", 3, "not finite"),
        ("cat 1 2\n", None, "none of its 1 words"),
        ("", None, "empty"),
    ],
)
def test_a_wrong_file_is_named_with_its_row(tmp_path: Path, text: str, row: int | None, said: str) -> None:
    path = write(tmp_path / "vectors.txt", text)
    with pytest.raises(DataError, match=said) as caught:
        read_vectors(path, WORDS, 2)
    assert caught.value.row == row and str(caught.value.file).endswith("vectors.txt")
