"""Outputs of commands: checked before any work, never replaced in silence; rejected rows beside them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from commands import Command

from paraloom import api
from paraloom.api.outputs import OutputRecord, check_output, is_up_to_date
from paraloom.core.errors import ConfigError, RunError
from paraloom.io.atomic import write_text

PAIRS = "Guten Morgen.\tGood morning.\nDer Hund ist da.\tThe dog is here.\n"
SCORE = ("score", "mine.tsv", "--with", "overlap", "--workers", 1)


@pytest.fixture(autouse=True)
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.tsv"
    file.write_text(PAIRS)
    return file


def test_an_output_from_the_same_inputs_is_not_made_again(paraloom: Command, mine: Path, tmp_path: Path) -> None:
    assert paraloom(*SCORE, "-o", "scored.parquet")[0] == 0
    before = (tmp_path / "scored.parquet").stat()
    status, _, err = paraloom(*SCORE[:-2], "-o", "scored.parquet")  # the number of workers does not count
    assert (status, "scored.parquet is up to date, nothing to do" in err) == (0, True)
    assert (tmp_path / "scored.parquet").stat().st_mtime_ns == before.st_mtime_ns
    assert paraloom(*SCORE, "-o", "scored.parquet", "--force")[0] == 0
    assert (tmp_path / "scored.parquet").stat().st_ino != before.st_ino


@pytest.mark.parametrize("change", ["input", "setting", "output", "record"])
def test_another_output_is_replaced_only_with_force(paraloom: Command, mine: Path, tmp_path: Path, change: str) -> None:
    output = tmp_path / "scored.tsv"
    assert paraloom(*SCORE, "-o", "scored.tsv")[0] == 0
    command: tuple[object, ...] = SCORE
    if change == "input":
        mine.write_text(PAIRS * 2)
    elif change == "setting":
        command = (*SCORE[:3], "length", *SCORE[4:])
    elif change == "output":
        output.write_text(output.read_text() + "edited by hand\n")
    else:
        OutputRecord.path(output).unlink()
    held = output.read_bytes()
    status, _, err = paraloom(*command, "-o", "scored.tsv")
    assert (status, "the output exists already" in err, "--force" in err) == (1, True, True)
    assert output.read_bytes() == held
    assert paraloom(*command, "-o", "scored.tsv", "--force")[0] == 0
    assert output.read_bytes() != held or change == "record"


def test_commands_without_a_pipeline_are_protected_too(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("A dog sleeps.\n")
    encode = ("encode", "english", "lines.txt", "-o", "v.npy")
    assert paraloom(*encode)[0] == 0
    assert "up to date" in paraloom(*encode)[2]
    (tmp_path / "lines.txt").write_text("A cat sleeps.\n")
    assert paraloom(*encode)[0] == 1
    (tmp_path / "thesis.npy").write_bytes(b"my own")
    assert paraloom(*encode[:-1], "thesis.npy")[0] == 1
    assert (tmp_path / "thesis.npy").read_bytes() == b"my own"


@pytest.mark.parametrize("name", ["mine.tsv", "./mine.tsv", "link.tsv"])
def test_the_input_is_not_an_output(paraloom: Command, mine: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "link.tsv").symlink_to(mine)
    status, _, err = paraloom(*SCORE, "-o", name, "--force")
    assert (status, "the output is also an input" in err) == (1, True)
    assert mine.read_text() == PAIRS


def test_translations_do_not_replace_their_source_and_follow_it(paraloom: Command, tmp_path: Path) -> None:
    (lines := tmp_path / "lines.de").write_text("Der Hund ist da.\n")
    status, _, err = paraloom("translate", "de-en", "lines.de", "-o", "lines.de", "--force")
    assert (status, "the output is also an input" in err, lines.read_text()) == (1, True, "Der Hund ist da.\n")
    command = ("translate", "de-en", "lines.de", "-o", "lines.en")
    assert paraloom(*command)[0] == 0
    lines.write_text("Guten Morgen.\n")
    status, _, err = paraloom(*command)
    assert (status, "made from other inputs" in err) == (1, True)


@pytest.mark.parametrize("name", ["a.tmx", "a.tmx.gz", "a.{de,en}"])
def test_scores_are_not_written_to_a_format_without_columns(
    paraloom: Command, mine: Path, tmp_path: Path, name: str
) -> None:
    status, _, err = paraloom("score", mine, "--with", "overlap", "-o", tmp_path / name)
    assert status == 1 and "the scores would be lost" in err and not list(tmp_path.glob("a.*"))


def test_a_page_replaces_no_data(paraloom: Command, mine: Path) -> None:
    status, _, err = paraloom("report", "mine.tsv", "-o", "mine.tsv")
    assert (status, "unknown format '.tsv' of a page" in err, mine.read_text()) == (1, True, PAIRS)
    assert all(paraloom("report", "mine.tsv", "-o", name)[0] == 0 for name in ("r.HTML", "r.html.gz", "r.v1"))


def test_errors_of_a_preview_name_no_temporary_folder(paraloom: Command) -> None:
    status, _, err = paraloom("filter", "mine.tsv", "--where", "length(src) > 'abc'", "--preview")
    assert (status, "paraloom: stage preview: invalid condition" in err, "/artifact" in err) == (1, True, False)
    filtered = api.read_pairs("mine.tsv").filter("length(src) > 15")  # whose stage has a name, too
    assert [row.alone for row in api.preview_filter(filtered, "length(tgt) > 1")] == [1]


def test_python_does_not_write_over_what_it_reads(mine: Path) -> None:
    with pytest.raises(ConfigError, match="the output is also an input"):
        api.read_pairs(mine).score("length").write(mine)
    assert mine.read_text() == PAIRS


def test_a_folder_of_something_else_is_never_touched(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_bytes(b"x")
    for force in ((), ("--force",)):
        assert paraloom(*SCORE, "-o", "photos", *force)[0] == 1
        assert [path.name for path in (tmp_path / "photos").iterdir()] == ["a.jpg"]


@pytest.mark.parametrize("other", [".git", "data"])
def test_a_model_replaces_no_folder_with_something_else_in_it(mine: Path, tmp_path: Path, other: str) -> None:
    model = tmp_path / "model"
    (model / other).mkdir(parents=True)
    (model / "language_model.safetensors").write_bytes(b"x")
    with pytest.raises(ConfigError, match="the folder holds something else"):
        api.train_language_model(mine, model, smoothing="witten-bell")
    assert {path.name for path in model.iterdir()} == {other, "language_model.safetensors"}


def test_a_corpus_is_replaced_whole_and_comes_back_if_that_fails(paraloom: Command, mine: Path, tmp_path: Path) -> None:
    assert paraloom(*SCORE, "-o", "scored")[0] == 0
    held = (tmp_path / "scored" / "corpus.json").read_bytes()
    assert "up to date" in paraloom(*SCORE, "-o", "scored")[2]
    mine.write_text(PAIRS + "only one field\n")
    assert paraloom(*SCORE, "-o", "scored", "--force")[0] == 1
    assert (tmp_path / "scored" / "corpus.json").read_bytes() == held
    mine.write_text(PAIRS * 3)
    assert paraloom(*SCORE, "-o", "scored", "--force")[0] == 0
    assert json.loads((tmp_path / "scored" / "corpus.json").read_text())["rows"] == 6
    (tmp_path / "scored" / "notes.txt").write_text("mine")
    status, _, err = paraloom(*SCORE, "-o", "scored", "--force")
    assert (status, "notes.txt" in err) == (1, True)
    assert not list(tmp_path.glob(".*.tmp"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("backtranslate", "mine.tsv", "--translator", "de-en", "-o", "x.txt"), "unknown format '.txt'"),
        (("backtranslate", "mine.tsv", "--translator", "de-en", "-o", "mine.tsv/x.tsv"), "got a file"),
        (("backtranslate", "mine.tsv", "--translator", "de-en", "--decode", "beem:5", "-o", "x.tsv"), "'beam'"),
        (("encode", "english", "mine.tsv", "-o", "x.txt"), "unknown format '.txt' of vectors"),
        (("mine", "english", "mine.tsv", "-o", "x.parquet"), "mined pairs are tab-separated"),
        (("lexicon", "mine.tsv", "-o", "x.docx"), "unknown format '.docx' of a table"),
        (("lexicon", "mine.tsv", "-o", "x.tmx"), "unknown format '.tmx' of a table"),
        (("train", "translator", "--bitext", "mine.tsv", "-o", "x"), "cannot hold out 1000 of"),
        (("translate", "de-en", "mine.tsv", "-o", "x.parquet.gz"), "compressed internally"),
        ((*SCORE, "-o", "/proc/x.tsv"), "cannot write"),
    ],
)
def test_what_is_wrong_with_an_output_is_said_before_any_work(
    paraloom: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[object, ...], message: str
) -> None:
    def work(*_: object, **__: object) -> None:
        raise AssertionError("work was done")

    monkeypatch.setattr("paraloom.pipeline.runner.run_pipeline", work)
    monkeypatch.setattr("paraloom.api.encoders.open_encoder", work)
    monkeypatch.setattr("paraloom.mt.translator.Translator.load", work)
    status, _, err = paraloom(*arguments)
    assert (status, message in err) == (1, True), err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.tsv"]


def test_a_disk_without_space_is_noticed_before_any_work(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = os.statvfs(mine.parent)
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 10})())
    assert usage
    with pytest.raises(RunError, match=r"of free space, and [\d.,]+ MB or more are needed"):
        check_output(mine.with_name("x.tsv"), [mine])


def test_devices_and_standard_output_are_written_directly(paraloom: Command) -> None:
    for _ in range(2):
        assert paraloom(*SCORE, "-o", "/dev/null")[0] == 0
        assert paraloom(*SCORE, "-o", "-")[1].count("\n") == 3
    page = paraloom("report", "mine.tsv", "-o", "-")[1]
    assert page.startswith("<!doctype html>") and page.endswith("</html>\n")


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
@pytest.mark.parametrize(
    "command", ["encode english mine.txt", "train word-counts --pairs mine.txt", "research export english"]
)
def test_a_folder_or_vectors_do_not_become_one_named_like_standard_output(
    paraloom: Command, mine: Path, tmp_path: Path, command: str, name: str
) -> None:
    (tmp_path / "mine.txt").write_text("a\n")
    status, out, err = paraloom(*command.replace("mine.txt", str(mine)).split(), "-o", name)
    assert (status, out) == (1, "")
    assert "this output cannot be written to standard output" in err
    assert not (tmp_path / "-").exists()


def test_a_file_named_like_standard_output_needs_its_whole_path(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"standard output, which - and \./- are.*\n?.* with its whole path"):
        write_text(Path("./-"), "a")
    write_text(tmp_path / "-", "a")
    assert (tmp_path / "-").read_text() == "a"


def test_every_command_with_an_output_can_be_forced(paraloom: Command) -> None:
    from cli_commands import commands, options

    runs = {"run", "report", "papers run"}
    runs |= {f"research {name}" for name in ("selftrain", "augment", "diversity", "show documents")}
    for path, command in commands().items():
        if "--output" in options(command):
            assert ("--force" in options(command)) == (path not in runs), path


def test_a_record_that_cannot_be_read_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("x\n")
    OutputRecord.path(tmp_path / "a.tsv").write_text("[1, 2")
    with pytest.raises(ConfigError, match="exists already"):
        is_up_to_date(tmp_path / "a.tsv", "score", "0")
    assert not is_up_to_date(tmp_path / "b.tsv", "score", "0")


DIRTY = "Guten Morgen.\tGood morning.\n\nzu\tviele\tFelder\nohne\t\nDer Hund ist da.\tThe dog is here.\n"
COMMANDS: list[tuple[object, ...]] = [
    ("backtranslate", "dirty.tsv", "--translator", "de-en", "--workers", 1, "-o", "out.tsv"),
    ("score", "dirty.tsv", "--with", "length", "--workers", 1, "-o", "out.tsv"),
    ("filter", "dirty.tsv", "--where", "length(src) > 3", "--workers", 1, "-o", "out.tsv"),
    ("train", "word-counts", "--pairs", "dirty.tsv", "-o", "out"),
    ("train", "encoder", "--pairs", "dirty.tsv", "--epochs", 1, "--dimension", 8, "-o", "out"),
    ("lexicon", "dirty.tsv", "--min-count", 1, "-o", "out.tsv"),
    ("stats", "dirty.tsv"),
    ("filter", "dirty.tsv", "--preview", "--where", "length(src) > 3"),
    ("evaluate", "translator", "de-en", "dirty.tsv"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(map(str, command[:2])))
def test_every_command_can_leave_out_bad_rows(paraloom: Command, tmp_path: Path, command: tuple[object, ...]) -> None:
    (tmp_path / "dirty.tsv").write_text(DIRTY)
    status, _, err = paraloom(*command)
    assert (status, "row 3: expected 2 fields" in err, "--on-error reject" in err) == (1, True, True)
    status, _, err = paraloom(*command, "--on-error", "reject")
    assert (status, "3 rows were rejected" in err) == (0, True), err


def test_rejected_rows_are_beside_the_output_with_row_and_reason(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "dirty.tsv").write_text(DIRTY)
    score = ("score", "dirty.tsv", "--with", "length", "--workers", 1, "-o", "out.tsv.gz")
    assert paraloom(*score, "--on-error", "reject")[0] == 0
    rows = [json.loads(line) for line in (tmp_path / "out.rejected.jsonl").read_text().splitlines()]
    assert [(row["file"], row["row"], row["text"]) for row in rows] == [
        ("dirty.tsv", 2, "\t"),
        ("dirty.tsv", 3, "zu\tviele\tFelder"),
        ("dirty.tsv", 4, "ohne\t"),
    ]
    assert rows[1]["reason"] == "expected 2 fields as in the first row, got 3"
    (tmp_path / "dirty.tsv").write_text(PAIRS)
    assert paraloom(*score, "--force")[0] == 0
    assert not (tmp_path / "out.rejected.jsonl").exists()


def test_two_files_are_accepted_where_a_moses_pair_is(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.de").write_text("Guten Morgen.\n")
    (tmp_path / "mine.en").write_text("Good morning.\n")
    command = ("backtranslate", "mine.de", "mine.en", "--translator", "de-en", "--workers", 1, "-o", "out.parquet")
    assert paraloom(*command)[0] == 0
    row = pq.read_table(tmp_path / "out.parquet").to_pylist()[0]
    assert (row["pair_id"], row["src_lang"], row["pivot_lang"]) == ("mine:1", "en", "de")
    status, _, err = paraloom("stats", "mine.de", "mine.en", "mine.tsv")
    assert (status, "got 3 files" in " ".join(err.replace("│", "").split())) == (2, True)
    status, _, err = paraloom("stats", "mine.tsv", "mine.en")
    assert (status, "mine.tsv is a table" in " ".join(err.replace("│", "").split())) == (2, True)


def test_languages_follow_from_the_translator(paraloom: Command, mine: Path, tmp_path: Path) -> None:
    assert paraloom("backtranslate", "mine.tsv", "--translator", "de-en", "--workers", 1, "-o", "out.parquet")[0] == 0
    row = pq.read_table(tmp_path / "out.parquet").to_pylist()[0]
    assert (row["src_lang"], row["tgt_lang"], row["pivot_lang"]) == ("en", "en", "de")
    rows = api.backtranslate([("Guten Morgen", "Good morning")], "de-en").to_list()
    assert (rows[0]["src_lang"], rows[0]["pivot_lang"]) == ("en", "de")


@pytest.mark.slow
def test_standard_output_by_its_name_and_pipes(tmp_path: Path, mine: Path) -> None:
    command = [sys.executable, "-m", "paraloom", *map(str, SCORE), "-o"]
    named = subprocess.run([*command, "/dev/stdout"], cwd=tmp_path, capture_output=True, text=True)
    assert (named.returncode, named.stdout) == (0, subprocess.check_output([*command, "-"], cwd=tmp_path, text=True))
    (tmp_path / "log.txt").write_text("before\n")
    with (tmp_path / "log.txt").open("a") as log:
        assert subprocess.run([*command, "/dev/stdout"], cwd=tmp_path, stdout=log).returncode == 0
    assert (tmp_path / "log.txt").read_text() == f"before\n{named.stdout}"
    with (tmp_path / "log.txt").open("a") as log:  # which would be replaced by a file of the same name
        refused = subprocess.run([*command, "/dev/stderr"], cwd=tmp_path, stderr=log)
    assert refused.returncode == 1
    assert (tmp_path / "log.txt").read_text().startswith(f"before\n{named.stdout}paraloom: ")
    os.mkfifo(tmp_path / "pipe")  # as a shell's >(…), which names a pipe by a symbolic link
    (tmp_path / "link").symlink_to("pipe")
    with subprocess.Popen(["cat", "pipe"], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as reader:
        assert subprocess.run([*command, "link"], cwd=tmp_path, timeout=60).returncode == 0
        assert reader.communicate(timeout=60)[0] == named.stdout
    assert (tmp_path / "pipe").is_fifo()
