"""The stage that compares translators by what they made of one test."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from paraloom.core.errors import ConfigError
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.evaluate.translation_differences import differences, differences_signature
from paraloom.io import Corpus
from paraloom.io.compression import read_lines
from paraloom.text.normalize import normalize


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
