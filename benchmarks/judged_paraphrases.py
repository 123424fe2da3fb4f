"""Are kept paraphrases right? Keeps paraphrases of unpicked sentences, and mixes those of several versions for readers.

    export PARALOOM_DATA=/path/to/corpora PAIRS=build/paraphrase-pairs   # of examples/paraphrase_pairs.py
    python benchmarks/judged_paraphrases.py read -o readings.tsv
    python benchmarks/judged_paraphrases.py keep now -o build/judged
    python benchmarks/judged_paraphrases.py keep before --model runs/older/paraphraser -o build/judged
    python benchmarks/judged_paraphrases.py draw -o build/judged
    python benchmarks/judged_paraphrases.py count build/judged reader-1.tsv reader-2.tsv

None of the six kinds of text is what the paraphraser was trained on. `read` writes kind, sentence and paraphrase of
text whose licenses permit distributing it: the best paraphrase, probable or not. A reader adds a column `right`.

`keep` takes other sentences, and keeps what the presets keep. `draw` writes sheet.tsv: an identifier, sentence and
paraphrase, shuffled, of `strict` and, fewer, of what `loose` alone keeps, of each version. key.tsv and yields.json say
which version kept what. A reader writes a table with the columns id, right, good and different,
each 1, 0 or ?: the meaning is the same (nothing lost, added or changed); it is English that a careful writer could have
written (faults of the sentence do not count); more differs than punctuation, case, an article or a contraction.
`count --page FILE` puts the table into a file of docs/explanations/results.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import os
import random
import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from blind_sheets import draw_sheet, identifier, rows_of, share, table, write_table
from results_pages import read_topic, write_pages, write_topic

from paraloom.api.paraphrase_sources import as_paraphraser, open_selector
from paraloom.evaluate.paraphrase_sets import is_test_image
from paraloom.io import read_lines
from paraloom.pairs.filtering.held_out import is_held_out
from paraloom.paraphrasing.edits import Edit, english_words
from paraloom.paraphrasing.selection_config import CandidateSelection

KINDS = {
    "everyday": ("test.tsv", 0),
    "captions": ("sentences-en/captions.flickr8k-part.txt.xz", 0),
    "questions": ("sentences-en/questions.simplequestions-wikiqa-trecqa.txt.xz", 0),
    "news": ("sentences-en/news.nltk-abc.txt.xz", 0),
    "help": ("bitext/phpmyadmin-docs/de-en.tsv.gz", -1),
    "science": ("sentences-en/answers.student-beetle-sciEntsBank.txt.xz", 0),
}
"""Kind of text → file and column; everyday sentences are those of the held-out pairs."""

FREE_KINDS = KINDS | {
    "captions": ("paraphrase/coco-captions/captions.tsv.gz", -1),
    "questions": ("sentences-en/questions.opentrivia.txt.xz", 0),
    "news": ("simplewiki/asset.test.tsv.gz", 0),
    "help": ("bitext/asvs/fr-en.tsv.gz", -1),
}
"""The same of text whose licenses permit distributing it: Tatoeba (CC BY 2.0 FR), captions of COCO that no paraphraser
is trained on (CC BY 4.0), OpenTriviaQA and OWASP's ASVS (CC BY-SA 4.0), Wikipedia in place of news and student answers
(CC BY-SA 3.0)."""

HEADING = "Are kept paraphrases right?"

PRESETS = ("strict", "loose")

QUESTIONS = ("right", "good", "different")
"""What a reader answers about a pair."""

Pair = tuple[str, str]


def sentences(kind: str, rows: int, seed: int, free: bool) -> list[str]:
    """Unpicked sentences of 6 to 20 words, none of which is in the pairs; those of free text are others."""
    data, pairs = Path(os.environ["PARALOOM_DATA"]), Path(os.environ["PAIRS"])
    name, column = (FREE_KINDS if free else KINDS)[kind]
    lines = ([*line.split("\t")] for line in read_lines(str((pairs if kind == "everyday" else data) / name)))
    kept = {
        cells[column] for cells in lines
        if 6 <= len(cells[column].split()) <= 20
        and is_held_out(cells[column], 0.5) == free
        and not (name.startswith("paraphrase/coco") and not is_test_image(cells[0]))
    }  # fmt: skip
    seen = {cell for file in ("text", "edited", "human", "captions") for line in read_lines(str(pairs / f"{file}.tsv"))
            for cell in line.split("\t") if cell in kept}  # fmt: skip
    unseen = sorted(kept - seen)
    random.Random(f"{kind} {seed}").shuffle(unseen)
    return unseen[:rows]


def changes(pairs: Sequence[Pair]) -> str:
    """The shares of outputs that are copies, that differ in a contraction alone, and in more."""
    edits = [Edit.between(*map(english_words, pair)) for pair in pairs]
    copies = sum(text == output for text, output in pairs)
    same = sum(not (edit.lost or edit.new or edit.functional or edit.reordered) for edit in edits)
    content = sum(bool(edit.lost or edit.new or (edit.reordered and not edit.functional)) for edit in edits)
    counts = {"copies": copies, "contractions or marks": same - copies, "content or order": content}
    return ", ".join(f"{number} {name}" for name, number in counts.items())


def read(rows: int, seed: int, output: Path) -> None:
    """Write the best paraphrase of each sentence of free text, however improbable, for a reader."""
    paraphraser, selector = as_paraphraser("english"), open_selector("loose", judge=None, language="en")
    selector.config = replace(selector.config, probability=0.15)
    pairs = list[tuple[str, str, str]]()
    for kind in FREE_KINDS:
        texts = sentences(kind, 3 * rows, seed, free=True)
        groups = paraphraser.paraphrase(texts, n=CandidateSelection.candidates)
        kept = selector.select(texts, groups, 1).kept
        pairs += [(kind, text, best[0].text) for text, best in zip(texts, kept, strict=True) if best][:rows]
    write_table(output, ("kind", "sentence", "paraphrase"), pairs)


def keep(version: str, model: str, rows: int, seed: int, output: Path) -> None:
    """Write the best paraphrase of each sentence that each preset keeps, null where it keeps none."""
    kept: dict[str, dict[str, list[list[str | None]]]] = {preset: {} for preset in PRESETS}
    paraphraser = as_paraphraser(model)
    selectors = {preset: open_selector(preset, judge=None, language="en") for preset in PRESETS}
    for kind in KINDS:
        texts, start = sentences(kind, rows, seed, free=False), time.process_time()
        groups = paraphraser.paraphrase(texts, n=CandidateSelection.candidates)
        seconds = {"candidates": time.process_time() - start}
        firsts = [group[0].text for group in groups]
        print(f"{kind}, most probable: {changes([*zip(texts, firsts, strict=True)])}", flush=True)
        for preset, selector in selectors.items():
            start = time.process_time()
            best = [group[0].text if group else None for group in selector.select(texts, groups, 1).kept]
            seconds[preset] = time.process_time() - start
            kept[preset][kind] = [list(one) for one in zip(texts, best, strict=True)]
            differing = changes([(text, one) for text, one in zip(texts, best, strict=True) if one])
            print(f"{kind}, {preset}: {sum(map(bool, best))} of {len(texts)}: {differing}", flush=True)
        print(f"{kind}: " + ", ".join(f"{name} {value:.1f} s" for name, value in seconds.items()), flush=True)
    output.mkdir(parents=True, exist_ok=True)
    (output / f"kept-{version}.json").write_text(json.dumps(kept, ensure_ascii=False, indent=1), encoding="utf-8")


def draw(folder: Path, cell: int, fewer: int, earlier: list[Path]) -> None:
    """Write the sheet of all versions, the key, and how many sentences each kept a paraphrase of.

    A sentence of which a paraphrase stands in an earlier key is left out for all versions.
    """
    rows, yields, pairs = list[list[str]](), list[dict[str, Any]](), dict[str, Pair]()
    of_versions = {
        path.stem.removeprefix("kept-"): json.loads(path.read_text("utf-8"))
        for path in sorted(folder.glob("kept-*.json"))
    }
    known = {row["id"] for path in earlier for row in table(path)}
    read = {
        src for kept in of_versions.values() for of_kind in kept.values() for ones in of_kind.values()
        for src, tgt in ones if tgt and identifier(src, tgt) in known
    }  # fmt: skip
    for name, kept in of_versions.items():
        for kind in KINDS:
            unread = {preset: [one for one in kept[preset][kind] if one[0] not in read] for preset in PRESETS}
            strict, loose = ({src: tgt for src, tgt in unread[preset] if tgt} for preset in PRESETS)
            total = len(unread["strict"])
            alone = {src: tgt for src, tgt in loose.items() if src not in strict}
            yields += [
                {"version": name, "preset": preset, "kind": kind, "kept": len(of), "of": total}
                for preset, of in (("strict", strict), ("loose alone", alone))
            ]
            for preset, of, limit in (("strict", strict, cell), ("loose alone", alone, fewer)):
                for pair in [*of.items()][:limit]:
                    pairs[identifier(*pair)] = pair
                    rows.append([identifier(*pair), kind, preset, name])
    draw_sheet(folder, ("id", "sentence", "paraphrase"), pairs, (("id", "kind", "preset", "version"), rows))
    (folder / "yields.json").write_text(json.dumps(yields, indent=1), encoding="utf-8")


def count(folder: Path, sheets: list[Path]) -> tuple[list[str], list[list[str]]]:
    """The table: the share of sentences with a kept paraphrase, and of what was read the shares of each answer."""
    readers = [
        {one: [row[name].strip() == "1" for name in QUESTIONS] for one, row in rows_of(sheet).items()}
        for sheet in sheets
    ]
    key, yields = table(folder / "key.tsv"), json.loads((folder / "yields.json").read_text("utf-8"))
    rows = []
    for version, preset in dict.fromkeys((row["version"], row["preset"]) for row in key):
        for kind in (*KINDS, "all"):
            kinds = [kind] if kind in KINDS else list(KINDS)
            of_cell = {"version": version, "preset": preset}
            ids = [row["id"] for row in key if row["kind"] in kinds and of_cell.items() <= row.items()]
            kept = [one for one in yields if one["kind"] in kinds and of_cell.items() <= one.items()]
            cells = [preset, version, kind, f"{sum(one['kept'] for one in kept)} of {sum(one['of'] for one in kept)}"]
            cells.append(str(len(ids)))
            for reader in readers:
                if unread := set(ids) - reader.keys():
                    raise SystemExit(f"{len(unread)} pairs were not read, such as {min(unread)}")
                answers = [reader[one] for one in ids]
                cells += [share([one[number] for one in answers]) for number in range(len(QUESTIONS))]
                cells.append(share([all(one) for one in answers]))
            rows.append(cells)
    names = [f"{name}, reader {n}" for n in range(1, len(sheets) + 1) for name in (*QUESTIONS, "all three")]
    return ["preset", "version", "kind of text", "kept", "read", *names], rows


def right_of_different(folder: Path, sheets: list[Path]) -> str:
    """A contraction is right at no risk: what is right of the paraphrases that differ in more."""
    parts = []
    key = table(folder / "key.tsv")
    for version, preset in dict.fromkeys((row["version"], row["preset"]) for row in key):
        ids = {row["id"] for row in key if (row["version"], row["preset"]) == (version, preset)}
        read = [[row for row in table(sheet) if row["id"] in ids and row["different"] == "1"] for sheet in sheets]
        shares = (share([row["right"] == "1" for row in rows]) + f" of {len(rows)}" for rows in read)
        parts.append(f"{preset}, {version}: {' and '.join(shares)}")
    return f"Right of those that differ, by reader: {'; '.join(parts)}."


def write_page(path: Path, command: str, columns: list[str], rows: list[list[str]], differing: str) -> None:
    """Replace the table and its text in a file of results."""
    topic = read_topic(path)
    commit = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=True
    ).stdout
    result = {
        "heading": HEADING,
        "text": [
            "Unpicked sentences of 6 to 20 words of six kinds of text, none of which the paraphraser was trained on; "
            "of each the best paraphrase that `strict` keeps, and of the others the best that `loose` keeps. "
            "Readers, all language models, saw both without knowing which version and preset kept it. *Right* "
            "is what says the same; *good* is English that a careful writer could have written; *different* is where "
            "more changes than punctuation, case, an article or a contraction. No sentence, weight or threshold was "
            "chosen by this sample. `strict` then asked for a difference of a tenth of the words, now of a twentieth.",
            differing,
        ],
        "command": [
            "python benchmarks/judged_paraphrases.py keep now -o build/judged",
            "python benchmarks/judged_paraphrases.py draw -o build/judged",
            command,
        ],
        "commit": commit.strip(),
        "date": str(datetime.date.today()),
        "version": importlib.metadata.version("paraloom"),
        "machine": "cores",
        "seeds": "1",
        "columns": columns,
        "align": "lllrr" + "r" * (len(columns) - 5),
        "rows": [row for row in rows if row[1] != "before" or row[2] == "all"],
    }
    results = [result if one.get("heading") == HEADING else one for one in topic["results"]]
    write_topic(path, topic | {"results": results})
    write_pages()


def main() -> None:
    """Write pairs to read, fit, keep paraphrases, draw a sheet, or count what readers wrote."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    for name, rows in (("read", 40), ("keep", 300), ("draw", 60)):
        command = commands.add_parser(name)
        if name == "keep":
            command.add_argument("version")
            command.add_argument("--model", default="english", help="paraphraser (default: %(default)s)")
        command.add_argument("--rows", type=int, default=rows, help="of each kind of text (default: %(default)s)")
        command.add_argument("--seed", type=int, default=1)
        command.add_argument("-o", "--output", type=Path, default=Path("build/judged"))
    commands.choices["draw"].add_argument("--fewer", type=int, default=20, help="of what `loose` alone keeps")
    commands.choices["draw"].add_argument(
        "--read", type=Path, nargs="*", default=[], help="keys of earlier sheets, whose sentences are left out"
    )
    counting = commands.add_parser("count")
    counting.add_argument("folder", type=Path)
    counting.add_argument("sheets", type=Path, nargs="+")
    counting.add_argument("--page", type=Path)
    options = parser.parse_args()
    if options.command == "read":
        read(options.rows, options.seed, options.output)
    elif options.command == "keep":
        keep(options.version, options.model, options.rows, options.seed, options.output)
    elif options.command == "draw":
        draw(options.output, options.rows, options.fewer, options.read)
    else:
        columns, rows = count(options.folder, options.sheets)
        for cells in (columns, ["---"] * len(columns), *rows):
            print(f"| {' | '.join(cells)} |")
        print(differing := right_of_different(options.folder, options.sheets))
        if options.page:
            sheets = " ".join(map(str, options.sheets))
            command = f"python benchmarks/judged_paraphrases.py count {options.folder} {sheets} --page {options.page}"
            write_page(options.page, command, columns, rows, differing)


if __name__ == "__main__":
    main()
