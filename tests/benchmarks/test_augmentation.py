"""The benchmarks of back-translation run on tiny inputs, and resume."""

from __future__ import annotations

import gzip
from functools import partial
from pathlib import Path

import pytest
from in_process import run_benchmark
from toy_language import bitext

run_ladder = partial(run_benchmark, "augmentation_ladder")


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    """A folder of corpora with captions of the toy language."""
    folder = tmp_path / "data/bitext/multi30k"
    pairs = bitext(260, seed=3)
    parts = {"train": pairs[:200], "val": pairs[200:230], "test_2016_flickr": pairs[230:]}
    columns = {f"task1/{part}.{language}": [pair[side] for pair in rows] for part, rows in parts.items()
               for side, language in enumerate(("de", "en"))}  # fmt: skip
    columns |= {f"task2/train.{n}.en": [target for _, target in bitext(60, seed=10 + n)] for n in range(1, 6)}
    for name, texts in columns.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.gz").write_bytes(gzip.compress("".join(f"{text}\n" for text in texts).encode()))
    return tmp_path / "data"


@pytest.mark.slow
def test_the_ladder_resumes(captions: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
    sizes = ("--steps", 2, "--first-steps", 2, "--back-steps", 2, "--d-model", 32, "--vocab-size", 120, "--threads", 1)
    part = ("-o", tmp_path / "ladder", "--pairs", 40, "--multiples", 0, 1, "--seeds", 1, "--batch-tokens", 200, *sizes)
    few = ("--methods", "base", "--tags", "plain")
    first = run_ladder(*part, *few, "--starts", "scratch", data=captions)
    assert first.returncode == 0, first.stderr
    assert "1/2 40-0-parallel_text_alone-plain-scratch-1: BLEU" in first.stdout
    assert "| 40 | 40 | base | plain | scratch | 1 |" in first.stdout and "Back-translator of 40 pairs" in first.stdout
    # What is there is not trained again; another method, tag and start are added.
    more = ("--methods", "base", "short", "--decode", "short=sampling,nbest=3,samples=5", "--tags", "tagged")
    further = run_ladder(*part, *more, "--starts", "continued", data=captions)
    assert further.returncode == 0, further.stderr
    assert "3/3 40-1.0-short-tagged-continued-1" in further.stdout
    assert "short: sampling,nbest=3,temperature=1.0,shortlist=0,samples=5" in further.stdout
    assert "tagged, continued: short - base " in further.stdout
    assert (
        run_ladder(*part, *few, "--starts", "scratch", data=captions).stdout
        == first.stdout[first.stdout.index("Back-translator") :]
    )
    refused = run_ladder(*part, *few, "--dropout", 0.2, data=captions)
    assert refused.returncode == 1 and "trainings with another dropout" in refused.stderr


@pytest.mark.slow
def test_the_ladder_is_trained_in_parts_with_syntax_groups(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
    table = tmp_path / "data/bitext/tatoeba/de-en.tsv.gz"
    table.parent.mkdir(parents=True)
    # Statements and questions, which have other root productions.
    rows = [
        row for i in range(60) for row in (f"Ich sehe {i} Hunde.\tI see {i} dogs.", f"Was sind {i}?\tWhat are {i}?")
    ]
    table.write_bytes(gzip.compress("".join(f"{row}\n" for row in rows).encode()))
    steps = ("--steps", 2, "--back-steps", 2, "--group-steps", 2, "--group-rows", 4, "--threads", 1)
    sizes = (*steps, "--d-model", 32, "--vocab-size", 70)
    text = ("--text", "tatoeba", "--from-english", "--held-out-share", 0.2, "--pairs", 40, "--multiples", 0, 1)
    few = ("--methods", "syntax", "--outputs", 2, "--tags", "plain", "--starts", "scratch", "--seeds", 1)
    ladder = ("-o", tmp_path / "ladder", *text, *few, "--batch-tokens", 200, *sizes)
    before = run_ladder(*ladder, "--back-only", data=tmp_path / "data")
    assert before.returncode == 0, before.stderr
    assert "syntax group of 40 pairs" in before.stdout and not (tmp_path / "ladder/results").exists()
    groups = sorted(path.name for path in (tmp_path / "ladder/back/40").glob("*.jsonl"))
    assert groups == ["group-1.jsonl", "group-2.jsonl"]
    for part, name in (("1/2", "40-0-parallel_text_alone"), ("2/2", "40-1.0-syntax")):
        printed = run_ladder(*ladder, "--part", part, data=tmp_path / "data").stdout
        assert f"{part} {name}-plain-scratch-1: BLEU" in printed
    refused = run_benchmark(
        "augmentation_ladder", "-o", tmp_path / "other", "--methods", "syntax", data=tmp_path / "data"
    )
    assert refused.returncode == 2 and "syntax groups need --from-english" in refused.stderr


@pytest.mark.slow
def test_the_frontier_resumes(toy_translator: Path, tmp_path: Path) -> None:
    (tmp_path / "toy.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in bitext(8, seed=5)))
    part = (toy_translator, "-o", tmp_path / "frontier", "--reverse", "", "--pairs", tmp_path / "toy.tsv", "--lines", 6)
    first = run_benchmark("frontier", *part, "--decode", "beam:3,nbest=3")
    assert first.returncode == 0, first.stderr
    assert first.stderr.splitlines()[-1] == "toy.tsv: beam:3,nbest=3"
    whole = run_benchmark("frontier", *part, "--decode", "beam:3,nbest=3", "diverse:chrf,samples=4,nbest=2,weight=.5")
    assert whole.stderr.splitlines()[-1].startswith("toy.tsv: diverse") and "toy.tsv: beam" not in whole.stderr
    rows = [line for line in whole.stdout.splitlines() if line.startswith("| `")]
    assert len(rows) == 2 and next(row for row in rows if "beam" in row) in first.stdout
    assert "toy.tsv, 6 sentences" in whole.stdout
