"""Single sentences: gathered from corpora and files, each once, and given the vectors of any encoder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from paraloom.core.errors import ConfigError, ParaloomError
from paraloom.core.schema import PAIRS, signature_of
from paraloom.embed.average import Average, SentenceEncoder
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import save_encoder
from paraloom.embed.vocabulary import Vocabulary
from paraloom.io import Corpus, write_corpus
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import parse_pipeline
from paraloom.text.hashing import TextSet


def pipeline(text: str, folder: Path):
    return parse_pipeline(text, file=folder / "p.toml")


@pytest.fixture
def inputs(tmp_path):
    rows = [
        {"pair_id": str(i), "src": a, "tgt": b, "src_lang": "en", "tgt_lang": lang, "origin": "x"}
        for i, (a, b, lang) in enumerate(
            [("a dog", "a cat", "en"), ("a  dog ", "", "en"), ("b" * 500, "the cat", "und"), ("a cat", "eine", "de")]
        )
    ]
    write_corpus(tmp_path / "pairs", [pa.RecordBatch.from_pylist(rows, schema=PAIRS)], kind="PAIRS")
    (tmp_path / "lines.tsv").write_text("eins\ta cat\nzwei\tthe dog\nohne\n", encoding="utf-8")
    table = np.eye(4, 6, dtype=np.float32) * 3
    part = Average(Vocabulary("word", ["a", "the", "dog", "cat"]), table)
    save_encoder(SentenceEncoder(parse_spec("word"), {"word": part}), tmp_path / "encoder")
    return tmp_path


TEXT = """
[[stage]]
use = "read-sentences"
corpora = ["pairs"]
text_files = ["lines.tsv"]
field = {field}

[[stage]]
use = "encode"
encoder = "encoder"
"""


@pytest.mark.filterwarnings("ignore:.*no unit")
@pytest.mark.parametrize(("field", "last"), [(-1, ["the dog", "ohne"]), (2, ["the dog"])])
def test_every_sentence_comes_once_with_its_vector(inputs, field, last):
    result = run_pipeline(pipeline(TEXT.format(field=field), inputs), inputs / "run", workers=1)
    kept = pa.Table.from_batches(Corpus.open(result.stages[-1].folder).batches())
    assert kept.column("text").to_pylist() == ["a dog", "a cat", "the cat", *last]
    vectors = np.stack(kept.column("vector").to_numpy())
    assert vectors.dtype == np.float16
    np.testing.assert_allclose(vectors[0], np.array([1, 0, 1, 0, 0, 0]) / 2**0.5, atol=1e-3)
    assert "encoder|spec:word" in signature_of(kept.schema.field("vector"))
    gathered = result.stage("read-sentences")
    rejected = [path for path in gathered.folder.rglob("*.parquet") if "reject" in str(path)]
    reasons = [reason for path in rejected for reason in pa.parquet.read_table(path).column("reason").to_pylist()]
    assert sorted(set(reasons)) == ["empty", "in 'de'", "met before", "more than 400 characters"]


def test_what_is_in_another_language_does_not_hide_its_equal(tmp_path):
    row = {"pair_id": "1", "src": "Berlin", "tgt": "Berlin", "src_lang": "de", "tgt_lang": "en", "origin": "x"}
    write_corpus(tmp_path / "pairs", [pa.RecordBatch.from_pylist([row], schema=PAIRS)], kind="PAIRS")
    result = run_pipeline(pipeline(TEXT.partition("text_files")[0], tmp_path), tmp_path / "run", workers=1)
    assert [batch["text"].to_pylist() for batch in Corpus.open(result.stages[0].folder).batches()] == [["Berlin"]]


def test_what_cannot_be_read_is_named(inputs):
    with pytest.raises(ConfigError, match="corpora"):
        pipeline('[[stage]]\nuse = "read-sentences"', inputs)
    with pytest.raises(ConfigError, match="did you mean 'text'"):
        pipeline('[[stage]]\nuse = "read-sentences"\ncorpora = ["pairs"]\ncolumns = ["texts"]', inputs)
    with pytest.raises(ParaloomError, match="none of the columns"):
        text = '[[stage]]\nuse = "read-sentences"\ncorpora = ["pairs"]\ncolumns = ["text"]'
        run_pipeline(pipeline(text, inputs), inputs / "run", workers=1)
    with pytest.raises(ConfigError, match="'folder' and 'model'"):
        pipeline('[[stage]]\nuse = "load-encoder"', inputs)


def test_a_growing_set_forgets_nothing():
    seen = TextSet()
    texts = [f"text {i}" for i in range(5000)]
    assert seen.add(texts[:3000]).all()
    assert seen.add(texts).tolist() == [False] * 3000 + [True] * 2000
    assert not seen.add(texts).any() and len(seen) == 5000
