"""Loading a translator: a CTranslate2 folder, a Marian checkpoint, or a Hugging Face name, converted once and kept."""

from __future__ import annotations

import os
import re
from pathlib import Path

from paraloom.core.digests import file_digest
from paraloom.core.errors import ModelError
from paraloom.mt.checkpoint import convert
from paraloom.mt.decoding import Decoding, parse_decoding
from paraloom.mt.translator import CTranslate2Translator


def load_translator(
    source: str | Path, decode: str | Decoding = "beam:5", *, precision: str = "int8"
) -> CTranslate2Translator:
    """Open a translator.

    source: a folder that training or CTranslate2 made, a folder with a Marian checkpoint (config.json and weights of
    transformers), or a name such as `Helsinki-NLP/opus-mt-de-en`; the latter two are converted once, at `precision`,
    into the cache ($PARALOOM_CACHE, else ~/.cache/paraloom).  A name is fetched by huggingface_hub, from its own
    cache where it is there; nothing else here touches a network.
    Raises ModelError when there is no such model or the folder lacks a file.

    >>> load_translator("no/such/folder")
    Traceback (most recent call last):
    ...
    paraloom.core.errors.ModelError: no/such/folder: there is no such model folder.
    Check the path; a Hugging Face name has the form OWNER/NAME.
    """
    decoding = parse_decoding(decode) if isinstance(decode, str) else decode
    folder = Path(source)
    if folder.is_dir():
        if _is_checkpoint(folder):
            folder = _converted(folder, precision)
    elif re.fullmatch(r"[\w.-]+/[\w.-]+", str(source)) and not folder.parent.exists():
        folder = _fetched(str(source), precision)
    else:
        raise ModelError(
            "there is no such model folder",
            file=source,
            remedy="Check the path; a Hugging Face name has the form OWNER/NAME.",
        )
    return CTranslate2Translator(folder, decoding)


def cache_folder() -> Path:
    """Where converted models are kept."""
    return Path(os.environ.get("PARALOOM_CACHE") or Path.home() / ".cache" / "paraloom")


def _is_checkpoint(folder: Path) -> bool:
    return not (folder / "model.bin").is_file() and any(
        (folder / name).is_file() for name in ("model.safetensors", "pytorch_model.bin")
    )


def _converted(checkpoint: Path, precision: str) -> Path:
    if not (checkpoint / "model.safetensors").is_file():
        raise ModelError(
            "it has only pickled weights (pytorch_model.bin), which could run code when read",
            file=checkpoint,
            remedy="Save it once with safetensors: MarianMTModel.from_pretrained(...).save_pretrained(...).",
        )
    folder = cache_folder() / "translators" / f"{file_digest(checkpoint / 'model.safetensors')[:16]}-{precision}"
    if not (folder / "model.bin").is_file():
        convert(checkpoint, folder, precision=precision)
    return folder


def _fetched(name: str, precision: str) -> Path:
    folder = cache_folder() / "translators" / f"{name.replace('/', '--')}-{precision}"
    if not (folder / "model.bin").is_file():
        convert(name, folder, precision=precision)
    return folder
