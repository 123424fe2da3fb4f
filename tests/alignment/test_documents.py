"""Documents of two made-up languages paired, and their sentences aligned within the pairs; unusual corpora, too."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from toy_documents import Page, World, documents, made_up_world, write_pages

from paraloom.alignment.aligner_config import AlignerConfig
from paraloom.alignment.document_features import Documents, open_documents
from paraloom.alignment.document_pairs import DocumentPair, read_document_pairs, write_document_pairs
from paraloom.alignment.documents import EVIDENCE, DocumentAlignerConfig, DocumentAlignment, align_documents
from paraloom.alignment.images import ImageKey
from paraloom.alignment.within_documents import AlignedDocuments, align_within
from paraloom.core.errors import ConfigError, DataError

Names = set[tuple[str, str]]


def paired(source: Sequence[Page], target: Sequence[Page], *, translated: bool = False, **settings: object) -> Names:
    translations = [page.translation for page in source] if translated else None
    alignment = align_documents(
        documents([page.text for page in source], translations, [page.images for page in source]),
        documents([page.text for page in target], None, [page.images for page in target]),
        DocumentAlignerConfig(**settings),  # type: ignore[arg-type]
    )
    return {(source[i].name, target[j].name) for i, j in zip(alignment.sources, alignment.targets, strict=True)}


@pytest.fixture(scope="module")
def world() -> World:
    return made_up_world()


@pytest.mark.parametrize("translated", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
def test_all_true_pairs_are_found_and_no_others(translated: bool, seed: int) -> None:
    """54 pairs, and six documents on each side without a counterpart, which share no word with any other."""
    world = made_up_world(seed=seed, twins=0, strangers=True)
    assert paired(world.source, world.target, translated=translated) == world.gold


def test_few_documents_are_paired_by_chance() -> None:
    """All true pairs are found, near-twins among them; of four times six documents alone, some resemble another one.

    One in twenty is paired, measured over 32 worlds: more than six of 24 have a binomial probability of 0.0001.
    """
    chance = 0
    for seed in range(4):
        world = made_up_world(seed=seed)
        aligned = paired(world.source, world.target)
        assert aligned >= world.gold
        chance += len(aligned) - len(world.gold)
    assert chance <= 6


def test_translations_of_the_target_help_as_well(world: World) -> None:
    alignment = align_documents(
        documents([page.text for page in world.target]),
        documents([page.text for page in world.source], [page.translation for page in world.source]),
        DocumentAlignerConfig(rounds=0),
    )
    rows = zip(alignment.targets, alignment.sources, strict=True)
    assert {(world.source[i].name, world.target[j].name) for i, j in rows} >= world.gold


@pytest.mark.slow
def test_texts_are_taken_as_documents(world: World) -> None:
    source, target = [page.text for page in world.source], [page.text for page in world.target]
    pairs = align_documents(source, target).pairs()
    assert {(world.source[int(pair.source)].name, world.target[int(pair.target)].name) for pair in pairs} == world.gold
    with pytest.raises(TypeError, match="expected a list of sentences, got the string 'one text'"):
        align_documents("one text", target)


@pytest.mark.parametrize("assignment", ["mutual", "best"])
@pytest.mark.slow
def test_other_assignments_find_the_pairs_too(world: World, assignment: str) -> None:
    assert paired(world.source, world.target, assignment=assignment) == world.gold


def test_the_rounds_learn_a_lexicon(world: World) -> None:
    """Without a lexicon only the few names and numbers are shared."""
    before = paired(world.source, world.target, rounds=0, threshold=0.0)
    assert len(before & world.gold) < 50
    assert paired(world.source, world.target, rounds=1, threshold=0.0) & world.gold > before & world.gold


@pytest.mark.parametrize(("evidence", "min_correct"), [("words", 54), ("scores", 36), ("all", 54)])
@pytest.mark.slow
def test_each_preset_of_evidence(world: World, evidence: str, min_correct: int) -> None:
    pairs = paired(world.source, world.target, translated=True, weights=EVIDENCE[evidence])
    assert len(pairs & world.gold) >= min_correct


def test_topics_alone(world: World) -> None:
    pytest.importorskip("tomotopy", reason="topics need tomotopy: pip install 'paraloom[topics]'")
    pairs = paired(world.source, world.target, translated=True, weights=EVIDENCE["topics"], rounds=0)
    assert len(pairs & world.gold) >= 48


def test_images_alone_pair_documents_that_show_the_same_image(world: World) -> None:
    assert paired(world.source, world.target, weights=EVIDENCE["pictures"]) == set()
    showing = sorted(world.gold)[:10]
    images = {name: [ImageKey(f"{number}", None)] for number, pair in enumerate(showing) for name in pair}
    source, target = (
        [replace(page, images=images.get(page.name, [])) for page in side] for side in (world.source, world.target)
    )
    assert paired(source, target, weights=EVIDENCE["pictures"]) == set(showing)


def test_a_weight_of_zero_is_no_weight(world: World) -> None:
    pairs = [
        paired(world.source, world.target, rounds=0, weights=weights)
        for weights in ({"words": 1.0}, {"words": 1.0, "pictures": 0.0, "topics": 0.0, "length": 0.0})
    ]
    assert pairs[0] == pairs[1]


@pytest.mark.parametrize("measure", ["margin", "score"])
@pytest.mark.slow
def test_the_threshold_is_on_the_margin_or_the_score(world: World, measure: str) -> None:
    sides = documents([page.text for page in world.source]), documents([page.text for page in world.target])
    every = align_documents(*sides, DocumentAlignerConfig(rounds=1, threshold_on=measure, threshold=-9))
    values = every.margins if measure == "margin" else every.scores
    threshold = float(np.median(values))
    alignment = align_documents(*sides, DocumentAlignerConfig(rounds=1, threshold_on=measure, threshold=threshold))
    assert alignment.sources.tolist() == every.sources[values >= threshold].tolist()


@pytest.mark.slow
def test_names_do_not_matter_and_the_same_seed_gives_the_same_bytes(world: World, tmp_path: Path) -> None:
    written = []
    for number in range(3):
        sides = [[replace(page, name=f"{number}{row}") for row, page in enumerate(world.source)], world.target]
        if number == 2:
            rng = random.Random(8)
            sides = [[replace(page, name=f"{rng.random()}") for page in side] for side in sides]
        corpora = [
            open_documents(write_pages(tmp_path / f"{number}{side}", pages, shard_rows=7 + 30 * number))
            for side, pages in enumerate(sides)
        ]
        alignment = align_documents(*corpora, seed=5)
        rows = [[str(row) for row in range(len(side))] for side in sides]
        alignment = replace(alignment, source_ids=rows[0], target_ids=rows[1])
        write_document_pairs(tmp_path / f"{number}.tsv", alignment.pairs())
        written.append((tmp_path / f"{number}.tsv").read_bytes())
    assert written[0] == written[1] == written[2]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weights": {"word": 1.0}}, "unknown evidence 'word'; did you mean 'words'"),
        ({"weights": {"words": -1.0}}, "the weight of 'words' must be 0 or more, not -1.0"),
        ({"weights": {"words": float("nan")}}, "the weight of 'words' must be 0 or more, not nan"),
        ({"weights": {"words": 0.0}}, "all evidence has weight 0"),
        ({"assignment": "one-to-two"}, "unknown assignment 'one-to-two'; did you mean 'one-to-one'"),
        ({"threshold_on": "margins"}, "margin or score, not 'margins'; did you mean 'margin'"),
        ({"threshold": float("nan")}, "'threshold' must be a number"),
        ({"max_candidates": 0}, "'max_candidates' must be 1 or more, not 0"),
        ({"rounds": -1}, "'rounds' must be 0 or more, not -1"),
    ],
)
def test_settings_out_of_range_are_errors(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        align_documents(documents(["a"]), documents(["b"]), DocumentAlignerConfig(**settings))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("source", "target"),
    [([], []), ([], ["a 1"]), (["a 1"], []), (["", " \n "], ["", ""]), (["a b"], ["c d"]), (["", "a"], ["b"])],
)
@pytest.mark.parametrize("evidence", sorted(EVIDENCE.keys() - {"encoder", "scores"}))
def test_documents_that_share_nothing_are_not_paired(source: list[str], target: list[str], evidence: str) -> None:
    if evidence == "topics":
        pytest.importorskip("tomotopy", reason="topics need tomotopy: pip install 'paraloom[topics]'")
    config = DocumentAlignerConfig(weights=EVIDENCE[evidence])
    alignment = align_documents(documents(source), documents(target), config)
    assert len(alignment) == 0 and alignment.aligner is None


def test_the_scores_of_multinews_compare_all_pairs() -> None:
    """They are of sizes and names: pages that share no word are paired, and a page without words is not."""
    config = DocumentAlignerConfig(weights=EVIDENCE["scores"], assignment="best")
    source, target = documents(["a b c\nd", "a", ""]), documents(["e", "", "f g h\ni"])
    alignment = align_documents(source, target, config)
    assert list(zip(alignment.sources.tolist(), alignment.targets.tolist(), strict=True)) == [(0, 2), (1, 0)]
    assert alignment.scores.tolist() == [2, 2] and alignment.aligner is None


@pytest.mark.slow
def test_empty_documents_and_duplicates_among_others(world: World) -> None:
    """Of two copies one is paired at most, and neither takes another document's counterpart."""
    gold = {target: source for source, target in world.gold}
    first = next(page for page in world.target if page.name in gold)
    source = [*world.source, Page("empty", "kl", ""), Page("blank", "kl", " \n\n ")]
    target = [Page("nothing", "en", ""), *world.target, replace(first, name="copy")]
    pairs = paired(source, target)
    assert pairs in (world.gold, world.gold - {(gold[first.name], first.name)} | {(gold[first.name], "copy")})


