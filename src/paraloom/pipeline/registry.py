"""The stages that a pipeline may name, each loaded when a pipeline asks for it.

A new stage is one class and one line here; a stage of one's own is named in full, `use = "package.module:Class"`.
"""

from __future__ import annotations

import dataclasses
from importlib import import_module

from paraloom.core.errors import ConfigError, nearest
from paraloom.core.stage import Fit, Map, Source, Stage

STAGES: dict[str, str] = {
    "read-pairs": "paraloom.stages.bitext:ReadPairs",
    "join-pairs": "paraloom.stages.bitext:JoinPairs",
    "read-scored-pairs": "paraloom.stages.bitext:ReadScoredPairs",
    "train-translator": "paraloom.stages.translators:TrainTranslator",
    "train-phrase-translator": "paraloom.papers.park17.train_phrase_translator:TrainPhraseTranslator",
    "load-translator": "paraloom.stages.translators:LoadTranslator",
    "load-endpoint": "paraloom.stages.endpoints:LoadEndpoint",
    "load-language-model": "paraloom.stages.endpoints:LoadLanguageModel",
    "backtranslate": "paraloom.stages.pairs:BackTranslate",
    "translate-variants": "paraloom.stages.variants:TranslateVariants",
    "read-variants": "paraloom.stages.variants:ReadVariants",
    "measure-diversity": "paraloom.stages.diversity:MeasureDiversity",
    "sample-variants": "paraloom.stages.diversity:SampleVariants",
    "choose-variants": "paraloom.stages.variants:ChooseVariants",
    "variants-to-bitext": "paraloom.stages.variants:VariantsToBitext",
    "common-translations": "paraloom.stages.bitext:CommonTranslations",
    "split": "paraloom.stages.bitext:Split",
    "clean": "paraloom.stages.bitext:Clean",
    "score": "paraloom.stages.scores:Score",
    "count-words": "paraloom.stages.scores:CountWords",
    "train-language-model": "paraloom.stages.scores:TrainLanguageModel",
    "train-classifier": "paraloom.papers.w17.train_classifier:TrainClassifier",
    "read-labeled-pairs": "paraloom.stages.labels:ReadLabeledPairs",
    "label-pairs": "paraloom.stages.labels:LabelPairs",
    "make-lookalikes": "paraloom.stages.labels:MakeLookalikes",
    "mismatch-pairs": "paraloom.stages.labels:MismatchPairs",
    "round-trip-pairs": "paraloom.stages.labels:RoundTripPairs",
    "train-paraphrase-model": "paraloom.stages.labels:TrainParaphraseModel",
    "train-judge": "paraloom.stages.judging:TrainJudge",
    "evaluate-scores": "paraloom.stages.labels:EvaluateScores",
    "train-parser": "paraloom.stages.syntax:TrainParser",
    "parse": "paraloom.stages.syntax:Parse",
    "read-parses": "paraloom.stages.syntax:ReadParses",
    "train-paraphraser": "paraloom.stages.paraphrasers:TrainParaphraser",
    "paraphrase": "paraloom.stages.paraphrasing:Paraphrase",
    "syntax-groups": "paraloom.papers.bbh22.syntax_group_stages:SyntaxGroups",
    "pick-syntax-group": "paraloom.papers.bbh22.syntax_group_stages:PickSyntaxGroup",
    "count-productions": "paraloom.papers.bbh22.syntax_group_stages:CountProductions",
    "pair-statistics": "paraloom.stages.analysis:PairStatistics",
    "extract-lexicon": "paraloom.stages.analysis:ExtractLexicon",
    "filter": "paraloom.stages.pairs:Filter",
    "preview-filter": "paraloom.stages.pairs:PreviewFilter",
    "find-duplicates": "paraloom.stages.pairs:FindDuplicates",
    "drop-duplicates": "paraloom.stages.pairs:DropDuplicates",
    "compare-selections": "paraloom.stages.encoders:CompareSelections",
    "read-sentences": "paraloom.stages.sentences:ReadSentences",
    "load-encoder": "paraloom.stages.sentences:LoadEncoder",
    "encode": "paraloom.stages.sentences:Encode",
    "distill-words": "paraloom.stages.distillation:DistillWords",
    "distill-encoder": "paraloom.stages.distillation:DistillEncoder",
    "distill-transformer": "paraloom.stages.distillation:DistillTransformer",
    "train-phrases": "paraloom.papers.pgru.train_phrases:TrainPhrases",
    "translate-documents": "paraloom.stages.documents:TranslateDocuments",
    "align-documents": "paraloom.stages.documents:AlignDocuments",
    "pivot-documents": "paraloom.stages.documents:PivotDocuments",
    "align-document-sentences": "paraloom.stages.documents:AlignDocumentSentences",
    "read-gold-pairs": "paraloom.papers.park17.gold_documents:ReadGoldPairs",
    "evaluate-translator": "paraloom.stages.translators:EvaluateTranslator",
    "compare-translators": "paraloom.papers.bbh22.translator_comparison:CompareTranslators",
    "evaluate-aligner": "paraloom.papers.park17.gold_documents:EvaluateAligner",
    "tune-aligner": "paraloom.papers.park17.aligner_tuning:TuneAligner",
    "train-encoder": "paraloom.stages.encoders:TrainEncoder",
    "train-bilingual-encoder": "paraloom.stages.bilingual:TrainBilingualEncoder",
    "quantize-encoder": "paraloom.stages.encoders:QuantizeEncoder",
    "evaluate-classification": "paraloom.stages.encoders:EvaluateClassification",
    "evaluate-sts": "paraloom.stages.encoders:EvaluateSts",
    "evaluate-retrieval": "paraloom.papers.pgru.retrieval:EvaluateRetrieval",
}
"""Name in the TOML file → 'module:Class'."""


