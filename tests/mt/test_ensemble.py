"""Ensembles: the search of CTranslate2 with one member, plain references with two, and bad members."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_translators import SENTENCES, write_checkpoint

from paraloom import Translator
from paraloom.core.errors import ConfigError, ModelError
from paraloom.mt.decoding import Beam, Nucleus, Sampling, TopK
from paraloom.mt.ensemble import EnsembleTranslator, check_members, is_ensemble
from paraloom.mt.ensemble_search import beam_search, draw_samples, truncated
from paraloom.mt.incremental import IncrementalNetwork

TEXTS = [*SENTENCES[:8], "", SENTENCES[8]]


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two random Marian checkpoints with the same subwords, whose translations end."""
    folder = tmp_path_factory.mktemp("members")
    first = write_checkpoint("marian", folder / "first", scale_embedding=True, activation_function="swish")
    second = shutil.copytree(first, folder / "second")
    for number, member in enumerate((first, second)):
        weights = load_file(member / "model.safetensors")
        random = torch.Generator().manual_seed(number)
        for name, value in weights.items():
            if "embed_positions" not in name and value.dim() == 2 and name != "final_logits_bias":
                value += torch.randn(value.shape, generator=random) * 0.1
        weights["model.shared.weight"][-1] = 0.0  # `<pad>`, as in training
        weights["final_logits_bias"][0, 0] = 6.0
        save_file(weights, member / "model.safetensors", metadata={"format": "pt"})
    return [first, second]


@pytest.fixture(scope="module")
def networks(members: list[Path]) -> list[IncrementalNetwork]:
    return [IncrementalNetwork(folder) for folder in members]


