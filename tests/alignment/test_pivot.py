"""Document pairs verified and completed through pivot languages: the rule by hand, the stage, the command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from paraloom.alignment.document_pairs import DocumentPair, read_document_pairs, write_document_pairs
from paraloom.alignment.pivot import apply_pivots, orient_pivot
from paraloom.core.errors import ConfigError, DataError
from paraloom.stages.documents import PivotDocuments

Command = Callable[..., tuple[int, str, str]]


def names(pairs: list[DocumentPair]) -> list[tuple[str, str]]:
    return [(pair.source, pair.target) for pair in pairs]


def test_documents_with_different_counterparts_are_no_longer_paired() -> None:
    direct = [DocumentPair("a", "x", 0.8)]
    to_pivot, to_target = [DocumentPair("a", "1", 0.9)], [DocumentPair("2", "x", 0.85)]
    assert apply_pivots(direct, [(to_pivot, to_target)]) == []
    # The contradiction is the lower of the two scores: 0.7 is less than the pair's own score.
    assert names(apply_pivots(direct, [(to_pivot, [DocumentPair("2", "x", 0.7)])])) == [("a", "x")]


def test_support_and_contradiction_are_summed_over_languages() -> None:
    direct = [DocumentPair("a", "x", 0.1)]
    against = [DocumentPair("a", "1", 0.9)], [DocumentPair("2", "x", 0.9)]
    supports = [DocumentPair("a", "k", 0.85)], [DocumentPair("k", "x", 0.95)]
    assert apply_pivots(direct, [against]) == []
    assert names(apply_pivots(direct, [against, supports])) == [("a", "x")]
    assert apply_pivots(direct, [against, supports, against]) == []


def test_a_language_without_one_of_the_documents_does_not_count() -> None:
    direct = [DocumentPair("a", "x", 0.01)]
    pivot = [DocumentPair("a", "1", 0.9)], [DocumentPair("1", "y", 0.9)]
    assert apply_pivots(direct, [pivot])[0] == direct[0]


def test_unpaired_documents_are_paired_once_by_the_highest_sum() -> None:
    to_pivot = [DocumentPair("a", "1", 0.9), DocumentPair("b", "2", 0.8)]
    to_target = [DocumentPair("1", "x", 0.5), DocumentPair("2", "y", 0.8)]
    other = [DocumentPair("a", "k", 0.7)], [DocumentPair("k", "y", 0.6)]
    # a and x: .5; b and y: .8; a and y: .6, but y is taken by then.
    expected = [DocumentPair("b", "y", 0.4, 0.0), DocumentPair("a", "x", 0.25, 0.0)]
    assert apply_pivots([], [(to_pivot, to_target), other]) == expected


def test_files_are_oriented_by_the_names_they_share() -> None:
    first, second = orient_pivot([DocumentPair("1", "a", 0.5)], [DocumentPair("x", "1", 0.7)], {"a"})
    assert (names(list(first)), names(list(second))) == ([("a", "1")], [("1", "x")])
    with pytest.raises(DataError, match="the first file has no document of the source"):
        orient_pivot([DocumentPair("1", "2")], [], {"a"})
    with pytest.raises(DataError, match="the second file has no document of the pivot language"):
        orient_pivot([DocumentPair("a", "1")], [DocumentPair("p", "q")], {"a"})


@pytest.fixture
def files(tmp_path: Path) -> None:
    write_document_pairs(tmp_path / "direct.tsv", [DocumentPair("a", "x", 0.5), DocumentPair("b", "y", 0.5)])
    write_document_pairs(tmp_path / "first.tsv", [DocumentPair("1", "a", 0.9), DocumentPair("3", "c", 0.9)])
    write_document_pairs(tmp_path / "second.tsv", [DocumentPair("2", "x", 0.9), DocumentPair("3", "z", 0.8)])
    write_document_pairs(tmp_path / "strange.tsv", [DocumentPair("p", "q", 0.9)])


@pytest.mark.usefixtures("files")
def test_the_command_writes_the_verified_pairs(paraloom: Command) -> None:
    status, _, message = paraloom(
        "align", "pivot", "direct.tsv", "--pivot", "first.tsv,second.tsv", "-o", "verified.tsv"
    )
    assert status == 0 and "2 pairs read" in message
    assert names(read_document_pairs("verified.tsv")) == [("b", "y"), ("c", "z")]


@pytest.mark.usefixtures("files")
def test_a_pivot_needs_two_files_that_lead_to_the_target(paraloom: Command) -> None:
    call = ["align", "pivot", "direct.tsv", "-o", "verified.tsv", "--pivot"]
    assert paraloom(*call, "first.tsv")[0] == 2
    status, _, message = paraloom(*call, "strange.tsv,second.tsv")
    assert status == 1 and "strange.tsv and" in message
    assert "second.tsv: the first file has no document of the source" in message
    assert not Path("verified.tsv").exists()


def test_each_pivot_language_needs_both_of_its_files() -> None:
    with pytest.raises(ConfigError):
        PivotDocuments(pairs="p", source_pivot=("a",), pivot_target=("b", "c"), gold=Path("g"))
