"""Checkpoints from the Hugging Face hub: config.json first, no weights of what cannot be converted, bytes checked."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypeAlias

from paraloom.core.digests import file_digest
from paraloom.core.errors import ModelError, ParaloomError, imports_of_extra
from paraloom.core.hub import hub_endpoint, require_hub
from paraloom.core.progress import format_bytes
from paraloom.core.remote_files import cache_folder
from paraloom.io.atomic import disk_full_as_error
from paraloom.mt.families import checkpoint_family
from paraloom.mt.names import short_name

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoSibling

WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json")  # Weights that Python's pickle wrote

Languages: TypeAlias = tuple[str | None, str | None]
"""Codes of the source and the target language, None where it is not named."""

_SMALL_FILES = ("*.json", "*.spm", "*.model", "*.txt", "README.md")
_CONVERTER = "SFconvertbot"  # Account of the hub's service that proposes the weights of a model as safetensors

_BYTES = {"int16": 2, "float16": 2, "bfloat16": 2, "float32": 4}


def download(
    name: str, revision: str | None = None, *, precision: str = "int8", languages: Languages = (None, None)
) -> Path:
    """Download a checkpoint that can be converted and has the languages, or resume; the folder is named by commit."""
    require_hub(name)
    with imports_of_extra("train", "a model of Hugging Face"):
        import huggingface_hub
    hub = huggingface_hub.HfApi(endpoint=hub_endpoint())
    with _download_errors(name, hub):
        config = Path(hub.hf_hub_download(name, "config.json", revision=revision))
        if os.environ.get("HF_HUB_OFFLINE"):
            return config.parent  # downloaded before: if files are missing, conversion says so
        files = files_on_hub(hub, name, revision)
        if "model.bin" in files and not {*WEIGHTS, *PICKLES} & set(files):
            return _fetched(hub, name, revision, files, [*_SMALL_FILES, "model.bin"])
        small = _fetched(hub, name, revision, files, _SMALL_FILES)
        family = checkpoint_family(small)
        family.check_files(name, list(files))
        family.check_languages(small, *languages)
        if revision is None and not set(WEIGHTS) & set(files) and set(PICKLES) & set(files):
            revision = _converted_branch(hub, name)
            files = files_on_hub(hub, name, revision)
        check_weights(name, list(files))
        size = sum(file.size or 0 for path, file in files.items() if path.endswith(".safetensors"))
        converted = converted_size(small, size, precision)
        return _fetched(hub, name, revision, files, [*_SMALL_FILES, "*.safetensors"], converted)


def license_of(checkpoint: Path) -> str:
    """The license that the model card of a checkpoint states; '' if it states none."""
    import huggingface_hub

    card = checkpoint / "README.md"
    try:
        stated: dict[str, object] = (huggingface_hub.metadata_load(card) if card.is_file() else None) or {}
    except Exception:  # YAML's own classes, and the hub's
        return ""
    value = stated.get("license")
    if value == "other":
        value = stated.get("license_name") or value
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")
    return " ".join(text.replace("|", " ").split())[:80]


def converted_size(checkpoint: Path, weights: int, precision: str) -> int:
    """Bytes of a model once it is converted, from the bytes of the weights of its checkpoint."""
    stored = json.loads((checkpoint / "config.json").read_text(encoding="utf-8"))
    half = "16" in str(stored.get("dtype") or stored.get("torch_dtype"))
    return weights // (2 if half else 4) * _BYTES.get(precision, 1)


def check_space(what: str, needed: int, folder: Path, variable: str) -> None:
    """Fail before an hour of work, rather than after it."""
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise ModelError(
            f"{what} about {format_bytes(needed)}, and {format_bytes(free)} are free",
            file=folder,
            remedy=f"Free space there, or name another folder for it: {variable}=/path.",
        )


def check_weights(checkpoint: str | Path, names: Sequence[str]) -> None:
    """Check that a checkpoint has weights that can be read without running code."""
    if set(WEIGHTS) & set(names):
        return
    if not set(PICKLES) & set(names):
        raise ModelError(
            "model.safetensors not found", file=checkpoint, remedy="Download the checkpoint again, with its weights."
        )
    raise ModelError(
        "model.safetensors not found; pytorch_model.bin is pickled, and reading it could run code",
        file=checkpoint,
        remedy="If you trust it, save it once as safetensors, and name the new folder: "
        f"AutoModelForSeq2SeqLM.from_pretrained('{checkpoint}').save_pretrained('FOLDER'), then copy the files of the "
        "tokenizer there. On the hub, https://huggingface.co/spaces/safetensors/convert does it for you; name its "
        "branch as revision, such as refs/pr/1.",
    )


def files_on_hub(hub: HfApi, name: str, revision: str | None) -> dict[str, RepoSibling]:
    """The files of a model on the hub, with the size and digest of each; both become names of files here."""
    siblings = hub.model_info(name, revision=revision, files_metadata=True).siblings or ()
    for file in siblings:
        path = PurePosixPath(file.rfilename)
        if path.is_absolute() or ".." in path.parts or "\\" in file.rfilename:
            raise ModelError(f"the hub names a file outside of the model: {file.rfilename!r}", file=name)
        if file.lfs is not None and not re.fullmatch("[0-9a-f]{64}", file.lfs.sha256):
            raise ModelError(f"the hub states no SHA-256 of {file.rfilename}: {file.lfs.sha256!r}", file=name)
    return {file.rfilename: file for file in siblings}


def _fetched(
    hub: HfApi,
    name: str,
    revision: str | None,
    files: Mapping[str, RepoSibling],
    patterns: Sequence[str],
    converted: int = 0,
) -> Path:
    """Download the files that match, if there is room for them and for what is converted, and check their bytes."""
    import huggingface_hub

    chosen = [file for path, file in files.items() if any(fnmatch(path, pattern) for pattern in patterns)]
    blobs = Path(huggingface_hub.constants.HF_HUB_CACHE) / f"models--{name.replace('/', '--')}" / "blobs"
    large = {blobs / file.lfs.sha256: file for file in chosen if file.lfs is not None}
    missing = {blob: file for blob, file in large.items() if not blob.exists()}
    needed = sum(file.size or 0 for file in missing.values())
    needed -= sum(path.stat().st_size for path in blobs.glob("*.part"))
    if missing:
        both = _device(blobs) == _device(cache_folder())
        check_space("the download takes", needed + (converted if both else 0), blobs, "HF_HOME")
    for blob, file in missing.items():
        _resume(hub, name, revision, file, blob)
    folder = Path(hub.snapshot_download(name, revision=revision, allow_patterns=list(patterns)))
    for file in chosen:
        _check_bytes(folder / file.rfilename, file)
    return folder


def _resume(hub: HfApi, name: str, revision: str | None, file: RepoSibling, blob: Path) -> None:
    """Download a large file into the hub's cache from where an earlier call broke off; its client cannot."""
    from huggingface_hub import hf_hub_url
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers

    blob.parent.mkdir(parents=True, exist_ok=True)
    with (part := blob.with_name(f"{blob.name}.part")).open("ab") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        if blob.exists():  # another process was faster, or another file has the same bytes
            part.unlink(missing_ok=True)
            return
        url = hf_hub_url(name, file.rfilename, revision=revision, endpoint=hub.endpoint)
        http_get(url, stream, resume_size=part.stat().st_size, headers=build_hf_headers(), expected_size=file.size)
        part.replace(blob)


