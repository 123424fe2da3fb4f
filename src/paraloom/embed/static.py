"""Static models of others, model2vec's and sentence-transformers' StaticEmbedding, opened as encoders of ours."""

from __future__ import annotations

import json
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from paraloom.core.errors import MissingExtraError, ModelError
from paraloom.embed.average import Average, SentenceEncoder
from paraloom.embed.spec import parse_spec
from paraloom.embed.vocabulary import Rows, Vocabulary
from paraloom.text.buffers import Texts

UNIT = "token"
_MODEL2VEC, _STATIC = "embeddings", "embedding.weight"


class TokeniserVocabulary(Vocabulary):
    """What a tokeniser of the tokenizers library cuts texts into, token i in row i.

    tokeniser: the content of a tokenizer.json.  drop_unknown: whether its unknown token is left out, as model2vec
    does; StaticEmbedding counts it like any other.
    """

    def __init__(self, tokeniser: str, drop_unknown: bool) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtraError.for_verb("a static model", "train") from None

        self._tokeniser = Tokenizer.from_str(tokeniser)
        self._tokeniser.no_padding()
        self._tokeniser.no_truncation()
        self.content, self.drop_unknown = tokeniser, drop_unknown
        model = json.loads(tokeniser)["model"]
        unknown = model.get("unk_token")
        known = self._tokeniser.token_to_id(unknown) if unknown is not None else model.get("unk_id")
        self._unknown = known if drop_unknown else None
        names = self._tokeniser.get_vocab()
        size = max(names.values(), default=-1) + 1
        entries = [""] * size
        for name, row in names.items():
            entries[row] = name
        super().__init__(UNIT, entries)

    @cached_property
    def identity(self) -> bytes:
        """What decides how texts are cut: the tokeniser itself."""
        return f"{self.drop_unknown} {self.content}".encode()

    def lists(self, texts: Texts) -> Rows:
        """The rows of each text's tokens."""
        plain = texts.to_pylist() if isinstance(texts, (pa.Array, pa.ChunkedArray)) else list(texts)
        found = [each.ids for each in self._tokeniser.encode_batch_fast(plain, add_special_tokens=False)]
        offsets = np.zeros(len(found) + 1, np.int64)
        np.cumsum([len(each) for each in found], out=offsets[1:])
        rows = np.fromiter(chain.from_iterable(found), np.int32, offsets[-1])
        if self._unknown is not None:
            kept = rows != self._unknown
            if not kept.all():
                offsets = np.concatenate([[0], np.cumsum(kept)])[offsets]
                rows = rows[kept]
        return Rows(rows, offsets)


def is_static(folder: str | Path) -> bool:
    """Whether a folder holds a static model of model2vec or sentence-transformers."""
    folder = Path(folder)
    names = ("modules.json", "tokenizer.json", "model.safetensors")
    if not all((folder / name).is_file() for name in names):
        return False
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        return bool(modules[0]["type"].endswith("StaticEmbedding") and modules[0]["path"] in ("", "."))
    except (ValueError, KeyError, IndexError, TypeError):
        return False


def load_static(folder: str | Path, threads: int = 1) -> SentenceEncoder:
    """Open a static model's folder: the same vectors as its own library's, but for their length where it normalises.

    Raises ModelError that names what cannot be read.

    >>> load_static("potion-base-8M").encode(["A sentence."]).shape                      # doctest: +SKIP
    (1, 256)
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    folder = Path(folder)
    weights = folder / "model.safetensors"
    try:
        tensors: dict[str, Any] = load_file(weights)
    except (SafetensorError, OSError) as error:
        raise ModelError(f"the vectors cannot be read ({error})", file=weights) from None
    named = _MODEL2VEC if _MODEL2VEC in tensors else _STATIC
    if named not in tensors:
        raise ModelError(f"there is neither '{_MODEL2VEC}' nor '{_STATIC}' in it", file=weights)
    vocabulary = TokeniserVocabulary((folder / "tokenizer.json").read_text(encoding="utf-8"), named == _MODEL2VEC)
    table = tensors[named].astype(np.float32)
    if "mapping" in tensors:
        table = table[tensors["mapping"]]
    if "weights" in tensors:
        table = table * tensors["weights"].astype(np.float32)[:, None]
    if len(table) < len(vocabulary):
        raise ModelError(f"there are {len(table):,} vectors for {len(vocabulary):,} tokens", file=weights)
    if not np.isfinite(table).all():
        raise ModelError("the vectors hold numbers that are not finite", file=weights)
    part = Average(vocabulary, np.ascontiguousarray(table))
    return SentenceEncoder(parse_spec(UNIT), {UNIT: part}, threads)
