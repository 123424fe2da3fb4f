"""Texts inside records: the same structure again, every segment accounted for, whatever is in the rows."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openai_server import OpenAIServer, serve

from paraloom import read_pairs
from paraloom.api import paraphrase_files, translate_records
from paraloom.core.errors import ConfigError, DataError, ParaloomError

CONTENT = "messages.*.content"
SENTENCES = ["A dog sleeps.", "Where is the cat?", "Two men play chess.", "It rains."]
OTHERS = ["```\nx = 'A dog.'\n```", '{"a": 1}', "| a | b |", "42"]


def conversations(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Made conversations: lists, quotations, code, JSON, null contents, parts in place of a text, none at all."""
    draw = random.Random(seed)

    def content() -> Any:
        kind = draw.random()
        if kind < 0.1:
            return None
        if kind < 0.15:
            return [{"type": "text", "text": "A dog."}]
        lines = [
            draw.choice(["", "- ", "> ", "## "]) + " ".join(draw.choices(SENTENCES, k=draw.randint(1, 3)))
            for _ in range(draw.randint(1, 2))
        ]
        return "\n".join([*lines, *draw.sample(OTHERS, k=int(kind > 0.7))]) if kind < 0.95 else '{"b": "A dog."}'

    rows: list[dict[str, Any]] = []
    for number in range(count):
        messages = [{"role": draw.choice(["user", "tool"]), "content": content()} for _ in range(draw.randint(0, 3))]
        rows.append({"id": number, "messages": messages, "score": 0.1 * number} if number % 17 else {"id": number})
    return rows


