"""A sentence in another order: the source of a training example, or a candidate for a template."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paraloom.paraphrasing.moves import BOUND, DAYS, MONTHS, PRONOUN
from paraloom.text.trees import Constituent, constituents

MOVED_SHARE = 0.7
"""Share of the movable constituents of a clause that get another place."""
FRONT, END = 0.4, 0.4
"""Shares of these that are put at the beginning and at the end of the clause; the others are put anywhere."""

_CLAUSES = frozenset({"S", "SQ", "SBARQ", "SINV", "FRAG"})
_PARTS_OF_CLAUSES = frozenset({"VP", "SQ"})
"""Constituents whose own constituents may move out of them, within the clause."""
_MOVABLE = frozenset({"PP", "ADVP", "SBAR", "S", "INTJ"})
_PUNCTUATION = frozenset({",", ":", ".", "NFP"})
_MARKS = frozenset([*'()[]{}"“”„«»‘', "``", "''"])
"""Brackets and quotation marks, however a parser tags them."""
_BREAKS = frozenset([*";:–—…-", "--", "..."])
"""Punctuation between parts that stay where they are, however a parser tags it."""
_NAMES = frozenset({"NNP", "NNPS"})
_PEOPLE = re.compile(
    r"[A-Z][a-z]+(?:[iec]ans?|[^h]ese|ish|[gln]is?)|(?:Czech|German|Greek|Roman|Turk|Arab)s?|Arabic|Dutch|French|Iraqis?|Swiss"
)
"""What has a capital in any place although its tag is not that of a name ("Australian"), or only looks like it."""
_SENTENCES = re.compile(r"[.!?][\"'”’)\]]*\s+\S")
"""Where a text may have a further sentence; an abbreviation looks alike."""
_DETERMINERS = frozenset({"DT", "PRP$", "CD"})
_FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})
_NO_CAPTION = _FINITE | {"VBN", "CC", ",", ":", "NNP", "NNPS", "PRP", "WRB", "WP", "WDT"}
_PLACE = re.compile(
    r"(?:across|along|at|in|inside|on|outside|through|under)\b"
    r"(?! (?:full|fact|order|need|touch|the (?:air|face|head|mouth|neck|nose)|that|this|these|those)\b)"
    r"(?!.*\b(?:circle|costume|dress|hurry|row|shirt|suit|uniform|voice)\b)"
)
_TIME = re.compile(
    r"(?:because of|despite|due to|during|since|throughout|until|without)\b(?! (?:that|this|these|those)\b).*"
    rf"|(?:after|at|before|in|on)\b.* (?:{DAYS}|{MONTHS}|may|dawn|dusk|(?:mid)?night|(?:after)?noon|morning|evening"
    r"|sunrise|sunset|summer|winter|spring|autumn|christmas|(?:day|week(?:end)?|month|year|decade)s?|century|\d{4})"
    r"(?: \d+| \d{4}| of .*)?"
)
_MOVING = re.compile(
    r"(?:danc|driv|graz|hik|jogg|play|pos|rac|runn|skat|ski|surf|swimm|travel+|walk)ing|displayed|found|seen|shown"
)
"""Verbs without an object of which a place still need not be said."""
_CLAUSE = re.compile(
    r"(?:after|although|as|because|before|if|once|since|though|unless|until|when|whenever|while|whilst)\b"
)
_CONNECTIVE = re.compile(
    r"(?:for (?:example|instance)|in (?:fact|addition|particular|contrast|general|other words|conclusion|the end)"
    r"|of course|on the (?:other|one|contrary)|at (?:least|last)|by the way|with|without|of|to)\b"
)
_TIMES = re.compile(
    r"currently|eventually|finally|generally|later|meanwhile|normally|now|occasionally|often|previously|recently|someday"
    r"|sometimes|soon|suddenly|today|tomorrow|tonight|usually|yesterday"
)
_FOCUS = frozenset(["only", "also", "even", "just", "too", "either", "never", "so", "such", "as"])
"""Words whose scope changes with what stands before them."""
_BEFORE_BOUND = re.compile(r"as|same|like|than|do|does|even|especially|except|not|(?:day|week|month|year|time)s?")
"""Words that what stands directly behind belongs to."""
_WITH_PLACE = re.compile(
    r"am|are|be(?:en|ing)?|is|was|were|'s|'re|'m|c[ao]m(?:e|es|ing)|g(?:o|oes|oing|one|et|ets|etting|ot)|went|lies?"
    r"|f[ae]ll(?:s|ing|en)?|ha(?:s|d|ve|ving)|h[au]ng|kept|made|paid|shot|spent|threw|took"
    r"|(?:aim|believ|depend|end|focus|hang|insert|keep|kick|lean|liv|load|look|mak|park|pay|plac|point|put|rel[iy]"
    r"|remain|rest|result|set|shoot|smil|spend|star|stay|stick|stor|tak|throw|toss|turn|wav|whisper|writ)"
    r"(?:e|ed|es|ing|s|t?ting)?"
)
"""Verbs that a place or time behind belongs to."""
_LONG = 12
"""Words of a place or time that still stands well at the front."""
_WRITTEN = {
    "-LRB-": ("(",), "-RRB-": (")",), "-LSB-": ("[",), "-RSB-": ("]",), "-LCB-": ("{",), "-RCB-": ("}",),
    "``": ("``", '"', "“", "''"), "''": ("''", '"', "”"),
}  # fmt: skip
"""How a text may write the words that trees spell in another way."""
_LEAF = re.compile(r"\(([^\s()]+) ([^\s()]+)\)")

MOVED = "moved constituent"
"""The rule of what `moved` and `completed` write."""

Order = list[int]
"""Numbers of words, from 0, in the order in which they are written."""


class Leaf(NamedTuple):
    """A word of a tree in its text."""

    tag: str
    start: int
    end: int


def reordered(text: str, tree: str, random: np.random.Generator) -> str | None:
    """A sentence with adverbials and subordinate clauses in other places: "At noon they left" for "They left at noon".

    Who does what to whom stays: subject, verbs and objects keep their order (cf. Huang and Chang 2021, SynPG).
    """
    leaves = locate_leaves(text, tree)
    if leaves is None:
        return None
    last = _last_word(leaves)
    order = [number for number in _glued(_Clauses(tree, leaves).order(random), leaves) if number < last]
    if order == sorted(order):
        return None
    while leaves[order[-1]].tag in _PUNCTUATION:
        order.pop()
    return _capitalized_like(text, _written(text, leaves, [*order, *range(last, len(leaves))]))


def moved(text: str, tree: str | None) -> list[str]:
    """An English sentence with an adjunct at its front, before a comma, or with the first one at its end."""
    leaves = locate_leaves(text, tree or "")
    if not leaves or _is_fixed(text, leaves):
        return []
    clauses = _Clauses(tree or "", leaves)
    words = [text[leaf.start : leaf.end].lower() for leaf in leaves]
    parts = [clauses.nodes[part] for part in clauses.top_parts()]
    movable = [node for node in parts if (_may_begin if node.start else _may_end)(node, clauses, words)]
    free = [node for node in movable if not (_is_tied(text, leaves, node) or _ends_in_stop(words, leaves, node))]
    return [_capitalized_like(text, _with_moved(text, leaves, node)) for node in free]


def _ends_in_stop(words: Sequence[str], leaves: Sequence[Leaf], node: Constituent) -> bool:
    """Whether a constituent or the sentence ends in an abbreviation, whose full stop may be the sentence's, too."""
    return any("." in word and word != "." for word in (words[node.end - 1], words[_last_word(leaves) - 1]))


