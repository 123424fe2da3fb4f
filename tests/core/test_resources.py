"""What a worker needs: how it is written, what is refused, how many workers fit a machine."""

from __future__ import annotations

from typing import Any

import pytest

from paraloom.core.errors import ConfigError
from paraloom.core.resources import ONE_CPU, Resources, parse_size

MACHINE = {"CPU": 8.0, "GPU": 2.0, "memory": 32e9}

FITTING: list[tuple[dict[str, Any], int]] = [
    ({}, 8),
    ({"cpus": 3}, 2),
    ({"cpus": 0.25}, 32),
    ({"cpus": 0.1}, 80),
    ({"cpus": 9}, 0),
    ({"gpus": 1}, 2),
    ({"gpus": 2}, 1),
    ({"gpus": 3}, 0),
    ({"gpus": 0.5}, 4),
    ({"gpus": 0.4}, 4),  # two a GPU, not five on both
    ({"memory": "10 GB"}, 3),
    ({"memory": "33 GB"}, 0),
    ({"cpus": 2, "gpus": 0.25, "memory": "16 GB"}, 2),
]


@pytest.mark.parametrize(("values", "count"), FITTING)
def test_workers_on_a_machine(values: dict[str, Any], count: int) -> None:
    assert Resources(**values).workers_on(MACHINE) == count


def test_a_machine_without_gpus() -> None:
    assert Resources(gpus=0.1).workers_on({"CPU": 4}) == 0
    assert ONE_CPU.workers_on({"CPU": 4}) == 4


@pytest.mark.parametrize(
    ("gpus", "numbers"), [(0.0, [[], [], []]), (0.5, [[0], [0], [1]]), (1.0, [[0], [1], [2]]), (2.0, [[0, 1], [2, 3]])]
)
def test_workers_have_gpus_of_their_own(gpus: float, numbers: list[list[int]]) -> None:
    assert [list(Resources(gpus=gpus).gpu_numbers(worker)) for worker in range(len(numbers))] == numbers


@pytest.mark.parametrize(
    ("text", "size"),
    [("8 GB", 8 * 10**9), ("1.5gb", 1_500_000_000), ("512 MiB", 512 * 2**20), ("7 kB", 7000), ("9B", 9)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size
    assert Resources(memory=text) == Resources(memory=size)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"cpus": 0}, "key 'cpus' must be more than 0, not 0"),
    ({"cpus": -1}, "key 'cpus' must be more than 0, not -1"),
    ({"cpus": "2"}, "key 'cpus' must be a finite number, not '2'"),
    ({"gpus": -1}, "key 'gpus' must be 0 or more, not -1"),
    ({"gpus": 1.5}, "key 'gpus' must be a whole number, or a share of one GPU, not 1.5"),
    ({"memory": -5}, "key 'memory' must be 0 or more, not -5"),
    ({"memory": "-5 GB"}, "key 'memory' must be a number of bytes or text such as '8 GB', not '-5 GB'"),
    ({"memory": "8 gigs"}, "key 'memory' must be a number of bytes or text such as '8 GB', not '8 gigs'"),
    ({"memory": "8"}, "key 'memory' must be a number of bytes or text such as '8 GB', not '8'"),
    ({"memory": True}, "key 'memory' must be a whole number or text, not True"),
]


@pytest.mark.parametrize(("values", "what"), REFUSED)
def test_what_is_refused(values: dict[str, Any], what: str) -> None:
    with pytest.raises(ConfigError) as raised:
        Resources(**values)
    assert raised.value.what == what
