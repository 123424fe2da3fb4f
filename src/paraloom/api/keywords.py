"""Keywords that functions pass on to stages, so that type checkers know them; the stages describe them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypedDict


class CriteriaSettings(TypedDict, total=False):
    """Fields of `paraloom.pairs.filtering.filters.Criteria` besides the condition."""

    per_source: int
    distinct: bool
    top: float | None
    decile: int | None
    by: str
    best: Literal["", "lowest", "highest"]
    sample: int | float | None
    precision: float | None
    confidence: float
    labels: tuple[Path, ...]


class FilterSettings(CriteriaSettings, total=False):
    """Those of `paraloom.stages.Filter`."""

    exact_sample: bool


class ReadingOptions(TypedDict, total=False):
    """Fields of `paraloom.stages.ReadPairs`; None: its default."""

    src_lang: str | None
    tgt_lang: str | None
    src_column: str | int | None
    tgt_column: str | int | None
    origin: str | None
    skip: int | None
    limit: int | None
    empty_sides: Literal["reject", "keep"] | None
    shard_rows: int | None


class ExtractSettings(TypedDict, total=False):
    """Fields of `paraloom.api.extract.ExtractConfig`."""

    main_text: str
    lang: str | None
    languages: Sequence[str]
    keep_languages: bool
    min_characters: int
    media: Sequence[str | Path]


class LexiconSettings(TypedDict, total=False):
    """Fields of `paraloom.stages.ExtractLexicon`."""

    pivot: tuple[str, ...]
    max_phrase_length: int
    min_count: int
    min_score: float
    max_paraphrases: int
    iterations: int
    tension: float
    null: float


class LanguageModelSettings(TypedDict, total=False):
    """Fields of `paraloom.stages.TrainLanguageModel`."""

    order: int
    smoothing: str
