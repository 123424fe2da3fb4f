"""Verbs about alignment: align documents and sentences, evaluate documents, alignment and aligner."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from paraloom.cli import options

Method = Annotated[
    str,
    typer.Option(help="evidence: all there is; length: Gale and Church's lengths alone; park17: Park et al.'s sum."),
]


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
    lexicon: Annotated[
        str | None, typer.Option(help="Source word, target word, perhaps a probability, between tabs; or hunalign's.")
    ] = None,
    encoder: Annotated[
        Path | None, typer.Option(help="An encoder of both languages, or of TGT's where there is a translation.")
    ] = None,
    bound: Annotated[
        str | None, typer.Option(help="A line such as .EOA that no bead crosses; '' for empty lines.")
    ] = None,
    documents: Annotated[
        Path | None, typer.Option(help="Pairs of documents; SRC and TGT are then corpora of documents.")
    ] = None,
    pivot: Annotated[
        bool, typer.Option("--pivot", help="The translations of both are into a third language, and compared there.")
    ] = False,
    src_lang: options.SrcLang = None,
    tgt_lang: options.TgtLang = None,
    seed: options.Seed = 1,
) -> None:
    """Align two texts sentence by sentence, n to m; translations help, a lexicon is found on the way.

    The output's suffix decides: .vecalign, .ladder (hunalign's), .parquet (links); .tsv, .tmx, .jsonl (the sentences).
    With --documents the sentences of each pair of documents are aligned, and no bead leaves its pair.

    Example: `paraloom align sentences a.de a.en --translations a.google.en -o a.de-en.tsv`
    """
    if documents is not None:
        from paraloom.workflows.align_documents import align_paired

        given: dict[str, object] = {"--translations": translations, "--target-translations": target_translations}
        given |= {"--translator": translator, "--method": method != "evidence"}
        given |= {"--lexicon": lexicon, "--encoder": encoder, "--bound": bound is not None}
        given |= {"--src-lang": src_lang, "--tgt-lang": tgt_lang}
        for name, value in given.items():
            if value:
                raise typer.BadParameter(f"{name} is for two texts, not for --documents")
        align_paired(source, target, documents, output, most=most, pivot=pivot, seed=seed)
        return
    from paraloom.workflows.align import align_files

    counts = align_files(
        source,
        target,
        output,
        translations=translations or [],
        target_translations=target_translations or [],
        translator=translator,
        most=most,
        method=method,
        lexicon=lexicon,
        encoder=encoder,
        bound=bound,
        pivot=pivot,
        languages=(src_lang, tgt_lang),
    )
    typer.echo(counts.render(), err=True)


def align_documents(
    source: Annotated[str, typer.Argument(metavar="SRC", help="A corpus of documents, as `extract` makes it.")],
    target: Annotated[str, typer.Argument(metavar="TGT", help="Another, in another language.")],
    output: options.Output,
    translator: Annotated[Path | None, typer.Option(help="A translator folder, source to target.")] = None,
    target_translator: Annotated[
        Path | None,
        typer.Option(help="Target into a third language, as --translator does with the source; compared there."),
    ] = None,
    decode: Annotated[str, typer.Option(help="How to translate.")] = "beam:1",
    evidence: Annotated[
        str, typer.Option(help="words, pictures, topics (PARK17), scores (MultiNews), all; several with commas.")
    ] = "all",
    how: Annotated[str, typer.Option(help="one-to-one, mutual (each the other's best) or best (of each source).")] = (
        "one-to-one"
    ),
    by: Annotated[str, typer.Option(help="What the threshold is of: margin over rivals, or score.")] = "margin",
    threshold: Annotated[float, typer.Option(help="A pair has at least so much.")] = 0.0,
    candidates: Annotated[int, typer.Option(help="Documents that each one is compared with.")] = 16,
    rounds: Annotated[int, typer.Option(help="How often sure pairs are aligned to make a lexicon.")] = 2,
    seed: options.Seed = 1,
) -> None:
    """Pair the documents of two languages that say the same, by words, pictures, sizes and topics, never by name.

    Works without a translator: the surest pairs are aligned sentence by sentence, and teach a lexicon.

    Example: `paraloom align documents pages.de pages.en -o pairs.tsv`
    """
    from paraloom.workflows.align_documents import pair_documents

    figures = pair_documents(
        source,
        target,
        output,
        translator=translator,
        target_translator=target_translator,
        decode=decode,
        seed=seed,
        evidence=evidence,
        how=how,
        by=by,
        threshold=threshold,
        candidates=candidates,
        rounds=rounds,
    )
    read = figures["documents"]
    typer.echo(f"{figures['pairs']:,} pairs of {read[0]:,} and {read[1]:,} documents in {output}", err=True)


def align_agree(
    pairs: Annotated[Path, typer.Argument(help="Pairs of documents of two languages, by `align documents`.")],
    through: Annotated[
        list[str],
        typer.Option(help="For a further language two such files, a comma between: with the source, with the target."),
    ],
    output: options.Output,
) -> None:
    """Check pairs of documents by further languages, and complete them: what has the same counterpart belongs together.

    Two pages without a counterpart that are like each other are taken for a pair; a language that has counterparts of
    both knows them apart.  The files may have been made in either direction, unless documents of two languages have the
    same names: then the first leads from the source, the second to the target.

    Example: `paraloom align agree de-en.tsv --through cs-de.tsv,cs-en.tsv -o checked.tsv`
    """
    from paraloom.workflows.align_documents import agree_documents

    ways = []
    for each in through:
        there, comma, back = each.partition(",")
        if not (there and comma and back):
            raise typer.BadParameter(f"'{each}' is not two files with a comma between", param_hint="--through")
        ways.append((Path(there), Path(back)))
    figures = agree_documents(pairs, ways, output)
    typer.echo(
        f"{figures['read']:,} pairs read, {figures['fell']:,} fell, {figures['brought']:,} brought together: "
        f"{figures['pairs']:,} in {output}",
        err=True,
    )


def documents(
    found: Annotated[Path, typer.Argument(metavar="FOUND.tsv", help="Pairs of documents, as `align documents` wrote.")],
    gold: Annotated[Path, typer.Option(help="The true pairs: two names a line, between tabs.")],
    turned: Annotated[bool, typer.Option("--turned", help="The target's name stands first in the gold.")] = False,
    as_json: options.Json = False,
) -> None:
    """Precision, recall and F1 of pairs of documents (PARK17, Table 2).

    Example: `paraloom evaluate documents pairs.tsv --gold gold.tsv`
    """
    from paraloom.align.document_pairs import read_document_pairs
    from paraloom.evaluate.alignment import score_documents

    true = [(pair.target, pair.source) if turned else (pair.source, pair.target) for pair in read_document_pairs(gold)]
    figures = score_documents(true, [(pair.source, pair.target) for pair in read_document_pairs(found)])._asdict()
    if as_json:
        typer.echo(json.dumps(figures | {"gold": len(true)}))
        return
    typer.echo("  ".join(f"{name} {value:.4f}" for name, value in figures.items()) + f"  of {len(true):,} pairs")


def alignment(
    found: Annotated[list[str], typer.Argument(metavar="FOUND", help="Beads: .vecalign, .ladder or .parquet.")],
    gold: Annotated[list[str], typer.Option(help="The true ones, a file for each of FOUND, in order. Repeatable.")],
    as_json: options.Json = False,
) -> None:
    """Precision, recall and F1 of beads: strict and lax as vecalign counts, and by kind.

    Example: `paraloom evaluate alignment ours.vecalign --gold hand.ladder`
    """
    from paraloom.core.errors import ConfigError
    from paraloom.evaluate.alignment import AlignmentScore
    from paraloom.io.formats.alignments import read_beads

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
    encoder: Annotated[
        Path | None, typer.Option(help="An encoder of both languages, or of the target's with a translator.")
    ] = None,
    most: Annotated[int, typer.Option(help="Sentences on one side of a bead.")] = 3,
    method: Method = "evidence",
    as_json: options.Json = False,
) -> None:
    """Align documents whose true beads are known, and count: PARK17's Tables 4 and 5 on your own data.

    Example: `paraloom evaluate aligner cs-en.jsonl.gz --translator cs-en`
    """
    from paraloom.io.formats.gold_beads import read_gold_documents
    from paraloom.stages.documents import score_aligner
    from paraloom.workflows.align import config_of

    config = config_of(method, most)
    documents = read_gold_documents(gold)
    opened = None
    if translator is not None:
        from paraloom.mt.loading import load_translator

        opened = load_translator(translator)
    vectors = None
    if encoder is not None:
        from paraloom.embed.loading import open_encoder

        vectors = open_encoder(encoder)
    score = score_aligner(documents, config, opened, method, vectors)
    typer.echo(json.dumps(score.to_json()) if as_json else score.render())


ALIGNING = {"sentences": align_sentences, "documents": align_documents, "agree": align_agree}
EVALUATING = {"alignment": alignment, "aligner": aligner, "documents": documents}
