"""Running a few stages for one output: sharded, resumable, and the output appears whole or not at all."""

from __future__ import annotations

import re
import shlex
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from paraloom.api.outputs import check_corpus_folder, check_output
from paraloom.api.travelling_warnings import repeat_warnings, warnings_of_result, write_with_warnings
from paraloom.api.yields import warn_of_yield
from paraloom.core.batches import as_list
from paraloom.core.errors import ConfigError, DataError, ParaloomError, RunError
from paraloom.core.remote_files import fetched, is_url
from paraloom.core.schema import PAIRS
from paraloom.core.stage import BATCH_ROWS, Fit, Map, Ref, Source, Stage
from paraloom.io import Corpus
from paraloom.io.atomic import check_local, check_replaceable
from paraloom.io.bitext import check_target, is_output_stream, is_stream
from paraloom.io.compression import without_compression
from paraloom.io.tables import doubts_about, files_of_bitext, has_further_columns, holds_variants, unread_columns
from paraloom.pipeline.definition import OF_COMMAND, Definition, Step, define_steps
from paraloom.pipeline.fit import ARTIFACT
from paraloom.pipeline.manifest import Manifest
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.shard import OnError

if TYPE_CHECKING:
    from paraloom.api.keywords import ReadingOptions
    from paraloom.pipeline.estimate import RunEstimate

PREPARING = "--"
"""What the names of stages have that prepare a file of the user's, after its name."""

WORK = ".paraloom"
"""Suffix of the work folder of an unfinished output, next to it."""

_HOW_TO_READ = ("src_lang", "tgt_lang", "src_column", "tgt_column")
_LARGE_SHARD_ROWS = 50_000

_READING = frozenset(
    ["ReadPairs", "ReadScoredPairs", "ReadSentences", "ReadVariants", "ReadLabeledPairs", "InMemoryPairs"]
)
"""Classes of stages whose result takes no longer to read again than to check."""


def input_stages(
    source: str, *, name: str = "input", on_error: OnError = "stop", **options: Unpack[ReadingOptions]
) -> tuple[list[Stage], Ref]:
    """The stages that read what a user names as pairs, and what later stages refer to.

    A corpus folder, and a table that Paraloom wrote (unless languages or columns are given), keep all their columns. A
    file of VARIANTS, as the commands write them, is read as that.
    """
    from paraloom.stages import bitext

    if is_stream(source):
        raise ConfigError(
            "standard input, pipes and devices cannot be read more than once", remedy="Write the pairs to a file first."
        )
    source = str(fetched(source)) if is_url(source) else source
    path = Path(source).absolute()
    if (path / "corpus.json").is_file():
        return [], path
    for file in files_of_bitext(Path(source)):
        if not file.exists():
            raise _not_found(file)
    given: dict[str, Any] = {key: value for key, value in options.items() if value is not None}
    if on_error == "reject":
        given["bad_rows"] = "reject"
    named = set(given) - {"shard_rows", "bad_rows", "empty_sides"}
    stage: Stage
    if not named and has_further_columns(source):
        given.pop("empty_sides", None)
        stage = bitext.ReadScoredPairs(name=name, source=path, **given)
    elif not named and holds_variants(source):
        from paraloom.stages.variants import ReadVariants

        stage = ReadVariants(name=name, source=path)
    else:
        stage = bitext.ReadPairs(name=name, source=path, **given)
        unread = () if named & {"src_column", "tgt_column"} else _unread(source)
        for doubt in [*doubts_about(source, *map(given.get, _HOW_TO_READ)), *unread]:
            warnings.warn(f"{source}: {doubt}", stacklevel=3)
    return [stage], stage


def _unread(source: str) -> Iterator[str]:
    """A warning, where a table has columns besides the sentences."""
    if lost := unread_columns(source):
        shown = ", ".join(lost[:4]) + (" …" if len(lost) > 4 else "")
        yield (
            f"only the sentences are read, not the columns {shown}; tables with the columns "
            f"{', '.join(PAIRS.names)} keep all columns"
        )


def input_stages_of(
    sources: str | Path | Sequence[str | Path],
    name: str,
    *,
    on_error: OnError = "stop",
    **options: Unpack[ReadingOptions],
) -> tuple[list[Stage], tuple[Ref, ...]]:
    """As `input_stages` for several sources: all stages that read them, and what later stages refer to."""
    stages: list[Stage] = []
    references: list[Ref] = []
    for number, source in enumerate(as_list(sources), start=1):
        reading, reference = input_stages(str(source), name=f"{name}-{number}", on_error=on_error, **options)
        stages += reading
        references.append(reference)
    return stages, tuple(references)


