"""Scored pairs for the tests of the explorer: made-up sentences, odd and hostile texts, two sources, a null score."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa

from paraloom.core.schema import PAIRS
from paraloom.io import write_table
from paraloom.pairs.scoring.table import score

HOSTILE = [
    ('<script>document.title = "hacked"</script>', "<img src=x onerror=\"document.title='hacked'\">"),
    ("</table><svg onload=alert(1)>", "javascript:alert(1) \" onclick='x' `"),
    ("שלום עולם", "مرحبا بالعالم"),
    ("NUL\x00 and 👩‍👩‍👧", "bell \x07"),
]
_WORDS = "the a old man reads letter station before meeting garden every morning report keys green apples".split()


def toy_pairs(rows: int = 300, seed: int = 3) -> pa.RecordBatch:
    """Pairs with the columns trigram_overlap, bleu1, src_tokens, tgt_tokens and quality, null in the third row."""
    draw = random.Random(seed)
    records = []
    for i in range(rows):
        words = draw.choices(_WORDS, k=draw.randint(4, 12))
        changed = [draw.choice(_WORDS) if draw.random() < 0.3 else word for word in words]
        src, tgt = (" ".join(words), " ".join(changed)) if i >= len(HOSTILE) else HOSTILE[i]
        origin = "news" if draw.random() < 0.7 else "it's <b>"
        record = {"pair_id": f"toy:{i}", "src": src, "tgt": tgt, "src_lang": "en", "tgt_lang": "en", "origin": origin}
        records.append(record)
    batch = score(pa.RecordBatch.from_pylist(records, schema=PAIRS), ["trigram_overlap", "bleu1", "length"])
    quality = [None if i == 2 else round(draw.random(), 3) for i in range(rows)]
    field = pa.field("quality", pa.float32(), metadata={"signature": "toy"})
    return batch.append_column(field, pa.array(quality, pa.float32()))


def write_toy_pairs(path: Path, rows: int = 300) -> Path:
    """Write them to a file."""
    write_table(toy_pairs(rows), path)
    return path
