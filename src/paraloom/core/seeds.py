"""Derives every seed and random generator of a run from the run's seed and integer keys."""

from __future__ import annotations

import numpy as np

from paraloom.core.digests import digest


def derive_seed(*parts: int | str) -> int:
    """Hash `parts`, names among them, to a seed; for integers alone use `spawn_seed`."""
    return int(digest(list(parts))[:8], 16) >> 1


def generator(seed: int, *keys: int) -> np.random.Generator:
    """Create a NumPy generator for one purpose of a run."""
    return np.random.default_rng([seed, *keys])


def spawn_seeds(seed: int, count: int) -> list[int]:
    """Draw independent seeds, 0 to 2**32 - 1, from one."""
    seeds: list[int] = np.random.SeedSequence(seed).generate_state(count).tolist()
    return seeds


def spawn_seed(seed: int, *keys: int) -> int:
    """Derive one seed, 0 to 2**32 - 1, from a seed and integer keys, such as an epoch or the number of a chunk."""
    return int(np.random.SeedSequence([seed, *keys]).generate_state(1)[0])


def strided_seed(seed: int, index: int) -> int:
    """Seed number `index` of a sequence that starts with `seed`, 0 to 2**31 - 1: the first draws as it would alone."""
    return (seed + index * 0x9E3779B1) % 2**31


def worker_seed(seed: int, worker: int) -> int:
    """Seed of a training thread, `1000 * seed + worker`: distinct for up to 1,000 threads."""
    return seed * 1000 + worker
