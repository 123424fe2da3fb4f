"""Paraphrasers that are trained with noisy examples, and the command canonicalize: with a model of a few steps."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import Command
from stage_runs import read_rows, run_toml
from toy_syntax import TOY_SIZES, text_of, tree_pairs, write_parsed_pairs

import paraloom as library
from paraloom import api
from paraloom.api.canonicalization import COLUMNS
from paraloom.core.errors import ConfigError, ModelError
from paraloom.core.schema import SENTENCES, add_column
from paraloom.core.seeds import generator
from paraloom.io import Corpus, write_corpus
from paraloom.paraphrasing.canonicalization import STATUSES
from paraloom.paraphrasing.config import ControlConfig
from paraloom.paraphrasing.linearization import CANONICAL
from paraloom.paraphrasing.noise import NoiseConfig, noisy_pair
from paraloom.paraphrasing.scpn_config import ScpnConfig
from paraloom.stages import Paraphrase, TrainParaphraser
from paraloom.stages.paraphraser_networks import ExampleWriter, example_file

TEXTS = ["teh dog sees 3 cats", "The cat sees the dog.", "@ann", "the bird dont sleep 5"]


def edited(tree: str) -> tuple[str, str]:
    """A tree and its text, with a capital and without a space before the full stop."""
    tree = tree.replace("the", "The", 1) if tree.startswith("(S (NP (DT the)") else tree
    return text_of(tree).replace(" .", ".").replace(" ,", ","), tree


def write_sentences(folder: Path, count: int) -> Path:
    """A corpus of sentences with their trees; some begin with a small letter."""
    pairs = [edited(one) for one, _ in tree_pairs(count, seed=9)]
    batch = pa.RecordBatch.from_pylist(
        [
            {
                name: row if pa.types.is_integer(kind) else "en"
                for name, kind in zip(SENTENCES.names, SENTENCES.types, strict=True)
            }
            | {"text": text}
            for row, (text, _) in enumerate(pairs)
        ],
        schema=SENTENCES,
    )
    batch = add_column(batch, "text_parse", pa.array([tree for _, tree in pairs], pa.string()), "known")
    write_corpus(folder, [batch], kind="SENTENCES")
    return folder


def written(folder: Path, sentences: Path, noisy_share: float, **shares: float) -> tuple[list[str], dict[str, object]]:
    """The lines of the examples of sentences, and the counts."""
    writer = ExampleWriter("transformer", ControlConfig(), ScpnConfig(), (False,), 0.1, 1.0, 7)
    folder.mkdir()
    counts = writer.write_sentences([Corpus.open(sentences)], folder, noisy_share=noisy_share, **shares)
    return example_file(folder, "examples", False).read_text().splitlines(), counts


def test_noisy_examples(tmp_path: Path) -> None:
    sentences = write_sentences(tmp_path / "sentences", 200)
    none, counts = written(tmp_path / "none", sentences, 0.0)
    assert "noisy_examples" not in counts and not any(CANONICAL in line for line in none)
    some, counts = written(tmp_path / "some", sentences, 0.5)
    noisy = [line.split("\t") for line in some if CANONICAL in line]
    assert len(noisy) == counts["noisy_examples"] and 30 < len(noisy) < 120
    assert len(some) - len(noisy) == counts["reordered_examples"]
    # A sentence that is not drawn gives the example that it gives without noise.
    assert {line for line in some if CANONICAL not in line} <= set(none)
    texts = {row["text"] for row in read_rows(sentences)}
    lengths = set()
    for source, target in noisy:
        assert source.startswith("<canonical> ") and target.startswith("<sep> ")
        parts = target.removeprefix("<sep> ").replace(". ", ".\n").split("\n")
        assert set(parts) <= texts and all(part[0].isupper() for part in parts)
        lengths.add(len(parts))
    assert lengths == {1, 2}
    every, counts = written(tmp_path / "every", sentences, 1.0)
    assert {line.split("\t")[1][6] for line in every if CANONICAL in line} == {"T"}
    first = next(row for row, one in enumerate(read_rows(sentences)) if f"<sep> {one['text']}" == noisy[0][1])
    random = generator(7, first, 3)
    random.random()
    assert noisy[0][0] == f"<canonical> {noisy_pair(noisy[0][1][6:], NoiseConfig(), random)[0]}"


def test_unmoved_sentences_are_examples_as_they_are(tmp_path: Path) -> None:
    sentences = write_sentences(tmp_path / "sentences", 200)
    none, without = written(tmp_path / "none", sentences, 0.0)
    every, counts = written(tmp_path / "every", sentences, 0.0, unmoved_share=1.0)
    assert "unmoved_examples" not in without
    assert counts["reordered_examples"] == without["reordered_examples"] == len(none)
    unmoved = [line.split("\t") for line in every if line not in none]
    assert len(every) - len(none) == counts["unmoved_examples"]
    assert counts["unmoved_examples"] + counts["reordered_left_out"] == without["reordered_left_out"]  # type: ignore
    texts = {row["text"] for row in read_rows(sentences)}
    for source, target in unmoved:
        template, text = target.split("<sep> ")
        assert source.split(" <sep>")[0] == text and text in texts and template  # the same sentence, with its template
    _, half = written(tmp_path / "half", sentences, 0.0, unmoved_share=0.5)
    assert 0 < half["unmoved_examples"] < counts["unmoved_examples"]  # type: ignore[operator]


def test_digests_of_earlier_runs_stay() -> None:
    stage = TrainParaphraser(pairs=("pairs",), sentences=("sentences",))
    assert "noisy_share" not in stage.configuration()
    other = TrainParaphraser(pairs=("pairs",), sentences=("sentences",), noisy_share=0.3)
    assert other.digest() != stage.digest()
    assert "canonical" not in Paraphrase(paraphraser="model").configuration()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"noisy_share": 0.5}, "'sentences' is empty"),
        ({"noisy_share": 1.5, "sentences": ("s",)}, "'noisy_share' must be from 0 to 1"),
        ({"unmoved_share": 0.5}, "'sentences' is empty"),
        ({"unmoved_share": -0.5, "sentences": ("s",)}, "'unmoved_share' must be from 0 to 1"),
    ],
)
def test_settings_of_training(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TrainParaphraser(pairs=("pairs",), **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"template": "auto", "encoder": "english"}, "follows no template"),
        ({"preset": "varied", "encoder": "english"}, "follows no template"),
        ({}, "'canonical' needs an encoder"),
    ],
)
def test_settings_of_the_stage(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Paraphrase(paraphraser="model", canonical=True, **settings)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A paraphraser that was trained with noise, for a few steps."""
    pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
    folder = tmp_path_factory.mktemp("canonical")
    pairs, sentences = write_parsed_pairs(folder / "pairs", 120), write_sentences(folder / "sentences", 60)
    sizes = TOY_SIZES | {"steps": 6, "evaluate_every": 3, "warmup_steps": 2, "vocab_size": 90}
    api.train_paraphraser(pairs, folder / "model", sentences=sentences, noisy_share=0.5, **sizes)
    return folder / "model"


