"""The stage that paraphrases a corpus: by any paraphraser, with one selection of the candidates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from paraloom.bundled import JUDGE_MODEL, bundled_path
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.protocols import CorpusReader, ParaphraseLike, ParaphraserLike, Variant
from paraloom.core.references import reference_fields, split_reference
from paraloom.core.schema import add_column, with_reasons
from paraloom.core.stage import Json, Map, Ref, Stage, StageContext
from paraloom.core.stage_cache import cached_per_stage
from paraloom.embed.encoder import open_encoder
from paraloom.mt.decoding import Beam, parse_decoding
from paraloom.mt.endpoint_config import EndpointConfig, is_endpoint
from paraloom.mt.loading import open_translator
from paraloom.pairs.scoring.judge import Judge
from paraloom.pairs.variants import variant_rows
from paraloom.paraphrasing.candidates import (
    CombinedParaphraser,
    SelectingParaphraser,
    TemplateCandidates,
    candidates_of,
    combined,
    is_english,
    language_of_paraphraser,
)
from paraloom.paraphrasing.linearization import read_template
from paraloom.paraphrasing.paraphraser import AUTO, EXEMPLAR_HEIGHT, ControlledParaphraser
from paraloom.paraphrasing.references import ROUND_TRIP, RoundTripReference, endpoint_reference
from paraloom.paraphrasing.round_trip import MonolingualParaphraser, PivotParaphraser
from paraloom.paraphrasing.selection import EMPTY, Measured, ParaphraseSelector, changes_of
from paraloom.paraphrasing.selection_config import CandidateSelection, SelectionConfig
from paraloom.paraphrasing.settings import PARAPHRASER_FILE
from paraloom.stages.endpoints import LoadEndpoint, endpoint_usage
from paraloom.stages.input_checks import NO_CHECK, read_sample
from paraloom.stages.paraphrasers import open_paraphraser
from paraloom.stages.variants import originals_of
from paraloom.text.function_words import known_function_words, sample_language
from paraloom.text.language_names import language_name

NO_ENCODER = "none"
"""Instead of an encoder: meaning is not measured."""

NO_CANDIDATE = "no candidate"

_NO_VARIANT = Variant("", math.nan, 0)


class _Chosen(NamedTuple):
    """A variant of a text as it is written."""

    text: str
    candidate: ParaphraseLike
    measured: Measured
    reason: str


@dataclass(frozen=True, kw_only=True)
class Paraphrase(CandidateSelection, Map):
    """Paraphrases each text of a corpus, into VARIANTS: at most n of each, none where none is good enough.

    Candidates are selected by default. The best come first; the others are rejected, each with its reason, and columns
    `meaning`, `difference` and `judge` say what was measured (null where another check came before), `changes` the
    kinds of change by rules of English: word, order, contraction. Columns `template`, `template_parse` and
    `template_distance` say which template a variant was to have, which one its own parse has, and the tree edit
    distance between both.

    Args:
        paraphraser: One or several, whose candidates are combined: `english`, a folder or a stage that trained one;
            `round-trip:en-de,de-en,pivots=3`, by translators that are stages, folders or bundled; an endpoint,
            `http://127.0.0.1:8000/v1?model=qwen3&language=en`, or a stage that loaded one.
        parser: Another parser than the one that came with a trained model: a stage or a folder.
        n: Paraphrases of each text at most.
        template: Of trained paraphrasers: a template such as '(S (NP) (VP) (.))', or auto for templates that suit each
            text.
        like: Instead of a template: a sentence whose syntax to follow.
        height: Levels of the tree of `like` to follow, below ROOT; 0 follows all.
        decode: How to decode, such as 'nucleus:0.95'. Default: a beam; sampling for an endpoint.
        encoder: Encoder that measures meaning; none does not measure it. Default: english.
        judge: Judge that reads the text and a candidate at once: what :class:`TrainJudge` wrote; none does not ask one.
            Default: the bundled one, for English by trained paraphrasers and round trips.
        column: Column to paraphrase: 'text' of SENTENCES, 'src' or 'tgt' of PAIRS. Default: 'text', or else 'src'.
        check_languages: Before any work, identify the language of a sample, and fail if it is not the paraphraser's.

    For the selection see :class:`~paraloom.paraphrasing.selection_config.CandidateSelection`.

    Raises:
        ConfigError: `template` and `like` are both given, or a value is not valid or has no effect; when it runs: the
            model does not know a label.
        DataError: When it runs: the column does not exist, or the exemplar cannot be parsed.

    Example:
        >>> Paraphrase(paraphraser="train-paraphraser", preset="strict").n
        5
    """

    # 2: selections drop improbable candidates, automatic templates are the most probable ones, free variants no copies.
    # 3: candidates are selected by default, are free ones and those of templates, and English ones are judged.
    # 4: the judge passes what passes the preset of pairs.
    # 5: the judge's verdict, the paraphraser's cost and the words that changed give a probability to be right.
    # 6: more faults of English drop a candidate; of a text in another language nothing is kept.
    # 7: the strict preset keeps a text of up to twenty words with one word replaced.
    # 8: a column says the kinds of change.
    # 9: the probability to be right reads how often replaced words have these neighbors and translations.
    # 10: of texts in other languages than English, the column of kinds of change is empty.
    # 11: with a template or like an exemplar, only what has it is kept, also what rules and moved constituents write.
    # 12: with a template the network only replaces words, and rules move adjuncts.
    version: ClassVar[str] = "12"
    output_schema: ClassVar[str] = "VARIANTS"
    rows: ClassVar[Literal["same", "many"]] = "many"

    paraphraser: Ref | tuple[Ref, ...]
    parser: Ref | None = None
    n: int = 5
    template: str = ""
    like: str = ""
    height: int = EXEMPLAR_HEIGHT
    decode: str = ""
    encoder: Ref | None = None
    judge: Ref | None = None
    column: Literal["", "text", "src", "tgt"] = ""
    check_languages: bool = True

    def validate(self) -> None:
        CandidateSelection.validate(self)
        if self.n < 1:
            raise ConfigError(f"key 'n' must be 1 or more, got {self.n}")
        if self.height < 0:
            raise ConfigError(f"key 'height' must be 0 (all levels) or more, got {self.height}")
        if not self._names:
            raise ConfigError("key 'paraphraser' is empty", remedy="Name one, such as english.")
        self._check_syntax()
        if self.decode:
            parse_decoding(self.decode)
        _ = list(self.refs())
        for name in ("encoder", "judge"):
            if getattr(self, name) is not None and not self.selects:
                raise ConfigError(
                    f"'{name}' is for a selection, and has no effect without one",
                    remedy="Leave it out, or name a preset: strict, balanced or loose.",
                )

    def _check_syntax(self) -> None:
        if self.template and self.like:
            raise ConfigError("keys 'template' and 'like' cannot be combined", remedy="Give one of them.")
        if (self.template or self.like or self.parser is not None) and not any(map(_may_be_trained, self._names)):
            raise ConfigError(
                "'template', 'like' and 'parser' are for a trained paraphraser", remedy="Name english, or its folder."
            )
        if self.template and self.template != AUTO:
            read_template(self.template)

    @property
    def _names(self) -> tuple[Ref, ...]:
        return self.paraphraser if isinstance(self.paraphraser, tuple) else (self.paraphraser,)

    def _endpoint(self, index: int) -> str:
        return f"{self.name or 'paraphrase'}-endpoint-{index + 1}"

    def refs(self) -> Iterator[tuple[str, Ref]]:
        """Paraphrasers by number, the two translators of a round trip, the parser and the encoder."""
        for index, one in enumerate(self._names):
            if is_endpoint(one):
                yield f"paraphraser.{index}", self._endpoint(index)
            elif _is_round_trip(one):
                trip = RoundTripReference.parse(str(one))
                yield f"paraphraser.{index}.forward", trip.forward
                yield f"paraphraser.{index}.backward", trip.backward
            else:
                yield f"paraphraser.{index}", one
        if self.parser is not None:
            yield "parser", self.parser
        if self.selects and self.encoder != NO_ENCODER:
            yield "encoder", self.encoder or "english"
        if self.selects and self.judge != NO_ENCODER:
            yield "judge", self.judge or JUDGE_MODEL

    def companions(self) -> tuple[Stage, ...]:
        """A stage for each endpoint: it keeps the answers, which a run that resumes does not pay for twice."""
        return tuple(
            LoadEndpoint(name=self._endpoint(index), **_endpoint_fields(str(one)))
            for index, one in enumerate(self._names)
            if is_endpoint(one)
        )

    def with_references(self, references: Mapping[str, str | Path]) -> Stage:
        names: list[Ref] = []
        for index, one in enumerate(self._names):
            key = f"paraphraser.{index}"
            if _is_round_trip(one):
                there, back = str(references[f"{key}.forward"]), str(references[f"{key}.backward"])
                names.append(str(RoundTripReference.parse(str(one))._replace(forward=there, backward=back)))
            else:
                names.append(references[key])
        parser, encoder = (references.get(name, getattr(self, name)) for name in ("parser", "encoder"))
        judge = self.judge if self.judge is None else references.get("judge", self.judge)
        return replace(self, paraphraser=tuple(names), parser=parser, encoder=encoder, judge=judge)

    def configuration(self) -> dict[str, Json]:
        """The fields; of round trips the pivots."""
        kinds = [RoundTripReference.parse(str(one)).pivots if _is_round_trip(one) else 0 for one in self._names]
        further = {"kinds": kinds, "measured": self.encoder != NO_ENCODER, "judged": self.judge or ""}
        return super().configuration() | further

    def check_input(self, corpus: CorpusReader, context: StageContext) -> Mapping[str, Json]:
        opened = self._opened(context)
        if "encoder" in context.inputs:
            check_encoder_language(context.inputs["encoder"], language_of_paraphraser(opened.paraphraser))
        check_change_language(self.change, opened.paraphraser)
        column = self.column or ("text" if "text" in corpus.schema.names else "src")
        if self.check_languages and column in corpus.schema.names:
            sample = read_sample(corpus, [column], "doc_id" if column == "text" else "pair_id", context.seed)
            check_text_language(sample.columns[column], opened.paraphraser)
        return {}

    def apply(self, batch: pa.RecordBatch, context: StageContext) -> pa.RecordBatch:
        opened = self._opened(context)
        originals = originals_of(batch, self.column)
        texts = pc.fill_null(originals.column("original"), "").to_pylist()
        groups, selection = opened.answer(texts, seed=context.seed)
        parts = zip(texts, groups, selection.positions, selection.reasons, selection.measured, strict=True)
        chosen = [_ordered(*part) for part in parts]
        variants = [[_variant(one.candidate) for one in group] for group in chosen]
        signed = opened.signature
        rows = variant_rows(originals, variants, self._method, signature=signed)
        flat = [one for group in chosen for one in group]
        columns = _OF_CANDIDATES | (_OF_SELECTION if self.selects else {})
        if not is_english(opened.paraphraser):
            columns["changes"] = (pa.string(), lambda _: None)
        for name, (kind, value) in columns.items():
            rows = add_column(rows, name, pa.array(map(value, flat), kind), signed)
        if any(one.reason for one in flat):
            rows = with_reasons(rows, [one.reason or None for one in flat])
        return rows

    def final_figures(self, context: StageContext) -> Mapping[str, Json]:
        return endpoint_usage([path for key, path in context.inputs.items() if key.startswith("paraphraser")])

    @property
    def _method(self) -> str:
        if len(self._names) > 1:
            return "paraphrase:several"
        if _is_round_trip(self._names[0]):
            return "round-trip"
        return f"paraphrase:{self.template or self.like or ('selected' if self.selects else 'free')}"

    def _opened(self, context: StageContext) -> SelectingParaphraser:
        parts: list[tuple[Path, Path | None, int]] = []
        for index, one in enumerate(self._names):
            key = f"paraphraser.{index}"
            if _is_round_trip(one):
                pivots = RoundTripReference.parse(str(one)).pivots
                parts.append((context.inputs[f"{key}.forward"], context.inputs[f"{key}.backward"], pivots))
            else:
                parts.append((context.inputs[key], None, 0))
        how = (self.template or None, self.like or None, self.height or None)
        models = (context.inputs.get("encoder"), context.inputs.get("judge"), self.judge is not None)
        thresholds = self.thresholds if self.selects else None
        selection = None if thresholds is None else (thresholds, *models)
        return _open(
            tuple(parts), context.inputs.get("parser"), how, self.decode or None, selection, self.n, self.candidates
        )


def _is_round_trip(name: Ref) -> bool:
    return isinstance(name, str) and name.startswith(ROUND_TRIP)


def _may_be_trained(name: Ref) -> bool:
    return not (is_endpoint(name) or _is_round_trip(name))


def _endpoint_fields(reference: str) -> dict[str, Any]:
    address, settings = split_reference(endpoint_reference(reference))
    fields = reference_fields(EndpointConfig, settings, f"the endpoint '{address}'", without=("url",))
    if "model" not in fields:
        raise ConfigError(
            f"the endpoint '{address}' needs the name of a model", remedy=f"Write '{address}?model=NAME&language=en'."
        )
    return {"url": address, **fields}


def trained_parts(paraphraser: ParaphraserLike) -> Iterator[ControlledParaphraser]:
    if isinstance(paraphraser, CombinedParaphraser):
        for part in paraphraser.paraphrasers:
            yield from trained_parts(part)
    elif isinstance(paraphraser, TemplateCandidates):
        yield paraphraser.paraphraser
    elif isinstance(paraphraser, ControlledParaphraser):
        yield paraphraser


def is_judged(paraphraser: ParaphraserLike) -> bool:
    """Whether the bundled judge decides by default: in English, where our own models or a round trip wrote.

    It takes many synonyms for another meaning: of writers that are seldom wrong it would drop more right candidates
    than wrong ones.
    """
    parts = paraphraser.paraphrasers if isinstance(paraphraser, CombinedParaphraser) else (paraphraser,)
    own = all(isinstance(part, (PivotParaphraser, TemplateCandidates, ControlledParaphraser)) for part in parts)
    return own and is_english(paraphraser)


def check_text_language(texts: Iterable[str], paraphraser: ParaphraserLike) -> None:
    """Refuse texts in another language than the paraphraser's, where both are known."""
    given = list(texts)
    for trained in dict.fromkeys(trained_parts(paraphraser)):
        trained.check_language(given)
    language = language_of_paraphraser(paraphraser)
    identified = sample_language(given)
    if identified is not None and language in known_function_words() and identified != language:
        raise DataError(
            f"the texts are {language_name(identified)}, the paraphraser is for {language_name(language)}",
            remedy=f"Use a paraphraser of {language_name(identified)}, such as a round trip with two translators. "
            f"{NO_CHECK}",
        )


