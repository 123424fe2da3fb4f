"""The judge of meaning: training on toy pairs, its columns, damaged folders, and the bundled one on written pairs."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

for _package in ("onnxruntime", "tokenizers"):
    pytest.importorskip(_package, reason="pip install 'paraloom[cross-encoder]'")

from paraloom import as_pairs  # noqa: E402
from paraloom.core.errors import ConfigError, DataError, ModelError  # noqa: E402
from paraloom.core.schema import signature_of  # noqa: E402
from paraloom.io import write_table  # noqa: E402
from paraloom.pairs.scoring.judge import Judge, bundled_judge  # noqa: E402
from paraloom.stages import Score, TrainJudge  # noqa: E402

NAMES = ("judge", "judge_forward", "judge_backward")
WORDS = ("dog", "cat", "run", "runs", "a", "the", "and")

RIGHT = [
    ("The dog bit the man.", "The man was bitten by the dog."),
    ("Tom bought 3 cars.", "Tom purchased three cars."),
    ("I don't know what he wants.", "I do not know what he wants."),
    ("She is a doctor.", "She's a physician."),
    ("He came back yesterday.", "Yesterday, he came back."),
]
OTHER = [
    ("The dog bit the man.", "The man bit the dog."),
    ("Tom bought 3 cars.", "Tom bought 4 cars."),
    ("He loves her.", "She loves him."),
    ("I know what he wants.", "I don't know what he wants."),
    ("Mary gave John a book.", "John gave Mary a book."),
]


def labeled(count: int, seed: int = 1) -> pa.Table:
    """Toy pairs: the same words, or one of them replaced."""
    rows, chosen = [], random.Random(seed)
    for number in range(count):
        words = chosen.sample(WORDS, 4)
        other = list(words)
        if number % 2:
            other[1] = chosen.choice([word for word in WORDS if word not in words])
        row = {"pair_id": f"toy:{number}", "src_lang": "en", "tgt_lang": "en", "origin": "toy"}
        rows.append({**row, "src": " ".join(words), "tgt": " ".join(other), "label": 1 - number % 2})
    return pa.Table.from_pylist(rows)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny sentence-transformers model."""
    for package in ("onnx", "torch", "transformers", "sentence_transformers"):
        pytest.importorskip(package, reason="training needs packages: pip install 'paraloom[onnx,distill]'")
    from tiny_transformer import save_tiny_transformer

    return save_tiny_transformer(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def trained(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge of toy pairs."""
    from paraloom.api import train_judge

    folder = tmp_path_factory.mktemp("judge")
    write_table(labeled(1200), str(folder / "pairs.parquet"))
    train_judge(
        folder / "pairs.parquet", folder / "judge", base=base, layers=2, epochs=12, batch_size=32, vocab_size=0,
        learning_rate=3e-3,
    )  # fmt: skip
    return folder / "judge"


def test_a_judge_learns_from_labels(trained: Path) -> None:
    test = labeled(200, seed=2)
    judge = Judge.load(trained)
    values = judge.probabilities(test["src"].to_pylist(), test["tgt"].to_pylist())[:, 0]
    right = test["label"].to_numpy() == 1
    assert np.mean(values[right][:, None] > values[~right][None, :]) > 0.9


def test_own_judge_adds_three_columns(trained: Path) -> None:
    rows = as_pairs([("a dog runs", "a dog runs"), (" ", "a cat")]).score((), judge=trained).to_arrow()
    assert all(0 <= rows[name][0].as_py() <= 1 and rows[name][1].as_py() is None for name in NAMES)
    assert "digest" in signature_of(rows.schema.field("judge"))


def test_training_of_a_judge_continues_from_its_weights(trained: Path, tmp_path: Path) -> None:
    from paraloom.api import train_judge

    pairs, table = trained.parent / "pairs.parquet", labeled(60, seed=3)
    test = list(zip(table["src"].to_pylist(), table["tgt"].to_pylist(), strict=True))
    train_judge(pairs, tmp_path / "same", base=trained, epochs=0.01, learning_rate=1e-9)
    logits = [Judge.load(folder).encoder.logits(test) for folder in (trained, tmp_path / "same")]
    assert np.abs(logits[0] - logits[1]).max() < 0.1 * np.abs(logits[0]).max()
    with pytest.raises(ConfigError, match="has no teacher"):
        train_judge(pairs, tmp_path / "taught", base=trained, teacher_layers=2)


def test_pairs_that_are_set_aside_are_cut_as_in_training(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from paraloom.api import train_judge
    from paraloom.pairs.judging import fitting

    lengths, read = [], fitting.logits_of

    def recorded(*arguments: Any, max_length: int, **settings: Any) -> Any:
        lengths.append(max_length)
        return read(*arguments, max_length=max_length, **settings)

    monkeypatch.setattr(fitting, "logits_of", recorded)
    train_judge(trained.parent / "pairs.parquet", tmp_path / "judge", base=trained, epochs=0.01, max_length=16)
    assert lengths == [16]


def test_weights_of_another_graph_are_named(trained: Path, tmp_path: Path) -> None:
    from paraloom.pairs.judging.export import read_judge

    copy = shutil.copytree(trained, tmp_path / "copy")
    config = json.loads((copy / "config.json").read_text())
    del config["num_attention_heads"]
    (copy / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="not those that this version writes"):
        read_judge(copy)


@pytest.mark.slow
def test_a_judge_of_another_language_starts_from_a_multilingual_model(base: Path, tmp_path: Path) -> None:
    from tiny_transformer import save_tiny_multilingual

    from paraloom.api import train_judge

    words = ("hund", "katze", "läuft", "schläft", "ein", "der", "und")
    table = labeled(1200)
    for column in ("src", "tgt"):
        texts = [" ".join(dict(zip(WORDS, words, strict=True))[word] for word in text.split())
                 for text in table[column].to_pylist()]  # fmt: skip
        table = table.set_column(table.column_names.index(column), column, pa.array(texts))
    write_table(table, str(tmp_path / "pairs.parquet"))
    start = save_tiny_multilingual(tmp_path, words)
    train_judge(
        tmp_path / "pairs.parquet", tmp_path / "judge", base=start, layers=2, epochs=12, batch_size=32, vocab_size=40,
        learning_rate=3e-3,
    )  # fmt: skip
    judge = Judge.load(tmp_path / "judge")
    assert judge.encoder.tokenizer.get_vocab_size() == 40
    assert judge.encoder.tokenizer.encode("ein hund", "der").tokens == ["<s>", "▁ein", "▁hund", "</s>", "▁der", "</s>"]
    test = list(zip(table["src"].to_pylist()[:60], table["tgt"].to_pylist()[:60], strict=True))
    values = judge.probabilities(*zip(*test, strict=True))[:, 0]
    right = table["label"].to_numpy()[:60] == 1
    assert np.mean(values[right][:, None] > values[~right][None, :]) > 0.9


def test_special_tokens_that_a_base_lacks_are_named(trained: Path, tmp_path: Path) -> None:
    from paraloom.api import train_judge

    copy = shutil.copytree(trained, tmp_path / "copy")
    (copy / "tokenizer_config.json").write_text('{"pad_token": "[PAD]"}')
    with pytest.raises(ModelError, match="the base states no cls_token") as error:
        train_judge(trained.parent / "pairs.parquet", tmp_path / "judge", base=copy)
    assert "Add cls_token, sep_token to its tokenizer_config.json." in error.value.remedy


def test_long_texts_have_the_value_of_their_worst_sentence() -> None:
    sentences = [f"The man in house {number} is walking his dog in the park near the old lake." for number in range(30)]
    changed = [*sentences[:20], "A woman is cooking dinner for two guests tonight.", *sentences[21:]]
    values = bundled_judge().probabilities([" ".join(sentences)] * 2, [" ".join(sentences), " ".join(changed)])[:, 0]
    lowest = bundled_judge().predict([sentences[20]], [changed[20]])[0]
    assert values[1] == lowest < values[0]


def test_values_do_not_depend_on_the_batch(trained: Path) -> None:
    test = labeled(40, seed=3)
    firsts, seconds = test["src"].to_pylist(), test["tgt"].to_pylist()
    judge = Judge.load(trained)
    together = judge.probabilities(firsts, seconds)
    alone = np.concatenate([judge.probabilities([a], [b]) for a, b in zip(firsts, seconds, strict=True)])
    np.testing.assert_array_equal(together, alone)


def test_damaged_configuration_is_named(trained: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(trained, tmp_path / "copy")
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**config, "calibration": {"same": ["a", 1]}}))
    with pytest.raises(ModelError, match="'calibration' is damaged"):
        Judge.load(copy)
    labels = {**config["id2label"], "1": "other"}
    (copy / "config.json").write_text(json.dumps({**config, "id2label": labels}))
    with pytest.raises(ModelError, match="lacks forward"):
        Judge.load(copy)


def test_too_few_labels_are_counted(base: Path, tmp_path: Path) -> None:
    from paraloom.api import train_judge

    write_table(labeled(90), str(tmp_path / "few.parquet"))
    with pytest.raises(DataError, match="50 right pairs or more, got 45"):
        train_judge(tmp_path / "few.parquet", tmp_path / "judge", base=base)
    write_table(labeled(90).drop_columns("label"), str(tmp_path / "none.parquet"))
    with pytest.raises(DataError, match="column 'label' not found"):
        train_judge(tmp_path / "none.parquet", tmp_path / "judge", base=base)


def test_settings_out_of_range() -> None:
    with pytest.raises(ConfigError, match="'layers' and 'batch_size' are 1 or more"):
        TrainJudge(pairs=("x",), base="y", layers=0)
    with pytest.raises(ConfigError, match="from 8 to 256, not 300"):
        TrainJudge(pairs=("x",), base="y", max_length=300)


@pytest.mark.parametrize(
    ("names", "added"), [(["judge"], NAMES), (["judge_forward", "chrf"], ("judge_forward", "chrf"))]
)
def test_bundled_judge_is_added_by_name(names: list[str], added: tuple[str, ...]) -> None:
    assert Score(scores=tuple(names)).judge is None
    before = {"pair_id", "src", "tgt", "src_lang", "tgt_lang"}
    columns = as_pairs([RIGHT[0]]).score(names).to_arrow().column_names
    assert set(columns) - before >= set(added)
    assert ("judge" in columns) == ("judge" in added)


def test_bundled_judge_sees_order_numbers_and_negations() -> None:
    judge = bundled_judge()
    right, other = (judge.probabilities(*zip(*pairs, strict=True))[:, 0] for pairs in (RIGHT, OTHER))
    assert right.min() > 0.6
    assert other.max() < 0.2


def test_bundled_judge_tells_what_was_lost() -> None:
    judge = bundled_judge()
    full, short = "A man is walking his dog in the park.", "A man is walking his dog."
    same, forward, backward = judge.probabilities([full], [short])[0, :3]
    assert same < 0.5
    assert forward > 0.8 > 0.3 > backward


def test_bundled_judge_is_small() -> None:
    from paraloom.bundled import bundled_path

    folder = bundled_path("english-judge")
    assert folder is not None
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 12_000_000
