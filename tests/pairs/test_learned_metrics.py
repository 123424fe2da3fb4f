"""COMET and MetricX: the values of unbabel-comet, and by hand; folders that are incomplete, damaged or run code."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

for _package in ("torch", "transformers"):
    pytest.importorskip(_package, reason="pip install 'paraloom[train]'")

import torch  # noqa: E402
from tiny_metrics import COMET_MODELS, PAIRS, save_tiny_comet, save_tiny_metricx  # noqa: E402

from paraloom import as_pairs  # noqa: E402
from paraloom.core.errors import ConfigError, DataError, MissingExtraError, ModelError, ParaloomError  # noqa: E402
from paraloom.core.protocols import Variant  # noqa: E402
from paraloom.evaluate.comet import COMETResult, evaluate_comet  # noqa: E402
from paraloom.mt.choice import choose_samples  # noqa: E402
from paraloom.mt.decoding import parse_decoding  # noqa: E402
from paraloom.mt.utility import candidate_scores  # noqa: E402
from paraloom.stages import Score  # noqa: E402
from paraloom.text.learned_metrics import Comet, MetricX  # noqa: E402

# unbabel-comet 2.2.7, transformers 4.57.6: python tests/tiny_metrics.py
PEER = {
    "qe": [-0.93109, -1.17341, -0.98949, -0.94133],
    "reference": [-1.89188, -1.70425, -1.98926, -1.39104],
    "kiwi": [2.66040, 2.78761, 2.76931, 2.75938],
    "kiwi-words": [0.95923, 0.95786, 0.95913, 0.95997],
    "one-layer": [0.28692, 0.09235, 0.75491, 0.14095],
}
SOURCES, TRANSLATIONS, REFERENCES = zip(*PAIRS, strict=True)


@pytest.fixture(scope="session")
def comet(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Folders of tiny COMET models by name."""
    folders: dict[str, Path] = {}

    def model(name: str) -> Path:
        if name not in folders:
            folders[name] = save_tiny_comet(tmp_path_factory.mktemp(name), COMET_MODELS[name])
        return folders[name]

    return model


def own(folder: Path, name: str = "qe", **changed: Any) -> Path:
    """A COMET model to damage."""
    return save_tiny_comet(folder, {**COMET_MODELS[name], **changed})


@pytest.mark.parametrize("name", PEER)
def test_values_are_those_of_unbabel_comet(comet: Callable[[str], Path], name: str) -> None:
    model = Comet.load(comet(name))
    assert model.predict(SOURCES, TRANSLATIONS, REFERENCES).tolist() == pytest.approx(PEER[name], abs=2e-5)
    # One by one, as in batches; and nothing for empty texts.
    alone = [model.predict([s], [t], [r])[0] for s, t, r in PAIRS]
    assert alone == pytest.approx(PEER[name], abs=2e-5)
    assert np.isnan(model.predict(["", "der hund"], ["the dog", " "], ["a", "a"])).all()


def test_metricx_is_the_logit_of_one_token_by_hand(tmp_path: Path) -> None:
    folder, weights = save_tiny_metricx(tmp_path)
    words = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    embeddings = weights["shared.weight"].astype(np.float64)

    def normalized(values: Any, weight: str) -> Any:
        return values / np.sqrt((values**2).mean(-1, keepdims=True) + 1e-6) * weights[weight]

    cross = "decoder.block.0.layer.1.EncDecAttention."
    expected = []
    for source, translation, _ in PAIRS:
        text = f"source : {source} candidate : {translation}".split()  # and no end of text
        states = normalized(embeddings[[words[word] for word in text]], "encoder.final_layer_norm.weight")
        hidden = embeddings[0] + states.mean(0) @ weights[f"{cross}v.weight"].T @ weights[f"{cross}o.weight"].T
        expected.append(normalized(hidden, "decoder.final_layer_norm.weight") @ weights["lm_head.weight"][250_089])
    got = MetricX.load(folder).predict(SOURCES, TRANSLATIONS)
    assert got.tolist() == pytest.approx(np.clip(expected, 0, 25).tolist(), abs=1e-4)
    assert len({round(value, 2) for value in got.tolist()}) > 1


def test_scores_of_pairs_have_the_folder_in_their_name(comet: Callable[[str], Path], tmp_path: Path) -> None:
    rows = as_pairs([*zip(SOURCES, TRANSLATIONS, strict=True), ("", "a")])
    scored = rows.score(["overlap", f"comet:{comet('qe')}", f"metricx:{save_tiny_metricx(tmp_path)[0]}"])
    assert [row["comet"] for row in scored][:-1] == pytest.approx(PEER["qe"], abs=2e-5)
    assert scored[-1]["comet"] is None and scored[-1]["metricx"] is None and scored[0]["unigram_overlap"] == 0
    metadata = scored.to_arrow().schema.field("comet").metadata
    assert b"comet" in str(metadata).encode() and b"digest" in str(metadata).encode()


