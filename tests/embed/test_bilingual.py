"""Encoders of two languages: the check of bitext, settings, training on toy bitext, saving and export."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import paraloom
from paraloom.core.errors import ConfigError, DataError
from paraloom.embed.average import quantize
from paraloom.embed.bilingual import BITEXT_SETTINGS, check_bitext
from paraloom.embed.config import EncoderConfig
from paraloom.embed.encoder import Encoder
from paraloom.embed.store import load_encoder, save_encoder
from paraloom.embed.training import train_encoder
from paraloom.stages import TrainBilingualEncoder

SAMPLE = [
    tuple(line.split("\t"))
    for line in (Path(__file__).parents[1] / "data/passages.de-en.tsv").read_text(encoding="utf-8").splitlines()[1:]
]
GERMAN, ENGLISH = ([row[side] for row in SAMPLE] for side in (0, 1))


def batch(src: list[str], tgt: list[str], langs: tuple[str, str] = ("und", "und")) -> pa.RecordBatch:
    columns = {"src": src, "tgt": tgt, "src_lang": [langs[0]] * len(src), "tgt_lang": [langs[1]] * len(src)}
    return pa.RecordBatch.from_pydict(columns)


def checked(*arguments) -> tuple[dict, list[str]]:
    """The figures of a check, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figures = check_bitext("news", [batch(*arguments)])
    return figures, [str(warning.message) for warning in caught]


def test_bitext_that_is_right_passes() -> None:
    figures, messages = checked(GERMAN, ENGLISH, ("de", "eng"))
    assert figures["languages"] == ["de", "en"] and not messages
    assert figures["pairs"] == len(GERMAN) and figures["warnings"] == []


def test_swapped_sides_are_warned_of() -> None:
    _, messages = checked(ENGLISH, GERMAN, ("de", "en"))
    assert len(messages) == 1
    assert "news: the sides are swapped: it is labeled de–en, but the first side is English" in messages[0]
    assert not checked(ENGLISH, GERMAN)[1]  # without labels nothing is contradicted


def test_one_language_on_both_sides_is_warned_of() -> None:
    _, messages = checked(ENGLISH, [text.upper() for text in ENGLISH], ("de", "en"))
    assert len(messages) == 1 and "both sides are English" in messages[0] and "--pairs" in messages[0]


def test_identical_sides_are_counted() -> None:
    figures, messages = checked([*GERMAN, "OK", "x"], [*ENGLISH, "OK", "y"])
    assert figures["identical"] == 1 and not messages
    _, messages = checked(["OK", "x", "a"], ["OK", "y", "a"])
    assert "both sides of 2 of 3 pairs are equal" in messages[0]
    with pytest.raises(DataError, match="both sides of all 2 pairs are equal") as error:
        check_bitext("news", [batch(["a", "b"], ["a", "b"])])
    assert "news" in str(error.value)


def test_the_sample_is_spread_over_all_batches() -> None:
    english = batch(ENGLISH * 60, ENGLISH * 60)
    german = batch(GERMAN * 60, ENGLISH * 60)
    # The first third is English, the rest German.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert check_bitext("news", [english, german, german, german])["languages"] == ["de", "en"]


def test_the_stage_has_the_settings_for_bitext() -> None:
    stage = TrainBilingualEncoder(pairs=["de-en"])
    assert {name: getattr(stage, name) for name in BITEXT_SETTINGS} == BITEXT_SETTINGS
    assert EncoderConfig(**BITEXT_SETTINGS).parsed_spec.units == ("ngram",)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder of the sample, after some steps."""
    folder = tmp_path_factory.mktemp("bilingual") / "encoder"
    settings = {**BITEXT_SETTINGS, "dimension": 16, "epochs": 2, "batch_size": 32}
    train_encoder([batch(GERMAN, ENGLISH)], EncoderConfig(**settings), folder, threads=1)
    return folder


def test_training_is_the_same_in_python_and_as_a_stage(trained: Path, tmp_path: Path) -> None:
    file = tmp_path / "news.de-en.tsv"
    file.write_text("".join(f"{a}\t{b}\n" for a, b in zip(GERMAN, ENGLISH, strict=True)), encoding="utf-8")
    config = {"dimension": 16, "epochs": 2, "batch_size": 32}
    encoder = Encoder.train(tmp_path / "encoder", bitext=file, threads=2, **config)
    assert encoder.signature == load_encoder(trained).signature
    result = paraloom.train_encoder(bitext=[file], output=tmp_path / "staged", **config)
    figures = result.stages[-1].figures
    assert figures["bitexts"] == [
        {"pairs": len(GERMAN), "identical": 0, "languages": ["de", "en"], "warnings": []},
    ]
    assert figures["pairs"]["used"] == load_encoder(trained).training["used"]


@pytest.mark.parametrize("given", [{}, {"pairs": "a.tsv", "bitext": "b.tsv"}])
def test_either_pairs_or_bitext(tmp_path: Path, given: dict) -> None:
    for call in (Encoder.train, lambda folder, **sources: paraloom.train_encoder(output=folder, **sources)):
        with pytest.raises(ConfigError, match="expected either pairs or bitext"):
            call(tmp_path / "encoder", **given)


def test_an_unknown_setting_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown key 'dimensions'; did you mean 'dimension'"):
        Encoder.train(tmp_path / "encoder", bitext="a.tsv", dimensions=3)


def test_saved_and_quantized(trained: Path, tmp_path: Path) -> None:
    encoder = load_encoder(trained)
    again = load_encoder(save_encoder(encoder, tmp_path / "again"))
    np.testing.assert_array_equal(again.encode(GERMAN), encoder.encode(GERMAN))
    small = load_encoder(save_encoder(quantize(encoder), tmp_path / "small"))
    np.testing.assert_allclose(small.encode(GERMAN), encoder.encode(GERMAN), atol=2e-3)


def test_exported_to_onnx(trained: Path, tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    from paraloom.embed.onnx_export import export_onnx, onnx_inputs

    encoder = load_encoder(trained)
    export_onnx(encoder, tmp_path / "onnx")
    session = onnxruntime.InferenceSession(tmp_path / "onnx" / "model.onnx")
    (vectors,) = session.run(None, onnx_inputs(encoder, GERMAN[:5]))
    np.testing.assert_allclose(vectors, encoder.encode(GERMAN[:5]), atol=1e-6)


@pytest.mark.slow
def test_exported_to_sentence_transformers(trained: Path, tmp_path: Path) -> None:
    library = pytest.importorskip("sentence_transformers")
    from paraloom.embed.export import export_sentence_transformer

    encoder = load_encoder(trained)
    assert not export_sentence_transformer(encoder, tmp_path / "exported")
    model = library.SentenceTransformer(str(tmp_path / "exported"), trust_remote_code=True, device="cpu")
    np.testing.assert_allclose(model.encode(GERMAN[:5]), encoder.encode(GERMAN[:5]), atol=1e-6)
