"""Mining of translations: parallel sentences out of two texts, with an encoder of both languages."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.api.encoders import encode_file
from paraloom.api.models import encoder_languages
from paraloom.api.outputs import path_text
from paraloom.api.rejected import RejectedLines
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.progress import progress
from paraloom.core.protocols import EncoderLike
from paraloom.core.results import ResultRecord
from paraloom.embed.average import SentenceEncoder
from paraloom.embed.encoder import open_encoder
from paraloom.embed.mining import (
    MARGIN_THRESHOLD,
    NEIGHBORS,
    Index,
    MinedBitext,
    bitext_neighbors,
    check_mining,
    select_pairs,
)
from paraloom.embed.search import lines_at
from paraloom.embed.threads import available_threads
from paraloom.embed.vocabulary import UNITS
from paraloom.evaluate.mining import MiningScore, check_gold_rows, evaluate_mining, read_gold_rows
from paraloom.io import read_lines
from paraloom.io.bitext import UNKNOWN, check_target, is_output_stream, write_table
from paraloom.io.compression import without_compression
from paraloom.io.formats.names import sides
from paraloom.pipeline.shard import OnError
from paraloom.text.function_words import sample_language
from paraloom.text.language_names import language_name

COLUMNS = pa.schema(
    [
        ("score", pa.float32()),
        ("src", pa.string()),
        ("tgt", pa.string()),
        ("src_line", pa.int64()),
        ("tgt_line", pa.int64()),
        ("cosine", pa.float32()),
    ]
)
"""Columns of mined translations: the score is the margin, lines count from 1."""

_LANGUAGE_SAMPLE = 200  # lines of a text by which its language is identified
_ROWS = 4096  # pairs that are written at a time
_DIGEST = 16  # bytes
_LINES = 10_000  # lines between two reports of progress


@dataclass(frozen=True)
class MinedLines(ResultRecord):
    """The result of mining two texts."""

    pairs: int
    lines: tuple[int, int]
    distinct: tuple[int, int]
    score: MiningScore | None = None

    def format(self) -> str:
        """A line, and two more if there were true pairs."""
        noun = "pair" if self.pairs == 1 else "pairs"
        text = (
            f"{self.pairs:,} {noun} of {self.lines[0]:,} and {self.lines[1]:,} lines "
            f"({self.distinct[0]:,} and {self.distinct[1]:,} different ones)"
        )
        return text if self.score is None else f"{text}\n{self.score.format()}"


def mine_translations(
    encoder: EncoderLike | str | Path,
    source: str | Path,
    target: str | Path,
    output: str | Path,
    *,
    above: float = MARGIN_THRESHOLD,
    k: int = NEIGHBORS,
    index: Index = "auto",
    gold: str | Path | None = None,
    on_error: OnError = "stop",
) -> MinedLines:
    """Mine two texts for sentences that are translations of each other; each sentence is in one pair at most.

    A line that is repeated counts once, where it occurs first. Texts and vectors are on disk, in a temporary folder
    (`TMPDIR`), 4 × d bytes for each line and more; memory holds a few numbers for each line, neither texts nor vectors.

    Args:
        encoder: An encoder of both languages, its name or folder.
        source: Sentences, one per line; plain or compressed.
        target: Sentences in the other language: translations are mined.
        output: Table of the pairs, highest margin first: .tsv, .csv, .jsonl, plain or compressed, or .parquet; '-' is
            TSV on standard output. Columns: score (the margin), src, tgt, src_line, tgt_line (from 1), cosine. Runs of
            whitespace in the sentences become one space. .tmx and Moses pairs `PREFIX.{de,en}` have the sentences only.
        above: Minimum margin, as `paraloom.embed.mining.select_pairs` computes it. Higher is more precise; for a
            transformer start with 1.06, as in CCMatrix.
        k: Neighbors in the margin, and candidates of each sentence.
        index: How translations are searched: 'exact', 'graph' (approximate, with faiss; 550 bytes a line in memory) or
            'auto' (the default), which is exact up to 10¹¹ comparisons, such as 300,000 lines on both sides.
        gold: File of true pairs for precision, recall, F1 and the best threshold: the line of the source and of the
            target, from 1, between tabs.
        on_error: 'stop' at a line that is not UTF-8, or 'reject' it into OUTPUT.rejected.jsonl.

    Returns:
        Counts, and the scores if `gold` is given.

    Raises:
        ConfigError: A setting is unknown or out of range, or the encoder is of one language.
        DataError: A line is not UTF-8, a text has no sentences, `gold` cannot be read or a row of it is not in the
            texts.
        MissingExtraError: A graph is needed and faiss is not installed.

    Reference:
        Artetxe and Schwenk 2019, "Margin-based parallel corpus mining with multilingual sentence embeddings".

    Example:
        >>> class Letters:  # a stand-in for an encoder of both languages
        ...     signature, dimension = "letters", 26
        ...     def encode(self, sentences):
        ...         return np.float32([[text.count(chr(97 + i)) for i in range(26)] for text in sentences])
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "a.txt").write_text("radio taxi\\nhotel\\n")
        >>> _ = (folder / "b.txt").write_text("hotels\\ntaxi radio\\n")
        >>> mined = mine_translations(Letters(), folder / "a.txt", folder / "b.txt", folder / "out.tsv", above=0)
        >>> print((folder / "out.tsv").read_text().splitlines()[1].split("\\t")[1:5])
        ['radio taxi', 'taxi radio', '1', '2']
    """
    _check_format(path_text(output))
    check_mining(k=k, threshold=above, index=index)
    texts = [path_text(text, "sentences in memory use mine") for text in (source, target)]
    true = None if gold is None else read_gold_rows(gold)
    _check_encoder(encoder)
    model = open_encoder(encoder, available_threads())
    _check_training(model)
    rejected = RejectedLines(on_error)
    with tempfile.TemporaryDirectory() as folder:
        sides = [_read(path, Path(folder) / name, rejected) for path, name in zip(texts, "ab", strict=True)]
        if true is not None and gold is not None:
            check_gold_rows(true, len(sides[0].rows), len(sides[1].rows), gold)
        files = [(text, side.lines) for text, side in zip(texts, sides, strict=True)]
        _warn_of_languages(files, encoder_languages(encoder), model)
        for side in sides:
            _encode(model, side)
        vectors = [np.load(side.vectors, mmap_mode="r", allow_pickle=False) for side in sides]
        neighbors = bitext_neighbors(vectors[0], vectors[1], k=k, index=index)
        candidates = select_pairs(neighbors, threshold=-np.inf)
        del neighbors
        count = int((candidates.margins >= above).sum())
        mined = MinedBitext._make(array[:count] for array in candidates)
        write_table(pa.RecordBatchReader.from_batches(COLUMNS, _tables(mined, sides)), output)
        if not count:
            _warn_of_no_pairs(candidates, above)
        rejected.report(output)
        score = None if true is None else _score(candidates, true, sides, above)
        one, other = sides
        return MinedLines(count, (len(one.rows), len(other.rows)), (len(one.first), len(other.first)), score)


def _score(
    candidates: MinedBitext, true: Sequence[tuple[int, int]], sides: Sequence[_Side], above: float
) -> MiningScore:
    """Precision and recall of the candidates, by the true pairs of lines."""
    known = np.stack([side.rows[[pair[i] for pair in true]] for i, side in enumerate(sides)], axis=1)
    return evaluate_mining(candidates.sources, candidates.targets, candidates.margins, known, above)


def _check_format(output: str) -> None:
    """ConfigError, before any work, for a format that mined pairs cannot have."""
    check_target(output)
    if is_output_stream(output) or sides(output) is not None:
        return
    if without_compression(output).suffix == "":
        raise ConfigError(
            "mined pairs are written to a file, not to a folder",
            file=output,
            remedy="Add a suffix: .tsv, .jsonl or .parquet.",
        )


def _check_encoder(encoder: EncoderLike | str | Path) -> None:
    """ConfigError for an encoder of one language."""
    languages = encoder_languages(encoder)
    if len(languages) == 1 and languages[0] != UNKNOWN:
        raise _not_bilingual(f"is of one language, {language_name(languages[0])}", encoder)


def _check_training(model: EncoderLike) -> None:
    """ConfigError for an encoder that was trained on paraphrases; what was trained on bitext says its languages."""
    training = getattr(getattr(model, "model", model), "training", {})
    is_ours = isinstance(getattr(model, "model", model), SentenceEncoder)
    if is_ours and training.get("loss") == "margin" and "languages" not in training:
        raise _not_bilingual("was trained on pairs in one language", "")


def _not_bilingual(reason: str, encoder: object) -> ConfigError:
    return ConfigError(
        f"the encoder {reason}; mining of translations needs one of both languages",
        file=str(encoder) if isinstance(encoder, (str, Path)) and str(encoder) else None,
        remedy="Name multilingual, or train one: paraloom train encoder --bitext PAIRS -o ENCODER. Paraphrases are "
        "mined out of one text.",
    )


def _warn_of_languages(texts: list[tuple[str, Path]], known: list[str], model: EncoderLike) -> None:
    """Warn, before any work, of two texts in one language, of a language that the encoder lacks, of swapped sides."""
    samples = [list(islice(read_lines(path), _LANGUAGE_SAMPLE)) for _, path in texts]
    first, second = languages = [sample_language(lines) for lines in samples]
    if first is not None and first == second:
        warnings.warn(
            f"both texts seem to be in the same language ({first}, {language_name(first)}): {texts[0][0]} and "
            f"{texts[1][0]}; translations are in two, and paraphrases are mined out of one text",
            stacklevel=3,
        )
        return
    if not known or UNKNOWN in known:
        return
    names = " and ".join(map(language_name, known))
    for (name, _), lines, language in zip(texts, samples, languages, strict=True):
        if language is not None and language not in known:
            coverage = _coverage(model, lines)
            warnings.warn(
                f"{name} seems to be in {language_name(language)}, but the encoder is of {names}{coverage}; pairs of "
                "other languages are rarely right",
                stacklevel=3,
            )
    if len(known) == 2 and [first, second] == known[::-1]:
        warnings.warn(
            f"the sides are swapped: the encoder was trained on {language_name(known[0])} and its translation into "
            f"{language_name(known[1])}, but {texts[0][0]} is in {language_name(first)}; the pairs are the same, with "
            "src and tgt in the order of the texts",
            stacklevel=3,
        )


def _coverage(model: EncoderLike, lines: list[str]) -> str:
    """How much of a text an average of words or n-grams has vectors for."""
    parts = model.parts.values() if isinstance(model, SentenceEncoder) else ()
    shares = [
        f"{100 * part.vocabulary.coverage(lines):.0f} % of its {part.vocabulary.unit}s"
        for part in parts
        if part.vocabulary.unit in UNITS
    ]
    return f" and knows {' and '.join(shares)}" if shares else ""


def _warn_of_no_pairs(candidates: MinedBitext, above: float) -> None:
    """Say how good the best candidate is, where none is as good as asked for."""
    best = f"; the best has {candidates.margins[0]:.3f}; choose a lower --above" if len(candidates.margins) else ""
    warnings.warn(f"no pair has a margin of {above:g} or more{best}", stacklevel=3)


class _Side(NamedTuple):
    """A text without its repeated lines."""

    lines: Path
    vectors: Path
    rows: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]


def _read(source: str, stem: Path, rejected: RejectedLines) -> _Side:
    """Copy the different lines of a text to a file; memory has a digest of 16 bytes for each line, not the line."""
    complete, lines = stem.with_suffix(".all"), stem.with_suffix(".txt")
    digests, blank = bytearray(), True
    with complete.open("w", encoding="utf-8", newline="\n") as stream, progress("reading", unit="lines") as advance:
        for number, line in enumerate(rejected.read(source), 1):
            digests += blake2b(line.encode(), digest_size=_DIGEST).digest()
            blank = blank and not line.strip()
            stream.write(f"{line}\n")
            if number % _LINES == 0:
                advance(_LINES)
        advance(len(digests) // _DIGEST % _LINES)
    if blank:
        raise DataError("the file has no sentences", file=source, remedy="Write a sentence per line.")
    rows, first = _numbers(np.frombuffer(digests, np.uint64).reshape(-1, 2))
    if len(first) == len(rows):
        complete.rename(lines)
    else:
        is_first = np.zeros(len(rows), np.bool_)
        is_first[first] = True
        with complete.open("rb") as everything, lines.open("wb") as stream:
            stream.writelines(line for line, new in zip(everything, is_first, strict=True) if new)
        complete.unlink()
    return _Side(lines, stem.with_suffix(".npy"), rows, first)


def _numbers(digests: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The number of each row among the different ones, in the order of their first occurrence, and where that is."""
    order = np.lexsort((digests[:, 1], digests[:, 0]))  # stable: of equal rows, the first one comes first
    sorted_ = digests[order]
    starts = np.append(True, (sorted_[1:] != sorted_[:-1]).any(axis=1))
    first = order[starts]
    ranks = np.argsort(first)
    numbers = np.empty(len(first), np.int64)
    numbers[ranks] = np.arange(len(first))
    rows = np.empty(len(digests), np.int64)
    rows[order] = numbers[np.cumsum(starts) - 1]
    return rows, first[ranks]


def _encode(model: EncoderLike, side: _Side) -> None:
    with warnings.catch_warnings():
        # Empty lines are common, and are in no pair.
        warnings.filterwarnings("ignore", message=".*unknown tokens only")
        encode_file(model, str(side.lines), side.vectors)


def _tables(mined: MinedBitext, sides: list[_Side]) -> Iterator[pa.RecordBatch]:
    """The rows of the output, a few thousand at a time."""
    texts = [lines_at(side.lines, rows) for side, rows in zip(sides, mined[:2], strict=True)]
    for start in range(0, len(mined.margins), _ROWS):
        part = slice(start, start + _ROWS)
        size = len(mined.margins[part])
        src, tgt = ([" ".join(text.split()) for text in islice(lines, size)] for lines in texts)
        numbers = [side.first[rows[part]] + 1 for side, rows in zip(sides, mined[:2], strict=True)]
        columns = [mined.margins[part], src, tgt, *numbers, mined.cosines[part]]
        arrays = [pa.array(column, field.type) for column, field in zip(columns, COLUMNS, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=COLUMNS)
