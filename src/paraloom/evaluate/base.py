"""What all evaluation results have in common: JSON values and a readable text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class EvaluationResult(ABC):
    """Figures with a signature of what was measured and how.

    `str(result)` is `result.format()`.
    """

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """All figures and signatures, as json.dumps takes them; an undefined figure is None."""

    @abstractmethod
    def format(self) -> str:
        """A plain-text table or line."""

    def __str__(self) -> str:
        return self.format()
