"""Make the labeled pairs of the bundled judge of meaning out of text whose license allows it.

    PARALOOM_DATA=/path/to/corpora python examples/judge.py pairs -o runs/judge-pairs.parquet
    python examples/judge.py train runs/judge-pairs.parquet --base all-MiniLM-L6-v2/ -o runs/judge-1
    PARALOOM_DATA=/path/to/corpora python examples/judge_repairs.py runs/judge-pairs.parquet -o runs/repairs.parquet
    paraloom train judge --pairs runs/repairs.parquet --base runs/judge-1 -o runs/judge-2 \
        --epochs 0.38 --batch-size 128 --learning-rate 1.5e-4
    paraloom train judge --pairs runs/repairs.parquet --base runs/judge-2 -o runs/judge \
        --epochs 0.17 --batch-size 128 --learning-rate 1e-4

Right pairs are real paraphrases of several kinds of text and edits that keep the meaning; wrong ones are the same text
with one change, neighbors, other lines of the same topic, and labeled sets. Each kind of text is on both sides of the
label, and each right pair of two different sentences comes back with a change on one side.

`--limit 500` of both scripts reads so many lines of each file only. `paraloom train judge --seed` changes the seed of
the continued training, and `benchmarks/judge.py calibrate` fits the probabilities.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from judge_changes import KINDS, Words, change, damaged, is_function_word, light_edit, voices

from paraloom.api import train_judge
from paraloom.io import read_lines
from paraloom.pairs.lookalikes import names_in

LIMIT: int | None = None
"""Lines of each file that are read."""
UNKNOWN = None
Row = dict[str, Any]
MANUALS = (
    *("gnome-help/de-en", "debian-handbook/de-en", "python-docs/es-en", "opensource-guide/de-en"),
    *("privacyguides/fr-en", "rust-book/de-en"),
)
MODERN = ("BSB", "WEB", "OEB", "BBE", "UST", "OET-RV")
PPDB = "ppdb-1.0-xxxl-lexical.pairs.tsv.gz"
_NUMBERS = re.compile(r"\d+")
_PERSONS = frozenset(
    ["i", "you", "he", "she", "we", "they", "it", "me", "him", "her", "us", "them", "my", "your", "his", "our", "their"]
)
_NEGATIONS = re.compile(r"\b(not|no|never|nobody|nothing|none|without|cannot)\b|n't", re.IGNORECASE)


def is_held_out(text: str) -> bool:
    """A twentieth of the sentences is for measuring, whatever set they are in."""
    return hashlib.sha256(" ".join(re.findall(r"\w+", text.lower())).encode()).digest()[0] < 13


def lines(data: Path, name: str) -> Iterator[list[str]]:
    """Fields of a tab-separated file."""
    for line in itertools.islice(read_lines(str(data / name)), LIMIT):
        yield line.split("\t")


def sentences(data: Path, name: str) -> list[str]:
    """Sentences of a file of `sentences-en`."""
    text = itertools.islice(read_lines(str(data / f"sentences-en/{name}.txt.xz")), LIMIT)
    return [line for line in text if 4 <= len(line.split()) <= 40]


def agree(a: str, b: str) -> bool:
    """True if two translations of one sentence have the same numbers, persons, negation and kind."""

    def persons(text: str) -> set[str]:
        return {word for word in re.findall(r"[a-z]+", text.lower()) if word in _PERSONS}

    return (
        sorted(_NUMBERS.findall(a)) == sorted(_NUMBERS.findall(b))
        and persons(a) == persons(b)
        and bool(_NEGATIONS.search(a)) == bool(_NEGATIONS.search(b))
        and a.endswith("?") == b.endswith("?")
    )


def overlap(a: str, b: str) -> float:
    """Share of the words of the shorter side that the other has."""
    x, y = Counter(re.findall(r"\w+", a.lower())), Counter(re.findall(r"\w+", b.lower()))
    return (x & y).total() / max(1, min(x.total(), y.total()))


class Builder:
    """Right and wrong pairs of all kinds of text.

    Args:
        data: Folder of the corpora.
        seed: Seed of every choice.
    """

    def __init__(self, data: Path, seed: int = 1) -> None:
        self.data, self.random = data, np.random.default_rng(seed)
        self.rows: list[Row] = []
        self.words = Words()

    def sample(self, items: Iterable[Any], count: int) -> list[Any]:
        """At most so many, in random order."""
        listed = list(items)
        return [listed[i] for i in self.random.permutation(len(listed))[:count].tolist()]

    def add(
        self,
        text: str,
        kind: str,
        a: str,
        b: str,
        same: int | None,
        forward: int | None = -1,
        backward: int | None = -1,
        formed: tuple[int | None, int | None] = (1, 1),
        weight: float = 1.0,
    ) -> None:
        """Add a pair unless one side is for measuring."""
        a, b = a.strip(), b.strip()
        if not a or not b or is_held_out(a) or is_held_out(b) or max(len(a.split()), len(b.split())) > 70:
            return
        if forward == -1:
            forward = same
        if backward == -1:
            backward = same
        row = {
            "pair_id": f"judge:{len(self.rows)}",
            "src": a,
            "tgt": b,
            "src_lang": "en",
            "tgt_lang": "en",
            "origin": text,
        }
        row |= {"label": same, "labeled_set": text, "kind": kind, "forward": forward, "backward": backward}
        self.rows.append({**row, "src_formed": formed[0], "tgt_formed": formed[1], "weight": weight})

    def right(
        self, text: str, pairs: Iterable[tuple[str, str]], count: int, changes: int = 2, weight: float = 1.0
    ) -> None:
        """Add real paraphrases, and each with a change of one side."""
        for a, b in self.sample(pairs, count):
            if a == b:
                continue
            self.add(text, "", a, b, 1, weight=weight)
            self.changed(text, a, b, changes, paraphrase=True)
            if self.random.random() < 0.12:
                self.damage(text, a, b)

    def changed(self, text: str, a: str, b: str, count: int, paraphrase: bool = False) -> None:
        """Add pairs of `a` and a change of `b`, of different kinds where the rules apply."""
        done = 0
        for index in self.random.permutation(len(KINDS)).tolist():
            kind = KINDS[index]
            if done == count:
                break
            x, y = (a, b) if self.random.random() < 0.5 else (b, a)
            result = change(y, kind, self.random, self.words)
            if result is None or result.lower() == x.lower():
                continue
            done += 1
            formed = (1, None if kind in ("role", "words", "replaced", "dropped") else 1)
            if kind == "dropped":
                # Of a real paraphrase, the other direction is likely, but not sure.
                self.add(text, kind, x, result, 0, 1 if not paraphrase else UNKNOWN, 0, formed)
            else:
                self.add(text, kind, x, result, 0, formed=formed)

    def damage(self, text: str, a: str, b: str) -> None:
        """Add a pair whose second side is not well formed; whether it says the same is not known."""
        result = damaged(b, self.random)
        if result is not None:
            self.add(text, "damaged", a, result, UNKNOWN, UNKNOWN, UNKNOWN, (1, 0))

    def single(self, text: str, texts: Iterable[str], count: int) -> None:
        """Add edits that keep the meaning of sentences, and changes of the same sentences."""
        for sentence in self.sample(texts, count):
            self.changed(text, sentence, sentence, 1)
            edited = light_edit(sentence, self.random, self.words)
            if edited is None:
                continue
            for _ in range(int(self.random.integers(0, 3))):
                edited = light_edit(edited, self.random, self.words) or edited
            self.add(text, "", sentence, edited, 1, formed=(1, None))
            if self.random.random() < 0.5:
                self.changed(text, sentence, edited, 1)
            if self.random.random() < 0.25:
                self.damage(text, sentence, sentence)
            if self.random.random() < 0.02:
                self.add(text, "", sentence, sentence, 1)

    def voices(self, text: str, texts: Iterable[str], count: int) -> None:
        """Add plain passives with the active that says the same, and with the one that exchanges the roles."""
        counted = ((sentence, voices(sentence)) for sentence in dict.fromkeys(texts))
        for sentence, both in self.sample(((a, b) for a, b in counted if b), count):
            active, wrong = both
            passive = light_edit(sentence, self.random, self.words) if self.random.random() < 0.3 else None
            self.add(text, "", passive or sentence, active, 1, weight=4.0)
            self.add(text, "role", passive or sentence, wrong, 0, weight=4.0)
            if self.random.random() < 0.5:
                self.add(text, "role", active, wrong, 0)
            self.changed(text, passive or sentence, active, 1)

    def neighbors(self, text: str, texts: Iterable[str], count: int) -> None:
        """Add each sentence with one that is near it under the bundled encoder, and with one at random."""
        from paraloom import Encoder

        chosen = self.sample(set(texts), count)
        vectors = Encoder.load("english").encode(chosen)
        vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        for start in range(0, len(chosen), 512):
            cosines = vectors[start : start + 512] @ vectors.T
            near = np.argpartition(-cosines, 6, axis=1)[:, :6]
            for row, candidates in enumerate(near.tolist()):
                a = chosen[start + row]
                ranked = [c for c in candidates if c != start + row and cosines[row, c] < 0.9]
                if ranked:
                    b = chosen[ranked[int(self.random.integers(len(ranked)))]]
                    if overlap(a, b) < 0.9:
                        self.add(text, "neighbor", a, b, 0)
                if self.random.random() < 0.15:
                    self.add(text, "random", a, chosen[int(self.random.integers(len(chosen)))], 0)


def common_translations(data: Path) -> dict[tuple[str, str], int]:
    """English sentences of Tatoeba with common translations, and in how many languages they have them."""
    counted: Counter[tuple[str, str]] = Counter()
    for name in ("tatoeba/de-en", "tatoeba/fr-en", "tatoeba-2/es-en", "tatoeba/cs-en", "tatoeba/tr-en"):
        groups: defaultdict[str, set[str]] = defaultdict(set)
        for foreign, english in lines(data, f"bitext/{name}.tsv.gz"):
            groups[foreign].add(english)
        for group in groups.values():
            if 2 <= len(group) <= 8:
                counted.update(itertools.combinations(sorted(group), 2))
    return dict(counted)


def mined_words(pairs: Iterable[tuple[str, str]]) -> Counter[tuple[str, str]]:
    """Words in which two sentences that say the same differ, where that is all, and how often."""
    mined: Counter[tuple[str, str]] = Counter()
    for a, b in pairs:
        x, y = (re.findall(r"[a-z']+|\d+|[^\w\s]", text.lower()) for text in (a, b))
        if len(x) == len(y):
            different = [(p, q) for p, q in zip(x, y, strict=True) if p != q]
            if len(different) == 1 and min(map(len, different[0])) >= 3:
                mined[min(different[0]), max(different[0])] += 1
    return mined


def word_pairs(data: Path, name: str) -> set[tuple[str, str]]:
    """Pairs of words of a file of `phrase/ppdb-lexical`, in lower case and in order."""
    split = (line.lower().split() for line in read_lines(str(data / f"phrase/ppdb-lexical/{name}")))
    return {(min(pair[:2]), max(pair[:2])) for pair in split if len(pair) >= 2}


def near_words(
    data: Path, pairs: Iterable[tuple[str, str]], texts: Iterable[str]
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Words near another one that mean something else, and words that stand for it in paraphrases."""
    from paraloom import Encoder

    seen = Counter(word for text in texts for word in re.findall(r"[a-z]+", text.lower()))
    mined, ppdb = mined_words(pairs), word_pairs(data, PPDB)
    content = [
        word for word, count in seen.most_common() if count >= 25 and len(word) >= 3 and not is_function_word(word)
    ]
    vocabulary = content[:14000]
    vectors = Encoder.load("english").encode(vocabulary)
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    near: dict[str, list[str]] = {}
    synonyms: defaultdict[str, list[str]] = defaultdict(list)
    for start in range(0, len(vocabulary), 1000):
        cosines = vectors[start : start + 1000] @ vectors.T
        best = np.argsort(-cosines, axis=1)[:, 1:40]
        for row, candidates in enumerate(best.tolist()):
            word = vocabulary[start + row]
            choices = []
            for candidate in candidates:
                other, cosine = vocabulary[candidate], cosines[row, candidate]
                pair = tuple(sorted((word, other)))
                same_end = word[-1] == other[-1] if word[-1] in "sdgy" or other[-1] in "sdgy" else True
                if other[:4] == word[:4] or not same_end:
                    continue
                if (pair in ppdb and cosine > 0.75) or mined[pair] >= 3:
                    synonyms[word].append(other)
                elif pair not in ppdb and not mined[pair] and 0.25 < cosine < 0.7:
                    choices.append(other)
            if choices:
                near[word] = choices[:12]
    for (a, b), count in mined.items():
        if count >= 4 and a.isalpha() and b.isalpha() and not (is_function_word(a) or is_function_word(b)):
            for x, y in ((a, b), (b, a)):
                if y not in synonyms[x]:
                    synonyms[x].append(y)
    return near, {word: others for word, others in synonyms.items() if others}


