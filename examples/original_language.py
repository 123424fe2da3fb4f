"""Write a table of the original languages of a WMT test set, as `sets` for the stage evaluate-translator.

    python examples/original_language.py $PARALOOM_DATA/bitext/wmt-news newstest2018 tr > newstest2018.tr-en.sets.tsv

Until 2018, half of each test set was originally written in English, and that half had the same English sentences in all
language pairs of the year: a sentence that also occurs in another pair's test set was written in English, all others
were not.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from itertools import groupby
from pathlib import Path

CODES = {"cs": "ces", "de": "deu", "tr": "tur"}


def rows_of(folder: Path, language: str, name: str) -> tuple[int, list[str]]:
    """The first row (from 1) of a test set in `LANGUAGE-en.tsv.gz`, and its English sentences."""
    with (folder / f"{language}-en.sets.tsv").open(encoding="utf-8") as file:
        (wanted,) = [row for row in csv.DictReader(file, delimiter="\t") if row["set"].endswith(f"/{name}")]
    first, last = int(wanted["first_row"]), int(wanted["last_row"])
    with gzip.open(folder / f"{language}-en.tsv.gz", "rt", encoding="utf-8") as file:
        return first, [line.rstrip("\n").split("\t")[-1] for line in file][first - 1 : last]


def sets(folder: Path, name: str, language: str) -> list[str]:
    """The lines of the table: runs of rows, named after the direction of the human translation."""
    first, own = rows_of(folder, language, name)
    others = {text for other in CODES if other != language for text in rows_of(folder, other, name)[1]}
    lines = ["set\tfirst_row\tlast_row"]
    for english, run in groupby(enumerate(own, first), lambda numbered: numbered[1] in others):
        numbers = [row for row, _ in run]
        direction = f"eng-{CODES[language]}" if english else f"{CODES[language]}-eng"
        lines.append(f"{direction}\t{numbers[0]}\t{numbers[-1]}")
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder of the wmt-news bitext")
    parser.add_argument("name", help="the test set, such as newstest2018")
    parser.add_argument("language", choices=CODES, help="the foreign language")
    arguments = parser.parse_args()
    print("\n".join(sets(arguments.folder, arguments.name, arguments.language)))


if __name__ == "__main__":
    main()
