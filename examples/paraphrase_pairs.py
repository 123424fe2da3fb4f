"""Pairs for the English paraphraser: those of people, and sentences of many kinds that rules rewrite.

    PARALOOM_DATA=/path/to/corpora python examples/paraphrase_pairs.py build/paraphrase-pairs

Writes human.tsv (pairs of people), captions.tsv (captions of one picture or sound, most of which do not say the same),
edited.tsv (sentences with a clause moved, another beginning of a question, and phrases replaced by what replaces them
between the same words in pairs of people, many with several of these), text.tsv (the sentences that were edited) and
test.tsv: pairs of Tatoeba that are held out, as are the sentences of the quickstart. Few pairs differ in contractions
alone: a paraphraser that learns from many writes little else. `examples/continued-paraphraser.toml` reads them.
"""

from __future__ import annotations

import argparse
import os
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import paraloom.bundled
from paraloom.evaluate.paraphrase_sets import is_test_image
from paraloom.io import read_lines
from paraloom.pairs.filtering.held_out import is_held_out
from paraloom.paraphrasing.edits import Edit, english_fault, english_words
from paraloom.text.function_words import FUNCTION_WORDS

Pair = tuple[str, str]

TEST_SHARE = 0.06
TATOEBA = ("tatoeba/de", "tatoeba/fr", "tatoeba/cs", "tatoeba/tr", "tatoeba-2/es")
BIBLES = ("BSB", "WEB", "OEB", "OET-RV", "UST")
CAPS = {"advising": 4_000, "places": 2_500, "bible": 8_000}
"""Kind → pairs at most, where there are many of a narrow kind."""
SINGLE_SHARE, FUNCTIONAL_SHARE, CONTRACTED_SHARE = 0.5, 0.3, 0.004
"""Shares that are kept of the edits of one content word, of function words alone, and of contractions alone."""
TEXTS = {
    "questions.reddit-titles": 60_000, "questions.opentrivia": 20_000, "questions.stackoverflow-titles": 19_000,
    "headlines.reddit-press": 30_000, "headlines.clickbait": 15_000, "forum.reddit-posts": 60_000,
    "glosses.open-english-wordnet": 20_000, "examples.open-english-wordnet": 20_000, "examples.wordset": 10_000,
}  # fmt: skip
"""Monolingual text → sentences of it at most."""
HELP = ("gnome-help", "rust-book", "privacyguides", "opensource-guide", "django-girls", "python-docs", "tldr")