def slots(meaning: str) -> frozenset[str]:
    """Slots of a meaning of E2E or of a dialogue act."""
    return frozenset(part.strip() for part in re.split(r"[,;]\s*(?![^\[]*\])", meaning.rstrip(")")))


def captions_of(data: Path) -> list[list[str]]:
    """Picture and caption."""
    return [row for row in lines(data, "paraphrase/coco-captions-val/captions.tsv.gz") if len(row) == 2]


def texts(data: Path) -> dict[str, list[str]]:
    """Sentences of each kind of text."""
    return {
        "Tatoeba": [row[-1] for row in lines(data, "bitext/tatoeba-2/es-en.tsv.gz") if len(row[-1].split()) >= 5],
        "captions": [caption for _, caption in captions_of(data)],
        "headlines": sentences(data, "headlines.reddit-press") + sentences(data, "headlines.clickbait"),
        "posts": sentences(data, "forum.reddit-posts")[:60000],
        "questions": sentences(data, "questions.opentrivia") + sentences(data, "questions.reddit-titles")[:60000]
        + sentences(data, "questions.stackoverflow-titles"),
        "glosses": sentences(data, "glosses.open-english-wordnet") + sentences(data, "examples.open-english-wordnet"),
        "mixed": sentences(data, "mixed.masc"),
        "manuals": [row[1] for name in MANUALS
                    for row in lines(data, f"bitext/{name}.tsv.gz") if 5 <= len(row[1].split()) <= 40],
        "parliament": [row[-1] for row in lines(data, "bitext/europarl-sample/de-en.tsv.gz")],
        "Wikipedia": [row[0] for row in lines(data, "simplewiki/kauchak-v2-dev.normal-simple.tsv.gz")
                      if 6 <= len(row[0].split()) <= 45 and "lrb" not in row[0]],
    }  # fmt: skip


