"""What do the bundled encoders find? Draws nearest sentences of unpicked queries, and counts what readers say of them.

    PARALOOM_DATA=/path/to/corpora python benchmarks/nearest_neighbors.py draw -o build/neighbors
    python benchmarks/nearest_neighbors.py count READER_1.tsv READER_2.tsv --key build/neighbors/key.json
    python benchmarks/nearest_neighbors.py count benchmarks/readings/neighbors/reader-*.tsv --record

The corpus has English sentences of six kinds, 15,000 of each at most, whose licenses permit distributing them. Five
queries of each kind are drawn by a seed, and each system says which other sentence is the nearest by cosine; sentences
that are equal but for case and punctuation do not count. `multilingual` gets twenty foreign queries as well. `draw`
writes each pair once, shuffled, without the name of a system, to sheet.tsv. A reader fills in `verdict`: s (the same
meaning, or a translation), r (related: on the same subject, and more than one word of it), or u (unrelated).
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from blind_sheets import agreement, rows_of, write_table
from results_pages import FOLDER, put_result, write_pages
from sklearn.feature_extraction.text import TfidfVectorizer

from paraloom.core.digests import digest
from paraloom.core.seeds import generator
from paraloom.core.stats import wilson_interval
from paraloom.embed.encoder import open_encoder
from paraloom.embed.search import search
from paraloom.io import read_lines

KINDS = {
    "everyday": "bitext/tatoeba-2/es-en.tsv.gz",
    "captions": "paraphrase/coco-captions-val/captions.tsv.gz",
    "questions": "sentences-en/questions.opentrivia.txt.xz",
    "definitions": "sentences-en/glosses.open-english-wordnet.txt.xz",
    "manuals": "bitext/debian-handbook/es-en.tsv.gz",
    "news": "paraphrase/onestopenglish/pairs.tsv.gz",
}
"""Kind of text → file; its last column counts."""

FOREIGN = {
    "German": "bitext/tatoeba/de-en.tsv.gz",
    "French": "bitext/tatoeba/fr-en.tsv.gz",
    "Czech": "bitext/tatoeba/cs-en.tsv.gz",
    "German, manuals": "bitext/debian-handbook/de-en.tsv.gz",
}
"""Language → file, whose first column has the queries."""

SEED, QUERIES, SENTENCES, WORDS = 54, 5, 15_000, range(4, 26)
ENCODERS, MULTILINGUAL, BASELINE = ("english", "english-small"), "multilingual", "TF-IDF"
COLUMNS = ("number", "query", "neighbor", "verdict")
VERDICTS = {"s": "same meaning", "r": "related", "u": "unrelated"}
ACROSS = "multilingual, foreign queries"
READINGS = Path(__file__).parent / "readings/neighbors"
TOPIC, HEADING = FOLDER / "encoders.json", "Nearest neighbors, read"


def sentences(path: Path, column: int) -> list[str]:
    """Distinct sentences of a column, neither very short nor very long."""
    texts = dict.fromkeys(line.split("\t")[column].strip() for line in read_lines(path))
    return [text for text in texts if len(text.split()) in WORDS]


def letters(text: str) -> str:
    """The text without case and punctuation."""
    return " ".join(re.findall(r"\w+", text.lower()))


def by_words(queries: Sequence[str], corpus: Sequence[str]) -> list[list[int]]:
    """The nearest sentences of each query by TF-IDF of words."""
    vectorizer = TfidfVectorizer(token_pattern=r"\w+", sublinear_tf=True)
    vectors = vectorizer.fit_transform(corpus)
    cosines = (vectorizer.transform(queries) @ vectors.T).toarray()
    order: list[list[int]] = np.argsort(-cosines, axis=1, kind="stable")[:, :20].tolist()
    return order


def by_encoder(name: str, queries: Sequence[str], corpus: Sequence[str]) -> list[list[int]]:
    """The nearest sentences of each query by an encoder's cosines."""
    encoder = open_encoder(name)
    rows: list[list[int]] = search(encoder.encode(queries), encoder.encode(corpus), 20, neighbors=0).rows.tolist()
    return rows


