"""Commands that evaluate: encoders, scores, translators, document pairs and aligners."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import typer

from paraloom import api
from paraloom.cli.declaration import Command
from paraloom.cli.output import print_result, show_figures

_TASKS: Mapping[str, Mapping[str, Any]] = {
    "encoders": {"metavar": "ENCODER...", "complete": "complete_encoder"},
    "tasks": {"separated": False},
}


def _evaluate_similarity(
    *, published: bool = False, compare: bool = False, as_json: bool = False, **options: Any
) -> None:
    """Correlate similarities with human scores: of encoders, what they started from, and overlap of rare words.

    Prints the papers' protocol (Pearson, mean over the subsets of a year) and MTEB's (Spearman, all pairs of a year).

    Args:
        published: Print published results of both protocols as well.
        compare: Only the differences of the encoders: means of all tasks (Pearson), with bootstrap intervals.
    """
    if compare:
        if published or options.get("vectors"):
            raise typer.BadParameter("--published and --vectors have no effect with --compare")
        print_result(api.compare_on_similarity(**options), as_json)
        return
    table = api.evaluate_similarity(**options)
    typer.echo(json.dumps(table.to_dict(), ensure_ascii=False) if as_json else table.format(published=published))


DECLARED = [
    Command(
        name="evaluate scores",
        of="evaluate_scores",
        flags={"scores": "--score"},
        settings={"pairs": {"role": "input"}, "scores": {"separated": False}},
        examples=("labeled.parquet",),
    ),
    Command(
        name="evaluate lookalikes",
        of="evaluate_lookalikes",
        show=show_figures,
        leave_out="changed sample",
        flags={"scores": "--with"},
        settings={"kinds": {"default": None}},
        device=True,
        examples=("paraphrases.tsv --encoder english -o labeled.parquet",),
    ),
    Command(
        name="evaluate sts",
        run=_evaluate_similarity,
        of="evaluate_similarity",
        leave_out="resamples",
        flags={"tasks": "--task"},
        settings=_TASKS,
        examples=("english data/sts --published", "english english-small data/sts --compare"),
    ),
    Command(
        name="evaluate classification",
        of="evaluate_classification_tasks",
        flags={"folder": "--data", "tasks": "--task"},
        settings=_TASKS,
        examples=("english --data data/classification --task trec",),
    ),
    Command(
        name="evaluate translation",
        of="evaluate_translation_files",
        examples=("hypotheses.txt references.txt", "hypotheses.zh references.zh --tokenize zh"),
    ),
    Command(
        name="evaluate translator",
        of="evaluate_translator",
        device=True,
        examples=("de-en 'test.{de,en}'", "'http://127.0.0.1:8000/v1?model=qwen3&from=de&to=en' 'test.{de,en}'"),
        watched=True,
    ),
    Command(
        name="evaluate documents",
        of="evaluate_document_pairs",
        flags={"gold": "--gold"},
        settings={"pairs": {"repeated": False, "role": "input", "metavar": "PAIRS.tsv"}},
        examples=("pairs.tsv --gold gold.tsv",),
    ),
    Command(
        name="evaluate alignment",
        of="evaluate_alignment_files",
        flags={"gold": "--gold"},
        settings={"files": {"metavar": "BEADS"}},
        examples=(
            "ours.vecalign --gold hand.ladder",
            "a.vecalign b.vecalign --gold a.gold --gold b.gold --json",
            "all.vecalign --hard-delimiter .EOA --source all.de --target all.fr --gold a.gold --gold b.gold",
        ),
    ),
    Command(
        name="evaluate aligner",
        of="evaluate_sentence_aligner",
        settings={"gold": {"metavar": "GOLD.jsonl"}},
        device=True,
        examples=("cs-en.jsonl.gz --translator cs-en",),
    ),
]
