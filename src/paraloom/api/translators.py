"""Translators for users: how they are named, trained, and run over files."""

from __future__ import annotations

import json
import math
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from itertools import chain, tee
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from paraloom.api.endpoints import named_translator, without_rejected
from paraloom.api.keywords import ReadingOptions
from paraloom.api.model_references import model_folder
from paraloom.api.rejected import RejectedLines
from paraloom.api.run import input_stages, run_stages
from paraloom.bundled import bundled_path
from paraloom.core.batches import as_list, batched
from paraloom.core.errors import ConfigError, DataError, suggestion
from paraloom.core.lazy import load_object
from paraloom.core.progress import progress
from paraloom.core.protocols import TranslatorLike, Variant
from paraloom.core.schema import VARIANTS
from paraloom.core.stage import Ref, Stage
from paraloom.io import write_table
from paraloom.io.bitext import check_target, read_pairs
from paraloom.io.compression import PIPE, open_write
from paraloom.io.tables import check_lines
from paraloom.mt.callable_translator import as_translator
from paraloom.mt.checkpoint import bundled_translators, check_fetched
from paraloom.mt.decoding import Beam, Decoding, describe_decoding, parse_decoding
from paraloom.mt.endpoint import EndpointTranslator
from paraloom.mt.loading import is_ready, open_translator
from paraloom.mt.names import SHORT_NAMES, hub_name
from paraloom.mt.streams import translate_stream
from paraloom.mt.translator import Translator
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.shard import OnError
from paraloom.stages.endpoints import LoadEndpoint
from paraloom.stages.input_checks import Direction, SampledRows
from paraloom.stages.input_checks import check_languages as check_sample
from paraloom.stages.translators import GIVE_DEVELOPMENT, LoadTranslator, TrainTranslator, held_out_share

AnyTranslator: TypeAlias = "Translator | LoadTranslator | EndpointTranslator | str | Path"
"""A translator that worker processes can load, or what loads one: a reference such as `NAME?from=de&to=en`."""

CHUNK = 500
"""Lines that a core takes at a time: enough to sort by length, few enough to share out evenly."""


def translator_stages(translator: AnyTranslator, *, name: str = "translator") -> tuple[list[Stage], Ref, str | None]:
    """The stages that bring a translator in, what later stages refer to, and the translator's own decoding."""
    if isinstance(translator, (str, Path)):
        translator = named_translator(translator)
    if isinstance(translator, Translator):
        if not loads_by_folder(translator):
            raise ConfigError(
                f"worker processes cannot load {translator!r} with its languages and device",
                remedy="Call its method translate, or Pairs.backtranslate: they run in this process.",
            )
        return [], translator.folder.absolute(), describe_decoding(translator.decoding)
    if isinstance(translator, EndpointTranslator):
        endpoint = LoadEndpoint(name=name, **asdict(translator.config))
        return [endpoint], endpoint, describe_decoding(translator.decoding)
    if isinstance(translator, LoadTranslator):
        check_fetched(translator.model)
        loading = replace(translator, name=name)
        return [loading], loading, None
    path, text = Path(translator), str(translator)
    bundled = bundled_path(text)
    if bundled is not None and not path.exists():
        return [], bundled, None
    if is_ready(path):
        return [], path.absolute(), None
    if path.is_dir() or hub_name(text) is not None:
        check_fetched(text)
        stage = LoadTranslator(name=name, model=text)
        return [stage], stage, None
    pair = re.fullmatch("[a-z]{2,3}-[a-z]{2,3}", text)
    close = "" if pair else suggestion(text, [*bundled_translators(), "opus-mt-de-en", *SHORT_NAMES])
    fetching = f"Fetch one, if OPUS-MT has it: paraloom models fetch opus-mt-{text}. Or name" if pair else "Name"
    raise ConfigError(
        f"translator '{text}' not found{close}",
        remedy=f"{fetching} a bundled translator ({', '.join(bundled_translators())}), one that was fetched "
        "(`paraloom models`), a folder, or a model of Hugging Face as OWNER/NAME.",
    )


def loads_by_folder(translator: object) -> bool:
    """Whether worker processes can load a translator: names, folders, and objects with nothing but their folder."""
    if isinstance(translator, Translator):
        try:
            plain = Translator(translator.folder)
        except ConfigError:  # it needs languages that the folder does not name
            return False
        own, loaded = ((one.source, one.target, one.device, one.long) for one in (translator, plain))
        return own == loaded
    return isinstance(translator, (str, Path, LoadTranslator, EndpointTranslator))


def all_translator_stages(translators: Sequence[AnyTranslator]) -> tuple[list[Stage], tuple[Ref, ...]]:
    stages: list[Stage] = []
    references: list[Ref] = []
    for translator in translators:
        name = f"translator-{len(stages) + 1}" if stages else "translator"
        loading, reference, _ = translator_stages(translator, name=name)
        stages += loading
        references.append(reference)
    return stages, tuple(references)


