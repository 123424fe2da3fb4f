"""Names of the figures of variants in tables for people, and what they mean."""

from __future__ import annotations

NAMES = {
    "ibleu": "i-BLEU",
    "ichrf": "i-chrF",
    "kernel_st": "subtrees",
    "kernel_sst": "subset trees",
    "kernel_bbh22": "BBH22's trees",
    "sentence_length": "words",
    "word_length": "letters",
    "bytes_per_word": "bytes",
    "folded_vocabulary": "vocabulary",
    "cost": "cost",
    "chrf": "chrF",
}
"""Figure → its name in tables, in their order."""

NOTE = (
    "± is half the width of a 95 % interval. sources: with two or more variants; alone: with one. i-BLEU, i-chrF and\n"
    "tree kernel differences: 0 to 100, higher is more diverse; an empty variant differs from all others, also from\n"
    "empty ones. words: per sentence; letters and bytes: per word, with white space among the bytes; vocabulary:\n"
    "different words, ignoring ASCII case and punctuation. Burchell et al. (2022) print words, bytes and vocabulary.\n"
    "cost: nats per token, lower is more likely. chrF: against the reference, 0 to 100."
)
"""Explanation below such a table."""
