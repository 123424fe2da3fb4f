"""Everything that paraphrases, for users: round trips, endpoints, and paraphrasers by the names on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

from paraloom.api.endpoints import named_translator
from paraloom.api.named_models import NO_ENCODER, named_encoder, named_language_model
from paraloom.api.paraphrasers import Paraphraser
from paraloom.api.translators import named_model
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.progress import loading
from paraloom.core.protocols import EncoderLike, ParaphraserLike, TranslatorLike
from paraloom.mt.callable_translator import CallableTranslator
from paraloom.mt.decoding import Beam
from paraloom.mt.endpoint import EndpointTranslator
from paraloom.mt.endpoint_config import is_endpoint
from paraloom.mt.prompts import PARAPHRASE
from paraloom.pairs.scoring.cross_encoder import CrossEncoder
from paraloom.paraphrasing.candidates import CombinedParaphraser, TemplateCandidates
from paraloom.paraphrasing.paraphraser import AUTO, ControlledParaphraser
from paraloom.paraphrasing.round_trip import PIVOTS, MonolingualParaphraser, PivotParaphraser
from paraloom.paraphrasing.selection import EntailmentModel, FluencyModel, ParaphraseSelector
from paraloom.paraphrasing.selection_config import selection_config
from paraloom.stages.input_checks import NO_CHECK
from paraloom.text.function_words import known_function_words, sample_language
from paraloom.text.language_names import language_code, language_name

AnyParaphraser: TypeAlias = (
    ParaphraserLike
    | str
    | Path
    | tuple[str, str]
    | Callable[[list[str]], Sequence[str]]
    | Callable[[list[str]], Sequence[Sequence[str]]]
)
"""A paraphraser, the folder of one, the two translators of a round trip, or a function from texts to paraphrases."""


class RoundTripParaphraser(PivotParaphraser):
    """Paraphrases by translating into another language and back: for languages that have no paraphraser.

    Args:
        forward: Translates from the language of the texts.
        backward: Translates back.
        pivots: Translations of each text on the way, 1 or more; what they lead to are different paraphrases.
        decode: How to decode both ways, such as 'sampling'; default: a beam as large as needed.

    Raises:
        ConfigError: The translators do not lead back to the same language, or `pivots` is below 1.

    Example:
        >>> paraphraser = RoundTripParaphraser.load("en-de", "de-en")
        >>> len(paraphraser.paraphrase("A dog sleeps in the garden.", n=3)[0])
        3
    """

    @classmethod
    def load(
        cls, forward: str | Path, backward: str | Path, *, pivots: int = PIVOTS, decode: str | None = None
    ) -> RoundTripParaphraser:
        """Load two translators.

        Args:
            forward: A bundled name such as en-de, a folder, or a name of Hugging Face.
            backward: The same, for the other direction.
            pivots: Translations of each text on the way.
            decode: How to decode both ways.

        Returns:
            The paraphraser.

        Raises:
            ModelError: A translator was not found.
        """
        with loading(f"the translators {forward} and {backward}"):
            there, back = (named_model(name, Beam()) for name in (forward, backward))
        return cls(there, back, pivots=pivots, decode=decode)


class EndpointParaphraser(MonolingualParaphraser):
    """Paraphrases with a language model behind an HTTP endpoint of the OpenAI protocol.

    Answers are checked and kept as those of `EndpointTranslator`; one that does not pass has a `reason`.

    Args:
        url: Address such as `http://127.0.0.1:8000/v1`.
        model: Name of the model, as the server knows it.
        language: Language of the texts: a code such as en, or an English name.
        prompt: 'paraphrase', 'rewrite' (keeps tone, names and placeholders), or a text with `{text}` in it.
        decode: 'nucleus:0.95' by default; 'sampling' or 'greedy', with `temperature`.
        **options: Further fields of `EndpointConfig`: `concurrency`, `answers`, `max_requests` …

    Raises:
        ConfigError: A value is out of range, or the decoding is not one that endpoints have.

    Example:
        >>> EndpointParaphraser("http://127.0.0.1:8000/v1", "qwen3", language="en").language
        'en'
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        language: str = "en",
        prompt: str = PARAPHRASE,
        decode: str | None = None,
        **options: Any,
    ) -> None:
        translator = EndpointTranslator(url, model, source=language, target=language, prompt=prompt, **options)
        super().__init__(translator, decode=decode)


