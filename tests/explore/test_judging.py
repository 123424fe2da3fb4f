"""Judging: labels are on the disk at once, resumed, taken back, compared, and in the files that `judge table` reads."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from toy_pairs import toy_pairs, write_toy_pairs

from paraloom.core.errors import ConfigError, DataError
from paraloom.explore.app import Answer, App
from paraloom.explore.judging import Judging, cohen_kappa
from paraloom.explore.library import Library
from paraloom.pairs.annotation import summarize_ratings


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
    metrics = pytest.importorskip("sklearn.metrics", reason="needs scikit-learn: pip install 'paraloom[judge]'")
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
