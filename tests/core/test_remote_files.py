"""Files at URLs: fetched once, again when they change, and never with a password in a name or a message."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import paraloom
from paraloom.core.config import coerce
from paraloom.core.errors import ConfigError, DataError, MissingExtraError, redacted
from paraloom.core.remote_files import as_url, fetched, filesystem, is_url, origin
from paraloom.io import Corpus, open_read, read_pairs
from paraloom.io.atomic import atomic_folder, atomic_write
from paraloom.io.store import Store
from paraloom.pipeline.definition import Definition, define_steps
from paraloom.pipeline.toml import format_pipeline, parse_pipeline

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PARALOOM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(f"memory://{tmp_path.name}")


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("s3://bucket/a.tsv", "s3://bucket/a.tsv"),
        (Path("s3://bucket/a.tsv"), "s3://bucket/a.tsv"),
        ("file:///data/a.tsv", "file:///data/a.tsv"),
        (Path("file:///data/a.tsv"), "file:///data/a.tsv"),
        ("hf://datasets/org/name/a.tsv", "hf://datasets/org/name/a.tsv"),
        ("data/a.tsv", None),
        ("C:/a.tsv", None),
        ("http://localhost:8000/v1", None),
        ("s3", None),
        (3, None),
    ],
)
def test_what_is_a_url(text: object, url: str | None) -> None:
    assert is_url(text) == (url is not None)
    if url is not None:
        assert as_url(text) == url  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("sftp://me:secret@host/a", "sftp://me:***@host/a"),
        ("sftp:/me:secret@host/a", "sftp:/me:***@host/a"),
        ("cannot read 's3://key:sec+ret@bucket/a', or b@c", "cannot read 's3://key:***@bucket/a', or b@c"),
        ("sftp://me@host:22/a", "sftp://me@host:22/a"),
        ("http://host:80/a@b", "http://host:80/a@b"),
    ],
)
def test_passwords_are_hidden(text: str, shown: str) -> None:
    assert redacted(text) == shown
    assert str(DataError(text).what) == shown


def test_a_file_is_fetched_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.replace("a.txt", b"one")
    url = f"{store.url}/a.txt"
    fetches: list[str] = []
    system, _ = filesystem(url)
    get_file: Callable[..., None] = type(system).get_file

    def counted(self: object, path: str, *arguments: object, **options: object) -> None:
        fetches.append(path)
        get_file(self, path, *arguments, **options)

    monkeypatch.setattr(type(system), "get_file", counted)
    first = fetched(url)
    assert (first.name, first.read_text(), fetched(url), len(fetches)) == ("a.txt", "one", first, 1)
    first.write_text("damaged in the cache")
    assert (fetched(url).read_text(), len(fetches)) == ("one", 2)
    store.replace("a.txt", b"two")
    assert (fetched(url).read_text(), len(fetches)) == ("two", 3)


def test_a_folder(store: Store) -> None:
    store.replace("model/config.json", b"{}")
    store.replace("model/below/weights.bin", b"123")
    folder = fetched(f"{store.url}/model")
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert files == {"config.json": b"{}", "below/weights.bin": b"123"}


def test_readers(store: Store) -> None:
    """All that read a file or a corpus by its path read it by its URL."""
    store.replace("pairs.de-en.tsv", b"Hallo\tHello\n")
    store.replace("train.de", b"Hallo\n")
    store.replace("train.en", b"Hello\n")
    with open_read(f"{store.url}/train.de") as stream:
        assert stream.read() == b"Hallo\n"
    for name in ("pairs.de-en.tsv", "train.{de,en}"):
        (batch,) = read_pairs(f"{store.url}/{name}")
        row = batch.to_pylist()[0]
        assert [row[key] for key in ("src", "tgt", "src_lang", "tgt_lang")] == ["Hallo", "Hello", "de", "en"]
    with pytest.raises(DataError, match="not a complete corpus"):
        Corpus.open(store.url)


def test_a_field_of_a_stage(store: Store, tmp_path: Path) -> None:
    """A path in a pipeline may be a URL, and is written down as one again."""
    store.replace("pairs.tsv", b"a\tb\n")
    url = f"{store.url}/pairs.tsv"
    definition = parse_pipeline(f'[[stage]]\nuse = "read-pairs"\nsource = "{url}"\n', file=tmp_path / "p.toml")
    (step,) = define_steps([step.stage for step in definition.steps], tmp_path)
    path = step.stage.files()[0]
    assert (path.read_bytes(), origin(path)) == (b"a\tb\n", url)
    assert f'source = "{url}"' in format_pipeline(Definition("p", 1, (step,)))
    assert coerce(Path(url), Path, tmp_path) == path


@pytest.mark.parametrize("name", ["nothing.tsv", "no/folder", "train.{de,en}"])
def test_nothing_there(name: str, store: Store) -> None:
    with pytest.raises(DataError, match="file not found") as failed:
        fetched(f"{store.url}/{name}")
    assert store.url in str(failed.value)


def test_two_folders_in_braces(store: Store) -> None:
    with pytest.raises(ConfigError, match="in one folder"):
        fetched(f"{store.url}/{{de,en}}/train.txt")


@pytest.mark.parametrize(("scheme", "extra"), [("s3", "s3"), ("gs", "gcs"), ("sftp", "sftp"), ("az", "azure")])
def test_a_missing_package(scheme: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*arguments: object, **options: object) -> None:
        raise ImportError("Install it")

    monkeypatch.setattr(fsspec.core, "url_to_fs", missing)
    with pytest.raises(MissingExtraError, match=f"{scheme}://") as failed:
        fetched(f"{scheme}://bucket/a.tsv")
    assert f"paraloom[{extra}]" in str(failed.value)


def test_pairs_in_python(store: Store, tmp_path: Path) -> None:
    store.replace("pairs.de-en.tsv", b"Hallo\tHello\n")
    pairs = paraloom.as_pairs(f"{store.url}/pairs.de-en.tsv").score("length")
    assert pairs.write(tmp_path / "scored.tsv").stages[-1].counts.out == 1
    with pytest.raises(ConfigError, match="cannot write to a URL"):
        pairs.write(f"{store.url}/scored.tsv")


def test_writers_refuse_urls(store: Store) -> None:
    with pytest.raises(ConfigError, match="cannot write to a URL"), atomic_write(Path(f"{store.url}/a.txt")):
        pass
    with pytest.raises(ConfigError, match="cannot write to a URL"), atomic_folder(f"{store.url}/a", "config.json"):
        pass
