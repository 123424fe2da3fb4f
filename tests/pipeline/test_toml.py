"""Pipelines in TOML files: what is accepted, and what errors name."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest

from paraloom.core.config import FieldTypeError, coerce
from paraloom.core.errors import ConfigError
from paraloom.pipeline.definition import Definition
from paraloom.pipeline.toml import parse_pipeline, read_pipeline

COUNT = '[[stage]]\nname = "count"\nuse = "toy_stages:Count"\n'
UPPER = '[[stage]]\nname = "upper"\nuse = "toy_stages:Upper"\n'
TOTAL = '[[stage]]\nname = "total"\nuse = "toy_stages:Total"\n'


def parsed(text: str, folder: Path = Path()) -> Definition:
    return parse_pipeline(text, file=folder / "toy.toml")


def test_the_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Defaults, references, paths below the file's folder, the environment."""
    monkeypatch.setenv("TOY_FILE", "lines.txt")
    (tmp_path / "lines.txt").write_text("a\nb\n")
    file = tmp_path / "two.toml"
    file.write_text(
        f'seed = 7\n{COUNT}sentences = 12\n[[stage]]\nuse = "toy_stages:Lines"\npath = "${{TOY_FILE}}"\n'
        f'{UPPER}[[stage]]\nname = "again"\nuse = "toy_stages:Upper"\ninput = "count"\ndelay = 1\n'
        f'{TOTAL}corpora = ["upper", "again"]\nother = "lines.txt"\n'
    )
    pipeline = read_pipeline(file)
    count, lines, upper, again, total = pipeline.steps
    assert (pipeline.name, pipeline.seed) == ("two", 7)
    assert count.stage.configuration() == {"shard_rows": 40, "sentences": 12, "first": 0, "bad": 0, "piece": 33}
    assert (lines.name, lines.stage.files()) == ("Lines", (tmp_path / "lines.txt",))
    assert (upper.source, again.source) == ("Lines", "count")
    assert again.stage.configuration()["delay"] == 1.0
    assert total.references == {"corpora.0": "upper", "corpora.1": "again", "other": tmp_path / "lines.txt"}


WRONG = [
    ("stage = 3", "is not a list of tables"),
    ("", "the pipeline has no stages"),
    ("seed = ", "invalid TOML: Invalid value (at end of document)"),
    (f"seed = {'9' * 5000}", "invalid TOML: Exceeds the limit"),
    (f"seed = {'[' * 3000}", "invalid TOML"),
    ("sead = 1\n" + COUNT, "unknown key 'sead'; did you mean 'seed'?"),
    ("seed = -1\n" + COUNT, "key 'seed' must be a whole number, 0 or more, not -1"),
    ("seed = true\n" + COUNT, "key 'seed' must be a whole number, 0 or more, not True"),
    ('[[stage]]\nname = "x"\n', "key 'use' is missing: the kind of stage"),
    ('[[stage]]\nuse = "backtranslat"\n', "unknown stage 'backtranslat'; did you mean 'backtranslate'?"),
    ('[[stage]]\nuse = "toy_stages:Cuont"\n', "stage 'toy_stages:Cuont' cannot be loaded"),
    ('[[stage]]\nuse = "toy_stages:mark"\n', "'toy_stages:mark' is not a stage"),
    (COUNT + "sentense = 3\n", "unknown key 'sentense'; did you mean 'sentences'?"),
    (COUNT + 'input = "x"\n', "unknown key 'input'"),
    (COUNT + 'sentences = "3"\n', "key 'sentences' must be a whole number, not '3'"),
    (COUNT + "sentences = true\n", "key 'sentences' must be a whole number, not True"),
    (COUNT + COUNT, "an earlier stage has this name"),
    (COUNT.replace("count", "../up"), "key 'name' must be letters, digits, - and _, not '../up'"),
    (UPPER, "no earlier stage yields a corpus"),
    (COUNT + UPPER + 'input = "cuont"\n', "key 'input': 'cuont' is neither an earlier stage nor a path; did you"),
    (COUNT + UPPER + "delay = nan\n", "key 'delay' must be a finite number, not nan"),
    (COUNT + TOTAL, "key 'corpora' is missing"),
    (COUNT + TOTAL + 'corpora = "count"\n', "key 'corpora' must be a list of stages or paths, not 'count'"),
    (COUNT + TOTAL + 'corpora = ["upper"]\n' + UPPER, "'upper' is neither an earlier stage nor a path"),
    (
        COUNT + TOTAL + 'corpora = ["count"]\n' + UPPER + 'input = "total"\n',
        "'total' yields a model, not a corpus",
    ),
    (COUNT + '[[stage]]\nuse = "toy_stages:Faulty"\nhow = "dye"\n', "key 'how' must be 'data' or 'batch' or"),
    ('[[stage]]\nuse = "toy_stages:Lines"\npath = "none.txt"\n', "none.txt' not found"),
    (
        '[[stage]]\nuse = "toy_stages:Lines"\npath = "${TOY_NOWHERE}/a"\n',
        "environment variable 'TOY_NOWHERE' is not set",
    ),
]


