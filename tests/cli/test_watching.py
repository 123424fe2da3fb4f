"""Long commands: their log, the command and the web address at their end, `status`, and every exit status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from functools import wraps
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
import typer
from cli_commands import commands, options
from commands import Command
from processes import TIMEOUT, environment, wait_until

from paraloom import api
from paraloom.cli import watching
from paraloom.core.errors import DataError

PIPELINE = """
name = "toy"
[[stage]]
use = "read-pairs"
source = "pairs.tsv"
[[stage]]
use = "score"
scores = ["length"]
"""


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    """A pipeline that runs in this process, within a second."""
    (tmp_path / "pairs.tsv").write_text("Guten Morgen.\tGood morning.\nHallo.\tHello.\n")
    path = tmp_path / "toy.toml"
    path.write_text(PIPELINE)
    return path


class Receiver:
    """A web server that records what is posted to it."""

    def __init__(self, status: int = 200) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.release = Event()
        self.release.set()

        def answer(handler: BaseHTTPRequestHandler) -> None:
            self.bodies.append(json.loads(handler.rfile.read(int(handler.headers["Content-Length"]))))
            self.release.wait()
            handler.send_response(status)
            handler.end_headers()

        handler = type("Handler", (BaseHTTPRequestHandler,), {"do_POST": answer, "log_message": lambda *_: None})
        self.server = HTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/secret"
        Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop the server."""
        self.release.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """A web server on this machine."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = Receiver()
    yield server
    server.close()


def interrupted(*arguments: object, **options: object) -> None:
    """What a command calls when Ctrl-C is pressed."""
    raise KeyboardInterrupt


def test_every_command_with_workers_can_be_watched() -> None:
    watched = {"--log-file", "--on-end"}
    for name, command in commands().items():
        assert len(watched & options(command)) in (0, 2), name
        assert "--workers" not in options(command) or watched <= options(command), name


def test_status_of_a_run(paraloom: Command, pipeline: Path, tmp_path: Path) -> None:
    assert paraloom("run", pipeline, "-o", "run", "--engine", "inline")[0] == 0
    status, out, _ = paraloom("status", "run")
    assert status == 0 and out.startswith("run (toy): done in")
    status, out, _ = paraloom("status", "run", "--json")
    assert status == 0 and json.loads(out)["state"] == "done"
    status, out, err = paraloom("status", tmp_path)
    assert status == 1 and out == "" and "Name one of the runs in it: run." in err
    status, _, err = paraloom("status", "pairs.tsv")
    assert status == 1 and "no command is writing it" in err


def test_the_log_of_a_command(paraloom: Command, pipeline: Path, tmp_path: Path) -> None:
    arguments = ("run", pipeline, "-o", "run", "--engine", "inline", "--log-file", "logs/run.log")
    assert paraloom(*arguments)[0] == 0
    assert paraloom(*arguments)[0] == 0
    events = [json.loads(line) for line in (tmp_path / "logs/run.log").read_text().splitlines()]
    assert [event["event"] for event in events].count("command_begin") == 2
    assert events[-1]["event"] == "command_end"
    assert (events[-1]["command"], events[-1]["state"], events[-1]["exit_code"]) == ("run", "done", 0)
    assert paraloom("run", pipeline, "-o", "run", "--log-file", tmp_path)[0] == 1


def test_the_log_has_warnings_and_errors(
    paraloom: Command, pipeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        import warnings

        warnings.warn("this is odd", stacklevel=1)
        raise DataError("it is empty", file="in.txt", remedy="Fill it.")

    monkeypatch.setattr(api, "translate_file", wraps(api.translate_file)(fail))
    assert paraloom("translate", "de-en", "in.txt", "--log-file", "a.log")[0] == 1
    events = [json.loads(line) for line in (tmp_path / "a.log").read_text().splitlines()]
    assert [(event["event"], event.get("message") or event.get("error")) for event in events] == [
        ("command_begin", None),
        ("warning", "this is odd"),
        ("command_end", "in.txt: it is empty. Fill it."),
    ]


def test_a_command_at_the_end(paraloom: Command, pipeline: Path, tmp_path: Path) -> None:
    note = 'echo "$PARALOOM_COMMAND|$PARALOOM_STATE|$PARALOOM_EXIT_CODE|$PARALOOM_FOLDER|$PARALOOM_ERROR" > end.txt'
    assert paraloom("run", pipeline, "--engine", "inline", "--on-end", note)[0] == 0
    assert (tmp_path / "end.txt").read_text() == f"run|done|0|{tmp_path}/runs/toy|\n"
    (tmp_path / "pairs.tsv").write_text("Guten Morgen.\n")
    assert paraloom("run", pipeline, "-o", "run", "--engine", "inline", "--on-end", note)[0] == 1
    assert (tmp_path / "end.txt").read_text().startswith("run|failed|1|run|stage 10-read-pairs, ")
    assert paraloom("run", pipeline, "-o", "run", "--on-end", "test $PARALOOM_SECONDS", "--until", "x")[0] == 1


def test_a_command_at_the_end_is_run_after_an_interruption(
    paraloom: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "translate_file", wraps(api.translate_file)(interrupted))
    assert paraloom("translate", "de-en", "in.txt", "--on-end", "echo $PARALOOM_STATE > end.txt")[0] == 130
    assert (tmp_path / "end.txt").read_text() == "interrupted\n"


def test_a_command_at_the_end_that_fails_is_a_warning(paraloom: Command, pipeline: Path) -> None:
    status, out, err = paraloom("run", pipeline, "--engine", "inline", "--json", "--on-end", "exit 3")
    assert status == 0 and "--on-end: the command ended with status 3" in err
    assert json.loads(out)["digest"]


def test_a_web_address_at_the_end(paraloom: Command, pipeline: Path, receiver: Receiver) -> None:
    assert paraloom("run", pipeline, "-o", "run", "--engine", "inline", "--on-end", receiver.address)[0] == 0
    (body,) = receiver.bodies
    assert (body["command"], body["state"], body["exit_code"], body["folder"]) == ("run", "done", 0, "run")
    assert body["text"].startswith("paraloom run: done after") and body["seconds"] > 0 and body["error"] is None


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        ("refuses", "cannot be reached"),
        ("500", "answered with status 500"),
        ("waits", "did not answer within 0.2 seconds"),
    ],
)
def test_a_web_address_that_fails_is_a_warning(
    failure: str, message: str, paraloom: Command, pipeline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = Receiver(500)
    if failure == "refuses":
        server.close()
    if failure == "waits":
        server.release.clear()
        monkeypatch.setattr(watching, "_POST_SECONDS", 0.2)
    status, _, err = paraloom("run", pipeline, "--engine", "inline", "--on-end", server.address)
    server.close() if failure != "refuses" else None
    assert status == 0 and f"--on-end: 127.0.0.1 {message}" in err
    assert "secret" not in err


@pytest.mark.parametrize(
    "address",
    ["ftp://a.example", "file:///etc/passwd", "a.example", "http://", "http://[::", "HTTP://a.example/?b&touch run"],
)
def test_a_wrong_web_address_is_a_wrong_call(address: str, paraloom: Command, pipeline: Path, tmp_path: Path) -> None:
    status, _, err = paraloom("run", pipeline, "-o", "run", "--on-end", address)
    assert status == 2 and "--on-end" in err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("command", ["echo done>end.txt", "date>end.txt", "$PWD/end.sh", "./end.sh"])
def test_a_shell_s_command_is_no_address(command: str, paraloom: Command, pipeline: Path, tmp_path: Path) -> None:
    (tmp_path / "end.sh").write_text("#!/bin/sh\ntouch end.txt\n", encoding="utf-8")
    (tmp_path / "end.sh").chmod(0o755)
    assert paraloom("run", pipeline, "-o", "run", "--engine", "inline", "--on-end", command)[0] == 0
    assert (tmp_path / "end.txt").exists()


# Exit statuses, as docs/reference/exit-codes.md lists them.


def test_exit_status_0_and_1(paraloom: Command, pipeline: Path) -> None:
    assert paraloom("run", pipeline, "--engine", "inline")[0] == 0
    assert paraloom("--version")[0] == 0
    assert paraloom("run", "--help")[0] == 0
    assert paraloom("run", "missing.toml")[0] == 1
    assert paraloom("status", "missing")[0] == 1


@pytest.mark.parametrize(
    "call", [[], ["rum"], ["run"], ["status"], ["status", "a", "b"], ["run", "a.toml", "--workers", "two"], ["train"]]
)
def test_exit_status_2(call: list[str], paraloom: Command) -> None:
    assert paraloom(*call)[0] == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_exit_status_of_an_interruption(
    number: signal.Signals,
    paraloom: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    def receive(*arguments: object, **options: object) -> None:
        os.kill(os.getpid(), number)
        time.sleep(10)

    monkeypatch.setattr(api, "translate_file", wraps(api.translate_file)(receive))
    before = signal.getsignal(number)
    if before is signal.SIG_IGN:  # whoever runs the tests began them with `nohup`
        signal.signal(number, signal.SIG_DFL)
        request.addfinalizer(lambda: signal.signal(number, before))
    note = "echo $PARALOOM_STATE $PARALOOM_EXIT_CODE > end.txt"
    status, _, err = paraloom("translate", "de-en", "in.txt", "--on-end", note)
    assert status == 128 + number and "the same command starts from the beginning" in err
    assert (tmp_path / "end.txt").read_text() == f"interrupted {128 + number}\n"
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_an_ignored_signal_stays_ignored(paraloom: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after `nohup`."""
    monkeypatch.setattr(
        api, "translate_file", wraps(api.translate_file)(lambda *_, **__: os.kill(os.getpid(), signal.SIGHUP))
    )
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert paraloom("translate", "de-en", "in.txt")[0] == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_an_exit_of_the_command_itself(paraloom: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def leave(*arguments: object, **options: object) -> None:
        raise typer.Exit(1)

    monkeypatch.setattr(api, "translate_file", wraps(api.translate_file)(leave))
    assert paraloom("translate", "de-en", "in.txt", "--on-end", "echo $PARALOOM_STATE > end.txt")[0] == 1
    assert (tmp_path / "end.txt").read_text() == "failed\n"


@pytest.mark.slow
def test_a_terminated_run_says_how_to_resume(tmp_path: Path, toy_translator: Path) -> None:
    """SIGTERM, as schedulers send it before they kill: the workers end, and the status is known."""
    (tmp_path / "pairs.tsv").write_text("".join(f"ka lo {n}\ta b {n}\n" for n in range(20000)))
    command = [sys.executable, "-m", "paraloom.cli.main", "backtranslate", "pairs.tsv", "-o", "pairs.parquet"]
    command += ["--translator", str(toy_translator), "--workers", "1", "--decode", "beam:5"]
    command += ["--src-lang", "kal", "--tgt-lang", "en", "--no-language-check"]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=environment())
    work = tmp_path / "pairs.parquet.paraloom"
    wait_until(lambda: list(work.glob("*backtranslate/part-*.parquet")), running)
    assert api.run_status(tmp_path / "pairs.parquet").state == "running"
    running.send_signal(signal.SIGTERM)
    _, err = running.communicate(timeout=TIMEOUT)
    assert running.returncode == 143 and "Traceback" not in err and "resumes from there" in err
    assert api.run_status(tmp_path / "pairs.parquet").state == "interrupted"


@pytest.mark.slow
@pytest.mark.parametrize("module", ["typer", "paraloom.cli.calls"])
def test_an_interruption_of_the_imports_ends_the_process_quietly(module: str, tmp_path: Path) -> None:
    """Ctrl-C in the first moments of a command printed a traceback, or 'Aborted', of an import."""
    script = f"""
import os, signal, sys

class Interrupting:
    def find_spec(self, name, *others):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupting())
sys.argv = ["paraloom", "translate", "de-en", "in.txt"]
from paraloom.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, env=environment())
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")  # 130 to a shell
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"paraloom": "paraloom.__main__:main"}


def test_a_command_sets_the_handling_of_ctrl_c_back(paraloom: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def receive(*arguments: object, **options: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)

    monkeypatch.setattr(api, "translate_file", wraps(api.translate_file)(receive))
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        assert paraloom("translate", "de-en", "in.txt")[0] == 130
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGINT, before)
