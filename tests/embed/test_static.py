"""Static models of others: opened here, the same vectors as their own libraries give."""

from __future__ import annotations

import numpy as np
import pytest

from paraloom.core.errors import ConfigError, ModelError
from paraloom.embed.average import SentenceEncoder
from paraloom.embed.config import EncoderConfig
from paraloom.embed.loading import open_encoder
from paraloom.embed.static import load_static

pytest.importorskip("tokenizers", reason="pip install 'paraloom[train]'")

TEXTS = ["A dog runs.", "unknown words, dogs", "", "the the cat", "x" * 300]


def tokeniser():
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    words = ["[UNK]", "a", "the", "dog", "cat", "runs", ".", ",", "##s"]
    found = Tokenizer(models.WordPiece({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    found.normalizer, found.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.BertPreTokenizer()
    return found


TABLE = np.random.default_rng(2).normal(size=(9, 16)).astype(np.float32)


@pytest.mark.filterwarnings("ignore:.*no unit")
def test_a_static_embedding_gives_its_librarys_vectors(tmp_path):
    pytest.importorskip("sentence_transformers", reason="pip install 'paraloom[distill]'")
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    theirs = SentenceTransformer(modules=[StaticEmbedding(tokeniser(), embedding_weights=TABLE)], device="cpu")
    theirs.save(str(tmp_path / "model"))
    ours = open_encoder(tmp_path / "model")
    assert isinstance(ours, SentenceEncoder)
    np.testing.assert_allclose(ours.encode(TEXTS), theirs.encode(TEXTS), atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*no unit")
@pytest.mark.parametrize("weighted", [False, True])
def test_a_model2vec_folder_gives_its_librarys_vectors(weighted, tmp_path):
    model2vec = pytest.importorskip("model2vec", reason="pip install 'paraloom[bench]'")

    weights = np.linspace(0.5, 2, 9).astype(np.float32) if weighted else None
    theirs = model2vec.StaticModel(TABLE, tokeniser(), normalize=False, weights=weights)
    theirs.save_pretrained(tmp_path / "model")
    ours = open_encoder(tmp_path / "model", threads=2)
    np.testing.assert_allclose(ours.encode(TEXTS), theirs.encode(TEXTS), atol=1e-6)


def test_what_cannot_be_opened_or_trained_is_named(tmp_path):
    from safetensors.numpy import save_file

    tokeniser().save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "modules.json").write_text('[{"idx": 0, "path": "", "type": "x.StaticEmbedding"}]')
    for tensors, said in (
        ({"other": TABLE}, "neither"),
        ({"embeddings": TABLE[:4]}, "4 vectors for 9 tokens"),
        ({"embeddings": TABLE * np.nan}, "not finite"),
    ):
        save_file(tensors, tmp_path / "model.safetensors")
        with pytest.raises(ModelError, match=said):
            load_static(tmp_path)
    with pytest.raises(ConfigError, match="'token'"):
        EncoderConfig(spec="word,token").check()
