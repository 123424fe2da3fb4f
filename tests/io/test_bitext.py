"""Bitext: round trips in all formats, and the error message of each kind of bad input."""

from __future__ import annotations

import json
import math
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paraloom.core.errors import ConfigError, DataError, ParaloomError
from paraloom.core.schema import PAIRS, VARIANTS
from paraloom.io import Corpus, read_pairs, write_pairs, write_table
from paraloom.io.bitext import Rows
from paraloom.io.compression import open_write
from paraloom.io.records import read_records

COMPRESSED = ["", ".gz", ".zst", ".xz"]
TARGETS = [f"t.{kind}{suffix}" for kind in ("tsv", "jsonl", "tmx", "de-en.{de,en}") for suffix in COMPRESSED]
TARGETS += ["t.parquet", "folder"]
ROWS = [("Ein „Satz“ & <mehr>", 'A "sentence" & <more>'), ("", "empty source"), (" Blank\u2028x ", "\x85 𝄞 {a,b}")]


def pairs(rows: list[tuple[str, str]], origin: str = "t") -> pa.RecordBatch:
    table = [
        {"pair_id": f"{origin}:{i}", "src": s, "tgt": t, "src_lang": "de", "tgt_lang": "en", "origin": origin}
        for i, (s, t) in enumerate(rows, 1)
    ]
    return pa.RecordBatch.from_pylist(table, schema=PAIRS)


def read(source: Path | str, **options: object) -> list[dict[str, str]]:
    batches = list(read_pairs(source, **options))  # type: ignore[arg-type]
    assert all(batch.schema.equals(PAIRS, check_metadata=True) for batch in batches)
    return pa.Table.from_batches(batches, PAIRS).to_pylist()


def sides(source: Path | str, **options: object) -> list[tuple[str, str]]:
    return [(row["src"], row["tgt"]) for row in read(source, **options)]


def write_file(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("target", TARGETS)
def test_round_trip(tmp_path: Path, target: str) -> None:
    assert write_pairs([pairs(ROWS)], tmp_path / target) == len(ROWS)
    assert read(tmp_path / target) == pairs(ROWS).to_pylist()
    assert [batch.num_rows for batch in read_pairs(tmp_path / target, batch_rows=2)] == [2, 1]
    assert not [path for path in tmp_path.rglob("*") if path.name.endswith(".tmp")]


NOT_JSON = {
    "when": (pa.array([datetime(2020, 1, 2), None]), "2020-01-02 00:00:00.000000"),
    "day": (pa.array([date(2020, 1, 2), None]), "2020-01-02"),
    "price": (pa.array([Decimal("1.10"), None]), "1.10"),
    "bytes": (pa.array([b"ab", None]), "ab"),
    "image": (pa.array([b"a\xff", None]), "a\\xff"),
    "images": (pa.array([[b"a\xff"], None]), ["a\\xff"]),
    "vector": (pa.array([[math.nan, 1.5], None]), [None, 1.5]),
    "facts": (pa.array([{"a": math.inf, "at": date(2020, 1, 2)}, None]), {"a": None, "at": "2020-01-02"}),
    "kind": (pa.array([7, None]).dictionary_encode(), "7"),
}


@pytest.mark.parametrize("name", NOT_JSON)
def test_values_that_json_has_no_type_for(tmp_path: Path, name: str) -> None:
    def refuse(constant: str) -> object:
        raise AssertionError(constant)

    column, expected = NOT_JSON[name]
    table = pa.Table.from_batches([pairs(ROWS[:2])]).append_column(name, column)
    for target in ("t.jsonl", "t.csv", "t.tsv"):
        assert write_table(table, tmp_path / target) == 2
    lines = (tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line, parse_constant=refuse)[name] for line in lines] == [expected, None]
    cells = [record.values[name] for record in read_records(tmp_path / "t.csv")]
    assert cells == [expected if isinstance(expected, str) else json.dumps(expected), ""]


@pytest.mark.parametrize("column", ["pair_id", "src", "src_lang"])
def test_tmx_refuses_what_xml_cannot_represent_in_every_column(tmp_path: Path, column: str) -> None:
    batch = pa.RecordBatch.from_pylist([pairs(ROWS).to_pylist()[0] | {column: "a\x01"}], schema=PAIRS)
    with pytest.raises(DataError, match=f"row 1: '{column}' has U\\+0001"):
        write_table(batch, tmp_path / "t.tmx")


