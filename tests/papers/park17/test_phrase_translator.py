"""The phrase-based translator: language model, phrase table and decoder against values by hand and plain search."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.mt.loading import is_ready, open_translator
from paraloom.papers.park17 import phrase_kernels as kernels
from paraloom.papers.park17.ngram_model import DISCOUNT, NgramTable, train_ngrams
from paraloom.papers.park17.phrase_table import DISCOUNT as PHRASE_DISCOUNT
from paraloom.papers.park17.phrase_table import PhraseTable, build_table
from paraloom.papers.park17.phrase_translator import (
    PHRASE_FILE,
    PhraseTranslator,
    PhraseTranslatorConfig,
    join_words,
    split_words,
    train_phrase_translator,
)

BEGIN, END = 0, 1
A, B, C = 2, 3, 4


def probability(model: NgramTable, first: int, second: int, word: int) -> float:
    return math.exp(kernels.word_logprob(first, second, word, *model))


def test_kneser_ney_by_hand() -> None:
    # A B, twice, and A C: A is followed by B twice of three times; B and C each follow A only.
    model = train_ngrams([[A, B], [A, B], [A, C]], BEGIN, END)
    # Five types of bigrams: (begin A) (A B) (A C) (B end) (C end); the end follows two words, all others one.
    backoff = DISCOUNT * 4 / 5
    unknown = backoff / 5
    unigram_b = (1 - DISCOUNT) / 5 + unknown
    assert probability(model, -1, -1, B) == pytest.approx(unigram_b)
    assert probability(model, -1, -1, END) == pytest.approx((2 - DISCOUNT) / 5 + unknown)
    assert probability(model, -1, -1, 99) == pytest.approx(unknown)
    # p(B | A): B and C once each as types after A.
    bigram_b = (1 - DISCOUNT) / 2 + DISCOUNT * 2 / 2 * unigram_b
    assert probability(model, -1, A, B) == pytest.approx(bigram_b)
    # p(B | begin A) from counts: 2 of 3, two types.
    assert probability(model, BEGIN, A, B) == pytest.approx((2 - DISCOUNT) / 3 + DISCOUNT * 2 / 3 * bigram_b)
    # An unseen context backs off without a weight, a seen one with its weight.
    assert probability(model, B, A, B) == pytest.approx(bigram_b)
    assert probability(model, -1, B, C) == pytest.approx(DISCOUNT * 1 / 1 * ((1 - DISCOUNT) / 5 + unknown))


@pytest.mark.parametrize("context", [(-1, -1), (-1, A), (BEGIN, A), (A, B), (C, C)])
def test_probabilities_sum_to_one(context: tuple[int, int]) -> None:
    model = train_ngrams([[A, B, A], [A, B], [C, A, C]], BEGIN, END)
    unknown = 99
    assert sum(probability(model, *context, word) for word in (END, A, B, C, unknown)) == pytest.approx(1)


def test_a_phrase_pair_has_the_score_of_its_counts_and_links() -> None:
    # One word each way, always linked: p = 1 less the discount, and lexical weights of 1.
    table = build_table([[7], [7], [8]], [[A], [A], [B]], weight=0.2)
    keys = {int(kernels.hash_span(np.array([word], np.uint64), 0, 1)): word for word in (7, 8)}
    scores = {
        keys[int(key)]: [float(score) for score in table.scores[start:end]]
        for key, start, end in zip(table.keys, table.starts, table.starts[1:], strict=False)
    }
    assert scores[7] == pytest.approx([0.2 * 2 * math.log((2 - PHRASE_DISCOUNT) / 2)])
    assert scores[8] == pytest.approx([0.2 * 2 * math.log(1 - PHRASE_DISCOUNT)])
    assert table.ids[table.offsets[0] : table.offsets[1]].tolist() in ([A], [B])


def test_lexical_weights_are_means_over_the_words_of_the_other_side() -> None:
    a, b = np.array([1, 2], np.uint64), np.array([5, 6], np.uint64)
    pairs = np.array([(1 << 32) | 5, (2 << 32) | 5, (2 << 32) | 6], np.uint64)
    probabilities = np.array([0.5, 0.1, 0.8])
    one, two = np.array([0], np.int64), np.array([2], np.int64)
    logs = kernels.lexical_weights(a, one, two, b, one, two, pairs, probabilities)
    assert logs[0] == pytest.approx(math.log((0.5 + 0.1) / 2) + math.log(0.8 / 2))


def toy_table(rng: np.random.Generator, words: int) -> tuple[PhraseTable, dict[tuple[int, ...], list]]:
    """Random translations of all phrases of one and two of the source words 0 … words - 1."""
    phrases = [(i,) for i in range(words)] + list(itertools.product(range(words), repeat=2))
    options = {
        phrase: [(tuple(rng.integers(A, A + 4, rng.integers(1, 3)).tolist()), float(-rng.random())) for _ in range(2)]
        for phrase in phrases
    }
    hashed = {int(kernels.hash_span(np.array(phrase, np.uint64), 0, len(phrase))): phrase for phrase in phrases}
    keys = np.array(sorted(hashed), np.uint64)
    ordered = [option for key in keys for option in options[hashed[int(key)]]]
    starts = np.arange(len(keys) + 1, dtype=np.int64) * 2
    offsets = np.concatenate([[0], np.cumsum([len(target) for target, _ in ordered])]).astype(np.int64)
    ids = np.array([word for target, _ in ordered for word in target], np.int64)
    return PhraseTable(keys, starts, offsets, ids, np.array([score for _, score in ordered])), options


def best_by_search(
    source: list[int], options: dict[tuple[int, ...], list], model: NgramTable, distortion: float, bonus: float
) -> float:
    """The best score of all segmentations, orders and choices."""
    n, best = len(source), -math.inf
    for cuts in itertools.product((False, True), repeat=n - 1):
        bounds = [0, *(k + 1 for k in range(n - 1) if cuts[k]), n]
        spans = list(itertools.pairwise(bounds))
        if any(end - start > 2 for start, end in spans):
            continue
        for order in itertools.permutations(spans):
            for chosen in itertools.product(*(options[tuple(source[start:end])] for start, end in order)):
                score, last, history = 0.0, 0, [BEGIN, BEGIN]
                for (start, end), (target, value) in zip(order, chosen, strict=True):
                    score += value - distortion * abs(start - last)
                    last = end
                    for word in target:
                        score += bonus + 0.5 * kernels.word_logprob(history[-2], history[-1], word, *model)
                        history.append(word)
                score += 0.5 * kernels.word_logprob(history[-2], history[-1], END, *model)
                best = max(best, score)
    return best


@pytest.mark.parametrize("seed", range(4))
def test_the_decoder_finds_the_best_of_all_translations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table, options = toy_table(rng, 3)
    model = train_ngrams(rng.integers(A, A + 4, (6, 4)).tolist(), BEGIN, END)
    source = rng.integers(0, 3, 4).tolist()
    settings = (2, 500, 8, 0.5, 0.2, 0.1, -1.0)  # stacks that lose nothing
    words, score = kernels.decode(np.array(source, np.uint64), *table, *model, BEGIN, END, *settings)
    assert score == pytest.approx(best_by_search(source, options, model, 0.2, 0.1))
    assert (words >= A).all()


def test_what_the_table_does_not_have_is_copied_in_place() -> None:
    table = build_table([[7], [8]], [[A], [B]])
    model = train_ngrams([[A, B]], BEGIN, END)
    settings = (2, 10, 0, 0.5, 0.2, 0.0, -1.0)
    words, _ = kernels.decode(np.array([7, 9, 8], np.uint64), *table, *model, BEGIN, END, *settings)
    assert words.tolist() == [A, -2, B]


@pytest.mark.parametrize("text", ["It's 3.5 m, isn't it?", "„Ja“, sagte er.", "", "a  b", "x_y ...", "고양이는 잔다."])
def test_words_join_to_the_text(text: str) -> None:
    assert join_words(split_words(text)) == " ".join(text.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A translator from a language that says each word backward."""
    words = ["lamp", "tree", "river", "stone", "cloud", "bird", "music", "paper", "window", "garden"]
    rng = np.random.default_rng(1)
    english = [" ".join(rng.choice(words, rng.integers(2, 7))) for _ in range(300)]
    folder = tmp_path_factory.mktemp("phrases")
    backward = [" ".join(word[::-1] for word in text.split()) for text in english]
    figures = train_phrase_translator(backward, english, folder, PhraseTranslatorConfig(vocab_size=100))
    assert figures["pairs"] == 300
    return folder


