"""Evidence that documents correspond, against plain references: words, names, images; and the candidate pairs."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from toy_documents import documents

from paraloom.alignment.candidates import (
    CandidatePairs,
    dot_products,
    greatest,
    nearest_dense_pairs,
    nearest_pairs,
    union,
    unit_rows,
    word_counts,
)
from paraloom.alignment.document_evidence import (
    dense_cosines,
    encoder_vectors,
    image_vectors,
    multinews_scores,
    word_vectors,
    words_in_other_language,
)
from paraloom.alignment.document_features import Documents, entities, entity_lists
from paraloom.alignment.images import MAX_BITS, ImageKey, group_images
from paraloom.alignment.lexicon import BilingualLexicon
from paraloom.core.errors import DataError
from paraloom.text.tokens import token_hash, tokenize


def all_pairs(source: Documents, target: Documents) -> CandidatePairs:
    cells = np.array(list(product(range(len(source)), range(len(target)))), np.int64).reshape(-1, 2)
    return CandidatePairs(cells[:, 0], cells[:, 1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Open the Writer window.", ["writer"]),
        ("Sentences begin so. Not every capital is one.", []),
        ("the NASA, the LibreOffice and an iPhone", ["nasa", "libreoffice", "iphone"]),
        ("in Österreich und Émile", ["österreich", "émile"]),
        ("on 24.12.1999 at 12:30, 1,000 times", ["24.12.1999", "12:30", "1,000"]),
        ("Visit https://a.org/a_b?c=1, or www.b.org.", ["https://a.org/a_b?c=1", "www.b.org"]),
        ("F11 키를 누르면 writer 창이 열립니다.", ["11", "f11", "writer"]),
        ("Debian and Debian, the Debian", ["debian"]),
        ("", []),
    ],
)
def test_entities_are_recognized_by_their_spelling(text: str, expected: list[str]) -> None:
    assert entities(text) == expected
    assert len(entity_lists([text]).ids) == len(expected), "one id for each entity"


def test_multinews_scores_by_hand() -> None:
    """Three sentences to two; 6 words to 9 where the target has 12 to the source's 8 throughout; 2 of 3 names to 4."""
    source = documents(["in Rome\nof Oslo\nfrom Bonn", "one two"])
    target = documents(["a Rome a Oslo a\na Kyiv a Lima", "a b c"])
    scores = multinews_scores(source, target, CandidatePairs(np.array([0, 0]), np.array([0, 1])))
    assert scores["sentences"].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert scores["length"].tolist() == pytest.approx([1.0, 3 / 9]), "8 words of 8, and 12 of 12"
    assert scores["size"].tolist() == pytest.approx([6 / 9, 3 / 6])
    assert scores["entities"].tolist() == pytest.approx([2 / 3 * 3 / 4, 0])
    paper = ("sentences", "size", "entities")
    assert sum(scores[name][0] for name in paper) == pytest.approx(2 / 3 + 6 / 9 + 1 / 2)


def test_multinews_scores_of_empty_documents_are_zero() -> None:
    source, target = documents(["", "a"]), documents(["b", ""])
    scores = multinews_scores(source, target, all_pairs(source, target))
    assert scores["sentences"].tolist() == scores["length"].tolist() == scores["size"].tolist() == [0, 0, 1, 0]
    assert scores["entities"].tolist() == [0] * 4


Table = dict[str, dict[str, float]]
"""Word → translation → probability."""


def lexicon_from(table: Table) -> BilingualLexicon:
    rows = sorted((token_hash(word), translations) for word, translations in table.items())
    starts = np.cumsum([0, *(len(translations) for _, translations in rows)])
    flat = [(token_hash(other), share) for _, translations in rows for other, share in translations.items()]
    return BilingualLexicon(
        np.array([word for word, _ in rows], np.uint64),
        starts,
        np.array([other for other, _ in flat], np.uint64),
        np.array([share for _, share in flat], np.float32),
    )


def plain_direction(
    predictors: list[str], observed: list[str], translations: list[str] | None, table: Table | None
) -> np.ndarray:
    """Cosines of each predictor with each observed document, word by word."""
    actual = [Counter(text.split()) for text in observed]
    frequencies = Counter(word for counts in actual for word in counts)
    idf = {word: math.log((len(observed) + 1) / (count + 0.5)) for word, count in frequencies.items()}
    expected = []
    for row, text in enumerate(predictors):
        copy = 1.0 if translations is None and table is None else 0.5
        counts = {word: copy * count for word, count in Counter(text.split()).items()}
        for word, count in Counter(text.split()).items():
            for other, share in (table or {}).get(word, {}).items():
                counts[other] = counts.get(other, 0.0) + count * share
        for word, count in Counter(translations[row].split() if translations else []).items():
            counts[word] = counts.get(word, 0.0) + count
        expected.append(counts)
    sides = [
        [{word: math.log1p(count) * idf[word] for word, count in counts.items() if word in idf} for counts in side]
        for side in (expected, actual)
    ]
    cosines = np.zeros((len(predictors), len(observed)))
    for (i, a), (j, b) in product(enumerate(sides[0]), enumerate(sides[1])):
        norms = [math.sqrt(sum(value**2 for value in vector.values())) for vector in (a, b)]
        cosines[i, j] = sum(a[word] * b.get(word, 0.0) for word in a) / (norms[0] * norms[1]) if all(norms) else 0
    return cosines