@pytest.mark.slow
def test_a_very_long_document_among_short_ones(world: World) -> None:
    rng = random.Random(3)
    source, target = (
        Page("long", lang, "\n".join(rng.choices([line for page in side for line in page.text.split("\n")], k=100_000)))
        for lang, side in (("kl", world.source), ("en", world.target))
    )
    pairs = paired([*world.source, source], [target, *world.target])
    assert pairs - {("long", "long")} == world.gold


def within(world: World, pairs: Sequence[DocumentPair], **settings: object) -> list[AlignedDocuments]:
    source = documents([page.text for page in world.source], [page.translation for page in world.source], prefix="s")
    target = documents([page.text for page in world.target], prefix="t")
    return list(align_within(source, target, pairs, AlignerConfig(**settings)))  # type: ignore[arg-type]


def gold_pairs(world: World) -> list[DocumentPair]:
    rows = [{page.name: row for row, page in enumerate(side)} for side in (world.source, world.target)]
    return sorted(DocumentPair(f"s{rows[0][a]}", f"t{rows[1][b]}") for a, b in world.gold)


@pytest.mark.slow
def test_beads_stay_within_their_pair_and_have_the_original_texts(world: World) -> None:
    pairs = gold_pairs(world)
    correct = total = 0
    for aligned, pair in zip(within(world, pairs), pairs, strict=True):
        source, target = world.source[int(pair.source[1:])], world.target[int(pair.target[1:])]
        assert aligned.pair == pair
        assert list(aligned.texts.source) == source.text.split("\n"), "the original, not its translation"
        assert list(aligned.texts.target) == target.text.split("\n")
        for side, text in ((0, aligned.texts.source), (1, aligned.texts.target)):
            assert [index for bead in aligned.beads for index in bead[side]] == list(range(len(text)))
        lines = source.translation.split("\n")
        gold = {(i, aligned.texts.target.index(line)) for i, line in enumerate(lines) if line in aligned.texts.target}
        linked = {(i, j) for bead in aligned.beads for i in bead.source for j in bead.target}
        correct, total = correct + len(linked & gold), total + len(linked | gold)
    assert correct / total > 0.95


