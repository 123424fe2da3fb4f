"""Public sets of paraphrases to measure a paraphraser on: the parts of them that are held out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.evaluate.paraphrase_sets import ReferencedSentence, is_test_image, merge_references
from paraloom.io.compression import read_lines


def _quora(root: Path) -> Iterator[ReferencedSentence]:
    for cells in _cells(root / "quora-50k/test.tsv.gz", 3):
        # Rows marked `seen` share a question with the training part.
        if cells[2] == "new":
            yield ReferencedSentence(_unquoted(cells[0]), (_unquoted(cells[1]),))


def _captions(root: Path) -> Iterator[ReferencedSentence]:
    images: dict[str, list[str]] = {}
    for image, caption in _cells(root / "coco-captions/captions.tsv.gz", 2):
        if is_test_image(image):
            images.setdefault(image, []).append(caption)
    for source, *references in images.values():
        if references:
            yield ReferencedSentence(source, tuple(references))


def _parasci(name: str) -> Callable[[Path], Iterator[ReferencedSentence]]:
    def read(root: Path) -> Iterator[ReferencedSentence]:
        for source, reference in _cells(root / f"parasci/{name}.tsv.gz", 2):
            yield ReferencedSentence(source, (reference,))

    return read


def _mrpc(root: Path) -> Iterator[ReferencedSentence]:
    for cells in _cells(root / "mrpc/msr_paraphrase_test.tsv", 5):
        if cells[0] == "1":
            yield ReferencedSentence(cells[3], (cells[4],))


def _wmt(root: Path) -> Iterator[ReferencedSentence]:
    for cells in _cells(root.parent / "bitext/wmt-news/en-two-references.tsv.gz", 5):
        if cells[3] != cells[4]:
            yield ReferencedSentence(cells[3], (cells[4],))


PARAPHRASE_SETS: dict[str, Callable[[Path], Iterator[ReferencedSentence]]] = {
    "quora": _quora,
    "coco": _captions,
    "parasci-acl": _parasci("acl.val"),
    "parasci-arxiv": _parasci("arxiv.test"),
    "mrpc": _mrpc,
    "wmt": _wmt,
}
"""Name → reader of the held-out sentences in a folder.

quora: questions of the 50k split of Gupta et al. 2018 that its training part does not have.
coco: captions of the images of `is_test_image`: the first is the source, the others are its references.
parasci-acl, parasci-arxiv: ParaSCI's development part of ACL and its test of arXiv.
mrpc: the positive pairs of MRPC's test.
wmt: the two English references of WMT's news of 2020 and 2021; the first is the source.
"""


def read_paraphrase_set(folder: str | Path, name: str) -> list[ReferencedSentence]:
    """Read a public set."""
    if name not in PARAPHRASE_SETS:
        raise ConfigError(
            f"unknown set '{name}' of paraphrases{nearest(name, list(PARAPHRASE_SETS))}",
            remedy=f"Known sets: {', '.join(PARAPHRASE_SETS)}.",
        )
    return merge_references(PARAPHRASE_SETS[name](Path(folder)))


def _cells(path: Path, columns: int) -> Iterator[list[str]]:
    if not path.is_file():
        raise DataError(
            "set of paraphrases not found", file=path, remedy="Set PARALOOM_DATA to the folder of the corpora."
        )
    for row, line in enumerate(read_lines(path), start=1):
        cells = line.split("\t")
        if len(cells) < columns:
            raise DataError(
                f"expected {columns} columns, got {len(cells)}", file=path, row=row, remedy="Copy the file again."
            )
        yield cells[:columns]


def _unquoted(cell: str) -> str:
    """A cell without the quotes of CSV, which the Quora files have in part."""
    quoted = len(cell) > 1 and cell.startswith('"') and cell.endswith('"')
    return cell[1:-1].replace('""', '"') if quoted and '"' not in cell[1:-1].replace('""', "") else cell
