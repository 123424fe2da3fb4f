"""Write the pages of results out of their JSON files, a page for each topic; `--check` compares only.

    python benchmarks/results_pages.py
    python benchmarks/results_pages.py --check

docs/explanations/results/index.json has the front page: `title`, `text`, `after`, `machines` (name → description), and
the topics in order: `topics` have a row of its table, `more` a link below.
TOPIC.json has a topic:

    title, question, answer   the heading, and the topic's row on the front page
    text                      paragraphs above the results
    results                   a list, each with
        heading               may be missing where a table continues the section above it
        text, notes           paragraphs above the table, and remarks below it
        command               lines of shell that measure it again
        commit, date          of the commit that brought the figures; `earlier`: those of older rows
        version, machine      the version that was measured; a name of `machines`
        seeds                 how many trainings or samples, where that is known
        columns, align, rows  the table: names, a letter of l and r for each, cells as text; a result that is a sentence
                       has none of the three, and notes
"""

from __future__ import annotations

import argparse
import difflib
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "docs/explanations/results"
INDEX = "index"
ORIGIN = ("command", "commit", "date", "version", "machine", "seeds", "earlier")
"""What is said once where results in a row share it."""

FIGURE_STYLE = """
text { font: 12px sans-serif; fill: #24324a; paint-order: stroke; stroke: #ffffff; stroke-width: 3px; }
.curve { fill: none; stroke: currentColor; stroke-width: 1.8; }
circle { fill: currentColor; } .grid { stroke: #e4e0d6; } .axis { stroke: #666b6e; } .page { fill: #ffffff; }
.line-0 { color: #2b6b70; } .line-1 { color: #97601a; } .line-2 { color: #a83a33; } .line-3 { color: #4a5a8c; }
.dashed-1 .curve { stroke-dasharray: 6 3; }
"""

USUAL = {"version": "0.2", "machine": "cores", "seeds": "1"}
"""What the front page says once, and a table only where it differs."""

LONGEST_PAGE = 200
"""Lines of a page, at most."""

REQUIRED = {"command": list, "commit": str, "date": str, "version": str, "machine": str}
"""What each result says → its type."""


def read_topic(path: Path) -> dict[str, Any]:
    """The JSON file of a topic, or of the front page."""
    topic: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return topic


def write_topic(path: Path, topic: dict[str, Any]) -> None:
    """Write a topic with one row of a table a line, so that a change shows as a diff of its rows."""
    path.write_text(_as_json(topic, "") + "\n", encoding="utf-8")


def put_result(path: Path, result: dict[str, Any]) -> None:
    """Put a result into a topic, in position of that with its heading, or at the end: of this commit, today.

    Text and notes of the result that it replaces stay, unless it has some itself: people write them, not benchmarks.
    """
    topic = read_topic(path)
    commit = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], check=True, capture_output=True, text=True)
    result = {"version": "0.2", **result, "commit": commit.stdout.strip(), "date": str(date.today())}
    headings = [one.get("heading") for one in topic["results"]]
    position = headings.index(result["heading"]) if result["heading"] in headings else len(headings)
    for replaced in topic["results"][position : position + 1]:
        stay = {key: replaced[key] for key in ("text", "notes") if key in replaced and key not in result}
        result |= stay
        if stay:
            print(f"{result['heading']}: check the figures in its {' and '.join(stay)}", file=sys.stderr)
    topic["results"][position : position + 1] = [result]
    write_topic(path, topic)


def standalone(chart: str) -> str:
    """A chart of ours as a file, with its style."""
    chart = str(chart).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    page = f'<style>{FIGURE_STYLE}</style><rect class="page" width="100%" height="100%"/>'
    return chart.replace("</desc>", f"</desc>{page}", 1) + "\n"


def _as_json(value: Any, indent: str) -> str:
    """JSON in which lists without lists or objects in them take one line, but for paragraphs."""
    deeper = indent + " "
    if isinstance(value, dict) and value:
        fields = (
            f"{deeper}{json.dumps(key, ensure_ascii=False)}: {_as_json(item, deeper)}" for key, item in value.items()
        )
        return "{\n" + ",\n".join(fields) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(item, list | dict) or len(str(item)) > 100 for item in value):
        return "[\n" + ",\n".join(deeper + _as_json(item, deeper) for item in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)


def problems(folder: Path = FOLDER) -> Iterator[str]:
    """What is missing in the JSON files."""
    index = read_topic(folder / f"{INDEX}.json")
    files = {path.stem for path in folder.glob("*.json")} - {INDEX}
    if files != {*index["topics"], *index["more"]}:
        yield f"topics of index.json and files differ: {sorted(files ^ {*index['topics'], *index['more']})}"
    for name in sorted(files):
        topic = read_topic(folder / f"{name}.json")
        yield from (f"{name}.json: '{key}' missing" for key in ("title", "question", "answer") if not topic.get(key))
        for number, result in enumerate(topic["results"], start=1):
            where = f"{name}.json, result {number}"
            shown = {"columns": list, "rows": list} if "columns" in result else {"notes": list}
            for key, kind in (REQUIRED | shown).items():
                if not isinstance(result.get(key), kind) or not result[key]:
                    yield f"{where}: '{key}' missing"
            if result.get("machine") not in index["machines"]:
                yield f"{where}: machine '{result.get('machine')}' is not in index.json"
            widths = {len(row) for row in result.get("rows", [])} | {len(result.get("align", ""))}
            if widths != {len(result.get("columns", []))}:
                yield f"{where}: rows, columns and 'align' differ in length"


