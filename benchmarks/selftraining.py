"""PARK17's self-training loop on Korean news: pages, beads and translation by round, and what limits them.

    PARALOOM_DATA=… python benchmarks/selftraining.py --seeds 1 2 3 -o runs/selftraining

The documents are NTREX's 123 (news, Korean and English), in which lines are joined and dropped so that beads have the
shares of PARK17's Table 5; each seed joins others.  BC⁰ is the thousand pairs of the development part of the Korean
news corpus; translators are phrase-based, as in the paper.  The tests are JHE's (720 sentences of school books) and the
first 400 of the news corpus.  λ is tuned on 30 of the documents; F1 of beads is that of the other 93.

Rows: *lengths alone* and *gold beads* take the true pairs of documents; the loops make their own pairs, by topics
(θ 0.5) and PARK17's aligner with published λ (*PARK17*), by all evidence and PARK17's aligner, or by all
evidence alone.  MT⁰ is trained on BC⁰, MT¹ on BC⁰ and what
was aligned with MT⁰, and so on; BLEU and chrF of a row are of the translator trained on what was aligned in it, with
and without BC⁰.  `--noise` trains on gold beads of which a share has another bead's target, and on a part of them.
`--morphemes` writes a space between the morphemes of all Korean text first (`pip install python-mecab-ko`).
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import statistics
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from results_pages import FOLDER, put_result, read_topic

from paraloom.alignment.methods import aligner_config, fit_method
from paraloom.core.beads import Bead, join_sentences
from paraloom.core.schema import DOCUMENTS
from paraloom.evaluate.translation import evaluate_translation
from paraloom.io import Corpus, write_corpus
from paraloom.io.formats.alignments import GoldDocument
from paraloom.papers.park17.phrase_translator import PhraseTranslator, train_phrase_translator
from paraloom.papers.park17.selftraining import selftrain
from paraloom.stages.documents import score_aligner, text_pairs

Pairs = list[tuple[str, str]]

SHARES = {
    **{(0, 1): 2, (1, 0): 36, (1, 1): 822, (1, 2): 117, (1, 3): 8, (2, 1): 42},
    **{(2, 2): 18, (2, 3): 2, (3, 1): 3, (3, 2): 2, (3, 3): 2},
}
"""Beads by source and target sentences in PARK17's Table 5."""

LINES = {
    **{(0, 1): ([], [1]), (1, 0): ([1], []), (1, 1): ([1], [1]), (1, 2): ([2], [1, 1]), (1, 3): ([3], [1, 1, 1])},
    **{(2, 1): ([1, 1], [2]), (3, 1): ([1, 1, 1], [3]), (2, 2): ([2, 1], [1, 2]), (2, 3): ([2, 2], [1, 2, 1])},
    **{(3, 2): ([1, 2, 1], [2, 2]), (3, 3): ([2, 2, 1], [1, 2, 2])},
}
"""How many sentences each line of a bead has, on both sides, so that no smaller bead is possible."""

KOREAN = (
    "jhe/jhe-koen-dev",
    "jhe/jhe-koen-eval",
    "news-v1/korean-english-park.dev",
    "news-v1/korean-english-park.test",
)
"""Bitext that is read, without the languages."""

TUNING_DOCUMENTS, ROUNDS, NEWS = 30, 2, 400
PARK17_DOCUMENTS = {"method": "park17", "threshold": 0.5}
LOOPS: dict[str, dict[str, Any]] = {
    "PARK17": {"documents": PARK17_DOCUMENTS, "sentences": {"method": "park17"}},
    "PARK17's beads, λ tuned": {"documents": {"evidence": "all"}, "sentences": {"method": "park17"}, "tuning": True},
    "all evidence": {"documents": {"evidence": "all"}, "sentences": {}},
}
PUBLISHED = [
    ("published: lengths alone", None, 0.5154, 4.10, 7.47),
    ("published: MT⁰", 0.9552, 0.5705, 4.39, 8.03),
    ("published: MT¹", 0.9984, 0.5746, 4.55, 8.33),
]


class World(NamedTuple):
    """The documents of a seed, each with its gold beads, and the files that were made of them."""

    documents: list[GoldDocument]
    folder: Path