def bundled_pairs(data: Path, seed: int = 1) -> list[Row]:
    """All labeled pairs."""
    make = Builder(data, seed)
    tatoeba = common_translations(data)
    pivot = {(a, b): len(langs.split(",")) for a, b, langs in lines(data, "paraphrase/tatoeba-pivot/pairs.tsv.gz")}
    sure = {pair for pair, count in (*tatoeba.items(), *pivot.items()) if count >= 2 and agree(*pair)}
    likely = {pair for pair in (*tatoeba, *pivot) if pair not in sure and agree(*pair)}
    captions, text = captions_of(data), texts(data)
    near, synonyms = near_words(data, sure | likely, (line for values in text.values() for line in values[:40000]))
    make.words = Words(names_in([s for values in text.values() for s in values[:3000]]), near, synonyms)

    make.right("Tatoeba", sure, 30000, changes=2)
    make.right("Tatoeba", likely, 15000)
    verses: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for version in MODERN:
        for row in lines(data, f"paraphrase/bible-verses/{version}.tsv.gz"):
            verses[row[0]][version] = row[1]
    bible = []
    for places in verses.values():
        for a, b in make.sample(itertools.combinations(sorted(places), 2), 2):
            ratio = len(places[a].split()) / max(1, len(places[b].split()))
            if 0.6 < ratio < 1.7 and max(len(places[a].split()), len(places[b].split())) <= 45:
                bible.append((places[a], places[b]))
    make.right("Bible", bible, 38000)
    in_order = list(verses.values())
    for i in make.sample(range(len(in_order) - 2), 6000):
        a, b = in_order[i], in_order[i + 1 + int(make.random.integers(2))]
        if a and b:
            make.add("Bible", "neighbor", make.sample(a.values(), 1)[0], make.sample(b.values(), 1)[0], 0)

    lessons, shorter = [], []
    for levels, a, b in lines(data, "paraphrase/onestopenglish/pairs.tsv.gz"):
        long, short = max(len(a), len(b)), min(len(a), len(b))
        (lessons if short / long > (0.7 if levels != "ADV-ELE" else 0.78) else shorter).append((a, b))
    make.right("news", lessons, 6000, changes=6, weight=2.0)
    for a, b in shorter:
        a, b = (a, b) if len(a) > len(b) else (b, a)
        make.add(
            "news",
            "dropped-real",
            a,
            b,
            UNKNOWN if len(b) / len(a) > 0.55 else 0,
            1,
            UNKNOWN if len(b) / len(a) > 0.55 else 0,
        )

    split = []
    for whole, parts, left, right in lines(data, "paraphrase/wiki-split/tune+validation.tsv.gz"):
        parts = parts.replace(" <::::> ", " ")
        if float(left) >= 0.85 and float(right) >= 0.85:
            split.append((whole, parts))
        elif float(left) >= 0.95 and float(right) < 0.75:
            make.add("Wikipedia", "dropped-real", parts, whole, 0, 1, 0)
        elif float(right) >= 0.95 and float(left) < 0.75:
            make.add("Wikipedia", "dropped-real", whole, parts, 0, 1, 0)
    make.right("Wikipedia", split, 6000, changes=4)
    simple = [(a, b) for a, b in lines(data, "simplewiki/kauchak-v2-dev.normal-simple.tsv.gz")
              if a != b and 0.8 < len(a) / len(b) < 1.25 and overlap(a, b) > 0.7 and agree(a, b)]  # fmt: skip
    make.right("Wikipedia", simple, 5000, changes=1, weight=0.5)
    for label, a, b in lines(data, "paraphrase/paws-wiki/dev.tsv.gz"):
        make.add(
            "Wikipedia", "PAWS" if label == "0" else "PAWS-right", a, b, int(label), formed=(None, None), weight=2.0
        )
        if label == "1":
            make.changed("Wikipedia", a, b, 1)

    for name in ("e2e-cleaned/dev", "rnnlg/references"):
        groups: defaultdict[str, list[str]] = defaultdict(list)
        for row in lines(data, f"paraphrase/{name}.tsv.gz"):
            groups["|".join(row[:-1])].append(row[-1])
        make.right(
            "reviews",
            [pair for group in groups.values() for pair in itertools.islice(itertools.combinations(group, 2), 4)],
            3500,
            1,
        )
        meanings = [(slots(key.split("|")[-1]), values) for key, values in groups.items()]
        by_slot: defaultdict[str, list[int]] = defaultdict(list)
        for i, (parts, _) in enumerate(meanings):
            for part in parts:
                by_slot[part].append(i)
        for i in make.sample(range(len(meanings)), 3000):
            parts, values = meanings[i]
            if len(parts) < 2:
                continue
            candidates = [j for part in make.sample(sorted(parts), 2) for j in by_slot[part][:40] if j != i]
            if not candidates:
                continue
            j = max(
                make.sample(candidates, 25), key=lambda j: len(parts & meanings[j][0]) / len(parts | meanings[j][0])
            )
            other = meanings[j][0]
            a, b = make.sample(values, 1)[0], make.sample(meanings[j][1], 1)[0]
            if parts != other:
                make.add("reviews", "slot" if not (parts < other or other < parts) else "dropped-real", a, b, 0,
                         int(other < parts), int(parts < other))  # fmt: skip

    groups = defaultdict(list)
    for name, group, question in lines(data, "paraphrase/text2sql/questions.tsv.gz"):
        if name == "advising":
            groups[group].append(question)
    make.right(
        "questions",
        [pair for group in groups.values() for pair in make.sample(itertools.combinations(group, 2), 40)],
        5000,
        1,
    )
    asked = [(question, group) for group, questions in groups.items() for question in questions]
    for (a, x), (b, y) in zip(make.sample(asked, 4000), make.sample(asked, 4000), strict=False):
        if x != y and overlap(a, b) < 0.9:
            make.add("questions", "neighbor", a, b, 0)

    caption_pairs(make, captions)
    everyday = (row[-1] for name in ("tatoeba/de-en", "tatoeba/fr-en", "tatoeba-2/es-en")
                for row in lines(data, f"bitext/{name}.tsv.gz"))  # fmt: skip
    for name, values in {**text, "Tatoeba": everyday}.items():
        make.voices(name, values, 3000)
    for name, values in text.items():
        make.single(
            name, values, {"Tatoeba": 12000, "captions": 20000, "headlines": 22000, "questions": 22000}.get(name, 11000)
        )
        make.neighbors(name, make.sample(values, 30000), 5000)
    return make.rows


