"""Constituency and dependency trees by Stanza."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paraloom.core.digests import signature
from paraloom.core.errors import ConfigError, MissingExtraError, ModelError, nearest
from paraloom.syntax.brackets import TOP, dependency_tree, read_tree

if TYPE_CHECKING:
    from stanza import Document, Pipeline
    from stanza.models.common.doc import Sentence

PROCESSORS = {"constituency": "tokenize,pos,constituency", "depparse": "tokenize,pos,lemma,depparse"}
"""Stanza's processor that makes the trees → all processors that it needs."""


class StanzaParser:
    def __init__(self, pipeline: Pipeline, language: str, processor: str = "constituency") -> None:
        self.pipeline = pipeline
        self.language = language
        self.processor = processor

    @classmethod
    def load(cls, language: str, processor: str = "constituency") -> StanzaParser:
        """Load the weights in Stanza's own folder ($STANZA_RESOURCES_DIR moves it); nothing is downloaded."""
        if processor not in PROCESSORS:
            raise ConfigError(f"unknown Stanza processor '{processor}'{nearest(processor, list(PROCESSORS))}")
        try:
            import stanza
        except ImportError:
            raise MissingExtraError.for_verb("parsing by Stanza", "stanza") from None
        processors = PROCESSORS[processor]
        try:
            pipeline = stanza.Pipeline(
                lang=language, processors=processors, tokenize_no_ssplit=True, download_method=None, verbose=False
            )
        # Stanza raises ValueError for an unknown language or processor.
        except (OSError, ValueError) as error:
            message = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
            raise ModelError(
                f"Stanza weights for '{processor}' of '{language}' not found: {message}",
                remedy="Download them: "
                f"python -c \"import stanza; stanza.download('{language}', processors='{processors}')\"",
            ) from None
        return cls(pipeline, language, processor)

    @property
    def signature(self) -> str:
        """`parser|stanza:LANGUAGE|processor:…|…`."""
        import stanza

        return signature("parser", stanza=self.language, processor=self.processor, release=stanza.__version__)

    def parse(self, sentences: Sequence[str]) -> list[str | None]:
        # A blank line would end a sentence.
        texts = [" ".join(sentence.split()) for sentence in sentences]
        documents = iter(self.pipeline.bulk_process([text for text in texts if text]))
        return [self._tree(next(documents)) if text else None for text in texts]

    def _tree(self, document: Document) -> str | None:
        parts = [self._part(sentence) for sentence in document.sentences]
        trees = [tree for tree in parts if tree]
        return f"({TOP} {' '.join(trees)})" if len(trees) > 1 else next(iter(trees), None)

    def _part(self, sentence: Sentence) -> str | None:
        if self.processor == "constituency":
            return read_tree(str(sentence.constituency or ""))
        words = sentence.words
        return dependency_tree([w.text for w in words], [w.head for w in words], [w.deprel or "dep" for w in words])
