"""All scores by name, and `score`, which adds their columns to pairs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

import pyarrow as pa

from paraloom.core.errors import ConfigError, suggestion
from paraloom.core.lazy import late
from paraloom.core.schema import add_column
from paraloom.pairs.scoring.models import MODEL_COLUMNS, MODEL_GROUPS, judge_scorers
from paraloom.pairs.scoring.scorer import Column, PairBatch, Scorer
from paraloom.pairs.scoring.surface import SURFACE, SURFACE_GROUPS

SCORES: dict[str, Scorer] = {scorer.name: scorer for scorer in SURFACE}
"""All scorers that need no model, by name, in the order in which columns are added."""

GROUPS: dict[str, tuple[str, ...]] = SURFACE_GROUPS
"""Names of groups of scores, and the scores of each."""

COLUMNS: dict[str, Column] = {**SCORES, **{column.name: column for column in MODEL_COLUMNS}}
"""Descriptions of all columns of scores, with and without models, by name."""

_OPTION = r"(?<=--)(?!with\b)[a-z-]+|\w+(?=:FOLDER)"

MODEL_OPTIONS: dict[str, frozenset[str]] = {
    name: frozenset(option.replace("-", "_") for option in re.findall(_OPTION, columns[0].command))
    for name, columns in {**{column.name: (column,) for column in MODEL_COLUMNS}, **MODEL_GROUPS}.items()
}
"""Scores, and groups of them, that models add → the options that name these models."""


JUDGED = frozenset(column.name for column in MODEL_GROUPS["judge"])
"""Scores of the judge of meaning: without a model of your own, the bundled one computes them."""


def find_scorers(names: Sequence[str | Scorer]) -> list[Scorer]:
    chosen: dict[str, Scorer] = {}
    for name in names:
        if isinstance(name, Scorer):
            chosen[name.name] = name
        elif name in SCORES or name in GROUPS:
            for member in GROUPS.get(name, (name,)):
                chosen.setdefault(member, SCORES[member])
        elif name in JUDGED:
            of_judge = judge_scorers(_open_bundled_judge())
            for scorer in (one for one in of_judge if name in ("judge", one.name)):
                chosen.setdefault(scorer.name, scorer)
        elif (name := name.partition(":")[0]) in COLUMNS:
            raise ConfigError(f"score '{name}' needs a model", remedy=f"{_keys(name)}: `{COLUMNS[name].command}`.")
        elif name in MODEL_GROUPS:
            command = MODEL_GROUPS[name][0].command
            raise ConfigError(f"the scores of group '{name}' need a model", remedy=f"{_keys(name)}: `{command}`.")
        else:
            raise ConfigError(
                f"unknown score '{name}'{suggestion(name, [*SCORES, *GROUPS, *COLUMNS])}",
                remedy=f"`paraloom scores` lists all scores; groups are {', '.join(GROUPS)}.",
            )
    return list(chosen.values())


_open_bundled_judge = late("paraloom.pairs.scoring.judge:bundled_judge")


def _keys(name: str) -> str:
    """Options of a score that needs a model, as the start of a sentence."""
    options = MODEL_OPTIONS[name]
    return "Set " + " and ".join(f"'{option}'" for option in sorted(options, reverse=True))


def score(batch: pa.RecordBatch, names: Sequence[str | Scorer]) -> pa.RecordBatch:
    """Add a column to pairs for each score. No row is dropped."""
    pairs = PairBatch(batch)
    for scorer in find_scorers(names):
        if all(column in batch.schema.names for column in scorer.input_columns):
            values = pa.array(scorer.compute(pairs), from_pandas=True)
        else:
            values = pa.nulls(batch.num_rows, pa.float32())
        batch = add_column(batch, scorer.name, values, scorer.signature)
        pairs.batch = batch  # later scores may be computed from earlier ones
    return batch


def missing_column(name: str, columns: Sequence[str], purpose: str = "") -> ConfigError:
    """Make the error for a column that a corpus does not have."""
    known = list(dict.fromkeys([*columns, *COLUMNS]))
    close = get_close_matches(name.lower(), known, n=1, cutoff=0.6)
    what = " ".join(filter(None, [f"column '{name}'", purpose, "not found"]))
    if close and close[0] != name.lower():
        what += f"; did you mean '{close[0]}'?"
    if close and close[0] not in columns:
        return ConfigError(what, remedy=f"'{close[0]}' is a score; add it with `{COLUMNS[close[0]].command}`.")
    return ConfigError(what, remedy=f"Columns: {', '.join(columns)}.")
