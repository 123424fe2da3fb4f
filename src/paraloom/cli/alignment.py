"""Commands about documents and alignment: extract, align sentences, align documents, align pivot."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from paraloom import api
from paraloom.bundled import ALIGNMENT_ENCODER
from paraloom.cli import options
from paraloom.cli.evaluate import Method
from paraloom.cli.output import as_written, conclude, print_usage
from paraloom.cli.translator_options import TranslatorOptions, translating
from paraloom.core.beads import MAX_BEAD_SIZE


def extract(
    output: Annotated[
        str, typer.Option("--output", "-o", help="The corpus folder; rejected pages are listed in set-aside.jsonl.")
    ],
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE...", help="Folders of pages, pages (.html .txt), .warc .warc.gz, @FILE: a list of those."
        ),
    ] = None,
    listed: Annotated[
        list[str] | None, typer.Option("--list", help="A list of sources, a path per line, like @FILE. Repeatable.")
    ] = None,
    main_text: Annotated[
        str,
        typer.Option(
            help="site: all text that a site does not repeat; trafilatura; justext; auto: site for 20 pages or more, "
            "else trafilatura."
        ),
    ] = "auto",
    lang: Annotated[str | None, typer.Option(help="Language of all pages; default: what each page declares.")] = None,
    languages: Annotated[
        str | None, typer.Option(help="Languages that may occur, such as de,en; default: all that lingua knows.")
    ] = None,
    keep_languages: Annotated[
        bool, typer.Option("--keep-languages", help="Keep pages whose text is not in the language that they declare.")
    ] = False,
    min_characters: Annotated[int, typer.Option(help="Minimum length of a document's main text, in characters.")] = 50,
    media: Annotated[
        list[Path] | None, typer.Option(help="A folder to search for pictures, after the page's own. Repeatable.")
    ] = None,
    workers: options.Workers = None,
    as_json: options.Json = False,
) -> None:
    """Extract documents from web pages: main text, title, language, pictures with hashes.

    Example: `paraloom extract site/de site/en crawl.warc.gz -o documents`
    """
    named = [*(sources or []), *(f"@{path}" for path in listed or [])]
    if not named:
        raise typer.BadParameter("name a folder, a file, an archive or a list", param_hint="SOURCE")
    config = api.ExtractConfig(
        main_text=main_text,
        lang=lang,
        languages=options.names(languages or ""),
        keep_languages=keep_languages,
        min_characters=min_characters,
        media=tuple(media or ()),
    )
    counts = api.extract_documents(named, output, config, workers=workers)
    if as_json:
        typer.echo(json.dumps(counts.to_dict()))
    else:
        typer.echo(counts.format(), err=True)
        conclude(output, "align documents {output} OTHER-LANGUAGE -o pairs.tsv")


@translating
def align_sentences(
    source: Annotated[str, typer.Argument(metavar="SRC", help="The source text, a sentence per line.")],
    target: Annotated[str, typer.Argument(metavar="TGT", help="The target text, a sentence per line.")],
    output: options.Output,
    translations: Annotated[
        list[str] | None,
        typer.Option(help="A translation of the source into the target's language, line by line. Repeatable."),
    ] = None,
    target_translations: Annotated[
        list[str] | None,
        typer.Option(help="A translation of the target into the source's language, line by line. Repeatable."),
    ] = None,
    translator: Annotated[
        str | None,
        typer.Option(help="Source to target: a bundled name, a folder, OWNER/NAME, the address of an endpoint."),
    ] = None,
    max_bead_size: Annotated[
        int, typer.Option(help="Maximum number of sentences on one side of a bead.")
    ] = MAX_BEAD_SIZE,
    method: Method = "evidence",
    lexicon: Annotated[
        str | None, typer.Option(help="Source word, target word, perhaps a probability, between tabs; or hunalign's.")
    ] = None,
    encoder: options.AlignmentEncoder = ALIGNMENT_ENCODER,
    hard_delimiter: Annotated[
        str | None, typer.Option(help="A line such as .EOA that no bead crosses; '' for empty lines.")
    ] = None,
    order: options.Order = "strict",
    documents: Annotated[
        Path | None, typer.Option(help="Pairs of documents; SRC and TGT are then corpora of documents.")
    ] = None,
    pivot: Annotated[
        bool, typer.Option("--pivot", help="The translations of both are into a third language, and compared there.")
    ] = False,
    src_lang: options.SrcLang = None,
    tgt_lang: options.TgtLang = None,
    translation: TranslatorOptions = TranslatorOptions(),  # noqa: B008
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Align two texts sentence by sentence, many to many; translations help, and a lexicon is learned from the texts.

    The output's suffix decides: .vecalign, .ladder (hunalign's), .parquet (links); .tsv, .tmx, .jsonl (the sentences).
    With --documents the sentences of each pair of documents are aligned, and no bead leaves its pair.

    Example: `paraloom align sentences a.de a.en --translations a.google.en -o a.de-en.tsv`

    Example: `paraloom align sentences a.de a.en --encoder de-en-encoder -o a.de-en.tsv`

    Example: `paraloom align sentences a.de a.en --order local -o a.de-en.tsv`
    """
    if documents is not None:
        given: dict[str, object] = {"--translations": translations, "--target-translations": target_translations}
        given |= {"--translator": translator, "--method": method != "evidence", "--lexicon": lexicon}
        given |= {"--hard-delimiter": hard_delimiter is not None}
        given |= {"--src-lang": src_lang, "--tgt-lang": tgt_lang}
        translation.named(None, output)
        for name, value in given.items():
            if value:
                raise typer.BadParameter(f"{name} is for two texts, not for --documents")
        api.align_paired_documents(
            source,
            target,
            documents,
            output,
            encoder=options.given_encoder(encoder),
            max_bead_size=max_bead_size,
            order=order,
            pivot=pivot,
            seed=seed,
        )
        if as_json and output != "-":
            written = api.preview_output(output)
            typer.echo(as_written(output, rows=None if written is None else written.rows))
        else:
            conclude(output)
        return
    named = translation.named(translator, output)
    counts = api.align_files(
        source,
        target,
        output,
        translations=translations or [],
        target_translations=target_translations or [],
        translator=named,
        max_bead_size=max_bead_size,
        method=method,
        lexicon=lexicon,
        encoder=options.given_encoder(encoder),
        hard_delimiter=hard_delimiter,
        order=order,
        pivot=pivot,
        languages=(src_lang, tgt_lang),
    )
    print_usage(named)
    if as_json and output != "-":
        typer.echo(as_written(output, **counts.to_dict()))
        return
    typer.echo(counts.format(), err=True)
    links = output.endswith((".vecalign", ".ladder", ".parquet"))
    conclude(output, "" if links else "train translator --bitext {output} -o translator")


