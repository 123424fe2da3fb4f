"""Trees of a treebank: of brackets or dependencies, without traces and function tags, binarized for a grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paraloom.core.errors import DataError, MissingExtraError
from paraloom.io import read_lines
from paraloom.syntax.brackets import escape_leaf
from paraloom.syntax.conllu import Word, is_conllu, read_conllu
from paraloom.syntax.projection import Part, Phrase, Projection

if TYPE_CHECKING:
    from nltk.tree import Tree

_OUTSIDE = frozenset({",", ":", ".", "NFP"})
"""Tags of punctuation that belongs beside a constituent rather than at its edge."""


def _lifted(phrase: Phrase, words: Sequence[Word]) -> Phrase:
    """The tree with commas, colons and stops at the edge of a constituent beside it, as in the Penn Treebank."""
    parts = list[Part]()
    for child in phrase.children:
        if isinstance(child, int):
            parts.append(child)
            continue
        content = list(_lifted(child, words).children)
        first, last = 0, len(content)
        while first < last and _is_outside(content[first], words):
            first += 1
        while last > first and _is_outside(content[last - 1], words):
            last -= 1
        if first < last:
            parts.append(_single(Phrase(child.label, tuple(content[first:last]))))
            parts[-1:-1] = content[:first]
            parts += content[last:]
        else:
            parts += content
    return _single(Phrase(phrase.label, tuple(parts)))


def _single(phrase: Phrase) -> Phrase:
    """The only child, where it has the same label."""
    child = phrase.children[0]
    same = len(phrase.children) == 1 and isinstance(child, Phrase) and child.label == phrase.label
    return child if same and isinstance(child, Phrase) else phrase


def _is_outside(part: Part, words: Sequence[Word]) -> bool:
    return isinstance(part, int) and words[part].relation == "punct" and words[part].tag in _OUTSIDE


def constituent_tree(words: Sequence[Word]) -> str | None:
    """The Penn Treebank's constituents, as far as dependencies tell of them (Collins et al. 1999, appendix)."""
    roots = sum(not word.head for word in words)
    if roots != 1:
        raise DataError(f"a sentence must have one root, got {roots}")
    if _depth(words) > _MAX_DEPTH:
        return None
    tree = _lifted(Projection(words).root(), words)
    return _brackets(tree, words) if list(tree.positions()) == list(range(len(words))) else None


_MAX_DEPTH = 100  # Sentences with longer chains of heads are left out: they are lists


def _depth(words: Sequence[Word]) -> int:
    """Number of words of the longest chain of heads."""
    depths = [0] * len(words)
    for start in range(len(words)):
        path, current = list[int](), start
        while current >= 0 and not depths[current]:
            if len(path) >= len(words):
                raise DataError(f"the heads of word {start + 1} form a cycle")
            path.append(current)
            head = words[current].head
            if head > len(words):
                raise DataError(f"word {current + 1}: expected one of {len(words)} words as head, got {head}")
            current = head - 1
        depth = depths[current] if current >= 0 else 0
        for position in reversed(path):
            depth += 1
            depths[position] = depth
    return max(depths)


def _brackets(part: Part, words: Sequence[Word]) -> str:
    if isinstance(part, int):
        word = words[part]
        # Quotes as the Penn Treebank writes them.
        form = word.tag if word.tag in {"``", "''"} else word.form
        return f"({escape_leaf(word.tag)} {escape_leaf(form)})"
    return f"({part.label} {' '.join(_brackets(child, words) for child in part.children)})"


TRACE = "-NONE-"
CHAIN = "+"  # Between the labels of phrases that are one node: `S+VP` is an S over a single VP

_FUNCTION = re.compile(r"[-=|].*")


def read_brackets(path: str | Path) -> Iterator[tuple[int, str]]:
    depth, first_row, pieces = 0, 0, list[str]()
    for row, line in enumerate(read_lines(path), 1):
        if not depth and not line.strip():
            continue
        if not depth:
            first_row = row
            if not line.lstrip().startswith("("):
                raise DataError("not a bracketed tree", file=path, row=row, remedy="A tree looks like (S (NP …)).")
        depth += line.count("(") - line.count(")")
        if depth < 0:
            raise DataError("a closing bracket has no opening bracket", file=path, row=row)
        pieces.append(line.strip())
        if not depth:
            yield first_row, " ".join(pieces)
            pieces.clear()
    if depth:
        raise DataError(f"{depth} brackets of the tree are not closed", file=path, row=first_row)


def read_treebank(path: str | Path) -> Iterator[Tree | None]:
    """Read the trees of a file, cleaned by `clean`."""
    tree_class = _tree_class()
    if is_conllu(path):
        for row, words in read_conllu(path):
            if words and all(word.tag == "_" for word in words):
                raise DataError(
                    "the words have no Penn tags",
                    file=path,
                    row=row,
                    remedy="Tags are in the fifth field of a line, such as NNS.",
                )
            try:
                tree = constituent_tree(words) if words else None
            except DataError as error:
                error.at(file=path, row=row)
                raise
            # nltk takes a backslash before a bracket for an escape.
            yield None if tree is None else tree_class.fromstring(tree.replace("\\", "/"))
        return
    for row, text in read_brackets(path):
        try:
            tree = clean(tree_class.fromstring(text, remove_empty_top_bracketing=True))
        except (ValueError, IndexError) as error:
            raise DataError(f"not a tree: {str(error).splitlines()[0]}", file=path, row=row) from None
        yield tree


def clean(tree: Tree) -> Tree | None:
    """Remove traces, function tags and phrases without words; None if nothing is left."""
    if tree.label() == TRACE:
        return None
    words = [isinstance(child, str) for child in (tree[0], *tree[1:])]
    if all(words):
        return tree
    if any(words):
        raise ValueError(f"a {tree.label() or 'phrase without a label'} has both words and phrases")
    children = [cleaned for child in tree if (cleaned := clean(child)) is not None]
    return _tree_class()(strip_function(tree.label()), children) if children else None


def strip_function(label: str) -> str:
    return label if label.startswith("-") else _FUNCTION.sub("", label) or label


def _tree_class() -> type[Tree]:
    try:
        from nltk.tree import Tree
    except ImportError:
        raise MissingExtraError.for_verb("reading a treebank", "syntax") from None
    return Tree
