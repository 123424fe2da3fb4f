"""Stages that analyze pairs: statistics of references and translations, a lexicon of paraphrases from bitext."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import DataError
from paraloom.core.results import json_values
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.core.stats import Z_95, Estimate, Moments, merge_all
from paraloom.evaluate.diversity.corpus_statistics import TextStatistics
from paraloom.evaluate.resampling import ranks
from paraloom.io import Corpus, write_shard
from paraloom.io.bitext import UNKNOWN
from paraloom.io.shards import rebatch
from paraloom.pairs.filtering.cuts import ROW_ID_COLUMNS, find_cut
from paraloom.pairs.lexicon import LexiconConfig, pivot_lexicon
from paraloom.pairs.scoring.table import score
from paraloom.text.buffers import Texts
from paraloom.text.tokens import tokenize
from paraloom.text.trees import skeleton

_BATCH_ROWS = 1 << 14
_SIDES = {"reference": "src", "translation": "tgt"}
_PER_SENTENCE = ("unigram_repetition", "trigram_repetition", "idf")
_OF_PROBABILITY = ("tgt_unigram_repetition", "tgt_trigram_repetition", "tgt_idf", "tgt_tokens")


@dataclass(frozen=True, kw_only=True)
class PairStatistics(Fit):
    """Computes statistics of references and translations, and their difference, with 95 % intervals.

    Length, vocabulary, entropy and repetition are always computed; IDF, paraphrase scores, parse entropy and the rank
    correlations of p(reference) if the corpus has the columns src_idf, tgt_idf, paraphrase_score, src_parse, tgt_parse
    and reference_probability.

    Args:
        pairs: Corpus of back-translated pairs: `src` the reference, `tgt` its translation.
        sample: Maximum number of pairs, sampled at random (150,000 in W17, 100,000 in PNMT).

    Reference:
        Wieting, Mallinson and Gimpel 2017 (W17), Tables 9 and 10; Wieting and Gimpel 2018 (PNMT), Table 1.

    Example:
        >>> PairStatistics(pairs="score", sample=100_000).sample
        100000
    """

    version: ClassVar[str] = "2"

    pairs: Ref
    sample: int = 150_000

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json; return the differences of the sides."""
        sides: dict[str, list[TextStatistics]] = {name: [] for name in _SIDES}
        means: dict[str, Moments] = {}
        columns: dict[str, list[npt.NDArray[np.float64]]] = {
            name: [] for name in (*_OF_PROBABILITY, "reference_probability")
        }
        for batch in _sampled(Corpus.open(context.inputs["pairs"]), self.sample, context.seed):
            batch = score(batch, ["repetition", "tgt_tokens"])
            for name, side in _SIDES.items():
                sides[name].append(TextStatistics.of(batch.column(side), _skeletons(batch, f"{side}_parse")))
            for name, values in _per_sentence(batch).items():
                means[name] = means.get(name, Moments()) + Moments.of(values)
            for name, parts in columns.items():
                if name in batch.schema.names:
                    parts.append(_numbers(batch, name))
        totals = {name: merge_all(parts, TextStatistics()) for name, parts in sides.items()}
        figures = {name: totals[name].figures() | _means_of(name, means) for name in _SIDES}
        compared = ("vocabulary", "unigram_entropy", "trigram_entropy", "parse_entropy")
        differences = _difference(figures, compared) | _means_of("difference", means)
        result: dict[str, Any] = {
            "pairs": totals["reference"].sentences,
            **{name: _to_dicts(estimates) for name, estimates in figures.items()},
            "reference_minus_translation": _to_dicts(differences),
        }
        result |= _to_dicts({"paraphrase_score": means.get("paraphrase_score", Moments()).estimate()})
        if columns["reference_probability"]:
            result["spearman_of_reference_probability"] = _rank_correlations(columns)
        (folder / "result.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        return {
            "pairs": result["pairs"],
            "reference_minus_translation": {
                name: round(estimate["value"], 4) for name, estimate in result["reference_minus_translation"].items()
            },
        }


def _difference(figures: Mapping[str, Mapping[str, Estimate]], names: Sequence[str]) -> dict[str, Estimate]:
    """Figures of the references minus those of the translations, where both have them."""
    ours, theirs = figures["reference"], figures["translation"]
    return {name: ours[name] - theirs[name] for name in names if name in ours and name in theirs}


