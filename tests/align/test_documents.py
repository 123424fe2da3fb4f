"""Documents of two made-up languages paired, and their sentences aligned within the pairs; odd corpora too."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from toy_documents import Page, World, documents, made_up_world, write_pages

from paraloom.align.document_features import open_documents
from paraloom.align.document_pairs import NamedPair, named, read_document_pairs, write_document_pairs
from paraloom.align.documents import EVIDENCE, DocumentPairs, DocumentsConfig, align_documents
from paraloom.align.same_images import Picture
from paraloom.align.sentences import AlignerConfig
from paraloom.align.within_documents import Aligned, align_within
from paraloom.core.errors import ConfigError, DataError

Names = set[tuple[str, str]]


def pairs_of(source: Sequence[Page], target: Sequence[Page], *, translated: bool = False, **settings: object) -> Names:
    made = [page.translation for page in source] if translated else None
    pictures = [[page.pictures for page in side] for side in (source, target)]
    found = align_documents(
        documents([page.text for page in source], made, pictures[0]),
        documents([page.text for page in target], None, pictures[1]),
        DocumentsConfig(**settings),  # type: ignore[arg-type]
    )
    return {(source[i].name, target[j].name) for i, j in zip(found.sources, found.targets, strict=True)}


@pytest.fixture(scope="module")
def world() -> World:
    return made_up_world()


@pytest.mark.parametrize("translated", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_true_pairs_are_found_and_whoever_has_no_counterpart_is_in_none(translated: bool, seed: int) -> None:
    """54 pairs, two of them near-twins, and six documents on each side that stand alone."""
    world = made_up_world(seed=seed)
    assert pairs_of(world.source, world.target, translated=translated) == world.gold


def test_a_translation_of_the_target_s_side_will_do_as_well(world: World) -> None:
    found = align_documents(
        documents([page.text for page in world.target]),
        documents([page.text for page in world.source], [page.translation for page in world.source]),
        DocumentsConfig(rounds=0),
    )
    names = {(world.source[i].name, world.target[j].name) for i, j in zip(found.targets, found.sources, strict=True)}
    assert names >= world.gold


@pytest.mark.parametrize("how", ["mutual", "best"])
def test_other_ways_to_choose_find_them_too(world: World, how: str) -> None:
    assert pairs_of(world.source, world.target, how=how) == world.gold


def test_the_rounds_teach_the_words(world: World) -> None:
    """Without a lexicon only the few names and numbers are shared."""
    before = pairs_of(world.source, world.target, rounds=0)
    assert len(before & world.gold) < 50
    assert pairs_of(world.source, world.target, rounds=1) & world.gold > before & world.gold


@pytest.mark.parametrize(("evidence", "least"), [("words", 54), ("scores", 36), ("all", 54)])
def test_each_evidence_alone(world: World, evidence: str, least: int) -> None:
    found = pairs_of(world.source, world.target, translated=True, weights=EVIDENCE[evidence])
    assert len(found & world.gold) >= least


def test_topics_alone(world: World) -> None:
    pytest.importorskip("tomotopy", reason="topics need tomotopy: pip install 'paraloom[topics]'")
    found = pairs_of(world.source, world.target, translated=True, weights=EVIDENCE["topics"], rounds=0)
    assert len(found & world.gold) >= 48


def test_pictures_alone_pair_what_shows_the_same_and_nothing_else(world: World) -> None:
    assert pairs_of(world.source, world.target, weights=EVIDENCE["pictures"]) == set()
    showing = sorted(world.gold)[:10]
    shown = {name: [Picture(f"{place}", None)] for place, pair in enumerate(showing) for name in pair}
    sides = [
        [replace(page, pictures=shown.get(page.name, [])) for page in side] for side in (world.source, world.target)
    ]
    assert pairs_of(*sides, weights=EVIDENCE["pictures"]) == set(showing)


def test_a_weight_of_nothing_is_as_no_weight(world: World) -> None:
    found = [
        pairs_of(world.source, world.target, rounds=0, weights=weights)
        for weights in ({"words": 1.0}, {"words": 1.0, "pictures": 0.0, "topics": 0.0, "length": 0.0})
    ]
    assert found[0] == found[1]


def test_the_threshold_is_of_the_margin_or_the_score(world: World) -> None:
    sides = documents([page.text for page in world.source]), documents([page.text for page in world.target])
    for by in ("margin", "score"):
        every = align_documents(*sides, DocumentsConfig(rounds=1, by=by, threshold=-9))
        values = every.margin if by == "margin" else every.score
        cut = float(np.median(values))
        found = align_documents(*sides, DocumentsConfig(rounds=1, by=by, threshold=cut))
        assert found.sources.tolist() == every.sources[values >= cut].tolist()


def test_names_and_addresses_do_not_matter_and_the_same_seed_gives_the_same_bytes(world: World, tmp_path: Path) -> None:
    written = []
    for number in range(3):
        sides = [[replace(page, name=f"{number}{place}") for place, page in enumerate(world.source)], world.target]
        if number == 2:
            rng = random.Random(8)
            sides = [[replace(page, name=f"{rng.random()}") for page in side] for side in sides]
        corpora = [
            open_documents(write_pages(tmp_path / f"{number}{side}", pages, shard_rows=7 + 30 * number))
            for side, pages in enumerate(sides)
        ]
        found = align_documents(*corpora, seed=5)
        places = [[str(place) for place in range(len(side))] for side in sides]
        write_document_pairs(tmp_path / f"{number}.tsv", named(found, *places))
        written.append((tmp_path / f"{number}.tsv").read_bytes())
    assert written[0] == written[1] == written[2]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"weights": {"word": 1.0}}, "'word'; did you mean 'words'"),
        ({"weights": {"words": -1.0}}, "the weight of 'words' is -1.0"),
        ({"weights": {"words": float("nan")}}, "the weight of 'words' is nan"),
        ({"weights": {"words": 0.0}}, "no evidence has a weight"),
        ({"how": "one-to-two"}, "'how' is 'one-to-two'; did you mean 'one-to-one'"),
        ({"by": "margins"}, "'by' is 'margins'; did you mean 'margin'"),
        ({"threshold": float("nan")}, "'threshold' is no number"),
        ({"candidates": 0}, "'candidates' must be 1 or more"),
        ({"rounds": -1}, "'rounds' 0 or more"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        align_documents(documents(["a"]), documents(["b"]), DocumentsConfig(**settings))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("source", "target"),
    [([], []), ([], ["a 1"]), (["a 1"], []), (["", " \n "], ["", ""]), (["a b"], ["c d"]), (["", "a"], ["b"])],
)
@pytest.mark.parametrize("evidence", list(EVIDENCE))
def test_where_nothing_is_shared_there_is_no_pair(source: list[str], target: list[str], evidence: str) -> None:
    if evidence == "topics":
        pytest.importorskip("tomotopy", reason="topics need tomotopy: pip install 'paraloom[topics]'")
    found = align_documents(documents(source), documents(target), DocumentsConfig(weights=EVIDENCE[evidence]))
    assert len(found) == 0 and found.knowledge is None


def test_empty_documents_and_copies_beside_others(world: World) -> None:
    """Of two copies one is paired at most, and neither takes another document's counterpart."""
    true = {target: source for source, target in world.gold}
    first = next(page for page in world.target if page.name in true)
    source = [*world.source, Page("empty", "kl", ""), Page("blank", "kl", " \n\n ")]
    target = [Page("nothing", "en", ""), *world.target, replace(first, name="copy")]
    found = pairs_of(source, target)
    assert found in (world.gold, world.gold - {(true[first.name], first.name)} | {(true[first.name], "copy")})


