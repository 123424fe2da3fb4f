"""Pipelines as lists of stage objects: references of every kind, errors, TOML and back, stages of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest
from toy_runs import contents

from paraloom import ConfigError, Pipeline, as_pairs, stages
from paraloom.bundled import bundled_path
from paraloom.core.schema import PAIRS
from paraloom.core.stage import Fit, Map, Source, StageContext
from paraloom.io import Corpus
from paraloom.pipeline.toml import parse_pipeline


@pytest.fixture
def bitext(tmp_path: Path) -> Path:
    """Four pairs in a file."""
    path = tmp_path / "pairs.de-en.tsv"
    lines = ["Ein Hund.\tA dog.", "Die Katze.\tThe cat.", "Hallo Welt.\tHello world.", "Gut.\tGood."]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def read(bitext: Path, **options: Any) -> stages.ReadPairs:
    return stages.ReadPairs(source=bitext, **options)


def test_stages_refer_to_each_other_by_object_or_by_name(bitext: Path, tmp_path: Path) -> None:
    reading = read(bitext, name="bitext")
    scored = stages.Score(scores=["length"], input=reading)
    counts = stages.CountWords(name="counts", corpora=[reading], columns=["tgt"])
    rarity = stages.Score(name="rarity", scores=["bleu1"], word_counts=counts, input=scored)
    by_object = Pipeline([reading, scored, counts, rarity])
    by_name = Pipeline(
        [
            read(bitext, name="bitext"),
            stages.Score(scores=["length"], input="bitext"),
            stages.CountWords(name="counts", corpora=["bitext"], columns=["tgt"]),
            stages.Score(name="rarity", scores=["bleu1"], word_counts="counts", input="score"),
        ]
    )
    assert by_object.to_toml() == by_name.to_toml()
    assert repr(by_object) == "Pipeline('pipeline', 4 stages: bitext, score, counts, rarity)"
    first = by_object.run(tmp_path / "first", engine="inline")
    second = by_name.run(tmp_path / "second", engine="inline")
    assert first.digest == second.digest
    assert contents(tmp_path / "first") == contents(tmp_path / "second")
    assert "src_idf" in Corpus.open(first.stage("rarity").folder).schema.names


def test_a_stage_class_that_a_function_defines_has_its_own_name_as_default(bitext: Path) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Shout(Map):
        def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
            return batch

    assert repr(Pipeline([read(bitext), Shout()])) == "Pipeline('pipeline', 2 stages: read-pairs, Shout)"


def test_a_map_without_input_takes_the_nearest_corpus(bitext: Path) -> None:
    reading = read(bitext)
    definition = Pipeline(
        [
            reading,
            stages.CountWords(corpora=[reading]),
            stages.Score(scores=["length"]),
            stages.Filter(where="tgt_tokens > 2"),
        ]
    ).definition
    assert [step.source for step in definition.steps] == [None, None, "read-pairs", "score"]


def test_references_by_path_and_by_the_name_of_a_bundled_model(
    bitext: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_pairs([("Ein Hund.", "A dog.")]).write(tmp_path / "corpus", engine="inline")
    monkeypatch.chdir(tmp_path)
    for reference in ("corpus", Path("corpus"), tmp_path / "corpus"):
        (step,) = Pipeline([stages.Score(scores=["length"], input=reference)]).definition.steps
        assert step.source == tmp_path / "corpus"
    translating = stages.BackTranslate(translator="de-en", input=tmp_path / "corpus")
    (step,) = Pipeline([translating]).definition.steps
    assert step.references == {"translator": bundled_path("de-en")}
    (tmp_path / "de-en").mkdir()
    (step,) = Pipeline([translating]).definition.steps
    assert step.references == {"translator": tmp_path / "de-en"}, "a path comes first"


def wrong(bitext: Path) -> dict[str, tuple[list[Any], str]]:
    """Name → stages that do not make a pipeline, and the error."""
    reading = read(bitext)
    later = stages.CountWords(corpora=[reading])
    return {
        "nothing": ([], "the pipeline has no stages"),
        "no corpus": ([stages.Score()], "stage score: no earlier stage yields a corpus"),
        "no stage": ([reading, "score"], "expected a list of stages, got str as number 2"),
        "the same twice": ([reading, reading], "stage read-pairs: an earlier stage has this name"),
        "an unknown name": (
            [reading, stages.Score(input="read-pair")],
            r"key 'input': 'read-pair' is neither an earlier stage nor a path; did you mean 'read-pairs'\?",
        ),
        "an unknown path": (
            [reading, stages.Score(word_counts="folder/counts")],
            "stage score: key 'word_counts': 'folder/counts' not found",
        ),
        "a stage that comes later": (
            [reading, stages.Score(word_counts=later), later],
            r"key 'word_counts': the CountWords it refers to is not an earlier stage of this pipeline\.\nList a stage",
        ),
        "a model as a corpus": (
            [reading, later, stages.Score(input=later)],
            "key 'input': stage 'count-words' yields a model, not a corpus",
        ),
        "a missing file": (
            [read(bitext.with_name("missing.tsv"))],
            r"stage read-pairs: file '.*missing\.tsv' not found",
        ),
        "a bad name": ([read(bitext, name="a b")], "key 'name' must be letters, digits, - and _, not 'a b'"),
    }


@pytest.mark.parametrize("name", wrong(Path("x.tsv")))
def test_a_wrong_list_of_stages_is_an_error(name: str, bitext: Path) -> None:
    listed, message = wrong(bitext)[name]
    with pytest.raises(ConfigError, match=message):
        Pipeline(listed)


WRONG_FIELDS: list[tuple[str, dict[str, Any], str]] = [
    ("Score", {"scores": 5}, "key 'scores' must be a list of texts, not 5"),
    ("Score", {"scores": ["overlpa"]}, "did you mean 'overlap'"),
    ("Filter", {"top": "half"}, "key 'top' must be a finite number, not 'half'"),
    ("BackTranslate", {"translator": "de-en", "side": "left"}, "key 'side' must be 'src' or 'tgt', not 'left'"),
    ("BackTranslate", {"translator": 5}, "key 'translator' must be a stage or a path, not 5"),
    ("ReadPairs", {"source": "a.tsv", "limit": 2.5}, "key 'limit' must be a whole number, not 2.5"),
]


@pytest.mark.parametrize(("kind", "fields", "message"), WRONG_FIELDS)
def test_a_field_of_the_wrong_type_is_named(kind: str, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        getattr(stages, kind)(**fields)


def test_a_pipeline_written_as_toml_is_the_same(bitext: Path, tmp_path: Path) -> None:
    reading = read(bitext, src_lang="de", shard_rows=2)
    backtranslated = stages.BackTranslate(translator="de-en", decode="beam:2", input=reading)
    scored = stages.Score(scores=["length", "overlap"], input=backtranslated)
    pipeline = Pipeline(
        [
            reading,
            backtranslated,
            scored,
            stages.Filter(where='tgt_tokens > 1 and "tgt" <> \'\\\\ "ü"\'', sample=2),
            stages.FindDuplicates(name="near", pairs=scored, similarity=0.5, columns=["src"]),
            stages.DropDuplicates(duplicates="near", input=scored),
            stages.PairStatistics(pairs=scored),
        ],
        name="ours",
        seed=3,
    )
    text = pipeline.to_toml()
    (tmp_path / "elsewhere").mkdir()
    file = tmp_path / "elsewhere" / "pipeline.toml"
    file.write_text(text)
    again = Pipeline.from_toml(file)
    assert (again.name, again.definition.seed, again.to_toml()) == ("ours", 3, text)
    for ours, theirs in zip(pipeline.definition.steps, again.definition.steps, strict=True):
        assert (ours.name, ours.use, ours.source, ours.references) == (
            *(theirs.name, theirs.use, theirs.source, theirs.references),
        )
        assert ours.stage.configuration() == theirs.stage.configuration()
        assert ours.stage.digest() == theirs.stage.digest() and ours.stage.files() == theirs.stage.files()
    first = pipeline.run(tmp_path / "first", engine="inline")
    second = again.run(tmp_path / "second", engine="inline")
    assert first.digest == second.digest
    assert contents(tmp_path / "first") == contents(tmp_path / "second")
    assert [stage.state for stage in again.plan(tmp_path / "first")] == ["done"] * 7


def test_another_seed_is_in_the_toml_too(bitext: Path) -> None:
    pipeline = Pipeline([read(bitext)]).with_seed(9)
    assert parse_pipeline(pipeline.to_toml()).seed == pipeline.definition.seed == 9


def test_until_and_plan(bitext: Path, tmp_path: Path) -> None:
    pipeline = Pipeline([read(bitext), stages.Score(scores=["length"])])
    result = pipeline.run(tmp_path / "run", engine="inline", until="read-pairs")
    assert [stage.name for stage in result.stages] == ["read-pairs"]
    assert [stage.state for stage in pipeline.plan(tmp_path / "run")] == ["done", "run"]
    with pytest.raises(KeyError):
        result.stage("score")
    with pytest.raises(ConfigError, match="unknown stage 'scores'; did you mean 'score'"):
        pipeline.run(tmp_path / "run", until="scores")


@dataclass(frozen=True, kw_only=True)
class Numbers(Source):
    """Pairs of numbers."""

    output_schema: ClassVar[str] = "PAIRS"
    count: int = 10

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        rows = [
            {"pair_id": str(n), "src": f"{n}", "tgt": f"{n} {n}", "src_lang": "en", "tgt_lang": "en", "origin": "here"}
            for n in range(self.count)
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=PAIRS)


@dataclass(frozen=True, kw_only=True)
class Doubled(Map):
    """Adds the number, doubled."""

    column: str = "doubled"

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        doubled = [2 * int(text) for text in batch.column("src").to_pylist()]
        return batch.append_column(self.column, pa.array(doubled))


@dataclass(frozen=True, kw_only=True)
class Summed(Fit):
    """The sum of a column."""

    inputs: ClassVar[tuple[str, ...]] = ("pairs",)
    pairs: Any

    def fit(self, folder: Path, context: StageContext) -> dict[str, Any]:
        corpus = Corpus.open(context.inputs["pairs"])
        total = sum(sum(batch.column("doubled").to_pylist()) for batch in corpus.batches())
        (folder / "sum.txt").write_text(f"{total}\n")
        return {"sum": total}


def test_stages_of_ones_own(tmp_path: Path) -> None:
    doubled = Doubled()
    pipeline = Pipeline(
        [Numbers(count=5), doubled, Summed(pairs=doubled), stages.Score(scores=["length"], input=doubled)]
    )
    assert [step.name for step in pipeline.definition.steps] == ["Numbers", "Doubled", "Summed", "score"]
    result = pipeline.run(tmp_path / "run", engine="inline")
    assert result.stage("Summed").figures == {"sum": 20}
    assert as_pairs([("1", "2")]).then(Doubled(column="more")).to_list()[0]["more"] == 2
