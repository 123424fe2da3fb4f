"""The options of commands that translate: languages, device, number format, and how an endpoint is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from paraloom import api
from paraloom.cli import options
from paraloom.cli.option_groups import with_options
from paraloom.core.errors import ConfigError


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
        return api.use_device(self.device)

    def named(self, translator: str | None, output: str) -> Any:
        """The translator of that name with these options.

        Args:
            translator: A name, a folder, or the address of an endpoint; None stays None, if no option is given.
            output: What is written: the answers of an endpoint are kept beside it.

        Raises:
            ConfigError: The translator does not have one of the options, or the device is not there; or an option is
                given without a translator.
        """
        if translator is None:
            if given := [f.name for f in fields(self) if getattr(self, f.name) is not None]:
                option = {"from_": "from"}.get(given[0], given[0]).replace("_", "-")
                raise ConfigError(f"--{option} is for a translator", remedy="Name one, or leave the option out.")
            return None
        return api.named_translator(
            translator,
            output=output,
            settings=self.endpoint or (),
            model=self.model,
            source=self.from_,
            target=self.to,
            precision=api.precision_on(self._used, self.precision),
            long=self.long,
            concurrency=self.concurrency,
            max_requests=self.max_requests,
            max_tokens=self.max_tokens,
            max_failures=self.max_failures,
        )

    def scoring(self, translator: str | None, output: str = "-") -> Any:
        """The same, of a translator that scores given translations, which an endpoint cannot.

        Args:
            translator: A name or a folder.
            output: What is written.

        Raises:
            ConfigError: It is an endpoint; or as `named` says.
        """
        if api.is_endpoint(translator):
            raise ConfigError(
                f"the endpoint {translator} cannot score given translations",
                remedy="Name a translator or the folder of a language model.",
            )
        return self.named(translator, output)

    def reversed(self) -> TranslatorOptions:
        """The same options for a translator in the other direction."""
        return replace(self, from_=self.to, to=self.from_)

    def workers(self, workers: int | None) -> int | None:
        """Number of worker processes: one for each GPU that was named, unless a number was named, too.

        Args:
            workers: What was named.
        """
        count: int | None = api.workers_on(self._used, workers)
        return count


_LOCAL = ("from_", "to", "precision", "long", "device")
"""Options of translators on this machine."""


def translating(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of `TranslatorOptions` in place of its parameter `translation`.

    Args:
        command: The function of the command; it is called with a `TranslatorOptions` as `translation`.
    """
    return with_options(command, "translation", TranslatorOptions)


def translating_here(command: Callable[..., None]) -> Callable[..., None]:
    """The same without the options of endpoints, for a command that cannot use one.

    Args:
        command: The function of the command.
    """
    return with_options(command, "translation", TranslatorOptions, _LOCAL)
