"""COMET scores of translations, computed by an interpreter of its own so that its pinned packages do not meet ours."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from paraloom.core.digests import signature
from paraloom.core.errors import DataError, MissingExtraError, RunError
from paraloom.core.stats import Moments
from paraloom.evaluate import comet_process
from paraloom.evaluate.base import EvaluationResult
from paraloom.evaluate.translation import format_margin

MODEL = "wmt20-comet-da"
"""The model of BBH22."""

_INSTALL = "Create a virtual environment for it, run pip install unbabel-comet there, and give its bin/python."


@dataclass(frozen=True)
class COMETResult(EvaluationResult):
    """Result of `evaluate_comet`.

    Args:
        scores: Of each sentence, higher is better; about 0 to 1 for most models.
        signature: The model and the version of unbabel-comet.
    """

    scores: tuple[float, ...]
    signature: str

    def select(self, rows: Sequence[int]) -> COMETResult:
        """The result of some of the sentences."""
        return COMETResult(tuple(self.scores[row] for row in rows), self.signature)

    def to_dict(self) -> dict[str, Any]:
        """The mean, half the width of its 95 % interval (None for a single sentence) and the signature."""
        mean = Moments.of(np.array(self.scores)).estimate()
        half = mean.high - mean.value
        return {
            "n": len(self.scores),
            "comet": mean.value,
            "comet_interval": half if math.isfinite(half) else None,
            "comet_signature": self.signature,
        }

    def format(self) -> str:
        """One line."""
        figures = self.to_dict()
        return f"COMET {figures['comet']:.4f}{format_margin(figures['comet_interval'], 4)}   {self.signature}"


@lru_cache(maxsize=8)
def has_comet(python: str) -> bool:
    """True if an interpreter exists and has unbabel-comet; checked once."""
    command = shutil.which(python)
    if command is None:
        return False
    # Without the current folder, in which any file may be called comet.
    check = "import sys, importlib.util as u; sys.path[:] = filter(None, sys.path); sys.exit(not u.find_spec('comet'))"
    try:
        return not subprocess.run([command, "-c", check], capture_output=True, env=_environment()).returncode
    except OSError:
        return False


def has_model(model: str) -> bool:
    """True if a model's checkpoint file exists; True for a named model, which only COMET can look up."""
    return not model.endswith(".ckpt") or Path(model).is_file()


def evaluate_comet(
    sources: Sequence[str],
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    python: str | Path,
    model: str = MODEL,
) -> COMETResult:
    """Score translations with COMET.

    Reference:
        Rei, Stewart, Farinha, Lavie 2020, COMET: A Neural Framework for MT Evaluation.
    """
    if not len(sources) == len(hypotheses) == len(references):
        raise DataError(
            f"expected one hypothesis and one reference for each source, got {len(sources)} sources, "
            f"{len(hypotheses)} hypotheses and {len(references)} references",
            remedy="Give as many of each, in the same order.",
        )
    if not sources:
        raise DataError("no sentences to score", remedy="Give one sentence or more.")
    command = shutil.which(str(python))
    if command is None:
        raise MissingExtraError(f"COMET skipped: interpreter '{python}' not found", remedy=_INSTALL)
    sentences = [
        {"src": source, "mt": hypothesis, "ref": reference}
        for source, hypothesis, reference in zip(sources, hypotheses, references, strict=True)
    ]
    answer = _run(command, {"model": model, "sentences": sentences})
    scores = answer.get("scores")
    if not isinstance(scores, list) or len(scores) != len(sentences) or not all(map(_is_number, scores)):
        count = len(scores) if isinstance(scores, list) else 0
        raise RunError(
            f"COMET: expected {len(sentences)} finite scores, got {count} scores, or some that are not finite"
        )
    how = signature("comet", model=Path(model).name, by=f"unbabel-comet-{answer.get('version', 'unknown')}")
    return COMETResult(tuple(float(score) for score in scores), how)


def _run(command: str, question: dict[str, Any]) -> dict[str, Any]:
    # The script runs from an empty folder: its own folder has our modules, which must not precede the other
    # interpreter's packages.  (-P would do, but needs Python 3.11, and COMET may run on an older one.)
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "run_comet.py"
        shutil.copyfile(comet_process.__file__, script)
        try:
            process = subprocess.run(
                [command, str(script)],
                input=json.dumps(question),
                env=_environment(),
                capture_output=True,
                encoding="utf-8",
            )
        except OSError as error:
            raise MissingExtraError(f"COMET skipped: '{command}' cannot be run ({error})", remedy=_INSTALL) from None
    message = (process.stderr.strip().splitlines() or ["no error message"])[-1].rstrip(".")
    if process.returncode == comet_process.MISSING:
        raise MissingExtraError(f"COMET skipped: '{command}' has no unbabel-comet ({message})", remedy=_INSTALL)
    if process.returncode == comet_process.NO_MODEL:
        raise MissingExtraError(
            f"COMET skipped: model '{question['model']}' not found ({message})",
            remedy="Download it where there is a network, then delete the folder of this stage; or give a .ckpt file.",
        )
    try:
        answer = json.loads(process.stdout) if not process.returncode else None
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise RunError(f"COMET ended with status {process.returncode} and no answer: {message}")
    return answer


def _environment() -> dict[str, str]:
    """The environment without the variables that lead to our packages."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
