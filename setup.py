"""The description on PyPI: README.md, whose links to files of the repository are absolute there, or plain text.

Everything else is in pyproject.toml. The address of the repository is that of `Repository` in its [project.urls]; until
there is one, a link to a file becomes its text.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?://|#)([^)\s]+)\)")


def description(readme: str, repository: str) -> str:
    """The text of the README without relative links, which lead nowhere on PyPI."""
    to = rf"[\1]({repository.rstrip('/')}/blob/main/\2)" if repository else r"\1"
    return _LINK.sub(to, readme)


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = description((ROOT / "README.md").read_text(encoding="utf-8"), project.get("urls", {}).get("Repository", ""))
    setup(long_description=text, long_description_content_type="text/markdown")
