"""The pages as functions, and over HTTP: texts are escaped, and only the browser of this machine gets an answer."""

from __future__ import annotations

import http.client
import json
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import tomllib
import urllib.request
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs

import pyarrow as pa
import pytest
from toy_pairs import HOSTILE, toy_pairs, write_odd_pairs, write_toy_pairs, write_toy_run

import paraloom
from paraloom.core.errors import ConfigError, DataError
from paraloom.io import write_shard, write_table
from paraloom.web.app import App
from paraloom.web.explorer import launcher, opened
from paraloom.web.layout import POLICY
from paraloom.web.library import Library
from paraloom.web.matching import RowFilter
from paraloom.web.row_page import tree_list
from paraloom.web.server import ExploreServer, _Handler, start_server
from paraloom.web.state import identifier

PATHS = ["/pairs", "/scores", "/threshold", "/row", "/compare", "/judge", "/judge/pair", "/run", "/trace"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExploreServer]:
    with opened(Library(write_toy_pairs(tmp_path_factory.mktemp("pairs") / "toy.parquet"))) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture
def run_app(tmp_path: Path) -> Iterator[App]:
    library = Library(write_toy_run(tmp_path / "run", finished=False))
    yield App(library)
    library.close()


def get(app: App, path: str, **query: str) -> str:
    answer = app.get(path, {name: [value] for name, value in query.items()})
    assert answer.status == 200, answer
    return answer.body.decode()


def total(page: str) -> str:
    hits = re.search(r'id="total">([^<]*)<', page)
    assert hits is not None, page
    return hits[1].replace("\u202f", "")


def request(
    server: ExploreServer, method: str, path: str, body: str | None = None, **headers: str
) -> tuple[int, str, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, given)
        response = connection.getresponse()
        return response.status, response.read().decode(), dict(response.getheaders())
    finally:
        connection.close()


