"""Compare the speed of back-translation with a bare CTranslate2 loop and with transformers' generate.

    python benchmarks/decoding.py --translator runs/multi30k-cs-en/40-translator/artifact

All three use the same model, lines and machine.  Ours is the whole command, from its start to the finished Parquet
file.  The bare loop sorts all lines by length, decodes them on all cores in batches of the same size and writes lines
of text; its start and loading the model count as well.  generate decodes the first `--generate-lines` lines, sorted, in
batches of 64; loading does not count.  A shortlist is used by ours and by the bare loop; generate has none.
Ours and the bare loop alternate: the reported ratio is the median over pairs of runs.  The ratio of processor times is
printed as well, because it depends less on other load.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

from paraloom.mt import Translator, parse_decoding

DECODINGS = (
    *("beam:5", "beam:12", "nucleus:0.95"),
    *("beam:5,shortlist=1", "beam:12,shortlist=1", "nucleus:0.95,shortlist=1", "nucleus:0.95,within=50"),
)

BARE_LOOP = """
import sys
import ctranslate2
from paraloom.mt import Translator
from paraloom.mt.subwords import Subwords
folder, decode, source, target, cores = sys.argv[1:]
subwords = Subwords(Translator.load(folder).folder)
lines = open(source, encoding="utf-8").read().splitlines()
pieces = subwords.encode(lines)
order = sorted(range(len(pieces)), key=lambda i: -len(pieces[i]))
translator = ctranslate2.Translator(folder, inter_threads=int(cores), intra_threads=1)
options = Translator.load(folder, decode=decode).engine_options()
texts = [None] * len(lines)
for i, result in zip(order, translator.translate_batch([pieces[i] for i in order], **options)):
    texts[i] = result.hypotheses[0]
open(target, "w", encoding="utf-8").write("\\n".join(subwords.decode(texts)))
"""


class CommandTime(NamedTuple):
    """Seconds of a command: wall-clock time, and processor time with its workers."""

    wall: float
    processor: float


def command_time(command: list[str]) -> CommandTime:
    """Run a command, which must succeed."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return CommandTime(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def generate_seconds(checkpoint: Path, lines: list[str], decode: str) -> float:
    """Seconds that transformers takes to decode the lines with the same checkpoint, in float32."""
    import torch
    from transformers import MarianMTModel, MarianTokenizer

    model, tokenizer = MarianMTModel.from_pretrained(checkpoint).eval(), MarianTokenizer.from_pretrained(checkpoint)
    decoding = parse_decoding(decode)
    options = (
        {"num_beams": decoding.size}
        if not decoding.random
        else {"do_sample": True, "num_beams": 1, "top_p": decoding.p, "top_k": decoding.within}
    )
    ordered = sorted(lines, key=len)
    start_time = time.perf_counter()
    with torch.no_grad():
        for start in range(0, len(ordered), 64):
            rows = tokenizer(ordered[start : start + 64], return_tensors="pt", padding=True)
            tokenizer.batch_decode(model.generate(**rows, max_length=128, **options), skip_special_tokens=True)
    return time.perf_counter() - start_time


def main() -> None:
    """Print sentences per second and ratios for each decoding, then the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--translator", type=Path, required=True, help="a trained translator, Czech to English")
    parser.add_argument("--lines", type=int, default=29000, help="lines to translate (default: %(default)s)")
    parser.add_argument("--generate-lines", type=int, default=1000, help="lines for generate (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each (default: %(default)s)")
    parser.add_argument("--decode", nargs="+", default=DECODINGS, help="decodings to measure")
    arguments = parser.parse_args()

    captions = Path(os.environ["PARALOOM_DATA"]) / "bitext/multi30k/task1"
    sides = {
        language: gzip.decompress((captions / f"train.{language}.gz").read_bytes()).decode().splitlines()
        for language in ("cs", "en")
    }
    folder = Translator.load(arguments.translator).folder
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for language, lines in sides.items():
            text = "".join(f"{line}\n" for line in lines[: arguments.lines])
            (Path(scratch) / f"train.{language}").write_text(text, encoding="utf-8")
        for decode in arguments.decode:
            generate = generate_seconds(
                arguments.translator / "huggingface", sides["cs"][: arguments.generate_lines], decode
            )
            ours: list[CommandTime] = []
            bare: list[CommandTime] = []
            for number in range(arguments.runs):
                command = [sys.executable, "-m", "paraloom.cli.main", "backtranslate", f"{scratch}/train.{{cs,en}}"]
                command += ["--translator", str(arguments.translator), "--decode", decode]
                ours.append(command_time([*command, "-o", f"{scratch}/{number}-{len(rows)}.parquet"]))
                loop = [sys.executable, "-c", BARE_LOOP, str(folder), decode, f"{scratch}/train.cs"]
                bare.append(command_time([*loop, f"{scratch}/bare.txt", str(os.cpu_count())]))
            ratios = [theirs.wall / mine.wall for mine, theirs in zip(ours, bare, strict=True)]
            row = {
                "decode": decode,
                "ours": arguments.lines / median(run.wall for run in ours),
                "bare_ctranslate2": arguments.lines / median(run.wall for run in bare),
                "paraphrasing": arguments.generate_lines / generate,
                "ours_over_bare": median(ratios),
                "ratios": [round(ratio, 3) for ratio in ratios],
                "processor_ratio": sum(run.processor for run in bare) / sum(run.processor for run in ours),
            }
            row["ours_over_generate"] = row["ours"] / row["paraphrasing"]
            rows.append(row)
            print(
                f"{decode:<24} ours {row['ours']:7.0f}/s   bare CTranslate2 {row['bare_ctranslate2']:7.0f}/s   "
                f"generate {row['generate']:6.0f}/s   ours/generate {row['ours_over_generate']:5.1f}   ours/bare "
                f"{row['ours_over_bare']:.2f} {row['ratios']}   by processor time {row['processor_ratio']:.2f}",
                flush=True,
            )
    print(json.dumps({"lines": arguments.lines, "runs": arguments.runs, "rows": rows}))


if __name__ == "__main__":
    main()
