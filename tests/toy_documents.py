"""Documents of two made-up languages whose counterparts are known: words by a dictionary, a few names in both."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from paraloom.alignment.document_features import Documents
from paraloom.alignment.images import ImageKey
from paraloom.core.schema import DOCUMENTS
from paraloom.io import Corpus, write_corpus


@dataclass(frozen=True)
class Page:
    """A document; translation: its text in the other language, line by line."""

    name: str
    lang: str
    text: str
    translation: str = ""
    images: list[ImageKey] = field(default_factory=list)


@dataclass(frozen=True)
class World:
    """Pages of both sides, shuffled apart, and the true pairs by name."""

    source: list[Page]
    target: list[Page]
    gold: set[tuple[str, str]]


def words(rng: random.Random, count: int, consonants: str) -> list[str]:
    """Distinct made-up words of two or three syllables."""
    spellings: dict[str, None] = {}
    while len(spellings) < count:
        syllables = ["".join(rng.choice(part) for part in (consonants, "aeiou")) for _ in range(rng.randint(2, 3))]
        spellings["".join(syllables)] = None
    return list(spellings)


def made_up_world(pairs: int = 54, alone: int = 6, twins: int = 1, seed: int = 1, *, strangers: bool = False) -> World:
    """`pairs` documents a side that have a counterpart and `alone` that have none; pair 1 differs little from pair 0.

    Sentences are in the same order; some are missing on the target side, and one in four has a number or a name.
    Documents without a counterpart resemble others by chance; where they are strangers, they have words of their own.
    """
    rng = random.Random(seed)
    kal, english = words(rng, 300, "bdgklm"), words(rng, 300, "fhnprstvwz")
    dictionary = dict(zip(kal, english, strict=True))
    names = [str(rng.randint(100, 999)) for _ in range(20)] + words(rng, 20, "qjx")
    texts: list[list[str]] = []
    for number in range(pairs + 2 * alone):
        if 0 < number <= twins:
            texts.append([*texts[0][:-3], *sentences(rng, kal, names, 3)])
        else:
            count = rng.randint(9, 18)
            if strangers and number >= pairs:
                prefix = "c" if number < pairs + alone else "y"
                texts.append(sentences(rng, [prefix + word for word in kal], [], count))
            else:
                texts.append(sentences(rng, kal, names, count))
    source, target = [], []
    gold = set()
    for number, text in enumerate(texts):
        translation = [" ".join(dictionary.get(word, word) for word in line.split()) for line in text]
        if number < pairs + alone:
            source.append(Page(f"k{rng.getrandbits(40):x}", "kl", "\n".join(text), "\n".join(translation)))
        if number < pairs or number >= pairs + alone:
            kept = [line for line in translation if rng.random() > 0.08]
            target.append(Page(f"e{rng.getrandbits(40):x}", "en", "\n".join(kept)))
        if number < pairs:
            gold.add((source[-1].name, target[-1].name))
    rng.shuffle(source)
    rng.shuffle(target)
    return World(source, target, gold)


def sentences(rng: random.Random, vocabulary: Sequence[str], names: Sequence[str], count: int) -> list[str]:
    """Sentences of one document: half of its words are among thirty of its own, the others any."""
    own = rng.sample(vocabulary, 30)
    ranks = [1 / (1 + rank) for rank in range(len(vocabulary))]
    lines = []
    for _ in range(count):
        chosen = [
            rng.choice(own) if rng.random() < 0.5 else rng.choices(vocabulary, ranks)[0]
            for _ in range(rng.randint(5, 11))
        ]
        lines.append(" ".join([*chosen, *([rng.choice(names)] if names and rng.random() < 0.25 else [])]))
    return lines


def write_pages(folder: Path, pages: Sequence[Page], *, translated: bool = False, shard_rows: int = 5000) -> Corpus:
    """A corpus of the pages; their addresses say nothing about their pairs."""
    rows = [
        {
            "doc_id": page.name,
            "lang": page.lang,
            "url": f"https://example.org/{page.name}",
            "title": page.name,
            "text": page.text,
            "images": [
                {"src": f"{image.sha256}.png", "alt": "", "sha256": image.sha256, "phash": image.phash}
                for image in page.images
            ],
        }
        for page in pages
    ]
    batch = pa.RecordBatch.from_pylist(rows, schema=DOCUMENTS)
    if translated:
        batch = batch.append_column("translation", pa.array([page.translation for page in pages], pa.string()))
    return write_corpus(folder, [batch], kind="DOCUMENTS", shard_rows=shard_rows)


def documents(
    texts: Sequence[str],
    translations: Sequence[str] | None = None,
    images: Sequence[list[ImageKey]] | None = None,
    prefix: str = "d",
) -> Documents:
    """Documents in memory, named d0, d1 …"""
    ids = [f"{prefix}{index}" for index in range(len(texts))]
    return Documents.from_texts(texts, ids=ids, translations=translations, images=images)
