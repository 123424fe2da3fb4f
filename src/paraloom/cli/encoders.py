"""Commands about encoders: train encoder and phrases, encode, similarity, search, mine, export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paraloom import workflows
from paraloom.cli import options
from paraloom.cli.output import print_figures


def train_encoder(
    pairs: Annotated[list[str], typer.Option(help="Pairs that mean the same. Repeatable.")],
    output: options.Folder,
    spec: Annotated[
        str,
        typer.Option(
            help="Parts: word, trigram, lstm, blstm, gran, gru; word+trigram sums, word,trigram concatenates."
        ),
    ] = "word,trigram",
    dimension: Annotated[int, typer.Option(help="Width of each part.")] = 300,
    epochs: Annotated[int, typer.Option(help="Passes over the pairs.")] = 5,
    megabatch_size: Annotated[int, typer.Option(help="Mini-batches that are searched together for negatives.")] = 20,
    megabatch_warmup: Annotated[
        bool,
        typer.Option("--megabatch-warmup", help="Grow from 1 mini-batch to --megabatch-size in the last epoch."),
    ] = False,
    scramble: Annotated[
        float, typer.Option(help="Share of sentences whose words lstm, blstm, gran and gru read in random order.")
    ] = 0.0,
    devices: Annotated[
        str, typer.Option(help="Where lstm, blstm, gran and gru compute: cpu, cuda, or cuda:0,cuda:1.")
    ] = "cpu",
    precision: Annotated[str, typer.Option(help="Their precision: float32 or bfloat16.")] = "float32",
    init_from: Annotated[str | None, typer.Option(help="An encoder to start from: a bundled name or a folder.")] = None,
    vectors: Annotated[
        Path | None,
        typer.Option(
            help="Word vectors to start from: text of word2vec, GloVe or fastText, or a folder of `distill words`."
        ),
    ] = None,
    sts: Annotated[
        Path | None, typer.Option(help="Folder of similarity tasks, for a development figure per epoch.")
    ] = None,
    src_column: options.SrcColumn = None,
    tgt_column: options.TgtColumn = None,
    seed: options.Seed = 1,
) -> None:
    """Train a sentence encoder on paraphrase pairs; if stopped, run it again to resume.

    Example: `paraloom train encoder --pairs kept.parquet -o encoder`
    """
    result = workflows.train_encoder(
        pairs,
        output,
        init_from=init_from,
        vectors=vectors,
        sts=sts,
        src_column=options.column(src_column),
        tgt_column=options.column(tgt_column),
        seed=seed,
        spec=spec,
        dimension=dimension,
        epochs=epochs,
        megabatch_size=megabatch_size,
        megabatch_warmup=megabatch_warmup,
        scramble=scramble,
        devices=devices,
        precision=precision,
    )
    print_figures(result)


def train_phrases(
    pairs: Annotated[
        list[str] | None, typer.Argument(metavar="[PAIRS]...", help="Phrases that mean the same: PPDB, or any pairs.")
    ] = None,
    output: options.Folder = "phrases",
    vectors: Annotated[
        Path | None,
        typer.Option(help="Word vectors: text of word2vec, GloVe or fastText, or a folder of `distill words`."),
    ] = None,
    teacher: Annotated[
        str | None, typer.Option(help="Instead of --vectors: a sentence-transformers model that encodes each word.")
    ] = None,
    network: Annotated[str, typer.Option(help="gru, lstm, blstm or gran.")] = "gru",
    num_negatives: Annotated[int, typer.Option(help="Contrast phrases sampled for each mini-batch.")] = 9,
    sample_fraction: Annotated[float, typer.Option(help="Fraction of the pairs to train on, sampled at random.")] = 1.0,
    epochs: Annotated[int, typer.Option(help="Passes over the pairs.")] = 150,
    dropout: Annotated[float, typer.Option(help="Dropout of the output in training.")] = 0.5,
    tasks: Annotated[Path | None, typer.Option(help="Folder of phrase tasks, to evaluate on.")] = None,
    task: Annotated[str, typer.Option(help="semeval or turney: also train on its training set.")] = "",
    reversed_negative: Annotated[
        bool, typer.Option("--reversed-negative", help="Phrases of two words in reverse order are negatives.")
    ] = False,
    seed: options.Seed = 1,
) -> None:
    """Train an encoder of phrases on paraphrases, with contrast phrases and a margin.

    Example: `paraloom train phrases ppdb-1.0-s-phrasal.gz --vectors glove.200d.txt -o phrases`
    """
    result = workflows.train_phrases(
        pairs or [],
        output,
        vectors=vectors,
        teacher=teacher,
        tasks=tasks,
        seed=seed,
        network=network,
        num_negatives=num_negatives,
        sample_fraction=sample_fraction,
        epochs=epochs,
        dropout=dropout,
        task=task,
        reversed_negative=reversed_negative,
    )
    print_figures(result)


def encode(
    encoder: options.Encoder,
    source: Annotated[str, typer.Argument(metavar="[IN]", help="A sentence per line; - is standard input.")] = "-",
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Vectors: .npy, float32 (lines, d), or .parquet with the text."),
    ] = Path("vectors.npy"),
) -> None:
    """Encode lines of text as vectors.

    Example: `paraloom encode english sentences.txt -o vectors.npy`
    """
    typer.echo(f"{workflows.encode_file(encoder, source, output):,} vectors in {output}")


def similarity(
    encoder: options.Encoder,
    first: Annotated[str, typer.Argument(metavar="A", help="A sentence per line.")],
    second: Annotated[str, typer.Argument(metavar="B", help="As many lines.")],
) -> None:
    """Print the cosine of each line of A with the same line of B, −1 to 1.

    Example: `paraloom similarity english a.txt b.txt`
    """
    for cosine in workflows.similarity_of_lines(encoder, first, second):
        typer.echo(f"{cosine:.4f}")


def search(
    encoder: options.Encoder,
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Sentences to search, one per line.")],
    queries: Annotated[str, typer.Argument(metavar="[QUERIES]", help="One per line; - is standard input.")] = "-",
    k: Annotated[int, typer.Option("-k", help="Sentences per query.")] = 5,
    vectors: Annotated[
        Path | None, typer.Option(help="Vectors of the corpus, from `paraloom encode`; default: encode it now.")
    ] = None,
) -> None:
    """Print the sentences nearest to each query: query, rank, cosine, row and sentence, between tabs.

    Example: `echo "Where is the station?" | paraloom search english sentences.txt -k 3`
    """
    for hit in workflows.search_lines(encoder, corpus, queries, k=k, vectors=vectors):
        typer.echo(f"{hit.query}\t{hit.rank}\t{hit.cosine:.4f}\t{hit.row}\t{hit.sentence}")


def mine(
    encoder: options.Encoder,
    corpus: Annotated[str, typer.Argument(metavar="TEXT", help="Sentences, one per line.")],
    output: options.Output,
    above: Annotated[float, typer.Option(help="Minimum cosine of a pair.")] = 0.8,
    below: Annotated[float, typer.Option(help="Maximum cosine of a pair.")] = 0.99,
    k: Annotated[int, typer.Option("-k", help="Maximum number of pairs of a sentence.")] = 5,
    vectors: Annotated[Path | None, typer.Option(help="Vectors of the text, from `paraloom encode`.")] = None,
    seed: options.Seed = 1,
) -> None:
    """Mine paraphrases from a text of any size: the pairs of sentences with the highest cosines, best first.

    Example: `paraloom mine english sentences.txt.gz --above 0.85 -o pairs.tsv`
    """
    count = workflows.mine_lines(encoder, corpus, output, above=above, below=below, k=k, vectors=vectors, seed=seed)
    typer.echo(f"{count:,} pairs in {output}")


def export(
    encoder: options.Encoder,
    output: options.Folder,
    onnx: Annotated[bool, typer.Option("--onnx", help="Write an ONNX graph and its vocabularies instead.")] = False,
    int8: Annotated[
        bool, typer.Option("--int8", help="Write an encoder in int8 instead: a quarter of the size; `encode` reads it.")
    ] = False,
) -> None:
    """Export an encoder as a folder for sentence-transformers, or as an ONNX graph, with the same vectors.

    Example: `paraloom export english -o for-sentence-transformers`

    Example: `paraloom export student --int8 -o student-int8`
    """
    typer.echo(workflows.export_encoder(encoder, output, onnx=onnx, int8=int8))


COMMANDS: options.Commands = {
    "encode": encode,
    "similarity": similarity,
    "search": search,
    "mine": mine,
    "export": export,
}
TRAIN: options.Commands = {"encoder": train_encoder, "phrases": train_phrases}
