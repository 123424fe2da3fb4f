"""A bilingual lexicon in a file, as evidence for the aligner: words and what they are in the other language."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from paraloom.align.lexicon import Lexicon
from paraloom.core.errors import DataError
from paraloom.io import read_lines
from paraloom.text.tokens import tokenize


def read_lexicon(path: str | Path) -> tuple[Lexicon, Lexicon]:
    """The lexicon of a file, from source to target and back.

    A line has a source word and a target word between tabs, and perhaps a probability; or it is hunalign's,
    `target @ source`, of which entries of several words are left out.  The translations of a word are equally likely
    where nothing else is said.
    Raises DataError that names file and row for another line, and for a file without an entry of one word each.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "de-en.tsv"
    >>> _ = file.write_text("Hund\\tdog\\nHund\\thound\\n")
    >>> read_lexicon(file)[0].shares.tolist()
    [0.5, 0.5]
    """
    words: list[str] = []
    others: list[str] = []
    weights: list[float] = []
    for row, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        fields = [field.strip() for field in line.rstrip("\n").split("\t")]
        if len(fields) == 1 and " @ " in line:
            target, _, source = line.partition(" @ ")
            fields = [source.strip(), target.strip()]
        try:
            source, target, *rest = fields
            weight = float(rest[0]) if rest else 1.0
        except ValueError:
            raise DataError(
                f"'{line.strip()[:60]}' is no entry of a lexicon",
                file=str(path),
                row=row,
                remedy="A line has a source word, a target word and perhaps a probability, between tabs.",
            ) from None
        words.append(source)
        others.append(target)
        weights.append(max(weight, 0.0))
    ours, theirs = tokenize(words), tokenize(others)
    single = (ours.lengths == 1) & (theirs.lengths == 1) & (np.array(weights) > 0)
    if not single.any():
        raise DataError("there is no entry of one word on each side", file=str(path))
    pairs = list(
        zip(
            ours.ids[ours.offsets[:-1][single]].tolist(),
            theirs.ids[theirs.offsets[:-1][single]].tolist(),
            np.array(weights)[single].tolist(),
            strict=True,
        )
    )
    return _lexicon(pairs), _lexicon([(b, a, weight) for a, b, weight in pairs])


def _lexicon(pairs: list[tuple[int, int, float]]) -> Lexicon:
    table: dict[int, dict[int, float]] = defaultdict(dict)
    for word, other, weight in pairs:
        table[word][other] = max(weight, table[word].get(other, 0.0))
    words = np.array(sorted(table), np.uint64)
    entries = [sorted(table[int(word)].items()) for word in words]
    starts = np.concatenate([[0], np.cumsum([len(each) for each in entries])]).astype(np.int64)
    others = np.array([other for each in entries for other, _ in each], np.uint64)
    shares = [weight / sum(value for _, value in each) for each in entries for _, weight in each]
    return Lexicon(words, starts, others, np.array(shares, np.float32))
