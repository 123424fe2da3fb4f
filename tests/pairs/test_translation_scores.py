"""Scores that ask translators: formulas by hand, pivots that are given or made, each text translated once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from paraloom import as_pairs, backtranslate
from paraloom.core.errors import ConfigError
from paraloom.core.protocols import ScoringTranslatorLike, Variant
from paraloom.core.schema import signature_of
from paraloom.mt import Translator
from paraloom.pairs.scoring.table import score
from paraloom.pairs.scoring.translation import translation_scorers


class Table:
    """Looks translations up; the log-probability of a pair is minus the number of characters in which sides differ."""

    def __init__(self, name: str, words: dict[str, str]) -> None:
        self.signature = f"table|{name}"
        self.words = words
        self.translated: list[str] = []
        self.scored = 0

    def translate(self, sentences: Sequence[str], *, seed: int = 0) -> list[list[Variant]]:
        self.translated += sentences
        return [[Variant(self.words[text], -1.0, 2)] for text in sentences]

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[tuple[float, int]]:
        self.scored += len(sources)
        return [(-float(abs(len(s) - len(t))), len(t.split()) + 1) for s, t in zip(sources, targets, strict=True)]


FORWARD = {"ein Hund": "a dog"}
REVERSE = {"a dog": "ein Hund", "one dog here": "ein Hund hier", "the cat": "die Katze"}
ROWS = [
    {"src": "a dog", "tgt": "one dog here", "pivot": "ein Hund"},
    {"src": "a dog", "tgt": "the cat", "pivot": "ein Hund"},
    {"src": "a dog", "tgt": "", "pivot": "ein Hund"},
]


def scores(rows: list[dict[str, str]], forward: Table | None, reverse: Table | None) -> list[dict[str, float]]:
    batch = score(pa.RecordBatch.from_pylist(rows), translation_scorers(forward, reverse))
    return batch.drop_columns([name for name in ("src", "tgt", "pivot") if name in batch.schema.names]).to_pylist()


def test_costs_by_hand() -> None:
    first, second, empty = scores(ROWS, Table("f", FORWARD), Table("r", REVERSE))
    # |len("ein Hund") - len("one dog here")| = 4 over 4 tokens; back, the same 4 over the 3 tokens of "ein Hund".
    assert first["forward_cost"] == pytest.approx(4 / 4) and first["reference_cost"] == pytest.approx(3 / 3)
    assert first["reverse_cost"] == pytest.approx(4 / 3)
    assert first["reverse_cost_gap"] == pytest.approx(4 / 3 - 3 / 3)
    # Junczys-Dowmunt 2018: |H_A - H_B| + (H_A + H_B) / 2.
    assert first["dual_cross_entropy"] == pytest.approx(abs(1 - 4 / 3) + (1 + 4 / 3) / 2)
    assert second["forward_cost"] == pytest.approx(1 / 3) and second["reverse_cost"] == pytest.approx(1 / 3)
    assert empty["reference_cost"] == pytest.approx(1)
    assert {name for name, value in empty.items() if value is None} == {
        *("forward_cost", "reverse_cost", "reverse_cost_gap", "round_trip_chrf", "dual_cross_entropy")
    }


def test_the_round_trip_is_chrf_against_the_pivot() -> None:
    sacrebleu = pytest.importorskip("sacrebleu", reason="pip install 'paraloom[evaluate]'")
    rows = scores(ROWS, None, Table("r", REVERSE))
    for row, returned in zip(rows, ("ein Hund hier", "die Katze"), strict=False):
        expected = sacrebleu.sentence_chrf(returned, ["ein Hund"]).score
        assert row["round_trip_chrf"] == pytest.approx(expected, abs=1e-4)
    assert "forward_cost" not in rows[0] and "dual_cross_entropy" not in rows[0]


def test_a_pivot_is_made_where_there_is_none_and_each_text_is_translated_once() -> None:
    rows = [{"src": row["src"], "tgt": row["tgt"]} for row in ROWS] * 3
    forward, reverse = Table("f", FORWARD), Table("r", REVERSE)
    assert isinstance(forward, ScoringTranslatorLike)
    assert scores(rows, forward, reverse)[:3] == scores(ROWS, Table("f", FORWARD), Table("r", REVERSE))
    assert reverse.translated == ["a dog", "one dog here", "the cat"]  # the pivot, then the round trips
    assert forward.scored == 3 and reverse.scored == 3


def test_without_a_pivot_and_a_reverse_translator_there_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"pairs without the column 'pivot' need a reverse translator"):
        scores([{"src": "a", "tgt": "b"}], Table("f", FORWARD), None)


class Costs:
    """Costs of a development text, two in three of which are below 0.5."""

    def ranks(self, costs: object) -> npt.NDArray[np.float32]:
        return np.where(np.asarray(costs) > 0.5, np.float32(2 / 3), np.float32(0))


def test_the_depth_of_a_reverse_translator_is_a_figure_of_each_row() -> None:
    reverse = Table("r", REVERSE)
    reverse.costs = Costs()  # type: ignore[attr-defined]
    first, _, empty = scores(ROWS, None, reverse)
    # A cost of 0.5 nats per subword: -1 over two.
    assert first["reverse_out_of_depth"] == 0 and reverse.translated == ["one dog here", "the cat"]
    assert empty["round_trip_chrf"] is None
    assert "reverse_out_of_depth" not in scores(ROWS, None, Table("r", REVERSE))[0]


class Sampler(Table):
    """Three translations of each sentence."""

    samples = ("ab", "ab", "a")

    def translate(self, sentences: Sequence[str], *, seed: int = 0) -> list[list[Variant]]:
        self.translated += sentences
        return [[Variant(text, -1.0, 2) for text in self.samples] for _ in sentences]


def test_agreement_by_hand() -> None:
    sampler = Sampler("s", {})
    rows = [{"src": "x", "tgt": tgt, "pivot": pivot} for tgt in ("ab", "ac", "") for pivot in ("p", "q", "")]
    batch = score(
        pa.RecordBatch.from_pylist([*rows, *rows]),
        translation_scorers(None, Table("r", {"x": "r", "ab": "p", "ac": "q"}), sampler=sampler),
    )
    values = batch.column("agreement").to_pylist()
    # chrF of "ab" against "ab" is 100, against "a" 500/6; that of "ac" against "ab" 25 (tests/text/test_utility.py).
    expected = [*[(200 + 500 / 6) / 3] * 3, *[(50 + 500 / 6) / 3] * 3]
    assert values[:6] == pytest.approx(expected, abs=1e-4) and values[6:9] == [None] * 3
    assert values[9:] == values[:9]
    assert sampler.translated == ["p", "q", "r"]  # each pivot once; the third was made
    signature = signature_of(batch.schema.field("agreement"))
    assert signature is not None and "model:table/s" in signature


def test_agreement_is_asked_for_with_a_translator() -> None:
    pairs = as_pairs([{"src": "Good morning", "tgt": "Morning", "pivot": "Guten Morgen"}] * 2)
    first, second = pairs.score("length", translator="de-en", agreement_samples=4).to_list()
    assert 0 < first["agreement"] == second["agreement"] <= 100
    assert "agreement" not in pairs.score("length", translator="de-en").to_list()[0]
    with pytest.raises(ConfigError, match="'agreement_samples' needs a translator"):
        pairs.score("length", agreement_samples=4)
    with pytest.raises(ConfigError, match="'agreement_samples' must be 2 or more"):
        pairs.score("length", translator="de-en", agreement_samples=1)
    with pytest.raises(ConfigError, match=r"--with agreement --translator TRANSLATOR"):
        pairs.score("agreement")
    sixteen = pairs.score("agreement", translator="de-en").to_list()[0]["agreement"]
    assert sixteen == pairs.score("length", translator="de-en", agreement_samples=16).to_list()[0]["agreement"]


def test_signatures_name_the_models() -> None:
    batch = score(pa.RecordBatch.from_pylist(ROWS), translation_scorers(Table("f", FORWARD), Table("r", REVERSE)))
    signature = signature_of(batch.schema.field("dual_cross_entropy"))
    assert signature is not None and "model:table/f + table/r" in signature


def test_pairs_are_scored_by_the_translator_that_made_them(toy_translator: Path) -> None:
    translator = Translator.load(toy_translator, decode="greedy")
    pairs = backtranslate([("rako gor mili dasat", "the big dog sees the cat")], translator, check_languages=False)
    (row,) = pairs.score("length", translator=translator).to_list()
    assert row["pivot"] == "rako gor mili dasat"
    assert row["forward_cost"] == pytest.approx(-row["logprob"] / row["tokens"], abs=1e-3)
    (given,) = as_pairs([("the big dog", "rako gor")]).score("length", reverse_translator=toy_translator).to_list()
    assert given["reverse_cost"] > 0 and "forward_cost" not in given
