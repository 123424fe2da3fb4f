"""One verb of the command line as a small pipeline of its own: sharded, resumable, its output whole or not at all."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paraloom.core.errors import ConfigError, ParaloomError, RunError
from paraloom.core.stage import Fit, Stage
from paraloom.io import Corpus, write_table
from paraloom.pipeline.definition import Definition
from paraloom.pipeline.result import RunResult, rejections
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import parse_pipeline
from paraloom.stages.read_variants import holds_variants
from paraloom.stages.scored_pairs import has_further_columns

WORK = ".paraloom"
"""Suffix of the folder beside an output where an unfinished verb keeps what it has done."""


def compose(stages: Sequence[Mapping[str, Any]], *, seed: int = 1, name: str = "verb") -> str:
    """A pipeline's TOML text; a value of None leaves its key out.

    >>> print(compose([{"use": "score", "scores": ["overlap"], "input": None}]))
    name = "verb"
    seed = 1
    <BLANKLINE>
    [[stage]]
    use = "score"
    scores = ["overlap"]
    """
    lines = [f"name = {json.dumps(name, ensure_ascii=False)}", f"seed = {seed}"]
    for stage in stages:
        lines += ["", "[[stage]]"]
        lines += [
            f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in stage.items() if value is not None
        ]
    return "\n".join(lines)


def corpus_stages(source: str, **options: Any) -> tuple[list[dict[str, Any]], str]:
    """The stages that bring a bitext argument in, and the reference to give as the next stage's `input`.

    A corpus folder, and a Parquet file of ours unless languages or columns are named, keep all their columns.  A file
    of VARIANTS, as our verbs write them, is read as that.
    """
    if (Path(source) / "corpus.json").is_file():
        return [], str(Path(source).absolute())
    if source == "-":
        raise ConfigError("this verb reads its input more than once", remedy="Write the pairs to a file and name that.")
    named = {name for name, value in options.items() if value is not None and name != "shard_rows"}
    if not named and has_further_columns(source):
        rows = {name: value for name, value in options.items() if value is not None}
        return [{"name": "input", "use": "scored-pairs", "source": str(Path(source).absolute()), **rows}], "input"
    if not named and holds_variants(source):
        return [{"name": "input", "use": "read-variants", "source": str(Path(source).absolute())}], "input"
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
    the same call goes on where it was.  Raises ConfigError, before any work, where a model would replace a folder of
    something else.
    """
    with tempfile.TemporaryDirectory() as nowhere:
        work = Path(nowhere) / "run" if output == "-" else Path(output.rstrip("/") + WORK)
        pipeline = composed(stages, seed=seed)
        _check_place(pipeline.steps[-1].stage, Path(output))
        begun = work.exists()
        try:
            result = run_pipeline(pipeline, work, engine=engine, workers=workers, on_error=on_error)  # type: ignore[arg-type]
        except ParaloomError as error:
            # A RunError may be that another call is at work there.
            if not isinstance(error, RunError) and not begun and not _has_made(work):
                shutil.rmtree(work, ignore_errors=True)
            raise
        result = replace(result, stages=tuple(replace(each, reasons=rejections(each.folder)) for each in result.stages))
        _deliver(result.stages[-1].folder, output)
        shutil.rmtree(work, ignore_errors=True)
    return result


def composed(stages: Sequence[Mapping[str, Any]], *, seed: int = 1, name: str = "verb") -> Definition:
    """The pipeline of stages that are in no file; its errors name none, and paths are seen from where we are."""
    file = Path.cwd() / f"{name}.toml"
    try:
        return parse_pipeline(compose(stages, seed=seed, name=name), file=file)
    except ParaloomError as error:
        error.file = None if error.file == str(file) else error.file
        raise


def _has_made(work: Path) -> bool:
    """Whether an unfinished verb has anything to go on from."""
    return any(True for pattern in ("*/part-*", "*/artifact", "*/scratch-*") for _ in work.glob(pattern))


def _check_place(stage: Stage, target: Path) -> None:
    """A model takes the place of a model of its kind, never of anything else."""
    if not isinstance(stage, Fit) or not target.exists():
        return
    if not target.is_dir():
        raise ConfigError("this is a file, and a folder was to be made", file=target, remedy="Name a new folder.")
    if any(target.iterdir()) and not (stage.sentinel and any(target.glob(stage.sentinel))):
        raise ConfigError("this folder holds something else", file=target, remedy="Name a new folder.")


def _deliver(product: Path, output: str) -> None:
    artifact = product / "artifact"
    if artifact.is_dir():
        target = Path(output)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(target, ignore_errors=True)
        shutil.move(artifact, target)
        return
    write_table(Corpus.open(product), output)
