"""`evaluate alignment` over files: pooled figures, one alignment cut at delimiters, bad input by file and row."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from paraloom import api
from paraloom.core.beads import Bead
from paraloom.io.formats.alignments import write_beads

Paraloom = Callable[..., tuple[int, str, str]]

FIRST = "[0]:[0]\n[1, 3]:[1]\n[2]:[2]\n[3]:[3]\n"
SECOND = "[0]:[0]\n[1]:[1]\n[]:[2]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two pairs of texts of 4:4 and 2:3 sentences, aligned one by one and as one text, and their gold."""
    for name, content in {
        "first.gold": FIRST,
        "second.gold": SECOND,
        "first.vecalign": "[0]:[0]\n[1]:[1]\n[2]:[2]\n[3]:[3]\n",
        "second.vecalign": "[0, 1]:[0]\n[]:[1]\n[]:[2]\n",
        "all.vecalign": "[0]:[0]\n[1]:[1]\n[2]:[2]\n[3]:[3]\n[4]:[4]\n[5, 6]:[5]\n[]:[6]\n[]:[7]\n",
        "all.de": "a\nb\nc\nd\n.EOA\na\nb\n",
        "all.en": "a\nb\nc\nd\n.EOA\na\nb\nc\n",
        "first.de": "a\nb\nc\nd\n",
        "first.en": "a\nb\nc\nd\n",
    }.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


GOLD = ("--gold", "first.gold", "--gold", "second.gold")
CUT = ("--hard-delimiter", ".EOA", "--source", "all.de", "--target", "all.en", *GOLD)


def test_each_file_has_its_figures_beside_the_pooled_ones(paraloom: Paraloom, folder: Path) -> None:
    command = ("evaluate", "alignment", "first.vecalign", "second.vecalign", *GOLD)
    status, shown, message = paraloom(*command, "--json")
    assert status == 0, message
    report = json.loads(shown)
    first, second = report["files"]
    assert (first["beads"], first["gold"]) == ("first.vecalign", "first.gold")
    # By hand: 3 of 4 beads right, the gold has 4; 1 of 3 right ([]:[2]), none of the gold's 2 with both sides.
    assert first["strict"] == pytest.approx({"precision": 3 / 4, "recall": 3 / 4, "f1": 3 / 4})
    assert second["strict"] == {"precision": pytest.approx(1 / 3), "recall": 0.0, "f1": 0.0}
    assert report["strict"]["precision"] == pytest.approx(4 / 7) and report["strict"]["recall"] == pytest.approx(3 / 6)
    assert report["pairs"] == 2 and report["crossing"] is None
    kind = report["kinds"]["1:1"]
    assert (kind["gold"], kind["predicted"], kind["correct"]) == (5, 4, 3)
    lines = paraloom(*command)[1].splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["first.gold", "second.gold", "pooled"]
    assert lines[1].split()[1:4] == ["0.7500"] * 3 and lines[3].split()[1] == "0.5714"


def test_one_alignment_is_cut_at_delimiters(paraloom: Paraloom, folder: Path) -> None:
    """The figures are those of the documents' own alignments; a delimiter at the end changes nothing."""
    separate = api.evaluate_alignment_files(["first.vecalign", "second.vecalign"], ["first.gold", "second.gold"])
    for end in ("", ".EOA\n"):
        for text in ("all.de", "all.en"):
            path = folder / text
            path.write_text(path.read_text() + end)
        status, shown, message = paraloom("evaluate", "alignment", "all.vecalign", *CUT, "--json")
        assert status == 0, message
        report = json.loads(shown)
        assert report["crossing"] == 0
        for own, other in zip(report["files"], separate.to_dict()["files"], strict=True):
            assert own.pop("beads") == "all.vecalign" and other.pop("beads")
            assert own == other
        assert report["strict"] == separate.pooled.strict.to_dict()
    (folder / "all.vecalign").write_text("[0]:[0]\n[1]:[1]\n[2]:[2]\n[3, 4, 5]:[3, 4, 5]\n[6]:[6]\n[]:[7]\n")
    shown = paraloom("evaluate", "alignment", "all.vecalign", *CUT)[1]
    assert "1 bead crosses a hard delimiter" in shown


