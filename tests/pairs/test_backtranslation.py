"""Back-translation: which sentences are paired, and the columns of the pairs."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

from paraloom.core.errors import DataError
from paraloom.core.protocols import TranslatorLike, Variant
from paraloom.core.schema import PAIRS, require, signature_of
from paraloom.pairs.backtranslation import REPEATED, pair_translations, reject_empty


class Numbered:
    """As many translations as the sentence has words, with the seed in their text."""

    signature = "numbered|version:1"

    def translate(self, sentences: Sequence[str], *, seed: int = 0) -> list[list[Variant]]:
        return [
            [Variant(f"{text}/{rank}/{seed}", -1.5 * (rank + 1), rank + 2) for rank in range(len(text.split()))]
            for text in sentences
        ]


@pytest.fixture
def bitext() -> pa.RecordBatch:
    rows = [("p1", "eins zwei", "one two"), ("p2", "", "nothing"), ("p3", "drei", "three")]
    return pa.RecordBatch.from_pylist(
        [{"pair_id": i, "src": s, "tgt": t, "src_lang": "de", "tgt_lang": "en", "origin": "toy"} for i, s, t in rows],
        schema=PAIRS,
    )


def backtranslate(batch: pa.RecordBatch, side: str = "src", seed: int = 0, method: str = "") -> pa.RecordBatch:
    translator = Numbered()
    variants = translator.translate(batch.column(side).to_pylist(), seed=seed)
    other, method = "tgt" if side == "src" else "src", method or translator.signature
    return pair_translations(batch, variants, method, reference=other, signature=translator.signature)


def test_each_reference_is_paired_with_each_of_its_translations(bitext: pa.RecordBatch) -> None:
    assert isinstance(Numbered(), TranslatorLike)
    pairs = backtranslate(bitext, seed=7, method="toy:2")
    require(pairs.schema, PAIRS)
    assert pairs.drop_columns(["logprob"]).to_pylist() == [
        dict(zip(pairs.drop_columns(["logprob"]).schema.names, row, strict=True))
        for row in [
            ("p1", "one two", "eins zwei/0/7", "en", "en", "toy", 0, 2, 1, "toy:2", "eins zwei", "de", 0),
            ("p1", "one two", "eins zwei/1/7", "en", "en", "toy", 1, 3, 1, "toy:2", "eins zwei", "de", 0),
            ("p3", "three", "drei/0/7", "en", "en", "toy", 0, 2, 1, "toy:2", "drei", "de", 2),
        ]
    ]
    assert pairs.column("logprob").to_pylist() == [-1.5, -3.0, -1.5]
    assert signature_of(pairs.schema.field("logprob")) == "numbered|version:1"


def test_the_other_side_can_be_the_reference(bitext: pa.RecordBatch) -> None:
    pairs = backtranslate(bitext, side="tgt")
    assert pairs.column("src").to_pylist() == ["eins zwei", "eins zwei", "", "drei"]
    assert set(pairs.column("tgt_lang").to_pylist()) == {"de"}
    assert set(pairs.column("method").to_pylist()) == {"numbered|version:1"}


def test_the_schema_does_not_depend_on_the_rows(bitext: pa.RecordBatch) -> None:
    empty = backtranslate(bitext.slice(1, 1))
    assert empty.num_rows == 0
    assert empty.schema.equals(backtranslate(bitext).schema, check_metadata=True)


def test_missing_translations_are_an_error(bitext: pa.RecordBatch) -> None:
    with pytest.raises(DataError, match="translations of 3 pairs, got those of 2"):
        pair_translations(bitext, [[], []], "toy")


def test_the_same_words_are_paired_once(bitext: pa.RecordBatch) -> None:
    variants = [
        [Variant(text, -1.0, 2) for text in ("A dog.", "a dog", "The dog.", "…", "…!")],
        [],
        [Variant("", 0, 0)],
    ]
    reasons = reject_empty(pair_translations(bitext, variants, "toy"), variants).column("reason").to_pylist()
    assert reasons == [None, REPEATED, None, None, None, "empty translation"]
