"""Downloads from a hub on this machine: what is asked for, resumed, checked and refused."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from hub_server import COMMIT, Hub, local_hub
from tiny_translators import write_checkpoint

from paraloom.core.errors import ModelError
from paraloom.mt.download import download, files_on_hub, license_of

pytest.importorskip("torch", reason="conversion needs torch: pip install 'paraloom[train]'")
constants = pytest.importorskip("huggingface_hub.constants")

NAME = "owner/model"
MARIAN = {"config.json": '{"model_type": "marian"}', "source.spm": "s", "target.spm": "t", "vocab.json": "{}"}
WEIGHTS = "w" * 100_000


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub, and empty caches."""
    with local_hub(tmp_path, monkeypatch) as served:
        yield served


@pytest.fixture
def serve(hub: Hub, tmp_path: Path) -> Callable[..., Hub]:
    """Serves a branch of a model that has some files."""

    def serve_(files: dict[str, str], branch: str = "") -> Hub:
        folder = tmp_path / f"served-{len(hub.models)}"
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text)
        hub.models[f"{NAME}@{branch}" if branch else NAME] = folder
        return hub

    return serve_


def test_weights_come_last(serve: Callable[..., Hub]) -> None:
    hub = serve({**MARIAN, "model.safetensors": WEIGHTS, "tf_model.h5": "", "README.md": "---\nlicense: mit\n---\n"})
    folder = download(NAME)
    files = [Path(path).name for path, _ in hub.requests]
    assert files[0] == "config.json" and files[-1] == "model.safetensors"
    assert (folder / "model.safetensors").read_text() == WEIGHTS and not (folder / "tf_model.h5").exists()
    assert folder.name == COMMIT and license_of(folder) == "mit"


def test_nothing_more_of_an_unsupported_kind(serve: Callable[..., Hub]) -> None:
    hub = serve({"config.json": '{"model_type": "whisper"}', "model.safetensors": WEIGHTS})
    with pytest.raises(ModelError, match="models of the kind whisper are not supported"):
        download(NAME)
    assert not hub.downloads(".safetensors")


def test_a_tokenizer_that_is_incomplete(serve: Callable[..., Hub]) -> None:
    hub = serve({**MARIAN, "model.safetensors": WEIGHTS, "config.json": '{"model_type": "pegasus"}'})
    with pytest.raises(ModelError, match=r"owner/model: tokenizer.json or spiece.model not found"):
        download(NAME)
    assert not hub.downloads(".safetensors")


def test_pickled_weights(serve: Callable[..., Hub]) -> None:
    hub = serve({**MARIAN, "pytorch_model.bin": ""})
    serve({**MARIAN, "pytorch_model.bin": "", "model.safetensors": WEIGHTS}, "refs/pr/1")
    with pytest.raises(ModelError, match=r"pickled(.|\n)*safetensors/convert"):
        download(NAME)
    hub.proposals = ["somebody"]
    with pytest.raises(ModelError, match="pickled"):
        download(NAME)
    hub.proposals = ["SFconvertbot"]
    assert (download(NAME) / "model.safetensors").is_file()


def test_a_model_that_was_converted_already(serve: Callable[..., Hub]) -> None:
    serve({"config.json": "{}", "model.bin": "weights", "shared_vocabulary.json": "[]"})
    assert (download(NAME) / "model.bin").is_file()


def test_a_connection_that_breaks_is_resumed(serve: Callable[..., Hub], monkeypatch: pytest.MonkeyPatch) -> None:
    hub = serve({**MARIAN, "model.safetensors": WEIGHTS})
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 1000)
    hub.breaks = [60_000]
    assert (download(NAME) / "model.safetensors").read_text() == WEIGHTS
    assert hub.downloads("model.safetensors") == ["", "bytes=60000-"]


def test_the_next_call_resumes_too(serve: Callable[..., Hub], monkeypatch: pytest.MonkeyPatch) -> None:
    hub = serve({**MARIAN, "model.safetensors": WEIGHTS})
    monkeypatch.setattr(time, "sleep", lambda _: None)
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 1000)
    hub.breaks = [60_000, *[0] * 20]
    with pytest.raises(ModelError, match=r"cannot be downloaded(.|\n)*run again: what was downloaded is kept"):
        download(NAME)
    hub.breaks.clear()
    hub.requests.clear()
    assert (download(NAME) / "model.safetensors").read_text() == WEIGHTS
    assert [path for path, _ in hub.requests if "model.safetensors" not in path] == []
    assert hub.downloads("model.safetensors") == ["bytes=60000-"]


