"""Fit the model behind `p_paraphrase` and the presets of `paraloom filter` to pairs that were read, and test it.

    PARALOOM_DATA=/path/to/corpora python examples/paraphrase_model.py -o runs/paraphrase-model
    PARALOOM_DATA=/path/to/corpora python examples/paraphrase_model.py -o runs/paraphrase-model --bundle
    PARALOOM_DATA=/path/to/corpora python examples/paraphrase_model.py -o runs/paraphrase-model --draw sheet.tsv

The model is three logistic regressions: over the judge and the costs of both translators, over the judge and the cost
of the translation, over the judge alone. They are fitted to pairs of four kinds that were read (benchmarks/readings):
back-translations of everyday sentences, of captions and of news, four of each sentence as the quickstart makes them,
and paraphrases by the bundled paraphraser and by round trips. Printed: the model, and how right its probabilities are
on each kind by models that were fitted to the others, compared with the judge alone. `--bundle` puts the model into the
package, and its strict preset into the quickstart.

A verdict holds for the pair alone. After a change of the translators, `--draw` writes what they now make and nobody
read: of each sentence the first translation and the most probable one, and a sample of the probable others. Ten minutes
on two cores, most of them for translations and paraphrases, which stay in the run folder.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

import paraloom
from paraloom.api import describe_paraphrase_model
from paraloom.bundled import PARAPHRASE_MODEL, SAMPLE, bundled_path
from paraloom.evaluate.discrimination import auc
from paraloom.io.sheets import read_sheet, write_sheet
from paraloom.pairs.filtering.held_out import is_held_out
from paraloom.pairs.scoring.paraphrase_model import (
    CHANGES,
    FILE,
    ParaphraseModel,
    ParaphraseModelConfig,
    fit_logistic,
    row_probabilities,
    set_weights,
    train_paraphrase_model,
    within_depth,
)
from paraloom.stages.labels import signs_of
from paraloom.text.normalize import normalize

ROOT = Path(__file__).resolve().parents[1]
READINGS = ROOT / "benchmarks/readings"
CONFIG = ParaphraseModelConfig(
    features=("judge", "translation_cost", "reverse_cost"), fallbacks=(("judge", "translation_cost"), ("judge",))
)
SCORES = ("judge", "chrf", "mismatch", "meaning", "translation_cost")
"""What the regressions read of the pairs, what tells near copies, and what is compared with them."""
RULES = ("name_mismatch", "quantity_mismatch", "negation_mismatch")
ALTERNATIVES = {
    "judge": ("judge",),
    "costs, rules": ("translation_cost", "reverse_cost", *RULES),
    "judge, cost of the translation": ("judge", "translation_cost"),
    "judge, both costs": CONFIG.features,
    "judge, both costs, rules": (*CONFIG.features, *RULES),
    "judge, both costs, cosine": (*CONFIG.features, "paraphrase_score"),
}
"""What a regression of back-translations may read, for the table that says what it should."""
DRAWN = "at commit 22c394b8: python benchmarks/judged_paraphrases.py draw --rows 40 --seed 7 -o DIR/judged"
"""How the paraphrases were drawn that `benchmarks/readings/judged` has verdicts of; today's selection keeps others."""
DECODING = "beam:12,nbest=4"
"""Of the quickstart."""
DRAWN_FIRST = {"everyday": 140}
"""Sentences of a kind whose first translation is drawn, probable or not; of the others all."""
DRAWN_OTHERS = {"everyday": 60, "captions": 40, "news": 40}
DESCRIPTION = (
    "For English sentence pairs. Fitted to verdicts of language models on back-translations of everyday sentences, "
    "captions and news, and on outputs of the bundled paraphraser and of round trips."
)

Row = dict[str, Any]
Floats = npt.NDArray[np.float64]


def benchmark(name: str) -> ModuleType:
    """A module of the folder `benchmarks`."""
    if (folder := str(ROOT / "benchmarks")) not in sys.path:
        sys.path.insert(0, folder)  # before this one, which has a judge.py, too
    return importlib.import_module(name)


