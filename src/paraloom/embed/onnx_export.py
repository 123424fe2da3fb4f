"""Export of an encoder as an ONNX graph, from the ids of a text's units to its vector, for any runtime."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.errors import ConfigError, MissingExtraError
from paraloom.embed.average import Average, SentenceEncoder
from paraloom.embed.recurrent import Recurrent, padded
from paraloom.embed.spec import PARTS
from paraloom.io.atomic import atomic_folder

FILE = "model.onnx"
OPSET = 17
"""Version of the operators, the first one with LayerNormalization."""

# Bytes of a protocol buffer, and so of a graph with its tensors, at most.
_MAX_BYTES = 2**31 - 2**20

# The order of gates: torch has (input, forget, cell, output) and (reset, update, new), ONNX this one.
_LSTM_GATES, _GRU_GATES = (0, 3, 1, 2), (1, 0, 2)


def export_onnx(encoder: SentenceEncoder, folder: str | Path) -> None:
    """Write `model.onnx`, the vocabularies and config.json into a folder, which appears complete or not at all.

    The graph has an input `<unit>_rows` for each kind of unit (word, trigram, subword): int64 `(n, t)`, one text per
    line, the rows of its known units in the vocabulary, padded with -1; `onnx_inputs` creates them. The output
    `vectors` is float32 `(n, d)`, equal to `encode` up to rounding. n must be 1 or more: recurrent layers of
    onnxruntime crash on 0.
    """
    size = sum(tensor.nbytes for part in encoder.parts.values() for tensor in part.tensors.values())
    if size > _MAX_BYTES:
        raise ConfigError(
            f"the encoder has {size:,} bytes, more than the 2 GiB of an ONNX file",
            remedy="Quantize it, or train a smaller one.",
        )
    model = _model(encoder)
    config = {
        "signature": encoder.signature,
        "spec": str(encoder.spec),
        "dimension": encoder.dimension,
        "inputs": {f"{unit}_rows": f"{unit}.vocabulary.txt" for unit in _part_of_unit(encoder)},
    }
    with atomic_folder(folder, FILE) as partial:
        (partial / FILE).write_bytes(model.SerializeToString())
        for unit, part in _part_of_unit(encoder).items():
            lines = "".join(f"{entry}\n" for entry in part.vocabulary.entries)
            (partial / f"{unit}.vocabulary.txt").write_text(lines, encoding="utf-8")
        (partial / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def onnx_inputs(encoder: SentenceEncoder, texts: Sequence[str]) -> dict[str, npt.NDArray[np.int64]]:
    """The inputs of the graph for n texts."""
    inputs = {}
    for unit, part in _part_of_unit(encoder).items():
        lists = part.vocabulary.row_lists(pa.array(texts, pa.large_string()))
        # At least one column: a recurrent layer needs a step.
        inputs[f"{unit}_rows"] = np.full((len(texts), 1), -1, np.int64)
        if len(lists.rows):
            rows, mask = padded(lists, np.arange(len(texts)))
            inputs[f"{unit}_rows"] = np.where(mask, rows, -1)
    return inputs


def _part_of_unit(encoder: SentenceEncoder) -> dict[str, Any]:
    """A part for each kind of unit; the parts of one kind share a vocabulary."""
    return {PARTS[name].unit: encoder.parts[name] for name in encoder.spec.parts}


@dataclass
class Graph:
    """Nodes and tensors of a graph under construction; values are referred to by name."""

    nodes: list[Any] = field(default_factory=list)
    tensors: list[Any] = field(default_factory=list)

    def tensor(self, value: npt.NDArray[Any]) -> str:
        from onnx import numpy_helper

        name = f"tensor_{len(self.tensors)}"
        self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> list[str]:
        from onnx import helper

        names = [f"{kind.lower()}_{len(self.nodes)}_{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names

    def of(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one output; returns its name."""
        return self.node(kind, *inputs, **attributes)[0]

    def integers(self, *values: int) -> str:
        return self.tensor(np.array(values, np.int64))

    def model(self, inputs: Sequence[Any], dimension: int) -> Any:
        """The model, checked; its output is `vectors`, float32 `(texts, dimension)`."""
        from onnx import TensorProto, checker, helper

        output = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", dimension])
        model = helper.make_model(
            helper.make_graph(self.nodes, "encoder", list(inputs), [output], self.tensors),
            opset_imports=[helper.make_opsetid("", OPSET)],
            producer_name="paraloom",
            ir_version=8,
        )
        checker.check_model(model)
        return model


@dataclass(frozen=True)
class _Lists:
    """Names of the values that are derived from one input.

    Args:
        rows: int64 `(n, t)`, padded with 0.
        weights: float32 `(n, t, 1)`, 1 / length of the text for each of its units, padded with 0.
        lengths: int32 `(n,)`.
    """

    rows: str
    weights: str
    lengths: str


def _model(encoder: SentenceEncoder) -> Any:
    try:
        from onnx import TensorProto, helper
    except ImportError:
        raise MissingExtraError.for_verb("export --onnx", "onnx") from None

    graph = Graph()
    lists = {unit: _read_input(graph, f"{unit}_rows") for unit in _part_of_unit(encoder)}
    blocks = []
    for block in encoder.spec.blocks:
        summands = [_part(graph, encoder.parts[name], lists[PARTS[name].unit]) for name in block]
        blocks.append(graph.of("Sum", *summands))
    graph.nodes.append(helper.make_node("Concat", blocks, ["vectors"], axis=1))
    inputs = [helper.make_tensor_value_info(f"{unit}_rows", TensorProto.INT64, ["texts", f"{unit}s"]) for unit in lists]
    return graph.model(inputs, encoder.dimension)


