"""What a table was made of: digests of pairs, models, tests and code; and which tables today's code would make anew."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

from paraloom.bundled import bundled_path
from paraloom.core.digests import digest, file_digest, folder_digest
from paraloom.core.errors import ConfigError, MissingExtraError, ParaloomError
from paraloom.core.results import ResultRecord
from paraloom.evaluate.translation import evaluate_translation
from paraloom.io import Corpus
from paraloom.papers.published import PAPERS
from paraloom.papers.tables import read_table
from paraloom.pipeline.registry import load_stage

CODE = "code"
"""The input of a table that is not data."""

_BLEU_SENTENCES = 1_000
_SHARED = ("study", "trainings", "measurements", "tables")
_STAGES = ("filter", "score", "count-words", "train-encoder", "pair-statistics")


@dataclass(frozen=True)
class TableState(ResultRecord):
    """Whether a table is what today's code makes.

    Args:
        name: Name of the table.
        state: 'current', 'stale', or 'untraced' where its file does not say what it was made of.
        why: What is not as it was; empty where nothing is.
    """

    name: str
    state: str
    why: str = ""


def check_tables(folder: str | Path, inputs: Mapping[str, str | Path] | None = None) -> list[TableState]:
    """Compare what tables were made of with today's code and, by name, with inputs; a state for each file.

    Args:
        folder: A folder with NAME.json of tables.
        inputs: Name of an input, such as 'pairs tatoeba' or 'vectors' → its folder or file.
    """
    from paraloom.papers.runner import module_of

    now = {name: input_digest(path) for name, path in (inputs or {}).items()}
    paths = sorted(Path(folder).glob("*-*.json"))
    if not paths:
        raise ConfigError("the folder has no tables", file=Path(folder), remedy="Give a folder of NAME.json.")
    states = []
    for path in paths:
        table = read_table(path)
        if not table.made:
            states.append(TableState(table.name, "untraced", "made before tables named their inputs"))
            continue
        today = {**now, CODE: code_digest(module_of(table.name)) if table.name in PAPERS else ""}
        changed = [name for name, of_then in table.made.items() if name in today and today[name] != of_then]
        states.append(TableState(table.name, "stale" if changed else "current", ", ".join(changed)))
    return states


def format_states(states: Sequence[TableState]) -> str:
    """A line for each table."""
    width = max(len(state.name) for state in states)
    return "\n".join(f"{state.name:<{width}}  {state.state:<8}  {state.why}".rstrip() for state in states)


@cache
def code_digest(module: str) -> str:
    """Digest of the code of a module that makes tables, of what all of them share, and of versions of stages.

    Comments, docstrings and layout are not in it.
    """
    root = files("paraloom.papers")
    names = [module.removeprefix("paraloom.papers.").replace(".", "/"), *_SHARED]
    code = {name: _code(root.joinpath(f"{name}.py").read_text(encoding="utf-8")) for name in names}
    return digest([code, {use: load_stage(use).version for use in _STAGES}])[:12]


def input_digest(source: str | Path) -> str:
    """Digest of a corpus, a folder, a file or a bundled model."""
    path = bundled_path(str(source)) or Path(source)
    if (path / "corpus.json").is_file():
        path = path / "corpus.json"  # it has the digests of the shards
    return (folder_digest(path) if path.is_dir() else file_digest(path))[:12]


def translator_of(source: str | Path) -> str:
    """The signature of the translator and the decoding that made the pairs of a corpus; '' where it is not known."""
    if not (Path(source) / "corpus.json").is_file():
        return ""
    metadata = Corpus.open(Path(source)).schema.field("tgt").metadata or {}
    return str(metadata.get(b"signature", b"").decode())


def translation_quality(source: str | Path) -> str:
    """BLEU of a source's translations against their references, as text."""
    if not (Path(source) / "corpus.json").is_file():
        return "not known"
    batches = Corpus.open(Path(source)).batches(["src", "tgt"])
    rows = [row for batch in islice(batches, 20) for row in batch.to_pylist()]
    rows = rows[:: max(1, len(rows) // _BLEU_SENTENCES)][:_BLEU_SENTENCES]
    try:
        bleu = evaluate_translation([row["tgt"] for row in rows], [row["src"] for row in rows]).bleu
    except (MissingExtraError, ParaloomError):
        return "not measured"
    return f"{bleu.score:.1f}" + ("" if bleu.interval is None else f" ± {bleu.interval:.1f}")


def _code(text: str) -> str:
    tree = ast.parse(text)
    for node in _with_body(tree):
        first = node.body[0] if node.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            node.body = node.body[1:]
    return ast.dump(tree)


def _with_body(tree: ast.AST) -> Iterator[Any]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return (node for node in ast.walk(tree) if isinstance(node, kinds))
