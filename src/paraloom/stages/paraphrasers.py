"""The stage that trains a paraphraser, and how its folder opens."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product
from pathlib import Path
from typing import ClassVar, Literal

from paraloom.bundled import PARAPHRASER, PARAPHRASERS, bundled_path
from paraloom.core.config import base_config, check_range
from paraloom.core.errors import ConfigError, DataError, ModelError, nearest, suggestion
from paraloom.core.protocols import ParserLike, PrefixTranslatorLike
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.io import Corpus
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.model_card import write_card
from paraloom.pairs.filtering.held_out import is_held_out
from paraloom.paraphrasing.config import ControlConfig, RecurrentConfig, ScpnConfig
from paraloom.paraphrasing.examples import ParsedPair, same_template, same_template_rate
from paraloom.paraphrasing.linearization import special_tokens
from paraloom.paraphrasing.paraphraser import ControlledParaphraser
from paraloom.paraphrasing.settings import PARSER_FOLDER, SCPN, ParaphraserSettings
from paraloom.paraphrasing.templates import TemplateTable, labels_of_trees
from paraloom.stages.paraphraser_networks import (
    RESEARCH,
    TREE,
    TREES,
    ExampleWriter,
    NetworkTraining,
    open_network,
    parse_network,
    parsed_pairs,
    sentence_trees,
    train_network,
)
from paraloom.stages.translators import card_facts, held_out_share
from paraloom.syntax.parsers.loading import check_name, load_parser
from paraloom.text.language_names import language_code


@dataclass(frozen=True, kw_only=True)
class TrainParaphraser(TranslatorConfig, ControlConfig, RecurrentConfig, ScpnConfig, Fit):
    """Trains a paraphraser on pairs with parses: one that writes freely, by a template, or like an exemplar.

    A transformer, or PNMT's LSTM, reads a sentence, with its own template or without, and writes a template, then the
    paraphrase. SCPN has two networks: one writes a full parse of a template, the other a paraphrase with this parse.

    The folder of a transformer is a translator's; that of the others has safetensors and subwords. In addition it has
    templates.tsv (templates of the paraphrases, counts and examples), template_pairs.tsv (which templates paraphrases
    of a sentence have), paraphraser.json and the parser.

    Args:
        pairs: Corpora of pairs with columns `src_parse` and `tgt_parse`. Pairs whose sides are identical are left out.
        sentences: Corpora of monolingual text with its trees (column `text_parse`): examples with a template whose
            source is the sentence in another order (`paraloom.paraphrasing.reordering`). They teach the model to follow
            templates, where pairs have the same syntax on both sides. Not for SCPN.
        unmoved_share: Share of the `sentences` with nothing to move that are examples as they are, 0 to 1: source and
            target are the same sentence, with its own template. They teach the model to copy rare words.
        network: 'transformer'; 'lstm', PNMT's paraphraser (`paraloom.papers.pnmt.lstm`); or 'scpn', whose examples all
            have a template, so that `free_share`, `exemplar_share` and heights do not matter.
        direction: 'both' learns to paraphrase `src` as `tgt` and `tgt` as `src`; 'src-tgt' and 'tgt-src' one of them.
            Of back-translated pairs `src` is the reference and `tgt` its translation.
        init_from: Paraphraser whose subwords and weights to start from: a transformer that Paraloom trained, with a
            checkpoint or as int8, such as the bundled one. The trees may have no other labels than it knows.
        parser: The parser that made the trees: a stage or a folder, which is copied into the model.
        parser_name: Instead of `parser`: its name, such as 'stanza:en'.
        held_out: Number of pairs that are held out for development, by a hash of `tgt`.
        title: Heading of the model card.
        license: License of the training data, for the model card.
        description: What the model is for, for the model card.

    For the other fields see :class:`~paraloom.mt.config.TranslatorConfig`,
    :class:`~paraloom.paraphrasing.config.ControlConfig` and, of the networks 'lstm' and 'scpn',
    :class:`~paraloom.paraphrasing.config.RecurrentConfig` and
    :class:`~paraloom.paraphrasing.config.ScpnConfig`.

    Raises:
        ConfigError: A setting is out of range, `special_tokens` is set, both `parser` and `parser_name`
            are, or `unmoved_share` is without `sentences`.
        DataError: When it runs: there are too few pairs, or no pair has a tree.

    Reference:
        Sun et al. 2021, "AESOP: Paraphrase generation with adaptive syntactic control"; Iyyer et al. 2018,
        "Adversarial example generation with syntactically controlled paraphrase networks" (SCPN); Wieting and Gimpel
        2018, "ParaNMT-50M", §6.

    Example:
        >>> TrainParaphraser(pairs=["parse"], parser="train-parser", steps=4000).max_height
        4
    """

    sentinel: ClassVar[str] = "paraphraser.json"
    version: ClassVar[str] = "2"  # Examples with nothing to move are other draws than before.
    optional_fields: ClassVar[tuple[str, ...]] = (
        *("sentences", "unmoved_share", "network", "init_from"),
        *(one.name for kind in (RecurrentConfig, ScpnConfig) for one in fields(kind)),
    )

    pairs: tuple[Ref, ...]
    sentences: tuple[Ref, ...] = ()
    unmoved_share: float = 0.0
    network: Literal["transformer", "lstm", "scpn"] = "transformer"
    direction: Literal["both", "src-tgt", "tgt-src"] = "both"
    init_from: Ref | None = None
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
        RecurrentConfig.validate(self)
        ScpnConfig.validate(self)
        if self.special_tokens:
            raise ConfigError("'special_tokens' follow from the trees", remedy="Leave it out.")
        check_range(self, "unmoved_share", low=0, high=1)
        if self.unmoved_share and not self.sentences:
            raise ConfigError(
                "'unmoved_share' is a share of the examples of monolingual text, and 'sentences' is empty",
                remedy="Name corpora of edited text in 'sentences' (--sentences), or leave 'unmoved_share' out.",
            )
        if self.parser is not None and self.parser_name:
            raise ConfigError("keys 'parser' and 'parser_name' cannot be combined", remedy="Give one of them.")
        if self.sentences and self.network == SCPN:
            raise ConfigError("SCPN learns from pairs alone", remedy="Leave out 'sentences'.")
        if self.init_from is not None and self.network in RESEARCH:
            raise ConfigError(f"'{self.network}' starts from no other network", remedy="Leave out 'init_from'.")
        if self.parser_name:
            check_name(self.parser_name)

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Count templates, write the examples, train, and write the model card."""
        corpora = _with_trees(context.paths("pairs"), TREES)
        sentences = _with_trees(context.paths("sentences"), (TREE,))
        share = held_out_share(
            sum(corpus.rows for corpus in corpora), self.held_out, "Give more pairs, or lower 'held_out'."
        )
        trees = self._count_trees(corpora, share)
        if not trees.table.counts:
            raise DataError("no pair has a tree", file=corpora[0].folder, remedy="Check the columns of the trees.")

        control = base_config(ControlConfig, self)
        scpn, scratch = base_config(ScpnConfig, self), folder / "checkpoint"
        rate = same_template_rate(trees.same[True], trees.same[False], self.same_template_share)
        writer = ExampleWriter(self.network, control, scpn, self._directions, share, rate, context.seed)
        counts = writer.write(corpora, scratch)
        if sentences:
            for batch in sentence_trees(sentences):
                trees.labels |= labels_of_trees(ParsedPair(text, text, None, tree) for text, tree in batch)
            counts |= writer.write_sentences(sentences, scratch, unmoved_share=self.unmoved_share)
        initial = context.inputs.get("init_from")
        if initial is not None:
            trees.labels |= set(ParaphraserSettings.load(initial).labels)
        config = replace(base_config(TranslatorConfig, self), special_tokens=special_tokens(trees.labels))
        recurrent = base_config(RecurrentConfig, self)
        job = NetworkTraining(scratch, config, recurrent, scpn, folder, context.seed, initial)
        figures = train_network(self.network, job)
        trees.table.save(folder)
        filled = [corpus for corpus in corpora if corpus.rows]
        self._settings(trees, control, filled[0]).save(folder)
        if "parser" in context.inputs:
            shutil.copytree(context.inputs["parser"], folder / PARSER_FOLDER, dirs_exist_ok=True)
        templates, labels = len(trees.table.counts), len(trees.labels)
        figures |= {**counts, "same_template_pairs": trees.same[True], "templates": templates, "labels": labels}
        write_card(folder, title=self.title, facts=card_facts(corpora, self.license, figures), text=self.description)
        return figures

    def _count_trees(self, corpora: Sequence[Corpus], share: float) -> _Trees:
        """The labels of all pairs, and the templates of those that are not held out."""
        trees = _Trees()
        for _, pairs in parsed_pairs(corpora):
            training = [pair for pair in pairs if not is_held_out(pair.paraphrase, share)]
            for swapped in self._directions:
                trees.table.add(pair.swapped() if swapped else pair for pair in training)
            trees.labels |= labels_of_trees(pairs)
            if self.network == SCPN:
                tags, phrases = parse_network().tags(pairs)
                trees.tags |= tags
                trees.phrases |= phrases
            trees.same.update(same_template(pair) for pair in training if pair.source != pair.paraphrase)
        return trees

    def _settings(self, trees: _Trees, control: ControlConfig, corpus: Corpus) -> ParaphraserSettings:
        language = language_code(str(next(corpus.batches(["tgt_lang"])).column("tgt_lang")[0])) or ""
        labels = tuple(sorted(trees.labels))
        settings = ParaphraserSettings(labels, control, self.parser_name, language, self.network)
        if self.network != SCPN:
            return settings
        return replace(settings, max_parse_labels=self.max_parse_labels, tags=tuple(sorted(trees.tags - trees.phrases)))

    @property
    def _directions(self) -> tuple[bool, ...]:
        """Whether a pair is swapped, for each example that it gives."""
        return {"both": (False, True), "src-tgt": (False,), "tgt-src": (True,)}[self.direction]


