"""Stages of single sentences: each is read once, and gets the vector of an encoder."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from stage_runs import count_reasons, read_rows, run_toml, write_pairs

from paraloom.core.errors import ConfigError, ParaloomError
from paraloom.core.schema import PAIRS, signature_of
from paraloom.core.stage import StageContext
from paraloom.embed.average import Average, SentenceEncoder
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import save_encoder
from paraloom.embed.vocabulary import Vocabulary
from paraloom.io import Corpus, write_corpus
from paraloom.stages.sentences import LoadEncoder, ReadSentences

SENTENCES = '[[stage]]\nuse = "read-sentences"\ntext_files = ["mono.txt"]\n'


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """A corpus of pairs, a file of lines, and an encoder whose vectors are one-hot."""
    rows = [
        {"pair_id": str(number), "src": src, "tgt": tgt, "src_lang": "en", "tgt_lang": lang, "origin": "x"}
        for number, (src, tgt, lang) in enumerate(
            [("a dog", "a cat", "en"), ("a  dog ", "", "en"), ("b" * 500, "the cat", "und"), ("a cat", "eine", "de")]
        )
    ]
    write_corpus(tmp_path / "pairs", [pa.RecordBatch.from_pylist(rows, schema=PAIRS)], kind="PAIRS")
    (tmp_path / "lines.tsv").write_text("eins\ta cat\nzwei\tthe dog\nohne\n", encoding="utf-8")
    part = Average(Vocabulary("word", ["a", "the", "dog", "cat"]), np.eye(4, 6, dtype=np.float32) * 3)
    save_encoder(SentenceEncoder(parse_spec("word"), {"word": part}), tmp_path / "encoder")
    return tmp_path


@pytest.mark.filterwarnings("ignore:.*no unit")
@pytest.mark.parametrize(("field", "last"), [(-1, ["the dog", "ohne"]), (2, ["the dog"])])
def test_every_sentence_is_kept_once_with_its_vector(inputs: Path, field: int, last: list[str]) -> None:
    result = run_toml(
        '[[stage]]\nuse = "read-sentences"\ncorpora = ["pairs"]\ntext_files = ["lines.tsv"]\n'
        f'field = {field}\n[[stage]]\nuse = "encode"\nencoder = "encoder"\n',
        inputs,
    )
    rows = read_rows(result.stages[-1].folder)
    assert [row["text"] for row in rows] == ["a dog", "a cat", "the cat", *last]
    np.testing.assert_allclose(rows[0]["vector"], np.array([1, 0, 1, 0, 0, 0]) / 2**0.5, atol=1e-3)
    column = Corpus.open(result.stages[-1].folder).schema.field("vector")
    assert column.type == pa.list_(pa.float16(), 6)
    assert "encoder|spec:word" in signature_of(column)
    reasons = count_reasons(result.stage("read-sentences").folder)
    assert set(reasons) == {"empty", "in 'de'", "duplicate", "more than 400 characters"}


def test_a_text_in_another_language_does_not_make_an_equal_one_a_duplicate(tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs", ("Berlin", "Berlin"))
    result = run_toml('[[stage]]\nuse = "read-sentences"\ncorpora = ["pairs"]\n', tmp_path)
    assert [row["text"] for row in read_rows(result.stages[0].folder)] == ["Berlin"]
    assert count_reasons(result.stages[0].folder) == {"in 'de'": 1}


def test_without_a_language_all_texts_are_read(tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs", ("ein Hund", "a dog"))
    result = run_toml('[[stage]]\nuse = "read-sentences"\ncorpora = ["pairs"]\nlang = "und"\n', tmp_path)
    assert [row["text"] for row in read_rows(result.stages[-1].folder)] == ["ein Hund", "a dog"]


def test_invalid_settings_are_refused(inputs: Path) -> None:
    with pytest.raises(ConfigError, match="key 'corpora' or 'text_files' is missing"):
        ReadSentences()
    with pytest.raises(ConfigError, match="unknown column 'texts'; did you mean 'text'"):
        ReadSentences(corpora=("pairs",), columns=("texts",))
    with pytest.raises(ConfigError, match="'limit' must be 0"):
        ReadSentences(corpora=("pairs",), limit=-1)
    with pytest.raises(ConfigError, match="expected one of the keys 'folder' and 'model'"):
        LoadEncoder()
    with pytest.raises(ParaloomError, match="none of the columns"):
        run_toml('[[stage]]\nuse = "read-sentences"\ncorpora = ["pairs"]\ncolumns = ["text"]\n', inputs)


def test_sentences_are_read_from_files_of_every_format(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("id\ttext\n1\tone dog\n2\n")
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(b'{"id": 7, "text": "two dogs"}\n\n{"text": "three dogs"}\n'))
    text = '[[stage]]\nuse = "read-sentences"\ntext_files = ["a.tsv", "c.jsonl.gz"]\nfield = "text"\nlimit = 4\n'
    result = run_toml(text, tmp_path).stages[-1]
    assert [row["text"] for row in read_rows(result.folder)] == ["one dog", "two dogs", "three dogs"]
    assert count_reasons(result.folder) == {"empty": 1}
    assert run_toml(text.replace("limit = 4", "limit = 3"), tmp_path).stages[-1].counts.read == 3


BAD = [
    (b"fine\nein M\xfcnchner\nalso fine\n", "mono.txt", r"not valid UTF-8 \(byte 0xfc at 5\)"),
    (b'{"text": "fine"}\n{"text": 3}\n{"text": "also fine"}\n', "mono.jsonl", "'text' must be text, got 3"),
    (b'{"text": "fine"}\nno json\n{"text": "also fine"}\n', "mono.jsonl", "the line is not valid JSON"),
]


@pytest.mark.parametrize(("content", "name", "message"), BAD)
def test_an_unreadable_line_stops_the_run_or_is_rejected(
    tmp_path: Path, content: bytes, name: str, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    text = SENTENCES.replace("mono.txt", name)
    with pytest.raises(ParaloomError, match=message) as error:
        run_toml(text, tmp_path)
    assert error.value.row == 2 and str(error.value.file).endswith(name)
    result = run_toml(text + 'bad_rows = "reject"\n', tmp_path).stages[-1]
    assert [row["text"] for row in read_rows(result.folder)] == ["fine", "also fine"]
    assert (result.counts.read, result.counts.rejected) == (3, 1)
    assert run_toml(text + "limit = 1\n", tmp_path).stages[-1].counts.read == 1


def test_lines_after_the_limit_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "mono.txt").write_bytes(b"".join(b"line %d\n" % number for number in range(5001)) + b"\xff\n")
    assert run_toml(SENTENCES + "limit = 5001\n", tmp_path).stages[-1].counts.kept == 5001


@pytest.mark.parametrize(
    ("name", "field", "message"),
    [("a.tsv", '"texts"', "did you mean 'text'"), ("a.jsonl", "2", "JSON Lines have keys, not numbered fields")],
)
def test_an_unknown_field_is_an_error(tmp_path: Path, name: str, field: str, message: str) -> None:
    (tmp_path / name).write_text('text\n{"text": "a"}\n')
    with pytest.raises(ConfigError, match=message):
        run_toml(f'[[stage]]\nuse = "read-sentences"\ntext_files = ["{name}"]\nfield = {field}\n', tmp_path)


def test_duplicates_are_dropped_and_short_texts_are_not_confused(tmp_path: Path) -> None:
    (tmp_path / "mono.txt").write_text("A dog sleeps.\na dog sleeps\nab\ncd\nAB\n")
    result = run_toml(
        f'{SENTENCES}[[stage]]\nname = "copies"\nuse = "find-duplicates"\npairs = "read-sentences"\n'
        'columns = ["text"]\nsimilarity = 1\n[[stage]]\nuse = "drop-duplicates"\nduplicates = "copies"\n',
        tmp_path,
    ).stages[-1]
    assert [row["text"] for row in read_rows(result.folder)] == ["A dog sleeps.", "ab", "cd"]
    assert count_reasons(result.folder) == {"near-duplicate of an earlier row": 2}


@pytest.mark.parametrize("kind", ["file", "corpus"])
def test_texts_near_a_test_set_are_left_out(tmp_path: Path, kind: str) -> None:
    test = "The quick brown fox jumps over the lazy dog in the garden every morning."
    near = test.replace("garden", "park")
    (tmp_path / "mono.txt").write_text(f"{test.upper()}\n{near}\nA cat sleeps on the mat.\n")
    if kind == "file":
        (tmp_path / "test.tsv").write_text(f"4.5\t{test}\tSomething else is said here.\n")
    else:
        write_pairs(tmp_path / "test", ("4.5", test))
    name = "test.tsv" if kind == "file" else "test"
    result = run_toml(f'{SENTENCES}held_out = ["{name}"]\n', tmp_path)
    assert [row["text"] for row in read_rows(result.stages[-1].folder)] == ["A cat sleeps on the mat."]
    assert count_reasons(result.stages[-1].folder) == {
        "in a held-out corpus": 1, "8 words in a row: near a held-out text": 1,
    }  # fmt: skip


def test_lower_cased_text_is_capitalized_on_request(tmp_path: Path) -> None:
    (tmp_path / "lower.txt").write_text("a dog sleeps.\n\nÄpfel\n(no letter first)\n", encoding="utf-8")
    batch = next(ReadSentences(text_files=[tmp_path / "lower.txt"], capitalize=True).batches(StageContext(seed=1)))
    assert batch.column("text").to_pylist() == ["A dog sleeps.", "", "Äpfel", "(no letter first)"]
    assert ReadSentences(text_files=[tmp_path / "lower.txt"]).configuration().keys() >= {"limit"}
    assert "capitalize" not in ReadSentences(text_files=[tmp_path / "lower.txt"]).configuration()
