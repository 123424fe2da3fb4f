"""The command line: the chain command by command on a made-up language, help, invalid input, exit statuses."""

from __future__ import annotations

import functools
import gc
import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from cli_commands import commands
from commands import Command
from processes import TIMEOUT, environment, wait_until
from test_language import old_words
from toy_language import bitext

from paraloom import api
from paraloom.cli.front_page import FRONT, HIDDEN
from paraloom.cli.main import main


def write_bitext(folder: Path, count: int = 200) -> str:
    """Moses pairs `kal` and `en`; returns the argument that names them."""
    pairs = bitext(count, seed=21)
    for language, side in (("kal", 0), ("en", 1)):
        (folder / f"pairs.{language}").write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    return f"{folder}/pairs.{{kal,en}}"


@pytest.mark.parametrize("path", commands())
def test_every_command_has_a_description_and_an_example(paraloom: Command, path: str) -> None:
    status, out, _ = paraloom(*path.split(), "--help")
    assert status == 0
    text = " ".join(out.split())
    assert re.search(rf"Example: .*paraloom {path} ?", text)
    for parameter in commands()[path].params:
        assert parameter.help, f"{path}: {parameter.name} has no help"


@pytest.mark.parametrize("group", sorted({path.split()[0] for path in commands() if " " in path}))
def test_every_group_has_an_example(paraloom: Command, group: str) -> None:
    _, out, _ = paraloom(group, "--help")
    assert re.search(rf"Example: paraloom {group} [a-z-]+ --help", " ".join(out.split()))


def test_help_shows_all_words_that_are_written() -> None:
    # The help is Markdown: a word in angle brackets is taken for a tag, and left out.
    for path, command in commands().items():
        for parameter in command.params:
            plain = re.sub("`[^`]*`", "", parameter.help or "")
            assert not re.search(r"<\w+>", plain), f"{path}: {parameter.help}"


@pytest.mark.parametrize("number", [0, -1])
def test_too_few_workers_are_an_error(paraloom: Command, tmp_path: Path, number: int) -> None:
    (tmp_path / "pairs.tsv").write_text("a dog\ta hound\n", encoding="utf-8")
    status, _, err = paraloom("score", "pairs.tsv", "--workers", number, "-o", "scored.tsv")
    assert status == 1 and f"workers must be 1 or more, not {number}" in err


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--on-error", "skip", "'skip' is not one of 'stop', 'reject'."),
        ("--top", "many", "expected a number"),
        ("--workers", "1.5", "expected a whole number"),
    ],
)
def test_a_wrong_value_is_told_in_plain_words(paraloom: Command, option: str, value: str, message: str) -> None:
    status, _, err = paraloom("filter", "scored.tsv", option, value, "-o", "kept.tsv")
    assert status == 2
    assert f"Invalid value for '{option}': {message}" in " ".join(err.replace("│", " ").split())


def test_a_number_below_the_minimum_is_refused(paraloom: Command) -> None:
    for call in (["head", "scored.tsv", "-n", "0"], ["paraphrase", "A dog sleeps.", "-n", "0"]):
        status, _, err = paraloom(*call)
        assert status == 2 and "must be at least 1" in err


def test_help_calls_other_options_by_their_flags(paraloom: Command) -> None:
    status, out, _ = paraloom("filter", "--help-all")
    plain = " ".join(out.replace("│", " ").split())
    assert status == 0 and "those left by --where with the best values of --by" in plain and "per_source" not in plain


def test_a_second_file_after_an_option_is_told_how_to_write_both(paraloom: Command) -> None:
    status, _, err = paraloom("train", "encoder", "--bitext", "a.tr", "a.en", "-o", "encoder")
    plain = " ".join(err.replace("│", " ").split())
    assert status == 2 and "(a.en): --bitext and --pairs take one name, of two files 'PREFIX.{de,en}'" in plain


def test_the_front_page_has_about_twenty_verbs(paraloom: Command) -> None:
    status, out, _ = paraloom("--help")
    assert status == 0
    listed = {line.split()[1] for line in out.splitlines() if line.startswith("│ ") and line[2] not in " -"}
    assert listed == FRONT | {"research", "papers"} and len(listed) <= 22
    assert {path.split()[0] for path in commands()} == listed | HIDDEN


def test_help_is_in_plain_words() -> None:
    for path, command in commands().items():
        for text in (command.help, *(parameter.help for parameter in command.params)):
            assert not list(old_words(text or "")), path


