"""Recipes: pipelines run before the tables that need them, references become paths, and 'all' is what can be made."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import Command

from paraloom.core.errors import ConfigError
from paraloom.io import Corpus
from paraloom.papers import recipe
from paraloom.papers.published import PAPERS
from paraloom.papers.recipe import read_recipe, reproduce_recipe
from paraloom.papers.tables import ReproducedTable

EXAMPLE = Path(__file__).parents[2] / "examples/papers.toml"

PIPELINE = """
name = "toy"

[[stage]]
name = "read"
use = "read-pairs"
source = "${TOY_PAIRS}"
src_lang = "en"
tgt_lang = "en"

[[stage]]
name = "counts"
use = "count-words"
corpora = ["read"]
"""

RECIPE = """
[[run]]
name = "pairs"
pipeline = "toy.toml"
seed = 7

[[run]]
name = "again"
pipeline = "toy.toml"
variables = { TOY_PAIRS = "@pairs/read/corpus.json" }

[[run]]
name = "loop"
loop = "loop.toml"
needs = ["TOY_DOCUMENTS"]

[[tables]]
name = "statistics"
tables = ["w17-9", "w17-10"]
settings = { sts = "${TOY_STS}/sts", pairs = { toy = "@pairs/read" }, word_frequencies = "@pairs/counts", size = 5 }

[[tables]]
name = "loops"
tables = ["park17-2"]
settings = { loop = "@loop" }
"""


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[list[str], dict[str, Any]]]:
    """The calls of `reproduce_tables`, which are recorded and make empty tables."""
    recorded: list[tuple[list[str], dict[str, Any]]] = []

    def reproduce(names: Sequence[str], **settings: Any) -> Iterator[ReproducedTable]:
        recorded.append((list(names), settings))
        return (ReproducedTable(name, PAPERS[name], []) for name in names)

    monkeypatch.setattr(recipe, "reproduce_tables", reproduce)
    monkeypatch.setenv("TOY_PAIRS", str(tmp_path / "pairs.tsv"))
    monkeypatch.setenv("TOY_STS", "/tasks")
    (tmp_path / "pairs.tsv").write_text("a dog\ta hound\na cat\tthe cat\n", encoding="utf-8")
    (tmp_path / "toy.toml").write_text(PIPELINE, encoding="utf-8")
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    return recorded


def test_references_become_what_the_stages_of_a_run_wrote(
    calls: list[tuple[list[str], dict[str, Any]]], paraloom: Command, tmp_path: Path
) -> None:
    status, out, err = paraloom("papers", "run", "w17-9", "--recipe", "recipe.toml", "-o", "made", "--workers", 1)
    assert status == 0, err
    [(names, settings)] = calls
    assert names == ["w17-9"] and settings["sts"] == "/tasks/sts" and settings["size"] == 5
    assert settings["folder"] == tmp_path / "made/statistics"
    assert Corpus.open(settings["pairs"]["toy"]).rows == 2
    assert "### W17 Table 9" in out and (tmp_path / "made/w17-9.json").is_file()
    assert not (tmp_path / "made/again").exists(), "no table needs this run"
    counts = Path(settings["word_frequencies"]) / "rarity.safetensors"
    written = counts.stat().st_mtime_ns
    list(reproduce_recipe(["w17-10"], "recipe.toml", "made", workers=1))
    assert counts.stat().st_mtime_ns == written, "a finished stage is not repeated"


def test_all_leaves_out_what_needs_a_variable_that_is_not_set(
    calls: list[tuple[list[str], dict[str, Any]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TOY_DOCUMENTS", raising=False)
    tables = list(reproduce_recipe(["all"], "recipe.toml", "made", workers=1))
    assert [table.name for table in tables] == ["w17-9", "w17-10"]


def test_variables_of_a_run_are_set_while_it_runs(
    calls: list[tuple[list[str], dict[str, Any]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    seen = []
    monkeypatch.setattr(recipe, "selftrain", lambda *arguments, **options: seen.append(os.environ["LANGUAGE"]))
    text = RECIPE.replace('needs = ["TOY_DOCUMENTS"]', 'variables = { LANGUAGE = "de" }')
    (tmp_path / "recipe.toml").write_text(text, encoding="utf-8")
    before = dict(os.environ)
    list(reproduce_recipe(["park17-2"], "recipe.toml", "made"))
    assert seen == ["de"] and dict(os.environ) == before
    assert calls[0][1]["loop"] == str(tmp_path / "made/loop")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('toy = "@pairs/read"', 'toy = "@pair/read"', "'statistics' refers to '@pair'; did you mean 'pairs'"),
        ('"w17-9"', '"w17-99"', "unknown table 'w17-99'"),
        ('loop = "loop.toml"', 'loop = "loop.toml"\npipeline = "a"', "expected one of the keys 'pipeline' and 'loop'"),
        ("seed = 7", "sede = 7", "unknown key 'sede'"),
        ("[[tables]]", "[[table]]", "unknown key 'table'"),
        ("[[run]]", "[run", "the recipe cannot be read"),
    ],
)
def test_mistakes_in_a_recipe_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE.replace(old, new), encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        read_recipe(tmp_path / "recipe.toml")


def test_a_table_that_the_recipe_does_not_make_is_an_error(
    calls: list[tuple[list[str], dict[str, Any]]], paraloom: Command
) -> None:
    status, _, err = paraloom("papers", "run", "w17-4", "--recipe", "recipe.toml")
    assert status == 1 and "the recipe does not make table 'w17-4'" in " ".join(err.split())


def test_the_example_makes_every_table() -> None:
    example = read_recipe(EXAMPLE)
    assert {table for group in example.tables for table in group.tables} == set(PAPERS)
    for run in example.run:
        assert (EXAMPLE.parent / (run.pipeline or run.loop)).is_file()
