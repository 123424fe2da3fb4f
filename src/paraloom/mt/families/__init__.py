"""The kinds of translators: config.json of a checkpoint decides which family it belongs to, before any download.

A new family is one object, one line in `FAMILIES` and one for each of its model types in `MODEL_TYPES`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraloom.core.errors import ModelError, nearest
from paraloom.core.lazy import load_object

if TYPE_CHECKING:
    from paraloom.mt.families.base import EncoderDecoder

FAMILIES: dict[str, str] = {
    "marian": "paraloom.mt.families.marian:MARIAN",
    "nllb": "paraloom.mt.families.bart:NLLB",
    "m2m100": "paraloom.mt.families.bart:M2M100",
    "mbart50": "paraloom.mt.families.bart:MBART50",
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


def get_family(name: str) -> EncoderDecoder:
    if name not in FAMILIES:
        raise ModelError(f"unknown family of translators '{name}'{nearest(name, list(FAMILIES))}")
    family: EncoderDecoder = load_object(FAMILIES[name])
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


def checkpoint_family(folder: Path) -> EncoderDecoder:
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
