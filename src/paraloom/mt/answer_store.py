"""Answers of an endpoint, kept so that a run that is resumed, or repeated, pays for none of them twice."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paraloom.core.errors import ConfigError, RunError

COUNTERS = ("requests", "answers", "input_tokens", "output_tokens", "retries")
"""Counts: requests sent (repeated ones included), answers that came, their tokens, requests repeated."""

_TABLES = """
create table if not exists answers (digest text primary key, answer text not null) without rowid;
create table if not exists failures (row text primary key, reason text not null) without rowid;
create table if not exists counters (name text primary key, value integer not null) without rowid;
create table if not exists facts (name text primary key, value text not null) without rowid;
"""
_WAIT_SECONDS = 60


class AnswerStore:
    """A SQLite file of answers by the digest of their request, shared by the workers of a run; `sync` secures it."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._pending = dict.fromkeys(COUNTERS, 0)
        with self._errors():
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            # Used by one thread at a time: that of the event loop, after the one that makes it.
            self._connection = sqlite3.connect(
                path or ":memory:", timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("pragma journal_mode=wal")
            # A commit survives the end of the process; `sync` makes it survive the end of the machine.
            self._connection.execute("pragma synchronous=normal")
            self._connection.executescript(_TABLES)
            self._connection.executemany("insert or ignore into counters values (?, 0)", [(name,) for name in COUNTERS])

    def get(self, digest: str) -> dict[str, Any] | None:
        """The answer to a request, None if there is none."""
        with self._errors():
            row = self._connection.execute("select answer from answers where digest = ?", (digest,)).fetchone()
        answer: dict[str, object] | None = None if row is None else json.loads(row[0])
        return answer

    def put(self, digest: str, answer: Mapping[str, object], *, input_tokens: int = 0, output_tokens: int = 0) -> None:
        """Keep an answer, and count it and its tokens."""
        text = json.dumps(answer, ensure_ascii=False)
        self._add(answers=1, input_tokens=input_tokens, output_tokens=output_tokens)
        with self._errors(), self._transaction():
            self._connection.execute("insert or replace into answers values (?, ?)", (digest, text))

    def take_request(self, max_requests: int = 0, max_tokens: int = 0, *, repeated: bool = False) -> str | None:
        """Count a request that is about to be sent, unless a budget is used up, by whichever worker and run."""
        if not max_requests and not max_tokens:
            self._add(requests=1, retries=int(repeated))  # written with its answer
            return None
        with self._errors(), self._transaction():
            totals = self.totals()
            if max_requests and totals["requests"] >= max_requests:
                return "requests"
            if max_tokens and totals["input_tokens"] + totals["output_tokens"] >= max_tokens:
                return "tokens"
            self._add(requests=1, retries=int(repeated))
        return None

    def fail(self, row: str, reason: str) -> int:
        """Keep that a row has no translation; the same row counts once."""
        with self._errors(), self._transaction():
            self._connection.execute("insert or replace into failures values (?, ?)", (row, reason))
            return int(self._connection.execute("select count(*) from failures").fetchone()[0])

    def succeed(self, row: str) -> None:
        """Forget that a row failed in an earlier run."""
        with self._errors():
            # Looking first: to delete nothing takes the lock on the file, too.
            if self._connection.execute("select 1 from failures where row = ?", (row,)).fetchone():
                self._connection.execute("delete from failures where row = ?", (row,))

    @property
    def failures(self) -> int:
        """Number of rows without a translation."""
        with self._errors():
            return int(self._connection.execute("select count(*) from failures").fetchone()[0])

    def totals(self) -> dict[str, int]:
        """The counts, by the names in `COUNTERS`."""
        with self._errors():
            counted = dict(self._connection.execute("select name, value from counters").fetchall())
        return {name: int(counted[name]) + self._pending[name] for name in COUNTERS}

    def fact(self, name: str) -> Any:
        """A JSON value that was kept by name, None if there is none."""
        with self._errors():
            row = self._connection.execute("select value from facts where name = ?", (name,)).fetchone()
        return None if row is None else json.loads(row[0])

    def keep_fact(self, name: str, value: object) -> None:
        with self._errors():
            self._connection.execute("insert or replace into facts values (?, ?)", (name, json.dumps(value)))

    def sync(self) -> None:
        """Write what was kept to the disk for good (fsync)."""
        with self._errors(), self._transaction():
            pass
        # A checkpoint syncs the log and then the file. Opened here for that, the file would lose its locks when it is
        # closed again, and the next process to end would delete the log that this one still writes to.
        with self._errors():
            self._connection.execute("pragma wal_checkpoint(passive)")

    def close(self) -> None:
        self.sync()
        self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """A transaction, at whose end the counts of this process are added to those of all."""
        self._connection.execute("begin immediate")
        try:
            yield
            added = {name: value for name, value in self._pending.items() if value}
            self._connection.executemany(
                "update counters set value = value + ? where name = ?", [(value, name) for name, value in added.items()]
            )
        except BaseException:
            self._connection.execute("rollback")
            raise
        self._connection.execute("commit")
        for name, value in added.items():
            self._pending[name] -= value

    def _add(self, **counts: int) -> None:
        for name, value in counts.items():
            self._pending[name] += value

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise RunError(
                f"the answers cannot be kept: {error}",
                file=self.path,
                remedy="Check free space and permissions; name another file with --answers. "
                "A file on a network file system serves workers of one machine only.",
            ) from None
        except sqlite3.DatabaseError as error:
            raise ConfigError(
                f"not a file of answers: {error}", file=self.path, remedy="Name a new file, or delete this one."
            ) from None
        except OSError as error:
            raise RunError(
                f"the answers cannot be kept: {error.strerror}", file=self.path, remedy="Name another file."
            ) from None
