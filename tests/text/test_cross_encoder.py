"""Cross-encoders from ONNX files: the values of transformers in any batch; labels; missing and damaged files."""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

for _package in ("onnxruntime", "tokenizers"):
    pytest.importorskip(_package, reason="pip install 'paraloom[cross-encoder]'")
for _package in ("onnx", "torch", "transformers"):
    pytest.importorskip(_package, reason="the tiny model needs packages: pip install 'paraloom[onnx,train]'")

from tiny_cross_encoder import (  # noqa: E402
    MAX_LENGTH,
    SENTENCES,
    change_config,
    save_tiny_cross_encoder,
    torch_logits,
)

from paraloom import as_pairs  # noqa: E402
from paraloom.core.errors import ConfigError, MissingExtraError, ModelError, ParaloomError  # noqa: E402
from paraloom.core.schema import signature_of  # noqa: E402
from paraloom.pairs.scoring.judge import EntailmentJudge  # noqa: E402
from paraloom.pairs.scoring.models import judge_scorers  # noqa: E402
from paraloom.pairs.scoring.table import score  # noqa: E402
from paraloom.stages import Score  # noqa: E402
from paraloom.text.cross_encoder import CrossEncoder, find_readout  # noqa: E402

LONG = " ".join(SENTENCES)
PAIRS = [
    *((first, second) for first in SENTENCES for second in SENTENCES),
    *((LONG, "a dog"), ("a dog", LONG), (LONG, LONG), ("dog", "cat")),
]


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Folders of tiny models, each exported once."""
    folders: dict[str, Path] = {}

    def model(name: str, **options: Any) -> Path:
        if name not in folders:
            folder = tmp_path_factory.mktemp(name)
            folders[name] = save_tiny_cross_encoder(folder, **options)
        return folders[name]

    return model


@pytest.fixture(scope="session")
def entailment(models: Callable[..., Path]) -> Path:
    """A model with the labels contradiction, entailment, neutral."""
    return models("entailment")


@pytest.fixture
def folder(entailment: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of it that a test may damage."""
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("model.onnx", "config.json", "tokenizer.json"):
        shutil.copyfile(entailment / name, copy / name)
    yield copy


def by_side(pairs: list[tuple[str, str]]) -> tuple[list[str], list[str]]:
    return [first for first, _ in pairs], [second for _, second in pairs]


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits)
    return powers / powers.sum(axis=1, keepdims=True)


def test_both_directions_are_those_of_transformers(entailment: Path) -> None:
    firsts, seconds = by_side(PAIRS)
    batch = pa.RecordBatch.from_pydict({"src": firsts, "tgt": seconds})
    scored = score(batch, judge_scorers(EntailmentJudge(CrossEncoder.load(entailment))))
    forward = softmax(torch_logits(entailment, PAIRS))[:, 1]
    backward = softmax(torch_logits(entailment, [(second, first) for first, second in PAIRS]))[:, 1]
    assert np.ptp(forward) > 0.5 and np.abs(forward - backward).max() > 0.2
    np.testing.assert_allclose(scored.column("judge"), np.minimum(forward, backward), atol=1e-5)
    np.testing.assert_allclose(scored.column("judge_forward"), forward, atol=1e-5)
    np.testing.assert_allclose(scored.column("judge_backward"), backward, atol=1e-5)
    signature = signature_of(scored.schema.field("judge_backward")) or ""
    assert f"softmax(entailment)/max_length:{MAX_LENGTH}" in signature


def test_a_graph_without_token_types_and_positions_that_begin_after_the_padding(models: Callable[..., Path]) -> None:
    folder = models("roberta", roberta=True)
    model = CrossEncoder.load(folder)
    assert [item.name for item in model.session.get_inputs()] == ["input_ids", "attention_mask"]
    assert model.max_length == MAX_LENGTH
    expected = softmax(torch_logits(folder, PAIRS))[:, 1]
    np.testing.assert_allclose(model.predict(*by_side(PAIRS)), expected, atol=1e-5)


def test_a_tokenizer_without_token_types(entailment: Path, folder: Path) -> None:
    names = {"model_input_names": ["input_ids", "attention_mask"]}
    (folder / "tokenizer_config.json").write_text(json.dumps(names))
    expected = softmax(torch_logits(entailment, PAIRS, token_types=False))[:, 1]
    np.testing.assert_allclose(CrossEncoder.load(folder).predict(*by_side(PAIRS)), expected, atol=1e-5)


