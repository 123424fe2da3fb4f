"""models, head, help, and what every command prints at its end."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import Command

import paraloom as library
from paraloom.api import list_models, preview
from paraloom.bundled import BUNDLED
from paraloom.core.version import __version__


def scored(folder: Path) -> Path:
    """Two pairs with their overlap."""
    pairs = [("a b c", "a b d"), ("x y", "x y")]
    library.as_pairs(pairs).score(["unigram_overlap"]).write(folder / "scored.parquet", engine="inline")
    return folder / "scored.parquet"


@pytest.mark.parametrize("checksums", [True, False])
def test_head_of_a_damaged_parquet_file(checksums: bool, paraloom: Command, tmp_path: Path) -> None:
    """Checksums of pages are verified; without them, a text that is not UTF-8 is a plain error, too."""
    table = pa.table({"src": ["a letter"], "tgt": ["another letter"]})
    file = tmp_path / "pairs.parquet"
    plain = {"use_dictionary": False, "write_statistics": False, "compression": "none"}
    pq.write_table(table, file, write_page_checksum=checksums, **plain)
    file.write_bytes(file.read_bytes().replace(b"another", b"an\xffther", 1))
    status, out, err = paraloom("head", str(file))
    assert (status, out) == (1, "")
    assert "corrupt" in err
    assert ("CRC" in err) == checksums


def test_models_lists_all_bundled_models_with_their_cards(paraloom: Command) -> None:
    status, out, _ = paraloom("models", "--json")
    models = {model["name"]: model for model in json.loads(out)}
    assert status == 0
    assert set(BUNDLED) <= set(models)
    for name in BUNDLED:
        for fact in ("languages", "license", "measured", "not_for"):
            assert models[name][fact] not in ("", "not stated"), f"{name}: {fact}"
    assert models["de-en"]["kind"] == "translator"
    assert models["de-en"]["languages"] == "de → en"
    assert models["english-small"]["kind"] == "encoder"


def test_models_in_the_cache_are_listed_by_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "translators" / "Helsinki-NLP--opus-mt-de-en-int8"
    folder.mkdir(parents=True)
    for name in ("model.bin", "source.spm"):
        (folder / name).write_bytes(b"x" * 50)
    monkeypatch.setenv("PARALOOM_CACHE", str(tmp_path))
    model = list_models()[-1]
    assert (model.name, model.kind, model.size) == ("opus-mt-de-en", "translator", 100)
    assert model.measured == "not stated"


def test_an_unknown_model_is_an_error_with_the_nearest_name(paraloom: Command) -> None:
    status, _, err = paraloom("models", "englsh")
    assert status == 1
    assert "did you mean 'english'?" in err


def test_head_prints_pairs_with_scores(paraloom: Command, tmp_path: Path) -> None:
    status, out, err = paraloom("head", str(scored(tmp_path)), "-n", "1")
    assert status == 0
    assert out.splitlines() == ["unigram_overlap, src over tgt:", "", "  0.667  a b c", "         a b d"]
    status, out, _ = paraloom("head", str(scored(tmp_path)), "-n", "1", "--all")
    assert out.splitlines()[-1].strip() == "unigram_overlap 0.667" and "src       a b c" in out
    assert f"2 pairs in {tmp_path}/scored.parquet" in err


@pytest.mark.parametrize(
    ("name", "content", "rows", "first"),
    [
        ("a.tsv", "src\ttgt\tcosine\n1999\ty\t0.5\n", 1, {"src": "1999", "tgt": "y", "cosine": 0.5}),
        ("b.tsv", "ein Hund\ta dog\n", 1, {"1": "ein Hund", "2": "a dog"}),
        ("c.jsonl", '{"src": "x", "tgt": "y"}\n', 1, {"src": "x", "tgt": "y"}),
        ("c.csv", 'src,tgt,cosine\n"x, y",z,0.5\n', 1, {"src": "x, y", "tgt": "z", "cosine": 0.5}),
        ("d.csv", "ein Hund;a dog\n", 1, {"1": "ein Hund", "2": "a dog"}),
        ("d.txt", "one\ntwo\n", 2, {"line": "one"}),
        ("f.tsv", "src\ttgt\n", 0, None),
    ],
)
def test_files_of_every_format_can_be_looked_at(
    tmp_path: Path, name: str, content: str, rows: int, first: dict[str, object] | None
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    shown = preview(tmp_path / name)
    assert shown.rows == rows
    assert shown.shown[:1] == (() if first is None else (first,))


def test_vectors_moses_pairs_corpora_and_models_can_be_looked_at(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.float32([[1, 2], [3, 4]]))
    assert preview(tmp_path / "v.npy").shown[0] == {"vector": [1.0, 2.0]}
    for language, text in (("de", "ein Hund"), ("en", "a dog")):
        (tmp_path / f"x.{language}").write_text(f"{text}\n", encoding="utf-8")
    assert preview(f"{tmp_path}/x.{{de,en}}").shown[0]["tgt"] == "a dog"
    library.as_pairs([("a", "b")]).write(tmp_path / "corpus", engine="inline")
    assert preview(tmp_path / "corpus").rows == 1
    assert "encoder" in preview(library.bundled.bundled_path("english") or "").format()


def test_fields_of_objects_have_the_names_that_options_take(tmp_path: Path) -> None:
    table = pa.table({"translation": [{"de": "Ja.", "en": "Yes."}], "words": [["a", "ü"]], "count": [12345]})
    pq.write_table(table, tmp_path / "a.parquet")
    lines = [line.split(maxsplit=1) for line in preview(tmp_path / "a.parquet").format().splitlines()]
    assert lines == [
        *(["translation.de", "Ja."], ["translation.en", "Yes."], ["words", '["a", "ü"]'], ["count", "12345"])
    ]


def test_json_of_head_holds_what_json_can(paraloom: Command, tmp_path: Path) -> None:
    """Undefined scores are null; dates, bytes and ids are text."""

    def refuse(constant: str) -> object:
        raise AssertionError(constant)

    facts = pa.array([{"at": datetime(2020, 1, 2), "price": Decimal("1.10"), "image": b"a\xff", "f": math.nan}])
    pq.write_table(pa.table({"text": ["a"], "score": [math.nan], "facts": facts}), tmp_path / "a.parquet")
    (tmp_path / "a.tsv").write_text("pair_id\tsrc\ttgt\tbleu1\tphone\n007\ta\tb\tnan\t0049\n")
    expected = {"at": "2020-01-02 00:00:00", "price": "1.10", "image": "a\\xff", "f": None}
    for name, row in (
        ("a.parquet", {"text": "a", "score": None, "facts": expected}),
        ("a.tsv", {"pair_id": "007", "src": "a", "tgt": "b", "bleu1": None, "phone": "0049"}),
    ):
        status, out, _ = paraloom("head", str(tmp_path / name), "--json")
        assert (status, json.loads(out, parse_constant=refuse)["shown"]) == (0, [row])


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf", b"\n\n"])
def test_head_of_a_table_without_rows(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    assert preview(tmp_path / "a.csv").format().strip() == ""


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("no.tsv", None, "file not found"),
        ("a.parquet", "x", "not Parquet"),
        ("a.jsonl", "{", "not JSON lines"),
        ("a.csv", 'a,b\n"c"d,e\n', "a.csv, row 2: "),
    ],
)
def test_what_cannot_be_looked_at_is_an_error(
    paraloom: Command, tmp_path: Path, name: str, content: str | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    status, _, err = paraloom("head", str(tmp_path / name))
    assert status == 1
    assert message in err


def test_help_explains_a_command_as_its_option_does(paraloom: Command) -> None:
    status, out, _ = paraloom("help", "train", "encoder")
    assert status == 0
    assert "paraloom train encoder" in out
    assert "--dimension" in out and "--help-all" in out
    status, _, err = paraloom("help", "trian")
    assert status == 2
    assert "Did you mean 'train'?" in err


@pytest.mark.slow
def test_the_package_runs_as_a_module() -> None:
    result = subprocess.run([sys.executable, "-m", "paraloom", "-V"], capture_output=True, text=True, check=True)
    assert result.stdout == f"paraloom {__version__}\n"


def test_a_command_ends_with_rows_and_the_next_command(paraloom: Command, tmp_path: Path) -> None:
    kept = tmp_path / "kept.parquet"
    status, _, err = paraloom("filter", str(scored(tmp_path)), "--where", "unigram_overlap < 1", "-o", str(kept))
    assert status == 0
    assert f"1 pair in {kept}, " in err
    assert "a b c\n         a b d\n" in err
    assert f"Next: paraloom explore {kept}" in err


def test_a_filter_that_keeps_nothing_says_why(paraloom: Command, tmp_path: Path) -> None:
    where = "unigram_overlap < 0.9 and unigram_overlap < 0.5"
    status, _, err = paraloom("filter", str(scored(tmp_path)), "--where", where, "-o", str(tmp_path / "none.parquet"))
    assert status == 0
    assert "unigram_overlap < 0.9 rejected 1; the lowest is 0.6667" in err
    assert "unigram_overlap < 0.5 rejected 1; the lowest is 0.6667" in err
    assert "Next:" not in err
    status, _, err = paraloom(
        "filter", str(scored(tmp_path)), "--where", "length(src) > 9", "-o", str(tmp_path / "none.tsv")
    )
    assert status == 0 and err.count("length(src) > 9") == 1, "no figure to add to the table of counts"


def test_json_has_counts_and_nothing_else(paraloom: Command, tmp_path: Path) -> None:
    output = str(tmp_path / "kept.parquet")
    status, out, err = paraloom(
        "filter", str(scored(tmp_path)), "--where", "unigram_overlap < 1", "-o", output, "--json"
    )
    record = json.loads(out)
    assert status == 0
    assert err == ""
    assert record["output"] == output
    assert record["stages"][-1]["counts"]["rejected"] == 1
    assert record["stages"][-1]["reasons"] == {"not: unigram_overlap < 1": 1}


def test_mining_that_finds_nothing_says_how_near_the_nearest_are(paraloom: Command, tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    text = tmp_path / "text.txt"
    text.write_text("A dog runs.\nA dog sleeps.\nStocks fell sharply.\n", encoding="utf-8")
    status, _, err = paraloom("mine", "english", text, "--above", "0.98", "--below", "0.985", "-o", tmp_path / "m.tsv")
    assert status == 0
    assert "no two lines have a cosine of 0.98 to 0.985; the closest below 0.985 has 0." in err


def test_an_error_does_not_show_the_work_folder(paraloom: Command, tmp_path: Path) -> None:
    output = tmp_path / "out.parquet"
    status, _, err = paraloom(
        "score", str(scored(tmp_path)), "--with", "overlap", "--classifier", str(tmp_path / "none"), "-o", str(output)
    )
    assert status == 1
    assert ".paraloom" not in err
    assert "20-" not in err


def test_a_page_of_files(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "mined.tsv").write_text("src\ttgt\tcosine\nA dog.\tThe dog.\t0.9\nA\tB\t0.8\n", encoding="utf-8")
    page = tmp_path / "page.html"
    status, out, _ = paraloom("report", str(scored(tmp_path)), str(tmp_path / "mined.tsv"), "-o", str(page))
    html = page.read_text(encoding="utf-8")
    assert status == 0
    assert out == f"{page}\n"
    assert "<h2>scored.parquet</h2>" in html
    assert 'id="score-unigram_overlap"' in html
    assert 'id="score-cosine"' in html
    assert pq.read_table(tmp_path / "scored.parquet").num_rows == 2
    status, _, err = paraloom("report", str(tmp_path / "no.tsv"))
    assert status == 1
    assert "file not found" in err


def test_a_score_that_is_not_defined_is_left_empty(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "scored.tsv").write_text("src\ttgt\tchrf\na b\ta c\t50.0\nd e\td f\t\n", encoding="utf-8")
    status, out, err = paraloom("head", str(tmp_path / "scored.tsv"))
    assert status == 0, err
    assert out.splitlines() == [
        "chrf, src over tgt:",
        "",
        "     50  a b",
        "         a c",
        "         d e",
        "         d f",
    ]


def test_a_list_in_json_lines_is_an_error_of_its_row(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "list.jsonl").write_text('[{"src": "a", "tgt": "b"}]\n')
    status, _, err = paraloom("score", "list.jsonl", "--with", "overlap", "-o", "scored.tsv")
    assert (status, "list.jsonl, row 1: expected a JSON object, got list" in err) == (1, True)


def test_head_of_long_numbers_and_of_columns_with_one_name(paraloom: Command, tmp_path: Path) -> None:
    numbers = [1234567890123456, 123456789012345678, -999999999999999999]
    (tmp_path / "ids.csv").write_text("text,id,id\n" + "".join(f"x,{number},0.5\n" for number in numbers))
    status, out, _ = paraloom("head", "ids.csv", "--json")
    shown = json.loads(out)["shown"]
    assert status == 0 and shown == [{"text": "x", "id": number, "id (3)": 0.5} for number in numbers]
    (tmp_path / "equal.tsv").write_text("Paris\tParis\nThe dog\tDer Hund\n")
    assert json.loads(paraloom("head", "equal.tsv", "--json")[1])["rows"] == 2
