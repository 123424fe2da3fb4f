"""Judging: labels are on the disk at once, resumed, taken back, compared, and in the files that `judge table` reads."""

from __future__ import annotations

import html
import random
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from processes import kill, start, wait_until
from toy_pairs import toy_pairs, write_toy_pairs

from paraloom.core.errors import ConfigError, DataError, RunError
from paraloom.pairs.annotation import cohen_kappa, summarize_ratings
from paraloom.pairs.filtering.judgments import pair_keys, read_judgments, write_judgment_sheet
from paraloom.web import judging as judgings
from paraloom.web.app import Answer, App
from paraloom.web.judging import Judging, locked
from paraloom.web.library import Library


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    library = Library(write_toy_pairs(tmp_path / "toy.parquet"), sheet=tmp_path / "judged" / "sheet.tsv")
    yield App(library)
    library.close()


def post(app: App, path: str, **form: object) -> Answer:
    return app.post(path, {name: [str(value)] for name, value in form.items()})


def draw(app: App, count: int = 2) -> Judging:
    assert post(app, "/judge/draw", by="quality", count=count).location == "/judge"
    return app.library.judging


def label(app: App, rater: str, pair: int, kind: str, value: object) -> str:
    answer = post(app, "/judge/label", rater=rater, pair=pair, kind=kind, label=value)
    assert answer.status == 303
    return answer.location


def test_kappa_against_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="needs scikit-learn: pip install scikit-learn")
    generator = random.Random(1)
    for n in (3, 10, 200):
        first = [generator.randint(1, 3) for _ in range(n)]
        second = [value if generator.random() < 0.6 else generator.randint(1, 3) for value in first]
        assert cohen_kappa(first, second) == pytest.approx(metrics.cohen_kappa_score(first, second))
    assert cohen_kappa([], []) is None and cohen_kappa([1, 1], [1, 1]) is None


def test_a_sheet_is_drawn_from_ranges_once(app: App) -> None:
    judging = draw(app)
    rows = judging.open("ada").rows
    assert len(rows) == 10 and judging.key.is_file()
    texts = {(row["src"], row["tgt"]) for row in toy_pairs().to_pylist()}
    assert all((row["reference"], row["translation"]) in texts for row in rows)
    before = judging.sheet.read_bytes()
    draw(app, 5)
    assert judging.sheet.read_bytes() == before


@pytest.mark.parametrize(("by", "count"), [("nothing", "3"), ("quality", "0"), ("quality", "x"), ("quality", "9" * 9)])
def test_what_cannot_be_drawn_is_an_error(app: App, by: str, count: str) -> None:
    assert b'role="alert"' in post(app, "/judge/draw", by=by, count=count).body
    assert not app.library.judging.exists


def test_labels_are_saved_at_once_and_resumed(app: App) -> None:
    judging = draw(app)
    assert label(app, "ada", 1, "strength", 3) == "/judge/pair?rater=ada&pair=1"
    assert judging.open("ada").rows[0]["strength"] == "3"
    assert label(app, "ada", 1, "fluency", 2) == "/judge/pair?rater=ada&pair=2"
    assert label(app, "ada", 2, "strength", "skip") == "/judge/pair?rater=ada&pair=3"
    page = app.get("/judge/pair", {"rater": ["ada"]}).body.decode()
    assert "Pair 2 of 10, 1 judged" in page.replace("\u202f", "")
    assert "0.8" not in page and "quality" not in page
    assert judging.raters() == ["ada"]


def test_back_takes_labels_back_one_at_a_time(app: App) -> None:
    judging = draw(app)
    label(app, "ada", 1, "strength", 3)
    label(app, "ada", 1, "fluency", 2)
    label(app, "ada", 2, "strength", 1)
    assert label(app, "ada", 2, "fluency", "back") == "/judge/pair?rater=ada&pair=2"
    assert judging.open("ada").rows[1]["strength"] == ""
    assert label(app, "ada", 2, "strength", "back") == "/judge/pair?rater=ada&pair=1"
    assert (judging.open("ada").rows[0]["strength"], judging.open("ada").rows[0]["fluency"]) == ("3", "")
    label(app, "ada", 1, "fluency", "back")
    assert label(app, "ada", 1, "strength", "back") == "/judge/pair?rater=ada&pair=1"
    assert judging.open("ada").labeled == 0


