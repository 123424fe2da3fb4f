"""Processes that tests start, watch and kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import paraloom

TIMEOUT = 300
"""Seconds until a test gives up waiting: many times what a busy machine takes."""


def environment(**changes: str) -> dict[str, str]:
    """This process's environment, in which Python finds the tests' helpers and the paraloom under test."""
    folders = [str(Path(__file__).parent), str(Path(paraloom.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders)), **changes}


def python(code: str, *arguments: object, check: bool = True, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own, to its end."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=environment(**changes),
        capture_output=True,
        text=True,
        check=check,
        timeout=TIMEOUT,
    )


def start(code: str, *arguments: object, **changes: str) -> subprocess.Popen[str]:
    """Start Python code in a process group of its own, so that `kill` reaches its workers too."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=environment(**changes),
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_until(condition: Callable[[], Any], process: subprocess.Popen[str] | None = None) -> None:
    """Wait for `condition`; fails with the stderr of `process` when that has ended before, and after TIMEOUT."""
    end = time.monotonic() + TIMEOUT
    while not condition():
        if process is not None and process.poll() is not None and not condition():
            _, message = process.communicate()
            raise AssertionError(f"the process ended with status {process.returncode}: {message}")
        assert time.monotonic() < end, f"waited {TIMEOUT} s in vain"
        time.sleep(0.01)


def is_gone(process: subprocess.Popen[str]) -> bool:
    """Whether no process of the group is left."""
    process.poll()
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return True
    return False


def kill(process: subprocess.Popen[str]) -> None:
    """`kill -9` of the whole group."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
