"""Near-duplicates by letters and by meaning, beside labels of people: MRPC, with questions of Quora among them.

    PARALOOM_DATA=… python benchmarks/semantic_duplicates.py --write

The corpus has both sentences of all pairs of MRPC's training set, and of those duplicate questions of Quora's test set
that are new, in random order. A method finds a pair if it leaves one of its two sentences at most. Of MRPC's pairs
people say which mean the same: the others are hard negatives, since their sentences were chosen for being alike.
*Elsewhere* are sentences that a method drops though no partner in a pair is left.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
from pathlib import Path

from results_pages import FOLDER, put_result

from paraloom import as_pairs

METHODS = (
    *((f"letters, Jaccard {share}", share, None) for share in (0.8, 0.6)),
    *((f"meaning, `english`, cosine {share}", share, "english") for share in (0.95, 0.9, 0.85)),
)
HEADING = "Near-duplicates in meaning"


def labeled_pairs(data: Path) -> list[tuple[str, str, str]]:
    """Kind, and the two sentences."""
    pairs = []
    for line in (data / "mrpc/msr_paraphrase_train.tsv").read_text(encoding="utf-8-sig").splitlines():
        label, _, _, first, second = line.split("\t")
        pairs.append(("mrpc" if label == "1" else "mrpc, different", first, second))
    with gzip.open(data / "quora-50k/test.tsv.gz", "rt", encoding="utf-8") as stream:
        for line in stream:
            first, second, seen = line.rstrip("\n").split("\t")
            if seen == "new":
                pairs.append(("quora", first, second))
    return pairs


def main() -> None:
    """Drop duplicates by each method, and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the page of results")
    options = parser.parse_args()
    pairs = labeled_pairs(Path(os.environ["PARALOOM_DATA"]) / "paraphrase")
    texts = sorted({text for pair in pairs for text in pair[1:]})
    random.Random(1).shuffle(texts)
    kinds = ("mrpc", "quora", "mrpc, different")
    print({kind: sum(kind == one[0] for one in pairs) for kind in kinds}, len(texts))
    rows: list[list[str]] = []
    for name, similarity, encoder in METHODS:
        kept = as_pairs([(text, text) for text in texts]).drop_duplicates(
            similarity=similarity, columns=["src"], encoder=encoder
        )
        left = {row["src"] for row in kept}
        of_pairs = [(kind, first in left, second in left) for kind, first, second in pairs if first != second]
        shares = []
        for kind in kinds:
            of_kind = [not (one and other) for label, one, other in of_pairs if label == kind]
            shares.append(f"{sum(of_kind) / len(of_kind):.1%}")
        beside = {text for _, *both in pairs for text in both if not left.isdisjoint(both)}
        dropped, elsewhere = len(texts) - len(left), sum(text not in beside for text in texts)
        rows.append([name, *shares, f"{dropped:,}", f"{elsewhere:,}"])
        print(" | ".join(rows[-1]), flush=True)
    if options.write:
        put_result(
            FOLDER / "runs.json",
            {
                "heading": HEADING,
                "command": ["python benchmarks/semantic_duplicates.py --write"],
                "machine": "cores",
                "columns": ["", "MRPC, same", "Quora", "MRPC, different", "dropped", "elsewhere"],
                "align": "lrrrrr",
                "rows": rows,
            },
        )


if __name__ == "__main__":
    main()