@pytest.mark.parametrize("lang", ["en", "und"])
def test_tmx_of_paraphrases_is_read_again(tmp_path: Path, lang: str) -> None:
    rows = [row | {"src_lang": lang, "tgt_lang": lang} for row in pairs(ROWS).to_pylist()]
    write_pairs(pa.RecordBatch.from_pylist(rows, schema=PAIRS), tmp_path / "t.tmx")
    assert read(tmp_path / "t.tmx") == rows
    other = write_file(tmp_path / "other.tmx", (tmp_path / "t.tmx").read_text().replace('"paraloom"', '"other"'))
    assert sides(other, src_lang=lang, tgt_lang=lang) == ROWS
    empty = write_file(tmp_path / "empty.tmx", '<tmx><header creationtool="paraloom"/><body><tu></tu></body></tmx>')
    for file in (other, empty):
        with pytest.raises(DataError, match="row 1: expected texts in two languages"):
            read(file)


def test_tmx_of_numbered_pairs(tmp_path: Path) -> None:
    write_table(pa.table({"pair_id": [1], "src": ["a"], "tgt": ["b"]}), tmp_path / "t.tmx")
    assert '<tu tuid="1">' in (tmp_path / "t.tmx").read_text(encoding="utf-8")


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(*[st.text(st.characters(codec="utf-8", exclude_characters="\ufeff"))] * 2), min_size=1))
def test_any_text_round_trips_or_is_an_error(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    for target in ("t.jsonl", "t.parquet", "t.tsv", "t.tmx", "t.{de,en}"):
        try:
            write_pairs([pairs(rows)], tmp_path / target)
        except DataError as error:
            assert target in ("t.tsv", "t.tmx", "t.{de,en}")
            assert error.row is not None
            assert error.remedy
        else:
            assert sides(tmp_path / target) == rows


@pytest.mark.parametrize("target", ["t.tsv", "t.parquet", "t.tmx", "folder"])
@pytest.mark.parametrize("rows", [[], pairs([]), pa.Table.from_batches([pairs([])])], ids=["none", "batch", "table"])
def test_no_rows(tmp_path: Path, target: str, rows: Rows) -> None:
    assert write_pairs(rows, tmp_path / target) == 0
    assert read(tmp_path / target) == []


@pytest.mark.parametrize(
    ("name", "pair_id", "langs"),
    [
        ("train.cs-en.{cs,en}", "train:1", ("cs", "en")),
        ("train.{cs,en}", "train:1", ("cs", "en")),
        ("{cs,en}", "pairs:1", ("cs", "en")),
        ("news.cs-en.tsv", "news:1", ("cs", "en")),
        ("cs-en.tsv", "cs-en:1", ("cs", "en")),
        ("news.tsv", "news:1", ("und", "und")),
    ],
)
def test_origin_and_languages_from_names(tmp_path: Path, name: str, pair_id: str, langs: tuple[str, str]) -> None:
    if "{" in name:
        for lang in ("cs", "en"):
            write_file(tmp_path / name.replace("{cs,en}", lang), f"in {lang}\n")
    else:
        write_file(tmp_path / name, "in cs\tin en\n")
    expected = {"pair_id": pair_id, "src": "in cs", "tgt": "in en", "src_lang": langs[0], "tgt_lang": langs[1]}
    assert read(tmp_path / name) == [expected | {"origin": pair_id[:-2]}]
    (row,) = read(tmp_path / name, src_lang="sk", tgt_lang="en-GB", origin="mine")
    assert (row["src_lang"], row["tgt_lang"], row["pair_id"], row["origin"]) == ("sk", "en-GB", "mine:1", "mine")


@pytest.mark.parametrize(
    ("content", "src", "tgt", "expected"),
    [
        ("a\tb\nc\td\n", None, None, [("a", "b"), ("c", "d")]),
        ("a\tb", 2, 1, [("b", "a")]),
        ('1\t"a\tb"\n', 2, "3", [('"a', 'b"')]),
        ("n\tde\ten\n1\ta\tb\n", "de", "en", [("a", "b")]),
        ("n\tde\ten\n1\ta\tb\n", "en", 1, [("b", "1")]),
        ("score\ttgt\tsrc\n1\tb\ta\n", None, None, [("a", "b")]),
        ("a\tb\r\n\tb\r\n", None, None, [("a", "b"), ("", "b")]),
    ],
)
def test_tsv_columns(tmp_path: Path, content: str, src: object, tgt: object, expected: list[tuple[str, str]]) -> None:
    assert sides(write_file(tmp_path / "a.tsv", content), src_column=src, tgt_column=tgt) == expected


TMX = """<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd"><tmx version="1.4"><header/><body>
<tu><note>n</note><tuv xml:lang="DE-de"><prop>x</prop><seg>Hal<bpt>&lt;b></bpt><hi>lo</hi><ept>x</ept></seg></tuv>
<tuv lang="en_GB"><seg>Hello</seg></tuv><tuv xml:lang="en-US"><seg>Hi</seg></tuv></tu></body></tmx>"""


def test_tmx_of_other_programs(tmp_path: Path) -> None:
    file = write_file(tmp_path / "a.tmx", TMX)
    assert sides(file, src_lang="de", tgt_lang="en-US") == [("Hallo", "Hi")]
    with pytest.raises(
        DataError, match=r"row 1: expected one text in 'en' in the unit, got 2; its languages are DE-de, en_GB, en-US"
    ):
        read(file, src_lang="de", tgt_lang="en")
    with pytest.raises(DataError, match=r"expected one text in 'fr' in the unit, got 0"):
        read(file, src_lang="de", tgt_lang="fr")
    with pytest.raises(ConfigError, match=r"the first unit has DE-de, en_GB, en-US"):
        read(file)
    for encoding in ("utf-16", "iso-8859-1"):
        packed = TMX.replace('"1.0"', f'"1.0" encoding="{encoding}"').replace("Hallo", "Höllo").encode(encoding)
        assert sides(write_file(file, packed), src_lang="de", tgt_lang="en-US") == [("Hallo", "Hi")]


@pytest.mark.parametrize(
    ("columns", "langs"),
    [(("de", "en"), ("de", "en")), (("source", "target"), ("und", "und")), (("left", "right"), ("und", "und"))],
)
def test_columns_of_parquet_are_found_as_those_of_tables(
    tmp_path: Path, columns: tuple[str, str], langs: tuple[str, str]
) -> None:
    table = pa.table({"number": [1], columns[0]: ["Ein Hund."], columns[1]: ["A dog."]})
    pq.write_table(table, tmp_path / "a.parquet")
    write_file(tmp_path / "a.jsonl", json.dumps(table.to_pylist()[0]))
    for name in ("a.parquet", "a.jsonl") if columns[0] != "left" else ("a.parquet",):
        [row] = read(tmp_path / name)
        assert (row["src"], row["tgt"], row["src_lang"], row["tgt_lang"]) == ("Ein Hund.", "A dog.", *langs)


@pytest.mark.parametrize(
    ("first", "keys"),
    [
        ({"de": "Ein Hund.", "en": None, "comment": "checked"}, ("de", "en")),
        ({"source": "Ein Hund.", "target": None, "domain": "news"}, ("source", "target")),
        ({"phrase": "Ein Hund.", "paraphrase": None, "note": "checked"}, ("phrase", "paraphrase")),
        ({"translation": {"de": "Ein Hund.", "en": None}, "a": "x", "b": "y"}, ("de", "en")),
        ({"translation": None, "a": "x", "b": "y"}, ("de", "en")),
    ],
)
def test_a_null_in_the_first_object_is_no_other_side(
    tmp_path: Path, first: dict[str, object], keys: tuple[str, str]
) -> None:
    good: dict[str, object] = dict(zip(keys, ("Eine Katze.", "A cat."), strict=True))
    rows = [first, first | ({"translation": good} if "translation" in first else good)]
    write_file(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))
    bad: list[int] = []
    assert sides(tmp_path / "a.jsonl", on_reject=lambda row, *_: bad.append(row)) == [("Eine Katze.", "A cat.")]
    assert bad == [1]


