"""Folders of Hugging Face `datasets`: read as pairs and texts with pyarrow alone, written for `load_from_disk`."""

from __future__ import annotations

import json
import tracemalloc
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paraloom
from paraloom.core.digests import file_digest
from paraloom.core.errors import ConfigError, DataError, ParaloomError, RunError
from paraloom.core.schema import PAIRS
from paraloom.io import read_pairs, write_table
from paraloom.io.formats.hf_datasets import dataset_schema, read_dataset
from paraloom.io.formats.names import is_dataset
from paraloom.io.texts import read_texts

STRUCT = pa.struct([("de", pa.string()), ("en", pa.string())])
WMT = pa.table(
    {
        "id": ["a", "b", "c"],
        "translation": pa.array(
            [{"de": "eins", "en": "one"}, {"de": "zwei", "en": "two"}, {"de": "drei", "en": "three"}], STRUCT
        ),
    }
)
SIDES = pa.table({"score": [0.5, 0.25], "src": ["eins", "zwei"], "tgt": ["one", "two"]})


def save(folder: Path, *tables: pa.Table) -> Path:
    """A folder as `Dataset.save_to_disk` lays it out, with a file for each table."""
    folder.mkdir(parents=True)
    names = [f"data-{number:05d}-of-{len(tables):05d}.arrow" for number in range(len(tables))]
    for name, table in zip(names, tables, strict=True):
        with pa.OSFile(str(folder / name), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": name} for name in names]}))
    (folder / "dataset_info.json").write_text("{}")
    return folder


def rows(source: Path, **options: Any) -> list[tuple[str, ...]]:
    """Source, target, their languages and the identifier of each pair."""
    names = ("src", "tgt", "src_lang", "tgt_lang", "pair_id")
    return [tuple(row[name] for name in names) for batch in read_pairs(source, **options) for row in batch.to_pylist()]


def test_the_column_translation(tmp_path: Path) -> None:
    folder = save(tmp_path / "wmt", WMT, WMT.slice(1))
    pairs = [("eins", "one"), ("zwei", "two"), ("drei", "three"), ("zwei", "two"), ("drei", "three")]
    expected = [(*pair, "de", "en", f"wmt:{row}") for row, pair in enumerate(pairs, start=1)]
    assert rows(folder) == expected
    swapped = [(tgt, src, "en", "de", name) for src, tgt, _, _, name in expected]
    assert rows(folder, src_lang="en") == rows(folder, tgt_lang="de") == swapped
    assert rows(folder, src_column="en", tgt_column="de") == swapped
    assert rows(folder, skip=1, limit=2) == expected[1:3]


def test_the_column_translation_of_a_parquet_file(tmp_path: Path) -> None:
    pq.write_table(WMT, tmp_path / "train.parquet")
    assert rows(tmp_path / "train.parquet")[0] == ("eins", "one", "de", "en", "train:1")
    assert rows(tmp_path / "train.parquet", src_lang="en")[0] == ("one", "eins", "en", "de", "train:1")


def test_more_than_two_languages(tmp_path: Path) -> None:
    struct = pa.struct([(lang, pa.string()) for lang in ("cs", "de", "en")])
    table = pa.table({"translation": pa.array([{"cs": "dva", "de": "zwei", "en": "two"}], struct)})
    folder = save(tmp_path / "data", table)
    assert rows(folder, src_lang="cs", tgt_lang="en") == [("dva", "two", "cs", "en", "data:1")]
    for options in ({}, {"src_lang": "cs"}):
        with pytest.raises(ConfigError, match="has the languages cs, de, en"):
            rows(folder, **options)
    with pytest.raises(ConfigError, match="language 'fr' not found in the column 'translation'"):
        rows(folder, src_lang="fr", tgt_lang="en")


COLUMNS: list[tuple[Sequence[str], dict[str, Any], tuple[str, ...]]] = [
    (("src", "tgt"), {}, ("A b.", "C d.", "und", "und")),
    (("de", "en"), {}, ("A b.", "C d.", "de", "en")),
    (("german", "english"), {}, ("A b.", "C d.", "de", "en")),
    (("sentence1", "sentence2"), {"src_lang": "en"}, ("A b.", "C d.", "en", "und")),
    (("this", "that"), {}, ("A b.", "C d.", "und", "und")),
    (("this", "that"), {"src_column": "that", "tgt_column": "this"}, ("C d.", "A b.", "und", "und")),
    (("this", "that"), {"src_column": 2, "tgt_column": 1}, ("C d.", "A b.", "und", "und")),
]


@pytest.mark.parametrize(("names", "options", "expected"), COLUMNS)
def test_two_text_columns(
    names: Sequence[str], options: dict[str, Any], expected: tuple[str, ...], tmp_path: Path
) -> None:
    table = pa.table({names[0]: ["A b."], names[1]: pa.array(["C d."], pa.large_string()), "number": [1]})
    assert rows(save(tmp_path / "data", table), **options) == [(*expected, "data:1")]


def test_columns_that_are_not_clear(tmp_path: Path) -> None:
    folder = save(tmp_path / "data", pa.table({"a": ["x"], "b": ["y"], "c": ["z"]}))
    with pytest.raises(ConfigError, match="not clear; the columns are a, b, c"):
        rows(folder)
    with pytest.raises(ConfigError, match="column 'd' not found"):
        rows(folder, src_column="a", tgt_column="d")


def test_splits(tmp_path: Path) -> None:
    """A split is named as its folder; a single one needs no name."""
    save(tmp_path / "all" / "train", WMT)
    save(tmp_path / "all" / "test", WMT.slice(2))
    (tmp_path / "all" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert len(rows(tmp_path / "all" / "test")) == 1
    with pytest.raises(ConfigError, match="several splits: train, test") as raised:
        rows(tmp_path / "all")
    assert str(tmp_path / "all" / "train") in str(raised.value)
    (tmp_path / "all" / "dataset_dict.json").write_text('{"splits": ["test"]}')
    assert rows(tmp_path / "all") == [("drei", "three", "de", "en", "all:1")]


def test_rows_that_cannot_be_read(tmp_path: Path) -> None:
    """A null of a side or of the whole struct, and text that is not UTF-8."""
    bad = not_utf8()
    struct = pa.StructArray.from_arrays([bad, pa.array(["one", "two"])], ["de", "en"])
    nulls = pa.array([None, {"de": None, "en": "three"}], STRUCT)
    folder = save(tmp_path / "data", pa.table({"translation": struct}), pa.table({"translation": nulls}))
    reasons: list[tuple[int, str]] = []
    batches = list(read_pairs(folder, on_reject=lambda row, reason, raw: reasons.append((row, reason))))
    assert [row["src"] for batch in batches for row in batch.to_pylist()] == ["fine"]
    assert [(row, reason[:30]) for row, reason in reasons] == [
        (2, "the line is not valid UTF-8 (b"),
        (3, "'de' is null"),
        (4, "'de' is null"),
    ]
    with pytest.raises(DataError) as raised:
        list(read_pairs(folder))
    assert (raised.value.file, raised.value.row) == (str(folder), 2)


def not_utf8() -> pa.StringArray:
    """Two texts, the second of which is not UTF-8."""
    values = pa.array([b"fine", b"not \xff"], pa.binary())
    return pa.StringArray.from_buffers(2, *values.buffers()[1:])


def test_texts_that_are_not_utf8(tmp_path: Path) -> None:
    folder = save(tmp_path / "data", pa.table({"text": not_utf8()}))
    with pytest.raises(DataError, match="not valid UTF-8") as raised:
        list(read_texts(folder))
    assert (raised.value.file, raised.value.row) == (str(folder), 2)
    assert [(row.text, bool(row.error)) for row in read_texts(folder, reject=True)] == [
        ("fine", False),
        ("not \\xff", True),
    ]


def damaged(folder: Path, how: str) -> None:
    """Damage a data set."""
    data = folder / "data-00000-of-00001.arrow"
    state = folder / "state.json"
    match how:
        case "truncated":
            data.write_bytes(data.read_bytes()[:400])
        case "missing":
            data.unlink()
        case "noise":
            data.write_bytes(b"\x00\xff" * 500)
        case "empty":
            data.write_bytes(b"")
        case "state":
            state.write_text("{")
        case "list":
            state.write_text("[]")
        case "nothing":
            state.write_text("{}")
        case "outside":
            state.write_text('{"_data_files": [{"filename": "../secret.arrow"}]}')
        case "indices":
            state.write_text('{"_data_files": [], "_indices_data_files": [{"filename": "i.arrow"}]}')


@pytest.mark.parametrize(
    "how", ["truncated", "missing", "noise", "empty", "state", "list", "nothing", "outside", "indices"]
)
def test_damaged_folders(how: str, tmp_path: Path) -> None:
    folder = save(tmp_path / "data", WMT)
    damaged(folder, how)
    with pytest.raises(DataError) as raised:
        rows(folder)
    assert str(folder) in str(raised.value.file)
    assert raised.value.remedy


def rewritten(path: Path, change: Callable[[bytearray], object]) -> None:
    """Change the bytes of a file."""
    content = bytearray(path.read_bytes())
    change(content)
    path.write_bytes(content)


def flipped(path: Path, near: bytes, offset: int = 0) -> None:
    """Flip the lowest bit of a byte, so many bytes after others."""

    def flip(content: bytearray) -> None:
        content[content.index(near) + offset] ^= 1

    rewritten(path, flip)


def readers(folder: Path) -> tuple[Callable[[], object], ...]:
    """All that reads a data set."""
    return (
        lambda: rows(folder),
        lambda: list(read_dataset(folder)),
        lambda: list(read_texts(folder, "src")),
    )


def test_a_flipped_letter_of_what_paraloom_wrote(tmp_path: Path) -> None:
    """Digests are known: the file is refused before anything of it is read."""
    write_table(pair_table(3), tmp_path / "a.dataset")
    entries = json.loads((tmp_path / "a.dataset" / "state.json").read_text())["_data_files"]
    data = tmp_path / "a.dataset" / entries[0]["filename"]
    assert entries == [{"filename": data.name, "sha256": file_digest(data)}]
    flipped(data, b"p:0p:1", 5)
    for read in (
        lambda: rows(data.parent),
        lambda: list(read_dataset(data.parent)),
        lambda: list(read_texts(data.parent, "src")),
    ):
        with pytest.raises(DataError, match=r"the file has changed since state\.json was written") as raised:
            read()
        assert raised.value.file == str(data)


def test_a_file_that_is_taken_out_of_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraloom.io.formats.hf_datasets._FILE_ROWS", 1000)
    write_table(pair_table(2500), tmp_path / "a.dataset")
    state = tmp_path / "a.dataset" / "state.json"
    value = json.loads(state.read_text())
    del value["_data_files"][1]
    state.write_text(json.dumps(value))
    with pytest.raises(DataError, match="the list of its files has changed"):
        rows(state.parent)


def test_offsets_that_lead_out_of_the_buffers(tmp_path: Path) -> None:
    """Without digests: Arrow would read past the end of the mapped file, and be killed by the system."""
    folder = save(tmp_path / "data", SIDES)
    offsets = np.array([0, 4, 8], np.int32).tobytes()
    rewritten(folder / "data-00000-of-00001.arrow", lambda content: change_offset(content, offsets))
    for read in readers(folder):
        with pytest.raises(DataError, match="truncated or corrupt"):
            read()


def change_offset(content: bytearray, offsets: bytes) -> None:
    """Make the last of some offsets, those of a column of text, too large by 2²⁴."""
    content[content.index(offsets) + len(offsets) - 1] = 1


def test_a_stream_that_is_cut_between_two_batches(tmp_path: Path) -> None:
    """Arrow takes the end of the file for the end of the stream: rows would be missing in silence."""
    folder = save(tmp_path / "data", SIDES)
    data = folder / "data-00000-of-00001.arrow"
    with pa.OSFile(str(data), "wb") as sink, pa.ipc.new_stream(sink, SIDES.schema) as writer:
        writer.write_table(SIDES)
        end = sink.tell()
        writer.write_table(SIDES)
    assert len(rows(folder)) == 4
    whole = data.read_bytes()
    data.write_bytes(whole[:end])
    with pytest.raises(DataError, match="its stream has no end"):
        rows(folder)
    data.write_bytes(whole[:end] + b"\xff\xff\xff\xff\x00\x00\x00\x00" + whole[end:])
    with pytest.raises(DataError, match="or ends too early"):
        rows(folder)


def test_a_name_of_a_column_that_is_not_utf8(tmp_path: Path) -> None:
    folder = save(tmp_path / "data", SIDES)
    rewritten(folder / "data-00000-of-00001.arrow", lambda content: content.__setitem__(content.index(b"tgt"), 0xFF))
    with pytest.raises(DataError, match="truncated or corrupt"):
        rows(folder)


def test_files_with_other_columns(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the columns differ"):
        rows(save(tmp_path / "data", SIDES, SIDES.drop_columns(["score"])))


def test_reading_is_streamed(tmp_path: Path) -> None:
    """Of one large record batch, rows become objects of Python a thousand at a time."""
    table = pa.table({"src": ["x" * 100] * 50_000, "tgt": ["y" * 100] * 50_000})
    folder = save(tmp_path / "data", table.combine_chunks())
    assert max(batch.num_rows for batch in read_dataset(folder)) == 1024
    tracemalloc.start()
    count = sum(batch.num_rows for batch in read_pairs(folder))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 50_000
    assert peak < 3e6  # all rows as objects would take more than 14 MB


def test_texts(tmp_path: Path) -> None:
    folder = save(tmp_path / "data", pa.table({"text": ["A.", None], "other": ["B.", "C."]}))
    assert [row.text for row in read_texts(folder)] == ["A.", ""]
    assert [row.text for row in read_texts(folder, "other")] == ["B.", "C."]
    assert [row.text for row in read_texts(folder, -1)] == ["B.", "C."]
    wmt = save(tmp_path / "wmt", WMT)
    assert [row.text for row in read_texts(wmt, "en")] == ["one", "two", "three"]
    with pytest.raises(ConfigError, match="column 'txet' not found; did you mean 'text'"):
        list(read_texts(folder, "txet"))
    with pytest.raises(ConfigError, match="not clear"):
        list(read_texts(save(tmp_path / "two", SIDES)))


def test_sentences_of_a_pipeline(tmp_path: Path) -> None:
    folder = save(tmp_path / "wmt", WMT)
    stage = paraloom.stages.ReadSentences(text_files=[folder], field="en")
    result = paraloom.Pipeline([stage]).run(tmp_path / "run", engine="inline")
    assert result.stages[-1].counts.kept == 3


def pair_table(count: int) -> pa.Table:
    """Pairs with a score."""
    values = [[f"p:{n}" for n in range(count)], ["a"] * count, ["b"] * count, ["de"] * count, ["en"] * count]
    table = pa.table([*values, ["p"] * count], schema=PAIRS)
    scores = pa.field("overlap", pa.float32(), metadata={"signature": "overlap|version:1"})
    return table.append_column(scores, pa.array([0.5] * count, pa.float32()))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """With all columns; the bytes do not depend on the sizes of the batches."""
    table = pair_table(2500)
    assert write_table(table, tmp_path / "a.dataset") == 2500
    write_table(table.to_batches(max_chunksize=7), tmp_path / "b.dataset")
    names = ["data-00000-of-00001.arrow", "dataset_info.json", "state.json"]
    assert sorted(path.name for path in (tmp_path / "a.dataset").iterdir()) == names
    for name in names:
        assert (tmp_path / "a.dataset" / name).read_bytes() == (tmp_path / "b.dataset" / name).read_bytes()
    again = paraloom.read_pairs(tmp_path / "a.dataset").to_arrow()
    assert again.equals(table)
    assert again.schema.field("overlap").metadata == {b"signature": b"overlap|version:1"}


def test_written_whole_or_not_at_all(tmp_path: Path) -> None:
    table = pair_table(3)

    def broken() -> Any:
        yield table.to_batches()[0]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_table(broken(), tmp_path / "a.dataset")
    assert not list(tmp_path.iterdir())


def test_existing_folders(tmp_path: Path) -> None:
    """One of something else is never replaced; a data set by a command that says so only."""
    (tmp_path / "a.dataset").mkdir()
    (tmp_path / "a.dataset" / "thesis.txt").write_text("mine")
    with pytest.raises(ConfigError, match="holds something else"):
        write_table(pair_table(3), tmp_path / "a.dataset")
    paraloom.as_pairs([("a", "b")]).write(tmp_path / "b.dataset", engine="inline")
    with pytest.raises(RunError, match="the folder already holds a data set"):
        paraloom.as_pairs([("a", "c")]).write(tmp_path / "b.dataset", engine="inline")


def test_files_are_split_by_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraloom.io.formats.hf_datasets._FILE_ROWS", 1000)
    write_table(pair_table(2500), tmp_path / "a.dataset")
    assert len(list((tmp_path / "a.dataset").glob("data-*-of-00003.arrow"))) == 3
    assert sum(batch.num_rows for batch in read_pairs(tmp_path / "a.dataset")) == 2500


def test_with_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `datasets` saves is read, and what is written it opens."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    features = datasets.Features({"translation": datasets.Translation(languages=["de", "en"])})
    values = {"translation": [{"de": "eins", "en": "one"}, {"de": "zwei", "en": "two"}, {"de": "drei", "en": "three"}]}
    dataset = datasets.Dataset.from_dict(values, features=features)
    splits = datasets.DatasetDict({"train": dataset.shuffle(seed=3), "test": dataset.select([2, 0])})
    splits.save_to_disk(tmp_path / "saved", num_shards={"train": 2, "test": 1})
    assert is_dataset(tmp_path / "saved")
    assert [row[:4] for row in rows(tmp_path / "saved" / "test")] == [
        ("drei", "three", "de", "en"),
        ("eins", "one", "de", "en"),
    ]
    shuffled = [pair["en"] for pair in splits["train"]["translation"]]
    assert [row[1] for row in rows(tmp_path / "saved" / "train")] == shuffled

    table = pair_table(2500)
    write_table(table, tmp_path / "written.dataset")
    opened = datasets.load_from_disk(str(tmp_path / "written.dataset"))
    assert opened.column_names == table.column_names
    assert opened.num_rows == 2500
    assert opened[2499] == table.slice(2499).to_pylist()[0]


def test_at_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is fetched, and read as a local one."""
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    monkeypatch.setenv("PARALOOM_CACHE", str(tmp_path / "cache"))
    save(tmp_path / "wmt" / "test", WMT)
    fsspec.filesystem("memory").put(str(tmp_path / "wmt"), "/hub/wmt", recursive=True)
    assert len(rows(Path("memory://hub/wmt/test"))) == 3


def test_columns_that_are_not_read_are_named(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="only the sentences are read, not the columns score"):
        pairs = paraloom.read_pairs(save(tmp_path / "data", SIDES))
    assert len(pairs) == 2
    (tmp_path / "a.tsv").write_text("score\tde\ten\n0.9\tEin Hund.\tA dog.\n")
    with pytest.warns(UserWarning, match="only the sentences are read, not the columns score"):
        assert len(paraloom.read_pairs(tmp_path / "a.tsv")) == 1
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*only the sentences")
        assert len(paraloom.read_pairs(tmp_path / "a.tsv", src_column="score", tgt_column="en")) == 1


def test_the_error_of_an_unknown_format_names_it(tmp_path: Path) -> None:
    with pytest.raises(ParaloomError, match=r"\.dataset, folders and Moses pairs"):
        write_table(pair_table(1), tmp_path / "a.hdf5")


def test_names_of_files_and_columns_must_be_text(tmp_path: Path) -> None:
    struct = pa.struct([("de", pa.string()), ("en", pa.string())])
    table = pa.table({"translation": pa.array([{"de": "eins", "en": "one"}], struct)})
    folder = tmp_path / "a.dataset"
    folder.mkdir()
    with pa.OSFile(str(folder / "data.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    (folder / "dataset_info.json").write_text("{}")
    state = '{"_data_files": [{"filename": "data.arrow"}], "_fingerprint": "a"}'
    (folder / "state.json").write_text(state)
    content = (folder / "data.arrow").read_bytes()
    (folder / "data.arrow").write_bytes(content.replace(b"\x02\x00\x00\x00de", b"\x02\x00\x00\x00\xd1e", 1))
    assert (folder / "data.arrow").read_bytes() != content
    with pytest.raises(DataError, match="corrupt"):
        dataset_schema(folder)
    (folder / "state.json").write_text(state.replace("data.arrow", r"\ud800"))
    with pytest.raises(DataError, match="names of its files"):
        dataset_schema(folder)
