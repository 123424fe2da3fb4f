"""Train encoders of two and more languages, and measure retrieval and mining beside doing nothing.

    PARALOOM_DATA=… python benchmarks/bilingual.py --languages cs de tr ko is --seeds 1 2 3 -o bilingual

Parts: `pair` trains one encoder for each language with English, `all` one for all of --languages together; `baselines`
are overlap and a learned dictionary; `bundled` measures the encoder that comes with the package, or those of
--encoders, on NTREX and on the pairs of Tatoeba that its recipe holds out. Everything is kept in the folder of -o: run
again, the command resumes. 100,000 pairs take two minutes on two processors, mining another one.

Test sets: 1,000 Tatoeba pairs, chosen by seed 1, no sentence twice; NTREX (newstest2019 with its translation, also for
cs and de, whose WMT test set it is); mining: NTREX and some of the Tatoeba pairs as true ones among lines without a
counterpart, foreign sides of training pairs and English of `sentences-en`; in `bundled`, the first thousand pairs of
NTREX, its other foreign lines, and 9,000 lines of English. From the training data of all languages those pairs are
removed of which a side has the same words as a test sentence, or three quarters of its trigrams in common (Jaccard);
English test sentences of other languages count, too.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import os
import re
import shutil
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from paraloom.alignment.document_evidence import word_vectors
from paraloom.alignment.document_features import Documents
from paraloom.alignment.lexicon import learn_lexicon
from paraloom.bundled import ALIGNMENT_ENCODER, bundled_path
from paraloom.core.stats import student_t_quantile
from paraloom.embed.average import normalize_vectors
from paraloom.embed.bilingual import BITEXT_SETTINGS
from paraloom.embed.config import EncoderConfig
from paraloom.embed.mining import MARGIN_THRESHOLD, Neighbors, bitext_neighbors, select_pairs
from paraloom.embed.search import SearchResult
from paraloom.embed.store import load_encoder
from paraloom.embed.threads import available_threads
from paraloom.embed.training import train_encoder
from paraloom.evaluate.mining import evaluate_mining
from paraloom.pairs.filtering.held_out import is_held_out
from paraloom.text.ngrams import character_ngrams, word_ngrams
from paraloom.text.normalize import normalize
from paraloom.text.tokens import tokenize

Pair = tuple[str, str]

FILES = (
    *("wmt-news", "yast", "gnome-help", "shattered-pixel-dungeon", "ted-sample"),
    *("europarl-sample", "news-commentary-v8", "bible"),
)
KOREAN_FILES = (
    *("jhe/jhe-koen-dev", "jhe/jhe-koen-eval"),
    *("news-v1/korean-english-park.dev", "news-v1/korean-english-park.test"),
)
HELD_OUT, TWIN = 1000, 0.75
MINING_LINES, MINING_TRUE = 50_000, 2500

PUBLISHED = {
    "static-similarity-mrl-multilingual-v1 (433 MB), published": {
        "de": 95.4, "cs": 78.0, "tr": 94.5, "ko": 62.9, "is": 18.5
    },
    "LaBSE (1.9 GB), published": {"de": 99.2, "cs": 96.7, "tr": 98.0, "ko": 91.0, "is": 94.8},
}  # fmt: skip
"""F1 × 100 of Tatoeba in MTEB, which asks for English only, on its own 1,000 pairs."""


def data_folder() -> Path:
    """The folder of real corpora; ends the program without it."""
    folder = Path(os.environ.get("PARALOOM_DATA", ""))
    if not (folder / "bitext" / "tatoeba").is_dir():
        sys.exit("set PARALOOM_DATA to the folder of real corpora")
    return folder


def read_rows(path: Path) -> list[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        return [line.rstrip("\n").split("\t") for line in lines]


def bitext(language: str) -> list[Pair]:
    """All pairs of a language and English but Tatoeba and newstest2019, each once."""
    folder, rows = data_folder(), []
    for name in FILES:
        path = folder / "bitext" / name / f"{language}-en.tsv.gz"
        if path.is_file():
            pairs = read_rows(path)
            if name == "wmt-news":
                sets = (path.parent / f"{language}-en.sets.tsv").read_text(encoding="utf-8").splitlines()[1:]
                for _, first, last in (line.split("\t")[:3] for line in sets if "newstest2019" in line):
                    pairs[int(first) - 1 : int(last)] = [["", ""]] * (int(last) - int(first) + 1)
            rows += pairs
    korean = folder / "bitext/korean"
    for stem in KOREAN_FILES:
        if language == "ko":
            sides = [(korean / f"{stem}.{side}").read_text(encoding="utf-8").split("\n") for side in ("ko", "en")]
            rows += [list(pair) for pair in zip(*sides, strict=True)]
    if (folder / f"bitext/multi30k/task1/train.{language}.gz").is_file():
        for split in ("train", "val"):
            sides = [read_rows(folder / f"bitext/multi30k/task1/{split}.{side}.gz") for side in (language, "en")]
            rows += [[a[0], b[0]] for a, b in zip(*sides, strict=True)]
    paragraphs = folder / f"documents/libreoffice-help/gold.paragraphs.en-{language}.tsv.gz"
    if paragraphs.is_file():
        rows += [[row[3], row[2]] for row in read_rows(paragraphs)]
    return list(dict.fromkeys((row[0], row[1]) for row in rows if row[0].strip() and row[1].strip()))


def normalized(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


@cache
def tatoeba(language: str) -> tuple[list[Pair], list[Pair]]:
    """1,000 held-out pairs of distinct sentences, and all others."""
    return distinct([(row[0], row[1]) for row in read_rows(data_folder() / f"bitext/tatoeba/{language}-en.tsv.gz")])


def distinct(pairs: Sequence[Pair]) -> tuple[list[Pair], list[Pair]]:
    """1,000 pairs of distinct sentences, drawn by seed 1, and all others."""
    held_out, others = [], []
    seen: tuple[set[str], set[str]] = (set(), set())
    for number in np.random.default_rng(1).permutation(len(pairs)):
        pair = pairs[number]
        keys = [normalized(side) for side in pair]
        if len(held_out) < HELD_OUT and all(keys) and keys[0] not in seen[0] and keys[1] not in seen[1]:
            held_out.append(pair)
            seen[0].add(keys[0])
            seen[1].add(keys[1])
        else:
            others.append(pair)
    return held_out, others


def recipe_test(language: str) -> list[Pair]:
    """1,000 of the pairs of Tatoeba that the recipe of the bundled encoder holds out; none where it holds out none."""
    return distinct(recipe_pairs(language, held_out=True))[0] if language in RECIPE_TESTS else []


def recipe_pairs(language: str, *, held_out: bool) -> list[Pair]:
    """The pairs of Tatoeba that examples/bundled-multilingual.toml holds out, or all others."""
    rows = read_rows(data_folder() / RECIPE_TESTS[language])
    english = normalize(pa.array([row[1] for row in rows], pa.large_string())).to_pylist()
    held = [is_held_out(text, RECIPE_SHARE) for text in english]
    return [(row[0], row[1]) for row, of_row in zip(rows, held, strict=True) if of_row == held_out]


@cache
def ntrex(language: str) -> list[Pair]:
    """newstest2019 and its translation, distinct sentences."""
    # Some languages have a column of documents before the two.
    rows = read_rows(data_folder() / f"bitext/ntrex/{language}-en.tsv.gz")
    pairs = [(row[-2], row[-1]) for row in rows]
    return list({normalized(pair[0]): pair for pair in {normalized(pair[1]): pair for pair in pairs}.values()}.values())


def near_twins(texts: Sequence[str], tests: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which texts have the words of a test sentence, or most of its trigrams."""
    words = {frozenset(normalized(test).split()) for test in tests}
    twins = np.array([frozenset(normalized(text).split()) in words for text in texts])
    lists = [character_ngrams([normalized(text) for text in side]) for side in (texts, tests)]
    columns = np.unique(lists[1].ids)
    sides, sizes = [], []
    for side in lists:
        owners = np.repeat(np.arange(len(side)), side.lengths)
        cells = np.unique(np.stack([owners, side.ids.astype(np.int64)], axis=1), axis=0)
        sizes.append(np.bincount(cells[:, 0], minlength=len(side)))
        places = np.searchsorted(columns, cells[:, 1].astype(np.uint64))
        known = places < len(columns)
        known[known] = columns[places[known]] == cells[known, 1].astype(np.uint64)
        ones = np.ones(int(known.sum()), np.float32)
        sides.append(sparse.csr_matrix((ones, (cells[known, 0], places[known])), (len(side), len(columns))))
    transposed = sparse.csc_matrix(sides[1].T)
    for start in range(0, len(texts), 2000):
        shared = sparse.coo_matrix(sides[0][start : start + 2000] @ transposed)
        union = sizes[0][start + shared.row] + sizes[1][shared.col] - shared.data
        twins[start + shared.row[shared.data >= TWIN * union]] = True
    return twins


