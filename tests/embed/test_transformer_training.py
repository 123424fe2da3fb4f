"""Small transformers: network, losses against numbers, batches, exact resume, and every form on disk."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tiny_transformer import save_tiny_transformer

from paraloom.api.encoders import distill_encoder, export_encoder
from paraloom.core.digests import folder_digest
from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.core.stage import StageContext
from paraloom.embed.encoder import Encoder, open_encoder
from paraloom.embed.transformer import TransformerEncoder, convert_transformer
from paraloom.embed.transformer_config import TransformerConfig
from paraloom.stages.sentences import Encode

torch = pytest.importorskip("torch", reason="pip install 'paraloom[distill]'")
pytest.importorskip("sentence_transformers", reason="pip install 'paraloom[distill]'")

from paraloom.embed import transformer_data  # noqa: E402
from paraloom.embed import transformer_training as training  # noqa: E402
from paraloom.embed.checkpoint import best_line  # noqa: E402
from paraloom.embed.transformer_network import (  # noqa: E402
    TransformerNetwork,
    TransformerShape,
    bert_config,
    bert_tensors,
    network_of_bert,
    new_network,
    principal_embeddings,
)
from paraloom.embed.transformer_store import NetworkEncoder, load_transformer  # noqa: E402
from paraloom.embed.transformer_vocabulary import TeacherVocabulary, prune, read_teacher, token_ids  # noqa: E402

SMALL = TransformerConfig(
    layers=1,
    width=16,
    heads=2,
    ffn_dim=32,
    max_length=16,
    steps=12,
    batch_size=16,
    neighborhood_size=4,
    num_hyperplanes=3,
    learning_rate=3e-3,
    precision="float32",
)
WORDS = ["a", "the", "dog", "cat", "and", "run", "runs", "cats"]
TEXTS = ["a dog runs", "the cat", "", "a dog and the cat run and run " * 12, "unseen words"]


@pytest.fixture(scope="module")
def teacher(tmp_path_factory) -> Path:
    """Folder of a tiny sentence-transformers model."""
    return save_tiny_transformer(tmp_path_factory.mktemp("teacher"))


@pytest.fixture(scope="module")
def student(teacher, tmp_path_factory) -> Path:
    """Folder of a small transformer after a few steps."""
    folder = tmp_path_factory.mktemp("student") / "student"
    training.distill_transformer(teacher_batches(), teacher, SMALL, folder)
    return folder


def teacher_batches(count: int = 100, width: int = 8, seed: int = 0) -> list[pa.RecordBatch]:
    """Sentences of a few words with the vectors of a teacher: sums of a vector per word."""
    draw = np.random.default_rng(seed)
    table = np.random.default_rng(9).normal(size=(len(WORDS), width))
    lists = [draw.integers(0, len(WORDS), draw.integers(2, 9)) for _ in range(count)]
    sums = np.stack([table[numbers].sum(axis=0) for numbers in lists])
    vectors = (sums / np.linalg.norm(sums, axis=1, keepdims=True)).astype(np.float16)
    texts = pa.array([" ".join(WORDS[k] for k in numbers) for numbers in lists])
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), width)
    whole = pa.record_batch({"text": texts, "vector": column})
    return [whole.slice(0, 30), whole.slice(30)]


def test_the_losses_agree_with_their_definition_and_gradients_with_differences() -> None:
    draw = np.random.default_rng(1)
    x = draw.normal(size=(5, 4))
    teacher = draw.normal(size=(5, 4))
    teacher /= np.linalg.norm(teacher, axis=1, keepdims=True)
    config = TransformerConfig(squared_weight=3, softmax_weight=0.5, vector_weight=2, temperature=0.2)

    def parts(vectors):
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        ours, theirs = units @ units.T, teacher @ teacher.T
        others = [[j for j in range(5) if j != i] for i in range(5)]
        squared = np.mean([(ours[i, j] - theirs[i, j]) ** 2 for i in range(5) for j in others[i]])
        divergence = 0.0
        for i in range(5):
            p, q = (np.exp(cosines[i, others[i]] / 0.2) for cosines in (theirs, ours))
            p, q = p / p.sum(), q / q.sum()
            divergence += (p * np.log(p / q)).sum() / 5
        return squared, divergence, np.mean(1 - (units * teacher).sum(axis=1))

    def value(vectors):
        squared, divergence, vector = parts(vectors)
        return 3 * squared + 0.5 * divergence + 2 * vector

    vectors = torch.tensor(x, requires_grad=True)
    loss = training.distillation_loss(vectors, torch.tensor(teacher), config)
    assert (loss.squared, loss.softmax, loss.vector) == pytest.approx(parts(x))
    assert float(loss.total.detach()) == pytest.approx(value(x))
    loss.total.backward()
    for i in range(5):
        for j in range(4):
            shift = np.zeros((5, 4))
            shift[i, j] = 1e-6
            slope = (value(x + shift) - value(x - shift)) / 2e-6
            assert float(vectors.grad[i, j]) == pytest.approx(slope, abs=1e-6)
    same = training.distillation_loss(torch.tensor(teacher), torch.tensor(teacher), config)
    assert float(same.total) == pytest.approx(0, abs=1e-9)


def test_the_network_is_a_bert() -> None:
    from transformers import BertConfig, BertModel

    shape = TransformerShape(30, width=16, layers=2, heads=4, ffn_dim=24, max_length=10, dimension=6)
    network = new_network(shape, seed=3)
    with torch.no_grad():
        for value in network.parameters():
            value.add_(torch.randn(value.shape, generator=torch.Generator().manual_seed(1)) * 0.1)
    model = BertModel(BertConfig(**bert_config(shape)))
    tensors = bert_tensors(network)
    model.load_state_dict({name: torch.from_numpy(value) for name, value in tensors.items()})
    ids, lengths = torch.tensor([[3, 4, 5, 6], [7, 8, 0, 0]]), torch.tensor([4, 2])
    with torch.no_grad():
        states = model.eval()(ids, attention_mask=(torch.arange(4) < lengths[:, None]).long()).last_hidden_state
        means = torch.stack([states[0].mean(0), states[1, :2].mean(0)])
        torch.testing.assert_close(network(ids, lengths), network.dense(means), atol=1e-5, rtol=1e-5)
    dense = {name: value.numpy() for name, value in network.dense.state_dict().items()}
    again = network_of_bert(shape, tensors, dense)
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), again.parameters(), strict=True))


def test_slices_and_rows_give_the_gradients_of_the_whole_batch() -> None:
    """One step of Adam from zero moments moves each weight by the rate, in the direction of the gradient."""
    config = TransformerConfig(**{**vars(SMALL), "weight_decay": 0.0, "clip_norm": 1e9, "threads": 3})
    shape = TransformerShape(20, width=16, layers=1, heads=2, ffn_dim=32, max_length=16, dimension=8)
    draw = np.random.default_rng(2)
    ids = [draw.integers(1, 12, draw.integers(2, 6)).astype(np.int32) for _ in range(7)]
    teacher = draw.normal(size=(7, 8)).astype(np.float32)
    teacher /= np.linalg.norm(teacher, axis=1, keepdims=True)
    network, reference = new_network(shape, seed=1), new_network(shape, seed=1)
    vectors = reference(*training.padded(ids))
    training.distillation_loss(vectors, torch.from_numpy(teacher), config).total.backward()
    trainer = training.TransformerTrainer(config, network)
    trainer.update(ids, teacher, 1e-3, 1)
    trainer.close()
    for (name, after), before in zip(network.named_parameters(), reference.parameters(), strict=True):
        gradient = before.grad
        expected = before - 1e-3 * gradient / (gradient.abs() + 1e-8)
        clear = gradient.abs() > 1e-5
        torch.testing.assert_close(after[clear], expected[clear].detach(), atol=2e-5, rtol=0, msg=name)
        torch.testing.assert_close(trainer._first[name], 0.1 * gradient, atol=1e-6, rtol=1e-4, msg=name)
    untouched = [row for row in range(20) if row not in {int(i) for sentence in ids for i in sentence}]
    assert torch.equal(network.words.weight[untouched], reference.words.weight[untouched])


def test_copies_on_devices_follow_the_weights() -> None:
    """A trainer whose slices have weights of their own, as on GPUs, makes the bytes of one whose slices share them."""
    shape = TransformerShape(20, width=16, layers=1, heads=2, ffn_dim=32, max_length=16, dimension=8)
    ids, teacher = [np.int32([i + 1, i + 2, 19]) for i in range(8)], np.eye(8, dtype=np.float32)
    networks = []
    for has_copies in (False, True):
        networks.append(new_network(shape, seed=1))
        trainer = training.TransformerTrainer(TransformerConfig(**vars(SMALL)), networks[-1])
        if has_copies:
            trainer._copies = [training._copy_dense(part, torch.device("cpu")) for part in trainer._slices]
            trainer._copies[0]["dense.weight"].zero_()  # What a copy held before a step does not matter.
        for step in (1, 2, 3):
            trainer.update(ids, teacher, 1e-2, step)
        trainer.close()
    assert not torch.equal(networks[0].dense.weight, new_network(shape, seed=1).dense.weight)
    for shared, copied in zip(*(network.parameters() for network in networks), strict=True):
        assert torch.equal(shared, copied)


def test_a_missing_gpu_is_an_error() -> None:
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    shape = TransformerShape(20, width=16, layers=1, heads=2, ffn_dim=32, max_length=16, dimension=8)
    with pytest.raises(ConfigError, match="GPU 0 of device 'cuda' not found"):
        training.TransformerTrainer(TransformerConfig(**{**vars(SMALL), "device": "cuda"}), new_network(shape, seed=1))


def test_bfloat16_gives_nearly_the_same_loss() -> None:
    shape = TransformerShape(20, width=16, layers=1, heads=2, ffn_dim=32, max_length=16, dimension=8)
    ids, teacher = [np.int32([i + 1, i + 2, 19]) for i in range(8)], np.eye(8, dtype=np.float32)
    losses = []
    for precision in ("float32", "bfloat16"):
        config = TransformerConfig(**{**vars(SMALL), "precision": precision})
        trainer = training.TransformerTrainer(config, new_network(shape, seed=1))
        losses.append(float(trainer.update(ids, teacher, 1e-3, 1).total.detach()))
        trainer.close()
    assert losses[0] != losses[1]
    assert losses[1] == pytest.approx(losses[0], rel=0.05)


def test_the_gradient_is_clipped() -> None:
    config = TransformerConfig(**{**vars(SMALL), "clip_norm": 1e-3})
    shape = TransformerShape(20, width=16, layers=1, heads=2, ffn_dim=32, max_length=16, dimension=8)
    trainer = training.TransformerTrainer(config, new_network(shape, seed=1))
    vectors = np.eye(8, dtype=np.float32)
    trainer.update([np.int32([i + 1, i + 2]) for i in range(8)], vectors, 1e-3, 1)
    trainer.close()
    # After the first step the first moments are a tenth of the gradient.
    norm = sum(float((10 * value).square().sum()) for value in trainer._first.values()) ** 0.5
    assert norm == pytest.approx(1e-3, rel=1e-4)


def test_principal_embeddings_keep_distances_as_far_as_their_width_allows() -> None:
    draw = np.random.default_rng(3)
    flat = (draw.normal(size=(40, 3)) @ draw.normal(size=(3, 10)) + 5).astype(np.float32)
    reduced = principal_embeddings(flat, 3)
    expected = np.linalg.norm(flat[:, None] - flat[None], axis=2)
    np.testing.assert_allclose(np.linalg.norm(reduced[:, None] - reduced[None], axis=2), expected, atol=1e-3)
    assert reduced.var(axis=0).argsort().tolist() == [2, 1, 0]
    assert principal_embeddings(flat, 12).shape == (40, 12)


def test_layers_start_from_those_of_a_teacher_of_the_same_sizes(teacher) -> None:
    vocabulary = read_teacher(teacher)
    sizes = {"width": 32, "heads": 4, "ffn_dim": 64, "max_length": 16}
    texts = ["a dog runs", "the cat and the dog"]
    whole = training.initial_network(TransformerConfig(layers=2, **sizes), vocabulary, 32, 1, teacher)
    np.testing.assert_allclose(
        NetworkEncoder(whole, vocabulary.tokenizer).encode(texts), Encoder.load(teacher).encode(texts), atol=2e-2
    )
    weights = whole.state_dict()
    for layers, width in ((1, 32), (1, 16)):
        config = TransformerConfig(layers=layers, **{**sizes, "width": width})
        state = training.initial_network(config, vocabulary, 32, 1, teacher).state_dict()
        lowest = "layers.0.intermediate.weight"
        assert (width == 32) == torch.equal(state[lowest], weights[lowest])


def test_batches_have_like_lengths_and_every_sentence_at_most_once(tmp_path, teacher) -> None:
    data, _ = transformer_data.stream_sentences(teacher_batches(300), read_teacher(teacher), tmp_path, SMALL)
    batches = transformer_data.batches_of_like_length(data, SMALL, np.random.default_rng(1))
    assert batches.shape == (300 // 16, 16)
    assert len(set(batches.ravel().tolist())) == batches.size
    lengths = np.diff(data.offsets)
    assert data.counts == {"read": 300, "used": 300, "empty": 0, "too_long": 0}
    spread = np.array([np.ptp(lengths[rows]) for rows in batches])
    # Batches of sentences in order of length have one boundary of two lengths each, or slightly more.
    assert (spread <= 0.2 * 10 + 1 + 1).all() and spread.mean() < np.ptp(lengths) / 2
    one = data.take(np.array([5]))[0]
    batch = teacher_batches(300)[0]
    tokens = token_ids(read_teacher(teacher).tokenizer)
    assert next(name for name, number in tokens.items() if number == one[0]) == "[CLS]"
    stored = data.vectors[data.rows[5]].astype(np.float32)
    np.testing.assert_array_equal(stored, np.float32(batch.column("vector")[5].as_py()))


def test_slabs_end_where_they_are_full_or_lengths_differ(monkeypatch) -> None:
    lengths = np.array([[3, 3], [3, 3], [3, 4], [4, 9], [9, 9], [9, 9], [9, 10], [10, 30]])
    monkeypatch.setattr(transformer_data, "_SLAB", 2)
    assert list(transformer_data._slabs(lengths)) == [
        slice(0, 2),
        slice(2, 3),
        slice(3, 4),
        slice(4, 6),
        slice(6, 7),
        slice(7, 8),
    ]


def test_long_and_empty_sentences_and_missing_vectors_are_left_out(tmp_path, teacher) -> None:
    texts = ["a dog", " ", "a dog " * 20, "the\ncat", None, "a cat"]
    rows = [[1, 0], [1, 0], [0, 1], [0, 1], [1, 0], None]
    batch = pa.record_batch({"text": texts, "vector": pa.array(rows, pa.list_(pa.float32(), 2))})
    data, _ = transformer_data.stream_sentences([batch], read_teacher(teacher), tmp_path, SMALL)
    assert data.counts == {"read": 6, "used": 2, "empty": 3, "too_long": 1}
    assert data.vectors[data.rows].tolist() == [[1, 0], [0, 1]]
    assert [len(ids) for ids in data.take(np.arange(2))] == [4, 4]


def test_a_pruned_vocabulary_splits_every_word(teacher) -> None:
    from tokenizers import Tokenizer

    vocabulary = read_teacher(teacher)
    ids = token_ids(vocabulary.tokenizer)
    counts = np.zeros(len(ids), np.int64)
    counts[ids["dog"]] = 3
    # [PAD] [UNK] [CLS] [SEP] [MASK], the characters a and ##s, and the most frequent word.
    small = prune(vocabulary, counts, 8)
    assert list(token_ids(small.tokenizer)) == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "dog", "##s"]
    assert sorted(token_ids(small.tokenizer).values()) == list(range(8))
    np.testing.assert_array_equal(small.words[6], vocabulary.words[ids["dog"]])
    tokens = Tokenizer.from_str(json.dumps(small.tokenizer)).encode("a dogs cat").tokens
    assert tokens == ["[CLS]", "a", "dog", "##s", "[UNK]", "[SEP]"]
    assert prune(vocabulary, counts, 100) is vocabulary
    with pytest.raises(ConfigError, match="special tokens and single characters alone are 7"):
        prune(vocabulary, counts, 6)
    other = {**vocabulary.tokenizer, "model": {**vocabulary.tokenizer["model"], "type": "BPE"}}
    with pytest.raises(ConfigError, match="BPE cannot be pruned"):
        prune(type(vocabulary)(other, {}, vocabulary.words), counts, 8)


def test_a_pruned_multilingual_vocabulary_keeps_the_characters_that_occur() -> None:
    from tokenizers import Tokenizer

    pieces = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁Hund", "▁bellt", "H", "u", "n", "d", "語", "▁pes", "<mask>"]
    plain = {"special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    special = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    added = [{"id": pieces.index(name), "content": name, **plain} for name in special]
    tokenizer = {
        "version": "1.0", "added_tokens": added, "normalizer": None, "post_processor": None, "decoder": None,
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        "model": {"type": "Unigram", "unk_id": 3, "byte_fallback": False,
                  "vocab": [[piece, -float(len(pieces) - len(piece))] for piece in pieces]},
    }  # fmt: skip
    counts = np.zeros(len(pieces), np.int64)
    counts[[pieces.index("▁Hund"), pieces.index("▁bellt")]] = 5, 2
    words = np.arange(len(pieces), dtype=np.float32)[:, None]
    small = prune(TeacherVocabulary(tokenizer, {}, words), counts, 11)
    kept = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁Hund", "H", "u", "n", "d", "<mask>"]
    assert sorted(token_ids(small.tokenizer), key=token_ids(small.tokenizer).__getitem__) == kept
    assert [pieces[int(row)] for row in small.words[:, 0]] == kept
    encoded = Tokenizer.from_str(json.dumps(small.tokenizer)).encode("Hund und pes 語<mask>").tokens
    assert encoded[:4] == ["▁Hund", "▁", "u", "n"]
    assert encoded[-1] == "<mask>"


def test_a_pruned_student_trains_and_loads(tmp_path, teacher) -> None:
    config = TransformerConfig(**{**vars(SMALL), "vocab_size": 10, "steps": 2})
    figures = training.distill_transformer(teacher_batches(), teacher, config, tmp_path / "s")
    assert figures["tokens"] == 10
    theirs = open_student_with_the_library(tmp_path / "s").encode(TEXTS[:3])
    np.testing.assert_allclose(load_transformer(tmp_path / "s").encode(TEXTS[:3]), theirs, atol=1e-5)


def open_student_with_the_library(folder: Path):
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu")


def test_every_form_has_the_same_vectors(student, tmp_path) -> None:
    ours = Encoder.load(student)
    assert isinstance(ours.model, NetworkEncoder)
    expected = ours.encode(TEXTS)
    assert expected.shape == (5, ours.dimension) == (5, 8)
    assert ours.encode([]).shape == (0, 8)
    np.testing.assert_allclose(open_student_with_the_library(student).encode(TEXTS), expected, atol=1e-5)
    np.testing.assert_array_equal(load_transformer(student, threads=3).encode(TEXTS), expected)

    convert_transformer(student, tmp_path, precision="float32")
    converted = open_encoder(tmp_path, 2)
    assert isinstance(converted, TransformerEncoder)
    np.testing.assert_allclose(converted.encode(TEXTS), expected, atol=1e-4)
    assert converted.dimension == 8

    copy = ours.save(tmp_path / "copy")
    assert Encoder.load(copy).signature == ours.signature
    np.testing.assert_array_equal(Encoder.load(copy).encode(TEXTS), expected)


def test_int8_and_onnx(student, tmp_path) -> None:
    expected = Encoder.load(student).encode(TEXTS)
    assert "Encoder.load" in export_encoder(student, tmp_path / "int8", int8=True)
    small = Encoder.load(tmp_path / "int8")
    cosines = [float(small.similarity(text, vector)[0, 0]) for text, vector in zip(TEXTS, expected, strict=True)]
    assert min(cosines) > 0.97
    assert not (tmp_path / "int8" / "checkpoint").exists()
    with pytest.raises(ConfigError, match="combined"):
        export_encoder(student, tmp_path / "x", int8=True, onnx=True)

    runtime = pytest.importorskip("onnxruntime")
    from tokenizers import Tokenizer

    session = runtime.InferenceSession(export_encoder(student, tmp_path / "onnx", onnx=True))
    tokenizer = Tokenizer.from_file(str(tmp_path / "onnx" / "tokenizer.json"))
    tokenizer.enable_padding()
    encoded = tokenizer.encode_batch(TEXTS)
    inputs = {
        "input_ids": np.array([row.ids for row in encoded]),
        "attention_mask": np.array([row.attention_mask for row in encoded]),
    }
    np.testing.assert_allclose(session.run(["vectors"], inputs)[0], expected, atol=1e-5)
    assert "SentenceTransformer" in export_encoder(student, tmp_path / "plain")
    assert folder_digest(tmp_path / "plain") == folder_digest(student)


def test_the_best_step_is_kept_and_a_worse_end_is_reported(teacher, tmp_path) -> None:
    figures = iter([50.0, 60.0, 55.0, 40.0])
    config = TransformerConfig(**{**vars(SMALL), "steps": 3})
    seen = []

    def evaluate(encoder):
        seen.append(encoder.encode(["a dog"]))
        return {"dev": next(figures)}

    with pytest.warns(UserWarning, match=r"ends below its start, 40\.00 against 50\.00; the encoder of step 1 is kept"):
        result = training.distill_transformer(teacher_batches(), teacher, config, tmp_path / "s", evaluate)
    assert (result["best_step"], result["dev"]) == (1, {"dev": 60.0})
    np.testing.assert_array_equal(Encoder.load(tmp_path / "s").encode(["a dog"]), seen[1])
    curve = [json.loads(line) for line in (tmp_path / "s" / "curve.jsonl").read_text().splitlines()]
    assert [(line["step"], line["dev"]["dev"]) for line in curve if "dev" in line] == [
        *((0, 50.0), (1, 60.0), (2, 55.0), (3, 40.0))
    ]


def test_nan_is_never_the_best() -> None:
    lines = [{"step": step, "dev": {"x": figure}} for step, figure in enumerate([float("nan"), 1.0, float("nan"), 1.0])]
    assert best_line(lines) is lines[1]
    assert best_line([]) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        training._warn(lines[1:2], lines[1])


@pytest.mark.slow
def test_a_killed_training_resumes_byte_identically(teacher, tmp_path) -> None:
    script = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from embed.test_transformer_training import *\n"
        "import os, signal, paraloom.embed.checkpoint as c\n"
        "write, done = c.write_checkpoint, []\n"
        "def kill(*a):\n"
        "    write(*a); done.append(1)\n"
        "    if len(done) == 7: os.kill(os.getpid(), signal.SIGKILL)\n"
        "c.write_checkpoint = kill\n"
        "a, b = sys.argv[1:]\n"
        "training.distill_transformer(teacher_batches(), a, SMALL, b, score, checkpoint_seconds=0)\n"
    )
    root = Path(__file__).resolve().parents[2]
    process = subprocess.run([sys.executable, "-c", script, str(teacher), str(tmp_path / "killed")], cwd=root)
    assert process.returncode == -9
    for name in ("killed", "whole"):
        training.distill_transformer(teacher_batches(), teacher, SMALL, tmp_path / name, score)
    digests = {folder_digest(tmp_path / name, ignore=("timings.json",)) for name in ("killed", "whole")}
    assert len(digests) == 1


def score(encoder: NetworkEncoder) -> dict[str, float]:
    """Some figure of an encoder."""
    return {"dev": float(encoder.encode(["a dog"])[0, 0])}


def test_a_checkpoint_of_another_training_is_an_error(teacher, tmp_path, monkeypatch) -> None:
    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("paraloom.embed.transformer_training.save_transformer", stop)
        with pytest.raises(KeyboardInterrupt):
            training.distill_transformer(teacher_batches(), teacher, SMALL, tmp_path / "s", checkpoint_seconds=0)
    with pytest.raises(ModelError, match="another configuration"):
        training.distill_transformer(teacher_batches(), teacher, SMALL, tmp_path / "s", seed=2)


def test_the_ensemble_of_encoders_has_the_mean_of_their_cosines(teacher, tmp_path) -> None:
    other = save_tiny_transformer(tmp_path)
    batch = pa.record_batch({"text": pa.array(["a dog", "the cat runs", "run"])})
    paths = {"encoder": teacher, "ensemble.0": other}
    encoded = Encode(encoder=teacher, ensemble=[other]).apply(batch, StageContext(1, paths))
    vectors = np.array(encoded.column("vector").to_pylist(), np.float32)
    assert vectors.shape == (3, 64)
    encoders = [Encoder.load(teacher), Encoder.load(other)]
    texts = batch.column("text")
    mean = sum(encoder.similarity(texts, texts) for encoder in encoders) / 2
    np.testing.assert_allclose(vectors @ vectors.T, mean, atol=2e-3)
    assert " + " in encoded.schema.field("vector").metadata[b"signature"].decode()


def test_bad_input_is_an_error(teacher, tmp_path) -> None:
    with pytest.raises(ModelError, match=r"modules\.json not found"):
        training.distill_transformer(teacher_batches(), tmp_path, SMALL, tmp_path / "s")
    with pytest.raises(DataError, match="column 'vector'"):
        batch = pa.record_batch({"text": pa.array(["a dog"])})
        training.distill_transformer([batch], teacher, SMALL, tmp_path / "s")
    with pytest.raises(DataError, match="expected vectors of 8 dimensions as before, got 4"):
        batches = [*teacher_batches(), *teacher_batches(width=4)]
        training.distill_transformer(batches, teacher, SMALL, tmp_path / "s")
    with pytest.raises(DataError, match="too few sentences"):
        training.distill_transformer([teacher_batches()[0].slice(0, 1)], teacher, SMALL, tmp_path / "s")
    with pytest.raises(DataError, match="no sentences"):
        training.distill_transformer([], teacher, SMALL, tmp_path / "s")
    with pytest.raises(ModelError, match="the loss is"):
        config = TransformerConfig(**{**vars(SMALL), "learning_rate": 1e38, "warmup_steps": 0})
        training.distill_transformer(teacher_batches(), teacher, config, tmp_path / "t")
    for settings, message in (
        ({"width": 10, "heads": 4}, "multiple of 'heads'"),
        ({"squared_weight": 0, "vector_weight": 0}, "weights of all losses"),
        ({"batch_size": 1}, "'batch_size' must be 2 or more, not 1"),
        ({"temperature": 0}, "'temperature' must be above 0, not 0"),
        ({"final_learning_rate": 2}, "0 to 1"),
        ({"precision": "int8"}, "precision"),
    ):
        with pytest.raises(ConfigError, match=message):
            TransformerConfig(**settings)


def test_broken_teachers_and_students_are_errors(teacher, student, tmp_path) -> None:
    broken = tmp_path / "teacher"
    shutil.copytree(teacher, broken)
    (broken / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match=r"tokenizer\.json not found"):
        read_teacher(broken)
    shutil.copy(teacher / "tokenizer.json", broken)
    (broken / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(ModelError, match="weights cannot be read"):
        read_teacher(broken)
    (broken / "modules.json").write_text("[]")
    with pytest.raises(ModelError, match="teacher cannot be read"):
        read_teacher(broken)
    other = tmp_path / "student"
    shutil.copytree(student, other)
    (other / "2_Dense/model.safetensors").unlink()
    with pytest.raises(ModelError, match="transformer cannot be read"):
        Encoder.load(other)


def test_fewer_sentences_than_a_batch_suffice(teacher, tmp_path) -> None:
    config = TransformerConfig(**{**vars(SMALL), "steps": 2, "batch_size": 64, "neighborhood_size": 32})
    few = [teacher_batches()[0].slice(0, 5)]
    assert training.distill_transformer(few, teacher, config, tmp_path / "s")["sentences"]["used"] == 5


@pytest.mark.slow
def test_one_command_trains_a_transformer(teacher, tmp_path) -> None:
    lines = [text for batch in teacher_batches() for text in batch.column("text").to_pylist()]
    (tmp_path / "text.txt").write_text("".join(f"{line}\n" for line in lines))
    options = {"width": 16, "heads": 2, "ffn_dim": 32, "steps": 2, "batch_size": 8, "layers": 1}
    result = distill_encoder(
        str(teacher), tmp_path / "text.txt", tmp_path / "s", network="transformer", ensemble=[str(teacher)], **options
    )
    assert Encoder.load(result.folder).dimension == 64
    with pytest.raises(ConfigError, match="an average does not have 'layers'"):
        distill_encoder(str(teacher), tmp_path / "text.txt", tmp_path / "a", layers=2)
    with pytest.raises(ModelError, match="not the folder of a sentence-transformers model"):
        distill_encoder("some/name", tmp_path / "text.txt", tmp_path / "a", network="transformer")


def test_the_network_ignores_padding() -> None:
    network = new_network(TransformerShape(20, width=8, layers=2, heads=2, ffn_dim=8, dimension=4), 1).eval()
    assert isinstance(network, TransformerNetwork)
    with torch.no_grad():
        alone = network(torch.tensor([[3, 4]]), torch.tensor([2]))
        beside = network(torch.tensor([[3, 4, 9, 9], [5, 6, 7, 8]]), torch.tensor([2, 4]))
    torch.testing.assert_close(beside[:1], alone)
