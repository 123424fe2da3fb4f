"""Scores that ask translators: how likely a translation is, how well it translates back, what its samples agree on.

They compare a pair with its pivot, the sentence that was translated to make it: the column `pivot` of back-translated
pairs. Pairs that have none get one: the first side, translated into the other language by the reverse translator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from paraloom.core.array_types import Float32s, Floats
from paraloom.core.errors import ConfigError
from paraloom.core.protocols import ScoringTranslatorLike, TranslatorLike, Variant
from paraloom.pairs.scoring.models import (
    AGREEMENT,
    DUAL_CROSS_ENTROPY,
    FORWARD_COST,
    REFERENCE_COST,
    REVERSE_COST,
    REVERSE_COST_GAP,
    REVERSE_OUT_OF_DEPTH,
    ROUND_TRIP_CHRF,
)
from paraloom.pairs.scoring.scorer import PairBatch, Scorer, Values
from paraloom.text.buffers import code_points
from paraloom.text.chrf import chrf_from_points
from paraloom.text.sequences import distinct_values
from paraloom.text.utility import expected_utility


def translation_scorers(
    forward: ScoringTranslatorLike | None = None,
    reverse: ScoringTranslatorLike | None = None,
    *,
    sampler: TranslatorLike | None = None,
) -> tuple[Scorer, ...]:
    """Make the scorers that the given translators allow.

    A score is null where the pivot or a side that it needs is empty. Texts that occur several times in a batch, as
    pivots of n-best translations do, are translated once. See Junczys-Dowmunt 2018, "Dual conditional cross-entropy
    filtering of noisy parallel corpora".
    """

    def costs(model: ScoringTranslatorLike, first: str, second: str) -> Callable[[PairBatch], Values]:
        """−log p(second | first) per subword; each is 'pivot', 'src' or 'tgt'."""

        def compute(pairs: PairBatch) -> Values:
            texts = {
                name: _pivots(pairs, reverse) if name == "pivot" else pairs.texts(name) for name in (first, second)
            }
            return pairs.once(f"{model.signature} {first}>{second}", lambda: _costs(model, texts[first], texts[second]))

        return compute

    scorers: list[Scorer] = []
    if forward is not None:
        of_translation, of_reference = costs(forward, "pivot", "tgt"), costs(forward, "pivot", "src")
        scorers += [
            FORWARD_COST.computed(of_translation, forward.signature),
            REFERENCE_COST.computed(of_reference, forward.signature),
        ]
    if reverse is not None:
        back, back_from_reference = costs(reverse, "tgt", "pivot"), costs(reverse, "src", "pivot")
        scorers += [
            REVERSE_COST.computed(back, reverse.signature),
            REVERSE_COST_GAP.computed(lambda pairs: back(pairs) - back_from_reference(pairs), reverse.signature),
            ROUND_TRIP_CHRF.computed(lambda pairs: _round_trip(pairs, reverse), reverse.signature),
        ]
        if (development := getattr(reverse, "costs", None)) is not None:
            scorers.append(
                REVERSE_OUT_OF_DEPTH.computed(
                    lambda pairs: development.ranks(_own_costs(pairs, reverse)), reverse.signature
                )
            )
    if sampler is not None:
        scorers.append(
            AGREEMENT.computed(lambda pairs: _agreement(pairs, sampler, _pivots(pairs, reverse)), sampler.signature)
        )
    if forward is not None and reverse is not None:

        def dual(pairs: PairBatch) -> Values:
            ours, theirs = of_translation(pairs), back(pairs)
            return np.asarray(np.abs(ours - theirs) + (ours + theirs) / 2, np.float32)

        scorers.append(DUAL_CROSS_ENTROPY.computed(dual, forward.signature, reverse.signature))
    return tuple(scorers)


def _pivots(pairs: PairBatch, reverse: ScoringTranslatorLike | None) -> list[str]:
    """The pivot of each pair; where there is none, the translation of the first side."""

    def compute() -> list[str]:
        given = pairs.texts("pivot") if "pivot" in pairs.batch.schema.names else [""] * pairs.batch.num_rows
        sources = pairs.texts("src")
        missing = sorted({src for src, pivot in zip(sources, given, strict=True) if not pivot and src})
        if missing and reverse is None:
            raise ConfigError(
                "pairs without the column 'pivot' need a reverse translator, which translates the first side",
                remedy="Give --reverse-translator, or pairs that paraloom backtranslate made.",
            )
        translations = (
            dict(zip(missing, map(_text, _best(reverse, missing)), strict=True))
            if reverse is not None and missing
            else {}
        )
        return [pivot or translations.get(src, "") for src, pivot in zip(sources, given, strict=True)]

    return pairs.once(f"pivots of {reverse.signature if reverse is not None else ''}", compute)


def _best(translator: ScoringTranslatorLike, texts: Sequence[str]) -> list[Variant | None]:
    return [variants[0] if variants else None for variants in translator.translate(texts)]


def _translated_back(pairs: PairBatch, reverse: ScoringTranslatorLike) -> dict[str, Variant | None]:
    """The second sides, and what the reverse translator makes of them."""

    def compute() -> dict[str, Variant | None]:
        wanted = sorted({target for target in pairs.texts("tgt") if target.strip()})
        return dict(zip(wanted, _best(reverse, wanted), strict=True))

    return pairs.once(f"second sides by {reverse.signature}", compute)


def _own_costs(pairs: PairBatch, reverse: ScoringTranslatorLike) -> Floats:
    """What the reverse translator's own translation of each second side costs it, in nats per subword."""
    variants = map(_translated_back(pairs, reverse).get, pairs.texts("tgt"))
    costs = (-one.logprob / one.tokens if one is not None and one.tokens else np.nan for one in variants)
    return np.fromiter(costs, np.float64, pairs.batch.num_rows)


