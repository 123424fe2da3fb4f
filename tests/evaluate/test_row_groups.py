"""Groups of test sentences by ranges of rows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from paraloom.core.errors import DataError
from paraloom.evaluate.row_groups import read_row_ranges, row_groups
from paraloom.io import read_lines


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("set\tfirst\n", "columns first_row, last_row are missing"),
        ("set\tfirst_row\tlast_row\na\t1\tx\n", "expected a name and two numbers"),
        ("set\tfirst_row\tlast_row\na\t5\t4\n", "invalid rows 5 to 4 of the set 'a'"),
        ("set\tfirst_row\tlast_row\na\t1\t4\nb\t4\t8\n", "'b' shares rows with 'a'"),
    ],
)
def test_an_invalid_table_of_sets_is_refused(tmp_path: Path, table: str, message: str) -> None:
    (tmp_path / "sets.tsv").write_text(table)
    with pytest.raises(DataError, match=message):
        read_row_ranges(tmp_path / "sets.tsv")


def test_the_tables_of_wmt_cover_their_files(data: Path) -> None:
    folder = data / "bitext" / "wmt-news"
    count = sum(1 for _ in read_lines(folder / "is-en.tsv.gz"))
    groups = row_groups(read_row_ranges(folder / "is-en.sets.tsv"), list(range(1, count + 1)))
    assert Counter(names[0] for names in groups) == {"isl-eng": 1000, "eng-isl": 1000}
