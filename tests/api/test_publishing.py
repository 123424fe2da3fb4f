"""Data sets to give away: files, card, licenses."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

import paraloom
from paraloom.api.publishing import publish
from paraloom.api.travelling_warnings import write_with_warnings
from paraloom.core.errors import ConfigError, DataError
from paraloom.io import Corpus

PAIRS = "".join(f"A dog sleeps {n} times.\tThe dog is asleep {n} times.\n" for n in range(30))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
    stages = [
        paraloom.stages.ReadPairs(source=str(tmp_path / "pairs.tsv"), src_lang="en", tgt_lang="en", origin="made-up"),
        paraloom.stages.Score(scores=("overlap",)),
    ]
    paraloom.Pipeline(stages, name="toy").run(tmp_path / "run", engine="inline")
    return tmp_path / "run"


def front_matter(card: Path) -> dict[str, object]:
    _, front, _ = card.read_text(encoding="utf-8").split("---\n", 2)
    loaded: dict[str, object] = yaml.safe_load(front)
    return loaded


def test_the_files_have_all_rows_and_the_card_what_the_hub_asks_for(run: Path, tmp_path: Path) -> None:
    published = publish(run, tmp_path / "out", license="cc-by-4.0,mit", read_by="Ann read 10 and found 9 right.")
    assert (published.rows, published.licenses) == (30, ("cc-by-4.0", "mit"))
    table = pq.read_table(tmp_path / "out" / published.files[0])
    assert table.num_rows == 30 and "trigram_overlap" in table.column_names
    front = front_matter(tmp_path / "out/README.md")
    assert front["license"] == ["cc-by-4.0", "mit"] and front["language"] == ["en"]
    assert front["size_categories"] == ["n<1K"]
    assert front["configs"] == [
        {"config_name": "default", "data_files": [{"split": "train", "path": "data/train-*.parquet"}]}
    ]
    card = (tmp_path / "out/README.md").read_text(encoding="utf-8")
    assert "Ann read 10 and found 9 right." in card and "| made-up | 30 |" in card and "| score |" in card


@pytest.mark.parametrize("name", [".git", "src"])
def test_a_folder_with_a_card_and_something_else_is_not_deleted(run: Path, tmp_path: Path, name: str) -> None:
    project = tmp_path / "project"
    (project / name).mkdir(parents=True)
    (project / "README.md").write_text("# Mine")
    with pytest.raises(ConfigError, match=f"{name}: the folder holds something else, too"):
        publish(run, project, license="cc-by-4.0")
    assert (project / name).is_dir() and (project / "README.md").read_text() == "# Mine"
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".tmp")] == []


def test_the_card_of_what_nobody_read_says_so(run: Path, tmp_path: Path) -> None:
    publish(run, tmp_path / "out", license="mit")
    assert "their precision is not known" in (tmp_path / "out/README.md").read_text(encoding="utf-8")


def test_datasets_loads_it(run: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="the extra dev has datasets")
    published = publish(run, tmp_path / "out", license="mit")
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    rows = pq.read_table(tmp_path / "out" / published.files[0])
    assert list(loaded) == ["train"] and loaded["train"].column_names == rows.column_names
    assert loaded["train"].to_list() == rows.to_pylist()


def test_pairs_become_a_dataset(run: Path) -> None:
    pytest.importorskip("datasets", reason="the extra dev has datasets")
    pairs = paraloom.read_pairs(run / "20-score")
    assert pairs.to_dataset()[3]["src"] == pairs[3]["src"] == "A dog sleeps 3 times."


def test_the_hub_reads_the_card(run: Path, tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub", reason="the extra hub has huggingface_hub")
    publish(run, tmp_path / "out", license="mit")
    card = hub.DatasetCard.load(tmp_path / "out/README.md", ignore_metadata_errors=False)
    assert card.data.license == ["mit"] and card.data.configs[0]["config_name"] == "default"


def test_the_card_says_whether_test_sets_were_left_out(run: Path, tmp_path: Path) -> None:
    publish(run, tmp_path / "out", license="mit")
    assert "Not looked for: leave out" in (tmp_path / "out/README.md").read_text(encoding="utf-8")
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    record["stages"][0] |= {"configuration": {"held_out": ["sts"]}, "counts": {"read": 40, "out": 33, "rejected": 7}}
    (run / "run.json").write_text(json.dumps(record), encoding="utf-8")
    publish(run, tmp_path / "cleaned", license="mit")
    assert "left out rows of held-out texts (7 rows" in (tmp_path / "cleaned/README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("license", "message"),
    [
        ("", "the license of made-up is not known"),
        ("my own!", "the Hub has no license 'my own!'"),
        ("cc-by-sa", "no license 'cc-by-sa'; did you mean 'cc-by-sa-[34].0'"),
        ("cc-by-nd-4.0", "cc-by-nd-4.0 do not allow"),
        ("cc-by-sa-4.0,gpl-3.0", "cc-by-sa-4.0 and gpl-3.0 do not allow"),
        ("cc-by-sa-4.0,cc-by-nc-4.0", "cc-by-sa-4.0 and cc-by-nc-4.0 do not allow"),
        ("cc-by-sa-3.0,cc-by-nc-sa-4.0", "cc-by-nc-sa-4.0 and cc-by-sa-3.0 do not allow"),
    ],
)
def test_licenses_that_do_not_go_together_are_named(run: Path, tmp_path: Path, license: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        publish(run, tmp_path / "out", license=license)
    assert not (tmp_path / "out").exists()


def test_a_file_of_pairs_is_published_with_its_warnings(run: Path, tmp_path: Path) -> None:
    write_with_warnings(Corpus.open(run / "20-score"), str(tmp_path / "kept.parquet"), ["expect <wrong> translations"])
    published = publish(tmp_path / "kept.parquet", tmp_path / "out", license="mit")
    assert published.rows == 30
    card = (tmp_path / "out/README.md").read_text(encoding="utf-8")
    assert card.splitlines()[1] == 'pretty_name: "kept"' and "## Warnings\n\nexpect \\<wrong\\> translations" in card
    table = pq.read_table(tmp_path / "out" / published.files[0])
    assert table.num_rows == 30 and "trigram_overlap" in table.column_names


def test_what_has_no_pairs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no pairs found"):
        publish(tmp_path, tmp_path / "out", license="mit")


def test_what_a_file_says_stays_text_in_the_card(tmp_path: Path) -> None:
    origin = "x | y\n# heading <script>alert(1)</script> [a](http://b)"
    stage = paraloom.as_pairs([("a b", "a c")] * 2).map(
        lambda row: {"origin": origin, "src_lang": "no\n- license: mit", "tgt_lang": "no"}
    )
    stage.write(tmp_path / "corpus")
    publish(tmp_path / "corpus", tmp_path / "out", license="mit", title="a\n---\nb: <i>")
    front = front_matter(tmp_path / "out/README.md")
    assert front["language"] == ["no", "no\n- license: mit"] and front["license"] == ["mit"]
    card = (tmp_path / "out/README.md").read_text(encoding="utf-8").split("---\n", 2)[2]
    assert (
        "\n# heading" not in card
        and "<script" not in card.replace("\\<", "")
        and "](http" not in card.replace("\\]", "")
    )
    assert "| x \\| y " in card
