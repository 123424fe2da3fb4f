"""Commands that make and select pairs: backtranslate, score, filter, stats, lexicon, tune, judge."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import paraloom
import paraloom.web as reports
from paraloom import api
from paraloom.bundled import PARAPHRASE_MODEL
from paraloom.cli import options
from paraloom.cli.output import as_written, conclude, print_run, print_usage, suggest, time_taken
from paraloom.cli.translator_options import TranslatorOptions, translating, translating_here
from paraloom.core.errors import ConfigError


@translating
def backtranslate(
    bitext: options.Pairs,
    translator: options.Translator,
    output: options.Output,
    decode: options.OwnDecode = None,
    side: Annotated[str, typer.Option(help="The side to translate: src or tgt; the other is the reference.")] = "src",
    src_lang: options.SrcLang = None,
    tgt_lang: options.TgtLang = None,
    src_column: options.SrcColumn = None,
    tgt_column: options.TgtColumn = None,
    shard_rows: Annotated[int, typer.Option(help="Rows that a worker processes at a time.")] = 500,
    translation: TranslatorOptions = TranslatorOptions(),  # noqa: B008
    engine: options.Engine = "local",
    workers: options.Workers = None,
    on_error: options.OnError = options.OnErrorChoice.stop,
    language_check: options.CheckLanguages = True,
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Pair each reference of a bitext with translations of its other side: paraphrases.

    Example: `paraloom backtranslate train.de train.en --translator de-en --decode beam:12 -o pairs.parquet`

    Example: `paraloom backtranslate train.tsv --translator http://127.0.0.1:8000/v1 --model qwen3 --from de --to en
    -o pairs.parquet`
    """
    named = translation.named(translator, output)
    pairs = paraloom.read_pairs(
        options.pairs(bitext),
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        src_column=options.column(src_column),
        tgt_column=options.column(tgt_column),
        bad_rows=on_error.value,
        shard_rows=shard_rows,
        seed=seed,
    )
    paraphrases = pairs.backtranslate(named, decode=decode, side=side, check_languages=language_check)
    result = paraphrases.write(output, engine=engine, workers=translation.workers(workers), on_error=on_error.value)
    print_usage(named)
    print_run(result, output, "score {output} --with overlap,length -o scored.parquet", as_json)


