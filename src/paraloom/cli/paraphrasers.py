"""Commands about paraphrasers: train paraphraser, paraphrase, templates."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import typer

from paraloom import api
from paraloom.cli.declaration import Command
from paraloom.cli.output import as_written, time_taken
from paraloom.pipeline.shard import OnError

_SHOWN = 3
"""Texts of an output that are shown, with their paraphrases."""


def _paraphrase(
    *,
    plan: bool = False,
    as_json: bool = False,
    engine: str = "local",
    workers: int | None = None,
    on_error: OnError = "stop",
    seed: int = 1,
    **options: Any,
) -> None:
    """Paraphrase texts or files, or measure what it will take.

    Args:
        plan: Measure on two samples what it will take: requests, tokens, cost, time, memory, disk.
    """
    if plan:
        forecast = api.plan_paraphrases(**options, workers=workers, on_error=on_error, seed=seed)
        typer.echo(json.dumps(forecast.to_dict()) if as_json else forecast.format())
        return
    result = api.paraphrase_files(**options, engine=engine, workers=workers, on_error=on_error, seed=seed)
    _show_paraphrases(result, {"output": options.get("output", "-"), "as_json": as_json})


def _show_paraphrases(result: api.ParaphrasedFiles, values: Mapping[str, Any]) -> None:
    output, as_json = str(values["output"]), values["as_json"]
    if output == "-":
        for text, rows in result.rows:
            words = _in_words(text, rows or [{"text": f"({result.without})"}], titled=len(result.rows) > 1)
            lines = _as_json(text, rows) if as_json else words
            for line in lines:
                typer.echo(line)
    elif as_json:
        typer.echo(as_written(output, **result.to_dict()))
        return
    usage = result.result.stages[-1].figures
    if usage:
        typer.echo(f"endpoint: {api.EndpointUsage(**usage).format()}", err=True)
    typer.echo(result.format(), err=True)
    if not api.is_output_stream(output) and result.records is None:
        first = [*_first(output)]
        typer.echo(f"\n{output}, {time_taken()}{'; the first of them:' if first else ''}", err=True)
        for line in ["", *first] if first else []:
            typer.echo(line, err=True)


def _as_json(text: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A line of JSON for each paraphrase; one without a text, where none is good enough."""
    names = ("text", "logprob", "tokens", "template", "template_distance", "meaning", "difference", "judge", "changes")
    for row in rows or [{"text": None}]:
        yield json.dumps({"source": text, **{name: row[name] for name in names if name in row}}, ensure_ascii=False)


def _in_words(text: str, rows: Sequence[Mapping[str, Any]], *, titled: bool = True) -> Iterator[str]:
    """A text, and its paraphrases with what decided: meaning and difference, or the log-probability."""
    indent = "  " if titled else ""
    if titled:
        yield text
    for row in rows:
        cells = []
        if "meaning" in row:
            judged = row.get("judge") not in (None, "")
            cells += [_score(row[name]) for name in ("judge" if judged else "meaning", "difference")]
        elif row.get("logprob") is not None:
            cells.append(f"{row['logprob']:8.2f}")
        if row.get("template") and "meaning" not in row:
            distance = row.get("template_distance")
            cells.append(f"{'?' if distance in (None, '') else int(distance):>3}")
        yield indent + "  ".join([*cells, row["text"]])


def _score(value: Any) -> str:
    """A score of 0 to 1; a dash where it was not measured, which is an empty field of a table."""
    return "   –" if value in (None, "") else f"{float(value):4.2f}"


def _first(output: str) -> Iterator[str]:
    """The first texts of an output and their paraphrases, without ids."""
    written = api.preview_output(output, rows=12)
    rows = () if written is None else written.shown
    if rows and "original" not in rows[0]:
        yield from (row.get("line", row.get("text", "")) for row in rows[:_SHOWN])
        return
    for number, (_, group) in enumerate(groupby(rows, key=lambda row: str(row["pair_id"]))):
        if number == _SHOWN:
            return
        of_text = list(group)
        yield from _in_words(str(of_text[0]["original"]), of_text)


DECLARED = [
    Command(
        name="paraphrase",
        run=_paraphrase,
        of="paraloom.api.paraphrasing:paraphrase_stages paraloom.api.paraphrasing:paraphrase",
        leave_out="height decode",
        everyday="paraphraser output text n preset meaning difference change template like plan as_json",
        flags={"texts": "", "n": "-n"},
        settings={
            "n": {"low": 1},
            "texts": {"metavar": "TEXT..."},
            "paraphraser": {"default": ["english"]},
        },
        device=True,
        help="Paraphrase texts or files.\n\n"
        "Freely, by a template of syntax, like a sentence, or by a round trip. "
        "Paraphrases are selected: those that keep the meaning and differ, none of a text if none is good enough. "
        "Printed are the probability of the same meaning (without a judge the cosine), the difference, and the "
        "paraphrase; with --preset none the log-probability, as the paraphraser gives them; with a template the "
        "distance of its own parse to it, too.",
        examples=(
            '"We left early because of the rain."',
            "questions.txt --preset strict -o questions.tsv",
            '"Ein Hund schläft." --paraphraser round-trip:de-en,en-de --encoder none',
            "lines.txt --paraphraser 'http://127.0.0.1:8000/v1?model=qwen3&max-requests=5000' -o lines.jsonl",
            "lines.txt --paraphraser 'http://127.0.0.1:8000/v1?model=qwen3' -o lines.jsonl --plan",
            "chats.jsonl --column 'messages.*.content' -o varied.jsonl",
        ),
        watched=True,
    ),
    Command(
        name="templates",
        of="count_templates",
        settings={"source": {"metavar": "FOLDER|PAIRS"}},
        help="Show the commonest templates of paraphrases, with examples, and ten published ones (Iyyer et al. 2018).",
        examples=("parsed.parquet",),
    ),
    Command(
        name="train paraphraser",
        of="train_paraphraser",
        stage="train-paraphraser",
        keys="network steps vocab_size held_out free_share same_template_share unmoved_share device title license",
        everyday="sentences parser init_from network steps vocab_size held_out device title license seed as_json",
        settings={
            "pairs": {
                "role": "input",
                "metavar": "PAIRS...",
                "help": "Pairs, from `backtranslate`, `filter` or `parse`. Repeatable.",
            },
            "parser": {"role": "input"},
        },
        then='paraphrase "…" --paraphraser {output}',
        help="Train a paraphraser that follows templates of syntax; if stopped, run it again to resume.\n\n"
        "Pairs without trees are parsed with --parser, which is also copied into the model.",
        examples=("kept.parquet --parser parser-en -o paraphraser-en",),
        watched=True,
    ),
]