def _is_fixed(text: str, leaves: Sequence[Leaf]) -> bool:
    """Whether a text is in parts, or its first word may keep its capital in another place."""
    if _SENTENCES.search(text):
        return True
    first = text[leaves[0].start : leaves[0].end]
    may_keep_capital = leaves[0].tag[:2] in ("JJ", "NN") and _PEOPLE.fullmatch(first) is not None
    return may_keep_capital or any(leaf.tag == ":" or text[leaf.start : leaf.end] in _BREAKS for leaf in leaves)


def _with_moved(text: str, leaves: Sequence[Leaf], node: Constituent) -> str:
    """A sentence with a constituent at the front, or with the first one at its end; commas beside it are left out."""
    adjunct, last, beside = range(node.start, node.end), _last_word(leaves), (node.start - 1, node.end)
    rest = [one for one in range(last) if one not in adjunct and (one not in beside or leaves[one].tag != ",")]
    marks = range(last, len(leaves))
    if not node.start:
        return _written(text, leaves, [*rest, *adjunct, *marks])
    return f"{_written(text, leaves, adjunct)}, {_written(text, leaves, [*rest, *marks])}"


def completed(text: str, tree: str | None) -> str:
    """An English caption as a sentence: "A dog is running." for "A dog running"; '' for other texts."""
    leaves = locate_leaves(text, tree or "") or []
    tags = [leaf.tag for leaf in leaves]
    if _SENTENCES.search(text) or tags.count("VBG") != 1 or _NO_CAPTION.intersection(tags):
        return ""
    verb = tags.index("VBG")
    subject = tags[: tags.index("IN") if "IN" in tags[:verb] else verb]
    plural = subject[-1:] == ["NNS"]
    if tags[verb - 2 : verb] == ["NNS", "NN"] or not _Clauses(tree or "", leaves).is_caption(verb):
        return ""  # "people river rafting", "a key for opening it"
    if not plural and not (subject[-1:] == ["NN"] and _DETERMINERS.intersection(subject)):
        return ""
    start, end = leaves[verb].start, leaves[_last_word(leaves) - 1].end
    return f"{text[:start]}{'are' if plural else 'is'} {text[start:end]}."


