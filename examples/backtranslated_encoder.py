"""What do encoders learn from our own back-translations alone?

    PARALOOM_DATA=/path/to/corpora python examples/backtranslated_encoder.py -o runs/backtranslated-encoder

The bundled translator puts the German sides of captions, everyday sentences, talks, news and Europarl into English by
sampling, captions twice. Pairs that cost it more than 0.9 nats per subword, copies, and pairs with a sentence of a test
are left out. The words, and the frequencies that damp them, are those of free English text, and the same for all rows:
*untrained* are random vectors of them, and *words by their company* have those of their co-occurrences in that text for
half. From these an encoder learns from the pairs, and from them with two copies of each in which words that both sides
share are missing, each with a probability of .5: what is left says more of the words that differ. *As many steps* are
three passes over the pairs alone, and *wrong pairs* references with the translation of another one.

Printed: Pearson × 100 on the test tasks, mean over the subsets of each year of STS 2012 to 2015, of three seeds;
then the difference from *untrained* by task.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from statistics import fmean

import numpy as np
import pyarrow as pa
from word_vectors import CHUNK, cooccurrences, mutual_information, reduced

from paraloom import Pipeline
from paraloom.core.array_types import Float32s, Floats
from paraloom.core.protocols import EncoderLike
from paraloom.core.seeds import generator
from paraloom.core.stage import Stage
from paraloom.embed.average import Average, SentenceEncoder
from paraloom.embed.config import EncoderConfig
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import load_encoder, save_encoder
from paraloom.embed.training import train_encoder
from paraloom.embed.vocabulary import UNITS, CountedVocabulary, Vocabulary, VocabularyCounter
from paraloom.evaluate.resampling import pearson
from paraloom.evaluate.sts import STSPairs, System, overlap_of, similarities
from paraloom.evaluate.sts_tasks import find_tasks, read_task
from paraloom.io import Corpus, read_lines
from paraloom.stages import BackTranslate, Filter, ReadPairs
from paraloom.text.tokens import words

Pairs = list[tuple[str, str]]

BITEXT: dict[str, tuple[str, int, int, int]] = {
    "captions": ("multi30k/task1/train.{de,en}.gz", 0, 0, 1),
    "captions2": ("multi30k/task1/train.{de,en}.gz", 0, 0, 2),
    "tatoeba": ("tatoeba/de-en.tsv.gz", 0, 40_000, 1),
    "ted": ("ted-sample/de-en.tsv.gz", 0, 0, 1),
    "news": ("wmt-news/de-en.tsv.gz", 3003, 7000, 1),
    "europarl": ("europarl-sample/de-en.tsv.gz", 0, 5000, 1),
}
"""Kind of text → its bitext, pairs to skip, how many of the others (0: all), and the seed of their translation."""

DECODE = "nucleus:0.9,within=20,shortlist=1"
LIKELY = "-logprob <= 0.9 * tokens and lower(src) <> lower(tgt)"
SEEDS = (1, 2, 3)
SIZES = (10_000, 30_000)
YEARS = ("2012", "2013", "2014", "2015")
SENTENCES_PER_FILE = 120_000
WORD_STD, TRIGRAM_STD, DAMPING, DIMENSION = 0.06, 0.2, 1000.0, 300
COMPANY, RARE = 200, 0.5
COPIES, DROPPED = 2, 0.5


def backtranslations(data: Path, output: Path) -> Pairs:
    """References with the translations that are `LIKELY`."""
    pairs: Pairs = []
    for kind, (file, skip, sample, seed) in BITEXT.items():
        source = data / "bitext" / file
        stages: list[Stage] = [
            ReadPairs(name=f"{kind}-read", source=source, origin=kind, skip=skip, src_lang="de", tgt_lang="en")
        ]
        if sample:
            stages.append(Filter(name=f"{kind}-sample", input=stages[0].name, sample=sample))
        stages.append(BackTranslate(name=kind, input=stages[-1].name, translator="de-en", decode=DECODE))
        stages.append(Filter(name=f"{kind}-likely", input=kind, where=LIKELY))
        result = Pipeline(stages, name="pairs", seed=seed).run(output / f"pairs-{kind}", workers=1)
        for batch in Corpus.open(result.stage(f"{kind}-likely").folder).batches(["src", "tgt"]):
            pairs += zip(*(batch.column(side).to_pylist() for side in ("src", "tgt")), strict=True)
    return pairs


def without_shared(pairs: Pairs, seed: int) -> Pairs:
    """The pairs without some of the words that both sides share; those of which nothing else is left are left out."""
    draw, left = generator(seed), []
    for pair in pairs:
        first, second = (words(side) for side in pair)
        missing = {word for word in sorted({*first} & {*second}) if draw.random() < DROPPED}
        sides = [[word for word in side if word not in missing] for side in (first, second)]
        if all(sides) and {*sides[0]} != {*sides[1]}:
            left.append((" ".join(sides[0]), " ".join(sides[1])))
    return left


def shuffled(pairs: Pairs, seed: int) -> Pairs:
    """Each reference with the translation of another one."""
    order = generator(seed).permutation(len(pairs)).tolist()
    return [(reference, pairs[other][1]) for (reference, _), other in zip(pairs, order, strict=True)]


def free_text(data: Path) -> Iterator[list[str]]:
    """Chunks of free English sentences; captions, which similarity tests are made of, are left out."""
    for path in sorted((data / "sentences-en").glob("*.txt.*")):
        lines = iter(() if path.name.startswith("captions") else islice(read_lines(path), SENTENCES_PER_FILE))
        while chunk := list(islice(lines, CHUNK)):
            yield chunk


def counted(unit: str, size: int, chunks: Iterator[list[str]]) -> CountedVocabulary:
    """The most frequent types of a text."""
    counter = VocabularyCounter(unit)
    for chunk in chunks:
        counter.count(chunk, UNITS[unit].split(chunk))
    return counter.most_common(size)


def random_start(vocabularies: dict[str, CountedVocabulary], seed: int) -> SentenceEncoder:
    """Random vectors, damped by frequency."""
    parts = {}
    for index, (unit, (vocabulary, _, frequencies)) in enumerate(vocabularies.items()):
        table = generator(seed, index).standard_normal((len(vocabulary), DIMENSION), np.float32)
        scales = (WORD_STD if unit == "word" else TRIGRAM_STD) / (1 + DAMPING * frequencies)
        parts[unit] = Average(vocabulary, table * scales.astype(np.float32)[:, None])
    return SentenceEncoder(parse_spec(",".join(parts)), parts)


def cooccurring(data: Path, words: Vocabulary, file: Path) -> Float32s:
    """Vectors of the words by their company in free text, float32 `(n, COMPANY)` of length 1; read if there."""
    if not file.exists():
        counts = cooccurrences(free_text(data), words)
        counts.data[counts.data < RARE] = 0
        counts.eliminate_zeros()
        np.save(file, reduced(mutual_information(counts), COMPANY))
    vectors: Float32s = np.load(file)
    return vectors


def company_start(random: SentenceEncoder, vectors: Float32s, frequencies: Floats) -> SentenceEncoder:
    """Half of each word's random vector, by squared length, replaced by that of its company, turned at random."""
    rotation, _ = np.linalg.qr(generator(0).standard_normal((DIMENSION, DIMENSION)))
    lengths = WORD_STD * DIMENSION**0.5 / (1 + DAMPING * frequencies)
    company = (vectors @ rotation[:COMPANY] * lengths[:, None]).astype(np.float32)
    word = random.parts["word"]
    table = np.float32(0.5**0.5) * (word.vectors + company)
    return SentenceEncoder(random.spec, {**random.parts, "word": Average(word.vocabulary, table)})


