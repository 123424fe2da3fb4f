"""A self-contained page about files of pairs: first rows, a histogram of each score, pairs of its ranges."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from paraloom.api.first_rows import Preview, preview
from paraloom.core.errors import DataError
from paraloom.io import Corpus, write_shard
from paraloom.io.atomic import atomic_write
from paraloom.io.compression import without_compression
from paraloom.io.shards import open_shard
from paraloom.web.markup import Html, Part, element
from paraloom.web.page import style
from paraloom.web.run_folder import score_columns
from paraloom.web.samples import pair
from paraloom.web.scores import ScoreColumn, pairs_by_score, score_cards

_SHOWN = 12
_MAX_ROWS = 2_000_000
"""Rows of a text format that are read for histograms at most."""
_IDS = ("rank", "tokens", "row", "sent_id")


def write_files_report(files: Sequence[str | Path], output: str | Path) -> Path:
    """Write one page about the outputs of commands.

    Args:
        files: Files of pairs or other rows (.parquet, .tsv, .jsonl), or corpus folders.
        output: The HTML file to write.

    Returns:
        The path of the file.

    Raises:
        DataError: A file does not exist or cannot be read.

    Example:
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "mined.tsv").write_text("src\\ttgt\\tcosine\\nA dog.\\tThe dog.\\t0.9\\n")
        >>> write_files_report([folder / "mined.tsv"], folder / "report.html").name
        'report.html'
    """
    with tempfile.TemporaryDirectory() as scratch:
        sections = [
            _section(str(file), Path(scratch) / f"{number}.parquet", titled=len(files) > 1)
            for number, file in enumerate(files)
        ]
    title = ", ".join(Path(file).name for file in files)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{title} · Paraloom"),
        style("style.css"),
    )
    header = element("header", element("p", "Paraloom", class_="eyebrow"), element("h1", title))
    footer = element("footer", element("p", "Written by Paraloom."))
    page = element("html", head, element("body", header, element("main", sections), footer), lang="en")
    with atomic_write(Path(output)) as temporary:
        temporary.write_text(f"<!doctype html>\n{page}\n", encoding="utf-8")
    return Path(output)


def _section(file: str, scratch: Path, *, titled: bool) -> Html:
    shown = preview(file, _SHOWN)
    shards, columns = _table(file, shown, scratch)
    scores = [ScoreColumn(name, signature, shards, None) for name, signature in columns.items()]
    cards = score_cards(scores)
    return element(
        "section",
        element("h2", Path(file).name if titled else "Rows"),
        element("p", f"{shown.count}. {_SHOWN if len(shown.shown) == _SHOWN else 'All'} of them:", class_="intro"),
        _rows(shown),
        element("h3", "Scores") if cards else None,
        cards,
        pairs_by_score(scores),
    )


def _rows(shown: Preview) -> Part:
    if shown.about:
        return element("pre", shown.about)
    if {"src", "tgt"} <= set(shown.columns):
        return element("div", [pair(row) for row in shown.shown], class_="examples")
    return element("pre", shown.format())


def _table(file: str, shown: Preview, scratch: Path) -> tuple[Sequence[Path], dict[str, str]]:
    """The file as Parquet shards, and its columns of scores with their signatures."""
    if Path(file).is_dir():
        if shown.rows is None:
            return (), {}
        corpus = Corpus.open(Path(shown.path))
        return corpus.shards, score_columns(corpus.schema)
    if without_compression(file).suffix == ".parquet":
        with open_shard(file) as shard:
            return (Path(file),), _scores(shard.schema_arrow)
    numbers = [name for name, value in _first(shown).items() if isinstance(value, int | float) and name not in _IDS]
    if not numbers:
        return (), {}
    whole = preview(file, _MAX_ROWS)
    names = [*(name for name in ("src", "tgt") if name in whole.columns), *numbers]
    try:
        table = pa.Table.from_pylist([{name: row.get(name) for name in names} for row in whole.shown])
    except pa.ArrowException as error:
        raise DataError(f"a column has values of several types ({error})", file=file) from None
    write_shard(scratch, table, table.schema)
    return (scratch,), dict.fromkeys(numbers, "")


def _first(shown: Preview) -> dict[str, Any]:
    return shown.shown[0] if shown.shown else {}


def _scores(schema: pa.Schema) -> dict[str, str]:
    """The signed scores; of a file without signatures all numeric columns."""
    signed = score_columns(schema)
    numeric = [
        column.name
        for column in schema
        if (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)) and column.name not in _IDS
    ]
    return signed or dict.fromkeys(numeric, "")
