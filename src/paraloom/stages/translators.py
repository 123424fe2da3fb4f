"""Stages that make a translator: train one, or bring one in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import chain
from pathlib import Path
from typing import ClassVar

from paraloom.core.digests import file_digest
from paraloom.core.errors import DataError
from paraloom.core.seeds import spawn_seeds
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.evaluate.translation import evaluate_translation
from paraloom.io import Corpus
from paraloom.mt.checkpoint import CHECKPOINT, convert, write_card
from paraloom.mt.loading import load_translator
from paraloom.mt.mixing import mixed_rows, repeated
from paraloom.mt.training import TranslatorConfig, train_translator
from paraloom.mt.translator import best_translations
from paraloom.text.normalize import normalize
from paraloom.text.tokens import token_hash

Sides = tuple[Sequence[str], Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class TrainTranslator(TranslatorConfig, Fit):
    """Trains a translator from scratch, or from `start`, on one or several bitexts.

    bitext: corpora of pairs; src is translated into tgt.  weights: one a bitext, how much of the training it is to
    make up: [2, 1] repeats rows until there are two of the first for one of the second, none being left out (see
    paraloom.mt.mixing); none: all rows once.  development: pairs whose loss stops the training; where
    there are none, some `held_out` pairs are set apart from the bitext, by a hash of their target so that no
    sentence stands on both sides.  test: pairs for the BLEU of the model card; without them,
    it is measured on the development pairs.  start: a translator to go on from; subwords_of: one whose sub-words are
    taken, for nothing else.
    title, licence, about: for the model card.  The other fields are those of paraloom.mt.training.TranslatorConfig.
    """

    sentinel: ClassVar[str] = "shared_vocabulary.json"
    inputs: ClassVar[tuple[str, ...]] = ("bitext", "development", "test", "start", "subwords_of")
    optional_fields: ClassVar[tuple[str, ...]] = ("weights", "symbols", "last_weights")
    version: ClassVar[str] = "1"

    bitext: tuple[Ref, ...]
    weights: tuple[float, ...] = ()
    development: Ref | None = None
    test: Ref | None = None
    start: Ref | None = None
    subwords_of: Ref | None = None
    held_out: int = 1000
    title: str = "A translator"
    licence: str = "other"
    about: str = "Trained by Paraloom."

    def validate(self) -> None:
        super().validate()
        if self.weights:
            mixed_rows([1] * len(self.bitext), self.weights)

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
        start = context.inputs.get("start")
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
            start=start,
            subwords_of=context.inputs.get("subwords_of"),
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
            figures = evaluate_translation(best_translations(load_translator(model, "beam:5"), sources), references)
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
            "licence": self.licence,
            **{key: value for key, value in figures.items() if "seconds" not in key and "per_second" not in key},
        }
        write_card(folder, title=self.title, facts=facts, text=self.about)


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
    wanted = mixed_rows(rows, weights)
    seeds = spawn_seeds(seed, len(parts))
    plans = list(zip(parts, rows, wanted, seeds, strict=True))
    return lambda: chain.from_iterable(repeated(*plan) for plan in plans)


def _drawn(target: str, share: float) -> bool:
    return token_hash(target) < share * 2.0**64
