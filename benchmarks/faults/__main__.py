"""Kill runs, damage folders, fill disks, give hostile names, tables, pages and answers; print what came of it.

    python benchmarks/faults                              # all of it, offline
    python benchmarks/faults --kills 200 --only kills
    python benchmarks/faults --source ../old/src          # the same trials against another version

A small run over the bundled sample is killed at random moments (SIGKILL to all of its processes, to the first one, to a
worker; SIGTERM; SIGINT) and started again in the same folder until it ends. Finished runs are damaged and run again. A
trial holds if it ends with the right result, or is refused with a plain error that leaves no output behind. The script
exits with 1 if bytes differ, rows are lost, or there is a traceback. With `--record`, the results go into
`docs/explanations/faults.json`, from which the page "Faults" is made.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import folders
import inputs
import kills
import names
import pages
import stores
import tables
from results import record, take_in, write_page
from trials import ROOT, Outcomes, prepare

GROUPS = {
    "kills": kills.trials,
    "damages": folders.damages,
    "disks": folders.disks,
    "outputs": folders.outputs,
    "inputs": inputs.trials,
    "names": names.trials,
    "pages": pages.trials,
    "stores": stores.trials,
    "tables": tables.trials,
}


def main() -> None:
    """Print a Markdown table: a row for each kind of fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=30, help="how often runs are killed (default: %(default)s)")
    parser.add_argument("--only", choices=GROUPS, nargs="+", default=list(GROUPS), help="kinds of faults; default: all")
    parser.add_argument("--seed", type=int, default=1, help="seed of the moments of kills")
    parser.add_argument("--source", type=Path, default=ROOT / "src", help="the src folder of the version to try")
    parser.add_argument("--record", choices=("before", "after"), help="the column of the page that the results are for")
    parser.add_argument("--page", action="store_true", help="only make the page from what was recorded")
    parser.add_argument("--fuzz", type=Path, help="take in what `make fuzz` wrote, and make the page")
    parser.add_argument(
        "--readers", type=Path, help="take in what `benchmarks/readers.py --json` wrote, and make the page"
    )
    parser.add_argument("--verbose", action="store_true", help="print what each trial said, too")
    options = parser.parse_args()
    if options.page or options.fuzz or options.readers:
        take_in(options.fuzz, options.readers)
        write_page()
        return
    good = True
    with tempfile.TemporaryDirectory() as scratch:
        scene = prepare(Path(scratch), options.source.absolute(), kills=options.kills, seed=options.seed)
        print("| | tried | right result | refused, plain error | tracebacks | rows lost | other | seconds |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
        for group in options.only:
            for name, result, seconds in _timed(GROUPS[group](scene)):
                cells = (result.tried, result.finished, result.refused, result.tracebacks, result.lost, result.wrong)
                print(f"| {name} | {' | '.join(map(str, cells))} | {seconds:.0f} |", flush=True)
                good = good and result.is_good
                if options.verbose or not result.is_good:
                    print("\n".join(result.notes), file=sys.stderr, flush=True)
                if options.record:
                    record(options.record, scene, group, name, result, seconds)
    if options.record:
        write_page()
    sys.exit(not good)


def _timed(trials: Iterator[tuple[str, Outcomes]]) -> Iterator[tuple[str, Outcomes, float]]:
    start = time.monotonic()
    for name, outcomes in trials:
        yield name, outcomes, time.monotonic() - start
        start = time.monotonic()


if __name__ == "__main__":
    main()
