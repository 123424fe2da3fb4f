"""BBH22's experiment: back-translate monolingual text in several ways, train a translator on each, and compare them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

from paraloom.core.errors import ConfigError, ParaloomError, nearest
from paraloom.core.io.atomic import replacing
from paraloom.mt.methods import method
from paraloom.recipes.augmented import Outcome, collect, render
from paraloom.recipes.syntax import parser_named
from paraloom.recipes.verbs import compose
from paraloom.run.annotations import MisfitError, fitted
from paraloom.run.pipeline import Pipeline, expanded, parse_pipeline
from paraloom.run.runner import run_pipeline

Table = dict[str, Any]

RESULT = "augment.json"
"""In the run's folder: the figures of each method."""
NONE = "none"
"""The method of the parallel text alone."""

_SMALL: Table = {"steps": 300, "batch_tokens": 2000, "evaluate_every": 100, "vocabulary": 4000}
_SMALL_TEST = 1000
_SMALL_SENTENCES, _SMALL_MEASURED = 6000, 1500
_SMALL_METHODS = ("base", "beam", "sampling", "nucleus")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What is compared, and on what.

    src_lang, tgt_lang: of the final translators.  parallel: tables of `bitext` stages, source and target.
    monolingual: tables of `sentences` stages, of the target's language; duplicates among them go.  development: such
    a bitext; its loss stops each training.  tests: tables of `bitext` stages by name; one may have `sets` too, a table
    of sets and rows, each of which is then measured by itself (run.stages.translation).
    methods: of mt.methods, and `none` for the parallel text alone.  outputs: translations of a sentence, where a
    method has several.  sentences: monolingual ones; base-big takes `outputs` times as many.
    seeds: trainings of each final translator.  weights: parallel and back-translated text in a final training, as they
    are to each other; none: each row once.  tag: before back-translated sources, as <BT>.
    clean: settings of the stage that cleans; test sentences are held out in any case, and what stands in the parallel
    text is not taken from the monolingual one.
    translator: settings of all trainings; back, final: of the one that back-translates, and of the final ones, that
    differ.  parser: of the source's language (a folder, or a model as `spacy:NAME`): then tree kernels are measured,
    and `syntax` can be among the methods.  syntax: `least` of syntax-groups, and the settings of fine-tuning.
    measured: groups of translations whose diversity is measured.
    comet_python, comet_model: see run.stages.translation.
    """

    src_lang: str
    tgt_lang: str
    parallel: tuple[Table, ...]
    monolingual: tuple[Table, ...]
    development: Table
    tests: dict[str, Table]
    methods: tuple[str, ...] = (NONE, "base", "beam", "sampling", "nucleus")
    outputs: int = 3
    sentences: int = 20_000
    seeds: int = 1
    weights: tuple[float, ...] = ()
    tag: str = ""
    clean: Table = field(default_factory=dict)
    translator: Table = field(default_factory=dict)
    back: Table = field(default_factory=dict)
    final: Table = field(default_factory=dict)
    parser: str = ""
    syntax: Table = field(default_factory=dict)
    measured: int = 30_000
    comet_python: str = ""
    comet_model: str = "wmt20-comet-da"

    def __post_init__(self) -> None:
        for name in ("parallel", "monolingual", "tests"):
            if not getattr(self, name):
                raise ConfigError(f"there is no '{name}'")
        for name in self.methods:
            if name != NONE:
                method(name, self.outputs)
        if len(set(self.methods)) < len(self.methods) or not self.methods:
            raise ConfigError("'methods' names each method once, and one at least")
        if "syntax" in self.methods and not self.parser:
            raise ConfigError("the method 'syntax' needs a 'parser'", remedy="Name one, or leave that method out.")
        for name in ("outputs", "sentences", "seeds", "measured"):
            if getattr(self, name) < 1:
                raise ConfigError(f"'{name}' is 1 or more, not {getattr(self, name)}")
        if len(self.weights) not in (0, 2):
            raise ConfigError("'weights' are two numbers: of the parallel and of the back-translated text")
        for name in self.tests:
            if not name or "-" in name:
                raise ConfigError(f"a test's name is without '-', not '{name}'")

    @property
    def small(self) -> Experiment:
        """The same with little text, few steps, one seed and the methods `none` to `nucleus` alone: half an hour."""
        known = tuple(name for name in self.methods if name in (NONE, *_SMALL_METHODS))
        if not known:
            raise ConfigError(f"a small experiment has methods among {', '.join((NONE, *_SMALL_METHODS))}")
        return replace(
            self,
            methods=known,
            sentences=min(self.sentences, _SMALL_SENTENCES),
            seeds=1,
            tests={
                name: {**table, "limit": min(table.get("limit") or _SMALL_TEST, _SMALL_TEST)}
                for name, table in self.tests.items()
            },
            measured=min(self.measured, _SMALL_MEASURED),
            translator={**self.translator, **_SMALL},
            back={key: value for key, value in self.back.items() if key not in _SMALL},
            final={key: value for key, value in self.final.items() if key not in _SMALL},
        )


def read_experiment(path: Path) -> tuple[str, int, Experiment]:
    """Name, seed and experiment in a TOML file; raises ConfigError for an unknown key, naming the nearest."""
    try:
        table = expanded(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise ConfigError("there is no such file", file=path) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"this is not TOML: {error}", file=path) from None
    except ParaloomError as error:
        raise error.at(file=path) from None
    name, seed = str(table.pop("name", path.stem)), table.pop("seed", 1)
    if type(seed) is not int:
        raise ConfigError(f"'seed' is a whole number, not {seed!r}", file=path)
    known = {each.name: each for each in fields(Experiment)}
    for key in table:
        if key not in known:
            raise ConfigError(f"there is no key '{key}'{nearest(key, ['name', 'seed', *known])}", file=path)
    for key in ("src_lang", "tgt_lang", "parallel", "monolingual", "development", "tests"):
        if key not in table:
            raise ConfigError(f"'{key}' is missing", file=path)
    try:
        hints = get_type_hints(Experiment)
        return name, seed, Experiment(**{key: _fitted(key, value, hints[key]) for key, value in table.items()})
    except ConfigError as error:
        raise error.at(file=path) from None


def _fitted(key: str, value: object, annotation: Any) -> Any:
    try:
        return fitted(value, annotation, Path())
    except MisfitError as error:
        raise ConfigError(f"'{key}' {error}") from None


def stages_of(experiment: Experiment) -> list[Table]:
    """The stages of the whole experiment, in the order in which they are made."""
    each = experiment
    languages = {"src_lang": each.src_lang, "tgt_lang": each.tgt_lang}
    tests = {name: {key: value for key, value in table.items() if key != "sets"} for name, table in each.tests.items()}
    held = ["development", *(f"test-{name}" for name in tests)]
    stages: list[Table] = [{"name": "development", "use": "bitext", **languages, **each.development}]
    stages += [{"name": f"test-{name}", "use": "bitext", **languages, **table} for name, table in tests.items()]
    joined, texts = [], []
    for number, table in enumerate(each.parallel, 1):
        joined.append(f"parallel-{number}")
        stages.append({"name": joined[-1], "use": "bitext", **languages, **table})
    for number, table in enumerate(each.monolingual, 1):
        texts.append(f"monolingual-{number}")
        stages.append({"name": texts[-1], "use": "sentences", "lang": each.tgt_lang, **table})
    clean = {"use": "clean", **each.clean}
    held += each.clean.get("held_out", [])
    stages += [
        {"name": "parallel-all", "use": "join-pairs", "corpora": joined},
        {"name": "parallel", **clean, "held_out": held, "input": "parallel-all"},
        {"name": "turned", "use": "join-pairs", "corpora": ["parallel"], "turned": True},
        {"name": "development-turned", "use": "join-pairs", "corpora": ["development"], "turned": True},
        {"name": "monolingual-all", "use": "sentences", "lang": each.tgt_lang, "corpora": texts},
        # What stands in the parallel text has a translation already, by which the back-translator has learned.
        {
            "name": "monolingual-clean",
            "fewest": 2,
            **clean,
            "held_out": [*held, "parallel"],
            "input": "monolingual-all",
        },
        {"name": "monolingual", "use": "filter", "input": "monolingual-clean", "sample": each.sentences},
        {
            "name": "back",
            "use": "train-translator",
            "bitext": ["turned"],
            "development": "development-turned",
            **each.translator,
            **each.back,
        },
    ]
    if "syntax" in each.methods:
        stages += _syntax_groups(each)
    for name in each.methods:
        stages += [] if name == NONE else _augmentation(each, name)
    for name in each.methods:
        for seed in range(1, each.seeds + 1):
            stages += _final(each, name, seed)
    return stages


def augment(
    path: Path,
    folder: Path,
    *,
    small: bool = False,
    engine: str = "local",
    workers: int | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Outcome]:
    """Run the experiment of a TOML file in a folder; returns the figures of each method, and writes them.

    small: see Experiment.small.  Stopped at any moment, the same call goes on from the stage where it was.
    """
    name, seed, experiment = read_experiment(path)
    experiment = experiment.small if small else experiment
    pipeline = pipeline_of(path, name, seed, experiment)
    result = run_pipeline(pipeline, folder, engine=engine, workers=workers)
    outcomes = collect({stage.name: stage.figures for stage in result.stages}, experiment.methods)
    with replacing(folder / RESULT) as temporary:
        temporary.write_text(json.dumps([vars(each) for each in outcomes], indent=1) + "\n", encoding="utf-8")
    tell(render(outcomes))
    return outcomes


def pipeline_of(path: Path, name: str, seed: int, experiment: Experiment) -> Pipeline:
    """The experiment as a pipeline; raises ConfigError for settings and files that a stage cannot have."""
    text = compose(stages_of(experiment), seed=seed).replace('name = "verb"', f"name = {json.dumps(name)}", 1)
    return parse_pipeline(text, file=path)


def _augmentation(each: Experiment, name: str) -> list[Table]:
    """Back-translations by one method, their diversity, and the pairs that they make."""
    made = method(name, each.outputs)
    source = "monolingual"
    stages: list[Table] = []
    if made.texts > 1:
        source = f"monolingual-{name}"
        sample = each.sentences * made.texts
        stages.append({"name": source, "use": "filter", "input": "monolingual-clean", "sample": sample})
    translators = [f"tuned-{group}" for group in range(1, each.outputs + 1)] if name == "syntax" else ["back"]
    variants = f"variants-{name}"
    stages.append(
        {
            "name": variants,
            "use": "translate-variants",
            "input": source,
            "translator": translators,
            "method": name,
            "outputs": each.outputs,
        }
    )
    measured = variants
    if each.parser:
        # Only as many as are measured are parsed: parsing takes longer than translating.
        measured = f"parsed-{name}"
        some = f"some-{name}"
        stages.append({"name": some, "use": "filter", "input": variants, "where": _some(each, made.texts)})
        stages.append(
            {"name": measured, "use": "parse", "input": some, **parser_named(each.parser), "columns": ["text"]}
        )
    trees = {"trees": "text_parse"} if each.parser else {}
    stages.append(
        {
            "name": f"diversity-{name}",
            "use": "measure-diversity",
            "variants": measured,
            "limit": each.measured,
            **trees,
        }
    )
    pairs = {"use": "variants-to-bitext", "src_lang": each.src_lang, "tag": each.tag}
    stages.append({"name": f"made-{name}", **pairs, "input": variants})
    return stages


def _some(each: Experiment, texts: int) -> str:
    """A condition that holds for about as many groups as are measured, whole ones."""
    share = min(1.0, each.measured / (each.sentences * texts))
    return f"md5(pair_id) < '{int(share * 0xFFFF):04x}g'" if share < 1 else "true"


def _syntax_groups(each: Experiment) -> list[Table]:
    """Translators that each prefer one kind of sentence, fine-tuned on the largest groups of the parallel text."""
    settings = {key: value for key, value in each.syntax.items() if key != "least"}
    groups = {"groups": each.outputs, "least": each.syntax.get("least", 0)}
    stages: list[Table] = [
        {"name": "parsed", "use": "parse", "input": "turned", **parser_named(each.parser), "columns": ["tgt"]},
        {"name": "groups", "use": "syntax-groups", "pairs": "parsed", **groups},
    ]
    for group in range(1, each.outputs + 1):
        tuned = {"start": "back", "bitext": [f"group-{group}"], "development": "development-turned"}
        stages += [
            {"name": f"group-{group}", "use": "pick-group", "input": "parsed", "groups": "groups", "group": group},
            {
                "name": f"tuned-{group}",
                "use": "train-translator",
                **tuned,
                **each.translator,
                **each.back,
                "patience": 0,
                **settings,
            },
        ]
    return stages


def _final(each: Experiment, name: str, seed: int) -> list[Table]:
    """A translator out of parallel and back-translated text, and what it has on each test."""
    translator = f"final-{name}-{seed}"
    mixed: Table = {"bitext": ["parallel"] if name == NONE else ["parallel", f"made-{name}"]}
    if each.weights and name != NONE:
        mixed["weights"] = list(each.weights)
    if each.tag:
        mixed["symbols"] = [each.tag]
    training = {"use": "train-translator", "development": "development", **each.translator, **each.final}
    stages: list[Table] = [{"name": translator, **training, **mixed}]
    comet = {"comet_python": each.comet_python, "comet_model": each.comet_model} if each.comet_python else {}
    for test, table in each.tests.items():
        sets = {"sets": table["sets"]} if "sets" in table else {}
        measured = {"use": "evaluate-translator", "translator": translator, "pairs": f"test-{test}", **sets, **comet}
        stages.append({"name": f"test-{test}-{name}-{seed}", **measured})
    return stages
