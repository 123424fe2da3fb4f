"""Packages of optional extras that are imported when they are first used."""

from __future__ import annotations

import json
import re
from importlib import import_module
from typing import Any
from urllib.parse import unquote, urlsplit

from paraloom.core.errors import MissingExtraError


class OptionalModule:
    """A module of a package that only an extra installs; it is imported when one of its attributes is first read."""

    def __init__(self, name: str, purpose: str, extra: str) -> None:
        self._name, self._purpose, self._extra = name, purpose, extra

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        try:
            module = import_module(self._name)
        except ModuleNotFoundError as error:
            raise MissingExtraError.for_verb(self._purpose, self._extra) from error
        value = getattr(module, attribute)
        setattr(self, attribute, value)
        return value


EXTRAS = {
    "adlfs": "azure",
    "faiss": "search",
    "fsspec": "s3",
    "gcsfs": "gcs",
    "httpx": "endpoint",
    "lingua": "language",
    "nltk": "syntax",
    "onnx": "onnx",
    "onnxruntime": "cross-encoder",
    "pandas": "pandas",
    "paramiko": "sftp",
    "phonenumbers": "personal",
    "ray": "cluster",
    "s3fs": "s3",
    "sacrebleu": "evaluate",
    "sentence_transformers": "distill",
    "spacy": "spacy",
    "stanza": "stanza",
    "stdnum": "personal",
    "tokenizers": "transformer",
    "tomotopy": "topics",
    "torch": "train",
    "trafilatura": "extract",
    "transformers": "train",
    "warcio": "extract",
    "zstandard": "zstd",
}
"""Module of an optional package → the extra of paraloom that installs it."""


def missing_extra(error: ImportError) -> MissingExtraError | None:
    """The error for a user, where the import of an optional package failed; None for another module."""
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        return None
    return MissingExtraError(
        f"the package '{package}' is not installed", remedy=f"Run: pip install 'paraloom[{EXTRAS[package]}]'"
    )


def installable(message: str, origin: str | None = None) -> str:
    """A message whose `pip install 'paraloom[…]'` works where paraloom was installed from a folder or a wheel."""
    if "paraloom[" not in message:
        return message
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        stated = origin if origin is not None else distribution("paraloom").read_text("direct_url.json")
        record = json.loads(stated or "")
        address, editable = str(record["url"]), record.get("dir_info", {}).get("editable", False)
    except (PackageNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return message
    if address.startswith("file://") and "dir_info" in record:
        folder = unquote(urlsplit(address).path)
        return _REQUIREMENT.sub(rf"pip install {'-e ' if editable else ''}'{folder}[\1]'", message)
    return _REQUIREMENT.sub(rf"pip install 'paraloom[\1] @ {address}'", message)


_REQUIREMENT = re.compile(r"pip install '?paraloom\[([\w,-]+)\]'?")
