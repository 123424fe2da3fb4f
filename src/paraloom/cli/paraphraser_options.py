"""Options of commands that paraphrase: which paraphraser, and what of its candidates is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from paraloom import api
from paraloom.cli import completion, options
from paraloom.cli.option_groups import with_options


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
        "--model",
        help="english, a folder of `train paraphraser`, or the address of an endpoint: http://127.0.0.1:8000/v1.",
        autocompletion=completion.complete_paraphraser,
    ),
]
Forward = Annotated[
    str | None,
    typer.Option(
        help="Round trip: translator into another language; a bundled name, a folder, OWNER/NAME.",
        autocompletion=completion.complete_translator,
    ),
]
Backward = Annotated[
    str | None,
    typer.Option(help="Round trip: translator back.", autocompletion=completion.complete_translator),
]
Pivots = Annotated[int | None, typer.Option(help="Round trip: translations of each text on the way. Default: 3.")]
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
    typer.Option(help="beam:5, sampling, nucleus:0.95 …", autocompletion=completion.complete_decoding),
]
DEFAULT_PIVOTS, DEFAULT_CANDIDATES = 3, 10
Candidates = Annotated[
    int | None,
    typer.Option(
        help="Candidates of each text to select from, of each kind: free, by templates, round trip. Default: 10.",
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
        autocompletion=completion.complete_encoder,
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
Hold = Annotated[
    str | None,
    typer.Option(
        help="What stays as it is, held by placeholders: markup, fields, links, mail, mentions, terms, numbers, names, "
        "separated by commas. "
        "Default: all; for German, all but names."
    ),
]
Terms = Annotated[
    Path | None, typer.Option(help="Words and phrases that stay as they are, one on each line of a file.")
]


@dataclass(frozen=True, kw_only=True)
class ParaphraserOptions:
    """The options that `paraphrasing` gives a command."""

    model: Model = None
    forward: Forward = None
    backward: Backward = None
    pivots: Pivots = None
    endpoint_model: EndpointModel = None
    language: Language = None
    endpoint: Endpoint = None
    decode: Decode = None
    device: options.Device = None

    def __post_init__(self) -> None:
        if self.pivots is not None and self.forward is None and self.backward is None:
            raise typer.BadParameter(
                "it is for a round trip, and has no effect without one; leave it out, or give --forward and --backward",
                param_hint="--pivots",
            )

    @property
    def used_device(self) -> str | None:
        """The device, checked, or None for the default."""
        used = api.use_device(self.device)
        return None if used is None else str(used)

    def opened(self, output: str = "-", **how: Any) -> Any:
        """The paraphraser with these options.

        Args:
            output: What is written: the answers of an endpoint are kept beside it.
            **how: Further arguments of `api.open_paraphraser`, such as a template.
        """
        return api.open_paraphraser(
            self.model,
            forward=self.forward,
            backward=self.backward,
            endpoint_model=self.endpoint_model,
            language=self.language,
            settings=self.endpoint or (),
            output=output,
            device=self.used_device,
            pivots=DEFAULT_PIVOTS if self.pivots is None else self.pivots,
            decode=self.decode,
            **how,
        )


def number_of_candidates(given: int | None, selects: bool, remedy: str) -> int:
    """The value of --candidates, or its default.

    Args:
        given: The value; None without the option.
        selects: Whether the command selects from candidates.
        remedy: What to give or leave out, so that it selects.

    Raises:
        typer.BadParameter: The option is given, and has no effect.
    """
    if given is not None and not selects:
        raise typer.BadParameter(
            f"it is for a selection, and has no effect without one; leave it out, or {remedy}",
            param_hint="--candidates",
        )
    return DEFAULT_CANDIDATES if given is None else given


def paraphrasing(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of `ParaphraserOptions` in place of its parameter `paraphraser`.

    Args:
        command: The function of the command; it is called with a `ParaphraserOptions` as `paraphraser`.
    """
    return with_options(command, "paraphraser", ParaphraserOptions)
