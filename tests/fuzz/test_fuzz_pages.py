"""A fuzzer of requests: whatever a browser or a program sends, the pages answer it, and no exception is raised."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote_from_bytes

import pyarrow as pa
import pytest
from fuzzing import NASTY, SECONDS, fuzz
from hypothesis import strategies as st
from toy_pairs import ODD_COLUMNS, ODD_NAMES, write_odd_pairs, write_toy_pairs, write_toy_run

from paraloom.core.errors import ConfigError
from paraloom.io import write_table
from paraloom.web.explorer import opened
from paraloom.web.library import Library
from paraloom.web.server import ExploreServer

pytestmark = pytest.mark.slow

PAGES = "/run /pairs /pairs/summary /scores /threshold /row /compare /judge /judge/pair /trace"
FORMS = "/judge/draw /judge/label"
ODD_PATHS = r"/ /nothing /static/explore.css /static/../session.py //evil/pairs //[ /\evil http://[::1/pairs * ? /%ff"
COLUMNS = ["quality", "src_tokens", "origin", "src", "tgt", "pair_id", "n", "delta_quality", *ODD_NAMES, *ODD_COLUMNS]
CONDITIONS = [
    "quality > 0.5",
    "length(src) > 20 and origin = 'news'",
    "levenshtein(src, tgt) < 5",
    "quality >",
    "(((((",
    "1 / 0 = src_tokens",
    "int64 + int64 > 0",
    "list[1] = 'a'",
    "time < date",
    "random() > 1",
    *(f'"{name}" is not null' for name in (*ODD_NAMES, *ODD_COLUMNS)),
]
FITTING = {
    "corpus": ["10-read", "20-filter", "²-odd", "pairs.parquet"],
    "where": CONDITIONS,
    "other": CONDITIONS,
    "search": ["garden", "%", "<b>"],
    "sort": [*COLUMNS, *(f"-{name}" for name in COLUMNS)],
    "column": COLUMNS,
    "score": COLUMNS,
    "by": COLUMNS,
    "row": ["1", "4", "40"],
    "page": ["1", "2", "999999999"],
    "at": ["0", "3", "0.4", "1e300", "-1e300"],
    "keep": ["above", "below"],
    "count": ["1", "3"],
    "rater": ["ada", "ben", "preview", "key"],
    "pair": ["1", "2"],
    "kind": ["strength", "fluency"],
    "label": ["1", "3", "skip", "back"],
    "id": ["toy:7"],
    "fragment": ["results"],
    "token": ["x"],
}
ODD_VALUES = ["", "0", "-1", "²", "٣", "1_0", " 1", "1e309", "inf", "nan", "../../etc/passwd", "a" * 300, "9" * 5000]


def field(name: str) -> st.SearchStrategy[tuple[str, bytes]]:
    """A parameter with a value that fits, or any other one."""
    fitting = st.sampled_from(FITTING[name]).map(str.encode)
    odd = st.one_of(
        st.sampled_from(ODD_VALUES).map(str.encode),
        st.sampled_from(NASTY),
        st.text(max_size=8).map(lambda text: text.encode("utf-8", "surrogatepass")),
    )
    return st.tuples(st.just(name), st.one_of(fitting, fitting, odd))


def request(method: str, path: str, fields: list[tuple[str, bytes]], raw: bool) -> tuple[str, bytes, bytes]:
    """Method, target and form; `raw` leaves bytes as they are."""
    quoted = [f"{name}=".encode() + (value if raw else quote_from_bytes(value).encode()) for name, value in fields]
    line = b"&".join(quoted)
    if method == "POST":
        return method, path.encode(), line
    return method, path.encode() + b"?" + bytes(byte for byte in line if byte not in b" \r\n"), b""


ANY_FIELDS = st.lists(st.sampled_from(sorted(FITTING)).flatmap(field), max_size=6)
LABEL = st.tuples(*(field(name) for name in ("rater", "pair", "kind", "label"))).map(list)
DRAW = st.tuples(field("by"), field("count")).map(list)
MANY = st.integers(499, 502).map(lambda n: [("where", b"1")] * n)
ROW = st.tuples(field("row"), field("at"), field("where"), field("sort")).map(list)
ALL_PATHS = " ".join((PAGES, FORMS, ODD_PATHS))


def requests(methods: str, paths: str, fields: st.SearchStrategy[list[tuple[str, bytes]]]) -> st.SearchStrategy[object]:
    """Requests of some methods to some paths."""
    sampled = (st.sampled_from(choices.split()) for choices in (methods, paths))
    return st.builds(request, *sampled, fields, st.sampled_from([False, False, True]))


REQUESTS = st.one_of(
    requests("GET", PAGES, ANY_FIELDS),
    requests("GET", PAGES, ANY_FIELDS),
    requests("GET", "/row", ROW),
    requests("POST", "/judge/draw", DRAW),
    requests("POST", "/judge/label", LABEL),
    requests("GET HEAD POST PUT OPTIONS x", ALL_PATHS, ANY_FIELDS),
    requests("GET POST", ALL_PATHS, MANY),
)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, ExploreServer]]:
    """Pages over pairs, odd columns, texts, a table without scores, two sets, a run, and a run that has vanished."""
    folder = tmp_path_factory.mktemp("pages")
    pairs = write_toy_pairs(folder / "pairs.parquet", 60)
    write_table(pa.table({"text": ["one", "two", None], "n": [1, 2, 3]}), folder / "texts.parquet")
    (folder / "plain.de-en.tsv").write_text("Hallo\tHello\nTag\tDay\n", encoding="utf-8")
    run = write_toy_run(folder / "run", finished=False)
    (run / "²-odd").mkdir()
    vanished = write_toy_run(folder / "vanished")
    sources: dict[str, tuple[Path, Path | None]] = {
        "pairs": (pairs, None),
        "odd": (write_odd_pairs(folder / "odd [*?] <b> %2e .. 'x' \n.parquet"), None),
        "texts": (folder / "texts.parquet", None),
        "plain": (folder / "plain.de-en.tsv", None),
        "two": (pairs, write_toy_pairs(folder / "second.parquet", 50)),
        "run": (run, None),
        "vanished": (vanished, None),
    }
    with ExitStack() as stack:
        running = {
            name: stack.enter_context(opened(Library(*paths, scratch=folder))) for name, paths in sources.items()
        }
        for server in running.values():
            threading.Thread(target=server.serve_forever, daemon=True).start()
        shutil.rmtree(vanished)
        yield running
        for server in running.values():
            server.shutdown()


def answer_to(server: ExploreServer, method: str, target: bytes, form: bytes) -> bytes:
    """All bytes of the answer; the connection is closed afterwards."""
    host = f"127.0.0.1:{server.port}"
    head = f"Host: {host}\r\nCookie: {server.cookie}={server.token}\r\nOrigin: http://{host}\r\nConnection: close\r\n"
    head += f"Content-Length: {len(form)}\r\n" if method == "POST" else ""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(method.encode() + b" " + target + b" HTTP/1.1\r\n" + head.encode() + b"\r\n" + form)
        answer = b""
        while part := connection.recv(65_536):
            answer += part
    return answer


def test_requests_get_an_answer(servers: dict[str, ExploreServer], capsys: pytest.CaptureFixture[str]) -> None:
    def check(example: tuple[str, tuple[str, bytes, bytes]]) -> None:
        name, (method, target, form) = example
        answer = answer_to(servers[name], method, target, form)
        said = capsys.readouterr().err
        assert "Traceback" not in said, said
        assert b"<script>x" not in answer
        version, status, *_ = answer.partition(b"\r\n")[0].split(b" ")
        assert version == b"HTTP/1.1", answer[:200]
        assert status in b"200 303 400 404 413".split() or (status == b"501" and method in ("PUT", "OPTIONS", "x"))
        if status >= b"400":
            raise ConfigError(status.decode())

    got = fuzz(check, st.tuples(st.sampled_from(sorted(servers)), REQUESTS), SECONDS)
    assert got["result"] and got["error"]
