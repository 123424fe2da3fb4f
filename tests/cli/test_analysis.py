"""Commands that analyze pairs: scores by models, statistics, lexicon, tuning, annotation; near-duplicates in a run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import Command

from paraloom.core.schema import PAIRS
from paraloom.io import Corpus, write_corpus
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import parse_pipeline

BUNDLED = Path(__file__).parents[2] / "src/paraloom/bundled"

NOUNS = ["dog", "cat", "man", "child", "horse", "woman", "bird", "boy"]
VERBS = ["runs", "sleeps", "jumps", "sits", "eats", "waits"]


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two translations of each reference: both replace 'big' by 'large', and the second one repeats words."""
    folder = tmp_path_factory.mktemp("corpus") / "pairs"
    rows = []
    for i in range(240):
        noun, other, verb = NOUNS[i % 8], NOUNS[(i * 3 + 1) % 8], VERBS[i % 6]
        reference = f"the big {noun} number {i} {verb} near the {other}"
        translation = reference.replace("big", "large")
        for rank, text in enumerate((translation, f"{translation} the {other} the {other}")):
            rows.append(
                {
                    "pair_id": str(i),
                    "src": reference,
                    "tgt": text,
                    "src_lang": "en",
                    "tgt_lang": "en",
                    "origin": "toy",
                    "rank": rank,
                    "paraphrase_score": ((i * 7) % 100) / 100,
                }
            )
    schema = pa.schema([*PAIRS, ("rank", pa.int32()), ("paraphrase_score", pa.float32())])
    write_corpus(folder, [pa.RecordBatch.from_pylist(rows, schema=schema)], kind="PAIRS", shard_rows=100)
    return folder


@pytest.mark.slow
def test_models_for_scores_are_trained_and_used(paraloom: Command, scored: Path, tmp_path: Path) -> None:
    pytest.importorskip("varikn", reason="training needs VariKN: pip install 'paraloom[language]'")
    pytest.importorskip("torch", reason="the classifier needs torch: pip install 'paraloom[train]'")
    assert paraloom("train", "word-counts", "--pairs", scored, "-o", "counts")[0] == 0
    assert paraloom("train", "language-model", "--pairs", scored, "-o", "lm")[0] == 0
    status, out, _ = paraloom(
        "research", "train-classifier", "--pairs", scored, "-o", "judge", "--kind", "avg", "--epochs", 2
    )
    assert status == 0 and "reference accuracy" in out
    options = ["--word-counts", "counts", "--language-model", "lm", "--classifier", "judge"]
    fresh = tmp_path / "plain.parquet"
    pq.write_table(pq.read_table(scored / "part-00000.parquet").drop_columns(["paraphrase_score"]), fresh)
    encoder = BUNDLED / "english"
    status, _, err = paraloom(
        "score", fresh, "--with", "chrf,mismatch", *options, "--encoder", encoder, "-o", "all.parquet", "--workers", 1
    )
    assert status == 0, err
    figures = pq.read_table(tmp_path / "all.parquet")
    assert figures.num_rows == 100
    for name in ("chrf", "tgt_perplexity", "src_idf", "reference_probability", "paraphrase_score", "number_mismatch"):
        assert figures[name].null_count == 0, name


def test_scores_are_listed(paraloom: Command) -> None:
    status, out, _ = paraloom("scores")
    assert status == 0
    assert "trigram_overlap" in out and "paraphrase_score *" in out and "Groups: " in out


def test_statistics_of_the_difference_of_sides(paraloom: Command, scored: Path) -> None:
    status, out, err = paraloom("stats", scored, "--json")
    assert status == 0, err
    figures = json.loads(out)
    assert figures["pairs"] == 480
    difference = figures["reference_minus_translation"]
    assert difference["trigram_repetition"]["high"] <= 0 and difference["length"]["value"] == pytest.approx(-2)
    assert difference["length"]["low"] < -2 < difference["length"]["high"]
    assert paraloom("stats", scored, "--sample", 50)[1].startswith("50 pairs")


def test_figures_of_few_pairs_are_shown_as_they_are(paraloom: Command, tmp_path: Path) -> None:
    """A mean of equal values keeps its digits, and one value has no interval."""
    (tmp_path / "same.tsv").write_text("the dog saw the dog\tthe dog saw him\n" * 2)
    (tmp_path / "one.tsv").write_text("the dog saw the dog\tthe dog saw him\n")
    for name in ("same.tsv", "one.tsv"):
        status, out, err = paraloom("stats", name)
        assert status == 0, err
        rows = {line[:20].strip(): line[20:].split() for line in out.splitlines()[2:]}
        assert rows["unigram repetition"] == ["0.4", "0", "0.4"]
        assert rows["length"] == ["5", "4", "1"]


def test_columns_of_statistics_stay_apart(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "long.tsv").write_text(
        "the dog saw a cat there\tthe dog saw him\n" * 190 + "the dog saw the dog\tnone\n"
    )
    for line in paraloom("stats", tmp_path / "long.tsv")[1].splitlines()[3:]:
        assert len(re.split(r" {2,}", line.rstrip())) == 4, line


