"""Figures of the pages of results and of finished runs, for tables that are made of them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import DataError
from paraloom.pipeline.fit import ARTIFACT

NUMBER = re.compile(r"-?\d*\.?\d+")
"""A number in a cell, such as '.890' or '3.5'."""


def read_result(file: Path, heading: str) -> Mapping[str, Any]:
    """The result with a heading in a file of docs/explanations/results."""
    try:
        results = json.loads(file.read_text(encoding="utf-8"))["results"]
        result: Mapping[str, Any] = next(row for row in results if row["heading"] == heading)
    except (OSError, ValueError, KeyError, StopIteration) as error:
        raise DataError(
            f"the result '{heading}' cannot be read", file=file, remedy="Give the folder docs/explanations/results."
        ) from error
    return result


def with_half(cell: str) -> tuple[float, float, float]:
    """The value of a cell 'VALUE ± HALF', with VALUE − HALF and VALUE + HALF."""
    value, half = (float(number) for number in NUMBER.findall(cell)[:2])
    return value, value - half, value + half


def digest_of(file: Path) -> dict[str, str]:
    """The input of a table that a file of results is."""
    return {f"results {file.stem}": file_digest(file)[:12]}


class FinishedRun:
    """The figures of a run of a loop or a pipeline that `command` makes."""

    def __init__(self, folder: Path, command: str) -> None:
        self.folder, self._command = folder, command
        try:
            run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
            finished = (stage for stage in run["stages"] if stage.get("state") != "to do")
            self.stages: dict[str, dict[str, Any]] = {stage["name"]: stage for stage in finished}
            self.name, self.seed, self.digest = run["name"], run["seed"], run["digest"][:12]
        except (OSError, KeyError, TypeError, ValueError):
            raise self._error("not that of a run of the loop or pipeline: run.json cannot be read") from None

    @property
    def signature(self) -> str:
        """What the figures depend on."""
        return signature(self._command.split()[-2], run=self.name, seed=self.seed, digest=self.digest)

    def figures(self, stage: str) -> dict[str, Any]:
        """The figures of a stage; empty for a stage that the run does not have."""
        return self.stages.get(stage, {}).get("figures") or {}

    def result(self, stage: str) -> dict[str, Any]:
        """The result.json of a stage."""
        if stage not in self.stages:
            raise self._error(f"the run has no stage '{stage}'")
        path = self.folder / self.stages[stage]["folder"] / ARTIFACT / "result.json"
        try:
            result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise self._error(f"the result of '{stage}' cannot be read") from None
        return result

    def _error(self, what: str) -> DataError:
        return DataError(what, file=self.folder, remedy=f"Make a run: `{self._command} -o RUN`.")
