"""Averages of checkpoints: one translator whose weights are the mean of those of several."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paraloom.core.errors import MissingExtraError, ModelError
from paraloom.io.atomic import disk_full_as_error
from paraloom.mt.checkpoint import CHECKPOINT, check_precision, convert, copy_file
from paraloom.mt.ensemble import check_members, find_checkpoint
from paraloom.mt.shortlist import SHORTLIST_FILE


def average_checkpoints(models: Sequence[str | Path], folder: str | Path, *, precision: str = "int8") -> dict[str, Any]:
    """Write a translator whose weights are the mean of those of several.

    That works for checkpoints of one training, or of trainings that started from the same weights. It costs nothing in
    decoding, and gives part of what an ensemble does.

    Reference:
        Junczys-Dowmunt, Dwojak and Sennrich (2016), "The AMU-UEDIN submission to the WMT16 news translation task",
        §3.2; Vaswani et al. (2017), §6.1, average the last 5 to 20 checkpoints.
    """
    check_precision(precision)
    try:
        from safetensors.torch import save
    except ImportError:
        raise MissingExtraError.for_verb("averaging checkpoints", "train") from None
    folder = Path(folder)
    checkpoints = [find_checkpoint(model) for model in models]
    check_members(checkpoints)
    weights = mean_weights([checkpoint / "model.safetensors" for checkpoint in checkpoints])
    own = folder / CHECKPOINT
    own.mkdir(parents=True, exist_ok=True)
    for path in sorted(path for path in checkpoints[0].iterdir() if path.suffix in (".json", ".spm")):
        shutil.copyfile(path, own / path.name)
    with disk_full_as_error(folder):
        (own / "model.safetensors").write_bytes(save(weights, metadata={"format": "pt"}))
    engine = folder / "engine"
    convert(own, engine, precision=precision)
    for path in sorted(engine.iterdir()):
        path.replace(folder / path.name)
    engine.rmdir()
    _copy_card(checkpoints[0], folder)
    parameters = sum(value.numel() for name, value in weights.items() if "embed_positions" not in name)
    return {"models": len(checkpoints), "parameters": parameters}


def mean_weights(files: Sequence[Path]) -> dict[str, Any]:
    """The mean of each tensor of several files, summed in float64."""
    import torch
    from safetensors import safe_open

    sums: dict[str, Any] = {}
    for number, path in enumerate(files):
        with safe_open(path, "pt") as stored:
            names = set(stored.keys())
            if number and names != set(sums):
                other = sorted(names ^ set(sums))[0]
                raise ModelError(
                    f"'{other}' is not in all checkpoints", file=path, remedy="Average models of one shape."
                )
            for name in sorted(names):
                value = stored.get_tensor(name)
                if number and value.shape != sums[name].shape:
                    raise ModelError(
                        f"'{name}' has the shape {tuple(value.shape)}, not {tuple(sums[name].shape)} as in the first",
                        file=path,
                        remedy="Average models of one shape.",
                    )
                if not value.is_floating_point():
                    sums[name] = value
                elif number:
                    sums[name] += value.double()
                else:
                    sums[name] = value.double()
    return {
        name: (value / len(files)).float() if value.dtype == torch.float64 else value for name, value in sums.items()
    }


def _copy_card(checkpoint: Path, folder: Path) -> None:
    """Take over the languages and the shortlist of the first translator, where Paraloom trained it."""
    if checkpoint.name != CHECKPOINT:
        return
    card = checkpoint.parent / "README.md"
    if card.is_file():
        languages = [line for line in card.read_text(encoding="utf-8").splitlines() if line.startswith("| languages |")]
        text = "\n".join(["# An average of checkpoints", "", "| | |", "| --- | --- |", *languages, ""])
        (folder / "README.md").write_text(text, encoding="utf-8")
    if (checkpoint.parent / SHORTLIST_FILE).is_file():
        copy_file(checkpoint.parent / SHORTLIST_FILE, folder / SHORTLIST_FILE)