def test_the_model_says_that_it_knows_the_token(model: Path) -> None:
    paraphraser = library.Paraphraser.load(model)
    assert paraphraser.settings.canonical
    assert json.loads((model / "paraphraser.json").read_text())["canonical"] is True
    (pieces,) = paraphraser.translator._codec.encode([f"{CANONICAL} the dog"])  # type: ignore[attr-defined]
    assert CANONICAL in pieces
    (score, other) = paraphraser.canonical_logprobs(["teh dog"] * 2, ["the dog", "the cat"])
    assert score < 0 and other < 0 and score != other


def test_canonicalize(model: Path) -> None:
    paraphraser = library.Paraphraser.load(model)
    forms = paraphraser.canonicalize(TEXTS, encoder=None)
    assert [one.source for one in forms] == TEXTS and {one.status for one in forms} <= set(STATUSES)
    assert (forms[2].text, forms[2].status, forms[2].reason) == ("@ann", "kept", "without words to write")
    assert "3" in forms[0].text and "5" in forms[3].text, "numbers stay"
    assert all(one.text == one.source for one in forms if one.status != "changed")
    assert [one.text for one in paraphraser.canonicalize(TEXTS[0], encoder=None)] == [forms[0].text]
    strict = paraphraser.canonicalize(TEXTS, encoder="english", meaning=1.0)
    assert all(np.isnan(one.meaning) or one.meaning > 0.999 for one in strict)
    with pytest.raises(ConfigError, match="'meaning' must be from 0 to 1"):
        paraphraser.canonicalize(TEXTS, meaning=2.0)


def test_a_model_without_noise(toy_paraphraser: Path, paraloom: Command) -> None:
    with pytest.raises(ModelError, match="was not trained to write the standard form"):
        library.Paraphraser.load(toy_paraphraser).canonicalize(["teh dog"])
    status, _, err = paraloom("canonicalize", "teh dog", "--model", toy_paraphraser)
    assert status == 1 and "--noisy-share 0.3" in err


def test_the_stage(model: Path, tmp_path: Path) -> None:
    write_parsed_pairs(tmp_path / "pairs", 12, seed=5)
    text = '[[stage]]\nuse = "paraphrase"\ninput = "pairs"\n'
    text += f'paraphraser = "{model}"\ncanonical = true\nencoder = "english"\ncandidates = 2\n'
    result = run_toml(text, tmp_path).stages[-1]
    rows = read_rows(result.folder)
    assert len(rows) == 12 and {row["method"] for row in rows} == {"canonicalize"}
    assert {row["canonical_status"] for row in rows} <= set(STATUSES)
    assert all(row["text"] == row["original"] for row in rows if row["canonical_status"] != "changed")
    assert all((row["canonical_reason"] is not None) == (row["canonical_status"] == "kept") for row in rows)