def check_change_language(change: str, paraphraser: ParaphraserLike) -> None:
    """Raise ConfigError if a kind of change is asked for, which English words show, of texts in another language."""
    if change and not is_english(paraphraser):
        language = language_name(language_of_paraphraser(paraphraser))
        raise ConfigError(
            f"the kinds of change are those of English, and the paraphraser is for {language}",
            remedy="Leave --change out (key 'change').",
        )


def check_encoder_language(encoder: Path, language: str | None) -> None:
    """Raise ConfigError if an encoder is a bundled one, which reads English, and the texts have another language."""
    english = encoder in (bundled_path("english"), bundled_path("english-small"))
    if english and language not in (None, "", "en"):
        raise ConfigError(
            f"the encoder '{encoder.name}' does not read {language_name(language)}, the language of the paraphraser",
            remedy="Name an encoder of that language as 'encoder' (--encoder), or none: meaning is not measured.",
        )


def _changes(one: _Chosen) -> str | None:
    return changes_of(one.text, one.candidate.text) if one.candidate.text else None


def _measured(name: str, one: _Chosen) -> float | None:
    value: float = getattr(one.measured, name)
    return None if math.isnan(value) else value


def _of_template(name: str, one: _Chosen) -> Any:
    return getattr(one.candidate, name, None)


