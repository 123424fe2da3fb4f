"""Which generator gives paraphrases that are right? Compares them on the same unpicked sentences, after one selection.

    export PARALOOM_DATA=/path/to/corpora PAIRS=build/paraphrase-pairs   # of examples/paraphrase_pairs.py
    python benchmarks/paraphrase_generators.py generate -o build/generators
    python benchmarks/paraphrase_generators.py draw -o build/generators
    python benchmarks/paraphrase_generators.py count benchmarks/readings/generators reader-1.tsv reader-2.tsv

`generate` writes what `strict` and `loose` keep of each generator and of several together, and their seconds. `draw`
writes the sheet of some outputs of each, each pair once and shuffled, and into key.tsv which cells hold it; the outputs
that a limit leaves out are in the key, without an identifier. A reader writes id, right (the same meaning in good
English) and different (in more than punctuation, case, an article or a contraction), 1 or 0. `count --page FILE` puts
the table into a file of results.
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
from judged_paraphrases import KINDS, PRESETS, sentences
from results_pages import put_result, write_pages

from paraloom.api.paraphrase_sources import RoundTripParaphraser, open_selector
from paraloom.api.paraphrasers import Paraphraser
from paraloom.core.digests import digest
from paraloom.core.protocols import ParaphraseLike, Variant
from paraloom.paraphrasing.rewrites import rewrites
from paraloom.paraphrasing.selection import JudgeLike, without_selection
from paraloom.paraphrasing.selection_config import CandidateSelection

WORD, RULES, NETWORK, TRIP, MODEL = "one word", "rules", "network", "round trip", "language model"
POOLS = ((RULES, NETWORK), (RULES, NETWORK, TRIP), (RULES, NETWORK, MODEL))
"""Generators whose candidates are put together."""

UNJUDGED, FIRST = f"{MODEL}, not judged", f"{MODEL}, not selected"
"""Its candidates without the judge, as answers of endpoints are selected, and the first ones, whatever the preset."""

WRITTEN = Path(__file__).parent / "readings/generators/language-model.tsv"
"""What a large language model wrote: digest of a sentence, paraphrase, the best first."""

PIVOTS = 6
"""Translations on the way, and of each the translations back."""

HEADING = "Other generators"
UNREAD = "-"
"""In the key, in place of the identifier of an output that is not on the sheet."""

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


def written(texts: list[str]) -> list[list[Variant]]:
    """What stands in the file for each text. Costs are unknown."""
    of_text = defaultdict[str, list[Variant]](list)
    for row in table(WRITTEN):
        of_text[row["sentence"]].append(Variant(row["paraphrase"], math.nan, 0))
    return [of_text[digest(text)[:16]] for text in texts]


def generate(rows: int, seed: int, free: bool, output: Path) -> None:
    """Write the best candidate that each preset keeps of each generator, and the seconds of its candidates."""
    rows_of_kinds = [(kind, text) for kind in KINDS for text in sentences(kind, rows, seed, free)]
    texts = [text for _, text in rows_of_kinds]
    n, table = CandidateSelection.candidates, synonyms(Path(os.environ["PARALOOM_DATA"]))
    network = Paraphraser.load("english")
    trip = RoundTripParaphraser("en-de", "de-en", pivots=PIVOTS, decode=f"beam:{PIVOTS}")
    generators: dict[str, Callable[[], Groups]] = {
        "copy": lambda: [[Variant(text, 0.0, 1)] for text in texts],
        WORD: lambda: [substituted(text, table, n) for text in texts],
        RULES: lambda: [rewrites(text) for text in texts],
        NETWORK: lambda: network.candidates(texts, n=n),
        TRIP: lambda: trip.paraphrase(texts, n=n),
    }
    candidates_of, seconds = dict[str, Groups](), dict[str, float]()
    for name, generator in generators.items():
        start = time.process_time()
        candidates_of[name] = generator()
        seconds[name] = (time.process_time() - start) / len(texts)
    candidates_of |= dict.fromkeys((MODEL, UNJUDGED, FIRST), written(texts))
    for parts in POOLS:
        groups_of = zip(*(candidates_of[part] for part in parts), strict=True)
        candidates_of[" + ".join(parts)] = [[one for group in groups for one in group] for groups in groups_of]
    selectors = {preset: open_selector(preset, judge=None, language="en") for preset in PRESETS}
    judge = next(selector.judge for selector in selectors.values())
    remembered = None if judge is None else Remembered(judge)
    kept: dict[str, dict[str, list[list[str | None]]]] = {}
    for name, groups in candidates_of.items():
        kept[name] = {}
        for preset, selector in selectors.items():
            selector.judge = None if name == UNJUDGED else remembered
            selection = without_selection(texts, groups, 1) if name == FIRST else selector.select(texts, groups, 1)
            best = [group[0].text if group else None for group in selection.kept]
            kept[name][preset] = [[*row, one] for row, one in zip(rows_of_kinds, best, strict=True)]
            total = sum(map(len, groups))
            dropped = (f"{count / total:.0%} {reason}" for reason, count in selection.dropped.most_common(4))
            print(f"{name}, {preset}: {sum(map(bool, best))} of {len(texts)}; {', '.join(dropped)}", flush=True)
    output.mkdir(parents=True, exist_ok=True)
    (output / "kept.json").write_text(json.dumps(kept, ensure_ascii=False, indent=1), encoding="utf-8")
    (output / "seconds.json").write_text(json.dumps(seconds, indent=1), encoding="utf-8")


def draw(output: Path, number: int) -> None:
    """Write the sheet of so many outputs of each generator and preset at most, the same ones where they share some."""
    pairs, rows = dict[str, tuple[str, str]](), list[list[str]]()
    for name, presets in json.loads((output / "kept.json").read_text("utf-8")).items():
        for preset, ones in presets.items():
            chosen = {one: pair for pair in ones if pair[2] for one in [identifier(*pair[1:])]}
            chosen = dict(sorted(chosen.items())[:number])
            pairs |= {one: (text, tgt) for one, (_, text, tgt) in chosen.items()}
            for kind, text, tgt in ones:
                one = identifier(text, tgt) if tgt else ""
                rows.append([one if not one or one in chosen else UNREAD, kind, preset, name])
    draw_sheet(output, ("id", "source", "output", "right", "different"), pairs,
               (("id", "kind", "preset", "generator"), rows))  # fmt: skip


def count(folder: Path, sheets: list[Path]) -> tuple[list[str], list[list[str]]]:
    """The table: of how many sentences each preset keeps an output, and the shares of what readers say of these."""
    readers = [rows_of(sheet) for sheet in sheets]
    key, seconds = table(folder / "key.tsv"), json.loads((folder / "seconds.json").read_text("utf-8"))
    rows = []
    for generator in dict.fromkeys(row["generator"] for row in key):
        cells = [generator]
        for preset in PRESETS:
            cell = [row["id"] for row in key if (row["generator"], row["preset"]) == (generator, preset)]
            of_readers = [[reader[one] for one in cell if one not in ("", UNREAD)] for reader in readers]
            right = [[row["right"] == "1" for row in read] for read in of_readers]
            both = [[row["right"] == row["different"] == "1" for row in read] for read in of_readers]
            cells += [share([bool(one) for one in cell]), shares(right), shares(both)]
        if " + " in generator and any(cells[1:] == row[1:-1] for row in rows):
            continue  # a pool of which the presets keep the same as of a smaller one
        parts = generator.split(" + ")
        known = all(part in seconds for part in parts)
        rows.append([*cells, f"{sum(seconds[part] for part in parts):.3f}" if known else "–"])
    names = ("sentences with an output", "right", "right and different")
    return [
        "candidates of",
        *(f"`{preset}`: {name}" for preset in PRESETS for name in names),
        "seconds a sentence",
    ], rows


def shares(verdicts: Sequence[Sequence[bool]]) -> str:
    """Per cent by reader, once where they agree, with 95 % intervals, and of how many."""
    if not verdicts[0]:
        return "–"
    return "; ".join(dict.fromkeys(share(one).partition(": ")[2] for one in verdicts)) + f" of {len(verdicts[0])}"


def write_page(path: Path, command: str, columns: list[str], rows: list[list[str]]) -> None:
    """Replace the table in a file of results; its text and notes stay."""
    result = {
        "heading": HEADING,
        "command": [
            "python benchmarks/paraphrase_generators.py generate -o build/generators",
            "python benchmarks/paraphrase_generators.py draw -o build/generators",
            command,
        ],
        "machine": "cores",
        "seeds": "1",
        "columns": columns,
        "align": "l" + "r" * (len(columns) - 1),
        "rows": rows,
    }
    put_result(path, result)
    write_pages()


def main() -> None:
    """Write what is kept, a sheet, or the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    for name in ("generate", "draw"):
        command = commands.add_parser(name)
        command.add_argument("-o", "--output", type=Path, default=Path("build/generators"))
    commands.choices["generate"].add_argument("--rows", type=int, default=34, help="sentences of each kind of text")
    commands.choices["generate"].add_argument("--seed", type=int, default=5252)
    commands.choices["generate"].add_argument("--free", action="store_true", help="other sentences, to choose by")
    commands.choices["draw"].add_argument("--number", type=int, default=60, help="of each cell (default: %(default)s)")
    counting = commands.add_parser("count")
    counting.add_argument("folder", type=Path)
    counting.add_argument("sheets", type=Path, nargs="+")
    counting.add_argument("--page", type=Path)
    options = parser.parse_args()
    if options.command == "generate":
        generate(options.rows, options.seed, options.free, options.output)
    elif options.command == "draw":
        draw(options.output, options.number)
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
