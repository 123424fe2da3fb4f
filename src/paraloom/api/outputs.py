"""What is checked about an output before any work, and the record that says what a finished one was made from."""

from __future__ import annotations

import json
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from paraloom.core.digests import digest, folder_digest, path_digest
from paraloom.core.errors import ConfigError, RunError
from paraloom.io.atomic import atomic_write
from paraloom.io.bitext import is_output_stream
from paraloom.io.corpus import DESCRIPTION
from paraloom.io.formats.names import INFO, STATE, is_dataset, sides

_MANY_FILES = 200
_FILES = {  # kind of folder → its files, and the pattern of others
    "corpus": ((DESCRIPTION, "set-aside.jsonl"), "part-*.parquet"),  # the second one: pages that an extraction rejected
    "data set": ((STATE, INFO), "data-*.arrow"),
}
_SPARE_BYTES = 1 << 20


def path_text(path: object, in_memory: str = "") -> str:
    """The path of a file or folder as text; TypeError, which says what takes data in memory, for anything else."""
    if not isinstance(path, (str, Path)):
        raise TypeError(f"expected a path, got {type(path).__name__}{in_memory and f'; for {in_memory}'}")
    return str(path)


def files_named(name: str | Path) -> list[Path]:
    """The file or folder that a name refers to, both files of ``PREFIX.{de,en}``."""
    two = sides(str(name))
    return [Path(name)] if two is None else [Path(two.src), Path(two.tgt)]


def check_output(output: str | Path, inputs: Iterable[str | Path] = ()) -> None:
    """Check, before any work, that an output can be written and would not replace one of its inputs."""
    if is_output_stream(output):
        return
    read = [path for name in inputs for path in files_named(name)]
    for target in files_named(output):
        for path in read:
            if target.resolve() == path.resolve():
                raise ConfigError("the output is also an input", file=target, remedy="Name another output.")
        folder = _existing_folder(target)
        try:
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise RunError(
                f"cannot write: {error.strerror}",
                file=target,
                remedy=f"Choose another path, or change the permissions of {folder}.",
            ) from None
        needed = sum(path.stat().st_size for path in read if path.is_file()) // 2 + _SPARE_BYTES
        free = shutil.disk_usage(folder).free
        if free < needed:
            raise RunError(
                f"the disk has {free / 1e6:,.1f} MB of free space, and {needed / 1e6:,.1f} MB or more are needed",
                file=target,
                remedy="Free space there, or write to another disk.",
            )


def check_corpus_folder(output: str | Path) -> None:
    """Check, before any work, that a folder that is to become a corpus does not exist yet, or is empty."""
    folder = Path(output)
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if kind := _kind_of(folder):
        raise RunError(f"the folder already holds a {kind}", file=folder, remedy="Delete it, or name another folder.")
    raise ConfigError("the folder holds something else than a corpus", file=folder, remedy="Name a new folder.")


@dataclass(frozen=True)
class OutputRecord:
    """What an output was made by, from and with; kept beside it as `.NAME.paraloom.json`."""

    command: str
    recipe: str
    content: str

    @staticmethod
    def path(output: str | Path) -> Path:
        target = Path(output)
        return target.with_name(f".{target.name}.paraloom.json")

    @classmethod
    def load(cls, output: str | Path) -> OutputRecord | None:
        """The record of an output, None if there is none that can be read."""
        try:
            return cls(**json.loads(cls.path(output).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def save(self, output: str | Path) -> None:
        with atomic_write(self.path(output)) as temporary:
            temporary.write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8")


def is_up_to_date(output: str | Path, command: str, recipe: str) -> bool:
    """Whether an existing output was made by the same command from the same inputs with the same settings."""
    paths = files_named(output)
    if not any(path.exists() for path in paths) or _is_empty_folder(paths):
        return False
    record = OutputRecord.load(output)
    if record is None:
        why = "the output exists already"
    elif record.content != content_digest(paths):
        why = "the output exists already, and was changed after it was made"
    elif (record.command, record.recipe) != (command, recipe):
        why = "the output exists already, made from other inputs or with other settings"
    else:
        return True
    kind = ", if it is a corpus or a model of the same kind" if paths[0].is_dir() else ""
    raise ConfigError(why, file=output, remedy=f"Name another output, or replace this one{kind}: --force.")


def record_output(output: str | Path, command: str, recipe: str) -> None:
    """Keep beside an output what it was made from; nothing if it was not made."""
    paths = files_named(output)
    if all(path.exists() for path in paths):
        OutputRecord(command, recipe, content_digest(paths)).save(output)


@contextmanager
def set_aside(output: str | Path) -> Iterator[None]:
    """Rename an old corpus or data set while it is made again, and restore it if the new one is not made."""
    folder = Path(output)
    kind = _kind_of(folder)
    if kind is None:
        yield
        return
    names, pattern = _FILES[kind]
    for path in folder.iterdir():
        if path.name not in names and not path.match(pattern):
            raise ConfigError(
                f"the folder holds a {kind} and something else: {path.name}",
                file=folder,
                remedy=f"Name a new folder, or move what does not belong to the {kind}.",
            )
    old = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.tmp")
    folder.rename(old)
    try:
        yield
    finally:
        if folder.exists():
            shutil.rmtree(old)
        else:
            old.rename(folder)


def _kind_of(folder: Path) -> str | None:
    if (folder / DESCRIPTION).is_file():
        return "corpus"
    return "data set" if is_dataset(folder) else None


def content_digest(paths: Sequence[Path]) -> str:
    """A digest of what files and folders hold; of a folder of more than 200 files, their sizes and times."""
    return digest([_content(path) for path in paths])


def _content(path: Path) -> object:
    if path.is_file():
        return path_digest(path)
    if not path.is_dir():
        return str(path)
    files = [file for file in sorted(path.rglob("*")) if file.is_file()]
    if len(files) <= _MANY_FILES:
        return folder_digest(path)
    stats = [(file.relative_to(path).as_posix(), file.stat()) for file in files]
    return digest([[name, stat.st_size, stat.st_mtime_ns] for name, stat in stats])


def _is_empty_folder(paths: Sequence[Path]) -> bool:
    return len(paths) == 1 and paths[0].is_dir() and not any(paths[0].iterdir())


def _existing_folder(path: Path) -> Path:
    """The folder that an output would be created in, or the nearest one above it that exists."""
    for folder in path.absolute().parents:
        if folder.exists():
            if folder.is_dir():
                return folder
            raise RunError("cannot write: expected a folder, got a file", file=folder, remedy="Choose another path.")
    return Path("/")
