"""Attacks on the pages of `paraloom explore`: labels of several processes, hostile requests and names, long queries."""

from __future__ import annotations

import csv
import http.client
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
from trials import Outcomes, Scene

_KINDS = ("strength", "fluency")
_TIMEOUT = 60

_PATHS = (
    "/pairs /pairs/summary /scores /threshold /row /compare /judge /judge/pair /trace /run /judge/draw /judge/label "
    "/nothing /static/../session.py //[ http://[::1/ /%ff"
)
_NAMES = "corpus where search sort page column row at score keep by count other rater pair kind label id"
_VALUES = ("", "0", "-1", "²", "٣", "1_0", "9" * 5000, "1e309", "nan", "\x00", "<script>", "' or 1=1", "((((", "../x")


@dataclass(frozen=True)
class Pages:
    """A running `paraloom explore`.

    Args:
        process: The process.
        errors: The file that its stderr goes to.
        port: Its port.
        token: What its requests must know.
    """

    process: subprocess.Popen[str]
    errors: Path
    port: int
    token: str

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the browser that opened the page."""
        cookie = f"paraloom_explore_{self.port}={self.token}"
        return {"Cookie": cookie, "Origin": f"http://127.0.0.1:{self.port}", "Host": f"127.0.0.1:{self.port}"}

    def ask(self, method: str, target: str, form: bytes = b"") -> tuple[int, str]:
        """Status and body of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_TIMEOUT)
        try:
            # Not by `request`, which refuses odd addresses.
            connection.putrequest(method, "/", skip_host=True)
            connection._buffer[0] = f"{method} {target} HTTP/1.1".encode("latin-1")  # type: ignore[attr-defined]
            for name, value in {**self.headers, "Content-Length": str(len(form))}.items():
                connection.putheader(name, value)
            connection.endheaders(form)
            response = connection.getresponse()
            return response.status, response.read().decode("utf-8", "replace")
        finally:
            connection.close()

    def post(self, path: str, **fields: object) -> int:
        """Status of the answer to a form."""
        return self.ask("POST", path, urlencode(fields).encode())[0]

    def label(self, rater: str, pair: int, kind: str, value: int) -> bool:
        """Whether the page said that a label was saved."""
        try:
            return self.post("/judge/label", rater=rater, pair=pair, kind=kind, label=value) == 303
        except (OSError, http.client.HTTPException):
            return False

    def seconds(self) -> float:
        """Time of processors that the process has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def problem(self) -> str:
        """The last line of what it printed if there is a traceback among it, else ''."""
        said = self.errors.read_text(encoding="utf-8", errors="replace")
        return said.strip().splitlines()[-1] if "Traceback" in said else ""


@contextmanager
def explored(scene: Scene, *arguments: object) -> Iterator[Pages]:
    """Start `paraloom explore`, and end it afterwards."""
    scene.folder.mkdir(parents=True, exist_ok=True)
    errors = scene.folder / f"explore-{random.getrandbits(48):x}.err"
    command = [sys.executable, "-m", "paraloom", "explore", *map(str, arguments), "--no-browser"]
    with (
        errors.open("w", encoding="utf-8") as stream,
        subprocess.Popen(command, env=scene.environment, stdout=subprocess.PIPE, stderr=stream, text=True) as process,
    ):
        assert process.stdout is not None
        try:
            url = urlsplit(process.stdout.readline().strip())
            if url.port is None:
                raise RuntimeError(f"explore did not start: {errors.read_text(encoding='utf-8')}")
            yield Pages(process, errors, url.port, parse_qs(url.query)["token"][0])
        finally:
            process.kill()


def labels_of(sheet: Path, rater: str) -> dict[tuple[int, str], str]:
    """The labels of a rater on the disk."""
    path = sheet.with_name(f"{sheet.stem}.{rater}{sheet.suffix}")
    if not path.is_file():
        return {}
    csv.field_size_limit(sys.maxsize)
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    return {(pair, kind): row[kind] for pair, row in enumerate(rows, start=1) for kind in _KINDS if row[kind]}


def labeled(pages: Pages, rater: str, cells: Sequence[tuple[int, str]], seed: int) -> dict[tuple[int, str], str]:
    """Label cells until the page does not answer; returns the labels that it acknowledged."""
    draw = random.Random(seed)
    saved: dict[tuple[int, str], str] = {}
    for pair, kind in cells:
        value = draw.randint(1, 3)
        if not pages.label(rater, pair, kind, value):
            break
        saved[pair, kind] = str(value)
    return saved


def sheet_of(pairs: Path) -> Path:
    """The sheet that a page draws from a file unless another one is named."""
    return pairs.with_name(f"{pairs.name}.judge") / "sheet.tsv"


def scored(path: Path, rows: int = 100) -> Path:
    """A table of pairs with a score."""
    lines = [f"A sentence number {i}.\tAnother sentence {i}.\t{i / rows}" for i in range(rows)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["src\ttgt\tscore", *lines]) + "\n", encoding="utf-8")
    return path


def trials(scene: Scene) -> Iterator[tuple[str, Outcomes]]:
    """All of them."""
    folder = scene.folder / "pages"
    yield "labels of two processes on one sheet", two_labelers(scene, folder / "two")
    yield "labels when the page is killed", killed_labelers(scene, folder / "killed")
    yield "requests that no browser sends", hostile_requests(scene, folder / "requests")
    yield "texts of 131,072 characters and more in a sheet", long_cells(scene, folder / "long")
    yield "options of the command", ignored_options(scene, folder / "options")
    yield "files and columns of hostile names", hostile_names(scene, folder / "names")
    yield "queries after the browser has left", abandoned_queries(scene, folder / "queries")


def two_labelers(scene: Scene, folder: Path) -> Outcomes:
    """Two pages over one sheet give labels to different cells of one rater at the same time."""
    outcomes, pairs = Outcomes(), scored(folder / "pairs.tsv")
    sheet = sheet_of(pairs)
    with explored(scene, pairs) as first, explored(scene, pairs) as second:
        first.post("/judge/draw", by="score", count=16)
        cells = [(pair, kind) for pair in range(1, 81) for kind in _KINDS]
        random.Random(scene.seed).shuffle(cells)
        saved: dict[tuple[int, str], str] = {}
        threads = [
            threading.Thread(target=lambda p=p, n=n: saved.update(labeled(p, "ada", cells[n::2], n)))
            for n, p in enumerate((first, second))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        present = labels_of(sheet, "ada")
        lost = sum(present.get(cell) != value for cell, value in saved.items())
        outcomes.lost += lost
        shown = second.ask("GET", "/judge")[1]
        problem = f"{lost} OF {len(saved)} LABELS LOST" if lost else "" if len(saved) == 160 else "labels refused"
        outcomes.count("two pages", problem or ("" if "80 of 80" in shown else "the other page does not show them"))
    outcomes.details = f"{len(saved)} labels acknowledged, {len(present)} on the disk."
    return outcomes


def killed_labelers(scene: Scene, folder: Path) -> Outcomes:
    """A page is killed (SIGKILL) while it saves labels."""
    outcomes = Outcomes()
    draw = random.Random(scene.seed)
    for attempt in range(5):
        pairs = scored(folder / f"{attempt}.tsv")
        sheet = sheet_of(pairs)
        with explored(scene, pairs) as pages:
            pages.post("/judge/draw", by="score", count=16)
            timer = threading.Timer(draw.uniform(0.02, 0.6), pages.process.send_signal, [signal.SIGKILL])
            timer.start()
            cells = [(pair, kind) for pair in range(1, 81) for kind in _KINDS]
            saved = labeled(pages, "ada", cells, attempt)
            timer.join()
        with explored(scene, pairs) as pages:
            status, _ = pages.ask("GET", "/judge")
            more = labeled(pages, "ada", [(80, "strength")], attempt)
        present = labels_of(sheet, "ada")
        lost = sum(present.get(cell) != value for cell, value in {**saved, **more}.items())
        outcomes.lost += lost
        problem = f"{lost} LABELS LOST" if lost else "" if status == 200 and more else "the sheet cannot be used"
        outcomes.count(f"killed after {len(saved)} labels", problem)
    return outcomes


def hostile_requests(scene: Scene, folder: Path) -> Outcomes:
    """Paths, methods, parameters and forms that no browser sends."""
    outcomes = Outcomes()
    targets = [("GET", path, b"") for path in _PATHS.split()]
    targets += [("GET", f"/pairs?{'a=1&' * n}", b"") for n in (499, 601)]
    targets += [("POST", path, b"a=1&" * n) for path in ("/judge/label", "/judge/draw") for n in (0, 1, 601)]
    targets += [("POST", "/judge/label", b"rater=%ff&pair=\xff"), ("PUT", "/pairs", b""), ("POST", "/pairs", b"a=1")]
    for page in ("/pairs", "/row", "/threshold", "/judge/pair", "/compare", "/trace"):
        for name in _NAMES.split():
            value = random.Random(f"{page} {name}").choice(_VALUES)
            targets.append(("GET", f"{page}?{urlencode({name: value})}", b""))
    fields = {"rater": "ada", "pair": "1", "kind": "strength", "label": "3", "by": "score", "count": "2"}
    with explored(scene, scored(folder / "pairs.tsv")) as pages:
        forms = [{**fields, name: value} for name in fields for value in _VALUES]
        before = [("POST", "/judge/label", urlencode(form).encode()) for form in forms[:3]]
        draws = [("POST", "/judge/draw", urlencode({**fields, "count": value}).encode()) for value in _VALUES]
        after = [("POST", "/judge/label", urlencode(form).encode()) for form in forms]
        drawn = ("POST", "/judge/draw", urlencode(fields).encode())
        for method, target, form in (*before, *targets, *draws, drawn, *after):
            outcomes.tried += 1
            name = f"{method} {target[:60]} {form[:60]!r}"
            try:
                status, _ = pages.ask(method, target, form)
            except (OSError, http.client.HTTPException) as error:
                outcomes.wrong += 1
                outcomes.notes.append(f"{name}: {error!r}")
                continue
            outcomes.finished += status < 400
            outcomes.refused += 400 <= status < 500 or status == 501
            outcomes.tracebacks += status == 500
            if status == 500:
                outcomes.notes.append(f"{name}: {pages.problem()}")
    return outcomes


def long_cells(scene: Scene, folder: Path) -> Outcomes:
    """Texts at the default bound of Python's csv, and far beyond."""
    outcomes = Outcomes()
    for characters in (131_071, 131_073, 10_000_000):
        text = "x" * characters
        path = folder / f"{characters}.tsv"
        sheet = sheet_of(path)
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(f"src\ttgt\tscore\n{text}\tshort\t0.5\n", encoding="utf-8")
        with explored(scene, path) as pages:
            pages.post("/judge/draw", by="score", count=1)
            saved = labeled(pages, "ada", [(1, kind) for kind in _KINDS], 1)
            status, body = pages.ask("GET", "/judge/pair?rater=ben")
            traceback = pages.problem()
        copy, key = sheet.with_name("sheet.ada.tsv"), f"{sheet}.key.tsv"
        table = scene.call("judge", "table", copy, "--key", key)
        outcomes.tracebacks += bool(traceback) or "Traceback" in table.stderr
        good = len(saved) == 2 and status == 200 and text[:1000] in body and table.returncode == 0
        outcomes.count(f"{characters:,} characters", "" if good else traceback or table.stderr[-300:] or "no labels")
    return outcomes