def test_the_chain_command_by_command(paraloom: Command, tmp_path: Path, toy_translator: Path) -> None:
    source = write_bitext(tmp_path)
    assert (
        paraloom("backtranslate", source, "--translator", toy_translator, "-o", "pairs.parquet", "--workers", 1)[0] == 0
    )
    pairs = pq.read_table(tmp_path / "pairs.parquet")
    assert pairs.num_rows == 200
    assert all(pairs["src"].to_pylist())
    assert b"signature" in pairs.schema.field("logprob").metadata

    assert paraloom("score", "pairs.parquet", "--with", "overlap,length", "-o", "scored", "--workers", 1)[0] == 0
    status, _, err = paraloom("filter", "scored", "--where", "tgt_tokens >= 7", "-o", "kept.tsv", "--workers", 1)
    assert (status, "rejected" in err) == (0, True)
    kept = (tmp_path / "kept.tsv").read_text().splitlines()
    assert 1 < len(kept) < 201

    status, out, _ = paraloom("train", "encoder", "--pairs", "kept.tsv", "-o", "encoder", "--epochs", 2)
    assert status == 0, out
    (tmp_path / "lines.txt").write_text("the big dog\n\nthe cat\n", encoding="utf-8")
    assert paraloom("encode", "encoder", "lines.txt", "-o", "vectors.npy")[0] == 0
    vectors = np.load(tmp_path / "vectors.npy")
    assert vectors.shape == (3, 600) and vectors.dtype == np.float32
    assert not list(tmp_path.glob("*.paraloom")), "work folders are removed"


