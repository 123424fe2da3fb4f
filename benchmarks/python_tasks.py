"""Eight tasks in Python, in Paraloom and in the tools that can do them: lines of user code, and seconds.

    PARALOOM_DATA=… python benchmarks/python_tasks.py                     # all tasks and tools
    PARALOOM_DATA=… python benchmarks/python_tasks.py --only embed search --sentences 1000
    PARALOOM_DATA=… python benchmarks/python_tasks.py --write             # and put the table on the page of results

A task of a tool is a function of this script, and its body is what a user writes: imports are part of it, and lines are
those of the statements, as `ast` counts them, after formatting to 120 characters. Each runs in a process of its own;
seconds are those of the body, imports and the loading of models included. A tool that is not installed, or that lacks
something, is skipped with its message; one without a function cannot do the task by itself.

No model is downloaded: sentence-transformers has a network of the size of all-MiniLM-L6-v2 with random weights, and
model2vec a table of 29,528 random vectors of 256 numbers. They show what such models take, not what they find.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import lzma
import os
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from results_pages import FOLDER, put_result

TASKS = {
    "embed": "embed sentences",
    "search": "find the five nearest sentences to each of 100",
    "mine": "mine paraphrases in a text",
    "evaluate": "BLEU and chrF with confidence intervals, 2,000 sentences",
    "filter": "filter a bitext by ratio, length and language, and drop duplicates",
    "deduplicate": "drop near-duplicates of a corpus",
    "backtranslate": "paraphrase pairs from a bitext, 200 of its pairs",
    "train": "train an encoder on 2,000 pairs, one pass",
}
TOOLS = ("paraloom", "sentence-transformers", "model2vec", "sacreBLEU", "OpusFilter", "datatrove")


def embed__paraloom(lines: list[str]) -> Any:
    import paraloom

    return paraloom.Encoder.load("english").encode(lines)


def embed__sentence_transformers(lines: list[str]) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer("minilm").encode(lines)


def embed__model2vec(lines: list[str]) -> Any:
    from model2vec import StaticModel

    return StaticModel.from_pretrained("static").encode(lines)


def search__paraloom(lines: list[str]) -> Any:
    import paraloom

    return paraloom.search(lines[:100], lines, k=5)


def search__sentence_transformers(lines: list[str]) -> Any:
    from sentence_transformers import SentenceTransformer, util

    model = SentenceTransformer("minilm")
    return util.semantic_search(model.encode(lines[:100]), model.encode(lines), top_k=5)


def search__model2vec(lines: list[str]) -> Any:
    import numpy as np
    from model2vec import StaticModel

    vectors = StaticModel.from_pretrained("static").encode(lines)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    cosines = vectors[:100] @ vectors.T
    return [[(lines[index], row[index]) for index in np.argsort(-row)[:5]] for row in cosines]


def mine__paraloom(lines: list[str]) -> Any:
    import paraloom

    return paraloom.mine(lines, encoder="english", above=0.85).to_list()


def mine__sentence_transformers(lines: list[str]) -> Any:
    from sentence_transformers import SentenceTransformer, util

    matches = util.paraphrase_mining(SentenceTransformer("minilm"), lines)
    return [(lines[first], lines[second]) for score, first, second in matches if score > 0.85]


def evaluate__paraloom(hypotheses: list[str], references: list[str]) -> Any:
    import paraloom

    return paraloom.evaluate_translation(hypotheses, references)


def evaluate__sacrebleu(hypotheses: list[str], references: list[str]) -> Any:
    from sacrebleu.metrics import BLEU, CHRF

    return [metric.corpus_score(hypotheses, [references], n_bootstrap=1000) for metric in (BLEU(), CHRF())]


def filter__paraloom() -> Any:
    import paraloom

    pairs = paraloom.read_pairs("bitext.{de,en}").score(["length", "ratio"])
    kept = pairs.filter("word_ratio <= 3 and src_tokens <= 60 and tgt_tokens <= 60")
    return kept.drop_duplicates().write("kept.parquet")


def filter__opusfilter() -> Any:
    from opusfilter.opusfilter import OpusFilter

    files = {"inputs": ["bitext.de", "bitext.en"], "outputs": ["distinct.de", "distinct.en"]}
    kept = {"inputs": files["outputs"], "outputs": ["kept.de", "kept.en"]}
    filters = [
        {"LengthRatioFilter": {"unit": "word", "threshold": 3}},
        {"LengthFilter": {"unit": "word", "min_length": 1, "max_length": 60}},
        {"LinguaFilter": {"languages": ["de", "en"], "thresholds": [0.5, 0.5]}},
    ]
    steps = [
        {"type": "remove_duplicates", "parameters": files},
        {"type": "filter", "parameters": {**kept, "filters": filters}},
    ]
    return OpusFilter({"common": {"output_directory": "."}, "steps": steps}).execute_steps()


def deduplicate__paraloom(lines: list[str]) -> Any:
    import paraloom

    return paraloom.as_pairs([(line, line) for line in lines]).drop_duplicates().to_list()


def deduplicate__datatrove() -> Any:
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter
    from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupSignature
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers.jsonl import JsonlWriter
    from datatrove.utils.hashing import HashConfig

    config = MinhashConfig(n_grams=3, num_buckets=14, hashes_per_bucket=8, hash_config=HashConfig(hash_fc="sha1"))
    reader = JsonlReader(".", glob_pattern="lines.jsonl")
    steps = [
        ([reader, MinhashDedupSignature("signatures", config=config)], 1),
        ([MinhashDedupBuckets("signatures", "buckets", config=config)], config.num_buckets),
        ([MinhashDedupCluster("buckets", "removed", config=config)], 1),
        ([reader, MinhashDedupFilter("removed"), JsonlWriter("distinct")], 1),
    ]
    for number, (pipeline, tasks) in enumerate(steps):
        LocalPipelineExecutor(pipeline, tasks=tasks, logging_dir=f"logs/{number}").run()


def backtranslate__paraloom(bitext: list[tuple[str, str]]) -> Any:
    import paraloom

    pairs = paraloom.as_pairs(bitext, src_lang="de", tgt_lang="en")
    return pairs.backtranslate("de-en").filter(preset="loose").to_list()


def train__paraloom(pairs: list[tuple[str, str]]) -> Any:
    import paraloom

    paraloom.as_pairs(pairs).write("pairs.parquet")
    return paraloom.train_encoder("pairs.parquet", "encoder", epochs=1)


def train__sentence_transformers(pairs: list[tuple[str, str]]) -> Any:
    from datasets import Dataset
    from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, losses

    model = SentenceTransformer("minilm")
    data = Dataset.from_list([{"anchor": first, "positive": second} for first, second in pairs])
    trainer = SentenceTransformerTrainer(model, train_dataset=data, loss=losses.MultipleNegativesRankingLoss(model))
    trainer.train()
    model.save_pretrained("trained")


def train__model2vec() -> Any:
    from model2vec.distill import distill

    distill("minilm").save_pretrained("distilled")


NOTES = {
    ("deduplicate", "paraloom"): "pairs of a line with itself",
    ("evaluate", "paraloom"): "by sacreBLEU",
    ("train", "model2vec"): "distills a model without pairs",
    ("train", "paraloom"): "a static encoder",
}
"""What has to be said of a function."""


def function(task: str, tool: str) -> Callable[..., Any] | None:
    """The code of a task in a tool."""
    matches: Callable[..., Any] | None = globals().get(f"{task}__{tool.lower().replace('-', '_')}")
    return matches


def lines_of_code(code: Callable[..., Any]) -> int:
    """Lines of the statements of a function, without the blank ones and its head."""
    source = textwrap.dedent(inspect.getsource(code))
    (definition,) = ast.parse(source).body
    assert isinstance(definition, ast.FunctionDef)
    used = {
        line
        for statement in definition.body
        for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    }
    return sum(bool(source.splitlines()[line - 1].strip()) for line in used)


def write_inputs(folder: Path, data: Path, sentences: int, pairs: int) -> None:
    """The text and the bitext of the tasks."""
    lines: list[str] = []
    for file in sorted((data / "sentences-en").glob("*.txt.xz")):
        with lzma.open(file, "rt", encoding="utf-8") as stream:
            lines += [" ".join(line.split()) for line, _ in zip(stream, range(sentences // 25 + 1), strict=False)]
    lines = [line for line in lines if line][:sentences]
    (folder / "lines.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    (folder / "lines.jsonl").write_text(
        "".join(json.dumps({"text": line, "id": str(number)}) + "\n" for number, line in enumerate(lines)), "utf-8"
    )
    import gzip

    for language in ("de", "en"):
        with gzip.open(data / f"bitext/multi30k/task1/train.{language}.gz", "rt", encoding="utf-8") as stream:
            rows = [line.rstrip("\n") for line, _ in zip(stream, range(pairs), strict=False)]
        (folder / f"bitext.{language}").write_text("".join(f"{row}\n" for row in rows), "utf-8")


def make_models(folder: Path) -> None:
    """Models of the usual sizes with random weights, on a vocabulary of the text."""
    import numpy as np
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train([str(folder / "lines.txt")], trainers.WordPieceTrainer(vocab_size=29_528, special_tokens=special))
    size = tokenizer.get_vocab_size()
    try:
        from model2vec import StaticModel

        vectors = np.random.default_rng(1).standard_normal((size, 256), np.float32)
        StaticModel(vectors=vectors, tokenizer=tokenizer).save_pretrained(str(folder / "static"))
    except ImportError:
        pass
    try:
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.models import Pooling, Transformer
        from transformers import BertConfig, BertModel, PreTrainedTokenizerFast
    except ImportError:
        return
    config = BertConfig(
        vocab_size=size, hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536
    )
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True))
    BertModel(config).save_pretrained(folder / "network")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder / "network")
    network = Transformer(str(folder / "network"), max_seq_length=128)
    SentenceTransformer(modules=[network, Pooling(384)], device="cpu").save_pretrained(str(folder / "minilm"))


def run_task(task: str, tool: str) -> None:
    """Run a task in this process, in the folder with its inputs; prints the seconds."""
    text = Path("lines.txt").read_text("utf-8").splitlines()
    german, english = (Path(f"bitext.{language}").read_text("utf-8").splitlines() for language in ("de", "en"))
    bitext = list(zip(german, english, strict=True))
    known = {
        "lines": text,
        "hypotheses": [f"{line} ." for line in english[:2000]],
        "references": english[:2000],
        "bitext": bitext[:200],
        "pairs": [(line, f"so {line}") for line in english[:2000]],
    }
    code = function(task, tool)
    assert code is not None
    arguments = {name: known[name] for name in inspect.signature(code).parameters}
    started = time.perf_counter()
    code(**arguments)
    print(f"\nSECONDS {time.perf_counter() - started}", flush=True)


def try_task(task: str, tool: str, folder: Path, limit: float) -> dict[str, Any]:
    """Lines and seconds of a task in a tool; or why there are none."""
    code = function(task, tool)
    if code is None:
        return {"lines": 0, "seconds": None, "message": ""}
    command = [sys.executable, __file__, "--task", task, "--tool", tool]
    offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    offline |= {"PYTHONPATH": os.pathsep.join(map(str, sys.path[1:]))}
    try:
        done = subprocess.run(
            command, cwd=folder, env={**os.environ, **offline}, capture_output=True, text=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return {"lines": lines_of_code(code), "seconds": None, "message": f"more than {limit:.0f} s"}
    last = [line for line in done.stdout.splitlines() if line.startswith("SECONDS ")]
    errors = [line for line in done.stderr.splitlines() if "Error" in line]
    return {
        "lines": lines_of_code(code),
        "seconds": float(last[-1].split()[1]) if last else None,
        "message": "" if last else (errors[-1] if errors else f"status {done.returncode}")[:160],
    }


def cell(outcome: dict[str, Any], note: str) -> str:
    """Lines and seconds in a cell of the table."""
    if not outcome["lines"]:
        return ""
    took = outcome["message"] if outcome["seconds"] is None else f"{outcome['seconds']:.1f} s"
    return f"{outcome['lines']} lines, {took}" + (f" ({note})" if note else "")


def main() -> None:
    """Print the table, and what was skipped."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--sentences", type=int, default=10_000)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--limit", type=float, default=900, help="seconds of a task at most")
    parser.add_argument("--write", action="store_true", help="put the table on the page of results")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    parser.add_argument("--tool", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        run_task(options.task, options.tool)
        return
    data = Path(os.environ.get("PARALOOM_DATA") or sys.exit("set PARALOOM_DATA to the folder of real corpora"))
    table = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_inputs(folder, data, options.sentences, options.pairs)
        make_models(folder)
        for task in options.only:
            cells = [TASKS[task]]
            for tool in TOOLS:
                outcome = try_task(task, tool, folder, options.limit)
                cells.append(cell(outcome, NOTES.get((task, tool), "")))
            table.append(cells)
            print(f"| {' | '.join(cells)} |", flush=True)
    if options.write:
        sizes = f"--sentences {options.sentences} --pairs {options.pairs}"
        put_result(FOLDER / "first-hour.json", {
            "heading": "Eight tasks in Python", "command": [f"python benchmarks/python_tasks.py {sizes} --write"],
            "machine": "cores", "columns": ["task", *TOOLS], "align": "l" * (1 + len(TOOLS)), "rows": table,
        })  # fmt: skip


if __name__ == "__main__":
    main()
