"""The papers' tables of encoders: architectures, sources, mega-batches, scrambling, each trained anew on our pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paraloom.evaluate.published import W17_MEAN
from paraloom.experiments.published import PAPERS
from paraloom.experiments.study import Study
from paraloom.experiments.tables import Figure, Reproduced
from paraloom.workflows import agreement

YEARS = ("2012", "2013", "2014", "2015")

_W17 = {"max_tokens": 100, "megabatch": 1, "two_sided": True}
_SPECS = ("word", "trigram", "lstm", "word+trigram", "word,trigram", "word+trigram+lstm", "word,trigram,lstm")
_MEGABATCHES = (1, 20, 40)
_SCRAMBLED = 0.3


def architectures(study: Study, name: str) -> Reproduced:
    """PNMT Table 8: every architecture on the same pairs of all sources."""
    trainings = {spec: {"spec": spec, "scramble": _SCRAMBLED if "lstm" in spec else 0.0} for spec in _SPECS}
    found = _measured(study, name, trainings)
    rows = [(f"{spec.upper()}, ours", _years(found[spec])) for spec in _SPECS]
    means = {spec: _mean_of_years(found[spec]) for spec in _SPECS}
    return Reproduced(name, PAPERS[name], rows, agreement.ahead("WORD,TRIGRAM", "word,trigram", means))


def sources(study: Study, name: str) -> Reproduced:
    """W17 Table 4: AVG and GRAN on as many random pairs of each source."""
    trainings = {
        f"{kind}, {source}": {"spec": spec, **_W17, "from": [source]}
        for source in study.sources
        for kind, spec in (("AVG", "word"), ("GRAN", "gran"))
    }
    found = _measured(study, name, trainings)
    rows = [(f"{key}, ours", [_figure(found[key], W17_MEAN)]) for key in trainings]
    ahead = [
        source
        for source in study.sources
        if _value(found[f"GRAN, {source}"], W17_MEAN) > _value(found[f"AVG, {source}"], W17_MEAN)
    ]
    sentence = (
        "The paper: GRAN is ahead of AVG on Simple Wikipedia and on back-translations, behind on PPDB. "
        f"Here it is ahead on {len(ahead)} of {len(study.sources)} ({', '.join(ahead) or 'none'})."
    )
    return Reproduced(name, PAPERS[name], rows, sentence)


def megabatches(study: Study, name: str) -> Reproduced:
    """PNMT Table 6: how many mini-batches are joined in the search for negatives."""
    specs = ("word", "trigram", "lstm")
    trainings = {
        f"{spec} {megabatch}": {"spec": spec, "megabatch": megabatch} for megabatch in _MEGABATCHES for spec in specs
    }
    found = _measured(study, name, trainings)
    rows = [
        (f"M = {megabatch}, ours", [_mean_of_years(found[f"{spec} {megabatch}"]) for spec in specs])
        for megabatch in _MEGABATCHES
    ]
    parts = [
        f"{spec.upper()} {rows[0][1][place]:.1f}, {rows[1][1][place]:.1f}, {rows[2][1][place]:.1f}"
        for place, spec in enumerate(specs)
    ]
    sentence = f"The paper: the more, the better. Here, by M = 1, 20, 40 (means of 2012 to 2015): {'; '.join(parts)}."
    return Reproduced(name, PAPERS[name], rows, sentence)


def scrambling(study: Study, name: str) -> Reproduced:
    """PNMT §5.3: an LSTM that reads a share of the sentences in another order."""
    trainings = {f"scrambling {share:g}": {"spec": "lstm", "scramble": share} for share in (0.0, _SCRAMBLED)}
    found = _measured(study, name, trainings)
    rows = [(f"{key}, ours", _years(found[key])) for key in trainings]
    without, with_it = (_mean_of_years(found[key]) for key in trainings)
    sentence = (
        f"The paper scrambles the words of 30 % of the sentences that LSTMs read. "
        f"Here the mean goes from {without:.1f} to {with_it:.1f}."
    )
    return Reproduced(name, PAPERS[name], rows, sentence)


def _measured(study: Study, name: str, trainings: Mapping[str, Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The similarity table of an encoder for each training; `from`: its sources, all of them where it says none."""
    scored = study.scored()
    stages: list[dict[str, Any]] = []
    for source, path in scored.items():
        for part, count in (("alone", study.size), ("shared", study.size // len(scored))):
            stages.append({"name": f"{source}-{part}", "use": "filter", "input": str(path), "sample": count})
    sts = {"sts": study.sts}
    names = {}
    for number, (key, settings) in enumerate(trainings.items(), 1):
        given = dict(settings)
        chosen = given.pop("from", None)
        pairs = [f"{source}-alone" for source in chosen] if chosen else [f"{source}-shared" for source in scored]
        training = {"use": "train-encoder", "pairs": pairs, "epochs": study.epochs, **given}
        names[key] = f"sts-{number}"
        stages += [
            {"name": f"encoder-{number}", **training},
            {"name": names[key], "use": "evaluate-sts", "encoder": f"encoder-{number}", **sts},
        ]
    found = study.found(stages, study.folder / name)
    return {key: found[stage]["rows"] for key, stage in names.items()}


def _figure(rows: Sequence[Mapping[str, Any]], group: str) -> Figure:
    row = next(each for each in rows if (each["group"], each["subset"]) == (group, "mean"))
    return (row["pearson"], row["low"], row["high"])


def _value(rows: Sequence[Mapping[str, Any]], group: str) -> float:
    figure = _figure(rows, group)
    assert isinstance(figure, tuple)
    return figure[0]


def _years(rows: Sequence[Mapping[str, Any]]) -> list[Figure]:
    return [_figure(rows, year) for year in YEARS]


def _mean_of_years(rows: Sequence[Mapping[str, Any]]) -> float:
    return sum(_value(rows, year) for year in YEARS) / len(YEARS)
