"""What all tests share: where the real data is."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


def pytest_configure() -> None:
    """Let processes of the tests be interrupted even where the tests run in the background of a shell."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real corpora; a test that asks for it is skipped where there is none."""
    folder = os.environ.get("PARALOOM_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("real corpora are not here: set PARALOOM_DATA to their folder to run this test")
    return Path(folder).absolute()


@pytest.fixture
def paraloom(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., tuple[int, str, str]]:
    """Call the command in a fresh folder: exit status, standard output, standard error."""
    from paraloom.cli.main import main

    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["paraloom", *map(str, arguments)])
        try:
            main()
            status = 0
        except SystemExit as end:
            status = int(end.code or 0)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


@pytest.fixture(scope="session")
def toy_translator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A translator from Kal to English (tests/world.py), trained in seconds; skipped without torch."""
    pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
    pytest.importorskip("transformers", reason="training needs transformers: pip install 'paraloom[train]'")
    from world import TOY_CONFIG, toy_bitext

    from paraloom.mt.training import train_translator

    folder = tmp_path_factory.mktemp("kal-en")
    train_translator(lambda: toy_bitext(1500), toy_bitext(100, seed=2), TOY_CONFIG, folder)
    return folder
