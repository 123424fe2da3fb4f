"""Files that a command is given as URLs: fetched before it begins, so that every command reads them like others."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from paraloom import api
from paraloom.core.errors import ConfigError
from paraloom.core.remote_files import as_url, is_url
from paraloom.core.secrets import redacted

_WRITTEN = frozenset(["output", "log_file"])
"""Parameters that name what a command writes."""

_ADDRESSES = frozenset(["address", "on_end_post"])
"""Parameters that name a server, not a file."""


def with_urls(command: Callable[..., None], name: str) -> Callable[..., None]:
    """The command, with URLs among its inputs replaced by what they were fetched to.

    Args:
        command: The function of the command.
        name: The command: only `run` may have a URL for its output.
    """

    @wraps(command)
    def run(**values: Any) -> None:
        for parameter, value in values.items():
            if parameter in _ADDRESSES:
                continue
            if parameter not in _WRITTEN:
                values[parameter] = _local(value)
            elif is_url(value) and (name, parameter) != ("run", "output"):
                raise ConfigError(
                    "cannot write to a URL: only the folder of a run may be one",
                    file=redacted(as_url(value)),
                    remedy="Name a file or folder on this machine, and copy it then.",
                )
        command(**values)

    return run


def _local(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_local(item) for item in value)
    if not is_url(value):
        return value
    path = api.fetch_input(value)
    return str(path) if isinstance(value, str) else path
