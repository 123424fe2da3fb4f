"""Evaluation of control: templates of references, asked of paraphrasers and of systems that ignore them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from paraloom.api.named_models import NO_ENCODER
from paraloom.api.paraphrase_evaluation import cosines
from paraloom.api.paraphrasers import Paraphraser, read_parsed
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.protocols import EncoderLike, ParserLike
from paraloom.core.seeds import generator
from paraloom.embed.encoder import open_encoder
from paraloom.papers.scpn.control_evaluation import ControlResult, ControlRow, control_signature, evaluate_control
from paraloom.papers.scpn.exemplars import draw_pairs
from paraloom.paraphrasing.examples import ParsedPair, bounded_cut, same_template
from paraloom.paraphrasing.linearization import cut_tree, read_template

SYSTEMS = ("copy", "reference", "free", "shuffled", "template", "nearest of 5")
"""Rows of the table: the source itself; the paraphrase of the pair, parsed again, which is what a perfect system could
reach; the model without a template; with the template of another pair; with the template; and the candidate of five
that is nearest to it. Rows of further models begin with their names."""


def measure_control(
    paraphraser: str | Path,
    pairs: str | Path,
    *,
    others: Mapping[str, str | Path] | None = None,
    parser: str | Path | None = None,
    encoder: str | EncoderLike | None = "english",
    rows: int = 1000,
    heights: Sequence[int] = (2, 3),
    only_different: bool = False,
    seed: int = 1,
) -> ControlResult:
    """Ask paraphrasers for the templates of the paraphrases in pairs, and parse what they write.

    Args:
        paraphraser: english, or a folder of `train paraphraser`.
        pairs: Held-out pairs from `parse`: a corpus folder or a Parquet file.
        others: Further paraphrasers by name.
        parser: Another parser than the one in the model's folder.
        encoder: Encoder of the similarity to sources, or none.
        rows: Pairs that are drawn at most.
        heights: Levels of the templates, separated by commas.
        only_different: Pairs whose sides have different templates: of others a copy has it.
        seed: Seed of every random choice.

    Raises:
        ConfigError: `rows` or a height is below 1, or the paraphraser has no parser.
        DataError: No pair can be used.
    """
    if min(heights, default=0) < 1:
        raise ConfigError(f"heights must be 1 or more, got {', '.join(map(str, heights)) or 'none'}")
    check_rows(rows)
    own, systems = open_systems(paraphraser, parser, others)
    drawn = _draw(chain.from_iterable(read_parsed(pairs)), rows, only_different, seed)
    remedy = "Give pairs that were parsed with the parser of the model."
    if not drawn:
        raise DataError("no pair has different sides and trees of both", file=pairs, remedy=remedy)
    vectors = None if encoder in (None, NO_ENCODER) else open_encoder(encoder)
    table: list[ControlRow] = []
    for height in heights:
        table += _rows(systems, own, drawn, height, vectors, seed)
    if not any(row.valid for row in table if row.system == "template"):
        raise DataError("the model knows the labels of no template of the pairs", file=pairs, remedy=remedy)
    return ControlResult(tuple(table), control_signature(own.signature, heights, seed, only_different))


def known_templates(model: Paraphraser, trees: Iterable[str], height: int | None) -> list[str | None]:
    """The template of each tree as a model can be asked for it; None where a label is unknown to the model."""
    templates: list[str | None] = []
    for tree in trees:
        cut = bounded_cut(tree, height, model.settings.control.max_labels)
        try:
            templates.append(read_template(cut, model.settings.labels))
        except ConfigError:
            templates.append(None)
    return templates


def check_rows(rows: int) -> None:
    """ConfigError unless there is a row."""
    if rows < 1:
        raise ConfigError(f"'rows' must be 1 or more, got {rows}")


def open_systems(
    paraphraser: str | Path, parser: str | Path | None, others: Mapping[str, str | Path] | None
) -> tuple[ParserLike, dict[str, Paraphraser]]:
    """The parser of a paraphraser, and it and others by what the names of their rows begin with."""
    model = Paraphraser.load(paraphraser, parser=parser)
    if model.parser is None:
        raise ConfigError("the paraphraser has no parser", remedy="Give the folder of one with --parser.")
    further = {f"{name}: ": Paraphraser.load(folder) for name, folder in (others or {}).items()}
    return model.parser, {"": model, **further}


Outputs: TypeAlias = dict[str, tuple[list[str], float | None]]
"""Name of a row → what a system wrote, and the share of the templates that it knew, None without any."""


def first_variants(
    model: Paraphraser, sources: Sequence[str], templates: Sequence[str | None] | None, candidates: int
) -> list[str]:
    """The first variant of each source: of one candidate what the decoder likes best, of several the nearest."""
    groups = model.candidates(sources, n=candidates, template=templates, decode=f"beam:5,nbest={candidates}")
    return [group[0].text for group in groups]


def share_known(templates: Sequence[str | None]) -> float:
    """Share of templates that a model knows, 0 to 1."""
    return sum(template is not None for template in templates) / len(templates)


def paraphrased(
    systems: Mapping[str, Paraphraser],
    sources: Sequence[str],
    trees: Sequence[str],
    height: int | None,
    names: tuple[str, str],
    order: Sequence[int] = (),
) -> Outputs:
    """What systems write without a template, with that of another pair if there is an order, with it, nearest of 5."""
    written: Outputs = {}
    for prefix, system in systems.items():
        asked = known_templates(system, trees, height)
        shuffled = {"shuffled": first_variants(system, sources, [asked[i] for i in order], 1)} if len(order) else {}
        forced = {
            **shuffled,
            names[1]: first_variants(system, sources, asked, 1),
            "nearest of 5": first_variants(system, sources, asked, 5),
        }
        written[f"{prefix}{names[0]}"] = first_variants(system, sources, None, 1), None
        written |= {f"{prefix}{name}": (texts, share_known(asked)) for name, texts in forced.items()}
    return written


def parsed_trees(parser: ParserLike, texts: Sequence[str]) -> list[str | None]:
    """Trees of texts without ROOT and words; None where one cannot be parsed."""
    return [cut_tree(tree, None) if tree else None for tree in parser.parse(list(texts))]


def _draw(pairs: Iterable[ParsedPair], rows: int, only_different: bool, seed: int) -> list[ParsedPair]:
    usable = (pair for pair in pairs if pair.source_tree and not (only_different and same_template(pair)))
    return draw_pairs(usable, rows, seed)


def _rows(
    systems: Mapping[str, Paraphraser],
    parser: ParserLike,
    pairs: Sequence[ParsedPair],
    height: int,
    encoder: EncoderLike | None,
    seed: int,
) -> list[ControlRow]:
    sources = [pair.source for pair in pairs]
    trees = [pair.paraphrase_tree or "" for pair in pairs]
    # The model saw no longer ones than it is asked for; the whole template is what counts.
    templates = [cut_tree(tree, height) for tree in trees]
    order = generator(seed, height).permutation(len(trees)).tolist()
    written: Outputs = {"copy": (sources, None), "reference": ([pair.paraphrase for pair in pairs], None)}
    written |= paraphrased(systems, sources, trees, height, ("free", "template"), order)
    return [
        evaluate_control(
            name,
            templates,
            parsed_trees(parser, outputs),
            height=height,
            sources=sources,
            outputs=outputs,
            similarities=None if encoder is None else cosines(encoder, sources, outputs),
            valid=valid,
            seed=seed,
        )
        for name, (outputs, valid) in written.items()
    ]
