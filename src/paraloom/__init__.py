"""Paraloom turns parallel text into paraphrases, sentence embeddings and training data for translation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paraloom.core.lazy import lazy_exports
from paraloom.core.version import __version__ as __version__

if TYPE_CHECKING:
    from paraloom import stages as stages
    from paraloom.alignment.aligner_config import AlignerConfig as AlignerConfig
    from paraloom.alignment.documents import align_documents as align_documents
    from paraloom.api.alignment import align as align
    from paraloom.api.alignment import align_files as align_files
    from paraloom.api.analysis import pair_statistics as pair_statistics
    from paraloom.api.encoders import distill_encoder as distill_encoder
    from paraloom.api.encoders import train_encoder as train_encoder
    from paraloom.api.extract import extract_documents as extract_documents
    from paraloom.api.mining import mine_translations as mine_translations
    from paraloom.api.pair_inputs import as_pairs as as_pairs
    from paraloom.api.pair_inputs import backtranslate as backtranslate
    from paraloom.api.pair_inputs import read_pairs as read_pairs
    from paraloom.api.pair_inputs import score as score
    from paraloom.api.pairs import Pairs as Pairs
    from paraloom.api.paraphrase_sources import RoundTripParaphraser as RoundTripParaphraser
    from paraloom.api.paraphrasers import Paraphraser as Paraphraser
    from paraloom.api.paraphrasing import paraphrase as paraphrase
    from paraloom.api.publishing import publish as publish
    from paraloom.api.similar_sentences import mine as mine
    from paraloom.api.similar_sentences import search as search
    from paraloom.api.translators import train_translator as train_translator
    from paraloom.api.variants import augment as augment
    from paraloom.core.beads import Bead as Bead
    from paraloom.core.errors import ConfigError as ConfigError
    from paraloom.core.errors import DataError as DataError
    from paraloom.core.errors import MissingExtraError as MissingExtraError
    from paraloom.core.errors import ModelError as ModelError
    from paraloom.core.errors import ParaloomError as ParaloomError
    from paraloom.core.errors import RunError as RunError
    from paraloom.core.protocols import EncoderLike as EncoderLike
    from paraloom.core.protocols import ParserLike as ParserLike
    from paraloom.core.protocols import TranslatorLike as TranslatorLike
    from paraloom.core.protocols import Variant as Variant
    from paraloom.embed.config import EncoderConfig as EncoderConfig
    from paraloom.embed.encoder import Encoder as Encoder
    from paraloom.evaluate.classification import evaluate_classification as evaluate_classification
    from paraloom.evaluate.diversity.measures import diversity as diversity
    from paraloom.evaluate.sts import evaluate_sts as evaluate_sts
    from paraloom.evaluate.translation import evaluate_translation as evaluate_translation
    from paraloom.mt.config import TranslatorConfig as TranslatorConfig
    from paraloom.mt.endpoint import EndpointTranslator as EndpointTranslator
    from paraloom.mt.translator import Translator as Translator
    from paraloom.pipeline.pipeline import Pipeline as Pipeline
    from paraloom.pipeline.result import RunResult as RunResult
    from paraloom.web.explorer import explore as explore
    from paraloom.web.report import write_report as write_report

__getattr__, __dir__, __all__ = lazy_exports(__name__)