def test_commands(model: Path, paraloom: Command, tmp_path: Path) -> None:
    call = ("--model", model, "--encoder", "none")
    status, out, err = paraloom("canonicalize", *TEXTS[:2], *call, "--json")
    assert status == 0, err
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["source"] for line in lines] == TEXTS[:2] and {"text", "status", "reason"} <= set(lines[0])
    assert "2 texts: " in err
    (tmp_path / "a.txt").write_text("".join(f"{text}\n" for text in TEXTS), encoding="utf-8")
    status, out, err = paraloom("canonicalize", "a.txt", *call)
    assert status == 0 and out.splitlines()[:2] == [line["text"] for line in lines], err
    assert "1 without words to write" in err
    printed = out.splitlines()
    status, _, err = paraloom("canonicalize", "a.txt", *call, "-o", "b.txt")
    assert status == 0 and (tmp_path / "b.txt").read_text().splitlines() == printed, err
    status, _, err = paraloom("canonicalize", "a.txt", *call, "-o", "b.txt")
    assert status == 0 and "up to date" in err
    figures = json.loads(paraloom("canonicalize", "a.txt", *call, "-o", "b.txt", "--force", "--json")[1])
    assert figures["texts"] == 4 and figures["kept"]["without words to write"] == 1
    for arguments, message in (
        (("missing.txt", *call), "missing.txt"),
        ((" ", *call), "the text is empty"),
        (("a.txt", *call, "--hold", "letters"), "unknown kind 'letters'"),
    ):
        status, _, err = paraloom("canonicalize", *arguments)
        assert status == 1 and message in err


def test_tables(model: Path, paraloom: Command, tmp_path: Path) -> None:
    call = ("--model", model, "--encoder", "none")
    rows = [{"id": row, "text": text, "label": "x"} for row, text in enumerate([*TEXTS, None])]
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    status, _, err = paraloom("canonicalize", "a.jsonl", *call, "-o", "a.parquet")
    assert status == 0, err
    table = pq.read_table(tmp_path / "a.parquet")
    assert table.column_names == ["id", "text", "label", *COLUMNS]
    values = table.to_pylist()
    assert [{name: value[name] for name in rows[0]} for value in values] == rows
    assert (values[4]["canonical"], values[4]["canonical_reason"]) == (None, "not a text")
    assert values[2]["canonical"] == "@ann" and values[2]["canonical_status"] == "kept"
    status, _, err = paraloom("canonicalize", "a.parquet", *call, "-o", "again.csv")
    assert status == 1 and "has a column 'canonical' already" in err
    (tmp_path / "a.tsv").write_text("".join(f"x\t{text}\n" for text in TEXTS))
    status, _, err = paraloom("canonicalize", "a.tsv", "--text", 2, *call, "-o", "b.csv")
    assert status == 0, err
    with (tmp_path / "b.csv").open(newline="") as stream:
        lines = list(csv.reader(stream))
    assert [line[:2] for line in lines] == [["x", text] for text in TEXTS]
    assert [line[2] for line in lines] == [value["canonical"] for value in values[:4]]
    status, _, err = paraloom("canonicalize", "a.jsonl", "--text", "words", *call, "-o", "c.jsonl")
    assert status == 1 and "column 'words' not found" in err and not (tmp_path / "c.jsonl").exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [("--meaning", 0.5), ("--candidates", 3), ("--decode", "beam:3"), ("--encoder", "english-small")],
)
def test_settings_of_a_model_need_one(paraloom: Command, option: str, value: object) -> None:
    status, _, err = paraloom("canonicalize", "u r late", option, value)
    assert (status, f"{option} is for the candidates of a model" in err) == (1, True)


def test_canonicalize_without_a_model(paraloom: Command) -> None:
    status, out, err = paraloom("canonicalize", "u r late, becuase of 2 trains")
    assert (status, out) == (0, "You are late, because of 2 trains.\n")
    assert "1 text: 1 changed" in err
    assert paraloom("canonicalize", "u r late", "--no-rules")[0] == 1
    german = ["Das ist nicht der Hund, den wir gesehen haben.", "Ich habe sie mit dir in der Stadt getroffen."] * 3
    status, _, err = paraloom("canonicalize", *german)
    assert (status, "the texts are German, and the rules are for English" in err) == (1, True)
    assert paraloom("canonicalize", *german, "--no-language-check")[0] == 0
    with pytest.warns(UserWarning, match="the text looks German, and the rules are for English"):
        api.check_english(["Wir gehen nach Hause."])