RENAMED: dict[str, str] = {
    "bitext": "read-pairs",
    "scored-pairs": "read-scored-pairs",
    "sentences": "read-sentences",
    "distil-words": "distill-words",
    "distil-encoder": "distill-encoder",
    "quantise-encoder": "quantize-encoder",
    "choose-paraphrase": "evaluate-retrieval",
    "align-within": "align-document-sentences",
    "agree-documents": "pivot-documents",
    "gold-pairs": "read-gold-pairs",
    "count-survivors": "preview-filter",
    "statistics": "pair-statistics",
    "lexicon": "extract-lexicon",
    "pick-group": "pick-syntax-group",
}
"""Old name of a kind of stage → its name now."""

REMOVED = {"load-ensemble": 'Load one translator with use = "load-translator"; train it on what several translate.'}
"""Name of a kind of stage that is gone → what to write instead."""


def load_stage(use: str) -> type[Stage]:
    """The class of a kind of stage."""
    if use in RENAMED:
        raise ConfigError(f"stage '{use}' is now called '{RENAMED[use]}'", remedy=f'Write use = "{RENAMED[use]}".')
    if use in REMOVED:
        raise ConfigError(f"stage '{use}' is gone", remedy=REMOVED[use])
    if use not in STAGES and ":" not in use:
        raise ConfigError(f"unknown stage '{use}'{nearest(use, list(STAGES))}")
    module, _, name = STAGES.get(use, use).partition(":")
    try:
        kind = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise ConfigError(
            f"stage '{use}' cannot be loaded ({error})", remedy="Name it 'package.module:Class', importable from here."
        ) from error
    if not (isinstance(kind, type) and issubclass(kind, (Map, Fit, Source)) and dataclasses.is_dataclass(kind)):
        raise ConfigError(f"'{use}' is not a stage", remedy="A stage is a frozen dataclass: a Map, a Fit or a Source.")
    return kind


def use_of(kind: type[Stage]) -> str:
    """The name that TOML files use for a class of stages: the inverse of `load_stage`."""
    path = f"{kind.__module__}:{kind.__qualname__}"
    return next((use for use, target in STAGES.items() if target == path), path)