def run_stages(
    stages: Sequence[Stage],
    output: str,
    *,
    seed: int = 1,
    engine: str = "local",
    workers: int | None = None,
    on_error: OnError = "stop",
    deliver: Callable[[RunResult, str], Iterable[dict[str, Any]]] | None = None,
) -> RunResult:
    """Run stages in a work folder beside `output`, write the last one's result there, and remove the folder.

    A corpus is written in the format of the suffix (a folder where there is none), a model as its folder; or `deliver`
    writes the output, and returns rows that could not be read. Stopped, the same call resumes.
    """
    from paraloom.api.rejected import report_rejected
    from paraloom.pipeline.runner import run_pipeline

    passes = in_one_pass(stages) if engine == "local" and on_error == "stop" else stages
    definition = replace(_defined(OF_COMMAND, passes, seed), compressed=passes is stages)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch) / "run" if is_output_stream(output) else Path(output.rstrip("/") + WORK)
        check_output(output, definition.files())
        if deliver is None:
            _check_kind(definition.steps[-1].stage, output)
        resumed = work.exists()
        _check_work(work, definition)
        known = repeat_warnings(definition)
        try:
            result = run_pipeline(definition, work, engine=engine, workers=workers, on_error=on_error)
        except ParaloomError as error:
            _keep_or_remove(work, error, output, resumed=resumed)
            raise
        except KeyboardInterrupt as interruption:
            if is_output_stream(output):
                raise KeyboardInterrupt("interrupted; without an output (-o) nothing is kept") from None
            if not work.exists():
                raise
            what = (str(interruption) or "interrupted; the same command again resumes").rstrip(".")
            what = re.sub(r"(?<=stage )\d+-", "", what)
            raise KeyboardInterrupt(f"{what}. {kept_work(work)}") from None
        result = result.with_reasons()
        travelling = warnings_of_result(definition, result, known)
        unread: Iterable[dict[str, Any]] = ()
        try:
            if deliver is None:
                _deliver(result.stages[-1].folder, output, travelling)
            else:
                unread = deliver(result, output)
        except DataError as error:  # a value that the format cannot represent
            if deliver is None and not is_output_stream(output):
                error.remedy = " ".join(filter(None, [error.remedy, _another_format(output, work)]))
            raise
        report_rejected(definition, result, output, unread)
        warn_of_yield(definition, result, travelling)
        shutil.rmtree(work, ignore_errors=True)
    return replace(result, folder=Path(output))


def _keep_or_remove(work: Path, error: ParaloomError, output: str, *, resumed: bool) -> None:
    """After a failure: say what is kept, or remove a work folder in which nothing was done."""
    hide_work(error, work)
    if _begun(work):
        if not is_output_stream(output):
            _say_what_is_kept(error, work)
    elif not resumed and not isinstance(error, RunError):  # which may mean that another process runs there
        shutil.rmtree(work, ignore_errors=True)


def run_in(
    folder: str | Path,
    stages: Sequence[Stage],
    *,
    name: str = OF_COMMAND,
    seed: int = 1,
    engine: str = "local",
    workers: int | None = None,
) -> RunResult:
    from paraloom.api.rejected import report_rejected
    from paraloom.pipeline.runner import run_pipeline

    definition = _defined(name, stages, seed)
    result = run_pipeline(definition, folder, engine=engine, workers=workers)
    report_rejected(definition, result)
    return result


def estimate_stages(
    stages: Sequence[Stage], output: str, *, rows: int, seed: int = 1, workers: int | None = None
) -> RunEstimate:
    """What `run_stages` will take, or has left to do, measured on samples of so many rows."""
    from paraloom.pipeline.estimate import estimate_run
    from paraloom.pipeline.runner import plan

    definition = _defined(OF_COMMAND, stages, seed)
    work = Path(output.rstrip("/") + WORK)
    estimate = estimate_run(definition, workers=workers, rows=rows)
    return estimate.remaining(plan(definition, work)) if output != "-" and work.is_dir() else estimate


def _defined(name: str, stages: Sequence[Stage], seed: int) -> Definition:
    from paraloom.pipeline.toml import format_pipeline

    definition = Definition(name, seed, _with_large_shards(define_steps(stages, Path.cwd())))
    return replace(definition, text=format_pipeline(definition))


def in_one_pass(stages: Sequence[Stage]) -> Sequence[Stage]:
    """The stages, or one that filters as it reads: twice as fast as two, where nobody sees what they leave behind."""
    if len(stages) != 2 or not getattr(stages[1], "where", ""):
        return stages
    from paraloom.stages.bitext import ReadScoredPairs
    from paraloom.stages.pairs import Filter

    match stages:
        case [ReadScoredPairs(bad_rows="stop", where="") as reading, Filter() as filtering]:
            if replace(filtering, name="", input=None, where="") == Filter(name=""):
                return [replace(reading, name=filtering.name, where=filtering.where)]
    return stages


