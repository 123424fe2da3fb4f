"""Recurrent networks in files: weights as safetensors, and sizes as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save

from paraloom.core.errors import ModelError
from paraloom.io.atomic import atomic_write
from paraloom.papers.pnmt.lstm import LstmNetwork
from paraloom.papers.scpn.network import RecurrentNetwork
from paraloom.papers.scpn.paraphrase_generator import ParaphraseGenerator
from paraloom.papers.scpn.parse_generator import ParseGenerator

NETWORKS: dict[str, type[RecurrentNetwork]] = {
    kind.kind: kind for kind in (LstmNetwork, ParaphraseGenerator, ParseGenerator)
}
"""Kind → class."""

_AGAIN = "Copy the whole model folder, or train it again."


def save_network(network: RecurrentNetwork, folder: Path, *, max_target: int) -> None:
    """Write KIND.safetensors and KIND.json."""
    weights = {name: value.detach().cpu().contiguous() for name, value in network.state_dict().items()}
    with atomic_write(folder / f"{network.kind}.safetensors") as temporary:
        temporary.write_bytes(save(weights))
    with atomic_write(folder / f"{network.kind}.json") as temporary:
        values = {"sizes": network.sizes(), "max_target": max_target}
        temporary.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")


def load_network(folder: Path, kind: str, device: torch.device | str = "cpu") -> tuple[RecurrentNetwork, int]:
    """Read what `save_network` wrote."""
    weights, sizes = folder / f"{kind}.safetensors", folder / f"{kind}.json"
    for path in (weights, sizes):
        if not path.is_file():
            raise ModelError(f"{path.name} not found", file=folder, remedy=_AGAIN)
    try:
        values = json.loads(sizes.read_text(encoding="utf-8"))
        network = NETWORKS[kind](**values["sizes"])
        max_target = int(values["max_target"])
    except (ValueError, KeyError, TypeError, RuntimeError) as error:
        raise ModelError(f"{sizes.name} is damaged: {error}", file=folder, remedy=_AGAIN) from None
    try:
        network.load_state_dict(load_file(weights))
    except (SafetensorError, RuntimeError, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ModelError(f"{weights.name} is damaged: {reason}", file=folder, remedy=_AGAIN) from None
    return network.to(device).eval(), max_target
