"""Commands about encoders: train encoder, encode, similarity, search, mine, export."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from paraloom import api
from paraloom.cli import options
from paraloom.cli.declaration import Command
from paraloom.cli.output import as_written, conclude, print_figures


def _show_training(result: Any, values: Mapping[str, Any]) -> None:
    print_figures(result, "search {output} sentences.txt", values["as_json"])
    if not result.stages[-1].figures.get("dev"):
        typer.echo(
            "Not measured: whether it is better than its untrained start. Give --sts, a folder of tasks.", err=True
        )


def encode(
    encoder: options.Encoder,
    source: Annotated[str, typer.Argument(metavar="[IN]", help="A sentence per line; - is standard input.")] = "-",
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Vectors: .npy, float32 (lines, d), or .parquet with the text."),
    ] = Path("vectors.npy"),
    device: options.Device = None,
    on_error: options.OnLine = options.OnErrorChoice.stop,
    as_json: options.Json = False,
) -> None:
    """Encode lines of text as vectors.

    Example: `paraloom encode english sentences.txt -o vectors.npy`
    """
    api.use_device(device)
    count = api.encode_file(encoder, source, output, on_error=on_error.value)
    if as_json:
        typer.echo(as_written(output, vectors=count))
        return
    typer.echo(f"{count:,} vectors in {output}")
    searchable = source != "-" and output.suffix == ".npy" and count
    conclude(output, f"search {shlex.join([encoder, source])} --vectors {{output}}" if searchable else "", counted=True)


def similarity(
    encoder: options.Encoder,
    first: Annotated[str, typer.Argument(metavar="A", help="A sentence per line.")],
    second: Annotated[str, typer.Argument(metavar="B", help="As many lines.")],
    as_json: options.Json = False,
) -> None:
    """Print the cosine of each line of A with the same line of B, −1 to 1.

    Example: `paraloom similarity english a.txt b.txt`
    """
    for cosine in api.similarity_of_lines(encoder, first, second):
        typer.echo(json.dumps(cosine) if as_json else f"{cosine:.4f}")


def search(
    encoder: options.Encoder,
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="Sentences to search, one per line.")],
    queries: Annotated[str, typer.Argument(metavar="[QUERIES]", help="One per line; - is standard input.")] = "-",
    k: Annotated[int, typer.Option("-k", help="Sentences per query.")] = 5,
    vectors: Annotated[
        Path | None, typer.Option(help="Vectors of the corpus, from `paraloom encode`; default: encode it now.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Print the sentences nearest to each query: query, rank, cosine, row and sentence, between tabs.

    Example: `echo "Where is the station?" | paraloom search english sentences.txt -k 3`
    """
    for hit in api.search_lines(encoder, corpus, queries, k=k, vectors=vectors):
        if as_json:
            typer.echo(json.dumps(hit._asdict(), ensure_ascii=False))
            continue
        typer.echo(f"{hit.query}\t{hit.rank}\t{hit.cosine:.4f}\t{hit.row}\t{hit.sentence}")