def ignored_options(scene: Scene, folder: Path) -> Outcomes:
    """Another set to compare with, and a sheet of another name."""
    outcomes, sheet = Outcomes(), folder / "other" / "labels.tsv"
    with explored(scene, scored(folder / "a.tsv"), scored(folder / "b.tsv", 50), "--sheet", sheet) as pages:
        pages.post("/judge/draw", by="score", count=2)
        outcomes.count("--sheet", "" if sheet.is_file() else "ignored")
        outcomes.count("a second set", "" if "Only in the first" in pages.ask("GET", "/compare")[1] else "ignored")
    return outcomes


def hostile_names(scene: Scene, folder: Path) -> Outcomes:
    """Files and columns that are named like markup, patterns, paths and conditions."""
    outcomes = Outcomes()
    folder.mkdir(parents=True, exist_ok=True)
    columns = ["'", '"', "a b", "a]b", "*?", "..", "<script>x</script>", "x" * 300, "%41", "--", "-score", "Score"]
    numbers = {name: [0.5, None, 2.0, -1e300] for name in columns}
    texts = {f"{name} text": ["a", "b", None, "c"] for name in columns}
    large = {"half": pa.array([0, 1, 2, 3], pa.float16()), "int64": pa.array([2**63 - 1, -(2**63), None, 1])}
    sides = {"src": ["a", "b", "c", "d"], "tgt": ["a", "b", "c", "e"]}
    table = pa.table({**sides, "score": [0.1, 0.2, 0.3, 0.4], **numbers, **texts, **large})
    files = ["plain.parquet", "a [b] *?.parquet", "<script>x</script>'\".parquet", "a\nb %2e.parquet", "x" * 240]
    files = [name if "." in name else f"{name}.parquet" for name in (name.replace("/", "") for name in files)]
    for name in files:
        pq.write_table(table, folder / name)
        with explored(scene, folder / name) as pages:
            for column in table.column_names if name == files[0] else ("score",):
                identifier = '"' + column.replace('"', '""') + '"'
                targets = [
                    f"/pairs?{urlencode({'sort': '-' + column, 'column': column})}",
                    f"/pairs?{urlencode({'sort': column})}",
                    f"/scores?{urlencode({'where': f'{identifier} is not null'})}",
                    f"/threshold?{urlencode({'score': column, 'by': column, 'at': '1e300'})}",
                    "/row?row=1",
                    "/judge",
                ]
                requests = [("GET", target, b"") for target in targets]
                requests.append(("POST", "/judge/draw", urlencode({"by": column, "count": 1}).encode()))
                for method, target, form in requests:
                    outcomes.tried += 1
                    status, body = pages.ask(method, target, form)
                    outcomes.finished += status < 400
                    outcomes.refused += 400 <= status < 500
                    outcomes.tracebacks += status == 500
                    outcomes.wrong += "<script>x" in body
                    if status == 500:
                        outcomes.notes.append(f"{name} {target}: {pages.problem()}")
    return outcomes


