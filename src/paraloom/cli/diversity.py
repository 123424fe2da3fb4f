"""Verbs about variants: make several translations of each text, measure how diverse and how adequate they are."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from paraloom.cli import options
from paraloom.diversity.names import NAMES, NOTE


def variants(
    source: Annotated[
        str, typer.Argument(help="A sentence a line; or pairs: a corpus folder, a file, PREFIX.{de,en}.")
    ],
    translator: Annotated[
        list[str],
        typer.Option(help="A folder, or a Hugging Face name. Repeatable: all their outputs."),
    ],
    output: options.Output,
    method: Annotated[
        str | None,
        typer.Option(help="base, beam, sampling, nucleus, topk, temperature, or syntax (a translator an output)."),
    ] = None,
    outputs: Annotated[int, typer.Option(help="Translations of each text, with --method.")] = 3,
    decode: Annotated[str, typer.Option(help="Instead of --method: a decoding such as nucleus:0.9,nbest=5.")] = "",
    column: Annotated[str, typer.Option(help="The side of pairs that is translated: src or tgt.")] = "",
    field: Annotated[
        str | None, typer.Option(help="Of a table of text: the column, a name or a number from 1.")
    ] = None,
    lang: Annotated[str, typer.Option(help="Language of text, such as en.")] = "und",
    src_lang: options.SrcLang = None,
    tgt_lang: options.TgtLang = None,
    src_column: options.SrcColumn = None,
    tgt_column: options.TgtColumn = None,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    on_error: options.OnError = "stop",
    seed: options.Seed = 1,
) -> None:
    """Translate each text in several ways, for diversity and for training: rank, logprob and tokens beside each.

    Without --method and --decode the method is nucleus, BBH22's best.

    Variants of pairs keep their ids, and the pairs can then be their references in `diversity`.

    Example: `paraloom variants english.txt --translator en-is --lang en --outputs 3 -o variants`
    """
    from paraloom.cli.summary import summary
    from paraloom.workflows.run import run_verb
    from paraloom.workflows.variants import variants_stages

    stages = variants_stages(
        source,
        translator,
        decode=decode,
        method=method or ("" if decode else "nucleus"),
        outputs=outputs,
        column=column,
        field=field,
        lang=lang,
        reading={
            "src_lang": src_lang,
            "tgt_lang": tgt_lang,
            "src_column": options.column(src_column),
            "tgt_column": options.column(tgt_column),
        },
    )
    result = run_verb(stages, output, seed=seed, engine=engine, workers=workers, on_error=on_error)
    typer.echo(summary(result), err=True)


def diversity(
    corpora: Annotated[
        list[str],
        typer.Argument(metavar="VARIANTS...", help="Corpus folders, or .tsv, .jsonl, .parquet with pair_id and text."),
    ],
    parser: Annotated[
        str | None,
        typer.Option(help="Parse first: a folder by `train parser`, spacy:NAME, stanza:LANGUAGE[:depparse]."),
    ] = None,
    references: Annotated[
        str | None, typer.Option(help="Pairs with the variants' pair_ids, for chrF to what a person wrote.")
    ] = None,
    reference_column: Annotated[
        str, typer.Option(help="The side of the references in the variants' language: src or tgt.")
    ] = "tgt",
    kernels: Annotated[
        str | None, typer.Option(help="Of trees, commas between: st, sst, ptk, bbh22 [default: sst].")
    ] = None,
    limit: Annotated[int, typer.Option(help="Sources at most, by lot, the same of every corpus.")] = 30_000,
    as_json: options.Json = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Keep the run, and its report, in this folder.")
    ] = None,
    workers: options.Workers = None,
) -> None:
    """How diverse and how adequate variants are, a row a corpus, as in BBH22's Tables 1 to 4.

    Variants with a column text_parse, by `parse --columns text`, need no --parser for the difference of their trees.

    References are the pairs that were translated: `paraloom variants 'dev.{en,is}' --translator en-is -o beam`.

    Example: `paraloom diversity beam nucleus --references 'dev.{en,is}' --parser parser-is --kernels sst,bbh22`
    """
    from paraloom.workflows.diversity import measure_diversity

    with tempfile.TemporaryDirectory() as nowhere:
        try:
            found = measure_diversity(
                corpora,
                output or Path(nowhere) / "run",
                parser=parser,
                references=references,
                workers=workers,
                limit=limit,
                kernels=[name.strip() for name in kernels.split(",") if name.strip()] if kernels else None,
                reference_column=reference_column,
            )
        except KeyboardInterrupt:
            if output is not None:
                raise
            raise KeyboardInterrupt("Interrupted.  With -o FOLDER what is done is kept, and gone on from.") from None
    if as_json:
        typer.echo(json.dumps(found))
    else:
        typer.echo("\n".join(_table(found)))
    if output is not None:
        from paraloom.report import write_report

        typer.echo(f"Report: {write_report(output, output / 'report.html')}", err=True)


def _table(found: Sequence[Mapping[str, Any]]) -> list[str]:
    told = [{row["figure"]: row for row in each["figures"]} for each in found]
    columns = [name for name in NAMES if any(name in figures for figures in told)]
    lines = [["corpus", "sources", "alone", *(NAMES[name] for name in columns)]]
    for each, figures in zip(found, told, strict=True):
        counts = [f"{each['groups']:,}", f"{each['alone']:,}"]
        lines.append([each["corpus"], *counts, *(_cell(figures.get(name)) for name in columns)])
    return [*_aligned(lines), *_losses(found), NOTE]


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Cells in columns, the first one's from the left, the others' to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None or row["value"] is None:
        return "–"
    if row["figure"].endswith("vocabulary"):
        return f"{row['value']:,.0f}"
    half = "" if row["high"] in (None, row["value"]) else f" ±{row['high'] - row['value']:.2f}"
    return f"{row['value']:.2f}{half}"


def _losses(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each corpus with variants that say nothing, parses that failed, or sources without a reference."""
    lines = []
    for each in found:
        told = [
            f"{each['empty']:,} of {each['variants']:,} variants are empty" if each["empty"] else "",
            f"{each['unreferenced']:,} sources have no reference" if each.get("unreferenced") else "",
            *(
                f"{row['failed']:,} of {row['texts']:,} parses failed ({row['reasons']})"
                for row in each.get("kernels", [])[:1]
                if row["failed"]
            ),
        ]
        if any(told):
            lines.append(f"{each['corpus']}: {'; '.join(filter(None, told))}")
    return lines


VERBS = {"variants": variants, "diversity": diversity}
