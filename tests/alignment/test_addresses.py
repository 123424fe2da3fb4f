"""Addresses and links as evidence: language codes left out, and counted only where they agree with the content."""

from __future__ import annotations

import numpy as np
import pytest

from paraloom.alignment.addresses import stripped_parts
from paraloom.alignment.candidates import CandidatePairs
from paraloom.alignment.document_evidence import address_vectors, link_vectors
from paraloom.alignment.document_features import Documents
from paraloom.alignment.document_scores import reliability
from paraloom.alignment.documents import EVIDENCE, DocumentAlignerConfig, align_documents


@pytest.mark.parametrize(
    ("address", "lang", "parts"),
    [
        ("https://www.a.org/de/x1", "de", ["a", "org", "x1"]),
        ("http://de.a.org/x1", "de", ["a", "org", "x1"]),
        ("https://a.org/x1?lang=pt-BR", "pt", ["a", "org", "x1"]),
        ("a.org/x1_EN.html", "en", ["a", "org", "x1", "html"]),
        ("a.org/ende/x", "en", ["a", "org", "ende", "x"]),
        ("", "de", []),
    ],
)
def test_the_code_of_the_language_is_left_out(address: str, lang: str, parts: list[str]) -> None:
    assert stripped_parts(address, lang) == parts


def side(lang: str, names: list[str], links: list[list[str]] | None = None) -> Documents:
    addresses = [f"https://a.org/{lang}/{name}" for name in names]
    return Documents.from_texts([f"{lang}{lang}"] * len(names), language=lang, addresses=addresses, links=links)


def test_the_same_address_in_two_languages_has_a_cosine_of_one() -> None:
    source, target = side("de", ["cats", "trains"]), side("en", ["trains", "dogs"])
    vectors = address_vectors(source, target)
    assert vectors is not None
    cosines = (vectors.source @ vectors.target.T).toarray()
    assert cosines[1, 0] == pytest.approx(1, abs=1e-6) and cosines[0, 1] < 0.3
    pairs = align_documents(source, target, DocumentAlignerConfig(weights=EVIDENCE["addresses"])).pairs()
    assert ("1", "0") in {(pair.source, pair.target) for pair in pairs}


def test_links_to_the_same_pages() -> None:
    """Of two links each, one is shared, and all three pages linked to occur in the same number of lists or in one."""
    source = side("de", ["x"], [["https://a.org/de/one", "https://b.org/two"]])
    target = side("en", ["y"], [["https://a.org/en/one", "https://b.org/three"]])
    vectors = link_vectors(source, target)
    assert vectors is not None
    shared, single = np.log(3 / 2.5), np.log(3 / 1.5)
    assert (vectors.source @ vectors.target.T).toarray()[0, 0] == pytest.approx(shared**2 / (shared**2 + single**2))
    assert link_vectors(source, side("en", ["y"])) is None


def test_pages_that_are_numbered_independently_do_not_count() -> None:
    rows, columns = np.indices((20, 20)).reshape(2, -1)
    pairs, content = CandidatePairs(rows, columns), np.where(rows == columns, 0.9, 0.1)
    assert reliability(pairs, content, (rows == columns).astype(float), (20, 20)) == 1
    assert reliability(pairs, content, (rows == (columns + 1) % 20).astype(float), (20, 20)) == 0
