"""Where two English texts differ: words and kinds of change, and changes that paraphrasers seldom get right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

from paraloom.text.function_words import FUNCTION_WORDS

REPEATED, MARKS, FORMS = "repeats a word", "name, number or mark changed", "form of a word changed"
UNKNOWN = "a new word that is not in the list"
"""What `english_fault` finds."""

WORD, ORDER, CONTRACTION = CHANGES = ("word", "order", "contraction")
"""What `kinds_of_change` finds."""

_TOKEN = re.compile(r"\d+(?:[.,:]\d+)+|\w+(?:['-]\w+)*|[^\w\s]")
_MARK = re.compile(r"""["()\[\]{}<>$€£%@#]|.*\d.*""")
_CAPITALIZED = re.compile(r"(?<=[\w,;] )[A-Z][^\W_]*(?=$|[\s.,;:!?)\"])")
_ODD_FORM = re.compile(
    r"\b(?!(?:i|you|he|she|it|we|they|that|there|who)')\w+'(?:ll|re|ve|d)\b"
    r"|\b\w+'(?:s|re|ve|ll|m|d)(?=\W*$| (?:and|or|but)\b)"
    r"|\ban [b-df-gj-np-tv-z]\w*|(?-i:\ba )(?!one|once|eu|ew)[aeio]\w*",
    re.IGNORECASE,
)
"""Another word than a pronoun contracted, or a contraction before a pause: "Tom'll", "where he's"; "an plane"."""
_LABEL = re.compile(r"""(?<![\w.,;:!?])["“]([^"“”]{1,40}[^"“”.,;:!?])["”](?!\w)""")
"""A quoted name, such as of a button: quotation marks around words without a mark behind them."""
_QUESTIONS = frozenset(["what", "which", "who", "whom", "whose", "when", "where", "why", "how"])
_CHOICES = tuple(
    frozenset(words.split())
    for words in (
        *("in on at for of to by from with as than over above", "a an the this these those", "this that"),
        *("and or but", "because if", "man woman boy girl person men women people", "guy person"),
        *(
            "can could",
            "will would",
            "could may",
            "any some",
            "anything something",
            "anyone someone",
            "anybody somebody",
            "many much",
            "many several",
        ),
        *("i you he she we they", "me him her us them", "my your his her our their", "too very", "like love"),
        *("come go get", "came went got", "coming going getting", "closed closing shut", "home house", "job work"),
        *("bathroom toilet", "cash money", "cat kitten", "city town", "clock watch", "college university"),
        *("desk table", "gun weapon", "hot warm", "breakfast lunch dinner", "morning afternoon evening night"),
    )
)
"""Words of which one does not stand for another: for some they do, but seldom in the sentences that were read."""
_ODD_WORDS = re.compile(
    r"\b(?:how|too|so|as|very) a lot\b|\ban? (?:\w+ )?begin\b|\b(?:the|my|your|his|her|its|our|their|from) begin\b",
    re.IGNORECASE,
)
_ODD_MARK = re.compile(r",(?:\W{0,9}$|\.)")
"""A comma at the end, or before a full stop."""
_JOINED = re.compile(r"\b\w+(?:[.:/]\w+)+")
"""What has a mark inside, such as a version or the name of a file."""
_AUXILIARY_FORMS = {
    **dict.fromkeys(("am", "is", "are", "was", "were", "been", "being"), "be"),
    **dict.fromkeys(("has", "had", "having"), "have"),
    **dict.fromkeys(("does", "did", "done"), "do"),
}
_IRREGULAR = {
    form: forms.split()[0]
    for forms in (
        *("man men", "woman women", "child children", "person people", "foot feet", "begin began begun"),
        *("break broke broken", "bring brought", "buy bought", "come came", "drink drank drunk", "drive drove driven"),
        *("eat ate eaten", "fall fell fallen", "feel felt", "find found", "get got gotten", "give gave given"),
        *("go goes went gone", "hear heard", "hold held", "keep kept", "know knew known", "leave left", "lose lost"),
        *("make made", "meet met", "ride rode ridden", "run ran", "say said", "see saw seen", "sit sat", "sleep slept"),
        *("speak spoke spoken", "stand stood", "swim swam", "take took taken", "think thought"),
        *("wear wore worn", "win won", "write wrote written"),
    )
    for form in forms.split()
}
_PARTICLES = frozenset(["up", "off", "out", "on", "down", "away", "in", "so", "of"])
_MODALS = frozenset(["can", "could", "may", "might", "must", "should", "would"])
_LIKE_MODALS = frozenset(
    ["have", "need", "do", "want", "able", "supposed", "maybe", "perhaps", "going", "ought", "like"]
)
_AUXILIARIES = frozenset([*_AUXILIARY_FORMS, "be", "have", "do", "will", "would", "can", "could", "may", "must", "to"])
_FUNCTION_WORDS = frozenset([*FUNCTION_WORDS["en"].split(), *_AUXILIARIES, "because", "since", "might", "should"])
_ENDINGS = ("ing", "ed", "er", "es", "s", "d", "")
_SMALL = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_DIGITS = frozenset(map(str, range(len(_SMALL))))
_CONTRACTIONS = (
    *((r"\bcan(?:'t|not)\b", "can not"), (r"\bwon't\b", "will not"), (r"n't\b", " not"), (r"'re\b", " are")),
    *((r"'ve\b", " have"), (r"'ll\b", " will"), (r"\bi'm\b", "i am"), (r"\bwhats\b", "what is")),
    (r"\b(it|he|she|that|there|who|what)'s been\b", r"\1 has been"),
    (r"\b(it|he|she|that|what|who|there|here|where|how|when)'s\b", r"\1 is"),
)
_CONTRACTED = re.compile("'|cannot|whats")
_LONGEST_REPEAT, _SHORTEST_STEM, _SHORTEST_LISTED, _LONGEST_LABEL = 3, 3, 4, 4
_FILLING = _AUXILIARIES | {"a", "an", "the", "not"}
"""Words that come, go and move with others."""