def draw(data: Path, folder: Path) -> None:
    """Write the sheet and its key."""
    corpus: list[str] = []
    queries: list[str] = []
    for number, path in enumerate(KINDS.values()):
        texts = sentences(data / path, -1)
        texts = [texts[row] for row in generator(SEED, number).permutation(len(texts))[:SENTENCES].tolist()]
        queries += texts[:QUERIES]
        corpus += texts
    foreign = []
    for number, path in enumerate(FOREIGN.values(), start=len(KINDS)):
        texts = sentences(data / path, 0)
        foreign += [texts[row] for row in generator(SEED, number).permutation(len(texts))[:QUERIES].tolist()]
    nearest = {
        BASELINE: (queries, by_words(queries, corpus)),
        **{name: (queries, by_encoder(name, queries, corpus)) for name in (*ENCODERS, MULTILINGUAL)},
        ACROSS: (foreign, by_encoder(MULTILINGUAL, foreign, corpus)),
    }
    pairs: dict[str, tuple[str, str]] = {}
    key: dict[str, list[str]] = {}
    for system, (of_system, answers) in nearest.items():
        key[system] = []
        for query, rows in zip(of_system, answers, strict=True):
            neighbor = next(corpus[row] for row in rows if letters(corpus[row]) != letters(query))
            name = digest([query, neighbor])[:12]
            pairs[name] = query, neighbor
            key[system].append(name)
    folder.mkdir(parents=True, exist_ok=True)
    names = [sorted(pairs)[row] for row in generator(SEED).permutation(len(pairs)).tolist()]
    write_table(folder / "sheet.tsv", COLUMNS, [(name, *pairs[name], "") for name in names])
    (folder / "key.json").write_text(json.dumps(key, indent=1) + "\n", encoding="utf-8")
    print(f"{len(names)} pairs to read, among {len(corpus):,} sentences: {folder / 'sheet.tsv'}")


def share(verdicts: Sequence[str], wanted: str) -> str:
    """Per cent of the verdicts, with Wilson's interval."""
    hits = sum(verdict in wanted for verdict in verdicts)
    low, high = wilson_interval(hits, len(verdicts))
    return f"{100 * hits / len(verdicts):.0f} [{100 * low:.0f}, {100 * high:.0f}]"


def count(sheets: Sequence[Path], key_file: Path, *, record: bool) -> None:
    """Print the shares by system, and the agreement of the readers; into the results, if they are to be recorded."""
    readers = [{name: row["verdict"] for name, row in rows_of(sheet, "number").items()} for sheet in sheets]
    key = json.loads(key_file.read_text(encoding="utf-8"))
    names = sorted({name for of_system in key.values() for name in of_system})
    unread = [name for name in names if any(of.get(name) not in VERDICTS for of in readers)]
    if unread:
        raise SystemExit(f"{len(unread)} pairs have no verdict in every sheet: {', '.join(unread[:3])} …")
    columns = ["nearest by", "queries"]
    rows = [[system, str(len(of_system))] for system, of_system in key.items()]
    for title, wanted in (("same meaning", "s"), ("same or related", "sr")):
        columns.append(title)
        for row, of_system in zip(rows, key.values(), strict=True):
            row.append("; ".join(dict.fromkeys(share([of[name] for name in of_system], wanted) for of in readers)))
    print("\n".join(" | ".join(row) for row in [columns, *rows]))
    if len(readers) > 1:
        first, second = ([of[name] for name in names] for of in readers[:2])
        equal, kappa = agreement(first, second)
        print(f"Two readers agree on {equal:.0%}, κ {kappa:.2f}.")
    if record:
        command = "python benchmarks/nearest_neighbors.py count benchmarks/readings/neighbors/reader-*.tsv --record"
        result = {
            **{"heading": HEADING, "command": [command], "machine": "cores"},
            **{"columns": columns, "align": "l" + "r" * (len(columns) - 1), "rows": rows},
        }
        put_result(TOPIC, result)
        write_pages()


def main() -> None:
    """Draw a sheet, or count verdicts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("--data", type=Path, default=os.environ.get("PARALOOM_DATA", "."))
    drawing.add_argument("-o", "--output", type=Path, default=Path("build/neighbors"))
    counting = commands.add_parser("count")
    counting.add_argument("sheets", type=Path, nargs="+")
    counting.add_argument("--key", type=Path, default=READINGS / "key.json")
    counting.add_argument("--record", action="store_true", help="put the table into docs/explanations/results")
    arguments = parser.parse_args()
    if arguments.command == "draw":
        draw(Path(arguments.data), arguments.output)
    else:
        count(arguments.sheets, arguments.key, record=arguments.record)


if __name__ == "__main__":
    main()
