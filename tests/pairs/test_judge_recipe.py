"""The commands of the recipe of the bundled judge, as its docstring prints them, on made-up corpora."""

from __future__ import annotations

import ast
import gzip
import lzma
import os
import random
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

for _package in ("onnx", "onnxruntime", "torch", "transformers", "sentence_transformers"):
    pytest.importorskip(_package, reason="pip install 'paraloom[onnx,distill,cross-encoder]'")

from tiny_transformer import save_tiny_transformer  # noqa: E402

ROOT = Path(__file__).parents[2]
SYNONYMS = {"big": "large", "quick": "fast", "begin": "start", "movie": "film", "clever": "smart", "ill": "sick"}
ANTONYMS = {"big": "small", "quick": "slow", "begin": "end"}
SENTENCES = "sentences-en"


class MadeUp:
    """Sentences of a few patterns, and the same said otherwise."""

    def __init__(self) -> None:
        self.random = random.Random(5)

    def sentence(self) -> str:
        pick = self.random.choice
        name, verb = pick(["Tom", "Mary", "John", "Anna"]), pick(["saw", "liked", "bought", "found"])
        adjective, noun = pick(["big", "quick", "clever", "ill"]), pick(["dog", "movie", "car", "house", "teacher"])
        ending = pick(["in London", "near the river", "before the war", "for 3 years", "with 12 friends"])
        return f"{name} {verb} the {adjective} {noun} {ending} and did not begin to {pick(['cook', 'sing', 'play'])}."

    def otherwise(self, text: str) -> str:
        words = [SYNONYMS.get(word, word) if self.random.random() < 0.7 else word for word in text.split()]
        return " ".join(words).replace("did not", "didn't")

    def pairs(self, count: int) -> Iterator[tuple[str, str]]:
        for text in (self.sentence() for _ in range(count)):
            yield text, self.otherwise(text)


def corpora(made_up: MadeUp, count: int = 25) -> dict[str, list[tuple[str, ...]]]:
    """Path → rows of each file that the recipe reads."""
    files: dict[str, list[tuple[str, ...]]] = {}
    foreign = ("tatoeba/de", "tatoeba/fr", "tatoeba/cs", "tatoeba/tr", "tatoeba-2/es", "europarl-sample/de")
    manuals = ("gnome-help/de", "debian-handbook/de", "python-docs/es", "opensource-guide/de", "privacyguides/fr",
               "rust-book/de")  # fmt: skip
    same = list(made_up.pairs(count))
    for name in (*foreign, *manuals):
        files[f"bitext/{name}-en.tsv.gz"] = [(f"{n}", text) for n, pair in enumerate(same) for text in pair]
    files["bitext/ntrex/is-en.tsv.gz"] = [("document", "x", text) for text, _ in made_up.pairs(count)]
    for name in ("headlines.reddit-press", "headlines.clickbait", "forum.reddit-posts", "questions.opentrivia",
                 "questions.reddit-titles", "questions.stackoverflow-titles", "glosses.open-english-wordnet",
                 "examples.open-english-wordnet", "mixed.masc"):  # fmt: skip
        files[f"{SENTENCES}/{name}.txt.xz"] = [(text,) for text, _ in made_up.pairs(count)]
    files["simplewiki/kauchak-v2-dev.normal-simple.tsv.gz"] = list(made_up.pairs(count))
    files["paraphrase/tatoeba-pivot/pairs.tsv.gz"] = [(a, b, "deu,fra") for a, b in made_up.pairs(count)]
    verses = list(made_up.pairs(count))
    for number, version in enumerate(("BSB", "WEB", "OEB", "BBE", "UST", "OET-RV")):
        rows = [(f"GEN 1:{n}", pair[number % 2]) for n, pair in enumerate(verses)]
        files[f"paraphrase/bible-verses/{version}.tsv.gz"] = rows
    files["paraphrase/onestopenglish/pairs.tsv.gz"] = [("ADV-INT", a, b) for a, b in made_up.pairs(count)]
    files["paraphrase/wiki-split/tune+validation.tsv.gz"] = [
        (f"{a} {b}", f"{a} <::::> {b}", share, "0.9")
        for share, (a, b) in zip(["0.9", "0.5"] * 80, verses, strict=False)
    ]
    files["paraphrase/paws-wiki/dev.tsv.gz"] = [(str(n % 2), *pair) for n, pair in enumerate(verses)]
    meanings = [f"name[{n % 9}], food[{n % 7}]" for n in range(count)]
    files["paraphrase/e2e-cleaned/dev.tsv.gz"] = [(m, made_up.sentence()) for m in meanings]
    files["paraphrase/rnnlg/references.tsv.gz"] = [("hotel", m, made_up.sentence()) for m in meanings]
    groups = [("advising", str(n % 30), text) for n, (text, _) in enumerate(made_up.pairs(count))]
    files["paraphrase/text2sql/questions.tsv.gz"] = groups
    captions = [(str(n), text) for n, pair in enumerate(made_up.pairs(count)) for text in pair]
    files["paraphrase/coco-captions-val/captions.tsv.gz"] = captions
    lexical = "phrase/ppdb-lexical"
    files[f"{lexical}/ppdb-1.0-xxxl-lexical.pairs.tsv.gz"] = list(SYNONYMS.items())
    files[f"{lexical}/ppdb_synonyms.txt.gz"] = [(f"{a} {b}",) for a, b in SYNONYMS.items()]
    files[f"{lexical}/ppdb_antonyms.txt"] = [(f"{a} {b}",) for a, b in ANTONYMS.items()]
    return files


def printed_commands(script: Path) -> Iterator[list[str]]:
    """Commands of the docstring of a script."""
    text = ast.get_docstring(ast.parse(script.read_text("utf-8"))) or ""
    for line in text.replace("\\\n", " ").split("\n"):
        if line.startswith("    "):
            yield shlex.split(line.strip())


@pytest.mark.slow
def test_the_recipe_runs_as_it_is_printed(tmp_path: Path) -> None:
    writers = {".gz": gzip.compress, ".xz": lzma.compress}
    for name, rows in corpora(MadeUp()).items():
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content = "".join("\t".join(row) + "\n" for row in rows).encode()
        path.write_bytes(writers.get(path.suffix, bytes)(content))
    save_tiny_transformer(tmp_path).rename(tmp_path / "all-MiniLM-L6-v2")
    programs = {"python": [sys.executable], "paraloom": [sys.executable, "-m", "paraloom"]}
    for words in printed_commands(ROOT / "examples/judge.py"):
        environment = os.environ | {"PARALOOM_DATA": str(tmp_path / "data")}
        words = [word for word in words if not word.startswith("PARALOOM_DATA=")]
        words = [str(ROOT / word) if word.startswith(("examples/", "benchmarks/")) else word for word in words]
        command = [*programs[words[0]], *words[1:]]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{shlex.join(words)}\n{done.stderr}"
    from paraloom.pairs.scoring.judge import Judge

    judge = Judge.load(tmp_path / "runs/judge")
    values = judge.probabilities(["the dog"], ["the dogs"])
    assert values.shape == (1, 5) and ((values > 0) & (values < 1)).all()
