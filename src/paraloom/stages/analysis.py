"""Stages that describe pairs: statistics of references and translations, a lexicon of paraphrases."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.errors import DataError
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.core.stats import Z_95, Estimate, Moments
from paraloom.diversity.corpus_statistics import TextStatistics
from paraloom.evaluate.correlation import ranks
from paraloom.io import Corpus
from paraloom.pairs.filtering.cuts import ROW_ID_COLUMNS, find_cut
from paraloom.pairs.lexicon import LexiconConfig, paraphrase_lexicon
from paraloom.pairs.scoring.table import score
from paraloom.text.tokens import tokenize
from paraloom.text.trees import skeleton

_SIDES = {"reference": "src", "translation": "tgt"}
_PER_SENTENCE = ("unigram_repetition", "trigram_repetition", "idf")
_OF_PROBABILITY = ("tgt_unigram_repetition", "tgt_trigram_repetition", "tgt_idf", "tgt_tokens")


@dataclass(frozen=True, kw_only=True)
class PairStatistics(Fit):
    """What references and translations are like, and how they differ (W17 Tables 9 and 10, PNMT Table 1).

    pairs: a corpus of back-translated pairs, src the reference.  sample: pairs to look at, by chance; W17 takes
    150,000, PNMT 100,000.  Columns src_idf, tgt_idf, paraphrase_score, reference_probability, src_parse and tgt_parse
    join in where the corpus has them.
    """

    inputs: ClassVar[tuple[str, ...]] = ("pairs",)

    pairs: Ref
    sample: int = 150_000

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json: figures of both sides and of their difference, each with its 95 % interval."""
        sides = {name: TextStatistics() for name in _SIDES}
        means: dict[str, Moments] = {}
        columns: dict[str, list[npt.NDArray[np.float64]]] = {
            name: [] for name in (*_OF_PROBABILITY, "reference_probability")
        }
        for batch in _sampled(Corpus.open(context.inputs["pairs"]), self.sample, context.seed):
            batch = score(batch, ["repetition", "tgt_tokens"])
            for name, side in _SIDES.items():
                sides[name] += TextStatistics.of(batch.column(side), _skeletons(batch, f"{side}_parse"))
            for name, values in _per_sentence(batch).items():
                means[name] = means.get(name, Moments()) + Moments.of(values)
            for name, found in columns.items():
                if name in batch.schema.names:
                    found.append(_numbers(batch, name))
        figures = {name: side.figures() for name, side in sides.items()}
        for name in _SIDES:
            figures[name] |= {
                key.partition(" ")[2]: value.estimate() for key, value in means.items() if key.startswith(f"{name} ")
            }
        apart: dict[str, Estimate] = {
            name: figures["reference"][name] - figures["translation"][name]
            for name in ("vocabulary", "unigram_entropy", "trigram_entropy", "parse_entropy")
            if name in figures["reference"] and name in figures["translation"]
        }
        apart |= {
            key.partition(" ")[2]: value.estimate() for key, value in means.items() if key.startswith("difference ")
        }
        result: dict[str, Any] = {
            "pairs": sides["reference"].sentences,
            **{name: _jsons(each) for name, each in figures.items()},
            "reference_minus_translation": _jsons(apart),
        }
        if "paraphrase_score" in means:
            result["paraphrase_score"] = means["paraphrase_score"].estimate().to_dict()
        if columns["reference_probability"]:
            result["spearman_of_reference_probability"] = _spearmans(columns)
        (folder / "result.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        return {
            "pairs": result["pairs"],
            "reference_minus_translation": {k: round(v.value, 4) for k, v in apart.items()},
        }


