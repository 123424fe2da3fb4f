"""Sentence pairs from whatever holds them, and the methods of `Pairs` as functions of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from paraloom.api.outputs import path_text
from paraloom.api.pairs import Pairs
from paraloom.api.run import input_stages
from paraloom.core.protocols import TranslatorLike
from paraloom.pipeline.shard import OnError

if TYPE_CHECKING:
    from paraloom.api.keywords import ReadingOptions
    from paraloom.api.pairs_table import PairFunction
    from paraloom.mt.callable_translator import TranslatingFunction
    from paraloom.mt.translator import Translator
    from paraloom.pairs.scoring.scorer import Scorer

PairsLike: TypeAlias = "Pairs | str | Path | Iterable[tuple[str, str]] | Iterable[Mapping[str, Any]] | Any"
"""Pairs, a path, tuples (source, target), mappings with src and tgt, a DataFrame, an Arrow table or batch."""


def read_pairs(
    source: str | Path,
    *,
    src_lang: str | None = None,
    tgt_lang: str | None = None,
    src_column: str | int | None = None,
    tgt_column: str | int | None = None,
    limit: int = 0,
    on_error: OnError = "stop",
    shard_rows: int | None = None,
    seed: int = 1,
) -> Pairs:
    """Read sentence pairs from a file; rows are streamed when they are needed.

    Args:
        source: .tsv, .csv, .jsonl, .parquet or .tmx (each also .gz .zst .xz), Moses pairs as ``"train.{de,en}"``, a
            corpus folder, or one that `Dataset.save_to_disk` of Hugging Face `datasets` wrote. Folders and tables
            that Paraloom wrote keep all their columns, such as scores; of tables in text form from elsewhere only the
            sentences are read. Pairs with an empty side are rejected.
        src_lang: Language of the source side; default: from the file, its header or its name, else 'und'.
        tgt_lang: Language of the target side.
        src_column: Source column of a table: a name, a number from 1, or keys with dots: translation.de.
        tgt_column: Target column of a table.
        limit: Pairs to read at most; 0: all.
        on_error: 'stop' at a row that cannot be read, or 'reject' it.
        shard_rows: Rows that a worker processes at a time, if the pairs are written by several.
        seed: Seed of every random choice in what is done with the pairs.

    Returns:
        The pairs.

    Raises:
        ConfigError: The file is not there, or its format is unknown.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "pairs.de-en.tsv")
        >>> _ = path.write_text("Guten Morgen.\\tGood morning.\\n")
        >>> read_pairs(path).to_list()[0]["tgt_lang"]
        'en'
    """
    options: ReadingOptions = {
        "src_lang": src_lang,
        "tgt_lang": tgt_lang,
        "src_column": src_column,
        "tgt_column": tgt_column,
        "limit": limit or None,
        "shard_rows": shard_rows,
    }
    path = path_text(source, "data in memory use as_pairs")
    stages, reference = input_stages(path, on_error=on_error, **options)
    return Pairs(stages, None if stages else reference, seed=seed)


def as_pairs(pairs: PairsLike, *, src_lang: str = "und", tgt_lang: str = "und", seed: int = 1) -> Pairs:
    """Sentence pairs from whatever holds them in Python.

    Args:
        pairs: Tuples (source, target), mappings with `src` and `tgt`, a DataFrame (pandas, polars), an Arrow table or
            batch, a mapping of columns, a path (see `read_pairs`), or `Pairs`.
        src_lang: Language of the source side, if the data does not say it.
        tgt_lang: Language of the target side.
        seed: Seed of every random choice in what is done with the pairs, unless they are `Pairs` already.

    Returns:
        The pairs, with an identifier each; further columns are kept.

    Raises:
        TypeError: The data does not hold pairs, or is a string that names no file.
        DataError: A side is null, or the columns `src` and `tgt` are missing.

    Example:
        >>> as_pairs([("Guten Morgen", "Good morning")], src_lang="de", tgt_lang="en").to_list()[0]["src"]
        'Guten Morgen'
    """
    if isinstance(pairs, str) and not _may_be_path(pairs):
        raise TypeError(
            f"expected pairs, got the string {pairs[:40]!r}, which is not a file or folder; for one pair write "
            "[(source, target)]"
        )
    return open_pairs(pairs, src_lang=src_lang, tgt_lang=tgt_lang, seed=seed)


def open_pairs(
    pairs: PairsLike,
    *,
    src_lang: str = "und",
    tgt_lang: str = "und",
    seed: int = 1,
    on_error: OnError = "stop",
    shard_rows: int | None = None,
) -> Pairs:
    """As `as_pairs`, but every string is a path: for commands, whose users name files only."""
    from paraloom.api.memory import pairs_from_data

    if isinstance(pairs, Pairs):
        return pairs
    if isinstance(pairs, (str, Path)):
        return read_pairs(pairs, seed=seed, on_error=on_error, shard_rows=shard_rows)
    return Pairs([pairs_from_data(pairs, src_lang=src_lang, tgt_lang=tgt_lang)], seed=seed)


def _may_be_path(text: str) -> bool:
    """Whether a string names a file that exists, or looks like the name of one."""
    return Path(text).exists() or bool(re.search(r"[/\\{]|\.\w+$", text)) or text == "-"


def backtranslate(
    pairs: PairsLike,
    translator: Translator | TranslatorLike | TranslatingFunction | str | Path,
    *,
    decode: str | None = None,
    side: str = "src",
    check_languages: bool = True,
) -> Pairs:
    """Paraphrases from bitext: each target sentence paired with translations of its source.

    Args:
        pairs: Bitext, in any form that `as_pairs` takes.
        translator: A translator, its name or folder, or a function from texts to translations.
        decode: How to decode, such as ``"beam:12,nbest=3"``; default: the translator's own, or ``"beam:5"``.
        side: The side that is translated, 'src' or 'tgt'.
        check_languages: Fail if the languages of a sample do not fit the translator.

    Returns:
        Lazy pairs: `src` is the human reference, `tgt` the translation, with `rank`, `logprob`, `tokens`, `method`.

    Reference:
        Wieting et al. (2017), §3; Wieting and Gimpel (2018), ParaNMT-50M.

    Example:
        >>> backtranslate([("Guten Morgen", "Good morning")], "de-en").to_list()[0]["src"]
        'Good morning'
    """
    return as_pairs(pairs).backtranslate(translator, decode=decode, side=side, check_languages=check_languages)


def score(
    pairs: PairsLike,
    scores: Sequence[str | Scorer | PairFunction] | str | Scorer | PairFunction = "common",
    **models: Any,
) -> Pairs:
    """Add columns of scores to pairs; see `Pairs.score`.

    Args:
        pairs: Pairs in any form that `as_pairs` takes.
        scores: Names of scores or groups of them, scorers of your own, and functions of both texts.
        **models: Models that some scores need, such as ``encoder="english"``.

    Returns:
        Lazy pairs with the new columns.

    Example:
        >>> rows = score([("a b c", "a b d")], ["bleu1"]).to_list()
        >>> 0 < rows[0]["bleu1"] < 1
        True
    """
    return as_pairs(pairs).score(scores, **models)
