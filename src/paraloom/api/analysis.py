"""What pairs are like: statistics, a paraphrase lexicon, what a filter would keep, sheets to annotate."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import pyarrow as pa
import pyarrow.compute as pc

from paraloom.api.pair_inputs import PairsLike, open_pairs
from paraloom.api.pairs import Pairs
from paraloom.api.presets import filter_settings
from paraloom.api.run import input_stages_of, run_in, scratch_run
from paraloom.core.batches import as_list
from paraloom.core.errors import ConfigError
from paraloom.core.protocols import EncoderLike
from paraloom.core.stage import Stage
from paraloom.io import read_shard, write_table
from paraloom.io.bitext import check_target, is_output_stream
from paraloom.io.records import record_format
from paraloom.io.sheets import check_new_sheet
from paraloom.pairs.annotation import sample_ranges, write_rating_sheet
from paraloom.pairs.filtering.filters import CriterionCount, check, kept_rows, required_columns
from paraloom.pairs.filtering.judgments import write_judgment_sheet
from paraloom.pairs.filtering.promised_precision import pairs_to_label
from paraloom.pipeline.fit import ARTIFACT
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.shard import OnError
from paraloom.stages.analysis import ExtractLexicon, PairStatistics
from paraloom.stages.pairs import Filter, PreviewFilter

if TYPE_CHECKING:
    from paraloom.api.keywords import CriteriaSettings, LexiconSettings
    from paraloom.api.translators import AnyTranslator

# One worker reads them all: each file more takes time only.
_SHARD_ROWS = 200_000
_COMPARISON = re.compile(r"(\w+)\s*(<=|>=|<|>)\s*[-+]?[\d.]+(?:e[-+]?\d+)?")
"""A condition that compares one column with a number."""


def pair_statistics(
    pairs: PairsLike, *, sample: int = 150_000, seed: int = 1, on_error: OnError = "stop"
) -> dict[str, Any]:
    """Length, vocabulary, entropy and repetition of references and translations, and how they differ.

    Scored pairs give more: mean IDF, paraphrase score, and what the reference probability correlates with.

    Args:
        pairs: Pairs in any form that `as_pairs` takes.
        sample: Number of pairs to measure, sampled at random.
        seed: Seed of the sample.
        on_error: 'stop' at a row that cannot be read, or 'reject' it.

    Returns:
        Figures with 95 % intervals, by side.

    Reference:
        Wieting et al. (2017), Table 9; Wieting and Gimpel (2018), Table 1.

    Example:
        >>> figures = pair_statistics([("He went home.", "He went to his house.")] * 3)
        >>> figures["pairs"], figures["reference_minus_translation"]["length"]["value"]
        (3, -2.0)
    """
    corpus = open_pairs(pairs, on_error=on_error, shard_rows=_SHARD_ROWS)
    stage = PairStatistics(name="statistics", pairs=corpus.source, sample=sample)
    with _fitted([*corpus.stages, stage], seed) as folder:
        figures: dict[str, Any] = _result(folder)
        return figures


def extract_lexicon(
    pairs: str | Path | Sequence[str | Path],
    output: str,
    *,
    seed: int = 1,
    on_error: OnError = "stop",
    **config: Unpack[LexiconSettings],
) -> int:
    """Extract a paraphrase lexicon from bitext: phrases that have translations in common, scored; return how many.

    Any language will do: with German and French bitext of English, German and French are the pivots of an English
    lexicon; `pivot=("en",)` with German bitext makes a German one.

    Args:
        pairs: Bitext files, any number for each pivot language, such as de-en.tsv.gz.
        output: The table to write: .tsv, .jsonl or .parquet.
        **config: Further fields of `paraloom.stages.ExtractLexicon`: `pivot`, `max_phrase_length`, `min_score` …

    Reference:
        Bannard and Callison-Burch (2005); Zhou et al. (2017), §2.1.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "de-en.tsv").write_text("groß\\tbig\\ngroß\\tlarge\\nklein\\tsmall\\n" * 2)
        >>> extract_lexicon(folder / "de-en.tsv", f"{folder}/lexicon.tsv")
        2
    """
    if not is_output_stream(output):
        record_format(output)
    check_target(output)
    stages, references = input_stages_of(pairs, "pairs", on_error=on_error)
    with _fitted([*stages, ExtractLexicon(name="lexicon", pairs=references, **config)], seed) as folder:
        return write_table(read_shard(folder / "lexicon.parquet"), output)


def preview_filter(
    pairs: PairsLike,
    where: str = "",
    *,
    preset: str | None = None,
    encoder: EncoderLike | str | Path | None = None,
    reverse_translator: AnyTranslator | None = None,
    seed: int = 1,
    on_error: OnError = "stop",
    **criteria: Unpack[CriteriaSettings],
) -> list[CriterionCount]:
    """Count what `Pairs.filter` would keep: by each criterion alone, by those so far, by all; nothing is filtered."""
    corpus, settings = filter_settings(
        open_pairs(pairs, on_error=on_error),
        {**criteria, "where": where},
        preset,
        encoder=encoder,
        reverse_translator=reverse_translator,
    )
    stage = PreviewFilter(name="preview", pairs=corpus.source, **settings)
    with _fitted([*corpus.stages, stage], seed) as folder:
        return [CriterionCount(**row) for row in _result(folder)]


def draw_labels(
    pairs: PairsLike,
    sheet: str | Path,
    *,
    precision: float,
    labels: str | Path | Sequence[str | Path] = (),
    seed: int = 1,
    on_error: OnError = "stop",
    **criteria: Any,
) -> int:
    """Draw the pairs whose labels a promised precision needs next into a sheet, in random order, without scores.

    The first sheet has rows of the whole ranking; later ones have rows above the lowest cut that can probably be
    promised. More labels lower the cut, and it does no harm to look in between. Label all pairs of a sheet.
    Returns their number: 0 if all that matter are labeled, and nothing is written.

    Args:
        pairs: Pairs with a score, in any form that `as_pairs` takes.
        sheet: The sheet to write, a new file; if its name ends with .html, also a page on which to fill it in.
        precision: The share of right pairs that will be promised.
        labels: Sheets that are filled in so far.
        **criteria: The criteria of `Pairs.filter`: `by`, `where`, `preset`, `confidence` …

    Example:
        >>> import tempfile
        >>> pairs = [{"src": f"sentence {i}", "tgt": f"phrase {i}", "judge": i / 100} for i in range(100)]
        >>> draw_labels(pairs, f"{tempfile.mkdtemp()}/sheet.tsv", precision=0.9)
        40
    """
    page = Path(sheet) if Path(sheet).suffix == ".html" else None
    sheet = Path(sheet).with_suffix(".tsv") if page else Path(sheet)
    check_new_sheet(sheet, page)
    read = open_pairs(pairs, on_error=on_error, seed=seed)
    filtered = read.filter(precision=precision, labels=tuple(map(Path, as_list(labels))), **criteria)
    stage = filtered.stages[-1]
    assert isinstance(stage, Filter)
    before = Pairs(filtered.stages[:-1], None if filtered.stages[:-1] else read.source, seed=seed)
    corpus = before.corpus()  # as long as the pairs live, which may hold it in a temporary folder
    check(stage, corpus.schema)
    by, best = (stage.by, stage.best) if stage.per_source else ("", "")
    chosen = replace(stage, precision=None, labels=(), sample=None, by=by, best=best)
    columns = required_columns(stage, corpus.schema)

    def rows() -> Iterator[pa.RecordBatch]:
        return kept_rows(chosen, corpus.schema, lambda _: corpus.batches(columns), seed)

    drawn = pairs_to_label(rows, stage.target(corpus.schema.names))
    if drawn:
        write_judgment_sheet(sheet, drawn)
    return len(drawn)


def explain_empty_filter(result: RunResult, pairs: PairsLike) -> str:
    """How near the pairs come to the conditions of a filter that kept none, where that can be said."""
    reasons = result.stages[-1].reasons
    if not reasons:
        return "No pair was kept: there were none to filter."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Those of the pairs were shown before they were filtered.
        corpus = open_pairs(pairs)
        clauses = [(reason.removeprefix("not: "), rows) for reason, rows in reasons.items()]
        nearest = [(clause, rows, _nearest_value(corpus, clause)) for clause, rows in clauses]
    lines = [f"  {clause} rejected {rows:,}; {value}" for clause, rows, value in nearest if value]
    return "\n".join(["No pair was kept:", *lines]) if lines else ""


def _nearest_value(pairs: Pairs, clause: str) -> str:
    """The extreme of the column that a condition such as `chrf <= 90` compares, if it has that form."""
    match = _COMPARISON.fullmatch(clause)
    if match is None or match[1] not in pairs.columns:
        return ""
    name, extreme = match[1], "highest" if ">" in match[2] else "lowest"
    values = [pc.min_max(batch.column(name)).as_py() for batch in pairs.batches()]
    known = [value["max" if extreme == "highest" else "min"] for value in values if value["max"] is not None]
    if not known or isinstance(known[0], str):
        return ""
    return f"the {extreme} is {(max if extreme == 'highest' else min)(known):.4g}"


def draw_sheet(
    pairs: PairsLike,
    sheet: str | Path,
    *,
    by: str = "paraphrase_score",
    count: int = 100,
    seed: int = 1,
    on_error: OnError = "stop",
) -> Path:
    """Draw pairs from each range of a score into a sheet for annotators; return its key.

    Args:
        pairs: Pairs with that score, in any form that `as_pairs` takes.
        sheet: The sheet, tab-separated; its key is written beside it.
        by: The score whose ranges are sampled.
        count: Number of pairs from each range.

    Reference:
        Wieting and Gimpel (2018), Table 3.
    """
    batches = open_pairs(pairs, on_error=on_error)
    names = batches.columns
    if by not in names:
        raise ConfigError(
            f"column '{by}' not found", remedy="Add it: `paraloom score PAIRS --encoder ENCODER -o SCORED.parquet`."
        )
    kind = batches.corpus().schema.field(by).type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise ConfigError(f"column '{by}' holds {kind}, not numbers", remedy="Name a score.")
    columns = dict.fromkeys(("pair_id", "rank", "src", "tgt", by, "trigram_overlap"))
    kept = [name for name in columns if name in names]
    rows = (batch.select(kept) for batch in batches.batches())
    return write_rating_sheet(sample_ranges(rows, by=by, count=count, seed=seed), Path(sheet), seed=seed)


@contextmanager
def _fitted(stages: Sequence[Stage], seed: int) -> Iterator[Path]:
    """The artifact of the last of the stages, as long as the block lasts."""
    with scratch_run() as work:
        result = run_in(work, stages, seed=seed)
        yield result.stages[-1].folder / ARTIFACT


def _result(folder: Path) -> Any:
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))
