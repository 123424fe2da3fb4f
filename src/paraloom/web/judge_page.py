"""The pages of judging: who judges, how far everyone is and agrees, and one pair at a time without its scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from markupsafe import Markup

from paraloom.core.errors import ConfigError
from paraloom.pairs.annotation import RANGES, sample_ranges, write_rating_sheet
from paraloom.pairs.filtering.judgments import RIGHT
from paraloom.web.dataset import Dataset
from paraloom.web.formatting import label
from paraloom.web.judging import MEANINGS, Judging, RaterSheet, locked
from paraloom.web.layout import View, nothing, plural
from paraloom.web.parameters import whole_number
from paraloom.web.samples import differences
from paraloom.web.state import ViewState
from paraloom.web.templates import draw

_MAX_PER_RANGE = 1000
_LONG = 10_000  # Characters of a pair up to which differing words are marked: the time to find them is quadratic


def judge_page(judging: Judging, dataset: Dataset | None, state: ViewState) -> View:
    if not judging.exists:
        return View("Judge", results=_draw_form(judging, dataset, state))
    preview = judging.open("preview")
    total = len(preview.rows)
    raters = [(rater, judging.open(rater).labeled, state.url("/judge/pair", rater=rater)) for rater in judging.raters()]
    names = [str(judging.path_of(rater)) for rater in judging.raters()]
    if preview.kinds == (RIGHT,):
        command = f"paraloom filter PAIRS --precision 0.9 --labels {','.join(names) or 'RATER'} -o kept.parquet"
    else:
        command = f"paraloom research judge table {' '.join(names[:2]) or 'RATER1 RATER2'} --key {judging.key}"
    return View(
        "Judge",
        results=draw("judge", plural(total, "pair"), raters, total, judging.agreement(), judging.sheet, command),
    )


def pair_page(judging: Judging, state: ViewState) -> View:
    rater = state.extra.get("rater", "").strip()
    if not judging.exists:
        return View(location=state.url("/judge"))
    sheet = judging.open(rater)
    index = _index(state.extra.get("pair", ""), sheet)
    if index is None:
        index = sheet.next_index()
    if index is None:
        return View(
            "Judge", results=draw("all_judged", state.url("/judge"), _hidden(rater, len(sheet.rows), "", state))
        )
    row = sheet.rows[index]
    kind = sheet.missing(index) or sheet.kinds[0]
    texts: tuple[str, ...] = (row["reference"], row["translation"])
    if sum(map(len, texts)) <= _LONG:
        texts = differences(*texts)
    question = {
        "right": "Does the second sentence say what the first one says?",
        "strength": "Do both sentences mean the same?",
        "fluency": "Is the second sentence good language?",
    }.get(kind, label(kind))
    body = draw(
        "judged_pair",
        index + 1,
        sheet.labeled,
        len(sheet.rows),
        texts,
        question,
        _hidden(rater, index, kind, state),
        sorted(MEANINGS[kind].items()),
        state.url("/judge"),
    )
    return View("Judge", results=body)


def save_label(judging: Judging, state: ViewState) -> View:
    """Save a label, and go to what comes next: the other kind of label, or the next pair."""
    rater, kind, given = (state.extra.get(name, "") for name in ("rater", "kind", "label"))
    sheet = judging.open(rater)
    index = _index(state.extra.get("pair", ""), sheet)
    if given == "back":
        return View(location=_step_back(sheet, len(sheet.rows) if index is None else index, rater, state))
    if index is None:
        raise ConfigError("pair not found", remedy="Go back to the page Judge.")
    if given != "skip":
        value = whole_number(given, 0, 99)
        if value is None:
            raise ConfigError(f"unknown label '{given[:20]}'", remedy="Go back to the page Judge.")
        sheet.set(index, kind, value)
        if sheet.missing(index) is not None:
            return View(location=state.url("/judge/pair", rater=rater, pair=index + 1))
    following = sheet.next_index(index)
    pair = None if following is None else following + 1
    return View(location=state.url("/judge/pair", rater=rater, pair=pair))


def draw_sheet(judging: Judging, dataset: Dataset, state: ViewState) -> View:
    """Draw the sheet from ranges of a score."""
    by, size = state.extra.get("by", ""), state.extra.get("count", "20")
    if len(dataset.sides) < 2:
        raise ConfigError("expected pairs, got rows of one text", remedy="Judge rows with the columns src and tgt.")
    if not by or by not in dataset.numeric:
        raise ConfigError(f"column '{by}' not found", remedy=f"Columns of numbers: {', '.join(dataset.scores)}.")
    per_range = whole_number(size, 1, _MAX_PER_RANGE)
    if per_range is None:
        raise ConfigError(
            f"cannot draw '{size[:20]}' pairs of each range", remedy=f"Give a number from 1 to {_MAX_PER_RANGE}."
        )
    with locked(judging.sheet):
        if not judging.exists:
            samples = sample_ranges(_batches(dataset, by), by=by, ranges=ranges_of(dataset, by), count=per_range)
            samples = [sample for sample in samples if sample.rows]
            if not samples:
                raise ConfigError(f"column '{by}' has no values", remedy="Choose another column.")
            write_rating_sheet(samples, judging.sheet)
    return View(location=state.url("/judge"))


def ranges_of(dataset: Dataset, column: str) -> Sequence[tuple[float, float]]:
    """The ranges that pairs are drawn from: those of the PNMT paper for a score from 0 to 1, else quantiles."""
    order, defined = dataset.order(column)
    if not defined:
        return RANGES
    values = dataset.values(column)
    if values[order[0]] >= -0.1 and values[order[defined - 1]] <= 1:
        return RANGES
    bounds = sorted({float(values[order[min(defined - 1, defined * i // 5)]]) for i in range(1, 6)})
    lows = [float("-inf"), *bounds[:-1]]
    return list(zip(lows, bounds, strict=True))


def _batches(dataset: Dataset, by: str) -> Iterator[pa.RecordBatch]:
    wanted = dict.fromkeys(("pair_id", "rank", *dataset.sides, by, "trigram_overlap"))
    yield from dataset.sample.select([name for name in wanted if name in dataset.schema.names]).to_batches()


def _draw_form(judging: Judging, dataset: Dataset | None, state: ViewState) -> Markup:
    if dataset is None or not dataset.scores or len(dataset.sides) < 2:
        return nothing("Judging needs pairs with a score to draw them by. Add some: paraloom score.")
    preferred = next((n for n in ("paraphrase_score", "p_paraphrase") if n in dataset.numeric), dataset.scores[0])
    return draw("draw_form", state.corpus, dataset.scores, preferred, _MAX_PER_RANGE, judging.sheet)


def _index(text: str, sheet: RaterSheet) -> int | None:
    pair = whole_number(text, 1, len(sheet.rows))
    return None if pair is None else pair - 1


def _hidden(rater: str, index: int, kind: str, state: ViewState) -> list[tuple[str, str]]:
    return [("corpus", state.corpus), ("rater", rater), ("pair", str(index + 1)), ("kind", kind)]


def _step_back(sheet: RaterSheet, index: int, rater: str, state: ViewState) -> str:
    """Take back the last label, of this pair or of the one before it in the sheet; returns its address."""
    given = [name for name in sheet.kinds if index < len(sheet.rows) and sheet.rows[index][name]]
    if not given or len(given) == len(sheet.kinds):
        index = max(0, min(index, len(sheet.rows)) - 1)
        given = [name for name in sheet.kinds if sheet.rows[index][name]]
    if given:
        sheet.set(index, given[-1], None)
    return state.url("/judge/pair", rater=rater, pair=index + 1)
