"""Sentences as people type them in a hurry: the sources of examples that teach a paraphraser to write standard text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paraloom.core.config import Config, check_range
from paraloom.core.errors import ConfigError
from paraloom.paraphrasing.protection import FIELDS, LINKS, MAIL, MARKUP, MENTIONS, NUMBERS, Protector

UNTOUCHED = (MARKUP, FIELDS, LINKS, MAIL, MENTIONS, NUMBERS)
"""Kinds of `paraloom.paraphrasing.protection` that noise never changes."""

ABBREVIATIONS: dict[str, tuple[str, ...]] = {
    **{"you": ("u", "ya"), "your": ("ur",), "you're": ("ur",), "are": ("r",), "why": ("y",), "and": ("n", "&")},
    **{"please": ("pls", "plz"), "thanks": ("thx", "tnx"), "thank you": ("ty",), "sorry": ("sry",)},
    **{"because": ("bc", "cuz", "coz"), "with": ("w/",), "without": ("w/o",), "though": ("tho",), "through": ("thru",)},
    **{"about": ("abt",), "really": ("rly",), "probably": ("prob", "probly"), "definitely": ("def",)},
    **{"especially": ("esp",), "seriously": ("srsly",), "okay": ("ok", "k"), "love": ("luv",), "night": ("nite",)},
    **{"people": ("ppl",), "tonight": ("tonite",), "tomorrow": ("tmrw", "tmr"), "birthday": ("bday",)},
    **{"weekend": ("wknd",), "message": ("msg",), "picture": ("pic",), "pictures": ("pics",), "favorite": ("fav",)},
    **{"minutes": ("mins",), "something": ("smth",), "going to": ("gonna",), "want to": ("wanna",)},
    **{"got to": ("gotta",), "kind of": ("kinda",), "sort of": ("sorta",), "out of": ("outta",), "let me": ("lemme",)},
    **{"give me": ("gimme",), "should have": ("shoulda",), "could have": ("coulda",), "would have": ("woulda",)},
    **{"don't know": ("dunno",), "i don't know": ("idk",), "oh my god": ("omg",), "by the way": ("btw",)},
    **{"to be honest": ("tbh",), "right now": ("rn",), "as soon as possible": ("asap",), "in my opinion": ("imo",)},
}
"""Words and phrases, in lower case, and how people abbreviate them."""

_CONTRACTIONS = (
    *("don't", "can't", "won't", "isn't", "aren't", "wasn't", "weren't", "hasn't", "haven't", "hadn't", "doesn't"),
    *("didn't", "wouldn't", "couldn't", "shouldn't", "i'm", "i've", "you're", "you've", "they're", "they've", "that's"),
    *("what's", "there's", "who's", "let's", "he's", "she's"),
)
"""Contractions that are not another word without their apostrophe."""

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_VOWELS = frozenset("aeiouy")
_WORD = re.compile(r"(?<![\w@#])[^\W\d_]+(?:['’][^\W\d_]+)*(?![\w@])")
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])['’](?=[^\W\d_])")
_END = re.compile(r"[.!?…]+(?=[\"”’')]*\s*$)")
_PAUSE = re.compile(r"(?<=\w)[,;:.!?]+(?=\s)")
_EMPHASIS = re.compile(r"[!?](?=\s*$)")
_NOUN_FOLLOWS = r"(?! (?:the|a|an|my|your|his|her|its|our|their|this|that|these|those|work|school|bed|church|town)\b)"
"""After "going to": it is followed by a place, not by a verb."""


@dataclass(frozen=True, kw_only=True)
class NoiseConfig(Config):
    """How often what happens to a sentence. Shares are of sentences, rates of the words or phrases of a sentence.

    Args:
        clean_share: Nothing happens: a model that never sees good text would change it; 0 to 1.
        lower_share: All letters become small.
        upper_share: All letters become capitals.
        first_share: The first letter becomes small. The three shares of letters add up to 1 at most.
        end_share: The punctuation at the end is left out.
        emphasis_share: A question or exclamation mark at the end is repeated.
        pause_share: Commas, colons, and full stops within the text are left out.
        apostrophe_share: Contractions lose their apostrophes ("dont").
        abbreviation_rate: Rate at which a word or phrase in `ABBREVIATIONS` is abbreviated ("u", "gonna").
        typo_rate: Rate of words of three letters or more with a typing error: the key beside the right one, or a letter
            doubled, left out, or swapped with the next; one of the four in each.
        stretch_rate: Rate of words with a letter repeated ("soooo").
        placeholder_share: In pairs of `noisy_pair`: numbers, links, markup and @names are placeholders in both texts,
            so that a model learns to copy placeholders.

    Raises:
        ConfigError: A value is not from 0 to 1, or the shares of letters add up to more.

    Example:
        >>> NoiseConfig(lower_share=0.2).typo_rate
        0.06
    """

    clean_share: float = 0.1
    lower_share: float = 0.5
    upper_share: float = 0.03
    first_share: float = 0.2
    end_share: float = 0.6
    emphasis_share: float = 0.1
    pause_share: float = 0.3
    apostrophe_share: float = 0.5
    abbreviation_rate: float = 0.4
    typo_rate: float = 0.06
    stretch_rate: float = 0.01
    placeholder_share: float = 0.5

    def validate(self) -> None:
        check_range(self, *vars(self), low=0, high=1)
        if (total := self.lower_share + self.upper_share + self.first_share) > 1:
            raise ConfigError(
                f"'lower_share', 'upper_share' and 'first_share' must not add up to more than 1, got {total:g}"
            )


def is_edited(text: str) -> bool:
    """Whether a text looks like edited sentences, so that it can be the target of a noisy one."""
    words = _WORD.findall(text)
    if not words or not words[0][0].isupper() or not _END.search(text) or text.isupper():
        return False
    return len(words) < 4 or 2 * sum(word[0].isupper() for word in words) <= len(words)


def add_noise(text: str, config: NoiseConfig, random: np.random.Generator) -> str:
    """A sentence as people type it in a hurry.

    Numbers, words with digits, links, mail addresses, @names, #tags, markup and fields stay as they are.
    """
    protector = Protector(UNTOUCHED)
    protected = protector.protect(text)
    restored, problem = protector.restore(protected, _noisy(protected.text, config, random))
    return text if problem else restored


def noisy_pair(text: str, config: NoiseConfig, random: np.random.Generator) -> tuple[str, str]:
    """A noisy sentence and the clean one; with placeholders in both for a share of them."""
    if random.random() >= config.placeholder_share:
        return add_noise(text, config, random), text
    protector = Protector(UNTOUCHED)
    protected = protector.protect(text)
    noisy = _noisy(protected.text, config, random)
    return (protected.text if protector.restore(protected, noisy)[1] else noisy), protected.text


def expand_abbreviations(text: str) -> str:
    """Undo `ABBREVIATIONS`, each to the first that it may stand for, and contractions without an apostrophe."""
    return _SHORT.sub(lambda match: _cased(_LONG[match[0].lower()], match[0]), text)


def _noisy(text: str, config: NoiseConfig, random: np.random.Generator) -> str:
    """Noise in a text whose numbers, links and the like are placeholders."""
    if random.random() < config.clean_share:
        return text
    letters, ending, emphasis, pauses, apostrophes = random.random(5)

    def abbreviated(match: re.Match[str]) -> str:
        if random.random() >= config.abbreviation_rate:
            return match[0]
        return _cased(_drawn(ABBREVIATIONS[match[0].lower().replace("’", "'")], random), match[0])

    def mistyped(match: re.Match[str]) -> str:
        typo, stretch = random.random(2)
        word = match[0]
        if typo < config.typo_rate and len(word) >= 3:
            word = _mistyped(word, random)
        return _stretched(word, random) if stretch < config.stretch_rate else word

    text = _FULL.sub(abbreviated, text)
    if apostrophes < config.apostrophe_share:
        text = _APOSTROPHE.sub("", text)
    text = _WORD.sub(mistyped, text)
    if pauses < config.pause_share:
        text = _PAUSE.sub("", text)
    if ending < config.end_share:
        text = _END.sub("", text)
    elif emphasis < config.emphasis_share:
        text = _EMPHASIS.sub(lambda match: match[0] * int(random.integers(2, 5)), text)
    if letters < config.lower_share:
        return _WORD.sub(lambda match: match[0].lower(), text)
    if letters < config.lower_share + config.upper_share:
        return _WORD.sub(lambda match: match[0].upper(), text)
    if letters < config.lower_share + config.upper_share + config.first_share:
        return _WORD.sub(lambda match: match[0][0].lower() + match[0][1:] if match.start() == 0 else match[0], text)
    return text


def _mistyped(word: str, random: np.random.Generator) -> str:
    """A word with one typing error; the first letter is hit, but not swapped or left out."""
    kind = int(random.integers(4))
    if kind == 0:
        row = int(random.integers(len(word)))
        near = _NEIGHBORS.get(word[row].lower())
        if near:
            letter = _drawn(near, random)
            return word[:row] + (letter.upper() if word[row].isupper() else letter) + word[row + 1 :]
        kind = 1
    row = int(random.integers(1, len(word)))
    if kind == 1:
        return word[: row + 1] + word[row:]
    if kind == 2:
        return word[:row] + word[row + 1 :]
    row = min(row, len(word) - 2)
    return word[:row] + word[row + 1] + word[row] + word[row + 2 :]


def _stretched(word: str, random: np.random.Generator) -> str:
    """A word whose last vowel, or last letter, is repeated."""
    vowels = [row for row, letter in enumerate(word) if letter.lower() in _VOWELS]
    row = vowels[-1] if vowels else len(word) - 1
    return word[:row] + word[row] * int(random.integers(3, 6)) + word[row + 1 :]


def _drawn(values: Sequence[str], random: np.random.Generator) -> str:
    return values[int(random.integers(len(values)))]


def _cased(text: str, like: str) -> str:
    """A text with the case of another: a capital first, or all capitals."""
    if len(like) > 1 and like.isupper():
        return text.upper()
    return text[:1].upper() + text[1:] if like[:1].isupper() and like != "I" else text


def _neighbors() -> dict[str, str]:
    """The letters around each one on an English keyboard."""
    spots = {letter: (row, column + row / 2) for row, line in enumerate(_ROWS) for column, letter in enumerate(line)}
    return {
        letter: "".join(
            other
            for other, (row, column) in spots.items()
            if other != letter and abs(row - own_row) <= 1 and abs(column - own_column) <= 1
        )
        for letter, (own_row, own_column) in spots.items()
    }


def _full_forms() -> re.Pattern[str]:
    by_length = sorted(ABBREVIATIONS, key=len, reverse=True)
    phrases = [re.escape(one) + (_NOUN_FOLLOWS if one.endswith(" to") else "") for one in by_length]
    apostrophes = "|".join(phrases).replace("'", "['’]")
    return re.compile(rf"(?<![\w'’@#-])(?:{apostrophes})(?![\w'’-])", re.IGNORECASE)


def _long_forms() -> dict[str, str]:
    forms = {one.replace("'", ""): one for one in _CONTRACTIONS}
    for full, short in ABBREVIATIONS.items():
        forms |= {one: full for one in short if one not in forms}
    return {short: re.sub(r"^i\b", "I", full) for short, full in forms.items()}


_NEIGHBORS = _neighbors()
_FULL = _full_forms()
_LONG = _long_forms()
_SHORT = re.compile(
    r"(?<![\w'’@#/-])(?:" + "|".join(map(re.escape, sorted(_LONG, key=len, reverse=True))) + r")(?![\w'’/-])",
    re.IGNORECASE,
)