def train_translator(
    bitext: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    development: str | Path | None = None,
    test: str | Path | None = None,
    init_from: str | Path | None = None,
    subwords_from: str | Path | None = None,
    src_lang: str | None = None,
    tgt_lang: str | None = None,
    src_column: str | int | None = None,
    tgt_column: str | int | None = None,
    on_error: OnError = "stop",
    seed: int = 1,
    **config: Any,
) -> RunResult:
    """Train a translator from scratch; if stopped, the same call resumes.

    Args:
        bitext: Training pairs: one file or several, as `read_pairs` takes them.
        output: Folder of the translator.
        development: Pairs whose loss decides when to stop; default: 1,000 pairs are held out.
        test: Pairs whose BLEU the model card reports.
        init_from: A translator that Paraloom trained, to start from: a folder, or a bundled name.
        subwords_from: A translator of Paraloom whose subwords to use, so that both can score the same tokens.
        src_lang: Language of the source side; default: from the file's name.
        tgt_lang: Language of the target side.
        src_column: Source column of a table: a name, or a number from 1.
        tgt_column: Target column of a table.
        on_error: 'stop' at a row that cannot be read, or 'reject' it.
        seed: Seed of every random choice.
        **config: Further fields of `paraloom.stages.TrainTranslator`: `steps`, `vocab_size`, `d_model` …

    Returns:
        The result; the figures of the last stage have the development loss, BLEU and steps.

    Raises:
        MissingExtraError: The extra `train` is not installed.

    Example:
        >>> train_translator("train.{cs,en}", "cs-en", steps=1600)  # trains for minutes  # doctest: +SKIP
    """
    reading = ReadingOptions(src_lang=src_lang, tgt_lang=tgt_lang, src_column=src_column, tgt_column=tgt_column)
    stages: list[Stage] = []

    def read(source: str | Path, name: str) -> Ref:
        reading_stages, reference = input_stages(str(source), name=name, on_error=on_error, **reading)
        stages.extend(reading_stages)
        return reference

    training = TrainTranslator(
        bitext=tuple(read(source, f"bitext-{number}") for number, source in enumerate(as_list(bitext), start=1)),
        development=None if development is None else read(development, "dev"),
        test=None if test is None else read(test, "test"),
        init_from=model_folder(init_from),
        subwords_from=model_folder(subwords_from),
        **config,
    )
    with suppress(ModuleNotFoundError):  # said by the stage
        load_object("paraloom.mt.trainer:find_devices")(training)
    if development is None:
        skip = None if on_error == "stop" else lambda *_: None
        rows = partial(
            read_pairs,
            src_lang=src_lang,
            tgt_lang=tgt_lang,
            src_column=src_column,
            tgt_column=tgt_column,
            on_reject=skip,
            on_empty=lambda *_: None,
        )
        try:
            _check_rows(map(rows, as_list(bitext)), training.held_out)
        except DataError as error:
            raise error.at(stage="train-translator", file=", ".join(map(str, as_list(bitext)))) from None
    return run_stages([*stages, training], str(output), seed=seed)


def _check_rows(sources: Iterable[Iterable[pa.RecordBatch]], held_out: int) -> None:
    """Check, before any work, that there are pairs enough to hold some out."""
    rows = 0
    for batch in chain.from_iterable(sources):
        rows += batch.num_rows
        if rows >= 2 * held_out:
            return
    held_out_share(rows, held_out, GIVE_DEVELOPMENT)