@lru_cache(maxsize=256)  # a text is compared with several candidates in turn, and each of these several times
def english_words(text: str) -> tuple[str, ...]:
    """Words and marks in lower case, contractions written in full: "It's" is "it is", whatever it may stand for."""
    plain = text.lower().translate({ord("’"): "'", ord("“"): '"', ord("”"): '"'})
    for pattern, full in _CONTRACTIONS if _CONTRACTED.search(plain) else ():
        plain = re.sub(pattern, full, plain)
    return tuple(_TOKEN.findall(plain))


class Edit(NamedTuple):
    """Content words of each text that the other lacks, whether function words differ, too, and the order."""

    lost: str
    new: str
    functional: bool
    reordered: bool

    @classmethod
    def between(cls, source: Sequence[str], candidate: Sequence[str]) -> Edit:
        """Compare the words of two texts."""
        first, second = _plain(source), _plain(candidate)
        lost, new = (Counter(first) - Counter(second)).elements(), (Counter(second) - Counter(first)).elements()
        content = [[word for word in words if word not in _FUNCTION_WORDS] for words in (lost, new)]
        functional = sorted(first) != sorted(second)
        return cls(" ".join(content[0]), " ".join(content[1]), functional, first != second)


def kinds_of_change(source: str, candidate: str) -> list[str]:
    """How an English text was changed, of `CHANGES`; contractions count as written in full.

    word: words replace others, not counting articles, auxiliaries, and forms of the same word. order: words that both
    texts have once, not counting articles and auxiliaries, stand in another order. contraction: nothing else differs.
    """
    before, after = (_plain(english_words(text)) for text in (source, candidate))
    if before == after:
        written = (_plain(_TOKEN.findall(text.lower().replace("’", "'"))) for text in (source, candidate))
        return [CONTRACTION] if next(written) != next(written) else []
    counts, others = Counter(before), Counter(after)
    once = {word for word in counts if counts[word] == others[word] == 1} - _FILLING
    orders = ([word for word in words if word in once] for words in (before, after))
    lost, new = (counts - others).keys() - _FILLING, (others - counts).keys() - _FILLING
    replaced = all(
        any(not any(_inflected(word, other, False) for other in of_other) for word in words)
        for words, of_other in ((lost, new), (new, lost))
    )
    return [WORD] * replaced + [ORDER] * (next(orders) != next(orders))


def replaces_words(source: str, candidate: str) -> bool:
    """Whether content words of an English text are replaced one for one, and nothing else but contractions changed."""
    before, after = (english_words(text) for text in (source, candidate))
    marks = ([word for word in words if not word[0].isalnum() and word != "."] for words in (before, after))
    first, second = _plain(before), _plain(after)
    changed = [pair for pair in zip(first, second, strict=False) if pair[0] != pair[1]]
    moved = any(old in second or new in first for old, new in changed)  # "Men bite dogs." for "Dogs bite men."
    functional = any(word in _FUNCTION_WORDS for pair in changed for word in pair)
    return len(first) == len(second) and not moved and not functional and next(marks) == next(marks)


def english_fault(source: str, candidate: str, known: Collection[str] = ()) -> str:
    """A change of an English text that is seldom right; '' if there is none.

    These are a repetition that the source lacks; other names, numbers, quotation marks or brackets; another form of a
    word ("the alum crystal", "a dog play"), but where an auxiliary comes or goes; another preposition, conjunction,
    article, pronoun or question word; another kind of person ("a man", "a boy"); "some" for "any" and other words that
    seldom say the same ("a city", "a town"); "is" for "has", and for "does" alone or in its place
    ("Which are you like?"); "can" and other modals that come or go; a particle that is lost ("set up", "set"); a lost
    capital at the beginning; a comma at the end; a changed version or quoted name; "how a lot"; "an plane"; a
    possessive that comes or goes ("Australia is biggest producer"); odd contractions; and a new word, of four letters
    or more, that is not a known one, if words are given ("beautifulr").
    """
    if _changes_names(source, candidate) or lost_label(source, candidate):
        return MARKS
    if _ODD_WORDS.search(candidate) or (source[:1].isupper() and candidate[:1].islower()):
        return FORMS
    if _ODD_MARK.search(candidate) and not _ODD_MARK.search(source):
        return MARKS
    if known and any(
        len(word) >= _SHORTEST_LISTED and word.isalpha() and word not in known
        for word in {*english_words(candidate)} - {*english_words(source)}
    ):
        return UNKNOWN
    odd = set(_ODD_FORM.findall(candidate.replace("’", "'"))) - set(_ODD_FORM.findall(source))
    return FORMS if odd else _fault_of_words(english_words(source), english_words(candidate))