QUESTIONS = [
    ("How do I ", "How can I ", "What is the best way to ", "How would I ", "What's the best way to ", "How to "),
    ("Is it possible to ", "Is there a way to ", "Is there any way to ", "Can I ", "Can you "),
    ("Does anyone know ", "Do any of you know ", "Does anybody know "),
    ("What is ", "What's "), ("Who is ", "Who's "), ("Where is ", "Where's "), ("Why is it that ", "How come "),
    ("What are some ", "Which are some "), ("What is the reason for ", "What is the cause of "),
    ("In which year ", "In what year "), ("In which ", "In what "), ("How many ", "What number of "),
    ("Has anyone ", "Has anybody ", "Have any of you "), ("Can anyone ", "Can anybody ", "Can someone "),
]  # fmt: skip
"""Beginnings of questions that ask the same."""
PREPOSITIONS = ("In", "On", "At", "During", "For", "With", "Without", "By", "From")
CONJUNCTIONS = ("If", "When", "Because", "Although", "Though", "While", "After", "Before", "Since", "Unless", "Until")
FRONTED = re.compile(rf"({'|'.join(PREPOSITIONS + CONJUNCTIONS)}) ([^,;:.?!\"()]+), (?:then )?([^,;:.?!\"()]+)([.?!]?)")
BACKED = re.compile(rf"([^\s,;:.?!\"()]+)( [^,;:.?!\"()]+) ({'|'.join(CONJUNCTIONS).lower()}) ([^,;:.?!\"()]+)(\.?)")
THIRD = ("he", "she", "it", "they")
GENERIC = re.compile(r"\b(?:person|people|m[ae]n|wom[ae]n|boys?|girls?|child|children|kids?|friends?|parents?|used)\b")
"""Words that pairs replace by narrower or wider ones."""
NOT_FIRST = ("as", "and", "but", "or", "who", "which", "where", "while", "with", "because", "so", "although")
BEFORE_OBJECTS = frozenset({
    *("know", "knows", "knew", "wonder", "wonders", "wondering", "ask", "asked", "asking", "curious", "see", "check"),
    *("sure", "tell", "doubt", "care", "remember", "decide", "matter", "as", "even", "only", "just", "say", "like"),
    *("out", "than", "of", "and", "or", "but", "about", "shortly", "right", "soon", "long", "years", "days", "ever"),
})  # fmt: skip
"""Behind these, "if" and "when" begin no clause that can move."""
CONTRACTIONS = [
    (r"\b(is|are|was|were|do|does|did|could|would|should|has|have|had) not\b", r"\1n't"),
    (r"\bcan ?not\b", "can't"), (r"\bwill not\b", "won't"), (r"\bI am(?= \w)", "I'm"),
    (r"\b([Yy]ou|[Tt]hey|[Ww]e) are(?= \w)", r"\1're"), (r"\b([Ii]t|[Hh]e|[Ss]he|[Tt]hat|[Tt]here) is(?= \w)", r"\1's"),
    (r"\b(I|[Yy]ou|[Ww]e|[Tt]hey) have (?=\w+ed\b|been\b)", r"\1've "),
]  # fmt: skip
EXPANSIONS = [
    (r"\b(is|are|was|were|do|does|did|could|would|should|has|have|had)n't\b", r"\1 not"),
    (r"\bcan't\b", "cannot"), (r"\bwon't\b", "will not"), (r"\bI'm\b", "I am"),
    (r"\b([Yy]ou|[Tt]hey|[Ww]e)'re\b", r"\1 are"), (r"\b(I|[Yy]ou|[Ww]e|[Tt]hey)'ve\b", r"\1 have"),
    (r"\b([Ii]t|[Tt]hat|[Tt]here)'s (?=(?:a|the|not|my|very|too|so)\b)", r"\1 is "),
]  # fmt: skip
SET_PHRASES = [
    ("a lot of", "lots of"), ("begin to", "start to"), ("because of", "due to"), ("for example", "for instance"),
]  # fmt: skip


def rows(path: Path) -> Iterator[list[str]]:
    """Cells of a table."""
    return (line.split("\t") for line in read_lines(str(path)))


def letters(text: str) -> str:
    """A text of letters and digits only, in lower case."""
    return "".join(filter(str.isalnum, text.lower()))


def plain(text: str) -> str:
    """Text as it is written, from tokens with blanks around them."""
    text = re.sub(r"(``|'') ?| ?(''|'')", '"', text) if "``" in text or "''" in text else text
    text = re.sub(r" ([,.;:?!%)\]]|n't|'(?:s|re|ve|ll|d|m)\b)", r"\1", text)
    text = re.sub(r"([(\[$]) ", r"\1", text)
    text = re.sub(r" ([-–/]) ", r"\1", text)
    return re.sub(r'" ([^"]*?) ?"', r'"\1"', text)


def groups(keyed: Iterable[Pair], limit: int) -> Iterator[Pair]:
    """Pairs of texts with the same key, so many of each key at most."""
    texts: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for key, text in keyed:
        texts[key][text.strip()] = None
    for group in texts.values():
        pairs = list(combinations(group, 2))
        yield from random.Random(next(iter(group))).sample(pairs, min(limit, len(pairs)))


def tatoeba(data: Path) -> Iterator[Pair]:
    """Sentences that translate the same sentence."""
    for name in TATOEBA:
        yield from groups(((row[0], row[-1]) for row in rows(data / f"bitext/{name}-en.tsv.gz")), 10)
    yield from ((row[0], row[1]) for row in rows(data / "paraphrase/tatoeba-pivot/pairs.tsv.gz"))