def caption_pairs(make: Builder, captions: list[list[str]]) -> None:
    """Captions of one picture: right where they nearly agree, wrong where they share little."""
    from paraloom import Encoder

    by_image: defaultdict[str, list[str]] = defaultdict(list)
    for image, caption in captions:
        by_image[image].append(caption)
    pairs = [
        pair
        for group in by_image.values()
        for pair in itertools.combinations(group, 2)
        if pair[0].lower() != pair[1].lower()
    ]
    encoder = Encoder.load("english-small")
    sides = [np.asarray(encoder.encode([pair[side] for pair in pairs])) for side in (0, 1)]
    cosines = np.einsum("nd,nd->n", *sides) / np.maximum(
        np.linalg.norm(sides[0], axis=1) * np.linalg.norm(sides[1], axis=1), 1e-9
    )
    right = [
        pair
        for pair, cosine in zip(pairs, cosines, strict=True)
        if cosine > 0.85 and agree(*pair) and 0.7 < len(pair[0]) / len(pair[1]) < 1.43
    ]
    wrong = [pair for pair, cosine in zip(pairs, cosines, strict=True) if cosine < 0.6]
    print("captions of one picture:", len(pairs), "right", len(right), "wrong", len(wrong))
    make.right("captions", right, 7000, 2)
    for a, b in make.sample(wrong, 5000):
        make.add("captions", "scene", a, b, 0)