@pytest.mark.parametrize("translated", [False, True])
@pytest.mark.parametrize("with_lexicon", [False, True])
def test_word_vectors_are_the_mean_of_two_plain_cosines(translated: bool, with_lexicon: bool) -> None:
    rng = random.Random(4)
    kal, english, both = "abcdefgh", "stuvwxyz", "012"
    source = [" ".join(rng.choices(kal + both, k=rng.randint(0, 12))) for _ in range(7)]
    target = [" ".join(rng.choices(english + both, k=rng.randint(0, 12))) for _ in range(5)]
    translations = [" ".join(rng.choices(english + "q", k=6)) for _ in source] if translated else None
    tables: list[Table | None] = [None, None]
    if with_lexicon:
        tables[0] = {word: {other: round(rng.random(), 2) for other in rng.sample(english, 2)} for word in kal[:5]}
        tables[1] = {word: {rng.choice(kal): 0.5, "unheard": 0.5} for word in english[3:]}
    lexicons = [None if table is None else lexicon_from(table) for table in tables]
    vectors = word_vectors(documents(source, translations), documents(target), (lexicons[0], lexicons[1]))
    cosines = (vectors.source @ vectors.target.T).toarray()
    forward = plain_direction(source, target, translations, tables[0])
    backward = plain_direction(target, source, None, tables[1]).T
    assert cosines == pytest.approx((forward + backward) / 2, abs=1e-6)
    assert cosines.min() >= 0 and cosines.max() <= 1 + 1e-6


def test_a_side_without_words_has_empty_vectors() -> None:
    lexicon = lexicon_from({"a": {"x": 1.0}})
    for source, target in ((["a b", ""], ["", ""]), ([], ["x"]), ([], [])):
        vectors = word_vectors(documents(source), documents(target), (lexicon, None))
        assert vectors.source.shape[0] == len(source) and vectors.target.shape[0] == len(target)
        assert vectors.source.nnz == 0 or vectors.target.nnz == 0


def test_words_are_translated_by_the_translation_or_else_by_the_lexicon() -> None:
    lexicon = lexicon_from({"a": {"x": 0.2, "y": 0.7}})
    by_lexicon = words_in_other_language(documents(["a b"]), lexicon)
    assert by_lexicon.ids.tolist() == [token_hash("y"), token_hash("b")]
    assert words_in_other_language(documents(["a b"], ["z"]), lexicon).ids.tolist() == [token_hash("z")]
    assert words_in_other_language(documents(["a b"]), None).ids.tolist() == tokenize(["a b"]).ids.tolist()


def phash(*bits: int) -> str:
    return f"{sum(1 << bit for bit in bits):016x}"


def test_images_are_the_same_by_bytes_or_within_six_bits_of_their_hash() -> None:
    base = ImageKey("a", phash())
    near, far = (ImageKey(str(bits), phash(*range(0, bits * 8, 8))) for bits in (MAX_BITS, MAX_BITS + 1))
    spread = ImageKey("c", phash(0, 9, 18, 27, 36, 45))
    same_bytes = ImageKey("a", phash(*range(32)))
    assert MAX_BITS == 6
    assert len(set(group_images([base, near, spread, same_bytes]).values())) == 1
    assert len(set(group_images([base, far]).values())) == 2
    assert len(set(group_images([base, far, near]).values())) == 1, "sameness is transitive"


def test_images_without_hashes_are_left_out() -> None:
    assert group_images([ImageKey(None, None), ImageKey("", ""), ImageKey(None, "")]) == {}
    images = [ImageKey("a", None), ImageKey("a", ""), ImageKey(None, "ff")]
    assert list(group_images(images).values()) == [0, 0, 1]


@pytest.mark.parametrize("wrong", ["zz", "-1", "1" * 17])
def test_an_invalid_perceptual_hash_is_an_error(wrong: str) -> None:
    with pytest.raises(DataError, match=f"invalid perceptual hash '{wrong}'"):
        group_images([ImageKey(None, wrong)])


