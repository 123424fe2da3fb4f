"""Stages that train, load, evaluate and compare translators."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import ClassVar, NamedTuple

from paraloom.core.config import base_config
from paraloom.core.devices import default_device, parse_device
from paraloom.core.digests import file_digest
from paraloom.core.errors import DataError
from paraloom.core.protocols import Variant
from paraloom.core.seeds import spawn_seeds
from paraloom.core.stage import Fit, Json, Ref, Stage, StageContext
from paraloom.io import Corpus
from paraloom.mt.config import TranslatorConfig
from paraloom.text.normalize import normalize

Sides = tuple[Sequence[str], Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class TrainTranslator(TranslatorConfig, Fit):
    """Trains a translator on one or several bitexts, from scratch or from another translator.

    The folder keeps what translations of the development text cost (costs.json): translating other text warns where it
    costs more.

    Args:
        bitext: Corpora of pairs; `src` is translated into `tgt`.
        weights: Shares of the bitexts in the training data, one each: [2, 1] repeats rows until there are two of the
            first bitext for one of the second, and leaves none out. Default: every row once.
        development: Pairs whose loss stops the training. Default: `held_out` pairs of the bitext, chosen by a hash of
            their target so that no target sentence is in both.
        test: Pairs for the BLEU of the model card. Default: the development pairs.
        init_from: Translator whose subwords and weights to start from.
        subwords_from: Translator whose subwords alone are used.
        held_out: Number of pairs that are held out if `development` is not given.
        title: Heading of the model card.
        license: License of the training data, for the model card.
        description: What the model is for, for the model card.

    For the other fields see :class:`~paraloom.mt.config.TranslatorConfig`.

    Raises:
        ConfigError: A setting is out of range, or `weights` and `bitext` differ in length.
        DataError: When it runs: there are too few pairs.

    Example:
        >>> TrainTranslator(bitext=["clean"], steps=2000, title="German to English").vocab_size
        8000
    """

    sentinel: ClassVar[str] = "shared_vocabulary.json"
    optional_fields: ClassVar[tuple[str, ...]] = (
        *("weights", "special_tokens", "keep_last", "device"),
        *("training_precision", "accumulate"),
    )

    bitext: tuple[Ref, ...]
    weights: tuple[float, ...] = ()
    development: Ref | None = None
    test: Ref | None = None
    init_from: Ref | None = None
    subwords_from: Ref | None = None
    held_out: int = 1000
    title: str = "A translator"
    license: str = "other"
    description: str = "Trained by Paraloom."

    def validate(self) -> None:
        from paraloom.mt.checkpoint import check_precision
        from paraloom.mt.data import mixture_sizes

        super().validate()
        check_precision(self.precision)
        if self.weights:
            mixture_sizes([1] * len(self.bitext), self.weights)

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Train, measure BLEU of the converted and of the float32 model on the test pairs, write the model card."""
        from paraloom.mt.costs import CostDistribution
        from paraloom.mt.model_card import write_card
        from paraloom.mt.training import train_translator
        from paraloom.pairs.filtering.held_out import is_held_out

        corpora = [Corpus.open(path) for path in context.paths("bitext")]
        rows = sum(corpus.rows for corpus in corpora)
        if not rows:
            raise DataError("the bitext is empty", file=corpora[0].folder)
        share = 0.0
        if "development" not in context.inputs:
            share = held_out_share(rows, self.held_out, GIVE_DEVELOPMENT)

        def is_development(target: str) -> bool:
            return share > 0 and is_held_out(target, share)

        development = list(_sides(corpora, is_development)) if share else _all_sides(context.inputs["development"])
        if not development:
            raise DataError(
                "no pair is left to hold out for development: the bitext may be the training part of a split",
                remedy="Give the other part as development pairs (--dev; in TOML 'development').",
            )

        def in_training(target: str) -> bool:
            return not is_development(target)

        mixture = _Mixture([partial(_sides, [corpus], in_training) for corpus in corpora], self.weights, context.seed)
        figures = train_translator(
            mixture,
            development,
            base_config(TranslatorConfig, self),
            folder,
            seed=context.seed,
            init_from=context.inputs.get("init_from"),
            subwords_from=context.inputs.get("subwords_from"),
        )
        if len(corpora) > 1:
            figures["mixture"] = mixture.describe([_label(reference) for reference in self.bitext])
        kind = "held-out" if share else "development"
        best = self._keep_costs(folder, development, kind)
        if "test" in context.inputs:
            figures |= self._measure(folder, _all_sides(context.inputs["test"]), "test", None)
        else:
            figures |= self._measure(folder, development, kind, [variant.text for variant in best])
        figures["cost_percentiles"] = CostDistribution.of(best).format()
        write_card(folder, title=self.title, facts=card_facts(corpora, self.license, figures), text=self.description)
        return figures

    def _keep_costs(self, folder: Path, pairs: list[Sides], kind: str) -> list[Variant]:
        """Translate the development text, and keep the distribution of its costs, for warnings about other text."""
        from paraloom.mt.costs import COST_DECODING, CostDistribution, write_costs
        from paraloom.mt.streams import best_variants
        from paraloom.mt.translator import Translator

        sources = [text for batch in pairs for text in batch[0]]
        best = best_variants(Translator.load(folder, decode=COST_DECODING), sources)
        write_costs(folder, CostDistribution.of(best), f"{len(sources)} {kind} pairs")
        return best

    def _measure(self, folder: Path, pairs: list[Sides], kind: str, translations: list[str] | None) -> dict[str, Json]:
        """BLEU of the model and of its float32 original; `translations` are those of the model, if known."""
        from paraloom.evaluate.translation import evaluate_translation
        from paraloom.mt.checkpoint import CHECKPOINT, convert
        from paraloom.mt.streams import best_translations
        from paraloom.mt.translator import Translator

        sources, references = ([text for batch in pairs for text in batch[side]] for side in (0, 1))
        exact = folder / "checkpoint" / "float32"
        convert(folder / CHECKPOINT, exact, precision="float32")
        figures: dict[str, Json] = {"bleu_on": f"{len(sources)} {kind} pairs"}
        for name, model in ((self.precision, folder), ("float32", exact)):
            if translations is None:
                translations = best_translations(Translator.load(model, decode="beam:5"), sources)
            scores = evaluate_translation(translations, references)
            translations = None
            interval = scores.bleu.interval
            figures[f"bleu_{name}"] = round(scores.bleu.score, 2)
            figures["bleu_interval"] = None if interval is None else round(interval, 2)
            figures["bleu_signature"] = scores.bleu.signature
        return figures


