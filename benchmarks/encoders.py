"""Compare training and encoding speed with sentence-transformers' StaticEmbedding and with model2vec.

    PARALOOM_DATA=… python benchmarks/encoders.py --threads 1 2 --json speed.json

All use the same captions, dimension, vocabulary and batch size; each measurement runs in a process of its own with the
given number of processors, all systems in turn, `--rounds` times.  A rate is per second of processor time, of all
threads, from text to result, after a warm-up that compiles and loads: work of others on the machine does not count.
The peer trains in a bare loop over its own modules, without the overhead of its trainer, with sparse gradients and
SparseAdam, which is its fastest; its MegaBatchMarginLoss with batches of 100 corresponds to M = 1 here.
`--first NAME…` prints instead what the first sentence costs in a process of its own, by that encoder.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

BATCH = 100


def captions(data: Path) -> list[list[str]]:
    """The five descriptions of each of Multi30k's training images."""
    columns = []
    for number in range(1, 6):
        path = data / "bitext" / "multi30k" / "task2" / f"train.{number}.en.gz"
        if not path.is_file():
            sys.exit(f"{path} not found: set PARALOOM_DATA to the folder of real corpora")
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            columns.append([line.rstrip("\n") for line in lines])
    return columns


def training_pairs(data: Path, count: int) -> tuple[list[str], list[str]]:
    """`count` pairs of captions of the same image."""
    a, b, c, d, _ = captions(data)
    return (a + c)[:count], (b + d)[:count]


def sentences(data: Path, count: int) -> list[str]:
    """The first `count` captions."""
    return [caption for column in captions(data) for caption in column][:count]


def word_level(texts: list[str]) -> Any:
    """A lowercasing tokenizer of `tokenizers` that splits at whitespace and punctuation; it knows all words."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["[UNK]"], show_progress=False))
    return tokenizer


def ours_training(spec: str, megabatch: int) -> Callable[..., float]:
    def measure(data: Path, count: int, dimension: int, threads: int) -> float:
        import pyarrow as pa

        from paraloom.embed.config import EncoderConfig
        from paraloom.embed.training import train_encoder

        src, tgt = training_pairs(data, count)
        table = pa.table({"src": src, "tgt": tgt})
        config = EncoderConfig(spec=spec, dimension=dimension, epochs=1, batch_size=BATCH, megabatch_size=megabatch)

        def train(rows: pa.Table) -> None:
            with tempfile.TemporaryDirectory() as folder:
                train_encoder(rows.to_batches(max_chunksize=2048), config, folder, threads=threads)

        train(table.slice(0, 2 * BATCH))
        return count_per_second(len(src), lambda: train(table))

    return measure


def peer_training(loss_name: str, *, sparse: bool = True) -> Callable[..., float]:
    def measure(data: Path, count: int, dimension: int, threads: int) -> float:
        import torch
        from sentence_transformers import SentenceTransformer, losses
        from sentence_transformers.models import StaticEmbedding

        torch.set_num_threads(threads)
        src, tgt = training_pairs(data, count)
        model = SentenceTransformer(
            modules=[StaticEmbedding(word_level(src + tgt), embedding_dim=dimension)], device="cpu"
        )
        model[0].embedding.sparse = sparse
        options = {"use_mini_batched_version": False} if loss_name == "MegaBatchMarginLoss" else {}
        loss = getattr(losses, loss_name)(model, **options)
        adam = (torch.optim.SparseAdam if sparse else torch.optim.Adam)(list(model.parameters()), lr=1e-3)

        def train(stop: int) -> None:
            order = torch.randperm(stop).tolist()
            for start in range(0, stop, BATCH):
                chosen = order[start : start + BATCH]
                features = [model.preprocess([side[i] for i in chosen]) for side in (src, tgt)]
                adam.zero_grad()
                loss(features, None).backward()
                adam.step()

        train(2 * BATCH)
        return count_per_second(len(src), lambda: train(len(src)))

    return measure


def ours_encoding(spec: str, int8: bool = False) -> Callable[..., float]:
    def measure(data: Path, count: int, dimension: int, threads: int) -> float:
        from paraloom.embed.average import SentenceEncoder, quantize

        texts = sentences(data, count)
        encoder: SentenceEncoder = random_encoder(spec, texts, dimension, threads)
        if int8:
            encoder = quantize(encoder)
        encoder.encode(texts[:5000])
        return best_of(len(texts), lambda: encoder.encode(texts))

    return measure


def random_encoder(spec: str, texts: list[str], dimension: int, threads: int) -> Any:
    """An encoder with all units of the texts and random vectors: speed does not depend on their values."""
    import numpy as np

    from paraloom.embed.average import Average, SentenceEncoder
    from paraloom.embed.spec import parse_spec
    from paraloom.embed.vocabulary import UNITS, VocabularyCounter

    parts, draw = {}, np.random.default_rng(1)
    for name in parse_spec(spec).parts:
        counter = VocabularyCounter(name)
        for start in range(0, len(texts), 2048):
            chunk = texts[start : start + 2048]
            counter.count(chunk, UNITS[name].split(chunk))
        vocabulary = counter.most_common(100_000).vocabulary
        parts[name] = Average(vocabulary, draw.standard_normal((len(vocabulary), dimension), np.float32))
    return SentenceEncoder(parse_spec(spec), parts, threads)


def ours_with_their_tokenizer(data: Path, count: int, dimension: int, threads: int) -> float:
    """Paraloom with the tokenizer and vectors of model2vec's measurement."""
    import numpy as np

    from paraloom.embed.average import Average, SentenceEncoder
    from paraloom.embed.spec import parse_spec
    from paraloom.embed.static import TokenizerVocabulary

    texts = sentences(data, count)
    vocabulary = TokenizerVocabulary(word_level(texts).to_str(), drop_unknown=True)
    vectors = np.random.default_rng(1).standard_normal((len(vocabulary), dimension), np.float32)
    encoder = SentenceEncoder(parse_spec("token"), {"token": Average(vocabulary, vectors)}, threads)
    encoder.encode(texts[:5000])
    return best_of(len(texts), lambda: encoder.encode(texts))


