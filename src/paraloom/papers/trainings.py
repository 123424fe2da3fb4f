"""Encoders that the papers' tables compare: their trainings on selections of pairs, and their similarities."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import digest, file_digest
from paraloom.core.stage import Stage
from paraloom.embed.encoder import open_encoder
from paraloom.embed.threads import available_threads
from paraloom.embed.word_vectors import vectors_file
from paraloom.evaluate.sts import System, overlap_of, similarities
from paraloom.evaluate.sts_tasks import STSPairs, find_tasks, read_task
from paraloom.evaluate.untrained import untrained_folder
from paraloom.io import Corpus
from paraloom.io.atomic import atomic_write
from paraloom.papers.measurements import Measurements
from paraloom.papers.study import Study, is_recurrent
from paraloom.pipeline.fit import ARTIFACT
from paraloom.stages.encoders import TrainEncoder, average_vectors_of
from paraloom.stages.pairs import Filter

OVERLAP = "overlap"
"""The system of shared words and trigrams, weighted by rarity."""

GIVEN_VECTORS = "given vectors averaged"
"""The system of the given word vectors, averaged."""


@dataclass(frozen=True, kw_only=True)
class Training:
    """A training that is repeated with several seeds, each of which draws other pairs and other weights.

    `size` pairs are drawn, equally many of each corpus as far as it has them, of those that `criteria`, fields of
    `Filter`, select; `settings` are further fields of `TrainEncoder`.
    """

    spec: str
    corpora: Sequence[Path]
    size: int
    criteria: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TrainedEncoders:
    """The encoders of a table: figures by keys of trainings, untrained and baselines; folders and corpora by key."""

    measurements: Measurements
    folders: Mapping[str, Sequence[Path]]
    selections: Mapping[str, Sequence[Sequence[Path]]]

    def development(self, key: str) -> float:
        """Mean last development figure of the encoders of a training, which had similarity tasks."""
        curves = [(folder / "curve.jsonl").read_text(encoding="utf-8").splitlines() for folder in self.folders[key]]
        return fmean(
            [record["dev"]["dev_pearson"] for record in map(json.loads, lines) if "dev" in record][-1]
            for lines in curves
        )

    def pairs(self, key: str) -> int:
        """The number of pairs that a training had (with the first seed)."""
        return sum(Corpus.open(folder).rows for folder in self.selections[key][0])


def untrained(key: str) -> str:
    """The name of what a training started from."""
    return f"{key}, untrained"


def train(study: Study, name: str, trainings: Mapping[str, Training]) -> TrainedEncoders:
    """Train encoders with every seed, and measure them beside what they started from, overlap and given vectors."""
    stages: dict[str, Stage] = {}
    encoders: dict[str, list[str]] = {key: [] for key in trainings}
    selections: dict[str, list[list[str]]] = {key: [] for key in trainings}
    for key, training in trainings.items():
        for number in range(1, study.seeds + 1):
            drawn = _selections(training, number)
            stages.update({stage.name: stage for stage in drawn})
            encoder = _encoder(study, key, training, number, drawn)
            stages[encoder.name] = encoder
            encoders[key].append(encoder.name)
            selections[key].append([stage.name for stage in drawn])
    result = study.run(list(stages.values()), study.folder / name, engine="inline")
    folders = {stage.name: stage.folder for stage in result.stages}

    root, present, _ = find_tasks(study.sts)
    tasks = [read_task(root, task) for task in present]
    cache = _SimilarityCache(study.folder / "similarities", tasks)
    measured: dict[str, npt.NDArray[Any]] = {}
    for key, names in encoders.items():
        artifacts = [folders[stage] / ARTIFACT for stage in names]
        measured[key] = np.stack([cache.of_encoder(folder) for folder in artifacts])
        # The random networks of several seeds differ little, and take long to measure.
        counted = 1 if is_recurrent(trainings[key].spec) else len(artifacts)
        starts = [untrained_folder(folder) for folder in artifacts[:counted]]
        rows = [cache.of_encoder(start) for start in starts if start is not None]
        if rows:
            measured[untrained(key)] = np.stack(rows)
    measured[OVERLAP] = cache.get([OVERLAP], lambda: overlap_of(tasks))[None]
    if study.vectors is not None:
        path = study.vectors
        given = cache.get([GIVEN_VECTORS, file_digest(vectors_file(path))], lambda: average_vectors_of(path, study.sts))
        measured[GIVEN_VECTORS] = given[None]
    return TrainedEncoders(
        Measurements(tasks, measured, seed=study.seed),
        {key: [folders[stage] / ARTIFACT for stage in names] for key, names in encoders.items()},
        {key: [[folders[stage] for stage in names] for names in of_key] for key, of_key in selections.items()},
    )


def shares(rows: Sequence[int], total: int) -> list[int]:
    """Number of pairs to draw of each corpus: equally many, and what small corpora lack from the larger ones."""
    result = [0] * len(rows)
    left = total
    by_size = sorted(range(len(rows)), key=rows.__getitem__)
    for position, index in enumerate(by_size):
        result[index] = min(rows[index], left // (len(rows) - position))
        left -= result[index]
    return result


def slug(label: str) -> str:
    """A stage's name made from a label: lower-case letters, digits and hyphens."""
    spelled = label.lower().replace("+", " plus ").replace(">=", " from ").replace("<=", " upto ").replace(".", "p")
    return "-".join(re.findall(r"[a-z0-9]+", spelled))


