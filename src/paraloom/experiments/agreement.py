"""How far figures of ours agree with a paper's claim, said in one sentence that the figures themselves decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paraloom.experiments.published import PaperTable
from paraloom.experiments.tables import Figure


def falling(what: str, labels: Sequence[str], values: Sequence[float]) -> str:
    """Of a claim that values fall from the first label to the last.

    >>> falling("range", ["short", "long"], [60.0, 61.5])
    'The paper: the first range is best, the last worst. Here the best is long (61.5), the worst short (60.0).'
    """
    best, worst = max(range(len(values)), key=values.__getitem__), min(range(len(values)), key=values.__getitem__)
    claim = f"The paper: the first {what} is best, the last worst."
    if best == 0 and worst == len(values) - 1:
        return f"{claim} Here too ({values[best]:.1f} and {values[worst]:.1f})."
    found = f"the best is {labels[best]} ({values[best]:.1f}), the worst {labels[worst]} ({values[worst]:.1f})"
    return f"{claim} Here {found}."


def tuned(paper: PaperTable, found: Sequence[tuple[str, Mapping[str, float]]]) -> str:
    """Of tuned filters against random pairs: the first column of the paper's first row is the random one.

    found: for each filter the chosen candidate and the difference of its test figure from the random one's.
    """
    random, *theirs = (figure or 0.0 for figure in paper.rows[0][1])
    parts = []
    for head, value, (label, difference) in zip(paper.heads[1:], theirs, found, strict=True):
        if "low" not in difference:
            verdict = "one draw of each, so nothing is known"
        elif difference["low"] > 0:
            verdict = "a gain"
        elif difference["high"] < 0:
            verdict = "a loss"
        else:
            verdict = "no difference that can be told from chance"
        interval = f" [{difference['low']:+.2f}, {difference['high']:+.2f}]" if "low" in difference else ""
        parts.append(
            f"{head} {value - random:+.1f} there, here {difference['mean']:+.2f}{interval} with {label}, {verdict}"
        )
    return "Against random pairs: " + "; ".join(parts) + "."


def signs(heads: Sequence[str], expected: Sequence[int], rows: Sequence[Sequence[Figure]]) -> str:
    """Of differences whose direction the paper states: on how many sources ours points the same way for certain.

    >>> signs(["entropy"], [1], [[(0.2, 0.1, 0.3)], [(0.1, -0.1, 0.3)], [(-0.2, -0.3, -0.1)]])
    'As in the paper: entropy on 1 of 3 (against it on 1, open on 1).'
    """
    parts = []
    for place, (head, sign) in enumerate(zip(heads, expected, strict=True)):
        intervals = [row[place] for row in rows]
        known = [each for each in intervals if isinstance(each, tuple)]
        agree = sum(min(sign * each[1], sign * each[2]) > 0 for each in known)
        against = sum(max(sign * each[1], sign * each[2]) < 0 for each in known)
        rest = len(known) - agree - against
        other = f" (against it on {against}, open on {rest})" if agree < len(known) else ""
        parts.append(f"{head} on {agree} of {len(known)}{other}")
    return "As in the paper: " + "; ".join(parts) + "."


def shortest(rows: Sequence[tuple[str, Sequence[Figure]]]) -> str:
    """Of PNMT's Table 1: the source with the shortest sentences."""
    lengths = {name: figures[0] for name, figures in rows if isinstance(figures[0], tuple)}
    scores = {name: figures[2] for name, figures in rows if isinstance(figures[2], tuple)}
    least = min(lengths, key=lambda name: lengths[name][0])
    said = f"The paper: CzEng has by far the shortest sentences. Here {least} has ({lengths[least][0]:.1f} words)"
    if scores:
        low, high = (f(scores, key=lambda name: scores[name][0]) for f in (min, max))
        said += f"; the paraphrase score goes from {scores[low][0]:.2f} ({low}) to {scores[high][0]:.2f} ({high})"
    return said + "."


def tenths(columns: Sequence[str], best: Sequence[tuple[float, str]], chance: float) -> str:
    """Of PNMT's Table 5: which filter's best tenth is best, and where it lies."""
    order = max(range(len(columns)), key=lambda place: best[place][0])
    parts = ", ".join(f"{column} {label} ({value:.1f})" for column, (value, label) in zip(columns, best, strict=True))
    claim = "The paper: the three filters' best tenths lie within 0.2, the paraphrase score's ahead."
    return f"{claim} Here: {parts}; {columns[order]} is ahead, random pairs are at {chance:.1f}."


def ahead(claimed: str, name: str, means: Mapping[str, float]) -> str:
    """Of a claim that one of several is the best.

    >>> ahead("WORD,TRIGRAM", "word,trigram", {"word": 60.0, "word,trigram": 61.5})
    'The paper: WORD,TRIGRAM is best on most years. Here its mean is 61.5, and none is above it.'
    """
    above = sorted((key for key in means if means[key] > means[name]), key=lambda key: -means[key])
    found = ", ".join(f"{key.upper()} ({means[key]:.1f})" for key in above)
    rest = f"above it: {found}" if above else "and none is above it"
    return f"The paper: {claimed} is best on most years. Here its mean is {means[name]:.1f}, {rest}."
