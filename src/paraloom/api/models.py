"""The models that have names here: bundled ones and those in the cache, described by their cards."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from paraloom.bundled import BUNDLED, bundled_path
from paraloom.core.errors import ConfigError, nearest
from paraloom.core.progress import format_bytes
from paraloom.core.protocols import EncoderLike
from paraloom.core.remote_files import cache_folder
from paraloom.core.results import ResultRecord
from paraloom.io.bitext import UNKNOWN
from paraloom.mt.checkpoint import stored_name
from paraloom.mt.families import FOLDER_FILE
from paraloom.mt.model_card import card_languages, read_card, read_front_matter
from paraloom.mt.names import short_name
from paraloom.paraphrasing.settings import PARAPHRASER_FILE
from paraloom.syntax.parsers.spans import MODEL as SPAN_MODEL
from paraloom.text.language_names import language_code

_UNKNOWN = "not stated"
_LANGUAGE_SAMPLE = 200  # lines of a text by which its language is identified


@dataclass(frozen=True)
class ModelSummary(ResultRecord):
    """A model and what its card says."""

    name: str
    kind: str
    languages: str
    size: int
    license: str
    measured: str
    not_for: str
    folder: str

    def format(self) -> str:
        """A paragraph: the name and kind, then a line for each fact."""
        facts = {"license": self.license, "measured": self.measured, "not for": self.not_for}
        lines = [f"  {name:<9} {value}" for name, value in facts.items()]
        return "\n".join([f"{self.name}: {self.kind}, {self.languages}, {format_bytes(self.size)}", *lines])


def list_models() -> list[ModelSummary]:
    """The bundled models, then the translators in the cache."""
    bundled = [summarize_model(folder, name) for name in BUNDLED if (folder := bundled_path(name)) is not None]
    cached = sorted((cache_folder() / "translators").glob("*/model.bin"))
    return bundled + [summarize_model(path.parent, stored_name(path.parent)) for path in cached]


def find_model(name: str) -> ModelSummary:
    """The model of this name, or in this folder."""
    if Path(name).is_dir():
        return summarize_model(Path(name), name)
    name, models = short_name(name), {model.name: model for model in list_models()}
    if name not in models:
        raise ConfigError(f"unknown model '{name}'{nearest(name, list(models))}", remedy="`paraloom models` lists all.")
    return models[name]


def encoder_languages(encoder: EncoderLike | str | Path) -> list[str]:
    """Codes of the languages that the model card of an encoder names; none where one of them is not known."""
    name = str(encoder) if isinstance(encoder, (str, Path)) else str(getattr(encoder, "name", ""))
    try:
        summary = find_model(name) if name else None
    except ConfigError:
        return []
    codes = [] if summary is None else [language_code(code) for code in summary.languages.split(", ")]
    known = [code for code in codes if code is not None and code != "mul" and code.isalpha() and len(code) <= 3]
    return known if len(known) == len(codes) else []


def warn_of_encoder_language(encoder: EncoderLike | str | Path, texts: Iterable[str]) -> None:
    """Warn if an encoder is not for the language of a text, as far as it can be identified."""
    from paraloom.text.function_words import sample_language
    from paraloom.text.language_names import language_name

    known = encoder_languages(encoder)
    if not known:
        return
    language = sample_language(islice(texts, _LANGUAGE_SAMPLE))
    if language is not None and language not in known:
        warnings.warn(
            f"the text seems to be in {language_name(language)}, but the encoder is of "
            f"{' and '.join(map(language_name, known))}: its similarities mean little",
            stacklevel=3,
        )


def translator_direction(translator: object) -> tuple[str, str]:
    """The languages that a translator translates from and into; 'und' where it does not say them."""
    if not isinstance(translator, (str, Path)):
        return getattr(translator, "source", None) or UNKNOWN, getattr(translator, "target", None) or UNKNOWN
    try:
        source, _, target = find_model(str(translator)).languages.partition(" → ")
    except ConfigError:
        target = ""
    return (source, target) if target else (UNKNOWN, UNKNOWN)


def summarize_model(folder: Path, name: str) -> ModelSummary:
    """Read what the card of a model says: its front matter, and its table of facts."""
    front, facts = read_front_matter(folder), read_card(folder)
    trained = json.loads(card.read_text("utf-8")) if (card := folder / "paraphrase_model.json").is_file() else {}
    kind = _kind(folder)
    between = " → " if kind == "translator" else ", "
    bleu = f"BLEU {facts['bleu_int8']} on {facts.get('bleu_on', 'held-out pairs')}" if "bleu_int8" in facts else ""
    license_ = front.get("license") or trained.get("card", {}).get("license")
    return ModelSummary(
        name=name,
        kind=kind,
        languages=facts.get("languages") or between.join(card_languages(folder)) or _UNKNOWN,
        size=sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
        license=(license_ or _UNKNOWN).strip("[]"),
        measured=front.get("measured") or facts.get("measured") or bleu or _UNKNOWN,
        not_for=front.get("not_for") or _UNKNOWN,
        folder=str(folder),
    )


def _kind(folder: Path) -> str:
    if (folder / "paraphrase_model.json").is_file():
        return "paraphrase model"
    if (folder / PARAPHRASER_FILE).is_file():
        return "paraphraser"
    if (folder / SPAN_MODEL).is_file():
        return "parser"
    if (folder / "source.spm").is_file() or (folder / FOLDER_FILE).is_file():
        return "translator"
    config = folder / "config.json"
    if (folder / "model.onnx").is_file() and config.is_file() and "id2label" in config.read_text("utf-8"):
        return "judge"
    encoder = ("config.json", "transformer.json", "modules.json")
    return "encoder" if any((folder / name).is_file() for name in encoder) else "model"
