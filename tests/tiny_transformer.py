"""Tiny sentence-transformers models with random weights, for tests."""

from __future__ import annotations

from collections.abc import Sequence
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


def save_tiny_multilingual(folder: Path, words: Sequence[str]) -> Path:
    """Write a model with the architecture and the kind of tokenizer of XLM-R into `folder / "multilingual"`.

    Its 300 tokens are special ones, words, and characters of several scripts.
    """
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from tokenizers import Tokenizer
    from tokenizers.models import Unigram
    from tokenizers.pre_tokenizers import Metaspace
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaModel

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    letters = sorted({*"▁", *"".join(words)})
    pieces = [*special, *(f"▁{word}" for word in words), *letters]
    pieces += [chr(0x4E00 + number) for number in range(299 - len(pieces))] + ["<mask>"]
    tokenizer = Tokenizer(Unigram([(piece, -2.0 if len(piece) > 1 else -5.0) for piece in pieces], unk_id=3))
    tokenizer.pre_tokenizer = Metaspace()
    tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    names = {"bos": "<s>", "cls": "<s>", "pad": "<pad>", "eos": "</s>", "sep": "</s>", "unk": "<unk>", "mask": "<mask>"}
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **{f"{role}_token": token for role, token in names.items()}
    )
    torch.manual_seed(1)
    config = XLMRobertaConfig(
        vocab_size=len(pieces), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
        max_position_embeddings=66, type_vocab_size=1, pad_token_id=1,
    )  # fmt: skip
    XLMRobertaModel(config).save_pretrained(folder / "xlm")
    fast.save_pretrained(folder / "xlm")
    transformer = Transformer(str(folder / "xlm"), max_seq_length=24)
    model = SentenceTransformer(modules=[transformer, Pooling(32, pooling_mode="mean")], device="cpu")
    model.save(str(folder / "multilingual"))
    return folder / "multilingual"
