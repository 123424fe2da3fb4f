"""Documents of two made-up languages whose counterparts are known: words by a toy dictionary, a few names in both."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from paraloom.align.document_features import Documents, paragraphs_in
from paraloom.align.entities import entity_lists
from paraloom.align.same_images import Picture
from paraloom.core.schema import DOCUMENTS
from paraloom.io import Corpus, write_corpus
from paraloom.text.tokens import tokens


@dataclass(frozen=True)
class Page:
    """A document; translation: its text in the other language, line by line."""

    name: str
    lang: str
    text: str
    translation: str = ""
    pictures: list[Picture] = field(default_factory=list)


@dataclass(frozen=True)
class World:
    """Pages of both sides, shuffled apart, and the true pairs by name."""

    source: list[Page]
    target: list[Page]
    gold: set[tuple[str, str]]


def words(rng: random.Random, count: int, consonants: str) -> list[str]:
    """Different made-up words of two or three syllables."""
    found: dict[str, None] = {}
    while len(found) < count:
        syllables = ["".join(rng.choice(part) for part in (consonants, "aeiou")) for _ in range(rng.randint(2, 3))]
        found["".join(syllables)] = None
    return list(found)


def made_up_world(pairs: int = 54, alone: int = 6, twins: int = 1, seed: int = 1) -> World:
    """`pairs` documents a side that have a counterpart and `alone` that have none; pair 1 differs little from pair 0.

    Sentences stand in the same order; some are missing on the target's side, and one in four has a number or a name.
    """
    rng = random.Random(seed)
    kal, english = words(rng, 300, "bdgklm"), words(rng, 300, "fhnprstvwz")
    dictionary = dict(zip(kal, english, strict=True))
    names = [str(rng.randint(100, 999)) for _ in range(20)] + words(rng, 20, "qjx")
    made: list[list[str]] = []
    for place in range(pairs + 2 * alone):
        if 0 < place <= twins:
            made.append([*made[0][:-3], *sentences(rng, kal, names, 3)])
        else:
            made.append(sentences(rng, kal, names, rng.randint(9, 18)))
    source, target = [], []
    gold = set()
    for place, text in enumerate(made):
        put = [" ".join(dictionary.get(word, word) for word in line.split()) for line in text]
        if place < pairs + alone:
            source.append(Page(f"k{rng.getrandbits(40):x}", "kl", "\n".join(text), "\n".join(put)))
        if place < pairs or place >= pairs + alone:
            kept = [line for line in put if rng.random() > 0.08]
            target.append(Page(f"e{rng.getrandbits(40):x}", "en", "\n".join(kept)))
        if place < pairs:
            gold.add((source[-1].name, target[-1].name))
    rng.shuffle(source)
    rng.shuffle(target)
    return World(source, target, gold)


def sentences(rng: random.Random, vocabulary: Sequence[str], names: Sequence[str], count: int) -> list[str]:
    """Sentences of one document: half of its words are of thirty that it likes, the others any."""
    liked = rng.sample(vocabulary, 30)
    ranks = [1 / (1 + rank) for rank in range(len(vocabulary))]
    found = []
    for _ in range(count):
        chosen = [
            rng.choice(liked) if rng.random() < 0.5 else rng.choices(vocabulary, ranks)[0]
            for _ in range(rng.randint(5, 11))
        ]
        found.append(" ".join([*chosen, *([rng.choice(names)] if rng.random() < 0.25 else [])]))
    return found


def write_pages(folder: Path, pages: Sequence[Page], *, translated: bool = False, shard_rows: int = 5000) -> Corpus:
    """A corpus of the pages; the address says nothing, either."""
    rows = [
        {
            "doc_id": page.name,
            "lang": page.lang,
            "url": f"https://example.org/{page.name}",
            "title": page.name,
            "text": page.text,
            "images": [
                {"src": f"{each.sha256}.png", "alt": "", "sha256": each.sha256, "phash": each.phash}
                for each in page.pictures
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
    pictures: Sequence[list[Picture]] | None = None,
    prefix: str = "d",
) -> Documents:
    """Documents in memory, by the names d0, d1 …"""
    lines = [paragraphs_in(text) for text in texts]
    made = None if translations is None else [paragraphs_in(text) for text in translations]
    return Documents(
        [f"{prefix}{place}" for place in range(len(texts))],
        tokens(texts),
        entity_lists(texts),
        np.array([len(each) for each in lines], np.int64),
        list(pictures) if pictures is not None else [[] for _ in texts],
        lambda places: {place: lines[place] for place in places},
        None if translations is None else tokens(translations),
        None if made is None else lambda places: {place: made[place] for place in places},
    )
