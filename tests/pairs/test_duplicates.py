"""Near-duplicates: sketches compared with the true Jaccard similarity, which rows are duplicates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from paraloom.core import progress
from paraloom.core.errors import ConfigError
from paraloom.pairs.filtering import duplicates
from paraloom.pairs.filtering.duplicates import DuplicateConfig, find_duplicates, first_copies, is_duplicate, sketches
from paraloom.pairs.filtering.held_out import without_punctuation
from paraloom.text.ngrams import character_ngrams


def batch_of(texts: list[str], first: int = 0) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {
            "pair_id": [str(first + i) for i in range(len(texts))],
            "src": texts,
            "tgt": ["the same translation of it all"] * len(texts),
        }
    )


def dropped(batches: list[pa.RecordBatch], folder: Path, **config: object) -> list[bool]:
    known = find_duplicates(
        lambda names: (batch.select([n for n in names if n in batch.schema.names]) for batch in batches),
        folder,
        DuplicateConfig(**config),  # type: ignore[arg-type]
    )
    assert known.rows == sum(batch.num_rows for batch in batches)
    first = first_copies(batches, known)
    result = [bool(value) for batch in batches for value in is_duplicate(batch, known, next(first))]
    assert sum(result) == known.total
    return result


def test_sketches_estimate_jaccard_similarity() -> None:
    """Each pair has words of its own: pairs that share n-grams would share the luck of their hashes.

    Then the standard error of the mean difference of 240 pairs is at most 0.0625 / √240 = 0.004, a fifth of the bound.
    """
    rng = np.random.default_rng(0)
    texts, others = [], []
    for _ in range(240):
        words = ["".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), 7)) for _ in range(40)]
        chosen = list(rng.choice(words, 30, replace=False))
        texts.append(" ".join(chosen))
        others.append(" ".join(chosen[: rng.integers(5, 30)] + list(rng.choice(words, 5))))
    true = []
    for a, b in zip(texts, others, strict=True):
        first, second = (set(character_ngrams([text], 5)[0].tolist()) for text in (a, b))
        true.append(len(first & second) / len(first | second))
    estimated = (sketches(texts) == sketches(others)).mean(1)
    assert np.abs(estimated - true).mean() < 0.06
    assert abs((estimated - true).mean()) < 0.02


def test_later_near_duplicates_are_dropped_and_the_first_one_is_kept(tmp_path: Path) -> None:
    texts = [
        "A man in a blue shirt is standing on a ladder cleaning a window.",
        "a man in a blue shirt is standing on a ladder, cleaning a window!",
        "Two men in green shirts are standing in a yard.",
        "A man in a blue shirt is standing on a ladder cleaning a windows.",
        "Four men on top of a tall structure.",
    ]
    assert dropped([batch_of(texts)], tmp_path / "a", columns=("src",)) == [False, True, False, True, False]
    assert dropped([batch_of(texts)], tmp_path / "b", columns=("src",), similarity=1.0) == [False, True] + [False] * 3


def test_the_result_does_not_depend_on_batches(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    texts = [" ".join(rng.choice(["sun", "rain", "snow", "wind", "fog", "hail"], 6)) for _ in range(300)]
    whole = dropped([batch_of(texts)], tmp_path / "whole")
    parts = dropped([batch_of(texts[:77]), batch_of(texts[77:], 77)], tmp_path / "parts")
    assert whole == parts
    assert any(whole) and not all(whole)


def test_the_first_of_equal_rows_is_kept_where_ids_repeat(tmp_path: Path) -> None:
    texts = ["a man on a ladder", "two men in a yard", "four men on top of it"]
    once = batch_of(texts)
    assert dropped([once, once], tmp_path / "two") == [False] * 3 + [True] * 3
    thrice = pa.Table.from_batches([once, once, once]).combine_chunks().to_batches()
    assert dropped(thrice, tmp_path / "one") == [False] * 3 + [True] * 6


def test_rows_that_differ_in_a_compared_column_only_are_different(tmp_path: Path) -> None:
    batch = batch_of(["a man on a ladder"] * 3).append_column(
        "pivot", pa.array(["ein Mann auf der Leiter", "zwei Männer im Hof", "ein Mann auf der Leiter"])
    )
    batch = batch.set_column(0, "pair_id", pa.array(["x"] * 3))
    assert dropped([batch], tmp_path, columns=("pivot",)) == [False, False, True]


def test_equal_texts_are_found_among_many_similar_ones(tmp_path: Path) -> None:
    """Also where an earlier text, not similar enough, comes first in each of their buckets."""
    rng = np.random.default_rng(5)
    words = [f"word{i}" for i in range(12)]
    texts = [" ".join(rng.choice(words, 12)) for _ in range(2000)]
    texts = list(dict.fromkeys(texts))[:1500]
    assert all(dropped([batch_of([*texts, *texts])], tmp_path, columns=("src",), similarity=0.9)[len(texts) :])


def test_values_out_of_range_are_errors() -> None:
    with pytest.raises(ConfigError, match="'similarity' must be above 0 and at most 1, not 0"):
        DuplicateConfig(similarity=0)
    with pytest.raises(ConfigError, match="'columns' is empty"):
        DuplicateConfig(columns=())


def test_what_a_full_disk_left_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "band-0.u64").write_bytes(b"cut off")
    assert dropped([batch_of(["a b c", "a b c"])], tmp_path) == [False, True]


def test_after_a_kill_the_rows_that_are_missing_are_sketched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows before the last that counts as done may come in other batches; what follows it was not flushed."""
    rng = np.random.default_rng(2)
    texts = [" ".join(rng.choice(["sun", "rain", "snow", "wind", "fog", "hail"], 6)) for _ in range(300)]
    batches = [batch_of(texts[start : start + 50], start) for start in range(0, 300, 50)]
    whole = dropped(batches, tmp_path / "whole")
    monkeypatch.setattr(duplicates, "_SAVED_ROWS", 100)
    sketched: list[int] = []
    sketch = duplicates.sketches

    def counted(texts: pa.Array) -> np.ndarray:
        sketched.append(len(texts))
        return sketch(texts)

    def cut(names: list[str]) -> Iterator[pa.RecordBatch]:
        yield from (batch.select(["pair_id", "src", "tgt"]) for batch in batches[:5])
        raise KeyboardInterrupt

    monkeypatch.setattr(duplicates, "sketches", counted)
    with pytest.raises(KeyboardInterrupt):
        find_duplicates(cut, tmp_path / "killed", DuplicateConfig())
    assert sketched == [50] * 5
    sketched.clear()
    assert dropped([batch_of(texts)], tmp_path / "killed") == whole
    assert sketched == [100]


