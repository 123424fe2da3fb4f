"""Export for sentence-transformers: the exported folder gives the same vectors for any text."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paraloom.api import export_encoder
from paraloom.api.models import find_model
from paraloom.bundled import BUNDLED, bundled_path
from paraloom.core.errors import ConfigError, ModelError
from paraloom.core.licenses import HUB_LICENSES
from paraloom.embed.average import Average, SentenceEncoder, quantize
from paraloom.embed.encoder import Encoder, open_encoder
from paraloom.embed.export import export_sentence_transformer, word_tokenizer
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import load_encoder
from paraloom.embed.vocabulary import Vocabulary
from paraloom.text.tokens import words

pytest.importorskip("sentence_transformers", reason="pip install 'paraloom[distill]'")

WORDS = ["a", "dog", "don't", "3.14", "!", "well-known", "ü", "σ", "x", ",", "▁"]
TEXTS = [
    "A dog!",
    "Don't, a WELL-KNOWN dog 3.14 x",
    "",
    "unknown words",
    "3.14.x a’b ΑΣ Ü",
    "dogs xa ax a-x",
    "tab\ta\x00x a\u200bx\u00a0dog",
    "emoji 👍🏽 dog",
]


def encoder(spec: str) -> SentenceEncoder:
    draw = np.random.default_rng(1)
    parts = {}
    for name in parse_spec(spec).parts:
        entries = WORDS if name == "word" else ["a", " a ", "dog", "og "]
        parts[name] = Average(Vocabulary(name, entries), draw.normal(size=(len(entries), 6)).astype(np.float32))
    return SentenceEncoder(parse_spec(spec), parts)


@pytest.mark.filterwarnings("ignore:.*unknown tokens")
@pytest.mark.parametrize("spec", ["word", "word,trigram", "word+trigram"])
def test_the_exported_folder_gives_the_same_vectors(spec, tmp_path):
    from sentence_transformers import SentenceTransformer

    ours = encoder(spec)
    plain = export_sentence_transformer(ours, tmp_path / "model")
    assert plain == (spec == "word")
    theirs = SentenceTransformer(str(tmp_path / "model"), device="cpu", trust_remote_code=not plain)
    np.testing.assert_allclose(theirs.encode(TEXTS), ours.encode(TEXTS), atol=1e-5)
    assert theirs.get_embedding_dimension() == ours.dimension
    # A copy that the library saves loads as well.
    theirs.save(str(tmp_path / "copy"))
    copy = SentenceTransformer(str(tmp_path / "copy"), device="cpu", trust_remote_code=not plain)
    np.testing.assert_allclose(copy.encode(TEXTS), ours.encode(TEXTS), atol=1e-5)


@pytest.mark.filterwarnings("ignore:.*unknown tokens")
def test_a_quantized_encoder_is_exported_as_exactly(tmp_path):
    from sentence_transformers import SentenceTransformer

    ours = quantize(encoder("word"))
    export_sentence_transformer(ours, tmp_path / "model")
    theirs = SentenceTransformer(str(tmp_path / "model"), device="cpu")
    np.testing.assert_allclose(theirs.encode(TEXTS), ours.encode(TEXTS), atol=1e-5)


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs", "Cn", "Co"], exclude_characters="▁"), max_size=30))
def test_the_tokenizer_splits_as_ours(text):
    expected = words(text)
    vocabulary = tuple(dict.fromkeys(expected))
    if not vocabulary:
        return
    encoded = word_tokenizer(vocabulary).encode(text, add_special_tokens=False)
    assert [vocabulary[i] for i in encoded.ids] == expected


def test_a_folder_with_other_files_is_left_unchanged(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ConfigError, match="something else"):
        export_sentence_transformer(encoder("word"), tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_an_export_with_code_is_an_encoder_without_running_it(tmp_path):
    encoder = load_encoder(bundled_path("english"))
    assert not export_sentence_transformer(encoder, tmp_path / "exported")
    opened = open_encoder(tmp_path / "exported")
    assert opened.signature == encoder.signature
    np.testing.assert_array_equal(opened.encode(["A dog sleeps."]), encoder.encode(["A dog sleeps."]))


def test_the_export_says_what_other_modules_cannot_compute(tmp_path):
    text = export_encoder("english", tmp_path / "exported")
    assert "trust_remote_code=True" in text
    assert "cannot compute word,trigram" in text and "english-small" in text
    card = (tmp_path / "exported/README.md").read_text(encoding="utf-8")
    assert "with `trust_remote_code=True` only" in card and "cannot compute `word,trigram`" in card


def test_a_bundled_transformer_opens_without_code(tmp_path):
    from sentence_transformers import SentenceTransformer

    use = export_encoder("english-small", tmp_path / "exported")
    assert "trust_remote_code" not in use + (tmp_path / "exported/README.md").read_text(encoding="utf-8")
    assert not list((tmp_path / "exported").rglob("*.py"))
    theirs = SentenceTransformer(str(tmp_path / "exported"), device="cpu", trust_remote_code=False)
    ours = Encoder.load("english-small")
    texts = ["A dog sleeps.", "Where is the station?", "", "word " * 200]
    vectors = theirs.encode(texts)
    # int8 rounds the states between layers, too.
    cosines = [float(ours.similarity(text, vector)[0, 0]) for text, vector in zip(texts, vectors, strict=True)]
    assert min(cosines) > 0.998
    np.testing.assert_allclose(Encoder.load(tmp_path / "exported").encode(texts), vectors, atol=1e-5)
    with pytest.raises(ConfigError, match="in int8 already"):
        export_encoder("english-small", tmp_path / "int8", int8=True)


def test_other_converted_transformers_are_refused(tmp_path):
    shutil.copytree(bundled_path("english-small"), tmp_path / "model")
    path = tmp_path / "model/transformer.json"
    path.write_text(path.read_text().replace('"mean"', '"cls"'))
    with pytest.raises(ConfigError, match="only a converted transformer that Paraloom trained"):
        export_encoder(tmp_path / "model", tmp_path / "exported")
    path.write_text(path.read_text().replace('"cls"', '"mean"'))
    weights = tmp_path / "model/model/model.bin"
    for content, message in ((weights.read_bytes()[:1000], "cannot be read"), (b"\x05\0\0\0", "expected version 6")):
        weights.write_bytes(content)
        with pytest.raises(ModelError, match=message):
            export_encoder(tmp_path / "model", tmp_path / "exported")
    assert not (tmp_path / "exported").exists()


@pytest.mark.parametrize("name", BUNDLED)
def test_the_hub_reads_the_cards_of_bundled_models(name):
    hub = pytest.importorskip("huggingface_hub", reason="the extra hub has huggingface_hub")
    card = hub.ModelCard.load(bundled_path(name) / "README.md", ignore_metadata_errors=False)
    licenses = card.data.license if isinstance(card.data.license, list) else [card.data.license]
    assert licenses and set(licenses) <= HUB_LICENSES
    model = find_model(name)
    if model.kind in ("encoder", "translator", "judge"):
        values = [f"{result.metric_value:.4g}".removeprefix("0") for result in card.data.eval_results]
        assert len([value for value in values if value in model.measured]) >= max(1, len(values) - 1)


@pytest.mark.parametrize("name", ["english", "english-small"])
def test_an_exported_card_keeps_licenses_and_results(name, tmp_path):
    hub = pytest.importorskip("huggingface_hub", reason="the extra hub has huggingface_hub")
    export_encoder(name, tmp_path / "exported")
    before, after = (
        hub.ModelCard.load(folder / "README.md", ignore_metadata_errors=False).data
        for folder in (bundled_path(name), tmp_path / "exported")
    )
    assert (after.license, after.language) == (before.license, before.language) and after.eval_results
    assert [r.metric_value for r in after.eval_results] == [r.metric_value for r in before.eval_results]
    assert (after.library_name, after.pipeline_tag) == ("sentence-transformers", "sentence-similarity")
    assert after.tags == ["sentence-similarity", "paraloom"]
