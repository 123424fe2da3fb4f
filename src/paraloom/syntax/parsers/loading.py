"""Loads parsers by name: a grammar or a network of ours, a spaCy model, or a Stanza model."""

from __future__ import annotations

from pathlib import Path

from paraloom.bundled import PARSER, bundled_path
from paraloom.core.errors import ConfigError, ModelError, nearest
from paraloom.core.lazy import load_object
from paraloom.core.protocols import ParserLike
from paraloom.syntax.parsers.spacy import SpacyParser
from paraloom.syntax.parsers.spans import MODEL, SpanParser
from paraloom.syntax.parsers.stanza import StanzaParser

KINDS = ("spacy", "stanza")

_GRAMMAR = "paraloom.papers.grammar_parser:GrammarParser"

_REMEDY = "Give english, a folder of `paraloom train parser`, spacy:NAME, spacy:FOLDER, or stanza:LANGUAGE[:depparse]."


def load_parser(source: str | Path) -> ParserLike:
    """Load a parser; nothing is downloaded."""
    folder = Path(source)
    if not folder.exists():
        folder = bundled_path(str(source), PARSER) or folder
    if folder.is_dir():
        if all((folder / name).is_file() for name in ("meta.json", "config.cfg")):  # which spaCy writes
            return SpacyParser.load(folder)
        own: ParserLike = SpanParser.load(folder) if (folder / MODEL).is_file() else load_object(_GRAMMAR).load(folder)
        return own
    kind, colon, name = str(source).partition(":")
    if not colon:
        raise ModelError("parser folder not found", file=source, remedy=_REMEDY)
    check_name(str(source))
    if kind == "spacy":
        return SpacyParser.load(name)
    language, _, processor = name.partition(":")
    return StanzaParser.load(language, processor or "constituency")


def check_name(name: str) -> None:
    """Check that a name has the form 'spacy:…' or 'stanza:…'; only loading checks whether the model exists."""
    kind, _, rest = name.partition(":")
    if kind not in KINDS:
        raise ConfigError(f"unknown kind of parser '{kind}'{nearest(kind, KINDS)}", remedy=_REMEDY)
    if not rest:
        raise ConfigError(f"'{name}' does not name a model", remedy=_REMEDY)
