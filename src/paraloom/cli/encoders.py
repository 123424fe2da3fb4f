"""Verbs about encoders: train encoder, encode, similarity, search, mine, export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paraloom.cli import options


def train_encoder(
    pairs: Annotated[list[str], typer.Option(help="Pairs that mean the same. Repeatable.")],
    output: options.Folder,
    spec: Annotated[
        str,
        typer.Option(help="Parts: word, trigram, lstm, blstm, gran, gru; word+trigram sums, word,trigram joins."),
    ] = "word,trigram",
    dimension: Annotated[int, typer.Option(help="Width of each part.")] = 300,
    epochs: Annotated[int, typer.Option(help="Passes over the pairs.")] = 5,
    megabatch: Annotated[int, typer.Option(help="Mini-batches joined in the search for negatives.")] = 20,
    rising: Annotated[
        bool, typer.Option("--rising", help="Join 1 mini-batch at first, --megabatch of them in the last epoch.")
    ] = False,
    scramble: Annotated[
        float, typer.Option(help="Share of sentences whose words lstm, blstm, gran and gru read in another order.")
    ] = 0.0,
    devices: Annotated[
        str, typer.Option(help="Where lstm, blstm, gran and gru compute: cpu, cuda, or cuda:0,cuda:1.")
    ] = "cpu",
    precision: Annotated[str, typer.Option(help="What they compute in: float32 or bfloat16.")] = "float32",
    start: Annotated[Path | None, typer.Option(help="An encoder to go on from.")] = None,
    vectors: Annotated[
        Path | None,
        typer.Option(
            help="Word vectors to start from: text as of word2vec, GloVe or fastText, or a folder by `distil words`."
        ),
    ] = None,
    sts: Annotated[
        Path | None, typer.Option(help="Folder of similarity tasks, for a development figure an epoch.")
    ] = None,
    src_column: options.SrcColumn = None,
    tgt_column: options.TgtColumn = None,
    seed: options.Seed = 1,
) -> None:
    """Train a sentence encoder on paraphrase pairs; stopped, the same command goes on.

    Example: `paraloom train encoder --pairs kept.parquet -o encoder`
    """
    from paraloom.workflows.run import corpus_stages, run_verb

    stages, references = [], []
    for number, source in enumerate(pairs, 1):
        found, reference = corpus_stages(
            source, src_column=options.column(src_column), tgt_column=options.column(tgt_column)
        )
        name = f"pairs-{number}"
        stages += [{**stage, "name": name} for stage in found]
        references.append(name if found else reference)
    work = {
        "use": "train-encoder",
        "pairs": references,
        "spec": spec,
        "dimension": dimension,
        "epochs": epochs,
        "megabatch": megabatch,
        "rising": rising,
        "scramble": scramble,
        "devices": devices,
        "precision": precision,
        "start": str(start.absolute()) if start else None,
        "vectors": str(vectors.absolute()) if vectors else None,
        "sts": str(sts.absolute()) if sts else None,
    }
    result = run_verb([*stages, work], output, seed=seed)
    for name, value in result.stages[-1].figures.items():
        typer.echo(f"{name}: {value}")


def encode(
    encoder: Annotated[Path, typer.Argument(help="An encoder folder.")],
    source: Annotated[str, typer.Argument(metavar="[IN]", help="A sentence a line; - is standard input.")] = "-",
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Vectors: .npy, float32 (lines, width), or .parquet with the text."),
    ] = Path("vectors.npy"),
) -> None:
    """Turn lines of text into vectors.

    Example: `paraloom encode encoder sentences.txt -o vectors.npy`
    """
    from paraloom.workflows.encode import encode_lines

    typer.echo(f"{encode_lines(encoder, source, output):,} vectors in {output}")


def similarity(
    encoder: Annotated[Path, typer.Argument(help="An encoder folder.")],
    first: Annotated[str, typer.Argument(metavar="A", help="A sentence a line.")],
    second: Annotated[str, typer.Argument(metavar="B", help="As many lines.")],
) -> None:
    """Print the cosine of each line of A with the same line of B, −1 to 1.

    Example: `paraloom similarity encoder a.txt b.txt`
    """
    from paraloom.workflows.encode import similarity_lines

    for cosine in similarity_lines(encoder, first, second):
        typer.echo(f"{cosine:.4f}")


def search(
    encoder: Annotated[Path, typer.Argument(help="An encoder folder.")],
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Sentences to search, one a line.")],
    queries: Annotated[str, typer.Argument(metavar="[QUERIES]", help="One a line; - is standard input.")] = "-",
    k: Annotated[int, typer.Option("-k", help="Sentences to a query.")] = 5,
    vectors: Annotated[
        Path | None, typer.Option(help="The corpus's vectors, which `paraloom encode` wrote; made anew without.")
    ] = None,
) -> None:
    """Print the sentences nearest to each query: query, rank, cosine, row and sentence, between tabs.

    Example: `echo "Where is the station?" | paraloom search encoder sentences.txt -k 3`
    """
    from paraloom.workflows.search import search_lines

    for hit in search_lines(encoder, corpus, queries, k=k, vectors=vectors):
        typer.echo(f"{hit.query}\t{hit.rank}\t{hit.cosine:.4f}\t{hit.row}\t{hit.sentence}")


def mine(
    encoder: Annotated[Path, typer.Argument(help="An encoder folder.")],
    corpus: Annotated[str, typer.Argument(metavar="TEXT", help="Sentences, one a line.")],
    output: options.Output,
    above: Annotated[float, typer.Option(help="The lowest cosine of a pair.")] = 0.8,
    below: Annotated[float, typer.Option(help="The highest cosine of a pair.")] = 0.99,
    k: Annotated[int, typer.Option("-k", help="Pairs a sentence at most.")] = 5,
    vectors: Annotated[Path | None, typer.Option(help="The text's vectors, which `paraloom encode` wrote.")] = None,
    seed: options.Seed = 1,
) -> None:
    """Find paraphrases in a text of any size: the pairs of sentences that lie close together, closest first.

    Example: `paraloom mine encoder sentences.txt.gz --above 0.85 -o pairs.tsv`
    """
    from paraloom.workflows.search import mine_lines

    count = mine_lines(encoder, corpus, output, above=above, below=below, k=k, vectors=vectors, seed=seed)
    typer.echo(f"{count:,} pairs in {output}")


def export(
    encoder: Annotated[Path, typer.Argument(help="An encoder folder.")],
    output: options.Folder,
    onnx: Annotated[bool, typer.Option("--onnx", help="Write an ONNX graph and its vocabularies instead.")] = False,
) -> None:
    """Write a folder that sentence-transformers opens, or an ONNX graph, with the same vectors.

    Example: `paraloom export encoder -o for-sentence-transformers`
    """
    from paraloom.embed.export import export_sentence_transformer
    from paraloom.embed.store import load_encoder

    if onnx:
        from paraloom.embed.onnx_graph import FILE, export_onnx

        export_onnx(load_encoder(encoder), output)
        typer.echo(Path(output) / FILE)
        return
    plain = export_sentence_transformer(load_encoder(encoder), output)
    trust = "" if plain else ", trust_remote_code=True"
    typer.echo(f"SentenceTransformer({str(output)!r}{trust})")


VERBS = {"search": search, "mine": mine, "export": export, "encode": encode, "similarity": similarity}
TRAINING = {"encoder": train_encoder}
