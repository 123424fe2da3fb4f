"""Training of recurrent paraphrasers: the networks of a folder, which share subwords, one after the other."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraloom.core.digests import digest
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.data import Examples
from paraloom.mt.schedule import TrainerLike
from paraloom.mt.subwords import SUBWORD_FILES, read_vocabulary
from paraloom.mt.training import LOG, prepare_subwords, run_training, write_figures
from paraloom.paraphrasing.config import RecurrentConfig
from paraloom.stages.paraphraser_networks import NetworkPairs

if TYPE_CHECKING:
    from paraloom.papers.scpn.network import RecurrentNetwork

MAX_TARGET = 256
"""Subwords of a paraphrase at most."""


def train_lstm(
    pairs: NetworkPairs, config: TranslatorConfig, recurrent: RecurrentConfig, folder: Path, *, seed: int = 1
) -> dict[str, Any]:
    """Train PNMT's paraphraser (`paraloom.papers.pnmt.lstm`).

    The folder gets lstm.safetensors, lstm.json, the subwords, the training curve and training.json; checkpoint/ holds
    what a killed training needs to resume. Of the configuration, sizes, the learning rates of other optimizers, label
    smoothing, moving averages, sampled softmax and precisions are not used. See Wieting and Gimpel 2018, "ParaNMT-50M",
    §6.
    """
    from paraloom.papers.pnmt.lstm import LstmNetwork

    subwords = _subwords(pairs, config, folder, seed)
    size = len(read_vocabulary(subwords)) - 1
    trainer, training = _train(
        lambda: LstmNetwork(size, recurrent.word_dim, recurrent.hidden_dim),
        pairs,
        (config, recurrent),
        folder,
        folder / "checkpoint",
        MAX_TARGET,
        seed,
    )
    return _finish(trainer, training, recurrent, folder)


def train_scpn(
    sentences: NetworkPairs,
    parses: NetworkPairs,
    config: TranslatorConfig,
    recurrent: RecurrentConfig,
    folder: Path,
    *,
    separator: str,
    seed: int = 1,
) -> dict[str, Any]:
    """Train SCPN's paraphrase generator, then its parse generator.

    The folder is that of `train_lstm`, with paraphrase-generator.* and parse-generator.* instead of lstm.*; files of
    figures are of the paraphrase generator, and those of the parse generator are in parse-generator/. See Iyyer et al.
    2018, "Adversarial example generation with syntactically controlled paraphrase networks", §3.
    """
    from paraloom.papers.scpn.paraphrase_generator import ParaphraseGenerator
    from paraloom.papers.scpn.parse_generator import ParseGenerator

    subwords = _subwords(sentences, config, folder, seed)
    ids = {piece: number for number, piece in enumerate(read_vocabulary(subwords))}
    labels, between = [ids[token] for token in config.special_tokens if token != separator], ids[separator]

    def sentence_network() -> RecurrentNetwork:
        dims = (recurrent.label_dim, recurrent.parse_dim)
        return ParaphraseGenerator(len(ids) - 1, recurrent.word_dim, recurrent.hidden_dim, labels, between, *dims)

    def parse_network() -> RecurrentNetwork:
        return ParseGenerator(labels, between, recurrent.parse_dim, recurrent.hidden_dim)

    settings, scratch = (config, recurrent), folder / "checkpoint"
    # The tokens of parses are never split in another way.
    parse_settings = (replace(config, subword_sampling=0.0), recurrent)
    limit = parses.max_length or config.max_length
    trainer, training = _train(sentence_network, sentences, settings, folder, scratch, MAX_TARGET, seed)
    figures = _finish(trainer, training, recurrent, folder)
    parse_scratch, parse_folder = scratch / "parse-generator", folder / "parse-generator"
    parse_folder.mkdir(exist_ok=True)
    trainer, training = _train(parse_network, parses, parse_settings, folder, parse_scratch, limit, seed)
    parse_figures = _finish(trainer, training, recurrent, parse_folder, log=parse_scratch / LOG)
    return figures | {f"parse_{name}": value for name, value in parse_figures.items()}


def _subwords(pairs: NetworkPairs, config: TranslatorConfig, folder: Path, seed: int) -> Path:
    subwords = folder / "checkpoint" / "subwords"
    prepare_subwords(pairs.training, config, subwords, seed, None)
    for name in SUBWORD_FILES:
        shutil.copyfile(subwords / name, folder / name)
    return subwords


def _train(
    new_network: Callable[[], RecurrentNetwork],
    pairs: NetworkPairs,
    settings: tuple[TranslatorConfig, RecurrentConfig],
    folder: Path,
    scratch: Path,
    max_target: int,
    seed: int,
) -> tuple[TrainerLike, Examples]:
    """Train a network, and save it."""
    import torch

    from paraloom.papers.scpn.store import save_network
    from paraloom.papers.scpn.trainer import RecurrentTrainer

    scratch.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    trainer = RecurrentTrainer(new_network(), *settings, seed)
    training = run_training(
        trainer,
        pairs.training,
        pairs.development,
        folder / "checkpoint" / "subwords",
        scratch,
        max_length=pairs.max_length,
        initial=digest([trainer.network.kind, trainer.network.sizes(), asdict(settings[1])]),
    )
    save_network(trainer.model(), folder, max_target=max_target)
    return trainer, training


def _finish(
    trainer: TrainerLike, training: Examples, recurrent: RecurrentConfig, folder: Path, *, log: Path | None = None
) -> dict[str, Any]:
    """Write the curve and training.json, with the sizes of the network; return the figures."""
    shutil.copyfile(log or folder / "checkpoint" / LOG, folder / LOG)
    figures = write_figures(trainer, training, folder)
    path = folder / "training.json"
    saved = json.loads(path.read_text(encoding="utf-8"))
    saved["config"] |= asdict(recurrent)
    path.write_text(json.dumps(saved, indent=1) + "\n", encoding="utf-8")
    return figures
