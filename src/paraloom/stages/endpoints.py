"""Stages that bring language models behind an HTTP endpoint into a pipeline as translators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar

from paraloom.core.config import base_config
from paraloom.core.stage import Fit, Json, StageContext
from paraloom.mt.endpoint import ENDPOINT_FILE, EndpointTranslator
from paraloom.mt.endpoint_config import EndpointConfig

ANSWERS = "answers.sqlite"
"""File of the answers, beside the artifact."""


@dataclass(frozen=True, kw_only=True)
class LoadEndpoint(EndpointConfig, Fit):
    """A language model behind an HTTP endpoint of the OpenAI protocol, as a translator for later stages.

    What the server supports is probed with a few short requests. Answers are kept in a file beside the artifact, shared
    by all workers: a run that resumes pays for none of them twice. Workers on several machines need a local disk each.

    For the fields see :class:`~paraloom.mt.endpoint_config.EndpointConfig`. Those that do not change translations
    (budgets, concurrency, prices …) can be changed, and the run resumes.

    Raises:
        ConfigError: A value is out of range; or, when it runs, the server refuses the key or does not know the model.
        RunError: When it runs: the server does not answer.

    Example:
        >>> LoadEndpoint(url="http://127.0.0.1:8000/v1", model="qwen3", source="de", target="en").concurrency
        8
    """

    sentinel: ClassVar[str] = ENDPOINT_FILE

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Probe the server, and write the artifact; return what it supports."""
        config = base_config(EndpointConfig, self)
        beside = folder.parent / ANSWERS
        kept = config.answers or str(beside)
        values = {f.name: getattr(config, f.name) for f in fields(EndpointConfig)} | {"answers": kept}
        translator = EndpointTranslator.of(EndpointConfig(**values))
        known = translator.capabilities
        translator.save(folder, answers="" if config.answers else f"../{ANSWERS}")
        translator.close()
        return {"model": self.model, **known._asdict()}


def endpoint_usage(folders: Sequence[Path]) -> Mapping[str, Json]:
    """What the endpoints among translators were asked so far, for run.json; empty without one."""
    usage = []
    for folder in folders:
        if (folder / ENDPOINT_FILE).is_file():
            translator = EndpointTranslator.load(folder)
            usage.append(translator.usage().to_dict())
            translator.close()
    return {name: sum(values[name] for values in usage) for name in usage[0]} if usage else {}
