"""Keys and passwords in texts: replaced by stars, as they are and as messages quote them."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from paraloom.core.errors import RunError
from paraloom.core.remote_files import storage_errors
from paraloom.core.secrets import hide, hide_environment, redacted
from paraloom.pipeline.event_log import log_to
from paraloom.pipeline.monitor import STATUS, Monitor

KEY = "Xq7-broken\nin-two/Ü"
FORMS = [
    KEY,
    repr(KEY),
    json.dumps(KEY),
    ascii(KEY),
    quote(KEY, safe=""),
    repr(f"Bearer {KEY}".encode("latin-1", "replace")),
]


@pytest.mark.parametrize("form", FORMS)
def test_a_secret_in_all_forms(form: str) -> None:
    hide(KEY)
    shown = redacted(f"the server says {form}.")
    assert "broken" not in shown and "in-two" not in shown
    assert "***" in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("sftp://me:se/cret@host/a", "sftp://me:***@host/a"),
        ("sftp://me:p@ss@host/a", "sftp://me:***@host/a"),
        ("s3:/key:secret@bucket", "s3:/key:***@bucket"),
        ("http://127.0.0.1:8000/v1/a@b", "http://127.0.0.1:8000/v1/a@b"),
        ("s3://bucket/a:b@c", "s3://bucket/a:b@c"),
        ("sftp://me@host:22/a@b", "sftp://me@host:22/a@b"),
    ],
)
def test_passwords_of_urls(text: str, shown: str) -> None:
    assert redacted(text) == shown


def test_secrets_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session token with a line break in it, which the package of the storage quotes when it refuses the header."""
    monkeypatch.setenv("AWS_SESSION_TOKEN", "Zt9kept\nsecret8")
    hide_environment()
    with pytest.raises(RunError) as raised, storage_errors("s3://bucket/a"):
        raise ValueError("Invalid header value b'Zt9kept\\nsecret8'")
    assert "Zt9kept" not in str(raised.value) and "secret8" not in str(raised.value)


def test_status_and_log(tmp_path: Path) -> None:
    """Of an error that nobody foresaw, too."""
    hide("Hn5-hidden-key")
    monitor = Monitor(tmp_path, "a", ["b"], "inline", None)
    with log_to(tmp_path / "run.log"), pytest.raises(KeyError), monitor.watching():
        raise KeyError("Bearer Hn5-hidden-key")
    for path in (tmp_path / STATUS, tmp_path / "run.log"):
        assert "hidden" not in path.read_text()
        assert "Bearer ***" in path.read_text()