def translate_file(
    translator: Translator | LoadTranslator | TranslatorLike | str | Path,
    source: str,
    output: str,
    *,
    decode: str | None = None,
    nbest: int | None = None,
    threads: int | None = None,
    check_languages: bool = True,
    on_error: OnError = "stop",
    json_lines: bool = False,
    seed: int = 1,
) -> int:
    """Translate the lines of a file, streaming, on all cores.

    Warns if the text costs more than the translator's development text, and if translations are empty.

    One translation per line is written as text, unless the suffix of `output` names a table; several are written as
    VARIANTS (.tsv, .jsonl, .parquet), with the number of the line, from 1, as `pair_id`.

    Args:
        source: A sentence per line.
        output: Text, or a table.
        decode: How to decode. Default: beam:5; greedy for an endpoint.
        nbest: Translations per sentence; several are written as row, rank, logprob, tokens, text.
        threads: Cores; default: all. The result is the same.
        json_lines: Without a file, each translation as a line of JSON.
    """
    if isinstance(translator, (str, Path)):
        translator = named_translator(translator, output=output)
    json_lines = json_lines and output == PIPE
    table = not json_lines and any(f".{kind}" in output for kind in ("tsv", "csv", "jsonl", "parquet"))
    if table:
        check_target(output)
    if source != PIPE:
        check_lines(Path(source))
    model, method, several = _decoding_model(translator, decode, nbest)
    if several > 1 and not (table or json_lines):
        raise ConfigError(
            f"{several} translations per line do not fit a text file", remedy="Name an output such as out.tsv."
        )
    cores = threads or os.cpu_count() or 1
    count = empty = 0
    rejected = RejectedLines(on_error)
    chunks = batched(rejected.read(source), CHUNK)
    if check_languages:
        first = next(chunks, [])
        _check_language(first, model, source)
        chunks = chain([first] if first else [], chunks)

    def results() -> Iterator[list[list[Variant]]]:
        nonlocal count, empty
        with progress("translating", unit="lines") as advance:
            texts, to_translate = tee(chunks)
            translations = translate_stream(model, to_translate, threads=cores, seed=seed)
            for chunk in without_rejected(texts, translations, partial(rejected.add, source)):
                yield chunk
                count += len(chunk)
                empty += sum(bool(variants[0].tokens) and not variants[0].text.strip() for variants in chunk)
                advance(len(chunk))

    _write_translations(results(), method, rejected, output, json_lines=json_lines, table=table)
    rejected.report(output)
    if empty:
        warnings.warn(f"{empty:,} of {count:,} lines have an empty translation", stacklevel=2)
    return count


def _write_translations(
    results: Iterable[list[list[Variant]]],
    method: str,
    rejected: RejectedLines,
    output: str,
    *,
    json_lines: bool,
    table: bool,
) -> None:
    if table:
        write_table(_variants(results, method, rejected), output)
        return
    with open_write(output) as stream:
        if json_lines:
            for batch in _variants(results, method, rejected):
                stream.writelines(f"{json.dumps(row, ensure_ascii=False)}\n".encode() for row in batch.to_pylist())
        else:
            for chunk in results:
                stream.write("".join(f"{variants[0].text}\n" for variants in chunk).encode())


def _decoding_model(translator: object, decode: str | None, nbest: int | None) -> tuple[TranslatorLike, str, int]:
    """A translator that decodes as it is asked to, the name of the decoding, and its translations per sentence."""
    is_name = isinstance(translator, (str, LoadTranslator))
    model = None if is_name else as_translator(translator)
    decoding = parse_decoding(decode) if decode else getattr(model, "decoding", Beam())
    method = decode or ("beam:5" if is_name else describe_decoding(decoding))
    if nbest is not None:
        if isinstance(decoding, Beam):
            decoding = replace(decoding, size=max(nbest, decoding.size))
        decoding = replace(decoding, nbest=nbest)
    if model is None:
        model = named_model(translator, decoding)
    elif decode or nbest is not None:
        if not isinstance(model, (Translator, EndpointTranslator)):
            raise ConfigError(f"{type(model).__name__} decodes in its own way", remedy="Leave out decode and nbest.")
        model = model.with_decoding(decoding)
    return model, method, decoding.nbest


def named_model(translator: object, decoding: str | Decoding, *, check_costs: bool = True) -> TranslatorLike:
    """A translator for this process, as the command line names it."""
    if isinstance(translator, (str, Path)):
        translator = named_translator(translator)
    if isinstance(translator, LoadTranslator):
        fields = ("source", "target", "revision", "precision", "long")
        options = {name: getattr(translator, name) for name in fields}
        loaded: TranslatorLike = Translator.load(translator.model, decode=decoding, check_costs=check_costs, **options)
        return loaded
    if not isinstance(translator, str):
        return as_translator(translator)
    return open_translator(translator, decoding, check_costs=check_costs)


def _check_language(lines: Sequence[str], model: TranslatorLike, source: str) -> None:
    """Fail if lines are in a language that a translator does not read."""
    sample = SampledRows([str(number) for number in range(1, len(lines) + 1)], {"text": list(lines)})
    try:
        check_sample(sample, "text", Direction.of(model))
    except DataError as error:
        raise error.at(file="standard input" if source == "-" else source) from None


def _variants(results: Iterable[list[list[Variant]]], method: str, rejected: RejectedLines) -> Iterator[pa.RecordBatch]:
    line = 0
    for chunk in results:
        rows: list[tuple[str, int, str, str, float | None, int | None]] = []
        for variants in chunk:
            line += 1
            if line in rejected.numbers:
                continue
            for rank, variant in enumerate(variants):
                cost = (None, None) if math.isnan(variant.logprob) else (variant.logprob, variant.tokens)
                rows.append((str(line), rank, variant.text, method, *cost))
        columns: list[Sequence[object]] = list(zip(*rows, strict=True)) if rows else [() for _ in VARIANTS]
        yield pa.record_batch([pa.array(c, f.type) for c, f in zip(columns, VARIANTS, strict=True)], schema=VARIANTS)