def _read_input(graph: Graph, rows: str) -> _Lists:
    from onnx import TensorProto

    zero = graph.tensor(np.array(0, np.int64))
    known = graph.of("Cast", graph.of("GreaterOrEqual", rows, zero), to=TensorProto.FLOAT)
    counts = graph.of("ReduceSum", known, graph.integers(1), keepdims=1)
    # A text without units has the zero vector, not 0 / 0.
    weights = graph.of("Div", known, graph.of("Max", counts, graph.tensor(np.array([[1]], np.float32))))
    lengths = graph.of("Cast", graph.of("Squeeze", counts, graph.integers(1)), to=TensorProto.INT32)
    return _Lists(
        graph.of("Max", rows, zero),
        graph.of("Unsqueeze", weights, graph.integers(2)),
        lengths,
    )


def _part(graph: Graph, part: Any, lists: _Lists) -> str:
    """Name of the vectors of a part, float32 `(n, d)`."""
    from onnx import TensorProto

    vectors = graph.of("Gather", graph.tensor(part.tensors["table"]), lists.rows)
    if isinstance(part, Average):
        if part.table.dtype == np.int8:
            scale = graph.of("Gather", graph.tensor(part.scales[:, None]), lists.rows)
            vectors = graph.of("Mul", graph.of("Cast", vectors, to=TensorProto.FLOAT), scale)
        return _mean(graph, vectors, lists)
    if not isinstance(part, Recurrent):
        raise ConfigError(f"a part of type {type(part).__name__} cannot be exported to ONNX")
    weights = {name.removeprefix("network."): value for name, value in part.tensors.items() if name != "table"}
    kind = type(part.network).__name__.lower()
    if kind == "gru":
        last = _recurrent(graph, "GRU", vectors, lists, weights, "reader", "forward")[1]
        return graph.of("Squeeze", last, graph.integers(0))
    if kind == "pgru":
        return _pgru(graph, vectors, lists, weights)
    if kind == "blstm":
        directions = (("reader", "forward"), ("backward_reader", "reverse"))
        states = [_states(graph, vectors, lists, weights, *direction) for direction in directions]
        both = graph.of("Add", *(_mean(graph, sequence, lists) for sequence in states))
        return graph.of("Mul", both, graph.tensor(np.array([0.5], np.float32)))
    lstm_states = _states(graph, vectors, lists, weights)
    if kind == "lstm":
        return _mean(graph, lstm_states, lists)
    if kind != "gran":
        raise ConfigError(f"a network of type {type(part.network).__name__} cannot be exported to ONNX")
    from_word = graph.of("MatMul", vectors, graph.tensor(weights["from_word.weight"].T))
    from_state = graph.of("MatMul", lstm_states, graph.tensor(weights["from_state.weight"].T))
    gate = graph.of("Sigmoid", graph.of("Sum", from_word, from_state, graph.tensor(weights["from_word.bias"])))
    return _mean(graph, graph.of("Mul", vectors, gate), lists)


def _pgru(graph: Graph, vectors: str, lists: _Lists, weights: Mapping[str, Any]) -> str:
    """Name of the last states of PGRU's network, which ONNX's GRU computes with the update gate reversed."""
    z, r, word = np.split(weights["from_word.weight"], 3)
    z_state, r_state = np.split(weights["from_state.weight"], 2)
    tensors = (
        np.concatenate([-z, r, word])[None],
        np.concatenate([-z_state, r_state, weights["candidate.weight"]])[None],
        np.zeros((1, 6 * len(z)), np.float32),
    )
    inputs = [graph.of("Transpose", vectors, perm=[1, 0, 2]), *map(graph.tensor, tensors), lists.lengths]
    last = graph.node("GRU", *inputs, outputs=2, hidden_size=len(z), direction="forward")[1]
    return graph.of("Squeeze", last, graph.integers(0))


def _mean(graph: Graph, vectors: str, lists: _Lists) -> str:
    return graph.of("ReduceSum", graph.of("Mul", vectors, lists.weights), graph.integers(1), keepdims=0)


def _states(
    graph: Graph,
    vectors: str,
    lists: _Lists,
    weights: Mapping[str, Any],
    reader: str = "reader",
    direction: str = "forward",
) -> str:
    """Name of the states of an LSTM, float32 `(n, t, d)`."""
    states = _recurrent(graph, "LSTM", vectors, lists, weights, reader, direction)[0]
    return graph.of("Transpose", graph.of("Squeeze", states, graph.integers(1)), perm=[1, 0, 2])


def _recurrent(
    graph: Graph,
    kind: str,
    vectors: str,
    lists: _Lists,
    weights: Mapping[str, Any],
    reader: str,
    direction: str,
) -> list[str]:
    """Names of all states `(t, 1, n, d)` and the last ones `(1, n, d)` of a recurrent layer of torch."""
    order = _LSTM_GATES if kind == "LSTM" else _GRU_GATES

    def gates(name: str) -> npt.NDArray[np.float32]:
        parts = np.split(weights[f"{reader}.{name}_l0"], len(order))
        return np.concatenate([parts[gate] for gate in order])

    width = weights[f"{reader}.weight_hh_l0"].shape[1]
    tensors = (
        gates("weight_ih")[None],
        gates("weight_hh")[None],
        np.concatenate([gates("bias_ih"), gates("bias_hh")])[None],
    )
    inputs = [graph.of("Transpose", vectors, perm=[1, 0, 2]), *map(graph.tensor, tensors), lists.lengths]
    more = {"linear_before_reset": 1} if kind == "GRU" else {}
    return graph.node(kind, *inputs, outputs=2, hidden_size=width, direction=direction, **more)
