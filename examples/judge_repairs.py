"""Make the pairs on which the training of the bundled judge continues: they repair what `judge.py` leaves wrong.

    PARALOOM_DATA=/path/to/corpora python examples/judge_repairs.py runs/judge-pairs.parquet -o runs/repairs.parquet

Synonyms in sentences of every kind of text, where a replaced word counts as wrong only if no list pairs both words;
lessons of news and other real paraphrases with several words replaced; pairs of which one side, or each, says more; and
a sample of the pairs of `judge.py`.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import judge
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from judge import (
    PPDB,
    UNKNOWN,
    Builder,
    Row,
    agree,
    common_translations,
    lines,
    mined_words,
    near_words,
    texts,
    word_pairs,
)
from judge_changes import KINDS, Words, change, is_function_word, light_edit

from paraloom.pairs.lookalikes import names_in

SYNONYMS = "ppdb_synonyms.txt.gz"
REAL = ("Tatoeba", "Bible", "Wikipedia", "captions", "reviews")
IRREGULAR = (
    "bought sold said got gave took made went came saw thought found lost won began sent spent kept left met led "
    "built fell rose grew knew chose broke spoke wrote drove ate hid held heard taught caught fought sought dealt felt"
)


class Repairs(Builder):
    """Pairs that repair what a judge of `bundled_pairs` gets wrong: synonyms, news, and which side says more.

    Args:
        data: Folder of the corpora.
        pairs: Rows of `bundled_pairs`.
        seed: Seed of every choice.
    """

    def __init__(self, data: Path, pairs: list[Row], seed: int = 2) -> None:
        super().__init__(data, seed)
        self.text = texts(data)
        self.text["news"] = [row[2] for row in lines(data, "bitext/ntrex/is-en.tsv.gz")]
        self.lessons = [(a, b) for _, a, b in lines(data, "paraphrase/onestopenglish/pairs.tsv.gz")]
        self.text["news"] += [text for pair in self.lessons for text in pair]
        listed = [line for values in self.text.values() for line in values[:40000]]
        tatoeba = {pair for pair in common_translations(data) if agree(*pair)}
        near, _ = near_words(data, tatoeba, listed)
        self.related, synonyms = related_words(data, tatoeba, Counter(" ".join(listed).lower().split()))
        near = {word: [other for other in others if not self.is_related(word, other)] for word, others in near.items()}
        for a, b in word_pairs(data, "ppdb_antonyms.txt"):
            for word, other in ((a, b), (b, a)):
                near.setdefault(word, []).append(other)
        names = names_in([line for values in self.text.values() for line in values[:3000]])
        self.words = Words(names, {word: others for word, others in near.items() if others}, {})
        self.synonyms = synonyms
        self.seen = Counter(pair for line in listed for pair in itertools.pairwise(words_of(line)))
        self.old = pairs

    def is_related(self, a: str, b: str) -> bool:
        """True if a list pairs two words, or each with a third one."""
        x, y = self.related.get(a, frozenset()), self.related.get(b, frozenset())
        return a[:4] == b[:4] or b in x or bool(x & y)

    def other_words(self, text: str, count: int, choices: Mapping[str, Sequence[str]]) -> str:
        """Replace words by others that stand between the same neighbors elsewhere."""
        words = text.split(" ")
        bare = [re.sub(r"^\W+|\W+$", "", word).lower() for word in words]
        for i in self.random.permutation(len(words)).tolist():
            left, right = bare[i - 1] if i else "", bare[i + 1] if i + 1 < len(bare) else ""
            fitting = [
                other for other in choices.get(bare[i], ())
                if (not left or self.seen[left, other] > 1) and (not right or self.seen[other, right] > 1)
            ] if count and (i == 0 or words[i][:1].islower()) else []  # fmt: skip
            if fitting:
                other = fitting[int(self.random.integers(len(fitting)))]
                count, start = count - 1, words[i].lower().index(bare[i])
                put = other.capitalize() if words[i][:1].isupper() else other
                words[i], bare[i] = words[i][:start] + put + words[i][start + len(bare[i]) :], other
        return " ".join(words)

    def said_otherwise(self, text: str) -> str:
        """Up to three synonyms and two other edits that keep the meaning."""
        edited = self.other_words(text, int(self.random.integers(1, 4)), self.synonyms)
        for _ in range(int(self.random.integers(0, 3)) if edited != text or self.random.random() < 0.2 else 0):
            edited = light_edit(edited, self.random, self.words) or edited
        return edited

    def contrasts(self, text: str, a: str, b: str, weight: float = 1.0, real: bool = False) -> None:
        """Add a right pair, the same with one change, and the same where one side or each says more."""
        self.add(text, "", a, b, 1, formed=(1, None), weight=weight)
        kinds = [k for k in KINDS if k != "dropped"] + ["replaced"] * 4
        for kind in self.sample(kinds, len(kinds)):
            if kind == "replaced":
                changed = self.other_words(b, 1, self.words.near)
                changed = changed if changed != b else None
            else:
                changed = change(b, kind, self.random, self.words)
            if changed is not None and changed.lower() != a.lower():
                self.add(text, kind, a, changed, 0, formed=(1, None), weight=weight)
                break
        if self.random.random() < 0.5:
            less = change(b, "dropped", self.random, self.words)
            if less is not None:
                self.add(text, "dropped", a, less, 0, UNKNOWN if real else 1, 0, (1, None), weight)
            lost = change(a, "dropped", self.random, self.words)
            if less is not None and lost is not None and not real and self.random.random() < 0.4:
                dropped = [set(words_of(x)) - set(words_of(y)) for x, y in ((a, lost), (b, less))]
                if dropped[0] - dropped[1] and dropped[1] - dropped[0]:
                    self.add(text, "dropped", lost, less, 0, 0, 0, (1, None), weight)

    def make(self, sentences: int = 6500, replay: int = 110000) -> list[Row]:
        """All pairs; from so many sentences of each kind of text."""
        for text, values in self.text.items():
            for line in self.sample(dict.fromkeys(values), sentences):
                edited = self.said_otherwise(line)
                if edited != line and 4 <= len(line.split()) <= 45:
                    first = light_edit(line, self.random, self.words) if self.random.random() < 0.3 else None
                    self.contrasts(text, first or line, edited)
                    if self.random.random() < 0.15:
                        self.damage(text, line, line)
        for a, b in self.lessons:
            if min(len(a), len(b)) / max(len(a), len(b)) > 0.75 and a != b:
                self.contrasts("news", a, b, 2.0, real=True)
                self.contrasts("news", self.other_words(a, 1, self.synonyms), self.said_otherwise(b), 1.5, real=True)
        real = [row for row in self.old if row["kind"] == "" and row["origin"] in REAL and row["weight"] <= 2]
        for row in self.sample(real, 4 * sentences):
            a, b = self.other_words(row["src"], 1, self.synonyms), self.said_otherwise(row["tgt"])
            self.contrasts(row["origin"], a, b, real=True)
        self.rows += [row for row in self.sample(self.old, replay * 2) if self.is_sound(row)][:replay]
        return self.rows

    def is_sound(self, row: Row) -> bool:
        """False if a word was put in place of a related one and the pair counts as wrong."""
        if row["kind"] != "replaced":
            return True
        x, y = set(words_of(row["src"])), set(words_of(row["tgt"]))
        return not any(self.is_related(a, b) for a in x - y for b in y - x)


def words_of(text: str) -> list[str]:
    """Words in lower case."""
    return re.findall(r"[a-z'-]+|\d+", text.lower())


def related_words(
    data: Path, pairs: Iterable[tuple[str, str]], seen: Counter[str]
) -> tuple[dict[str, set[str]], dict[str, list[str]]]:
    """Words that any list pairs, and synonyms: pairs of both lists, and words that stand for each other often."""
    from paraloom import Encoder

    mined, ppdb, sure = mined_words(pairs), word_pairs(data, PPDB), word_pairs(data, SYNONYMS)
    related: defaultdict[str, set[str]] = defaultdict(set)
    for a, b in {*ppdb, *sure, *mined}:
        related[a].add(b)
        related[b].add(a)
    tested = [
        pair for pair in sorted({*(sure & ppdb), *(pair for pair, count in mined.items() if count >= 2)} - kept_apart())
        if all(word.isalpha() and seen[word] >= 5 and not is_function_word(word) for word in pair)
        and pair[0][:4] != pair[1][:4] and inflection(pair[0]) == inflection(pair[1])
    ]  # fmt: skip
    words = sorted({word for pair in tested for word in pair})
    vectors = np.asarray(Encoder.load("english-small").encode(words))
    numbers = {word: number for number, word in enumerate(words)}
    synonyms: defaultdict[str, list[str]] = defaultdict(list)
    for a, b in tested:
        x, y = vectors[numbers[a]], vectors[numbers[b]]
        if x @ y > (0.55 if (a, b) in sure else 0.65) * np.linalg.norm(x) * np.linalg.norm(y):
            synonyms[a].append(b)
            synonyms[b].append(a)
    return related, synonyms


def kept_apart() -> set[tuple[str, str]]:
    """Synonyms of the list on which judges are measured."""
    path = Path(__file__).parents[1] / "benchmarks/readings/synonyms.tsv"
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    return set(mined_words((a, b) for label, a, b in rows if label == "1"))


def inflection(word: str) -> str:
    """Ending that two words must share to stand for each other."""
    if word.endswith("ed") or word in set(IRREGULAR.split()):
        return "ed"
    return next((end for end in ("ing", "ly", "est", "er", "s") if word.endswith(end) and not word.endswith("ss")), "")


def main() -> None:
    """Make the pairs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, help="pairs of `examples/judge.py pairs`")
    parser.add_argument("--limit", type=int, help="lines of each file that are read, for a small trial")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    judge.LIMIT = arguments.limit
    repairs = Repairs(Path(os.environ["PARALOOM_DATA"]), pq.read_table(arguments.pairs).to_pylist())
    rows = repairs.make()
    pq.write_table(
        pa.Table.from_pylist([{**row, "pair_id": f"judge:{i}"} for i, row in enumerate(rows)]), arguments.output
    )
    print(len(rows), Counter((row["kind"], row["label"]) for row in rows))


if __name__ == "__main__":
    main()
