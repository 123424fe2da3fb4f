r"""How good is a lexicon of phrases? Compares it with PPDB and with baselines; a blind sheet that people judge.

    for l in cs de es fr is ko tr; do
        (for file in $(ls $PARALOOM_DATA/bitext/*/$l-en.tsv.gz | grep -v ntrex); do zcat $file | cut -f1,2; done
         images=$PARALOOM_DATA/bitext/multi30k/task1/train
         [ ! -e $images.$l.gz ] || paste <(zcat $images.$l.gz) <(zcat $images.en.gz)
         for file in $PARALOOM_DATA/documents/libreoffice-help/gold.paragraphs.en-$l.tsv.gz; do
             [ -e $file ] && zcat $file | awk -F'\t' '{print $4 "\t" $3}'
         done) > $l-en.tsv
    done
    paraloom research lexicon {cs,de,es,fr,is,ko,tr}-en.tsv --min-score 0.01 --on-error reject -o lexicon.tsv
    python benchmarks/lexicon.py evaluate lexicon.tsv --half 1 --scores 0.025 0.01 0.05 --record
    python benchmarks/lexicon.py draw lexicon.tsv --min-score 0.025 --text cs-en.tsv -o sheet.tsv
    python benchmarks/lexicon.py count reader-1.tsv reader-2.tsv --key sheet.key.tsv --record

`evaluate` reads $PARALOOM_DATA/phrase: pairs of words are compared with PPDB's synonyms and antonyms as
counter-fitting uses them and with the pairs of PPDB 1.0 XXXL of Sultan's aligner, many of which are inflections of one
word; pairs of two words and one with those of PPDB XXL. An entry counts in either direction; `found` is the share of
PPDB's pairs that are entries, `in XXXL` and `antonyms` are shares of the entries of two words (Wilson's intervals).
Scores and the default minimum were chosen on half of all pairs, `--half 0`, so the other half is reported.
Baselines: *nearest* are as many pairs of the same words, those with the highest cosine of `english`; *by chance* are
the same words, paired at random. PPDB is made by pivoting, too, and far from complete: an entry that it lacks is no
error, which is what the sheet is for.

`draw` writes entries of the lexicon, all as likely, shuffled with baselines: phrases of the lexicon with their nearest
one by `english`, and with one at random. Each is shown in a sentence, drawn among those that have the phrase; the key
says which row is of what. A reader fills in `verdict`, for the sentence with the paraphrase in place of the phrase,
small repairs of grammar allowed: k keeps the meaning, p partly, w wrong; and `antonym`: y or n. `count` prints the
shares by system, their intervals, and how far two readings agree.
"""

from __future__ import annotations

import argparse
import gzip
import os
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from blind_sheets import agreement, write_table
from results_pages import FOLDER, read_topic, write_pages, write_topic

from paraloom.core.seeds import generator
from paraloom.core.stats import wilson_interval
from paraloom.embed.average import normalize_vectors
from paraloom.embed.encoder import open_encoder
from paraloom.io.compression import read_lines
from paraloom.io.sheets import check_new_sheet, read_sheet
from paraloom.text.tokens import token_strings

VERDICTS = {"k": "keeps the meaning", "p": "partly", "w": "wrong"}
COLUMNS = ("number", "phrase", "paraphrase", "sentence", "verdict", "antonym")
KEY = ("number", "system", "score")
SHOWN = ("found", "in XXXL", "antonyms", "bigrams found")
TOPIC = FOLDER / "parsers.json"
HEADING = "The lexicon"
ENCODER = "english"
LONGEST = 40
"""Words of a sentence that is shown, at most."""

Pair = frozenset[str]


def read_lexicon(path: Path, min_score: float = 0) -> list[dict[str, Any]]:
    """The entries with a score of `min_score` or more, the best first; of both directions the one that comes first."""
    if path.suffix == ".parquet":
        rows = pq.read_table(path).to_pylist()
    else:
        header, *lines = (line.split("\t") for line in read_lines(path))
        rows = [dict(zip(header, cells, strict=True)) for cells in lines]
    rows.sort(key=lambda row: (-float(row["score"]), row["phrase"], row["paraphrase"]))
    distinct: dict[Pair, dict[str, Any]] = {}
    for row in rows:
        if float(row["score"]) < min_score:
            break
        distinct.setdefault(frozenset((row["phrase"], row["paraphrase"])), row)
    return list(distinct.values())


