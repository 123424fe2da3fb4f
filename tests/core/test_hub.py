"""A hub that cannot be reached: an error in seconds, with the remedy of a local folder."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from paraloom.core import hub
from paraloom.core.errors import ModelError
from paraloom.core.hub import hub_answers, require_hub


@pytest.fixture(autouse=True)
def online(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No proxy and no setting of this machine counts, and nothing is remembered."""
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_ENDPOINT", "HF_HOME", "HF_HUB_CACHE"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr("urllib.request.getproxies", dict)
    hub_answers.cache_clear()
    yield
    hub_answers.cache_clear()


@pytest.fixture
def server() -> Iterator[str]:
    """An address that takes connections."""
    with socket.create_server(("127.0.0.1", 0)) as socket_:
        yield f"http://127.0.0.1:{socket_.getsockname()[1]}"


def test_an_endpoint_that_takes_connections_answers(server: str) -> None:
    assert hub_answers(server)
    require_hub_at(server)


def test_one_that_refuses_them_does_not() -> None:
    with pytest.raises(ModelError, match="cannot be reached") as raised:
        require_hub_at("http://127.0.0.1:1")
    assert "hf download OWNER/NAME --local-dir FOLDER" in str(raised.value)


def require_hub_at(endpoint: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_ENDPOINT", endpoint)
        require_hub("OWNER/NAME")


def test_a_name_server_that_does_not_answer_takes_no_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(*_: object) -> None:
        threading.Event().wait(60)
        raise TimeoutError

    monkeypatch.setattr(hub, "_TIMEOUT", 0.05)
    monkeypatch.setattr(socket, "create_connection", connect)
    assert not hub_answers("https://huggingface.co")


def test_offline_by_a_setting(monkeypatch: pytest.MonkeyPatch, server: str) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert not hub_answers(server)


def test_a_proxy_is_asked_instead(monkeypatch: pytest.MonkeyPatch, server: str) -> None:
    monkeypatch.setattr("urllib.request.getproxies", lambda: {"https": server})
    monkeypatch.setattr("urllib.request.proxy_bypass", lambda _: False)
    assert hub_answers("https://no.such.host.invalid")


def test_what_is_on_this_machine_needs_no_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    require_hub(tmp_path)
    (tmp_path / "models--OWNER--NAME" / "snapshots").mkdir(parents=True)
    (tmp_path / "models--sentence-transformers--mini" / "snapshots").mkdir(parents=True)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.delitem(sys.modules, "huggingface_hub.constants", raising=False)
    require_hub("OWNER/NAME")
    require_hub("mini")
    assert os.environ["HF_HUB_OFFLINE"] == "1", "nothing newer is asked for"
