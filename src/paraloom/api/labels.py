"""Scores and models of them: trained on pairs, and tested on labeled pairs and on look-alikes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np
import pyarrow as pa

from paraloom.api.keywords import LanguageModelSettings
from paraloom.api.model_references import model_path
from paraloom.api.pair_inputs import PairsLike, open_pairs
from paraloom.api.pairs import Pairs
from paraloom.api.run import input_stages_of, run_stages
from paraloom.bundled import PARAPHRASE_MODEL, bundled_path
from paraloom.core.array_types import Floats
from paraloom.core.batches import as_list
from paraloom.core.errors import DataError
from paraloom.core.protocols import EncoderLike
from paraloom.evaluate.discrimination import DiscriminationResult, LookalikeResult
from paraloom.evaluate.discrimination import evaluate_lookalikes as compare_lookalikes
from paraloom.io.bitext import check_target
from paraloom.pairs.lookalikes import KINDS
from paraloom.pairs.scoring.paraphrase_model import LOG_ODDS, ParaphraseModel
from paraloom.pairs.scoring.table import COLUMNS
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.shard import OnError
from paraloom.stages.bitext import JoinPairs
from paraloom.stages.judging import TrainJudge
from paraloom.stages.labels import (
    KIND,
    LabelPairs,
    MakeLookalikes,
    TrainParaphraseModel,
    evaluate_labeled,
    lower_is_better,
)
from paraloom.stages.scores import CountWords, TrainLanguageModel

if TYPE_CHECKING:
    from paraloom.api.translators import AnyTranslator

DEFAULT_SCORES = ("overlap", "bleu1", "chrf", "mismatch", "meaning")
"""Scores that look-alikes are tried on by default."""


def evaluate_scores(
    pairs: str | Path | Sequence[str | Path], *, scores: Sequence[str] = (), on_error: OnError = "stop"
) -> DiscriminationResult:
    """Measure how well scores tell right pairs from wrong ones: area under the ROC curve, with 95 % intervals.

    Args:
        pairs: Labeled pairs, scored: column label, 1 right, 0 wrong; labeled_set and kind if known.
        scores: Only these scores.

    Reference:
        DeLong, DeLong and Clarke-Pearson 1988, for the intervals.
    """
    opened = [open_pairs(source, on_error=on_error) for source in as_list(pairs)]
    return evaluate_labeled([source.corpus() for source in opened], scores)


def evaluate_lookalikes(
    pairs: PairsLike,
    *,
    scores: Sequence[str] = DEFAULT_SCORES,
    kinds: Sequence[str] = KINDS,
    changed: str = "tgt",
    sample: int = 2_000,
    output: str | None = None,
    encoder: EncoderLike | str | Path | None = None,
    reverse_translator: AnyTranslator | None = None,
    paraphrase_model: str | Path | None = None,
    seed: int = 1,
    on_error: OnError = "stop",
) -> LookalikeResult:
    """Make look-alikes that differ from true paraphrases in one fact; count how often a score prefers them.

    Args:
        pairs: True paraphrases, in English: as for `score`.
        scores: Scores or groups to test, separated by commas.
        kinds: What is changed, separated by commas. Default: all kinds.
        changed: Side that is changed: 'tgt', or 'src' to compare with the changed first side.
        sample: Maximum number of pairs.
        output: Write the pairs and their look-alikes, labeled.
        encoder: Test paraphrase_score by this encoder, too.
        reverse_translator: Test the scores of translating back with this translator, too: a bundled name, a folder or
            OWNER/NAME, with settings as in 'NAME?from=de&to=en'.
        paraphrase_model: Test p_paraphrase by this model, too: a bundled name or a folder.
    """
    models: dict[str, Any] = {"encoder": encoder, "reverse_translator": reverse_translator}
    models["paraphrase_model"] = paraphrase_model
    if output:
        check_target(output)
    right = open_pairs(pairs, seed=seed, on_error=on_error).filter(sample=sample)
    changed_pairs = right.then(MakeLookalikes(kinds=tuple(kinds), changed=changed))  # type: ignore[arg-type]
    if not len(changed_pairs):
        raise DataError(
            f"no look-alike can be made of any of {len(right):,} pairs",
            remedy="The rules are for English; the kinds number, name and words for other languages as well.",
        )
    true_rows = right.score(scores, **models).to_arrow()
    rows = changed_pairs.score(scores, **models).to_arrow()
    names = [name for name in COLUMNS if name in rows.schema.names]
    position = {pair_id: row for row, pair_id in enumerate(true_rows.column("pair_id").to_pylist())}
    order = [position[pair_id] for pair_id in rows.column("pair_id").to_pylist()]
    true = {name: _numbers(true_rows, name)[order] for name in names}
    result = compare_lookalikes(
        true,
        {name: _numbers(rows, name) for name in names},
        rows.column(KIND).to_pylist(),
        changed=changed,
        lower_is_better=lower_is_better(names),
    )
    if output:
        _write_labeled(right, changed_pairs, output)
    return result


def train_paraphrase_model(
    pairs: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    features: Sequence[str] = (),
    on_error: OnError = "stop",
    **config: Any,
) -> RunResult:
    """Train the model behind `p_paraphrase` and the presets of `paraloom filter` on labeled pairs.

    Args:
        pairs: Labeled pairs, scored: column label, 1 right, 0 wrong.
        output: The folder to write.
        features: Scores to learn from. Default: those of the bundled model that the pairs have.
        **config: Further fields of `paraloom.stages.TrainParaphraseModel`: `fallbacks`, `l2` …
    """
    stages, references = input_stages_of(pairs, "input", on_error=on_error)
    names = tuple(features) or _bundled_features(open_pairs(as_list(pairs)[0], on_error=on_error).columns)
    training = TrainParaphraseModel(name="model", pairs=references, features=names, **config)
    return run_stages([*stages, training], str(output))


def train_judge(
    pairs: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    base: str | Path,
    seed: int = 1,
    on_error: OnError = "stop",
    **config: Any,
) -> RunResult:
    """Train a judge of meaning, the model of the score `judge`, on labeled pairs.

    Args:
        pairs: Files with the columns `src`, `tgt` and `label`, and those that :class:`~paraloom.stages.TrainJudge`
            names.
        output: Folder of the judge, for `Pairs.score(judge=…)`.
        base: Folder of a sentence-transformers model of the family of BERT, such as all-MiniLM-L6-v2, or of a judge,
            or `english-judge`: its training continues.
        **config: Fields of :class:`~paraloom.stages.TrainJudge`, such as `epochs` and `layers`.
    """
    stages, references = input_stages_of(pairs, "input", on_error=on_error)
    training = TrainJudge(name="judge", pairs=references, base=model_path(base), **config)
    return run_stages([*stages, training], str(output), seed=seed)


def describe_paraphrase_model(model: str | Path = PARAPHRASE_MODEL) -> str:
    """The card of a paraphrase model in plain text: training pairs, weights, and the conditions of its presets."""
    loaded = ParaphraseModel.load(model_path(model))
    lines = [str(loaded.card.get("description", "")).strip(), ""]
    for name, preset in loaded.presets.items():
        lines += [f"--preset {name}", f"  {preset.where}", ""]
    for part in loaded.models:
        lines.append(f"p_paraphrase from {len(part.names)} scores: log-odds {part.intercept:+.2f}, and")
        lines += [
            f"  {feature.weight:+.2f} · ({_named(feature.name)} − {feature.center:.3g}) / {feature.scale:.3g}"
            for feature in sorted(part.features, key=lambda feature: -abs(feature.weight))
        ]
        lines.append("")
    return "\n".join(lines).strip() + "\n"


def _named(score: str) -> str:
    return f"log-odds of {score}" if score in LOG_ODDS else score


def _write_labeled(right: Pairs, wrong: Pairs, output: str) -> None:
    labeled = right.then(LabelPairs(name="true-pairs"))
    both = JoinPairs(corpora=(labeled.corpus().folder, wrong.corpus().folder), keep_columns=True)
    run_stages([both], output)


def _bundled_features(columns: Sequence[str]) -> tuple[str, ...]:
    folder = bundled_path(PARAPHRASE_MODEL)
    assert folder is not None
    return tuple(name for name in ParaphraseModel.load(folder).models[0].names if name in columns)


def _numbers(table: pa.Table, name: str) -> Floats:
    return np.asarray(table.column(name).cast("float64").to_numpy(), np.float64)


def train_word_counts(
    pairs: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    columns: Sequence[str] = ("src",),
    on_error: OnError = "stop",
) -> RunResult:
    """Count in how many sentences each word occurs, for the scores `src_idf` and `tgt_idf`.

    Args:
        pairs: Pairs to learn from: one corpus or several.
        output: The folder to write.
        columns: Text columns to learn from, such as src,tgt.
    """
    stages, references = input_stages_of(pairs, "input", on_error=on_error)
    return run_stages([*stages, CountWords(corpora=references, columns=tuple(columns))], str(output))


def train_language_model(
    pairs: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    columns: Sequence[str] = ("src",),
    units: Literal["words", "characters"] = "words",
    on_error: OnError = "stop",
    **config: Unpack[LanguageModelSettings],
) -> RunResult:
    """Train an n-gram language model, for `src_perplexity` or `src_character_perplexity` and those of `tgt`.

    Args:
        pairs: Pairs to learn from: one corpus or several.
        output: The folder to write.
        columns: Text columns to learn from, such as src,tgt.
        units: What the n-grams are made of.
        **config: Further fields of `paraloom.stages.TrainLanguageModel`: `order`, `smoothing`.
    """
    stages, references = input_stages_of(pairs, "input", on_error=on_error)
    training = TrainLanguageModel(corpora=references, columns=tuple(columns), units=units, **config)
    return run_stages([*stages, training], str(output))