def read_ppdb(folder: Path) -> dict[str, set[Pair]]:
    """Pairs of two different words: synonyms, antonyms, those of XXXL; and pairs of a bigram and a word."""
    lexical = folder / "ppdb-lexical"
    texts = {
        "synonyms": gzip.decompress((lexical / "ppdb_synonyms.txt.gz").read_bytes()).decode(),
        "antonyms": (lexical / "ppdb_antonyms.txt").read_text(encoding="utf-8"),
        "XXXL": gzip.decompress((lexical / "ppdb-1.0-xxxl-lexical.pairs.tsv.gz").read_bytes()).decode(),
    }
    words = {name: (line.lower().split() for line in text.splitlines()) for name, text in texts.items()}
    pairs = {name: {frozenset(pair) for pair in lines if len(set(pair)) == 2} for name, lines in words.items()}
    pairs["bigrams"] = set()
    for path in sorted(folder.glob("ppdb-b2u/ppdb.xxl.b2u.*")):
        lines = path.read_text(encoding="utf-8").lower().splitlines()
        for first, second, word in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
            bigram = " ".join(cell.partition("\t")[0].strip() for cell in (first, second))
            pairs["bigrams"].add(frozenset((bigram, word.strip())))
    return pairs


def share(count: int, total: int) -> dict[str, float | int]:
    """A share with its interval."""
    low, high = wilson_interval(count, total) if total else (0.0, 1.0)
    return {"share": count / total if total else 0.0, "low": low, "high": high, "count": count, "n": total}


def measure(entries: Sequence[Pair], ppdb: Mapping[str, set[Pair]], half: int | None = None) -> dict[str, Any]:
    """All figures of a list of entries, shares of a half of all pairs."""
    ppdb = {kind: {pair for pair in pairs if in_half(pair, half)} for kind, pairs in ppdb.items()}
    words = {entry for entry in entries if _of_words(entry) and in_half(entry, half)}
    of_entries = {"in XXXL": "XXXL", "antonyms": "antonyms"}
    return {
        "entries": len(set(entries)),
        "found": share(len(words & ppdb["synonyms"]), len(ppdb["synonyms"])),
        **{name: share(len(words & ppdb[kind]), len(words)) for name, kind in of_entries.items()},
        "bigrams found": share(len(set(entries) & ppdb["bigrams"]), len(ppdb["bigrams"])),
    }


def in_half(pair: Pair, half: int | None) -> bool:
    """Whether a pair is in a half of all pairs, 0 or 1; None: in either."""
    return half is None or zlib.crc32(" ".join(sorted(pair)).encode()) % 2 == half


def shuffled(entries: Sequence[Pair], seed: int) -> list[Pair]:
    """The same phrases, as often, paired by chance."""
    sides = [sorted(entry) for entry in entries]
    order = generator(seed).permutation(len(sides))
    pairs = (frozenset((sides[i][0], sides[j][1])) for i, j in enumerate(order))
    return [pair for pair in pairs if len(pair) == 2]


def nearest(words: Sequence[str], count: int) -> list[Pair]:
    """The pairs of words with the highest cosines of ENCODER."""
    vectors = normalize_vectors(open_encoder(ENCODER).encode(list(words)))
    values, pairs = np.empty(0, np.float32), np.empty((0, 2), np.int64)
    for start in range(0, len(words), 1024):
        cosines = vectors[start : start + 1024] @ vectors.T
        cosines[np.arange(len(words)) <= np.arange(start, start + len(cosines))[:, None]] = -2
        floor = np.partition(cosines.ravel(), -min(count, cosines.size))[-min(count, cosines.size)]
        places = np.argwhere(cosines >= floor)
        values = np.concatenate([values, cosines[tuple(places.T)]])
        pairs = np.concatenate([pairs, places + np.array([start, 0])])
        best = np.argsort(-values, kind="stable")[:count]
        values, pairs = values[best], pairs[best]
    return [frozenset((words[a], words[b])) for a, b in pairs.tolist()]


