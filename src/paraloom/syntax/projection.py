"""Constituents of a dependency tree: clauses, verb phrases, noun phrases, question phrases, coordination."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

from paraloom.syntax.conllu import Word


@dataclass(frozen=True)
class Phrase:
    """A labeled constituent: its children are constituents, or positions of words."""

    label: str
    children: tuple[Part, ...]

    def positions(self) -> Iterator[int]:
        """Positions of its words, in the order of the tree."""
        for child in self.children:
            if isinstance(child, int):
                yield child
            else:
                yield from child.positions()


Part: TypeAlias = Phrase | int


def _positions(part: Part) -> list[int]:
    return [part] if isinstance(part, int) else list(part.positions())


def _first(part: Part) -> int:
    return min(_positions(part))


def _last(part: Part) -> int:
    return max(_positions(part))


def _in_order(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Parts in the order of their first words."""
    return tuple(sorted(parts, key=_first))


def _after(parts: Iterable[Part], position: int) -> list[Part]:
    return [part for part in parts if _first(part) > position]


def _before(parts: Iterable[Part], position: int) -> list[Part]:
    return [part for part in parts if _last(part) < position]


_SUBJECTS = frozenset({"nsubj", "csubj", "expl"})
_AUXILIARIES = frozenset({"aux", "cop"})
_NOMINAL = frozenset({"NOUN", "PROPN", "PRON", "NUM", "SYM", "X", "DET"})
_IN_NOMINAL = frozenset({
    "det", "amod", "nummod", "compound", "nmod", "case", "flat", "acl", "appos", "fixed", "goeswith", "list",
    "reparandum",
})  # fmt: skip
"""Relations of the dependents that belong to a noun, not to the clause whose predicate the noun is."""
_BEFORE_NOUN = frozenset({"det", "amod", "nummod", "compound", "nmod", "flat", "goeswith", "advmod", "fixed", "punct"})
_AFTER_NOUN = frozenset({"flat", "goeswith"})
_BEFORE_ADJECTIVE = frozenset({"advmod", "obl", "case", "det", "fixed", "amod"})
_AFTER_ADJECTIVE = frozenset({"xcomp", "ccomp", "obl", "fixed", "advmod"})
"""Relations of the dependents that belong to an adjective or adverb, not to the clause whose predicate it is."""
_BARE = frozenset({
    "case", "mark", "aux", "cop", "cc", "det", "amod", "nummod", "compound", "punct", "flat", "fixed", "goeswith",
})  # fmt: skip
_WH_TAGS = frozenset({"WP", "WP$", "WDT", "WRB"})
_WH_LABELS = {"NP": "WHNP", "ADVP": "WHADVP", "ADJP": "WHADJP", "PP": "WHPP"}


@dataclass(frozen=True)
class Clause:
    """The dependents of a predicate by what they do in its clause; positions are in order."""

    predicate: Part
    verbs: list[int]
    """Auxiliaries, the copula, and "to"."""
    marks: list[int]
    subjects: list[int]
    conjuncts: list[int]
    phrases: list[Part]
    """Constituents of all other dependents, subjects included."""
    question: Part | None
    """The question phrase or relative pronoun among them, before the head."""

    @property
    def is_inverted(self) -> bool:
        """True if a verb is before the subject."""
        return bool(self.verbs and self.subjects) and self.verbs[0] < self.subjects[0]


