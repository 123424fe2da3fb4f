"""Commands about variants: translate each text in several ways, measure how diverse and adequate they are."""

from __future__ import annotations

import json
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

import paraloom.web as reports
from paraloom import api
from paraloom.cli.declaration import Command
from paraloom.cli.output import suggest, time_taken


def diversity(
    corpora: Sequence[str | Path], *, output: str | Path | None = None, as_json: bool = False, **options: Any
) -> None:
    """Measure how diverse and adequate variants are: a row per corpus.

    Variants with a column text_parse, from `parse --columns text`, need no --parser for the difference of their parses.

    References are the pairs that were translated: `paraloom variants 'dev.{en,is}' --translator en-is -o beam`.

    Args:
        corpora: Corpus folders, or .tsv, .jsonl, .parquet with pair_id and text.
        output: Keep the run, and its report, in this folder.
        **options: Further parameters of `paraloom.api.measure_diversity`.
    """
    names = [str(name) for name in corpora]
    with tempfile.TemporaryDirectory() as scratch:
        try:
            results = api.measure_diversity(names, output or Path(scratch) / "run", **options)
        except KeyboardInterrupt:
            if output is not None:
                raise
            raise KeyboardInterrupt("Interrupted. With -o FOLDER, finished work is kept and resumed.") from None
    page = None if output is None else reports.write_report(output, Path(output) / "report.html")
    typer.echo(json.dumps(results) if as_json else api.format_diversity(results))
    if page is not None:
        typer.echo(f"Report: {page}", err=True)
    if as_json:
        return
    count = sum(result["variants"] for result in results)
    typer.echo(f"\n{count:,} variants measured in {time_taken()}{'' if output is None else f': {output}'}", err=True)
    suggest(f"head {shlex.quote(names[0])}")


DECLARED = [
    Command(
        name="variants",
        of="translate_variants",
        everyday="translators method outputs decode column field lang src_lang tgt_lang as_json",
        flags={"translators": "--translator"},
        settings={
            "source": {
                "metavar": "SOURCE",
                "repeated": True,
                "role": "pairs",
                "help": "A sentence per line; or pairs: a corpus folder, a file, PREFIX.{de,en}, a file of each side.",
            },
            "translators": {
                "role": "translator",
                "default": "required",
                "complete": "complete_translator",
                "help": "A bundled name, a folder, OWNER/NAME, or the address of an endpoint, with settings as in "
                "`translate`. Repeatable: all their outputs.",
            },
        },
        device=True,
        then="diversity {output}",
        help="Translate each text in several ways, for diversity and for training, with rank, logprob and tokens of "
        "each.\n\nWithout --method and --decode the method is nucleus, the best of Burchell et al. (2022).\n\n"
        "Variants of pairs keep their ids, and the pairs can then be their references in `diversity`.",
        examples=("english.txt --translator en-is --lang en --outputs 3 -o variants",),
        watched=True,
    ),
    Command(
        name="diversity",
        run=diversity,
        of="measure_diversity",
        stage="measure-diversity",
        keys="kernels limit reference_column",
        leave_out="folder seed",
        settings={"parser": {"role": "input"}, "corpora": {"metavar": "VARIANTS..."}},
        examples=("beam nucleus --references 'dev.{en,is}' --parser parser-is --kernels sst,bbh22",),
        resumes=True,
        watched=True,
    ),
]
