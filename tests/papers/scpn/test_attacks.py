"""Attacks on classifiers: what is written, what the judge keeps, and which labels break, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from paraloom.core.errors import ConfigError, DataError
from paraloom.embed.average import Average, SentenceEncoder
from paraloom.embed.spec import parse_spec
from paraloom.embed.vocabulary import Vocabulary
from paraloom.pairs.scoring.judge import Judge
from paraloom.papers import reproduce_tables
from paraloom.papers.published import published_figures
from paraloom.papers.scpn.attack_tables import ROUND_TRIP, SCPN, _AttackOutcome, _difference, _figures, _orders
from paraloom.papers.scpn.attacks import Attack, Rewording, by_copying, by_one_word, plain_text, reworded
from paraloom.papers.scpn.broken_labels import LabelClassifier, LabeledSplit, Rewordings


class Lengths:
    """A judge by length: the same if the second text is not shorter than the first, less so the other way round."""

    signature = "lengths"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def predict(self, firsts: Sequence[str], seconds: Sequence[str]) -> Any:
        self.asked += zip(firsts, seconds, strict=True)
        return np.array([0.9 if len(b) >= len(a) else 0.6 for a, b in zip(firsts, seconds, strict=True)], np.float32)


class FirstLetter:
    """An encoder that sees the first letter of a text."""

    signature = "first letter"

    def encode(self, texts: Sequence[str]) -> Any:
        return np.array([[ord(text[0]) - ord("m"), 1.0] for text in texts], np.float32)


def test_the_lower_verdict_counts_and_copies_are_not_judged(tmp_path: Path) -> None:
    judge = Lengths()
    calls: list[list[str]] = []

    def write(texts: list[str]) -> list[list[str]]:
        calls.append(texts)
        return [[text, f"{text} x", f"{text} x"] for text in texts]

    attack = Attack("toy", write)
    for _ in range(2):  # the second time from the file
        (group,) = reworded(attack, cast(Judge, judge), ["a b"], tmp_path)
        assert group == [Rewording("a b", 1.0), Rewording("a b x", 0.6)]
        assert all(one.keeps for one in group)
    assert calls == [["a b"]]
    assert judge.asked == [("a b", "a b x"), ("a b x", "a b")]


def test_marks_of_treebanks_are_written_plainly() -> None:
    tokenized = "it 's `` never again '' , writer\\/director -lrb- or not -rrb- , and do n't !"
    assert plain_text([tokenized]) == ["it's \" never again \", writer/director  or not, and don't!"]


def test_one_word_is_replaced_by_its_nearest() -> None:
    words = Vocabulary("word", ["good", "great", "bad", "film"])
    table = np.array([[1, 0], [0.9, 0.1], [0.6, 0.8], [0, 1]], np.float32)
    encoder = SentenceEncoder(parse_spec("word"), {"word": Average(words, table)})
    (group,) = by_one_word(encoder).write(["a good film."])
    assert group[:2] == ["a great film.", "a good bad."]
    assert by_copying().write(["a good film."]) == [["a good film."]]


def test_a_text_breaks_where_a_kept_paraphrase_of_a_right_one_is_wrong() -> None:
    texts, labels = ["aa", "ab", "za", "zb"], np.array([0, 0, 1, 1])
    classifier = LabelClassifier(FirstLetter(), texts, labels, [[] for _ in texts], 2)
    tested = ["ac", "zc", "zd"]
    right = classifier.predict(tested) == np.array([0, 1, 0])
    assert right.tolist() == [True, True, False]
    groups = [[Rewording("zz", 0.9), Rewording("zy", 0.1)], [Rewording("ay", 0.4)], [Rewording("ax", 0.9)]]
    rewordings = Rewordings(groups)
    flipped = rewordings.flipped(classifier, np.array([0, 1, 0]), right)
    # The last text was wrong before.
    assert flipped.tolist() == [True, True, True, False]
    outcome = _AttackOutcome(right[None], flipped[None], rewordings, 0.0)
    assert outcome.broken.tolist() == [[True, False, False]]
    assert outcome.validity.values == [pytest.approx(100 / 3)]
    validity, accuracy, broken, *_, any_meaning, _, added = _figures(outcome)
    assert (accuracy, broken, any_meaning) == tuple(map(pytest.approx, (200 / 3, 100 / 3, 200 / 3)))
    assert validity == pytest.approx(100 / 3) and added is None


def test_what_is_added_has_the_label_of_its_text() -> None:
    texts, labels = ["a", "a", "z", "z", "a", "z"], np.array([0, 0, 1, 1, 0, 1])
    added = [["y"] * 20 if label == 0 else ["b"] * 20 for label in labels]
    assert LabelClassifier(FirstLetter(), texts, labels, added, 2).predict(["y", "b"]).tolist() == [0, 1]


def test_differences_are_of_the_same_texts() -> None:
    ours, theirs = np.array([[True, True, False, False]] * 2), np.array([[True, False, False, False]] * 2)
    difference = _difference(ours, theirs)
    assert difference.value == pytest.approx(25)
    # The root of p (1 - p) / n with p = 1/4, n = 4: 21.7, but for the samples.
    assert (difference.high - difference.value) / 1.96 == pytest.approx(21.7, abs=1.5)


def test_orders_are_those_of_the_paper() -> None:
    rewordings = Rewordings([[Rewording("x", 0.9)], [Rewording("y", 0.9)]])
    some, none = np.array([[True, True]]), np.array([[False, False]])
    before, after = (_AttackOutcome(some, flipped, rewordings, 0.0) for flipped in (some, none))
    sst, trec = (list(_orders(task, {SCPN: [before, after], ROUND_TRIP: [after, after]})) for task in ("SST", "TREC"))
    assert [order.published for order in sst] == [9.0, 21.6, 10.4, 0.2, 0.7]
    assert [order.published for order in trec] == [3.3, 13.4, 14.0, 9.2, 0.7]
    assert [order.ours.value for order in sst[1:]] == [100, 100, 0, 0]
    # The paper's people found translations back more valid for SICK.
    assert trec[0].claim.index(ROUND_TRIP) < trec[0].claim.index(SCPN)
    assert len(published_figures("scpn-attack")["SCPN, SST"]) == 5


def test_texts_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="table 'scpn-attack' needs labeled texts"):
        reproduce_tables("scpn-attack", folder=tmp_path / "tables")
    with pytest.raises(DataError, match="folder of labeled texts not found"):
        LabeledSplit.read(tmp_path / "nowhere", "sst2", 1)
    (tmp_path / "sst2").mkdir()
    (tmp_path / "sst2/all.tsv").write_text("0\ta\n1\tb\n0\tc\n1\td\n", encoding="utf-8")
    with pytest.raises(DataError, match="the task has no test texts"):
        LabeledSplit.read(tmp_path, "sst2", 1)
    with pytest.raises(ConfigError, match="unknown classification task 'trec'"):
        LabeledSplit.read(tmp_path, "trec", 1)


def test_a_split_is_drawn_by_seed(tmp_path: Path) -> None:
    (tmp_path / "trec").mkdir()
    for name, count in (("train", 8), ("test", 4)):
        lines = [f"{'AB'[i % 2]}\tfine\ttext {i}\n" for i in range(count)]
        (tmp_path / f"trec/{name}.tsv").write_text("".join(lines), encoding="utf-8")
    split = LabeledSplit.read(tmp_path, "trec", 1)
    assert sorted(split.test) == [f"text {i}" for i in range(4)]
    assert [int(text[-1]) % 2 for text in split.test] == split.test_labels.tolist()
    texts, labels = split.draw(3, 2)
    assert len(texts) == 3 and [int(text[-1]) % 2 for text in texts] == labels.tolist()
    assert split.draw(3, 2)[0] == texts and split.draw(8, 3)[0] != split.draw(8, 2)[0]
