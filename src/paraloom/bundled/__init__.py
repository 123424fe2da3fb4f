"""Models that come with the package, found by name."""

from __future__ import annotations

from pathlib import Path

BUNDLED: dict[str, str] = {
    "de-en": "a small translator from German into English",
    "en-de": "a small translator from English into German",
    "english": "a fast English sentence encoder, an average of words and trigrams",
    "english-judge": "a small model that reads two English sentences and says whether they mean the same",
    "english-paraphraser": "a small English paraphraser, free, by a template, or like an example",
    "english-parser": "an English constituency parser",
    "english-small": "a small English transformer, slower and better than `english`",
    "multilingual": "an encoder of eight languages, for alignment: cs, de, en, es, fr, is, ko, tr",
    "paraphrases-en": "a model of the probability that an English pair is a paraphrase, with the presets of filters",
}
"""Name of each bundled model → what it is."""


ALIGNMENT_ENCODER = "multilingual"
"""The bundled encoder of eight languages, evidence of sentence alignment by default."""


PARAPHRASE_MODEL = "paraphrases-en"
"""The bundled model of `p_paraphrase`, whose presets `paraloom filter --preset` has by default."""


JUDGE_MODEL = "english-judge"
"""The bundled model of the score `judge`."""


PARAPHRASER, PARSER = "paraphraser", "parser"
"""Kinds of models that have the name of their language, too: as a paraphraser, 'english' is `english-paraphraser`."""

ENCODERS = ("english", "english-small", "multilingual")
"""Names of bundled encoders."""

PARAPHRASERS = ("english", "english-paraphraser")
"""Names of bundled paraphrasers."""

_INSIDE = {"english-parser": "english-paraphraser/parser"}
"""The paraphraser needs the parser: its folder is complete, and has it."""


def bundled_path(name: str, kind: str = "") -> Path | None:
    """The folder of a bundled model, or None; of a PARAPHRASER or PARSER, as `kind` says, also by its language."""
    if f"{name}-{kind}" in BUNDLED:
        name = f"{name}-{kind}"
    return Path(__file__).parent / _INSIDE.get(name, name) if name in BUNDLED else None


SAMPLE = Path(__file__).parent / "sample.de-en.tsv"
"""400 German sentences of Tatoeba (CC BY 2.0 FR), each with two English translations: columns de, en, en_second."""

KINDS_OF_TEXT = Path(__file__).parent / "kinds.de-en.tsv"
"""60 sentences of each of five kinds of text, columns kind, de, en: what fetched translators are measured on."""

WORD_COUNTS = Path(__file__).parent / "word-counts-en.npz"
"""How often English words are neighbors, and stand for each other where sentences have a translation in common."""

REWRITES = Path(__file__).parent / "rewrites-en.tsv"
"""Wordings of English that say the same: regular expressions, and what is written in their place."""
