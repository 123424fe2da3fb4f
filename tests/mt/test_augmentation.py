"""Training on augmented data: special tokens, weighted bitexts, perplexities; the back-translation methods."""

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
from paraloom.mt.training import train_translator
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import parse_pipeline
from paraloom.stages.translators import TrainTranslator

torch = pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
pytest.importorskip("transformers", reason="training needs transformers: pip install 'paraloom[train]'")

SHORT = replace(TOY_CONFIG, steps=4, evaluate_every=2, batch_tokens=200)


def curve(folder: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / "curve.jsonl").read_text().splitlines()]


def test_cross_entropy_equals_that_of_torch() -> None:
    from paraloom.mt.network import cross_entropy, smoothed_cross_entropy

    torch.manual_seed(0)
    states, embedding, words = torch.randn(11, 6), torch.randn(9, 6), torch.randint(9, (11,))
    expected = -torch.log_softmax(states @ embedding.t(), 1)[range(11), words].sum().item()
    assert cross_entropy(states, embedding, words, rows=4) == pytest.approx(expected, rel=1e-5)
    assert float(smoothed_cross_entropy(states, embedding, words, 0.0)) == pytest.approx(expected, rel=1e-5)
    assert cross_entropy(states[:0], embedding, words[:0]) == 0


def test_without_smoothing_perplexity_is_the_exponential_of_the_loss(tmp_path: Path) -> None:
    # With fewer tokens per slice than are probed and the full softmax, every token counts, as in the loss.
    config = replace(SHORT, evaluate_every=1, steps=2, label_smoothing=0.0, sampled_softmax_size=0)
    train_translator(lambda: toy_bitext(300), toy_bitext(50, seed=2), config, tmp_path / "plain")
    points = curve(tmp_path / "plain")
    assert [point["step"] for point in points] == [1, 2]
    for point in points:
        assert point["dev_perplexity"] == pytest.approx(math.exp(point["dev_loss"]), rel=1e-3)
        assert point["train_perplexity"] == pytest.approx(math.exp(point["loss"]), rel=1e-3)


def test_perplexity_covers_the_whole_vocabulary_where_the_loss_does_not(tmp_path: Path) -> None:
    config = replace(
        SHORT, steps=1, evaluate_every=1, label_smoothing=0.0, sampled_softmax_size=1, full_softmax_share=0.0
    )
    few_words = [(["rako"] * 40, ["the big dog"] * 40)]
    train_translator(lambda: few_words, toy_bitext(50, seed=2), config, tmp_path / "few")
    (point,) = curve(tmp_path / "few")
    # A softmax over fewer words has a lower loss.
    assert point["train_perplexity"] > math.exp(point["loss"])


def test_a_special_token_is_never_split(tmp_path: Path) -> None:
    import sentencepiece

    tagged = [([f"<BT> {text}" for text in sources], targets) for sources, targets in toy_bitext(300)]
    config = replace(SHORT, special_tokens=("<BT>",), subword_sampling=0.2)
    train_translator(lambda: tagged, toy_bitext(50, seed=2), config, tmp_path / "tagged")
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "tagged" / "source.spm"))
    rows = [
        pieces.encode("<BT> rako gor", out_type=str, enable_sampling=True, alpha=0.1, nbest_size=-1) for _ in range(50)
    ]
    assert all(row.count("<BT>") == 1 for row in rows) and len({tuple(row) for row in rows}) > 1
    assert "<BT>" in json.loads((tmp_path / "tagged" / "huggingface" / "vocab.json").read_text())
    with pytest.raises(ModelError, match="do not have the special token '<NEW>'"):
        other = replace(SHORT, special_tokens=("<NEW>",))
        train_translator(
            lambda: tagged, toy_bitext(50, seed=2), other, tmp_path / "other", init_from=tmp_path / "tagged"
        )


@pytest.mark.slow
def test_weights_decide_how_often_a_bitext_is_read(tmp_path: Path) -> None:
    for name, count, seed in (("small", 60, 1), ("large", 240, 3), ("development", 40, 2)):
        rows = [
            {"pair_id": str(i), "src": src, "tgt": tgt, "src_lang": "kal", "tgt_lang": "en", "origin": name}
            for i, (src, tgt) in enumerate(bitext(count, seed))
        ]
        write_corpus(tmp_path / name, [pa.RecordBatch.from_pylist(rows, schema=PAIRS)], kind="PAIRS")
    names = ["vocab_size", "d_model", "heads", "encoder_layers", "decoder_layers", "ffn_dim", "steps", "evaluate_every"]
    settings = "".join(f"{name} = {getattr(SHORT, name)}\n" for name in names)
    text = (
        '[[stage]]\nuse = "train-translator"\nbitext = ["small", "large"]\ndevelopment = "development"\n'
        f"{settings}weights = [1, 2]\n"
    )
    pipeline = parse_pipeline(text, file=tmp_path / "p.toml")
    figures = run_pipeline(pipeline, tmp_path / "run", engine="inline").stages[-1].figures
    assert figures["pairs"] == 120 + 240
    assert figures["mixture"] == "small 33.3% (60 pairs × 2), large 66.7% (240 pairs × 1)"


def test_weights_are_checked_when_the_stage_is_made() -> None:
    with pytest.raises(ConfigError, match="got 1 for 2 bitexts"):
        TrainTranslator(bitext=("a", "b"), weights=(1.0,))


def test_optional_settings_leave_the_digest_as_it_was() -> None:
    plain = TrainTranslator(bitext=("a", "b"))
    assert not {"weights", "special_tokens"} & set(plain.configuration())
    assert plain.digest() != TrainTranslator(bitext=("a", "b"), weights=(1.0, 1.0)).digest()
    assert plain.digest() != TrainTranslator(bitext=("a", "b"), special_tokens=("<BT>",)).digest()


@pytest.mark.parametrize("outputs", [1, 3, 7])
@pytest.mark.parametrize("name", METHODS)
def test_methods_give_as_many_translations_as_asked(name: str, outputs: int) -> None:
    preset = method(name, outputs)
    assert preset.outputs * preset.texts == (1 if name == "base" else outputs)
    assert preset.decoding.options()["length_penalty"] == 0


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(ConfigError, match="unknown method 'nucleos'; did you mean 'nucleus'"):
        method("nucleos")
