"""Monolingual text, back-translated into bitext to train on."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraloom.api.run import as_list, run_stages
from paraloom.api.translators import all_translator_stages
from paraloom.core.errors import ConfigError, DataError
from paraloom.io.compression import decode, read_raw_lines, without_compression
from paraloom.mt.presets import method as method_of
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.shard import OnError
from paraloom.stages.bitext import Clean
from paraloom.stages.sentences import ReadSentences
from paraloom.stages.variants import TranslateVariants, VariantsToBitext

if TYPE_CHECKING:
    from paraloom.api.translators import AnyTranslator


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
    src_lang: str = "und",
    tgt_lang: str = "und",
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
        src_lang: Language of the translations.
        tgt_lang: Language of the text.
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
    sentences = ReadSentences(name="sentences", lang=tgt_lang, max_length=1000, **source)
    clean = Clean(name="clean", min_words=min_words, input=sentences)
    variants = TranslateVariants(
        name="variants",
        translator=references,
        method=method,
        outputs=outputs,
        input=clean,
        check_languages=check_languages,
    )
    bitext = VariantsToBitext(name="bitext", src_lang=src_lang, tag=tag, input=variants)
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
