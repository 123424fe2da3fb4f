"""Benchmarks and examples as commands, without a process of their own: what is imported need not be imported again."""

from __future__ import annotations

import io
import os
import runpy
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import ModuleType
from unittest import mock

BENCHMARKS, EXAMPLES = (Path(__file__).parents[1] / name for name in ("benchmarks", "examples"))


@contextmanager
def without_scripts() -> Iterator[None]:
    """Leave no module of a script imported: the next one may read other data when it is imported."""

    def pop_scripts() -> dict[str, ModuleType]:
        files = {name: Path(getattr(module, "__file__", None) or "") for name, module in sys.modules.items()}
        names = [name for name, file in files.items() if file.parent in (BENCHMARKS, EXAMPLES)]
        return {name: sys.modules.pop(name) for name in names}

    before = pop_scripts()
    try:
        yield
    finally:
        pop_scripts()
        sys.modules.update(before)


def run_script(script: Path, *arguments: object, data: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What a script prints, and how it ends; `data` is the folder of corpora."""
    command = [*map(str, (script, *arguments))]
    environment = {} if data is None else {"PARALOOM_DATA": str(data)}
    out, err, status = io.StringIO(), io.StringIO(), 0
    with (
        mock.patch.object(sys, "argv", command),
        mock.patch.object(sys, "path", [str(script.parent), *sys.path]),
        mock.patch.dict(os.environ, environment),
        redirect_stdout(out),
        redirect_stderr(err),
        without_scripts(),
    ):
        try:
            runpy.run_path(command[0], run_name="__main__")
        except SystemExit as stop:
            status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
            if isinstance(stop.code, str):
                err.write(f"{stop.code}\n")
        except Exception:
            status = 1
            traceback.print_exc(file=err)
    return subprocess.CompletedProcess(command, status, out.getvalue(), err.getvalue())


def run_benchmark(name: str, *arguments: object, data: Path | None = None) -> subprocess.CompletedProcess[str]:
    """As `run_script`, by the name of a benchmark."""
    return run_script(BENCHMARKS / f"{name}.py", *arguments, data=data)
