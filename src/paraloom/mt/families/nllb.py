"""NLLB-200: 202 languages, whose codes of FLORES-200 stand before the source and begin the translation."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from paraloom.mt.families.base import EncoderDecoder


@dataclass(frozen=True)
class Nllb(EncoderDecoder):
    """Differs from M2M100, which has the same configuration, by its tokenizer."""

    def fits(self, folder: Path) -> bool:
        """True if the tokenizer is NLLB's."""
        path = folder / "tokenizer_config.json"
        settings = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        return str(settings.get("tokenizer_class", "")).startswith("Nllb")


NLLB = Nllb("nllb", "NLLB-200", (("tokenizer.json",), ("tokenizer_config.json",)), code=r"([a-z]{3}_[A-Z][a-z]{3})")
