"""Encoders at rest: compositions, vocabularies, forward passes against a plain reference, and their folders."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.core.protocols import EncoderLike
from paraloom.embed.average import Average, SentenceEncoder, quantise, similarity
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import load_encoder, save
from paraloom.embed.units import UNITS
from paraloom.embed.vocabulary import Vocabulary, VocabularyCounter
from paraloom.text.tokens import token_hash, words

SENTENCES = [
    "A dog runs!",
    "Zwei Hunde – it's 3.5°",
    "",
    "qqq",
    "the dog, the dog and the other dog, all of them",
    "É a",
]


def made(spec: str, dimension: int = 5, threads: int = 1) -> SentenceEncoder:
    """An encoder that knows half of what is in SENTENCES, with random vectors."""
    draw = np.random.default_rng(0)
    parts = {}
    for name in parse_spec(spec).parts:
        entries = sorted({unit for sentence in SENTENCES if sentence != "qqq" for unit in plain_units(name, sentence)})
        vocabulary = Vocabulary(name, entries[::2])
        parts[name] = Average(vocabulary, draw.normal(size=(len(vocabulary), dimension)).astype(np.float32))
    return SentenceEncoder(parse_spec(spec), parts, threads)


def plain_units(name: str, sentence: str) -> list[str]:
    if name == "word":
        return words(sentence)
    bounded = f" {sentence.lower()} "
    return [bounded[k : k + 3] for k in range(len(bounded) - 2)]


def plain_vector(part: Average, name: str, sentence: str) -> np.ndarray:
    rows = [part.vocabulary.entries.index(u) for u in plain_units(name, sentence) if u in part.vocabulary.entries]
    return part.vectors[rows].mean(axis=0) if rows else np.zeros(part.dimension)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("spec", ["word", "trigram", "word,trigram", "word+trigram", "trigram,word"])
@pytest.mark.filterwarnings("ignore:.*no unit that the encoder knows")
def test_encode_equals_the_definition(spec, threads):
    encoder = made(spec, threads=threads)
    blocks = parse_spec(spec).blocks
    expected = [
        np.concatenate([sum(plain_vector(encoder.parts[name], name, sentence) for name in block) for block in blocks])
        for sentence in SENTENCES
    ]
    many = SENTENCES * 1000
    vectors = encoder.encode(many)
    assert vectors.dtype == np.float32 and vectors.shape == (len(many), encoder.dimension)
    np.testing.assert_allclose(vectors[: len(SENTENCES)], expected, atol=1e-6)
    np.testing.assert_array_equal(vectors[: len(SENTENCES)], vectors[-len(SENTENCES) :])
    np.testing.assert_array_equal(encoder.encode(pa.array(SENTENCES)), vectors[: len(SENTENCES)])
    assert isinstance(encoder, EncoderLike)


def test_unknown_sentences_are_zero_and_counted_once():
    with pytest.warns(UserWarning, match="2 of 6 sentences have no unit") as caught:
        vectors = made("word,trigram").encode(SENTENCES)
    assert len(caught) == 1
    assert not vectors[[2, 3]].any() and vectors[[0, 1, 4, 5]].any(axis=1).all()


def test_a_very_long_sentence_is_averaged_like_any():
    encoder = made("word")
    np.testing.assert_allclose(encoder.encode(["the " * 25_000]), encoder.encode(["the"]), rtol=1e-3)


@pytest.mark.filterwarnings("ignore:.*no unit that the encoder knows")
def test_similarity_is_the_cosine():
    encoder = made("word,trigram")
    a, b = encoder.encode(SENTENCES[:2])
    expected = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
    found = similarity(encoder, [SENTENCES[0], SENTENCES[0], "qqq"], [SENTENCES[1], SENTENCES[0], SENTENCES[0]])
    np.testing.assert_allclose(found, [expected, 1, 0], atol=1e-6)
    with pytest.raises(DataError, match="1 sentences stand against 2"):
        similarity(encoder, ["a"], ["a", "b"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("wrod", "did you mean 'word'"),
        ("word,", "a part is missing"),
        ("", "a part is missing"),
        ("word+trigram,word", "'word' is there twice"),
    ],
)
def test_a_spec_that_cannot_be(text, said):
    with pytest.raises(ConfigError, match=said):
        parse_spec(text)


@pytest.mark.parametrize("unit", ["word", "trigram"])
def test_the_counter_numbers_and_counts_as_a_dictionary_would(unit):
    batches = [["the cat", "a dog the"], ["", "A\nb the"], [f"w{k} the" for k in range(9000)] + ["a dog"]]
    counter = VocabularyCounter(unit)
    counts: dict[str, int] = {}
    for batch in batches:
        numbers = counter.number(batch, UNITS[unit].cut(batch))
        units = [u for sentence in batch for u in plain_units(unit, sentence)]
        for u in units:
            counts[u] = counts.get(u, 0) + 1
        assert [list(counts)[number] for number in numbers[-3:]] == units[-3:]
    vocabulary, rows, shares = counter.most_common(50)
    expected = sorted((u for u in counts if "\n" not in u), key=lambda u: (-counts[u], u))[:50]
    assert list(vocabulary.entries) == expected
    np.testing.assert_allclose(shares, [counts[u] / sum(counts.values()) for u in expected])
    assert [list(counts)[number] for number in np.argsort(rows)[len(rows) - 50 :]] == expected
    found = vocabulary.rows(UNITS[unit].cut(["the the"]))
    assert [vocabulary.entries[row] for row in found.rows] == [u for u in plain_units(unit, "the the") if u in expected]
    assert token_hash(expected[0]) in UNITS[unit].cut(batches[2]).ids


@pytest.mark.parametrize("spec", ["word,trigram", "word+trigram"])
@pytest.mark.filterwarnings("ignore:.*no unit that the encoder knows")
def test_a_saved_encoder_comes_back_the_same(tmp_path, spec):
    encoder = made(spec)
    again = load_encoder(save(encoder, tmp_path / "e"), threads=2)
    np.testing.assert_array_equal(again.encode(SENTENCES), encoder.encode(SENTENCES))
    assert again.signature == encoder.signature
    assert f"spec:{spec}|" in again.signature
    # Readable: one entry a line, in the order of the rows.
    assert (tmp_path / "e" / "word.vocabulary.txt").read_text().split("\n")[:-1] == list(
        encoder.parts["word"].vocabulary.entries
    )


@pytest.mark.filterwarnings("ignore:.*no unit that the encoder knows")
def test_quantised_vectors_are_near_and_a_quarter(tmp_path):
    encoder = made("word,trigram", dimension=64)
    small = load_encoder(save(quantise(encoder), tmp_path / "small"))
    big = save(encoder, tmp_path / "big")
    a, b = encoder.encode(SENTENCES[:2]), small.encode(SENTENCES[:2])
    cosines = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    assert (cosines > 0.9999).all() and not np.array_equal(a, b)
    size = [(folder / "trigram.safetensors").stat().st_size for folder in (tmp_path / "small", big)]
    assert size[0] < 0.35 * size[1]
    assert small.signature != encoder.signature


@pytest.mark.parametrize("name", ["config.json", "word.safetensors", "trigram.vocabulary.txt"])
def test_a_missing_file_is_named(tmp_path, name):
    folder = save(made("word,trigram"), tmp_path)
    (folder / name).unlink()
    with pytest.raises(ModelError, match=f"there is no {name}"):
        load_encoder(folder)


def _truncate(folder):
    path = folder / "word.safetensors"
    path.write_bytes(path.read_bytes()[:-10])


def _drop_an_entry(folder):
    path = folder / "word.vocabulary.txt"
    path.write_text("".join(path.read_text().splitlines(True)[1:]))


def _double_an_entry(folder):
    path = folder / "word.vocabulary.txt"
    lines = path.read_text().splitlines(True)
    path.write_text("".join([lines[1], *lines[1:]]))


def _not_finite(folder):
    encoder = load_encoder(folder)
    encoder.parts["word"].table[3, 1] = np.nan
    save(encoder, folder)


def _other_config(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"format": 99}))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_truncate, "cannot be read"),
        (_drop_an_entry, "entries of 5 numbers are expected"),
        (_double_an_entry, "twice"),
        (_not_finite, "not finite"),
        (_other_config, "no encoder of ours"),
    ],
)
def test_a_spoilt_folder_is_no_encoder(tmp_path, spoil, said):
    folder = save(made("word"), tmp_path)
    spoil(folder)
    with pytest.raises(ModelError, match=said) as error:
        load_encoder(folder)
    assert error.value.file is not None