LANGUAGES = ("cs", "de", "tr", "ko", "is")
RECIPE_TESTS = {"es": "bitext/tatoeba-2/es-en.tsv.gz", "fr": "bitext/tatoeba/fr-en.tsv.gz"}
"""Language of the bundled encoder alone → the file of which its recipe holds out a share of the English texts."""
RECIPE_SHARE = 0.01


def training_pairs(language: str, folder: Path) -> list[Pair]:
    """The cleaned training pairs of a language; cached."""
    file = folder / "data" / f"{language}.json"
    if not file.is_file():
        pairs = list(dict.fromkeys([*bitext(language), *tatoeba(language)[1]]))
        foreign = [pair[0] for pair in (*tatoeba(language)[0], *ntrex(language))]
        english = [pair[1] for other in LANGUAGES for pair in (*tatoeba(other)[0], *ntrex(other))]
        twins = near_twins([pair[0] for pair in pairs], foreign)
        twins |= near_twins([pair[1] for pair in pairs], list(dict.fromkeys(english)))
        file.parent.mkdir(parents=True, exist_ok=True)
        kept = [pair for pair, twin in zip(pairs, twins, strict=True) if not twin]
        write_json(file, {"removed": int(twins.sum()), "pairs": kept})
    return [(a, b) for a, b in json.loads(file.read_text(encoding="utf-8"))["pairs"]]