@pytest.mark.parametrize(("text", "what"), WRONG)
def test_what_is_wrong_is_named(text: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        parsed(text, tmp_path)
    assert what in raised.value.what
    assert raised.value.file == str(tmp_path / "toy.toml")


def test_the_stage_is_named() -> None:
    with pytest.raises(ConfigError) as raised:
        parsed(COUNT + UPPER + "sufixes = 1\n")
    assert str(raised.value).startswith("stage upper, toy.toml: unknown key 'sufixes'; did you mean 'suffixes'?")


@pytest.mark.parametrize("content", [None, b"name = '\xff'"])
def test_a_file_that_cannot_be_read(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "toy.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match="the pipeline cannot be read"):
        read_pipeline(path)


def test_a_byte_order_mark_is_no_key(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(COUNT, encoding="utf-8-sig")
    assert [step.name for step in read_pipeline(tmp_path / "p.toml").steps] == ["count"]


def test_until() -> None:
    pipeline = parsed(COUNT + UPPER)
    assert [step.name for step in pipeline.until("count")] == ["count"]
    with pytest.raises(ConfigError, match="unknown stage 'uper'; did you mean 'upper'"):
        pipeline.until("uper")


FITS: list[tuple[object, Any, object]] = [
    (3, float, 3.0),
    (3, int | float, 3),
    (2.5, int | None, FieldTypeError),
    (["a"], tuple[str, ...], ("a",)),
    (["a", 2], tuple[str, int], ("a", 2)),
    (["a"], tuple[str, int], FieldTypeError),
    ([1, 2], list[float], [1.0, 2.0]),
    (1, Literal["a", 1], 1),
    (True, Literal[1], FieldTypeError),
    (True, float, FieldTypeError),
    ({"a": 1}, dict[str, float], {"a": 1.0}),
    (float("inf"), float, FieldTypeError),
    ("/b", Path, Path("/b")),
    (["b"], tuple[Path, ...], (Path("/a/b"),)),
    ("", Path, FieldTypeError),
    ("x", bytes, FieldTypeError),
]


@pytest.mark.parametrize(("value", "annotation", "expected"), FITS)
def test_values_meet_annotations(value: object, annotation: Any, expected: object) -> None:
    if expected is FieldTypeError:
        with pytest.raises(FieldTypeError):
            coerce(value, annotation, Path("/a"))
    else:
        coerced = coerce(value, annotation, Path("/a"))
        assert (coerced, type(coerced)) == (expected, type(expected))


def test_a_relative_path_in_the_environment_starts_where_the_command_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora/a.tsv").write_text("eins\tone\n", encoding="utf-8")
    (tmp_path / "pipelines").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CORPORA", "corpora")
    text = '[[stage]]\nuse = "read-pairs"\nsource = "${CORPORA}/a.tsv"\n'
    (step,) = parse_pipeline(text, file=tmp_path / "pipelines/p.toml").steps
    assert str(step.stage.source) == str(tmp_path / "corpora/a.tsv")  # type: ignore[union-attr]
