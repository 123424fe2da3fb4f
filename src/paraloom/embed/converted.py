"""A transformer that was converted to int8 for CTranslate2, as a folder of sentence-transformers again."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np

from paraloom.core.array_types import Float32s
from paraloom.core.engine_files import read_variables
from paraloom.core.errors import ConfigError, ModelError
from paraloom.embed.transformer import CONFIG, DENSE
from paraloom.embed.transformer_network import TransformerShape, network_of_bert
from paraloom.embed.transformer_store import save_transformer
from paraloom.embed.transformer_vocabulary import TeacherVocabulary

_VERSION = 6
_BERT = {"activation": 3, "pre_norm": 0, "scale_embeddings": 0, "embeddings_merge": 1, "multi_query_attention": 0}
"""Settings of a BERT: GELU, norms behind, sums of embeddings."""

_PARTS = {
    "self_attention/linear_1": "attention.output.dense",
    "self_attention/layer_norm": "attention.output.LayerNorm",
    "ffn/linear_0": "intermediate.dense",
    "ffn/linear_1": "output.dense",
    "ffn/layer_norm": "output.LayerNorm",
}
_ROLES = {name: f"[{name.removesuffix('_token').upper()}]" for name in ("unk_token", "sep_token", "pad_token")}
_ROLES |= {"cls_token": "[CLS]", "mask_token": "[MASK]"}


def restore_transformer(folder: Path, target: Path) -> None:
    """Write a BERT with mean pooling and a linear layer on top as `save_transformer` does; its weights stay rounded."""
    from safetensors.numpy import load_file

    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    if not config.get("dense") or config.get("pooling") != "mean":
        raise ConfigError(
            "only a converted transformer that Paraloom trained can be exported",
            file=folder,
            remedy=f"Take the model that it was converted from: {config.get('model')}.",
        )
    variables = _read_model(folder / "model" / "model.bin")
    dense = load_file(folder / DENSE)
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    try:
        tensors = _bert_tensors(variables)
        words = tensors["embeddings.word_embeddings.weight"]
        shape = TransformerShape(
            vocab_size=len(words),
            width=words.shape[1],
            layers=sum(name.endswith("intermediate.dense.weight") for name in tensors),
            heads=int(variables["encoder/num_heads"]),
            ffn_dim=len(tensors["encoder.layer.0.intermediate.dense.bias"]),
            max_length=int(config["max_length"]),
            dimension=len(dense["weight"]),
        )
        network = network_of_bert(shape, tensors, dense)
    except (KeyError, RuntimeError) as error:
        raise ModelError(f"not a BERT ({error})", file=folder / "model" / "model.bin") from None
    known = {token["content"] for token in tokenizer.get("added_tokens", [])}
    roles = {role: token for role, token in _ROLES.items() if token in known}
    save_transformer(network, TeacherVocabulary(tokenizer, roles, words), target, {})


def _bert_tensors(variables: dict[str, Float32s]) -> dict[str, Float32s]:
    if wrong := [name for name, value in _BERT.items() if int(variables[f"encoder/{name}"]) != value]:
        raise KeyError(wrong[0])
    tensors = {
        "embeddings.word_embeddings.weight": _weight(variables, "encoder/embeddings_0"),
        "embeddings.token_type_embeddings.weight": _weight(variables, "encoder/embeddings_1"),
        "embeddings.position_embeddings.weight": variables["encoder/position_encodings/encodings"],
        **_linear_or_norm(variables, "encoder/layernorm_embedding", "embeddings.LayerNorm"),
    }
    layer = 0
    while (prefix := f"encoder/layer_{layer}/") + "ffn/linear_0/weight" in variables:
        attention = _linear_or_norm(variables, f"{prefix}self_attention/linear_0", "")
        for kind in ("weight", "bias"):
            for name, part in zip(("query", "key", "value"), np.split(attention[f".{kind}"], 3), strict=True):
                tensors[f"encoder.layer.{layer}.attention.self.{name}.{kind}"] = part
        for theirs, ours in _PARTS.items():
            tensors |= _linear_or_norm(variables, prefix + theirs, f"encoder.layer.{layer}.{ours}")
        layer += 1
    return tensors


def _linear_or_norm(variables: dict[str, Float32s], theirs: str, ours: str) -> dict[str, Float32s]:
    if f"{theirs}/gamma" in variables:
        return {f"{ours}.weight": variables[f"{theirs}/gamma"], f"{ours}.bias": variables[f"{theirs}/beta"]}
    return {f"{ours}.weight": _weight(variables, theirs), f"{ours}.bias": variables[f"{theirs}/bias"]}


def _weight(variables: dict[str, Float32s], name: str) -> Float32s:
    weight = variables[f"{name}/weight"].astype(np.float32)
    scale = variables.get(f"{name}/weight_scale")
    return weight if scale is None else weight / scale[:, None]


def _read_model(path: Path) -> dict[str, Float32s]:
    """The variables of a model.bin of CTranslate2, by name."""
    try:
        return read_variables(path, _VERSION)
    except (struct.error, ValueError, IndexError, KeyError) as error:
        raise ModelError(
            f"the weights cannot be read ({error})", file=path, remedy="Convert the model again."
        ) from None
