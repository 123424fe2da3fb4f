"""Dependency trees by spaCy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paraloom.core.digests import folder_digest, signature
from paraloom.core.errors import MissingExtraError, ModelError
from paraloom.syntax.brackets import dependency_tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spacy.language import Language
    from spacy.tokens import Doc, Token

_UNUSED = ("ner", "entity_linker", "entity_ruler", "lemmatizer", "textcat", "textcat_multilabel")
"""Components that a dependency parse does not depend on."""


class SpacyParser:
    """Parses sentences with a spaCy pipeline, into dependency trees (`brackets.dependency_tree`)."""

    def __init__(self, pipeline: Language, name: str) -> None:
        self.pipeline = pipeline
        self.name = name

    @classmethod
    def load(cls, model: str | Path) -> SpacyParser:
        """Load a model; nothing is downloaded."""
        try:
            import spacy
        except ImportError:
            raise MissingExtraError.for_verb("parsing by spaCy", "spacy") from None
        try:
            pipeline = spacy.load(model, disable=list(_UNUSED))
        except OSError:
            raise ModelError(
                f"spaCy model '{model}' not found",
                remedy=f"Install it: python -m spacy download {Path(model).name}, or give the folder of one.",
            ) from None
        except ValueError as error:
            raise ModelError(f"spaCy cannot read the model: {str(error).splitlines()[0]}", file=model) from None
        if not any("token.dep" in pipeline.get_pipe_meta(part).assigns for part in pipeline.pipe_names):
            raise ModelError(
                f"the model has no dependency parser, only {', '.join(pipeline.pipe_names) or 'a tokenizer'}",
                file=model,
                remedy="Give a model with one, such as en_core_web_sm.",
            )
        folder = Path(model)
        return cls(pipeline, folder_digest(folder)[:12] if folder.is_dir() else _versioned(pipeline.meta))

    @property
    def signature(self) -> str:
        """`parser|spacy:MODEL|…`; a folder is named by its digest."""
        import spacy

        return signature("parser", spacy=self.name, release=spacy.__version__)

    def parse(self, sentences: Sequence[str]) -> list[str | None]:
        texts = [text if len(text) <= self.pipeline.max_length else "" for text in sentences]
        return [_tree(document) for document in self.pipeline.pipe(texts)]


def _versioned(meta: Mapping[str, object]) -> str:
    return f"{meta.get('lang', '')}_{meta.get('name', '')}-{meta.get('version', '')}"


def _tree(document: Doc) -> str | None:
    """The tree of a spaCy document, in which a root is its own head and white space may be a token."""
    words = [token for token in document if not token.is_space]
    if not words or not document.has_annotation("DEP"):
        return None
    numbers = {token.i: number for number, token in enumerate(words, start=1)}
    return dependency_tree(
        [token.text for token in words],
        [_head(token, numbers) for token in words],
        ["root" if token.head.i == token.i else token.dep_ or "dep" for token in words],
    )


def _head(token: Token, numbers: dict[int, int]) -> int:
    """Number of the nearest word above a token; 0 for a root, or if there is only white space above it."""
    while token.head.i != token.i:
        token = token.head
        if token.i in numbers:
            return numbers[token.i]
    return 0
