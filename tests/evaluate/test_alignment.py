"""Alignment figures by pencil and by vecalign's scorer; beads on disk."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import paraloom as package
from paraloom.core.beads import Bead
from paraloom.core.errors import ConfigError, DataError
from paraloom.evaluate.alignment import AlignmentScore, score_documents
from paraloom.io.formats.alignments import read_beads, write_beads

BUNDLED = Path(package.__file__).parent / "bundled"

GOLD = [Bead((0,), (0,)), Bead((1,), (1, 2)), Bead((2, 3), (3,)), Bead((), (4,)), Bead((4,), (5,)), Bead((5,), ())]
FOUND = [Bead((0,), (0,)), Bead((1,), (1,)), Bead((), (2,)), Bead((2,), (3,)), Bead((3,), (4,)), Bead((4, 5), (5,))]


def test_strict_and_lax_are_counted_as_vecalign_s_scorer_does() -> None:
    """vecalign's score.py (of 2019) prints 0.167 0.250 0.200 and 0.667 1.000 0.800 for these two."""
    score = AlignmentScore()
    score.add(GOLD, FOUND)
    assert score.strict == pytest.approx((1 / 6, 1 / 4, 0.2))
    assert score.lax == pytest.approx((4 / 6, 1.0, 0.8))


def test_kinds_count_exactly_and_sums_over_texts_are_not_means() -> None:
    score = AlignmentScore()
    score.add(GOLD, GOLD)
    score.add([Bead((0,), (0,))], [Bead((0,), ())])
    assert score.exact == pytest.approx((6 / 7, 6 / 7, 6 / 7))
    assert score.by_kind[1, 1] == pytest.approx((1.0, 2 / 3, 0.8))
    assert score.by_kind[1, 0] == pytest.approx((0.5, 1.0, 2 / 3))
    assert list(score.by_kind) == sorted(score.by_kind)
    assert AlignmentScore().strict == (0, 0, 0)


def test_documents_are_pairs_of_names() -> None:
    assert score_documents([("a", "b"), ("c", "d")], [("a", "b")]) == (1.0, 0.5, pytest.approx(2 / 3))


@pytest.mark.parametrize("suffix", [".vecalign", ".ladder", ".parquet"])
def test_beads_come_back_from_every_format(suffix: str, tmp_path: Path) -> None:
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
def test_a_file_that_holds_no_beads_says_where(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "beads.txt").write_text(content)
    with pytest.raises(DataError, match=message):
        read_beads(tmp_path / "beads.txt")


def test_a_name_without_a_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown format '.txt' of beads"):
        write_beads(tmp_path / "beads.txt", GOLD)


def test_the_commands_align_and_measure(paraloom: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    places = [f"Place {number} and {number + 1000}." for number in range(20)]
    (tmp_path / "a.de").write_text("\n".join([*places, "Und dieser Rest fehlt im anderen Text ganz."]) + "\n")
    (tmp_path / "a.en").write_text("\n".join(places) + "\n")
    (tmp_path / "gold").write_text("".join(f"[{i}]:[{i}]\n" for i in range(20)) + "[20]:[]\n")
    status, _, said = paraloom("align", "sentences", "a.de", "a.en", "-o", "a.vecalign")
    assert (status, said) == (0, "aligned: 20 beads of 20 and 20 sentences; without a counterpart: 1 and 0\n")
    status, shown, _ = paraloom("evaluate", "alignment", "a.vecalign", "--gold", "gold")
    assert status == 0 and shown.splitlines()[1].split()[3] == "1.0000"
    status, _, _ = paraloom("align", "sentences", "a.de", "a.en", "-o", "a.de-en.tsv", "--src-lang", "de")
    assert status == 0 and (tmp_path / "a.de-en.tsv").read_text().splitlines()[1].split("\t")[1] == places[0]
    (tmp_path / "short").write_text("one line\n")
    status, _, said = paraloom("align", "sentences", "a.de", "a.en", "--translations", "short", "-o", "b.tsv")
    assert status == 1 and "short, row 2: it has 1 lines, and a.de has 21" in said
    (tmp_path / "empty").write_text("\n")
    status, _, said = paraloom("align", "sentences", "a.de", "empty", "-o", "b.tsv")
    assert status == 1 and "empty: there is no sentence in it" in said
    assert not (tmp_path / "b.tsv").exists()
    status, _, said = paraloom("align", "sentences", "a.de", "a.en", "-o", "b.foo")
    assert status == 1 and "For beads choose .vecalign" in said
    status, shown, _ = paraloom("align", "sentences", "a.de", "a.en", "-o", "-")
    assert status == 0 and len(shown.splitlines()) == 21


def test_a_translator_s_evidence_is_used(paraloom: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    """The bundled translator; no word is the same on both sides, and the second sentence is one too many."""
    german = ["Ich habe Hunger.", "Sie schläft.", "Wo ist der Bahnhof?", "Er trinkt Wasser.", "Das Haus ist groß."]
    english = ["I am hungry.", "Where is the station?", "He drinks water.", "The house is big."]
    (tmp_path / "a.de").write_text("\n".join(german) + "\n")
    (tmp_path / "a.en").write_text("\n".join(english) + "\n")
    translator = BUNDLED / "de-en"
    status, _, _ = paraloom("align", "sentences", "a.de", "a.en", "--translator", translator, "-o", "a.vecalign")
    assert status == 0
    linked = {bead.source: bead.target for bead in read_beads(tmp_path / "a.vecalign")}
    assert linked[2,] == (1,) and linked[3,] == (2,) and linked[4,] == (3,)


def test_an_aligner_is_tried_on_documents_with_gold(
    paraloom: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    lines = [f"Number {n} and {n + 500}." for n in range(12)]
    document = {"source": lines, "target": lines, "gold": [[[n], [n]] for n in range(12)]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(document) + "\n" + json.dumps(document) + "\n")
    status, shown, _ = paraloom("evaluate", "aligner", "gold.jsonl", "--json")
    assert status == 0 and json.loads(shown)["exact"]["f1"] == 1.0 and json.loads(shown)["kinds"]["1:1"]["gold"] == 24
    for wrong, message in (
        ({**document, "gold": [[[0], [12]]]}, "row 1: target sentence 12 is out of range: the text has 12"),
        ({"source": []}, "row 1: the line is not a document with gold beads"),
    ):
        (tmp_path / "wrong.jsonl").write_text(json.dumps(wrong) + "\n")
        status, _, said = paraloom("evaluate", "aligner", "wrong.jsonl")
        assert status == 1 and message in said
