"""PNMT's tables of negatives: how many mini-batches they are searched in (6), and which ones are found (7)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paraloom.core.seeds import generator
from paraloom.embed.encoder import open_encoder
from paraloom.evaluate.published import YEARS_MEAN
from paraloom.io import Corpus
from paraloom.papers.conditions import PNMT, TIME, conditions
from paraloom.papers.encoder_baselines import about_encoders, baseline_rows, judged
from paraloom.papers.pnmt.trainings import PNMT_EPOCHS, POOLED, SINGLE, SPECS, pnmt_training, trained_specs
from paraloom.papers.published import published_figures
from paraloom.papers.study import Study
from paraloom.papers.tables import NOT_MEASURED, ReproducedTable, Row, reproduced
from paraloom.papers.trainings import train, untrained

_MEGABATCHES = (1, 20, 40)
_EXAMPLES = 3
_NEGATIVES = (
    "three examples",
    "cosine of 100 sentences with the nearest of the others; three examples",
    "figures say more than examples",
)


def megabatches(study: Study, name: str) -> ReproducedTable:
    """PNMT Table 6: how many mini-batches negatives are searched in."""
    specs = trained_specs(study, SINGLE)
    corpora = list(study.surface_scored().values())
    trainings = {
        _megabatch_key(spec, size): pnmt_training(study, spec, corpora, study.size_of(SPECS[spec]), megabatch_size=size)
        for size in _MEGABATCHES
        for spec in specs
    }
    measured = train(study, name, trainings).measurements
    rows: list[Row] = [
        (
            f"M = {size}, ours",
            [measured.figure(_megabatch_key(spec, size), YEARS_MEAN) if spec in specs else None for spec in SINGLE],
        )
        for size in _MEGABATCHES
    ]
    starts = {spec: [untrained(_megabatch_key(spec, size)) for size in _MEGABATCHES] for spec in specs}
    rows.append(
        ("untrained", [measured.figure(starts[spec], YEARS_MEAN) if spec in specs else None for spec in SINGLE])
    )
    rows += baseline_rows(measured, [YEARS_MEAN] * len(SINGLE))
    paper = published_figures(name)
    orders = [
        judged(
            measured,
            f"{spec}: M = {more} above M = {fewer}",
            _megabatch_key(spec, more),
            _megabatch_key(spec, fewer),
            paper[f"M = {more}"][SINGLE.index(spec)] - paper[f"M = {fewer}"][SINGLE.index(spec)],
            YEARS_MEAN,
        )
        for more, fewer in ((20, 1), (40, 20), (40, 1))
        for spec in specs
    ]
    return reproduced(
        name,
        rows,
        conditions=[*conditions(study, PNMT, {spec: (SPECS[spec], PNMT_EPOCHS) for spec in specs}), POOLED],
        **about_encoders(study),
        orders=orders,
    )


def negatives(study: Study, name: str) -> ReproducedTable:
    """PNMT Table 7: which negatives mini-batches and mega-batches give, by an encoder of Table 6."""
    corpora = list(study.surface_scored().values())
    spec = "WORD"
    size = _MEGABATCHES[-1]
    key = _megabatch_key(spec, size)
    trained = train(study, name, {key: pnmt_training(study, spec, corpora, study.size, megabatch_size=size)})
    encoder = open_encoder(trained.folders[key][0])
    texts = list(
        dict.fromkeys(
            text
            for folder in trained.selections[key][0]
            for batch in Corpus.open(folder).batches(["src"])
            for text in batch.column("src").to_pylist()
            if 5 <= len(text.split()) <= 15
        )
    )
    order = generator(study.seed).permutation(len(texts))
    texts = [texts[index] for index in order[: 100 * size].tolist()]
    vectors = encoder.encode(texts)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
    cosines = vectors[:100] @ vectors.T
    np.fill_diagonal(cosines, -1)
    rows: list[Row] = []
    examples = []
    nearest = {size: cosines[:, : 100 * size].argmax(axis=1) for size in _MEGABATCHES}
    for size, negative in nearest.items():
        rows.append((f"M = {size}, ours", [float(cosines[np.arange(len(cosines)), negative].mean())]))
    for original in range(min(_EXAMPLES, len(texts))):
        chosen = "; ".join(f"M = {size}: *{texts[negative[original]]}*" for size, negative in nearest.items())
        examples.append(f"*{texts[original]}* {chosen}.")
    paper = " ".join(
        [
            "In the paper, for *sir, i'm just trying to protect.* M = 1: *i mean, colonel*;",
            "M = 20: *i only ask that the baby be safe.*; M = 40: *just trying to survive. on instinct.*",
        ]
    )
    return reproduced(
        name,
        rows,
        notes=[paper, "Ours, the first sentences of a mega-batch:", *examples],
        conditions=[
            *conditions(study, PNMT, {spec: (SPECS[spec], PNMT_EPOCHS)}, test=_NEGATIVES),
            ("encoder", "BLSTM", spec, TIME),
        ],
        baselines={"untrained": NOT_MEASURED, "random": "0 but for chance", "identity": "1 by definition"},
    )


def _megabatch_key(spec: str, size: int) -> str:
    return f"{spec}, M = {size}"


TABLES: dict[str, Callable[[Study, str], ReproducedTable]] = {"pnmt-6": megabatches, "pnmt-7": negatives}
"""Name of a table → the function that makes it."""
