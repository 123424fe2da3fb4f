"""The wheel, installed by pip from a folder into a fresh environment, makes pairs; its workflow and image."""

from __future__ import annotations

import re
import runpy
import shutil
import site
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

import paraloom

ROOT = Path(__file__).parents[1]


installation = SimpleNamespace(**runpy.run_path(str(ROOT / "benchmarks/installation.py")))


@pytest.mark.slow
def test_wheel_from_an_index_makes_pairs_in_a_fresh_environment(tmp_path: Path) -> None:
    """Dependencies come from this environment, by a path file: nothing is downloaded."""
    pytest.importorskip("setuptools", minversion="77")

    def call(*command: object) -> str:
        environment = installation.without_clone()
        done = subprocess.run([*map(str, command)], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    wheel = installation.build(tmp_path)
    assert wheel.name == f"paraloom-{paraloom.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(f"paraloom-{paraloom.__version__}.dist-info/METADATA").decode()
    assert "## What to expect" in metadata and not re.search(r"\]\((?!https?://|#)", metadata)

    fresh = tmp_path / "fresh"
    call(sys.executable, "-m", "venv", fresh)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(fresh), "platbase": str(fresh)}))
    with installation.served(wheel, tmp_path / "index") as index:
        if uv := shutil.which("uv"):
            environment = ("--python", fresh / "bin/python", "--default-index", index, "--no-cache")
            call(uv, "pip", "install", *environment, "--no-deps", "paraloom")
            call(fresh / "bin/pip", "uninstall", "--yes", "paraloom")
        call(fresh / "bin/pip", "install", "--index-url", index, "--no-deps", "paraloom")
    (packages / "dependencies.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    module = call(fresh / "bin/python", "-c", "import paraloom; print(paraloom.__file__)").strip()
    assert Path(module).is_relative_to(packages)
    printed = call(fresh / "bin/paraloom", "quickstart", "pairs")
    assert "pairs of 400 sentences kept" in printed
    assert (tmp_path / "pairs/report.html").exists()


@pytest.mark.parametrize(
    ("repository", "link"),
    [("", "see what"), ("https://host/us/it/", "see [what](https://host/us/it/blob/main/docs/a.md#b)")],
)
def test_the_description_has_no_relative_links(repository: str, link: str) -> None:
    description = runpy.run_path(str(ROOT / "setup.py"))["description"]
    kept = "[here](#there) and [web](https://example.org/a.md)"
    assert description(f"see [what](docs/a.md#b), {kept}", repository) == f"{link}, {kept}"


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
