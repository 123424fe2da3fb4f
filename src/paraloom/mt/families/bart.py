"""BART and PEGASUS: models of one language, such as paraphrasers."""

from __future__ import annotations

from paraloom.mt.families.base import EncoderDecoder

BART = EncoderDecoder("bart", "BART", (("tokenizer.json", "vocab.json"), ("tokenizer.json", "merges.txt")))
PEGASUS = EncoderDecoder("pegasus", "PEGASUS", (("tokenizer.json", "spiece.model"),))
