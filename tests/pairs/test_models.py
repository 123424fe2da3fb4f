"""Scores that need a model: n-gram models compared with VariKN, IDF worked out by hand, classifiers, languages."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from safetensors.numpy import save_file

from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.core.schema import signature_of
from paraloom.core.stage import StageContext
from paraloom.pairs.scoring import language_model
from paraloom.pairs.scoring.idf import DocumentFrequencies, count_document_frequencies, listed_frequencies
from paraloom.pairs.scoring.language_model import NgramModel, load_language_model, read_arpa, train_language_model
from paraloom.pairs.scoring.models import (
    classifier_scorers,
    encoder_scorers,
    idf_scorers,
    language_scorers,
    perplexity_scorers,
)
from paraloom.pairs.scoring.table import score
from paraloom.stages.scores import CountWords, TrainLanguageModel
from paraloom.text.tokens import token_hash, tokenize

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


def test_a_model_of_an_earlier_form_is_to_be_trained_again(tmp_path: Path) -> None:
    save_file({"histories": np.zeros(1, np.uint64)}, tmp_path / "language_model.safetensors")
    with pytest.raises(ModelError, match="earlier release") as caught:
        load_language_model(tmp_path)
    assert "--force" in caught.value.remedy


@pytest.mark.parametrize(
    ("fields", "installed", "form"),
    [
        ({}, False, 2),
        ({}, True, None),
        ({"smoothing": "kneser-ney"}, False, None),
        ({"smoothing": "witten-bell"}, True, 2),
        ({"units": "characters"}, True, 2),
    ],
)
def test_runs_with_a_model_of_an_earlier_form_train_it_again(
    fields: dict[str, str], installed: bool, form: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language_model, "has_varikn", lambda: installed)
    assert TrainLanguageModel(corpora=("text",), **fields).configuration().get("form") == form


@pytest.fixture
def model(tmp_path: Path) -> NgramModel:
    (tmp_path / "pencil.arpa").write_text(ARPA, encoding="utf-8")
    return read_arpa(tmp_path / "pencil.arpa")


@pytest.mark.parametrize(
    ("sentence", "logprob", "words"),
    [
        ("a b", -0.1 - 0.3 - 0.6, 2),
        # b after <s>: back-off weight of <s>, then the unigram; </s> after b is a bigram.
        ("b", -0.5 - 0.9 - 0.6, 1),
        # An unknown word after a: back-off weight of a; </s> after the unknown word, which has none.
        ("a zebra", -0.1 + (-0.2 - 1.0) - 0.4, 2),
        ("A A", -0.1 + (-0.2 - 0.7) + (-0.2 - 0.4), 2),
    ],
)
def test_perplexity_worked_out_by_hand(model: NgramModel, sentence: str, logprob: float, words: int) -> None:
    assert model.perplexity([sentence])[0] == pytest.approx(10 ** (-logprob / (words + 1)), rel=1e-5)


def test_a_sentence_without_words_has_no_perplexity(model: NgramModel) -> None:
    assert math.isnan(model.perplexity([""])[0])


def test_a_saved_model_loads_as_it_was(model: NgramModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    loaded = load_language_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.perplexity(["a b zebra"]), model.perplexity(["a b zebra"]))


@pytest.mark.parametrize("text", ["", "nothing\n", ARPA.replace("-0.3 a b", "-0.3 a b c d")])
def test_a_damaged_arpa_file_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "wrong.arpa"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match="ARPA"):
        read_arpa(path)


@pytest.mark.slow
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


def test_idf_worked_out_by_hand(tmp_path: Path) -> None:
    frequencies = count_document_frequencies([["a b a", "a c"], ["a", ""]])
    assert frequencies.sentences == 3
    expected = [(math.log(1) + math.log(3)) / 2, math.log(3), math.nan]
    np.testing.assert_allclose(frequencies.mean_idf(["a b", "never", ""]), expected, rtol=1e-6)
    frequencies.save(tmp_path)
    loaded = DocumentFrequencies.load(tmp_path)
    np.testing.assert_array_equal(loaded.counts, frequencies.counts)
    with pytest.raises(ModelError, match="not found"):
        DocumentFrequencies.load(tmp_path / "nowhere")


def test_idf_of_a_list_of_words(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("the 1050\ndog 42\nt 8\n", encoding="utf-8")
    stage = CountWords(name="counts", frequencies=tmp_path / "words.txt")
    figures = stage.fit(tmp_path / "counts", StageContext(seed=1))
    assert figures == {"words": 3, "sentences": 52}  # 1,100 words in sentences of 21
    frequencies = DocumentFrequencies.load(tmp_path / "counts")
    # Of n = 1100/21 sentences, a word that occurs c times is expected in n (1 - exp(-c/n)): all, 29 and 7 of them. One
    # that is not listed is as rare as the rarest that is.
    idf = {"the": 0.0, "dog": math.log(52 / 29), "t": math.log(52 / 7), "cat": math.log(52 / 7)}
    expected = [(idf["the"] + idf["dog"]) / 2, idf["cat"]]
    assert frequencies.mean_idf(["the dog", "cat"]) == pytest.approx(expected, abs=1e-6)


def test_punctuation_numbers_and_spelling_of_contractions_do_not_change_the_idf() -> None:
    frequencies = listed_frequencies(["the", "dog", "sleeps", "don", "t"], [500, 20, 2, 9, 40])
    plain = frequencies.mean_idf(["the dog sleeps", "don t"])
    for marked in (
        ["The dog sleeps.", "don't"],
        ["“The dog sleeps” ( 1957 )", "don’t!"],
        ["The dog, 3,000 sleeps", "DON'T"],
    ):
        np.testing.assert_array_equal(frequencies.mean_idf(marked), plain)
    assert np.isnan(frequencies.mean_idf(["...", "1957", ""])).all()
    counted = count_document_frequencies([["The dog sleeps.", "A dog.", "..."]])
    assert (counted.sentences, len(counted.words)) == (2, 4)


def test_counts_of_another_convention_are_refused(tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    count_document_frequencies([["a b"]]).save(tmp_path)
    arrays = load_file(tmp_path / "rarity.safetensors")
    del arrays["version"]
    save_file(arrays, tmp_path / "rarity.safetensors")
    with pytest.raises(ModelError, match="counted punctuation"):
        DocumentFrequencies.load(tmp_path)


def test_mistakes_in_a_list_of_words_are_named(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("the 12\nice,cream 4\n", encoding="utf-8")
    with pytest.raises(DataError, match="'ice,cream' in the list is 2 words") as error:
        CountWords(name="counts", frequencies=path).fit(tmp_path, StageContext(seed=1))
    assert str(error.value.file) == str(path)
    for fields in ({}, {"corpora": ("a",), "frequencies": path}):
        with pytest.raises(ConfigError, match="expected one of the keys 'corpora' and 'frequencies'"):
            CountWords(name="counts", **fields)


def test_columns_have_the_signature_of_their_model(model: NgramModel) -> None:
    class Letters:
        signature = "letters|version:1"
        dimension = 26

        def encode(self, sentences: list[str]) -> np.ndarray:
            return np.array([[text.count(chr(97 + i)) for i in range(26)] for text in sentences], np.float32)

    batch = pa.RecordBatch.from_pydict({"src": ["a b", "a", ""], "tgt": ["b a", "b", "a"]})
    frequencies = count_document_frequencies([["a b"]])
    scored = score(batch, [*encoder_scorers(Letters()), *perplexity_scorers(model), *idf_scorers(frequencies)])
    assert scored.column("paraphrase_score").to_pylist() == [pytest.approx(1.0), pytest.approx(0.0), None]
    assert scored.column("src_perplexity")[2].as_py() is None
    assert "letters" in signature_of(scored.schema.field("paraphrase_score"))
    assert "ngram" in signature_of(scored.schema.field("tgt_perplexity"))
    assert scored.column("src_idf").null_count == 1


def test_the_mean_of_word_vectors_is_classified() -> None:
    torch = pytest.importorskip("torch", reason="the classifier needs torch: pip install 'paraloom[train]'")
    from paraloom.papers.w17.classifier import Classifier, new_network

    words = np.unique(tokenize(["a b"]).ids)
    network = new_network("avg", 3, 1)
    vector_of = dict(zip(words.tolist(), (1.0, 3.0), strict=True))
    with torch.no_grad():
        network.embedding.weight[:] = torch.tensor([[0.0], [1.0], [3.0]])
        network.output.weight[:] = torch.tensor([[0.0], [1.0]])
        network.output.bias[:] = 0
    probability = Classifier("avg", words, network.eval()).reference_probability(["a b", "a", "a unknown", ""])
    a = vector_of[int(tokenize(["a"]).ids[0])]
    means = np.array([2.0, a, a / 2])
    np.testing.assert_allclose(probability[:3], 1 / (1 + np.exp(-means)), rtol=1e-5)
    assert math.isnan(probability[3])


@pytest.mark.parametrize("kind", ["avg", "lstm"])
@pytest.mark.parametrize("negatives", ["random", "hardest"])
def test_a_classifier_is_trained_saved_and_loaded(kind: Any, negatives: Any, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the classifier needs torch: pip install 'paraloom[train]'")
    from paraloom.papers.w17.classifier import Classifier, ClassifierConfig
    from paraloom.papers.w17.classifier_training import train_classifier

    rng = np.random.default_rng(0)
    rows = []
    for pair in range(300):
        words = rng.choice(list("abcdefghij"), size=6)
        for _ in range(2):
            rows.append({"pair_id": str(pair), "src": " ".join(words), "tgt": " ".join([*words[:3], "the", "the"])})
    batch = pa.RecordBatch.from_pylist(rows)
    config = ClassifierConfig(
        kind=kind,
        negatives=negatives,
        dimension=16,
        max_pairs=240,
        held_out=30,
        epochs=2,
        batch_size=20,
        learning_rate=0.02,
    )
    figures = train_classifier([batch], config, tmp_path, seed=1)
    assert figures["test_sentences"] == 60
    assert figures["pairs"] == 240
    assert 0 <= figures["accuracy"] <= 1
    classifier = Classifier.load(tmp_path)
    first, second, empty = classifier.reference_probability(["a b c d e f", "a b c the the", ""])
    assert 0 <= first <= 1 and 0 <= second <= 1
    assert math.isnan(empty)
    scored = score(pa.RecordBatch.from_pydict({"src": ["x"], "tgt": ["a b c d e f"]}), classifier_scorers(classifier))
    assert scored.column("reference_probability").to_pylist() == [pytest.approx(float(first))]


def test_language_probability_is_that_of_the_given_language() -> None:
    pytest.importorskip("lingua", reason="this needs lingua: pip install 'paraloom[language]'")
    from paraloom.text.languages import LanguageIdentifier

    batch = pa.RecordBatch.from_pydict(
        {
            "src": ["Der Hund schläft im Garten.", "The dog sleeps in the garden.", "Le chien dort.", ""],
            "tgt": ["The dog sleeps.", "The dog sleeps.", "The dog sleeps.", "The dog sleeps."],
            "src_lang": ["de", "de", "fr", "de"],
            "tgt_lang": ["en"] * 4,
        }
    )
    scored = score(batch, language_scorers(LanguageIdentifier(["de", "en"])))
    right, wrong, unknown, empty = scored.column("src_language_probability").to_pylist()
    assert right > 0.9 > 0.5 > wrong
    assert unknown is None and empty is None
    with pytest.raises(ConfigError, match="two"):
        LanguageIdentifier(["de"])
    with pytest.raises(ConfigError, match="'xq'"):
        LanguageIdentifier(["de", "xq"])


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_an_lstm_gives_the_same_for_sentences_in_a_batch_and_alone(device: str) -> None:
    torch = pytest.importorskip("torch", reason="the classifier needs torch: pip install 'paraloom[train]'")
    from paraloom.papers.w17.classifier import new_network

    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    tolerance = 1e-6 if device == "cpu" else 1e-5
    torch.manual_seed(1)
    network = new_network("lstm", 20, 8).to(device)
    lengths = torch.randint(1, 12, (70,))  # more than a padded batch
    rows = torch.randint(0, 20, (int(lengths.sum()),), device=device)
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        together = network(rows, lengths)
        ends = lengths.cumsum(0).tolist()
        for i, (end, length) in enumerate(zip(ends, lengths.tolist(), strict=True)):
            state = network.lstm(network.embedding(rows[end - length : end])[None])[1][0][-1]
            assert torch.allclose(together[i], network.output(state)[0], atol=tolerance)


def test_words_start_with_the_vectors_that_a_file_has_of_them(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the classifier needs torch: pip install 'paraloom[train]'")
    from paraloom.papers.w17.classifier import new_network
    from paraloom.papers.w17.classifier_training import _start_with

    (tmp_path / "vectors.txt").write_text("dog 1 2\nbird 5 6\n", encoding="utf-8")
    words = np.sort(np.array([token_hash("dog"), token_hash("cat")], np.uint64))
    network = new_network("avg", 3, 2)
    assert _start_with(network, words, tmp_path / "vectors.txt", 2) == 1
    weights = network.embedding.weight.detach().numpy()
    row = int(np.searchsorted(words, np.uint64(token_hash("dog")))) + 1
    np.testing.assert_array_equal(weights[row], [1, 2])
    assert abs(weights[[0, 3 - row]]).max() < 1  # random
