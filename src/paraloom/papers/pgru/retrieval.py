"""Paraphrase retrieval: how often an encoder finds the right paraphrase among N sentences."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import digest, signature
from paraloom.core.errors import DataError
from paraloom.core.protocols import EncoderLike
from paraloom.core.seeds import generator
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.embed.encoder import open_encoder
from paraloom.embed.threads import available_threads
from paraloom.evaluate.base import EvaluationResult
from paraloom.io import Corpus

# Rounding can separate the cosines of two equal vectors by some 1e-7; closer ones are a tie.
_TIE = 1e-6


@dataclass(frozen=True)
class RetrievalResult(EvaluationResult):
    """Result of `evaluate_retrieval`.

    Args:
        accuracy: Share of queries whose own paraphrase was nearest, 0 to 1.
        queries: Number of queries.
        signature: What was measured and how.
    """

    accuracy: float
    queries: int
    signature: str

    def format(self) -> str:
        """One line."""
        return f"accuracy {self.accuracy:.4f} of {self.queries:,} queries   {self.signature}"


def evaluate_retrieval(
    encoder: EncoderLike,
    queries: Sequence[str],
    paraphrases: Sequence[str],
    *,
    num_candidates: int = 100,
    seed: int = 1,
    similarity: Literal["cosine", "dot"] = "cosine",
) -> RetrievalResult:
    """Find the paraphrase of each query among random candidates.

    A tie counts as wrong, so that an encoder that gives all sentences the same vector has an accuracy of 0.
    """
    if len(queries) != len(paraphrases):
        raise DataError(
            f"expected one paraphrase for each query, got {len(paraphrases)} for {len(queries)} queries",
            remedy="Give as many paraphrases as queries, in the same order.",
        )
    distinct = {text: index for index, text in enumerate(dict.fromkeys(paraphrases))}
    if num_candidates < 2 or len(distinct) < num_candidates:
        raise DataError(
            f"{num_candidates} candidates are out of range for {len(distinct)} distinct paraphrases",
            remedy=f"Give more pairs, or ask for 2 to {len(distinct)} candidates.",
        )
    anchors, candidates = encoder.encode(queries), encoder.encode(list(distinct))
    if similarity == "cosine":
        anchors, candidates = _unit(anchors), _unit(candidates)
    rng = generator(seed)
    correct = 0
    for anchor, text in zip(anchors, paraphrases, strict=True):
        own = distinct[text]
        others = rng.choice(len(distinct) - 1, num_candidates - 1, replace=False)
        others += others >= own
        correct += bool(candidates[own] @ anchor > (candidates[others] @ anchor).max() + _TIE)
    how = signature(
        "choose-among",
        n=num_candidates,
        by=similarity,
        ties="error",
        seed=seed,
        encoder=digest(encoder.signature)[:12],
    )
    return RetrievalResult(correct / len(queries), len(queries), how)


def _unit(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, np.where(norms > 0, norms, 1), dtype=np.float32)


@dataclass(frozen=True, kw_only=True)
class EvaluateRetrieval(Fit):
    """Evaluates encoders on retrieval: how often each one finds the paraphrase of a sentence among random candidates.

    Args:
        pairs: A corpus whose src and tgt have the same meaning.
        encoders: Encoders, evaluated on the same candidates.
        num_candidates: Number of candidates, the paraphrase included; random choice has accuracy 1 / num_candidates.

    Raises:
        DataError: When it runs: there are fewer different paraphrases than `num_candidates`.

    Example:
        >>> EvaluateRetrieval(pairs="test", encoders=["train-encoder"]).num_candidates
        100
    """

    renamed_fields: ClassVar[Mapping[str, str]] = {"candidates": "num_candidates"}

    pairs: Ref
    encoders: tuple[Ref, ...]
    num_candidates: int = 100

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json; return the accuracy of each encoder in percent."""
        batches = list(Corpus.open(context.inputs["pairs"]).batches(["src", "tgt"]))
        anchors, paraphrases = (
            [text for batch in batches for text in batch[side].to_pylist()] for side in ("src", "tgt")
        )
        results = [
            evaluate_retrieval(
                open_encoder(path, available_threads()),
                anchors,
                paraphrases,
                num_candidates=self.num_candidates,
                seed=context.seed,
            )
            for path in context.paths("encoders")
        ]
        accuracy = [round(100 * result.accuracy, 2) for result in results]
        summary = {
            "candidates": self.num_candidates,
            "pairs": len(anchors),
            "accuracy_percent": accuracy,
            "signatures": [result.signature for result in results],
        }
        (folder / "result.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
        return {"accuracy_percent": accuracy, "candidates": self.num_candidates, "pairs": len(anchors)}
