"""Stages about pairs: back-translate, filter, drop near-duplicates."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
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
from paraloom.pairs.filtering.filters import Criteria, select, survey
from paraloom.pairs.filtering.survivors import survivors


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
    """Keeps the pairs that meet all criteria, in this order: where, then top or tenth, then sample.

    enough: whether a corpus of fewer rows than `sample` is an error; otherwise all that there are is kept.
    Its other fields are those of paraloom.pairs.filtering.filters.Criteria, which says what each means.
    """

    optional_fields: ClassVar[tuple[str, ...]] = ("enough",)

    enough: bool = False

    def survey(self, corpus: CorpusReader, context: StageContext) -> Json:
        """The cuts for top, tenth and sample, and a check of the columns before any row is touched."""
        if self.enough and isinstance(self.sample, int) and corpus.rows < self.sample:
            raise DataError(
                f"{self.sample} rows are to be drawn, and there are {corpus.rows}",
                file=corpus.folder,
                remedy="Draw fewer, or bring more text.",
            )
        return survey(self, corpus.schema, corpus.batches, context.seed)

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The batch with keep and reason."""
        return select(self, batch, context.survey)


@dataclass(frozen=True, kw_only=True)
class PreviewFilter(Criteria, Fit):
    """What a filter with these criteria would leave: of each alone, of those so far, of all; nothing is filtered.

    pairs: a corpus.  The other fields are those of paraloom.pairs.filtering.filters.Criteria.
    """

    inputs: ClassVar[tuple[str, ...]] = ("pairs",)

    pairs: Ref

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json: rows of criterion, rows, alone, together."""
        corpus = Corpus.open(context.inputs["pairs"])
        found = [asdict(each) for each in survivors(self, corpus.schema, corpus.batches, context.seed)]
        (folder / "result.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return {"kept": found[-1]["together"] if found else corpus.rows}


@dataclass(frozen=True, kw_only=True)
class FindDuplicates(DuplicateConfig, Fit):
    """Finds the pairs that say nearly the same as an earlier one; `drop-duplicates` sets them aside.

    pairs: a corpus.  The other fields are those of paraloom.pairs.filtering.duplicates.DuplicateConfig.
    """

    inputs: ClassVar[tuple[str, ...]] = ("pairs",)
    version: ClassVar[str] = "2"

    pairs: Ref

    def validate(self) -> None:
        self.check()

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write the hashes of the rows that go."""
        import numpy as np

        corpus = Corpus.open(context.inputs["pairs"])
        known = corpus.schema.names
        for name in self.columns:
            if name not in known:
                raise ConfigError(f"there is no column '{name}' to compare by{nearest(name, known)}")

        def read(names: Sequence[str]) -> Iterator[pa.RecordBatch]:
            return corpus.batches([name for name in names if name in known], label="comparing")

        found, rows = find_duplicates(read, folder / "checkpoint", self)
        np.save(folder / "duplicates.npy", found)
        return {"rows": rows, "duplicates": len(found)}


@dataclass(frozen=True, kw_only=True)
class DropDuplicates(Map):
    """Sets aside what `find-duplicates` found in the same corpus, of pairs or of sentences.

    duplicates: that stage.
    """

    inputs: ClassVar[tuple[str, ...]] = ("duplicates",)

    duplicates: Ref

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The batch with keep and reason."""
        goes = is_duplicate(batch, _hashes(context.inputs["duplicates"]))
        reason = pa.array(["near-duplicate of an earlier one" if gone else None for gone in goes], pa.string())
        batch = batch.append_column(pa.field("keep", pa.bool_()), pa.array(~goes))
        return batch.append_column(pa.field("reason", pa.string()), reason)


@cached_per_stage(2)
def _hashes(folder: Path) -> Any:
    import numpy as np

    path = folder / "duplicates.npy"
    if not path.is_file():
        raise ModelError("duplicates.npy is missing", file=folder, remedy="Name a stage 'find-duplicates'.")
    return np.load(path, mmap_mode="r")
