"""Encoders for inference: compositions and vocabularies against a plain reference, and folders of encoders."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from paraloom.core.errors import ConfigError, ModelError
from paraloom.core.protocols import EncoderLike
from paraloom.embed.average import Average, SentenceEncoder, quantize
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import load_encoder, save_encoder
from paraloom.embed.vocabulary import UNITS, Vocabulary, VocabularyCounter
from paraloom.text.tokens import token_hash, words

SENTENCES = [
    "A dog runs!",
    "Zwei Hunde – it's 3.5°",
    "",
    "qqq",
    "the dog, the dog and the other dog, all of them",
    "É a",
]


def random_encoder(spec: str, dimension: int = 5, threads: int = 1) -> SentenceEncoder:
    """An encoder that knows half of the units in SENTENCES, with random vectors."""
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
    if name == "ngram":
        marked = [f"<{word}>" for word in words(unicodedata.normalize("NFC", sentence))]
        runs = [[w[i : i + n] for i in range(len(w)) for n in (3, 4, 5) if i + n <= len(w)] for w in marked]
        return [unit for w, own in zip(marked, runs, strict=True) for unit in [*own, *([w] if len(w) > 5 else [])]]
    bounded = f" {sentence.lower()} "
    return [bounded[k : k + 3] for k in range(len(bounded) - 2)]


def plain_vector(part: Average, name: str, sentence: str) -> np.ndarray:
    rows = [part.vocabulary.entries.index(u) for u in plain_units(name, sentence) if u in part.vocabulary.entries]
    return part.vectors[rows].mean(axis=0) if rows else np.zeros(part.dimension)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "spec", ["word", "trigram", "word,trigram", "word+trigram", "trigram,word", "ngram", "word+ngram"]
)
@pytest.mark.filterwarnings("ignore:.*unknown tokens only")
def test_encode_equals_the_definition(spec, threads):
    encoder = random_encoder(spec, threads=threads)
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


@pytest.mark.parametrize("bits", [4, 8, None])
@pytest.mark.parametrize("spec", ["word+trigram", "ngram"])
@pytest.mark.filterwarnings("ignore:.*unknown tokens only")
def test_few_sentences_have_the_same_bits_without_numba(spec, bits, monkeypatch):
    encoder = random_encoder(spec, dimension=37)
    encoder = encoder if bits is None else quantize(encoder, bits)
    compiled = encoder.encode(pa.array([*SENTENCES, None]))
    monkeypatch.setattr("paraloom.embed.average.sys", SimpleNamespace(modules={}))
    monkeypatch.setattr("paraloom.embed.average.average_kernels", None)
    monkeypatch.setattr("paraloom.embed.vocabulary.list_kernels", None)
    np.testing.assert_array_equal(encoder.encode(pa.array([*SENTENCES, None])), compiled)


def test_unknown_sentences_have_zero_vectors_and_one_warning():
    with pytest.warns(UserWarning, match="2 of 6 sentences consist of unknown tokens only") as warnings:
        vectors = random_encoder("word,trigram").encode(SENTENCES)
    assert len(warnings) == 1
    assert not vectors[[2, 3]].any() and vectors[[0, 1, 4, 5]].any(axis=1).all()


def test_a_very_long_sentence_has_the_mean_of_its_words():
    encoder = random_encoder("word")
    np.testing.assert_allclose(encoder.encode(["the " * 25_000]), encoder.encode(["the"]), rtol=1e-3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wrod", "did you mean 'word'"),
        ("word,", "empty part"),
        ("", "empty part"),
        ("word+trigram,word", "'word' is repeated"),
    ],
)
def test_an_invalid_spec_is_an_error(text, message):
    with pytest.raises(ConfigError, match=message):
        parse_spec(text)


@pytest.mark.parametrize("unit", ["word", "trigram", "ngram"])
def test_the_counter_agrees_with_a_dictionary(unit):
    batches = [["the cat", "a dog the"], ["", "A\nb the"], [f"w{k} the" for k in range(9000)] + ["a dog"]]
    counter = VocabularyCounter(unit)
    counts: dict[str, int] = {}
    for batch in batches:
        ids = counter.count(batch, UNITS[unit].split(batch))
        units = [u for sentence in batch for u in plain_units(unit, sentence)]
        for u in units:
            counts[u] = counts.get(u, 0) + 1
        assert [list(counts)[number] for number in ids[-3:]] == units[-3:]
    vocabulary, rows, frequencies = counter.most_common(50)
    expected = sorted((u for u in counts if "\n" not in u), key=lambda u: (-counts[u], u))[:50]
    assert list(vocabulary.entries) == expected
    np.testing.assert_allclose(frequencies, [counts[u] / sum(counts.values()) for u in expected])
    assert [list(counts)[number] for number in np.argsort(rows)[len(rows) - 50 :]] == expected
    lists = vocabulary.look_up(UNITS[unit].split(["the the"]))
    assert [vocabulary.entries[row] for row in lists.rows] == [u for u in plain_units(unit, "the the") if u in expected]
    assert token_hash(expected[0]) in UNITS[unit].split(batches[2]).ids


@pytest.mark.parametrize("spec", ["word,trigram", "word+trigram"])
@pytest.mark.filterwarnings("ignore:.*unknown tokens only")
def test_a_saved_encoder_loads_with_the_same_vectors(tmp_path, spec):
    encoder = random_encoder(spec)
    loaded = load_encoder(save_encoder(encoder, tmp_path / "e"), threads=2)
    np.testing.assert_array_equal(loaded.encode(SENTENCES), encoder.encode(SENTENCES))
    assert loaded.signature == encoder.signature
    assert f"spec:{spec}|" in loaded.signature
    # The vocabulary is readable: one entry per line, in the order of the rows.
    assert (tmp_path / "e" / "word.vocabulary.txt").read_text().split("\n")[:-1] == list(
        encoder.parts["word"].vocabulary.entries
    )


@pytest.mark.filterwarnings("ignore:.*unknown tokens only")
def test_quantized_vectors_are_close_and_need_a_third_of_the_space(tmp_path):
    encoder = random_encoder("word,trigram", dimension=64)
    small = load_encoder(save_encoder(quantize(encoder), tmp_path / "small"))
    large = save_encoder(encoder, tmp_path / "large")
    a, b = encoder.encode(SENTENCES[:2]), small.encode(SENTENCES[:2])
    cosines = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    assert (cosines > 0.9999).all() and not np.array_equal(a, b)
    size = [(folder / "trigram.safetensors").stat().st_size for folder in (tmp_path / "small", large)]
    assert size[0] < 0.35 * size[1]
    assert small.signature != encoder.signature


@pytest.mark.filterwarnings("ignore:.*unknown tokens only")
@pytest.mark.parametrize("dimension", [63, 64])
def test_four_bits_halve_the_file_again(tmp_path, dimension):
    encoder = random_encoder("word,trigram", dimension=dimension)
    quarter = quantize(encoder, 4)
    folders = [save_encoder(quantize(encoder, bits), tmp_path / str(bits)) for bits in (4, 8)]
    small = load_encoder(folders[0])
    np.testing.assert_array_equal(small.encode(SENTENCES), quarter.encode(SENTENCES))
    assert small.signature == quarter.signature
    for name, part in small.parts.items():
        # No value is off by more than half a step of its row.
        off = np.abs(part.vectors - encoder.parts[name].vectors).max(axis=1)
        assert (off <= np.abs(encoder.parts[name].vectors).max(axis=1) / 14 * 1.001).all()
    sizes = [(folder / "trigram.safetensors").stat().st_size for folder in folders]
    assert sizes[0] < 0.58 * sizes[1]


def test_another_number_of_bits_is_an_error():
    with pytest.raises(ConfigError, match="'bits' is 3; expected 4 or 8"):
        quantize(random_encoder("word"), 3)


@pytest.mark.parametrize("damaged", [np.zeros((6, 3), np.uint8), np.zeros((6, 2), np.int8)])
def test_nibbles_of_another_shape_are_an_error(tmp_path, damaged):
    from safetensors.numpy import load_file, save_file

    folder = save_encoder(quantize(random_encoder("word", dimension=4), 4), tmp_path)
    tensors = load_file(folder / "word.safetensors")
    save_file({**tensors, "nibbles": damaged[: len(tensors["scales"])]}, folder / "word.safetensors")
    with pytest.raises(ModelError, match="expected nibbles of uint8 and 2 columns"):
        load_encoder(folder)


@pytest.mark.parametrize("name", ["config.json", "word.safetensors", "trigram.vocabulary.txt"])
def test_a_missing_file_is_an_error(tmp_path, name):
    folder = save_encoder(random_encoder("word,trigram"), tmp_path)
    (folder / name).unlink()
    with pytest.raises(ModelError, match=f"{name} not found"):
        load_encoder(folder)


def _truncate(folder):
    path = folder / "word.safetensors"
    path.write_bytes(path.read_bytes()[:-10])


def _drop_an_entry(folder):
    path = folder / "word.vocabulary.txt"
    path.write_text("".join(path.read_text().splitlines(True)[1:]))


def _repeat_an_entry(folder):
    path = folder / "word.vocabulary.txt"
    lines = path.read_text().splitlines(True)
    path.write_text("".join([lines[1], *lines[1:]]))


def _not_finite(folder):
    encoder = load_encoder(folder)
    encoder.parts["word"].table[3, 1] = np.nan
    save_encoder(encoder, folder)


def _other_config(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"format": 99}))


@pytest.mark.parametrize(
    ("corrupt", "message"),
    [
        (_truncate, "cannot be read"),
        (_drop_an_entry, "expected a table of shape"),
        (_repeat_an_entry, "twice"),
        (_not_finite, "not finite"),
        (_other_config, "not the configuration of a Paraloom encoder"),
    ],
)
def test_a_corrupt_folder_is_an_error(tmp_path, corrupt, message):
    folder = save_encoder(random_encoder("word"), tmp_path)
    corrupt(folder)
    with pytest.raises(ModelError, match=message) as error:
        load_encoder(folder)
    assert error.value.file is not None


def test_folders_of_version_0_1_load():
    folder = Path(__file__).parents[1] / "data" / "encoder-0.1"
    recorded = json.loads((folder.parent / "encoder-0.1.vectors.json").read_text(encoding="utf-8"))
    encoder = load_encoder(folder)
    np.testing.assert_allclose(encoder.encode(recorded["sentences"]), recorded["vectors"], atol=1e-7)
    assert encoder.signature.partition("|version")[0] == recorded["signature"].partition("|version")[0]
    assert encoder.training["rising"] is True
