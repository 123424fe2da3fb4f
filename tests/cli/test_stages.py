"""`paraloom stages` lists every stage, and describes each key of one."""

from __future__ import annotations

import dataclasses

import pytest
from typer.testing import CliRunner

from paraloom.cli.main import app
from paraloom.pipeline.registry import STAGES, load_stage


def output(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["stages", *arguments], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    return result.output


def test_all_stages_are_listed() -> None:
    lines = output().splitlines()
    for use in STAGES:
        (line,) = [line for line in lines if line.split()[:1] == [use]]
        assert line.split()[1] in ("source", "map", "fit") and len(line.split()) > 4


@pytest.mark.parametrize("use", STAGES)
def test_every_key_of_a_stage_is_described(use: str) -> None:
    lines = output(use).partition("\nKeys\n")[2].partition("\nReference\n")[0].splitlines()
    keys = [number for number, line in enumerate(lines) if line.startswith("  ") and line[2] != " "]
    names = [lines[number].split(":")[0].strip() for number in keys]
    assert sorted(names) == sorted(field.name for field in dataclasses.fields(load_stage(use)))
    assert all(lines[number + 1].startswith("      ") and lines[number + 1].strip() for number in keys)


def test_types_and_defaults_are_in_words() -> None:
    lines = [line.strip() for line in output("measure-diversity").splitlines()]
    assert "variants: a stage or a path; required" in lines
    assert "references: a stage or a path; optional" in lines
    assert 'kernels: a list of texts; default ["sst"]' in lines
    assert "reference_column: 'src' or 'tgt'; default \"tgt\"" in lines
    assert "limit: a whole number; default 30000" in lines
    assert 'name: text; default "measure-diversity"' in lines


def test_inherited_keys_are_described() -> None:
    assert "Maximum number of words of a line." in output("clean")


def test_an_unknown_stage_is_an_error_that_suggests() -> None:
    result = CliRunner().invoke(app, ["stages", "read-pairz"])
    assert result.exit_code == 1
    assert "did you mean 'read-pairs'?" in result.output