def _means_of(kind: str, means: Mapping[str, Moments]) -> dict[str, Estimate]:
    """The means whose names begin with a kind, by the rest of the name."""
    return {
        name.removeprefix(f"{kind} "): moments.estimate()
        for name, moments in means.items()
        if name.startswith(f"{kind} ")
    }


@dataclass(frozen=True, kw_only=True)
class ExtractLexicon(LexiconConfig, Fit):
    """Extracts a paraphrase lexicon from bitext: phrases that have translations in common, scored.

    Args:
        pairs: Corpora of sentences and their translations, with any number of pivot languages.
        pivot: Languages to pivot through; default: the source language of each pair. The lexicon is of the other one.

    For the other fields see :class:`~paraloom.pairs.lexicon.LexiconConfig`.

    Raises:
        DataError: When it runs: the corpora have no pairs, pairs are in one language or without a pivot language, or
            their other languages differ.

    Reference:
        Bannard and Callison-Burch 2005; Zhou, Huang and Ji 2017 (PGRU), §2.1.

    Example:
        >>> ExtractLexicon(pairs=["german-english", "french-english"], pivot=["de", "fr"]).max_phrase_length
        6
    """

    version: ClassVar[str] = "5"

    pairs: tuple[Ref, ...]
    pivot: tuple[str, ...] = ()

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        corpora = [Corpus.open(path) for path in context.paths("pairs")]
        directions = [(corpus, direction) for corpus in corpora for direction in dict.fromkeys(_directions(corpus))]
        sides = {direction: _pivot_side(direction, self.pivot) for _, direction in directions}
        own = sorted({direction[1 - side] for direction, side in sides.items()})
        if not own:
            raise DataError("cannot extract a lexicon: the corpora are empty")
        if len(own) > 1:
            raise DataError(
                f"the lexicon would be of several languages: {', '.join(own)}",
                remedy="Name the languages to pivot through, or give bitext with one common language.",
            )
        pivots = sorted({direction[side] for direction, side in sides.items()})
        entries = pivot_lexicon((_bitext(directions, sides, pivot) for pivot in pivots), self)
        write_shard(folder / "lexicon.parquet", entries, entries.schema)
        return {"pairs": sum(corpus.rows for corpus in corpora), "pivots": list(pivots), "entries": entries.num_rows}


# Pairs whose words are aligned together: enough to learn from, and some 1.5 GB of them if sentences are long.
_ALIGNED_ROWS = 250_000

Direction = tuple[str, str]


def _directions(corpus: Corpus) -> Iterator[Direction]:
    for batch in corpus.batches(["src_lang", "tgt_lang"]):
        for row in pa.Table.from_batches([batch]).group_by(["src_lang", "tgt_lang"]).aggregate([]).to_pylist():
            yield row["src_lang"], row["tgt_lang"]


def _pivot_side(direction: Direction, pivots: Sequence[str]) -> int:
    """The side of pairs that is in a pivot language: 0 the source, 1 the target."""
    if direction[0] == direction[1] != UNKNOWN:
        raise DataError(
            f"cannot pivot: both sides of some pairs are in '{direction[0]}'", remedy="Give sentences and translations."
        )
    if not pivots:
        return 0
    among = [language in pivots for language in direction]
    if sum(among) != 1:
        raise DataError(
            f"cannot pivot: {'both sides' if all(among) else 'no side'} of some pairs from '{direction[0]}' to "
            f"'{direction[1]}' {'are' if all(among) else 'is'} in a pivot language ({', '.join(pivots)})",
            remedy="Name one language of each bitext.",
        )
    return among.index(True)


def _bitext(
    directions: Sequence[tuple[Corpus, Direction]], sides: Mapping[Direction, int], pivot: str
) -> Iterator[tuple[Texts, Texts]]:
    """The pairs with a pivot language, (foreign, own) texts, in blocks."""
    parts: list[pa.Table] = []
    for corpus, direction in directions:
        side = sides[direction]
        if direction[side] != pivot:
            continue
        for batch in corpus.batches(["src", "tgt", "src_lang", "tgt_lang"], _BATCH_ROWS, label=f"reading {pivot}"):
            chosen = pc.and_(*(pc.equal(batch.column(2 + index), direction[index]) for index in (0, 1)))
            columns = [batch.column(side), batch.column(1 - side)]
            parts.append(pa.table(columns, names=["foreign", "own"]).filter(chosen))
            if sum(part.num_rows for part in parts) >= _ALIGNED_ROWS:
                yield _sides(parts)
                parts = []
    if parts:
        yield _sides(parts)


