"""What a command declares, and the parameters that follow from it: out of signatures, stages and docstrings."""

from __future__ import annotations

import builtins
import inspect
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, dataclass, field, fields, replace
from enum import Enum
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from paraloom.cli.shared import GENERAL, SHARED
from paraloom.core.config import type_hints
from paraloom.core.errors import ConfigError
from paraloom.core.lazy import load_object
from paraloom.core.stage import Fit, Map, Source
from paraloom.pipeline.registry import load_stage
from paraloom.pipeline.stage_docs import describe_fields, parse_docstring

REQUIRED = "required"
"""Default of a parameter that must be given."""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """An option or argument of a command."""

    name: str  # The parameter of the function that the command calls
    flags: tuple[str, ...] = ()  # Names of the option; empty for an argument
    kind: str = "text"  # text, integer, number, flag or choice
    help: str = ""  # The line of `--help`
    default: Any = None  # Value without the option; REQUIRED if it must be given
    repeated: bool = False  # Several values may be given
    separated: bool = False  # Values may also be separated by commas
    choices: tuple[str, ...] = ()  # The values of a choice
    low: float | None = None  # Minimum
    metavar: str | None = None  # What stands for the value
    complete: str = ""  # Name of a function of `completion`
    panel: str | None = None  # Heading in `--help`
    role: str = ""  # input (a file or folder that is read), output, pairs, encoder, translator, paraphraser, or nothing
    everyday: bool = True  # Plain `--help` shows it

    def as_dict(self) -> dict[str, Any]:
        """What differs from the defaults, for the index."""
        plain = {item.name: item.default for item in fields(self)}
        return {key: value for key, value in asdict(self).items() if value != plain[key] or key == "name"}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Parameter:
        lists: dict[str, Any] = {key: tuple(entry[key]) for key in ("flags", "choices") if key in entry}
        return cls(**{**entry, **lists})


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command: the function that it calls, and what is not said there already."""

    name: str  # Words of the command, such as `train encoder`
    # A function of the command line; what it takes as `**options` are the parameters of `of`. Default: `of` is called,
    # and `show` prints what it returns.
    run: Callable[..., None] | None = None
    # Functions of `paraloom.api`, by name, or `module:Class.method`, separated by spaces: what the first one takes as
    # `**options` are the parameters of the next.
    of: str = ""
    # Kinds of stages whose fields `**config` of those functions sets, separated by spaces; or `module:Class` of a
    # configuration.
    stage: str = ""
    everyday: str = ""  # Options that plain `--help` shows, separated by spaces. Default: all.
    keys: str = ""  # The fields of the stage that are options, separated by spaces. Default: all.
    leave_out: str = ""  # Parameters without an option
    # Parameter → names of its option, separated by spaces; '' for an argument.
    flags: Mapping[str, str] = field(default_factory=dict)
    # Parameter → further attributes of `Parameter`.
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # Called with the result and the values of the command. Default: what `output.show` does with a result.
    show: Callable[[Any, Mapping[str, Any]], None] | None = None
    then: str = ""  # The next likely command, after `paraloom`; `{output}` stands for what was written
    device: bool = False  # It runs models on the device that --device names
    help: str = ""  # What it does. Default: summary of `of`.
    examples: Sequence[str] = ()  # Calls of it
    # The output is a run folder, which says itself what is done, or a page that is made again at will.
    resumes: bool = False
    watched: bool = False  # It may take long, and can be watched

    def functions(self) -> list[Callable[..., Any]]:
        """The functions whose parameters are options: the one that is called first."""
        return [*([self.run] if self.run else []), *map(_target, self.of.split())]

    def text(self) -> str:
        text = self.help or described(self.functions()[0])[0]
        plain = self.name.removeprefix("research ")
        text = text.replace(f"`paraloom {plain} ", f"`paraloom {self.name} ").replace(
            f"`paraloom {plain}`", f"`paraloom {self.name}`"
        )
        calls = (f"Example: `paraloom {f'{self.name} {example}'.strip()}`" for example in self.examples)
        return "\n\n".join([text, *calls])

    def parameters(self) -> list[Parameter]:
        """All parameters, in the order of `--help`."""
        everyday = {*self.everyday.split(), "output"}
        result = []
        for one in map(self._as_declared, self._derived()):
            shown = not self.everyday or one.name in everyday or not one.flags or one.default == REQUIRED
            result.append(replace(one, everyday=one.everyday and shown))
        result = [replace(one, help=_with_flags(one, result)) for one in result]
        return sorted(result, key=_place)

    def _as_declared(self, one: Parameter) -> Parameter:
        if one.name in self.flags:
            flags = tuple(self.flags[one.name].split())
            # Pairs of an option may be several corpora, not the files of both sides.
            one = replace(one, flags=flags, role="input" if flags and one.role == "pairs" else one.role)
        if not one.flags and one.metavar is None:
            metavar = one.name.upper() + ("..." if one.repeated else "")
            one = replace(one, metavar=metavar if one.default == REQUIRED else f"[{metavar}]")
        one = replace(one, **self.settings.get(one.name, {}))
        repeatable = one.repeated and one.flags and not one.separated and "Repeat" not in one.help
        return replace(one, help=f"{one.help} Repeatable.") if repeatable else one

    def _derived(self) -> Iterator[Parameter]:
        left_out = set(self.leave_out.split())
        known: set[str] = set()
        for function in self.functions():
            _, helps = described(function)
            takes_more = False
            for name, one in parameters_of(function):
                if one.kind is one.VAR_KEYWORD:
                    takes_more = True
                elif name not in known | left_out and name != "self":
                    known.add(name)
                    # What stands before * in a function of the API is an argument; output never is.
                    positional = one.kind is one.POSITIONAL_OR_KEYWORD
                    yield parameter(name, one.annotation, one.default, helps.get(name, ""), positional)
            if not takes_more:
                break
        keys = self.keys.split()
        for use in self.stage.split():
            for field_ in stage_parameters(use):
                if field_.name not in known | left_out and (not keys or field_.name in keys):
                    known.add(field_.name)
                    yield field_


def _target(of: str) -> Callable[..., Any]:
    """A function, or a class of settings, by its name."""
    module, _, path = of.rpartition(":")
    function: Callable[..., Any] = attrgetter(path)(import_module(module or "paraloom.api"))
    return function


def _with_flags(one: Parameter, others: Sequence[Parameter]) -> str:
    """The help of a parameter, in which the other parameters have the names of their options."""
    flags = {f"`{other.name}`": f"`{other.flags[0]}`" for other in others if other.flags and other.name != one.name}
    return re.sub(r"`\w+`", lambda name: flags.get(name[0], name[0]), one.help)


def _place(one: Parameter) -> tuple[bool, bool, bool]:
    """Arguments as they are, then the options that are required, the others, and the general ones."""
    return bool(one.flags), bool(one.flags) and one.default != REQUIRED, bool(one.flags) and one.name in GENERAL


def parameter(name: str, annotation: object, default: object, help_: str, positional: bool = False) -> Parameter:
    """A parameter of a function, or a field of a stage, as an option or argument."""
    shared = SHARED.get(name, {})
    base = _kind(list(_parts(annotation)))
    is_on = base["kind"] == "flag" and default is True
    flags = () if positional and name != "output" else _flags(name, shared, is_on)
    base |= {key: value for key, value in shared.items() if key not in ("flags", "help")}
    help_ = _help(name, help_, shared, bool(flags))
    required = default is inspect.Parameter.empty or default is MISSING
    return Parameter(name=name, flags=flags, help=help_, default=REQUIRED if required else plain(default), **base)


def _flags(name: str, shared: Mapping[str, Any], is_on: bool) -> tuple[str, ...]:
    """The names of an option; of a flag that is on without it, that which turns it off."""
    flags = shared.get("flags", (f"--{name.strip('_').replace('_', '-')}",))
    return (f"{flags[0]}/--no-{flags[0][2:]}",) if is_on and "/" not in flags[0] else tuple(flags)


def _help(name: str, said: str, shared: Mapping[str, Any], is_option: bool) -> str:
    """What the function says, or what is said once of all options, or arguments, of this name."""
    once: str = shared.get("help", "")
    is_general = name in GENERAL or (shared.get("role") == "pairs" and not is_option)
    return once or said if is_general else said or once


def _parts(annotation: object) -> Iterator[Any]:
    if get_origin(annotation) in (Union, UnionType):
        for part in get_args(annotation):
            yield from _parts(part)
    elif annotation is not NoneType:
        yield annotation


_SEQUENCES = (list, tuple, Sequence, Collection, Iterable)


def _kind(parts: Sequence[object]) -> dict[str, Any]:
    """Kind, repetition and role of a value of one of these types."""
    sequences = [part for part in parts if get_origin(part) in _SEQUENCES]
    members = [part for part in parts if part not in sequences]
    for sequence in sequences:
        members += _parts((get_args(sequence) or (str,))[0])
    collected: dict[str, object] = {"repeated": bool(sequences)}
    names_files = any(getattr(part, "__name__", "") in ("Path", "Stage") for part in members)
    if sequences and not names_files and not isinstance(parts[0], type):
        collected["separated"] = get_origin(parts[0]) is not list
    if bool in members:
        return collected | {"kind": "flag"}
    if choices := next(filter(None, map(_choices, members)), None):
        return collected | {"kind": "choice", "choices": choices}
    if names_files:
        return collected | {"kind": "text", "role": "input"}
    return collected | {"kind": "text" if collected.get("separated") else _scalar(members), "role": ""}


def _scalar(members: Sequence[object]) -> str:
    """The kind that takes values of all of these types."""
    kinds = {str: "text", float: "number", int: "integer"}
    return next((kind for one, kind in kinds.items() if one in members), "text")


def _choices(annotation: object) -> tuple[str, ...]:
    if get_origin(annotation) is Literal:
        return tuple(str(value) for value in get_args(annotation) if value)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return tuple(str(value.value) for value in annotation)
    return ()


def plain(value: object) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value] or None
    return value


def parameters_of(function: Callable[..., object]) -> Iterator[tuple[str, inspect.Parameter]]:
    unwrapped = inspect.unwrap(function)
    known = getattr(unwrapped, "__globals__", None) or vars(import_module(unwrapped.__module__))
    # An alias that is written as a string names classes that are imported for type checkers alone.
    names = _Names({name: Path if isinstance(value, str) else value for name, value in known.items()})
    yield from inspect.signature(function, globals={}, locals=names, eval_str=True).parameters.items()


class _Names(dict[str, Any]):
    """Names of a module; one that is imported for type checkers alone stands for something with a path."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, Path)