def test_no_pairs_give_no_alignments(world: World) -> None:
    assert within(world, []) == []


def test_missing_and_duplicate_names_are_errors(world: World) -> None:
    with pytest.raises(DataError, match="document 's99' not found in the corpus"):
        within(world, [DocumentPair("s99", "t0")])
    with pytest.raises(DataError, match="document 's0' not found in the corpus"):
        within(world, [DocumentPair("s0", "s0")])
    duplicate = replace(documents(["a", "b", "c"]), ids=["d", "d", "e"])
    with pytest.raises(DataError, match="several documents of the corpus have the name 'd'"):
        list(align_within(duplicate, documents(["a"]), [DocumentPair("d", "d0")]))
    assert len(list(align_within(duplicate, documents(["a"]), [DocumentPair("e", "d0")]))) == 1
    with pytest.raises(ConfigError, match="'max_bead_size' must be from 1 to 15, not 0"):
        within(world, [], max_bead_size=0)


def test_a_translation_with_other_lines_names_its_documents() -> None:
    source, target = documents(["a\nb"], ["x"]), documents(["x\ny"])
    with pytest.raises(DataError, match="d0, d0: the source has 2 sentences, its translation 1 has 1"):
        list(align_within(source, target, [DocumentPair("d0", "d0")]))


