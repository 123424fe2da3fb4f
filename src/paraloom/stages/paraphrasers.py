"""Stages that train a paraphraser, and paraphrase texts with it."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import ClassVar, Literal

from paraloom.core.config import base_config
from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.core.protocols import ParserLike
from paraloom.core.seeds import generator
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.generate.config import ControlConfig
from paraloom.generate.examples import MODES, ParsedPair, make_example, same_template, same_template_rate
from paraloom.generate.linearization import special_tokens
from paraloom.generate.paraphraser import ControlledParaphraser
from paraloom.generate.reordering import reordered
from paraloom.generate.settings import PARSER_FOLDER, ParaphraserSettings
from paraloom.generate.templates import TemplateTable, labels_of_trees
from paraloom.io import Corpus
from paraloom.io.compression import read_lines
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.data import SentencePairs
from paraloom.mt.model_card import write_card
from paraloom.mt.training import train_translator
from paraloom.mt.translator import Translator
from paraloom.pairs.filtering.held_out import is_held_out
from paraloom.stages.translators import card_facts
from paraloom.syntax.parsers.loading import check_name, load_parser
from paraloom.text.language_names import language_code
from paraloom.text.normalize import normalize

TREES = ("src_parse", "tgt_parse")
TREE = "text_parse"
"""Columns of the trees of both sides."""

_BATCH_ROWS = 1024


@dataclass(frozen=True, kw_only=True)
class TrainParaphraser(TranslatorConfig, ControlConfig, Fit):
    """Trains a paraphraser on pairs with parses: one network that writes freely, by a template, or like an exemplar.

    It reads a sentence, with its own template or without, and writes a template, then the paraphrase. The folder is a
    translator's, with templates.tsv (templates of the paraphrases, counts and examples), template_pairs.tsv (which
    templates paraphrases of a sentence have), paraphraser.json and the parser.

    Args:
        pairs: Corpora of pairs with columns `src_parse` and `tgt_parse`. Pairs whose sides are identical are left out.
        sentences: Corpora of monolingual text with its trees (column `text_parse`): examples with a template whose
            source is the sentence in another order (`paraloom.generate.reordering`). They teach the model to follow
            templates, where pairs have the same syntax on both sides.
        direction: 'both' learns to paraphrase `src` as `tgt` and `tgt` as `src`; 'src-tgt' and 'tgt-src' one of them.
            Of back-translated pairs `src` is the reference and `tgt` its translation.
        parser: The parser that made the trees: a stage or a folder, which is copied into the model.
        parser_name: Instead of `parser`: its name, such as 'stanza:en'.
        held_out: Number of pairs that are held out for development, by a hash of `tgt`.
        title: Heading of the model card.
        license: License of the training data, for the model card.
        description: What the model is for, for the model card.

    For the other fields see :class:`~paraloom.mt.config.TranslatorConfig` and
    :class:`~paraloom.generate.config.ControlConfig`.

    Raises:
        ConfigError: A setting is out of range, `special_tokens` is set, or both `parser` and `parser_name` are.
        DataError: When it runs: there are too few pairs, or no pair has a tree.

    Reference:
        Sun et al. 2021, "AESOP: Paraphrase generation with adaptive syntactic control"; Iyyer et al. 2018 (SCPN).

    Example:
        >>> TrainParaphraser(pairs=["parse"], parser="train-parser", steps=4000).max_height
        4
    """

    sentinel: ClassVar[str] = "paraphraser.json"
    inputs: ClassVar[tuple[str, ...]] = ("pairs", "sentences", "parser")
    optional_fields: ClassVar[tuple[str, ...]] = ("sentences",)

    pairs: tuple[Ref, ...]
    sentences: tuple[Ref, ...] = ()
    direction: Literal["both", "src-tgt", "tgt-src"] = "both"
    parser: Ref | None = None
    parser_name: str = ""
    held_out: int = 500
    max_length: int = 192
    title: str = "A paraphraser"
    license: str = "other"
    description: str = (
        "Paraphrases sentences, freely, to a template of syntax, or like an exemplar. Trained by Paraloom."
    )

    def validate(self) -> None:
        TranslatorConfig.validate(self)
        ControlConfig.validate(self)
        if self.special_tokens:
            raise ConfigError("'special_tokens' follow from the trees", remedy="Leave it out.")
        if self.parser is not None and self.parser_name:
            raise ConfigError("keys 'parser' and 'parser_name' cannot be combined", remedy="Give one of them.")
        if self.parser_name:
            check_name(self.parser_name)

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Count templates, write the examples, train, and write the model card."""
        corpora = [Corpus.open(path) for path in context.paths("pairs")]
        sentences = [Corpus.open(path) for path in context.paths("sentences")]
        for corpus, names in [*((corpus, TREES) for corpus in corpora), *((corpus, (TREE,)) for corpus in sentences)]:
            for name in names:
                if name not in corpus.schema.names:
                    raise DataError(
                        f"column '{name}' not found{nearest(name, corpus.schema.names)}",
                        file=corpus.folder,
                        remedy="Add trees with a stage 'parse', or with `paraloom parse`.",
                    )
        rows = sum(corpus.rows for corpus in corpora)
        if rows < 2 * self.held_out or not rows:
            raise DataError(
                f"cannot hold out {self.held_out} of {rows} pairs: that is more than half",
                remedy="Give more pairs, or lower 'held_out'.",
            )
        share = self.held_out / rows
        table, labels, same = TemplateTable(), set[str](), Counter[bool]()
        for _, pairs in parsed_pairs(corpora):
            training = [pair for pair in pairs if not is_held_out(pair.paraphrase, share)]
            for swapped in self._directions:
                table.add(pair.swapped() if swapped else pair for pair in training)
            labels |= labels_of_trees(pairs)
            same.update(same_template(pair) for pair in training if pair.source != pair.paraphrase)
        if not table.counts:
            raise DataError("no pair has a tree", file=corpora[0].folder, remedy="Check the columns of the trees.")

        control = base_config(ControlConfig, self)
        files = {
            held: folder / "checkpoint" / f"examples-{name}.tsv" for held, name in ((False, "train"), (True, "dev"))
        }
        rate = same_template_rate(same[True], same[False], self.same_template_share)
        counts = self._write_examples(corpora, control, share, rate, context.seed, files)
        for trees in sentence_trees(sentences):
            labels |= labels_of_trees(ParsedPair(text, text, None, tree) for text, tree in trees)
        counts |= self._write_reordered(sentences, control, share, context.seed, files[False])
        config = replace(base_config(TranslatorConfig, self), special_tokens=special_tokens(labels))
        figures = train_translator(
            lambda: _read_examples(files[False]), list(_read_examples(files[True])), config, folder, seed=context.seed
        )
        table.save(folder)
        filled = [corpus for corpus in corpora if corpus.rows]
        languages = next(filled[0].batches(["tgt_lang"])).column("tgt_lang")
        language = language_code(str(languages[0])) or ""
        ParaphraserSettings(tuple(sorted(labels)), control, self.parser_name, language).save(folder)
        if "parser" in context.inputs:
            shutil.copytree(context.inputs["parser"], folder / PARSER_FOLDER, dirs_exist_ok=True)
        figures |= {**counts, "same_template_pairs": same[True], "templates": len(table.counts), "labels": len(labels)}
        self._card(folder, filled, figures)
        return figures

    def _write_examples(
        self,
        corpora: Sequence[Corpus],
        control: ControlConfig,
        share: float,
        same_rate: float,
        seed: int,
        files: dict[bool, Path],
    ) -> dict[str, Json]:
        """Write the examples of both parts, a source and a target per line; count those of each mode."""
        counts: Counter[str] = Counter(dict.fromkeys([*(f"{mode}_examples" for mode in MODES), "identical_pairs"], 0))
        files[False].parent.mkdir(parents=True, exist_ok=True)
        with files[False].open("w", encoding="utf-8") as train, files[True].open("w", encoding="utf-8") as dev:
            for first, pairs in parsed_pairs(corpora):
                counts["identical_pairs"] += sum(pair.source == pair.paraphrase for pair in pairs)
                for row, pair in enumerate(pairs, start=first):
                    if pair.source == pair.paraphrase:
                        continue
                    held = is_held_out(pair.paraphrase, share)
                    for swapped in self._directions:
                        random = generator(seed, row, swapped)
                        directed = pair.swapped() if swapped else pair
                        example = make_example(directed, control, random, same_rate=same_rate)
                        (dev if held else train).write(f"{example.source}\t{example.target}\n")
                        counts[f"{example.mode}_examples"] += not held
        return dict(counts)

    def _write_reordered(
        self, corpora: Sequence[Corpus], control: ControlConfig, share: float, seed: int, file: Path
    ) -> dict[str, Json]:
        """Add the examples of monolingual text: each has a template, and what is held out of the pairs is left out."""
        if not corpora:
            return {}
        counts = Counter({"reordered_examples": 0, "reordered_left_out": 0})
        always = replace(control, free_share=0.0)
        first = 0
        with file.open("a", encoding="utf-8") as train:
            for trees in sentence_trees(corpora):
                for row, (text, tree) in enumerate(trees, start=first):
                    random = generator(seed, row, 2)  # 0 and 1 are the directions of pairs
                    source = None if tree is None or is_held_out(text, share) else reordered(text, tree, random)
                    if source is None:
                        counts["reordered_left_out"] += 1
                        continue
                    example = make_example(ParsedPair(source, text, None, tree), always, random)
                    train.write(f"{example.source}\t{example.target}\n")
                    counts["reordered_examples"] += 1
                first += len(trees)
        return dict(counts)

    @property
    def _directions(self) -> tuple[bool, ...]:
        """Whether a pair is swapped, for each example that it gives."""
        return {"both": (False, True), "src-tgt": (False,), "tgt-src": (True,)}[self.direction]

    def _card(self, folder: Path, corpora: list[Corpus], figures: dict[str, Json]) -> None:
        facts = card_facts(corpora, self.license, figures)
        write_card(folder, title=self.title, facts=facts, text=self.description)


