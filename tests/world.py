"""A made-up language pair whose translations are known: Kal puts the adjective behind its noun and the verb last."""

from __future__ import annotations

import random

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
