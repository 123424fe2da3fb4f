"""Paraphrasers with the networks of PNMT and SCPN: trained and used as one with a transformer is."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from toy_syntax import TEMPLATES, write_parsed_pairs, write_treebank

pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
pytest.importorskip("nltk", reason="parsing needs nltk: pip install 'paraloom[syntax]'")

import paraloom as library
from paraloom import api
from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.io import Corpus
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.model_card import read_card
from paraloom.papers.scpn.paraphraser import ScpnNetworks
from paraloom.papers.scpn.scpn_translator import ScpnTranslator
from paraloom.paraphrasing.config import RecurrentConfig, ScpnConfig
from paraloom.paraphrasing.examples import ParsedPair
from paraloom.paraphrasing.settings import ParaphraserSettings
from paraloom.paraphrasing.templates import TemplateTable
from paraloom.pipeline.pipeline import Pipeline
from paraloom.stages import Paraphrase, TrainParaphraser, TrainParser
from paraloom.stages.paraphraser_networks import (
    PARSES,
    SENTENCES,
    NetworkTraining,
    example_file,
    open_network,
    train_network,
)

Command = Callable[..., tuple[int, str, str]]

SENTENCE = "the dog sees the cat today ."
SIZES = {
    "vocab_size": 80,
    "word_dim": 8,
    "hidden_dim": 12,
    "label_dim": 4,
    "parse_dim": 6,
    "steps": 4,
    "evaluate_every": 2,
    "batch_tokens": 400,
    "held_out": 10,
    "threads": 1,
}


@pytest.fixture(scope="module", params=["lstm", "scpn"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A paraphraser that was trained for a few steps."""
    work = tmp_path_factory.mktemp(request.param)
    parser = TrainParser(treebank=(write_treebank(work / "trees.mrg"),), method="grammar", held_out=0)
    training = TrainParaphraser(
        pairs=(write_parsed_pairs(work / "pairs", 80),), parser=parser, network=request.param, **SIZES
    )
    return Pipeline([parser, training]).run(work / "run", engine="inline").stages[-1].folder / "artifact"


def test_the_folder(folder: Path) -> None:
    settings = ParaphraserSettings.load(folder)
    names = {path.name for path in folder.iterdir()}
    assert {"source.spm", "vocab.json", "templates.tsv", "paraphraser.json", "parser", "README.md"} <= names
    assert "model.bin" not in names and "checkpoint" not in names
    assert api.find_model(str(folder)).kind == "paraphraser"
    facts, figures = read_card(folder), json.loads((folder / "training.json").read_text())
    assert facts["steps"] == "4" and figures["left_out"] == 0
    if settings.network == "scpn":
        assert {f"{kind}-generator.safetensors" for kind in ("parse", "paraphrase")} <= names
        assert set(settings.tags) == {"DT", "NN", "VBZ", "VBN", "RB", "IN", ".", ","}
        assert int(facts["sentence_examples"]) == figures["pairs"]
        # The plain and the passive form have the same template: some of these pairs are left to the other network.
        assert int(facts["parse_examples"]) == int(facts["parse_pairs"]) <= figures["pairs"]
    else:
        assert "lstm.safetensors" in names and settings.max_parse_labels == 0


def test_paraphrases(folder: Path) -> None:
    model = library.Paraphraser.load(folder)
    assert isinstance(model.translator, ScpnTranslator) == (model.settings.network == "scpn")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (free,) = model.paraphrase([SENTENCE], n=3)
        (fronted,) = model.paraphrase([SENTENCE], n=3, template=TEMPLATES["fronted"])
        again = model.paraphrase([SENTENCE, "", SENTENCE], n=3, template=TEMPLATES["fronted"])
        (like,) = model.paraphrase([SENTENCE], n=1, like="here , the bird finds the child .", height=None)
    assert 1 <= len(free) <= 3 and all(one.template is None and one.logprob < 0 for one in free)
    assert {one.template for one in fronted} == {TEMPLATES["fronted"]}
    assert [one.text for one in again[0]] == [one.text for one in again[2]] == [one.text for one in fronted]
    assert [one.text for one in again[1]] == [""]
    assert like[0].template == "(S (ADVP (RB)) (,) (NP (DT) (NN)) (VP (VBZ) (NP (DT) (NN))) (.))"
    with pytest.raises(ConfigError, match="recurrent networks decode by beam search"):
        model.candidates([SENTENCE], n=2, template="auto", decode="sampling")


