"""Base of all evaluation results: JSON values and a readable text."""

from __future__ import annotations

from abc import ABC, abstractmethod

from paraloom.core.results import ResultRecord


class EvaluationResult(ResultRecord, ABC):
    """Figures with a signature of what was measured and how. `str(result)` is `result.format()`."""

    @abstractmethod
    def format(self) -> str:
        """A plain-text table or line."""

    def __str__(self) -> str:
        return self.format()
