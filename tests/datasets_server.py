"""A server that speaks the hub's protocol of data sets: listings, uploads, commits; it can cut off and be overtaken."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import unquote

URL = "hf://datasets/ada/cats"


@dataclass
class Datasets:
    """One data set on a hub: its files at the last commit, what was uploaded, and how the server misbehaves.

    cuts: Uploads that are cut off, counted down.  meanwhile: Commits that somebody else makes before the next one.
    read: Files that were read.
    """

    endpoint: str = ""
    exists: bool = False
    files: dict[str, bytes] = field(default_factory=dict)
    uploads: dict[str, bytes] = field(default_factory=dict)
    sent: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    commits: int = 0
    tags: list[str] = field(default_factory=lambda: ["paraloom"])
    cuts: int = 0
    meanwhile: int = 0

    @property
    def sha(self) -> str:
        return f"{self.commits:040x}"

    def commit(self, lines: list[dict[str, Any]]) -> tuple[int, Any]:
        self.commits += self.meanwhile
        if lines[0]["value"]["parentCommit"] != self.sha:
            return 412, {"error": "A commit has happened since. Please refresh and try again."}
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "file":
                self.files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                self.files[value["path"]] = self.uploads[value["oid"]]
            else:
                del self.files[value["path"]]
        self.commits += 1
        return 200, {"commitUrl": f"{self.endpoint}/datasets/ada/cats/commit/{self.sha}", "commitOid": self.sha}


def _entry(hub: Datasets, name: str) -> dict[str, Any]:
    """A file in a listing."""
    content = hub.files[name]
    return {"type": "file", "path": name, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}


def _answer(hub: Datasets, path: str, body: bytes) -> tuple[int, Any]:
    """Status and JSON of a request with a body."""
    if path == "/api/repos/create":
        known, hub.exists = hub.exists, True
        address = {"url": f"{hub.endpoint}/datasets/ada/cats", "name": "ada/cats"}
        return (409, {"error": "exists", **address}) if known else (200, address)
    if path == "/api/validate-yaml":
        return 200, {"errors": [], "warnings": []}
    if path.endswith("/preupload/main"):
        modes = {".parquet": "lfs"}
        asked = [file["path"] for file in json.loads(body)["files"]]
        return 200, {
            "files": [
                {"path": one, "uploadMode": modes.get(Path(one).suffix, "regular"), "shouldIgnore": False}
                for one in asked
            ]
        }
    if path.endswith("/info/lfs/objects/batch"):
        objects = json.loads(body)["objects"]
        for one in objects:
            if one["oid"] not in hub.uploads:
                one["actions"] = {"upload": {"href": f"{hub.endpoint}/upload/{one['oid']}"}}
        return 200, {"transfer": "basic", "objects": objects}
    return hub.commit([json.loads(line) for line in body.splitlines()])


@contextmanager
def datasets_server() -> Iterator[Datasets]:
    """Serve a data set until the end of the block, to huggingface_hub in this process and to Paraloom."""
    state = Datasets()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Print nothing."""

        def _send(self, status: int, value: Any) -> None:
            content = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _body(self) -> bytes:
            return self.rfile.read(int(self.headers["Content-Length"]))

        def do_GET(self) -> None:
            parts = unquote(self.path.partition("?")[0]).split("/")
            if parts[4:6] == ["resolve", "main"]:
                self._file("/".join(parts[6:]))
                return
            if "tree" in parts:
                top = "/".join(parts[parts.index("tree") + 2 :])
                self._send(200, [_entry(state, name) for name in sorted(state.files) if name.startswith(top)])
                return
            siblings = [{"rfilename": name} for name in sorted({".gitattributes", *state.files})]
            tags = state.tags if state.files else []
            self._send(200, {"id": "ada/cats", "sha": state.sha, "siblings": siblings, "tags": tags})

        def _file(self, name: str) -> None:
            content = state.files[name]
            self.send_response(200)
            self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
            self.send_header("X-Repo-Commit", state.sha)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            state.read.append(name)
            if self.command == "GET":
                self.wfile.write(content)

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_POST(self) -> None:
            self._send(*_answer(state, self.path.partition("?")[0], self._body()))

        def do_PUT(self) -> None:
            content = self._body()
            oid = hashlib.sha256(content).hexdigest()
            state.sent.append(oid)
            if state.cuts and len(state.uploads) + 1 >= state.cuts:
                state.cuts = 0
                self._send(400, {"error": "cut off"})
                return
            state.uploads[oid] = content
            self._send(200, {})

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        state.endpoint = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        file = f"{state.endpoint}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
        with (
            mock.patch.dict(os.environ, {"HF_ENDPOINT": state.endpoint, "HF_TOKEN": "hf_test"}),
            mock.patch("huggingface_hub.constants.ENDPOINT", state.endpoint),
            mock.patch("huggingface_hub.hf_api.ENDPOINT", state.endpoint, create=True),
            mock.patch("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", file),
            mock.patch("huggingface_hub._commit_api.is_xet_available", lambda: False),
            mock.patch("huggingface_hub.constants.HF_HUB_OFFLINE", False),
        ):
            yield state
        server.shutdown()
