"""What the commands call, for scripts as well: one function for each task, over files, models by name and folders."""

from typing import TYPE_CHECKING

from paraloom.core.lazy import lazy_exports

if TYPE_CHECKING:
    from paraloom.alignment.methods import aligner_config as aligner_config
    from paraloom.api.alignment import AlignFilesConfig as AlignFilesConfig
    from paraloom.api.alignment import align_files as align_files
    from paraloom.api.alignment_evaluation import evaluate_alignment_files as evaluate_alignment_files
    from paraloom.api.analysis import draw_labels as draw_labels
    from paraloom.api.analysis import draw_sheet as draw_sheet
    from paraloom.api.analysis import explain_empty_filter as explain_empty_filter
    from paraloom.api.analysis import extract_lexicon as extract_lexicon
    from paraloom.api.analysis import pair_statistics as pair_statistics
    from paraloom.api.analysis import preview_filter as preview_filter
    from paraloom.api.augmentation import augment as augment
    from paraloom.api.canonicalization import Canonicalization as Canonicalization
    from paraloom.api.canonicalization import canonicalize_file as canonicalize_file
    from paraloom.api.canonicalization import check_english as check_english
    from paraloom.api.canonicalization import open_canonicalizer as open_canonicalizer
    from paraloom.api.control import measure_control as measure_control
    from paraloom.api.decontamination import decontaminate as decontaminate
    from paraloom.api.documents import align_paired_documents as align_paired_documents
    from paraloom.api.documents import pair_documents as pair_documents
    from paraloom.api.documents import pivot_documents as pivot_documents
    from paraloom.api.encoders import distill_encoder as distill_encoder
    from paraloom.api.encoders import distill_words as distill_words
    from paraloom.api.encoders import encode_file as encode_file
    from paraloom.api.encoders import export_encoder as export_encoder
    from paraloom.api.encoders import similarity_of_lines as similarity_of_lines
    from paraloom.api.encoders import train_encoder as train_encoder
    from paraloom.api.endpoints import answers_file as answers_file
    from paraloom.api.endpoints import named_translator as named_translator
    from paraloom.api.endpoints import with_answers as with_answers
    from paraloom.api.evaluate import compare_on_similarity as compare_on_similarity
    from paraloom.api.evaluate import evaluate_classification_tasks as evaluate_classification_tasks
    from paraloom.api.evaluate import evaluate_comet_files as evaluate_comet_files
    from paraloom.api.evaluate import evaluate_document_pairs as evaluate_document_pairs
    from paraloom.api.evaluate import evaluate_sentence_aligner as evaluate_sentence_aligner
    from paraloom.api.evaluate import evaluate_similarity as evaluate_similarity
    from paraloom.api.evaluate import evaluate_translation_files as evaluate_translation_files
    from paraloom.api.evaluate import evaluate_translator as evaluate_translator
    from paraloom.api.exemplars import find_exemplars as find_exemplars
    from paraloom.api.exemplars import measure_exemplars as measure_exemplars
    from paraloom.api.exemplars import write_exemplars as write_exemplars
    from paraloom.api.extract import ExtractConfig as ExtractConfig
    from paraloom.api.extract import extract_documents as extract_documents
    from paraloom.api.fetching import fetch_model as fetch_model
    from paraloom.api.fetching import remove_model as remove_model
    from paraloom.api.first_rows import preview as preview
    from paraloom.api.first_rows import preview_output as preview_output
    from paraloom.api.label_augmentation import augment_labels as augment_labels
    from paraloom.api.labels import describe_paraphrase_model as describe_paraphrase_model
    from paraloom.api.labels import evaluate_lookalikes as evaluate_lookalikes
    from paraloom.api.labels import evaluate_scores as evaluate_scores
    from paraloom.api.labels import train_judge as train_judge
    from paraloom.api.labels import train_paraphrase_model as train_paraphrase_model
    from paraloom.api.mining import MinedLines as MinedLines
    from paraloom.api.mining import mine_translations as mine_translations
    from paraloom.api.models import find_model as find_model
    from paraloom.api.models import list_models as list_models
    from paraloom.api.nested_records import RewrittenRecords as RewrittenRecords
    from paraloom.api.nested_records import translate_records as translate_records
    from paraloom.api.outputs import check_output as check_output
    from paraloom.api.outputs import content_digest as content_digest
    from paraloom.api.outputs import files_named as files_named
    from paraloom.api.outputs import is_up_to_date as is_up_to_date
    from paraloom.api.outputs import record_output as record_output
    from paraloom.api.outputs import set_aside as set_aside
    from paraloom.api.pair_functions import backtranslate as backtranslate
    from paraloom.api.pair_functions import filter_pairs as filter_pairs
    from paraloom.api.pair_functions import score as score
    from paraloom.api.pair_inputs import as_pairs as as_pairs
    from paraloom.api.pair_inputs import read_pairs as read_pairs
    from paraloom.api.pairs import Pairs as Pairs
    from paraloom.api.paraphrase_evaluation import ParaphraserEvaluation as ParaphraserEvaluation
    from paraloom.api.paraphrase_evaluation import measure_paraphrasers as measure_paraphrasers
    from paraloom.api.paraphrase_evaluation import read_references as read_references
    from paraloom.api.paraphrase_sources import AnyParaphraser as AnyParaphraser
    from paraloom.api.paraphrase_sources import EndpointParaphraser as EndpointParaphraser
    from paraloom.api.paraphrase_sources import RoundTripParaphraser as RoundTripParaphraser
    from paraloom.api.paraphrase_sources import open_paraphraser as open_paraphraser
    from paraloom.api.paraphrase_sources import open_selector as open_selector
    from paraloom.api.paraphrasers import Paraphraser as Paraphraser
    from paraloom.api.paraphrasers import count_templates as count_templates
    from paraloom.api.paraphrasers import train_paraphraser as train_paraphraser
    from paraloom.api.paraphrasing import ParaphrasedFiles as ParaphrasedFiles
    from paraloom.api.paraphrasing import paraphrase as paraphrase
    from paraloom.api.paraphrasing import paraphrase_files as paraphrase_files
    from paraloom.api.paraphrasing import plan_paraphrases as plan_paraphrases
    from paraloom.api.publishing import publish as publish
    from paraloom.api.quickstart import run_quickstart as run_quickstart
    from paraloom.api.scores import train_language_model as train_language_model
    from paraloom.api.scores import train_word_counts as train_word_counts
    from paraloom.api.search import mine_lines as mine_lines
    from paraloom.api.search import search_lines as search_lines
    from paraloom.api.selftraining import read_loop as read_loop
    from paraloom.api.selftraining import selftrain as selftrain
    from paraloom.api.status import run_status as run_status
    from paraloom.api.syntax import add_parses as add_parses
    from paraloom.api.syntax import train_parser as train_parser
    from paraloom.api.translators import train_translator as train_translator
    from paraloom.api.translators import translate_file as translate_file
    from paraloom.api.tuning import Tuning as Tuning
    from paraloom.api.tuning import TuningResult as TuningResult
    from paraloom.api.tuning import tune as tune
    from paraloom.api.urls import fetch_input as fetch_input
    from paraloom.api.variants import format_diversity as format_diversity
    from paraloom.api.variants import measure_diversity as measure_diversity
    from paraloom.api.variants import translate_variants as translate_variants
    from paraloom.api.work_folders import clean_work_folders as clean_work_folders
    from paraloom.api.yields import FEW_PAIRS as FEW_PAIRS
    from paraloom.core.devices import precision_on as precision_on
    from paraloom.core.devices import use_device as use_device
    from paraloom.core.devices import workers_on as workers_on
    from paraloom.evaluate.paraphrase_sheet import check_sheet as check_sheet
    from paraloom.evaluate.paraphrase_sheet import count_sheet as count_sheet
    from paraloom.evaluate.paraphrase_sheet import write_sheet as write_sheet
    from paraloom.io.bitext import READERS as READERS
    from paraloom.io.bitext import is_device as is_device
    from paraloom.io.compression import without_compression as without_compression
    from paraloom.io.formats.names import join_sides as join_sides
    from paraloom.mt.endpoint import EndpointUsage as EndpointUsage
    from paraloom.mt.endpoint_config import is_endpoint as is_endpoint
    from paraloom.pairs.annotation import summarize_ratings as summarize_ratings
    from paraloom.pairs.filtering.filters import format_preview as format_preview
    from paraloom.pairs.filtering.filters import summarize_preview as summarize_preview
    from paraloom.pairs.scoring.table import COLUMNS as COLUMNS
    from paraloom.pairs.scoring.table import GROUPS as GROUPS
    from paraloom.pairs.scoring.table import SCORES as SCORES
    from paraloom.pipeline.stage_docs import StageDescription as StageDescription
    from paraloom.pipeline.stage_docs import describe_stage as describe_stage
    from paraloom.pipeline.stage_docs import describe_stages as describe_stages


