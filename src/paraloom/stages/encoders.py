"""Stages that train, quantize, evaluate and compare sentence encoders, of one language or several."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Literal

from paraloom.core.config import base_config
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.protocols import EncoderLike
from paraloom.core.stage import Fit, Json, Ref, Stage, StageContext
from paraloom.embed.average import quantize
from paraloom.embed.bilingual import BITEXT_SETTINGS, check_bitext, language_facts
from paraloom.embed.config import EncoderConfig
from paraloom.embed.encoder import open_encoder
from paraloom.embed.store import load_encoder, save_encoder
from paraloom.embed.threads import available_threads
from paraloom.embed.training import train_encoder
from paraloom.embed.transformer import convert_transformer, is_trained_transformer
from paraloom.embed.word_vectors import average_vectors
from paraloom.evaluate.development import DEVELOPMENT, read_development
from paraloom.evaluate.published import PUBLISHED, PUBLISHED_MTEB
from paraloom.evaluate.sts import evaluate_sts, summary_rows
from paraloom.evaluate.sts_tasks import complete_mteb_tasks, find_tasks, read_task
from paraloom.evaluate.untrained import untrained_folder
from paraloom.io import Corpus
from paraloom.stages.input_checks import warn_of_bitext


@dataclass(frozen=True, kw_only=True)
class TrainEncoder(EncoderConfig, Fit):
    """Trains a sentence encoder on pairs with a margin loss over mega-batches.

    Args:
        pairs: Corpora whose `src` and `tgt` have the same meaning.
        init_from: Encoder to continue training from. Default: new vectors.
        vectors: Word vectors to start with: a text file (word2vec, GloVe, fastText), or a stage `distill-words`.
        vector_words: Give a vector to exactly the words of `vectors`, whether the pairs have them or not, as in the
            papers; other words are unknown then.
        sts: Folder of similarity tasks, for development figures in the curve. Default: none.
        development: With `sts`, the tasks that are evaluated before training and after each epoch, joined by '+'. Pairs
            of theirs that test tasks have, too, are refused, left out (`?overlap=drop` behind the names) or kept
            (`?overlap=keep`). Default: STS-B dev, STS 2012 train, SICK trial and PIT dev, without pairs of test tasks.
        keep: With `sts`, 'best' is the encoder of the epoch with the highest development figure, which may be the
            untrained one, and 'last' that of the last epoch.
        devices: Where recurrent networks compute: 'cpu', 'cuda' or 'cuda:0,cuda:1'.

    For the other fields see :class:`~paraloom.embed.config.EncoderConfig`.

    Raises:
        DataError: When it runs: the corpora have no usable pairs.

    Reference:
        Wieting and Gimpel 2018 (PNMT), §4.1 and §5.

    Example:
        >>> TrainEncoder(pairs=["filter"], spec="word,trigram", epochs=3).megabatch_size
        20
    """

    sentinel: ClassVar[str] = "*.vocabulary.txt"
    optional_fields: ClassVar[tuple[str, ...]] = ("vector_words",)

    pairs: tuple[Ref, ...]
    init_from: Ref | None = None
    vectors: Ref | None = None
    vector_words: bool = False
    sts: Ref | None = None
    development: str = DEVELOPMENT
    keep: Literal["last", "best"] = "best"
    devices: str = "cpu"

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Train and save the encoder; the curve has the loss and, with `sts`, the development task."""
        for path in context.paths("pairs"):
            warn_of_bitext(Corpus.open(path), context.seed)
        return self._train(folder, context)

    def _train(self, folder: Path, context: StageContext, facts: Mapping[str, str] | None = None) -> dict[str, Json]:
        batches = chain.from_iterable(
            Corpus.open(path).batches(["src", "tgt"], label="reading pairs") for path in context.paths("pairs")
        )

        development = read_development(context.inputs["sts"], self.development) if "sts" in context.inputs else None
        figures = train_encoder(
            batches,
            base_config(EncoderConfig, self),
            folder,
            None if development is None else development.figures,
            seed=context.seed,
            init_from=context.inputs.get("init_from"),
            vectors=context.inputs.get("vectors"),
            vector_words=self.vector_words,
            devices=self.devices,
            keep_best=development is not None and self.keep == "best",
            facts=facts,
        )
        return figures if development is None else {**figures, "development": development.describe()}


