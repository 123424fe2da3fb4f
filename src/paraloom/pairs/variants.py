"""VARIANTS out of translations, each beside the text it was made from; and PAIRS to train on out of VARIANTS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.protocols import Variant
from paraloom.core.schema import PAIRS, VARIANTS, require
from paraloom.pairs.filtering.held_out import IN_HELD_OUT, HeldOut
from paraloom.pairs.scoring.characters import repeats
from paraloom.text.tokens import code_points, normalise

ORIGINALS = pa.schema(
    [("original", pa.string()), ("original_lang", pa.string()), ("origin", pa.string()), ("repeated", pa.bool_())]
)
"""What VARIANTS of ours have beside their schema: see `variant_rows`."""

CUT = "cut"
"""Beside them: whether the decoder stopped a variant before its end."""

SHORT = 40
"""Characters up to which no two texts are too unlike in length."""

_INTERNAL = "_source"


def variant_rows(
    originals: pa.RecordBatch,
    variants: Sequence[Sequence[Variant]],
    method: str,
    *,
    signature: str = "",
) -> pa.RecordBatch:
    """A row for each variant of each text, in order, ranked from 0.

    originals: n rows with `pair_id`, `original`, `original_lang` and `origin`.  variants: n lists, translations of
    `original`.  method: how they were made.  signature: of the translator or translators, for the columns they made.

    Returns VARIANTS with the columns of the original (so that a row alone is enough to make a pair of), CUT, `repeated`
    (whether an earlier variant of the same text says the same, blanks aside) and `_source` (int32, row of the batch).
    Raises DataError when there are not as many lists as rows.
    """
    if len(variants) != originals.num_rows:
        raise DataError(f"there are {originals.num_rows} texts, but translations of {len(variants)}")
    counts = np.fromiter((len(each) for each in variants), np.int32, len(variants))
    source = np.repeat(np.arange(len(variants), dtype=np.int32), counts)
    flat = [variant for each in variants for variant in each]
    rank = np.arange(len(flat), dtype=np.int32) - np.repeat(np.cumsum(counts, dtype=np.int32) - counts, counts)
    texts = pa.array([each.text for each in flat], pa.string())
    from_original = originals.take(pa.array(source))
    made = {"signature": signature} if signature else None
    columns: list[tuple[pa.Field, pa.Array]] = [
        (VARIANTS.field("pair_id"), from_original.column("pair_id")),
        (VARIANTS.field("rank"), pa.array(rank)),
        (pa.field("text", pa.string(), metadata=made), texts),
        (VARIANTS.field("method"), pa.array([method] * len(flat), pa.string())),
        (pa.field("logprob", pa.float32(), metadata=made), pa.array([each.logprob for each in flat], pa.float32())),
        (pa.field("tokens", pa.int32(), metadata=made), pa.array([each.tokens for each in flat], pa.int32())),
        (pa.field(CUT, pa.bool_()), pa.array([each.cut for each in flat], pa.bool_())),
        *((ORIGINALS.field(name), from_original.column(name)) for name in ("original", "original_lang", "origin")),
        (ORIGINALS.field("repeated"), pa.array(_repeated(source, texts), pa.bool_())),
        (pa.field(_INTERNAL, pa.int32()), pa.array(source)),
    ]
    return pa.RecordBatch.from_arrays([values for _, values in columns], schema=pa.schema([f for f, _ in columns]))


@dataclass(frozen=True, kw_only=True)
class TrainingPairs:
    """How VARIANTS become pairs to train on, and which are not fit for it.

    src_lang: language of the variants.  tag: a token before each of them, such as <BT>, which tells a translator
    synthetic from real text (Caswell, Chelba and Grangier 2019); name it in the `symbols` of train-translator, too.
    ratio: a side of more than 40 characters and more than so many times as long as the other is rejected; 0: none is.
    repeats: a variant in which a stretch of 3 to 100 characters comes so many times on the spot is rejected, the mark
    of a decoder that is stuck; 0: none is.  longest: a variant of so many sub-words was cut off there; 0: none was.
    One that its column `cut` says was cut off is rejected in any case.
    copies, repeated: whether a variant equal to its original, or to an earlier one of it, is kept.
    """

    src_lang: str = "und"
    tag: str = ""
    ratio: float = 5.0
    repeats: int = 5
    longest: int = 256
    copies: bool = False
    repeated: bool = True

    def __post_init__(self) -> None:
        if self.tag != self.tag.strip() or len(self.tag.split()) > 1:
            raise ConfigError(f"'tag' is one token without blanks, such as <BT>, not '{self.tag}'")
        if self.ratio and self.ratio < 1:
            raise ConfigError(f"'ratio' is 1 or more, or 0 for no bound, not {self.ratio}")
        if self.repeats < 0 or self.repeats == 1 or self.longest < 0:
            raise ConfigError("'repeats' is 2 or more, 'longest' 1 or more; 0 is no bound")


def training_pairs(batch: pa.RecordBatch, config: TrainingPairs, held: HeldOut | None = None) -> pa.RecordBatch:
    """PAIRS with the variant as `src` and the original as `tgt` (back-translation), `keep` and `reason`, a row each.

    batch: what `variant_rows` gave.  held: texts that no variant may be.  `pair_id` is `PAIR_ID/RANK`; rank, method,
    logprob and tokens stay beside.
    Raises DataError where the originals are missing.
    """
    require(batch.schema, VARIANTS)
    require(batch.schema, ORIGINALS)
    # A null counts as an empty text.
    texts = pc.fill_null(batch.column("text"), "")
    reasons = _faults(batch, texts, config, held)
    tagged = pc.binary_join_element_wise(config.tag, texts, " ") if config.tag else texts
    rank = pc.cast(batch.column("rank"), pa.string())
    columns = {
        "pair_id": pc.binary_join_element_wise(batch.column("pair_id"), rank, "/"),
        "src": tagged,
        "tgt": batch.column("original"),
        "src_lang": pa.array([config.src_lang] * batch.num_rows, pa.string()),
        "tgt_lang": batch.column("original_lang"),
        "origin": batch.column("origin"),
    }
    out = pa.RecordBatch.from_arrays([columns[name] for name in PAIRS.names], schema=PAIRS)
    for name in ("rank", "method", "logprob", "tokens"):
        out = out.append_column(batch.schema.field(name), batch.column(name))
    out = out.append_column(pa.field("keep", pa.bool_()), pa.array([reason is None for reason in reasons], pa.bool_()))
    return out.append_column(pa.field("reason", pa.string()), pa.array(reasons, pa.string()))


def _faults(batch: pa.RecordBatch, texts: pa.Array, config: TrainingPairs, held: HeldOut | None) -> list[str | None]:
    """The first thing that is wrong with each row, None where nothing is."""
    ours, theirs = normalise(texts), normalise(batch.column("original"))
    points = code_points(ours)
    lengths = np.diff(points[1]), np.diff(code_points(theirs)[1])
    shorter, longer = np.minimum(*lengths), np.maximum(*lengths)
    tests: list[tuple[npt.NDArray[np.bool_], str]] = [
        (lengths[0] == 0, "empty"),
        (lengths[1] == 0, "the original is empty"),
    ]
    if CUT in batch.schema.names:
        tests.append((pc.fill_null(batch.column(CUT), False).to_numpy(zero_copy_only=False), "cut off before its end"))
    if config.longest:
        sub_words = pc.fill_null(batch.column("tokens"), 0).to_numpy(zero_copy_only=False)
        tests.append((sub_words >= config.longest, f"cut off at {config.longest} sub-words"))
    if not config.copies:
        tests.append((pc.equal(ours, theirs).to_numpy(zero_copy_only=False), "a copy of the original"))
    if config.ratio:
        odd = (longer > SHORT) & (longer > config.ratio * shorter)
        tests.append((odd, f"a side more than {config.ratio:g} times as long as the other"))
    if config.repeats:
        tests.append((repeats(points) >= config.repeats, f"repeats itself {config.repeats} times or more"))
    if not config.repeated:
        said = pc.fill_null(batch.column("repeated"), False).to_numpy(zero_copy_only=False)
        tests.append((said, "an earlier variant says the same"))
    if held is not None:
        tests.append((held.holds(texts), f"src: {IN_HELD_OUT}"))
    found = np.full(batch.num_rows, None, object)
    for fails, reason in reversed(tests):
        found[fails] = reason
    return list(found)


def _repeated(source: npt.NDArray[np.int32], texts: pa.Array) -> list[bool]:
    """Whether an earlier row of the same source has the same text."""
    met: set[tuple[int, str]] = set()
    found = []
    for key in zip(source.tolist(), normalise(texts).to_pylist(), strict=True):
        found.append(key in met)
        met.add(key)
    return found