def test_damaged_bytes_are_not_kept(serve: Callable[..., Hub]) -> None:
    hub = serve({**MARIAN, "model.safetensors": WEIGHTS})
    for end in ("vocab.json", ".safetensors"):
        hub.damages = end
        with pytest.raises(ModelError, match=rf"{end}: the file was damaged on its way(.|\n)*run again"):
            download(NAME)
        hub.damages = None
    assert (download(NAME) / "model.safetensors").read_text() == WEIGHTS
    assert (download(NAME) / "vocab.json").read_text() == "{}"


@pytest.mark.parametrize(
    ("path", "sha256"),
    [
        ("../../notes.json", None),
        ("/etc/notes.json", None),
        ("..\\notes.json", None),
        ("model.safetensors", "../../notes"),
    ],
)
def test_what_the_hub_says_names_no_file_elsewhere(path: str, sha256: str | None) -> None:
    lfs = None if sha256 is None else SimpleNamespace(sha256=sha256)
    info = SimpleNamespace(siblings=[SimpleNamespace(rfilename=path, lfs=lfs, size=1)])
    with pytest.raises(ModelError, match=r"the hub (names a file outside|states no SHA-256)"):
        files_on_hub(SimpleNamespace(model_info=lambda *_, **__: info), "somebody/model", None)


def test_no_room_is_noticed_before_the_weights(serve: Callable[..., Hub], monkeypatch: pytest.MonkeyPatch) -> None:
    hub = serve({**MARIAN, "model.safetensors": WEIGHTS})
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=110_000))
    with pytest.raises(ModelError, match=r"the download takes about 125 kB, and 110 kB are free(.|\n)*HF_HOME"):
        download(NAME)  # 100,000 bytes, and 25,000 of the converted model
    assert not hub.downloads(".safetensors")
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=130_000))
    download(NAME)


def test_a_name_that_does_not_exist(serve: Callable[..., Hub]) -> None:
    hub = serve(MARIAN)
    hub.models |= dict.fromkeys(("Helsinki-NLP/opus-mt-de-en", "Helsinki-NLP/opus-mt-de-fr"), hub.models[NAME])
    with pytest.raises(ModelError, match=r"not found on the hub; nearest: opus-mt-de-en"):
        download("Helsinki-NLP/opus-mt-de-em")
    with pytest.raises(ModelError, match=r"helsinki/opus-mt-de-fr: not found on the hub; nearest: opus-mt-de-fr"):
        download("helsinki/opus-mt-de-fr")
    with pytest.raises(ModelError, match=r"nobody/thing: not found on the hub\."):
        download("nobody/thing")


def test_a_branch_that_does_not_exist(serve: Callable[..., Hub]) -> None:
    serve(MARIAN)
    with pytest.raises(ModelError, match=r"owner/model: "):
        download(NAME, "v9")


def test_offline_in_a_second(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    started = time.monotonic()
    with pytest.raises(ModelError, match=r"127\.0\.0\.1 cannot be reached"):
        download(NAME)
    assert time.monotonic() - started < 1


@pytest.mark.parametrize(
    ("card", "license_"),
    [
        ("", ""),
        ("# A model\n", ""),
        ("---\nlicense: [mit, cc-by-4.0]\n---\n", "mit, cc-by-4.0"),
        ("---\nlicense: other\nlicense_name: of the house\n---\n", "of the house"),
        ("---\nlicense: 'a | b\n\n  c'\n---\n", "a b c"),
        ("---\nlicense: {\n---\n", ""),
    ],
)
def test_the_license_of_a_card(card: str, license_: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(card)
    assert license_of(tmp_path) == license_
    shutil.rmtree(tmp_path)
    assert license_of(tmp_path) == ""


SCRIPT = """
import sys
from paraloom.mt import Translator
translator = Translator.load(sys.argv[1], source="de", target="en", precision="float32", check_costs=False)
print(translator.folder, translator.translate(["rako"])[0][0].text)
"""


@pytest.mark.slow
def test_two_processes_convert_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARALOOM_CACHE", str(tmp_path / "cache"))
    folder = write_checkpoint("nllb", tmp_path / "model")
    command = [sys.executable, "-c", SCRIPT, str(folder)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    one, other = (process.communicate(timeout=120)[0] for process in started)
    assert [process.returncode for process in started] == [0, 0]
    assert one == other and "translators" in one
    assert len([path for path in (tmp_path / "cache" / "translators").iterdir() if path.is_dir()]) == 1
