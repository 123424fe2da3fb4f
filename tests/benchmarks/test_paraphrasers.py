"""The benchmarks of paraphrasers and of the lexicon run on tiny inputs; their figures by hand."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from in_process import BENCHMARKS, run_benchmark
from toy_syntax import text_of, tree_pairs

LEXICON = [
    ("big", "large", 9, 0.9),
    ("large", "big", 9, 0.9),
    ("hot", "cold", 5, 0.5),
    ("cold", "hot", 5, 0.5),
    ("a lot", "much", 4, 0.4),
    ("house", "home", 3, 0.3),
]


def run(name: str, *arguments: object, data: Path | None = None) -> str:
    """What a benchmark prints."""
    done = run_benchmark(name, *arguments, data=data)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_alone(name: str, *arguments: object, data: Path | None = None) -> str:
    """What a benchmark prints, in a process of its own."""
    environment = os.environ | ({} if data is None else {"PARALOOM_DATA": str(data)})
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def lexicon(tmp_path: Path) -> Path:
    """A lexicon, and PPDB's files in the folder of the corpora."""
    path = tmp_path / "lexicon.tsv"
    header = "phrase\tparaphrase\tpivots\tprobability\tinverse\tscore\n"
    path.write_text(header + "".join(f"{a}\t{b}\t{n}\t.5\t.5\t{s}\n" for a, b, n, s in LEXICON))
    folder = tmp_path / "phrase/ppdb-lexical"
    folder.mkdir(parents=True)
    (folder / "ppdb_synonyms.txt.gz").write_bytes(gzip.compress(b"large big\nbig large\nfilm movie\nhot large\n"))
    (folder / "ppdb_antonyms.txt").write_text("hot cold \ncold hot \n")
    (folder / "ppdb-1.0-xxxl-lexical.pairs.tsv.gz").write_bytes(gzip.compress(b"big\tlarge\nHome\thouse\n"))
    (tmp_path / "phrase/ppdb-b2u").mkdir()
    (tmp_path / "phrase/ppdb-b2u/ppdb.xxl.b2u.test").write_text("a\tDT\nlot\tNN\nmuch\nbig\tJJ\ncat\tNN\ntiger\n")
    return path


@pytest.mark.slow
def test_the_lexicon(lexicon: Path, tmp_path: Path) -> None:
    printed = run("lexicon", "evaluate", lexicon, "--scores", 0, 0.5, data=tmp_path)
    assert printed.startswith("4 entries in either direction, 3 of them of two single words\n")
    assert "| lexicon, score 0.5 | 2 | " in printed
    cells = next(line for line in printed.splitlines() if line.startswith("| lexicon |")).split(" | ")
    # Of three pairs of synonyms one is there; of the three entries of words two are in XXXL and one is of antonyms.
    shares = ["33.3", "66.7", "33.3", "50"]
    assert [cell.split(" ")[0] for cell in cells[1:]] == ["4", *shares]

    sheet, key = tmp_path / "sheet.tsv", tmp_path / "sheet.key.tsv"
    (tmp_path / "text.tsv").write_text("x\tIt is a big, hot house.\nx\tThanks a lot!\n")
    drawing = ("lexicon", "draw", lexicon, "--text", tmp_path / "text.tsv", "--size", 3, "--baselines", 1, "-o", sheet)
    run(*drawing)
    header, *rows = sheet.read_text().splitlines()
    assert header.split("\t")[-2:] == ["verdict", "antonym"] and len(rows) == 5
    assert all(f"[{row.split(chr(9))[1]}]" in row for row in rows)
    systems = [line.split("\t")[1] for line in key.read_text().splitlines()[1:]]
    assert sorted(systems) == ["by chance", "lexicon", "lexicon", "lexicon", "nearest"]
    with pytest.raises(AssertionError, match="exists already"):
        run(*drawing)
    ends = ["\tk\tn" if system == "lexicon" else "\tw\ty" for system in systems]
    other = ["\tk\tn", *ends[1:]]
    for name, verdicts in (("one.tsv", ends), ("two.tsv", other)):
        answers = [row.removesuffix("\t\t") + end for row, end in zip(rows, verdicts, strict=True)]
        (tmp_path / name).write_text("\n".join([header, *answers]) + "\n")
    printed = run("lexicon", "count", tmp_path / "one.tsv", tmp_path / "two.tsv", "--key", key)
    assert "| lexicon, 3 pairs | 1 | 100 % [43.9, 100] |" in printed and "The readings agree" in printed
    with pytest.raises(AssertionError, match="line 2: expected a verdict"):
        run("lexicon", "count", sheet, "--key", key)