@pytest.mark.parametrize(
    "value",
    [
        {"id": "a17", "text": "The dog sleeps well."},
        {"language": "English", "label": "entailment"},
        {"left": "Ein Hund.", "right": "A dog."},
        {"de": "Ein Hund.", "comment": "checked"},
        {"translation": {"text": "Ein Hund.", "source": "a book"}},
    ],
)
def test_any_two_texts_of_json_are_not_a_pair(tmp_path: Path, value: dict[str, object]) -> None:
    write_file(tmp_path / "a.jsonl", json.dumps(value))
    with pytest.raises(DataError, match="row 1: key 'src' not found; the keys are "):
        read(tmp_path / "a.jsonl")


def test_column_translation_of_json(tmp_path: Path) -> None:
    write_file(tmp_path / "a.jsonl", '{"id": 1, "translation": {"de": "Ein Hund.", "en": "A dog."}}\n' * 2)
    rows = read(tmp_path / "a.jsonl")
    assert [(row["src"], row["tgt"], row["src_lang"], row["tgt_lang"]) for row in rows] == [
        ("Ein Hund.", "A dog.", "de", "en")
    ] * 2
    assert sides(tmp_path / "a.jsonl", src_lang="en") == [("A dog.", "Ein Hund.")] * 2
    write_file(tmp_path / "a.jsonl", '{"de": 1, "en": "A dog."}\n{"de": "Ein Hund.", "en": "A dog."}')
    assert sides(tmp_path / "a.jsonl", on_reject=lambda *_: None) == [("Ein Hund.", "A dog.")]
    write_file(tmp_path / "a.jsonl", '{"\\ud800": "a", "b": "c"}')
    with pytest.raises(DataError, match="key 'src' not found"):
        read(tmp_path / "a.jsonl")