@dataclass
class Projection:
    """Builds the constituents of the words of a sentence."""

    words: Sequence[Word]
    dependents: list[list[int]] = field(init=False)
    question: bool = field(init=False)
    known: dict[tuple[int, tuple[int, ...], bool], Part] = field(init=False, default_factory=dict)
    """Constituents that were made: where some cross, each level asks for those below it twice."""

    def __post_init__(self) -> None:
        self.dependents = [[] for _ in self.words]
        for position, word in enumerate(self.words):
            if word.head:
                self.dependents[word.head - 1].append(position)
        self.question = any("?" in word.form for word in self.words[-3:] if word.relation == "punct")

    def relation(self, position: int) -> str:
        """The relation without its subtype."""
        return self.words[position].relation.split(":")[0]

    def root(self) -> Phrase:
        head = next(position for position, word in enumerate(self.words) if not word.head)
        end = self.closing(head)
        for position in end:
            self.dependents[self.words[position].head - 1].remove(position)
        phrase = self.phrase(head, main=True)
        if isinstance(phrase, int):
            phrase = Phrase(self.label_of_word(phrase), (phrase,))
        if not end:
            return phrase
        if phrase.label in {"S", "SBARQ", "SQ", "SINV"}:
            return Phrase(phrase.label, (*phrase.children, *end))
        return Phrase(phrase.label if phrase.label in {"NP", "INTJ"} else "FRAG", (phrase, *end))

    def closing(self, head: int) -> list[int]:
        """Punctuation at the end of the sentence, which the whole sentence has."""
        end = list[int]()
        for position in reversed(range(len(self.words))):
            word = self.words[position]
            # Some sentences attach their full stop to their last clause.
            attached = word.head == head + 1 or word.tag in {".", "NFP"}
            if not word.head or word.relation != "punct" or self.dependents[position] or not attached:
                break
            end.insert(0, position)
        return end

    def phrase(self, head: int, *, without: Iterable[int] = (), main: bool = False) -> Part:
        """The constituent of a word and all of its dependents."""
        key = head, tuple(without), main
        if key not in self.known:
            self.known[key] = self.new_phrase(*key)
        return self.known[key]

    def new_phrase(self, head: int, without: tuple[int, ...], main: bool) -> Part:
        dependents = [position for position in self.dependents[head] if position not in without]
        if any(self.relation(position) == "conj" for position in dependents):
            part = self.coordination(head, dependents, main)
        else:
            part = self.simple(head, dependents, main)
        positions = _positions(part)
        if isinstance(part, Phrase) and positions != sorted(positions):
            # What belongs to the predicate is on both sides of what belongs to the clause: all of it on one level.
            parts = [
                position if position == head else self.phrase(position) for position in sorted([*dependents, head])
            ]
            return Phrase(part.label, tuple(parts))
        return part

    def coordination(self, head: int, dependents: list[int], main: bool) -> Part:
        """Conjuncts in a row, in a constituent with the label of the first one."""
        conjuncts = [position for position in dependents if self.relation(position) == "conj"]
        if self.is_clause(head, dependents) and not any(self.has(position, _SUBJECTS) for position in conjuncts):
            # "He came and went": verb phrases of one subject.
            return self.simple(head, dependents, main)
        own = [position for position in dependents if position < conjuncts[0]]
        content = self.simple(head, own, main and len(own) == len(dependents))
        parts: list[Part] = [content]
        for position in dependents[len(own) :]:
            parts += self.conjunct(position) if position in conjuncts else [self.phrase(position)]
        label = content.label if isinstance(content, Phrase) else self.label_of_word(head)
        return Phrase("S" if label in {"SQ", "SBARQ", "SINV"} and not main else label, _in_order(parts))

    def conjunct(self, position: int) -> list[Part]:
        """A conjunct, and before it the comma and the conjunction that are attached to it."""
        before = [
            dependent
            for dependent in self.dependents[position]
            if dependent < position and self.relation(dependent) in {"cc", "punct"}
        ]
        leading = list[int]()
        start = min(self.yield_of(position))
        for dependent in before:
            if dependent == start:
                leading.append(dependent)
                start = max(self.yield_of(dependent)) + 1
        tokens = [self.phrase(dependent) for dependent in leading]
        return [*tokens, self.phrase(position, without=leading)]

    def conjuncts(self, positions: Iterable[int]) -> Iterator[Part]:
        return chain.from_iterable(map(self.conjunct, positions))

    def yield_of(self, position: int) -> list[int]:
        """Positions of a word and of all words below it, in order."""
        result, waiting = list[int](), [position]
        while waiting:
            result.append(current := waiting.pop())
            waiting += self.dependents[current]
        return sorted(result)

    def has(self, position: int, relations: frozenset[str]) -> bool:
        """True if a word has a dependent of one of these relations."""
        return any(self.relation(dependent) in relations for dependent in self.dependents[position])

    def is_clause(self, head: int, dependents: Iterable[int]) -> bool:
        relations = {self.relation(position) for position in dependents}
        if relations & (_SUBJECTS | {"cop"}):
            return True
        word = self.words[head]
        if self.relation(head) == "amod":
            return bool(relations & {"obj", "obl"}) and word.category == "VERB"
        return word.category == "VERB" or (word.category == "AUX" and self.relation(head) not in _AUXILIARIES)

    def label_of_word(self, position: int) -> str:
        """The label of a constituent whose head is this word, if it is not a clause."""
        word = self.words[position]
        if word.tag == "WRB":
            return "WHADVP"
        if word.tag in {"WP", "WDT", "WP$"}:
            return "WHNP"
        if word.category in _NOMINAL:
            return "NP"
        labels = {"ADJ": "ADJP", "ADV": "ADVP", "INTJ": "INTJ", "VERB": "VP", "AUX": "VP", "ADP": "PP"}
        return labels.get(word.category, "FRAG")

    def simple(self, head: int, dependents: list[int], main: bool) -> Part:
        """The constituent of a word with its dependents, conjuncts of other constituents aside."""
        if self.is_clause(head, dependents):
            return self.clause(head, dependents, main)
        if not dependents:
            return self.single_word(head)
        relation = self.relation(head)
        if relation in {"case", "mark", "cc", "fixed"} and all(self.relation(one) == "fixed" for one in dependents):
            return Phrase("CONJP" if relation == "cc" else "PP", tuple(sorted([head, *dependents])))
        return self.phrase_without_verb(head, dependents)

    def single_word(self, head: int) -> Part:
        """The constituent of a word without dependents, or the word alone."""
        relation, word = self.relation(head), self.words[head]
        if word.relation == "compound:prt":
            return Phrase("PRT", (head,))
        if relation == "discourse" and word.category == "INTJ":
            return Phrase("INTJ", (head,))
        bare = relation in _BARE or relation == "discourse" or word.relation == "nmod:poss"
        return (
            head if bare or word.category in {"PUNCT", "CCONJ", "PART"} else Phrase(self.label_of_word(head), (head,))
        )

    def phrase_without_verb(self, head: int, dependents: list[int]) -> Part:
        """A noun phrase, or the phrase of an adjective, an adverb and the like; within its prepositions."""
        if self.words[head].category in _NOMINAL or any(self.relation(one) in {"det", "case"} for one in dependents):
            return self.nominal(head, dependents)
        parts = self.ordered(head, dependents)
        return self.with_markers(self.merged(self.label_of_word(head), parts), dependents)

    def ordered(self, head: int, dependents: Iterable[int]) -> list[Part]:
        """A word and the constituents of its dependents, in order; markers of the whole phrase are left out."""
        return self.phrases(head, (one for one in dependents if self.relation(one) not in {"case", "mark"}))

    def phrases(self, head: int, dependents: Iterable[int]) -> list[Part]:
        return [head if position == head else self.phrase(position) for position in sorted([*dependents, head])]

    def nominal(self, head: int, dependents: list[int]) -> Part:
        """A noun phrase, or a prepositional phrase around it."""
        possessive = [p for p in dependents if self.relation(p) == "case" and p > head and self.words[p].tag == "POS"]
        content, before, after = [*possessive], list[Part](), list[Part]()
        for position in dependents:
            if self.relation(position) in {"case", "mark"}:
                continue
            if self.is_inside(position, head, first=not before):
                content.append(position)
            else:
                (before if position < head else after).append(self.phrase(position))
        core = self.phrases(head, content)
        label = "WHNP" if self.is_wh(core) else "NP"
        phrase = Phrase(label, _in_order(core))
        if before or after:
            phrase = Phrase(label, _in_order([*before, phrase, *after]))
        return self.with_markers(phrase, [position for position in dependents if position not in possessive])

    def is_inside(self, position: int, head: int, first: bool) -> bool:
        """True if a dependent is in the noun phrase of its noun, not beside it."""
        relation = self.relation(position)
        if position > head:
            return relation in _AFTER_NOUN
        return relation in _BEFORE_NOUN or (first and relation != "cc")

    def is_wh(self, parts: Sequence[Part]) -> bool:
        first: Part = parts[0]
        while isinstance(first, Phrase):
            first = first.children[0]
        return self.words[first].tag in _WH_TAGS

    def is_question_phrase(self, part: Part) -> bool:
        """True if a constituent asks, or is a relative pronoun; not a clause that begins with one: "when he came"."""
        if isinstance(part, int):
            return self.words[part].tag in _WH_TAGS
        return part.label in _WH_LABELS.values()

    def with_markers(self, phrase: Phrase, dependents: Iterable[int]) -> Part:
        """The phrase within its prepositions or conjunctions: a PP, or an SBAR."""
        cases = [position for position in dependents if self.relation(position) == "case"]
        marks = [position for position in dependents if self.relation(position) == "mark"]
        if cases:
            label = "WHPP" if phrase.label in _WH_LABELS.values() else "PP"
            phrase = Phrase(label, _in_order([*self.markers(cases), phrase]))
        if marks:
            phrase = Phrase("SBAR", _in_order([*self.markers(marks), phrase]))
        return phrase

    def markers(self, positions: Iterable[int]) -> Iterator[Part]:
        """Prepositions or conjunctions: words without a constituent ("because of"), or with an adverb, a phrase."""
        for position in positions:
            if all(self.relation(dependent) == "fixed" for dependent in self.dependents[position]):
                yield from self.yield_of(position)
            else:
                yield self.phrase(position)

    def merged(self, label: str, parts: Sequence[Part]) -> Phrase:
        if len(parts) > 1 and self.is_wh(parts):
            label = _WH_LABELS.get(label, label)
        return Phrase(label, _in_order(parts))

    def clause(self, head: int, dependents: list[int], main: bool) -> Part:
        """A clause: what is before the verb phrase, and the verb phrase."""
        clause = self.parts_of_clause(head, dependents)
        if clause.verbs and self.is_question_phrase(clause.predicate) and _last(clause.predicate) < clause.verbs[0]:
            return self.question_of_predicate(clause, main=main)
        if clause.is_inverted:
            asks = not main or self.question or clause.question is not None
            content = Phrase("SQ" if asks else "SINV", self.inverted(clause))
        else:
            content = Phrase("S", self.straight(clause))
        if clause.question is not None:
            return self.fronted(content, clause.phrases, clause.question, main=main)
        if clause.marks:
            gerund = not clause.subjects and not clause.verbs and self.words[head].tag == "VBG"
            return Phrase("PP" if gerund else "SBAR", _in_order([*self.markers(clause.marks), content]))
        return content if main else self.subordinate(content, self.words[head].relation, bool(clause.subjects))

    def parts_of_clause(self, head: int, dependents: list[int]) -> Clause:
        predicate, rest = self.predicate(head, dependents)
        verbs, marks, subjects, conjuncts = list[int](), list[int](), list[int](), list[int]()
        phrases = dict[int, Part]()
        for position in rest:
            relation = self.relation(position)
            if relation in _AUXILIARIES or (relation == "mark" and self.words[position].tag == "TO"):
                verbs.append(position)
            elif relation == "mark":
                marks.append(position)
            elif relation == "conj":
                conjuncts.append(position)
            else:
                phrases[position] = self.phrase(position)
                if relation in _SUBJECTS:
                    subjects.append(position)
        question = next((part for p, part in phrases.items() if p < head and self.is_question_phrase(part)), None)
        return Clause(predicate, verbs, marks, subjects, conjuncts, list(phrases.values()), question)

    def subordinate(self, content: Phrase, relation: str, has_subject: bool) -> Phrase:
        """A clause within a sentence that has no conjunction."""
        if has_subject:
            return Phrase("SBAR", (content,)) if relation in {"ccomp", "acl:relcl", "advcl:relcl"} else content
        child = content.children[0]
        if (
            len(content.children) == 1
            and relation in {"acl", "amod", "conj", "acl:relcl"}
            and isinstance(child, Phrase)
        ):
            return child  # "the book written by him": a verb phrase within the noun phrase
        return content

    def fronted(self, content: Phrase, phrases: list[Part], question: Part, *, main: bool) -> Phrase:
        front = [part for part in _before(phrases, _first(content)) if part != question]
        if main:
            content = Phrase("SQ", content.children)
        return Phrase("SBARQ" if main else "SBAR", _in_order([*front, self.wh_phrase(question), content]))

    def question_of_predicate(self, clause: Clause, *, main: bool) -> Phrase:
        """A clause whose predicate is a question phrase before its verb: "what is it", "what it is"."""
        front = _before(clause.phrases, _last(clause.predicate))
        rest = _after(clause.phrases, _last(clause.predicate))
        subject = _before(rest, clause.verbs[0])
        after = [part for part in rest if part not in subject]
        verbs = _in_order([*clause.verbs, *after, *self.conjuncts(clause.conjuncts)])
        content = Phrase("S", (*_in_order(subject), Phrase("VP", verbs))) if subject else Phrase("SQ", verbs)
        asks = main or (self.question and not subject)
        return Phrase("SBARQ" if asks else "SBAR", _in_order([*front, self.wh_phrase(clause.predicate), content]))

    def wh_phrase(self, part: Part) -> Phrase:
        """A constituent that begins with a question word or a relative pronoun, with the label of such."""
        if isinstance(part, int):
            return Phrase(self.label_of_word(part), (part,))
        return Phrase(_WH_LABELS.get(part.label, part.label), part.children)

    def predicate(self, head: int, dependents: list[int]) -> tuple[Part, list[int]]:
        """The predicate, and the dependents that belong to the clause: a verb, or a phrase after a copula."""
        if self.words[head].category in {"VERB", "AUX"}:
            return head, dependents
        start = max((p for p in dependents if self.relation(p) in _AUXILIARIES | _SUBJECTS and p < head), default=-1)
        own = [position for position in dependents if position > start and self.is_in_predicate(position, head)]
        return self.phrase_without_verb(head, own), [position for position in dependents if position not in own]

    def is_in_predicate(self, position: int, head: int) -> bool:
        """True if a dependent belongs to a predicate that is not a verb, not to the clause around it."""
        relation = self.relation(position)
        if self.words[head].category in {"ADJ", "ADV", "ADP"}:
            return relation in (_BEFORE_ADJECTIVE if position < head else _AFTER_ADJECTIVE)
        return relation in _IN_NOMINAL or (relation == "advmod" and position < head)

    def straight(self, clause: Clause) -> tuple[Part, ...]:
        """Parts of a clause whose subject, if it has one, is before its verbs."""
        start = min([_first(clause.predicate), *clause.verbs])
        inside = _after(clause.phrases, start)
        return (
            *_in_order(self.before(clause, start)),
            self.verb_phrase(clause.predicate, clause.verbs, inside, clause.conjuncts),
        )

    def inverted(self, clause: Clause) -> tuple[Part, ...]:
        """Parts of a clause that has a verb before its subject: "did he come?"."""
        first, *others = clause.verbs
        start = min([_first(clause.predicate), *others])
        middle = [part for part in _after(clause.phrases, first) if _first(part) < start]
        inside = _after(clause.phrases, start)
        if isinstance(clause.predicate, int) or others:
            tail = [self.verb_phrase(clause.predicate, others, inside, clause.conjuncts)]
        else:
            tail = [clause.predicate, *inside, *self.conjuncts(clause.conjuncts)]
        return _in_order([*self.before(clause, first), first, *middle, *tail])

    def before(self, clause: Clause, position: int) -> list[Part]:
        """Phrases of a clause before a position, and after its question phrase."""
        before = _before(clause.phrases, position)
        return before if clause.question is None else _after(before, _last(clause.question))

    def verb_phrase(self, predicate: Part, verbs: list[int], inside: list[Part], conjuncts: list[int]) -> Part:
        outer = [p for p in conjuncts if self.has(p, _AUXILIARIES)]
        own = _after(inside, _first(predicate))
        content = self.with_conjuncts(predicate, own, [p for p in conjuncts if p not in outer])
        # A copula is the verb of the predicate's own phrase.
        if isinstance(predicate, int) or (not verbs and len(content) > 1):
            content = (Phrase("VP", content),)
        between = [part for part in inside if part not in own]
        for verb in reversed(verbs):
            behind = _after(between, verb)
            between = [part for part in between if part not in behind]
            content = (Phrase("VP", _in_order([verb, *behind, *content])),)
        for more in (between, list(self.conjuncts(outer))):
            if more:
                content = (Phrase("VP", _in_order([*more, *content])),)
        return content[0]

    def with_conjuncts(self, predicate: Part, own: list[Part], conjuncts: list[int]) -> tuple[Part, ...]:
        """A predicate and what follows it; in front of conjuncts, a verb phrase of what is before the first of them."""
        if not conjuncts:
            return _in_order([predicate, *own])
        limit = min(self.yield_of(position)[0] for position in conjuncts)
        first = [part for part in own if _first(part) < limit]
        later = [part for part in own if part not in first]
        if first or isinstance(predicate, int):
            predicate = Phrase("VP", _in_order([predicate, *first]))
        return _in_order([predicate, *later, *self.conjuncts(conjuncts)])
