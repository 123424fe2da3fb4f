"""Which parser a name stands for: a grammar of ours, a model of spaCy, or one of Stanza."""

from __future__ import annotations

from pathlib import Path

from paraloom.core.errors import ConfigError, ModelError, nearest
from paraloom.core.protocols import ParserLike
from paraloom.syntax.parsers.own import GrammarParser
from paraloom.syntax.parsers.spacy import SpacyParser
from paraloom.syntax.parsers.stanza import StanzaParser

_REMEDY = (
    "Name a folder by `paraloom train parser`, spacy:NAME, spacy:FOLDER, stanza:LANGUAGE or stanza:LANGUAGE:depparse."
)


def load_parser(source: str | Path) -> ParserLike:
    """Open a parser.

    source: a folder that `paraloom train parser` or spaCy made; `spacy:` and the name or the folder of a model, for
    dependency parses; `stanza:` and a language, for constituency parses, or `stanza:LANGUAGE:depparse`.
    Nothing is fetched.  Raises ConfigError for another kind, ModelError where there is no such model, MissingExtraError
    where its package is not installed.

    >>> load_parser("spcay:en_core_web_sm")
    Traceback (most recent call last):
    ...
    paraloom.core.errors.ConfigError: there is no kind of parser 'spcay'; did you mean 'spacy'?
    Name a folder by `paraloom train parser`, spacy:NAME, spacy:FOLDER, stanza:LANGUAGE or stanza:LANGUAGE:depparse.
    """
    folder = Path(source)
    if folder.is_dir():
        return SpacyParser.load(folder) if is_spacy(folder) else GrammarParser.load(folder)
    kind, colon, name = str(source).partition(":")
    if not colon:
        raise ModelError("there is no such folder", file=source, remedy=_REMEDY)
    check_name(str(source))
    if kind == "spacy":
        return SpacyParser.load(name)
    language, _, processor = name.partition(":")
    return StanzaParser.load(language, processor or "constituency")


def check_name(name: str) -> None:
    """Raise ConfigError unless a name has the form of a parser's; whether there is such a one, loading it tells."""
    kind, _, rest = name.partition(":")
    if kind not in ("spacy", "stanza"):
        raise ConfigError(f"there is no kind of parser '{kind}'{nearest(kind, ['spacy', 'stanza'])}", remedy=_REMEDY)
    if not rest:
        raise ConfigError(f"'{name}' names no model", remedy=_REMEDY)


def is_spacy(folder: Path) -> bool:
    """Whether a folder is a model that spaCy wrote."""
    return (folder / "meta.json").is_file() and (folder / "config.cfg").is_file()
