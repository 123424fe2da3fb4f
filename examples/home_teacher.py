"""Tune a sentence encoder on free pairs, to be a better teacher for small ones.

    PARALOOM_DATA=/path/to/corpora python examples/home_teacher.py pairs build/pairs.tsv
    paraloom research decontaminate build/pairs.tsv --against TEST … -o build/clean.tsv
    PARALOOM_DATA=/path/to/corpora python examples/home_teacher.py train build/clean.tsv \\
        --base all-MiniLM-L6-v2/ -o runs/home-teacher

`pairs` writes lines of kind, sentence, paraphrase, and a hard negative where a rule applies: the paraphrase with one
fact changed (number, name, negation, quantifier, role, two words, a dropped phrase), or a wrong pair of PAWS. `train`
resumes where it was interrupted. Its loss: each side of a pair finds the other one among the sentences of a batch,
without those that `--guide` has nearer to it than its paraphrase (false negatives), and with a weight (`--order`) a
hard negative is less like the sentence than its paraphrase is, or less than all pairs of the batch (`--across`).
Weights between the start and the end are saved, and measured on those of STS-B's development pairs that no test has.

Reference:
    Solatorio 2024, "GISTEmbed" (the guide); Su 2022, "CoSENT" (the order); Wortsman et al. 2022, "Robust fine-tuning"
    (weights between start and end).
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from judge_changes import KINDS, Words, change
from paraphrase_pairs import captions, human, plain, rows
from safetensors.numpy import load_file
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from paraloom.core.batches import batches_by_length
from paraloom.core.devices import supports_bfloat16
from paraloom.core.digests import digest, file_digest
from paraloom.core.seeds import generator
from paraloom.embed.checkpoint import read_checkpoint, run_with_checkpoints, write_records
from paraloom.embed.encoder import open_encoder
from paraloom.embed.transformer_config import TransformerConfig
from paraloom.embed.transformer_network import network_of_bert, shape_of_bert
from paraloom.embed.transformer_store import NetworkEncoder, save_transformer
from paraloom.embed.transformer_training import DistillationLoss, TransformerTrainer, learning_rate_at
from paraloom.embed.transformer_vocabulary import read_teacher
from paraloom.evaluate.development import read_development
from paraloom.pairs.lookalikes import names_in

CAPS = {"tatoeba": 20_000, "split": 3_000, "advising": 1_000, "places": 1_000, "bible": 4_000, "captions": 8_000}
"""Kind → pairs at most."""
CHANGES = [kind for kind in KINDS if kind != "replaced"]
SETTINGS = ("steps", "batch", "learning_rate", "order", "across", "guide", "seed")
MAX_TOKENS = 32
TEMPERATURE = 0.05


def write_pairs(data: Path, output: Path) -> None:
    """Write the pairs with a hard negative each, where there is one."""
    of_kind = human(data) | {"captions": captions(data)}
    wrong: defaultdict[str, list[str]] = defaultdict(list)
    labeled = [(label, plain(a), plain(b)) for label, a, b in rows(data / "paraphrase/paws-wiki/dev.tsv.gz")]
    of_kind["paws"] = [(a, b) for label, a, b in labeled if label == "1"]
    for _, a, b in (row for row in labeled if row[0] == "0"):
        wrong[a].append(b)
    draw, lines = generator(1), list[tuple[str, ...]]()
    for kind, pairs in of_kind.items():
        chosen = random.Random(kind).sample(pairs, min(len(pairs), CAPS.get(kind, len(pairs))))
        words = Words(names_in([text for pair in chosen for text in pair]))
        for a, b in chosen:
            changed = [(f"{kind}:{how}", change(b, how, draw, words)) for how in CHANGES]
            known = [("paws", wrong[a].pop())] if wrong[a] else [one for one in changed if one[1]]
            name, negative = known[int(draw.integers(len(known)))] if known else (kind, "")
            lines.append((name, a, b, negative or ""))
    # Wrong pairs without a right one: the sentence itself takes its place.
    lines += [("paws", a, a, b) for a, others in wrong.items() for b in others]
    random.Random(1).shuffle(lines)
    clean = ["\t".join(" ".join(cell.split()) for cell in line) for line in lines]
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("".join(f"{line}\n" for line in clean), encoding="utf-8")


class FastEncoder(NetworkEncoder):
    """An encoder in 16 bits where the processor multiplies them."""

    def _encode_batch(self, ids: list[list[int]]) -> npt.NDArray[np.float32]:
        with torch.autocast("cpu", torch.bfloat16, enabled=supports_bfloat16()):
            return super()._encode_batch(ids)


def contrast(vectors: Tensor, guide: Tensor, hard: Any, weight: float, across: bool) -> DistillationLoss:
    """The loss of n pairs: `vectors` of both sides, then of hard negatives of the pairs `hard`; `guide` of sides."""
    units, count = functional.normalize(vectors, dim=1), len(guide) // 2
    sides, negatives = units[: 2 * count], units[2 * count :]
    cosines, before = sides @ sides.T, guide @ guide.T
    other = torch.arange(2 * count).roll(count)
    itself = torch.eye(2 * count, dtype=torch.bool)
    false = before > before[torch.arange(2 * count), other][:, None]
    false[torch.arange(2 * count), other] = False
    in_batch = functional.cross_entropy((cosines / TEMPERATURE).masked_fill(false | itself, -torch.inf), other)
    right = (sides[:count] * sides[count:]).sum(1)
    wrong = torch.stack([(sides[rows] * negatives).sum(1) for rows in (hard, hard + count)])
    if across:
        above = (wrong.ravel()[:, None] - right[None, :]) / TEMPERATURE
        ordered = torch.logsumexp(torch.cat([torch.zeros(1), above.ravel()]), 0)
    else:
        ordered = functional.softplus((wrong[0] - right[hard]) / TEMPERATURE).sum() / max(1, len(hard))
    return DistillationLoss(in_batch + weight * ordered, 0.0, float(in_batch.detach()), float(ordered.detach()))


def train(options: argparse.Namespace, data: Path) -> None:
    """Tune an encoder and save it, its curve, and each of the weights that were measured."""
    vocabulary, folder = read_teacher(options.base), Path(options.output)
    described = json.loads((options.base / "config.json").read_text(encoding="utf-8"))
    width = int(described["hidden_size"])
    linear = {"weight": np.eye(width, dtype=np.float32), "bias": np.zeros(width, np.float32)}
    network = network_of_bert(shape_of_bert(described, width), load_file(options.base / "model.safetensors"), linear)
    sides = list(zip(*list(rows(options.pairs))[: options.steps * options.batch], strict=True))[1:]
    encoder = open_encoder(options.guide or options.base, options.threads)
    guide = functional.normalize(torch.from_numpy(np.stack([encoder.encode(side) for side in sides[:2]])), dim=2)
    tokenizer = Tokenizer.from_str(json.dumps(vocabulary.tokenizer))
    tokenizer.enable_truncation(MAX_TOKENS)
    ids = [[np.array(one.ids, np.int32) for one in tokenizer.encode_batch(side)] for side in sides]
    has_hard = np.array([bool(text) for text in sides[2]]) & bool(options.order)
    lengths = np.array([max(len(side[i]) for side in ids) for i in range(len(sides[0]))])
    shared = {name: getattr(options, name) for name in ("steps", "learning_rate", "threads")}
    config = TransformerConfig(**shared, final_learning_rate=0.0)
    trainer = TransformerTrainer(config, network)
    start = {name: value.copy() for name, value in trainer.tensors.items() if name.startswith("parameters")}
    settings = {name: str(value) for name, value in vars(options).items() if name in SETTINGS}
    state = read_checkpoint(folder, trainer.tensors, signature := digest([settings, file_digest(options.pairs)]))
    development = read_development(data / "sts", "STS-B/dev?overlap=drop")

    def measure(**where: float) -> None:
        figures = development.figures(FastEncoder(network, vocabulary.tokenizer, options.threads))
        state.measure({**figures, **where}, state.epoch)
        print(state.curve[-2:], flush=True)

    def steps() -> Iterator[None]:
        if not state.step:
            measure()
        while state.step < options.steps:
            draw = generator(options.seed, state.epoch)
            shuffled = draw.permutation(len(lengths))
            of_length = batches_by_length(lengths[shuffled], options.batch)
            order = draw.permutation(len(of_length))
            while state.megabatch < len(order) and state.step < options.steps:
                rows = np.sort(shuffled[of_length[order[state.megabatch]]])
                hard = np.flatnonzero(has_hard[rows])
                known = torch.cat([guide[0, rows], guide[1, rows]])
                tokens = [side[i] for side in ids[:2] for i in rows] + [ids[2][i] for i in rows[hard]]
                state.step, state.megabatch = state.step + 1, state.megabatch + 1
                loss_of = partial(contrast, guide=known, hard=hard, weight=options.order, across=options.across)
                loss = trainer.minimize(tokens, loss_of, learning_rate_at(config, state.step), state.step)
                state.add_loss(float(loss.total.detach()))
                if state.step % max(1, options.steps // options.lines) == 0:
                    state.end_line(state.loss / state.steps, **{"in batch": loss.softmax, "order": loss.vector})
                    measure()
                    save_transformer(network, vocabulary, folder / f"step-{state.step}", settings)
                yield
            state.epoch, state.megabatch = state.epoch + 1, 0

    run_with_checkpoints(steps(), folder, state, trainer.tensors, signature, 60.0)
    trainer.close()
    end = {name: value.copy() for name, value in trainer.tensors.items() if name in start}
    for share in (0.25, 0.5, 0.75, 1.0):
        for name, value in start.items():
            trainer.tensors[name][...] = value + share * (end[name] - value)
        measure(share=share)
        save_transformer(network, vocabulary, folder / f"share-{share:g}", settings | {"share": share})
    write_records(folder, state.curve, shared)


def main() -> None:
    """Write pairs, or train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("pairs").add_argument("output", type=Path)
    training = commands.add_parser("train")
    training.add_argument("pairs", type=Path)
    training.add_argument("--base", type=Path, required=True, help="folder of a BERT with mean pooling")
    training.add_argument("--guide", help="encoder that finds false negatives (default: the base)")
    training.add_argument("-o", "--output", type=Path, required=True)
    numbers = {"steps": 300, "batch": 64, "threads": 1, "seed": 1, "lines": 3, "learning-rate": 3e-5, "order": 0.3}
    for name, value in numbers.items():
        training.add_argument(f"--{name}", type=type(value), default=value)
    training.add_argument("--across", action="store_true", help="hard negatives below all pairs of the batch")
    options, data = parser.parse_args(), Path(os.environ["PARALOOM_DATA"])
    write_pairs(data, options.output) if options.command == "pairs" else train(options, data)


if __name__ == "__main__":
    main()
