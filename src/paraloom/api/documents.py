"""Documents of two languages: paired, checked by pivot languages, and aligned sentence by sentence within pairs."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paraloom.alignment.aligner_config import AlignerConfig
from paraloom.alignment.document_features import open_documents
from paraloom.alignment.document_pairs import read_document_pairs
from paraloom.alignment.within_documents import align_within
from paraloom.api.model_references import model_path
from paraloom.api.run import WORK, run_in, run_stages
from paraloom.api.translators import AnyTranslator, translator_stages
from paraloom.bundled import ALIGNMENT_ENCODER
from paraloom.core.beads import MAX_BEAD_SIZE
from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.core.schema import LINKS
from paraloom.core.stage import Fit, Ref, Stage
from paraloom.embed.encoder import open_encoder
from paraloom.io import Corpus
from paraloom.io.atomic import atomic_write
from paraloom.io.bitext import READERS
from paraloom.io.compression import PIPE, without_compression
from paraloom.io.formats.alignments import beads_to_links
from paraloom.io.shards import write_shard
from paraloom.pipeline.fit import ARTIFACT
from paraloom.stages.documents import (
    PAIRS_FILE,
    AlignDocuments,
    AlignDocumentSentences,
    PivotDocuments,
    TranslateDocuments,
)


def pair_documents(
    source: str | Path,
    target: str | Path,
    output: str,
    *,
    translator: AnyTranslator | None = None,
    target_translator: AnyTranslator | None = None,
    encoder: str | Path | None = None,
    decode: str = "beam:1",
    seed: int = 1,
    **config: Any,
) -> dict[str, Any]:
    """Pair documents of two languages by words, pictures, lengths, and where they are reliable, addresses and links.

    Works without a translator: the most confident pairs are aligned sentence by sentence to learn a lexicon. A page
    without a counterpart stays alone: the floor is what pages reach whose counterpart is hidden. If stopped, the same
    call resumes.

    Args:
        source: A corpus of documents, from `extract`.
        target: The same in another language.
        output: The pairs, a .tsv file.
        translator: Translates the source first: a bundled name such as de-en, a folder, OWNER/NAME, or the address of
            an endpoint, each with settings as in 'NAME?from=de&to=en'.
        target_translator: Translates the target, as `translator` the source, into a third language; compared there.
        encoder: Encoder of both languages, as further evidence.
        decode: How to translate.
        **config: Further fields of `paraloom.stages.AlignDocuments`: `evidence`, `threshold` …
    """
    _check(source, target)
    if target_translator is not None and translator is None:
        raise ConfigError(
            "a translator of the target needs one of the source", remedy="Give both, or only the source's."
        )
    stages: list[Stage] = []
    sides: dict[str, Ref] = {"source": Path(source).absolute(), "target": Path(target).absolute()}
    for side, model in (("source", translator), ("target", target_translator)):
        if model is not None:
            loading, reference, _ = translator_stages(model, name=f"translator-{side}")
            translated = TranslateDocuments(
                name=f"translated-{side}", translator=reference, decode=decode, input=sides[side]
            )
            stages += [*loading, translated]
            sides[side] = translated
    pairing = AlignDocuments(
        source=sides["source"],
        target=sides["target"],
        encoder=_encoder_folder(encoder),
        pivot=target_translator is not None,
        **config,
    )
    return _write_pairs([*stages, pairing], output, seed)


def pivot_documents(pairs: str | Path, pivots: Sequence[tuple[str | Path, str | Path]], output: str) -> dict[str, Any]:
    """Check pairs of documents with further languages, and add missing ones.

    Args:
        pairs: Pairs of documents of two languages, from `align documents`.
        pivots: For a further language two such files: with the source and with the target.
        output: The pairs, a .tsv file.

    Reference:
        Park et al. (2017), §5.
    """
    stage = PivotDocuments(
        pairs=Path(pairs).absolute(),
        source_pivot=tuple(Path(source).absolute() for source, _ in pivots),
        pivot_target=tuple(Path(target).absolute() for _, target in pivots),
    )
    return _write_pairs([stage], output, seed=1)


def align_paired_documents(
    source: str | Path,
    target: str | Path,
    pairs: str | Path,
    output: str,
    *,
    encoder: str | Path | None = ALIGNMENT_ENCODER,
    max_bead_size: int = MAX_BEAD_SIZE,
    order: str = "strict",
    pivot: bool = False,
    seed: int = 1,
) -> None:
    """Align the sentences of paired documents; no bead crosses a document."""
    _check(source, target)
    config = AlignerConfig(max_bead_size=max_bead_size, order=order)
    config.check()
    suffix = without_compression(output).suffix
    if suffix not in (".parquet", ".tsv", ".tmx", ".jsonl", "") and output != PIPE and "{" not in output:
        raise ConfigError(
            f"unknown output format '{suffix}' of '{output}'",
            remedy="Choose .parquet for links; .tsv, .tmx, .jsonl or a folder for the sentences.",
        )
    listed = read_document_pairs(pairs)
    if not listed:
        raise DataError("the file has no pairs of documents", file=str(pairs))
    if suffix != ".parquet":
        stage = AlignDocumentSentences(
            name="align-within",  # its seed derives from this name
            source=Path(source).absolute(),
            target=Path(target).absolute(),
            pairs=Path(pairs).absolute(),
            encoder=_encoder_folder(encoder),
            max_bead_size=max_bead_size,
            order=order,
            pivot=pivot,
        )
        run_stages([stage], output, seed=seed)
        return
    folder = _encoder_folder(encoder)
    model = None if folder is None else open_encoder(folder)
    sides = [replace(open_documents(Corpus.open(path), pivot=pivot), encoder=model) for path in (source, target)]
    aligned = align_within(sides[0], sides[1], listed, config, seed=seed)
    batches = (beads_to_links(item.beads, item.pair.source, item.pair.target) for item in aligned)
    write_shard(Path(output), batches, LINKS)


def _encoder_folder(encoder: str | Path | None) -> Path | None:
    """The folder of an encoder, bundled or not; ModelError if there is none."""
    if encoder is None:
        return None
    folder = model_path(encoder)
    if not folder.is_dir():
        raise ModelError(
            "encoder folder not found",
            file=folder,
            remedy="Name the folder of an encoder of both languages; `paraloom train encoder --bitext` trains one.",
        )
    return folder


def _check(source: str | Path, target: str | Path) -> None:
    for path in (source, target):
        if not (Path(path) / "corpus.json").is_file():
            raise DataError(
                "expected a corpus of documents", file=path, remedy="`paraloom extract PAGES -o DOCUMENTS` makes one."
            )


def _write_pairs(stages: Sequence[Stage | Fit], output: str, seed: int) -> dict[str, Any]:
    """Run the stages, whose last one pairs documents; its pairs become the output, its figures are returned."""
    if without_compression(output).suffix in READERS and not output.endswith(".tsv"):
        raise ConfigError("pairs of documents are tab-separated", file=output, remedy="Name the output .tsv.")
    folder = Path(output + WORK)
    result = run_in(folder, stages, seed=seed)
    with atomic_write(Path(output)) as temporary:
        shutil.copyfile(result.stages[-1].folder / ARTIFACT / PAIRS_FILE, temporary)
    shutil.rmtree(folder, ignore_errors=True)
    return dict(result.stages[-1].figures)
