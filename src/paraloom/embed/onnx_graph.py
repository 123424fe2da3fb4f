"""Graphs of ONNX under construction: nodes and tensors by name, and the parts that several exports share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto

OPSET = 17  # Version of the operators, the first one with LayerNormalization


@dataclass
class Graph:
    nodes: list[NodeProto] = field(default_factory=list)
    tensors: list[TensorProto] = field(default_factory=list)

    def tensor(self, value: npt.NDArray[np.generic]) -> str:
        from onnx import numpy_helper

        name = f"tensor_{len(self.tensors)}"
        self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def of(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one output; returns its name."""
        from onnx import helper

        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def integers(self, *values: int) -> str:
        return self.tensor(np.array(values, np.int64))

    def model(self, inputs: Sequence[ValueInfoProto], dimension: int) -> ModelProto:
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
class Lists:
    """Names of the values that are derived from one input."""

    rows: str  # int64 `(n, t)`, padded with 0
    weights: str  # float32 `(n, t, 1)`, 1 / length of the text for each of its tokens, padded with 0


def mean(graph: Graph, vectors: str, lists: Lists) -> str:
    """Name of the mean vectors of the texts, float32 `(n, d)`."""
    return graph.of("ReduceSum", graph.of("Mul", vectors, lists.weights), graph.integers(1), keepdims=0)
