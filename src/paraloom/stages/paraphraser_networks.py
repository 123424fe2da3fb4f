"""The networks of a paraphraser: the examples that each learns from, its training, and how a folder with it opens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from paraloom.core.errors import DataError, ModelError
from paraloom.core.protocols import PrefixTranslatorLike
from paraloom.core.seeds import generator
from paraloom.core.stage import Json
from paraloom.io import Corpus
from paraloom.io.compression import read_lines
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.data import SentencePairs
from paraloom.mt.recurrent.config import RecurrentConfig
from paraloom.mt.recurrent.training import NetworkPairs, train_lstm, train_scpn
from paraloom.mt.training import train_translator
from paraloom.mt.translator import Translator
from paraloom.pairs.filtering.held_out import is_held_out
from paraloom.paraphrasing.config import ControlConfig
from paraloom.paraphrasing.examples import MODES, ParsedPair, canonical_example, make_example
from paraloom.paraphrasing.linearization import SEPARATOR, cut_tree, nodes_of
from paraloom.paraphrasing.noise import NoiseConfig, is_edited, noisy_pair
from paraloom.paraphrasing.reordering import reordered
from paraloom.paraphrasing.scpn import ScpnTranslator, leaf_labels, scpn_example
from paraloom.paraphrasing.scpn_config import ScpnConfig
from paraloom.paraphrasing.settings import LSTM, SCPN, TRANSFORMER, ParaphraserSettings
from paraloom.paraphrasing.templates import TemplateTable
from paraloom.text.normalize import normalize

if TYPE_CHECKING:
    from typing import TextIO

TREES = ("src_parse", "tgt_parse")
"""Columns of the trees of both sides."""
TREE = "text_parse"
"""Column of the trees of monolingual text."""

_BATCH_ROWS = 1024
_SENTENCE = 2
"""Key of the random numbers of a sentence; 0 and 1 are the directions of a pair."""
_NOISE = 3
"""Key of those that decide about its noise."""
_TWO_SENTENCES = 0.2
"""Share of the noisy examples whose text is two sentences: tweets and messages have several."""

SENTENCES, PARSES = "examples", "parse-examples"
"""Beginnings of the names of files with examples: of sentences, and of SCPN's parse generator."""


@dataclass(frozen=True)
class ExampleWriter:
    """Writes the examples of pairs, a source and a target per line, the held-out ones apart.

    Args:
        network: 'transformer', 'lstm' or 'scpn'.
        control: The mixture of examples.
        scpn: How SCPN's examples are made.
        directions: Whether a pair is swapped, for each example that it gives.
        share: Share of the pairs that is held out.
        same_rate: Rate at which pairs with the same template on both sides are used with their template.
        seed: Of what is drawn.
        held_out_texts: Both sides of the held-out pairs, which `write` adds.
    """

    network: str
    control: ControlConfig
    scpn: ScpnConfig
    directions: tuple[bool, ...]
    share: float
    same_rate: float
    seed: int
    held_out_texts: set[str] = field(default_factory=set)

    def write(self, corpora: Sequence[Corpus], folder: Path) -> dict[str, Json]:
        """Write the files."""
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
        self, corpora: Sequence[Corpus], folder: Path, *, noisy_share: float = 0.0, unmoved_share: float = 0.0
    ) -> dict[str, Json]:
        """Add the examples of monolingual text; what is held out of the pairs is left out.

        They are sentences in another order and unmoved ones, each with a template, and sentences with noise.
        """
        counts = Counter({"reordered_examples": 0, "reordered_left_out": 0})
        if noisy_share:
            counts["noisy_examples"] = 0
        if unmoved_share:
            counts["unmoved_examples"] = 0
        always, noise = replace(self.control, free_share=0.0), NoiseConfig()
        first, before = 0, ""
        with example_file(folder, SENTENCES, False).open("a", encoding="utf-8") as training:
            for trees in sentence_trees(corpora):
                for row, (text, tree) in enumerate(trees, start=first):
                    held = is_held_out(text, self.share) or text in self.held_out_texts
                    drawn = generator(self.seed, row, _NOISE)
                    if is_edited(text) and not held and drawn.random() < noisy_share:
                        both = f"{before} {text}" if before and drawn.random() < _TWO_SENTENCES else text
                        noisy = canonical_example(*noisy_pair(both, noise, drawn))
                        training.write(f"{noisy.source}\t{noisy.target}\n")
                        counts["noisy_examples"] += 1
                        before = text
                        continue
                    random = generator(self.seed, row, _SENTENCE)
                    source, kind = None, "reordered"
                    if tree is not None and not held:
                        source = reordered(text, tree, random)
                        if source is None and drawn.random() < unmoved_share:
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
                example = scpn_example(directed, self.control, self.scpn, random, same_rate=self.same_rate)
                if example is None:
                    continue
                lines = {SENTENCES: (example.source, example.target)}
                if example.parse_source:
                    lines[PARSES] = (example.parse_source, example.parse_target)
                kinds = ["sentence", "parse"][: len(lines)]
            else:
                controlled = make_example(directed, self.control, random, same_rate=self.same_rate)
                lines, kinds = {SENTENCES: (controlled.source, controlled.target)}, [controlled.mode]
            for name, sides in lines.items():
                streams[name, held].write("\t".join(sides) + "\n")
            for kind in kinds:
                counts[f"{kind}_examples"] += not held


