"""The rows nearest to a text by an encoder, among a random sample that is encoded in the background."""

from __future__ import annotations

import threading

import numpy as np

from paraloom.core.errors import ParaloomError
from paraloom.embed.average import Vectors, normalize_vectors
from paraloom.embed.encoder import open_encoder
from paraloom.web.dataset import Dataset
from paraloom.web.formatting import count

MAX_ROWS = 50_000  # Rows that are encoded

_BATCH = 2000


class NearestRows:
    """Finds the rows whose texts are nearest to a text."""

    def __init__(self, dataset: Dataset, encoder: str) -> None:
        self.is_ready = False
        self.error = ""
        self._model = open_encoder(encoder)
        self._lock = threading.Lock()
        step = max(1, -(-len(dataset.sample_rows) // MAX_ROWS))
        self._rows = dataset.sample_rows[::step]
        self._total = dataset.rows
        self._texts = dataset.sample.column(dataset.sides[-1]).take(np.arange(0, len(dataset.sample_rows), step))
        self._done = 0
        self._vectors: Vectors = np.empty((0, 0), np.float32)

    def prepare(self, stopped: threading.Event | None = None) -> None:
        parts = []
        try:
            for start in range(0, len(self._texts), _BATCH):
                if stopped is not None and stopped.is_set():
                    return
                texts = [text or "" for text in self._texts.slice(start, _BATCH).to_pylist()]
                parts.append(self._encode(texts))
                self._done += len(texts)
        except ParaloomError as error:
            self.error = str(error)
            return
        self._vectors = np.concatenate(parts)
        self.is_ready = True

    def near(self, text: str, k: int = 9) -> list[tuple[int, float]]:
        cosines = self._vectors @ self._encode([text])[0]
        nearest = np.argsort(-cosines, kind="stable")[:k]
        return [(int(self._rows[i]), float(cosines[i])) for i in nearest]

    def format(self) -> str:
        """The rows that are searched, or the progress of the work."""
        n = len(self._rows)
        if self.error:
            return f"The encoder failed: {self.error}"
        if not self.is_ready:
            return f"{count(self._done)} of {count(n)} rows are encoded."
        return f"a sample of {count(n)} rows" if n < self._total else f"all {count(n)} rows"

    def _encode(self, texts: list[str]) -> Vectors:
        with self._lock:
            return normalize_vectors(np.asarray(self._model.encode(texts), np.float32))
