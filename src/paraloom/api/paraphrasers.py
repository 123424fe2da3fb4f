"""Paraphrasers for users: trained, loaded, asked for paraphrases; the templates of models and pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraloom.api.run import input_stages, run_stages
from paraloom.api.syntax import parser_fields
from paraloom.core.batches import as_list, batched
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.progress import loading
from paraloom.core.protocols import ParserLike
from paraloom.core.results import ResultRecord
from paraloom.core.stage import BATCH_ROWS, Ref, Stage
from paraloom.io import Corpus
from paraloom.io.shards import read_rows
from paraloom.io.tables import columns_of
from paraloom.paraphrasing.examples import ParsedPair
from paraloom.paraphrasing.paraphraser import ControlledParaphraser
from paraloom.paraphrasing.settings import PARAPHRASER_FILE
from paraloom.paraphrasing.templates import SCPN_TEMPLATES, TemplateTable
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.shard import OnError
from paraloom.stages.paraphraser_networks import TREE, TREES, parsed_pairs
from paraloom.stages.paraphrasers import TrainParaphraser, paraphraser_folder, paraphraser_parts
from paraloom.stages.sentences import ReadSentences
from paraloom.stages.syntax import Parse


class Paraphraser(ControlledParaphraser):
    """Paraphrases sentences: freely, by a template of syntax, or with the syntax of another sentence.

    `load` opens the bundled one, or one that `paraloom train paraphraser` wrote; `paraphrase` gives several variants of
    each sentence.

    Args:
        translator: Writes templates and paraphrases.
        settings: Labels it knows, and how it was trained.
        templates: Templates of its training pairs.
        parser: Parses sentences, exemplars and paraphrases.

    Example:
        >>> paraphraser = Paraphraser.load("english")
        >>> (variants,) = paraphraser.paraphrase(["We left early."], n=3)
        >>> len(variants)
        3
    """

    @classmethod
    def load(
        cls, folder: str | Path, *, parser: str | Path | ParserLike | None = None, device: str | None = None
    ) -> Paraphraser:
        """Load a paraphraser.

        Args:
            folder: 'english', the bundled paraphraser, or what `paraloom train paraphraser` wrote.
            parser: Another parser than the one in the folder: an object, a folder, or a name such as 'stanza:en'.
            device: 'cpu', 'cuda' or 'auto'. Default: $PARALOOM_DEVICE, or 'cpu'.

        Returns:
            The paraphraser.

        Raises:
            ModelError: The folder is not a paraphraser, or incomplete, or the parser is not installed.
        """
        with loading(f"the paraphraser {folder}"):
            return cls(*paraphraser_parts(folder, parser=parser, device=device))


def train_paraphraser(
    pairs: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    sentences: str | Path | Sequence[str | Path] = (),
    parser: str | None = None,
    init_from: str | Path | None = None,
    steps: int = 4000,
    on_error: OnError = "stop",
    seed: int = 1,
    **config: Any,
) -> RunResult:
    """Train a paraphraser on pairs; if stopped, the same call resumes.

    Args:
        pairs: Pairs of a sentence and its paraphrase, with trees or without: one source or several.
        output: Folder of the paraphraser.
        sentences: Monolingual text, a sentence per line, which teaches to follow templates. Repeatable.
        parser: english, a folder of `train parser`, spacy:NAME, spacy:FOLDER, stanza:LANGUAGE[:depparse].
        init_from: A paraphraser that Paraloom trained, to start from: english, or a folder of the same network.
        steps: Number of updates; the progress bar shows the time left.
        **config: Further fields of `paraloom.stages.TrainParaphraser`.
    """
    stages: list[Stage] = []
    references: list[Ref] = []
    fields = {} if parser is None else parser_fields(parser)
    initial = None if init_from is None else paraphraser_folder(init_from)
    for number, source in enumerate(as_list(pairs), start=1):
        reading, reference = input_stages(str(source), name=f"pairs-{number}", on_error=on_error)
        stages += reading
        if not set(TREES) <= set(columns_of(source)):
            if parser is None:
                raise ConfigError(
                    "the pairs have no trees",
                    file=source,
                    remedy="Give --parser FOLDER (of `paraloom train parser`), or pairs of `paraloom research parse`.",
                )
            reference = Parse(name=f"parse-{number}", input=reference, **fields)
            stages.append(reference)
        references.append(reference)
    texts: list[Ref] = []
    for number, source in enumerate(as_list(sentences), start=1):
        path = Path(source).absolute()
        reference = path
        if not (path / "corpus.json").is_file():
            reference = ReadSentences(name=f"sentences-{number}", text_files=(path,), bad_rows=on_error)
            stages.append(reference)
        if reference is not path or TREE not in columns_of(source):
            if parser is None:
                raise ConfigError(
                    "the sentences have no trees",
                    file=source,
                    remedy="Give --parser FOLDER (`paraloom train parser` makes one).",
                )
            reference = Parse(name=f"parse-sentences-{number}", input=reference, columns=("text",), **fields)
            stages.append(reference)
        texts.append(reference)
    training = TrainParaphraser(
        pairs=tuple(references),
        sentences=tuple(texts),
        parser=fields.get("parser"),
        parser_name=fields.get("model", ""),
        init_from=initial,
        steps=steps,
        **config,
    )
    return run_stages([*stages, training], str(output), seed=seed, on_error=on_error)


@dataclass(frozen=True)
class TemplateCount(ResultRecord):
    """A template of paraphrases."""

    template: str
    count: int
    share: float
    example: str
    in_scpn: bool


@dataclass(frozen=True)
class TemplateCounts(ResultRecord):
    """The commonest templates, and SCPN's ten that are not among them."""

    pairs: int  # Pairs with a tree
    distinct: int  # Distinct templates
    templates: tuple[TemplateCount, ...]  # The commonest ones
    scpn: tuple[TemplateCount, ...]  # The others of SCPN's ten, with their counts, which may be 0

    def format(self) -> str:
        """A line for each template: count, share, whether SCPN has it (*), the template, an example."""
        lines = [f"{'count':>7} {'share':>6}    template"]
        for block in (self.templates, self.scpn):
            lines += [
                f"{row.count:>7,} {row.share:>6.1%}  {' *'[row.in_scpn]} {row.template:<40} {row.example}".rstrip()
                for row in block
            ]
        covered = sum(row.share for row in self.templates)
        return "\n".join(
            [
                *lines,
                f"{self.pairs:,} pairs with a tree, {self.distinct:,} distinct templates; those above the others of "
                f"SCPN cover {covered:.1%}; * is one of SCPN's ten",
            ]
        )


