"""Checks of what is to be translated, on a sample of its rows, before any work: languages, and costs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import DataError
from paraloom.core.lazy import late
from paraloom.core.protocols import CorpusReader, TranslatorLike
from paraloom.core.seeds import generator
from paraloom.core.stage import Json
from paraloom.io.bitext import UNKNOWN
from paraloom.text.language_names import known_language, language_code, language_name

if TYPE_CHECKING:
    from paraloom.pairs.scoring.idf import DocumentFrequencies

SAMPLE_ROWS = 500
"""Rows whose language is identified; `COST_SAMPLE` of them are translated."""

COPIES = 0.6
"""Share of translations that equal the other side of their pair, from which the text counts as already translated."""

NO_CHECK = "If it is right as it is, switch the check off: --no-language-check, or check_languages = false."

PARAPHRASE_MODEL = "paraphrase model"
"""What warnings call it."""

_RULE_LANGUAGES = ("en", "de")  # what rules have word lists of

_KNOWN_WORDS = 0.5  # share of the words of pairs that word counts of their language have, at least
_SHOWN_ROWS = 3


class Direction(NamedTuple):
    """What a translator translates from and into: ISO 639-1 codes, None where unknown."""

    source: str | None
    target: str | None

    @classmethod
    def of(cls, translator: TranslatorLike) -> Direction:
        """The languages of a translator, whose attributes `source` and `target` name them if they are known."""
        source, target = (language_code(getattr(translator, side, None)) for side in ("source", "target"))
        return cls(source, target)

    def __str__(self) -> str:
        return f"{self.source or '?'} → {self.target or '?'}"


class SampledRows(NamedTuple):
    """Sampled rows of a corpus."""

    ids: list[str]
    columns: dict[str, list[str]]


def read_sample(corpus: CorpusReader, columns: Sequence[str], ids: str, seed: int) -> SampledRows:
    """Random rows of a corpus, in their order; the corpus is streamed."""
    rows = corpus.rows
    chosen = np.arange(rows)
    if rows > SAMPLE_ROWS:
        chosen = np.sort(generator(seed).choice(rows, SAMPLE_ROWS, replace=False, shuffle=False))
    sample = SampledRows([], {column: [] for column in columns})
    first = 0
    for batch in corpus.batches([ids, *columns]):
        low, high = np.searchsorted(chosen, (first, first + batch.num_rows))
        if high > low:
            part = batch.take((chosen[low:high] - first).tolist())
            sample.ids.extend(map(str, part.column(ids).to_pylist()))
            for column in columns:
                sample.columns[column].extend(text or "" for text in part.column(column).to_pylist())
        first += batch.num_rows
    return sample


def check_languages(sample: SampledRows, column: str, direction: Direction, reference: str = "") -> dict[str, Json]:
    """Check that the columns are in the languages of the translator, where they can be identified."""
    from paraloom.text.function_words import sample_language

    columns = [column, *([reference] if reference else [])]
    identified = {name: sample_language(sample.columns[name]) for name in columns}
    source = identified[column]
    other = identified.get(reference)
    translator = f"the translator translates {direction}"
    sides = " and ".join(f"'{name}' is {language_name(identified[name])}" for name in columns)
    if reference and source and source == other and (direction.source is None or direction.source != direction.target):
        raise DataError(
            f"both sides are {language_name(source)} ({_rows(sample, column, source)}); {translator}",
            remedy=f"Give one side in {language_name(direction.source)}, the other in "
            f"{language_name(direction.target)}. {NO_CHECK}",
        )
    if _contradicts(source, direction.source, direction.target):
        if other and other == direction.source:
            raise DataError(
                f"the sides are swapped: {sides} ({_rows(sample, column, source)}); {translator}",
                remedy=f'Translate the other side: --side {reference}, or side = "{reference}" in a pipeline; or swap '
                f"the files, such as PREFIX.{{{direction.source},{direction.target}}}. {NO_CHECK}",
            )
        raise DataError(
            f"the text to translate, '{column}', is {language_name(source)} ({_rows(sample, column, source)}); "
            f"{translator}",
            remedy=f"Use a translator from {language_name(source)}, or text in {language_name(direction.source)}. "
            f"{NO_CHECK}",
        )
    if _contradicts(other, direction.target, direction.source):
        raise DataError(
            f"the other side, '{reference}', is {language_name(other)} ({_rows(sample, reference, other)}); "
            f"{translator}, and its translations would be paired with another language",
            remedy=f"Use a translator into {language_name(other)}. {NO_CHECK}",
        )
    return {name: language for name, language in identified.items() if language}


def name_languages(batch: pa.RecordBatch, direction: Direction, side: str) -> pa.RecordBatch:
    """Give the sides of a bitext whose language is unknown those of its translator."""
    other = "tgt" if side == "src" else "src"
    for name, language in ((f"{side}_lang", direction.source), (f"{other}_lang", direction.target)):
        if language is not None:
            column = batch.column(name)
            unknown = pc.fill_null(pc.is_in(column, pa.array([UNKNOWN, ""])), True)
            index = batch.schema.get_field_index(name)
            batch = batch.set_column(index, batch.schema.field(name), pc.if_else(unknown, language, column))
    return batch


def check_costs(sample: SampledRows, column: str, translator: TranslatorLike, reference: str = "") -> dict[str, Json]:
    """Warn if the costs of a sample, translated with `COST_DECODING`, are unlike those of the development text."""
    from paraloom.mt.costs import COST_DECODING, COST_SAMPLE, MIN_SENTENCES, CostDistribution, cost_warning
    from paraloom.mt.streams import best_variants
    from paraloom.mt.translator import Translator

    if not isinstance(translator, Translator) or translator.costs is None:
        return {}
    rows = [row for row, text in enumerate(sample.columns[column]) if text.strip()]
    step = max(1, len(rows) // COST_SAMPLE)
    rows = rows[::step][:COST_SAMPLE]
    if len(rows) < MIN_SENTENCES:
        return {}
    plain = Translator(
        translator.folder, COST_DECODING, source=translator.source, target=translator.target, check_costs=False
    )
    best = best_variants(plain, [sample.columns[column][row] for row in rows])
    costs = CostDistribution.of(best)
    messages = [cost_warning(costs, translator.costs, translator.stronger)]
    if reference:
        others = late("paraloom.text.normalize:normalize")([sample.columns[reference][row] for row in rows]).to_pylist()
        copies = sum(variant.text == other for variant, other in zip(best, others, strict=True)) / len(rows)
        if copies >= COPIES:
            messages.append(
                f"{copies:.0%} of its translations are equal to '{reference}': this text was translated by the same "
                "translator already, or the translator was trained on it; the pairs will be copies"
            )
    message = "; ".join(filter(None, messages))
    if message:
        warnings.warn(message, stacklevel=2)
    return {
        "costs": costs.to_dict(),
        "development_costs": translator.costs.to_dict(),
        **({"warning": message} if message else {}),
    }


def check_translation(
    corpus: CorpusReader,
    translators: Sequence[TranslatorLike],
    column: str,
    *,
    ids: str = "pair_id",
    reference: str = "",
    languages: bool = True,
    seed: int = 0,
) -> Mapping[str, Json]:
    sample = read_sample(corpus, [column, *([reference] if reference else [])], ids, seed)
    figures: dict[str, Json] = {}
    if languages:
        for translator in translators:
            figures["languages"] = check_languages(sample, column, Direction.of(translator), reference)
    figures |= check_costs(sample, column, translators[0], reference)
    return {name: value for name, value in figures.items() if value}


def check_scored_languages(
    corpus: CorpusReader,
    *,
    translator: TranslatorLike | None = None,
    reverse_translator: TranslatorLike | None = None,
    languages: Mapping[str, Sequence[str]] | None = None,
    seed: int = 0,
) -> Mapping[str, Json]:
    """Warn if pairs that are to be scored are in other languages than the models, whose languages are by name."""
    identified = _identified(corpus, "pair_id" if "pair_id" in corpus.schema.names else "src", seed)
    if (languages or {}).get(PARAPHRASE_MODEL):
        _refuse_bitext(identified, "p_paraphrase, by which presets select, is")
    models = {"translator": translator, "reverse translator": reverse_translator}
    directions = {name: Direction.of(model) for name, model in models.items() if model is not None}
    problems: list[str] = []
    remedy = ""
    for column, language in identified.items():
        problems += _against_directions(column, language, directions)
        if unfit := _against_models(column, language, languages or {}):
            problems += unfit
            remedy = "; --judge takes a judge of another language, --encoder adds paraphrase_score by an encoder of it"
    message = f"{'; '.join(problems)}: these scores mean little{remedy}" if problems else ""
    if message:
        warnings.warn(message, stacklevel=2)
    figures: dict[str, Json] = {"languages": {name: value for name, value in identified.items() if value}}
    return figures | ({"warning": message} if message else {})


def check_rules(corpus: CorpusReader, scores: Sequence[str], seed: int) -> None:
    """Warn if rules take pairs for English whose language is not stated, and which are in one that has no rules."""
    from paraloom.text.function_words import sample_language

    stated = [name for name in ("src_lang", "tgt_lang") if name in corpus.schema.names]
    sample = read_sample(corpus, ["src", "tgt", *stated], "src", seed).columns
    undeclared = [side for side in ("src", "tgt") if not {*sample.get(f"{side}_lang", [])} - {"", UNKNOWN}]
    languages = (sample_language(sample[side]) for side in undeclared)
    language = next((code for code in languages if code not in (None, *_RULE_LANGUAGES)), None)
    if language is not None:
        warnings.warn(
            f"the pairs do not state their language and seem to be in {language_name(language)}: "
            f"{', '.join(scores)} read them as English, and mean little. With a language, in the columns src_lang and "
            "tgt_lang or in the name of the file (pairs.SRC-TGT.tsv), they are null",
            stacklevel=2,
        )


def check_word_counts(corpus: CorpusReader, frequencies: DocumentFrequencies, seed: int) -> None:
    """Warn if word counts lack most words of both sides: those of another language give all of them one IDF."""
    sample = read_sample(corpus, ("src", "tgt"), "src", seed)
    share = max(frequencies.known_share(texts) for texts in sample.columns.values())
    if share < _KNOWN_WORDS:
        warnings.warn(
            f"the word counts have {share:.0%} of the words of the pairs, so that src_idf and tgt_idf mean little: "
            "give counts of text in the language of the pairs",
            stacklevel=2,
        )


def check_paraphrases(corpus: CorpusReader, seed: int, use: str = "these tables are") -> None:
    """Check that both sides of pairs are in one language, as far as languages can be identified."""
    _refuse_bitext(_identified(corpus, "src", seed), use)


def _identified(corpus: CorpusReader, ids: str, seed: int) -> dict[str, str | None]:
    """The language of each side of pairs, and of the pivot if there is one: of a sample, or else as its rows say."""
    from paraloom.text.function_words import sample_language

    columns = [name for name in ("src", "tgt", "pivot") if name in corpus.schema.names]
    said = {name: f"{name}_lang" for name in columns if f"{name}_lang" in corpus.schema.names}
    sample = read_sample(corpus, [*columns, *said.values()], ids, seed)
    codes = {name: {*sample.columns[column]} for name, column in said.items()}
    by_rows = {name: known_language(*known) for name, known in codes.items() if len(known) == 1}
    return {name: sample_language(sample.columns[name]) or by_rows.get(name) for name in columns}


def warn_of_bitext(corpus: CorpusReader, seed: int) -> None:
    """Warn if an encoder of one language is to learn from translations."""
    try:
        check_paraphrases(corpus, seed, "--pairs is")
    except DataError as error:
        warnings.warn(f"{error.what}. For an encoder of both languages give translations as --bitext", stacklevel=2)


def _refuse_bitext(identified: Mapping[str, str | None], use: str) -> None:
    """DataError for pairs that nobody back-translated and whose sides are in two languages."""
    source, target = identified["src"], identified["tgt"]
    if source and target and source != target and "pivot" not in identified:
        raise DataError(
            f"'src' is {language_name(source)} and 'tgt' is {language_name(target)}; {use} for pairs in one language",
            remedy="Back-translate the bitext first: paraloom backtranslate. To clean it: paraloom score, then "
            "paraloom filter --where.",
        )


def _against_directions(column: str, language: str | None, directions: Mapping[str, Direction]) -> Iterator[str]:
    for name, direction in directions.items():
        expected, opposite = direction.source, direction.target
        if (column == "pivot") != (name == "translator"):
            expected, opposite = opposite, expected
        if _contradicts(language, expected, opposite):
            yield f"'{column}' is {language_name(language)}, but the {name} translates {direction}"


def _against_models(column: str, language: str | None, languages: Mapping[str, Sequence[str]]) -> list[str]:
    """The models that are not for the language of a column; those of the same languages together."""
    models: dict[str, list[str]] = {}
    for name, codes in languages.items() if language and column != "pivot" else ():
        # Cards may say "multilingual", which is not a code.
        known = [code for code in map(language_code, codes) if code and len(code) <= 3]
        if known and language not in known:
            models.setdefault(", ".join(map(language_name, known)), []).append(name)
    return [
        f"'{column}' is {language_name(language)}, but the {' and the '.join(names)} "
        f"{'is' if len(names) == 1 else 'are'} for {known}"
        for known, names in models.items()
    ]


def _contradicts(identified: str | None, expected: str | None, opposite: str | None) -> bool:
    """Whether an identified language is not the expected one; a language that cannot be identified is not denied."""
    from paraloom.text.function_words import known_function_words

    if identified is None or expected is None or identified == expected:
        return False
    return expected in known_function_words() or identified == opposite


def _rows(sample: SampledRows, column: str, language: str | None) -> str:
    """The rows of a sample that are most clearly in a language, with their texts."""
    from paraloom.text.function_words import likeness

    texts = sample.columns[column]
    order = sorted(range(len(texts)), key=lambda row: -likeness(texts[row], language or "") * min(len(texts[row]), 60))
    shown = [f"{sample.ids[row]} {texts[row][:40]!r}" for row in sorted(order[:_SHOWN_ROWS])]
    return f"rows such as {', '.join(shown)}"
