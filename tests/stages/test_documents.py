"""Documents are paired and their sentences aligned, in pipelines and by commands: row counts, resuming, errors."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from toy_documents import Page, World, made_up_world, write_pages

from paraloom.alignment.document_pairs import DocumentPair, read_document_pairs, write_document_pairs
from paraloom.alignment.documents import EVIDENCE
from paraloom.api.quickstart import BUNDLED
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.schema import LINKS, signature_of
from paraloom.io import Corpus, write_corpus
from paraloom.pipeline.counts import RowCounts
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import pipeline_from_tables
from paraloom.stages.documents import PAIRS_FILE, evidence_weights

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def world() -> World:
    return made_up_world(28, 3)


@pytest.fixture
def folder(world: World, tmp_path: Path) -> Path:
    """Corpora kal and eng, and gold.tsv, English names first."""
    write_pages(tmp_path / "kal", world.source, shard_rows=10)
    write_pages(tmp_path / "eng", world.target)
    write_document_pairs(tmp_path / "gold.tsv", [DocumentPair(b, a) for a, b in sorted(world.gold)])
    return tmp_path


def run(folder: Path, *stages: dict[str, Any], seed: int = 1) -> RunResult:
    pipeline = pipeline_from_tables(stages, name="toy", seed=seed, base=folder)
    return run_pipeline(pipeline, folder / "run", engine="inline")


ALIGN = {"use": "align-documents", "source": "kal", "target": "eng"}
WITHIN = {"use": "align-document-sentences", "source": "kal", "target": "eng", "pairs": "align-documents"}


@pytest.mark.slow
def test_a_pipeline_pairs_documents_and_aligns_their_sentences(folder: Path, world: World) -> None:
    align = {**ALIGN, "gold": "gold.tsv", "gold_swapped": True}
    result = run(folder, align, WITHIN)
    paired, aligned = result.stages
    assert paired.figures == {
        "documents": [31, 31], "pairs": 28, "precision": 1.0, "recall": 1.0, "f1": 1.0, "gold": 28,
    }  # fmt: skip
    pairs = read_document_pairs(paired.folder / "artifact" / PAIRS_FILE)
    assert {(pair.source, pair.target) for pair in pairs} == world.gold
    assert aligned.counts == RowCounts(*[aligned.counts.read] * 2, 0, 0, aligned.counts.read)
    rows = [row for batch in Corpus.open(aligned.folder).batches() for row in batch.to_pylist()]
    assert len(rows) == aligned.counts.read == len({row["pair_id"] for row in rows})
    assert {(row["src_lang"], row["tgt_lang"]) for row in rows} == {("kl", "en")}
    texts = {page.name: page.text.replace("\n", " ") for side in (world.source, world.target) for page in side}
    for row in rows:
        source, target = row["origin"].split()
        assert (source, target) in world.gold
        assert row["src"] in texts[source] and row["tgt"] in texts[target]
    again = run(folder, align, WITHIN)
    assert again.digest == result.digest and all(stage.written == 0 for stage in again.stages)


def german_pages() -> tuple[list[Page], list[Page]]:
    """Short passages as documents of eight lines; the English ones in reverse order."""
    with (Path(__file__).parents[1] / "data/passages.de-en.tsv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))[1:193]
    sides: tuple[list[Page], list[Page]] = ([], [])
    for start in range(0, len(rows), 8):
        for side, lang in enumerate(("de", "en")):
            text = "\n\n".join(row[side] for row in rows[start : start + 8])
            sides[side].append(Page(f"{lang}{start // 8}", lang, text))
    return [*sides[0], Page("leer", "de", " \n\n")], sides[1][::-1]


@pytest.mark.slow
def test_translated_documents_are_paired_and_their_sentences_are_untranslated(tmp_path: Path) -> None:
    german, english = german_pages()
    write_pages(tmp_path / "de", german, shard_rows=9)
    write_pages(tmp_path / "en", english)
    stages = [
        {"use": "translate-documents", "input": "de", "translator": str(BUNDLED / "de-en")},
        {"use": "align-documents", "source": "translate-documents", "target": "en", "rounds": 0},
        {**WITHIN, "source": "translate-documents", "target": "en"},
    ]
    result = run(tmp_path, *stages)
    translated, paired, aligned = result.stages
    assert translated.counts == RowCounts(25, 25, 0, 0, 25)
    corpus = Corpus.open(translated.folder)
    assert signature_of(corpus.schema.field("translation"))
    rows = [row for batch in corpus.batches() for row in batch.to_pylist()]
    assert [len(row["translation"].split("\n")) for row in rows] == [8] * 24 + [1]
    assert rows[24]["translation"] == "" and rows[0]["text"] == german[0].text
    pairs = read_document_pairs(paired.folder / "artifact" / PAIRS_FILE)
    assert sorted(pair.source for pair in pairs) == sorted(page.name for page in german[:24])
    assert all(pair.source[2:] == pair.target[2:] for pair in pairs)
    lines = {line for page in german for line in page.text.split("\n")}
    batches = Corpus.open(aligned.folder).batches()
    single = [row for batch in batches for row in batch.to_pylist() if row["src"] in lines]
    assert len(single) > 150
    again = run(tmp_path, *stages)
    assert again.digest == result.digest and all(stage.written == 0 for stage in again.stages)


@pytest.mark.slow
def test_the_command_translates_first_with_a_translator(tmp_path: Path, paraloom: Command) -> None:
    for name, pages in zip(("de", "en"), german_pages(), strict=True):
        write_pages(tmp_path / name, pages)
    translator = ("--translator", BUNDLED / "de-en")
    status, _, output = paraloom("align", "documents", "de", "en", *translator, "-o", "pairs.tsv")
    assert status == 0 and "24 pairs of 25 and 24 documents" in output
    assert all(pair.source[2:] == pair.target[2:] for pair in read_document_pairs(tmp_path / "pairs.tsv"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"evidence": "word"}, "unknown evidence 'word'; did you mean 'words'"),
        ({"evidence": ""}, "unknown evidence ''"),
        ({"assignment": "mutal"}, "unknown assignment 'mutal'; did you mean 'mutual'"),
        ({"threshold_on": "margins"}, "'threshold_on'"),
        ({"max_candidates": 0}, "'max_candidates' must be 1 or more"),
        ({"treshold": 0.5}, "'treshold'; did you mean 'threshold'"),
        ({"rounds": 1.5}, "'rounds'"),
        ({"target": None}, "'target'"),
    ],
)
def test_invalid_settings_are_refused(folder: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        run(folder, {**ALIGN, **change})
    assert message in str(error.value)
    assert not (folder / "run").exists()


def test_evidence_is_one_kind_or_several() -> None:
    assert evidence_weights("all") == EVIDENCE["all"]
    assert evidence_weights("words, topics") == {"words": 1.0, "topics": 1.0}


def test_a_corpus_of_another_schema_is_refused(folder: Path) -> None:
    write_corpus(folder / "links", [], kind="LINKS")
    with pytest.raises(DataError, match="column 'doc_id' is missing") as error:
        run(folder, {**ALIGN, "target": "links"})
    assert error.value.stage == "10-align-documents"


def test_documents_without_counterparts_are_not_paired(folder: Path) -> None:
    write_pages(folder / "empty", [Page("x", "en", ""), Page("y", "en", "\n")])
    stages = [{**ALIGN, "target": "empty"}, {**WITHIN, "target": "empty"}]
    assert run(folder, stages[0]).stages[0].figures == {"documents": [31, 2], "pairs": 0}
    with pytest.raises(DataError, match="no pairs of documents") as error:
        run(folder, *stages)
    assert error.value.stage == "20-align-document-sentences"


@pytest.mark.slow
def test_the_commands_align_documents_then_sentences(folder: Path, paraloom: Command, world: World) -> None:
    status, _, output = paraloom("align", "documents", "kal", "eng", "-o", "pairs.tsv")
    assert status == 0 and "28 pairs of 31 and 31 documents in pairs.tsv" in output
    assert (folder / "pairs.tsv").read_text().startswith("src_doc\ttgt_doc\tscore\tmargin\n")
    assert not (folder / "pairs.tsv.paraloom").exists()
    status, output, _ = paraloom("evaluate", "documents", "pairs.tsv", "--gold", "gold.tsv", "--swap", "--json")
    assert status == 0 and json.loads(output) == {"precision": 1.0, "recall": 1.0, "f1": 1.0, "gold": 28}

    assert paraloom("align", "sentences", "kal", "eng", "--documents", "pairs.tsv", "-o", "out.tsv")[0] == 0
    assert paraloom("align", "sentences", "kal", "eng", "--documents", "pairs.tsv", "-o", "links.parquet")[0] == 0
    table = pq.read_table(folder / "links.parquet")
    assert table.schema.names == LINKS.names
    links = table.to_pylist()
    assert {(row["src_doc"], row["tgt_doc"]) for row in links} == world.gold
    lines = {page.name: page.text.split("\n") for side in (world.source, world.target) for page in side}
    for source, target in world.gold:
        of_pair = [row for row in links if (row["src_doc"], row["tgt_doc"]) == (source, target)]
        assert [line for row in of_pair for line in row["src_ids"]] == list(range(len(lines[source])))
        assert [line for row in of_pair for line in row["tgt_ids"]] == list(range(len(lines[target])))
    both = [row for row in links if row["src_ids"] and row["tgt_ids"]]
    with (folder / "out.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    expected = [
        (
            " ".join(lines[row["src_doc"]][line] for line in row["src_ids"]),
            " ".join(lines[row["tgt_doc"]][line] for line in row["tgt_ids"]),
        )
        for row in both
    ]
    assert [(row["src"], row["tgt"]) for row in rows] == expected


def test_passages_of_documents_cross_in_the_order_local(tmp_path: Path, paraloom: Command) -> None:
    lines = [f"alpha{k} beta{k} gamma{k} delta{k}" for k in range(30)]
    for side, lang, text in (("kal", "xk", lines), ("eng", "en", lines[12:] + lines[:12])):
        write_pages(tmp_path / side, [Page(f"page-{side}", lang, "\n".join(text))])
    write_document_pairs(tmp_path / "pairs.tsv", [DocumentPair("page-kal", "page-eng")])
    command = ("align", "sentences", "kal", "eng", "--documents", "pairs.tsv", "--encoder", "none", "--order", "local")
    for output in ("out.tsv", "links.parquet"):
        status, _, message = paraloom(*command, "-o", output)
        assert status == 0, message
    links = pq.read_table(tmp_path / "links.parquet").to_pylist()
    assert [(row["src_ids"], row["tgt_ids"]) for row in links] == [([k], [(k - 12) % 30]) for k in range(30)]
    with (tmp_path / "out.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert [(row["src"], row["tgt"]) for row in rows] == [(line, line) for line in lines]


def test_scores_of_document_pairs_by_hand(tmp_path: Path, paraloom: Command) -> None:
    """Of four true pairs two are found, one of them listed twice, and a wrong one."""
    (tmp_path / "found.tsv").write_text("a\tx\t0.9\t0.5\nb\ty\nc\tw\nb\ty\n")
    (tmp_path / "gold.tsv").write_text("a\tx\nb\ty\nc\tz\nd\tw\n")
    (tmp_path / "swapped.tsv").write_text("x\ta\ny\tb\nz\tc\nw\td\n")
    for arguments in (["gold.tsv"], ["swapped.tsv", "--swap"]):
        status, output, _ = paraloom("evaluate", "documents", "found.tsv", "--gold", *arguments)
        assert status == 0 and output == "precision 0.6667  recall 0.5000  f1 0.5714  of 4 pairs\n"
    output = paraloom("evaluate", "documents", "found.tsv", "--gold", "swapped.tsv", "--json")[1]
    assert json.loads(output) == {"precision": 0, "recall": 0, "f1": 0, "gold": 4}


DOCUMENTS = ("documents", "kal", "eng", "-o", "out.tsv")
SENTENCES = ("sentences", "kal", "eng", "-o", "out.tsv")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("documents", "kal", "nowhere", "-o", "out.tsv"), 1, "nowhere: expected a corpus of documents"),
        (("documents", "gold.tsv", "eng", "-o", "out.tsv"), 1, "gold.tsv: expected a corpus of documents"),
        ((*DOCUMENTS, "--evidence", "topic"), 1, "did you mean 'topics'"),
        ((*SENTENCES, "--documents", "header.tsv"), 1, "header.tsv: the file has no pairs"),
        ((*SENTENCES, "--documents", "empty.tsv"), 1, "empty.tsv: the file is empty"),
        ((*SENTENCES, "--documents", "bad.tsv"), 1, "bad.tsv, row 2: expected a pair of documents, got 'k2'"),
        ((*SENTENCES, "--documents", "pear.tsv"), 1, "pear.tsv: file not found"),
        ((*SENTENCES, "--documents", "other.tsv"), 1, "document 'k1' not found in the corpus"),
        ((*SENTENCES[:3], "--documents", "other.tsv", "-o", "o.parquet"), 1, "document 'k1' not found in the corpus"),
        (
            ("sentences", "kal", "none", "--documents", "other.tsv", "-o", "out.tsv"),
            1,
            "expected a corpus of documents",
        ),
        ((*SENTENCES, "--documents", "bad.tsv", "--translations", "a.txt"), 2, "--translations is for two texts"),
        ((*SENTENCES, "--documents", "bad.tsv", "--lexicon", "words.tsv"), 2, "--lexicon is for two texts"),
    ],
)
def test_invalid_input_of_the_commands_is_refused(
    folder: Path, paraloom: Command, arguments: tuple[str, ...], code: int, message: str
) -> None:
    (folder / "header.tsv").write_text("src_doc\ttgt_doc\tscore\tmargin\n")
    (folder / "empty.tsv").write_text("")
    (folder / "bad.tsv").write_text("k1\te1\nk2\n")
    (folder / "other.tsv").write_text("k1\te1\n")
    status, _, errors = paraloom("align", *arguments)
    assert status == code
    assert message in " ".join(errors.replace("│", "").split())
    assert not any((folder / name).exists() for name in ("out.tsv", "o.parquet", "o"))
    assert "Traceback" not in errors


def test_null_texts_and_images_count_as_empty(tmp_path: Path) -> None:
    rows = {"doc_id": ["a"], "lang": [None], "url": [None], "title": [None], "text": [None], "images": [None]}
    for name in ("kal", "eng"):
        schema = write_pages(tmp_path / f"{name}0", []).schema
        write_corpus(tmp_path / name, [pa.record_batch(rows, schema=schema)], kind="DOCUMENTS")
    assert run(tmp_path, ALIGN).stages[0].figures == {"documents": [1, 1], "pairs": 0}