def test_columns_of_parquet_that_are_not_clear(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": ["x"], "b": ["y"], "c": ["z"]}), tmp_path / "a.parquet")
    with pytest.raises(ConfigError, match="the columns of the two sides are not clear; the columns are a, b, c"):
        read(tmp_path / "a.parquet")


def test_other_columns_of_json_and_parquet(tmp_path: Path) -> None:
    row = {"de": "a", "en": "b", "score": 0.5}
    write_file(tmp_path / "a.jsonl", json.dumps(row) + "\n\n" + json.dumps(row))
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "a.parquet")
    with open_write(tmp_path / "a.parquet.zst") as stream:
        stream.write((tmp_path / "a.parquet").read_bytes())
    assert sides(tmp_path / "a.jsonl", src_column="de", tgt_column="en") == [("a", "b")] * 2
    for name in ("a.parquet", "a.parquet.zst"):
        assert sides(tmp_path / name, src_column="de", tgt_column="en") == [("a", "b")]


BOMB = '<!DOCTYPE t [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><tmx><body><tu><tuv><seg>&b;</seg></tuv></tu></body></tmx>'
FOREIGN = '<!DOCTYPE t SYSTEM "x.dtd"><tmx><body><tu><tuv><seg>&uuml;</seg></tuv></tu></body></tmx>'
UNIT = '<tu><tuv xml:lang="de"><seg>a</seg></tuv><tuv xml:lang="en"><seg>b</seg></tuv></tu>'


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("a.tsv", "a\tb\nc\n", {}, r"a.tsv, row 2: expected 2 fields as in the first row, got 1"),
        ("a.tsv", "a\tb\nc\td\te\n", {}, r"row 2: expected 2 fields as in the first row, got 3"),
        ("a.tsv", b"a\tb\nc\xe9\td\n", {}, r"row 2: the line is not valid UTF-8 \(byte 0xe9 at 1\)"),
        ("a.tsv", b"a\xe9\tb\n", {}, r"row 1: the line is not valid UTF-8"),
        ("a.tsv", "a\n", {}, r"expected two columns, got one: 1: 'a'"),
        ("a.tsv", "x\ty\tz\n", {}, r"which two of 3 columns.*1: 'x'  2: 'y'  3: 'z'.\nSet --src-column.*\(cut -f\)"),
        (
            "a.tsv",
            "de\ten\n",
            {"src_column": "dee", "tgt_column": "en"},
            r"column 'dee' not found in the header; did you mean 'de'\?",
        ),
        ("a.tsv", "de\ten\n", {"src_column": 1, "tgt_column": 3}, r"column 3 not found; the first row has 2"),
        ("a.tsv", "", {}, "the file is empty"),
        ("a.jsonl", '{"src": "a", "tgt": "b"}\n{"src": "a"\n', {}, r"row 2: the line is not valid JSON"),
        ("a.jsonl", '["a", "b"]\n', {}, r"row 1: expected a JSON object, got list"),
        ("a.jsonl", '{"src": "a", "text": "b"}\n', {}, r"row 1: key 'tgt' not found; the keys are src, text"),
        (
            "a.jsonl",
            '{"id": 1, "text": {"de": "a", "en": "b"}}\n',
            {},
            r"row 1: key 'src' not found; the keys are id, text.de, text.en",
        ),
        ("a.jsonl", '{"src": "a", "tgt": 3}\n', {}, r"row 1: 'tgt' must be text, got 3"),
        ("a.jsonl", '{"src": "a", "tgt": "\\ud800"}\n', {}, r"row 1: 'tgt' has half of a surrogate pair"),
        ("a.jsonl", "[" * 100_000, {}, r"row 1: the line is not valid JSON"),
        ("a.parquet", "PAR1 no", {}, r"a.parquet: the file is truncated, corrupt"),
        ("a.tmx", BOMB, {}, r"row 1: the file uses a declared entity, &a;"),
        ("a.tmx", '<?xml version="1.0" encoding="no-such"?><tmx/>', {}, "row 1: the XML is invalid .*unknown encoding"),
        ("a.tmx", '<?xml version="1.0" encoding="shift_jis"?><tmx/>', {}, "row 1: the XML is invalid .*multi-byte"),
        ("a.jsonl", '{"\\ud800": 1}', {}, r"row 1: key 'src' not found; the keys are \\ud800"),
        pytest.param("a.tsv", "\t" * 1_000_000, {}, "cannot tell which two of 1000001 columns", id="tabs"),
        pytest.param("a.jsonl", "[" * 100_000, {}, "row 1: the line is not valid JSON", id="deep"),
        ("a.tmx", FOREIGN, {}, r"row 1: the file uses a declared entity, &uuml;"),
        ("a.tmx", f"<tmx><body>{UNIT}<tu>", {}, r"row 2: the XML is invalid or truncated"),
        ("a.tmx", f"<tmx><body>{UNIT}</b>", {}, r"row 2: the XML is invalid or truncated \(mismatched tag"),
        (
            "a.tmx",
            f"<tmx><body>{UNIT}<tu></tu></body></tmx>",
            {},
            r"row 2: expected one text in 'de' in the unit, got 0",
        ),
        ("a.tmx", b"<tmx><seg>\xff</seg></tmx>", {}, r"the XML is invalid"),
        ("a.docx", "x", {}, r"unknown format '.docx'; known are .tsv"),
        ("a", "x", {}, r"folder not found"),
    ],
)
def test_bad_file(tmp_path: Path, name: str, content: str | bytes, options: dict[str, object], message: str) -> None:
    with pytest.raises(ParaloomError, match=message) as caught:
        read(write_file(tmp_path / name, content), **options)
    assert name in str(caught.value)
    assert isinstance(caught.value, DataError | ConfigError)


