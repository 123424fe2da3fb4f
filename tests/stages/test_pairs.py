"""Stages of pairs in a run: row counts add up, criteria see the whole corpus, errors come before any work."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import paraloom
from paraloom import as_pairs
from paraloom.bundled import bundled_path
from paraloom.core.errors import ConfigError
from paraloom.core.schema import PAIRS
from paraloom.io import Corpus, read_shard, write_corpus
from paraloom.pairs.filtering.duplicates import later_rows
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.status import read_status
from paraloom.pipeline.toml import parse_pipeline
from paraloom.stages.pairs import BackTranslate, Filter
from paraloom.stages.scores import Score

ROWS = 60


def test_duplicates_of_joined_files_of_one_name_leave_one_row_of_each(tmp_path: Path) -> None:
    """Four different rows, three of them also in the other file under the same id: in other shards, too."""
    for name, letters in (("a", "abcd"), ("b", "abc")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.tsv").write_text("".join(f"{c * 9}\t{c * 8} {c}\n" for c in letters))
    read = '[[stage]]\nuse = "read-pairs"\nname = "{0}"\nsource = "{0}/x.tsv"\nshard_rows = 2\n'
    text = read.format("a") + read.format("b")
    text += '[[stage]]\nuse = "join-pairs"\ncorpora = ["a", "b"]\nshard_rows = 3\n'
    text += '[[stage]]\nuse = "find-duplicates"\npairs = "join-pairs"\n'
    text += '[[stage]]\nuse = "drop-duplicates"\ninput = "join-pairs"\nduplicates = "find-duplicates"\n'
    folder = run(text, tmp_path)
    rows = pa.Table.from_batches(Corpus.open(folder / "50-drop-duplicates").batches()).to_pylist()
    assert [(row["pair_id"], row["src"][0]) for row in rows] == [("x:1", "a"), ("x:2", "b"), ("x:3", "c"), ("x:4", "d")]


def test_duplicates_in_meaning_leave_the_first_row(tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    texts = ["A dog runs in the park.", "The stock market fell.", "A dog is running in the park.", "He plays."]
    texts = [*texts, texts[0], ""]
    pairs = as_pairs([(text, text) for text in texts])
    near = pairs.drop_duplicates(similarity=0.8, columns=["tgt"], encoder="english")
    assert [row["src"] for row in near] == [texts[0], texts[1], texts[3], ""]
    equal = pairs.drop_duplicates(similarity=0.999, encoder="english")
    assert [row["src"] for row in equal] == [*texts[:4], ""]


def test_a_row_near_to_a_dropped_one_alone_is_kept() -> None:
    first, second = np.array([0, 1, 0, 3]), np.array([1, 2, 3, 4])
    assert later_rows(first, second, 5).tolist() == [False, True, False, True, False]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus") / "pairs"
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    rows = [
        {
            "pair_id": str(i),
            "src": " ".join(words[: 3 + i % 6]),
            "tgt": " ".join(words[i % 4 : 4 + i % 5]),
            "src_lang": "en",
            "tgt_lang": "en",
            "origin": "toy",
        }
        for i in range(ROWS)
    ]
    write_corpus(folder, [pa.RecordBatch.from_pylist(rows, schema=PAIRS)], kind="PAIRS", shard_rows=17)
    return folder


def run(text: str, folder: Path) -> Path:
    run_pipeline(parse_pipeline(text, file=folder / "p.toml"), folder / "run", engine="inline")
    return folder / "run"


def test_a_filter_after_scores_splits_kept_from_rejected(pairs: Path, tmp_path: Path) -> None:
    text = f"""
        [[stage]]
        use = "score"
        input = "{pairs}"
        [[stage]]
        use = "filter"
        where = "unigram_overlap < 0.9"
        sample = 7
    """
    folder = run(text, tmp_path)
    kept = Corpus.open(folder / "20-filter")
    reasons = Counter(
        reason
        for shard in sorted((folder / "20-filter" / "rejected").glob("*.parquet"))
        for reason in read_shard(shard).column("reason").to_pylist()
    )
    assert kept.rows == 7
    assert reasons.total() == ROWS - 7
    assert set(reasons) == {"not: unigram_overlap < 0.9", "not: in the sample of 7"}
    assert "keep" not in kept.schema.names


def test_rows_that_a_sample_leaves_out_are_not_sampled_but_not_rejected(pairs: Path, tmp_path: Path) -> None:
    text = f"""
        [[stage]]
        use = "filter"
        input = "{pairs}"
        where = "len(tgt) > 8"
        sample = 7
        [[stage]]
        use = "filter"
        name = "half"
        sample = 0.5
    """
    result = run_pipeline(parse_pipeline(text, file=tmp_path / "p.toml"), tmp_path / "run", engine="inline")
    first, second = result.with_reasons().stages
    rejected = first.reasons["not: len(tgt) > 8"]
    assert rejected and first.not_sampled == ROWS - 7 - rejected and second.not_sampled == second.counts.rejected > 0
    heads, counts, reason, *_ = result.with_reasons().format().splitlines()
    assert heads.split()[3:6] == ["rejected", "not", "sampled"]
    assert counts.split()[1:5] == [str(ROWS), "7", str(rejected), str(first.not_sampled)]
    assert reason.strip() == f"{rejected} rejected: not: len(tgt) > 8"
    status = read_status(tmp_path / "run").format()
    assert f"7 rows, {rejected} rejected, {first.not_sampled} not sampled" in status
    assert f" rows, {second.not_sampled} not sampled" in status


def test_an_unknown_column_is_refused_before_any_row_is_read(pairs: Path, tmp_path: Path) -> None:
    text = f"""
        [[stage]]
        use = "filter"
        input = "{pairs}"
        where = "trigam_overlap < 0.9"
    """
    with pytest.raises(ConfigError, match=r"column 'trigam_overlap' .* not found"):
        run(text, tmp_path)
    assert not list((tmp_path / "run").rglob("*.parquet"))


@pytest.mark.parametrize("key", ['where = "a <"', "top = 0.5", 'decile = 11\nby = "bleu1"', "sample = -1"])
def test_an_invalid_filter_is_refused_when_the_pipeline_is_read(pairs: Path, key: str) -> None:
    with pytest.raises(ConfigError):
        parse_pipeline(f'[[stage]]\nuse = "filter"\ninput = "{pairs}"\n{key}\n', file=pairs.parent / "p.toml")


def test_a_digest_depends_on_the_settings_and_not_on_paths() -> None:
    assert Score(scores=("bleu1",)).digest() != Score(scores=("length",)).digest()
    assert Filter(sample=10).digest() != Filter(sample=11).digest()
    assert BackTranslate(translator="a").digest() == BackTranslate(translator="b").digest()
    assert BackTranslate(translator="a", decode="beam:12").digest() != BackTranslate(translator="a").digest()


def test_scores_that_a_given_model_adds_may_be_named(pairs: Path, tmp_path: Path) -> None:
    text = f'[[stage]]\nuse = "score"\ninput = "{pairs}"\nscores = ["paraphrase_score", "length"]\n'
    with pytest.raises(ConfigError, match="score 'paraphrase_score' needs a model") as error:
        parse_pipeline(text, file=tmp_path / "p.toml")
    assert "Set 'encoder'" in str(error.value)
    text += f'encoder = "{bundled_path("english-small")}"\n'
    result = run_pipeline(parse_pipeline(text, file=tmp_path / "p.toml"), tmp_path / "run", engine="inline")
    names = Corpus.open(result.stages[-1].folder).schema.names
    assert names.count("paraphrase_score") == 1 and "tgt_tokens" in names
    with pytest.raises(ConfigError, match="score 'paraphrase_score' needs a model"):
        Score(scores=("bilingual", "paraphrase_score"), encoder="e")
    assert Score(scores=("agreement",), translator="t", agreement_samples=4).scores == ("agreement",)
    with pytest.raises(ConfigError, match="Set 'translator'"):
        Score(scores=("agreement",))
    in_memory = paraloom.as_pairs([("a b", "a c")]).score("paraphrase_score", encoder=paraloom.Encoder.load("english"))
    assert "paraphrase_score" in in_memory.columns
