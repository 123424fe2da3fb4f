"""How good are free paraphrases? Measures paraphrasers on public held-out sets, beside copies and a round trip.

    python benchmarks/paraphrasing.py --model ours=paraphraser-en --rows 500 -o paraphrasing.json
    python benchmarks/paraphrasing.py --sets quora coco --model ours=paraphraser-en --sheet outputs.tsv --samples 30
    paraloom evaluate sheet outputs.tsv

Reads $PARALOOM_DATA/paraphrase: questions of quora-50k that are not in its training part (`new`), captions of held-out
images of coco-captions (`paraloom.evaluate.paraphrase_sets.is_test_image`, which a training on captions must respect),
ParaSCI's ACL development and arXiv test parts, MRPC's positive test pairs, and, of $PARALOOM_DATA/bitext, WMT's two
references; `--pairs` adds a file of your own.
Prints a Markdown table of each, with 95 % bootstrap intervals and a signature. Rows: the source, the first reference, a
round trip by two translators, each model by beam search without a template, and for each of the last two what the
selection of `paraloom paraphrase` keeps of its candidates. BLEU and chrF compare lower-cased texts.
`meaning` is a cosine by an encoder that does not select; `meaning-iBLEU` has the shape of BERT-iBLEU: the mean over
sentences of the harmonic mean of that cosine, weight 4, and of 1 − sentence BLEU against the source, × 100.

A paraphraser that was trained on a set's training part, or on text of its kind, is at an advantage on that set, which
the table does not show: say what it was trained on.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path

from public_paraphrases import PARAPHRASE_SETS, read_paraphrase_set

from paraloom.api.paraphrase_evaluation import ParaphraserEvaluation, read_references
from paraloom.evaluate.paraphrase_sets import ReferencedSentence
from paraloom.evaluate.paraphrase_sheet import check_sheet, write_paraphrase_sheet
from paraloom.io.atomic import atomic_write

ROUND_TRIP = "round trip"


def named(text: str) -> tuple[str, str]:
    """NAME=FOLDER."""
    name, equals, folder = text.partition("=")
    if not (name and equals and folder):
        raise argparse.ArgumentTypeError(f"expected NAME=FOLDER, got '{text}'")
    return name, folder


def repeated(names: Sequence[str]) -> str | None:
    """The first name that comes twice, which would replace a table or a row."""
    return next((name for index, name in enumerate(names) if name in names[:index]), None)


def main() -> None:
    """Print the tables, and write them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=named, action="append", default=[], metavar="NAME=FOLDER", help="repeatable")
    parser.add_argument("--sets", nargs="*", default=list(PARAPHRASE_SETS), choices=list(PARAPHRASE_SETS))
    parser.add_argument("--pairs", type=Path, action="append", default=[], help="your own pairs; repeatable")
    parser.add_argument("--references", type=int, default=1, help="columns of references of --pairs, if .tsv")
    parser.add_argument("--round-trip", nargs=2, default=["en-de", "de-en"], metavar=("FORWARD", "BACKWARD"))
    parser.add_argument("--no-round-trip", action="store_true")
    parser.add_argument("--no-selection", action="store_true")
    parser.add_argument("--preset", default="strict", help="of the selection (default: %(default)s)")
    parser.add_argument("--candidates", type=int, default=20, help="of each kind (default: %(default)s)")
    parser.add_argument("--encoder", default="english", help="of the selection (default: %(default)s)")
    parser.add_argument("--judge", default="auto", help="encoder of meaning (default: english-small beside english)")
    parser.add_argument("--keep-case", action="store_true", help="BLEU and chrF of texts as they are")
    parser.add_argument("--rows", type=int, default=500, help="sentences of each set; 0: all (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--samples", type=int, default=30, help="sentences of each set in --sheet")
    parser.add_argument("--sheet", type=Path, help="write unpicked outputs of all systems, to judge by hand")
    parser.add_argument("-o", "--output", type=Path, help="write the tables as JSON")
    arguments = parser.parse_args()
    if (name := repeated([*arguments.sets, *(path.stem for path in arguments.pairs)])) is not None:
        parser.error(f"two sets are named '{name}': rename a file of --pairs, or give a set once")
    own = [] if arguments.no_round_trip else [ROUND_TRIP]
    if (name := repeated([*own, *(name for name, _ in arguments.model)])) is not None:
        parser.error(f"two systems are named '{name}': give a --model another NAME")

    if arguments.sheet is not None:
        check_sheet(arguments.sheet)
    sets: dict[str, list[ReferencedSentence]] = {}
    if arguments.sets:
        folder = Path(os.environ["PARALOOM_DATA"]) / "paraphrase"
        sets |= {name: read_paraphrase_set(folder, name) for name in arguments.sets}
    sets |= {path.stem: read_references(path, arguments.references) for path in arguments.pairs}
    systems: dict[str, str | tuple[str, str]] = {}
    if not arguments.no_round_trip:
        systems[ROUND_TRIP] = (arguments.round_trip[0], arguments.round_trip[1])
    systems |= dict(arguments.model)
    evaluation = ParaphraserEvaluation(
        systems,
        encoder=arguments.encoder,
        judge=arguments.judge,
        preset=None if arguments.no_selection else arguments.preset,
        candidates=arguments.candidates,
        lowercase=not arguments.keep_case,
        rows=arguments.rows,
        seed=arguments.seed,
    )
    tables, sheets = {}, {}
    for name, sentences in sets.items():
        result = evaluation.run(sentences)
        print(f"\n{name}: {len(result.sources)} of {len(sentences)} sentences\n\n{result.format()}", flush=True)
        tables[name] = {"sentences": len(sentences), **result.to_dict()}
        sheets[name] = result.sheet()
    if arguments.sheet is not None:
        count = write_paraphrase_sheet(arguments.sheet, sheets, samples=arguments.samples, seed=arguments.seed)
        print(f"\n{count} outputs to judge in {arguments.sheet}; then: paraloom evaluate sheet {arguments.sheet}")
    if arguments.output is not None:
        with atomic_write(arguments.output) as temporary:
            temporary.write_text(json.dumps(tables, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