def test_the_aligners_own_output_is_cut(paraloom: Paraloom, folder: Path) -> None:
    """`align sentences --hard-delimiter` writes the delimiters as beads of their own."""
    aligned = ("align", "sentences", "all.de", "all.en", "--hard-delimiter", ".EOA", "-o", "ours.ladder")
    assert paraloom(*aligned)[0] == 0
    status, shown, message = paraloom("evaluate", "alignment", "ours.ladder", *CUT, "--json")
    assert status == 0, message
    assert json.loads(shown)["crossing"] == 0


def test_texts_decide_about_sentences_that_the_alignment_leaves_out(paraloom: Paraloom, folder: Path) -> None:
    (folder / "short.vecalign").write_text("[0]:[0]\n[1]:[1]\n")
    command = ("evaluate", "alignment", "short.vecalign", "--gold", "first.gold")
    status, _, message = paraloom(*command)
    assert status == 1 and "first.gold, row 2: source sentence 3 is out of range: the text of short.vecalign" in message
    assert "--source and --target" in message
    assert paraloom(*command, "--source", "first.de", "--target", "first.en")[0] == 0
    (folder / "gaps.vecalign").write_text("[0]:[0]\n[2]:[2]\n")
    assert paraloom("evaluate", "alignment", "gaps.vecalign", "--gold", "first.gold")[0] == 0