def test_the_lexicon_of_bitext(paraloom: Command, scored: Path, tmp_path: Path) -> None:
    german = "groß\tbig\ngroß\tlarge\nriesig\tlarge\nriesig\thuge\n"
    (tmp_path / "de-en.tsv").write_text(4 * german, encoding="utf-8")
    (tmp_path / "en-fr.tsv").write_text(4 * "tall\tgrand\nbig\tgrand\n", encoding="utf-8")
    call = ("lexicon", "de-en.tsv", "en-fr.tsv", "-o", "lexicon.tsv")
    status, _, err = paraloom(*call, "--pivot", "de,fr")
    assert status == 0, err
    lines = (tmp_path / "lexicon.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[0].split("\t") == ["phrase", "paraphrase", "pivots", "probability", "inverse", "score"]
    entries = {tuple(line.split("\t")[:3]) for line in lines[1:]}
    assert {("big", "large", "1"), ("big", "tall", "1"), ("huge", "large", "1")} <= entries
    assert paraloom("lexicon", "de-en.tsv", "--pivot", "en", "-o", "german.tsv")[0] == 0
    assert "groß\triesig\t" in (tmp_path / "german.tsv").read_text(encoding="utf-8")
    for pairs, options, message in (
        (("de-en.tsv", "en-fr.tsv"), (), "of several languages: en, fr"),
        (("de-en.tsv",), ("--pivot", "fr"), "no side of some pairs from 'de' to 'en' is in a pivot language (fr)"),
        (("de-en.tsv",), ("--pivot", "de,en"), "both sides of some pairs from 'de' to 'en' are in a pivot language"),
        ((scored,), (), "paraloom: stage lexicon: cannot pivot: both sides of some pairs are in 'en'"),
    ):
        status, _, err = paraloom("lexicon", *pairs, *options, "-o", "other.tsv")
        assert status == 1 and message in " ".join(err.split()), err
    status, _, err = paraloom("filter", "lexicon.tsv", "--where", "length(src) > 2", "-o", "kept.tsv")
    assert status == 0, err
    same = "".join(f"{line}\t{line}\n" for line in ("big house", "big dog"))
    (tmp_path / "de-en.tsv").write_text(4 * same, encoding="utf-8")
    status, out, err = paraloom("lexicon", "de-en.tsv", "-o", "empty.tsv")
    assert (status, out) == (0, "0 entries in empty.tsv\n") and "sides in two languages" in err


def test_annotation_from_sheet_to_table(paraloom: Command, scored: Path, tmp_path: Path) -> None:
    assert paraloom("judge", "sample", scored, "-o", "sheet.tsv", "--count", 4)[0] == 0
    status, _, err = paraloom("judge", "sample", scored, "-o", "other.tsv", "--by", "src")
    assert status == 1 and "column 'src' holds string, not numbers" in err
    lines = (tmp_path / "sheet.tsv").read_text(encoding="utf-8").splitlines()
    labeled = [lines[0], *(line.rstrip("\t") + "\t3\t2" for line in lines[1:])]
    (tmp_path / "one.tsv").write_text("\n".join(labeled) + "\n", encoding="utf-8")
    status, out, err = paraloom("judge", "table", "one.tsv", "one.tsv", "--key", "sheet.tsv.key.tsv", "--json")
    assert status == 0, err
    table = json.loads(out)
    assert [row["strength"]["3"] for row in table["rows"]] == [8] * 5
    status, _, err = paraloom("judge", "table", "sheet.tsv", "--key", "sheet.tsv.key.tsv")
    assert status == 1 and "strength is ''" in err


def test_near_duplicates_are_rejected(scored: Path, tmp_path: Path) -> None:
    text = f"""
        [[stage]]
        use = "find-duplicates"
        pairs = "{scored}"
        columns = ["src"]
        similarity = 0.95
        [[stage]]
        use = "drop-duplicates"
        input = "{scored}"
        duplicates = "find-duplicates"
    """
    result = run_pipeline(parse_pipeline(text, file=tmp_path / "p.toml"), tmp_path / "run", engine="inline")
    kept = Corpus.open(result.stages[1].folder)
    assert result.stages[0].figures["duplicates"] == 480 - kept.rows
    assert 240 >= kept.rows > 100


def test_filtered_bitext_trains_a_bilingual_encoder(paraloom: Command, tmp_path: Path) -> None:
    rows = [f"{i}\tSatz {i}\tSentence {i}\tund\tund\ta\t0.9" for i in range(1000)]
    (tmp_path / "scored.tsv").write_text("\n".join(["\t".join([*PAIRS.names, "bilingual_similarity"]), *rows]) + "\n")
    status, _, err = paraloom("filter", "scored.tsv", "--where", "bilingual_similarity > 0.5", "-o", "kept.parquet")
    assert status == 0 and "train encoder --bitext kept.parquet" in err, err
