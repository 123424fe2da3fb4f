"""Run folders that somebody else made: a page of one imports no module and reads no file that the run names."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from paraloom.api.first_rows import preview
from paraloom.core.errors import DataError
from paraloom.pipeline.pipeline import Pipeline
from paraloom.stages import ReadPairs
from paraloom.web.run_folder import open_run


@pytest.fixture
def changed_run(tmp_path: Path) -> Callable[..., Path]:
    """A run whose record of its stage is changed as named."""
    (tmp_path / "a.tsv").write_text("a\tb\n")

    def change(**values: object) -> Path:
        Pipeline([ReadPairs(source=tmp_path / "a.tsv")]).run(tmp_path / "run", engine="inline")
        report = tmp_path / "run" / "run.json"
        record = json.loads(report.read_text(encoding="utf-8"))
        record["stages"][0].update(values)
        del record["sha256"]  # Whoever changes a record may write another digest, too.
        report.write_text(json.dumps(record), encoding="utf-8")
        return tmp_path / "run"

    return change


def test_a_page_imports_nothing_that_a_run_names(
    changed_run: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "named_by_a_run.py").write_text("class Stage:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    run = open_run(changed_run(use="named_by_a_run:Stage"))
    assert [stage.use for stage in run.stages] == ["named_by_a_run:Stage"]
    assert "named_by_a_run" not in sys.modules


@pytest.mark.parametrize("folder", ["../elsewhere", "/tmp", "a/../../b", "", 3])
@pytest.mark.parametrize("read", [open_run, preview])
def test_a_page_reads_no_folder_outside_of_the_run(
    changed_run: Callable[..., Path], folder: object, read: Callable[[Path], object]
) -> None:
    with pytest.raises(DataError, match=r"leads out of the folder"):
        read(changed_run(folder=folder))
