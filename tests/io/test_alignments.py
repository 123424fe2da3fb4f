"""Files of beads: read and written in every format, malformed lines named."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraloom.core.beads import Bead
from paraloom.core.errors import ConfigError, DataError
from paraloom.io.formats.alignments import read_beads, write_beads

GOLD = [Bead((0,), (0,)), Bead((1,), (1, 2)), Bead((2, 3), (3,)), Bead((), (4,)), Bead((4,), (5,)), Bead((5,), ())]


@pytest.mark.parametrize("suffix", [".vecalign", ".ladder", ".parquet"])
def test_beads_are_read_back_from_every_format(suffix: str, tmp_path: Path) -> None:
    beads = [Bead(bead.source, bead.target, 0.5 * i) for i, bead in enumerate(GOLD)]
    write_beads(tmp_path / f"a{suffix}", beads)
    assert read_beads(tmp_path / f"a{suffix}") == beads


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[0]:[0]\n[1:[1]\n", "row 2: expected a bead, got '.1:.1.'"),
        ("0 0\n1 x\n", "row 2"),
        ("0 0\n2 2\n1 3\n", "row 3: the rungs of the ladder are not in ascending"),
        ("[0]:[0]\n[0]:[1]\n", "source sentence 0 is in two beads"),
        ("[0]:[0]:high\n", "row 1: expected a score, got 'high'"),
    ],
)
def test_a_malformed_file_of_beads_is_named_with_the_row(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "beads.txt").write_text(content)
    with pytest.raises(DataError, match=message):
        read_beads(tmp_path / "beads.txt")


def test_a_name_without_a_format_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"unknown format '\.txt' of beads"):
        write_beads(tmp_path / "beads.txt", GOLD)
