"""The code blocks of the README and of the start and how-to pages run as they are written, in order, page by page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from paraloom.bundled import SAMPLE

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/start").glob("*.md")), *sorted((ROOT / "docs/howto").glob("*.md"))]
_BLOCK = re.compile(r"^```(python|shell)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:^    \S.*\n?)+", re.MULTILINE)


def code_blocks(text: str) -> list[tuple[str, str]]:
    """Language and content of each fenced block that is to be executed."""
    return [(match.group(1), match.group(2)) for match in _BLOCK.finditer(text)]


def run_page(text: str, folder: Path) -> None:
    """Execute all blocks of a page in a folder: Python in one namespace, shell with the command on its path."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "120"}
    script = ["import os", f"os.chdir({str(folder)!r})", "import subprocess"]
    for language, code in code_blocks(text):
        if language == "python":
            script.append(code)
        else:
            script.append(f"subprocess.run(['bash', '-euo', 'pipefail', '-c', {code!r}], check=True)")
    path = folder / "page.py"
    body = "\n".join(f"    {line}" if line.strip() else "" for line in "\n".join(script).splitlines())
    path.write_text(f"def main():\n{body}\n\n\nif __name__ == '__main__':\n    main()\n", encoding="utf-8")
    done = subprocess.run([sys.executable, str(path)], cwd=folder, env=environment, capture_output=True, text=True)
    path.unlink()
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_runs_as_it_is_written(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if not code_blocks(text):
        pytest.skip("the page has no code")
    if page.name == "README.md":
        sides = [line.split("\t")[:2] for line in SAMPLE.read_text(encoding="utf-8").splitlines()[1:60]]
        for side, suffix in enumerate(("de", "en")):
            (tmp_path / f"train.{suffix}").write_text("".join(f"{row[side]}\n" for row in sides), encoding="utf-8")
        (tmp_path / "sts/stsbenchmark").mkdir(parents=True)
        tasks = "5\ta dog\ta dog\n3\ta dog\ta cat\n0\ta dog\tstocks fell\n"
        (tmp_path / "sts/stsbenchmark/sts-dev.tsv").write_text(tasks, encoding="utf-8")
        (tmp_path / "sentences.txt").write_text("Where is the station?\nA dog sleeps.\n", encoding="utf-8")
        (tmp_path / "questions.txt").write_text("Where is the station?\nWhen does it open?\n", encoding="utf-8")
        text += "\n```shell\n" + readme_commands(text) + "```\n"
    run_page(text, tmp_path)


def readme_commands(text: str) -> str:
    """The indented commands of the README's section on the shell."""
    section = text.partition("## Thirty seconds of shell")[2].partition("\n## ")[0]
    match = _INDENTED.search(section)
    assert match is not None
    return "".join(f"{line.strip()}\n" for line in match.group().splitlines())


def test_blocks_are_found_in_order() -> None:
    text = "Text\n```python\na = 1\n```\nmore\n```toml\nx = 1\n```\n```shell\nls\n```\n"
    assert code_blocks(text) == [("python", "a = 1\n"), ("shell", "ls\n")]
