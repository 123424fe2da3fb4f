"""Damaged data sets, Parquet files and objects of storages; edited manifests; endless answers; keys in messages."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from trials import ROOT, Outcomes, Scene, judge

FLIPS = """
import json, os, random, shutil, sys, tempfile
from pathlib import Path
import pyarrow as pa
from paraloom.core.errors import ParaloomError
from paraloom.core.schema import PAIRS
from paraloom.io import read_pairs, write_table
from paraloom.api import preview

name, folder, trials, seed = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
path = folder / name
if name == "saved":
    path.mkdir()
    texts = [{"de": f"eins {n}", "en": f"one {n}"} for n in range(60)]
    table = pa.table({"translation": pa.array(texts, pa.struct([("de", pa.string()), ("en", pa.string())]))})
    with pa.OSFile(str(path / "data.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=25)
    (path / "state.json").write_text(json.dumps({"_data_files": [{"filename": "data.arrow"}]}))
    (path / "dataset_info.json").write_text("{}")
else:
    keys = ("pair_id", "src", "tgt", "src_lang", "tgt_lang", "origin")
    rows = [dict(zip(keys, (f"p:{n}", f"eins {n}", f"one {n}", "de", "en", "p"))) for n in range(60)]
    write_table(pa.Table.from_pylist(rows, schema=PAIRS), path)
readers = [lambda: repr([batch.to_pylist() for batch in read_pairs(path)]), lambda: repr(preview(path, 60))]
expected = [read() for read in readers]
rng, outcomes = random.Random(seed), []
files = [path] if path.is_file() else sorted(path.iterdir()) + sorted(path.glob("*.arrow")) * 3
for _ in range(trials):
    file, which = rng.choice(files), rng.randrange(2)
    good = file.read_bytes()
    content = bytearray(good)
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    file.write_bytes(content)
    child = os.fork()
    if not child:
        try:
            os._exit(0 if readers[which]() == expected[which] else 3)
        except ParaloomError:
            os._exit(1)
        except BaseException:
            os._exit(2)
    status = os.waitpid(child, 0)[1]
    file.write_bytes(good)
    outcomes.append("crash" if os.WIFSIGNALED(status) else ("same", "error", "traceback", "other")[status >> 8])
print(json.dumps({key: outcomes.count(key) for key in ("same", "error", "traceback", "other", "crash")}))
"""
"""Flips one bit at a time; each time, the file is read in a process of its own, which may crash."""

RUN = """
name = "stores"
seed = 7
[[stage]]
name = "read"
use = "read-pairs"
source = "sample.de-en.tsv"
shard_rows = 100
[[stage]]
name = "kept"
use = "filter"
where = "length(tgt) > 20"
[[stage]]
name = "words"
use = "count-words"
corpora = ["kept"]
"""

ENDPOINT = """
name = "endpoint"
[[stage]]
use = "read-pairs"
source = "five.tsv"
src_lang = "de"
tgt_lang = "en"
[[stage]]
use = "load-endpoint"
url = "{url}"
model = "m"
source = "de"
target = "en"
retries = 0
{options}
[[stage]]
use = "backtranslate"
translator = "load-endpoint"
decode = "greedy"
"""

KEY = "sk-Vx81first\nVx82second"
"""A key that is broken in two; no part of it may be seen."""

_MAX_SENT = 64 << 20
"""Bytes of an answer to a sentence of three words that a client may take."""


def trials(scene: Scene) -> Iterator[tuple[str, Outcomes]]:
    """Faults of files, storages and servers."""
    yield "flipped bits in datasets folders", _flipped(scene, "written.dataset", 240)
    yield "flipped bits in datasets folders of others", _flipped(scene, "saved", 240)
    yield "flipped bits in Parquet", _flipped(scene, "written.parquet", 240)
    (scene.folder / "stores.toml").write_text(RUN, encoding="utf-8")
    yield "manifests edited by hand", _edited(scene)
    if all(map(importlib.util.find_spec, ("s3fs", "moto"))):
        yield "a flipped object on S3", _flipped_objects(scene)
    (scene.folder / "five.tsv").write_text("".join(f"satz {n}\tsentence {n}\n" for n in range(5)), encoding="utf-8")
    yield "answers without end", _endless(scene)
    yield "keys in messages", _keys(scene)


def _flipped(scene: Scene, name: str, count: int) -> Outcomes:
    outcomes = Outcomes()
    folder = scene.folder / f"flipped-{name}"
    folder.mkdir()
    ended = scene.call(name, folder, count, scene.seed, program=("-c", FLIPS))
    if ended.returncode:
        outcomes.count(name, ended.stderr[-2000:])
        return outcomes
    counts = json.loads(ended.stdout.splitlines()[-1])
    outcomes.tried, outcomes.finished, outcomes.refused = count, counts["same"], counts["error"]
    outcomes.tracebacks, outcomes.wrong = counts["traceback"], counts["crash"]
    outcomes.details = f"{counts['crash']} crashes, {counts['other']} other texts in silence"
    if name == "saved":
        outcomes.finished += counts["other"]
        outcomes.details += ", which nothing in such a folder can tell"
    else:
        outcomes.wrong += counts["other"]
    outcomes.notes.append(f"{name}: {counts}")
    return outcomes


def _is_wrong(outcomes: Outcomes, note: str) -> None:
    """Count the last trial, which finished, as one with a wrong result."""
    outcomes.finished, outcomes.wrong = outcomes.finished - 1, outcomes.wrong + 1
    outcomes.notes.append(note)


def _run(folder: object) -> tuple[object, ...]:
    return ("run", "stores.toml", "-o", folder, "--engine", "inline", "--json")


def _result(text: str) -> list[Any]:
    """Row counts and digests of all stages."""
    return [[stage["counts"], stage["digest"]] for stage in json.loads(text.splitlines()[-1])["stages"]]


def _edited(scene: Scene) -> Outcomes:
    """Row counts of manifests, descriptions and reports that were edited: they are not believed."""
    outcomes = Outcomes()
    ended = scene.call(*_run("counted"))
    if ended.returncode:
        raise SystemExit(ended.stderr)
    expected = _result(ended.stdout)

    def lines(path: Path, kind: str, change: Callable[[dict[str, Any]], object]) -> None:
        entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        kept = [entry for entry in entries if entry["kind"] != "end" or kind == "end"]
        for entry in kept:
            if entry["kind"] == kind:
                change(entry["record"])
        path.write_text("".join(json.dumps(entry) + "\n" for entry in kept), encoding="utf-8")

    def whole(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
        value = json.loads(path.read_text(encoding="utf-8"))
        change(value)
        path.write_text(json.dumps(value), encoding="utf-8")

    more = {"read": 7000, "kept": 7000, "rejected": 0, "out": 7000}
    edits: dict[str, Callable[[Path], object]] = {
        f"{field} of {kind} in {stage}": lambda run, kind=kind, stage=stage, change=change: lines(
            run / stage / "manifest.jsonl", kind, change
        )
        for kind in ("shard", "end")
        for stage in ("10-read", "20-kept")
        for field, change in {
            "counts": lambda record: record["counts"].update(more),
            "rejected": lambda record: record["counts"].update(
                read=record["counts"]["read"] + 5, rejected=record["counts"]["rejected"] + 5
            ),
        }.items()
    }
    edits["rows of corpus.json"] = lambda run: whole(
        run / "20-kept/corpus.json", lambda value: value["shards"][0].update(rows=7000)
    )
    for name, edit in edits.items():
        folder = scene.folder / "edited"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(scene.folder / "counted", folder)
        edit(folder)
        ended = scene.call(*_run("edited"))
        if judge(outcomes, name, ended) and _result(ended.stdout) != expected:
            _is_wrong(outcomes, f"{name}: OTHER COUNTS")
    folder = scene.folder / "counted"
    whole(folder / "run.json", lambda value: value["stages"][0]["counts"].update(more))
    ended = scene.call("status", folder)
    if judge(outcomes, "counts of run.json", ended) and "7,000" in ended.stdout:
        _is_wrong(outcomes, "counts of run.json: SHOWN")
    return outcomes


def _flipped_objects(scene: Scene) -> Outcomes:
    """A bit of an object of a finished run is flipped: the same command, on this machine and on a new one, says so."""
    sys.path.insert(0, str(ROOT / "tests"))
    import fsspec
    from storage_servers import BUCKET, s3_server

    outcomes = Outcomes()
    with _environment({**s3_server(), "PARALOOM_CACHE": str(scene.folder / "here")}):
        url = f"s3://{BUCKET}/flipped"
        first = scene.call(*_run(url))
        if first.returncode:
            raise SystemExit(first.stderr)
        system = fsspec.filesystem("s3")
        names = [name for name in system.find(f"{BUCKET}/flipped") if name.endswith((".parquet", ".safetensors"))]
        for part in ("/read/part-", "/kept/part-", "/kept/rejected/", "/words/artifact/"):
            name = next((name for name in names if part in name), None)
            if name is None:
                outcomes.count(part, "no such object")
                continue
            good = system.cat_file(name)
            middle = len(good) // 2
            system.pipe_file(name, good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :])
            for machine in ("here", "new"):
                with _environment({"PARALOOM_CACHE": str(scene.folder / machine)}):
                    ended = scene.call(*_run(url))
                if judge(outcomes, f"{part} {machine}", ended) and system.cat_file(name) != good:
                    _is_wrong(outcomes, f"{part} {machine}: NEITHER NOTICED NOR MADE AGAIN")
                shutil.rmtree(scene.folder / "new", ignore_errors=True)
            system.pipe_file(name, good)
    return outcomes


def _endless(scene: Scene) -> Outcomes:
    """One of five sentences gets an answer that never ends, an error page that never ends, or wrong numbers."""
    outcomes = Outcomes()
    for kind in ("text", "JSON", "page of status 500", "one line of headers"):
        with _server(kind) as server:
            text = ENDPOINT.format(url=server.url, options="timeout = 60")
            (scene.folder / "endless.toml").write_text(text, encoding="utf-8")
            folder = scene.folder / "endless"
            shutil.rmtree(folder, ignore_errors=True)
            ended = scene.call("run", "endless.toml", "-o", folder, "--engine", "inline", "--json")
            if judge(outcomes, kind, ended):
                counts = json.loads(ended.stdout.splitlines()[-1])["stages"][-1]["counts"]
                missing = 5 - counts["kept"] - counts["rejected"] - counts["failed"]
                outcomes.lost += missing
                if counts["kept"] != 4 or server.sent > _MAX_SENT:
                    _is_wrong(outcomes, f"{kind}: {counts}")
            outcomes.notes.append(f"{kind}: {server.sent:,} bytes were taken")
    return outcomes


def _keys(scene: Scene) -> Outcomes:
    """Keys that are not keys, and keys in places where they do not belong: no part of them is seen anywhere."""
    outcomes = Outcomes()
    cases: dict[str, tuple[dict[str, str], str, Callable[[str], str]]] = {
        "with a line break": ({"PARALOOM_API_KEY": KEY}, "", str),
        "with a carriage return": ({"PARALOOM_API_KEY": KEY.replace("\n", "\r")}, "", str),
        "with other letters": ({"PARALOOM_API_KEY": KEY.replace("\n", "ü")}, "", str),
        "in a proxy": ({"http_proxy": "http://me:Vx81#first@127.0.0.1:1", "no_proxy": ""}, "", str),
        "as user of the address": ({}, "", lambda url: url.replace("//", "//me:Vx81first@")),
        "in the query of the address": ({}, "", lambda url: f"{url}?api_key=Vx81first"),
        "as the name of the variable": ({}, 'api_key_env = "sk_Vx81first"', str),
        "in extra_body": ({}, """extra_body = '{"api_key": "Vx81first"}'""", str),
        "repeated by the server": ({"PARALOOM_API_KEY": "Vx81first-and-Vx82second"}, "", str),
    }
    for name, (variables, options, change) in cases.items():
        with _server("the key") as server, _environment(variables):
            folder, log = scene.folder / "keys", scene.folder / "keys.log"
            shutil.rmtree(folder, ignore_errors=True)
            text = ENDPOINT.format(url=change(server.url), options=options)
            (scene.folder / "keys.toml").write_text(text, encoding="utf-8")
            ended = scene.call("run", "keys.toml", "-o", folder, "--engine", "inline", "--log-file", log)
            judge(outcomes, name, ended)
        written = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
        seen = [str(path.relative_to(scene.folder)) for path in written if b"Vx8" in path.read_bytes()]
        seen += ["log"] if log.is_file() and b"Vx8" in log.read_bytes() else []
        seen += [stream for stream in ("stdout", "stderr") if "Vx8" in getattr(ended, stream)]
        if seen:
            outcomes.wrong += 1
            outcomes.finished -= not ended.returncode
            outcomes.refused -= bool(ended.returncode)
            outcomes.notes.append(f"{name}: SEEN IN {', '.join(seen)}")
        log.unlink(missing_ok=True)
    return outcomes


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Environment variables of commands in the block."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


class _Server:
    """A server of the OpenAI protocol with one fault.

    Args:
        fault: What it answers in place of the third sentence; 'the key' in place of each.
    """

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.url = ""
        self.sent = 0


@contextmanager
def _server(fault: str) -> Iterator[_Server]:
    state = _Server(fault)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if state.fault == "the key":
                message = json.dumps({"error": {"message": f"wrong: {self.headers.get('Authorization')}"}}).encode()
                self._answer(400, message)
            elif "satz 3" in body:
                self._endless()
            else:
                content = json.dumps({"choices": [{"message": {"content": "a sentence"}}]}).encode()
                self._answer(200, content)

        def _answer(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _endless(self) -> None:
            self.close_connection = True
            chunk = b"x" * 65536
            try:
                if state.fault == "one line of headers":
                    self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
                else:
                    status = b"500 Internal Server Error" if "500" in state.fault else b"200 OK"
                    self.wfile.write(b"HTTP/1.1 " + status + b"\r\nConnection: close\r\n\r\n")
                    if state.fault == "JSON":
                        self.wfile.write(b'{"choices": [{"message": {"content": "')
                # Four times as much as is bad is enough to see that it is not bounded.
                while state.sent < 4 * _MAX_SENT:
                    self.wfile.write(chunk)
                    state.sent += len(chunk)
            except OSError:
                return

        def log_message(self, *arguments: object) -> None:
            """Print nothing."""

    with ExitStack() as stack:
        http = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        http.daemon_threads = True
        threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        stack.callback(http.shutdown)
        state.url = f"http://127.0.0.1:{http.server_port}/v1"
        yield state
