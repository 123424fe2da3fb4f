"""Tiny COMET and MetricX models with random weights, for tests.

`python tests/tiny_metrics.py`, in an environment with unbabel-comet, prints what that package makes of `PAIRS` by
each of `COMET_MODELS`; tests have these figures.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

WORDS = (
    *("the", "a", "dog", "cat", "sleeps", "in", "house", "small", "river", "is", "long", "man", "reads", "and"),
    *("woman", "sings", "ein", "der", "hund", "katze", "schläft"),
)
PAIRS = (
    ("der hund schläft", "the dog sleeps", "a dog sleeps in the house"),
    ("the cat is small and the river is long", "the cat reads", "a small cat and a long river"),
    ("ein man", "a man reads and a woman sings in the house", "a man"),
    (" ".join([*WORDS, *WORDS]), " ".join([*WORDS[5:], *WORDS]), " ".join(WORDS)),
)
"""Source, translation and reference; the last are longer than the encoder reads."""

_ESTIMATOR = {"hidden_sizes": [24, 12], "activations": "Tanh", "final_activation": None, "dropout": 0.1}
_REGRESSION = {**_ESTIMATOR, "class_identifier": "regression_metric", "layer": "mix", "pool": "avg"}
_UNIFIED = {**_ESTIMATOR, "class_identifier": "unified_metric", "sent_layer": "mix", "word_layer": 1}
COMET_MODELS: dict[str, dict[str, Any]] = {
    "qe": {
        **_REGRESSION,
        **{"class_identifier": "referenceless_regression_metric"},
        **{"layer_transformation": "softmax", "layer_norm": True},
    },
    "reference": {**_REGRESSION, "layer_transformation": "sparsemax", "layer_norm": False},
    "kiwi": {
        **_UNIFIED,
        **{"layer_transformation": "sparsemax", "layer_norm": False, "input_segments": ["mt", "src"]},
    },
    "kiwi-words": {
        **_UNIFIED,
        **{"layer_transformation": "sparsemax_patch", "layer_norm": True, "input_segments": ["mt", "src"]},
        **{"word_level_training": True, "final_activation": "Sigmoid", "activations": "sigmoid"},
    },
    "one-layer": {
        **_REGRESSION,
        **{"class_identifier": "referenceless_regression_metric"},
        **{"layer": 1, "pool": "max", "hidden_sizes": [16], "layer_transformation": "softmax", "layer_norm": False},
    },
}
"""Settings of each tiny model."""


def random_weights(network: Any, seed: int, scale: float = 0.6) -> None:
    """Overwrite the weights of a network, the same whatever the version of torch."""
    import torch

    random = np.random.default_rng(seed)
    with torch.no_grad():
        for _, weight in sorted(network.named_parameters()):
            weight.copy_(torch.from_numpy(random.normal(0, scale, tuple(weight.shape)).astype(np.float32)))


def save_tiny_comet(folder: Path, hparams: Mapping[str, Any], *, files: bool = True) -> Path:
    """Write a COMET model as it is published, with configuration and tokenizer of its encoder, an XLM-R, beside it."""
    import torch
    from transformers import XLMRobertaConfig, XLMRobertaModel

    folder.mkdir(parents=True, exist_ok=True)
    config = XLMRobertaConfig(
        **{"vocab_size": len(WORDS) + 4, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2},
        **{"intermediate_size": 24, "max_position_embeddings": 24, "type_vocab_size": 1},
        **{"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2},
    )
    if files:
        config.save_pretrained(folder)
        _save_tokenizer(folder)
    encoder = XLMRobertaModel(config, add_pooling_layer=False)
    random_weights(encoder, 1)
    kind = hparams["class_identifier"]
    width = {"referenceless_regression_metric": 4, "regression_metric": 6, "unified_metric": 1}[kind] * 16
    random = np.random.default_rng(2)
    tensors = {f"encoder.model.{name}": value for name, value in encoder.state_dict().items()}
    shapes: dict[str, tuple[int, ...]] = {f"layerwise_attention.scalar_parameters.{n}": (1,) for n in range(3)}
    shapes["layerwise_attention.gamma"] = (1,)
    for number, size in enumerate([*hparams["hidden_sizes"], 1]):
        shapes |= {f"estimator.ff.{3 * number}.weight": (size, width), f"estimator.ff.{3 * number}.bias": (size,)}
        width = size
    if hparams.get("word_level_training"):
        shapes |= {"hidden2tag.weight": (3, 16), "hidden2tag.bias": (3,)}
    tensors |= {name: torch.from_numpy(random.normal(0, 0.6, s).astype(np.float32)) for name, s in shapes.items()}
    # JSON is YAML.
    settings = {"encoder_model": "XLM-RoBERTa", "pretrained_model": str(folder), **hparams}
    (folder / "hparams.yaml").write_text(json.dumps(settings), encoding="utf-8")
    (folder / "checkpoints").mkdir(exist_ok=True)
    saved = {"state_dict": tensors, "hyper_parameters": settings, "pytorch-lightning_version": "2.0.0"}
    torch.save(saved, folder / "checkpoints" / "model.ckpt")
    return folder


def _save_tokenizer(
    folder: Path,
    special: Sequence[str] = ("<s>", "<pad>", "</s>", "<unk>"),
    words: Sequence[str] = WORDS,
    template: str = "<s> $A </s>",
) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    vocabulary = {word: index for index, word in enumerate([*special, *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=template, special_tokens=[(word, vocabulary[word]) for word in special]
    )
    tokenizer.add_special_tokens([*special])
    tokenizer.save(str(folder / "tokenizer.json"))
    names = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>", "pad_token": "<pad>"}
    known = {name: word for name, word in names.items() if word in special}
    settings = {**known, "unk_token": "<unk>", "tokenizer_class": "PreTrainedTokenizerFast"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")


def save_tiny_metricx(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Write an mT5 whose layers are so simple that its values can be calculated by hand, and return its weights.

    The encoder adds nothing to the words; the decoder adds the mean of what it reads, as its queries are 0.
    """
    from transformers import MT5Config, MT5ForConditionalGeneration

    config = MT5Config(
        **{"vocab_size": 250_112, "d_model": 4, "d_kv": 2, "d_ff": 6, "num_layers": 1, "num_decoder_layers": 1},
        **{"num_heads": 2, "tie_word_embeddings": False, "decoder_start_token_id": 0},
    )
    network = MT5ForConditionalGeneration(config)
    random_weights(network, 7, 1.5)
    zeros = ("SelfAttention.o.", "wo.", "EncDecAttention.q.", "relative_attention_bias.")
    for name, weight in network.named_parameters():
        if any(part in name for part in zeros):
            weight.data.zero_()
    network.save_pretrained(folder)
    _save_tokenizer(folder, ("<pad>", "</s>", "<unk>"), [*WORDS, "source", "candidate", ":"], "$A </s>")
    return folder, {name: value.numpy() for name, value in network.state_dict().items()}


def main() -> None:
    """Print the scores of unbabel-comet."""
    from comet import load_from_checkpoint

    names = ("src", "mt", "ref")
    for name, hparams in COMET_MODELS.items():
        with tempfile.TemporaryDirectory() as folder:
            save_tiny_comet(Path(folder), hparams)
            file = Path(folder, "checkpoints", "model.ckpt")
            model = load_from_checkpoint(file, reload_hparams=True, local_files_only=True)
            model.eval()
            fields = names if hparams["class_identifier"] == "regression_metric" else names[:2]
            rows = [{field: row[names.index(field)] for field in fields} for row in PAIRS]
            scores = model.predict(rows, batch_size=2, gpus=0, progress_bar=False, num_workers=1)["scores"]
            print(f'    "{name}": [{", ".join(f"{score:.5f}" for score in scores)}],')


if __name__ == "__main__":
    main()
