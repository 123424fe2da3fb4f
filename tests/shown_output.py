"""Run the code blocks of a page, and compare what they print with what the page shows.

A block of Python or of shell is executed; a block of `text` right below it is its output. In a block `console`, lines
that begin with `$ ` are commands, and all others their output. A line `…` stands for any lines.

    python tests/shown_output.py README.md    # prints the real output of each block, to copy it into the page
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```(python|shell|console)\n(.*?)^```$(?:\s*^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
_PROGRESS = re.compile(
    r"^[\w -]+ \(\d+ of \d+\): \d|^[\w -]+: \d+/\d+ (rows|texts|lines|pairs|sentences)\b|^loading the "
)
_DURATION = re.compile(r"\b(\d+ min )?\d+(\.\d+)? (s|ms|min)\b")
_NUMBER = re.compile(r"(?<![\w.])-?\d*\.\d+")
_MARK = "\x1e\n"


@dataclass(frozen=True)
class Example:
    """One block: language, code, and the output that the page shows (None: none is shown)."""

    language: str
    code: str
    shown: str | None


def examples(text: str) -> list[Example]:
    """The blocks of a page that are to be executed, in order."""
    blocks = []
    for match in _BLOCK.finditer(text):
        language, code, shown = match.groups()
        if language == "console":
            lines = code.splitlines()
            code = "".join(f"{line[2:]}\n" for line in lines if line.startswith("$ "))
            shown = "".join(f"{line}\n" for line in lines if not line.startswith("$ "))
            language = "shell"
        blocks.append(Example(language, code, shown))
    return blocks


def run_examples(blocks: list[Example], folder: Path) -> list[str]:
    """Execute blocks in a folder, Python in one namespace, shell with the command on its path; what each printed."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "COLUMNS": "100",
        "PYTHONUNBUFFERED": "1",
    }
    lines = ["import subprocess, sys", "names = {'__name__': '__main__'}"]
    for block in blocks:
        lines.append(f"print({_MARK!r}, end='', flush=True)")
        if block.language == "python":
            lines.append(f"exec(compile({block.code!r}, 'page', 'exec'), names)")
        else:
            lines.append(f"subprocess.run(['bash', '-euo', 'pipefail', '-c', {block.code!r}], check=True)")
    body = "\n".join(f"    {line}" for line in lines)
    path = folder / "page.py"
    # Worker processes import this file again.
    path.write_text(f"def main():\n{body}\n\n\nif __name__ == '__main__':\n    main()\n", encoding="utf-8")
    command = [sys.executable, str(path)]
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    path.unlink()
    assert done.returncode == 0, done.stdout[-6000:]
    return done.stdout.split(_MARK)[1:]


def differences(shown: str, printed: str) -> str:
    """What differs between the shown and the printed output, '' if nothing does."""
    expected, actual = _lines(shown), _lines(printed)
    if _matches(expected, actual):
        return ""
    return "\n".join(difflib.unified_diff(expected, actual, "shown", "printed", lineterm=""))


def _lines(text: str) -> list[str]:
    """Lines without progress, durations and blank lines."""
    lines = (_DURATION.sub("N s", line.rstrip()) for line in text.splitlines() if not _PROGRESS.match(line))
    return [line for line in lines if line]


def _matches(shown: list[str], printed: list[str]) -> bool:
    if not shown:
        return not printed
    if shown[0] == "…":
        return any(_matches(shown[1:], printed[start:]) for start in range(len(printed) + 1))
    return bool(printed) and _same(shown[0], printed[0]) and _matches(shown[1:], printed[1:])


def _same(shown: str, printed: str) -> bool:
    """Whether two lines are equal but for the last digits of numbers, which differ from processor to processor."""
    words = [" ".join(_NUMBER.sub("#", line).split()) for line in (shown, printed)]
    numbers = [[float(number) for number in _NUMBER.findall(line)] for line in (shown, printed)]
    return words[0] == words[1] and all(abs(a - b) <= 0.02 * max(1, abs(a)) for a, b in zip(*numbers, strict=True))


def main() -> None:
    """Print the output of each block of a page."""
    blocks = examples(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        for block, printed in zip(blocks, run_examples(blocks, Path(folder)), strict=True):
            kept = [line for line in printed.splitlines() if not _PROGRESS.match(line)]
            print(f"{block.code}--\n" + "\n".join(kept) + "\n")


if __name__ == "__main__":
    main()
