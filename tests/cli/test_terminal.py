"""Texts of files on a terminal: control sequences in them are shown, not obeyed."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from screen import Screen

HOSTILE = "a\x1b]52;c;Z2F0\x07b\x9b31mc\x1bPq\x1b\\\x08d"


def test_a_terminal_shows_control_sequences(
    paraloom: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.tsv").write_text(f"{HOSTILE}\tb\n", encoding="utf-8")
    screen = Screen(terminal=True)
    monkeypatch.setattr("sys.stdout", screen)
    assert paraloom("head", "a.tsv")[0] == 0
    assert "a\\x1b]52;c;Z2F0\\x07b\\x9b31mc\\x1bPq\\x1b\\" in screen.getvalue()
    assert not re.search(r"[\x07\x1b\x90-\x9f]", screen.getvalue())


def test_a_pipe_gets_texts_as_they_are(paraloom: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a\x07\x9bb\tc\n", encoding="utf-8")
    _, out, _ = paraloom("head", "a.tsv")
    assert "a\x07\x9bb" in out


@pytest.mark.slow
def test_a_real_terminal(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(f"{HOSTILE}\tb\n", encoding="utf-8")
    main, terminal = pty.openpty()
    arguments = [sys.executable, "-m", "paraloom", "head", "a.tsv"]
    with subprocess.Popen(
        arguments, cwd=tmp_path, stdout=terminal, stderr=terminal, stdin=subprocess.DEVNULL
    ) as running:
        os.close(terminal)
        shown = b""
        try:
            while part := os.read(main, 4096):
                shown += part
        except OSError:
            pass  # The other side is closed.
        assert running.wait(60) == 0
    os.close(main)
    assert b"a\\x1b]52;c;Z2F0\\x07b\\x9b31mc" in shown and b"\x07" not in shown and b"\x1b]" not in shown
