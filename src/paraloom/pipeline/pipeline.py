"""Pipelines as Python objects: lists of stages that run in a folder, resume and report."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from paraloom.core.stage import Stage
from paraloom.pipeline.definition import Definition, define_steps
from paraloom.pipeline.estimate import RunEstimate, estimate_run, read_estimate, settings_of
from paraloom.pipeline.event_log import log_to
from paraloom.pipeline.result import RunResult
from paraloom.pipeline.runner import StagePlan, plan, run_pipeline
from paraloom.pipeline.shard import OnError
from paraloom.pipeline.toml import format_pipeline, read_pipeline


class Pipeline:
    """A list of stages that runs in a folder, sharded and resumable.

    A stage refers to earlier ones by their names or by the stage objects themselves; a Map without `input` takes the
    nearest earlier corpus. Everything is checked when the pipeline is made, before anything runs.

    Args:
        stages: Stages from `paraloom.stages`, in the order they run.
        name: Name of the pipeline, for its report.
        seed: Seed that all random choices derive from.

    Raises:
        ConfigError: Names the stage and the field that is wrong.
        TypeError: `stages` is not a list.

    Example:
        >>> import paraloom, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> _ = Path(folder, "pairs.tsv").write_text("Guten Morgen.\\tGood morning.\\nHallo.\\tHello there, you.\\n")
        >>> pipeline = Pipeline([
        ...     paraloom.stages.ReadPairs(source=f"{folder}/pairs.tsv", src_lang="de", tgt_lang="en"),
        ...     paraloom.stages.Score(scores=["length"]),
        ...     paraloom.stages.Filter(where="tgt_tokens <= 3"),
        ... ])
        >>> result = pipeline.run(f"{folder}/run", engine="inline")
        >>> result.stages[-1].counts.kept
        1
    """

    def __init__(self, stages: Sequence[Stage], *, name: str = "pipeline", seed: int = 1) -> None:
        if isinstance(stages, (str, Path)):
            raise TypeError(f"expected a list of stages, got {type(stages).__name__}; Pipeline.from_toml reads a file")
        definition = Definition(name, seed, define_steps(stages, Path.cwd()))
        self.definition = dataclasses.replace(definition, text=format_pipeline(definition))

    @classmethod
    def from_toml(cls, path: str | Path) -> Pipeline:
        """Read a pipeline from a TOML file; see the reference of TOML keys.

        Args:
            path: The file. Relative paths in it are resolved against its folder.

        Returns:
            The pipeline.

        Raises:
            ConfigError: Names file, stage and key, and the nearest known one.
        """
        pipeline = cls.__new__(cls)
        pipeline.definition = read_pipeline(path)
        return pipeline

    @property
    def name(self) -> str:
        """Name of the pipeline."""
        return self.definition.name

    def with_seed(self, seed: int) -> Pipeline:
        """Change the seed.

        Args:
            seed: Seed that all random choices derive from.

        Returns:
            The same pipeline with the other seed.
        """
        pipeline = type(self).__new__(type(self))
        definition = dataclasses.replace(self.definition, seed=seed)
        pipeline.definition = dataclasses.replace(definition, text=format_pipeline(definition))
        return pipeline

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages, in the order they run."""
        return tuple(step.stage for step in self.definition.steps)

    def run(
        self,
        folder: str | Path,
        *,
        engine: str = "local",
        workers: int | None = None,
        until: str | None = None,
        on_error: OnError = "stop",
        address: str | None = None,
        log_file: str | Path | None = None,
    ) -> RunResult:
        """Run the pipeline in a folder, resuming from whatever is done there.

        Args:
            folder: Run folder, or the URL of one (``s3://bucket/run``); made if it does not exist.
            engine: 'local' (processes), 'inline' (this process) or 'ray'. The result is the same.
            workers: Number of processes; default: one per core. The result is the same.
            until: Name of the last stage to run.
            on_error: 'stop' at a row that cannot be processed, or 'reject' it into `failed/`.
            address: Address of a Ray cluster; default: one started here.
            log_file: File that what happens is appended to, as lines of JSON: stages, shards, progress.

        Returns:
            Counts, figures and digest of each stage.

        Raises:
            ParaloomError: Names stage, file and row, and how to fix it.
        """
        with nullcontext() if log_file is None else log_to(log_file):
            return run_pipeline(
                self.definition, folder, engine=engine, workers=workers, until=until, on_error=on_error, address=address
            )

    def plan(self, folder: str | Path, *, until: str | None = None) -> list[StagePlan]:
        """Find out what `run` would do, without doing it.

        Args:
            folder: Run folder.
            until: Name of the last stage to run.

        Returns:
            For each stage, whether it is done or to be run, and why.
        """
        return plan(self.definition, folder, until=until)

    def estimate(self, *, workers: int | None = None, until: str | None = None, rows: int = 2000) -> RunEstimate:
        """Measure on samples what `run` will take: time, memory and disk of each stage.

        Args:
            workers: Number of processes; default: one per core.
            until: Name of the last stage to run.
            rows: Rows of the larger of two samples of each input, at least.

        Returns:
            The estimate, with the time on other numbers of workers.

        Raises:
            ConfigError: `rows` is less than 60, or the pipeline has no stage of this name.
            ParaloomError: A stage fails on the sample.

        Example:
            >>> import paraloom, tempfile
            >>> path = Path(tempfile.mkdtemp()) / "pairs.tsv"
            >>> _ = path.write_text("".join(f"word {n}\\tword {n + 1}\\n" for n in range(300)))
            >>> stages = [paraloom.stages.ReadPairs(source=path), paraloom.stages.Score(scores=("length",))]
            >>> estimate = paraloom.Pipeline(stages).estimate(workers=1, rows=100)
            >>> [(stage.name, stage.units, stage.rows) for stage in estimate.stages]
            [('read-pairs', 300, 300), ('score', 300, 300)]
        """
        return estimate_run(self.definition, workers=workers, until=until, rows=rows)

    def estimate_in(self, folder: str | Path) -> RunEstimate | None:
        """The estimate that `paraloom run --plan` left in a run folder.

        Args:
            folder: Run folder.

        Returns:
            The estimate, None if the folder has none of this pipeline with these settings.
        """
        estimate = read_estimate(Path(folder))
        settings = {step.name: settings_of(step) for step in self.definition.steps}
        return estimate if estimate is not None and estimate.is_of(settings) else None

    def to_toml(self) -> str:
        """Write the pipeline as TOML, which `from_toml` reads.

        Returns:
            The text, with absolute paths, unless the pipeline was read from a file: then the text of the file.
        """
        return self.definition.text

    def __repr__(self) -> str:
        names = ", ".join(step.name for step in self.definition.steps)
        return f"Pipeline({self.definition.name!r}, {len(self.stages)} stages: {names})"
