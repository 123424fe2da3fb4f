"""Sentences whose trees are known: one event as a plain sentence, with the adverb first, or in the passive."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa

from paraloom.core.schema import PAIRS, add_column
from paraloom.io import write_corpus

NOUNS = ("dog", "cat", "bird", "child", "horse")
VERBS = {"sees": "seen", "likes": "liked", "finds": "found", "wants": "wanted"}
ADVERBS = ("today", "often", "here")
FORMS = ("plain", "fronted", "passive")
TEMPLATES = {
    "plain": "(S (NP) (VP) (.))",
    "fronted": "(S (ADVP) (,) (NP) (VP) (.))",
    "passive": "(S (NP) (VP) (.))",
}


def tree(form: str, subject: str, verb: str, object_: str, adverb: str) -> str:
    """The tree of an event in one of the forms."""
    first, second = (f"(NP (DT the) (NN {noun}))" for noun in (subject, object_))
    late = f"(ADVP (RB {adverb}))"
    if form == "plain":
        return f"(S {first} (VP (VBZ {verb}) {second} {late}) (. .))"
    if form == "fronted":
        return f"(S {late} (, ,) {first} (VP (VBZ {verb}) {second}) (. .))"
    passive = f"(VP (VBZ is) (VP (VBN {VERBS[verb]}) (PP (IN by) {first}) {late}))"
    return f"(S {second} {passive} (. .))"


def text_of(bracketed: str) -> str:
    """The words of a tree."""
    return " ".join(piece.rstrip(")") for piece in bracketed.split() if not piece.startswith("("))


def tree_pairs(count: int, seed: int = 1) -> list[tuple[str, str]]:
    """Trees of two different forms of one event."""
    rng = random.Random(seed)
    pairs = []
    for _ in range(count):
        subject, object_ = rng.sample(NOUNS, 2)
        event = (subject, rng.choice(sorted(VERBS)), object_, rng.choice(ADVERBS))
        one, other = rng.sample(FORMS, 2)
        pairs.append((tree(one, *event), tree(other, *event)))
    return pairs


def write_parsed_pairs(folder: Path, count: int, seed: int = 1) -> Path:
    """A corpus of such pairs with their trees."""
    trees = tree_pairs(count, seed)
    rows = [
        {
            **{"pair_id": f"toy:{number}", "src": text_of(one), "tgt": text_of(other)},
            **{"src_lang": "en", "tgt_lang": "en", "origin": "toy"},
        }
        for number, (one, other) in enumerate(trees, 1)
    ]
    batch = pa.RecordBatch.from_pylist(rows, schema=PAIRS)
    for name, column in zip(("src_parse", "tgt_parse"), zip(*trees, strict=True), strict=True):
        batch = add_column(batch, name, pa.array(column, pa.string()), "known")
    write_corpus(folder, [batch], kind="PAIRS")
    return folder


def write_treebank(path: Path) -> Path:
    """A file of such trees, to train a parser on."""
    path.write_text("".join(f"{one}\n" for pair in tree_pairs(100) for one in pair), encoding="utf-8")
    return path


TOY_SIZES = {
    "vocab_size": 110,
    "d_model": 48,
    "heads": 2,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "ffn_dim": 64,
    "dropout": 0.0,
    "subword_sampling": 0.0,
    "muon_learning_rate": 0.02,
    "steps": 300,
    "batch_tokens": 900,
    "warmup_steps": 30,
    "ema_decay": 0.9,
    "sampled_softmax_size": 0,
    "evaluate_every": 100,
    "held_out": 50,
}
"""Settings of a paraphraser that trains in seconds."""
