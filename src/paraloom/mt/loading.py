"""Opens the translator of a folder, of whichever kind: converted, a language model, an ensemble, an endpoint."""

from __future__ import annotations

from pathlib import Path

from paraloom.core.protocols import TranslatorLike
from paraloom.mt.decoding import Decoding
from paraloom.mt.endpoint import ENDPOINT_FILE, EndpointTranslator
from paraloom.mt.ensemble import ENSEMBLE_FILE, EnsembleTranslator
from paraloom.mt.language_model import LANGUAGE_MODEL_FILE, LanguageModelTranslator
from paraloom.mt.phrases.translator import PHRASE_FILE, PhraseTranslator
from paraloom.mt.translator import Translator


def open_translator(folder: str | Path, decode: str | Decoding, *, check_costs: bool = False) -> TranslatorLike:
    """Open the translator of a folder, for a stage."""
    translator: TranslatorLike
    if (Path(folder) / ENDPOINT_FILE).is_file():
        translator = EndpointTranslator.load(folder, decode)
    elif (Path(folder) / ENSEMBLE_FILE).is_file():
        translator = EnsembleTranslator.open(folder, decode)
    elif (Path(folder) / LANGUAGE_MODEL_FILE).is_file():
        translator = LanguageModelTranslator(folder, decode)
    elif (Path(folder) / PHRASE_FILE).is_file():
        translator = PhraseTranslator(folder, decode)
    else:
        translator = Translator.load(folder, decode=decode, check_costs=check_costs)
    return translator


def is_ready(folder: Path) -> bool:
    """Whether a folder has a translator that needs no conversion."""
    return any((folder / name).is_file() for name in ("model.bin", ENDPOINT_FILE, ENSEMBLE_FILE, PHRASE_FILE))
