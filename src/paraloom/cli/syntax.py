"""Commands about syntax: train parser, parse, syntax-groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from paraloom.cli.declaration import Command
from paraloom.cli.output import written


def _show_groups(result: Any, values: Mapping[str, Any]) -> None:
    lines = [
        f"{'group':>5} {'rows':>10} {'share':>7}  root production",
        *(f"{one.group:>5} {one.rows:>10,} {one.rows / result.rows:>7.1%}  {one.name}" for one in result.groups),
        f"{result.rows:,} rows, {result.unparsed:,} without a parse, {result.distinct:,} distinct root productions",
    ]
    text, then = "\n".join(lines), "stages pick-syntax-group"
    written(values["output"], asdict(result), text, then, as_json=values["as_json"], err=False, rows=False)


DECLARED = [
    Command(
        name="parse",
        of="add_parses",
        flags={"parser": "--parser"},
        settings={"columns": {"help": "The text columns, separated by commas."}},
        then="syntax-groups {output} -o groups",
        examples=("pairs.parquet --parser parser-en -o parsed.parquet",),
        watched=True,
    ),
    Command(
        name="syntax-groups",
        of="paraloom.papers.bbh22.syntax_group_stages:find_syntax_groups",
        stage="syntax-groups",
        keys="groups min_rows",
        show=_show_groups,
        examples=("parsed.parquet -o groups",),
        watched=True,
    ),
    Command(
        name="train parser",
        of="train_parser",
        then="parse pairs.parquet --parser {output} -o parsed.parquet",
        examples=("wsj.mrg.gz --encoder english -o parser-en",),
        watched=True,
    ),
]