@translating_here
def score(
    pairs: options.Pairs,
    output: options.Output,
    scores: Annotated[
        str,
        typer.Option(
            "--with",
            help="Scores or groups, separated by commas; `all`; `paraloom scores` lists them.",
            autocompletion=options.complete_scores,
        ),
    ] = "common",
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Adds paraphrase_score (--with bilingual: bilingual_similarity): a bundled name, a folder, or a "
            "sentence-transformers model."
        ),
    ] = None,
    word_counts: Annotated[
        str | None, typer.Option(help="Adds the mean IDF of both sides: a folder of `train word-counts`.")
    ] = None,
    language_model: Annotated[
        str | None, typer.Option(help="Adds perplexities: a folder of `train language-model`, or an ARPA file.")
    ] = None,
    classifier: Annotated[
        str | None, typer.Option(help="Adds reference_probability: a folder of `research train-classifier`.")
    ] = None,
    translator: Annotated[
        str | None,
        typer.Option(help="Adds the costs of both sides as translations of the pivot: a name, a folder, A+B."),
    ] = None,
    reverse_translator: Annotated[
        str | None,
        typer.Option(help="Adds scores of translating back into the language of the pivot: a name, a folder, A+B."),
    ] = None,
    agreement_samples: Annotated[
        int, typer.Option(help="Adds agreement: compares tgt with this many samples of --translator, such as 16.")
    ] = 0,
    cross_encoder: Annotated[
        str | None,
        typer.Option(
            help="Adds cross_encoder_forward and _backward: the folder of an entailment model in ONNX format."
        ),
    ] = None,
    cross_encoder_file: Annotated[
        str, typer.Option(help="The ONNX file in that folder. Default: model.onnx, onnx/model.onnx, or the only one.")
    ] = "",
    cross_encoder_label: Annotated[
        str, typer.Option(help="The label whose probability is the score. Default: entailment, or paraphrase of two.")
    ] = "",
    paraphrase_model: Annotated[
        str | None, typer.Option(help="Adds p_paraphrase, from the other scores: paraphrases-en, or a folder.")
    ] = None,
    languages: Annotated[
        str | None, typer.Option(help="Adds the probability of the stated languages: all that may occur, as de,en.")
    ] = None,
    src_column: options.SrcColumn = None,
    tgt_column: options.TgtColumn = None,
    translation: TranslatorOptions = TranslatorOptions(),  # noqa: B008
    engine: options.Engine = "local",
    workers: options.Workers = None,
    on_error: options.OnError = options.OnErrorChoice.stop,
    as_json: options.Json = False,
) -> None:
    """Add columns of scores to pairs; no row is dropped.

    --from and --to are those of --translator; --reverse-translator has them the other way around.

    Example: `paraloom score pairs.parquet --with overlap,bleu1,length -o scored.parquet`

    Example: `paraloom score train.cs-en.tsv --with bilingual --encoder cs-en -o scored.tsv`
    """
    if translator is None and reverse_translator is None:
        translation.named(None, output)
    forward = None if translator is None else translation.scoring(translator, output)
    reverse = None if reverse_translator is None else translation.reversed().scoring(reverse_translator, output)
    scored = paraloom.read_pairs(
        options.pairs(pairs),
        src_column=options.column(src_column),
        tgt_column=options.column(tgt_column),
        bad_rows=on_error.value,
    ).score(
        options.names(scores),
        encoder=encoder,
        word_counts=word_counts,
        language_model=language_model,
        classifier=classifier,
        translator=forward,
        reverse_translator=reverse,
        agreement_samples=agreement_samples,
        cross_encoder=cross_encoder,
        cross_encoder_file=cross_encoder_file,
        cross_encoder_label=cross_encoder_label,
        paraphrase_model=paraphrase_model,
        languages=options.names(languages or ""),
    )
    result = scored.write(output, engine=engine, workers=translation.workers(workers), on_error=on_error.value)
    print_run(result, output, _use_of_scores(options.names(scores)), as_json)


