"""Scores of alignments by hand and by vecalign's scorer; the commands that align and evaluate."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

import paraloom as package
from paraloom.core.beads import Bead
from paraloom.evaluate.alignment import AlignmentScore, score_documents
from paraloom.io.formats.alignments import read_bead_file

BUNDLED = Path(package.__file__).parent / "bundled"

GOLD = [Bead((0,), (0,)), Bead((1,), (1, 2)), Bead((2, 3), (3,)), Bead((), (4,)), Bead((4,), (5,)), Bead((5,), ())]
PREDICTED = [Bead((0,), (0,)), Bead((1,), (1,)), Bead((), (2,)), Bead((2,), (3,)), Bead((3,), (4,)), Bead((4, 5), (5,))]


def test_strict_and_lax_are_those_of_vecaligns_scorer() -> None:
    """vecalign's score.py (of 2019) prints 0.167 0.250 0.200 and 0.667 1.000 0.800 for these two."""
    score = AlignmentScore()
    score.add(GOLD, PREDICTED)
    assert score.strict == pytest.approx((1 / 6, 1 / 4, 0.2))
    assert score.lax == pytest.approx((4 / 6, 1.0, 0.8))


def test_strict_and_lax_are_those_of_a_calculation_by_hand() -> None:
    """vecalign's formulas on beads with a gap, a sentence in two beads, one-sided beads, and an empty one."""
    gold = [((0,), (0,)), ((1, 3), (1,)), ((2,), (2,)), ((3,), (3,)), ((4,), ()), ((), (4,)), ((5,), (5,)), ((), ())]
    predicted = [
        ((0,), (0,)),  # strict
        ((1,), (1,)),  # lax: gold links sentences 1 and 1
        ((2, 3), (2,)),  # lax: gold links sentences 2 and 2
        ((), (3,)),  # wrong: gold does not have this bead
        ((4,), ()),  # strict: gold has this bead
        ((), (4,)),  # strict
        ((5,), (6,)),  # wrong
        ((6,), (5,)),  # wrong
        ((), ()),  # not counted
        ((0,), (0,)),  # repeated: counted once
    ]
    score = AlignmentScore()
    score.add([Bead(*sides) for sides in gold], [Bead(*sides) for sides in predicted])
    # Precision is of the 8 predicted beads. Recall is of the 5 gold beads with both sides: [0]:[0] strictly, and laxly
    # [1, 3]:[1] by way of [1]:[1], and [2]:[2] by way of [2, 3]:[2]; [3]:[3] and [5]:[5] share only one side.
    assert score.strict == pytest.approx((3 / 8, 1 / 5, 6 / 23))
    assert score.lax == pytest.approx((5 / 8, 3 / 5, 30 / 49))


def test_lax_counts_are_those_of_a_plain_reference() -> None:
    rng = random.Random(1)

    def beads() -> list[Bead]:
        return [Bead(*(tuple(sorted(rng.sample(range(12), rng.randrange(4)))) for _ in range(2))) for _ in range(8)]

    def plain(ours: list[Bead], theirs: list[Bead]) -> float:
        links = {link for bead in theirs for link in product(bead.source, bead.target)}
        items = {bead for bead in ours if bead.source or bead.target}
        return sum(bead in theirs or not links.isdisjoint(product(*bead[:2])) for bead in items) / len(items)

    for _ in range(50):
        gold, predicted = beads(), beads()
        both = [[bead for bead in side if bead.source and bead.target] for side in (gold, predicted)]
        if all(both):
            score = AlignmentScore()
            score.add(gold, predicted)
            assert score.lax[:2] == pytest.approx((plain(predicted, gold), plain(both[0], both[1])))


def test_kinds_that_only_one_side_has_are_counted() -> None:
    score = AlignmentScore()
    score.add([Bead((0,), (0,)), Bead((1,), (1, 2))], [Bead((0,), (0,)), Bead((1,), (1,)), Bead((), (2,))])
    assert score.kinds == {(0, 1): (0, 1, 0), (1, 1): (1, 2, 1), (1, 2): (0, 0, 1)}
    missing, extra = score.kinds[1, 2], score.kinds[0, 1]
    assert (missing.precision, missing.recall, missing.f1) == (None, 0.0, 0.0)
    assert (extra.precision, extra.recall, extra.f1) == (0.0, None, 0.0)
    rows = {line.split()[0]: line.split()[1:] for line in score.format().splitlines()}
    assert rows["1:1"] == ["0.5000", "1.0000", "0.6667", "1", "2", "1"]
    assert rows["1:2"] == ["–", "0.0000", "0.0000", "1", "0", "0"]
    assert score.to_dict()["kinds"]["1:2"]["precision"] is None


def test_merged_scores_are_those_of_all_texts_together() -> None:
    together, parts = AlignmentScore(), [AlignmentScore(), AlignmentScore()]
    for part, pair in zip(parts, ((GOLD, PREDICTED), (PREDICTED, GOLD[:2])), strict=True):
        part.add(*pair)
        together.add(*pair)
    pooled = AlignmentScore()
    for part in parts:
        pooled.merge(part)
    assert pooled.to_dict() == together.to_dict() != parts[0].to_dict()


