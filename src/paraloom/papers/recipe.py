"""A recipe makes the papers' tables from raw data: pipelines that are run first, then tables from what they wrote."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paraloom.core.config import Config, check_keys
from paraloom.core.errors import ConfigError, nearest
from paraloom.papers.park17.selftraining import selftrain
from paraloom.papers.published import PAPERS
from paraloom.papers.runner import reproduce_tables
from paraloom.papers.tables import ReproducedTable
from paraloom.pipeline.fit import ARTIFACT
from paraloom.pipeline.pipeline import Pipeline
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.toml import expand_variables

_REFERENCE = re.compile(r"@([\w-]+)(?:/([\w-]+))?((?:/[\w.-]+)*)")


@dataclass(frozen=True, kw_only=True)
class RecipeRun(Config):
    """A run that tables or other runs need.

    Args:
        name: Name of its folder.
        pipeline: File of a pipeline.
        loop: File of a loop of `selftrain`, instead of a pipeline.
        seed: Seed; default: that of the file.
        variables: Environment variables that the file reads, which may refer to other runs.
        needs: Environment variables that the caller has to set; without them 'all' leaves out what needs the run.
    """

    name: str
    pipeline: str = ""
    loop: str = ""
    seed: int | None = None
    variables: dict[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()

    def validate(self) -> None:
        if bool(self.pipeline) == bool(self.loop):
            raise ConfigError(f"run '{self.name}': expected one of the keys 'pipeline' and 'loop'")


@dataclass(frozen=True, kw_only=True)
class RecipeTables(Config):
    """Tables that are made with the same settings.

    Args:
        name: Name of the folder of their runs.
        tables: Names of the tables.
        settings: Arguments of `reproduce_tables`. '@RUN' is the folder of a run, '@RUN/STAGE' what a stage wrote,
            '@RUN/STAGE/FILE' a file of it.
        needs: Environment variables that the caller has to set; without them 'all' leaves the tables out.
    """

    name: str
    tables: tuple[str, ...]
    settings: dict[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Recipe(Config):
    """Contents of a recipe's file: the runs, each after those that it refers to, and the tables."""

    run: tuple[RecipeRun, ...] = ()
    tables: tuple[RecipeTables, ...] = ()


def read_recipe(path: str | Path) -> Recipe:
    """Read a recipe from a TOML file."""
    path = Path(path)
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(
            f"the recipe cannot be read: {error}", file=path, remedy="See examples/papers.toml."
        ) from error
    try:
        listed: dict[Any, list[Mapping[str, Any]]] = {
            RecipeRun: document.pop("run", []),
            RecipeTables: document.pop("tables", []),
        }
        for kind, items in listed.items():
            for item in items:
                check_keys(kind, item)
        runs, tables = (tuple(kind(**item) for item in items) for kind, items in listed.items())
        if document:
            raise ConfigError(f"unknown key '{next(iter(document))}'", remedy="Known are [[run]] and [[tables]].")
        _check(runs, tables)
    except ConfigError as error:
        raise error.at(file=path) from None
    return Recipe(run=runs, tables=tables)


def reproduce_recipe(
    names: Sequence[str], recipe: str | Path, folder: str | Path = "runs/papers", *, workers: int | None = None
) -> Iterator[ReproducedTable]:
    """Make tables from raw data; if stopped, the same call resumes."""
    read = read_recipe(recipe)
    runs = _Runs(read, Path(recipe).parent, Path(folder).absolute(), workers)
    groups = [
        (group, [table for table in group.tables if table in names or ("all" in names and not runs.missing(group))])
        for group in read.tables
    ]
    known = [table for group in read.tables for table in group.tables]
    for name in names:
        if name != "all" and name not in known:
            raise ConfigError(f"the recipe does not make table '{name}'{nearest(name, known)}", file=Path(recipe))

    def tables() -> Iterator[ReproducedTable]:
        for group, wanted in groups:
            if wanted:
                settings = runs.resolved(group.settings)
                for table in reproduce_tables(wanted, folder=runs.folder / group.name, workers=workers, **settings):
                    table.write(runs.folder)
                    yield table

    return tables()


class _Runs:
    """The runs of a recipe, each made when the first reference to it is resolved."""

    def __init__(self, recipe: Recipe, base: Path, folder: Path, workers: int | None) -> None:
        self.folder = folder
        self._by_name = {run.name: run for run in recipe.run}
        self._base, self._workers = base, workers
        self._results: dict[str, RunResult | None] = {}

    def missing(self, group: RecipeTables) -> list[str]:
        """Environment variables that a group and its runs need and that are not set."""
        waiting, needed = _references(group.settings), list(group.needs)
        for name in waiting:
            run = self._by_name[name]
            waiting += [other for other in _references(run.variables) if other not in waiting]
            needed += run.needs
        return [name for name in needed if name not in os.environ]

    def resolved(self, value: Any) -> Any:
        """A value with its environment variables, and each reference replaced by a path."""
        if isinstance(value, Mapping):
            return {key: self.resolved(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.resolved(item) for item in value]
        match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        return expand_variables(value) if match is None else str(self._path(match[1], match[2], match[3]))

    def _path(self, run: str, stage: str | None, rest: str) -> Path:
        result = self._result(run)
        if stage is None or result is None:
            return self.folder / run
        folder = result.stage(stage).folder
        if (folder / ARTIFACT).is_dir():
            folder = folder / ARTIFACT
        return folder / rest.lstrip("/")

    def _result(self, name: str) -> RunResult | None:
        """The result of a run, made now if it is the first time; None for a loop."""
        if name not in self._results:
            run = self._by_name[name]
            with _environment(self.resolved(run.variables)):
                self._results[name] = self._make(run)
        return self._results[name]

    def _make(self, run: RecipeRun) -> RunResult | None:
        if run.loop:
            selftrain(self._base / run.loop, self.folder / run.name, workers=self._workers)
            return None
        pipeline = Pipeline.from_toml(self._base / run.pipeline)
        if run.seed is not None:
            pipeline = pipeline.with_seed(run.seed)
        return pipeline.run(self.folder / run.name, workers=self._workers)


def _check(runs: Sequence[RecipeRun], groups: Sequence[RecipeTables]) -> None:
    before: list[str] = []
    for run in runs:
        _check_references(run.name, run.variables, before)
        before.append(run.name)
    for group in groups:
        _check_references(group.name, group.settings, before)
        for table in group.tables:
            if table not in PAPERS:
                raise ConfigError(f"unknown table '{table}'{nearest(table, list(PAPERS))}")


def _check_references(owner: str, values: Mapping[str, Any], runs: Sequence[str]) -> None:
    for name in _references(values):
        if name not in runs:
            raise ConfigError(
                f"'{owner}' refers to '@{name}'{nearest(name, list(runs))}", remedy="Declare that run before it."
            )


def _references(value: Any) -> list[str]:
    """Names of the runs that a value refers to, each once."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return list(dict.fromkeys(name for item in value for name in _references(item)))
    match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return [match[1]] if match else []


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Environment variables that are set inside a block."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
