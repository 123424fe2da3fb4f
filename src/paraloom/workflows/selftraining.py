"""PARK17's loop: a translator helps to align documents and sentences, learns from what was found, and helps again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from paraloom.core.errors import ConfigError, nearest
from paraloom.io.atomic import atomic_write
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import pipeline_from_tables
from paraloom.workflows.settings import read_settings

Table = dict[str, Any]

RESULT = "selftrain.json"
"""In the run's folder: the figures of each round."""

KEEP = "src <> tgt and length(tgt) between 3 and 400 and length(src) between 0.2 * length(tgt) and 3 * length(tgt)"
"""Which of the pairs that were found a translator learns from."""

_THIRD = ("input", "translator", "gold", "gold_swapped")


@dataclass(frozen=True, kw_only=True)
class LoopConfig:
    """What goes round, and how often.

    source, target: corpora of documents; the source's language is translated into the target's.  bitext: tables of
    `bitext` stages, the pairs to begin with (PARK17's BC⁰); none: the first round does without a translator.
    development: such a table; its loss stops each training, and with `patience` its BLEU the loop.
    rounds: of alignment and training.  patience: rounds without a better development BLEU after which the loop ends
    (0: never).  keep: which pairs that were found are learned from, an SQL condition.  begin_with: whether later
    rounds learn from `bitext` too (PARK17 has both: BC¹ alone, and with BC⁰).
    translator, documents, within: settings of the stages train-translator, align-documents and align-within.
    first: settings of the first translator that differ.  decode: how documents are translated.
    third: a corpus of documents in a third language, and the translator of that into the target's, as `input` and
    `translator`; each round aligns it with the source, both in the target's language (PARK17 §5), which gives
    `third-pairs-1` and so on.  Its `gold` and `gold_swapped` measure that.
    gold_documents, gold_swapped: true pairs of documents.  gold_sentences: JSON lines of documents with true beads; its
    documents should not be among those aligned.  tests: tables of `bitext` stages by name, for BLEU in each round.
    """

    source: str
    target: str
    bitext: tuple[Table, ...] = ()
    development: Table = field(default_factory=dict)
    rounds: int = 2
    patience: int = 0
    keep: str = KEEP
    begin_with: bool = True
    translator: Table = field(default_factory=dict)
    first: Table = field(default_factory=dict)
    documents: Table = field(default_factory=dict)
    within: Table = field(default_factory=dict)
    decode: str = "beam:1"
    third: Table = field(default_factory=dict)
    gold_documents: str | None = None
    gold_swapped: bool = False
    gold_sentences: str | None = None
    tests: dict[str, Table] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.rounds < 0 or self.patience < 0:
            raise ConfigError("'rounds' and 'patience' must be 0 or more")
        if self.bitext and not self.development:
            raise ConfigError("there is no 'development'", remedy="Name the pairs whose loss stops each training.")
        if self.patience and not self.development:
            raise ConfigError("'patience' needs 'development', whose BLEU says when to end")
        if not self.bitext and not self.rounds:
            raise ConfigError("without 'bitext' and 'rounds' there is nothing to do")
        for key in self.third:
            if key not in _THIRD:
                raise ConfigError(f"'third' has no key '{key}'{nearest(key, _THIRD)}")
        if self.third and not {"input", "translator"} <= set(self.third):
            raise ConfigError("'third' names 'input', a corpus of documents, and its 'translator'")


def read_loop(path: Path) -> tuple[str, int, LoopConfig]:
    """Name, seed and configuration in a TOML file; raises ConfigError for an unknown key, naming the nearest."""
    name, seed, table = read_settings(path, [each.name for each in fields(LoopConfig)], ("source", "target"))
    table["bitext"] = tuple(table.get("bitext", ()))
    return name, seed, LoopConfig(**table)


def stages_of(config: LoopConfig, rounds: int) -> list[Table]:
    """The stages of the loop up to a round; those of earlier rounds are the same, so nothing of them is done twice."""
    stages: list[Table] = []
    names = [f"bitext-{number}" for number in range(1, len(config.bitext) + 1)]
    stages += [{"name": name, "use": "read-pairs", **table} for name, table in zip(names, config.bitext, strict=True)]
    if config.development:
        stages.append({"name": "development", "use": "read-pairs", **config.development})
    for name, table in config.tests.items():
        stages.append({"name": f"test-{name}", "use": "read-pairs", **table})
    if config.gold_sentences is not None:
        stages.append({"name": "test-aligned", "use": "read-gold-pairs", "documents": config.gold_sentences})
    held = {"development": "development"} if config.development else {}
    if names:
        first = {"bitext": names, **held, **config.translator, **config.first}
        stages.append({"name": "translator-0", "use": "train-translator", **first})
    stages += _measures(config, 0, bool(names))
    if config.third and rounds:
        given = {key: config.third[key] for key in ("input", "translator")}
        stages.append({"name": "third-translated", "use": "translate-documents", **given, "decode": config.decode})
    for number in range(1, rounds + 1):
        translated = bool(names) or number > 1
        source = f"translated-{number}" if translated else config.source
        if translated:
            teacher = {"translator": f"translator-{number - 1}", "decode": config.decode}
            stages.append({"name": source, "use": "translate-documents", "input": config.source, **teacher})
        sides = {"source": source, "target": config.target}
        gold = {"gold": config.gold_documents, "gold_swapped": config.gold_swapped} if config.gold_documents else {}
        documents, within = f"documents-{number}", f"within-{number}"
        stages.append({"name": documents, "use": "align-documents", **sides, **gold, **config.documents})
        stages.append({"name": within, "use": "align-document-sentences", **sides, "pairs": documents, **config.within})
        if config.third and translated:
            stages += _third(config, number, source)
        stages.append({"name": f"pairs-{number}", "use": "filter", "input": within, "where": config.keep})
        learned = [*(names if config.begin_with else []), f"pairs-{number}"]
        training = {"bitext": learned, **held, **config.translator}
        stages.append({"name": f"translator-{number}", "use": "train-translator", **training})
        stages += _measures(config, number, True)
    return stages


