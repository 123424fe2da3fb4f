"""Are kept paraphrases right? Keeps paraphrases of unpicked sentences, and mixes those of several versions for readers.

    python benchmarks/judged_paraphrases.py keep now --seeds 33 34 -o build/judged
    PYTHONPATH=../older/src python benchmarks/judged_paraphrases.py keep before --seeds 33 34 -o build/judged
    python benchmarks/judged_paraphrases.py draw build/judged
    python benchmarks/judged_paraphrases.py count build/judged reader-1.tsv reader-2.tsv
    python benchmarks/judged_paraphrases.py fit build/judged reader-1.tsv reader-2.tsv

Reads six kinds of text of $PARALOOM_DATA, none of which the paraphraser was trained on. `sheet-*.tsv` have for each
preset the pairs of sentence and best paraphrase once, shuffled, and do not say which version kept them. A line has an
identifier, three empty columns, the sentence and the paraphrase. A reader fills the columns with 1, 0 or ?: the meaning
is the same (nothing lost, added or changed); it is English that a careful writer could have written (faults of the
sentence do not count); more differs than punctuation, case, an article or a contraction. The verdicts on all sheets may
be in one file. `count --page FILE` puts the table into a file of docs/explanations/results.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import os
import random
import subprocess
import time
from importlib.resources import files
from pathlib import Path

import numpy as np
from results_pages import read_topic, write_pages, write_topic

from paraloom.api.paraphrase_sources import as_paraphraser, open_selector
from paraloom.core.digests import digest
from paraloom.core.protocols import Variant
from paraloom.core.stats import wilson_interval
from paraloom.io import read_lines
from paraloom.pairs.scoring.paraphrase_model import fit_logistic
from paraloom.paraphrasing.edits import english_fault
from paraloom.paraphrasing.selection_config import CandidateSelection, SelectionConfig

KINDS = {
    "everyday": "",
    "captions": "sentences-en/captions.flickr8k-part.txt.xz",
    "questions": "sentences-en/questions.simplequestions-wikiqa-trecqa.txt.xz",
    "news": "sentences-en/news.nltk-abc.txt.xz",
    "help": "bitext/gnome-help/de-en.tsv.gz",
    "science": "sentences-en/answers.student-beetle-sciEntsBank.txt.xz",
}
"""Kind of text → file; everyday sentences are those of the quickstart."""

HEADING = "Are kept paraphrases right?"

PRESETS = ("strict", "loose")

Pair = tuple[str, str]


def identifier(src: str, tgt: str) -> str:
    """A name of a pair by its content: verdicts hold for it alone."""
    return digest([src, tgt])[:16]


def verdicts_of(sheet: Path, column: int = 1) -> dict[str, bool]:
    """Identifier → whether a reader called the pair right, which is what the second column says."""
    rows = (line.split("\t") for line in sheet.read_text("utf-8").splitlines())
    return {row[0]: row[column].strip() == "1" for row in rows}


def sentences(kind: str, rows: int, seed: int) -> list[str]:
    """Unpicked sentences of 6 to 20 words."""
    if kind == "everyday":
        path = str(files("paraloom.bundled") / "sample.de-en.tsv")
    else:
        path = str(Path(os.environ["PARALOOM_DATA"]) / KINDS[kind])
    lines = [line.split("\t")[1] if ".tsv" in path else line for line in read_lines(path)]
    unique = sorted({line for line in lines if 6 <= len(line.split()) <= 20})
    return random.Random(f"{kind} {seed}").sample(unique, rows)


def keep(version: str, rows: int, seeds: list[int], output: Path) -> None:
    """Write the best paraphrase of each sentence that each preset keeps, null where it keeps none."""
    kept: dict[str, dict[str, list[list[str | None]]]] = {preset: {} for preset in PRESETS}
    paraphraser = as_paraphraser("english")
    selectors = {preset: open_selector(preset, judge=None, language="en") for preset in PRESETS}
    for kind in KINDS:
        texts, start = [one for seed in seeds for one in sentences(kind, rows, seed)], time.process_time()
        groups = paraphraser.paraphrase(texts, n=CandidateSelection.candidates)
        seconds = {"candidates": time.process_time() - start}
        for preset, selector in selectors.items():
            start = time.process_time()
            best = [group[0].text if group else None for group in selector.select(texts, groups, 1).kept]
            seconds[preset] = time.process_time() - start
            kept[preset][kind] = [list(one) for one in zip(texts, best, strict=True)]
            print(f"{kind}, {preset}: {sum(one is not None for one in best)} of {len(texts)}", flush=True)
        print(f"{kind}: " + ", ".join(f"{name} {value:.1f} s" for name, value in seconds.items()), flush=True)
    output.mkdir(parents=True, exist_ok=True)
    (output / f"{version}.json").write_text(json.dumps(kept, ensure_ascii=False, indent=1), encoding="utf-8")


def read_kept(folder: Path) -> dict[str, dict[str, dict[str, list[Pair | None]]]]:
    """Version → preset → kind → what was kept of each sentence."""
    return {
        path.stem: {
            preset: {kind: [(src, tgt) if tgt else None for src, tgt in pairs] for kind, pairs in kinds.items()}
            for preset, kinds in json.loads(path.read_text("utf-8")).items()
        }
        for path in sorted(folder.glob("*.json"))
    }


def drawn(pairs: dict[str, list[Pair | None]], cell: int, name: str) -> dict[str, list[Pair]]:
    """Up to `cell` kept pairs, taken from all kinds in turn."""
    pools = {kind: [one for one in of_kind if one] for kind, of_kind in pairs.items()}
    for kind, pool in pools.items():
        random.Random(f"{name} {kind}").shuffle(pool)
    chosen: dict[str, list[Pair]] = {kind: [] for kind in pools}
    for rank in range(max(map(len, pools.values()), default=0)):
        for kind, pool in pools.items():
            if rank < len(pool) and sum(map(len, chosen.values())) < cell:
                chosen[kind].append(pool[rank])
    return chosen


def draw(folder: Path, cell: int) -> None:
    """Write a sheet for each preset."""
    versions = read_kept(folder)
    for preset in PRESETS:
        pairs = sorted({
            one for of_version in versions.values()
            for of_kind in drawn(of_version[preset], cell, preset).values() for one in of_kind
        })  # fmt: skip
        random.Random(preset).shuffle(pairs)
        lines = "".join(f"{identifier(*pair)}\t\t\t\t{pair[0]}\t{pair[1]}\n" for pair in pairs)
        (folder / f"sheet-{preset}.tsv").write_text(lines, encoding="utf-8")
        print(f"sheet-{preset}.tsv: {len(pairs)} pairs")


def count(folder: Path, cell: int, sheets: list[Path]) -> tuple[list[str], list[list[str]]]:
    """The table: the share of sentences with a kept paraphrase, and of what was read that which is right."""
    meaning, good, different = ([verdicts_of(sheet, column) for sheet in sheets] for column in (1, 2, 3))
    right = [{one: of[one] and english[one] for one in of} for of, english in zip(meaning, good, strict=True)]
    names = [name for number in range(1, len(sheets) + 1) for name in (f"right, reader {number}", "and differs")]
    rows = []
    for preset in PRESETS:
        for version, of_version in read_kept(folder).items():
            chosen = drawn(of_version[preset], cell, preset)
            for kind in (*KINDS, "all"):
                kinds = [kind] if kind in KINDS else list(KINDS)
                kept = [one for name in kinds for one in of_version[preset][name]]
                read = [identifier(*one) for name in kinds for one in chosen[name]]
                cells = [
                    preset,
                    version,
                    kind,
                    f"{sum(one is not None for one in kept)} of {len(kept)}",
                    str(len(read)),
                ]
                for of_right, of_differs in zip(right, different, strict=True):
                    if unread := [one for one in read if one not in of_right]:
                        raise SystemExit(f"{len(unread)} pairs were not read: not what the verdicts are of")
                    cells += [_share([of_right[one] for one in read])]
                    cells += [_share([of_right[one] and of_differs[one] for one in read])]
                rows.append(cells)
    return ["preset", "version", "kind of text", "kept", "read", *names], rows


def write_page(path: Path, command: str, columns: list[str], rows: list[list[str]]) -> None:
    """Replace the table and its text in a file of results."""
    topic = read_topic(path)
    commit = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=True
    ).stdout
    result = {
        "heading": HEADING,
        "text": [
            "Unpicked sentences of 6 to 20 words of six kinds of text, none of which the paraphraser was trained on; "
            "of each the best paraphrase that a preset keeps. Readers, all language models, saw both "
            "without knowing which version kept it. *Right* is what is good English and says the same; it *differs* "
            "where more changes than punctuation, case, an article or a contraction. No sentence, weight or threshold "
            "was chosen by this sample."
        ],
        "command": [
            "python benchmarks/judged_paraphrases.py keep now --seeds 33 34 -o build/judged",
            "python benchmarks/judged_paraphrases.py draw build/judged",
            command,
        ],
        "commit": commit.strip(),
        "date": str(datetime.date.today()),
        "version": importlib.metadata.version("paraloom"),
        "machine": "cores",
        "seeds": "two samples",
        "columns": columns,
        "align": "lllrr" + "r" * (len(columns) - 5),
        "rows": rows,
    }
    results = [result if one.get("heading") == HEADING else one for one in topic["results"]]
    write_topic(path, topic | {"results": results})
    write_pages()


def fit(folder: Path, sheets: list[Path]) -> None:
    """Fit `probability_right` to pairs that all readers read, and print what thresholds keep in ten folds."""
    verdicts = [verdicts_of(sheet) for sheet in sheets]
    pairs = sorted({
        one for version in read_kept(folder).values() for preset in version.values() for kind in preset.values()
        for one in kind if one and all(identifier(*one) in verdict for verdict in verdicts)
    })  # fmt: skip
    pairs = [one for one in pairs if not english_fault(*one)]
    right = np.array([all(verdict[identifier(*one)] for verdict in verdicts) for one in pairs], np.float64)
    model = as_paraphraser("english")
    candidates = [[Variant(tgt, 0.0, 1)] for _, tgt in pairs]
    scored = model.paraphraser.with_free_logprobs([src for src, _ in pairs], candidates)
    everything = SelectionConfig(meaning=0, difference=0, fluency=0, probability=0, length_ratio=100)
    selector = open_selector(judge=None, language="en")
    selector.config = everything
    firsts, seconds = [src for src, _ in pairs], [tgt for _, tgt in pairs]
    cost = np.array([-group[0].logprob / group[0].tokens for group in scored])
    verdict, _ = selector._judged(firsts, seconds, np.exp(-cost), np.ones(len(pairs), bool))
    scores = {"judge": verdict, "cost": cost, "change": selector._changes(firsts, seconds)}
    model_of_all = fit_logistic(scores, right, np.ones(len(right)))
    weights = {one.name: one.weight / one.scale for one in model_of_all.features}
    shift = model_of_all.intercept - sum(one.weight * one.center / one.scale for one in model_of_all.features)
    print(f"{len(pairs)} pairs, {right.mean():.0%} right; {shift:.2f} +", weights)
    folds = np.array([int(identifier(src, "")[:4], 16) % 10 for src in firsts])
    probability = np.zeros(len(pairs))
    for fold in range(10):
        rows = folds != fold
        part = fit_logistic({name: one[rows] for name, one in scores.items()}, right[rows], np.ones(rows.sum()))
        probability[~rows] = part.probability({name: one[~rows] for name, one in scores.items()})
    for threshold in (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9):
        kept = probability >= threshold
        print(f"{threshold:.2f}: {kept.sum()} kept, {_share(list(right[kept] == 1))} right")


def _share(verdicts: list[bool]) -> str:
    if not verdicts:
        return "–"
    low, high = wilson_interval(sum(verdicts), len(verdicts))
    return f"{sum(verdicts)}: {100 * sum(verdicts) / len(verdicts):.0f}% [{100 * low:.0f}, {100 * high:.0f}]"


def main() -> None:
    """Keep paraphrases, draw sheets, or count what readers wrote."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    keeping = commands.add_parser("keep")
    keeping.add_argument("version")
    keeping.add_argument("--rows", type=int, default=20)
    keeping.add_argument("--seeds", type=int, nargs="+", default=[33, 34])
    keeping.add_argument("-o", "--output", type=Path, default=Path("build/judged"))
    drawing = commands.add_parser("draw")
    counting = commands.add_parser("count")
    fitting = commands.add_parser("fit")
    for command in (drawing, counting, fitting):
        command.add_argument("folder", type=Path)
        command.add_argument("--cell", type=int, default=60)
    counting.add_argument("--page", type=Path)
    for command in (counting, fitting):
        command.add_argument("sheets", type=Path, nargs="+")
    options = parser.parse_args()
    if options.command == "keep":
        keep(options.version, options.rows, options.seeds, options.output)
    elif options.command == "draw":
        draw(options.folder, options.cell)
    elif options.command == "fit":
        fit(options.folder, options.sheets)
    else:
        columns, rows = count(options.folder, options.cell, options.sheets)
        for cells in (columns, ["---"] * len(columns), *rows):
            print(f"| {' | '.join(cells)} |")
        if options.page:
            sheets = " ".join(map(str, options.sheets))
            command = f"python benchmarks/judged_paraphrases.py count {options.folder} {sheets} --page {options.page}"
            write_page(options.page, command, columns, rows)


if __name__ == "__main__":
    main()