def _selections(training: Training, number: int) -> list[Filter]:
    """The stages that draw the pairs of a training; two trainings on the same pairs have the same ones."""
    counts = [training.size] * len(training.corpora)
    if len(counts) > 1:
        counts = shares([Corpus.open(folder).rows for folder in training.corpora], training.size)
    stages = []
    for folder, count in zip(training.corpora, counts, strict=True):
        source = folder.name.lstrip("0123456789-")
        how = digest([source, dict(training.criteria), count])[:6]
        stages.append(Filter(name=f"{source}-{how}-{number}", input=folder, sample=count, **training.criteria))
    return stages


def _encoder(study: Study, key: str, training: Training, number: int, drawn: Sequence[Filter]) -> TrainEncoder:
    settings: dict[str, Any] = {"spec": training.spec, "dimension": study.dimension, **training.settings}
    if study.vectors is not None and training.spec != "trigram":
        settings |= {"vectors": study.wide_vectors(settings["dimension"]), "vector_words": True}
    if is_recurrent(training.spec):
        settings["devices"] = study.devices
    return TrainEncoder(name=f"{slug(key)}-{number}", pairs=tuple(stage.name for stage in drawn), **settings)


class _SimilarityCache:
    """Similarities of systems on tasks, kept in files, because recurrent encoders take a while."""

    def __init__(self, folder: Path, tasks: Sequence[STSPairs]) -> None:
        self._folder = folder
        self._tasks = tasks
        self._key = digest([[task.task.name, task.first, task.second] for task in tasks])

    def of_encoder(self, folder: Path) -> npt.NDArray[np.float32]:
        """The same of a trained encoder or a start; starts with the same vectors are measured once."""
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        return self.get([config["signature"]], lambda: open_encoder(folder, available_threads()))

    def get(self, system: Sequence[str], opened: Callable[[], System]) -> npt.NDArray[np.float32]:
        """float32 `(n,)` of the pairs of all tasks."""
        path = self._folder / f"{digest([self._key, *system])[:24]}.npy"
        if not path.is_file():
            scorer = opened()
            rows = [similarities(scorer, task.first, task.second) for task in self._tasks]
            with atomic_write(path) as temporary, temporary.open("wb") as stream:
                np.save(stream, np.concatenate(rows).astype(np.float32), allow_pickle=False)
        kept: npt.NDArray[np.float32] = np.load(path, allow_pickle=False)
        return kept
