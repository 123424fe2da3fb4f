"""The stage that paraphrases a corpus: by a trained paraphraser or a round trip, with a selection of the candidates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.bundled import bundled_path
from paraloom.core.config import check_range
from paraloom.core.digests import signature
from paraloom.core.errors import ConfigError
from paraloom.core.protocols import CorpusReader, ParaphraseLike, Variant
from paraloom.core.stage import Json, Map, Ref, StageContext
from paraloom.core.stage_cache import cached_per_stage
from paraloom.embed.encoder import open_encoder
from paraloom.mt.decoding import Beam, parse_decoding
from paraloom.mt.loading import open_translator
from paraloom.pairs.variants import variant_rows
from paraloom.paraphrasing.linearization import read_template
from paraloom.paraphrasing.paraphraser import AUTO, EXEMPLAR_HEIGHT, ControlledParaphraser
from paraloom.paraphrasing.round_trip import PIVOTS, PivotParaphraser
from paraloom.paraphrasing.selection import EMPTY, Measured, ParaphraseSelector
from paraloom.paraphrasing.selection_config import selection_config
from paraloom.stages.input_checks import read_sample
from paraloom.stages.paraphrasers import open_paraphraser
from paraloom.stages.variants import originals_of
from paraloom.text.language_names import language_name


class _Chosen(NamedTuple):
    """A variant as it is written."""

    candidate: ParaphraseLike
    measured: Measured
    reason: str


@dataclass(frozen=True, kw_only=True)
class Paraphrase(Map):
    """Paraphrases each text of a corpus several times, into VARIANTS, freely or by templates.

    Columns `template`, `template_parse` and `template_distance` say which template a variant was to have, which one its
    own parse has, and the tree edit distance between both. With a selection, columns `meaning` and `difference` are
    added, the best variants come first, and the others are rejected, each with its reason and what was measured of it:
    `meaning` is null where another check came before.

    Args:
        paraphraser: A stage that trained a paraphraser, or its folder.
        forward: Instead of a paraphraser, a round trip: the translator into another language, a stage or a folder.
        backward: The translator back.
        pivots: Translations of each text on the way of a round trip.
        parser: Another parser than the one that came with the model: a stage or a folder.
        n: Variants of each text at most; without a template or a selection, copies of the text are left out where
            there is another variant.
        template: A template such as '(S (NP) (VP) (.))', or 'auto' for n templates chosen for each text, with a variant
            of each; '' paraphrases freely.
        like: Instead of a template: a sentence whose syntax to follow.
        height: Levels of the tree of `like` to follow, below ROOT; 0 follows all.
        decode: How to decode, such as 'nucleus:0.95'. Default: a beam.
        candidates: With a selection: candidates of each text, of which up to `n` are kept.
        preset: Select variants by the thresholds and weights for a use, one of
            `paraloom.paraphrasing.selection_config.SELECTION_PRESETS`, such as 'varied'.
        meaning: Select variants: minimum cosine similarity to the text, 0 to 1, instead of the preset's.
        difference: Select variants: minimum difference from the text, 0 to 1, instead of the preset's.
        encoder: With a selection: what measures meaning, such as 'english'.
        column: Column to paraphrase: 'text' of SENTENCES, 'src' or 'tgt' of PAIRS. Default: 'text', or else 'src'.
        check_languages: Before any work, identify the language of a sample, and fail if the paraphraser was trained on
            another one.

    Raises:
        ConfigError: `template` and `like` are both given, or a paraphraser and a round trip, or a value is not valid,
            or a selection has no encoder, or an encoder no selection, or `pivots` or `candidates` is set where it has
            no effect; when it runs: the model does not know a label.
        DataError: When it runs: the column does not exist, or the exemplar cannot be parsed.

    Example:
        >>> Paraphrase(paraphraser="train-paraphraser", template="(S (NP) (VP) (.))").n
        5
    """

    inputs: ClassVar[tuple[str, ...]] = ("paraphraser", "parser", "forward", "backward", "encoder")
    # 2: selections drop improbable candidates, automatic templates are the most probable ones, free variants no copies.
    version: ClassVar[str] = "2"
    output_schema: ClassVar[str] = "VARIANTS"
    rows: ClassVar[Literal["same", "many"]] = "many"
    optional_fields: ClassVar[tuple[str, ...]] = (
        *("forward", "backward", "pivots", "candidates", "preset", "meaning", "difference", "encoder"),
    )
    removed_fields: ClassVar[Mapping[str, str]] = {
        "canonical": "A paraphraser no longer writes standard forms: use `paraloom canonicalize` on the file of texts."
    }

    paraphraser: Ref | None = None
    forward: Ref | None = None
    backward: Ref | None = None
    pivots: int = PIVOTS
    parser: Ref | None = None
    n: int = 5
    template: str = ""
    like: str = ""
    height: int = EXEMPLAR_HEIGHT
    decode: str = ""
    candidates: int = 10
    preset: str = ""
    meaning: float | None = None
    difference: float | None = None
    encoder: Ref | None = None
    column: Literal["", "text", "src", "tgt"] = ""
    check_languages: bool = True

    def configuration(self) -> dict[str, Json]:
        """The fields; the check of languages does not change the output."""
        return {name: value for name, value in super().configuration().items() if name != "check_languages"}

    def check_input(self, corpus: CorpusReader, context: StageContext) -> Mapping[str, Json]:
        """The language of a sample is that of the paraphraser, and of the encoder that selects."""
        if self.selects:
            source = self._source(context)
            language = source.language if isinstance(source, PivotParaphraser) else source.settings.language
            if self.encoder is not None and language not in (None, "", "en"):
                _check_encoder(context.inputs["encoder"], language)
        column = self.column or ("text" if "text" in corpus.schema.names else "src")
        if self.check_languages and self.paraphraser is not None and column in corpus.schema.names:
            sample = read_sample(corpus, [column], "doc_id" if column == "text" else "pair_id", context.seed)
            paraphraser = _paraphraser(context.inputs["paraphraser"], context.inputs.get("parser"))
            paraphraser.check_language(sample.columns[column])
        return {}

    def validate(self) -> None:
        if self.n < 1:
            raise ConfigError(f"key 'n' must be 1 or more, got {self.n}")
        if self.height < 0:
            raise ConfigError(f"key 'height' must be 0 (all levels) or more, got {self.height}")
        check_range(self, "candidates", "pivots", low=1)
        if (self.forward is None) != (self.backward is None):
            raise ConfigError("a round trip needs the keys 'forward' and 'backward'", remedy="Name two translators.")
        if (self.paraphraser is None) == (self.forward is None):
            raise ConfigError(
                "expected a paraphraser or a round trip",
                remedy="Set 'paraphraser', or 'forward' and 'backward', and not both.",
            )
        if self.forward is not None and (self.template or self.like or self.parser is not None):
            raise ConfigError("a round trip follows no template", remedy="Remove 'template', 'like' and 'parser'.")
        if self.forward is None and self.pivots != type(self).pivots:
            raise ConfigError(
                "'pivots' is for a round trip, and has no effect on a paraphraser",
                remedy="Remove it, or set 'forward' and 'backward' instead of 'paraphraser'.",
            )
        if self.template and self.like:
            raise ConfigError("keys 'template' and 'like' cannot be combined", remedy="Give one of them.")
        if self.template and self.template != AUTO:
            read_template(self.template)
        if self.decode:
            parse_decoding(self.decode)
        if self.selects:
            selection_config(self.preset or DEFAULT_PRESET, meaning=self.meaning, difference=self.difference)
            if self.encoder is None:
                raise ConfigError("a selection needs an encoder", remedy="Set encoder = 'english', or another one.")
        elif self.candidates != type(self).candidates:
            raise ConfigError(
                "'candidates' is for a selection, and has no effect without one",
                remedy="Remove it ('n' is the number of variants), or set 'preset', 'meaning' or 'difference', too.",
            )
        elif self.encoder is not None:
            raise ConfigError("'encoder' is for a selection", remedy="Set 'preset', 'meaning' or 'difference', too.")

    @property
    def selects(self) -> bool:
        """Whether variants are selected."""
        return bool(self.preset) or self.meaning is not None or self.difference is not None

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        """The variants of one batch; models are loaded once per worker."""
        originals = originals_of(batch, self.column)
        texts = pc.fill_null(originals.column("original"), "").to_pylist()
        groups, signed, method = self._candidates(texts, context)
        if self.selects:
            selector = _selector(
                context.inputs["encoder"], self.preset or DEFAULT_PRESET, self.meaning, self.difference
            )
            selection = selector.select(texts, groups, self.n)
            signed = f"{signed}|{selector.signature}"
            parts = zip(groups, selection.positions, selection.reasons, selection.measured, strict=True)
            chosen = [_ordered(*part) for part in parts]
        else:
            chosen = [
                [_Chosen(one, Measured(), getattr(one, "reason", None) or "") for one in group] for group in groups
            ]
        chosen = [group if text.strip() else _NOTHING for text, group in zip(texts, chosen, strict=True)]
        variants = [[_variant(one.candidate) for one in group] for group in chosen]
        rows = variant_rows(originals, variants, method, signature=signed)
        flat = [one for group in chosen for one in group]
        columns: list[tuple[str, list[Any], pa.DataType]] = [
            ("template", [getattr(one.candidate, "template", None) for one in flat], pa.string()),
            ("template_parse", [getattr(one.candidate, "parsed", None) for one in flat], pa.string()),
            ("template_distance", [getattr(one.candidate, "distance", None) for one in flat], pa.int32()),
        ]
        if self.selects:
            for name in Measured._fields:
                figures = [getattr(one.measured, name) for one in flat]
                columns.append((name, [None if math.isnan(value) else value for value in figures], pa.float32()))
        for name, values, kind in columns:
            rows = rows.append_column(pa.field(name, kind, metadata={"signature": signed}), pa.array(values, kind))
        if any(one.reason for one in flat):
            rows = rows.append_column("keep", pa.array(np.array([not one.reason for one in flat], bool)))
            rows = rows.append_column("reason", pa.array([one.reason or None for one in flat], pa.string()))
        return rows

    def _source(self, context: StageContext) -> ControlledParaphraser | PivotParaphraser:
        if self.paraphraser is None:
            return _round_trip(context.inputs["forward"], context.inputs["backward"], self.pivots, self.decode or None)
        return _paraphraser(context.inputs["paraphraser"], context.inputs.get("parser"))

    def _translators(self, context: StageContext) -> tuple[Path, Path]:
        return context.inputs["forward"], context.inputs["backward"]

    def _candidates(
        self, texts: Sequence[str], context: StageContext
    ) -> tuple[Sequence[Sequence[ParaphraseLike]], str, str]:
        """The candidates of texts, the signature of what made them, and the name of the method."""
        count = max(self.n, self.candidates) if self.selects else self.n
        if self.paraphraser is None:
            pivot = _round_trip(*self._translators(context), self.pivots, self.decode or None)
            return pivot.paraphrase(texts, n=count, seed=context.seed), pivot.signature, "round-trip"
        paraphraser = _paraphraser(context.inputs["paraphraser"], context.inputs.get("parser"))
        if self.selects or self.template or self.like:
            groups = paraphraser.candidates(
                texts,
                n=count,
                template=self.template or None,
                like=self.like or None,
                height=self.height or None,
                decode=self.decode or None,
                seed=context.seed,
            )
        else:  # leaves out copies, which a selection would reject with a reason
            groups = paraphraser.paraphrase(
                texts, n=count, decode=self.decode or None, seed=context.seed, check_language=False
            )
        if self.selects:
            groups = paraphraser.with_free_logprobs(texts, groups)
        signed = f"{paraphraser.signature}|{signature('decode', decode=self.decode or 'beam', n=count)}"
        return groups, signed, f"paraphrase:{self.template or self.like or 'free'}"


def _check_encoder(encoder: Path, language: str | None) -> None:
    """Raise ConfigError if an encoder is a bundled one, which reads English, and the texts have another language."""
    if encoder in (bundled_path("english"), bundled_path("english-small")):
        raise ConfigError(
            f"the encoder '{encoder.name}' does not read {language_name(language)}, the language of the paraphraser",
            remedy="Name an encoder of that language as 'encoder'.",
        )


_NOTHING = [_Chosen(Variant("", math.nan, 0), Measured(), EMPTY)]
"""What an empty text has instead of variants: a row that is rejected."""

DEFAULT_PRESET = "augmentation"
"""Thresholds and weights of a selection for which only `meaning` or `difference` is given."""


def _ordered(
    group: Sequence[ParaphraseLike],
    positions: Sequence[int],
    reasons: Sequence[str],
    measured: Sequence[Measured],
) -> list[_Chosen]:
    """The candidates of a text: those that were kept, the best first, then the others."""
    chosen = [_Chosen(group[index], measured[index], "") for index in positions]
    return chosen + [_Chosen(*one) for one in zip(group, measured, reasons, strict=True) if one[-1]]


def _variant(one: ParaphraseLike) -> Variant:
    return Variant(one.text, one.logprob, one.tokens, getattr(one, "cut", False), pieces=getattr(one, "pieces", 1))


@cached_per_stage()
def _paraphraser(folder: Path, parser: Path | None) -> ControlledParaphraser:
    return open_paraphraser(folder, parser=parser)


@cached_per_stage()
def _round_trip(forward: Path, backward: Path, pivots: int, decode: str | None) -> PivotParaphraser:
    there, back = (open_translator(path, Beam()) for path in (forward, backward))
    return PivotParaphraser(there, back, pivots=pivots, decode=decode)


@cached_per_stage()
def _selector(encoder: Path, preset: str, meaning: float | None, difference: float | None) -> ParaphraseSelector:
    config = selection_config(preset, meaning=meaning, difference=difference)
    return ParaphraseSelector(config, open_encoder(encoder))