def evaluate(lexicon: Path, scores: Sequence[float], data: Path, half: int | None, seed: int, record: bool) -> None:
    """Print the table, with a row for each minimum score; with `record` write it into the page of results."""
    rows = read_lexicon(lexicon)
    pairs = [(frozenset((row["phrase"], row["paraphrase"])), float(row["score"])) for row in rows]
    parts = {bound: [pair for pair, score in pairs if score >= bound] for bound in scores}
    entries = parts[scores[0]]
    words = [entry for entry in entries if _of_words(entry)]
    if not words:
        raise SystemExit(f"{lexicon} has no entry of two words")
    ppdb = read_ppdb(data / "phrase")
    near = nearest(sorted({word for entry in words for word in entry}), len(words))
    table = {
        **{"lexicon" + f", score {score:g}" * (score > 0): measure(part, ppdb, half) for score, part in parts.items()},
        f"nearest {len(words):,}": measure(near, ppdb, half),
        "by chance": measure(shuffled(entries, seed), ppdb, half),
    }
    print(f"{len(entries):,} entries in either direction, {len(words):,} of them of two single words")
    print(f"| | entries | {' | '.join(SHOWN)} |\n| --- |" + " ---: |" * (len(SHOWN) + 1))
    cells = [[name, f"{of['entries']:,}", *(_cell(of[column]) for column in SHOWN)] for name, of in table.items()]
    for row in cells:
        print(f"| {' | '.join(row)} |")
    if record:
        _record({"columns": ["", "entries", *SHOWN], "align": "l" + "r" * (len(SHOWN) + 1), "rows": cells}, "PPDB")


def contexts(phrases: set[str], texts: Sequence[Path], seed: int) -> dict[str, str]:
    """For each phrase one of the sentences that have it, with the phrase in brackets."""
    by_first: dict[str, list[list[str]]] = {}
    for phrase in sorted(phrases):
        by_first.setdefault(phrase.split()[0], []).append(phrase.split())
    places: dict[str, list[str]] = {}
    for path in texts:
        sentences = [line.rpartition("\t")[2] for line in read_lines(path)]
        for tokens in token_strings(sentences).to_pylist():
            if len(tokens) > LONGEST:
                continue
            for start, token in enumerate(tokens):
                for words in by_first.get(token, ()):
                    end = start + len(words)
                    if tokens[start:end] == words:
                        marked = f"{' '.join(tokens[:start])} [{' '.join(words)}] {' '.join(tokens[end:])}"
                        places.setdefault(" ".join(words), []).append(marked.strip())
    draw = generator(seed, 5)
    return {phrase: places[phrase][draw.integers(len(places[phrase]))] for phrase in sorted(places)}


def draw(
    entries: Sequence[Mapping[str, Any]],
    texts: Sequence[Path],
    output: Path,
    sizes: Mapping[str, int],
    seed: int,
) -> None:
    """Write a sheet of entries that are drawn by seed, all as likely, and its key."""
    key = output.with_suffix(".key.tsv")
    check_new_sheet(output, key)
    random = generator(seed)
    rows = [
        ("lexicon", row["phrase"], row["paraphrase"], row["score"])
        for row in (entries[index] for index in random.permutation(len(entries))[: sizes["lexicon"]])
    ]
    phrases = sorted({row[side] for row in entries for side in ("phrase", "paraphrase")})
    for system in ("nearest", "by chance"):
        asked = [phrases[index] for index in random.permutation(len(phrases))[: sizes[system]]]
        others = _nearest_phrase(asked, phrases) if system == "nearest" else list(random.permutation(phrases))
        rows += [(system, phrase, other, "") for phrase, other in zip(asked, others, strict=False)]
    where = contexts({row[1] for row in rows}, texts, seed)
    rows = [(*row, where.get(row[1], f"[{row[1]}]")) for row in rows]
    rows = [rows[index] for index in random.permutation(len(rows))]
    numbered = list(enumerate(rows, start=1))
    write_table(output, COLUMNS, [(number, row[1], row[2], row[4], "", "") for number, row in numbered])
    write_table(key, KEY, [(number, row[0], row[3]) for number, row in numbered])
    print(f"{len(rows)} entries to judge in {output}; the key is {key}")


