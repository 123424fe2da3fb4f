"""The papers' experiments and tables, on your data."""

from typing import TYPE_CHECKING

from paraloom.core.lazy import lazy_exports

if TYPE_CHECKING:
    from paraloom.experiments.augmentation import experiment_pipeline as experiment_pipeline
    from paraloom.experiments.augmentation import run_experiment as run_experiment
    from paraloom.experiments.augmentation_config import read_experiment as read_experiment
    from paraloom.experiments.augmentation_cost import cost_statement as cost_statement
    from paraloom.experiments.catalog import catalog_entries as catalog_entries
    from paraloom.experiments.catalog import list_tables as list_tables
    from paraloom.experiments.page import write_page as write_page
    from paraloom.experiments.recipe import reproduce_recipe as reproduce_recipe
    from paraloom.experiments.reproduce import reproduce_tables as reproduce_tables
    from paraloom.experiments.verdicts import summarize_verdicts as summarize_verdicts


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
