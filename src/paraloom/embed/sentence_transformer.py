"""A model of the sentence-transformers library as an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import folder_digest, signature
from paraloom.core.errors import ConfigError, ModelError


class SentenceTransformerEncoder:
    """Encodes with a sentence-transformers model: a folder with one, or a Hugging Face name, which may be fetched.

    Raises ConfigError when the library is not installed, ModelError when the model cannot be loaded.
    """

    def __init__(self, model: str) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise ConfigError(
                "a sentence-transformers model needs that library", remedy="pip install sentence-transformers"
            ) from None
        self.name = model
        try:
            self._model = SentenceTransformer(model, device="cpu")
        except Exception as error:  # the library raises whatever its loaders raise
            raise ModelError(f"sentence-transformers cannot load it: {error}", file=model) from None

    @property
    def signature(self) -> str:
        """The name, or the digest of the folder."""
        known = folder_digest(self.name)[:12] if Path(self.name).is_dir() else self.name
        return signature("sentence-transformers", model=known)

    @property
    def dimension(self) -> int:
        """Width of the vectors."""
        found = getattr(self._model, "get_embedding_dimension", None) or self._model.get_sentence_embedding_dimension
        return int(found() or 0)

    def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.float32]:
        """float32 (n, d)."""
        vectors = self._model.encode(list(sentences), batch_size=64, show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors, np.float32)