def model2vec_encoding(data: Path, count: int, dimension: int, threads: int) -> float:
    import numpy as np
    from model2vec import StaticModel

    texts = sentences(data, count)
    tokenizer = word_level(texts)
    vectors = np.random.default_rng(1).standard_normal((tokenizer.get_vocab_size(), dimension), np.float32)
    model = StaticModel(vectors, tokenizer, normalize=False)
    model.encode(texts[:5000])
    parallel = threads > 1
    return best_of(len(texts), lambda: model.encode(texts, use_multiprocessing=parallel, multiprocessing_threshold=0))


def static_encoding(data: Path, count: int, dimension: int, threads: int) -> float:
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import StaticEmbedding

    torch.set_num_threads(threads)
    texts = sentences(data, count)
    model = SentenceTransformer(modules=[StaticEmbedding(word_level(texts), embedding_dim=dimension)], device="cpu")
    model.encode(texts[:5000])
    return best_of(len(texts), lambda: model.encode(texts, batch_size=1024, show_progress_bar=False))


TRAINING: dict[str, Callable[..., float]] = {
    "StaticEmbedding, MegaBatchMarginLoss": peer_training("MegaBatchMarginLoss"),
    "StaticEmbedding, MegaBatchMarginLoss, Adam": peer_training("MegaBatchMarginLoss", sparse=False),
    "StaticEmbedding, MultipleNegativesRankingLoss": peer_training("MultipleNegativesRankingLoss"),
    "paraloom word, M 1": ours_training("word", 1),
    "paraloom word, M 20": ours_training("word", 20),
    "paraloom word, M 40": ours_training("word", 40),
    "paraloom trigram, M 20": ours_training("trigram", 20),
    "paraloom word,trigram, M 1": ours_training("word,trigram", 1),
    "paraloom word,trigram, M 20": ours_training("word,trigram", 20),
    "paraloom word,trigram, M 40": ours_training("word,trigram", 40),
}
ENCODING: dict[str, Callable[..., float]] = {
    "model2vec": model2vec_encoding,
    "StaticEmbedding": static_encoding,
    "paraloom word": ours_encoding("word"),
    "paraloom word, int8": ours_encoding("word", int8=True),
    "paraloom, model2vec's tokenizer": ours_with_their_tokenizer,
    "paraloom trigram": ours_encoding("trigram"),
    "paraloom word,trigram": ours_encoding("word,trigram"),
}
BENCHES = {"training, pairs/s": TRAINING, "encoding, sentences/s": ENCODING}


