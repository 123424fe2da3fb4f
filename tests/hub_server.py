"""A server that speaks the protocol of the Hugging Face hub: models are folders, and it can misbehave."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from paraloom.core.hub import hub_answers

COMMIT = "c0ffee" + 34 * "0"
"""The commit of main; other branches have their own."""

_LFS = (".safetensors", ".bin", ".spm", ".model")


@dataclass
class Hub:
    """What the server serves, what was asked of it, and how it misbehaves.

    Args:
        models: OWNER/NAME → its folder; with @BRANCH for another branch.
        endpoint: Its address.
        requests: Paths that were asked for, with the Range if there was one.
        breaks: Of the next downloads of weights, the bytes after which the connection is cut.
        damages: End of the names of files of which a byte is changed on its way.
        proposals: Branches `refs/pr/1` … and the accounts that proposed them.
    """

    models: dict[str, Path] = field(default_factory=dict)
    endpoint: str = ""
    requests: list[tuple[str, str]] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    damages: str | None = None
    proposals: list[str] = field(default_factory=list)

    def downloads(self, end: str) -> list[str]:
        """The Range of each download of files with this end of their names; '' for a whole file."""
        return [range_ for path, range_ in self.requests if "/resolve/" in path and path.endswith(end)]


@contextmanager
def hub_server() -> Iterator[Hub]:
    """Serve models until the end of the block."""
    hub = Hub()

    class Handler(_Handler):
        served = hub

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def local_hub(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """Serve models as the hub, with empty caches below a folder."""
    from huggingface_hub import constants

    hub_answers.cache_clear()
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        patch.delenv(name, raising=False)
    patch.setattr(constants, "HF_HUB_OFFLINE", False)
    patch.setattr(constants, "HF_HUB_CACHE", str(folder / "hub"))
    patch.setenv("HF_HUB_CACHE", str(folder / "hub"))
    patch.setenv("PARALOOM_CACHE", str(folder / "cache"))
    with hub_server() as served:
        patch.setenv("HF_ENDPOINT", served.endpoint)
        yield served
    hub_answers.cache_clear()


class _Handler(BaseHTTPRequestHandler):
    served: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        address = urlsplit(self.path)
        parts = [unquote(part) for part in address.path.strip("/").split("/")]
        if parts[:2] == ["api", "models"]:
            self._describe(parts[2:], {key: values[0] for key, values in parse_qs(address.query).items()})
        elif len(parts) > 4 and parts[2] == "resolve":
            self._send_file("/".join(parts[:2]), parts[3], "/".join(parts[4:]))
        else:
            self._send_json({"error": "Not found"}, 404)

    def _describe(self, parts: list[str], query: dict[str, str]) -> None:
        if not parts:
            names = [name for name in self.served.models if "@" not in name]
            start, word = query.get("author", ""), query.get("search", "")
            self._send_json([{"id": name} for name in names if name.startswith(start) and word in name])
            return
        name, kind = "/".join(parts[:2]), parts[2] if len(parts) > 2 else ""
        if kind == "discussions":
            rows = [self._proposal(number, author) for number, author in enumerate(self.served.proposals, start=1)]
            self._send_json({"discussions": rows, "count": len(rows), "start": 0})
            return
        revision = "/".join(parts[3:]) or "main"
        folder = self._folder(name, revision)
        if folder is None:
            self._not_found()
            return
        files = [_facts(path) for path in sorted(folder.iterdir())]
        if kind == "tree":
            self._send_json([{"type": "file", "path": file.pop("rfilename"), **_as_tree(file)} for file in files])
        else:
            self._send_json({"id": name, "sha": self._commit(name, revision), "siblings": files, "tags": []})

    def _proposal(self, number: int, author: str) -> dict[str, Any]:
        repository = {"name": "owner/model", "type": "model"}
        text = {"title": "safetensors", "status": "open", "createdAt": "2024-01-01T00:00:00.000Z"}
        return {"num": number, "author": {"name": author}, "isPullRequest": True, "repo": repository, **text}

    def _folder(self, name: str, revision: str) -> Path | None:
        branches = (key for key in self.served.models if key.startswith(f"{name}@"))
        by_revision = {one: key for key in branches for one in (key.partition("@")[2], self._commit(name, key))}
        if revision in ("main", COMMIT):
            return self.served.models.get(name)
        return self.served.models.get(by_revision.get(revision, ""))

    def _commit(self, name: str, revision: str) -> str:
        """The commit of a branch, of a branch's key, or a commit itself."""
        branch = revision.partition("@")[2] or revision
        if branch in ("main", COMMIT) or len(branch) == len(COMMIT):
            return COMMIT if branch == "main" else branch
        return hashlib.sha1(f"{name}@{branch}".encode()).hexdigest()

    def _send_file(self, name: str, revision: str, file: str) -> None:
        range_ = self.headers.get("Range", "")
        if self.command == "GET":
            self.served.requests.append((self.path, range_))
        folder = self._folder(name, revision)
        if folder is None:
            self._not_found()
            return
        if not (folder / file).is_file():
            self._send_json({"error": "Entry not found"}, 404, {"X-Error-Code": "EntryNotFound"})
            return
        content = (folder / file).read_bytes()
        facts = _facts(folder / file)
        etag = facts["lfs"]["sha256"] if "lfs" in facts else facts["blobId"]
        if self.served.damages and file.endswith(self.served.damages):
            content = bytes([content[0] ^ 1]) + content[1:]
        start = int(range_.removeprefix("bytes=").partition("-")[0]) if range_ else 0
        body = content[start:]
        self.send_response(206 if range_ else 200)
        for key, value in {
            "X-Repo-Commit": self._commit(name, revision),
            "ETag": f'"{etag}"',
            "Accept-Ranges": "bytes",
        }.items():
            self.send_header(key, value)
        if range_:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            if self.served.breaks and file.endswith(".safetensors"):
                self.wfile.write(body[: self.served.breaks.pop(0)])
                self.wfile.flush()
                self.close_connection = True
                self.connection.close()
                return
            self.wfile.write(body)

    def _not_found(self) -> None:
        self._send_json({"error": "Repository not found"}, 404, {"X-Error-Code": "RepoNotFound"})

    def _send_json(self, value: object, status: int = 200, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        for key, text in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(key, text)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


def _facts(path: Path) -> dict[str, Any]:
    """What the hub says of a file: name, size, git's digest, and SHA-256 where it is large."""
    return dict(_facts_at(path, path.stat().st_mtime_ns))


@cache
def _facts_at(path: Path, _: int) -> dict[str, Any]:
    content = path.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    facts: dict[str, Any] = {"rfilename": path.name, "size": len(content), "blobId": blob}
    if path.suffix in _LFS:
        facts["lfs"] = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 134}
    return facts


def _as_tree(facts: dict[str, Any]) -> dict[str, Any]:
    lfs = {"lfs": {**facts["lfs"], "oid": facts["lfs"]["sha256"]}} if "lfs" in facts else {}
    return {"size": facts["size"], "oid": facts["blobId"], **lfs}
