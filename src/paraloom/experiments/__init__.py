"""The papers' experiments and tables, on your data."""

from paraloom.core.lazy import lazy_exports

_MODULES = {
    "augmentation": ("run_experiment", "experiment_pipeline"),
    "augmentation_config": ("read_experiment",),
    "augmentation_cost": ("cost_statement",),
    "catalog": ("catalog_entries", "list_tables"),
    "page": ("write_page",),
    "recipe": ("reproduce_recipe",),
    "reproduce": ("reproduce_tables",),
    "verdicts": ("summarize_verdicts",),
}

__getattr__, __dir__, __all__ = lazy_exports(
    __name__, {name: f"{__name__}.{module}" for module, names in _MODULES.items() for name in names}
)
