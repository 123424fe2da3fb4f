"""Evaluation of control: templates of references, asked of a paraphraser and of systems that ignore them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.protocols import EncoderLike, ParserLike
from paraloom.core.seeds import generator
from paraloom.embed.encoder import open_encoder
from paraloom.evaluate.control import ControlResult, ControlRow, control_signature, evaluate_control
from paraloom.generate.examples import ParsedPair, bounded_cut, same_template
from paraloom.generate.linearization import cut_tree, labels_of, template_tokens
from paraloom.workflows.paraphrasers import Paraphraser, read_parsed

SYSTEMS = ("copy", "reference", "free", "shuffled", "template", "nearest of 5")
"""Rows of the table: the source itself; the paraphrase of the pair, parsed again, which is what a perfect system could
reach; the model without a template; with the template of another pair; with the template; and the candidate of five
that is nearest to it."""


def evaluate_paraphraser(
    paraphraser: str | Path,
    pairs: str | Path,
    *,
    parser: str | Path | None = None,
    encoder: str | EncoderLike | None = "english",
    rows: int = 1000,
    heights: Sequence[int] = (2, 3),
    only_different: bool = False,
    seed: int = 1,
) -> ControlResult:
    """Ask a paraphraser for the templates of the paraphrases in pairs, and parse what it writes.

    Args:
        paraphraser: Folder of the paraphraser.
        pairs: Held-out pairs with columns `src_parse` and `tgt_parse`: a corpus folder or a Parquet file.
        parser: Another parser than the model's own; it should be the one that made the trees of the pairs.
        encoder: Encoder of the similarity of outputs to sources, or its name; None leaves it out.
        rows: Pairs that are drawn at most.
        heights: Heights of the templates, in levels below ROOT.
        only_different: Draw pairs whose sides have different templates at height 2 only: of others, a copy has the
            template, too.
        seed: Of the draw, and of the shuffled templates.

    Returns:
        A row for each height and each of `SYSTEMS`.

    Raises:
        ConfigError: The model has no parser, or the pairs have no trees.
        DataError: No pair is left: those with equal sides, without a tree, and with labels that the model does not know
            are left out.
    """
    model = Paraphraser.load(paraphraser, parser=parser)
    if model.parser is None:
        raise ConfigError("the paraphraser has no parser", remedy="Give the folder of one with --parser.")
    drawn = _draw(chain.from_iterable(read_parsed(pairs)), model, rows, only_different, seed)
    if not drawn:
        raise DataError(
            "no pair has different sides and trees with labels of the model",
            file=pairs,
            remedy="Give pairs that were parsed with the parser of the model.",
        )
    vectors = open_encoder(encoder) if isinstance(encoder, str) else encoder
    table = [row for height in heights for row in _rows(model, model.parser, drawn, height, vectors, seed)]
    return ControlResult(tuple(table), control_signature(model.parser.signature, heights, seed, only_different))


def _draw(pairs: chain[ParsedPair], model: Paraphraser, rows: int, only_different: bool, seed: int) -> list[ParsedPair]:
    known = set(model.settings.labels)
    usable = [
        pair
        for pair in pairs
        if pair.source != pair.paraphrase
        and pair.source_tree
        and pair.paraphrase_tree
        and not (only_different and same_template(pair))
        and set(labels_of(template_tokens(cut_tree(pair.paraphrase_tree, None)))) <= known
    ]
    chosen = np.sort(generator(seed).permutation(len(usable))[:rows])
    return [usable[index] for index in chosen]


def _rows(
    model: Paraphraser,
    parser: ParserLike,
    pairs: Sequence[ParsedPair],
    height: int,
    encoder: EncoderLike | None,
    seed: int,
) -> list[ControlRow]:
    sources = [pair.source for pair in pairs]
    templates = [cut_tree(pair.paraphrase_tree or "", height) for pair in pairs]
    # The model saw no longer ones; the whole template is what counts.
    asked = [bounded_cut(template, height, model.settings.control.max_labels) for template in templates]
    others = [asked[index] for index in generator(seed, height).permutation(len(asked))]
    written = {
        "copy": sources,
        "reference": [pair.paraphrase for pair in pairs],
        "free": _first(model, sources, None, 1),
        "shuffled": _first(model, sources, others, 1),
        "template": _first(model, sources, asked, 1),
        "nearest of 5": _first(model, sources, asked, 5),
    }
    table = []
    for system in SYSTEMS:
        outputs = written[system]
        table.append(
            evaluate_control(
                system,
                templates,
                [tree or None for tree in parser.parse(outputs)],
                height=height,
                sources=sources,
                outputs=outputs,
                similarities=None if encoder is None else _cosines(encoder, sources, outputs),
            )
        )
    return table


def _first(model: Paraphraser, sources: Sequence[str], templates: Sequence[str] | None, candidates: int) -> list[str]:
    """The first variant of each source: of one candidate what the decoder likes best, of several the nearest."""
    decode = f"beam:5,nbest={candidates}"
    groups = model.candidates(sources, n=candidates, template=templates, decode=decode)
    return [group[0].text for group in groups]


def _cosines(encoder: EncoderLike, sources: Sequence[str], outputs: Sequence[str]) -> list[float]:
    one, other = (np.asarray(encoder.encode(texts), np.float64) for texts in (sources, outputs))
    norms = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    cosines: list[float] = ((one * other).sum(axis=1) / np.where(norms, norms, 1)).tolist()
    return cosines
