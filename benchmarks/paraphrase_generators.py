"""Which generator gives paraphrases that are right? Compares them on the same unpicked sentences, after one selection.

    export PARALOOM_DATA=/path/to/corpora PAIRS=build/paraphrase-pairs   # of examples/paraphrase_pairs.py
    python benchmarks/paraphrase_generators.py generate -o build/generators
    python benchmarks/paraphrase_generators.py keep -o build/generators
    python benchmarks/paraphrase_generators.py draw -o build/generators
    python benchmarks/paraphrase_generators.py count benchmarks/readings/generators reader-1.tsv reader-2.tsv

`generate` writes the candidates of each generator with their costs, which takes minutes, and `keep` what the presets
keep of them and of several together, which takes less, so that another judge can be tried. `draw` writes the sheet of
all that a preset keeps, each pair once and shuffled, and into key.tsv which cells hold it. A reader writes what readers
of `benchmarks/judged_paraphrases.py` write. `count --page FILE` puts the table into a file of results.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from blind_sheets import draw_sheet, identifier, rows_of, share, table
from judged_paraphrases import KINDS, sentences
from results_pages import put_result, read_topic, write_pages

from paraloom.api.paraphrase_sources import RoundTripParaphraser, as_paraphraser, open_selector
from paraloom.core.protocols import ParaphraseLike, Variant
from paraloom.paraphrasing.selection import JudgeLike
from paraloom.paraphrasing.selection_config import SELECTION_PRESETS, CandidateSelection

PIVOTS = 6
"""Translations on the way, and of each the translations back."""

WORD, MODEL, TRIP = "one word", "paraphraser", "round trip"
AGAIN, UNKNOWN = "round trip, the paraphraser's cost", "round trip, no cost"
"""What tells improbable translations back: the costs of both translators, or these."""
HEADING = "Other generators"

TENTH = "strict, 0.1"
"""The strict preset where a tenth of the words differs: of the generators but the paraphraser, this was read."""

POOLS = {
    "paraphraser + round trip": (MODEL, TRIP),
    "paraphraser + round trip, its cost": (MODEL, AGAIN),
    "paraphraser + round trip + one word, no costs": (MODEL, UNKNOWN, WORD),
}
"""Candidates of several generators together → which."""

Groups = Sequence[Sequence[ParaphraseLike]]


class Remembered:
    """A judge that reads each pair once, however many generators and presets ask about it."""

    def __init__(self, judge: JudgeLike) -> None:
        self.judge = judge
        self.signature = judge.signature
        self.verdicts: dict[tuple[str, str], float] = {}

    def predict(self, firsts: list[str], seconds: list[str]) -> npt.NDArray[np.float32]:
        """Probability that each second text says what the first says, float32 `(n,)`."""
        pairs = [*zip(firsts, seconds, strict=True)]
        if new := [pair for pair in dict.fromkeys(pairs) if pair not in self.verdicts]:
            self.verdicts |= zip(new, self.judge.predict(*map(list, zip(*new, strict=True))).tolist(), strict=True)
        return np.array([self.verdicts[pair] for pair in pairs], np.float32)


def synonyms(data: Path) -> dict[str, list[str]]:
    """Word → its synonyms of PPDB, in either direction."""
    table = defaultdict[str, list[str]](list)
    with gzip.open(data / "phrase/ppdb-lexical/ppdb_synonyms.txt.gz", "rt", encoding="utf-8") as stream:
        for line in stream:
            first, second = line.split()
            table[first].append(second)
            table[second].append(first)
    return table


def substituted(text: str, table: dict[str, list[str]], n: int) -> list[Variant]:
    """The text with one word replaced: the first synonym of each word, then the second ones. Costs are unknown."""
    words = text.split()
    slots = []
    for index, word in enumerate(words):
        core = word.strip('.,;:!?"()')
        slots.append([
            " ".join([*words[:index], word.replace(core, other), *words[index + 1 :]])
            for other in dict.fromkeys(table.get(core, []))
        ])  # fmt: skip
    ranked = [slot[rank] for rank in range(max(map(len, slots))) for slot in slots if rank < len(slot)]
    return [Variant(one, math.nan, 0) for one in ranked[:n]]


def generate(rows: int, seed: int, free: bool, output: Path) -> None:
    """Write the candidates of each generator, and the processor seconds that it took."""
    texts_of = {kind: sentences(kind, rows, seed, free) for kind in KINDS}
    texts = [text for of_kind in texts_of.values() for text in of_kind]
    n, table = CandidateSelection.candidates, synonyms(Path(os.environ["PARALOOM_DATA"]))
    paraphraser = as_paraphraser("english")
    trip = RoundTripParaphraser("en-de", "de-en", pivots=PIVOTS, decode=f"beam:{PIVOTS}")
    candidates_of: dict[str, Groups] = {}

    def again() -> Groups:
        given = [[Variant(*one[:3]) for one in group] for group in candidates_of[TRIP]]
        return paraphraser.paraphraser.with_free_logprobs(texts, given)

    generators: dict[str, Callable[[], Groups]] = {
        "copy": lambda: [[Variant(text, 0.0, 1)] for text in texts],
        WORD: lambda: [substituted(text, table, n) for text in texts],
        MODEL: lambda: paraphraser.paraphrase(texts, n=n),
        TRIP: lambda: trip.paraphrase(texts, n=n),
        AGAIN: again,
    }
    seconds: dict[str, float] = {}
    for name, generator in generators.items():
        start = time.process_time()
        candidates_of[name] = generator()
        seconds[name] = (time.process_time() - start) / len(texts)
        print(f"{name}: {seconds[name]:.3f} s a sentence", flush=True)
    candidates = {name: [[one[:3] for one in group] for group in groups] for name, groups in candidates_of.items()}
    output.mkdir(parents=True, exist_ok=True)
    written = {"texts": texts_of, "seconds": seconds, "candidates": candidates}
    (output / "candidates.json").write_text(json.dumps(written, ensure_ascii=False, indent=1), encoding="utf-8")


def keep(output: Path) -> None:
    """Write the best candidate that each preset keeps of each generator, null where it keeps none."""
    written = json.loads((output / "candidates.json").read_text("utf-8"))
    kinds = [kind for kind, of_kind in written["texts"].items() for _ in of_kind]
    texts = [text for of_kind in written["texts"].values() for text in of_kind]
    candidates_of = {
        name: [[Variant(*one) for one in group] for group in groups] for name, groups in written["candidates"].items()
    }
    candidates_of[UNKNOWN] = [[one._replace(logprob=math.nan) for one in group] for group in candidates_of[TRIP]]
    for name, parts in POOLS.items():
        candidates_of[name] = [
            [one for group in groups for one in group]
            for groups in zip(*(candidates_of[part] for part in parts), strict=True)
        ]
    selectors = {preset: open_selector(preset, judge=None, language="en") for preset in SELECTION_PRESETS}
    selectors[TENTH] = open_selector("strict", judge=None, language="en", difference=0.1)
    judge = next(selector.judge for selector in selectors.values())
    remembered = None if judge is None else Remembered(judge)
    kept: dict[str, dict[str, list[list[str | None]]]] = {}
    for name in (one for one in candidates_of if one != AGAIN):
        kept[name] = {}
        for preset, selector in selectors.items():
            if preset == "strict" and name != MODEL:
                continue
            selector.judge = remembered
            selection = selector.select(texts, candidates_of[name], 1)
            best = [group[0].text if group else None for group in selection.kept]
            kept[name][preset] = [list(one) for one in zip(kinds, texts, best, strict=True)]
            total = sum(map(len, candidates_of[name]))
            dropped = (f"{count / total:.0%} {reason}" for reason, count in selection.dropped.most_common(4))
            print(f"{name}, {preset}: {sum(map(bool, best))} of {len(texts)}; {', '.join(dropped)}", flush=True)
    (output / "kept.json").write_text(json.dumps(kept, ensure_ascii=False, indent=1), encoding="utf-8")


def draw(output: Path) -> None:
    """Write the sheet of all generators and presets, the key, and the seconds."""
    pairs, rows = dict[str, tuple[str, str]](), list[list[str]]()
    for name, presets in json.loads((output / "kept.json").read_text("utf-8")).items():
        for preset, ones in presets.items():
            for kind, text, one in ones:
                number = identifier(text, one) if one else ""
                rows.append([number, kind, preset, name])
                pairs |= {number: (text, one)} if one else {}
    draw_sheet(output, ("id", "source", "output"), pairs, (("id", "kind", "preset", "generator"), rows))
    seconds = json.loads((output / "candidates.json").read_text("utf-8"))["seconds"]
    seconds |= {AGAIN: seconds[TRIP] + seconds[AGAIN], UNKNOWN: seconds[TRIP]}
    seconds |= {name: sum(seconds[part] for part in parts) for name, parts in POOLS.items()}
    (output / "seconds.json").write_text(json.dumps(seconds, indent=1), encoding="utf-8")


def count(folder: Path, sheets: list[Path]) -> tuple[list[str], list[list[str]]]:
    """The table: of each generator and preset how many sentences have an output, and of these the shares of answers."""
    readers = [rows_of(sheet) for sheet in sheets]
    key, seconds = table(folder / "key.tsv"), json.loads((folder / "seconds.json").read_text("utf-8"))
    names, rows = ("right", "different", "right of these", "all three"), []
    known: list[tuple[str, list[str]]] = []
    for generator, preset in dict.fromkeys((row["generator"], row["preset"]) for row in key):
        cell = [row["id"] for row in key if (row["generator"], row["preset"]) == (generator, preset)]
        if not any(cell) or (preset, cell) in known:  # nothing is kept, or what a generator before it keeps
            continue
        known.append((preset, cell))
        cells = [generator, preset, share([bool(one) for one in cell])]
        for reader in readers:
            if any(one and one not in reader for one in cell):
                cells += ["not read"] * len(names)
                continue
            read = [reader[one] for one in cell if one]
            differing = [row for row in read if row["different"] == "1"]
            cells += [
                share([row["right"] == "1" for row in read]),
                share([row["different"] == "1" for row in read]),
                share([row["right"] == "1" for row in differing]),
                str(sum(row["right"] == row["good"] == "1" for row in differing)),
            ]
        rows.append([*cells, f"{seconds[generator]:.3f}"])
    answers = [f"{name}, reader {number}" for number in range(1, len(sheets) + 1) for name in names]
    return ["generator", "preset", "sentences with an output", *answers, "seconds a sentence"], rows


def write_page(path: Path, command: str, columns: list[str], rows: list[list[str]]) -> None:
    """Replace the table in a file of results; its notes stay."""
    results = read_topic(path)["results"]
    notes = next((one.get("notes", []) for one in results if one.get("heading") == HEADING), [])
    result = {
        "heading": HEADING,
        "text": [
            "The same unpicked sentences of six kinds for all, each generator's candidates through the same checks, "
            "judge and presets. *One word*: a word replaced by a synonym of PPDB, at no cost. *Round trip*: through "
            "German by the bundled translators, 6 × 6 translations, of which the 20 most probable are candidates; its "
            "cost is that of both translators, or none; with that which the paraphraser finds, it adds nothing to the "
            "paraphraser's. Of copies none is kept. "
            "Readers, language models, saw sentence and output alone; *different* is more than punctuation, case, an "
            "article or a contraction; *all three* is the number of sentences with an output that is right, good and "
            "different. Seconds of one core, for the candidates alone. `strict, 0.1`: where a tenth of the words must "
            "differ, as in `strict` before; now a twentieth must.",
        ],
        "command": [
            "python benchmarks/paraphrase_generators.py generate -o build/generators",
            "python benchmarks/paraphrase_generators.py keep -o build/generators",
            "python benchmarks/paraphrase_generators.py draw -o build/generators",
            command,
        ],
        "machine": "cores",
        "seeds": "1",
        "columns": columns,
        "align": "ll" + "r" * (len(columns) - 2),
        "rows": rows,
        "notes": notes,
    }
    put_result(path, result)
    write_pages()


def main() -> None:
    """Write candidates, what is kept of them, a sheet, or the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    for name in ("generate", "keep", "draw"):
        command = commands.add_parser(name)
        command.add_argument("-o", "--output", type=Path, default=Path("build/generators"))
    commands.choices["generate"].add_argument("--rows", type=int, default=34, help="sentences of each kind of text")
    commands.choices["generate"].add_argument("--seed", type=int, default=52)
    commands.choices["generate"].add_argument("--free", action="store_true", help="other sentences, to choose by")
    counting = commands.add_parser("count")
    counting.add_argument("folder", type=Path)
    counting.add_argument("sheets", type=Path, nargs="+")
    counting.add_argument("--page", type=Path)
    options = parser.parse_args()
    if options.command == "generate":
        generate(options.rows, options.seed, options.free, options.output)
    elif options.command == "keep":
        keep(options.output)
    elif options.command == "draw":
        draw(options.output)
    else:
        columns, rows = count(options.folder, options.sheets)
        for cells in (columns, ["---"] * len(columns), *rows):
            print(f"| {' | '.join(cells)} |")
        if options.page:
            sheets = " ".join(map(str, options.sheets))
            command = (
                f"python benchmarks/paraphrase_generators.py count {options.folder} {sheets} --page {options.page}"
            )
            write_page(options.page, command, columns, rows)


if __name__ == "__main__":
    main()
