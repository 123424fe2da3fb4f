"""Stages about pairs: back-translate, filter, drop near-duplicates."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import pyarrow as pa

from paraloom.core.errors import ConfigError, DataError, ModelError, nearest
from paraloom.core.protocols import CorpusReader, TranslatorLike
from paraloom.core.schema import PAIRS
from paraloom.core.stage import Fit, Json, Map, Ref, StageContext
from paraloom.core.stage_cache import cached_per_stage
from paraloom.io import Corpus
from paraloom.mt import Translator
from paraloom.pairs.backtranslation import backtranslate
from paraloom.pairs.filtering.duplicates import DuplicateConfig, find_duplicates, is_duplicate
from paraloom.pairs.filtering.filters import Criteria, preview_filter, select, survey


@dataclass(frozen=True, kw_only=True)
class BackTranslate(Map):
    """Pairs each reference of a bitext with the k best translations of its other side (W17 §3, PNMT §3).

    translator: a stage that trained one, or a model folder.  decode: how, such as 'beam:12', 'sampling' or
    'nucleus:0.95'.  side: the side that is translated; the other one is the reference.
    """

    inputs: ClassVar[tuple[str, ...]] = ("translator",)
    version: ClassVar[str] = "2"
    output_schema: ClassVar[str] = "PAIRS"
    input_columns: ClassVar[tuple[str, ...]] = tuple(PAIRS.names)
    rows: ClassVar[Literal["same", "many"]] = "many"

    translator: Ref
    decode: str = "beam:5"
    side: Literal["src", "tgt"] = "src"

    def validate(self) -> None:
        if self.side not in ("src", "tgt"):
            raise ConfigError(f"'side' is src or tgt, not '{self.side}'")

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The pairs of one batch of bitext; the translator is loaded once a worker."""
        translator = _translator(context.inputs["translator"], self.decode)
        return backtranslate(batch, translator, side=self.side, seed=context.seed, method=self.decode)


@cached_per_stage(2)
def _translator(folder: Path, decode: str) -> TranslatorLike:
    translator: TranslatorLike = Translator.load(folder, decode=decode)
    return translator


@dataclass(frozen=True, kw_only=True)
class Filter(Criteria, Map):
    """Keep the rows that meet all criteria, applied in the order where, top or decile, sample.

    Args:
        where: SQL condition over the columns of a row, true for the rows to keep. A row for which it is undefined
            (null or NaN) is rejected. Default: all rows.
        top: Share of the rows left by `where`, above 0 to 1, taken from the better end of `by`.
        decile: Decile of the rows left by `where`, ranked by `by`: 1 (lowest values) to 10 (highest values), as in
            PNMT Table 5. Cannot be combined with `top`.
        by: Column that `top` and `decile` rank by.
        best: Which end of `by` is the better one, 'lowest' or 'highest'. Default: the direction of the score.
        sample: Random sample of the rows left by the other criteria: their number (int) or share (float, above 0
            to 1).
        exact_sample: Fail if the corpus has fewer rows than `sample`, instead of keeping all of them.

    Raises:
        ConfigError: A value is out of range, the criteria do not fit together, or a column is missing.
    """

    optional_fields: ClassVar[tuple[str, ...]] = ("exact_sample",)
    renamed_fields: ClassVar[Mapping[str, str]] = {**Criteria.renamed_fields, "enough": "exact_sample"}

    exact_sample: bool = False

    def survey(self, corpus: CorpusReader, context: StageContext) -> Json:
        """The cuts for top, decile and sample, after a check of the columns."""
        if self.exact_sample and isinstance(self.sample, int) and corpus.rows < self.sample:
            raise DataError(
                f"cannot sample {self.sample} rows: the corpus has {corpus.rows}",
                file=corpus.folder,
                remedy="Lower 'sample', add more text, or leave out 'exact_sample'.",
            )
        return survey(self, corpus.schema, corpus.batches, context.seed)

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The batch with keep and reason."""
        return select(self, batch, context.survey)


@dataclass(frozen=True, kw_only=True)
class PreviewFilter(Criteria, Fit):
    """Count the rows that each criterion of a filter keeps, alone and together with those before it.

    The other fields are those of `Filter`.

    Args:
        pairs: The corpus.
    """

    inputs: ClassVar[tuple[str, ...]] = ("pairs",)

    pairs: Ref

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json: rows of criterion, rows, alone, together."""
        corpus = Corpus.open(context.inputs["pairs"])
        counts = [asdict(count) for count in preview_filter(self, corpus.schema, corpus.batches, context.seed)]
        (folder / "result.json").write_text(json.dumps(counts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return {"kept": counts[-1]["together"] if counts else corpus.rows}


@dataclass(frozen=True, kw_only=True)
class FindDuplicates(DuplicateConfig, Fit):
    """Find the rows that are near-duplicates of an earlier row; `drop-duplicates` rejects them.

    Args:
        pairs: The corpus, of pairs or of sentences.
        similarity: Jaccard similarity of the character 5-grams of two rows, above 0 to 1, from which on the later one
            is a duplicate. Case, punctuation and runs of white space do not matter.
        columns: Text columns that are compared, concatenated.
    """

    inputs: ClassVar[tuple[str, ...]] = ("pairs",)
    version: ClassVar[str] = "2"

    pairs: Ref

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write the hashes of the duplicates."""
        import numpy as np

        corpus = Corpus.open(context.inputs["pairs"])
        known = corpus.schema.names
        for name in self.columns:
            if name not in known:
                raise ConfigError(f"column '{name}' to compare by not found{nearest(name, known)}")

        def read(names: Sequence[str]) -> Iterator[pa.RecordBatch]:
            return corpus.batches([name for name in names if name in known], label="comparing")

        duplicates, rows = find_duplicates(read, folder / "checkpoint", self)
        np.save(folder / "duplicates.npy", duplicates)
        return {"rows": rows, "duplicates": len(duplicates)}


@dataclass(frozen=True, kw_only=True)
class DropDuplicates(Map):
    """Reject the rows that `find-duplicates` found in the same corpus.

    Args:
        duplicates: The stage `find-duplicates`.
    """

    inputs: ClassVar[tuple[str, ...]] = ("duplicates",)

    duplicates: Ref

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The batch with keep and reason."""
        duplicate = is_duplicate(batch, _hashes(context.inputs["duplicates"]))
        reason = pa.array(["near-duplicate of an earlier one" if value else None for value in duplicate], pa.string())
        batch = batch.append_column(pa.field("keep", pa.bool_()), pa.array(~duplicate))
        return batch.append_column(pa.field("reason", pa.string()), reason)


@cached_per_stage(2)
def _hashes(folder: Path) -> Any:
    import numpy as np

    path = folder / "duplicates.npy"
    if not path.is_file():
        raise ModelError("duplicates.npy not found", file=folder, remedy="Name a stage 'find-duplicates'.")
    return np.load(path, mmap_mode="r")