@dataclass
class _Trees:
    """What the trees of pairs have: templates, labels, how often both sides are alike, and of SCPN labels of words."""

    table: TemplateTable = field(default_factory=TemplateTable)
    labels: set[str] = field(default_factory=set)
    same: Counter[bool] = field(default_factory=Counter)
    tags: set[str] = field(default_factory=set)
    phrases: set[str] = field(default_factory=set)


def _with_trees(folders: Iterable[Path], columns: Sequence[str]) -> list[Corpus]:
    corpora = [Corpus.open(folder) for folder in folders]
    for corpus, name in product(corpora, columns):
        if name not in corpus.schema.names:
            raise DataError(
                f"column '{name}' not found{nearest(name, corpus.schema.names)}",
                file=corpus.folder,
                remedy="Add trees with a stage 'parse', or with `paraloom research parse`.",
            )
    return corpora


def open_paraphraser(folder: str | Path, *, parser: str | Path | ParserLike | None = None) -> ControlledParaphraser:
    return ControlledParaphraser(*paraphraser_parts(folder, parser=parser))


def paraphraser_parts(
    folder: str | Path, *, parser: str | Path | ParserLike | None = None, device: str | None = None
) -> tuple[PrefixTranslatorLike, ParaphraserSettings, TemplateTable, ParserLike | None]:
    """What a paraphraser is made of; see `open_paraphraser`."""
    path = paraphraser_folder(folder)
    settings = ParaphraserSettings.load(path)
    if parser is None and (path / PARSER_FOLDER).is_dir():
        parser = path / PARSER_FOLDER
    if parser is None and settings.parser:
        parser = settings.parser
    loaded = load_parser(parser) if isinstance(parser, (str, Path)) else parser
    templates = TemplateTable.load(path)
    return open_network(path, settings, templates, device), settings, templates, loaded


def paraphraser_folder(name: str | Path) -> Path:
    """The folder of a paraphraser: the folder itself, or that of a bundled name."""
    path = Path(name).absolute()
    if path.exists():
        return path
    bundled = bundled_path(str(name), PARAPHRASER)
    if bundled is None:
        raise ModelError(
            f"paraphraser '{name}' not found{suggestion(str(name), PARAPHRASERS)}",
            remedy="Name english, the bundled paraphraser, or a folder that `paraloom train paraphraser` wrote.",
        )
    return bundled