_Columns = dict[str, tuple[pa.DataType, Callable[[_Chosen], Any]]]
"""Name of a column → its type, and its value of a variant; None where the paraphraser or the selection has none."""

_OF_CANDIDATES: _Columns = {
    "changes": (pa.string(), _changes),
    "template": (pa.string(), partial(_of_template, "template")),
    "template_parse": (pa.string(), partial(_of_template, "parsed")),
    "template_distance": (pa.int32(), partial(_of_template, "distance")),
}
_OF_SELECTION: _Columns = {name: (pa.float32(), partial(_measured, name)) for name in Measured._fields}


def _ordered(
    text: str,
    group: Sequence[ParaphraseLike],
    positions: Sequence[int],
    reasons: Sequence[str],
    measured: Sequence[Measured],
) -> list[_Chosen]:
    """The candidates of a text: those that were kept, the best first, then the others; a rejected one if none."""
    if not text.strip():
        return [_Chosen(text, _NO_VARIANT, Measured(), EMPTY)]
    chosen = [_Chosen(text, group[index], measured[index], "") for index in positions]
    chosen += [_Chosen(text, *one) for one in zip(group, measured, reasons, strict=True) if one[-1]]
    return chosen or [_Chosen(text, _NO_VARIANT, Measured(), NO_CANDIDATE)]


