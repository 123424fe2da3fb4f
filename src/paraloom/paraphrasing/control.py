"""Whether candidates have the template that was asked for, by their own parse; the nearest ones come first."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

from paraloom.core.protocols import ParserLike, Variant
from paraloom.paraphrasing.examples import TEMPLATE_HEIGHT
from paraloom.paraphrasing.linearization import cut_tree, height_of, without_tokens
from paraloom.text.trees import tree_edit_distance


class ControlledVariant(NamedTuple):
    """A paraphrase, with the template that it was to have."""

    text: str
    logprob: float
    tokens: int
    template: str | None = None
    parsed: str | None = None
    distance: int | None = None
    pieces: int = 1
    cut: bool = False
    rule: str = ""
    exemplar: bool = False
    # `has_template` of each part of a joined one; (None,): the template is not asked for
    matches: tuple[bool | None, ...] = ()

    @property
    def has_template(self) -> bool | None:
        """Whether its own parse has the template, or the constituents of the exemplar; None where that is unknown."""
        if self.matches:
            return False if False in self.matches else None if None in self.matches else True
        if self.exemplar and self.template and self.parsed:
            return cut_tree(self.parsed, TEMPLATE_HEIGHT) == cut_tree(self.template, TEMPLATE_HEIGHT)
        return None if self.distance is None else self.distance == 0


def match_template(tree: str | None, template: str) -> tuple[str | None, int | None]:
    """The template of a tree at the height of another template, and the distance between both."""
    if tree is None:
        return None, None
    own = cut_tree(tree, height_of(template))
    return own, tree_edit_distance(own, template)


def nearness(variant: ControlledVariant) -> int:
    """A key to sort variants by: the distance to the template, unknown ones last."""
    return 2**31 if variant.distance is None else variant.distance


def control_variants(
    groups: Sequence[Sequence[Variant]], templates: Sequence[str | None], parser: ParserLike | None
) -> list[list[ControlledVariant]]:
    """Parse candidates, and order those of each text by their distance to its template."""
    cleaned = ([one._replace(text=without_tokens(one.text)) for one in group] for group in groups)
    distinct = [list({variant.text: variant for variant in reversed(group)}.values())[::-1] for group in cleaned]
    flat = [one.text for group, template in zip(distinct, templates, strict=True) if template for one in group]
    trees = None if parser is None else iter(parser.parse(flat) if flat else ())
    results = []
    for group, template in zip(distinct, templates, strict=True):
        controlled = []
        for one in group:
            match = match_template(next(trees), template) if trees is not None and template else (None, None)
            controlled.append(ControlledVariant(*one[:3], template, *match, one.pieces, one.cut))
        results.append(sorted(controlled, key=nearness))
    return results


def join_parts(parts: Sequence[Sequence[ControlledVariant]]) -> list[ControlledVariant]:
    """The variants of a text from those of its parts: the first of each together, the second of each …"""
    if len(parts) == 1:
        return list(parts[0])
    ranks = range(max(map(len, parts)))
    return [_joined([part[min(rank, len(part) - 1)] for part in parts]) for rank in ranks]


def _joined(row: Sequence[ControlledVariant]) -> ControlledVariant:
    """One variant of those of all parts; what one of them lacks, it lacks."""
    texts, logprobs, tokens, templates, owns, distances, _, cut, rules, exemplars, _ = zip(*row, strict=True)
    return ControlledVariant(
        " ".join(filter(None, texts)),
        sum(logprobs),
        sum(tokens),
        templates[0],
        None if None in owns else " ".join(owns),
        None if None in distances else sum(distances),
        len(row),
        any(cut),
        "+".join(dict.fromkeys(rules)) if all(rules) else "",
        exemplars[0],
        tuple(one.has_template for one in row),
    )


def warn_of_distance(texts: Sequence[str], groups: Sequence[Sequence[ControlledVariant]]) -> None:
    """Warn, once, of texts none of whose variants has the template that was asked for."""
    missed = [
        (text, group[0])
        for text, group in zip(texts, groups, strict=True)
        if group and all(one.has_template is False for one in group)
    ]
    if missed:
        text, nearest = missed[0]
        shown = text if len(text) <= 60 else f"{text[:57]}..."
        count = f"{len(missed)} of {len(texts)} texts have no paraphrase" if len(texts) > 1 else "no paraphrase"
        far = f" with {nearest.parsed}, at tree edit distance {nearest.distance}" if nearest.parsed else ""
        warnings.warn(
            f"{count} with the template that was asked for: for '{shown}' and {nearest.template} the nearest is "
            f"'{nearest.text}'{far}",
            stacklevel=3,
        )