def test_two_raters_and_the_table_of_the_command(app: App) -> None:
    judging = draw(app)
    for rater, shift in (("ada", 0), ("ben", 1)):
        for pair in range(1, 11):
            for kind in ("strength", "fluency"):
                value = 1 + (pair + (shift if kind == "fluency" and pair < 4 else 0)) % 3
                location = label(app, rater, pair, kind, value)
    assert location == "/judge/pair?rater=ben"
    assert "All pairs are judged" in app.get("/judge/pair", {"rater": ["ben"]}).body.decode()
    agreement = {item.kind: item for item in judging.agreement()}
    assert (agreement["strength"].kappa, agreement["strength"].same) == (1.0, 10)
    assert (agreement["fluency"].pairs, agreement["fluency"].same) == (10, 7)
    table = summarize_ratings([judging.path_of("ada"), judging.path_of("ben")], judging.key)
    assert table["agreement"]["fluency"] == pytest.approx(agreement["fluency"].kappa, abs=1e-4)
    page = app.get("/judge", {}).body.decode()
    assert "ada and ben" in page and "70\u202f%" in page


@pytest.mark.parametrize("name", ["", "../x", "a/b", "key", "a b", "x" * 41, "a.b", "\x00"])
def test_names_that_are_not_file_names_are_refused(app: App, name: str) -> None:
    judging = draw(app)
    with pytest.raises(ConfigError, match="invalid name"):
        judging.open(name)
    answer = app.get("/judge/pair", {"rater": [name]})
    assert b'role="alert"' in answer.body


@pytest.mark.parametrize(
    ("pair", "kind", "value"), [(1, "strength", 4), (1, "nothing", 1), (99, "strength", 1), (1, "strength", "x")]
)
def test_unknown_labels_are_refused(app: App, pair: int, kind: str, value: object) -> None:
    judging = draw(app)
    answer = post(app, "/judge/label", rater="ada", pair=pair, kind=kind, label=value)
    assert b'role="alert"' in answer.body
    assert not judging.path_of("ada").exists()


def test_files_that_are_not_copies_are_refused(app: App) -> None:
    judging = draw(app)
    judging.path_of("ada").write_text(judging.sheet.read_text().replace("the", "a"))
    with pytest.raises(DataError, match="not a copy"):
        judging.open("ada")
    lines = judging.sheet.read_text().splitlines()
    lines[2] = lines[2][:-1] + "7\t"
    judging.path_of("ben").write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match="line 3"):
        judging.open("ben")
    judging.sheet.write_text("a\tb\n1\t2\n")
    with pytest.raises(DataError, match="not a sheet"):
        judging.open("cleo")


def test_texts_are_shown_as_they_are_and_quoted_in_the_files(tmp_path: Path) -> None:
    (tmp_path / "formulas.tsv").write_text("src\ttgt\tscore\n=1+1\t'tis so\t0.5\n")
    library = Library(tmp_path / "formulas.tsv")
    try:
        app = App(library)
        post(app, "/judge/draw", by="score", count=1)
        page = app.get("/judge/pair", {"rater": ["ada"]}).body.decode()
        assert "'=1+1" in library.judging.sheet.read_text()
    finally:
        library.close()
    text = re.sub("<[^>]*>", "", page)
    assert "'=1+1" not in text and "=1+1" in text and "''tis" not in text


LABELER = """
import random, sys
from pathlib import Path
from paraloom.web.judging import Judging
sheet, seed, pairs = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
draw = random.Random(seed)
cells = [(pair, kind) for pair in range(pairs) for kind in ("strength", "fluency") if pair % 2 == seed % 2]
draw.shuffle(cells)
for pair, kind in cells:
    value = draw.randint(1, 3)
    Judging(sheet).open("ada").set(pair, kind, value)
    print(pair, kind, value, flush=True)
"""