def raw(server: ExploreServer, sent: bytes) -> bytes:
    """The answer to bytes, after which the client sends no more."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def cookie(server: ExploreServer) -> str:
    return f"{server.cookie}={server.token}"


def test_a_request_without_the_token_gets_nothing(server: ExploreServer) -> None:
    for headers in ({}, {"Cookie": f"{server.cookie}=wrong"}, {"Cookie": "\x01;;="}):
        for path in ("/pairs", "/static/explore.js", "/?token=wrong", "/"):
            status, body, _ = request(server, "GET", path, **headers)
            assert status == 403 and "token" in body


def test_the_token_is_exchanged_for_a_cookie_and_leaves_the_address(server: ExploreServer) -> None:
    status, body, headers = request(server, "GET", f"/pairs?token={server.token}&where=quality+%3E+0.5")
    assert status == 200 and "0; url=/pairs?where=quality+%3E+0.5" in body and server.token not in body
    assert headers["Set-Cookie"] == f"{cookie(server)}; Path=/; HttpOnly; SameSite=Strict"
    _, body, _ = request(server, "GET", f"//evil.example/?token={server.token}")
    assert "0; url=/" in body and "url=//" not in body


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1", "", "[::1]:80"])
def test_other_hosts_are_refused_even_with_the_token(server: ExploreServer, host: str) -> None:
    status, body, _ = request(server, "GET", "/pairs", Cookie=cookie(server), Host=host)
    assert status == 403 and "<table" not in body


def test_localhost_is_this_machine(server: ExploreServer) -> None:
    status, _, _ = request(server, "GET", "/pairs", Cookie=cookie(server), Host=f"LOCALHOST:{server.port}")
    assert status == 200


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "https://127.0.0.1"])
def test_forms_of_other_pages_are_refused(server: ExploreServer, origin: str | None) -> None:
    headers = {"Cookie": cookie(server)} | ({} if origin is None else {"Origin": origin})
    status, _, _ = request(server, "POST", "/judge/draw", "by=quality&count=1", **headers)
    assert status == 403
    assert not server.app.library.judging.exists


def test_every_answer_forbids_scripts_and_requests_from_elsewhere(server: ExploreServer) -> None:
    for path in ("/pairs", "/nothing", "/static/explore.css", "/static/../session.py"):
        status, _, headers = request(server, "GET", path, Cookie=cookie(server))
        assert status == (404 if path.endswith(("nothing", ".py")) else 200)
        assert headers["Content-Security-Policy"] == POLICY and headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store" and headers["Referrer-Policy"] == "same-origin"
    assert "unsafe" not in POLICY and "*" not in POLICY and POLICY.startswith("default-src 'none'")


def test_odd_requests(server: ExploreServer) -> None:
    own = {"Cookie": cookie(server), "Origin": f"http://127.0.0.1:{server.port}"}
    assert request(server, "POST", "/judge/label", "x" * 70_000, **own)[0] == 413
    assert request(server, "POST", "/judge/label", "&".join("ab") * 600, **own)[0] == 400
    status, body, _ = request(server, "GET", "/pairs?" + "a=1&" * 601, **own)
    assert status == 400 and "up to 500 parameters" in body
    head = f"GET http://[::1/ HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n"
    assert raw(server, head.encode()).startswith(b"HTTP/1.1 400")
    for length in ("", "-1", "²", "1_0", "9" * 20):
        head = f"POST /judge/label HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: {length}\r\n\r\n"
        assert raw(server, head.encode("latin-1")).startswith(b"HTTP/1.1 413")
    head = f"POST /judge/label HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
    assert raw(server, f"{head}\r\n".encode()).startswith(b"HTTP/1.1 411")
    assert raw(server, f"{head}Content-Length: 9\r\n\r\npair=1".encode()).startswith(b"HTTP/1.1 400")
    assert request(server, "POST", "/pairs", "a=b", **own)[0] == 404
    assert request(server, "PUT", "/pairs", **own)[0] == 501
    status, body, headers = request(server, "HEAD", "/pairs", **own)
    assert (status, body) == (200, "") and int(headers["Content-Length"]) > 1000


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "value", ["", "0", "-1", "9" * 30, "1e309", "nan", "<script>x</script>", "' or 1=1", "\x00", "٣"]
)
def test_any_parameter_gives_a_page(server: ExploreServer, path: str, value: str) -> None:
    names = (
        "row",
        "at",
        "score",
        "keep",
        "by",
        "page",
        "sort",
        "where",
        "search",
        "corpus",
        "other",
        "rater",
        "pair",
        "id",
    )
    for name in names:
        answer = server.app.get(path, {name: [value], **({"row": ["3"]} if name != "row" and path == "/row" else {})})
        assert answer.status in (200, 303, 404)
        assert b"<script>x" not in answer.body


def test_texts_are_escaped_on_every_page(server: ExploreServer, tmp_path: Path) -> None:
    for path, query in (
        ("/pairs", {}),
        ("/pairs", {"search": HOSTILE[0][0]}),
        ("/row", {"row": "1", "at": "0"}),
        ("/row", {"row": "2"}),
        ("/scores", {"where": "src = '<script>alert(1)</script>'"}),
        ("/threshold", {"score": "quality", "where": "origin <> '</script><script>'"}),
        ("/compare", {"where": "src < '<script>'", "other": "tgt > '<img>'"}),
    ):
        page = get(server.app, path, **query)
        assert re.findall(r"<(script|img|svg onload)[^>]*>", page) == ["script"], path
        for tag in re.findall(r"<[a-z][^>]*>", page):
            assert not re.search(r"\son\w+=", re.sub(r'"[^"]*"', '""', tag)), tag


def test_pairs_show_texts_scores_and_counts(server: ExploreServer) -> None:
    page = get(server.app, "/pairs", where="src_tokens > 5 and quality > 0.5", sort="-quality")
    rows = [row for row in toy_pairs().to_pylist() if row["src_tokens"] > 5 and (row["quality"] or 0) > 0.5]
    assert total(page) == f"{len(rows)} pairs"
    # Several rows may be the best.
    best = [row["src"] for row in rows if row["quality"] == max(row["quality"] for row in rows)]
    first = unescape(re.sub("<[^>]*>", "", page.partition("<tbody")[2].partition("</tr>")[0]))
    assert any(src in first for src in best)
    assert page.count('class="row"') == 25 and 'aria-sort="descending"' in page
    assert page == get(server.app, "/pairs", where="src_tokens > 5 and quality > 0.5", sort="-quality")


def test_an_error_names_the_remedy_and_keeps_the_condition(server: ExploreServer) -> None:
    page = get(server.app, "/pairs", where="qualty > 0.5")
    assert 'role="alert"' in page and "quality" in page and 'value="qualty &gt; 0.5"' in page


def test_the_pages_of_a_large_set_say_what_is_of_a_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_toy_pairs(tmp_path / "toy.parquet")
    monkeypatch.setattr("paraloom.web.dataset.WHOLE_ROWS", 100)
    monkeypatch.setattr("paraloom.web.dataset.SAMPLE_ROWS", 120)
    monkeypatch.setattr("paraloom.web.dataset.STEP_ROWS", 37)
    monkeypatch.setattr("paraloom.web.dataset._READ_ROWS", 1)
    monkeypatch.setattr("paraloom.web.matching.BUDGET", 0.0)
    monkeypatch.setattr("paraloom.web.row_files._READ_ROWS", 37)
    with opened(Library(path)) as explored:
        app, said = explored.app, "a sample of 120 rows, in 1 of 1 row groups"
        assert said in get(app, "/scores") and said in get(app, "/threshold", score="quality")
        assert said in get(app, "/compare", where="quality > 0.5", other="src_tokens > 5")
        page = get(app, "/pairs", sort="-quality")
        assert "rows searched so far, of which the table has the first" in page, page[page.find('id="total') :][:300]
        address = unescape(page.partition('data-continue="')[2].partition('"')[0])
        query = {name: values[0] for name, values in parse_qs(address.partition("?")[2]).items()}
        assert total(get(app, "/pairs/summary", **query)) == "300 pairs"
        assert get(app, "/pairs", sort="-quality").count("row=") == 25 and "Row 250" in get(app, "/row", row="250")
        assert get(app, "/pairs", page="12").count("row=") == 25
        assert app.post("/judge/draw", {"by": ["quality"], "count": ["2"]}).status == 303


@pytest.mark.parametrize("keep", ["above", "below"])
def test_the_condition_to_paste_keeps_as_many(server: ExploreServer, keep: str) -> None:
    page = get(server.app, "/threshold", score="quality", at="0.4", keep=keep, where="src_tokens > 5 or bleu1 > 0.5")
    shell, toml = (unescape(text) for text in re.findall(r'data-copy="([^"]*)"', page))
    program, verb, path, option, condition, *_ = shlex.split(shell)
    assert (program, verb, option) == ("paraloom", "filter", "--where") and Path(path).is_file()
    assert tomllib.loads(toml) == {"stage": [{"use": "filter", "where": condition}]}
    assert total(page) == total(get(server.app, "/pairs", where=condition))
    lost = sum(int(cells[1]) for cells in re.findall(r'<td class="n">(\d+)</td><td class="n">(\d+)</td>', page))
    assert f"{lost} are lost" in page.replace("\u202f", "")


def test_pairs_are_shown_best_first_and_presets_are_buttons(tmp_path: Path) -> None:
    names = ["src_content_missing", "tgt_content_missing", "order_inversions"]
    rows = [
        {"src": f"a {i}", "tgt": f"b {i}", "p_paraphrase": i / 40, "chrf": 50.0, **dict.fromkeys(names, 1.0)}
        for i in range(40)
    ]
    write_table(pa.Table.from_pylist(rows), str(tmp_path / "rows.parquet"))
    with opened(Library(tmp_path / "rows.parquet")) as explored:
        page = get(explored.app, "/pairs")
        shown = re.findall(r"row=(\d+)", page.partition("<tbody")[2])
        assert shown[:2] == ["40", "39"] and "sort=row" in page
        in_order = get(explored.app, "/pairs", sort="row").partition("<tbody")[2]
        assert re.findall(r"row=(\d+)", in_order)[:2] == ["1", "2"]
        links = dict(map(reversed, re.findall(r'<a href="([^"]*)" data-live="">(strict|balanced|loose)</a>', page)))
        assert list(links) == ["strict", "balanced", "loose"]
        where = parse_qs(unescape(links["strict"]).partition("?")[2])["where"][0]
        page = get(explored.app, "/pairs", where=where)
        assert total(page) == "8 pairs" and page.count('class="clause"') == 3 and 'aria-current="true">strict' in page
        without = unescape(re.findall(r'<a href="([^"]*)" data-live="" aria-label="Remove', page)[0])
        where = parse_qs(without.partition("?")[2])["where"][0]
        assert total(get(explored.app, "/pairs", where=where)) == "40 pairs"
        assert "strict and loose" in get(explored.app, "/compare")


def test_the_slider_has_the_range_of_the_bars(server: ExploreServer) -> None:
    page = get(server.app, "/threshold", score="quality")
    low, high = (float(value) for value in re.findall(r' (?:min|max)="([^"]*)"', page))
    assert f"from {low:g} to {high:g}." in page and (low, high) == (0, 1)
    assert server.app.get("/favicon.ico", {}).kind == "image/svg+xml"


def test_a_row_has_its_variants_parses_and_neighbors(tmp_path: Path) -> None:
    pairs = toy_pairs(50)
    ids = pa.array(["same" if i in (7, 8, 30) else f"id:{i}" for i in range(50)])
    trees = pa.array(["(S (NP (DT The) (NN dog)) (VP (VBZ sleeps)))"] * 49 + ["not a (tree"])
    pairs = pairs.set_column(0, pairs.schema.field(0), ids).append_column(pa.field("tgt_parse", pa.string()), trees)
    write_table(pairs, tmp_path / "toy.parquet")
    library = Library(tmp_path / "toy.parquet", encoder="english")
    try:
        corpus = library.get()
        assert corpus.neighbors is not None
        corpus.neighbors.prepare()
        page = get(App(library), "/row", row="8", at="7")
        variants = page.partition("Other variants")[2].partition("</section>")[0]
        assert re.findall(r"row=(\d+)", variants) == ["9", "31"]
        assert "<li><b>NN</b> <bdi>dog</bdi></li>" in page and "all 50 rows" in page
        assert 'rel="prev"' in page and 'rel="next"' in page
        assert corpus.neighbors.near(str(pairs.column("tgt")[20]))[0][1] == pytest.approx(1, abs=1e-5)
        assert "not a (tree" in get(App(library), "/row", row="50")
    finally:
        library.close()


def test_rows_that_a_sample_leaves_out_are_not_rejected(tmp_path: Path) -> None:
    write_table(toy_pairs(60), tmp_path / "toy.parquet")
    text = '[[stage]]\nuse = "read-pairs"\nsource = "toy.parquet"\n[[stage]]\nuse = "filter"\n'
    text += 'where = "len(src) > 3"\nsample = 20\n'
    (tmp_path / "toy.toml").write_text(text, encoding="utf-8")
    paraloom.Pipeline.from_toml(tmp_path / "toy.toml").run(tmp_path / "run", engine="inline")
    library = Library(tmp_path / "run")
    try:
        app = App(library)
        assert re.search(r">\d+ not sampled \(", get(app, "/run"))
        page = get(app, "/pairs", corpus="20-filter", where="status = 'not sampled'")
        assert 'class="tag not-sampled">not sampled<' in page and 'class="row not-sampled"' in page
        assert total(get(app, "/pairs", corpus="20-filter", where="status = 'rejected'")).startswith("0 ")
        corpus = library.get("20-filter")
        row = next(row for row in corpus.dataset.take(list(range(60))) if row["status"] == "not sampled")
        assert 'class="tag not-sampled">not sampled<' in get(app, "/trace", id=row["pair_id"])
    finally:
        library.close()


def test_a_damaged_run_is_an_error_before_the_page_opens(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"name": 3', encoding="utf-8")
    with pytest.raises(DataError, match=r"run\.json: cannot be read"):
        Library(tmp_path)


@pytest.mark.parametrize(
    "change",
    ["[" * 100_000, "", "null", {"name": "\ud800"}, {"folder": "\ud800"}, {"seconds": "x"}, {"seconds": float("nan")},
     {"seconds": 10**400}, {"counts": {"read": float("inf")}}, {"counts": {"kept": "x"}}, {"counts": [1]}],
)  # fmt: skip
def test_a_run_that_is_damaged_while_it_is_shown_is_an_error(tmp_path: Path, change: object) -> None:
    root = write_toy_run(tmp_path / "run", 30)
    library = Library(root)
    try:
        record = json.loads((root / "run.json").read_text(encoding="utf-8"))
        if isinstance(change, dict):
            record["stages"][1] |= change
        (root / "run.json").write_text(change if isinstance(change, str) else json.dumps(record), encoding="utf-8")
        for path in ("/run", "/trace"):
            answer = App(library).get(path, {"id": ["toy:3"]})
            assert answer.status == 404 and b"cannot be read" in answer.body and b"run.json" in answer.body
        assert App(library).get("/pairs", {}).status == 200
    finally:
        library.close()


def test_a_run_that_vanishes_while_it_is_shown_is_an_error(tmp_path: Path) -> None:
    root = write_toy_run(tmp_path / "run", 30)
    library = Library(root)
    try:
        shutil.rmtree(root)
        for path in ("/run", "/trace", "/pairs", "/scores", "/threshold", "/row", "/compare", "/judge"):
            answer = App(library).get(path, {"id": ["toy:3"], "row": ["1"]})
            assert answer.status in (200, 404) and b'role="alert"' in answer.body and str(root).encode() in answer.body
    finally:
        library.close()


def test_columns_that_differ_in_case_only_are_told_apart(tmp_path: Path) -> None:
    table = pa.table({"src": ["x", "y", "z"], "tgt": ["b"] * 3, "q": [1.0, 2.0, 3.0], "Q": [3.0, 2.0, 1.0]})
    write_table(table, tmp_path / "case.parquet")
    library = Library(tmp_path / "case.parquet")
    try:
        for where, row in (("q > 2.5", 2), ("Q > 2.5", 0)):
            assert library.get().matcher.matches(RowFilter(where=where)).page(0, 300).tolist() == [row]
    finally:
        library.close()


def test_a_tree_as_lists() -> None:
    assert str(tree_list("(S (NP (NN <b>)) (VP (VBZ runs) (ADVP (RB fast))))")) == (
        '<ul class="tree"><li><b>S</b><ul><li><b>NP</b><ul><li><b>NN</b> <bdi>&lt;b&gt;</bdi></li></ul></li>'
        "<li><b>VP</b><ul><li><b>VBZ</b> <bdi>runs</bdi></li><li><b>ADVP</b><ul><li><b>RB</b> <bdi>fast</bdi></li>"
        "</ul></li></ul></li></ul></li></ul>"
    )
    with pytest.raises(DataError):
        tree_list("(S (NP")


def test_a_run_shows_stages_while_it_runs(run_app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_app.get("/", {}).location == "/run"
    page = get(run_app, "/run")
    assert "in progress" in page and "1 of 2 stages are done" in page and "data-refresh" in page
    pairs = get(run_app, "/pairs", corpus="20-filter", where="status = 'rejected'")
    assert "not: quality &gt;= 0.3" in pairs and int(total(pairs).split()[0]) > 25
    before = total(get(run_app, "/pairs", corpus="20-filter"))
    more = toy_pairs(40, seed=9)
    write_shard(run_app.library.path / "20-filter" / "part-00001.parquet", more, more.schema)
    assert total(get(run_app, "/pairs", corpus="20-filter")) == before == "300 pairs"
    monkeypatch.setattr("paraloom.web.library._AGE", 0.0)
    assert total(get(run_app, "/pairs", corpus="20-filter")) == "340 pairs"
    trace = get(run_app, "/trace", id="toy:12")
    assert trace.count("row 13<") == 1 and "20-filter" in trace


def test_two_sets_are_matched_by_id(tmp_path: Path) -> None:
    first = toy_pairs(100)
    second = first.slice(20).set_column(
        first.schema.get_field_index("quality"), first.schema.field("quality"), pa.array([1.0] * 80, pa.float32())
    )
    tgt = [text if i % 2 else text + "!" for i, text in enumerate(second.column("tgt").to_pylist())]
    second = second.set_column(2, "tgt", pa.array(tgt))
    more = toy_pairs(105).slice(100)
    write_table(first, tmp_path / "a.parquet")
    write_table(pa.Table.from_batches([second, more]), tmp_path / "b.parquet")
    library = Library(tmp_path / "a.parquet", second=tmp_path / "b.parquet")
    try:
        rows = library.get().dataset.take(range(105))
        app = App(library)
        page = get(app, "/compare")
    finally:
        library.close()
    assert [row["in_first"] for row in rows] == [True] * 100 + [False] * 5
    assert [row["in_second"] for row in rows] == [False] * 20 + [True] * 85
    assert [row["pair_id"] for row in rows] == [f"toy:{i}" for i in range(105)]
    assert rows[21]["second_tgt"] == tgt[1] and rows[3]["second_tgt"] is None and "second_src" not in rows[0]
    assert rows[21]["delta_quality"] == pytest.approx(1 - rows[21]["quality"], abs=1e-6)
    assert rows[102]["quality"] is None and rows[102]["second_quality"] is not None
    assert rows[102]["src"] == more.column("src")[2].as_py()
    assert re.findall(r"<strong>(\d+)</strong>", page) == ["80", "20", "5"]


def test_sets_without_common_ids_are_matched_by_text(tmp_path: Path) -> None:
    (tmp_path / "a.de-en.tsv").write_text("a\tb\nc\td\na\tb\n")
    (tmp_path / "b.de-en.tsv").write_text("x\ty\na\tb\n")
    library = Library(tmp_path / "a.de-en.tsv", second=tmp_path / "b.de-en.tsv")
    try:
        rows = library.get().dataset.take(range(4))
    finally:
        library.close()
    assert [(row["src"], row["in_first"], row["in_second"]) for row in rows] == [
        ("a", True, True), ("c", True, False), ("a", True, False), ("x", False, True)
    ]  # fmt: skip


def test_the_first_page_for_a_browser_hides_the_token_from_the_command_line(
    server: ExploreServer, tmp_path: Path
) -> None:
    path = launcher(server, tmp_path)
    assert server.token in path.read_text() and server.token not in path.as_uri()


def test_a_port_in_use_is_an_error(server: ExploreServer) -> None:
    with pytest.raises(ConfigError, match="cannot be used"):
        start_server(server.app, server.port)
    with pytest.raises(ConfigError, match="cannot be used"):
        start_server(server.app, 99_999)


def test_temporary_files_are_removed(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with opened(Library(write_toy_pairs(tmp_path / "toy.parquet", 20), scratch=scratch)) as running:
        assert list(scratch.iterdir()) != [] and running.port
    assert list(scratch.iterdir()) == []
    with pytest.raises(DataError), opened(Library(tmp_path / "missing.parquet", scratch=scratch)):
        pass
    assert list(scratch.iterdir()) == []


@pytest.mark.slow
def test_the_command_prints_an_address_and_stops_with_ctrl_c(tmp_path: Path) -> None:
    path = write_toy_pairs(tmp_path / "toy.parquet", 30)
    command = [sys.executable, "-m", "paraloom.cli.main", "explore", str(path), "--no-browser"]
    with subprocess.Popen(
        [*command, "--scratch", str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        address = process.stdout.readline().strip()
        with urllib.request.urlopen(address, timeout=60) as response:
            assert response.status == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
        assert "Traceback" not in process.stderr.read()
    assert [item.name for item in tmp_path.iterdir()] == ["toy.parquet"]


def test_the_command_passes_its_options_on(
    paraloom: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(library: dict[str, object], port: int) -> None:
        raise ConfigError(repr((sorted(library.items()), port)))

    monkeypatch.setattr("paraloom.web.Library", dict)
    monkeypatch.setattr("paraloom.web.opened", opened)
    options = ["--encoder", "english", "--sheet", "s.tsv", "--port", "1", "--src-column", "a", "--tgt-column", "b"]
    status, _, error = paraloom("explore", "x", "y", *options, "--scratch", "z", "--no-browser")
    given = {"path": "x", "second": "y", "encoder": "english", "sheet": Path("s.tsv"), "scratch": Path("z")}
    assert status == 1 and repr((sorted({**given, "src_column": "a", "tgt_column": "b"}.items()), 1)) in error


def test_what_cannot_be_explored_is_one_message(paraloom: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    for arguments in (["missing.parquet"], ["."], [tmp_path / "none.tsv"], ["missing.parquet", "--port", "99999"]):
        status, _, error = paraloom("explore", *arguments)
        assert status == 1 and error.startswith("paraloom: ") and "Traceback" not in error


def test_columns_of_any_name_and_type_have_pages(tmp_path: Path) -> None:
    library = Library(write_odd_pairs(tmp_path / "odd [*?] <b> %2e .. 'x' \n.parquet"))
    try:
        app, dataset = App(library), library.get().dataset
        for number, name in enumerate(dataset.schema.names):
            pages = [
                ("/pairs", {"sort": f"-{name}", "column": name}),
                ("/pairs", {"where": f"{identifier(name)} is not null"}),
                ("/row", {"row": str(number % 40 + 1), "at": "1", "sort": name}),
                ("/compare", {"where": f"{identifier(name)} is null", "other": "quality > 0.5"}),
                ("/threshold", {"score": name, "by": name, "at": "1e300", "keep": "below"}),
                ("/threshold", {"score": name, "where": "quality > 0.5"}),
                ("/scores", {"where": f"{identifier(name)} is null"}),
            ]
            for path, query in pages:
                answer = app.get(path, {key: [value] for key, value in query.items()})
                assert answer.status in (200, 404) and answer.body.endswith(b"</html>\n"), (path, query)
            library.judging.sheet.unlink(missing_ok=True)
            assert app.post("/judge/draw", {"by": [name], "count": ["2"]}).status in (303, 400), name
            assert app.get("/judge/pair", {"rater": ["ada"]}).status in (200, 303), name
    finally:
        library.close()


def test_a_connection_that_this_side_has_closed_counts_as_left() -> None:
    handler = _Handler.__new__(_Handler)
    handler.connection, other = socket.socketpair()
    with other:
        assert not handler._has_left()
        handler.connection.close()
        assert handler._has_left()
