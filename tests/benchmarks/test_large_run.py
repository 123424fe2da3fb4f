"""The benchmark of the largest run: a table of new figures leaves what people wrote around it."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_notes_stay_when_the_table_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    for name in ("large_run", "memory", "results_pages"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    large_run = importlib.import_module("large_run")
    monkeypatch.setattr(large_run, "FOLDER", tmp_path)
    written = {
        "text": ["Pairs are made."],
        "command": ["python benchmarks/large_run.py"],
        "notes": ["Somebody looked at it."],
    }
    before = {**written, "heading": large_run.HEADING, "commit": "0b107130", "date": "2026-11-28", "machine": "cores"}
    (tmp_path / "runs.json").write_text(json.dumps({"results": [{"heading": "Another"}, before]}))
    files = []
    for pairs in (1_000, 10_000, 100_000):
        used = {stage: pairs / 1_000 for stage in large_run.STAGES}
        summary = {
            **{"pairs": pairs, "seconds": 60.0, "kills": 0, "files": 3, "bytes": 10**9, "readers": {}},
            **{"processor": used, "memory": dict.fromkeys(used, 1 << 20), "counts": {"kept": pairs // 2}},
        }
        files.append(tmp_path / f"{pairs}.json")
        files[-1].write_text(json.dumps(summary))
    large_run.write(files)
    another, after = json.loads((tmp_path / "runs.json").read_text())["results"]
    assert another == {"heading": "Another"}
    assert {key: after[key] for key in written} == written
    assert after["earlier"] == ["0b107130 2026-11-28"]
    assert after["columns"] == ["", "1,000 pairs", "10,000 pairs", "100,000 pairs"]
    assert after["rows"][0] == ["made and written", "1.0; 1", "10.0; 1", "100.0; 1"]
    assert "100,000 would take 500 s of a processor" in capsys.readouterr().out
