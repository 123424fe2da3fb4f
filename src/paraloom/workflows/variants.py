"""Variants out of text or pairs: the stages that read what a user names, load translators, and translate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paraloom.io.compression import without_compression
from paraloom.workflows.run import corpus_stages

_BITEXT = (".tsv", ".jsonl", ".parquet", ".tmx")


def variants_stages(
    source: str,
    translators: Sequence[str],
    *,
    decode: str = "",
    method: str = "",
    outputs: int = 3,
    column: str = "",
    field: str | None = None,
    lang: str = "en",
    reading: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Stages that read `source` and translate it in several ways, VARIANTS last.

    source: a bitext argument, or a file of text, a sentence a line; field: of a table or of JSON lines, the column
    that is text: then `source` is no bitext.  column: src or tgt of pairs.  lang: of text.  reading: languages and
    columns of a bitext, as recipes.verbs.corpus_stages takes them.  The rest is as in the stage translate-variants.
    """
    if _is_text(source, field):
        path = str(Path(source).absolute())
        # Lines are told apart by what they say: a sentence that comes twice is translated once.
        reads = {"name": "input", "use": "read-sentences", "text_files": [path], "field": _number(field), "lang": lang}
        stages, reference = [reads], "input"
    else:
        stages, reference = corpus_stages(source, **(reading or {}))
    loading, models = translator_stages(translators)
    work = {
        "use": "translate-variants",
        "input": reference,
        "translator": models,
        "decode": decode or None,
        "method": method or None,
        "outputs": outputs,
        "column": column or None,
    }
    return [*stages, *loading, work]


def translator_stages(translators: Sequence[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """The stages that bring translators in, and the reference to each: a folder of ours as it is, a model by its name.

    >>> translator_stages(["Helsinki-NLP/opus-mt-de-en"])[1]
    ['translator']
    """
    stages: list[dict[str, Any]] = []
    references = []
    for name in translators:
        here = Path(name)
        if (here / "model.bin").is_file() or not _is_model_name(name):
            references.append(str(here.absolute()))
            continue
        references.append(f"translator-{len(stages) + 1}" if stages else "translator")
        stages.append({"name": references[-1], "use": "load-translator", "model": name})
    return stages, references


def _is_text(source: str, field: str | None) -> bool:
    if field is not None:
        return True
    path = Path(source)
    return path.is_file() and without_compression(source).suffix not in _BITEXT


def _number(field: str | None) -> int | str | None:
    return int(field) if field is not None and field.lstrip("-").isdigit() else field


def _is_model_name(text: str) -> bool:
    return Path(text).is_dir() or (text.count("/") == 1 and not Path(text).parent.exists())
