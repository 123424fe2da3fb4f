"""The page "Faults" is made from its JSON, and shows nothing that failed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks/faults"


@pytest.fixture(autouse=True)
def script_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(SCRIPT)
    for name in ("results", "trials"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def test_the_page_is_that_of_its_json() -> None:
    import results

    assert results.PAGE.read_text(encoding="utf-8") == results.page(results._read())


def test_what_was_tried_held() -> None:
    import results

    data = results._read()
    rows = {name: row["after"] for rows in data["rows"].values() for name, row in rows.items() if "after" in row}
    assert rows and not {name: row for name, row in rows.items() if row["failed"]}
