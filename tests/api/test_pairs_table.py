"""Rows of pairs by number, samples, functions over rows, and the view for notebooks."""

from __future__ import annotations

import sys
import urllib.request
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paraloom
from paraloom import as_pairs
from paraloom.api import encode_file, mine_lines
from paraloom.api.pairs import Pairs
from paraloom.core.errors import ConfigError, DataError
from paraloom.pairs.scoring.scorer import Scorer


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


def words(src: str, tgt: str) -> int | None:
    return len(tgt.split()) - len(src.split()) if tgt else None


def test_functions_and_scorers_are_scores_beside_named_ones() -> None:
    exclamations = Scorer(
        name="exclamations",
        description="exclamation marks",
        compute=lambda pairs: np.array([text.count("!") for text in pairs.texts("tgt")], np.int32),
    )
    pairs = as_pairs([("a b", "a b c!"), ("a", "b")])
    rows = pairs.score([words, exclamations, "overlap", lambda src, tgt: src == tgt]).to_list()
    assert [(row["words"], row["exclamations"], row["score_4"]) for row in rows] == [(1, 1, 0), (0, 0, 0)]
    assert "trigram_overlap" in rows[0]
    assert pairs.score(words)["words"] == [1.0, 0.0] == paraloom.score(pairs, words)["words"]
    assert pairs.score(exclamations)["exclamations"] == [1, 0]
    for wrong, message in (
        ([words, words], "two functions are called 'words'"),
        ([lambda src, tgt: src], "'score_1' returned 'a b'"),
    ):
        with pytest.raises(ConfigError, match=message):
            pairs.score(wrong).to_list()


def test_a_function_of_a_row_filters_and_its_name_is_the_reason(tmp_path: Path) -> None:
    def is_short(row: dict[str, Any]) -> bool:
        return len(row["tgt"]) < 3

    pairs = as_pairs([("a", "b"), ("c", "d e"), ("f", "g h"), ("i", "j")])
    assert pairs.filter(is_short)["tgt"] == ["b", "j"]
    result = pairs.filter(is_short, sample=1).write(tmp_path / "kept.parquet")
    assert result.stages[0].reasons == {"not: is_short": 2} and result.stages[-1].counts.out == 1
    assert len(pairs.filter(lambda row: False)) == 0
    with pytest.raises(TypeError, match="a condition or a function"):
        pairs.filter(3)  # type: ignore[arg-type]


def test_the_repr_says_rows_and_columns_once_they_are_known(tmp_path: Path) -> None:
    pairs = as_pairs([("a", "b"), ("c", "d")]).score("length")
    assert repr(pairs) == "<Pairs InMemoryPairs → Score, not computed yet>"
    assert len(pairs) == 2
    assert ", 2 rows, 12 columns: pair_id, src, tgt" in repr(pairs)
    pairs.write(tmp_path / "scored")
    assert "scored, 2 rows, 12 columns: pair_id, src" in repr(paraloom.read_pairs(tmp_path / "scored"))


def test_a_page_over_pairs_is_served_until_it_is_closed(pairs: Pairs) -> None:
    page = pairs[:5].explore(browser=False)
    assert page.url in page._repr_html_()
    with urllib.request.urlopen(page.url) as response:
        assert response.status == 200
    page.close()
    with pytest.raises(OSError):
        urllib.request.urlopen(page.url)


def test_sentences_are_searched_and_mined_in_memory(tmp_path: Path) -> None:
    corpus = ["Stocks fell.", "Where is the train station?", "A dog runs.", "The dog is running."]
    one = paraloom.search("Where is the station?", corpus, k=1)
    assert [(hit.row, hit.text) for hit in one] == [(1, corpus[1])]
    (tmp_path / "corpus.txt").write_text("".join(f"{text}\n" for text in corpus))
    assert paraloom.search(["Where is the station?"], tmp_path / "corpus.txt", 1) == [one]
    encoder = paraloom.Encoder.load("english")
    assert encoder.search(["dogs"], corpus, k=9, vectors=encoder.encode(corpus))[0] == encoder.search("dogs", corpus, 9)
    assert encoder.search("dogs", []) == [] and encoder.search([], corpus) == []
    with pytest.raises(DataError, match="1 vectors for 4"):
        encoder.search("dogs", corpus, vectors=encoder.encode(corpus[:1]))
    mined = paraloom.mine(corpus, above=0.5)
    assert {mined[0]["src"], mined[0]["tgt"]} == {"A dog runs.", "The dog is running."} and mined[0]["cosine"] >= 0.5


@pytest.mark.parametrize("name", ["polars", "datasets"])
def test_a_missing_package_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    method = "to_polars" if name == "polars" else "to_dataset"
    with pytest.raises(paraloom.MissingExtraError, match=f"pip install {name}"):
        getattr(as_pairs([("a", "b")]), method)()


def test_wrong_keys_and_numbers_are_errors_that_say_what_is_right(pairs: Pairs) -> None:
    for key in ([0, 2], (0, 1), 0.5):
        with pytest.raises(TypeError, match="rows are known by number or slice, columns by name; got"):
            pairs[key]  # type: ignore[call-overload]
    for call in (pairs.head, pairs.sample):
        with pytest.raises(ValueError, match="'n' must be 0 or more, not -1"):
            call(-1)


def test_no_rows_have_columns(pairs: Pairs) -> None:
    none = pairs[:0]
    assert len(none) == 0 and none["src"] == [] and "src" in none.columns and none.head() == []
    with pytest.raises(KeyError, match="column 'sr' not found; did you mean 'src'"):
        none["sr"]


@pytest.mark.parametrize("copies", [1, 3, 10])
def test_copies_of_a_line_do_not_hide_its_paraphrases(copies: int, tmp_path: Path) -> None:
    """With ten copies, all nearest neighbors of a line were its copies, and no pair was found."""
    pytest.importorskip("faiss", reason="the extra search has faiss")
    texts = ["Stocks fell.", *["A dog is running in the park.", "A dog runs  in the park."] * copies]
    (mined,) = paraloom.mine(texts, encoder="english-small", above=0.8)
    assert {mined["src"], mined["tgt"]} == {"A dog is running in the park.", "A dog runs in the park."}
    assert mined["score"] > 1.5
    lines, vectors = tmp_path / "lines.txt", tmp_path / "vectors.npy"
    lines.write_text("".join(f"{text}\n" for text in texts))
    assert encode_file("english-small", str(lines), vectors) == len(texts)
    assert mine_lines("english-small", lines, str(tmp_path / "out.tsv"), vectors=vectors) == 1


@pytest.mark.filterwarnings("ignore:no two lines")
def test_nothing_mined_is_no_pairs() -> None:
    pytest.importorskip("faiss", reason="the extra search has faiss")
    mined = paraloom.mine(["A cat sleeps.", "Stocks fell.", "The train is late."], above=0.95)
    assert len(mined) == 0 and mined["cosine"] == []


@pytest.mark.parametrize("texts", [[], ["", " "]])
def test_mining_of_no_sentences_names_no_temporary_file(texts: list[str]) -> None:
    for sides in ((texts,), (["A cat sleeps."], texts)):
        with pytest.raises(DataError, match=r"^the texts have no sentences\.\nGive one sentence or more\.$"):
            paraloom.mine(*sides)
