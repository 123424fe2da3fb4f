"""The recurrent networks of encoders as parts of an ONNX graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import ConfigError
from paraloom.embed.onnx_graph import Graph, Lists, mean

# The order of gates: torch has (input, forget, cell, output) and (reset, update, new), ONNX this one.
_LSTM_GATES, _GRU_GATES = (0, 3, 1, 2), (1, 0, 2)


def network_in_graph(graph: Graph, network: str, tensors: Mapping[str, Any], vectors: str, lists: Lists) -> str:
    """Add a network, named by its class, to a graph; returns the name of its vectors, float32 `(n, d)`."""
    weights = {name.removeprefix("network."): value for name, value in tensors.items() if name != "table"}
    kind = network.lower()
    if kind == "gru":
        last = _recurrent(graph, "GRU", vectors, lists, weights, "reader", "forward")[1]
        return graph.of("Squeeze", last, graph.integers(0))
    if kind == "pgru":
        return _pgru(graph, vectors, lists, weights)
    if kind == "blstm":
        directions = (("reader", "forward"), ("backward_reader", "reverse"))
        states = [_states(graph, vectors, lists, weights, *direction) for direction in directions]
        both = graph.of("Add", *(mean(graph, sequence, lists) for sequence in states))
        return graph.of("Mul", both, graph.tensor(np.array([0.5], np.float32)))
    lstm_states = _states(graph, vectors, lists, weights)
    if kind == "lstm":
        return mean(graph, lstm_states, lists)
    if kind != "gran":
        raise ConfigError(f"a network of type {network} cannot be exported to ONNX")
    from_word = graph.of("MatMul", vectors, graph.tensor(weights["from_word.weight"].T))
    from_state = graph.of("MatMul", lstm_states, graph.tensor(weights["from_state.weight"].T))
    gate = graph.of("Sigmoid", graph.of("Sum", from_word, from_state, graph.tensor(weights["from_word.bias"])))
    return mean(graph, graph.of("Mul", vectors, gate), lists)


def _pgru(graph: Graph, vectors: str, lists: Lists, weights: Mapping[str, Any]) -> str:
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


def _states(
    graph: Graph,
    vectors: str,
    lists: Lists,
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
    lists: Lists,
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
