"""Several translations of each sentence: what `strict` keeps of them, and how near it is to a second reference.

    python benchmarks/nbest.py runs/nbest benchmarks/readings/nbest/reader-*.tsv

Runs the pipeline of the quickstart in a folder, with eight translations of each sentence instead of four. The readings
have a row for each pair that `strict` keeps of them, by its content. Two readers, both language models, saw the pairs
in random order among others, without ranks and scores, and called right what is good English and says the same.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from blind_sheets import identifier, verdicts_of

from paraloom.api.quickstart import BUNDLED, _second_references
from paraloom.bundled import bundled_path
from paraloom.io import Corpus
from paraloom.pairs.filtering.filters import Criteria, best_of_sources, select
from paraloom.pairs.scoring.paraphrase_model import ParaphraseModel
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import parse_pipeline
from paraloom.text.buffers import code_points
from paraloom.text.chrf import chrf_from_points

Row = dict[str, Any]

MOST = 8


def scored(run: Path) -> Corpus:
    """The scored translations of the quickstart's sentences, more of each than it makes."""
    pipeline = BUNDLED / "quickstart.toml"
    text = pipeline.read_text(encoding="utf-8").replace("nbest=4", f"nbest={MOST}")
    result = run_pipeline(parse_pipeline(text, file=pipeline), run, until="scored")
    return Corpus.open(result.stage("scored").folder)


def kept_rows(corpus: Corpus, translations: int, per_source: int) -> list[Row]:
    """The rows that `strict` keeps of the first translations of each sentence."""
    folder = bundled_path("paraphrases-en")
    assert folder is not None
    strict = ParaphraseModel.load(folder).presets["strict"].where
    by = {"per_source": per_source, "by": "p_paraphrase"} if per_source else {}
    criteria = Criteria(where=f"({strict}) and rank < {translations}", **by)  # type: ignore[arg-type]
    batches = list(corpus.batches())
    flags, rows, at = best_of_sources(criteria, batches), list[Row](), 0
    for batch in batches:
        best = None if flags is None else flags[at : at + batch.num_rows]
        at += batch.num_rows
        rows += [row for row in select(criteria, batch, None, best).to_pylist() if row["keep"]]
    return rows


def main() -> None:
    """Print a line for each number of translations, all of those that pass and the best one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="run folder")
    parser.add_argument("readings", type=Path, nargs="+")
    arguments = parser.parse_args()
    readers = [verdicts_of(file) for file in arguments.readings]
    second, corpus = _second_references(), scored(arguments.run)
    for translations, per_source in ((1, 0), (2, 1), (4, 1), (8, 1), (4, 0), (8, 0)):
        rows = kept_rows(corpus, translations, per_source)
        chrf = chrf_from_points(
            code_points([row["tgt"] for row in rows]), code_points([second[row["pair_id"]] for row in rows])
        )
        sentences = len({row["pair_id"] for row in rows})
        right = [sum(reader[identifier(row["src"], row["tgt"])] for row in rows) for reader in readers]
        print(
            f"{translations} translations, {'best' if per_source else 'all'}: {len(rows)} pairs of {sentences} "
            f"sentences, chrF {chrf.mean():.1f}, right {' and '.join(f'{n} ({n / len(rows):.0%})' for n in right)}"
        )


if __name__ == "__main__":
    main()