@pytest.mark.parametrize("counts", [(3, 2), (2, 3), (5000, 1)])
def test_moses_files_of_different_length(tmp_path: Path, counts: tuple[int, int]) -> None:
    for name, count in zip(("cs", "en"), counts, strict=True):
        write_file(tmp_path / f"train.{name}", "x\n" * count)
    for on_reject in (None, lambda *_: None):
        with pytest.raises(DataError, match=rf"train.cs has {counts[0]} lines, train.en has {counts[1]}\.\nBoth files"):
            read(tmp_path / "train.{cs,en}", on_reject=on_reject)


def test_missing_or_invalid_file_of_a_moses_pair(tmp_path: Path) -> None:
    write_file(tmp_path / "train.cs", b"a\n\xff\n")
    with pytest.raises(DataError, match=r"train.en: file not found"):
        read(tmp_path / "train.{cs,en}")
    write_file(tmp_path / "train.en", "a\nb\n")
    with pytest.raises(DataError, match=r"train.cs, row 2: the line is not valid UTF-8 \(byte 0xff at 0\)"):
        read(tmp_path / "train.{cs,en}")


def parquet_with_faults(path: Path) -> Path:
    text = pa.Array.from_buffers(
        pa.string(),
        3,
        [None, pa.py_buffer(b"".join(i.to_bytes(4, "little") for i in (0, 1, 2, 3))), pa.py_buffer(b"a\xffc")],
    )
    pq.write_table(pa.table({"src": text, "tgt": pa.array(["x", "y", None])}), path)
    return path


