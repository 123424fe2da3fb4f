"""PPDB: phrase pairs are read from the formats of its releases."""

from __future__ import annotations

import pyarrow as pa
import pytest

from paraloom.core.errors import DataError
from paraloom.io import read_pairs


def test_ppdb_is_read_as_released(tmp_path):
    lines = [
        "[NN] ||| america ||| the united states ||| PPDB2.0Score=3.9 AGigaSim=0.7 ||| 0-1 ||| Equivalence",
        "[NN] ||| broken",
    ]
    (tmp_path / "ppdb-1.0-s-phrasal").write_text("\n".join(lines[:1]) + "\n")
    (batch,) = read_pairs(tmp_path / "ppdb-1.0-s-phrasal")
    assert (batch.column("src").to_pylist(), batch.column("tgt").to_pylist()) == (["america"], ["the united states"])
    (tmp_path / "ppdb-bad").write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match="got 2") as error:
        list(read_pairs(tmp_path / "ppdb-bad"))
    assert error.value.row == 2
    (tmp_path / "ppdb.xxl.b2u.train").write_text("bass\tNN\nfiddle\tNN\ncontrabass\nblack\tJJ\ncat\tNN\nfeline\n")
    table = pa.Table.from_batches(read_pairs(tmp_path / "ppdb.xxl.b2u.train"))
    assert table.column("src").to_pylist() == ["bass fiddle", "black cat"]
    assert table.column("tgt").to_pylist() == ["contrabass", "feline"]
    (tmp_path / "ppdb.cut").write_text("bass\tNN\nfiddle\tNN\ncontrabass\nblack\tJJ\n")
    with pytest.raises(DataError) as error:
        list(read_pairs(tmp_path / "ppdb.cut"))
    assert error.value.row == 4