@pytest.mark.slow
def test_paraphrasing(toy_paraphraser: Path, tmp_path: Path) -> None:
    pairs = [(text_of(one), text_of(other)) for one, other in tree_pairs(8, seed=9)]
    (tmp_path / "toy.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in pairs))
    folder = tmp_path / "paraphrase/mrpc"
    folder.mkdir(parents=True)
    rows = "".join(f"{number % 2}\t1\t2\t{one}\t{other}\n" for number, (one, other) in enumerate(pairs))
    (folder / "msr_paraphrase_test.tsv").write_text(rows)
    printed = run_alone(
        *("paraphrasing", "--sets", "mrpc", "--pairs", tmp_path / "toy.tsv", "--model", f"toy={toy_paraphraser}"),
        *("--rows", 3, "--candidates", 2, "--sheet", tmp_path / "sheet.tsv", "--samples", 1),
        *("-o", tmp_path / "tables.json"),
        data=tmp_path,
    )
    tables = json.loads((tmp_path / "tables.json").read_text())
    assert [*tables] == ["mrpc", "toy"] and "mrpc: 3 of 4 sentences" in printed
    systems = ["copy", "reference", "round trip", "round trip + selection", "toy", "toy + selection"]
    assert [row["system"] for row in tables["toy"]["rows"]] == systems
    assert tables["toy"]["rows"][0]["self_bleu"]["value"] == pytest.approx(100)
    assert printed.count("| copy | ") == 2 and "outputs to judge" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--sets", "--pairs", "a/dev.tsv", "--pairs", "b/dev.tsv"), "two sets are named 'dev'"),
        (("--sets", "mrpc", "--pairs", "mrpc.tsv"), "two sets are named 'mrpc'"),
        (("--sets", "--model", "ours=a", "--model", "ours=b"), "two systems are named 'ours'"),
        (("--sets", "--model", "round trip=a"), "two systems are named 'round trip'"),
    ],
)
@pytest.mark.slow
def test_names_of_paraphrasing_are_distinct(arguments: tuple[str, ...], message: str) -> None:
    done = run_benchmark("paraphrasing", *arguments)
    assert done.returncode == 2 and message in done.stderr


