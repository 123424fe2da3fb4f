"""The type of the fixture `paraloom`, which calls the command line in this process."""

from __future__ import annotations

from collections.abc import Callable

Command = Callable[..., tuple[int, str, str]]
"""Arguments → exit status, standard output, standard error."""