def write_json(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".partial")
    temporary.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    temporary.replace(path)


def train(pairs: Sequence[Pair], folder: Path, seed: int, settings: dict[str, Any]) -> float:
    """Train an encoder, or resume; returns the seconds that it took, also if that was before."""
    if (folder / "seconds.json").is_file():
        return float(json.loads((folder / "seconds.json").read_text()))
    table = pa.table({"src": [pair[0] for pair in pairs], "tgt": [pair[1] for pair in pairs]})
    began = time.perf_counter()
    config = EncoderConfig(**{**BITEXT_SETTINGS, **settings})
    train_encoder(table.to_batches(max_chunksize=2048), config, folder, seed=seed)
    seconds = time.perf_counter() - began
    write_json(folder / "seconds.json", seconds)
    return seconds


Similarity = Callable[[Sequence[str], Sequence[str]], Any]
"""Vectors of foreign and of English sentences, dense or sparse, whose products are similarities."""


def encoded(folder: Path) -> Similarity:
    """Similarity under an encoder."""
    encoder = load_encoder(folder, available_threads())

    def vectors(foreign: Sequence[str], english: Sequence[str]) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*unknown units only")
            return tuple(normalize_vectors(encoder.encode(list(side))) for side in (foreign, english))

    return vectors


def overlap(foreign: Sequence[str], english: Sequence[str]) -> Any:
    """tf-idf of words and their n-grams, those of both languages alike."""
    lists = [word_ngrams(list(side)) for side in (foreign, english)]
    columns = np.unique(np.concatenate([side.ids for side in lists]))
    counts = []
    for side in lists:
        owners = np.repeat(np.arange(len(side)), side.lengths)
        cells = (np.ones(len(side.ids), np.float32), (owners, np.searchsorted(columns, side.ids)))
        counts.append(sparse.csr_matrix(cells, (len(side), len(columns))))
    present = sum(np.asarray((side > 0).sum(axis=0)).ravel() for side in counts)
    idf = sparse.diags(np.log((len(foreign) + len(english) + 1) / (present + 0.5)).astype(np.float32))
    return tuple(unit_rows(side.log1p() @ idf) for side in counts)


def unit_rows(matrix: Any) -> Any:
    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags(1 / np.maximum(norms, 1e-9)) @ matrix)


