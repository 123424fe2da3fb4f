"""The stage that makes pairs: a bitext, back-translated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import pyarrow as pa

from paraloom.core.errors import ConfigError
from paraloom.core.protocols import TranslatorLike
from paraloom.core.schema import PAIRS
from paraloom.core.stage import Map, Ref, StageContext
from paraloom.mt import load_translator
from paraloom.pairs.backtranslation import backtranslate
from paraloom.core.stage_cache import cached_per_stage


@dataclass(frozen=True, kw_only=True)
class Backtranslate(Map):
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
    translator: TranslatorLike = load_translator(folder, decode=decode)
    return translator
