"""M2M100: 100 languages, as tokens `__de__` before the source and at the start of translations."""

from __future__ import annotations

from dataclasses import dataclass

from paraloom.mt.families.base import EncoderDecoder


@dataclass(frozen=True)
class MultilingualM2m100(EncoderDecoder):
    """Its tokenizer keeps the language tokens apart from its vocabulary."""

    def _added_tokens(self, tokenizer: object) -> dict[str, int]:
        return dict(getattr(tokenizer, "lang_token_to_id", {}))


M2M100 = MultilingualM2m100(
    "m2m100",
    "M2M100",
    (("sentencepiece.bpe.model",), ("vocab.json",), ("tokenizer_config.json",)),
    code=r"__([a-z]{2,3})__",
)
