"""Are the pairs right that the presets keep? Draws samples for blind readers, and makes the page of what they found.

    git archive a2b90fe4 src/paraloom/bundled | tar -x -C build
    PARALOOM_DATA=/path/to/corpora python benchmarks/gate_readings.py draw --before build/src/paraloom/bundled
    python benchmarks/gate_readings.py page build/gate READER_1.tsv READER_2.tsv --commit … --date …

`draw` translates texts of six kinds back with the bundled translators, none of which an earlier reading saw but the
quickstart's 400 sentences, and with those of another folder, applies each preset, and writes one sheet for all: each
drawn pair once, in random order, named by a hash; what `--read` has verdicts on is left out. A reader copies
`sheet.tsv` and fills in `meaning` (k: keeps the meaning, p: partly, w: wrong) and `copy` (y: nearly a copy, n).
`key.json` says which cells a pair is of. Translations and costs stay in the folder, so that another model or judge can
be drawn for in seconds. `page` writes its section of docs/explanations/results.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from blind_sheets import agreement, rows_of, write_table
from paraphrase_samples import COLUMNS, LABELS
from results_pages import FOLDER, read_topic, write_pages, write_topic
from translation_checks import held_out

import paraloom
from paraloom.bundled import PARAPHRASE_MODEL, SAMPLE, bundled_path
from paraloom.core.digests import digest
from paraloom.core.seeds import generator
from paraloom.core.stats import wilson_interval
from paraloom.pairs.scoring.paraphrase_model import ParaphraseModel

SEED = 50
"""No earlier sample has it."""
SIZE = 60
SURFACE = ("chrf", "ratio", "overlap", "bleu1", "mismatch", "meaning", "translation_cost")
TOPIC, HEADING = FOLDER / "kept-pairs.json", "Are the pairs right?"
SYSTEMS = ("before", "now")
TABLE = ("text", "all", "`strict`", "`balanced`", "`loose`")


def bitexts(data: Path) -> dict[str, list[dict[str, str]]]:
    """German–English rows; the translators know most of those of manuals, and none of the others, nor do teachers.

    Of help, what training holds out: other sentences of the same pages were learned.
    """
    quickstart = paraloom.read_pairs(SAMPLE, src_column="de", tgt_column="en", src_lang="de", tgt_lang="en").to_list()
    documentation = held_out(data)
    help_pages = [*documentation["LibreOffice help"], *documentation["GNOME help"]]
    rows = {
        "quickstart": quickstart,
        "captions": [
            *paraloom.read_pairs(data / "bitext/multi30k/task1/val.{de,en}.gz").to_list()[300:],
            *paraloom.read_pairs(data / "bitext/multi30k/task1/test_2016_flickr.{de,en}.gz").to_list(),
        ],
        "news": paraloom.read_pairs(data / "bitext/wmt-news/de-en.tsv.gz", limit=16_958).to_list()[11_375:],
        "manuals": paraloom.read_pairs(data / "bitext/debian-handbook/de-en.tsv.gz").to_list(),
        "talks": paraloom.read_pairs(data / "bitext/ted-sample/de-en.tsv.gz").to_list(),
        "help": [{"src": source, "tgt": target} for source, target in help_pages],
    }
    return {
        kind: [{"src": row["src"], "tgt": row["tgt"], "src_lang": "de", "tgt_lang": "en"} for row in of_kind]
        for kind, of_kind in rows.items()
    }


def translated(kind: str, rows: list[dict[str, str]], limit: int, translators: Path, file: Path) -> paraloom.Pairs:
    """Back-translations with costs and surface scores, from the file if it is there."""
    if not file.is_file():
        chosen = generator(SEED, 0).permutation(len(rows))[:limit]
        short = [rows[index] for index in sorted(chosen.tolist()) if 4 <= len(rows[index]["tgt"].split()) <= 40]
        pairs = paraloom.backtranslate(short, str(translators / "de-en"), decode="beam:12")
        pairs.score(SURFACE, reverse_translator=str(translators / "en-de")).write(file)
    return paraloom.read_pairs(file)


def kept(pairs: paraloom.Pairs) -> dict[str, list[dict[str, Any]]]:
    """Cell → rows that a preset keeps."""
    bundled = bundled_path(PARAPHRASE_MODEL)
    assert bundled is not None
    scored = pairs.score(["judge"], paraphrase_model=bundled)
    presets = ParaphraseModel.load(bundled).presets
    return {"all": pairs.to_list(), **{name: scored.filter(one.where).to_list() for name, one in presets.items()}}


def draw(data: Path, before: Path, folder: Path, limit: int, verdicts: Sequence[Path]) -> None:
    """Write the sheet and its key."""
    folder.mkdir(parents=True, exist_ok=True)
    chosen: dict[str, tuple[str, str]] = {}
    key: dict[str, Any] = {}
    own = bundled_path("de-en")
    assert own is not None
    for kind, rows in bitexts(data).items():
        key[kind] = {"cells": {}}
        for system, translators in zip(SYSTEMS, (before, own.parent), strict=True):
            cells = kept(translated(kind, rows, limit, translators, folder / f"{kind}-{system}.parquet"))
            total = key[kind]["rows"] = len(cells["all"])
            # One order for all cells: what two presets keep is read once.
            order = {row["pair_id"]: number for number, row in enumerate(shuffled(cells["all"], 1))}
            for cell, of_cell in cells.items():
                sample = sorted(of_cell, key=lambda row: order[row["pair_id"]])[:SIZE]
                pairs = {digest([row["src"], row["tgt"]])[:16]: (row["src"], row["tgt"]) for row in sample}
                chosen |= pairs
                key[kind]["cells"][f"{cell}, {system}"] = {"kept": len(of_cell), "pairs": list(pairs)}
                print(
                    f"{kind}, {cell}, {system}: {len(of_cell):,} of {total:,} ({len(of_cell) / total:.1%})", flush=True
                )
    seen = set.intersection(*(set(rows_of(path, "number")) for path in verdicts)) if verdicts else set()
    names = shuffled(sorted(set(chosen) - seen), 2)
    write_table(folder / "sheet.tsv", COLUMNS, [(name, *chosen[name], "", "") for name in names])
    (folder / "key.json").write_text(json.dumps(key, indent=1), encoding="utf-8")
    print(f"{len(names):,} of {len(chosen):,} pairs to read: {folder / 'sheet.tsv'}")


def shuffled(items: Sequence[Any], number: int) -> list[Any]:
    """Items in an order of their own by the seed."""
    return [items[index] for index in generator(SEED, number).permutation(len(items)).tolist()]


def cell(verdicts: Mapping[str, dict[str, str]], names: Sequence[str]) -> str:
    """Share of pairs that keep the meaning, with Wilson's interval."""
    right = sum(verdicts[name]["meaning"] == "k" for name in names)
    low, high = wilson_interval(right, len(names))
    return f"{right / len(names):.0%} [{100 * low:.0f}, {100 * high:.0f}]"


