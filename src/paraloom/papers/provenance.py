"""What a table is made of: digests of pairs, models, tests and code, and who made the translations, how well."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

from paraloom.bundled import bundled_path
from paraloom.core.digests import digest, file_digest, folder_digest
from paraloom.core.errors import ParaloomError
from paraloom.evaluate.translation import evaluate_translation
from paraloom.io import Corpus
from paraloom.io.formats.names import sides
from paraloom.pipeline.registry import load_stage

CODE = "code"
"""The input of a table that is not data."""

_BLEU_SENTENCES = 1_000
_SHARED = ("study", "trainings", "measurements")
_STAGES = ("filter", "score", "count-words", "train-encoder", "pair-statistics")


@cache
def code_digest(module: str) -> str:
    """Digest of the code, not the comments, of a module of tables, of what they share, and of versions of stages."""
    root = files("paraloom.papers")
    names = [module.removeprefix("paraloom.papers.").replace(".", "/"), *_SHARED]
    code = {name: _code(root.joinpath(f"{name}.py").read_text(encoding="utf-8")) for name in names}
    return digest([code, {use: load_stage(use).version for use in _STAGES}])[:12]


def input_digest(source: str | Path) -> str:
    """Digest of a corpus, a folder, a file, the two files of a name with braces, or a bundled model."""
    if two := sides(str(source)):
        return digest([input_digest(two.src), input_digest(two.tgt)])[:12]
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


@cache
def translation_quality(source: str | Path) -> str:
    """BLEU of a source's translations against their references, as text."""
    if not (Path(source) / "corpus.json").is_file():
        return "not known"
    batches = Corpus.open(Path(source)).batches(["src", "tgt"])
    rows = [row for batch in islice(batches, 20) for row in batch.to_pylist()]
    rows = rows[:: max(1, len(rows) // _BLEU_SENTENCES)][:_BLEU_SENTENCES]
    try:
        bleu = evaluate_translation([row["tgt"] for row in rows], [row["src"] for row in rows]).bleu
    except ParaloomError:
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