def open_paraphraser(
    model: str | Path | None = None,
    *,
    forward: str | None = None,
    backward: str | None = None,
    endpoint_model: str | None = None,
    language: str | None = None,
    settings: Sequence[str] = (),
    output: str = "-",
    parser: str | None = None,
    device: str | None = None,
    pivots: int = PIVOTS,
    template: str | None = None,
    like: str | None = None,
    height: int | None = None,
    decode: str | None = None,
) -> ParaphraserLike:
    """A paraphraser as the command line names it; a model and a round trip are combined, where both are given."""
    parts: list[ParaphraserLike] = []
    endpoint = is_endpoint(model)
    if not endpoint and (endpoint_model or language or settings):
        raise ConfigError(
            "--endpoint-model, --language and --endpoint are for an endpoint",
            remedy="Give its address as --model, such as http://127.0.0.1:8000/v1, or leave them out.",
        )
    if endpoint:
        options = {} if any(text.startswith("prompt=") for text in settings) else {"prompt": "rewrite"}
        named = named_translator(
            str(model),
            output=output,
            settings=[*settings, *(f"{name}={value}" for name, value in options.items())],
            model=endpoint_model,
            source=language or "en",
            target=language or "en",
        )
        parts.append(MonolingualParaphraser(cast(TranslatorLike, named), decode=decode))
    elif model is not None:
        trained = Paraphraser.load(model, parser=parser, device=device)
        if template is not None or like is not None:
            parts.append(TemplateCandidates(trained, template=template, like=like, height=height, decode=decode))
        else:
            parts += _kinds_of(trained, decode)
    if (forward is None) != (backward is None):
        missing = "--backward" if backward is None else "--forward"
        raise ConfigError(
            f"{missing} is missing: a round trip needs a translator for each direction",
            remedy="Give both, such as --forward en-de --backward de-en.",
        )
    if forward is not None and backward is not None:
        parts.append(RoundTripParaphraser.load(forward, backward, pivots=pivots, decode=decode))
    if not parts:
        raise ConfigError(
            "a paraphraser is missing",
            remedy="Give --model english, --model FOLDER, or two translators: --forward en-de --backward de-en.",
        )
    return parts[0] if len(parts) == 1 else CombinedParaphraser(parts)


def as_paraphraser(paraphraser: AnyParaphraser) -> ParaphraserLike:
    """A paraphraser from what names one."""
    if isinstance(paraphraser, (str, Path)):
        return open_paraphraser(paraphraser)
    if isinstance(paraphraser, tuple):
        return RoundTripParaphraser.load(*paraphraser)
    if isinstance(paraphraser, ControlledParaphraser):
        return CombinedParaphraser(_kinds_of(paraphraser))
    if hasattr(paraphraser, "paraphrase"):
        return cast(ParaphraserLike, paraphraser)
    if callable(paraphraser) and not isinstance(paraphraser, type):
        return MonolingualParaphraser(CallableTranslator(paraphraser, allow_none=True))
    raise TypeError(
        "expected a paraphraser, its folder, two translators or a function, got " + type(paraphraser).__name__
    )


def _kinds_of(trained: ControlledParaphraser, decode: str | None = None) -> list[ParaphraserLike]:
    """The candidates of a trained paraphraser: free ones, and those of templates that suit a text."""
    free = TemplateCandidates(trained, decode=decode)
    return [free, TemplateCandidates(trained, template=AUTO)] if trained.templates.counts else [free]


def language_of_paraphraser(paraphraser: ParaphraserLike) -> str | None:
    """The ISO 639-1 code of the language that a paraphraser is for; None where it does not say."""
    if isinstance(paraphraser, ControlledParaphraser):
        paraphraser = TemplateCandidates(paraphraser)
    return language_code(getattr(paraphraser, "language", None))


def check_text_language(texts: Iterable[str], language: str | None) -> None:
    """Refuse texts in another language than the paraphraser's, where both are known."""
    identified = sample_language(texts).language
    if identified is not None and language in known_function_words() and identified != language:
        raise DataError(
            f"the texts are {language_name(identified)}, the paraphraser is for {language_name(language)}",
            remedy=f"Use a paraphraser of {language_name(identified)}, such as a round trip with two translators. "
            f"{NO_CHECK}",
        )


def open_selector(
    preset: str = "augmentation",
    *,
    meaning: float | None = None,
    difference: float | None = None,
    entailment: float | None = None,
    encoder: str | Path | EncoderLike | None = "english",
    cross_encoder: str | Path | EntailmentModel | None = None,
    language_model: str | Path | FluencyModel | None = None,
    language: str | None = None,
) -> ParaphraseSelector:
    """A selector with models by name."""
    config = selection_config(preset, meaning=meaning, difference=difference, entailment=entailment)
    if encoder in (None, NO_ENCODER) and meaning is not None:
        raise ConfigError("--meaning needs an encoder", remedy="Name one with --encoder, or leave --meaning out.")
    if entailment is not None and cross_encoder is None:
        raise ConfigError("--entailment needs a model", remedy="Name its folder with --cross-encoder.")
    opened = named_encoder(encoder, language)
    if isinstance(cross_encoder, (str, Path)):
        cross_encoder = CrossEncoder.load(cross_encoder)
    fluency = named_language_model(language_model)
    return ParaphraseSelector(config, opened, entailment=cross_encoder, language_model=fluency)