def other_human(data: Path) -> Iterator[tuple[str, Pair]]:
    """Kind and pair, of people, of other kinds of text."""
    for _, first, second in rows(data / "onestopenglish/pairs.tsv.gz"):
        yield "news", (first, second)
    for whole, parts, one, other in rows(data / "wiki-split/tune+validation.tsv.gz"):
        if min(float(one), float(other)) >= 0.85:
            yield "split", (plain(whole), plain(parts.replace(" <::::> ", " ")))
    for file in ("dev", "test.half1"):
        for label, first, second in rows(data / f"paws-wiki/{file}.tsv.gz"):
            if label == "1":
                yield "paws", (plain(first), plain(second))
    courses = (row for row in rows(data / "text2sql/questions.tsv.gz") if row[0] == "advising")
    for pair in groups(((row[1], plain(row[2])) for row in courses), 40):
        yield "advising", pair
    restaurants = ((row[0], row[1]) for row in rows(data / "e2e-cleaned/dev.tsv.gz"))
    acts = (row for row in rows(data / "rnnlg/references.tsv.gz") if "dont_care" not in row[1])
    for pair in groups([*restaurants, *((f"{row[0]} {row[1]}", row[2]) for row in acts)], 2):
        yield "places", pair
    verses = ((row[0], row[1]) for name in BIBLES for row in rows(data / f"bible-verses/{name}.tsv.gz"))
    for pair in groups((verse for verse in verses if 4 <= len(verse[1].split()) <= 25), 2):
        yield "bible", pair


def human(data: Path) -> dict[str, list[Pair]]:
    """Kind → pairs of people that differ in more than case and punctuation."""
    pairs: defaultdict[str, list[Pair]] = defaultdict(list)
    for kind, pair in (*(("tatoeba", pair) for pair in tatoeba(data)), *other_human(data / "paraphrase")):
        if letters(pair[0]) != letters(pair[1]) and max(len(side.split()) for side in pair) <= 45:
            pairs[kind].append(pair)
    for kind, limit in CAPS.items():
        pairs[kind] = random.Random(kind).sample(pairs[kind], min(limit, len(pairs[kind])))
    return {kind: list({frozenset(pair): pair for pair in of_kind}.values()) for kind, of_kind in pairs.items()}


def captions(data: Path) -> list[Pair]:
    """Captions of one picture or sound, none of a picture that paraphrasers are tested on."""
    names = ("coco-captions", "coco-captions-val", "audiocaps")
    keyed = ((row[0], row[1]) for name in names for row in rows(data / f"paraphrase/{name}/captions.tsv.gz"))
    return list(groups((row for row in keyed if not is_test_image(row[0])), 6))


class Replacement(NamedTuple):
    """What replaces a phrase in pairs: in how many of them, and between which words."""

    phrase: str
    count: int
    before: frozenset[str]
    behind: frozenset[str]


Table = dict[str, list[Replacement]]


def phrases(first: Sequence[str], second: Sequence[str]) -> tuple[Pair, Pair] | None:
    """The phrase in which two sentences differ, up to four words, and the words around it; None where there is more."""
    start = end = 0
    shorter = min(len(first), len(second))
    while start < shorter and first[start] == second[start]:
        start += 1
    while end < shorter - start and first[-1 - end] == second[-1 - end]:
        end += 1
    if shorter == start + end:  # one side adds words: with the word before them, or behind them
        start, end = (start - 1, end) if start else (start, end - 1)
    one, other = first[start : len(first) - end], second[start : len(second) - end]
    kept = len(first) - len(one)
    if not (one and other and kept >= 2 and max(len(one), len(other)) <= 4):
        return None
    return (" ".join(one), " ".join(other)), neighbors(first, start, start + len(one))


def neighbors(words: Sequence[str], start: int, stop: int) -> Pair:
    """The words around a phrase, in lower case; '' at the ends of a sentence."""
    before, behind = words[start - 1] if start else "", words[stop] if stop < len(words) else ""
    return before.lower(), behind.lower()


