"""The stage that cleans text before it is trained on: each line that goes is kept aside with its reason."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.schema import LANGUAGE_OF
from paraloom.core.stage import Map, Ref, StageContext
from paraloom.core.stage_cache import cached_per_stage
from paraloom.io.bitext import UNKNOWN
from paraloom.pairs.filtering.cleaning import CleaningRules, line_faults
from paraloom.pairs.filtering.held_out import IN_HELD_OUT
from paraloom.stages.held_out import held_out
from paraloom.text.languages import LanguageIdentifier


@dataclass(frozen=True, kw_only=True)
class Clean(CleaningRules, Map):
    """Sets aside the lines of pairs or sentences that are not fit to train on (BBH22 §3), with the first reason.

    held_out: corpora of test sets; a line of which a side stands in one of them, on any side, goes, so that no test
    sentence is learned (case and punctuation do not count).  languages: all that may occur, two or more; a side that
    is more probably in another one of them than in the one it is said to be in, or of which none can be told, goes,
    unless nothing is said.
    The other fields are those of paraloom.pairs.filtering.cleaning.CleaningRules.  Copies within the corpus are found by
    `find-duplicates`, with similarity 1.
    """

    inputs: ClassVar[tuple[str, ...]] = ("held_out",)

    held_out: tuple[Ref, ...] = ()
    languages: tuple[str, ...] = ()

    def validate(self) -> None:
        super().validate()
        if len(self.languages) == 1:
            raise ConfigError("'languages' are all that may occur, two or more")

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The batch with keep and reason; held-out texts and language models are loaded once a worker."""
        columns = _columns(batch.schema.names)
        rules = CleaningRules(**{f.name: getattr(self, f.name) for f in fields(CleaningRules)})
        reasons = line_faults({name: batch.column(name) for name in columns}, rules)
        if self.held_out:
            held = held_out(context.paths("held_out"))
            for name in columns:
                kept = np.array([each is None for each in reasons])
                reasons[kept & held.holds(batch.column(name))] = f"{name}: {IN_HELD_OUT}"
        if self.languages:
            self._identify(batch, columns, reasons)
        batch = batch.append_column(pa.field("keep", pa.bool_()), pa.array([each is None for each in reasons]))
        return batch.append_column(pa.field("reason", pa.string()), pa.array(reasons, pa.string()))

    def _identify(self, batch: pa.RecordBatch, columns: list[str], reasons: npt.NDArray[np.object_]) -> None:
        identifier = _identifier(self.languages)
        for name in columns:
            said = batch.column(LANGUAGE_OF[name]).to_pylist() if LANGUAGE_OF[name] in batch.schema.names else []
            rows = [i for i, lang in enumerate(said) if reasons[i] is None and lang not in (None, "", UNKNOWN)]
            strange = next((said[row] for row in rows if said[row] not in self.languages), None)
            if strange is not None:
                raise DataError(
                    f"the {name} is said to be in '{strange}', which is not among the languages",
                    remedy="'languages' are all that may occur.",
                )
            texts = batch.column(name).take(pa.array(rows, pa.int64())).to_pylist()
            for row, found in zip(rows, identifier.identify(texts), strict=True):
                if found != said[row]:
                    looks = f"looks like '{found}'" if found else "in no language known here"
                    reasons[row] = f"{name}: {looks}, not '{said[row]}'"


def _columns(names: list[str]) -> list[str]:
    for columns in (["src", "tgt"], ["text"]):
        if set(columns) <= set(names):
            return columns
    raise DataError(
        f"there are neither src and tgt nor text among the columns {', '.join(names)}",
        remedy="Clean a corpus of pairs or of sentences.",
    )


@cached_per_stage()
def _identifier(languages: tuple[str, ...]) -> LanguageIdentifier:
    return LanguageIdentifier(languages)
