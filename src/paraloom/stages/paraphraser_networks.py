"""The networks of a paraphraser: the examples that each learns from, its training, and how a folder with it opens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from paraloom.core.errors import DataError
from paraloom.core.lazy import load_object
from paraloom.core.protocols import PrefixTranslatorLike
from paraloom.core.seeds import generator
from paraloom.core.stage import Json
from paraloom.io import Corpus
from paraloom.io.compression import read_lines
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.data import SentencePairs
from paraloom.mt.training import train_translator
from paraloom.mt.translator import Translator
from paraloom.pairs.filtering.held_out import is_held_out
from paraloom.paraphrasing.config import ControlConfig, RecurrentConfig, ScpnConfig
from paraloom.paraphrasing.examples import MODES, ParsedPair, make_example
from paraloom.paraphrasing.reordering import reordered
from paraloom.paraphrasing.settings import LSTM, SCPN, ParaphraserSettings
from paraloom.paraphrasing.templates import TemplateTable
from paraloom.text.normalize import normalize

if TYPE_CHECKING:
    from typing import TextIO

    from numpy.random import Generator

TREES = ("src_parse", "tgt_parse")
"""Columns of the trees of both sides."""
TREE = "text_parse"
"""Column of the trees of monolingual text."""

_BATCH_ROWS = 1024
_SENTENCE = 2
"""Key of the random numbers of a sentence; 0 and 1 are the directions of a pair."""
_UNMOVED = 3
"""Key of the random number that decides whether it is an example as it is."""

SENTENCES, PARSES = "examples", "parse-examples"
"""Beginnings of the names of files with examples: of sentences, and of SCPN's parse generator."""

RESEARCH: dict[str, str] = {
    LSTM: "paraloom.papers.pnmt.paraphraser:LstmParaphraser",
    SCPN: "paraloom.papers.scpn.paraphraser:ScpnNetworks",
}
"""Networks of the papers → what makes their examples, trains and opens them (a `ResearchNetwork`)."""


@dataclass(frozen=True)
class NetworkPairs:
    """Sources and targets of one network."""

    training: Callable[[], Iterable[SentencePairs]]
    development: Sequence[SentencePairs]
    max_length: int | None = None


class NetworkTraining(NamedTuple):
    """Folder of the examples of a training, its settings, its output folder, and that of the model it starts from."""

    examples: Path
    config: TranslatorConfig
    recurrent: RecurrentConfig
    scpn: ScpnConfig
    folder: Path
    seed: int
    init_from: Path | None = None

    def pairs(self, name: str, max_length: int | None = None) -> NetworkPairs:
        for held in (False, True):
            if not example_file(self.examples, name, held).stat().st_size:
                part = "held-out" if held else "training"
                raise DataError(
                    f"no {part} pair gives an example" + (" of templates on both sides" if name == PARSES else ""),
                    remedy="Give more pairs, or other values of 'held_out' and 'same_template_share'.",
                )
        development = list(_read_examples(example_file(self.examples, name, True)))
        return NetworkPairs(partial(_read_examples, example_file(self.examples, name, False)), development, max_length)


class ResearchNetwork(Protocol):
    """A kind of paraphraser's network that is registered in `RESEARCH`."""

    def train(self, training: NetworkTraining) -> dict[str, Json]:
        """Train a network; returns figures."""

    def open(
        self, folder: Path, settings: ParaphraserSettings, templates: TemplateTable, device: str | None
    ) -> PrefixTranslatorLike:
        """Open the network of a folder."""


class ParseNetwork(ResearchNetwork, Protocol):
    """SCPN, whose examples have parses."""

    def examples(
        self, pair: ParsedPair, control: ControlConfig, scpn: ScpnConfig, random: Generator, same_rate: float
    ) -> dict[str, tuple[str, str]]:
        """The source and target of a pair by the name of the file that they go to; empty for an unusable pair."""

    def tags(self, pairs: Sequence[ParsedPair]) -> tuple[set[str], set[str]]:
        """Labels of trees that have nothing but a word below them somewhere, and those that have more."""


def research_network(name: str) -> ResearchNetwork:
    """What makes examples for a network of the papers, trains it and opens it."""
    network: ResearchNetwork = load_object(RESEARCH[name])
    return network


def parse_network() -> ParseNetwork:
    network: ParseNetwork = load_object(RESEARCH[SCPN])
    return network


