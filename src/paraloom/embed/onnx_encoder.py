"""Encoders that `export_onnx` wrote, run by onnxruntime."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from paraloom.core.array_types import Float32s, Ints
from paraloom.core.batches import batches_by_length
from paraloom.core.errors import ConfigError, ModelError, imports_of_extra
from paraloom.embed.onnx_export import FILE, padded_rows
from paraloom.embed.subwords import UNIT as SUBWORD
from paraloom.embed.vocabulary import Vocabulary

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

_BATCH = 64


class OnnxEncoder:
    """An exported graph with its vocabularies; implements `paraloom.core.protocols.EncoderLike`."""

    def __init__(self, folder: str | Path, threads: int = 1) -> None:
        self.folder = Path(folder)
        with imports_of_extra("cross-encoder", "an encoder in ONNX format"):
            import onnxruntime
        try:
            config = json.loads((self.folder / "config.json").read_text(encoding="utf-8"))
            self.dimension, self.signature = int(config["dimension"]), str(config["signature"])
            self._inputs: dict[str, str] = dict(config["inputs"])
            self._max_length = int(config.get("max_length", 0))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(
                f"the configuration cannot be read ({error!r})", file=self.folder / "config.json"
            ) from None
        if f"{SUBWORD}_rows" in self._inputs:
            raise ConfigError(
                f"'{folder}' reads subwords, and an ONNX folder does not have their model",
                remedy="Name the encoder that was exported, or export it without --onnx.",
            )
        self._tokenizer: Tokenizer | None = None
        self._vocabularies: dict[str, Vocabulary] = {}
        self._read_vocabularies()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        try:
            self._session: InferenceSession = onnxruntime.InferenceSession(
                str(self.folder / FILE), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime raises classes of its own
            raise ModelError(
                f"onnxruntime cannot load it: {str(error).splitlines()[0]}", file=self.folder / FILE
            ) from None

    def encode(self, sentences: Sequence[str]) -> Float32s:
        """Encode n sentences; returns float32 `(n, d)`, equal to those of the exported encoder up to rounding."""
        vectors = np.zeros((len(sentences), self.dimension), np.float32)
        for rows in batches_by_length([len(sentence) for sentence in sentences], _BATCH):
            vectors[rows] = self._session.run(["vectors"], self._batch([sentences[row] for row in rows]))[0]
        return vectors

    def _batch(self, texts: list[str]) -> dict[str, Ints]:
        if self._tokenizer is not None:
            encodings = self._tokenizer.encode_batch(texts)
            return {
                "input_ids": np.array([encoding.ids for encoding in encodings], np.int64),
                "attention_mask": np.array([encoding.attention_mask for encoding in encodings], np.int64),
            }
        return {name: padded_rows(vocabulary, texts) for name, vocabulary in self._vocabularies.items()}

    def _read_vocabularies(self) -> None:
        for name, file in self._inputs.items():
            path = self.folder / Path(file).name
            if not path.is_file():
                raise ModelError(f"{path.name} not found", file=self.folder, remedy="Export the encoder again.")
            if path.name == "tokenizer.json":
                self._tokenizer = self._tokenizer or _tokenizer(path, self._max_length)
            else:
                entries = path.read_bytes().decode().split("\n")[:-1]
                self._vocabularies[name] = Vocabulary(name.removesuffix("_rows"), entries)


def _tokenizer(path: Path, max_length: int) -> Tokenizer:
    with imports_of_extra("transformer", "a transformer in ONNX format"):
        from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_str(path.read_text(encoding="utf-8"))
    tokenizer.enable_truncation(max_length)
    tokenizer.enable_padding()
    return tokenizer
