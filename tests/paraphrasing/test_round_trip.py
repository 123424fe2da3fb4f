"""Paraphrases by way of another language, by one translator, and by several paraphrasers together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from paraloom.core.errors import ConfigError
from paraloom.core.protocols import ParaphraserLike, Variant
from paraloom.paraphrasing.candidates import CombinedParaphraser
from paraloom.paraphrasing.round_trip import MonolingualParaphraser, PivotParaphraser


class Table:
    """A translator with fixed variants; its decoding can be chosen if `adjustable`."""

    signature = "table"

    def __init__(self, rows: dict[str, list[Variant]], source: str | None = None, target: str | None = None) -> None:
        self.rows, self.source, self.target = rows, source, target
        self.calls: list[list[str]] = []

    def translate(self, sentences: Sequence[str], *, seed: int = 0) -> list[list[Variant]]:
        self.calls.append(list(sentences))
        return [self.rows.get(text, []) for text in sentences]


class Adjustable(Table):
    def __init__(self, rows: dict[str, list[Variant]]) -> None:
        super().__init__(rows)
        self.decodings: list[str] = []

    def with_decoding(self, decode: Any) -> Adjustable:
        self.decodings.append(decode)
        return self


def test_the_best_path_to_a_text_counts() -> None:
    there = Table({"a film": [Variant("Film", -1.0, 2), Variant("Streifen", -3.0, 2)]})
    back = Table(
        {
            "Film": [Variant("a film", -1.0, 2), Variant("a movie", -5.0, 2)],
            "Streifen": [Variant("a movie", -0.5, 2), Variant("a strip", -6.0, 2, cut=True)],
        }
    )
    first, second, third = PivotParaphraser(there, back).paraphrase("a film")
    assert (first.text, first.logprob, first.tokens, first.pivot) == ("a film", -2.0, 4, "Film")
    assert (second.text, second.logprob, second.pivot) == ("a movie", -3.5, "Streifen")
    assert third.cut
    assert [one.text for one in PivotParaphraser(there, back).paraphrase(["a film"], n=2)[0]] == ["a film", "a movie"]


def test_each_pivot_is_translated_once() -> None:
    there = Table({"a": [Variant("x", -1.0, 1)], "b": [Variant("x", -1.0, 1), Variant(" ", -2.0, 1)], "c": []})
    back = Table({"x": [Variant("d", -1.0, 1)]})
    groups = PivotParaphraser(there, back).paraphrase(["a", "b", "c"])
    assert [[one.text for one in group] for group in groups] == [["d"], ["d"], []]
    assert back.calls == [["x"]]


def test_unknown_probabilities_keep_the_order() -> None:
    there = Table({"a": [Variant("x", math.nan, 1)]})
    back = Table(
        {"x": [Variant("second", math.nan, 1), Variant("", math.nan, 0, reason="empty"), Variant("b", -1.0, 1)]}
    )
    texts = [one.text for one in PivotParaphraser(there, back).paraphrase(["a"])[0]]
    assert texts == ["second", "b", ""]


def test_decodings() -> None:
    there, back = Adjustable({"a": [Variant("x", -1.0, 1)]}), Adjustable({"x": [Variant("b", -1.0, 1)]})
    PivotParaphraser(there, back, pivots=2).paraphrase(["a"], n=8)
    assert (there.decodings, back.decodings) == (["beam:5,nbest=2"], ["beam:8,nbest=8"])
    PivotParaphraser(there, back, decode="sampling").paraphrase(["a"], n=4)
    assert (there.decodings[-1], back.decodings[-1]) == ("sampling,nbest=3", "sampling,nbest=4")
    MonolingualParaphraser(there).paraphrase(["a"], n=3)
    assert there.decodings[-1] == "nucleus:0.95,nbest=3"


@pytest.mark.parametrize("languages", [("en", "de", "fr", "en"), ("en", "de", "de", "fr")])
def test_translators_that_do_not_lead_back(languages: tuple[str, str, str, str]) -> None:
    with pytest.raises(ConfigError, match="do not lead back: en → de, then"):
        PivotParaphraser(Table({}, *languages[:2]), Table({}, *languages[2:]))


def test_languages() -> None:
    round_trip = PivotParaphraser(Table({}, None, "deu"), Table({}, "de", "eng_Latn"))
    assert round_trip.language == "en"
    assert isinstance(round_trip, ParaphraserLike)
    with pytest.raises(ConfigError, match="en → de, which does not paraphrase"):
        MonolingualParaphraser(Table({}, "en", "de"))
    assert MonolingualParaphraser(Table({}, "en", "eng")).language == "en"


@pytest.mark.parametrize("options", [{"pivots": 0}, {}])
def test_counts_below_one(options: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="must be 1 or more, got 0"):
        PivotParaphraser(Table({}), Table({}), **options).paraphrase(["a"], n=0)


def test_candidates_of_several_take_turns() -> None:
    first = MonolingualParaphraser(Table({"a": [Variant("b", -1.0, 1), Variant("c", -1.0, 1), Variant("d", -1.0, 1)]}))
    second = MonolingualParaphraser(Table({"a": [Variant("c", -9.0, 1), Variant("e", -1.0, 1)]}, "en"))
    both = CombinedParaphraser([first, second])
    assert [one.text for one in both.paraphrase(["a"], n=3)[0]] == ["b", "c", "e", "d"]
    assert both.paraphrase(["a"])[0][1].logprob == -9.0
    assert both.language == "en" and both.signature == f"{first.signature}+{second.signature}"
    assert both.paraphrase(["unknown"]) == [[]]
    with pytest.raises(ConfigError, match="a paraphraser is missing"):
        CombinedParaphraser([])