@dataclass(frozen=True)
class ExampleWriter:
    """Writes the examples of pairs, a source and a target per line, the held-out ones apart."""

    network: str
    control: ControlConfig
    scpn: ScpnConfig
    directions: tuple[bool, ...]
    share: float
    same_rate: float
    seed: int
    held_out_texts: set[str] = field(default_factory=set)

    def write(self, corpora: Sequence[Corpus], folder: Path) -> dict[str, Json]:
        names = [SENTENCES, PARSES] if self.network == SCPN else [SENTENCES]
        kinds = ["sentence", "parse"] if self.network == SCPN else MODES
        counts: Counter[str] = Counter(dict.fromkeys([*(f"{kind}_examples" for kind in kinds), "identical_pairs"], 0))
        folder.mkdir(parents=True, exist_ok=True)
        streams = {
            (name, held): example_file(folder, name, held).open("w", encoding="utf-8")
            for name in names
            for held in (False, True)
        }
        try:
            for first, pairs in parsed_pairs(corpora):
                counts["identical_pairs"] += sum(pair.source == pair.paraphrase for pair in pairs)
                for row, pair in enumerate(pairs, start=first):
                    if pair.source != pair.paraphrase:
                        self._write_pair(pair, row, streams, counts)
        finally:
            for stream in streams.values():
                stream.close()
        return dict(counts)

    def write_sentences(
        self, corpora: Sequence[Corpus], folder: Path, *, unmoved_share: float = 0.0
    ) -> dict[str, Json]:
        """Add examples of monolingual text, moved and unmoved sentences, without what is held out of the pairs."""
        counts = Counter({"reordered_examples": 0, "reordered_left_out": 0})
        if unmoved_share:
            counts["unmoved_examples"] = 0
        always = replace(self.control, free_share=0.0)
        first = 0
        with example_file(folder, SENTENCES, False).open("a", encoding="utf-8") as training:
            for trees in sentence_trees(corpora):
                for row, (text, tree) in enumerate(trees, start=first):
                    held = is_held_out(text, self.share) or text in self.held_out_texts
                    random = generator(self.seed, row, _SENTENCE)
                    source, kind = None, "reordered"
                    if tree is not None and not held:
                        source = reordered(text, tree, random)
                        if source is None and generator(self.seed, row, _UNMOVED).random() < unmoved_share:
                            source, kind = text, "unmoved"
                    if source is None:
                        counts["reordered_left_out"] += 1
                        continue
                    example = make_example(ParsedPair(source, text, None, tree), always, random)
                    training.write(f"{example.source}\t{example.target}\n")
                    counts[f"{kind}_examples"] += 1
                first += len(trees)
        return dict(counts)

    def _write_pair(
        self, pair: ParsedPair, row: int, streams: Mapping[tuple[str, bool], TextIO], counts: Counter[str]
    ) -> None:
        held = is_held_out(pair.paraphrase, self.share)
        if held:
            self.held_out_texts.update((pair.source, pair.paraphrase))
        for swapped in self.directions:
            random = generator(self.seed, row, swapped)
            directed = pair.swapped() if swapped else pair
            if self.network == SCPN:
                lines = parse_network().examples(directed, self.control, self.scpn, random, self.same_rate)
                kinds = ["sentence", "parse"][: len(lines)]
            else:
                controlled = make_example(directed, self.control, random, same_rate=self.same_rate)
                lines, kinds = {SENTENCES: (controlled.source, controlled.target)}, [controlled.mode]
            for name, sides in lines.items():
                streams[name, held].write("\t".join(sides) + "\n")
            for kind in kinds:
                counts[f"{kind}_examples"] += not held


def train_network(network: str, training: NetworkTraining) -> dict[str, Json]:
    """Train a network on what `ExampleWriter` wrote."""
    if network in RESEARCH:
        return research_network(network).train(training)
    pairs = training.pairs(SENTENCES)
    return train_translator(
        *(pairs.training, pairs.development, training.config, training.folder),
        seed=training.seed,
        init_from=training.init_from,
    )


def open_network(
    folder: Path, settings: ParaphraserSettings, templates: TemplateTable, device: str | None
) -> PrefixTranslatorLike:
    settings.check_network(folder)
    if settings.network in RESEARCH:
        return research_network(settings.network).open(folder, settings, templates, device)
    return Translator.load(folder, device=device, check_costs=False)


def parsed_pairs(corpora: Sequence[Corpus]) -> Iterator[tuple[int, list[ParsedPair]]]:
    first = 0
    for corpus in corpora:
        for batch in corpus.batches(["src", "tgt", *TREES]):
            sides = [normalize(batch[name]).to_pylist() for name in ("src", "tgt")]
            sides += [batch[name].to_pylist() for name in TREES]
            yield first, [ParsedPair(*row) for row in zip(*sides, strict=True)]
            first += batch.num_rows


def sentence_trees(corpora: Sequence[Corpus]) -> Iterator[list[tuple[str, str | None]]]:
    """Sentences with their trees, normalized, in batches; a tree is None where it is null."""
    for corpus in corpora:
        for batch in corpus.batches(["text", TREE]):
            yield list(zip(normalize(batch["text"]).to_pylist(), batch[TREE].to_pylist(), strict=True))


def example_file(folder: Path, name: str, held: bool) -> Path:
    return folder / f"{name}-{'dev' if held else 'train'}.tsv"


def _read_examples(path: Path) -> Iterator[SentencePairs]:
    """The examples of a file in batches of sources and targets."""
    lines = iter(read_lines(path))
    while part := list(islice(lines, _BATCH_ROWS)):
        pairs = [line.split("\t") for line in part]
        yield [source for source, _ in pairs], [target for _, target in pairs]
