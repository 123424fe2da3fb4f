"""Which kinds of change can be asked for, of how many sentences is an output kept then, and do readers see that kind?

    export PARALOOM_DATA=/path/to/corpora PAIRS=build/paraphrase-pairs   # of examples/paraphrase_pairs.py
    python benchmarks/kinds_of_change.py keep -o build/changes
    PYTHONPATH=older/src python benchmarks/kinds_of_change.py keep -o build/changes-before
    python benchmarks/kinds_of_change.py draw -o build/changes --before build/changes-before
    python benchmarks/kinds_of_change.py count benchmarks/readings/changes reader-1.tsv reader-2.tsv

`keep` writes what each preset keeps of unpicked sentences of six kinds of text where any change, or one kind of change,
is asked for, and prints of how many sentences. `draw` writes sheet.tsv, outputs that were kept, each once and shuffled
(all of `strict` and any change), key.tsv, which says what was asked for, and the yields; with `--before` also what
another version of the package keeps of the same sentences. A reader writes a table with the columns id, right (1 or 0:
the same meaning in good English) and kinds: all kinds of change that the reader sees, between commas, of word (other
words in place of some), order (words stand in another order), contraction (nothing else differs) and other. `count`
prints how many of those that a reader read are right, and right and of the kind that was asked for, or, where any was,
more than a contraction; with `--page FILE` the table goes into a file of results.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
from itertools import compress, product
from pathlib import Path
from typing import Any

from blind_sheets import Rows, draw_sheet, identifier, rows_of, share, table
from judged_paraphrases import KINDS, PRESETS, sentences
from paraphrase_generators import Remembered
from results_pages import put_result, read_topic, write_pages

from paraloom.api.paraphrase_sources import as_paraphraser, open_selector
from paraloom.api.paraphrasers import Paraphraser
from paraloom.paraphrasing.edits import CHANGES, CONTRACTION, ORDER, WORD
from paraloom.paraphrasing.rewrites import rewrites
from paraloom.paraphrasing.selection_config import CandidateSelection

ANY, RULES = "any", "rules"
HEADING = "Kinds of change"
BEFORE = "before"
"""The older version in the tables."""
COMMAND = "python benchmarks/kinds_of_change.py"
COMMANDS = (
    f"{COMMAND} keep -o build/changes",
    f"git worktree add build/before 75db5ebe; PYTHONPATH=build/before/src {COMMAND} keep -o build/changes-before",
    f"{COMMAND} draw -o build/changes --before build/changes-before",
)

_ADVERBS = r"(?:\((?:RB|ADVP)[^()]*(?:\([^()]*\))*\) )*"
PASSIVE = re.compile(
    rf"\(VB[A-Z]? (?:am|is|are|was|were|be|been|being|'s|'re|'m)\) {_ADVERBS}\(VP {_ADVERBS}\(VBN", re.I
)
END = re.compile(r"[.?!][\"'”]? [\"'“]?[A-Z]")
"""In a tree: a form of "be", adverbs, a participle. In a text: an end of a sentence that another follows."""


def keep(rows: int, seed: int, free: bool, candidates: int, output: Path) -> None:
    """Write the best output of each sentence for each preset and kind of change, and of how many there is one."""
    places = [(kind, text) for kind in KINDS for text in sentences(kind, rows, seed, free)]
    texts = [text for _, text in places]
    groups = as_paraphraser("english").paraphrase(texts, n=candidates)
    judge = open_selector(judge=None, language="en").judge
    assert judge is not None
    remembered, yields = Remembered(judge), dict[str, Any]()
    kept = list[list[str]]()
    for preset in PRESETS:
        yields[preset] = {}
        for change in (ANY, *CHANGES):
            selector = open_selector(preset, judge=None, language="en", change="" if change == ANY else change)
            selector.judge = remembered
            best = [group[0].text if group else "" for group in selector.select(texts, groups, 1).kept]
            yields[preset][change] = [bool(one) for one in best]
            kept += [[preset, change, *row, one] for row, one in zip(places, best, strict=True) if one]
            print(f"| {preset} | {change} | {share(yields[preset][change])} |", flush=True)
    print_others([*dict.fromkeys((row[3], row[4]) for row in kept)])
    output.mkdir(parents=True, exist_ok=True)
    yields["texts"] = [kind for kind, _ in places]
    (output / "yields.json").write_text(json.dumps(yields), encoding="utf-8")
    (output / "kept.json").write_text(json.dumps(kept, ensure_ascii=False, indent=1), encoding="utf-8")


def print_others(pairs: list[tuple[str, str]]) -> None:
    """In how many outputs the voice changes, by the bundled parser, and the number of sentences."""
    texts = [text for pair in pairs for text in pair]
    passives = [len(PASSIVE.findall(tree or "")) for tree in Paraphraser.load("english")._trees(texts)]
    ends = [len(END.findall(text)) for text in texts]
    voices = sum(before != after for before, after in zip(passives[::2], passives[1::2], strict=True))
    splits = sum(before != after for before, after in zip(ends[::2], ends[1::2], strict=True))
    print(f"of {len(pairs)} outputs {voices} have another voice, {splits} another number of sentences")


def draw(folder: Path, number: int, before: Path | None) -> None:
    """Write all outputs of `strict` and any change, so many of each other cell, the key and the yields."""
    pairs, key = dict[str, tuple[str, str]](), list[tuple[str, ...]]()
    strict, loose = PRESETS
    cells = [("now", change, strict) for change in (ANY, WORD, ORDER)] + [("now", ANY, loose)]
    for version, change, preset in [*cells, ("before", ANY, strict)] if before else cells:
        kept = json.loads(((before if before and version == "before" else folder) / "kept.json").read_text("utf-8"))
        ones = sorted((row[2:] for row in kept if row[:2] == [preset, change]), key=lambda row: identifier(*row[1:]))
        for kind, *pair in ones if (change, preset) == (ANY, strict) else ones[: number * (1 + (change == ANY))]:
            pairs[identifier(*pair)] = (pair[0], pair[1])
            by = RULES if pair[1] in {one.text for one in rewrites(pair[0])} else "network"
            key.append((identifier(*pair), kind, preset, change, version, by))
    columns = ("id", "source", "output", "right", "kinds")
    draw_sheet(folder, columns, pairs, (("id", "kind", "preset", "change", "version", "by"), sorted(key)))
    if before is not None:
        shutil.copy(before / "yields.json", folder / "yields-before.json")


def count(folder: Path, sheets: list[Path]) -> tuple[list[str], list[list[str]]]:
    """The table: of how many sentences an output is kept, and of those that were read the shares of each answer."""
    readers = [rows_of(sheet) for sheet in sheets]
    key, rows = table(folder / "key.tsv"), list[list[str]]()
    files = [path for name in ("yields", "yields-before") if (path := folder / f"{name}.json").exists()]
    yields = [json.loads(path.read_text("utf-8")) for path in files]
    texts = yields[0].pop("texts", [])

    def add(asked: tuple[str, str], text: str, name: str, **columns: str) -> None:
        """Add a row of one kind of text, '' for all, of outputs with these cells in the key."""
        of_text = [text in ("", one) for one in texts or [""] * len(yields[0][asked[0]][asked[1]])]
        kept = [share(list(compress(of_version[asked[0]][asked[1]], of_text))) for of_version in yields]
        wanted = {"preset": asked[0], "change": asked[1], "version": "now"} | ({"kind": text} if text else {}) | columns
        ids = [row["id"] for row in key if all(row.get(column, "now") == cell for column, cell in wanted.items())]
        cells = ["" for _ in kept] if columns else kept
        rows.append([*asked, name, *cells, *_answers(readers, ids, asked[1])])

    read = {(row["preset"], row["change"]) for row in key}
    for preset, change in [
        cell
        for cell in product(PRESETS, dict.fromkeys([ANY, *CHANGES, *(row["change"] for row in key)]))
        if cell in read
    ]:
        whole = (preset, change) == (PRESETS[0], ANY)
        for text in dict.fromkeys(texts) if whole else ():
            add((preset, change), text, text)
        add((preset, change), "", "all")
        if whole and len(yields) > 1:
            add((preset, change), "", "all, by rules", by=RULES)
            add((preset, change), "", "all, by the network", by="network")
            add((preset, change), "", f"all, {BEFORE}", version=BEFORE)
    outputs = ["sentences with an output", BEFORE][: len(yields)]
    return ["preset", "asked for", "text", *outputs, "right", "right and of that kind"], rows


def _answers(readers: list[Rows], ids: list[str], change: str) -> list[str]:
    """Shares that are right, and right and of the kind that was asked for, by each reader where they differ."""
    if not ids:
        return ["", ""]
    cells = list[list[str]]()
    for reader in readers:
        read = [reader[one] for one in ids]
        right = [row["right"].strip() == "1" for row in read]
        kinds = [{*map(str.strip, row["kinds"].split(","))} for row in read]
        obeyed = [bool(of_row - {CONTRACTION}) if change == ANY else change in of_row for of_row in kinds]
        both = [all(one) for one in zip(right, obeyed, strict=True)]
        cells.append([share(right), share(both)])
    return ["; ".join(dict.fromkeys(of_readers)) for of_readers in zip(*cells, strict=True)]


def write_page(path: Path, command: str, columns: list[str], rows: list[list[str]]) -> None:
    """Replace the table in a file of results, without the older version; its text and notes stay."""
    known = next((one for one in read_topic(path)["results"] if one.get("heading") == HEADING), {})
    shown = [index for index, column in enumerate(columns) if column != BEFORE]
    result = {
        "heading": HEADING,
        "text": known.get("text", []),
        "command": [*COMMANDS, command],
        "machine": "cores",
        "seeds": "1 (5301)",
        "columns": [columns[index] for index in shown],
        "align": "lll" + "r" * (len(shown) - 3),
        "rows": [[row[index] for index in shown] for row in rows if row[2] != f"all, {BEFORE}"],
        "notes": known.get("notes", []),
    }
    put_result(path, result)
    write_pages()


def main() -> None:
    """Keep outputs by kind of change, write a sheet, or count what readers found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    for name in ("keep", "draw"):
        commands.add_parser(name).add_argument("-o", "--output", type=Path, default=Path("build/changes"))
    keeping = commands.choices["keep"]
    keeping.add_argument("--rows", type=int, default=50, help="sentences of each kind of text (default: %(default)s)")
    keeping.add_argument("--seed", type=int, default=5301)
    keeping.add_argument("--free", action="store_true", help="other sentences, to choose by")
    keeping.add_argument("--candidates", type=int, default=CandidateSelection.candidates, help="(default: %(default)s)")
    commands.choices["draw"].add_argument(
        "--number", type=int, default=20, help="of each kind, twice of any (default: %(default)s)"
    )
    commands.choices["draw"].add_argument("--before", type=Path, help="what another version of the package keeps")
    counting = commands.add_parser("count")
    counting.add_argument("folder", type=Path)
    counting.add_argument("sheets", type=Path, nargs="+")
    counting.add_argument("--page", type=Path)
    options = parser.parse_args()
    if options.command == "keep":
        keep(options.rows, options.seed, options.free, options.candidates, options.output)
    elif options.command == "draw":
        draw(options.output, options.number, options.before)
    else:
        columns, rows = count(options.folder, options.sheets)
        for cells in (columns, ["---"] * len(columns), *rows):
            print(f"| {' | '.join(cells)} |")
        if options.page:
            sheets = " ".join(map(str, options.sheets))
            command = f"{COMMAND} count {options.folder} {sheets} --page {options.page}"
            write_page(options.page, command, columns, rows)


if __name__ == "__main__":
    main()
