"""Translators on disk: found by folder or name, converted to CTranslate2 once, and cached."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paraloom.bundled import BUNDLED, bundled_path
from paraloom.core.digests import file_digest
from paraloom.core.errors import ConfigError, MissingExtraError, ModelError, nearest
from paraloom.core.remote_files import cache_folder
from paraloom.io.atomic import disk_full_as_error, unwritable_as_error
from paraloom.mt.download import PICKLES, WEIGHTS, check_weights, download
from paraloom.mt.families import checkpoint_family
from paraloom.mt.subwords import END, PADDING, SUBWORD_FILES, UNKNOWN

CHECKPOINT = "huggingface"
"""Subfolder of a translator that Paraloom trained, with its Hugging Face checkpoint."""

PRECISIONS = ("int8", "int8_float16", "int8_bfloat16", "int8_float32", "int16", "float16", "bfloat16", "float32")
"""Number formats of converted weights; int8_float16 has weights in int8 and computes the rest in float16."""

AUTO = "auto"
"""The precision that suits the device: int8 on processors, float16 or, for T5, bfloat16 on GPUs."""

_BYTES = {"int16": 2, "float16": 2, "bfloat16": 2, "float32": 4}


def find_translator(
    model: str | Path, *, precision: str = AUTO, device: str = "cpu", revision: str | None = None
) -> Path:
    """Find the CTranslate2 folder of a translator, converting a checkpoint if necessary."""
    check_precision(precision)
    folder = Path(model)
    if folder.is_dir():
        return _convert_folder(folder, precision, device) if is_checkpoint(folder) else folder
    bundled = bundled_path(str(model))
    if bundled is not None:
        return bundled
    if re.fullmatch(r"[\w.-]+/[\w.-]+", str(model)) and not folder.parent.exists():
        return _convert_download(str(model), precision, device, revision)
    raise ModelError(
        "model folder not found",
        file=model,
        remedy=f"Check the path, or name a bundled translator ({', '.join(bundled_translators())}) "
        "or a model of Hugging Face as OWNER/NAME.",
    )


def check_precision(precision: str) -> None:
    """Check a precision."""
    if precision not in (AUTO, *PRECISIONS):
        raise ConfigError(f"unknown precision '{precision}'{nearest(precision, [AUTO, *PRECISIONS])}")


def save_checkpoint(model: Any, folder: Path, subwords: Path) -> None:
    """Write a MarianMTModel and its subwords as a folder that MarianMTModel and MarianTokenizer load."""
    folder.mkdir(parents=True, exist_ok=True)
    with quiet():
        model.save_pretrained(folder)
    for name in SUBWORD_FILES:
        shutil.copyfile(subwords / name, folder / name)
    settings = {
        "tokenizer_class": "MarianTokenizer",
        "eos_token": END,
        "unk_token": UNKNOWN,
        "pad_token": PADDING,
        "model_max_length": model.config.max_position_embeddings,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")


def convert(checkpoint: str | Path, folder: Path, *, precision: str = "int8", revision: str | None = None) -> None:
    """Convert a checkpoint into a CTranslate2 folder with its tokenizer, and check that it translates.

    The folder appears complete or not at all.
    """
    check_precision(precision)
    local = Path(checkpoint)
    if not local.is_dir():
        local = download(str(checkpoint), revision)
    if not is_checkpoint(local) and (local / "model.bin").is_file():
        shutil.copytree(local, folder, dirs_exist_ok=True)
        return
    family = checkpoint_family(local)
    check_weights(local, [path.name for path in local.iterdir()])
    if precision == AUTO:
        precision = family.default_precision("cpu")
    family.check_precision(precision)
    try:
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError:
        raise MissingExtraError.for_verb("converting a Hugging Face checkpoint", "train") from None
    scratch = folder.with_name(folder.name + ".part")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.parent.mkdir(parents=True, exist_ok=True)
    _check_space(local, scratch.parent, precision)
    try:
        with quiet(), _conversion_errors(checkpoint, family.title), disk_full_as_error(scratch.parent):
            family.convert(local, scratch, precision)
        shutil.rmtree(folder, ignore_errors=True)
        scratch.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _conversion_errors(checkpoint: str | Path, title: str) -> Iterator[None]:
    """Errors of transformers and CTranslate2 about a checkpoint, as a ModelError."""
    try:
        yield
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, AttributeError, TypeError, IndexError) as error:
        raise ModelError(
            f"not a {title} translator: {str(error).splitlines()[0].rstrip('.') if str(error) else repr(error)}",
            file=checkpoint,
            remedy="transformers or CTranslate2 did not accept it: check that the checkpoint is complete.",
        ) from error


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the progress bars and advice of transformers, which loads and saves these small models in no time."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Recommended: pip install sacremoses")
            yield
    finally:
        if shown:
            logging.enable_progress_bar()


def bundled_translators() -> list[str]:
    """Names of the bundled translators."""
    # Its costs tell a translator from a paraphraser, whose network has the same files.
    return [name for name in BUNDLED if (folder := bundled_path(name)) and (folder / "costs.json").is_file()]


def copy_file(source: Path, target: Path) -> None:
    """Copy a file that does not change any more: as a second name of it, where both are on one disk."""
    try:
        os.link(source.resolve(), target)
    except OSError:
        shutil.copyfile(source, target)


def is_checkpoint(folder: Path) -> bool:
    """True if a folder has weights of transformers, and none of CTranslate2."""
    names = (*WEIGHTS, *PICKLES)
    return not (folder / "model.bin").is_file() and any((folder / name).is_file() for name in names)


def _convert_folder(checkpoint: Path, precision: str, device: str) -> Path:
    family = checkpoint_family(checkpoint)
    check_weights(checkpoint, [path.name for path in checkpoint.iterdir()])
    if precision == AUTO:
        precision = family.default_precision(device)
    # Not by the name of the folder: another model may come to lie in it.
    kinds = (".safetensors", ".spm", ".model", ".json", ".txt")
    files = sorted(path for path in checkpoint.iterdir() if path.suffix in kinds)
    digest = hashlib.sha256("".join(f"{path.name} {file_digest(path)}\n" for path in files).encode()).hexdigest()
    return _cached(checkpoint, f"{digest[:16]}-{precision}", precision)


def _convert_download(name: str, precision: str, device: str, revision: str | None) -> Path:
    stem = name.replace("/", "--") + (f"@{revision.replace('/', '--')}" if revision else "")
    defaults = ("int8",) if device == "cpu" else ("float16", "bfloat16")
    for known in defaults if precision == AUTO else (precision,):
        if ((folder := _translators() / f"{stem}-{known}") / "model.bin").is_file():
            return folder  # without a question to the hub
    local = download(name, revision)
    if not is_checkpoint(local):
        return local
    if precision == AUTO:
        precision = checkpoint_family(local).default_precision(device)
    return _cached(local, f"{stem}-{precision}", precision)


def _cached(checkpoint: Path, name: str, precision: str) -> Path:
    """Convert a checkpoint into the cache, unless it is there; another process that converts it is waited for."""
    folder = _translators() / name
    if (folder / "model.bin").is_file():
        return folder
    with unwritable_as_error(_translators()), disk_full_as_error(_translators()):
        _translators().mkdir(parents=True, exist_ok=True)
        lock = (_translators() / f"{name}.lock").open("w")
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "model.bin").is_file():
            convert(checkpoint, folder, precision=precision)
    return folder


def _translators() -> Path:
    return cache_folder() / "translators"


def _check_space(checkpoint: Path, folder: Path, precision: str) -> None:
    """Fail before an hour of work, rather than after it."""
    size = sum(path.stat().st_size for path in checkpoint.glob("*.safetensors"))
    stored = json.loads((checkpoint / "config.json").read_text(encoding="utf-8"))
    half = "16" in str(stored.get("dtype") or stored.get("torch_dtype"))
    needed = size // (2 if half else 4) * _BYTES.get(precision, 1)
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise ModelError(
            f"the converted model takes about {needed / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are free",
            file=folder,
            remedy="Free space there, or name another folder for converted models: PARALOOM_CACHE=/path.",
        )
