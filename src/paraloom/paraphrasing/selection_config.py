"""What a selection of paraphrases asks for: thresholds, weights, and a preset for each use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paraloom.core.config import Config, check_range
from paraloom.core.errors import ConfigError, nearest
from paraloom.paraphrasing.edits import CHANGES


@dataclass(frozen=True, kw_only=True)
class SelectionConfig(Config):
    """What a candidate must have, and what counts among those that have it.

    Args:
        meaning: Minimum cosine similarity to the text by the encoder, 0 (anything) to 1. With the bundled encoder
            `english`, texts about the same thing begin near 0.5, and close rewordings near 0.85.
        difference: Minimum difference from the text, 0 (copies, too) to 1: edits of words, divided by the number of
            words of the longer side; case and punctuation do not count.
        fluency: Minimum fluency, 0 (anything) to 1: the geometric mean probability of the tokens, as the paraphraser
            finds them without a template. Candidates whose fluency is unknown pass.
        probability: Minimum probability to be right, 0 to 1, where a judge is asked.
        length_ratio: Maximum ratio of the words of the longer side to those of the shorter, 1 or more; texts of up to
            five words may have three more. Inf for any.
        distinct: Minimum difference between two paraphrases that are kept for the same text, 0 to 1.
        difference_weight: What a difference of 1 adds to the rank, 0 or more, where a probability of 1 adds 1.
        fluency_weight: What the highest fluency adds to the rank, 0 or more, where no judge is asked.
        template_weight: What the template of an exemplar or of `auto` adds to the rank, 0 or more; with a template that
            was named, all that are kept have it.
        variety_weight: What similarity to a better paraphrase of the same text takes from the rank, 0 or more.
        change: Kind of change that a candidate must show: word, order or contraction; '' for any.

    Example:
        >>> SelectionConfig(meaning=1.5)
        Traceback (most recent call last):
            ...
        paraloom.core.errors.ConfigError: 'meaning' must be from 0 to 1, got 1.5.
        0.65 keeps loose paraphrases, 0.85 only close ones.
    """

    meaning: float = 0.75
    difference: float = 0.2
    fluency: float = 0.45
    probability: float = 0.65
    length_ratio: float = 2.0
    distinct: float = 0.15
    difference_weight: float = 0.3
    fluency_weight: float = 0.75
    template_weight: float = 0.5
    variety_weight: float = 0.5
    change: str = ""

    def validate(self) -> None:
        remedies = {
            "meaning": "0.65 keeps loose paraphrases, 0.85 only close ones.",
            "difference": "0.1 asks for one word in ten, 0.4 for four.",
            "fluency": "0.45 drops what the paraphraser itself finds improbable, 0 drops nothing.",
        }
        for name in ("meaning", "difference", "fluency", "probability", "distinct"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise ConfigError(f"'{name}' must be from 0 to 1, got {value:g}", remedy=remedies.get(name))
        if self.change and self.change not in CHANGES:
            raise ConfigError(f"unknown kind of change '{self.change}'{nearest(self.change, CHANGES)}")
        if self.length_ratio < 1:
            raise ConfigError(f"'length_ratio' must be 1 or more, got {self.length_ratio:g}")
        for name in ("difference_weight", "fluency_weight", "template_weight", "variety_weight"):
            if getattr(self, name) < 0:
                raise ConfigError(f"'{name}' must be 0 or more, got {getattr(self, name):g}")


SELECTION_PRESETS = {
    "strict": SelectionConfig(
        meaning=0.85, probability=0.75, difference=0.05, distinct=0.1, difference_weight=0.75, variety_weight=0.2
    ),
    "balanced": SelectionConfig(),
    "loose": SelectionConfig(meaning=0.65, probability=0.5, difference=0.1, distinct=0.3, variety_weight=1.0),
}
"""Name of a preset → what is kept.

strict: replaces a text, such as a line of an interface: nine of ten are right; one word of twenty is enough.
balanced: further texts with the same meaning: a copy teaches nothing, and a changed meaning is wrong.
loose: several wordings of one text, such as the utterances of an intent: three of four are right, and they differ.
"""

NO_SELECTION = "none"
"""Instead of a preset: what the paraphraser gives, as it is."""

PRESETS = (*SELECTION_PRESETS, NO_SELECTION)


def selection_config(preset: str = "balanced", **values: float | str | None) -> SelectionConfig:
    """A preset, with some of its values replaced."""
    check_preset(preset, list(SELECTION_PRESETS))
    base: dict[str, Any] = dict(vars(SELECTION_PRESETS[preset]))
    for name, value in values.items():
        if name not in base:
            raise ConfigError(f"unknown setting '{name}' of a selection{nearest(name, list(base))}")
        if value is not None:
            base[name] = value
    return SelectionConfig(**base)


def check_preset(preset: str, known: Sequence[str] = PRESETS) -> None:
    """Raise ConfigError for an unknown preset."""
    if preset not in known:
        raise ConfigError(f"unknown preset '{preset}' of a selection{nearest(preset, list(known))}")


@dataclass(frozen=True, kw_only=True)
class CandidateSelection(Config):
    """How many candidates a paraphraser gives, and which of them are kept.

    Args:
        preset: What is kept of the candidates: strict, balanced or loose; none keeps what the paraphraser gives.
        meaning: Minimum cosine to the text, 0 to 1, instead of the preset's: 0.65 is loose, 0.85 close.
        difference: Minimum share of words that differ from the text, 0 to 1, instead of the preset's.
        change: Kind of change that is kept: word, order or contraction. Default: any.
        candidates: Candidates of each text to select from, of each paraphraser.

    Raises:
        ConfigError: The preset is unknown, a value is out of its range, or it has no effect without a selection.
    """

    preset: str = "strict"
    meaning: float | None = None
    difference: float | None = None
    change: str = ""
    candidates: int = 20

    def validate(self) -> None:
        check_preset(self.preset)
        check_range(self, "candidates", low=1)
        if self.selects:
            _ = self.thresholds
            return
        for name in ("meaning", "difference", "change", "candidates"):
            if getattr(self, name) != getattr(CandidateSelection, name):
                raise ConfigError(
                    f"'{name}' is for a selection, and has no effect without one",
                    remedy="Leave it out, or name a preset: strict, balanced or loose.",
                )

    @property
    def selects(self) -> bool:
        """Whether candidates are selected."""
        return self.preset != NO_SELECTION

    @property
    def thresholds(self) -> SelectionConfig:
        """What a candidate must have."""
        return selection_config(self.preset, meaning=self.meaning, difference=self.difference, change=self.change)
