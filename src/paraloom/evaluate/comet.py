"""COMET (Rei et al. 2020) by an interpreter of its own, so that what it pins never meets what we pin."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from paraloom.core.digests import signature
from paraloom.core.errors import DataError, MissingExtraError, RunError
from paraloom.core.stats import Moments
from paraloom.evaluate import comet_process

MODEL = "wmt20-comet-da"
"""The model of BBH22."""

_INSTALL = "In a virtual environment of its own: pip install unbabel-comet; then name its bin/python."


@lru_cache(maxsize=8)
def has_comet(python: str) -> bool:
    """Whether an interpreter is there and has unbabel-comet; asked once."""
    command = shutil.which(python)
    if command is None:
        return False
    # Without the folder where we are, in which anything may be called comet.
    looking = (
        "import sys, importlib.util as u; sys.path[:] = filter(None, sys.path); sys.exit(not u.find_spec('comet'))"
    )
    try:
        return not subprocess.run([command, "-c", looking], capture_output=True, env=_env()).returncode
    except OSError:
        return False


def is_there(model: str) -> bool:
    """Whether a model's file is there; of one that COMET has a name for, only COMET can tell, and this is True."""
    return not model.endswith(".ckpt") or Path(model).is_file()


def comet_scores(
    sources: Sequence[str],
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    python: str | Path,
    model: str = MODEL,
) -> tuple[list[float], str]:
    """A score for each translation, higher is better, and the signature; about 0 to 1 for most models.

    python: an interpreter that has unbabel-comet; ours need not.  model: one of COMET's names, or a file .ckpt.
    Raises DataError where the counts differ, MissingExtraError where there is no such interpreter, package or model, and
    RunError where the process fails otherwise.
    """
    if not len(sources) == len(hypotheses) == len(references):
        raise DataError(
            f"there are {len(sources)} sources, {len(hypotheses)} hypotheses and {len(references)} references",
            remedy="Give one of each for every sentence, in the same order.",
        )
    if not sources:
        raise DataError("there are no sentences to score")
    command = shutil.which(str(python))
    if command is None:
        raise MissingExtraError(f"COMET is left out: there is no interpreter '{python}'", remedy=_INSTALL)
    sentences = [
        {"src": source, "mt": hypothesis, "ref": reference}
        for source, hypothesis, reference in zip(sources, hypotheses, references, strict=True)
    ]
    answer = _ask(command, {"model": model, "sentences": sentences})
    scores = answer.get("scores")
    if not isinstance(scores, list) or len(scores) != len(sentences) or not all(map(_is_number, scores)):
        count = len(scores) if isinstance(scores, list) else "no"
        raise RunError(f"COMET gave {count} scores for {len(sentences)} sentences, or some that are no numbers")
    made_by = signature("comet", model=Path(model).name, by=f"unbabel-comet-{answer.get('version', 'unknown')}")
    return [float(score) for score in scores], made_by


def comet_figures(scores: Sequence[float], made_by: str) -> dict[str, Any]:
    """`{"comet", "comet_interval", "comet_signature"}`: the mean and half the width of its 95 % interval.

    >>> comet_figures([0.5, 0.7], "comet")["comet"]
    0.6
    """
    mean = Moments.of(np.array(scores)).estimate()
    half = mean.high - mean.value
    return {
        "comet": mean.value,
        "comet_interval": half if math.isfinite(half) else None,
        "comet_signature": made_by,
    }


def _ask(command: str, question: dict[str, Any]) -> dict[str, Any]:
    # -P would be better, but came with Python 3.11 and COMET may live in an older one: an empty folder does as well,
    # for the script's own folder, full of our modules, must not come before the packages of the other side.
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "ask_comet.py"
        shutil.copyfile(comet_process.__file__, script)
        try:
            done = subprocess.run(
                [command, str(script)],
                input=json.dumps(question),
                env=_env(),
                capture_output=True,
                encoding="utf-8",
            )
        except OSError as error:
            raise MissingExtraError(f"COMET is left out: '{command}' cannot be run ({error})", remedy=_INSTALL) from None
    said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1].rstrip(".")
    if done.returncode == comet_process.MISSING:
        raise MissingExtraError(f"COMET is left out: '{command}' has no unbabel-comet ({said})", remedy=_INSTALL)
    if done.returncode == comet_process.NO_MODEL:
        raise MissingExtraError(
            f"COMET is left out: there is no model '{question['model']}' ({said})",
            remedy="Fetch it where there is a network, then remove the folder of this stage; or name the .ckpt file.",
        )
    try:
        answer = json.loads(done.stdout) if not done.returncode else None
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise RunError(f"COMET ended with status {done.returncode} and no answer: {said}")
    return answer


def _env() -> dict[str, str]:
    """The environment without what leads to our packages."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