def test_gold_that_ends_long_before_its_text_is_a_warning(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files in the wrong order: the second gold has 2 and 3 sentences, the text 4 and 4."""
    monkeypatch.chdir(folder)
    with pytest.warns(UserWarning, match="second.gold names 2 of the 4 source sentences of first.de") as caught:
        api.evaluate_alignment_files("first.vecalign", "second.gold", source="first.de", target="first.en")
    assert len(caught) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        api.evaluate_alignment_files("first.vecalign", "first.gold", source="first.de", target="first.en")


@pytest.mark.parametrize(
    ("files", "arguments", "expected"),
    [
        pytest.param(
            {"first.gold": "[0]:[0]\n\n[1]:[9]\n"},
            ("first.vecalign", "--gold", "first.gold"),
            "first.gold, row 3: target sentence 9 is out of range: the text of first.vecalign has 4 sentences",
            id="gold of another text",
        ),
        pytest.param(
            {"first.gold": "0 0\n1 1\n9 2\n"},
            ("first.vecalign", "--gold", "first.gold", "--source", "first.de", "--target", "first.en"),
            "first.gold, row 3: source sentence 8 is out of range: first.de has 4 sentences",
            id="ladder of another text",
        ),
        pytest.param(
            {"first.vecalign": "[0]:[0]\n[1]:[4]\n"},
            ("first.vecalign", "--gold", "first.gold", "--source", "first.de", "--target", "first.en"),
            "first.vecalign, row 2: target sentence 4 is out of range: first.en has 4 sentences",
            id="beads of another text",
        ),
        pytest.param(
            {"second.gold": "[0]:[0]\n[2]:[0]\n"},
            ("all.vecalign", *CUT),
            "second.gold, row 2: source sentence 2 is out of range: document 2 of all.de (rows 6 to 7) has 2 sentences",
            id="gold of another document",
        ),
        pytest.param(
            {"first.gold": ""},
            ("first.vecalign", "--gold", "first.gold"),
            "first.gold: the file is empty",
            id="gold",
        ),
        pytest.param(
            {"first.vecalign": "\n"},
            ("first.vecalign", "--gold", "first.gold"),
            "first.vecalign: the file has no beads",
            id="no beads",
        ),
        pytest.param({"all.en": "\n"}, ("all.vecalign", *CUT), "all.en: the file has no sentences", id="empty text"),
        pytest.param(
            {"first.gold": "[0]:[0]\n[1]-[1]\n"},
            ("first.vecalign", "--gold", "first.gold"),
            "first.gold, row 2: expected a bead, got '[1]-[1]'",
            id="malformed",
        ),
        pytest.param(
            {},
            ("first.vecalign", "second.vecalign", "--gold", "first.gold"),
            "expected as many gold files as files of beads, 2, got 1",
            id="numbers",
        ),
        pytest.param(
            {},
            ("first.vecalign", "--gold", "first.gold", "--source", "first.de"),
            "expected as many texts of each side as files of beads, 1, got 1 source texts and 0 target texts",
            id="one text",
        ),
        pytest.param(
            {},
            ("all.vecalign", "--hard-delimiter", ".EOA", *GOLD),
            "a hard delimiter needs one file of beads and both of its texts",
            id="delimiter without texts",
        ),
        pytest.param(
            {"all.de": "a\nb\nc\nd\nx\na\nb\n"},
            ("all.vecalign", *CUT),
            "all.de, row 1: expected 2 documents separated by '.EOA' in the source, one for each gold file, got 1 "
            "(the delimiter does not occur between sentences); they diverge at document 1: rows 1 to 7 have 7 "
            "sentences, and first.gold names 4",
            id="missing delimiter",
        ),
        pytest.param(
            {"all.en": "a\nb\nc\nd\n.EOA\na\nb\n.EOA\nc\n"},
            ("all.vecalign", *CUT),
            "all.en, row 6: expected 2 documents separated by '.EOA' in the target, one for each gold file, got 3; "
            "they diverge at document 2: rows 6 to 7 have 2 sentences, and second.gold names 3",
            id="superfluous delimiter",
        ),
    ],
)
def test_bad_input_is_named_by_file_and_row(
    files: dict[str, str], arguments: tuple[str, ...], expected: str, paraloom: Paraloom, folder: Path
) -> None:
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    status, shown, message = paraloom("evaluate", "alignment", *arguments)
    assert (status, shown) == (1, "")
    assert expected in message


def test_the_published_gold_scores_itself_perfectly(data: Path) -> None:
    """Its 422 beads: two have gaps. Texts check the indices."""
    folder = data / "align" / "vecalign-dev"
    gold = folder / "dev.defr"
    report = api.evaluate_alignment_files(gold, gold, source=folder / "dev.de", target=folder / "dev.fr")
    assert report.pooled.strict == report.pooled.lax == (1.0, 1.0, 1.0)
    assert sum(counts.gold for counts in report.pooled.kinds.values()) == 422


def test_two_real_texts_cut_from_one_have_the_figures_of_their_own(data: Path, tmp_path: Path) -> None:
    """The yearbook and hunalign's magazine below each other, aligned one sentence to one."""
    pairs = [
        ("vecalign-dev/dev.de", "vecalign-dev/dev.fr", "vecalign-dev/dev.defr"),
        ("hunalign-hu-en/dtm.hu", "hunalign-hu-en/dtm.en", "hunalign-hu-en/dtm.hand.ladder"),
    ]
    texts: list[list[str]] = [[], []]
    all_beads: list[Bead] = []
    files = []
    for number, names in enumerate(pairs):
        lines = [(data / "align" / name).read_text(encoding="utf-8").splitlines() for name in names[:2]]
        beads = [Bead((index,), (index,)) for index in range(min(map(len, lines)))]
        files.append(tmp_path / f"{number}.vecalign")
        write_beads(files[-1], beads)
        if number:
            for side in texts:
                side.append(".EOA")
        starts = [len(side) for side in texts]
        all_beads += [Bead((starts[0] + i,), (starts[1] + j,)) for (i,), (j,), _ in beads]
        for side, own in zip(texts, lines, strict=True):
            side += own
    write_beads(tmp_path / "all.vecalign", all_beads)
    for name, side in zip(("source", "target"), texts, strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in side), encoding="utf-8")
    gold = [data / "align" / names[2] for names in pairs]
    cut = api.evaluate_alignment_files(
        tmp_path / "all.vecalign",
        gold,
        source=tmp_path / "source",
        target=tmp_path / "target",
        hard_delimiter=".EOA",
    )
    sources = [data / "align" / names[0] for names in pairs]
    targets = [data / "align" / names[1] for names in pairs]
    separate = api.evaluate_alignment_files(files, gold, source=sources, target=targets)
    assert cut.pooled.to_dict() == separate.pooled.to_dict()
    assert [file.score.to_dict() for file in cut.files] == [file.score.to_dict() for file in separate.files]
    assert 0 < cut.pooled.lax.f1 < 1
