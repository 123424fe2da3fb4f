"""Adequacy against diversity by decoding: several translations of each sentence, how good and how different they are.

    python benchmarks/frontier.py -o runs/frontier                      # the bundled de-en translator
    python benchmarks/frontier.py -o runs/frontier --decode beam:5,nbest=3 diverse:chrf,samples=32,nbest=3,weight=0.8

Each decoding translates German captions (Multi30k, test 2016) and sentences of Tatoeba that were held out of the
bundled translators.  Adequacy: chrF to the reference, mean over all translations of a sentence, and of its first
one; and the cost of the sentence given the translation, in nats per subword of the reverse translator (`--reverse`).
Diversity: i-BLEU and i-chrF among the translations.  95 % intervals over the sentences.

CTranslate2 has neither diversity groups of beams nor sampling above a minimum probability, so these are not among the
decodings.  Each decoding leaves a JSON in the folder; a run that was cut resumes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from mbr import captions, pairs_of_file, tatoeba

from paraloom.core.stats import Estimate, Moments
from paraloom.evaluate.diversity.lexical import group_overlaps
from paraloom.io.atomic import atomic_write
from paraloom.mt import Translator, translate_stream
from paraloom.text.utility import expected_utility

DECODINGS = (
    "beam:5,nbest=3",
    "beam:5,nbest=3,length_penalty=0",
    "beam:32,nbest=3",
    *(f"sampling,nbest=3,temperature={temperature}" for temperature in (0.3, 0.5, 0.7, 1.0)),
    *(f"topk:{k},nbest=3" for k in (5, 10)),
    *(f"nucleus:{p},nbest=3,within=50" for p in (0.5, 0.7, 0.9, 0.95)),
    "nucleus:0.95,nbest=3,within=50,samples=5",
    "mbr:chrf,samples=32,nbest=3,p=0.95,within=50",
    *(f"diverse:chrf,samples=32,nbest=3,weight={weight},within=50" for weight in (0.2, 0.5, 0.8)),
    "nucleus:0.95,nbest=32,within=50",
)
"""The last one is all samples that `mbr` and `diverse` choose of."""

TEXTS = {"captions": captions, "tatoeba": tatoeba}

CHUNK = 100


def measure(
    translator: Translator, reverse: Translator | None, pairs: list[tuple[str, str]], decode: str, options: Any
) -> dict[str, Any]:
    """Adequacy and diversity of one decoding."""
    sources = [source for source, _ in pairs]
    chunks = [sources[start : start + CHUNK] for start in range(0, len(sources), CHUNK)]
    start = time.process_time()
    stream = translate_stream(translator.with_decoding(decode), chunks, threads=options.threads, seed=options.seed)
    groups = [[variant.text for variant in group] for part in stream for group in part]
    seconds = time.process_time() - start
    flat = [text for group in groups for text in group]
    of_group = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    references = [[reference] for _, reference in pairs]
    chrf = [values.mean() for values in expected_utility(groups, references)]
    first = [values[0] for values in expected_utility([group[:1] for group in groups], references)]
    overlaps = group_overlaps(pa.array(flat, pa.large_string()), np.cumsum([0, *map(len, groups)]))
    figures = {
        "chrf": Moments.of(np.array(chrf)).estimate(),
        "first_chrf": Moments.of(np.array(first)).estimate(),
        "ibleu": Moments.of(overlaps.ibleu).estimate(),
        "ichrf": Moments.of(overlaps.ichrf).estimate(),
    }
    if reverse is not None:
        scored = reverse.score(flat, [sources[row] for row in of_group])
        costs = np.array([-logprob / tokens for logprob, tokens in scored])
        sums = np.bincount(of_group, costs, len(groups))
        figures["reverse_cost"] = Moments.of(sums / np.bincount(of_group, minlength=len(groups))).estimate()
    return {
        "decode": decode,
        "sentences": len(groups),
        "variants": len(flat) / len(groups),
        "distinct": sum(len(set(group)) for group in groups) / len(flat),
        "sentences_per_second": len(groups) / max(seconds, 1e-9),
        "signature": translator.signature_of(decode),
        **{name: estimate.to_dict() for name, estimate in figures.items()},
    }


def table(rows: list[dict[str, Any]]) -> str:
    """The rows of one text as Markdown, the least diverse first."""
    header = "decoding | translations | chrF of all | chrF of the first | cost of the source, nats | i-BLEU | i-chrF"
    header += " | distinct | sentences/s"
    out = [f"| {header} |", "| --- |" + " ---: |" * 8]
    for row in sorted(rows, key=lambda row: row["ibleu"]["value"]):
        cells = [
            f"`{row['decode']}`",
            f"{row['variants']:.1f}",
            *(cell(row.get(name)) for name in ("chrf", "first_chrf", "reverse_cost", "ibleu", "ichrf")),
            f"{100 * row['distinct']:.0f} %",
            f"{row['sentences_per_second']:.0f}",
        ]
        out.append("| " + " | ".join(cells) + " |")
    return "\n".join(out)


def cell(figure: dict[str, float] | None) -> str:
    """A figure with half of its 95 % interval."""
    if figure is None:
        return ""
    estimate = Estimate(figure["value"], figure["low"], figure["high"])
    return f"{estimate.value:.2f} ± {(estimate.high - estimate.low) / 2:.2f}"


def main() -> None:
    """Measure what is missing, a line for each, then print a table for each text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("translator", nargs="?", default="de-en", help="name or folder (default: %(default)s)")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the results")
    parser.add_argument("--reverse", default="en-de", help="translator back; '' for none (default: %(default)s)")
    parser.add_argument("--pairs", type=Path, nargs="*", help="files of two columns, source and reference")
    parser.add_argument("--texts", nargs="+", choices=TEXTS, default=TEXTS, help="without --pairs")
    parser.add_argument("--lines", type=int, default=300, help="pairs of each file (default: %(default)s)")
    parser.add_argument("--decode", nargs="+", default=DECODINGS, help="decodings to measure")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    translator = Translator.load(options.translator, check_costs=False)
    reverse = Translator.load(options.reverse, check_costs=False) if options.reverse else None
    texts = (
        {path.name: pairs_of_file(path, options.lines) for path in options.pairs}
        if options.pairs
        else {name: TEXTS[name](options.lines) for name in options.texts}
    )
    identity = {"model": translator.signature, "reverse": options.reverse, "lines": options.lines, "seed": options.seed}
    for name, pairs in texts.items():
        rows = []
        for decode in options.decode:
            path = options.output / name / f"{decode.replace(':', '-').replace(',', '-')}.json"
            if path.is_file() and (saved := json.loads(path.read_text(encoding="utf-8")))["identity"] == identity:
                rows.append(saved)
                continue
            rows.append(measure(translator, reverse, pairs, decode, options) | {"identity": identity})
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as temporary:
                temporary.write_text(json.dumps(rows[-1]) + "\n", encoding="utf-8")
            print(f"{name}: {decode}", file=sys.stderr, flush=True)
        print(f"\n{name}, {len(pairs)} sentences\n\n{table(rows)}", flush=True)


if __name__ == "__main__":
    main()
