"""Training examples of a translator: sub-word ids on disk, cut into batches of like length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import sentencepiece

from paraloom.core.errors import DataError

if TYPE_CHECKING:
    import torch

END_ID = 0


@dataclass(frozen=True)
class Examples:
    """Encoded sentence pairs: flat int32 ids in a memory-mapped file, and the 2n + 1 bounds of their sentences.

    Source and target of pair i are `source(i)` and `target(i)`, each ending in `</s>` (id 0).
    left_out: pairs not kept because a side was empty or longer than allowed.
    """

    ids: npt.NDArray[np.int32]
    bounds: npt.NDArray[np.int64]
    left_out: int

    def __len__(self) -> int:
        return len(self.bounds) // 2

    def source(self, pair: int) -> npt.NDArray[np.int32]:
        """Ids of the source sentence of a pair."""
        return self.ids[self.bounds[2 * pair] : self.bounds[2 * pair + 1]]

    def target(self, pair: int) -> npt.NDArray[np.int32]:
        """Ids of the target sentence of a pair."""
        return self.ids[self.bounds[2 * pair + 1] : self.bounds[2 * pair + 2]]

    @cached_property
    def source_lengths(self) -> npt.NDArray[np.int64]:
        """Sub-words of each source sentence, `</s>` included, int64 (n,)."""
        return np.diff(self.bounds)[0::2]

    @cached_property
    def target_lengths(self) -> npt.NDArray[np.int64]:
        """Sub-words of each target sentence, `</s>` included, int64 (n,)."""
        return np.diff(self.bounds)[1::2]


def encode_examples(
    pairs: Iterable[tuple[Sequence[str], Sequence[str]]],
    subwords: Path,
    ids_file: Path,
    *,
    longest: int = 128,
    sampling: float = 0.0,
    seed: int = 0,
) -> Examples:
    """Encode batches of (source sentences, target sentences) into `ids_file`, which stays mapped while in use.

    longest: a pair with more sub-words than this on a side, or with an empty side, is left out and counted.
    sampling: above 0, sub-words are drawn with probabilities to this power (Kudo 2018), by `seed`: every pass over a
    small corpus then reads it in other pieces.
    Raises DataError when nothing is left.
    """
    if sampling:
        # SentencePiece seeds its generator once a thread: a thread of one's own starts from this seed.
        sentencepiece.set_random_generator_seed(seed)
        with ThreadPoolExecutor(1) as own:
            return own.submit(_encode_all, pairs, subwords, ids_file, longest, sampling).result()
    return _encode_all(pairs, subwords, ids_file, longest, sampling)


def _encode_all(
    pairs: Iterable[tuple[Sequence[str], Sequence[str]]], subwords: Path, ids_file: Path, longest: int, sampling: float
) -> Examples:
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(subwords / "source.spm"))

    def encode(sentences: Sequence[str]) -> list[list[int]]:
        if not sampling:
            found: list[list[int]] = pieces.encode(list(sentences))
            return found
        # One by one: a list would be drawn in threads whose generators all begin alike.
        return [pieces.encode(text, enable_sampling=True, alpha=sampling, nbest_size=-1) for text in sentences]

    lengths: list[npt.NDArray[np.int64]] = []
    left_out = 0
    ids_file.parent.mkdir(parents=True, exist_ok=True)
    with ids_file.open("wb") as stream:
        for sources, targets in pairs:
            kept: list[list[int]] = []
            for source, target in zip(encode(sources), encode(targets), strict=True):
                if source and target and max(len(source), len(target)) < longest:
                    kept += [[*source, END_ID], [*target, END_ID]]
                else:
                    left_out += 1
            np.fromiter((i for row in kept for i in row), np.int32).tofile(stream)
            lengths.append(np.fromiter(map(len, kept), np.int64, len(kept)))
    all_lengths = np.concatenate(lengths) if lengths else np.empty(0, np.int64)
    if not len(all_lengths):
        raise DataError(
            f"no usable sentence pair: {left_out} have an empty side or more than {longest} sub-words",
            remedy="Check that the bitext holds sentences, and that source and target are the right columns.",
        )
    return Examples(np.memmap(ids_file, np.int32, "r"), np.concatenate([[0], np.cumsum(all_lengths)]), left_out)


def batches(examples: Examples, tokens: int, order: np.random.Generator) -> list[npt.NDArray[np.int64]]:
    """Pair numbers of each batch of one epoch: like lengths together, at most `tokens` padded tokens on a side.

    The pairs of one length are shuffled among themselves, and so are the batches.
    """
    source, target = examples.source_lengths, examples.target_lengths
    shuffled = order.permutation(len(examples))
    # Two neighbouring lengths share a bucket: batches stay full where a length is rare, and padding under 4 %.
    ranked = shuffled[np.lexsort((source[shuffled] // 2, target[shuffled] // 2))]
    cuts, start, longest = [], 0, 0
    for position, pair in enumerate(ranked):
        longest = max(longest, int(source[pair]), int(target[pair]))
        if position > start and longest * (position + 1 - start) > tokens:
            cuts.append(position)
            start, longest = position, int(max(source[pair], target[pair]))
    parts = np.split(ranked, cuts)
    return [parts[i] for i in order.permutation(len(parts))]


def padded(rows: Sequence[npt.NDArray[np.int32]], padding: int) -> torch.Tensor:
    """Rows of ids as one int64 tensor (rows, longest), `padding` behind the short ones."""
    import torch

    table = np.full((len(rows), max(map(len, rows))), padding, np.int64)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return torch.from_numpy(table)
