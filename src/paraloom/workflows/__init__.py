"""What the commands call, for scripts as well: one function for each task, over files, models by name and folders."""

from paraloom.core.lazy import lazy_exports

_MODULES = {
    "alignment": ("align_files", "aligner_config"),
    "analysis": ("draw_sheet", "explain_empty_filter", "extract_lexicon", "pair_statistics", "preview_filter"),
    "augmentation": ("augment",),
    "control": ("evaluate_paraphraser",),
    "documents": ("align_paired_documents", "pair_documents", "pivot_documents"),
    "encoders": (
        "distill_encoder",
        "distill_words",
        "encode_file",
        "export_encoder",
        "similarity_of_lines",
        "train_encoder",
        "train_phrases",
    ),
    "endpoints": ("answers_file", "named_translator"),
    "evaluate": (
        "compare_on_similarity",
        "evaluate_alignment_files",
        "evaluate_classification_tasks",
        "evaluate_comet_files",
        "evaluate_document_pairs",
        "evaluate_phrase_tasks",
        "evaluate_sentence_aligner",
        "evaluate_similarity",
        "evaluate_translation_files",
        "evaluate_translator",
    ),
    "extract": ("ExtractConfig", "extract_documents"),
    "first_rows": ("preview", "preview_output"),
    "labels": (
        "describe_paraphrase_model",
        "evaluate_lookalikes",
        "evaluate_scores",
        "train_paraphrase_model",
    ),
    "models": ("find_model", "list_models"),
    "outputs": ("check_output", "content_digest", "files_named", "is_up_to_date", "record_output", "set_aside"),
    "paraphrasers": (
        "Paraphraser",
        "count_templates",
        "train_paraphraser",
    ),
    "pair_functions": ("backtranslate", "filter_pairs", "score"),
    "pair_inputs": ("as_pairs", "read_pairs"),
    "pairs": ("Pairs",),
    "quickstart": ("run_quickstart",),
    "scores": ("train_classifier", "train_language_model", "train_word_counts"),
    "search": ("mine_lines", "mine_translations", "search_lines"),
    "selftraining": ("read_loop", "selftrain"),
    "status": ("run_status",),
    "urls": ("fetch_input",),
    "syntax": ("add_parses", "find_syntax_groups", "train_parser"),
    "translators": ("train_translator", "translate_file"),
    "tuning": ("Tuning", "TuningResult", "tune"),
    "variants": ("format_diversity", "measure_diversity", "translate_variants"),
}
_DOMAIN = {
    "COLUMNS": "paraloom.pairs.scoring.table",
    "GROUPS": "paraloom.pairs.scoring.table",
    "READERS": "paraloom.io.bitext",
    "SCORES": "paraloom.pairs.scoring.table",
    "StageDescription": "paraloom.pipeline.stage_docs",
    "describe_stage": "paraloom.pipeline.stage_docs",
    "average_checkpoints": "paraloom.mt.averaging",
    "is_endpoint": "paraloom.mt.endpoint_config",
    "describe_stages": "paraloom.pipeline.stage_docs",
    "precision_on": "paraloom.core.devices",
    "use_device": "paraloom.core.devices",
    "workers_on": "paraloom.core.devices",
    "format_preview": "paraloom.pairs.filtering.filters",
    "is_device": "paraloom.io.bitext",
    "join_sides": "paraloom.io.formats.moses",
    "summarize_ratings": "paraloom.pairs.annotation",
    "without_compression": "paraloom.io.compression",
}

__getattr__, __dir__, __all__ = lazy_exports(
    __name__, {name: f"{__name__}.{module}" for module, names in _MODULES.items() for name in names} | _DOMAIN
)
