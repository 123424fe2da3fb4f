"""The stage that brings an ensemble of translators into a pipeline."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from paraloom.core.errors import ConfigError
from paraloom.core.stage import Fit, Json, StageContext
from paraloom.mt.ensemble import ENSEMBLE_FILE


@dataclass(frozen=True, kw_only=True)
class LoadEnsemble(Fit):
    """Brings in several translators that translate together, choosing each word by their average log-probability.

    Args:
        models: Translators that Paraloom trained, folders of Marian checkpoints, or names of Hugging Face; two or more,
            with the same subwords.
        source: Source language, of models that have several.
        target: Target language, of models that have several.

    Raises:
        ConfigError: There are fewer than two.
        ModelError: When it runs: one is not a Marian checkpoint, or their subwords differ.
        MissingExtraError: When it runs: torch is not installed.

    Example:
        >>> LoadEnsemble(models=("cs-en-1", "cs-en-2")).models
        ('cs-en-1', 'cs-en-2')
    """

    sentinel: ClassVar[str] = ENSEMBLE_FILE
    optional_fields: ClassVar[tuple[str, ...]] = ("source", "target")

    models: tuple[str, ...]
    source: str | None = None
    target: str | None = None

    def validate(self) -> None:
        if len(self.models) < 2:
            raise ConfigError(f"'models' must name two translators or more, got {len(self.models)}")

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Copy the checkpoints into the artifact."""
        from paraloom.mt.ensemble import EnsembleTranslator

        ensemble = EnsembleTranslator.load(self.models, source=self.source, target=self.target)
        ensemble.save(folder)
        return {"models": len(self.models), "signature": ensemble.signature}
