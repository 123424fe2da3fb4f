"""Unusual text: all scores accept it, drop no row, and give a pair the same value alone and among others."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from paraloom.embed.store import load_encoder
from paraloom.io import Corpus, write_corpus
from paraloom.pairs.scoring.idf import count_document_frequencies
from paraloom.pairs.scoring.language_model import read_arpa
from paraloom.pairs.scoring.models import (
    classifier_scorers,
    encoder_scorers,
    idf_scorers,
    language_scorers,
    perplexity_scorers,
)
from paraloom.pairs.scoring.scorer import Scorer
from paraloom.pairs.scoring.table import score
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import parse_pipeline

BUNDLED = Path(__file__).parents[2] / "src/paraloom/bundled"
ARPA = "\\data\\\nngram 1=4\n\n\\1-grams:\n-1.0 <unk>\n-9.0 <s>\n-0.7 a\n-0.4 </s>\n\n\\end\\\n"

ODD = [
    "",
    " \t ",
    "\x00",
    "a\x00b c\x07d\x1b[31m",
    "word " * 10_000,
    "x" * 50_000,
    "שלום עולם hello مرحبا بالعالم",
    "\u202ereversed\u202c text",
    "👩‍👩‍👧‍👦 🇩🇪 👍🏽",
    "Z̷͔̈a̴l̸g̵o̶ e\u0301 \u0301",
    "日本語テキスト mixed с кириллицей und ß ẞ İ ı",
    "\ufeffbyte order mark",
    "\ue000 private \U0010ffff last",
    "12 1,000.5 ½ ٣ Ⅷ",
    "\u2028\u2029\x85",
]

texts = st.one_of(st.sampled_from(ODD), st.text(max_size=60), st.text(alphabet=" ab\x00é́א👍.1", max_size=40))


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> list[str | Scorer]:
    """All scores without models, and one model of each kind whose library is installed."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "small.arpa").write_text(ARPA, encoding="utf-8")
    scores: list[str | Scorer] = ["all"]
    scores += encoder_scorers(load_encoder(BUNDLED / "english"))
    scores += idf_scorers(count_document_frequencies([["a b", "a 👍"]]))
    scores += perplexity_scorers(read_arpa(folder / "small.arpa"))
    try:
        from paraloom.papers.w17.classifier_training import train_classifier
    except ImportError:
        pass
    else:
        from paraloom.papers.w17.classifier import Classifier, ClassifierConfig

        rows = [{"pair_id": str(i), "src": f"a {i}", "tgt": f"b {i}"} for i in range(60)]
        config = ClassifierConfig(kind="lstm", dimension=4, max_pairs=40, held_out=10, epochs=1, batch_size=10)
        train_classifier([pa.RecordBatch.from_pylist(rows)], config, folder / "judge", seed=1)
        scores += classifier_scorers(Classifier.load(folder / "judge"))
    try:
        from paraloom.text.languages import LanguageIdentifier

        scores += language_scorers(LanguageIdentifier(["de", "en"]))
    except ImportError:
        pass
    return scores


def pairs_of(rows: list[tuple[str, str]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {
            "pair_id": [str(i) for i in range(len(rows))],
            "src": [src for src, _ in rows],
            "tgt": [tgt for _, tgt in rows],
            "src_lang": ["de"] * len(rows),
            "tgt_lang": ["en"] * len(rows),
            "origin": ["odd"] * len(rows),
            "logprob": pa.array([-2.0] * len(rows), pa.float32()),
            "tokens": pa.array([3] * len(rows), pa.int32()),
        }
    )


@pytest.mark.filterwarnings("ignore:.*unknown tokens only")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(texts, texts), min_size=1, max_size=5))
@example(rows=[(first, second) for first, second in zip(ODD, reversed(ODD), strict=True)])
@pytest.mark.slow
def test_all_scores_accept_any_text(everything: list[str | Scorer], rows: list[tuple[str, str]]) -> None:
    batch = pairs_of(rows)
    scored = score(batch, everything)
    assert scored.num_rows == len(rows)
    assert scored.select(batch.schema.names).equals(batch)
    alone = score(batch.slice(len(rows) - 1), everything)
    for name in scored.schema.names[batch.num_columns :]:
        values = scored.column(name).to_pylist()
        assert all(value is None or math.isfinite(value) for value in values), name
        (value,) = alone.column(name).to_pylist()
        assert (value is None) == (values[-1] is None), name
        if value is not None:
            assert np.isclose(value, values[-1], rtol=1e-4, atol=1e-5), name


def test_a_run_scores_or_rejects_each_unusual_pair(tmp_path: Path) -> None:
    rows = [(first, second) for first in ODD for second in ODD[:4]]
    write_corpus(tmp_path / "odd", [pairs_of(rows)], kind="PAIRS")
    text = f"""
        [[stage]]
        use = "score"
        input = "{tmp_path / "odd"}"
        scores = ["all"]
        [[stage]]
        use = "filter"
        where = "unigram_overlap >= 0"
    """
    result = run_pipeline(parse_pipeline(text, file=tmp_path / "p.toml"), tmp_path / "run", engine="inline")
    scored, kept = result.stages
    assert Corpus.open(scored.folder).rows == len(rows)
    assert Corpus.open(kept.folder).rows + kept.counts.rejected == len(rows)
