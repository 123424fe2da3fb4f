"""Export of an encoder as an ONNX graph, from the ids of a text's tokens to its vector, for any runtime."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paraloom.core.array_types import Ints
from paraloom.core.errors import ConfigError, imports_of_extra
from paraloom.embed.average import Average, SentenceEncoder
from paraloom.embed.onnx_graph import Graph, Lists, mean
from paraloom.embed.spec import PARTS
from paraloom.embed.vocabulary import Vocabulary, padded
from paraloom.io.atomic import atomic_folder

if TYPE_CHECKING:
    from onnx import ModelProto

    from paraloom.embed.average import Part

FILE = "model.onnx"
# Bytes of a protocol buffer, and so of a graph with its tensors, at most.
_MAX_BYTES = 2**31 - 2**20


def export_onnx(encoder: SentenceEncoder, folder: str | Path) -> None:
    """Write `model.onnx`, from `<unit>_rows` (n, t), padded with -1, to `vectors` (n, d), and its vocabularies."""
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


def onnx_inputs(encoder: SentenceEncoder, texts: Sequence[str]) -> dict[str, Ints]:
    parts = _part_of_unit(encoder)
    return {f"{unit}_rows": padded_rows(part.vocabulary, texts) for unit, part in parts.items()}


def padded_rows(vocabulary: Vocabulary, texts: Sequence[str]) -> Ints:
    """The rows of each text's known units, padded with -1; at least one column, also where no text has any."""
    lists = vocabulary.row_lists(pa.array(texts, pa.large_string()))
    if not len(lists.rows):
        return np.full((len(texts), 1), -1, np.int64)
    rows, mask = padded(lists, np.arange(len(texts)))
    return np.where(mask, rows, -1)


def _part_of_unit(encoder: SentenceEncoder) -> dict[str, Part]:
    """A part for each kind of unit; the parts of one kind share a vocabulary."""
    return {PARTS[name].unit: encoder.parts[name] for name in encoder.spec.parts}


def _model(encoder: SentenceEncoder) -> ModelProto:
    with imports_of_extra("onnx", "export --onnx"):
        from onnx import TensorProto, helper
    graph = Graph()
    lists = {unit: _read_input(graph, f"{unit}_rows") for unit in _part_of_unit(encoder)}
    blocks = []
    for block in encoder.spec.blocks:
        summands = [_part(graph, name, encoder.parts[name], lists[PARTS[name].unit]) for name in block]
        blocks.append(graph.of("Sum", *summands))
    graph.nodes.append(helper.make_node("Concat", blocks, ["vectors"], axis=1))
    inputs = [helper.make_tensor_value_info(f"{unit}_rows", TensorProto.INT64, ["texts", f"{unit}s"]) for unit in lists]
    return graph.model(inputs, encoder.dimension)


def _read_input(graph: Graph, rows: str) -> Lists:
    from onnx import TensorProto

    zero = graph.tensor(np.array(0, np.int64))
    known = graph.of("Cast", graph.of("GreaterOrEqual", rows, zero), to=TensorProto.FLOAT)
    counts = graph.of("ReduceSum", known, graph.integers(1), keepdims=1)
    # A text without units has the zero vector, not 0 / 0.
    weights = graph.of("Div", known, graph.of("Max", counts, graph.tensor(np.array([[1]], np.float32))))
    return Lists(graph.of("Max", rows, zero), graph.of("Unsqueeze", weights, graph.integers(2)))


def _part(graph: Graph, name: str, part: Part, lists: Lists) -> str:
    """Name of the vectors of a part, float32 `(n, d)`."""
    from onnx import TensorProto

    vectors = graph.of("Gather", graph.tensor(part.tensors["table"]), lists.rows)
    if isinstance(part, Average):
        if part.table.dtype == np.int8:
            scale = graph.of("Gather", graph.tensor(part.scales[:, None]), lists.rows)
            vectors = graph.of("Mul", graph.of("Cast", vectors, to=TensorProto.FLOAT), scale)
        return mean(graph, vectors, lists)
    raise ConfigError(
        f"the part '{name}' of type {type(part).__name__} cannot be exported to ONNX",
        remedy="Export an encoder of averages, such as word or word,trigram.",
    )
