"""spaCy and Stanza, as parsers and as stages, with their errors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraloom.core.errors import ConfigError, MissingExtraError, ModelError, ParaloomError
from paraloom.core.protocols import ParserLike
from paraloom.core.schema import PAIRS, VARIANTS
from paraloom.core.stage import StageContext
from paraloom.io import Corpus, write_corpus
from paraloom.papers.bbh22.productions import ProductionCounts, root_production
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import parse_pipeline
from paraloom.syntax.parsers.loading import load_parser


def _pairs(folder: Path, targets: list[str]) -> Path:
    rows = [
        {"pair_id": f"p{i}", "src": f"s{i}", "tgt": t, "src_lang": "xk", "tgt_lang": "en", "origin": "toy"}
        for i, t in enumerate(targets)
    ]
    write_corpus(folder, [pa.RecordBatch.from_pylist(rows, schema=PAIRS)], kind="PAIRS", shard_rows=2)
    return folder


def _variants(folder: Path, texts: list[str]) -> Path:
    rows = [
        {"pair_id": "p", "rank": i, "text": t, "method": "beam:5", "logprob": -1.0, "tokens": 2}
        for i, t in enumerate(texts)
    ]
    write_corpus(folder, [pa.RecordBatch.from_pylist(rows, schema=VARIANTS)], kind="VARIANTS")
    return folder


def _run(folder: Path, stage: str) -> Corpus:
    result = run_pipeline(parse_pipeline(f"[[stage]]\n{stage}", file=folder / "toy.toml"), folder / "run", workers=1)
    return Corpus.open(result.stages[-1].folder)


class Mute:
    """A parser that returns no trees, or given ones."""

    signature = "mute"

    def __init__(self, trees: list[str | None] | None = None) -> None:
        self.trees = trees

    def parse(self, sentences: list[str]) -> list[str | None]:
        return [None] * len(sentences) if self.trees is None else self.trees


def _parsed(monkeypatch: pytest.MonkeyPatch, parser: ParserLike, folder: Path) -> list[str | None]:
    """The trees that the stage adds to two variants."""
    from paraloom.stages import syntax

    monkeypatch.setattr(syntax, "_parser", lambda source: parser)
    stage = syntax.Parse(model="spacy:mute", columns=("text",))
    (batch,) = Corpus.open(_variants(folder, ["Go", "Stop"])).batches()
    trees: list[str | None] = stage.apply(batch, StageContext(1)).column("text_parse").to_pylist()
    return trees


def test_rows_without_a_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trees = _parsed(monkeypatch, Mute(), tmp_path / "a")
    assert trees == [None, None] and ProductionCounts.from_trees(trees).unparsed == 2
    assert _parsed(monkeypatch, Mute(["", "(S x)"]), tmp_path / "b") == [None, "(S x)"]


def test_a_parser_that_returns_too_few_trees_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match="expected 2 trees from the parser, got 1"):
        _parsed(monkeypatch, Mute([None]), tmp_path / "a")


@pytest.mark.parametrize(
    ("stage", "message"),
    [
        ("", "'parser' and 'model'"),
        ('model = "spacy:x"\nparser = "pairs"', "'parser' and 'model'"),
        ('model = "stanca:en"', "did you mean 'stanza'"),
        ('model = "spacy:"', "does not name a model"),
        ('model = "spacy:/"', "is a folder"),
    ],
)
def test_a_stage_needs_one_valid_parser(tmp_path: Path, stage: str, message: str) -> None:
    _pairs(tmp_path / "pairs", ["Go"])
    with pytest.raises(ConfigError, match=message):
        _run(tmp_path, f'use = "parse"\ninput = "pairs"\n{stage}')


def test_unknown_parsers_are_refused() -> None:
    with pytest.raises(ModelError, match="parser folder not found"):
        load_parser("nowhere")
    with pytest.raises(ConfigError, match="unknown kind of parser 'berkeley'"):
        load_parser("berkeley:en")
    with pytest.raises(ConfigError, match="unknown Stanza processor 'dependency'"):
        load_parser("stanza:en:dependency")


@pytest.mark.parametrize(("name", "package"), [("spacy:en_core_web_sm", "spacy"), ("stanza:en", "stanza")])
def test_without_the_package_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match="not installed") as error:
        load_parser(name)
    assert error.value.remedy == f"Run: pip install 'paraloom[{package}]'"


@pytest.fixture(scope="module")
def spacy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A parser that was trained on two sentences."""
    spacy = pytest.importorskip("spacy", reason="needs spaCy: pip install 'paraloom[spacy]'")
    from spacy.training import Example

    pipeline = spacy.blank("en")
    pipeline.add_pipe("parser", config={"min_action_freq": 1})
    known = [
        ("The dog sleeps .", [1, 2, 2, 2], ["det", "nsubj", "ROOT", "punct"]),
        ("Go home !", [0, 0, 0], ["ROOT", "advmod", "punct"]),
    ]
    examples = [
        Example.from_dict(pipeline.make_doc(text), {"heads": heads, "deps": relations})
        for text, heads, relations in known
    ]
    spacy.util.fix_random_seed(1)
    updates = pipeline.initialize(lambda: examples)
    for _ in range(40):
        pipeline.update(examples, sgd=updates)
    folder = tmp_path_factory.mktemp("spacy") / "model"
    pipeline.to_disk(folder)
    return folder


