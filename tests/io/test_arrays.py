"""Arrays of .npy files: mapped, and anything else is a plain error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from paraloom.api.first_rows import preview
from paraloom.core.errors import DataError
from paraloom.io.arrays import map_array


def test_an_array_is_mapped(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.ones((2, 3), np.float32))
    assert map_array(tmp_path / "a.npy").tolist() == [[1.0] * 3] * 2
    assert preview(tmp_path / "a.npy").rows == 2


@pytest.mark.parametrize(
    "content", [b"", b"text", b"PK\x03\x04\x00\x00\x93NUMPY", b"\x93NUMPY\x01\x00v\x00{'descr': (", b"\x80\x04."]
)
def test_what_is_no_array(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.npy").write_bytes(content)
    for read in (map_array, preview):
        with pytest.raises(DataError, match="not an array of numbers"):
            read(tmp_path / "a.npy")


def test_an_archive_and_objects_are_no_arrays(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", a=np.ones(2))
    (tmp_path / "a.npz").rename(tmp_path / "a.npy")
    np.save(tmp_path / "b.npy", np.array([{}], object), allow_pickle=True)
    for name in ("a.npy", "b.npy"):
        with pytest.raises(DataError, match="not an array of numbers"):
            map_array(tmp_path / name)


def test_a_header_that_is_no_literal_is_an_error(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((2, 3), np.float32))
    content = (tmp_path / "a.npy").read_bytes()
    for old, new in ((b"'<f4'", b"<f,,4"), (b"(2, 3)", b"(2, ((")):
        (tmp_path / "b.npy").write_bytes(content.replace(old, new))
        with pytest.raises(DataError, match="not an array of numbers"):
            map_array(tmp_path / "b.npy")