def selftrain(
    path: Path, folder: Path, *, workers: int | None = None, tell: Callable[[str], None] = lambda line: None
) -> list[Table]:
    """Run the loop of a TOML file in a folder, round by round; returns the figures of each round, and writes them.

    Ends after the last round, or when the development BLEU has not risen for `patience` rounds.  Stopped at any
    moment, the same call goes on from the stage where it was.
    """
    name, seed, config = read_loop(path)
    figures: list[Table] = []
    for number in range(config.rounds + 1):
        stages = stages_of(config, number)
        if not stages:
            continue
        definition = pipeline_from_tables(stages, name=name, seed=seed, base=path.absolute().parent)
        result = run_pipeline(definition, folder, workers=workers)
        figures = [found for each in range(number + 1) if (found := _round(result, each))]
        with atomic_write(folder / RESULT) as temporary:
            temporary.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        tell(render(figures))
        if config.patience and _past_best(figures, config.patience):
            break
    return figures


def render(figures: list[Table]) -> str:
    """A line a round.

    >>> print(render([{"round": 0, "sentences_f1": 0.5}, {"round": 1, "documents_f1": 0.9, "sentences_f1": 0.6}]))
    round  documents_f1  sentences_f1
        0             -        0.5000
        1        0.9000        0.6000
    """
    names = list(dict.fromkeys(name for row in figures for name in row if name != "round"))
    names.sort(key=lambda name: (not name.startswith("documents"), name))
    lines = ["  ".join(["round", *names])]
    for row in figures:
        lines.append("  ".join([f"{row['round']:5}", *(_cell(row.get(name), name) for name in names)]))
    return "\n".join(lines)


def _cell(value: float | None, name: str) -> str:
    digits = 4 if name.endswith("f1") else 0 if name == "pairs" else 2
    return ("-" if value is None else f"{value:.{digits}f}").rjust(len(name))


def _third(config: LoopConfig, number: int, source: str) -> list[Table]:
    """The third language and the source aligned where both can be read, and restored (PARK17 §5, steps 5 and 6)."""
    sides = {"source": "third-translated", "target": source, "pivot": True}
    gold = {key: value for key, value in config.third.items() if key.startswith("gold")}
    documents = f"third-documents-{number}"
    return [
        {"name": documents, "use": "align-documents", **sides, **gold, **config.documents},
        {
            "name": f"third-pairs-{number}",
            "use": "align-document-sentences",
            **sides,
            "pairs": documents,
            **config.within,
        },
    ]


def _measures(config: LoopConfig, number: int, translator: bool) -> list[Table]:
    """What a round's translator is worth: BLEU on each test, and as a help to align sentences."""
    stages: list[Table] = []
    named = {"translator": f"translator-{number}"}
    tests = [
        *config.tests,
        *(["aligned"] if config.gold_sentences else []),
        *(["development"] if config.development else []),
    ]
    if translator:
        for test in tests:
            pairs = test if test == "development" else f"test-{test}"
            stages.append({"name": f"bleu-{test}-{number}", "use": "evaluate-translator", **named, "pairs": pairs})
    if config.gold_sentences is not None:
        work = {"documents": config.gold_sentences, "decode": config.decode, **(named if translator else {})}
        stages.append({"name": f"sentences-{number}", "use": "evaluate-aligner", **work})
    return stages


def _round(result: RunResult, number: int) -> Table:
    found: Table = {}
    for stage in result.stages:
        kind, _, place = stage.name.rpartition("-")
        if place != str(number):
            continue
        if kind in ("documents", "third-documents", "sentences") and "f1" in stage.figures:
            found[f"{kind.replace('-', '_')}_f1"] = stage.figures["f1"]
        if kind == "pairs":
            found["pairs"] = float(stage.counts.kept)
        if kind.startswith("bleu-"):
            found[f"bleu_{kind.removeprefix('bleu-')}"] = stage.figures["bleu"]
    return {"round": number, **found} if found else {}


def _past_best(figures: list[Table], patience: int) -> bool:
    bleu = [row.get("bleu_development", 0.0) for row in figures]
    return len(bleu) - 1 - bleu.index(max(bleu)) >= patience
