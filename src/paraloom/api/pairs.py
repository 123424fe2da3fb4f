"""Sentence pairs in Python: read, back-translate, score, filter and write them, lazily, by the stages of a pipeline."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast

import pyarrow as pa

from paraloom.api.model_references import absolute_path, model_folder, named_encoder
from paraloom.api.outputs import check_output, path_text
from paraloom.api.pairs_table import (
    PairFunction,
    PairsTable,
    RowFunction,
    chosen_by,
    columns_of_functions,
    split_scores,
)
from paraloom.api.travelling_warnings import repeat_warnings, warnings_of, warnings_of_result, write_with_warnings
from paraloom.api.yields import warn_of_yield
from paraloom.core.batches import as_list
from paraloom.core.errors import ConfigError, MissingExtraError, ParaloomError
from paraloom.core.protocols import EncoderLike, TranslatorLike
from paraloom.core.stage import Map, Ref, Source, Stage
from paraloom.io import Corpus
from paraloom.io.corpus import write_corpus
from paraloom.pipeline.definition import Definition, define_steps
from paraloom.pipeline.registry import use_of
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.shard import OnError

if TYPE_CHECKING:
    import pandas

    from paraloom.api.keywords import FilterSettings
    from paraloom.api.memory import Compute
    from paraloom.api.translators import AnyTranslator
    from paraloom.mt.callable_translator import TranslatingFunction
    from paraloom.mt.translator import Translator
    from paraloom.pairs.scoring.scorer import Scorer
    from paraloom.stages.translators import LoadTranslator

_SHOWN_COLUMNS = 12


class Pairs(PairsTable):
    """A corpus of sentence pairs that is read when its rows are needed, not before.

    Methods that transform it return a new `Pairs`; nothing runs until rows are asked for (`to_arrow`, `to_pandas`,
    `to_list`, iteration, `len`) or written (`write`). Files are streamed, in batches, whatever their size.
    Make one with `paraloom.read_pairs`, or from Python data with `paraloom.as_pairs`.

    Args:
        stages: Stages that yield the pairs, in the order they run; the last corpus of them is the pairs.
        source: Without stages: the folder of a corpus.
        seed: Seed of every random choice.

    Raises:
        ConfigError: A file or folder that a stage refers to is not found.

    Example:
        >>> from paraloom import as_pairs
        >>> pairs = as_pairs([("A cat sleeps.", "The cat is asleep."), ("Stocks fell.", "Stocks fell.")])
        >>> scored = pairs.score(["overlap"])
        >>> scored.filter("trigram_overlap <= 0.7").to_list()[0]["tgt"]
        'The cat is asleep.'
    """

    def __init__(self, stages: Sequence[Stage], source: Ref | None = None, *, seed: int = 1) -> None:
        self._stages = tuple(stages)
        self._source = source
        self.warnings: tuple[str, ...] = ()
        """Warnings about all of the pairs, such as that of a translator out of its depth; known with the rows."""
        self._seed = seed
        self._scratch: _Scratch | None = None
        self._result: Corpus | None = None
        if self._stages:
            define_steps(self._stages, Path.cwd())  # reports now what is wrong, before anything runs

    def score(
        self,
        scores: Sequence[str | Scorer | PairFunction] | str | Scorer | PairFunction = "common",
        *,
        encoder: EncoderLike | str | Path | None = None,
        word_counts: str | Path | None = None,
        language_model: str | Path | None = None,
        classifier: str | Path | None = None,
        translator: AnyTranslator | None = None,
        reverse_translator: AnyTranslator | None = None,
        agreement_samples: int = 0,
        paraphrase_model: str | Path | None = None,
        judge: str | Path | None = None,
        languages: Sequence[str] = (),
    ) -> Pairs:
        """Add columns of scores; no row is dropped.

        Args:
            scores: Scores or groups, such as overlap, bleu1 or all; `paraloom scores` lists them. In Python also
                scorers of your own, and functions of both texts, whose column has their name (`score_1` for a lambda
                in the first place). With `bilingual` among them, the encoder adds `bilingual_similarity`, for bitext;
                with `agreement`, `translator` adds that, too. `comet:FOLDER` and `metricx:FOLDER` add `comet` and
                `metricx` by a COMET or MetricX-24 model, as a translation of `src`; COMET models with references need
                the column `pivot`, which they take for the source.
            encoder: Adds `paraphrase_score` (of `bilingual`: `bilingual_similarity`): an encoder, its name or folder.
            word_counts: Adds the mean IDF of both sides: a folder of `train word-counts`.
            language_model: Adds perplexities: a folder of `train language-model`, or an ARPA file.
            classifier: Adds `reference_probability`: a folder of `research train-classifier`.
            translator: Adds `forward_cost` and `reference_cost`: a translator from the language of the pivot, the
                sentence that was translated, into that of the pairs, by name or folder.
            reverse_translator: Adds `reverse_cost`, `reverse_cost_gap` and `round_trip_chrf`: a translator the other
                way; with both, `dual_cross_entropy`, too.
            agreement_samples: Adds `agreement`, the mean chrF of `tgt` against this many samples of `translator`, 2 or
                more; it takes as long as this many translations. Default: 16 if `agreement` is among the scores.
            paraphrase_model: Adds `p_paraphrase`, computed from the other scores of the pairs: the name of a bundled
                model, or a folder of `train paraphrase-model`. `filter` with a preset adds it without this.
            languages: Adds the probability of the stated languages: all that may occur, two or more, such as de,en.
            judge: Adds `judge`, `judge_forward` and `judge_backward` by another judge than the bundled one of English,
                which `judge` among `scores` takes: a folder of `train_judge` or of any cross-encoder in ONNX format,
                with settings as 'FOLDER?label=entailment&file=onnx/model.onnx'; or a language model behind an endpoint,
                as 'http://127.0.0.1:8000/v1?model=NAME', which adds `judge` alone.

        Returns:
            Pairs with the new columns.

        Raises:
            ConfigError: A score is unknown (the message names the nearest one), a model is not found,
                or `agreement_samples` is 1 or given without `translator`.
            TypeError: `encoder` is not an encoder, a name or a folder.

        Example:
            >>> from paraloom import as_pairs
            >>> as_pairs([("a b c", "a b d")]).score(["bleu1"]).to_list()[0]["bleu1"] > 0
            True
            >>> def longer(src, tgt):
            ...     return len(tgt) - len(src)
            >>> as_pairs([("a b c", "a b c d")]).score([longer, "overlap"])[0]["longer"]
            2.0
        """
        from paraloom.pairs.scoring.models import PARAPHRASE_SCORE, encoder_scorers, split_metrics, without_bilingual
        from paraloom.pairs.scoring.table import score as score_batch
        from paraloom.stages.scores import Score

        model, name, in_memory = named_encoder(encoder)
        named, scorers, functions = split_scores(scores)
        names, metrics = split_metrics(named)
        if in_memory is not None:
            others, bilingual = without_bilingual(names)
            names = others if bilingual else tuple(name for name in others if name != PARAPHRASE_SCORE.name)
            scorers += encoder_scorers(in_memory, bilingual=bilingual)
        # p_paraphrase is computed from the other scores, so it comes after those that this process computes.
        in_process = bool(scorers or functions)
        last, paraphrase_model = (paraphrase_model, None) if in_process else (None, paraphrase_model)
        loading, references, settings = self._loading(judge, translator, reverse_translator)
        stage = Score(
            scores=names,
            encoder=model,
            sentence_transformer=name,
            word_counts=absolute_path(word_counts),
            language_model=absolute_path(language_model),
            classifier=absolute_path(classifier),
            translator=references.get("translator"),
            reverse_translator=references.get("reverse_translator"),
            agreement_samples=agreement_samples,
            paraphrase_model=model_folder(paraphrase_model),
            judge=references.get("judge"),
            judge_file=settings.get("file", ""),
            judge_label=settings.get("label", ""),
            comet=metrics.get("comet"),
            metricx=metrics.get("metricx"),
            languages=tuple(as_list(languages)),
        )
        scored = self._with(*loading, self._connected(stage))
        if not in_process:
            return scored
        add_functions = columns_of_functions(functions)
        encoded = scored._in_process(
            lambda batch, seed: add_functions(score_batch(batch, scorers) if scorers else batch, seed)
        )
        return encoded if last is None else encoded.score((), paraphrase_model=last)

    def _loading(
        self, judge: str | Path | None, translator: AnyTranslator | None, reverse_translator: AnyTranslator | None
    ) -> tuple[list[Stage], dict[str, Ref], dict[str, str]]:
        """The stages that bring models in, references to them by name, and the settings of the judge."""
        stages: list[Stage] = []
        references: dict[str, Ref] = {}
        settings: dict[str, str] = {}
        if judge is not None:
            from paraloom.api.endpoints import judge_stages

            stages, references["judge"], settings = judge_stages(judge, name=self._unique("judge"))
        for key, given in (("translator", translator), ("reverse_translator", reverse_translator)):
            if given is not None:
                from paraloom.api.translators import translator_stages

                _refuse_endpoint(given)
                loading, references[key], _ = translator_stages(given, name=self._unique(key.replace("_", "-")))
                stages += loading
        return stages, references, settings

    def filter(
        self,
        where: str | RowFunction = "",
        *,
        preset: str | None = None,
        encoder: EncoderLike | str | Path | None = None,
        reverse_translator: AnyTranslator | None = None,
        **criteria: Unpack[FilterSettings],
    ) -> Pairs:
        """Keep the pairs that meet all criteria.

        Args:
            where: A condition in SQL over the columns, such as ``"trigram_overlap <= 0.7"``. In Python also a function
                of a row, a dictionary, that returns whether to keep it; it runs in this process.
            preset: strict, balanced or loose: keep what is probably a paraphrase, but not a near-copy. It is a
                condition on `p_paraphrase`, which is computed first, with the judge that it reads (some 1,000 pairs a
                second and core); `where` is applied in addition. 'strict?model=FOLDER&encoder=NAME' is a preset of a
                model of `train paraphrase-model`, and the encoder of `paraphrase_score`, if it reads that.
            encoder: That encoder, as an object.
            reverse_translator: For a preset, of back-translations: translate back first, with this translator (a name
                or a folder); the most reliable.
            **criteria: Further criteria of `paraloom.stages.Filter`: `per_source`, `top`, `decile`, `by`, `sample`,
                or a promise: `precision=0.9, labels="sheet.tsv"` (`draw_labels` writes the sheet). With a preset,
                `per_source` ranks by `p_paraphrase` unless `by` is given. `by='NAME?best=lowest'` says which end of a
                column is the better one, where it is not a score.

        Returns:
            The kept pairs; `write` returns why the others were rejected. A warning says if fewer than 5 % are kept,
            what costs most, and what the presets would keep.

        Raises:
            ConfigError: A criterion is out of range, or the model has no such preset; or, once rows are needed: the
                condition is not valid SQL, or a column is missing.
            DataError: Once rows are needed: the labels do not certify the precision.

        Example:
            >>> from paraloom import as_pairs
            >>> len(as_pairs([("a", "b"), ("c", "d e")]).filter("tgt = 'b'"))
            1
            >>> len(as_pairs([("a", "b"), ("c", "d e")]).filter(lambda row: len(row["tgt"]) > 1))
            1
        """
        from paraloom.api.presets import filter_settings
        from paraloom.stages.pairs import Filter

        if not isinstance(where, str):
            if not callable(where):
                raise TypeError(f"expected a condition or a function of a row, got {type(where).__name__}")
            chosen = self._in_process(chosen_by(where))
            if preset is None and encoder is None and reverse_translator is None and not criteria:
                return chosen
            return chosen.filter(preset=preset, encoder=encoder, reverse_translator=reverse_translator, **criteria)
        scored, settings = filter_settings(
            self, {**criteria, "where": where}, preset, encoder=encoder, reverse_translator=reverse_translator
        )
        return scored.then(Filter(**settings))

    def backtranslate(
        self,
        translator: Translator | LoadTranslator | TranslatorLike | TranslatingFunction | str | Path,
        *,
        decode: str | None = None,
        side: str = "src",
        check_languages: bool = True,
    ) -> Pairs:
        """Pair each target sentence with translations of its source: paraphrases in the target language.

        Args:
            translator: A translator, its name (bundled, or of Hugging Face) or folder; or any object whose method
                `translate(sentences, *, seed)` returns lists of `paraloom.Variant`, or a function from a list of texts
                to a list of translations, or of lists of them: these are called in this process.
            decode: How to decode, such as beam:12, nucleus:0.95 or nucleus:0.95,nbest=3. Default: the translator's own,
                or beam:5; greedy for an endpoint. An object of another class than `paraloom.Translator` decodes in its
                own way.
            side: The side to translate, src or tgt; the other is the reference.
            check_languages: Fail, before any work, if the languages of a sample do not fit the translator: swapped
                sides, a bitext in one language.

        Returns:
            Pairs whose `src` is the side that was not translated, the reference, and whose `tgt` is a translation of
            the other side, with `rank`, `logprob`, `tokens` and `method`.

        Raises:
            ConfigError: The translator is not found, or `side` is unknown.
            TypeError: `translator` is not a translator, a function, a name or a folder.
            DataError: Once rows are needed: the languages of the pairs do not fit the translator.

        Reference:
            Wieting et al. (2017), §3.

        Example:
            >>> from paraloom import as_pairs
            >>> pairs = as_pairs([("Guten Morgen", "Good morning")], src_lang="de", tgt_lang="en")
            >>> pairs.backtranslate("de-en").to_list()[0]["src"]
            'Good morning'
        """
        from paraloom.api.memory import translation_in_process
        from paraloom.api.translators import AnyTranslator, loads_by_folder, translator_stages
        from paraloom.mt.callable_translator import as_translator
        from paraloom.stages.pairs import BackTranslate

        if side not in ("src", "tgt"):
            raise ConfigError(f"'side' must be 'src' or 'tgt', not {side!r}")
        side_ = cast('Literal["src", "tgt"]', side)
        if not loads_by_folder(translator):
            return self._in_process(translation_in_process(as_translator(translator), decode, side_, check_languages))
        stages, reference, own_decoding = translator_stages(
            cast(AnyTranslator, translator), name=self._unique("translator")
        )
        stage = BackTranslate(
            translator=reference, decode=decode or own_decoding or "beam:5", side=side_, check_languages=check_languages
        )
        return self._with(*stages, self._connected(stage))

    def drop_duplicates(
        self, *, similarity: float = 0.8, columns: Sequence[str] = ("src", "tgt"), encoder: str | Path | None = None
    ) -> Pairs:
        """Drop near-duplicates of earlier pairs, by their letters (MinHash) or by their meaning.

        Args:
            similarity: Jaccard similarity of 5-grams of characters, above 0 to 1, from which two pairs count as
                duplicates; with an encoder the cosine, such as 0.9.
            columns: Text columns that are compared.
            encoder: Compare meaning: an encoder's name or folder.

        Returns:
            The pairs without near-duplicates.

        Example:
            >>> from paraloom import as_pairs
            >>> len(as_pairs([("a b c d", "e f g h"), ("a b c d", "e f g h")]).drop_duplicates())
            1
        """
        from paraloom.stages.pairs import DropDuplicates, FindDuplicates

        find = FindDuplicates(
            name=self._unique("find-duplicates"),
            pairs=self.source,
            similarity=similarity,
            columns=tuple(as_list(columns)),
            encoder=model_folder(encoder),
        )
        return self._with(find, self._connected(DropDuplicates(duplicates=find)))

    def then(self, stage: Map) -> Pairs:
        """Append any `Map` of `paraloom.stages`, or one of your own.

        Args:
            stage: The stage; without `input` it maps these pairs.

        Returns:
            What the stage makes of the pairs.

        Raises:
            TypeError: `stage` is not a `Map`.
            ConfigError: Something that the stage refers to is not found.

        Example:
            >>> from paraloom.stages import Clean
            >>> from paraloom import as_pairs
            >>> len(as_pairs([("a b c", "d e f"), ("a", "b")]).then(Clean(min_words=2)))
            1
        """
        if not isinstance(stage, Map):
            raise TypeError(f"expected a Map of paraloom.stages, got {type(stage).__name__}")
        return self._with(self._connected(stage))

    def write(
        self, path: str | Path, *, engine: str = "local", workers: int | None = None, on_error: OnError = "stop"
    ) -> RunResult:
        """Write the pairs, sharded over processes; if stopped, the same call resumes.

        Args:
            path: Where to: .tsv, .jsonl, .parquet, .tmx (each also .gz .zst .xz), ``PREFIX.{de,en}``, '-' for standard
                output, a folder NAME.dataset for Hugging Face `datasets`, or a folder that becomes a corpus.
            engine: 'local', 'inline' or 'ray'. The result is the same.
            workers: Number of processes; default: one per core; a filter by `where` alone takes one. The result is the
                same.
            on_error: 'stop' at a row that cannot be processed, or 'reject' it.

        Returns:
            Row counts and reasons of rejection, stage by stage; `folder` is `path`.

        Raises:
            ParaloomError: Names stage, file and row. Nothing is left half-written.
        """
        from paraloom.api.run import run_stages

        path_text(path)
        if not self._stages:
            check_output(path, [str(self._source)])
            write_with_warnings(self.corpus(), str(path), warnings_of(Path(str(self._source))))
            return RunResult(Path(path), ())
        return run_stages(self._stages, str(path), seed=self._seed, engine=engine, workers=workers, on_error=on_error)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Iterate over the rows in batches.

        Returns:
            Arrow record batches of at most 1,024 rows.
        """
        yield from self.corpus().batches()

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        names: list[str] = self._schema().names
        return names

    def _schema(self) -> pa.Schema:
        return self.corpus().schema

    def to_arrow(self) -> pa.Table:
        """Read all rows into memory.

        Returns:
            An Arrow table; the metadata of a column of scores has the signature of what computed it.
        """
        corpus = self.corpus()
        return pa.Table.from_batches(list(corpus.batches()), schema=corpus.schema)

    def to_pandas(self) -> pandas.DataFrame:
        """Read all rows into memory; needs the extra `pandas`.

        Returns:
            A pandas DataFrame.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        try:
            return self.to_arrow().to_pandas()
        except ModuleNotFoundError as error:
            raise MissingExtraError.for_verb("to_pandas", "pandas") from error

    def to_list(self) -> list[dict[str, Any]]:
        """Read all rows into memory.

        Returns:
            A dictionary for each row.
        """
        rows: list[dict[str, object]] = self.to_arrow().to_pylist()
        return rows

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self.batches():
            yield from batch.to_pylist()

    def __len__(self) -> int:
        return self.corpus().rows

    def __repr__(self) -> str:
        steps = [type(stage).__name__ for stage in self._stages]
        if not steps:
            steps = [str(self._source)]
            with suppress(ParaloomError):
                self.corpus()  # opened, not read
        if self._result is None:
            return f"<Pairs {' → '.join(steps)}, not computed yet>"
        names = self._result.schema.names
        shown = ", ".join(names[:_SHOWN_COLUMNS]) + " …" * (len(names) > _SHOWN_COLUMNS)
        return f"<Pairs {' → '.join(steps)}, {self._result.rows:,} rows, {len(names)} columns: {shown}>"

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages that make these pairs, for pipelines of your own; empty for a corpus folder."""
        return self._stages

    @property
    def source(self) -> Ref:
        """The corpus of these pairs, for stages that refer to it."""
        corpora = [stage for stage in self._stages if isinstance(stage, (Source, Map))]
        last: Ref | None = corpora[-1] if corpora else self._source
        assert last is not None, "pairs come from a stage or from a path"
        return last

    def _with(self, *stages: Stage) -> Pairs:
        """These pairs with further stages."""
        return Pairs([*self._stages, *stages], self._source, seed=self._seed)

    def _in_process(self, compute: Compute) -> Pairs:
        """Pairs that an object of this process computes from these, when their rows are needed."""
        from paraloom.api.memory import InProcess

        return Pairs([InProcess(rows=self.batches, compute=compute)], seed=self._seed)

    def _of_table(self, table: pa.Table) -> Pairs:
        """Pairs of a table, in a temporary folder that lives as long as they do."""
        scratch = _Scratch()
        batches = table.to_batches(max_chunksize=1024) or [pa.RecordBatch.from_pylist([], schema=table.schema)]
        write_corpus(scratch.path / "rows", batches, kind="PAIRS")
        pairs = Pairs([], scratch.path / "rows")
        pairs._scratch = scratch
        return pairs

    def _connected(self, stage: Map) -> Map:
        """The stage with these pairs as its input, and a number in its name where there is one of its kind already."""
        name = stage.name or self._unique(use_of(type(stage)).rpartition(":")[2])
        return replace(stage, name=name, input=stage.input if stage.input is not None else self.source)

    def _unique(self, name: str) -> str:
        """The name, with a number where a stage has it already."""
        names = {stage.name or use_of(type(stage)).rpartition(":")[2] for stage in self._stages}
        numbered = (f"{name}-{number}" for number in range(2, len(names) + 3))
        return name if name not in names else next(other for other in numbered if other not in names)

    def corpus(self) -> Corpus:
        """Compute the rows, once.

        Returns:
            The corpus that they come from, or else one in a temporary folder that lives as long as this object.
        """
        from paraloom.api.rejected import report_rejected
        from paraloom.api.run import hide_work
        from paraloom.pipeline.execution import NoRowsError
        from paraloom.pipeline.runner import run_pipeline

        if self._result is None:
            if not self._stages:
                self._result = Corpus.open(Path(str(self._source)))
            else:
                scratch = _Scratch()
                definition = Definition("pairs", self._seed, define_steps(self._stages, Path.cwd()))
                known = repeat_warnings(definition)
                try:
                    result = run_pipeline(definition, scratch.path / "run", engine="inline")
                except ParaloomError as error:
                    hide_work(error, scratch.path)
                    if isinstance(error, NoRowsError):
                        error.remedy = "An earlier step kept no pair: filter less strictly."
                    raise
                report_rejected(definition, result)
                self.warnings = warnings_of_result(definition, result, known)
                warn_of_yield(definition, result, self.warnings)
                self._result, self._scratch = Corpus.open(result.stages[-1].folder), scratch
        return self._result


class _Scratch:
    """A temporary folder that is deleted with this object, whose user need not close it."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="paraloom-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def _refuse_endpoint(translator: object) -> None:
    """An endpoint is known by its type or its address, before any row is read."""
    from paraloom.mt.endpoint import EndpointTranslator
    from paraloom.mt.endpoint_config import is_endpoint

    if isinstance(translator, EndpointTranslator) or is_endpoint(translator):
        raise ConfigError(
            "an endpoint cannot score given translations", remedy="Score with a translator on this machine."
        )