@translating
def align_documents(
    source: Annotated[str, typer.Argument(metavar="SRC", help="A corpus of documents, from `extract`.")],
    target: Annotated[str, typer.Argument(metavar="TGT", help="The same in another language.")],
    output: options.Output,
    translator: Annotated[
        str | None,
        typer.Option(help="Source to target: a bundled name, a folder, OWNER/NAME, the address of an endpoint."),
    ] = None,
    target_translator: Annotated[
        str | None,
        typer.Option(help="Target into a third language, as --translator does with the source; compared there."),
    ] = None,
    decode: Annotated[str, typer.Option(help="How to translate.")] = "beam:1",
    encoder: Annotated[
        str | None, typer.Option(help="An encoder of both languages, as further evidence: its folder.")
    ] = None,
    evidence: Annotated[
        str,
        typer.Option(help="words, pictures, topics, scores, encoder, addresses, links, all; several with commas."),
    ] = "all",
    assignment: Annotated[
        str, typer.Option(help="one-to-one, mutual (best in both directions) or best (of each source).")
    ] = "one-to-one",
    threshold_on: Annotated[str, typer.Option(help="What the threshold applies to: margin or score.")] = "margin",
    threshold: Annotated[
        float | None, typer.Option(help="Minimum margin or score of a pair; default: a floor estimated from the pages.")
    ] = None,
    max_candidates: Annotated[int, typer.Option(help="Maximum number of documents that one is compared with.")] = 16,
    rounds: Annotated[int, typer.Option(help="Rounds of aligning confident pairs to learn a lexicon.")] = 2,
    translation: TranslatorOptions = TranslatorOptions(),  # noqa: B008
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Pair documents of two languages by words, pictures, lengths, and where they are reliable, addresses and links.

    Works without a translator: the most confident pairs are aligned sentence by sentence to learn a lexicon. A page
    without a counterpart stays alone: the floor is what pages reach whose counterpart is hidden.

    Example: `paraloom align documents pages.de pages.en -o pairs.tsv`

    Example: `paraloom align documents pages.cs pages.en --encoder cs-en-encoder -o pairs.tsv`
    """
    named = translation.named(translator, output)
    other = replace(translation, from_=None)  # it translates into the same language, out of another one
    figures = api.pair_documents(
        source,
        target,
        output,
        translator=named,
        target_translator=None if target_translator is None else other.named(target_translator, output),
        encoder=encoder,
        decode=decode,
        seed=seed,
        evidence=evidence,
        assignment=assignment,
        threshold_on=threshold_on,
        threshold=threshold,
        max_candidates=max_candidates,
        rounds=rounds,
    )
    print_usage(named)
    if as_json and output != "-":
        typer.echo(as_written(output, **figures))
        return
    read = figures["documents"]
    typer.echo(f"{figures['pairs']:,} pairs of {read[0]:,} and {read[1]:,} documents in {output}", err=True)
    texts = shlex.join([source, target])
    conclude(output, f"align sentences {texts} --documents {{output}} -o links.parquet", counted=True)


def align_pivot(
    pairs: Annotated[Path, typer.Argument(help="Pairs of documents of two languages, from `align documents`.")],
    pivot: Annotated[
        list[str],
        typer.Option(
            help="For a further language two such files, separated by a comma: with the source and with the target."
        ),
    ],
    output: options.Output,
    as_json: options.Json = False,
) -> None:
    """Check pairs of documents with further languages and add missing ones: documents with the same counterpart match.

    Two similar pages without counterparts may be paired by mistake; a language with a counterpart of each shows that
    they differ. The files may be in either direction, unless documents of two languages have the same names: then the
    first leads from the source, the second to the target.

    Example: `paraloom align pivot de-en.tsv --pivot cs-de.tsv,cs-en.tsv -o checked.tsv`
    """
    pivots = []
    for text in pivot:
        there, comma, back = text.partition(",")
        if not (there and comma and back):
            raise typer.BadParameter(f"expected two files separated by a comma, got '{text}'", param_hint="--pivot")
        pivots.append((there, back))
    figures = api.pivot_documents(pairs, pivots, output)
    if as_json and output != "-":
        typer.echo(as_written(output, **figures))
        return
    typer.echo(
        f"{figures['read']:,} pairs read, {figures['dropped']:,} dropped, {figures['added']:,} added: "
        f"{figures['pairs']:,} in {output}",
        err=True,
    )
    conclude(output, counted=True)


COMMANDS: options.Commands = {"extract": extract}
ALIGN: options.Commands = {"sentences": align_sentences, "documents": align_documents, "pivot": align_pivot}
