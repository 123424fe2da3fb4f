"""Test text in training text: found, counted from both sides, and left out."""

from __future__ import annotations

import json
import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.api.outputs import check_output
from paraloom.api.rejected import rejected_file
from paraloom.core.batches import batched
from paraloom.core.digests import signature
from paraloom.core.errors import ConfigError, ModelError
from paraloom.core.progress import progress
from paraloom.core.reasons import HELD_OUT, LEVELS
from paraloom.core.results import text_table
from paraloom.evaluate.base import EvaluationResult
from paraloom.io import open_write
from paraloom.io.atomic import atomic_write
from paraloom.io.compression import without_compression
from paraloom.io.records import Record, has_records, read_schema, write_records
from paraloom.pairs.filtering.held_out import NEAR, HeldOut, is_text, rows_of, texts_in, texts_of_test

RECORD = "contamination.json"
"""File in the folder of a model: how much of each test is near its training text."""

_ROWS = 10_000  # rows that are compared at a time


@dataclass(frozen=True)
class TestOverlap(EvaluationResult):
    """Texts of one file that are near to other text."""

    name: str  # The file
    texts: int  # Texts of three words or more; of training text, rows
    # How many are near, by `paraloom.core.reasons.LEVELS`: each counts once, by the surest level.
    near: Mapping[str, int]
    digest: str = ""  # Of the texts of a test, whatever their order

    @property
    def total(self) -> int:
        """Texts that are near at any level."""
        return sum(self.near.values())

    def cells(self) -> list[str]:
        share = f"{100 * self.total / max(1, self.texts):.2f}"
        return [self.name, f"{self.texts:,}", *(f"{self.near.get(level, 0):,}" for level in LEVELS[1:]), share]

    def format(self) -> str:
        return "  ".join(self.cells())


@dataclass(frozen=True)
class Contamination(EvaluationResult):
    """What `decontaminate` found."""

    training: TestOverlap
    tests: tuple[TestOverlap, ...]
    signature: str

    def format(self) -> str:
        """A table of the training text and the tests, by level; the last column is the share of all levels."""
        rows = [of.cells() for of in (self.training, *self.tests)]
        return "\n".join([*text_table(["", "texts", *LEVELS[1:], "%"], rows), "", self.signature])


def decontaminate(
    train: str | Path | Sequence[str | Path],
    against: str | Path | Sequence[str | Path],
    output: str | Path | None = None,
    *,
    similarity: float = NEAR,
    model: str | Path | None = None,
) -> Contamination:
    """Find the test text in training text: equal texts, 13 and 8 words in a row, near-duplicates.

    Rows are compared without case, punctuation and runs of white space; of a table all texts of three words or more,
    inside lists and objects, too. In scripts without spaces, a test within a longer line is not found: its clauses are
    the words there.
    The training text is streamed; memory holds the tests, some 700 bytes for each text.

    Args:
        train: Training text: a text per line, or .tsv, .csv, .jsonl or .parquet, plain or compressed.
        against: Test sets, in the same formats.
        output: Where to write the rows that are near to no test, in the format of the (single) training file; the
            others are listed in OUTPUT.rejected.jsonl, with the reason. Default: count only.
        similarity: Jaccard similarity of character 5-grams from which on two texts are near-duplicates, above 0 to 1.
        model: Folder of the model that learns from the training text: the shares are kept there, and evaluations on
            these tests print them in their signatures.

    Reference:
        Brown et al. 2020, "Language models are few-shot learners", appendix C; Broder 1997 (near-duplicates).

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "train.txt").write_text("The dog sleeps.\\nStocks fell again today.\\n")
        >>> _ = (folder / "test.tsv").write_text("4.5\\tthe dog sleeps\\tThe cat sleeps there.\\n")
        >>> result = decontaminate(folder / "train.txt", folder / "test.tsv", folder / "clean.txt")
        >>> result.training.total, result.tests[0].total, (folder / "clean.txt").read_text()
        (1, 1, 'Stocks fell again today.\\n')
    """
    sources, tests = ([paths] if isinstance(paths, (str, Path)) else list(paths) for paths in (train, against))
    if not 0 < similarity <= 1:
        raise ConfigError(f"'similarity' is {similarity}; expected above 0 to 1")
    if model is not None and not Path(model).is_dir():
        raise ConfigError("the folder of the model does not exist", file=model, remedy="Train the model first.")
    if output is not None:
        _check_output(output, sources, tests)
    texts = [texts_of_test(path) for path in tests]
    index = HeldOut(texts, similarity=similarity)
    counts: Counter[int] = Counter()
    marked = _marked(sources, index, counts)
    if output is None:
        deque(marked, maxlen=0)
    else:
        _write(marked, sources[0], output)
    of_training = TestOverlap(" + ".join(Path(path).name for path in sources), counts.total(), _by_level(counts))
    overlaps = [
        TestOverlap(
            Path(path).name, len(of_test), _by_level(Counter(sorted(index.met(of_test).tolist()))), text_digest(of_test)
        )
        for path, of_test in zip(tests, texts, strict=True)
    ]
    how = signature("contamination", levels="equal+13+8+near", similarity=similarity, tests=len(tests))
    result = Contamination(of_training, tuple(overlaps), how)
    if model is not None:
        _record(result, Path(model))
    return result