def dictionary(pairs: Sequence[Pair]) -> Similarity:
    """tf-idf of words and their translations by a lexicon that word alignment learns from the training pairs."""
    sides = [tokenize([pair[side] for pair in pairs]) for side in (0, 1)]
    lexicons = learn_lexicon(*sides), learn_lexicon(*reversed(sides))

    def vectors(foreign: Sequence[str], english: Sequence[str]) -> Any:
        return word_vectors(Documents.from_texts(foreign), Documents.from_texts(english), lexicons)

    return vectors


def retrieval(similarity: Similarity, pairs: Sequence[Pair]) -> dict[str, float]:
    """Percent of sentences whose translation is nearest: from the foreign side, and from English."""
    a, b = similarity([pair[0] for pair in pairs], [pair[1] for pair in pairs])
    products = a @ b.T
    products = products if isinstance(products, np.ndarray) else products.toarray()
    own = products.diagonal()
    # Of equally near sentences none is the answer.
    right = [(products >= own.reshape(shape)).sum(axis=axis) == 1 for axis, shape in ((1, (-1, 1)), (0, (1, -1)))]
    return {"to English": 100 * float(right[0].mean()), "from English": 100 * float(right[1].mean())}


@cache
def other_english() -> list[str]:
    """Every tenth line of `sentences-en`."""
    english: list[str] = []
    for file in sorted((data_folder() / "sentences-en").glob("*.txt.xz")):
        with lzma.open(file, "rt", encoding="utf-8", newline="\n") as lines:
            english += [line.rstrip("\n") for number, line in enumerate(lines) if number % 10 == 0]
    return english


@cache
def mining_texts(language: str, folder: Path) -> tuple[list[str], list[str], list[tuple[int, int]]]:
    """Foreign lines, English lines, and the true pairs among them."""
    draw = np.random.default_rng(2)
    true = [*ntrex(language), *tatoeba(language)[0]][:MINING_TRUE]
    pairs = training_pairs(language, folder)
    chosen = [pairs[row] for row in draw.permutation(len(pairs))[: MINING_LINES - len(true)]]
    taken = {normalized(pair[1]) for pair in (*true, *chosen)}
    english = other_english()
    order = draw.permutation(len(english))
    distractors = [english[row] for row in order if normalized(english[row]) not in taken]
    sides = [
        list(dict.fromkeys([*(pair[0] for pair in true), *(pair[0] for pair in chosen)])),
        list(dict.fromkeys([*(pair[1] for pair in true), *distractors[: MINING_LINES - len(true)]])),
    ]
    shuffled = [[side[row] for row in draw.permutation(len(side))] for side in sides]
    rows = [{text: row for row, text in enumerate(side)} for side in shuffled]
    return shuffled[0], shuffled[1], [(rows[0][a], rows[1][b]) for a, b in true]


def mining(similarity: Similarity, language: str, folder: Path) -> dict[str, float]:
    """F1 of mined pairs at the default threshold and at the best one, and speeds."""
    foreign, english, gold = mining_texts(language, folder)
    began = time.perf_counter()
    vectors = similarity(foreign, english)
    encoding = time.perf_counter() - began
    began = time.perf_counter()
    neighbors = bitext_neighbors(*vectors) if isinstance(vectors[0], np.ndarray) else sparse_neighbors(*vectors)
    mined = select_pairs(neighbors, threshold=-np.inf)
    seconds = time.perf_counter() - began
    score = evaluate_mining(mined.sources, mined.targets, mined.margins, gold, MARGIN_THRESHOLD)
    return {
        **{name: float(value) for name, value in score.to_dict().items()},
        "foreign lines": len(foreign),
        "English lines": len(english),
        "encoded/s": (len(foreign) + len(english)) / encoding,
        "mined/s": (len(foreign) + len(english)) / seconds,
    }


def sparse_neighbors(source: Any, target: Any, k: int = 4) -> Neighbors:
    """The nearest neighbors among sparse vectors."""
    sides = []
    for queries, keys in ((source, target), (target, source)):
        transposed = sparse.csr_matrix(keys.T)
        cosines, rows = [], []
        for start in range(0, queries.shape[0], 500):
            block = (queries[start : start + 500] @ transposed).toarray()
            nearest = np.argpartition(-block, k, axis=1)[:, :k]
            values = np.take_along_axis(block, nearest, axis=1)
            order = np.argsort(-values, axis=1)
            cosines.append(np.take_along_axis(values, order, axis=1).astype(np.float32))
            rows.append(np.take_along_axis(nearest, order, axis=1))
        sides.append(SearchResult(np.concatenate(cosines), np.concatenate(rows)))
    return Neighbors(*sides)


