"""A tiny sentence-transformers model with random weights, for tests."""

from __future__ import annotations

from pathlib import Path


def save_tiny_transformer(folder: Path) -> Path:
    """Write a model into `folder / "model"`: BERT with two layers of dimension 32, mean pooling, 24 tokens at most."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "the", "dog", "cat", "and", "run", "##s"]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(words), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64
    )
    BertModel(config).save_pretrained(folder / "bert")
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder / "bert")
    transformer = Transformer(str(folder / "bert"), max_seq_length=24)
    pooling = Pooling(32, pooling_mode="mean")
    SentenceTransformer(modules=[transformer, pooling], device="cpu").save(str(folder / "model"))
    return folder / "model"