def test_the_tokenizer_may_shorten_pairs_and_name_the_padding(folder: Path) -> None:
    settings = {"model_max_length": 12, "pad_token": {"content": "[MASK]"}}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    model = CrossEncoder.load(folder)
    assert (model.max_length, model.pad_id) == (12, 4)
    assert model.predict(["the dog " * 5], ["a cat " * 5]) == model.predict(["the dog " * 9], ["a cat " * 9])
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": int(1e30)}))
    assert CrossEncoder.load(folder).max_length == MAX_LENGTH
    change_config(folder, max_position_embeddings=None)
    assert CrossEncoder.load(folder).max_length == 512
    change_config(folder, max_position_embeddings=4)
    with pytest.raises(ModelError, match="a maximum length of 4 tokens leaves none to the texts"):
        CrossEncoder.load(folder)


@pytest.mark.parametrize(
    ("activation", "sigmoid"),
    [
        ({}, False),
        ({"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity"}}, False),
        ({"sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Sigmoid"}}, True),
        ({"sbert_ce_default_activation_function": "torch.nn.modules.activation.Sigmoid"}, True),
    ],
)
def test_one_output(models: Callable[..., Path], tmp_path: Path, activation: dict[str, Any], sigmoid: bool) -> None:
    source = models("regression", labels=("LABEL_0",))
    folder = Path(shutil.copytree(source, tmp_path / "model"))
    change_config(folder, **activation)
    raw = torch_logits(source, PAIRS)[:, 0]
    expected = 1 / (1 + np.exp(-raw)) if sigmoid else raw
    assert np.ptp(raw) > 0.5
    np.testing.assert_allclose(CrossEncoder.load(folder).predict(*by_side(PAIRS)), expected, atol=1e-4)
    with pytest.raises(ConfigError, match="the model has one output"):
        CrossEncoder.load(folder, label="entailment")
    change_config(folder, sentence_transformers={"activation_fn": "torch.nn.Tanh"})
    with pytest.raises(ModelError, match="unknown activation 'Tanh'"):
        CrossEncoder.load(folder)


def test_empty_sides_are_null(entailment: Path) -> None:
    rows = [{"src": src, "tgt": tgt} for src, tgt in (("a dog", ""), (" ", "a dog"), (None, "a dog"), ("?", "!"))]
    batch = pa.RecordBatch.from_pylist(rows, pa.schema({"src": pa.string(), "tgt": pa.string()}))
    scored = score(batch, judge_scorers(EntailmentJudge(CrossEncoder.load(entailment))))
    for name in ("judge_forward", "judge_backward"):
        assert [value is None for value in scored.column(name).to_pylist()] == [True, True, True, False]
    assert CrossEncoder.load(entailment).predict([], []).shape == (0,)


def quantized(folder: Path) -> None:
    """Replace the graph with one that quantizes activations by the range of a whole batch."""
    from onnxruntime.quantization import quantize_dynamic

    quantize_dynamic(folder / "model.onnx", folder / "quantized.onnx")
    (folder / "quantized.onnx").replace(folder / "model.onnx")


