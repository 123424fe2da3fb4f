"""Averages in a megabyte: codes of groups of dimensions, and the most frequent types only."""

from __future__ import annotations

import numpy as np
import pytest
import yaml

from paraloom.api import export_encoder
from paraloom.bundled import bundled_path
from paraloom.core.errors import ConfigError, ModelError
from paraloom.embed.average import Average, SentenceEncoder, normalize_vectors
from paraloom.embed.encoder import open_encoder
from paraloom.embed.product_quantization import CodedAverage, product_quantize
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import load_encoder, save_encoder
from paraloom.embed.vocabulary import Vocabulary

CENTROIDS = np.float16([[[1, 2], [3, 4]], [[5, 6], [7, 8]]])
TEXTS = ["a dog sleeps", "a cat", "the dog", "xyz dog", "sleeps the cat a"]


def two_parts(spec: str, dimension: int = 24) -> SentenceEncoder:
    draw = np.random.default_rng(1)
    tables = {
        "word": ["a", "dog", "the", "cat", "sleeps"],
        "trigram": [" do", "dog", "og ", " ca", "cat", "eps"],
    }
    parts = {
        name: Average(Vocabulary(name, tables[name]), draw.normal(size=(len(tables[name]), dimension)).astype("f4"))
        for name in parse_spec(spec).parts
    }
    return SentenceEncoder(parse_spec(spec), parts)


def cosines(encoder: SentenceEncoder) -> np.ndarray:
    vectors = normalize_vectors(encoder.encode(TEXTS))
    return vectors @ vectors.T


def test_a_row_is_the_centroids_of_its_codes() -> None:
    part = CodedAverage(Vocabulary("word", ["a", "b"]), np.uint8([[0, 1], [1, 0]]), CENTROIDS)
    assert part.vectors.tolist() == [[1, 2, 7, 8], [3, 4, 5, 6]]


@pytest.mark.parametrize("spec", ["word", "word,trigram", "word+trigram"])
def test_fewer_types_than_centroids_keep_their_cosines(spec: str, tmp_path) -> None:
    encoder = two_parts(spec)
    small = load_encoder(save_encoder(product_quantize(encoder, 1), tmp_path))
    assert small.part_dimension == 24
    np.testing.assert_allclose(cosines(small), cosines(encoder), atol=2e-3)


def test_a_folder_is_as_small_as_promised_and_keeps_the_most_frequent(tmp_path) -> None:
    export_encoder("english", tmp_path / "small", megabytes=0.4)
    assert 0.38e6 < sum(file.stat().st_size for file in (tmp_path / "small").iterdir()) <= 0.4e6
    small, english = load_encoder(tmp_path / "small"), load_encoder(bundled_path("english"))
    for name, part in small.parts.items():
        assert english.parts[name].vocabulary.entries[: len(part.vocabulary)] == part.vocabulary.entries
    assert open_encoder(tmp_path / "small").encode(["A dog sleeps."]).shape == (1, small.dimension)


@pytest.mark.parametrize("options", [{"megabytes": 0.4}, {"int8": True}])
def test_a_smaller_encoder_has_the_licenses_and_sources_of_the_first(options: dict, tmp_path) -> None:
    export_encoder("english", tmp_path / "small", **options)
    card, origin = ((folder / "README.md").read_text() for folder in (tmp_path / "small", bundled_path("english")))
    (_, front, text), (_, origin_front, origin_text) = card.split("---\n", 2), origin.split("---\n", 2)
    facts, origin_facts = yaml.safe_load(front), yaml.safe_load(origin_front)
    assert [facts[key] for key in ("license", "language")] == [origin_facts[key] for key in ("license", "language")]
    assert "measured" not in facts and "model-index" not in facts  # figures of the first one
    own, heading, sources_text = text.partition("## The encoder that this one was made from")
    assert facts["library_name"] == "paraloom" and "Signature" in own and heading
    sources = origin_text[origin_text.index("| text | license |") :].partition("\n\n")[0]
    assert sources in sources_text


@pytest.mark.parametrize(
    ("codes", "centroids"),
    [
        (np.zeros((2, 3), np.uint8), CENTROIDS),  # Another number of groups
        (np.zeros((2, 2), np.int32), CENTROIDS),
        (np.full((2, 2), 2, np.uint8), CENTROIDS),  # No such centroid
        (np.zeros((0, 2), np.uint8), CENTROIDS),
        (np.zeros((2, 2), np.uint8), CENTROIDS.astype(np.float64)),
    ],
)
def test_damaged_codes_are_an_error(codes, centroids, tmp_path) -> None:
    from safetensors.numpy import save_file

    with pytest.raises(ModelError, match="expected codes of uint8, one for each group"):
        CodedAverage(Vocabulary("word", ["a", "b"]), codes, centroids)
    save_encoder(product_quantize(two_parts("word"), 1), tmp_path)
    save_file({"codes": codes, "centroids": centroids}, tmp_path / "word.safetensors")
    with pytest.raises(ModelError, match="expected codes of uint8, one for each group") as raised:
        load_encoder(tmp_path)
    assert "word.safetensors" in str(raised.value)


def test_centroids_that_are_not_finite_are_an_error(tmp_path) -> None:
    from safetensors.numpy import load_file, save_file

    save_encoder(product_quantize(two_parts("word"), 1), tmp_path)
    tensors = load_file(tmp_path / "word.safetensors")
    tensors["centroids"][0, 0, 0] = np.nan
    save_file(tensors, tmp_path / "word.safetensors")
    with pytest.raises(ModelError, match="not finite"):
        load_encoder(tmp_path)


@pytest.mark.parametrize("megabytes", [0.01, 0, -1, float("nan")])
def test_too_few_megabytes_are_an_error(megabytes: float, tmp_path) -> None:
    with pytest.raises(ConfigError, match="too few megabytes"):
        export_encoder("english", tmp_path / "small", megabytes=megabytes)
    assert not (tmp_path / "small").exists()


def test_a_transformer_is_an_error(tmp_path) -> None:
    with pytest.raises(ConfigError, match="a transformer cannot be made smaller"):
        export_encoder("english-small", tmp_path / "small", megabytes=1)
    with pytest.raises(ConfigError, match="cannot be combined"):
        export_encoder("english", tmp_path / "small", megabytes=1, int8=True)
