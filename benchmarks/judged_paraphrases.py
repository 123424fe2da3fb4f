"""Are kept paraphrases right? Draws unpicked sentences, paraphrases them with and without the judge, for blind readers.

    python benchmarks/judged_paraphrases.py draw --rows 60 --seed 7 -o build/judged
    python benchmarks/judged_paraphrases.py count build/judged reader-1.tsv reader-2.tsv

Reads captions, news, questions and answers about science of $PARALOOM_DATA/sentences-en, none of which the paraphraser
was trained on. `sheet.tsv` has each distinct pair of sentence and best paraphrase once, shuffled, and does not say
which selection kept it. A reader writes 1 (same meaning, good English), 0 or ? behind each; `key.json` has the answers.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from pathlib import Path

from paraloom.api.paraphrase_sources import as_paraphraser, open_selector
from paraloom.core.digests import digest
from paraloom.core.stats import wilson_interval
from paraloom.io import read_lines

KINDS = {
    "captions": "captions.flickr8k-part.txt.xz",
    "news": "news.nltk-abc.txt.xz",
    "questions": "questions.simplequestions-wikiqa-trecqa.txt.xz",
    "science": "answers.student-beetle-sciEntsBank.txt.xz",
}
"""Kind of text → file."""

SYSTEMS = {
    "english, cosine": ("english", "balanced", "none"),
    "english, judge": ("english", "balanced", None),
    "english, judge, strict": ("english", "strict", None),
    "round trip, cosine": ("round-trip:en-de,de-en,pivots=5", "balanced", "none"),
    "round trip, judge": ("round-trip:en-de,de-en,pivots=5", "balanced", None),
}
"""Name → paraphraser, preset, judge."""


def identifier(src: str, tgt: str) -> str:
    """A name of a pair by its content: verdicts hold for it alone."""
    return digest([src, tgt])[:16]


def verdicts_of(sheet: Path) -> dict[str, bool]:
    """Identifier → whether a reader called the pair right."""
    rows = (line.split("\t") for line in sheet.read_text("utf-8").splitlines())
    return {row[0]: row[1].strip() == "1" for row in rows}


def draw(rows: int, seed: int, output: Path) -> None:
    """Write the sheet and its key."""
    data, chance = Path(os.environ["PARALOOM_DATA"]) / "sentences-en", random.Random(seed)
    key: dict[str, dict[str, list[tuple[str, str] | None]]] = {}
    for kind, name in KINDS.items():
        lines = sorted({line for line in read_lines(str(data / name)) if 6 <= len(line.split()) <= 20})
        texts = chance.sample(lines, rows)
        key[kind] = {}
        paraphrasers = dict.fromkeys(name for name, _, _ in SYSTEMS.values())
        candidates = {name: as_paraphraser(name).paraphrase(texts, n=10) for name in paraphrasers}
        for system, (name, preset, judge) in SYSTEMS.items():
            kept = open_selector(preset, judge=judge, language="en").select(texts, candidates[name], 1).kept
            best = [group[0].text if group else None for group in kept]
            key[kind][system] = [
                None if output is None else (text, output) for text, output in zip(texts, best, strict=True)
            ]
            print(kind, system, sum(one is not None for one in key[kind][system]), "of", rows, flush=True)
    pairs = sorted({one for of_kind in key.values() for kept in of_kind.values() for one in kept if one})
    chance.shuffle(pairs)
    output.mkdir(parents=True, exist_ok=True)
    sheet = "".join(f"{identifier(src, tgt)}\t{src}\t{tgt}\n" for src, tgt in pairs)
    (output / "sheet.tsv").write_text(sheet, encoding="utf-8")
    (output / "key.json").write_text(json.dumps(key, ensure_ascii=False, indent=1), encoding="utf-8")


def count(folder: Path, sheets: list[Path]) -> None:
    """Print the share of kept sentences, and of right ones among them by each reader."""
    verdicts = [verdicts_of(sheet) for sheet in sheets]
    key = json.loads((folder / "key.json").read_text("utf-8"))
    readers = " | ".join(f"right, reader {number}" for number in range(1, len(sheets) + 1))
    print(f"| kind of text | selection | kept | {readers} |")
    print("| --- | --- | ---: |" + " ---: |" * len(sheets))
    for kind in (*key, "all"):
        for system in SYSTEMS:
            kept = [one for name in ([kind] if kind in key else key) for one in key[name][system]]
            read = [identifier(*one) for one in kept if one]
            cells = [f"{len(read)} of {len(kept)}"]
            for verdict in verdicts:
                if unread := [one for one in read if one not in verdict]:
                    raise SystemExit(
                        f"{len(unread)} pairs were not read: other models or texts than the verdicts are of"
                    )
                right = sum(verdict[one] for one in read)
                low, high = wilson_interval(right, len(read)) if read else (0.0, 1.0)
                cells.append(f"{right}: {100 * right / max(1, len(read)):.0f}% [{100 * low:.0f}, {100 * high:.0f}]")
            print(f"| {kind} | {system} | {' | '.join(cells)} |")


def main() -> None:
    """Draw a sheet, or count what readers wrote."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    drawing = commands.add_parser("draw")
    drawing.add_argument("--rows", type=int, default=60)
    drawing.add_argument("--seed", type=int, default=7)
    drawing.add_argument("-o", "--output", type=Path, default=Path("build/judged"))
    counting = commands.add_parser("count")
    counting.add_argument("folder", type=Path)
    counting.add_argument("sheets", type=Path, nargs="+")
    options = parser.parse_args()
    if options.command == "draw":
        draw(options.rows, options.seed, options.output)
    else:
        count(options.folder, options.sheets)


if __name__ == "__main__":
    main()
