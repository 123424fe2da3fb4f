"""Fuzzers of all readers: rows or an error of Paraloom, never another exception, and no row lost."""

from __future__ import annotations

import gzip
import io
import lzma
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzzing import SECONDS, fuzz, spoiled

from paraloom.alignment.lexicon import read_lexicon
from paraloom.core.schema import PAIRS
from paraloom.core.stage import StageContext
from paraloom.embed.vocabulary import Vocabulary
from paraloom.embed.word_vectors import read_vectors, read_words
from paraloom.evaluate.mining import read_gold_rows
from paraloom.io import Corpus, read_pairs, write_corpus
from paraloom.io.compression import read_lines, read_raw_lines
from paraloom.io.formats import csv
from paraloom.io.formats.alignments import read_bead_file, read_gold_documents
from paraloom.io.formats.base import ReadOptions
from paraloom.io.quoting import BadRow
from paraloom.io.records import read_records
from paraloom.io.texts import read_texts
from paraloom.pipeline.manifest import JOURNAL, Manifest
from paraloom.pipeline.toml import parse_pipeline
from paraloom.stages.variants import ReadVariants
from paraloom.syntax.treebank import read_treebank

pytestmark = pytest.mark.slow

TSV = b"src\ttgt\tpair_id\nHallo\tHello\tz:900\nGuten Tag\tGood day\tx7\n"
PLAIN_TSV = b"Hallo\tHello\nGuten Tag\tGood day\n"
CSV = b'src,tgt\r\n"Ja, gut",Yes\r\n"two\r\nlines","a ""quoted"" word"\r\nTag,Day\r\n\r\nNacht,Night\r\n'
QUOTED_CSV = b'\xef\xbb\xbf"src";"tgt"\n"Ja";"Yes"\n"";"a;b"\n"Tag";"Day"\n'
ESCAPED_CSV = b'"a","b"\n"say \\"hi\\"","c"\n"d\n\\"e\\"","f"\n"g","h"\n'
JSONL = b'{"src": "Hallo", "tgt": "Hello", "origin": "a"}\n\n{"src": "Tag", "tgt": "Day", "pair_id": null}\n'
TMX = (
    b'<?xml version="1.0" encoding="UTF-8"?><tmx version="1.4"><header/><body><tu><tuv xml:lang="de"><seg>Hallo '
    b'<ph>x</ph></seg></tuv><tuv xml:lang="en-GB"><seg>Hello &amp; so</seg></tuv></tu>'
    b'<tu><tuv xml:lang="de"><seg>Tag</seg></tuv>'
    b'<tuv xml:lang="en"><seg>Day</seg></tuv></tu></body></tmx>'
)
PPDB = b"[NN] ||| a dog ||| the dog ||| p=1 ||| 0-0\n[NP] ||| a ||| b ||| c\n"
FCT = b"old\tJJ\ndog\tNN\nhound\n"
CONLLU = b"# text\n1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n2\tdog\tdog\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"
VARIANTS = b'{"pair_id": "a:1", "variant": 0, "rank": 0, "text": "Hallo"}\n{"pair_id": "a:1", "text": "x"}\n'
WARC_PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<html><p>Hello</html>"
WARC = (
    b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\nContent-Type: application/http; "
    b"msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n" % (len(WARC_PAGE), WARC_PAGE)
) * 2
HTML = (
    b'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>A page</title></head><body><div><p>One '
    b'<b>two</b><ul><li>three<li>four</ul><table><tr><td>five</table><img src="a.png" alt="six"></div></body></html>'
)
TOML = (
    b'name = "toy"\nseed = 3\n[[stage]]\nuse = "read-pairs"\nsource = "rows.tsv"\nlimit = 3\n'
    b'[[stage]]\nuse = "filter"\nwhere = "length(src) > 0"\n'
)
MANIFEST = (
    b'{"kind": "shard", "name": "part-00000.parquet", "record": {"name": "part-00000.parquet", "key": "k", '
    b'"files": {}, "columns": "", "counts": {"read": 1, "kept": 1, "rejected": 0, "failed": 0, "out": 1}, '
    b'"seconds": 0.1, "memory": 9}}\n'
    b'{"kind": "end", "name": "", "record": {"key": "k", "kind": "PAIRS", "files": {}, "counts": {}, "seconds": 0, '
    b'"memory": 0}}\n'
)


def parquet_file() -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table({"src": ["Hallo", "Tag"], "tgt": ["Hello", "Day"], "score": [0.5, 1.0]}), stream)
    return stream.getvalue()


def npy_file() -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.ones((2, 3), np.float32))
    return stream.getvalue()


