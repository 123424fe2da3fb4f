"""A recurrent network of a folder as a translator: texts in, scored texts out, with beginnings that are forced."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from paraloom.core.batches import batches_by_length
from paraloom.core.devices import default_device, parse_device
from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import ConfigError, ModelError
from paraloom.core.protocols import Variant
from paraloom.mt.data import END_ID
from paraloom.mt.decoding import Beam, Decoding, as_decoding, describe_decoding
from paraloom.mt.families.marian import SUBWORD_MODELS, open_checkpoint
from paraloom.mt.long_texts import LongTexts, as_texts
from paraloom.mt.subwords import UNKNOWN, read_vocabulary
from paraloom.papers.scpn.search import WrittenTokens, beam_search
from paraloom.papers.scpn.store import load_network
from paraloom.text.normalize import normalize

HYPOTHESES = 256
"""Hypotheses that are decoded at a time."""


class RecurrentTranslator:
    """A `PrefixTranslatorLike` of a network of `train-paraphraser`; decodes by beam, so that seeds do not matter."""

    def __init__(self, folder: str | Path, kind: str, *, device: str | None = None) -> None:
        self.folder, self.kind = Path(folder), kind
        self.decoding = Beam(5)
        where = parse_device(device or default_device())
        # Other numbers of threads add in another order.
        torch.set_num_threads(1)
        target = "cpu" if where.kind == "cpu" else f"cuda:{where.indices[0]}"
        self.network, self.max_target = load_network(self.folder, kind, target)
        for name in (*SUBWORD_MODELS, "vocab.json"):
            if not (self.folder / name).is_file():
                raise ModelError(
                    f"{name} not found", file=self.folder, remedy="Copy the whole model folder, or train it again."
                )
        self._codec = open_checkpoint(self.folder, None, None)
        self._pieces = read_vocabulary(self.folder)
        self._ids = {piece: number for number, piece in enumerate(self._pieces)}
        self._long_texts = LongTexts(self._codec)
        self.source, self.target = self._codec.source, self._codec.target

    @property
    def signature(self) -> str:
        """Digest of the weights, and the decoding, for metadata and results."""
        model = file_digest(self.folder / f"{self.kind}.safetensors")[:12]
        return signature("recurrent", kind=self.kind, model=model, decode=describe_decoding(self.decoding))

    def split(self, sentences: Sequence[str], *, reserve: int = 0) -> list[list[str]]:
        """The parts that texts are paraphrased in, where they are longer than 256 subwords."""
        texts: list[str] = normalize(as_texts(sentences)).to_pylist()
        return [self._long_texts.split(text, reserve) for text in texts]

    def translate(
        self,
        sentences: Sequence[str],
        *,
        decode: str | Decoding | None = None,
        seed: int = 0,
        prefixes: Sequence[str] | None = None,
    ) -> list[list[Variant]]:
        """Write for each source."""
        decoding = self.decoding if decode is None else as_decoding(decode)
        if not isinstance(decoding, Beam) or decoding.shortlist or decoding.utility:
            raise ConfigError(
                "recurrent networks decode by beam search alone: they do not have a shortlist",
                remedy="Decode with beam:5, without 'shortlist' and 'utility'.",
            )
        texts: list[str] = normalize(as_texts(sentences)).to_pylist()
        if prefixes is not None and len(prefixes) != len(texts):
            raise ConfigError(f"expected {len(texts)} prefixes, one for each text, got {len(prefixes)}")
        starts: list[list[int]] = [[]] * len(texts)
        if prefixes is not None:
            begun_with = self._codec.encode_target(normalize(as_texts(prefixes)).to_pylist())
            starts = [self._own(row) for row in begun_with]
        return self._decoded(texts, starts, decoding)

    @torch.inference_mode()
    def _decoded(self, texts: Sequence[str], starts: Sequence[list[int]], decoding: Beam) -> list[list[Variant]]:
        variants = [[Variant("", 0.0, 0)] for _ in texts]
        nonempty = [row for row, text in enumerate(texts) if text]
        sources = list(map(self._subwords, self._codec.encode([texts[row] for row in nonempty])))
        lengths = [len(source) for source in sources]
        for batch in batches_by_length(lengths, max(1, HYPOTHESES // decoding.size)):
            memory = self.network.encode(self.network.inputs([sources[index] for index in batch]))
            rows = [nonempty[index] for index in batch]
            limits = [min(self.max_target, 3 * 8 * -(-lengths[index] // 8) + 16) for index in batch]
            groups = beam_search(
                self.network,
                memory,
                [starts[row] for row in rows],
                limits,
                size=decoding.size,
                nbest=decoding.nbest,
                length_penalty=decoding.length_penalty,
            )
            for row, group in zip(rows, groups, strict=True):
                variants[row] = [self._variant(one) for one in group]
        return variants

    def _subwords(self, pieces: Sequence[str]) -> np.ndarray:
        unknown = self._ids[UNKNOWN]
        return np.array([self._ids.get(piece, unknown) for piece in pieces], np.int32)

    def _own(self, pieces: Sequence[str]) -> list[int]:
        """A forced beginning in the network's ids, without an end."""
        own: list[int] = self.network.own_ids(np.append(self._subwords(pieces), np.int32(END_ID))).tolist()
        return own[:-1]

    def _variant(self, hypothesis: WrittenTokens) -> Variant:
        pieces = [self._pieces[one] for one in self.network.subword_ids(hypothesis.ids)]
        (text,) = self._codec.decode([pieces])
        return Variant(text, hypothesis.logprob, hypothesis.tokens, hypothesis.cut)
