"""Several translations of each text, for users: written, made into bitext, and measured for their diversity."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraloom.api.keywords import ReadingOptions
from paraloom.api.models import translator_direction
from paraloom.api.run import PREPARING, input_stages, run_in, run_stages, scratch_run
from paraloom.api.syntax import parser_fields
from paraloom.api.translators import all_translator_stages
from paraloom.core.batches import as_list
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.results import text_table
from paraloom.core.stage import Ref, Stage
from paraloom.evaluate.diversity.names import NAMES, NOTE
from paraloom.io.compression import decode, read_raw_lines, without_compression
from paraloom.io.corpus import DESCRIPTION
from paraloom.io.tables import columns_of
from paraloom.mt.presets import method as method_of
from paraloom.pipeline.fit import ARTIFACT
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.shard import OnError
from paraloom.stages.bitext import Clean
from paraloom.stages.diversity import MeasureDiversity, SampleVariants
from paraloom.stages.sentences import ReadSentences
from paraloom.stages.syntax import Parse
from paraloom.stages.variants import ReadVariants, TranslateVariants, VariantsToBitext

if TYPE_CHECKING:
    from paraloom.api.translators import AnyTranslator

PARSES = "text_parse"
"""The column that the stage `parse` adds to variants."""

_BITEXT = (".tsv", ".jsonl", ".parquet", ".tmx")


def translate_variants(
    source: str | Path,
    translators: str | AnyTranslator | Sequence[str | AnyTranslator],
    output: str | Path,
    *,
    decode: str = "",
    method: str = "",
    outputs: int = 3,
    column: str = "",
    field: str | None = None,
    lang: str = "und",
    src_lang: str | None = None,
    tgt_lang: str | None = None,
    src_column: str | int | None = None,
    tgt_column: str | int | None = None,
    engine: str = "local",
    workers: int | None = None,
    on_error: OnError = "stop",
    check_languages: bool = True,
    seed: int = 1,
) -> RunResult:
    """Translate each text in several ways and write VARIANTS.

    Args:
        source: A sentence per line; or pairs: a corpus folder, a file, PREFIX.{de,en}, a file of each side.
        translators: One translator, or several: all their outputs.
        decode: Instead of `method`: a decoding such as nucleus:0.9,nbest=5.
        method: base, beam, sampling, nucleus, topk, temperature, mbr, diverse, or syntax (a translator per output).
        outputs: Translations of each text, with `method`.
        column: The side of pairs that is translated: src or tgt.
        field: Of a table of text: the column, a name or a number from 1.
        lang: Language of text, such as en.

    Reference:
        Burchell et al. (2022), §2.
    """
    stages: list[Stage]
    reference: Ref
    source = str(source)
    if _is_text(source, field):
        # Lines are identified by what they say: a sentence that occurs twice is translated once.
        path = Path(source).absolute()
        reference = ReadSentences(name="input", text_files=(path,), field=_number(field), lang=lang, bad_rows=on_error)
        stages = [reference]
    else:
        reading = ReadingOptions(src_lang=src_lang, tgt_lang=tgt_lang, src_column=src_column, tgt_column=tgt_column)
        stages, reference = input_stages(source, on_error=on_error, **reading)
    loading, models = all_translator_stages(as_list(translators))
    stage = TranslateVariants(
        input=reference,
        translator=models,
        decode=decode,
        method=method or ("" if decode else "nucleus"),
        outputs=outputs,
        column=column,  # type: ignore[arg-type]
        check_languages=check_languages,
    )
    return run_stages(
        [*stages, *loading, stage], str(output), seed=seed, engine=engine, workers=workers, on_error=on_error
    )


def measure_diversity(
    corpora: Sequence[str],
    folder: str | Path | None = None,
    *,
    parser: str | None = None,
    references: str | Path | None = None,
    on_error: OnError = "stop",
    workers: int | None = None,
    seed: int = 1,
    **config: Any,
) -> list[dict[str, Any]]:
    """Measure how diverse and how adequate corpora of variants are.

    Args:
        corpora: Corpus folders, or .tsv, .jsonl, .parquet with pair_id and text.
        folder: Keep the run in this folder.
        parser: Parse first: english, a folder of `train parser`, spacy:NAME, stanza:LANGUAGE[:depparse].
        references: Pairs with the variants' pair_ids, for chrF to what a person wrote.
        **config: Further fields of `paraloom.stages.MeasureDiversity`.

    Reference:
        Burchell et al. (2022), Tables 1 to 4.
    """
    stages: list[Stage] = []
    reference_corpus: Ref | None = None
    if references is not None:
        reading, reference_corpus = input_stages(str(references), name=_of("references", "read"), on_error=on_error)
        stages += reading
    names = stage_names(corpora)
    config = {
        key: tuple(value) if isinstance(value, list) else value for key, value in config.items() if value is not None
    }
    for name, source in zip(names, corpora, strict=True):
        is_parsed = _is_parsed(source, parser, bool(config.get("kernels")))
        variants: Ref = Path(source).absolute()
        if not (Path(source) / DESCRIPTION).is_file():
            variants = ReadVariants(name=_of(name, "read"), source=Path(source).absolute())
            stages.append(variants)
        if parser:
            limit = {"limit": config["limit"]} if "limit" in config else {}
            sample = SampleVariants(name=_of(name, "sample"), input=variants, **limit)
            variants = Parse(name=_of(name, "parsed"), input=sample, columns=("text",), **parser_fields(parser))
            stages += [sample, variants]
        trees = PARSES if parser or is_parsed else ""
        stages.append(
            MeasureDiversity(name=name, variants=variants, references=reference_corpus, trees=trees, **config)
        )
    with scratch_run() if folder is None else nullcontext(Path(folder)) as run:
        result = run_in(run, stages, name="diversity", seed=seed, workers=workers)
        texts = [(result.stage(name).folder / ARTIFACT / "result.json").read_text(encoding="utf-8") for name in names]
    return [{"corpus": name, **json.loads(text)} for name, text in zip(names, texts, strict=True)]


def _is_parsed(source: str, parser: str | None, needs_trees: bool) -> bool:
    """Whether variants have parses; ConfigError where they are to be parsed again, or need some and have none."""
    columns = columns_of(source)
    if parser and PARSES in columns:
        raise ConfigError(
            f"the variants already have parses, in {PARSES}",
            file=source,
            remedy="Leave --parser out; `paraloom research parse` adds parses to variants without any.",
        )
    if needs_trees and not parser and columns and PARSES not in columns:
        raise ConfigError(
            "tree kernels need parses",
            file=source,
            remedy=f"Name a parser, or add {PARSES} with `paraloom research parse`.",
        )
    return PARSES in columns


def format_diversity(results: Sequence[Mapping[str, Any]]) -> str:
    """What `measure_diversity` returned, as a table with a row per corpus, like Tables 1 to 4 of BBH22."""
    figures_of = [{row["figure"]: row for row in result["figures"]} for result in results]
    columns = [name for name in NAMES if any(name in figures for figures in figures_of)]
    header = ["corpus", "sources", "alone", *(NAMES[name] for name in columns)]
    rows = []
    for result, figures in zip(results, figures_of, strict=True):
        counts = [f"{result['groups']:,}", f"{result['alone']:,}"]
        rows.append([result["corpus"], *counts, *(_cell(figures.get(name)) for name in columns)])
    return "\n".join([*text_table(header, rows), *_losses(results), NOTE])


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None or row["value"] is None:
        return "–"
    if row["figure"].endswith("vocabulary"):
        return f"{row['value']:,.0f}"
    half = "" if row["high"] in (None, row["value"]) else f" ±{row['high'] - row['value']:.2f}"
    return f"{row['value']:.2f}{half}"


def _losses(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each corpus with empty variants, failed parses or sources without a reference."""
    lines = []
    for result in results:
        notes = [
            f"{result['empty']:,} of {result['variants']:,} variants are empty" if result["empty"] else "",
            f"{result['unreferenced']:,} sources have no reference" if result.get("unreferenced") else "",
            *(
                f"{row['failed']:,} of {row['texts']:,} parses failed ({row['reasons']})"
                for row in result.get("kernels", [])[:1]
                if row["failed"]
            ),
        ]
        if any(notes):
            lines.append(f"{result['corpus']}: {'; '.join(filter(None, notes))}")
    return lines


