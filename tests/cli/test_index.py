"""The index of commands: in step with the code, small, and read without anything heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest
from cli_commands import commands
from commands import Command

from paraloom.cli import index
from paraloom.cli.front_page import INDEX


def test_the_index_is_in_step_with_the_code() -> None:
    assert INDEX.read_text(encoding="utf-8") == index.text(), "run python -m paraloom.cli.index"


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--help"], ["scor"], ["score", "--hlp"], ["score", "--help"]])
def test_mistakes_and_help_load_nothing_heavy(arguments: list[str]) -> None:
    script = (
        "import sys\nfrom paraloom.cli.main import command\n"
        f"command()({arguments!r}, standalone_mode=False, prog_name='paraloom')"
    )
    heavy = "numpy pyarrow numba scipy torch paraloom.stages paraloom.pipeline"
    probe = f"try:\n    exec({script!r})\nexcept BaseException: pass\nimport sys\n"
    probe += f"print(sorted({{*{heavy.split()!r}}} & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stderr.strip().endswith("[]"), done.stderr


def test_a_flag_that_is_set_can_be_unset() -> None:
    for path, command in commands().items():
        for one in command.params:
            assert not any("/" in flag for flag in (*one.opts, *one.secondary_opts)), f"{path}: {one.name}"
            if one.param_type_name == "option" and one.default is True:
                assert one.secondary_opts, f"{path}: {one.name}"


def test_help_names_general_options_in_its_last_line(paraloom: Command) -> None:
    out = " ".join(paraloom("run", "--help")[1].split())
    assert "--engine " not in out and out.endswith("--on-end): paraloom run --help-all")
    out = paraloom("run", "--help-all")[1]
    assert "--engine " in out and "General options" not in out
    assert "General options" not in paraloom("explore", "--help")[1]