def acknowledged(said: str) -> dict[tuple[int, str], str]:
    """The labels that a labeler printed, but for half a line at the end."""
    lines = [line.split() for line in said.split("\n")[:-1]]
    return {(int(pair), kind): value for pair, kind, value in lines}


def on_disk(judging: Judging) -> dict[tuple[int, str], str]:
    rows = judging.open("ada").rows
    return {(pair, kind): row[kind] for pair, row in enumerate(rows) for kind in judgings.LABELS if row[kind]}


@pytest.mark.slow
def test_labels_of_two_processes_are_all_on_the_disk(app: App) -> None:
    judging = draw(app, 16)
    labelers = [start(LABELER, judging.sheet, seed, 80) for seed in (1, 2)]
    labels: dict[tuple[int, str], str] = {}
    for labeler in labelers:
        said, message = labeler.communicate()
        assert labeler.returncode == 0, message
        labels |= acknowledged(said)
    assert len(labels) == 160 and on_disk(judging) == labels
    page = app.get("/judge", {}).body.decode()
    assert "80 of 80" in page


@pytest.mark.slow
def test_a_process_that_is_killed_loses_no_label_that_it_acknowledged(app: App, tmp_path: Path) -> None:
    judging = draw(app, 16)
    for attempt in range(4):
        judging.path_of("ada").unlink(missing_ok=True)
        said = tmp_path / f"{attempt}.txt"
        code = f"import sys; sys.stdout = open({str(said)!r}, 'w')\n{LABELER}"
        first, second = start(code, judging.sheet, 1, 80), start(LABELER, judging.sheet, 2, 80)
        wait_until(lambda said=said, n=5 + 7 * attempt: said.exists() and said.read_text().count("\n") >= n, first)
        kill(first)
        labels, message = second.communicate()
        assert second.returncode == 0, message
        present = on_disk(judging)
        assert (acknowledged(said.read_text()) | acknowledged(labels)).items() <= present.items()
        assert len(present) <= len(acknowledged(said.read_text())) + len(acknowledged(labels)) + 1


def test_a_label_is_added_to_those_that_were_given_meanwhile(app: App) -> None:
    judging = draw(app)
    first, second = judging.open("ada"), judging.open("ada")
    first.set(0, "strength", 3)
    second.set(1, "strength", 2)
    assert [row["strength"] for row in second.rows[:2]] == [row["strength"] for row in judging.open("ada").rows[:2]]
    assert on_disk(judging) == {(0, "strength"): "3", (1, "strength"): "2"}
    assert "0 of 10" in app.get("/judge", {}).body.decode() and judging.open("ada").labeled == 0


def test_a_sheet_that_another_process_holds_is_an_error(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    judging = draw(app)
    monkeypatch.setattr(judgings, "_PATIENCE", 0.05)
    with locked(judging.sheet):
        answer = post(app, "/judge/label", rater="ada", pair=1, kind="strength", label=3)
        assert answer.status == 400 and b"another process holds the sheet" in answer.body
        with pytest.raises(RunError):
            judging.open("ada").set(0, "strength", 1)
    assert label(app, "ada", 1, "strength", 3) == "/judge/pair?rater=ada&pair=1"


def test_a_label_before_the_sheet_is_drawn_is_an_error(app: App) -> None:
    for value in ("3", "skip", "back"):
        answer = post(app, "/judge/label", rater="ada", pair=1, kind="strength", label=value)
        assert answer.status == 400 and b"the sheet has not been drawn yet" in answer.body


@pytest.mark.parametrize("count", ["\u00b2", "\u0663", "1_0", "", "1e3", "9" * 5000])
def test_numbers_that_are_none_are_refused(app: App, count: str) -> None:
    answer = post(app, "/judge/draw", by="quality", count=count)
    assert answer.status == 400 and b"Give a number from 1 to 1000" in answer.body
    assert not app.library.judging.exists


@pytest.mark.parametrize("characters", [150_000, pytest.param(10_000_000, marks=pytest.mark.slow)])
def test_long_cells_are_judged(tmp_path: Path, characters: int) -> None:
    words = "word " * (characters // 5)
    (tmp_path / "long.tsv").write_text(f"src\ttgt\tscore\n{words}\t{words[::-1]}\t0.5\n", encoding="utf-8")
    library = Library(tmp_path / "long.tsv")
    try:
        app = App(library)
        assert post(app, "/judge/draw", by="score", count=1).status == 303
        assert len(app.get("/judge/pair", {"rater": ["ada"]}).body) > 2 * characters - 10
        for kind in ("strength", "fluency"):
            label(app, "ada", 1, kind, 3)
        judging = library.judging
        assert "1 of 1" in app.get("/judge", {}).body.decode().replace("\u202f", "")
        assert summarize_ratings([judging.path_of("ada")], judging.key)["raters"] == 1
    finally:
        library.close()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("number\tb\n1\t2\n".encode("utf-16"), "expected text, got UTF-16"),
        (b"\xff\xfe", "expected text, got UTF-16"),
        (b"number\treference\n1\ta\n", "column 'translation' not found"),
        (b"", "the file is empty"),
    ],
)
def test_files_that_are_no_sheets_are_errors(app: App, content: bytes, message: str) -> None:
    judging = draw(app)
    judging.path_of("ada").write_bytes(content)
    for path in ("/judge", "/judge/pair"):
        assert message in html.unescape(app.get(path, {"rater": ["ada"]}).body.decode())
    with pytest.raises(DataError, match=message):
        summarize_ratings([judging.path_of("ada")], judging.key)


