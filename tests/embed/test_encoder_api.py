"""The public `Encoder`: loading, encoding, similarity and saving, by the conventions of sentence-transformers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from paraloom import distill_encoder
from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.core.protocols import EncoderLike
from paraloom.embed.average import Average, SentenceEncoder
from paraloom.embed.encoder import Encoder
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import save_encoder
from paraloom.embed.vocabulary import Vocabulary

SENTENCES = ["A cat sleeps.", "A dog runs.", "Stocks fell."]


@pytest.fixture(scope="module")
def english() -> Encoder:
    """The bundled encoder."""
    return Encoder.load("english")


class LengthEncoder:
    """Encodes a sentence as its length; it records the size of each batch."""

    signature = "length"
    dimension = 1

    def __init__(self) -> None:
        self.batches: list[int] = []

    def encode(self, sentences: Sequence[str]) -> np.ndarray:
        self.batches.append(len(sentences))
        return np.array([[len(text)] for text in sentences], np.float32).reshape(-1, 1)


def test_a_list_gives_a_matrix_and_a_string_a_vector(english: Encoder) -> None:
    vectors = english.encode(SENTENCES)
    assert vectors.shape == (3, english.dimension) and vectors.dtype == np.float32
    np.testing.assert_array_equal(english.encode(SENTENCES[1]), vectors[1])
    assert english.encode([]).shape == (0, english.dimension)
    assert isinstance(english, EncoderLike)


@pytest.mark.parametrize("kind", [tuple, np.array, pa.array, lambda texts: pa.chunked_array([texts]), iter])
def test_sentences_of_any_sequence_type(english: Encoder, kind) -> None:
    np.testing.assert_array_equal(english.encode(kind(SENTENCES)), english.encode(SENTENCES))


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        (3, "expected a list of sentences, got int"),
        (None, "got NoneType"),
        (b"A cat.", "got bytes"),
        ({"A cat.": 1}, "got dict"),
        ({"A cat."}, "got set"),
        (["A cat.", None], "got NoneType at position 1"),
        ([["A cat."]], "got list at position 0"),
        (pa.array(["A cat.", None]), "got NoneType at position 1"),
        (pd.DataFrame({"text": ["A cat."]}), "got DataFrame"),
    ],
)
def test_anything_else_is_a_type_error(english: Encoder, sentences: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        english.encode(sentences)
    with pytest.raises(TypeError, match=message):
        english.similarity(["A cat."], sentences)


def test_batches_limit_the_calls_and_not_the_vectors() -> None:
    model = LengthEncoder()
    vectors = Encoder(model).encode(SENTENCES, batch_size=2, show_progress_bar=True)
    assert vectors[:, 0].tolist() == [len(text) for text in SENTENCES]
    assert model.batches == [2, 1]
    with pytest.raises(ConfigError, match="'batch_size' is 0"):
        Encoder(model).encode(SENTENCES, batch_size=0)


@pytest.mark.filterwarnings("ignore:.*unknown tokens")
def test_normalized_vectors_have_norm_one_or_stay_zero() -> None:
    part = Average(Vocabulary("word", ["a", "cat"]), np.float32([[3, 4], [0, 2]]))
    encoder = Encoder(SentenceEncoder(parse_spec("word"), {"word": part}))
    vectors = encoder.encode(["a", "cat", "zebra"], normalize_embeddings=True)
    np.testing.assert_allclose(vectors, [[0.6, 0.8], [0, 1], [0, 0]], atol=1e-6)


def test_similarity_is_the_matrix_of_cosines(english: Encoder) -> None:
    a, b = english.encode(SENTENCES[:2]), english.encode(SENTENCES)
    expected = a @ b.T / np.linalg.norm(a, axis=1)[:, None] / np.linalg.norm(b, axis=1)
    for first, second in ((a, b), (SENTENCES[:2], SENTENCES), (a, SENTENCES)):
        similarity = english.similarity(first, second)
        assert similarity.dtype == np.float32
        np.testing.assert_allclose(similarity, expected, atol=1e-6)
    np.testing.assert_allclose(english.similarity(SENTENCES[0], b), expected[:1], atol=1e-6)
    with pytest.raises(DataError, match="same dimension, got 3 and 512"):
        english.similarity(np.ones((2, 3), np.float32), SENTENCES)


def test_encoders_are_saved_and_loaded(english: Encoder, tmp_path: Path) -> None:
    loaded = Encoder.load(english.save(tmp_path / "copy"), threads=1)
    assert loaded.signature == english.signature
    np.testing.assert_array_equal(loaded.encode(SENTENCES), english.encode(SENTENCES))
    with pytest.raises(ConfigError, match="LengthEncoder cannot be saved"):
        Encoder(LengthEncoder()).save(tmp_path / "length")


def test_saving_keeps_how_the_encoder_was_trained(tmp_path: Path) -> None:
    part = Average(Vocabulary("word", ["a"]), np.float32([[1, 2]]))
    save_encoder(SentenceEncoder(parse_spec("word"), {"word": part}), tmp_path / "a", {"epochs": 3})
    saved = Encoder.load(Encoder.load(tmp_path / "a").save(tmp_path / "b"))
    assert isinstance(saved.model, SentenceEncoder)
    assert saved.model.training == {"epochs": 3}


@pytest.mark.filterwarnings("ignore:.*unknown tokens")
def test_others_may_read_a_saved_encoder(english: Encoder, tmp_path: Path) -> None:
    (tmp_path / "note").write_text("with the permissions of this process")
    expected = (tmp_path / "note").stat().st_mode
    folder = Path(english.save(tmp_path / "saved"))
    assert {path.stat().st_mode for path in folder.glob("*") if path.is_file()} == {expected}


def test_static_models_are_loaded_and_copied(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="pip install 'paraloom[train]'")
    from safetensors.numpy import save_file

    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0, "a": 1, "cat": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    (tmp_path / "model").mkdir()
    tokenizer.save(str(tmp_path / "model" / "tokenizer.json"))
    (tmp_path / "model" / "modules.json").write_text('[{"idx": 0, "path": "", "type": "x.StaticEmbedding"}]')
    save_file({"embeddings": np.float32([[0, 0], [1, 0], [0, 1]])}, tmp_path / "model" / "model.safetensors")
    encoder = Encoder.load(tmp_path / "model")
    np.testing.assert_allclose(encoder.encode("a cat"), [0.5, 0.5])
    loaded = Encoder.load(encoder.save(tmp_path / "copy"))
    assert loaded.signature == encoder.signature


def test_repr_says_what_it_is(english: Encoder) -> None:
    assert repr(english) == f"Encoder('english', dimension=512, signature='{english.signature}')"
    assert repr(Encoder(LengthEncoder())) == "Encoder(dimension=1, signature='length')"


def test_a_folder_without_an_encoder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"config\.json not found"):
        Encoder.load(tmp_path)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("englsh", "encoder not found; did you mean 'english'?"),
        ("de-enn", "encoder not found; known are english, english-small, multilingual"),
        ("./encoder", "encoder folder not found"),
        ("/no/such/encoder", "encoder folder not found"),
        ("models/encodr", "encoder folder not found"),
    ],
)
def test_a_misspelled_name_is_not_looked_up_on_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    (tmp_path / "models").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("paraloom.embed.encoder.SentenceTransformerEncoder", pytest.fail)
    with pytest.raises(ModelError, match=re.escape(message)):
        Encoder.load(name)


def test_a_further_teacher_that_is_missing_is_named_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("a\nb\n")
    with pytest.raises(ModelError, match="nothing: encoder folder not found"):
        distill_encoder("english", tmp_path / "text.txt", tmp_path / "out", ensemble=[str(tmp_path / "nothing")])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["text.txt"]


@pytest.mark.parametrize("name", [None, 3])
def test_a_name_that_is_no_name(name: object) -> None:
    with pytest.raises(TypeError, match=f"'name' must be the name or folder of an encoder, got {type(name).__name__}"):
        Encoder.load(name)