def test_a_translator_is_opened_like_any_other(folder: Path) -> None:
    translator = open_translator(folder, "beam:1")
    assert isinstance(translator, PhraseTranslator) and is_ready(folder)
    [[first], [again], [empty]] = translator.translate(["pmal eert", "pmal eert", ""], seed=5)
    assert first == again or (first.text, first.tokens) == (again.text, again.tokens)
    assert math.isnan(first.logprob) and empty.text == ""
    # Of a language as regular as this one, translations are not a matter of luck.
    assert first.text == "lamp tree"
    assert translator.signature == open_translator(folder, "beam:5").signature


def test_long_sentences_are_translated_in_parts(folder: Path) -> None:
    text = " ".join(["enots"] * 200)
    assert len(PhraseTranslator(folder).translate([text])[0][0].text.split()) > 100


@pytest.mark.parametrize("decode", ["nucleus:0.9", "beam:5,nbest=2"])
def test_other_decodings_are_refused(folder: Path, decode: str) -> None:
    with pytest.raises(ConfigError, match="one translation of each sentence"):
        open_translator(folder, decode)


def test_faults_are_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot train on 1 pairs"):
        train_phrase_translator(["a", ""], ["b", "c"], tmp_path)
    (tmp_path / PHRASE_FILE).write_text("{")
    with pytest.raises(ModelError, match="not a phrase-based translator"):
        open_translator(tmp_path, "beam:1")
    with pytest.raises(ConfigError, match="'max_phrase_length' must be"):
        PhraseTranslatorConfig(max_phrase_length=0)
