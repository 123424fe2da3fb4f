"""The stages that a pipeline may name, each loaded when a pipeline asks for it.

A new stage is one class and one line here; a stage of one's own is named in full, `use = "package.module:Class"`.
"""

from __future__ import annotations

import dataclasses
from importlib import import_module

from paraloom.core.errors import ConfigError, nearest
from paraloom.run.stage import Fit, Map, Source, Stage

STAGES: dict[str, str] = {
    "bitext": "paraloom.run.stages.bitext:Bitext",
    "join-pairs": "paraloom.run.stages.bitext:JoinPairs",
    "scored-pairs": "paraloom.run.stages.scored_pairs:ScoredPairs",
    "train-translator": "paraloom.run.stages.mt:TrainTranslator",
    "load-translator": "paraloom.run.stages.mt:LoadTranslator",
    "backtranslate": "paraloom.run.stages.backtranslate:Backtranslate",
    "translate-variants": "paraloom.run.stages.variants:TranslateVariants",
    "read-variants": "paraloom.run.stages.read_variants:ReadVariants",
    "measure-diversity": "paraloom.run.stages.diversity:MeasureDiversity",
    "variants-to-bitext": "paraloom.run.stages.variants:VariantsToBitext",
    "clean": "paraloom.run.stages.cleaning:Clean",
    "score": "paraloom.run.stages.scoring:Score",
    "count-words": "paraloom.run.stages.scoring:CountWords",
    "train-language-model": "paraloom.run.stages.scoring:TrainLanguageModel",
    "train-classifier": "paraloom.run.stages.scoring:TrainClassifier",
    "train-parser": "paraloom.run.stages.syntax:TrainParser",
    "parse": "paraloom.run.stages.syntax:Parse",
    "read-parses": "paraloom.run.stages.parses:ReadParses",
    "syntax-groups": "paraloom.run.stages.syntax_groups:SyntaxGroups",
    "pick-group": "paraloom.run.stages.syntax_groups:PickGroup",
    "count-productions": "paraloom.run.stages.productions:CountProductions",
    "statistics": "paraloom.run.stages.analysis:Statistics",
    "lexicon": "paraloom.run.stages.analysis:Lexicon",
    "filter": "paraloom.run.stages.pairs:Filter",
    "count-survivors": "paraloom.run.stages.pairs:CountSurvivors",
    "find-duplicates": "paraloom.run.stages.pairs:FindDuplicates",
    "drop-duplicates": "paraloom.run.stages.pairs:DropDuplicates",
    "compare-selections": "paraloom.run.stages.tuning:CompareSelections",
    "sentences": "paraloom.run.stages.sentences:Sentences",
    "load-encoder": "paraloom.run.stages.sentences:LoadEncoder",
    "encode": "paraloom.run.stages.sentences:Encode",
    "distil-words": "paraloom.run.stages.distil:DistilWords",
    "distil-encoder": "paraloom.run.stages.distil:DistilEncoder",
    "train-phrases": "paraloom.run.stages.phrases:TrainPhrases",
    "translate-documents": "paraloom.run.stages.documents:TranslateDocuments",
    "align-documents": "paraloom.run.stages.document_pairs:AlignDocuments",
    "agree-documents": "paraloom.run.stages.document_pairs:AgreeDocuments",
    "align-within": "paraloom.run.stages.documents:AlignWithin",
    "gold-pairs": "paraloom.run.stages.documents:GoldPairs",
    "evaluate-translator": "paraloom.run.stages.translation:EvaluateTranslator",
    "compare-translators": "paraloom.run.stages.compared_translators:CompareTranslators",
    "evaluate-aligner": "paraloom.run.stages.documents:EvaluateAligner",
    "train-encoder": "paraloom.run.stages.encoder:TrainEncoder",
    "quantise-encoder": "paraloom.run.stages.quantise:QuantiseEncoder",
    "evaluate-sts": "paraloom.run.stages.encoder:EvaluateSts",
    "choose-paraphrase": "paraloom.run.stages.encoder:ChooseParaphrase",
}
"""Name in the TOML file → 'module:Class'."""


def load(use: str) -> type[Stage]:
    """The class behind the name of a stage.  Raises ConfigError when there is none."""
    if use not in STAGES and ":" not in use:
        raise ConfigError(f"there is no stage '{use}'{nearest(use, list(STAGES))}")
    module, _, name = STAGES.get(use, use).partition(":")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"stage '{use}' cannot be loaded ({error})", remedy="Name it 'package.module:Class', importable from here."
        ) from error
    if not (isinstance(found, type) and issubclass(found, (Map, Fit, Source)) and dataclasses.is_dataclass(found)):
        raise ConfigError(f"'{use}' is no stage", remedy="A stage is a frozen dataclass: a Map, a Fit or a Source.")
    return found