@dataclass(frozen=True, kw_only=True)
class EvaluateSts(Fit):
    """Evaluates encoders on semantic textual similarity: correlations of their cosines with human scores.

    Rows beside an encoder are what its training started from, if its folder has it, and the overlap of rare words and
    trigrams; both protocols, the papers' and MTEB's, are in the report.

    Args:
        encoder: The encoder.
        sts: File or folder of similarity tasks.
        tasks: Groups or files of the folder, such as `STS-B/dev`; all by default.
        published: Show published figures in the report as well.
        others: Further encoders for the same tables.
        vectors: Word vectors whose plain average is one more row: a text file, or a stage `distill-words`.

    Raises:
        ConfigError: When it runs: a task does not exist.

    Reference:
        Agirre et al. 2012 to 2015, "SemEval: Semantic textual similarity"; Cer et al. 2017 (STS-B).

    Example:
        >>> EvaluateSts(encoder="train-encoder", sts="sts", tasks=["STS-B/dev"]).published
        True
    """

    version: ClassVar[str] = "2"

    encoder: Ref
    sts: Ref
    tasks: tuple[str, ...] = ()
    published: bool = True
    others: tuple[Ref, ...] = ()
    vectors: Ref | None = None

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json and return each group's mean Pearson, and that of the baselines."""
        paths = named_paths((self.encoder, *self.others), (context.inputs["encoder"], *context.paths("others")))
        encoders = {name: open_encoder(path, available_threads()) for name, path in paths.items()}
        vectors = None
        if "vectors" in context.inputs:
            vectors = average_vectors_of(context.inputs["vectors"], context.inputs["sts"], self.tasks)
        table = evaluate_sts(
            encoders,
            context.inputs["sts"],
            self.tasks or None,
            untrained=open_starts(paths),
            vectors=vectors,
            seed=context.seed,
        )
        result = table.to_dict()
        if self.published:
            result["published"] = [
                {"source": row.source, "system": row.system, "figures": dict(row.figures)} for row in PUBLISHED
            ]
            result["published_mteb"] = [
                {"system": row.system, "figures": {task: list(both) for task, both in row.figures.items()}}
                for row in PUBLISHED_MTEB
            ]
        (folder / "result.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        baselines = {
            system.name: {group: round(row.pearson, 2) for group, row in summary_rows(system.rows).items()}
            for system in table.systems[1:]
        }
        means = {row.group: round(row.pearson, 2) for row in table.rows if row.subset == "mean"}
        return {"pearson_mean": means, "compared": baselines, "signature": table.signature}


def named_paths(refs: Sequence[Ref], paths: Sequence[Path]) -> dict[str, str | Path]:
    """Artifacts by what a table calls them: the name of the stage, or of the folder."""
    named: dict[str, str | Path] = {}
    for ref, path in zip(refs, paths, strict=True):
        name = (ref.name or path.name) if isinstance(ref, Stage) else Path(ref).name
        named[name if name not in named else str(ref)] = path
    return named


def average_vectors_of(vectors: str | Path, folder: str | Path, tasks: Sequence[str] = ()) -> EncoderLike:
    root, present, _ = find_tasks(folder, tasks or None)
    files = present if tasks else [*present, *complete_mteb_tasks(root, present)]
    pairs = (read_task(root, task) for task in files)
    return average_vectors(vectors, (side for of_task in pairs for side in (of_task.first, of_task.second)))


def open_starts(paths: Mapping[str, str | Path]) -> dict[str, EncoderLike]:
    """What the trainings of encoders started from, for those whose folder has it, by the same names."""
    folders = {name: untrained_folder(path) for name, path in paths.items()}
    return {name: open_encoder(folder) for name, folder in folders.items() if folder is not None}


