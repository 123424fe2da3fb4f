"""The kinds of translators: config.json of a checkpoint decides which family it belongs to, before any download.

A new family is one module with one object, one line in `FAMILIES` and one for each of its model types in `MODEL_TYPES`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from paraloom.core.errors import ModelError, nearest

FAMILIES: dict[str, str] = {
    "marian": "paraloom.mt.families.marian:MARIAN",
    "nllb": "paraloom.mt.families.nllb:NLLB",
    "m2m100": "paraloom.mt.families.m2m100:M2M100",
    "mbart50": "paraloom.mt.families.mbart50:MBART50",
    "madlad": "paraloom.mt.families.t5:MADLAD",
    "t5": "paraloom.mt.families.t5:T5",
    "bart": "paraloom.mt.families.bart:BART",
    "pegasus": "paraloom.mt.families.bart:PEGASUS",
}
"""Name of each family, as translator.json of a converted folder has it, and where its object is."""

MODEL_TYPES: dict[str, tuple[str, ...]] = {
    "marian": ("marian",),
    "m2m_100": ("nllb", "m2m100"),
    "mbart": ("mbart50",),
    "t5": ("madlad", "t5"),
    "mt5": ("madlad", "t5"),
    "umt5": ("t5",),
    "bart": ("bart",),
    "pegasus": ("pegasus",),
}
"""`model_type` of config.json → names of families; the first one whose `fits` says so is it."""

FOLDER_FILE = "translator.json"  # In a converted folder: its `family`, and what else that family needs to load it


class Family(Protocol):
    """One kind of translator: how its checkpoints are converted, and its folders loaded."""

    @property
    def name(self) -> str:
        """Its name in `FAMILIES`."""

    @property
    def title(self) -> str:
        """Its name in errors."""

    def fits(self, folder: Path) -> bool:
        """True if a checkpoint of one of its model types belongs to it; only small files are looked at."""

    def check_files(self, checkpoint: str | Path, names: Sequence[str]) -> None:
        """Check that a checkpoint has a tokenizer."""

    def check_languages(self, checkpoint: Path, source: str | None, target: str | None) -> None:
        """Check that a checkpoint has languages, before its weights are downloaded."""

    def check_precision(self, precision: str) -> None:
        """Check that it runs in a number format."""

    def default_precision(self, kind: str) -> str:
        """The number format that suits a kind of device."""

    def convert(self, checkpoint: Path, folder: Path, precision: str) -> None:
        """Write a folder for CTranslate2, with `FOLDER_FILE` in it."""


def get_family(name: str) -> Family:
    if name not in FAMILIES:
        raise ModelError(f"unknown family of translators '{name}'{nearest(name, list(FAMILIES))}")
    module, _, attribute = FAMILIES[name].partition(":")
    family: Family = getattr(import_module(module), attribute)
    return family


def family_names(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the families that a checkpoint may belong to."""
    kind = config.get("model_type")
    if kind in MODEL_TYPES:
        return MODEL_TYPES[kind]
    described = ", ".join(config.get("architectures") or []) or kind
    if "ForCausalLM" in str(described):
        raise ModelError(
            f"{described} is a language model, not a translator",
            remedy="Serve it (vLLM, llama.cpp, transformers serve), and name its address: "
            "'http://127.0.0.1:8000/v1?model=NAME&from=de&to=en'.",
        )
    raise ModelError(
        f"models of the kind {described} are not supported" if described else "config.json names no model_type",
        remedy=f"Supported values of model_type: {', '.join(sorted(MODEL_TYPES))}.",
    )


def checkpoint_family(folder: Path) -> Family:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError("config.json not found", file=folder, remedy="Copy the whole folder again.") from None
    except ValueError:
        raise ModelError("config.json is not valid JSON", file=folder, remedy="Copy the whole folder again.") from None
    try:
        names = family_names(config)
    except ModelError as error:
        raise error.at(file=folder) from None
    families = [get_family(name) for name in names]
    return next((family for family in families if family.fits(folder)), families[-1])


def folder_settings(folder: Path) -> dict[str, Any]:
    """translator.json of a converted folder; without it, what its vocabulary tells, or else Marian."""
    path = folder / FOLDER_FILE
    if not path.is_file():
        return _recognized(folder)
    try:
        settings: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
        return settings | {"family": str(settings["family"])}
    except (ValueError, KeyError, TypeError):
        raise ModelError(f"{FOLDER_FILE} is damaged", file=folder, remedy="Convert the model again.") from None


_GERMAN = {"deu_Latn": "nllb", "__de__": "m2m100", "de_DE": "mbart50", "<2de>": "madlad"}
"""The token of a language that every model of a family has → its name."""


def _recognized(folder: Path) -> dict[str, object]:
    settings: dict[str, object] = {"family": "marian"}
    vocabulary = folder / "shared_vocabulary.json"
    tokenizers = ("tokenizer.json", "sentencepiece.bpe.model")
    if not vocabulary.is_file() or not any((folder / name).is_file() for name in tokenizers):
        return settings
    tokens = set(json.loads(vocabulary.read_text(encoding="utf-8")))
    for token, name in _GERMAN.items():
        if token in tokens:
            before = [] if name == "madlad" else ["{source}"]
            special = ["<s>", "<pad>", "</s>", "<unk>"]
            return {"family": name, "before": before, "after": ["</s>"], "prefix": [], "special": special}
    return settings
