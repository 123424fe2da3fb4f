"""What the figures of variants are called in tables for people, and what they mean."""

from __future__ import annotations

NAMES = {
    "ibleu": "i-BLEU",
    "ichrf": "i-chrF",
    "kernel_st": "subtrees",
    "kernel_sst": "subset trees",
    "kernel_ptk": "partial trees",
    "kernel_bbh22": "BBH22's trees",
    "sentence_length": "words",
    "word_length": "letters",
    "bytes_per_word": "bytes",
    "folded_vocabulary": "vocabulary",
    "cost": "cost",
    "chrf": "chrF",
}
"""The names of the figures that tables show, in their order."""

NOTE = (
    "± is half the width of a 95 % interval. sources: with two variants and more; alone: with one. i-BLEU, i-chrF,\n"
    "differences of trees: 0 to 100, higher is more diverse; an empty variant is like no other, empty ones included.\n"
    "words: of a sentence; letters and bytes: of a word, blanks among the bytes; vocabulary: words, ASCII case and\n"
    "punctuation aside. BBH22's tables have words, bytes and vocabulary. cost: nats a token, lower is likelier.\n"
    "chrF: to the reference, 0 to 100."
)
"""What stands below such a table."""
