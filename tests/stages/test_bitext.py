"""Stages of bitext: pairs are read, joined and cleaned, and every rejected row is kept with its reason."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from stage_runs import count_reasons, read_rows, run_toml, write_pairs

from paraloom import as_pairs
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.schema import PAIRS, signature_of
from paraloom.core.stage import StageContext
from paraloom.io import read_pairs
from paraloom.io.tables import has_further_columns
from paraloom.stages.bitext import ReadPairs, ReadScoredPairs, Split

SENTENCES = '[[stage]]\nuse = "read-sentences"\ntext_files = ["mono.txt"]\n'


@pytest.mark.parametrize(("skip", "limit", "kept"), [(0, 0, "abcde"), (2, 2, "cd"), (4, 0, "e"), (0, 1, "a")])
def test_a_part_of_a_file_is_read(tmp_path: Path, skip: int, limit: int, kept: str) -> None:
    (tmp_path / "five.tsv").write_text("".join(f"{letter}\t{letter}{letter}\n" for letter in "abcde"))
    text = f'[[stage]]\nuse = "read-pairs"\nsource = "five.tsv"\nskip = {skip}\nlimit = {limit}\n'
    rows = read_rows(run_toml(text, tmp_path).stages[-1].folder)
    assert "".join(row["src"] for row in rows) == kept
    assert [row["pair_id"].rpartition(":")[2] for row in rows] == [str("abcde".index(letter) + 1) for letter in kept]


def test_bad_rows_after_the_skipped_ones_are_counted(tmp_path: Path) -> None:
    lines = [b"a\tb\n"] * 4 + [b"bad\n"] + [b"c\td\n"] * 2 + [b"\xff\t\n"] + [b"e\tf\n"]
    (tmp_path / "rows.tsv").write_bytes(b"".join(lines))
    text = '[[stage]]\nuse = "read-pairs"\nsource = "rows.tsv"\nbad_rows = "reject"\nskip = {}\n'
    for name, skip, kept, bad in (("whole", 0, 7, 2), ("some", 2, 5, 2), ("behind", 5, 2, 1)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rows.tsv").write_bytes((tmp_path / "rows.tsv").read_bytes())
        counts = run_toml(text.format(skip), tmp_path / name).stages[-1].counts
        assert (counts.kept, counts.rejected) == (kept, bad), name


@pytest.mark.parametrize("ids", ["z:900", "x7", "5", ""])
def test_bad_rows_are_counted_whatever_the_ids_of_a_table_are(tmp_path: Path, ids: str) -> None:
    """Ids like z:900 were taken for row numbers, and bad rows below 900 lost."""
    rows = ["src\ttgt\tpair_id", f"a\tb\t{ids}", f"c\td\t{ids}", "bad", f"e\tf\t{ids}"]
    (tmp_path / "rows.tsv").write_text("\n".join(rows) + "\n")
    text = '[[stage]]\nuse = "read-pairs"\nsource = "rows.tsv"\nbad_rows = "reject"\nskip = 1\n'
    stage = run_toml(text, tmp_path).stages[-1]
    assert (stage.counts.kept, stage.counts.rejected) == (2, 1)
    assert [row["src"] for row in read_rows(stage.folder)] == ["c", "e"]


@pytest.mark.parametrize("bad_rows", ["stop", "reject"])
def test_rows_after_the_last_one_are_not_read(tmp_path: Path, bad_rows: str) -> None:
    (tmp_path / "rows.tsv").write_text("a\tb\nc\td\nbad\ne\tf\n")
    text = f'[[stage]]\nuse = "read-pairs"\nsource = "rows.tsv"\nbad_rows = "{bad_rows}"\nlimit = 2\n'
    counts = run_toml(text, tmp_path).stages[-1].counts
    assert (counts.kept, counts.rejected) == (2, 0)


def test_a_part_of_a_corpus_is_read(tmp_path: Path) -> None:
    write_pairs(tmp_path / "five", *((letter, letter) for letter in "abcde"))
    for skip, limit, kept in ((0, None, "abcde"), (1, 2, "bc"), (4, 9, "e"), (5, None, ""), (0, 1, "a")):
        batches = read_pairs(tmp_path / "five", skip=skip, limit=limit, batch_rows=2)
        assert "".join(text for batch in batches for text in batch.column("src").to_pylist()) == kept


def test_skipping_more_rows_than_a_file_has_leaves_nothing_to_read(tmp_path: Path) -> None:
    (tmp_path / "one.tsv").write_text("a\tb\n")
    with pytest.raises(DataError, match="no rows to read"):
        run_toml('[[stage]]\nuse = "read-pairs"\nsource = "one.tsv"\nskip = 9\n', tmp_path)
    with pytest.raises(ConfigError, match="'skip' must be 0 or more, not -1"):
        ReadPairs(source=tmp_path / "one.tsv", skip=-1)


def test_braces_must_enclose_two_names(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected two names in the braces"):
        ReadPairs(source=tmp_path / "train.{de}").files()


def test_corpora_of_pairs_are_joined_and_swapped(tmp_path: Path) -> None:
    write_pairs(tmp_path / "one", ("ein Hund", "a dog"))
    write_pairs(tmp_path / "two", ("eine Katze", "a cat"))
    text = '[[stage]]\nname = "{0}"\nuse = "join-pairs"\ncorpora = ["one", "two"]\nswap = {0}\n'
    straight, swapped = (
        read_rows(stage.folder) for stage in run_toml(text.format("false") + text.format("true"), tmp_path).stages
    )
    assert [(row["src"], row["tgt"]) for row in straight] == [("ein Hund", "a dog"), ("eine Katze", "a cat")]
    assert [(row["src"], row["tgt"]) for row in swapped] == [("a dog", "ein Hund"), ("a cat", "eine Katze")]
    assert {(row["src_lang"], row["tgt_lang"]) for row in swapped} == {("en", "de")}


def test_only_corpora_of_pairs_are_joined(tmp_path: Path) -> None:
    (tmp_path / "mono.txt").write_text("A dog.\n")
    with pytest.raises(DataError, match="column 'pair_id' is missing"):
        run_toml(f'{SENTENCES}[[stage]]\nuse = "join-pairs"\ncorpora = ["read-sentences"]\n', tmp_path)
    with pytest.raises(ConfigError, match="key 'corpora' is empty"):
        run_toml('[[stage]]\nuse = "join-pairs"\ncorpora = []\n', tmp_path)


def test_bad_lines_and_test_sentences_are_rejected(tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs", ("ein Hund", "a dog"), ("", "x"), ("eine Katze", "A CAT!"), ("Der Test.", "new"))
    write_pairs(tmp_path / "test", ("der test", "a cat"))
    result = run_toml('[[stage]]\nuse = "clean"\ninput = "pairs"\nheld_out = ["test"]\n', tmp_path).stages[-1]
    assert [row["tgt"] for row in read_rows(result.folder)] == ["a dog"]
    assert count_reasons(result.folder) == {
        "src: empty": 1, "tgt: in a held-out corpus": 1, "src: in a held-out corpus": 1,
    }  # fmt: skip
    assert result.counts.read == result.counts.kept + result.counts.rejected == 4


def test_a_held_out_corpus_that_changed_is_read_again(tmp_path: Path) -> None:
    """Both runs are in this process, and the corpus has the same path."""
    write_pairs(tmp_path / "pairs", ("ein Hund", "a dog"), ("eine Katze", "a cat"))
    kept = []
    for text in ("a dog", "a cat"):
        shutil.rmtree(tmp_path / "test", ignore_errors=True)
        write_pairs(tmp_path / "test", ("", text))
        result = run_toml('[[stage]]\nuse = "clean"\ninput = "pairs"\nheld_out = ["test"]\n', tmp_path).stages[-1]
        kept.append([row["tgt"] for row in read_rows(result.folder)])
    assert kept == [["a cat"], ["a dog"]]


def test_sentences_in_another_language_are_rejected(tmp_path: Path) -> None:
    pytest.importorskip("lingua", reason="identifying languages needs lingua: pip install 'paraloom[language]'")
    german = "Der Hund schläft heute den ganzen Tag in der warmen Sonne vor dem Haus."
    (tmp_path / "mono.txt").write_text(f"The dog has been sleeping in the sun all day long.\n{german}\n1 2 3\n")
    result = run_toml(f'{SENTENCES}[[stage]]\nuse = "clean"\nmin_words = 2\nlanguages = ["de", "en"]\n', tmp_path)
    assert result.stages[-1].counts.kept == 1
    assert count_reasons(result.stages[-1].folder) == {
        "text: looks like 'de', not 'en'": 1, "text: fewer than 0.4 of the words begin with a letter": 1,
    }  # fmt: skip
    with pytest.raises(ConfigError, match="must have two languages or more, not only 'de'"):
        run_toml(f'{SENTENCES}[[stage]]\nuse = "clean"\nlanguages = ["de"]\n', tmp_path)


def test_a_label_that_is_not_among_the_languages_is_an_error(tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs", ("ein Hund", "a dog"))
    with pytest.raises(DataError, match="labeled as 'de', which is not among the languages en, tr"):
        run_toml('[[stage]]\nuse = "clean"\ninput = "pairs"\nlanguages = ["en", "tr"]\n', tmp_path)


@pytest.fixture
def scored(paraloom: Callable[..., tuple[int, str, str]], tmp_path: Path) -> Path:
    """A Parquet file that `paraloom score` wrote."""
    lines = ["src\ttgt", "the dog sleeps\tthe dog is asleep", "a cat\ta cat", "here we are\tthis is the place"]
    (tmp_path / "pairs.tsv").write_text("".join(f"{line}\n" for line in lines))
    assert paraloom("score", "pairs.tsv", "--with", "overlap,length", "-o", "scored.parquet")[0] == 0
    return tmp_path / "scored.parquet"


def test_scored_pairs_are_filtered(paraloom: Callable[..., tuple[int, str, str]], scored: Path) -> None:
    status, _, message = paraloom("filter", scored, "--where", "unigram_overlap < 0.9", "-o", "kept.parquet")
    assert status == 0, message
    before, after = pq.read_table(scored), pq.read_table(scored.parent / "kept.parquet")
    assert after.column("tgt").to_pylist() == ["the dog is asleep", "this is the place"]
    assert after.schema.names == before.schema.names
    assert "unigram_overlap|" in signature_of(after.schema.field("unigram_overlap"))


@pytest.mark.parametrize("name", ["scored.tsv", "scored.csv", "scored.jsonl.gz"])
def test_scored_text_is_filtered_by_its_scores(
    paraloom: Callable[..., tuple[int, str, str]], scored: Path, name: str
) -> None:
    assert paraloom("score", scored, "--with", "chrf", "-o", name)[0] == 0
    status, _, message = paraloom("filter", name, "--where", "unigram_overlap < 0.9 and chrf < 100", "-o", "kept.jsonl")
    assert status == 0, message
    rows = [json.loads(line) for line in (scored.parent / "kept.jsonl").read_text().splitlines()]
    assert [row["tgt"] for row in rows] == ["the dog is asleep", "this is the place"]
    assert {type(row["unigram_overlap"]) for row in rows} == {float}


def test_a_bad_row_of_scored_text_is_named_or_rejected(
    paraloom: Callable[..., tuple[int, str, str]], scored: Path
) -> None:
    assert paraloom("score", scored, "--with", "chrf", "-o", "scored.tsv")[0] == 0
    lines = (scored.parent / "scored.tsv").read_text().splitlines()
    (scored.parent / "bad.tsv").write_text("\n".join([*lines[:2], "a\tb", *lines[2:]]) + "\n")
    status, _, message = paraloom("filter", "bad.tsv", "--where", "chrf < 101", "-o", "kept.tsv")
    assert (status, "bad.tsv" in message, "row 2" in message) == (1, True, True)
    status, out, message = paraloom(
        *("filter", "bad.tsv", "--where", "chrf < 101", "-o", "kept.tsv", "--on-error", "reject")
    )
    assert status == 0, message
    assert len((scored.parent / "kept.tsv").read_text().splitlines()) == 4
    assert "fields, got 2" in out + message


def test_files_with_further_columns_are_recognized(tmp_path: Path, scored: Path) -> None:
    pq.write_table(pa.table({"src": ["a"], "tgt": ["b"], "score": [1.0]}), tmp_path / "other.parquet")
    pq.write_table(pa.table({name: [""] for name in PAIRS.names}, schema=PAIRS), tmp_path / "plain.parquet")
    assert has_further_columns(str(scored))
    for name in ("other.parquet", "plain.parquet", "pairs.tsv", "missing.parquet"):
        assert not has_further_columns(str(tmp_path / name))


def test_a_null_is_named_with_its_row(scored: Path) -> None:
    table = pq.read_table(scored)
    field = table.schema.field("tgt")
    texts = pa.array(["a", None, "c"], field.type)
    pq.write_table(table.set_column(table.schema.names.index("tgt"), field, texts), scored)
    with pytest.raises(DataError, match="'tgt' is null") as error:
        list(ReadScoredPairs(source=scored).batches(StageContext(1)))
    assert error.value.row == 2


def test_a_condition_rejects_as_a_table_is_read(tmp_path: Path) -> None:
    pairs = as_pairs({"src": list("abcd"), "tgt": list("efgh"), "judge": [0.1, 0.9, None, 0.6]})
    pairs.write(tmp_path / "scored.parquet")
    text = '[[stage]]\nuse = "read-scored-pairs"\nsource = "scored.parquet"\nwhere = "judge > 0.5"\n'
    stage = run_toml(text, tmp_path).stages[-1]
    assert (stage.counts.read, stage.counts.kept, stage.counts.rejected) == (4, 2, 2)
    assert [row["src"] for row in read_rows(stage.folder)] == ["b", "d"]
    rejected = read_rows(stage.folder / "rejected")
    reasons = [(row["pair_id"], row["reason"], row["src"], row["judge"]) for row in rejected]
    assert reasons == [("pairs:1", "not: judge > 0.5", None, None), ("pairs:3", "undefined: judge > 0.5", None, None)]
    with pytest.raises(ConfigError, match="'juge' in the condition"):
        list(ReadScoredPairs(source=tmp_path / "scored.parquet", where="juge > 0.5").batches(StageContext(1)))
    with pytest.raises(ConfigError, match="cannot be combined"):
        ReadScoredPairs(source=tmp_path / "scored.parquet", where="judge > 0.5", bad_rows="reject")


def test_equal_texts_are_in_one_part_of_a_split(tmp_path: Path) -> None:
    words = [f"word {number}" for number in range(400)]
    lines = [f"{word} {copy}\t{word}\n" for word in words for copy in range(2)]
    (tmp_path / "pairs.tsv").write_text("".join(lines))
    text = '[[stage]]\nuse = "read-pairs"\nsource = "pairs.tsv"\n' + "".join(
        f'[[stage]]\nname = "{part}-{share}"\nuse = "split"\ninput = "read-pairs"\npart = "{part}"\nshare = 0.{share}\n'
        for part, share in (("train", 2), ("test", 2), ("test", 1))
    )
    stages = run_toml(text, tmp_path).stages[1:]
    train, test, fewer = ({row["tgt"] for row in read_rows(stage.folder)} for stage in stages)
    assert train | test == set(words) and not train & test and fewer < test
    assert len(test) / len(words) == pytest.approx(0.2, abs=0.06)  # three standard deviations
    assert count_reasons(stages[0].folder) == {"in the test part": 2 * len(test)}


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_split_has_two_parts(share: float) -> None:
    with pytest.raises(ConfigError, match="'share' must be above 0 and below 1"):
        Split(share=share)
