"""Syntax templates: trees without words, cut at a height, as text and as tokens that a network reads and writes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from paraloom.core.errors import ConfigError, DataError
from paraloom.text.trees import constituents, skeleton

SEPARATOR = "<sep>"
"""Token between a text and a template."""

CLOSE = "<)>"
"""Token of a closing bracket."""

_OPEN = re.compile(r"<\((\S+)>")
# <canonical> is in the vocabulary of the bundled paraphraser, and has no use any more: no text may read as it.
_TOKEN = re.compile(r"<\(\S+?>|<\)>|<sep>|<canonical>")
_SYMBOL = re.compile(r"<(?=\(\S+>|\)>|sep>|canonical>)")
_PIECE = re.compile(r"[()]|[^\s()]+")
_END_OF_PARSE = re.compile(r"\s+EOP\s*$")
_ROOTS = ("ROOT", "TOP", "S1", "")


class Node(NamedTuple):
    """A label of a template, with its distance from the root, whose depth is 0."""

    label: str
    depth: int


def cut_tree(tree: str, height: int | None = 2) -> str:
    """The template of a tree: the labels of its upper levels below ROOT; 2 is SCPN's height, 4 is AESOP's "level 5"."""
    if height is not None and height < 1:
        raise ConfigError(f"the height of a template must be 1 or more, got {height}")
    return skeleton(_without_root(tree), levels=2**31 if height is None else height)


def nodes_of(template: str) -> list[Node]:
    """The labels of a canonical template, each before its children."""
    return [Node(node.label, node.depth) for node in constituents(template)]


def height_of(template: str) -> int:
    """Levels of labels in a canonical template."""
    return 1 + max(node.depth for node in nodes_of(template))


def read_template(text: str, known: Collection[str] = ()) -> str:
    """Check a template and bring it to its canonical form, without spaces, and SCPN's ROOT and EOP."""
    body = _END_OF_PARSE.sub("", text)
    stack: list[int] = []
    pieces: list[str] = []
    after_open = False
    for match in _PIECE.finditer(body):
        piece, start = match.group(), match.start()
        if pieces and not stack:
            raise _invalid(text, f"'{body[start : start + 20]}' at character {start + 1} follows the end of the tree")
        if piece == "(":
            if after_open and pieces:
                raise _invalid(text, f"the bracket at character {stack[-1] + 1} has no label")
            stack.append(start)
            after_open = True
        elif piece == ")":
            if not stack:
                raise _invalid(text, f"the bracket at character {start + 1} closes nothing")
            if after_open:
                raise _invalid(text, f"the bracket at character {stack[-1] + 1} has no label")
            stack.pop()
            pieces.append(")")
        elif after_open:
            _check_label(text, piece, start, known)
            pieces.append(f"{' ' if pieces else ''}({piece}")
            after_open = False
        else:
            fault = "is a word, not a label" if stack else "is not in a bracket"
            raise _invalid(text, f"'{piece}' at character {start + 1} {fault}")
    if stack:
        raise _invalid(text, f"the bracket at character {stack[-1] + 1} is not closed")
    if not pieces:
        raise _invalid(text, "it is empty")
    return _without_root("".join(pieces))


def template_tokens(template: str) -> list[str]:
    """The tokens of a canonical template: one for each bracket with its label, one for each closing bracket."""
    return [CLOSE if piece == ")" else f"<({piece[1:]}>" for piece in re.findall(r"\([^\s()]+|\)", template)]


def tokens_of(text: str) -> list[str]:
    """The tokens of templates in a text, in order; the separator is not one."""
    return [token for token in _TOKEN.findall(text) if token != SEPARATOR]


def is_template(tokens: Sequence[str]) -> bool:
    """True if tokens are one template: brackets balanced, one root, nothing else."""
    depth = 0
    for position, token in enumerate(tokens):
        if position and not depth:
            return False
        depth += -1 if token == CLOSE else 1 if _OPEN.fullmatch(token) else -(2**31)
        if depth < 0:
            return False
    return bool(tokens) and not depth


def template_of(tokens: Sequence[str]) -> str:
    """The canonical template that tokens stand for."""
    if not is_template(tokens):
        raise DataError(f"not the tokens of one template: {' '.join(tokens)}")
    pieces = [")" if token == CLOSE else f" ({token[2:-1]}" for token in tokens]
    return "".join(pieces).strip()


def special_tokens(labels: Iterable[str]) -> tuple[str, ...]:
    """The tokens that a vocabulary needs for templates of these labels."""
    return (SEPARATOR, CLOSE, *(f"<({label}>" for label in sorted(set(labels))))


def plain_text(text: str) -> str:
    """A text in which nothing reads as a token of templates: a space after `<` breaks those that are in it."""
    return _SYMBOL.sub("< ", text)


def without_tokens(text: str) -> str:
    """A text without the tokens of templates, which a model that learned too little may write after its template."""
    return " ".join(_TOKEN.sub(" ", text).split()) if "<" in text else text


def _without_root(tree: str) -> str:
    """A tree without a ROOT that has one child, and without an empty outer bracket."""
    match = re.fullmatch(r"\s*\(\s*([^\s()]*)\s*(\(.*\))\s*\)\s*", tree, re.DOTALL)
    if match is None or match[1] not in _ROOTS:
        return tree
    depth = 0
    for position, character in enumerate(match[2]):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if not depth:
            # Several children below ROOT are a text of several sentences, and stay.
            return match[2] if position == len(match[2]) - 1 else tree
    return tree


def _invalid(template: str, why: str) -> ConfigError:
    return ConfigError(
        f"template '{template.strip()}': {why}",
        remedy="Templates look like (S (NP) (VP) (.)): labels in brackets, without words.",
    )


def _check_label(template: str, label: str, start: int, known: Collection[str]) -> None:
    if not known or label in known or label in _ROOTS:
        return
    # Labels have few letters: one in common is near.
    close = get_close_matches(label.upper(), sorted(known), n=1, cutoff=0.3)
    raise ConfigError(
        f"template '{template.strip()}': unknown label '{label}' at character {start + 1}"
        + (f"; did you mean '{close[0]}'?" if close else ""),
        remedy=f"Known labels: {' '.join(sorted(known))}.",
    )