def bitexts(data: Path) -> dict[str, list[Row]]:
    """German–English sentences by kind of text: everyday ones that no bundled translator learned from, and others."""
    captions = data / "bitext/multi30k/task1"
    sources: dict[str, list[tuple[Path, dict[str, Any]]]] = {
        "captions": [
            (captions / "train.{de,en}.gz", {"limit": 2000}),
            (captions / "test_2016_flickr.{de,en}.gz", {"limit": 1000}),
        ],
        "news": [(data / "bitext/wmt-news/de-en.tsv.gz", {"limit": 3000})],
    }
    languages = {"src_lang": "de", "tgt_lang": "en"}
    result = {"everyday": everyday(data)}
    for kind, files in sources.items():
        rows = [row for path, options in files for row in paraloom.read_pairs(path, **languages, **options)]
        sheet = read_sheet(READINGS / f"{kind}.tsv", ("pair_id",), kind="sheet of readings", remedy="")
        numbers = {int(row["pair_id"].removeprefix("pairs:")) for row in sheet}
        result[kind] = [row for number, row in enumerate(rows, start=1) if number in numbers]
    for kind, rows in result.items():
        for number, row in enumerate(rows):
            row["pair_id"] = f"{kind}:{number}"
    return result


def everyday(data: Path) -> list[Row]:
    """Sentences of Tatoeba that bundled-de-en.toml holds out, none of which is in the quickstart."""
    rows = list(paraloom.read_pairs(data / "bitext/tatoeba/de-en.tsv.gz", src_lang="de", tgt_lang="en"))
    english = normalize([row["tgt"] for row in rows]).to_pylist()
    seen = {text for line in SAMPLE.read_text(encoding="utf-8").splitlines() for text in line.split("\t")}
    chosen = []
    for row, text in zip(rows, english, strict=True):
        if is_held_out(text, 0.007) and not {row["src"], row["tgt"]} & seen and len(row["tgt"].split()) >= 4:
            seen |= {row["src"], row["tgt"]}
            chosen.append(row)
    random.Random(1).shuffle(chosen)
    return chosen[:400]


def back_translations(bitext: list[Row], file: Path) -> list[Row]:
    """Pairs with their scores, from the file if it is there."""
    if not file.is_file():
        translated = paraloom.backtranslate(bitext, "de-en", decode=DECODING)
        model = bundled_path(PARAPHRASE_MODEL)
        translated.score(SCORES, encoder="english", reverse_translator="en-de", paraphrase_model=model).write(file)
    return paraloom.read_pairs(file).to_list()


def identifier(row: Row) -> str:
    """The name of a pair in the readings."""
    return str(benchmark("judged_paraphrases").identifier(row["src"], row["tgt"]))


def verdicts() -> dict[str, bool]:
    """Identifier → whether all who read a back-translation say that it keeps the meaning."""
    right: dict[str, bool] = {}
    for sheet in sorted((READINGS / "fit").glob("*.tsv")):
        for row in read_sheet(sheet, ("number", "meaning"), kind="sheet of readings", remedy=""):
            right[row["number"]] = right.get(row["number"], True) and row["meaning"] == "k"
    return right


def draw(pairs: dict[str, list[Row]], sheet: Path) -> None:
    """Write what nobody read, in random order."""
    known, chosen, chance = verdicts(), dict[str, Row](), random.Random(5)
    for kind, rows in pairs.items():
        best: dict[str, Row] = {}
        for row in rows:
            if row["pair_id"] not in best or row["p_paraphrase"] > best[row["pair_id"]]["p_paraphrase"]:
                best[row["pair_id"]] = row
        drawn = [row for row in rows if row["rank"] == 0][: DRAWN_FIRST.get(kind)]
        drawn += [row for row in best.values() if row["p_paraphrase"] >= 0.1 and not near_copy(row)]
        others = [row for row in rows if row["p_paraphrase"] >= 0.3 and not near_copy(row)]
        drawn += chance.sample(others, min(len(others), DRAWN_OTHERS[kind]))
        chosen |= {name: row for row in drawn if (name := identifier(row)) not in known}
    names = sorted(chosen)
    chance.shuffle(names)
    columns = ("number", "src", "tgt", "meaning")
    write_sheet(sheet, columns, ((name, chosen[name]["src"], chosen[name]["tgt"], "") for name in names))
    print(f"{len(names)} pairs: {sheet}")


def near_copy(row: Row) -> bool:
    """What no preset keeps."""
    return bool(row["chrf"] > CONFIG.max_chrf or not max(row[name] or 0 for name in CHANGES))


