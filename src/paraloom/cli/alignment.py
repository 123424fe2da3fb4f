"""Commands about documents and alignment: extract, align sentences, align documents, align pivot."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from paraloom import api
from paraloom.cli.declaration import Command
from paraloom.cli.output import conclude, written

if TYPE_CHECKING:
    from paraloom.extract.documents import ExtractionCounts

_WITHIN_DOCUMENTS = frozenset(["source", "target", "output", "encoder", "order", "pivot"])
"""Options of `align sentences` that --documents has as well."""


def _show_extraction(counts: ExtractionCounts, values: Mapping[str, Any]) -> None:
    if values["as_json"]:
        typer.echo(json.dumps(counts.to_dict()))
    else:
        typer.echo(counts.format(), err=True)
        conclude(values["output"], "align documents {output} OTHER-LANGUAGE -o pairs.tsv")


def _align_sentences(
    *, documents: str | Path | None = None, seed: int = 1, as_json: bool = False, **options: Any
) -> None:
    """Align two texts, or the documents of two corpora.

    Args:
        documents: Pairs of documents; SOURCE and TARGET are then corpora of documents.
    """
    output, figures, text = options["output"], {}, ""
    as_json = as_json and output != "-"
    if documents is not None:
        for name in options:
            if name not in _WITHIN_DOCUMENTS:
                raise typer.BadParameter(f"--{name.replace('_', '-')} is for two texts, not for --documents")
        api.align_paired_documents(pairs=documents, seed=seed, **options)
        if as_json:
            preview = api.preview_output(output)
            figures = {"rows": None if preview is None else preview.rows}
    else:
        counts = api.align_files(**options)
        figures, text = counts.to_dict(), counts.format()
    links = documents is not None or output.endswith((".vecalign", ".ladder", ".parquet"))
    then = "" if links else "train translator --bitext {output} -o translator"
    written(output, figures, text, then, as_json=as_json)


def _show_documents(figures: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    output, texts = values["output"], shlex.join([values["source"], values["target"]])
    read, then = figures["documents"], f"align sentences {texts} --documents {{output}} -o links.parquet"
    text = f"{figures['pairs']:,} pairs of {read[0]:,} and {read[1]:,} documents in {output}"
    written(output, figures, text, then, as_json=values["as_json"] and output != "-", counted=True)


def _align_pivot(*, pivots: list[str], as_json: bool = False, **options: Any) -> None:
    """Read the names of files between commas.

    Args:
        pivots: For a further language two such files, separated by a comma: with the source and with the target.
    """
    files = [text.partition(",")[::2] for text in pivots]
    for text, names in zip(pivots, files, strict=True):
        if not all(names):
            raise typer.BadParameter(f"expected two files separated by a comma, got '{text}'", param_hint="--pivot")
    figures, output = api.pivot_documents(pivots=files, **options), options["output"]
    text = (
        f"{figures['read']:,} pairs read, {figures['dropped']:,} dropped, {figures['added']:,} added: "
        f"{figures['pairs']:,} in {output}"
    )
    written(output, figures, text, as_json=as_json and output != "-", counted=True)


DECLARED = [
    Command(
        name="extract",
        of="extract_documents",
        stage="paraloom.api.extract:ExtractConfig",
        leave_out="config",
        settings={"sources": {"metavar": "SOURCE..."}},
        show=_show_extraction,
        help="Extract documents from web pages.\n\nMain text, title, language, pictures with hashes.",
        examples=("site/de site/en crawl.warc.gz -o documents",),
        watched=True,
    ),
    Command(
        name="align sentences",
        run=_align_sentences,
        of="align_files",
        stage="paraloom.api.alignment:AlignFilesConfig",
        leave_out="config max_bead_size method",
        everyday="documents translations translator encoder hard_delimiter order src_lang tgt_lang as_json",
        device=True,
        help="Align two texts sentence by sentence, many to many; translations help, and a lexicon is learned from the "
        "texts.\n\nThe output's suffix decides: .vecalign, .ladder (hunalign's), .parquet (links); .tsv, .tmx, .jsonl "
        "(the sentences). With --documents the sentences of each pair of documents are aligned, and no bead leaves its "
        "pair.",
        examples=(
            "a.de a.en --translations a.google.en -o a.de-en.tsv",
            "a.de a.en --encoder de-en-encoder -o a.de-en.tsv",
            "a.de a.en --order local -o a.de-en.tsv",
        ),
        watched=True,
    ),
    Command(
        name="align documents",
        of="pair_documents",
        stage="align-documents",
        keys="evidence method threshold",
        leave_out="decode",
        settings={
            "method": {
                "help": "evidence, or as published: park17 (topics; give --translator) or multinews (sizes, names)."
            },
            "threshold": {"help": "Minimum margin of a pair; default: a floor estimated from the pages."},
        },
        device=True,
        show=_show_documents,
        examples=("pages.de pages.en -o pairs.tsv", "pages.cs pages.en --encoder cs-en-encoder -o pairs.tsv"),
        watched=True,
    ),
    Command(
        name="align pivot",
        run=_align_pivot,
        of="pivot_documents",
        flags={"pivots": "--pivot"},
        settings={
            "pairs": {"repeated": False, "role": "input"},
            "pivots": {"role": "input"},
        },
        help="Check pairs of documents with further languages and add missing ones: documents with the same "
        "counterpart match.\n\n"
        "Two similar pages without counterparts may be paired by mistake; a language with a counterpart of each shows "
        "that they differ. The files may be in either direction, unless documents of two languages have the same "
        "names: then the first leads from the source, the second to the target.",
        examples=("de-en.tsv --pivot cs-de.tsv,cs-en.tsv -o checked.tsv",),
        watched=True,
    ),
]
