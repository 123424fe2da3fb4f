"""Files of beads: read and written in every format, malformed lines named."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from paraloom.core.beads import Bead
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.schema import LINKS
from paraloom.io.formats.alignments import read_bead_file, read_gold_documents, write_beads
from paraloom.io.shards import write_shard

GOLD = [Bead((0,), (0,)), Bead((1,), (1, 2)), Bead((2, 3), (3,)), Bead((), (4,)), Bead((4,), (5,)), Bead((5,), ())]


@pytest.mark.parametrize("suffix", [".vecalign", ".ladder", ".parquet"])
def test_beads_are_read_back_from_every_format(suffix: str, tmp_path: Path) -> None:
    beads = [Bead(bead.source, bead.target, 0.5 * i) for i, bead in enumerate(GOLD)]
    write_beads(tmp_path / f"a{suffix}", beads)
    assert read_bead_file(tmp_path / f"a{suffix}").beads == beads


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[0]:[0]\n[1:[1]\n", "row 2: expected a bead, got '.1:.1.'"),
        ("0 0\n1 x\n", "row 2"),
        ("0 0\n2 2\n1 3\n", "row 3: the rungs of the ladder are not in ascending"),
        ("[0]:[0]:high\n", "row 1: expected a score, got 'high'"),
        ("0 0\n2000000000 2000000000\n", "row 2: the index 2000000000 is too large"),
        ("0 0\n9000000 9000000\n", "row 2: the bead before this rung has more than 10,000 sentences"),
        ("[0 1]:[0]\n", "row 1: expected an index, got '0 1'"),
        ("[0]:[-1]\n", "row 1: expected a bead"),
        ("[0]:[0]\n1 1\n", "row 2: the file mixes beads of vecalign's format and rungs"),
        ("0 0\n1 1\n[1]:[1]\n", "row 3: the file mixes beads of vecalign's format and rungs"),
        pytest.param(f"[{'9' * 5000}]:[0]\n", "row 1: the index 9{20} is too large", id="vecalign-digits"),
        pytest.param(f"0 0\n{'9' * 5000} 1\n", "row 2: the index 9{20} is too large", id="ladder-digits"),
        pytest.param("x" * 3_000_000, "row 1: expected a bead, got 'x{60}'", id="long"),
    ],
)
def test_a_malformed_file_of_beads_is_named_with_the_row(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "beads.txt").write_text(content)
    with pytest.raises(DataError, match=message):
        read_bead_file(tmp_path / "beads.txt")


def test_published_gold_is_read_as_it_is(tmp_path: Path) -> None:
    """Sentences in two beads, gaps, crossings, missing sentences, and vecalign's optional blanks and costs."""
    (tmp_path / "gold").write_text("[1, 3]:[2]\n[]:[]\n\n[3] : [0,1]:0.25\n[0]:[]:\n")
    file = read_bead_file(tmp_path / "gold")
    assert [bead[:2] for bead in file.beads] == [((1, 3), (2,)), ((3,), (0, 1)), ((0,), ())]
    assert file.rows == [1, 4, 5]
    assert (file.covered("source"), file.covered("target")) == (None, 3)
    (tmp_path / "gold.ladder").write_text("0 0\n1 1\n3 1\n")
    assert read_bead_file(tmp_path / "gold.ladder").rows == [2, 3]


@pytest.mark.parametrize("content", ["", "\n\n", "0 0\n", "[]:[]\n"])
def test_a_file_without_beads_cannot_be_scored(content: str, tmp_path: Path) -> None:
    (tmp_path / "gold").write_text(content)
    with pytest.raises(DataError, match=r"gold: the file (is empty|has no beads)"):
        read_bead_file(tmp_path / "gold")


def test_negative_indices_of_links_are_an_error(tmp_path: Path) -> None:
    write_beads(tmp_path / "links.parquet", [Bead((0,), (0,)), Bead((1,), (-1,))])
    with pytest.raises(DataError, match="row 2: an index is negative"):
        read_bead_file(tmp_path / "links.parquet")


def test_a_name_without_a_format_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"unknown format '\.txt' of beads"):
        write_beads(tmp_path / "beads.txt", GOLD)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("[" * 100_000, id="deep"),
        '{"source": ["\\ud800"], "target": ["a"], "gold": []}',
        '{"source": ["a"], "target": ["a"], "gold": [[[1e999], [0]]]}',
        pytest.param('{"source": ["a"], "target": ["a"], "gold": [[[' + "9" * 5000 + "], [0]]]}", id="digits"),
        '{"source": 3, "target": ["a"], "gold": []}',
    ],
)
def test_a_malformed_gold_document_is_named_with_the_row(line: str, tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_text(line + "\n")
    with pytest.raises(DataError, match="row 1: the line is not a document with gold beads"):
        read_gold_documents(tmp_path / "gold.jsonl")


def test_links_without_indices_are_an_error(tmp_path: Path) -> None:
    for indices in (None, [0, None]):
        columns = [["a"], ["b"], [indices], [[0]], [0.0]]
        table = pa.Table.from_arrays([pa.array(c, f.type) for c, f in zip(columns, LINKS, strict=True)], schema=LINKS)
        write_shard(tmp_path / "links.parquet", table, LINKS)
        with pytest.raises(DataError, match="'src_ids' or 'tgt_ids' is null"):
            read_bead_file(tmp_path / "links.parquet")
