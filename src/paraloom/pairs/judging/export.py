"""Write a judge as a folder that ONNX Runtime reads: graph, tokenizer and configuration."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paraloom.core.errors import MissingExtraError
from paraloom.io.atomic import atomic_write
from paraloom.pairs.judging.network import OUTPUTS, JudgeNetwork

GRAPH, TOKENIZER, CONFIG = "model.onnx", "tokenizer.json", "config.json"
_OPSET = 17


def export_judge(
    network: JudgeNetwork,
    tokenizer: Mapping[str, Any],
    special_tokens: Mapping[str, str],
    folder: Path,
    *,
    calibration: Mapping[str, tuple[float, float]] | None = None,
) -> None:
    """Write the folder of a judge, with weights and activations in eight bits.

    Args:
        network: The trained network.
        tokenizer: Content of tokenizer.json, with a template for pairs.
        special_tokens: Special tokens by role; `pad_token` is needed.
        folder: Where the files are written.
        calibration: Output → slope and shift of its logit.
    """
    import torch

    try:
        import onnx  # noqa: F401
        from onnxruntime.quantization import QuantType, quantize_dynamic
    except ImportError:
        raise MissingExtraError.for_verb("train judge", "onnx") from None
    folder.mkdir(parents=True, exist_ok=True)
    network = network.cpu().eval()
    example = torch.ones((2, 8), dtype=torch.int64)
    names = ["input_ids", "attention_mask", "token_type_ids"]
    with tempfile.TemporaryDirectory(dir=folder) as scratch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = Path(scratch) / "plain.onnx"
        torch.onnx.export(
            network, (example, example, example % 2), str(plain), input_names=names, output_names=["logits"],
            dynamic_axes={**{name: {0: "pairs", 1: "tokens"} for name in names}, "logits": {0: "pairs"}},
            opset_version=_OPSET, dynamo=False,
        )  # fmt: skip
        with atomic_write(folder / GRAPH) as temporary:
            quantize_dynamic(plain, temporary, weight_type=QuantType.QInt8, per_channel=True)
    config = {
        "model_type": "paraloom-judge",
        "id2label": {str(index): name for index, name in enumerate(OUTPUTS)},
        "problem_type": "multi_label_classification",
        "max_position_embeddings": network.shape.positions,
        "calibration": {name: list(values) for name, values in (calibration or {}).items()},
    }
    written = {
        CONFIG: config,
        TOKENIZER: {**tokenizer, "padding": None, "truncation": None},
        "tokenizer_config.json": {
            "pad_token": special_tokens["pad_token"],
            "model_input_names": names,
            "model_max_length": network.shape.positions,
        },
    }
    for name, content in written.items():
        with atomic_write(folder / name) as temporary:
            indent = None if name == TOKENIZER else 1
            temporary.write_text(json.dumps(content, ensure_ascii=False, indent=indent) + "\n", encoding="utf-8")