def lost_label(source: str, candidate: str) -> bool:
    """True if a text changes a quoted name of up to four words."""
    return any(label not in candidate for label in _LABEL.findall(source) if len(label.split()) <= _LONGEST_LABEL)


def _changes_names(source: str, candidate: str) -> bool:
    """True if a name comes or goes, or a version goes."""
    words, others = set(english_words(source)), set(english_words(candidate))
    return bool(_names(source) - others or _names(candidate) - words or _joined(source) - _joined(candidate))


def _joined(text: str) -> set[str]:
    """Words with a mark inside and a digit, in lower case."""
    return {word for word in _JOINED.findall(text.lower()) if any(map(str.isdigit, word))}


def _names(text: str) -> set[str]:
    """Words with a capital that begin no sentence, in lower case; none where half of the words have a capital."""
    capitalized = _CAPITALIZED.findall(text)
    return set() if 2 * len(capitalized) > len(text.split()) else {word.lower() for word in capitalized if word != "I"}


def _fault_of_words(source: Sequence[str], candidate: Sequence[str]) -> str:
    before, after = _plain(source), _plain(candidate)
    if any(_repeats(after, length) > _repeats(before, length) for length in range(1, _LONGEST_REPEAT + 1)):
        return REPEATED
    first, second = Counter(source), Counter(candidate)
    lost, new = first - second, second - first
    if fault := _fault_of_side(lost, new) or _fault_of_side(new, lost):
        return fault
    if _other_forms(lost.keys(), new.keys()):
        return FORMS
    return MARKS if source[:1] == ('"',) != candidate[:1] else ""


def _fault_of_side(some: Collection[str], others: Collection[str]) -> str:
    """The fault of words that one text alone has: marks, numbers without the same in the other, question words."""
    marks = (word for word in some if _MARK.fullmatch(word))
    if any(word not in _DIGITS or _SMALL[int(word)] not in others for word in marks):
        return MARKS
    if any(str(_SMALL.index(word)) not in others for word in some if word in _SMALL[2:]):
        return MARKS
    return FORMS if any(word in _QUESTIONS or word == "its" or word.endswith("'s") for word in some) else ""


def _other_forms(lost: Set[str], new: Set[str]) -> bool:
    """True if a word stands for one that it seldom stands for, another form of it, or an auxiliary of another kind."""
    if any(words & lost and words & new for words in _CHOICES):
        return True
    helped = bool(_AUXILIARIES.intersection(lost) ^ _AUXILIARIES.intersection(new))
    gone, come = ({_AUXILIARY_FORMS.get(word, word) for word in words if word.isalpha()} for words in (lost, new))
    short = {word for word in lost | new if word.endswith("'d")}
    return _other_function(gone, come, short) or any(_inflected(word, other, helped) for word in gone for other in come)


def _other_function(lost: Set[str], new: Set[str], short: Set[str]) -> bool:
    """True if an auxiliary stands for another kind, a modal comes or goes alone, or a particle goes."""
    for some, others in ((lost, new), (new, lost)):
        if "be" in some and ("have" in others or (some == {"be"} and others == {"do"})):
            return True
        if some & _MODALS and not (others & (_MODALS | _LIKE_MODALS) or short):
            return True
    return ("do" in lost and "be" in new) or (not new and bool(lost & _PARTICLES))


@lru_cache(maxsize=8192)
def _inflected(word: str, other: str, helped: bool) -> bool:
    """True if two words are forms of one word, unless an auxiliary helped."""
    if word == other:  # two forms of one auxiliary
        return True
    word, other = (_IRREGULAR.get(one, one) for one in (word, other))
    stems = [{word[: len(word) - len(end)] for end in _ENDINGS if word.endswith(end)} for word in (word, other)]
    stems = [of_word | {stem.removesuffix("e") for stem in of_word} | {
        stem[:-1] for stem in of_word if stem[-2:-1] == stem[-1:]
    } for of_word in stems]  # fmt: skip
    common = max(map(len, stems[0] & stems[1]), default=0)
    return common >= _SHORTEST_STEM and not helped


def _plain(words: Sequence[str]) -> list[str]:
    """The words without the marks."""
    return [word for word in words if word[0].isalnum()]


def _repeats(words: Sequence[str], length: int) -> int:
    """How often a stretch of so many words follows itself."""
    starts = range(len(words) - 2 * length + 1)
    return sum(words[at : at + length] == words[at + length : at + 2 * length] for at in starts)
