"""A made-up language pair whose translations are known: Kal puts the adjective behind its noun and the verb last."""

from __future__ import annotations

import random
from functools import partial

from paraloom.api.alignment import align as align_texts
from paraloom.mt.config import TranslatorConfig

align = partial(align_texts, encoder=None)
"""Alignment by what texts say alone."""

NOUNS = {
    "dog": "rako",
    "cat": "mili",
    "house": "tavo",
    "tree": "selu",
    "bird": "piro",
    "child": "numa",
    "river": "olva",
}
ADJECTIVES = {"big": "gor", "small": "nin", "old": "vet", "red": "sha", "quiet": "mur"}
VERBS = {"sees": "dasat", "likes": "fenat", "finds": "kirat", "wants": "lovat"}


def sentence(rng: random.Random) -> tuple[str, str]:
    """One pair, Kal and English: `rako gor mili nin dasat` is `the big dog sees the small cat`."""
    subject, object_ = rng.sample(sorted(NOUNS), 2)
    first, second = (rng.choice([*sorted(ADJECTIVES), None]) for _ in range(2))
    verb = rng.choice(sorted(VERBS))
    english, kal = ["the"], []
    for noun, adjective, end in ((subject, first, [verb, "the"]), (object_, second, [])):
        english += [*([adjective] if adjective else []), noun, *end]
        kal += [NOUNS[noun], *([ADJECTIVES[adjective]] if adjective else [])]
    return " ".join([*kal, VERBS[verb]]), " ".join(english)


def bitext(count: int, seed: int = 1) -> list[tuple[str, str]]:
    """`count` pairs, Kal first."""
    rng = random.Random(seed)
    return [sentence(rng) for _ in range(count)]


def toy_bitext(count: int, seed: int = 1) -> list[tuple[list[str], list[str]]]:
    """The same as batches of 100 (source sentences, target sentences), as training takes them."""
    pairs = bitext(count, seed)
    return [([s for s, _ in part], [t for _, t in part]) for part in (pairs[i : i + 100] for i in range(0, count, 100))]


TOY_CONFIG = TranslatorConfig(
    vocab_size=80,
    d_model=48,
    heads=2,
    encoder_layers=1,
    decoder_layers=1,
    ffn_dim=64,
    dropout=0.0,
    subword_sampling=0.0,
    muon_learning_rate=0.02,
    full_softmax_share=0.3,
    steps=300,
    batch_tokens=900,
    warmup_steps=30,
    ema_decay=0.9,
    sampled_softmax_size=20,
    evaluate_every=100,
)
"""Sizes that learn the made-up pair in seconds."""