def count_pairs(path: Path, expected: Callable[[bytes], int | None], content: bytes) -> None:
    """Read pairs, the bad ones too: their number is that of the rows of the file."""
    rejected: list[tuple[int, str, str]] = []
    rows = sum(
        batch.num_rows
        for batch in read_pairs(path, on_reject=lambda *row: rejected.append(row), src_lang="de", tgt_lang="en")
    )
    for _, reason, raw in rejected:
        (reason + raw).encode()
    wanted = expected(content)
    assert wanted is None or rows + len(rejected) == wanted, (rows, len(rejected), wanted)


def lines(content: bytes) -> list[bytes]:
    content = content.removeprefix(b"\xef\xbb\xbf")
    return content.removesuffix(b"\n").split(b"\n") if content else []


def tsv_rows(content: bytes) -> int:
    first = next(iter(lines(content)), b"").removesuffix(b"\r").split(b"\t")
    return len(lines(content)) - (b"src" in first and b"tgt" in first)


def ppdb_rows(content: bytes) -> int | None:
    first = next(iter(lines(content)), b"")
    return len(lines(content)) if b" ||| " in first else -(-len(lines(content)) // 3)


def json_rows(content: bytes) -> int:
    return sum(bool(line.removesuffix(b"\r").strip()) for line in lines(content))


def drain(rows: Iterator[Any]) -> int:
    return sum(1 for _ in rows)


def read_moses(folder: Path, content: bytes) -> None:
    (folder / "m.de").write_bytes(content)
    (folder / "m.en").write_bytes(b"x\n" * len(lines(content)))
    path = Path(str(folder / "m.") + "{de,en}")
    count_pairs(path, lambda content: len(lines(content)), content)


def letters(text: str) -> Counter[str]:
    return Counter(character for character in text if character.isalnum())


def read_csv(folder: Path, content: bytes) -> None:
    """Every letter is in a row that is read or in one that is rejected, and each row has its number."""
    (folder / "rows.csv").write_bytes(content)
    rows = list(csv.read_rows(folder / "rows.csv"))
    texts = [row.text if isinstance(row, BadRow) else "".join(row) for row in rows]
    assert letters("".join(texts)) == letters(content.decode("utf-8-sig", "backslashreplace"))
    rejected: list[int] = []
    options = ReadOptions(
        str(folder / "rows.csv"), src_column=1, tgt_column=2, on_reject=lambda row, *_: rejected.append(row)
    )
    numbers = [pair.row for pair in csv.read(options)] + rejected
    assert sorted(numbers) == list(range(1, len(rows) + 1))
    records = drain(read_records(folder / "rows.csv", header=False, on_bad=lambda *_: rejected.append(0)))
    blank = sum(not isinstance(row, BadRow) and not any(field.strip() for field in row) for row in rows)
    assert len(rows) - blank <= records + rejected.count(0) <= len(rows)


def read_corpus(folder: Path, content: bytes) -> None:
    corpus = folder / "corpus"
    if not corpus.exists():
        row = dict.fromkeys(PAIRS.names, "x")
        write_corpus(corpus, [pa.RecordBatch.from_pylist([row], schema=PAIRS)], kind="PAIRS")
    (corpus / "corpus.json").write_bytes(content)
    opened = Corpus.open(corpus)
    assert drain(opened.batches()) >= 0
    opened.verify()


def read_manifest(folder: Path, content: bytes) -> None:
    (folder / JOURNAL).write_bytes(content)
    manifest = Manifest(folder)
    manifest.shard("part-00000.parquet")
    manifest.get("end")


def read_warc(path: Path) -> None:
    warc = pytest.importorskip("paraloom.extract.warc")
    pytest.importorskip("warcio")
    drain(warc.read_archive(path))


def read_page(content: bytes) -> None:
    pytest.importorskip("justext")
    from paraloom.extract.pages import Page
    from paraloom.extract.parsing import PARSED_PAGES, ParseJob, parse_page

    for method in ("site", "trafilatura"):
        page = Page("http://a.example/", "a", "html", body=content)
        pa.RecordBatch.from_pylist([parse_page(ParseJob("x", page, method, counted=False))], schema=PARSED_PAGES)


def vector_words(path: Path) -> None:
    read_vectors(path, Vocabulary("word", ["dog", "cat"]))


def compressed(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    drain(read_raw_lines(path))


def at(name: str, read: Callable[[Path], object]) -> Callable[[Path, bytes], object]:
    """A reader of a file of this name."""

    def write_and_read(folder: Path, content: bytes) -> object:
        (folder / name).write_bytes(content)
        return read(folder / name)

    return write_and_read


def pairs(name: str, expected: Callable[[bytes], int | None]) -> Callable[[Path, bytes], object]:
    def read(folder: Path, content: bytes) -> None:
        (folder / name).write_bytes(content)
        count_pairs(folder / name, expected, content)

    return read


def toml(folder: Path, content: bytes) -> object:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    return parse_pipeline(text, file=folder / "p.toml")


BEADS = b"[0]:[0, 1]:0.5\n[1]:[2]\n[]:[3]:0.1\n"
LADDER = b"0 0 0.5\n1\t2\t0.1\n2 2\n"
GOLD = b'{"source": ["a", "b"], "target": ["c"], "gold": [[[0], [0]], [[1], []]]}\n'

READERS: dict[str, tuple[tuple[bytes, ...], Callable[[Path, bytes], object]]] = {
    "tsv": ((TSV, PLAIN_TSV), pairs("rows.tsv", tsv_rows)),
    "jsonl": ((JSONL,), pairs("rows.jsonl", json_rows)),
    "moses": ((b"Hallo\nTag\n",), read_moses),
    "tmx": ((TMX,), pairs("rows.tmx", lambda _: None)),
    "csv": ((CSV, QUOTED_CSV, ESCAPED_CSV), read_csv),
    "ppdb": ((PPDB, FCT), pairs("ppdb-toy", ppdb_rows)),
    "parquet": ((parquet_file(),), pairs("rows.parquet", lambda _: None)),
    "texts": ((PLAIN_TSV,), at("a.txt", lambda path: drain(read_texts(path, reject=True)))),
    "text fields": ((TSV,), at("a.tsv", lambda path: drain(read_texts(path, "tgt")))),
    "json texts": ((b'{"text": "a"}\n',), at("a.jsonl", lambda path: drain(read_texts(path, reject=True)))),
    "lines": ((b"a\nb\n",), at("a.txt", lambda path: drain(read_lines(path)))),
    "gz": ((gzip.compress(b"a\nb\n"),), lambda folder, content: compressed(folder / "a.gz", content)),
    "xz": ((lzma.compress(b"a\nb\n"),), lambda folder, content: compressed(folder / "a.xz", content)),
    "zst": (
        (pa.compress(b"a\nb\n" * 9, "zstd", asbytes=True),),
        lambda folder, content: compressed(folder / "a.zst", content),
    ),
    "beads": ((BEADS, LADDER), at("a.txt", read_bead_file)),
    "gold documents": ((GOLD,), at("a.jsonl", read_gold_documents)),
    "gold rows": ((b"1\t2\n3\t1\n",), at("a.tsv", read_gold_rows)),
    "conllu": ((CONLLU,), at("a.conllu", lambda path: drain(read_treebank(path)))),
    "brackets": (
        (b"(S (NP (DT the) (NN dog)) (VP (VBZ sleeps)))\n\n",),
        at("a.mrg", lambda path: drain(read_treebank(path))),
    ),
    "variants": (
        (VARIANTS,),
        at("a.jsonl", lambda path: drain(ReadVariants(source=path).batches(StageContext(seed=1)))),
    ),
    "word vectors": ((b"dog 1 0\ncat 0 1\n", b"2 2\ndog 1 0\ncat 0 1\n"), at("a.txt", vector_words)),
    "word vectors npy": ((npy_file(),), at("a.npy", vector_words)),
    "words": ((b"dog 3\ncat 1\n",), at("a.txt", read_words)),
    "lexicon": ((b"Hund\tdog\t0.5\nKatze\tcat\t0.9\n",), at("a.tsv", read_lexicon)),
    "warc": ((WARC,), at("a.warc", read_warc)),
    "warc.gz": ((gzip.compress(WARC),), at("a.warc.gz", read_warc)),
    "page": ((HTML,), lambda _, content: read_page(content)),
    "corpus.json": (
        (b'{"kind": "PAIRS", "rows": 1, "shards": [{"file": "part-00000.parquet", "rows": 1, "sha256": "0"}]}',),
        read_corpus,
    ),
    "manifest": ((MANIFEST,), read_manifest),
    "toml": ((TOML,), toml),
}


@pytest.mark.parametrize("name", READERS)
def test_a_reader_returns_rows_or_an_error(name: str, tmp_path: Path) -> None:
    samples, read = READERS[name]
    # What two of the readers look for beside their file.
    (tmp_path / "a.txt").write_text("dog\ncat\n")
    (tmp_path / "rows.tsv").write_bytes(PLAIN_TSV)
    for sample in samples:
        read(tmp_path, sample) if name != "corpus.json" else None
    fuzz(lambda content: read(tmp_path, content), spoiled(*samples), SECONDS / len(READERS))
