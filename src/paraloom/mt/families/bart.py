"""BART, and what has its architecture: PEGASUS, and the multilingual mBART-50, M2M100 and NLLB-200."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraloom.core.errors import ModelError
from paraloom.mt.families.base import EncoderDecoder

BART = EncoderDecoder("bart", "BART", (("tokenizer.json", "vocab.json"), ("tokenizer.json", "merges.txt")))
PEGASUS = EncoderDecoder("pegasus", "PEGASUS", (("tokenizer.json", "spiece.model"),))


def _tokenizer_class(folder: Path, default: str = "") -> str:
    path = folder / "tokenizer_config.json"
    settings: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return str(settings.get("tokenizer_class", default))


@dataclass(frozen=True)
class MultilingualBart(EncoderDecoder):
    """Its decoder starts with the end of sentence, followed by the language, a token such as `de_DE`."""

    def convert(self, checkpoint: Path, folder: Path, precision: str) -> None:
        if not (name := _tokenizer_class(checkpoint, "MBart50Tokenizer")).startswith("MBart50"):
            raise ModelError(
                f"its tokenizer is {name}, not that of mBART-50",
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


@dataclass(frozen=True)
class MultilingualM2m100(EncoderDecoder):
    """Its tokenizer keeps the language tokens, such as `__de__`, apart from its vocabulary."""

    def _added_tokens(self, tokenizer: object) -> dict[str, int]:
        return dict(getattr(tokenizer, "lang_token_to_id", {}))


M2M100 = MultilingualM2m100(
    "m2m100",
    "M2M100",
    (("sentencepiece.bpe.model",), ("vocab.json",), ("tokenizer_config.json",)),
    code=r"__([a-z]{2,3})__",
)


@dataclass(frozen=True)
class Nllb(EncoderDecoder):
    """Differs from M2M100, which has the same configuration, by its tokenizer, with codes of FLORES-200."""

    def fits(self, folder: Path) -> bool:
        """True if the tokenizer is NLLB's."""
        return _tokenizer_class(folder).startswith("Nllb")


NLLB = Nllb("nllb", "NLLB-200", (("tokenizer.json",), ("tokenizer_config.json",)), code=r"([a-z]{3}_[A-Z][a-z]{3})")
