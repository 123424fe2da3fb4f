"""Networks on other devices and in other precisions learn what they learn on this processor in float32."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from paraloom.core.errors import ConfigError
from paraloom.embed.config import EncoderConfig
from paraloom.embed.threads import Team
from paraloom.embed.training import train_encoder

pytest.importorskip("torch", reason="encoders that read in order need torch: pip install 'paraloom[train]'")

import torch
from embed.test_ordered import learning, lists_of, toy_pairs

from paraloom.embed.networks import NETWORKS
from paraloom.embed.recurrent import LearningOrdered

SMALL = EncoderConfig(dimension=12, epochs=2, batch=20, megabatch=3, rate=0.01, scramble=0.3)


@pytest.mark.parametrize("kind", list(NETWORKS))
def test_a_second_device_changes_nothing(kind: str) -> None:
    """Two replicas compute every other chunk; a copy that was not brought up to date would be seen at once."""
    alone, beside = learning(kind), learning(kind)
    beside = LearningOrdered(beside.vocabulary, beside.table, beside.network, Team(2), devices=("cpu", "cpu"))
    lists, moved = lists_of(700), np.ones(700, bool)
    draw = np.random.default_rng(6)
    for step in (1, 2):
        given = draw.normal(size=(700, 5)).astype(np.float32)
        for part in (alone, beside):
            part.learn(lists, given, moved, 0, 0.01, step)
    assert all((alone.state[name] == beside.state[name]).all() for name in alone.state)
    made = [np.zeros((700, 5), np.float32) for _ in range(2)]
    alone.forward(lists, made[0], 0)
    beside.forward(lists, made[1], 0)
    assert (made[0] == made[1]).all()


@pytest.fixture
def bfloat16(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """bfloat16 on any processor: torch's own loops have it where oneDNN's LSTM asks for instructions."""
    monkeypatch.setattr("paraloom.embed.devices.supports_bfloat16", lambda: True)
    with torch.backends.mkldnn.flags(enabled=False):
        yield


def test_bfloat16_without_instructions_for_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraloom.embed.devices.supports_bfloat16", lambda: False)
    part = learning("gran")
    with pytest.raises(ConfigError, match="no instructions for bfloat16"):
        LearningOrdered(part.vocabulary, part.table, part.network, Team(1), precision="bfloat16")


@pytest.mark.parametrize("kind", list(NETWORKS))
def test_bfloat16_has_the_same_gradients_but_for_its_rounding(kind: str, bfloat16: None) -> None:
    part = learning(kind)
    rounded = LearningOrdered(part.vocabulary, part.table, part.network, Team(1), precision="bfloat16")
    lists, moved = lists_of(200), np.ones(200, bool)
    given = np.random.default_rng(7).normal(size=(200, 5)).astype(np.float32)
    _, by_row, by_weight = part.backward(lists, given, moved, 0)
    _, rounded_by_row, rounded_by_weight = rounded.backward(lists, given, moved, 0)
    for exact, near in zip([by_row, *by_weight], [rounded_by_row, *rounded_by_weight], strict=True):
        assert near.dtype == np.float32
        assert 0 < np.abs(near - exact).max() < 0.02 * np.abs(exact).max()


def test_training_on_two_devices_ends_with_the_same_bytes(tmp_path: Path) -> None:
    config = replace(SMALL, spec="word,gran")
    one, two = (
        train_encoder(toy_pairs(), config, tmp_path / devices, devices=devices)["signature"]
        for devices in ("cpu", "cpu,cpu")
    )
    assert one == two


def test_bfloat16_learns(tmp_path: Path, bfloat16: None) -> None:
    config = replace(SMALL, spec="word,gran")
    first = train_encoder(toy_pairs(), replace(config, precision="bfloat16", epochs=1), tmp_path / "short")
    last = train_encoder(toy_pairs(), replace(config, precision="bfloat16", epochs=6), tmp_path / "long")
    assert last["loss"] < first["loss"]


def test_a_device_that_is_not_there_is_named_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no device 'cuda:77'; there are cpu"):
        train_encoder(toy_pairs(), replace(SMALL, spec="gran"), tmp_path / "out", devices="cuda:77")
    assert not (tmp_path / "out").exists()
    with pytest.raises(ConfigError, match="'precision' is float32 or bfloat16, not 'half'"):
        replace(SMALL, precision="half").check()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("kind", list(NETWORKS))
def test_a_gpu_computes_what_the_processor_does(kind: str) -> None:
    part = learning(kind)
    there = LearningOrdered(part.vocabulary, part.table, part.network, Team(2), devices=("cuda:0",))
    lists, moved = lists_of(3000), np.ones(3000, bool)
    given = np.random.default_rng(8).normal(size=(3000, 5)).astype(np.float32)
    here, away = np.zeros((3000, 5), np.float32), np.zeros((3000, 5), np.float32)
    part.forward(lists, here, 0)
    there.forward(lists, away, 0)
    assert away == pytest.approx(here, abs=1e-5)
    _, by_row, by_weight = part.backward(lists, given, moved, 0)
    _, gpu_by_row, gpu_by_weight = there.backward(lists, given, moved, 0)
    for ours, theirs in zip([by_row, *by_weight], [gpu_by_row, *gpu_by_weight], strict=True):
        assert theirs == pytest.approx(ours, abs=1e-3 * np.abs(ours).max())
