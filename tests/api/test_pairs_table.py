"""Rows of pairs by number, samples, functions over rows, and the view for notebooks."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from paraloom import as_pairs
from paraloom.api.pairs import Pairs
from paraloom.core.errors import ConfigError


@pytest.fixture
def pairs() -> Pairs:
    return as_pairs([(f"text {n}", f"other {n}") for n in range(2500)])


def test_rows_by_number_and_slices_are_those_of_a_list(pairs: Pairs) -> None:
    rows = pairs.to_list()
    for number in (0, 1, 1023, 1024, 2499, -1, -2500):
        assert pairs[number] == rows[number]
    parts = (slice(3), slice(1020, 1030), slice(-5, None), slice(0, 2500, 700), slice(5, 2), slice(None, None, -999))
    for part in parts:
        assert pairs[part].to_list() == rows[part]
    assert pairs["tgt"][:2] == ["other 0", "other 1"]
    for number in (2500, -2501):
        with pytest.raises(IndexError):
            pairs[number]
    with pytest.raises(KeyError, match="did you mean 'tgt'"):
        pairs["tgtt"]


def test_a_sample_has_each_row_at_most_once_and_keeps_the_order(pairs: Pairs) -> None:
    numbers = [int(row["src"].split()[1]) for row in pairs.sample(100, seed=3).to_list()]
    assert len(set(numbers)) == 100 and numbers == sorted(numbers)
    assert pairs.sample(100, seed=3).to_list() == pairs.sample(100, seed=3).to_list() != pairs.sample(100).to_list()
    assert len(as_pairs([("a", "b")]).sample(5)) == 1


def test_functions_change_and_add_columns(pairs: Pairs) -> None:
    mapped = pairs[:3].map(lambda row: {"tgt": row["tgt"].upper(), "n": len(row["src"])})
    assert [(row["tgt"], row["n"]) for row in mapped] == [(f"OTHER {n}", 6) for n in range(3)]
    with pytest.raises(ConfigError, match="the same columns"):
        pairs[:3].map(lambda row: {row["src"]: 1}).to_list()


def test_the_view_of_a_notebook_escapes_texts_and_says_how_many_there_are() -> None:
    view = as_pairs([("<script>alert(1)</script>", "a & b")] * 12).score("overlap")._repr_html_()

    class Tags(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.found: list[str] = []

        def handle_starttag(self, tag: str, attrs: object) -> None:
            self.found.append(tag)

    tags = Tags()
    tags.feed(view)
    assert "script" not in tags.found and tags.found.count("tr") == 11
    assert "a &amp; b" in view and "12 pairs, the first 10" in view and "trigram_overlap" in view
