"""Constituency and dependency parses by Stanza, as bracketed trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paraloom.core.digests import signature
from paraloom.core.errors import ConfigError, MissingExtraError, ModelError, nearest
from paraloom.syntax.brackets import tree_of
from paraloom.syntax.dependencies import TOP, bracketed

PROCESSORS = {"constituency": "tokenize,pos,constituency", "depparse": "tokenize,pos,lemma,depparse"}
"""What makes the tree, by Stanza's name, and all that it needs before it."""


class StanzaParser:
    """The tree of each sentence, by its phrases or by its words' relations; implements core.protocols.ParserLike.

    pipeline: of Stanza, one sentence a text.  language: its code.  processor: a key of PROCESSORS.

    >>> StanzaParser.load("en").parse(["He left."])                                     # doctest: +SKIP
    ['(ROOT (S (NP (PRP He)) (VP (VBD left)) (. .)))']
    """

    def __init__(self, pipeline: Any, language: str, processor: str = "constituency") -> None:
        self.pipeline = pipeline
        self.language = language
        self.processor = processor

    @classmethod
    def load(cls, language: str, processor: str = "constituency") -> StanzaParser:
        """Of the weights that lie in Stanza's own folder ($STANZA_RESOURCES_DIR moves it); nothing is fetched.

        Raises ConfigError for another processor, MissingExtraError without Stanza, ModelError where weights are not there.
        """
        if processor not in PROCESSORS:
            raise ConfigError(f"Stanza parses by no '{processor}'{nearest(processor, list(PROCESSORS))}")
        try:
            import stanza
        except ImportError:
            raise MissingExtraError.for_verb("parsing by Stanza", "stanza") from None
        wanted = PROCESSORS[processor]
        try:
            pipeline = stanza.Pipeline(
                lang=language, processors=wanted, tokenize_no_ssplit=True, download_method=None, verbose=False
            )
        # A language or a processor that it does not know is a ValueError of Stanza's.
        except (OSError, ValueError) as error:
            said = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
            raise ModelError(
                f"Stanza has no weights for '{processor}' of '{language}': {said}",
                remedy=f"Fetch them: python -c \"import stanza; stanza.download('{language}', processors='{wanted}')\"",
            ) from None
        return cls(pipeline, language, processor)

    @property
    def signature(self) -> str:
        """`parser|stanza:LANGUAGE|processor:…|…`."""
        import stanza

        return signature("parser", stanza=self.language, processor=self.processor, release=stanza.__version__)

    def parse(self, sentences: Sequence[str]) -> list[str | None]:
        """A tree each; None for one without words, or that Stanza gives none for."""
        # A blank line would end a sentence.
        texts = [" ".join(sentence.split()) for sentence in sentences]
        documents = iter(self.pipeline.bulk_process([text for text in texts if text]))
        return [self._tree(next(documents)) if text else None for text in texts]

    def _tree(self, document: Any) -> str | None:
        parts = [self._part(sentence) for sentence in document.sentences]
        trees = [tree for tree in parts if tree]
        return f"({TOP} {' '.join(trees)})" if len(trees) > 1 else next(iter(trees), None)

    def _part(self, sentence: Any) -> str | None:
        if self.processor == "constituency":
            return tree_of(str(sentence.constituency or ""))
        words = sentence.words
        return bracketed([w.text for w in words], [w.head for w in words], [w.deprel or "dep" for w in words])