def page(folder: Path, sheets: Sequence[Path], origin: Mapping[str, str]) -> None:
    """Write the section of the results, and print the table."""
    readers = [rows_of(sheet, "number") for sheet in sheets]
    key = json.loads((folder / "key.json").read_text(encoding="utf-8"))
    rows = []
    for kind, of_kind in key.items():
        rows.append([kind])
        for column in TABLE[1:]:
            name = column.strip("`")
            of_cell = of_kind["cells"][f"{name}, {SYSTEMS[1]}"]
            names = of_cell["pairs"]
            unread = sum(reader.get(one, {}).get("meaning") not in LABELS for reader in readers for one in names)
            if unread:
                raise SystemExit(f"{kind}, {name}: {unread} verdicts are missing")
            shares = dict.fromkeys(cell(reader, names) for reader in readers)
            right = f": {', '.join(shares)} of {len(names)}" if names else ""
            rows[-1].append(f"{of_cell['kept'] / of_kind['rows']:.1%}{right}")
            copies = [reader[one]["copy"] == "y" for reader in readers for one in names]
            print(f"{kind}, {name}: {sum(copies) / max(1, len(copies)):.0%} near copies")
    names = sorted(set.intersection(*(set(reader) for reader in readers)))
    first, second = ([reader[name]["meaning"] for name in names] for reader in readers[:2])
    topic = read_topic(TOPIC)
    section = next(one for one in topic["results"] if one.get("heading") == HEADING)
    section |= {**origin, "columns": list(TABLE), "align": "l" * len(TABLE), "rows": rows}
    write_topic(TOPIC, topic)
    write_pages()
    agreed, kappa = agreement(first, second)
    print(f"Agreement on {len(names)} pairs: {agreed:.0%}, kappa {kappa:.2f}.")
    print("\n".join(f"| {' | '.join(row)} |" for row in rows))


def main() -> None:
    """Draw a sheet, or make the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("--data", type=Path, default=os.environ.get("PARALOOM_DATA", "."))
    drawing.add_argument("--before", type=Path, required=True, help="folder of the translators before")
    drawing.add_argument("--limit", type=int, default=4000, help="rows of each kind of text")
    drawing.add_argument("--read", type=Path, nargs="*", default=[], help="verdicts of earlier readings")
    drawing.add_argument("-o", "--output", type=Path, default=Path("build/gate"))
    making = commands.add_parser("page")
    making.add_argument("folder", type=Path)
    making.add_argument("sheets", type=Path, nargs=2)
    making.add_argument("--commit", required=True)
    making.add_argument("--date", required=True)
    arguments = parser.parse_args()
    if arguments.command == "draw":
        draw(Path(arguments.data), arguments.before, arguments.output, arguments.limit, arguments.read)
    else:
        page(arguments.folder, arguments.sheets, {"commit": arguments.commit, "date": arguments.date})


if __name__ == "__main__":
    main()