def stage_parameters(use: str) -> Iterator[Parameter]:
    """The fields of a stage, without its references to other stages and what all stages have; or a configuration's."""
    kind: type[Any] = load_object(use) if ":" in use else load_stage(use)
    general = {item.name for base in (Source, Map, Fit) if issubclass(kind, base) for item in fields(base)}
    # A configuration may name classes that its module imports for type checkers alone.
    hints = {name: one.annotation for name, one in parameters_of(kind)} if ":" in use else type_hints(kind)
    helps = describe_fields(kind)
    for item in fields(kind):
        if item.name not in general and item.name not in getattr(kind, "inputs", ()):
            one = parameter(item.name, hints[item.name], _default(item), first_sentence(helps[item.name]))
            # Without the option it is the function that decides, which may choose another stage.
            unsaid = one.kind != "flag" and one.default not in (None, "", REQUIRED) and "Default:" not in one.help
            shown = f" Default: {one.default}." if unsaid else ""
            yield replace(one, default=False if one.kind == "flag" else None, help=f"{one.help}{shown}")


def _default(item: Field[Any]) -> object:
    return item.default if item.default_factory is MISSING else item.default_factory()


def described(function: Callable[..., object]) -> tuple[str, dict[str, str]]:
    """The description of a function, and the first sentence about each of its parameters."""
    text = inspect.getdoc(function) or ""
    collected = parse_docstring(text)
    body = text.partition("\nArgs:")[0].partition("\nReturns:")[0].rstrip()
    return body, {name: first_sentence(help_) for name, help_ in collected.args.items()}


