"""The wheel, installed by pip from a folder into a fresh environment, makes pairs; its workflow and image."""

from __future__ import annotations

import os
import re
import site
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

import paraloom

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_wheel_from_a_folder_makes_pairs_in_a_fresh_environment(tmp_path: Path) -> None:
    """Dependencies come from this environment, by a path file: nothing is downloaded."""
    pytest.importorskip("setuptools", minversion="77")
    index, fresh = tmp_path / "index", tmp_path / "fresh"
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PIP_CONSTRAINT")}

    def call(*command: object) -> str:
        done = subprocess.run([*map(str, command)], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    source = tmp_path / "source"
    source.mkdir()
    for name in ("src", "pyproject.toml", "README.md", "LICENSE"):
        (source / name).symlink_to(ROOT / name)
    call(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", index, source)
    assert [path.name for path in index.iterdir()] == [f"paraloom-{paraloom.__version__}-py3-none-any.whl"]

    call(sys.executable, "-m", "venv", fresh)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(fresh), "platbase": str(fresh)}))
    call(fresh / "bin/pip", "install", "--no-index", "--find-links", index, "--no-deps", "paraloom")
    (packages / "dependencies.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    module = call(fresh / "bin/python", "-c", "import paraloom; print(paraloom.__file__)").strip()
    assert Path(module).is_relative_to(packages)
    printed = call(fresh / "bin/paraloom", "quickstart", "pairs")
    assert "of 400 pairs kept" in printed
    assert (tmp_path / "pairs/report.html").exists()


def test_workflow_publishes_this_package_without_a_token() -> None:
    workflow = (ROOT / ".github/workflows/publish.yml").read_text("utf-8")
    assert "id-token: write" in workflow
    assert "secrets." not in workflow
    assert "twine check --strict" in workflow
    name = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["name"]
    assert f"dist/{name}-" in workflow


def test_image_runs_the_command_without_root() -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    assert 'ENTRYPOINT ["paraloom"]' in lines
    assert any(re.fullmatch(r"USER (?!root)\w+", line) for line in lines)
