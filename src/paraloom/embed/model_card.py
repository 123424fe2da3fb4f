"""The card that lies in an encoder's folder: what it is, how it was made, and how it is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paraloom.embed.average import SentenceEncoder

FILE = "README.md"

_TAGS = "---\nlibrary_name: {library}\ntags:\n- sentence-similarity\n- {library}\n---\n"


def encoder_card(encoder: SentenceEncoder, training: Mapping[str, Any]) -> str:
    """Markdown.  training: settings and counts, as config.json has them; their sources' licences are for people to add.

    >>> import numpy as np
    >>> from paraloom.embed.average import Average
    >>> from paraloom.embed.spec import parse_spec
    >>> from paraloom.embed.vocabulary import Vocabulary
    >>> part = Average(Vocabulary("word", ["dog"]), np.float32([[1, 0]]))
    >>> card = encoder_card(SentenceEncoder(parse_spec("word"), {"word": part}), {"epochs": 5})
    >>> "| word | 1 |" in card, "| epochs | 5 |" in card
    (True, True)
    """
    parts = "".join(f"| {name} | {len(part.vocabulary):,} |\n" for name, part in encoder.parts.items())
    made = "".join(f"| {name} | {value} |\n" for name, value in training.items())
    return (
        f"{_TAGS.format(library='paraloom')}\n# Sentence encoder `{encoder.spec}`\n\n"
        f"{encoder.dimension} numbers a sentence; compare them by their cosine.\n\n"
        "    paraloom similarity FOLDER first.txt second.txt\n\n"
        f"| part | entries |\n|---|---:|\n{parts}\n"
        + (f"| made with | |\n|---|---:|\n{made}\n" if made else "")
        + f"Signature: `{encoder.signature}`\n"
    )


def exported_card(encoder: SentenceEncoder, *, plain: bool) -> str:
    """Markdown for a folder that sentence-transformers opens; plain: without code to trust."""
    trust = "" if plain else ", trust_remote_code=True"
    return (
        f"{_TAGS.format(library='sentence-transformers')}\n# A sentence encoder by Paraloom\n\n"
        f"`{encoder.spec}`, {encoder.dimension} dimensions, cosine similarity.\n\n"
        "```python\nfrom sentence_transformers import SentenceTransformer\n\n"
        f'SentenceTransformer("path/to/this/folder"{trust}).encode(["A sentence."])\n```\n\n'
        f"Signature: `{encoder.signature}`\n"
    )
