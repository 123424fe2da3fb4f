"""Two languages aligned in a third, into which both were translated (PARK17 §5): documents, sentences, the loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from toy_documents import World, made_up_world, write_pages

from paraloom.core.errors import ConfigError, DataError
from paraloom.io import Corpus, write_corpus
from paraloom.papers.park17.selftraining import LoopConfig, stage_tables
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import pipeline_from_tables

Command = Callable[..., tuple[int, str, str]]

ALIGN = {"use": "align-documents", "source": "kal", "target": "tri", "evidence": "words", "rounds": 0}
SENTENCES = {"use": "align-document-sentences", "source": "kal", "target": "tri", "pivot": True}


def third(text: str) -> str:
    """English words of the toy world in a third language, which shares none of them with either."""
    return "\n".join(" ".join(word[::-1] + "ü" for word in line.split()) for line in text.split("\n"))


@pytest.fixture(scope="module")
def world() -> World:
    return made_up_world(24, 3)


@pytest.fixture
def folder(world: World, tmp_path: Path) -> Path:
    """Corpora kal and tri, both with their translations into English."""
    write_pages(tmp_path / "kal", world.source, translated=True)
    pages = [replace(page, lang="tr", text=third(page.text), translation=page.text) for page in world.target]
    write_pages(tmp_path / "tri", pages, translated=True)
    return tmp_path


def run(folder: Path, *stages: dict[str, Any]) -> Any:
    return run_pipeline(pipeline_from_tables(stages, name="toy", seed=1, base=folder), folder / "run")


@pytest.mark.slow
def test_documents_and_sentences_are_aligned_by_translations_and_written_as_originals(
    folder: Path, world: World
) -> None:
    result = run(folder, {**ALIGN, "pivot": True}, {**SENTENCES, "pairs": "align-documents"})
    assert result.stages[0].figures["pairs"] == len(world.gold)
    rows = [row for batch in Corpus.open(result.stages[1].folder).batches() for row in batch.to_pylist()]
    lines = {page.name: page.text.split("\n") for page in world.source}
    lines |= {page.name: third(page.text).split("\n") for page in world.target}
    translations = {page.name: page.translation.split("\n") for page in world.source}
    exact = 0
    for row in rows:
        source, target = row["origin"].split()
        assert (source, target) in world.gold
        if row["src"] in lines[source]:  # one to one, or one to two
            exact += third(translations[source][lines[source].index(row["src"])]) == row["tgt"]
        assert all(word.endswith("ü") for word in row["tgt"].split())
    assert exact > 0.9 * sum(len(lines[target]) for _, target in world.gold)


@pytest.mark.slow
def test_without_the_pivot_translations_are_compared_with_the_wrong_texts(folder: Path) -> None:
    assert run(folder, ALIGN).stages[0].figures["pairs"] < 24


def test_a_corpus_without_translations_has_no_pivot(folder: Path, world: World) -> None:
    write_pages(folder / "bare", world.target)
    with pytest.raises(DataError, match="column 'translation' is missing"):
        run(folder, {"use": "align-documents", "source": "kal", "target": "bare", "pivot": True})


def test_a_translation_with_other_lines_is_named(folder: Path, world: World) -> None:
    batch = next(Corpus.open(folder / "tri").batches())
    short = pa.array([text.partition("\n")[2] for text in batch.column("translation").to_pylist()])
    column = batch.schema.get_field_index("translation")
    write_corpus(folder / "short", [batch.set_column(column, "translation", short)], kind="DOCUMENTS", shard_rows=50)
    source, target = sorted(world.gold)[0]
    (folder / "pairs.tsv").write_text(f"{source}\t{target}\n")
    with pytest.raises(DataError, match=rf"{target}: the text has \d+ lines, its translation has"):
        run(folder, {**SENTENCES, "target": "short", "pairs": "pairs.tsv"})


def test_two_texts_are_aligned_by_their_translations_into_a_third_language(paraloom: Command) -> None:
    english = ["The dog sleeps.", "A very old cat sits on the warm stone wall.", "Nobody came.", "We left at nine."]
    Path("a").write_text("\n".join(f"aa {n}" for n in "abcd") + "\n")
    Path("b").write_text("\n".join(f"bb {n}" for n in "wxyz") + "\n")
    Path("a.en").write_text("\n".join(english) + "\n")
    Path("b.en").write_text("\n".join(english) + "\n")
    options = ["--pivot", "--translations", "a.en"]
    status, _, _ = paraloom("align", "sentences", "a", "b", *options, "--target-translations", "b.en", "-o", "o.tsv")
    assert status == 0
    rows = [line.split("\t") for line in Path("o.tsv").read_text().splitlines()[1:]]
    assert [(row[1], row[2]) for row in rows] == [
        ("aa a", "bb w"),
        ("aa b", "bb x"),
        ("aa c", "bb y"),
        ("aa d", "bb z"),
    ]
    status, _, message = paraloom("align", "sentences", "a", "b", *options, "-o", "p.tsv")
    assert status != 0 and "pivot" in message


def test_delimiters_are_those_of_the_texts_not_of_their_translations(paraloom: Command) -> None:
    Path("a").write_text("aa a\n.EOA\naa b\n")
    Path("b").write_text("bb w\n.EOA\nbb x\n")
    Path("a.en").write_text("The dog sleeps.\nEND .\nNobody came.\n")
    Path("b.en").write_text("The dog sleeps.\n.EOA\nNobody came.\n")
    call = ["align", "sentences", "a", "b", "--pivot", "--translations", "a.en", "--target-translations", "b.en"]
    status, _, message = paraloom(*call, "--hard-delimiter", ".EOA", "-o", "o.tsv")
    assert status == 0, message
    rows = [line.split("\t")[1:3] for line in Path("o.tsv").read_text().splitlines()[1:]]
    assert rows == [["aa a", "bb w"], ["aa b", "bb x"]]


def test_a_pivot_needs_translations_of_both_sides(paraloom: Command, world: World) -> None:
    write_pages(Path("kal"), world.source)
    status, _, message = paraloom("align", "documents", "kal", "kal", "--target-translator", "m", "-o", "p.tsv")
    assert status != 0 and "a translator of the target needs one of the source" in message


def test_the_loop_aligns_a_third_language_by_its_translation() -> None:
    table = {"source": "a"}
    third = {"input": "ko", "translator": "model", "gold": "g", "gold_swapped": True}
    config = LoopConfig(source="fr", target="en", bitext=(table,), development=table, third_language=third)
    stages = {stage["name"]: stage for stage in stage_tables(config, 2)}
    assert stages["third-translated"]["input"] == "ko"
    documents = stages["third-documents-2"]
    assert (documents["use"], documents["source"], documents["target"]) == (
        "align-documents",
        "third-translated",
        "translated-2",
    )
    assert documents["pivot"] and documents["gold"] == "g"
    assert stages["third-pairs-2"]["pairs"] == "third-documents-2" and stages["third-pairs-2"]["pivot"]


@pytest.mark.parametrize(
    ("third", "message"),
    [
        ({"input": "ko"}, "key 'translator' is missing"),
        ({"input": "ko", "translators": "m"}, "did you mean 'translator'"),
    ],
)
def test_a_third_language_needs_documents_and_a_translator(third: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        LoopConfig(
            source="fr", target="en", bitext=({"source": "a"},), development={"source": "d"}, third_language=third
        )
