"""Self-training of a translator on documents (Park et al. 2017): align with its help, train on the result, repeat."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paraloom.core.config import Config, check_keys, check_range
from paraloom.core.errors import ConfigError
from paraloom.io.atomic import atomic_write
from paraloom.papers.settings import read_config
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import pipeline_from_tables

Table = dict[str, Any]
"""Settings of a stage, as in a TOML file."""

RESULT_FILE = "selftrain.json"
"""File in the run folder with the figures of each round."""

LOADING = ("load-translator", "load-endpoint")
"""Stages that bring in a translator that exists."""

TRAINING = ("train-translator", "train-phrase-translator")
"""Stages that train one."""

PLAUSIBLE = "src <> tgt and length(tgt) between 3 and 400 and length(src) between 0.2 * length(tgt) and 3 * length(tgt)"
"""Condition in SQL for the aligned pairs that a translator is trained on: not copied, and of similar length."""


@dataclass(frozen=True, kw_only=True)
class LoopConfig(Config):
    """Configuration of a self-training loop.

    Park et al. (2017), §4 and §5.

    Args:
        source: Corpus of documents in the language that is translated.
        target: Corpus of documents in the other language.
        bitext: Parallel text to start from (BC⁰ in PARK17), as settings of `read-pairs` stages. Without any, the first
            round aligns without a translator, unless `initial_translator` is set.
        initial_translator: What translates in the first round instead of a translator that is trained on `bitext`: the
            settings of a stage that loads one, with `use` = 'load-translator' or 'load-endpoint'. The
            translators of the rounds are trained.
        development: Settings of a `read-pairs` stage. Its loss stops each training; with `patience`, its BLEU stops the
            loop. Required with `bitext`.
        rounds: Rounds of alignment and training.
        patience: Rounds without a better development BLEU after which the loop stops; 0: never.
        where: Condition in SQL for the aligned pairs that are trained on.
        reuse_bitext: Train on `bitext` in later rounds too; if false, only on the aligned pairs (PARK17 has both).
        translator: Settings of all translators that are trained, of the kind `use` = 'train-translator' (default) or
            'train-phrase-translator'.
        first: Settings of the first translator, on `bitext`, that differ from `translator`.
        documents: Settings of the `align-documents` stages.
        sentences: Settings of the `align-document-sentences` stages, such as `method` = 'park17'; `method`,
            `max_bead_size` and `encoder` are also those of the evaluation on `gold_sentences`.
        tuning: Documents with true sentence alignments, as `documents` of a stage `tune-aligner`, on which the weights
            of the method 'park17' are chosen for each translator. They should not be those of `gold_sentences`.
        decode: How documents are translated, as a decoding string.
        third_language: Documents in a third language, as `input`, and their `translator` into the target language. Each
            round aligns them with the source documents, both in the target language (PARK17 §5); the pairs are those of
            the stages `third-pairs-1`, `third-pairs-2` … `gold` and `gold_swapped` evaluate them. With `bitext` (or
            `retrain` = true) each round aligns them with the target documents as well, and trains their translator on
            `bitext` and the pairs found, from the first round on without `translator` if there is a `bitext`;
            `gold_target` and `gold_target_swapped` evaluate those pairs of documents.
        gold_documents: True pairs of documents, to evaluate `documents`.
        gold_swapped: The file of true pairs has the target side first.
        gold_sentences: Documents with true sentence alignments, as JSON lines, to evaluate the translator as a help in
            alignment. They should not be among the documents that are aligned.
        tests: Settings of `read-pairs` stages by name, for BLEU in each round.
    """

    source: str
    target: str
    bitext: tuple[Table, ...] = ()
    initial_translator: Table = field(default_factory=dict)
    development: Table = field(default_factory=dict)
    rounds: int = 2
    patience: int = 0
    where: str = PLAUSIBLE
    reuse_bitext: bool = True
    translator: Table = field(default_factory=dict)
    first: Table = field(default_factory=dict)
    documents: Table = field(default_factory=dict)
    sentences: Table = field(default_factory=dict)
    tuning: Table = field(default_factory=dict)
    decode: str = "beam:1"
    third_language: Table = field(default_factory=dict)
    gold_documents: str | None = None
    gold_swapped: bool = False
    gold_sentences: str | None = None
    tests: dict[str, Table] = field(default_factory=dict)

    def validate(self) -> None:
        check_range(self, "rounds", "patience", low=0)
        if self.bitext and not self.development:
            raise ConfigError("'bitext' needs 'development'", remedy="Name the pairs whose loss stops each training.")
        if self.patience and not self.development:
            raise ConfigError("'patience' needs 'development'", remedy="Name the pairs whose BLEU stops the loop.")
        _check_translators(self)
        if self.tuning and self.sentences.get("method") != "park17":
            raise ConfigError(
                "'tuning' chooses the weights of the method 'park17'",
                remedy="Set method = 'park17' in [sentences], or remove [tuning].",
            )
        if not self.bitext and not self.rounds:
            raise ConfigError("nothing to do without 'bitext' and 'rounds'", remedy="Set one of them.")
        if self.third_language:
            try:
                check_keys(_ThirdLanguage, self.third_language)
                _ThirdLanguage(**self.third_language)
            except ConfigError as error:
                raise ConfigError(f"table 'third_language': {error.what}", remedy=error.remedy) from None


def _check_translators(config: LoopConfig) -> None:
    """Fail where a translator that cannot be trained stands where one is trained, and the other way around."""
    initial = config.initial_translator
    if initial and initial.get("use") not in LOADING:
        raise ConfigError(
            f"table 'initial_translator': 'use' must be {', '.join(LOADING[:-1])} or {LOADING[-1]}, "
            f"not '{initial.get('use', '')}'",
            remedy="Such as use = 'load-translator' and model = 'cs-en'.",
        )
    if initial and config.first:
        raise ConfigError(
            "'first' has settings of a training, but 'initial_translator' takes its place", remedy="Remove one of them."
        )
    for name in ("translator", "first"):
        for key in ("use", "url", "model", "models"):
            if getattr(config, name).get(key, TRAINING[0]) not in TRAINING:
                raise ConfigError(
                    f"table '{name}': key '{key}' names a translator, but each round of self-training trains its own",
                    remedy="Give a translator that exists as [initial_translator]: it translates in the first round.",
                )


@dataclass(frozen=True, kw_only=True)
class _ThirdLanguage(Config):
    """Keys of `LoopConfig.third_language`."""

    input: str
    translator: str | None = None
    bitext: tuple[Table, ...] = ()
    retrain: bool = False
    gold: str | None = None
    gold_swapped: bool = False
    gold_target: str | None = None
    gold_target_swapped: bool = False

    def validate(self) -> None:
        if self.translator is None and not self.bitext:
            raise ConfigError(
                "key 'translator' is missing", remedy="Name a translator, or give 'bitext' to train one on."
            )

    @property
    def retrained(self) -> bool:
        """True if each round trains its translator again."""
        return self.retrain or bool(self.bitext)

    def translator_of(self, number: int) -> str:
        """The translator after a round; 0 is before the first."""
        if number == 0:
            return self.translator or "third-translator-0"
        return f"third-translator-{number}" if self.retrained else self.translator_of(0)


def read_loop(path: str | Path) -> tuple[str, int, LoopConfig]:
    """Read a self-training loop from a TOML file."""
    return read_config(path, LoopConfig)


def stage_tables(config: LoopConfig, rounds: int) -> list[Table]:
    """The stages of a loop up to a round, as tables; those of earlier rounds do not change with `rounds`."""
    stages: list[Table] = []
    names = [f"bitext-{number}" for number in range(1, len(config.bitext) + 1)]
    stages += [{"name": name, "use": "read-pairs", **table} for name, table in zip(names, config.bitext, strict=True)]
    if config.development:
        stages.append({"name": "development", "use": "read-pairs", **config.development})
    for name, table in config.tests.items():
        stages.append({"name": f"test-{name}", "use": "read-pairs", **table})
    if config.gold_sentences is not None:
        stages.append({"name": "test-aligned", "use": "read-gold-pairs", "documents": config.gold_sentences})
    if config.initial_translator:
        stages.append({"name": "translator-0", **config.initial_translator})
    elif names:
        stages.append(_training(config, 0, names, config.first))
    stages += _tuning(config, 0)
    stages += _evaluations(config, 0, translated=_translates(config, 0))
    stages += _third_beginning(config) if rounds else []
    for number in range(1, rounds + 1):
        stages += _round_stages(config, number, names)
    return stages


def selftrain(
    path: str | Path,
    folder: str | Path,
    *,
    workers: int | None = None,
    report: Callable[[str], None] = lambda text: None,
) -> list[Table]:
    """Run a self-training loop (Park et al. 2017) in a folder, round by round; if stopped, the same call resumes."""
    folder = Path(folder)
    name, seed, config = read_loop(path)
    figures: list[Table] = []
    for number in range(config.rounds + 1):
        tables = stage_tables(config, number)
        if not tables:
            continue
        definition = pipeline_from_tables(tables, name=name, seed=seed, base=Path(path).absolute().parent)
        result = run_pipeline(definition, folder, workers=workers)
        figures = [row for earlier in range(number + 1) if (row := _round_figures(result, earlier))]
        with atomic_write(folder / RESULT_FILE) as temporary:
            temporary.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        report(format_rounds(figures))
        if config.patience and _rounds_since_best(figures) >= config.patience:
            break
    return figures


def format_rounds(figures: list[Table]) -> str:
    """Figures of `selftrain` as a table with a row per round."""
    names = list(dict.fromkeys(name for row in figures for name in row if name != "round"))
    names.sort(key=lambda name: (not name.startswith("documents"), name))
    lines = ["  ".join(["round", *names])]
    for row in figures:
        lines.append("  ".join([f"{row['round']:5}", *(_cell(row.get(name), name) for name in names)]))
    return "\n".join(lines)


def _cell(value: float | None, name: str) -> str:
    digits = 4 if name.endswith("f1") else 0 if name == "pairs" else 2
    return ("-" if value is None else f"{value:.{digits}f}").rjust(len(name))


def _round_stages(config: LoopConfig, number: int, bitext: list[str]) -> list[Table]:
    """Translate the source documents (if there is a translator), align, filter, train and evaluate."""
    stages: list[Table] = []
    source = config.source
    translated = _translates(config, number - 1)
    if translated:
        source = f"translated-{number}"
        teacher = {"translator": f"translator-{number - 1}", "decode": config.decode}
        stages.append({"name": source, "use": "translate-documents", "input": config.source, **teacher})
    sides: Table = {"source": source, "target": config.target}
    gold = {"gold": config.gold_documents, "gold_swapped": config.gold_swapped} if config.gold_documents else {}
    tuned = _tuned(config, number - 1)
    stages += _alignment(config, f"documents-{number}", f"within-{number}", sides, gold, tuned)
    if config.third_language:
        stages += _third_round(config, number, source if translated else None, tuned)
    stages.append({"name": f"pairs-{number}", "use": "filter", "input": f"within-{number}", "where": config.where})
    stages.append(_training(config, number, [*(bitext if config.reuse_bitext else []), f"pairs-{number}"], {}))
    return stages + _tuning(config, number) + _evaluations(config, number, translated=True)


def _third(config: LoopConfig) -> _ThirdLanguage | None:
    return _ThirdLanguage(**config.third_language) if config.third_language else None


def _third_beginning(config: LoopConfig) -> list[Table]:
    """The bitext of the third language, its first translator, and what that translates (PARK17 §5, steps 3 and 4)."""
    third = _third(config)
    if third is None:
        return []
    names = [f"third-bitext-{number}" for number in range(1, len(third.bitext) + 1)]
    stages = [{"name": name, "use": "read-pairs", **table} for name, table in zip(names, third.bitext, strict=True)]
    if third.translator is None:
        stages.append(_training(config, 0, names, config.first, "third-"))
    return stages if third.retrained else [*stages, _third_translation(config, third, "third-translated", 0)]


def _third_translation(config: LoopConfig, third: _ThirdLanguage, name: str, number: int) -> Table:
    translator = {"translator": third.translator_of(number), "decode": config.decode}
    return {"name": name, "use": "translate-documents", "input": third.input, **translator}


def _third_round(config: LoopConfig, number: int, source: str | None, tuned: Table) -> list[Table]:
    """Align the third language with the source, if that is translated, and the target (PARK17 §5, steps 5 to 9)."""
    third = _third(config)
    assert third is not None
    stages: list[Table] = []
    translated = "third-translated"
    if third.retrained:
        translated = f"third-translated-{number}"
        stages.append(_third_translation(config, third, translated, number - 1))
    if source is not None:
        # Both sides are in the target language; `pivot` restores the originals.
        sides: Table = {"source": translated, "target": source, "pivot": True}
        gold = {"gold": third.gold, "gold_swapped": third.gold_swapped} if third.gold else {}
        stages += _alignment(config, f"third-documents-{number}", f"third-pairs-{number}", sides, gold, tuned)
    if third.retrained:
        name = f"third-target-{number}"
        sides = {"source": translated, "target": config.target}
        gold = {"gold": third.gold_target, "gold_swapped": third.gold_target_swapped} if third.gold_target else {}
        stages += _alignment(config, f"third-target-documents-{number}", f"{name}-all", sides, gold, tuned)
        stages.append({"name": name, "use": "filter", "input": f"{name}-all", "where": config.where})
        names = [f"third-bitext-{index}" for index in range(1, len(third.bitext) + 1)]
        bitext = [*(names if config.reuse_bitext else []), name]
        stages.append(_training(config, number, bitext, {}, "third-"))
    return stages


def _translates(config: LoopConfig, number: int) -> bool:
    """True if there is a translator after a round; 0 is before the first."""
    return number > 0 or bool(config.bitext or config.initial_translator)


def _alignment(
    config: LoopConfig, documents: str, sentences: str, sides: Table, gold: Table, tuned: Table
) -> list[Table]:
    within = {**sides, "pairs": documents, **config.sentences, **tuned}
    return [
        {"name": documents, "use": "align-documents", **sides, **gold, **config.documents},
        {"name": sentences, "use": "align-document-sentences", **within},
    ]


def _tuning(config: LoopConfig, number: int) -> list[Table]:
    """The stage that chooses the weights of the sentence aligner for the translator of a round."""
    if not config.tuning:
        return []
    settings = {"decode": config.decode, **_shared(config, "max_bead_size"), **config.tuning}
    translator = {"translator": f"translator-{number}"} if _translates(config, number) else {}
    return [{"name": f"aligner-{number}", "use": "tune-aligner", **translator, **settings}]


def _tuned(config: LoopConfig, number: int) -> Table:
    """The key of stages that align with the weights chosen after a round."""
    return {"aligner": f"aligner-{number}"} if config.tuning else {}


def _shared(config: LoopConfig, *keys: str) -> Table:
    """Settings of the sentence aligner that stages other than `align-document-sentences` have as well."""
    return {key: config.sentences[key] for key in keys if key in config.sentences}


def _training(config: LoopConfig, number: int, bitext: list[str], settings: Table, prefix: str = "") -> Table:
    # The development pairs are in the source language; the third language has none and holds pairs out.
    development = {"development": "development"} if config.development and not prefix else {}
    table = {
        "name": f"{prefix}translator-{number}",
        "use": TRAINING[0],
        "bitext": bitext,
        **config.translator,
        **settings,
    }
    return {**development, **table} if table["use"] == TRAINING[0] else table


def _evaluations(config: LoopConfig, number: int, *, translated: bool) -> list[Table]:
    """Evaluate the translator of a round: BLEU on each test, and F1 of sentence alignment with its help."""
    stages: list[Table] = []
    translator = {"translator": f"translator-{number}"}
    # Beam search, by which trained translators are evaluated, is not what every other translator can be asked for.
    decode = {"decode": config.decode} if number == 0 and config.initial_translator else {}
    tests = [
        *config.tests,
        *(["aligned"] if config.gold_sentences else []),
        *(["development"] if config.development else []),
    ]
    if translated:
        for test in tests:
            pairs = test if test == "development" else f"test-{test}"
            evaluation = {"name": f"bleu-{test}-{number}", "use": "evaluate-translator", **translator, "pairs": pairs}
            stages.append(evaluation | decode)
    if config.gold_sentences is not None:
        settings = {"documents": config.gold_sentences, "decode": config.decode, **(translator if translated else {})}
        aligner = _shared(config, "method", "max_bead_size", "encoder") | _tuned(config, number)
        stages.append({"name": f"sentences-{number}", "use": "evaluate-aligner", **settings, **aligner})
    return stages


_F1 = ("documents", "third-documents", "third-target-documents", "sentences")
"""Stages whose F1 is among the figures of a round."""


def _round_figures(result: RunResult, number: int) -> Table:
    """The figures of a round; empty if none of its stages has any."""
    figures: Table = {}
    for stage in result.stages:
        kind, _, round_number = stage.name.rpartition("-")
        if round_number != str(number):
            continue
        if kind in _F1 and "f1" in stage.figures:
            figures[f"{kind.replace('-', '_')}_f1"] = stage.figures["f1"]
        if kind == "pairs":
            figures["pairs"] = float(stage.counts.kept)
        if kind.startswith("bleu-"):
            test = kind.removeprefix("bleu-")
            figures |= {f"{metric}_{test}": stage.figures[metric] for metric in ("bleu", "chrf")}
    return {"round": number, **figures} if figures else {}


def _rounds_since_best(figures: list[Table]) -> int:
    bleu = [row.get("bleu_development", 0.0) for row in figures]
    return len(bleu) - 1 - bleu.index(max(bleu))
