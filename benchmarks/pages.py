"""Print how high the pages are in Chromium, and what is wrong with them: contrast, names, console, other hosts.

    paraloom quickstart quickstart && python benchmarks/pages.py quickstart

Each page is opened on a desktop (1280 × 900) and a phone (390 × 844), light and dark. `--pictures docs/_static` renews
the pictures of the docs; the title in a picture's file is the heading of its page, which a test compares with the docs.
"""

from __future__ import annotations

import argparse
import struct
import sys
import tempfile
import threading
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlencode

from paraloom.api import draw_sheet
from paraloom.web import Demo, Library, demo_server, opened, write_report
from paraloom.web.demo import EXAMPLES
from paraloom.web.server import ExploreServer

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from browser import CONTRAST, UNNAMED, Browser, chromium

SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
EXPLORED = {
    "explore: pairs": "/pairs?corpus=40-kept",
    "explore: scores": "/scores?corpus=40-kept",
    "explore: threshold": "/threshold?corpus=40-kept&score=chrf&at=90&keep=below",
    "explore: compare": "/compare?corpus=40-kept",
    "explore: judge": "/judge/pair?rater=reader",
}
PICTURES = {
    "report": "report",
    "explore: pairs": "explore-pairs",
    "explore: threshold": "explore-threshold",
    "explore: judge": "explore-judge",
    "demo": "demo",
}
"""Page → its picture in the docs."""

GALLERY = Path(__file__).resolve().parents[1] / "docs/_static/demo.html"


def measure(browser: Browser, url: str) -> list[str]:
    """Heights on a desktop and a phone, and faults: texts of low contrast, controls without names, sideways scroll."""
    heights, faults = [], 0
    browser.requests()  # those of the page before
    for width, height in SIZES.values():
        for dark in (False, True):
            browser.resize(width, height, dark=dark)
            browser.open(url)
            faults += len(browser.run(CONTRAST)) + len(browser.run(UNNAMED)) + len(browser.logs())
            faults += browser.run("return document.documentElement.scrollWidth > innerWidth")
        heights.append(f"{browser.run('return document.documentElement.scrollHeight'):,}")
    others = {host for host in browser.requests() if host.partition(":")[0] not in ("", "127.0.0.1")}
    return [*heights, str(faults), str(len(others))]


def served(stack: ExitStack, server: ExploreServer, browser: Browser) -> str:
    """The address of a server that answers, once the browser has its cookie."""
    threading.Thread(target=server.serve_forever, daemon=True).start()
    stack.callback(server.shutdown)
    browser.open(server.url)
    browser.logs()
    return f"http://127.0.0.1:{server.port}"


def pages(stack: ExitStack, browser: Browser, run: Path, scratch: Path) -> Iterator[tuple[str, str]]:
    """Each page, and its address."""
    yield "report", write_report(run, scratch / "report.html").as_uri()
    sheet = scratch / "sheet.tsv"
    draw_sheet(run / "40-kept", sheet, by="p_paraphrase", count=20)
    explore = served(stack, stack.enter_context(opened(Library(run, sheet=sheet))), browser)
    yield from ((name, explore + path) for name, path in EXPLORED.items())
    demo = served(stack, stack.enter_context(demo_server(Demo())), browser)
    text = EXAMPLES["paraphrase"][0]
    yield "demo", f"{demo}/?{urlencode({'box': 'paraphrase', 'text': text})}"
    yield "gallery of the docs", GALLERY.as_uri()


def titled(png: bytes, title: str) -> bytes:
    """A PNG with a title, in a chunk of its own after the header."""
    chunk = b"iTXt" + b"Title" + bytes(5) + title.encode()
    length, checksum = (struct.pack(">I", number) for number in (len(chunk) - 4, zlib.crc32(chunk)))
    end_of_header = 33
    return png[:end_of_header] + length + chunk + checksum + png[end_of_header:]


def main() -> None:
    """Print a row for each page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of the quickstart")
    parser.add_argument("--pictures", type=Path, help="folder for the pictures of the docs")
    parser.add_argument("--only", default="", help="only pages whose name begins so")
    arguments = parser.parse_args()
    print("| page | desktop, px | phone, px | faults | other hosts |\n| --- | --: | --: | --: | --: |")
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        browser = stack.enter_context(chromium(scratch / "profile"))
        for name, url in pages(stack, browser, arguments.run, scratch):
            if not name.startswith(arguments.only):
                continue
            print(f"| {name} | {' | '.join(measure(browser, url))} |", flush=True)
            if arguments.pictures and name in PICTURES:
                browser.resize(1280, 800)
                browser.open(url)
                picture = titled(browser.screenshot(), browser.text("h1"))
                (arguments.pictures / f"{PICTURES[name]}.png").write_bytes(picture)


if __name__ == "__main__":
    main()