def train_network(
    network: str,
    examples: Path,
    config: TranslatorConfig,
    recurrent: RecurrentConfig,
    scpn: ScpnConfig,
    folder: Path,
    seed: int,
) -> dict[str, Json]:
    """Train a network on what `ExampleWriter` wrote."""
    if network == LSTM:
        return train_lstm(_pairs(examples, SENTENCES), config, recurrent, folder, seed=seed)
    if network == SCPN:
        tokens = 2 * scpn.max_parse_labels + 2
        sentences = _pairs(examples, SENTENCES, config.max_length + tokens)
        parses = _pairs(examples, PARSES, 2 * tokens)
        return train_scpn(sentences, parses, config, recurrent, folder, separator=SEPARATOR, seed=seed)
    pairs = _pairs(examples, SENTENCES)
    return train_translator(pairs.training, pairs.development, config, folder, seed=seed)


def open_network(
    folder: Path, settings: ParaphraserSettings, templates: TemplateTable, device: str | None
) -> PrefixTranslatorLike:
    """Open the network of a folder as a translator whose outputs have beginnings."""
    settings.check_network(folder)
    if settings.network == TRANSFORMER:
        return Translator.load(folder, device=device, check_costs=False)
    # Needs torch, which the transformer does not.
    from paraloom.mt.recurrent.translator import RecurrentTranslator

    if settings.network == LSTM:
        return RecurrentTranslator(folder, "lstm", device=device)
    paraphrases, parses = (
        RecurrentTranslator(folder, kind, device=device) for kind in ("paraphrase-generator", "parse-generator")
    )
    if not templates.counts:
        raise ModelError("the table of templates is empty", file=folder, remedy="Train the paraphraser again.")
    ((default, _),) = templates.most_common(1)
    return ScpnTranslator(paraphrases, parses, settings.tags, default)


def tags_of_trees(pairs: Sequence[ParsedPair]) -> tuple[set[str], set[str]]:
    """Labels that have nothing but a word below them somewhere in the trees of pairs, and those that have more."""
    leaves: set[str] = set()
    others: set[str] = set()
    for pair in pairs:
        for tree in (pair.source_tree, pair.paraphrase_tree):
            if tree is not None:
                whole = cut_tree(tree, None)
                leaves |= leaf_labels(whole)
                others |= parent_labels(whole)
    return leaves, others


def parent_labels(parse: str) -> set[str]:
    """Labels of a canonical parse that have labels below them."""
    return {one.label for one, after in pairwise(nodes_of(parse)) if after.depth > one.depth}


def parsed_pairs(corpora: Sequence[Corpus]) -> Iterator[tuple[int, list[ParsedPair]]]:
    """Pairs with their trees, normalized, in batches."""
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
    """The file of training examples, or of those that are held out."""
    return folder / f"{name}-{'dev' if held else 'train'}.tsv"


def _pairs(folder: Path, name: str, max_length: int | None = None) -> NetworkPairs:
    for held in (False, True):
        if not example_file(folder, name, held).stat().st_size:
            part = "held-out" if held else "training"
            raise DataError(
                f"no {part} pair gives an example" + (" of templates on both sides" if name == PARSES else ""),
                remedy="Give more pairs, or other values of 'held_out' and 'same_template_share'.",
            )
    development = list(_read_examples(example_file(folder, name, True)))
    return NetworkPairs(partial(_read_examples, example_file(folder, name, False)), development, max_length)


def _read_examples(path: Path) -> Iterator[SentencePairs]:
    """The examples of a file in batches of sources and targets."""
    lines = iter(read_lines(path))
    while part := list(islice(lines, _BATCH_ROWS)):
        pairs = [line.split("\t") for line in part]
        yield [source for source, _ in pairs], [target for _, target in pairs]