def _by_level(counts: Counter[int]) -> dict[str, int]:
    """How many texts are near, by the names of levels."""
    return {LEVELS[k]: count for k, count in counts.items() if k}


def near_training(model: str | Path | None, tests: Iterable[Iterable[str]]) -> str:
    """The part of a signature that says how much of some tests is near a model's training text: '0.7%', 'unknown'."""
    known = {} if model is None else _recorded(Path(model))
    digests = [text_digest([text for text in of_test if is_text(text)]) for of_test in tests]
    if not digests or not all(digest in known for digest in digests):
        return "unknown"
    counts = [known[digest] for digest in digests]
    return f"{100 * sum(near for near, _, _ in counts) / sum(texts for _, texts, _ in counts):.1f}%"


def text_digest(texts: Sequence[str]) -> str:
    """A digest of a set of texts, whatever their order, case and punctuation."""
    return sha256(HeldOut([texts], equal_only=True).hashes.tobytes()).hexdigest()[:16]


def _check_output(output: str | Path, sources: Sequence[str | Path], tests: Sequence[str | Path]) -> None:
    check_output(output, [*sources, *tests])
    kinds = {without_compression(path).suffix for path in (*sources, output)}
    if len(sources) > 1 or len(kinds) > 1:
        raise ConfigError(
            "the rows that are kept are written in the format of one training file",
            file=output,
            remedy=f"Name one training file, and an output that ends in {without_compression(sources[0]).suffix}.",
        )


def _marked(
    sources: Sequence[str | Path], index: HeldOut, counts: Counter[int]
) -> Iterator[tuple[str | Path, Record, int]]:
    """All rows, in order, with the level of each; counted."""
    threads = len(os.sched_getaffinity(0))
    pending: deque[tuple[str | Path, list[Record], Future[npt.NDArray[np.int8]]]] = deque()

    def done() -> Iterator[tuple[str | Path, Record, int]]:
        path, rows, future = pending.popleft()
        levels = future.result().tolist()
        counts.update(levels)
        advance(len(rows))
        yield from zip([path] * len(rows), rows, levels, strict=True)

    with progress("comparing", unit="rows") as advance, ThreadPoolExecutor(threads) as pool:
        for path in sources:
            for rows in batched(rows_of(path), _ROWS):
                pending.append((path, rows, pool.submit(partial(_levels, rows, index))))
                if len(pending) > 2 * threads:
                    yield from done()
        while pending:
            yield from done()


def _levels(rows: Sequence[Record], index: HeldOut) -> npt.NDArray[np.int8]:
    places, texts = [], []
    for index_of_row, row in enumerate(rows):
        for text in texts_in(row.values):
            places.append(index_of_row)
            texts.append(text)
    levels = np.full(len(rows), len(LEVELS), np.int8)
    near = index.find(texts)
    np.minimum.at(levels, places, np.where(near, near, len(LEVELS)).astype(np.int8))
    return np.where(levels < len(LEVELS), levels, 0).astype(np.int8)


def _write(marked: Iterable[tuple[str | Path, Record, int]], source: str | Path, output: str | Path) -> None:
    plain = not has_records(source)
    schema = None if plain else read_schema(source)
    columns = [] if plain else list(next(rows_of(source), Record(0, {})).values)
    with open_write(rejected_file(output)) as rejected:

        def kept() -> Iterator[dict[str, Any]]:
            for path, row, level in marked:
                if not level:
                    yield row.values
                    continue
                text = "\t".join(str(value) for value in row.values.values())
                of = {"file": str(path), "row": row.row, "reason": HELD_OUT[level], "text": text}
                rejected.write((json.dumps(of, ensure_ascii=False) + "\n").encode())

        if not plain:
            write_records(kept(), output, columns, schema, header=False)
            return
        with open_write(output) as stream:
            stream.writelines(f"{values['text']}\n".encode() for values in kept())


def _record(result: Contamination, folder: Path) -> None:
    """Keep the shares of tests in the folder of a model, next to those of other tests."""
    counts = _recorded(folder) | {of.digest: (of.total, of.texts, of.name) for of in result.tests}
    known = {digest: {"name": name, "texts": texts, "near": near} for digest, (near, texts, name) in counts.items()}
    with atomic_write(folder / RECORD) as temporary:
        temporary.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _recorded(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Digest of a test → texts near the training text, texts, and its name, as `_record` kept them."""
    file = folder / RECORD
    if not file.is_file():
        return {}
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
        return {digest: (int(one["near"]), int(one["texts"]), str(one["name"])) for digest, one in known.items()}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelError(
            f"the record of near tests cannot be read ({error})",
            file=file,
            remedy="Delete it, and decontaminate again.",
        ) from None