def test_a_very_long_document_beside_short_ones(world: World) -> None:
    lines = [line for page in world.source for line in page.text.split("\n")]
    others = [line for page in world.target for line in page.text.split("\n")]
    rng = random.Random(3)
    long = [
        Page("long", lang, "\n".join(rng.choices(each, k=100_000))) for lang, each in (("kl", lines), ("en", others))
    ]
    found = pairs_of([*world.source, long[0]], [long[1], *world.target])
    assert found - {("long", "long")} == world.gold


def within(world: World, pairs: Sequence[NamedPair], **settings: object) -> list[Aligned]:
    source = documents([page.text for page in world.source], [page.translation for page in world.source], prefix="s")
    target = documents([page.text for page in world.target], prefix="t")
    return list(align_within(source, target, pairs, AlignerConfig(**settings)))  # type: ignore[arg-type]


def numbered(world: World) -> list[NamedPair]:
    places = [{page.name: place for place, page in enumerate(side)} for side in (world.source, world.target)]
    return sorted(NamedPair(f"s{places[0][a]}", f"t{places[1][b]}") for a, b in world.gold)


def test_beads_stay_in_their_pair_and_hold_what_the_documents_say(world: World) -> None:
    pairs = numbered(world)
    right = total = 0
    for found, pair in zip(within(world, pairs), pairs, strict=True):
        source, target = world.source[int(pair.source[1:])], world.target[int(pair.target[1:])]
        assert found.pair == pair
        assert list(found.texts.source) == source.text.split("\n"), "the original, not its translation"
        assert list(found.texts.target) == target.text.split("\n")
        for side, text in ((0, found.texts.source), (1, found.texts.target)):
            assert [place for bead in found.beads for place in bead[side]] == list(range(len(text)))
        made = source.translation.split("\n")
        gold = {(i, found.texts.target.index(line)) for i, line in enumerate(made) if line in found.texts.target}
        linked = {(i, j) for bead in found.beads for i in bead.source for j in bead.target}
        right, total = right + len(linked & gold), total + len(linked | gold)
    assert right / total > 0.95


