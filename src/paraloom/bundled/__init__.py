"""Models that come with the package, found by name."""

from __future__ import annotations

from pathlib import Path

BUNDLED: dict[str, str] = {
    "de-en": "a small translator from German into English",
    "en-de": "a small translator from English into German",
    "english": "a fast English sentence encoder, an average of words and trigrams",
    "english-small": "a small English transformer, slower and better than `english`",
    "paraphrases-en": "a model of the probability that an English pair is a paraphrase, with the presets of filters",
}
"""Name of each bundled model → what it is."""


PARAPHRASE_MODEL = "paraphrases-en"
"""The bundled model of `p_paraphrase`, whose presets `paraloom filter --preset` has by default."""


def bundled_path(name: str) -> Path | None:
    """The folder of a bundled model, or None if `name` is not one of `BUNDLED`.

    Example:
        >>> bundled_path("de-en").name, bundled_path("fr-en")
        ('de-en', None)
    """
    return Path(__file__).parent / name if name in BUNDLED else None


SAMPLE = Path(__file__).parent / "sample.de-en.tsv"
"""400 German sentences of Tatoeba (CC BY 2.0 FR), each with two English translations: columns de, en, en_second."""