def first_sentence(text: str) -> str:
    """The first sentence of a description, and the default if it follows, without the roles of reStructuredText."""
    text = re.sub(r":(?:class|func|mod):`~?([^`]+)`", r"`\1`", text)
    text = text.replace("``", "`").partition(" **")[0]
    first, *others = re.split(r"(?<=[.…])\s+(?=[A-Z`])", text, maxsplit=2)
    return f"{first} {others[0]}" if others and others[0].startswith("Default: ") else first


def converted(
    parameters: Mapping[str, Parameter], functions: Sequence[Callable[..., object]], values: dict[str, Any]
) -> None:
    """Give values the types that functions are annotated with, the first one before others, in place."""
    annotations = {name: one.annotation for function in reversed(functions) for name, one in parameters_of(function)}
    for name, value in values.items():
        declared = parameters[name]
        if declared.role in ("translator", "paraphraser"):  # an address is not a path
            continue
        if declared.separated and value is not None:
            items = [item.strip() for text in value for item in str(text).split(",")]
            value = [item for item in items if item]
        members = list(_parts(annotations.get(name, str)))
        try:
            values[name] = _typed(value, members)
        except ValueError:
            raise ConfigError(
                f"{declared.flags[0] if declared.flags else name.upper()}: expected whole numbers, got "
                f"'{','.join(map(str, value))}'",
                remedy="Write, for example, 2,3.",
            ) from None


def _typed(value: Any, members: Sequence[object]) -> Any:
    if isinstance(value, (list, tuple)):
        item_types = [item for one in members if get_origin(one) in _SEQUENCES for item in _parts(get_args(one)[0])]
        return [_typed(item, item_types) for item in value]
    if not isinstance(value, str):
        return value
    for member in members:
        if isinstance(member, type) and issubclass(member, Enum):
            return member(value)
    if str not in members and members == [Path]:
        return Path(value)
    is_number = str not in members or value.lstrip("-").isdecimal()
    return int(value) if int in members and is_number else value
