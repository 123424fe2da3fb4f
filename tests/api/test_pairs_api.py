"""Pairs in Python: what they are made from, that nothing runs early, and that the rows are those of the commands."""

from __future__ import annotations

import gc
import json
import os
import pickle
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import Command

from paraloom import (
    ConfigError,
    DataError,
    Encoder,
    Pairs,
    Translator,
    Variant,
    as_pairs,
    backtranslate,
    read_pairs,
    score,
)
from paraloom.core.stage import Source, StageContext
from paraloom.pairs.scoring.paraphrase_model import Feature, LogisticModel, ParaphraseModel
from paraloom.pairs.scoring.scorer import PairBatch, Scorer
from paraloom.pipeline.definition import define_steps, detached
from paraloom.stages import Clean

GERMAN = ["Ein Hund schläft.", "Die Katze frisst."]
ENGLISH = ["A dog sleeps.", "The cat eats."]
TUPLES = list(zip(GERMAN, ENGLISH, strict=True))
DICTS = [{"src": src, "tgt": tgt} for src, tgt in TUPLES]
TABLE = pa.table({"src": GERMAN, "tgt": ENGLISH})
FRAME = pd.DataFrame({"src": GERMAN, "tgt": ENGLISH})


def sides(pairs: Pairs) -> list[tuple[str, str]]:
    return [(row["src"], row["tgt"]) for row in pairs]


IN_MEMORY: dict[str, Any] = {
    "tuples": TUPLES,
    "lists": [list(pair) for pair in TUPLES],
    "an array": np.array(TUPLES),
    "a generator": lambda: (pair for pair in TUPLES),
    "mappings": DICTS,
    "a mapping of columns": {"src": GERMAN, "tgt": ENGLISH},
    "an Arrow table": TABLE,
    "an Arrow batch": TABLE.to_batches()[0],
    "an Arrow reader": lambda: TABLE.to_reader(),
    "Arrow columns of large strings": TABLE.cast(pa.schema([("src", pa.large_string()), ("tgt", pa.large_string())])),
    "Arrow columns of string views": TABLE.cast(pa.schema([("src", pa.string_view()), ("tgt", pa.string_view())])),
    "a DataFrame": FRAME,
    "a DataFrame with an index": FRAME.set_index(pd.Index(["x", "y"])),
    "selected rows of a DataFrame": pd.concat([FRAME.iloc[:1], FRAME])[1:],
    "a DataFrame of categories": FRAME.astype("category"),
    "two columns of other names": FRAME.rename(columns={"src": "de", "tgt": "en"}),
}


@pytest.mark.parametrize("kind", IN_MEMORY)
def test_pairs_in_memory(kind: str) -> None:
    data = IN_MEMORY[kind]
    pairs = as_pairs(data() if callable(data) else data, src_lang="de", tgt_lang="en")
    assert sides(pairs) == TUPLES
    assert pairs.columns == ["pair_id", "src", "tgt", "src_lang", "tgt_lang", "origin"]
    assert [row["pair_id"] for row in pairs] == ["pairs:1", "pairs:2"]
    assert {(row["src_lang"], row["tgt_lang"]) for row in pairs} == {("de", "en")}


def test_a_polars_frame() -> None:
    polars = pytest.importorskip("polars", reason="polars not installed")
    assert sides(as_pairs(polars.DataFrame({"src": GERMAN, "tgt": ENGLISH}))) == TUPLES


def test_a_dataset_of_hugging_face_with_its_selection() -> None:
    datasets = pytest.importorskip("datasets", reason="datasets not installed")
    dataset = datasets.Dataset.from_dict({"src": GERMAN, "tgt": ENGLISH}).select([1])
    assert sides(as_pairs(dataset)) == sides(as_pairs(dataset.to_iterable_dataset())) == TUPLES[1:]
    with pytest.raises(TypeError, match=r"got a DatasetDict; name one of its splits, such as data\['test'\]"):
        as_pairs(datasets.DatasetDict(test=dataset))


