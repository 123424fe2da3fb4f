"""An encoder as an ONNX graph, from the rows of a text's units to its vector, for any runtime and language."""

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
from paraloom.embed.ordered import Ordered, padded
from paraloom.embed.parts import PARTS
from paraloom.io.atomic import atomic_folder

FILE = "model.onnx"
_OPSET = 17
_LARGEST = 2**31 - 2**20
"""Bytes of a protocol buffer, and so of a graph with its tensors."""

# torch keeps a recurrent layer's gates as (input, forget, cell, output) and (reset, update, new); ONNX in this order.
_LSTM_GATES, _GRU_GATES = (0, 3, 1, 2), (1, 0, 2)


def export_onnx(encoder: SentenceEncoder, folder: str | Path) -> None:
    """Write `model.onnx`, the vocabularies and their card into a folder, which appears whole or not at all.

    The graph has an input `<unit>_rows` for each kind of unit (word, trigram, subword): int64 (n, t), a text a line,
    the rows of its known units in the vocabulary, −1 behind its end; `unit_rows` makes them.  Its output `vectors` is
    float32 (n, d), what `encode` gives but for rounding.  n is 1 or more: onnxruntime's recurrent layers crash on none.
    Raises ConfigError for an encoder of 2 GiB or more, and where `folder` holds something else.

    >>> export_onnx(load_encoder("encoder"), "onnx")                                   # doctest: +SKIP
    """
    size = sum(tensor.nbytes for part in encoder.parts.values() for tensor in part.tensors.values())
    if size > _LARGEST:
        raise ConfigError(
            f"the encoder has {size:,} bytes, and an ONNX file holds 2 GiB", remedy="Train a smaller one."
        )
    model = _model(encoder)
    card = {
        "signature": encoder.signature,
        "spec": str(encoder.spec),
        "dimension": encoder.dimension,
        "inputs": {f"{unit}_rows": f"{unit}.vocabulary.txt" for unit in _units(encoder)},
    }
    with atomic_folder(folder, FILE) as partial:
        (partial / FILE).write_bytes(model.SerializeToString())
        for unit, part in _units(encoder).items():
            lines = "".join(f"{entry}\n" for entry in part.vocabulary.entries)
            (partial / f"{unit}.vocabulary.txt").write_text(lines, encoding="utf-8")
        (partial / "config.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")


def unit_rows(encoder: SentenceEncoder, texts: Sequence[str]) -> dict[str, npt.NDArray[np.int64]]:
    """The graph's inputs for some texts.

    >>> from paraloom.embed.spec import parse_spec
    >>> from paraloom.embed.vocabulary import Vocabulary
    >>> part = Average(Vocabulary("word", ["a", "dog"]), np.float32([[1, 0], [0, 1]]))
    >>> unit_rows(SentenceEncoder(parse_spec("word"), {"word": part}), ["A dog", "dog", "cat"])
    {'word_rows': array([[ 0,  1],
           [ 1, -1],
           [-1, -1]])}
    """
    found = {}
    for unit, part in _units(encoder).items():
        lists = part.vocabulary.lists(pa.array(texts, pa.large_string()))
        # A column at least: a graph that reads in order has no state of nothing.
        found[f"{unit}_rows"] = np.full((len(texts), 1), -1, np.int64)
        if len(lists.rows):
            rows, mask = padded(lists, np.arange(len(texts)))
            found[f"{unit}_rows"] = np.where(mask, rows, -1)
    return found


def _units(encoder: SentenceEncoder) -> dict[str, Any]:
    """A part for each kind of unit that is read; the parts of one kind share a vocabulary."""
    return {PARTS[name].unit: encoder.parts[name] for name in encoder.spec.parts}


