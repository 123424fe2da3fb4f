"""The map of the packages on the architecture page is that of the architecture test."""

from __future__ import annotations

import re
from pathlib import Path

from test_architecture import DOMAIN, MAY_IMPORT

PAGE = Path(__file__).parents[2] / "docs/explanations/architecture.md"


def test_the_page_maps_every_package_from_top_to_bottom() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("## The packages")[2].partition("\n### ")[0]
    packages = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    assert sorted(packages) == sorted(MAY_IMPORT)
    for position, package in enumerate(packages):
        assert set(MAY_IMPORT[package]) <= set(packages[position + 1 :]), f"{package} stands below what it may import"


def test_the_page_names_what_a_package_may_import() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("## The packages")[2].partition("\n### ")[0]
    rows = re.findall(r"^\| \**`?(\w+)`?\** \|.*\| ([^|]*) \|$", section, re.MULTILINE)
    listed = {package: set(re.findall(r"`(\w+)`", allowed)) for package, allowed in rows}
    for package in ("io", "text", "bundled", "pipeline"):
        assert listed[package] == set(MAY_IMPORT[package])
    assert all(listed["domain"] == set(MAY_IMPORT[package]) for package in DOMAIN)