@dataclass(frozen=True, kw_only=True)
class QuantizeEncoder(Fit):
    """Quantizes an encoder to integers with a scale per row, and measures what that costs.

    A transformer of `distill-transformer` becomes a folder of CTranslate2 in int8, which is four times as fast.

    Args:
        encoder: The encoder.
        bits: Of an integer in the file, 8 or 4; transformers have 8.
        sts: Folder of similarity tasks to evaluate both encoders on (mean Pearson × 100 of each group). Default: none.

    Example:
        >>> QuantizeEncoder(encoder="train-encoder", sts="sts").encoder
        'train-encoder'
    """

    encoder: Ref
    bits: Literal[4, 8] = 8
    sts: Ref | None = None

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write the quantized encoder and result.json; return the figures and the loss of each group."""
        exact, small = _quantized(context.inputs["encoder"], folder, self.bits)
        if "sts" not in context.inputs:
            return {}
        figures: dict[str, Json] = {}
        for name, encoder in (("exact", exact), ("quantized", small)):
            table = evaluate_sts(encoder, context.inputs["sts"], overlap=False)
            figures[name] = {row.group: round(row.pearson, 2) for row in table.rows if row.subset == "mean"}
        figures["loss"] = {
            group: round(figures["exact"][group] - figures["quantized"][group], 3) for group in figures["exact"]
        }
        (folder / "result.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        return figures


def _quantized(source: Path, folder: Path, bits: Literal[4, 8]) -> tuple[EncoderLike, EncoderLike]:
    """An encoder, and what `folder` then has: the same one in integers."""
    if is_trained_transformer(source):
        if bits != 8:
            raise ConfigError("a transformer can be quantized to 8 bits only", remedy="Leave 'bits' out.")
        convert_transformer(source, folder)
        threads = available_threads()
        return open_encoder(source, threads), open_encoder(folder, threads)
    exact = load_encoder(source)
    small = quantize(exact, bits)
    save_encoder(small, folder)
    return exact, small


@dataclass(frozen=True, kw_only=True)
class TrainBilingualEncoder(TrainEncoder):
    """Trains a sentence encoder of two or more languages on bitext: translations get similar vectors.

    As :class:`TrainEncoder`, with defaults for bitext: words and n-grams of all languages in one table, and
    cross-entropy over large mini-batches, whose other pairs, of whatever language, are the negatives. Before training,
    a warning says if the sides of a bitext are in one language or swapped.

    Args:
        pairs: Bitexts.

    For the other fields see :class:`TrainEncoder` and :class:`~paraloom.embed.config.EncoderConfig`.

    Raises:
        DataError: When it runs: a bitext has equal sides throughout, or no pair can be used.

    Example:
        >>> TrainBilingualEncoder(pairs=["de-en", "cs-en"]).spec
        'ngram'
    """

    spec: str = BITEXT_SETTINGS["spec"]
    dimension: int = BITEXT_SETTINGS["dimension"]
    loss: Literal["margin", "softmax"] = BITEXT_SETTINGS["loss"]
    temperature: float = BITEXT_SETTINGS["temperature"]
    softmax_margin: float = BITEXT_SETTINGS["softmax_margin"]
    batch_size: int = BITEXT_SETTINGS["batch_size"]
    learning_rate: float = BITEXT_SETTINGS["learning_rate"]
    relative_learning_rate: float = BITEXT_SETTINGS["relative_learning_rate"]
    epochs: int = BITEXT_SETTINGS["epochs"]
    max_tokens: int = BITEXT_SETTINGS["max_tokens"]

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Check the bitexts, then train and save the encoder; the figures have `bitexts`, one entry each."""
        checks: list[dict[str, Any]] = []
        for path in context.paths("pairs"):
            corpus = Corpus.open(path)
            columns = [name for name in ("src", "tgt", "src_lang", "tgt_lang") if name in corpus.schema.names]
            try:
                checks.append(check_bitext(_origin(corpus, path), corpus.batches(columns)))
            except DataError as error:
                raise error.at(file=_origin(corpus, path)) from None
        return {**self._train(folder, context, language_facts(checks)), "bitexts": checks}


def _origin(corpus: Corpus, path: Path) -> str:
    """What the pairs of a corpus say that they come from; else its folder."""
    if "origin" in corpus.schema.names:
        for batch in corpus.batches(["origin", "src_lang", "tgt_lang"]):
            if batch.num_rows:
                origin, src_lang, tgt_lang = (column[0].as_py() for column in batch.columns)
                return origin if origin.endswith(f"{src_lang}-{tgt_lang}") else f"{origin}.{src_lang}-{tgt_lang}"
    return str(path)