def _may_begin(node: Constituent, clauses: _Clauses, words: Sequence[str]) -> bool:
    """Whether a constituent within a statement is an adjunct that may stand at its front."""
    own, before = words[node.start : node.end], words[: node.start]
    main = {*before, *words[node.end :]}
    verbs = [word for word, leaf in zip(before, clauses.leaves, strict=False) if leaf.tag.startswith("VB")]
    if "," in words or _FOCUS & main or _BEFORE_BOUND.fullmatch(before[-1]) or not clauses.is_statement(node):
        return False
    if any(re.fullmatch(BOUND, verb) for verb in verbs):
        return False
    if node.label == "SBAR":  # a pronoun would stand before the name that it is for
        return bool(_CLAUSE.match(own[0])) and {*PRONOUN.findall(" ".join(main))} <= {*own}
    if node.label == "ADVP":  # "not often" is not "often not"
        return _TIMES.fullmatch(own[0]) is not None and main.isdisjoint({"n't", "not"})
    return _is_place(node, clauses, words)


def _is_place(node: Constituent, clauses: _Clauses, words: Sequence[str]) -> bool:
    """Whether a constituent is a time or reason, or the place of an action, to which no other word belongs."""
    phrase = " ".join(words[node.start : node.end])
    if node.label != "PP" or not 1 < node.end - node.start <= _LONG or PRONOUN.search(phrase):
        return False
    tags = [leaf.tag for leaf in clauses.leaves]
    verb = _last_verb(tags[: node.start])
    if re.fullmatch(r"NN\S* VB[NG]", " ".join(tags[max(0, verb - 1) : verb + 1])):  # "an election held in May"
        return False
    between = [number for number in range(verb + 1, node.start) if tags[number] != "RB"]
    if _TIME.fullmatch(phrase):
        return bool(between) or not _WITH_PLACE.fullmatch(words[verb])
    is_place = node.end - node.start > 2 and _PLACE.match(phrase) is not None and clauses.is_last(node)  # not "in red"
    return is_place and _leaves_place(words[verb : node.start + 1], [tags[number] for number in between])


def _last_verb(tags: Sequence[str]) -> int:
    return max((number for number, tag in enumerate(tags) if tag.startswith("VB")), default=0)


def _leaves_place(words: Sequence[str], between: Sequence[str]) -> bool:
    """Whether a verb is whole without the place behind it; words from it to the place's first, tags between them."""
    if _WITH_PLACE.fullmatch(words[0]):
        return False
    if between:  # "rests his chin on a stone", "wears a hat with a city in the background"
        with_object = any(tag.startswith(("NN", "PRP")) for tag in between)
        return with_object and between[0] != "PRP$" and "with" not in words[:-1]
    return _MOVING.fullmatch(words[0]) is not None and words[-1] != "at"


def _may_end(node: Constituent, clauses: _Clauses, words: Sequence[str]) -> bool:
    """Whether a constituent that begins a sentence is an adjunct that may stand at its end."""
    end = node.end
    if end >= _last_word(clauses.leaves) or _CONNECTIVE.match(" ".join(words[:end])):
        return False
    if "," in words[end + 1 :] or clauses.has_clause(end) or clauses.has_participle(end):
        return False
    if node.label == "SBAR":
        finite = any(leaf.tag in _FINITE for leaf in clauses.leaves[:end])  # not "if set"
        is_clause = words[end] == "," and _CLAUSE.match(words[0]) is not None
        return finite and is_clause and _may_precede(words[end + 1 : _last_word(clauses.leaves)], words[:end])
    is_adjunct = node.label == "PP" or (node.label == "ADVP" and _TIMES.fullmatch(words[0]) is not None)
    return is_adjunct and (words[end] == "," or clauses.is_statement(node))  # "On Monday John": may be one phrase