@pytest.mark.slow
def test_train_translator_and_translate(paraloom: Command, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
    source = write_bitext(tmp_path, 100)
    for language in ("kal", "en"):
        lines = (tmp_path / f"pairs.{language}").read_text().splitlines(keepends=True)
        (tmp_path / f"dev.{language}").write_text("".join(lines[:3]))
    status, out, _ = paraloom(
        "train",
        "translator",
        "--bitext",
        source,
        "--dev",
        f"{tmp_path}/dev.{{kal,en}}",
        "-o",
        "kal-en",
        "--steps",
        3,
        "--vocab-size",
        80,
    )
    assert status == 0 and "development loss" in out
    assert (tmp_path / "kal-en" / "README.md").read_text().count("kal → en") == 1
    costs = json.loads((tmp_path / "kal-en" / "costs.json").read_text())
    assert costs["sentences"] == 3 and costs["text"] == "3 development pairs"
    assert f"| cost_percentiles | 5 %: {costs['percentiles']['5']:.2f}, " in (tmp_path / "kal-en/README.md").read_text()
    (tmp_path / "in.txt").write_text("rako mili dasat\ntavo\n", encoding="utf-8")
    assert paraloom("translate", "kal-en", "in.txt", "-o", "out.txt")[0] == 0
    assert len((tmp_path / "out.txt").read_text().splitlines()) == 2
    assert paraloom("translate", "kal-en", "in.txt", "-o", "out.tsv", "--nbest", 3, "--decode", "sampling")[0] == 0
    assert len((tmp_path / "out.tsv").read_text().splitlines()) == 7
    status, _, err = paraloom("translate", "kal-en", "in.txt", "-o", "o.txt", "--nbest", 3)
    assert status == 1 and "do not fit a text file" in err


def test_evaluate_translation(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the big dog sees the cat\n")
    status, out, _ = paraloom("evaluate", "translation", "a.txt", "a.txt", "--json")
    figures = json.loads(out)
    assert status == 0 and figures["bleu"] == pytest.approx(100) and "version:" in figures["bleu_signature"]


def broken_lines(folder: Path) -> str:
    source = write_bitext(folder)
    lines = (folder / "pairs.en").read_text().splitlines(keepends=True)
    (folder / "pairs.en").write_text("".join(lines[:-1]))
    return source


def broken_encoding(folder: Path) -> str:
    source = write_bitext(folder)
    lines = (folder / "pairs.en").read_bytes().splitlines(keepends=True)
    lines[50] = b"the \xff dog\n"
    (folder / "pairs.en").write_bytes(b"".join(lines))
    return source


def empty(folder: Path) -> str:
    source = write_bitext(folder)
    for language in ("kal", "en"):
        (folder / f"pairs.{language}").write_text("")
    return source


def directory(folder: Path) -> str:
    (folder / "somewhere").mkdir()
    return str(folder / "somewhere")


def absent(folder: Path) -> str:
    write_bitext(folder)
    return f"{folder}/pears.{{kal,en}}"


BAD_INPUT = [
    (broken_lines, ["200", "199"]),
    (broken_encoding, ["pairs.en", "row 51", "not valid UTF-8 (byte 0xff at 4)"]),
    (empty, ["pairs.kal", "empty"]),
    (directory, ["somewhere"]),
    (absent, ["pears.kal"]),
]


@pytest.mark.parametrize(("make", "messages"), BAD_INPUT, ids=[make.__name__ for make, _ in BAD_INPUT])
def test_invalid_bitext_is_reported_and_no_partial_output_stays(
    paraloom: Command, tmp_path: Path, toy_translator: Path, make: Callable[[Path], str], messages: list[str]
) -> None:
    source = make(tmp_path)
    status, _, err = paraloom(
        "backtranslate", source, "--translator", toy_translator, "-o", "out.parquet", "--workers", 1
    )
    assert status == 1
    assert "Traceback" not in err
    for part in messages:
        assert part in err
    assert not (tmp_path / "out.parquet").exists()


def test_a_filter_without_a_criterion_is_an_error(paraloom: Command) -> None:
    status, _, err = paraloom("filter", "pairs.tsv", "-o", "kept.tsv")
    assert status == 1
    assert "no criterion" in err
    assert "--preset" in err


def test_unknown_column_in_where(paraloom: Command, tmp_path: Path) -> None:
    source = write_bitext(tmp_path)
    assert paraloom("score", source, "--with", "overlap", "-o", "scored", "--workers", 1)[0] == 0
    status, _, err = paraloom("filter", "scored", "--where", "trigram_overlpa < 0.5", "-o", "kept", "--workers", 1)
    assert status == 1
    assert "trigram_overlpa" in err and "trigram_overlap" in err
    assert not (tmp_path / "kept").exists()


def test_unknown_score(paraloom: Command, tmp_path: Path) -> None:
    status, _, err = paraloom("score", write_bitext(tmp_path), "--with", "overlpa", "-o", "scored", "--workers", 1)
    assert status == 1 and "overlap" in err


def test_unknown_key_in_a_pipeline(paraloom: Command, tmp_path: Path) -> None:
    source = write_bitext(tmp_path)
    (tmp_path / "p.toml").write_text(f'[[stage]]\nuse = "read-pairs"\nsource = "{source}"\nshard_row = 5\n')
    status, _, err = paraloom("run", "p.toml")
    assert status == 1
    assert "p.toml" in err and "shard_row" in err and "did you mean 'shard_rows'" in err


@pytest.mark.parametrize("name", ["model.bin", "config.json", "source.spm", "target.spm", "shared_vocabulary.json"])
def test_a_model_folder_without_one_of_its_files(
    paraloom: Command, tmp_path: Path, toy_translator: Path, name: str
) -> None:
    shutil.copytree(toy_translator, tmp_path / "model")
    (tmp_path / "model" / name).unlink()
    (tmp_path / "in.txt").write_text("rako\n")
    status, _, err = paraloom("translate", "model", "in.txt", "-o", "out.txt")
    assert status == 1 and name in err and "Traceback" not in err
    assert not (tmp_path / "out.txt").exists()


def test_a_corrupt_shard(paraloom: Command, tmp_path: Path) -> None:
    source = write_bitext(tmp_path)
    assert paraloom("score", source, "--with", "length", "-o", "scored", "--workers", 1)[0] == 0
    shard = next((tmp_path / "scored").glob("*.parquet"))
    shard.write_bytes(shard.read_bytes()[:-100])
    status, _, err = paraloom("filter", "scored", "--where", "tgt_tokens > 1", "-o", "kept", "--workers", 1)
    assert status == 1 and shard.name in err and "Traceback" not in err
    assert not (tmp_path / "kept").exists()


@pytest.mark.slow
def test_a_full_disk(tmp_path: Path) -> None:
    source = write_bitext(tmp_path, 5000)
    # A limit on the size of files acts like a full disk: the same system call fails.
    command = f"ulimit -f 20; exec {sys.executable} -m paraloom.cli.main score '{source}' -o scored.parquet --workers 1"
    # Bytecode of what it imports would be cut, too, and the next process could not read it.
    settings = environment(PYTHONDONTWRITEBYTECODE="1")
    process = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False, env=settings
    )
    assert process.returncode == 1
    assert "Traceback" not in process.stderr
    assert "room" in process.stderr or "space" in process.stderr
    assert not (tmp_path / "scored.parquet").exists()


@pytest.mark.parametrize(
    "arguments", [["scroe"], ["translate"], ["score", "a.tsv"], ["run", "p.toml", "--worker", "2"]]
)
def test_a_wrong_call_has_exit_status_2(paraloom: Command, arguments: list[str]) -> None:
    assert paraloom(*arguments)[0] == 2


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        ("score '' -o a.tsv", "PAIRS"),
        ("score a.tsv -o ''", "--output"),
        ("score a.tsv --encoder '' -o a.tsv", "--encoder"),
        ("head ''", "FILE"),
        ("encode english '' -o a.npy", "SOURCE"),
        ("translate '' a.txt", "TRANSLATOR"),
        ("mine english '' -o a.tsv", "TEXT"),
        ("run ''", "PIPELINE"),
        ("models ''", "MODEL"),
        ("train encoder --pairs '' -o a", "--pairs"),
        ("distill english a.txt --ensemble '' -o a", "--ensemble"),
    ],
)
def test_an_empty_name_is_a_wrong_call(paraloom: Command, call: str, argument: str) -> None:
    status, _, err = paraloom(*shlex.split(call))
    assert status == 2
    assert f"Invalid value for {argument}" in err and "empty string" in err


