"""Commands of encoders: distill, train, encode, search, mine and export, on small files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from tiny_transformer import save_tiny_transformer
from toy_bilingual import save_bilingual_encoder

from paraloom.core.errors import ConfigError
from paraloom.embed.average import Average, SentenceEncoder
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import load_encoder, save_encoder
from paraloom.embed.vocabulary import Vocabulary
from paraloom.papers.pgru.train_phrases import train_phrase_encoder
from paraloom.pipeline.result import describe_figures


@pytest.fixture
def words_encoder(tmp_path: Path) -> Path:
    """An encoder of eight words with random vectors; those of `dog` and `cat` are similar."""
    words = ["dog", "cat", "runs", "sleeps", "here", "there", "a", "the"]
    table = np.random.default_rng(4).normal(size=(len(words), 16)).astype(np.float32)
    table[1] = table[0] + 0.1
    part = Average(Vocabulary("word", words), table)
    return save_encoder(SentenceEncoder(parse_spec("word"), {"word": part}), tmp_path / "encoder")


def test_search_and_mining(words_encoder, paraloom, tmp_path):
    lines = [f"{d} {n} {v} {p}" for d in ("a", "the") for n in ("dog", "cat") for v in ("runs", "sleeps") for p in "xy"]
    (tmp_path / "text.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "query").write_text("the cat sleeps\n")
    status, out, err = paraloom("search", words_encoder, "text.txt", "query", "-k", 2)
    assert status == 0, err
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[:3] for row in rows] == [["the cat sleeps", "1", "1.0000"], ["the cat sleeps", "2", "1.0000"]]
    assert (
        {lines[int(row[3]) - 1] for row in rows} == {row[4] for row in rows} == {"the cat sleeps x", "the cat sleeps y"}
    )
    (tmp_path / "tab").write_text("the\tcat sleeps\n")  # a tab more would be a column more
    assert paraloom("search", words_encoder, "text.txt", "tab", "-k", 2)[1] == out
    paraloom("encode", words_encoder, "text.txt", "-o", "text.npy")
    assert paraloom("search", words_encoder, "text.txt", "query", "-k", 2, "--vectors", "text.npy")[1] == out
    (tmp_path / "more.txt").write_text("\n".join([*lines, "a dog"]) + "\n")
    status, _, err = paraloom("search", words_encoder, "more.txt", "query", "--vectors", "text.npy")
    assert (status, "16" in err, "17" in err) == (1, True, True)
    status, out, err = paraloom("mine", words_encoder, "text.txt", "--above", 0.9, "--below", 1, "-k", 9, "-o", "p.tsv")
    assert status == 0, err
    pairs = [line.split("\t") for line in (tmp_path / "p.tsv").read_text().splitlines()]
    assert pairs[0] == ["src", "tgt", "cosine", "score"]
    assert ["a dog runs x", "a cat runs x"] in [sorted(pair[:2], reverse=True) for pair in pairs[1:]]


def test_vectors_are_written_as_numpy_and_parquet(words_encoder, paraloom, tmp_path):
    (tmp_path / "text.txt").write_text("a dog\nthe cat\n")
    assert paraloom("encode", words_encoder, "text.txt", "-o", "v.npy")[0] == 0
    assert paraloom("encode", words_encoder, "text.txt", "-o", "v.parquet")[0] == 0
    table = pq.read_table(tmp_path / "v.parquet")
    assert table.column("text").to_pylist() == ["a dog", "the cat"]
    assert np.array_equal(np.stack(table.column("vector").to_numpy()), np.load(tmp_path / "v.npy"))


def test_a_table_that_is_encoded_whole_is_pointed_out(words_encoder, paraloom, tmp_path):
    (tmp_path / "pairs.tsv").write_text("a dog\tthe dog\nthe cat\ta cat\n")
    status, _, err = paraloom("encode", words_encoder, "pairs.tsv", "-o", "v.npy")
    assert status == 0 and "2 of 2 lines of pairs.tsv have tabs" in " ".join(err.split()) and "cut -f 1" in err
    (tmp_path / "table.tsv").write_text("a dog\tthe dog\nthe cat\ta cat\n")
    err = paraloom("search", words_encoder, "table.tsv", "pairs.tsv")[2]
    assert "2 of 2 lines of table.tsv have tabs" in " ".join(err.split())
    (tmp_path / "text.txt").write_text("a dog\nthe\tcat\n")
    assert "have tabs" not in paraloom("encode", words_encoder, "text.txt", "-o", "w.npy")[2]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "text,year\na dog,1\n"),
        ("a.jsonl", '{"text": "a dog"}\n'),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\na dog\n"),
    ],
)
def test_records_and_documents_are_not_taken_for_lines(words_encoder, paraloom, tmp_path, name, content):
    (tmp_path / name).write_text(content)
    (tmp_path / "queries.txt").write_text("a dog\n")
    for call in (
        ("encode", words_encoder, name, "-o", "v.npy"),
        ("mine", words_encoder, name, "-o", "m.tsv"),
        ("search", words_encoder, name, "queries.txt"),
    ):
        status, _, err = paraloom(*call)
        assert status == 1 and re.search("a table of|a document", " ".join(err.split())), call


@pytest.mark.slow
def test_phrase_encoders_are_trained(tmp_path):
    draw = np.random.default_rng(5)
    nouns = [f"noun{chr(97 + i)}{chr(97 + j)}" for i in range(12) for j in range(12)]
    lines = "".join(f"[X] ||| big {a} ||| {b} thing ||| x=1\n" for a, b in zip(nouns, reversed(nouns), strict=True))
    (tmp_path / "ppdb-mine").write_text(lines + "[X] ||| big dog ||| big dog ||| x=1\n")
    rows = [f"{word} {' '.join(f'{x:.3f}' for x in draw.normal(size=8))}" for word in [*nouns, "big", "thing"]]
    (tmp_path / "vectors.txt").write_text("\n".join(rows) + "\n")
    result = train_phrase_encoder([tmp_path / "ppdb-mine"], tmp_path / "p", vectors=tmp_path / "vectors.txt", epochs=2)
    assert any("1 identical" in line for line in describe_figures(result.stages[-1].figures))
    assert load_encoder(tmp_path / "p").encode(["big nounaa"]).shape == (1, 8)
    with pytest.raises(ConfigError, match="expected either 'vectors' or 'teacher'"):
        train_phrase_encoder([tmp_path / "ppdb-mine"], tmp_path / "other")


@pytest.mark.slow
def test_an_encoder_is_distilled(paraloom, tmp_path):
    pytest.importorskip("sentence_transformers", reason="pip install 'paraloom[distill]'")
    teacher = save_tiny_transformer(tmp_path)
    lines = [f"the {a} and a {b} run" for a in ("dog", "cat", "run") for b in ("dog", "cat", "a")]
    (tmp_path / "text.txt").write_text("\n".join([*lines, lines[0], ""]) + "\n")
    status, out, err = paraloom("distill", teacher, "text.txt", "--steps", 30, "--dimension", 8, "-o", "student")
    assert status == 0, err
    assert "9 used" in out
    assert load_encoder(tmp_path / "student").encode(["a dog"]).shape == (1, 16)


def test_an_encoder_is_exported_to_onnx(words_encoder, paraloom, tmp_path):
    pytest.importorskip("onnx", reason="pip install 'paraloom[onnx]'")
    status, _, err = paraloom("export", words_encoder, "-o", "graph", "--onnx")
    assert (status, (tmp_path / "graph" / "model.onnx").is_file()) == (0, True), err
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("keep")
    status, _, err = paraloom("export", words_encoder, "-o", "other", "--onnx")
    assert (status, "other" in err) == (1, True)
    assert (tmp_path / "other" / "notes.txt").read_text() == "keep"


@pytest.fixture
def bilingual_encoder(tmp_path: Path) -> Path:
    """An encoder of four words and their translations, which have the same vectors."""
    return save_bilingual_encoder(tmp_path / "de-en")


def test_translations_are_mined_and_scored(bilingual_encoder, paraloom, tmp_path):
    german = ["hund läuft", "katze schläft", "hund läuft", "hund", "", "schläft"]
    english = ["the cat sleeps", "sleeps", "a dog runs", "runs"]
    (tmp_path / "a.txt").write_text("\n".join(german) + "\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("\n".join(english) + "\n", encoding="utf-8")
    (tmp_path / "gold.tsv").write_text("1\t3\n2\t1\n6\t2\n")
    command = ("mine", bilingual_encoder, "a.txt", "b.txt", "-k", 2, "-o", "p.tsv", "--gold", "gold.tsv")
    status, out, err = paraloom(*command)
    assert status == 0, err
    assert "3 pairs of 6 and 4 lines (5 and 4 different ones)" in out or "4 pairs of 6 and 4 lines" in out
    assert "recall 100.0" in out
    rows = [line.split("\t") for line in (tmp_path / "p.tsv").read_text(encoding="utf-8").splitlines()]
    assert rows[0] == ["score", "src", "tgt", "src_line", "tgt_line", "cosine"]
    cosines = {tuple(row[1:5]): float(row[5]) for row in rows[1:]}
    for pair in (
        ("hund läuft", "a dog runs", "1", "3"),
        ("katze schläft", "the cat sleeps", "2", "1"),
        ("schläft", "sleeps", "6", "2"),
    ):
        assert cosines[pair] == pytest.approx(1)
    status, out, err = paraloom(*command, "--json", "--force")
    figures = json.loads(out)
    assert (figures["output"], figures["score"]["recall"], figures["lines"]) == ("p.tsv", 1, [6, 4])
    (tmp_path / "gold.tsv").write_text("1\t3\n1\t30\n")
    status, _, err = paraloom(*command, "--force")
    assert (status, "gold.tsv, row 2: row 30 is beyond the 4 lines of the target" in err) == (1, True)


def test_mined_translations_on_standard_output(bilingual_encoder, paraloom, tmp_path):
    (tmp_path / "a.txt").write_text("hund\nkatze\n")
    (tmp_path / "b.txt").write_text("cat\ndog\n")
    status, out, err = paraloom("mine", bilingual_encoder, "a.txt", "b.txt", "--above", 0, "-o", "-")
    assert (status, "2 pairs of 2 and 2 lines" in err) == (0, True)
    pairs = sorted(line.split("\t")[1:5] for line in out.splitlines()[1:])
    assert pairs == [["hund", "dog", "1", "2"], ["katze", "cat", "2", "1"]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--gold", "text.txt"], "--gold is for translations"),
        (["--index", "exact"], "--index is for translations"),
        (["text.txt", "--below", 0.5], "--below is for paraphrases"),
        (["text.txt", "--vectors", "v.npy"], "--vectors is for paraphrases"),
    ],
)
def test_options_of_the_other_kind_of_mining(words_encoder, paraloom, tmp_path, options, message):
    (tmp_path / "text.txt").write_text("a dog\n")
    status, _, err = paraloom("mine", words_encoder, "text.txt", "-o", "p.tsv", *options)
    assert (status, message in " ".join(err.replace("│", " ").split())) == (2, True)


def test_bitext_is_scored_by_an_encoder_of_both_languages(bilingual_encoder, paraloom, tmp_path):
    (tmp_path / "a.de-en.tsv").write_text("hund läuft\ta dog runs\nhund\tcat\n", encoding="utf-8")
    command = ("score", "a.de-en.tsv", "--with", "bilingual,length", "-o", "s.tsv")
    status, _, err = paraloom(*command, "--encoder", bilingual_encoder)
    assert status == 0, err
    header, *rows = [line.split("\t") for line in (tmp_path / "s.tsv").read_text(encoding="utf-8").splitlines()]
    cosines = [float(row[header.index("bilingual_similarity")]) for row in rows]
    assert cosines[0] == pytest.approx(1) and cosines[1] < 0.9
    assert "paraphrase_score" not in header and "tgt_tokens" in header
    status, _, err = paraloom(*command, "--force")
    assert (status, "needs an encoder of both languages" in err) == (1, True)
