"""The options of commands that translate: languages, device, number format, and how an endpoint is asked."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property, wraps
from typing import Any, get_type_hints

from paraloom import workflows
from paraloom.cli import options


@dataclass(frozen=True, kw_only=True)
class TranslatorOptions:
    """The options that `translating` gives a command."""

    model: options.Model = None
    from_: options.From = None
    to: options.To = None
    precision: options.Precision = None
    long: options.Long = None
    device: options.Device = None
    concurrency: options.Concurrency = None
    max_requests: options.MaxRequests = None
    max_tokens: options.MaxTokens = None
    max_failures: options.MaxFailures = None
    endpoint: options.Endpoint = None

    @cached_property
    def _used(self) -> Any:
        return workflows.use_device(self.device)

    def named(self, translator: str, output: str) -> Any:
        """The translator of that name with these options.

        Args:
            translator: A name, a folder, or the address of an endpoint.
            output: What is written: the answers of an endpoint are kept beside it.

        Raises:
            ConfigError: The translator does not have one of the options, or the device is not there.
        """
        return workflows.named_translator(
            translator,
            output=output,
            settings=self.endpoint or (),
            model=self.model,
            source=self.from_,
            target=self.to,
            precision=workflows.precision_on(self._used, self.precision),
            long=self.long,
            concurrency=self.concurrency,
            max_requests=self.max_requests,
            max_tokens=self.max_tokens,
            max_failures=self.max_failures,
        )

    def workers(self, workers: int | None) -> int | None:
        """Number of worker processes: one for each GPU that was named, unless a number was named, too.

        Args:
            workers: What was named.
        """
        count: int | None = workflows.workers_on(self._used, workers)
        return count


def translating(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of `TranslatorOptions` in place of its parameter `translation`.

    Args:
        command: The function of the command; it is called with a `TranslatorOptions` as `translation`.
    """
    hints = get_type_hints(command, include_extras=True)
    own_hints = get_type_hints(TranslatorOptions, include_extras=True)
    own = [
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=own_hints[f.name])
        for f in fields(TranslatorOptions)
    ]
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name == "translation":
            parameters += own
        else:
            keyword = inspect.Parameter.KEYWORD_ONLY
            parameters.append(parameter.replace(kind=keyword, annotation=hints[parameter.name]))

    @wraps(command)
    def run(**values: Any) -> None:
        given = {f.name: values.pop(f.name) for f in fields(TranslatorOptions) if f.name in values}
        command(**values, translation=TranslatorOptions(**given))

    # Typer reads options from the signature, and their types from the annotations.
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