def read_rows(path: Path) -> list[list[str]]:
    """The fields of a table."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        return [line.rstrip("\n").split("\t") for line in lines]


def read_moses(prefix: Path, limit: int = 0) -> Pairs:
    """Pairs of a Korean and an English file."""
    sides = [Path(f"{prefix}.{lang}").read_text(encoding="utf-8").split("\n")[: limit or None] for lang in ("ko", "en")]
    return [(a, b) for a, b in zip(*sides, strict=True) if a.strip() and b.strip()]


def segmented(data: Path, folder: Path) -> Path:
    """A folder as `data`, with the files that are read here, whose Korean words are split into their morphemes."""
    from mecab import MeCab  # type: ignore[import-not-found]

    segmenter = MeCab()
    korean = Path("bitext/korean")
    for path in (
        Path("bitext/ntrex/ko-en.tsv.gz"),
        *(korean / f"{name}.{lang}" for name in KOREAN for lang in ("ko", "en")),
    ):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".gz":
            rows = [[name, " ".join(segmenter.morphs(source)), *rest] for name, source, *rest in read_rows(data / path)]
            with gzip.open(folder / path, "wt", encoding="utf-8", newline="\n") as output:
                output.writelines("\t".join(row) + "\n" for row in rows)
        else:
            lines = (data / path).read_text(encoding="utf-8").split("\n")
            if path.suffix == ".ko":
                lines = [" ".join(segmenter.morphs(line)) for line in lines]
            (folder / path).write_text("\n".join(lines), encoding="utf-8")
    return folder


def cut(sentences: Pairs, rng: random.Random) -> GoldDocument:
    """A document with lines joined and dropped, and its beads."""
    kinds, weights = list(SHARES), list(SHARES.values())
    sides: tuple[list[str], list[str]] = ([], [])
    gold: list[Bead] = []
    start = 0
    while start < len(sentences):
        shapes = LINES[rng.choices(kinds, weights)[0]]
        size = max(sum(shapes[0]), sum(shapes[1]))
        if start + size > len(sentences):
            shapes, size = LINES[1, 1], 1
        indices = []
        for side in (0, 1):
            first, position = len(sides[side]), start
            for count in shapes[side]:
                sides[side].append(" ".join(pair[side] for pair in sentences[position : position + count]))
                position += count
            indices.append(tuple(range(first, len(sides[side]))))
        gold.append(Bead(indices[0], indices[1]))
        start += size
    return GoldDocument(sides[0], sides[1], gold)


def make_world(data: Path, folder: Path, seed: int) -> World:
    """The documents of a seed, as corpora, with the files of true pairs and beads."""
    texts: dict[str, Pairs] = {}
    for name, source, target in read_rows(data / "bitext/ntrex/ko-en.tsv.gz"):
        texts.setdefault(name, []).append((source, target))
    rng = random.Random(seed)
    documents = [cut(sentences, rng) for sentences in texts.values()]
    folder.mkdir(parents=True, exist_ok=True)
    for side, lang in enumerate(("ko", "en")):
        order = rng.sample(range(len(documents)), len(documents))
        rows = [
            {
                "doc_id": f"{lang}{index}",
                "lang": lang,
                "text": "\n".join((documents[index].source, documents[index].target)[side]),
                "images": [],
            }
            for index in order
        ]
        batch = pa.RecordBatch.from_pylist(rows, schema=DOCUMENTS)
        if not (folder / lang).exists():
            write_corpus(folder / lang, [batch], kind="DOCUMENTS")
    (folder / "gold.tsv").write_text("".join(f"ko{i}\ten{i}\n" for i in range(len(documents))), encoding="utf-8")
    write_gold(folder / "tuning.jsonl", documents[:TUNING_DOCUMENTS])
    write_gold(folder / "test.jsonl", documents[TUNING_DOCUMENTS:])
    return World(documents, folder)


def write_gold(path: Path, documents: Sequence[GoldDocument]) -> None:
    """Documents with their beads as JSON lines."""
    rows = (
        {"source": list(d.source), "target": list(d.target), "gold": [[bead.source, bead.target] for bead in d.gold]}
        for d in documents
    )
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def loop_file(data: Path, world: World, settings: dict[str, Any], seed: int) -> str:
    """The loop as TOML."""
    tables = {"documents": settings["documents"], "sentences": settings["sentences"]}
    if settings.get("tuning"):
        tables["tuning"] = {"documents": str(world.folder / "tuning.jsonl")}
    tables["translator"] = {"use": "train-phrase-translator"}
    tables["development"] = {"source": f"{data}/bitext/korean/jhe/jhe-koen-dev.{{ko,en}}"}
    lines = [
        f"seed = {seed}",
        f"rounds = {ROUNDS}",
        f"source = '{world.folder / 'ko'}'",
        f"target = '{world.folder / 'en'}'",
        f"gold_documents = '{world.folder / 'gold.tsv'}'",
        f"gold_sentences = '{world.folder / 'test.jsonl'}'",
        "[[bitext]]",
        f"source = '{data}/bitext/korean/news-v1/korean-english-park.dev.{{ko,en}}'",
    ]
    for name, table in tables.items():
        lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def plausible(pairs: Iterable[tuple[str, str]]) -> Pairs:
    """The pairs that a loop trains on (`selftraining.PLAUSIBLE`)."""
    return [(a, b) for a, b in pairs if a != b and 3 <= len(b) <= 400 and 0.2 * len(b) <= len(a) <= 3 * len(b)]


def bead_pairs(documents: Sequence[GoldDocument], beads: Sequence[Sequence[Bead]]) -> Iterator[tuple[str, str]]:
    """The text of the beads that have both sides."""
    for document, chosen in zip(documents, beads, strict=True):
        for bead in chosen:
            if bead.source and bead.target:
                yield join_sentences(document.source, bead.source), join_sentences(document.target, bead.target)


class Tests:
    """The tests, and translators trained and measured on them; what was measured is kept in a file."""

    def __init__(self, data: Path, folder: Path) -> None:
        korean = data / "bitext/korean"
        self.bitext = read_moses(korean / "news-v1/korean-english-park.dev")
        self.sets = {
            "jhe": read_moses(korean / "jhe/jhe-koen-eval"),
            "news": read_moses(korean / "news-v1/korean-english-park.test", NEWS),
        }
        self.folder = folder

    def measure(self, name: str, pairs: Pairs, seed: int) -> dict[str, float]:
        """BLEU and chrF of translators trained on some pairs, alone and with BC⁰."""
        figures: dict[str, float] = {"pairs": len(pairs)}
        for label, bitext in (("without", pairs), ("with", self.bitext + pairs)):
            if len(bitext) < 2:
                continue
            folder = self.folder / f"{re.sub(r'[^a-z0-9]+', '-', name.lower())}-{seed}-{label}"
            if not (folder / "scores.json").exists():
                train_phrase_translator([a for a, _ in bitext], [b for _, b in bitext], folder, seed=seed)
                scores = {test: self._score(folder, test) for test in self.sets}
                (folder / "scores.json").write_text(json.dumps(scores), encoding="utf-8")
            for test, scores in json.loads((folder / "scores.json").read_text(encoding="utf-8")).items():
                figures |= {f"{label} {test} {metric}": value for metric, value in scores.items()}
        return figures

    def _score(self, folder: Path, test: str) -> dict[str, float]:
        pairs = self.sets[test]
        variants = PhraseTranslator(folder).translate([source for source, _ in pairs])
        result = evaluate_translation([row[0].text for row in variants], [target for _, target in pairs])
        return {
            "bleu": result.bleu.score,
            "bleu ±": result.bleu.interval or 0.0,
            "chrf": result.chrf.score,
            "chrf ±": result.chrf.interval or 0.0,
        }


def run_loop(data: Path, world: World, tests: Tests, name: str, seed: int) -> Iterator[tuple[str, dict[str, float]]]:
    """The rows of a loop, by the translator that aligned."""
    folder = world.folder / re.sub(r"[^a-z0-9]+", "-", name.lower())
    folder.mkdir(exist_ok=True)
    (folder / "loop.toml").write_text(loop_file(data, world, LOOPS[name], seed), encoding="utf-8")
    rounds = {row["round"]: row for row in selftrain(folder / "loop.toml", folder / "run", workers=1)}
    stages = {stage["name"]: stage for stage in json.loads((folder / "run/run.json").read_text())["stages"]}
    for number in range(ROUNDS):
        kept = Corpus.open(folder / "run" / stages[f"pairs-{number + 1}"]["folder"])
        pairs = [(row["src"], row["tgt"]) for batch in kept.batches(["src", "tgt"]) for row in batch.to_pylist()]
        figures = {
            "documents": rounds[number + 1]["documents_f1"],
            "beads": rounds[number]["sentences_f1"],
            **tests.measure(f"{name} {number}", pairs, seed),
        }
        yield f"{name}: aligned by MT{'⁰¹²³'[number]}", figures


def run_seed(data: Path, output: Path, seed: int, loops: Sequence[str] = ()) -> dict[str, dict[str, float]]:
    """The rows of a seed, with those loops (all, if none is named)."""
    world = make_world(data, output / f"seed-{seed}", seed)
    tests = Tests(data, world.folder / "measured")
    rows: dict[str, dict[str, float]] = {"BC⁰ alone": tests.measure("none", [], seed)}
    test = world.documents[TUNING_DOCUMENTS:]
    for name, method in (("lengths alone", "length"), ("all evidence, no translator", "evidence")):
        config = aligner_config(method, 3)
        beads = align_all(world.documents, method)
        figures = {"documents": 1.0, "beads": score_aligner(test, config, method=method).exact.f1}
        rows[f"{name} (true documents)"] = figures | tests.measure(
            name, plausible(bead_pairs(world.documents, beads)), seed
        )
    gold = plausible(bead_pairs(world.documents, [document.gold for document in world.documents]))
    for name in loops or LOOPS:
        rows |= dict(run_loop(data, world, tests, name, seed))
    rows["gold beads (oracle)"] = {"documents": 1.0, "beads": 1.0, **tests.measure("gold", gold, seed)}
    return rows


def align_all(documents: Sequence[GoldDocument], method: str) -> list[list[Bead]]:
    """The beads of all documents by a method, without a translator."""
    pairs = text_pairs(documents)
    aligner = fit_method(method, pairs, aligner_config(method, 3))
    return [aligner.align(pair) for pair in pairs]


def run_noise(data: Path, output: Path, seed: int, loops: Sequence[str] = ()) -> dict[str, dict[str, float]]:
    """Translators trained on gold beads that are in part wrong, or few."""
    world = make_world(data, output / f"seed-{seed}", seed)
    tests = Tests(data, world.folder / "measured")
    gold = plausible(bead_pairs(world.documents, [document.gold for document in world.documents]))
    rows = {}
    for share in (0.0, 0.1, 0.2, 0.3, 0.5, 1.0):
        rng = random.Random(seed)
        wrong = rng.sample(range(len(gold)), int(share * len(gold)))
        others = wrong[1:] + wrong[:1]
        targets = dict(zip(wrong, (gold[index][1] for index in others), strict=True))
        pairs = [(source, targets.get(index, target)) for index, (source, target) in enumerate(gold)]
        rows[f"gold beads, {share:.0%} with a wrong target"] = tests.measure(f"noise {share}", pairs, seed)
    for share in (0.25, 0.5):
        part = random.Random(seed).sample(gold, int(share * len(gold)))
        rows[f"gold beads, {share:.0%} of them"] = tests.measure(f"part {share}", part, seed)
    return rows


COLUMNS = {
    "documents": ("documents F1", 4),
    "beads": ("beads F1", 4),
    "pairs": ("pairs", 0),
    "without jhe bleu": ("JHE BLEU", 2),
    "without jhe chrf": ("JHE chrF", 2),
    "with jhe bleu": ("+BC⁰ JHE BLEU", 2),
    "with jhe chrf": ("+BC⁰ JHE chrF", 2),
    "with news bleu": ("+BC⁰ news BLEU", 2),
    "with news chrf": ("+BC⁰ news chrF", 2),
}
"""Columns: title and digits."""


def cell(values: Sequence[float], digits: int, intervals: Sequence[float]) -> str:
    """Mean ± standard deviation over the seeds [mean half width of the 95 % interval over sentences]."""
    text = f"{statistics.mean(values):.{digits}f}"
    if len(values) > 1 and digits:
        text += f" ± {statistics.stdev(values):.{digits}f}"
    return text + (f" [{statistics.mean(intervals):.{digits}f}]" if intervals else "")


def format_table(by_seed: Sequence[dict[str, dict[str, float]]]) -> str:
    """A row for each system, the means over the seeds that have it."""
    lines = [
        f"| | seeds | {' | '.join(title for title, _ in COLUMNS.values())} |",
        f"|---|{'---:|' * (len(COLUMNS) + 1)}",
    ]
    for name in max(by_seed, key=len):
        measured = [rows for rows in by_seed if name in rows]
        cells = [str(len(measured))]
        for column, (_, digits) in COLUMNS.items():
            values = [rows[name][column] for rows in measured if column in rows[name]]
            intervals = [rows[name][f"{column} ±"] for rows in measured if f"{column} ±" in rows[name]]
            cells.append(cell(values, digits, intervals) if values else "")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


PAGE_ROWS = {
    "BC⁰ alone": "BC⁰ alone",
    "lengths alone, true documents": "lengths alone (true documents)",
    "all evidence, no translator, true documents": "all evidence, no translator (true documents)",
    "PARK17 (topics, θ .5, published λ), aligned by MT⁰": "PARK17: aligned by MT⁰",
    "PARK17, aligned by MT¹": "PARK17: aligned by MT¹",
    "gold beads (oracle)": "gold beads (oracle)",
}
"""Row of the page → row of a draw; rows of other loops stay as they are."""
PAGE_COLUMNS = {
    "documents, F1": ("documents", 3),
    "beads, F1": ("beads", 3),
    "pairs": ("pairs", 0),
    "BLEU": ("without jhe bleu", 2),
    "BLEU, +BC⁰": ("with jhe bleu", 2),
}
"""Column of the page → column of a draw, and digits."""


def record(by_seed: Sequence[dict[str, dict[str, float]]]) -> None:
    """Put the draws, and their means, into the page of self-training."""
    path = FOLDER / "self-training.json"
    [result] = [one for one in read_topic(path)["results"] if one["heading"] == "PARK17's own test, JHE"]
    result |= {"seeds": str(len(by_seed)), "draws": {}}
    for row in result["rows"]:
        if row[0] not in PAGE_ROWS:
            continue
        draws = result["draws"][row[0]] = {}
        for index, title in enumerate(result["columns"][1:], start=1):
            column, digits = PAGE_COLUMNS[title]
            if row[index]:
                draws[title] = [rows[PAGE_ROWS[row[0]]][column] for rows in by_seed]
                row[index] = _shown(draws[title], digits)
    put_result(path, result)


def _shown(values: Sequence[float], digits: int) -> str:
    if not digits or len({*values}) == 1:
        return f"{values[0] if digits else statistics.mean(values):,.{digits}f}"
    text = cell(values, digits, [])
    return text.replace("0.", ".") if digits == 3 else text


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="draws of joined and dropped lines")
    parser.add_argument("--noise", action="store_true", help="train on gold beads that are in part wrong, or few")
    parser.add_argument("--loops", nargs="+", default=[], choices=LOOPS, help="only these loops")
    parser.add_argument("--morphemes", action="store_true", help="Korean text with its words split into morphemes")
    parser.add_argument("--table", action="store_true", help="print what was measured before, and measure nothing")
    parser.add_argument("--record", action="store_true", help="put the draws of PARK17's loop into the page")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/selftraining"), help="folder of the runs")
    arguments = parser.parse_args()
    data = Path(os.environ.get("PARALOOM_DATA", "")).absolute()
    if arguments.morphemes and not arguments.table:
        data = segmented(data, arguments.output.absolute() / "data")
    run = run_noise if arguments.noise else run_seed
    rows = []
    for seed in arguments.seeds:
        kept = arguments.output / f"seed-{seed}" / ("noise.json" if arguments.noise else "rows.json")
        known = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
        if not arguments.table:
            known |= run(data, arguments.output.absolute(), seed, arguments.loops)
            kept.write_text(json.dumps(known, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        rows.append(known)
        print(f"seeds {arguments.seeds[: len(rows)]}\n{format_table(rows)}", flush=True)
    if arguments.record:
        record(rows)
    if not arguments.noise:
        for name, documents, beads, without, with_bitext in PUBLISHED:
            print(f"{name}: documents {documents or '-'}, beads {beads}, JHE BLEU {without}, with BC⁰ {with_bitext}")


if __name__ == "__main__":
    main()
