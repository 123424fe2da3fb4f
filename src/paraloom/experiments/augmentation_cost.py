"""How long an experiment with back-translated text will take, said before it begins."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from paraloom.experiments.augmentation_config import NONE, Experiment, Table
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.presets import Method, method

# On two cores of an Intel Xeon with instructions for bfloat16 and for products of bytes: seconds of a training beside
# its steps, seconds of a step whatever it reads, sub-words a second that it reads at the default sizes; captions a
# second that such a model translates by each method in three ways (a nucleus is found by sorting the vocabulary at each
# word), and sentences of news that a grammar parses.  Trainings are those of three experiments, when the machine
# seldom was without other work.  Other machines differ by a factor of two either way.
_AROUND, _STEP, _TRAINED = 25, 0.28, 8_000
_TRANSLATED = {"base": 220, "base-big": 220, "beam": 220, "sampling": 190, "nucleus": 26, "topk": 260}
_TRANSLATED |= {"temperature": 230, "syntax": 60}
_PARSED = 60
# Sentences of news a second that are translated by a beam and scored a thousand times; and those of a usual test.
_MEASURED, _TEST = 50, 2000


def hours(experiment: Experiment) -> dict[str, float]:
    """Hours on two cores for training, translating, parsing and measuring, and in all; right to a factor of two.

    Reading, cleaning, for syntax groups the parses of the parallel text, and COMET are not in it.

    >>> table = {"source": "a"}
    >>> small = Experiment(src_lang="tr", tgt_lang="en", parallel=(table,), monolingual=(table,), development=table,
    ...     tests={"news": table}, methods=("none", "base")).small
    >>> {name: round(value, 1) for name, value in hours(small).items()}["in all"] < 1
    True
    """
    each = experiment
    training = _seconds(each, each.back) + _tuned(each) * _seconds(each, {**each.back, **each.syntax})
    training += len(each.methods) * each.seeds * _seconds(each, each.final)
    training += _firsts(each) * _seconds(each, each.first)
    methods = [method(name, each.outputs) for name in each.methods if name != NONE]
    translating = sum(each.sentences * made.texts / _TRANSLATED[made.name] * _more(made) for made in methods)
    parsed = sum(min(each.measured, each.sentences * made.texts) * made.outputs for made in methods)
    finals = len(each.methods) * each.seeds
    # Each training ends with the BLEU of what it made on the development pairs, in two precisions.
    measured = 2 * _rows(each.development) * (1 + _tuned(each) + _firsts(each) + finals)
    measured += (1 + finals) * sum(_rows(test) for test in each.tests.values())
    found = {
        "training": training / 3600,
        "translating": translating / 3600,
        "parsing": (parsed / _PARSED / 3600) if each.parser else 0.0,
        "measuring": measured / _MEASURED / 3600,
    }
    return {**found, "in all": sum(found.values())}


def cost_statement(experiment: Experiment) -> str:
    """A sentence for people."""
    found = hours(experiment)
    parts = ", ".join(f"{name} {_said(value)}" for name, value in found.items() if name != "in all" and value)
    trainings = 1 + _tuned(experiment) + _firsts(experiment) + len(experiment.methods) * experiment.seeds
    comet = ", without COMET's scores" if experiment.comet_python else ""
    return (
        f"This will take about {_said(found['in all'])} on two cores ({trainings} trainings: {parts}){comet}, "
        "twice or half of that on other machines. Stopped at any moment, the same call goes on."
    )


def _rows(test: Table) -> int:
    return int(test.get("sample") or test.get("limit") or _TEST)


def _tuned(experiment: Experiment) -> int:
    return experiment.outputs if "syntax" in experiment.methods else 0


def _firsts(experiment: Experiment) -> int:
    return experiment.seeds if experiment.first else 0


def _more(made: Method) -> float:
    """How many times the draws, or the translators, that a method's speed was measured with."""
    return made.decoding.nbest / 3 if made.decoding.random else made.translators / 3 if made.translators > 1 else 1.0


def _seconds(experiment: Experiment, settings: dict[str, Any]) -> float:
    """Seconds of one training."""
    known = {each.name for each in fields(TranslatorConfig)}
    said = {name: value for name, value in {**experiment.translator, **settings}.items() if name in known}
    usual, config = TranslatorConfig(), TranslatorConfig(**said)
    # A part of each step does not depend on the sizes.
    work = 0.4 + 0.6 * _size(config) / _size(usual)
    return _AROUND + config.steps * (_STEP + config.batch_tokens / _TRAINED * work)


def _size(config: TranslatorConfig) -> float:
    layers = config.encoder_layers + 1.5 * config.decoder_layers
    return layers * config.d_model * (4 * config.d_model + 2 * config.ffn_dim)


def _said(hours_: float) -> str:
    return f"{hours_ * 60:.0f} minutes" if hours_ < 1.5 else f"{hours_:.1f} hours"
