"""What speaks for a pair of documents: words, topics, pictures, and MultiNews' ratios of sentences, words and names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.align.candidates import Candidates, Matrix, counts_of, products, sparse, unit_rows
from paraloom.align.document_features import Documents
from paraloom.align.lexicon import Lexicon
from paraloom.align.same_images import same_pictures
from paraloom.align.topics import topic_vectors
from paraloom.text.tokens import TokenLists

Floats = npt.NDArray[np.float64]
Lexicons = tuple[Lexicon | None, Lexicon | None]

# What a word counts that is the same in both texts, beside one that a translation or the lexicon gives.
_SHARED = 0.5


class Vectors(NamedTuple):
    """A row for each document of either side; the product of two rows is their likeness, 0 to 1."""

    source: Matrix
    target: Matrix


def word_vectors(source: Documents, target: Documents, lexicons: Lexicons) -> Vectors:
    """Cosines of words weighted by rarity, log(1 + count) · idf, mean over both directions.

    The idf is that of the direction's receiver, log((documents + 1) / (those with the word + ½)).  lexicons: source to
    target, and target to source; None where none is known.  In each direction a document is what the other language is
    led to expect by it: its translation's words, its own where they are the same, and those of the lexicon.
    """
    ahead = _direction(source, target, lexicons[0])
    back = _direction(target, source, lexicons[1])
    scale = np.float32(0.5**0.5)
    return Vectors(
        sparse.csr_matrix(sparse.hstack([ahead[0], back[1]]) * scale),
        sparse.csr_matrix(sparse.hstack([ahead[1], back[0]]) * scale),
    )


def picture_vectors(source: Documents, target: Documents) -> Vectors:
    """Cosines of the pictures that two documents show, each weighted by how few documents show it.

    See same_pictures for which are the same.  A document without pictures, or with such alone of which nothing is
    known, has an empty row: it is like no other.
    """
    numbers = same_pictures(each for side in (source, target) for shown in side.pictures for each in shown)
    counts = []
    for side in (source, target):
        cells = {
            (place, numbers[each]) for place, shown in enumerate(side.pictures) for each in shown if each in numbers
        }
        rows, columns = zip(*sorted(cells), strict=True) if cells else ((), ())
        shape = (len(side), max(1, len(set(numbers.values()))))
        counts.append(sparse.csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape))
    seen = sum(np.asarray(each.sum(axis=0)).ravel() for each in counts)
    rarity = sparse.diags(np.log((len(source) + len(target) + 1) / (seen + 0.5)))
    return Vectors(*(unit_rows(each @ rarity) for each in counts))


def topic_cosines(source: Documents, target: Documents, lexicons: Lexicons, pairs: Candidates, seed: int) -> Floats:
    """Cosine of the topics of each pair (PARK17 §3), float64 (pairs,), 0 to 1.

    Both texts are in the target's language; in the source's, where only the target was translated.  Raises MissingExtraError
    without tomotopy.
    """
    if source.translation is None and target.translation is not None:
        sides = [source.words, target.translation]
    else:
        sides = [pivoted(source, lexicons[0]), target.words]
    vectors = [sparse.csr_matrix(each) for each in topic_vectors(sides, seed=seed)]
    return products(unit_rows(vectors[0]), unit_rows(vectors[1]), pairs)


def multinews(source: Documents, target: Documents, pairs: Candidates) -> dict[str, Floats]:
    """S, W and N of each pair as `sentences`, `length`, `entities`: float64 (pairs,), 0 to 1 (MNEWS; A is their sum).

    S, W: the fewer sentences, or words, over the more.  N: the share of the source's entities that the target has,
    times the fewer entities over the more.
    """
    found = {"sentences": _ratio(source.sentences[pairs.sources], target.sentences[pairs.targets])}
    # A language may use more words throughout; only what differs from that counts.
    usual = float(target.words.lengths.sum()) / max(1.0, float(source.words.lengths.sum()))
    found["length"] = _ratio(source.words.lengths[pairs.sources] * usual, target.words.lengths[pairs.targets])
    columns = np.unique(np.concatenate([source.entities.ids, target.entities.ids]))
    names = [counts_of(side.entities, columns).minimum(1) for side in (source, target)]
    matched = products(names[0], names[1], pairs)
    counts = [np.asarray(each.sum(axis=1)).ravel() for each in names]
    ours, theirs = counts[0][pairs.sources], counts[1][pairs.targets]
    found["entities"] = matched / np.maximum(ours, 1) * _ratio(ours, theirs)
    return found


def pivoted(side: Documents, lexicon: Lexicon | None) -> TokenLists:
    """A side's words in the other language: its translation, or the lexicon's likeliest for each, or as they are."""
    if side.translation is not None:
        return side.translation
    return side.words if lexicon is None else lexicon.likeliest(side.words)


def _direction(giver: Documents, receiver: Documents, lexicon: Lexicon | None) -> tuple[Matrix, Matrix]:
    columns = np.unique(receiver.words.ids)
    said = counts_of(receiver.words, columns)
    led = counts_of(giver.words, columns)
    if lexicon is not None or giver.translation is not None:
        led = led * np.float32(_SHARED)
    if lexicon is not None:
        led = led + _expected(giver.words, lexicon, columns)
    if giver.translation is not None:
        led = led + counts_of(giver.translation, columns)
    rarity = sparse.diags(np.log((len(receiver) + 1) / (said.getnnz(axis=0) + 0.5)))
    return unit_rows(led.log1p() @ rarity), unit_rows(said.log1p() @ rarity)


def _expected(lists: TokenLists, lexicon: Lexicon, columns: npt.NDArray[np.uint64]) -> Matrix:
    places = np.searchsorted(columns, lexicon.others)
    there = places < len(columns)
    there[there] = columns[places[there]] == lexicon.others[there]
    words = np.repeat(np.arange(len(lexicon.words)), np.diff(lexicon.starts))
    table = sparse.csr_matrix(
        (lexicon.shares[there], (words[there], places[there])), (len(lexicon.words), len(columns))
    )
    return counts_of(lists, lexicon.words) @ table


def _ratio(a: Sequence[float] | npt.NDArray[np.generic], b: Sequence[float] | npt.NDArray[np.generic]) -> Floats:
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    found: Floats = np.minimum(x, y) / np.maximum(np.maximum(x, y), 1)
    return found