def test_an_object_like_a_dataset_of_hugging_face() -> None:
    class Dataset:
        num_rows = 2

        def with_format(self, kind: str) -> Dataset:
            assert kind == "arrow"
            return self

        def __getitem__(self, rows: slice) -> pa.Table:
            return TABLE[rows]

    assert sides(as_pairs(Dataset())) == TUPLES


def test_pairs_and_paths(tmp_path: Path) -> None:
    pairs = as_pairs(TUPLES, src_lang="de", tgt_lang="en")
    assert as_pairs(pairs) is pairs
    for name in ("pairs.tsv", "pairs.jsonl.gz", "pairs.parquet", "pairs.tmx", "pairs.{de,en}", "corpus"):
        pairs.write(tmp_path / name, engine="inline")
        assert sides(as_pairs(tmp_path / name)) == sides(as_pairs(str(tmp_path / name))) == TUPLES, name
    assert sides(as_pairs(as_pairs(TUPLES).write(tmp_path / "again", engine="inline").folder)) == TUPLES


def test_further_columns_are_kept() -> None:
    rows = [{**DICTS[0], "year": 2001}, {**DICTS[1], "origin": "web", "note": "x"}]
    with pytest.raises(DataError, match="column 'origin' is null"):
        as_pairs(rows)
    pairs = as_pairs([{**row, "origin": "web"} for row in rows])
    assert [(row["year"], row["note"], row["origin"]) for row in pairs] == [(2001, None, "web"), (None, "x", "web")]


WRONG: list[tuple[Any, type[Exception], str]] = [
    ("A sentence, not a path.", TypeError, "got the string 'A sentence, not a path.'"),
    ("missing.tsv", ConfigError, "missing.tsv"),
    (ENGLISH, TypeError, r"expected pairs \(source, target\), got 'A dog sleeps.' as number 1"),
    ([("a", "b"), ("a", "b", "c")], TypeError, r"got \('a', 'b', 'c'\) as number 2"),
    ([("a", "b"), {"src": "a", "tgt": "b"}], TypeError, "as number 2"),
    ([("a", 1)], TypeError, "expected text as 'tgt', got 1 in row 1"),
    ([("a", b"b")], TypeError, "expected text as 'tgt', got b'b' in row 1"),
    (7, TypeError, "expected pairs .*got int"),
    (FRAME["src"], TypeError, r"expected pairs \(source, target\), got .* as number 1"),
    (b"a\tb", TypeError, "got bytes"),
    ({"src": "a", "tgt": "b"}, TypeError, "expected a list for the column 'src', got 'a'"),
    ({"src": ["a", "b"], "tgt": ["b"]}, DataError, "the columns differ in length: src 2, tgt 1"),
    ([], DataError, "expected pairs, but the data is empty"),
    (iter(()), DataError, "expected pairs, but the data is empty"),
    (FRAME.iloc[:0], DataError, "expected pairs, but the data is empty"),
    ([("a", "b"), ("a", None)], DataError, "row 2: column 'tgt' is null"),
    ([("a", None)], DataError, "row 1: column 'tgt' is null"),
    ([{"src": "a", "tgt": "b"}, {"src": "a"}], DataError, "row 2: column 'tgt' is null"),
    ([("a", "\ud800")], DataError, "not valid Unicode"),
    ([{"src": "a"}], DataError, "expected the columns 'src' and 'tgt', got 'src'"),
    ({"tgt": ["a"], "text": ["b"]}, DataError, "expected the columns 'src' and 'tgt', got 'tgt', 'text'"),
    (pa.table({"src": ["a"], "tgt": [1]}), DataError, "column 'tgt' has the type int64"),
    (pd.DataFrame([["a", "b", "c"]], columns=["src", "tgt", "src"]), DataError, "columns cannot be read"),
    (pd.DataFrame({"src": ["a", "b"], "tgt": ["c", "d"], "n": [1, "x"]}), DataError, "columns cannot be read"),
    ([{"src": "a", "tgt": "b", "n": 1}, {"src": "a", "tgt": "b", "n": "x"}], DataError, "one type"),
]