GIVE_DEVELOPMENT = "Give development pairs (--dev; in TOML 'development'), or lower 'held_out' (in TOML and Python)."


def held_out_share(rows: int, held_out: int, remedy: str) -> float:
    """The share of pairs that is held out for development, which is half at most."""
    if rows < 2 * held_out or not rows:
        raise DataError(f"cannot hold out {held_out} of {rows} pairs: that is more than half", remedy=remedy)
    return held_out / rows


def card_facts(corpora: Sequence[Corpus], license: str, figures: Mapping[str, Json]) -> dict[str, object]:
    """What a model card says of a training: languages, origins of the data, license, and figures but for times."""
    filled = [corpus for corpus in corpora if corpus.rows]
    first = next(filled[0].batches(["src_lang", "tgt_lang", "origin"]))
    batches = (batch for corpus in filled for batch in corpus.batches(["origin"]))
    origins = {str(origin) for batch in batches for origin in batch["origin"].unique()}
    return {
        "languages": f"{first['src_lang'][0]} → {first['tgt_lang'][0]}",
        "training data": ", ".join(sorted(origins)),
        "license": license,
        **{key: value for key, value in figures.items() if "seconds" not in key and "per_second" not in key},
    }


@dataclass(frozen=True, kw_only=True)
class LoadTranslator(Fit):
    """Brings in a translator: converts a checkpoint to CTranslate2, and notes what it translates from and into.

    Args:
        model: A Hugging Face name such as `facebook/nllb-200-distilled-600M`, downloaded unless it is in the local
            cache; the short name of one that was fetched (`nllb-600m`); a folder with such a checkpoint; or a
            translator that is ready: a folder, or the name of a bundled one.
        revision: Branch, tag or commit of the model. Default: its main branch.
        precision: Precision of the weights; see `paraloom.mt.checkpoint.PRECISIONS`. 'auto' is what suits the device.
        source: Source language, of a model that has several.
        target: Target language, of a model that has several.
        long: What happens to lines that are longer than the model takes: 'split', 'truncate', 'reject' or 'error'.

    Raises:
        ConfigError: The name says other languages; or, when it runs: the model does not have a language, or does not
            work in this precision.
        ModelError: When it runs: models of this kind are not supported.
        MissingExtraError: When it runs: transformers is not installed.

    Example:
        >>> LoadTranslator(model="Helsinki-NLP/opus-mt-de-en").precision
        'int8'
    """

    optional_fields: ClassVar[tuple[str, ...]] = ("source", "target", "long")

    model: str
    revision: str | None = None
    precision: str = "int8"
    source: str | None = None
    target: str | None = None
    long: str = "split"

    def validate(self) -> None:
        from paraloom.mt.checkpoint import check_precision
        from paraloom.mt.names import check_pair
        from paraloom.mt.splitting import check_long

        check_precision(self.precision)
        check_pair(self.model, self.source, self.target)
        check_long(self.long)

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Convert the checkpoint, unless the cache has it, and put the model into the artifact."""
        from paraloom.mt.checkpoint import copy_file, find_translator
        from paraloom.mt.families import FOLDER_FILE, folder_settings
        from paraloom.mt.families.base import write_settings
        from paraloom.mt.translator import Translator

        kind = parse_device(default_device()).kind
        pair = (self.source, self.target)
        engine = find_translator(
            self.model, precision=self.precision, device=kind, revision=self.revision, languages=pair
        )
        for path in sorted(path for path in engine.iterdir() if path.is_file()):
            copy_file(path, folder / path.name)
        settings = {"source": self.source, "target": self.target, "long": None if self.long == "split" else self.long}
        given = {name: value for name, value in settings.items() if value is not None}
        if given:
            (folder / FOLDER_FILE).unlink(missing_ok=True)  # it may be linked to the cache
            write_settings(folder, folder_settings(engine) | given)
        translator = Translator(folder, check_costs=False)  # fails now if a language is missing
        languages: dict[str, Json] = {"source": translator.source, "target": translator.target} if given else {}
        return {"model": self.model, "weights": file_digest(folder / "model.bin")[:12], **languages}


def _sides(corpora: list[Corpus], select: Callable[[str], bool]) -> Iterator[Sides]:
    """Sources and targets, normalized, of the pairs whose target is selected."""
    for corpus in corpora:
        for batch in corpus.batches(["src", "tgt"]):
            sources, targets = (normalize(batch[name]).to_pylist() for name in ("src", "tgt"))
            rows = [row for row, target in enumerate(targets) if select(target)]
            yield [sources[row] for row in rows], [targets[row] for row in rows]


def _all_sides(folder: Path) -> list[Sides]:
    """Sources and targets of all pairs of a corpus."""
    return list(_sides([Corpus.open(folder)], lambda target: True))


class _Mixture:
    """Reads all parts, one after the other, each repeated as its weight asks for; every pass gives the same rows."""

    def __init__(self, parts: list[Callable[[], Iterator[Sides]]], weights: Sequence[float], seed: int) -> None:
        from paraloom.mt.data import mixture_sizes

        self.parts, self.seeds = parts, spawn_seeds(seed, len(parts))
        self.rows = [sum(len(sources) for sources, _ in part()) for part in parts]
        self.sizes = mixture_sizes(self.rows, weights) if weights else self.rows

    def __call__(self) -> Iterator[Sides]:
        from paraloom.mt.data import repeat_to

        return chain.from_iterable(map(repeat_to, self.parts, self.rows, self.sizes, self.seeds))

    def describe(self, names: Sequence[str]) -> str:
        """Share of each bitext in the training pairs, its pairs, and how often each is read in an epoch."""
        whole = sum(self.sizes)
        return ", ".join(
            f"{name} {size / whole:.1%} ({rows:,} pairs × {size / max(1, rows):.3g})"
            for name, rows, size in zip(names, self.rows, self.sizes, strict=True)
        )


def _label(reference: Ref) -> str:
    return reference.name if isinstance(reference, Stage | Path) else reference


_DIGITS = {"comet": 4, "comet_interval": 4}


class _Test(NamedTuple):
    """The rows of a test corpus, and the names of the groups that each belongs to."""

    sources: list[str]
    references: list[str]
    groups: list[tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class EvaluateTranslator(Fit):
    """Measures BLEU, chrF and optionally COMET of a translator on pairs, `src` into `tgt`, also by groups of pairs.

    Args:
        translator: The translator.
        pairs: The test pairs.
        decode: How to decode.
        sets: Table of test sets, a line `NAME FIRST_ROW LAST_ROW` each. Every set is a group, and so is every folder in
            the names of sets: with WMT's, `eng-isl` are the sentences that were English originally (to measure the
            effect of translationese). Rows are the numbers at the ends of `pair_id`, so that the corpus may be a part
            of the file.
        comet: Folder of a COMET model, for its scores, too.

    Raises:
        DataError: When it runs: a `pair_id` does not end with a number, which `sets` need.

    Reference:
        Burchell, Birch and Heafield 2022, §4.4 (translationese).

    Example:
        >>> EvaluateTranslator(translator="train-translator", pairs="test").decode
        'beam:5'
    """

    version: ClassVar[str] = "2"
    removed_fields: ClassVar[Mapping[str, Json]] = {"group_by": ""}

    translator: Ref
    pairs: Ref
    comet: Ref | None = None
    decode: str = "beam:5"
    sets: Path | None = None

    def validate(self) -> None:
        from paraloom.mt.decoding import parse_decoding

        parse_decoding(self.decode)

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json and hypotheses.txt; return bleu and chrf with intervals and signatures, comet, groups."""
        from paraloom.evaluate.comet import evaluate_comet
        from paraloom.evaluate.row_groups import evaluate_groups
        from paraloom.evaluate.translation import evaluate_translation
        from paraloom.mt.loading import open_translator
        from paraloom.mt.streams import best_translations

        test = self._test(Corpus.open(context.inputs["pairs"]))
        translator = open_translator(context.inputs["translator"], self.decode)
        hypotheses = best_translations(translator, test.sources)
        (folder / "hypotheses.txt").write_text("".join(f"{text}\n" for text in hypotheses), encoding="utf-8")
        comet = None
        if "comet" in context.inputs:
            comet = evaluate_comet(test.sources, hypotheses, test.references, model=context.inputs["comet"])

        def measure(rows: Sequence[int]) -> dict[str, Json]:
            result = evaluate_translation([hypotheses[row] for row in rows], [test.references[row] for row in rows])
            return result.to_dict() | (comet.select(rows).to_dict() if comet else {})

        figures = measure(range(len(hypotheses)))
        if self.sets is not None:
            figures["groups"] = evaluate_groups(test.groups, measure)
        (folder / "result.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        if "groups" in figures:
            figures["groups"] = [_brief(group) for group in figures["groups"]]
        return _rounded(figures)

    def _test(self, corpus: Corpus) -> _Test:
        sources: list[str] = []
        references: list[str] = []
        groups: list[tuple[str, ...]] = []
        for batch in corpus.batches(["pair_id", "src", "tgt"]):
            sources += normalize(batch.column("src")).to_pylist()
            references += normalize(batch.column("tgt")).to_pylist()
            groups += self._groups_of(batch.column("pair_id").to_pylist())
        return _Test(sources, references, groups)

    def _groups_of(self, pair_ids: list[str]) -> list[tuple[str, ...]]:
        from paraloom.evaluate.row_groups import read_row_ranges, row_groups, row_number

        if self.sets is None:
            return [()] * len(pair_ids)
        rows = []
        for pair_id in pair_ids:
            row = row_number(pair_id)
            if row is None:
                raise DataError(
                    f"pair_id '{pair_id}' does not end with a row number, which 'sets' need",
                    remedy="Read the test sets with a stage 'read-pairs', from the file that the table describes.",
                )
            rows.append(row)
        return row_groups(read_row_ranges(self.sets), rows)


def _rounded(figures: dict[str, Json]) -> dict[str, Json]:
    return {
        name: round(value, _DIGITS.get(name, 2)) if isinstance(value, float) else value
        for name, value in figures.items()
    }


def _brief(figures: dict[str, Json]) -> dict[str, Json]:
    """Figures of a group without signatures, which are the same for all groups except for the sentences."""
    return _rounded({name: value for name, value in figures.items() if not name.endswith("_signature")})