def _variant(one: ParaphraseLike) -> Variant:
    return Variant(one.text, one.logprob, one.tokens, getattr(one, "cut", False), pieces=getattr(one, "pieces", 1))


@cached_per_stage()
def _open(
    parts: tuple[tuple[Path, Path | None, int], ...],
    parser: Path | None,
    how: tuple[str | None, str | None, int | None],
    decode: str | None,
    selection: tuple[SelectionConfig, Path | None, Path | None, bool] | None,
    n: int,
    candidates: int,
) -> SelectingParaphraser:
    template, like, height = how
    opened: list[ParaphraserLike] = []
    for path, back, pivots in parts:
        if back is not None:
            there, home = (open_translator(folder, Beam()) for folder in (path, back))
            opened.append(PivotParaphraser(there, home, pivots=pivots, decode=decode))
        elif (path / PARAPHRASER_FILE).is_file():
            trained = open_paraphraser(path, parser=parser)
            given: dict[str, Any] = {"template": template, "like": like, "height": height, "decode": decode}
            opened.append(candidates_of(trained, selects=selection is not None, **given))
        else:
            opened.append(MonolingualParaphraser(open_translator(path, "sampling"), decode=decode))
    selector = None
    if selection is not None:
        thresholds, encoder, judge, named = selection
        judges = judge is not None and (named or is_judged(combined(opened)))
        selector = ParaphraseSelector(
            thresholds,
            None if encoder is None else open_encoder(encoder),
            judge=Judge.load(judge) if judges and judge is not None else None,
        )
    return SelectingParaphraser(combined(opened), selector, n=n, candidates=candidates)