def mine(
    encoder: options.Encoder,
    corpus: Annotated[str, typer.Argument(metavar="TEXT", help="Sentences, one per line; plain or compressed.")],
    output: options.Output,
    target: Annotated[
        str | None, typer.Argument(metavar="[TEXT2]", help="With --bilingual: sentences in the other language.")
    ] = None,
    bilingual: Annotated[
        bool, typer.Option("--bilingual", help="Mine translations from two texts, with an encoder of both languages.")
    ] = False,
    above: Annotated[
        float | None,
        typer.Option(help="Minimum cosine of paraphrases. Default: 0.8. Of translations: minimum margin; 1.2."),
    ] = None,
    below: Annotated[float | None, typer.Option(help="Maximum cosine of paraphrases. Default: 0.99.")] = None,
    k: Annotated[
        int | None,
        typer.Option(
            "-k", help="Pairs of a sentence at most. Default: 5. With --bilingual: neighbors of the margin; 4."
        ),
    ] = None,
    retrieval: Annotated[
        str | None,
        typer.Option(help="How translations are chosen: max, intersection, forward or backward. Default: max."),
    ] = None,
    index: Annotated[
        str | None,
        typer.Option(
            help="How translations are searched: exact, graph (approximate, faiss; millions of lines), auto. "
            "Default: auto."
        ),
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(help="True lines of both texts, from 1, between tabs: prints F1 and the best threshold."),
    ] = None,
    vectors: Annotated[
        Path | None, typer.Option(help="Vectors of the text, from `paraloom encode`; for paraphrases.")
    ] = None,
    on_error: options.OnLine = options.OnErrorChoice.stop,
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Mine paraphrases from a text of any size, or with --bilingual translations from two texts, the best pairs first.

    Translations are scored by their margin: the cosine of both sentences over their mean cosine with their nearest
    neighbors in the other text. Columns: score, src, tgt, src_line, tgt_line, cosine; as TSV, JSONL or Parquet.

    Example: `paraloom mine english sentences.txt.gz --above 0.85 -o pairs.tsv`

    Example: `paraloom mine cs-en --bilingual news.cs.txt news.en.txt --above 1.1 -o pairs.parquet`
    """
    if not bilingual:
        if target is not None:
            raise typer.BadParameter("two texts are mined for translations: add --bilingual")
        of_translations: dict[str, object] = {"--gold": gold, "--retrieval": retrieval, "--index": index}
        _refuse(of_translations, "is for translations: add --bilingual and the other text")
        settings: dict[str, Any] = {"above": above, "below": below, "k": k}
        given = {name: value for name, value in settings.items() if value is not None}
        count = api.mine_lines(encoder, corpus, output, vectors=vectors, on_error=on_error.value, seed=seed, **given)
        typer.echo(json.dumps({"pairs": count}) if as_json else f"{count:,} pairs in {output}")
        if not as_json:
            conclude(output, "score {output} --with overlap,length -o scored.parquet", counted=True)
        return
    if target is None:
        raise typer.BadParameter("--bilingual needs two texts, such as news.cs.txt news.en.txt")
    _refuse({"--below": below, "--vectors": vectors}, "is for paraphrases in one text, not for --bilingual")
    settings = {"above": above, "k": k, "retrieval": retrieval, "index": index}
    mined = api.mine_translations(
        encoder,
        corpus,
        target,
        output,
        gold=gold,
        on_error=on_error.value,
        **{name: value for name, value in settings.items() if value is not None},
    )
    if as_json:
        typer.echo(as_written(output, **mined.to_dict()), err=output == "-")
        return
    typer.echo(f"{mined.format()}\nin {output}", err=output == "-")
    conclude(output, "train translator --bitext {output} -o translator", counted=True)


def _refuse(given: dict[str, object], reason: str) -> None:
    for name, value in given.items():
        if value is not None:
            raise typer.BadParameter(f"{name} {reason}")


def export(
    encoder: options.Encoder,
    output: options.Folder,
    onnx: Annotated[bool, typer.Option("--onnx", help="Write an ONNX graph and its vocabularies instead.")] = False,
    int8: Annotated[
        bool, typer.Option("--int8", help="Write an encoder in int8 instead: a quarter of the size; `encode` reads it.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Export an encoder as a folder for sentence-transformers, or as an ONNX graph, with the same vectors.

    Example: `paraloom export english -o for-sentence-transformers`

    Example: `paraloom export student --int8 -o student-int8`
    """
    use = api.export_encoder(encoder, output, onnx=onnx, int8=int8)
    if as_json:
        typer.echo(as_written(output, use=use))
        return
    typer.echo(use)
    conclude(output, "" if onnx else "encode {output} sentences.txt -o vectors.npy", rows=False)


COMMANDS: options.Commands = {
    "encode": encode,
    "similarity": similarity,
    "search": search,
    "mine": mine,
    "export": export,
}
DECLARED = [
    Command(
        name="train encoder",
        of="train_encoder",
        stage="train-encoder",
        keys="spec dimension epochs batch_size loss learning_rate megabatch_size megabatch_warmup scramble devices "
        "precision",
        everyday="pairs bitext vectors init_from sts spec dimension epochs seed as_json",
        flags={"pairs": "--pairs"},
        show=_show_training,
        help="Train a sentence encoder on paraphrases, or on bitext; if stopped, run it again to resume.\n\n"
        "Of bitext it learns similar vectors for translations: for `mine`, `align sentences`, "
        "`score --with bilingual`.",
        examples=(
            "--pairs kept.parquet -o encoder",
            "--bitext news.cs-en.tsv --bitext 'talks.{de,en}' -o cs-de-en",
        ),
        watched=True,
    )
]
