"""Training of recurrent networks: a step by hand, exact resume, what a folder has, missing and damaged files, use."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy_language import TOY_CONFIG, toy_bitext

pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from paraloom.core.digests import file_digest
from paraloom.core.errors import ConfigError, ModelError
from paraloom.core.protocols import PrefixTranslatorLike
from paraloom.mt.data import Examples
from paraloom.papers.scpn.layers import NO_DROPOUT, Dropout
from paraloom.papers.scpn.network import Ids, RecurrentNetwork, Tensors
from paraloom.papers.scpn.store import load_network, save_network
from paraloom.papers.scpn.trainer import RecurrentTrainer
from paraloom.papers.scpn.training import NetworkPairs, train_lstm, train_scpn
from paraloom.papers.scpn.translator import RecurrentTranslator
from paraloom.paraphrasing.config import RecurrentConfig

SIZES = RecurrentConfig(word_dim=8, hidden_dim=12, label_dim=4, parse_dim=6, recurrent_learning_rate=0.01)
CONFIG = replace(
    TOY_CONFIG, steps=6, evaluate_every=2, batch_tokens=200, dropout=0.2, subword_sampling=0.3, threads=1, accumulate=2
)
TOKENS = ("<sep>", "<)>", "<(NP>", "<(S>", "<(VP>")
PARSES = ("<(S><(NP><)><(VP><)><)>", "<(S><(VP><)><(NP><)><)>")
SCPN_CONFIG = replace(CONFIG, special_tokens=TOKENS)


def toy_pairs() -> NetworkPairs:
    return NetworkPairs(lambda: toy_bitext(100), toy_bitext(20, seed=2))


def scpn_pairs() -> tuple[NetworkPairs, NetworkPairs]:
    """Sentences with parses, and parses with templates."""
    parts = [
        ([f"{source} <sep>{PARSES[row % 2]}" for row, source in enumerate(sources)], targets)
        for sources, targets in toy_bitext(100)
    ]
    rows = [(f"{PARSES[row % 2]}<sep><(S><)>", PARSES[row % 3 == 0]) for row in range(60)]
    parses = [([one for one, _ in rows], [other for _, other in rows])]
    return NetworkPairs(lambda: parts, parts[:1], 200), NetworkPairs(lambda: parses, parses, 200)


def train(network: str, folder: Path, **settings: Any) -> dict[str, Any]:
    if network == "lstm":
        return train_lstm(toy_pairs(), replace(CONFIG, **settings), SIZES, folder, seed=3)
    config = replace(SCPN_CONFIG, **settings)
    return train_scpn(*scpn_pairs(), config, SIZES, folder, separator="<sep>", seed=3)


def weights(folder: Path) -> dict[str, str]:
    return {path.name: file_digest(path) for path in sorted(folder.glob("*.safetensors"))}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of both kinds, trained without an interruption."""
    trained = {network: tmp_path_factory.mktemp(network) for network in ("lstm", "scpn")}
    for network, folder in trained.items():
        train(network, folder)
    return trained