def _may_precede(rest: Sequence[str], clause: Sequence[str]) -> bool:
    """Whether a main clause is whole and has no pronoun whose name may be in the clause before it."""
    is_whole = len(rest) > 2 and rest[-1] not in {"n't", "not"}  # not "It is not."
    return is_whole and {*PRONOUN.findall(" ".join(rest))} <= {*clause}


def _is_tied(text: str, leaves: Sequence[Leaf], node: Constituent) -> bool:
    """Whether a constituent begins or ends within a word, or has to do with brackets or quotation marks."""
    glued = any(_within_word(leaves, number) for number in (node.start, node.end))
    return glued or _is_marked(text, leaves, node.start, node.end)


def _last_word(leaves: Sequence[Leaf]) -> int:
    """The number of the first mark of those that end a text."""
    return 1 + max((number for number, leaf in enumerate(leaves) if leaf.tag not in _PUNCTUATION), default=-1)


def locate_leaves(text: str, tree: str) -> list[Leaf] | None:
    """Where the words of a tree are in its text; None if they are not the words of the text."""
    leaves, position = list[Leaf](), 0
    for tag, word in _LEAF.findall(tree):
        while position < len(text) and text[position].isspace():
            position += 1
        for written in _WRITTEN.get(word, (word,)):
            if text.startswith(written, position):
                leaves.append(Leaf(tag, position, position + len(written)))
                position += len(written)
                break
        else:
            return None
    return leaves if not text[position:].strip() else None


class _Clauses:
    """The clauses of a tree; draws the order of their words."""

    def __init__(self, tree: str, leaves: Sequence[Leaf]) -> None:
        self.nodes = constituents(tree)
        self.leaves = leaves
        self.children: list[list[int]] = [[] for _ in self.nodes]
        path = list[int]()
        for index, node in enumerate(self.nodes):
            del path[node.depth :]
            if path:
                self.children[path[-1]].append(index)
            path.append(index)

    def top_parts(self) -> list[int]:
        """Constituents of the main clause; none where clauses are coordinated."""
        top = 1 if self.nodes[0].label == "ROOT" else 0
        return self._parts(top) if self.nodes[top].label in _CLAUSES and not self._is_coordination(top) else []

    def is_last(self, part: Constituent) -> bool:
        """Whether nothing but punctuation, or a clause, stands behind a constituent."""
        behind = next((node.label for node in self.nodes if node.start == part.end and node.end > part.end), ".")
        return behind == "SBAR" or behind in _PUNCTUATION

    def is_caption(self, verb: int) -> bool:
        """Whether the tree is a noun phrase and the verb phrase that a word begins."""
        tops = [node for node in self.nodes if node.start == 0 and node.end >= _last_word(self.leaves)]
        labels = [self.nodes[child] for child in self.children[self.nodes.index(tops[-1])]] if tops else []
        return [node.label for node in labels[:2]] == ["NP", "VP"] and labels[1].start == verb

    def has_participle(self, start: int) -> bool:
        """Whether a noun from a word on has a participle behind it: "a file named a.txt"."""
        return re.search(r"NN\S* VB[GN]", " ".join(leaf.tag for leaf in self.leaves[start:])) is not None

    def is_statement(self, adjunct: Constituent) -> bool:
        """Whether the main clause has a subject and a verb without an adjunct, or asks to do something if a clause."""
        top = 1 if self.nodes[0].label == "ROOT" else 0
        labels = {self.nodes[child].label for child in self.children[top]}
        others = [*self.leaves[: adjunct.start], *self.leaves[adjunct.end :]]
        verbs = {leaf.tag for leaf in others if leaf.tag in _FINITE or leaf.tag.startswith("VB")}
        needed, finite = ({"VP"}, {"VB"} | _FINITE) if adjunct.label == "SBAR" else ({"NP", "VP"}, _FINITE)
        return bool((not verbs or verbs & finite) and self.nodes[top].label == "S" and needed <= labels)

    def has_clause(self, start: int) -> bool:
        """Whether a clause begins behind a word, to which what stands at the end might belong."""
        return any(node.start >= start and node.label in {"SBAR", "S"} for node in self.nodes)

    def order(self, random: np.random.Generator) -> Order:
        """Numbers of the words; some commas are missing."""
        orders: list[Order] = [[] for _ in self.nodes]
        # Children have greater numbers than their parents.
        for index in reversed(range(len(self.nodes))):
            node = self.nodes[index]
            if not self.children[index]:
                orders[index] = list(range(node.start, node.end))
            elif node.label in _CLAUSES and not self._is_coordination(index) and self.leaves[node.start].tag != "TO":
                orders[index] = self._moved(self._parts(index), orders, random)
            else:
                orders[index] = [number for child in self.children[index] for number in orders[child]]
        return orders[0]

    def _is_coordination(self, index: int) -> bool:
        return any(self.nodes[child].label in {"CC", "CONJP"} for child in self.children[index])

    def _parts(self, index: int) -> list[int]:
        """Constituents of a clause and of its verb phrases, in order."""
        parts = list[int]()
        for child in self.children[index]:
            if self.nodes[child].label in _PARTS_OF_CLAUSES and not self._is_coordination(child):
                parts += self._parts(child) or [child]
            else:
                parts.append(child)
        return parts

    def _moved(self, parts: list[int], orders: Sequence[Order], random: np.random.Generator) -> Order:
        """The words of a clause, some of whose parts have other places."""
        front, staying, end = self._drawn(parts, random)
        stop = len(staying)
        while stop and self._is_punctuation(staying[stop - 1]):
            stop -= 1
        written, before = (
            [part for part in some if self.children[part] or self.nodes[part].label != ","]
            for some in ([*front, *staying[:stop], *end, *staying[stop:]], parts)
        )
        return [number for part in (parts if written == before else written) for number in orders[part]]

    def _drawn(self, parts: list[int], random: np.random.Generator) -> tuple[list[int], list[int], list[int]]:
        """The parts that go to the front, those between, and those that go to the end."""
        staying, front, end, anywhere = list[int](), list[int](), list[int](), list[int]()
        for part in parts:
            draw = random.random(2)
            if self.nodes[part].label not in _MOVABLE or draw[0] >= MOVED_SHARE:
                staying.append(part)
            elif draw[1] < FRONT:
                front.insert(0, part)
            elif draw[1] < FRONT + END:
                end.append(part)
            else:
                anywhere.append(part)
        for part in anywhere:
            staying.insert(int(random.integers(len(staying) + 1)), part)
        return front, staying, end

    def _is_punctuation(self, part: int) -> bool:
        return not self.children[part] and self.nodes[part].label in _PUNCTUATION


