"""The public functions and those of `api` are typed for their callers."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from paraloom import stages
from paraloom.api.alignment import AlignFilesConfig, AlignFilesSettings
from paraloom.api.extract import ExtractConfig
from paraloom.api.keywords import (
    ExtractSettings,
    FilterSettings,
    LanguageModelSettings,
    LexiconSettings,
    ReadingOptions,
)

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_misspelt_keyword_is_an_error(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    script = tmp_path / "script.py"
    script.write_text(
        'from paraloom import api\n\napi.align_files("a.de", "a.en", "out.tsv", max_beed_size=3)\n'
        'api.read_pairs("pairs.tsv").filter(sampel=3)\n'
    )
    # From the folder in which `make lint` runs, whose cache has everything but the script.
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", str(script)]
    environment = os.environ | {"MYPYPATH": "src"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert done.stdout.count("Unexpected keyword argument") == 2, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("keywords", "kind", "others"),
    [
        (AlignFilesSettings, AlignFilesConfig, set()),
        (FilterSettings, stages.Filter, {"name", "input", "where", "resources"}),
        (ReadingOptions, stages.ReadPairs, {"name", "source", "bad_rows"}),
        (ExtractSettings, ExtractConfig, set()),
        (LexiconSettings, stages.ExtractLexicon, {"name", "pairs", "resources"}),
        (LanguageModelSettings, stages.TrainLanguageModel, {"name", "corpora", "columns", "units", "resources"}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_keywords_are_the_fields_that_they_set(keywords: type, kind: type, others: set[str]) -> None:
    assert set(keywords.__annotations__) | others == {field.name for field in dataclasses.fields(kind)}
