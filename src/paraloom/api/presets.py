"""Presets of filters: the scores that one computes first, and the condition that it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraloom.api.model_references import model_path
from paraloom.bundled import PARAPHRASE_MODEL
from paraloom.core.batches import as_list
from paraloom.core.errors import ConfigError, suggestion
from paraloom.core.references import split_reference
from paraloom.pairs.scoring.models import P_PARAPHRASE
from paraloom.pairs.scoring.paraphrase_model import LOG_ODDS, ParaphraseModel

if TYPE_CHECKING:
    from paraloom.api.pairs import Pairs
    from paraloom.api.translators import AnyTranslator
    from paraloom.core.protocols import EncoderLike

PRESET_SCORES = ("chrf", "ratio", "overlap", "bleu1", "mismatch", "meaning")
"""Scores that a preset computes, so that a reader sees why a pair was rejected."""


def filter_settings(
    pairs: Pairs,
    criteria: Mapping[str, Any],
    preset: str | None,
    *,
    encoder: EncoderLike | str | Path | None = None,
    reverse_translator: AnyTranslator | None = None,
) -> tuple[Pairs, dict[str, Any]]:
    """The pairs with the scores of a preset, and the settings of a `Filter`, its condition among them."""
    settings = dict(criteria)
    if "labels" in settings:
        settings["labels"] = tuple(map(Path, as_list(settings["labels"])))
    if settings.get("by"):
        settings["by"], more = _named_settings(settings["by"], "the column", "best")
        settings.update(more)
    if preset is None:
        if encoder is not None or reverse_translator is not None:
            raise ConfigError("'encoder' and 'reverse_translator' are for a preset", remedy="Call score first.")
        return pairs, settings
    preset, named = _named_settings(preset, "the preset", "model", "encoder")
    folder = model_path(named.get("model", PARAPHRASE_MODEL))
    model = ParaphraseModel.load(folder)
    presets = model.presets
    if preset not in presets:
        raise ConfigError(
            f"unknown preset '{preset}'{suggestion(preset, presets)}", remedy=f"Presets: {', '.join(presets)}."
        )
    judged = ["judge"] if any(LOG_ODDS.intersection(part.names) for part in model.models) else []
    scored = pairs.score(
        [*PRESET_SCORES, *judged],
        encoder=encoder or named.get("encoder"),
        reverse_translator=reverse_translator,
        paraphrase_model=folder,
    )
    where = (presets[preset].where, settings.get("where", ""))
    settings["where"] = " and ".join(f"({part})" for part in where if part)
    if settings.get("per_source"):
        settings["by"] = settings.get("by") or P_PARAPHRASE.name
    return scored, settings


def _named_settings(reference: str, owner: str, *known: str) -> tuple[str, dict[str, str]]:
    """A name and its settings, as in 'strict?model=FOLDER'."""
    name, settings = split_reference(reference)
    if unknown := next((key for key in settings if key not in known), None):
        raise ConfigError(f"{owner} '{name}' has no setting '{unknown}'", remedy=f"Its settings: {', '.join(known)}.")
    return name, settings