def _is_text(source: str, field: str | None) -> bool:
    if field is not None:
        return True
    path = Path(source)
    return path.is_file() and without_compression(source).suffix not in _BITEXT


def _number(field: str | None) -> int | str:
    return int(field) if field is not None and field.lstrip("-").isdigit() else field or 0


def stage_names(corpora: Sequence[str]) -> list[str]:
    """A stage name for each corpus, after its folder or file, all of them different."""
    if not corpora:
        raise ConfigError("no variants to measure", remedy="Name one corpus or more.")
    names: list[str] = []
    for source in corpora:
        stem = without_compression(source.rstrip("/")).stem
        plain = re.sub(r"[^A-Za-z0-9_]+", "-", stem).strip("-_") or "variants"
        numbered = chain([plain], (f"{plain}-no-{number}" for number in count(2)))
        names.append(next(name for name in numbered if name not in names))
    return names


def _of(name: str, what: str) -> str:
    """The name of a stage that prepares a corpus; a corpus's own name never has two hyphens in a row."""
    return f"{name}{PREPARING}{what}"


def augment(
    text: str | Path,
    translators: str | AnyTranslator | Sequence[str | AnyTranslator] = (),
    output: str | Path = "",
    *,
    method: str = "nucleus",
    outputs: int = 3,
    tag: str = "",
    field: int | str | None = None,
    min_words: int = 2,
    src_lang: str = "",
    tgt_lang: str = "",
    engine: str = "local",
    workers: int | None = None,
    on_error: OnError = "stop",
    check_languages: bool = True,
    seed: int = 1,
) -> RunResult:
    """Back-translate monolingual text into bitext: the translation is the source, the original text the target.

    Repeated, empty, damaged and too short lines are rejected with a reason, and so are useless translations.

    Args:
        text: Sentences (.txt, .tsv, .jsonl) or a corpus folder.
        translators: A translator from the text's language, its name or folder; several for a method that needs them.
        output: The bitext; the suffix decides the format.
        method: base (one each), beam, sampling, nucleus, topk, temperature, mbr, diverse, syntax: how to translate.
        outputs: Translations of each sentence.
        tag: Token before each back-translated source, such as ``<BT>``.
        field: Column of a .tsv (from 1, -1 for the last, or its name) or key of a .jsonl.
        min_words: Minimum number of words of a sentence, split at spaces; 1 for scripts without spaces.
        src_lang: Language of the translations. Default: the translator's, if its card names it.
        tgt_lang: Language of the text. Default: a corpus's own, else the translator's.
        engine: 'local', 'inline' or 'ray'.
        workers: Processes; default: one per core. The result is the same.
        on_error: 'stop' at a row that cannot be read or processed, or 'reject' it.
        check_languages: Fail, before any work, if a sample is in a language that the translator does not read.
        seed: Seed of sampling.

    Returns:
        Row counts and reasons of rejection, stage by stage; `folder` is `output`.

    Raises:
        DataError: The text does not exist, or is not in the language that the translator translates from.
        ConfigError: The method needs another number of translators, or the text has several columns and `field` is
            not given.

    Reference:
        Burchell et al. (2022); Caswell et al. (2019) for tags.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "text.txt").write_text("Guten Morgen, mein Freund.\\n")
        >>> result = augment(folder / "text.txt", "de-en", folder / "bitext.tsv", method="base", outputs=1)
        >>> result.stages[-1].counts.out, (folder / "bitext.tsv").is_file()
        (1, True)
    """
    if str(text).endswith(".toml"):
        raise ConfigError(
            f"{text} is an experiment, not a text",
            remedy=f"Write `paraloom research augment {shlex.quote(str(text))}`.",
        )
    models = as_list(translators)
    if not models or not str(output):
        missing = "translator from the text's language" if not models else "bitext to write"
        raise ConfigError(f"the {missing} is missing", remedy="Name it: --translator NAME -o bitext.tsv.")
    preset = method_of(method, outputs)
    if preset.translators != len(models):
        raise ConfigError(
            f"'{method}' with {outputs} outputs needs {preset.translators} translators, not {len(models)}",
            remedy="Give as many translators, or another number of outputs.",
        )
    path = Path(text).absolute()
    if not path.exists():
        raise DataError("file or corpus not found", file=text, remedy="Check the name of the text.")
    if without_compression(path).suffix == ".parquet":
        raise ConfigError(f"'{text}' is not a file of text", remedy="Give .txt, .tsv, .jsonl or a corpus folder.")
    if field is None and path.is_file():
        _check_one_column(path)
    source: dict[str, Any] = {"text_files": (path,), "field": field or 0, "bad_rows": on_error}
    if path.is_dir():
        # The target side of pairs is what a person wrote; sentences have a column `text`.
        source = {"corpora": (path,), "columns": ("tgt", "text")}
    loading, references = all_translator_stages(models)
    known = translator_direction(models[0])
    sentences = ReadSentences(
        name="sentences", lang=tgt_lang or ("und" if path.is_dir() else known[0]), max_length=1000, **source
    )
    clean = Clean(name="clean", min_words=min_words, input=sentences)
    variants = TranslateVariants(
        name="variants",
        translator=references,
        method=method,
        outputs=outputs,
        input=clean,
        check_languages=check_languages,
    )
    bitext = VariantsToBitext(name="bitext", src_lang=src_lang or known[1], tag=tag, input=variants)
    stages = [sentences, clean, *loading, variants, bitext]
    return run_stages(stages, str(output), seed=seed, engine=engine, workers=workers, on_error=on_error)


def _check_one_column(path: Path) -> None:
    """Lines with tabs would be taken whole, two languages for one sentence."""
    if without_compression(path).suffix != ".tsv":
        return
    for row, line in enumerate(read_raw_lines(path), start=1):
        if b"\t" in line:
            fields = decode(line, path, row).split("\t")
            shown = "  ".join(f"{number}: {value[:40]!r}" for number, value in enumerate(fields, start=1))
            raise ConfigError(
                f"the text has {len(fields)} columns: {shown}",
                file=path,
                row=row,
                remedy="Name the column of the text with 'field': a number from 1, -1 for the last, or its name.",
            )
