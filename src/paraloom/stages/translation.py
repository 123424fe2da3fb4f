"""The stage that measures a translator: over all of a test corpus, and over each group of its rows."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

from paraloom.core.errors import ConfigError, DataError, MissingExtra, nearest
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.evaluate.comet import comet_figures, comet_scores, has_comet, is_there
from paraloom.evaluate.test_sets import groups_of_rows, read_sets, row_number
from paraloom.evaluate.translation import by_group, evaluate_translation
from paraloom.io import Corpus
from paraloom.mt.loading import load_translator
from paraloom.mt.translator import best_translations
from paraloom.text.normalize import normalize

_DIGITS = {"comet": 4, "comet_interval": 4}


class _Test(NamedTuple):
    """The rows of a test corpus, and the names of the groups that each is in."""

    sources: list[str]
    references: list[str]
    groups: list[tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class EvaluateTranslator(Fit):
    """BLEU and chrF of a translator on a corpus of pairs, src into tgt; on its parts, too, where there are any.

    sets: a table of test sets and their rows, `set first_row last_row` (see paraloom.evaluate.test_sets); it is the number
    at the end of pair_id that counts, so the corpus may be a part of the file.  The folders of sets' names are groups,
    too: with WMT's, `eng-isl` is what was English first, for the effect of translationese (BBH22 §4.4).
    group_by: a column of the corpus, each value of which is a group; not together with sets.
    comet_python: an interpreter that has unbabel-comet (paraloom.evaluate.comet); where it has not, the run goes on
    with a warning and without that figure.  comet_model: a name of COMET's, or a file .ckpt.
    """

    inputs: ClassVar[tuple[str, ...]] = ("translator", "pairs")
    version: ClassVar[str] = "2"

    translator: Ref
    pairs: Ref
    decode: str = "beam:5"
    sets: Path | None = None
    group_by: str = ""
    comet_python: str = ""
    comet_model: str = "wmt20-comet-da"

    def validate(self) -> None:
        if self.sets is not None and self.group_by:
            raise ConfigError("'sets' and 'group_by' both make groups", remedy="Give one of them.")

    def configuration(self) -> dict[str, Json]:
        """As of any stage, but of COMET whether it is there, not where its interpreter is."""
        found = {name: value for name, value in super().configuration().items() if name != "comet_python"}
        there = bool(self.comet_python) and has_comet(self.comet_python) and is_there(self.comet_model)
        return found | ({"comet": True} if there else {})

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json and hypotheses.txt; figures: bleu and chrf with intervals and signatures, comet, groups."""
        test = self._test(Corpus.open(context.inputs["pairs"]))
        translator = load_translator(context.inputs["translator"], self.decode)
        hypotheses = best_translations(translator, test.sources)
        (folder / "hypotheses.txt").write_text("".join(f"{text}\n" for text in hypotheses), encoding="utf-8")
        comet = self._comet(test, hypotheses)

        def measure(rows: Sequence[int]) -> dict[str, Json]:
            figures = evaluate_translation([hypotheses[row] for row in rows], [test.references[row] for row in rows])
            return figures | comet.of(rows)

        figures = measure(range(len(hypotheses)))
        if self.sets is not None or self.group_by:
            figures["groups"] = by_group(test.groups, measure)
        if comet.missing:
            figures["comet_missing"] = comet.missing
        (folder / "result.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        if "groups" in figures:
            figures["groups"] = [_brief(group) for group in figures["groups"]]
        return _rounded(figures)

    def _test(self, corpus: Corpus) -> _Test:
        if self.group_by and self.group_by not in corpus.schema.names:
            raise ConfigError(f"there is no column '{self.group_by}'{nearest(self.group_by, corpus.schema.names)}")
        sources: list[str] = []
        references: list[str] = []
        groups: list[tuple[str, ...]] = []
        for batch in corpus.batches(["pair_id", "src", "tgt", *([self.group_by] if self.group_by else [])]):
            sources += normalize(batch.column("src")).to_pylist()
            references += normalize(batch.column("tgt")).to_pylist()
            if self.group_by:
                values = batch.column(self.group_by).to_pylist()
                groups += [() if value is None else (str(value),) for value in values]
            else:
                groups += self._of_sets(batch.column("pair_id").to_pylist())
        return _Test(sources, references, groups)

    def _of_sets(self, pair_ids: list[str]) -> list[tuple[str, ...]]:
        if self.sets is None:
            return [()] * len(pair_ids)
        rows = []
        for pair_id in pair_ids:
            row = row_number(pair_id)
            if row is None:
                raise DataError(
                    f"pair_id '{pair_id}' does not end with the number of a row, which 'sets' go by",
                    remedy="Read the test sets by a stage 'bitext', from the file that the table is about.",
                )
            rows.append(row)
        return groups_of_rows(read_sets(self.sets), rows)

    def _comet(self, test: _Test, hypotheses: list[str]) -> _Comet:
        if not self.comet_python:
            return _Comet()
        try:
            scores, made_by = comet_scores(
                test.sources, hypotheses, test.references, python=self.comet_python, model=self.comet_model
            )
        except MissingExtra as missing:
            warnings.warn(str(missing), stacklevel=2)
            return _Comet(missing=missing.what)
        return _Comet(scores, made_by)


class _Comet(NamedTuple):
    """COMET's score of each row, none where it was not asked for, or is missing."""

    scores: list[float] = []  # noqa: RUF012
    made_by: str = ""
    missing: str = ""

    def of(self, rows: Sequence[int]) -> dict[str, Json]:
        return comet_figures([self.scores[row] for row in rows], self.made_by) if self.scores else {}


def _rounded(figures: dict[str, Json]) -> dict[str, Json]:
    return {
        name: round(value, _DIGITS.get(name, 2)) if isinstance(value, float) else value
        for name, value in figures.items()
    }


def _brief(figures: dict[str, Json]) -> dict[str, Json]:
    """Without signatures, which all groups share but for the sentences drawn."""
    return _rounded({name: value for name, value in figures.items() if not name.endswith("_signature")})
