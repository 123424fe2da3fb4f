"""The benchmarks of alignment: baselines on small texts, and pages made of sections."""

from __future__ import annotations

import gzip
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from in_process import run_benchmark

from paraloom.core.beads import Bead

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def load(name: str) -> ModuleType:
    """A benchmark as a module."""
    spec = importlib.util.spec_from_file_location(f"{name}_benchmark", BENCHMARKS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def peers() -> ModuleType:
    return load("alignment_peers")


@pytest.fixture(scope="module")
def documents() -> ModuleType:
    return load("document_alignment")


@pytest.fixture(scope="module")
def scale() -> ModuleType:
    return load("document_scale")


def kinds(beads: list[Bead]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [(bead.source, bead.target) for bead in beads]


def test_line_by_line_ends_with_the_shorter_text(peers: ModuleType) -> None:
    assert kinds(peers.by_position(["a", "b", "c"], ["x", "y"])) == [((0,), (0,)), ((1,), (1,))]


def test_a_dictionary_of_the_first_pass_finds_a_missing_line(peers: ModuleType) -> None:
    words = [f"{a}{b}" for a in "bcdfg" for b in "aeiou"]
    rng = np.random.default_rng(3)
    source = [" ".join(rng.choice(words, 6, replace=False)) for _ in range(60)]
    target = [" ".join(f"{word}x" for word in line.split()) for line in source]
    beads = kinds(peers.like_hunalign(source, target[:30] + target[31:]))
    right = [((i,), (i,)) for i in range(30)] + [((i,), (i - 1,)) for i in range(31, 60)]
    assert len(set(beads) & set(right)) >= 57
    assert ((30,), ()) in beads


def test_costs_are_normalized_by_those_of_random_sentences(peers: ModuleType) -> None:
    # Two sentences that are at right angles: half of the random ones are the same, half cost 1.
    vectors = np.eye(2, dtype=np.float32)
    band = peers.Band(np.zeros(3, np.int64), 3, 2, 2)
    out = np.zeros((2, 2, 2, 3), np.float32)
    costs = peers.NormalizedCosts(vectors, vectors)
    costs.add(0, 2, band, out)
    assert out[0, 0, 0, 0] == pytest.approx(0)
    norms = [peers._random_costs(vectors, vectors)[i] for i in (0, 1)]
    assert sum(norms) == pytest.approx(1)
    assert out[0, 0, 0, 1] == pytest.approx(-1 / ((norms[0] + norms[1]) / 2))
    # One sentence against both: the cosine with their sum is √½, and there are two on one side.
    mean = (norms[0] + 0.5) / 2
    assert out[0, 0, 1, 0] == pytest.approx(-2 * (1 - 0.5**0.5) / mean, rel=1e-5)


def test_vectors_find_a_joined_line_and_continue_after_a_missing_one(peers: ModuleType) -> None:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(30, 16)).astype(np.float32)
    # Targets 3 and 4 are one line; 20 is missing.
    target = np.concatenate([vectors[:3], vectors[3:4] + vectors[4:5], vectors[5:20], vectors[21:]])
    target += rng.normal(scale=0.2, size=target.shape).astype(np.float32)
    beads = kinds(peers.like_vecalign(vectors, target))
    assert ((3, 4), (3,)) in beads
    # A sentence without a counterpart costs more than one more sentence in a bead of 2:1, of which the cosine is √½.
    assert not any(source == (20,) for source, _ in beads)
    assert ((29,), (27,)) in beads


def test_the_path_of_averaged_neighbors_leads_through_long_texts(peers: ModuleType) -> None:
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(1500, 16)).astype(np.float32)
    target = np.concatenate([vectors[:200], vectors[260:]])  # a band along the diagonal would miss the gap
    target += rng.normal(scale=0.2, size=target.shape).astype(np.float32)
    beads = set(kinds(peers.like_vecalign(vectors, target)))
    assert sum(((i,), (i - 60,)) in beads for i in range(300, 1500)) >= 1000


def test_long_texts_are_cut_at_rare_words(peers: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "_PART", 10)
    source = [f"satz nummer {i} das ist klar" for i in range(40)]
    target = [f"sentence number {i} this is clear" for i in range(40) if not 12 <= i < 18]
    assert peers._cuts(source, target) == [(0, 0), (10, 10), (20, 14), (30, 24), (40, 34)]
    beads = kinds(peers.like_hunalign(source, target))
    assert sum(((i,), (i - 6,)) in beads for i in range(18, 40)) >= 21


