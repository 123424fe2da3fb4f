"""Links of the README and of the documentation pages lead to files and headings that exist; example diffs apply."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
GENERATED = {ROOT / "docs/reference" / f"{name}.md" for name in ("api", "cli", "stages", "scores")}
"""Written by `make docs`; a fresh clone does not have them."""

_FENCE = re.compile(r"^(`{3,}|:{3,}).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_DIFF = re.compile(r"^```diff\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def prose(text: str) -> str:
    """A page without its blocks of code and its inline code."""
    return re.sub(r"`[^`\n]*`", "", _FENCE.sub("", text))


def anchor(heading: str) -> str:
    """The anchor of a heading, as GitHub and MyST derive it.

    Example:
        >>> anchor("W17 Table 5: the translation's `length`")
        'w17-table-5-the-translations-length'
    """
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    """The anchors of all headings of a page."""
    text = re.sub(r"^```.*?^```\s*$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return {anchor(heading) for heading in _HEADING.findall(text)}


def broken_links(page: Path) -> list[str]:
    """The links of a page that lead nowhere; links to other sites are not followed."""
    broken = []
    for target in _LINK.findall(prose(page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, fragment = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if file in GENERATED and not file.exists():
            continue
        if not file.exists() or (fragment and fragment not in anchors(file)):
            broken.append(target)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files_and_headings(page: Path) -> None:
    assert broken_links(page) == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("index.md")), ids=lambda page: page.parent.name)
def test_tables_of_contents_and_cards_lead_to_pages(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    names = re.findall(r"^:link: (\S+)$", text, re.MULTILINE)
    for contents in re.findall(r"^```\{toctree\}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        names += [line for line in contents.split() if not line.startswith(":") and not line.isdigit()]
    files = [(page.parent / f"{name}.md").resolve() for name in names]
    assert [file for file in files if not file.exists() and file not in GENERATED] == []


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@pytest.mark.parametrize(
    "page", [page for page in PAGES if "```diff" in page.read_text(encoding="utf-8")], ids=lambda page: page.stem
)
def test_example_diffs_apply(page: Path) -> None:
    for diff in _DIFF.findall(page.read_text(encoding="utf-8")):
        # Outside of a repository, so that the diffs apply to the files as they are.
        done = subprocess.run(
            ["git", "apply", "--check", "-"],
            cwd=ROOT,
            input=diff,
            capture_output=True,
            text=True,
            env={"GIT_CEILING_DIRECTORIES": str(ROOT.parent), "GIT_DIR": "/dev/null", "PATH": "/usr/bin:/bin"},
        )
        assert done.returncode == 0, f"{page.name}: renew the diff\n{done.stderr}"


def test_broken_links_are_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A title\n[here](#a-title) [there](#another) [gone](no.md) `[code](no.md)`\n[x](https://x.org)\n")
    assert broken_links(page) == ["#another", "no.md"]
