"""BBH22's experiment: back-translate monolingual text in several ways, train a translator on each, and compare them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from paraloom.experiments.augmentation_config import NONE, Experiment, Table, read_experiment
from paraloom.experiments.augmentation_results import (
    BACK,
    COMPARED,
    Outcome,
    collect,
    render,
    render_back,
    render_differences,
)
from paraloom.io.atomic import atomic_write
from paraloom.mt.presets import method
from paraloom.pipeline.definition import Definition
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.store import check_name
from paraloom.pipeline.toml import pipeline_from_tables
from paraloom.workflows.syntax import parser_fields

RESULT = "augment.json"
"""In the run's folder: the figures of each method."""

MORE = "monolingual-more"
"""The stage of the sentences of methods that take more of them than the others."""


def stages_of(experiment: Experiment) -> list[Table]:
    """The stages of the whole experiment, in the order in which they are made."""
    each = experiment
    languages = {"src_lang": each.src_lang, "tgt_lang": each.tgt_lang}
    tests = {name: {key: value for key, value in table.items() if key != "sets"} for name, table in each.tests.items()}
    held = ["development", *(f"test-{name}" for name in tests)]
    stages = _bitext("development", languages | each.development)
    for name, table in tests.items():
        stages += _bitext(f"test-{name}", languages | table)
    joined, texts = [], []
    for number, table in enumerate(each.parallel, 1):
        joined.append(f"parallel-{number}")
        stages += _bitext(joined[-1], languages | table)
    for number, table in enumerate(each.monolingual, 1):
        texts.append(f"monolingual-{number}")
        stages.append({"name": texts[-1], "use": "read-sentences", "lang": each.tgt_lang, **table})
    clean = {"use": "clean", **each.clean}
    held += each.clean.get("held_out", [])
    stages += [
        {"name": "parallel-all", "use": "join-pairs", "corpora": joined},
        {"name": "parallel", **clean, "held_out": held, "input": "parallel-all"},
        {"name": "turned", "use": "join-pairs", "corpora": ["parallel"], "swap": True},
        {"name": "development-turned", "use": "join-pairs", "corpora": ["development"], "swap": True},
        {"name": "monolingual-all", "use": "read-sentences", "lang": each.tgt_lang, **_longest(each), "corpora": texts},
        # What stands in the parallel text has a translation already, by which the back-translator has learned.
        {
            "name": "monolingual-clean",
            "min_words": 2,
            **clean,
            "held_out": [*held, "parallel"],
            "input": "monolingual-all",
        },
        *_monolingual(each),
        {
            "name": "back",
            "use": "train-translator",
            "bitext": ["turned"],
            "development": "development-turned",
            **_symbols(each),
            **each.translator,
            **each.back,
        },
    ]
    # How good it is says whether diversity can be of use: what it draws at random is only as adequate as that.
    for test in tests:
        stages += _back_on(each, test)
    if "syntax" in each.methods:
        stages += _syntax_groups(each)
    for name in each.methods:
        stages += [] if name == NONE else _augmentation(each, name, held)
    if each.first:
        stages += [_training(each, f"first-{seed}", each.first) for seed in range(1, each.seeds + 1)]
    for name in each.methods:
        for seed in range(1, each.seeds + 1):
            stages += _final(each, name, seed)
    if len(each.methods) > 1:
        stages += [_compared(each, test) for test in tests]
    return stages