def replaces(one: str, other: str) -> bool:
    """Whether phrases differ in a word of content each: not in a word that one adds, nor in a contraction."""
    if re.search(r"[\d.,?!']|\b(?:Tom|Mary|John)\b", f"{one} {other}") or GENERIC.search(f"{one} {other}"):
        return False
    function_words = {*FUNCTION_WORDS["en"].split()}
    left, right = ({*side.lower().split()} - function_words for side in (one, other))
    return bool(left - right) and bool(right - left)


def phrase_table(pairs: Iterable[Pair], min_count: int = 3) -> Table:
    """Phrase → what replaces it in `min_count` different pairs or more."""
    replaced: defaultdict[Pair, list[Pair]] = defaultdict(list)
    for pair in set(pairs):
        match = phrases(*(re.sub(r"([.,?!])", r" \1", side).split() for side in pair))
        if match and replaces(*match[0]):
            for phrase in (match[0], match[0][::-1]):
                replaced[phrase].append(match[1])
    table: defaultdict[str, list[Replacement]] = defaultdict(list)
    for (one, other), around in replaced.items():
        if len(around) >= min_count:
            before, behind = (frozenset(words) for words in zip(*around, strict=True))
            table[one].append(Replacement(other, len(around), before, behind))
    return dict(table)


def with_other_beginning(text: str, chance: random.Random) -> str:
    """A question with another beginning that asks the same, if it has one."""
    for beginnings in QUESTIONS:
        known = max((one for one in beginnings if text.startswith(one)), key=len, default=None)
        if known:
            return chance.choice([other for other in beginnings if other != known]) + text[len(known) :]
    return text


def with_other_forms(text: str, chance: random.Random) -> str:
    """A sentence with contractions, or without, and with set phrases replaced."""
    if not re.match(r"(Is|Are|Was|Were|Do|Does|Did)\b", text):
        for pattern, other in chance.choice((CONTRACTIONS, EXPANSIONS)):
            text = re.sub(pattern, other, text)
    for pair in SET_PHRASES:
        one, other = pair if chance.random() < 0.5 else pair[::-1]
        text = text.replace(f" {one} ", f" {other} ")
    return text


def moved(text: str) -> str:
    """A sentence with its clause or adverbial at the other end: "If it rains, we stay." for "We stay if it rains."""
    if match := FRONTED.fullmatch(text):
        word, front, rest, mark = match.groups()
        first = rest.split()[0].lower()
        if len(front.split()) <= (4 if word in PREPOSITIONS else 11) and (
            first not in NOT_FIRST and (first not in THIRD or first in front.split())
        ):
            return f"{rest[0].upper()}{rest[1:]} {word.lower()} {front}{mark}"
    elif match := BACKED.fullmatch(text):
        first, rest, word, back, mark = match.groups()
        named = first.lower() in THIRD and re.search("[A-Z]", back.replace("I", ""))
        if first.lower() in FUNCTION_WORDS["en"].split() and not named and rest.split()[-1] not in BEFORE_OBJECTS:
            first = first if first.startswith("I") and first.rstrip("'mdvel") == "I" else first.lower()
            return f"{word.capitalize()} {back}, {first}{rest}{mark}"
    return text


def edited(text: str, table: Table, wanted: int, chance: random.Random) -> str:
    """A sentence with so many phrases replaced, if they can be."""
    words, matches, function_words = text.split(), list[tuple[int, int, str]](), {*FUNCTION_WORDS["en"].split()}
    for start in range(len(words)):
        for stop in range(start + 1, min(start + 5, len(words) + 1)):
            phrase, mark, _ = re.split(r"([.,?!]*)$", " ".join(words[start:stop]), maxsplit=1)
            before, behind = neighbors(words, start, stop)
            for other in table.get(phrase, ()):
                around = (before.rstrip(".,?!"), other.before), (mark[:1] or behind.rstrip(".,?!"), other.behind)
                known = [word for word, words in around if word in words]
                if len(known) == 2 or any(word.isalpha() and word not in function_words for word in known):
                    matches += [(start, stop, other.phrase + mark)] * min(20, other.count)
    chance.shuffle(matches)
    taken: list[tuple[int, int, str]] = []
    for start, stop, other in matches:
        if len(taken) < wanted and all(stop <= low or start >= high for low, high, _ in taken):
            taken.append((start, stop, other))
    for start, stop, other in sorted(taken, reverse=True):
        words[start:stop] = other.split()
        if start and words[start - 1].lower() in ("a", "an"):
            words[start - 1] = words[start - 1][0] + ("n" if other[0] in "aeioAEIO" else "")
    return " ".join(words)