@pytest.mark.parametrize(("data", "kind", "message"), WRONG, ids=[message for _, _, message in WRONG])
def test_wrong_data_is_an_error(
    data: Any, kind: type[Exception], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=message):
        as_pairs(data)


def test_read_pairs_takes_paths_only() -> None:
    with pytest.raises(TypeError, match="expected a path, got list; for data in memory use as_pairs"):
        read_pairs(TUPLES)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class Counting(Source):
    """A source that counts how often it is read."""

    output_schema = "PAIRS"
    log: Path

    def files(self) -> tuple[Path, ...]:
        return ()

    def batches(self, context: StageContext) -> Any:
        self.log.write_text(self.log.read_text() + "read\n" if self.log.exists() else "read\n")
        row = {"pair_id": "1", "src": "a b", "tgt": "a c", "src_lang": "en", "tgt_lang": "en", "origin": "x"}
        yield pa.RecordBatch.from_pylist([row])


def test_nothing_runs_before_rows_are_needed_and_then_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    pairs = Pairs([Counting(log=log)])
    scored = pairs.score("length").drop_duplicates().filter("tgt_tokens > 5")
    assert not log.exists()
    assert scored.to_list() == [] and len(scored) == 0
    assert scored.to_arrow().num_rows == 0 and "tgt_tokens" in scored.columns
    assert log.read_text() == "read\n"
    with pytest.raises(DataError, match="the corpus has no rows"):
        scored.score("bleu1").to_list()


def test_a_missing_file_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing\.tsv"):
        read_pairs(tmp_path / "missing.tsv")
    with pytest.raises(ConfigError, match="word_counts"):
        as_pairs(TUPLES).score("length", word_counts=tmp_path / "missing")
    with pytest.raises(ConfigError, match="did you mean 'overlap'"):
        as_pairs(TUPLES).score(["overlpa"])
    with pytest.raises(ConfigError, match="translator 'de-fr' not found"):
        as_pairs(TUPLES).backtranslate("de-fr")
    with pytest.raises(ConfigError, match="'side' must be 'src' or 'tgt', not 'left'"):
        as_pairs(TUPLES).backtranslate("de-en", side="left")


def test_scores_in_turn_and_at_once_are_the_same() -> None:
    twice = as_pairs(TUPLES).score(["overlap"]).score(["length", "bleu1"])
    once = score(TUPLES, ["overlap", "length", "bleu1"])
    assert twice.to_arrow().equals(once.to_arrow())
    assert b"signature" in twice.to_arrow().schema.field("bleu1").metadata
    assert repr(twice).startswith("<Pairs InMemoryPairs → Score → Score, 2 rows, 16 columns: pair_id, src, tgt, ")


def test_an_unknown_column_in_a_condition_suggests_one() -> None:
    with pytest.raises(ConfigError, match="did you mean 'trigram_overlap'"):
        score(TUPLES, ["overlap"]).filter("trigram_overlpa <= 0.7").to_list()
    with pytest.raises(TypeError, match="tpo"):
        as_pairs(TUPLES).filter(tpo=0.5)


def test_stages_of_the_same_kind_have_different_names() -> None:
    pairs = as_pairs([("a b c d", "e f g h"), ("a b c d", "e f g h"), ("x", "y")])
    twice = pairs.drop_duplicates().filter("true").drop_duplicates(columns=["src"]).filter("src <> 'x'").score("length")
    assert [row["src"] for row in twice] == ["a b c d"]
    names = [stage.name for stage in twice.stages]
    assert names == ["input", *("find-duplicates", "drop-duplicates", "filter"),
                     *("find-duplicates-2", "drop-duplicates-2", "filter-2", "score")]  # fmt: skip


def test_any_stage_may_follow() -> None:
    assert sides(as_pairs([*TUPLES, ("a", "b")]).then(Clean(min_words=2))) == TUPLES
    with pytest.raises(TypeError, match=r"expected a Map of paraloom\.stages, got str"):
        as_pairs(TUPLES).then("score")  # type: ignore[arg-type]


