"""Translators on disk: found by folder or name, converted to CTranslate2, cached, described by a model card."""

from __future__ import annotations

import json
import os
import re
import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paraloom.bundled import BUNDLED, bundled_path
from paraloom.core.digests import file_digest
from paraloom.core.errors import ConfigError, MissingExtraError, ModelError, nearest
from paraloom.core.hub import require_hub
from paraloom.mt.subwords import END, PADDING, SUBWORD_FILES, UNKNOWN

CHECKPOINT = "huggingface"
"""Subfolder of a translator that Paraloom trained, with its Hugging Face checkpoint."""

PRECISIONS = ("int8", "int16", "float32", "float16", "bfloat16", "int8_float32")
"""Number formats of converted weights."""


def find_translator(model: str | Path, *, precision: str = "int8") -> Path:
    """Find the CTranslate2 folder of a translator, converting a checkpoint if necessary.

    Args:
        model: A folder that training or CTranslate2 wrote, a folder with a Marian checkpoint (config.json and
            safetensors of transformers), the name of a bundled translator such as `de-en`, or a Hugging Face name such
            as `Helsinki-NLP/opus-mt-de-en`. A folder takes precedence over a name. A Hugging Face model is downloaded
            by huggingface_hub unless its cache has it; nothing else accesses a network.
        precision: Number format of converted weights, one of `PRECISIONS`. Converted models are kept in
            `cache_folder`; a folder that is already converted keeps its own precision.

    Raises:
        ModelError: The model was not found, or cannot be converted.

    Example:
        >>> find_translator("de-en").name
        'de-en'
        >>> find_translator("no/such/folder")
        Traceback (most recent call last):
            ...
        paraloom.core.errors.ModelError: no/such/folder: model folder not found.
        Check the path, or name a bundled translator (de-en, en-de) or a model of Hugging Face as OWNER/NAME.
    """
    folder = Path(model)
    if folder.is_dir():
        return _convert_folder(folder, precision) if _is_checkpoint(folder) else folder
    bundled = bundled_path(str(model))
    if bundled is not None:
        return bundled
    if re.fullmatch(r"[\w.-]+/[\w.-]+", str(model)) and not folder.parent.exists():
        return _convert_download(str(model), precision)
    raise ModelError(
        "model folder not found",
        file=model,
        remedy=f"Check the path, or name a bundled translator ({', '.join(bundled_translators())}) "
        "or a model of Hugging Face as OWNER/NAME.",
    )


def cache_folder() -> Path:
    """Folder of converted models: $PARALOOM_CACHE, or ~/.cache/paraloom."""
    return Path(os.environ.get("PARALOOM_CACHE") or Path.home() / ".cache" / "paraloom")


def save_checkpoint(model: Any, folder: Path, subwords: Path) -> None:
    """Write a MarianMTModel and its subwords as a folder that MarianMTModel and MarianTokenizer load.

    Args:
        model: The MarianMTModel.
        folder: Where the checkpoint goes.
        subwords: Folder with the three files of `train_subwords`.
    """
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
    """Convert a Marian checkpoint into a CTranslate2 folder with its subwords.

    The folder appears complete or not at all.

    Args:
        checkpoint: A folder, or a Hugging Face name.
        folder: Where the converted model goes; replaced if it exists.
        precision: Number format of the weights, on disk and in memory; one of `PRECISIONS`.
        revision: Branch, tag or commit of a Hugging Face model.

    Raises:
        ConfigError: Unknown precision.
        ModelError: The checkpoint is not a Marian model, or cannot be downloaded.
        MissingExtraError: torch or transformers is not installed.
    """
    if precision not in PRECISIONS:
        raise ConfigError(f"unknown precision '{precision}'{nearest(precision, PRECISIONS)}")
    require_hub(checkpoint)
    try:
        import torch  # noqa: F401
        from ctranslate2.converters import TransformersConverter
    except ImportError:
        raise MissingExtraError.for_verb("converting a Hugging Face checkpoint", "train") from None
    scratch = folder.with_name(folder.name + ".part")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.parent.mkdir(parents=True, exist_ok=True)
    try:
        with quiet():
            converter = TransformersConverter(str(checkpoint), revision=revision)
            converter.convert(str(scratch), quantization=precision, force=True)
        _copy_subwords(checkpoint, scratch, revision)
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        shutil.rmtree(scratch, ignore_errors=True)
        raise ModelError(
            f"not a Marian translator: {str(error).splitlines()[0].rstrip('.') if str(error) else repr(error)}",
            file=checkpoint,
            remedy="Give a folder or a Hugging Face name of a Marian model, such as Helsinki-NLP/opus-mt-de-en.",
        ) from error
    shutil.rmtree(folder, ignore_errors=True)
    scratch.rename(folder)


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


def write_card(folder: Path, *, title: str, facts: Mapping[str, object], text: str) -> None:
    """Write README.md, the model card: Hugging Face's front matter, a description, and a table of facts.

    Args:
        folder: Of the model.
        title: Heading of the card.
        facts: Rows of the table; `license` also goes into the front matter.
        text: What the model is for.
    """
    rows = "\n".join(f"| {name} | {value} |" for name, value in facts.items())
    front = f"---\nlicense: {facts.get('license', 'other')}\ntags:\n- translation\n- paraloom\n---\n"
    (folder / "README.md").write_text(
        f"{front}\n# {title}\n\n{text}\n\n| | |\n| --- | --- |\n{rows}\n", encoding="utf-8"
    )


def read_card(folder: Path) -> dict[str, str]:
    """The table of facts of a model card; empty if the folder has none.

    Example:
        >>> read_card(find_translator("de-en"))["languages"]
        'de → en'
    """
    path = folder / "README.md"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    cells = [[cell.strip() for cell in line.strip("|").split("|", 1)] for line in lines if line.startswith("|")]
    return {row[0]: row[1] for row in cells if len(row) == 2 and row[0].strip("- ")}


def bundled_translators() -> list[str]:
    """Names of the bundled translators."""
    return [name for name in BUNDLED if (folder := bundled_path(name)) and (folder / "model.bin").is_file()]


def _is_checkpoint(folder: Path) -> bool:
    return not (folder / "model.bin").is_file() and any(
        (folder / name).is_file() for name in ("model.safetensors", "pytorch_model.bin")
    )


def _convert_folder(checkpoint: Path, precision: str) -> Path:
    if not (checkpoint / "model.safetensors").is_file():
        raise ModelError(
            "model.safetensors not found; pytorch_model.bin is pickled, and reading it could run code",
            file=checkpoint,
            remedy="Save it once with safetensors: MarianMTModel.from_pretrained(...).save_pretrained(...).",
        )
    folder = cache_folder() / "translators" / f"{file_digest(checkpoint / 'model.safetensors')[:16]}-{precision}"
    if not (folder / "model.bin").is_file():
        convert(checkpoint, folder, precision=precision)
    return folder


def _convert_download(name: str, precision: str) -> Path:
    folder = cache_folder() / "translators" / f"{name.replace('/', '--')}-{precision}"
    if not (folder / "model.bin").is_file():
        convert(name, folder, precision=precision)
    return folder


def _copy_subwords(checkpoint: str | Path, folder: Path, revision: str | None) -> None:
    for name in ("source.spm", "target.spm"):
        local = Path(checkpoint) / name
        if not local.is_file():
            from huggingface_hub import hf_hub_download

            local = Path(hf_hub_download(str(checkpoint), name, revision=revision))
        shutil.copyfile(local, folder / name)
