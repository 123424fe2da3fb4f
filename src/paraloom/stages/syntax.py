"""Stages that train a parser, and parse sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.config import check_range
from paraloom.core.errors import ConfigError, DataError, ModelError, imports_of_extra
from paraloom.core.lazy import load_object
from paraloom.core.schema import add_column
from paraloom.core.stage import Fit, Json, Map, Ref, StageContext
from paraloom.core.stage_cache import cached_per_stage
from paraloom.embed.encoder import open_encoder
from paraloom.embed.threads import available_threads
from paraloom.syntax.parsers.loading import check_name, load_parser
from paraloom.syntax.parsers.spans import SpanParser
from paraloom.syntax.parseval import bracket_f1, evalb_f1, tag_accuracy
from paraloom.syntax.treebank import read_treebank
from paraloom.syntax.word_features import GivenVectors

if TYPE_CHECKING:
    from nltk.tree import Tree


_GRAMMAR = "paraloom.papers.grammar_parser:train_grammar"


@dataclass(frozen=True, kw_only=True)
class TrainParser(Fit):
    """Trains a constituency parser on a treebank: a network that labels spans of words, or a probabilistic grammar.

    Args:
        treebank: Files of bracketed trees (Penn Treebank format), or of Universal Dependencies with Penn tags
            (`.conllu`), which become constituents; plain or compressed.
        held_out: Share of the trees to measure the accuracy on (brackets by evalb's rules and all of them, tags), the
            last ones; 0 or more and below 1. The network is not trained on them; a grammar that is saved is.
        method: `spans` takes minutes and needs the extra `train`; `grammar`, of the papers, takes seconds, and is right
            less often.
        encoder: For `spans`: a static encoder, such as 'english'. Its word vectors tell the parser of words that the
            treebank does not have.
        encoder_words: Number of its most common words whose vectors are taken; 0 takes all. A smaller parser.
        epochs: For `spans`: passes over the trees.

    Raises:
        ConfigError: `held_out`, `encoder_words` or `epochs` is out of range, `encoder` is given with `grammar`, or
            `encoder_words` without `encoder`; or, when it runs, the encoder has no vectors of words.
        DataError: When it runs: the treebank has no trees, or a tree cannot be read.
        MissingExtraError: When it runs: torch is not installed.

    Example:
        >>> TrainParser(treebank=["wsj.mrg"], method="spans", encoder="english").held_out
        0.05
    """

    sentinel: ClassVar[str] = "[gs][rp]a*.json"  # grammar.json or spans.json
    optional_fields: ClassVar[tuple[str, ...]] = ("method", "encoder", "encoder_words", "epochs")
    version: ClassVar[str] = "2"

    treebank: tuple[Ref, ...]
    held_out: float = 0.05
    method: Literal["spans", "grammar"] = "spans"
    encoder: Ref | None = None
    encoder_words: int = 0
    epochs: int = 14

    def validate(self) -> None:
        check_range(self, "held_out", low=0, below=1)
        check_range(self, "epochs", low=1)
        check_range(self, "encoder_words", low=0)
        if self.encoder_words and self.encoder is None:
            raise ConfigError("key 'encoder_words' needs an encoder", remedy="Name one in 'encoder', or leave it out.")
        if self.encoder is not None and self.method == "grammar":
            raise ConfigError("a grammar has no use for key 'encoder'", remedy='Leave out method = "grammar".')

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write grammar.json or the files of the network; return the accuracy on the held-out trees."""
        entries = [tree for path in context.paths("treebank") for tree in read_treebank(path)]
        trees = [tree for tree in entries if tree is not None]
        if not trees:
            raise DataError("the treebank has no trees", file=", ".join(map(str, context.paths("treebank"))))
        figures: dict[str, Json] = {"trees": len(trees), "left_out": len(entries) - len(trees)}
        split = len(trees) - int(len(trees) * self.held_out)
        if self.method == "spans":
            spans = self._train_spans(trees[:split], context)
            spans.save(folder)
            figures |= {"labels": len(spans.labels), "tags": len(spans.tags)}
            return figures | (_accuracy(spans, trees[split:]) if trees[split:] else {})
        if trees[split:]:
            figures |= _accuracy(load_object(_GRAMMAR)(trees[:split]), trees[split:])
        parser = load_object(_GRAMMAR)(trees)
        parser.save(folder)
        return {**figures, **parser.counts}

    def _train_spans(self, trees: Sequence[Tree], context: StageContext) -> SpanParser:
        with imports_of_extra("train", "training this parser"):
            from paraloom.syntax.span_training import SpanConfig, train_span_model
        config = SpanConfig(epochs=self.epochs)
        vectors = GivenVectors.none()
        if self.encoder is not None:
            words, table = word_vectors(context.inputs["encoder"])
            # Words are in the order of their counts.
            chosen = slice(self.encoder_words or None)
            vectors = GivenVectors.reduced(words[chosen], table[chosen], config.vector_dimension)
        model = train_span_model(trees, config, vectors, seed=context.seed, threads=available_threads())
        return SpanParser(*model)


def word_vectors(encoder: str | Path) -> tuple[list[str], npt.NDArray[np.float32]]:
    """The words of a static encoder and their vectors, float32 `(V, d)`."""
    parts = getattr(open_encoder(encoder), "parts", {})
    if "word" not in parts:
        raise ConfigError(
            f"the encoder '{encoder}' has no vectors of words", remedy="Give a static one, such as 'english'."
        )
    return list(parts["word"].vocabulary.entries), np.asarray(parts["word"].vectors, np.float32)


def _accuracy(parser: SpanParser, trees: Sequence[Tree]) -> dict[str, Json]:
    parsed = parser.parse_tokens([tree.leaves() for tree in trees])
    pairs = list(zip(parsed, [tree.pformat(margin=2**31) for tree in trees], strict=True))
    return {
        "held_out": len(trees),
        "evalb_f1": round(evalb_f1(pairs), 2),
        "bracket_f1": round(bracket_f1(pairs), 2),
        "tag_accuracy": round(tag_accuracy(pairs), 2),
        "not_parsed": sum(tree is None for tree in parsed),
    }


@dataclass(frozen=True, kw_only=True)
class Parse(Map):
    """Adds the bracketed tree of each sentence as columns `src_parse` and so on; null if there is none.

    Args:
        parser: A stage that trained a parser, its folder, or the folder of a spaCy model.
        model: Name of an installed model, instead of `parser`: 'spacy:en_core_web_sm', 'stanza:en' or
            'stanza:en:depparse'.
        columns: Text columns to parse: 'src' and 'tgt' of pairs, 'text' of variants and sentences.

    Raises:
        ConfigError: Both or neither of `parser` and `model` are given, `model` is not valid, or, when it runs, a
            column does not exist.
        ModelError: When it runs: the model is not installed.

    Example:
        >>> Parse(parser="train-parser", columns=["tgt"]).columns
        ('tgt',)
    """

    parser: Ref | None = None
    model: str = ""
    columns: tuple[str, ...] = ("src", "tgt")

    @property
    def loads_models(self) -> bool:
        """Always true: a parser is a model."""
        return True

    def validate(self) -> None:
        if bool(self.parser) == bool(self.model):
            raise ConfigError("expected one of the keys 'parser' and 'model'", remedy="Give exactly one of them.")
        if self.model:
            check_name(self.model)
            if Path(self.model.partition(":")[2]).is_dir():
                raise ConfigError(
                    f"key 'model' must be a name, and '{self.model}' is a folder", remedy="Give the folder as 'parser'."
                )

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        parser = _parser(context.inputs.get("parser", self.model))
        for name in self.columns:
            if name not in batch.schema.names:
                raise ConfigError(
                    f"key 'columns': column '{name}' not found; the columns are {', '.join(batch.schema.names)}",
                    remedy="Name text columns: src and tgt of pairs, text of variants and sentences.",
                )
            trees = [tree or None for tree in parser.parse([text or "" for text in batch.column(name).to_pylist()])]
            if len(trees) != batch.num_rows:
                raise ModelError(f"expected {batch.num_rows} trees from the parser, got {len(trees)}")
            batch = add_column(batch, f"{name}_parse", pa.array(trees, pa.string()), parser.signature)
        return batch


_parser = cached_per_stage()(load_parser)
