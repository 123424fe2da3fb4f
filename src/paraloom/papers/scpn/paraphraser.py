"""SCPN as networks of a paraphraser: their examples, their training, and how a folder with them opens."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from paraloom.core.errors import ModelError
from paraloom.core.protocols import PrefixTranslatorLike
from paraloom.core.stage import Json
from paraloom.papers.scpn.scpn_translator import ScpnTranslator, leaf_labels, scpn_example
from paraloom.papers.scpn.training import train_scpn
from paraloom.paraphrasing.config import ControlConfig, ScpnConfig
from paraloom.paraphrasing.examples import ParsedPair
from paraloom.paraphrasing.linearization import SEPARATOR, cut_tree, nodes_of
from paraloom.paraphrasing.settings import ParaphraserSettings
from paraloom.paraphrasing.templates import TemplateTable
from paraloom.stages.paraphraser_networks import PARSES, SENTENCES, NetworkTraining

if TYPE_CHECKING:
    from numpy.random import Generator


class ScpnNetworks:
    """The two networks of SCPN; see `stages.paraphraser_networks.ResearchNetwork`."""

    @staticmethod
    def examples(
        pair: ParsedPair, control: ControlConfig, scpn: ScpnConfig, random: Generator, same_rate: float
    ) -> dict[str, tuple[str, str]]:
        """An example of a sentence with its parse, and where there is a template, one of the parse."""
        example = scpn_example(pair, control, scpn, random, same_rate=same_rate)
        if example is None:
            return {}
        lines = {SENTENCES: (example.source, example.target)}
        if example.parse_source:
            lines[PARSES] = (example.parse_source, example.parse_target)
        return lines

    @staticmethod
    def train(training: NetworkTraining) -> dict[str, Json]:
        """Train the paraphrase generator and the parse generator."""
        tokens = 2 * training.scpn.max_parse_labels + 2
        sentences = training.pairs(SENTENCES, training.config.max_length + tokens)
        parses = training.pairs(PARSES, 2 * tokens)
        settings = training.config, training.recurrent, training.folder
        return train_scpn(sentences, parses, *settings, separator=SEPARATOR, seed=training.seed)

    @staticmethod
    def open(
        folder: Path, settings: ParaphraserSettings, templates: TemplateTable, device: str | None
    ) -> PrefixTranslatorLike:
        """Open both networks of a folder as one translator."""
        # Needs torch.
        from paraloom.papers.scpn.translator import RecurrentTranslator

        paraphrases, parses = (
            RecurrentTranslator(folder, kind, device=device) for kind in ("paraphrase-generator", "parse-generator")
        )
        if not templates.counts:
            raise ModelError("the table of templates is empty", file=folder, remedy="Train the paraphraser again.")
        ((default, _),) = templates.most_common(1)
        return ScpnTranslator(paraphrases, parses, settings.tags, default)

    @staticmethod
    def tags(pairs: Sequence[ParsedPair]) -> tuple[set[str], set[str]]:
        """Labels that have nothing but a word below them somewhere in the trees of pairs, and those that have more."""
        leaves: set[str] = set()
        others: set[str] = set()
        for pair in pairs:
            for tree in (pair.source_tree, pair.paraphrase_tree):
                if tree is not None:
                    whole = cut_tree(tree, None)
                    leaves |= leaf_labels(whole)
                    others |= parent_labels(whole)
        return leaves, others


def parent_labels(parse: str) -> set[str]:
    """Labels of a canonical parse that have labels below them."""
    return {one.label for one, after in pairwise(nodes_of(parse)) if after.depth > one.depth}
