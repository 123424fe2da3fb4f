"""Encoders on disk: a folder of safetensors, vocabularies as readable lines, and config.json, written last."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from paraloom import __version__
from paraloom.core.errors import MissingExtraError, ModelError, ParaloomError
from paraloom.embed import model_card as card
from paraloom.embed.average import Average, Part, SentenceEncoder
from paraloom.embed.ordered import Ordered
from paraloom.embed.parts import PARTS
from paraloom.embed.spec import parse_spec
from paraloom.embed.subwords import UNIT as SUBWORD
from paraloom.embed.subwords import SubwordVocabulary
from paraloom.embed.vocabulary import Vocabulary
from paraloom.io.atomic import atomic_write

CONFIG = "config.json"
_FORMAT = 1


def save(encoder: SentenceEncoder, folder: str | Path, training: Mapping[str, Any] | None = None) -> Path:
    """Write the encoder into `folder`; `training`, how it was made, goes into its config.json and its card.

    Each part is `<part>.safetensors` (table, and scales where it is int8) and `<part>.vocabulary.txt` (line i is
    row i); sub-words have their model, `subword.spm`, beside them.  Every file appears whole; config.json comes last,
    and a folder without it is no encoder.
    """
    from safetensors.numpy import save_file

    folder = Path(folder)
    for name, part in encoder.parts.items():
        with atomic_write(folder / f"{name}.safetensors") as temporary:
            save_file({key: np.ascontiguousarray(tensor) for key, tensor in part.tensors.items()}, temporary)
        with atomic_write(folder / f"{name}.vocabulary.txt") as temporary:
            temporary.write_bytes("".join(f"{entry}\n" for entry in part.vocabulary.entries).encode())
        if isinstance(part.vocabulary, SubwordVocabulary):
            with atomic_write(folder / f"{name}.spm") as temporary:
                temporary.write_bytes(part.vocabulary.model)
    config = {
        "format": _FORMAT,
        "spec": str(encoder.spec),
        "part_dimension": encoder.part_dimension,
        "dimension": encoder.dimension,
        "signature": encoder.signature,
        "paraloom": __version__,
        "training": dict(training or {}),
    }
    with atomic_write(folder / card.FILE) as temporary:
        temporary.write_text(card.encoder_card(encoder, training or {}), encoding="utf-8")
    with atomic_write(folder / CONFIG) as temporary:
        temporary.write_text(json.dumps(config, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return folder


def load_encoder(folder: str | Path, threads: int = 1) -> SentenceEncoder:
    """Open an encoder's folder.

    Raises ModelError that names the file which is missing, corrupt, or does not fit the others.
    """
    folder = Path(folder)
    config = _read_config(folder)
    spec = parse_spec(config["spec"])
    parts = {name: _read_part(folder, name, config["part_dimension"]) for name in spec.parts}
    return SentenceEncoder(spec, parts, threads)


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG
    _must_be_there(path)
    try:
        config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        known = config["format"] == _FORMAT and isinstance(config["spec"], str) and config["part_dimension"] > 0
    except (ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise ModelError("this describes no encoder of ours", file=path, remedy="Name a folder that `save` wrote.")
    return config


def _read_part(folder: Path, name: str, dimension: int) -> Part:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    lines, weights = folder / f"{name}.vocabulary.txt", folder / f"{name}.safetensors"
    _must_be_there(lines)
    _must_be_there(weights)
    try:
        vocabulary = _read_vocabulary(folder, name, lines)
        tensors = load_file(weights)
        part = Average(vocabulary, tensors["table"], tensors.get("scales"))
    except UnicodeDecodeError as error:
        raise ModelError("the vocabulary is not valid UTF-8", file=lines) from error
    except (SafetensorError, KeyError) as error:
        raise ModelError(
            f"the vectors cannot be read ({error})", file=weights, remedy="Make the encoder again."
        ) from error
    if part.table.shape != (len(vocabulary), dimension):
        raise ModelError(
            f"the table is {part.table.shape}, where {len(vocabulary)} entries of {dimension} numbers are expected",
            file=weights,
        )
    wanted = [np.dtype(np.int8), np.dtype(np.float32)] if "scales" in tensors else [np.dtype(np.float32)]
    if part.table.dtype not in wanted or part.scales.shape != (len(vocabulary),) or part.scales.dtype != np.float32:
        raise ModelError("the vectors are neither float32, nor int8 with a float32 scale a row", file=weights)
    if not (np.isfinite(part.table).all() and np.isfinite(part.scales).all()):
        raise ModelError("the vectors hold numbers that are not finite", file=weights)
    try:
        vocabulary.check()
    except ParaloomError as error:
        raise error.at(file=lines) from None
    return _with_network(name, part, tensors, weights) if PARTS[name].ordered else part


def _read_vocabulary(folder: Path, name: str, lines: Path) -> Vocabulary:
    """The entries of `lines`; for sub-words the model beside them, which must have the same."""
    entries = lines.read_bytes().decode().split("\n")[:-1]
    if PARTS[name].unit != SUBWORD:
        return Vocabulary(PARTS[name].unit, entries)
    model = folder / f"{name}.spm"
    _must_be_there(model)
    try:
        vocabulary = SubwordVocabulary(model.read_bytes())
    except ModelError as error:
        raise error.at(file=model) from None
    if list(vocabulary.entries) != entries:
        raise ModelError("the pieces are not those of the vocabulary beside it", file=model)
    return vocabulary


def _with_network(name: str, part: Average, tensors: Mapping[str, Any], file: Path) -> Ordered:
    """The part with the network whose weights stand beside its table."""
    try:
        from paraloom.embed.networks import loaded_network
    except ImportError:
        raise MissingExtraError.for_verb(f"an encoder with the part '{name}'", "train") from None

    weights = {key.partition(".")[2]: value for key, value in tensors.items() if key.startswith("network.")}
    try:
        network = loaded_network(name, part.dimension, weights)
    except RuntimeError as error:
        raise ModelError(
            f"the network's weights do not fit: {str(error).splitlines()[-1].strip()}", file=file
        ) from None
    if not all(np.isfinite(value).all() for value in weights.values()):
        raise ModelError("the network's weights hold numbers that are not finite", file=file)
    return Ordered(part.vocabulary, part.vectors, network)


def _must_be_there(path: Path) -> None:
    if not path.is_file():
        raise ModelError(
            f"there is no {path.name}",
            file=path.parent,
            remedy="An encoder's folder has config.json and, for each part, its .safetensors and .vocabulary.txt.",
        )
