"""Queries end with their request: after some seconds, or when the browser leaves; nothing computes on afterwards."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections.abc import Iterator
from urllib.parse import quote

import pyarrow as pa
import pytest
from processes import TIMEOUT

from paraloom.core.errors import RunError
from paraloom.io import write_table
from paraloom.pairs.filtering.expressions import condition
from paraloom.web import limits, matching
from paraloom.web.explorer import opened
from paraloom.web.library import Library
from paraloom.web.limits import AbandonedError, check_limit, limited
from paraloom.web.matching import Matcher, RowFilter
from paraloom.web.server import ExploreServer

SLOW = " + ".join(f"damerau_levenshtein({text}, tgt)" for text in ("src", "upper(src)", "reverse(src)")) + " < 10"
"""Takes some 0.1 s for each of the 2,000 rows."""

PATHS = [
    f"/pairs?where={quote(SLOW)}",
    f"/scores?where={quote(SLOW)}",
    f"/threshold?score=n&where={quote(SLOW)}",
    f"/pairs/summary?where={quote(SLOW)}",
    f"/row?row=1&at=1&where={quote(SLOW)}",
    f"/compare?where={quote(SLOW)}&other=n%3C3",
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExploreServer]:
    draw = random.Random(1)
    texts = ["".join(draw.choices("abcdefgh ", k=3000)) for _ in range(60)]
    src, tgt = draw.choices(texts, k=2000), draw.choices(texts, k=2000)
    path = tmp_path_factory.mktemp("long") / "long.parquet"
    write_table(pa.table({"src": src, "tgt": tgt, "n": range(2000)}), path)
    with opened(Library(path)) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


def send(server: ExploreServer, target: str) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT)
    head = f"Host: 127.0.0.1:{server.port}\r\nCookie: {server.cookie}={server.token}\r\nConnection: close\r\n\r\n"
    connection.sendall(f"GET {target} HTTP/1.1\r\n{head}".encode())
    return connection


def answer(connection: socket.socket) -> str:
    parts = []
    while part := connection.recv(65_536):
        parts.append(part)
    return b"".join(parts).decode()


def used(seconds: float) -> float:
    """Time of processors that this process uses while nothing happens here."""
    before = time.process_time()
    time.sleep(seconds)
    return time.process_time() - before


def wait_until_idle() -> None:
    """Wait until nothing computes; fails after a while that a query alone would take."""
    end = time.monotonic() + 60
    while used(0.3) > 0.1:
        assert time.monotonic() < end, "it computes on"


@pytest.mark.slow
@pytest.mark.parametrize("target", PATHS)
def test_a_query_is_stopped_after_some_seconds(
    server: ExploreServer, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SECONDS", 0.5)
    page = answer(send(server, target))
    assert page.startswith("HTTP/1.1 400") and "the query was stopped after 0.5 seconds" in page
    assert "paraloom filter" in page
    wait_until_idle()


@pytest.mark.slow
@pytest.mark.parametrize("target", PATHS[:2])
def test_a_query_is_stopped_when_the_browser_leaves(
    server: ExploreServer, target: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(limits, "SECONDS", TIMEOUT)
    connection = send(server, target)
    assert used(1) > 0.3
    connection.close()
    wait_until_idle()
    assert "Traceback" not in capsys.readouterr().err
    assert "HTTP/1.1 200" in answer(send(server, "/pairs?where=n%20%3C%203"))


def test_a_search_ends_with_its_request(server: ExploreServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "_SEARCHED", 100_000.0)
    matcher = Matcher(server.app.library.get().dataset)
    left = iter([False] * 20)
    with limited(TIMEOUT, lambda: next(left, True)), pytest.raises(AbandonedError):
        matcher.matches(RowFilter(search="abcabcabc"))
    assert matcher.matches(RowFilter(search="abcabcabc")).is_complete


def test_the_parsing_of_a_condition_ends_with_its_request() -> None:
    text = " and ".join(f"n > {i}" for i in range(3000))
    with limited(0.0, lambda: False), pytest.raises(RunError, match="stopped"):
        condition(text)


def test_a_limit_is_that_of_its_request() -> None:
    with limited(0.0, lambda: False):
        time.sleep(0.01)
        with pytest.raises(RunError):
            check_limit()
        thread = threading.Thread(target=check_limit)
        thread.start()
        thread.join()
    check_limit()


def test_pieces_of_long_rows_are_small(server: ExploreServer) -> None:
    dataset = server.app.library.get().dataset
    (predicate,) = Matcher(dataset).predicates("levenshtein(src, tgt) < 5", "")
    rows = dataset.sample.select(["src", "tgt"])
    costs = predicate._costs(rows)
    assert costs is not None
    pieces = list(matching._pieces(rows, costs))
    assert max(piece.num_rows for piece in pieces) <= 20 < len(pieces)
    assert pa.concat_tables(pieces).combine_chunks() == rows.combine_chunks()
    (numbers,) = Matcher(dataset).predicates("n < 5", "")
    assert numbers._costs(dataset.sample.select(["n"])) is None
