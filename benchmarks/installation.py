"""Seconds to a first quickstart from the wheel: built here, served as a package index, installed by pip and run by uv.

    pip install uv && python benchmarks/installation.py

The index is a folder behind a local web server, with paraloom alone; what it needs comes from the index that pip and uv
have anyway, through their caches. Each environment is new. A table has seconds and what the last line said; the script
ends with 1 if a command fails.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("src", "pyproject.toml", "setup.py", "README.md", "LICENSE")


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        """Print nothing."""


def build(folder: Path) -> Path:
    """The wheel of this clone."""
    source = folder / "source"
    source.mkdir()
    for name in SOURCES:
        (source / name).symlink_to(ROOT / name)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet"]
    subprocess.run([*command, "--wheel-dir", str(folder / "wheel"), str(source)], check=True)
    (wheel,) = (folder / "wheel").glob("*.whl")
    return wheel


@contextmanager
def served(wheel: Path, folder: Path) -> Iterator[str]:
    """The address of a simple index (PEP 503) with one package of one wheel."""
    package = folder / "simple" / "paraloom"
    package.mkdir(parents=True)
    shutil.copy(wheel, package)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (package / "index.html").write_text(f'<a href="{wheel.name}#sha256={digest}">{wheel.name}</a>\n')
    (package.parent / "index.html").write_text('<a href="paraloom/">paraloom</a>\n')
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Silent, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/simple/"
    finally:
        server.shutdown()
        server.server_close()


def without_clone() -> dict[str, str]:
    """The environment of a shell that knows nothing of this clone."""
    hidden = ("PYTHONPATH", "PIP_CONSTRAINT", "VIRTUAL_ENV", "NUMBA_CACHE_DIR")
    return {name: value for name, value in os.environ.items() if name not in hidden}


def _timed(name: str, *command: object, folder: Path) -> bool:
    started = time.monotonic()
    done = subprocess.run([*map(str, command)], cwd=folder, env=without_clone(), capture_output=True, text=True)
    seconds = time.monotonic() - started
    said = next((line for line in done.stdout.splitlines() if "pairs kept" in line), "")
    last = said or (done.stderr if done.returncode else done.stdout).strip().rpartition("\n")[2]
    print(f"| {name} | {seconds:.0f} | {done.returncode} | {last[:90]} |", flush=True)
    return done.returncode == 0


def main() -> None:
    """Print the table."""
    ordinary = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        wheel = build(folder)
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB\n")
        print("| command | seconds | status | said |\n| --- | --: | --: | --- |")
        with served(wheel, folder) as index:
            subprocess.run([sys.executable, "-m", "venv", folder / "fresh"], check=True)
            install = ("install", "--quiet", "--index-url", index, "--extra-index-url", ordinary, "paraloom")
            quickstart = ("quickstart", "-o", "pairs")
            uvx = (shutil.which("uv") or "uv", "tool", "run", "--index", index, "--python", sys.executable, "paraloom")
            succeeded = [
                _timed("`pip install paraloom`", folder / "fresh/bin/pip", *install, folder=folder),
                _timed(
                    "`paraloom quickstart`, the first run", folder / "fresh/bin/paraloom", *quickstart, folder=folder
                ),
                _timed(
                    "`uvx paraloom quickstart`, install and first run", *uvx, "quickstart", "-o", "by-uv", folder=folder
                ),
                _timed("`uvx paraloom quickstart` again", *uvx, "quickstart", "-o", "again", folder=folder),
            ]
    sys.exit(0 if all(succeeded) else 1)


if __name__ == "__main__":
    main()
