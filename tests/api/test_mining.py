"""Mining of two texts, from files to files: the margins, lines and formats by hand, figures against gold, bad input."""

from __future__ import annotations

import gzip
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from toy_bilingual import save_bilingual_encoder, word_vectors

import paraloom
from paraloom.api import mining
from paraloom.bundled import SAMPLE
from paraloom.core.errors import ConfigError, DataError
from paraloom.embed import mining as margins

GERMAN = ["hund läuft", "", "katze  schläft", "hund läuft", "unbekannt", "hund"]
ENGLISH = ["cat sleeps", "dog runs", "runs", "dog", "dog"]


@pytest.fixture
def texts(tmp_path: Path) -> tuple[Path, Path, Path]:
    """An encoder, a text and a compressed one."""
    (tmp_path / "a.txt").write_text("\n".join(GERMAN) + "\n", encoding="utf-8")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(("\n".join(ENGLISH) + "\n").encode()))
    return save_bilingual_encoder(tmp_path / "de-en"), tmp_path / "a.txt", tmp_path / "b.txt.gz"


def expected_margins() -> dict[tuple[str, str], float]:
    """The formula of Artetxe and Schwenk over all distinct sentences with vectors and k = 2."""
    hund, katze, runs, sleeps = word_vectors(4)
    sides = [
        {"hund läuft": hund + runs, "katze schläft": katze + sleeps, "hund": hund},
        {"cat sleeps": katze + sleeps, "dog runs": hund + runs, "runs": runs, "dog": hund},
    ]
    units = [np.stack([vector / np.linalg.norm(vector) for vector in side.values()]) for side in sides]
    cosines = units[0] @ units[1].T
    # Two lines of the first text are zero vectors, whose cosines are 0: they count where few others are positive.
    padded = np.concatenate([cosines, np.zeros((2, 4))])
    means = np.sort(cosines, axis=1)[:, -2:].mean(axis=1), np.sort(padded, axis=0)[-2:].mean(axis=0)
    values = 2 * cosines / (means[0][:, None] + means[1][None])
    return {(a, b): float(values[i, j]) for i, a in enumerate(sides[0]) for j, b in enumerate(sides[1])}


@pytest.mark.parametrize("call", [paraloom.mine_translations, lambda _, *texts: paraloom.align_files(*texts)])
@pytest.mark.parametrize("sentences", [["a"], [], ("a", "b"), None, [1]])
def test_sentences_in_place_of_a_file_are_a_type_error_that_names_what_takes_them(
    tmp_path: Path, call: Any, sentences: object
) -> None:
    with pytest.raises(TypeError, match=r"expected a path, got \w+; for sentences in memory use (mine|align)"):
        call("multilingual", sentences, sentences, tmp_path / "out.tsv")


@pytest.mark.parametrize("sentences", [[1, 2], 5, {"a": "b"}])
def test_what_is_not_sentences_is_a_type_error(sentences: Any) -> None:
    with pytest.raises(TypeError, match="expected a list of sentences, got "):
        paraloom.mine(sentences)


def test_pairs_margins_and_lines_by_hand(texts: tuple[Path, Path, Path], tmp_path: Path) -> None:
    mined = paraloom.mine_translations(*texts, tmp_path / "out.parquet", above=0.5, k=2)
    rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert list(rows[0]) == ["score", "src", "tgt", "src_line", "tgt_line", "cosine"]
    where = {(row["src"], row["tgt"]): (row["src_line"], row["tgt_line"]) for row in rows}
    # A repeated line counts once, where it occurs first; lines count empty ones.
    assert where[("hund läuft", "dog runs")] == (1, 2) and where[("katze schläft", "cat sleeps")] == (3, 1)
    assert where[("hund", "dog")] == (6, 4)
    expected = expected_margins()
    for row in rows:
        assert row["score"] == pytest.approx(expected[(row["src"], row["tgt"])], rel=1e-5)
    scores = [row["score"] for row in rows]
    assert scores == sorted(scores, reverse=True) and min(scores) >= 0.5
    assert (mined.pairs, mined.lines, mined.distinct, mined.score) == (len(rows), (6, 5), (5, 4), None)


@pytest.mark.parametrize("name", ["out.tsv", "out.tsv.gz", "out.csv", "out.jsonl", "out.jsonl.zst", "out.{de,en}"])
def test_formats(texts: tuple[Path, Path, Path], tmp_path: Path, name: str) -> None:
    mined = paraloom.mine_translations(*texts, tmp_path / name, above=0.5, k=2)
    pairs = [(row["src"], row["tgt"]) for row in paraloom.read_pairs(tmp_path / name).to_list()]
    assert len(pairs) == mined.pairs and ("katze schläft", "cat sleeps") in pairs
    if name == "out.jsonl":
        first = json.loads((tmp_path / name).read_text(encoding="utf-8").splitlines()[0])
        assert set(first) == set(mining.COLUMNS.names)