def _check_bytes(path: Path, file: RepoSibling) -> None:
    """Compare a file with its digest on the hub: SHA-256 of large ones, git's of small ones."""
    if file.lfs is not None:
        intact = file_digest(path) == file.lfs.sha256
    else:
        content = path.read_bytes()
        intact = file.blob_id in (None, hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest())
    if not intact:
        path.resolve().unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        raise ModelError(
            "the file was damaged on its way: its digest is not the one that the hub states",
            file=file.rfilename,
            remedy="It was deleted; run again to download it again.",
        )


def _device(folder: Path) -> int:
    while not folder.exists():
        folder = folder.parent
    return folder.stat().st_dev


def _converted_branch(hub: HfApi, name: str) -> str | None:
    """The branch with the safetensors that the hub's service made of a model; None if there is none."""
    for discussion in hub.get_repo_discussions(name, author=_CONVERTER, discussion_type="pull_request"):
        if discussion.author == _CONVERTER and discussion.status in ("open", "merged"):
            return f"refs/pr/{discussion.num}"
    return None


@contextmanager
def _download_errors(name: str, hub: HfApi) -> Iterator[None]:
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        with disk_full_as_error(name):
            yield
    except RepositoryNotFoundError as error:
        raise ModelError(
            f"not found on the hub{_similar(hub, name)}",
            file=name,
            remedy="Check the name on huggingface.co, and `hf auth login` for models that need it.",
        ) from error
    except ParaloomError:
        raise
    except Exception as error:  # the hub's client and what it is made of have classes of their own
        raise ModelError(
            f"cannot be downloaded: {str(error).splitlines()[0].rstrip('.') if str(error) else repr(error)}",
            file=name,
            remedy="Check the name and the network, and run again: what was downloaded is kept.",
        ) from error


def _similar(hub: HfApi, name: str) -> str:
    """The names of the hub that are nearest to one that it does not have, to append to a message."""
    owner, _, model = name.partition("/")
    close: list[str] = []
    try:
        for author, word in ((owner, model.rpartition("-")[0] or model), (None, model)):  # or that of another owner
            models = hub.list_models(author=author, search=word, limit=100)
            close = close or get_close_matches(short_name(name), [short_name(known.id) for known in models], cutoff=0.6)
    except Exception:  # as above
        pass
    return f"; nearest: {', '.join(close)}" if close else ""
