"""The stage that trains a phrase encoder and evaluates it on held-out pairs and on phrase tasks."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from paraloom.api.encoders import teacher_stages
from paraloom.api.run import input_stages_of, run_stages
from paraloom.core.config import base_config, check_range
from paraloom.core.errors import ConfigError
from paraloom.core.protocols import EncoderLike
from paraloom.core.seeds import generator
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.embed.average import Average, SentenceEncoder, Vectors
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import load_encoder
from paraloom.embed.vocabulary import Vocabulary
from paraloom.embed.word_vectors import read_vector_words, read_vectors
from paraloom.io import Corpus
from paraloom.papers.pgru.phrase_tasks import FILES, Similarity, evaluate_phrases, read_judged_phrases, read_questions
from paraloom.papers.pgru.phrase_training import PhraseConfig, PhraseExample, train_phrases
from paraloom.papers.pgru.retrieval import retrieval_accuracy
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.shard import OnError
from paraloom.stages.distillation import DistillWords
from paraloom.text.tokens import token_hash, words

# Negatives of each positive item of SemEval.
_SEMEVAL_NEGATIVES = 3


@dataclass(frozen=True, kw_only=True)
class TrainPhrases(PhraseConfig, Fit):
    """Trains a recurrent network over given word vectors, so that phrases of the same meaning are similar (PGRU).

    The development part of the pairs is evaluated every five epochs, if it has `num_candidates` different paraphrases,
    and the best epoch is kept.

    Args:
        pairs: Corpora of phrases that mean the same; those that PGRU's filters reject are counted and left out.
        vectors: Word vectors: a text file, or the artifact of `distill-words`.
        tasks: Folder of phrase tasks, to evaluate on.
        task: Train on the training set of `semeval` or `turney` as well.
        task_repeats: Number of times that each example of `task` occurs in an epoch.
        reversed_negative: Use a phrase of two words in reverse order as a further negative.
        held_out: Fraction of the pairs for development, and again for the test; 0 or more and less than 0.5.
        num_candidates: Candidates among which the paraphrase is chosen in the development and the test figure.

    For the other fields see :class:`~paraloom.papers.pgru.phrase_training.PhraseConfig`.

    Raises:
        ConfigError: A value is out of range, `task` is given without `tasks`, or neither `pairs` nor `task` is given.

    Reference:
        Zhou, Huang and Ji 2017 (PGRU), §2.5.

    Example:
        >>> TrainPhrases(pairs=["read-pairs"], vectors="distill-words", network="lstm").num_candidates
        100
    """

    version: ClassVar[str] = "3"
    sentinel: ClassVar[str] = "*.vocabulary.txt"

    pairs: tuple[Ref, ...] = ()
    vectors: Ref
    tasks: Ref | None = None
    task: Literal["", "semeval", "turney"] = ""
    task_repeats: int = 5
    reversed_negative: bool = False
    held_out: float = 0.1
    num_candidates: int = 100

    def validate(self) -> None:
        super().validate()
        if self.task and not self.tasks:
            raise ConfigError(
                f"key 'task' is '{self.task}', but 'tasks' is missing", remedy="Name the folder of tasks."
            )
        if not (self.pairs or self.task):
            raise ConfigError("keys 'pairs' and 'task' are missing", remedy="Set at least one of them.")
        check_range(self, "held_out", low=0, below=0.5)

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Train and save the encoder; result.json has the figures of the held-out pairs and of the tasks."""
        known, table = self._vectors(context)
        parts, counts = self._pairs(context, set(known))
        examples = [self._example(*pair) for pair in parts["train"]] + self.task_repeats * list(self._of_task(context))

        def choose(encoder: EncoderLike) -> float:
            return self._chosen(encoder, parts["development"], context.seed, self.similarity)

        evaluator = choose if self._enough(parts["development"]) else None
        config = base_config(PhraseConfig, self)
        figures = train_phrases(examples, (known, table), config, folder, evaluator, seed=context.seed)
        average = SentenceEncoder(parse_spec("word"), {"word": Average(Vocabulary("word", known), table)})
        result: dict[str, Json] = {"pairs": counts, "test": len(parts["test"]), **figures}
        for name, encoder in (("trained", load_encoder(folder)), ("average", average)):
            result[name] = self._measured(
                encoder, parts["test"], context, "cosine" if name == "average" else self.similarity
            )
        (folder / "result.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        return result

    def _vectors(self, context: StageContext) -> tuple[list[str], Vectors]:
        """The words, lower-cased, and vectors of mean norm 2: with shorter ones a GRU's gates stay half open."""
        words = read_vector_words(context.inputs["vectors"])
        pretrained = read_vectors(context.inputs["vectors"], Vocabulary("word", words))
        lengths = np.linalg.norm(pretrained.vectors, axis=1)
        table: Vectors = pretrained.vectors * np.float32(2 / max(float(lengths.mean()), 1e-9))
        return [words[row] for row in pretrained.rows.tolist()], table

    def _pairs(self, context: StageContext, known: set[str]) -> tuple[dict[str, list[tuple[str, str]]], dict[str, int]]:
        """The usable pairs of each part, assigned by a hash of the phrases, and the number left out for each reason."""
        parts: dict[str, list[tuple[str, str]]] = {"train": [], "development": [], "test": []}
        counts = {"read": 0, "used": 0}
        for path in context.paths("pairs"):
            for batch in Corpus.open(path).batches(["src", "tgt"]):
                for src, tgt in zip(batch.column("src").to_pylist(), batch.column("tgt").to_pylist(), strict=True):
                    counts["read"] += 1
                    fault = phrase_fault(src, tgt, known)
                    if fault is None:
                        parts[self._part(token_hash(f"{src}\t{tgt}") / 2.0**64)].append((src, tgt))
                    counts[fault or "used"] = counts.get(fault or "used", 0) + 1
        return parts, counts

    def _part(self, fraction: float) -> str:
        if fraction >= 2 * self.held_out:
            return "train"
        return "test" if fraction < self.held_out else "development"

    def _example(self, phrase: str, paraphrase: str) -> PhraseExample:
        pieces = phrase.split(" ")
        if not self.reversed_negative or len(pieces) != 2:
            return PhraseExample(phrase, paraphrase)
        return PhraseExample(phrase, paraphrase, ((" ".join(reversed(pieces)), paraphrase),))

    def _of_task(self, context: StageContext) -> Iterator[PhraseExample]:
        if self.task == "turney":
            for question in read_questions(context.inputs["tasks"] / FILES["turney-train"]):
                near = [(question.phrase, choice) for choice in question.choices[1:]]
                far = [(question.reversed, choice) for choice in question.choices]
                yield PhraseExample(question.phrase, question.choices[0], (*near, *far))
        elif self.task == "semeval":
            items = read_judged_phrases(context.inputs["tasks"] / FILES["semeval-train"])
            different = [(item.phrase, item.word) for item in items if not item.same]
            draw = generator(context.seed, 23)
            for item in items:
                if item.same:
                    selected = draw.choice(len(different), _SEMEVAL_NEGATIVES, replace=False)
                    yield PhraseExample(item.phrase, item.word, tuple(different[i] for i in selected))

    def _enough(self, pairs: list[tuple[str, str]]) -> bool:
        return len({second for _, second in pairs}) >= self.num_candidates

    def _chosen(self, encoder: EncoderLike, pairs: list[tuple[str, str]], seed: int, similarity: Similarity) -> float:
        first, second = zip(*pairs, strict=True)
        how: dict[str, Any] = {"num_candidates": self.num_candidates, "seed": seed, "similarity": similarity}
        return round(100 * retrieval_accuracy(encoder, first, second, **how), 2)

    def _measured(
        self, encoder: EncoderLike, test: list[tuple[str, str]], context: StageContext, similarity: Similarity
    ) -> dict[str, Json]:
        figures: dict[str, Json] = {}
        if self._enough(test):
            figures[f"choosing among {self.num_candidates}"] = self._chosen(encoder, test, context.seed, similarity)
        if "tasks" in context.inputs:
            figures |= evaluate_phrases(encoder, context.inputs["tasks"], similarity=similarity).to_dict()
        return figures


def train_phrase_encoder(
    pairs: str | Path | Sequence[str | Path] = (),
    output: str | Path = "phrases",
    *,
    vectors: str | Path | None = None,
    teacher: str | None = None,
    tasks: str | Path | None = None,
    on_error: OnError = "stop",
    seed: int = 1,
    **config: Any,
) -> RunResult:
    """Train an encoder of phrases on paraphrases, with contrast phrases and a margin.

    Args:
        pairs: Phrases that mean the same: PPDB, or any pairs.
        output: The folder to write.
        vectors: Word vectors: text of word2vec, GloVe or fastText, or a folder of the stage `distill-words`.
        teacher: Instead of --vectors: a sentence-transformers model that encodes each word.
        tasks: Folder of phrase tasks, to evaluate on.
        on_error: Stop at a row that cannot be read, or reject it into OUTPUT.rejected.jsonl, with the reason.
        seed: Seed of every random choice.
        **config: Further fields of `TrainPhrases`.
    """
    if bool(vectors) == bool(teacher):
        raise ConfigError("expected either 'vectors' or 'teacher'", remedy="Give exactly one of them.")
    stages, encoder = ([], None) if teacher is None else teacher_stages(teacher)
    reading, references = input_stages_of(pairs, "pairs", on_error=on_error)
    stages += reading
    folder = None if tasks is None else Path(tasks).absolute()
    source: Ref
    if encoder is not None:
        source = DistillWords(encoder=encoder, corpora=references, tasks=folder, sif_coefficient=0.0)
        stages.append(source)
    else:
        source = Path(str(vectors)).absolute()
    training = TrainPhrases(pairs=references, vectors=source, tasks=folder, **config)
    return run_stages([*stages, training], str(output), seed=seed)


def phrase_fault(phrase: str, paraphrase: str, known: Container[str] | None = None) -> str | None:
    """The first reason why a pair of phrases is unfit for training (PGRU §2.1)."""
    if phrase == paraphrase:
        return "identical"
    if not all(character.isalpha() or character == " " for character in phrase + paraphrase):
        return "other than letters"
    sides = words(phrase), words(paraphrase)
    if not all(sides):
        return "empty"
    if known is not None and not all(word in known for side in sides for word in side):
        return "unknown word"
    return "two single words" if len(sides[0]) == len(sides[1]) == 1 else None
