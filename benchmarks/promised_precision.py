"""Is a promised precision kept, and how much is kept with it? Cuts by labels, over resamplings of labeled sets.

    PARALOOM_DATA=/path/to/corpora python benchmarks/promised_precision.py score -o build/promised.npz \
        --readings runs/paraphrase-model/pairs.parquet
    python benchmarks/promised_precision.py measure build/promised.npz -o build/promised.json
    python benchmarks/promised_precision.py measure build/promised.npz --endless -o build/promised-endless.json
    python benchmarks/promised_precision.py page build/promised.json build/promised-endless.json --commit … --date …

`score` adds the judge to MRPC, Twitter-URL and SICK (tests), to the pairs of the quickstart that were read, and to the
captions, news and paraphrases that were read, which `examples/paraphrase_model.py` makes. In each resampling the labels
of other pairs are revealed, as the method asks for them. The corpus is the set itself or, with `--endless`, 10,000
pairs drawn from it with replacement, so that what is labeled is a small part of it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from results_pages import FOLDER, read_topic, write_pages, write_topic
from scipy.stats import beta, binom

from paraloom.pairs.filtering.certified_cut import Ranking, certified_cut, next_to_label

ROOT = Path(__file__).resolve().parents[1]
SETS = {
    "MRPC": "MRPC",
    "Twitter": "Twitter-URL",
    "SICK": "SICK",
    "quickstart, read": "Quickstart, read",
    "others, read": "Others, read",
}
LABELS = (60, 120, 200, 240)
PRECISIONS = (0.8, 0.9)
CONFIDENCE = 0.95
ROWS = 10_000
BLOCK = 50
"""Resamplings after which the results so far are written."""
METHODS = {
    "read off": "read off",
    "lowest bound": "Clopper–Pearson",
    "one cut": "one cut by half of the labels, tested by the others",
    "promised": "`filter --precision`",
}


def score(readings: Path, output: Path) -> None:
    """Write label and judge of each pair."""
    from paraloom import as_pairs

    spec = importlib.util.spec_from_file_location("judge_benchmark", ROOT / "benchmarks/judge.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = [row for row in module.labeled(Path(os.environ["PARALOOM_DATA"])) if row["set"] in SETS]
    read = pq.read_table(readings, columns=["src", "tgt", "label", "labeled_set"]).to_pylist()
    rows += [{**row, "set": "others, read"} for row in read if row["labeled_set"] != "quickstart"]
    pairs = as_pairs([(row["src"], row["tgt"]) for row in rows], src_lang="en", tgt_lang="en")
    judge = pairs.score(["judge"]).to_arrow()["judge"].to_numpy()
    np.savez(output, set=[row["set"] for row in rows], label=[row["label"] for row in rows], judge=judge)


def shares(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of each cut, equal scores together, and right ones among them; the best first."""
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.append(scores[order][:-1] > scores[order][1:], True)) + 1
    return ends, np.cumsum(labels[order])[ends - 1]


