"""Evidence that two documents correspond: words, topics, images, and MultiNews' ratios of sizes and names."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.alignment.candidates import CandidatePairs, Matrix, dot_products, greatest, unit_rows, word_counts
from paraloom.alignment.document_features import Documents
from paraloom.alignment.images import group_images
from paraloom.alignment.lexicon import BilingualLexicon
from paraloom.alignment.topics import topic_vectors
from paraloom.core.array_types import Float32s, Floats, Ids
from paraloom.core.sorted_ids import find_ids
from paraloom.text.tokens import TokenLists

Lexicons = tuple[BilingualLexicon | None, BilingualLexicon | None]
"""From source to target, and from target to source; None where none is known."""

# Weight of a word that is the same in both texts, where a translation or a lexicon is evidence, too.
_COPY_WEIGHT = 0.5

# Words that a document may lead to expect in the other language: a lexicon has many improbable translations.
_MAX_EXPECTED = 256

# Shares of topics that differ less are the same.
_SAME = 1e-6

# Pairs whose vectors are in memory at a time, and documents whose expected words are.
_BLOCK, _DOCUMENTS = 65_536, 4096


class DocumentVectors(NamedTuple):
    """Sparse unit vectors of the documents on either side; the dot product of two is their similarity, 0 to 1."""

    source: Matrix
    target: Matrix


class DenseVectors(NamedTuple):
    """Unit vectors of the documents on either side."""

    source: Float32s
    target: Float32s


def word_vectors(source: Documents, target: Documents, lexicons: Lexicons) -> DocumentVectors:
    """Vectors whose product is the cosine of tf-idf weighted words, own and expected, the mean of both directions."""
    from scipy import sparse

    expected_target, actual_target = _direction(source, target, lexicons[0])
    expected_source, actual_source = _direction(target, source, lexicons[1])
    scale = np.float32(0.5**0.5)
    return DocumentVectors(
        sparse.csr_matrix(sparse.hstack([expected_target, actual_source]) * scale),
        sparse.csr_matrix(sparse.hstack([actual_target, expected_source]) * scale),
    )


def image_vectors(source: Documents, target: Documents) -> DocumentVectors:
    """Vectors whose product is the cosine of the images, weighted by their inverse document frequency."""
    from scipy import sparse

    numbers = group_images(image for side in (source, target) for images in side.images for image in images)
    counts = []
    for side in (source, target):
        cells = {
            (row, numbers[image]) for row, images in enumerate(side.images) for image in images if image in numbers
        }
        rows, columns = zip(*sorted(cells), strict=True) if cells else ((), ())
        shape = (len(side), max(1, len(set(numbers.values()))))
        counts.append(sparse.csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape))
    return _weighted(*counts)


def address_vectors(source: Documents, target: Documents) -> DocumentVectors | None:
    """Vectors whose product is the cosine of the parts of two addresses, weighted by inverse document frequency."""
    return _token_vectors(source.addresses, target.addresses)


def link_vectors(source: Documents, target: Documents) -> DocumentVectors | None:
    """As `address_vectors`, of the pages that two documents link to (Buck and Koehn 2016, WMT 2016)."""
    return _token_vectors(source.links, target.links)


def _token_vectors(source: TokenLists | None, target: TokenLists | None) -> DocumentVectors | None:
    if source is None or target is None:
        return None
    columns = np.unique(np.concatenate([source.ids, target.ids]))
    return _weighted(*(word_counts(side, columns).minimum(1) for side in (source, target)))


def _weighted(source: Matrix, target: Matrix) -> DocumentVectors:
    """Counts weighted by inverse document frequency, rows of norm 1."""
    from scipy import sparse

    frequencies = sum(np.asarray(side.sum(axis=0)).ravel() for side in (source, target))
    idf = sparse.diags(np.log((source.shape[0] + target.shape[0] + 1) / (frequencies + 0.5)))
    return DocumentVectors(unit_rows(source @ idf), unit_rows(target @ idf))


def encoder_vectors(source: Documents, target: Documents) -> DenseVectors | None:
    """Unit vectors, less the mean of their side, whose product is the cosine under an encoder; None without one."""
    if source.vectors is None or target.vectors is None or not (len(source) and len(target)):
        return None
    sides = []
    for vectors in (source.vectors, target.vectors):
        # One document alone would be its own mean.
        centered = vectors - vectors.mean(axis=0) if len(vectors) > 1 else vectors
        norms = np.linalg.norm(centered, axis=1, keepdims=True)
        sides.append((centered / np.maximum(norms, 1e-9)).astype(np.float32))
    return DenseVectors(sides[0], sides[1])


def dense_cosines(vectors: DenseVectors, pairs: CandidatePairs) -> Floats:
    """Cosine of each pair, 0 where it is negative: float64 (pairs,)."""
    cosines = np.empty(len(pairs.sources))
    for start in range(0, len(cosines), _BLOCK):
        block = slice(start, start + _BLOCK)
        a, b = vectors.source[pairs.sources[block]], vectors.target[pairs.targets[block]]
        cosines[block] = np.einsum("nd,nd->n", a, b)
    return np.maximum(cosines, 0)


def topic_unit_vectors(source: Documents, target: Documents, lexicons: Lexicons, seed: int) -> DenseVectors:
    """Unit vectors of topics (PARK17 §3) in the target's language, else the source's; 0 where no word tells one."""
    if source.translations is None and target.translations is not None:
        sides = [source.words, target.translations]
    else:
        sides = [words_in_other_language(source, lexicons[0]), target.words]
    units = []
    for vectors in topic_vectors(sides, seed=seed):
        distinct = np.ptp(vectors, axis=1, keepdims=True) > _SAME
        units.append(np.where(distinct, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(0)))
    return DenseVectors(units[0], units[1])


def multinews_scores(source: Documents, target: Documents, pairs: CandidatePairs) -> dict[str, Floats]:
    """The scores S, W and N of MultiNews, whose sum is its A (MNEWS §4)."""
    words = source.words.lengths[pairs.sources], target.words.lengths[pairs.targets]
    ratio = float(target.words.lengths.sum()) / max(1.0, float(source.words.lengths.sum()))
    columns = np.unique(np.concatenate([source.entities.ids, target.entities.ids]))
    names = [word_counts(side.entities, columns).minimum(1) for side in (source, target)]
    matched = dot_products(names[0], names[1], pairs)
    counts = [np.asarray(side.sum(axis=1)).ravel() for side in names]
    source_counts, target_counts = counts[0][pairs.sources], counts[1][pairs.targets]
    return {
        "sentences": _ratio(source.paragraph_counts[pairs.sources], target.paragraph_counts[pairs.targets]),
        "size": _ratio(*words),
        "length": _ratio(words[0] * ratio, words[1]),
        "entities": matched / np.maximum(source_counts, 1) * _ratio(source_counts, target_counts),
    }


def words_in_other_language(side: Documents, lexicon: BilingualLexicon | None) -> TokenLists:
    """The words of the translations, or else the lexicon's best translation of each word, or else the words."""
    if side.translations is not None:
        return side.translations
    return side.words if lexicon is None else lexicon.translate(side.words)


