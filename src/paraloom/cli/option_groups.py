"""Options that several commands share, bundled: a dataclass of them in place of one parameter of a command."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import wraps
from typing import Any, get_type_hints


def with_options(
    command: Callable[..., None], parameter: str, group: type[Any], names: Sequence[str] | None = None
) -> Callable[..., None]:
    """A command with the options of a group in place of one of its parameters.

    Args:
        command: The function of the command; it is called with a `group` as that parameter.
        parameter: The name of the parameter.
        group: A dataclass whose fields are options, each with a default.
        names: Fields that the command has; the others keep their defaults. Default: all.
    """
    hints = get_type_hints(command, include_extras=True)
    own_hints = get_type_hints(group, include_extras=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    own = [
        inspect.Parameter(field.name, keyword, default=field.default, annotation=own_hints[field.name])
        for field in fields(group)
        if names is None or field.name in names
    ]
    parameters: list[inspect.Parameter] = []
    for one in inspect.signature(command).parameters.values():
        parameters += own if one.name == parameter else [one.replace(kind=keyword, annotation=hints[one.name])]

    @wraps(command)
    def run(**values: Any) -> None:
        given = {option.name: values.pop(option.name) for option in own if option.name in values}
        command(**values, **{parameter: group(**given)})

    # Typer reads options from the signature, and their types from the annotations.
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run
