"""Pairs for the English paraphraser: those of people, and sentences of many kinds that rules rewrite.

    PARALOOM_DATA=/path/to/corpora python examples/paraphrase_pairs.py build/paraphrase-pairs

Writes human.tsv (pairs of people), captions.tsv (captions of one picture or sound that share half of their words or
more: of the others few say the same), edited.tsv (sentences of many kinds with a clause or an adverbial moved, another
construction, and wordings of paraphrase_rewordings.tsv, which stand for each other in nearly every sentence), text.tsv
(the sentences that were edited) and test.tsv: pairs of Tatoeba that are held out, as are the sentences of the
quickstart. No edit is in more than a few hundred pairs, and few pairs differ in contractions alone: a paraphraser
learns what it sees most. `examples/continued-paraphraser.toml` reads them.
"""

from __future__ import annotations

import argparse
import os
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path

import paraloom.bundled
from paraloom.evaluate.paraphrase_sets import is_test_image
from paraloom.io import read_lines
from paraloom.pairs.filtering.held_out import is_held_out
from paraloom.paraphrasing.edits import FORMS, Edit, english_fault, english_words
from paraloom.text.function_words import FUNCTION_WORDS

Pair = tuple[str, str]

TEST_SHARE = 0.06
TATOEBA = ("tatoeba/de", "tatoeba/fr", "tatoeba/cs", "tatoeba/tr", "tatoeba-2/es")
BIBLES = ("BSB", "WEB", "OEB", "UST")
CAPS = {
    "tatoeba": 12_000,
    "news": 3_000,
    "split": 2_000,
    "paws": 2_500,
    "advising": 1_500,
    "places": 700,
    "bible": 2_500,
}
"""Kind → pairs at most, so that narrow kinds stay few."""
FUNCTIONAL_SHARE, CONTRACTED_SHARE, EDITS_LIMIT = 0.3, 0.004, 60
"""Shares that are kept of the edits of function words alone, and of contractions alone; pairs with one edit at most."""
TEXTS = {
    "questions.reddit-titles": 15_000, "questions.opentrivia": 8_000, "questions.stackoverflow-titles": 6_000,
    "headlines.reddit-press": 10_000, "headlines.clickbait": 5_000, "forum.reddit-posts": 25_000,
    "glosses.open-english-wordnet": 4_000, "examples.open-english-wordnet": 12_000, "examples.wordset": 8_000,
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
PEOPLE = r"(?:man|woman|boy|girl|dog|cat|child|person|men|women|boys|girls|dogs|cats|children|people|horses?)"
PARTICIPLES = r"(?:written|directed|produced|created|founded|invented|designed|discovered|painted|published)"
TIMES = (
    r"(?:[Yy]esterday|[Tt]omorrow|[Tt]oday|[Ll]ast (?:night|week|month|year|summer)|[Tt]his (?:morning|year|week)|"
    r"[Ee]very (?:day|year|morning|night|week)|[Oo]nce a (?:week|month|year)|[Rr]ight now|[Tt]hese days|[Rr]ecently)"
)
NOUN = r"(?:an?|the|my|his|her|some|this|that|your|our|their) \w+"
STARTS = r"(I|You|We|They|He|She|It|The|My|His|Her|Our|Your|Their|There|A|An|This|Some)"


def lowered(word: str) -> str:
    """A word with a small first letter, but for "I"."""
    return word if word == "I" else word[0].lower() + word[1:]


CONSTRUCTIONS = [
    (re.compile(pattern), other) for pattern, other in (
        (rf"\b(gave|give|gives|giving|showed|show|sent|send|lent|lend|offered|handed) (me|you|him|her|us|them) ({NOUN})"
         r"(?=[.!?]$)", r"\1 \3 to \2"),
        (rf"\b(gave|give|gives|giving|showed|show|sent|send|lent|lend|offered|handed) ({NOUN}) to (me|you|him|us|them)"
         r"(?=[.!?]$)", r"\1 \3 \2"),
        (rf"^There (?:is|are) ((?:an?|two|three|four|some|several|many) (?:\w+ )?{PEOPLE}) (?=\w+ing )",
         lambda m: m[1] + (" is " if re.match("an? ", m[1]) else " are ")),
        (rf"^([Aa]n?|[Tt]wo|[Tt]hree|[Ss]ome|[Ss]everal) ((?:\w+ )?{PEOPLE}) (is|are) (?=\w+ing )",
         lambda m: f"There {m[3]} {m[1].lower()} {m[2]} "),
        (rf"^((?:The|This|That|His|Her|Its)\b[^,;:]+?) was ({PARTICIPLES}) by ([^,;:]+?)\.$",
         lambda m: f"{m[3]} {m[2].replace('written', 'wrote')} {lowered(m[1])}."),
        (rf"^({TIMES}),? {STARTS}( [^,;:]+)([.!?])$",
         lambda m: f"{m[2]}{m[3]} {lowered(m[1])}{m[4]}"),
        (rf"^{STARTS}( [^,;:]+) ({TIMES})\.$", lambda m: f"{m[3]}, {lowered(m[1])}{m[2]}."),
        (r"^Please (\w)([^,;:]+)\.$", lambda m: f"{m[1].upper()}{m[2]}, please."),
        (r"^(\w)([^,;:]+), please\.$", lambda m: f"Please {m[1].lower()}{m[2]}."),
        (r"^(Could|Can|Would|Will) you please ([^,;:]+)\?$", r"\1 you \2, please?"),
        (r"^(Could|Can|Would|Will) you ([^,;:]+), please\?$", r"\1 you please \2?"),
        (r"^(?:[Ii]f you (?:want|wish|would like) to|[Ii]n order to) (?=[^,]+, )", "To "),
        (r"^To (?=[^,]+, (?!and\b|or\b|but\b))", "In order to "),
        (r"^To (\w[^,;:?!]+), (click|use|select|press|run|open|choose|type|enter|go)( [^,;:?!]+)\.$",
         lambda m: f"{m[2].capitalize()}{m[3]} to {m[1]}."),
        (r"^(Use|Press|Run|Click)( [^,;:?!]+?) to (?!be |the )(\w[^,;:.?!]+)\.$",
         lambda m: f"To {m[3]}, {m[1].lower()}{m[2]}."),
        (r"\b([Yy])ou can use ([^,;:]+?) to ([^,;:]+)\.$", lambda m: f"{m[2]} can be used to {m[3]}."),
        (r"^You can (?!also |now |only |then |always )(?=\w+ )", "It is possible to "),
        (r"^(?:What does) ([^,;:]+) mean\?$", r"What is the meaning of \1?"),
        (r"^What is the meaning of ([^,;:]+)\?$", r"What does \1 mean?"),
        (r"^Who (wrote|invented|founded|directed|discovered|designed) ([^,;:]+)\?$",
         lambda m: f"Who was {m[2]} {'written' if m[1] == 'wrote' else m[1]} by?"),
        (r"^Where is ([^,;:]+) located\?$", r"Where is \1?"),
        (r"^How much does ([^,;:]+) cost\?$", r"How much is \1?"),
        (r"^How many ([\w ]+?) are (?:there )?in ([^,;:]+)\?$", lambda m: f"How many {m[1]} does {m[2]} have?"),
        (r"\b(think|believe|know|hope|said|thought|believed|knew|sure) that (?=(?:I|you|he|she|we|they|it) )", r"\1 "),
        (r"\b(think|believe|hope|said|thought|believed|sure) (?=(?:I|you|he|she|we|they) )", r"\1 that "),
        (r",? too([.!?])$", r" as well\1"),
        (r" as well([.!?])$", r", too\1"),
        (r"\b(is|are) going to (?=(?:be|have|do|make|get|take|happen|come|see|help|try|say|buy|need|give|change)\b)",
         "will "),
        (r"(?<=\w) will (?=(?:be|have|make|get|take|happen|come|see|help|need|change)\b)", " is going to "),
        (r"\b(I|[Yy]ou|[Ww]e|[Tt]hey) have to (?=\w)", r"\1 must "),
        (r"\b(I|[Yy]ou|[Ww]e|[Tt]hey) must (?!be |have |not )(?=\w)", r"\1 have to "),
        (r"\b(?:[Ii]t is|[Ii]t's) (easy|hard|difficult|important|necessary|fun|nice) to (read|learn|teach|speak|"
         r"eat|cook|work|study|travel|walk|play|sing|clean|find|keep|understand|explain|sleep|listen)\b([^,;:]*)\.$",
         lambda m: f"{m[2].capitalize()}ing{m[3]} is {m[1]}."),
        (r", (?:which|who) (?:is|are|was|were) (?=(?:an?|the) [^,;:]+[.,])", ", "),
        (r"\b(\w+) (?:who|that) (?:is|are|was|were) (?=\w+ing\b)", r"\1 "),
        (r"\babout (?=\d)", "around "), (r"\baround (?=\d)", "about "),
    )
]  # fmt: skip
"""Pattern of a construction, and what says the same."""


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
    pairs: defaultdict[str, dict[frozenset[str], Pair]] = defaultdict(dict)
    for kind, pair in (*(("tatoeba", pair) for pair in tatoeba(data)), *other_human(data / "paraphrase")):
        if letters(pair[0]) != letters(pair[1]) and max(len(side.split()) for side in pair) <= 45:
            pairs[kind][frozenset(pair)] = pair
    return {kind: list(of_kind.values()) for kind, of_kind in pairs.items()}


def captions(data: Path) -> list[Pair]:
    """Captions of one picture or sound that share most words, none of a picture that paraphrasers are tested on."""
    names = ("coco-captions", "coco-captions-val", "audiocaps")
    keyed = ((row[0], row[1]) for name in names for row in rows(data / f"paraphrase/{name}/captions.tsv.gz"))
    return [pair for pair in groups((row for row in keyed if not is_test_image(row[0])), 10) if is_near(pair)]


def is_near(pair: Pair) -> bool:
    """Whether at most two content words of a side are not in the other."""
    edit = Edit.between(*map(english_words, pair))
    return max(len(words.split()) for words in (edit.lost, edit.new)) <= 2


def rewordings() -> dict[str, list[Pair]]:
    """First word of a wording, in lower case → the wording, and what stands for it; one way where a line says so."""
    matches: defaultdict[str, list[Pair]] = defaultdict(list)
    for one, other, *way in rows(Path(__file__).with_name("paraphrase_rewordings.tsv")):
        for wording, replacement in ((one, other), (other, one))[: 1 if way else 2]:
            matches[wording.lower().split()[0]].append((wording.lower(), replacement))
    return dict(matches)


def reworded(text: str, wordings: dict[str, list[Pair]], wanted: int, chance: random.Random) -> str:
    """A sentence with so many wordings replaced, if it has them."""
    known: dict[int, list[Pair]] = {}
    end = 0
    for word in re.finditer(r"(?<![\w'-])\w[\w'-]*", text):
        start = word.start()
        here = [
            pair for pair in wordings.get(word[0].lower(), ())
            if start >= end and re.match(rf"{re.escape(pair[0])}(?![\w'-])", text[start:], re.IGNORECASE)
        ]  # fmt: skip
        if here:
            known[start], end = here, start + max(len(wording) for wording, _ in here)
    for start in sorted(chance.sample([*known], min(wanted, len(known))), reverse=True):
        wording, other = chance.choice(known[start])
        before, behind = text[:start], text[start + len(wording) :]
        if text[start].isupper() and not start:
            other = other[0].upper() + other[1:]
        if article := re.search(r"\b([Aa])n? $", before):
            before = before[: article.start()] + article[1] + ("n " if other[0] in "aeioAEIO" else " ")
        text = before + other + behind
    return text


def constructed(text: str, chance: random.Random) -> str:
    """A sentence with another construction that says the same, if one is known."""
    known = [(pattern, other) for pattern, other in CONSTRUCTIONS if pattern.search(text)]
    if not known:
        return text
    pattern, other = chance.choice(known)
    changed = pattern.sub(other, text, count=1)
    return changed[0].upper() + changed[1:] if text[0].isupper() else changed


def with_other_beginning(text: str, chance: random.Random) -> str:
    """A question with another beginning that asks the same, if it has one."""
    for beginnings in QUESTIONS:
        known = max((one for one in beginnings if text.startswith(one)), key=len, default=None)
        if known:
            return chance.choice([other for other in beginnings if other != known]) + text[len(known) :]
    return text


def with_other_forms(text: str, chance: random.Random) -> str:
    """A sentence with contractions, or without."""
    if not re.match(r"(Is|Are|Was|Were|Do|Does|Did)\b", text):
        for pattern, other in chance.choice((CONTRACTIONS, EXPANSIONS)):
            text = re.sub(pattern, other, text)
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


def rewritten(text: str, wordings: dict[str, list[Pair]], chance: random.Random) -> str:
    """A sentence rewritten by several rules, where they apply."""
    changed = constructed(with_other_beginning(moved(text), chance), chance)
    changed = reworded(changed, wordings, chance.choice((1, 2, 3) if changed == text else (0, 1, 2)), chance)
    return with_other_forms(changed, chance) if chance.random() < 0.15 else changed


def is_worth(pair: Pair, chance: random.Random) -> bool:
    """Whether to learn from a pair: few of those that differ in function words or in contractions alone."""
    edit = Edit.between(*map(english_words, pair))
    if edit.lost or edit.new or (edit.reordered and not edit.functional):
        return True
    return chance.random() < (FUNCTIONAL_SHARE if edit.functional else CONTRACTED_SHARE)


def with_few_of_each_edit(pairs: Iterable[Pair], limit: int) -> Iterator[Pair]:
    """Pairs, so many at most that lost and got the same words."""
    seen: Counter[tuple[str, str]] = Counter()
    for pair in pairs:
        first, second = map(Counter, map(english_words, pair))
        edit = " ".join((first - second).elements()), " ".join((second - first).elements())
        seen[edit] += 1
        if seen[edit] <= limit or not any(edit):
            yield pair


def texts(data: Path, chance: random.Random) -> list[str]:
    """Sentences of many kinds, shuffled."""
    matches: list[str] = []

    def add(lines: Iterable[str], limit: int) -> None:
        short = [line for line in lines if 4 <= len(line.split()) <= 20]
        matches.extend(chance.sample(short, min(limit, len(short))))

    for name, limit in TEXTS.items():
        add(read_lines(str(data / f"sentences-en/{name}.txt.xz")), limit)
    files = (file for name in HELP for file in sorted((data / "bitext" / name).glob("??-en.tsv.gz")))
    add(sorted({row[-1] for file in files for row in rows(file)}), 25_000)
    add(sorted({side for pair in captions(data) for side in pair}), 8_000)
    chance.shuffle(matches)
    return matches


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--limit", type=int, default=20_000, help="pairs of a file at most (default: %(default)s)")
    options = parser.parse_args()
    data, chance = Path(os.environ["PARALOOM_DATA"]), random.Random(1)
    options.output.mkdir(parents=True, exist_ok=True)
    sample = {
        letters(cell) for row in rows(Path(paraloom.bundled.__file__).parent / "sample.de-en.tsv") for cell in row
    }

    def write(name: str, lines: Iterable[Sequence[str]]) -> list[list[str]]:
        clean = [[" ".join(cell.split()) for cell in line] for line in lines]
        kept = [line for line in clean if all(line) and not any(letters(cell) in sample for cell in line)]
        chosen = chance.sample(kept, min(len(kept), options.limit))
        (options.output / name).write_text("".join("\t".join(line) + "\n" for line in chosen), encoding="utf-8")
        print(name, len(chosen), flush=True)
        return chosen

    of_people = human(data)
    held = [pair for pair in of_people["tatoeba"] if any(is_held_out(side, TEST_SHARE) for side in pair)]
    of_people["tatoeba"] = sorted({*of_people["tatoeba"]} - {*held})
    write("test.tsv", held)
    for kind, pairs in of_people.items():
        right = [pair for pair in pairs if is_worth(pair, chance) and english_fault(*pair) in ("", FORMS)]
        of_people[kind] = chance.sample(right, min(CAPS[kind], len(right)))
        print(kind, len(of_people[kind]), "of", len(right), flush=True)
    write("human.tsv", [pair for of_kind in of_people.values() for pair in of_kind])
    write("captions.tsv", (pair for pair in captions(data) if is_worth(pair, chance) and not english_fault(*pair)))
    lines = write("text.tsv", ([line] for line in texts(data, chance)))
    wordings, chance = rewordings(), random.Random("edited")
    changed = ((line, rewritten(line, wordings, chance)) for (line,) in lines for _ in range(2))
    edited = (pair for pair in changed if pair[0] != pair[1] and is_worth(pair, chance) and not english_fault(*pair))
    write("edited.tsv", with_few_of_each_edit(edited, EDITS_LIMIT))


if __name__ == "__main__":
    main()
