"""Shifts every seed of NumPy, Python, torch, CTranslate2 and SentencePiece by $PARALOOM_TEST_SEED, on import.

`tests/conftest.py` imports this, and `sitecustomize.py` does in the processes that tests start. So each toy training
and each sample of the tests comes out another way, and a test that rests on one outcome fails.
"""

from __future__ import annotations

import importlib.util
import os
import random
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

SHIFT = int(os.environ.get("PARALOOM_TEST_SEED") or 0)


def _shift_integers(owner: Any, name: str, limit: int) -> None:
    """Let a function that takes a seed below `limit` take another one."""
    plain = getattr(owner, name)
    setattr(owner, name, lambda seed: plain((int(seed) + SHIFT * 0x9E3779B1) % limit))


def _numpy(numpy: Any) -> None:
    plain = numpy.random.default_rng

    def default_rng(seed: Any = None) -> Any:
        if isinstance(seed, int | numpy.integer | list | tuple):
            seed = [*(seed if isinstance(seed, list | tuple) else [seed]), SHIFT]
        return plain(seed)

    numpy.random.default_rng = default_rng


def _torch(torch: Any) -> None:
    class Generator(torch.Generator):  # type: ignore[misc, name-defined]
        def manual_seed(self, seed: int) -> Any:
            return super().manual_seed((seed + SHIFT * 0x9E3779B1) % 2**32)

    torch.Generator = Generator
    _shift_integers(torch, "manual_seed", 2**32)


def _ctranslate2(ctranslate2: Any) -> None:
    _shift_integers(ctranslate2, "set_random_seed", 2**31)


def _sentencepiece(sentencepiece: Any) -> None:
    _shift_integers(sentencepiece, "set_random_generator_seed", 2**31)


SHIFTED: dict[str, Callable[[Any], None]] = {
    "numpy": _numpy,
    "torch": _torch,
    "ctranslate2": _ctranslate2,
    "sentencepiece": _sentencepiece,
}
"""Library → what shifts its seeds, as soon as it is imported."""


class _Finder:
    """Finds libraries as ever, and shifts their seeds when they have been imported."""

    _finding: str | None = None

    @classmethod
    def find_spec(cls, name: str, path: object = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in SHIFTED or cls._finding == name:
            return None
        cls._finding = name
        try:
            spec = importlib.util.find_spec(name)
        finally:
            cls._finding = None
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                SHIFTED[name](module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _shift() -> None:
    plain = random.Random.seed

    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
        plain(self, a ^ SHIFT << 64 if isinstance(a, int) else a, version)

    random.Random.seed = seed  # type: ignore[method-assign]
    for name, shift in SHIFTED.items():
        if name in sys.modules:
            shift(sys.modules[name])
    sys.meta_path.insert(0, _Finder)  # type: ignore[arg-type]


if SHIFT:
    _shift()
