"""A recurrent network of a folder as a translator: texts in, scored texts out, with beginnings that are forced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch

from paraloom.core.batches import batches_by_length
from paraloom.core.devices import default_device, parse_device
from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import ConfigError, ModelError
from paraloom.core.protocols import Variant
from paraloom.mt.choice import choose
from paraloom.mt.data import END_ID
from paraloom.mt.decoding import Beam, Decoding, Diverse, Mbr, Nucleus, TopK, as_decoding, describe_decoding
from paraloom.mt.families.marian import SUBWORD_MODELS, open_checkpoint
from paraloom.mt.long_texts import LongTexts, as_texts
from paraloom.mt.subwords import UNKNOWN, read_vocabulary
from paraloom.papers.scpn.sampling import draws, sample
from paraloom.papers.scpn.search import WrittenTokens, beam_search
from paraloom.papers.scpn.store import load_network
from paraloom.text.normalize import normalize

HYPOTHESES = 256
"""Hypotheses that are decoded at a time."""


class RecurrentTranslator:
    """Writes with a recurrent network that `train-paraphraser` trained.

    It meets `paraloom.core.protocols.PrefixTranslatorLike`. The same texts give the same outputs; samples of a text
    depend on its number and the seed, not on other texts.
    """

    def __init__(
        self, folder: str | Path, kind: str, decode: str | Decoding = "beam:5", *, device: str | None = None
    ) -> None:
        self.folder, self.kind = Path(folder), kind
        self.decoding: Decoding = as_decoding(decode)
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
        if decoding.shortlist:
            raise ConfigError("recurrent networks do not have a shortlist", remedy="Decode without shortlist=1.")
        texts: list[str] = normalize(as_texts(sentences)).to_pylist()
        if prefixes is not None and len(prefixes) != len(texts):
            raise ConfigError(f"expected {len(texts)} prefixes, one for each text, got {len(prefixes)}")
        starts: list[list[int]] = [[]] * len(texts)
        if prefixes is not None:
            begun_with = self._codec.encode_target(normalize(as_texts(prefixes)).to_pylist())
            starts = [self._own(row) for row in begun_with]
        if decoding.proposal is not None:
            return choose(decoding, lambda drawn: self._decoded(texts, starts, drawn, seed), texts, (None, None))
        return self._decoded(texts, starts, decoding, seed)

    @torch.inference_mode()
    def _decoded(
        self, texts: Sequence[str], starts: Sequence[list[int]], decoding: Beam | Decoding, seed: int
    ) -> list[list[Variant]]:
        variants = [[Variant("", 0.0, 0)] for _ in texts]
        nonempty = [row for row, text in enumerate(texts) if text]
        sources = dict(
            zip(nonempty, map(self._subwords, self._codec.encode([texts[row] for row in nonempty])), strict=True)
        )
        for part in self._batches(sources, decoding):
            memory = self.network.encode(self.network.inputs([sources[row] for row in part]))
            prefixes = [starts[row] for row in part]
            for row, group in zip(part, self._search(memory, prefixes, part, sources, decoding, seed), strict=True):
                variants[row] = [self._variant(one) for one in group]
        return variants

    def _search(
        self,
        memory: tuple[torch.Tensor, ...],
        prefixes: Sequence[list[int]],
        part: Sequence[int],
        sources: dict[int, np.ndarray],
        decoding: Decoding,
        seed: int,
    ) -> list[list[WrittenTokens]]:
        if isinstance(decoding, Beam):
            limits = [min(self.max_target, 3 * 8 * -(-len(sources[row]) // 8) + 16) for row in part]
            options = {"size": decoding.size, "nbest": decoding.nbest, "length_penalty": decoding.length_penalty}
            return beam_search(self.network, memory, prefixes, limits, **options)  # type: ignore[arg-type]
        assert not isinstance(decoding, (Mbr, Diverse))
        k = decoding.k if isinstance(decoding, TopK) else decoding.within if isinstance(decoding, Nucleus) else 0
        p = decoding.p if isinstance(decoding, Nucleus) else 1.0
        randoms = [draws(seed, row, decoding.nbest, self.max_target) for row in part]
        limits = [self.max_target] * len(part)
        return sample(self.network, memory, prefixes, limits, randoms, temperature=decoding.temperature, k=k, p=p)

    def _batches(self, sources: dict[int, np.ndarray], decoding: Decoding) -> Iterator[list[int]]:
        """Numbers of sources of similar length."""
        hypotheses = decoding.size if isinstance(decoding, Beam) else decoding.nbest
        count = max(1, HYPOTHESES // hypotheses)
        rows = list(sources)
        for batch in batches_by_length([len(sources[row]) for row in rows], count):
            yield [rows[index] for index in batch]

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
