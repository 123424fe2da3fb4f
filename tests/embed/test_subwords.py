"""Subwords: learned from the training sentences, stored with their model, split alike by the tokenizers library."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from paraloom.core.digests import folder_digest
from paraloom.core.errors import DataError, ModelError
from paraloom.embed.average import quantize
from paraloom.embed.config import EncoderConfig
from paraloom.embed.export import export_sentence_transformer, subword_tokenizer
from paraloom.embed.store import load_encoder, save_encoder
from paraloom.embed.subwords import SubwordVocabulary, normalize_for_subwords, train_subwords
from paraloom.embed.training import train_encoder

CONFIG = EncoderConfig(
    spec="subword", dimension=12, epochs=2, batch_size=20, megabatch_size=3, learning_rate=0.01, subword_vocab_size=120
)
ODD = [
    "",
    "A DOG\u00a0runs",
    "  two  blanks ",
    "日本 dog 日本",
    "tab\there",
    "Ünïcode ÀΣ",
    "e\u0301 dog",
    "▁ dog▁s",
    "x" * 5000,
]


def lines(count: int = 400) -> list[str]:
    draw = np.random.default_rng(1)
    stems = ["walk", "talk", "jump", "sing", "paint", "cook", "read", "play"]
    ends = ["s", "ed", "ing", "er", ""]
    return [" ".join(draw.choice(stems) + draw.choice(ends) for _ in range(draw.integers(3, 8))) for _ in range(count)]


def pairs(count: int = 400) -> list[pa.RecordBatch]:
    texts = lines(count)
    reversed_texts = [" ".join([*reversed(text.split()), "jumping"]) for text in texts]
    return [
        pa.record_batch({"src": texts[:150], "tgt": reversed_texts[:150]}),
        pa.record_batch({"src": texts[150:], "tgt": reversed_texts[150:]}),
    ]


def test_vectors_are_means_of_the_vectors_of_the_pieces(tmp_path):
    import sentencepiece

    train_encoder(pairs(), CONFIG, tmp_path)
    encoder = load_encoder(tmp_path)
    part = encoder.parts["subword"]
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "subword.spm"))
    for text in ["walked talking", "unwalked Ω", "WALKER  sings"]:
        ids = theirs.encode(" ".join(text.lower().split()))
        np.testing.assert_allclose(encoder.encode([text])[0], part.vectors[ids].mean(axis=0), atol=1e-6)
    assert len(part.vocabulary) <= 120


def test_training_does_not_depend_on_threads_and_continues_from_an_encoder(tmp_path):
    for threads in (1, 2):
        train_encoder(pairs(), CONFIG, tmp_path / str(threads), threads=threads)
    digests = {folder_digest(tmp_path / name, ignore=("timings.json",)) for name in ("1", "2")}
    assert len(digests) == 1
    train_encoder(pairs(), CONFIG, tmp_path / "continued", init_from=tmp_path / "1")
    one, continued = load_encoder(tmp_path / "1"), load_encoder(tmp_path / "continued")
    assert continued.parts["subword"].vocabulary.identity == one.parts["subword"].vocabulary.identity
    assert not np.array_equal(continued.encode(["walk"]), one.encode(["walk"]))
    assert not (tmp_path / "1" / "checkpoint").exists()


def test_a_missing_corrupt_or_different_model_is_an_error(tmp_path):
    train_encoder(pairs(), CONFIG, tmp_path / "e")
    other = train_subwords(normalize_for_subwords(lines(50)), 60)
    (tmp_path / "e/subword.spm").write_bytes(other)
    with pytest.raises(ModelError, match="pieces of the model differ"):
        load_encoder(tmp_path / "e")
    (tmp_path / "e/subword.spm").write_bytes(b"nonsense")
    with pytest.raises(ModelError, match="not a SentencePiece model"):
        load_encoder(tmp_path / "e")
    (tmp_path / "e/subword.spm").unlink()
    with pytest.raises(ModelError, match=r"subword\.spm"):
        load_encoder(tmp_path / "e")
    with pytest.raises(DataError, match="cannot be trained"):
        train_subwords([], 100)


def test_a_quantized_encoder_keeps_its_model(tmp_path):
    train_encoder(pairs(), CONFIG, tmp_path / "e")
    save_encoder(quantize(load_encoder(tmp_path / "e")), tmp_path / "small")
    small, exact = load_encoder(tmp_path / "small"), load_encoder(tmp_path / "e")
    cosine = np.sum(small.encode(["walked sings"]) * exact.encode(["walked sings"]))
    assert cosine > 0


def test_the_tokenizers_library_splits_alike(tmp_path):
    pytest.importorskip("tokenizers", reason="pip install 'paraloom[train]'")
    vocabulary = SubwordVocabulary(train_subwords(normalize_for_subwords([*lines(), *ODD[2:5]]), 150))
    tokenizer = subword_tokenizer(vocabulary)
    texts = [*ODD, *lines(200)]
    ours = vocabulary.row_lists(texts)
    for i, text in enumerate(texts):
        expected = ours.rows[ours.offsets[i] : ours.offsets[i + 1]].tolist()
        assert tokenizer.encode(text, add_special_tokens=False).ids == expected, text


def test_the_exported_folder_gives_the_same_vectors(tmp_path):
    pytest.importorskip("sentence_transformers", reason="pip install 'paraloom[distill]'")
    from sentence_transformers import SentenceTransformer

    train_encoder(pairs(), CONFIG, tmp_path / "e")
    ours = load_encoder(tmp_path / "e")
    assert export_sentence_transformer(ours, tmp_path / "model")
    theirs = SentenceTransformer(str(tmp_path / "model"), device="cpu")
    texts = [*ODD[1:], *lines(50)]
    np.testing.assert_allclose(theirs.encode(texts), ours.encode(texts), atol=1e-5)