def test_a_damaged_key_is_an_error(app: App) -> None:
    judging = draw(app, 1)
    rows = judging.open("ada").rows
    for pair in range(len(rows)):
        for kind in judgings.LABELS:
            label(app, "ada", pair + 1, kind, 2)
    lines = judging.key.read_text().splitlines()
    for column in (1, 3, 4):
        cells = lines[1].split("\t")
        cells[column] = "x"
        judging.key.write_text("\n".join([lines[0], "\t".join(cells), *lines[2:]]) + "\n")
        with pytest.raises(DataError, match="expected a number, got 'x'"):
            summarize_ratings([judging.path_of("ada")], judging.key)


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for sheet, reason in (("x" * 300, b"File name too long"), ("file/sheet.tsv", b"")):
        library = Library(write_toy_pairs(tmp_path / "toy.parquet"), sheet=tmp_path / sheet)
        try:
            app = App(library)
            assert reason in app.get("/judge", {}).body
            answer = post(app, "/judge/draw", by="quality", count=1)
            assert answer.status == 400 and b'role="alert"' in answer.body and reason in answer.body
        finally:
            library.close()


def test_sheets_of_right_and_wrong_are_labeled_with_one_answer(tmp_path: Path) -> None:
    pairs = [(row["src"], row["tgt"]) for row in toy_pairs().slice(0, 3).to_pylist()]
    write_judgment_sheet(tmp_path / "sheet.tsv", pairs)
    library = Library(write_toy_pairs(tmp_path / "toy.parquet"), sheet=tmp_path / "sheet.tsv")
    with closing(library):
        app = App(library)
        page = app.get("/judge/pair", {"rater": ["ada"]}).body.decode()
        assert "Does the second sentence say what the first one says?" in page and 'data-key="0"' in page
        assert "pair=2" in label(app, "ada", 1, "right", 1)
        label(app, "ada", 2, "right", 1)
        assert "pair=2" in label(app, "ada", 3, "right", "back")
        label(app, "ada", 2, "right", 0)
        assert "filter PAIRS --precision" in app.get("/judge", {}).body.decode()
    labels = read_judgments([tmp_path / "sheet.ada.tsv"]).labels
    assert [labels.get(key) for key in pair_keys(*zip(*pairs, strict=True)).tolist()] == [1, 0, None]


def test_a_file_without_a_readable_row_names_the_first_and_why(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"src": 1}\n{"src": "a"}\n')
    with (
        closing(Library(tmp_path / "bad.jsonl")) as library,
        pytest.raises(DataError, match="no pairs found: row 1, 'src' must be text, got 1"),
    ):
        library.get()
