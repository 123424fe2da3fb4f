"""Personal items in texts: each kind as people write it, and what looks like one."""

from __future__ import annotations

import pyarrow as pa
import pytest

from paraloom.pairs.scoring.table import score

pytest.importorskip("phonenumbers")
pytest.importorskip("stdnum")

from paraloom.text.personal import ACCOUNT, IP, MAIL, PHONE, find_personal


def texts_of(text: str, language: str = "en") -> list[tuple[str, str]]:
    """Kind and text of each item."""
    return [(item.kind, text[item.start : item.stop]) for item in find_personal(text, language)]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Write to [ada@example.org] or Mail:bob@example.co.uk.", "en",
         [(MAIL, "ada@example.org"), (MAIL, "bob@example.co.uk")]),
        ("Call (254) 202-1100 or 254.202.1100.", "en", [(PHONE, "(254) 202-1100"), (PHONE, "254.202.1100")]),
        ("Call 020 7946 0958!", "en", [(PHONE, "020 7946 0958")]),
        ("Tel. (089) 8 93 13 30, 07422/27 01-0", "de", [(PHONE, "(089) 8 93 13 30"), (PHONE, "07422/27 01-0")]),
        ("Volejte 224 941 111.", "cs", [(PHONE, "224 941 111")]),
        ("+49 30 901820", "xx", [(PHONE, "+49 30 901820")]),
        # The examples of ISO 13616 and of the card networks.
        ("IBAN DE89 3704 0044 0532 0130 00, GB82WEST12345698765432", "de",
         [(ACCOUNT, "DE89 3704 0044 0532 0130 00"), (ACCOUNT, "GB82WEST12345698765432")]),
        ("Visa 4111-1111-1111-1111, Amex 3782 822463 10005", "en",
         [(ACCOUNT, "4111-1111-1111-1111"), (ACCOUNT, "3782 822463 10005")]),
        ("http://193.99.144.80:8080/ and [2a02:2e0:3fe:1001:302::]", "en", [(IP, "193.99.144.80")]),
        ("from 2001:4860:4860::8888", "en", [(IP, "2001:4860:4860::8888")]),
    ],
)  # fmt: skip
def test_items_are_found(text: str, language: str, expected: list[tuple[str, str]]) -> None:
    assert texts_of(text, language) == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("It fell to 782.50/786.41 lire, from 1990 - 1995.", "en"),
        ("Im Jahr 1648 waren es 360.000 Menschen.", "de"),
        ("Build 20030223 of 2003-02-23 12:30:45", "en"),
        ("IBAN DE88 3704 0044 0532 0130 00", "de"),  # A wrong check digit.
        ("4111 1111 1111 1112; 3,4,17,16,5,6,15,14,7,8", "en"),
        ("linux 2.6.8.1 at 192.168.0.1, 127.0.0.1 and ::1; 999.1.1.1", "en"),
        ("4.5GHz@1.3v, inet:10002@127.0.0.1, @user, Python 2 and Python 3::", "en"),
        ("", "en"),
    ],
)
def test_what_looks_like_an_item_is_not_found(text: str, language: str) -> None:
    assert texts_of(text, language) == []


def test_scores_count_both_sides() -> None:
    rows = {
        "src": ["Call Ann at 254-202-1100 or ann@example.org.", "A dog sleeps."],
        "tgt": ["Ann is at (254) 202-1100.", None],
    }
    batch = score(pa.RecordBatch.from_pydict(rows), ["personal"])
    counts = [batch.column(kind).to_pylist() for kind in (MAIL, PHONE, ACCOUNT, IP)]
    assert counts == [[1, 0], [2, 0], [0, 0], [0, 0]]
    german = batch.select(["src", "tgt"]).append_column("src_lang", pa.array(["de", "de"]))
    assert score(german, ["phone_numbers"]).column("phone_numbers").to_pylist() == [1, 0]