def _text(variant: Variant | None) -> str:
    return "" if variant is None else variant.text


def _costs(model: ScoringTranslatorLike, sources: Sequence[str], targets: Sequence[str]) -> Float32s:
    """−log p(target | source) / subwords of n pairs, float32; NaN where a side is empty."""

    def costs(pairs: Sequence[tuple[str, ...]]) -> list[float]:
        return [-logprob / tokens for logprob, tokens in model.score(*map(list, zip(*pairs, strict=True)))]

    return distinct_values([sources, targets], costs).astype(np.float32)


def _round_trip(pairs: PairBatch, reverse: ScoringTranslatorLike) -> Values:
    pivots, targets = _pivots(pairs, reverse), pairs.texts("tgt")
    back = _translated_back(pairs, reverse)
    returned = [_text(back.get(target)) for target in targets]
    values = chrf_from_points(code_points(returned), code_points(pivots))
    empty = [not (pivot.strip() and target.strip()) for pivot, target in zip(pivots, targets, strict=True)]
    return np.where(empty, np.nan, values).astype(np.float32)


def _agreement(pairs: PairBatch, sampler: TranslatorLike, pivots: Sequence[str]) -> Values:
    compared = list(zip(pivots, pairs.texts("tgt"), strict=True))
    targets: dict[str, list[str]] = {pivot: [] for pivot in sorted(set(pivots)) if pivot.strip()}
    for pivot, target in sorted(set(compared)):
        if pivot in targets and target.strip():
            targets[pivot].append(target)
    samples = [[variant.text for variant in variants] for variants in sampler.translate(list(targets))]
    utilities = expected_utility(list(targets.values()), samples)
    values = {
        (pivot, target): value
        for (pivot, texts), of_pivot in zip(targets.items(), utilities, strict=True)
        for target, value in zip(texts, of_pivot.tolist(), strict=True)
    }
    return np.array([values.get(pair, np.nan) for pair in compared], np.float32)
