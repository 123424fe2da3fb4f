"""Decoding strings are parsed, written back, and refused with a reason."""

from __future__ import annotations

import pytest

from paraloom.core.errors import ConfigError
from paraloom.mt.decoding import Beam, Decoding, Mbr, Nucleus, Sampling, TopK, describe_decoding, parse_decoding

VALID = [
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
    ("mbr", Mbr()),
    ("mbr:bleu,samples=64,nbest=4,beam=5", Mbr("bleu", 64, 4, beam=5)),
]

INVALID = [
    ("baem:5", "did you mean 'beam'"),
    ("beam:five", "expected a whole number, got 'five'"),
    ("beam:0", "at least 1"),
    ("beam:2,nbest=3", "between 1 and the size"),
    ("beam:5,nbset=2", "did you mean 'nbest'"),
    ("sampling:3", "takes no value"),
    ("nucleus:1.5", "at most 1"),
    ("nucleus:0.9,temperature=0", "above 0"),
    ("topk:1", "at least 2"),
]


@pytest.mark.parametrize(("text", "decoding"), VALID)
def test_parse_and_describe(text: str, decoding: Decoding) -> None:
    assert parse_decoding(text) == decoding
    assert parse_decoding(describe_decoding(decoding)) == decoding


@pytest.mark.parametrize(("text", "reason"), INVALID)
def test_invalid_decodings_are_refused(text: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        parse_decoding(text)
