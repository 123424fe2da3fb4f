"""What commands print at their end: figures as JSON, summaries; and lines of text that commands leave out."""

from __future__ import annotations

import json
from functools import wraps
from pathlib import Path

import pyarrow as pa
import pytest
from cli_commands import commands, options
from commands import Command
from toy_bilingual import save_bilingual_encoder

import paraloom as library
import paraloom.papers as papers
from paraloom import api
from paraloom.api.harvest import Harvest, HarvestedPair
from paraloom.api.quickstart import Quickstart
from paraloom.io import write_table
from paraloom.papers.published import PAPERS
from paraloom.papers.tables import ReproducedTable
from paraloom.pipeline.result import RunResult

WITHOUT_JSON = dict.fromkeys(["demo", "explore"], "serves a page")


def test_all_commands_have_json() -> None:
    assert {name for name, command in commands().items() if "--json" not in options(command)} == set(WITHOUT_JSON)


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    words = ["dog", "cat", "cow", "pig", "hen", "fox"]
    pairs = [(f"the {a} sees the {b}", f"the {a} looks at a {c}") for a in words for b in words for c in words[:2]]
    library.as_pairs(pairs).score(["trigram_overlap"]).write(tmp_path / "scored.parquet", engine="inline")
    return tmp_path / "scored.parquet"


def test_run_warns_of_filters_that_keep_little(paraloom: Command, scored: Path) -> None:
    toml = (
        '[[stage]]\nname = "pairs"\nuse = "read-pairs"\nsource = "pairs.tsv"\n'
        '[[stage]]\nname = "scored"\nuse = "score"\nscores = ["overlap"]\n'
        '[[stage]]\nname = "kept"\nuse = "filter"\nwhere = "trigram_overlap > {}"\n'
    )
    library.read_pairs(scored).write(scored.parent / "pairs.tsv", engine="inline")
    for name, bound in (("none", 0.99), ("all", -1)):
        (scored.parent / f"{name}.toml").write_text(toml.format(bound))
        status, _, err = paraloom("run", f"{name}.toml", "-o", name, "--engine", "inline")
        assert status == 0 and ("the filter keeps only 0 of 72 pairs" in err) == (name == "none"), err


def test_judge(paraloom: Command, scored: Path) -> None:
    sample = ("judge", "sample", "scored.parquet", "--by", "trigram_overlap", "--count", 2)
    status, out, err = paraloom(*sample, "-o", "sheet.tsv")
    assert status == 0, err
    assert "keep sheet.tsv.key.tsv" in out
    rows = len((scored.parent / "sheet.tsv").read_text(encoding="utf-8").splitlines()) - 1
    assert f"{rows} rows in sheet.tsv" in err and "the first of them" in err
    assert "Next: paraloom research judge table rater1.tsv rater2.tsv --key sheet.tsv.key.tsv" in err
    figures = json.loads(paraloom(*sample, "-o", "other.tsv", "--json")[1])
    assert (figures["output"], figures["key"], figures["pairs"]) == ("other.tsv", "other.tsv.key.tsv", rows)
    assert figures["seconds"] >= 0
    lines = (scored.parent / "sheet.tsv").read_text(encoding="utf-8").splitlines()
    labeled = [lines[0], *(line.rstrip("\t") + "\t3\t2" for line in lines[1:])]
    (scored.parent / "one.tsv").write_text("\n".join(labeled) + "\n", encoding="utf-8")
    status, _, err = paraloom("judge", "table", "one.tsv", "--key", "sheet.tsv.key.tsv")
    assert status == 0 and f"{rows} pairs by 1 rater, " in err and "Next: paraloom filter" in err


@pytest.mark.parametrize(
    ("scores", "then"),
    [
        ("overlap,length", 'filter new.parquet --where "trigram_overlap <= 0.7" -o kept.parquet'),
        ("length", 'filter new.parquet --where "tgt_tokens between 3 and 30" -o kept.parquet'),
        ("mismatch", "head new.parquet"),
    ],
)
def test_score_suggests_a_filter_by_what_it_added(paraloom: Command, scored: Path, scores: str, then: str) -> None:
    status, _, err = paraloom("score", "scored.parquet", "--with", scores, "-o", "new.parquet", "--engine", "inline")
    assert status == 0 and err.rstrip().endswith(f"Next: paraloom {then}")


