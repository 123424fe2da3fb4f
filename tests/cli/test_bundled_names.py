"""Every argument that names a translator or an encoder takes the name of a bundled one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_commands import commands
from commands import Command
from toy_documents import Page, write_pages

PAIRS = [("Ein Hund schläft.", "A dog sleeps."), ("Die Katze frisst.", "The cat eats."), ("Hallo.", "Hello there.")]
GERMAN = "".join(f"{pair[0]}\n" for pair in PAIRS)
ENGLISH = "".join(f"{pair[1]}\n" for pair in PAIRS)
INLINE = ("--engine", "inline")

CASES: dict[str, tuple[object, ...]] = {
    "backtranslate --translator": ("pairs.tsv", "--translator", "de-en", "-o", "o.tsv", *INLINE),
    "score --encoder": ("pairs.tsv", "--encoder", "english", "-o", "o.tsv", *INLINE),
    "score --translator": (
        *("pairs.tsv", "--translator", "de-en", "--reverse-translator", "en-de", "-o", "o.tsv"),
        *INLINE,
    ),
    "score --reverse-translator": ("pairs.tsv", "--reverse-translator", "en-de", "-o", "o.tsv", *INLINE),
    "score --paraphrase-model": ("pairs.tsv", "--paraphrase-model", "paraphrases-en", "-o", "o.tsv", *INLINE),
    "filter --reverse-translator": (
        *("pairs.tsv", "--preset", "loose", "--reverse-translator", "en-de", "-o", "o.tsv"),
        *INLINE,
    ),
    "scores --paraphrase-model": ("--paraphrase-model", "paraphrases-en"),
    "evaluate lookalikes --encoder": ("en.tsv", "--encoder", "english"),
    "evaluate lookalikes --reverse-translator": ("en.tsv", "--reverse-translator", "en-de"),
    "evaluate lookalikes --paraphrase-model": ("en.tsv", "--paraphrase-model", "paraphrases-en"),
    "encode encoder": ("english", "en.txt", "-o", "o.npy"),
    "search encoder": ("english", "en.txt", "en.txt"),
    "mine encoder": ("english", "en.txt", "-o", "o.tsv", "--above", -1),
    "export encoder": ("english", "-o", "o"),
    "translate translator": ("de-en", "de.txt", "-o", "o.txt"),
    "augment --translator": ("de.txt", "--translator", "de-en", "-o", "o.tsv", "--method", "base", "--outputs", 1),
    "variants --translator": ("de.txt", "--translator", "de-en", "-o", "o.tsv", *INLINE),
    "paraphrase --encoder": (*("A dog sleeps.", "--paraphraser", "round-trip:en-de,de-en", "--encoder", "english"),),
    "align sentences --translator": ("de.txt", "en.txt", "--translator", "de-en", "-o", "o.vecalign"),
    "align sentences --encoder": ("en.txt", "en.txt", "--encoder", "english", "-o", "o.vecalign"),
    "align documents --translator": ("de", "en", "--translator", "de-en", "-o", "o.tsv"),
    "align documents --target-translator": (
        *("de", "de", "--translator", "de-en", "--target-translator", "de-en", "-o", "o.tsv"),
    ),
    "align documents --encoder": ("en", "en", "--encoder", "english", "-o", "o.tsv"),
    "evaluate sts encoders": ("english", "sts"),
    "evaluate classification encoders": ("english", "--data", "labeled"),
    "evaluate translator translator": ("de-en", "pairs.tsv"),
    "evaluate paraphraser --encoder": (
        *("round-trip:en-de,de-en", "en.tsv", "--encoder", "english", "--candidates", 2),
    ),
    "evaluate aligner --translator": ("gold.jsonl", "--translator", "de-en"),
    "evaluate aligner --encoder": ("gold.jsonl", "--encoder", "english"),
    "train encoder --init-from": ("--pairs", "pairs.tsv", "--init-from", "english", "--epochs", 1, "-o", "o"),
    "train translator --init-from": (
        *("--bitext", "pairs.tsv", "--dev", "pairs.tsv", "--init-from", "de-en", "--steps", 2, "-o", "o"),
    ),
    "distill teacher": ("english", "en.txt", "--steps", 2, "--dimension", 8, "-o", "o"),
    "paraphrase --paraphraser": ("A dog sleeps.", "--paraphraser", "english", "-n", 1),
    "evaluate paraphraser model": ("english", "en.tsv", "--candidates", 2),
    "parse --parser": ("pairs.tsv", "--parser", "english", "--columns", "tgt", "-o", "o.parquet", *INLINE),
    "diversity --parser": ("variants.tsv", "--parser", "english"),
}
"""Command and parameter → arguments."""

OTHERS = {
    *("explore --encoder", "demo --encoder", "demo --paraphraser", "train parser --encoder"),
    *(
        "research evaluate-control --parser",
        "research evaluate-control paraphraser",
    ),
    *("papers run --parser", "train paraphraser --parser", "train paraphraser --init-from", "decontaminate --model"),
    "research evaluate-control paraphraser",
}
"""A COMET model; a command that serves until it is stopped; one whose tables take minutes; commands that take parsed
pairs, and one that trains on them (their own tests name parsers); a folder that is written to; models of a server."""

SLOW = {
    "align documents --translator",
    "align documents --target-translator",
    "augment --translator",
    "distill teacher",
    "train encoder --init-from",
    "train translator --init-from",
}


@pytest.fixture
def files(tmp_path: Path) -> None:
    """Small files of every kind that the commands read."""
    (tmp_path / "pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in PAIRS))
    (tmp_path / "en.tsv").write_text("He has two dogs.\tHe owns 2 dogs.\nIt is late now.\tIt is late by now.\n")
    (tmp_path / "variants.tsv").write_text("pair_id\ttext\n1\tA dog sleeps.\n1\tA dog is asleep.\n")
    (tmp_path / "de.txt").write_text(GERMAN)
    (tmp_path / "en.txt").write_text(ENGLISH)
    (tmp_path / "words.txt").write_text("dog 3\ncat 2\nsleeps 1\n")
    (tmp_path / "set.csv").write_text("text,label\nA dog sleeps here.,animal\nThe stocks fell today.,money\n")
    (tmp_path / "sts/stsbenchmark").mkdir(parents=True)
    (tmp_path / "sts/stsbenchmark/sts-dev.tsv").write_text("5\ta dog\ta dog\n3\ta dog\ta cat\n0\ta dog\tstocks fell\n")
    (tmp_path / "labeled").mkdir()
    for name in ("train", "test"):
        (tmp_path / f"labeled/{name}.tsv").write_text("animal\ta dog\nmoney\tstocks fell\n" * 3)
    question = "double\tJJ\nstar\tNN\nbinary\ndouble\nstar\ndual\nlumen\nneutralism\nkeratoplasty\n"
    tasks = {"semeval2013-5a": ("en.testSet", "en.trainSet"), "turney2012": ("jair.test", "jair.train")}
    for task, names in tasks.items():
        (tmp_path / "phrases" / task).mkdir(parents=True)
        for name in names:
            text = question if task == "turney2012" else "sudden\tJJ\nrush\tNN\nspate\n1\n" * 2
            (tmp_path / "phrases" / task / name).write_text(text)
    words = ["dog", "cat", "man", "child", "horse", "woman", "bird", "boy", "house", "tree", "river", "road"]
    phrases = [f"[X] ||| the {a} ||| a {a} and {b} ||| x=1\n" for a in words for b in words if a != b]
    (tmp_path / "ppdb").write_text("".join(phrases))
    gold = {"source": GERMAN.splitlines(), "target": ENGLISH.splitlines(), "gold": [[[0], [0]], [[1], [1]], [[2], [2]]]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold) + "\n")
    write_pages(tmp_path / "de", [Page("d", "de", GERMAN)])
    write_pages(tmp_path / "en", [Page("e", "en", ENGLISH)])


def test_every_argument_that_names_a_model_is_tested() -> None:
    names = {
        "translator",
        "target_translator",
        "reverse_translator",
        "encoder",
        "encoders",
        "teacher",
        "model",
        "paraphraser",
        "parser",
    }
    names |= {"init_from", "paraphrase_model", "paraphraser", "translators"}
    arguments = {
        f"{path.removeprefix('research ')} {parameter.opts[0]}"
        for path, command in commands().items()
        for parameter in command.params
        if parameter.name in names
    }
    assert arguments == {case.removeprefix("research ") for case in (*CASES, *OTHERS)}


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[pytest.mark.slow] if case in SLOW else []) for case in CASES]
)
def test_a_bundled_model_is_used(paraloom: Command, files: None, case: str) -> None:
    status, _, err = paraloom(*case.split()[:-1], *CASES[case])
    assert status == 0, err
