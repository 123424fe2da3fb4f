"""The stage that chooses the weights of PARK17's sentence aligner on documents with a gold alignment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from paraloom.alignment.aligner_config import AlignerConfig
from paraloom.alignment.text_pairs import TextPair
from paraloom.core.beads import MAX_BEAD_SIZE
from paraloom.core.progress import progress
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.evaluate.alignment import AlignmentScore
from paraloom.io.formats.alignments import GoldDocument, read_gold_documents
from paraloom.mt.decoding import parse_decoding
from paraloom.mt.loading import open_translator
from paraloom.papers.park17.aligner import (
    PUBLISHED,
    Park17Aligner,
    Park17Weights,
    choose_weights,
    weight_grid,
    write_weights,
)
from paraloom.stages.documents import text_pairs

GRID_FILE = "grid.tsv"
"""File in the artifact of `tune-aligner` with the F1 of all weights that were tried."""


@dataclass(frozen=True, kw_only=True)
class TuneAligner(Fit):
    """Chooses the weights λ of PARK17's sentence aligner by their F1 on documents with a gold alignment.

    The published weights are kept unless others are better by more than the standard error, in the mean over their
    neighbors in the grid (see `paraloom.papers.park17.aligner.choose_weights`).

    Args:
        documents: JSON lines with `source` and `target` (lists of sentences) and `gold` (the beads). They should not
            be those that the aligner is evaluated on.
        translator: Translator of the sources into the target language, by whose translations the texts are compared;
            the weights fit a translator, and those for none are others.
        decode: How to decode.
        max_bead_size: Maximum number of sentences on one side of a bead, 1 to 15.
        limit: Documents that are read, from the beginning; 0: all.

    Raises:
        ConfigError: `max_bead_size` is out of range.
        DataError: When it runs: a line cannot be read.

    Reference:
        Park et al. 2017, §3.2 ("empirically estimated").

    Example:
        >>> TuneAligner(documents="development.ko-en.jsonl", translator="ko-en").max_bead_size
        5
    """

    documents: Path
    translator: Ref | None = None
    decode: str = "beam:1"
    max_bead_size: int = MAX_BEAD_SIZE
    limit: int = 0

    def validate(self) -> None:
        parse_decoding(self.decode)
        AlignerConfig(max_bead_size=self.max_bead_size).check()

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write weights.json and grid.tsv; return the weights, their F1, and that of the published weights."""
        documents = read_gold_documents(self.documents)[: self.limit or None]
        path = context.inputs.get("translator")
        translator = open_translator(path, self.decode) if path else None
        f1 = grid_f1(documents, text_pairs(documents, translator), self.max_bead_size)
        best = choose_weights(f1, sum(len(document.gold) for document in documents))
        write_weights(folder, best)
        rows = ["\t".join([*Park17Weights._fields, "f1"])]
        rows += ["\t".join(f"{value:.4f}" for value in (*weights, value)) for weights, value in f1.items()]
        (folder / GRID_FILE).write_text("\n".join(rows) + "\n", encoding="utf-8")
        figures: dict[str, Json] = {name: round(value, 4) for name, value in best._asdict().items()}
        return figures | {"f1": round(f1[best], 4), "published_f1": round(f1[PUBLISHED], 4)}


def grid_f1(
    documents: Sequence[GoldDocument], pairs: Sequence[TextPair], max_bead_size: int = MAX_BEAD_SIZE
) -> dict[Park17Weights, float]:
    """F1 of the beads under all weights of `park17.weight_grid`."""
    grid = list(weight_grid())
    f1: dict[Park17Weights, float] = {}
    with progress("tuning the aligner", len(grid), unit="weights") as advance:
        for weights in grid:
            aligner, score = Park17Aligner(weights, max_bead_size), AlignmentScore()
            for document, pair in zip(documents, pairs, strict=True):
                score.add(document.gold, aligner.align(pair))
            f1[weights] = score.exact.f1
            advance(1)
    return f1
