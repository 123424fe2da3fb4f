"""Decontamination: injected leaks that are found, false alarms, speed; and what the bundled models saw of each test.

    PARALOOM_DATA=… python benchmarks/decontamination.py leaks
    PARALOOM_DATA=… python benchmarks/decontamination.py speed --rows 10000000
    PARALOOM_DATA=… PAIRS=build/paraphrase-pairs python benchmarks/decontamination.py models --record
    PARALOOM_DATA=… python benchmarks/decontamination.py means --teacher /path/to/all-MiniLM-L6-v2

`leaks`: sentences of eight words or more of three tests (news of 2019, captions, questions), 2,000 of each with
replacement, written as training text would have them: as they are, in capitals, within a longer line, with two letters
swapped, a word dropped, a word replaced by another sentence's. False: lines of 2013 and earlier that are flagged
against news of 2019, which they cannot hold. The similarity was chosen on news of 2020 and 2021, STS and 300,000
other lines. Beside it the obvious: equal strings, equal but for case and punctuation, 13 words in a row.
`speed`: lines of 2013 and earlier, repeated to so many rows, with 500 such leaks of each kind and test at random rows,
against all tests, from file to file: processor seconds, memory, and which leaks are not among the rows that are kept.
`models`: the text files that the pipelines of the bundled models read, before any cleaning, against each test; of the
translators also those of examples/continued_pair.py.
`means`: STS of the bundled encoders with and without the subsets of which more than a fifth is near; and, where a
subset has a hundred of them, of the pairs neither text of which is near the text of `english`: 95 % intervals of the
difference, by a bootstrap over the pairs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import resource
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paraloom.api.decontamination import decontaminate
from paraloom.api.rejected import rejected_file
from paraloom.core.array_types import Floats
from paraloom.core.batches import batched
from paraloom.core.stats import wilson_interval
from paraloom.embed.encoder import open_encoder
from paraloom.evaluate.resampling import percentile_interval, sample_counts
from paraloom.evaluate.sts import overlap_of, similarities
from paraloom.evaluate.sts_tasks import TASKS, YEARS, read_task
from paraloom.io import read_lines
from paraloom.pairs.filtering.held_out import HeldOut

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "examples"))
DATA = Path(os.environ.get("PARALOOM_DATA", ""))
BEFORE_2014 = ("forum.reddit-posts", "headlines.reddit-press", "questions.reddit-titles", "titles.reddit-other-links")
USED = 60_000
"""Lines of each file on which the similarity was chosen."""

JUDGE = (
    *(
        f"bitext/{name}"
        for name in ("tatoeba-2/es-en", "gnome-help/de-en", "debian-handbook/de-en", "python-docs/es-en")
    ),
    *(f"bitext/{name}" for name in ("opensource-guide/de-en", "privacyguides/fr-en", "rust-book/de-en", "ntrex/is-en")),
    *("bitext/europarl-sample/de-en", "simplewiki/kauchak-v2-dev.normal-simple", "paraphrase/tatoeba-pivot/pairs"),
    *(f"paraphrase/bible-verses/{name}" for name in ("BSB", "WEB", "OEB", "BBE", "UST", "OET-RV")),
    *(f"paraphrase/{name}" for name in ("coco-captions-val/captions", "onestopenglish/pairs", "paws-wiki/dev")),
    *("paraphrase/wiki-split/tune+validation", "paraphrase/text2sql/questions"),
)
"""What examples/judge.py reads, .tsv.gz."""

MODELS = {
    "english": "bundled-encoder",
    "english-small": "bundled-encoder",
    "multilingual": "bundled-multilingual",
    "de-en": "bundled-de-en continued_pair",
    "en-de": "bundled-en-de continued_pair",
    "english-paraphraser": "bundled-paraphraser continued-paraphraser",
    "english-judge": "",
}
NEAR_SUBSETS = ("2015/answers-students", "2013/OnWN", "2014/OnWN", "2012/OnWN")
"""Subsets of STS of which most is near the text of `english`, from most to least."""

MIN_PAIRS = 100
"""Pairs that are not near, from which on a subset is measured on them."""

CONTINUED, ENGLISH_ROWS = "continued_pair", 100_000
"""examples/continued_pair.py, and the rows of each of its English files that it draws from."""

TESTS = {
    **{
        f"STS {path.parent.name} {path.name.removesuffix('.test.tsv')}": path
        for path in sorted((DATA / "sts").glob("201*/*.test.tsv"))
    },
    "STS-B dev": DATA / "sts/stsbenchmark/sts-dev.tsv",
    "SICK test": DATA / "sts/sick2014/SICK.test.tsv",
    "PIT test": DATA / "sts/pit2015/pit2015.test.tsv",
    "MRPC test": DATA / "paraphrase/mrpc/msr_paraphrase_test.tsv",
    "Quora test": DATA / "paraphrase/quora-50k/test.tsv.gz",
    "Twitter-URL test": DATA / "paraphrase/twitter-url/test.votes.tsv.gz",
    "PAWS-Wiki test": DATA / "paraphrase/paws-wiki/test.half1.tsv.gz",
    "Multi30k 2016, English": DATA / "bitext/multi30k/task1/test_2016_flickr.en.gz",
    "Multi30k 2016, German": DATA / "bitext/multi30k/task1/test_2016_flickr.de.gz",
    "NTREX de-en": DATA / "bitext/ntrex/de-en.tsv.gz",
    "TREC test": DATA / "classification/trec/test.tsv",
    "SST-2 test": DATA / "classification/sst2/test.tsv.gz",
    "SST-5 test": DATA / "classification/sst5/test.tsv.gz",
    "MR, all": DATA / "classification/mr/all.tsv.gz",
    "SUBJ, all": DATA / "classification/subj/all.tsv.gz",
    "MPQA, all": DATA / "classification/mpqa/all.tsv.gz",
    "irony test": DATA / "classification/tweeteval-irony/test.tsv.gz",
    "offensive test": DATA / "classification/tweeteval-offensive/test.tsv.gz",
    **{f"NTREX {one}-en": DATA / f"bitext/ntrex/{one}-en.tsv.gz" for one in ("es", "fr", "cs", "tr", "ko", "is")},
}


def lines(name: str, start: int = 0, stop: int | None = None) -> Iterator[str]:
    """Lines of a file of English sentences."""
    return itertools.islice(read_lines(DATA / f"sentences-en/{name}.txt.xz"), start, stop)


def changes(others: list[list[str]], draw: random.Random) -> dict[str, Callable[[list[str]], list[str]]]:
    """The ways in which a test sentence gets into training text."""

    def swapped(words: list[str]) -> list[str]:
        at = draw.choice([k for k, word in enumerate(words) if len(word) > 1])
        cut = draw.randrange(len(words[at]) - 1)
        word = words[at]
        return [*words[:at], word[:cut] + word[cut + 1] + word[cut] + word[cut + 2 :], *words[at + 1 :]]

    def dropped(words: list[str]) -> list[str]:
        at = draw.randrange(len(words))
        return words[:at] + words[at + 1 :]

    def replaced(words: list[str]) -> list[str]:
        at = draw.randrange(len(words))
        return [*words[:at], draw.choice(draw.choice(others)), *words[at + 1 :]]

    return {
        "as it is": lambda words: words,
        "in capitals": lambda words: [*(word.upper() for word in words), "!"],
        "within a longer line": lambda words: [*draw.choice(others)[:12], *words, *draw.choice(others)[:12]],
        "two letters swapped": swapped,
        "a word dropped": dropped,
        "a word replaced": replaced,
    }


def share(count: int, n: int, digits: int = 1) -> str:
    """Percent with a Wilson interval."""
    low, high = wilson_interval(count, n)
    return f"{100 * count / n:.{digits}f} [{100 * low:.{digits}f}, {100 * high:.{digits}f}]"


def leaking_tests() -> list[list[str]]:
    """Three tests: news of 2019, captions, questions."""
    return [
        [line.split("\t")[1] for line in read_lines(DATA / "bitext/ntrex/de-en.tsv.gz")],
        list(read_lines(TESTS["Multi30k 2016, English"])),
        [text for line in read_lines(TESTS["Quora test"]) for text in line.split("\t")[:2]],
    ]


def leaks_of(test: list[str], change: Callable[[list[str]], list[str]], count: int, draw: random.Random) -> list[str]:
    """Sentences of eight words or more of a test, as training text has them after a change."""
    long = [words for words in map(str.split, test) if len(words) >= 8]
    return [" ".join(change(draw.choice(long))) for _ in range(count)]


def measure_leaks(count: int = 2000) -> None:
    """Found and false, by kind of leak."""
    draw = random.Random(1)
    tests = leaking_tests()
    news = tests[0]
    train = [line for name in BEFORE_2014 for line in lines(name, USED, USED + 250_000)]
    print(f"{len(train):,} lines; tests: {' '.join(f'{len(test):,}' for test in tests)}")
    others = [line.split() for line in train[:20_000] if line.split()]
    print("| leak | equal strings | equal but for case | 13 words in a row | **all levels** |")
    for kind, change in changes(others, draw).items():
        counts = np.zeros(4, int)
        for test in tests:
            index = HeldOut([test])
            leaked = leaks_of(test, change, count, draw)
            level = index.find(leaked)
            thirteen = np.array([words >= 13 for words in (len(text.split()) for text in leaked)])
            shares = (level == 1) & thirteen | (level == 2)
            known = set(test)
            counts += [sum(text in known for text in leaked), (level == 1).sum(), shares.sum(), (level > 0).sum()]
        print("|", kind, "|", " | ".join(share(int(one), 3 * count) for one in counts), "|", flush=True)
    index = HeldOut([news])
    levels = np.concatenate([index.find(train[k : k + 10_000]) for k in range(0, len(train), 10_000)])
    known = set(news)
    of = [sum(text in known for text in train), (levels == 1).sum(), (levels == 2).sum(), (levels > 0).sum()]
    print("| false |", " | ".join(share(int(one), len(train), 4) for one in of), "|")
    for row in np.flatnonzero(levels)[:20]:
        print("   ", levels[row], train[row][:150])


def measure_speed(rows: int, count: int = 500) -> None:
    """Rows a second of `decontaminate`, from file to file, against all tests; leaks among them that are found."""
    draw = random.Random(2)
    others = [line.split() for line in lines(BEFORE_2014[0], 0, 20_000)]
    leaks = [
        (kind, text)
        for kind, change in changes(others, draw).items()
        for test in leaking_tests()
        for text in leaks_of(test, change, count, draw)
    ]
    at = dict(zip(draw.sample(range(1, rows + 1), len(leaks)), leaks, strict=True))
    with tempfile.TemporaryDirectory() as folder:
        train, clean = Path(folder) / "train.txt", Path(folder) / "clean.txt"
        texts = itertools.islice(itertools.cycle(line for name in BEFORE_2014 for line in lines(name)), rows)
        with train.open("w", encoding="utf-8") as stream:
            stream.writelines(f"{at[row][1] if row in at else text}\n" for row, text in enumerate(texts, 1))
        megabytes = train.stat().st_size / 1e6
        decontaminate(TESTS["TREC test"], TESTS["TREC test"])  # compiles
        clock, processor, before = time.perf_counter(), time.process_time(), peak_megabytes()
        result = decontaminate(train, list(TESTS.values()), clean)
        seconds, processor = time.perf_counter() - clock, time.process_time() - processor
        memory = peak_megabytes()
        rejected = {json.loads(line)["row"] for line in read_lines(rejected_file(clean))}
    tests = sum(of.texts for of in result.tests)
    print(f"{rows:,} rows, {megabytes:,.0f} MB, against {tests:,} test texts: {seconds:.1f} s")
    print(f"processor {processor:.1f} s, {rows / processor:,.0f} rows per second of it; two: {processor / 2:.0f} s")
    print(f"memory at most {memory:,.0f} MB, {before:,.0f} before; {len(rejected):,} rows are near to a test")
    for kind in dict.fromkeys(kind for kind, _ in leaks):
        of_kind = [row for row, leak in at.items() if leak[0] == kind]
        print("|", kind, "|", share(sum(row in rejected for row in of_kind), len(of_kind)), "|")
    print("| all |", share(sum(row in rejected for row in at), len(at)), "|")


def peak_megabytes() -> float:
    """Resident memory of this process at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def training_text(example: str) -> Iterator[str]:
    """The text that a pipeline reads, but for its tests and the sample."""
    if not example:
        for name in JUDGE:
            yield from read_lines(DATA / f"{name}.tsv.gz")
        return
    examples = example.split()
    if CONTINUED in examples:
        examples.remove(CONTINUED)
        yield from continued_text()
    pipelines = (tomllib.loads((ROOT / f"examples/{one}.toml").read_text(encoding="utf-8")) for one in examples)
    for stage in (stage for pipeline in pipelines for stage in pipeline["stage"]):
        if stage["name"] == "sample" or "test" in stage["name"]:
            continue
        files = [stage["source"]] if stage["use"] == "read-pairs" else stage.get("text_files", [])
        for file in files:
            name = file.replace("${PARALOOM_DATA}", str(DATA)).replace("${PAIRS}", os.environ.get("PAIRS", ""))
            start, _, rest = name.partition("{")
            sides, _, end = rest.partition("}")
            for side in sides.split(","):
                yield from itertools.islice(read_lines(f"{start}{side}{end}"), stage.get("limit") or None)


