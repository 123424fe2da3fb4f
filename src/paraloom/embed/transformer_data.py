"""Sentences for the training of small transformers: tokens and teacher's vectors in files, batches of like length."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.array_types import Int32s, Ints
from paraloom.core.digests import digest
from paraloom.core.errors import DataError
from paraloom.embed.data import ArrayFile
from paraloom.embed.distillation import neighborhood_order, teacher_vectors
from paraloom.embed.transformer_config import TransformerConfig
from paraloom.embed.transformer_vocabulary import TeacherVocabulary, prune
from paraloom.io.atomic import disk_full_as_error

# Sentences that are tokenized at a time.
_CHUNK = 5000
# Batches of like length that are searched together for neighbors, at most, and how much longer than the shortest of
# their sentences the longest may be.
_SLAB, _STRETCH = 32, 1.2


@dataclass(frozen=True)
class TransformerData:
    """n sentences as tokens, with the vectors of a teacher."""

    ids: Int32s  # int32, the tokens of all sentences, memory-mapped
    offsets: Ints  # int64 `(n + 1,)`, where each sentence begins
    rows: Ints  # int64 `(n,)`, the row of each sentence in `vectors`
    vectors: npt.NDArray[np.float16]  # float16 `(m, d)`, of norm 1, memory-mapped
    counts: dict[str, int]  # `read` = `used` + `empty` (no text, or no vector) + `too_long`
    digest: str

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, sentences: Ints) -> list[Int32s]:
        return [self.ids[self.offsets[i] : self.offsets[i + 1]] for i in sentences.tolist()]


def stream_sentences(
    sentences: Iterable[pa.RecordBatch], vocabulary: TeacherVocabulary, folder: Path, config: TransformerConfig
) -> tuple[TransformerData, TeacherVocabulary]:
    """Write the tokens and the vectors of all sentences to files in `folder`; none of them stays in memory."""
    folder.mkdir(parents=True, exist_ok=True)
    counts = {"read": 0, "used": 0, "empty": 0, "too_long": 0}
    lines = folder / "lines.txt"
    with disk_full_as_error(folder):
        vectors, width = _write_lines(sentences, lines, ArrayFile(folder / "vectors"), counts)
        if config.vocab_size:
            occurrences = np.zeros(len(vocabulary.words), np.int64)
            for ids in _tokenized(lines, vocabulary):
                occurrences += np.bincount(np.concatenate([*ids, []]).astype(np.int64), minlength=len(occurrences))
            vocabulary = prune(vocabulary, occurrences, config.vocab_size)
        files = {name: ArrayFile(folder / name) for name in ("ids", "offsets", "rows")}
        files["offsets"].append(np.zeros(1, np.int64))
        row = total = 0
        for ids in _tokenized(lines, vocabulary):
            lengths = np.array([len(sentence) for sentence in ids], np.int64)
            kept = np.flatnonzero((lengths > 0) & (lengths <= config.max_length))
            counts["empty"] += int((lengths == 0).sum())
            counts["too_long"] += int((lengths > config.max_length).sum())
            files["ids"].append(np.concatenate([np.zeros(0, np.int32), *(np.array(ids[i], np.int32) for i in kept)]))
            files["offsets"].append(total + np.cumsum(lengths[kept]))
            files["rows"].append(row + kept)
            row, total = row + len(ids), total + int(lengths[kept].sum())
            counts["used"] += len(kept)
        for file in files.values():
            file.close()
    lines.unlink()
    if counts["used"] < 2:
        raise DataError(f"too few sentences are left to learn from: {counts}")
    contents = [file.digest for file in (*files.values(), vectors)]
    data = TransformerData(
        files["ids"].mapped(np.int32),
        files["offsets"].mapped(np.int64),
        files["rows"].mapped(np.int64),
        vectors.mapped(np.float16).reshape(-1, width),
        counts,
        digest([*contents, digest(vocabulary.tokenizer)]),
    )
    return data, vocabulary


def batches_of_like_length(data: TransformerData, config: TransformerConfig, draw: np.random.Generator) -> Ints:
    """The batches of an epoch: sentences of like length, in neighborhoods under the teacher, in random order."""
    neighborhood = min(config.neighborhood_size, config.batch_size, len(data))
    size = min(config.batch_size, len(data)) // neighborhood * neighborhood
    usable = draw.permutation(len(data))[: len(data) // size * size]
    lengths = np.diff(data.offsets)
    by_length = usable[np.argsort(lengths[usable], kind="stable")].reshape(-1, size)
    batches = []
    for slab in _slabs(lengths[by_length]):
        # Memory-mapped vectors are read in the order of the file.
        sentences = np.sort(by_length[slab].ravel())
        order = neighborhood_order(data.vectors[data.rows[sentences]], neighborhood, config.num_hyperplanes, draw)
        batches.append(sentences[order].reshape(-1, size))
    result = np.concatenate(batches)
    return result[draw.permutation(len(result))]


def _slabs(lengths: Ints) -> Iterator[slice]:
    """Runs of batches of like length, from the lengths `(k, batch size)` of sentences in ascending order."""
    start = 0
    for end in range(1, len(lengths) + 1):
        full = end == len(lengths) or end - start == _SLAB
        if full or lengths[end, -1] > _STRETCH * lengths[start, 0] + 1:
            yield slice(start, end)
            start = end


def _write_lines(
    sentences: Iterable[pa.RecordBatch], lines: Path, stored: ArrayFile, counts: dict[str, int]
) -> tuple[ArrayFile, int]:
    """Write the usable texts, one a line, and their vectors; returns the file of vectors and their width."""
    width = 0
    with lines.open("w", encoding="utf-8", newline="\n") as stream:
        for batch in sentences:
            texts = [" ".join((text or "").split()) for text in batch.column("text").to_pylist()]
            vectors, known = teacher_vectors(batch)
            if width and vectors.shape[1] != width:
                raise DataError(f"expected vectors of {width} dimensions as before, got {vectors.shape[1]}")
            width = vectors.shape[1]
            kept = known & np.array([bool(text) for text in texts], bool)
            counts["read"] += len(kept)
            counts["empty"] += int((~kept).sum())
            stream.writelines(f"{text}\n" for text, keep in zip(texts, kept, strict=True) if keep)
            stored.append(vectors[kept])
    stored.close()
    if not width:
        raise DataError("no sentences were given")
    return stored, width


def _tokenized(lines: Path, vocabulary: TeacherVocabulary) -> Iterator[list[list[int]]]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(json.dumps(vocabulary.tokenizer))
    with lines.open(encoding="utf-8", newline="\n") as stream:
        while chunk := [line[:-1] for line in islice(stream, _CHUNK)]:
            yield [encoding.ids for encoding in tokenizer.encode_batch(chunk)]
