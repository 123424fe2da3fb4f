"""Errors about packages that are not installed name a command that works."""

from __future__ import annotations

import json

import pytest

from paraloom.core.errors import MissingExtraError
from paraloom.core.optional import installable, missing_extra
from paraloom.pipeline.engines.base import attempt

MESSAGE = "Run: pip install 'paraloom[train]', or name a folder."


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (
            {"url": "file:///a%20b/paraloom", "dir_info": {}},
            "Run: pip install '/a b/paraloom[train]', or name a folder.",
        ),
        (
            {"url": "file:///w/paraloom.whl", "archive_info": {}},
            "Run: pip install 'paraloom[train] @ file:///w/paraloom.whl', or name a folder.",
        ),
        ({"other": 1}, MESSAGE),
    ],
)
def test_the_command_fits_the_installation(origin: dict[str, object], expected: str) -> None:
    assert installable(MESSAGE, json.dumps(origin)) == expected


def test_other_messages_are_left_alone() -> None:
    assert installable("a.tsv, row 3: 'src' is empty.") == "a.tsv, row 3: 'src' is empty."
    assert installable(MESSAGE, "not JSON") == MESSAGE


def test_a_module_of_ours_is_no_extra() -> None:
    assert missing_extra(ImportError("no name")) is None
    assert missing_extra(ModuleNotFoundError("No module named 'paraloom.x'", name="paraloom.x")) is None


def test_a_stage_that_lacks_torch_is_not_a_bug() -> None:
    class Training:
        stage, file, rows = "train-translator", None, 1

        def __call__(self, report: object) -> None:
            raise ModuleNotFoundError("No module named 'torch'", name="torch")

    outcome = attempt(Training(), lambda state: None)  # type: ignore[arg-type]
    assert isinstance(outcome.error, MissingExtraError)
    assert "report it" not in str(outcome.error)
    assert "pip install 'paraloom[train]'" in str(outcome.error)
