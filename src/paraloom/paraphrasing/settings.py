"""Settings in a paraphraser's folder, beside its translator: labels, training, parser."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from paraloom.core.errors import ModelError, ParaloomError, suggestion
from paraloom.io.atomic import write_text
from paraloom.paraphrasing.config import ControlConfig

PARAPHRASER_FILE = "paraphraser.json"
TRANSFORMER, LSTM, SCPN = NETWORKS = ("transformer", "lstm", "scpn")
"""Networks of paraphrasers: the one of translators, PNMT's, and the two of SCPN."""

PARSER_FOLDER = "parser"
"""Folder, within that of a paraphraser, of the parser that came with it."""


@dataclass(frozen=True)
class ParaphraserSettings:
    """Settings of a trained paraphraser."""

    labels: tuple[str, ...]  # Labels of templates in its vocabulary
    control: ControlConfig = field(default_factory=ControlConfig)  # The mixture of its training examples
    parser: str = ""  # Name of an installed parser, such as 'stanza:en'; '' where the folder has the parser, or none
    language: str = ""  # Language of its training pairs, an ISO 639-1 code; '' where it is unknown
    network: str = TRANSFORMER  # Its network: 'transformer', 'lstm' or 'scpn'
    max_parse_labels: int = 0  # Of SCPN, whose sources show their full parse: labels of it at most; else 0
    tags: tuple[str, ...] = ()  # Of SCPN: labels of words

    def save(self, folder: Path) -> None:
        """Write paraphraser.json."""
        values = {
            **{"labels": self.labels, "control": asdict(self.control)},
            **{"parser": self.parser, "language": self.language},
            # The files of a transformer are those that earlier versions wrote.
            **({"network": self.network} if self.network != TRANSFORMER else {}),
            **({"max_parse_labels": self.max_parse_labels, "tags": self.tags} if self.network == SCPN else {}),
        }
        write_text(folder / PARAPHRASER_FILE, json.dumps(values, ensure_ascii=False, indent=1) + "\n")

    @classmethod
    def load(cls, folder: Path) -> ParaphraserSettings:
        """Read paraphraser.json."""
        path = folder / PARAPHRASER_FILE
        if not path.is_file():
            raise ModelError(
                f"not a paraphraser: {PARAPHRASER_FILE} not found",
                file=folder,
                remedy="Name a folder that `paraloom train paraphraser` wrote.",
            )
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            control = ControlConfig(**values["control"])
            settings = cls(
                tuple(values["labels"]),
                control,
                str(values["parser"]),
                str(values["language"]),
                str(values.get("network", TRANSFORMER)),
                int(values.get("max_parse_labels", 0)),
                tuple(values.get("tags", ())),
            )
        except (ValueError, KeyError, TypeError, ParaloomError) as error:
            raise ModelError(
                f"{PARAPHRASER_FILE} is damaged: {error}", file=folder, remedy="Train or copy the model again."
            ) from None
        settings.check_network(folder)
        return settings

    def check_network(self, folder: Path) -> None:
        """Raise ModelError if the network is unknown, as that of a later version is."""
        if self.network not in NETWORKS:
            raise ModelError(
                f"unknown network '{self.network}'{suggestion(self.network, NETWORKS)}",
                file=folder / PARAPHRASER_FILE,
                remedy=f"Known are {', '.join(NETWORKS)}: train the model again, or use the version that wrote it.",
            )