def _sides(parts: Sequence[pa.Table]) -> tuple[Texts, Texts]:
    table = pa.concat_tables(parts)
    return table.column(0), table.column(1)


def _skeletons(batch: pa.RecordBatch, column: str) -> list[str] | None:
    """The top of each tree of a column, '' for a null; None without the column."""
    if column not in batch.schema.names:
        return None
    return [skeleton(tree) if tree else "" for tree in batch.column(column).to_pylist()]


def _sampled(corpus: Corpus, size: int, seed: int) -> Iterator[pa.RecordBatch]:
    """`size` random rows of a corpus, the same and in the same batches at any sharding; all rows if it has no more."""
    batches = _regrouped(corpus.batches(batch_rows=_BATCH_ROWS, label="reading pairs"), corpus.schema)
    if corpus.rows > size:
        names = [name for name in ROW_ID_COLUMNS if name in corpus.schema.names]
        schema = pa.schema([corpus.schema.field(name) for name in names])
        cut = find_cut(lambda: _regrouped(corpus.batches(names, _BATCH_ROWS), schema), seed=seed, size=size)
        inside = (batch.filter(pa.array(cut.contains(batch))) for batch in batches)
        batches = _regrouped(inside, corpus.schema)
    yield from batches


def _regrouped(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of one size: many small ones take the time of as many large ones."""
    for table in rebatch(batches, schema, _BATCH_ROWS):
        yield from table.to_batches()


def _per_sentence(batch: pa.RecordBatch) -> dict[str, npt.NDArray[np.float64]]:
    """Figures of each sentence by side, the differences of the sides, and the paraphrase scores."""
    figures: dict[str, npt.NDArray[np.float64]] = {}
    for name in _PER_SENTENCE:
        if f"src_{name}" in batch.schema.names and f"tgt_{name}" in batch.schema.names:
            values = {side: _numbers(batch, f"{column}_{name}") for side, column in _SIDES.items()}
            figures |= {f"{side} {name}": numbers for side, numbers in values.items()}
            figures[f"difference {name}"] = values["reference"] - values["translation"]
    lengths = [np.diff(tokenize(batch.column(side)).offsets) for side in ("src", "tgt")]
    figures["difference length"] = (lengths[0] - lengths[1]).astype(np.float64)
    if "paraphrase_score" in batch.schema.names:
        figures["paraphrase_score"] = _numbers(batch, "paraphrase_score")
    return figures


def _numbers(batch: pa.RecordBatch, name: str) -> npt.NDArray[np.float64]:
    return np.asarray(batch.column(name).cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)


def _rank_correlations(columns: dict[str, list[npt.NDArray[np.float64]]]) -> dict[str, Any]:
    """Rank correlations with p(reference), -1 to 1, with their intervals (Bonett, Wright 2000)."""
    probability = np.concatenate(columns["reference_probability"])
    correlations = {}
    for name in _OF_PROBABILITY:
        if not columns[name]:
            continue
        values = np.concatenate(columns[name])
        defined = ~(np.isnan(values) | np.isnan(probability))
        count = int(defined.sum())
        if count < 4:
            continue  # Too few for an interval.
        rho = _spearman(probability[defined], values[defined])
        if math.isnan(rho):
            continue  # One of them is constant.
        half = Z_95 * math.sqrt((1 + rho**2 / 2) / (count - 3))
        center = math.atanh(max(-1 + 1e-12, min(1 - 1e-12, rho)))
        correlations[name] = Estimate(rho, math.tanh(center - half), math.tanh(center + half)).to_dict()
    return correlations


def _spearman(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    with np.errstate(invalid="ignore"):  # NaN where one is constant
        return float(np.corrcoef(ranks(a), ranks(b))[1, 0])


def _to_dicts(figures: Mapping[str, Estimate]) -> dict[str, Any]:
    """Figures as JSON values without those that are undefined; the interval of a single value is null."""
    return {name: json_values(one.to_dict()) for name, one in figures.items() if not math.isnan(one.value)}