def translation_tests(folder: Path) -> dict[str, Path]:
    """Pairs that the translators are measured on, a file each, as `evaluate translator` reads them."""
    from continued_pair import WIDE

    files = {}
    for name, (file, keys) in WIDE.items():
        if name.endswith("-test"):
            start, _, rest = str(DATA / file).partition("{")
            sides, _, end = rest.partition("}")
            rows = zip(*(read_lines(f"{start}{side}{end}") for side in sides.split(",")), strict=True)
            of_name = folder / f"{name}.de-en.tsv"
            pairs = itertools.islice(rows, keys.get("limit"))
            of_name.write_text("".join("\t".join(row) + "\n" for row in pairs), encoding="utf-8")
            files[f"{name.removesuffix('-test')}, de-en"] = of_name
    return files


def continued_text() -> Iterator[str]:
    """Bitext that the continued translators read, and English that they learn translations of."""
    from continued_pair import ENGLISH, HANDBOOKS, LISTS, PAIRS

    for name in HANDBOOKS:  # the other bitext is that of the pipelines
        yield from read_lines(DATA / PAIRS[name][0])
    for files, *_ in ENGLISH.values():
        for file in files:
            yield from itertools.islice(read_lines(DATA / (file if "/" in file else LISTS.format(file))), ENGLISH_ROWS)


