"""Finds e-mail addresses, telephone numbers, account numbers and IP addresses in texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address
from typing import NamedTuple

from paraloom.core.optional import OptionalModule
from paraloom.text.characters import MAIL_ADDRESS

phonenumbers = OptionalModule("phonenumbers", "finding telephone numbers", "personal")
iban = OptionalModule("stdnum.iban", "finding account numbers", "personal")
luhn = OptionalModule("stdnum.luhn", "finding card numbers", "personal")

MAIL, PHONE, ACCOUNT, IP = ("mail_addresses", "phone_numbers", "account_numbers", "ip_addresses")

_SAME_AS_COUNTRY = "de es fi fr hu is it lt lv nl no pl pt ro ru sk tr"
REGIONS = {
    **dict.fromkeys(("", "und", "en"), ("US", "GB")),
    **{language: (language.upper(),) for language in _SAME_AS_COUNTRY.split()},
    **{"cs": ("CZ",), "da": ("DK",), "el": ("GR",), "et": ("EE",), "ja": ("JP",), "ko": ("KR",), "sl": ("SI",)},
    **{"sv": ("SE",), "uk": ("UA",), "zh": ("CN",)},
}
"""Language → countries whose telephone numbers are found without the code of the country, too."""

_ANY_REGION = ("ZZ",)
_MIN_PHONE_DIGITS = 7
_MIN_CARD_DIGITS, _MAX_CARD_DIGITS = 14, 16
_MIN_IBAN, _MAX_IBAN = 15, 34
_VERSION_PARTS = 32

_MAIL = re.compile(MAIL_ADDRESS)
_WORD = re.compile(r"[^\W_]+(?:[-.:]+[^\W_]+)*")


class PersonalItem(NamedTuple):
    """A part of a text that leads to a person or an account."""

    kind: str
    start: int
    stop: int


def find_personal(text: str, language: str = "") -> list[PersonalItem]:
    """Find e-mail addresses, telephone numbers, IBANs and card numbers, and public IP addresses, in their order."""
    # Where the extra is missing, the first text says so, not the first that has a number.
    _ = (phonenumbers.PhoneNumberMatcher, iban.is_valid, luhn.is_valid)
    digits = sum(map(str.isdigit, text))
    items = [PersonalItem(MAIL, *match.span()) for match in _MAIL.finditer(text)] if "@" in text else []
    if digits >= _MIN_CARD_DIGITS:
        items += _accounts(text)
    if (text.count(".") >= 3 and digits >= 4) or text.count(":") >= 2:
        items += _ip_addresses(text)
    if digits >= _MIN_PHONE_DIGITS:
        for region in REGIONS.get(language, _ANY_REGION):
            numbers = list(_phone_numbers(text, region))
            items += [item for item in numbers if not any(item.start < x.stop and x.start < item.stop for x in items)]
    return sorted(items, key=lambda item: item.start)


def _phone_numbers(text: str, region: str) -> Iterator[PersonalItem]:
    matcher, leniency = phonenumbers.PhoneNumberMatcher, phonenumbers.Leniency
    for match in matcher(text, region, leniency.VALID):
        number = match.raw_string
        # Prices, dates and sizes can be valid, but seldom begin with a 0 or have the groups of the country's numbers.
        from_zero = number.lstrip("(").startswith("0") and "." not in number
        if sum(map(str.isdigit, number)) >= _MIN_PHONE_DIGITS and (
            from_zero or matcher(number, region, leniency.STRICT_GROUPING).has_next()
        ):
            yield PersonalItem(PHONE, match.start, match.end)


def _ip_addresses(text: str) -> Iterator[PersonalItem]:
    for word in _WORD.finditer(text):
        # The number of a port may follow.
        for candidate in (word[0], word[0].partition(":")[0]):
            try:
                address = ip_address(candidate)
            except ValueError:
                continue
            # Those of private networks lead nowhere. Versions of software, such as 2.6.8.1, have small parts, as one of
            # 4,096 addresses has.
            if address.is_global and max(address.packed) >= _VERSION_PARTS:
                yield PersonalItem(IP, word.start(), word.start() + len(candidate))
            break


def _accounts(text: str) -> Iterator[PersonalItem]:
    words = list(_WORD.finditer(text))
    end_of_account = 0
    for index, first in enumerate(words):
        begins_iban = first[0][:2].isalpha() and first[0][:2].isascii()
        if first.start() < end_of_account or not (begins_iban or first[0][0].isdigit()):
            continue
        number, end = "", first.start()
        for word in words[index:]:
            number += word[0].replace("-", "")
            if len(number) > (_MAX_IBAN if begins_iban else _MAX_CARD_DIGITS) or text[end : word.start()].strip(" "):
                break
            end = word.end()
            if _is_iban(number) if begins_iban else _is_card(number):
                end_of_account = end
                yield PersonalItem(ACCOUNT, first.start(), end)
                break


def _is_iban(number: str) -> bool:
    return len(number) >= _MIN_IBAN and number[2:4].isdigit() and bool(iban.is_valid(number))


def _is_card(number: str) -> bool:
    """True for 16 digits of the ranges of cards, and for 14 or 15 from a 3, with the right check digit."""
    if not (number.isascii() and number.isdigit() and len(number) >= _MIN_CARD_DIGITS):
        return False
    return number[0] in ("23456" if len(number) == _MAX_CARD_DIGITS else "3") and bool(luhn.is_valid(number))
