"""Encoders on disk: a folder with safetensors, vocabularies as readable lines, a model card, and config.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.bundled import bundled_path
from paraloom.core.errors import ConfigError, ModelError, ParaloomError
from paraloom.core.lazy import late
from paraloom.core.version import __version__
from paraloom.embed.average import Average, Part, SentenceEncoder, unpack_nibbles
from paraloom.embed.network_parts import network_parts
from paraloom.embed.spec import PARTS, parse_spec
from paraloom.embed.subwords import UNIT as SUBWORD
from paraloom.embed.subwords import SubwordVocabulary
from paraloom.embed.vocabulary import Vocabulary
from paraloom.io.atomic import atomic_write, write_text

_coded_average = late("paraloom.embed.product_quantization:CodedAverage")

CONFIG = "config.json"
CARD = "README.md"
EXPORTED = "paraloom"  # Subfolder of an export for sentence-transformers with code: the encoder itself, unchanged
_FORMAT = 1

_CARD_HEAD = "---\nlibrary_name: {library}\ntags:\n- sentence-similarity\n- {library}\n---\n"


def save_encoder(encoder: SentenceEncoder, folder: str | Path, training: Mapping[str, object] | None = None) -> Path:
    """Write an encoder into a folder; config.json is last, and a folder without it is not an encoder."""
    from safetensors.numpy import save

    folder = Path(folder)
    if "token" in encoder.spec.units:
        raise ConfigError(
            "a static model of another library cannot be saved as an encoder", remedy="Copy its folder instead."
        )
    training = encoder.training if training is None else training
    for name, part in encoder.parts.items():
        with atomic_write(folder / f"{name}.safetensors") as temporary:
            tensors = {key: np.ascontiguousarray(tensor) for key, tensor in part.tensors.items()}
            # save_file would write a file that nobody else can read.
            temporary.write_bytes(save(tensors))
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
        "training": dict(training),
    }
    write_text(folder / CARD, model_card(encoder, training))
    write_text(folder / CONFIG, json.dumps(config, indent=1, ensure_ascii=False) + "\n")
    return folder


def load_encoder(folder: str | Path, threads: int = 1) -> SentenceEncoder:
    folder = model_at(folder)
    config = _read_config(folder)
    spec = parse_spec(config["spec"])
    parts = {name: _read_part(folder, name, config["part_dimension"]) for name in spec.parts}
    return SentenceEncoder(spec, parts, threads, config.get("training"))


def model_at(folder: str | Path) -> Path:
    if Path(folder).exists():
        return Path(folder)
    return bundled_path(str(folder)) or Path(folder)


def model_card(encoder: SentenceEncoder, training: Mapping[str, object]) -> str:
    """The card of an encoder's folder, in Markdown: what it is, how it was trained, how to use it."""
    parts = "".join(f"| {name} | {len(part.vocabulary):,} |\n" for name, part in encoder.parts.items())
    settings = "".join(f"| {name} | {value} |\n" for name, value in training.items())
    return (
        f"{_CARD_HEAD.format(library='paraloom')}\n# Sentence encoder `{encoder.spec}`\n\n"
        f"Vectors of {encoder.dimension} dimensions; compare them by cosine.\n\n"
        "    paraloom encode FOLDER sentences.txt -o vectors.npy\n\n"
        f"| part | entries |\n|---|---:|\n{parts}\n"
        + (f"| training | |\n|---|---:|\n{settings}\n" if settings else "")
        + f"Signature: `{encoder.signature}`\n"
    )


def is_static(folder: str | Path) -> bool:
    """True if a folder contains a static model of model2vec or sentence-transformers."""
    folder = Path(folder)
    names = ("modules.json", "tokenizer.json", "model.safetensors")
    if not all((folder / name).is_file() for name in names):
        return False
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        return bool(modules[0]["type"].endswith("StaticEmbedding") and modules[0]["path"] in ("", "."))
    except (ValueError, KeyError, IndexError, TypeError):
        return False


def is_onnx(folder: str | Path) -> bool:
    """True if a folder has an exported graph of an encoder."""
    try:
        config = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
        return (Path(folder) / "model.onnx").is_file() and {"inputs", "dimension", "signature"} <= set(config)
    except (OSError, ValueError, TypeError):
        return False