def test_a_model_with_references_needs_the_pivot_and_reads_src_as_reference(comet: Callable[[str], Path]) -> None:
    folder = comet("reference")
    with pytest.raises(ConfigError, match="the pairs have no column 'pivot'") as refused:
        as_pairs([("a", "b")]).score(f"comet:{folder}").to_list()
    assert "wmt20-comet-qe-da" in str(refused.value)
    rows = [{"src": reference, "tgt": tgt, "pivot": source} for source, tgt, reference in PAIRS]
    scored = as_pairs(rows).score(f"comet:{folder}")
    assert [row["comet"] for row in scored] == pytest.approx(PEER["reference"], abs=2e-5)


@pytest.mark.parametrize("name", ["comet", "comet:FOLDER", "metricx"])
def test_a_stage_says_how_the_folder_is_named(name: str) -> None:
    with pytest.raises(ConfigError, match="needs a model") as error:
        Score(scores=[name]).validate()
    assert f"--with {name.partition(':')[0]}:FOLDER" in str(error.value)


class Harmful:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, ("was-here",))


def test_a_checkpoint_runs_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = own(tmp_path / "model")
    file = folder / "checkpoints" / "model.ckpt"
    saved = torch.load(file, weights_only=True)
    torch.save({**saved, "callbacks": Harmful()}, file)
    with pytest.raises(ModelError, match="more than tensors, which could run code") as refused:
        Comet.load(folder)
    assert "model.safetensors" in str(refused.value) and not (tmp_path / "was-here").exists()
    from safetensors.torch import save_file

    save_file({name: value.contiguous() for name, value in saved["state_dict"].items()}, folder / "model.safetensors")
    assert Comet.load(folder).predict(SOURCES, TRANSLATIONS).tolist() == pytest.approx(PEER["qe"], abs=2e-5)


def test_settings_are_read_without_running_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = own(tmp_path / "model")
    (folder / "hparams.yaml").write_text("class_identifier: !!python/object/apply:os.mkdir [was-here]\n")
    with pytest.raises(ModelError, match="the file is damaged"):
        Comet.load(folder)
    assert not (tmp_path / "was-here").exists()


def lacks_settings(folder: Path) -> None:
    """No hparams.yaml."""
    (folder / "hparams.yaml").unlink()


def lacks_weights(folder: Path) -> None:
    """No checkpoint."""
    (folder / "checkpoints" / "model.ckpt").unlink()


def lacks_configuration(folder: Path) -> None:
    """No config.json, and nothing in the cache."""
    (folder / "config.json").unlink()


def is_cut(folder: Path) -> None:
    """Half of a checkpoint."""
    file = folder / "checkpoints" / "model.ckpt"
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def lacks_a_layer(folder: Path) -> None:
    """One tensor less."""
    file = folder / "checkpoints" / "model.ckpt"
    saved = torch.load(file, weights_only=True)
    del saved["state_dict"]["estimator.ff.3.bias"]
    torch.save(saved, file)


def is_of_another_encoder(folder: Path) -> None:
    """A configuration with other sizes."""
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "intermediate_size": 48}))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lacks_settings, "hparams.yaml not found"),
        (lacks_weights, "no checkpoint found"),
        (lacks_configuration, "the config cannot be loaded.*hf download nowhere/encoder"),
        (is_cut, "the checkpoint cannot be read"),
        (lacks_a_layer, "the checkpoint lacks estimator.ff.3.bias"),
        (is_of_another_encoder, "the checkpoint lacks shapes that the configuration says"),
    ],
)
def test_a_folder_that_is_incomplete_says_what_is_missing(
    damage: Callable[[Path], None], message: str, tmp_path: Path
) -> None:
    folder = own(tmp_path / "model", pretrained_model="nowhere/encoder")
    damage(folder)
    with pytest.raises(ModelError, match=f"(?s){message}"):
        Comet.load(folder)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"class_identifier": "xcomet_metric"}, "class 'xcomet_metric' is unknown"),
        ({"activations": "GELU"}, "unknown activation 'GELU'"),
        ({"hidden_sizes": None}, "'hidden_sizes' is missing"),
    ],
)
def test_settings_that_are_unknown(changed: dict[str, Any], message: str, tmp_path: Path) -> None:
    folder = own(tmp_path / "model")
    settings = json.loads((folder / "hparams.yaml").read_text())
    (folder / "hparams.yaml").write_text(json.dumps({**settings, **changed}))
    with pytest.raises(ModelError, match=message):
        Comet.load(folder).predict(SOURCES, TRANSLATIONS)


