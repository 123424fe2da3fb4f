"""Interpolated n-gram models: probabilities worked out by hand, that sum to 1, and models that are saved and loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.schema import signature_of
from paraloom.pairs.scoring.language_model import NgramModel, load_language_model
from paraloom.pairs.scoring.language_model_kernels import ngram_id
from paraloom.pairs.scoring.models import perplexity_scorers
from paraloom.pairs.scoring.table import score
from paraloom.pairs.scoring.witten_bell import train_witten_bell
from paraloom.stages.scores import TrainLanguageModel
from paraloom.text.tokens import token_hash


@pytest.fixture(scope="module")
def model() -> NgramModel:
    return train_witten_bell([["ab"], ["", "ac"]], units="characters", order=2)


# Symbols: a, b, c, </s>, unknown. Unigrams: a 2, b 1, c 1, </s> 2; 6 occurrences of 4 kinds.
# p(w) = (count + 4 / 5) / (6 + 4); p(w | h) = (count(h w) + types(h) p(w)) / (count(h) + types(h)).
A, B, END, UNKNOWN = 2.8 / 10, 1.8 / 10, 2.8 / 10, 0.8 / 10


@pytest.mark.parametrize(
    ("text", "probability", "symbols"),
    [
        # After the beginning: a twice; after a: b and c; after b: the end.
        ("ab", (2 + A) / 3 * (1 + 2 * B) / 4 * (1 + END) / 2, 3),
        ("b", (0 + B) / 3 * (1 + END) / 2, 2),
        # An unknown character has no history: what follows it comes from the unigrams.
        ("az", (2 + A) / 3 * (0 + 2 * UNKNOWN) / 4 * END, 3),
    ],
)
def test_probabilities_worked_out_by_hand(model: NgramModel, text: str, probability: float, symbols: int) -> None:
    assert model.perplexity([text])[0] == pytest.approx(probability ** (-1 / symbols), rel=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(alphabet="abc", min_size=1, max_size=8), min_size=1, max_size=6), st.text("abcz", max_size=4))
def test_probabilities_of_what_follows_sum_to_one(lines: list[str], start: str) -> None:
    model = train_witten_bell([lines], units="characters", order=3)
    entries = dict(zip(model.keys.tolist(), zip(model.logprobs, model.backoffs, strict=True), strict=True))
    unknown, begin, end = (token_hash(mark) for mark in ("<unk>", "<s>", "</s>"))
    history = [begin, *(ord(symbol) if ord(symbol) in entries else unknown for symbol in start)]

    def key(symbols: list[int]) -> int:
        return int(ngram_id(np.array(symbols, np.uint64), 0, len(symbols)))

    def probability(before: list[int], symbol: int) -> float:
        if (known := entries.get(key([*before, symbol]))) is not None:
            return 10 ** float(known[0])
        return 10 ** float(entries.get(key(before), (0, 0))[1]) * probability(before[1:], symbol)

    # Whatever comes after the start is a known character, the unknown one, or the end.
    following = [*map(ord, sorted(set("".join(lines)))), unknown, end]
    assert sum(probability(history[-2:], symbol) for symbol in following) == pytest.approx(1)


def test_words_are_lower_cased_and_a_saved_model_loads_as_it_was(tmp_path: Path) -> None:
    model = train_witten_bell([["The dog barks.", "A dog sleeps."]], units="words")
    assert model.order == 3 and model.perplexity(["the DOG"])[0] == model.perplexity(["The dog"])[0]
    model.save(tmp_path)
    loaded = load_language_model(tmp_path)
    assert isinstance(loaded, NgramModel) and loaded.units == "words"
    np.testing.assert_array_equal(loaded.perplexity(["a dog", "x"]), model.perplexity(["a dog", "x"]))
    assert np.isnan(model.perplexity([""])[0])


def test_batches_do_not_change_the_model() -> None:
    lines = [f"line {i} of {i * i}" for i in range(50)]
    whole, parts = (train_witten_bell(batches) for batches in ([lines], [lines[:20], lines[20:]]))
    for name in ("keys", "logprobs", "backoffs"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))


def test_the_columns_name_the_units(model: NgramModel) -> None:
    batch = pa.RecordBatch.from_pydict({"src": ["ab", ""], "tgt": ["ac", "a"]})
    scored = score(batch, list(perplexity_scorers(model)))
    assert scored.schema.names[2:] == ["src_character_perplexity", "tgt_character_perplexity"]
    assert scored.column("src_character_perplexity")[0].as_py() == pytest.approx(model.perplexity(["ab"])[0])
    assert scored.column("src_character_perplexity")[1].as_py() is None
    assert "units:characters" in signature_of(scored.schema.field("tgt_character_perplexity"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"units": "bytes"}, "'units' must be"),
        ({"smoothing": "good"}, "'smoothing' must be"),
        ({"units": "characters", "smoothing": "kneser-ney"}, "is for words"),
        ({"order": -1}, "'order' must be"),
    ],
)
def test_settings_that_do_not_fit_are_errors(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TrainLanguageModel(corpora=("corpus",), **settings)


def test_a_corpus_without_sentences_is_an_error() -> None:
    with pytest.raises(DataError, match="no sentences"):
        train_witten_bell([[""]])