def test_the_command_writes_the_same_bytes(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "pairs.de-en.tsv").write_text("".join(f"{src}\t{tgt}\n" for src, tgt in TUPLES))
    status, _, err = paraloom("score", "pairs.de-en.tsv", "--with", "overlap,bleu1", "-o", "a.parquet", "--workers", 1)
    assert status == 0, err
    pairs = read_pairs("pairs.de-en.tsv").score(["overlap", "bleu1"])
    result = pairs.write("b.parquet", engine="inline")
    assert result.stages[-1].counts.out == 2
    assert Path("a.parquet").read_bytes() == Path("b.parquet").read_bytes()
    assert pq.read_table("a.parquet").to_pylist() == pairs.to_list()
    assert pairs.to_pandas().equals(pq.read_table("a.parquet").to_pandas())


def test_every_format_is_written(tmp_path: Path) -> None:
    pairs = as_pairs(TUPLES, src_lang="de", tgt_lang="en").score(["length"])
    for name in ("a.tsv", "a.jsonl", "a.parquet", "a.tmx", "a.tsv.gz", "a.{de,en}", "folder"):
        pairs.write(tmp_path / name, engine="inline")
    assert json.loads((tmp_path / "a.jsonl").read_text().splitlines()[1])["tgt_tokens"] == 4
    assert (tmp_path / "a.de").read_text().splitlines() == GERMAN
    for name in ("a.tsv", "a.parquet", "a.tmx", "a.tsv.gz", "a.{de,en}", "folder"):
        assert sides(read_pairs(tmp_path / name)) == TUPLES
    assert not list(tmp_path.glob("*.paraloom"))
    unchanged = read_pairs(tmp_path / "folder")
    unchanged.write(tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_bytes() == (tmp_path / "a.jsonl").read_bytes()
    assert repr(unchanged).startswith(f"<Pairs {tmp_path / 'folder'}, 2 rows, ")
    with pytest.raises(ConfigError, match="xlsx"):
        pairs.write(tmp_path / "a.xlsx", engine="inline")


def test_worker_processes_do_not_get_the_data(tmp_path: Path) -> None:
    data = [(f"the dog number {n} sleeps", f"dog number {n} is asleep") for n in range(3000)]
    pairs = as_pairs(data).score(["length"])
    step = define_steps(pairs.stages, Path.cwd())[-1]
    assert len(pickle.dumps(detached(step))) < 2000 < len(pickle.dumps(step.stage))


@pytest.mark.slow
def test_rows_are_the_same_from_several_processes(tmp_path: Path) -> None:
    data = [(f"the dog number {n} sleeps", f"dog number {n} is asleep") for n in range(12_000)]
    pairs = backtranslate(data[:3], Shouting()).score(["length"])
    pairs.write(tmp_path / "shouted.parquet", workers=2)
    assert sides(read_pairs(tmp_path / "shouted.parquet")) == sides(pairs)
    scored = as_pairs(data).score(["length"])
    scored.write(tmp_path / "scored.parquet", workers=2)
    assert pq.read_table(tmp_path / "scored.parquet").to_pylist() == scored.to_list()


class Shouting:
    """A translator that can do no more than translate."""

    def translate(self, sentences: Sequence[str], *, seed: int = 0) -> list[list[Variant]]:
        return [[Variant(f"{text.upper()} {seed}", -1.0, 2), Variant(text, -2.0, 2)] for text in sentences]


def test_translators_by_name_folder_and_object() -> None:
    translator = Translator.load("de-en", decode="beam:2")
    by_object = backtranslate(TUPLES, translator)
    by_name = backtranslate(TUPLES, "de-en", decode="beam:2")
    by_folder = backtranslate(TUPLES, translator.folder, decode="beam:2")
    rows = by_object.to_arrow().drop_columns(["method"])
    assert rows.column("src").to_pylist() == ENGLISH
    assert by_name.to_arrow().drop_columns(["method"]).equals(rows)
    assert by_folder.to_arrow().equals(by_name.to_arrow())
    assert by_name.to_list()[0]["method"] == "beam:2"
    assert repr(by_name).startswith("<Pairs InMemoryPairs → BackTranslate, 2 rows, ")


def test_any_object_translates_in_this_process_when_rows_are_needed() -> None:
    class Recording(Shouting):
        calls = 0

        def translate(self, sentences: Sequence[str], *, seed: int = 0) -> list[list[Variant]]:
            self.calls += 1
            return super().translate(sentences, seed=seed)

    translator = Recording()
    # The intermediate pairs are gone when the rows are needed.
    paraphrases = backtranslate(TUPLES, translator).score(["length"]).filter("rank = 0")
    gc.collect()
    assert translator.calls == 0
    rows = paraphrases.to_list()
    assert translator.calls == 1 and len(paraphrases) == 2 and paraphrases.to_list() == rows
    assert [row["src"] for row in rows] == ENGLISH
    assert rows[0]["tgt"].startswith("EIN HUND SCHLÄFT. ") and rows[0]["method"] == "Recording"
    assert "_source" not in paraphrases.columns
    other = as_pairs(TUPLES).backtranslate(translator, side="tgt", decode="loud").to_list()
    assert (other[0]["src"], other[1]["tgt"], other[0]["method"]) == (GERMAN[0], ENGLISH[0], "loud")
    assert backtranslate(backtranslate(TUPLES, translator), translator).to_list()[-1]["src"] == GERMAN[1]


def test_an_object_that_returns_nothing_or_does_not_translate_is_an_error() -> None:
    class Silent(Shouting):
        def translate(self, sentences: Sequence[str], *, seed: int = 0) -> list[list[Variant]]:
            return [[] for _ in sentences]

    with pytest.raises(DataError, match=r"the translator returned nothing for 'Ein Hund schläft\.'"):
        backtranslate(TUPLES, Silent()).to_list()
    with pytest.raises(TypeError, match="expected a translator, its name or folder, or a function, got int"):
        backtranslate(TUPLES, 5)  # type: ignore[arg-type]


class Letters:
    """An encoder of this process that counts two letters."""

    signature = "letters"
    dimension = 2

    def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.array([[text.count("a"), text.count("e")] for text in sentences], np.float32)


def test_encoders_by_name_folder_and_object(tmp_path: Path) -> None:
    data = [("A dog sleeps.", "The dog is asleep."), ("Hello.", "Stocks fell.")]
    encoder = Encoder.load("english")
    folder = encoder.save(tmp_path / "encoder")
    forms: list[Any] = [encoder, "english", folder, str(folder), Encoder.load(folder), Encoder(encoder.model)]
    tables = [score(data, "length", encoder=form).to_arrow() for form in forms]
    assert all(table.equals(tables[0]) for table in tables)
    assert tables[0].column_names[-1] == "paraphrase_score"
    names = {table.schema.field("paraphrase_score").metadata[b"signature"] for table in tables}
    assert len(names) == 1
    vectors = [encoder.similarity([src], [tgt])[0, 0] for src, tgt in data]
    np.testing.assert_allclose(tables[0]["paraphrase_score"].to_pylist(), vectors, rtol=1e-5)
    own = score([("ae", "ae"), ("a", "e")], "length", encoder=Letters()).to_list()
    assert [row["paraphrase_score"] for row in own] == pytest.approx([1, 0])
    with pytest.raises(TypeError, match=r"expected an encoder .* got dict"):
        score(data, "length", encoder={})


def test_scorers_of_ones_own_stand_among_names() -> None:
    def difference(pairs: PairBatch) -> np.ndarray[Any, Any]:
        return np.subtract(pairs.src.lengths, pairs.tgt.lengths).astype(np.float32)

    scorer = Scorer(name="shorter", description="words that the second side has less", compute=difference)
    scored = score(
        [("a b c", "a"), ("a", "a b")], ["bleu1", scorer], encoder=Letters(), paraphrase_model="paraphrases-en"
    )
    rows = scored.to_list()
    assert [row["shorter"] for row in rows] == [2, -1]
    assert {"bleu1", "paraphrase_score", "p_paraphrase"} <= set(rows[0])
    assert as_pairs([("a b c", "a")]).score([scorer]).to_list()[0]["shorter"] == 2


def test_the_probability_of_a_paraphrase_counts_the_score_of_an_encoder_in_memory(tmp_path: Path) -> None:
    by_cosine, by_overlap = (
        LogisticModel((Feature(name, 1.0, 0.0, 1.0, 0.0, 1.0),), 0.0) for name in ("paraphrase_score", "bleu1")
    )
    ParaphraseModel((by_cosine, by_overlap), {}, {}).save(tmp_path)
    own = score([("ae", "ae"), ("a", "e")], "chrf", encoder=Letters(), paraphrase_model=tmp_path).to_list()
    given = [{name: row[name] for name in ("src", "tgt", "paraphrase_score")} for row in own]
    read = score(given, "chrf", paraphrase_model=tmp_path).to_list()
    assert [row["p_paraphrase"] for row in own] == [row["p_paraphrase"] for row in read]
    without = score([("ae", "ae"), ("a", "e")], "chrf", paraphrase_model=tmp_path).to_list()
    assert [row["p_paraphrase"] for row in own] != [row["p_paraphrase"] for row in without]


def test_temporary_folders_are_removed_with_the_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    pairs = as_pairs(TUPLES).score(["length"])
    rows = iter(pairs)
    assert not list(tmp_path.iterdir())
    next(rows)
    assert len(list(tmp_path.iterdir())) == 1
    table = pairs.to_arrow()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        del pairs, rows
        gc.collect()
        assert not list(tmp_path.iterdir())
        assert table.column("src").to_pylist() == GERMAN
        with pytest.raises(ConfigError):
            as_pairs(TUPLES).filter("nothing = 1").to_list()
        gc.collect()
    assert not list(tmp_path.iterdir())
    assert not [one for one in caught if str(tmp_path) in str(one.message)]


def test_repr_shows_where_pairs_come_from(tmp_path: Path) -> None:
    as_pairs(TUPLES).write(tmp_path / "pairs.tsv", engine="inline")
    pairs = read_pairs(tmp_path / "pairs.tsv")
    assert repr(pairs.score("length").filter("true")) == "<Pairs ReadPairs → Score → Filter, not computed yet>"
    assert len(pairs) == 2 and repr(pairs).startswith("<Pairs ReadPairs, 2 rows, 6 columns: pair_id, src")


def test_a_table_that_was_written_keeps_all_columns(tmp_path: Path) -> None:
    scored = as_pairs([("a dog", "one dog")]).score(["bleu1"])
    expected = scored.to_list()
    for suffix in ("tsv", "csv", "jsonl", "tsv.gz", "parquet"):
        scored.write(tmp_path / f"scored.{suffix}", workers=1)
        read = read_pairs(tmp_path / f"scored.{suffix}")
        assert read.columns == scored.columns
        assert read.to_list() == [{**row, "bleu1": pytest.approx(row["bleu1"], rel=1e-6)} for row in expected]


@pytest.mark.parametrize(
    "kind", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())], ids=["large", "view", "dict"]
)
def test_texts_are_strings_however_other_programs_store_them(tmp_path: Path, kind: pa.DataType) -> None:
    scored = as_pairs([{"src": "a dog", "tgt": "one dog", "note": note} for note in "xyx"]).score(["bleu1"])
    table = pa.Table.from_pylist(scored.to_list())
    types = [field.with_type(kind if pa.types.is_string(field.type) else field.type) for field in table.schema]
    table = table.cast(pa.schema(types))
    pq.write_table(table, tmp_path / "scored.parquet")
    for pairs in (as_pairs(table), read_pairs(tmp_path / "scored.parquet")):
        assert pairs.filter("note = 'x' AND bleu1 > 0").to_list() == [scored.to_list()[0], scored.to_list()[2]]