@pytest.mark.parametrize(
    ("name", "content", "kept", "rejected"),
    [
        ("a.tsv", b"a\tb\nc\n\xff\td\ne\tf\n", [("a", "b"), ("e", "f")], {2: "c", 3: "\\xff\td"}),
        ("a.jsonl", '{"src": "a", "tgt": "b"}\n{"src": 1}\n', [("a", "b")], {2: '{"src": 1}'}),
        ("a.tmx", f"<tmx>{UNIT}<tu/>{UNIT}</tmx>", [("a", "b")] * 2, {2: "[]"}),
        ("a.parquet", None, [("a", "x")], {2: "(b'\\xff', 'y')", 3: "('c', None)"}),
    ],
)
def test_rejected_rows(
    tmp_path: Path, name: str, content: str | bytes | None, kept: list[tuple[str, str]], rejected: dict[int, str]
) -> None:
    file = parquet_with_faults(tmp_path / name) if content is None else write_file(tmp_path / name, content)
    seen: dict[int, str] = {}
    reasons = []

    def on_reject(row: int, reason: str, raw: str) -> None:
        seen[row] = raw
        reasons.append(reason)

    rows = read(file, on_reject=on_reject)
    assert [(row["src"], row["tgt"]) for row in rows] == kept
    assert seen == rejected
    assert all(reasons)
    # Row numbers count rejected rows too.
    assert not {int(row["pair_id"].split(":")[1]) for row in rows} & set(seen)


def test_parquet_faults(tmp_path: Path) -> None:
    file = parquet_with_faults(tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"a.parquet, row 2: the line is not valid UTF-8 \(byte 0xff at 0\)"):
        read(file)
    with pytest.raises(ConfigError, match=r"a.parquet: column 'sr' not found; did you mean 'src'"):
        read(file, src_column="sr")
    pq.write_table(pa.table({"src": [1], "tgt": ["a"]}), file)
    with pytest.raises(DataError, match=r"column 'src' must be text, got int64"):
        read(file)


