"""The stage that trains a phrase-based translator, for loops that are measured in minutes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from paraloom.core.config import base_config
from paraloom.core.errors import DataError
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.io import Corpus
from paraloom.papers.park17.phrase_translator import PHRASE_FILE, PhraseTranslatorConfig, train_phrase_translator


@dataclass(frozen=True, kw_only=True)
class TrainPhraseTranslator(PhraseTranslatorConfig, Fit):
    """Trains a phrase-based translator, as Park et al. 2017 use one: in seconds, on some thousand pairs.

    On so few pairs it translates better than a network; on many, `train-translator` does.

    Args:
        bitext: Corpora of pairs; `src` is translated into `tgt`.

    For the other fields see :class:`~paraloom.papers.park17.phrase_translator.PhraseTranslatorConfig`.

    Raises:
        ConfigError: A setting is out of range.
        DataError: When it runs: there are fewer than two pairs.

    Reference:
        Park et al. 2017, §4.1.

    Example:
        >>> TrainPhraseTranslator(bitext=["clean"]).vocab_size
        4000
    """

    sentinel: ClassVar[str] = PHRASE_FILE

    bitext: tuple[Ref, ...]

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write the translator; return the numbers of pairs and phrases."""
        source: list[str] = []
        target: list[str] = []
        corpora = [Corpus.open(path) for path in context.paths("bitext")]
        for corpus in corpora:
            for batch in corpus.batches(["src", "tgt"]):
                source += [text or "" for text in batch.column(0).to_pylist()]
                target += [text or "" for text in batch.column(1).to_pylist()]
        config = base_config(PhraseTranslatorConfig, self)
        try:
            return train_phrase_translator(source, target, folder, config, seed=context.seed % 2**31)
        except DataError as error:
            raise error.at(file=corpora[0].folder) from None
