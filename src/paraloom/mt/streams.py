"""Translation on several cores or GPUs: chunk after chunk, the same at any number of them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from paraloom.core.devices import parse_device
from paraloom.core.progress import progress
from paraloom.core.protocols import TranslatorLike, Variant
from paraloom.core.seeds import spawn_seed
from paraloom.mt.costs import MIN_SENTENCES
from paraloom.mt.translator import Translator

CHUNK = 200
"""Sentences of a text in memory that a core takes at a time: enough to sort by length, few enough to share out."""

_BETWEEN_SAMPLES = 2000
"""Sentences of a stream that is sampled for, between two samples that are translated again to compare their costs."""


def translate_stream(
    translator: TranslatorLike, chunks: Iterable[Sequence[str]], *, threads: int, seed: int = 0
) -> Iterator[list[list[Variant]]]:
    """Translate chunk after chunk on several cores."""
    if not isinstance(translator, Translator):
        for position, chunk in enumerate(chunks):
            yield translator.translate(chunk, seed=spawn_seed(seed, position) % 2**31)
        return
    gpus = [str(part) for part in parse_device(translator.device).parts() if part.kind != "cpu"]
    devices = gpus or [translator.device] * threads
    threads = len(devices)
    idle = deque(translator.copy_on(device) for device in devices)

    def work(position: int, chunk: Sequence[str]) -> list[list[Variant]]:
        own = idle.popleft()
        try:
            return own.translate(chunk, seed=spawn_seed(seed, position) % 2**31)
        finally:
            idle.append(own)

    unseen = _BETWEEN_SAMPLES
    waiting: deque[tuple[Sequence[str], Future[list[list[Variant]]]]] = deque()

    def first() -> list[list[Variant]]:
        nonlocal unseen
        chunk, future = waiting.popleft()
        variants = future.result()
        unseen += len(chunk)
        if unseen >= _BETWEEN_SAMPLES or len(chunk) < MIN_SENTENCES or not translator.decoding.random:
            translator.observe(translator.decoding, chunk, variants)  # in their order, whatever the copy
            unseen = 0
        return variants

    pool = ThreadPoolExecutor(threads)
    try:
        for position, chunk in enumerate(chunks):
            waiting.append((chunk, pool.submit(work, position, chunk)))
            if len(waiting) >= 2 * threads:
                yield first()
        while waiting:
            yield first()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def best_translations(translator: TranslatorLike, sentences: Sequence[str]) -> list[str]:
    """Translate a text that fits into memory, on all cores and with a progress bar."""
    return [variant.text for variant in best_variants(translator, sentences)]


def best_variants(translator: TranslatorLike, sentences: Sequence[str]) -> list[Variant]:
    """The same with log-probabilities."""
    best: list[Variant] = []
    chunks = (sentences[start : start + CHUNK] for start in range(0, len(sentences), CHUNK))
    with progress("translating", len(sentences), unit="sentences") as advance:
        for groups in translate_stream(translator, chunks, threads=os.cpu_count() or 1):
            best += [variants[0] for variants in groups]
            advance(len(groups))
    return best
