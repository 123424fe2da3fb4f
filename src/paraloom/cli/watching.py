"""Options of long commands: a log file of what happens, and a command or a web address that is notified at the end."""

from __future__ import annotations

import inspect
import json
import os
import platform
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from paraloom.core.errors import ParaloomError
from paraloom.core.events import emit, report_events_to
from paraloom.core.progress import format_duration
from paraloom.core.version import __version__
from paraloom.pipeline.event_log import log_to

PANEL = "Watch a long run"

COMMANDS = frozenset(
    [
        *("run", "quickstart", "papers run"),
        *("backtranslate", "score", "filter", "lexicon", "tune"),
        *("encode", "mine", "translate", "augment", "variants", "diversity", "extract", "parse", "syntax-groups"),
        "augment-labels",
        "canonicalize",
        *("align sentences", "align documents", "align pivot"),
        *("train translator", "train encoder", "train paraphrase-model"),
        *("train language-model", "train word-counts", "train parser", "train paraphraser"),
        *("distill encoder", "distill words", "evaluate translator", "evaluate comet"),
        "evaluate paraphraser",
        *("research augment", "research selftrain", "research train-classifier", "research train-phrases"),
        *("research exemplars", "research evaluate-exemplars"),
    ]
)
"""The commands that may take long, which have these options."""

_POST_SECONDS = 10.0
"""How long a web address may take to answer."""

LogFile = Annotated[
    Path | None,
    typer.Option(
        "--log-file",
        metavar="FILE",
        help="Append what happens to a file, as lines of JSON: stages, shards, progress, memory.",
        rich_help_panel=PANEL,
    ),
]
OnEnd = Annotated[
    str | None,
    typer.Option(
        "--on-end",
        metavar="COMMAND",
        help="Run a shell command at the end, however it ends, with $PARALOOM_STATE, _FOLDER, _SECONDS and others.",
        rich_help_panel=PANEL,
    ),
]
OnEndPost = Annotated[
    str | None,
    typer.Option(
        "--on-end-post",
        metavar="URL",
        help="Send the state at the end, however it ends, to a web address, as JSON by POST.",
        rich_help_panel=PANEL,
    ),
]
_OPTIONS: Mapping[str, Any] = {"log_file": LogFile, "on_end": OnEnd, "on_end_post": OnEndPost}


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
        """For the log, and as JSON."""
        return {
            "command": self.command,
            "state": self.state,
            "exit_code": self.exit_code,
            "folder": self.folder,
            "seconds": self.seconds,
            "error": self.error or None,
        }

    def sentence(self) -> str:
        """The same for people."""
        where = f" ({self.folder})" if self.folder else ""
        reason = f": {self.error}" if self.error else ""
        return f"paraloom {self.command}: {self.state} after {format_duration(self.seconds)}{where}{reason}"


def watchable(name: str, command: Callable[..., None]) -> Callable[..., None]:
    """A command with the options of this module, if it is one of COMMANDS.

    Args:
        name: What it is called on the command line.
        command: The function, whose errors are raised and not yet reported.
    """
    if name not in COMMANDS:
        return command
    signature = inspect.signature(command, eval_str=True)

    @wraps(command)
    def run(
        *arguments: Any,
        log_file: Path | None = None,
        on_end: str | None = None,
        on_end_post: str | None = None,
        **options: Any,
    ) -> None:
        if on_end_post is not None:
            _check_address(on_end_post)
        target = str(options.get("output") or options.get("folder") or "")
        ending = _Ending(name, folder="" if target == "-" else target)
        try:
            with ExitStack() as stack, _reported(ending), _ended(ending):
                if log_file is not None:
                    stack.enter_context(log_to(log_file))
                emit("command_begin", command=name, version=__version__, process=os.getpid(), host=platform.node())
                command(*arguments, **options)
        finally:
            if on_end is not None:
                _run_at_end(on_end, ending)
            if on_end_post is not None:
                _post(on_end_post, ending)

    added = [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for key, annotation in _OPTIONS.items()
    ]
    run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *added])  # type: ignore[attr-defined]
    return run


@contextmanager
def signals_as_interrupts() -> Iterator[None]:
    """Let the signals that ask a process to end interrupt the block as Ctrl-C does, so that a run records its end.

    Raises:
        KeyboardInterrupt: Such a signal came.
    """

    def interrupt(number: int, frame: object) -> None:
        _signals.append(number)
        raise KeyboardInterrupt

    _signals.clear()
    handled = []
    if threading.current_thread() is threading.main_thread():
        # A signal that is ignored, as after `nohup`, stays so.
        handled = [one for one in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(one) is signal.SIG_DFL]
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
    """Report the end of the block to the log."""
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


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        valid = False
    if not valid:
        raise typer.BadParameter("expected an address that begins with http:// or https://", param_hint="--on-end-post")


def _post(address: str, ending: _Ending) -> None:
    """Send the state to a web address; a failure, and an answer that does not come in time, is a warning."""
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
        return _warn("--on-end-post: interrupted")
    if thread.is_alive():
        failures.append(too_late)
    if failures:
        _warn(f"--on-end-post: {failures[0]}")


def _warn(message: str) -> None:
    typer.echo(f"paraloom: {message}", err=True)
