"""Training on more than one bitext: tags kept whole, shares by weight, perplexities beside the losses."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from toy_language import TOY_CONFIG, bitext, toy_bitext

from paraloom.core.errors import ConfigError, ModelError
from paraloom.core.schema import PAIRS
from paraloom.io import write_corpus
from paraloom.mt.presets import METHODS, method
from paraloom.mt.training import TranslatorConfig, train_translator
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import parse_pipeline
from paraloom.stages.translators import TrainTranslator

torch = pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
pytest.importorskip("transformers", reason="training needs transformers: pip install 'paraloom[train]'")

SHORT = replace(TOY_CONFIG, steps=4, evaluate_every=2, batch_tokens=200)


def curve(folder: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / "curve.jsonl").read_text().splitlines()]


def test_plain_cross_entropy_is_that_of_torch() -> None:
    from paraloom.mt.network import cross_entropy, smoothed_cross_entropy

    torch.manual_seed(0)
    states, embedding, words = torch.randn(11, 6), torch.randn(9, 6), torch.randint(9, (11,))
    expected = -torch.log_softmax(states @ embedding.t(), 1)[range(11), words].sum().item()
    assert cross_entropy(states, embedding, words, rows=4) == pytest.approx(expected, rel=1e-5)
    assert float(smoothed_cross_entropy(states, embedding, words, 0.0)) == pytest.approx(expected, rel=1e-5)
    assert cross_entropy(states[:0], embedding, words[:0]) == 0


def test_without_smoothing_perplexity_is_the_exponential_of_the_loss(tmp_path: Path) -> None:
    # Fewer tokens a slice than are probed, and all words in the softmax: every token counts, as in the loss.  The
    # loss is a mean of means of batches, the perplexity one over tokens, so they differ by a little.
    config = replace(SHORT, smoothing=0.0, candidates=0)
    train_translator(lambda: toy_bitext(300), toy_bitext(50, seed=2), config, tmp_path / "plain")
    points = curve(tmp_path / "plain")
    assert [point["step"] for point in points] == [2, 4]
    for point in points:
        assert point["dev_perplexity"] == pytest.approx(math.exp(point["dev_loss"]), rel=1e-3)
        assert point["train_perplexity"] == pytest.approx(math.exp(point["loss"]), rel=0.03)


def test_perplexity_ranges_over_all_words_where_the_loss_does_not(tmp_path: Path) -> None:
    config = replace(SHORT, smoothing=0.0, candidates=1, whole_softmax=0.0)
    few = [(["rako"] * 40, ["the big dog"] * 40)]
    train_translator(lambda: few, toy_bitext(50, seed=2), replace(config, steps=2), tmp_path / "few")
    (point,) = curve(tmp_path / "few")
    # The loss has few rivals for each word, so it is lower than what it takes to tell them from all.
    assert point["train_perplexity"] > 1.1 * math.exp(point["loss"])


def test_a_tag_is_one_piece_of_the_vocabulary(tmp_path: Path) -> None:
    import sentencepiece

    tagged = [([f"<BT> {text}" for text in sources], targets) for sources, targets in toy_bitext(300)]
    config = replace(SHORT, symbols=("<BT>",), sampling=0.2)
    train_translator(lambda: tagged, toy_bitext(50, seed=2), config, tmp_path / "tagged")
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "tagged" / "source.spm"))
    drawn = [
        pieces.encode("<BT> rako gor", out_type=str, enable_sampling=True, alpha=0.1, nbest_size=-1) for _ in range(50)
    ]
    assert all(row.count("<BT>") == 1 for row in drawn) and len({tuple(row) for row in drawn}) > 1
    assert "<BT>" in json.loads((tmp_path / "tagged" / "huggingface" / "vocab.json").read_text())
    with pytest.raises(ModelError, match="do not keep '<NEW>' whole"):
        other = replace(SHORT, symbols=("<NEW>",))
        train_translator(lambda: tagged, toy_bitext(50, seed=2), other, tmp_path / "other", start=tmp_path / "tagged")


@pytest.mark.parametrize("symbols", [("",), ("two words",), (" <BT>",)])
def test_a_symbol_with_blanks_is_refused(symbols: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="symbols"):
        TranslatorConfig(symbols=symbols)


def test_weights_decide_how_often_a_bitext_is_read(tmp_path: Path) -> None:
    for name, count, seed in (("small", 60, 1), ("large", 240, 3), ("development", 40, 2)):
        rows = [
            {"pair_id": str(i), "src": src, "tgt": tgt, "src_lang": "kal", "tgt_lang": "en", "origin": name}
            for i, (src, tgt) in enumerate(bitext(count, seed))
        ]
        write_corpus(tmp_path / name, [pa.RecordBatch.from_pylist(rows, schema=PAIRS)], kind="PAIRS")
    sizes = {
        name: getattr(SHORT, name)
        for name in (
            "vocabulary",
            "width",
            "heads",
            "encoder_layers",
            "decoder_layers",
            "inner",
            "steps",
            "evaluate_every",
        )
    }
    text = (
        '[[stage]]\nuse = "train-translator"\nbitext = ["small", "large"]\ndevelopment = "development"\n'
        + "".join(f"{name} = {value}\n" for name, value in sizes.items())
        + "weights = [1, 2]\n"
    )
    pipeline = parse_pipeline(text, file=tmp_path / "p.toml")
    figures = run_pipeline(pipeline, tmp_path / "run", engine="inline").stages[-1].figures
    assert figures["pairs"] == 120 + 240


def test_weights_are_checked_when_the_pipeline_is_read() -> None:
    with pytest.raises(ConfigError, match="2 bitexts, but 1 weights"):
        TrainTranslator(bitext=("a", "b"), weights=(1.0,))


def test_what_is_not_used_leaves_a_translator_what_it_was() -> None:
    plain = TrainTranslator(bitext=("a", "b"))
    assert not {"weights", "symbols"} & set(plain.configuration())
    assert plain.digest() != TrainTranslator(bitext=("a", "b"), weights=(1.0, 1.0)).digest()
    assert plain.digest() != TrainTranslator(bitext=("a", "b"), symbols=("<BT>",)).digest()


@pytest.mark.parametrize("outputs", [1, 3, 7])
@pytest.mark.parametrize("name", METHODS)
def test_methods_give_as_many_translations_as_asked(name: str, outputs: int) -> None:
    found = method(name, outputs)
    assert found.outputs * found.texts == (1 if name == "base" else outputs)
    assert found.decoding.options()["length_penalty"] == 0