def test_spacy_gives_relations_over_words(spacy_folder: Path) -> None:
    for name in (spacy_folder, f"spacy:{spacy_folder}"):
        parser = load_parser(name)
        assert isinstance(parser, ParserLike)
        assert parser.parse(["The dog sleeps .", "", " \n ", "Go home !"]) == [
            "(root (nsubj (det The) dog) sleeps (punct .))",
            None,
            None,
            "(root Go (advmod home) (punct !))",
        ]
        assert parser.signature.startswith("parser|spacy:")


def test_white_space_is_not_a_word(spacy_folder: Path) -> None:
    (tree,) = load_parser(spacy_folder).parse(["The  dog \n sleeps ."])
    assert tree is not None and [piece for piece in tree.replace(")", "").split() if piece[0] != "("] == [
        "The", "dog", "sleeps", ".",
    ]  # fmt: skip


def test_a_sentence_that_is_too_long_for_spacy_has_no_tree(spacy_folder: Path) -> None:
    parser: Any = load_parser(spacy_folder)
    parser.pipeline.max_length = 20
    assert parser.parse(["The dog sleeps .", "The dog sleeps . " * 5])[1] is None


def test_unusable_spacy_models_are_refused(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy", reason="needs spaCy: pip install 'paraloom[spacy]'")
    with pytest.raises(ModelError, match="'en_none_such' not found") as error:
        load_parser("spacy:en_none_such")
    assert "spacy download en_none_such" in str(error.value)
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(ModelError, match="no dependency parser"):
        load_parser(tmp_path / "blank")
    (tmp_path / "blank" / "config.cfg").write_text("[nlp")
    with pytest.raises(ParaloomError):
        load_parser(tmp_path / "blank")


@pytest.mark.slow
def test_the_command_parses_with_spacy(
    spacy_folder: Path, tmp_path: Path, paraloom: Callable[..., tuple[int, str, str]]
) -> None:
    (tmp_path / "pairs.tsv").write_text("src\ttgt\nx\tThe dog sleeps .\ny\tGo home !\n")
    parsed = ("-o", "parsed.parquet", "--columns", "tgt", "--workers", 1)
    for name in (spacy_folder, f"spacy:{spacy_folder}"):
        status, _, err = paraloom("parse", "pairs.tsv", "--parser", name, *parsed, "--force")
        assert status == 0, err
        trees = pq.read_table(tmp_path / "parsed.parquet").column("tgt_parse").to_pylist()
        assert [root_production(tree) for tree in trees] == ["root -> nsubj punct", "root -> advmod punct"]
    status, _, err = paraloom("parse", "pairs.tsv", "--parser", "spacy:en_none_such", *parsed, "--force")
    assert status == 1 and "spacy download" in err


def _fake_stanza(monkeypatch: pytest.MonkeyPatch, documents: dict[str, Any]) -> dict[str, Any]:
    """Replace Stanza by a module that knows these texts; returns the options of its pipeline."""
    options_used: dict[str, Any] = {}

    class Pipeline:
        def __init__(self, **options: Any) -> None:
            options_used.update(options)

        def bulk_process(self, texts: list[str]) -> list[Any]:
            return [SimpleNamespace(sentences=documents[text]) for text in texts]

    module = ModuleType("stanza")
    module.Pipeline, module.__version__ = Pipeline, "1.15.0"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "stanza", module)
    return options_used


def test_stanza_gives_constituency_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = "(ROOT (S (NP (PRP He)) (VP (VBD left)) (. .)))"
    documents = {
        "He left .": [SimpleNamespace(constituency=tree)],
        "Odd": [SimpleNamespace(constituency=None)],
        "Nothing": [],
        "Two": [SimpleNamespace(constituency="(ROOT (S a))"), SimpleNamespace(constituency="(ROOT (S b))")],
    }
    options = _fake_stanza(monkeypatch, documents)
    parser = load_parser("stanza:en")
    assert isinstance(parser, ParserLike)
    trees = parser.parse(["He\n\nleft .", "", "Odd", " ", "Nothing", "Two"])
    assert trees == [tree, None, None, None, None, "(TOP (ROOT (S a)) (ROOT (S b)))"]
    assert root_production(trees[0]) == "S -> NP VP ."
    assert options["lang"] == "en" and options["download_method"] is None and options["tokenize_no_ssplit"]
    assert parser.signature.startswith("parser|stanza:en|processor:constituency|release:1.15.0")


def test_stanza_gives_dependency_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    words = [
        SimpleNamespace(text="He", head=2, deprel="nsubj"),
        SimpleNamespace(text="left", head=0, deprel="root"),
    ]
    options = _fake_stanza(monkeypatch, {"He left": [SimpleNamespace(words=words)]})
    assert load_parser("stanza:en:depparse").parse(["He left"]) == ["(root (nsubj He) left)"]
    assert options["processors"].endswith("depparse")


def test_missing_stanza_weights_are_reported_with_a_remedy() -> None:
    pytest.importorskip("stanza", reason="needs Stanza: pip install 'paraloom[stanza]'")
    with pytest.raises(ModelError, match="weights for 'constituency' of 'qqq' not found") as error:
        load_parser("stanza:qqq")
    assert "stanza.download('qqq'" in str(error.value)
