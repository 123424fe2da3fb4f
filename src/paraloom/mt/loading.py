"""Opens the translator of a folder, of whichever kind: converted, a language model, an endpoint."""

from __future__ import annotations

from pathlib import Path

from paraloom.core.errors import ModelError
from paraloom.core.lazy import load_object
from paraloom.core.protocols import TranslatorLike
from paraloom.mt.decoding import Decoding
from paraloom.mt.endpoint import ENDPOINT_FILE, EndpointTranslator
from paraloom.mt.language_model import LANGUAGE_MODEL_FILE, LanguageModelTranslator
from paraloom.mt.translator import Translator

ENSEMBLE_FILE = "ensemble.json"
"""Of an ensemble of an earlier version."""

ENSEMBLE_REMEDY = "Name one translator; to join several, train one on what they translate."

RESEARCH: dict[str, str] = {"phrase-translator.json": "paraloom.papers.park17.phrase_translator:PhraseTranslator"}
"""File by which a translator of the papers is known → its class."""


def open_translator(folder: str | Path, decode: str | Decoding, *, check_costs: bool = False) -> TranslatorLike:
    """Open the translator of a folder, for a stage."""
    translator: TranslatorLike
    if (Path(folder) / ENDPOINT_FILE).is_file():
        translator = EndpointTranslator.load(folder, decode)
    elif (Path(folder) / ENSEMBLE_FILE).is_file():
        raise ModelError("ensembles are gone", file=folder, remedy=ENSEMBLE_REMEDY)
    elif (Path(folder) / LANGUAGE_MODEL_FILE).is_file():
        translator = LanguageModelTranslator(folder, decode)
    elif kind := next((RESEARCH[name] for name in RESEARCH if (Path(folder) / name).is_file()), None):
        translator = load_object(kind)(folder, decode)
    else:
        translator = Translator.load(folder, decode=decode, check_costs=check_costs)
    return translator


def is_ready(folder: Path) -> bool:
    """True if a folder has a translator that needs no conversion."""
    return any((folder / name).is_file() for name in ("model.bin", ENDPOINT_FILE, *RESEARCH))
