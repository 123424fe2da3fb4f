"""Small corpora of variants and their references, and iBLEU by sacreBLEU alone."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import sacrebleu

from paraloom.core.schema import PAIRS, VARIANTS
from paraloom.io import write_corpus

Groups = Sequence[tuple[str, Sequence[str]]]

OURS = [
    ("1", ["The dog sleeps.", "A dog is asleep.", "The dog sleeps."]),
    ("2", ["Rain fell all night.", "It rained all night long.", "All night there was rain."]),
    ("3", ["He reads.", "She reads books.", "They read."]),
]
REFERENCES = {"1": "The dog is sleeping.", "2": "It rained the whole night.", "3": "They read."}


def write_variants(folder: Path, groups: Groups, *, parses: Sequence[str | None] | None = None) -> Path:
    rows = [
        dict(zip(VARIANTS.names, (pair_id, rank, text, "m", -2.0 - rank, len(text.split())), strict=True))
        for pair_id, texts in groups
        for rank, text in enumerate(texts)
    ]  # fmt: skip
    batch = pa.RecordBatch.from_pylist(rows, schema=VARIANTS)
    batch = batch.append_column("original_lang", pa.array(["en"] * len(rows)))
    if parses is not None:
        batch = batch.append_column("text_parse", pa.array(parses, pa.string()))
    write_corpus(folder, [batch], kind="VARIANTS")
    return folder


def write_references(folder: Path, references: dict[str, str], *, langs: tuple[str, str] = ("en", "tr")) -> Path:
    rows = [
        {"pair_id": key, "src": "?", "tgt": text, "src_lang": langs[0], "tgt_lang": langs[1], "origin": "x"}
        for key, text in references.items()
    ]
    write_corpus(folder, [pa.RecordBatch.from_pylist(rows, schema=PAIRS)], kind="PAIRS")
    return folder


def plain_ibleu(texts: Sequence[str]) -> float:
    scores = [
        sacrebleu.sentence_bleu(a, [b], lowercase=True).score for a, b in itertools.permutations(texts, 2)
    ]  # fmt: skip
    return 100 - float(np.mean(scores))
