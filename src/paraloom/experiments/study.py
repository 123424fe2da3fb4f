"""What the tables about pairs share: the sources, their scores, and the folder of the runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraloom.core.digests import signature
from paraloom.core.stage import Stage
from paraloom.pipeline.fit import ARTIFACT
from paraloom.pipeline.result import RunResult
from paraloom.stages.pairs import Filter
from paraloom.stages.scores import CountWords, Score, TrainClassifier, TrainLanguageModel
from paraloom.workflows.run import input_stages, run_in
from paraloom.workflows.tuning import Tuning


@dataclass(frozen=True, kw_only=True)
class Study:
    """Data and settings of the tables that are made from back-translated pairs.

    Args:
        sources: Name → back-translated pairs, a corpus folder or a file, with the reference as `src`. Filters are tuned
            on the first.
        sts: Folder of similarity tasks.
        folder: Folder of the runs, each of which resumes when it was stopped.
        encoder: Encoder of the paraphrase score, a name or a folder.
        parser: Folder of a parser, for the entropy of parses; None leaves that out.
        size: Pairs of each selection (24,000 in W17).
        epochs: Maximum number of passes over the pairs.
        seeds: Draws of the random selection and of the best one.
        workers: Processes; None: one per core.
        seed: Seed of every random choice.
    """

    sources: Mapping[str, str]
    sts: str
    folder: Path
    encoder: str | Path = "english"
    parser: str | None = None
    size: int = 24_000
    epochs: int = 10
    seeds: int = 5
    workers: int | None = None
    seed: int = 1

    @property
    def signature(self) -> str:
        """What the figures depend on besides the pairs."""
        return signature(
            "reproduce",
            sources="+".join(self.sources),
            size=self.size,
            epochs=self.epochs,
            draws=self.seeds,
            seed=self.seed,
        )

    def scored(self) -> dict[str, Path]:
        """The sources with all scores that the tables need, as folders of corpora.

        A quarter of each source, by a hash of the pair's name, trains the language model and the classifier and is not
        used for anything else (W17 §5.6: references that no experiment sees).
        """
        stages: list[Stage] = []
        for name, source in self.sources.items():
            reading, pairs = input_stages(source, name=f"{name}-pairs")
            stages += reading
            for part, where in (("models", "< '4'"), ("rest", ">= '4'")):
                stages.append(Filter(name=f"{name}-{part}", input=pairs, where=f"md5(pair_id) {where}"))
        stages.append(CountWords(name="word-counts", corpora=tuple(f"{name}-models" for name in self.sources)))
        for name in self.sources:
            stages += [
                TrainLanguageModel(name=f"{name}-lm", corpora=(f"{name}-models",)),
                TrainClassifier(name=f"{name}-judge", pairs_from=(f"{name}-models",), kind="avg"),
                Score(
                    name=name,
                    input=f"{name}-rest",
                    scores=("common", "overlap", "bleu1", "repetition"),
                    encoder=self.encoder,
                    word_counts="word-counts",
                    language_model=f"{name}-lm",
                    classifier=f"{name}-judge",
                ),
            ]
        result = self.run(stages, self.folder / "scored")
        return {name: result.stage(name).folder for name in self.sources}

    def run(self, stages: Sequence[Stage], folder: Path) -> RunResult:
        """Run stages in a folder, resuming from whatever is done there."""
        return run_in(folder, stages, name="reproduce", seed=self.seed, workers=self.workers)

    def results(self, stages: Sequence[Stage], folder: Path) -> dict[str, Any]:
        """Run stages in a folder; returns the result.json of each stage that writes one."""
        files = {stage.name: stage.folder / ARTIFACT / "result.json" for stage in self.run(stages, folder).stages}
        return {name: json.loads(path.read_text(encoding="utf-8")) for name, path in files.items() if path.is_file()}

    def tuning(
        self, grids: Sequence[str], encoder: Mapping[str, Any], *, epochs: int | None = None, seeds: int = 1
    ) -> Tuning:
        """A tuning of filters on the first source.

        Args:
            grids: Names of grids.
            encoder: Fields of `TrainEncoder`.
            epochs: Maximum number of passes; default: those of the study.
            seeds: Draws of each candidate.
        """
        pairs = next(iter(self.scored().values()))
        return Tuning(
            pairs=str(pairs),
            grids=tuple(grids),
            sts=Path(self.sts),
            size=self.size,
            epochs=epochs or self.epochs,
            seeds=seeds,
            random_seeds=self.seeds,
            encoder=dict(encoder),
        )