def measure(file: Path, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The result in a file, computed if it is not there."""
    if not file.is_file():
        print(f"measuring {file.stem} …", file=sys.stderr, flush=True)
        write_json(file, work())
    result: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return result


def all_figures(similarity: Similarity, language: str, folder: Path) -> dict[str, Any]:
    return {
        "tatoeba": retrieval(similarity, tatoeba(language)[0]),
        "ntrex": retrieval(similarity, ntrex(language)),
        "mining": mining(similarity, language, folder),
    }


def run_setup(
    setup: str, languages: Sequence[str], seeds: Sequence[int], folder: Path, keep: bool
) -> Iterator[dict[str, Any]]:
    """Train and measure; yields one row for each language and seed."""
    groups = [list(languages)] if setup == "all" else [[language] for language in languages]
    for group in groups:
        pairs = [pair for one in group for pair in training_pairs(one, folder)]
        for seed in seeds:
            name = "all-" + "-".join(group) if setup == "all" else group[0]
            encoder = folder / "encoders" / f"{name}-{seed}"

            def work(path: Path, language: str, one: int = seed, into: Path = encoder) -> dict[str, Any]:
                size = {"ngram_vocab_size": 200_000 + 50_000 * (len(group) - 1)}  # noqa: B023
                seconds = train(pairs, into, one, size)  # noqa: B023
                return {"seconds": seconds, "pairs": len(pairs), **all_figures(encoded(path), language, folder)}  # noqa: B023

            for language in group:
                for label, path in (("trained", encoder), ("untrained", encoder / "start")):
                    if label == "untrained" and (setup == "all" or seed != seeds[0]):
                        continue
                    file = folder / "results" / f"{setup}-{language}-{label}-{seed}.json"
                    if setup == "all":
                        file = file.with_name(f"{name}-{language}-{label}-{seed}.json")
                    figures = measure(file, lambda p=path, one=language, do=work: do(p, one))
                    yield {"setup": setup, "language": language, "system": label, "seed": seed, **figures}
            if not keep:
                shutil.rmtree(encoder, ignore_errors=True)


def run_baselines(languages: Sequence[str], folder: Path) -> Iterator[dict[str, Any]]:
    for language in languages:
        pairs = training_pairs(language, folder)
        for label, similarity in (("overlap", lambda _: overlap), ("dictionary", dictionary)):
            file = folder / "results" / f"{label}-{language}.json"
            figures = measure(file, lambda make=similarity, one=language, p=pairs: all_figures(make(p), one, folder))
            yield {"setup": "pair", "language": language, "system": label, "seed": 0, **figures}


def interval(values: Sequence[float]) -> str:
    """Mean and half the width of its 95 % interval over seeds."""
    if len(values) < 2:
        return f"{values[0]:.1f}"
    half = student_t_quantile(0.975, len(values) - 1) * statistics.stdev(values) / len(values) ** 0.5
    return f"{statistics.fmean(values):.1f} ± {half:.1f}"


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    print(f"\n| {' | '.join(header)} |\n|{'---|' * len(header)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def print_results(rows: Sequence[dict[str, Any]]) -> None:
    """Retrieval and mining, a line for each language and system."""
    keys = list(dict.fromkeys((row["language"], row["setup"], row["system"]) for row in rows))
    keys.sort(key=lambda key: (LANGUAGES.index(key[0]), key[2] == "trained", key[1]))
    lines = []
    for language, setup, system in keys:
        of_key = [row for row in rows if (row["language"], row["setup"], row["system"]) == (language, setup, system)]
        name = {"trained": f"trained, {'all languages' if setup == 'all' else 'this pair'}"}.get(system, system)
        figures = [[row["tatoeba"][way] for row in of_key] for way in ("to English", "from English")]
        figures += [[row["ntrex"][way] for row in of_key] for way in ("to English", "from English")]
        figures += [[100 * row["mining"][score] for row in of_key] for score in ("f1", "best_f1")]
        threshold = statistics.fmean(row["mining"]["best_threshold"] for row in of_key)
        pairs = f"{of_key[0]['pairs']:,}" if system == "trained" else "–"
        lines.append([language, name, pairs, *map(interval, figures), f"{threshold:.3f}"])
    for name, published in PUBLISHED.items():
        lines += [
            [one, name, "–", f"{published[one]:.1f}", *["–"] * 6] for one in dict.fromkeys(key[0] for key in keys)
        ]
    lines.sort(key=lambda line: LANGUAGES.index(line[0]))
    mining = [f"mining F1 at {MARGIN_THRESHOLD}", "best F1", "at"]
    header = ["", "system", "pairs", "Tatoeba → en", "en →", "NTREX → en", "en →", *mining]
    print_table(header, lines)
    trained = [row for row in rows if row["system"] == "trained"]
    if trained:
        speeds = {name: statistics.median(row["mining"][name] for row in trained) for name in ("encoded/s", "mined/s")}
        lines_of = {row["language"]: row["mining"]["foreign lines"] for row in trained}
        print(f"\nEncoded {speeds['encoded/s']:,.0f} lines/s, mined {speeds['mined/s']:,.0f} lines/s.")
        print(f"Foreign lines in mining: {', '.join(f'{one} {count:,}' for one, count in lines_of.items())}.")
        for row in trained:
            print(f"Training {row['setup']} {row['language']} {row['seed']}: {row['seconds']:,.0f} s.")


def mined_news(similarity: Similarity, language: str) -> dict[str, float]:
    """F1 of mining a thousand pairs of NTREX among its other foreign lines and 9,000 English ones."""
    pairs, english = ntrex(language), other_english()
    rows = np.random.default_rng(2).permutation(len(english))[: 9 * HELD_OUT]
    lines = [*(pair[1] for pair in pairs[:HELD_OUT]), *(english[row] for row in rows)]
    mined = select_pairs(bitext_neighbors(*similarity([pair[0] for pair in pairs], lines)), threshold=-np.inf)
    gold = [(row, row) for row in range(HELD_OUT)]
    return evaluate_mining(mined.sources, mined.targets, mined.margins, gold, MARGIN_THRESHOLD).to_dict()


def print_bundled(languages: Sequence[str], encoders: Sequence[str]) -> None:
    """Retrieval and mining on NTREX, which no bundled encoder is trained on, and on held-out pairs of Tatoeba."""
    lines = []
    for language in languages:
        systems = {name: encoded(bundled_path(name) or Path(name)) for name in encoders}
        if language in RECIPE_TESTS:
            systems["dictionary (the aligner's lexicon)"] = dictionary(recipe_pairs(language, held_out=False))
        for name, similarity in {**systems, "overlap of trigrams": overlap}.items():
            cells = []
            for pairs in (ntrex(language), recipe_test(language)):
                figures = retrieval(similarity, pairs) if pairs else {}
                cells += [f"{figures[way]:.1f}" if figures else "–" for way in ("to English", "from English")]
            score = mined_news(similarity, language) if name in encoders else {}
            cells += [f"{100 * score[key]:.1f}" if score else "–" for key in ("f1", "best_f1")]
            lines.append([language, name, *cells])
    print_table(["", "system", "NTREX → en", "en →", "Tatoeba → en", "en →", "mining F1", "best F1"], lines)


def main() -> None:
    """Run what is asked for and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = [*LANGUAGES, *RECIPE_TESTS]
    parser.add_argument("--languages", nargs="+", default=list(LANGUAGES), choices=known, help="es, fr: bundled")
    parser.add_argument("--encoders", nargs="+", default=[ALIGNMENT_ENCODER], help="of `bundled`: names or folders")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--parts", nargs="+", default=["pair", "all", "baselines"])
    parser.add_argument("--keep", action="store_true", help="keep the encoders, 400 MB each")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of everything that is computed")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for setup in ("pair", "all"):
        if setup in options.parts:
            rows += run_setup(setup, options.languages, options.seeds, options.output, options.keep)
    if "bundled" in options.parts:
        print_bundled(options.languages, options.encoders)
    if "baselines" in options.parts:
        rows += run_baselines(options.languages, options.output)
    if rows:
        print_results(rows)


if __name__ == "__main__":
    main()
