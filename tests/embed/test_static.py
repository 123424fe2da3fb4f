"""Static models of other libraries: the same vectors as those libraries compute."""

from __future__ import annotations

import numpy as np
import pytest

from paraloom.core.errors import ConfigError, ModelError
from paraloom.embed.average import SentenceEncoder
from paraloom.embed.config import EncoderConfig
from paraloom.embed.encoder import open_encoder
from paraloom.embed.static import load_static

pytest.importorskip("tokenizers", reason="pip install 'paraloom[train]'")

TEXTS = ["A dog runs.", "unknown words, dogs", "", "the the cat", "x" * 300]


def wordpiece_tokenizer():
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    words = ["[UNK]", "a", "the", "dog", "cat", "runs", ".", ",", "##s"]
    tokenizer = Tokenizer(models.WordPiece({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.BertPreTokenizer()
    return tokenizer


TABLE = np.random.default_rng(2).normal(size=(9, 16)).astype(np.float32)


@pytest.mark.filterwarnings("ignore:.*unknown tokens")
def test_a_static_embedding_has_the_vectors_of_sentence_transformers(tmp_path):
    pytest.importorskip("sentence_transformers", reason="pip install 'paraloom[distill]'")
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    theirs = SentenceTransformer(
        modules=[StaticEmbedding(wordpiece_tokenizer(), embedding_weights=TABLE)], device="cpu"
    )
    theirs.save(str(tmp_path / "model"))
    ours = open_encoder(tmp_path / "model")
    assert isinstance(ours, SentenceEncoder)
    np.testing.assert_allclose(ours.encode(TEXTS), theirs.encode(TEXTS), atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*unknown tokens")
@pytest.mark.parametrize("weighted", [False, True])
def test_a_model2vec_folder_has_the_vectors_of_model2vec(weighted, tmp_path):
    model2vec = pytest.importorskip("model2vec", reason="pip install 'paraloom[bench]'")

    weights = np.linspace(0.5, 2, 9).astype(np.float32) if weighted else None
    theirs = model2vec.StaticModel(TABLE, wordpiece_tokenizer(), normalize=False, weights=weights)
    theirs.save_pretrained(tmp_path / "model")
    ours = open_encoder(tmp_path / "model", threads=2)
    np.testing.assert_allclose(ours.encode(TEXTS), theirs.encode(TEXTS), atol=1e-6)


def test_what_cannot_be_loaded_or_trained_is_an_error(tmp_path):
    from safetensors.numpy import save_file

    wordpiece_tokenizer().save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "modules.json").write_text('[{"idx": 0, "path": "", "type": "x.StaticEmbedding"}]')
    for tensors, message in (
        ({"other": TABLE}, "expected a tensor 'embeddings'"),
        ({"embeddings": TABLE[:4]}, "expected 9 vectors"),
        ({"embeddings": TABLE * np.nan}, "not finite"),
    ):
        save_file(tensors, tmp_path / "model.safetensors")
        with pytest.raises(ModelError, match=message):
            load_static(tmp_path)
    with pytest.raises(ConfigError, match="'token'"):
        EncoderConfig(spec="word,token")