def count_templates(source: str | Path, *, count: int = 20) -> TemplateCounts:
    """The commonest templates of the paraphrases of a model's training pairs, or of pairs with trees.

    Args:
        source: A paraphraser, or pairs from `parse`.
        count: Templates to show, the commonest first.
    """
    folder = Path(source)
    if (folder / PARAPHRASER_FILE).is_file():
        table = TemplateTable.load(folder)
    else:
        table = TemplateTable()
        for pairs in read_parsed(source):
            table.add(pairs)
    common = table.most_common(count)

    def row(template: str) -> TemplateCount:
        example = table.examples.get(template, "")
        return TemplateCount(
            template, table.counts[template], table.share(template), example, template in SCPN_TEMPLATES
        )

    names = [template for template, _ in common]
    return TemplateCounts(
        table.counts.total(),
        len(table.counts),
        tuple(map(row, names)),
        tuple(row(template) for template in SCPN_TEMPLATES if template not in names),
    )


def read_parsed(source: str | Path) -> Iterator[list[ParsedPair]]:
    if not Path(source).exists():
        raise DataError(
            "file not found", file=source, remedy="Give a corpus folder or a Parquet file of `paraloom research parse`."
        )
    missing = [name for name in TREES if name not in columns_of(source)]
    if missing:
        raise ConfigError(
            f"column '{missing[0]}' not found", file=source, remedy="Add trees with `paraloom research parse` first."
        )
    if Path(source).is_dir():
        yield from (pairs for _, pairs in parsed_pairs([Corpus.open(source)]))
        return
    rows = read_rows(source, ["src", "tgt", *TREES])
    for chunk in batched(rows, BATCH_ROWS):
        yield [ParsedPair(row["src"] or "", row["tgt"] or "", *(row[name] for name in TREES)) for row in chunk]