@pytest.mark.parametrize(
    ("target", "text", "message"),
    [
        ("t.tsv", "a\tb", r"t.tsv, row 3: 'tgt' has a tab"),
        ("t.tsv", "a\nb", r"row 3: 'tgt' has a line feed"),
        ("t.tsv", "a\r", r"row 3: 'tgt' has a carriage return"),
        ("t.{de,en}", "a\nb", r"t.en, row 3: 'tgt' has a line feed"),
        ("t.tmx", "a\x00b", r"t.tmx, row 3: 'tgt' has U\+0000"),
    ],
)
def test_text_that_a_format_cannot_represent(tmp_path: Path, target: str, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        write_pairs([pairs([("a", "b"), ("c", "d")]), pairs([("e", text)])], tmp_path / target)
    assert list(tmp_path.iterdir()) == []


def test_tables(tmp_path: Path) -> None:
    table = pa.table(
        {
            "text": ["a", None],
            "score": pa.array([0.1, math.nan], pa.float32()),
            "keep": [True, False],
            "ids": [[1, 2], None],
        }
    )
    assert write_table(table, tmp_path / "t.tsv") == 2
    assert (tmp_path / "t.tsv").read_text() == "text\tscore\tkeep\tids\na\t0.1\ttrue\t[1, 2]\n\tnan\tfalse\t\n"
    write_table(table.select(["score", "ids"]), tmp_path / "t.jsonl")
    assert (tmp_path / "t.jsonl").read_text() == '{"score": 0.1, "ids": [1, 2]}\n{"score": null, "ids": null}\n'
    with pytest.raises(DataError, match="column 'src' is missing"):
        write_table(table, tmp_path / "t.tmx")
    with pytest.raises(DataError, match="no kind of corpus has only the columns"):
        write_table(table, tmp_path / "folder")
    with pytest.raises(ConfigError, match=r"compressed internally"):
        write_table(table, tmp_path / "t.parquet.gz")
    with pytest.raises(ConfigError, match=r"unknown format '.txt'"):
        write_table(table, tmp_path / "t.txt")


def test_folders_of_other_kinds(tmp_path: Path) -> None:
    write_table(VARIANTS.empty_table(), tmp_path / "variants")
    assert Corpus.open(tmp_path / "variants").kind == "VARIANTS"
    with pytest.raises(DataError, match="column 'src' is missing"):
        read(tmp_path / "variants")
    # A corpus has columns even without rows.
    write_table(Corpus.open(tmp_path / "variants"), tmp_path / "v.tsv")
    assert (tmp_path / "v.tsv").read_text() == "\t".join(VARIANTS.names) + "\n"


@pytest.mark.parametrize(
    ("source", "rows", "origin"),
    [
        ("tatoeba/de-en.tsv.gz", 169813, "de-en"),
        ("multi30k/task1/train.{cs,en}.gz", 29000, "train"),
        ("multi30k/task1/val.{de,en}.gz", 1014, "val"),
    ],
)
def test_real_bitext(data: Path, source: str, rows: int, origin: str) -> None:
    batches = list(read_pairs(data / "bitext" / source))
    assert sum(batch.num_rows for batch in batches) == rows
    last = batches[-1].slice(batches[-1].num_rows - 1).to_pylist()[0]
    assert (last["pair_id"], last["tgt_lang"]) == (f"{origin}:{rows}", "en")


def test_braces_of_an_existing_folder_are_its_name(tmp_path: Path) -> None:
    for folder, text in {"{a,b}": "own", "a": "foreign", "b": "foreign"}.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.tsv").write_text(f"{text}\t{text}\n")
        (tmp_path / folder / "m.de").write_text(f"{text}\n")
        (tmp_path / folder / "m.en").write_text(f"{text}\n")
    for name in ("x.tsv", "m.{de,en}"):
        (batch,) = read_pairs(tmp_path / "{a,b}" / name)
        assert batch.column("src").to_pylist() == ["own"]


def test_columns_by_numbers_of_numpy(tmp_path: Path) -> None:
    (tmp_path / "three.tsv").write_text("a\tb\tc\n")
    (batch,) = read_pairs(tmp_path / "three.tsv", src_column=np.int64(3), tgt_column=np.int64(1))
    assert (batch["src"].to_pylist(), batch["tgt"].to_pylist()) == (["c"], ["a"])


def test_a_name_that_two_columns_have_is_said(tmp_path: Path) -> None:
    (tmp_path / "twice.csv").write_text("src,tgt,src\na,b,c\n")
    with pytest.raises(ConfigError, match="2 columns have the name 'src'"):
        list(read_pairs(tmp_path / "twice.csv"))
    (tmp_path / "twice.csv").write_text("src,tgt,src,source,target\na,b,c,d,e\n")
    (batch,) = read_pairs(tmp_path / "twice.csv")
    assert (batch["src"].to_pylist(), batch["tgt"].to_pylist()) == (["d"], ["e"])


@pytest.mark.parametrize(
    ("name", "text"),
    [("pipe", "a\tb\n"), ("pipe.tsv", "a\tb\n"), ("pipe.csv", '"a",b\n'), ("pipe.jsonl", '{"src": "a", "tgt": "b"}\n')],
)
def test_pairs_from_a_pipe(name: str, text: str, tmp_path: Path) -> None:
    pipe = tmp_path / name
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        pool.submit(pipe.write_text, text)
        (batch,) = read_pairs(pipe)
    assert [batch[side].to_pylist() for side in ("src", "tgt")] == [["a"], ["b"]]


@pytest.mark.parametrize("name", ["memory.xlf", "memory.XLF", "memory.sdlxliff", "memory.xliff.gz"])
def test_a_converter_of_xliff_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=f"XLIFF is not read.\n.* tikal -2tmx {name}"):
        list(read_pairs(tmp_path / name))


@pytest.mark.parametrize("separator", ["\t", ";"])
def test_a_header_above_a_bad_row(tmp_path: Path, separator: str) -> None:
    file = tmp_path / ("a.tsv" if separator == "\t" else "a.csv")
    lines = (("de", "en"), ("Schöne Grüße", "Best regards"), ("Ein Hund.", "A dog."))
    file.write_bytes("\n".join(map(separator.join, lines)).encode("cp1252"))
    bad: list[int] = []
    [row] = read(file, on_reject=lambda number, *_: bad.append(number))
    assert (row["src"], row["src_lang"], row["pair_id"], bad) == ("Ein Hund.", "de", "a:2", [1])