@pytest.mark.slow
def test_the_stage_and_evaluation(folder: Path, paraloom: Command, tmp_path: Path) -> None:
    write_parsed_pairs(tmp_path / "pairs", 6, seed=5)
    stage = Paraphrase(
        input=tmp_path / "pairs", paraphraser=folder, n=2, preset="none", template=TEMPLATES["plain"], column="src"
    )
    result = Pipeline([stage]).run(tmp_path / "run", engine="inline").stages[-1]
    assert Corpus.open(result.folder).kind == "VARIANTS" and 6 <= result.counts.out <= 12
    status, out, err = paraloom(
        "research", "evaluate-control", folder, "pairs", "--rows", 4, "--heights", "2", "--json"
    )
    assert status == 0, err
    assert {row["n"] for row in json.loads(out)["rows"]} == {4}


def test_a_missing_file_is_named(folder: Path, tmp_path: Path) -> None:
    for path in folder.iterdir():
        if path.is_file() and path.suffix != ".safetensors":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    with pytest.raises(ModelError, match=r"(lstm|paraphrase-generator).safetensors not found"):
        library.Paraphraser.load(tmp_path)


def test_labels_of_words() -> None:
    pairs = [ParsedPair("a", "b", "(S (NP (NN a)) (X b))", None), ParsedPair("a", "b", None, "(S (X (NN a)))")]
    leaves, others = ScpnNetworks.tags(pairs)
    assert leaves - others == {"NN"} and others == {"S", "NP", "X"}


def test_parts_without_an_example(tmp_path: Path) -> None:
    for name in (SENTENCES, PARSES):
        for held in (False, True):
            example_file(tmp_path, name, held).write_text("" if (name, held) == (PARSES, True) else "a\tb\n")
    settings = (TranslatorConfig(), RecurrentConfig(), ScpnConfig())
    with pytest.raises(DataError, match="no held-out pair gives an example of templates on both sides"):
        train_network("scpn", NetworkTraining(tmp_path, *settings, tmp_path / "model", 1))
    example_file(tmp_path, SENTENCES, True).write_text("")
    with pytest.raises(DataError, match=r"no held-out pair gives an example\."):
        train_network("lstm", NetworkTraining(tmp_path, *settings, tmp_path / "model", 1))


def test_settings_of_a_transformer_are_written_as_before(tmp_path: Path) -> None:
    ParaphraserSettings(("NP", "S")).save(tmp_path)
    saved = json.loads((tmp_path / "paraphraser.json").read_text())
    assert [*saved] == ["labels", "control", "parser", "language"]
    assert ParaphraserSettings.load(tmp_path).network == "transformer"


def test_unknown_networks() -> None:
    with pytest.raises(ConfigError, match="key 'network' must be 'transformer' or 'lstm' or 'scpn', not 'gru'"):
        TrainParaphraser(pairs=("pairs",), network="gru")  # type: ignore[arg-type]


@pytest.mark.slow
def test_training_by_command(paraloom: Command, tmp_path: Path) -> None:
    write_parsed_pairs(tmp_path / "pairs", 40)
    training = ("train", "paraphraser", "pairs", "--steps", 2, "--vocab-size", 80, "--held-out", 10, "-o", "model")
    status, out, err = paraloom(*training, "--network", "lstm", "--json")
    assert status == 0, err
    assert json.loads(out)["figures"]["steps"] == 2
    saved = json.loads((tmp_path / "model" / "training.json").read_text())
    assert (saved["config"]["word_dim"], saved["config"]["hidden_dim"]) == (300, 512)
    status, _, err = paraloom(*training[:-1], "other", "--network", "gru")
    assert status == 2 and "'gru' is not one of" in " ".join(err.split())


def test_an_unknown_network(tmp_path: Path) -> None:
    settings = ParaphraserSettings(("NP", "S"), network="lstn")
    settings.save(tmp_path)
    message = (
        r"paraphraser.json: unknown network 'lstn'; did you mean 'lstm'\?\nKnown are transformer, lstm, scpn: train the"
    )
    with pytest.raises(ModelError, match=message):
        ParaphraserSettings.load(tmp_path)
    with pytest.raises(ModelError, match=message):
        open_network(tmp_path, settings, TemplateTable(), None)
