"""What speaks for a pair of documents, against plain references: words, names, pictures, topics; which are compared."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from toy_documents import documents

from paraloom.align.candidates import Candidates, candidates_of, counts_of, products, unit_rows
from paraloom.align.document_features import Documents
from paraloom.align.entities import entities, entity_lists
from paraloom.align.evidence import multinews, picture_vectors, pivoted, word_vectors
from paraloom.align.lexicon import Lexicon
from paraloom.align.same_images import NEAR, Picture, same_pictures
from paraloom.core.errors import DataError
from paraloom.text.tokens import token_hash, tokenize


def all_pairs(source: Documents, target: Documents) -> Candidates:
    cells = np.array(list(product(range(len(source)), range(len(target)))), np.int64).reshape(-1, 2)
    return Candidates(cells[:, 0], cells[:, 1])


@pytest.mark.parametrize(
    ("text", "found"),
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
def test_entities_are_known_by_how_they_are_written(text: str, found: list[str]) -> None:
    assert entities(text) == found
    assert len(entity_lists([text]).ids) == len(found), "one id an entity"


def test_multinews_by_hand() -> None:
    """Three sentences to two; 6 words to 9 where the target has 12 to the source's 8 throughout; 2 of 3 names to 4."""
    source = documents(["in Rome\nof Oslo\nfrom Bonn", "one two"])
    target = documents(["a Rome a Oslo a\na Kyiv a Lima", "a b c"])
    found = multinews(source, target, Candidates(np.array([0, 0]), np.array([0, 1])))
    assert found["sentences"].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert found["length"].tolist() == pytest.approx([1.0, 3 / 9])
    assert found["entities"].tolist() == pytest.approx([2 / 3 * 3 / 4, 0])
    assert sum(each[0] for each in found.values()) == pytest.approx(2 / 3 + 1 + 1 / 2)


def test_multinews_of_empty_documents_is_nothing() -> None:
    source, target = documents(["", "a"]), documents(["b", ""])
    found = multinews(source, target, all_pairs(source, target))
    assert found["sentences"].tolist() == found["length"].tolist() == [0, 0, 1, 0]
    assert found["entities"].tolist() == [0] * 4


Table = dict[str, dict[str, float]]


def lexicon_from(table: Table) -> Lexicon:
    rows = sorted((token_hash(word), others) for word, others in table.items())
    starts = np.cumsum([0, *(len(others) for _, others in rows)])
    flat = [(token_hash(other), share) for _, others in rows for other, share in others.items()]
    words = np.array([word for word, _ in rows], np.uint64)
    return Lexicon(words, starts, np.array([o for o, _ in flat], np.uint64), np.array([s for _, s in flat], np.float32))


def plain_direction(
    givers: list[str], receivers: list[str], translations: list[str] | None, table: Table | None
) -> np.ndarray:
    """Cosines of each giver with each receiver, word by word."""
    said = [Counter(text.split()) for text in receivers]
    seen = Counter(word for counts in said for word in counts)
    idf = {word: math.log((len(receivers) + 1) / (count + 0.5)) for word, count in seen.items()}
    led = []
    for place, text in enumerate(givers):
        own = 1.0 if translations is None and table is None else 0.5
        counts = {word: own * count for word, count in Counter(text.split()).items()}
        for word, count in Counter(text.split()).items():
            for other, share in (table or {}).get(word, {}).items():
                counts[other] = counts.get(other, 0.0) + count * share
        for word, count in Counter(translations[place].split() if translations else []).items():
            counts[word] = counts.get(word, 0.0) + count
        led.append(counts)
    sides = [
        [{word: math.log1p(count) * idf[word] for word, count in counts.items() if word in idf} for counts in each]
        for each in (led, said)
    ]
    found = np.zeros((len(givers), len(receivers)))
    for (i, a), (j, b) in product(enumerate(sides[0]), enumerate(sides[1])):
        norms = [math.sqrt(sum(value**2 for value in each.values())) for each in (a, b)]
        found[i, j] = sum(a[word] * b.get(word, 0.0) for word in a) / (norms[0] * norms[1]) if all(norms) else 0
    return found