@pytest.mark.slow
def test_speed(toy_paraphraser: Path, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("".join(f"{text_of(one)}\n" for one, _ in tree_pairs(6)))
    printed = run_alone("paraphrase_speed", toy_paraphraser, "--input", tmp_path / "lines.txt", "--rounds", 1)
    result = json.loads(printed.splitlines()[-1])
    # The toy language has two templates.
    tasks = ["free", "2 templates each", "auto, 2 each, parsed", "strict, selected"]
    assert [row["task"] for row in result["rows"]] == tasks
    assert result["lines"] == 6 and all(row["ours"] > 0 for row in result["rows"])
    free = result["rows"][0]
    assert free["generate"] > 0 and len(free["ratios"]) == 1 and 0 <= result["same"] <= 1


@pytest.mark.slow
def test_the_sheet_names_no_version_and_is_counted_by_the_key(tmp_path: Path) -> None:
    kinds = ("everyday", "captions", "questions", "news", "help", "science")
    loose = {kind: [[f"{kind} one", "a"], [f"{kind} two", "b"], [f"{kind} three", None]] for kind in kinds}
    strict = {kind: [[src, tgt if src.endswith("one") else None] for src, tgt in rows] for kind, rows in loose.items()}
    for version, kept in (("now", {"strict": strict, "loose": loose}), ("before", {"strict": strict, "loose": loose})):
        (tmp_path / f"kept-{version}.json").write_text(json.dumps(kept))
    run("judged_paraphrases", "draw", "-o", tmp_path)
    header, *pairs = [line.split("\t") for line in (tmp_path / "sheet.tsv").read_text().splitlines()]
    assert header == ["id", "sentence", "paraphrase"] and len(pairs) == 12
    reader = tmp_path / "reader.tsv"
    answers = ["id\tright\tgood\tdifferent\n"]
    answers += [f"{one}\t{int(sentence != 'news one')}\t1\t{int(tgt == 'b')}\n" for one, sentence, tgt in pairs]
    reader.write_text("".join(answers))
    *lines, differing = run("judged_paraphrases", "count", tmp_path, reader).splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines]
    of_row = {tuple(cells[:3]): cells[3:] for cells in rows}
    assert len(of_row) == 2 + 4 * 7
    # Wilson's interval of 5 of 6 by hand: (5 + 1.92) / (6 + 3.84) ± 1.96 / 9.84 · sqrt(5/6 + 0.96) = .703 ± .267
    assert of_row["strict", "now", "all"] == [
        *("6 of 18", "6", "5: 83% [44, 97]", "6: 100% [61, 100]", "0: 0% [0, 39]", "0: 0% [0, 39]")
    ]
    assert of_row["loose alone", "now", "all"][:2] == ["6 of 18", "6"]
    assert of_row["loose alone", "now", "news"][2:] == ["1: 100% [21, 100]"] * 4
    assert of_row["strict", "before", "news"][2] == "0: 0% [0, 79]"
    assert of_row["loose alone", "before", "all"][:2] == ["6 of 18", "6"]
    assert "loose alone, now: 6: 100% [61, 100] of 6" in differing and "strict, now: – of 0" in differing
    earlier = tmp_path / "earlier.tsv"  # whose sentences are left out, however many paraphrases they have
    lines = (tmp_path / "key.tsv").read_text().splitlines()
    earlier.write_text("\n".join([lines[0], *(line for line in lines if "\teveryday\tstrict\tnow" in line)]) + "\n")
    run("judged_paraphrases", "draw", "-o", tmp_path, "--read", earlier)
    assert len((tmp_path / "sheet.tsv").read_text().splitlines()) == 1 + 11
    yields = json.loads((tmp_path / "yields.json").read_text())
    assert {one["of"] for one in yields if one["kind"] == "everyday"} == {2}


@pytest.mark.slow
def test_generators_are_counted_over_all_sentences(tmp_path: Path) -> None:
    kept = [["news", "one", "a"], ["news", "two", "b"], ["help", "three", "c"], ["help", "four", None]]
    presets = {"strict": kept, "loose": [*kept[:3], ["help", "four", "d"]]}
    (tmp_path / "kept.json").write_text(json.dumps({"round trip": presets, "language model": presets}))
    (tmp_path / "seconds.json").write_text(json.dumps({"round trip": 0.2}))
    run("paraphrase_generators", "draw", "-o", tmp_path)
    header, *pairs = [line.split("\t") for line in (tmp_path / "sheet.tsv").read_text().splitlines()]
    assert header == ["id", "source", "output", "right", "different"]
    assert sorted(tgt for _, _, tgt, *_ in pairs) == ["a", "b", "c", "d"]
    answers = [f"{one}\t{int(tgt != 'b')}\t{int(tgt in 'ab')}\n" for one, _, tgt, *_ in pairs]
    (tmp_path / "reader.tsv").write_text("".join(["id\tright\tdifferent\n", *answers]))
    line, unknown = run("paraphrase_generators", "count", tmp_path, tmp_path / "reader.tsv").splitlines()[2:]
    # Of four sentences three have an output, two of these are right, two differ, and one does both.
    assert line.strip("| ").split(" | ") == [
        *("round trip", "3: 75% [30, 95]", "67% [21, 94] of 3", "33% [6, 79] of 3"),
        *("4: 100% [51, 100]", "75% [30, 95] of 4", "25% [5, 70] of 4", "0.200"),
    ]
    assert unknown == line.replace("round trip", "language model").replace("0.200", "–")
    # What a limit leaves out is counted as kept, and not as read.
    run("paraphrase_generators", "draw", "--number", 2, "-o", tmp_path)
    assert len((tmp_path / "sheet.tsv").read_text().splitlines()) in (3, 4)
    line = run("paraphrase_generators", "count", tmp_path, tmp_path / "reader.tsv").splitlines()[2]
    assert "3: 75% [30, 95]" in line and line.count(" of 2 |") == 4
