"""Translators of the Hugging Face hub by one name: fetched, measured and described once; and removed."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.api.endpoints import named_translator
from paraloom.api.models import ModelSummary, find_model, list_models, summarize_model
from paraloom.bundled import BUNDLED, KINDS_OF_TEXT, SAMPLE
from paraloom.core.errors import ConfigError, nearest, suggestion
from paraloom.core.progress import loading
from paraloom.core.protocols import Variant
from paraloom.core.remote_files import cache_folder
from paraloom.io import read_lines
from paraloom.mt.checkpoint import describe_stored, find_translator, stored_name, write_hub_card
from paraloom.mt.costs import MIN_SENTENCES, CostDistribution, write_costs
from paraloom.mt.download import download
from paraloom.mt.names import SHORT_NAMES, hub_name
from paraloom.mt.streams import best_variants
from paraloom.mt.translator import Translator
from paraloom.stages.translators import LoadTranslator
from paraloom.text.buffers import code_points
from paraloom.text.chrf import chrf_from_points

GOOD = 50.0
"""A translation of a bundled sentence is good if its chrF is as high."""

_EVERYDAY = 60
"""Sentences of the sample of the quickstart that are one of the kinds."""


class KindResult(NamedTuple):
    """What a translator makes of a kind of text: its translations, and the chrF of each (NaN without a reference)."""

    kind: str
    chrf: npt.NDArray[np.float64]
    best: Sequence[Variant]


def fetch_model(name: str) -> ModelSummary:
    """Download a translator from the Hugging Face hub, convert it, and measure what it knows, once.

    It is kept in the cache ($PARALOOM_CACHE, or ~/.cache/paraloom), and its name works wherever a translator is asked
    for. What its good translations of bundled text of several kinds cost is kept with it, so that it warns of text that
    it does not know; of a model with many languages for the pair that is named.

    Args:
        name: `opus-mt-de-en` and the like, `nllb-600m`, `m2m100-418m`, `madlad-3b` or OWNER/NAME; with settings as
            'nllb-600m?from=de&to=en'.

    Example:
        >>> fetch_model("opus-mt-de-en").license  # doctest: +SKIP
        'cc-by-4.0'
    """
    named = named_translator(name)
    wanted = LoadTranslator(model=named) if isinstance(named, str) else named
    if not isinstance(wanted, LoadTranslator):
        raise ConfigError(f"'{name}' is not a model of the hub", remedy="It is used as it is, without being fetched.")
    if wanted.model in BUNDLED:
        raise ConfigError(f"'{name}' comes with the package", remedy="It is used as it is, without being fetched.")
    on_hub = hub_name(wanted.model)
    if on_hub is None:
        raise ConfigError(
            f"unknown model '{wanted.model}'{suggestion(wanted.model, ['opus-mt-de-en', *SHORT_NAMES])}",
            remedy=f"Name one of OPUS-MT (opus-mt-de-en), {', '.join(SHORT_NAMES)}, or OWNER/NAME of the hub.",
        )
    with loading(f"the translator {on_hub}"):
        pair = (wanted.source, wanted.target)
        folder = find_translator(on_hub, precision=wanted.precision, revision=wanted.revision, languages=pair)
        if not (folder / "README.md").is_file():  # of a version that wrote no card
            write_hub_card(folder, on_hub, download(on_hub, wanted.revision))
        try:
            translator = Translator(folder, source=wanted.source, target=wanted.target, check_costs=False)
        except ConfigError:
            if wanted.source or wanted.target:
                raise
        else:
            if translator.costs is None:
                _keep_costs(translator)
    return summarize_model(folder, stored_name(folder))


def remove_model(name: str) -> ModelSummary:
    """Delete a translator that was fetched, or converted, from the cache.

    Args:
        name: As `paraloom models` lists it, or OWNER/NAME.

    Example:
        >>> remove_model("de-en")
        Traceback (most recent call last):
        paraloom.core.errors.ConfigError: 'de-en' comes with the package.
        It cannot be removed by itself.
    """
    if name in BUNDLED:
        raise ConfigError(f"'{name}' comes with the package", remedy="It cannot be removed by itself.")
    stored = {model.name: model for model in list_models() if model.name not in BUNDLED}
    if name not in stored and "/" not in name:
        raise ConfigError(f"'{name}' is not in the cache{nearest(name, list(stored))}")
    model = stored.get(name) or find_model(name)
    folder = Path(model.folder)
    if folder.parent != cache_folder() / "translators":
        raise ConfigError(f"'{name}' is not in the cache", remedy="Delete the folder yourself.")
    shutil.rmtree(folder)
    folder.with_name(f"{folder.name}.lock").unlink(missing_ok=True)
    return model


def measure_kinds(translator: Translator) -> list[KindResult]:
    """What a translator makes of each kind of bundled text; nothing if there is none in its source language."""
    rows = _kinds_of_text()
    column = {"de": 1, "en": 2}
    source, target = column.get(translator.source or ""), column.get(translator.target or "")
    if source is None:
        return []
    best = best_variants(translator, [row[source] for row in rows])
    chrf = np.full(len(rows), np.nan)
    if target is not None and target != source:
        chrf = chrf_from_points(code_points([one.text for one in best]), code_points([row[target] for row in rows]))
    of_kind: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        of_kind.setdefault(row[0], []).append(number)
    return [KindResult(kind, chrf[of], [best[row] for row in of]) for kind, of in of_kind.items()]


def _kinds_of_text() -> list[list[str]]:
    """Bundled sentences: the kind of text, the German side, the English one."""
    rows = [line.split("\t") for line in list(read_lines(KINDS_OF_TEXT))[1:]]
    return rows + [["everyday", *line.split("\t")[:2]] for line in list(read_lines(SAMPLE))[1 : _EVERYDAY + 1]]


def good_translations(measured: Sequence[KindResult], min_chrf: float = GOOD) -> list[Variant]:
    """Translations that are good; of few, as many of the best as costs are compared with; all if that is not known."""
    chrf = np.concatenate([one.chrf for one in measured])
    best = [variant for one in measured for variant in one.best]
    known = np.flatnonzero(~(chrf < min_chrf))
    if len(known) < MIN_SENTENCES:
        known = np.sort(np.argsort(-chrf, kind="stable")[:MIN_SENTENCES])
    return [best[row] for row in known]


def _keep_costs(translator: Translator) -> None:
    """Write what a translator's good translations cost into its folder, and how good they are into its card."""
    measured = measure_kinds(translator)
    if not measured:
        warnings.warn(
            f"what its translations cost is not measured: no text in {translator.source or 'its language'} comes with "
            "the package, and it will not warn of text that it does not know; give it some: paraloom evaluate "
            "translator NAME PAIRS --save-costs",
            stacklevel=3,
        )
        return
    chrf = np.concatenate([one.chrf for one in measured])
    if (count := int(np.sum(~(chrf < GOOD)))) < min(MIN_SENTENCES, len(chrf)):
        warnings.warn(
            f"it translates only {count} of {len(chrf)} bundled sentences well (chrF of {GOOD:.0f} or more): read some "
            "of its translations before you use it",
            stacklevel=3,
        )
    good = good_translations(measured)
    costs = CostDistribution.of(good)
    text = f"the {len(good)} best translations of {len(chrf)} bundled sentences"
    write_costs(translator.folder, costs, text, translator.languages)
    pair = f"{translator.source} → {translator.target}"
    shown = ", ".join(f"{one.kind} {one.chrf.mean():.0f}" for one in measured if not np.isnan(one.chrf).any())
    facts = {"measured": f"mean chrF of 60 sentences each, {pair}: {shown}"} if shown else {}
    describe_stored(translator.folder, {**facts, "costs_of": f"{pair}: {text}", "cost_percentiles": costs.format()})