def test_near_images_are_found_as_by_comparing_all() -> None:
    rng = random.Random(7)
    values = [rng.getrandbits(64) for _ in range(60)]
    values += [value ^ sum(1 << bit for bit in rng.sample(range(64), rng.randint(1, 9))) for value in values]
    numbered = group_images([ImageKey(None, f"{value:016x}") for value in values])
    groups = {value: {value} for value in values}
    for a, b in product(values, values):
        if (a ^ b).bit_count() <= 6 and groups[a] is not groups[b]:
            groups[a] |= groups[b]
            for member in groups[b]:
                groups[member] = groups[a]
    numbers = {value: numbered[ImageKey(None, f"{value:016x}")] for value in values}
    assert all((numbers[a] == numbers[b]) == (groups[a] is groups[b]) for a, b in product(values, values))


def test_image_vectors_are_cosines_weighted_by_rarity() -> None:
    """Of five pages all show the logo, two the vase, one the cup: log(6 / 5.5), log(6 / 2.5), log(6 / 1.5)."""
    logo, vase, cup = ImageKey("l", None), ImageKey("v", phash()), ImageKey("c", phash(*range(40)))
    similar_vase = ImageKey("w", phash(3, 5, 7))
    source = documents(["", "", ""], images=[[logo, vase, vase], [logo, cup], [logo, ImageKey(None, None)]])
    target = documents(["", ""], images=[[logo, similar_vase], [logo]])
    vectors = image_vectors(source, target)
    cosines = (vectors.source @ vectors.target.T).toarray()
    common, rare, single = (math.log(6 / count) for count in (5.5, 2.5, 1.5))
    vase_norm, cup_norm = math.hypot(common, rare), math.hypot(common, single)
    assert cosines[0] == pytest.approx([1, common / vase_norm], abs=1e-6)
    assert cosines[1] == pytest.approx([common**2 / cup_norm / vase_norm, common / cup_norm], abs=1e-6)
    empty = image_vectors(documents(["", ""]), documents([""]))
    assert (empty.source @ empty.target.T).nnz == 0


def random_rows(rows: int, columns: int, seed: int) -> sparse.csr_matrix:
    return unit_rows(sparse.random(rows, columns, 0.3, "csr", random_state=seed, dtype=np.float32))


def test_with_enough_neighbors_all_pairs_above_zero_are_candidates() -> None:
    source, target = random_rows(30, 20, 1), random_rows(25, 20, 2)
    pairs = nearest_pairs(source, target, 100)
    dense = (source @ target.T).toarray()
    assert np.stack(pairs, axis=1).tolist() == np.argwhere(dense > 0).tolist()
    assert dot_products(source, target, pairs) == pytest.approx(dense[pairs.sources, pairs.targets], abs=1e-6)


@pytest.mark.parametrize("k", [1, 3])
def test_candidates_are_the_nearest_neighbors_of_each_side(k: int) -> None:
    source, target = random_rows(300, 40, 3), random_rows(280, 40, 4)
    pairs = nearest_pairs(source, target, k)
    dense = (source @ target.T).toarray()
    expected = {(i, j) for i in range(300) for j in np.argsort(-dense[i], kind="stable")[:k].tolist() if dense[i, j]}
    expected |= {
        (i, j) for j in range(280) for i in np.argsort(-dense[:, j], kind="stable")[:k].tolist() if dense[i, j]
    }
    assert set(zip(pairs.sources.tolist(), pairs.targets.tolist(), strict=True)) == expected
    assert len(pairs.sources) <= k * (300 + 280)


def test_of_equal_neighbors_the_first_are_candidates() -> None:
    rows = sparse.csr_matrix(np.ones((6, 1), np.float32))
    assert np.stack(nearest_pairs(rows, rows, 1), axis=1).tolist() == [
        [0, 0],
        *([0, j] for j in range(1, 6)),
        *([i, 0] for i in range(1, 6)),
    ]
    empty = sparse.csr_matrix((0, 1), dtype=np.float32)
    for a, b in ((rows, empty), (empty, rows), (empty, empty)):
        assert len(nearest_pairs(a, b, 3).sources) == len(dot_products(a, b, nearest_pairs(a, b, 3))) == 0


def test_counts_ignore_words_without_a_column() -> None:
    columns = np.sort(tokenize(["a b"]).ids)
    counts = word_counts(tokenize(["a a c", "", "b z"]), columns).toarray()
    column = {word: columns.tolist().index(token_hash(word)) for word in "ab"}
    assert counts[:, column["a"]].tolist() == [2, 0, 0] and counts[:, column["b"]].tolist() == [0, 0, 1]


def test_the_greatest_entries_of_each_row() -> None:
    rows = sparse.csr_matrix(np.array([[3, 1, 2, 3], [1, 1, 1, 1], [0, 5, 0, 0], [0, 0, 0, 0]], np.float32))
    assert greatest(rows, 2).toarray().tolist() == [[3, 0, 0, 3], [1, 1, 0, 0], [0, 5, 0, 0], [0, 0, 0, 0]]


