"""Commands about paraphrasers: train paraphraser, paraphrase, templates, evaluate control."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from paraloom import workflows
from paraloom.cli import options
from paraloom.cli.output import print_figures, print_result
from paraloom.core.errors import ConfigError

Parser = Annotated[
    str | None, typer.Option(help="A folder of `train parser`, spacy:NAME, spacy:FOLDER, stanza:LANGUAGE[:depparse].")
]
OwnParser = Annotated[str | None, typer.Option(help="Another parser than the one in the model's folder.")]


def train_paraphraser(
    pairs: Annotated[list[str], typer.Argument(help="Pairs, from `backtranslate`, `filter` or `parse`. Repeatable.")],
    output: options.Folder,
    parser: Parser = None,
    direction: Annotated[str, typer.Option(help="both, src-tgt or tgt-src: which side is paraphrased.")] = "both",
    steps: Annotated[int, typer.Option(help="Number of updates; the progress bar shows the time left.")] = 4000,
    vocab_size: Annotated[int, typer.Option(help="Size of the sub-word vocabulary.")] = 8000,
    held_out: Annotated[int, typer.Option(help="Pairs that are held out: their loss stops the training.")] = 500,
    free_share: Annotated[float, typer.Option(help="Share of the pairs without a template, 0 to 1.")] = 0.2,
    exemplar_share: Annotated[float, typer.Option(help="Share of the pairs with deeper templates, 0 to 1.")] = 0.2,
    same_template_share: Annotated[
        float,
        typer.Option(help="Share of the examples with a template that have the source's own, at most, 0 to 1."),
    ] = 0.5,
    max_height: Annotated[int, typer.Option(help="Levels of the highest templates, 2 or more.")] = 4,
    device: options.Device = None,
    title: Annotated[str, typer.Option(help="Title of the model card.")] = "A paraphraser",
    license_: Annotated[
        str, typer.Option("--license", help="License of the training data, for the model card.")
    ] = "other",
    on_error: options.OnError = options.OnErrorChoice.stop,
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Train a paraphraser that follows templates of syntax; if stopped, run it again to resume.

    Pairs without trees are parsed with --parser, which is also copied into the model.

    Example: `paraloom train paraphraser kept.parquet --parser parser-en -o paraphraser-en`
    """
    used = workflows.use_device(device)
    result = workflows.train_paraphraser(
        pairs,
        output,
        parser=parser,
        on_error=on_error.value,
        seed=seed,
        direction=direction,
        steps=steps,
        vocab_size=vocab_size,
        held_out=held_out,
        free_share=free_share,
        exemplar_share=exemplar_share,
        same_template_share=same_template_share,
        max_height=max_height,
        device=str(used or "cpu"),
        title=title,
        license=license_,
    )
    print_figures(result, 'paraphrase "…" --model {output}', as_json)


def paraphrase(
    texts: Annotated[list[str], typer.Argument(metavar="TEXT...", help="Sentences; - reads them from standard input.")],
    paraphraser: Annotated[Path, typer.Option("--model", help="A folder of `train paraphraser`.")],
    n: Annotated[int, typer.Option("-n", "--variants", help="Variants of each text at most.")] = 5,
    template: Annotated[
        str | None,
        typer.Option(help="Syntax to follow, such as '(S (NP) (VP) (.))', or auto: n templates that suit the text."),
    ] = None,
    like: Annotated[str | None, typer.Option(help="A sentence whose syntax to follow, instead of --template.")] = None,
    height: Annotated[int, typer.Option(help="Levels of the tree of --like to follow; 0: all.")] = 4,
    decode: Annotated[
        str | None,
        typer.Option(help="beam:5, sampling, nucleus:0.95 …", autocompletion=options.complete_decoding),
    ] = None,
    parser: OwnParser = None,
    language_check: Annotated[
        bool,
        typer.Option(
            "--language-check/--no-language-check", help="Stop at text in another language than the paraphraser's."
        ),
    ] = True,
    seed: options.Seed = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print each variant as a line of JSON.")] = False,
) -> None:
    """Paraphrase sentences, freely, by a template of syntax, or like another sentence.

    Prints the log-probability, with a template the tree edit distance of the variant's own parse to it, and the text.

    Example: `paraloom paraphrase "We left early because of the rain." --model paraphraser-en --template auto`
    """
    given = [line.rstrip("\n") for line in sys.stdin] if texts == ["-"] else texts
    if any(not text.strip() for text in given) or not given:
        raise ConfigError("the text is empty", remedy="Give a sentence.")
    model = workflows.Paraphraser.load(paraphraser, parser=parser)
    groups = model.paraphrase(
        given,
        n=n,
        template=template,
        like=like,
        height=height or None,
        decode=decode,
        seed=seed,
        check_language=language_check,
    )
    for text, group in zip(given, groups, strict=True):
        if not as_json and len(given) > 1:
            typer.echo(text)
        for variant in group:
            if as_json:
                typer.echo(json.dumps({"source": text, **variant._asdict()}, ensure_ascii=False))
                continue
            cells = [f"{variant.logprob:8.2f}"]
            if variant.template is not None:
                cells.append(f"{'?' if variant.distance is None else variant.distance:>3}")
            cells += [variant.text, *([variant.template] if template == "auto" and variant.template else [])]
            typer.echo("  ".join(cells))


def templates(
    source: Annotated[str, typer.Argument(metavar="FOLDER|PAIRS", help="A paraphraser, or pairs from `parse`.")],
    count: Annotated[int, typer.Option(help="Templates to show, the commonest first.")] = 20,
    as_json: options.Json = False,
) -> None:
    """Show the commonest templates of paraphrases, with examples, beside the ten of SCPN.

    Example: `paraloom templates parsed.parquet`
    """
    print_result(workflows.count_templates(source, count=count), as_json)


def control(
    paraphraser: Annotated[Path, typer.Argument(help="A folder of `train paraphraser`.")],
    pairs: Annotated[str, typer.Argument(help="Held-out pairs from `parse`: a corpus folder or a Parquet file.")],
    parser: OwnParser = None,
    encoder: Annotated[
        str,
        typer.Option(help="Encoder of the similarity to sources.", autocompletion=options.complete_encoder),
    ] = "english",
    rows: Annotated[int, typer.Option(help="Pairs that are drawn at most.")] = 1000,
    only_different: Annotated[
        bool,
        typer.Option("--only-different", help="Pairs whose sides have different templates: of others a copy has it."),
    ] = False,
    heights: Annotated[str, typer.Option(help="Levels of the templates, separated by commas.")] = "2,3",
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Ask for the templates of references, and count how many paraphrases have them, by their own parse.

    Rows: the source, the reference, the model without a template, with the template of another pair, with the template,
    and the nearest of five candidates.

    Example: `paraloom evaluate control paraphraser-en held-out.parquet`
    """
    levels = options.names(heights)
    if not levels or not all(level.isdigit() and int(level) for level in levels):
        raise ConfigError(f"--heights must be whole numbers from 1, got '{heights}'", remedy="Write, for example, 2,3.")
    result = workflows.evaluate_paraphraser(
        paraphraser,
        pairs,
        parser=parser,
        encoder=encoder,
        rows=rows,
        only_different=only_different,
        heights=[*map(int, levels)],
        seed=seed,
    )
    print_result(result, as_json)


COMMANDS: options.Commands = {"paraphrase": paraphrase, "templates": templates}
TRAIN: options.Commands = {"paraphraser": train_paraphraser}
EVALUATE: options.Commands = {"control": control}
