"""Runs fuzzers for a time, not for a number of examples, and counts what they got."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from paraloom.core.errors import ParaloomError

Example = TypeVar("Example")

SECONDS = float(os.environ.get("PARALOOM_FUZZ_SECONDS", "0"))
"""Seconds for each group of fuzzers: readers, scorers, aligners, conditions. 0: the same rounds on every machine."""

FIRST_SEED = int(os.environ.get("PARALOOM_FUZZ_SEED", "0"))
"""Seed of the first examples: the same ones each time, unless `make fuzz` sets another."""

RESULTS = os.environ.get("PARALOOM_FUZZ_RESULTS", "")
"""File to which each fuzzer appends what it got, as JSON."""

# Examples of a round, and rounds at least.
_EXAMPLES, _ROUNDS = 40, 4

NASTY = (
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\t",
    b"\n",
    b"\r",
    b"\n\n",
    b" ",
    b"\\ud800",
    b'"',
    b"\\",
    b"'",
    b"[",
    b"]",
    b"{",
    b"}",
    b"(",
    b")",
    b"<",
    b">",
    b"</",
    b"<!--",
    b"&amp;",
    b"&a;",
    b"&#0;",
    b"&#x110000;",
    b"]]>",
    b"|||",
    b":",
    b",",
    b"-",
    b"0",
    b"-1",
    b"1e999",
    b"NaN",
    b"null",
    b"9" * 30,
    b"9" * 5000,
    b"[" * 3000,
    b"<a>" * 300,
    b"\t" * 500,
    b"\xe2\x80\xa8",
    b"\xc2\x85",
    b"\x0b",
    b"\xf0\x9f\x91\x8d",
    b"\xd7\xa9",
    "x".encode("utf-16"),
)
"""What inputs are spoiled with."""


def spoiled(*samples: bytes) -> st.SearchStrategy[bytes]:
    """Valid inputs with some bytes deleted, inserted, repeated or replaced; and any bytes.

    Args:
        *samples: Valid inputs.
    """
    piece = st.one_of(st.sampled_from(NASTY), st.binary(max_size=4))
    edit = st.tuples(st.floats(0, 1), st.integers(0, 12), piece, st.integers(1, 2))

    def apply(sample: bytes, edits: list[tuple[float, int, bytes, int]]) -> bytes:
        for where, deleted, inserted, times in edits:
            position = int(where * len(sample))
            sample = sample[:position] + inserted * times + sample[position + deleted :]
        return sample

    return st.one_of(
        st.builds(apply, st.sampled_from(samples), st.lists(edit, min_size=1, max_size=4)),
        st.builds(apply, st.sampled_from(samples), st.lists(edit, min_size=1, max_size=1)),
        st.binary(max_size=60),
    )


def fuzz(check: Callable[[Example], object], examples: st.SearchStrategy[Example], seconds: float) -> Counter[str]:
    """Try examples, for some rounds and seconds. An error of Paraloom is a right answer, anything else raised is not.

    Args:
        check: Tries one example, and raises AssertionError where the result is wrong.
        examples: The examples.
        seconds: How long, after the first rounds.

    Returns:
        Number of examples with a 'result' and with an 'error'.
    """
    got: Counter[str] = Counter()
    end = time.monotonic() + seconds
    number = FIRST_SEED

    def attempt(example: Example) -> None:
        try:
            check(example)
            got["result"] += 1
        except ParaloomError as error:
            message = str(error)
            message.encode()
            assert len(message) < 4000, "a message without bound"
            got["error"] += 1

    phases = (Phase.explicit, Phase.generate, Phase.shrink)
    chosen = settings(
        max_examples=_EXAMPLES, deadline=None, database=None, phases=phases, suppress_health_check=list(HealthCheck)
    )
    while number < FIRST_SEED + _ROUNDS or time.monotonic() < end:
        seed(number)(chosen(given(examples)(attempt)))()
        number += 1
    _report(got)
    return got


def _report(got: Counter[str]) -> None:
    """Print what a fuzzer got, and append it to the file of results."""
    name = os.environ["PYTEST_CURRENT_TEST"].partition("::")[2].rpartition(" ")[0].removeprefix("test_")
    print(f"\n{name}: {got.total():,} tried, {got['result']:,} with a result, {got['error']:,} errors with a remedy")
    if RESULTS:
        record = {"fuzzer": name, "tried": got.total(), "results": got["result"], "errors": got["error"]}
        with Path(RESULTS).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(record) + "\n")
