"""Stages about translators: train, load, evaluate and compare them."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import chain
from pathlib import Path
from typing import ClassVar, NamedTuple

from paraloom.core.digests import file_digest
from paraloom.core.errors import ConfigError, DataError, MissingExtraError, nearest
from paraloom.core.seeds import spawn_seeds
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.evaluate.comet import comet_figures, comet_scores, has_comet, is_there
from paraloom.evaluate.test_sets import groups_of_rows, read_sets, row_number
from paraloom.evaluate.translation import by_group, evaluate_translation
from paraloom.evaluate.translation_differences import differences, differences_signature
from paraloom.io import Corpus
from paraloom.io.compression import read_lines
from paraloom.mt.checkpoint import CHECKPOINT, convert, write_card
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.data import mixture_sizes, repeat_to
from paraloom.mt.training import train_translator
from paraloom.mt.translator import Translator, best_translations
from paraloom.text.normalize import normalize
from paraloom.text.tokens import token_hash

Sides = tuple[Sequence[str], Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class TrainTranslator(TranslatorConfig, Fit):
    """Train a translator on one or several bitexts, from scratch or from another translator.

    The remaining fields are those of `paraloom.mt.config.TranslatorConfig`.

    Args:
        bitext: Corpora of pairs; src is translated into tgt.
        weights: Shares of the bitexts in the training data, one each: [2, 1] repeats rows until there are two of the
            first bitext for one of the second, and leaves none out. Default: every row once.
        development: Pairs whose loss stops the training. Default: `held_out` pairs of the bitext, chosen by a hash of
            their target so that no target sentence is in both.
        test: Pairs for the BLEU of the model card. Default: the development pairs.
        init_from: Translator whose subwords and weights to start from.
        subwords_from: Translator whose subwords alone are used.
        held_out: Pairs that are held out where `development` is missing.
        title: Heading of the model card.
        license: License of the training data, for the model card.
        description: What the model is for, for the model card.
    """

    sentinel: ClassVar[str] = "shared_vocabulary.json"
    inputs: ClassVar[tuple[str, ...]] = ("bitext", "development", "test", "init_from", "subwords_from")
    optional_fields: ClassVar[tuple[str, ...]] = ("weights", "special_tokens", "keep_last")
    renamed_fields: ClassVar[Mapping[str, str]] = {
        **TranslatorConfig.renamed_fields,
        "start": "init_from",
        "subwords_of": "subwords_from",
        "licence": "license",
        "about": "description",
    }
    version: ClassVar[str] = "1"

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
        super().validate()
        if self.weights:
            mixture_sizes([1] * len(self.bitext), self.weights)

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Train, measure BLEU on the test pairs as converted and in float32, write the card."""
        corpora = [Corpus.open(path) for path in context.paths("bitext")]
        rows = sum(corpus.rows for corpus in corpora)
        if not rows:
            raise DataError("there are no pairs to train on", file=corpora[0].folder)
        share = 0.0
        if "development" not in context.inputs:
            if rows < 2 * self.held_out:
                raise DataError(
                    f"{rows} pairs are too few to hold {self.held_out} out",
                    remedy="Name a development corpus, or lower held_out.",
                )
            share = self.held_out / rows
        development = list(
            _sides([Corpus.open(context.inputs["development"])], lambda target: True)
            if not share
            else _sides(corpora, lambda target: _drawn(target, share))
        )

        def learned(target: str) -> bool:
            return not (share and _drawn(target, share))

        figures = train_translator(
            _mixture([partial(_sides, [corpus], learned) for corpus in corpora], self.weights, context.seed),
            development,
            TranslatorConfig(**{f.name: getattr(self, f.name) for f in fields(TranslatorConfig)}),
            folder,
            seed=context.seed,
            init_from=context.inputs.get("init_from"),
            subwords_from=context.inputs.get("subwords_from"),
        )
        test = "test" in context.inputs
        figures |= self._measure(
            folder,
            list(_sides([Corpus.open(context.inputs["test"])], lambda target: True)) if test else development,
            "test" if test else "held-out" if share else "development",
        )
        self._card(folder, corpora, figures)
        return figures

    def _measure(self, folder: Path, pairs: list[Sides], kind: str) -> dict[str, Json]:
        sources, references = ([text for batch in pairs for text in batch[side]] for side in (0, 1))
        exact = folder / "checkpoint" / "float32"
        convert(folder / CHECKPOINT, exact, precision="float32")
        found: dict[str, Json] = {"bleu_on": f"{len(sources)} {kind} pairs"}
        for name, model in ((self.precision, folder), ("float32", exact)):
            figures = evaluate_translation(best_translations(Translator.load(model, decode="beam:5"), sources), references)
            interval = figures["bleu_interval"]
            found[f"bleu_{name}"] = round(figures["bleu"], 2)
            found["bleu_interval"] = None if interval is None else round(interval, 2)
            found["bleu_signature"] = figures["bleu_signature"]
        return found

    def _card(self, folder: Path, corpora: list[Corpus], figures: dict[str, Json]) -> None:
        # A bitext of which nothing was fit for use is in no card.
        filled = [corpus for corpus in corpora if corpus.rows]
        first = next(filled[0].batches(["src_lang", "tgt_lang", "origin"]))
        batches = (batch for corpus in filled for batch in corpus.batches(["origin"]))
        origins = {str(origin) for batch in batches for origin in batch["origin"].unique()}
        facts: dict[str, object] = {
            "languages": f"{first['src_lang'][0]} → {first['tgt_lang'][0]}",
            "training data": ", ".join(sorted(origins)),
            "license": self.license,
            **{key: value for key, value in figures.items() if "seconds" not in key and "per_second" not in key},
        }
        write_card(folder, title=self.title, facts=facts, text=self.description)


