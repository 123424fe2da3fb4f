"""Lexical diversity and surface statistics: parity with sacreBLEU and wc, groups in any batches."""

from __future__ import annotations

import gzip
import itertools
import math
import os
import random
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF

from paraloom.core.errors import DataError
from paraloom.core.stats import Moments, merge_all
from paraloom.evaluate.diversity.corpus_statistics import TextStatistics
from paraloom.evaluate.diversity.groups import group_bounds, whole_groups
from paraloom.evaluate.diversity.lexical import LexicalDiversity, group_overlaps, signatures
from paraloom.evaluate.diversity.surface import UNITS, SurfaceStatistics

# What the 13a tokenizer treats specially, what it does not, and characters whose lower case depends on context.
PIECES = (
    *("a", "B", "5", "the", "dog", ".", ",", "-", "'", "!", "_", "&", "<", "lt;", "|", "…", "１", "é", "İ", "Σ", "ΑΣ"),
    *(" ", "\n", "-\n", "\t", "\u00a0", "\u2028", "\x1c", "\x00", "<skipped>", "<SKIPPED>", "🎉", "e\u0301", "漢字"),
    *("&quot;", "&amp;", "&lt;", "&gt;", "&QUOT;", "&apos;"),
)
ODD = (
    ["", "", ""],
    [" ", "\n", ""],
    ["", "word", "word"],
    ["word", "word", "word"],
    ["a b c", "a b c", "a b d"],
    ["&amp;lt;b&amp;gt;", "<b>", "&LT;b&gt;"],
    ["a..5 5..5 5.-5", "a . .5 5. . 5 5 . -5", "1,000.00-2,000"],
    ["5-6 -- a-\nb", "5 -6 --ab", "5-6--a-b-\n"],
    ["<skipped>", "<ski<skipped>pped>", "x"],
    ["İSTANBUL'DA", "istanbul'da", "ISTANBUL'DA"],
    ["ΟΔΟΣ ΣΑΣ.", "οδος σας.", "οδοσ σασ."],
    ["x" * 300, "x" * 299, "xy" * 150],
    ["one"],
    [],
)
TEXT = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
GROUP = st.lists(TEXT, max_size=5) | st.lists(st.text(max_size=20), max_size=4)


def by_sacrebleu(variants: list[str]) -> tuple[float, float]:
    """i-BLEU and i-chrF by sacreBLEU, pair by pair."""
    bleu, chrf = BLEU(lowercase=True, effective_order=True), CHRF()
    pairs = list(itertools.permutations(variants, 2))
    if not pairs:
        return math.nan, math.nan
    return tuple(100 - np.mean([metric.sentence_score(a, [b]).score for a, b in pairs]) for metric in (bleu, chrf))


def assert_parity(groups: list[list[str]]) -> None:
    bounds = np.cumsum([0, *map(len, groups)])
    overlaps = group_overlaps([text for group in groups for text in group], bounds)
    expected = np.array([by_sacrebleu(group) for group in groups]).reshape(-1, 2)
    np.testing.assert_allclose(overlaps.ibleu, expected[:, 0], atol=1e-6)
    np.testing.assert_allclose(overlaps.ichrf, expected[:, 1], atol=1e-6)
    assert overlaps.variants.tolist() == [len(group) for group in groups]
    repeated = [(len(group) - len(set(group))) / len(group) if group else math.nan for group in groups]
    np.testing.assert_allclose(overlaps.repeated, repeated)
    assert overlaps.empty.tolist() == [sum(not text.split() for text in group) for group in groups]


def captions(data: Path, count: int) -> list[list[str]]:
    """Three descriptions of one picture."""
    files = [data / f"bitext/multi30k/task2/val.{number}.en.gz" for number in (1, 2, 3)]
    return [list(group) for group in zip(*(lines(file)[:count] for file in files), strict=True)]


def lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def test_parity_on_odd_groups(caplog: pytest.LogCaptureFixture) -> None:
    assert_parity([list(group) for group in ODD])


@settings(max_examples=100, deadline=None)
@given(st.lists(GROUP, max_size=4))
@example([["a.\n", "a ."], [], ["\u2028", ""]])
def test_parity_on_any_groups(groups: list[list[str]]) -> None:
    assert_parity(groups)


def test_parity_on_real_texts(data: Path) -> None:
    news = [line.split("\t")[3:5] for line in lines(data / "bitext/wmt-news/en-two-references.tsv.gz")[:150]]
    turkish, icelandic = (
        [line.split("\t")[1] for line in lines(data / f"bitext/ntrex/{language}-en.tsv.gz")[:150]]
        for language in ("tr", "is")
    )
    consecutive = [side[i : i + 3] for side in (turkish, icelandic) for i in range(0, 150, 3)]
    assert_parity([*captions(data, 150), *news, *consecutive])


