"""Static models of other libraries, model2vec and StaticEmbedding of sentence-transformers, as encoders."""

from __future__ import annotations

import json
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from paraloom.core.errors import ModelError, imports_of_extra
from paraloom.embed.average import Average, SentenceEncoder
from paraloom.embed.spec import parse_spec
from paraloom.embed.vocabulary import RowLists, Vocabulary
from paraloom.text.buffers import Texts

UNIT = "token"
_MODEL2VEC, _STATIC = "embeddings", "embedding.weight"


class TokenizerVocabulary(Vocabulary):
    """The tokens of a tokenizer of the tokenizers library, token i in row i."""

    def __init__(self, content: str, drop_unknown: bool) -> None:
        with imports_of_extra("train", "a static model"):
            from tokenizers import Tokenizer
        self._tokenizer = Tokenizer.from_str(content)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.content, self.drop_unknown = content, drop_unknown
        model = json.loads(content)["model"]
        unknown_token = model.get("unk_token")
        known_id = self._tokenizer.token_to_id(unknown_token) if unknown_token is not None else model.get("unk_id")
        self._unknown = known_id if drop_unknown else None
        ids = self._tokenizer.get_vocab()
        entries = [""] * (max(ids.values(), default=-1) + 1)
        for token, row in ids.items():
            entries[row] = token
        super().__init__(UNIT, entries)

    @cached_property
    def identity(self) -> bytes:
        """The tokenizer: it determines how texts are split and numbered."""
        return f"{self.drop_unknown} {self.content}".encode()

    def row_lists(self, texts: Texts) -> RowLists:
        strings = texts.to_pylist() if isinstance(texts, (pa.Array, pa.ChunkedArray)) else list(texts)
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch_fast(strings, add_special_tokens=False)]
        offsets = np.zeros(len(ids) + 1, np.int64)
        np.cumsum([len(tokens) for tokens in ids], out=offsets[1:])
        rows = np.fromiter(chain.from_iterable(ids), np.int32, offsets[-1])
        if self._unknown is not None:
            kept = rows != self._unknown
            if not kept.all():
                offsets = np.concatenate([[0], np.cumsum(kept)])[offsets]
                rows = rows[kept]
        return RowLists(rows, offsets)


def load_static(folder: str | Path, threads: int = 1) -> SentenceEncoder:
    """Load a static model. The vectors are those of its own library, except that they are not normalized."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    folder = Path(folder)
    weights = folder / "model.safetensors"
    try:
        tensors = load_file(weights)
    except (SafetensorError, OSError) as error:
        raise ModelError(f"the vectors cannot be read ({error})", file=weights) from None
    key = _MODEL2VEC if _MODEL2VEC in tensors else _STATIC
    if key not in tensors:
        raise ModelError(
            f"expected a tensor '{_MODEL2VEC}' or '{_STATIC}', got {', '.join(sorted(tensors))}", file=weights
        )
    vocabulary = TokenizerVocabulary((folder / "tokenizer.json").read_text(encoding="utf-8"), key == _MODEL2VEC)
    table = tensors[key].astype(np.float32)
    if "mapping" in tensors:
        table = table[tensors["mapping"]]
    if "weights" in tensors:
        table = table * tensors["weights"].astype(np.float32)[:, None]
    if len(table) < len(vocabulary):
        raise ModelError(f"expected {len(vocabulary):,} vectors, one per token, got {len(table):,}", file=weights)
    if not np.isfinite(table).all():
        raise ModelError("the vectors contain values that are not finite", file=weights)
    part = Average(vocabulary, np.ascontiguousarray(table))
    return SentenceEncoder(parse_spec(UNIT), {UNIT: part}, threads)
