"""mBART-50: 52 languages, as tokens `de_DE` before the source and at the start of translations."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from paraloom.core.errors import ModelError
from paraloom.mt.families.base import EncoderDecoder


@dataclass(frozen=True)
class MultilingualBart(EncoderDecoder):
    """Its decoder starts with the end of sentence, followed by the language."""

    def convert(self, checkpoint: Path, folder: Path, precision: str) -> None:
        path = checkpoint / "tokenizer_config.json"
        settings = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        if not str(settings.get("tokenizer_class", "MBart50Tokenizer")).startswith("MBart50"):
            raise ModelError(
                f"its tokenizer is {settings['tokenizer_class']}, not that of mBART-50",
                file=checkpoint,
                remedy="Of mBART, models with 50 languages are supported, such as mbart-large-50-many-to-many-mmt.",
            )
        super().convert(checkpoint, folder, precision)

    def _check_vocabulary(self, checkpoint: Path, folder: Path, tokens: list[str]) -> None:  # type: ignore[override]
        super()._check_vocabulary(checkpoint, folder, tokens)
        # CTranslate2 goes by a key of config.json that transformers 5 need not write.
        path = folder / "config.json"
        config = json.loads(path.read_text(encoding="utf-8")) | {"decoder_start_token": "</s>"}
        path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


MBART50 = MultilingualBart(
    "mbart50",
    "mBART-50",
    (("tokenizer.json", "sentencepiece.bpe.model"), ("tokenizer_config.json",)),
    code=r"([a-z]{2}_[A-Z]{2})",
)
