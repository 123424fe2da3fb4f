"""Decodings with a number of variants: never more than a beam has hypotheses, as the parser of decodings asks."""

from __future__ import annotations

import pytest

from paraloom.mt.decoding import parse_decoding
from paraloom.paraphrasing.round_trip import with_variants

CASES = [
    *[("greedy", 1), ("beam", 5), ("beam:5", 5), ("beam:20", 10), ("beam:12,length_penalty=0", 10)],
    *[("beam,size=3", 3), ("sampling", 10), ("topk:10,temperature=0.7", 10), ("nucleus:0.9,nbest=2", 2)],
    *[("mbr:chrf,samples=6", 6), ("mbr:chrf", 10), ("mbr", 10), ("diverse:chrf,samples=6", 6)],
    *[("nucleus:0.9,samples=5", 5), ("sampling,samples=20", 10), ("sampling,samples=0", 10)],
]


@pytest.mark.parametrize(("decode", "variants"), CASES)
def test_no_more_than_it_can_give(decode: str, variants: int) -> None:
    assert parse_decoding(with_variants(decode, 10)).nbest == variants


@pytest.mark.parametrize("name", ["beam", "mbr", "diverse"])
def test_limits_are_the_defaults_of_decodings(name: str) -> None:
    decoding = parse_decoding(name)
    limit = getattr(decoding, "size", None) or getattr(decoding, "samples", None)
    assert parse_decoding(with_variants(name, 1000)).nbest == limit
