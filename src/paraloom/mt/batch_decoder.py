"""Decodes and scores on CTranslate2 in batches: their sizes, memory that is too small, and the order of samples."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraloom.core.errors import ModelError, RunError
from paraloom.core.protocols import Variant
from paraloom.core.seeds import generator
from paraloom.mt.decoding import Beam, Decoding
from paraloom.mt.engine import by_max_length, guarded, new_engine, seeded_engine
from paraloom.mt.families.base import Codec
from paraloom.mt.shortlist import SHORTLIST_FILE

if TYPE_CHECKING:
    import ctranslate2

GPU_TOKENS = 16_384  # Subwords of all hypotheses that a GPU decodes at a time; fewer after it ran out of memory
MIN_BATCH_TOKENS = 64  # Below this, halving a batch does not help


class BatchDecoder:
    """The engine of a translator folder, which is loaded when it is first used."""

    def __init__(self, folder: Path, device: str, codec: Codec) -> None:
        self.folder = folder
        self.device = device
        self.codec = codec
        self.batch_tokens: int | None = None
        """Subwords at a time at most, since memory was too small for more."""
        self._engine: ctranslate2.Translator | None = None

    def engine(self) -> ctranslate2.Translator:
        """The engine, for decodings that are not random."""
        if self._engine is None:
            self._engine = new_engine(self.folder, self.device)
        return self._engine

    def options(self, decoding: Decoding) -> dict[str, Any]:
        options = decoding.options()
        if decoding.shortlist and not (self.folder / SHORTLIST_FILE).is_file():
            raise ModelError(
                f"the model has no shortlist ({SHORTLIST_FILE})",
                file=self.folder,
                remedy="Decode without shortlist=1; translators that Paraloom trained have one.",
            )
        hypotheses = options["beam_size"] if isinstance(decoding, Beam) else options["num_hypotheses"]
        # Few hypotheses at a time keep the working set in the cache: fastest around 1,500 tokens. With a shortlist,
        # fewer sentences are faster, because a batch scores every word that any of them allows.
        limit = 192 if decoding.shortlist else 640
        size = max(64, min(limit, 1536 // hypotheses)) if self.device == "cpu" else max(64, GPU_TOKENS // hypotheses)
        return {
            **options,
            "max_batch_size": size,
            "batch_type": "tokens",
            "max_decoding_length": self.codec.max_target,
            "return_scores": True,
        }

    def decode(
        self,
        texts: Sequence[str],
        beginnings: Sequence[list[str]],
        decoding: Decoding,
        options: dict[str, Any],
        seed: int,
    ) -> list[list[Variant]]:
        nonempty = [row for row, text in enumerate(texts) if text]
        variants = [[Variant("", 0.0, 0)] for _ in texts]
        if nonempty:
            limit = self.codec.max_source
            rows = [_truncate(pieces, limit) for pieces in self.codec.encode([texts[row] for row in nonempty])]
            for max_length, indices in by_max_length(decoding, rows, self.codec.max_target):
                prefixes = [beginnings[nonempty[index]] for index in indices]
                options["max_decoding_length"] = max_length + max(map(len, prefixes))
                results = self._run(decoding, seed, [rows[index] for index in indices], prefixes, options)
                groups = self._variants(decoding, results, prefixes, seed, options["max_decoding_length"])
                for index, group in zip(indices, groups, strict=True):
                    variants[nonempty[index]] = group
        return variants

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[tuple[float, int]]:
        """Log-probability and number of tokens of given translations; NaN where a side is too long for the model."""
        return [(float(sum(own)) if fits else nan, len(own)) for fits, own in self._token_scores(sources, targets)]

    def score_prefixes(self, sources: Sequence[str], prefixes: Sequence[str]) -> list[float]:
        """Log-probability that a translation begins so; NaN where a side is too long for the model."""
        return [float(sum(own[:-1])) if fits else nan for fits, own in self._token_scores(sources, prefixes)]

    def _token_scores(self, sources: Sequence[str], targets: Sequence[str]) -> list[tuple[bool, list[float]]]:
        """True if the model takes both sides, and the log-probability of each token, the end of sentence last."""
        prefix = list(self.codec.prefix)
        rows = self.codec.encode(sources)
        pieces = [[*prefix, *row] for row in self.codec.encode_target(targets)]
        positions = self.codec.max_positions
        fits = [
            row
            for row, (one, other) in enumerate(zip(rows, pieces, strict=True))
            if positions is None or max(len(one), len(other) + 1) <= positions
        ]
        scores = [(False, [nan] * (len(row) + 1 - len(prefix))) for row in pieces]
        # CTranslate2 adds the end of sentence itself.
        results = guarded(
            self.engine().score_batch,
            [rows[row] for row in fits],
            [pieces[row] for row in fits],
            max_batch_size=2048,
            batch_type="tokens",
        )
        for row, result in zip(fits, results, strict=True):
            scores[row] = (True, result.log_probs[len(prefix) :])
        return scores

    def _run(
        self,
        decoding: Decoding,
        seed: int,
        rows: list[list[str]],
        prefixes: Sequence[list[str]],
        options: dict[str, Any],
    ) -> list[ctranslate2.TranslationResult]:
        """Decode rows of tokens; where memory is too small for a batch, with half of it, as often as it takes."""
        forced = list(prefixes) if any(prefixes) else None
        while True:
            if self.batch_tokens is not None:
                options["max_batch_size"] = min(options["max_batch_size"], self.batch_tokens)
            # Samples need the seed at their start, so a failed attempt must not have used it.
            engine = seeded_engine(self.folder, self.device, seed) if decoding.random else self.engine()
            try:
                return guarded(engine.translate_batch, rows, forced, **options)
            except RunError as error:
                half = options["max_batch_size"] // 2
                if "out of memory" not in error.what.lower() or half < MIN_BATCH_TOKENS:
                    raise
                self.batch_tokens = half
                warnings.warn(f"out of memory: decoding continues with batches of {half} subwords", stacklevel=2)

    def _variants(
        self,
        decoding: Decoding,
        results: Sequence[ctranslate2.TranslationResult],
        prefixes: Sequence[list[str]],
        seed: int,
        max_length: int,
    ) -> Iterator[list[Variant]]:
        penalty = decoding.options()["length_penalty"]
        order = generator(seed)
        groups = [
            [hypothesis[len(prefix) :] for hypothesis in result.hypotheses]
            for result, prefix in zip(results, prefixes, strict=True)
        ]
        texts = iter(self.codec.decode([hypothesis for group in groups for hypothesis in group]))
        for hypotheses, result, prefix in zip(groups, results, prefixes, strict=True):
            variants = []
            for hypothesis, score in zip(hypotheses, result.scores, strict=True):
                # The end of sentence was scored, too, unless the maximum length came before it.
                cut = len(hypothesis) + len(prefix) >= max_length
                tokens = len(hypothesis) + (not cut)
                # A score does not include the prefix, but CTranslate2 divides it by the length with the prefix.
                variants.append(Variant(next(texts), score * (tokens + len(prefix)) ** penalty, tokens, cut))
            if decoding.random and len(variants) > 1:
                # CTranslate2 sorts samples by score; shuffled, the first one is a fair sample.
                variants = [variants[i] for i in order.permutation(len(variants))]
            yield variants


def _truncate(pieces: list[str], limit: int) -> list[str]:
    return [*pieces[: limit - 1], pieces[-1]] if len(pieces) > limit else pieces
