"""Stages that bring language models into a pipeline as translators: behind an HTTP endpoint, or from a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar

from paraloom.core.config import base_config
from paraloom.core.digests import file_digest
from paraloom.core.stage import Fit, Json, StageContext
from paraloom.mt.endpoint import ENDPOINT_FILE
from paraloom.mt.endpoint_config import EndpointConfig
from paraloom.mt.language_model import LANGUAGE_MODEL_FILE, LanguageModelConfig

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
        from paraloom.mt.endpoint import EndpointTranslator

        config = base_config(EndpointConfig, self)
        beside = folder.parent / ANSWERS
        kept = config.answers or str(beside)
        values = {f.name: getattr(config, f.name) for f in fields(EndpointConfig)} | {"answers": kept}
        translator = EndpointTranslator.of(EndpointConfig(**values))
        known = translator.capabilities
        translator.save(folder, answers="" if config.answers else f"../{ANSWERS}")
        translator.close()
        return {"model": self.model, **known._asdict()}


@dataclass(frozen=True, kw_only=True)
class LoadLanguageModel(LanguageModelConfig, Fit):
    """Converts a language model of transformers (Llama, Mistral, Gemma, Qwen) to CTranslate2, as a translator.

    Args:
        model: A folder with config.json, safetensors and the files of the tokenizer.
        precision: Precision of the weights; see `paraloom.mt.checkpoint.PRECISIONS`.

    For the other fields see :class:`~paraloom.mt.language_model.LanguageModelConfig`.

    Raises:
        ConfigError: A value is out of range.
        ModelError: When it runs: the folder has no language model of a known kind.
        MissingExtraError: When it runs: transformers is not installed.

    Example:
        >>> LoadLanguageModel(model="Qwen3-0.6B", source="de", target="en").precision
        'int8'
    """

    sentinel: ClassVar[str] = LANGUAGE_MODEL_FILE

    model: str
    precision: str = "int8"

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Convert the checkpoint into the artifact."""
        from paraloom.mt.language_model import convert_language_model

        engine = folder / "checkpoint" / "engine"
        config = base_config(LanguageModelConfig, self)
        convert_language_model(self.model, engine, precision=self.precision, config=config)
        for path in sorted(engine.iterdir()):
            path.replace(folder / path.name)
        return {"model": Path(self.model).name, "weights": file_digest(folder / "model.bin")[:12]}


def endpoint_usage(folders: Sequence[Path]) -> Mapping[str, Json]:
    """What the endpoints among translators were asked so far, for run.json; empty without one."""
    from paraloom.mt.endpoint import EndpointTranslator

    usage = []
    for folder in folders:
        if (folder / ENDPOINT_FILE).is_file():
            translator = EndpointTranslator.load(folder)
            usage.append(translator.usage().to_dict())
            translator.close()
    return {name: sum(values[name] for values in usage) for name in usage[0]} if usage else {}
