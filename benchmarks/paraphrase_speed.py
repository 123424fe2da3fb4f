"""Compare the speed of a paraphraser with transformers' generate on the same model.

    python benchmarks/paraphrase_speed.py paraphraser-en --lines 200 --rounds 3

Both decode the same subwords of the same sentences on the same machine, with beams of five: freely, and with ten
templates each (those of the model's training pairs that are commonest), of which the best paraphrase is kept. generate
reads the checkpoint in the model's folder in float32, and is given the templates as the beginning of what it writes;
sentences are sorted by length, in batches of `--batch-size`; a batch has one template, so that none of its rows is
padded. Loading does not count. Ours and generate alternate: the ratio is the median over rounds. Seconds are those of
the processor, on one core, so that other work on the machine counts little. A third figure is what `paraloom paraphrase
--template auto -n 10` does: parse the sentences, choose ten templates for each, decode, parse the paraphrases, and sort
them by the distance to their template; a fourth, for English, what it does by default: decode twenty candidates, and
select by `strict`, with rules, encoder and judge, other sentences in each round. A model without a checkpoint of
transformers (the bundled one) is timed alone. Sentences: `--input`, one a line, or questions of
$PARALOOM_DATA/paraphrase/quora-50k.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any

from public_paraphrases import read_paraphrase_set

from paraloom.api.paraphrase_sources import open_selector
from paraloom.api.paraphrasers import Paraphraser
from paraloom.api.paraphrasing import DEFAULT_N
from paraloom.evaluate.paraphrase_sets import draw_sentences
from paraloom.io.compression import read_lines
from paraloom.mt.subwords import PADDING, Subwords, read_vocabulary
from paraloom.paraphrasing.candidates import SelectingParaphraser, TemplateCandidates
from paraloom.paraphrasing.examples import source_text, target_prefix
from paraloom.paraphrasing.selection_config import CandidateSelection

BEAM = 5


class Generate:
    """transformers' generate with the checkpoint of a paraphraser."""

    def __init__(self, folder: Path, batch_size: int) -> None:
        import torch
        from transformers import MarianMTModel

        torch.set_num_threads(1)
        self.torch = torch
        self.model = MarianMTModel.from_pretrained(folder).eval()
        self.subwords = Subwords(folder)
        self.ids = {piece: number for number, piece in enumerate(read_vocabulary(folder))}
        self.batch_size = batch_size

    def paraphrase(self, texts: Sequence[str], template: str | None = None) -> list[str]:
        """The best paraphrase of each text; the template, or nothing, is forced before it."""
        (pieces,) = self.subwords.encode_target([target_prefix(template)])
        prefix = [self.ids[PADDING], *(self.ids[piece] for piece in pieces[:-1])]
        encoded = self.subwords.encode([source_text(text) for text in texts])
        rows = [[self.ids.get(piece, 1) for piece in row] for row in encoded]
        order = sorted(range(len(rows)), key=lambda index: len(rows[index]))
        results = [""] * len(rows)
        for start in range(0, len(order), self.batch_size):
            indices = order[start : start + self.batch_size]
            for index, text in zip(indices, self._batch([rows[index] for index in indices], prefix), strict=True):
                results[index] = text
        return results

    def _batch(self, rows: list[list[int]], prefix: list[int]) -> list[str]:
        torch, width = self.torch, max(map(len, rows))
        padding = self.ids[PADDING]
        source = torch.tensor([row + [padding] * (width - len(row)) for row in rows])
        with torch.no_grad():
            output: Any = self.model.generate(
                input_ids=source,
                attention_mask=(source != padding).long(),
                decoder_input_ids=torch.tensor([prefix] * len(rows)),
                num_beams=BEAM,
                max_new_tokens=3 * width,
            )
        pieces = list(self.ids)
        special = {self.ids[PADDING], 0}
        texts = [[pieces[number] for number in row[len(prefix) :].tolist() if number not in special] for row in output]
        return self.subwords.decode(texts)