def abandoned_queries(scene: Scene, folder: Path) -> Outcomes:
    """A condition that would take minutes, over long texts; the browser leaves after a second."""
    outcomes = Outcomes()
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(scene.seed)
    texts = ["".join(draw.choices("abcdefgh ", k=3000)) for _ in range(100)]
    src, tgt = (draw.choices(texts, k=4000) for _ in range(2))
    pq.write_table(pa.table({"src": src, "tgt": tgt, "n": range(4000)}), folder / "long.parquet")
    slow = quote("levenshtein(src, tgt) + levenshtein(reverse(src), tgt) < 10")
    for target in (f"/pairs?where={slow}", f"/scores?where={slow}", f"/compare?where={slow}&other=n%3C5"):
        with explored(scene, folder / "long.parquet") as pages:
            pages.ask("GET", "/pairs")
            connection = http.client.HTTPConnection("127.0.0.1", pages.port, timeout=_TIMEOUT)
            connection.putrequest("GET", target, skip_host=True)
            for name, value in pages.headers.items():
                connection.putheader(name, value)
            connection.endheaders()
            time.sleep(1)
            connection.close()
            time.sleep(2)
            before = pages.seconds()
            time.sleep(2)
            used = pages.seconds() - before
            outcomes.count(target[:20], f"computes on: {used:.1f} s in 2 s" if used > 0.5 else "")
    return outcomes
