"""A stage that trains an encoder of phrases and measures it on pairs that were held out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from paraloom.core.errors import ConfigError
from paraloom.core.protocols import EncoderLike
from paraloom.core.seeds import generator
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.embed.average import Average, SentenceEncoder, Vectors
from paraloom.embed.phrases import Example, PhraseConfig, train_phrases
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import load_encoder
from paraloom.embed.vectors import read_vectors, read_words_of
from paraloom.embed.vocabulary import Vocabulary
from paraloom.evaluate.phrases import FILES, evaluate_phrases, read_judged, read_questions
from paraloom.evaluate.retrieval import choose_among
from paraloom.io import Corpus
from paraloom.pairs.filtering.cleaning import phrase_fault
from paraloom.text.tokens import token_hash

# Negative items that each positive one of SemEval is set against.
_JUDGED = 3


@dataclass(frozen=True, kw_only=True)
class TrainPhrases(PhraseConfig, Fit):
    """Trains a network over given word vectors to find phrases of the same meaning alike (PGRU).

    pairs: corpora of phrases that mean the same; those that PGRU's filters refuse are counted and left out.
    vectors: a text file of word vectors, or what the stage `distil-words` made.  tasks: the folder of phrase tasks;
    task: train on the training set of 'semeval' or 'turney', too, each example `repeats` times an epoch.
    reversed_contrast: a phrase of two words turned round is one more contrast.
    held_out: share of the pairs for development, and again for the figure: choosing the paraphrase among 100.
    The figure of the development part is taken every five epochs, where it has `choices` different paraphrases, and the
    best epoch is kept.
    The other fields are those of paraloom.embed.phrases.PhraseConfig.
    """

    sentinel: ClassVar[str] = "*.vocabulary.txt"
    inputs: ClassVar[tuple[str, ...]] = ("pairs", "vectors", "tasks")

    pairs: tuple[Ref, ...] = ()
    vectors: Ref
    tasks: Ref | None = None
    task: Literal["", "semeval", "turney"] = ""
    repeats: int = 5
    reversed_contrast: bool = False
    held_out: float = 0.1
    choices: int = 100

    def validate(self) -> None:
        self.check()
        if self.task not in ("", "semeval", "turney"):
            raise ConfigError(f"'task' is semeval or turney, not '{self.task}'")
        if self.task and not self.tasks:
            raise ConfigError(f"'task' is {self.task}, and 'tasks' says no folder")
        if not (self.pairs or self.task):
            raise ConfigError("there is nothing to learn from without 'pairs' or 'task'")
        if not 0 <= self.held_out < 0.5:
            raise ConfigError(f"'held_out' is {self.held_out}, and must be from 0 to below 0.5")

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Train and save the encoder; result.json has the figures of the held-out pairs and of the tasks."""
        known, table = self._vectors(context)
        parts, counts = self._pairs(context, set(known))
        examples = [self._example(*pair) for pair in parts["train"]] + self.repeats * list(self._of_task(context))

        def choose(encoder: EncoderLike, part: str) -> float:
            return self._chosen(encoder, parts[part], context.seed, self.similarity)

        measure = (lambda encoder: choose(encoder, "development")) if self._measurable(parts["development"]) else None
        config = PhraseConfig(**{f.name: getattr(self, f.name) for f in fields(PhraseConfig)})
        figures = train_phrases(examples, (known, table), config, folder, measure, seed=context.seed)
        average = SentenceEncoder(parse_spec("word"), {"word": Average(Vocabulary("word", known), table)})
        result: dict[str, Json] = {"pairs": counts, **figures}
        for name, encoder in (("trained", load_encoder(folder)), ("average", average)):
            result[name] = self._measured(
                encoder, parts["test"], context, "cosine" if name == "average" else self.similarity
            )
        (folder / "result.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        return result

    def _vectors(self, context: StageContext) -> tuple[list[str], Vectors]:
        """The words of the file, lower-cased, and their vectors, twice as long as 1 on the average.

        At that length a GRU's gates neither sleep nor stick.
        """
        names = read_words_of(context.inputs["vectors"])
        given = read_vectors(context.inputs["vectors"], Vocabulary("word", names))
        lengths = np.linalg.norm(given.vectors, axis=1)
        table: Vectors = given.vectors * np.float32(2 / max(float(lengths.mean()), 1e-9))
        return [names[row] for row in given.rows.tolist()], table

    def _pairs(self, context: StageContext, known: set[str]) -> tuple[dict[str, list[tuple[str, str]]], dict[str, int]]:
        """The usable pairs of each part, by a hash of their words, and how many were left out for each reason."""
        parts: dict[str, list[tuple[str, str]]] = {"train": [], "development": [], "test": []}
        counts = {"read": 0, "used": 0}
        for path in context.paths("pairs"):
            for batch in Corpus.open(path).batches(["src", "tgt"]):
                for src, tgt in zip(batch.column("src").to_pylist(), batch.column("tgt").to_pylist(), strict=True):
                    counts["read"] += 1
                    fault = phrase_fault(src, tgt, known)
                    if fault is None:
                        place = token_hash(f"{src}\t{tgt}") / 2.0**64
                        parts[self._part(place)].append((src, tgt))
                    counts[fault or "used"] = counts.get(fault or "used", 0) + 1
        return parts, counts

    def _part(self, place: float) -> str:
        if place >= 2 * self.held_out:
            return "train"
        return "test" if place < self.held_out else "development"

    def _example(self, phrase: str, paraphrase: str) -> Example:
        pieces = phrase.split(" ")
        if not self.reversed_contrast or len(pieces) != 2:
            return Example(phrase, paraphrase)
        return Example(phrase, paraphrase, ((" ".join(reversed(pieces)), paraphrase),))

    def _of_task(self, context: StageContext) -> Iterator[Example]:
        if self.task == "turney":
            for question in read_questions(context.inputs["tasks"] / FILES["turney-train"]):
                near = [(question.phrase, choice) for choice in question.choices[1:]]
                far = [(question.reversed, choice) for choice in question.choices]
                yield Example(question.phrase, question.choices[0], (*near, *far))
        elif self.task == "semeval":
            items = read_judged(context.inputs["tasks"] / FILES["semeval-train"])
            different = [(item.phrase, item.word) for item in items if not item.same]
            draw = generator(context.seed, 23)
            for item in items:
                if item.same:
                    chosen = draw.choice(len(different), _JUDGED, replace=False)
                    yield Example(item.phrase, item.word, tuple(different[i] for i in chosen))

    def _measurable(self, pairs: list[tuple[str, str]]) -> bool:
        return len({second for _, second in pairs}) >= self.choices

    def _chosen(
        self, encoder: EncoderLike, pairs: list[tuple[str, str]], seed: int, similarity: Literal["dot", "cosine"]
    ) -> float:
        first, second = zip(*pairs, strict=True)
        found = choose_among(encoder, first, second, n=self.choices, seed=seed, similarity=similarity)
        return round(100 * found.accuracy, 2)

    def _measured(
        self,
        encoder: EncoderLike,
        test: list[tuple[str, str]],
        context: StageContext,
        similarity: Literal["dot", "cosine"],
    ) -> dict[str, Json]:
        found: dict[str, Json] = {}
        if self._measurable(test):
            found[f"choosing among {self.choices}"] = self._chosen(encoder, test, context.seed, similarity)
        if "tasks" in context.inputs:
            found |= evaluate_phrases(encoder, context.inputs["tasks"], similarity=similarity).to_json()
        return found
