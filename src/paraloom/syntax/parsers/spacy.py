"""Dependency parses by a spaCy pipeline, as bracketed trees."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paraloom.core.digests import folder_digest, signature
from paraloom.core.errors import MissingExtraError, ModelError
from paraloom.syntax.dependencies import bracketed

_UNUSED = ("ner", "entity_linker", "entity_ruler", "lemmatizer", "textcat", "textcat_multilabel")
"""Parts that a dependency parse does not wait for."""


class SpacyParser:
    """The dependency tree of each sentence (see dependencies.bracketed); implements core.protocols.ParserLike.

    pipeline: of spaCy, with a part that sets the heads and relations of words.  name: of the model, for the signature.

    >>> import spacy                                                                    # doctest: +SKIP
    >>> SpacyParser(spacy.load("en_core_web_sm"), "en_core_web_sm").parse(["He left."])  # doctest: +SKIP
    ['(root (nsubj He) left (punct .))']
    """

    def __init__(self, pipeline: Any, name: str) -> None:
        self.pipeline = pipeline
        self.name = name

    @classmethod
    def load(cls, model: str | Path) -> SpacyParser:
        """A model by the name of its package, or in a folder; nothing is fetched.

        Raises MissingExtraError without spaCy, ModelError where there is no such model, it cannot be read, or it has no
        dependency parser.
        """
        try:
            import spacy
        except ImportError:
            raise MissingExtraError.for_verb("parsing by spaCy", "spacy") from None
        try:
            pipeline = spacy.load(model, disable=list(_UNUSED))
        except OSError:
            raise ModelError(
                f"spaCy has no model '{model}'",
                remedy=f"Install it: python -m spacy download {Path(model).name}, or name the folder of one.",
            ) from None
        except ValueError as error:
            raise ModelError(f"spaCy cannot read the model: {str(error).splitlines()[0]}", file=model) from None
        if not any("token.dep" in pipeline.get_pipe_meta(part).assigns for part in pipeline.pipe_names):
            raise ModelError(
                f"the model has no dependency parser, only {', '.join(pipeline.pipe_names) or 'a tokeniser'}",
                file=model,
                remedy="Name a model with one, such as en_core_web_sm.",
            )
        folder = Path(model)
        return cls(pipeline, folder_digest(folder)[:12] if folder.is_dir() else _versioned(pipeline.meta))

    @property
    def signature(self) -> str:
        """`parser|spacy:MODEL|…`, a folder's by its digest."""
        import spacy

        return signature("parser", spacy=self.name, release=spacy.__version__)

    def parse(self, sentences: Sequence[str]) -> list[str | None]:
        """A tree each; None for one without words, or longer than spaCy takes (a million characters)."""
        texts = [text if len(text) <= self.pipeline.max_length else "" for text in sentences]
        return [_tree(document) for document in self.pipeline.pipe(texts)]


def _versioned(meta: dict[str, Any]) -> str:
    return f"{meta.get('lang', '')}_{meta.get('name', '')}-{meta.get('version', '')}"


def _tree(document: Any) -> str | None:
    """Of a document of spaCy, in which a root is its own head, and blanks may be words."""
    words = [token for token in document if not token.is_space]
    if not words or not document.has_annotation("DEP"):
        return None
    place = {token.i: number for number, token in enumerate(words, start=1)}
    return bracketed(
        [token.text for token in words],
        [_head(token, place) for token in words],
        ["root" if token.head.i == token.i else token.dep_ or "dep" for token in words],
    )


def _head(token: Any, place: dict[int, int]) -> int:
    """The place of the nearest word above; 0 for a root, or below blanks alone."""
    while token.head.i != token.i:
        token = token.head
        if token.i in place:
            return place[token.i]
    return 0
