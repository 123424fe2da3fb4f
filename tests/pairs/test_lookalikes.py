"""Look-alikes change one fact, keep the rest, depend on seed and pair alone, and apply where the rules say."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from paraloom.core.errors import ConfigError
from paraloom.core.schema import PAIRS
from paraloom.pairs.lookalikes import KINDS, lookalike, make_lookalikes, names_in


def changed(text: str, kind: str, seed: int = 0, names: tuple[str, ...] = ("Oslo", "Rome")) -> str | None:
    return lookalike(text, kind, np.random.default_rng(seed), names)


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("negation", "He doesn't know.", "He does know."),
        ("negation", "I don't know.", "I know."),
        ("negation", "Don't go there!", "Go there!"),
        ("negation", "We cannot stay.", "We can stay."),
        ("negation", "They won't come.", "They will come."),
        ("negation", "She is not here.", "She is here."),
        ("negation", "You can go.", "You cannot go."),
        ("negation", "Is she here?", None),
        ("negation", "Isn't she here?", None),
        ("negation", 'He said: "Don\'t you know?"', None),
        ("negation", "Dogs bark.", None),
        ("quantifier", "Everyone knows.", "Nobody knows."),
        ("quantifier", "He never smokes.", "He always smokes."),
        ("role", "The dog bit the man.", "The man bit the dog."),
        ("role", "He likes her.", "She likes him."),
        ("role", "I met him.", "He met me."),
        ("role", "Tom hit Mary.", "Mary hit Tom."),
        ("role", "Tom and Mary left.", None),
        ("role", "I's", None),
        ("name", "We live in Paris.", "We live in Rome."),
        ("name", "Paris is nice.", None),
        ("number", "No figures here.", None),
        ("words", "Too short.", None),
        ("words", "I see cats and dogs.", None),
    ],
)
def test_rules(kind: str, text: str, expected: str | None) -> None:
    assert changed(text, kind, names=("Rome",)) == expected


def test_numbers_keep_their_size_and_change() -> None:
    for seed in range(20):
        for text in ("It costs 1,250 euros.", "Seven men came.", "In 2019 he left.", "The third man."):
            result = changed(text, "number", seed)
            assert result is not None and result != text
            assert len(result.split()) == len(text.split())
            if text[0] == "I":
                digits = [c for c in result if c.isdigit()]
                assert len(digits) == len([c for c in text if c.isdigit()]) and digits[0] != "0"


def test_swapped_words_are_the_same_words() -> None:
    text = "The quick fox jumped over the lazy dog near the river."
    for seed in range(20):
        result = changed(text, "words", seed)
        assert result is not None and result != text
        # The full stop stays at the end, whichever words are swapped.
        assert result[-1] == "." and "." not in result[:-1]
        assert sorted(result[:-1].lower().split()) == sorted(text[:-1].lower().split())


def test_names_do_not_begin_a_sentence() -> None:
    assert names_in(["Paris is nice. Rome, too, and Anna's Oslo.", "the USA"]) == ["Anna", "Oslo"]


def test_rows_follow_from_seed_and_pair_alone() -> None:
    rows = [
        {"pair_id": str(i), "src": "She has two cats.", "tgt": f"She owns {i + 20} cats in Rome or Oslo.",
         "src_lang": "en", "tgt_lang": "en", "origin": "toy"}
        for i in range(6)
    ]  # fmt: skip
    batch = pa.RecordBatch.from_pylist(rows, schema=PAIRS)
    kinds = ["number", "words"]
    whole = make_lookalikes(batch, kinds, seed=3).to_pylist()
    parts = [row for i in range(6) for row in make_lookalikes(batch.slice(i, 1), kinds, seed=3).to_pylist()]
    assert [row["tgt"] for row in whole] == [row["tgt"] for row in parts]
    assert [row["tgt"] for row in make_lookalikes(batch, kinds, seed=4).to_pylist()] != [row["tgt"] for row in whole]
    assert {row["src"] for row in whole} == {"She has two cats."}
    of_first = make_lookalikes(batch, ["number"], changed="src", seed=3).to_pylist()
    assert all(row["tgt"].startswith("She has ") and row["tgt"] != row["src"] for row in of_first)


def test_no_pair_gives_no_rows() -> None:
    row = {"pair_id": "1", "src": "Yes", "tgt": "Yes", "src_lang": "en", "tgt_lang": "en", "origin": "toy"}
    assert make_lookalikes(pa.RecordBatch.from_pylist([row], schema=PAIRS), KINDS).num_rows == 0


def test_unknown_kind() -> None:
    with pytest.raises(ConfigError, match="did you mean 'negation'"):
        changed("It is late.", "negations")
