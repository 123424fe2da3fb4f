"""Packages of optional extras that are imported when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paraloom.core.errors import MissingExtraError


class OptionalModule:
    """A module of a package that only an extra installs; it is imported when one of its attributes is first read.

    Args:
        name: The module, such as `"scipy.sparse"`.
        purpose: What needs it, as the subject of the error: `"aligning documents"`.
        extra: The extra of paraloom that installs it.

    Raises:
        MissingExtraError: On reading an attribute, where the package is not installed.

    Example:
        >>> statistics = OptionalModule("statistics", "counting", "numbers")
        >>> statistics.mean([1, 2, 3])
        2
        >>> OptionalModule("no_such_package", "counting", "numbers").mean
        Traceback (most recent call last):
        ...
        paraloom.core.errors.MissingExtraError: counting needs packages that are not installed.
        Run: pip install 'paraloom[numbers]'
    """

    def __init__(self, name: str, purpose: str, extra: str) -> None:
        self._name, self._purpose, self._extra = name, purpose, extra

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        try:
            module = import_module(self._name)
        except ModuleNotFoundError as error:
            raise MissingExtraError.for_verb(self._purpose, self._extra) from error
        value = getattr(module, attribute)
        setattr(self, attribute, value)
        return value