@translating_here
def filter_pairs(
    pairs: options.Pairs,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Where to write; the suffix decides the format.")
    ] = None,
    where: Annotated[str, typer.Option(help="A condition in SQL over the columns.")] = "",
    preset: Annotated[
        str | None,
        typer.Option(
            help="strict, balanced or loose: keep what is probably a paraphrase, but not a near-copy.",
            autocompletion=options.complete_preset,
        ),
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="For a preset: compute paraphrase_score first, with this encoder.")
    ] = None,
    reverse_translator: Annotated[
        str | None,
        typer.Option(
            help="For a preset: translate back first, with this translator (a name, a folder, A+B); the most reliable."
        ),
    ] = None,
    paraphrase_model: Annotated[
        str, typer.Option(help="The model of the presets: a bundled name, or a folder of `train paraphrase-model`.")
    ] = PARAPHRASE_MODEL,
    top: Annotated[float | None, typer.Option(help="Keep the best share (0–1) by the column --by.")] = None,
    decile: Annotated[
        int | None, typer.Option(help="Keep one decile (1–10) of the ranking by --by; 1 has the lowest values.")
    ] = None,
    by: Annotated[str, typer.Option(help="Column that --top and --decile rank by.")] = "",
    best: Annotated[str, typer.Option(help="lowest or highest; default: the score's own direction.")] = "",
    sample: Annotated[float | None, typer.Option(help="Keep a random share (below 1) or number of rows.")] = None,
    preview: Annotated[
        bool,
        typer.Option("--preview", help="Only count the pairs that each criterion alone, and all together, would keep."),
    ] = False,
    translation: TranslatorOptions = TranslatorOptions(),  # noqa: B008
    engine: options.Engine = "local",
    workers: options.Workers = None,
    on_error: options.OnError = options.OnErrorChoice.stop,
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Keep the pairs that meet all criteria: preset and where, then top or decile, then sample.

    --from and --to are those of --reverse-translator.

    Example: `paraloom filter scored.parquet -o kept.parquet
    --where "trigram_overlap <= 0.7 and tgt_tokens between 3 and 30"`

    Example: `paraloom filter pairs.parquet -o kept.parquet --preset strict --reverse-translator en-de`
    """
    criteria: dict[str, Any] = {
        "top": top,
        "decile": decile,
        "by": by,
        "best": best,
        "sample": int(sample) if sample is not None and sample >= 1 else sample,
    }
    if preview and preset:
        raise ConfigError(
            "--preview counts for a condition, not for a preset",
            remedy="Add p_paraphrase with `paraloom score --paraphrase-model`, then preview a condition on it.",
        )
    if preview:
        counts = api.preview_filter(options.pairs(pairs), where, seed=seed, on_error=on_error.value, **criteria)
        rows = [vars(count) for count in counts]
        typer.echo(json.dumps(rows, ensure_ascii=False) if as_json else api.format_preview(counts))
        return
    if not output:
        raise ConfigError("an output is missing", remedy="Give -o, or --preview to count only.")
    if not (where or preset) and top is None and decile is None and sample is None:
        raise ConfigError("no criterion is given", remedy="Give --where, --preset, --top, --decile or --sample.")
    kept = paraloom.read_pairs(options.pairs(pairs), seed=seed, bad_rows=on_error.value).filter(
        where,
        preset=preset,
        encoder=encoder,
        reverse_translator=translation.scoring(reverse_translator, output),
        paraphrase_model=paraphrase_model,
        **criteria,
    )
    result = kept.write(output, engine=engine, workers=translation.workers(workers), on_error=on_error.value)
    print_run(result, output, "train encoder --pairs {output} -o encoder", as_json)
    if not as_json and not result.stages[-1].counts.out:
        typer.echo(f"\n{api.explain_empty_filter(result, options.pairs(pairs))}", err=True)


def stats(
    pairs: options.Pairs,
    sample: Annotated[int, typer.Option(help="Pairs to measure, sampled at random.")] = 150_000,
    on_error: options.OnError = options.OnErrorChoice.stop,
    as_json: options.Json = False,
    seed: options.Seed = 1,
) -> None:
    """Compare references and translations: length, vocabulary, entropy, repetition.

    Scored pairs give more: mean IDF, paraphrase score, and what the reference probability correlates with.

    Example: `paraloom stats pairs.parquet`
    """
    figures = api.pair_statistics(options.pairs(pairs), sample=sample, seed=seed, on_error=on_error.value)
    if as_json:
        typer.echo(json.dumps(figures))
        return
    typer.echo(f"{figures['pairs']:,} pairs\n")
    parts = ("reference", "translation", "reference_minus_translation")
    names = list(dict.fromkeys(name for part in parts for name in figures[part]))
    typer.echo(f"{'':<20}" + "".join(f"{part.replace('_', ' '):>30}" for part in parts))
    for name in names:
        cells = [_estimate(figures[part].get(name)) for part in parts]
        typer.echo(f"{name.replace('_', ' '):<20}" + "".join(f"{cell:>30}" for cell in cells))
    if "paraphrase_score" in figures:
        typer.echo(f"\nparaphrase score {_estimate(figures['paraphrase_score'])}")
    for name, value in figures.get("spearman_of_reference_probability", {}).items():
        typer.echo(f"Spearman of p(reference) and {name}: {_estimate(value)}")


def lexicon(
    pairs: options.Pairs,
    output: options.Output,
    max_phrase_length: Annotated[int, typer.Option(help="Maximum number of words of a phrase.")] = 3,
    min_count: Annotated[int, typer.Option(help="Minimum number of times that an entry occurs.")] = 2,
    sample: Annotated[int, typer.Option(help="Pairs to learn from, sampled at random.")] = 500_000,
    on_error: options.OnError = options.OnErrorChoice.stop,
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Extract a paraphrase lexicon: phrases that can replace each other, scored, with examples.

    Example: `paraloom lexicon pairs.parquet -o lexicon.tsv`
    """
    count = api.extract_lexicon(
        options.pairs(pairs),
        output,
        seed=seed,
        on_error=on_error.value,
        max_phrase_length=max_phrase_length,
        min_count=min_count,
        sample=sample,
    )
    if as_json:
        typer.echo(json.dumps({"output": output, "entries": count}))
        return
    typer.echo(f"{count:,} entries in {output}")
    conclude(output, counted=True)


