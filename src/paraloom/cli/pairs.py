"""Commands that make, score and select pairs, and train the models of scores."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from paraloom import api
from paraloom.bundled import BUNDLED
from paraloom.cli.declaration import Command
from paraloom.cli.output import as_written, conclude, print_run, suggest, time_taken, written
from paraloom.cli.shared import TRANSLATOR
from paraloom.core.errors import ConfigError
from paraloom.core.lazy import late
from paraloom.core.progress import format_duration
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.shard import OnError
from paraloom.text.language_names import language_code

_holds_sentences_alone = late("paraloom.io.bitext:holds_sentences_alone")
_write_rating_page = late("paraloom.web:write_rating_page")


def _backtranslate(
    pairs: str,
    output: str,
    *,
    src_lang: str | None = None,
    tgt_lang: str | None = None,
    src_column: str | int | None = None,
    tgt_column: str | int | None = None,
    engine: str = "local",
    workers: int | None = None,
    on_error: OnError = "stop",
    seed: int = 1,
    as_json: bool = False,
    **options: Any,
) -> None:
    bitext = api.read_pairs(
        pairs,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        src_column=src_column,
        tgt_column=tgt_column,
        on_error=on_error,
        shard_rows=500,
        seed=seed,
    )
    paraphrases = bitext.backtranslate(**options)
    result = paraphrases.write(output, engine=engine, workers=workers, on_error=on_error)
    print_run(result, output, _selection(output) or "score {output} --with overlap,length -o scored.parquet", as_json)


def _score(
    pairs: str,
    output: str,
    *,
    src_column: str | int | None = None,
    tgt_column: str | int | None = None,
    engine: str = "local",
    workers: int | None = None,
    on_error: OnError = "stop",
    as_json: bool = False,
    **scoring: Any,
) -> None:
    if _holds_sentences_alone(output):
        raise ConfigError(
            "the scores would be lost: this format holds the sentences alone",
            file=output,
            remedy="Write .tsv, .csv, .jsonl or .parquet.",
        )
    if scoring.get("judge"):
        scoring["judge"] = api.with_answers(str(scoring["judge"]), output)
    if any("*" in str(column) for column in (src_column, tgt_column)):
        paths: dict[str, Any] = {"src_column": src_column, "tgt_column": tgt_column}
        records = api.score_records(
            pairs, output, **paths, engine=engine, workers=workers, on_error=on_error, **scoring
        )
        written(output, records.to_dict(), records.format(), as_json=as_json, rows=False)
        return
    read = api.read_pairs(pairs, src_column=src_column, tgt_column=tgt_column, on_error=on_error)
    result = read.score(**scoring).write(output, engine=engine, workers=workers, on_error=on_error)
    print_run(result, output, _selection(output) or _use_of_scores(scoring["scores"]), as_json)


_CRITERIA = ("where", "preset", "per_source", "distinct", "top", "decile", "precision", "sample")


def _filter(
    pairs: str,
    output: str | None = None,
    *,
    preview: bool = False,
    draw: Path | None = None,
    engine: str = "local",
    workers: int | None = None,
    on_error: OnError = "stop",
    seed: int = 1,
    as_json: bool = False,
    **criteria: Any,
) -> None:
    """Filter pairs, count what a filter would keep, or draw pairs to label.

    Args:
        preview: Only count the pairs that each criterion alone, and all together, would keep.
        draw: Only write a sheet of the pairs to label next for `--precision`; NAME.html: also a page to label them on.
    """
    if criteria.get("sample", 0) >= 1:
        criteria["sample"] = int(criteria["sample"])
    if draw is not None:
        _draw_labels(pairs, draw, {**criteria, "seed": seed, "on_error": on_error}, as_json)
        return
    if preview:
        _preview(pairs, {**criteria, "seed": seed, "on_error": on_error}, as_json)
        return
    if not output:
        raise ConfigError("an output is missing", remedy="Give -o, or --preview to count only.")
    if not any(criteria.get(name) for name in _CRITERIA):
        flags = [f"--{name.replace('_', '-')}" for name in _CRITERIA]
        raise ConfigError("no criterion is given", remedy=f"Give {', '.join(flags[:-1])} or {flags[-1]}.")
    kept = api.read_pairs(pairs, seed=seed, on_error=on_error).filter(**criteria)
    result = kept.write(output, engine=engine, workers=workers, on_error=on_error)
    enough = result.stages[-1].counts.out >= api.FEW_PAIRS
    kind = "bitext" if _is_bitext(output) else "pairs"
    then = f"train encoder --{kind} {{output}} -o encoder" if enough else "explore {output}"
    print_run(result, output, then, as_json)
    if not as_json:
        _explain(result, pairs, bool(criteria.get("preset")))


def _explain(result: RunResult, pairs: str, has_preset: bool) -> None:
    """Say what the scores of a preset took, and why no pair was kept."""
    scoring = [stage.seconds for stage in result.stages[:-1] if stage.name.partition("-")[0] == "score"]
    if scoring and has_preset:
        seconds = format_duration(sum(scoring))
        typer.echo(f"\nThe scores of the preset were computed first, {seconds} of work.", err=True)
    if not result.stages[-1].counts.out and (why := api.explain_empty_filter(result, pairs)):
        typer.echo(f"\n{why}", err=True)


def _preview(pairs: str, criteria: dict[str, Any], as_json: bool) -> None:
    counts = api.preview_filter(pairs, **criteria)
    if as_json:
        typer.echo(json.dumps([vars(count) for count in counts], ensure_ascii=False))
    else:
        summary = f"\n{api.summarize_preview(counts)}" if "preset" in criteria else ""
        typer.echo(api.format_preview(counts) + summary)


def _draw_labels(pairs: str, path: Path, criteria: dict[str, Any], as_json: bool) -> None:
    if criteria.get("precision") is None:
        raise ConfigError("which precision the labels are for is missing", remedy="Give --precision, such as 0.9.")
    count, sheet = api.draw_labels(pairs, path, **criteria), path.with_suffix(".tsv")
    if count and path.suffix == ".html":
        _write_rating_page(sheet, path)
    if as_json:
        typer.echo(as_written(sheet if path.suffix == ".html" else path, pairs=count))
    elif not count:
        typer.echo("All pairs that matter are labeled: nothing to draw.")
    else:
        typer.echo(f"{count} pairs to label in {path}: 1 (right) or 0 (wrong) for each, without leaving out any.")
        filled = path.with_suffix(".labeled.tsv") if path.suffix == ".html" else path
        files = shlex.quote(",".join(map(str, [*criteria.get("labels", ()), filled])))
        suggest(f"filter {shlex.quote(pairs)} --precision {criteria['precision']:g} --labels {files} -o kept.parquet")


def _show_statistics(figures: dict[str, Any], values: Mapping[str, Any]) -> None:
    if values["as_json"]:
        typer.echo(json.dumps(figures))
        return
    typer.echo(f"{figures['pairs']:,} pairs\n")
    parts = ("reference", "translation", "reference_minus_translation")
    names = list(dict.fromkeys(name for part in parts for name in figures[part]))
    rows = [(name.replace("_", " "), *(_estimate(figures[part].get(name)) for part in parts)) for name in names]
    typer.echo(
        "\n".join(late("paraloom.core.results:text_table")(["", *(part.replace("_", " ") for part in parts)], rows))
    )
    if "paraphrase_score" in figures:
        typer.echo(f"\nparaphrase score {_estimate(figures['paraphrase_score'])}")
    for name, value in figures.get("spearman_of_reference_probability", {}).items():
        typer.echo(f"Spearman of p(reference) and {name}: {_estimate(value)}")


def _show_lexicon(count: int, values: Mapping[str, Any]) -> None:
    output = values["output"]
    if values["as_json"]:
        typer.echo(json.dumps({"output": output, "entries": count}), err=output == "-")
        return
    typer.echo(f"{count:,} entries in {output}", err=output == "-")
    if not count:
        remedy = "give more bitext, with sides in two languages, or set a lower --min-score or --min-count"
        typer.echo(f"No phrases share translations with the minimum score: {remedy}.", err=True)
    conclude(output, counted=True)


def _first_row(output: str) -> Mapping[str, Any]:
    return next(iter(getattr(api.preview_output(output, 1), "shown", ())), {})


def _is_bitext(output: str) -> bool:
    """Whether the sides of the pairs are known to be in different languages, or were scored as if they are."""
    first = _first_row(output)
    if "bilingual_similarity" in first:
        return True
    source, target = (language_code(first.get(name)) for name in ("src_lang", "tgt_lang"))
    return source is not None and target is not None and source != target


def _selection(output: str) -> str:
    """The filter that is recommended for English pairs, by a preset; empty for others."""
    first = _first_row(output)
    if {first.get("src_lang"), first.get("tgt_lang")} != {"en"}:
        return ""
    reverse = f"en-{first.get('pivot_lang')}"
    translating = f" --reverse-translator {reverse}" if reverse in BUNDLED and "reverse_cost" not in first else ""
    return f"filter {{output}} --preset strict --per-source 1{translating} -o kept.parquet"


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


def _judge_sample(
    pairs: str, output: Path = Path("sheet.tsv"), *, page: Path | None = None, as_json: bool = False, **options: Any
) -> None:
    """Draw a sheet.

    Args:
        output: The sheet, tab-separated.
        page: An HTML page as well, to label the pairs in a browser.
    """
    key = api.draw_sheet(pairs, output, **options)
    if page is not None:
        _write_rating_page(output, page)
    if as_json:
        typer.echo(as_written(output, key=key, pairs=api.preview(output, 1).rows))
        return
    typer.echo(f"Give each annotator a copy of {output if page is None else page}; keep {key}.")
    conclude(output, f"research judge table rater1.tsv rater2.tsv --key {shlex.quote(str(key))}")


def _show_ratings(table: dict[str, Any], values: Mapping[str, Any]) -> None:
    if values["as_json"]:
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


def _estimate(value: dict[str, Any] | None) -> str:
    if value is None:
        return ""
    if value["low"] in (None, value["high"]):
        return f"{value['value']:,.0f}" if value["value"] == round(value["value"]) else f"{value['value']:.4g}"
    return f"{value['value']:.4g} [{value['low']:.4g}, {value['high']:.4g}]"


def _scores(*, paraphrase_model: str | None = None, as_json: bool = False) -> None:
    """List the scores that `score --with` knows: name, unit, range, better values, description.

    Args:
        paraphrase_model: Print the card of this model instead: training pairs, weights, presets.
    """
    if paraphrase_model is not None:
        typer.echo(api.describe_paraphrase_model(paraphrase_model), nl=False)
        return
    if as_json:
        facts = ("name", "unit", "minimum", "maximum", "direction", "description")
        rows = [{fact: getattr(row, fact) for fact in facts} for row in api.COLUMNS.values()]
        listed = [row | {"needs_model": row["name"] not in api.SCORES} for row in rows]
        typer.echo(json.dumps(listed, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("score", "unit", "range", "better", "description", box=None, header_style="bold")
    for row in api.COLUMNS.values():
        low, high = ("" if bound is None else f"{bound:g}" for bound in (row.minimum, row.maximum))
        mark = "" if row.name in api.SCORES else " *"
        better = "" if row.direction == "none" else row.direction
        table.add_row(row.name + mark, row.unit, f"{low}–{high}", better, row.description)
    console = Console()
    console.print(table)
    groups = ", ".join(api.GROUPS)
    console.print(f"\n* needs a model: see the options of `paraloom score`.\nGroups: {groups}")


DECLARED = [
    Command(
        name="backtranslate",
        run=_backtranslate,
        of="paraloom.api.pairs:Pairs.backtranslate",
        flags={"translator": "--translator"},
        settings={
            "translator": {"help": TRANSLATOR},
            "decode": {
                "help": "beam:5 (default), sampling, topk:10, nucleus:0.95, mbr:chrf, diverse:chrf; settings "
                "follow commas: nucleus:0.95,nbest=3. Default of an endpoint: greedy."
            },
            "side": {"kind": "choice", "choices": ("src", "tgt")},
        },
        everyday="translator decode side src_lang tgt_lang src_column tgt_column as_json device",
        device=True,
        help="Make paraphrase pairs of a bitext: translate one side.\n\nThe other side is the reference of each pair.",
        examples=(
            "train.de train.en --translator de-en --decode beam:12 -o pairs.parquet",
            "train.tsv --translator 'http://127.0.0.1:8000/v1?model=qwen3&from=de&to=en' -o pairs.parquet",
        ),
        watched=True,
    ),
    Command(
        name="score",
        run=_score,
        of="paraloom.api.pairs:Pairs.score",
        leave_out="agreement_samples",
        flags={"scores": "--with"},
        settings={
            "scores": {"default": ["common"], "separated": True, "complete": "complete_scores", "role": ""},
            "src_column": {
                "help": "Source column of a table: a name, a number from 1, or keys with dots: translation.de. With * "
                "for each item of a list, as turns.*.de: the same records again, with lists of scores."
            },
        },
        everyday="scores encoder language_model translator reverse_translator judge paraphrase_model languages "
        "as_json device",
        device=True,
        help="Add columns of scores to pairs; no row is dropped.\n\n`paraloom scores` lists them.",
        examples=(
            "pairs.parquet --with overlap,bleu1,length -o scored.parquet",
            "train.cs-en.tsv --with bilingual --encoder cs-en -o scored.tsv",
            "pairs.parquet --judge 'nli-model?label=entailment' -o scored.parquet",
            "pairs.parquet --judge 'http://127.0.0.1:8000/v1?model=qwen3' -o scored.parquet",
            "chats.jsonl --src-column 'turns.*.de' --tgt-column 'turns.*.en' -o scored.jsonl",
        ),
        watched=True,
    ),
    Command(
        name="filter",
        run=_filter,
        of="paraloom.api.pairs:Pairs.filter",
        stage="filter",
        keys="per_source distinct top decile by sample precision confidence labels",
        leave_out="encoder",
        flags={"where": "--where"},
        settings={
            "preset": {"complete": "complete_preset"},
            "labels": {"separated": True},
            "workers": {
                "help": "Processes; default: one per core. The result is the same. `--where` alone takes one, which "
                "filters as it reads."
            },
        },
        everyday="where preset reverse_translator per_source distinct top by sample precision labels draw "
        "preview as_json device",
        device=True,
        help="Keep the good pairs: by a preset, or by a condition.\n\nAll criteria that are given have to be met. "
        "A precision is promised by labels: `--draw` writes the pairs to label, `--labels` reads them. What "
        "the labels do not certify is not written; the message says how many more are needed.",
        examples=(
            'scored.parquet -o kept.parquet --where "trigram_overlap <= 0.7 and tgt_tokens between 3 and 30"',
            "pairs.parquet -o kept.parquet --preset strict --per-source 1 --reverse-translator en-de",
            "pairs.parquet --preset balanced --preview",
            "judged.parquet --precision 0.9 --draw sheet.html",
            "judged.parquet --precision 0.9 --labels sheet.tsv -o kept.parquet",
        ),
        watched=True,
    ),
    Command(
        name="stats",
        of="pair_statistics",
        show=_show_statistics,
        help="Compare references and translations: length, vocabulary, entropy, repetition.\n\n"
        "Scored pairs give more: mean IDF, paraphrase score, and what the reference probability correlates with.",
        examples=("pairs.parquet",),
    ),
    Command(
        name="lexicon",
        of="extract_lexicon",
        stage="extract-lexicon",
        keys="pivot max_phrase_length min_count min_score",
        settings={"pairs": {"role": "input", "metavar": "BITEXT..."}},
        show=_show_lexicon,
        help="Extract a paraphrase lexicon from bitext: phrases that have translations in common, scored.\n\n"
        "With German and French bitext of English the lexicon is of English; --pivot names the languages to pivot "
        "through, so that --pivot en makes a German one.",
        examples=("de-en.tsv.gz fr-en.tsv.gz --pivot de,fr -o lexicon.tsv", "de-en.tsv.gz --pivot en -o german.tsv"),
        watched=True,
    ),
    Command(
        name="judge sample",
        run=_judge_sample,
        of="draw_sheet",
        leave_out="sheet",
        settings={"page": {"role": ""}},
        help="Sample pairs from each range of a score into a sheet for annotators.",
        examples=("scored.parquet -o sheet.tsv", "scored.parquet --count 20 --page sheet.html -o sheet.tsv"),
    ),
    Command(
        name="judge table",
        of="summarize_ratings",
        flags={"key": "--key"},
        show=_show_ratings,
        help="Count the labels in each range, and how far two annotators agree.",
        examples=("rater1.tsv rater2.tsv --key sheet.tsv.key.tsv",),
    ),
    Command(name="scores", run=_scores, examples=("", "--paraphrase-model paraphrases-en")),
    Command(
        name="train paraphrase-model",
        of="train_paraphrase_model",
        flags={"pairs": "--pairs"},
        then="filter pairs.parquet --preset 'strict?model={output}' -o kept.parquet",
        examples=("--pairs labeled.parquet --features bleu1,number_mismatch -o model",),
        watched=True,
    ),
    Command(
        name="train judge",
        of="train_judge",
        stage="train-judge",
        keys="layers epochs vocab_size batch_size learning_rate",
        flags={"pairs": "--pairs"},
        then="score pairs.parquet --judge {output} -o scored.parquet",
        help="Train a judge of meaning on labeled pairs, for the score `judge`; if stopped, run it again to resume.",
        examples=("--pairs labeled.parquet --base all-MiniLM-L6-v2 -o judge",),
        watched=True,
    ),
    Command(
        name="train language-model",
        of="train_language_model",
        flags={"pairs": "--pairs"},
        then="score pairs.parquet --language-model {output} -o scored.parquet",
        examples=("--pairs references.parquet --columns src --units characters -o lm",),
        watched=True,
    ),
    Command(
        name="train word-counts",
        of="train_word_counts",
        flags={"pairs": "--pairs"},
        then="score pairs.parquet --word-counts {output} -o scored.parquet",
        examples=("--pairs references.parquet --columns src -o counts",),
        watched=True,
    ),
]
