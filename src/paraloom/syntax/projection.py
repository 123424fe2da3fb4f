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

_SUBJECTS = frozenset({"nsubj", "csubj", "expl"})
_AUXILIARIES = frozenset({"aux", "cop"})
_NOMINAL = frozenset({"NOUN", "PROPN", "PRON", "NUM", "SYM", "X", "DET"})
_IN_NOMINAL = frozenset({
    "det", "amod", "nummod", "compound", "nmod", "case", "flat", "acl", "appos", "fixed", "goeswith", "list",
    "reparandum",
})  # fmt: skip
"""Relations of the dependents that belong to a noun, not to the clause whose predicate the noun is."""
_BEFORE_NOUN = frozenset({"det", "amod", "nummod", "compound", "nmod", "flat", "goeswith", "advmod", "fixed"})
_BARE = frozenset({
    "case", "mark", "aux", "cop", "cc", "det", "amod", "nummod", "compound", "punct", "flat", "fixed", "goeswith",
})  # fmt: skip
_WH_TAGS = frozenset({"WP", "WP$", "WDT", "WRB"})
_WH_LABELS = {"NP": "WHNP", "ADVP": "WHADVP", "ADJP": "WHADJP", "PP": "WHPP"}


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
        """The tree of the sentence, below ROOT."""
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
        positions = self.part_positions(part)
        if isinstance(part, Phrase) and positions != sorted(positions):
            # What belongs to the predicate is on both sides of what belongs to the clause: all of it on one level.
            parts = [
                position if position == head else self.phrase(position) for position in sorted([*dependents, head])
            ]
            return Phrase(part.label, tuple(parts))
        return part

    def coordination(self, head: int, dependents: list[int], main: bool) -> Part:
        """Conjuncts in a row, in a constituent with the label of the first one."""
        first = next(position for position in dependents if self.relation(position) == "conj")
        clausal = self.is_clause(head, dependents)
        conjuncts = [position for position in dependents if self.relation(position) == "conj"]
        if clausal and not any(self.has_subject(position) for position in conjuncts):
            # "He came and went": verb phrases of one subject.
            return self.simple(head, dependents, main)
        own = [position for position in dependents if position < first and self.relation(position) != "conj"]
        content = self.simple(head, own, main and len(own) == len(dependents))
        parts: list[Part] = [content]
        for position in dependents:
            if position >= first:
                parts += self.conjunct(position) if self.relation(position) == "conj" else [self.phrase(position)]
        label = content.label if isinstance(content, Phrase) else self.label_of_word(head)
        return Phrase("S" if label in {"SQ", "SBARQ", "SINV"} and not main else label, tuple(self.flat(parts)))

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

    def yield_of(self, position: int) -> list[int]:
        """Positions of a word and of all words below it, in order."""
        result, waiting = list[int](), [position]
        while waiting:
            result.append(current := waiting.pop())
            waiting += self.dependents[current]
        return sorted(result)

    def has_subject(self, position: int) -> bool:
        return any(self.relation(dependent) in _SUBJECTS for dependent in self.dependents[position])

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
        relation = self.relation(head)
        word = self.words[head]
        if not dependents:
            if relation in _BARE or word.relation == "nmod:poss" or word.relation == "compound:prt":
                return Phrase("PRT", (head,)) if word.relation == "compound:prt" else head
            if relation == "discourse":
                return Phrase("INTJ", (head,)) if word.category == "INTJ" else head
            if word.category in {"PUNCT", "CCONJ", "PART"}:
                return head
            return Phrase(self.label_of_word(head), (head,))
        if relation in {"case", "mark", "cc", "fixed"} and all(self.relation(one) == "fixed" for one in dependents):
            return Phrase("CONJP" if relation == "cc" else "PP", tuple(sorted([head, *dependents])))
        if word.category in _NOMINAL or any(self.relation(one) in {"det", "case"} for one in dependents):
            return self.nominal(head, dependents)
        parts = self.ordered(head, dependents)
        return self.with_markers(self.merged(self.label_of_word(head), parts), head, dependents)

    def ordered(self, head: int, dependents: Iterable[int]) -> list[Part]:
        """A word and the constituents of its dependents, in order; markers of the whole phrase are left out."""
        inside = [position for position in dependents if self.relation(position) not in {"case", "mark"}]
        return [head if position == head else self.phrase(position) for position in sorted([*inside, head])]

    def nominal(self, head: int, dependents: list[int]) -> Part:
        """A noun phrase, or a prepositional phrase around it."""
        content, before, after = [head], list[Part](), list[Part]()
        possessive = [p for p in dependents if self.relation(p) == "case" and p > head and self.words[p].tag == "POS"]
        for position in dependents:
            if self.relation(position) in {"case", "mark"} and position not in possessive:
                continue
            relation = self.relation(position)
            if (
                position in possessive
                or (
                    (position < head and (relation in _BEFORE_NOUN or relation == "punct"))
                    or relation in {"flat", "goeswith"}
                )
                or (position < head and not before and relation != "cc")
            ):
                content.append(position)
            else:
                (before if position < head else after).append(self.phrase(position))
        core: list[Part] = [position if position == head else self.phrase(position) for position in sorted(content)]
        label = "WHNP" if self.is_wh(core) else "NP"
        phrase = Phrase(label, tuple(self.flat(core)))
        if before or after:
            phrase = Phrase(label, tuple(self.flat([*before, phrase, *after])))
        rest = [position for position in dependents if position not in possessive]
        return self.with_markers(phrase, head, rest)

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

    def with_markers(self, phrase: Phrase, head: int, dependents: Iterable[int]) -> Part:
        """The phrase within its prepositions or conjunctions: a PP, or an SBAR."""
        cases = [position for position in dependents if self.relation(position) == "case"]
        marks = [position for position in dependents if self.relation(position) == "mark"]
        if cases:
            label = "PP"
            if phrase.label in _WH_LABELS.values():
                label = "WHPP"
            before = [self.words_of(position) for position in cases if position < head]
            behind = [self.words_of(position) for position in cases if position > head]
            phrase = Phrase(
                label, tuple(self.flat([*chain.from_iterable(before), phrase, *chain.from_iterable(behind)]))
            )
        if marks:
            phrase = Phrase("SBAR", tuple(self.flat([*chain.from_iterable(self.words_of(p) for p in marks), phrase])))
        return phrase

    def words_of(self, position: int) -> list[Part]:
        """A preposition or conjunction as words without a constituent: "because of"; with an adverb, as its phrase."""
        if all(self.relation(dependent) == "fixed" for dependent in self.dependents[position]):
            return list(self.yield_of(position))
        return [self.phrase(position)]

    def merged(self, label: str, parts: Sequence[Part]) -> Phrase:
        if len(parts) > 1 and self.is_wh(parts):
            label = _WH_LABELS.get(label, label)
        return Phrase(label, tuple(self.flat(parts)))

    def flat(self, parts: Iterable[Part]) -> list[Part]:
        """Parts in the order of their first words."""
        return sorted(parts, key=lambda part: part if isinstance(part, int) else min(part.positions()))

    def clause(self, head: int, dependents: list[int], main: bool) -> Part:
        """A clause: what is before the verb phrase, and the verb phrase."""
        predicate, rest = self.predicate(head, dependents)
        marks = [p for p in rest if self.relation(p) == "mark" and self.words[p].tag != "TO"]
        verbs = [
            p for p in rest
            if self.relation(p) in _AUXILIARIES or (self.relation(p) == "mark" and self.words[p].tag == "TO")
        ]  # fmt: skip
        others = [p for p in rest if p not in marks and p not in verbs]
        subjects = [p for p in others if self.relation(p) in _SUBJECTS]
        inverted = [p for p in verbs if subjects and p < min(subjects)]
        phrases = {p: self.phrase(p) for p in others if self.relation(p) != "conj"}
        wh = next((p for p, part in phrases.items() if p < head and self.is_question_phrase(part)), None)
        conjuncts = [p for p in others if self.relation(p) == "conj"]
        if verbs and self.is_question_phrase(predicate) and max(self.part_positions(predicate)) < min(verbs):
            return self.question_of_predicate(predicate, sorted(verbs), phrases, conjuncts, main=main)
        body = (self.inverted if inverted else self.straight)(predicate, verbs, phrases, wh, conjuncts)
        label = "S"
        if inverted:
            label = "SQ" if not main or self.question or wh is not None else "SINV"
        content: Phrase = Phrase(label, tuple(body))
        if wh is not None:
            return self.fronted(content, phrases, wh, main=main)
        if marks:
            words = list(chain.from_iterable(self.words_of(position) for position in marks))
            gerund = not subjects and self.words[head].tag == "VBG" and not verbs
            return Phrase("PP" if gerund else "SBAR", tuple(self.flat([*words, content])))
        relation = self.words[head].relation
        if main:
            return content
        if subjects and relation in {"ccomp", "acl:relcl", "advcl:relcl"}:
            return Phrase("SBAR", (content,))
        if not subjects and len(content.children) == 1 and relation in {"acl", "amod", "conj", "acl:relcl"}:
            child = content.children[0]
            # "the book written by him": a verb phrase within the noun phrase.
            if isinstance(child, Phrase):
                return child
        return content

    def fronted(self, content: Phrase, phrases: dict[int, Part], wh: int, *, main: bool) -> Phrase:
        """A clause behind its question phrase."""
        start = min(content.positions())
        front = [part for p, part in phrases.items() if max(self.part_positions(part)) < start and p != wh]
        if main:
            content = Phrase("SQ", content.children)
        parts = self.flat([*front, self.wh_phrase(phrases[wh]), content])
        return Phrase("SBARQ" if main else "SBAR", tuple(parts))

    def question_of_predicate(
        self, predicate: Part, verbs: list[int], phrases: dict[int, Part], conjuncts: list[int], *, main: bool
    ) -> Phrase:
        """A clause whose predicate is a question phrase before its verb: "what is it", "what it is"."""
        start = max(self.part_positions(predicate))
        front = [part for part in phrases.values() if max(self.part_positions(part)) < start]
        rest = [part for part in phrases.values() if min(self.part_positions(part)) > start]
        before = [part for part in rest if max(self.part_positions(part)) < verbs[0]]
        after = [part for part in rest if part not in before]
        more = list(chain.from_iterable(self.conjunct(position) for position in conjuncts))
        if before:
            content = Phrase("S", (*self.flat(before), Phrase("VP", tuple(self.flat([*verbs, *after, *more])))))
        else:
            content = Phrase("SQ", tuple(self.flat([*verbs, *after, *more])))
        asks = main or (self.question and not before)
        label = "SBARQ" if asks else "SBAR"
        return Phrase(label, tuple(self.flat([*front, self.wh_phrase(predicate), content])))

    def part_positions(self, part: Part) -> list[int]:
        return [part] if isinstance(part, int) else list(part.positions())

    def wh_phrase(self, part: Part) -> Phrase:
        """A constituent that begins with a question word or a relative pronoun, with the label of such."""
        if isinstance(part, int):
            return Phrase(self.label_of_word(part), (part,))
        return Phrase(_WH_LABELS.get(part.label, part.label), part.children)

    def predicate(self, head: int, dependents: list[int]) -> tuple[Part, list[int]]:
        """The predicate, and the dependents that belong to the clause: a verb, or a phrase after a copula."""
        word = self.words[head]
        if word.category in {"VERB", "AUX"}:
            return head, dependents
        copula = max((p for p in dependents if self.relation(p) in _AUXILIARIES and p < head), default=-1)
        subject = max((p for p in dependents if self.relation(p) in _SUBJECTS and p < head), default=-1)
        start = max(copula, subject)
        own = list[int]()
        for position in dependents:
            relation = self.relation(position)
            inside = start < position
            if word.category in {"ADJ", "ADV", "ADP"}:
                if inside and (
                    (relation in {"advmod", "obl", "case", "det", "fixed", "amod"} and position < head)
                    or (position > head and relation in {"xcomp", "ccomp", "obl", "fixed", "advmod", "csubj"})
                ) and relation not in _SUBJECTS:  # fmt: skip
                    own.append(position)
            elif (relation in _IN_NOMINAL and inside) or (relation == "advmod" and inside and position < head):
                own.append(position)
        rest = [position for position in dependents if position not in own]
        if word.category in _NOMINAL or any(self.relation(p) in {"det", "case"} for p in own):
            return self.nominal(head, own), rest
        return self.with_markers(self.merged(self.label_of_word(head), self.ordered(head, own)), head, own), rest

    def straight(
        self, predicate: Part, verbs: list[int], phrases: dict[int, Part], wh: int | None, conjuncts: list[int]
    ) -> list[Part]:
        """Parts of a clause whose subject, if it has one, is before its verbs."""
        start = min([min(self.part_positions(predicate)), *(p for p in verbs)])
        before = self.flat(self.before(start, phrases, wh))
        inside = self.after(phrases.values(), start)
        return [*before, self.verb_phrase(predicate, verbs, inside, conjuncts)]

    def inverted(
        self, predicate: Part, verbs: list[int], phrases: dict[int, Part], wh: int | None, conjuncts: list[int]
    ) -> list[Part]:
        """Parts of a clause that has a verb before its subject: "did he come?"."""
        first = min(verbs)
        before = self.before(first, phrases, wh)
        others = verbs[1:]
        start = min([min(self.part_positions(predicate)), *others])
        middle = [part for part in phrases.values() if first < min(self.part_positions(part)) < start]
        inside = self.after(phrases.values(), start)
        if isinstance(predicate, int) or others:
            tail: list[Part] = [self.verb_phrase(predicate, others, inside, conjuncts)]
        else:
            tail = [predicate, *inside, *chain.from_iterable(self.conjunct(p) for p in conjuncts)]
        return self.flat([*before, first, *middle, *tail])

    def before(self, position: int, phrases: dict[int, Part], wh: int | None) -> list[Part]:
        """Phrases of a clause before a position, and after its question phrase."""
        before = [part for part in phrases.values() if max(self.part_positions(part)) < position]
        return before if wh is None else self.after(before, max(self.part_positions(phrases[wh])))

    def verb_phrase(self, predicate: Part, verbs: list[int], inside: list[Part], conjuncts: list[int]) -> Part:
        """Verb phrases in each other, one for each auxiliary, and the predicate with what follows it."""
        verbs = sorted(verbs)
        core = min(self.part_positions(predicate))
        own = [part for part in inside if min(self.part_positions(part)) > core]
        between = [part for part in inside if min(self.part_positions(part)) < core]
        outer = [p for p in conjuncts if any(self.relation(d) in _AUXILIARIES for d in self.dependents[p])]
        plain = [p for p in conjuncts if p not in outer]
        copular = not isinstance(predicate, int)
        children: list[Part]
        if plain:
            limit = min(min(self.yield_of(p)) for p in plain)
            mine = [part for part in own if min(self.part_positions(part)) < limit]
            later = [part for part in own if min(self.part_positions(part)) >= limit]
            first: Part = Phrase("VP", tuple(self.flat([predicate, *mine]))) if not copular or mine else predicate
            children = self.flat([first, *later, *chain.from_iterable(self.conjunct(p) for p in plain)])
        else:
            children = self.flat([predicate, *own])
        # The copula is the verb of the predicate's own phrase.
        if copular and verbs:
            phrase = Phrase("VP", tuple(self.flat([verbs[-1], *children, *self.after(between, verbs[-1])])))
            between = [part for part in between if part not in self.after(between, verbs[-1])]
            verbs = verbs[:-1]
        elif copular and len(children) == 1:
            return predicate
        else:
            phrase = Phrase("VP", tuple(children))
        for verb in reversed(verbs):
            parts = self.after(between, verb)
            between = [part for part in between if part not in parts]
            phrase = Phrase("VP", tuple(self.flat([verb, *parts, phrase])))
        if between:
            phrase = Phrase("VP", tuple(self.flat([*between, phrase])))
        if outer:
            phrase = Phrase("VP", tuple(self.flat([phrase, *chain.from_iterable(self.conjunct(p) for p in outer)])))
        return phrase

    def after(self, parts: Iterable[Part], position: int) -> list[Part]:
        return [part for part in parts if min(self.part_positions(part)) > position]