def pages(folder: Path = FOLDER) -> dict[Path, str]:
    """Page → its Markdown."""
    index = read_topic(folder / f"{INDEX}.json")
    topics = {name: read_topic(folder / f"{name}.json") for name in (*index["topics"], *index["more"])}
    texts = {folder / f"{name}.md": "\n".join(_topic_lines(name, topics[name])) + "\n" for name in topics}
    texts[folder / f"{INDEX}.md"] = "\n".join(_index_lines(index, topics)) + "\n"
    return texts


def _index_lines(index: dict[str, Any], topics: dict[str, dict[str, Any]]) -> Iterator[str]:
    yield f"# {index['title']}"
    for paragraph in index["text"]:
        yield from ("", paragraph)
    yield from ("", "| question | short answer |", "| --- | --- |")
    for name in index["topics"]:
        yield f"| [{topics[name]['question']}]({name}.md) | {topics[name]['answer']} |"
    more = (f"[{topics[name]['title']}]({name}.md)" for name in index["more"])
    yield from ("", f"More pages: {', '.join(more)}.")
    for paragraph in index["after"]:
        yield from ("", paragraph)
    yield from ("", "## Machines", "")
    yield from (f"- *{name}*: {description}" for name, description in index["machines"].items())
    yield from ("", "```{toctree}", ":hidden:", "", *topics, "```")


def _topic_lines(name: str, topic: dict[str, Any]) -> Iterator[str]:
    yield f"# {topic['title']}"
    yield from ("", f"<!-- Generated from {name}.json by benchmarks/results_pages.py. -->")
    for paragraph in topic.get("text", []):
        yield from ("", paragraph)
    shared: tuple[Any, ...] = ()
    for result in topic["results"]:
        if "heading" in result:
            yield from ("", f"## {result['heading']}")
        for paragraph in result.get("text", []):
            yield from ("", paragraph)
        origin = tuple(
            str(result.get(key)) for key in ("command", "commit", "date", "version", "machine", "seeds", "earlier")
        )
        if origin != shared:
            yield ""
            yield from (f"    {line}" for line in result["command"])
            yield from ("", f"*{_origin(result)}*")
        shared = origin
        if "columns" in result:
            yield from ("", f"| {' | '.join(result['columns'])} |")
            yield f"| {' | '.join('---:' if side == 'r' else '---' for side in result['align'])} |"
            yield from (f"| {' | '.join(row)} |" for row in result["rows"])
        if result.get("notes"):
            yield ""
            yield from (f"- {note}" for note in result["notes"])


def _origin(result: dict[str, Any]) -> str:
    """Date, commit, and what differs from the front page's "unless a table says otherwise"."""
    parts = [f"{result['date']}, commit {result['commit']}"]
    if result.get("earlier"):
        parts.append(f"rows of earlier commits: {', '.join(one.split()[0] for one in result['earlier'])}")
    if result["version"] != USUAL["version"]:
        parts.append(f"version {result['version']}")
    if result["machine"] != USUAL["machine"]:
        parts.append(f"machine: [{result['machine']}](index.md#machines)")
    if result.get("seeds", USUAL["seeds"]) != USUAL["seeds"]:
        parts.append(f"seeds: {result['seeds']}")
    return "; ".join(parts).removesuffix(".") + "."


def write_pages(folder: Path = FOLDER) -> None:
    """Write all pages."""
    for path, text in pages(folder).items():
        path.write_text(text, encoding="utf-8")


def differences(folder: Path = FOLDER) -> Iterator[str]:
    """Lines of the pages that are not those of their JSON files."""
    texts = pages(folder)
    yield from (f"{path.name}: no JSON file makes it" for path in sorted(folder.glob("*.md")) if path not in texts)
    for path, text in texts.items():
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        yield from difflib.unified_diff(old.splitlines(), text.splitlines(), path.name, "its JSON", lineterm="", n=0)


def main() -> None:
    """Write the pages, or fail where they are out of step with the JSON files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 1 where something differs")
    options = parser.parse_args()
    faults = list(problems())
    if not options.check and not faults:
        write_pages()
    faults += list(differences()) if not faults else []
    faults += [
        f"{path.name}: {count} lines" for path, text in pages().items() if (count := text.count("\n")) > LONGEST_PAGE
    ]
    print("\n".join(faults) or "The pages are those of their JSON files.")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
