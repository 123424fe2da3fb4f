"""The conditions that are printed with each table of encoders: the paper's, ours, and why they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from paraloom.bundled import bundled_path
from paraloom.core.digests import file_digest
from paraloom.embed.word_vectors import vectors_file
from paraloom.papers.provenance import translation_quality, translator_of
from paraloom.papers.study import Study

TIME = "time on two cores"
"""Why a training is smaller than the paper's."""

SOURCES = (
    "sources",
    "Common Crawl, Europarl and news, back-translated from Czech, French or German",
    "the corpora that are given",
    "what our data give",
)
"""Of tables about pairs."""

_ADAM = "Adam, 0.001"


def translations(study: Study) -> list[tuple[str, ...]]:
    """The conditions that say who made the translations, how well, and what they have to do with its training."""
    signatures = {name: translator_of(path) for name, path in study.sources.items()}
    known = {name: _decoding(text) for name, text in signatures.items() if text}
    quality = ", ".join(f"{name} {translation_quality(path)}" for name, path in study.sources.items())
    translators = "; ".join(dict.fromkeys(known.values())) or "not known"
    return [
        (
            "translator, decoding",
            "of Czech, French, German; 50 beams (W17), 12 (PNMT)",
            translators,
            "what was at hand",
        ),
        (
            "BLEU of these translations",
            "19.7 Czech, 20.1 French, 28.2 German (W17 Table 3)",
            quality,
            "our translators and texts",
        ),
        (
            "bitext",
            "what the translator was trained on",
            "of the bundled `de-en`: Tatoeba, help and Europarl are, captions, commentary and news are not"
            if any("`de-en`" in text for text in known.values())
            else "not known",
            "the bundled translators have training texts of their own",
        ),
    ]


def _decoding(text: str) -> str:
    """A translator's signature for readers."""
    parts = dict(part.partition(":")[::2] for part in text.split("|"))
    name = "`de-en`" if parts.get("model") == _bundled_model("de-en") else parts.get("model", "not known")
    return f"{name}, `{','.join(parts.get('decode', '').split(',')[:2])}`"


@cache
def _bundled_model(name: str) -> str:
    folder = bundled_path(name)
    return "" if folder is None else file_digest(folder / "model.bin")[:12]


@dataclass(frozen=True)
class PaperTrainings:
    """Trainings of a paper's encoders, as conditions print them; negatives are searched in `megabatch`."""

    pairs: str
    megabatch: str
    epoch: str
    test: str
    our_test: str
    recurrent: str


W17 = PaperTrainings(
    "24,000 of each source",
    "in a mini-batch of 100, for both sides",
    "the best on STS 2016",
    "22 tasks of STS 2012 to 2015, PIT 2015, SICK 2014",
    "21 of them",
    "GRAN",
)
"""W17 §5.1 and §5.2."""

PNMT = PaperTrainings(
    "5 million of CzEng",
    "in a mega-batch of 20 times 100",
    "the last",
    "STS 2017",
    "the mean of STS 2012 to 2015",
    "LSTM and BLSTM",
)
"""PNMT §5.1 and §5.2."""


def conditions(
    study: Study,
    paper: PaperTrainings,
    trained: Mapping[str, tuple[str, int]],
    *,
    size: int | None = None,
    test: tuple[str, str, str] | None = None,
) -> list[tuple[str, ...]]:
    """Conditions of a table's encoders, in the paper and here."""
    listed = [
        *translations(study),
        _start(study),
        *_left_out(study, paper),
        ("pairs of a training", paper.pairs, f"at most {_sizes(study, trained, size)}", TIME),
        _epochs(trained, study.epochs),
        _epoch_that_counts(study, paper),
        ("loss", "max-margin, 0.4"),
        ("negatives", paper.megabatch),
        (
            "optimizer",
            _ADAM,
            "Adam, 0.001; vectors of averages relative to their size, 0.01",
            "frequent words, whose vectors are short, stay short",
        ),
        (
            "seeds",
            "not stated",
            f"{study.seeds}, each with other pairs and other random weights; starts of recurrent encoders one",
            "random networks of several seeds differ little",
        ),
        ("test", *(test or _test(paper))),
    ]
    specs = ", ".join(f"{name} = `{spec}`" for name, (spec, _) in trained.items() if name.lower() != spec)
    return listed + ([("encoders", ", ".join(trained), specs, "names of Paraloom's parts")] if specs else [])


def _start(study: Study) -> tuple[str, ...]:
    if study.vectors is None:
        ours = "random vectors of 300 dimensions, those of averages damped by frequency"
        return ("start", "paragram-sl999, 300 dimensions", ours, "no vectors are given (`--vectors`)")
    name = vectors_file(study.vectors).name
    ours = f"word vectors of {study.dimension} dimensions ({name}), whose words are all that are known; random trigrams"
    return ("start", "paragram-sl999, 300 dimensions", ours, "paragram-sl999 is not among our data")


def _left_out(study: Study, paper: PaperTrainings) -> list[tuple[str, ...]]:
    """Encoders of the paper that are not trained, whose orders are not counted then."""
    ours = "left out, with their rows and orders (`--recurrent-size 0`)"
    return [] if study.size_of_recurrent else [("recurrent encoders", paper.recurrent, ours, TIME)]


def _sizes(study: Study, trained: Mapping[str, tuple[str, int]], size: int | None) -> str:
    sizes = {size if size is not None else study.size_of(spec): None for spec, _ in trained.values()}
    if len(sizes) > 1:
        return f"{study.size:,}, for recurrent encoders {study.size_of_recurrent:,}"
    return f"{next(iter(sizes)):,}"


def _epochs(trained: Mapping[str, tuple[str, int]], limit: int) -> tuple[str, ...]:
    """Passes over the pairs; encoders with equally many are listed together."""

    def text(epochs: Mapping[str, int]) -> str:
        names: dict[int, list[str]] = {}
        for name, number in epochs.items():
            names.setdefault(number, []).append(name)
        return "; ".join(
            f"{number}" if len(names) == 1 else f"{' and '.join(of_number)} {number}"
            for number, of_number in names.items()
        )

    in_paper = {name: epochs for name, (_, epochs) in trained.items()}
    ours = {name: min(epochs, limit) for name, epochs in in_paper.items()}
    return ("epochs", text(in_paper), text(ours), "" if ours == in_paper else TIME)


def _epoch_that_counts(study: Study, paper: PaperTrainings) -> tuple[str, ...]:
    if paper.epoch == PNMT.epoch:
        return ("epoch that counts", paper.epoch)
    ours = f"the best on development pairs, which may be the start: {study.development.describe()}"
    return ("epoch that counts", paper.epoch, ours, "STS 2016 is not among our data")


def _test(paper: PaperTrainings) -> tuple[str, str, str]:
    why = "one is not freely available" if paper.test == W17.test else "STS 2017 is not among our data"
    return paper.test, paper.our_test, why
