"""PNMT's LSTM as the network of a paraphraser: its training, and how a folder with it opens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from paraloom.core.protocols import PrefixTranslatorLike
from paraloom.core.stage import Json
from paraloom.mt.config import TranslatorConfig
from paraloom.papers.scpn.training import train_lstm
from paraloom.paraphrasing.recurrent_config import RecurrentConfig
from paraloom.paraphrasing.scpn_config import ScpnConfig
from paraloom.paraphrasing.settings import ParaphraserSettings
from paraloom.paraphrasing.templates import TemplateTable
from paraloom.stages.paraphraser_networks import SENTENCES, NetworkPairs


class LstmParaphraser:
    """PNMT's network, whose examples are those of the transformer; see `stages.paraphraser_networks`."""

    @staticmethod
    def train(
        pairs: Callable[..., NetworkPairs],
        config: TranslatorConfig,
        recurrent: RecurrentConfig,
        scpn: ScpnConfig,
        folder: Path,
        seed: int,
    ) -> dict[str, Json]:
        """Train the LSTM on the examples of sentences."""
        return train_lstm(pairs(SENTENCES), config, recurrent, folder, seed=seed)

    @staticmethod
    def open(
        folder: Path, settings: ParaphraserSettings, templates: TemplateTable, device: str | None
    ) -> PrefixTranslatorLike:
        """Open the network of a folder."""
        # Needs torch.
        from paraloom.papers.scpn.translator import RecurrentTranslator

        return RecurrentTranslator(folder, "lstm", device=device)
