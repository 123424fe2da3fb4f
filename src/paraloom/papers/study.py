"""Inputs of the tables about pairs: the sources, their scores, and the folder of the runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from paraloom.api.keywords import ReadingOptions
from paraloom.api.run import input_stages, run_in
from paraloom.bundled import PARSER, bundled_path
from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import ConfigError
from paraloom.core.stage import Stage
from paraloom.embed.spec import PARTS, parse_spec
from paraloom.embed.vocabulary import Vocabulary
from paraloom.embed.word_vectors import read_vector_words, read_vectors, vector_width, vectors_file
from paraloom.evaluate.development import Development, read_development
from paraloom.io.atomic import atomic_write
from paraloom.papers.one_convention import OneConvention
from paraloom.papers.provenance import input_digest, translator_of
from paraloom.papers.w17.train_classifier import TrainClassifier
from paraloom.papers.w17.tuning import Tuning
from paraloom.pipeline.fit import ARTIFACT
from paraloom.pipeline.result import RunResult
from paraloom.stages.pairs import Filter
from paraloom.stages.scores import CountWords, Score, TrainLanguageModel

DIMENSION = 300
"""Of encoders that start from random vectors, as in the papers."""

SIMPLE_WIKIPEDIA = "Simple Wikipedia"
"""Name of the pairs of standard and Simple English Wikipedia in tables."""

PPDB = "PPDB"
"""Name of the pairs of the paraphrase database in tables."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """Data and settings of the tables that are made from back-translated pairs.

    Args:
        sources: Name → back-translated pairs, a corpus folder or a file, with the reference as `src`. Filters are tuned
            on the first.
        sts: Folder of similarity tasks.
        folder: Folder of the runs, each of which resumes when it was stopped.
        encoder: Encoder of the paraphrase score, a name or a folder.
        parser: For the entropy of parses: english, or a folder of `train parser`.
        word_frequencies: A word and its count on each line, of a large corpus such as Wikipedia's, for the IDF of
            W17 10 and PNMT 1; default: the pairs' own references.
        vectors: Word vectors that all trainings start from, in the part of the papers' paragram-sl999: a text file,
            .npy, or a folder of the stage `distill-words`; default: random vectors.
        simple_wikipedia: Pairs of standard and Simple English Wikipedia, for W17 4, 5, 6, 12, 13, PNMT 8.
        ppdb: Pairs of the paraphrase database, words or phrases, for W17 4 and 13.
        size: Pairs of each selection (24,000 in W17).
        recurrent_size: The same for recurrent encoders (GRAN, LSTM, BLSTM), which take minutes; 0 leaves them out;
            default: --size.
        classifier_pairs: References that classifiers are trained on at most, 40,000 in the paper; an eighth of them
            again for development and test.
        tuning_size: The same for each candidate while filters are tuned; default: --size.
        epochs: Maximum number of passes; the papers' 20 (AVG), 5 (PNMT) and 3 (GRAN) are the most.
        seeds: Trainings of each system, each on another draw of the pairs.
        devices: Where recurrent networks compute: cpu, cuda or cuda:0,cuda:1; classifiers on the first.
        workers: Processes; default: one per core.
        seed: Seed of every random choice.
    """

    sources: Mapping[str, str]
    sts: str
    folder: Path
    encoder: str | Path = "english"
    parser: str | None = None
    word_frequencies: str | Path | None = None
    vectors: str | Path | None = None
    simple_wikipedia: str | None = None
    ppdb: str | None = None
    size: int = 24_000
    recurrent_size: int | None = None
    classifier_pairs: int = 5_000
    tuning_size: int | None = None
    epochs: int = 20
    seeds: int = 3
    devices: str = "cpu"
    workers: int | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("size", "seeds", "epochs"):
            if getattr(self, name) < 1:
                raise ConfigError(f"'{name}' is {getattr(self, name)}; expected 1 or more")

    @property
    def signature(self) -> str:
        """Signature of what the figures depend on besides the pairs."""
        listed = {} if self.word_frequencies is None else {"words": file_digest(Path(self.word_frequencies))[:12]}
        return signature(
            "reproduce",
            sources="+".join(self.sources),
            vectors=file_digest(vectors_file(self.vectors))[:12] if self.vectors is not None else "random",
            size=self.size,
            **listed,
            **{"recurrent-size": self.size_of_recurrent, "tuning-size": self.tuning_size or self.size},
            epochs=self.epochs,
            seeds=self.seeds,
            seed=self.seed,
        )

    @property
    def size_of_recurrent(self) -> int:
        """Pairs of each selection that recurrent encoders are trained on; 0: none is trained."""
        return self.size if self.recurrent_size is None else min(self.size, self.recurrent_size)

    @cached_property
    def digests(self) -> dict[str, str]:
        """Name of each input → its digest, or the signature of the translator that made it."""
        given = {
            **{f"pairs {name}": path for name, path in self.sources.items()},
            "encoder": self.encoder,
            "parser": self.parser and (bundled_path(self.parser, PARSER) or self.parser),
            "vectors": None if self.vectors is None else vectors_file(self.vectors),
            "word frequencies": self.word_frequencies,
            "Simple Wikipedia": self.simple_wikipedia,
            "PPDB": self.ppdb,
            "similarity tasks": self.sts if Path(self.sts).exists() else None,
        }
        files = {name: input_digest(path) for name, path in given.items() if path is not None}
        translators = {f"translator of {name}": translator_of(path) for name, path in self.sources.items()}
        return files | {name: translator for name, translator in translators.items() if translator}

    @cached_property
    def development(self) -> Development:
        """The similarity tasks that choose epochs, filters and tenths."""
        return read_development(self.sts)

    @cached_property
    def dimension(self) -> int:
        """Dimension of the parts of encoders: that of the given vectors, or 300."""
        return DIMENSION if self.vectors is None else vector_width(self.vectors)

    def wide_vectors(self, dimension: int | None = None) -> Path:
        """The given vectors as an array, which is read faster than text."""
        if self.vectors is None:
            raise ConfigError("no word vectors are given", remedy="Set 'vectors'.")
        dimension = dimension or self.dimension
        kept = f"vectors-{dimension}-{file_digest(vectors_file(self.vectors))[:8]}"
        return padded_vectors(self.vectors, dimension, (self.folder / kept).absolute())

    def size_of(self, spec: str) -> int:
        """Pairs of each selection that an encoder is trained on."""
        return self.size_of_recurrent if is_recurrent(spec) else self.size

    def human_pairs(self) -> dict[str, Path]:
        """Pairs that no translator made, as folders of corpora, by `SIMPLE_WIKIPEDIA` (scored) and `PPDB`."""
        stages: list[Stage] = []
        folders: dict[str, str] = {}
        if self.simple_wikipedia is not None:
            reading, pairs = input_stages(self.simple_wikipedia, name="simple-wikipedia-pairs", **_ENGLISH)
            folders[SIMPLE_WIKIPEDIA] = "simple-wikipedia"
            scores = ("tgt_tokens", "overlap", "bleu1")
            stages += [*reading, Score(name="simple-wikipedia", input=pairs, scores=scores)]
        if self.ppdb is not None:
            reading, pairs = input_stages(self.ppdb, name="ppdb", **_ENGLISH)
            if not reading:
                reading = [Filter(name="ppdb", input=pairs, where="src <> tgt")]
            folders[PPDB] = "ppdb"
            stages += reading
        result = self.run(stages, self.folder / "human") if stages else None
        return {name: result.stage(folder).folder for name, folder in folders.items()} if result else {}

    def surface_scored(self) -> dict[str, Path]:
        """The sources with the scores that need no model, as folders of corpora; enough for most tables of encoders."""
        stages: list[Stage] = []
        for name, source in self.sources.items():
            stages += self.pairs_of(name, source)
            stages.append(Score(name=name, scores=("common",)))
        result = self.run(stages, self.folder / "pairs")
        return {name: result.stage(name).folder for name in self.sources}

    def pairs_of(self, name: str, source: str) -> list[Stage]:
        """The stages that read a source and write both sides by one convention."""
        reading, pairs = input_stages(source, name=f"{name}-pairs")
        return [*reading, OneConvention(name=f"{name}-plain", input=pairs)]

    def scored(self) -> dict[str, Path]:
        """The sources with all scores that need no model of their own, as folders of corpora.

        A quarter of each source, by a hash of the pair's name, is left for the language model and the classifier (W17
        §5.6: references that no experiment sees).
        """
        result = self.run(self._scoring(), self.folder / "scored")
        return {name: result.stage(name).folder for name in self.sources}

    def judged(self, seed: int = 1) -> dict[str, Path]:
        """The same with the scores of a language model and a classifier of each source; LSTMs take hours."""
        stages = self._scoring()
        device = self.devices.partition(",")[0]
        for name in self.sources:
            training = (f"{name}-models",)
            stages += [
                TrainLanguageModel(name=f"{name}-lm", corpora=training),
                TrainClassifier(
                    name=f"{name}-judge-{seed}",
                    pairs_from=training,
                    max_pairs=self.classifier_pairs,
                    held_out=self.classifier_pairs // 8,
                    device=device,
                ),
                Score(
                    name=f"{name}-{seed}",
                    input=name,
                    scores=(),
                    language_model=f"{name}-lm",
                    classifier=f"{name}-judge-{seed}",
                ),
            ]
        result = self.run(stages, self.folder / "scored")
        return {name: result.stage(f"{name}-{seed}").folder for name in self.sources}

    def _scoring(self) -> list[Stage]:
        stages: list[Stage] = []
        for name, source in self.sources.items():
            stages += self.pairs_of(name, source)
            pairs = stages[-1].name
            for part, where in (("models", "< '4'"), ("rest", ">= '4'")):
                stages.append(Filter(name=f"{name}-{part}", input=pairs, where=f"md5(pair_id) {where}"))
        if self.word_frequencies is None:
            stages.append(CountWords(name="word-counts", corpora=tuple(f"{name}-models" for name in self.sources)))
        else:
            stages.append(CountWords(name="word-counts", frequencies=Path(self.word_frequencies).absolute()))
        for name in self.sources:
            scores = ("common", "overlap", "bleu1", "repetition")
            scored = Score(
                name=name, input=f"{name}-rest", scores=scores, encoder=self.encoder, word_counts="word-counts"
            )
            stages.append(scored)
        return stages

    def run(self, stages: Sequence[Stage], folder: Path, *, engine: str = "local") -> RunResult:
        """Run stages in a folder, resuming from whatever is done there; `engine` as of `run_in`."""
        return run_in(folder, stages, name="reproduce", seed=self.seed, engine=engine, workers=self.workers)

    def results(self, stages: Sequence[Stage], folder: Path) -> dict[str, Any]:
        """Run stages in a folder; returns the result.json of each stage that writes one."""
        files = {stage.name: stage.folder / ARTIFACT / "result.json" for stage in self.run(stages, folder).stages}
        return {name: json.loads(path.read_text(encoding="utf-8")) for name, path in files.items() if path.is_file()}

    def tuning(self, pairs: Path, grid: str, encoder: Mapping[str, Any], *, epochs: int) -> Tuning:
        """A tuning of filters, with one draw of each candidate."""
        vectors = {} if self.vectors is None else {"vectors": str(self.wide_vectors()), "vector_words": True}
        return Tuning(
            pairs=str(pairs),
            grids=(grid,),
            sts=Path(self.sts),
            size=self.tuning_size or self.size,
            epochs=epochs,
            seeds=1,
            random_seeds=1,
            encoder={"dimension": self.dimension, **vectors, **encoder},
        )


_ENGLISH: ReadingOptions = {"src_lang": "en", "tgt_lang": "en"}


def is_recurrent(spec: str) -> bool:
    """True if an encoder has a part that reads words in order."""
    return any(PARTS[part].recurrent for part in parse_spec(spec).parts)


def padded_vectors(path: str | Path, dimension: int, folder: Path) -> Path:
    """Word vectors with zeros appended, for a network with more dimensions than they have."""
    array, listed = folder / "vectors.npy", folder / "vectors.txt"
    if not array.is_file():
        words = read_vector_words(path)
        given = read_vectors(path, Vocabulary("word", words))
        width = given.vectors.shape[1]
        if width > dimension:
            raise ConfigError(
                f"the word vectors have {width} dimensions, more than the {dimension} of the network",
                file=Path(path),
                remedy=f"Give vectors of {dimension} dimensions or fewer.",
            )
        with atomic_write(listed) as temporary:
            lines = (f"{words[row]}\n" for row in given.rows.tolist())
            temporary.write_text("".join(lines), encoding="utf-8")
        with atomic_write(array) as temporary, temporary.open("wb") as stream:
            np.save(stream, np.pad(given.vectors, ((0, 0), (0, dimension - width))), allow_pickle=False)
    return array
