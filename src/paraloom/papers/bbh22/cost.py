"""Estimated time of an experiment on back-translation."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from paraloom.mt.config import TranslatorConfig
from paraloom.mt.decoding import Diverse, Mbr
from paraloom.mt.presets import Method, method
from paraloom.papers.bbh22.experiment_config import NO_METHOD, Experiment, Table

# Measured on two cores of an Intel Xeon with instructions for bfloat16 and int8 products. Other machines differ by a
# factor of two either way.
_TRAINING_SECONDS = 25
"""Seconds of a training apart from its steps."""
_STEP_SECONDS = 0.28
"""Seconds of a step, whatever the size of its batch."""
_TRAINED_TOKENS = 8_000
"""Sub-words that a training of the default sizes reads in a second."""
_TRANSLATED: dict[str, float] = {"base": 220, "base-big": 220, "beam": 220, "sampling": 190, "nucleus": 26, "topk": 260}
_TRANSLATED |= {"temperature": 230, "mbr": 40, "diverse": 2.4, "syntax": 60}
"""Captions per second that each method translates, in three ways; a nucleus sorts the vocabulary for each word, and
diverse draws 32 of it."""
_PARSED = 60
"""News sentences per second that a grammar parses."""
_EVALUATED = 50
"""News sentences per second that are translated by beam search and scored, with a bootstrap."""
_TEST_ROWS = 2000
"""Rows of a typical test, for tests that do not say how many they have."""


def estimate_hours(experiment: Experiment) -> dict[str, float]:
    """Estimate hours on two cores, within a factor of two.

    Reading and cleaning, parsing of the parallel text for the method 'syntax', and COMET are not included.
    """
    final_trainings = len(experiment.methods) * experiment.seeds
    training = _training_seconds(experiment, experiment.back)
    training += _tuned_translators(experiment) * _training_seconds(experiment, {**experiment.back, **experiment.syntax})
    training += final_trainings * _training_seconds(experiment, experiment.final)
    training += _first_translators(experiment) * _training_seconds(experiment, experiment.first)
    methods = [
        method(name, experiment.outputs, fairseq=experiment.fairseq) for name in experiment.methods if name != NO_METHOD
    ]
    translating = sum(
        experiment.sentences * preset.texts / _TRANSLATED[preset.name] * _relative_cost(preset) for preset in methods
    )
    parsed = sum(
        min(experiment.diversity_limit, experiment.sentences * preset.texts) * preset.outputs for preset in methods
    )
    # Each training ends with the BLEU of its translator on the development pairs, in two precisions.
    evaluated = 2 * _rows(experiment.development) * _trainings(experiment)
    evaluated += (1 + final_trainings) * sum(_rows(test) for test in experiment.tests.values())
    hours = {
        "training": training / 3600,
        "translating": translating / 3600,
        "parsing": (parsed / _PARSED / 3600) if experiment.parser else 0.0,
        "measuring": evaluated / _EVALUATED / 3600,
    }
    return {**hours, "total": sum(hours.values())}


def cost_statement(experiment: Experiment) -> str:
    """Estimated time of an experiment, in a sentence or two."""
    hours = estimate_hours(experiment)
    parts = ", ".join(f"{name} {_format_hours(value)}" for name, value in hours.items() if name != "total" and value)
    comet = ", without COMET" if experiment.comet else ""
    return (
        f"This will take about {_format_hours(hours['total'])} on two cores "
        f"({_trainings(experiment)} trainings: {parts}){comet}; on other machines half or twice as long. "
        "Stopped, the same command resumes."
    )


def _rows(test: Table) -> int:
    return int(test.get("sample") or test.get("limit") or _TEST_ROWS)


def _trainings(experiment: Experiment) -> int:
    final = len(experiment.methods) * experiment.seeds
    return 1 + _tuned_translators(experiment) + _first_translators(experiment) + final


def _tuned_translators(experiment: Experiment) -> int:
    return experiment.outputs if "syntax" in experiment.methods else 0


def _first_translators(experiment: Experiment) -> int:
    return experiment.seeds if experiment.first else 0


def _relative_cost(preset: Method) -> float:
    """The number of samples, or of translators, relative to that of the speed: 16 for mbr, 32 for diverse, else 3."""
    if isinstance(preset.decoding, Mbr):
        return preset.decoding.samples / 16
    if isinstance(preset.decoding, Diverse):
        return preset.decoding.samples / 32
    if preset.decoding.random:
        return (preset.decoding.proposal or preset.decoding).nbest / 3
    return preset.translators / 3 if preset.translators > 1 else 1.0


def _training_seconds(experiment: Experiment, settings: dict[str, Any]) -> float:
    known = {field.name for field in fields(TranslatorConfig)}
    given = {name: value for name, value in {**experiment.translator, **settings}.items() if name in known}
    default, config = TranslatorConfig(), TranslatorConfig(**given)
    # A part of each step does not depend on the sizes.
    work = 0.4 + 0.6 * _size(config) / _size(default)
    return _TRAINING_SECONDS + config.steps * (_STEP_SECONDS + config.batch_tokens / _TRAINED_TOKENS * work)


def _size(config: TranslatorConfig) -> float:
    layers = config.encoder_layers + 1.5 * config.decoder_layers
    return layers * config.d_model * (4 * config.d_model + 2 * config.ffn_dim)


def _format_hours(hours: float) -> str:
    return f"{hours * 60:.0f} minutes" if hours < 1.5 else f"{hours:.1f} hours"