def test_products_of_pairs_in_any_order() -> None:
    source, target = random_rows(40, 30, 5), random_rows(35, 30, 6)
    pairs = CandidatePairs(*np.random.default_rng(3).integers(0, 35, (2, 200)))
    dense = (source @ target.T).toarray()
    assert dot_products(source, target, pairs) == pytest.approx(dense[pairs.sources, pairs.targets], abs=1e-6)


def test_common_columns_are_searched_in_the_rows_where_they_weigh_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one posting a column, of three rows that share the first column the one with the greatest entry is found."""
    monkeypatch.setattr("paraloom.alignment.candidates._MAX_POSTINGS", 1)
    source = sparse.csr_matrix(np.array([[1, 0]], np.float32))
    target = sparse.csr_matrix(np.array([[0.5, 0.5], [0.9, 0.1], [0.7, 0.3]], np.float32))
    assert (0, 1) in zip(*(side.tolist() for side in nearest_pairs(source, target, 3)), strict=True)
    assert nearest_pairs(source, target[:0], 3).sources.tolist() == []


def test_a_long_row_is_searched_for_by_columns_that_the_index_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the first column the index holds a short row only; the counterpart is found by the rare second one."""
    monkeypatch.setattr("paraloom.alignment.candidates._MAX_POSTINGS", 1)
    monkeypatch.setattr("paraloom.alignment.candidates._MAX_WORDS", 1)
    rows = np.array([[0.8, 0.6], [1.0, 0.0], [1.0, 0.0]], np.float32)
    pairs = nearest_pairs(sparse.csr_matrix(rows[:1]), sparse.csr_matrix(rows[[1, 0, 2]]), 3)
    assert (0, 1) in zip(*(side.tolist() for side in pairs), strict=True)
    unknown = sparse.csr_matrix(np.array([[0.9, 0.4]], np.float32))
    assert nearest_pairs(unknown, sparse.csr_matrix(np.array([[0, 1]], np.float32)), 1).sources.tolist() == [0]
    worth = np.array([1 / 3, 1], np.float32)
    assert greatest(sparse.csr_matrix(rows), 1, worth).toarray().tolist()[0] == [0, pytest.approx(0.6)]


class Letters:
    """An encoder whose vectors count the letters a, b and c, of either language."""

    signature, dimension = "letters", 3

    def encode(self, sentences):
        return np.array([[text.count(letter) for letter in "abc"] for text in sentences], np.float32).reshape(-1, 3)


def test_vectors_of_documents_by_hand() -> None:
    side = Documents.from_texts(["aaa\nb b", "c", "\n"], encoder=Letters())
    # The first paragraph has one word, the second two: (1, 0, 0) + 2 · (0, 1, 0), divided by the norm.
    np.testing.assert_allclose(side.vectors, [np.array([1, 2, 0]) / 5**0.5, [0, 0, 1], [0, 0, 0]], atol=1e-6)


def test_cosines_under_an_encoder_are_centered() -> None:
    texts = ["a a", "b a", "c a"], ["c c a", "a b b"]
    source, target = (Documents.from_texts(side, encoder=Letters()) for side in texts)
    vectors = encoder_vectors(source, target)
    assert vectors is not None
    expected = []
    for side in (source, target):
        centered = side.vectors - side.vectors.mean(axis=0)
        expected.append(centered / np.linalg.norm(centered, axis=1, keepdims=True))
    pairs = all_pairs(source, target)
    products = (expected[0] @ expected[1].T).ravel()
    np.testing.assert_allclose(dense_cosines(vectors, pairs), np.maximum(products, 0), atol=1e-6)
    assert encoder_vectors(source, Documents.from_texts(["c"])) is None


def test_nearest_dense_pairs_are_those_of_all_comparisons() -> None:
    draw = np.random.default_rng(0)
    source, target = draw.normal(size=(700, 4)).astype(np.float32), draw.normal(size=(30, 4)).astype(np.float32)
    products = source @ target.T
    expected = {(i, int(j)) for i in range(700) for j in np.argsort(-products[i])[:2] if products[i, j] > 0}
    expected |= {(int(i), j) for j in range(30) for i in np.argsort(-products[:, j])[:2] if products[i, j] > 0}
    pairs = nearest_dense_pairs(source, target, 2)
    assert list(zip(pairs.sources.tolist(), pairs.targets.tolist(), strict=True)) == sorted(expected)
    more = CandidatePairs(np.array([0, 699]), np.array([29, 0]))
    both = union([pairs, more], 30)
    assert set(zip(both.sources.tolist(), both.targets.tolist(), strict=True)) == expected | {(0, 29), (699, 0)}
    assert not len(nearest_dense_pairs(source[:0], target, 2).sources)