def test_a_table_in_text_form_says_which_columns_are_not_read(tmp_path: Path) -> None:
    for suffix, mark in (("tsv", "\t"), ("csv", ",")):
        lines = [["pair_id", "src", "tgt", "bleu1"], ["1", "a dog", "one dog", "0.5"]]
        (tmp_path / f"scored.{suffix}").write_text("".join(f"{mark.join(line)}\n" for line in lines), encoding="utf-8")
        with pytest.warns(UserWarning, match="not the columns bleu1"):
            assert "bleu1" not in read_pairs(tmp_path / f"scored.{suffix}").columns
    (tmp_path / "mine.tsv").write_text("src\ttgt\tnote\na\tb\tc\n", encoding="utf-8")
    assert len(read_pairs(tmp_path / "mine.tsv")) == 1


def test_columns_that_are_not_read_are_named(tmp_path: Path) -> None:
    """A Parquet file from elsewhere, without languages and identifiers, is read as a bitext is."""
    table = pa.table({"src": ["a b"], "tgt": ["c d"], "src_parse": ["(S a b)"]})
    pq.write_table(table, tmp_path / "pairs.parquet")
    with pytest.warns(UserWarning, match=r"not the columns src_parse; tables with the columns pair_id"):
        pairs = read_pairs(tmp_path / "pairs.parquet")
    assert [(row["src"], row["tgt"]) for row in pairs.to_list()] == [("a b", "c d")]


