"""Tiny cross-encoders with random weights in ONNX format, and their values by transformers, for tests."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

SENTENCES = (
    "the dog sleeps in the house",
    "a small dog ran along the river",
    "two cats are sleeping",
    "nobody saw the cat near the house",
    "the river is long and the road is short",
    "a man reads and a woman sings",
)
ENTAILMENT = ("contradiction", "entailment", "neutral")
MAX_LENGTH = 40


def save_tiny_cross_encoder(
    folder: Path, labels: Sequence[str] = ENTAILMENT, *, roberta: bool = False, **config: Any
) -> Path:
    """Write a BERT, or a RoBERTa, whose graph has no token types, with two layers of dimension 32 into a folder.

    The folder has the graph `model.onnx`, and the checkpoint that it was exported from for `torch_logits`.
    """
    import torch
    from transformers import BertConfig, BertForSequenceClassification, RobertaConfig, RobertaForSequenceClassification

    save_tokenizer(folder)
    torch.manual_seed(1)
    sizes: dict[str, Any] = {
        "vocab_size": 120,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        # Large weights, so that values differ from pair to pair.
        "initializer_range": 0.3,
        "id2label": dict(enumerate(labels)),
        "label2id": {label: index for index, label in enumerate(labels)},
        "attn_implementation": "eager",
        **config,
    }
    model: Any
    if roberta:
        # The positions 0 and 1 are those of the padding and of none: the first token has 1.
        model = RobertaForSequenceClassification(
            RobertaConfig(pad_token_id=0, max_position_embeddings=MAX_LENGTH + 1, type_vocab_size=1, **sizes)
        )
    else:
        model = BertForSequenceClassification(BertConfig(max_position_embeddings=MAX_LENGTH, **sizes))
    model.eval().save_pretrained(folder)
    # Logits with a standard deviation of 3 over the pairs of sentences, so that values differ whatever the weights.
    logits = torch.tensor(torch_logits(folder, [(a, b) for a in SENTENCES for b in SENTENCES]), dtype=torch.float32)
    output = model.classifier.out_proj if roberta else model.classifier
    with torch.no_grad():
        scale = 3 / logits.std(0)
        output.weight *= scale[:, None]
        output.bias.copy_((output.bias - logits.mean(0)) * scale)
    model.save_pretrained(folder)
    names = ["input_ids", "attention_mask", *([] if roberta else ["token_type_ids"])]

    class Logits(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *tensors: Any) -> Any:
            return self.model(**dict(zip(names, tensors, strict=True))).logits

    tokens = torch.tensor([[2, 7, 8, 3, 9, 3], [2, 7, 3, 9, 3, 0]])
    examples = {
        "input_ids": tokens,
        "attention_mask": (tokens > 0).long(),
        "token_type_ids": torch.tensor([[0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0]]),
    }
    axes = {0: "batch", 1: "tokens"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # The exporter that needs no further package.
        torch.onnx.export(
            Logits(),
            tuple(examples[name] for name in names),
            str(folder / "model.onnx"),
            dynamo=False,
            input_names=names,
            output_names=["logits"],
            dynamic_axes={**dict.fromkeys(names, axes), "logits": {0: "batch"}},
            opset_version=17,
        )
    return folder


def save_tokenizer(folder: Path) -> None:
    """Train a WordPiece tokenizer on `SENTENCES` and write its tokenizer.json."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing
    from tokenizers.trainers import WordPieceTrainer

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = Tokenizer(WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = Lowercase(), Whitespace()
    tokenizer.train_from_iterator(SENTENCES, WordPieceTrainer(vocab_size=120, special_tokens=special))
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.save(str(folder / "tokenizer.json"))


def torch_logits(
    folder: Path, pairs: Sequence[tuple[str, str]], *, token_types: bool = True
) -> npt.NDArray[np.float64]:
    """Outputs `(n, labels)` of the checkpoint, each pair by itself, by transformers' own tokenizer and model."""
    import torch
    from transformers import AutoModelForSequenceClassification, PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), pad_token="[PAD]")
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    types = ["token_type_ids"] if token_types and model.config.type_vocab_size > 1 else []
    tokenizer.model_input_names = ["input_ids", "attention_mask", *types]
    rows, threads = [], torch.get_num_threads()
    torch.set_num_threads(1)  # threads for tensors of this size only wait for each other
    with torch.inference_mode():
        for first, second in pairs:
            tensors = tokenizer(first, second, truncation="longest_first", max_length=MAX_LENGTH, return_tensors="pt")
            rows.append(model(**tensors).logits[0].double().numpy())
    torch.set_num_threads(threads)
    return np.stack(rows)


def change_config(folder: Path, **values: Any) -> None:
    """Set keys of config.json; None removes one."""
    path = folder / "config.json"
    config = {**json.loads(path.read_text(encoding="utf-8")), **values}
    path.write_text(json.dumps({key: value for key, value in config.items() if value is not None}))
