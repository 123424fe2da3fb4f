"""Commands about paraphrasers: train paraphraser, paraphrase, templates."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from paraloom import api
from paraloom.cli import options, paraphraser_options
from paraloom.cli.output import print_figures, print_result, print_usage
from paraloom.core.errors import ConfigError

Parser = Annotated[
    str | None,
    typer.Option(help="english, a folder of `train parser`, spacy:NAME, spacy:FOLDER, stanza:LANGUAGE[:depparse]."),
]
OwnParser = Annotated[str | None, typer.Option(help="Another parser than the one in the model's folder.")]


def train_paraphraser(
    pairs: Annotated[list[str], typer.Argument(help="Pairs, from `backtranslate`, `filter` or `parse`. Repeatable.")],
    output: options.Folder,
    sentences: Annotated[
        list[str] | None,
        typer.Option(help="Monolingual text, a sentence per line, which teaches to follow templates. Repeatable."),
    ] = None,
    unmoved_share: Annotated[
        float,
        typer.Option(help="Share of the other --sentences that are examples as they are: they teach to copy, 0 to 1."),
    ] = 0.0,
    parser: Parser = None,
    network: Annotated[
        str, typer.Option(help="transformer; lstm; or scpn: one LSTM writes the parse, another the paraphrase.")
    ] = "transformer",
    word_dim: Annotated[int, typer.Option(help="Width of the embeddings of lstm and scpn.")] = 300,
    hidden_dim: Annotated[int, typer.Option(help="Width of the LSTMs of lstm and scpn.")] = 512,
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
    used = api.use_device(device)
    result = api.train_paraphraser(
        pairs,
        output,
        sentences=sentences or (),
        unmoved_share=unmoved_share,
        parser=parser,
        on_error=on_error.value,
        seed=seed,
        network=network,
        word_dim=word_dim,
        hidden_dim=hidden_dim,
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


@paraphraser_options.paraphrasing
def paraphrase(
    texts: Annotated[list[str], typer.Argument(metavar="TEXT...", help="Sentences; - reads them from standard input.")],
    paraphraser: paraphraser_options.ParaphraserOptions,
    n: Annotated[int, typer.Option("-n", "--variants", help="Variants of each text at most.")] = 5,
    template: Annotated[
        str | None,
        typer.Option(help="Syntax to follow, such as '(S (NP) (VP) (.))', or auto: n templates that suit the text."),
    ] = None,
    like: Annotated[str | None, typer.Option(help="A sentence whose syntax to follow, instead of --template.")] = None,
    height: Annotated[int, typer.Option(help="Levels of the tree of --like to follow; 0: all.")] = 4,
    parser: OwnParser = None,
    preset: Annotated[
        paraphraser_options.PresetChoice | None,
        typer.Option(
            help="Select the variants; else they are printed as the model gives them.",
            rich_help_panel=paraphraser_options.SELECTION,
        ),
    ] = None,
    meaning: paraphraser_options.Meaning = None,
    difference: paraphraser_options.Difference = None,
    candidates: paraphraser_options.Candidates = None,
    encoder: paraphraser_options.Encoder = "english",
    cross_encoder: paraphraser_options.CrossEncoder = None,
    entailment: paraphraser_options.Entailment = None,
    language_model: paraphraser_options.LanguageModel = None,
    language_check: Annotated[
        bool,
        typer.Option(
            "--language-check/--no-language-check", help="Stop at text in another language than the paraphraser's."
        ),
    ] = True,
    seed: options.Seed = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print each variant as a line of JSON.")] = False,
) -> None:
    """Paraphrase sentences: freely, by a template of syntax, like another sentence, or by a round trip.

    Prints the log-probability, with a template the tree edit distance of the variant's own parse to it, and the text.
    With --preset, --meaning or --difference: cosine to the text, difference from it, and the text; and how many
    candidates were dropped, with the reasons.

    Example: `paraloom paraphrase "We left early because of the rain." --model english --template auto`

    Example: `paraloom paraphrase "A dog sleeps in the garden." --forward en-de --backward de-en --preset varied`
    """
    given = [line.rstrip("\n") for line in sys.stdin] if texts == ["-"] else texts
    if any(not text.strip() for text in given) or not given:
        raise ConfigError("the text is empty", remedy="Give a sentence.")
    model = paraphraser.model
    trained = model is not None and not api.is_endpoint(model)
    if not trained and (template is not None or like is not None or parser is not None):
        raise ConfigError(
            "--template, --like and --parser are for a trained paraphraser", remedy="Name its folder with --model."
        )
    chosen = (meaning, difference, entailment, cross_encoder, language_model)
    selecting = preset is not None or any(value is not None for value in chosen)
    pool = paraphraser_options.number_of_candidates(
        candidates, selecting, "give --preset, --meaning or --difference, too (-n is the number of variants)"
    )
    others = (
        paraphraser.forward,
        paraphraser.backward,
        paraphraser.endpoint_model,
        paraphraser.language,
        paraphraser.endpoint,
    )
    if trained and not selecting and not any(others):
        # The model itself warns where no variant has the template.
        source: Any = api.Paraphraser.load(str(model), parser=parser, device=paraphraser.used_device)
        how = {"template": template, "like": like, "height": height or None, "decode": paraphraser.decode}
        groups = source.paraphrase(given, n=n, seed=seed, check_language=language_check, **how)
        _print_variants(given, groups, template == "auto", as_json)
        return
    source = paraphraser.opened(parser=parser, template=template, like=like, height=height or None)
    if language_check:
        api.check_text_language(given, api.language_of_paraphraser(source))
    if not selecting:
        _print_variants(given, source.paraphrase(given, n=n, seed=seed), template == "auto", as_json)
        print_usage(getattr(source, "translator", None))
        return
    selector = api.open_selector(
        preset.value if preset is not None else "augmentation",
        encoder=encoder,
        language=api.language_of_paraphraser(source),
        meaning=meaning,
        difference=difference,
        entailment=entailment,
        cross_encoder=cross_encoder,
        language_model=language_model,
    )
    selection = selector.select(given, source.paraphrase(given, n=max(n, pool), seed=seed), n)
    for text, kept in zip(given, selection.kept, strict=True):
        if not as_json and len(given) > 1:
            typer.echo(text)
        for one in kept:
            if as_json:
                typer.echo(json.dumps({"source": text, **_without_nan(one.to_dict())}, ensure_ascii=False))
            else:
                typer.echo(f"{one.meaning:5.2f} {one.difference:5.2f}  {one.text}")
    kept_count, total = sum(map(len, selection.kept)), sum(map(len, selection.kept)) + selection.dropped.total()
    reasons = "; ".join(f"{count:,} {reason}" for reason, count in selection.dropped.most_common())
    print_usage(getattr(source, "translator", None))
    typer.echo(f"kept {kept_count:,} of {total:,} candidates{f'; dropped: {reasons}' if reasons else ''}", err=True)


def _print_variants(texts: list[str], groups: Any, with_templates: bool, as_json: bool) -> None:
    """Variants as a paraphraser gives them."""
    for text, group in zip(texts, groups, strict=True):
        if not as_json and len(texts) > 1:
            typer.echo(text)
        for variant in group:
            if as_json:
                typer.echo(json.dumps({"source": text, **_without_nan(variant._asdict())}, ensure_ascii=False))
                continue
            if reason := getattr(variant, "reason", None):
                typer.echo(f"paraloom: refused: {reason}", err=True)
                continue
            cells = [f"{variant.logprob:8.2f}"]
            template = getattr(variant, "template", None)
            if template is not None:
                cells.append(f"{'?' if variant.distance is None else variant.distance:>3}")
            cells += [variant.text, *([template] if with_templates and template else [])]
            typer.echo("  ".join(cells))


def _without_nan(values: dict[str, Any]) -> dict[str, Any]:
    """Values for JSON, which does not have NaN."""
    return {name: None if value != value else value for name, value in values.items()}


def templates(
    source: Annotated[str, typer.Argument(metavar="FOLDER|PAIRS", help="A paraphraser, or pairs from `parse`.")],
    count: Annotated[int, typer.Option(help="Templates to show, the commonest first.")] = 20,
    as_json: options.Json = False,
) -> None:
    """Show the commonest templates of paraphrases, with examples, beside ten published ones (Iyyer et al. 2018).

    Example: `paraloom templates parsed.parquet`
    """
    print_result(api.count_templates(source, count=count), as_json)


COMMANDS: options.Commands = {"paraphrase": paraphrase, "templates": templates}
TRAIN: options.Commands = {"paraphraser": train_paraphraser}
