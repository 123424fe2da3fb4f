"""Compare a paraphrase model with the bundled one on pairs that were read to report, not to fit.

    PARALOOM_DATA=/path/to/corpora python benchmarks/gate_readings.py draw --before … -o build/gate
    paraloom quickstart runs/quickstart
    python benchmarks/paraphrase_models.py runs/paraphrase-model --quickstart runs/quickstart/30-scored

A pair is right if both readers of `benchmarks/readings/gate` say that it keeps the meaning; of the quickstart's four
translations of a sentence, by `benchmarks/readings/nbest`, if it is good English, too. Near copies, which no preset
keeps, do not count. Printed: the area under the ROC curve with a paired interval of 1,000 bootstrap samples, and what
each preset keeps, by both models, and by the new one at the yield of the other.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from blind_sheets import identifier, rows_of, verdicts_of

import paraloom
from paraloom.bundled import PARAPHRASE_MODEL, bundled_path
from paraloom.core.stats import wilson_interval
from paraloom.evaluate.discrimination import auc
from paraloom.io import Corpus
from paraloom.pairs.scoring.paraphrase_model import CHANGES, ParaphraseModel, row_probabilities, within_depth

READINGS = Path(__file__).parent / "readings"
MODELS = ("bundled", "other")
Row = dict[str, Any]


def labels(rows: list[Row], readers: list[dict[str, bool]]) -> np.ndarray:
    """1 where both readers say right, 0 where one does not, NaN of pairs that were not read."""
    names = [identifier(row["src"], row["tgt"]) for row in rows]
    return np.array([
        float(all(reader[name] for reader in readers)) if all(name in reader for reader in readers) else np.nan
        for name in names
    ])  # fmt: skip


def sets(gate: Path, quickstart: Path | None) -> Iterator[tuple[str, list[Row], np.ndarray]]:
    """Name, pairs with scores, and labels."""
    sheets = [rows_of(READINGS / f"gate/reader-{number}.tsv", "number") for number in (1, 2)]
    readers = [{name: row["meaning"] == "k" for name, row in sheet.items()} for sheet in sheets]
    for file in sorted(gate.glob("*-now.parquet")):
        rows = paraloom.read_pairs(file).score(["judge"]).to_list()
        right = labels(rows, readers)
        if not np.isnan(right).all():
            yield file.name.removesuffix("-now.parquet"), rows, right
    if quickstart is not None:
        rows = [row for batch in Corpus.open(quickstart).batches() for row in batch.to_pylist()]
        readers = [verdicts_of(READINGS / f"nbest/reader-{number}.tsv") for number in (1, 2)]
        yield "quickstart, four translations", rows, labels(rows, readers)


def share(kept: np.ndarray, right: np.ndarray) -> str:
    """Kept pairs, and how many of those that were read are right."""
    known = right[kept & ~np.isnan(right)]
    if not len(known):
        return f"{kept.sum()}: none read"
    low, high = wilson_interval(int(known.sum()), len(known))
    return f"{kept.sum()}: {known.sum():.0f} of {len(known)}, {known.mean():.0%} [{100 * low:.0f}, {100 * high:.0f}]"


def compare(models: list[ParaphraseModel], rows: list[Row], right: np.ndarray) -> list[str]:
    """The cells of a set."""
    names = [*models[0].models[0].names, "reverse_out_of_depth", "chrf", *CHANGES]
    scores = {name: np.array([np.nan if row.get(name) is None else row[name] for row in rows], float) for name in names}
    scores["reverse_cost"] = within_depth(scores["reverse_cost"], scores["reverse_out_of_depth"])
    usable = (scores["chrf"] <= 90) & (np.fmax.reduce([scores[name] for name in CHANGES]) > 0)
    both = [np.where(usable, row_probabilities(model.models, scores), -1) for model in models]
    known = np.flatnonzero(usable & ~np.isnan(right))

    def area(values: np.ndarray, drawn: np.ndarray) -> float:
        return auc(values[drawn][right[drawn] == 1], values[drawn][right[drawn] == 0]).value

    chance = np.random.default_rng(1)
    drawn = [known[chance.integers(0, len(known), len(known))] for _ in range(1000)]
    differences = [area(both[1], one) - area(both[0], one) for one in drawn if 0 < right[one].sum() < len(one)]
    low, high = np.percentile(differences, [2.5, 97.5])
    before, after = (area(values, known) for values in both)
    cells = [f"{len(known)}", f"{before:.3f}", f"{after:.3f}, {after - before:+.3f} [{low:+.3f}, {high:+.3f}]"]
    for preset in ("strict", "balanced"):
        first, second = (
            best(rows, values, values >= model.presets[preset].threshold)
            for values, model in zip(both, models, strict=True)
        )
        order = np.argsort(-np.where(best(rows, both[1], usable), both[1], -1), kind="stable")
        same = np.isin(np.arange(len(rows)), order[: first.sum()])
        cells += [share(first, right), share(second, right), share(same, right)]
    return cells


def best(rows: list[Row], values: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The most probable kept pair of each sentence."""
    of_source: dict[str, int] = {}
    for number in np.flatnonzero(kept).tolist():
        source = rows[number]["pair_id"]
        if source not in of_source or values[number] > values[of_source[source]]:
            of_source[source] = number
    return np.isin(np.arange(len(rows)), list(of_source.values()))


def main() -> None:
    """Print a row for each set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="folder of the other model")
    parser.add_argument("--gate", type=Path, default=Path("build/gate"))
    parser.add_argument("--quickstart", type=Path, help="the stage `scored`")
    options = parser.parse_args()
    bundled = bundled_path(PARAPHRASE_MODEL)
    assert bundled is not None
    models = [ParaphraseModel.load(folder) for folder in (bundled, options.model)]
    presets = [f"{preset}, {name}" for preset in ("strict", "balanced") for name in (*MODELS, "other, same yield")]
    print(f"| text | read | AUC, bundled | AUC, other | {' | '.join(presets)} |\n| --- |" + " ---: |" * 9)
    for name, rows, right in sets(options.gate, options.quickstart):
        print(f"| {' | '.join([name, *compare(models, rows, right)])} |", flush=True)


if __name__ == "__main__":
    main()
