"""A judge from labeled pairs of text: tokens, training, calibration on pairs that were set aside, export."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Float32s, Floats
from paraloom.core.batches import batched
from paraloom.core.devices import default_device, parse_device
from paraloom.core.errors import DataError
from paraloom.pairs.judging.network import OUTPUTS, JudgeNetwork, JudgeShape, from_bert
from paraloom.pairs.judging.training import UNKNOWN, JudgeConfig, TokenPairs, logits_of, train

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MIN_PAIRS = 50
"""Fewest right pairs, and fewest wrong ones, that a judge is trained on."""

_KEPT = 0.5
_SET_ASIDE = 20
_BATCH = 32
_TEXTS = 10_000
_TEACHER_EPOCHS = 4.0


@dataclass(frozen=True)
class JudgedPairs:
    sources: Sequence[str]  # First sides
    targets: Sequence[str]  # Second sides
    labels: npt.NDArray[np.uint8]  # uint8 `(n, outputs)`, in the order of `OUTPUTS`: 0, 1 or `UNKNOWN`
    weights: Float32s  # float32 `(n,)`

    def check(self) -> None:
        """Check that there are enough right and wrong pairs."""
        for label, what in ((1, "right"), (0, "wrong")):
            count = int((self.labels[:, 0] == label).sum())
            if count < MIN_PAIRS:
                raise DataError(
                    f"a judge needs {MIN_PAIRS} {what} pairs or more, got {count}",
                    remedy="Label more pairs, or add pairs made by rule: `paraloom make lookalikes`.",
                )


@dataclass(frozen=True)
class Base:
    """What a judge starts from: a large transformer of the family of BERT, or another judge."""

    tokenizer: Mapping[str, Any]  # Content of tokenizer.json, with the tokens that are kept
    special_tokens: Mapping[str, str]  # Special tokens by role: `pad_token`, `cls_token` and `sep_token`
    # Tensors by the names that BERT gives them, the embeddings of the kept tokens among them.
    weights: Mapping[str, Float32s] = field(default_factory=dict)
    heads: int = 1  # Number of heads of attention
    judge: JudgeNetwork | None = None  # The judge whose training continues, instead of weights and heads

    def network(self, layers: int, seed: int) -> JudgeNetwork:
        import torch

        if self.judge is not None:
            return self.judge
        words, places = (self.weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position"))
        hidden = len(self.weights["encoder.layer.0.intermediate.dense.weight"])
        torch.manual_seed(seed)
        shape = JudgeShape(len(words), layers, words.shape[1], self.heads, hidden, min(256, len(places)))
        network = JudgeNetwork(shape)
        from_bert(network, dict(self.weights))
        return network


def token_pairs(pairs: JudgedPairs, tokenizer: Tokenizer, max_tokens: int) -> TokenPairs:
    """Pairs as token lists; each text is stored once."""
    numbers: dict[str, int] = {}
    for text in (*pairs.sources, *pairs.targets):
        numbers.setdefault(text, len(numbers))
    lists = [
        np.array(encoding.ids[:max_tokens], np.uint16)
        for texts in batched(numbers, _TEXTS)  # All encodings at once would take gigabytes.
        for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)
    ]
    return TokenPairs(
        tokens=np.concatenate([*lists, np.zeros(0, np.uint16)]),
        offsets=np.cumsum([0, *(len(ids) for ids in lists)], dtype=np.int64),
        sides=np.array([[numbers[a], numbers[b]] for a, b in zip(pairs.sources, pairs.targets, strict=True)], np.int32),
        labels=pairs.labels,
        weights=pairs.weights,
    )


def fit_judge(
    pairs: JudgedPairs, base: Base, config: JudgeConfig, folder: Path, *, layers: int = 3, teacher_layers: int = 0
) -> dict[str, float]:
    """Train a judge and write its folder; with `teacher_layers`, a larger one first, whose values teach it, too.

    Every twentieth pair, by its first side, is set aside: it calibrates the probabilities, and the area under the ROC
    curve is measured on it. The weights of a judge that is trained further are the mean of those before and after,
    which loses less of what it knew. See Wortsman et al. 2022 (robust fine-tuning), Section 3, for the mean of the
    weights.
    """
    import torch
    from tokenizers import Tokenizer

    from paraloom.pairs.judging.export import SPECIAL_TOKENS, export_judge

    pairs.check()
    tokenizer = Tokenizer.from_str(json.dumps({**base.tokenizer, "padding": None, "truncation": None}))
    ids = [tokenizer.token_to_id(base.special_tokens[name]) for name in SPECIAL_TOKENS]
    special = (int(ids[0] or 0), int(ids[1] or 0), int(ids[2] or 0))
    device = torch.device(str(parse_device(default_device()).parts()[0]))
    network = base.network(layers, config.seed).to(device)
    tokens = token_pairs(pairs, tokenizer, min(config.max_length, network.shape.positions))
    hashes = (hashlib.sha256(text.lower().encode()).digest() for text in pairs.sources)
    aside = np.array([one[0] % _SET_ASIDE == 0 for one in hashes])
    learned, soft = tokens.take(~aside), None
    read = partial(logits_of, special=special, batch=_BATCH, max_length=config.max_length)
    if teacher_layers:
        teacher = base.network(teacher_layers, config.seed).to(device)
        train(teacher, learned, special, replace(config, epochs=_TEACHER_EPOCHS))
        soft = read(teacher, learned)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    loss = train(network, learned, special, config, soft=soft)
    if base.judge is not None:
        network.load_state_dict(
            {name: _KEPT * before[name] + (1 - _KEPT) * value for name, value in network.state_dict().items()}
        )
    held = tokens.take(aside)
    logits = read(network, held) if aside.any() else np.zeros((0, len(OUTPUTS)), np.float32)
    calibration = {name: calibrated(logits[:, index], held.labels[:, index]) for index, name in enumerate(OUTPUTS)}
    export_judge(network, base.tokenizer, base.special_tokens, folder, calibration=calibration)
    return {
        "pairs": len(pairs.sources) - int(aside.sum()),
        "set_aside": int(aside.sum()),
        "loss": round(loss, 4),
        "auc": round(area(logits[:, 0], held.labels[:, 0]), 4),
    }


def calibrated(logits: npt.NDArray[np.floating], labels: npt.NDArray[np.uint8]) -> tuple[float, float]:
    """Slope and shift of logits that give the likeliest probabilities, with a weak pull to 1 and 0 (Platt 1999)."""
    from scipy.optimize import minimize

    known = labels != UNKNOWN
    values, wanted = logits[known].astype(np.float64), labels[known].astype(np.float64)
    if len(set(wanted.tolist())) < 2:
        return 1.0, 0.0
    right = wanted.sum()
    targets = np.where(wanted == 1, (right + 1) / (right + 2), 1 / (len(wanted) - right + 2))

    def loss(parameters: Floats) -> float:
        scores = parameters[0] * values + parameters[1]
        fit = np.logaddexp(0, scores) - targets * scores
        return float(fit.sum() + (parameters[0] - 1) ** 2 + 0.1 * parameters[1] ** 2)

    slope, shift = minimize(loss, [1.0, 0.0], method="L-BFGS-B", bounds=[(0.02, 5), (-10, 10)]).x
    return round(float(slope), 4), round(float(shift), 4)


def area(values: npt.NDArray[np.floating], labels: npt.NDArray[np.uint8]) -> float:
    """Area under the ROC curve, NaN with one class; ties count half."""
    from scipy.stats import mannwhitneyu

    right, wrong = values[labels == 1], values[labels == 0]
    if not len(right) or not len(wrong):
        return float("nan")
    return float(mannwhitneyu(right, wrong, method="asymptotic").statistic) / (len(right) * len(wrong))
