"""All stages of pipelines; each is imported when it is first used.

Example:
    >>> from paraloom import Pipeline, stages
    >>> from paraloom.bundled import SAMPLE
    >>> Pipeline([stages.ReadPairs(source=SAMPLE), stages.Score(scores=["overlap"])])
    Pipeline('pipeline', 2 stages: read-pairs, score)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paraloom.core.lazy import lazy_exports, typed_names

if TYPE_CHECKING:
    from paraloom.stages.analysis import ExtractLexicon as ExtractLexicon
    from paraloom.stages.analysis import PairStatistics as PairStatistics
    from paraloom.stages.bitext import Clean as Clean
    from paraloom.stages.bitext import CommonTranslations as CommonTranslations
    from paraloom.stages.bitext import JoinPairs as JoinPairs
    from paraloom.stages.bitext import ReadPairs as ReadPairs
    from paraloom.stages.bitext import ReadScoredPairs as ReadScoredPairs
    from paraloom.stages.bitext import Split as Split
    from paraloom.stages.distillation import DistillEncoder as DistillEncoder
    from paraloom.stages.distillation import DistillTransformer as DistillTransformer
    from paraloom.stages.distillation import DistillWords as DistillWords
    from paraloom.stages.diversity import MeasureDiversity as MeasureDiversity
    from paraloom.stages.diversity import SampleVariants as SampleVariants
    from paraloom.stages.documents import AlignDocuments as AlignDocuments
    from paraloom.stages.documents import AlignDocumentSentences as AlignDocumentSentences
    from paraloom.stages.documents import PivotDocuments as PivotDocuments
    from paraloom.stages.documents import TranslateDocuments as TranslateDocuments
    from paraloom.stages.encoders import EvaluateSts as EvaluateSts
    from paraloom.stages.encoders import QuantizeEncoder as QuantizeEncoder
    from paraloom.stages.encoders import TrainBilingualEncoder as TrainBilingualEncoder
    from paraloom.stages.encoders import TrainEncoder as TrainEncoder
    from paraloom.stages.endpoints import LoadEndpoint as LoadEndpoint
    from paraloom.stages.judging import TrainJudge as TrainJudge
    from paraloom.stages.labels import LabelPairs as LabelPairs
    from paraloom.stages.labels import MakeLookalikes as MakeLookalikes
    from paraloom.stages.labels import ReadLabeledPairs as ReadLabeledPairs
    from paraloom.stages.labels import TrainParaphraseModel as TrainParaphraseModel
    from paraloom.stages.pairs import BackTranslate as BackTranslate
    from paraloom.stages.pairs import DropDuplicates as DropDuplicates
    from paraloom.stages.pairs import Filter as Filter
    from paraloom.stages.pairs import FindDuplicates as FindDuplicates
    from paraloom.stages.pairs import PreviewFilter as PreviewFilter
    from paraloom.stages.paraphrasers import TrainParaphraser as TrainParaphraser
    from paraloom.stages.paraphrasing import Paraphrase as Paraphrase
    from paraloom.stages.scores import CountWords as CountWords
    from paraloom.stages.scores import Score as Score
    from paraloom.stages.scores import TrainLanguageModel as TrainLanguageModel
    from paraloom.stages.sentences import Encode as Encode
    from paraloom.stages.sentences import LoadEncoder as LoadEncoder
    from paraloom.stages.sentences import ReadSentences as ReadSentences
    from paraloom.stages.syntax import Parse as Parse
    from paraloom.stages.syntax import TrainParser as TrainParser
    from paraloom.stages.translators import EvaluateTranslator as EvaluateTranslator
    from paraloom.stages.translators import LoadTranslator as LoadTranslator
    from paraloom.stages.translators import TrainTranslator as TrainTranslator
    from paraloom.stages.variants import ChooseVariants as ChooseVariants
    from paraloom.stages.variants import ReadVariants as ReadVariants
    from paraloom.stages.variants import TranslateVariants as TranslateVariants
    from paraloom.stages.variants import VariantsToBitext as VariantsToBitext

STAGES: dict[str, str] = {
    "-".join(re.findall("[A-Z][a-z]+", name)).lower(): f"{module}:{name}"
    for name, module in typed_names(__name__).items()
} | {
    "train-phrase-translator": "paraloom.papers.park17.phrase_translator:TrainPhraseTranslator",
    "train-classifier": "paraloom.papers.w17.train_classifier:TrainClassifier",
    "syntax-groups": "paraloom.papers.bbh22.syntax_group_stages:SyntaxGroups",
    "pick-syntax-group": "paraloom.papers.bbh22.syntax_group_stages:PickSyntaxGroup",
    "count-productions": "paraloom.papers.bbh22.syntax_group_stages:CountProductions",
    "train-phrases": "paraloom.papers.pgru.train_phrases:TrainPhrases",
    "read-gold-pairs": "paraloom.papers.park17.gold_documents:ReadGoldPairs",
    "compare-translators": "paraloom.papers.bbh22.translator_comparison:CompareTranslators",
    "evaluate-aligner": "paraloom.papers.park17.gold_documents:EvaluateAligner",
    "measure-correctness": "paraloom.papers.park17.correctness:MeasureCorrectness",
    "tune-aligner": "paraloom.papers.park17.aligner_tuning:TuneAligner",
}
"""Name in the TOML file → 'module:Class'. A new stage is one class, and a line above."""

STAGES["backtranslate"] = STAGES.pop("back-translate")

__getattr__, __dir__, __all__ = lazy_exports(
    __name__, {name: module for module, _, name in (target.partition(":") for target in STAGES.values())}
)
