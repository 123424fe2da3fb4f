"""Code of the papers alone: their networks and methods, tables on your data, verdicts; a folder for each paper."""

from paraloom.core.lazy import lazy_exports

_MODULES = {
    "bbh22.experiment": ("cost_statement", "experiment_pipeline", "run_experiment"),
    "bbh22.experiment_config": ("read_experiment",),
    "catalog": ("catalog_entries", "list_tables"),
    "check": ("check_tables", "format_states"),
    "page": ("write_page",),
    "park17.selftraining": ("read_loop", "selftrain"),
    "pgru.train_phrases": ("train_phrase_encoder",),
    "recipe": ("reproduce_recipe",),
    "runner": ("reproduce_tables",),
    "scpn.measure_control": ("measure_control",),
    "scpn.measure_exemplars": ("measure_exemplars", "write_exemplars"),
    "verdicts": ("summarize_verdicts",),
    "w17.train_classifier": ("train_classifier",),
}

__getattr__, __dir__, __all__ = lazy_exports(
    __name__, {name: f"{__name__}.{module}" for module, names in _MODULES.items() for name in names}
)