def main() -> None:
    """Make the pairs, or train on them."""
    global LIMIT
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    pairs = commands.add_parser("pairs")
    pairs.add_argument("--limit", type=int, help="lines of each file that are read, for a small trial")
    pairs.add_argument("-o", "--output", type=Path, required=True)
    training = commands.add_parser("train")
    training.add_argument("pairs", type=Path)
    training.add_argument("--base", type=Path, required=True, help="folder of all-MiniLM-L6-v2")
    training.add_argument("--without", nargs="*", default=(), help="kinds to leave out; such judges have no teacher")
    training.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    if arguments.command == "train":
        recipe: dict[str, Any] = {"teacher_layers": 6, "epochs": 9, "batch_size": 1024, "learning_rate": 4e-4}
        pairs_file = arguments.pairs
        if arguments.without:
            recipe = {"epochs": 3, "batch_size": 512, "learning_rate": 3e-4}
            table = pq.read_table(pairs_file)
            kept = [kind not in arguments.without for kind in table["kind"].to_pylist()]
            pairs_file = arguments.output.with_suffix(".pairs.parquet")
            pq.write_table(table.filter(pa.array(kept)), pairs_file)
        train_judge(pairs_file, arguments.output, base=arguments.base, **recipe)
        return
    LIMIT = arguments.limit
    rows = bundled_pairs(Path(os.environ["PARALOOM_DATA"]))
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), arguments.output)
    counts = Counter((row["origin"], row["label"]) for row in rows)
    for (text, same), count in sorted(counts.items(), key=str):
        print(f"{text:<12} {same!s:<6} {count:>8,}")
    print(Counter(row["kind"] for row in rows))


if __name__ == "__main__":
    main()
