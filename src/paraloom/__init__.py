"""Paraloom turns parallel text into paraphrases, sentence embeddings and training data for translation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paraloom.core.lazy import lazy_exports

if TYPE_CHECKING:
    from paraloom import stages as stages
    from paraloom.core.beads import Bead as Bead
    from paraloom.core.errors import ConfigError as ConfigError
    from paraloom.core.errors import DataError as DataError
    from paraloom.core.errors import ModelError as ModelError
    from paraloom.core.errors import ParaloomError as ParaloomError
    from paraloom.core.errors import RunError as RunError
    from paraloom.core.protocols import EncoderLike as EncoderLike
    from paraloom.core.protocols import ParserLike as ParserLike
    from paraloom.core.protocols import TranslatorLike as TranslatorLike
    from paraloom.core.protocols import Variant as Variant
    from paraloom.pipeline.pipeline import Pipeline as Pipeline
    from paraloom.pipeline.result import RunResult as RunResult
    from paraloom.workflows.pairs import Pairs as Pairs
    from paraloom.workflows.pairs import as_pairs as as_pairs
    from paraloom.workflows.pairs import backtranslate as backtranslate
    from paraloom.workflows.pairs import filter_pairs as filter_pairs
    from paraloom.workflows.pairs import read_pairs as read_pairs
    from paraloom.workflows.pairs import score as score

__version__ = "0.2.0"

_EXPORTS = {
    "Bead": "paraloom.core.beads",
    "ConfigError": "paraloom.core.errors",
    "DataError": "paraloom.core.errors",
    "Encoder": "paraloom.embed.encoder",
    "EncoderLike": "paraloom.core.protocols",
    "ModelError": "paraloom.core.errors",
    "Pairs": "paraloom.workflows.pairs",
    "ParaloomError": "paraloom.core.errors",
    "ParserLike": "paraloom.core.protocols",
    "Pipeline": "paraloom.pipeline.pipeline",
    "RunError": "paraloom.core.errors",
    "RunResult": "paraloom.pipeline.result",
    "Translator": "paraloom.mt.translator",
    "TranslatorLike": "paraloom.core.protocols",
    "Variant": "paraloom.core.protocols",
    "as_pairs": "paraloom.workflows.pairs",
    "backtranslate": "paraloom.workflows.pairs",
    "filter_pairs": "paraloom.workflows.pairs",
    "read_pairs": "paraloom.workflows.pairs",
    "score": "paraloom.workflows.pairs",
    "stages": "paraloom.stages",
}
"""Public name → the module that defines it; imported when it is first used."""

__getattr__, __dir__, __all__ = lazy_exports("paraloom", _EXPORTS)
