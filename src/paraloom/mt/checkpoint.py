"""A translator on disk: the Hugging Face checkpoint, the CTranslate2 engine made from it, and the model card."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraloom.core.errors import ConfigError, MissingExtra, ModelError
from paraloom.mt.subwords import END, PADDING, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping

CHECKPOINT = "huggingface"
"""Name of the Hugging Face checkpoint's folder inside a translator folder of ours."""

PRECISIONS = ("int8", "int16", "float32", "float16", "bfloat16", "int8_float32")


def save_checkpoint(model: Any, folder: Path, subwords: Path) -> None:
    """Write a MarianMTModel and the sub-words in `subwords` as a folder that MarianMTModel and MarianTokenizer load."""
    folder.mkdir(parents=True, exist_ok=True)
    with quiet():
        model.save_pretrained(folder)
    for name in ("source.spm", "target.spm", "vocab.json"):
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
    """Turn a Marian checkpoint (a folder, or a Hugging Face name) into a CTranslate2 folder with its sub-words.

    precision: of the weights on disk and in memory.  The folder appears whole or not at all.
    Raises ModelError where the checkpoint is not a Marian model or cannot be had, MissingExtra without torch.
    """
    if precision not in PRECISIONS:
        raise ConfigError(f"unknown precision '{precision}'; known are {', '.join(PRECISIONS)}")
    try:
        import torch  # noqa: F401
        from ctranslate2.converters import TransformersConverter
    except ImportError:
        raise MissingExtra.for_verb("converting a Hugging Face checkpoint", "train") from None
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
            f"no Marian translator could be read from it: {str(error).splitlines()[0] if str(error) else error!r}",
            file=checkpoint,
            remedy="Give a folder or a Hugging Face name of a Marian model, such as Helsinki-NLP/opus-mt-de-en.",
        ) from error
    shutil.rmtree(folder, ignore_errors=True)
    scratch.rename(folder)


@contextmanager
def quiet() -> Iterator[None]:
    """Without transformers' own progress bars and advice: a model of a few megabytes needs neither."""
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
    """Write README.md, the model card: front matter of Hugging Face, a table of facts, and what the model is for."""
    rows = "\n".join(f"| {name} | {value} |" for name, value in facts.items())
    front = f"---\nlicense: {facts.get('licence', 'other')}\ntags:\n- translation\n- paraloom\n---\n"
    (folder / "README.md").write_text(
        f"{front}\n# {title}\n\n{text}\n\n| | |\n| --- | --- |\n{rows}\n", encoding="utf-8"
    )


def _copy_subwords(checkpoint: str | Path, folder: Path, revision: str | None) -> None:
    for name in ("source.spm", "target.spm"):
        local = Path(checkpoint) / name
        if not local.is_file():
            from huggingface_hub import hf_hub_download

            local = Path(hf_hub_download(str(checkpoint), name, revision=revision))
        shutil.copyfile(local, folder / name)
