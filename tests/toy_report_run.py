"""A small run folder, written by hand: every kind of stage, rejected rows, texts that would break a careless page."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pyarrow as pa

from paraloom.core.protocols import Variant
from paraloom.core.schema import PAIRS
from paraloom.evaluate.sts import STSResult, STSRow
from paraloom.io import write_corpus
from paraloom.mt.costs import CostDistribution
from paraloom.pairs.backtranslation import pair_translations
from paraloom.pairs.filtering.filters import Criteria, select
from paraloom.pairs.scoring.table import score

_OPENINGS = ["The old man", "A girl in a red coat", "My colleague", "Nobody", "The committee", "A tired nurse", "She"]
_VERBS = ["reads", "sells", "is looking for", "has forgotten", "wrote about", "bought", "carries"]
_OBJECTS = ["the letter", "three green apples", "a bicycle", "the way home", "her keys", "an answer", "the new report"]
_PLACES = ["", "at the station", "before the meeting", "in the garden", "every morning", "without a word", "in Prague"]
_SWAPS = {
    "The old man": "An elderly man", "My colleague": "My co-worker", "is looking for": "seeks",
    "bought": "purchased", "carries": "is carrying", "the letter": "a letter", "her keys": "the keys",
    "at the station": "at the train station", "before the meeting": "ahead of the session",
    "every morning": "each morning", "the new report": "the latest report",
}  # fmt: skip
ODD = [
    ("<script>alert(1)</script> & co.", "<b>bold</b>"),
    ("שלום עולם", "مرحبا بالعالم"),
    ("NUL\x00 and 👩‍👩‍👧", "bell \x07"),
    ("", "only one side"),
    ("long " * 300, "long " * 200),
]


def make_toy_run(root: Path, rows: int = 400) -> Path:
    """Write the run into `root`, always with the same content."""
    draw = random.Random(7)
    sources, variants = [], []
    for i in range(rows):
        words = [draw.choice(choices) for choices in (_OPENINGS, _VERBS, _OBJECTS, _PLACES)]
        reference = " ".join(filter(None, words)) + "."
        changed = [_SWAPS.get(w, w) if draw.random() < 0.8 else w for w in words]
        if draw.random() < 0.2:
            changed.insert(0, changed.pop() or "then")
        translation = " ".join(filter(None, changed)) + "."
        if i < len(ODD):
            reference, translation = ODD[i]
        sources.append(
            {"pair_id": f"toy:{i}", "src": "…", "tgt": reference, "src_lang": "de", "tgt_lang": "en", "origin": "toy"}
        )
        count = len(translation.split()) + 1
        variants.append([Variant(translation, -count * draw.lognormvariate(-1, 0.5), count)])
    bitext = pa.RecordBatch.from_pylist(sources, schema=PAIRS)
    pairs = pair_translations(bitext, variants, "beam:5", signature="toy|version:1").drop_columns(["_source"])
    scored = score(pairs, ["all"])
    criteria = Criteria(where="trigram_overlap <= 0.7 and tgt_tokens between 3 and 30 and translation_cost < 0.8")
    chosen = select(criteria, scored)
    kept = chosen.filter(chosen.column("keep")).drop_columns(["keep", "reason"])
    rejected = chosen.filter(pa.compute.invert(chosen.column("keep"))).drop_columns(["keep"])
    for folder, corpus in (("10-read", bitext), ("30-backtranslate", pairs), ("40-score", scored), ("50-filter", kept)):
        write_corpus(root / folder, [corpus], kind="PAIRS", shard_rows=150)
    write_corpus(root / "50-filter" / "rejected", [rejected], kind="PAIRS")
    _artifacts(root, draw)
    stages = [
        _stage("10-read", "read", "read-pairs", "source", rows, rows, out=rows, files="bitext.tsv"),
        _stage("20-translator", "translator", "train-translator", "fit", seconds=1234.5, steps=2000),
        _stage("30-backtranslate", "backtranslate", "backtranslate", "map", rows, rows, out=rows, decode="beam:5")
        | {"figures": _costs(draw)},
        _stage("40-score", "score", "score", "map", rows, rows, out=rows, scores=["all"]),
        _stage(
            "50-filter", "filter", "filter", "map", rows, kept.num_rows, rejected.num_rows, kept.num_rows,
            where=criteria.where,
        ),
        _stage("60-encoder", "encoder", "train-encoder", "fit", seconds=71, epochs=2),
        _stage("70-sts", "sts", "evaluate-sts", "fit", seconds=3.2),
        {"name": "publish", "use": "toy:Publish", "state": "to do"},
    ]  # fmt: skip
    summary = {
        "name": "A toy <run>",
        "seed": 7,
        "versions": {"paraloom": "0.1.0", "python": "3.11"},
        "stages": stages,
        "pipeline": 'seed = 7\n\n[[stage]]\nuse = "read-pairs"\nfiles = "bitext.tsv"\n',
    }
    (root / "run.json").write_text(json.dumps(summary), encoding="utf-8")
    return root


def _stage(
    folder: str, name: str, use: str, kind: str, read: int = 0, kept: int = 0, rejected: int = 0, out: int = 0,
    seconds: float = 4.2, **configuration: Any,
) -> dict[str, Any]:  # fmt: skip
    counts = {"read": read, "kept": kept, "rejected": rejected, "failed": 0, "out": out}
    return {
        "folder": folder, "name": name, "use": use, "kind": kind, "counts": counts, "seconds": seconds,
        "digest": "0123456789abcdef" * 4, "configuration": configuration, "state": "done",
        "figures": {"dev_loss": 1.93, "bleu": 36.6} if use == "train-translator" else {},
    }  # fmt: skip


def _costs(draw: random.Random) -> dict[str, Any]:
    """Figures of a stage whose text costs twice what the development text does, in more bins than the chart has."""
    texts = [
        CostDistribution.of(Variant("x", -10 * draw.gammavariate(4, mean / 4), 10) for _ in range(rows))
        for mean, rows in ((0.5, 1000), (1.5, 200))
    ]
    return {
        "development_costs": texts[0].to_dict(),
        "costs": texts[1].to_dict(),
        "warning": "median cost 1.4 <nats>: expect wrong translations",
    }


def _artifacts(root: Path, draw: random.Random) -> None:
    curves = {
        "20-translator": [
            {"step": s, "loss": round(6 * math.exp(-s / 500) + 2.1 + draw.random() * 0.1, 4),
             "dev_loss": round(6 * math.exp(-s / 480) + 1.9, 4), "bleu": round(37 * (1 - math.exp(-s / 600)), 2)}
            for s in range(50, 2001, 50)
        ],
        "60-encoder": [
            {"epoch": 1 + s // 500, "step": s, "loss": 0.3 * math.exp(-s / 300) + 0.02,
             "violations": 0.4 * math.exp(-s / 300)}
            for s in range(10, 1001, 10)
        ] + [{"epoch": 2, "step": 1000, "dev": {"pearson": 71.2}}],
    }  # fmt: skip
    for folder, lines in curves.items():
        artifact = root / folder / "artifact"
        artifact.mkdir(parents=True)
        (artifact / "curve.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    rows = [
        STSRow(group, subset, 750, 60 + 3 * i + j, 58 + 2 * i + j)
        for i, group in enumerate(("2012", "2013", "2014", "2015"))
        for j, subset in enumerate(("headlines", "OnWN", "mean", "all"))
    ] + [STSRow("STS-B", "dev", 1500, 78.51, float("nan"))]
    table = STSResult(tuple(rows), ("PIT/test.tsv",), "sts|similarity:cosine|version:0", "toy encoder")
    (root / "70-sts" / "artifact").mkdir(parents=True)
    (root / "70-sts" / "artifact" / "result.json").write_text(json.dumps(table.to_dict()))