@dataclass
class _Graph:
    """Nodes and tensors as they are put together; a value is known by its name."""

    nodes: list[Any] = field(default_factory=list)
    tensors: list[Any] = field(default_factory=list)

    def tensor(self, value: npt.NDArray[Any]) -> str:
        from onnx import numpy_helper

        name = f"tensor_{len(self.tensors)}"
        self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> list[str]:
        from onnx import helper

        names = [f"{kind.lower()}_{len(self.nodes)}_{place}" for place in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names

    def of(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """The one output of a node."""
        return self.node(kind, *inputs, **attributes)[0]

    def integers(self, *values: int) -> str:
        return self.tensor(np.array(values, np.int64))


@dataclass(frozen=True)
class _Lists:
    """Names of what is known of a unit's input.

    rows: int64 (n, t), 0 behind an end.  shares: float32 (n, t, 1), of each unit in its text, 0 behind its end.
    lengths: int32 (n,).
    """

    rows: str
    shares: str
    lengths: str


def _model(encoder: SentenceEncoder) -> Any:
    try:
        from onnx import TensorProto, checker, helper
    except ImportError:
        raise MissingExtraError.for_verb("export --onnx", "onnx") from None

    graph = _Graph()
    lists = {unit: _read(graph, f"{unit}_rows") for unit in _units(encoder)}
    blocks = []
    for block in encoder.spec.blocks:
        made = [_part(graph, encoder.parts[name], lists[PARTS[name].unit]) for name in block]
        blocks.append(graph.of("Sum", *made))
    graph.nodes.append(helper.make_node("Concat", blocks, ["vectors"], axis=1))
    inputs = [helper.make_tensor_value_info(f"{unit}_rows", TensorProto.INT64, ["texts", f"{unit}s"]) for unit in lists]
    output = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["texts", encoder.dimension])
    model = helper.make_model(
        helper.make_graph(graph.nodes, "encoder", inputs, [output], graph.tensors),
        opset_imports=[helper.make_opsetid("", _OPSET)],
        producer_name="paraloom",
        ir_version=8,
    )
    checker.check_model(model)
    return model


def _read(graph: _Graph, rows: str) -> _Lists:
    from onnx import TensorProto

    zero = graph.tensor(np.array(0, np.int64))
    known = graph.of("Cast", graph.of("GreaterOrEqual", rows, zero), to=TensorProto.FLOAT)
    counts = graph.of("ReduceSum", known, graph.integers(1), keepdims=1)
    # A text without a unit has the zero vector, not 0 / 0.
    shares = graph.of("Div", known, graph.of("Max", counts, graph.tensor(np.array([[1]], np.float32))))
    lengths = graph.of("Cast", graph.of("Squeeze", counts, graph.integers(1)), to=TensorProto.INT32)
    return _Lists(
        graph.of("Max", rows, zero),
        graph.of("Unsqueeze", shares, graph.integers(2)),
        lengths,
    )


def _part(graph: _Graph, part: Any, lists: _Lists) -> str:
    """The name of a part's vectors, float32 (n, d)."""
    from onnx import TensorProto

    vectors = graph.of("Gather", graph.tensor(part.tensors["table"]), lists.rows)
    if isinstance(part, Average):
        if part.table.dtype == np.int8:
            scale = graph.of("Gather", graph.tensor(part.scales[:, None]), lists.rows)
            vectors = graph.of("Mul", graph.of("Cast", vectors, to=TensorProto.FLOAT), scale)
        return _mean(graph, vectors, lists)
    if not isinstance(part, Ordered):
        raise ConfigError(f"there is no ONNX graph of {type(part).__name__}")
    weights = {name.removeprefix("network."): value for name, value in part.tensors.items() if name != "table"}
    kind = type(part.network).__name__.lower()
    if kind == "gru":
        last = _recurrent(graph, "GRU", vectors, lists, weights, "reader", "forward")[1]
        return graph.of("Squeeze", last, graph.integers(0))
    if kind == "blstm":
        ways = (("reader", "forward"), ("backward_reader", "reverse"))
        states = [_states(graph, vectors, lists, weights, *way) for way in ways]
        both = graph.of("Add", *(_mean(graph, each, lists) for each in states))
        return graph.of("Mul", both, graph.tensor(np.array([0.5], np.float32)))
    read = _states(graph, vectors, lists, weights)
    if kind == "lstm":
        return _mean(graph, read, lists)
    from_word = graph.of("MatMul", vectors, graph.tensor(weights["from_word.weight"].T))
    from_state = graph.of("MatMul", read, graph.tensor(weights["from_state.weight"].T))
    gate = graph.of("Sigmoid", graph.of("Sum", from_word, from_state, graph.tensor(weights["from_word.bias"])))
    return _mean(graph, graph.of("Mul", vectors, gate), lists)


def _mean(graph: _Graph, vectors: str, lists: _Lists) -> str:
    return graph.of("ReduceSum", graph.of("Mul", vectors, lists.shares), graph.integers(1), keepdims=0)


def _states(
    graph: _Graph,
    vectors: str,
    lists: _Lists,
    weights: Mapping[str, Any],
    reader: str = "reader",
    direction: str = "forward",
) -> str:
    """The states of an LSTM, float32 (n, t, d)."""
    states = _recurrent(graph, "LSTM", vectors, lists, weights, reader, direction)[0]
    return graph.of("Transpose", graph.of("Squeeze", states, graph.integers(1)), perm=[1, 0, 2])


def _recurrent(
    graph: _Graph,
    kind: str,
    vectors: str,
    lists: _Lists,
    weights: Mapping[str, Any],
    reader: str,
    direction: str,
) -> list[str]:
    """All states (t, 1, n, d) and the last ones (1, n, d) of a recurrent layer of torch."""
    order = _LSTM_GATES if kind == "LSTM" else _GRU_GATES

    def gates(name: str) -> npt.NDArray[np.float32]:
        parts = np.split(weights[f"{reader}.{name}_l0"], len(order))
        return np.concatenate([parts[place] for place in order])

    width = weights[f"{reader}.weight_hh_l0"].shape[1]
    tensors = (
        gates("weight_ih")[None],
        gates("weight_hh")[None],
        np.concatenate([gates("bias_ih"), gates("bias_hh")])[None],
    )
    inputs = [graph.of("Transpose", vectors, perm=[1, 0, 2]), *map(graph.tensor, tensors), lists.lengths]
    more = {"linear_before_reset": 1} if kind == "GRU" else {}
    return graph.node(kind, *inputs, outputs=2, hidden_size=width, direction=direction, **more)