def test_empty_documents_have_one_sided_beads_or_none() -> None:
    source, target = documents(["", "a b\nc d"]), documents(["", "x y"])
    pairs = [DocumentPair("d0", "d0"), DocumentPair("d1", "d0"), DocumentPair("d0", "d1")]
    beads = [[bead[:2] for bead in aligned.beads] for aligned in align_within(source, target, pairs)]
    assert beads == [[], [((0,), ()), ((1,), ())], [((), (0,))]]


@pytest.mark.slow
def test_sentences_of_a_very_long_and_a_short_document_are_aligned() -> None:
    source = documents(["\n".join(f"word {number % 97}" for number in range(100_000)), "a 1\nb 2\nc 3"])
    target = documents(["word 3\nother 5", "x 1\ny 2\nz 3"])
    pairs = [DocumentPair(f"d{number}", f"d{number}") for number in range(2)]
    long, short = align_within(source, target, pairs, AlignerConfig(rounds=1))
    assert sum(len(bead.source) for bead in long.beads) == 100_000
    assert [bead[:2] for bead in short.beads] == [((index,), (index,)) for index in range(3)]


def test_pairs_are_written_and_read_back(tmp_path: Path) -> None:
    alignment = DocumentAlignment(
        np.array([0, 1]),
        np.array([1, 0]),
        np.array([0.5, 1 / 3]),
        np.array([0.25, -0.1]),
        None,
        ["a", "b"],
        ["ü 1", "y"],
    )
    write_document_pairs(tmp_path / "pairs.tsv.gz", alignment.pairs())
    pairs = read_document_pairs(tmp_path / "pairs.tsv.gz")
    assert pairs == [DocumentPair("a", "y", 0.5, 0.25), DocumentPair("b", "ü 1", 0.3333, -0.1)]


@pytest.mark.parametrize("line", ["b", "b\t", "\tx", "b\tx\thigh", "b x"])
def test_a_malformed_line_is_named_with_its_row(tmp_path: Path, line: str) -> None:
    (tmp_path / "gold.tsv").write_text(f"a\tx\n\n{line}\n")
    with pytest.raises(DataError, match=r"gold\.tsv, row 3: expected a pair of documents"):
        read_document_pairs(tmp_path / "gold.tsv")


@pytest.mark.parametrize("name", ["", "a\tb", "a\nb"])
def test_a_name_that_a_line_cannot_hold_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="expected a document name without tabs and line breaks"):
        write_document_pairs(tmp_path / "pairs.tsv", [DocumentPair("a", "b"), DocumentPair(name, "x")])
    assert not list(tmp_path.iterdir())


class WordNumbers:
    """An encoder that knows the dictionary of a world: a word and its translation have the same random vector."""

    signature, dimension = "word numbers", 64

    def __init__(self, world: World) -> None:
        self.vectors: dict[str, np.ndarray] = {}
        draw = np.random.default_rng(0)
        for page in (*world.source, *world.target):
            words = [text.split() for text in (page.text, page.translation or page.text)]
            for word, translation in zip(*words, strict=False):
                vector = draw.normal(size=self.dimension).astype(np.float32)
                vector = self.vectors.setdefault(translation, self.vectors.get(word, vector))
                self.vectors.setdefault(word, vector)

    def encode(self, sentences):
        known = [[self.vectors[word] for word in text.split() if word in self.vectors] for text in sentences]
        return np.array([np.sum(vectors, axis=0) if vectors else np.zeros(64) for vectors in known], np.float32)


@pytest.mark.slow
def test_an_encoder_of_both_languages_is_evidence(world: World) -> None:
    encoder = WordNumbers(world)
    source, target = (
        Documents.from_texts([page.text for page in side], ids=[page.name for page in side], encoder=encoder)
        for side in (world.source, world.target)
    )
    alone = align_documents(source, target, DocumentAlignerConfig(weights=EVIDENCE["encoder"], rounds=0)).pairs()
    assert len({(pair.source, pair.target) for pair in alone} & world.gold) >= 54
    pairs = align_documents(source, target).pairs()
    assert len({(pair.source, pair.target) for pair in pairs} & world.gold) >= 54
    aligned = list(align_within(source, target, pairs[:3]))
    assert len(aligned) == 3
    assert all(item.texts.embeddings is not None for item in aligned)


def test_the_evidence_of_an_encoder_needs_one(world: World) -> None:
    with pytest.raises(ConfigError, match="'encoder' needs an encoder of both languages"):
        paired(world.source, world.target, weights=EVIDENCE["encoder"])
