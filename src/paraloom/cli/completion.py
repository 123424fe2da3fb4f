"""What the shell completes the values of options to."""

from __future__ import annotations

from paraloom import api


def complete_translator(incomplete: str) -> list[str]:
    """Names of bundled and cached translators that begin so."""
    return _models("translator", incomplete)


def complete_encoder(incomplete: str) -> list[str]:
    """Names of bundled encoders that begin so.

    >>> complete_encoder("english-")
    ['english-small']
    """
    return _models("encoder", incomplete)


def complete_paraphraser(incomplete: str) -> list[str]:
    """Names of bundled paraphrasers that begin so."""
    return _models("paraphraser", incomplete)


def complete_decoding(incomplete: str) -> list[str]:
    """Decodings that begin so."""
    known = (
        "beam:5",
        "beam:12",
        "greedy",
        "sampling",
        "topk:10",
        "nucleus:0.95",
        "nucleus:0.95,nbest=3",
        "mbr:chrf",
        "diverse:chrf",
    )
    return [text for text in known if text.startswith(incomplete)]


def complete_preset(incomplete: str) -> list[str]:
    """Presets of `filter` that begin so."""
    return [preset for preset in ("strict", "balanced", "loose") if preset.startswith(incomplete)]


def complete_scores(incomplete: str) -> list[str]:
    """Lists of scores and groups whose last name begins so.

    >>> complete_scores("overlap,ble")
    ['overlap,bleu1']
    """
    before, comma, last = incomplete.rpartition(",")
    names = [*api.GROUPS, *api.SCORES]
    return [f"{before}{comma}{name}" for name in names if name.startswith(last)]


def complete_stage(incomplete: str) -> list[str]:
    """Kinds of stages that begin so."""
    return [stage.use for stage in api.describe_stages() if stage.use.startswith(incomplete)]


def _models(kind: str, incomplete: str) -> list[str]:
    models = api.list_models()
    return [model.name for model in models if model.kind == kind and model.name.startswith(incomplete)]
