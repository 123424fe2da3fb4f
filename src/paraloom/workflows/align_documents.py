"""Two corpora of documents: their pairs, and the sentences within the pairs, from the command line."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paraloom.align.document_features import open_documents
from paraloom.align.document_pairs import read_document_pairs
from paraloom.align.sentences import AlignerConfig
from paraloom.align.within_documents import align_within
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.schema import LINKS
from paraloom.io import Corpus
from paraloom.io.atomic import atomic_write
from paraloom.io.compression import PIPE, without_compression
from paraloom.io.formats.alignments import beads_to_links
from paraloom.io.shards import write_shard
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import pipeline_from_tables
from paraloom.stages.documents import PAIRS_FILE
from paraloom.workflows.run import WORK, run_tables


def pair_documents(
    source: str,
    target: str,
    output: str,
    *,
    translator: Path | None = None,
    target_translator: Path | None = None,
    decode: str = "beam:1",
    seed: int = 1,
    **settings: Any,
) -> dict[str, Any]:
    """Write the pairs of two corpora of documents as TSV; see `paraloom align documents --help`.

    translator: source into target; with target_translator, source and target into a third language.  settings: fields
    of run.stages.document_pairs.AlignDocuments.  Returns its figures.  Stopped, the same call goes on.
    """
    _check(source, target)
    if target_translator is not None and translator is None:
        raise ConfigError(
            "the target is to be translated, the source is not", remedy="Give a translator of the source, too."
        )
    stages: list[dict[str, Any]] = []
    sides = {"source": str(Path(source).absolute()), "target": str(Path(target).absolute())}
    for side, model in (("source", translator), ("target", target_translator)):
        if model is not None:
            name = f"translated-{side}"
            work = {"use": "translate-documents", "translator": str(model.absolute()), "decode": decode}
            stages.append({"name": name, **work, "input": sides[side]})
            sides[side] = name
    stages.append({"use": "align-documents", **sides, "pivot": target_translator is not None, **settings})
    return _pairs_of(stages, output, seed)


def agree_documents(pairs: Path, through: Sequence[tuple[Path, Path]], output: str) -> dict[str, Any]:
    """Write pairs of documents as further languages leave them; see `paraloom align agree --help`.

    through: for each language the pairs with the source, and with the target.  Returns figures: read, fell, brought.
    """
    work = {
        "use": "pivot-documents",
        "pairs": str(pairs.absolute()),
        "there": [str(each.absolute()) for each, _ in through],
        "back": [str(each.absolute()) for _, each in through],
    }
    return _pairs_of([work], output, seed=1)


def align_paired(
    source: str, target: str, pairs: Path, output: str, *, most: int = 3, pivot: bool = False, seed: int = 1
) -> None:
    """Align the sentences of paired documents: `.parquet` gets LINKS, any other name sentence pairs.

    pivot: by the column `translation` of both, in the place of the text.  Raises DataError where there are no pairs,
    and where one names a document that is not there.
    """
    _check(source, target)
    config = AlignerConfig(max_bead_size=most)
    config.check()
    suffix = without_compression(output).suffix
    if suffix not in (".parquet", ".tsv", ".tmx", ".jsonl", "") and output != PIPE and "{" not in output:
        raise ConfigError(
            f"'{output}' is no name for the sentences of several pairs of documents",
            remedy="Choose .parquet for links; .tsv, .tmx, .jsonl or a folder for the sentences.",
        )
    listed = read_document_pairs(pairs)
    if not listed:
        raise DataError("there is no pair of documents in it", file=str(pairs))
    if suffix != ".parquet":
        work = {
            "name": "align-within",  # its seed derives from this name
            "use": "align-document-sentences",
            "source": str(Path(source).absolute()),
            "target": str(Path(target).absolute()),
            "pairs": str(pairs.absolute()),
            "most": most,
            "pivot": pivot,
        }
        run_tables([work], output, seed=seed)
        return
    sides = [open_documents(Corpus.open(path), pivot=pivot) for path in (source, target)]
    found = align_within(sides[0], sides[1], listed, config, seed=seed)
    batches = (beads_to_links(each.beads, each.pair.source, each.pair.target) for each in found)
    write_shard(Path(output), batches, LINKS)


def _check(source: str, target: str) -> None:
    for path in (source, target):
        if not (Path(path) / "corpus.json").is_file():
            raise DataError(
                "this is no corpus of documents", file=path, remedy="`paraloom extract PAGES -o DOCUMENTS` makes one."
            )


def _pairs_of(stages: list[dict[str, Any]], output: str, seed: int) -> dict[str, Any]:
    """Run the stages, whose last one makes pairs of documents; they become the output, its figures come back."""
    folder = Path(output + WORK)
    result = run_pipeline(pipeline_from_tables(stages, name="verb", seed=seed), folder)
    with atomic_write(Path(output)) as temporary:
        shutil.copyfile(result.stages[-1].folder / "artifact" / PAIRS_FILE, temporary)
    shutil.rmtree(folder, ignore_errors=True)
    return dict(result.stages[-1].figures)