@pytest.mark.parametrize(("network", "stop"), [("lstm", 5), ("scpn", 3), ("scpn", 9)])
def test_resume_is_exact(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, network: str, stop: int
) -> None:
    update, steps = RecurrentTrainer.update, []

    def interrupted(self: RecurrentTrainer, *arguments: Any) -> float:
        if len(steps) == stop:
            raise KeyboardInterrupt
        steps.append(1)
        return update(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(RecurrentTrainer, "update", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train(network, tmp_path)
    assert (tmp_path / "checkpoint" / "state.safetensors").is_file()
    train(network, tmp_path)
    assert weights(tmp_path) == weights(folders[network])
    for curve in ("curve.jsonl", *(["parse-generator/curve.jsonl"] if network == "scpn" else [])):
        assert (tmp_path / curve).read_bytes() == (folders[network] / curve).read_bytes()


class Unigrams(RecurrentNetwork):
    """A network whose one parameter is the logits of three tokens, whatever is before them."""

    padding = 3

    def __init__(self) -> None:
        super().__init__()
        self.logits = torch.nn.Parameter(torch.zeros(3))

    def inputs(self, sources: Sequence[Ids]) -> Tensors:
        return ()

    def encode(self, inputs: Tensors, drop: Dropout = NO_DROPOUT) -> Tensors:
        return inputs

    def loss(self, memory: Tensors, targets: Tensor, drop: Dropout = NO_DROPOUT) -> Tensor:
        return -torch.log_softmax(self.logits, 0)[targets[targets != self.padding]].sum()


def test_update_by_hand() -> None:
    """The mean loss over both parts of a batch, the bound of the gradient, warm-up, and two steps of Adam."""
    # Targets 1 0 and 1 1 0: token 1 three times of five, the end (0) twice.
    examples = Examples(np.array([0, 1, 0, 0, 1, 1, 0], np.int32), np.array([0, 1, 3, 4, 7]), 0)
    config = replace(TOY_CONFIG, steps=10, warmup_steps=2, cooldown_share=0.0, threads=1)
    settings = RecurrentConfig(recurrent_learning_rate=0.1, gradient_norm=0.41)
    network = Unigrams()
    trainer = RecurrentTrainer(network, config, settings)
    logits, shares = np.zeros(3), np.array([0.4, 0.6, 0.0])
    first, second = np.zeros(3), np.zeros(3)
    for step, rate in ((1, 0.05), (2, 0.1)):
        probabilities = np.exp(logits) / np.exp(logits).sum()
        gradient = probabilities - shares
        norm = np.linalg.norm(gradient)
        # Only the first one is longer than the bound.
        assert (norm > 0.41) == (step == 1)
        gradient *= min(1, 0.41 / norm)
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        logits = logits - rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        with ThreadPoolExecutor(1) as pool:
            loss = trainer.update([np.array([0]), np.array([1])], examples, pool)
        assert loss == pytest.approx(-(shares[:2] * np.log(probabilities[:2])).sum(), rel=1e-5)
        assert network.logits.tolist() == pytest.approx(logits.tolist(), rel=1e-4)
        assert (trainer.step, trainer.tokens) == (step, 5 * step)


def test_other_settings_begin_again(folders: dict[str, Path], tmp_path: Path) -> None:
    train("lstm", tmp_path, steps=2)
    train("lstm", tmp_path)
    assert weights(tmp_path) == weights(folders["lstm"])


def test_figures(folders: dict[str, Path]) -> None:
    saved = json.loads((folders["scpn"] / "training.json").read_text())
    assert saved["config"]["hidden_dim"] == 12 and saved["steps"] == 6 and saved["pairs"] == 100
    network, _ = load_network(folders["scpn"], "paraphrase-generator")
    assert saved["parameters"] == sum(value.numel() for value in network.parameters())
    parses = json.loads((folders["scpn"] / "parse-generator" / "training.json").read_text())
    assert parses["pairs"] == 60 and parses["config"]["subword_sampling"] == 0


@pytest.mark.parametrize("kind", ["lstm", "paraphrase-generator", "parse-generator"])
def test_round_trip(folders: dict[str, Path], tmp_path: Path, kind: str) -> None:
    folder = folders["lstm" if kind == "lstm" else "scpn"]
    network, max_target = load_network(folder, kind)
    save_network(network, tmp_path, max_target=max_target)
    again, limit = load_network(tmp_path, kind)
    assert limit == max_target and again.sizes() == network.sizes() and not again.training
    for name, value in network.state_dict().items():
        assert torch.equal(again.state_dict()[name], value)


def test_missing_and_damaged_files(folders: dict[str, Path], tmp_path: Path) -> None:
    network, _ = load_network(folders["lstm"], "lstm")
    with pytest.raises(ModelError, match=r"lstm.safetensors not found"):
        RecurrentTranslator(tmp_path, "lstm")
    save_network(network, tmp_path, max_target=9)
    with pytest.raises(ModelError, match=r"source.spm not found"):
        RecurrentTranslator(tmp_path, "lstm")
    tensors = load_file(tmp_path / "lstm.safetensors")
    save_file({name: value for name, value in tensors.items() if name != "attention"}, tmp_path / "lstm.safetensors")
    with pytest.raises(ModelError, match=r"lstm.safetensors is damaged: .*attention"):
        load_network(tmp_path, "lstm")
    (tmp_path / "lstm.safetensors").write_bytes(b"x" * 100)
    with pytest.raises(ModelError, match=r"lstm.safetensors is damaged"):
        load_network(tmp_path, "lstm")
    (tmp_path / "lstm.json").write_text('{"sizes": {"vocab_size": 9}}')
    with pytest.raises(ModelError, match=r"lstm.json is damaged: .*word_dim"):
        load_network(tmp_path, "lstm")


def test_translator(folders: dict[str, Path]) -> None:
    translator = RecurrentTranslator(folders["lstm"], "lstm")
    assert isinstance(translator, PrefixTranslatorLike)
    texts = ["rako gor mili dasat", "", "selu nin piro fenat"]
    groups = translator.translate(texts, decode="beam:4,nbest=3", prefixes=["the dog", "", "the"])
    assert [len(group) for group in groups] == [3, 1, 3] and groups[1][0].tokens == 0
    scores = [one.logprob / one.tokens for one in groups[0]]
    assert scores == sorted(scores, reverse=True)
    # Equal hypotheses, whatever the company.
    assert translator.translate(texts[2:], decode="beam:4,nbest=3", prefixes=["the"])[0] == [
        one._replace(logprob=pytest.approx(one.logprob)) for one in groups[2]
    ]
    assert [len(parts) for parts in translator.split(["rako. " * 90, "mili"])] == [90, 1]
    assert translator.signature.startswith("recurrent|kind:lstm|model:")
    with pytest.raises(ConfigError, match="expected 3 prefixes, one for each text, got 1"):
        translator.translate(texts, prefixes=["the"])
    with pytest.raises(ConfigError, match="do not have a shortlist"):
        translator.translate(texts, decode="beam:2,shortlist=1")


def test_parses_are_written_in_tokens(folders: dict[str, Path]) -> None:
    generator = RecurrentTranslator(folders["scpn"], "parse-generator")
    (group,) = generator.translate([f"{PARSES[0]}<sep><(S><)>"], decode="beam:4,nbest=4")
    assert len({one.text for one in group}) == 4
    for one in group:
        rest = one.text
        for token in TOKENS[1:]:
            rest = rest.replace(token, "")
        assert not rest.strip()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden_dim": 0}, "'hidden_dim' must be 1 or more"),
        ({"gradient_norm": 0.0}, "'gradient_norm' must be above 0"),
        ({"recurrent_learning_rate": -1.0}, "'recurrent_learning_rate' must be 0 or more"),
    ],
)
def test_bad_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        RecurrentConfig(**settings)
