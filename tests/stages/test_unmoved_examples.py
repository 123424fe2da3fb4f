"""Examples of monolingual text for paraphrasers: sentences that stay as they are."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from stage_runs import read_rows
from toy_syntax import text_of, tree_pairs

from paraloom.core.errors import ConfigError
from paraloom.core.schema import SENTENCES, add_column
from paraloom.io import Corpus, write_corpus
from paraloom.paraphrasing.config import ControlConfig, ScpnConfig
from paraloom.stages import TrainParaphraser
from paraloom.stages.paraphraser_networks import ExampleWriter, example_file


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


def written(folder: Path, sentences: Path, **shares: float) -> tuple[list[str], dict[str, object]]:
    """The lines of the examples of sentences, and the counts."""
    writer = ExampleWriter("transformer", ControlConfig(), ScpnConfig(), (False,), 0.1, 1.0, 7)
    folder.mkdir()
    counts = writer.write_sentences([Corpus.open(sentences)], folder, **shares)
    return example_file(folder, "examples", False).read_text().splitlines(), counts


def test_unmoved_sentences_are_examples_as_they_are(tmp_path: Path) -> None:
    sentences = write_sentences(tmp_path / "sentences", 200)
    none, without = written(tmp_path / "none", sentences)
    every, counts = written(tmp_path / "every", sentences, unmoved_share=1.0)
    assert "unmoved_examples" not in without
    assert counts["reordered_examples"] == without["reordered_examples"] == len(none)
    unmoved = [line.split("\t") for line in every if line not in none]
    assert len(every) - len(none) == counts["unmoved_examples"]
    assert counts["unmoved_examples"] + counts["reordered_left_out"] == without["reordered_left_out"]  # type: ignore
    texts = {row["text"] for row in read_rows(sentences)}
    for source, target in unmoved:
        template, text = target.split("<sep> ")
        assert source.split(" <sep>")[0] == text and text in texts and template  # the same sentence, with its template
    _, half = written(tmp_path / "half", sentences, unmoved_share=0.5)
    assert 0 < half["unmoved_examples"] < counts["unmoved_examples"]  # type: ignore[operator]


def test_digests_of_earlier_runs_stay() -> None:
    assert "unmoved_share" not in TrainParaphraser(pairs=("pairs",), sentences=("sentences",)).configuration()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"unmoved_share": 0.5}, "'sentences' is empty"),
        ({"unmoved_share": -0.5, "sentences": ("s",)}, "'unmoved_share' must be from 0 to 1"),
    ],
)
def test_settings_of_training(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TrainParaphraser(pairs=("pairs",), **settings)  # type: ignore[arg-type]