def _direction(predictors: Documents, observed: Documents, lexicon: BilingualLexicon | None) -> tuple[Matrix, Matrix]:
    """tf-idf vectors of the words expected by one side, and of the words of the other."""
    from scipy import sparse

    columns = np.unique(observed.words.ids)
    actual = word_counts(observed.words, columns)
    idf = sparse.diags(np.log((len(observed) + 1) / (actual.getnnz(axis=0) + 0.5)).astype(np.float32))
    table = None if lexicon is None else _translation_table(lexicon, columns)
    expected = [sparse.csr_matrix((0, len(columns)), dtype=np.float32)]
    for start in range(0, len(predictors), _DOCUMENTS):
        words = _part(predictors.words, start)
        counts = word_counts(words, columns)
        if lexicon is not None or predictors.translations is not None:
            counts = counts * np.float32(_COPY_WEIGHT)
        if lexicon is not None:
            counts = counts + word_counts(words, lexicon.words) @ table
        if predictors.translations is not None:
            counts = counts + word_counts(_part(predictors.translations, start), columns)
        expected.append(greatest(unit_rows(counts.log1p() @ idf), _MAX_EXPECTED))
    return sparse.vstack(expected, "csr"), unit_rows(actual.log1p() @ idf)


def _part(lists: TokenLists, start: int) -> TokenLists:
    """Some of the lists, from `start` on."""
    bounds = lists.offsets[start : start + _DOCUMENTS + 1]
    return TokenLists(lists.ids[bounds[0] : bounds[-1]], bounds - bounds[0])


def _translation_table(lexicon: BilingualLexicon, columns: Ids) -> Matrix:
    """The probabilities of translations: a row for each word of the lexicon, and the columns of the other side."""
    from scipy import sparse

    present, indices = find_ids(columns, lexicon.translations)
    words = np.repeat(np.arange(len(lexicon.words)), np.diff(lexicon.starts))
    return sparse.csr_matrix(
        (lexicon.probabilities[present], (words[present], indices[present])), (len(lexicon.words), len(columns))
    )


def _ratio(a: npt.ArrayLike, b: npt.ArrayLike) -> Floats:
    """The smaller of each two numbers over the greater."""
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    ratio: Floats = np.minimum(x, y) / np.maximum(np.maximum(x, y), 1)
    return ratio
