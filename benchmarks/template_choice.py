"""Which templates suit a sentence? Those that its paraphrase has should be among the chosen: by counts, by the network.

    python benchmarks/template_choice.py runs/bundled-paraphraser/330-common-test-parsed --model english

Reads held-out pairs with trees. For each, the template of the paraphrase should be among the n that are chosen for the
source: the commonest of paraphrases of sentences with the same template (*counts*), and those of the 40 commonest that
the network finds most probable to begin a paraphrase (*network*, what `--template auto` does). Prints Markdown: the
share of the pairs, in per cent with Wilson's 95 % interval, for all pairs and for those whose sides have different
templates.
"""

from __future__ import annotations

import argparse
from itertools import chain
from pathlib import Path

from paraloom.api.paraphrasers import Paraphraser, read_parsed
from paraloom.core.protocols import PrefixScorerLike
from paraloom.core.stats import wilson_interval
from paraloom.paraphrasing.examples import TEMPLATE_HEIGHT, ParsedPair, source_template, source_text, target_prefix
from paraloom.paraphrasing.linearization import cut_tree

SUGGESTED = 40
NUMBERS = (1, 3, 5, 10)


def read_pairs(path: Path) -> list[tuple[ParsedPair, str, str]]:
    """Pairs whose sides differ, with the templates of both."""
    pairs = []
    for pair in chain.from_iterable(read_parsed(path)):
        if pair.source_tree is None or pair.paraphrase_tree is None or pair.source == pair.paraphrase:
            continue
        own, other = (cut_tree(tree, TEMPLATE_HEIGHT) for tree in (pair.source_tree, pair.paraphrase_tree))
        pairs.append((pair, own, other))
    return pairs


def by_network(model: Paraphraser, pair: ParsedPair, templates: list[str]) -> list[str]:
    """Templates, the most probable first."""
    assert isinstance(model.translator, PrefixScorerLike) and pair.source_tree is not None
    control = model.settings.control
    shown = [source_template(pair.source_tree, template, control) for template in templates]
    sources = [source_text(pair.source, one) for one in shown]
    scores = model.translator.score_prefixes(sources, [target_prefix(template) for template in templates])
    return [template for _, template in sorted(zip(scores, templates, strict=True), key=lambda pair: -pair[0])]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, help="held-out pairs with trees, by the model's parser")
    parser.add_argument("--model", default="english")
    parser.add_argument("--rows", type=int, default=1000)
    arguments = parser.parse_args()

    model = Paraphraser.load(arguments.model)
    every = read_pairs(arguments.pairs)
    print("| pairs | templates chosen by | " + " | ".join(f"{number} chosen" for number in NUMBERS) + " |")
    print("| --- | --- |" + " ---: |" * len(NUMBERS))
    for name, pairs in (("all", every), ("different templates", [one for one in every if one[1] != one[2]])):
        used = pairs[: arguments.rows]
        counted = [model.templates.suggest(own, SUGGESTED) for _, own, _ in used]
        ranked = [by_network(model, pair, group) for (pair, _, _), group in zip(used, counted, strict=True)]
        for method, groups in (("counts", counted), ("network", ranked)):
            cells = []
            for number in NUMBERS:
                hits = sum(wanted in group[:number] for (_, _, wanted), group in zip(used, groups, strict=True))
                low, high = wilson_interval(hits, len(used))
                cells.append(f"{100 * hits / len(used):.1f} [{100 * low:.1f}, {100 * high:.1f}]")
            print(f"| {name}, {len(used):,} | {method} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
