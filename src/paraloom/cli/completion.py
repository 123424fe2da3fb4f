"""What the shell completes the values of options to."""

from __future__ import annotations

from collections.abc import Callable

from paraloom import api


def _models(kind: str) -> Callable[[str], list[str]]:
    """What completes the name of a bundled or cached model of a kind."""

    def complete(incomplete: str) -> list[str]:
        models = api.list_models()
        return [model.name for model in models if model.kind == kind and model.name.startswith(incomplete)]

    return complete


complete_translator, complete_encoder, complete_paraphraser = map(_models, ("translator", "encoder", "paraphraser"))


def complete_decoding(incomplete: str) -> list[str]:
    known = (
        *("beam:5", "beam:12", "greedy", "sampling", "topk:10", "nucleus:0.95", "nucleus:0.95,nbest=3"),
        *("mbr:chrf", "diverse:chrf"),
    )
    return [text for text in known if text.startswith(incomplete)]


def complete_preset(incomplete: str) -> list[str]:
    """Presets of `filter` that begin so."""
    return [preset for preset in ("strict", "balanced", "loose") if preset.startswith(incomplete)]


def complete_scores(incomplete: str) -> list[str]:
    """Lists of scores and groups whose last name begins so."""
    before, comma, last = incomplete.rpartition(",")
    names = [*api.GROUPS, *api.SCORES]
    return [f"{before}{comma}{name}" for name in names if name.startswith(last)]


def complete_stage(incomplete: str) -> list[str]:
    return [stage.use for stage in api.describe_stages() if stage.use.startswith(incomplete)]
