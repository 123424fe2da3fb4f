"""Files, folders and runs that a command is given as URLs."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from paraloom.core.errors import ConfigError
from paraloom.core.remote_files import as_url, fetched, local_copy
from paraloom.core.secrets import redacted
from paraloom.io.store import Store
from paraloom.pipeline.store import REPORT


def fetch_input(url: str | Path) -> Path:
    """Fetch what a URL names; a run is not fetched, but its copy on this machine is found."""
    url = as_url(url)
    copy = local_copy(url)
    if (copy / REPORT).is_file():
        return copy
    if not PurePosixPath(url).suffix and not url.startswith("hf:") and Store(url).read(REPORT) is not None:
        raise ConfigError(
            "this run has no copy on this machine",
            file=redacted(url),
            remedy=f"Make one with `paraloom run PIPELINE -o {redacted(url)}`, or name the folder of one stage.",
        )
    return fetched(url)