def seconds(work: Callable[[], object]) -> float:
    """Seconds of the processor."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    """Print sentences a second and ratios, then the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paraphraser", type=Path, help="a folder of `paraloom train paraphraser`")
    parser.add_argument("--input", type=Path, help="sentences, one a line")
    parser.add_argument("--lines", type=int, default=200, help="sentences (default: %(default)s)")
    parser.add_argument("--templates", type=int, default=10, help="templates of each (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each (default: %(default)s)")
    parser.add_argument("--only", default="", help="tasks whose names have this (default: all)")
    parser.add_argument("--batch-size", type=int, default=64, help="of generate (default: %(default)s)")
    arguments = parser.parse_args()

    if arguments.input is not None:
        given = [line for line in read_lines(arguments.input) if line.strip()]
    else:
        questions = read_paraphrase_set(Path(os.environ["PARALOOM_DATA"]) / "paraphrase", "quora")
        given = [one.source for one in draw_sentences(questions, arguments.lines * arguments.rounds, seed=1)]
    groups = [given[start : start + arguments.lines] for start in range(0, len(given), arguments.lines)]
    groups = [group for group in groups if len(group) == len(groups[0])]
    sentences = groups[0]
    whole = Paraphraser.load(arguments.paraphraser)
    # Without its parser, nothing but the network works: what generate does, too.
    ours = Paraphraser(whole.translator, whole.settings, whole.templates)
    checkpoint = arguments.paraphraser / "huggingface"
    generate = Generate(checkpoint, arguments.batch_size) if checkpoint.is_dir() else None
    templates = [template for template, _ in whole.templates.most_common(arguments.templates)]
    repeated = [text for text in sentences for _ in templates]
    decode = f"beam:{BEAM}"
    tasks: dict[str, tuple[Callable[[], object], Callable[[], object] | None]] = {
        "free": (
            lambda: ours.candidates(sentences, n=1, decode=decode),
            None if generate is None else lambda: generate.paraphrase(sentences),
        ),
        f"{len(templates)} templates each": (
            lambda: ours.candidates(repeated, n=1, template=templates * len(sentences), decode=decode),
            None if generate is None else lambda: [generate.paraphrase(sentences, template) for template in templates],
        ),
    }
    if whole.parser is not None:
        tasks[f"auto, {len(templates)} each, parsed"] = (
            lambda: whole.candidates(sentences, n=len(templates), template="auto", decode=decode),
            None,
        )
    if whole.settings.language == "en":
        selecting = SelectingParaphraser(
            TemplateCandidates(whole),
            open_selector(CandidateSelection.preset, judge=None, language="en"),
            n=DEFAULT_N,
            candidates=CandidateSelection.candidates,
        )
        selecting.answer(["We left early because of the rain."])
        fresh = cycle(groups)  # what a selection finds of a sentence it keeps for the next time
        tasks[f"{CandidateSelection.preset}, selected"] = (lambda: selecting.answer(next(fresh)), None)
    # All start with their first sentence.
    ours.candidates(sentences[:1], n=1)
    whole.candidates(sentences[:1], n=1, template="auto")
    if generate is not None:
        generate.paraphrase(sentences[:1])
    rows: list[dict[str, Any]] = []
    for name, (mine, theirs) in ((name, task) for name, task in tasks.items() if arguments.only in name):
        pairs = [(seconds(mine), None if theirs is None else seconds(theirs)) for _ in range(arguments.rounds)]
        row: dict[str, Any] = {"task": name, "ours": len(sentences) / median(one for one, _ in pairs)}
        if theirs is not None:
            row["generate"] = len(sentences) / median(other for _, other in pairs if other is not None)
            row["ratios"] = [round(other / one, 2) for one, other in pairs if other is not None]
            row["ours_over_generate"] = median(row["ratios"])
        rows.append(row)
        line = f"{name:<28} ours {row['ours']:7.1f} sentences/s"
        if theirs is not None:
            line += f"   generate {row['generate']:7.1f}   "
            line += f"ours/generate {row['ours_over_generate']:5.2f} {row['ratios']}"
        print(line, flush=True)
    results = {"lines": len(sentences), "rounds": arguments.rounds, "cores": os.cpu_count(), "rows": rows}
    if generate is not None:
        results["same"] = agreement(ours, generate, sentences[:50])
        print(f"{results['same']:.0%} of free paraphrases are the same")
    print(json.dumps(results))


def agreement(ours: Paraphraser, generate: Generate, sentences: Sequence[str]) -> float:
    """Share of sentences of which both write the same, to see that they do the same work."""
    groups = ours.candidates(sentences, n=1, decode=f"beam:{BEAM}")
    pairs = zip(groups, generate.paraphrase(sentences), strict=True)
    return sum(group[0].text == text for group, text in pairs) / len(sentences)


if __name__ == "__main__":
    main()
