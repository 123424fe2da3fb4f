"""Opens the translator of a folder, of whichever kind: converted, or an endpoint."""

from __future__ import annotations

from pathlib import Path

from paraloom.core.lazy import load_object
from paraloom.core.protocols import TranslatorLike
from paraloom.mt.decoding import Decoding
from paraloom.mt.translator import Translator

KINDS: dict[str, str] = {
    "endpoint.json": "paraloom.mt.endpoint:EndpointTranslator.load",
    "phrase-translator.json": "paraloom.papers.park17.phrase_translator:PhraseTranslator",
}
"""File by which a kind of translator is known → the function that opens its folder with a decoding."""


def open_translator(folder: str | Path, decode: str | Decoding, *, check_costs: bool = False) -> TranslatorLike:
    """Open the translator of a folder, for a stage."""
    for file, kind in KINDS.items():
        if (Path(folder) / file).is_file():
            opened: TranslatorLike = load_object(kind)(folder, decode)
            return opened
    translator: TranslatorLike = Translator.load(folder, decode=decode, check_costs=check_costs)
    return translator


def is_ready(folder: Path) -> bool:
    """True if a folder has a translator that needs no conversion."""
    return any((folder / name).is_file() for name in ("model.bin", *KINDS))