def test_what_another_aligner_knows_can_be_given(world: World) -> None:
    source, target = (documents([page.text for page in side]) for side in (world.source, world.target))
    paired = align_documents(source, target)
    assert paired.knowledge is not None
    pairs = list(named(paired, source.ids, target.ids))
    known = list(align_within(source, target, pairs, knowledge=paired.knowledge))
    learned = list(align_within(source, target, pairs))
    same = sum(a.beads[k][:2] == b.beads[k][:2] for a, b in zip(known, learned, strict=True) for k in (0, 1))
    assert same / (2 * len(pairs)) > 0.9


def test_without_pairs_there_is_nothing_to_align(world: World) -> None:
    assert within(world, []) == []


def test_names_that_cannot_be_found_are_errors(world: World) -> None:
    with pytest.raises(DataError, match="there is no document 's99' in the corpus"):
        within(world, [NamedPair("s99", "t0")])
    with pytest.raises(DataError, match="there is no document 's0' in the corpus"):
        within(world, [NamedPair("s0", "s0")])
    twice = replace(documents(["a", "b", "c"]), ids=["d", "d", "e"])
    with pytest.raises(DataError, match="several documents 'd'"):
        list(align_within(twice, documents(["a"]), [NamedPair("d", "d0")]))
    assert len(list(align_within(twice, documents(["a"]), [NamedPair("e", "d0")]))) == 1
    with pytest.raises(ConfigError, match="'most' is 0"):
        within(world, [], most=0)


def test_a_translation_with_other_lines_names_its_documents() -> None:
    source, target = documents(["a\nb"], ["x"]), documents(["x\ny"])
    with pytest.raises(DataError, match="d0, d0: the source has 2 sentences, its translation 1 has 1"):
        list(align_within(source, target, [NamedPair("d0", "d0")]))


def test_empty_documents_give_beads_of_one_side_or_none() -> None:
    source, target = documents(["", "a b\nc d"]), documents(["", "x y"])
    found = list(align_within(source, target, [NamedPair("d0", "d0"), NamedPair("d1", "d0"), NamedPair("d0", "d1")]))
    assert [[bead[:2] for bead in each.beads] for each in found] == [[], [((0,), ()), ((1,), ())], [((), (0,))]]


def test_sentences_of_a_very_long_document_are_aligned_with_a_short_one_s() -> None:
    source = documents(["\n".join(f"word {place % 97}" for place in range(100_000)), "a 1\nb 2\nc 3"])
    target = documents(["word 3\nother 5", "x 1\ny 2\nz 3"])
    pairs = [NamedPair(f"d{place}", f"d{place}") for place in range(2)]
    long, short = align_within(source, target, pairs, AlignerConfig(rounds=1))
    assert sum(len(bead.source) for bead in long.beads) == 100_000
    assert [bead[:2] for bead in short.beads] == [((place,), (place,)) for place in range(3)]


def test_pairs_are_written_and_read_again(tmp_path: Path) -> None:
    found = DocumentPairs(np.array([0, 1]), np.array([1, 0]), np.array([0.5, 1 / 3]), np.array([0.25, -0.1]), None)
    write_document_pairs(tmp_path / "pairs.tsv.gz", named(found, ["a", "b"], ["ü 1", "y"]))
    read = read_document_pairs(tmp_path / "pairs.tsv.gz")
    assert read == [NamedPair("a", "y", 0.5, 0.25), NamedPair("b", "ü 1", 0.3333, -0.1)]


@pytest.mark.parametrize("line", ["b", "b\t", "\tx", "b\tx\thigh", "b x"])
def test_a_line_that_is_no_pair_is_named_with_its_row(tmp_path: Path, line: str) -> None:
    (tmp_path / "gold.tsv").write_text(f"a\tx\n\n{line}\n")
    with pytest.raises(DataError, match=r"gold\.tsv, row 3: .* is no pair of documents"):
        read_document_pairs(tmp_path / "gold.tsv")


@pytest.mark.parametrize("name", ["", "a\tb", "a\nb"])
def test_a_name_that_a_line_cannot_hold_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="no name that such a file can hold"):
        write_document_pairs(tmp_path / "pairs.tsv", [NamedPair("a", "b"), NamedPair(name, "x")])
    assert not list(tmp_path.iterdir())
