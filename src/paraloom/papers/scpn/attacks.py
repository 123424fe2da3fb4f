"""Attacks on a classifier: paraphrases of a text by templates, by translation and back, and with one word replaced."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc

from paraloom.api import Paraphraser, RoundTripParaphraser
from paraloom.core.digests import digest
from paraloom.core.progress import progress
from paraloom.embed.average import SentenceEncoder, normalize_vectors
from paraloom.io.atomic import atomic_write
from paraloom.pairs.scoring.judge import Judge
from paraloom.papers.one_convention import one_convention
from paraloom.papers.scpn.measure_control import known_templates
from paraloom.paraphrasing.paraphraser import ControlledParaphraser
from paraloom.paraphrasing.templates import SCPN_TEMPLATES
from paraloom.text.tokens import words

WRITTEN = len(SCPN_TEMPLATES)
"""Paraphrases of a text by each attack, at most: as many as there are templates."""

KEPT = 0.5
"""Lowest probability that a text and its paraphrase say the same, by the judge, in both orders."""

_BATCH = 50
_NEIGHBORS = 4

# What remains of the Penn Treebank's tokenization behind `one_convention`.
_TOKENIZED = ((r"``", '"'), (r"-[lr][rs]b-", ""), (r"\\/", "/"), (r" +([,.;:?!%])", r"\1"))


class Attack(NamedTuple):
    """Writes paraphrases of each text, of which the first `WRITTEN` that differ count."""

    signature: str
    write: Callable[[list[str]], list[list[str]]]


class Rewording(NamedTuple):
    """A paraphrase, and the lower of the judge's probabilities that it says the same in both orders; 1 for a copy."""

    text: str
    judged: float

    @property
    def keeps(self) -> bool:
        """Whether it keeps the meaning, by the judge."""
        return self.judged >= KEPT


def by_templates(paraphraser: str | Path) -> Attack:
    """One paraphrase by each of SCPN's ten templates; a template with a label that the model lacks is left out."""
    model = Paraphraser.load(paraphraser)
    templates = [template for template in known_templates(model, SCPN_TEMPLATES, None) if template]
    # What is written is not parsed: there is one candidate of each template.
    writer = ControlledParaphraser(model.translator, model.settings, model.templates)

    def write(texts: list[str]) -> list[list[str]]:
        asked = [text for text in texts for _ in templates]
        groups = iter(writer.candidates(asked, n=1, template=templates * len(texts), decode="greedy"))
        return [[one.text for group in islice(groups, len(templates)) for one in group[:1]] for _ in texts]

    return Attack(digest([writer.signature, templates]), write)


def by_translation(forward: str, backward: str) -> Attack:
    """The best translations back of three translations, the baseline that the paper calls NMT-BT."""
    trip = RoundTripParaphraser.load(forward, backward)

    def write(texts: list[str]) -> list[list[str]]:
        return [[one.text for one in of_text] for of_text in trip.paraphrase(texts, n=WRITTEN)]

    return Attack(trip.signature, write)


def by_one_word(encoder: SentenceEncoder) -> Attack:
    """One word replaced by one of its nearest in an encoder's vectors, the nearest replacements first."""
    part = encoder.parts["word"]
    entries, vectors = part.vocabulary.entries, normalize_vectors(part.vectors)
    rows = {word: row for row, word in enumerate(entries)}

    def near(word: str) -> list[tuple[float, str]]:
        cosines = vectors @ vectors[rows[word]]
        best = np.argsort(-cosines)[: _NEIGHBORS + 1].tolist()
        return [(float(cosines[row]), entries[row]) for row in best if entries[row] != word]

    known: dict[str, list[tuple[float, str]]] = {}

    def write(texts: list[str]) -> list[list[str]]:
        return [list(islice(_replaced(text), WRITTEN)) for text in texts]

    def _replaced(text: str) -> list[str]:
        parts = text.split(" ")
        substitutes = []
        for position, part in enumerate(parts):
            word = "".join(words(part, punctuation=False)).lower()
            if word in rows and word.isalpha():
                if word not in known:
                    known[word] = near(word)
                substitutes += [(cosine, position, part.lower().replace(word, other)) for cosine, other in known[word]]
        substitutes.sort(key=lambda one: (-one[0], one[1:]))
        return [" ".join([*parts[:at], other, *parts[at + 1 :]]) for _, at, other in substitutes]

    return Attack(digest([encoder.signature, _NEIGHBORS]), write)


def by_copying() -> Attack:
    """The text itself: nothing flips, and training on copies is training longer."""
    return Attack("copy", lambda texts: [[text] for text in texts])


def reworded(attack: Attack, judge: Judge, texts: Sequence[str], folder: Path) -> list[list[Rewording]]:
    """What an attack writes for texts, judged; each batch is kept in a file, so that a stopped call resumes."""
    results: list[list[Rewording]] = []
    with progress("paraphrasing", len(texts), unit="texts") as advance:
        for first in range(0, len(texts), _BATCH):
            batch = list(texts[first : first + _BATCH])
            file = folder / f"{digest([attack.signature, judge.signature, batch])[:16]}.json"
            if not file.is_file():
                with atomic_write(file) as temporary:
                    temporary.write_text(json.dumps(_judged(judge, batch, attack.write(batch))), encoding="utf-8")
            read = json.loads(file.read_text(encoding="utf-8"))
            results += [[Rewording(*one) for one in of_text] for of_text in read]
            advance(len(batch))
    return results


def _judged(judge: Judge, texts: Sequence[str], groups: Sequence[Sequence[str]]) -> list[list[Rewording]]:
    distinct = [list(dict.fromkeys(group))[:WRITTEN] for group in groups]
    pairs = [(text, one) for text, group in zip(texts, distinct, strict=True) for one in group]
    verdicts = np.array([float(text == one) for text, one in pairs])
    rows = np.flatnonzero(verdicts == 0)
    for order in ((0, 1), (1, 0)):
        first, second = ([pairs[row][side] for row in rows] for side in order)
        asked = np.nan_to_num(judge.predict(first, second))  # an empty text has no verdict, and keeps nothing
        verdicts[rows] = asked if order == (0, 1) else np.minimum(verdicts[rows], asked)
        rows = rows[verdicts[rows] >= KEPT]
    lowest = iter(verdicts.tolist())
    return [[Rewording(one, round(next(lowest), 4)) for one in group] for group in distinct]


def plain_text(texts: Sequence[str]) -> list[str]:
    """Texts without the tokenization of treebanks; brackets go, the spaces around them stay."""
    changed = one_convention(texts)
    for pattern, replacement in _TOKENIZED:
        changed = pc.replace_substring_regex(changed, pattern=pattern, replacement=replacement)
    written: list[str] = pc.utf8_trim_whitespace(changed).to_pylist()
    return written
