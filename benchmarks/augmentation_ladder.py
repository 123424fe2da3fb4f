"""Does back-translation help, and which kind? A ladder of parallel text, monolingual text and decodings.

    python benchmarks/augmentation_ladder.py -o runs/ladder --pairs 10000 --multiples 0 3 --seeds 1 2 3
    python benchmarks/augmentation_ladder.py -o runs/ladder --text tatoeba-captions --pairs 150000 --multiples 0.2 \\
        --back en-de

For each number of parallel pairs a back-translator is trained on them (or `--back` names one), and it translates so
many times as much monolingual text of the target language by each method.  Translators are then trained on the
parallel pairs alone (multiple 0) and with each method's pairs: all for the same number of updates, with one vocabulary,
half of the text parallel; from scratch, or continued from a translator trained on the parallel pairs.  BLEU and chrF on
the test have 95 % intervals of 1,000 bootstrap samples; differences from parallel text alone are paired by sentence.

Texts: `captions` (Multi30k; monolingual: the five English descriptions of each image), `tatoeba`, and
`tatoeba-captions`, whose parallel text is Tatoeba, and whose monolingual text, development pairs and test are captions.
Each training leaves a JSON in the folder; a run that was cut resumes, and one with further methods adds to it.  Several
processes share the work, on one GPU or several:

    ladder="python benchmarks/augmentation_ladder.py -o runs/ladder --device cuda"
    $ladder --back-only  # and the variants of each method, for `paraloom research diversity`
    for part in 1/4 2/4 3/4 4/4; do $ladder --part $part & done; wait; $ladder
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, combinations, islice, product
from pathlib import Path
from statistics import fmean
from typing import Any

from paraloom.core.protocols import Variant
from paraloom.core.seeds import generator
from paraloom.evaluate.translation import evaluate_translation
from paraloom.io.atomic import atomic_write
from paraloom.mt import Translator, TranslatorConfig
from paraloom.mt.checkpoint import CHECKPOINT
from paraloom.mt.data import SentencePairs, mixture_sizes, repeat_to
from paraloom.mt.decoding import describe_decoding, parse_decoding
from paraloom.mt.presets import METHODS, method
from paraloom.mt.streams import CHUNK, translate_stream
from paraloom.mt.subwords import train_subwords
from paraloom.mt.training import train_translator
from paraloom.pairs.filtering.held_out import HeldOut, is_held_out
from paraloom.papers.bbh22.productions import root_productions
from paraloom.papers.bbh22.syntax_groups import choose_groups
from paraloom.papers.bbh22.translator_comparison import compare_translators
from paraloom.syntax.parsers.loading import load_parser

Pairs = list[tuple[str, str]]

ALONE = "parallel text alone"
TAG = "<BT>"
TEXTS = ("captions", "tatoeba", "tatoeba-captions")
TUNING = {"muon_learning_rate": 0.004, "adam_learning_rate": 0.001, "warmup_steps": 20, "keep_last": True}
"""Of a back-translator on a syntax group: chosen by development pairs, the least tuned one would be kept."""

BLOCK = 5 * CHUNK
"""Sentences that are translated between two writes."""


@dataclass(frozen=True)
class Texts:
    """What a ladder reads: pairs in a random order, sentences to translate back, development and test pairs."""

    parallel: Pairs
    monolingual: list[str]
    development: Pairs
    test: Pairs


@dataclass(frozen=True)
class Cell:
    """One training: how much text, by which method, and how it is used."""

    pairs: int
    multiple: float
    method: str
    tag: str
    start: str
    seed: int

    @property
    def name(self) -> str:
        """Of its files."""
        return "-".join(str(value).replace(" ", "_") for value in asdict(self).values())

    @property
    def row(self) -> tuple[Any, ...]:
        """What distinguishes the rows of the table: all but the seed."""
        return self.pairs, self.multiple, self.method, self.tag, self.start


def lines(path: Path) -> list[str]:
    """The lines of a compressed file."""
    return gzip.decompress(path.read_bytes()).decode().removesuffix("\n").split("\n")


def captions(part: str, source: str, data: Path) -> Pairs:
    """Captions and their English originals."""
    folder = data / "bitext/multi30k/task1"
    return list(zip(*(lines(folder / f"{part}.{language}.gz") for language in (source, "en")), strict=True))


def descriptions(data: Path) -> list[str]:
    """The five English descriptions of each training image, first those that are first."""
    return [text for number in range(1, 6) for text in lines(data / f"bitext/multi30k/task2/train.{number}.en.gz")]


def tatoeba(source: str, data: Path, held_out_share: float) -> tuple[Pairs, Pairs]:
    """Pairs to train on, and those held out by their English side."""
    table = [row.split("\t") for row in lines(data / f"bitext/tatoeba/{source}-en.tsv.gz")]
    rows = [(row[0], row[1]) for row in table]
    held = [is_held_out(target, held_out_share) for _, target in rows]
    split = [[row for row, out in zip(rows, held, strict=True) if out is which] for which in (False, True)]
    return split[0], split[1]


def read_texts(
    name: str, source: str, data: Path, *, from_english: bool = False, held_out_share: float = 0.007
) -> Texts:
    """The text of that name; the order of pairs and sentences is random, but always the same.

    With `from_english`, English is the source language of the translators, and the monolingual text is not English.
    """
    pairs, held_out = (
        tatoeba(source, data, held_out_share) if name != "captions" else (captions("train", source, data), [])
    )
    if name == "tatoeba":
        tests = held_out[::2], held_out[1::2]
    else:
        tests = captions("val", source, data), captions("test_2016_flickr", source, data)
    held = [HeldOut([[pair[side] for test in tests for pair in test]], equal_only=True) for side in (0, 1)]
    known = [held[side].find([pair[side] for pair in pairs]) > 0 for side in (0, 1)]
    parallel = shuffled([pair for pair, out in zip(pairs, known[0] | known[1], strict=True) if not out])
    if from_english:
        parallel, tests = swapped(parallel), (swapped(tests[0]), swapped(tests[1]))
    # Tatoeba's monolingual text is what the parallel text does not use, so it begins at the end.
    unused = list(dict.fromkeys(target for _, target in reversed(parallel)))
    monolingual = unused if name == "tatoeba" else shuffled(descriptions(data))
    return Texts(parallel, monolingual, *tests)


def swapped(pairs: Pairs) -> Pairs:
    """Each pair with its sides exchanged."""
    return [(target, source) for source, target in pairs]


def shuffled(items: Sequence[Any]) -> list[Any]:
    """Items in another order, each once."""
    distinct = list(dict.fromkeys(items))
    return [distinct[index] for index in generator(1).permutation(len(distinct))]


class Ladder:
    """The texts of a ladder, and a folder with everything that was trained or translated so far."""

    def __init__(self, texts: Texts, settings: argparse.Namespace) -> None:
        self.texts, self.settings, self.folder = texts, settings, settings.output
        self.decodings = {name: method(name, settings.outputs).decoding for name in METHODS}
        self.decodings |= {name: parse_decoding(text) for name, _, text in map(split_name, settings.decode)}

    def cells(self) -> list[Cell]:
        """All trainings, in the order that gives one seed of everything first."""
        settings = self.settings
        cells = []
        for seed, pairs, start in product(settings.seeds, settings.pairs, settings.starts):
            cells.append(Cell(pairs, 0, ALONE, "plain", start, seed))
            added = product([m for m in settings.multiples if m], settings.methods, settings.tags)
            cells += [Cell(pairs, multiple, name, tag, start, seed) for multiple, name, tag in added]
        return cells

    def result(self, cell: Cell) -> dict[str, Any] | None:
        """The figures of a training, None before it ended."""
        path = self.folder / "results" / f"{cell.name}.json"
        figures: dict[str, Any] | None = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
        return figures

    def train(self, cell: Cell) -> dict[str, Any]:
        """Train, translate the test, and keep the figures."""
        parallel = self.texts.parallel[: cell.pairs]
        bitexts = [parallel, self.synthetic(cell)] if cell.multiple else [parallel]
        folder = self.folder / "translators" / cell.name
        first = self._first(cell) if cell.start == "continued" else None
        figures = self._train(bitexts, folder, cell.seed, self.settings.steps, init_from=first)
        hypotheses = self._best(folder, [source for source, _ in self.texts.test])
        scores = evaluate_translation(hypotheses, [target for _, target in self.texts.test]).to_dict()
        result = {**figures, **scores, **asdict(cell), "synthetic": len(bitexts[-1]) if cell.multiple else 0}
        write_json(self.folder / "results" / f"{cell.name}.json", result | {"hypotheses": hypotheses})
        return result

    def back_translator(self, pairs: int) -> tuple[Path, dict[str, Any]]:
        """The back-translator of so many pairs, and its scores on the reversed test."""
        path = self.folder / "back" / str(pairs)
        folder = Translator.load(self.settings.back).folder if self.settings.back else path / "translator"
        if not (path / "scores.json").is_file():
            figures: dict[str, Any] = {}
            if not self.settings.back:
                reversed_pairs, development = swapped(self.texts.parallel[:pairs]), swapped(self.texts.development)
                figures = self._train([reversed_pairs], folder, 1, self.settings.back_steps, development=development)
            hypotheses = self._best(folder, [target for _, target in self.texts.test])
            scores = evaluate_translation(hypotheses, [source for source, _ in self.texts.test]).to_dict()
            write_json(path / "scores.json", figures | scores)
        scores = json.loads((path / "scores.json").read_text(encoding="utf-8"))
        return folder, scores

    def synthetic(self, cell: Cell) -> Pairs:
        """Pairs of back-translations and the sentences that they translate, without useless ones."""
        held = HeldOut([[source for source, _ in [*self.texts.test, *self.texts.development]]], equal_only=True)
        rows = [(text, target) for target, group in self.back_translations(cell) for text in group if text]
        repeated = held.find([text for text, _ in rows]) > 0
        tag = f"{TAG} " if cell.tag == "tagged" else ""
        return [(tag + text, target) for (text, target), known in zip(rows, repeated, strict=True) if not known]

    def back_translations(self, cell: Cell) -> list[tuple[str, list[str]]]:
        """Each sentence of the monolingual text with its back-translations."""
        folders = [self.back_translator(cell.pairs)[0]]
        if cell.method == "syntax":
            folders = self._group_translators(cell.pairs, folders[0])
        count = round(cell.pairs * cell.multiple)
        sentences = self._monolingual(cell.pairs)[:count]
        if len(sentences) < count:
            raise SystemExit(f"only {len(sentences):,} sentences of monolingual text, {count:,} wanted")
        by_translator = [self._variants(cell, folder, sentences) for folder in folders]
        groups = [list(chain(*of_sentence)) for of_sentence in zip(*by_translator, strict=True)]
        return list(zip(sentences, groups, strict=True))

    def _group_translators(self, pairs: int, back: Path) -> list[Path]:
        """The back-translator, tuned on each of the largest syntax groups of its English sentences (BBH22 §2.1)."""
        settings = self.settings
        folders = [self.folder / "back" / str(pairs) / f"group-{number + 1}" for number in range(settings.outputs)]
        if all((folder / "training.json").is_file() for folder in folders):
            return folders
        parallel = self.texts.parallel[:pairs]
        productions = root_productions(load_parser(settings.parser).parse([english for english, _ in parallel]))
        groups = choose_groups(Counter(filter(None, productions)), settings.outputs, settings.group_rows)
        development = swapped(self.texts.development)
        for group, folder in zip(groups, folders, strict=True):
            print(f"syntax group of {pairs:,} pairs: {group.name}, {group.rows:,}", flush=True)
            own = [
                (target, source)
                for (source, target), production in zip(parallel, productions, strict=True)
                if production in group.productions
            ]
            steps = settings.group_steps
            self._train([own], folder, 1, steps, development=development, init_from=back, **TUNING)
        return folders

    def _monolingual(self, pairs: int) -> list[str]:
        """Sentences that are neither in the parallel text nor in the tests."""
        known = [*self.texts.parallel[:pairs], *self.texts.development, *self.texts.test]
        held = HeldOut([[target for _, target in known]], equal_only=True)
        texts = self.texts.monolingual
        return [text for text, out in zip(texts, held.find(texts) > 0, strict=True) if not out]

    def _variants(self, cell: Cell, folder: Path, sentences: list[str]) -> list[list[str]]:
        """Back-translations of sentences; those of fewer sentences are a part of those of more."""
        name = folder.name if cell.method == "syntax" else cell.method
        path = self.folder / "back" / str(cell.pairs) / f"{name}.jsonl"
        done = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []
        if len(done) < len(sentences):
            translator = Translator(folder, self.decodings[cell.method], check_costs=False)
            for start in range(len(done), len(sentences), BLOCK):
                block = sentences[start : start + BLOCK]
                groups = self._translated(translator, block, seed=start + 1)
                done += [[variant.text for variant in group if not variant.cut] for group in groups]
                with atomic_write(path) as temporary:
                    temporary.write_text("".join(json.dumps(group) + "\n" for group in done), encoding="utf-8")
        return done[: len(sentences)]

    def _first(self, cell: Cell) -> Path:
        """The translator that all methods of a seed continue from."""
        seed = 1 if self.settings.one_first else cell.seed
        folder: Path = self.folder / "first" / f"{cell.pairs}-{seed}"
        if not (folder / "training.json").is_file():
            self._train([self.texts.parallel[: cell.pairs]], folder, seed, self.settings.first_steps)
        return folder

    def _train(
        self,
        bitexts: Sequence[Pairs],
        folder: Path,
        seed: int,
        steps: int,
        *,
        development: Pairs | None = None,
        init_from: Path | None = None,
        **tuning: Any,
    ) -> dict[str, Any]:
        """Train a translator on bitexts in equal shares; `tuning` are further fields of its configuration."""
        settings = self.settings
        config = TranslatorConfig(
            vocab_size=settings.vocab_size,
            d_model=settings.d_model,
            ffn_dim=2 * settings.d_model,
            dropout=settings.dropout,
            batch_tokens=settings.batch_tokens,
            max_length=64,
            steps=steps,
            evaluate_every=max(1, steps // 4),
            patience=0,
            subword_sampling=settings.subword_sampling,
            threads=settings.threads,
            device=settings.device,
            special_tokens=(TAG,),
            **tuning,
        )
        sizes = mixture_sizes([len(bitext) for bitext in bitexts], [1.0] * len(bitexts))

        def mixed() -> Iterator[SentencePairs]:
            for bitext, size in zip(bitexts, sizes, strict=True):
                yield from repeat_to(reader(bitext), len(bitext), size, seed)

        folder.mkdir(parents=True, exist_ok=True)
        known = self.texts.development if development is None else development
        subwords = self._subwords(len(bitexts[0])) if init_from is None else None
        figures = train_translator(
            mixed, reader(known)(), config, folder, seed=seed, init_from=init_from, subwords_from=subwords
        )
        # The state to resume from is several times as large as the translator.
        for path in sorted((folder / "checkpoint").rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
        return figures

    def _subwords(self, pairs: int) -> Path:
        """The vocabulary of all translators of so many pairs: of both sides of the parallel text."""
        folder: Path = self.folder / "subwords" / str(pairs)
        if not (folder / CHECKPOINT / "vocab.json").is_file():
            texts = (side for pair in self.texts.parallel[:pairs] for side in pair)
            size = self.settings.vocab_size
            train_subwords(texts, folder / CHECKPOINT, vocab_size=size, seed=1, special_tokens=(TAG,))
        return folder

    def _best(self, folder: Path, sentences: list[str]) -> list[str]:
        translator = Translator(folder, "beam:5", check_costs=False)
        return [group[0].text for group in self._translated(translator, sentences, seed=0)]

    def _translated(self, translator: Translator, sentences: list[str], *, seed: int) -> Iterable[list[Variant]]:
        chunks = [sentences[start : start + CHUNK] for start in range(0, len(sentences), CHUNK)]
        for groups in translate_stream(translator, chunks, threads=self.settings.threads, seed=seed):
            yield from groups


def reader(pairs: Pairs) -> Callable[[], Iterator[SentencePairs]]:
    """Starts a pass over pairs, in batches."""

    def read() -> Iterator[SentencePairs]:
        rows = iter(pairs)
        while batch := list(islice(rows, 1000)):
            yield [source for source, _ in batch], [target for _, target in batch]

    return read


def split_name(text: str) -> tuple[str, str, str]:
    """NAME=DECODING in its parts."""
    return text.partition("=")


def write_json(path: Path, value: Any) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(value) + "\n", encoding="utf-8")


def table(ladder: Ladder) -> str:
    """All trainings that ended, seeds together, as Markdown."""
    rows: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for cell in ladder.cells():
        if (result := ladder.result(cell)) is not None:
            rows.setdefault(cell.row, []).append(result)
    references = [target for _, target in ladder.texts.test]
    header = "pairs | sentences | method | tags | start | seeds | BLEU (seeds) | chrF | BLEU − parallel text alone"
    header += " | training perplexity | on the development pairs"
    out = [f"| {header} |", "| ---: | ---: | --- | --- | --- | ---: | --- | --- | --- | ---: | ---: |"]
    for (pairs, multiple, name, tag, start), results in rows.items():
        alone = rows.get((pairs, 0, ALONE, "plain", start), [])
        difference = "" if name == ALONE or not alone else paired(alone, results, references)
        cells = [
            f"{pairs:,}",
            f"{round(pairs * multiple):,}",
            *(name, tag if multiple else "", start, len(results)),
            over_seeds(results, "bleu"),
            over_seeds(results, "chrf"),
            difference,
            *(f"{fmean(result[key] for result in results):.1f}" for key in ("train_perplexity", "dev_perplexity")),
        ]
        out.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(out)


def over_seeds(results: Sequence[dict[str, Any]], measure: str) -> str:
    """Mean over the seeds, half of the mean 95 % interval over sentences, and the range of the seeds."""
    values = [result[measure] for result in results]
    halves = [result[f"{measure}_interval"] for result in results if result[f"{measure}_interval"] is not None]
    text = f"{fmean(values):.2f}" + (f" ± {fmean(halves):.2f}" if halves else "")
    return text + (f" ({min(values):.2f} to {max(values):.2f})" if len(values) > 1 else "")


def paired(alone: Sequence[dict[str, Any]], results: Sequence[dict[str, Any]], references: list[str]) -> str:
    """The difference of BLEU with its paired interval, over the seeds that both have."""
    seeds = {result["seed"] for result in alone} & {result["seed"] for result in results}
    if not seeds:
        return ""
    systems = {
        name: [result["hypotheses"] for result in rows if result["seed"] in seeds]
        for name, rows in (("alone", alone), ("added", results))
    }
    bleu = compare_translators(systems, references).differences[0]
    return f"{bleu.value:+.2f} ({bleu.low:+.2f} to {bleu.high:+.2f})"


def differences(ladder: Ladder) -> str:
    """Differences of BLEU between methods of the same text, tags and start, with paired intervals."""
    groups: dict[tuple[Any, ...], dict[str, list[dict[str, Any]]]] = {}
    for cell in ladder.cells():
        if cell.multiple and (result := ladder.result(cell)) is not None:
            methods = groups.setdefault((cell.pairs, cell.multiple, cell.tag, cell.start), {})
            methods.setdefault(cell.method, []).append(result)
    references = [target for _, target in ladder.texts.test]
    out = []
    for (pairs, multiple, tag, start), methods in groups.items():
        for one, other in combinations(methods, 2):
            value = paired(methods[one], methods[other], references)
            out.append(
                f"{pairs:,} pairs, {round(pairs * multiple):,} sentences, {tag}, {start}: {other} - {one} {value}"
            )
    return "\n".join(out)


def check_settings(settings: argparse.Namespace) -> None:
    """One folder holds trainings of one kind of text, size and length only."""
    varying = {"output", "pairs", "multiples", "methods", "tags", "starts", "seeds", "threads", "minutes", "decode"}
    varying |= {"device", "part", "back_only", "parser", "show"}
    fixed = {name: value for name, value in vars(settings).items() if name not in varying}
    path = settings.output / "settings.json"
    if path.is_file():
        saved = json.loads(path.read_text(encoding="utf-8"))
        if other := [name for name, value in fixed.items() if saved.get(name) != value]:
            sys.exit(f"{settings.output} holds trainings with another {', '.join(other)}: name another folder")
    write_json(path, fixed)


def translate_back(ladder: Ladder, cells: Sequence[Cell]) -> None:
    """Train the back-translators, translate the monolingual text, and write the variants of each method."""
    settings = ladder.settings
    for pairs in settings.pairs:
        _, scores = ladder.back_translator(pairs)
        print(f"back-translator of {pairs:,} pairs: BLEU {over_seeds([scores], 'bleu')}", flush=True)
    for cell in cells:
        if not cell.multiple or cell.seed != settings.seeds[0] or cell.start != settings.starts[0]:
            continue
        translated = ladder.back_translations(cell)
        print(f"{cell.name}: {sum(len(group) for _, group in translated):,} back-translations", flush=True)
        path = ladder.folder / "back" / f"{cell.method}-{cell.pairs}.variants.jsonl"
        with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8") as stream:
            for number, (_, group) in enumerate(translated):
                for rank, text in enumerate(group):
                    row = {"pair_id": str(number), "text": text, "rank": rank, "method": cell.method}
                    stream.write(json.dumps(row) + "\n")
        for number in generator(1).permutation(len(translated))[: settings.show]:
            target, group = translated[number]
            print(f"{target} ⟶ {' | '.join(group)}")


def main() -> None:
    """Train what is missing, a line for each, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the results")
    parser.add_argument("--text", choices=TEXTS, default="captions")
    parser.add_argument("--source", default="de", help="source language (default: %(default)s); the target is English")
    parser.add_argument("--from-english", action="store_true", help="translate into that language instead, of Tatoeba")
    parser.add_argument("--held-out-share", type=float, default=0.007, help="of Tatoeba, half for development")
    parser.add_argument("--pairs", type=int, nargs="+", default=[10_000, 50_000, 150_000])
    parser.add_argument("--multiples", type=float, nargs="+", default=[0, 1, 3, 9], help="monolingual text per pair")
    parser.add_argument("--methods", nargs="+", default=["base", "beam", "sampling", "nucleus", "diverse"])
    parser.add_argument("--decode", nargs="+", default=[], metavar="NAME=DECODING", help="further methods")
    parser.add_argument("--outputs", type=int, default=3, help="translations of each sentence, base apart")
    parser.add_argument("--tags", nargs="+", choices=("plain", "tagged"), default=["plain", "tagged"])
    parser.add_argument("--starts", nargs="+", choices=("scratch", "continued"), default=["scratch", "continued"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--parser", default="english", help="for the method syntax (default: the bundled one)")
    parser.add_argument("--group-rows", type=int, default=500, help="pairs of a syntax group, at least")
    parser.add_argument("--group-steps", type=int, default=100, help="updates of a back-translator on a syntax group")
    parser.add_argument("--back", default="", help="name or folder of a back-translator instead of own ones")
    parser.add_argument("--steps", type=int, default=1200, help="updates of each translator")
    parser.add_argument("--first-steps", type=int, default=1200, help="updates before those, with start 'continued'")
    parser.add_argument("--one-first", action="store_true", help="all seeds continue from the same translator")
    parser.add_argument("--back-steps", type=int, default=1200, help="updates of a back-translator")
    parser.add_argument("--batch-tokens", type=int, default=2000)
    parser.add_argument("--vocab-size", type=int, default=5000)
    parser.add_argument("--d-model", type=int, default=256)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--subword-sampling", type=float, default=0.4)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no training after so many")
    parser.add_argument("--device", default="cpu", help="where translators are trained (default: %(default)s)")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="train every N-th one only, from the K-th")
    parser.add_argument("--back-only", action="store_true", help="train back-translators, translate, and end")
    parser.add_argument(
        "--show", type=int, default=0, help="with --back-only: sentences of each method to print, at random"
    )
    settings = parser.parse_args()
    part, parts = map(int, settings.part.split("/"))
    begin = time.monotonic()
    check_settings(settings)
    if "syntax" in settings.methods and not settings.from_english:
        parser.error("syntax groups need --from-english: they are of English back-translations")
    if settings.from_english and settings.text != "tatoeba":
        parser.error("--from-english needs --text tatoeba: the descriptions of captions are English")
    data = Path(os.environ["PARALOOM_DATA"])
    share = settings.held_out_share
    texts = read_texts(settings.text, settings.source, data, from_english=settings.from_english, held_out_share=share)
    ladder = Ladder(texts, settings)
    if unknown := set(settings.methods) - set(ladder.decodings):
        parser.error(f"unknown methods: {', '.join(sorted(unknown))}; known: {', '.join(ladder.decodings)}")
    cells = ladder.cells()
    if settings.back_only:
        translate_back(ladder, cells)
        return
    for number, cell in enumerate(cells, 1):
        if ladder.result(cell) is not None or number % parts != part % parts:
            continue
        if time.monotonic() - begin > 60 * settings.minutes:
            print(f"time is up: {len(cells) - number + 1} trainings are left; the same command resumes")
            break
        result = ladder.train(cell)
        print(
            f"{number}/{len(cells)} {cell.name}: BLEU {result['bleu']:.2f}, chrF {result['chrf']:.2f}, "
            f"{result['synthetic']:,} synthetic pairs, {result['seconds']:.0f} s",
            flush=True,
        )
    for pairs in settings.pairs:
        path = settings.output / "back" / str(pairs) / "scores.json"
        if path.is_file():
            scores = json.loads(path.read_text(encoding="utf-8"))
            print(
                f"Back-translator of {pairs:,} pairs: BLEU {over_seeds([scores], 'bleu')}, "
                f"chrF {over_seeds([scores], 'chrf')}"
            )
    print(table(ladder))
    print(differences(ladder))
    decodings = {name: describe_decoding(ladder.decodings[name]) for name in settings.methods}
    print("\n".join(f"{name}: {text}" for name, text in decodings.items()))


if __name__ == "__main__":
    main()