def write(rows: list[dict[str, Any]], path: Path) -> Path:
    """Rows as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of JSON Lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def changed(rows: list[dict[str, Any]], replace: Callable[[str], str]) -> list[dict[str, Any]]:
    """What is expected: every sentence of every text content replaced, and nothing else."""
    rows = json.loads(json.dumps(rows))
    for message in (message for row in rows for message in row.get("messages", [])):
        if isinstance(message["content"], str) and not message["content"].startswith("{"):
            text, code, rest = message["content"].partition(OTHERS[0])
            for sentence in SENTENCES:
                text = text.replace(sentence, replace(sentence))
            message["content"] = text + code + rest
    return rows


def sentences(rows: list[dict[str, Any]]) -> int:
    """Number of sentences to replace."""
    counts: list[str] = []
    changed(rows, lambda sentence: counts.append(sentence) or sentence)  # type: ignore[func-returns-value]
    texts = [m["content"] for row in rows for m in row.get("messages", []) if isinstance(m["content"], str)]
    texts = [text.partition(OTHERS[0])[0] for text in texts if not text.startswith("{")]
    return sum(text.count(sentence) for text in texts for sentence in SENTENCES)


def endpoint(server: OpenAIServer) -> str:
    return f"{server.url}?model=m&from=en&to=de"


def test_conversations_keep_their_structure_and_every_segment_is_counted(tmp_path: Path) -> None:
    rows = conversations(300)
    source = write(rows, tmp_path / "chats.jsonl")
    outputs = []
    with serve(OpenAIServer(lambda text, _: text.upper())) as server:
        for workers in (1, 3):
            output = tmp_path / f"out-{workers}.jsonl"
            result = translate_records(endpoint(server), source, output, column=CONTENT, workers=workers)
            outputs.append(output.read_bytes())
    assert read(output) == changed(rows, str.upper)
    assert outputs[0] == outputs[1]
    contents = [message["content"] for row in rows for message in row.get("messages", [])]
    assert result.rows == 300
    assert result.texts == sum(isinstance(content, str) for content in contents)
    assert result.replaced == sentences(rows)
    assert result.segments == result.replaced + sum(result.unchanged.values())
    assert result.unchanged["null"] == sum(content is None for content in contents)
    assert result.unchanged["not a text (list)"] == sum(isinstance(content, list) for content in contents)
    assert result.unchanged[f"nothing at {CONTENT}"] == sum(not row.get("messages") for row in rows)


def test_a_stopped_translation_resumes_with_the_same_bytes(tmp_path: Path) -> None:
    rows = conversations(200)
    source, output = write(rows, tmp_path / "chats.jsonl"), tmp_path / "out.jsonl"

    def dies(body: dict[str, Any], number: int) -> Any:
        return (401, {}, b'{"error": {"message": "gone"}}') if number > 5 else None

    def answer(text: str, _: dict[str, Any]) -> str:
        return text.upper()

    with serve(OpenAIServer(answer, fault=dies)) as server:
        with pytest.raises(ParaloomError):
            translate_records(endpoint(server), source, output, column=CONTENT, workers=1)
        assert not output.exists()
        server.fault = lambda body, number: None
        translate_records(endpoint(server), source, output, column=CONTENT, workers=2)
    assert read(output) == changed(rows, str.upper)


def test_a_sentence_without_a_translation_stays_and_is_named_by_its_row(tmp_path: Path) -> None:
    source, output = (
        write([{"a": ["x"]}, {"a": ["It rains.", "A dog. A cat."]}], tmp_path / "a.jsonl"),
        tmp_path / "b.jsonl",
    )

    def refuses(body: dict[str, Any], number: int) -> Any:
        return (400, {}, b'{"error": {"message": "no cats"}}') if "A cat." in json.dumps(body["messages"]) else None

    with (
        serve(OpenAIServer(lambda text, _: text.upper(), fault=refuses)) as server,
        pytest.warns(UserWarning) as caught,
    ):
        result = translate_records(endpoint(server), source, output, column="a.*")
    assert read(output) == [{"a": ["X"]}, {"a": ["IT RAINS.", "A DOG. A cat."]}]
    assert result.unchanged == {"without a translation": 1}
    assert any("a.jsonl:2:a.1:3: the endpoint refuses" in str(warning.message) for warning in caught)


def test_rows_of_another_structure_and_unreadable_ones_are_accounted_for(tmp_path: Path) -> None:
    source = tmp_path / "chats.jsonl"
    source.write_text('{"text": "A dog."}\nbroken\n{"txt": 1, "keep": [1.5, null]}\n{"text": "A cat `x`."}\n')
    output = tmp_path / "out.jsonl"
    with serve(OpenAIServer(lambda text, _: "Ein Hund.")) as server:
        with pytest.raises(DataError, match="row 2: the line is not valid JSON"):
            translate_records(endpoint(server), source, output, column="text")
        with pytest.warns(UserWarning, match="row 2 of .*not valid JSON"):
            result = translate_records(endpoint(server), source, output, column="text", on_error="reject")
    assert read(output) == [{"text": "Ein Hund."}, {"txt": 1, "keep": [1.5, None]}, {"text": "A cat `x`."}]
    assert (result.rows, result.unreadable, result.replaced) == (3, 1, 1)
    assert result.unchanged == {"nothing at $.text": 1, "code, a link or emphasis would be lost": 1}
    assert read(tmp_path / "out.rejected.jsonl")[0]["row"] == 2


def test_a_path_that_matches_nothing_names_the_nearest(tmp_path: Path) -> None:
    source = write([{"messages": [{"content": "A dog."}]}], tmp_path / "chats.jsonl")
    with pytest.raises(
        DataError, match=r"no row has a text at 'messages\.\*\.contnt'; did you mean 'messages\.\*\.content'"
    ):
        translate_records("en-de", source, tmp_path / "out.jsonl", column="messages.*.contnt")
    with pytest.raises(ConfigError, match=r"same format, not as \.tsv"):
        translate_records("en-de", source, tmp_path / "out.tsv", column=CONTENT)
    with pytest.raises(ConfigError, match="not a path of keys"):
        translate_records("en-de", source, tmp_path / "out.jsonl", column="messages..content")


@pytest.mark.parametrize(("column", "name", "first"), [("2", "a.tsv", "1\tA dog.\n"), ("2", "a.csv", "1,A dog.\n"),
                                                       ("text", "a.csv", "n,text\n1,A dog.\n")])  # fmt: skip
def test_a_table_keeps_its_header_or_has_none(tmp_path: Path, column: str, name: str, first: str) -> None:
    source, output = tmp_path / name, tmp_path / f"out-{name}"
    source.write_text(first)
    with serve(OpenAIServer(lambda text, _: text.upper())) as server:
        translate_records(endpoint(server), source, output, column=column)
        with pytest.raises(DataError, match=r"no row has a text at '\$\.3'"):
            translate_records(endpoint(server), source, tmp_path / f"b-{name}", column="3")
        rewriter = f"{server.url}?model=m&language=en"
        settings: dict[str, Any] = {"encoder": None, "check_languages": False, "preset": "none"}
        again = tmp_path / f"p-{name}"
        paraphrase_files(source, again, column=f"$.{column}", paraphraser=rewriter, **settings)
        paraphrase_files(source, tmp_path / "p.jsonl", column=column, paraphraser=rewriter, **settings)
    assert output.read_text() == again.read_text() == first.replace("A dog.", "A DOG.")
    assert {row["original"] for row in read(tmp_path / "p.jsonl")} == {"A dog."}


MARKDOWN = "---\na: A dog.\n---\n# A dog\n\nA dog sleeps in\nthe garden. See [it](../a.md).\n\n- It `rains`.\n"
PAGE = (
    "<html lang=en><p title='A dog.'>Dogs &amp; <b>cats</b>\r\n<i>sleep.</i> It <a href='x'>rains</a>."
    "<pre>A dog.</pre></html>"
)
SUBTITLES = "\ufeff1\r\n00:01,000 --> 00:02,000\r\n<i>A dog sleeps\r\nin the garden.</i>\r\n\r\nA note.\r\n"


def upper_case(text: str) -> str:
    """A text in upper case, but its tags."""
    return "".join(part if part.startswith("<") else part.upper() for part in re.split("(<[^>]*>)", text))


@pytest.mark.parametrize(
    ("name", "text", "expected", "left"),
    [
        ("a.md", MARKDOWN, MARKDOWN.replace("# A dog\n\nA dog sleeps in\nthe garden. See [it]", "# A DOG\n\n"
         "A DOG SLEEPS IN THE GARDEN. See [it]"), {"markup": 1, "code, a link or emphasis would be lost": 2}),
        ("a.html", PAGE, PAGE.replace("<p title='A dog.'>Dogs &amp; <b>cats</b>\r\n<i>sleep.", "<p title='A dog.'>"
         "DOGS &amp; <b>CATS</b> <i>SLEEP.").replace("It <a href='x'>rains", "IT <a href='x'>RAINS"), {"code": 1}),
        ("a.srt", SUBTITLES, SUBTITLES.replace("A dog sleeps\r\nin the garden.", "A DOG SLEEPS\r\nIN THE GARDEN."),
         {"outside of a cue": 1}),
    ],
)  # fmt: skip
def test_documents_keep_everything_but_their_sentences(
    tmp_path: Path, name: str, text: str, expected: str, left: dict[str, int]
) -> None:
    source, output = tmp_path / name, tmp_path / f"out-{name}"
    source.write_bytes(text.encode())
    with serve(OpenAIServer(lambda text, _: upper_case(text) if name.endswith("l") else text.upper())) as server:
        with pytest.raises(ConfigError, match="a table"):
            translate_records(endpoint(server), source, tmp_path / "out.txt", column="text")
        result = translate_records(endpoint(server), source, output, column="text")
        rewriter = f"{server.url}?model=m&language=en"
        written = paraphrase_files(
            source, tmp_path / f"p-{name}", paraphraser=rewriter, preset="none", encoder=None, check_languages=False
        ).records
    assert output.read_bytes() == (tmp_path / f"p-{name}").read_bytes() == expected.encode()
    assert result == written or result.segments == written.segments  # type: ignore[union-attr]
    assert result.unchanged == left
    assert result.segments == result.replaced + sum(left.values())


def test_a_stopped_document_resumes_with_the_same_bytes(tmp_path: Path) -> None:
    source, output = tmp_path / "a.vtt", tmp_path / "out.vtt"
    texts = [f"A dog has {number} bones." for number in range(30)]

    def document(texts: list[str]) -> str:
        return "WEBVTT\n\n" + "".join(f"00:00:01,000 --> 00:00:02,000\n{text}\n\n" for text in texts)

    def dies(body: dict[str, Any], number: int) -> Any:
        return (401, {}, b'{"error": {"message": "gone"}}') if number > 5 else None

    source.write_text(document(texts))
    with serve(OpenAIServer(lambda text, _: text.upper(), fault=dies)) as server:
        with pytest.raises(ParaloomError):
            translate_records(endpoint(server), source, output, column="text", workers=1)
        assert not output.exists()
        server.fault = lambda body, number: None
        assert translate_records(endpoint(server), source, output, column="text").replaced == len(texts)
    assert output.read_text() == document([text.upper() for text in texts])


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    kind = pa.list_(pa.struct([("role", pa.dictionary(pa.int8(), pa.string())), ("content", pa.string())]))
    rows = [[{"role": "user", "content": "A dog."}, {"role": "tool", "content": None}], [], None]
    table = pa.table({"n": pa.array([1, 2, None], pa.int16()), "messages": pa.array(rows, kind)})
    pq.write_table(table, tmp_path / "a.parquet")
    with serve(OpenAIServer(lambda text, _: "Ein Hund.")) as server:
        translate_records(endpoint(server), tmp_path / "a.parquet", tmp_path / "b.parquet", column=CONTENT)
    written = pq.read_table(tmp_path / "b.parquet")
    assert written.schema.equals(table.schema)
    rows[0][0]["content"] = "Ein Hund."  # type: ignore[index]
    assert written.column("messages").to_pylist() == rows


def test_paraphrases_are_put_in_place(tmp_path: Path) -> None:
    rows = [{"a": {"text": "A dog sleeps. It rains."}, "b": 1}, {"a": {"text": "```\ncode\n```"}}]
    source, output = write(rows, tmp_path / "a.jsonl"), tmp_path / "b.jsonl"
    with serve(OpenAIServer(lambda text, _: text.replace("A dog", "The hound"))) as server:
        settings: dict[str, Any] = {
            "paraphraser": f"{server.url}?model=m&language=en",
            "encoder": None,
            "check_languages": False,
        }
        result = paraphrase_files(source, output, column="a.text", preset="none", **settings)
        with pytest.raises(ConfigError, match="leave out -n"):
            paraphrase_files(source, output, column="a.text", n=2, **settings)
    assert read(output) == [{"a": {"text": "The hound sleeps. It rains."}, "b": 1}, rows[1]]
    assert result.records is not None
    assert result.records.unchanged == {"code": 1}


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_pairs_are_read_by_paths(tmp_path: Path, suffix: str) -> None:
    rows = [{"id": 1, "text": {"de": "Ein Hund", "meta": {"en": "a dog"}}}]
    path = tmp_path / f"a.{suffix}"
    if suffix == "jsonl":
        write(rows, path)
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    pair = read_pairs(path, src_column="text.de", tgt_column="text.meta.en").to_list()[0]
    assert (pair["src"], pair["tgt"]) == ("Ein Hund", "a dog")
    with pytest.raises(ParaloomError, match=r"text\.deu' not found; did you mean 'text\.de'"):
        read_pairs(path, src_column="text.deu", tgt_column="text.meta.en").to_list()
