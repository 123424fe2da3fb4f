"""Fixtures that all tests share: the real data, the command line in this process, and a trained toy translator."""

from __future__ import annotations

import gc
import importlib
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import one_process
import pytest
from toy_models import cached_model, training_digest

collect_ignore = ["shaken"]


def pytest_configure() -> None:
    """Settings of this process and of those that tests start."""
    # No test downloads anything, or waits for a server that does not answer.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    # Processes of the tests can be interrupted even where the tests run in the background of a shell.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if "PYTEST_XDIST_WORKER" in os.environ:
        # Several workers share the cores: threads of one would only wait for those of another.
        for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            os.environ.setdefault(name, "1")
    if os.environ.get("PARALOOM_TEST_SEED", "0") != "0":
        shaken = str(Path(__file__).parent / "shaken")
        sys.path.insert(0, shaken)
        importlib.import_module("shaken_seeds")
        if shaken not in (paths := os.environ.get("PYTHONPATH", "").split(os.pathsep)):
            os.environ["PYTHONPATH"] = os.pathsep.join([shaken, *filter(None, paths)])


def pytest_sessionstart(session: pytest.Session) -> None:
    one_process.install()


def pytest_collection_finish(session: pytest.Session) -> None:
    # What was imported and collected stays to the end: collections of garbage need not go over it each time.
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    one_process.begin(item)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real corpora; a test that asks for it is skipped where $PARALOOM_DATA is not set."""
    folder = os.environ.get("PARALOOM_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("real corpora not found: set PARALOOM_DATA to their folder to run this test")
    return Path(folder).absolute()


@pytest.fixture
def paraloom(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., tuple[int, str, str]]:
    """Call the command in a fresh folder: exit status, standard output, standard error."""
    from paraloom.cli.main import main

    monkeypatch.chdir(tmp_path)
    # Lines of progress depend on how busy the machine is.
    for seconds in ("_FIRST_LINE", "_LOADING_LINE"):
        monkeypatch.setattr(f"paraloom.core.progress.{seconds}", 3600)

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
def toy_translator(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A translator from Kal to English (tests/toy_language.py), trained in seconds; skipped without torch.

    Each process of a test run has a copy of its own of the one that was trained, so that no test sees what another
    leaves in the folder.
    """
    pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
    pytest.importorskip("transformers", reason="training needs transformers: pip install 'paraloom[train]'")
    from toy_language import TOY_CONFIG, toy_bitext

    from paraloom.mt.training import train_translator

    def train(folder: Path) -> None:
        train_translator(lambda: toy_bitext(1500), toy_bitext(100, seed=2), TOY_CONFIG, folder)

    digest = training_digest(
        ["core", "io", "text", "mt"],
        ["ctranslate2", "numpy", "sentencepiece", "torch", "transformers"],
        f"{TOY_CONFIG} {toy_bitext(1500)} {toy_bitext(100, seed=2)}",
    )
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    cache = getattr(pytestconfig, "cache", None)
    trained = cached_model(cache.mkdir("toy-models") if cache else shared / "toy-models", digest, train)
    return Path(shutil.copytree(trained, tmp_path_factory.mktemp("toy") / "kal-en"))


@pytest.fixture(scope="session")
def toy_paraphraser(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A paraphraser of made-up sentences (tests/toy_syntax.py) with its parser, trained in seconds."""
    pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
    pytest.importorskip("transformers", reason="training needs transformers: pip install 'paraloom[train]'")
    pytest.importorskip("nltk", reason="parsing needs nltk: pip install 'paraloom[syntax]'")
    from toy_syntax import TOY_SIZES, tree_pairs, write_parsed_pairs, write_treebank

    from paraloom.pipeline.pipeline import Pipeline
    from paraloom.stages import TrainParaphraser, TrainParser

    def train(folder: Path) -> None:
        work = tmp_path_factory.mktemp("toy-paraphraser")
        parser = TrainParser(treebank=(write_treebank(work / "trees.mrg"),), method="grammar", held_out=0)
        pairs = write_parsed_pairs(work / "pairs", 600)
        training = TrainParaphraser(pairs=(pairs,), parser=parser, **TOY_SIZES)
        result = Pipeline([parser, training]).run(work / "run", engine="inline")
        shutil.copytree(result.stages[-1].folder / "artifact", folder, dirs_exist_ok=True)

    digest = training_digest(
        ["core", "paraphrasing", "io", "mt", "stages", "syntax", "text"],
        ["ctranslate2", "nltk", "numpy", "sentencepiece", "torch", "transformers"],
        f"{TOY_SIZES} {tree_pairs(600)}",
    )
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    cache = getattr(pytestconfig, "cache", None)
    trained = cached_model(cache.mkdir("toy-paraphrasers") if cache else shared / "toy-paraphrasers", digest, train)
    return Path(shutil.copytree(trained, tmp_path_factory.mktemp("toy") / "paraphraser"))
