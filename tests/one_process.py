"""Keeps tests in one process: pipelines run inline, and starting Python is a failure, unless a test is marked slow.

A slow test runs pipelines in worker processes, but of commands in those alone whose number it gives: each process
imports again what the tests have imported.
"""

from __future__ import annotations

import subprocess
import sys
from multiprocessing.process import BaseProcess
from typing import Any

import pytest

from paraloom.pipeline.engines import registry
from paraloom.pipeline.engines.base import Engine, Inline
from paraloom.pipeline.engines.local import Local

_slow, _of_commands = True, False


def begin(item: pytest.Item) -> None:
    """Note whether the test that begins is slow, and whether it is of commands."""
    global _slow, _of_commands
    _slow = item.get_closest_marker("slow") is not None
    _of_commands = item.path.parent.name == "cli"


def install() -> None:
    """Replace what starts processes, for the rest of this session."""
    registry.Local = _local  # type: ignore[assignment, misc]
    subprocess.Popen.__init__ = _unless_slow(subprocess.Popen.__init__, _is_python)  # type: ignore[method-assign]
    BaseProcess.start = _unless_slow(BaseProcess.start, lambda process: True)  # type: ignore[method-assign]


def _local(workers: int | None = None) -> Engine:
    return Local(workers) if _slow and not (_of_commands and workers is None) else Inline()


def _is_python(process: object, command: Any, *arguments: object, **options: object) -> bool:
    return isinstance(command, list | tuple) and command[0] == sys.executable


def _unless_slow(start: Any, refused: Any) -> Any:
    def replacement(*arguments: Any, **options: Any) -> Any:
        if not _slow and refused(*arguments, **options):
            pytest.fail("this test starts a process, so it has to be marked slow")
        return start(*arguments, **options)

    return replacement
