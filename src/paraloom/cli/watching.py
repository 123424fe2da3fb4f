"""Options of long commands: a log file of what happens, and a command or a web address that is notified at the end."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import typer

from paraloom.core.errors import ParaloomError
from paraloom.core.events import emit, report_events_to
from paraloom.core.lazy import late
from paraloom.core.progress import format_duration
from paraloom.core.version import __version__

_log_to = late("paraloom.pipeline.event_log:log_to")

_POST_SECONDS = 10.0
"""How long a web address may take to answer."""

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)

_HOST = re.compile(r"[\w-]+(\.[\w-]+)+(:\d+)?(/\S*)?")
"""What an address without its beginning looks like."""

_signals: list[int] = []
"""The signals that asked the current command to end."""


@dataclass
class _Ending:
    """How a command has ended."""

    command: str
    state: str = "failed"
    exit_code: int = 1
    folder: str = ""
    seconds: float = 0.0
    error: str = ""
    started: float = field(default_factory=time.monotonic)

    def as_dict(self) -> dict[str, Any]:
        return {
            "command": self.command,
            "state": self.state,
            "exit_code": self.exit_code,
            "folder": self.folder,
            "seconds": self.seconds,
            "error": self.error or None,
        }

    def sentence(self) -> str:
        where = f" ({self.folder})" if self.folder else ""
        reason = f": {self.error}" if self.error else ""
        return f"paraloom {self.command}: {self.state} after {format_duration(self.seconds)}{where}{reason}"


@contextmanager
def watched(
    name: str,
    values: Mapping[str, Any],
    *,
    log_file: Path | str | None = None,
    on_end: str | None = None,
) -> Iterator[None]:
    """Log what happens in the block, and tell of its end, as the options of this module ask."""
    on_end = None if on_end is None else on_end.strip()
    is_address = on_end is not None and _is_address(on_end)
    target = str(values.get("output") or values.get("folder") or "")
    ending = _Ending(name, folder="" if target == "-" else target)
    try:
        with ExitStack() as stack, _reported(ending), _ended(ending):
            if log_file is not None:
                stack.enter_context(_log_to(Path(log_file)))
            emit("command_begin", command=name, version=__version__, process=os.getpid(), host=platform.node())
            yield
    finally:
        if on_end is not None:
            (_post if is_address else _run_at_end)(on_end, ending)


@contextmanager
def signals_as_interrupts() -> Iterator[None]:
    """Let the signals that ask a process to end interrupt the block as Ctrl-C does, so that a run records its end."""

    def interrupt(number: int, frame: object) -> None:
        _signals.append(number)
        raise KeyboardInterrupt

    _signals.clear()
    handled = []
    if threading.current_thread() is threading.main_thread():
        # A signal that is ignored, as after `nohup`, stays so.
        endings = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        handled = [one for one in endings if signal.getsignal(one) is signal.SIG_DFL]
    try:
        for one in handled:
            signal.signal(one, interrupt)
        yield
    finally:
        for one in handled:
            signal.signal(one, signal.SIG_DFL)


def interrupted_status() -> int:
    """Exit status of an interrupted command: 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP."""
    return 128 + (_signals[0] if _signals else signal.SIGINT)


@contextmanager
def _reported(ending: _Ending) -> Iterator[None]:
    try:
        yield
    finally:
        emit("command_end", **ending.as_dict())


@contextmanager
def _ended(ending: _Ending) -> Iterator[None]:
    """Note how the block ends, and the folder of the last run in it unless the command names one."""

    def note(event: str, fields: dict[str, Any]) -> None:
        if event == "run_begin" and not ending.folder:
            folders.append(fields["folder"])

    folders: list[str] = []
    try:
        with report_events_to(note):
            yield
        ending.state, ending.exit_code = "done", 0
    except ParaloomError as error:
        ending.error = " ".join(str(error).split("\n")).strip()
        raise
    except KeyboardInterrupt:
        ending.state, ending.exit_code = "interrupted", interrupted_status()
        raise
    except typer.Exit as end:
        ending.exit_code = end.exit_code
        ending.state = "failed" if end.exit_code else "done"
        raise
    except Exception as error:
        ending.exit_code = getattr(error, "exit_code", 1)  # click has one for wrong calls
        ending.error = f"{type(error).__name__}: {error}"
        raise
    finally:
        ending.folder = ending.folder or (folders[-1] if folders else "")
        ending.seconds = round(time.monotonic() - ending.started, 3)


def _run_at_end(command: str, ending: _Ending) -> None:
    """Run the user's command; what it prints goes to stderr, and its failure is a warning."""
    fields = {key: "" if value is None else str(value) for key, value in ending.as_dict().items()}
    variables = {f"PARALOOM_{key.upper()}": value for key, value in fields.items()}
    try:
        done = subprocess.run(command, shell=True, env={**os.environ, **variables}, stdout=2, check=False)
    except KeyboardInterrupt:
        return _warn("--on-end: interrupted")
    except (OSError, ValueError) as error:
        return _warn(f"--on-end: cannot be started: {error}")
    if done.returncode:
        _warn(f"--on-end: the command ended with status {done.returncode}")


def _is_address(text: str) -> bool:
    """True for a web address, False for a command; an address of another kind, or without https://, is a wrong call."""
    if not _ADDRESS.match(text):
        if _HOST.fullmatch(text) and shutil.which(text) is None:
            raise typer.BadParameter("no such command; an address begins with https://", param_hint="--on-end")
        return False
    try:
        parts = urlsplit(text)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and len(text.split()) == 1
    except ValueError:
        valid = False
    if not valid:
        raise typer.BadParameter("expected an address that begins with http:// or https://", param_hint="--on-end")
    return True


def _post(address: str, ending: _Ending) -> None:
    """Send the state to a web address; a failure, and an answer that does not come in time, is a warning."""
    import urllib.error
    import urllib.request

    host = urlsplit(address).hostname  # The path of the address may be a secret, so it is not printed.
    body = {"text": ending.sentence(), **ending.as_dict(), "host": platform.node(), "version": __version__}
    headers = {"Content-Type": "application/json", "User-Agent": f"paraloom/{__version__}"}
    too_late = f"{host} did not answer within {_POST_SECONDS:g} seconds"
    failures: list[str] = []

    def send() -> None:
        try:
            request = urllib.request.Request(address, json.dumps(body).encode(), headers, method="POST")
            with urllib.request.urlopen(request, timeout=_POST_SECONDS):
                pass
        except urllib.error.HTTPError as error:
            failures.append(f"{host} answered with status {error.code}")
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            late = isinstance(reason, TimeoutError)
            failures.append(too_late if late else f"{host} cannot be reached ({reason or type(reason).__name__})")

    # In a thread: the limit of a connection holds for each of its steps, and not for finding its host.
    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    try:
        thread.join(_POST_SECONDS)
    except KeyboardInterrupt:
        return _warn("--on-end: interrupted")
    if thread.is_alive():
        failures.append(too_late)
    if failures:
        _warn(f"--on-end: {failures[0]}")


def _warn(message: str) -> None:
    typer.echo(f"paraloom: {message}", err=True)