@pytest.mark.parametrize("translated", [False, True])
@pytest.mark.parametrize("taught", [False, True])
def test_word_vectors_are_the_mean_of_two_plain_cosines(translated: bool, taught: bool) -> None:
    rng = random.Random(4)
    kal, english, both = "abcdefgh", "stuvwxyz", "012"
    source = [" ".join(rng.choices(kal + both, k=rng.randint(0, 12))) for _ in range(7)]
    target = [" ".join(rng.choices(english + both, k=rng.randint(0, 12))) for _ in range(5)]
    made = [" ".join(rng.choices(english + "q", k=6)) for _ in source] if translated else None
    tables: list[Table | None] = [None, None]
    if taught:
        tables[0] = {word: {other: round(rng.random(), 2) for other in rng.sample(english, 2)} for word in kal[:5]}
        tables[1] = {word: {rng.choice(kal): 0.5, "unheard": 0.5} for word in english[3:]}
    lexicons = tuple(None if table is None else lexicon_from(table) for table in tables)
    vectors = word_vectors(documents(source, made), documents(target), lexicons)
    found = (vectors.source @ vectors.target.T).toarray()
    expected = plain_direction(source, target, made, tables[0]) + plain_direction(target, source, None, tables[1]).T
    assert found == pytest.approx(expected / 2, abs=1e-6)
    assert found.min() >= 0 and found.max() <= 1 + 1e-6


def test_a_side_without_a_word_has_empty_vectors() -> None:
    table = lexicon_from({"a": {"x": 1.0}})
    for source, target in ((["a b", ""], ["", ""]), ([], ["x"]), ([], [])):
        vectors = word_vectors(documents(source), documents(target), (table, None))
        assert vectors.source.shape[0] == len(source) and vectors.target.shape[0] == len(target)
        assert vectors.source.nnz == 0 or vectors.target.nnz == 0


def test_the_pivot_is_the_translation_or_the_lexicon_s_best_guess() -> None:
    table = lexicon_from({"a": {"x": 0.2, "y": 0.7}})
    assert pivoted(documents(["a b"]), table).ids.tolist() == [token_hash("y"), token_hash("b")]
    assert pivoted(documents(["a b"], ["z"]), table).ids.tolist() == [token_hash("z")]
    assert pivoted(documents(["a b"]), None).ids.tolist() == tokenize(["a b"]).ids.tolist()


def hash_of(*bits: int) -> str:
    return f"{sum(1 << bit for bit in bits):016x}"


def test_pictures_are_the_same_by_bytes_or_by_six_bits_of_their_hash() -> None:
    base = Picture("a", hash_of())
    near, far = (Picture(str(bits), hash_of(*range(0, bits * 8, 8))) for bits in (NEAR, NEAR + 1))
    spread = Picture("c", hash_of(0, 9, 18, 27, 36, 45))
    other_hash = Picture("a", hash_of(*range(32)))
    assert NEAR == 6
    found = same_pictures([base, near, spread, other_hash])
    assert len(set(found.values())) == 1
    assert len(set(same_pictures([base, far]).values())) == 2
    assert len(set(same_pictures([base, far, near]).values())) == 1, "likeness is handed on"


def test_pictures_of_which_nothing_is_known_are_like_no_other() -> None:
    unknown = [Picture(None, None), Picture("", ""), Picture(None, "")]
    assert same_pictures(unknown) == {}
    assert list(same_pictures([Picture("a", None), Picture("a", ""), Picture(None, "ff")]).values()) == [0, 0, 1]
    for wrong in ("zz", "-1", "1" * 17):
        with pytest.raises(DataError, match="no perceptual hash"):
            same_pictures([Picture(None, wrong)])


def test_near_pictures_are_found_among_many_as_by_comparing_all() -> None:
    rng = random.Random(7)
    values = [rng.getrandbits(64) for _ in range(60)]
    values += [value ^ sum(1 << bit for bit in rng.sample(range(64), rng.randint(1, 9))) for value in values]
    found = same_pictures([Picture(None, f"{value:016x}") for value in values])
    groups = {value: {value} for value in values}
    for a, b in product(values, values):
        if (a ^ b).bit_count() <= 6 and groups[a] is not groups[b]:
            groups[a] |= groups[b]
            for each in groups[b]:
                groups[each] = groups[a]
    numbers = {value: found[Picture(None, f"{value:016x}")] for value in values}
    assert all((numbers[a] == numbers[b]) == (groups[a] is groups[b]) for a, b in product(values, values))


