"""Stores: the same verbs on S3, on SFTP, in a folder and in memory; of writers who race, one wins."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from storage_servers import BUCKET, new_password, s3_server, sftp_server

from paraloom.core.errors import ConfigError, RunError
from paraloom.io.store import Store

pytest.importorskip("fsspec", reason="fsspec is not installed")


@pytest.fixture(params=["s3", "sftp", "file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    if request.param == "s3":
        for name, value in s3_server().items():
            monkeypatch.setenv(name, value)
        yield Store.open(f"s3://{BUCKET}/{tmp_path.name}")
    elif request.param == "sftp":
        with sftp_server(tmp_path, new_password()) as url:
            yield Store.open(f"{url}/run")
    elif request.param == "file":
        yield Store.open(f"file://{tmp_path}/run")
    else:
        yield Store.open(f"memory://{tmp_path.name}")


def test_the_verbs(store: Store, tmp_path: Path) -> None:
    assert store.list() == {}
    assert store.read("a/b.txt") is None
    assert store.create("a/b.txt", b"one")
    assert not store.create("a/b.txt", b"other")
    assert store.read("a/b.txt") == b"one"
    (tmp_path / "local").write_bytes(b"two")
    store.replace("a/b.txt", tmp_path / "local")
    store.replace("a/c/d.txt", b"four")
    store.replace("ab.txt", b"")
    assert store.list() == {"a/b.txt": 3, "a/c/d.txt": 4, "ab.txt": 0}
    assert store.list("a") == {"a/b.txt": 3, "a/c/d.txt": 4}
    assert store.read_all(["a/b.txt", "a/c/d.txt"]) == {"a/b.txt": b"two", "a/c/d.txt": b"four"}
    store.fetch("a/c/d.txt", tmp_path / "below" / "fetched")
    assert (tmp_path / "below" / "fetched").read_bytes() == b"four"
    store.delete("a/b.txt")
    store.delete("a/b.txt")
    assert store.list("a") == {"a/c/d.txt": 4}
    store.probe()
    assert store.list() == {"a/c/d.txt": 4, "ab.txt": 0}


def test_one_of_many_writers_wins(store: Store) -> None:
    """Twelve threads create the same object at once, with contents of their own."""
    start, won = threading.Barrier(12), []

    def write(number: int) -> None:
        mine = Store(store.url)
        start.wait()
        if mine.create("entry.json", str(number).encode()):
            won.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert store.read("entry.json") == str(won[0]).encode()
    assert list(store.list()) == ["entry.json"]


def test_a_storage_that_ignores_the_condition(monkeypatch: pytest.MonkeyPatch) -> None:
    """As some servers that speak S3 do: refused before the work, because two writers would both win."""
    from fsspec.implementations.memory import MemoryFileSystem

    original = MemoryFileSystem.pipe_file
    monkeypatch.setattr(
        MemoryFileSystem, "pipe_file", lambda self, path, value, mode="overwrite": original(self, path, value)
    )
    with pytest.raises(RunError, match="only once"):
        Store.open("memory://careless/run").probe()


def test_a_bucket_without_rights(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in s3_server().items():
        monkeypatch.setenv(name, value)
    with pytest.raises(RunError, match="not found") as missing:
        Store.open("s3://no-such-bucket/run").probe()
    assert "no-such-bucket" in str(missing.value)


def test_access_denied(monkeypatch: pytest.MonkeyPatch) -> None:
    from fsspec.implementations.memory import MemoryFileSystem

    def refuse(*arguments: Any, **options: Any) -> None:
        raise PermissionError("Access Denied")

    monkeypatch.setattr(MemoryFileSystem, "pipe_file", refuse)
    with pytest.raises(RunError, match="access denied"):
        Store.open("memory://mine/run").probe()


def test_a_wrong_password_is_not_shown(tmp_path: Path) -> None:
    with sftp_server(tmp_path, "right") as url, pytest.raises(RunError, match="access denied") as refused:
        Store.open(url.replace(":right@", ":wrong-pass@")).probe()
    assert "wrong-pass" not in str(refused.value)
    assert "me:***@" in str(refused.value)


def test_a_server_that_does_not_answer() -> None:
    with pytest.raises(RunError, match="does not answer") as failed:
        Store.open("sftp://me:hidden-word@127.0.0.1:1/run").probe()
    assert "hidden-word" not in str(failed.value)


def test_a_scheme_that_cannot_hold_runs() -> None:
    with pytest.raises(ConfigError, match="hf://"):
        Store.open("hf://datasets/someone/something")


def test_the_password_is_in_no_representation() -> None:
    store = Store.open("sftp://me:hidden-word@host/run")
    assert "hidden-word" not in repr(store)
    assert store.name == "sftp://me:***@host/run"