def test_rows_are_written_in_parts(texts: tuple[Path, Path, Path], tmp_path: Path, monkeypatch) -> None:
    paraloom.mine_translations(*texts, tmp_path / "whole.tsv", above=0, k=2)
    monkeypatch.setattr(mining, "_ROWS", 1)
    paraloom.mine_translations(*texts, tmp_path / "parts.tsv", above=0, k=2)
    assert (tmp_path / "parts.tsv").read_bytes() == (tmp_path / "whole.tsv").read_bytes()


def test_figures_against_gold(texts: tuple[Path, Path, Path], tmp_path: Path) -> None:
    # The fourth line repeats the first one, so that both gold lines mean the same pair. The last pair is never mined.
    (tmp_path / "gold.tsv").write_text("1\t2\n4\t2\n3\t1\n5\t3\n")
    mined = paraloom.mine_translations(*texts, tmp_path / "out.tsv", above=0.5, k=2, gold=tmp_path / "gold.tsv")
    score = mined.score
    assert score is not None and (score.gold, score.threshold, score.pairs) == (3, 0.5, mined.pairs)
    assert (score.recall, score.precision) == pytest.approx((2 / 3, 2 / mined.pairs))
    assert "best threshold" in mined.format() and mined.to_dict()["score"]["gold"] == 3


def test_numbers_of_repeated_lines() -> None:
    digests = np.array([[5, 1], [9, 0], [5, 1], [5, 0], [9, 0]], np.uint64)
    rows, first = mining._numbers(digests)
    assert rows.tolist() == [0, 1, 0, 2, 1] and first.tolist() == [0, 1, 3]


def test_a_graph_from_files(tmp_path: Path) -> None:
    pytest.importorskip("faiss", reason="pip install 'paraloom[search]'")
    words = [
        (f"wort{chr(97 + i)}{chr(97 + j)}", f"word{chr(97 + i)}{chr(97 + j)}") for i in range(10) for j in range(9)
    ]
    encoder = save_bilingual_encoder(tmp_path / "de-en", words)
    for side, name in enumerate(("a.txt", "b.txt")):
        (tmp_path / name).write_text("".join(f"{pair[side]}\n" for pair in words))
    files = encoder, tmp_path / "a.txt", tmp_path / "b.txt"
    for index in ("exact", "graph"):
        paraloom.mine_translations(*files, tmp_path / f"{index}.tsv", above=1.05, index=index)  # type: ignore[arg-type]
    texts = [(tmp_path / f"{index}.tsv").read_text() for index in ("exact", "graph")]
    pairs = [{tuple(line.split("\t")[1:3]) for line in text.splitlines()[1:]} for text in texts]
    # A walk visits 128 vectors, more than there are: nothing is missed.
    assert pairs[0] == pairs[1] == set(words)


def test_trained_on_bitext_and_mined(tmp_path: Path) -> None:
    """The whole way on a real encoder; what it learns decides nothing but that its languages are recorded."""
    rows = paraloom.read_pairs(SAMPLE, src_column="de", tgt_column="en").to_list()
    paraloom.as_pairs([(row["src"], row["tgt"]) for row in rows]).write(tmp_path / "s.de-en.tsv")
    for side, name in (("src", "de.txt"), ("tgt", "en.txt")):
        (tmp_path / name).write_text("".join(f"{row[side]}\n" for row in rows), encoding="utf-8")
    encoder = tmp_path / "encoder"
    paraloom.Encoder.train(encoder, bitext=tmp_path / "s.de-en.tsv", dimension=8, epochs=1)
    training = json.loads((encoder / "config.json").read_text())["training"]
    assert training["languages"] == "de, en"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mined = paraloom.mine_translations(
            encoder, tmp_path / "de.txt", tmp_path / "en.txt", tmp_path / "o.tsv", above=0
        )
    assert 0 < mined.pairs <= min(mined.distinct)
    with pytest.warns(UserWarning, match=r"the sides are swapped.*en\.txt is in English"):
        paraloom.mine_translations(encoder, tmp_path / "en.txt", tmp_path / "de.txt", tmp_path / "o.tsv", above=0)
    with pytest.warns(UserWarning, match=r"same language \(de, German\): .*de\.txt and .*de\.txt"):
        paraloom.mine_translations(encoder, tmp_path / "de.txt", tmp_path / "de.txt", tmp_path / "o.tsv", above=0)


