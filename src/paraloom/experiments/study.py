"""What the papers' tables are made of: sources of pairs, scored once, and where the runs go."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraloom.core.digests import signature
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import pipeline_from_tables
from paraloom.workflows.quickstart import BUNDLED
from paraloom.workflows.run import corpus_stages
from paraloom.workflows.tune import Tuning


@dataclass(frozen=True, kw_only=True)
class Study:
    """What the tables are made of, and where.

    sources: name → back-translated pairs (a corpus folder or a file), src the reference; filters are tried on the
    first.  sts: a folder of similarity tasks.  folder: where the runs go, each of which goes on when it was stopped.
    encoder: for the paraphrase score; the bundled one when left out.  parser: for the entropy of parses, which is left
    empty without one.  size, epochs, seeds: pairs of a selection (W17:
    24,000), passes at most, draws of the random selection and of the best one.
    """

    sources: Mapping[str, str]
    sts: str
    folder: Path
    encoder: str = str(BUNDLED / "english")
    parser: str | None = None
    size: int = 24_000
    epochs: int = 10
    seeds: int = 5
    workers: int | None = None
    seed: int = 1

    @property
    def signature(self) -> str:
        """What the figures depend on beside the pairs."""
        return signature(
            "reproduce",
            sources="+".join(self.sources),
            size=self.size,
            epochs=self.epochs,
            draws=self.seeds,
            seed=self.seed,
        )

    def scored(self) -> dict[str, Path]:
        """The sources with every score that a table asks for.

        A quarter of each source, by a hash of the pair's name, trains the language model and the classifier and is
        used for nothing else (W17 §5.6: references that no experiment sees).
        """
        stages: list[dict[str, Any]] = []
        for name, source in self.sources.items():
            read, pairs = corpus_stages(source)
            stages += [{**stage, "name": f"{name}-pairs"} for stage in read]
            pairs = f"{name}-pairs" if read else pairs
            for part, where in (("models", "< '4'"), ("rest", ">= '4'")):
                stages.append(
                    {"name": f"{name}-{part}", "use": "filter", "input": pairs, "where": f"md5(pair_id) {where}"}
                )
        models = [f"{name}-models" for name in self.sources]
        stages.append({"name": "word-counts", "use": "count-words", "corpora": models})
        for name in self.sources:
            stages.append({"name": f"{name}-lm", "use": "train-language-model", "corpora": [f"{name}-models"]})
            stages.append(
                {"name": f"{name}-judge", "use": "train-classifier", "pairs_from": [f"{name}-models"], "kind": "avg"}
            )
            stages.append(
                {
                    "name": name,
                    "use": "score",
                    "input": f"{name}-rest",
                    "scores": ["common", "overlap", "bleu1", "repetition"],
                    "encoder": str(Path(self.encoder).absolute()),
                    "word_counts": "word-counts",
                    "language_model": f"{name}-lm",
                    "classifier": f"{name}-judge",
                }
            )
        folder = self.folder / "scored"
        result = self.run(stages, folder)
        return {name: result[name] for name in self.sources}

    def run(self, stages: Sequence[Mapping[str, Any]], folder: Path) -> dict[str, Path]:
        """The folders of the stages of a pipeline, which is run first."""
        pipeline = pipeline_from_tables(stages, name="reproduce", seed=self.seed)
        return {stage.name: stage.folder for stage in run_pipeline(pipeline, folder, workers=self.workers).stages}

    def found(self, stages: Sequence[Mapping[str, Any]], folder: Path) -> dict[str, Any]:
        """The result.json of each stage that writes one."""
        results = {name: path / "artifact/result.json" for name, path in self.run(stages, folder).items()}
        return {name: json.loads(path.read_text(encoding="utf-8")) for name, path in results.items() if path.is_file()}

    def tuning(
        self, grids: Sequence[str], encoder: Mapping[str, Any], *, epochs: int | None = None, seeds: int = 1
    ) -> Tuning:
        """A tuning on the first source; seeds: draws of each candidate."""
        first = next(iter(self.scored().values()))
        return Tuning(
            pairs=str(first),
            grids=grids,
            sts=self.sts,
            size=self.size,
            epochs=epochs or self.epochs,
            seeds=seeds,
            random_seeds=self.seeds,
            encoder=dict(encoder),
        )
