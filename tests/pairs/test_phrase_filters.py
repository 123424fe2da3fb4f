"""Filters of phrase pairs: those of PGRU."""

from __future__ import annotations

from paraloom.papers.pgru.train_phrases import phrase_fault


def test_reasons_follow_the_paper():
    known = {"the", "united", "states", "america", "dog", "hound"}
    assert phrase_fault("the united states", "america", known) is None
    assert phrase_fault("dog hound", "dog hound", known) == "identical"
    assert phrase_fault("the u.s.", "america", known) == "other than letters"
    assert phrase_fault("the big dog", "hound", known) == "unknown word"
    assert phrase_fault("dog", "hound", known) == "two single words"