def run_experiment(
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
    Raises RunError where the folder holds another experiment, as the whole of a small one.
    """
    name, seed, experiment = read_experiment(path, small=small)
    pipeline = experiment_pipeline(path, name, seed, experiment)
    # The whole and the small one have the same stages, and each would begin those of the other anew.
    check_name(folder, {name})
    result = run_pipeline(pipeline, folder, engine=engine, workers=workers)
    found = {stage.name: stage.figures for stage in result.stages}
    outcomes = collect(found, experiment.methods)
    with atomic_write(folder / RESULT) as temporary:
        temporary.write_text(json.dumps([vars(each) for each in outcomes], indent=1) + "\n", encoding="utf-8")
    tell(render(outcomes))
    tell(render_back(found))
    tell(render_differences(found))
    return outcomes


def experiment_pipeline(path: Path, name: str, seed: int, experiment: Experiment) -> Definition:
    """The experiment as a pipeline; raises ConfigError for settings and files that a stage cannot have."""
    return pipeline_from_tables(stages_of(experiment), name=name, seed=seed, base=path.parent)


def _bitext(name: str, table: Table) -> list[Table]:
    """The pairs of a file, or so many rows drawn from them."""
    if "sample" not in table:
        return [{"name": name, "use": "read-pairs", **table}]
    whole = {key: value for key, value in table.items() if key != "sample"}
    return [
        {"name": f"whole-{name}", "use": "read-pairs", **whole},
        {"name": name, "use": "filter", "sample": table["sample"]},
    ]


def _back_on(each: Experiment, test: str) -> list[Table]:
    """What the back-translator has on a test the other way around."""
    turned = f"turned-{test}"
    return [
        {"name": turned, "use": "join-pairs", "corpora": [f"test-{test}"], "swap": True},
        {"name": f"{BACK}{test}", "use": "evaluate-translator", "translator": "back", "pairs": turned, **_comet(each)},
    ]


def _augmentation(each: Experiment, name: str, held: list[str]) -> list[Table]:
    """Back-translations by one method, their diversity, and the pairs that they make."""
    made = method(name, each.outputs)
    source = MORE if made.texts > 1 else "monolingual"
    stages: list[Table] = []
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
            {"name": measured, "use": "parse", "input": some, **parser_fields(each.parser), "columns": ["text"]}
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
    # Another translation of a test sentence, which may be among the texts, may come back as that sentence.
    stages.append({"name": f"made-{name}", **pairs, "held_out": held, "input": variants})
    return stages


def _some(each: Experiment, texts: int) -> str:
    """A condition that holds for about as many groups as are measured, whole ones."""
    share = min(1.0, each.measured / (each.sentences * texts))
    return f"md5(pair_id) < '{int(share * 0xFFFF):04x}g'" if share < 1 else "true"


def _syntax_groups(each: Experiment) -> list[Table]:
    """Translators that each prefer one kind of sentence, fine-tuned on the largest groups of the parallel text."""
    settings = {key: value for key, value in each.syntax.items() if key != "min_rows"}
    groups = {"groups": each.outputs, "min_rows": each.syntax.get("min_rows", 0)}
    stages: list[Table] = [
        {"name": "parsed", "use": "parse", "input": "turned", **parser_fields(each.parser), "columns": ["tgt"]},
        {"name": "groups", "use": "syntax-groups", "pairs": "parsed", **groups},
    ]
    for group in range(1, each.outputs + 1):
        tuned = {"init_from": "back", "bitext": [f"group-{group}"], "development": "development-turned"}
        stages += [
            {
                "name": f"group-{group}",
                "use": "pick-syntax-group",
                "input": "parsed",
                "groups": "groups",
                "group": group,
            },
            {
                "name": f"tuned-{group}",
                "use": "train-translator",
                **tuned,
                **each.translator,
                **each.back,
                "patience": 0,
                # By the development pairs, of all kinds of sentences, the one would be kept that has changed least.
                "keep_last": True,
                **settings,
            },
        ]
    return stages


def _longest(each: Experiment) -> Table:
    """The characters of a sentence that the most generous of the tables lets pass, where one says how many."""
    said = [int(table["max_length"]) for table in each.monolingual if "max_length" in table]
    return {"max_length": max(said)} if said else {}


def _monolingual(each: Experiment) -> list[Table]:
    """The sentences to translate: those of most methods are some of those of the methods that take more."""
    most = max((method(name, each.outputs).texts for name in each.methods if name != NONE), default=1)
    drawn: Table = {"use": "filter", "exact_sample": True}
    stages: list[Table] = []
    if most > 1:
        stages.append({"name": MORE, **drawn, "input": "monolingual-clean", "sample": each.sentences * most})
    source = MORE if most > 1 else "monolingual-clean"
    return [*stages, {"name": "monolingual", **drawn, "input": source, "sample": each.sentences}]


def _symbols(each: Experiment) -> Table:
    return {"special_tokens": [each.tag]} if each.tag else {}


def _training(each: Experiment, name: str, settings: Table) -> Table:
    """A translator into the experiment's target, of the parallel text alone unless `settings` name another bitext."""
    training = {"name": name, "use": "train-translator", "bitext": ["parallel"], "development": "development"}
    # All have the sub-words of one: perplexities count words of their own otherwise, and do not compare.
    return {**training, "subwords_from": "back", **_symbols(each), **each.translator, **settings}


def _final(each: Experiment, name: str, seed: int) -> list[Table]:
    """A translator out of parallel and back-translated text, and what it has on each test."""
    translator = f"final-{name}-{seed}"
    mixed: Table = {"bitext": ["parallel"] if name == NONE else ["parallel", f"made-{name}"]}
    if each.weights and name != NONE:
        mixed["weights"] = list(each.weights)
    if each.first:
        mixed["init_from"] = f"first-{seed}"
    stages = [_training(each, translator, {**each.final, **mixed})]
    for test, table in each.tests.items():
        sets = {"sets": table["sets"]} if "sets" in table else {}
        measured = {"use": "evaluate-translator", "translator": translator, "pairs": f"test-{test}", **sets}
        stages.append({"name": f"test-{test}-{name}-{seed}", **measured, **_comet(each)})
    return stages


def _comet(each: Experiment) -> Table:
    return {"comet_python": each.comet_python, "comet_model": each.comet_model} if each.comet_python else {}


def _compared(each: Experiment, test: str) -> Table:
    """The methods beside each other on a test."""
    trained = [(name, seed) for name in each.methods for seed in range(1, each.seeds + 1)]
    return {
        "name": f"{COMPARED}{test}",
        "use": "compare-translators",
        "evaluations": [f"test-{test}-{name}-{seed}" for name, seed in trained],
        "names": [name for name, _ in trained],
        "pairs": f"test-{test}",
    }
