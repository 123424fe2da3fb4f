"""CTranslate2's engine for a translator folder: its files, devices, seeds and errors."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from paraloom.core.devices import parse_device, worker_number
from paraloom.core.errors import ModelError, RunError
from paraloom.mt.decoding import Decoding
from paraloom.mt.families import folder_settings
from paraloom.mt.families.base import VOCABULARIES
from paraloom.mt.families.marian import SUBWORD_MODELS
from paraloom.mt.subwords import END, UNKNOWN

if TYPE_CHECKING:
    import ctranslate2

ENGINE_FILES = ("model.bin", "config.json")
"""Files of every translator folder, besides a vocabulary and the files of its tokenizer."""

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_seeding = threading.Lock()


def new_engine(folder: Path, device: str) -> ctranslate2.Translator:
    """Load a ctranslate2.Translator that uses one thread."""
    import ctranslate2

    try:
        where = parse_device(device)
        return ctranslate2.Translator(
            str(folder),
            device=where.kind,
            device_index=where.indices[worker_number() % len(where.indices)],
            inter_threads=1,
            intra_threads=1,
        )
    except (RuntimeError, ValueError) as error:
        raise ModelError(
            f"CTranslate2 cannot load the model: {error}", file=folder, remedy="Train or convert the model again."
        ) from None


def seeded_engine(folder: Path, device: str, seed: int) -> ctranslate2.Translator:
    """Load an engine whose random draws follow from a seed."""
    # An engine reads the seed only once: its thread makes its generator at the first random draw. So each seed gets
    # a new engine, and makes that first draw here, where no other thread can change the seed.
    import ctranslate2

    with _seeding:
        ctranslate2.set_random_seed(seed % 2**31)
        engine = new_engine(folder, device)
        # A lone end of sentence would count as empty, and draw nothing.
        engine.translate_batch([[UNKNOWN, END]], sampling_topk=0, max_decoding_length=1)
    return engine


def check_folder(folder: Path) -> None:
    """Check that a folder has all files of a translator."""
    remedy = "Name the folder of a translator; if this is one, copy the whole folder again."
    if not folder.is_dir():
        raise ModelError("model folder not found", file=folder, remedy="Check the path.")
    for name in ENGINE_FILES:
        if not (folder / name).is_file():
            raise ModelError(f"not a translator: {name} not found", file=folder, remedy=remedy)
    if folder_settings(folder)["family"] == "marian":
        for name in SUBWORD_MODELS:
            if not (folder / name).is_file():
                raise ModelError(f"not a translator: {name} not found", file=folder, remedy=remedy)
    if not any((folder / name).is_file() for name in VOCABULARIES):
        raise ModelError("not a translator: shared_vocabulary.json not found", file=folder, remedy=remedy)
    try:
        json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except ValueError:
        raise ModelError("config.json is not valid JSON", file=folder, remedy=remedy) from None


def guarded(call: Callable[_Arguments, _Result], *arguments: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
    """Call a function of CTranslate2; its errors become a RunError."""
    try:
        return call(*arguments, **options)
    except (RuntimeError, ValueError) as error:
        raise RunError(
            f"decoding failed: {error}", remedy="Check that the model folder is complete and that memory suffices."
        ) from None


def by_max_length(
    decoding: Decoding, rows: Sequence[Sequence[str]], max_target: int
) -> Iterator[tuple[int, list[int]]]:
    """Maximum subwords of a translation, and its sentences: a beam that repeats itself is stopped early."""
    if decoding.random or decoding.shortlist:
        yield max_target, list(range(len(rows)))
        return
    groups: dict[int, list[int]] = {}
    for index, pieces in enumerate(rows):
        # Three times the source length, rounded up to a multiple of eight, and sixteen.
        limit = min(max_target, 3 * 8 * -(-len(pieces) // 8) + 16)
        groups.setdefault(limit, []).append(index)
    yield from groups.items()