def paraphrases(folder: Path) -> list[Row]:
    """The paraphrases that were read, with scores and verdicts."""
    judged = benchmark("judged_paraphrases")
    if not (folder / "key.json").is_file():
        raise SystemExit(f"{folder}/key.json not found; {DRAWN}")
    key = json.loads((folder / "key.json").read_text(encoding="utf-8"))
    pairs = sorted({tuple(pair) for kind in key.values() for kept in kind.values() for pair in kept if pair})
    readers = [
        dict(
            line.split("\t")[:2] for line in (READINGS / f"judged/reader-{number}.tsv").read_text("utf-8").splitlines()
        )
        for number in (1, 2)
    ]
    verdict = {pair: [reader.get(judged.identifier(*pair)) for reader in readers] for pair in pairs}
    read = [pair for pair in pairs if None not in verdict[pair]]
    scored = paraloom.as_pairs(
        [{"src": src, "tgt": tgt, "src_lang": "en", "tgt_lang": "en"} for src, tgt in read]
    ).score([name for name in SCORES if name != "translation_cost"])
    return [
        {**row, "label": int(verdict[pair] == ["1", "1"]), "labeled_set": "paraphrases"}
        for row, pair in zip(scored, read, strict=True)
    ]


class Readings:
    """Scores and labels of all pairs that were read.

    Args:
        rows: The pairs.
    """

    def __init__(self, rows: list[Row]) -> None:
        self.labels = np.array([row["label"] for row in rows], np.float64)
        self.sets = np.array([row["labeled_set"] for row in rows], object)
        names = [*CONFIG.scores, *RULES, "paraphrase_score", "reverse_out_of_depth"]
        self.scores: dict[str, Floats] = {
            name: np.array([np.nan if row.get(name) is None else row[name] for row in rows], np.float64)
            for name in names
        }
        self.scores["reverse_cost"] = within_depth(self.scores["reverse_cost"], self.scores["reverse_out_of_depth"])

    def model(self, rows: npt.NDArray[np.bool_], **card: Any) -> ParaphraseModel:
        """A model of some of the pairs."""
        scores = {name: values[rows] for name, values in self.scores.items()}
        kinds = [""] * int(rows.sum())
        return train_paraphrase_model(
            scores, self.labels[rows], self.sets[rows], kinds, CONFIG, signs=signs_of(CONFIG.scores), card=card
        )

    def probabilities(self, model: ParaphraseModel) -> Floats:
        """`p_paraphrase` of all pairs."""
        return row_probabilities(model.models, self.scores)

    @property
    def near_copies(self) -> npt.NDArray[np.bool_]:
        """What no preset keeps."""
        changes = np.fmax.reduce([self.scores[name] for name in CHANGES])
        return np.asarray((self.scores["chrf"] > CONFIG.max_chrf) | (changes == 0))


def left_out(readings: Readings) -> Iterator[list[str]]:
    """Rows of a table: each kind of text by a model, and presets, that were fitted to the others."""
    error = benchmark("judge").expected_error
    for kind in dict.fromkeys(readings.sets.tolist()):
        inside = readings.sets == kind
        model = readings.model(~inside)
        probabilities, labels = readings.probabilities(model)[inside], readings.labels[inside]
        judge = readings.scores["judge"][inside]
        cells = [kind, f"{labels.sum():.0f} of {len(labels)}"]
        cells += [f"{auc(values[labels == 1], values[labels == 0]).value:.2f}" for values in (judge, probabilities)]
        cells += [f"{error(values, labels)['error']:.2f}" for values in (judge, probabilities)]
        for preset in model.presets.values():
            kept = (probabilities >= preset.threshold) & ~readings.near_copies[inside]
            cells.append(f"{labels[kept].sum():.0f} of {kept.sum()}")
        yield cells


def alternatives(readings: Readings) -> Iterator[list[str]]:
    """Rows of a table: the area under the ROC curve of regressions over other scores, each kind left out in turn."""
    complete = ~np.isnan([readings.scores[name] for name in CONFIG.features]).any(axis=0)
    for title, names in ALTERNATIVES.items():
        cells = [title]
        for kind in dict.fromkeys(readings.sets[complete].tolist()):
            inside, outside = (complete & (readings.sets == kind), complete & (readings.sets != kind))
            scores = {name: readings.scores[name][outside] for name in names}
            weights = set_weights(readings.sets[outside])
            model = fit_logistic(scores, readings.labels[outside], weights, signs=signs_of(names))
            values = model.probability({name: readings.scores[name][inside] for name in names})
            labels = readings.labels[inside]
            cells.append(f"{auc(values[labels == 1], values[labels == 0]).value:.3f}")
        yield cells


