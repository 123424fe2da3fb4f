"""Commands about encoders: train, distill, encode, search, mine, export."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from paraloom import api
from paraloom.cli.declaration import Command
from paraloom.cli.output import as_written, conclude, print_figures, written
from paraloom.cli.shared import SHARED

if TYPE_CHECKING:
    from paraloom.api.search import Hit
    from paraloom.pipeline.result import RunResult

ON_LINE = "Stop at a line that is not UTF-8, or reject it into OUTPUT.rejected.jsonl, with the reason."


def _show_training(result: RunResult, values: Mapping[str, Any]) -> None:
    then = "mine {output} TEXT OTHER-TEXT -o mined.tsv" if values.get("bitext") else "search {output} sentences.txt"
    print_figures(result, then, values["as_json"])
    if not result.stages[-1].figures.get("dev"):
        typer.echo(
            "Not measured: whether it is better than its untrained start. Give --sts, a folder of tasks.", err=True
        )


def _show_encoding(count: int, values: Mapping[str, Any]) -> None:
    encoder, source, output = str(values["encoder"]), str(values["source"]), str(values["output"])
    searchable = source != "-" and output.endswith(".npy") and count
    then = f"search {shlex.join([encoder, source])} --vectors {{output}}" if searchable else ""
    text = f"{count:,} vectors in {output}"
    written(output, {"vectors": count}, text, then, as_json=values["as_json"], err=False, counted=True)


def _show_hits(hits: Iterable[Hit], values: Mapping[str, Any]) -> None:
    for hit in hits:
        if values["as_json"]:
            typer.echo(json.dumps(hit._asdict(), ensure_ascii=False))
            continue
        query, sentence = (text.replace("\t", " ") for text in (hit.query, hit.sentence))
        typer.echo(f"{query}\t{hit.rank}\t{hit.cosine:.4f}\t{hit.row}\t{sentence}")


def _mine(
    *,
    below: float | None = None,
    vectors: str | Path | None = None,
    seed: int = 1,
    as_json: bool = False,
    **options: Any,
) -> None:
    """Mine one text or two.

    Args:
        below: Maximum cosine of paraphrases; 0.99 by default.
        vectors: Vectors of the text, from `paraloom encode`; for paraphrases.
    """
    output = options["output"]
    if "target" in options:
        _refuse({"below": below, "vectors": vectors}, "is for paraphrases in one text, not for two texts")
        mined = api.mine_translations(**options)
        if as_json:
            typer.echo(as_written(output, **mined.to_dict()), err=output == "-")
            return
        typer.echo(f"{mined.format()}\nin {output}", err=output == "-")
        conclude(output, "train translator --bitext {output} -o translator", counted=True)
        return
    of_translations = {name: options.get(name) for name in ("gold", "index")}
    _refuse(of_translations, "is for translations: name the text in the other language, too")
    corpus = options.pop("source")
    if below is not None:
        options["below"] = below
    count = api.mine_lines(corpus=corpus, vectors=vectors, seed=seed, **options)
    typer.echo(json.dumps({"pairs": count}) if as_json else f"{count:,} pairs in {output}", err=output == "-")
    if not as_json:
        conclude(output, "score {output} --with overlap,length -o scored.parquet", counted=True)


def _refuse(given: Mapping[str, object], reason: str) -> None:
    for name, value in given.items():
        if value is not None:
            raise typer.BadParameter(f"--{name} {reason}")


def _show_export(use: str, values: Mapping[str, Any]) -> None:
    then = "" if values["onnx"] else "encode {output} sentences.txt -o vectors.npy"
    written(values["output"], {"use": use}, use, then, as_json=values["as_json"], err=False, rows=False)


DECLARED = [
    Command(
        name="encode",
        of="encode_file",
        settings={"on_error": {"help": ON_LINE}},
        device=True,
        show=_show_encoding,
        help="Encode lines of text as vectors.",
        examples=("english sentences.txt -o vectors.npy",),
        watched=True,
    ),
    Command(
        name="search",
        of="search_lines",
        flags={"k": "-k"},
        show=_show_hits,
        help="Print the sentences nearest to each query.\n\nQuery, rank, cosine, row and sentence, between tabs.\n\n"
        'Example: `echo "Where is the station?" | paraloom search english sentences.txt -k 3`',
    ),
    Command(
        name="mine",
        run=_mine,
        of="mine_translations",
        flags={"k": "-k"},
        everyday="above below k gold vectors as_json",
        settings={
            "encoder": {"help": SHARED["encoder"]["help"]},
            "source": {"metavar": "TEXT"},
            "target": {"default": None, "metavar": "[TEXT2]"},
            "above": {
                "default": None,
                "help": "Minimum cosine of paraphrases. Default: 0.8. Of translations: minimum margin; 1.2.",
            },
            "k": {
                "default": None,
                "help": "Pairs of a sentence at most. Default: 5. Of translations: neighbors of the margin; 4.",
            },
            "index": {"default": None},
            "on_error": {"help": ON_LINE},
        },
        help="Mine paraphrases from a text, or translations from two.\n\n"
        "The best pairs come first, from texts of any size, in the order of their margin (score): the cosine of both "
        "sentences over their mean cosine with their "
        "nearest neighbors, of translations in the other text; for these the encoder must be of both languages. "
        "Columns of paraphrases: src, tgt, cosine, score; of translations: score, src, tgt, src_line, tgt_line, "
        "cosine; as TSV, JSONL or Parquet.",
        examples=(
            "english sentences.txt.gz --above 0.85 -o pairs.tsv",
            "cs-en news.cs.txt news.en.txt --above 1.1 -o pairs.parquet",
        ),
        watched=True,
    ),
    Command(
        name="export",
        of="export_encoder",
        show=_show_export,
        examples=("english -o for-sentence-transformers", "student --int8 -o student-int8"),
    ),
    Command(
        name="train encoder",
        of="train_encoder",
        stage="train-encoder",
        keys="spec dimension epochs batch_size loss learning_rate megabatch_size scramble devices precision",
        everyday="pairs bitext vectors init_from sts spec dimension epochs seed as_json",
        flags={"pairs": "--pairs"},
        show=_show_training,
        help="Train a sentence encoder on paraphrases, or on bitext; if stopped, run it again to resume.\n\n"
        "Of bitext it learns similar vectors for translations: for `mine`, `align sentences`, "
        "`score --with bilingual`.",
        examples=("--pairs kept.parquet -o encoder", "--bitext news.cs-en.tsv --bitext 'talks.{de,en}' -o cs-de-en"),
        watched=True,
    ),
    Command(
        name="distill",
        of="distill_encoder",
        stage="distill-transformer",
        keys="layers width vocab_size",
        everyday="network steps sts lang device seed as_json",
        settings={
            "teacher": {"role": "input"},
            "ensemble": {"role": "input"},
            "layers": {"help": "Of a transformer: layers. Default: 2."},
            "width": {"help": "Of a transformer: width. Default: 256."},
            "vocab_size": {"help": "Of a transformer: frequent tokens of the teacher's to keep. Default: all."},
        },
        device=True,
        then="search {output} sentences.txt",
        help="Train a small, fast encoder to give sentences the similarities of a large one; no labels needed.\n\n"
        "An average starts from the large encoder's vectors of single words, a transformer from its token embeddings.",
        examples=(
            "sentence-transformers/all-MiniLM-L6-v2 news.txt.gz -o student",
            "all-MiniLM-L6-v2/ news.txt.gz --network transformer --sts data/sts -o student",
        ),
        watched=True,
    ),
]