def bound(right: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """One-sided lower bound of a share by Clopper and Pearson."""
    return np.where(right > 0, beta.ppf(1 - CONFIDENCE, np.maximum(right, 1), rows - right + 1), 0.0)


def by_labels(method: str, scores: np.ndarray, labels: np.ndarray, precision: float) -> float | None:
    """Threshold of one of the methods that take a random sample; None without one."""
    if method == "one cut":
        half = len(scores) // 2
        threshold = by_labels("read off", scores[:half], labels[:half], precision)
        if threshold is None:
            return None
        above = scores[half:] >= threshold
        rows, right = np.array([above.sum()]), np.array([labels[half:][above].sum()])
        return threshold if rows[0] and bound(right, rows)[0] >= precision else None
    rows, right = shares(scores, labels)
    values = right / rows if method == "read off" else bound(right, rows)
    held = np.flatnonzero(values >= precision)
    return float(np.sort(scores)[::-1][rows[held[-1]] - 1]) if len(held) else None


def draw(scores: np.ndarray, labels: np.ndarray, precision: float, seed: int) -> dict[str, list[float | None]]:
    """Threshold of each method at each number of labels, in one resampling."""
    order = np.random.default_rng(seed).permutation(len(scores))
    known, position = np.full(len(scores), -1, np.int8), np.argsort(order)
    result: dict[str, list[float | None]] = {name: [] for name in METHODS}
    for count in LABELS:
        while (left := count - int((known >= 0).sum())) > 0:
            drawn = next_to_label(Ranking(scores, order, known), precision, CONFIDENCE)[:left]
            if not len(drawn):
                break
            known[drawn] = labels[drawn]
        result["promised"].append(certified_cut(Ranking(scores, order, known), precision, CONFIDENCE).threshold)
        for name in list(METHODS)[:-1]:
            chosen = position[:count]
            result[name].append(by_labels(name, scores[chosen], labels[chosen], precision))
    return result


def limit(scores: np.ndarray, labels: np.ndarray, precision: float, count: int) -> float:
    """Mean yield of the best single cut with an exact test, if all precisions were known: a part of the possible."""
    rows, right = shares(scores, labels)
    held = (right / rows >= precision) & (rows >= 20)
    if not held.any():
        return 0.0
    needed = binom.ppf(CONFIDENCE, count, precision) + 1
    passing = rows[held] * binom.sf(needed - 1, count, right[held] / rows[held])
    return float(passing.max() / rows[held][-1])


def outcomes(scores: np.ndarray, labels: np.ndarray, precision: float, seed: int, endless: bool) -> np.ndarray:
    """Yield of each method and number of labels in one resampling, as a part of the possible; −1: promise broken."""
    if endless:
        random = np.random.default_rng([1, seed])
        chosen = random.integers(0, len(scores), ROWS)
        # Copies are other pairs, so that they do not have the same score.
        scores, labels = scores[chosen] + 1e-9 * random.random(ROWS), labels[chosen]
    rows, right = shares(scores, labels)
    held = np.flatnonzero(right / rows >= precision)
    possible = rows[held[-1]] if len(held) else 1
    result = []
    for thresholds in draw(scores, labels, precision, seed).values():
        above = [np.zeros(len(scores), bool) if value is None else scores >= value for value in thresholds]
        result.append([
            -1 if kept.any() and labels[kept].mean() < precision else kept.sum() / possible for kept in above
        ])  # fmt: skip
    return np.array(result)


def measure(scored: Path, output: Path, draws: int, endless: bool) -> None:
    """Write, for each set, precision, number of labels and method: how often the promise is broken, and the yield."""
    data = np.load(scored)
    collected: dict[tuple[str, float], list[np.ndarray]] = {(name, p): [] for name in SETS for p in PRECISIONS}
    for block in range(0, draws, BLOCK):
        results: list[dict[str, Any]] = []
        for (name, precision), values in collected.items():
            inside = (data["set"] == name) & np.isfinite(data["judge"])
            scores, labels = data["judge"][inside].astype(np.float64), data["label"][inside].astype(np.int8)
            for seed in range(block, min(block + BLOCK, draws)):
                values.append(outcomes(scores, labels, precision, seed, endless))
            shown = np.stack(values)
            for number, method in enumerate(METHODS):
                for index, count in enumerate(LABELS):
                    cell = shown[:, number, index]
                    results.append({
                        "set": SETS[name], "precision": precision, "labels": count, "method": method,
                        "draws": len(shown), "endless": endless, "broken": round(float((cell < 0).mean()), 4),
                        "yield": round(float(np.maximum(cell, 0).mean()), 4),
                        "nothing": round(float((cell == 0).mean()), 4),
                        "limit": round(limit(scores, labels, precision, count), 4),
                    })  # fmt: skip
        output.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def page(paths: list[Path], origin: dict[str, str]) -> None:
    """Write the table of the results page; one cut, which keeps next to nothing, is a sentence below it."""
    results = [row for path in paths for row in json.loads(path.read_text("utf-8"))]
    table: dict[tuple[str, float], dict[str, str]] = {}
    for row in results:
        if row["endless"] and row["labels"] == 200:
            cells = table.setdefault(
                (row["set"], row["precision"]), {"limit": f"{100 * row['limit']:.0f}" if row["limit"] else "–"}
            )
            cells[row["method"]] = f"{100 * row['broken']:.1f} · {100 * row['yield']:.0f}"
    shown = [method for method in METHODS if method != "one cut"]
    rows = [
        [f"{name}, {100 * precision:.0f} %", *(cells[method] for method in shown), cells["limit"]]
        for (name, precision), cells in table.items()
    ]
    alone = [row for row in results if row["method"] == "one cut"]
    topic = read_topic(FOLDER / "promised-precision.json")
    result = topic["results"][0]
    columns = ["corpus, promised", *(METHODS[method] for method in shown), "best single cut"]
    result |= {
        **origin,
        "columns": columns,
        "align": "lrrrr",
        "rows": rows,
        "seeds": f"{min(row['draws'] for row in results):,} resamplings",
    }
    broken, kept = (100 * max(row[name] for row in alone) for name in ("broken", "yield"))
    result["notes"][1:] = [
        f"Not shown: {METHODS['one cut']} by a Clopper–Pearson bound. It is broken in at most {broken:.1f} %, and "
        f"keeps {kept:.0f} % or less."
    ]
    write_topic(FOLDER / "promised-precision.json", topic)
    write_pages()


def main() -> None:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    scoring = commands.add_parser("score")
    scoring.add_argument("--readings", type=Path, required=True, help="pairs.parquet of examples/paraphrase_model.py")
    scoring.add_argument("-o", "--output", type=Path, required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("scored", type=Path)
    measuring.add_argument("-o", "--output", type=Path, required=True)
    measuring.add_argument("--draws", type=int, default=1000)
    measuring.add_argument("--endless", action="store_true")
    making = commands.add_parser("page", help="write the table of the results page")
    making.add_argument("results", type=Path, nargs=2)
    making.add_argument("--commit", required=True)
    making.add_argument("--date", required=True)
    arguments = parser.parse_args()
    if arguments.command == "score":
        score(arguments.readings, arguments.output)
    elif arguments.command == "measure":
        measure(arguments.scored, arguments.output, arguments.draws, arguments.endless)
    else:
        page(arguments.results, {"commit": arguments.commit, "date": arguments.date})


if __name__ == "__main__":
    main()
