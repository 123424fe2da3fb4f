"""The method of the sentence aligner and its weights in pipelines: tuned, passed on, and refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from toy_documents import Page, World, made_up_world, write_pages

from paraloom.alignment.document_pairs import DocumentPair, write_document_pairs
from paraloom.alignment.methods import aligner_config, fit_method
from paraloom.alignment.text_pairs import TextPair
from paraloom.core.beads import Bead, join_sentences
from paraloom.core.errors import ConfigError, DataError
from paraloom.io import Corpus
from paraloom.io.formats.alignments import GoldDocument
from paraloom.papers.park17.aligner import PUBLISHED, Park17Weights, choose_weights, read_weights, weight_grid
from paraloom.papers.park17.aligner_tuning import GRID_FILE, TuneAligner, grid_f1
from paraloom.papers.park17.gold_documents import EvaluateAligner
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import pipeline_from_tables
from paraloom.stages.documents import AlignDocumentSentences

DOCUMENT = {
    "source": ["sun moon", "star", "rain and snow and ice"],
    "target": ["sun moon star", "rain and snow and ice"],
    "gold": [[[0, 1], [0]], [[2], [1]]],
}


# λ2 is worth more than what the cosine gains by joining two sentences.
SPLITTING = Park17Weights(0.0, 0.3, 0.7)


@pytest.fixture(scope="module")
def world() -> World:
    return made_up_world(12, 0, 0)


@pytest.fixture
def folder(world: World, tmp_path: Path) -> Path:
    write_pages(tmp_path / "kal", world.source, translated=True)
    write_pages(tmp_path / "eng", world.target)
    write_document_pairs(tmp_path / "pairs.tsv", [DocumentPair(a, b) for a, b in sorted(world.gold)])
    (tmp_path / "gold.jsonl").write_text(json.dumps(DOCUMENT) + "\n")
    return tmp_path


def run(folder: Path, *stages: dict[str, Any]) -> RunResult:
    return run_pipeline(pipeline_from_tables(stages, name="toy", seed=1, base=folder), folder / "run", engine="inline")


def test_the_grid_is_evaluated_weight_by_weight() -> None:
    document = GoldDocument(
        DOCUMENT["source"], DOCUMENT["target"], [Bead(tuple(a), tuple(b)) for a, b in DOCUMENT["gold"]]
    )
    f1 = grid_f1([document], [TextPair(document.source, document.target)])
    assert list(f1) == list(weight_grid())
    assert f1[Park17Weights(0.0, 0.0, 1.0)] == 1.0
    assert all(0 <= value <= 1 for value in f1.values()) and len(set(f1.values())) > 1


def test_tuning_writes_the_weights_that_the_grid_says(folder: Path) -> None:
    tuned = run(folder, {"use": "tune-aligner", "documents": "gold.jsonl"}).stages[0]
    artifact = tuned.folder / "artifact"
    rows = [line.split("\t") for line in (artifact / GRID_FILE).read_text().splitlines()[1:]]
    f1 = {weights: float(row[3]) for weights, row in zip(weight_grid(), rows, strict=True)}
    assert [[f"{value:.4f}" for value in weights] for weights in f1] == [row[:3] for row in rows]
    assert read_weights(artifact) == choose_weights(f1, 2)
    assert tuned.figures["published_f1"] == f1[PUBLISHED]


def test_weights_are_chosen_by_their_neighborhood_and_beyond_the_standard_error() -> None:
    cells = list(weight_grid())[1:]
    flat = dict.fromkeys(weight_grid(), 0.5)
    # A peak of one cell is chance; a plateau is not.
    assert choose_weights({**flat, cells[40]: 0.65}, 400) == PUBLISHED
    plateau = {cells[row * 9 + column]: 0.65 for row in (3, 4, 5) for column in (3, 4, 5)}
    assert choose_weights(flat | plateau, 400) == cells[4 * 9 + 4]
    # The standard error of F1 .5 on 10 beads is .158, on 12 it is .144.
    assert choose_weights(flat | plateau, 10) == PUBLISHED
    assert choose_weights(flat | plateau, 12) == cells[4 * 9 + 4]


def test_the_method_and_its_weights_decide_on_the_beads(folder: Path) -> None:
    for lang, side in (("kl", "source"), ("en", "target")):
        write_pages(folder / side, [Page(side, lang, "\n".join(DOCUMENT[side]))])
    (folder / "pair.tsv").write_text("source\ttarget\n")
    (folder / "splitting.json").write_text(json.dumps(SPLITTING._asdict()))
    sides = {"use": "align-document-sentences", "source": "source", "target": "target", "pairs": "pair.tsv"}
    pair = TextPair(DOCUMENT["source"], DOCUMENT["target"])
    settings = {
        "evidence": (),
        "length": (),
        "park17": (),
        "split": (("method", "park17"), ("aligner", "splitting.json")),
    }
    stages = [{"name": name, **sides, "method": name, **dict(more)} for name, more in settings.items()]
    for stage in run(folder, *stages).stages:
        method, weights = (stage.name, PUBLISHED) if stage.name != "split" else ("park17", SPLITTING)
        aligner = fit_method(method, [pair], aligner_config(method, 3), weights=weights)
        beads = [bead for bead in aligner.align(pair) if bead.source and bead.target]
        rows = [row["src"] for batch in Corpus.open(stage.folder).batches() for row in batch.to_pylist()]
        assert rows == [join_sentences(pair.source, bead.source) for bead in beads]
        if method == "park17":
            assert rows[0] == ("sun moon" if stage.name == "split" else "sun moon star")


def test_the_evaluation_takes_the_method_and_the_weights(folder: Path) -> None:
    evaluate = {"use": "evaluate-aligner", "documents": "gold.jsonl", "method": "park17"}
    joining, splitting = folder / "joining.json", folder / "splitting.json"
    for path, weights in ((joining, Park17Weights(0, 0, 1)), (splitting, Park17Weights(0, 0.9, 0.1))):
        path.write_text(json.dumps(weights._asdict()))
    result = run(
        folder,
        {"name": "joining", **evaluate, "aligner": "joining.json"},
        {"name": "splitting", **evaluate, "aligner": "splitting.json"},
    )
    first, second = (stage.figures["f1"] for stage in result.stages)
    assert first == 1.0 and second < 1.0


def test_published_stages_of_documents(folder: Path, world: World) -> None:
    align = {"use": "align-documents", "source": "kal", "target": "eng", "gold": "pairs.tsv"}
    result = run(folder, {"name": "multinews", **align, "method": "multinews"})
    assert result.stages[0].figures["pairs"] == len(world.source)


def test_methods_and_weights_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown method 'parc17'; did you mean 'park17'"):
        EvaluateAligner(documents="gold.jsonl", method="parc17")
    with pytest.raises(ConfigError, match="weights of the method 'park17', not of 'evidence'"):
        AlignDocumentSentences(source="a", target="b", pairs="c", aligner="tuned")
    with pytest.raises(ConfigError, match="max_bead_size"):
        TuneAligner(documents="gold.jsonl", max_bead_size=0)
    (tmp_path / "weights.json").write_text('{"length": 1}')
    with pytest.raises(DataError, match="expected the weights length, constant, cosine"):
        read_weights(tmp_path)
