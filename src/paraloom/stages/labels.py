"""Stages about labeled pairs: read and make them, train a model of paraphrases on them, test scores with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.batches import batched
from paraloom.core.config import base_config
from paraloom.core.errors import ConfigError, DataError, suggestion
from paraloom.core.schema import PAIRS, with_column, with_reasons
from paraloom.core.stage import Fit, Json, Map, Ref, Source, StageContext
from paraloom.evaluate.discrimination import DiscriminationResult, evaluate_discrimination
from paraloom.io import Corpus, read_lines
from paraloom.pairs.lookalikes import KINDS, make_lookalikes
from paraloom.pairs.scoring.models import REVERSE_COST, REVERSE_OUT_OF_DEPTH
from paraloom.pairs.scoring.paraphrase_model import (
    DIFFERENCES,
    FILE,
    SIMILARITIES,
    ParaphraseModelConfig,
    train_paraphrase_model,
    within_depth,
)
from paraloom.pairs.scoring.table import COLUMNS, missing_column

LABEL, SET, KIND = "label", "labeled_set", "kind"
"""Columns of labeled pairs: 1 for a right pair and 0 for a wrong one, the set that it belongs to, what is wrong."""

_BATCH_ROWS = 1000


@dataclass(frozen=True, kw_only=True)
class ReadLabeledPairs(Source):
    """Reads pairs with labels from a tab-separated file without a header, plain or compressed.

    Args:
        source: The file. Relative paths are resolved against the folder of the pipeline file.
        src_column, tgt_column: Number of the column of each side, from 1.
        label_column: Number of the column with the label; 0 if all pairs are right.
        right: Values of the label column that mean a paraphrase.
        wrong: Values that mean none; rows with other values are skipped.
        labeled_set: Name of the set.
        lang: Language of both sides.
        limit: Maximum number of pairs; 0 for all.

    Raises:
        ConfigError: A value is both right and wrong, or a column number is out of range.
        DataError: When it runs: a row has too few fields, or no label has a known value.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "labeled.tsv"
        >>> _ = file.write_text("1\\ta dog\\tone dog\\n0\\ta dog\\ta cat\\n")
        >>> stage = ReadLabeledPairs(source=file, label_column=1, src_column=2, tgt_column=3, labeled_set="toy")
        >>> next(stage.batches(StageContext(seed=1))).column("label").to_pylist()
        [1, 0]
    """

    output_schema: ClassVar[str] = "PAIRS"

    source: Path
    labeled_set: str
    src_column: int = 1
    tgt_column: int = 2
    label_column: int = 0
    right: tuple[str, ...] = ("1",)
    wrong: tuple[str, ...] = ("0",)
    lang: str = "en"
    limit: int = 0

    def validate(self) -> None:
        if min(self.src_column, self.tgt_column) < 1 or self.label_column < 0 or self.limit < 0:
            raise ConfigError("column numbers count from 1, and 'limit' is 0 or more")
        if set(self.right) & set(self.wrong):
            raise ConfigError(f"label '{min(set(self.right) & set(self.wrong))}' cannot be both right and wrong")

    def files(self) -> tuple[Path, ...]:
        return (self.source,)

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        count = 0
        for rows in batched(islice(self._rows(), self.limit or None), _BATCH_ROWS):
            count += len(rows)
            yield pa.RecordBatch.from_pylist(rows, schema=_LABELED)
        if not count:
            raise DataError(
                f"no row has one of the labels {', '.join((*self.right, *self.wrong))}",
                file=self.source,
                remedy="Set 'label_column', 'right' and 'wrong' to what the file has.",
            )

    def _rows(self) -> Iterator[dict[str, Any]]:
        last = max(self.src_column, self.tgt_column, self.label_column)
        for number, line in enumerate(read_lines(str(self.source)), start=1):
            cells = line.split("\t")
            if len(cells) < last:
                raise DataError(
                    f"expected {last} fields or more, got {len(cells)}", file=self.source, row=number,
                    remedy="Set src_column, tgt_column and label_column to columns of this file.",
                )  # fmt: skip
            value = cells[self.label_column - 1].strip() if self.label_column else None
            if value is not None and value not in (*self.right, *self.wrong):
                continue
            yield {
                "pair_id": f"{self.labeled_set}:{number}",
                "src": cells[self.src_column - 1].strip(),
                "tgt": cells[self.tgt_column - 1].strip(),
                "src_lang": self.lang,
                "tgt_lang": self.lang,
                "origin": self.labeled_set,
                LABEL: int(value is None or value in self.right),
                SET: self.labeled_set,
                KIND: "",
            }


_LABELED = pa.schema([*PAIRS, pa.field(LABEL, pa.int8()), pa.field(SET, pa.string()), pa.field(KIND, pa.string())])


@dataclass(frozen=True, kw_only=True)
class LabelPairs(Map):
    """Labels all pairs of a corpus as right or wrong paraphrases.

    Args:
        label: 1 for right, 0 for wrong.
        labeled_set: Name of the set. Default: unchanged where pairs have one, else their `origin`.
        kind: What is wrong with wrong pairs, such as 'weak translation'.

    Example:
        >>> batch = pa.RecordBatch.from_pylist([{"src": "a dog", "tgt": "one dog", "origin": "toy"}])
        >>> LabelPairs(label=1).apply(batch, StageContext(seed=1)).to_pylist()[0]["labeled_set"]
        'toy'
    """

    input_columns: ClassVar[tuple[str, ...]] = ("src", "tgt")

    label: Literal[0, 1] = 1
    labeled_set: str = ""
    kind: str = ""

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        return _labeled(batch, self.label, self.labeled_set, self.kind)


@dataclass(frozen=True, kw_only=True)
class MakeLookalikes(Map):
    """Makes look-alikes of right pairs: wrong ones, whose second side differs in one fact.

    Args:
        kinds: What is changed: number, name, negation, quantifier, role, words. A pair gives one row for each kind
            that applies to it.
        changed: 'tgt': the second side is changed. 'src': the second side is replaced by the changed first one.
        labeled_set: Name of the set. Default: unchanged where pairs have one, else their `origin`.

    Example:
        >>> pair = {"pair_id": "1", "src": "It is late.", "tgt": "It is late now.", "origin": "toy"}
        >>> stage = MakeLookalikes(kinds=["negation"])
        >>> stage.apply(pa.RecordBatch.from_pylist([pair]), StageContext(seed=1)).to_pylist()[0]["tgt"]
        'It is not late now.'
    """

    input_columns: ClassVar[tuple[str, ...]] = ("pair_id", "src", "tgt")
    rows: ClassVar[Literal["same", "many"]] = "many"

    kinds: tuple[str, ...] = KINDS
    changed: Literal["src", "tgt"] = "tgt"
    labeled_set: str = ""

    def validate(self) -> None:
        for kind in self.kinds:
            if kind not in KINDS:
                raise ConfigError(
                    f"unknown kind of look-alike '{kind}'{suggestion(kind, KINDS)}",
                    remedy=f"Kinds: {', '.join(KINDS)}.",
                )

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The look-alikes, with `kind`, `label` (0) and `labeled_set`; pairs to which no rule applies are rejected."""
        labeled = _labeled(batch, 0, self.labeled_set).drop_columns([KIND])
        changed_rows = make_lookalikes(labeled, self.kinds, changed=self.changed, seed=context.seed)
        # A pair to which no rule applies is kept as a rejected row, so that the counts add up.
        without = sorted(set(range(batch.num_rows)) - set(changed_rows.column("_source").to_pylist()))
        if self.changed == "src":
            kinds = [f"{kind}, copy" for kind in changed_rows.column(KIND).to_pylist()]
            position = changed_rows.schema.get_field_index(KIND)
            changed_rows = changed_rows.set_column(position, KIND, pa.array(kinds, pa.string()))
        rest = labeled.take(pa.array(without, pa.int64()))
        rest = rest.append_column(pa.field(KIND, pa.string()), pa.nulls(len(without), pa.string()))
        rest = rest.append_column(pa.field("_source", pa.int32()), pa.array(without, pa.int32()))
        both = pa.Table.from_batches([changed_rows, rest]).combine_chunks().to_batches()
        result = both[0] if both else changed_rows
        reasons = [None] * changed_rows.num_rows + ["no rule applies"] * len(without)
        order = np.argsort(result.column("_source").to_numpy(), kind="stable")
        return with_reasons(result, reasons).take(order)