@dataclass(frozen=True, kw_only=True)
class ExtractLexicon(LexiconConfig, Fit):
    """Makes a paraphrase lexicon out of pairs: words aligned, phrases counted and scored, with examples.

    pairs: corpora of pairs in one language.  sample: pairs to learn from, by chance, what memory bounds.
    The other fields are those of paraloom.pairs.lexicon.LexiconConfig.
    """

    inputs: ClassVar[tuple[str, ...]] = ("pairs",)

    pairs: tuple[Ref, ...]
    sample: int = 500_000

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write lexicon.parquet."""
        import pyarrow.parquet as pq

        share = self.sample // max(1, len(context.paths("pairs")))
        batches = [
            batch.select(["src", "tgt"])
            for path in context.paths("pairs")
            for batch in _sampled(Corpus.open(path), share, context.seed)
        ]
        if not batches:
            raise DataError("there is no pair to make a lexicon of")
        table = pa.Table.from_batches(batches)
        entries = paraphrase_lexicon(table.column("src"), table.column("tgt"), self)
        pq.write_table(entries, folder / "lexicon.parquet")
        return {"pairs": table.num_rows, "entries": entries.num_rows}


def _skeletons(batch: pa.RecordBatch, column: str) -> list[str] | None:
    """The top of each tree of a column, '' where there is none; None without the column."""
    if column not in batch.schema.names:
        return None
    return [skeleton(tree) if tree else "" for tree in batch.column(column).to_pylist()]


def _sampled(corpus: Corpus, size: int, seed: int) -> Iterator[pa.RecordBatch]:
    """`size` rows of a corpus by chance, the same ones at any sharding; all, when it has no more."""
    if corpus.rows <= size:
        yield from corpus.batches(label="reading pairs")
        return
    names = [name for name in ROW_ID_COLUMNS if name in corpus.schema.names]
    cut = find_cut(lambda: corpus.batches(names), seed=seed, size=size)
    for batch in corpus.batches(label="reading pairs"):
        yield batch.filter(pa.array(cut.contains(batch)))


def _per_sentence(batch: pa.RecordBatch) -> dict[str, npt.NDArray[np.float64]]:
    """Figures of each sentence by side, and the difference of the two sides, and the pairs' paraphrase score."""
    found: dict[str, npt.NDArray[np.float64]] = {}
    for name in _PER_SENTENCE:
        if f"src_{name}" in batch.schema.names and f"tgt_{name}" in batch.schema.names:
            values = {which: _numbers(batch, f"{side}_{name}") for which, side in _SIDES.items()}
            found |= {f"{which} {name}": each for which, each in values.items()}
            found[f"difference {name}"] = values["reference"] - values["translation"]
    lengths = [np.diff(_words(batch, side)) for side in ("src", "tgt")]
    found["difference length"] = (lengths[0] - lengths[1]).astype(np.float64)
    if "paraphrase_score" in batch.schema.names:
        found["paraphrase_score"] = _numbers(batch, "paraphrase_score")
    return found


def _words(batch: pa.RecordBatch, side: str) -> npt.NDArray[np.int64]:
    return tokenize(batch.column(side)).offsets


def _numbers(batch: pa.RecordBatch, name: str) -> npt.NDArray[np.float64]:
    return np.asarray(batch.column(name).cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)


def _spearmans(columns: dict[str, list[npt.NDArray[np.float64]]]) -> dict[str, Any]:
    """Rank correlations with p(reference), -1 to 1, with their intervals (Bonett, Wright 2000)."""
    probability = np.concatenate(columns["reference_probability"])
    found = {}
    for name in _OF_PROBABILITY:
        if not columns[name]:
            continue
        values = np.concatenate(columns[name])
        both = ~(np.isnan(values) | np.isnan(probability))
        count = int(both.sum())
        if count < 4:
            continue  # Too few for an interval, so for a correlation.
        rho = _rank_correlation(probability[both], values[both])
        half = Z_95 * math.sqrt((1 + rho**2 / 2) / (count - 3))
        centre = math.atanh(max(-1 + 1e-12, min(1 - 1e-12, rho)))
        found[name] = Estimate(rho, math.tanh(centre - half), math.tanh(centre + half)).to_dict()
    return found


def _rank_correlation(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    with np.errstate(invalid="ignore"):  # NaN where one is constant
        return float(np.corrcoef(ranks(a), ranks(b))[1, 0])


def _jsons(figures: dict[str, Estimate]) -> dict[str, Any]:
    return {name: estimate.to_dict() for name, estimate in figures.items()}