ENDPOINT = "http://127.0.0.1:1/v1?model=m&from=de&to=en"
NOTHING_KEPT = "the same command starts from the beginning\n"


@pytest.mark.parametrize(
    ("call", "kept", "message"),
    [
        (["translate", "de-en", "in.txt"], "", NOTHING_KEPT),
        (["translate", "de-en"], "", NOTHING_KEPT),
        (["translate", "de-en", "in.txt", "-o", "out.txt"], "", NOTHING_KEPT),
        (["translate", "de-en", "in.txt", "-o", "out.txt"], "out.txt.paraloom", "the same command again resumes"),
        (["translate", ENDPOINT, "in.txt", "-o", "out.txt"], "out.txt.answers.sqlite", "with the answers that "),
        (["translate", ENDPOINT, "in.txt"], "out.txt.answers.sqlite", NOTHING_KEPT),
    ],
)
def test_an_interruption_has_exit_status_130_and_promises_what_is_kept(
    paraloom: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: list[str], kept: str, message: str
) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    # The parameters of the command are those of the function.
    monkeypatch.setattr(api, "translate_file", functools.wraps(api.translate_file)(interrupt))
    if kept:
        (tmp_path / kept).touch()
    status, _, err = paraloom(*call)
    assert status == 130
    assert message in err


@pytest.mark.slow
def test_an_interrupted_command_says_how_to_resume_and_resumes(tmp_path: Path, toy_translator: Path) -> None:
    source = write_bitext(tmp_path, 6000)
    command = [sys.executable, "-m", "paraloom.cli.main", "backtranslate", source, "--translator", str(toy_translator)]
    command += ["-o", "pairs.parquet", "--workers", "1", "--decode", "beam:5"]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=environment())
    work = tmp_path / "pairs.parquet.paraloom"
    wait_until(lambda: list(work.glob("*backtranslate/part-*.parquet")), running)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=TIMEOUT)
    assert running.returncode == 130
    assert "Traceback" not in err and "again" in err
    assert not (tmp_path / "pairs.parquet").exists()
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, env=environment())
    assert pq.read_table(tmp_path / "pairs.parquet").num_rows == 6000


def test_a_warning_is_printed_once_whatever_filters_are_added(
    paraloom: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stages of a run add filters, after which Python shows a warning again."""

    def warn(*_: object, **__: object) -> int:
        for number in (1, 1, 2, 1):
            warnings.simplefilter("default", append=True)
            warnings.warn(f"{number} of 3 sentences consist of unknown tokens only", stacklevel=1)
        return 0

    monkeypatch.setattr(api, "translate_file", functools.wraps(api.translate_file)(warn))
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # set by the command, too
    for _ in range(2):  # once in each command
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            status, _, err = paraloom("translate", "de-en", "in.txt")
        assert status == 0, err
        assert err.count("1 of 3 sentences") == err.count("2 of 3 sentences") == 1


def test_a_command_leaves_the_collection_of_garbage_as_it_was(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = gc.get_threshold()
    monkeypatch.setattr(sys, "argv", ["paraloom", "version"])
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # set by the command, too
    with pytest.raises(SystemExit):
        main()
    assert gc.get_threshold() == before and capsys.readouterr().out
