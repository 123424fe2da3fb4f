"""Stages about syntax: train a parser, add parses, read parses from files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import ConfigError, DataError, ModelError, nearest
from paraloom.core.protocols import ParserLike
from paraloom.core.schema import add_column
from paraloom.core.stage import Fit, Json, Map, Ref, Source, StageContext
from paraloom.core.stage_cache import cached_per_stage
from paraloom.io import Corpus
from paraloom.syntax.grammar import Grammar
from paraloom.syntax.parsers.files import read_parses
from paraloom.syntax.parsers.grammar import GrammarParser
from paraloom.syntax.parsers.loading import check_name, load_parser
from paraloom.syntax.parseval import bracket_f1
from paraloom.syntax.treebank import read_treebank


@dataclass(frozen=True, kw_only=True)
class TrainParser(Fit):
    """Reads a probabilistic grammar off a treebank.

    treebank: files of bracketed trees (Penn's format), plain or compressed.  held_out: this share of the trees, the
    last ones, is set apart to measure on, and then learned from as well.
    """

    sentinel: ClassVar[str] = "grammar.json"
    inputs: ClassVar[tuple[str, ...]] = ("treebank",)

    treebank: tuple[Ref, ...]
    held_out: float = 0.05

    def validate(self) -> None:
        if not 0 <= self.held_out < 1:
            raise ConfigError("held_out is a share from 0 to below 1")

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write grammar.json; the figures are those of a grammar without the held-out trees."""
        trees = [tree for path in context.paths("treebank") for tree in read_treebank(path)]
        if not trees:
            raise DataError("the treebank has no trees", file=", ".join(map(str, context.paths("treebank"))))
        figures: dict[str, Json] = {"trees": len(trees)}
        held = trees[len(trees) - int(len(trees) * self.held_out) :]
        if held:
            parser = GrammarParser(Grammar.from_trees(trees[: -len(held)]))
            found = [parser.parse_words(tree.leaves()) for tree in held]
            wanted = [tree.pformat(margin=2**31) for tree in held]
            figures |= {
                "held_out": len(held),
                "bracket_f1": round(bracket_f1(zip(found, wanted, strict=True)), 2),
                "not_parsed": sum(tree is None for tree in found),
            }
        grammar = Grammar.from_trees(trees)
        grammar.save(folder)
        return {**figures, "symbols": len(grammar.symbols), "rules": len(grammar.pairs) + len(grammar.singles)}


@dataclass(frozen=True, kw_only=True)
class Parse(Map):
    """Adds the bracketed tree of each sentence, as columns `src_parse` and so on; null where there is none.

    parser: a stage that trained one, its folder, or that of a spaCy model.  model: instead of it, the name of a model
    that is installed: `spacy:en_core_web_sm`, `stanza:en`, `stanza:en:depparse`.  columns: the text columns, such as
    src and tgt of pairs, or text of variants.
    """

    inputs: ClassVar[tuple[str, ...]] = ("parser",)

    parser: Ref | None = None
    model: str = ""
    columns: tuple[str, ...] = ("src", "tgt")

    def validate(self) -> None:
        if bool(self.parser) == bool(self.model):
            raise ConfigError("there is no parser without 'parser' or 'model'", remedy="Give one of them.")
        if self.model:
            check_name(self.model)
            if Path(self.model.partition(":")[2]).is_dir():
                raise ConfigError(f"'{self.model}' is a folder, not a name", remedy="Give the folder as 'parser'.")

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The batch with its trees; the parser is loaded once a worker.  A row that it gives nothing for has none."""
        parser = _parser(context.inputs.get("parser", self.model))
        for name in self.columns:
            if name not in batch.schema.names:
                raise ConfigError(
                    f"there is no column '{name}'; there are {', '.join(batch.schema.names)}",
                    remedy="Name the text columns: src and tgt of pairs, text of variants and of sentences.",
                )
            trees = [tree or None for tree in parser.parse([text or "" for text in batch.column(name).to_pylist()])]
            if len(trees) != batch.num_rows:
                raise ModelError(f"the parser gave {len(trees)} trees for {batch.num_rows} sentences")
            batch = add_column(batch, f"{name}_parse", pa.array(trees, pa.string()), parser.signature)
        return batch


@cached_per_stage()
def _parser(source: str | Path) -> ParserLike:
    return load_parser(source)


@dataclass(frozen=True, kw_only=True)
class ReadParses(Source):
    """Adds the trees of files to a corpus, as columns `src_parse` and so on: the same rows, in the same order.

    corpus: of pairs, variants or sentences.  parses: for each of `columns` the file of its trees, one for each row of
    the corpus: a bracketed tree a line, or CoNLL-U (paraloom.syntax.parsers.files says how a missing tree is written).
    columns: the text columns that were parsed.  output_schema: the corpus's schema.
    """

    inputs: ClassVar[tuple[str, ...]] = ("corpus",)

    corpus: Ref
    parses: tuple[Path, ...]
    columns: tuple[str, ...] = ("tgt",)
    output_schema: str = "PAIRS"  # type: ignore[misc]  # other sources have one schema, this one its input's

    def validate(self) -> None:
        if len(self.parses) != len(self.columns) or not self.columns:
            raise ConfigError(f"there are {len(self.parses)} files of parses for {len(self.columns)} columns")

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """All rows in order.  Raises DataError with file and row where a file has fewer trees than rows, or more."""
        corpus = Corpus.open(context.inputs["corpus"])
        for name in self.columns:
            if name not in corpus.schema.names:
                raise ConfigError(f"there is no column '{name}'{nearest(name, corpus.schema.names)}")
        if corpus.kind != self.output_schema:
            raise ConfigError(f"the corpus is of kind {corpus.kind}", remedy=f'Write output_schema = "{corpus.kind}".')
        files = [
            (f"{name}_parse", path, read_parses(path), signature("parses", file=file_digest(path)[:12]))
            for name, path in zip(self.columns, self.parses, strict=True)
        ]
        row = 0
        for batch in corpus.batches():
            for column, path, trees, said in files:
                found = list(islice(trees, batch.num_rows))
                if len(found) < batch.num_rows:
                    raise _other_count(path, row + len(found), corpus.rows)
                batch = add_column(batch, column, pa.array(found, pa.string()), said)
            row += batch.num_rows
            yield batch
        for _, path, trees, _ in files:
            if more := sum(1 for _ in trees):
                raise _other_count(path, row + more, corpus.rows)


def _other_count(path: Path, found: int, rows: int) -> DataError:
    return DataError(
        f"there are {found:,} parses for {rows:,} rows",
        file=path,
        row=min(found, rows) + 1,
        remedy="Give one parse for each row of the corpus, in its order; a blank line where there is none.",
    )