def test_a_group_of_many_variants() -> None:
    many = [f"variant {i % 90} of {i}" for i in range(520)]
    overlaps = group_overlaps([*many, "a", "b"], [0, 520, 522])
    few = [group_overlaps([many[i], many[j]], [0, 2]) for i, j in itertools.combinations(range(0, 520, 40), 2)]
    chosen = group_overlaps(many[::40], [0, 13])
    assert chosen.ichrf[0] == pytest.approx(np.mean([pair.ichrf[0] for pair in few]))
    assert 0 < overlaps.ibleu[0] < 100 and overlaps.ibleu[1] == 100
    assert overlaps.ichrf[0] == pytest.approx(group_overlaps(many[::-1], [0, 520]).ichrf[0])


@pytest.mark.parametrize(
    ("variants", "ibleu", "ichrf"),
    [
        # Words: 1 of 2 shared, no bigram: √(1/2 · 1/2).  Letters: of 4 and 4, 3 2 0 0 n-grams: (3/4 + 1/3) / 4.
        (["a dog", "a dot"], 50.0, 100 - 100 * (3 / 4 + 2 / 3 + 1 / 2 + 0) / 4),
        (["same words here", "same words here"], 0.0, 0.0),
        (["xy", "ab"], 100.0, 100.0),
        (["Dog", "dog"], 0.0, 100 - 100 * (2 / 3 + 1 / 2 + 0) / 3),
        (["", ""], 100.0, 100.0),
        # a against a b: brevity e^-1 of 1; a b against a: √(1/2 · 1/2).
        (["a", "a b"], 100 - 100 * (math.exp(-1) + 0.5) / 2, 100 - 100 * (5 / 9 + 5 / 6) / 2),
    ],
)
def test_values_by_hand(variants: list[str], ibleu: float, ichrf: float) -> None:
    overlaps = group_overlaps(variants, [0, len(variants)])
    assert overlaps.ibleu[0] == pytest.approx(ibleu, abs=1e-9)
    assert overlaps.ichrf[0] == pytest.approx(ichrf, abs=1e-9)


def test_the_signature_names_the_settings_of_bleu() -> None:
    assert signatures()["ibleu"].startswith("ibleu|case:lc|eff:yes|tok:13a|smooth:exp|pairs:ordered|version:")


def test_arrow_text_slices_and_nulls() -> None:
    texts = pa.array(["not this", "a dog", None, "a dog"])
    overlaps = group_overlaps(texts[1:], [0, 3])
    expected = group_overlaps(["a dog", "", "a dog"], [0, 3])
    assert overlaps.ibleu == expected.ibleu and overlaps.ichrf == expected.ichrf and overlaps.empty.tolist() == [1]


@pytest.mark.parametrize("bounds", [[], [0], [1, 2], [0, 3], [0, 2, 1, 2], [0.0, 2.0], [[0, 2]], ["0", "2"]])
def test_invalid_bounds_are_refused(bounds: list[object]) -> None:
    with pytest.raises(DataError, match="bounds of groups"):
        group_overlaps(["a", "b"], bounds)


def variants(groups: dict[str, list[str]]) -> pa.RecordBatch:
    rows = [{"pair_id": name, "text": text} for name, texts in groups.items() for text in texts]
    return pa.RecordBatch.from_pylist(rows, schema=pa.schema([("pair_id", pa.string()), ("text", pa.string())]))


def lexical_diversity(batches: list[pa.RecordBatch]) -> LexicalDiversity:
    """The sums of a corpus of variants, as batches are read."""
    groups = ((batch.column("text"), group_bounds(batch.column("pair_id"))) for batch in whole_groups(batches))
    return merge_all((LexicalDiversity.of(group_overlaps(*group)) for group in groups), LexicalDiversity())


GROUPS = {"1": ["a dog", "a dot", "a dog"], "2": ["one"], "3": ["x y", "x y"], "4": ["", ""], "5": ["c d e", "c d"]}


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 10), max_size=4))
def test_groups_are_the_same_in_any_batches(cuts: list[int]) -> None:
    whole = variants(GROUPS)
    rows = sorted({0, *cuts, whole.num_rows})
    parts = [whole.slice(a, b - a) for a, b in itertools.pairwise(rows)]
    bounds = [group_bounds(batch.column("pair_id")) for batch in whole_groups(parts)]
    assert sum(len(part) - 1 for part in bounds) == len(GROUPS)
    total, expected = lexical_diversity(parts), lexical_diversity([whole])
    assert (total.groups, total.alone, total.variants, total.empty) == (4, 1, 10, 2)
    for name, figure in total.figures().items():
        assert figure.value == pytest.approx(expected.figures()[name].value)


def test_groups_of_one_are_counted_but_not_averaged() -> None:
    alone = lexical_diversity([variants({"1": ["a"], "2": ["b"]})])
    assert (alone.groups, alone.alone) == (0, 2) and math.isnan(alone.figures()["ibleu"].value)
    both = alone + LexicalDiversity.of(group_overlaps(["a", "a", "a", "b"], [0, 2, 4]))
    assert both.figures()["ibleu"].value == 50 and both.figures()["repeated"].value == 0.25
    assert lexical_diversity([]) == LexicalDiversity()