def test_a_network_step_by_step_computes_what_transformers_does(members: list[Path]) -> None:
    from transformers import MarianMTModel

    source, target = torch.tensor([[5, 9, 7, 0], [6, 8, 0, 0]]), torch.tensor([[4, 11, 2], [9, 9, 3]])
    mask = torch.tensor([[True] * 4, [True, True, True, False]])
    network = IncrementalNetwork(members[0])
    start = torch.full((2, 1), network.start_word)
    with torch.no_grad():
        model = MarianMTModel.from_pretrained(members[0]).eval()
        output = model(source, attention_mask=mask, decoder_input_ids=torch.cat([start, target], 1))
        logits = output.logits[..., : network.padding]
        expected, whole = logits.clone(), logits.log_softmax(-1)
        expected[:, 0, 0] = -torch.inf  # no translation is empty
        expected = expected.log_softmax(-1)
    state = network.start(source, mask)
    for position, words in enumerate([start[:, 0], *target.unbind(1)]):
        torch.testing.assert_close(network.step(words, state), expected[:, position], atol=1e-4, rtol=1e-4)
    scores = network.score(source, mask, target)
    torch.testing.assert_close(scores, whole[:, :3].gather(2, target[..., None])[..., 0], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    "decode", ["greedy", "beam:4,nbest=4", "beam:5,nbest=2,length_penalty=0", "beam:3,nbest=3,length_penalty=0.5"]
)
def test_one_member_searches_as_ctranslate2_does(
    members: list[Path], decode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paraloom.mt.ensemble.check_members", lambda folders: None)
    expected = Translator.load(members[0], precision="float32", target="deu").translate(TEXTS, decode=decode)
    variants = EnsembleTranslator([members[0]], decode, target="deu").translate(TEXTS)
    assert [[one.text for one in group] for group in variants] == [[one.text for one in group] for group in expected]
    for group, other in zip(variants, expected, strict=True):
        for one, two in zip(group, other, strict=True):
            assert (one.tokens, one.cut) == (two.tokens, two.cut)
            assert one.logprob == pytest.approx(two.logprob, abs=2e-3 * one.tokens)
    assert any(not one.cut for group in variants for one in group)


def _reference(members: list[Path], source: list[int], beam: Beam, max_length: int) -> list[tuple[list[int], float]]:
    """Beam search in plain Python over whole forward passes of transformers."""
    from transformers import MarianMTModel

    models = [MarianMTModel.from_pretrained(folder).eval() for folder in members]
    pad = models[0].config.pad_token_id

    def next_words(words: list[int]) -> Any:
        inputs = {"input_ids": torch.tensor([source]), "decoder_input_ids": torch.tensor([[pad, *words]])}
        with torch.no_grad():
            logits = torch.stack([model(**inputs).logits[0, -1, :pad] for model in models])
        if not words:
            logits[:, 0] = -torch.inf
        return logits.log_softmax(-1).mean(0)

    alive: list[tuple[list[int], float]] = [([], 0.0)]
    done: list[tuple[list[int], float]] = []
    for length in range(1, max_length + 1):
        candidates = [
            ([*words, word], score + value)
            for words, score in alive
            for word, value in enumerate(next_words(words).tolist())
        ]
        candidates.sort(key=lambda candidate: -candidate[1])
        done += [candidate for candidate in candidates[: beam.size] if candidate[0][-1] == 0 or length == max_length]
        alive = [candidate for candidate in candidates if candidate[0][-1] != 0][: beam.size]
        if len(done) >= beam.size:
            break
    done.sort(key=lambda candidate: -candidate[1] / len(candidate[0]) ** beam.length_penalty)
    return done[: beam.nbest]


@pytest.mark.parametrize("beam", [Beam(1), Beam(3, 3), Beam(4, 2, length_penalty=0.3)])
def test_two_members_search_by_the_average_of_their_log_probabilities(
    members: list[Path], networks: list[IncrementalNetwork], beam: Beam
) -> None:
    source = [5, 9, 7, 4, 0]
    expected = _reference(members, source, beam, 30)
    (hypotheses,) = beam_search(networks, torch.tensor([source]), torch.ones(1, 5, dtype=torch.bool), beam, 30)
    assert [one.words if one.cut else [*one.words, 0] for one in hypotheses] == [words for words, _ in expected]
    assert [one.logprob for one in hypotheses] == pytest.approx([score for _, score in expected], abs=1e-3)


def test_scores_are_the_average_of_those_of_the_members(members: list[Path]) -> None:
    sources, targets = SENTENCES[:5], SENTENCES[5:10]
    ensemble = EnsembleTranslator(members, target="deu").score(sources, targets)
    own = [Translator.load(folder, precision="float32", target="deu").score(sources, targets) for folder in members]
    for (value, tokens), (first, one), (second, two) in zip(ensemble, *own, strict=True):
        assert tokens == one == two
        assert value == pytest.approx((first + second) / 2, abs=2e-3 * tokens)


def test_translations_do_not_depend_on_what_they_are_translated_with(members: list[Path]) -> None:
    ensemble = EnsembleTranslator(members, "beam:4", target="deu")
    together = ensemble.translate(SENTENCES[:4])
    alone = [ensemble.translate([text])[0] for text in SENTENCES[:4]]
    assert [group[0].text for group in together] == [group[0].text for group in alone]


def test_samples_follow_the_averaged_distribution(networks: list[IncrementalNetwork]) -> None:
    source, mask = torch.tensor([[5, 9, 0]]), torch.ones(1, 3, dtype=torch.bool)
    starts = [network.start(source, mask) for network in networks]
    words = torch.tensor([networks[0].start_word])
    mean = torch.stack([n.step(words, state)[0] for n, state in zip(networks, starts, strict=True)]).mean(0)
    expected = mean.softmax(0)
    drawn = draw_samples(networks, source, mask, Sampling(4000), 1, seed=3)[0]
    counts = torch.bincount(torch.tensor([one.words[0] if one.words else 0 for one in drawn]), minlength=len(mean))
    top = expected.topk(5).indices
    for share, probability in zip((counts[top] / 4000).tolist(), expected[top].tolist(), strict=True):
        assert share == pytest.approx(probability, abs=4 * math.sqrt(probability / 4000))
    assert drawn == draw_samples(networks, source, mask, Sampling(4000), 1, seed=3)[0]
    assert drawn != draw_samples(networks, source, mask, Sampling(4000), 1, seed=4)[0]


def test_what_can_be_drawn() -> None:
    logprobs = torch.tensor([[0.4, 0.3, 0.2, 0.1]]).log()
    assert truncated(logprobs, TopK(2)).exp()[0].tolist() == pytest.approx([0.4, 0.3, 0, 0])
    assert truncated(logprobs, Nucleus(0.71)).exp()[0].tolist() == pytest.approx([0.4, 0.3, 0.2, 0])
    assert truncated(logprobs, Nucleus(0.4)).exp()[0].tolist() == pytest.approx([0.4, 0, 0, 0])
    assert truncated(logprobs, Sampling(temperature=0.5)).exp()[0].tolist() == pytest.approx([0.16, 0.09, 0.04, 0.01])


@pytest.mark.slow
def test_minimum_bayes_risk_and_several_threads(members: list[Path]) -> None:
    one = EnsembleTranslator(members, "mbr:chrf,samples=4", target="deu").translate(SENTENCES[:6], seed=2)
    two = EnsembleTranslator(members, "mbr:chrf,samples=4", target="deu", threads=2).translate(SENTENCES[:6], seed=2)
    assert one == two
    assert all(group[0].utility is not None for group in one)


def test_saved_and_opened(members: list[Path], tmp_path: Path) -> None:
    ensemble = EnsembleTranslator.load(members, decode="beam:2", target="deu")
    opened = EnsembleTranslator.open(ensemble.save(tmp_path / "both"), "beam:2")
    assert opened.signature == ensemble.signature
    assert opened.translate(SENTENCES[:2]) == ensemble.translate(SENTENCES[:2])
    assert opened.with_decoding("greedy").decoding == Beam(1)


def test_a_long_text_is_split(members: list[Path]) -> None:
    (group,) = EnsembleTranslator(members, "greedy", target="deu").translate([" ".join(SENTENCES * 8)])
    assert group[0].pieces > 1


def test_members_with_other_subwords_are_refused(members: list[Path], tmp_path: Path) -> None:
    other = shutil.copytree(members[1], tmp_path / "other")
    vocabulary = json.loads((other / "vocab.json").read_text())
    (other / "vocab.json").write_text(json.dumps(vocabulary, indent=3))
    with pytest.raises(ModelError, match=r"its subwords \(vocab.json\) are not those"):
        check_members([members[0], other])
    (other / "vocab.json").unlink()
    with pytest.raises(ModelError, match=r"vocab.json not found"):
        check_members([members[0], other])


def test_what_cannot_be_a_member_is_refused(members: list[Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="two checkpoints or more, got 1"):
        EnsembleTranslator(members[:1])
    with pytest.raises(ModelError, match="only converted weights"):
        EnsembleTranslator.load(["de-en", "de-en"])
    with pytest.raises(ConfigError, match="no shortlist"):
        EnsembleTranslator(members, "beam:2,shortlist=1")
    other = shutil.copytree(members[1], tmp_path / "other")
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"model_type": "bart"}))
    with pytest.raises(ModelError, match="expected a Marian model, got bart"):
        check_members([members[0], other])
    with pytest.raises(ModelError, match="not an ensemble"):
        EnsembleTranslator.open(members[0])


def test_names_of_ensembles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_ensemble("a+b")
    assert not is_ensemble("http://host/a+b")
    (tmp_path / "c++").mkdir()
    monkeypatch.chdir(tmp_path)
    assert not is_ensemble("c++")
