"""Write sentences of several kinds of text, German and English, on which `paraloom models fetch` measures a translator.

    python examples/kinds_sample.py $PARALOOM_DATA/bitext > kinds.de-en.tsv

All of them are free to distribute; everyday sentences are in `sample.de-en.tsv` already.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Iterator
from pathlib import Path

from paraloom.core.seeds import generator

KINDS = {
    "help": "gnome-help",
    "essays": "opensource-guide",
    "handbook": "rust-book",
    "commands": "tldr",
    "news": "ntrex",
}
"""Kind of text → its folder: CC BY 3.0, CC BY 4.0, MIT or Apache-2.0, CC BY 4.0, CC BY-SA 4.0."""


def candidates(file: Path) -> Iterator[tuple[str, str]]:
    """Pairs of 6 to 30 German words whose sides have about the same length, each German side once."""
    seen = set()
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            german, english = line.rstrip("\n").split("\t")
            alike = 2 / 3 < len(german) / max(1, len(english)) < 3 / 2
            if 6 <= len(german.split()) <= 30 and alike and german not in seen and '"' not in german + english:
                seen.add(german)
                yield german, english


def main() -> None:
    """Draw the sentences of each kind by seed and print them in the order of the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the bitexts")
    parser.add_argument("--size", type=int, default=60, help="sentences of each kind (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("kind\tde\ten")
    for kind, name in KINDS.items():
        rows = list(candidates(options.folder / name / "de-en.tsv.gz"))
        for row in sorted(generator(options.seed).permutation(len(rows))[: options.size]):
            print("\t".join((kind, *rows[row])))


if __name__ == "__main__":
    main()
