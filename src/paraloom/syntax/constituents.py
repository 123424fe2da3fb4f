"""Phrase-structure trees out of dependency trees: Universal Dependencies with Penn tags become trees of Penn's kind."""

from __future__ import annotations

from collections.abc import Sequence

from paraloom.core.errors import DataError
from paraloom.syntax.brackets import escape_leaf
from paraloom.syntax.conllu import Word
from paraloom.syntax.projection import Part, Phrase, Projection

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
    """The phrase-structure tree of a dependency tree.

    Constituents are those of the Penn Treebank as far as dependencies tell of them: clauses with a subject and a verb
    phrase, verb phrases within each other by auxiliaries, questions, relative clauses, coordination. Dependencies do
    not tell which of several modifiers of a verb belongs to which of several verb phrases, nor of small clauses.

    Reference:
        Collins et al. 1999, "A statistical parser for Czech", appendix; Xia and Palmer 2001, "Converting dependency
        structures to phrase structures".
    """
    roots = sum(not word.head for word in words)
    if roots != 1:
        raise DataError(f"a sentence must have one root, got {roots}")
    if _depth(words) > _MAX_DEPTH:
        return None
    tree = _lifted(Projection(words).root(), words)
    return _brackets(tree, words) if list(tree.positions()) == list(range(len(words))) else None


_MAX_DEPTH = 100
"""Sentences with longer chains of heads are left out: they are lists."""


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
