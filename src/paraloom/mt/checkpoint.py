"""Translators on disk: found by folder or name, converted to CTranslate2 once, and cached."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING

from paraloom.bundled import BUNDLED, bundled_path
from paraloom.core.digests import file_digest
from paraloom.core.errors import ConfigError, ModelError, imports_of_extra, nearest, suggestion
from paraloom.core.hub import quiet
from paraloom.core.remote_files import cache_folder
from paraloom.io.atomic import disk_full_as_error, unwritable_as_error
from paraloom.mt.download import (
    PICKLES,
    WEIGHTS,
    Languages,
    check_space,
    check_weights,
    converted_size,
    download,
    license_of,
)
from paraloom.mt.families import checkpoint_family
from paraloom.mt.model_card import read_card, write_card
from paraloom.mt.names import SHORT_NAMES, hub_name, is_short_name, pair_of, short_name
from paraloom.mt.subwords import END, PADDING, SUBWORD_FILES, UNKNOWN

if TYPE_CHECKING:
    from transformers import MarianMTModel

CHECKPOINT = "huggingface"  # Subfolder of a translator that Paraloom trained, with its Hugging Face checkpoint

PRECISIONS = ("int8", "int8_float16", "int8_bfloat16", "int8_float32", "int16", "float16", "bfloat16", "float32")
"""Number formats of converted weights; int8_float16 has weights in int8 and computes the rest in float16."""

AUTO = "auto"  # The precision that suits the device: int8 on processors, float16 or, for T5, bfloat16 on GPUs


def find_translator(
    model: str | Path,
    *,
    precision: str = AUTO,
    device: str = "cpu",
    revision: str | None = None,
    languages: Languages = (None, None),
) -> Path:
    """Find the CTranslate2 folder of a translator, converting a checkpoint that has the `languages` if necessary."""
    check_precision(precision)
    folder = Path(model)
    if folder.is_dir():
        return _convert_folder(folder, precision, device) if is_checkpoint(folder) else folder
    bundled = bundled_path(str(model))
    if bundled is not None:
        return bundled
    on_hub = hub_name(str(model))
    if on_hub is None:
        raise ModelError(
            f"model folder not found{suggestion(str(model), SHORT_NAMES)}",
            file=model,
            remedy=f"Check the path, or name a bundled translator ({', '.join(bundled_translators())}) "
            "or a model of Hugging Face as OWNER/NAME.",
        )
    check_fetched(str(model))
    return _convert_download(on_hub, precision, device, revision, languages)


def check_fetched(name: str) -> None:
    """Check that the model of a short name was fetched: its use does not download it, as that of OWNER/NAME does."""
    if is_short_name(name) and not Path(name).is_dir() and not stored_copies(str(hub_name(name))):
        raise ModelError("not on this machine yet", file=name, remedy=f"Fetch it, once: paraloom models fetch {name}.")


def stored_copies(name: str) -> list[Path]:
    """The folders of a model of the hub that is converted: of several precisions or revisions."""
    stem = name.replace("/", "--")
    folders = [path.parent for path in _translators().glob(f"{escape(stem)}[-@]*/model.bin")]
    return sorted(path for path in folders if stored_name(path).partition("?")[0] == short_name(name))


def stored_name(folder: Path) -> str:
    """What names the model of a folder of the cache: of one of the hub a reference, of others the folder."""
    stem, _, precision = folder.name.rpartition("-")
    if "--" not in stem:
        return str(folder)
    name, _, revision = stem.partition("@")
    settings = {"revision": revision.replace("--", "/"), "precision": "" if precision == "int8" else precision}
    query = "&".join(f"{key}={value}" for key, value in settings.items() if value)
    return short_name(name.replace("--", "/", 1)) + (f"?{query}" if query else "")


def write_hub_card(folder: Path, name: str, checkpoint: Path) -> None:
    """Write the card of a converted model of the hub: its license, where it is from, and the digest of its weights."""
    license_ = license_of(checkpoint)
    if not license_:
        warnings.warn(f"{name} states no license: ask its authors before you publish what it translates", stacklevel=2)
    pair = pair_of(name)
    facts = {
        **({"languages": " → ".join(pair)} if pair else {}),
        "license": license_ or "unknown",
        "source": f"https://huggingface.co/{name}",
        "commit": checkpoint.name,
        "digest": file_digest(folder / "model.bin"),
    }
    describe_stored(folder, facts)


def describe_stored(folder: Path, facts: Mapping[str, str]) -> None:
    """Add facts to the card of a converted model of the hub."""
    title, facts = stored_name(folder), {**read_card(folder), **facts}
    text = f"Converted by Paraloom from {facts.get('source', title)}, where its own card says what it is trained on."
    write_card(folder, title=title, facts=facts, text=text)


def check_precision(precision: str) -> None:
    if precision not in (AUTO, *PRECISIONS):
        raise ConfigError(f"unknown precision '{precision}'{nearest(precision, [AUTO, *PRECISIONS])}")


def save_checkpoint(model: MarianMTModel, folder: Path, subwords: Path) -> None:
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


def convert(checkpoint: str | Path, folder: Path, *, precision: str = "int8") -> None:
    """Convert a checkpoint into a CTranslate2 folder, complete or not there, and check that it translates."""
    check_precision(precision)
    local = Path(checkpoint)
    if not local.is_dir():
        local = download(str(checkpoint))
    if not is_checkpoint(local) and (local / "model.bin").is_file():
        shutil.copytree(local, folder, dirs_exist_ok=True)
        return
    family = checkpoint_family(local)
    check_weights(local, [path.name for path in local.iterdir()])
    if precision == AUTO:
        precision = family.default_precision("cpu")
    family.check_precision(precision)
    with imports_of_extra("train", "converting a Hugging Face checkpoint"):
        import torch  # noqa: F401
        import transformers  # noqa: F401
    scratch = folder.with_name(folder.name + ".part")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.parent.mkdir(parents=True, exist_ok=True)
    size = sum(path.stat().st_size for path in local.glob("*.safetensors"))
    needed = converted_size(local, size, precision)
    check_space("the converted model takes", needed, scratch.parent, "PARALOOM_CACHE")
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


def _convert_download(name: str, precision: str, device: str, revision: str | None, languages: Languages) -> Path:
    stem = name.replace("/", "--") + (f"@{revision.replace('/', '--')}" if revision else "")
    defaults = ("int8",) if device == "cpu" else ("float16", "bfloat16")
    for known in defaults if precision == AUTO else (precision,):
        if ((folder := _translators() / f"{stem}-{known}") / "model.bin").is_file():
            return folder  # without a question to the hub
    kept = defaults[0] if precision == AUTO else precision
    local = download(name, revision, precision=kept, languages=languages)
    if precision == AUTO:
        precision = checkpoint_family(local).default_precision(device) if is_checkpoint(local) else defaults[0]
    folder = _cached(local, f"{stem}-{precision}", precision)
    write_hub_card(folder, name, local)
    for copy in stored_copies(name):
        if copy.name.rpartition("-")[0] == stem and copy != folder:  # the costs of another precision are much the same
            for costs in copy.glob("costs*.json"):
                copy_file(costs, folder / costs.name)
    return folder


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