@pytest.mark.parametrize(
    ("parts", "message", "row"),
    [
        ([["1", "2"], ["2", "1"]], "'1' are not consecutive rows", 4),
        ([["1", "2", "1"]], "'1' are not consecutive rows", 3),
        ([["1"], ["2", None]], "no pair_id", 3),
    ],
)
def test_invalid_groups_are_refused(parts: list[list[str | None]], message: str, row: int) -> None:
    batches = [pa.RecordBatch.from_pydict({"pair_id": pa.array(ids), "text": ids}) for ids in parts]
    with pytest.raises(DataError, match=message) as error:
        lexical_diversity(batches)
    assert error.value.row == row


def test_missing_columns_are_refused() -> None:
    with pytest.raises(DataError, match="column 'text' not found"):
        lexical_diversity([pa.RecordBatch.from_pydict({"pair_id": ["1"]})])


def test_parity_with_wc(data: Path, tmp_path: Path) -> None:
    if not shutil.which("wc"):
        pytest.skip("wc not found")
    text = [line.split("\t")[0] for line in lines(data / "bitext/wmt-news/tr-en.tsv.gz")[:3000]]
    text += ["", " a  b\u00a0c ", "Ünlü, «çok» güzel."]
    file = tmp_path / "text"
    file.write_text("".join(f"{line}\n" for line in text), encoding="utf-8")
    process = subprocess.run(["wc", file], capture_output=True, check=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    rows, words, size = map(int, process.stdout.split()[:3])
    batches = [text[i : i + 700] for i in range(0, len(text), 700)]
    statistics = merge_all(map(SurfaceStatistics.of, batches), SurfaceStatistics())
    assert (statistics.sentences, statistics.characters.under, statistics.size) == (rows, words, size)
    figures = statistics.figures()
    assert figures.keys() == UNITS.keys()
    assert figures["sentence_length"].value == pytest.approx(words / rows)
    assert figures["bytes_per_word"].value == pytest.approx(size / words)
    expected = [word for line in text for word in line.split()]
    assert figures["word_length"].value == pytest.approx(np.mean([len(word) for word in expected]))
    assert figures["vocabulary"].value == len(set(expected))


def test_intervals_treat_the_variants_of_a_source_as_one() -> None:
    rng = random.Random(1)
    texts = [" ".join("a" * rng.randint(1, 9) for _ in range(rng.randint(2, 12))) for _ in range(300)]
    thrice = [text for text in texts for _ in range(3)]
    once = SurfaceStatistics.of(texts).figures()
    bounds = np.arange(0, 901, 3)
    for statistics in (
        SurfaceStatistics.of(thrice, bounds),
        SurfaceStatistics.of(thrice[:450], bounds[:151]) + SurfaceStatistics.of(thrice[450:], bounds[:151]),
    ):
        figures = statistics.figures()
        for name in ("sentence_length", "word_length"):
            assert figures[name].value == pytest.approx(once[name].value)
            assert figures[name].high == pytest.approx(once[name].high)
    of_sentences = Moments.of(np.array([len(text.split()) for text in texts])).estimate()
    assert once["sentence_length"].low == pytest.approx(of_sentences.low)
    alone = SurfaceStatistics.of(thrice).figures()["sentence_length"]
    assert alone.high - alone.value < 0.6 * (once["sentence_length"].high - once["sentence_length"].value)


@settings(max_examples=100, deadline=None)
@given(st.lists(TEXT, max_size=6))
def test_vocabularies_equal_sets(texts: list[str]) -> None:
    words = [word for text in texts for word in text.split()]
    ascii_only = {chr(c): chr(c + 32) for c in range(65, 91)} | dict.fromkeys("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "")
    folded = {word.translate(str.maketrans(ascii_only)) for word in words} - {""}
    statistics = merge_all((SurfaceStatistics.of([text]) for text in texts), SurfaceStatistics())
    assert (len(statistics.vocabulary), len(statistics.folded)) == (len(set(words)), len(folded))
    assert statistics.vocabulary.total == len(words)
    assert statistics.empty == sum(not text.split() for text in texts)


def test_without_text_means_are_undefined() -> None:
    figures = SurfaceStatistics().figures()
    assert math.isnan(figures["sentence_length"].value) and math.isnan(figures["bytes_per_word"].value)
    assert figures["vocabulary"].value == 0


@given(st.lists(st.text(max_size=3), max_size=20))
def test_merging_keeps_the_order(parts: list[str]) -> None:
    assert merge_all(parts, "") == "".join(parts)


def test_text_statistics_of_batches_are_those_of_all() -> None:
    texts = ["a b a c", "c d", "", "e f g h i", "a b"]
    parts, whole = merge_all((TextStatistics.of([text]) for text in texts), TextStatistics()), TextStatistics.of(texts)
    assert parts.figures()["unigram_entropy"] == whole.figures()["unigram_entropy"]
    assert parts.length.mean == pytest.approx(whole.length.mean)
