"""Beads as pairs of texts."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from paraloom.core.beads import Bead, join_sentences
from paraloom.core.schema import PAIRS


def pairs_of_beads(
    beads: Sequence[Bead],
    texts: tuple[Sequence[str], Sequence[str]],
    languages: Sequence[str],
    origin: str,
    *,
    separator: str,
    first: int,
) -> pa.Table:
    """Beads with two sides as PAIRS; ids are the origin and the first row of the source, which counts from `first`."""
    both = [bead for bead in beads if bead.source and bead.target]
    columns = {
        "pair_id": [f"{origin}{separator}{bead.source[0] + first}" for bead in both],
        "src": [join_sentences(texts[0], bead.source) for bead in both],
        "tgt": [join_sentences(texts[1], bead.target) for bead in both],
    }
    constant = {"src_lang": languages[0], "tgt_lang": languages[1], "origin": origin}
    return pa.table(columns | {name: [value] * len(both) for name, value in constant.items()}, schema=PAIRS)
