"""Files that a command is given as URLs: fetched before it begins, so that every command reads them like others."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path, PurePosixPath
from typing import Any

from paraloom.core.errors import ConfigError, redacted
from paraloom.core.remote_files import as_url, fetched, is_url
from paraloom.io.store import Store
from paraloom.pipeline.remote import local_copy
from paraloom.pipeline.status import RUN_FILE

_WRITTEN = frozenset(["output", "log_file"])
"""Parameters that name what a command writes."""


def with_urls(command: Callable[..., None], name: str) -> Callable[..., None]:
    """The command, with URLs among its inputs replaced by what they were fetched to.

    Args:
        command: The function of the command.
        name: The command: only `run` may have a URL for its output.
    """

    @wraps(command)
    def run(**values: Any) -> None:
        for parameter, value in values.items():
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
    return type(value)(_run_or_file(as_url(value))) if isinstance(value, str) else _run_or_file(as_url(value))


def _run_or_file(url: str) -> Path:
    copy = local_copy(url)
    if (copy / RUN_FILE).is_file():
        return copy
    if not PurePosixPath(url).suffix and Store(url).read(RUN_FILE) is not None:
        raise ConfigError(
            "this run has no copy on this machine",
            file=redacted(url),
            remedy=f"Make one with `paraloom run PIPELINE -o {redacted(url)}`, or name the folder of one stage.",
        )
    return fetched(url)
