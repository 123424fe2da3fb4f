"""The public API: what `import paraloom` gives, what its docstrings say, and a script that uses all of it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from docstrings import problems, public_objects, report
from processes import TIMEOUT, environment, python

import paraloom
from paraloom.core.stage import Stage

HEAVY = ["ctranslate2", "duckdb", "numba", "numpy", "pandas", "pyarrow", "scipy", "sentencepiece", "torch", "typer"]
"""Packages that `import paraloom` leaves to the functions that need them."""


@pytest.mark.slow
def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, paraloom; assert dir(paraloom) and paraloom.__all__; print(' '.join(sys.modules))"
    modules = set(python(code).stdout.split())
    assert "paraloom" in modules
    assert not modules & set(HEAVY)


def test_every_public_name_can_be_used() -> None:
    assert 30 <= len(paraloom.__all__) <= 50
    assert set(paraloom.__all__) == {name for name in dir(paraloom) if not name.startswith("__")}
    for name in paraloom.__all__:
        thing = getattr(paraloom, name)
        assert isinstance(thing, ModuleType) or thing.__name__ == name
        assert getattr(paraloom, name) is thing
    assert set(paraloom.stages.__all__) <= set(dir(paraloom.stages))
    for name in paraloom.stages.__all__:
        assert issubclass(getattr(paraloom.stages, name), Stage), name


def test_an_unknown_name_is_an_error() -> None:
    for name in ("algin", "_private", "Stage"):
        with pytest.raises(AttributeError, match=f"module 'paraloom' has no attribute '{name}'"):
            getattr(paraloom, name)


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(paraloom.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    names = {alias.asname for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert names == set(paraloom.__all__)
    assert (Path(paraloom.__file__).parent / "py.typed").is_file()


def test_public_docstrings_are_complete() -> None:
    assert report()["missing"] == {}
    names = {name for name, _, _ in public_objects()}
    assert {"Pairs.filter", "Encoder.encode", "stages.Score", "paraloom.mt.decoding.Beam", "align"} <= names


def test_the_check_of_docstrings_sees_what_is_missing() -> None:
    def complete(first: int, *rest: int, **others: int) -> int:
        """Add numbers.

        Args:
            first: One.
            *rest: More.
            **others: Even more.

        Returns:
            The sum.

        Example:
            >>> complete(1)
            1
        """
        return first + sum(rest) + sum(others.values())

    def incomplete(first: int, second: int) -> int:
        """Add numbers.

        Args:
            second: Two.
        """
        return first + second

    def bare() -> None: ...

    class Derived(paraloom.DataError):
        """Without arguments of its own."""

    assert problems(complete) == []
    assert problems(incomplete) == ["Example", "Args: first", "Returns"]
    assert problems(incomplete, example=False) == ["Args: first", "Returns"]
    assert problems(bare) == ["docstring"]
    assert problems(Derived) == ["Example"]
    assert problems(property(complete), example=False) == []


SENTENCE = "A dog sleeps."


def one_string() -> dict[str, Any]:
    """Functions that take lists, each called with one string."""
    return {
        "align": lambda: paraloom.align(SENTENCE, [SENTENCE]),
        "as_pairs": lambda: paraloom.as_pairs(SENTENCE),
        "backtranslate": lambda: paraloom.backtranslate("Guten Morgen", "de-en"),
        "score": lambda: paraloom.score(SENTENCE, ["overlap"]),
        "align_documents": lambda: paraloom.align_documents(SENTENCE, [SENTENCE]),
        "diversity": lambda: paraloom.diversity(SENTENCE),
        "diversity of one group": lambda: paraloom.diversity([SENTENCE, SENTENCE]),
        "evaluate_translation": lambda: paraloom.evaluate_translation(SENTENCE, [SENTENCE]),
        "references": lambda: paraloom.evaluate_translation([SENTENCE], SENTENCE),
        "stages": lambda: paraloom.Pipeline("pipeline.toml"),  # type: ignore[arg-type]
    }


@pytest.mark.parametrize("name", one_string())
def test_a_string_in_place_of_a_list_is_a_type_error(name: str) -> None:
    with pytest.raises(TypeError, match="str"):
        one_string()[name]()


def test_a_string_in_place_of_a_list_gives_one_result() -> None:
    encoder = paraloom.Encoder.load("english")
    assert encoder.encode(SENTENCE).shape == (encoder.dimension,)
    assert encoder.similarity(SENTENCE, SENTENCE).shape == (1, 1)
    variants = paraloom.Translator.load("de-en").translate("Ein Hund", decode="beam:2,nbest=2")
    assert [type(variant) for variant in variants] == [paraloom.Variant] * 2
    assert paraloom.score([(SENTENCE, SENTENCE)], "bleu1").to_list()[0]["bleu1"] > 0.5
    paraphraser = paraloom.RoundTripParaphraser("en-de", "de-en")
    assert repr(paraphraser) == "<RoundTripParaphraser en → de → en, pivots=3>"
    assert paraphraser.paraphrase([SENTENCE], n=2) == [paraphraser.paraphrase(SENTENCE, n=2)]
    trained = paraloom.Paraphraser.load("english")
    assert trained.paraphrase([SENTENCE], n=2) == [trained.paraphrase(SENTENCE, n=2)]
    assert repr(trained).startswith("<Paraphraser English: ") and "templates" in repr(trained)


SCRIPT = """
import paraloom
translator = paraloom.Translator.load("de-en")
result = translator.translate(["Guten Morgen"], decode="beam:12,nbest=3")
assert len(result) == 1 and len(result[0]) == 3
assert isinstance(result[0][0].text, str) and result[0][0].logprob <= 0
pairs = paraloom.backtranslate([("Guten Morgen", "Good morning")], translator)
frame = paraloom.score(pairs, ["overlap", "bleu1"]).to_pandas()
assert frame.src.tolist() == ["Good morning"] and "trigram_overlap" in frame and "bleu1" in frame
paraloom.read_pairs("train.{de,en}").score(["overlap"]).filter("trigram_overlap <= 0.7").write("kept.parquet")
kept = paraloom.read_pairs("kept.parquet").to_arrow()
assert 0 < kept.num_rows < 40 and max(kept["trigram_overlap"].to_pylist()) <= 0.7
paraloom.score(pairs, ["overlap"]).write("scored.jsonl")
assert paraloom.score(pairs, ["overlap"]).to_arrow().num_rows == 1
encoder = paraloom.Encoder.load("english")
vectors = encoder.encode(["A cat sleeps."])
assert vectors.shape == (1, encoder.dimension) and vectors.dtype == "float32"
assert encoder.similarity(["A cat sleeps."], ["Stocks fell."]).shape == (1, 1)
source_lines = ["Paris 1900.", "Berlin 1901."]
target_lines = ["Paris 1900.", "Berlin", "1901."]
beads = paraloom.align(source_lines, target_lines)
assert [(bead.source, bead.target) for bead in beads] == [((0,), (0,)), ((1,), (1, 2))]
assert all(isinstance(bead, paraloom.Bead) and isinstance(bead.score, float) for bead in beads)
pages_a, pages_b = ["Rom 1527.", "Wien 1683."], ["Vienna, Wien 1683.", "Rome, Rom 1527."]
variants = [["The dog sleeps.", "A dog is asleep."], ["Hello.", "Hello."]]
documents = paraloom.align_documents(pages_a, pages_b); scores = paraloom.diversity(variants)
sts = paraloom.evaluate_sts(encoder, "sts/")
assert [(pair.source, pair.target) for pair in documents.pairs()] == [("0", "1"), ("1", "0")]
assert scores.ibleu > 0 and paraloom.diversity(result).ibleu >= 0
assert -100 <= sts.row("STS-B", "dev").pearson <= 100 and "STS-B" in sts.format()
run = paraloom.Pipeline([
    paraloom.stages.ReadPairs(source="train.{de,en}"),
    paraloom.stages.BackTranslate(translator="de-en", decode="beam:2"),
    paraloom.stages.Score(scores=["overlap"], encoder="english"),
]).run("runs/x")
assert [stage.counts.out for stage in run.stages] == [40, 40, 40]
print("done")
"""
"""The lines that the README opens with, on small files, with what they must give; no guard, as in a notebook."""


@pytest.mark.slow
def test_a_script_that_uses_the_whole_api(tmp_path: Path) -> None:
    pytest.importorskip("pandas", reason="to_pandas needs pandas")
    german = [f"Der Hund Nummer {number} schläft im Haus." for number in range(40)]
    english = [f"The dog number {number} sleeps in the house." for number in range(20)]
    (tmp_path / "train.de").write_text("".join(f"{line}\n" for line in [*english, *german[20:]]))
    (tmp_path / "train.en").write_text("".join(f"{line}\n" for line in [*english, *reversed(english)]))
    (tmp_path / "sts/stsbenchmark").mkdir(parents=True)
    lines = "5\ta dog\ta dog\n3\ta dog\ta cat\n0\ta dog\tstocks fell\n"
    (tmp_path / "sts/stsbenchmark/sts-dev.tsv").write_text(lines)
    (tmp_path / "script.py").write_text(SCRIPT)
    process = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout == "done\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("kept.parquet", "runs", "scored.jsonl", "script.py", "sts", "train.de", "train.en"),
    ]


def test_objects_say_what_they_are() -> None:
    assert repr(paraloom.Encoder.load("english")).startswith("Encoder('english', dimension=512")
    assert "de → en" in repr(paraloom.Translator.load("de-en"))
    assert repr(paraloom.as_pairs([("a", "b")])) == "<Pairs InMemoryPairs, not computed yet>"


def test_a_result_says_what_it_is(tmp_path: Path) -> None:
    pairs = paraloom.as_pairs([("a b", "a c"), ("a", "b")]).filter("src = 'a b'")
    result = pairs.write(tmp_path / "kept.tsv", engine="inline")
    assert repr(result) == f"<RunResult '{tmp_path / 'kept.tsv'}', rows: input 2, filter 1>"


def test_unknown_models_name_those_that_are_bundled() -> None:
    with pytest.raises(paraloom.ModelError, match=r"model folder not found\.\n.*bundled translator \(de-en, en-de\)"):
        paraloom.Translator.load("de-ne")
    with pytest.raises(paraloom.ModelError, match=r"not a translator: model\.bin not found"):
        paraloom.Translator.load("english")
    with pytest.raises(paraloom.ConfigError, match=r"bundled translator \(de-en, en-de\)"):
        paraloom.backtranslate([("a", "b")], "de-ne")
    assert np.isfinite(paraloom.align(["a"], ["b"])[0].score)