def measure_models(models: list[str], *, record: bool) -> dict[str, dict[str, float]]:
    """The share of each test that is near the training text of each model, in percent."""
    shares: dict[str, dict[str, float]] = {}
    decontaminate(TESTS["TREC test"], TESTS["TREC test"])  # compiles
    with tempfile.TemporaryDirectory() as folder:
        tests = {**TESTS, **translation_tests(Path(folder))}
        for model in models:
            example = MODELS[model]
            train = Path(folder) / f"{example or model}.tsv"
            seen = train.with_suffix(".txt")
            if not seen.exists():
                fields = (field for line in training_text(example) for field in line.split("\t"))
                seen.write_text("".join(f"{field}\n" for field in fields), encoding="utf-8")
            of_model = ROOT / "src/paraloom/bundled" / model
            processor = time.process_time()
            result = decontaminate(seen, list(tests.values()), model=of_model if record else None)
            shares[model] = {name: 100 * of.total / of.texts for name, of in zip(tests, result.tests, strict=True)}
            print(model, f"{result.training.texts:,} texts", json.dumps(result.training.near), end=" ")
            print(f"{result.training.texts / (time.process_time() - processor):,.0f} per processor second", flush=True)
            for name, of in zip(tests, result.tests, strict=True):
                print(f"    {name}: {of.total} of {of.texts} {json.dumps(of.near)}", flush=True)
    print("| test |", " | ".join(models), "|")
    for name in tests:
        print("|", name, "|", " | ".join(f"{shares[model][name]:.1f}" for model in models), "|")
    return shares


