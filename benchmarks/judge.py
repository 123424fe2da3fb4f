"""How well the judge of meaning tells right pairs from wrong ones, compared with the other scores.

    PARALOOM_DATA=/path/to/corpora python benchmarks/judge.py sets -o runs/judge/sets.parquet
    git show 5baed467:src/paraloom/bundled/paraphrases-en/paraphrase_model.json > build/before/paraphrase_model.json
    python benchmarks/judge.py measure runs/judge/sets.parquet --before build/before -o runs/judge/figures.json
    python benchmarks/judge.py limits runs/judge/sets.parquet -o runs/judge/limits.json
    python benchmarks/judge.py seeds runs/judge/sets.parquet runs/judge-seed-1 … -o runs/judge/seeds.json
    python benchmarks/judge.py page runs/judge/figures.json runs/judge/seeds.json --commit …
    python benchmarks/judge.py judges runs/judge/sets.parquet runs/quickstart/30-scored -o runs/judge/judges.json

`sets` makes the pairs: sentences of Tatoeba, of news, questions and captions that no training saw, whose real
paraphrases are right and come back with one change of each kind, and sets that people labeled. `measure` scores them
and writes areas under the ROC curve, and the shares of right and wrong pairs that pass. `seeds` does so for other
judges, such as trainings with three seeds, and `page` writes the tables of docs/explanations/results/judge.json.
`judges` compares judges: what they see in captions, and what a row of the quickstart costs.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from paraloom.io import Corpus, read_lines
from paraloom.pairs.lookalikes import names_in

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
from judge_changes import KINDS, Words, change

ROOT = Path(__file__).resolve().parents[1]

Row = dict[str, Any]
SEED = 20


def recipe() -> Any:
    """The module that makes the training pairs, for its rule of what is held out."""
    spec = importlib.util.spec_from_file_location("judge_recipe", ROOT / "examples/judge.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fields(path: Path) -> Iterator[list[str]]:
    """Cells of a tab-separated file, plain or compressed."""
    for line in read_lines(str(path)):
        yield line.split("\t")


def right_pairs(data: Path, rules: Any) -> dict[str, list[tuple[str, str]]]:
    """Real paraphrases of four kinds of text that no training saw."""
    tatoeba = {pair for pair, count in rules.common_translations(data).items() if count >= 2 and rules.agree(*pair)}
    news = [(row[3], row[4]) for row in fields(data / "bitext/wmt-news/en-two-references.tsv.gz")]
    questions = [(row[0], row[1]) for row in fields(data / "paraphrase/quora-50k/test.tsv.gz") if row[2] == "new"]
    pairs, relations = (list(fields(data / f"sts/sick2014/SICK.test{part}.tsv")) for part in ("", ".entailment"))
    captions = [(a, b) for (score, a, b), (_, relation) in zip(pairs, relations, strict=True)
                if float(score) >= 4.5 and relation == "ENTAILMENT"]  # fmt: skip
    return {
        "Tatoeba": [pair for pair in sorted(tatoeba) if (rules.is_held_out(pair[0]) or rules.is_held_out(pair[1]))
                    and min(map(len, pair)) > 20],
        "news": [(a, b) for a, b in news if a.lower() != b.lower()],
        "questions": [(a, b) for a, b in questions if a.lower() != b.lower()],
        "captions": captions,
    }  # fmt: skip


def labeled(data: Path) -> Iterator[Row]:
    """Sets that people labeled."""

    def row(name: str, a: str, b: str, label: bool) -> Row:
        return {"set": name, "kind": "", "src": a, "tgt": b, "label": int(label)}

    for label, a, b in fields(data / "paraphrase/paws-wiki/test.half1.tsv.gz"):
        yield row("PAWS-Wiki", a, b, label == "1")
    for label, _, _, a, b in fields(data / "paraphrase/mrpc/msr_paraphrase_test.tsv"):
        yield row("MRPC", a, b, label == "1")
    for votes, a, b in fields(data / "paraphrase/twitter-url/test.votes.tsv.gz"):
        if votes != "3":
            yield row("Twitter", a, b, int(votes) >= 4)
    for part in ("train", "validation"):
        for cells in fields(data / f"paraphrase/parade/{part}.tsv.gz"):
            yield row("PARADE", cells[3], cells[4], cells[1] == "1")
    for label, a, b in fields(data / "paraphrase/apt-human/train.tsv.gz"):
        yield row("APT", a, b, label == "1")
    pairs, relations = (list(fields(data / f"sts/sick2014/SICK.test{part}.tsv")) for part in ("", ".entailment"))
    for (score, a, b), (_, relation) in zip(pairs, relations, strict=True):
        if relation == "ENTAILMENT" and float(score) >= 4.5:
            yield row("SICK", a, b, True)
        elif relation == "CONTRADICTION" or float(score) < 3.5:
            yield row("SICK", a, b, False)
    yield from read_pairs()


def read_pairs() -> Iterator[Row]:
    """Pairs of the quickstart that two language models read."""
    with (ROOT / "benchmarks/readings/quickstart.tsv").open(encoding="utf-8") as file:
        for cells in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            label = cells["meaning_1"] == cells["meaning_2"] == "k"
            yield {"set": "quickstart, read", "kind": "", "src": cells["src"], "tgt": cells["tgt"], "label": int(label)}


def development_pairs(data: Path, rules: Any, test: set[tuple[str, str]]) -> dict[str, list[tuple[str, str]]]:
    """Real paraphrases that neither a training nor the test sets have."""
    tatoeba = sorted(pair for pair, count in rules.common_translations(data).items() if count == 1)
    news = [(row[3], row[4]) for row in fields(data / "bitext/wmt-news/en-two-references.tsv.gz")]
    pairs, relations = (list(fields(data / f"sts/sick2014/SICK.train{part}.tsv")) for part in ("", ".entailment"))
    result = {
        "Tatoeba": [pair for pair in tatoeba if rules.agree(*pair) and min(map(len, pair)) > 20
                    and (rules.is_held_out(pair[0]) or rules.is_held_out(pair[1]))],
        "news": news,
        "questions": [(row[0], row[1]) for row in fields(data / "paraphrase/quora-50k/train.tsv.gz")],
        "captions": [(a, b) for (score, a, b), (_, relation) in zip(pairs, relations, strict=True)
                     if float(score) >= 4.5 and relation == "ENTAILMENT"],
    }  # fmt: skip
    return {name: [pair for pair in pairs if pair not in test] for name, pairs in result.items()}


def development_labels(data: Path, rules: Any) -> Iterator[Row]:
    """Pairs that people labeled and that neither a training nor the test sets have."""
    for label, a, b in fields(data / "paraphrase/paws-wiki/dev.tsv.gz"):
        if rules.is_held_out(a) or rules.is_held_out(b):
            yield {"set": "PAWS-Wiki", "kind": "", "src": a, "tgt": b, "label": int(label)}
    for label, _, _, a, b in itertools.islice(fields(data / "paraphrase/mrpc/msr_paraphrase_train.tsv"), 1200):
        yield {"set": "MRPC", "kind": "", "src": a, "tgt": b, "label": int(label)}


def make_sets(data: Path, limit: int = 1500, test: list[Row] | None = None) -> list[Row]:
    """All pairs with label, set and kind of change; with the test sets, small ones for development."""
    rules, random = recipe(), np.random.default_rng(SEED)
    tatoeba = {pair for pair in rules.common_translations(data) if rules.agree(*pair)}
    if test is None:
        right = right_pairs(data, rules)
    else:
        right, limit = development_pairs(data, rules, {(row["src"], row["tgt"]) for row in test}), 400
    texts = [text for pairs in right.values() for pair in pairs for text in pair]
    pool = texts + [row[-1] for row in fields(data / "bitext/tatoeba-2/es-en.tsv.gz")]
    near, synonyms = rules.near_words(data, tatoeba, pool)
    rows: list[Row] = []
    for name, pairs in right.items():
        chosen = [pairs[i] for i in random.permutation(len(pairs))[:limit].tolist()]
        words = Words(names_in([text for pair in chosen for text in pair]), near, synonyms)
        for a, b in chosen:
            rows.append({"set": name, "kind": "", "src": a, "tgt": b, "label": 1})
        for kind in KINDS:
            count = 0
            for a, b in chosen:
                changed = change(b, kind, random, words)
                if changed is not None and changed.lower() != a.lower() and count < 500:
                    rows.append({"set": name, "kind": kind, "src": a, "tgt": changed, "label": 0})
                    count += 1
    rows += labeled(data) if test is None else development_labels(data, rules)
    rows += written_synonyms()
    return [row for row in rows if row["src"].strip() and row["tgt"].strip()]


def written_synonyms() -> Iterator[Row]:
    """Sentences with one word replaced by a synonym, and by a word that means something else."""
    for label, a, b in list(fields(ROOT / "benchmarks/readings/synonyms.tsv"))[1:]:
        yield {"set": "synonyms", "kind": "", "src": a, "tgt": b, "label": int(label)}


def auc(values: np.ndarray, labels: np.ndarray) -> float:
    """Probability that a right pair has the better value; ties count half."""
    from scipy.stats import rankdata

    right = labels == 1
    if not right.any() or right.all():
        return float("nan")
    ranks = rankdata(values)
    n, m = right.sum(), (~right).sum()
    return float((ranks[right].sum() - n * (n + 1) / 2) / (n * m))


SCORERS = ("judge", "p_paraphrase", "english", "english-small", "overlap")
"""What is compared: the judge, `p_paraphrase` without translators as it was before the judge, cosines of two encoders,
word overlap."""
TEXTS = ("Tatoeba", "captions", "questions", "news")
PASSED = ("strict", "balanced", "0.5")
"""Presets, judging by the judge alone, and a threshold of the judge."""


def scored(rows: list[Row], before: Path) -> dict[str, np.ndarray]:
    """Values of each score of `SCORERS`; `before` has the paraphrase model."""
    pairs = pairs_of(rows)
    first = pairs.score(["judge", *GATE], encoder="english", paraphrase_model=before).to_arrow()
    second = pairs.score([], encoder="english-small").to_arrow()
    columns = {
        "judge": first["judge"], "p_paraphrase": first["p_paraphrase"], "english": first["paraphrase_score"],
        "english-small": second["paraphrase_score"], "overlap": first["unigram_overlap"],
    }  # fmt: skip
    return {name: np.nan_to_num(np.asarray(value.to_numpy(), np.float64), nan=0.0) for name, value in columns.items()}


GATE = ("overlap", "chrf", "bleu1", "mismatch", "meaning", "ratio")
"""Scores that `p_paraphrase` of version 0.2 reads of pairs without translators, and what tells near copies."""


def pairs_of(rows: list[Row]) -> Any:
    """The pairs as a corpus."""
    from paraloom import as_pairs

    columns = {name: [row[name] for row in rows] for name in ("src", "tgt")}
    return as_pairs(pa.table({**columns, **{name: ["en"] * len(rows) for name in ("src_lang", "tgt_lang")}}))


def near_copies(rows: list[Row]) -> np.ndarray:
    """True for the pairs that no preset keeps, whatever the judge says."""
    from paraloom.pairs.scoring.paraphrase_model import CHANGES, ParaphraseModelConfig

    table = pairs_of(rows).score(["chrf", "meaning"]).to_arrow()
    changes = np.fmax.reduce([np.asarray(table[name].to_numpy(), np.float64) for name in CHANGES])
    return np.asarray((table["chrf"].to_numpy() > ParaphraseModelConfig(features=("judge",)).max_chrf) | (changes == 0))


def passing(judge: np.ndarray, copies: np.ndarray) -> dict[str, np.ndarray]:
    """Which pairs pass each of `PASSED`."""
    from paraloom.bundled import PARAPHRASE_MODEL, bundled_path
    from paraloom.pairs.scoring.paraphrase_model import ParaphraseModel

    folder = bundled_path(PARAPHRASE_MODEL)
    assert folder is not None
    model = ParaphraseModel.load(folder)
    probability = model.find(["judge"]).probability({"judge": judge})
    presets = {name: (probability >= model.presets[name].threshold) & ~copies for name in PASSED[:2]}
    return {**presets, "0.5": judge >= 0.5}


def interval(values: np.ndarray, labels: np.ndarray, seed: int = 1, draws: int = 200) -> tuple[float, float]:
    """95 % interval of the area under the ROC curve, by bootstrap of right and wrong pairs."""
    random, right, wrong = np.random.default_rng(seed), values[labels == 1], values[labels == 0]
    areas = []
    for _ in range(draws):
        a, b = random.choice(right, len(right)), random.choice(wrong, len(wrong))
        areas.append(auc(np.concatenate([a, b]), np.repeat([1, 0], [len(a), len(b)])))
    return float(np.percentile(areas, 2.5)), float(np.percentile(areas, 97.5))


def figures(
    rows: list[Row], values: dict[str, np.ndarray], copies: np.ndarray, left_out: dict[str, np.ndarray]
) -> dict[str, Any]:
    """Areas, shares that pass, calibration; `left_out` has values of judges that never saw a kind."""
    sets, kinds, labels = (np.array([row[name] for row in rows]) for name in ("set", "kind", "label"))
    result: dict[str, Any] = {"sets": {}, "kinds": {}, "passed": {}, "calibration": {}}
    passed = passing(values["judge"], copies)
    for name in dict.fromkeys(sets.tolist()):
        inside, changed = sets == name, sorted(set(kinds[sets == name]) - {""})
        for kind in changed or [""]:
            chosen, wrong = inside & ((kinds == kind) | (kinds == "")), inside & (kinds == kind) & (labels == 0)
            if kind and wrong.sum() < FEWEST:
                continue
            entry = {"right": int((labels[chosen] == 1).sum()), "wrong": int(wrong.sum())}
            entry |= _areas({score: value[chosen] for score, value in values.items()}, labels[chosen])
            known = {"seen": left_out.get("seen"), "left out": left_out.get(kind)} if kind else {}
            stored = {what: value[chosen] for what, value in known.items() if value is not None}
            entry |= _areas(stored, labels[chosen], intervals=("left out",))
            result["kinds" if kind else "sets"][f"{name}, {kind}" if kind else name] = entry
        for kind, label in [(kind, 0) for kind in changed] + ([("", 1)] if changed else [("", 1), ("", 0)]):
            chosen, right = inside & (kinds == kind) & (labels == label), inside & (kinds == "") & (labels == 1)
            if chosen.sum() < FEWEST:
                continue
            entry = {what: round(float(kept[chosen].mean()), 4) for what, kept in passed.items()}
            if kind in left_out:
                # Where as many right pairs pass as with the preset.
                cut = np.quantile(left_out[kind][right], 1 - passed["strict"][right].mean())
                entry["strict, left out"] = round(float((left_out[kind][chosen] > cut).mean()), 4)
            elif label and left_out:
                entry["strict, left out"] = entry["strict"]
            entry["pairs"] = int(chosen.sum())
            result["passed"][f"{name}, {kind or ('right' if label else 'wrong')}"] = entry
        result["calibration"][name] = expected_error(values["judge"][inside], labels[inside])
    return result


FEWEST = 25
"""Fewest pairs of which a figure is shown."""


def _areas(values: dict[str, np.ndarray], labels: np.ndarray, intervals: tuple[str, ...] = ("judge",)) -> Row:
    """Areas of scores, with the intervals of some."""
    result: Row = {name: round(auc(value, labels), 4) for name, value in values.items()}
    for name in intervals:
        if name in values:
            result[f"{name}, interval"] = [round(end, 4) for end in interval(values[name], labels)]
    return result


def other_judges(rows: list[Row], folders: list[Path]) -> dict[str, Any]:
    """Figures of other judges: the same parts, each figure a list with one value for each judge."""
    from paraloom.pairs.scoring.judge import Judge

    copies, results = near_copies(rows), []
    for folder in folders:
        judge = Judge.load(folder).probabilities([row["src"] for row in rows], [row["tgt"] for row in rows])[:, 0]
        results.append(figures(rows, {"judge": np.nan_to_num(judge.astype(np.float64))}, copies, {}))
    keys = {"sets": "judge", "kinds": "judge", "calibration": "error"}
    result: dict[str, Any] = {
        part: {name: [one[part][name][key] for one in results] for name in results[0][part]}
        for part, key in keys.items()
    }
    result["passed"] = {
        name: {what: [one["passed"][name][what] for one in results] for what in PASSED} for name in results[0]["passed"]
    }
    return result


def expected_error(probabilities: np.ndarray, labels: np.ndarray, bins: int = 10) -> dict[str, float]:
    """Expected calibration error over bins of equal size, the mean probability, and the share of right pairs."""
    order = np.argsort(probabilities)
    error = sum(
        abs(probabilities[part].mean() - labels[part].mean()) * len(part) / len(order)
        for part in np.array_split(order, bins) if len(part)
    )  # fmt: skip
    return {
        "error": round(float(error), 4),
        "mean": round(float(probabilities.mean()), 4),
        "right": round(float(labels.mean()), 4),
    }


def long_texts(rows: list[Row], documents: int = 150, sentences: int = 16) -> dict[str, dict[str, float]]:
    """Areas for texts of many sentences, of which one may be changed: cut to what the model reads, and in windows."""
    from paraloom.pairs.scoring.judge import bundled_judge

    judge, random, result = bundled_judge(), np.random.default_rng(SEED), {}
    for name in ("news", "questions", "captions"):
        changed = {row["src"]: row["tgt"] for row in rows if row["set"] == name and row["label"] == 0}
        right = {row["src"]: row["tgt"] for row in rows if row["set"] == name and row["src"] in changed
                 and row["label"] == 1}  # fmt: skip
        pairs, labels = [], []
        for _ in range(documents):
            firsts = [list(right)[i] for i in random.permutation(len(right))[:sentences].tolist()]
            at = int(random.integers(sentences))
            for label in (1, 0):
                seconds = [(right if label or i != at else changed)[first] for i, first in enumerate(firsts)]
                pairs.append((" ".join(firsts), " ".join(seconds)))
                labels.append(label)
        values = {"cut": judge.encoder.logits(pairs)[:, 0], "windows": judge.predict(*zip(*pairs, strict=True))}
        result[name] = {kind: round(auc(value, np.array(labels)), 4) for kind, value in values.items()}
        result[name]["passed"] = round(float((values["windows"][::2] >= 0.5).mean()), 4)
    return result


def calibrate(rows: list[Row], folder: Path) -> dict[str, list[float]]:
    """Write slopes and shifts that fit Tatoeba, PAWS-Wiki and the pairs that were read, each label as heavy."""
    from paraloom.pairs.judging.fitting import calibrated

    rows = [row for row in rows if row["set"] in ("Tatoeba", "PAWS-Wiki")] + list(read_pairs())
    logits, random, chosen = logits_by(folder, rows).astype(np.float64), np.random.default_rng(1), []
    sets, labels = np.array([row["set"] for row in rows]), np.array([row["label"] for row in rows])
    for name in dict.fromkeys(sets.tolist()):
        for label in (0, 1):
            chosen.append(random.choice(np.flatnonzero((sets == name) & (labels == label)), 400))
    part = np.concatenate(chosen)
    known = np.array([[label, 1 if row["kind"] == "dropped" else label, label]
                      for row, label in zip(rows, labels.tolist(), strict=True)], np.uint8)  # fmt: skip
    names = ("same", "forward", "backward")
    result = {name: list(calibrated(logits[part, i], known[part, i])) for i, name in enumerate(names)}
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    written = json.dumps({**config, "calibration": {**config["calibration"], **result}}, indent=1, ensure_ascii=False)
    (folder / "config.json").write_text(written + "\n", encoding="utf-8")
    return result


def speed(rows: list[Row]) -> dict[str, float]:
    """Pairs per second of one core, by processor time, which other processes do not lengthen: the best of 8 rounds."""
    from paraloom.pairs.scoring.judge import bundled_judge

    judge, result = bundled_judge(), {}
    for name in ("Tatoeba", "captions", "news"):
        chosen = [row for row in rows if row["set"] == name][:250]
        seconds = []
        for _ in range(8):
            started = time.process_time()
            judge.probabilities([row["src"] for row in chosen], [row["tgt"] for row in chosen])
            seconds.append(time.process_time() - started)
        result[name] = round(len(chosen) / min(seconds))
    return result


Judge = Callable[[list[str], list[str]], np.ndarray]
"""Values of pairs: one column, or same, forward and backward."""


def stub(body: dict[str, Any], number: int) -> tuple[int, dict[str, str], bytes]:
    """The answer of a server without a model."""
    top = [{"token": "Yes", "logprob": -0.5}, {"token": "No", "logprob": -1.0}]
    choice = {"message": {"content": "Yes"}, "logprobs": {"content": [{**top[0], "top_logprobs": top}]}}
    choices = [choice | {"index": index} for index in range(body.get("n", 1))]
    return 200, {}, json.dumps({"choices": choices, "usage": {"prompt_tokens": 90, "completion_tokens": 1}}).encode()


def all_judges(scratch: Path, url: str) -> dict[str, tuple[Judge, str, bool]]:
    """Name of a judge → its function, what it takes, and whether it has learned anything or has a speed only."""
    from tiny_cross_encoder import save_tiny_cross_encoder

    from paraloom import Encoder, EndpointTranslator
    from paraloom.mt.endpoint_judge import EndpointJudge
    from paraloom.pairs.scoring.judge import bundled_judge, load_judge

    def cosine(name: str) -> Judge:
        encoder = Encoder.load(name)
        return lambda a, b: np.einsum("nd,nd->n", *(_normalized(encoder.encode(side)) for side in (a, b)))

    judges: dict[str, tuple[Judge, str, bool]] = {
        "bundled judge": (bundled_judge().probabilities, "11.6 MB; `cross-encoder`", True),
        "`english`, cosine": (cosine("english"), "11 MB; none", True),
        "`english-small`, cosine": (cosine("english-small"), "12 MB; `transformer`", True),
    }
    shapes = {"6 layers of 384": (6, 384, "91 MB"), "12 layers of 768": (12, 768, "438 MB")}
    for name, (layers, width, size) in shapes.items():
        (scratch / str(width)).mkdir()
        sizes = {"num_hidden_layers": layers, "hidden_size": width, "num_attention_heads": 12}
        folder = save_tiny_cross_encoder(scratch / str(width), **sizes, intermediate_size=4 * width)
        judges[f"entailment model, {name}"] = load_judge(folder).probabilities, f"{size}; `cross-encoder`", False
    model = EndpointJudge(EndpointTranslator(url, "m", prompt="judge"))
    judges["language model behind an endpoint"] = model.probabilities, "the server's; `endpoint`", False
    return judges


def _normalized(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


SEEN = ("words", "role", "number", "negation", "dropped")
"""Changes by which the table of judges tells what they see."""


def compare_judges(rows: list[Row], pairs: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """What judges see in captions, and milliseconds of a processor for a row of the quickstart."""
    sys.path.insert(0, str(ROOT / "tests"))
    from openai_server import OpenAIServer, serve

    captions = [row for row in rows if row["set"] == "captions" and row["kind"] in ("", *SEEN)]
    kinds, labels = np.array([row["kind"] for row in captions]), np.array([row["label"] for row in captions])
    firsts, seconds = ([row[side] for row in captions] for side in ("src", "tgt"))
    table = []
    with tempfile.TemporaryDirectory() as scratch, serve(OpenAIServer(fault=stub)) as server:
        for name, (judge, needs, knows) in all_judges(Path(scratch), server.url).items():
            judge([a for a, _ in pairs[:8]], [b for _, b in pairs[:8]])
            started = time.process_time()
            judge(*(list(side) for side in zip(*pairs, strict=True)))
            entry: dict[str, Any] = {"judge": name, "needs": needs}
            entry["milliseconds"] = round(1000 * (time.process_time() - started) / len(pairs), 2)
            if knows:
                values = np.nan_to_num(judge(firsts, seconds)).reshape(len(captions), -1)
                for kind in SEEN:
                    chosen = (kinds == kind) | (kinds == "")
                    entry[kind] = round(auc(values[chosen, 0], labels[chosen]), 3)
                if values.shape[1] > 1:
                    dropped = values[kinds == "dropped"]
                    entry["direction"] = round(float((dropped[:, 1] > dropped[:, 2]).mean()), 3)
            table.append(entry)
            print(entry, flush=True)
    return table


def logits_by(folder: Path, rows: list[Row]) -> np.ndarray:
    """Logits of the judge of a folder."""
    from paraloom.pairs.scoring.judge import Judge

    return Judge.load(folder).encoder.logits([(row["src"], row["tgt"]) for row in rows])


def page(measured: dict[str, Any], seeds: dict[str, Any], commit: str, date: str) -> None:
    """Write the tables of judge.json: the bundled judge, and trainings with other seeds."""
    from results_pages import FOLDER, read_topic, write_pages, write_topic

    def cut(value: float | None) -> str:
        if value is None:
            return "–"
        digits = 3 if 0.995 <= value < 0.9995 else 2
        return f"{value:.{digits}f}".removeprefix("0")

    def percent(value: float | None) -> str:
        return "–" if value is None else f"{100 * value:.{0 if value >= 0.0995 or not value else 1}f} %"

    def area(entry: dict[str, Any], name: str = "judge") -> str:
        if name not in entry:
            return "–"
        return f"{cut(entry[name])} [{', '.join(cut(end) for end in entry[f'{name}, interval'])}]"

    def others(entry: dict[str, Any], names: Sequence[str] = SCORERS[1:]) -> list[str]:
        return [cut(entry[name]) for name in names]

    def changed(kind: str) -> list[str]:
        entries = (measured["kinds"].get(f"{text}, {kind}") for text in TEXTS)
        return [f"{cut(of['judge'])}; {cut(of.get('left out'))}; {cut(of['english'])}" if of else "" for of in entries]

    def passes(text: str, way: str) -> list[str]:
        shares = {kind: measured["passed"].get(f"{text}, {kind}", {}).get(way) for kind in SHOWN}
        worst = max((share for share in shares.values() if share is not None), default=None)
        kinds = [kind for kind, share in shares.items() if share == worst and worst]
        return [
            percent(measured["passed"].get(f"{text}, right", {}).get(way)),
            f"{percent(worst)} ({kinds[0]})" if kinds else percent(worst),
        ]

    tables = {
        "Sets that people labeled": [
            [name, f"{entry['right']:,} / {entry['wrong']:,}", area(entry), *others(entry)]
            for name, entry in measured["sets"].items()
        ],
        "One change in a real paraphrase": [[kind, *changed(kind)] for kind in (*SHOWN, "quantifier")],
        "What passes a preset": [[text, *(cell for way in WAYS for cell in passes(text, way))] for text in TEXTS],
        "Are the probabilities right?": [
            [name, percent(entry["right"]), percent(entry["mean"]), cut(entry["error"])]
            for name, entry in measured["calibration"].items()
        ],
    }  # fmt: skip
    path = FOLDER / "judge.json"
    topic = read_topic(path)
    for result in topic["results"]:
        if result.get("heading") in tables:
            trainings = len(next(iter(seeds["sets"].values())))
            result |= {"rows": tables[result["heading"]], "commit": commit, "date": date, "seeds": str(trainings)}
    write_topic(path, topic)
    write_pages()


SHOWN = ("words", "dropped", "replaced", "role", "negation", "number", "name")
WAYS = ("strict", "balanced", "0.5")


def main() -> None:
    """Make the sets, or measure on them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    sets = commands.add_parser("sets")
    sets.add_argument("--development", type=Path, help="the test sets: makes small sets that share no pair with them")
    sets.add_argument("-o", "--output", type=Path, required=True)
    logits = commands.add_parser("logits")
    logits.add_argument("sets", type=Path)
    logits.add_argument(
        "judges", nargs="+", help="KIND=FOLDER: a judge that was trained without a kind; hard1: with all"
    )
    logits.add_argument("-o", "--output", type=Path, required=True)
    judges = commands.add_parser("judges")
    judges.add_argument("sets", type=Path)
    judges.add_argument("scored", type=Path, help="the stage `scored` of a quickstart, for the cost of its rows")
    judges.add_argument("-o", "--output", type=Path, required=True)
    fitting = commands.add_parser("calibrate", help="fit the probabilities of a judge to the sets for development")
    fitting.add_argument("sets", type=Path)
    fitting.add_argument("judge", type=Path)
    seeds = commands.add_parser("seeds", help="figures of other judges: trainings with other seeds, or before one")
    seeds.add_argument("sets", type=Path)
    seeds.add_argument("judges", type=Path, nargs="+")
    seeds.add_argument("-o", "--output", type=Path, required=True)
    limits = commands.add_parser("limits", help="long texts, and speed")
    limits.add_argument("sets", type=Path)
    limits.add_argument("-o", "--output", type=Path, required=True)
    making = commands.add_parser("page", help="write the tables of the results page")
    making.add_argument("figures", type=Path, nargs=2, help="of `measure`, and of `seeds`")
    making.add_argument("--commit", required=True)
    making.add_argument("--date", required=True)
    measure = commands.add_parser("measure")
    measure.add_argument("sets", type=Path)
    measure.add_argument("--before", type=Path, required=True, help="folder of the paraphrase model before the judge")
    measure.add_argument("--left-out", type=Path, help="logits by judges that were trained without a kind, .npz")
    measure.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    if arguments.command == "calibrate":
        print(calibrate(pq.read_table(arguments.sets).to_pylist(), arguments.judge))
        return
    if arguments.command == "page":
        page(*(json.loads(path.read_text("utf-8")) for path in arguments.figures), arguments.commit, arguments.date)
        return
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    if arguments.command == "sets":
        test = pq.read_table(arguments.development).to_pylist() if arguments.development else None
        pairs = make_sets(Path(os.environ["PARALOOM_DATA"]), test=test)
        pq.write_table(pa.Table.from_pylist(pairs), arguments.output)
        return
    rows = pq.read_table(arguments.sets).to_pylist()
    if arguments.command == "judges":
        scored_rows = [
            row for batch in Corpus.open(arguments.scored).batches(["src", "tgt"]) for row in batch.to_pylist()
        ]
        table = compare_judges(rows, [(row["src"], row["tgt"]) for row in scored_rows[:800]])
        arguments.output.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
        return
    if arguments.command == "limits":
        result = {"long": long_texts(rows), "speed": speed(rows)}
        arguments.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        return
    if arguments.command == "seeds":
        result = other_judges(rows, arguments.judges)
        arguments.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        return
    if arguments.command == "logits":
        named = dict(judge.split("=", 1) for judge in arguments.judges)
        np.savez_compressed(arguments.output, **{kind: logits_by(Path(folder), rows) for kind, folder in named.items()})
        return
    left_out = {}
    if arguments.left_out:
        stored = np.load(arguments.left_out, allow_pickle=False)
        kinds = {"without-swap": "words", "hard1": "seen"}
        left_out = {
            kinds.get(name, name.removeprefix("without-")): np.resize(stored[name][:, 0].astype(np.float64), len(rows))
            for name in stored.files
        }
    result = figures(rows, scored(rows, arguments.before), near_copies(rows), left_out)
    arguments.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for part in ("sets", "kinds"):
        for name, entry in result[part].items():
            print(f"{name:<26}", *(f"{key} {value}" for key, value in entry.items() if "interval" not in key))


if __name__ == "__main__":
    main()
