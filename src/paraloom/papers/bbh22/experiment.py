"""The experiment of Burchell et al. (2022): translators trained on back-translations by several methods, compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from paraloom.api.syntax import parser_fields
from paraloom.io.atomic import atomic_write
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.presets import method
from paraloom.papers.bbh22.experiment_config import NO_METHOD, Experiment, Table, read_experiment
from paraloom.papers.bbh22.results import BACK_TRANSLATION, COMPARISON, ExperimentResult
from paraloom.pipeline.definition import Definition
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.store import check_name
from paraloom.pipeline.toml import pipeline_from_tables

RESULT_FILE = "augment.json"
"""File in the run folder with the figures of each method."""

_MORE_SENTENCES = "monolingual-more"
"""Stage of the sentences of methods that translate more of them than the others."""


def run_experiment(
    path: str | Path,
    folder: str | Path,
    *,
    small: bool = False,
    engine: str = "local",
    workers: int | None = None,
    report: Callable[[str], None] = lambda text: None,
) -> ExperimentResult:
    """Run an experiment in a folder; if stopped, the same call resumes.

    Burchell et al. (2022).

    Args:
        path: The experiment's settings, a TOML file.
        folder: Run folder.
        small: Run the experiment on little text, with few steps and one seed.
        engine: local, inline, or ray (pip install 'paraloom[cluster]').
        workers: Processes; default: one per core. The result is the same.
        report: Called with the table of the figures.
    """
    path, folder = Path(path), Path(folder)
    name, seed, experiment = read_experiment(path, small=small)
    definition = experiment_pipeline(path, name, seed, experiment)
    # A small experiment and the whole one have stages of the same names, and would replace each other's.
    check_name(folder, {name})
    run = run_pipeline(definition, folder, engine=engine, workers=workers)
    result = ExperimentResult.from_stages({stage.name: stage.figures for stage in run.stages}, experiment.methods)
    with atomic_write(folder / RESULT_FILE) as temporary:
        text = json.dumps([row.to_dict() for row in result.methods], indent=1)
        temporary.write_text(f"{text}\n", encoding="utf-8")
    report(result.format())
    return result


def experiment_pipeline(path: str | Path, name: str, seed: int, experiment: Experiment) -> Definition:
    """The pipeline of an experiment."""
    return pipeline_from_tables(stage_tables(experiment), name=name, seed=seed, base=Path(path).parent)


def stage_tables(experiment: Experiment) -> list[Table]:
    """The stages of an experiment as tables, in the order they run. Their names decide their seeds."""
    held_out = ["development", *(f"test-{test}" for test in experiment.tests), *experiment.clean.get("held_out", [])]
    stages = [*_texts(experiment), *_cleaning(experiment, held_out), *_monolingual(experiment)]
    stages.append(
        {
            "name": "back",
            "use": "train-translator",
            "bitext": ["turned"],
            "development": "development-turned",
            **_special_tokens(experiment),
            **experiment.translator,
            **experiment.back,
        }
    )
    # The quality of the back-translator limits what diversity can achieve: its samples are only as adequate as it is.
    for test in experiment.tests:
        stages += _back_evaluation(experiment, test)
    if "syntax" in experiment.methods:
        stages += _syntax_groups(experiment)
    for name in experiment.methods:
        stages += [] if name == NO_METHOD else _back_translations(experiment, name, held_out)
    seeds = range(1, experiment.seeds + 1)
    if experiment.first:
        stages += [_training(experiment, f"first-{seed}", experiment.first) for seed in seeds]
    for name in experiment.methods:
        for seed in seeds:
            stages += _final_translator(experiment, name, seed)
    if len(experiment.methods) > 1:
        stages += [_comparison(experiment, test) for test in experiment.tests]
    return stages


def _texts(experiment: Experiment) -> list[Table]:
    """Read all files; the pairs in both directions."""
    languages = {"src_lang": experiment.src_lang, "tgt_lang": experiment.tgt_lang}
    stages = _bitext("development", languages | experiment.development)
    for name, table in experiment.tests.items():
        stages += _bitext(f"test-{name}", languages | {key: value for key, value in table.items() if key != "sets"})
    for number, table in enumerate(experiment.parallel, start=1):
        stages += _bitext(f"parallel-{number}", languages | table)
    for number, table in enumerate(experiment.monolingual, start=1):
        reading = {"name": f"monolingual-{number}", "use": "read-sentences", "lang": experiment.tgt_lang}
        stages.append({**reading, **table})
    return stages


def _bitext(name: str, table: Table) -> list[Table]:
    """Read the pairs of a file, or a sample of them."""
    if "sample" not in table:
        return [{"name": name, "use": "read-pairs", **table}]
    whole = {key: value for key, value in table.items() if key != "sample"}
    return [
        {"name": f"whole-{name}", "use": "read-pairs", **whole},
        {"name": name, "use": "filter", "sample": table["sample"]},
    ]


def _cleaning(experiment: Experiment, held_out: list[str]) -> list[Table]:
    """Join and clean the parallel and the monolingual text."""
    parallel = [f"parallel-{number}" for number in range(1, len(experiment.parallel) + 1)]
    monolingual = [f"monolingual-{number}" for number in range(1, len(experiment.monolingual) + 1)]
    # Joined, the texts keep sentences of any length that one of their tables allows.
    lengths = [int(table["max_length"]) for table in experiment.monolingual if "max_length" in table]
    reading = {"lang": experiment.tgt_lang, **({"max_length": max(lengths)} if lengths else {})}
    clean = {"use": "clean", **experiment.clean}
    # The back-translator is trained on the translations of sentences in the parallel text.
    known = {"held_out": [*held_out, "parallel"]}
    return [
        {"name": "parallel-all", "use": "join-pairs", "corpora": parallel},
        {"name": "parallel", **clean, "held_out": held_out, "input": "parallel-all"},
        {"name": "turned", "use": "join-pairs", "corpora": ["parallel"], "swap": True},
        {"name": "development-turned", "use": "join-pairs", "corpora": ["development"], "swap": True},
        {"name": "monolingual-all", "use": "read-sentences", **reading, "corpora": monolingual},
        {"name": "monolingual-clean", "min_words": 2, **clean, **known, "input": "monolingual-all"},
    ]


def _monolingual(experiment: Experiment) -> list[Table]:
    """Draw the sentences to translate; those of most methods are a sample of those of methods that take more."""
    presets = [method(name, experiment.outputs) for name in experiment.methods if name != NO_METHOD]
    texts = max((preset.texts for preset in presets), default=1)
    sample: Table = {"use": "filter", "exact_sample": True}
    stages: list[Table] = []
    source = "monolingual-clean"
    if texts > 1:
        stages.append({"name": _MORE_SENTENCES, **sample, "input": source, "sample": experiment.sentences * texts})
        source = _MORE_SENTENCES
    return [*stages, {"name": "monolingual", **sample, "input": source, "sample": experiment.sentences}]


def _back_evaluation(experiment: Experiment, test: str) -> list[Table]:
    """Evaluate the back-translator on a test in the other direction."""
    swapped = f"turned-{test}"
    evaluation = {"use": "evaluate-translator", "translator": "back", "pairs": swapped, **_comet(experiment)}
    return [
        {"name": swapped, "use": "join-pairs", "corpora": [f"test-{test}"], "swap": True},
        {"name": f"{BACK_TRANSLATION}{test}", **evaluation},
    ]


def _back_translations(experiment: Experiment, name: str, held_out: list[str]) -> list[Table]:
    """Back-translate by one method, measure diversity, and turn the variants into training pairs."""
    preset = method(name, experiment.outputs)
    tuned = [f"tuned-{group}" for group in range(1, experiment.outputs + 1)]
    variants = f"variants-{name}"
    stages: list[Table] = [
        {
            "name": variants,
            "use": "translate-variants",
            "input": _MORE_SENTENCES if preset.texts > 1 else "monolingual",
            "translator": tuned if name == "syntax" else ["back"],
            "method": name,
            "outputs": experiment.outputs,
            **({"fairseq": True} if experiment.fairseq else {}),
        }
    ]
    diversity: Table = {"variants": variants, "limit": experiment.diversity_limit}
    if experiment.parser:
        # Only what is measured is parsed: parsing takes longer than translating.
        sample, parsed = f"some-{name}", f"parsed-{name}"
        parse = {"input": sample, **parser_fields(experiment.parser), "columns": ["text"]}
        stages += [
            {"name": sample, "use": "filter", "input": variants, "where": _sample_condition(experiment, preset.texts)},
            {"name": parsed, "use": "parse", **parse},
        ]
        diversity |= {"variants": parsed, "trees": "text_parse"}
    stages.append({"name": f"diversity-{name}", "use": "measure-diversity", **diversity})
    pairs = {"use": "variants-to-bitext", "src_lang": experiment.src_lang, "tag": experiment.tag}
    # A text may be another translation of a test sentence, and its back-translation that sentence.
    stages.append({"name": f"made-{name}", **pairs, "held_out": held_out, "input": variants})
    return stages


def _sample_condition(experiment: Experiment, texts: int) -> str:
    """A condition that holds for all variants of about as many sentences as diversity is measured on."""
    share = min(1.0, experiment.diversity_limit / (experiment.sentences * texts))
    return f"md5(pair_id) < '{int(share * 0xFFFF):04x}g'" if share < 1 else "true"


def _syntax_groups(experiment: Experiment) -> list[Table]:
    """Fine-tune a translator on each of the largest syntax groups of the parallel text."""
    settings = {key: value for key, value in experiment.syntax.items() if key != "min_rows"}
    groups = {"groups": experiment.outputs, "min_rows": experiment.syntax.get("min_rows", 0)}
    parse = {"input": "turned", **parser_fields(experiment.parser), "columns": ["tgt"]}
    stages: list[Table] = [
        {"name": "parsed", "use": "parse", **parse},
        {"name": "groups", "use": "syntax-groups", "pairs": "parsed", **groups},
    ]
    for group in range(1, experiment.outputs + 1):
        pick = {"use": "pick-syntax-group", "input": "parsed", "groups": "groups", "group": group}
        training = {"init_from": "back", "bitext": [f"group-{group}"], "development": "development-turned"}
        # The development pairs have all kinds of sentences; chosen by them, the least tuned translator would be kept.
        last = {"patience": 0, "keep_last": True}
        stages += [
            {"name": f"group-{group}", **pick},
            {
                "name": f"tuned-{group}",
                "use": "train-translator",
                **training,
                **experiment.translator,
                **experiment.back,
                **last,
                **settings,
            },
        ]
    return stages


def _special_tokens(experiment: Experiment) -> Table:
    return {"special_tokens": [experiment.tag]} if experiment.tag else {}


def _training(experiment: Experiment, name: str, settings: Table) -> Table:
    """Train a translator into the target language, on the parallel text unless `settings` name another bitext."""
    training = {"name": name, "use": "train-translator", "bitext": ["parallel"], "development": "development"}
    # All share one vocabulary of sub-words, so that their perplexities are comparable.
    shared = {"subwords_from": "back", **_special_tokens(experiment)}
    return {**training, **shared, **experiment.translator, **settings}


def _final_translator(experiment: Experiment, name: str, seed: int) -> list[Table]:
    """Train a translator on parallel and back-translated text, and evaluate it on each test."""
    translator = f"final-{name}-{seed}"
    bitext: Table = {"bitext": ["parallel"] if name == NO_METHOD else ["parallel", f"made-{name}"]}
    if experiment.weights and name != NO_METHOD:
        bitext["weights"] = list(experiment.weights)
    if experiment.first:
        bitext["init_from"] = f"first-{seed}"
    stages = [_training(experiment, translator, {**experiment.final, **bitext})]
    for test, table in experiment.tests.items():
        sets = {"sets": table["sets"]} if "sets" in table else {}
        evaluation = {"use": "evaluate-translator", "translator": translator, "pairs": f"test-{test}", **sets}
        stages.append({"name": f"test-{test}-{name}-{seed}", **evaluation, **_comet(experiment)})
    return stages


def _comet(experiment: Experiment) -> Table:
    return {"comet": experiment.comet} if experiment.comet else {}


def _comparison(experiment: Experiment, test: str) -> Table:
    """Compare the methods on a test."""
    trained = [(name, seed) for name in experiment.methods for seed in range(1, experiment.seeds + 1)]
    return {
        "name": f"{COMPARISON}{test}",
        "use": "compare-translators",
        "evaluations": [f"test-{test}-{name}-{seed}" for name, seed in trained],
        "names": [name for name, _ in trained],
        "pairs": f"test-{test}",
    }


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
