"""Order and negation: how often an encoder puts a paraphrase above a sentence with one fact changed, and PAWS.

    PARALOOM_DATA=… python benchmarks/word_order.py english english-small /path/to/all-MiniLM-L6-v2-int8

Accuracy: MRPC's right test pairs (a, b), and a with one change, by the rules of `paraloom evaluate lookalikes`: the
share in which b is nearer to a than a changed is. PAWS-Wiki test: area under the ROC curve. 95 % intervals by Wilson
and DeLong. `overlap` is that of rare words and trigrams. An edit keeps nearly all words, a paraphrase does not. A
transformer is faster in int8, as the stage `load-encoder` writes it. `--read N` prints the N changed sentences of each
kind that the last encoder puts highest above the paraphrase, and N of PAWS' wrong pairs.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.core.seeds import generator
from paraloom.core.stats import Estimate, wilson_interval
from paraloom.embed.encoder import open_encoder
from paraloom.evaluate.discrimination import auc
from paraloom.evaluate.sts import System, similarities
from paraloom.evaluate.tfidf import Overlap
from paraloom.io import read_lines
from paraloom.pairs.lookalikes import KINDS, lookalike, names_in


class Contrasts(NamedTuple):
    """What has other meanings in nearly the same words."""

    right: list[tuple[str, str]]  # MRPC's right pairs
    changed: dict[str, list[tuple[str, str, str]]]  # Kind of change → right pairs, and their first side changed
    paws: list[tuple[str, str]]
    is_right: npt.NDArray[np.bool_]  # Whether each pair of PAWS has one meaning


class Margins(NamedTuple):
    """How much nearer a paraphrase is than what differs in one fact."""

    of_kind: dict[str, npt.NDArray[np.float32]]  # Kind of change → cosine with the paraphrase minus with the changed
    paws: npt.NDArray[np.float32]  # Cosines of PAWS' pairs

    @property
    def accuracy(self) -> float:
        """Per cent of the changes that are seen, mean of the kinds."""
        return float(np.mean([100 * (of > 0).mean() for of in self.of_kind.values()]))


def contrasts(data: Path) -> Contrasts:
    """MRPC's right pairs with changes, and PAWS-Wiki."""
    mrpc = [line.split("\t") for line in read_lines(data / "paraphrase/mrpc/msr_paraphrase_test.tsv")]
    right = [(row[3], row[4]) for row in mrpc if row[0] == "1"]
    names, draw = names_in([text for pair in right for text in pair]), generator(1)
    sets: dict[str, list[tuple[str, str, str]]] = {}
    for kind in KINDS:
        changes = [(a, b, lookalike(a, kind, draw, names)) for a, b in right]
        sets[kind] = [(a, b, changed) for a, b, changed in changes if changed]
    paws = [line.split("\t") for line in read_lines(data / "paraphrase/paws-wiki/test.half1.tsv.gz")]
    return Contrasts(right, sets, [(row[1], row[2]) for row in paws], np.array([row[0] == "1" for row in paws]))


def margins(system: System, sets: Contrasts) -> Margins:
    """The margins of a system."""
    first, second = (list(side) for side in zip(*sets.right, strict=True))
    of_right = dict(zip(sets.right, similarities(system, first, second).tolist(), strict=True))
    of_kind = {}
    for kind, rows in sets.changed.items():
        a, _, changed = (list(side) for side in zip(*rows, strict=True))
        right = np.array([of_right[row[:2]] for row in rows], np.float32)
        of_kind[kind] = right - similarities(system, a, changed)
    first, second = (list(side) for side in zip(*sets.paws, strict=True))
    return Margins(of_kind, similarities(system, first, second))


def overlap_of(sets: Contrasts) -> Overlap:
    """The obvious: overlap of words, rare ones first, counted on MRPC."""
    return Overlap.count([text for pair in sets.right for text in pair])


def paws_auc(of: Margins, sets: Contrasts) -> Estimate:
    """The area under the ROC curve of PAWS."""
    return auc(of.paws[sets.is_right], of.paws[~sets.is_right])


def cells(of: Margins, sets: Contrasts) -> list[str]:
    """Mean of the kinds, each kind, and PAWS."""
    result = [f"{of.accuracy:.1f}"]
    for values in of.of_kind.values():
        low, high = wilson_interval(int((values > 0).sum()), len(values))
        result.append(f"{100 * (values > 0).mean():.1f} [{100 * low:.1f}, {100 * high:.1f}]")
    area = paws_auc(of, sets)
    return [*result, f"{area.value:.3f} [{area.low:.3f}, {area.high:.3f}]"]


def read_worst(of: Margins, sets: Contrasts, count: int) -> None:
    """Print the sentences that are farthest on the wrong side."""
    for kind, values in of.of_kind.items():
        for at in np.argsort(values)[:count]:
            a, b, changed = sets.changed[kind][at]
            print(f"{kind} {values[at]:.3f}\n    {a}\n  p {b}\n  c {changed}")
    wrong = np.flatnonzero(~sets.is_right)
    for at in wrong[np.argsort(-of.paws[wrong])[:count]]:
        print(f"PAWS {of.paws[at]:.3f}\n    {sets.paws[at][0]}\n    {sets.paws[at][1]}")


def main() -> None:
    """Print a row for each encoder, and for overlap."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoders", nargs="+")
    parser.add_argument(
        "--read", type=int, default=0, metavar="N", help="print so many of the worst of the last encoder"
    )
    options = parser.parse_args()
    sets = contrasts(Path(os.environ.get("PARALOOM_DATA", "")))
    systems: dict[str, System] = {
        "overlap": overlap_of(sets),
        **{Path(name).name: open_encoder(name) for name in options.encoders},
    }
    counts = (f"{kind} ({len(rows)})" for kind, rows in sets.changed.items())
    print("|  | mean |", " | ".join(counts), f"| PAWS ({len(sets.paws)}) |")
    for name, system in systems.items():
        of = margins(system, sets)
        print("|", name, "|", " | ".join(cells(of, sets)), "|", flush=True)
    read_worst(of, sets, options.read)


if __name__ == "__main__":
    main()
