"""PNMT Table 6: how many mini-batches negatives are searched in."""

from __future__ import annotations

from collections.abc import Callable

from paraloom.evaluate.published import YEARS_MEAN
from paraloom.papers.conditions import PNMT, conditions
from paraloom.papers.encoder_baselines import about_encoders, baseline_rows, judged
from paraloom.papers.pnmt.trainings import PNMT_EPOCHS, POOLED, SINGLE, SPECS, pnmt_training, trained_specs
from paraloom.papers.published import published_figures
from paraloom.papers.study import Study
from paraloom.papers.tables import ReproducedTable, Row, reproduced
from paraloom.papers.trainings import train, untrained

_MEGABATCHES = (1, 20, 40)


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


def _megabatch_key(spec: str, size: int) -> str:
    return f"{spec}, M = {size}"


TABLES: dict[str, Callable[[Study, str], ReproducedTable]] = {"pnmt-6": megabatches}
"""Name of a table → the function that makes it."""
