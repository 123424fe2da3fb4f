"""Noise in training pairs: the same texts by seed and epoch, tags stay, shares are met, also after a resume."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rapidfuzz.distance import OSA
from toy_language import TOY_CONFIG, toy_bitext

from paraloom.core.digests import file_digest
from paraloom.core.errors import ConfigError
from paraloom.mt.noise import KINDS, add_noise
from paraloom.stages.paraphrasers import TrainParaphraser
from paraloom.stages.translators import TrainTranslator

SOURCES = [
    "<bt> Ein kleiner Hund läuft über die Wiese.",
    "Wo ist das?",
    "Nein",
    "zwei Männer sitzen am ufer und angeln, während die Sonne langsam untergeht.",
]
TARGETS = ["<bt> A small dog runs across the meadow.", "Where is that?", "No.", "two men sit by the water."]
PAIRS = list(zip(SOURCES, TARGETS, strict=True))
ALL = ("typos:0.5", "unpunctuated:0.5", "titlecase:0.3", "uppercase:0.3")


def noisy(
    *noise: str, pairs: list[tuple[str, str]] = PAIRS, seed: int = 1, epoch: int = 0, batch_rows: int = 3
) -> list[tuple[str, str]]:
    parts = (pairs[first : first + batch_rows] for first in range(0, len(pairs), batch_rows))
    batches = [([source for source, _ in part], [target for _, target in part]) for part in parts]
    changed = add_noise(batches, noise, seed, epoch, ("<bt>",))
    return [pair for sources, targets in changed for pair in zip(sources, targets, strict=True)]


def test_the_texts_of_a_seed() -> None:
    assert noisy(*ALL) == [
        ("<bt> Ein Kleiner Hund Läuft Über Die Wiese.", "<bt> A Small Dog Runs Across The Meadow."),
        ("Wo ist dds", "Where is that"),
        ("Nein", "No."),
        ("zwei Männer sitaen am ufer und angeln, während die Snone langsam untergeht.", "two men sit by the water."),
    ]
    assert noisy(*ALL, epoch=1)[0] == (
        "<bt> EIN KLEINER IHUND LÄUFT ÜBER DIE WIESE.",
        "<bt> A SMALL DOG RUNS ACROSS THE MEADOW.",
    )
    assert noisy(*ALL, seed=2)[2] == ("NENN", "NO.")


@pytest.mark.parametrize("batch_rows", [1, 2, 4])
def test_batches_do_not_matter(batch_rows: int) -> None:
    assert noisy(*ALL, batch_rows=batch_rows) == noisy(*ALL)


@pytest.mark.parametrize(
    ("noise", "source", "expected"),
    [
        ("uppercase", "<bt> die Straße ist 3 m breit", "<bt> DIE STRASSE IST 3 M BREIT"),
        ("titlecase", "<bt> don't  übertreib NATO ßa", "<bt> Don't  Übertreib NATO Ssa"),
        ("unpunctuated", "Was?! ", "Was?! "),
        ("unpunctuated", "Was ?!", "Was"),
        ("unpunctuated", "何ですか。", "何ですか"),
        ("unpunctuated", "...", "..."),
        ("typos", "7 a <bt> 42!", "7 a <bt> 42!"),  # no two letters side by side
        ("typos", "", ""),
    ],
)
def test_one_kind_of_noise(noise: str, source: str, expected: str) -> None:
    assert noisy(f"{noise}:1", pairs=[(source, "x.")])[0][0] == expected


def test_final_punctuation_goes_from_both_sides_or_none() -> None:
    assert noisy("unpunctuated:1")[1:3] == [("Wo ist das", "Where is that"), ("Nein", "No.")]


def test_a_typing_error_is_one_edit_in_the_source() -> None:
    """By the optimal string alignment distance of rapidfuzz; two letters that are the same make none when swapped."""
    samples = [noisy("typos:1", seed=seed) for seed in range(100)]
    assert all(target == expected for rows in samples for (_, target), expected in zip(rows, TARGETS, strict=True))
    for number, typos in ((0, 1), (1, 1), (2, 1), (3, 2)):
        distances = [OSA.distance(SOURCES[number], rows[number][0]) for rows in samples]
        assert max(distances) == typos and sum(distance > 0 for distance in distances) > 80
    assert len({rows[1][0] for rows in samples}) > 15


def test_shares_are_met() -> None:
    """Each kind by itself, of 4,000 pairs, to within five standard deviations."""
    for kind in KINDS:
        changed = noisy(f"{kind}:0.1", pairs=[("ein kurzer Satz.", "a short sentence.")] * 4000)
        count = sum(pair != ("ein kurzer Satz.", "a short sentence.") for pair in changed)
        assert abs(count - 400) < 5 * (4000 * 0.1 * 0.9) ** 0.5 + (kind == "typos") * 40


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        ("typo:0.1", "unknown kind 'typo'; did you mean 'typos'"),
        ("typos", "share above 0 and at most 1, not 'typos'"),
        ("typos:0", "not 'typos:0'"),
        ("typos:1.5", "not 'typos:1.5'"),
        ("typos:nan", "not 'typos:nan'"),
        ("uppercase:0.2", "each kind once"),
    ],
)
def test_what_is_no_noise(noise: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TrainTranslator(bitext=("a",), noise=("uppercase:0.1", noise))


def test_paraphrasers_have_none() -> None:
    with pytest.raises(ConfigError, match="'noise' would not fit the trees"):
        TrainParaphraser(pairs=("a",), noise=("typos:0.1",))


def test_without_noise_digests_are_what_they_were() -> None:
    plain, with_noise = TrainTranslator(bitext=("a",)), TrainTranslator(bitext=("a",), noise=("typos:0.1",))
    assert "noise" not in plain.configuration() and plain.digest() != with_noise.digest()


@pytest.mark.slow
@pytest.mark.parametrize("subword_sampling", [0.0, 0.4])
def test_a_resumed_training_has_the_same_noise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subword_sampling: float
) -> None:
    pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")
    pytest.importorskip("transformers", reason="training needs transformers: pip install 'paraloom[train]'")
    from paraloom.mt.trainer import Trainer
    from paraloom.mt.training import train_translator

    config = replace(
        TOY_CONFIG,
        steps=24,
        evaluate_every=8,
        subword_sampling=subword_sampling,
        plain_subword_share=0.5,
        noise=("typos:0.3", "uppercase:0.3"),
    )
    seen: list[tuple[int, int]] = []
    update = Trainer.update

    def train(name: str, stop: int = 0) -> None:
        def stopping(self: Trainer, batch: object, examples: object, pool: object) -> float:
            if stop and self.step == stop:
                raise KeyboardInterrupt
            seen.append((self.epoch, int(examples.ids.sum(dtype="int64"))))  # type: ignore[attr-defined]
            return update(self, batch, examples, pool)  # type: ignore[arg-type]

        with monkeypatch.context() as patch:
            patch.setattr(Trainer, "update", stopping)
            train_translator(lambda: toy_bitext(300), toy_bitext(50, seed=2), config, tmp_path / name, seed=5)

    train("whole")
    epochs = dict(seen)
    assert len(epochs) > 2 and len(set(epochs.values())) == len(epochs), "each epoch has noise of its own"
    with pytest.raises(KeyboardInterrupt):
        train("resumed", stop=19)
    train("resumed")
    assert dict(seen) == epochs
    for name in ("huggingface/model.safetensors", "curve.jsonl", "source.spm"):
        assert file_digest(tmp_path / "whole" / name) == file_digest(tmp_path / "resumed" / name), name
