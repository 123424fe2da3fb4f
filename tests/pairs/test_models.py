"""Scores by model: n-gram models against VariKN, IDF by pencil, classifiers that must learn, languages."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from paraloom.core.errors import ConfigError, ModelError
from paraloom.core.schema import signature_of
from paraloom.pairs.scoring.language_model import NgramModel, read_arpa, train_language_model
from paraloom.pairs.scoring.models import by_encoder, by_language_model, by_languages, by_rarity
from paraloom.pairs.scoring.rarity import WordRarity, count_words
from paraloom.pairs.scoring.table import score
from paraloom.text.tokens import tokens

ARPA = """
\\data\\
ngram 1=5
ngram 2=3

\\1-grams:
-1.0 <unk>
-9.0 <s> -0.5
-0.7 a -0.2
-0.9 b
-0.4 </s>

\\2-grams:
-0.1 <s> a
-0.3 a b
-0.6 b </s>

\\end\\
"""


@pytest.fixture
def model(tmp_path: Path) -> NgramModel:
    (tmp_path / "pencil.arpa").write_text(ARPA, encoding="utf-8")
    return read_arpa(tmp_path / "pencil.arpa")


@pytest.mark.parametrize(
    ("sentence", "logprob", "words"),
    [
        ("a b", -0.1 - 0.3 - 0.6, 2),
        # b after <s>: back-off of <s>, then the word; </s> after b is a bigram.
        ("b", -0.5 - 0.9 - 0.6, 1),
        # an unknown word after a: back-off of a; </s> after the unknown word, which has no back-off.
        ("a zebra", -0.1 + (-0.2 - 1.0) - 0.4, 2),
        ("A A", -0.1 + (-0.2 - 0.7) + (-0.2 - 0.4), 2),
    ],
)
def test_perplexity_by_pencil(model: NgramModel, sentence: str, logprob: float, words: int) -> None:
    assert model.perplexity([sentence])[0] == pytest.approx(10 ** (-logprob / (words + 1)), rel=1e-5)


def test_a_sentence_without_words_has_no_perplexity(model: NgramModel) -> None:
    assert math.isnan(model.perplexity([""])[0])


def test_a_model_is_the_same_after_a_save(model: NgramModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    again = NgramModel.load(tmp_path / "model")
    np.testing.assert_array_equal(again.perplexity(["a b zebra"]), model.perplexity(["a b zebra"]))


@pytest.mark.parametrize("text", ["", "nothing\n", ARPA.replace("-0.3 a b", "-0.3 a b c d")])
def test_what_is_no_arpa_file_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "wrong.arpa"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match="ARPA"):
        read_arpa(path)


def test_a_trained_model_agrees_with_varikn(tmp_path: Path) -> None:
    varikn = pytest.importorskip("varikn", reason="training needs VariKN: pip install 'paraloom[language]'")
    rng = np.random.default_rng(0)
    lines = [" ".join(rng.choice(list("abcdefgh"), size=rng.integers(2, 9))) for _ in range(400)]
    model = train_language_model([lines[:200], lines[200:]], tmp_path / "model")
    arpa = tmp_path / "model" / "checkpoint" / "model.arpa"
    peer = varikn.Perplexity(str(arpa), 0, "", "", "", "<UNK>", 0, True)
    peer.set_init_hist(1)
    for line in ["a b c", "h h h h", "b a d c a f e"]:
        peer.init_variables()
        peer.clear_history()
        _, *logprobs = (peer.token_logprob(word) for word in ["<s>", *line.split(), "</s>"])
        total = sum(logprobs)
        assert model.perplexity([line])[0] == pytest.approx(10 ** (-total / (len(line.split()) + 1)), rel=1e-4)


def test_idf_by_pencil(tmp_path: Path) -> None:
    rarity = count_words([["a b a", "a c"], ["a", ""]])
    assert rarity.sentences == 3
    expected = [(math.log(1) + math.log(3)) / 2, math.log(3), math.nan]
    np.testing.assert_allclose(rarity.mean_idf(tokens(["a b", "never", ""])), expected, rtol=1e-6)
    rarity.save(tmp_path)
    again = WordRarity.load(tmp_path)
    np.testing.assert_array_equal(again.counts, rarity.counts)
    with pytest.raises(ModelError, match="missing"):
        WordRarity.load(tmp_path / "nowhere")


def test_columns_name_their_model(model: NgramModel) -> None:
    class Letters:
        signature = "letters|version:1"
        dimension = 26

        def encode(self, sentences: list[str]) -> np.ndarray:
            return np.array([[text.count(chr(97 + i)) for i in range(26)] for text in sentences], np.float32)

    batch = pa.RecordBatch.from_pydict({"src": ["a b", "a", ""], "tgt": ["b a", "b", "a"]})
    made = score(batch, [*by_encoder(Letters()), *by_language_model(model), *by_rarity(count_words([["a b"]]))])
    assert made.column("paraphrase_score").to_pylist() == [pytest.approx(1.0), pytest.approx(0.0), None]
    assert made.column("src_perplexity")[2].as_py() is None
    assert "letters" in signature_of(made.schema.field("paraphrase_score"))
    assert "ngram" in signature_of(made.schema.field("tgt_perplexity"))
    assert made.column("src_idf").null_count == 1


def test_a_classifier_learns_what_tells_translations(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the classifier needs torch: pip install 'paraloom[train]'")
    from paraloom.pairs.scoring.classifier import Classifier, ClassifierConfig
    from paraloom.pairs.scoring.classifier_training import train_classifier

    rng = np.random.default_rng(0)
    rows = []
    for pair in range(300):
        words = rng.choice(list("abcdefghij"), size=6)
        for _ in range(2):
            rows.append({"pair_id": str(pair), "src": " ".join(words), "tgt": " ".join([*words[:3], "the", "the"])})
    batch = pa.RecordBatch.from_pylist(rows)
    for kind in ("avg", "lstm"):
        for choice in ("chance", "hardest"):
            config = ClassifierConfig(
                kind=kind, choice=choice, dimension=16, pairs=240, held_out=30, epochs=4, batch=20, rate=0.02
            )
            figures = train_classifier([batch], config, tmp_path / kind / choice, seed=1)
            assert figures["accuracy"] > 0.95
            assert figures["test_sentences"] == 60
            model = Classifier.load(tmp_path / kind / choice)
            found = model.measure(["a b c d e f", "a b c the the", ""])
            assert found[0] > 0.5 > found[1]
            assert math.isnan(found[2])


def test_languages() -> None:
    pytest.importorskip("lingua", reason="this needs lingua: pip install 'paraloom[language]'")
    from paraloom.pairs.scoring.language import LanguageIdentifier

    batch = pa.RecordBatch.from_pydict(
        {
            "src": ["Der Hund schläft im Garten.", "The dog sleeps in the garden.", "Le chien dort.", ""],
            "tgt": ["The dog sleeps.", "The dog sleeps.", "The dog sleeps.", "The dog sleeps."],
            "src_lang": ["de", "de", "fr", "de"],
            "tgt_lang": ["en"] * 4,
        }
    )
    made = score(batch, by_languages(LanguageIdentifier(["de", "en"])))
    right, wrong, unknown, empty = made.column("src_language_probability").to_pylist()
    assert right > 0.9 > 0.5 > wrong
    assert unknown is None and empty is None
    with pytest.raises(ConfigError, match="two"):
        LanguageIdentifier(["de"])
    with pytest.raises(ConfigError, match="'xq'"):
        LanguageIdentifier(["de", "xq"])


def test_an_lstm_reads_padded_sentences_as_it_reads_packed_ones():
    torch = pytest.importorskip("torch", reason="the classifier needs torch: pip install 'paraloom[train]'")
    from paraloom.pairs.scoring.classifier import new_network

    torch.manual_seed(1)
    network = new_network("lstm", 20, 8)
    lengths = torch.randint(1, 12, (70,))  # more than are padded together
    rows = torch.randint(0, 20, (int(lengths.sum()),))
    padded = network(rows, lengths)
    with torch.no_grad():
        packed = network(rows, lengths)
    assert torch.allclose(padded, packed, atol=1e-6)