def test_back_translations_say_row_by_row_how_far_they_are_out_of_depth() -> None:
    texts = ["Ich bin müde.", "Die konsolidierte Gewinnrücklage wurde gemäß Satzung thesauriert."]
    rows = backtranslate([{"src": text, "tgt": "x", "src_lang": "de", "tgt_lang": "en"} for text in texts], "de-en",
                         check_languages=False).to_list()  # fmt: skip
    costs = Translator.load("de-en").costs
    assert costs is not None
    expected = costs.ranks([-row["logprob"] / row["tokens"] for row in rows])
    assert [row["out_of_depth"] for row in rows] == pytest.approx(expected.tolist())
    assert rows[0]["out_of_depth"] < 0.5 < 0.9 < rows[1]["out_of_depth"]
    # The histogram counts below the median half of the sentences, and none below 0.
    assert costs.ranks([0.0, costs.median, 99.0, np.nan]) == pytest.approx([0, 0.5, 1, np.nan], nan_ok=True)


@pytest.mark.parametrize("scores", [None, 3, b"overlap", {"overlap": 1}, [b"overlap"], [["overlap"]]])
def test_scores_that_are_none_are_a_type_error(scores: object) -> None:
    with pytest.raises(TypeError, match="'scores' must be names of scores, scorers or functions"):
        score([("a", "b")], scores)