def count(sheets: Sequence[Path], key: Path, record: bool) -> None:
    """Print the shares of filled-in sheets by system; with `record` write them into the page of results."""
    remedy = "Give a sheet that `draw` wrote, and its key."
    systems = {row["number"]: row["system"] for row in read_sheet(key, KEY, kind="key", remedy=remedy)}
    read = [read_sheet(sheet, COLUMNS, kind="sheet of entries", remedy=remedy) for sheet in sheets]
    for sheet, rows in zip(sheets, read, strict=True):
        for line, row in enumerate(rows, start=2):
            if row["verdict"] not in VERDICTS or row["antonym"] not in ("y", "n"):
                raise SystemExit(f"{sheet}, line {line}: expected a verdict ({', '.join(VERDICTS)}) and antonym (y, n)")
    columns = ["", "reading", *VERDICTS.values(), "antonyms"]
    table = []
    for system in dict.fromkeys(systems.values()):
        for number, rows in enumerate(read, start=1):
            own = [row for row in rows if systems[row["number"]] == system]
            shares = [share(sum(row["verdict"] == verdict for row in own), len(own)) for verdict in VERDICTS]
            shares.append(share(sum(row["antonym"] == "y" for row in own), len(own)))
            table.append([f"{system}, {len(own)} pairs", str(number), *map(_cell, shares)])
    for row in [columns, *table]:
        print(f"| {' | '.join(row)} |")
    notes = []
    if len(read) == 2:
        verdicts = [{row["number"]: row["verdict"] for row in rows} for rows in read]
        first, second = ([of[number] for number in systems] for of in verdicts)
        equal, kappa = agreement(first, second)
        notes = [f"The readings agree on {_cell(share(round(equal * len(first)), len(first)))}, κ {kappa:.2f}."]
        print(notes[0])
    if record:
        _record({"columns": columns, "align": "ll" + "r" * (len(columns) - 2), "rows": table, "notes": notes}, "Read")


def _record(figures: dict[str, Any], kind: str) -> None:
    """Replace the columns and rows of the lexicon's table of a kind, 'PPDB' or 'Read'."""
    topic = read_topic(TOPIC)
    headings = [str(result.get("heading", "")) for result in topic["results"]]
    topic["results"][headings.index(f"{HEADING}: {kind}")] |= figures
    write_topic(TOPIC, topic)
    write_pages()


def _of_words(entry: Pair) -> bool:
    return not any(" " in side for side in entry)


def _nearest_phrase(asked: Sequence[str], phrases: Sequence[str]) -> list[str]:
    """The phrase with the highest cosine to each, neither itself nor a part of it."""
    encoder = open_encoder(ENCODER)
    cosines = normalize_vectors(encoder.encode(asked)) @ normalize_vectors(encoder.encode(phrases)).T
    neighbors = []
    for phrase, row in zip(asked, cosines, strict=True):
        order = (phrases[index] for index in np.argsort(-row, kind="stable"))
        neighbors.append(next(other for other in order if f" {other} " not in f" {phrase} " not in f" {other} "))
    return neighbors


def _cell(figures: Mapping[str, float | int]) -> str:
    if not figures["n"]:
        return ""
    value, low, high = (
        f"{round(100 * figures[name], 1 if figures[name] >= 0.01 else 2):g}" for name in ("share", "low", "high")
    )
    return f"{value} % [{low}, {high}]"


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    evaluating = commands.add_parser("evaluate")
    evaluating.add_argument("lexicon", type=Path)
    evaluating.add_argument("--seed", type=int, default=1, help="of the row 'by chance'")
    evaluating.add_argument("--scores", type=float, nargs="+", default=[0], help="minimum scores, a row for each")
    evaluating.add_argument("--half", type=int, choices=(0, 1), help="half of all pairs that is counted; default: all")
    drawing = commands.add_parser("draw")
    drawing.add_argument("lexicon", type=Path)
    drawing.add_argument("--min-score", type=float, default=0, help="minimum score of an entry")
    drawing.add_argument("--text", type=Path, nargs="+", required=True, help="sentences, the last column of a line")
    drawing.add_argument("--size", type=int, default=100, help="entries of the lexicon")
    drawing.add_argument("--baselines", type=int, default=20, help="entries of each baseline")
    drawing.add_argument("--seed", type=int, default=1)
    drawing.add_argument("-o", "--output", type=Path, default=Path("sheet.tsv"))
    counting = commands.add_parser("count")
    counting.add_argument("sheets", type=Path, nargs="+")
    counting.add_argument("--key", type=Path, required=True)
    for command in (evaluating, counting):
        command.add_argument("--record", action="store_true", help="write the table into the page of results")
    arguments = parser.parse_args()
    if arguments.command == "evaluate":
        data = Path(os.environ["PARALOOM_DATA"])
        evaluate(arguments.lexicon, arguments.scores, data, arguments.half, arguments.seed, arguments.record)
    elif arguments.command == "draw":
        sizes = {"lexicon": arguments.size, **dict.fromkeys(("nearest", "by chance"), arguments.baselines)}
        entries = read_lexicon(arguments.lexicon, arguments.min_score)
        draw(entries, arguments.text, arguments.output, sizes, arguments.seed)
    else:
        count(arguments.sheets, arguments.key, arguments.record)


if __name__ == "__main__":
    main()
