"""Checkpoints from the Hugging Face hub: config.json first, and no weights of what cannot be converted."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from paraloom.core.errors import MissingExtraError, ModelError
from paraloom.core.hub import require_hub
from paraloom.io.atomic import disk_full_as_error
from paraloom.mt.families import checkpoint_family

WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json")
"""Weights that Python's pickle wrote."""

_SMALL_FILES = ("*.json", "*.spm", "*.model", "*.txt")
_CONVERTER = "SFconvertbot"
"""Account of the hub's service that proposes the weights of a model as safetensors."""


def download(name: str, revision: str | None = None) -> Path:
    """Download a checkpoint that can be converted, or a model that CTranslate2 converted."""
    require_hub(name)
    try:
        import huggingface_hub as hub
    except ImportError:
        raise MissingExtraError.for_verb("a model of Hugging Face", "train") from None
    with _download_errors(name):
        config = Path(hub.hf_hub_download(name, "config.json", revision=revision))
        if os.environ.get("HF_HUB_OFFLINE"):
            return config.parent  # downloaded before: if files are missing, conversion says so
        names = hub.list_repo_files(name, revision=revision)
        if "model.bin" in names and not {*WEIGHTS, *PICKLES} & set(names):
            return Path(hub.snapshot_download(name, revision=revision, allow_patterns=[*_SMALL_FILES, "model.bin"]))
        small = Path(hub.snapshot_download(name, revision=revision, allow_patterns=list(_SMALL_FILES)))
        checkpoint_family(small).check_files(name, names)
        if revision is None and not set(WEIGHTS) & set(names) and set(PICKLES) & set(names):
            revision = _converted_branch(name)
            names = hub.list_repo_files(name, revision=revision)
        check_weights(name, names)
        return Path(hub.snapshot_download(name, revision=revision, allow_patterns=[*_SMALL_FILES, "*.safetensors"]))


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


def _converted_branch(name: str) -> str | None:
    """The branch with the safetensors that the hub's service made of a model; None if there is none."""
    import huggingface_hub as hub

    for discussion in hub.get_repo_discussions(name, author=_CONVERTER, discussion_type="pull_request"):
        if discussion.author == _CONVERTER and discussion.status in ("open", "merged"):
            return f"refs/pr/{discussion.num}"
    return None


@contextmanager
def _download_errors(name: str) -> Iterator[None]:
    try:
        with disk_full_as_error(name):
            yield
    except (OSError, ValueError) as error:
        raise ModelError(
            f"cannot be downloaded: {str(error).splitlines()[0].rstrip('.') if str(error) else repr(error)}",
            file=name,
            remedy="Check the name on huggingface.co, and `hf auth login` for models that need it.",
        ) from error
