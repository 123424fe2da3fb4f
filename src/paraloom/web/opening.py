"""What a report opens with: how many pairs were kept, the best of them, some that were lost, and what decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from markupsafe import Markup

from paraloom.api.harvest import PROBABILITIES, RANKED_BY, Harvest, HarvestedPair, harvest_of, reason_in_words
from paraloom.api.yield_curve import Yields, yields
from paraloom.core.errors import ParaloomError
from paraloom.core.reasons import is_not_sampled
from paraloom.io import Corpus
from paraloom.pairs.scoring.table import COLUMNS
from paraloom.pipeline.result import rejections
from paraloom.pipeline.status import read_status
from paraloom.web.charts import yield_curve
from paraloom.web.corpus_stats import Sample
from paraloom.web.flow import holds_back
from paraloom.web.formatting import duration, plural
from paraloom.web.run_folder import RunView, StageView
from paraloom.web.samples import pair
from paraloom.web.templates import draw

_CRITERIA = 4


@dataclass(frozen=True)
class Opening:
    """The top of a report: a heading, a sentence below it, warnings, and the pairs; None where a run has none."""

    heading: str
    lead: str
    warnings: Sequence[str]
    body: Markup | None


def opening(run: RunView) -> Opening:
    warnings = list(dict.fromkeys(str(text) for stage in run.stages if (text := stage.figures.get("warning"))))
    lead = f"{run.name}: {plural(len(run.stages), 'stage')}{_by_the_clock(run)}."
    harvested = _harvested(run)
    if harvested is None:
        return Opening(run.name, lead, warnings, None)
    stage, harvest = harvested
    pairs = harvest.title
    return Opening(
        pairs if stage.rejected else plural(harvest.pairs, "pair"), lead, warnings, _body(run, stage, harvest)
    )


def _harvested(run: RunView) -> tuple[StageView, Harvest] | None:
    """The last filter whose pairs have a score that says how right they are, or else the last pairs."""
    stages = [(stage, corpus) for stage in reversed(run.stages) if (corpus := run.corpus(stage)) is not None]
    # The sort is stable: of equally good stages the last one.
    stages.sort(key=lambda item: not any(name in item[1].schema.names for name in RANKED_BY))
    stages.sort(key=lambda item: not item[0].rejected)
    for stage, corpus in stages:
        if corpus.rows and not holds_back(stage):
            try:
                harvest = harvest_of(corpus.folder, stage.read)
            except ParaloomError:
                continue
            if harvest is not None:
                return stage, harvest
    return None


def _body(run: RunView, stage: StageView, harvest: Harvest) -> Markup:
    corpus = Corpus.open(run.root / stage.folder)
    languages = _languages(corpus)
    kept, lost = ([_drawn(item, harvest.by, languages) for item in pairs] for pairs in (harvest.kept, harvest.lost))
    curve = _curve(run, stage, corpus, harvest.by)
    about = COLUMNS[harvest.by].description if harvest.by in COLUMNS else ""
    return draw("opening", harvest.by, about, kept, lost, _decided(run, stage), stage.read, curve)


def _drawn(item: HarvestedPair, score: str, languages: dict[str, str]) -> Markup:
    row = {"src": item.src, "tgt": item.tgt, **languages}
    return pair(row, item.reason, f"{item.score:.2f}" if score else "")


def _languages(corpus: Corpus) -> dict[str, str]:
    """The languages of the first pair."""
    names = [name for name in ("src_lang", "tgt_lang") if name in corpus.schema.names]
    rows = (row for batch in corpus.batches(names) for row in batch.slice(0, 1).to_pylist())
    return {name: str(value or "") for name, value in next(rows, {}).items()}


def _decided(run: RunView, stage: StageView) -> list[Sample]:
    reasons = rejections(run.root / stage.folder) if stage.rejected else {}
    counted = [
        Sample(reason_in_words(reason), rows, ()) for reason, rows in reasons.items() if not is_not_sampled(reason)
    ]
    if len(counted) > _CRITERIA:
        rest = sum(sample.total for sample in counted[_CRITERIA:])
        counted[_CRITERIA:] = [Sample(f"{len(counted) - _CRITERIA} other criteria", rest, ())]
    return counted


def _curve(run: RunView, stage: StageView, corpus: Corpus, score: str) -> tuple[Markup, Yields] | None:
    if score not in PROBABILITIES:
        return None
    parts = [corpus, *([Corpus.open(run.root / stage.folder / "rejected")] if stage.rejected else [])]
    names = [name for name in corpus.schema.names if all(name in part.schema.names for part in parts)]
    figures = yields(_batches(parts, names), score, names)
    return (yield_curve(figures.thresholds, figures.presets), figures) if figures else None


def _batches(parts: Sequence[Corpus], names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    for part in parts:
        yield from part.batches(list(names))


def _by_the_clock(run: RunView) -> str:
    """How long the last run took, where the folder says so."""
    try:
        seconds = read_status(run.root).seconds
    except (ParaloomError, KeyError, TypeError, ValueError, AttributeError):
        return ""
    return f", {duration(seconds)} by the clock" if isinstance(seconds, int | float) else ""