def tune(
    pairs: options.Pairs,
    sts: Annotated[Path, typer.Option(help="A folder of similarity tasks.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Run folder.")] = Path("runs/tune"),
    grids: Annotated[
        list[str] | None,
        typer.Option(
            "--grid",
            help="A condition in SQL, or a set of them: w17-overlap (default), w17-length, pnmt-tenths … Repeatable.",
        ),
    ] = None,
    size: Annotated[int, typer.Option(help="Pairs of each selection.")] = 24_000,
    epochs: Annotated[int, typer.Option(help="Maximum number of passes; the best one counts.")] = 10,
    seeds: Annotated[int, typer.Option(help="How many times each selection is sampled and trained.")] = 1,
    random_seeds: Annotated[int, typer.Option(help="How many times the random selection is.")] = 5,
    development: Annotated[str, typer.Option(help="The task that decides.")] = "STS-B/dev",
    spec: Annotated[str, typer.Option(help="Parts of the encoder.")] = "word,trigram",
    workers: options.Workers = None,
    on_error: options.OnError = options.OnErrorChoice.stop,
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Find the filter whose pairs train the best encoder, against random pairs; if stopped, run it again to resume.

    Example: `paraloom tune scored.parquet --sts data/sts --grid w17-overlap --grid "src_tokens > 5" -o runs/tune`
    """
    tuning = api.Tuning(
        pairs=options.pairs(pairs),
        grids=tuple(grids or ["w17-overlap"]),
        sts=Path(sts),
        development=development,
        size=size,
        epochs=epochs,
        seeds=seeds,
        random_seeds=random_seeds,
        encoder={"spec": spec},
        bad_rows=on_error.value,
    )
    tuned = api.tune(tuning, output, workers=workers, seed=seed)
    page = reports.write_report(output, output / "report.html")
    if as_json:
        typer.echo(as_written(output, report=page, **tuned.to_dict()))
        return
    typer.echo(f"{tuned.format()}\nReport: {page}")
    conclude(output, _use_of_selection(tuning, tuned), rows=False)


def _use_of_scores(names: Sequence[str]) -> str:
    """The command that comes after `score`: a filter by a score that was added, or else a look at the rows.

    >>> _use_of_scores(["length"])
    'filter {output} --where "tgt_tokens between 3 and 30" -o kept.parquet'
    """
    added = {score for name in names for score in api.GROUPS.get(name, (name,))}
    conditions = (
        ("trigram_overlap", "trigram_overlap <= 0.7"),
        ("bilingual", "bilingual_similarity >= 0.5"),
        ("tgt_tokens", "tgt_tokens between 3 and 30"),
        ("length_ratio", "length_ratio <= 2"),
    )
    for score, condition in conditions:
        if score in added:
            return f'filter {{output}} --where "{condition}" -o kept.parquet'
    return "head {output}"


def _use_of_selection(tuning: api.Tuning, tuned: api.TuningResult) -> str:
    """The command that keeps the best selection; if it is not known to beat random pairs, one that trains on all."""
    pairs = shlex.quote(tuning.pairs)
    if not tuned.beats_random:
        return f"train encoder --pairs {pairs} -o encoder"
    settings = next(candidate.settings for candidate in tuning.candidates() if candidate.label == tuned.winner)
    criteria = " ".join(f"--{name} {shlex.quote(str(value))}" for name, value in settings.items())
    return f"filter {pairs} {criteria} -o kept.parquet"


def judge_sample(
    pairs: options.Pairs,
    output: Annotated[Path, typer.Option("--output", "-o", help="The sheet, tab-separated.")] = Path("sheet.tsv"),
    page: Annotated[Path | None, typer.Option(help="An HTML page as well, to label the pairs in a browser.")] = None,
    by: Annotated[str, typer.Option(help="The score whose ranges are sampled.")] = "paraphrase_score",
    count: Annotated[int, typer.Option(help="Pairs from each range.")] = 100,
    on_error: options.OnError = options.OnErrorChoice.stop,
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Sample pairs from each range of a score into a sheet for annotators.

    Example: `paraloom judge sample scored.parquet -o sheet.tsv`

    Example: `paraloom judge sample scored.parquet --count 20 --page sheet.html -o sheet.tsv`
    """
    key = api.draw_sheet(options.pairs(pairs), output, by=by, count=count, seed=seed, on_error=on_error.value)
    if page is not None:
        reports.write_rating_page(output, page)
    if as_json:
        typer.echo(as_written(output, key=key, pairs=api.preview(output, 1).rows))
        return
    typer.echo(f"Give each annotator a copy of {output if page is None else page}; keep {key}.")
    conclude(output, f"judge table rater1.tsv rater2.tsv --key {shlex.quote(str(key))}")


def judge_table(
    sheets: Annotated[list[Path], typer.Argument(help="Labeled sheets, one per annotator.")],
    key: Annotated[Path, typer.Option(help="The key that was written with the sheet.")],
    as_json: options.Json = False,
) -> None:
    """Count the labels in each range, and how far two annotators agree.

    Example: `paraloom judge table rater1.tsv rater2.tsv --key sheet.tsv.key.tsv`
    """
    table = api.summarize_ratings(sheets, key)
    if as_json:
        typer.echo(json.dumps(table))
        return
    rows = table["rows"]
    labels = [(kind, value) for kind in ("strength", "fluency") for value in rows[0][kind]] if rows else []
    heads = "".join(f"{f'{kind} {value}':>13}" for kind, value in labels)
    typer.echo(f"{'range':<14}{'in corpus':>12}{'overlap':>10}{heads}")
    for row in rows:
        counts = "".join(f"{row[kind][value]:>13}" for kind, value in labels)
        overlap = "" if row["trigram_overlap"] is None else f"{row['trigram_overlap']:.2f}"
        typer.echo(f"{row['range']:<14}{row['in_corpus']:>12,}{overlap:>10}{counts}")
    for kind, kappa in table["agreement"].items():
        value = "undefined, all labels are the same" if kappa is None else f"{kappa:.2f}"
        typer.echo(f"Cohen's kappa of {kind}: {value}")
    judged, raters = sum(row["judged"] for row in rows), table["raters"]
    typer.echo(f"\n{judged:,} pairs by {raters} rater{'' if raters == 1 else 's'}, {time_taken()}", err=True)
    suggest("filter scored.parquet --where 'paraphrase_score > 0.7' -o kept.parquet")


def _estimate(value: dict[str, float] | None) -> str:
    if value is None:
        return ""
    if value["low"] == value["high"]:
        return f"{value['value']:,.0f}"
    return f"{value['value']:.4g} [{value['low']:.4g}, {value['high']:.4g}]"


COMMANDS: options.Commands = {
    "backtranslate": backtranslate,
    "score": score,
    "filter": filter_pairs,
    "stats": stats,
    "lexicon": lexicon,
    "tune": tune,
}
JUDGE: options.Commands = {"sample": judge_sample, "table": judge_table}