def test_other_folders_are_no_metricx(comet: Callable[[str], Path], tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not a model of MetricX-24: an xlm-roberta"):
        MetricX.load(comet("qe"))
    with pytest.raises(ConfigError, match="MetricX-23 reads its input in another order"):
        MetricX.load(tmp_path / "metricx-23-large-v2p0")


def test_a_missing_package_is_named(comet: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match="train"):
        Comet.load(comet("qe"))


def test_translations_are_evaluated(comet: Callable[[str], Path], tmp_path: Path) -> None:
    result = evaluate_comet(SOURCES, TRANSLATIONS, REFERENCES, model=comet("reference"))
    assert result.scores == pytest.approx(PEER["reference"], abs=2e-5)
    assert result.to_dict()["comet"] == pytest.approx(np.mean(PEER["reference"]), abs=2e-5)
    with pytest.raises(DataError, match="1 sources, 4 hypotheses and 4 references"):
        evaluate_comet(["a"], TRANSLATIONS, REFERENCES, model=tmp_path)
    with pytest.raises(DataError, match="no sentences"):
        evaluate_comet([], [], [], model=tmp_path)


def test_a_utility_may_have_metrics(comet: Callable[[str], Path], tmp_path: Path) -> None:
    metricx = save_tiny_metricx(tmp_path)[0]
    utility = f"forward+comet:{comet('qe')}+metricx:{metricx}"
    groups = [[Variant(text, -1.0, 2) for text in texts] for texts in (TRANSLATIONS[:3], TRANSLATIONS[1:3])]
    scores = candidate_scores(utility, groups, groups, SOURCES[:2])
    errors = MetricX.load(metricx).predict([SOURCES[1]] * 2, TRANSLATIONS[1:3])
    assert scores[0][f"comet:{comet('qe')}"][0] == pytest.approx(100 / (1 + np.exp(-PEER["qe"][0])), abs=1e-3)
    assert scores[1][f"metricx:{metricx}"].tolist() == pytest.approx((100 - 4 * errors).tolist(), abs=1e-4)
    with pytest.raises(DataError, match="needs the source of each group"):
        candidate_scores(utility, groups, groups)
    with pytest.raises(ConfigError, match="needs references"):
        candidate_scores(f"comet:{comet('reference')}", groups, groups, SOURCES[:2])


def test_a_beam_is_chosen_from_by_a_metric(comet: Callable[[str], Path]) -> None:
    decoding = parse_decoding(f"beam:4,utility=comet:{comet('qe')}")
    samples = [[Variant(text, -1.0, 2) for text in TRANSLATIONS[:3]]]
    values = Comet.load(comet("qe")).predict([SOURCES[0]] * 3, TRANSLATIONS[:3])
    assert choose_samples(samples, decoding, [SOURCES[0]])[0][0].text == TRANSLATIONS[int(values.argmax())]
    for wrong in ("comet", "comet:", "comets:folder"):
        with pytest.raises(ConfigError, match=f"unknown score '{wrong}'"):
            parse_decoding(f"beam:4,utility={wrong}")


def test_a_mean_has_its_interval() -> None:
    figures = COMETResult((0.2, 0.4, 0.6, float("nan")), "signature").to_dict()
    assert figures["n"] == 3 and figures["comet"] == pytest.approx(0.4)
    assert figures["comet_interval"] == pytest.approx(1.96 * 0.2 / 3**0.5, rel=1e-3)
    assert COMETResult((0.2,), "signature").to_dict()["comet_interval"] is None


def test_a_score_by_the_shell(
    comet: Callable[[str], Path], paraloom: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    lines = "".join(f"{source}\t{target}\n" for source, target, _ in PAIRS)
    (tmp_path / "pairs.tsv").write_text(lines, encoding="utf-8")
    status, _, err = paraloom("score", "pairs.tsv", "--with", f"overlap,comet:{comet('qe')}", "-o", "scored.jsonl")
    assert status == 0, err
    scored = [json.loads(line)["comet"] for line in (tmp_path / "scored.jsonl").read_text().splitlines()]
    assert scored == pytest.approx(PEER["qe"], abs=2e-5)
    with pytest.raises(ParaloomError):
        as_pairs([("a", "b")]).score("comet:nowhere")