def rewritten(text: str, table: Table, chance: random.Random) -> str:
    """A sentence rewritten by several rules, where they apply."""
    changed = with_other_beginning(moved(text), chance)
    changed = edited(changed, table, chance.choice((1, 2, 2, 3) if changed == text else (0, 1, 1, 2)), chance)
    return with_other_forms(changed, chance) if changed == text or chance.random() < 0.25 else changed


def is_worth(pair: Sequence[str], chance: random.Random, single_share: float) -> bool:
    """Whether to learn from a pair: few of those that differ in one word, in function words or in contractions."""
    edit = Edit.between(*(english_words(side) for side in pair))
    changed = max(len(words.split()) for words in (edit.lost, edit.new))
    if changed == 1 and edit.lost and edit.new and not edit.functional:
        return chance.random() < single_share
    if changed or (edit.reordered and not edit.functional):
        return True
    return chance.random() < (FUNCTIONAL_SHARE if edit.functional else CONTRACTED_SHARE)


def texts(data: Path, chance: random.Random) -> list[str]:
    """Sentences of many kinds, shuffled."""
    matches: list[str] = []

    def add(lines: Iterable[str], limit: int) -> None:
        short = [line for line in lines if 4 <= len(line.split()) <= 20]
        matches.extend(chance.sample(short, min(limit, len(short))))

    for name, limit in TEXTS.items():
        add(read_lines(str(data / f"sentences-en/{name}.txt.xz")), limit)
    files = (file for name in HELP for file in sorted((data / "bitext" / name).glob("??-en.tsv.gz")))
    add(sorted({row[-1] for file in files for row in rows(file)}), 60_000)
    add(sorted({side for pair in captions(data) for side in pair}), 30_000)
    chance.shuffle(matches)
    return matches


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--limit", type=int, default=150_000, help="pairs of a file at most (default: %(default)s)")
    options = parser.parse_args()
    data, chance = Path(os.environ["PARALOOM_DATA"]), random.Random(1)
    options.output.mkdir(parents=True, exist_ok=True)
    sample = {
        letters(cell) for row in rows(Path(paraloom.bundled.__file__).parent / "sample.de-en.tsv") for cell in row
    }

    def write(name: str, lines: Iterable[Sequence[str]]) -> None:
        clean = [[" ".join(cell.split()) for cell in line] for line in lines]
        kept = [line for line in clean if all(line) and not any(letters(cell) in sample for cell in line)]
        if name not in ("test.tsv", "text.tsv"):
            kept = [line for line in kept if is_worth(line, chance, SINGLE_SHARE if name == "edited.tsv" else 1)]
        chosen = chance.sample(kept, min(len(kept), options.limit))
        (options.output / name).write_text("".join("\t".join(line) + "\n" for line in chosen), encoding="utf-8")
        print(name, len(chosen), flush=True)

    of_people = human(data)
    everyday = of_people.pop("tatoeba")
    held = [pair for pair in everyday if any(is_held_out(side, TEST_SHARE) for side in pair)]
    training = sorted({*everyday} - {*held})
    write("test.tsv", held)
    write("human.tsv", [*training, *(pair for of_kind in of_people.values() for pair in of_kind)])
    write("captions.tsv", captions(data))
    lines = texts(data, chance)
    table = phrase_table([*training, *of_people["news"], *of_people["paws"]])
    write("text.tsv", ([line] for line in lines))
    changed = dict.fromkeys((line, rewritten(line, table, chance)) for _ in range(2) for line in lines)
    write("edited.tsv", (pair for pair in changed if pair[0] != pair[1] and not english_fault(*pair)))


if __name__ == "__main__":
    main()
