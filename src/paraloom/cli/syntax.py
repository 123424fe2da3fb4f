"""Commands about syntax: train parser, parse."""

from __future__ import annotations

from paraloom.cli.declaration import Command

DECLARED = [
    Command(
        name="parse",
        of="add_parses",
        flags={"parser": "--parser"},
        settings={"columns": {"help": "The text columns, separated by commas."}},
        then="research templates {output}",
        examples=("pairs.parquet --parser parser-en -o parsed.parquet",),
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
