"""How well do networks follow templates, over seeds? Trains each on the same pairs, measures them on held-out ones.

    python benchmarks/paraphraser_networks.py runs/bundled-paraphraser/250-parsed \\
        --sentences runs/bundled-paraphraser/320-sentences-parsed --parser runs/parser-en \\
        --test runs/bundled-paraphraser/330-common-test-parsed -o runs/networks

Rows: our transformer, PNMT's LSTM and SCPN's two networks, each trained with every seed for as many updates of as many
tokens; SCPN learns from the pairs alone. Prints Markdown: the mean over the seeds, lowest and highest in brackets, for
held-out pairs and for those whose sides have different templates. If stopped, run it again to resume.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paraloom.api.paraphrasers import train_paraphraser
from paraloom.io.atomic import atomic_write
from paraloom.papers.scpn.measure_control import measure_control

NETWORKS = ("transformer", "lstm", "scpn")
MODEL_SYSTEMS = ("free", "shuffled", "template", "nearest of 5")
MAX_LENGTH = 128


def measured(folder: Path, test: Path, rows: int) -> dict[str, Any]:
    """Rows of both draws of the test pairs, by system."""
    parts = {}
    for name, different in (("all", False), ("different", True)):
        result = measure_control(folder, test, rows=rows, heights=(2,), only_different=different)
        parts[name] = {row.system: row.to_dict() for row in result.rows}
    return parts


def spread(values: Sequence[float], digits: int) -> str:
    """The mean; of several values the lowest and highest in brackets."""
    mean = f"{sum(values) / len(values):.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def table(results: dict[str, list[dict[str, Any]]], part: str) -> str:
    """Markdown: systems of no model once, then those of each network."""
    lines = ["| system | seeds | template followed | TED | meaning | copies |", "|---|---|---|---|---|---|"]

    def add(name: str, system: str, runs: list[dict[str, Any]]) -> None:
        rows = [run[part][system] for run in runs]
        distances = [row["distance"] for row in rows if row["distance"] is not None]
        cells = [
            spread([100 * row["exact"] for row in rows], 1),
            spread(distances, 2) if distances else "",
            spread([row["meaning"] for row in rows], 3),
            spread([100 * row["copies"] for row in rows], 1),
        ]
        lines.append(f"| {name} | {len(rows)} | {' | '.join(cells)} |")

    first = next(iter(results.values()))[:1]
    for system in first[0][part]:
        if system not in MODEL_SYSTEMS:
            add(system, system, first)
    for network, runs in results.items():
        for system in MODEL_SYSTEMS:
            if all(system in run[part] for run in runs):
                add(f"{network}, {system}", system, runs)
    return "\n".join(lines)


def main() -> None:
    """Train what is not trained, measure what is not measured, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, nargs="+", help="training pairs with trees")
    parser.add_argument("--sentences", type=Path, nargs="*", default=[], help="monolingual text with trees")
    parser.add_argument("--parser", required=True, help="the parser that made the trees")
    parser.add_argument("--test", type=Path, required=True, help="held-out pairs with trees")
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--batch-tokens", type=int, default=2500, help="of an update (default: %(default)s)")
    parser.add_argument("--vocab-size", type=int, default=3000, help="subwords (default: %(default)s)")
    parser.add_argument("--hidden-dim", type=int, default=256, help="of the LSTMs (default: %(default)s)")
    parser.add_argument("--word-dim", type=int, default=256, help="of the LSTMs (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="of a training (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=1000, help="test pairs (default: %(default)s)")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the models and figures")
    options = parser.parse_args()

    results: dict[str, list[dict[str, Any]]] = {}
    for seed in options.seeds:
        for network in options.networks:
            folder = options.output / f"{network}-{seed}"
            figures = options.output / f"{network}-{seed}.json"
            if not figures.is_file():
                started = time.monotonic()
                train_paraphraser(
                    options.pairs,
                    folder,
                    sentences=() if network == "scpn" else options.sentences,
                    parser=options.parser,
                    seed=seed,
                    network=network,
                    steps=options.steps,
                    unmoved_share=0.0 if network == "scpn" or not options.sentences else 0.15,
                    hidden_dim=options.hidden_dim,
                    word_dim=options.word_dim,
                    ffn_dim=768,
                    max_length=MAX_LENGTH,
                    batch_tokens=options.batch_tokens,
                    vocab_size=options.vocab_size,
                    threads=options.threads,
                    subword_sampling=0.0,
                    patience=0,
                    evaluate_every=500,
                )
                minutes = (time.monotonic() - started) / 60
                row = {**measured(folder, options.test, options.rows), "minutes": round(minutes, 1)}
                with atomic_write(figures) as path:
                    path.write_text(json.dumps(row, indent=1), encoding="utf-8")
            results.setdefault(network, []).append(json.loads(figures.read_text(encoding="utf-8")))
            print(f"{network}, seed {seed}: {results[network][-1]['minutes']} minutes of training", flush=True)
    for part, title in (("all", "Held-out pairs"), ("different", "Pairs whose sides have different templates")):
        print(f"\n{title}:\n\n{table(results, part)}")


if __name__ == "__main__":
    main()