def test_hunalign_is_left_out_where_it_is_missing(
    peers: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert peers.hunalign(["a"], ["b"]) is None
    program = tmp_path / "hunalign"
    program.write_text("#!/bin/sh\nprintf '0\\t0\\t0.5\\n1\\t1\\t0.5\\n2\\t1\\t0\\n'\n")
    program.chmod(0o755)
    assert kinds(peers.hunalign(["a", "c"], ["b"])) == [((0,), (0,)), ((1,), ())]


@pytest.mark.slow
def test_the_benchmark_of_sentences_prints_each_row(tmp_path: Path) -> None:
    for name in ("wmt-news", "tatoeba"):
        (tmp_path / "bitext" / name).mkdir(parents=True)
        lines = [f"Satz {i} {i * i}\tSentence {i} {i * i}\n" for i in range(80)]
        with gzip.open(tmp_path / "bitext" / name / "de-en.tsv.gz", "wt", encoding="utf-8") as file:
            file.writelines(lines)
    rows = ("nothing: line by line", "ours", "like vecalign")
    done = run_benchmark("alignment", "--lines", 70, "--rows", *rows, data=tmp_path)
    assert done.returncode == 0, done.stderr
    nothing, ours, vecalign = done.stdout.splitlines()
    assert nothing.startswith("nothing: line by line") and "F1 strict 0." in nothing
    assert ours.startswith("ours  ") and "s of processor" in ours
    assert vecalign.endswith("left out: give --encoder, an encoder of both languages")


def test_pages_are_made_of_the_same_sections_on_both_sides(scale: ModuleType) -> None:
    pages = [[(f"f{n}.{line}", f"e{n}.{line}") for line in range(12)] for n in range(9)]
    page = scale.make_page(pages, 5)
    assert page == scale.make_page(pages, 5) != scale.make_page(pages, 6)
    assert len(page) == 12
    # Three sections of four lines each, from real pages, two of which may be the same one.
    sections = [pages[n][start : start + 4] for n in range(9) for start in range(9)]
    assert all(page[start : start + 4] in sections for start in (0, 4, 8))
    lines = [english for number in range(50) for _, english in scale.make_page(pages, number)]
    assert len({english.split(".")[0] for english in lines}) == 9
    assert all(foreign[1:] == english[1:] for foreign, english in page)


def test_a_tenth_of_the_pages_is_missing_on_each_side(scale: ModuleType) -> None:
    sides = [scale.numbers(200, side) for side in (0, 1)]
    assert [len(set(side)) for side in sides] == [180, 180]
    assert sides[0] != sides[1]
    assert 160 <= len(set(sides[0]) & set(sides[1])) < 180


def test_a_row_of_documents_shows_only_what_it_measures(documents: ModuleType) -> None:
    page = {"doc_id": "a", "text": "One.", "images": [], "url": "de/a.html", "links": ["/de/b.html"]}
    side = documents.documents([page], "de", None)
    assert side.addresses is not None and side.links is not None
    assert documents.show(side, ("links",)).addresses is None
    assert documents.show(side, ("links",)).links is side.links
    assert documents.show(side, ()).links is None
    plain = documents.documents([{name: page[name] for name in ("doc_id", "text", "images")}], "de", None)
    assert plain.addresses is None and plain.links is None


def test_a_swept_row_has_one_configuration_for_each_weight(documents: ModuleType) -> None:
    swept = dict(documents.configurations("content and links", [0.1, 1.0]))
    assert [(name, config.weights["links"]) for name, config in swept.items()] == [
        ("content and links × 0.1", 0.1),
        ("content and links × 1", 1.0),
    ]
    assert swept["content and links × 1"].weights["words"] == 1.0
    assert [name for name, _ in documents.configurations("default", [0.1, 1.0])] == ["default"]


def test_the_interval_of_f1_holds_it(documents: ModuleType) -> None:
    gold = {(str(i), str(i)) for i in range(100)}
    chosen = {(str(i), str(i)) for i in range(90)} | {(str(i), "x") for i in range(10)}
    low, high = documents.interval(chosen, gold)
    assert low < 2 * 90 / 200 < high
    assert documents.interval(gold, gold) == (1.0, 1.0)
