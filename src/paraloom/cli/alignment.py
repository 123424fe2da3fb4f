"""Verbs about alignment: align sentences, evaluate alignment, evaluate aligner."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from paraloom.cli import options

Method = Annotated[str, typer.Option(help="evidence: all there is; length: Gale and Church's lengths alone.")]


def align_sentences(
    source: Annotated[str, typer.Argument(metavar="SRC", help="The source text, a sentence a line.")],
    target: Annotated[str, typer.Argument(metavar="TGT", help="The target text, a sentence a line.")],
    output: options.Output,
    translations: Annotated[
        list[str] | None, typer.Option(help="The source in the target's language, a line for each. Repeatable.")
    ] = None,
    target_translations: Annotated[
        list[str] | None, typer.Option(help="The target in the source's language, a line for each. Repeatable.")
    ] = None,
    translator: Annotated[Path | None, typer.Option(help="A translator folder, source to target.")] = None,
    most: Annotated[int, typer.Option(help="Sentences on one side of a bead.")] = 3,
    method: Method = "evidence",
    src_lang: options.SrcLang = None,
    tgt_lang: options.TgtLang = None,
) -> None:
    """Align two texts sentence by sentence, n to m; translations help, a lexicon is found on the way.

    The output's suffix decides: .vecalign, .ladder (hunalign's), .parquet (links); .tsv, .tmx, .jsonl (the sentences).

    Example: `paraloom align sentences a.de a.en --translations a.google.en -o a.de-en.tsv`
    """
    from paraloom.recipes.align import align_files

    books = align_files(
        source,
        target,
        output,
        translations=translations or [],
        target_translations=target_translations or [],
        translator=translator,
        most=most,
        method=method,
        languages=(src_lang, tgt_lang),
    )
    typer.echo(books.render(), err=True)


def alignment(
    found: Annotated[list[str], typer.Argument(metavar="FOUND", help="Beads: .vecalign, .ladder or .parquet.")],
    gold: Annotated[list[str], typer.Option(help="The true ones, a file for each of FOUND, in order. Repeatable.")],
    as_json: options.Json = False,
) -> None:
    """Precision, recall and F1 of beads: strict and lax as vecalign counts, and by kind.

    Example: `paraloom evaluate alignment ours.vecalign --gold hand.ladder`
    """
    from paraloom.core.errors import ConfigError
    from paraloom.core.io.beads import read_beads
    from paraloom.evaluate.alignment import AlignmentScore

    if len(found) != len(gold):
        raise ConfigError(
            f"there are {len(found)} files of beads and {len(gold)} of true ones", remedy="Give --gold once for each."
        )
    score = AlignmentScore()
    for one, true in zip(found, gold, strict=True):
        score.add(read_beads(true), read_beads(one))
    typer.echo(json.dumps(score.to_json()) if as_json else score.render())


def aligner(
    gold: Annotated[Path, typer.Argument(metavar="GOLD.jsonl", help="Documents: source, target, gold.")],
    translator: Annotated[Path | None, typer.Option(help="A translator folder, source to target.")] = None,
    most: Annotated[int, typer.Option(help="Sentences on one side of a bead.")] = 3,
    method: Method = "evidence",
    as_json: options.Json = False,
) -> None:
    """Align documents whose true beads are known, and count: PARK17's Tables 4 and 5 on your own data.

    Example: `paraloom evaluate aligner cs-en.jsonl.gz --translator cs-en`
    """
    from paraloom.recipes.align import config_of
    from paraloom.recipes.aligned_documents import read_gold_documents, score_aligner

    config = config_of(method, most)
    documents = read_gold_documents(gold)
    opened = None
    if translator is not None:
        from paraloom.mt.load import load_translator

        opened = load_translator(translator)
    score = score_aligner(documents, config, opened)
    typer.echo(json.dumps(score.to_json()) if as_json else score.render())


ALIGNING = {"sentences": align_sentences}
EVALUATING = {"alignment": alignment, "aligner": aligner}