def count_per_second(count: int, work: Callable[[], Any]) -> float:
    """Per second of processor time, that of processes which the work started included."""
    start = sum(os.times()[:4])
    work()
    return count / (sum(os.times()[:4]) - start)


def best_of(count: int, work: Callable[[], Any], times: int = 3) -> float:
    return max(count_per_second(count, work) for _ in range(times))


def measure_in_subprocess(bench: str, system: str, threads: int, options: argparse.Namespace) -> float:
    """Measure one system in a subprocess that can use `threads` processors only."""
    limits = {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")}
    command = [sys.executable, __file__, "--one", bench, system, "--threads", str(threads)]
    command += ["--pairs", str(options.pairs), "--sentences", str(options.sentences)]
    command += ["--dimension", str(options.dimension)]
    processors = sorted(os.sched_getaffinity(0))[:threads]
    run = subprocess.run(
        command,
        env=os.environ | limits | {"TOKENIZERS_PARALLELISM": "true" if threads > 1 else "false"},
        stdout=subprocess.PIPE,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, processors),
    )
    return float(run.stdout.splitlines()[-1])


def measure_all(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The median rate of each system, the lowest and the highest, and its ratios to the peers in the same round."""
    for bench, systems in BENCHES.items():
        chosen = [name for name in systems if not options.systems or name in options.systems]
        for threads in options.threads:
            rates: dict[str, list[float]] = {name: [] for name in chosen}
            for _ in range(options.rounds):
                for name in chosen:
                    rates[name].append(measure_in_subprocess(bench, name, threads, options))
            for name in chosen:
                ours = rates[name]
                peers = {
                    f"times {peer}": statistics.median(a / b for a, b in zip(ours, rates[peer], strict=True))
                    for peer in chosen
                    if "paraloom" in name and "paraloom" not in peer
                }
                spread = {"rate": statistics.median(ours), "low": min(ours), "high": max(ours)}
                yield {"bench": bench, "threads": threads, "system": name, **spread, **peers}


FIRST = "import paraloom; paraloom.Encoder.load({!r}).encode(['A dog sleeps.'])"


def processor_seconds(program: str) -> float:
    """Seconds of processor of a Python process from start to end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def print_first(encoders: list[str], rounds: int) -> None:
    """Processor seconds of a process that encodes one sentence, beside one that imports numpy."""
    programs = {"numpy": "import numpy", **{name: FIRST.format(name) for name in encoders}}
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, program in programs.items():
            seconds[name].append(processor_seconds(program))
    for name, of in seconds.items():
        print(f"{name}: {statistics.median(of):.2f} ({min(of):.2f} to {max(of):.2f}) s of processor")


def main() -> None:
    """Print one line for each measurement, then the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="numbers of processors")
    parser.add_argument("--pairs", type=int, default=58_000, help="training pairs")
    parser.add_argument("--sentences", type=int, default=145_000, help="sentences to encode")
    parser.add_argument("--dimension", type=int, default=300, help="dimension of the vectors")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each system, in turn")
    parser.add_argument("--systems", nargs="+", default=[], help="only these")
    parser.add_argument("--first", nargs="+", metavar="NAME", help="the first sentence by these encoders")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--one", nargs=2, metavar=("BENCH", "SYSTEM"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.first:
        print_first(options.first, options.rounds)
        return
    if "PARALOOM_DATA" not in os.environ:
        sys.exit("set PARALOOM_DATA to the folder of real corpora")
    data = Path(os.environ["PARALOOM_DATA"])
    if options.one:
        warnings.simplefilter("ignore")
        bench, system = options.one
        count = options.pairs if bench.startswith("training") else options.sentences
        print(BENCHES[bench][system](data, count, options.dimension, options.threads[0]))
        return
    rows = []
    for row in measure_all(options):
        rows.append(row)
        ratios = ", ".join(f"{key} {value:.2f}" for key, value in row.items() if key.startswith("times"))
        print(
            f"{row['bench']:<22} {row['threads']} thr. {row['system']:<46} {row['rate']:>12,.0f} "
            f"({row['low']:,.0f} to {row['high']:,.0f})  {ratios}",
            flush=True,
        )
    figures = {"pairs": options.pairs, "sentences": options.sentences, "dimension": options.dimension, "rows": rows}
    text = json.dumps(figures, indent=1)
    if options.json:
        options.json.write_text(text + "\n", encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