def trained(start: Path, pairs: Pairs, folder: Path, seed: int, epochs: int = 1) -> EncoderLike:
    """The encoder that learned from the pairs; one that is in the folder already is opened."""
    if not (folder / "config.json").exists():
        config = EncoderConfig(epochs=epochs, max_tokens=50)
        chunks = (pairs[first : first + 5000] for first in range(0, len(pairs), 5000))
        batches = (
            pa.RecordBatch.from_arrays([pa.array(side) for side in zip(*chunk, strict=True)], ["src", "tgt"])
            for chunk in chunks
        )
        train_encoder(batches, config, folder, seed=seed, init_from=start, threads=1)
    return load_encoder(folder)


def test_tasks(data: Path) -> dict[str, list[STSPairs]]:
    """The test tasks by year or name."""
    root, tasks, _ = find_tasks(data / "sts")
    groups: dict[str, list[STSPairs]] = {}
    for task in tasks:
        groups.setdefault(task.group, []).append(read_task(root, task))
    return groups


def untested(pairs: Pairs, tasks: dict[str, list[STSPairs]]) -> Pairs:
    """The pairs without a sentence of a test task, whatever its case, spaces and punctuation."""
    tested = {key(text) for group in tasks.values() for task in group for text in (*task.first, *task.second)}
    return [pair for pair in pairs if not tested & {key(side) for side in pair}]


def key(text: str) -> str:
    """Letters and digits of a sentence."""
    return "".join(character for character in text.lower() if character.isalnum())


def measure(system: System, tasks: dict[str, list[STSPairs]]) -> dict[str, float]:
    """Pearson × 100 of each task, the mean of each group, and of the years."""
    groups = {
        name: {
            task.task.name: 100 * pearson(task.scores, similarities(system, task.first, task.second)) for task in group
        }
        for name, group in tasks.items()
    }
    means = {name: fmean(group.values()) for name, group in groups.items()}
    of_tasks = {task: figure for group in groups.values() for task, figure in group.items()}
    return {**of_tasks, **means, "mean": fmean(means[year] for year in YEARS)}