def test_sizes_are_counted_exactly_and_summed_over_texts() -> None:
    score = AlignmentScore()
    score.add(GOLD, GOLD)
    score.add([Bead((0,), (0,))], [Bead((0,), ())])
    assert score.exact == pytest.approx((6 / 7, 6 / 7, 6 / 7))
    by_size = {size: (kind.precision, kind.recall, kind.f1) for size, kind in score.kinds.items()}
    assert by_size[1, 1] == pytest.approx((1.0, 2 / 3, 0.8)) and by_size[1, 0] == pytest.approx((0.5, 1.0, 2 / 3))
    assert list(by_size) == sorted(by_size)
    assert AlignmentScore().strict == (0, 0, 0)


def test_documents_are_scored_by_pairs_of_names() -> None:
    score = score_documents([("a", "b"), ("c", "d")], [("a", "b")])
    assert score.to_dict() == {"precision": 1.0, "recall": 0.5, "f1": pytest.approx(2 / 3), "gold": 2}
    assert str(score) == "precision 1.0000  recall 0.5000  f1 0.6667  of 2 pairs"


def test_a_result_is_formatted_as_text_and_json() -> None:
    score = AlignmentScore()
    score.add(GOLD, GOLD)
    figures = json.loads(json.dumps(score.to_dict()))
    assert figures["strict"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert figures["kinds"]["1:2"]["gold"] == 1
    assert str(score) == score.format() and score.format().endswith(score.signature)


def test_the_commands_align_and_evaluate(paraloom: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    lines = [f"Place {number} and {number + 1000}." for number in range(20)]
    (tmp_path / "a.de").write_text("\n".join([*lines, "Und dieser Rest fehlt im anderen Text ganz."]) + "\n")
    (tmp_path / "a.en").write_text("\n".join(lines) + "\n")
    (tmp_path / "gold").write_text("".join(f"[{i}]:[{i}]\n" for i in range(20)) + "[20]:[]\n")
    status, _, message = paraloom("align", "sentences", "a.de", "a.en", "-o", "a.vecalign")
    assert status == 0 and "20 beads" in message
    status, shown, _ = paraloom("evaluate", "alignment", "a.vecalign", "--gold", "gold")
    assert status == 0 and shown.splitlines()[1].split()[3] == "1.0000"
    status, _, _ = paraloom("align", "sentences", "a.de", "a.en", "-o", "a.de-en.tsv", "--src-lang", "de")
    assert status == 0 and (tmp_path / "a.de-en.tsv").read_text().splitlines()[1].split("\t")[1] == lines[0]
    (tmp_path / "short").write_text("one line\n")
    status, _, message = paraloom("align", "sentences", "a.de", "a.en", "--translations", "short", "-o", "b.tsv")
    assert status == 1 and "short, row 2: " in message and "21" in message
    (tmp_path / "empty").write_text("\n")
    status, _, message = paraloom("align", "sentences", "a.de", "empty", "-o", "b.tsv")
    assert status == 1 and "empty" in message
    assert not (tmp_path / "b.tsv").exists()
    status, _, message = paraloom("align", "sentences", "a.de", "a.en", "-o", "b.foo")
    assert status == 1 and ".vecalign" in message
    status, shown, _ = paraloom("align", "sentences", "a.de", "a.en", "-o", "-")
    assert status == 0 and len(shown.splitlines()) == 21


def test_a_translator_is_used(paraloom: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    """The bundled translator: no word is the same on both sides, so beads cost less with it than without."""
    german = ["Ich habe Hunger.", "Wo ist der Bahnhof?", "Er trinkt Wasser.", "Das Haus ist groß."]
    english = ["I am hungry.", "Where is the station?", "He drinks water.", "The house is big."]
    (tmp_path / "a.de").write_text("\n".join(german) + "\n")
    (tmp_path / "a.en").write_text("\n".join(english) + "\n")
    costs = []
    for options in ((), ("--translator", BUNDLED / "de-en")):
        command = ("align", "sentences", "a.de", "a.en", "--encoder", "none", *options)
        status, _, _ = paraloom(*command, "-o", "a.vecalign", "--force")
        assert status == 0
        beads = read_bead_file(tmp_path / "a.vecalign").beads
        assert [bead.source for bead in beads] == [bead.target for bead in beads] == [(0,), (1,), (2,), (3,)]
        costs.append([float(line.rpartition(":")[2]) for line in (tmp_path / "a.vecalign").read_text().splitlines()])
    assert all(with_translator < without for without, with_translator in zip(*costs, strict=True))


def test_an_aligner_is_evaluated_on_gold_documents(
    paraloom: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    lines = [f"Number {n} and {n + 500}." for n in range(12)]
    document = {"source": lines, "target": lines, "gold": [[[n], [n]] for n in range(12)]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(document) + "\n" + json.dumps(document) + "\n")
    status, shown, _ = paraloom("evaluate", "aligner", "gold.jsonl", "--json")
    assert status == 0 and json.loads(shown)["exact"]["f1"] == 1.0 and json.loads(shown)["kinds"]["1:1"]["gold"] == 24
    for wrong, expected in (
        ({**document, "gold": [[[0], [12]]]}, "row 1: target sentence 12 is out of range: the text has 12"),
        ({"source": []}, "row 1: the line is not a document with gold beads"),
    ):
        (tmp_path / "wrong.jsonl").write_text(json.dumps(wrong) + "\n")
        status, _, message = paraloom("evaluate", "aligner", "wrong.jsonl")
        assert status == 1 and expected in message
