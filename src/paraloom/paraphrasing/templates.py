"""The templates of a corpus: how often each occurs, and which ones paraphrases of a sentence have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from paraloom.core.errors import ModelError
from paraloom.io.atomic import write_text
from paraloom.paraphrasing.examples import TEMPLATE_HEIGHT, ParsedPair
from paraloom.paraphrasing.linearization import cut_tree, nodes_of, read_template

TEMPLATES_FILE, PAIRS_FILE = "templates.tsv", "template_pairs.tsv"
"""Files of a model folder: templates with counts and examples, and pairs of templates with counts."""

SCPN_TEMPLATES = tuple(
    read_template(text)
    for text in (
        "(ROOT (S (NP) (VP) (.)))",
        "(ROOT (S (VP) (.)))",
        "(ROOT (NP (NP) (.)))",
        "(ROOT (FRAG (SBAR) (.)))",
        "(ROOT (S (S) (,) (CC) (S) (.)))",
        "(ROOT (S (LST) (VP) (.)))",
        "(ROOT (SBARQ (WHADVP) (SQ) (.)))",
        "(ROOT (S (PP) (,) (NP) (VP) (.)))",
        "(ROOT (S (ADVP) (NP) (VP) (.)))",
        "(ROOT (S (SBAR) (,) (NP) (VP) (.)))",
    )
)
"""The ten templates of the released code of SCPN (Iyyer et al. 2018)."""

_EXAMPLE_CHARACTERS = 120

_SAVED, _SAVED_PAIRS = 1000, 3000
"""Templates and pairs of templates that a model folder keeps, the commonest: most of the others came once."""


@dataclass
class TemplateTable:
    """Templates of paraphrases, counted over pairs with trees."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    pair_counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, pairs: Iterable[ParsedPair]) -> None:
        """Count the templates of pairs; one whose paraphrase has no tree does not count."""
        for pair in pairs:
            if pair.paraphrase_tree is None:
                continue
            template = cut_tree(pair.paraphrase_tree, TEMPLATE_HEIGHT)
            self.counts[template] += 1
            self.examples.setdefault(template, " ".join(pair.paraphrase.split())[:_EXAMPLE_CHARACTERS])
            if pair.source_tree is not None:
                self.pair_counts[cut_tree(pair.source_tree, TEMPLATE_HEIGHT), template] += 1

    def most_common(self, count: int = 20) -> list[tuple[str, int]]:
        """The commonest templates and their counts; of equal counts, in alphabetical order."""
        return sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))[:count]

    def share(self, template: str) -> float:
        """Share of the pairs whose paraphrase has a template, 0 to 1."""
        return self.counts[template] / max(1, self.counts.total())

    def suggest(self, source_template: str | None, count: int) -> list[str]:
        """Templates that paraphrases of a sentence's own template had, then all, commonest first (AESOP §3.2)."""
        of_source = {
            template: number for (source, template), number in self.pair_counts.items() if source == source_template
        }
        ranked = sorted(of_source, key=lambda template: (-of_source[template], -self.counts[template], template))
        rest = [template for template, _ in self.most_common(count + len(ranked)) if template not in of_source]
        return [*ranked, *rest][:count]

    def save(self, folder: Path) -> None:
        """Write templates.tsv and template_pairs.tsv, the commonest first."""
        rows = [
            f"{number}\t{template}\t{self.examples.get(template, '')}\n"
            for template, number in self.most_common(_SAVED)
        ]
        pairs = sorted(self.pair_counts.items(), key=lambda item: (-item[1], item[0]))[:_SAVED_PAIRS]
        for name, header, lines in (
            (TEMPLATES_FILE, "count\ttemplate\texample\n", rows),
            (
                PAIRS_FILE,
                "count\tsource\tparaphrase\n",
                [f"{number}\t{one}\t{other}\n" for (one, other), number in pairs],
            ),
        ):
            write_text(folder / name, header + "".join(lines))

    @classmethod
    def load(cls, folder: Path) -> TemplateTable:
        """Read what `save` wrote."""
        table = cls()
        for number, template, example in _rows(folder / TEMPLATES_FILE):
            table.counts[template] = int(number)
            table.examples[template] = example
        for number, source, template in _rows(folder / PAIRS_FILE):
            table.pair_counts[source, template] = int(number)
        return table


def labels_of_trees(pairs: Iterable[ParsedPair]) -> set[str]:
    """All labels in the trees of pairs."""
    trees = (tree for pair in pairs for tree in (pair.source_tree, pair.paraphrase_tree) if tree)
    return {node.label for tree in trees for node in nodes_of(tree)}


def _rows(path: Path) -> Iterable[tuple[str, str, str]]:
    remedy = "Copy the whole model folder, or train it again."
    if not path.is_file():
        raise ModelError(f"{path.name} not found", file=path.parent, remedy=remedy)
    for row, line in enumerate(path.read_text(encoding="utf-8").splitlines()[1:], start=2):
        cells = line.split("\t")
        if len(cells) != 3 or not cells[0].isdigit():
            raise ModelError("expected a count and two texts", file=path, row=row, remedy=remedy)
        yield cells[0], cells[1], cells[2]
