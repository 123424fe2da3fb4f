"""One verb of the command line as a small pipeline of its own: sharded, resumable, its output whole or not at all."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paraloom.core.errors import ConfigError
from paraloom.core.io import Corpus, write_table
from paraloom.run.pipeline import parse_pipeline
from paraloom.run.result import RunResult
from paraloom.run.runner import run_pipeline
from paraloom.run.stages.scored_pairs import has_further_columns

WORK = ".paraloom"
"""Suffix of the folder beside an output where an unfinished verb keeps what it has done."""


def compose(stages: Sequence[Mapping[str, Any]], *, seed: int = 1) -> str:
    """A pipeline's TOML text; a value of None leaves its key out.

    >>> print(compose([{"use": "score", "scores": ["overlap"], "input": None}]))
    name = "verb"
    seed = 1
    <BLANKLINE>
    [[stage]]
    use = "score"
    scores = ["overlap"]
    """
    lines = ['name = "verb"', f"seed = {seed}"]
    for stage in stages:
        lines += ["", "[[stage]]"]
        lines += [
            f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in stage.items() if value is not None
        ]
    return "\n".join(lines)


def corpus_stages(source: str, **options: Any) -> tuple[list[dict[str, Any]], str]:
    """The stages that bring a bitext argument in, and the reference to give as the next stage's `input`.

    A corpus folder, and a Parquet file of ours unless languages or columns are named, keep all their columns.
    """
    if (Path(source) / "corpus.json").is_file():
        return [], str(Path(source).absolute())
    if source == "-":
        raise ConfigError("this verb reads its input more than once", remedy="Write the pairs to a file and name that.")
    named = {name for name, value in options.items() if value is not None and name != "shard_rows"}
    if not named and has_further_columns(source):
        rows = {name: value for name, value in options.items() if value is not None}
        return [{"name": "input", "use": "scored-pairs", "source": str(Path(source).absolute()), **rows}], "input"
    return [{"name": "input", "use": "bitext", "source": str(Path(source).absolute()), **options}], "input"


def run_verb(
    stages: Sequence[Mapping[str, Any]],
    output: str,
    *,
    seed: int = 1,
    engine: str = "local",
    workers: int | None = None,
    on_error: str = "stop",
) -> RunResult:
    """Run the stages in a work folder beside `output`, write the last one's product there, and clear up.

    A corpus goes out in the format of the suffix (a folder where there is none), a model as its folder.  After a kill
    the same call goes on where it was.
    """
    with tempfile.TemporaryDirectory() as nowhere:
        work = Path(nowhere) / "run" if output == "-" else Path(output.rstrip("/") + WORK)
        pipeline = parse_pipeline(compose(stages, seed=seed), file=Path.cwd() / "verb.toml")
        result = run_pipeline(pipeline, work, engine=engine, workers=workers, on_error=on_error)  # type: ignore[arg-type]
        _deliver(result.stages[-1].folder, output)
        shutil.rmtree(work, ignore_errors=True)
    return result


def _deliver(product: Path, output: str) -> None:
    artefact = product / "artefact"
    if artefact.is_dir():
        target = Path(output)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(target, ignore_errors=True)
        shutil.move(artefact, target)
        return
    write_table(Corpus.open(product), output)
