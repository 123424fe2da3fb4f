"""PNMT's LSTM as the network of a paraphraser: its training, and how a folder with it opens."""

from __future__ import annotations

from pathlib import Path

from paraloom.core.protocols import PrefixTranslatorLike
from paraloom.core.stage import Json
from paraloom.papers.scpn.training import train_lstm
from paraloom.paraphrasing.settings import ParaphraserSettings
from paraloom.paraphrasing.templates import TemplateTable
from paraloom.stages.paraphraser_networks import SENTENCES, NetworkTraining


class LstmParaphraser:
    """PNMT's network, whose examples are those of the transformer; see `stages.paraphraser_networks`."""

    @staticmethod
    def train(training: NetworkTraining) -> dict[str, Json]:
        """Train the LSTM on the examples of sentences."""
        return train_lstm(
            training.pairs(SENTENCES), training.config, training.recurrent, training.folder, seed=training.seed
        )

    @staticmethod
    def open(
        folder: Path, settings: ParaphraserSettings, templates: TemplateTable, device: str | None
    ) -> PrefixTranslatorLike:
        """Open the network of a folder."""
        # Needs torch.
        from paraloom.papers.scpn.translator import RecurrentTranslator

        return RecurrentTranslator(folder, "lstm", device=device)
