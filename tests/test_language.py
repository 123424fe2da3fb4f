"""Plain language: the glossary's old words are gone from sources, tests, docs, examples and options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OWN = ("tests/test_language.py", "tests/core/test_kernels.py")
"""Files that list old words and old names, or use one of numba's."""

PROSE = {
    r"mend(s|ed|ing)?": "fix",
    r"put right": "fix",
    r"anew|once more": "again",
    r"(go|goes|going|gone|went) on( to)?": "resume, continue",
    r"(the|these|its|their|whose) books": "row counts",
    r"books (that )?(do not )?(close|balance)": "row counts add up",
    r"whereabouts|ledgers?|lanes?|settles?|settled": "find, shard records, split, commit",
    r"listeners?|misfits?|misfiterror": "progress callback, FieldTypeError",
    r"told": "reported, given",
    r"by lot|drawn by chance": "at random",
    r"at rest": "frozen, for inference",
    r"(is|are) no (?!longer|more|fewer|less)": "is not a, expected X, got Y",
    r"there (is|are|was|were) no": "X not found, unknown X, without X",
    r"one who knows|(idle|free|no|more|many) hands|hands (back|over|out|get)": "worker, returns",
    r"(a|worker's|its) death|died": "crash",
    r"day's worth|cannot be had|was cut off is said|a crew|rooms? of": "plain words",
    r"weaves?|weaving": "turns into",
    r"artefacts?": "artifact",
    r"met before|like a better one|more than wanted|other meaning": "duplicate, near-duplicate, over the limit",
    r"(normal|token|optim|serial|recogn|initial|summar|organ|minim|maxim|general|special|capital|lemmat|random|"
    r"quant|parallel|standard|vector|visual|penal|util)is(e|ed|es|er|ers|ing|ation)(?!-encoder)": "-ize",
    r"colours?|coloured|behaviour|neighbours?|neighbouring|favour|centres?|centred|licences?(?!\W+license)|catalogues?|"
    r"judgements?|programmes?|analyse[sd]?|unlabelled|labelled|labelling|modelling|distil(?!-encoder|-words)|"
    r"distils": "American spelling",
}
"""What is not written → what is."""

NAMES = frozenset(
    [
        "found",
        "each",
        "place",
        "made",
        "told",
        "tell",
        "joined",
        "rising",
        "inner",
        "longest",
        "most",
        "fewest",
        "least",
        "turned",
        "through",
        "tenth",
        "lane",
        "lanes",
        "ledger",
        "books",
        "whereabouts",
        "settle",
        "fitted",
        "hands",
        "listener",
        "begun",
        "misfit",
    ]
)
"""Names that say nothing, or that the field has another word for."""

OPTIONS = frozenset(
    [
        "--turned",
        "--through",
        "--tenth",
        "--bound",
        "--most",
        "--least",
        "--fewest",
        "--longest",
        "--rising",
        "--joined",
        "--inner",
    ]
)

PYTHON = sorted(path for folder in ("src", "tests", "benchmarks", "examples") for path in (ROOT / folder).rglob("*.py"))
TEXTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "examples/*.toml", "src/**/*.toml", "src/**/*.md", "Makefile", "*.toml")
    for path in ROOT.glob(pattern)
    if path.name not in ("CHANGELOG.md", "api.md", "cli.md", "stages.md")
    and not {".venv", "build"} & set(path.relative_to(ROOT).parts)
)
_PATTERNS = "|".join(f"(?P<r{number}>{pattern})" for number, pattern in enumerate(PROSE))
_PROSE = re.compile(rf"\b(?:{_PATTERNS})\b", re.IGNORECASE)


def old_words(text: str) -> Iterator[str]:
    """`line N: word → replacement` for each word of the glossary in `text`."""
    for match in _PROSE.finditer(text):
        better = list(PROSE.values())[int((match.lastgroup or "r0")[1:])]
        yield f"line {text.count(chr(10), 0, match.start()) + 1}: '{match.group().strip()}' → {better}"


def old_names(tree: ast.AST) -> Iterator[str]:
    """`line N: name` for each banned name that a module binds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in NAMES:
            yield f"line {node.lineno}: variable {node.id}"
        elif isinstance(node, ast.arg) and node.arg in NAMES:
            yield f"line {node.lineno}: parameter {node.arg}"
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in NAMES:
            yield f"line {node.lineno}: definition {node.name}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in OPTIONS:
            yield f"line {node.lineno}: option {node.value}"


@pytest.mark.parametrize("folder", sorted({path.relative_to(ROOT).parts[0] for path in [*PYTHON, *TEXTS]}))
def test_plain_words(folder: str) -> None:
    problems = []
    for path in [*PYTHON, *TEXTS]:
        name = path.relative_to(ROOT).as_posix()
        if name.split("/")[0] == folder and name not in OWN:
            text = path.read_text(encoding="utf-8")
            names = old_names(ast.parse(text)) if path.suffix == ".py" else []
            problems += [f"{name}, {problem}" for problem in (*old_words(text), *names)]
    assert not problems, "\n".join(problems)


def test_the_check_sees_old_words() -> None:
    assert list(old_words("Mend the line.\nThe run goes on anew.")) == [
        "line 1: 'Mend' → fix",
        "line 2: 'goes on' → resume, continue",
        "line 2: 'anew' → again",
    ]
    assert list(old_names(ast.parse("def f(longest):\n    found = longest"))) == [
        "line 1: parameter longest",
        "line 2: variable found",
    ]
    assert not list(old_words("It is no longer distilled; the centroid stays."))