@pytest.mark.parametrize(("target", "option"), [("en", "bitext"), ("de", "pairs"), ("und", "pairs")])
def test_kept_bitext_is_to_be_trained_on_as_bitext(
    paraloom: Command, tmp_path: Path, target: str, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "FEW_PAIRS", 1)
    (tmp_path / "a.tsv").write_text("ein Hund\ta dog\neine Katze\ta cat\n")
    library.read_pairs(tmp_path / "a.tsv", src_lang="de", tgt_lang=target).write(tmp_path / "a.parquet")
    status, _, err = paraloom("filter", "a.parquet", "--where", "length(src) > 1", "-o", "kept.parquet")
    assert status == 0 and f"Next: paraloom train encoder --{option} kept.parquet -o encoder" in err


def test_english_pairs_are_to_be_filtered_by_a_preset(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text('{"src": "a dog", "tgt": "the dog", "src_lang": "en", "tgt_lang": "en"}\n')
    pair = library.read_pairs(tmp_path / "pairs.jsonl", src_lang="en", tgt_lang="en").to_list()[0]
    write_table(pa.Table.from_pylist([pair | {"pivot_lang": "de"}]), tmp_path / "pairs.parquet")
    status, _, err = paraloom("score", "pairs.parquet", "--with", "length", "-o", "new.parquet", "--engine", "inline")
    selection = "filter new.parquet --preset strict --per-source 1 --reverse-translator en-de -o kept.parquet"
    assert status == 0 and err.rstrip().endswith(f"Next: paraloom {selection}"), err


@pytest.fixture
def run(tmp_path: Path) -> RunResult:
    """A run of two stages, in the folder `run`."""
    text = '[[stage]]\nuse = "read-pairs"\nsource = "a.tsv"\n[[stage]]\nuse = "score"\nscores = ["length"]\n'
    (tmp_path / "a.tsv").write_text("a dog\tthe dog\na cat\tthe cat\n", encoding="utf-8")
    (tmp_path / "toy.toml").write_text(f'name = "toy"\n{text}', encoding="utf-8")
    return library.Pipeline.from_toml(tmp_path / "toy.toml").run(tmp_path / "run", engine="inline")


def test_quickstart(paraloom: Command, run: RunResult, monkeypatch: pytest.MonkeyPatch) -> None:
    gathered = Harvest((HarvestedPair("a dog", "one dog", 0.9),), (HarvestedPair("a", "b", 0.8, "why"),), 1, 2, "judge")
    quickstart = Quickstart(run, gathered, 40.0, 50.0, 3.0)
    monkeypatch.setattr(api, "run_quickstart", wraps(api.run_quickstart)(lambda *_, **__: quickstart))
    status, out, err = paraloom("quickstart", "run")
    assert status == 0, err
    assert "1 of 2 pairs kept (50.0 %), with judge:\n\n .90  a dog\n      one dog\n" in out
    assert " .80  a\n      b\n      (why)\n" in out and "right" in out and "run/report.html" in out
    assert "Written in " in err and "Next: paraloom explore run" in err
    figures = json.loads(paraloom("quickstart", "run", "--json")[1])
    assert (figures["pairs"], figures["report"], figures["digest"]) == (1, "run/report.html", run.digest)
    assert [stage["name"] for stage in figures["stages"]] == ["read-pairs", "score"]


def test_a_run_ends_like_other_commands(paraloom: Command, run: RunResult) -> None:
    status, _, err = paraloom("run", "toy.toml", "-o", "run")
    assert status == 0 and "2 pairs in run, " in err and "Next: paraloom explore run" in err
    plan = json.loads(paraloom("run", "toy.toml", "-o", "run", "--dry-run", "--json")[1])
    assert [stage["state"] for stage in plan] == ["done", "done"]


def test_reproduce(paraloom: Command, scored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = ReproducedTable("w17-9", PAPERS["w17-9"], [("ours", [1.0, 2.0, 3.0, 4.0])], "")
    monkeypatch.setattr(papers, "reproduce_tables", lambda *_, **__: iter([table]))
    monkeypatch.setattr(papers, "summarize_verdicts", lambda _: "Of 1 order, 1 is confirmed.")
    call = ("papers", "run", "w17-9", "--pairs", "news=scored.parquet", "--sts", "sts", "-o", "tables")
    status, out, err = paraloom(*call)
    assert status == 0, err
    assert "Of 1 order" in out
    assert "1 table with 1 row" in err and "Written in " in err and ": tables" in err
    status, _, err = paraloom(*call, "--ppdb", "missing.gz")
    assert status == 1 and "missing.gz: file not found" in err and "Of 1 order" not in err
    status, out, err = paraloom(*call, "--json")
    figures = json.loads(out)
    assert (figures["summary"], [table["name"] for table in figures["tables"]]) == (
        "Of 1 order, 1 is confirmed.",
        ["w17-9"],
    )


def test_alignment_as_json(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "a.de").write_text("Haus 1\nHund 22\nKatze 333\n", encoding="utf-8")
    (tmp_path / "a.en").write_text("house 1\ndog 22\ncat 333\n", encoding="utf-8")
    status, out, err = paraloom("align", "sentences", "a.de", "a.en", "-o", "a.tsv", "--json")
    assert status == 0, err
    figures = json.loads(out)
    assert (figures["output"], figures["beads"], figures["aligned"]) == ("a.tsv", 3, [3, 3])
    # A pair confirmed by a third language.
    (tmp_path / "de-en.tsv").write_text("d1\te1\n", encoding="utf-8")
    (tmp_path / "cs-de.tsv").write_text("c1\td1\n", encoding="utf-8")
    (tmp_path / "cs-en.tsv").write_text("c1\te1\n", encoding="utf-8")
    call = ("align", "pivot", "de-en.tsv", "--pivot", "cs-de.tsv,cs-en.tsv", "-o", "checked.tsv", "--json")
    status, out, err = paraloom(*call)
    assert status == 0, err
    assert json.loads(out)["pairs"] == 1


def test_pages_stages_and_previews_as_json(paraloom: Command, scored: Path) -> None:
    assert json.loads(paraloom("report", "scored.parquet", "-o", "page.html", "--json")[1])["output"] == "page.html"
    stages = {stage["use"]: stage for stage in json.loads(paraloom("stages", "--json")[1])}
    assert stages["filter"]["kind"] == "map" and "where" in {key["name"] for key in stages["filter"]["keys"]}
    assert json.loads(paraloom("stages", "filter", "--json")[1]) == [stages["filter"]]
    call = ("filter", "scored.parquet", "--where", "trigram_overlap > 2", "--preview", "--json")
    assert json.loads(paraloom(*call)[1])[0]["alone"] == 0


LINES = b"Guten Morgen.\nDas Caf\xe9 ist zu.\nDer Hund schl\xc3\xa4ft.\n"


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    (tmp_path / "lines.txt").write_bytes(LINES)
    save_bilingual_encoder(tmp_path / "toy")
    return tmp_path / "lines.txt"


CALLS = {
    "text": ("translate", "de-en", "lines.txt", "-o", "out.txt"),
    "table": ("translate", "de-en", "lines.txt", "-o", "out.tsv"),
    "vectors": ("encode", "english", "lines.txt", "-o", "out.npy"),
    "vectors with text": ("encode", "english", "lines.txt", "-o", "out.parquet"),
    "mine": ("mine", "english", "lines.txt", "-o", "out.tsv", "--above", "-1"),
    "mine translations": ("mine", "toy", "lines.txt", "lines.txt", "-o", "out.tsv", "--above", "0"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_lines_that_are_not_utf8(paraloom: Command, lines: Path, call: tuple[str, ...]) -> None:
    if "mine" in call:
        pytest.importorskip("faiss", reason="mining needs faiss: pip install 'paraloom[search]'")
    status, _, err = paraloom(*call)
    assert status == 1
    assert "lines.txt, row 2" in err and "byte 0xe9 at 7" in err and "--on-error reject" in err
    status, _, err = paraloom(*call, "--on-error", "reject")
    assert status == 0, err
    name = Path(call[call.index("-o") + 1])
    rejected = lines.with_name(f"{name if name.suffix in ('.txt', '.npy') else name.stem}.rejected.jsonl")
    rows = [json.loads(line) for line in rejected.read_text(encoding="utf-8").splitlines()]
    assert {(row["file"], row["row"], row["text"]) for row in rows} == {("lines.txt", 2, "Das Caf\\xe9 ist zu.")}
    assert "not valid UTF-8" in rows[0]["reason"] and rejected.name in err


def test_other_lines_keep_their_row(paraloom: Command, lines: Path) -> None:
    for name in ("out.txt", "out.tsv"):
        status, _, err = paraloom("translate", "de-en", "lines.txt", "-o", name, "--on-error", "reject")
        assert (status == 0 and "out.rejected.jsonl" in err) or "out.txt.rejected.jsonl" in err
    translations = (lines.parent / "out.txt").read_text(encoding="utf-8").split("\n")
    assert [bool(text) for text in translations] == [True, False, True, False]
    table = [line.split("\t") for line in (lines.parent / "out.tsv").read_text(encoding="utf-8").splitlines()]
    column = table[0].index("pair_id")
    assert [row[column] for row in table[1:]] == ["1", "3"]


def test_translations_end_with_a_summary_or_are_json(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "de.txt").write_text("Guten Morgen.\n", encoding="utf-8")
    status, out, err = paraloom("translate", "de-en", "de.txt", "-o", "en.txt")
    assert (status, out) == (0, "")
    assert "1 line in en.txt" in err and "Next: paraloom evaluate translation en.txt references.txt" in err
    figures = json.loads(paraloom("translate", "de-en", "de.txt", "-o", "other.txt", "--json")[1])
    assert (figures["output"], figures["lines"]) == ("other.txt", 1)
    (row,) = map(json.loads, paraloom("translate", "de-en", "de.txt", "--json")[1].splitlines())
    assert row["pair_id"] == "1" and row["text"] == (tmp_path / "en.txt").read_text(encoding="utf-8").strip()


def test_vectors(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("A dog runs.\nA cat sleeps.\n", encoding="utf-8")
    status, out, err = paraloom("encode", "english", "s.txt", "-o", "v.npy")
    assert (status, out) == (0, "2 vectors in v.npy\n"), err
    assert "Done in " in err and "vector  [" in err and "Next: paraloom search english s.txt --vectors v.npy" in err
    status, _, err = paraloom("encode", "english", "s.txt", "-o", "v.parquet")
    assert status == 0 and "text    A dog runs." in err and "Next" not in err
    figures = json.loads(paraloom("encode", "english", "s.txt", "-o", "other.npy", "--json")[1])
    assert (figures["output"], figures["vectors"]) == ("other.npy", 2) and figures["seconds"] >= 0


def test_exports(paraloom: Command) -> None:
    status, out, err = paraloom("export", "english", "--int8", "-o", "small")
    assert (status, out) == (0, "Encoder.load('small')\n"), err
    assert "Written in " in err and ": small" in err
    assert "Next: paraloom encode small sentences.txt -o vectors.npy" in err


def test_diversity_is_measured(paraloom: Command, tmp_path: Path) -> None:
    rows = "1\ta b\n1\tb c\n2\tx y\n2\ty x\n"
    (tmp_path / "v.tsv").write_text(f"pair_id\ttext\n{rows}", encoding="utf-8")
    status, _, err = paraloom("diversity", "v.tsv", "--workers", 1, "-o", "measured")
    assert status == 0 and "4 variants measured in " in err and ": measured" in err, err
    assert "Report: measured/report.html" in err and "Next: paraloom head v.tsv" in err
