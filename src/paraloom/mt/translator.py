"""Decoding with CTranslate2: sentences in, scored translations out, the same at any number of workers."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import ModelError, RunError
from paraloom.core.progress import progress
from paraloom.core.protocols import Variant
from paraloom.core.seeds import generator, spawn_seed
from paraloom.mt.decoding import Beam, Decoding, describe_decoding
from paraloom.mt.shortlist import FILE as SHORTLIST
from paraloom.mt.subwords import END, UNKNOWN, Subwords
from paraloom.text.tokens import normalise

ENGINE_FILES = ("model.bin", "config.json", "source.spm", "target.spm")
LONGEST = 256
"""Sub-words of a sentence that are translated; what stands behind them is cut, as Marian's positions end somewhere."""

CHUNK = 200
"""Sentences that a core takes at a time of a text in memory: enough for batches of like lengths, and to share out."""

_seeding = threading.Lock()


class CTranslate2Translator:
    """A translator folder under CTranslate2, on one core; implements core.protocols.TranslatorLike.

    folder: model.bin, config.json and the vocabulary as CTranslate2 writes them, source.spm and target.spm beside.
    One object decodes on one thread and lets go of the interpreter meanwhile: to use more cores, give each its own
    object (translate_stream does, and so does a pipeline), which leaves every result unchanged.
    Raises ModelError that names the file when the folder is incomplete.

    >>> translator = CTranslate2Translator(folder, Beam(5))                             # doctest: +SKIP
    >>> translator.translate(["Ein Hund schläft."])                                     # doctest: +SKIP
    [[Variant(text='A dog is sleeping.', logprob=-1.92, tokens=6)]]
    """

    def __init__(self, folder: str | Path, decoding: Decoding | None = None) -> None:
        self.folder = Path(folder)
        self.decoding: Decoding = decoding or Beam()
        _check_folder(self.folder)
        self._subwords = Subwords(self.folder)
        self._engine: Any = None

    @property
    def signature(self) -> str:
        """`translator|model:DIGEST|decode:…`; the digest is that of the weights' bytes."""
        model = file_digest(self.folder / "model.bin")[:12]
        return signature("translator", model=model, decode=describe_decoding(self.decoding))

    def with_decoding(self, decoding: Decoding) -> CTranslate2Translator:
        """The same model decoding otherwise."""
        return CTranslate2Translator(self.folder, decoding)

    def translate(self, sentences: Sequence[str], *, seed: int = 0) -> list[list[Variant]]:
        """The variants of each sentence: best first for a beam, in drawn order for samples.

        An empty sentence has one empty variant, of probability 1 and no tokens.  Sentences are normalised, decoded
        longest first in batches of like length, and put back in order.  No translation has more than LONGEST sub-words,
        that of a beam no more than three times those of its source and some.
        """
        texts = normalise(sentences).to_pylist()
        wanted = [row for row, text in enumerate(texts) if text]
        variants = [[Variant("", 0.0, 0)] for _ in texts]
        if wanted:
            rows = [_cut(pieces) for pieces in self._subwords.split([texts[row] for row in wanted])]
            engine = self._seeded(seed) if self.decoding.random else self._loaded()
            for most, places in self._by_most(rows):
                options = self.engine_options() | {"max_decoding_length": most}
                results = _guarded(engine.translate_batch, [rows[place] for place in places], **options)
                for place, found in zip(places, self._read(results, seed, most), strict=True):
                    variants[wanted[place]] = found
        return variants

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[tuple[float, int]]:
        """Log-probability (sum, natural log) and token count (end of sentence included) of given translations."""
        pieces = self._subwords.split_target(normalise(targets).to_pylist())
        # CTranslate2 scores the end of sentence by itself.
        results = _guarded(
            self._loaded().score_batch,
            self._subwords.split(normalise(sources).to_pylist()),
            [row[:-1] for row in pieces],
            max_batch_size=2048,
            batch_type="tokens",
        )
        return [(float(sum(result.log_probs)), len(result.log_probs)) for result in results]

    def engine_options(self) -> dict[str, Any]:
        """Keyword arguments of ctranslate2's translate_batch, batching included."""
        options = self.decoding.options()
        if self.decoding.shortlist and not (self.folder / SHORTLIST).is_file():
            raise ModelError(
                f"it has no shortlist ({SHORTLIST})",
                file=self.folder,
                remedy="Decode without shortlist=1; translators that Paraloom trained have one.",
            )
        hypotheses = options["beam_size"] if isinstance(self.decoding, Beam) else options["num_hypotheses"]
        # Few hypotheses at a time keep the working set in cache: measured fastest around 1,500 live tokens.  With a
        # shortlist few sentences do, because a batch scores every word that any of them allows.
        most = 192 if self.decoding.shortlist else 640
        return {
            **options,
            "max_batch_size": max(64, min(most, 1536 // hypotheses)),
            "batch_type": "tokens",
            "max_decoding_length": LONGEST,
            "return_scores": True,
        }

    def _by_most(self, rows: Sequence[Sequence[str]]) -> Iterator[tuple[int, list[int]]]:
        """Sub-words that translations may have at most, and the places of the sentences for which that holds.

        A beam of a weak translator says the same words until it is stopped: a few such sentences would take longer than
        all others.  Draws end by themselves, and depend on what is drawn together, as a shortlist does.
        """
        if self.decoding.random or self.decoding.shortlist:
            yield LONGEST, list(range(len(rows)))
            return
        groups: dict[int, list[int]] = {}
        for place, pieces in enumerate(rows):
            groups.setdefault(_most(len(pieces)), []).append(place)
        yield from groups.items()

    def _read(self, results: Iterable[Any], seed: int, most: int) -> Iterator[list[Variant]]:
        penalty = self.decoding.options()["length_penalty"]
        order = generator(seed)
        flat = [hypothesis for result in results for hypothesis in result.hypotheses]
        texts = iter(self._subwords.join(flat))
        for result in results:
            found = []
            for hypothesis, score in zip(result.hypotheses, result.scores, strict=True):
                # The end of sentence was scored too, unless the length ran out before it.
                cut = len(hypothesis) >= most
                tokens = len(hypothesis) + (not cut)
                found.append(Variant(next(texts), score * tokens**penalty, tokens, cut))
            if self.decoding.random and len(found) > 1:
                # CTranslate2 sorts samples by score; undone, so that the first of n is a fair draw.
                found = [found[i] for i in order.permutation(len(found))]
            yield found

    def _loaded(self) -> Any:
        if self._engine is None:
            self._engine = self._fresh()
        return self._engine

    def _seeded(self, seed: int) -> Any:
        # A live engine never looks at the seed again: its thread draws from a generator that was made at the first
        # draw.  So each seed gets a new engine, and makes that first draw here, where no other thread can change it.
        import ctranslate2

        with _seeding:
            ctranslate2.set_random_seed(seed % 2**31)
            engine = self._fresh()
            # A lone end of sentence would count as empty, and draw nothing.
            engine.translate_batch([[UNKNOWN, END]], sampling_topk=0, max_decoding_length=1)
        return engine

    def _fresh(self) -> Any:
        import ctranslate2

        try:
            return ctranslate2.Translator(str(self.folder), device="cpu", inter_threads=1, intra_threads=1)
        except (RuntimeError, ValueError) as error:
            raise ModelError(
                f"CTranslate2 cannot load it: {error}", file=self.folder, remedy="Train or convert the model again."
            ) from None


def translate_stream(
    translator: CTranslate2Translator,
    chunks: Iterable[Sequence[str]],
    *,
    threads: int,
    seed: int = 0,
) -> Iterator[list[list[Variant]]]:
    """Translate chunk after chunk on `threads` cores, results in order, at most 2 × threads chunks in memory.

    Chunk i is decoded with a seed made of `seed` and i, so that the number of threads changes nothing.
    """
    from collections import deque
    from concurrent.futures import Future, ThreadPoolExecutor

    idle = deque(replace_translators(translator, threads))

    def work(position: int, chunk: Sequence[str]) -> list[list[Variant]]:
        mine = idle.popleft()
        try:
            return mine.translate(chunk, seed=spawn_seed(seed, position) % 2**31)
        finally:
            idle.append(mine)

    waiting: deque[Future[list[list[Variant]]]] = deque()
    pool = ThreadPoolExecutor(threads)
    try:
        for position, chunk in enumerate(chunks):
            waiting.append(pool.submit(work, position, chunk))
            if len(waiting) >= 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def best_translations(translator: CTranslate2Translator, sentences: Sequence[str]) -> list[str]:
    """The best translation of each sentence, in order, on all cores and with a bar; for a text that fits in memory."""
    made: list[str] = []
    chunks = (sentences[start : start + CHUNK] for start in range(0, len(sentences), CHUNK))
    with progress("translating", len(sentences), unit="sentences") as advance:
        for found in translate_stream(translator, chunks, threads=os.cpu_count() or 1):
            made += [variants[0].text for variants in found]
            advance(len(found))
    return made


def replace_translators(translator: CTranslate2Translator, count: int) -> list[CTranslate2Translator]:
    """`count` translators like this one, each with an engine of its own."""
    return [translator.with_decoding(replace(translator.decoding)) for _ in range(count)]


def _most(length: int) -> int:
    """Three times as many sub-words as a source of this length, rounded up to a multiple of eight, has, and sixteen."""
    return min(LONGEST, 3 * 8 * -(-length // 8) + 16)


def _cut(pieces: list[str]) -> list[str]:
    return [*pieces[: LONGEST - 1], END] if len(pieces) > LONGEST else pieces


def _check_folder(folder: Path) -> None:
    remedy = "Copy the model folder whole, or train it again with 'paraloom train translator'."
    if not folder.is_dir():
        raise ModelError("there is no such model folder", file=folder, remedy="Check the path.")
    for name in ENGINE_FILES:
        if not (folder / name).is_file():
            raise ModelError(f"{name} is missing", file=folder, remedy=remedy)
    if not any((folder / f"{name}_vocabulary.json").is_file() for name in ("shared", "source")):
        raise ModelError("shared_vocabulary.json is missing", file=folder, remedy=remedy)
    try:
        json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except ValueError:
        raise ModelError("config.json is not valid JSON", file=folder, remedy=remedy) from None


def _guarded(call: Any, *arguments: Any, **options: Any) -> Any:
    try:
        return call(*arguments, **options)
    except (RuntimeError, ValueError) as error:
        raise RunError(f"decoding failed: {error}", remedy="Check that the model folder is whole.") from None
