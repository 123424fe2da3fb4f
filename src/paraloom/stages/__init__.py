"""Stages of pipelines: every class is exported here and loaded at its first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paraloom.stages.analysis import ExtractLexicon, PairStatistics
    from paraloom.stages.bitext import Clean, JoinPairs, ReadPairs, ReadScoredPairs
    from paraloom.stages.distillation import DistillEncoder, DistillWords
    from paraloom.stages.diversity import MeasureDiversity
    from paraloom.stages.documents import (
        AlignDocuments,
        AlignDocumentSentences,
        EvaluateAligner,
        PivotDocuments,
        ReadGoldPairs,
        TranslateDocuments,
    )
    from paraloom.stages.encoders import (
        CompareSelections,
        EvaluateRetrieval,
        EvaluateSts,
        QuantizeEncoder,
        TrainEncoder,
    )
    from paraloom.stages.pairs import BackTranslate, DropDuplicates, Filter, FindDuplicates, PreviewFilter
    from paraloom.stages.phrases import TrainPhrases
    from paraloom.stages.scores import CountWords, Score, TrainClassifier, TrainLanguageModel
    from paraloom.stages.sentences import Encode, LoadEncoder, ReadSentences
    from paraloom.stages.syntax import Parse, ReadParses, TrainParser
    from paraloom.stages.syntax_groups import CountProductions, PickSyntaxGroup, SyntaxGroups
    from paraloom.stages.translators import CompareTranslators, EvaluateTranslator, LoadTranslator, TrainTranslator
    from paraloom.stages.variants import ReadVariants, TranslateVariants, VariantsToBitext

_MODULES = {
    "analysis": ("ExtractLexicon", "PairStatistics"),
    "bitext": ("Clean", "JoinPairs", "ReadPairs", "ReadScoredPairs"),
    "distillation": ("DistillEncoder", "DistillWords"),
    "diversity": ("MeasureDiversity",),
    "documents": (
        "AlignDocumentSentences",
        "AlignDocuments",
        "EvaluateAligner",
        "PivotDocuments",
        "ReadGoldPairs",
        "TranslateDocuments",
    ),
    "encoders": ("CompareSelections", "EvaluateRetrieval", "EvaluateSts", "QuantizeEncoder", "TrainEncoder"),
    "pairs": ("BackTranslate", "DropDuplicates", "Filter", "FindDuplicates", "PreviewFilter"),
    "phrases": ("TrainPhrases",),
    "scores": ("CountWords", "Score", "TrainClassifier", "TrainLanguageModel"),
    "sentences": ("Encode", "LoadEncoder", "ReadSentences"),
    "syntax": ("Parse", "ReadParses", "TrainParser"),
    "syntax_groups": ("CountProductions", "PickSyntaxGroup", "SyntaxGroups"),
    "translators": ("CompareTranslators", "EvaluateTranslator", "LoadTranslator", "TrainTranslator"),
    "variants": ("ReadVariants", "TranslateVariants", "VariantsToBitext"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "AlignDocumentSentences",
    "AlignDocuments",
    "BackTranslate",
    "Clean",
    "CompareSelections",
    "CompareTranslators",
    "CountProductions",
    "CountWords",
    "DistillEncoder",
    "DistillWords",
    "DropDuplicates",
    "Encode",
    "EvaluateAligner",
    "EvaluateRetrieval",
    "EvaluateSts",
    "EvaluateTranslator",
    "ExtractLexicon",
    "Filter",
    "FindDuplicates",
    "JoinPairs",
    "LoadEncoder",
    "LoadTranslator",
    "MeasureDiversity",
    "PairStatistics",
    "Parse",
    "PickSyntaxGroup",
    "PivotDocuments",
    "PreviewFilter",
    "QuantizeEncoder",
    "ReadGoldPairs",
    "ReadPairs",
    "ReadParses",
    "ReadScoredPairs",
    "ReadSentences",
    "ReadVariants",
    "Score",
    "SyntaxGroups",
    "TrainClassifier",
    "TrainEncoder",
    "TrainLanguageModel",
    "TrainParser",
    "TrainPhrases",
    "TrainTranslator",
    "TranslateDocuments",
    "TranslateVariants",
    "VariantsToBitext",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
