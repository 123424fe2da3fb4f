"""Derives every seed and random generator of a run from the run's seed and integer keys."""

from __future__ import annotations

import numpy as np

from paraloom.core.digests import digest


def derive_seed(*parts: int | str) -> int:
    """Hash `parts` to a seed.

    Use it where names are involved (a run's seed, a stage, a shard); for integers alone use `spawn_seed`.

    Args:
        parts: Whatever distinguishes this seed from others, in a fixed order.

    Returns:
        A seed from 0 to 2**31 - 1 that depends on nothing but `parts`.

    Example:
        >>> derive_seed(1, "back", "part-00000.parquet", 0) == derive_seed(1, "back", "part-00000.parquet", 1024)
        False
    """
    return int(digest(list(parts))[:8], 16) >> 1


def generator(seed: int, *keys: int) -> np.random.Generator:
    """Create a NumPy generator for one purpose of a run.

    Args:
        seed: The seed of the run, the stage or the batch; 0 or more.
        keys: Integers (0 or more) that distinguish this stream from others of the same seed: an epoch, a step, a task.

    Example:
        >>> float(generator(1, 2).random()) == float(generator(1, 2).random()) != float(generator(1, 3).random())
        True
    """
    return np.random.default_rng([seed, *keys])


def spawn_seeds(seed: int, count: int) -> list[int]:
    """Draw independent seeds, 0 to 2**32 - 1, from one.

    Args:
        seed: A seed, 0 or more.
        count: How many to draw.

    Example:
        >>> len(set(spawn_seeds(1, 100)))
        100
    """
    seeds: list[int] = np.random.SeedSequence(seed).generate_state(count).tolist()
    return seeds


def spawn_seed(seed: int, *keys: int) -> int:
    """Derive one seed, 0 to 2**32 - 1, from a seed and integer keys, such as an epoch or the number of a chunk.

    Args:
        seed: A seed, 0 or more.
        keys: Integers, 0 or more, that distinguish this seed from others of the same seed.

    Example:
        >>> spawn_seed(1, 2) == spawn_seed(1, 2) != spawn_seed(1, 3)
        True
    """
    return int(np.random.SeedSequence([seed, *keys]).generate_state(1)[0])


def strided_seed(seed: int, index: int) -> int:
    """Seed number `index` of a sequence that starts with `seed` itself, 0 to 2**31 - 1.

    For the second, third … translator of a stage: the first draws as it would alone.

    Args:
        seed: The first seed.
        index: Number in the sequence, from 0.

    Example:
        >>> strided_seed(7, 0), strided_seed(7, 1)
        (7, 506952120)
    """
    return (seed + index * 0x9E3779B1) % 2**31


def worker_seed(seed: int, worker: int) -> int:
    """Seed of a training thread, `1000 * seed + worker`: distinct for up to 1,000 threads.

    Args:
        seed: The seed of the training.
        worker: Number of the thread, from 0.

    Example:
        >>> worker_seed(3, 2)
        3002
    """
    return seed * 1000 + worker
