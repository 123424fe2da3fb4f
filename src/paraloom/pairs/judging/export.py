"""Write a judge as a folder that ONNX Runtime reads: graph, tokenizer and configuration."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from paraloom.core.array_types import Float32s
from paraloom.core.errors import MissingExtraError, ModelError
from paraloom.io.atomic import atomic_write
from paraloom.pairs.judging.network import OUTPUTS, JudgeNetwork, JudgeShape

GRAPH, TOKENIZER, CONFIG = "model.onnx", "tokenizer.json", "config.json"
JUDGE_TYPE = "paraloom-judge"
SPECIAL_TOKENS = ("pad_token", "cls_token", "sep_token")
_OPSET = 17


def export_judge(
    network: JudgeNetwork,
    tokenizer: Mapping[str, object],
    special_tokens: Mapping[str, str],
    folder: Path,
    *,
    calibration: Mapping[str, tuple[float, float]] | None = None,
) -> None:
    """Write the folder of a judge, with weights and activations in eight bits."""
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
        "model_type": JUDGE_TYPE,
        "id2label": {str(index): name for index, name in enumerate(OUTPUTS)},
        "problem_type": "multi_label_classification",
        "max_position_embeddings": network.shape.positions,
        "num_attention_heads": network.shape.heads,
        "calibration": {name: list(values) for name, values in (calibration or {}).items()},
    }
    written = {
        CONFIG: config,
        TOKENIZER: {**tokenizer, "padding": None, "truncation": None},
        "tokenizer_config.json": {
            **{name: special_tokens[name] for name in SPECIAL_TOKENS if name in special_tokens},
            "model_input_names": names,
            "model_max_length": network.shape.positions,
        },
    }
    for name, content in written.items():
        with atomic_write(folder / name) as temporary:
            indent = None if name == TOKENIZER else 1
            temporary.write_text(json.dumps(content, ensure_ascii=False, indent=indent) + "\n", encoding="utf-8")


def _rounded_weights(graph: Path) -> dict[str, Float32s]:
    """The weights of a graph by their names in the network; those in eight bits as float32, too."""
    import onnx
    from onnx import numpy_helper

    content = onnx.load(graph).graph
    stored = {item.name: numpy_helper.to_array(item) for item in content.initializer}
    state = {name: value for name, value in stored.items() if value.dtype == np.float32 and value.ndim == 1}
    for node in content.node:
        name = next((name for name in node.input if name.endswith("_quantized") and name in stored), None)
        if name is None:
            continue
        scale, zero = (stored[name.replace("_quantized", end)] for end in ("_scale", "_zero_point"))
        weight = (stored[name].astype(np.float32) - zero.astype(np.float32)) * scale
        module = node.name.strip("/").split("/")[:-1]
        state[".".join([*module, "weight"])] = weight if node.op_type == "Gather" else weight.T
    return state


def read_judge(folder: Path) -> JudgeNetwork:
    """Network of a folder that `export_judge` wrote, with its weights as they were rounded."""
    import torch

    state = _rounded_weights(folder / GRAPH)
    try:
        layers = 1 + max(int(name.split(".")[1]) for name in state if name.startswith("layers."))
        (tokens, width), hidden = state["words.weight"].shape, len(state["layers.0.widened.bias"])
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        shape = JudgeShape(
            tokens, layers, width, int(config["num_attention_heads"]), hidden, len(state["places.weight"])
        )
        network = JudgeNetwork(shape, dropout=0.0)
        network.load_state_dict({name: torch.tensor(state[name]) for name in network.state_dict()})
    except (KeyError, ValueError, RuntimeError):
        raise ModelError(
            "the weights of the judge are not those that this version writes",
            file=folder / GRAPH,
            remedy="Train it again, or start from a sentence-transformers model.",
        ) from None
    return network
