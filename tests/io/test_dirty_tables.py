"""Tables as people have them: CSV, headers, blank lines, empty sides, two files, units without a language."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.schema import PAIRS
from paraloom.io import read_pairs, write_table
from paraloom.io.bitext import check_target
from paraloom.io.formats.names import join_sides, sides
from paraloom.io.tables import check_lines, doubts_about


def read(path: Path | str, **options: object) -> list[tuple[str, str]]:
    batches = list(read_pairs(path, **options))  # type: ignore[arg-type]
    return [(row["src"], row["tgt"]) for row in pa.Table.from_batches(batches, PAIRS).to_pylist()]


def languages(path: Path | str, **options: object) -> tuple[str, str]:
    row = next(read_pairs(path, **options)).to_pylist()[0]  # type: ignore[arg-type]
    return row["src_lang"], row["tgt_lang"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Hallo.,Hello.\nTag.,Day.\n", [("Hallo.", "Hello."), ("Tag.", "Day.")]),
        ('"Ja, gut.","Yes, ""fine""."\nTag.,Day.\n', [("Ja, gut.", 'Yes, "fine".'), ("Tag.", "Day.")]),
        ("Ja, gut.;Yes, fine.\nNa, du;Well, you\n", [("Ja, gut.", "Yes, fine."), ("Na, du", "Well, you")]),
        ("a\tb\nc\td\n", [("a", "b"), ("c", "d")]),
        ('"two\nlines",b\nc,d\n', [("two\nlines", "b"), ("c", "d")]),
        ("source,target\r\na,b\r\n", [("a", "b")]),
        ("\ufeffsrc,tgt\na,b\n", [("a", "b")]),
        ("id,German,English\n1,Ein Hund.,A dog.\n", [("Ein Hund.", "A dog.")]),
    ],
)
def test_csv_as_spreadsheets_write_it(tmp_path: Path, content: str, expected: list[tuple[str, str]]) -> None:
    (tmp_path / "a.csv").write_bytes(content.encode())
    assert read(tmp_path / "a.csv") == expected


def test_bad_rows_of_csv_are_rejected_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b'a,b\nx,y,z\n\xff,c\n"x" y,z\n\nd,\n"e, f",g\n"never closed,h\n')
    rejected: list[tuple[int, str, str]] = []
    kept = read(
        tmp_path / "a.csv",
        on_reject=lambda *row: rejected.append(row),
        on_empty=lambda *row: rejected.append(row),
    )
    assert kept == [("a", "b"), ("e, f", "g")]
    assert [row for row, _, _ in rejected] == [2, 3, 4, 5, 6, 8]
    for (_, reason, _), part in zip(
        rejected,
        ["got 3", "not valid UTF-8", "not valid CSV", "are empty", "'tgt' is empty", "not valid CSV"],
        strict=True,
    ):
        assert part in reason
    with pytest.raises(DataError, match=r"row 2: expected 2 fields") as error:
        read(tmp_path / "a.csv")
    assert "--on-error reject" in str(error.value.remedy)


def test_csv_round_trip(tmp_path: Path) -> None:
    texts = ["plain", 'a "quoted", one', "two\nlines", "a\ttab", "a;b"]
    row = {"pair_id": "t:1", "src_lang": "de", "tgt_lang": "en", "origin": "t"}
    table = pa.Table.from_pylist([{**row, "src": text, "tgt": text} for text in texts], PAIRS)
    for name in ("t.csv", "t.csv.gz"):
        assert write_table(table, tmp_path / name) == len(texts)
        assert read(tmp_path / name) == [(text, text) for text in texts]
        assert languages(tmp_path / name) == ("de", "en")


@pytest.mark.parametrize(
    ("name", "header", "langs"),
    [
        ("a.tsv", "src\ttgt", ("und", "und")),
        ("a.tsv", "Source\tTarget", ("und", "und")),
        ("a.tsv", "de\ten", ("de", "en")),
        ("a.tsv", "German\tEnglish", ("de", "en")),
        ("a.de-en.tsv", "de\ten", ("de", "en")),
        ("a.de-en.tsv", "Deutsch\tEnglish", None),
        ("a.de-en.tsv", "fr\ten", None),
        ("a.tsv", "Hallo\tHello", None),
    ],
)
def test_headers_are_noticed(tmp_path: Path, name: str, header: str, langs: tuple[str, str] | None) -> None:
    (tmp_path / name).write_text(f"{header}\nEin Hund.\tA dog.\n")
    rows = [("Ein Hund.", "A dog.")]
    assert read(tmp_path / name) == (rows if langs else [tuple(header.split("\t")), *rows])
    if langs:
        assert languages(tmp_path / name) == langs


@pytest.mark.parametrize("name", ["a.tsv", "a.de-en.tsv"])
@pytest.mark.parametrize("below", ["", "\n", "\t\n"])
def test_a_header_of_languages_without_rows_is_not_a_pair(tmp_path: Path, name: str, below: str) -> None:
    (tmp_path / name).write_text(f"de\ten\n{below}")
    assert [pair for pair in read(tmp_path / name) if any(pair)] == []


@pytest.mark.parametrize("repeated", ["text", "sentence", "src"])
def test_a_header_of_two_equal_names_is_refused_unless_columns_are_numbered(tmp_path: Path, repeated: str) -> None:
    below = "Ein Hund.,A dog.\n"
    for content in (
        f"{repeated},{repeated}\n",
        f"{repeated},{repeated},id\na,b,1\n",
        f"{repeated},{repeated}\n{below}",
    ):
        (tmp_path / "a.csv").write_text(content)
        with pytest.raises(ConfigError, match=f"2 columns have the name '{repeated}'"):
            read(tmp_path / "a.csv")
    assert read(tmp_path / "a.csv", src_column=1, tgt_column=2) == [(repeated, repeated), ("Ein Hund.", "A dog.")]


@pytest.mark.parametrize("mark", ["\t", ","])
@pytest.mark.parametrize(
    ("first", "below"),
    [
        (("Text", "Text"), ("Haus", "house")),
        (("positive", "Positive"), ("Haus", "house")),
        (("Anchor", "anchor"), ("Haus", "house")),
        (("Text", "Text"), ("", "")),
        (("Phrase", "paraphrase"), ("Haus", "house")),
        (("Phrase", "paraphrase"), ("Guten Morgen.", "Good morning.")),
        (("it", "es"), ("", "")),
        (("ja", "no"), ("", "")),
    ],
)
def test_words_of_a_first_row_are_a_pair(
    tmp_path: Path, mark: str, first: tuple[str, str], below: tuple[str, str]
) -> None:
    rows = [first, below, ("Hund", "dog")]
    file = tmp_path / ("a.csv" if mark == "," else "a.tsv")
    file.write_text("".join(f"{mark.join(filter(None, row))}\n" for row in rows))
    assert read(file) == rows


def test_a_single_pair_of_words_that_are_codes_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("it\tes\n")
    assert read(tmp_path / "a.tsv") == [("it", "es")]


def test_a_lexicon_is_read_by_the_names_of_its_columns(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("phrase\tparaphrase\tpivots\tprobability\nbig\tlarge\t1\t0.5\n")
    assert read(tmp_path / "a.tsv") == [("big", "large")]


def test_a_header_of_codes_that_are_words_counts_if_languages_are_expected(tmp_path: Path) -> None:
    (tmp_path / "a.it-es.tsv").write_text("it\tes\n")
    (tmp_path / "three.tsv").write_text("id\tit\tes\n")
    for name in ("a.it-es.tsv", "three.tsv"):
        assert list(read_pairs(tmp_path / name)) == []


def test_codes_in_a_dictionary_are_words(tmp_path: Path) -> None:
    (tmp_path / "dictionary.tsv").write_text("es\tit\nund\tand\n")
    assert read(tmp_path / "dictionary.tsv") == [("es", "it"), ("und", "and")]


def test_two_of_several_columns_are_read_if_the_header_names_the_languages_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.de-en.tsv").write_text("de\ten\ten_second\nJa.\tYes.\tSure.\n")
    assert read(tmp_path / "a.de-en.tsv") == [("Ja.", "Yes.")]


def test_blank_lines_and_empty_sides(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a\tb\n\n \t \n\tc\nd\t\ne\tf\n")
    assert read(tmp_path / "a.tsv") == [("a", "b"), ("", ""), (" ", " "), ("", "c"), ("d", ""), ("e", "f")]
    reasons = []
    kept = read(tmp_path / "a.tsv", on_empty=lambda row, reason, _: reasons.append((row, reason)))
    assert kept == [("a", "b"), ("e", "f")]
    both = "'src' and 'tgt' are empty"
    assert reasons == [(2, both), (3, both), (4, "'src' is empty"), (5, "'tgt' is empty")]


def test_empty_rows_do_not_count_for_skip_and_limit(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a\tb\n\t\nc\td\n\t\ne\tf\n\t\ng\th\n")
    rows: list[int] = []
    kept = read(tmp_path / "a.tsv", on_empty=lambda row, *_: rows.append(row), skip=1, limit=2)
    assert (kept, rows) == ([("c", "d"), ("e", "f")], [2, 4]) or (kept, rows) == ([("c", "d"), ("e", "f")], [4])


TMX = (
    '<tmx version="1.4"><body><tu><tuv xml:lang="de"><seg>Ja.</seg></tuv><tuv><seg>Yes.</seg></tuv></tu>'
    '<tu><tuv xml:lang="de"><seg>Nein.</seg></tuv><tuv xml:lang="en"><seg>No.</seg></tuv></tu></body></tmx>'
)


def test_a_first_unit_without_a_language_does_not_decide_the_languages(tmp_path: Path) -> None:
    (tmp_path / "a.tmx").write_text(TMX)
    reasons: list[str] = []
    assert read(tmp_path / "a.tmx", on_reject=lambda row, reason, raw: reasons.append(reason)) == [("Nein.", "No.")]
    assert "its languages are de, no language" in reasons[0]
    with pytest.raises(DataError, match="row 1: expected texts in two languages"):
        read(tmp_path / "a.tmx")


@pytest.mark.parametrize(
    ("first", "second", "source", "langs", "stem"),
    [
        ("mine.de", "mine.en", "mine.{de,en}", ("de", "en"), "mine"),
        ("d/mine.de.gz", "d/mine.en.gz", "d/mine.{de,en}.gz", ("de", "en"), "mine"),
        ("mine.kal", "mine.en", "mine.{kal,en}", ("kal", "en"), "mine"),
        ("train_de.txt", "train_en.txt", "{train_de,train_en}.txt", ("de", "en"), "train"),
        ("german.txt", "english.txt", "{german,english}.txt", ("de", "en"), "pairs"),
        ("de/a.txt", "en/a.txt", "{de/a.txt,en/a.txt}", ("de", "en"), "a"),
        ("left", "right", "{left,right}", (None, None), "pairs"),
        ("türkisch.txt", "englisch.txt", "{türkisch,englisch}.txt", (None, None), "pairs"),
        ("corpus.src", "corpus.tgt", "corpus.{src,tgt}", (None, None), "corpus"),
        ("x.1.txt", "x.2.txt", "x.{1,2}.txt", (None, None), "x"),
    ],
)
def test_two_files_in_place_of_braces(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    first: str,
    second: str,
    source: str,
    langs: tuple[str | None, str | None],
    stem: str,
) -> None:
    assert join_sides(first, second) == source
    both = sides(source)
    assert both is not None
    assert (both.src, both.tgt, (both.src_lang, both.tgt_lang), both.stem) == (first, second, langs, stem)
    absolute = sides(join_sides(str(tmp_path / first), str(tmp_path / second)))
    assert absolute is not None and (absolute.src, absolute.tgt) == (str(tmp_path / first), str(tmp_path / second))


def test_files_that_cannot_be_two_sides() -> None:
    with pytest.raises(ConfigError, match="both sides are the same file"):
        join_sides("a.de", "a.de")
    with pytest.raises(ConfigError, match="a brace or a comma"):
        join_sides("a,b.de", "a.en")


def test_one_of_two_sides_alone_names_the_other(tmp_path: Path) -> None:
    for language in ("de", "en"):
        (tmp_path / f"mine.{language}").write_text("x\n")
    with pytest.raises(ConfigError) as error:
        read(tmp_path / "mine.de")
    assert "name both files, mine.de mine.en, or both with braces" in str(error.value)


@pytest.mark.parametrize("name", ["x.txt", "x.parquet.gz", "x.html"])
def test_formats_that_cannot_be_written_are_known_before_any_work(name: str) -> None:
    with pytest.raises(ConfigError):
        check_target(name)


@pytest.mark.parametrize("name", ["x.tsv", "x.csv.gz", "x.{de,en}", "x", "-", "x.tmx"])
def test_formats_that_can_be_written(name: str) -> None:
    check_target(name)


SENTENCES = "Ich bin hier.{0}I am here.\nWo bist du?{0}Where are you?\n"


@pytest.mark.parametrize(
    ("name", "content", "doubt"),
    [
        ("a.tsv", "Deutsch\tEnglisch\n" + SENTENCES.format("\t"), "--src-column Deutsch --tgt-column Englisch"),
        ("a.csv", "zdroj;cíl\n" + SENTENCES.format(";"), "--src-column zdroj --tgt-column 'cíl'"),
        ("a.csv", "texte source,texte cible\n" + SENTENCES.format(","), "--src-column 'texte source'"),
        ("a.tsv", '"de"\t"en"\n"Ja."\t"Yes."\n"Nein."\t"No."\n', "texts are quoted"),
        ("a.tsv", 'de\ten\n"Ja, ""ja""."\tYes.\nJa.\tYes.\n', "texts are quoted"),
        ("a.tsv", 'de\ten\n"Ja\tja."\tYes.\nJa.\tYes.\n', "texts are quoted"),
        ("a.tsv", 'de\ten\n"Ja.\nNein."\t"Yes.\nNo."\nJa.\tYes.\n', "texts are quoted"),
    ],
)
def test_rows_that_are_read_in_doubt_are_named(tmp_path: Path, name: str, content: str, doubt: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert doubt in " ".join(doubts_about(str(tmp_path / name), src_column=1, tgt_column=2))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tsv", "German\tEnglish\n" + SENTENCES.format("\t")),
        ("a.tsv", "Ja!\tYes!\n" + SENTENCES.format("\t")),
        ("a.tsv", "rot\tred\ngrün\tgreen\nblau\tblue\n"),
        ("a.tsv", "Titel\tTitle\n"),
        ("a.tsv", '"Ja", sagte er.\t"Yes," he said.\n"Komm.\t"Come here.\nDanke."\tThanks."\n'),
        ("a.csv", '"de";"en"\n"Ja."; "Yes."\n'),
    ],
)
def test_plain_tables_are_read_without_doubt(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert list(doubts_about(str(tmp_path / name))) == []


def test_columns_count_from_1(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a\tb\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="column 0 not found"):
        read(tmp_path / "a.tsv", src_column=0, tgt_column=1)


@pytest.mark.parametrize(("name", "mark"), [("a.tsv", "\t"), ("a.csv", ",")])
def test_a_name_of_two_columns_is_an_error(tmp_path: Path, name: str, mark: str) -> None:
    content = "".join(f"{mark.join(row)}\n" for row in (["text", "text", "tgt"], ["a", "b", "c"]))
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match="2 columns have the name 'text'"):
        read(tmp_path / name, src_column="text", tgt_column="tgt")


def test_a_folder_with_the_name_of_a_table_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "out.tsv").mkdir()
    with pytest.raises(ConfigError, match=r"out\.tsv: expected a file name, got a folder"):
        check_target(tmp_path / "out.tsv")


def test_the_columns_of_parquet_are_not_lines(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["Hallo."]}), tmp_path / "texts.parquet")
    with pytest.raises(ConfigError, match="a table of 1 column, and none is named as the texts: text"):
        check_lines(tmp_path / "texts.parquet")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("film.srt", "\ufeff1\r\n00:00:01,000 --> 00:00:02,000\r\nHallo.\r\n"),
        ("film.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nHallo.\n"),
        ("texts.xlf", '<?xml version="1.0"?>\n<xliff><source>Hallo.</source></xliff>\n'),
        ("page.html", "<!DOCTYPE html>\n<p>Hallo.</p>\n"),
    ],
)
def test_a_document_is_not_taken_for_lines(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match="marks and times would be taken for text"):
        check_lines(tmp_path / name)
    (tmp_path / "lines.txt").write_text("a --> b\n1 < 2\n", encoding="utf-8")
    check_lines(tmp_path / "lines.txt")