def row(
    name: str,
    pairs: str,
    figures: Sequence[dict[str, float]],
    starts: Sequence[dict[str, float]],
    groups: Iterable[str],
) -> str:
    """A line of the table: means over the seeds; of the mean, and its difference from untrained, with the range."""
    means = [figure["mean"] for figure in figures]
    differences = [figure["mean"] - start["mean"] for figure, start in zip(figures, starts, strict=True)]
    others = " | ".join(f"{fmean(figure[group] for figure in figures):.1f}" for group in groups)
    spreads = f"{spread(means, '.2f')} | {spread(differences, '+.2f')}"
    return f"| {name} | {pairs} | {spreads} | {others} |"


def gains(figures: Sequence[dict[str, float]], starts: Sequence[dict[str, float]], names: Iterable[str]) -> str:
    """Mean difference from untrained of each task, the highest first."""
    of = {name: fmean(now[name] - start[name] for now, start in zip(figures, starts, strict=True)) for name in names}
    return ", ".join(f"{name} {of[name]:+.1f}" for name in sorted(of, key=lambda name: -of[name]))


def spread(values: Sequence[float], form: str) -> str:
    """Mean, lowest and highest."""
    if len(values) == 1:
        return f"{values[0]:{form}}"
    return f"{fmean(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def trainings(pairs: Pairs) -> dict[str, tuple[str, Callable[[int], Pairs], int]]:
    """Name → what a training starts from, the pairs that a seed learns from, and the epochs."""

    def copied(seed: int) -> Pairs:
        return with_copies(pairs, seed)

    return {
        **{
            f"back-translations, {size:,}": ("start", lambda seed, size=size: sample(pairs, size, seed), 1)
            for size in SIZES
        },
        "back-translations": ("start", lambda seed: pairs, 1),
        "back-translations, and copies without some shared words": ("start", copied, 1),
        "the same, from words by their company": ("company", copied, 1),
        "back-translations, as many steps": ("start", lambda seed: pairs, 1 + COPIES),
        "wrong pairs": ("start", lambda seed: shuffled(pairs, seed), 1),
    }


def with_copies(pairs: Pairs, seed: int) -> Pairs:
    """The pairs, and `COPIES` of them without some of the words that both sides share."""
    copies = [without_shared(pairs, COPIES * seed + number) for number in range(COPIES)]
    return [*pairs, *(pair for copy in copies for pair in copy)]


def sample(pairs: Pairs, size: int, seed: int) -> Pairs:
    """Some of the pairs."""
    return [pairs[index] for index in generator(seed).permutation(len(pairs))[:size].tolist()]


def main() -> None:
    """Translate, train, measure, and print a line of the table after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("PARALOOM_DATA"), help="the data folder")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/backtranslated-encoder"), help="run folder")
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data, or set PARALOOM_DATA")
    data, output = Path(options.data), options.output
    tasks = test_tasks(data)
    translated = backtranslations(data, output)
    pairs = untested(translated, tasks)
    print(f"{len(pairs):,} pairs; {len(translated) - len(pairs):,} others have a sentence of a test\n")
    sides = [side for pair in pairs for side in pair]
    vocabularies = {
        "word": counted("word", 50_000, free_text(data)),
        "trigram": counted("trigram", 30_000, iter([sides])),
    }
    untrained: dict[str, list[dict[str, float]]] = {"start": [], "company": []}
    vectors = cooccurring(data, vocabularies["word"].vocabulary, output / "company.npy")
    for seed in SEEDS:
        random = random_start(vocabularies, seed)
        company = company_start(random, vectors, vocabularies["word"].frequencies)
        for name, start in (("start", random), ("company", company)):
            save_encoder(start, output / f"{name}-{seed}", {})
            untrained[name].append(measure(start, tasks))
    of_nothing = untrained["start"]
    names = [task.task.name for group in tasks.values() for task in group]
    by_task: list[str] = []
    print(f"| trained on | pairs | mean | difference | {' | '.join(tasks)} |\n| --- |{' ---: |' * (len(tasks) + 3)}")
    overlap = measure(overlap_of([task for group in tasks.values() for task in group]), tasks)
    mean_start = {"mean": fmean(figure["mean"] for figure in of_nothing)}
    print(row("*overlap*", "", [overlap], [mean_start], tasks))
    print(row("*nothing: untrained*", "", of_nothing, of_nothing, tasks))
    print(row("*words by their company, untrained*", "", untrained["company"], of_nothing, tasks), flush=True)
    for number, (name, (kind, chosen, epochs)) in enumerate(trainings(pairs).items()):
        figures = []
        for seed in SEEDS:
            used, folder = chosen(seed), output / f"encoder-{number}-{seed}"
            figures.append(measure(trained(output / f"{kind}-{seed}", used, folder, seed, epochs), tasks))
        print(row(name, f"{len(used):,}", figures, of_nothing, tasks), flush=True)
        by_task.append(f"{name}: {gains(figures, of_nothing, names)}")
    print("", "Differences from untrained by task", *by_task, sep="\n")


if __name__ == "__main__":
    main()
