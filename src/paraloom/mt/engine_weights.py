"""A translator's weights, read back from its CTranslate2 file: what a training starts from without a checkpoint."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from paraloom.core.engine_files import read_variables
from paraloom.core.errors import ModelError
from paraloom.mt.checkpoint import CHECKPOINT, save_checkpoint
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.network import EMBEDDING, new_model
from paraloom.mt.subwords import PADDING

_ACTIVATIONS = {0: "relu", 2: "swish"}

_PARTS = {
    "self_attention/linear_0": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "self_attention/linear_1": ("self_attn.out_proj",),
    "self_attention/layer_norm": ("self_attn_layer_norm",),
    "attention/linear_0": ("encoder_attn.q_proj",),
    "attention/linear_1": ("encoder_attn.k_proj", "encoder_attn.v_proj"),
    "attention/linear_2": ("encoder_attn.out_proj",),
    "attention/layer_norm": ("encoder_attn_layer_norm",),
    "ffn/linear_0": ("fc1",),
    "ffn/linear_1": ("fc2",),
    "ffn/layer_norm": ("final_layer_norm",),
}
"""CTranslate2's names of parts of a layer → Marian's."""


def with_checkpoint(folder: Path, scratch: Path) -> Path:
    """The folder of a translator itself if it has a checkpoint; else `scratch`, with one of its converted weights."""
    if (folder / CHECKPOINT).is_dir() or not (folder / "model.bin").is_file():
        return folder
    if not (scratch / CHECKPOINT / "model.safetensors").is_file():
        _restore(folder, scratch)
    return scratch


def _restore(folder: Path, scratch: Path) -> None:
    weights = dict(_read(folder / "model.bin"))
    vocabulary = folder / "shared_vocabulary.json"
    marian = "decoder/start_from_zero_embedding" in weights and not weights["encoder/pre_norm"]
    activation = _ACTIVATIONS.get(int(weights.get("encoder/activation", -1)))
    if not (marian and activation and vocabulary.is_file() and (folder / "source.spm").is_file()):
        raise ModelError(
            "its weights are not those of a translator that Paraloom trained",
            file=folder,
            remedy="Start from one that Paraloom trained, such as de-en, or from none.",
        )
    embedding = weights["decoder/embeddings/weight"]
    config = TranslatorConfig(
        d_model=embedding.shape[1],
        heads=int(weights["encoder/num_heads"]),
        encoder_layers=_layers(weights, "encoder"),
        decoder_layers=_layers(weights, "decoder"),
        ffn_dim=weights["encoder/layer_0/ffn/linear_0/bias"].shape[0],
        activation=activation,
    )
    model = new_model(config, len(embedding) + 1, seed=0)
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        parameters[EMBEDDING][:-1].copy_(torch.from_numpy(embedding))  # <pad> stays zero
        for side in ("encoder", "decoder"):
            for layer in range(_layers(weights, side)):
                for part, names in _PARTS.items():
                    for own, theirs in (("weight", "weight"), ("bias", "bias"), ("weight", "gamma"), ("bias", "beta")):
                        value = weights.get(f"{side}/layer_{layer}/{part}/{theirs}")
                        if value is not None:
                            for name, rows in zip(names, np.split(value, len(names)), strict=True):
                                parameters[f"model.{side}.layers.{layer}.{name}.{own}"].copy_(torch.from_numpy(rows))
    subwords = scratch / "pieces"
    subwords.mkdir(parents=True, exist_ok=True)
    pieces = [*json.loads(vocabulary.read_text(encoding="utf-8")), PADDING]
    (subwords / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}), encoding="utf-8")
    for name in ("source.spm", "target.spm"):
        shutil.copyfile(folder / name, subwords / name)
    save_checkpoint(model, scratch / CHECKPOINT, subwords)


def _layers(weights: dict[str, np.ndarray], side: str) -> int:
    return len({name.split("/")[1] for name in weights if name.startswith(f"{side}/layer_")})


def _read(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Names and values of the variables of a model.bin; int8 ones are divided by their scales, one per row."""
    try:
        read = read_variables(path)
    except (struct.error, KeyError, ValueError, IndexError):
        raise ModelError(
            "its weights cannot be read", file=path, remedy="Start from weights in int8, float16 or float32."
        ) from None
    for name, value in read.items():
        scale = read.get(f"{name}_scale")
        yield name, value if scale is None else (value / scale[:, None]).astype(np.float32)