def test_options_of_numpy() -> None:
    pairs = as_pairs([("a", "b"), ("a", "b")]).score(np.array(["overlap"]))
    assert len(pairs.filter("src < tgt", distinct=np.bool_(True))) == 1
    assert len(pairs.filter("src < tgt", distinct=np.bool_(False))) == 2


def test_one_column_is_a_list_of_one() -> None:
    assert len(as_pairs([("a b c d", "b"), ("a b c d", "c")]).drop_duplicates(columns="src")) == 1


@pytest.mark.parametrize("path", [None, 3, b"pairs.tsv"])
def test_pairs_are_written_to_a_path_only(path: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TypeError, match=f"expected a path, got {type(path).__name__}"):
        as_pairs(TUPLES).write(path)
    assert not list(tmp_path.iterdir())


def test_bytes_are_not_a_translator() -> None:
    with pytest.raises(TypeError, match="expected a translator, its name or folder, or a function, got bytes"):
        as_pairs(TUPLES).backtranslate(b"de-en")  # type: ignore[arg-type]


def test_columns_by_numbers_of_numpy(tmp_path: Path) -> None:
    (tmp_path / "three.tsv").write_text("a\tb\tc\n")
    (row,) = read_pairs(tmp_path / "three.tsv", src_column=np.int64(3), tgt_column=np.int32(1)).to_list()
    assert (row["src"], row["tgt"]) == ("c", "a")


def test_pairs_on_standard_input_or_a_pipe_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for source in ("-", "/dev/stdin", tmp_path / "pipe"):
        with pytest.raises(ConfigError, match=r"cannot be read more than once\.\nWrite the pairs to a file"):
            read_pairs(source)
