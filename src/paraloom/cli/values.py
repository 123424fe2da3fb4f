"""Values of options as functions take them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import typer

from paraloom import api
from paraloom.core.errors import ConfigError


def pairs(paths: list[str]) -> str:
    """Pairs as given on the command line: one name, or the files of both sides."""
    if len(paths) == 1:
        return paths[0]
    if len(paths) > 2:
        raise typer.BadParameter(f"expected pairs in one file, or the files of both sides, got {len(paths)} files")
    for path in paths:
        if Path(path).is_dir() or api.without_compression(path).suffix in api.READERS:
            raise typer.BadParameter(
                f"two files are the two sides, a sentence per line, but {path} is a table or a folder of pairs; "
                "two tables of records with a path such as messages.*.content are named as '{a,b}.jsonl'"
            )
    name: str = api.join_sides(*paths)
    return name


def named_models(beside: Iterable[str] | None) -> dict[str, str]:
    """The folders or references of --beside NAME=REFERENCE by their names."""
    named: dict[str, str] = {}
    for given in beside or ():
        name, equals, reference = given.partition("=")
        if not (name and equals and reference):
            raise ConfigError(
                f"--beside '{given}': expected NAME=REFERENCE", remedy="Write, for example, older=runs/1."
            )
        if name in named:
            raise ConfigError(f"--beside: '{name}' is given twice", remedy="Give each paraphraser another name.")
        named[name] = reference
    return named
