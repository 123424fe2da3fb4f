"""Training data of a translator: bitexts mixed by weight, encoded as subword ids, batched by length."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.seeds import generator

if TYPE_CHECKING:
    import torch

END_ID = 0  # Id of `</s>`

SentencePairs: TypeAlias = tuple[Sequence[str], Sequence[str]]
"""A batch of source sentences and of target sentences, of equal count."""


def mixture_sizes(rows: Sequence[int], weights: Sequence[float]) -> list[int]:
    """Rows that a mixture reads of each bitext: shares match `weights`, and the least repeated bitext is read once."""
    if len(rows) != len(weights):
        raise ConfigError(
            f"'weights' must have one number per bitext, got {len(weights)} for {len(rows)} bitexts",
            remedy="Give each bitext a weight, or none of them.",
        )
    if any(not 0 < weight < float("inf") for weight in weights):
        raise ConfigError(
            f"'weights' must be above 0, got {list(weights)}", remedy="Leave out a bitext that should not count."
        )
    scale = max(count / weight for count, weight in zip(rows, weights, strict=True))
    # A bitext never loses a row to rounding.
    return [max(count, round(scale * weight)) if count else 0 for count, weight in zip(rows, weights, strict=True)]


def repeat_to(read: Callable[[], Iterable[SentencePairs]], rows: int, size: int, seed: int) -> Iterator[SentencePairs]:
    """Stream a bitext repeatedly until `size` rows are read; the last pass is sampled, in the order of the rows."""
    passes, rest = divmod(size, rows) if rows else (0, 0)
    for _ in range(passes):
        yield from read()
    if rest:
        yield from _sample(read(), rows, rest, generator(seed))


def _sample(
    batches: Iterable[SentencePairs], rows: int, size: int, random: np.random.Generator
) -> Iterator[SentencePairs]:
    """`size` of `rows` rows, every subset with the same probability."""
    left = rows
    for sources, targets in batches:
        # First how many rows of this batch are in the sample, then which: nothing but the batch is held in memory.
        share = int(random.hypergeometric(len(sources), left - len(sources), size)) if size else 0
        chosen: npt.NDArray[np.int64] = np.sort(random.choice(len(sources), share, replace=False))
        left, size = left - len(sources), size - share
        yield [sources[row] for row in chosen], [targets[row] for row in chosen]


@dataclass(frozen=True)
class Examples:
    """Encoded sentence pairs."""

    # Subword ids of all sentences, int32, in a memory-mapped file. Each sentence ends with `</s>` (id 0).
    ids: npt.NDArray[np.int32]
    # int64 (2n + 1,), where sentences begin: pair i has its source at 2i and its target at 2i + 1.
    bounds: npt.NDArray[np.int64]
    left_out: int  # Pairs that were dropped because a side was empty or too long

    def __len__(self) -> int:
        return len(self.bounds) // 2

    def source(self, pair: int) -> npt.NDArray[np.int32]:
        return self.ids[self.bounds[2 * pair] : self.bounds[2 * pair + 1]]

    def target(self, pair: int) -> npt.NDArray[np.int32]:
        return self.ids[self.bounds[2 * pair + 1] : self.bounds[2 * pair + 2]]

    def padded(self, pairs: npt.NDArray[np.int64], side: int, padding: int) -> torch.Tensor:
        """Ids of the source (side 0) or target (1) of pairs as `pad` stacks them, without a step for each sentence."""
        import torch

        starts = self.bounds[2 * pairs + side]
        lengths = self.bounds[2 * pairs + side + 1] - starts
        columns = np.arange(lengths.max())
        table = self.ids[np.minimum(starts[:, None] + columns, len(self.ids) - 1)]
        return torch.from_numpy(np.where(columns < lengths[:, None], table, padding).astype(np.int64))

    @cached_property
    def source_lengths(self) -> npt.NDArray[np.int64]:
        """Subwords of each source sentence, including `</s>`, int64 (n,)."""
        return np.diff(self.bounds)[0::2]

    @cached_property
    def target_lengths(self) -> npt.NDArray[np.int64]:
        """Subwords of each target sentence, including `</s>`, int64 (n,)."""
        return np.diff(self.bounds)[1::2]


def encode_examples(
    pairs: Iterable[SentencePairs],
    subwords: Path,
    ids_file: Path,
    *,
    max_length: int = 128,
    subword_sampling: float = 0.0,
    seed: int = 0,
) -> Examples:
    """Encode a bitext as subword ids."""
    import sentencepiece

    if subword_sampling:
        # SentencePiece seeds its generator once per thread: a new thread starts from this seed.
        sentencepiece.set_random_generator_seed(seed)
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(_encode_all, pairs, subwords, ids_file, max_length, subword_sampling).result()
    return _encode_all(pairs, subwords, ids_file, max_length, subword_sampling)


def _encode_all(
    pairs: Iterable[SentencePairs], subwords: Path, ids_file: Path, max_length: int, subword_sampling: float
) -> Examples:
    import sentencepiece

    pieces = sentencepiece.SentencePieceProcessor(model_file=str(subwords / "source.spm"))

    def encode(sentences: Sequence[str]) -> list[list[int]]:
        if not subword_sampling:
            rows: list[list[int]] = pieces.encode(list(sentences))
            return rows
        # One by one: a list would be sampled in threads whose generators all start with the same seed.
        return [pieces.encode(text, enable_sampling=True, alpha=subword_sampling, nbest_size=-1) for text in sentences]

    lengths: list[npt.NDArray[np.int64]] = []
    left_out = 0
    ids_file.parent.mkdir(parents=True, exist_ok=True)
    with ids_file.open("wb") as stream:
        for sources, targets in pairs:
            kept: list[list[int]] = []
            for source, target in zip(encode(sources), encode(targets), strict=True):
                if source and target and max(len(source), len(target)) < max_length:
                    kept += [[*source, END_ID], [*target, END_ID]]
                else:
                    left_out += 1
            stream.write(np.fromiter((i for row in kept for i in row), np.int32).data)
            lengths.append(np.fromiter(map(len, kept), np.int64, len(kept)))
    all_lengths = np.concatenate(lengths) if lengths else np.empty(0, np.int64)
    if not len(all_lengths):
        raise DataError(
            f"the bitext has no usable sentence pair: {left_out} have an empty side or more than {max_length} subwords",
            remedy="Check that it holds sentences, and that source and target are the right columns.",
        )
    return Examples(np.memmap(ids_file, np.int32, "r"), np.concatenate([[0], np.cumsum(all_lengths)]), left_out)


def batches(examples: Examples, batch_tokens: int, random: np.random.Generator) -> list[npt.NDArray[np.int64]]:
    """Cut one epoch into batches of pairs of similar length."""
    source, target = examples.source_lengths, examples.target_lengths
    shuffled = random.permutation(len(examples))
    # Two adjacent lengths share a bucket: batches stay full where a length is rare, and padding below 4 %.
    ranked = shuffled[np.lexsort((source[shuffled] // 2, target[shuffled] // 2))]
    cuts, start, max_length = [], 0, 0
    for position, pair in enumerate(ranked):
        max_length = max(max_length, int(source[pair]), int(target[pair]))
        if position > start and max_length * (position + 1 - start) > batch_tokens:
            cuts.append(position)
            start, max_length = position, int(max(source[pair], target[pair]))
    parts = np.split(ranked, cuts)
    return [parts[i] for i in random.permutation(len(parts))]


def pad(rows: Sequence[npt.NDArray[np.int32]], padding: int) -> torch.Tensor:
    """Stack rows of ids into one int64 tensor (rows, length of the longest), shorter rows filled with `padding`."""
    import torch

    table = np.full((len(rows), max(map(len, rows))), padding, np.int64)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return torch.from_numpy(table)