@dataclass(frozen=True, kw_only=True)
class LoadTranslator(Fit):
    """Brings a ready-made Marian translator in, converted for decoding.

    model: a Hugging Face name such as `Helsinki-NLP/opus-mt-de-en`, which is fetched unless it is in the cache of
    huggingface_hub, or a folder with such a checkpoint.  revision: a branch, tag or commit.
    """

    model: str
    revision: str | None = None
    precision: str = "int8"

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Convert the checkpoint into the artifact."""
        engine = folder / "checkpoint" / "engine"
        convert(self.model, engine, precision=self.precision, revision=self.revision)
        for path in sorted(engine.iterdir()):
            path.replace(folder / path.name)
        return {"model": self.model, "weights": file_digest(folder / "model.bin")[:12]}


def _sides(corpora: list[Corpus], wanted: Callable[[str], bool]) -> Iterator[Sides]:
    for corpus in corpora:
        for batch in corpus.batches(["src", "tgt"]):
            sources, targets = (normalize(batch[name]).to_pylist() for name in ("src", "tgt"))
            kept = [row for row, target in enumerate(targets) if wanted(target)]
            yield [sources[row] for row in kept], [targets[row] for row in kept]


def _mixture(
    parts: list[Callable[[], Iterator[Sides]]], weights: Sequence[float], seed: int
) -> Callable[[], Iterator[Sides]]:
    """All parts one after the other, each as often as its weight wants; for every pass the same rows."""
    if not weights:
        return lambda: chain.from_iterable(part() for part in parts)
    rows = [sum(len(sources) for sources, _ in part()) for part in parts]
    wanted = mixture_sizes(rows, weights)
    seeds = spawn_seeds(seed, len(parts))
    plans = list(zip(parts, rows, wanted, seeds, strict=True))
    return lambda: chain.from_iterable(repeat_to(*plan) for plan in plans)


def _drawn(target: str, share: float) -> bool:
    return token_hash(target) < share * 2.0**64


_DIGITS = {"comet": 4, "comet_interval": 4}


class _Test(NamedTuple):
    """The rows of a test corpus, and the names of the groups that each is in."""

    sources: list[str]
    references: list[str]
    groups: list[tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class EvaluateTranslator(Fit):
    """BLEU and chrF of a translator on a corpus of pairs, src into tgt; on its parts, too, where there are any.

    sets: a table of test sets and their rows, `set first_row last_row` (see paraloom.evaluate.test_sets); it is the number
    at the end of pair_id that counts, so the corpus may be a part of the file.  The folders of sets' names are groups,
    too: with WMT's, `eng-isl` is what was English first, for the effect of translationese (BBH22 §4.4).
    group_by: a column of the corpus, each value of which is a group; not together with sets.
    comet_python: an interpreter that has unbabel-comet (paraloom.evaluate.comet); where it has not, the run goes on
    with a warning and without that figure.  comet_model: a name of COMET's, or a file .ckpt.
    """

    inputs: ClassVar[tuple[str, ...]] = ("translator", "pairs")
    version: ClassVar[str] = "2"

    translator: Ref
    pairs: Ref
    decode: str = "beam:5"
    sets: Path | None = None
    group_by: str = ""
    comet_python: str = ""
    comet_model: str = "wmt20-comet-da"

    def validate(self) -> None:
        if self.sets is not None and self.group_by:
            raise ConfigError("'sets' and 'group_by' both make groups", remedy="Give one of them.")

    def configuration(self) -> dict[str, Json]:
        """As of any stage, but of COMET whether it is there, not where its interpreter is."""
        found = {name: value for name, value in super().configuration().items() if name != "comet_python"}
        there = bool(self.comet_python) and has_comet(self.comet_python) and is_there(self.comet_model)
        return found | ({"comet": True} if there else {})

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json and hypotheses.txt; figures: bleu and chrf with intervals and signatures, comet, groups."""
        test = self._test(Corpus.open(context.inputs["pairs"]))
        translator = Translator.load(context.inputs["translator"], decode=self.decode)
        hypotheses = best_translations(translator, test.sources)
        (folder / "hypotheses.txt").write_text("".join(f"{text}\n" for text in hypotheses), encoding="utf-8")
        comet = self._comet(test, hypotheses)

        def measure(rows: Sequence[int]) -> dict[str, Json]:
            figures = evaluate_translation([hypotheses[row] for row in rows], [test.references[row] for row in rows])
            return figures | comet.of(rows)

        figures = measure(range(len(hypotheses)))
        if self.sets is not None or self.group_by:
            figures["groups"] = by_group(test.groups, measure)
        if comet.missing:
            figures["comet_missing"] = comet.missing
        (folder / "result.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        if "groups" in figures:
            figures["groups"] = [_brief(group) for group in figures["groups"]]
        return _rounded(figures)

    def _test(self, corpus: Corpus) -> _Test:
        if self.group_by and self.group_by not in corpus.schema.names:
            raise ConfigError(f"there is no column '{self.group_by}'{nearest(self.group_by, corpus.schema.names)}")
        sources: list[str] = []
        references: list[str] = []
        groups: list[tuple[str, ...]] = []
        for batch in corpus.batches(["pair_id", "src", "tgt", *([self.group_by] if self.group_by else [])]):
            sources += normalize(batch.column("src")).to_pylist()
            references += normalize(batch.column("tgt")).to_pylist()
            if self.group_by:
                values = batch.column(self.group_by).to_pylist()
                groups += [() if value is None else (str(value),) for value in values]
            else:
                groups += self._of_sets(batch.column("pair_id").to_pylist())
        return _Test(sources, references, groups)

    def _of_sets(self, pair_ids: list[str]) -> list[tuple[str, ...]]:
        if self.sets is None:
            return [()] * len(pair_ids)
        rows = []
        for pair_id in pair_ids:
            row = row_number(pair_id)
            if row is None:
                raise DataError(
                    f"pair_id '{pair_id}' does not end with the number of a row, which 'sets' go by",
                    remedy="Read the test sets by a stage 'bitext', from the file that the table is about.",
                )
            rows.append(row)
        return groups_of_rows(read_sets(self.sets), rows)

    def _comet(self, test: _Test, hypotheses: list[str]) -> _Comet:
        if not self.comet_python:
            return _Comet()
        try:
            scores, made_by = comet_scores(
                test.sources, hypotheses, test.references, python=self.comet_python, model=self.comet_model
            )
        except MissingExtraError as missing:
            warnings.warn(str(missing), stacklevel=2)
            return _Comet(missing=missing.what)
        return _Comet(scores, made_by)


class _Comet(NamedTuple):
    """COMET's score of each row, none where it was not asked for, or is missing."""

    scores: list[float] = []  # noqa: RUF012
    made_by: str = ""
    missing: str = ""

    def of(self, rows: Sequence[int]) -> dict[str, Json]:
        return comet_figures([self.scores[row] for row in rows], self.made_by) if self.scores else {}


def _rounded(figures: dict[str, Json]) -> dict[str, Json]:
    return {
        name: round(value, _DIGITS.get(name, 2)) if isinstance(value, float) else value
        for name, value in figures.items()
    }


def _brief(figures: dict[str, Json]) -> dict[str, Json]:
    """Without signatures, which all groups share but for the sentences drawn."""
    return _rounded({name: value for name, value in figures.items() if not name.endswith("_signature")})


@dataclass(frozen=True, kw_only=True)
class CompareTranslators(Fit):
    """Differences of BLEU and chrF between translators, with paired intervals (paraloom.evaluate).

    measured: stages `evaluate-translator` on one test.  names: what each is called; one name said more than once is one
    system, trained with several seeds.  pairs: the test.
    """

    version: ClassVar[str] = "2"
    inputs: ClassVar[tuple[str, ...]] = ("measured", "pairs")

    measured: tuple[Ref, ...]
    names: tuple[str, ...]
    pairs: Ref

    def validate(self) -> None:
        if len(self.names) != len(self.measured):
            raise ConfigError(f"'names' are {len(self.names)} for {len(self.measured)} measured translators")
        if len(set(self.names)) < 2:
            raise ConfigError("there are no two translators to compare")

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json, `differences`: a row a pair of systems and measure; figures: those of BLEU, as text.

        lowest, highest: of one training of the system, less the mean of the other's.
        """
        systems: dict[str, list[Sequence[str]]] = {}
        for name, path in zip(self.names, context.paths("measured"), strict=True):
            systems.setdefault(name, []).append(list(read_lines(path / "hypotheses.txt")))
        references: list[str] = []
        for batch in Corpus.open(context.inputs["pairs"]).batches(["tgt"]):
            references += normalize(batch.column("tgt")).to_pylist()
        found = differences(systems, references)
        rows = [
            {name: _rounded(value) for name, value in vars(each).items() if name != "seeds"}
            | {"lowest": _rounded(min(each.seeds)), "highest": _rounded(max(each.seeds))}
            for each in found
        ]
        result = {"differences": rows, "signature": differences_signature(len(references))}
        (folder / "result.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        return {
            f"{each.system} - {each.than}": f"{each.value:+.2f} ({each.low:+.2f} to {each.high:+.2f})"
            for each in found
            if each.measure == "bleu"
        }


def _rounded(value: Json) -> Json:
    return round(value, 3) if isinstance(value, float) else value