def open_paraphraser(
    folder: str | Path, *, parser: str | Path | ParserLike | None = None, device: str | None = None
) -> ControlledParaphraser:
    """Open the paraphraser of a folder.

    Args:
        folder: What `train-paraphraser` wrote.
        parser: A parser, its folder, or its name; None takes the one that came with the model, if it did.
        device: 'cpu', 'cuda' or 'auto'. Default: $PARALOOM_DEVICE, or 'cpu'.

    Raises:
        ModelError: The folder is not a paraphraser, or incomplete, or the parser is not installed.
    """
    parts = paraphraser_parts(folder, parser=parser, device=device)
    return ControlledParaphraser(*parts)


def paraphraser_parts(
    folder: str | Path, *, parser: str | Path | ParserLike | None = None, device: str | None = None
) -> tuple[Translator, ParaphraserSettings, TemplateTable, ParserLike | None]:
    """What a paraphraser is made of; see `open_paraphraser`."""
    path = Path(folder)
    settings = ParaphraserSettings.load(path)
    if parser is None and (path / PARSER_FOLDER).is_dir():
        parser = path / PARSER_FOLDER
    if parser is None and settings.parser:
        parser = settings.parser
    loaded = load_parser(parser) if isinstance(parser, (str, Path)) else parser
    translator = Translator.load(path, device=device, check_costs=False)
    return translator, settings, TemplateTable.load(path), loaded


def parsed_pairs(corpora: Sequence[Corpus]) -> Iterator[tuple[int, list[ParsedPair]]]:
    """Pairs with their trees, normalized, in batches.

    Args:
        corpora: Corpora of pairs with columns `src_parse` and `tgt_parse`; a tree is None where it is null.

    Yields:
        The row of the first pair, counted over all corpora from 0, and the pairs.
    """
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


def _read_examples(path: Path) -> Iterator[SentencePairs]:
    """The examples of a file in batches of sources and targets."""
    lines = iter(read_lines(path))
    while part := list(islice(lines, _BATCH_ROWS)):
        pairs = [line.split("\t") for line in part]
        yield [source for source, _ in pairs], [target for _, target in pairs]
