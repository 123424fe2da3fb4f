"""Scores of pairs: values worked out by hand, the libraries that define them, and unusual texts."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.schema import signature_of
from paraloom.pairs.scoring import surface
from paraloom.pairs.scoring.scorer import Column
from paraloom.pairs.scoring.similarity import overlap_from_counts, shared_ngrams
from paraloom.pairs.scoring.table import COLUMNS, GROUPS, SCORES, find_scorers, score
from paraloom.text.bleu import BLEU_ORDER, bleu_plus_one_from_counts
from paraloom.text.chrf import CHRF_BETA, CHRF_ORDER
from paraloom.text.tokens import token_strings, tokenize

SENTENCES = [
    ("A man in a blue shirt is standing on a ladder.", "A man in a blue shirt stands on a ladder, cleaning a window."),
    ("the the the the", "the the"),
    ("Two dogs play.", "Two dogs play."),
    ("no word shared", "nothing alike here"),
    ("one", "one two three four five"),
    ("a b a b a b a b", "b a b a"),
    ("It's a well-known 3.5 % rise!", "A well-known rise of 3.5 per cent, it is."),
]


def batch_of(src: list[str | None], tgt: list[str | None], **columns: list[float | None]) -> pa.RecordBatch:
    arrays = {"src": pa.array(src, pa.string()), "tgt": pa.array(tgt, pa.string())}
    arrays |= {
        name: pa.array(values, pa.int32() if name == "tokens" else pa.float32()) for name, values in columns.items()
    }
    return pa.RecordBatch.from_pydict(arrays)


def scored(name: str, src: str | None, tgt: str | None, **columns: list[float | None]) -> float | None:
    value: float | None = score(batch_of([src], [tgt], **columns), [name]).column(name)[0].as_py()
    return value


@pytest.mark.parametrize(
    ("name", "src", "tgt", "expected"),
    [
        ("src_tokens", "a b c", "a", 3),
        ("tgt_tokens", "a b c", "A dog .", 3),
        ("tgt_tokens", "a", "", 0),
        ("length_ratio", "a b", "a b c", 1.5),
        ("length_ratio", "a b c", "a b", 1.5),
        ("length_ratio", "a", "", None),
        ("unigram_overlap", "a b c", "A b d e", 2 / 3),
        ("unigram_overlap", "a a", "a b c", 1 / 2),
        ("bigram_overlap", "a b c", "a b d e", 1 / 2),
        ("trigram_overlap", "a b c d", "x a b c", 1 / 2),
        ("trigram_overlap", "a b", "a b c d", None),
        ("unigram_overlap", "", "a", None),
        ("bleu1", "a b c d", "a b c d", math.exp(-1 / 4)),
        # 1-grams 2 of 2, 2-grams 1 of 1, then (0 + 1) / (0 + 1); brevity 1 - (4 + 1) / 2.
        ("bleu1", "a b c d", "a b", math.exp(1 - 5 / 2)),
        # 1-grams (2 + 1) / (3 + 1), 2-grams (1 + 1) / (2 + 1), 3-grams 1 / 2, none longer; brevity 1 - (3 + 1) / 3.
        ("bleu1", "a b c", "a b d", (3 / 4 * 2 / 3 * 1 / 2) ** (1 / 4) * math.exp(-1 / 3)),
        ("bleu1", "a", "", None),
        ("bleu1", None, "a", None),
    ],
)
def test_values_worked_out_by_hand(name: str, src: str | None, tgt: str | None, expected: float | None) -> None:
    assert scored(name, src, tgt) == (None if expected is None else pytest.approx(expected, rel=1e-6))


@pytest.mark.parametrize(
    ("logprob", "count", "expected"),
    [(-3.0, 6, 0.5), (0.0, 1, 0.0), (None, 6, None), (-3.0, None, None), (-3.0, 0, None)],
)
def test_translation_cost(logprob: float | None, count: int | None, expected: float | None) -> None:
    assert scored("translation_cost", "a", "b", logprob=[logprob], tokens=[count]) == expected


def test_pairs_without_a_translator_have_no_translation_cost() -> None:
    assert scored("translation_cost", "a", "b") is None


def test_bleu_matches_moses_with_smoothed_brevity_penalty() -> None:
    # Moses' own unit test: 6/6, 4/5, 2/4, 1/3 against 7 words gives 0.5067.
    bleu = bleu_plus_one_from_counts([np.array([m]) for m in (6, 4, 2, 1)], np.array([6]), np.array([7]))
    assert bleu[0] == pytest.approx(0.5067, abs=5e-5)


@pytest.mark.parametrize(("reference", "translation"), SENTENCES)
def test_matches_and_lengths_are_those_of_sacrebleu(reference: str, translation: str) -> None:
    tokenized = [" ".join(tokens.as_py()) for tokens in token_strings([translation, reference])]
    peer = BLEU(tokenize="none", effective_order=True).sentence_score(tokenized[0], [tokenized[1]])
    a, b = tokenize([translation]), tokenize([reference])
    assert [int(shared_ngrams(a, b, n)[0]) for n in (1, 2, 3, 4)] == list(peer.counts)
    assert (int(a.lengths[0]), int(b.lengths[0])) == (peer.sys_len, peer.ref_len)
    precisions = [(m + 1) / (t + 1) for m, t in zip(peer.counts, peer.totals, strict=True)]
    brevity = math.exp(min(0, 1 - (peer.ref_len + 1) / peer.sys_len))
    shared = [shared_ngrams(a, b, n) for n in (1, 2, 3, 4)]
    bleu = bleu_plus_one_from_counts(shared, a.lengths, b.lengths)[0]
    assert bleu == pytest.approx(math.prod(precisions) ** (1 / 4) * brevity, rel=1e-6)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize(("a", "b"), SENTENCES)
def test_overlap_agrees_with_counters(a: str, b: str, n: int) -> None:
    left, right = (
        Counter(zip(*(words[i:] for i in range(n)), strict=False)) for words in token_strings([a, b]).to_pylist()
    )
    fewer = min(left.total(), right.total())
    expected = (left & right).total() / fewer if fewer else math.nan
    lists = tokenize([a]), tokenize([b])
    ours = overlap_from_counts(shared_ngrams(*lists, n), *(side.lengths for side in lists), n)
    assert ours[0] == pytest.approx(expected, rel=1e-6, nan_ok=True)


def test_long_sentences_are_counted_like_short_ones() -> None:
    words = [f"w{i % 700}" for i in range(10_000)]
    a, b = tokenize([" ".join(words)]), tokenize([" ".join(words[::-2])])
    assert shared_ngrams(a, b, 1)[0] == (Counter(words) & Counter(words[::-2])).total()


TEXTS = st.one_of(
    st.none(),
    st.text(max_size=30),
    st.sampled_from(["", "\x00", "a\x00b", "👩‍👩‍👧 🎉", "שלום עולם", "مرحبا", "e\u0301", "ﬁ ﬂ", "\u202eabc", " \t\n"]),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=6))
def test_values_are_null_or_within_their_range(pairs: list[tuple[str | None, str | None]]) -> None:
    batch = score(batch_of([a for a, _ in pairs], [b for _, b in pairs]), ["all"])
    assert batch.num_rows == len(pairs)
    for scorer in map(SCORES.__getitem__, GROUPS["all"]):
        for value in batch.column(scorer.name).to_pylist():
            assert value is None or scorer.minimum is None or value >= scorer.minimum
            assert value is None or scorer.maximum is None or value <= scorer.maximum
            assert value is None or math.isfinite(value)


def test_columns_have_a_signature_and_are_never_overwritten() -> None:
    batch = score(batch_of(["a"], ["b"]), ["overlap"])
    assert batch.schema.names == ["src", "tgt", *GROUPS["overlap"]]
    assert "counts:multiset" in signature_of(batch.schema.field("trigram_overlap"))
    assert score(batch, ["overlap"]).equals(batch)
    with pytest.raises(DataError, match="bleu1"):
        score(batch_of(["a"], ["b"], bleu1=[0.5]), ["bleu1"])


def test_an_unknown_score_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(ConfigError, match="unknown score 'trigam_overlap'; did you mean 'trigram_overlap'"):
        find_scorers(["trigam_overlap"])
    with pytest.raises(ConfigError, match="score 'src_idf' needs a model") as error:
        find_scorers(["src_idf"])
    assert "--word-counts" in str(error.value)


@pytest.mark.parametrize("column", COLUMNS.values(), ids=lambda column: column.name)
def test_scores_are_described(column: Column) -> None:
    assert column.description and column.unit and column.range
    assert column.direction in ("lower", "higher", "none")
    assert column.command.startswith("paraloom score PAIRS --")


def test_what_signatures_name_is_what_computes() -> None:
    """Descriptions of scores are read without importing what computes them."""
    assert (surface.BLEU_ORDER, surface.CHRF_ORDER, surface.CHRF_BETA) == (BLEU_ORDER, CHRF_ORDER, CHRF_BETA)