def is_exported(folder: Path) -> bool:
    """True if a folder is an export for sentence-transformers with the encoder in it, as we load it."""
    return (folder / "modules.json").is_file() and (folder / EXPORTED / CONFIG).is_file()


def _read_config(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG
    _check_exists(path)
    try:
        config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        valid = config["format"] == _FORMAT and isinstance(config["spec"], str) and config["part_dimension"] > 0
    except (ValueError, KeyError, TypeError):
        valid = False
    if not valid:
        raise ModelError(
            "not the configuration of a Paraloom encoder",
            file=path,
            remedy="Name a folder that `paraloom train encoder` or `Encoder.save` wrote.",
        )
    return config


def _read_part(folder: Path, name: str, dimension: int) -> Part:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    lines, weights = folder / f"{name}.vocabulary.txt", folder / f"{name}.safetensors"
    _check_exists(lines)
    _check_exists(weights)
    try:
        vocabulary = _read_vocabulary(folder, name, lines)
        tensors = load_file(weights)
        part = _average_of(vocabulary, tensors, dimension)
    except ModelError as error:
        raise error.at(file=weights) from None
    except UnicodeDecodeError as error:
        raise ModelError("the vocabulary is not valid UTF-8", file=lines) from error
    except (SafetensorError, KeyError) as error:
        raise ModelError(
            f"the vectors cannot be read ({error})", file=weights, remedy="Train or copy the encoder again."
        ) from error
    width = part.dimension if PARTS[name].own_dimension else dimension
    if part.table.shape != (len(vocabulary), width):
        raise ModelError(f"expected a table of shape {(len(vocabulary), width)}, got {part.table.shape}", file=weights)
    dtypes = [np.dtype(np.int8), np.dtype(np.float32)] if "scales" in tensors else [np.dtype(np.float32)]
    if part.table.dtype not in dtypes or part.scales.shape != (len(vocabulary),) or part.scales.dtype != np.float32:
        raise ModelError(
            f"expected a table of float32, or of int8 with float32 scales per row, got {part.table.dtype}", file=weights
        )
    if not (np.isfinite(part.table).all() and np.isfinite(part.scales).all()):
        raise ModelError("the vectors contain values that are not finite", file=weights)
    try:
        vocabulary.check()
    except ParaloomError as error:
        raise error.at(file=lines) from None
    return network_parts(name).open(name, part, dimension, tensors, weights) if PARTS[name].recurrent else part


def _average_of(vocabulary: Vocabulary, tensors: Mapping[str, npt.NDArray[Any]], dimension: int) -> Average:
    """The average whose table is stored as it is, in nibbles, or in codes."""
    if "codes" in tensors:
        coded: Average = _coded_average(vocabulary, tensors["codes"], tensors["centroids"], dimension)
        return coded
    if (packed := tensors.get("nibbles")) is None:
        return Average(vocabulary, tensors["table"], tensors.get("scales"))
    expected = (dimension + 1) // 2
    if packed.dtype != np.uint8 or packed.ndim != 2 or packed.shape[1] != expected:
        raise ModelError(
            f"expected nibbles of uint8 and {expected} columns, got {packed.dtype} of shape {packed.shape}"
        )
    return Average(vocabulary, unpack_nibbles(packed, dimension), tensors["scales"], bits=4)


def _read_vocabulary(folder: Path, name: str, lines: Path) -> Vocabulary:
    """The entries in `lines`; for subwords the model, whose pieces must be the same."""
    entries = lines.read_bytes().decode().split("\n")[:-1]
    if PARTS[name].unit != SUBWORD:
        return Vocabulary(PARTS[name].unit, entries)
    model = folder / f"{name}.spm"
    _check_exists(model)
    try:
        vocabulary = SubwordVocabulary(model.read_bytes())
    except ModelError as error:
        raise error.at(file=model) from None
    if list(vocabulary.entries) != entries:
        raise ModelError(f"the pieces of the model differ from those in {lines.name}", file=model)
    return vocabulary


def _check_exists(path: Path) -> None:
    if not path.is_file():
        raise ModelError(
            f"{path.name} not found",
            file=path.parent,
            remedy="The folder of an encoder has config.json and, for each part, .safetensors and .vocabulary.txt.",
        )
