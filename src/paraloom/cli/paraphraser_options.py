"""Options of commands that paraphrase: which paraphraser, and what of its candidates is kept."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from paraloom.cli import options


class PresetChoice(StrEnum):
    """What is kept of candidates."""

    close = "close"
    augmentation = "augmentation"
    corpus = "corpus"
    varied = "varied"


SELECTION = "What is kept"
"""Panel of the options of the selection."""

Model = Annotated[
    str | None,
    typer.Option(
        "--model", help="A folder of `train paraphraser`, or the address of an endpoint: http://127.0.0.1:8000/v1."
    ),
]
Forward = Annotated[
    str | None,
    typer.Option(
        help="Round trip: translator into another language; a bundled name, a folder, OWNER/NAME.",
        autocompletion=options.complete_translator,
    ),
]
Backward = Annotated[
    str | None,
    typer.Option(help="Round trip: translator back.", autocompletion=options.complete_translator),
]
Pivots = Annotated[int, typer.Option(help="Round trip: translations of each text on the way.")]
EndpointModel = Annotated[str | None, typer.Option(help="Of an endpoint: name of the model.")]
Language = Annotated[str | None, typer.Option(help="Of an endpoint: language of the texts. Default: en.")]
Endpoint = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="Of an endpoint, repeatable: prompt (rewrite, paraphrase, or a text with {text}), system, attempts, "
        "concurrency, max_requests, max_tokens, timeout, answers …",
    ),
]
Decode = Annotated[
    str | None,
    typer.Option(help="beam:5, sampling, nucleus:0.95 …", autocompletion=options.complete_decoding),
]
Candidates = Annotated[
    int,
    typer.Option(
        help="Candidates of each text to select from, of each kind: free, by templates, round trip.",
        rich_help_panel=SELECTION,
    ),
]
Meaning = Annotated[
    float | None,
    typer.Option(
        help="Minimum cosine to the text, 0 to 1: 0.65 is loose, 0.85 close. Default: the preset's.",
        rich_help_panel=SELECTION,
    ),
]
Difference = Annotated[
    float | None,
    typer.Option(
        help="Minimum share of words that differ from the text, 0 to 1. Default: the preset's.",
        rich_help_panel=SELECTION,
    ),
]
Entailment = Annotated[
    float | None,
    typer.Option(
        help="With --cross-encoder: minimum probability that each side entails the other, 0 to 1. Default: 0.5.",
        rich_help_panel=SELECTION,
    ),
]
Encoder = Annotated[
    str,
    typer.Option(
        help="Encoder of the cosine; none: do not measure it.",
        autocompletion=options.complete_encoder,
        rich_help_panel=SELECTION,
    ),
]
CrossEncoder = Annotated[
    str | None,
    typer.Option(help="Folder of an entailment model in ONNX format.", rich_help_panel=SELECTION),
]
LanguageModel = Annotated[
    str | None,
    typer.Option(
        help="A folder of `train language-model`, or an ARPA file: measures fluency.", rich_help_panel=SELECTION
    ),
]
