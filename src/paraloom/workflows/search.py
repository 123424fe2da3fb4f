"""Search and mining over files of sentences: texts are encoded to disk once, and their vectors never held in memory."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.protocols import EncoderLike
from paraloom.embed.encoder import open_encoder
from paraloom.embed.mining import (
    MARGIN_THRESHOLD,
    NEIGHBORS,
    Index,
    MinedBitext,
    Retrieval,
    bitext_neighbors,
    select_pairs,
)
from paraloom.embed.search import check_vectors, lines_at, mine_pairs, search
from paraloom.embed.threads import available_threads
from paraloom.evaluate.mining import MiningScore, evaluate_mining, read_gold_rows
from paraloom.io import open_write, read_lines
from paraloom.io.bitext import READERS
from paraloom.io.compression import without_compression
from paraloom.pipeline.shard import OnError
from paraloom.text.function_words import sample_language
from paraloom.workflows.encoders import encode_file
from paraloom.workflows.rejected import RejectedLines

_LANGUAGE_SAMPLE = 200
"""Lines of a text by which its language is identified."""


class Hit(NamedTuple):
    """A sentence of the corpus that is near to a query.

    Args:
        query: The query.
        rank: Rank among the sentences near to this query, from 1.
        cosine: Cosine of both, from −1 to 1.
        row: Row of the corpus, from 1.
        sentence: The sentence.
    """

    query: str
    rank: int
    cosine: float
    row: int
    sentence: str


def search_lines(
    encoder: EncoderLike | str | Path, corpus: str, queries: str, *, k: int = 5, vectors: str | Path | None = None
) -> Iterator[Hit]:
    """Find the lines of a file that are nearest to each line of another.

    Args:
        encoder: An encoder, its name or folder.
        corpus: Sentences to search, one per line.
        queries: Queries, one per line; '-' is standard input.
        k: Sentences per query.
        vectors: Vectors of the corpus, a .npy file of `encode_file`. Default: the corpus is encoded.

    Yields:
        `k` sentences for each query, nearest first.

    Raises:
        DataError: `vectors` cannot be read, or does not fit the corpus or the encoder.
    """
    texts = list(read_lines(queries))
    model = open_encoder(encoder, available_threads()) if isinstance(encoder, (str, Path)) else encoder
    with _encoded_corpus(model, corpus, vectors) as (lines, stored):
        result = search(model.encode(texts), stored, k)
        sentences = lines_at(lines, np.maximum(result.rows, 0).ravel())
        for query, cosines, rows in zip(texts, result.cosines.tolist(), result.rows.tolist(), strict=True):
            for rank, (cosine, row) in enumerate(zip(cosines, rows, strict=True), start=1):
                sentence = next(sentences)
                if row >= 0:
                    yield Hit(query, rank, cosine, row + 1, sentence)


def mine_lines(
    encoder: EncoderLike | str | Path,
    corpus: str,
    output: str,
    *,
    above: float = 0.8,
    below: float = 0.99,
    k: int = 5,
    vectors: str | Path | None = None,
    on_error: OnError = "stop",
    seed: int = 1,
) -> int:
    """Mine a file of sentences for paraphrases: pairs of lines that are near to each other, but not the same.

    Args:
        encoder: An encoder, its name or folder.
        corpus: Sentences, one per line.
        output: TSV with the columns src, tgt and cosine, highest cosine first.
        above: Minimum cosine.
        below: Maximum cosine.
        k: Maximum number of pairs per sentence.
        vectors: Vectors of the corpus, a .npy file of `encode_file`. Default: the corpus is encoded.
        on_error: 'stop' at a line that is not UTF-8, or 'reject' it into OUTPUT.rejected.jsonl.
        seed: Seed of the index of a large corpus.

    Returns:
        Number of pairs.

    Raises:
        DataError: A line is not UTF-8; or `vectors` cannot be read, or does not fit the corpus or the encoder.
    """
    _check_suffix(output)
    rejected = RejectedLines(on_error)
    with _encoded_corpus(encoder, corpus, vectors, rejected) as (lines, stored):
        mined = mine_pairs(stored, lines.parent, above=above, below=below, k=k, seed=seed)
        first, second = lines_at(lines, mined.first), lines_at(lines, mined.second)
        count = 0
        with open_write(output) as stream:
            stream.write(b"src\ttgt\tcosine\n")
            for src, tgt, cosine in zip(first, second, mined.cosines.tolist(), strict=True):
                if src.split() != tgt.split():
                    stream.write(f"{_one_field(src)}\t{_one_field(tgt)}\t{cosine:.4f}\n".encode())
                    count += 1
        if not count:
            _warn_of_no_pairs(lines, stored, above=above, below=below, seed=seed)
    rejected.report(output)
    return count


def _warn_of_no_pairs(lines: Path, vectors: npt.NDArray[np.float32], *, above: float, below: float, seed: int) -> None:
    """Say how near the nearest different lines are, where none are as near as asked for."""
    nearest = mine_pairs(vectors, lines.parent, above=-1, below=below, k=2, seed=seed)
    texts = zip(lines_at(lines, nearest.first), lines_at(lines, nearest.second), nearest.cosines.tolist(), strict=True)
    closest = next((cosine for src, tgt, cosine in texts if src.split() != tgt.split()), None)
    remedy = "" if closest is None else f"; the closest below {below:g} has {closest:.3f}; choose a lower minimum"
    warnings.warn(f"no two lines have a cosine of {above:g} to {below:g}{remedy}", stacklevel=3)


@dataclass(frozen=True)
class MinedLines:
    """What mining of two texts found.

    Args:
        pairs: Pairs that were written.
        lines: Lines of both texts.
        distinct: Different lines of both.
        score: Comparison with the true pairs, if they were given.
    """

    pairs: int
    lines: tuple[int, int]
    distinct: tuple[int, int]
    score: MiningScore | None = None

    def format(self) -> str:
        """A line, and two more if there were true pairs.

        Example:
            >>> MinedLines(1, (3, 4), (3, 3)).format()
            '1 pair of 3 and 4 lines (3 and 3 different ones)'
        """
        noun = "pair" if self.pairs == 1 else "pairs"
        text = (
            f"{self.pairs:,} {noun} of {self.lines[0]:,} and {self.lines[1]:,} lines "
            f"({self.distinct[0]:,} and {self.distinct[1]:,} different ones)"
        )
        return text if self.score is None else f"{text}\n{self.score.format()}"

    def to_dict(self) -> dict[str, Any]:
        """The figures by name."""
        score = None if self.score is None else self.score.to_dict()
        return {"pairs": self.pairs, "lines": list(self.lines), "distinct": list(self.distinct), "score": score}


def mine_translations(
    encoder: EncoderLike | str | Path,
    source: str,
    target: str,
    output: str,
    *,
    threshold: float = MARGIN_THRESHOLD,
    k: int = NEIGHBORS,
    retrieval: Retrieval = "max",
    index: Index = "auto",
    gold: str | Path | None = None,
    on_error: OnError = "stop",
    seed: int = 1,
) -> MinedLines:
    """Mine two texts for sentences that are translations of each other; each sentence is in one pair at most.

    A line that is repeated counts once, where it occurs first.

    Args:
        encoder: An encoder of both languages, its name or folder.
        source: Sentences, one per line.
        target: Sentences in the other language.
        output: TSV with the columns src, tgt, margin and cosine, highest margin first.
        threshold: Minimum margin, as `paraloom.embed.mining.mine_bitext` computes it. Higher is more precise; for a
            transformer start with 1.06, as in CCMatrix.
        k: Neighbors in the margin.
        retrieval: 'max', 'intersection', 'forward' or 'backward'.
        index: 'exact', 'clusters' (with faiss, for millions of lines) or 'auto'.
        gold: File of true pairs for precision, recall, F1 and the best threshold: the row of the source and of the
            target, from 1, between tabs.
        on_error: 'stop' at a line that is not UTF-8, or 'reject' it into OUTPUT.rejected.jsonl.
        seed: Seed of the clusters.

    Returns:
        Counts, and the scores if `gold` is given.

    Raises:
        ConfigError: A setting is unknown or out of range.
        DataError: A line is not UTF-8, a text has no sentences, or `gold` cannot be read.

    Reference:
        Artetxe and Schwenk 2019, "Margin-based parallel corpus mining with multilingual sentence embeddings".
    """
    _check_suffix(output)
    true = None if gold is None else read_gold_rows(gold)
    model = open_encoder(encoder, available_threads()) if isinstance(encoder, (str, Path)) else encoder
    rejected = RejectedLines(on_error)
    with tempfile.TemporaryDirectory() as folder:
        sides = [_distinct_lines(path, Path(folder) / name, rejected) for path, name in ((source, "a"), (target, "b"))]
        _warn_of_one_language([side.lines for side in sides])
        for side in sides:
            _encode(model, side)
        vectors = [np.load(side.vectors, mmap_mode="r", allow_pickle=False) for side in sides]
        neighbors = bitext_neighbors(vectors[0], vectors[1], k=k, index=index, scratch=Path(folder), seed=seed)
        mined = select_pairs(neighbors, threshold=threshold, retrieval=retrieval)
        first, second = lines_at(sides[0].lines, mined.sources), lines_at(sides[1].lines, mined.targets)
        with open_write(output) as stream:
            stream.write(b"src\ttgt\tmargin\tcosine\n")
            for src, tgt, margin, cosine in zip(
                first, second, mined.margins.tolist(), mined.cosines.tolist(), strict=True
            ):
                stream.write(f"{_one_field(src)}\t{_one_field(tgt)}\t{margin:.4f}\t{cosine:.4f}\n".encode())
        if not len(mined.margins):
            _warn_of_no_translations(select_pairs(neighbors, threshold=-np.inf, retrieval=retrieval), threshold)
        rejected.report(output)
        score = None
        if true is not None:
            everything = select_pairs(neighbors, threshold=-np.inf, retrieval=retrieval)
            rows = [_distinct_rows(side, [pair[number] for pair in true], gold) for number, side in enumerate(sides)]
            known = list(zip(*rows, strict=True))
            score = evaluate_mining(everything.sources, everything.targets, everything.margins, known, threshold)
        counts = [len(side.rows) for side in sides], [len(side_vectors) for side_vectors in vectors]
        return MinedLines(len(mined.sources), (counts[0][0], counts[0][1]), (counts[1][0], counts[1][1]), score)


def _check_suffix(output: str) -> None:
    """Mined pairs are TSV, so their file is not named like another format; ConfigError before any work."""
    suffix = without_compression(output).suffix
    if suffix != ".tsv" and suffix in READERS:
        raise ConfigError(
            f"mined pairs are tab-separated, not '{suffix}'", file=output, remedy="Name the output .tsv, or .tsv.gz."
        )


def _warn_of_no_translations(candidates: MinedBitext, threshold: float) -> None:
    """Say how good the best candidate is, where none is as good as asked for."""
    best = f"; the best has {candidates.margins.max():.3f}; choose a lower threshold" if len(candidates.margins) else ""
    warnings.warn(f"no pair has a margin of {threshold:g} or more{best}", stacklevel=3)


def _warn_of_one_language(texts: Sequence[Path]) -> None:
    """Say so, before any work, where samples of two texts are in the same language."""
    first, second = (sample_language(islice(read_lines(str(path)), _LANGUAGE_SAMPLE)).language for path in texts)
    if first is not None and first == second:
        warnings.warn(
            f"both texts seem to be in the same language ({first}); translations are in two, and paraphrases in a text "
            "are mined without --with",
            stacklevel=3,
        )


class _DistinctLines(NamedTuple):
    """A text without its repeated lines.

    Args:
        lines: File of the different lines.
        vectors: File of their vectors.
        rows: int64 `(lines of the text,)`, which of the different lines each one is.
    """

    lines: Path
    vectors: Path
    rows: npt.NDArray[np.int64]


def _distinct_lines(source: str, stem: Path, rejected: RejectedLines) -> _DistinctLines:
    lines, vectors = stem.with_suffix(".txt"), stem.with_suffix(".npy")
    numbers: dict[str, int] = {}
    rows = []
    with lines.open("w", encoding="utf-8", newline="\n") as stream:
        for line in rejected.read(source):
            if line not in numbers:
                numbers[line] = len(numbers)
                stream.write(f"{line}\n")
            rows.append(numbers[line])
    if not any(line.strip() for line in numbers):
        raise DataError("the file has no sentences", file=source, remedy="Write a sentence per line.")
    return _DistinctLines(lines, vectors, np.array(rows, np.int64))


def _encode(model: EncoderLike, side: _DistinctLines) -> None:
    with warnings.catch_warnings():
        # Empty lines are common, and are in no pair.
        warnings.filterwarnings("ignore", message=".*unknown units only")
        encode_file(model, str(side.lines), side.vectors)


def _distinct_rows(side: _DistinctLines, rows: list[int], file: str | Path | None) -> list[int]:
    if rows and max(rows) >= len(side.rows):
        raise DataError(
            f"row {max(rows) + 1:,} of a true pair is beyond the {len(side.rows):,} lines of the text", file=str(file)
        )
    distinct: list[int] = side.rows[rows].tolist()
    return distinct


@contextmanager
def _encoded_corpus(
    encoder: EncoderLike | str | Path, corpus: str, vectors: str | Path | None, rejected: RejectedLines | None = None
) -> Iterator[tuple[Path, npt.NDArray[np.float32]]]:
    """The corpus as an uncompressed file of lines, and its vectors, memory-mapped."""
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "lines.txt"
        count = 0
        with lines.open("w", encoding="utf-8", newline="\n") as stream:
            for line in read_lines(corpus) if rejected is None else rejected.read(corpus):
                stream.write(f"{line}\n")
                count += 1
        if vectors is None:
            vectors = Path(folder) / "vectors.npy"
            encode_file(encoder, str(lines), vectors)
        stored = _load_vectors(vectors)
        if len(stored) != count:
            raise DataError(
                f"{len(stored):,} vectors for the {count:,} lines of {corpus}",
                file=vectors,
                remedy="Encode the corpus again, or leave the vectors out.",
            )
        yield lines, stored


def _load_vectors(file: str | Path) -> npt.NDArray[np.float32]:
    try:
        stored: npt.NDArray[np.float32] = np.load(file, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError, BadZipFile) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).rstrip(".")
        raise DataError(
            f"the vectors cannot be read ({reason})",
            file=file,
            remedy="Give a .npy file that `paraloom encode` wrote, or leave the vectors out.",
        ) from None
    if not isinstance(stored, np.ndarray):
        raise DataError("expected one array, got an archive", file=file, remedy="Give a .npy file.")
    try:
        check_vectors(stored)
    except DataError as error:
        raise error.at(file=file) from None
    return stored


def _one_field(text: str) -> str:
    return " ".join(text.split())