def test_picture_vectors_are_cosines_of_what_is_shown_by_rarity() -> None:
    """Of five pages all show the logo, two the vase, one the cup: log(6 / 5.5), log(6 / 2.5), log(6 / 1.5)."""
    logo, vase, cup = Picture("l", None), Picture("v", hash_of()), Picture("c", hash_of(*range(40)))
    again = Picture("w", hash_of(3, 5, 7))
    source = documents(["", "", ""], pictures=[[logo, vase, vase], [logo, cup], [logo, Picture(None, None)]])
    target = documents(["", ""], pictures=[[logo, again], [logo]])
    vectors = picture_vectors(source, target)
    found = (vectors.source @ vectors.target.T).toarray()
    common, rare, single = (math.log(6 / seen) for seen in (5.5, 2.5, 1.5))
    long, lone = math.hypot(common, rare), math.hypot(common, single)
    assert found[0] == pytest.approx([1, common / long], abs=1e-6)
    assert found[1] == pytest.approx([common**2 / lone / long, common / lone], abs=1e-6)
    nothing = picture_vectors(documents(["", ""]), documents([""]))
    assert (nothing.source @ nothing.target.T).nnz == 0


def random_rows(rows: int, columns: int, seed: int) -> sparse.csr_matrix:
    return unit_rows(sparse.random(rows, columns, 0.3, "csr", random_state=seed, dtype=np.float32))


def test_candidates_are_all_that_touch_where_as_many_are_asked_for() -> None:
    source, target = random_rows(30, 20, 1), random_rows(25, 20, 2)
    found = candidates_of(source, target, 100)
    dense = (source @ target.T).toarray()
    assert np.stack(found, axis=1).tolist() == np.argwhere(dense > 0).tolist()
    assert products(source, target, found) == pytest.approx(dense[found.sources, found.targets], abs=1e-6)


@pytest.mark.parametrize("most", [1, 3])
def test_candidates_are_the_nearest_of_each_side(most: int) -> None:
    source, target = random_rows(300, 40, 3), random_rows(280, 40, 4)
    found = candidates_of(source, target, most)
    dense = (source @ target.T).toarray()
    expected = {(i, j) for i in range(300) for j in np.argsort(-dense[i], kind="stable")[:most].tolist() if dense[i, j]}
    expected |= {
        (i, j) for j in range(280) for i in np.argsort(-dense[:, j], kind="stable")[:most].tolist() if dense[i, j]
    }
    assert set(zip(found.sources.tolist(), found.targets.tolist(), strict=True)) == expected
    assert len(found.sources) <= most * (300 + 280)


def test_of_candidates_that_are_alike_the_first_are_taken() -> None:
    rows = sparse.csr_matrix(np.ones((6, 1), np.float32))
    assert np.stack(candidates_of(rows, rows, 1), axis=1).tolist() == [
        [0, 0],
        *([0, j] for j in range(1, 6)),
        *([i, 0] for i in range(1, 6)),
    ]
    empty = sparse.csr_matrix((0, 1), dtype=np.float32)
    for a, b in ((rows, empty), (empty, rows), (empty, empty)):
        assert len(candidates_of(a, b, 3).sources) == len(products(a, b, candidates_of(a, b, 3))) == 0


def test_counts_leave_out_what_is_no_column() -> None:
    columns = np.sort(tokenize(["a b"]).ids)
    found = counts_of(tokenize(["a a c", "", "b z"]), columns).toarray()
    places = {word: columns.tolist().index(token_hash(word)) for word in "ab"}
    assert found[:, places["a"]].tolist() == [2, 0, 0] and found[:, places["b"]].tolist() == [0, 0, 1]


def test_products_do_not_depend_on_how_many_are_made_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = random_rows(40, 30, 5), random_rows(40, 30, 6)
    found = candidates_of(source, target, 40)
    whole = products(source, target, found)
    for size in (1, 7, 100):
        monkeypatch.setattr("paraloom.align.candidates._AT_A_TIME", size)
        assert products(source, target, found).tolist() == whole.tolist()