def measure_means(teacher: list[str]) -> None:
    """Means of Pearson × 100 over the years: of all subsets, of some, and of pairs that are not near."""
    of_all = {task: read_task(DATA / "sts", task) for task in TASKS if task.default and not task.optional}
    tests = {task.name: pairs for task, pairs in of_all.items() if task.group in YEARS}
    index = HeldOut([[*pairs.first, *pairs.second] for pairs in tests.values()])
    fields = (field for line in training_text(MODELS["english"]) for field in line.split("\t"))
    for batch in batched(fields, 10_000):
        index.find(list(batch))
    encoders = {name: open_encoder(name) for name in ("english", "english-small", "multilingual", *teacher)}
    encoders["overlap"] = overlap_of(of_all.values())
    whole: dict[str, dict[str, Floats]] = {system: {} for system in encoders}
    far: dict[str, dict[str, Floats]] = {system: {} for system in encoders}
    for name, pairs in tests.items():
        away = (index.met(list(pairs.first)) == 0) & (index.met(list(pairs.second)) == 0)
        drawn = np.vstack([np.ones(len(away)), sample_counts(len(away))])
        print(f"{name}: {away.sum()} of {len(away)} pairs are not near", flush=True)
        for system, encoder in encoders.items():
            cosines = similarities(encoder, pairs.first, pairs.second)
            whole[system][name] = weighted_pearson(drawn, pairs.scores, cosines)
            if away.sum() >= MIN_PAIRS:
                far[system][name] = weighted_pearson(drawn * away, pairs.scores, cosines)

    def mean(figures: dict[str, Floats], names: Iterable[str]) -> Floats:
        years = [[figures[name] for name in names if name[:4] == year] for year in YEARS]
        result: Floats = np.mean([np.mean(of_year, axis=0) for of_year in years], axis=0)
        return result

    for system in encoders:
        kept = list(far[system])
        same, clean = mean(whole[system], kept), mean(far[system], kept)
        means = [mean(whole[system], list(tests)), mean(whole[system], set(tests) - set(NEAR_SUBSETS)), same, clean]
        low, high = percentile_interval((clean - same)[1:])
        print("|", system, "|", " | ".join(f"{of[0]:.1f}" for of in means), end=" | ")
        print(f"{clean[0] - same[0]:.1f} [{low:.1f}, {high:.1f}] |", flush=True)


def weighted_pearson(weights: Floats, x: npt.ArrayLike, y: npt.ArrayLike) -> Floats:
    """Pearson × 100 of pairs that count as often as each row of weights says."""
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    of_x, of_y, xx, yy, xy = (weights @ np.stack([x, y, x * x, y * y, x * y], 1) / weights.sum(1, keepdims=True)).T
    result: Floats = 100 * (xy - of_x * of_y) / np.sqrt((xx - of_x**2) * (yy - of_y**2))
    return result


def main() -> None:
    """Measure one part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["leaks", "speed", "models", "means"])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--record", action="store_true", help="write contamination.json beside the bundled models")
    parser.add_argument("--teacher", nargs="*", default=[], help="a folder of sentence-transformers, for means")
    options = parser.parse_args()
    if options.part == "leaks":
        measure_leaks()
    elif options.part == "speed":
        measure_speed(options.rows)
    elif options.part == "models":
        measure_models(options.models, record=options.record)
    else:
        measure_means(options.teacher)


if __name__ == "__main__":
    main()