_MODULES = {
    "alignment": ("AlignFilesConfig", "align_files"),
    "alignment_evaluation": ("evaluate_alignment_files",),
    "canonicalization": ("Canonicalization", "canonicalize_file", "check_english", "open_canonicalizer"),
    "analysis": (
        "draw_labels",
        "draw_sheet",
        "explain_empty_filter",
        "extract_lexicon",
        "pair_statistics",
        "preview_filter",
    ),
    "augmentation": ("augment",),
    "decontamination": ("decontaminate",),
    "documents": ("align_paired_documents", "pair_documents", "pivot_documents"),
    "encoders": (
        "distill_encoder",
        "distill_words",
        "encode_file",
        "export_encoder",
        "similarity_of_lines",
        "train_encoder",
    ),
    "endpoints": ("answers_file", "named_translator", "with_answers"),
    "evaluate": (
        "compare_on_similarity",
        "evaluate_classification_tasks",
        "evaluate_comet_files",
        "evaluate_document_pairs",
        "evaluate_sentence_aligner",
        "evaluate_similarity",
        "evaluate_translation_files",
        "evaluate_translator",
    ),
    "extract": ("ExtractConfig", "extract_documents"),
    "first_rows": ("preview", "preview_output"),
    "label_augmentation": ("augment_labels",),
    "labels": (
        "describe_paraphrase_model",
        "evaluate_lookalikes",
        "evaluate_scores",
        "train_judge",
        "train_paraphrase_model",
    ),
    "mining": ("MinedLines", "mine_translations"),
    "fetching": ("fetch_model", "remove_model"),
    "models": ("find_model", "list_models"),
    "outputs": ("check_output", "content_digest", "files_named", "is_up_to_date", "record_output", "set_aside"),
    "paraphrasers": (
        "Paraphraser",
        "count_templates",
        "train_paraphraser",
    ),
    "paraphrase_evaluation": ("ParaphraserEvaluation", "measure_paraphrasers", "read_references"),
    "paraphrase_sources": (
        "AnyParaphraser",
        "EndpointParaphraser",
        "RoundTripParaphraser",
        "open_paraphraser",
        "open_selector",
    ),
    "nested_records": ("RewrittenRecords", "translate_records"),
    "paraphrasing": ("ParaphrasedFiles", "paraphrase", "paraphrase_files", "plan_paraphrases"),
    "pair_functions": ("backtranslate", "filter_pairs", "score"),
    "pair_inputs": ("as_pairs", "read_pairs"),
    "pairs": ("Pairs",),
    "publishing": ("publish",),
    "quickstart": ("run_quickstart",),
    "scores": ("train_language_model", "train_word_counts"),
    "search": ("mine_lines", "search_lines"),
    "status": ("run_status",),
    "urls": ("fetch_input",),
    "syntax": ("add_parses", "train_parser"),
    "translators": ("train_translator", "translate_file"),
    "tuning": ("Tuning", "TuningResult", "tune"),
    "variants": ("format_diversity", "measure_diversity", "translate_variants"),
    "work_folders": ("clean_work_folders",),
    "yields": ("FEW_PAIRS",),
}
_DOMAIN = {
    "aligner_config": "paraloom.alignment.methods",
    "COLUMNS": "paraloom.pairs.scoring.table",
    "GROUPS": "paraloom.pairs.scoring.table",
    "READERS": "paraloom.io.bitext",
    "check_sheet": "paraloom.evaluate.paraphrase_sheet",
    "evaluate_phrase_tasks": "paraloom.papers.pgru.phrase_tasks",
    "find_syntax_groups": "paraloom.papers.bbh22.syntax_group_stages",
    "count_sheet": "paraloom.evaluate.paraphrase_sheet",
    "write_sheet": "paraloom.evaluate.paraphrase_sheet",
    "SCORES": "paraloom.pairs.scoring.table",
    "StageDescription": "paraloom.pipeline.stage_docs",
    "describe_stage": "paraloom.pipeline.stage_docs",
    "EndpointUsage": "paraloom.mt.endpoint",
    "is_endpoint": "paraloom.mt.endpoint_config",
    "describe_stages": "paraloom.pipeline.stage_docs",
    "precision_on": "paraloom.core.devices",
    "use_device": "paraloom.core.devices",
    "workers_on": "paraloom.core.devices",
    "format_preview": "paraloom.pairs.filtering.filters",
    "summarize_preview": "paraloom.pairs.filtering.filters",
    "is_device": "paraloom.io.bitext",
    "join_sides": "paraloom.io.formats.names",
    "summarize_ratings": "paraloom.pairs.annotation",
    "without_compression": "paraloom.io.compression",
}

__getattr__, __dir__, __all__ = lazy_exports(
    __name__, {name: f"{__name__}.{module}" for module, names in _MODULES.items() for name in names} | _DOMAIN
)
