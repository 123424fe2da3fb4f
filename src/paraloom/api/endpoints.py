"""Language models as translators, behind HTTP endpoints or in folders, as users name them on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraloom.api.outputs import files_named
from paraloom.core.config import type_hints
from paraloom.core.errors import ConfigError, nearest
from paraloom.core.protocols import Variant
from paraloom.io.compression import PIPE
from paraloom.mt.endpoint_config import EndpointConfig
from paraloom.mt.loading import ENSEMBLE_REMEDY
from paraloom.stages.translators import LoadTranslator

if TYPE_CHECKING:
    from paraloom.mt.endpoint import EndpointTranslator
    from paraloom.mt.language_model import LanguageModelTranslator

ANSWERS = ".answers.sqlite"
"""End of the name of the file of answers beside an output."""

_OWN_OPTIONS = {
    "model": "--model",
    "source": "--from",
    "target": "--to",
    "concurrency": "--concurrency",
    "max_requests": "--max-requests",
    "max_tokens": "--max-tokens",
    "max_failures": "--max-failures",
    "precision": "--precision",
    "long": "--long",
}
"""Field → its own option; `--endpoint KEY=VALUE` sets the others."""

_TRANSLATOR_OPTIONS = ("source", "target", "precision", "long")
"""Fields of `LoadTranslator` that have options."""

SETTINGS = tuple(f.name for f in fields(EndpointConfig) if f.name not in _OWN_OPTIONS and f.name != "url")
"""What `--endpoint KEY=VALUE` sets."""


def named_translator(
    translator: str, *, output: str = PIPE, settings: Sequence[str] = (), **options: Any
) -> str | LoadTranslator | EndpointTranslator | LanguageModelTranslator:
    """A translator as the command line names it: an endpoint by its address, any other by its name or folder."""
    from paraloom.mt.endpoint import EndpointTranslator
    from paraloom.mt.endpoint_config import is_endpoint
    from paraloom.mt.language_model import LanguageModelConfig, is_language_model, load_language_model

    given = {name: value for name, value in options.items() if value is not None}
    if is_language_model(translator):
        given |= dict(_setting(text) for text in settings)
        known = [f.name for f in fields(LanguageModelConfig)]
        for name in given:
            if name not in known:
                raise ConfigError(
                    f"'{_OWN_OPTIONS.get(name, name)}' is for an endpoint, not for the language model '{translator}'",
                    remedy=f"Language models have --from, --to and --endpoint with {', '.join(known[2:])}.",
                )
        return load_language_model(translator, **given)
    if not is_endpoint(translator):
        wrong = [_OWN_OPTIONS[name] for name in given if name not in _TRANSLATOR_OPTIONS]
        wrong += ["--endpoint"] * bool(settings)
        if wrong:
            raise ConfigError(
                f"{wrong[0]} is for language models and endpoints, not for '{translator}'",
                remedy="Name an address such as http://127.0.0.1:8000/v1 or the folder of a language model as the "
                "translator, or leave the option out.",
            )
        refuse_ensemble(translator)
        return LoadTranslator(model=_absolute(translator), **given) if given else translator
    if wrong := [_OWN_OPTIONS[name] for name in ("precision", "long") if name in given]:
        raise ConfigError(
            f"{wrong[0]} is for models on this machine, not for the endpoint '{translator}'",
            remedy="Leave the option out.",
        )
    if "model" not in given:
        raise ConfigError("the model of the endpoint is missing", remedy="Name it as the server does: --model NAME.")
    given |= dict(_setting(text) for text in settings)
    if "answers" not in given and output != PIPE:
        given["answers"] = str(answers_file(output))
    return EndpointTranslator(translator, **given)


def refuse_ensemble(translator: object) -> None:
    """Raise ConfigError if a name joins translators by '+', and is not that of a folder."""
    named = isinstance(translator, str) and "+" in translator and "://" not in translator
    if named and not Path(str(translator)).exists():
        raise ConfigError(f"translator '{translator}': ensembles are gone", remedy=ENSEMBLE_REMEDY)


def _absolute(translator: str) -> str:
    """A folder as a run can find it from anywhere; a name as it is."""
    return str(Path(translator).absolute()) if Path(translator).is_dir() else translator


def answers_file(output: str | Path) -> Path:
    """The file beside an output that keeps the answers of an endpoint: a repeated command pays for none of them."""
    path = files_named(str(output).rstrip("/"))[0]
    return path.with_name(path.name + ANSWERS).absolute()


def without_rejected(
    chunks: Iterable[list[str]], translated: Iterable[list[list[Variant]]], reject: Callable[[int, str, str], None]
) -> Iterator[list[list[Variant]]]:
    """Leave out variants that have a reason for being rejected."""
    line = 0
    for chunk, of_chunk in zip(chunks, translated, strict=True):
        groups = []
        for text, variants in zip(chunk, of_chunk, strict=True):
            line += 1
            good = [variant for variant in variants if not variant.reason]
            if not good:
                reject(line, str(variants[0].reason), text)
            groups.append(good or variants[:1])
        yield groups


def _setting(text: str) -> tuple[str, Any]:
    """KEY=VALUE as a field of `EndpointConfig` and its value."""
    name, equals, value = text.partition("=")
    name = name.strip().replace("-", "_")
    if name in _OWN_OPTIONS:
        raise ConfigError(f"'{name}' has an option of its own", remedy=f"Write {_OWN_OPTIONS[name]} instead.")
    if name not in SETTINGS or not equals:
        raise ConfigError(
            f"unknown setting '{text}' of an endpoint{nearest(name, SETTINGS)}", remedy="Write KEY=VALUE."
        )
    kind = type_hints(EndpointConfig)[name]
    try:
        return name, kind(value)
    except ValueError:
        wanted = "a whole number" if kind is int else "a number"
        raise ConfigError(f"setting '{name}' of an endpoint: expected {wanted}, got '{value}'") from None
