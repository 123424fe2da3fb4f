"""Documents through `translate`: does anything but the sentences change? The checks know nothing of segments.

    PARALOOM_DATA=… python benchmarks/documents_in_place.py --write

Markdown is this documentation, English to German by the bundled translator, read by markdown-it before and after: the
blocks and their levels, code, addresses and emphasis have to be the same. Subtitles are made of captions (Multi30k), of
one and two lines, two speakers and italics among them: times, numbers, tags and blank lines have to be the same. HTML
is the German help of LibreOffice, read by lxml before and after: elements, attributes and code have to be the same. One
run of the subtitles is killed (SIGKILL) and resumed. Beside it, what one had to do before: lines are translated.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

import lxml.html
from markdown_it import MarkdownIt
from nested_records import killed, measured
from results_pages import FOLDER, put_result

from paraloom import Translator
from paraloom.text.html import html_in_place, html_segments, html_words
from paraloom.text.segments import keeps_marks, split_segments

ROOT = Path(__file__).resolve().parents[1]
HEADING = "Documents"
SUM = "replaced + left = segments"


def markdown_shape(text: str) -> list[object]:
    """Blocks with their levels, and of what is in a line code, addresses and emphasis."""
    shape: list[object] = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        kept = token.content if token.type in ("fence", "code_block", "html_block") else ""
        shape.append((token.type, token.tag, token.level, kept))
        inline = [(one.type, one.attrGet("href"), one.content if one.type == "code_inline" else "")
                  for one in token.children or () if one.type not in ("text", "softbreak")]  # fmt: skip
        shape.append(sorted(map(str, inline)))
    return shape


def page_shape(page: str) -> list[object]:
    """Elements in order with depth and attributes, code and scripts, and which of the others have words."""
    shape: list[object] = []
    for one in lxml.html.document_fromstring(page.encode(), parser=lxml.html.HTMLParser(encoding="utf-8")).iter():
        kept = one.text if one.tag in ("script", "style", "pre", "code") or not isinstance(one.tag, str) else ""
        shape.append((str(one.tag), sum(1 for _ in one.iterancestors()), sorted(one.attrib.items()), kept))
    return shape


def changed_page(page: str, change: Callable[[str], str]) -> str:
    """A page whose sentences are changed, tags apart, as those of a translation are, where that loses nothing."""
    parts = []
    for one in html_segments(page):
        new = one.text if one.reason is not None else html_in_place(one.text, change(html_words(one.text)))
        parts.append(one.text if new is None else new)
    return "".join(parts)


def swapped(text: str) -> str:
    """A sentence with cases swapped, tags and code apart."""
    parts = re.split("(<code.*?</code>|<[^>]*>)", text)
    return "".join(part if part.startswith("<") else part.swapcase() for part in parts)


def help_pages(count: int) -> list[str]:
    """Pages of a help, in German."""
    path = Path(os.environ["PARALOOM_DATA"]) / "documents/libreoffice-help/pages.de.tar.xz"
    with tarfile.open(path) as pages:
        files = (pages.extractfile(member) for member in pages if member.isfile())
        return [file.read().decode() for _, file in zip(range(count), files, strict=False) if file is not None]


def html_rows(folder: Path, pages: int, all_pages: int) -> list[list[str]]:
    """What becomes of pages of HTML; an error if their structure does."""
    texts = help_pages(all_pages)
    changes: list[Callable[[str], str]] = [lambda text: text, swapped, lambda text: " ".join(reversed(text.split()))]
    same = [sum(changed_page(t, c) == t if c is changes[0] else page_shape(changed_page(t, c)) == page_shape(t)
                for t in texts) for c in changes]  # fmt: skip
    sentences = [one.text for text in texts for one in html_segments(text) if one.reason is None]
    inline = sum("<" in one for one in sentences)
    kept = 0
    totals = {"segments": 0, "replaced": 0}
    unchanged: dict[str, int] = {}
    for text in texts[:pages]:
        (folder / "in.html").write_bytes(text.encode())
        counts, _, _ = measured(command(folder / "in.html", folder / "out.html", "de-en", "--force"))
        kept += page_shape((folder / "out.html").read_bytes().decode()) == page_shape(text)
        for name in totals:
            totals[name] += counts[name]
        for reason, count in counts["unchanged"].items():
            unchanged[reason] = unchanged.get(reason, 0) + count
    left = sum(unchanged.values())
    if same != [len(texts)] * 3 or kept != pages or totals["replaced"] + left != totals["segments"]:
        sys.exit(f"pages of HTML differ in more than their sentences: {same} of {len(texts)}, {kept} of {pages}")
    return [
        ["pages of HTML; the same bytes when nothing is changed; the same structure with cases swapped; with words "
         "reversed", f"{len(texts)}; {same[0]}; {same[1]}; {same[2]}"],
        ["sentences in them; with a tag inside, which text nodes tear apart", f"{len(sentences):,}; {inline:,}"],
        ["pages of HTML that were translated; with the same structure", f"{pages}; {kept}"],
        [SUM, added(totals, unchanged)],
    ]  # fmt: skip


def added(totals: dict[str, int], unchanged: dict[str, int]) -> str:
    """The sum of segments, and why some are left as they are."""
    reasons = "; ".join(f"{count:,} {reason}" for reason, count in sorted(unchanged.items()))
    left = sum(unchanged.values())
    return f"{totals['replaced']:,} + {left:,} = {totals['segments']:,}" + f" ({reasons})" * bool(reasons)


def subtitle_shape(text: str) -> list[object]:
    """Lines without words, and of the others their tags and dashes, a line for those of a cue."""
    lines = [
        line if not re.search(r"[^\\W\\d_]{2}", line) else re.findall(r"</?i>|^- ", line) for line in text.split("\n")
    ]
    return [lines, text.count("\n")]


def replaced(text: str, change: Callable[[str], str]) -> str:
    """A page whose sentences are changed as those of a translation are, where that loses nothing."""
    pairs = ((one, change(" ".join(one.text.split()))) for one in split_segments(text, wrapped=True))
    return "".join(new if one.reason is None and keeps_marks(one.text, new) else one.text for one, new in pairs)


def spoiled() -> tuple[int, list[int]]:
    """Pages, and how many keep their structure when cases are swapped, and when the words of sentences are reversed."""
    texts = [page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").rglob("*.md"))]
    changes: tuple[Callable[[str], str], ...] = (str.swapcase, lambda text: " ".join(reversed(text.split())))
    return len(texts), [sum(markdown_shape(t) == markdown_shape(replaced(t, one)) for t in texts) for one in changes]


def subtitles(captions: list[str], count: int) -> str:
    """Made subtitles."""
    draw, cues = random.Random(1), []
    for number in range(1, count + 1):
        words = draw.choice(captions).split()
        kind, middle = draw.random(), len(words) // 2
        text = " ".join(words)
        if kind > 0.5:
            text = f"{' '.join(words[:middle])}\n{' '.join(words[middle:])}"
        if kind > 0.9:
            text = f"- {' '.join(words)}\n- {draw.choice(captions)}"
        elif kind > 0.8:
            text = f"<i>{text}</i>"
        start = f"{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}"
        cues.append(f"{number}\n{start},000 --> {start},900\n{text}\n")
    return "\n".join(cues)


def command(source: Path, output: Path, model: str, *more: str) -> list[str]:
    """The command that a user types."""
    return [sys.executable, "-m", "paraloom", "translate", model, str(source), "-o", str(output), *more,
            "--decode", "greedy", "--threads", "1", "--json", "--no-language-check"]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=6)
    parser.add_argument("--cues", type=int, default=1500)
    parser.add_argument(
        "--html", type=int, default=200, help="pages of HTML that are changed; as many as --pages are translated"
    )
    parser.add_argument("--write", action="store_true", help="put the figures on the page of results")
    options = parser.parse_args()
    with gzip.open(Path(os.environ["PARALOOM_DATA"]) / "bitext/multi30k/task1/train.de.gz", "rt") as stream:
        captions = [line.strip() for line in stream if re.fullmatch(r"[A-ZÄÖÜ][^.!?…|`{}#<>]{20,70}\.", line.strip())]
    pages = sorted((ROOT / "docs/howto").glob("*.md"))[: options.pages]
    totals = {"segments": 0, "replaced": 0, "same": 0, "same by lines": 0}
    unchanged: dict[str, int] = {}
    translator = Translator.load("en-de", decode="greedy")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for page in pages:
            counts, _, _ = measured(command(page, folder / "out.md", "en-de", "--force"))
            before = page.read_text(encoding="utf-8")
            totals["same"] += markdown_shape(before) == markdown_shape((folder / "out.md").read_text(encoding="utf-8"))
            lines = before.split("\n")
            by_lines = "\n".join(variants[0].text for variants in translator.translate(lines))
            totals["same by lines"] += markdown_shape(before) == markdown_shape(by_lines)
            totals["segments"] += counts["segments"]
            totals["replaced"] += counts["replaced"]
            for reason, count in counts["unchanged"].items():
                unchanged[reason] = unchanged.get(reason, 0) + count
        of_html = html_rows(folder, options.pages, options.html)
        film = folder / "film.srt"
        film.write_text(subtitles(captions, options.cues), encoding="utf-8")
        stopped = killed(command(film, folder / "again.srt", "de-en"), folder / "again.srt", 1)
        measured(command(film, folder / "again.srt", "de-en"))
        counts, _, _ = measured(command(film, folder / "film.en.srt", "de-en"))
        translated = (folder / "film.en.srt").read_text(encoding="utf-8")
        same = subtitle_shape(film.read_text(encoding="utf-8")) == subtitle_shape(translated)
        resumed = (folder / "again.srt").read_bytes() == translated.encode()
    left = sum(unchanged.values())
    count, kept = spoiled()
    table = [
        ["all pages; the same structure with cases swapped; with the words of each sentence reversed",
         f"{count}; {kept[0]}; {kept[1]}"],
        ["pages that were translated; with the same structure; when lines are translated",
         f"{len(pages)}; {totals['same']}; {totals['same by lines']}"],
        [SUM, added(totals, unchanged)],
        *of_html,
        ["cues of subtitles; the same times, numbers, tags and lines", f"{options.cues:,}; {'yes' if same else 'NO'}"],
        [SUM, added(counts, counts["unchanged"])],
        [f"subtitles, killed after {stopped} shard(s), resumed: the same bytes", "yes" if resumed else "NO"],
    ]  # fmt: skip
    print(json.dumps(table, indent=1, ensure_ascii=False))
    table = [row for row in table if row[0] != SUM]
    if not (same and resumed and kept == [count, count] and totals["replaced"] + left == totals["segments"]):
        sys.exit("documents differ in more than their sentences, or counts do not add up")
    if options.write:
        write(options, table)


def write(options: argparse.Namespace, table: list[list[str]]) -> None:
    """Put the figures on the page of runs."""
    result = {
        "heading": HEADING,
        "command": [f"python benchmarks/documents_in_place.py --pages {options.pages} --cues {options.cues} --write"],
        "machine": "cores",
        "columns": ["", ""], "align": "ll", "rows": table,
    }  # fmt: skip
    put_result(FOLDER / "runs.json", result)


if __name__ == "__main__":
    main()
