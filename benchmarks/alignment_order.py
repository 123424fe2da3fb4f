"""Measure sentence alignment of texts that are only locally parallel: a fifth of the passages moved or dropped.

    PARALOOM_DATA=… python benchmarks/alignment_order.py --seeds 1 2 3

Passages of 4 to 12 gold beads are moved to another place, or dropped, on one side of the text; the gold beads move with
them.  A tenth of the beads is moved, a tenth dropped.  The clean text is aligned in the same ways.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from statistics import mean

sys.path.insert(0, str(Path(__file__).parent))
from alignment_priors import GoldText, bible, help_pages, joined_and_dropped, magazine, with_vectors, yearbook

from paraloom.alignment.aligner_config import AlignerConfig
from paraloom.alignment.methods import aligner_config
from paraloom.alignment.nearest_words import encoder_lexicon
from paraloom.alignment.sentences import align_pair
from paraloom.alignment.text_pairs import TextPair
from paraloom.bundled import ALIGNMENT_ENCODER
from paraloom.core.beads import MAX_BEAD_SIZE, Bead
from paraloom.embed.encoder import Encoder
from paraloom.evaluate.alignment import AlignmentScore

# Gold beads of a passage, and the share of the beads that is moved, and that is dropped.
PASSAGE, SHARE = (4, 12), 0.1


def passages(text: GoldText, rng: random.Random) -> list[tuple[range, range]]:
    """Divide both texts into passages of some gold beads, where no gold bead crosses; the ranges of their sentences."""
    cuts = list(_cuts(text))
    ranges = []
    start, size = (0, 0), rng.randint(*PASSAGE)
    for number, end in enumerate(cuts, 1):
        size -= 1
        if size <= 0 or number == len(cuts):
            ranges.append((range(start[0], end[0]), range(start[1], end[1])))
            start, size = end, rng.randint(*PASSAGE)
    return ranges


def _cuts(text: GoldText) -> Iterator[tuple[int, int]]:
    """The ends of gold beads that no other gold bead crosses, and the end of the texts."""
    end = (0, 0)
    for index, bead in enumerate(text.gold):
        end = (max((*bead.source, end[0] - 1)) + 1, max((*bead.target, end[1] - 1)) + 1)
        rest = text.gold[index + 1 :]
        if rest and all(
            min(side, default=last) >= last for bead in rest for side, last in zip(bead[:2], end, strict=True)
        ):
            yield end
    yield len(text.pair.source), len(text.pair.target)


def disordered(text: GoldText, seed: int, moved: float = SHARE, dropped: float = SHARE) -> GoldText:
    """Move and drop random passages on one side, until these shares of the source sentences are reached.

    Args:
        text: A text whose passages are in the same order on both sides.
        seed: Of the passages, their sides, and where they go.
        moved: Share of the sentences in passages that are moved.
        dropped: Share of the sentences in passages that are dropped.
    """
    rng = random.Random(seed)
    ranges = passages(text, rng)
    orders = [list(range(len(ranges))), list(range(len(ranges)))]
    waiting = list(range(len(ranges)))
    rng.shuffle(waiting)
    for share, change in ((moved, _move), (dropped, _drop)):
        sentences = 0
        while waiting and sentences < share * len(text.pair.source):
            passage = waiting.pop()
            sentences += len(ranges[passage][0])
            change(orders[rng.randrange(2)], passage, rng)
    return _rearranged(text, ranges, orders)


def _move(order: list[int], passage: int, rng: random.Random) -> None:
    index = order.index(passage)
    del order[index]
    places = [new for new in range(len(order) + 1) if new != index]
    order.insert(rng.choice(places), passage)


def _drop(order: list[int], passage: int, rng: random.Random) -> None:
    order.remove(passage)


def _rearranged(text: GoldText, ranges: Sequence[tuple[range, range]], orders: Sequence[Sequence[int]]) -> GoldText:
    """The text with the passages of each side in the given order, and its gold beads in that of the source."""
    pair = text.pair
    rows = [[row for passage in orders[side] for row in ranges[passage][side]] for side in (0, 1)]
    places = [{row: index for index, row in enumerate(side)} for side in rows]
    gold: list[Bead] = []
    for bead in text.gold:
        source, target = (tuple(places[side][row] for row in bead[side] if row in places[side]) for side in (0, 1))
        if source and target:
            gold.append(Bead(source, target))
        else:
            gold += [Bead((row,), ()) for row in source] + [Bead((), (row,)) for row in target]
    gold.sort(key=lambda bead: (bead.source or (len(rows[0]),), bead.target))
    shown = TextPair(
        [pair.source[row] for row in rows[0]],
        [pair.target[row] for row in rows[1]],
        [[translation[row] for row in rows[0]] for translation in pair.source_translations],
        [[translation[row] for row in rows[1]] for translation in pair.target_translations],
    )
    return GoldText(shown, gold)


def joined_pages(data: Path, language: str, first: int, count: int) -> GoldText:
    """Some help pages below each other."""
    pages = help_pages(data, language, first, count)
    source: list[str] = []
    target: list[str] = []
    gold = []
    for page in pages:
        gold += [
            Bead(tuple(len(source) + i for i in bead.source), tuple(len(target) + j for j in bead.target))
            for bead in page.gold
        ]
        source += page.pair.source
        target += page.pair.target
    return GoldText(TextPair(source, target), gold)


def news(data: Path, first: int, count: int) -> GoldText:
    """German and English news, some lines joined and some dropped."""
    with gzip.open(data / "bitext" / "wmt-news" / "de-en.tsv.gz", "rt", encoding="utf-8", newline="\n") as lines:
        rows = [line.rstrip("\n").split("\t")[:2] for line in islice(lines, first, first + count)]
    return joined_and_dropped([(row[0], row[1]) for row in rows], random.Random(first))


TEXTS: dict[str, Callable[[Path], GoldText]] = {
    "yearbook": yearbook,
    "yearbook, europarllight": lambda data: yearbook(data, "europarllight"),
    "yearbook, Google": lambda data: yearbook(data, "google"),
    "magazine": magazine,
    "help de": lambda data: joined_pages(data, "de", 0, 40),
    "help ko": lambda data: joined_pages(data, "ko", 0, 40),
    "news de": lambda data: news(data, 0, 600),
    "news de, 4,000 lines": lambda data: news(data, 0, 4000),
    "Bible": lambda data: bible(data, 500, 1),
}
"""Texts by name.  Constants were chosen on 'yearbook' and 'help de' with seeds from 101 on."""


def configurations(max_bead_size: int) -> dict[str, AlignerConfig]:
    """The rows of the table."""
    config = AlignerConfig(max_bead_size=max_bead_size)
    return {
        "lengths alone": aligner_config("length", max_bead_size),
        "strict": config,
        "local": replace(config, order="local"),
    }


def score(text: GoldText, config: AlignerConfig, encoder: Encoder | None) -> AlignmentScore:
    """Align one text, with what `paraloom align sentences` takes from an encoder, and score its beads."""
    pair, lexicons = text.pair, []
    if encoder is not None and config.word_weight > 0:
        lexicons = encoder_lexicon(encoder, [pair.source], [pair.target])
        pair = pair if pair.source_translations else with_vectors(pair, encoder)
    result = AlignmentScore()
    result.add(text.gold, align_pair(pair, config, lexicons))
    return result


def main() -> None:
    """Print a line for each text and way of aligning it: clean, then disordered; and the peak of memory so far."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = [name for name in TEXTS if "lines" not in name]
    parser.add_argument("--texts", nargs="+", choices=list(TEXTS), default=default)
    parser.add_argument("--rows", nargs="+", choices=list(configurations(1)), default=list(configurations(1)))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="of the passages")
    parser.add_argument("--moved", type=float, default=SHARE, help="share of the sentences that are moved")
    parser.add_argument("--dropped", type=float, default=SHARE, help="share of the sentences that are dropped")
    parser.add_argument("--encoder", default=ALIGNMENT_ENCODER, help="a bundled name or a folder; none: no encoder")
    parser.add_argument("--max-bead-size", type=int, default=MAX_BEAD_SIZE)
    arguments = parser.parse_args()
    data = Path(os.environ.get("PARALOOM_DATA", ""))
    if not (data / "align").is_dir():
        sys.exit(f"{data / 'align'} not found: set PARALOOM_DATA to the folder of real corpora")
    encoder = None if arguments.encoder == "none" else Encoder.load(arguments.encoder)
    settings = configurations(arguments.max_bead_size)
    print(
        f"{'text':24}{'order':15}{'clean: strict / lax':>22}{'disordered: strict':>26}{'lax':>24}"
        f"{'seconds':>9}{'MiB':>7}"
    )
    for name in arguments.texts:
        clean = TEXTS[name](data)
        texts = [disordered(clean, seed, arguments.moved, arguments.dropped) for seed in arguments.seeds]
        for row in arguments.rows:
            start = time.perf_counter()
            base, *scores = (score(text, settings[row], encoder) for text in (clean, *texts))
            seconds = (time.perf_counter() - start) / (1 + len(texts))
            strict, lax = (_with_range([getattr(result, kind).f1 for result in scores]) for kind in ("strict", "lax"))
            print(
                f"{name:24}{row:15}{base.strict.f1:12.3f} / {base.lax.f1:.3f}{strict:>26}{lax:>24}{seconds:9.1f}"
                f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:7,.0f}",
                flush=True,
            )


def _with_range(figures: Sequence[float]) -> str:
    return f"{mean(figures):.3f} ({min(figures):.3f} to {max(figures):.3f})"


if __name__ == "__main__":
    main()