def reliability(readings: Readings) -> Iterator[list[str]]:
    """Rows of a table: the share of pairs that is right by `p_paraphrase`, each kind by a model of the others."""
    probabilities = np.full(len(readings.labels), np.nan)
    for kind in set(readings.sets.tolist()):
        inside = readings.sets == kind
        probabilities[inside] = readings.probabilities(readings.model(~inside))[inside]
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        cells = [f"{low:g} to {low + 0.2:g}"]
        for kind in dict.fromkeys(readings.sets.tolist()):
            rows = (readings.sets == kind) & (probabilities >= low) & (probabilities < low + 0.2)
            cells.append(f"{readings.labels[rows].mean():.0%} of {rows.sum()}" if rows.any() else "–")
        yield cells


def put_into_the_package(folder: Path) -> None:
    """Copy the model, and give the quickstart its strict preset."""
    bundled = bundled_path(PARAPHRASE_MODEL)
    assert bundled is not None
    shutil.copyfile(folder / FILE, bundled / FILE)
    quickstart = bundled.parent / "quickstart.toml"
    where = ParaphraseModel.load(bundled).presets["strict"].where
    text = re.sub(r'(?m)^where = "p_paraphrase.*"$', f'where = "{where}"', quickstart.read_text(encoding="utf-8"))
    quickstart.write_text(text, encoding="utf-8")


def main() -> None:
    """Score the pairs that were read, fit the model, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("PARALOOM_DATA"), help="the data folder")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/paraphrase-model"), help="run folder")
    parser.add_argument("--bundle", action="store_true", help="put the model into the package")
    parser.add_argument("--draw", type=Path, metavar="SHEET", help="write pairs to read")
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data, or set PARALOOM_DATA")
    started = time.monotonic()
    options.output.mkdir(parents=True, exist_ok=True)
    pairs = {
        kind: back_translations(bitext, options.output / f"{kind}.parquet")
        for kind, bitext in bitexts(Path(options.data)).items()
    }
    if options.draw:
        draw(pairs, options.draw)
        return
    right = verdicts()
    rows = [
        {**row, "label": int(right[name]), "labeled_set": kind}
        for kind, of_kind in pairs.items()
        for row in of_kind
        if (name := identifier(row)) in right
    ]
    rows += paraphrases(options.output / "judged")
    pq.write_table(pa.Table.from_pylist(rows), options.output / "pairs.parquet")
    readings = Readings(rows)
    counts = {
        kind: {"right": int(readings.labels[readings.sets == kind].sum()), "pairs": int((readings.sets == kind).sum())}
        for kind in dict.fromkeys(readings.sets.tolist())
    }
    card = {"languages": ["en"], "license": "MIT", "description": DESCRIPTION, "trained_on": counts}
    model = readings.model(np.ones(len(rows), bool), **card)
    model.save(options.output)
    print(describe_paraphrase_model(options.output))
    presets = " | ".join(f"{name}: right" for name in model.presets)
    print(f"| left out | right | AUC, judge | AUC | error, judge | error | {presets} |")
    print("| --- |" + " ---: |" * (5 + len(model.presets)))
    print("\n".join(f"| {' | '.join(cells)} |" for cells in left_out(readings)))
    kinds = list(dict.fromkeys(readings.sets[~np.isnan(readings.scores["reverse_cost"])].tolist()))
    print(f"\n| read by the regression | {' | '.join(kinds)} |\n| --- |" + " ---: |" * len(kinds))
    print("\n".join(f"| {' | '.join(cells)} |" for cells in alternatives(readings)))
    print(f"\n| `p_paraphrase` | {' | '.join(counts)} |\n| --- |" + " ---: |" * len(counts))
    print("\n".join(f"| {' | '.join(cells)} |" for cells in reliability(readings)))
    judge = np.linspace(0, 1, 1001)
    probability = model.find(["judge"]).probability({"judge": judge})
    judges = {name: float(judge[np.argmax(probability >= one.threshold)]) for name, one in model.presets.items()}
    print(f"\nThe judge alone passes a preset from: {judges}. {time.monotonic() - started:.0f} seconds.")
    if options.bundle:
        put_into_the_package(options.output)


if __name__ == "__main__":
    main()
