"""The stages that parse what a user names: by a parser of any kind, or with trees that another program has made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paraloom.core.errors import ConfigError
from paraloom.io import Corpus
from paraloom.workflows.run import corpus_stages


def parsing_stages(
    source: str, *, parser: str | None, parses: Sequence[str] = (), columns: Sequence[str] = ("src", "tgt")
) -> list[dict[str, Any]]:
    """Stages that read `source`, a bitext argument, and add the trees of its columns.

    parser: as syntax.load.load_parser takes it.  parses: `COLUMN=FILE` each, instead of a parser.
    Raises ConfigError when both or neither are given.
    """
    if bool(parser) == bool(parses):
        raise ConfigError("trees come by --parser or by --parses", remedy="Give one of them, not both.")
    stages, reference = corpus_stages(source)
    if parser:
        return [*stages, {"use": "parse", "input": reference, "columns": list(columns), **parser_named(parser)}]
    named = dict(_named(each) for each in parses)
    if len(named) < len(parses):
        raise ConfigError("--parses names a column twice", remedy="Give each column one file.")
    kinds = {"read-pairs": "PAIRS", "read-scored-pairs": "PAIRS", "read-variants": "VARIANTS"}
    kind = kinds[stages[0]["use"]] if stages else Corpus.open(reference).kind
    return [
        *stages,
        {
            "use": "read-parses",
            "corpus": reference,
            "columns": list(named),
            "parses": list(named.values()),
            "output_schema": kind,
        },
    ]


def parser_named(name: str) -> dict[str, str]:
    """The keys of the stage `parse` for a parser: a folder counts by its content, a name as it is.

    >>> parser_named("stanza:tr:depparse")
    {'model': 'stanza:tr:depparse'}
    """
    folder = Path(name.removeprefix("spacy:"))
    return {"parser": str(folder.absolute())} if folder.is_dir() or ":" not in name else {"model": name}


def _named(each: str) -> tuple[str, str]:
    column, equals, path = each.partition("=")
    if not equals or not path:
        raise ConfigError(f"'{each}' names no column", remedy="Write COLUMN=FILE, such as tgt=trees.txt.")
    return column, str(Path(path).absolute())
