"""Decodings: read, written back, refused."""

from __future__ import annotations

import pytest

from paraloom.core.errors import ConfigError
from paraloom.mt.decoding import Beam, Nucleus, Sampling, TopK, describe_decoding, parse_decoding

READ = [
    ("beam:5", Beam(5)),
    ("beam", Beam(5)),
    ("greedy", Beam(1)),
    ("beam:12,nbest=12,length_penalty=0", Beam(12, 12, 0.0)),
    ("sampling", Sampling()),
    ("sampling,nbest=3,temperature=0.7", Sampling(3, 0.7)),
    ("topk:10,nbest=2", TopK(10, 2)),
    ("nucleus:0.9", Nucleus(0.9)),
    ("nucleus:0.95,nbest=3,within=50", Nucleus(0.95, 3, 1.0, 50)),
    ("beam:5,shortlist=1", Beam(5, shortlist=1)),
]


@pytest.mark.parametrize(("text", "decoding"), READ)
def test_a_decoding_is_read_and_written_back(text: str, decoding: object) -> None:
    assert parse_decoding(text) == decoding
    assert parse_decoding(describe_decoding(decoding)) == decoding  # type: ignore[arg-type]


REFUSED = [
    ("baem:5", "did you mean 'beam'"),
    ("beam:five", "is not a number"),
    ("beam:0", "1 or more"),
    ("beam:2,nbest=3", "between 1 and its size"),
    ("beam:5,nbset=2", "did you mean 'nbest'"),
    ("sampling:3", "takes no value"),
    ("nucleus:1.5", "up to 1"),
    ("nucleus:0.9,temperature=0", "above 0"),
    ("topk:1", "2 or more"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_what_cannot_be_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        parse_decoding(text)
