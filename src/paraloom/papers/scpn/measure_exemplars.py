"""Sets of exemplars: made from pairs with trees; and paraphrasers that follow them, measured beside copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from paraloom.api.paraphrasers import read_parsed
from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.io.bitext import check_target, write_table
from paraloom.io.shards import open_shard, read_rows
from paraloom.papers.scpn.exemplar_evaluation import ExemplarResult, evaluate_exemplars, exemplar_signature
from paraloom.papers.scpn.exemplars import ExemplarConfig, ExemplarFinder, ExemplarPair, draw_pairs
from paraloom.papers.scpn.measure_control import Outputs, check_rows, open_systems, paraphrased, parsed_trees
from paraloom.paraphrasing.paraphraser import EXEMPLAR_HEIGHT

COLUMNS = ("src", "exemplar", "tgt", "exemplar_distance")
"""Columns of a set of exemplars: sentence, exemplar, reference, and the distance of their trees."""

# More pairs are drawn than wanted, because some have no exemplar.
_OVERSAMPLING = 2


def find_exemplars(
    pairs: str | Path,
    *,
    pool: str | Path | None = None,
    rows: int = 1000,
    language: str = "en",
    seed: int = 1,
    **config: Any,
) -> list[ExemplarPair]:
    """Find sentences with the syntax of pairs' paraphrases but other content, streaming the files at most twice."""
    check_rows(rows)
    drawn = draw_pairs(chain.from_iterable(read_parsed(pairs)), _OVERSAMPLING * rows, seed)
    finder = ExemplarFinder(drawn, ExemplarConfig(**config), language=language, seed=seed)
    for batch in read_parsed(pairs if pool is None else pool):
        for pair in batch:
            finder.add([(pair.source, pair.source_tree), (pair.paraphrase, pair.paraphrase_tree)])
    chosen = finder.choose()[:rows]
    if not chosen:
        raise DataError(
            f"none of {len(drawn)} pairs has an exemplar",
            file=pairs,
            remedy="Give more sentences as the pool, or allow a greater distance or overlap.",
        )
    return chosen


def write_exemplars(
    pairs: str | Path,
    output: str | Path,
    *,
    pool: str | Path | None = None,
    rows: int = 1000,
    language: str = "en",
    seed: int = 1,
    **config: Any,
) -> int:
    """Find exemplars, and write them to a file.

    Args:
        pairs: Held-out pairs from `parse`: a corpus folder or a Parquet file.
        output: Where to write; the suffix decides the format.
        pool: Other pairs from `parse`, whose sentences are the exemplars; default: PAIRS.
        rows: Sentences with an exemplar at most.
        language: Language of the pairs, for its function words.
        seed: Seed of every random choice.
        **config: Fields of `ExemplarConfig`.

    Returns:
        Number of exemplars.
    """
    check_target(str(output))
    exemplars = find_exemplars(pairs, pool=pool, rows=rows, language=language, seed=seed, **config)
    table = [
        dict(zip(COLUMNS, (one.source, one.exemplar, one.reference, one.distance), strict=True)) for one in exemplars
    ]
    types = (pa.string(), pa.string(), pa.string(), pa.int32())
    schema = pa.schema(list(zip(COLUMNS, types, strict=True)))
    return write_table(pa.Table.from_pylist(table, schema=schema), str(output))


def measure_exemplars(
    paraphraser: str | Path,
    pairs: str | Path,
    *,
    others: Mapping[str, str | Path] | None = None,
    pool: str | Path | None = None,
    parser: str | Path | None = None,
    rows: int = 1000,
    heights: Sequence[int] = (2, 4),
    height: int = EXEMPLAR_HEIGHT,
    language: str = "en",
    seed: int = 1,
) -> ExemplarResult:
    """Paraphrase sentences with the syntax of exemplars, and compare what comes out with references and exemplars.

    Kumar et al. 2020 (SGCP); Sun et al. 2021 (AESOP).

    Args:
        paraphraser: english, or a folder of `train paraphraser`.
        pairs: Held-out pairs from `parse`, or a set of exemplars.
        others: Further paraphrasers by name.
        pool: Other pairs from `parse`, whose sentences are the exemplars; default: PAIRS.
        parser: Another parser than the one in the model's folder.
        rows: Sentences at most.
        heights: Levels of the trees that are compared, separated by commas; 0: whole trees.
        height: Levels of the exemplar's tree that are forced.
        language: Language of the pairs, for its function words.
        seed: Seed of every random choice.
    """
    check_rows(rows)
    if min(heights, default=-1) < 0:
        raise ConfigError(f"heights must be 0 or more, got {', '.join(map(str, heights)) or 'none'}")
    own_parser, systems = open_systems(paraphraser, parser, others)
    rule = "given"
    if _is_set(pairs):
        items = list(_read_set(pairs, rows))
    else:
        items = find_exemplars(pairs, pool=pool, rows=rows, language=language, seed=seed)
        rule = f"nearest@{ExemplarConfig().height},max-distance:{ExemplarConfig().max_distance}"
    own = parsed_trees(own_parser, [one.exemplar for one in items])
    # Without a tree an exemplar asks for nothing.
    kept = [(one, tree) for one, tree in zip(items, own, strict=True) if tree]
    if not kept:
        raise DataError("no exemplar can be parsed", file=pairs, remedy="Give another parser, or other exemplars.")
    items, exemplar_trees = [one for one, _ in kept], [tree for _, tree in kept]
    sources, references = [one.source for one in items], [one.reference for one in items]
    written: Outputs = {
        "source copied": (sources, None),
        "exemplar copied": ([one.exemplar for one in items], None),
        "reference": (references, None),
    }
    written |= paraphrased(systems, sources, exemplar_trees, height, ("no control", "exemplar"))
    trees: dict[str, Sequence[str | None]] = {
        "reference": parsed_trees(own_parser, references),
        "exemplar": exemplar_trees,
    }
    table = [
        evaluate_exemplars(
            name,
            sources=sources,
            outputs=outputs,
            references=references,
            trees={**trees, "output": parsed_trees(own_parser, outputs)},
            heights=heights,
            seed=seed,
            known=share,
        )
        for name, (outputs, share) in written.items()
    ]
    described = exemplar_signature(
        [one[:3] for one in items], parser=own_parser.signature, heights=heights, forced=height, rule=rule, seed=seed
    )
    return ExemplarResult(tuple(table), described)


def _is_set(path: str | Path) -> bool:
    if not Path(path).is_file() or Path(path).suffix != ".parquet":
        return False
    with open_shard(path) as file:
        return "exemplar" in file.schema_arrow.names


def _read_set(path: str | Path, rows: int) -> Iterator[ExemplarPair]:
    """The first rows of a file of exemplars."""
    names = COLUMNS[:3]
    with open_shard(path) as file:
        columns = file.schema_arrow.names
    for name in names:
        if name not in columns:
            raise DataError(
                f"column '{name}' not found{nearest(name, columns)}",
                file=path,
                remedy=f"A set of exemplars has the columns {', '.join(names)}.",
            )
    for number, row in enumerate(islice(read_rows(path, names), rows), start=1):
        for name in names:
            if not (row[name] or "").strip():
                raise DataError(
                    f"column '{name}' is empty", file=path, row=number, remedy="Remove the row, or add the text."
                )
        yield ExemplarPair(*(row[name] for name in names))
