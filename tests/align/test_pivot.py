"""Pairs of documents checked and completed by further languages: the rule by pencil, the stage, the command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from paraloom.align.document_pairs import NamedPair, read_document_pairs, write_document_pairs
from paraloom.align.pivot import agree, turned_as_met
from paraloom.core.errors import ConfigError, DataError
from paraloom.stages.documents import PivotDocuments

Command = Callable[..., tuple[int, str, str]]


def names(pairs: list[NamedPair]) -> list[tuple[str, str]]:
    return [(pair.source, pair.target) for pair in pairs]


def test_a_language_in_which_both_have_another_counterpart_parts_them() -> None:
    direct = [NamedPair("a", "x", 0.8)]
    there, back = [NamedPair("a", "1", 0.9)], [NamedPair("2", "x", 0.85)]
    assert agree(direct, [(there, back)]) == []
    # What speaks against the pair is the lower of the two scores: at 0.7 it is less than the pair's own.
    assert names(agree(direct, [(there, [NamedPair("2", "x", 0.7)])])) == [("a", "x")]


def test_languages_are_weighed_against_each_other() -> None:
    direct = [NamedPair("a", "x", 0.1)]
    against = [NamedPair("a", "1", 0.9)], [NamedPair("2", "x", 0.9)]
    supports = [NamedPair("a", "k", 0.85)], [NamedPair("k", "x", 0.95)]
    assert agree(direct, [against]) == []
    assert names(agree(direct, [against, supports])) == [("a", "x")]
    assert agree(direct, [against, supports, against]) == []


def test_a_language_that_lacks_either_document_says_nothing() -> None:
    direct = [NamedPair("a", "x", 0.01)]
    assert agree(direct, [([NamedPair("a", "1", 0.9)], [NamedPair("1", "y", 0.9)])])[0] == direct[0]


def test_what_is_in_no_pair_is_brought_together_once_the_surest_first() -> None:
    there = [NamedPair("a", "1", 0.9), NamedPair("b", "2", 0.8)]
    back = [NamedPair("1", "x", 0.5), NamedPair("2", "y", 0.8)]
    other = [NamedPair("a", "k", 0.7)], [NamedPair("k", "y", 0.6)]
    # a and x: .5; b and y: .8; a and y: .6, but y is taken by then.
    assert agree([], [(there, back), other]) == [NamedPair("b", "y", 0.4, 0.0), NamedPair("a", "x", 0.25, 0.0)]


def test_files_are_turned_as_their_names_demand() -> None:
    there, back = turned_as_met([NamedPair("1", "a", 0.5)], [NamedPair("x", "1", 0.7)], {"a"})
    assert (names(list(there)), names(list(back))) == ([("a", "1")], [("1", "x")])
    with pytest.raises(DataError, match="no document of the source"):
        turned_as_met([NamedPair("1", "2")], [], {"a"})
    with pytest.raises(DataError, match="no document of the further language"):
        turned_as_met([NamedPair("a", "1")], [NamedPair("p", "q")], {"a"})


def test_the_command_writes_what_stands(paraloom: Command) -> None:
    write_document_pairs("direct.tsv", [NamedPair("a", "x", 0.5), NamedPair("b", "y", 0.5)])
    write_document_pairs("there.tsv", [NamedPair("1", "a", 0.9), NamedPair("3", "c", 0.9)])
    write_document_pairs("back.tsv", [NamedPair("2", "x", 0.9), NamedPair("3", "z", 0.8)])
    call = ["align", "agree", "direct.tsv", "-o", "agreed.tsv", "--through"]
    status, _, told = paraloom(*call, "there.tsv,back.tsv")
    assert status == 0 and "2 pairs read, 1 fell, 1 brought together: 2 in agreed.tsv" in told
    assert names(read_document_pairs("agreed.tsv")) == [("b", "y"), ("c", "z")]
    status, _, told = paraloom(*call, "there.tsv")
    assert status == 2 and "not two files" in told
    write_document_pairs("strange.tsv", [NamedPair("p", "q", 0.9)])
    status, _, told = paraloom(*call, "strange.tsv,back.tsv")
    assert (
        status == 1 and "strange.tsv and" in told and "back.tsv: it has" in told and "no document of the source" in told
    )
    assert names(read_document_pairs("agreed.tsv")) == [("b", "y"), ("c", "z")]


def test_each_further_language_has_both_of_its_files() -> None:
    with pytest.raises(ConfigError, match="1 pairs of the source and 2 of the target"):
        PivotDocuments(pairs="p", there=("a",), back=("b", "c"), gold=Path("g"))