def test_a_language_that_the_encoder_lacks(tmp_path: Path) -> None:
    rows = paraloom.read_pairs(SAMPLE, src_column="de", tgt_column="en").to_list()
    for side, name in (("src", "de.txt"), ("tgt", "en.txt")):
        (tmp_path / name).write_text("".join(f"{row[side]}\n" for row in rows), encoding="utf-8")
    encoder = save_bilingual_encoder(tmp_path / "cs-en", training={"languages": "cs, en"})
    lacking = r"de\.txt seems to be in German, but the encoder is of Czech and English and knows 0 % of its words"
    with pytest.warns(UserWarning, match=lacking):
        paraloom.mine_translations(encoder, tmp_path / "de.txt", tmp_path / "en.txt", tmp_path / "o.tsv", above=0)
    # One of its languages was not identified: it may be this one.
    encoder = save_bilingual_encoder(tmp_path / "und-en", training={"languages": "und, en"})
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*the encoder is of")
        paraloom.mine_translations(encoder, tmp_path / "de.txt", tmp_path / "en.txt", tmp_path / "o.tsv", above=0)


@pytest.mark.parametrize("how", ["bundled", "recorded", "paraphrases", "object"])
def test_an_encoder_of_one_language(texts: tuple[Path, Path, Path], tmp_path: Path, how: str) -> None:
    training = {"recorded": {"languages": "de"}, "paraphrases": {"loss": "margin"}}.get(how)
    encoder: Any = save_bilingual_encoder(tmp_path / "encoder", training=training)
    encoder = {"bundled": "english", "object": paraloom.Encoder.load("english")}.get(how, encoder)
    with pytest.raises(ConfigError, match=r"the encoder .*needs one of both languages") as error:
        paraloom.mine_translations(encoder, *texts[1:], tmp_path / "out.tsv")
    assert "train encoder --bitext" in str(error.value)
    assert how in ("paraphrases",) or "one language" in str(error.value)
    assert not (tmp_path / "out.tsv").exists()


@pytest.mark.parametrize(
    ("gold", "row", "message"),
    [
        ("1\t2\n7\t1\n", 2, "row 7 is beyond the 6 lines of the source.*Check that the file belongs"),
        ("1\t2\n1\t6\n", 2, "row 6 is beyond the 5 lines of the target.*columns seem to be swapped"),
        ("1\t2\n0\t1\n", 2, "expected two row numbers, got '0"),
        ("hund\tdog\n", 1, "expected two row numbers"),
    ],
)
def test_wrong_gold(texts: tuple[Path, Path, Path], tmp_path: Path, gold: str, row: int, message: str) -> None:
    (tmp_path / "gold.tsv").write_text(gold)
    with pytest.raises(DataError, match=f"(?s)gold.tsv, row {row}: {message}"):
        paraloom.mine_translations(*texts, tmp_path / "out.tsv", gold=tmp_path / "gold.tsv")
    assert not (tmp_path / "out.tsv").exists()


@pytest.mark.parametrize("text", ["", "\n \n"])
@pytest.mark.parametrize("side", [1, 2])
def test_an_empty_side(texts: tuple[Path, Path, Path], tmp_path: Path, text: str, side: int) -> None:
    (tmp_path / "empty.txt").write_text(text)
    files = [*texts]
    files[side] = tmp_path / "empty.txt"
    with pytest.raises(DataError, match=r"empty\.txt"):
        paraloom.mine_translations(*files, tmp_path / "out.tsv")
    assert not (tmp_path / "out.tsv").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"output": "out"}, "written to a file, not to a folder"),
        ({"output": "out.docx"}, "unknown format '.docx'"),
        ({"above": float("nan")}, "minimum margin is nan"),
        ({"index": "graf"}, "did you mean 'graph'"),
        ({"k": 0}, "'k' is 0"),
    ],
)
def test_settings_are_checked_before_texts(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    settings = {"output": "out.tsv"} | change
    settings["output"] = tmp_path / settings["output"]
    with pytest.raises(ConfigError, match=message):
        paraloom.mine_translations("missing-encoder", "missing-a", "missing-b", **settings)


def test_nothing_above_the_minimum_says_what_the_best_has(texts: tuple[Path, Path, Path], tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"no pair has a margin of 9 or more; the best has \d\.\d\d\d"):
        mined = paraloom.mine_translations(*texts, tmp_path / "out.tsv", above=9)
    assert mined.pairs == 0
    assert (tmp_path / "out.tsv").read_text() == "score\tsrc\ttgt\tsrc_line\ttgt_line\tcosine\n"


def test_a_million_lines_a_side_are_not_compared_exactly(monkeypatch) -> None:
    """'auto' takes the graph beyond its bound; the bound is below a million lines on both sides."""
    assert margins._EXACT <= 1e12
    calls = []
    monkeypatch.setattr(margins, "_EXACT", 5)
    monkeypatch.setattr(margins, "_graph_neighbors", lambda a, b, k: calls.append((len(a), len(b))))
    margins.bitext_neighbors(np.eye(3, dtype=np.float32), np.eye(2, 3, dtype=np.float32))
    assert calls == [(3, 2)]
