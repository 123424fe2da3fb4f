"""The boxes of `paraloom demo` without models."""

from __future__ import annotations

from paraloom.core.errors import DataError
from paraloom.web.demo import BoxResult, Demo


class Toy(Demo):
    """The boxes without models."""

    chips = (("(S (NP) (VP))", "S NP VP"),)

    def _paraphrase(self, text: str, template: str) -> tuple[str, list[BoxResult]]:
        return "1 good enough.", [BoxResult(f"{text} {template}!", "meaning 0.90"), BoxResult("no", "dropped", False)]

    def _translate(self, text: str, template: str) -> tuple[str, list[BoxResult]]:
        raise DataError("the model is gone", remedy="Put it back.")

    def _similar(self, text: str, template: str) -> tuple[str, list[BoxResult]]:
        return "None.", []
