"""The work of an experiment on back-translation, before it begins."""

from __future__ import annotations

from paraloom.mt.config import TranslatorConfig
from paraloom.mt.presets import method
from paraloom.papers.bbh22.experiment_config import NO_METHOD, Experiment, Table


def trainings(experiment: Experiment) -> list[Table]:
    """The settings of each translator that an experiment trains."""
    tuned = experiment.outputs if "syntax" in experiment.methods else 0
    of_kind = (
        (experiment.back, 1),
        ({**experiment.back, **experiment.syntax}, tuned),
        (experiment.first, experiment.seeds if experiment.first else 0),
        (experiment.final, len(experiment.methods) * experiment.seeds),
    )
    return [{**experiment.translator, **settings} for settings, count in of_kind for _ in range(count)]


def cost_statement(experiment: Experiment) -> str:
    """What an experiment trains, translates and parses, in two sentences; hours depend on the machine."""
    settings = trainings(experiment)
    updates = sum(int(table.get("steps", TranslatorConfig.steps)) for table in settings)
    presets = [method(name, experiment.outputs) for name in experiment.methods if name != NO_METHOD]
    sentences = sum(experiment.sentences * preset.texts for preset in presets)
    limits = (min(experiment.diversity_limit, experiment.sentences * preset.texts) for preset in presets)
    outputs = (preset.outputs for preset in presets)
    parsed = sum(limit * count for limit, count in zip(limits, outputs, strict=True)) if experiment.parser else 0
    parts = [
        f"{len(settings)} trainings with {updates:,} updates at most",
        *([f"{sentences:,} sentences to back-translate"] if sentences else []),
        *([f"{parsed:,} translations to parse"] if parsed else []),
    ]
    return f"This is {', '.join(parts)}. Stopped, the same command resumes."
