"""A paraphraser's training starts from another paraphraser: its subwords, its weights, and the labels it knows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import toy_syntax
from toy_syntax import TOY_SIZES, write_parsed_pairs

from paraloom import api
from paraloom.bundled import bundled_path
from paraloom.core.errors import ConfigError, ModelError
from paraloom.paraphrasing.settings import ParaphraserSettings
from paraloom.stages import TrainParaphraser
from paraloom.stages.paraphrasers import paraphraser_folder

STILL = TOY_SIZES | {"steps": 1, "muon_learning_rate": 1e-9, "adam_learning_rate": 1e-9, "held_out": 20}


def without_checkpoint(paraphraser: Path, folder: Path) -> Path:
    """A copy that has int8 weights alone, as bundled ones have."""
    shutil.copytree(paraphraser, folder, ignore=shutil.ignore_patterns("huggingface"))
    return folder


@pytest.mark.parametrize(("converted", "step"), [(False, 1e-6), (True, 0.51 / 127)])
def test_it_starts_from_the_weights(toy_paraphraser: Path, tmp_path: Path, converted: bool, step: float) -> None:
    import torch

    from paraloom.mt.checkpoint import CHECKPOINT
    from paraloom.mt.network import load_model

    start = without_checkpoint(toy_paraphraser, tmp_path / "int8") if converted else toy_paraphraser
    pairs = write_parsed_pairs(tmp_path / "pairs", 60, seed=4)
    folder = tmp_path / "continued"
    api.train_paraphraser(pairs, folder, init_from=start, **STILL)
    known = ParaphraserSettings.load(toy_paraphraser).labels
    assert ParaphraserSettings.load(folder).labels == known
    for name in ("source.spm", "shared_vocabulary.json"):
        assert (folder / name).read_bytes() == (toy_paraphraser / name).read_bytes()
    first, last = (dict(load_model(one / CHECKPOINT).named_parameters()) for one in (toy_paraphraser, folder))
    for name, value in last.items():
        largest = first[name].detach().abs().amax(-1, keepdim=True)
        assert torch.all((value - first[name]).abs() <= step * largest + 1e-6), name


def test_labels_that_it_does_not_know_are_refused(
    toy_paraphraser: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees = [tuple(tree.replace("(NP", "(QP") for tree in pair) for pair in toy_syntax.tree_pairs(60)]
    monkeypatch.setattr(toy_syntax, "tree_pairs", lambda count, seed: trees)
    pairs = toy_syntax.write_parsed_pairs(tmp_path / "pairs", 60)
    with pytest.raises(ModelError, match=r"the subwords do not have the special token '<\(QP>'"):
        api.train_paraphraser(pairs, tmp_path / "run", init_from=toy_paraphraser, **STILL)


def test_other_networks_start_from_none(toy_paraphraser: Path) -> None:
    with pytest.raises(ConfigError, match="'lstm' starts from no other network"):
        TrainParaphraser(pairs=(Path("pairs"),), network="lstm", init_from=toy_paraphraser)
    with pytest.raises(ModelError, match=r"paraphraser 'englsh' not found; did you mean 'english'\?"):
        api.train_paraphraser("pairs", "run", init_from="englsh")


def test_the_bundled_one_has_a_name() -> None:
    assert paraphraser_folder("english") == bundled_path("english-paraphraser")
