"""The front page: which commands are on it, in which panels, and the groups of the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

INDEX = Path(__file__).with_name("commands.json")
"""All commands and their parameters, written by `paraloom.cli.index`."""

MODULES: dict[str, str] = {
    "runs": "Start and run",
    "look": "Start and run",
    "pages": "Start and run",
    "stages": "Start and run",
    "pairs": "Paraphrase pairs",
    "paraphrasers": "Paraphrase pairs",
    "encoders": "Encoders",
    "translators": "Translation",
    "alignment": "Documents and bitext",
    "evaluate": "Encoders",
    "syntax": "Translation",
    "paraphraser_evaluation": "Paraphrase pairs",
    "canonicalization": "Paraphrase pairs",
    "papers": "More",
    "research": "More",
}
"""Module of `paraloom.cli` → panel of the front page that its commands are in."""

FRONT = frozenset(
    [
        *("quickstart", "backtranslate", "paraphrase", "score", "filter", "mine", "augment", "translate", "train"),
        *("distill", "encode", "search", "extract", "align", "evaluate", "run", "status", "report", "explore"),
        "models",
    ]
)
"""First words of the commands on the front page."""

HIDDEN = frozenset(["demo", "head", "scores", "stages"])
"""Commands that are found by their names in messages and pages, not on the front page."""

GROUPS: dict[str, tuple[str, str]] = {
    "train": ("Translation", "Train a translator, an encoder, a parser or a score."),
    "align": ("Documents and bitext", "Align documents and sentences."),
    "evaluate": ("Encoders", "Evaluate encoders, translators, aligners, paraphrasers."),
    "models": ("Start and run", "List the models; fetch translators of the Hugging Face Hub."),
    "research": ("More", "What only studies need, or what has not been shown to help."),
    "research judge": ("More", "Annotate pairs by hand: sample a sheet, count its labels."),
    "research show": ("More", "Write an HTML page that shows data."),
    "papers": ("More", "Reproduce the papers' tables."),
}
"""Name of a group of commands → its panel and its help."""


DEFAULT = {"models": "list"}
"""Group of commands → the member that it is without one: `paraloom models de-en` is `paraloom models list de-en`."""


def ordered(names: Sequence[str]) -> list[str]:
    """The first words of commands by panel, research and papers last."""
    return sorted(names, key=lambda name: name in ("research", "papers"))
