"""Monolingual text back-translated into bitext to train on, from the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paraloom.core.errors import ConfigError, DataError
from paraloom.io.compression import decode, read_raw_lines, without_compression
from paraloom.mt.presets import method as method_of
from paraloom.pipeline.result import RunResult
from paraloom.workflows.run import run_tables


def augment_text(
    text: str,
    translators: Sequence[Path],
    output: str,
    *,
    method: str = "nucleus",
    outputs: int = 3,
    tag: str = "",
    field: int | str | None = None,
    fewest: int = 2,
    languages: tuple[str, str] = ("und", "und"),
    engine: str = "local",
    workers: int | None = None,
    seed: int = 1,
) -> RunResult:
    """Write pairs of a translation and the sentence that it was made from; see `paraloom augment --help`.

    languages: of the translations, and of the text.  field: of a file with several, from 1, -1 the last, or a name;
    there must be one where lines of .tsv have tabs.  Lines that come again, are empty, of fewer words than `fewest` or
    damaged, and translations that are no use, are set aside with their reason.  Raises DataError where there is no such
    text, ConfigError where the method takes another number of translators or nothing says which column is the text.
    """
    wanted = method_of(method, outputs)
    if wanted.translators != len(translators):
        raise ConfigError(
            f"'{method}' with {outputs} outputs takes {wanted.translators} translators, not {len(translators)}",
            remedy="Give --translator once for each, or another --outputs.",
        )
    path = Path(text).absolute()
    if not path.exists():
        raise DataError("there is no such file or corpus", file=text)
    if without_compression(path).suffix == ".parquet":
        raise ConfigError(f"'{text}' is no file of text", remedy="Give .txt, .tsv, .jsonl or the folder of a corpus.")
    if field is None and path.is_file():
        _check_one_column(path)
    given: dict[str, Any] = (
        {"corpora": [str(path)]} if path.is_dir() else {"text_files": [str(path)], "field": field or 0}
    )
    if path.is_dir():
        # Of pairs the target is what a person wrote; sentences have a column of their own.
        given["columns"] = ["tgt", "text"]
    stages: list[dict[str, Any]] = [
        {"name": "sentences", "use": "read-sentences", "lang": languages[1], **given, "max_length": 1000},
        {"name": "clean", "use": "clean", "min_words": fewest},
        {
            "name": "variants",
            "use": "translate-variants",
            "translator": [str(each) for each in translators],
            "method": method,
            "outputs": outputs,
        },
        {"name": "bitext", "use": "variants-to-bitext", "src_lang": languages[0], "tag": tag},
    ]
    return run_tables(stages, output, seed=seed, engine=engine, workers=workers)


def _check_one_column(path: Path) -> None:
    """Lines with tabs would be taken whole, two languages for a sentence."""
    if without_compression(path).suffix != ".tsv":
        return
    for row, line in enumerate(read_raw_lines(path), 1):
        if b"\t" in line:
            fields = decode(line, path, row).split("\t")
            shown = "  ".join(f"{place}: {field[:40]!r}" for place, field in enumerate(fields, 1))
            raise ConfigError(
                f"there are {len(fields)} columns, and which is the text is not said: {shown}",
                file=path,
                row=row,
                remedy="Say which, as by: --field 1, or -1 for the last (or by the name in a header).",
            )
