"""How much of noisy texts is restored: figures by hand, intervals that hold them, bad input."""

from __future__ import annotations

import pytest

from paraloom.core.errors import DataError
from paraloom.evaluate.restoration import measure_restoration, restoration_table

pytest.importorskip("sacrebleu", reason="chrF needs sacrebleu: pip install 'paraloom[evaluate]'")

CLEAN = ["It rains.", "We are late again, friends."]


def test_figures_by_hand() -> None:
    result = measure_restoration(
        ["it rains.", "We are late friends."], CLEAN, [CLEAN[0], "We were late again, friends."]
    )
    assert result.word_errors.value == pytest.approx(2 / 7)  # one word in another case, one left out
    assert (result.exact.value, result.left_alone.value) == (0.0, 0.5)
    assert 0 < result.chrf.value < 100
    assert result.word_errors.low == pytest.approx(1 / 5) and result.word_errors.high == pytest.approx(1 / 2)


def test_nothing_to_restore() -> None:
    result = measure_restoration(CLEAN, CLEAN, CLEAN, samples=10)
    assert {name: figure["value"] for name, figure in result.to_dict().items()} == {
        "word_errors": 0.0, "chrf": pytest.approx(100.0), "exact": 1.0, "left_alone": 1.0
    }  # fmt: skip
    assert result.format().startswith("word errors 0 [0, 0]; chrf 100")
    assert restoration_table({"ours": result}).splitlines()[-1].startswith("| ours | 0 [0, 0] | 100")


def test_bad_input() -> None:
    with pytest.raises(DataError, match="got 1 and 2 outputs for 2 texts"):
        measure_restoration(["a"], CLEAN, CLEAN)
    with pytest.raises(DataError, match="at least one"):
        measure_restoration([], [], [])
