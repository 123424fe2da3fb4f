"""Downloads from the hub, with a hub that is a folder: what is asked for, in which order, and what is refused."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tiny_translators import write_checkpoint

from paraloom.core.errors import ModelError
from paraloom.mt import Translator
from paraloom.mt.download import download

pytest.importorskip("torch", reason="conversion needs torch: pip install 'paraloom[train]'")
hub = pytest.importorskip("huggingface_hub")


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Any]]:
    """Serves branches of a model, and records what is downloaded."""

    def serve(branches: dict[str | None, dict[str, str]], requests: tuple[Any, ...] = ()) -> list[Any]:
        asked: list[Any] = []

        def folder(revision: str | None, patterns: list[str]) -> str:
            branch = tmp_path / f"branch-{revision or 'main'}".replace("/", "-")
            branch.mkdir(exist_ok=True)
            for name, text in branches[revision].items():
                if any(Path(name).match(pattern) for pattern in patterns):
                    (branch / name).write_text(text)
            return str(branch)

        def one(name: str, file: str, revision: str | None = None) -> str:
            asked.append((file, revision))
            return f"{folder(revision, [file])}/{file}"

        def snapshot(name: str, revision: str | None = None, allow_patterns: list[str] | None = None) -> str:
            asked.append((allow_patterns[-1] if allow_patterns else "", revision))
            return folder(revision, allow_patterns or [])

        monkeypatch.setattr("paraloom.mt.download.require_hub", lambda _: None)
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        monkeypatch.setattr(hub, "hf_hub_download", one)
        monkeypatch.setattr(hub, "snapshot_download", snapshot)
        monkeypatch.setattr(hub, "list_repo_files", lambda _, revision=None: list(branches[revision]))
        monkeypatch.setattr(hub, "get_repo_discussions", lambda *_, **__: iter(requests))
        return asked

    return serve


MARIAN = {"config.json": '{"model_type": "marian"}', "source.spm": "", "target.spm": "", "vocab.json": "{}"}


def test_weights_come_last(served: Callable[..., list[Any]]) -> None:
    asked = served({None: {**MARIAN, "model.safetensors": "weights", "tf_model.h5": ""}})
    folder = download("owner/model")
    assert asked == [("config.json", None), ("*.txt", None), ("*.safetensors", None)]
    assert (folder / "model.safetensors").is_file() and not (folder / "tf_model.h5").exists()


def test_nothing_more_of_an_unsupported_kind(served: Callable[..., list[Any]]) -> None:
    asked = served({None: {"config.json": '{"model_type": "whisper"}', "model.safetensors": "weights"}})
    with pytest.raises(ModelError, match="models of the kind whisper are not supported"):
        download("owner/model")
    assert "*.safetensors" not in [pattern for pattern, _ in asked]


def test_a_tokenizer_that_is_incomplete(served: Callable[..., list[Any]]) -> None:
    asked = served({None: {**MARIAN, "model.safetensors": ""} | {"config.json": '{"model_type": "pegasus"}'}})
    with pytest.raises(ModelError, match=r"owner/model: tokenizer.json or spiece.model not found"):
        download("owner/model")
    assert len(asked) == 2


def test_pickled_weights(served: Callable[..., list[Any]]) -> None:
    pickled = {**MARIAN, "pytorch_model.bin": ""}
    served({None: pickled})
    with pytest.raises(ModelError, match=r"pickled(.|\n)*safetensors/convert"):
        download("owner/model")
    proposal = {"status": "open", "num": 3}
    branches = {None: pickled, "refs/pr/3": {**pickled, "model.safetensors": "weights"}}
    asked = served(branches, (SimpleNamespace(author="SFconvertbot", **proposal),))
    assert (download("owner/model") / "model.safetensors").is_file()
    assert asked[-1] == ("*.safetensors", "refs/pr/3")
    served(branches, (SimpleNamespace(author="somebody", **proposal),))
    with pytest.raises(ModelError, match="pickled"):
        download("owner/model")


def test_a_model_that_was_converted_already(served: Callable[..., list[Any]]) -> None:
    served({None: {"config.json": "{}", "model.bin": "weights", "shared_vocabulary.json": "[]"}})
    assert (download("owner/model") / "model.bin").is_file()


def test_errors_of_the_hub(served: Callable[..., list[Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    served({None: {}})

    def fail(*_: Any, **__: Any) -> str:
        raise OSError("404 Client Error.\nRepository not found")

    monkeypatch.setattr(hub, "hf_hub_download", fail)
    with pytest.raises(ModelError, match="owner/model: cannot be downloaded: 404 Client Error"):
        download("owner/model")


def load(folder: Path, languages: dict[str, str]) -> str:
    """What a process of its own does."""
    translator = Translator.load(folder, precision="float32", check_costs=False, **languages)  # type: ignore[arg-type]
    return json.dumps([str(translator.folder), translator.translate(["rako"])[0][0].text])


@pytest.mark.slow
def test_two_processes_convert_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARALOOM_CACHE", str(tmp_path / "cache"))
    folder = write_checkpoint("nllb", tmp_path / "model")
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        one, other = pool.starmap(load, [(folder, {"source": "de", "target": "en"})] * 2)
    assert one == other
    assert len([path for path in (tmp_path / "cache" / "translators").iterdir() if path.is_dir()]) == 1
