"""How good is a lexicon of back-translations? Compares it with PPDB's synonyms and antonyms; a sheet to judge by hand.

    paraloom research lexicon pairs.parquet -o lexicon.tsv
    python benchmarks/lexicon.py evaluate lexicon.tsv -o lexicon.json
    python benchmarks/lexicon.py draw lexicon.tsv --seed 1 -o sheet.tsv
    python benchmarks/lexicon.py count sheet.tsv

`evaluate` reads $PARALOOM_DATA/phrase/ppdb-lexical, whose pairs are single words: the synonyms and antonyms of PPDB as
counter-fitting uses them, and the pairs of PPDB 1.0 XXXL of Sultan's aligner, many of which are inflections of one
word. An entry is a pair of words, in either direction; `found` is the share of PPDB's pairs that the lexicon has,
`of known words` of those pairs only whose words both occur in it; `in synonyms`, `in XXXL` and `antonyms` are shares of
the entries, the best ones by score first, with 95 % intervals (Wilson). The row `shuffled` pairs the same words by
chance. PPDB is made by pivoting, too, and far from complete: an entry that it lacks is not an error, which is what the
sheet is for. `draw` writes entries, phrases of several words included, with the sentences that they were found in. The
reader fills in `verdict`: k keeps the meaning in this sentence, p partly, w wrong; and `antonym`: y or n.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from paraloom.core.seeds import generator
from paraloom.core.stats import wilson_interval
from paraloom.io.atomic import atomic_write
from paraloom.io.compression import read_lines
from paraloom.io.sheets import read_sheet, sheet_lines

VERDICTS = {"k": "keeps the meaning", "p": "partly", "w": "wrong"}
COLUMNS = ("number", "phrase", "paraphrase", "score", "src", "tgt", "verdict", "antonym")
CUTOFFS = (1000, 10000)

Pair = frozenset[str]


def read_lexicon(path: Path) -> list[dict[str, Any]]:
    """The entries, the best first; of both directions the one that comes first."""
    if path.suffix == ".parquet":
        rows = pq.read_table(path).to_pylist()
    else:
        header, *lines = (line.split("\t") for line in read_lines(path))
        rows = [dict(zip(header, cells, strict=True)) for cells in lines]
    rows.sort(key=lambda row: (-float(row["score"]), -int(row["count"]), row["phrase"], row["paraphrase"]))
    distinct: dict[Pair, dict[str, Any]] = {}
    for row in rows:
        distinct.setdefault(frozenset((row["phrase"], row["paraphrase"])), row)
    return list(distinct.values())


def read_ppdb(folder: Path) -> dict[str, set[Pair]]:
    """Pairs of two different words: synonyms, antonyms, and those of XXXL."""
    texts = {
        "synonyms": gzip.decompress((folder / "ppdb_synonyms.txt.gz").read_bytes()).decode(),
        "antonyms": (folder / "ppdb_antonyms.txt").read_text(encoding="utf-8"),
        "XXXL": gzip.decompress((folder / "ppdb-1.0-xxxl-lexical.pairs.tsv.gz").read_bytes()).decode(),
    }
    pairs = {name: (line.lower().split() for line in text.splitlines()) for name, text in texts.items()}
    return {name: {frozenset(pair) for pair in lines if len(set(pair)) == 2} for name, lines in pairs.items()}


def share(count: int, total: int) -> dict[str, float | int]:
    """A share with its interval."""
    low, high = wilson_interval(count, total) if total else (0.0, 1.0)
    return {"share": count / total if total else 0.0, "low": low, "high": high, "count": count, "n": total}


def measure(entries: list[Pair], ppdb: dict[str, set[Pair]]) -> dict[str, Any]:
    """All figures of a list of entries."""
    distinct = set(entries)
    words = {word for entry in distinct for word in entry}
    known = {pair for pair in ppdb["synonyms"] if pair <= words}
    return {
        "entries": len(distinct),
        "found": share(len(distinct & ppdb["synonyms"]), len(ppdb["synonyms"])),
        "found of known words": share(len(distinct & known), len(known)),
        "in synonyms": share(len(distinct & ppdb["synonyms"]), len(distinct)),
        "in XXXL": share(len(distinct & ppdb["XXXL"]), len(distinct)),
        "antonyms": share(len(distinct & ppdb["antonyms"]), len(distinct)),
    }


def shuffled(entries: list[Pair], seed: int) -> list[Pair]:
    """The same words, as often, paired by chance."""
    sides = [sorted(entry) for entry in entries]
    order = generator(seed).permutation(len(sides))
    pairs = (frozenset((sides[i][0], sides[j][1])) for i, j in enumerate(order))
    return [pair for pair in pairs if len(pair) == 2]


def evaluate(lexicon: Path, folder: Path, output: Path | None, seed: int) -> None:
    """Print the table."""
    rows = read_lexicon(lexicon)
    entries = [
        frozenset((row["phrase"], row["paraphrase"]))
        for row in rows
        if " " not in row["phrase"] and " " not in row["paraphrase"]
    ]
    if not entries:
        raise SystemExit(f"{lexicon} has no entry of two words")
    ppdb = read_ppdb(folder)
    table = {f"best {cutoff:,}": measure(entries[:cutoff], ppdb) for cutoff in CUTOFFS if cutoff < len(entries)}
    table |= {"all": measure(entries, ppdb), "shuffled": measure(shuffled(entries, seed), ppdb)}
    names = ("found", "found of known words", "in synonyms", "in XXXL", "antonyms")
    print(f"{len(rows):,} entries in either direction, {len(entries):,} of them of two single words")
    print(f"| | entries | {' | '.join(names)} |\n| --- |" + " ---: |" * (len(names) + 1))
    for name, figures in table.items():
        cells = [_cell(figures[column]) for column in names]
        print(f"| {name} | {figures['entries']:,} | {' | '.join(cells)} |")
    if output is not None:
        with atomic_write(output) as temporary:
            temporary.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


def draw(lexicon: Path, output: Path, size: int, seed: int, best: int) -> None:
    """Write a sheet of entries that are drawn by seed, all as likely."""
    if output.exists():
        raise SystemExit(f"{output} exists already: name another file, or remove it")
    rows = read_lexicon(lexicon)[: best or None]
    drawn = generator(seed).permutation(len(rows))[:size]
    with atomic_write(output) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        cells = (
            [" ".join(str(rows[index][name]).split()) for name in ("phrase", "paraphrase", "score", "src", "tgt")]
            for index in drawn
        )
        file.writelines(sheet_lines(COLUMNS, ((number, *row, "", "") for number, row in enumerate(cells, start=1))))
    print(f"{len(drawn)} entries to judge in {output}")


def count(sheets: Iterable[Path]) -> None:
    """Print the shares of a sheet that was filled in."""
    for sheet in sheets:
        rows = read_sheet(sheet, COLUMNS, kind="sheet of entries", remedy="Give a sheet that `draw` wrote.")
        for line, row in enumerate(rows, start=2):
            if row["verdict"] not in VERDICTS or row["antonym"] not in ("y", "n"):
                raise SystemExit(f"{sheet}, line {line}: expected a verdict ({', '.join(VERDICTS)}) and antonym (y, n)")
        print(f"{sheet.name}: {len(rows)} entries")
        for verdict, label in VERDICTS.items():
            print(f"{label}: {_cell(share(sum(row['verdict'] == verdict for row in rows), len(rows)))}")
        print(f"antonyms: {_cell(share(sum(row['antonym'] == 'y' for row in rows), len(rows)))}")


def _cell(figures: dict[str, float | int]) -> str:
    return f"{figures['share']:.2%} [{figures['low']:.2%}, {figures['high']:.2%}]"


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    evaluating = commands.add_parser("evaluate")
    evaluating.add_argument("lexicon", type=Path)
    evaluating.add_argument("--seed", type=int, default=1, help="of the row 'shuffled'")
    evaluating.add_argument("-o", "--output", type=Path, help="write the table as JSON")
    drawing = commands.add_parser("draw")
    drawing.add_argument("lexicon", type=Path)
    drawing.add_argument("--size", type=int, default=100)
    drawing.add_argument("--best", type=int, default=0, help="draw from so many entries with the best scores; 0: all")
    drawing.add_argument("--seed", type=int, default=1)
    drawing.add_argument("-o", "--output", type=Path, default=Path("sheet.tsv"))
    counting = commands.add_parser("count")
    counting.add_argument("sheets", type=Path, nargs="+")
    arguments = parser.parse_args()
    if arguments.command == "evaluate":
        folder = Path(os.environ["PARALOOM_DATA"]) / "phrase/ppdb-lexical"
        evaluate(arguments.lexicon, folder, arguments.output, arguments.seed)
    elif arguments.command == "draw":
        draw(arguments.lexicon, arguments.output, arguments.size, arguments.seed, arguments.best)
    else:
        count(arguments.sheets)


if __name__ == "__main__":
    main()
