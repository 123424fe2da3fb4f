"""Uploads a folder of a data set to the Hugging Face hub: one commit, on top of what was seen there."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paraloom.core.errors import ConfigError, MissingExtraError, ParaloomError, RunError
from paraloom.core.hub import hub_endpoint
from paraloom.core.secrets import hide_environment, redacted

HUB = "hf://datasets/"
TAG = "paraloom"
"""Tag of the cards that Paraloom writes, by which its data sets are known."""

_CHANGED = 412
_NOT_OURS = (401, 403)


def upload_dataset(folder: Path, url: str) -> None:
    """Make the data set at `hf://datasets/OWNER/NAME` equal to a folder.

    Files that are there with the same content, as after an upload that was cut off, are not sent again.
    """
    name = url.removeprefix(HUB)
    if not url.startswith(HUB) or name.count("/") != 1 or "@" in name:
        raise ConfigError("expected the name of a data set", file=url, remedy=f"Write {HUB}OWNER/NAME.")
    try:
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
    except ImportError:
        raise MissingExtraError(
            "uploading needs packages that are not installed", remedy="Run: pip install 'paraloom[hub]'"
        ) from None
    hide_environment()
    hub = HfApi(endpoint=hub_endpoint(), library_name=TAG)
    files = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
    with _hub_errors(url):
        hub.create_repo(name, repo_type="dataset", exist_ok=True)
        info = hub.dataset_info(name)
        there = {file.rfilename for file in info.siblings or ()} - {".gitattributes"}
        _check_ours(url, there, info.tags or ())
        operations: list[Any] = [CommitOperationAdd(file, path) for file, path in files.items()]
        operations += map(
            CommitOperationDelete, sorted(file for file in there - set(files) if file.startswith("data/"))
        )
        message = f"{len(files) - 1} files of pairs and their card"
        hub.create_commit(name, operations, commit_message=message, repo_type="dataset", parent_commit=info.sha)


def _check_ours(url: str, files: Collection[str], tags: Collection[str]) -> None:
    """Raise ConfigError if there is a data set that Paraloom did not write."""
    if files and TAG not in tags:
        raise ConfigError(
            "the hub has a data set of this name that Paraloom did not write",
            file=url,
            remedy="Name another one, or delete its files first.",
        )


@contextmanager
def _hub_errors(url: str) -> Iterator[None]:
    try:
        yield
    except ParaloomError:
        raise
    except Exception as error:  # the hub's client and what it is made of have classes of their own
        status = getattr(getattr(error, "response", None), "status_code", None)
        text = redacted(" ".join(str(error).split()) or repr(error))[:300].rstrip(".")
        if status == _CHANGED:
            what, remedy = "the data set changed while it was uploaded", "Look at it, and run again."
        elif status in _NOT_OURS:
            what, remedy = f"access denied ({text})", "Log in with `hf auth login`, as somebody who may write there."
        else:
            what, remedy = f"cannot be uploaded ({text})", "Run again: files that are there are not sent again."
        raise RunError(what, file=url, remedy=remedy) from error