@pytest.mark.parametrize("similarity", [0.3, 0.5, 0.8, 1.0])
def test_a_row_is_compared_with_the_first_of_each_bucket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, similarity: float
) -> None:
    """The definition, row by row, over chains of small changes and equal texts; and every band is read once."""
    rng = np.random.default_rng(3)
    words = np.array(["sun", "rain", "snow", "wind", "fog", "hail", "frost", "dew"])
    chain = [rng.choice(words, 12)]
    for _ in range(400):
        chain.append(chain[-1].copy())
        chain[-1][rng.integers(12)] = rng.choice(words)
    texts = [" ".join(one) for one in [*chain, *rng.choice(words, (300, 12)), *chain[::7]]]
    texts = [texts[i] for i in rng.permutation(len(texts))]

    wide = sketches(texts)
    values = wide.astype(np.uint8)
    expected = np.zeros(len(texts), bool)
    for band in [*duplicates.sketch_bands(wide, similarity).T, wide.tolist()]:
        first: dict[object, int] = {}
        for row, key in enumerate(map(str, band)):
            expected[row] |= (
                first.setdefault(key, row) < row and (values[row] == values[first[key]]).mean() >= similarity
            )
    assert expected.any() and not expected.all()

    reads: Counter[str] = Counter()
    chunks = duplicates._chunks

    def counted(path: Path, *dtype: str) -> Iterator[tuple[slice, np.ndarray]]:
        reads[path.name] += 1
        return chunks(path, *dtype)

    for parts, sizes in {"one": {}, "many": {"_TABLE_ROWS": 16, "_CHUNK_ROWS": 7, "_GATHERED_ROWS": 3}}.items():
        for name, value in sizes.items():
            monkeypatch.setattr(duplicates, name, value)
        reads.clear()
        with monkeypatch.context() as patch:
            patch.setattr(duplicates, "_chunks", counted)
            numbers = dropped([batch_of(texts)], tmp_path / parts, columns=("src",), similarity=similarity)
        assert numbers == expected.tolist()
        bands = {name: count for name, count in reads.items() if name.startswith("band")}
        assert bands == dict.fromkeys(bands, 1) and bands


def test_texts_without_punctuation_are_the_same_with_and_without_other_letters() -> None:
    """The kernel for ASCII against the regular expressions that the other texts go through."""
    texts = ["", " ", "a", "Hello,  world!\t(again)", "--x--", "a\x01b\x7fc", "50% of $3_000", "a^b`c~d|e<f>"]
    mixed = without_punctuation([f"{text} é" for text in texts]).to_pylist()
    assert [f"{text} é".strip() for text in without_punctuation(texts).to_pylist()] == mixed
    assert without_punctuation(["¿qué?", "What's up?", None]).to_pylist() == ["qué", "What s up", ""]


def test_progress_goes_on_while_bands_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row counts once a band, and once for the whole sketch."""
    monkeypatch.setattr(progress, "_REPORT_INTERVAL", 0)
    states: list[progress.ProgressState] = []
    with progress.report_progress_to(states.append):
        find_duplicates(lambda names: [batch_of(["a b c d", "e f g h", "a b c d e"])], tmp_path, DuplicateConfig())
    bands = 64 // duplicates._band_width(0.8) + 1
    assert [state.done for state in states] == [3 * band for band in range(bands + 1)]
    assert {state.total for state in states} == {3 * bands}
