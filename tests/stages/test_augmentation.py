"""Back-translation for training, stage by stage: text read, cleaned, translated in several ways, paired again."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from paraloom.core.errors import ConfigError, DataError, ParaloomError
from paraloom.core.protocols import Variant
from paraloom.core.schema import PAIRS
from paraloom.io import Corpus, read_shard, write_corpus
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import parse_pipeline
from paraloom.stages import variants as stage


class Echo:
    """Answers with the text, the name of its folder and the seed: as many times as the decoding asks for."""

    def __init__(self, folder: Path, decoding: object) -> None:
        self.signature = f"echo|{folder.name}"
        self.name, self.nbest = folder.name, decoding.nbest  # type: ignore[attr-defined]

    def translate(self, sentences: Sequence[str], *, seed: int = 0) -> list[list[Variant]]:
        return [
            [Variant(f"{self.name} {text.upper()} {n}", -1.0 - n, 3) for n in range(self.nbest)]
            if text
            else [Variant("", 0.0, 0)]
            for text in sentences
        ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model").write_text(name)
    monkeypatch.setattr(stage, "_translator", Echo)
    return tmp_path


def run(text: str, folder: Path) -> RunResult:
    return run_pipeline(parse_pipeline(text, file=folder / "p.toml"), folder / "run", engine="inline")


def rows(folder: Path) -> list[dict[str, object]]:
    return pa.Table.from_batches(Corpus.open(folder).batches()).to_pylist()


def reasons(folder: Path) -> Counter[str]:
    shards = sorted((folder / "rejected").glob("*.parquet"))
    return Counter(reason for shard in shards for reason in read_shard(shard).column("reason").to_pylist())


def write_pairs(folder: Path, *lines: tuple[str, str]) -> None:
    table = [
        {"pair_id": f"x:{i}", "src": src, "tgt": tgt, "src_lang": "de", "tgt_lang": "en", "origin": "x"}
        for i, (src, tgt) in enumerate(lines, 1)
    ]
    write_corpus(folder, [pa.RecordBatch.from_pylist(table, schema=PAIRS)], kind="PAIRS")


MONO = '[[stage]]\nuse = "read-sentences"\ntext_files = ["mono.txt"]\n'


def test_text_becomes_variants_and_pairs_to_train_on(folder: Path) -> None:
    (folder / "mono.txt").write_text("A dog sleeps.\n\nA cat runs.\n")
    found = run(
        MONO + '[[stage]]\nuse = "translate-variants"\ntranslator = ["one"]\nmethod = "nucleus"\n'
        '[[stage]]\nuse = "variants-to-bitext"\nsrc_lang = "tr"\ntag = "<BT>"\n',
        folder,
    )
    sentences, variants, bitext = found.stages
    assert (sentences.counts.kept, sentences.counts.rejected) == (2, 1)
    assert (variants.counts.read, variants.counts.kept, variants.counts.out) == (2, 2, 6)
    made = rows(variants.folder)
    assert [row["rank"] for row in made] == [0, 1, 2] * 2
    assert {row["method"] for row in made} == {"nucleus"}
    assert [row["pair_id"] for row in made] == ["mono.txt:0"] * 3 + ["mono.txt:2"] * 3
    first = rows(bitext.folder)[0]
    assert (first["src"], first["tgt"]) == ("<BT> one A DOG SLEEPS. 0", "A dog sleeps.")
    assert (first["src_lang"], first["tgt_lang"], first["origin"]) == ("tr", "en", "mono.txt")


def test_several_translators_rank_by_their_place(folder: Path) -> None:
    (folder / "mono.txt").write_text("A dog.\n")
    found = run(
        MONO + '[[stage]]\nuse = "translate-variants"\ntranslator = ["two", "one"]\ndecode = "beam:5"\n', folder
    )
    made = rows(found.stages[-1].folder)
    assert [(row["rank"], row["text"]) for row in made] == [(0, "two A DOG. 0"), (1, "one A DOG. 0")]
    schema = Corpus.open(found.stages[-1].folder).schema
    assert schema.field("text").metadata[b"signature"] == b"echo|two + echo|one"


def test_syntax_takes_a_translator_for_each_output(folder: Path) -> None:
    (folder / "mono.txt").write_text("A dog.\n")
    text = MONO + '[[stage]]\nuse = "translate-variants"\ntranslator = ["one", "two", "three"]\nmethod = "syntax"\n'
    made = rows(run(text, folder).stages[-1].folder)
    assert [row["text"] for row in made] == [f"{name} A DOG. 0" for name in ("one", "two", "three")]
    with pytest.raises(ConfigError, match="'syntax' with 3 outputs takes 3 translators, not 1"):
        run(text.replace('["one", "two", "three"]', '["one"]'), folder)


def test_a_side_of_pairs_is_translated_and_the_other_left_out(folder: Path) -> None:
    write_pairs(folder / "pairs", ("ein Hund", "a dog"), ("", "a cat"))
    text = '[[stage]]\nuse = "translate-variants"\ninput = "pairs"\ntranslator = ["one"]\ndecode = "beam:5,nbest=2"\n'
    to_bitext = '[[stage]]\nuse = "variants-to-bitext"\nsrc_lang = "en"\n'
    variants, bitext = run(text + to_bitext, folder).stages
    assert [row["text"] for row in rows(variants.folder)] == ["one EIN HUND 0", "one EIN HUND 1", ""]
    assert [row["tgt"] for row in rows(bitext.folder)] == ["ein Hund"] * 2
    assert reasons(bitext.folder) == {"empty": 1}
    assert (bitext.counts.read, bitext.counts.kept, bitext.counts.rejected) == (3, 2, 1)
    made = rows(run(text + 'column = "tgt"\n', folder).stages[-1].folder)
    assert [row["text"] for row in made] == [f"one A {name} {n}" for name in ("DOG", "CAT") for n in (0, 1)]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("", "'decode' or 'method'"),
        ('decode = "beam"\nmethod = "beam"', "'decode' or 'method'"),
        ('method = "nuclear"', "did you mean 'nucleus'"),
        ('method = "beam"\noutputs = 0', "one output or more"),
        ('decode = "baem"', "did you mean 'beam'"),
    ],
)
def test_a_way_to_translate_is_asked_for(folder: Path, keys: str, message: str) -> None:
    (folder / "mono.txt").write_text("A dog.\n")
    with pytest.raises(ConfigError, match=message):
        run(f'{MONO}[[stage]]\nuse = "translate-variants"\ntranslator = ["one"]\n{keys}\n', folder)


def test_a_column_that_is_not_there_is_named(folder: Path) -> None:
    (folder / "mono.txt").write_text("A dog.\n")
    text = '[[stage]]\nuse = "translate-variants"\ntranslator = ["one"]\ndecode = "beam"\ncolumn = "src"\n'
    with pytest.raises(DataError, match="no column 'src' to translate"):
        run(MONO + text, folder)


def test_variants_of_a_real_translator_come_again(toy_translator: Path, tmp_path: Path) -> None:
    lines = ["rako gor mili dasat", "mili tavo kirat", "numa vet olva fenat"]
    (tmp_path / "mono.txt").write_text("".join(f"{line}\n" for line in lines))
    text = (
        f'{MONO}[[stage]]\nname = "{{0}}"\nuse = "translate-variants"\ntranslator = ["{toy_translator}"]\n'
        'method = "sampling"\n'
    )
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mono.txt").write_bytes((tmp_path / "mono.txt").read_bytes())
    made = [rows(run(text.format("drawn"), tmp_path / name).stages[-1].folder) for name in ("first", "second")]
    assert made[0] == made[1]
    assert len(made[0]) == 9 and all(row["logprob"] < 0 and row["text"] for row in made[0])  # type: ignore[operator]


def test_pairs_are_cleaned_of_bad_lines_and_of_test_sentences(folder: Path) -> None:
    write_pairs(folder / "pairs", ("ein Hund", "a dog"), ("", "x"), ("eine Katze", "A CAT!"), ("Der Test.", "new"))
    write_pairs(folder / "test", ("der test", "a cat"))
    found = run('[[stage]]\nuse = "clean"\ninput = "pairs"\nheld_out = ["test"]\n', folder).stages[-1]
    assert [row["tgt"] for row in rows(found.folder)] == ["a dog"]
    assert reasons(found.folder) == {
        "src: empty": 1, "tgt: in a held-out corpus": 1, "src: in a held-out corpus": 1,
    }  # fmt: skip
    assert found.counts.read == found.counts.kept + found.counts.rejected == 4


def test_what_is_held_out_is_read_anew_where_it_changed(folder: Path) -> None:
    """Both runs are in this process, and the corpus is where it was."""
    write_pairs(folder / "pairs", ("ein Hund", "a dog"), ("eine Katze", "a cat"))
    kept = []
    for held in ("a dog", "a cat"):
        shutil.rmtree(folder / "test", ignore_errors=True)
        write_pairs(folder / "test", ("", held))
        found = run('[[stage]]\nuse = "clean"\ninput = "pairs"\nheld_out = ["test"]\n', folder).stages[-1]
        kept.append([row["tgt"] for row in rows(found.folder)])
    assert kept == [["a cat"], ["a dog"]]


def test_a_variant_that_is_a_test_sentence_is_not_trained_on(folder: Path) -> None:
    (folder / "mono.txt").write_text("A dog.\nA cat.\n")
    write_pairs(folder / "test", ("One A DOG 0!", "ein Hund"))
    found = run(
        MONO + '[[stage]]\nuse = "translate-variants"\ntranslator = ["one"]\nmethod = "beam"\noutputs = 2\n'
        '[[stage]]\nuse = "variants-to-bitext"\nsrc_lang = "tr"\ntag = "<BT>"\nheld_out = ["test"]\n',
        folder,
    ).stages[-1]
    assert [row["src"] for row in rows(found.folder)] == [
        "<BT> one A DOG. 1", "<BT> one A CAT. 0", "<BT> one A CAT. 1",
    ]  # fmt: skip
    assert reasons(found.folder) == {"src: in a held-out corpus": 1}


def test_sentences_are_cleaned_by_language_too(folder: Path) -> None:
    pytest.importorskip("lingua", reason="telling languages apart needs lingua: pip install 'paraloom[language]'")
    german = "Der Hund schläft heute den ganzen Tag in der warmen Sonne vor dem Haus."
    (folder / "mono.txt").write_text(f"The dog has been sleeping in the sun all day long.\n{german}\n1 2 3\n")
    found = run(MONO + '[[stage]]\nuse = "clean"\nfewest = 2\nlanguages = ["de", "en"]\n', folder).stages[-1]
    assert found.counts.kept == 1
    assert reasons(found.folder) == {
        "text: looks like 'de', not 'en'": 1, "text: fewer than 0.4 of the words begin with a letter": 1,
    }  # fmt: skip
    with pytest.raises(ConfigError, match="two or more"):
        run(MONO + '[[stage]]\nuse = "clean"\nlanguages = ["de"]\n', folder)


def test_copies_among_sentences_are_dropped_and_short_ones_are_told_apart(folder: Path) -> None:
    (folder / "mono.txt").write_text("A dog sleeps.\na dog sleeps\nab\ncd\nAB\n")
    text = (
        MONO + '[[stage]]\nname = "copies"\nuse = "find-duplicates"\npairs = "read-sentences"\ncolumns = ["text"]\n'
        'similarity = 1\n[[stage]]\nuse = "drop-duplicates"\nduplicates = "copies"\n'
    )
    found = run(text, folder).stages[-1]
    assert [row["text"] for row in rows(found.folder)] == ["A dog sleeps.", "ab", "cd"]
    assert reasons(found.folder) == {"near-duplicate of an earlier one": 2}


def test_text_is_read_from_every_kind_of_file(folder: Path) -> None:
    (folder / "a.tsv").write_text("id\ttext\n1\tone dog\n2\n")
    (folder / "c.jsonl.gz").write_bytes(gzip.compress(b'{"id": 7, "text": "two dogs"}\n\n{"text": "three dogs"}\n'))
    text = '[[stage]]\nuse = "read-sentences"\ntext_files = ["a.tsv", "c.jsonl.gz"]\nfield = "text"\nlimit = 4\n'
    found = run(text, folder).stages[-1]
    assert [row["text"] for row in rows(found.folder)] == ["one dog", "two dogs", "three dogs"]
    assert reasons(found.folder) == {"empty": 1}
    assert run(text.replace("limit = 4", "limit = 3"), folder).stages[-1].counts.read == 3


BAD = [
    (b"fine\nein M\xfcnchner\nalso fine\n", "mono.txt", r"not valid UTF-8 \(byte 0xfc at 5\)"),
    (b'{"text": "fine"}\n{"text": 3}\n{"text": "also fine"}\n', "mono.jsonl", "'text' must be text, got 3"),
    (b'{"text": "fine"}\nno json\n{"text": "also fine"}\n', "mono.jsonl", "the line is not valid JSON"),
]


@pytest.mark.parametrize(("content", "name", "message"), BAD)
def test_a_line_that_cannot_be_read_stops_the_run_or_is_set_aside(
    folder: Path, content: bytes, name: str, message: str
) -> None:
    (folder / name).write_bytes(content)
    text = MONO.replace("mono.txt", name)
    with pytest.raises(ParaloomError, match=message) as stopped:
        run(text, folder)
    assert stopped.value.row == 2 and str(stopped.value.file).endswith(name)
    found = run(text + 'bad_rows = "reject"\n', folder).stages[-1]
    assert [row["text"] for row in rows(found.folder)] == ["fine", "also fine"]
    assert (found.counts.read, found.counts.rejected) == (3, 1)
    assert run(text + "limit = 1\n", folder).stages[-1].counts.read == 1


@pytest.mark.parametrize(
    ("name", "field", "message"),
    [("a.tsv", '"texts"', "did you mean 'text'"), ("a.jsonl", "2", "have no field 2")],
)
def test_a_column_that_no_file_has_is_an_error(folder: Path, name: str, field: str, message: str) -> None:
    (folder / name).write_text('text\n{"text": "a"}\n')
    with pytest.raises(ConfigError, match=message):
        run(f'[[stage]]\nuse = "read-sentences"\ntext_files = ["{name}"]\nfield = {field}\n', folder)


def test_a_translator_is_measured_over_each_group(toy_translator: Path, tmp_path: Path) -> None:
    from toy_language import bitext

    from paraloom.evaluate.translation import evaluate_translation

    lines = bitext(30, seed=4)
    (tmp_path / "news.tsv").write_text("".join(f"{kal}\t{en}\n" for kal, en in lines))
    sets = "set\tfirst_row\tlast_row\trows\nkal-eng/one\t1\t10\t10\nkal-eng/two\t11\t15\t5\neng-kal/two\t16\t29\t14\n"
    (tmp_path / "sets.tsv").write_text(sets)
    found = run(
        '[[stage]]\nuse = "read-pairs"\nsource = "news.tsv"\n[[stage]]\nuse = "evaluate-translator"\npairs = "read-pairs"\n'
        f'translator = "{toy_translator}"\nsets = "sets.tsv"\n',
        tmp_path,
    ).stages[-1]
    groups = {group["group"]: group for group in found.figures["groups"]}
    assert {name: group["n"] for name, group in groups.items()} == {
        "kal-eng": 15, "kal-eng/one": 10, "kal-eng/two": 5, "eng-kal": 14, "eng-kal/two": 14,
    }  # fmt: skip
    hypotheses = (found.folder / "artifact" / "hypotheses.txt").read_text().splitlines()
    expected = evaluate_translation(hypotheses[15:29], [en for _, en in lines[15:29]]).to_dict()
    stored = json.loads((found.folder / "artifact" / "result.json").read_text())
    assert stored["n"] == 30
    assert {"group": "eng-kal", **expected} in stored["groups"]


def test_a_column_makes_groups_and_a_missing_comet_is_left_out(toy_translator: Path, tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs", ("rako gor mili dasat", "the big dog sees the cat"), ("mili", "the cat"))
    text = f'[[stage]]\nuse = "evaluate-translator"\npairs = "pairs"\ntranslator = "{toy_translator}"\n'
    with pytest.warns(UserWarning, match="COMET skipped: interpreter 'no/python' not found"):
        found = run(text + 'group_by = "origin"\ncomet_python = "no/python"\n', tmp_path).stages[-1]
    assert [group["group"] for group in found.figures["groups"]] == ["x"]
    assert "comet" not in found.figures and "not found" in found.figures["comet_missing"]
    with pytest.raises(ConfigError, match="did you mean 'origin'"):
        run(text + 'group_by = "orign"\n', tmp_path)
    (tmp_path / "sets.tsv").write_text("set\tfirst_row\tlast_row\na/b\t1\t2\n")
    with pytest.raises(ConfigError, match="'sets' and 'group_by'"):
        run(text + 'group_by = "origin"\nsets = "sets.tsv"\n', tmp_path)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("set\tfirst\n", "columns first_row, last_row are missing"),
        ("set\tfirst_row\tlast_row\na\t1\tx\n", "expected a name and two numbers"),
        ("set\tfirst_row\tlast_row\na\t5\t4\n", "invalid rows 5 to 4 of the set 'a'"),
        ("set\tfirst_row\tlast_row\na\t1\t4\nb\t4\t8\n", "'b' shares rows with 'a'"),
    ],
)
def test_a_table_of_sets_that_is_none_is_refused(tmp_path: Path, table: str, message: str) -> None:
    from paraloom.evaluate.row_groups import read_row_ranges

    (tmp_path / "sets.tsv").write_text(table)
    with pytest.raises(DataError, match=message):
        read_row_ranges(tmp_path / "sets.tsv")


def test_the_tables_of_sets_cover_their_files(data: Path) -> None:
    from paraloom.evaluate.row_groups import read_row_ranges, row_groups
    from paraloom.io import read_lines

    folder = data / "bitext" / "wmt-news"
    sets = read_row_ranges(folder / "is-en.sets.tsv")
    count = sum(1 for _ in read_lines(folder / "is-en.tsv.gz"))
    groups = row_groups(sets, list(range(1, count + 1)))
    assert Counter(names[0] for names in groups) == {"isl-eng": 1000, "eng-isl": 1000}


def test_corpora_of_pairs_are_joined_and_turned(folder: Path) -> None:
    write_pairs(folder / "one", ("ein Hund", "a dog"))
    write_pairs(folder / "two", ("eine Katze", "a cat"))
    text = '[[stage]]\nuse = "join-pairs"\ncorpora = ["one", "two"]\nswap = {}\n'
    straight = rows(run(text.format("false"), folder).stages[-1].folder)
    assert [(row["src"], row["tgt"]) for row in straight] == [("ein Hund", "a dog"), ("eine Katze", "a cat")]
    (folder / "back").mkdir()
    for name in ("one", "two"):
        (folder / name).rename(folder / "back" / name)
    turned = rows(run(text.format("true"), folder / "back").stages[-1].folder)
    assert [(row["src"], row["tgt"]) for row in turned] == [("a dog", "ein Hund"), ("a cat", "eine Katze")]
    assert [(row["src_lang"], row["tgt_lang"]) for row in turned] == [
        (row["tgt_lang"], row["src_lang"]) for row in straight
    ]


def test_what_is_no_corpus_of_pairs_is_not_joined(folder: Path) -> None:
    (folder / "mono.txt").write_text("A dog.\n")
    with pytest.raises(DataError, match="column 'pair_id' is missing"):
        run(f'{MONO}[[stage]]\nuse = "join-pairs"\ncorpora = ["read-sentences"]\n', folder)
    with pytest.raises(ConfigError, match="names no corpus"):
        run('[[stage]]\nuse = "join-pairs"\ncorpora = []\n', folder)


@pytest.mark.parametrize(("skip", "limit", "kept"), [(0, 0, "abcde"), (2, 2, "cd"), (4, 0, "e"), (0, 1, "a")])
def test_rows_at_the_start_are_passed_over(folder: Path, skip: int, limit: int, kept: str) -> None:
    (folder / "five.tsv").write_text("".join(f"{letter}\t{letter}{letter}\n" for letter in "abcde"))
    text = f'[[stage]]\nuse = "read-pairs"\nsource = "five.tsv"\nskip = {skip}\nlimit = {limit}\n'
    found = rows(run(text, folder).stages[-1].folder)
    assert "".join(row["src"] for row in found) == kept
    assert [row["pair_id"].rpartition(":")[2] for row in found] == [str("abcde".index(letter) + 1) for letter in kept]


def test_a_bad_row_behind_those_passed_over_stays_in_the_books(folder: Path) -> None:
    lines = [b"a\tb\n"] * 4 + [b"bad\n"] + [b"c\td\n"] * 2 + [b"\xff\t\n"] + [b"e\tf\n"]
    (folder / "rows.tsv").write_bytes(b"".join(lines))
    text = '[[stage]]\nuse = "read-pairs"\nsource = "rows.tsv"\nbad_rows = "reject"\nskip = {}\n'
    for name, skip, kept, bad in (("whole", 0, 7, 2), ("some", 2, 5, 2), ("behind", 5, 2, 1)):
        (folder / name).mkdir()
        (folder / name / "rows.tsv").write_bytes((folder / "rows.tsv").read_bytes())
        counts = run(text.format(skip), folder / name).stages[-1].counts
        assert (counts.kept, counts.rejected) == (kept, bad), name


def test_text_in_any_language_is_taken_where_none_is_named(folder: Path) -> None:
    write_pairs(folder / "pairs", ("ein Hund", "a dog"))
    text = '[[stage]]\nuse = "read-sentences"\ncorpora = ["pairs"]\nlang = "{}"\n'
    assert [row["text"] for row in rows(run(text.format("und"), folder).stages[-1].folder)] == ["ein Hund", "a dog"]


def test_a_line_behind_the_limit_is_at_no_fault_in_a_later_chunk_either(folder: Path) -> None:
    (folder / "mono.txt").write_bytes(b"".join(b"line %d\n" % n for n in range(5001)) + b"\xff\n")
    assert run(MONO + "limit = 5001\n", folder).stages[-1].counts.kept == 5001


def test_a_limit_of_texts_is_no_negative_number(folder: Path) -> None:
    (folder / "mono.txt").write_text("A dog.\n")
    with pytest.raises(ConfigError, match="'limit' is 0"):
        run(MONO + "limit = -1\n", folder)


def test_a_language_that_is_not_among_those_that_may_occur_is_named(folder: Path) -> None:
    write_pairs(folder / "pairs", ("ein Hund", "a dog"))
    text = '[[stage]]\nuse = "clean"\ninput = "pairs"\nlanguages = ["en", "tr"]\n'
    with pytest.raises(DataError, match="said to be in 'de', which is not among the languages"):
        run(text, folder)


def test_more_rows_passed_over_than_there_are_leave_nothing_to_read(folder: Path) -> None:
    (folder / "one.tsv").write_text("a\tb\n")
    with pytest.raises(DataError, match="no rows to read"):
        run('[[stage]]\nuse = "read-pairs"\nsource = "one.tsv"\nskip = 9\n', folder)
    with pytest.raises(ConfigError, match="0 or more rows"):
        run('[[stage]]\nuse = "read-pairs"\nsource = "one.tsv"\nskip = -1\n', folder)
