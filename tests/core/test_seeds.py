"""Seeds: every derivation equals the formula that saved runs were made with, so that results stay the same."""

from __future__ import annotations

import numpy as np
import pytest

from paraloom.core.digests import digest
from paraloom.core.seeds import derive_seed, generator, spawn_seed, spawn_seeds, strided_seed, worker_seed


@pytest.mark.parametrize("seed", [0, 7, 2**31, 2**63 + 1])
def test_generators_equal_numpys(seed: int) -> None:
    assert generator(seed).random(3).tolist() == np.random.default_rng(seed).random(3).tolist()
    assert generator(seed, 5, 1).random(3).tolist() == np.random.default_rng([seed, 5, 1]).random(3).tolist()
    assert spawn_seeds(seed, 4) == np.random.SeedSequence(seed).generate_state(4).tolist()
    assert spawn_seed(seed, 3) == np.random.SeedSequence([seed, 3]).generate_state(1)[0]


def test_derived_seeds_have_31_bits_of_the_digest() -> None:
    parts = [1, "back", "part-00000.parquet", 1024]
    assert derive_seed(*parts) == int(digest(parts)[:8], 16) >> 1 < 2**31  # type: ignore[arg-type]


def test_numbered_seeds() -> None:
    assert [strided_seed(3, index) for index in range(3)] == [3, (3 + 0x9E3779B1) % 2**31, (3 + 2 * 0x9E3779B1) % 2**31]
    assert [worker_seed(3, worker) for worker in range(2)] == [3000, 3001]
