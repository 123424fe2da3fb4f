"""Data sets on the hub: written, read again, resumed after a cut, and never over somebody else's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import Command
from datasets_server import URL, Datasets, datasets_server

from paraloom import as_pairs
from paraloom.api import publish
from paraloom.core.errors import ConfigError, DataError, RunError


@pytest.fixture
def hub() -> Iterator[Datasets]:
    pytest.importorskip("huggingface_hub")
    with datasets_server() as state:
        yield state


def pairs(folder: Path, count: int = 3) -> Path:
    """A corpus of pairs."""
    as_pairs([(f"A cat sleeps {number}.", f"The cat is asleep {number}.") for number in range(count)]).write(folder)
    return folder


def test_a_data_set_is_written_and_its_files_read_again(tmp_path: Path, hub: Datasets) -> None:
    published = publish(pairs(tmp_path / "pairs"), URL, license="cc-by-4.0", title="Cats")
    assert 'load_dataset("ada/cats")' in published.format()
    assert sorted(hub.files) == ["README.md", "data/train-00000-of-00001.parquet"]
    assert b"path: data/train-*.parquet" in hub.files["README.md"]
    (tmp_path / "again.parquet").write_bytes(hub.files["data/train-00000-of-00001.parquet"])
    assert pq.read_table(tmp_path / "again.parquet").column("src").to_pylist()[2] == "A cat sleeps 2."


CARD = """---
configs:
- config_name: de-en
  default: true
  data_files:
  - split: train
    path: de-en/train-*
  - split: test
    path: [de-en/test.jsonl]
- config_name: cs-en
  data_dir: cs-en
---
# Cats
"""


def rows(*texts: str) -> bytes:
    """A Parquet file of pairs."""
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"src": [f"Eine Katze {text}." for text in texts], "tgt": list(texts)}), sink)
    return sink.getvalue().to_pybytes()


def targets(url: str) -> list[str]:
    """The target sides that a URL has."""
    return [row["tgt"] for row in as_pairs(url)]


@pytest.fixture
def cats(hub: Datasets, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Datasets:
    monkeypatch.setenv("PARALOOM_CACHE", str(tmp_path / "cache"))
    hub.files = {
        "README.md": CARD.encode(),
        "de-en/train-00000-of-00002.parquet": rows("a", "b"),
        "de-en/train-00001-of-00002.parquet": rows("c"),
        "de-en/test.jsonl": b'{"src": "Katze.", "tgt": "t"}\n',
        "cs-en/validation.csv": b"src,tgt\nKoza.,v\n",
    }
    return hub


def test_configurations_and_splits_are_read(cats: Datasets) -> None:
    assert targets(URL) == targets(f"{URL}?split=train") == ["a", "b", "c"]
    assert targets(f"{URL}?config=de-en&split=test") == ["t"]
    assert targets(f"{URL}?config=cs-en") == ["v"]
    assert targets(f"{URL}/de-en/train-00001-of-00002.parquet") == ["c"]
    known = list(cats.read)
    assert targets(URL) == ["a", "b", "c"]
    assert set(cats.read[len(known) :]) <= {"README.md"}, "files that did not change are not fetched again"
    cats.files["de-en/train-00001-of-00002.parquet"] = rows("d")
    assert targets(URL) == ["a", "b", "d"]


def test_without_a_card_the_names_tell(cats: Datasets) -> None:
    del cats.files["README.md"]
    assert targets(f"{URL}?config=de-en") == ["a", "b", "c"]
    assert targets(f"{URL}?config=cs-en&split=validation") == ["v"]


def test_what_was_published_is_read(cats: Datasets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraloom.api.publishing._SHARD_ROWS", 2)
    cats.files = {}
    publish(pairs(tmp_path / "pairs", 5), URL, license="cc-by-4.0")
    assert targets(URL) == [f"The cat is asleep {number}." for number in range(5)]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("?config=de-eb", r"config 'de-eb' not found; did you mean 'de-en'"),
        ("?split=tests", r"split 'tests' not found; did you mean 'test'"),
        ("?conf=de-en", r"unknown setting 'conf'"),
    ],
)
def test_a_wrong_name_is_said(cats: Datasets, query: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        targets(URL + query)


def test_what_cannot_be_put_together_is_said(cats: Datasets) -> None:
    cats.files = {"train-1.parquet": rows("a"), "train-2.csv": b"src,tgt\nKoza.,v\n"}
    with pytest.raises(ConfigError, match=r"2 files of \.csv, \.parquet cannot be put together"):
        targets(URL)
    other = pa.BufferOutputStream()
    pq.write_table(pa.table({"tgt": ["b"]}), other)
    cats.files = {"train-1.parquet": rows("a"), "train-2.parquet": other.getvalue().to_pybytes()}
    with pytest.raises(DataError, match="different columns"):
        targets(URL)
    cats.files = {"cats.py": b"print()"}
    with pytest.raises(DataError, match="has no files that are read"):
        targets(URL)


def test_an_upload_that_was_cut_off_resumes(tmp_path: Path, hub: Datasets, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraloom.api.publishing._SHARD_ROWS", 2)
    source = pairs(tmp_path / "pairs", 6)
    hub.cuts = 3
    with pytest.raises(RunError, match="Run again"):
        publish(source, URL, license="cc-by-4.0")
    assert (hub.files, len(hub.uploads)) == ({}, 2), "nothing is visible before all of it is there"
    publish(source, URL, license="cc-by-4.0")
    assert len(hub.sent) == 4, "three files, of which one was sent twice"
    assert len(hub.files) == 4
    publish(pairs(tmp_path / "fewer", 2), URL, license="cc-by-4.0")
    assert sorted(hub.files) == ["README.md", "data/train-00000-of-00001.parquet"], "old files go with the same commit"


def test_the_command_uploads(tmp_path: Path, hub: Datasets, paraloom: Command) -> None:
    source = pairs(tmp_path / "pairs")
    status, output, errors = paraloom("research", "publish", str(source), "-o", URL, "--license", "cc-by-4.0")
    assert (status, 'load_dataset("ada/cats")' in output) == (0, True), errors
    assert len(hub.files) == 2


def test_a_conflict_is_said(tmp_path: Path, hub: Datasets) -> None:
    source = pairs(tmp_path / "pairs")
    hub.meanwhile = 1
    with pytest.raises(RunError, match="the data set changed while it was uploaded"):
        publish(source, URL, license="cc-by-4.0")
    assert hub.files == {}
    hub.meanwhile, hub.exists, hub.files, hub.tags = 0, True, {"theirs.csv": b"1"}, []
    with pytest.raises(ConfigError, match="Paraloom did not write"):
        publish(source, URL, license="cc-by-4.0")
    assert hub.files == {"theirs.csv": b"1"}


@pytest.mark.parametrize(
    "url", ["hf://datasets/cats", "hf://datasets/ada/cats/data", "s3://bucket/cats", "hf://ada/cats"]
)
def test_other_names_are_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigError, match="expected the name of a data set"):
        publish(pairs(tmp_path / "pairs"), url, license="cc-by-4.0")
