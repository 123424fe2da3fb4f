"""Everything that paraphrases, for users: round trips, endpoints, and paraphrasers by the names on the command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias, cast

from paraloom.api.endpoints import named_translator
from paraloom.api.named_models import NO_ENCODER, named_encoder, named_judge
from paraloom.api.paraphrasers import Paraphraser
from paraloom.api.translators import named_model
from paraloom.core.errors import ConfigError
from paraloom.core.progress import loading
from paraloom.core.protocols import EncoderLike, ParaphraserLike, TranslatorLike
from paraloom.mt.callable_translator import CallableTranslator, TranslatingFunction, as_translator
from paraloom.mt.decoding import Beam
from paraloom.mt.endpoint_config import is_endpoint
from paraloom.paraphrasing.candidates import TemplateCandidates, candidates_of, combined
from paraloom.paraphrasing.paraphraser import ControlledParaphraser
from paraloom.paraphrasing.references import ROUND_TRIP, RoundTripReference, endpoint_reference
from paraloom.paraphrasing.round_trip import PIVOTS, MonolingualParaphraser, PivotParaphraser
from paraloom.paraphrasing.selection import ParaphraseSelector
from paraloom.paraphrasing.selection_config import selection_config

AnyParaphraser: TypeAlias = (
    ParaphraserLike
    | str
    | Path
    | list[str]
    | tuple[str, str]
    | Callable[[list[str]], Sequence[str]]
    | Callable[[list[str]], Sequence[Sequence[str]]]
)
"""A paraphraser, references to one or several, the two translators of a round trip, or a function from texts to
paraphrases."""


class RoundTripParaphraser(PivotParaphraser):
    """Paraphrases by translating into another language and back: for languages that have no paraphraser.

    Args:
        forward: Translates from the language of the texts: a translator, its name or folder, or a function.
        backward: Translates back.
        pivots: Translations of each text on the way, 1 or more; what they lead to are different paraphrases.
        decode: How to decode both ways, such as 'sampling'; default: a beam as large as needed.

    Raises:
        ConfigError: The translators do not lead back to the same language, or `pivots` is below 1.

    Example:
        >>> paraphraser = RoundTripParaphraser("en-de", "de-en")
        >>> len(paraphraser.paraphrase("A dog sleeps in the garden.", n=3))
        3
    """

    def __init__(
        self,
        forward: TranslatorLike | TranslatingFunction | str | Path,
        backward: TranslatorLike | TranslatingFunction | str | Path,
        *,
        pivots: int = PIVOTS,
        decode: str | None = None,
    ) -> None:
        there, back = (
            _loaded(one) if isinstance(one, (str, Path)) else as_translator(one) for one in (forward, backward)
        )
        super().__init__(there, back, pivots=pivots, decode=decode)

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
        return cls(forward, backward, pivots=pivots, decode=decode)


def _loaded(name: str | Path) -> TranslatorLike:
    with loading(f"the translator {name}"):
        return named_model(name, Beam())


def open_paraphraser(references: str | Path | Sequence[str | Path]) -> ParaphraserLike:
    """The paraphraser that a reference names; the candidates of several are combined."""
    parts: list[ParaphraserLike] = []
    for reference in [references] if isinstance(references, (str, Path)) else references:
        text = str(reference)
        if text.startswith(ROUND_TRIP):
            forward, backward, pivots = RoundTripReference.parse(text)
            parts.append(RoundTripParaphraser.load(forward, backward, pivots=pivots))
        elif is_endpoint(text):
            parts.append(MonolingualParaphraser(cast(TranslatorLike, named_translator(endpoint_reference(text)))))
        else:
            parts.append(candidates_of(Paraphraser.load(text)))
    if not parts:
        raise ConfigError("a paraphraser is missing", remedy="Name one: english, a folder, or round-trip:en-de,de-en.")
    return combined(parts)


def as_paraphraser(paraphraser: AnyParaphraser) -> ParaphraserLike:
    if isinstance(paraphraser, (str, Path, list)):
        return open_paraphraser(paraphraser)
    if isinstance(paraphraser, tuple):
        return RoundTripParaphraser.load(*paraphraser)
    if isinstance(paraphraser, ControlledParaphraser):
        return TemplateCandidates(paraphraser)
    if hasattr(paraphraser, "paraphrase"):
        return cast(ParaphraserLike, paraphraser)
    if callable(paraphraser) and not isinstance(paraphraser, type):
        return MonolingualParaphraser(CallableTranslator(paraphraser, allow_none=True))
    raise TypeError(
        "expected a paraphraser, its folder, two translators or a function, got " + type(paraphraser).__name__
    )


def open_selector(
    preset: str = "strict",
    *,
    meaning: float | None = None,
    difference: float | None = None,
    change: str = "",
    encoder: str | Path | EncoderLike | None = "english",
    judge: str | Path | None = "none",
    language: str | None = None,
) -> ParaphraseSelector:
    """A selector with models by name."""
    config = selection_config(preset, meaning=meaning, difference=difference, change=change)
    if encoder in (None, NO_ENCODER) and meaning is not None:
        raise ConfigError("--meaning needs an encoder", remedy="Name one with --encoder, or leave --meaning out.")
    return ParaphraseSelector(config, named_encoder(encoder, language), judge=named_judge(judge, language))
