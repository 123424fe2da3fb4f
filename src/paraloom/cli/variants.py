"""Commands about variants: translate each text in several ways, measure how diverse and adequate they are."""

from __future__ import annotations

import json
import shlex
import tempfile
from pathlib import Path
from typing import Annotated

import typer

import paraloom.web as reports
from paraloom import api
from paraloom.cli import options
from paraloom.cli.output import print_run, print_usage, suggest, time_taken
from paraloom.cli.translator_options import TranslatorOptions, translating


@translating
def variants(
    source: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="A sentence per line; or pairs: a corpus folder, a file, PREFIX.{de,en}, a file of each side.",
        ),
    ],
    translator: Annotated[
        list[str],
        typer.Option(
            help="A bundled name, a folder, a Hugging Face name, or the address of an endpoint. Repeatable: all their "
            "outputs."
        ),
    ],
    output: options.Output,
    method: Annotated[
        str | None,
        typer.Option(
            help="base, beam, sampling, nucleus, topk, temperature, mbr, diverse, or syntax (a translator per output)."
        ),
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
    on_error: options.OnError = options.OnErrorChoice.stop,
    language_check: options.CheckLanguages = True,
    translation: TranslatorOptions = TranslatorOptions(),  # noqa: B008
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Translate each text in several ways, for diversity and for training, with rank, logprob and tokens of each.

    Without --method and --decode the method is nucleus, the best of Burchell et al. (2022).

    Variants of pairs keep their ids, and the pairs can then be their references in `diversity`.

    Example: `paraloom variants english.txt --translator en-is --lang en --outputs 3 -o variants`
    """
    named = [translation.named(name, output) for name in translator]
    result = api.translate_variants(
        options.pairs(source),
        named,
        output,
        decode=decode,
        method=method or "",
        outputs=outputs,
        column=column,
        field=field,
        lang=lang,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        src_column=options.column(src_column),
        tgt_column=options.column(tgt_column),
        engine=engine,
        workers=translation.workers(workers),
        on_error=on_error.value,
        check_languages=language_check,
        seed=seed,
    )
    for one in named:
        print_usage(one)
    print_run(result, output, "diversity {output}", as_json)


def diversity(
    corpora: Annotated[
        list[str],
        typer.Argument(metavar="VARIANTS...", help="Corpus folders, or .tsv, .jsonl, .parquet with pair_id and text."),
    ],
    parser: Annotated[
        str | None,
        typer.Option(help="Parse first: english, a folder of `train parser`, spacy:NAME, stanza:LANGUAGE[:depparse]."),
    ] = None,
    references: Annotated[
        str | None, typer.Option(help="Pairs with the variants' pair_ids, for chrF to what a person wrote.")
    ] = None,
    reference_column: Annotated[
        str, typer.Option(help="The side of the references in the variants' language: src or tgt.")
    ] = "tgt",
    kernels: Annotated[
        str | None, typer.Option(help="Tree kernels, separated by commas: st, sst, ptk, bbh22 [default: sst].")
    ] = None,
    limit: Annotated[
        int, typer.Option(help="Maximum number of sources: a random sample, the same of every corpus.")
    ] = 30_000,
    on_error: options.OnError = options.OnErrorChoice.stop,
    as_json: options.Json = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Keep the run, and its report, in this folder.")
    ] = None,
    workers: options.Workers = None,
) -> None:
    """Measure how diverse and adequate variants are: a row per corpus.

    Variants with a column text_parse, from `parse --columns text`, need no --parser for the difference of their parses.

    References are the pairs that were translated: `paraloom variants 'dev.{en,is}' --translator en-is -o beam`.

    Example: `paraloom diversity beam nucleus --references 'dev.{en,is}' --parser parser-is --kernels sst,bbh22`
    """
    with tempfile.TemporaryDirectory() as scratch:
        try:
            results = api.measure_diversity(
                corpora,
                output or Path(scratch) / "run",
                parser=parser,
                references=references,
                on_error=on_error.value,
                workers=workers,
                limit=limit,
                kernels=options.names(kernels) if kernels else None,
                reference_column=reference_column,
            )
        except KeyboardInterrupt:
            if output is not None:
                raise
            raise KeyboardInterrupt("Interrupted. With -o FOLDER, finished work is kept and resumed.") from None
    page = reports.write_report(output, output / "report.html") if output is not None else None
    typer.echo(json.dumps(results) if as_json else api.format_diversity(results))
    if page is not None:
        typer.echo(f"Report: {page}", err=True)
    if as_json:
        return
    count = sum(result["variants"] for result in results)
    typer.echo(
        f"\n{count:,} variants measured in {time_taken()}{f': {output}' if output is not None else ''}", err=True
    )
    suggest(f"head {shlex.quote(corpora[0])}")


COMMANDS: options.Commands = {"variants": variants, "diversity": diversity}
