"""Translators and language models behind HTTP endpoints, as users name them on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from paraloom.api.outputs import files_named
from paraloom.core.errors import ConfigError
from paraloom.core.protocols import Variant
from paraloom.core.references import reference_fields, split_reference
from paraloom.core.secrets import redacted
from paraloom.core.stage import Ref, Stage
from paraloom.io.compression import PIPE
from paraloom.mt.endpoint_config import EndpointConfig, is_endpoint
from paraloom.mt.prompts import JUDGE
from paraloom.stages.translators import LoadTranslator

if TYPE_CHECKING:
    from paraloom.mt.endpoint import EndpointTranslator

ANSWERS = ".answers.sqlite"
"""End of the name of the file of answers beside an output."""


def named_translator(
    reference: str | Path, *, output: str = PIPE, precision: str | None = None
) -> str | LoadTranslator | EndpointTranslator:
    """The translator that a reference names: `NAME`, `FOLDER` or `URL`, with settings as `NAME?key=value&key=value`."""
    from paraloom.mt.endpoint import EndpointTranslator

    name, settings = split_reference(str(reference))
    if is_endpoint(name):
        given = reference_fields(EndpointConfig, settings, f"the endpoint '{name}'", without=("url",))
        if "model" not in given:
            raise ConfigError(
                f"the endpoint {redacted(name)} needs the name of a model, and languages",
                remedy=f"Name them as the server does: '{redacted(name)}?model=NAME&from=de&to=en'.",
            )
        if "answers" not in given and output != PIPE:
            given["answers"] = str(answers_file(output))
        return EndpointTranslator(name, **given)
    given = reference_fields(LoadTranslator, settings, f"the translator '{name}'", without=("model", "name"))
    if precision is not None:
        given.setdefault("precision", precision)
    return LoadTranslator(model=_absolute(name), **given) if given else name


def judge_stages(judge: str | Path, *, name: str) -> tuple[list[Stage], Ref, dict[str, str]]:
    """The stages that bring a judge of meaning in, what later stages refer to, and the settings of a cross-encoder."""
    from paraloom.stages.endpoints import LoadEndpoint

    reference, settings = split_reference(str(judge))
    if is_endpoint(reference):
        owner = f"the judge '{redacted(reference)}'"
        given = {"prompt": JUDGE} | reference_fields(
            EndpointConfig, settings, owner, without=("url", "source", "target")
        )
        if "model" not in given:
            raise ConfigError(
                f"{owner} needs the name of a model", remedy=f"Name it as the server does: '{reference}?model=NAME'."
            )
        stage = LoadEndpoint(name=name, url=reference, **given)
        return [stage], stage, {}
    if unknown := next((key for key in settings if key not in ("file", "label")), None):
        raise ConfigError(f"a cross-encoder has no setting '{unknown}'", remedy="Its settings: file, label.")
    return [], Path(reference).absolute(), settings


def with_answers(reference: str, output: str | Path) -> str:
    """A reference to an endpoint with a file of answers beside an output, unless it names one; others as they are."""
    name, settings = split_reference(reference)
    if not is_endpoint(name) or "answers" in settings or str(output) == PIPE:
        return reference
    return f"{reference}{'&' if settings else '?'}answers={quote(str(answers_file(output)))}"


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
