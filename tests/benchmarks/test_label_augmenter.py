"""Paraphrases of labeled texts: placeholders are put back, and no text of the set is repeated."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.protocols import Variant
from paraloom.paraphrasing.protection import LOST, Protector
from paraloom.paraphrasing.selection import ParaphraseSelector
from paraloom.paraphrasing.selection_config import SelectionConfig

_FILE = Path(__file__).parents[2] / "benchmarks" / "label_augmenter.py"
_SPEC = importlib.util.spec_from_file_location("label_augmenter", _FILE)
assert _SPEC is not None and _SPEC.loader is not None
_MODULE = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = _MODULE
_SPEC.loader.exec_module(_MODULE)
KNOWN, NOTHING_TO_SAY, LabelAugmenter = _MODULE.KNOWN, _MODULE.NOTHING_TO_SAY, _MODULE.LabelAugmenter

SELECTOR = ParaphraseSelector(SelectionConfig(difference=0.1))


class Fixed:
    """Answers each text with the same paraphrases."""

    signature = "fixed"

    def __init__(self, *answers: str) -> None:
        self.answers = answers

    def paraphrase(self, texts: Sequence[str], *, n: int = 5, seed: int = 0) -> list[list[Variant]]:
        return [[Variant(answer, -0.1, 1) for answer in self.answers] for _ in texts]


def test_held_parts_return_and_known_texts_are_dropped() -> None:
    answers = ("an ancient car passed the gate", "the ancient car halted at A1 near A2", "the ancient car halted")
    augmenter = LabelAugmenter(Fixed(*answers), SELECTOR, Protector())
    augmenter.know(["the old car stopped at 5 on @joe", "A loud car!"])
    (group,) = augmenter.augment(["the old car stopped at 5 on @joe"], [2])
    assert [one.text for one in group] == ["the ancient car halted at 5 near @joe"]
    assert augmenter.dropped == {LOST: 2}
    assert augmenter.augment(["the old car stopped at 5 on @joe"], [2]) == [[]]
    assert augmenter.dropped[KNOWN] == 1


def test_texts_without_words_and_paraphrasers_that_lose_texts() -> None:
    augmenter = LabelAugmenter(Fixed("go"), SELECTOR, Protector())
    assert augmenter.augment(["@joe 5", "unwanted"], [1, 0]) == [[], []] and augmenter.dropped == {NOTHING_TO_SAY: 1}
    with pytest.raises(ConfigError, match="'candidates' must be 1 or more"):
        LabelAugmenter(Fixed(), SELECTOR, Protector(), candidates=0)
    short = Fixed()
    short.paraphrase = lambda texts, **options: []  # type: ignore[method-assign, assignment]
    with pytest.raises(DataError, match="returned 0 lists of paraphrases for 1 texts"):
        LabelAugmenter(short, SELECTOR, Protector()).augment(["go home now"], [1])
