"""How much a filter keeps, and what to do where that is little."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa

from paraloom.bundled import PARAPHRASE_MODEL, bundled_path
from paraloom.core.errors import ParaloomError
from paraloom.core.reasons import is_not_best, is_not_sampled
from paraloom.core.stage import StageContext
from paraloom.io import Corpus
from paraloom.pipeline.definition import Definition, Step
from paraloom.pipeline.result import RunResult, StageResult, rejections

LOW_YIELD = 0.05
"""A filter that keeps a smaller share of its pairs gets a warning."""

FEW_PAIRS = 1_000
"""Pairs below which training an encoder is not suggested."""

PRESET_YIELD = 0.1
"""The same of a preset on pairs that no translator wrote."""

_MIN_ROWS = 20  # of fewer pairs a share says little
_MIN_PRESET_ROWS = 50
_OF_TRANSLATORS = frozenset(["pivot", "reverse_cost", "forward_cost"])
"""Columns of pairs that a translator wrote or was asked about."""

_WRITTEN_OTHERWISE = (
    "Presets are fitted on outputs of small translators. For pairs that people or a large model wrote: paraloom score "
    "PAIRS --with judge,chrf -o scored.parquet; paraloom filter scored.parquet --where 'judge >= 0.5 and chrf <= 90' "
    "-o kept.parquet"
)
_RANKED = ("not: among the ", "not: in decile ")
_COPIES = ("overlap", "chrf", "bleu")


def warn_of_yield(definition: Definition, result: RunResult, travelling: Sequence[str] = ()) -> None:
    """Warn of filters whose conditions keep few of their pairs: which costs most, and what keeps more."""
    folders = {stage.name: stage.folder for stage in result.stages}
    for step, stage in zip(definition.steps, result.stages, strict=False):
        where = getattr(step.stage, "where", "")
        if where and stage.counts.read >= _MIN_ROWS:
            message = _low_yield(step, stage, folders, travelling)
            if message:
                warnings.warn(message, stacklevel=4)


def _low_yield(step: Step, stage: StageResult, folders: Mapping[str, Path], travelling: Sequence[str]) -> str:
    if stage.counts.out >= PRESET_YIELD * stage.counts.read:
        return ""
    written_otherwise = stage.counts.read >= _MIN_PRESET_ROWS and _is_preset_of_others(step, folders)
    enough = PRESET_YIELD if written_otherwise else LOW_YIELD
    reasons = {
        reason.partition(": ")[2]: rows
        for reason, rows in rejections(stage.folder).items()
        if not reason.startswith(_RANKED) and not is_not_sampled(reason) and not is_not_best(reason)
    }
    read = stage.counts.read
    met = read - sum(reasons.values())
    if met >= enough * read:
        return ""
    clause = max(reasons, key=lambda name: reasons[name])
    more = _kept_by_presets(step, folders)
    kept = [f"{name} {rows:,} ({_percent(rows, read)})" for name, rows in more.items() if rows > met]
    presets = f"; the presets would keep: {', '.join(kept)}" if kept else ""
    return (
        f'the filter keeps only {met:,} of {read:,} pairs ({_percent(met, read)}); "{clause}" costs most: '
        f"{reasons[clause]:,}{presets}. {_remedy(clause, bool(kept), travelling, written_otherwise)}"
    )


def _is_preset_of_others(step: Step, folders: Mapping[str, Path]) -> bool:
    """Whether a step filters pairs by a preset that are not known to be a translator's."""
    if not any(where in getattr(step.stage, "where", "") for where in _presets().values()):
        return False
    return not any(_OF_TRANSLATORS.intersection(batch.schema.names) for batch in islice(_rows_before(step, folders), 1))


def _remedy(clause: str, has_presets: bool, travelling: Sequence[str], written_otherwise: bool) -> str:
    if any("expect wrong translations" in text for text in travelling):
        return "The translator does not know this kind of text: use another one, or train one on such text."
    if any("these scores mean little" in text for text in travelling):
        return "The scores are by models of another language than the pairs, so they decide little."
    if written_otherwise:
        return _WRITTEN_OTHERWISE
    if any(name in clause for name in _COPIES) and "<" in clause:
        return "Most are near-copies: more translations of each sentence differ more, such as --decode beam:12,nbest=4."
    preset = "a looser preset, " if has_presets else ""
    return f"For more pairs: {preset}more translations of each sentence (--decode beam:12,nbest=4), another translator."


def _rows_before(step: Step, folders: Mapping[str, Path]) -> Iterator[pa.RecordBatch]:
    """What a step filters: the table that it reads, or the corpus of an earlier step."""
    from paraloom.stages.bitext import ReadScoredPairs

    if isinstance(step.stage, ReadScoredPairs):
        yield from replace(step.stage, where="").batches(StageContext(seed=0))
    elif folder := folders.get(step.source) if isinstance(step.source, str) else step.source:
        yield from Corpus.open(folder).batches(batch_rows=8192)


def _presets() -> dict[str, str]:
    from paraloom.pairs.scoring.paraphrase_model import ParaphraseModel

    folder = bundled_path(PARAPHRASE_MODEL)
    assert folder is not None
    return {name: preset.where for name, preset in ParaphraseModel.load(folder).presets.items()}


def _kept_by_presets(step: Step, folders: Mapping[str, Path]) -> dict[str, int]:
    """How many pairs each preset would keep, where they have its scores; not the preset in the condition."""
    from paraloom.pairs.filtering.expressions import condition, evaluate

    where = getattr(step.stage, "where", "")
    presets = {name: condition(preset) for name, preset in _presets().items() if preset not in where}
    counts = dict.fromkeys(presets, 0)
    try:
        for batch in _rows_before(step, folders) if presets else ():
            for name, parsed in presets.items():
                clauses = [clause.fill_null(False).to_numpy(zero_copy_only=False) for clause in evaluate(parsed, batch)]
                counts[name] += int(np.logical_and.reduce(clauses).sum())
    except ParaloomError:
        return {}  # the scores of the presets are not there
    return counts


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.1f} %"


def few_pairs_warning(pairs: int) -> str:
    """What to expect of an encoder that is trained on few pairs; empty if there are enough."""
    if pairs >= FEW_PAIRS:
        return ""
    return (
        f"{pairs:,} pairs are few to train an encoder on: expect one that knows little more than their words. After "
        "300 pairs of captions, Pearson × 100 on STS-B was 72.7, where the overlap of words has 76.7, and the bundled "
        "'english' 83.2. To adapt the bundled one, start from it: --init-from english, init_from='english'"
    )