def _with_large_shards(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps; if all stages that map are light, with larger shards: each has files and records of its own."""
    stages = [step.stage for step in steps]
    if any(stage.batch_rows == BATCH_ROWS if isinstance(stage, Map) else isinstance(stage, Fit) for stage in stages):
        return steps
    return tuple(
        replace(step, stage=replace(stage, shard_rows=_LARGE_SHARD_ROWS))
        if isinstance(stage, Source) and stage.shard_rows == Source.shard_rows
        else step
        for step, stage in zip(steps, stages, strict=True)
    )


def _say_what_is_kept(error: ParaloomError, work: Path) -> None:
    # A command to be copied, the end of some remedies, keeps its line.
    between = " " if (error.remedy or "").endswith(".") else "\n"
    error.remedy = between.join(filter(None, [error.remedy, kept_work(work)]))


def kept_work(work: Path) -> str:
    """A sentence that names the folder of unfinished work."""
    return f"What is done is kept in {work}, for the same call again; to give it up: {_command_to_clean(work)}"


def _another_format(output: str, work: Path) -> str:
    """What to do to write what is done in a format that can represent it; nothing for one that can."""
    name = without_compression(output)
    if name.suffix == ".jsonl":
        return ""
    stem = re.sub(r"\.?\{[^}]*\}", "", name.stem) or "output"  # out.{en,de}.txt
    others = (str(name.with_name(f"{stem}{part}.jsonl")) for part in chain([""], (f"-{n}" for n in count(2))))
    other = next(one for one in others if not Path(one).exists() and not Path(one + WORK).exists())
    move = shlex.join(["mv", str(work), other + WORK])
    return f"What is done is kept: {move}, and the same call with the output {shlex.quote(other)}."


def _command_to_clean(work: Path) -> str:
    return f"paraloom research clean {shlex.quote(str(work.parent))}"


def _not_found(file: Path) -> ConfigError:
    names = [path.name for path in file.absolute().parent.iterdir()] if file.absolute().parent.is_dir() else []
    similar = get_close_matches(file.name, names, n=3)
    remedy = f"Did you mean {' or '.join(similar)}?" if similar else "Check the name and the folder."
    return ConfigError("file not found", file=file, remedy=remedy)


@contextmanager
def scratch_run() -> Iterator[Path]:
    """A run folder that lasts as long as the block, and that its errors do not name."""
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch) / "run"
        try:
            yield work
        except ParaloomError as error:
            hide_work(error, work)
            raise


def hide_work(error: ParaloomError, work: Path) -> None:
    """Name the stage without its number, and nothing that the user did not: a stage that prepares, a work file."""
    if error.stage is not None:
        error.stage = None if PREPARING in error.stage else re.sub(r"^\d+-", "", error.stage)
    if error.file is not None and Path(error.file).absolute().is_relative_to(work.absolute()):
        # The work folder itself is in use: to the user this is the output.
        is_output = str(work) == error.file and error.file.endswith(WORK)
        error.file = str(work).removesuffix(WORK) if is_output else None


def _check_work(work: Path, definition: Definition) -> None:
    """Refuse the work folder of another command, of which nothing would be resumed, and all deleted in the end."""
    stages = _begun(work)
    if stages and not stages & {step.name for step in definition.steps}:
        raise ConfigError(
            f"the folder has the unfinished work of another command ({', '.join(sorted(stages))})",
            file=work,
            remedy="Run that command again to finish it, or name another output; to give it up: "
            f"{_command_to_clean(work)}",
        )


def _begun(work: Path) -> set[str]:
    """The stages that have something to resume from, but for those that only read inputs."""
    kept = {path.parent for pattern in ("*/part-*", "*/artifact", "*/scratch-*") for path in work.glob(pattern)}
    return {folder.name.partition("-")[2] for folder in kept if not _only_reads(folder)}


def _only_reads(folder: Path) -> bool:
    """Whether a stage's folder holds inputs as they were read, whatever the command and its name for them."""
    stage = Manifest(folder).get("begin") or {}
    return stage.get("use") in _READING and not stage.get("where")


def _check_kind(stage: Stage, output: str) -> None:
    """The format of a corpus is known, and a new folder; a model may only replace a model of the same kind."""
    target = Path(output)
    if not isinstance(stage, Fit):
        check_target(output)
        check_corpus_folder(output)
        return
    check_local(target)
    if not target.exists():
        return
    if not target.is_dir():
        raise ConfigError("expected a folder, got a file", file=target, remedy="Name a new folder.")
    present = [path.name for path in target.iterdir()]
    is_such = stage.sentinel and any(target.glob(stage.sentinel)) and not any(name[0] == "." for name in present)
    if present and not is_such:
        raise ConfigError("the folder holds something else than such a model", file=target, remedy="Name a new folder.")


def _deliver(folder: Path, output: str, travelling: Sequence[str]) -> None:
    artifact = folder / ARTIFACT
    if artifact.is_dir():
        target = Path(output)
        target.parent.mkdir(parents=True, exist_ok=True)
        check_replaceable(target, artifact)
        shutil.rmtree(target, ignore_errors=True)
        shutil.move(artifact, target)
        return
    write_with_warnings(Corpus.open(folder), output, travelling)
