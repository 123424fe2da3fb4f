"""What travels with a corpus, what a filter says that keeps little, and what to expect of training on few pairs."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paraloom
from paraloom.api.pairs import Pairs
from paraloom.api.travelling_warnings import warnings_of
from paraloom.core.stage import Map

WARNING = "median cost 1.40 nats per token over 200 sentences, 0.24 on …: expect wrong translations; use another one"


@dataclass(frozen=True, kw_only=True)
class Doubtful(Map):
    """Passes rows on, with a warning about all of them, as a translator out of its depth does."""

    def check_input(self, corpus: Any, context: Any) -> dict[str, Any]:
        return {"warning": WARNING}

    def apply(self, batch: pa.RecordBatch, context: Any) -> pa.RecordBatch:
        return batch


@pytest.fixture
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        yield


def pairs_of(scores: list[float]) -> Pairs:
    return paraloom.as_pairs(
        {
            "src": [f"This is sentence {n}." for n in range(len(scores))],
            "tgt": [f"Number {n} it is." for n in range(len(scores))],
            "p_paraphrase": scores,
            "tgt_tokens": list(range(len(scores))),
        }
    )


@pytest.mark.parametrize("name", ["warned.parquet", "warned"])
def test_a_warning_travels_with_the_corpus_and_rows_keep_their_bytes(name: str, tmp_path: Path) -> None:
    pairs = paraloom.as_pairs([("a b", "c d"), ("e f", "g h")])
    pairs.score("length").write(tmp_path / f"plain-{name}")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        pairs.score("length").then(Doubtful()).write(tmp_path / name)
    assert warnings_of(tmp_path / name) == (WARNING,)
    with pytest.warns(UserWarning, match=f"{re.escape(name)} came with a warning: .* expect wrong") as caught:
        scored = paraloom.read_pairs(tmp_path / name).score("overlap").filter(lambda row: True)
        result = scored.write(tmp_path / "kept.parquet")
    assert len(caught) == 1 and result.stages[-1].counts.out == 2
    assert warnings_of(tmp_path / "kept.parquet") == (WARNING,)
    if name == "warned":
        shards = [(tmp_path / one / "part-00000.parquet").read_bytes() for one in (name, f"plain-{name}")]
        assert shards[0] == shards[1]
    with pytest.warns(UserWarning, match="came with a warning"):
        paraloom.train_encoder(tmp_path / "kept.parquet", tmp_path / "encoder", dimension=8, epochs=1)


def test_stages_of_a_run_carry_the_warnings_of_those_before_them(tmp_path: Path) -> None:
    folder = tmp_path / "run/20-score"
    paraloom.as_pairs([("a", "b")]).write(folder)
    stages = [{"folder": "10-translate", "figures": {"warning": WARNING}}, {"folder": "20-score", "figures": {}}]
    (tmp_path / "run/run.json").write_text(json.dumps({"stages": stages}))
    assert warnings_of(folder) == (WARNING,)
    (tmp_path / "run/run.json").write_text("[")
    assert warnings_of(folder) == ()


def test_damaged_warnings_are_none(tmp_path: Path) -> None:
    table = paraloom.as_pairs([("a", "b")]).to_arrow()
    for number, content in enumerate((b"[", b"3", b"[3]", b'{"a": 1}')):
        pq.write_table(table.replace_schema_metadata({"paraloom.warnings": content}), tmp_path / f"{number}.parquet")
        assert warnings_of(tmp_path / f"{number}.parquet") in ((), ("a",))
    assert warnings_of(tmp_path / "missing.parquet") == ()


def test_a_filter_that_keeps_little_says_what_costs_most_and_what_presets_keep(tmp_path: Path) -> None:
    pairs = pairs_of([0.01 * n for n in range(100)])
    with pytest.warns(UserWarning, match="the filter keeps only 2 of 100 pairs") as caught:
        pairs.filter("p_paraphrase > 0.975 and tgt_tokens < 1000").write(tmp_path / "kept.parquet")
    (message,) = [str(warning.message) for warning in caught]
    assert re.search(r'\(2\.0 %\); "p_paraphrase > 0\.975" costs most: 98. For more pairs', message), message
    scored = paraloom.as_pairs({**pairs.to_arrow().to_pydict(), **presets_of(100)})
    with pytest.warns(UserWarning, match=r"the presets would keep: .*loose \d+ \(\d+\.\d %\)"):
        len(scored.filter("p_paraphrase > 0.985"))


@pytest.mark.parametrize(("rows", "written_by"), [(100, "people"), (100, "a translator"), (40, "people")])
def test_a_preset_that_keeps_few_pairs_of_people_names_a_condition(rows: int, written_by: str) -> None:
    scores = pairs_of([0.9 if n >= 0.93 * rows else 0.1 for n in range(rows)]).to_arrow().to_pydict()
    of_translators = {"pivot": ["x"] * rows} if written_by == "a translator" else {}
    pairs = paraloom.as_pairs({**scores, **presets_of(rows), **of_translators})
    strict = "p_paraphrase >= 0.8 and chrf <= 90 and "
    strict += "greatest(src_content_missing, tgt_content_missing, order_inversions) > 0"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        assert 0.05 * rows <= len(pairs.filter(strict)) < 0.1 * rows
    said = [
        str(one.message) for one in caught if "Presets are fitted on outputs of small translators" in str(one.message)
    ]
    assert len(said) == ((rows, written_by) == (100, "people"))
    assert all("--where 'judge >= 0.5 and chrf <= 90'" in message for message in said)


def presets_of(rows: int) -> dict[str, list[float]]:
    """Scores of near-copies, which the presets read, besides p_paraphrase."""
    others = ("src_content_missing", "tgt_content_missing", "order_inversions")
    return {"chrf": [50.0] * rows, **{name: [0.5] * rows for name in others}}


@pytest.mark.usefixtures("quiet")
def test_samples_best_shares_and_few_rows_are_no_reason_to_warn(tmp_path: Path) -> None:
    pairs = pairs_of([0.01 * n for n in range(100)])
    assert len(pairs.filter("p_paraphrase >= 0", sample=1)) == 1
    assert len(pairs.filter("p_paraphrase >= 0", top=0.01, by="p_paraphrase")) == 1
    assert len(pairs.filter("p_paraphrase >= 0.94")) == 6
    assert len(pairs[:10].filter("p_paraphrase > 5")) == 0


def test_a_warning_of_the_translator_is_the_remedy_of_a_low_yield() -> None:
    with pytest.warns(UserWarning, match="keeps only.*The translator does not know this kind of text"):
        len(pairs_of([0.01 * n for n in range(100)]).then(Doubtful()).filter("p_paraphrase > 0.985"))


def test_training_on_few_pairs_says_what_to_expect(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"a dog runs {n}\ta dog is running {n}\n" for n in range(40)))
    with pytest.warns(UserWarning, match="40 pairs are few.*--init-from english"):
        paraloom.train_encoder(file, tmp_path / "encoder", dimension=8, epochs=1)
    file.write_text("".join(f"a dog runs {n}\ta dog is running {n}\n" for n in range(1000)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        paraloom.train_encoder(file, tmp_path / "another", dimension=8, epochs=1)