def _glued(order: Order, leaves: Sequence[Leaf]) -> Order:
    """The order with all parts of a word behind the first one: "n't" behind "do"."""
    parts: list[Order] = []
    word_of = list[int]()
    for number in range(len(leaves)):
        if _within_word(leaves, number):
            parts[-1].append(number)
        else:
            parts.append([number])
        word_of.append(len(parts) - 1)
    return [part for number in order if number == parts[word_of[number]][0] for part in parts[word_of[number]]]


def _within_word(leaves: Sequence[Leaf], number: int) -> bool:
    """Whether a part of a word stands before this one."""
    if not 0 < number < len(leaves):
        return False
    before, leaf = leaves[number - 1], leaves[number]
    return leaf.start == before.end and not {leaf.tag, before.tag} & _PUNCTUATION


def _is_marked(text: str, leaves: Sequence[Leaf], start: int, end: int) -> bool:
    """Whether brackets or quotation marks are in some words, around them, or beside them but for punctuation."""
    marks = [leaf.tag in _WRITTEN or text[leaf.start : leaf.end] in _MARKS for leaf in leaves]
    others = [number for number, leaf in enumerate(leaves) if marks[number] or leaf.tag not in _PUNCTUATION]
    first = max((number for number in others if number < start), default=start)
    last = min((number for number in others if number >= end), default=end - 1)
    return any(marks[first : last + 1]) or sum(marks[:start]) % 2 == 1


def _capitalized_like(text: str, written: str) -> str:
    first = written.partition(" ")[0]  # "phpMyAdmin" stays
    return written[:1].upper() + written[1:] if text[:1].isupper() and first == first.lower() else written


def _written(text: str, leaves: Sequence[Leaf], order: Sequence[int]) -> str:
    """The words in an order; between words that were not neighbors is a space, or none before punctuation."""
    pieces = list[str]()
    for position, number in enumerate(order):
        leaf = leaves[number]
        word = text[leaf.start : leaf.end]
        if number == 0 and leaf.tag not in _NAMES and word != "I" and word[1:] == word[1:].lower():
            word = word[:1].lower() + word[1:]
        if position and number == order[position - 1] + 1:
            pieces.append(text[leaves[number - 1].end : leaf.start])
        elif position and leaf.tag not in _PUNCTUATION:
            pieces.append(" ")
        if position or leaf.tag not in _PUNCTUATION:
            pieces.append(word)
    return "".join(pieces).strip()
