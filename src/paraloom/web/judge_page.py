"""The pages of judging: who judges, how far everyone is and agrees, and one pair at a time without its scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from paraloom.core.errors import ConfigError
from paraloom.pairs.annotation import LABELS, RANGES, sample_ranges, write_sheet
from paraloom.web.dataset import Dataset
from paraloom.web.formatting import count, label, number, share
from paraloom.web.judging import MEANINGS, Judging, RaterSheet, locked
from paraloom.web.layout import View, key, nothing, plural
from paraloom.web.markup import Html, Part, element, isolated, join
from paraloom.web.parameters import whole_number
from paraloom.web.samples import differences
from paraloom.web.state import ViewState

_MAX_PER_RANGE = 1000
_LONG = 10_000
"""Characters of a pair up to which differing words are marked: the time to find them is quadratic."""


def judge_page(judging: Judging, dataset: Dataset | None, state: ViewState) -> View:
    """The page where a rater starts or resumes."""
    if not judging.exists:
        return View("Judge", results=join(_draw_form(judging, dataset, state)))
    total = len(judging.open("preview").rows)
    rows = []
    for rater in judging.raters():
        sheet = judging.open(rater)
        rows.append(
            element(
                "tr",
                element("th", isolated(rater), scope="row"),
                element("td", f"{count(sheet.labeled)} of {count(total)}", class_="n"),
                element("td", element("progress", value=sheet.labeled, max=total, aria_label=f"progress of {rater}")),
                element("td", element("a", "Continue", href=state.url("/judge/pair", rater=rater))),
            )
        )
    heads = [element("th", text, scope="col") for text in ("rater", "judged", "progress", "")]
    start = element(
        "form",
        element(
            "label",
            element("span", "Your name"),
            element(
                "input", type="text", name="rater", required="required", pattern="[\\w\\-]{1,40}", autocomplete="off"
            ),
        ),
        element("button", "Start"),
        action="/judge/pair",
        method="get",
        class_="judge-form",
    )
    return View(
        "Judge",
        results=join(
            element(
                "p",
                f"{plural(total, 'pair')} in random order, without scores. Everyone judges the same pairs; a name that "
                "is in the list resumes. Each label is saved at once.",
                class_="summary",
            ),
            start,
            element("table", element("thead", element("tr", heads[:3], element("td", ""))), element("tbody", rows))
            if rows
            else None,
            _agreement(judging),
            element(
                "p",
                "Files: ",
                element("code", str(judging.sheet)),
                ", one copy for each rater, and the key. The table: ",
                element("code", _command(judging)),
                class_="quiet",
            ),
        ),
    )


def pair_page(judging: Judging, state: ViewState) -> View:
    """One pair to judge."""
    rater = state.extra.get("rater", "").strip()
    if not judging.exists:
        return View(location=state.url("/judge"))
    sheet = judging.open(rater)
    index = _index(state.extra.get("pair", ""), sheet)
    if index is None:
        index = sheet.next_index()
    if index is None:
        return View(
            "Judge",
            results=join(
                nothing("All pairs are judged. Thank you!"),
                element("p", element("a", "Agreement and progress", href=state.url("/judge"), data_back="")),
                _back_button(sheet, len(sheet.rows), rater, state),
            ),
        )
    row = sheet.rows[index]
    kind = sheet.missing(index) or next(iter(LABELS))
    total = len(sheet.rows)
    texts: tuple[str, ...] = (row["reference"], row["translation"])
    if sum(map(len, texts)) <= _LONG:
        texts = differences(*texts)
    answers = [
        element(
            "button",
            key(str(value)),
            " ",
            MEANINGS[kind][value],
            name="label",
            value=value,
            data_key=value,
        )
        for value in sorted(LABELS[kind])
    ]
    skip = element("button", key("4"), " skip", name="label", value="skip", data_key="4", class_="plain")
    back = element("button", key("5"), " back", name="label", value="back", data_key="5", class_="plain")
    question = {
        "strength": "Do both sentences mean the same?",
        "fluency": "Is the second sentence good language?",
    }.get(kind, label(kind))
    body = element(
        "section",
        element(
            "p",
            f"Pair {count(index + 1)} of {count(total)}, {count(sheet.labeled)} judged ",
            element("progress", value=sheet.labeled, max=total, aria_label="judged"),
            class_="quiet",
        ),
        element("p", isolated(texts[0]), class_="side", dir="auto"),
        element("p", isolated(texts[1]), class_="side", dir="auto"),
        element("h2", question, id="question"),
        element(
            "form",
            _hidden(rater, index, kind, state),
            element("div", answers, skip, back, class_="answers"),
            action="/judge/label",
            method="post",
            aria_labelledby="question",
        ),
        element("p", element("a", "Stop for now", href=state.url("/judge"), data_back="")),
        class_="judged both",
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
            f"cannot draw '{size[:20]}' pairs of each range",
            remedy=f"Give a number from 1 to {_MAX_PER_RANGE}.",
        )
    with locked(judging.sheet):
        if not judging.exists:
            samples = sample_ranges(_batches(dataset, by), by=by, ranges=ranges_of(dataset, by), count=per_range)
            samples = [sample for sample in samples if sample.rows]
            if not samples:
                raise ConfigError(f"column '{by}' has no values", remedy="Choose another column.")
            write_sheet(samples, judging.sheet)
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
    names = [name for name in dict.fromkeys(("pair_id", "rank", *dataset.sides, by, "trigram_overlap"))]
    names = [name for name in names if name in dataset.schema.names]
    yield from dataset.table.select(names).to_batches()


def _draw_form(judging: Judging, dataset: Dataset | None, state: ViewState) -> Part:
    if dataset is None or not dataset.scores or len(dataset.sides) < 2:
        return nothing("Judging needs pairs with a score to draw them by. Add some: paraloom score.")
    preferred = next((n for n in ("paraphrase_score", "p_paraphrase") if n in dataset.numeric), dataset.scores[0])
    options = [
        element("option", label(name), value=name, selected="selected" if name == preferred else None)
        for name in dataset.scores
    ]
    return element(
        "section",
        element(
            "p",
            "Draw pairs from ranges of a score, in random order. Raters see neither score nor range.",
            class_="summary",
        ),
        element(
            "form",
            element("input", type="hidden", name="corpus", value=state.corpus),
            element("label", element("span", "Ranges of"), element("select", options, name="by")),
            element(
                "label",
                element("span", "Pairs of each range"),
                element("input", type="number", name="count", value="20", min="1", max=str(_MAX_PER_RANGE)),
            ),
            element("button", "Draw the sheet"),
            action="/judge/draw",
            method="post",
            class_="judge-form",
        ),
        element("p", "It is written to ", element("code", str(judging.sheet)), ".", class_="quiet"),
    )


def _agreement(judging: Judging) -> Part:
    rows = [
        element(
            "tr",
            element("th", isolated(" and ".join(item.raters)), scope="row"),
            element("td", item.kind),
            element("td", count(item.pairs), class_="n"),
            element("td", share(item.same, item.pairs) if item.pairs else "–", class_="n"),
            element("td", "undefined" if item.kappa is None else number(item.kappa), class_="n"),
        )
        for item in judging.agreement()
    ]
    if not rows:
        return None
    heads = ("raters", "label", "pairs judged by both", "same label", "Cohen's kappa")
    head = element("thead", element("tr", [element("th", text, scope="col") for text in heads]))
    return element(
        "section",
        element("h2", "Agreement so far"),
        element("div", element("table", head, element("tbody", rows)), class_="wide", tabindex="0", role="region",
                aria_label="Agreement"),
        class_="agreement",
    )  # fmt: skip


def _command(judging: Judging) -> str:
    raters = [str(judging.path_of(rater)) for rater in judging.raters()[:2]] or ["RATER1", "RATER2"]
    return f"paraloom judge table {' '.join(raters)} --key {judging.key}"


def _index(text: str, sheet: RaterSheet) -> int | None:
    pair = whole_number(text, 1, len(sheet.rows))
    return None if pair is None else pair - 1


def _hidden(rater: str, index: int, kind: str, state: ViewState) -> list[Html]:
    fields = {"corpus": state.corpus, "rater": rater, "pair": str(index + 1), "kind": kind}
    return [element("input", type="hidden", name=name, value=value) for name, value in fields.items() if value]


def _back_button(sheet: RaterSheet, index: int, rater: str, state: ViewState) -> Html:
    button = element("button", key("5"), " back", name="label", value="back", data_key="5", class_="plain")
    return element("form", _hidden(rater, index, "", state), button, action="/judge/label", method="post")


def _step_back(sheet: RaterSheet, index: int, rater: str, state: ViewState) -> str:
    """Take back the last label, of this pair or of the one before it in the sheet; returns its address."""
    given = [name for name in LABELS if index < len(sheet.rows) and sheet.rows[index][name]]
    if not given or len(given) == len(LABELS):
        index = max(0, min(index, len(sheet.rows)) - 1)
        given = [name for name in LABELS if sheet.rows[index][name]]
    if given:
        sheet.set(index, given[-1], None)
    return state.url("/judge/pair", rater=rater, pair=index + 1)
