"""Export of a small transformer as an ONNX graph, from the ids of a text's tokens to its vector, for any runtime."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from paraloom.core.array_types import Float32s
from paraloom.core.errors import imports_of_extra
from paraloom.embed.onnx_export import FILE
from paraloom.embed.onnx_graph import Graph
from paraloom.embed.transformer_network import LAYER_NORM_EPS, TransformerNetwork
from paraloom.embed.transformer_store import NetworkEncoder
from paraloom.io.atomic import atomic_folder


def export_transformer_onnx(encoder: NetworkEncoder, folder: str | Path) -> None:
    """Write `model.onnx`, from `input_ids` and `attention_mask` (n, t) to `vectors` (n, d), and the tokenizer."""
    with imports_of_extra("onnx", "export --onnx"):
        from onnx import TensorProto, helper
    shape = encoder.network.shape
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    graph = Graph()
    _add_network(graph, encoder.network)
    model = graph.model(inputs, shape.dimension)
    config = {
        "signature": encoder.signature,
        "dimension": shape.dimension,
        "max_length": shape.max_length,
        "inputs": {name: "tokenizer.json" for name in ("input_ids", "attention_mask")},
    }
    with atomic_folder(folder, FILE) as partial:
        (partial / FILE).write_bytes(model.SerializeToString())
        (partial / "tokenizer.json").write_text(encoder.tokenizer.to_str(), encoding="utf-8")
        (partial / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _add_network(graph: Graph, network: TransformerNetwork) -> None:
    from onnx import TensorProto, helper

    shape = network.shape
    state = {name: value.detach().numpy() for name, value in network.state_dict().items()}
    head = shape.width // shape.heads
    length = graph.of("Gather", graph.of("Shape", "input_ids"), graph.integers(1))
    positions = graph.of("Slice", graph.tensor(state["positions.weight"]), graph.integers(0), length, graph.integers(0))
    words = graph.of("Gather", graph.tensor(state["words.weight"]), "input_ids")
    x = _norm(graph, state, "embedding_norm", graph.of("Add", words, positions))

    mask = graph.of("Cast", "attention_mask", to=TensorProto.FLOAT)
    # 0 for a token, -10,000 for padding: (n, 1, 1, t).
    one = graph.tensor(_number(1))
    padding = graph.of("Mul", graph.of("Sub", mask, one), graph.tensor(_number(1e4)))
    bias = graph.of("Unsqueeze", padding, graph.integers(1, 2))
    into_heads = graph.integers(0, 0, 3, shape.heads, head)
    for index in range(shape.layers):
        prefix = f"layers.{index}."
        heads = graph.of("Reshape", _linear(graph, state, f"{prefix}query_key_value", x), into_heads)
        heads = graph.of("Transpose", heads, perm=[2, 0, 3, 1, 4])
        query, key, value = (_part(graph, heads, part) for part in range(3))
        scaled = graph.of("Mul", query, graph.tensor(_number(head**-0.5)))
        logits = graph.of("MatMul", scaled, graph.of("Transpose", key, perm=[0, 1, 3, 2]))
        weights = graph.of("Softmax", graph.of("Add", logits, bias), axis=-1)
        attended = graph.of("Transpose", graph.of("MatMul", weights, value), perm=[0, 2, 1, 3])
        attended = graph.of("Reshape", attended, graph.integers(0, 0, shape.width))
        attended = _linear(graph, state, f"{prefix}attention_output", attended)
        x = _norm(graph, state, f"{prefix}attention_norm", graph.of("Add", x, attended))
        hidden = _gelu(graph, _linear(graph, state, f"{prefix}intermediate", x))
        hidden = _linear(graph, state, f"{prefix}output", hidden)
        x = _norm(graph, state, f"{prefix}output_norm", graph.of("Add", x, hidden))

    shares = graph.of("Div", mask, graph.of("ReduceSum", mask, graph.integers(1), keepdims=1))
    mean = graph.of(
        "Squeeze", graph.of("MatMul", graph.of("Unsqueeze", shares, graph.integers(1)), x), graph.integers(1)
    )
    product = graph.of("MatMul", mean, graph.tensor(state["dense.weight"].T))
    graph.nodes.append(helper.make_node("Add", [product, graph.tensor(state["dense.bias"])], ["vectors"]))


def _number(value: float) -> Float32s:
    return np.array([value], np.float32)


def _part(graph: Graph, x: str, index: int) -> str:
    """One of the entries along the first axis."""
    return graph.of("Squeeze", graph.of("Gather", x, graph.integers(index), axis=0), graph.integers(0))


def _linear(graph: Graph, state: Mapping[str, Float32s], name: str, x: str) -> str:
    product = graph.of("MatMul", x, graph.tensor(state[f"{name}.weight"].T))
    return graph.of("Add", product, graph.tensor(state[f"{name}.bias"]))


def _norm(graph: Graph, state: Mapping[str, Float32s], name: str, x: str) -> str:
    tensors = graph.tensor(state[f"{name}.weight"]), graph.tensor(state[f"{name}.bias"])
    return graph.of("LayerNormalization", x, *tensors, axis=-1, epsilon=LAYER_NORM_EPS)


def _gelu(graph: Graph, x: str) -> str:
    """x · Φ(x), of which Erf gives Φ."""
    erf = graph.of("Erf", graph.of("Mul", x, graph.tensor(_number(0.5**0.5))))
    half = graph.of("Mul", x, graph.tensor(_number(0.5)))
    return graph.of("Mul", half, graph.of("Add", erf, graph.tensor(_number(1))))
