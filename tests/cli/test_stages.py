"""`paraloom stages`: every stage is listed, and says each key that a pipeline may give it."""

from __future__ import annotations

import dataclasses

import pytest
from typer.testing import CliRunner

from paraloom.cli.main import app
from paraloom.pipeline.registry import STAGES, load_stage


def said(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["stages", *arguments], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    return result.output


def test_all_stages_are_listed_with_what_they_do() -> None:
    lines = said().splitlines()
    for use in STAGES:
        (line,) = [line for line in lines if line.split()[:1] == [use]]
        assert line.split()[1] in ("reads", "maps", "makes") and len(line.split()) > 4


@pytest.mark.parametrize("use", STAGES)
def test_a_stage_says_its_keys(use: str) -> None:
    keys = [line.split()[0] for line in said(use).rpartition(" default")[2].splitlines()[1:] if line.strip()]
    expected = [field.name for field in dataclasses.fields(load_stage(use))]
    assert [key for key in keys if key not in ("name", "input")] == expected


def test_types_are_those_of_a_toml_file() -> None:
    shown = said("measure-diversity")
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in shown.splitlines() if line.strip()}
    assert rows["variants"] == "stage or path needed"
    assert rows["kernels"] == 'list of str ["sst"]'
    assert rows["reference_column"] == '"src" | "tgt" "tgt"'
    assert rows["limit"] == "int 30000"


def test_an_unknown_stage_is_an_error_that_suggests() -> None:
    result = CliRunner().invoke(app, ["stages", "read-pairz"])
    assert result.exit_code == 1
    assert "did you mean 'read-pairs'?" in result.output
