"""Evaluation of free paraphrases: paraphrasers and round trips, with a selection or not, beside copies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from paraloom.api.named_models import NO_ENCODER, named_encoder
from paraloom.api.pair_inputs import read_pairs
from paraloom.api.paraphrase_sources import AnyParaphraser, as_paraphraser, open_selector
from paraloom.api.paraphrasers import Paraphraser
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.progress import progress
from paraloom.core.protocols import EncoderLike, ParaphraseLike, ParaphraserLike
from paraloom.evaluate.paraphrase_sets import ReferencedSentence, draw_sentences, merge_references
from paraloom.evaluate.paraphrases import COPY, REFERENCE, ParaphraseResult, evaluate_paraphrases, paraphrase_signature
from paraloom.io import read_lines
from paraloom.mt.endpoint_config import is_endpoint
from paraloom.paraphrasing.candidates import language_of_paraphraser
from paraloom.paraphrasing.paraphraser import ControlledParaphraser
from paraloom.paraphrasing.references import ROUND_TRIP
from paraloom.paraphrasing.selection import ParaphraseSelector
from paraloom.paraphrasing.selection_config import NO_SELECTION, CandidateSelection
from paraloom.stages.paraphrasing import is_judged

SELECTED = " + selection"
"""End of the name of a row whose paraphrases were selected."""

_BUNDLED = {"english": "english-small", "english-small": "english"}
_CHUNK = 64


class ParaphraserEvaluation:
    """Measures paraphrasers on sentences with references: models are loaded once, for as many tests as wanted.

    Args:
        paraphrasers: Paraphrasers, or references to them, by the names of their rows.
        encoder: Encoder that selects; none does not measure meaning.
        judge: Encoder that measures meaning, another one than --encoder; auto: english-small beside english; none.
        preset: What a selection of candidates keeps, which is measured, too; none leaves it out.
        candidates: Candidates of each sentence to select from, of each kind.
        lowercase: Whether BLEU and chrF compare lower-cased texts.
        rows: Sentences that are drawn at most; 0 for all.
    """

    def __init__(
        self,
        paraphrasers: Mapping[str, AnyParaphraser],
        *,
        encoder: str | Path | EncoderLike | None = "english",
        judge: str | Path | EncoderLike | None = "auto",
        preset: Literal["strict", "balanced", "loose", "none"] | None = "balanced",
        candidates: int = CandidateSelection.candidates,
        lowercase: bool = True,
        rows: int = 500,
        seed: int = 1,
    ) -> None:
        if rows < 0:
            raise ConfigError(f"'rows' must be 0 (all) or more, got {rows}")
        if candidates < 1:
            raise ConfigError(f"'candidates' must be 1 or more, got {candidates}")
        preset = None if preset == NO_SELECTION else preset
        CandidateSelection(preset=preset or NO_SELECTION, candidates=candidates)
        _check_names(paraphrasers, selected=preset is not None)
        if judge == "auto":
            judge = _BUNDLED.get(str(encoder), "english")
        if preset is not None and judge not in (None, NO_ENCODER) and judge == encoder:
            raise ConfigError(
                f"the encoder '{judge}' both selects and judges",
                remedy="Name another one with --judge, or leave the selection out with --preset none.",
            )
        # A folder is opened once, for both the row without and the row with a selection.
        self.paraphrasers = {
            name: Paraphraser.load(cast(str, one)) if _is_folder(one) else one for name, one in paraphrasers.items()
        }
        self.pools = {name: as_paraphraser(one) for name, one in self.paraphrasers.items()}
        language = next(filter(None, map(language_of_paraphraser, self.pools.values())), None)
        self.judge = named_encoder(judge, language, option="--judge")
        self.selector: ParaphraseSelector | None = None
        if preset is not None:
            gate = None if all(map(is_judged, self.pools.values())) else NO_ENCODER
            self.selector = open_selector(preset, encoder=encoder, judge=gate, language=language)
        self.candidates, self.lowercase, self.rows, self.seed = candidates, lowercase, rows, seed

    def run(self, sentences: Sequence[ReferencedSentence]) -> ParaphraseResult:
        """Measure all systems on a test."""
        drawn = draw_sentences(sentences, self.rows, self.seed)
        if not drawn:
            raise DataError("no sentences to paraphrase", remedy="Give pairs: a sentence and its paraphrase.")
        sources = [one.source for one in drawn]
        references = [one.references for one in drawn]
        outputs = {COPY: sources, REFERENCE: [one.references[0] for one in drawn]}
        kept: dict[str, float] = {}
        for name, paraphraser in self.paraphrasers.items():
            outputs[name] = _first(paraphraser, self.pools[name], sources, name, self.seed)
            if self.selector is not None:
                outputs[name + SELECTED], kept[name + SELECTED] = self._selected(name, sources)
        rows = [
            evaluate_paraphrases(
                system,
                sources,
                texts,
                None if system == REFERENCE else references,
                similarities=None if self.judge is None else cosines(self.judge, sources, texts),
                lowercase=self.lowercase,
                seed=self.seed,
                kept=kept.get(system),
            )
            for system, texts in outputs.items()
        ]
        described = paraphrase_signature(
            drawn,
            lowercase=self.lowercase,
            judge="none" if self.judge is None else self.judge.signature,
            selection="none" if self.selector is None else f"{self.selector.signature},candidates:{self.candidates}",
            rows=self.rows,
            seed=self.seed,
        )
        return ParaphraseResult(tuple(rows), described, tuple(sources), tuple(references), outputs)

    def _selected(self, name: str, sources: Sequence[str]) -> tuple[list[str], float]:
        """The best candidate of each source, and for how many sources the selection kept one."""
        assert self.selector is not None

        def candidates(texts: list[str]) -> list[list[ParaphraseLike]]:
            return [list(group) for group in self.pools[name].paraphrase(texts, n=self.candidates, seed=self.seed)]

        groups = _in_chunks(candidates, sources, name + SELECTED)
        selection = self.selector.select(sources, groups, 1)
        texts = [
            selected[0].text if selected else _text_of(group)
            for selected, group in zip(selection.kept, groups, strict=True)
        ]
        return texts, sum(map(bool, selection.kept)) / len(sources)


def _check_names(names: Iterable[str], *, selected: bool) -> None:
    """Raise ConfigError for a paraphraser with the name of another row."""
    names = set(names)
    for name in sorted(names & {COPY, REFERENCE, *(name + SELECTED for name in names if selected)}):
        raise ConfigError(f"'{name}' is the name of another row", remedy="Give the paraphraser another name.")


def measure_paraphrasers(
    paraphrasers: Mapping[str, AnyParaphraser],
    pairs: str | Path | Sequence[ReferencedSentence],
    *,
    references: int = 1,
    **options: Any,
) -> ParaphraseResult:
    """Measure free paraphrases of held-out sentences, beside copies and references.

    Args:
        pairs: Held-out pairs: a sentence and a paraphrase of it.
        references: Columns of references, of a tab-separated file without a header.
        **options: The options of `ParaphraserEvaluation`.
    """
    sentences = read_references(pairs, references) if isinstance(pairs, (str, Path)) else pairs
    return ParaphraserEvaluation(paraphrasers, **options).run(sentences)


def read_references(path: str | Path, references: int = 1) -> list[ReferencedSentence]:
    """Sentences with their paraphrases from a file; rows with the same sentence are one with several references.

    Rows are read one by one. Held are the distinct sentences with their distinct references, because the references of
    a sentence may be anywhere in the file.
    """
    if references < 1:
        raise ConfigError(f"'references' must be 1 or more, got {references}")
    if references == 1:
        return merge_references(ReferencedSentence(row["src"], (row["tgt"],)) for row in read_pairs(path))
    return merge_references(_rows_with_references(path, references))


def _rows_with_references(path: str | Path, references: int) -> Iterator[ReferencedSentence]:
    for number, line in enumerate(read_lines(path), start=1):
        source, *others = line.split("\t")
        if len(others) < references:
            raise DataError(
                f"expected a sentence and {references} references, got {len(others)}",
                file=path,
                row=number,
                remedy="Lower --references, or leave columns empty.",
            )
        given = tuple(other for other in others[:references] if other.strip())
        if source.strip() and given:
            yield ReferencedSentence(source, given)


def cosines(encoder: EncoderLike, sources: Sequence[str], outputs: Sequence[str]) -> list[float]:
    """Cosine of each source and output, 0 where a vector is 0."""
    one, other = (np.asarray(encoder.encode(list(texts)), np.float64) for texts in (sources, outputs))
    norms = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    values: list[float] = ((one * other).sum(axis=1) / np.where(norms, norms, 1)).tolist()
    return values


def _first(
    paraphraser: AnyParaphraser, pool: ParaphraserLike, sources: Sequence[str], name: str, seed: int
) -> list[str]:
    """What a paraphraser writes first for each source; a trained one without a template, by beam search."""

    def paraphrase(texts: list[str]) -> list[list[ParaphraseLike]]:
        if isinstance(paraphraser, ControlledParaphraser):
            return [list(group) for group in paraphraser.candidates(texts, n=1, decode="beam:5", seed=seed)]
        return [list(group) for group in pool.paraphrase(texts, n=1, seed=seed)]

    return [_text_of(group) for group in _in_chunks(paraphrase, sources, name)]


def _in_chunks(
    paraphrase: Callable[[list[str]], list[list[ParaphraseLike]]], sources: Sequence[str], name: str
) -> list[list[ParaphraseLike]]:
    groups: list[list[ParaphraseLike]] = []
    with progress(name, len(sources), unit="sentences") as advance:
        for start in range(0, len(sources), _CHUNK):
            groups += paraphrase(list(sources[start : start + _CHUNK]))
            advance(min(_CHUNK, len(sources) - start))
    return groups


def _text_of(group: Sequence[ParaphraseLike]) -> str:
    """The first variant; one that a model refused to write is empty."""
    return "" if not group or getattr(group[0], "reason", None) else group[0].text


def _is_folder(paraphraser: AnyParaphraser) -> bool:
    reference = str(paraphraser) if isinstance(paraphraser, (str, Path)) else ""
    return bool(reference) and not is_endpoint(reference) and not reference.startswith(ROUND_TRIP)