@dataclass(frozen=True, kw_only=True)
class TrainParaphraseModel(ParaphraseModelConfig, Fit):
    """Trains a logistic regression over scores on labeled pairs, for the score `p_paraphrase` and the presets.

    Args:
        pairs: Corpora of labeled pairs with `label`, `labeled_set` and scores. A score that some of them lack is
            undefined there.
        languages: Languages that the model is for, for its card.
        license: License of the model, for its card.
        description: What it is for and what not, for its card.

    For the other fields see :class:`~paraloom.pairs.scoring.paraphrase_model.ParaphraseModelConfig`.

    Raises:
        ConfigError: A feature is not a column, or a value is out of range.
        DataError: When it runs: all pairs have the same label.

    Example:
        >>> TrainParaphraseModel(pairs=["right", "wrong"], features=["bleu1", "number_mismatch"]).l2
        1.0
    """

    sentinel: ClassVar[str] = FILE

    pairs: tuple[Ref, ...]
    languages: tuple[str, ...] = ("en",)
    license: str = ""
    description: str = ""

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write the model; the figures are the areas under the ROC curve on its training sets."""
        config = base_config(ParaphraseModelConfig, self)
        corpora = [Corpus.open(path) for path in context.paths("pairs")]
        known = list(dict.fromkeys(name for corpus in corpora for name in corpus.schema.names))
        for name in dict.fromkeys([*self.features, *chain.from_iterable(self.fallbacks)]):
            if name not in known:
                raise missing_column(name, known)
        pairs = read_training_pairs(corpora, config.scores)
        counts = {
            name: {
                "right": int((pairs.labels[pairs.sets == name] == 1).sum()),
                "wrong": dict(Counter(pairs.kinds[(pairs.sets == name) & (pairs.labels == 0)].tolist())),
            }
            for name in dict.fromkeys(pairs.sets.tolist())
        }
        card = {
            "languages": list(self.languages),
            "license": self.license,
            "description": self.description,
            "trained_on": counts,
        }
        model = train_paraphrase_model(
            pairs.scores, pairs.labels, pairs.sets, pairs.kinds, config, signs=signs_of(config.scores), card=card
        )
        model.save(folder)
        probabilities = {
            f"p_paraphrase ({len(part.names)} scores)": part.probability(pairs.scores) for part in model.models
        }
        result = evaluate_discrimination(probabilities, pairs.labels, ["training pairs"] * len(pairs.labels))
        return {row.score: round(row.auc.value, 4) for row in result.rows}


def evaluate_labeled(corpora: Sequence[Corpus], scores: Sequence[str] = ()) -> DiscriminationResult:
    """Compute how well the scores of labeled pairs tell right from wrong."""
    names = list(scores) or [name for name in COLUMNS if any(name in corpus.schema.names for corpus in corpora)]
    if not names:
        raise ConfigError(
            "the pairs have no scores", remedy="Add some with `paraloom score PAIRS --with all -o SCORED`."
        )
    pairs = read_labeled(corpora, names, required=scores)
    return evaluate_discrimination(
        pairs.scores, pairs.labels, pairs.sets, kinds=pairs.kinds, lower_is_better=lower_is_better(names)
    )


def signs_of(names: Sequence[str]) -> dict[str, int]:
    """What higher values of scores may speak for: 1 for a paraphrase, −1 against it, by the direction of each.

    Similarities, which have no direction because a near copy is of no use, speak for a paraphrase; differences do not.
    """
    directions = {"lower": -1, "higher": 1, "none": 0}
    by_hand = {**dict.fromkeys(SIMILARITIES, 1), **dict.fromkeys(DIFFERENCES, -1)}
    return {name: by_hand.get(name, directions[COLUMNS[name].direction]) for name in names}


def lower_is_better(names: Sequence[str]) -> list[str]:
    return [name for name in names if name in COLUMNS and COLUMNS[name].direction == "lower"]


@dataclass(frozen=True)
class LabeledScores:
    """Scores and labels of n pairs."""

    scores: dict[str, npt.NDArray[np.float64]]
    labels: npt.NDArray[np.int8]
    sets: npt.NDArray[np.object_]
    kinds: npt.NDArray[np.object_]


def _check_labeled(columns: Sequence[str], required: Sequence[str]) -> None:
    if LABEL not in columns:
        raise ConfigError(
            f"the pairs have no column '{LABEL}'; their columns are {', '.join(columns)}",
            remedy=f"Add '{LABEL}' (1 right, 0 wrong), and optionally '{SET}' (the name of a set).",
        )
    for name in required:
        if name not in columns:
            raise missing_column(name, columns)


def read_labeled(corpora: Sequence[Corpus], scores: Sequence[str], *, required: Sequence[str] = ()) -> LabeledScores:
    """Read the scores and labels of labeled pairs: some ten bytes per pair and score."""
    values: dict[str, list[npt.NDArray[np.float64]]] = {name: [] for name in scores}
    labels: list[npt.NDArray[np.int8]] = []
    sets: list[npt.NDArray[np.object_]] = []
    kinds: list[npt.NDArray[np.object_]] = []
    for corpus in corpora:
        known = corpus.schema.names
        _check_labeled(known, required)
        columns = [name for name in (*scores, LABEL, SET, KIND, "origin") if name in known]
        for batch in corpus.batches(list(dict.fromkeys(columns)), label="reading"):
            labels.append(batch.column(LABEL).to_numpy(zero_copy_only=False))
            name_column = SET if SET in known else "origin"
            sets.append(np.asarray(batch.column(name_column).to_pylist(), object))
            given = batch.column(KIND).to_pylist() if KIND in known else [""] * batch.num_rows
            kinds.append(np.asarray([kind or "" for kind in given], object))
            for name in scores:
                values[name].append(_numbers(batch, name))
    empty = np.empty(0, object)
    return LabeledScores(
        {name: np.concatenate([np.empty(0), *parts]) for name, parts in values.items()},
        np.concatenate([np.empty(0, np.int8), *labels]),
        np.concatenate([empty, *sets]),
        np.concatenate([empty, *kinds]),
    )


def read_training_pairs(corpora: Sequence[Corpus], scores: Sequence[str]) -> LabeledScores:
    """Read labeled pairs for a regression: costs of a reverse translator that does not know such text are undefined."""
    known = {name for corpus in corpora for name in corpus.schema.names}
    names = [name for name in (*scores, REVERSE_OUT_OF_DEPTH.name) if name in known]
    pairs = read_labeled(corpora, names)
    if {REVERSE_COST.name, REVERSE_OUT_OF_DEPTH.name} <= set(names):
        costs, depth = (pairs.scores[name] for name in (REVERSE_COST.name, REVERSE_OUT_OF_DEPTH.name))
        pairs.scores[REVERSE_COST.name] = within_depth(costs, depth)
    return pairs


def _numbers(batch: pa.RecordBatch, name: str) -> npt.NDArray[np.float64]:
    if name not in batch.schema.names:
        return np.full(batch.num_rows, np.nan)
    values = batch.column(name).cast(pa.float64()).to_numpy(zero_copy_only=False)
    return np.asarray(values, np.float64)


def _labeled(batch: pa.RecordBatch, label: int, labeled_set: str, kind: str = "") -> pa.RecordBatch:
    rows = batch.num_rows
    columns: Mapping[str, pa.Array] = {
        LABEL: pa.array([label] * rows, pa.int8()),
        KIND: pa.array([kind] * rows, pa.string()),
    }
    if labeled_set:
        columns = {**columns, SET: pa.array([labeled_set] * rows, pa.string())}
    elif SET not in batch.schema.names:
        origins = batch.column("origin") if "origin" in batch.schema.names else pa.nulls(rows, pa.string())
        columns = {**columns, SET: origins}
    for name, values in columns.items():
        batch = with_column(batch, name, values)
    return batch
