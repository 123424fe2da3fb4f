"""The Hugging Face hub and its libraries: whether it can be reached, asked once and in seconds; no progress bars."""

from __future__ import annotations

import os
import socket
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from paraloom.core.errors import ModelError

_TIMEOUT = 4.0  # Seconds to wait for the name server, and for the connection

_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")


def require_hub(model: str | Path) -> None:
    """Fail at once if a model has to be downloaded, not loaded from the cache, and the hub cannot be reached."""
    if Path(model).exists() or hub_answers(hub_endpoint()):
        return
    if _in_cache(str(model)):
        _work_offline()
        return
    raise ModelError(
        f"not on this machine, and {urlsplit(hub_endpoint()).hostname} cannot be reached",
        file=model,
        remedy=f"Name a folder, or a bundled model (`paraloom models`). Where there is a network: "
        f"hf download {model} --local-dir FOLDER; then copy FOLDER here and name it.",
    )


@cache
def hub_answers(endpoint: str) -> bool:
    """True if a connection to the endpoint (or to the proxy in front of it) can be made within seconds."""
    from urllib.request import getproxies, proxy_bypass  # all of http and email, which few commands need

    if any(os.environ.get(name, "").upper() in ("1", "ON", "YES", "TRUE") for name in _OFFLINE):
        return False
    address = urlsplit(endpoint)
    proxy = getproxies().get(address.scheme)
    if proxy and not proxy_bypass(address.hostname or ""):
        address = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    port = address.port or (443 if address.scheme == "https" else 80)
    connected = threading.Event()

    def connect() -> None:
        # In a thread: a name server that does not answer blocks longer than any timeout of a socket.
        try:
            socket.create_connection((address.hostname or "", port), _TIMEOUT).close()
            connected.set()
        except OSError:
            pass

    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(2 * _TIMEOUT)
    return connected.is_set()


def _work_offline() -> None:
    """Keep huggingface_hub from asking for newer files, six times for each, before it reads its cache."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    if constants := sys.modules.get("huggingface_hub.constants"):
        setattr(constants, "HF_HUB_OFFLINE", True)  # noqa: B010


def hub_endpoint() -> str:
    """Address of the hub: $HF_ENDPOINT, or that of huggingface.co."""
    return os.environ.get("HF_ENDPOINT") or "https://huggingface.co"


def _in_cache(model: str) -> bool:
    """True if the hub's cache has a folder for the model, or for sentence-transformers' model of this name."""
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    cache_ = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    names = [model] if "/" in model else [model, f"sentence-transformers/{model}"]
    return any((cache_ / f"models--{name.replace('/', '--')}" / "snapshots").is_dir() for name in names)


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the progress bars and advice of transformers, which loads and saves these small models in no time."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Recommended: pip install sacremoses")
            yield
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]