@pytest.mark.parametrize("kind", ["float32", "dynamically quantized"])
def test_a_value_does_not_depend_on_the_batch(folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind == "dynamically quantized":
        quantized(folder)
    model = CrossEncoder.load(folder)
    assert model.one_by_one == (kind == "dynamically quantized")
    expected = dict(zip(PAIRS, model.predict(*by_side(PAIRS)).tolist(), strict=True))
    assert np.ptp(list(expected.values())) > 0.5
    draw = random.Random(1)
    for size in (1, 2, 3, 7, len(PAIRS)):
        chosen = draw.sample(PAIRS, size)
        assert model.predict(*by_side(chosen)).tolist() == [expected[pair] for pair in chosen]
    for tokens in (1, 100, 100_000):
        monkeypatch.setattr("paraloom.text.cross_encoder._BATCH_TOKENS", tokens)
        assert model.predict(*by_side(PAIRS)).tolist() == list(expected.values())


LABELS = [
    (("contradiction", "neutral", "ENTAILMENT"), "", "ENTAILMENT"),
    (("entailment", "not_entailment"), "", "entailment"),
    (("non-entailment", "Entails"), "", "Entails"),
    (("not_paraphrase", "paraphrase"), "", "paraphrase"),
    (("is_duplicate", "not duplicate"), "", "is_duplicate"),
    (("LABEL_0", "LABEL_1"), "label_1", "LABEL_1"),
    (("contradiction", "entailment", "neutral"), "neutral", "neutral"),
]


@pytest.mark.parametrize(("labels", "label", "expected"), LABELS)
def test_the_label_is_found(labels: tuple[str, ...], label: str, expected: str) -> None:
    config = {"id2label": {str(index): name for index, name in enumerate(labels)}}
    readout = find_readout(config, len(labels), Path(), label)
    assert (readout.label, readout.activation) == (expected, "softmax")
    config["problem_type"] = "multi_label_classification"  # type: ignore[assignment]
    assert find_readout(config, len(labels), Path(), label).activation == "sigmoid"


WRONG_LABELS = [
    ({"id2label": {"0": "bad", "1": "good"}}, 2, "", "no label says .* --judge .*label=bad.*labels: bad, good"),
    ({}, 2, "", r"no label says .*labels: LABEL_0, LABEL_1"),
    ({"id2label": {"0": "x", "1": "y", "2": "paraphrase"}}, 3, "", "no label says"),
    ({"id2label": {"0": "entailment", "1": "entails"}}, 2, "", "several labels say"),
    ({"id2label": {"0": "bad", "1": "good"}}, 2, "goof", "unknown label 'goof'; did you mean 'good'"),
    ({"id2label": {"0": "bad", "1": "good"}}, 3, "good", "'id2label' does not name the 3 outputs of the graph"),
    ({"id2label": ["bad", "good"]}, 2, "good", "'id2label' does not name the 2 outputs"),
]


@pytest.mark.parametrize(("config", "outputs", "label", "message"), WRONG_LABELS)
def test_labels_that_do_not_say_what_the_value_is(
    config: dict[str, Any], outputs: int, label: str, message: str
) -> None:
    with pytest.raises(ParaloomError, match=f"(?s){message}"):
        find_readout(config, outputs, Path("model"), label)


def test_the_graph_is_found(folder: Path) -> None:
    digest = CrossEncoder.load(folder).digest
    (folder / "onnx").mkdir()
    (folder / "model.onnx").replace(folder / "onnx/model.onnx")
    assert CrossEncoder.load(folder).digest == digest
    (folder / "onnx/model.onnx").replace(folder / "onnx/model_int8.onnx")
    assert CrossEncoder.load(folder).file == folder / "onnx/model_int8.onnx"
    shutil.copyfile(folder / "onnx/model_int8.onnx", folder / "onnx/model_fp16.onnx")
    with pytest.raises(ModelError, match=r"2 graphs found: onnx/model_fp16.onnx, onnx/model_int8.onnx"):
        CrossEncoder.load(folder)
    assert CrossEncoder.load(folder, file="onnx/model_fp16.onnx").file == folder / "onnx/model_fp16.onnx"
    for elsewhere in ("onnx/model_q4.onnx", "../copy/onnx/model_fp16.onnx", str(folder / "onnx/model_fp16.onnx")):
        with pytest.raises(ModelError, match=r"not found in the folder.\nGraphs in the folder: onnx/model_fp16.onnx"):
            CrossEncoder.load(folder, file=elsewhere)


def test_weights_beside_the_graph(folder: Path) -> None:
    import onnx

    expected, digest = CrossEncoder.load(folder).predict(*by_side(PAIRS)), CrossEncoder.load(folder).digest
    graph = onnx.load(folder / "model.onnx")
    onnx.save(graph, folder / "model.onnx", save_as_external_data=True, location="model.onnx_data", size_threshold=64)
    assert (folder / "model.onnx_data").stat().st_size > (folder / "model.onnx").stat().st_size
    model = CrossEncoder.load(folder)
    assert model.predict(*by_side(PAIRS)).tolist() == expected.tolist() and model.digest != digest
    (folder / "model.onnx_data").unlink()
    with pytest.raises(ModelError, match="the graph cannot be loaded"):
        CrossEncoder.load(folder)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("model.onnx", None, "no .onnx file found.\nExport the model"),
        ("model.onnx", "", "the graph cannot be loaded"),
        ("model.onnx", "not a graph", "the graph cannot be loaded"),
        ("tokenizer.json", None, "tokenizer.json not found"),
        ("tokenizer.json", "{", "the tokenizer cannot be read"),
        ("config.json", None, "config.json not found"),
        ("config.json", "{", "the file is damaged"),
        ("config.json", "[]", "the file is damaged"),
    ],
)
def test_missing_and_damaged_files(folder: Path, name: str, content: str | None, message: str) -> None:
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_text(content)
    with pytest.raises(ModelError, match=message) as caught:
        CrossEncoder.load(folder)
    assert (caught.value.file or "").startswith(str(folder)) and caught.value.remedy


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="folder not found"):
        CrossEncoder.load(tmp_path / "none")


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        (["input_ids", "pixel_values"], {"logits": 2}, "got input_ids tensor.int64., pixel_values"),
        (["attention_mask"], {"logits": 2}, "expected the integer inputs input_ids"),
        (["input_ids"], {"logits": 2, "hidden": 2}, "expected one output, got logits, hidden"),
        (["input_ids"], {"last_hidden_state": 3}, r"expected an output of the shape \(pairs, labels\), got \(2, 8, 1"),
        (["input_ids"], {"logits": 2}, "'id2label' does not name the 8 outputs"),
    ],
)
def test_graphs_of_other_kinds(folder: Path, inputs: list[str], outputs: dict[str, int], message: str) -> None:
    """Graphs that return their first input, as each of the outputs, in so many dimensions."""
    import onnx
    from onnx import TensorProto, helper

    nodes = [
        helper.make_node("Cast", inputs[:1], ["values"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["values", "last"], ["spread"]),
        *(helper.make_node("Identity", ["values" if n == 2 else "spread"], [name]) for name, n in outputs.items()),
    ]
    axes = ["batch", "tokens", "dimension"]
    graph = helper.make_graph(
        nodes,
        "returns-its-input",
        [helper.make_tensor_value_info(name, TensorProto.INT64, axes[:2]) for name in inputs],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, axes[:n]) for name, n in outputs.items()],
        [helper.make_tensor("last", TensorProto.INT64, [1], [2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, folder / "model.onnx")
    with pytest.raises(ModelError, match=message):
        CrossEncoder.load(folder)


def test_a_tokenizer_of_another_model(folder: Path) -> None:
    settings = json.loads((folder / "tokenizer.json").read_text())
    settings["model"]["vocab"]["zebra"] = 119_999
    (folder / "tokenizer.json").write_text(json.dumps(settings))
    with pytest.raises(ModelError, match=r"the graph cannot process a pair(?s:.*)belong to this graph"):
        CrossEncoder.load(folder).predict(["zebra"], ["dog"])
    settings["post_processor"] = None
    (folder / "tokenizer.json").write_text(json.dumps(settings))
    with pytest.raises(ModelError, match="puts nothing between the two texts"):
        CrossEncoder.load(folder)


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_without_the_extra(entailment: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"paraloom\[cross-encoder\]"):
        CrossEncoder.load(entailment)


def test_settings_of_the_stage(entailment: Path) -> None:
    for key in ("judge_file", "judge_label"):
        with pytest.raises(ConfigError, match=f"key '{key}' needs a cross-encoder"):
            Score(**{key: "x"})
    # A run that was made before these fields existed stays valid.
    assert not {name for name in Score().configuration() if name.startswith("judge")}
    row = {"src": "a small dog", "tgt": "the dog"}
    scored = as_pairs([row]).score("length", judge=f"{entailment}?label=neutral").to_list()[0]
    expected = softmax(torch_logits(entailment, [(row["src"], row["tgt"]), (row["tgt"], row["src"])]))[:, 2]
    assert [scored["judge_forward"], scored["judge_backward"]] == pytest.approx(expected, abs=1e-5)


def test_the_command(entailment: Path, paraloom: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("a small dog\tthe dog\ntwo cats\tthe river\nthe road\tthe road\n")
    options = ("--with", "length", "--judge", entailment, "--engine", "inline")
    status, _, err = paraloom("score", "pairs.tsv", *options, "-o", "scored.jsonl")
    assert status == 0, err
    rows = [json.loads(line) for line in (tmp_path / "scored.jsonl").read_text().splitlines()]
    expected = softmax(torch_logits(entailment, [(row["src"], row["tgt"]) for row in rows]))[:, 1]
    assert [row["judge_forward"] for row in rows] == pytest.approx(expected, abs=1e-5)
    named = (f"{entailment}?label=neutral", f"{entailment}?label=entail", f"{entailment}?labels=entail")
    status, _, err = paraloom("score", "pairs.tsv", "--judge", named[0], "-o", "neutral.jsonl")
    assert status == 0, err
    assert (tmp_path / "neutral.jsonl").read_text() != (tmp_path / "scored.jsonl").read_text()
    status, _, err = paraloom("score", "pairs.tsv", "--judge", named[2], "-o", "other.jsonl")
    assert status == 1 and "no setting 'labels'" in err
    status, _, err = paraloom("score", "pairs.tsv", "--judge", named[1], "-o", "other.jsonl")
    assert status == 1 and "unknown label 'entail'; did you mean 'entailment'?" in err
    status, _, err = paraloom("score", "pairs.tsv", "--judge", "none", "-o", "other.jsonl")
    assert status == 1 and "none" in err and "Traceback" not in err


@pytest.mark.slow
def test_the_same_bytes_with_any_number_of_workers(entailment: Path, tmp_path: Path) -> None:
    rows = [{"src": f"{first} {number}", "tgt": second} for number in range(60) for first, second in PAIRS]
    for workers in (1, 2):
        pairs = as_pairs(rows).score("length", judge=entailment)
        pairs.write(tmp_path / f"{workers}.jsonl", workers=workers)
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()
