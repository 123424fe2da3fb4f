"""What may be given as a paraphraser: names, functions, objects; the selection that goes with each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from paraloom import evaluate_translation, paraphrase
from paraloom.api.paraphrase_evaluation import ParaphraserEvaluation
from paraloom.api.paraphrase_sources import RoundTripParaphraser, as_paraphraser, open_paraphraser, open_selector
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.protocols import Variant
from paraloom.paraphrasing.selection_config import SELECTION_PRESETS


class English:
    """A paraphraser that says its language."""

    signature, language = "english-only", "en"

    def paraphrase(self, texts: Sequence[str], *, n: int = 5, seed: int = 0) -> list[list[Variant]]:
        return [[Variant(text, -1.0, 1)] for text in texts]


def test_an_encoder_of_another_language() -> None:
    with pytest.raises(ConfigError, match="the encoder 'english' does not read German"):
        open_selector(language="de")
    assert open_selector(language="de", encoder="none").encoder is None
    with pytest.raises(ConfigError, match="--meaning needs an encoder"):
        open_selector(encoder=None, meaning=0.5)


def test_a_function_may_have_no_paraphrase_of_a_text(tmp_path: Path) -> None:
    some = as_paraphraser(lambda texts: [[] if "car" in text else [f"{text} today"] for text in texts])
    assert [[one.text for one in group] for group in some.paraphrase(["a car", "a tree"])] == [[], ["a tree today"]]
    with pytest.raises(DataError, match=r"the function .*<lambda> returned 1 results for 2 texts"):
        as_paraphraser(lambda texts: texts[:1]).paraphrase(["a car", "a tree"])


def test_a_table_is_not_a_sequence_of_texts() -> None:
    """Iterated over, it gives the names of its columns."""
    table: Any = pd.DataFrame({"text": ["The film was good."]})
    with pytest.raises(TypeError, match="got DataFrame"):
        paraphrase(table, lambda texts: texts, preset="none")
    with pytest.raises(TypeError, match="got DataFrame"):
        evaluate_translation(table, table)
    assert evaluate_translation(table["text"], table["text"]).n == 1


def test_what_names_a_paraphraser(tmp_path: Path) -> None:
    english = English()
    assert as_paraphraser(english) is english
    function: Callable[[list[str]], list[str]] = list
    assert as_paraphraser(lambda texts: function(texts)).paraphrase(["a"])[0][0].text == "a"
    with pytest.raises(TypeError, match="got int"):
        as_paraphraser(5)  # type: ignore[arg-type]
    for reference, message in (
        ([], "a paraphraser is missing"),
        ("round-trip:en-de", "needs a translator for each direction"),
        ("round-trip:en-de,en-de", "do not lead back"),
        ("http://127.0.0.1:9/v1", "needs the name of a model"),
    ):
        with pytest.raises(ConfigError, match=message):
            open_paraphraser(reference)


def test_the_presets_of_all_that_paraphrases_are_one_gate() -> None:
    evaluation = ParaphraserEvaluation({"round trip": RoundTripParaphraser("en-de", "de-en")}, preset="strict")
    assert evaluation.selector is not None
    for selector in (open_selector("strict", judge=None, language="en"), evaluation.selector):
        assert selector.judge is not None and selector.config == SELECTION_PRESETS["strict"]
